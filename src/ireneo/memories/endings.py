"""Decide which memories the meaning of a new statement ends: "sold the car", "the trip is off", "9, not 10 now".

A statement ends a memory if it says that the thing has ended (`over_what` in the language's data: the object of "sold",
the subject of "is off"), or if it gives the same thing another figure, another day, or the opposite value. If several
memories could be meant, none is ended. Values of one slot, such as a home, replace each other in `facts`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import cache, lru_cache
from itertools import pairwise
from typing import Generic, NamedTuple, TypeAlias, TypeVar

from msgspec.structs import replace

from ireneo.language.files import CAPITAL, any_of, cached_data, of_language, topic
from ireneo.language.predicates import predicate, verb_forms
from ireneo.language.spoken import Facts, Phrasing
from ireneo.language.times import month_numbers, weekday_numbers
from ireneo.language.words import sentences, standardise, terms, writes_nouns_large
from ireneo.memories.beings import being_terms, beings_in, person_terms, role_terms, without_speaker
from ireneo.memories.cues import all_cues, and_words, cue_patterns, has_cue
from ireneo.memories.ended_values import (
    changed_numbers,
    changed_preferences,
    ended_slot_values,
    fills_slot,
    other_language_rules,
    tolerated_again,
)
from ireneo.memories.facts import ONE_LIFE
from ireneo.memories.figures import (
    APART,
    SIDE,
    WEEKDAY,
    are_alike,
    bare_numbers,
    counts_by_noun,
    figures_by_quantity,
    is_measure,
    is_similar_number,
    is_time,
    measurement_patterns,
    numbers_in,
    price_patterns,
    units_by_term,
)
from ireneo.memories.kinds import KINDS
from ireneo.memories.occupation import ended_other_half
from ireneo.memories.plans import OFF, cancelled_plans, is_future, is_plan, without_plans
from ireneo.memories.quoting import begins_with_name
from ireneo.memories.record import MemoryDraft, Record
from ireneo.memories.wording import comparable_words, distinctive_words, unquoted_words
from ireneo.patterns import lazy_re

_PHRASING = topic(Phrasing)

_LARGE = lazy_re(rf"(?<=[\w,] ){CAPITAL}\w+")
_OPENING_NAME = lazy_re(rf"{CAPITAL}[\w'’-]*(?: {CAPITAL}[\w-]*)?")
_WORDS = lazy_re(r"[^\W_]+(?:['’-][^\W_]+)*")
_WORD_OR_FIGURE = lazy_re(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:['’-][^\W_]+)*")
_LIST = rf"{CAPITAL}[\w'’-]+(?: {CAPITAL}[\w'’-]+)?"
NAMES_LISTED = lazy_re(lambda: rf"\b{_LIST}(?:(?:, | {and_words()} |, {and_words()} ){_LIST}){{1,6}}")
"""A list of several names."""
_NUMBERED = lazy_re(lambda: rf"^(?:{any_of(_PHRASING.definite)} )?(?P<one>[^\W\d_]+ (?:no\.? ?|nr\.? ?|#)?\d+) ", re.I)
MOST = 6
"""How many memories one word ends at most, and how many may share a word that identifies them; a statement that
matches more is about all of them, and ends none."""
_CLOSE = 3
"""At least one in this many content words of the shorter of two statements must be in both."""
_PHRASE = 5
"""The maximum number of words in the name of a thing that has ended."""
_COMPOUND = 4
"""The minimum number of letters that a word shares with the beginning or end of a compound, in languages with
compounds."""
_BEGINNING = 6
"""How many first letters two longer words of one family share: "therapy", "therapist"."""
_BORN_TO = ("child", "sibling", "parent", "relative")
"""The codes of relations that only end by death."""


def mentions_change(text: str) -> bool:
    """Whether a text says that something has ended or changed."""
    text = standardise(text)
    if any(has_cue(cue, text) for cue in ("ends", "changed", "fresh", "back", "put_right")):
        return True
    return any(pattern.search(text) for pattern in cue_patterns("over_what"))


def may_end_something(text: str) -> bool:
    """Whether a statement without information of its own may end a known memory."""
    return any(gate(text) for gate in _gates(alone=True))


@lru_cache(4_096)
def may_change(text: str) -> bool:
    """Whether a text may end a memory, because it says so, or states a figure or one of two opposites; cached."""
    text = standardise(text)
    return any(gate(text) for gate in _gates(alone=False))


@lru_cache(4_096)
def changed_things(words: str) -> Sequence[tuple[str, re.Match[str], re.Pattern[str], bool]]:
    """The things of which `words` may report a change, where, what tells which it is, and if that is all."""
    found = ((thing, changes.search(words), changes, tells) for thing, changes, tells in _exclusive_things())
    # "Training moved to Wednesdays"; "we're in a flat in Hove for the week".
    return [
        (thing, own, tells, changes.pattern == tells.pattern)
        for thing, own, changes, tells in found
        if own is not None and not (_begins_with_time(words[own.end() :]) or has_cue("for_a_visit", words))
    ]


def ended_memories(draft: MemoryDraft, known: Sequence[Record], often: Mapping[str, int]) -> list[Record]:
    """The `known` memories that a user's statement ends or replaces by its meaning.

    Memories in the statement's own slot are left out. `often` counts the memories that contain a word.
    """
    if not draft.against and (
        draft.kind in ("procedural", "failure") or has_cue("passing", comparable_words(draft.text))
    ):
        # A procedure, or a fact that was true for a while, doesn't say what is true now.
        return []
    held = [each for each in known if may_be_over(each) and _is_older(each, draft)]
    if draft.attribute == "manner":
        # A wish for answers ends no facts.
        held = [each for each in held if each.attribute == "manner"]
    if not held:
        return []
    found = [each for rule in _OF_PLANS if not draft.against for each in rule.find(draft, held)]
    if draft.attribute != "manner" and (left := without_plans(unquoted_words(draft.text), draft.at)) != unquoted_words(
        draft.text
    ):
        if len(distinctive_words(left)) > 1:
            draft = replace(draft, text=left)
        else:
            held = [
                each
                for each in held
                if is_future(comparable_words(each.text)) or is_plan(comparable_words(each.text), each.at)
            ]
    found += (each for rule in _OF_SLOTS for each in rule.find(draft, held))
    held = [each for each in held if not fills_slot(each, draft)]
    if draft.attribute == "home" and not draft.against:
        # Somebody who moves away from Munich may still work there.
        held = [each for each in held if each.attribute in ("", "home")]
    reader = _ChangeReader(draft, held, often)
    found += (each for rule in _OF_MEANING for each in rule.find(reader))
    return list({each.id: each for each in found}.values())


def may_be_over(record: Record) -> bool:
    """Whether a memory is true and can end: facts and procedures, and events that express a lasting state."""
    return record.holds and (KINDS[record.kind].lasts or (record.kind == "episodic" and has_duration(record)))


class _ChangeReader:
    """Finds which memories a statement ends."""

    def __init__(self, draft: MemoryDraft, held: Sequence[Record], often: Mapping[str, int]) -> None:
        self.draft = draft
        self.often = often
        self.words = comparable_words(draft.text)
        self.said = distinctive_words(draft.text) - set(terms(draft.subject))
        self.names = _capitalised_words(self.words)
        self.joins = writes_nouns_large(self.words)
        self.held = [(each, distinctive_words(each.text)) for each in held]
        self.persons = {term for each in held if is_name_of(each) for term in terms(each.value)}
        self.fresh = has_cue("fresh", self.words)
        self.back = has_cue("back", self.words)
        self.moves = has_cue("moves", self.words)
        self.besides = has_cue("besides", self.words)
        self.only = has_cue("only", self.words)

    def ended(self) -> Iterator[Record]:
        """Memories of things that have ended according to the statement."""
        for said, gone, back in ended_things(self.words):
            # Somebody who gave up the flute is still there; somebody who is named alone may be gone.
            named = said if gone else said - self.persons or said
            found = self._matching_phrase(named, gone=gone, back=back, least=len(named) if named <= self.names else 0)
            if not gone and all(each in verb_forms() for each in named):
                # "I can't run any more" names no thing: who runs the shop is not meant.
                found = [each for each in found if self._does_the_same(each, named)]
            # What could mean several things ends none of them.
            if len(found) <= (MOST if gone else 2):
                yield from found
        for times in ended_times(self.words):
            same = [
                each
                for each, words in self.held
                if (self.said & words or not self.said)
                and _has_times(each, times)
                and not self._is_about_others(each, set())
            ]
            yield from same if len(same) <= 2 else ()
        if has_cue("over_it", self.words) and self.held and not self.names and not beings_in(self.words, self.persons):
            yield max((each for each, _ in self.held), key=lambda one: one.recorded)
        yield from self._corrected_figure()

    def _corrected_figure(self) -> list[Record]:
        """The memory of the same day with another figure of the same kind, if it is corrected."""
        told = dict(_numbers_of(self.words)) if has_cue("put_right", self.words) else {}
        today = [each for each, _ in self.held if told and each.at.date() == self.draft.at.date()]
        others = [(each, dict(_numbers_of(comparable_words(each.text)))) for each in today]
        found = [each for each, had in others if any(had[kind] != told[kind] for kind in told.keys() & had.keys())]
        return sorted(found, key=lambda each: each.recorded)[-1:]

    def _does_the_same(self, record: Record, verbs: Set[str]) -> bool:
        """Whether a memory says that the speaker does what these verbs say."""
        said = predicate(comparable_words(record.text))
        return said is not None and not beings_in(said.subject, self.persons) and bool(verbs & set(terms(said.verb)))

    def _matching_phrase(self, named: Set[str], *, gone: bool, back: bool, least: int = 0) -> list[Record]:
        least = least or (len(named) + 1) // 2
        kin = {each.id for each, _ in self.held if not gone and each.attribute in _BORN_TO and is_name_of(each)}
        doing = {term for found in _WORDS.finditer(self.words) if found[0].endswith("ing") for term in terms(found[0])}
        found = []
        for each, words in self.held:
            hit = self._shared_terms(named, words)
            if each.attribute == "manner" and not (back or self.draft.attribute == "manner"):
                # What is told of one's life ends no wish for answers.
                continue
            if each.id in kin:
                # A daughter who dropped out keeps her name.
                continue
            if self.moves and _is_work_at(each, hit):
                # Somebody who moves away from Munich may still work there.
                continue
            if each.attribute == "home" and not self._shared_terms(named, set(terms(each.value))):
                # Somebody who lived there with a cat that died still lives there.
                continue
            if hit <= doing and named - doing:
                # Somebody who stopped wearing a watch may wear glasses.
                continue
            if len(hit) < least or not hit or not self._may_be_subject(each, hit):
                continue
            if (named & (person_terms() | being_terms())) - words or (not gone and self._is_about_others(each, hit)):
                # "The neighbour's dog" is another dog.
                continue
            over = _mentions_end(each.text) if back else _mentions_end_of(each, hit)
            if not gone and (_only_names_subject(each, hit) or (over or (back and _is_answer_ban(each))) != back):
                continue
            found.append(each)
        return found

    def _shared_terms(self, one: Set[str], other: Set[str]) -> set[str]:
        """The terms of `one` that occur in `other`, or in a longer word there."""
        same = set(one & other)
        parts = one - same if self.joins else (one - same) & self.names
        begin = {word[:_BEGINNING] for word in other if len(word) > _BEGINNING}
        same |= {each for each in one if len(each) > _BEGINNING and each[:_BEGINNING] in begin}
        return same | {each for each in parts if any(is_affix(each, word) for word in other)}

    def changed_values(self) -> Iterator[Record]:
        """Memories for which the statement gives another figure, day or opposite, and which say little besides."""
        told = figures_by_quantity(_DENIED.sub("", self.words))
        denied = figures_by_quantity(" ".join(found["what"] for found in _DENIED.finditer(self.words)))
        counts = counts_by_noun(self.words) if self.fresh or self.only or mentions_change(self.words) else {}
        found = []
        for each, words in self.held if told or counts else ():
            text = comparable_words(each.text)
            theirs_counted = counts_by_noun(text) if counts else {}
            if any(counts[thing] != theirs_counted[thing] for thing in counts.keys() & theirs_counted.keys()):
                found.append(each)
                continue
            theirs = figures_by_quantity(_FROM.sub("", text))
            differ = [
                kind for kind in told.keys() & theirs.keys() if self._values_differ(kind, told[kind], theirs[kind])
            ]
            # On Tuesdays all the same, but weekly now; every Sunday at three, and no longer every night.
            loose = (SIDE, APART, *((WEEKDAY, "clock") if {"often", "clock"} & set(differ) else ()))
            agree = {kind for kind in told.keys() & theirs.keys() - set(differ) if not kind.startswith(loose)}
            if not differ or agree or self.besides:
                continue
            if any(not theirs.get(kind, frozenset()) & values for kind, values in denied.items()):
                # "On 13 June, not 3 June" puts no other day right.
                continue
            shared = {term for term in self._shared_terms(self.said, words) if self.often.get(term, 0) <= MOST}
            shared -= {
                *units_by_term(),
                *(term for kind in differ for term in (*terms(kind), *told[kind], *theirs[kind])),
            }
            close = _CLOSE * len(shared) >= min(len(self.said), len(words)) or bool(
                shared & _words_beside_figures(text) & _words_beside_figures(self.words)
            )
            if not shared or not (close or any(kind.startswith(WEEKDAY) for kind in differ)):
                continue
            if self._may_be_subject(each, shared) and self._same_beings(each, few=len(shared) == 1):
                found.append(each)
        if len(found) <= 2:
            yield from found
        yield from self._new_measurement(told)

    def _values_differ(self, kind: str, told: Set[str], theirs: Set[str]) -> bool:
        """Whether a statement gives other values than a memory, or says that only some of its days are left."""
        if kind.startswith(WEEKDAY) and self.only and told < theirs:
            return True
        return not told & theirs

    def _new_measurement(self, told: Mapping[str, frozenset[str]]) -> Iterator[Record]:
        """The only memory of the same measurement, if a sentence is just a figure: "79 kilos this morning"."""
        for sentence in sentences(self.words, small_opens=True) if any(is_measure(kind) for kind in told) else ():
            mine = figures_by_quantity(sentence)
            kinds = {kind for kind in mine if is_measure(kind) and not kind.startswith((SIDE, APART))}
            if len(kinds) != 1 or distinctive_words(sentence) - units_by_term().keys():
                continue
            (kind,) = kinds
            same = [
                (each, theirs)
                for each, _ in self.held
                if (theirs := figures_by_quantity(comparable_words(each.text)).get(kind, mine[kind])) != mine[kind]
                and self._same_persons(each)
            ]
            if len(same) == 1 and are_alike(" ".join(mine[kind]), " ".join(same[0][1])):
                yield same[0][0]

    def changed_prices(self) -> Iterator[Record]:
        """The memory of a rent, pay or fee, if there is exactly one and the person who sets it names another figure."""
        for heard_of, tells in price_patterns() if not self.besides else ():
            if not heard_of.search(self.words):
                continue
            same = [
                each for each, _ in self.held if tells.search(comparable_words(each.text)) and self._same_persons(each)
            ]
            same = [each for each in same if bare_numbers(comparable_words(each.text))]
            if len(same) == 1 and is_similar_number(self.words, comparable_words(same[0].text)):
                yield same[0]

    def older_measurements(self) -> Iterator[Record]:
        """Memories with an older figure of a measurement of one's life."""
        for pattern in measurement_patterns():
            own = pattern.search(self.words)
            for each, _ in self.held if own else ():
                told = pattern.search(comparable_words(each.text))
                if told and own and self._same_persons(each) and not numbers_in(told[0]) & numbers_in(own[0]):
                    yield each

    def replaced_things(self) -> Iterator[Record]:
        """Memories of a home, a job and the like, if the statement mentions another one."""
        if (self.draft.against and self.draft.attribute) or self.besides:
            return
        named = _OPENING_NAME.match(self.words) if begins_with_name(self.words, "en") else None
        of_whom = set(terms(named[0].split()[0])) - person_terms() - being_terms() if named else set[str]()
        for thing, own, tells, is_told_alike in changed_things(self.words):
            # A thing without its own patterns for a change must be called new.
            for each, _ in self.held if self.fresh or self.back or not is_told_alike else ():
                if ONE_LIFE.get(self.draft.attribute) == each.attribute:
                    # `occupation` decides how employer and job affect each other.
                    continue
                words, apart = comparable_words(each.text), each.subject and self.draft.subject != each.subject
                told = tells.search(words) if not each.attribute else None
                if told and is_told_alike and distinctive_words(told[0]) & distinctive_words(own[0]):
                    continue
                mine, theirs = self.words[: own.start()], words[: told.start() if told else 0]
                if of_whom and of_whom.isdisjoint(terms(words)):
                    # "Kola has started nursery": somebody else's new place ends nothing of the speaker's.
                    continue
                if each.attribute == "partner" and beings_in(mine, self.persons):
                    # "Mara's decree came through".
                    theirs = words
                same = self._name_same_persons(without_speaker(mine), without_speaker(theirs)) or (
                    # In "Mara and I" she is the person whom the memory relates to the speaker.
                    has_cue("joint", mine) and self._name_same_persons(self.words, theirs)
                )
                idle = thing == "employer" and each.attribute == "job" and each.value in _PHRASING.no_work
                if (each.attribute == thing or told or idle) and same and (not apart or not self.draft.subject):
                    yield each

    def _same_beings(self, record: Record, *, few: bool) -> bool:
        """Whether a memory may be about the same people and animals; `few` if it shares only one word."""
        mine, theirs = (beings_in(words, self.persons) for words in (self.words, comparable_words(record.text)))
        if mine and theirs:
            return bool(mine & theirs)
        return mine == theirs or not few

    def _is_about_others(self, record: Record, hit: set[str]) -> bool:
        """Whether statement and memory are about different people or animals, and share no name."""
        mine, theirs = (beings_in(words, self.persons) for words in (self.words, comparable_words(record.text)))
        return bool(mine and theirs) and not mine & theirs and (self.joins or not hit & self.names)

    def _same_persons(self, record: Record) -> bool:
        """Whether a memory is about the same people."""
        return self._name_same_persons(self.words, comparable_words(record.text))

    def _name_same_persons(self, one: str, other: str) -> bool:
        """Whether two texts are about the same people: "Kofi" and "my friend Kofi", not "my cousin Ben" and Tara."""
        mine, theirs = beings_in(one, self.persons), beings_in(other, self.persons)
        named, called = ({found[1] for found in _CALLED.finditer(text)} for text in (one, other))
        kin = [{name for name in names if name} for names in (named, called)]
        if kin[0] and kin[1] and not kin[0] & kin[1]:
            return False
        return mine == theirs or (bool(mine & theirs & self.persons) and (mine <= theirs or theirs <= mine))

    def _may_be_subject(self, record: Record, shared: Set[str]) -> bool:
        """Whether a memory may be about the statement's subject."""
        mine, theirs = (_NUMBERED.match(comparable_words(text)) for text in (self.words, record.text))
        if mine and theirs and mine["one"].casefold() != theirs["one"].casefold():
            # Gate 2 is not gate 3.
            return False
        if record.kind == "procedural":
            return bool(shared & _capitalised_words(self.words)) and not (record.task_type or record.name)
        apart = record.subject and self.draft.subject and record.subject.casefold() != self.draft.subject.casefold()
        if apart and record.attribute and record.attribute == self.draft.attribute:
            # Somebody who quit the firm isn't everybody else who works there.
            return False
        return (
            not apart
            or record.subject.casefold() in self.draft.text.casefold()
            or bool(shared & _capitalised_words(self.words))
        )


def _mentions_replacement(text: str) -> bool:
    """Whether a text reports a change of something that one has one of at a time: a home, work, a partner."""
    return any(changes.search(text) for _, changes, _ in _exclusive_things())


Find = TypeVar("Find")
Gate: TypeAlias = Callable[[str], object]
FindBeside: TypeAlias = Callable[[MemoryDraft, Sequence[Record]], Iterable[Record]]


class EndingRule(NamedTuple, Generic[Find]):
    """One way in which a statement ends memories.

    A statement is only compared with known memories if a gate of some rule opens, or if it contradicts a slot.
    """

    find: Find
    gates: tuple[Gate, ...] = ()
    """Whether a text, in standard words, may end something in this way."""
    alone: tuple[Gate, ...] = ()
    """The gates that also open for a statement without information of its own, which would otherwise be dropped."""


def _cue_gate(*names: str) -> Gate:
    return lambda text: any(has_cue(each, text) for each in names)


_OF_PLANS: Sequence[EndingRule[FindBeside]] = (
    EndingRule(
        lambda draft, held: cancelled_plans(comparable_words(draft.text), held),
        gates=(_cue_gate(*OFF),),
        alone=(_cue_gate("calls_off"),),
    ),
)
"""How plans end; tried before the statement's own plans are removed from it."""
_OF_SLOTS: Sequence[EndingRule[FindBeside]] = (
    EndingRule(ended_slot_values),
    EndingRule(changed_preferences),
    EndingRule(tolerated_again, alone=(_cue_gate("outgrown"),)),
    EndingRule(other_language_rules),
    EndingRule(changed_numbers, gates=(counts_by_noun,)),
    EndingRule(lambda draft, held: ended_other_half(draft, held, comparable_words(draft.text))),
)
"""Rules for values that end with a slot's value, in the same slot or others."""
_OF_MEANING: Sequence[EndingRule[Callable[[_ChangeReader], Iterable[Record]]]] = (
    EndingRule(_ChangeReader.ended, alone=(mentions_change,)),
    EndingRule(_ChangeReader.changed_values, gates=(figures_by_quantity,)),
    EndingRule(_ChangeReader.older_measurements, gates=(figures_by_quantity,)),
    EndingRule(_ChangeReader.changed_prices, gates=(figures_by_quantity,)),
    EndingRule(_ChangeReader.replaced_things, alone=(_mentions_replacement,)),
)
"""Rules for memories that a statement ends by its meaning, in any slot but its own."""


@cache
def _gates(*, alone: bool) -> tuple[Gate, ...]:
    """The gates of all rules, each once; with `alone` those for statements without information of their own."""
    rows = [(rule.gates, rule.alone) for rules in (_OF_PLANS, _OF_SLOTS, _OF_MEANING) for rule in rules]
    return tuple(dict.fromkeys(each for gates, by_itself in rows for each in (*by_itself, *(() if alone else gates))))


@lru_cache(512)
def ended_things(words: str) -> tuple[tuple[frozenset[str], bool, bool], ...]:
    """The terms of each thing that has ended, whether it is somebody who died, and whether it is back.

    Cached, since each statement is compared with the same memories.
    """
    told = []
    for pattern in cue_patterns("over_what"):
        for found in pattern.finditer(words):
            gone = "who" in found.re.groupindex
            name = "who" if gone else "what"
            named = _phrase_terms(found[name], before=found.end(name) < found.end())
            if named:
                rest = _CLAUSE_REST.match(words, found.end())
                again = f"{words[found.start() : found.start(name)]} {rest[0] if rest else ''}"
                told.append((frozenset(named), gone, has_cue("back", again)))
    return tuple(told)


@lru_cache(512)
def ended_times(words: str) -> tuple[Mapping[str, frozenset[str]], ...]:
    """The days and times of each phrase that names something ended: "no more 7 to 3", "not Thursdays any more"."""
    phrases = (
        found["what"]
        for pattern in cue_patterns("over_what")
        if "what" in pattern.groupindex
        for found in pattern.finditer(words)
    )
    told = (
        {kind: each for kind, each in figures_by_quantity(phrase).items() if is_time(kind, each)} for phrase in phrases
    )
    return tuple(each for each in told if each)


def _has_times(record: Record, times: Mapping[str, frozenset[str]]) -> bool:
    """Whether a memory has these days or times, and doesn't say that they ended."""
    text = comparable_words(record.text)
    theirs = figures_by_quantity(text)
    return all(values <= theirs.get(kind, frozenset()) for kind, values in times.items()) and not has_cue("ends", text)


def _phrase_terms(text: str, *, before: bool) -> frozenset[str]:
    """The terms of the thing at the end of a text (if that is `before` a verb), or at its beginning."""
    said = [found[0] for found in _WORDS.finditer(text)]
    # In "the truck's generator" it is the generator; "the neighbour's dog" is not the speaker's.
    said = [word for at, word in enumerate(said) if at + 1 == len(said) or not _is_owner(word)]
    ends = topic(Facts).phrase_ends
    if before and writes_nouns_large(text):
        return distinctive_words(" ".join(_last_nouns(said)))
    if before:
        said = said[-_PHRASE:]
    else:
        start = next((at for at, word in enumerate(said) if word.casefold() not in ends), len(said))
        end = next((at for at in range(start + 1, len(said)) if said[at].casefold() in ends), len(said))
        # "Going to the choir", "teaching in Hull": what follows the verb belongs to it.
        if end == start + 1 and said[start].endswith("ing"):
            end = next((at for at in range(end + 1, len(said)) if said[at].casefold() in ends), len(said))
        said = said[start : min(end, start + _PHRASE)]
    return distinctive_words(" ".join(said))


def _is_owner(word: str) -> bool:
    """Whether a word is a possessive before a thing, and names nobody who belongs to the speaker."""
    return word.endswith(("'s", "’s")) and not {*terms(word[:-2])} & (person_terms() | being_terms())


def _last_nouns(words: list[str]) -> list[str]:
    """The last noun of a German phrase, with adjacent ones; the whole phrase if it capitalises none."""
    large = [at for at, word in enumerate(words) if word[:1].isupper()]
    found: list[int] = []
    # "Das Bisoprolol hat die Ärztin abgesetzt": it isn't the doctor who has ended.
    large = [at for at in large if not set(terms(words[at])) & role_terms()] or large
    for at in reversed(large):
        if found and not (found[-1] - at == 1 or words[at + 1 : found[-1]] == ["und"]):
            break
        found.append(at)
    return [words[at] for at in found] or words


def is_affix(one: str, other: str) -> bool:
    """Whether one word begins or ends with the other."""
    short, long = sorted((one, other), key=len)
    return len(short) >= _COMPOUND and (long.startswith(short) or long.endswith(short) or long[:6] == short[:6] != "")


def _only_names_subject(record: Record, hit: set[str]) -> bool:
    """Whether the shared terms only name the memory's subject."""
    text = comparable_words(record.text)
    first, _, rest = _OWNER.sub("", text).partition(" ")
    if set(terms(first)) & being_terms():
        # "My friend Mia", "my brother".
        name = rest.split(" ", 1)[0]
        return bool(hit) and hit <= {*terms(first), *(terms(name) if name[:1].isupper() else ())}
    return bool(hit) and hit <= set(terms(first)) and first[:1].isupper()


def is_name_of(record: Record) -> bool:
    """Whether a memory only states somebody's name."""
    return record.value[:1].isupper() and record.text.rstrip(".").endswith(record.value) and len(record.text) < 60


def _mentions_end(text: str) -> bool:
    """Whether a memory itself says that something has ended."""
    return has_cue("ends", comparable_words(text))


def _is_answer_ban(record: Record) -> bool:
    """Whether a memory is a rule about what answers must not contain."""
    return record.attribute == "manner" and has_cue("forbids", comparable_words(record.text))


def _mentions_end_of(record: Record, hit: set[str]) -> bool:
    """Whether a memory itself says that this has ended."""
    text = comparable_words(record.text)
    return _mentions_end(text) and (len(hit) > 1 or any(hit & named for named, *_ in ended_things(text)))


def _is_work_at(record: Record, hit: set[str]) -> bool:
    """Whether a memory says that somebody works at a place."""
    placed = any(set(terms(found[1])) & hit for found in _IN.finditer(comparable_words(record.text)))
    return placed and record.attribute in ("job", "employer")


_CALLED = lazy_re(
    lambda: rf"\b{any_of(topic(Phrasing).called)} (?:\w+ ){{0,2}}?[a-zäöüß-]+ ({CAPITAL}[\w-]+)(?= [a-zäöü]|['’]s)"
)
_CLAUSE_REST = lazy_re(r"[^.,;:!?]*")
_DENIED = lazy_re(
    lambda: rf"{any_of(topic(Facts).not_that)}(?P<what>(?:[^\W\d_]+ )?[$€£]?\d(?:[^.,;:!?]|[.,:](?=\d))*)", re.I
)
"""A figure that is called wrong: "not 3 June"."""
_IN = lazy_re(r"\bin (\w+)", re.I)
_OWNER = lazy_re(lambda: rf"^(?:the user['’]s|{any_of(of_language(Facts, 'en').owners)})\s+", re.I)
_FROM = lazy_re(lambda: any_of(topic(Phrasing).was), re.I)


def _numbers_of(text: str) -> set[tuple[str, frozenset[str]]]:
    """The figures and days of a text, without the opposites."""
    return {(kind, values) for kind, values in figures_by_quantity(text).items() if not kind.startswith((SIDE, APART))}


def _words_beside_figures(text: str) -> set[str]:
    pairs = list(pairwise(found[0] for found in _WORD_OR_FIGURE.finditer(text)))
    told = [(word, beside) for pair in pairs for word, beside in (pair, pair[::-1])]
    return {term for word, beside in told if beside[0].isdigit() for term in terms(word)}


def _begins_with_time(text: str) -> bool:
    """Whether a text begins with a day, a month or a figure."""
    first = next(iter(_WORDS.findall(text)), "").casefold()
    return first[:1].isdigit() or first.rstrip("s") in weekday_numbers() or first in month_numbers()


def _capitalised_words(text: str) -> set[str]:
    """The capitalised words of a memory, except at the beginning of a sentence."""
    return {term for found in _LARGE.finditer(comparable_words(text)) for term in terms(found[0])}


def has_duration(record: Record) -> bool:
    """Whether an event expresses that something was said or lasted, which can end."""
    return bool(record.subject) or unquoted_words(record.text) != record.text


def _is_older(record: Record, draft: MemoryDraft) -> bool:
    """Whether a memory was recorded before a statement and, if both have sources, is not about a later day."""
    if record.recorded >= draft.recorded or not set(draft.messages).isdisjoint(record.sources):
        return False
    # "She died yesterday" ends what was said about her today.
    return record.at.date() <= (draft.told or draft.at).date() or not (record.sources and draft.messages)


@cached_data
def _exclusive_things() -> tuple[tuple[str, re.Pattern[str], re.Pattern[str]], ...]:
    """Things of which one has one at a time, with patterns for a change, and for which one it is."""
    return tuple(
        (thing, lazy_re(any_of(known.changes_of.get(thing) or patterns), re.I), lazy_re(any_of(patterns), re.I))
        for known in (each.known for each in all_cues().values())
        for thing, patterns in known.tells_of.items()
    )
