"""Decide which memories the meaning of a new statement ends: "sold the car", "the trip is off", "9, not 10 now".

A statement ends a memory if it says that a thing has ended, and names it in full (`over_what` in the language's data:
the object of "sold", the subject of "is off"), or if it gives the same thing another figure, another day, or the
opposite value. If several memories could be meant, none is ended. Values of one slot, such as a home, replace each
other in `facts`.

Of a memory about several things the others stay: other sentences, or other items of a list. In a quotation, a mark
replaces what is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import lru_cache
from itertools import pairwise

from msgspec.structs import replace

from ireneo.language.files import CAPITAL, LANGUAGES, any_of, cached_data, of_language, topic
from ireneo.language.predicates import predicate, verb_forms
from ireneo.language.spoken import Facts, Phrasing
from ireneo.language.times import month_numbers, weekday_numbers
from ireneo.language.topics import Connectives, Numbers, Words
from ireneo.language.words import language_of_sentence, sentences, standardise, terms, writes_nouns_large
from ireneo.memories.cues import PIECES, all_cues, clause_tense, cue_patterns, has_cue, mentions_change
from ireneo.memories.ended_values import DIET, corrected_quotations, corrections, ended_values, fills_slot
from ireneo.memories.facts import ONE_LIFE
from ireneo.memories.figures import (
    APART,
    SIDE,
    WEEKDAY,
    counts_by_noun,
    figures_by_quantity,
    is_measure,
    number_words,
    units_by_term,
)
from ireneo.memories.kinds import KINDS
from ireneo.memories.lasting import COUNTS_FOR, OFF, cancelled_plans, is_future, is_plan, plan_deadline, without_plans
from ireneo.memories.persons import KIN, being_terms, beings_in, person_terms, role_terms, without_speaker
from ireneo.memories.quoting import begins_with_name
from ireneo.memories.record import MemoryDraft, Record
from ireneo.memories.wording import comparable_words, distinctive_words, unquoted_words
from ireneo.patterns import lazy_re

_PHRASING = topic(Phrasing)

_LARGE = lazy_re(rf"(?<=[\w,] ){CAPITAL}\w+")
_OPENING_NAME = lazy_re(rf"{CAPITAL}[\w'’-]*(?: {CAPITAL}[\w-]*)?")
_WORDS = lazy_re(r"[^\W_]+(?:['’-][^\W_]+)*")
_WORD_OR_FIGURE = lazy_re(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:['’-][^\W_]+)*")
_NUMBERED = lazy_re(lambda: rf"^(?:{any_of(_PHRASING.definite)} )?(?P<one>[^\W\d_]+ (?:no\.? ?|nr\.? ?|#)?\d+) ", re.I)
_INDEFINITE = lazy_re(lambda: rf"(?:{any_of(topic(Numbers).one)}|\d+)\b", re.I)
MOST = 6
"""How many memories the death of somebody ends at most, and how many may share a word that identifies them; a statement
that matches more is about all of them, and ends none."""
_MOST_MEANT = 2
"""The same for the end of anything else."""
_CLOSE = 3
"""At least one in this many content words of the shorter of two statements must be in both."""
_PHRASE = 5
"""The maximum number of words in the name of a thing that has ended."""
_COMPOUND = 4
"""The minimum number of letters that a word shares with the beginning or end of a compound, in languages with
compounds."""
_BEGINNING = 5
"""How many first letters two words of one family share at least: "therapy", "therapist"."""
_NAMED_FOR_GOOD = ("child", "sibling", "parent", "relative", "name", "called")
"""The attributes of names that only end by death, or by another name."""


_calendar_terms = cached_data(lambda: {term for word in (*month_numbers(), *weekday_numbers()) for term in terms(word)})


def may_end_something(text: str) -> bool:
    """Whether a statement without information of its own may end a known memory."""
    replaces = any(changes.search(text) for _, changes, _ in _one_at_a_time())
    return replaces or has_cue("calls_off", text) or mentions_change(text)


@lru_cache(4_096)
def may_change(text: str) -> bool:
    """Whether a text may end a memory, because it says so, or states a figure or one of two opposites; cached."""
    text = standardise(text)
    return bool(
        may_end_something(text)
        or any(has_cue(each, text) for each in OFF)
        or corrections(text)
        or figures_by_quantity(text)
        or counts_by_noun(text)
    )


def ended_memories(draft: MemoryDraft, known: Sequence[Record], often: Mapping[str, int]) -> list[Record]:
    """The `known` memories that a user's statement ends or replaces by its meaning.

    Memories in the statement's own slot are left out. `often` counts the memories that contain a word.
    """
    words = unquoted_words(draft.text)
    if not draft.against and (draft.kind in ("procedural", "failure") or has_cue("passing", standardise(words))):
        # A procedure, or a fact that was true for a while, doesn't say what is true now.
        return []
    held = [each for each in known if may_be_over(each) and _is_older(each, draft)]
    if draft.attribute == "manner":
        # A wish for answers ends no facts.
        held = [each for each in held if each.attribute == "manner"]
    found = [] if draft.against else cancelled_plans(standardise(words), held)
    if draft.attribute != "manner" and (left := without_plans(words, draft.at)) != words:
        if len(distinctive_words(left)) > 1:
            draft = replace(draft, text=left)
        else:
            held = [
                each
                for each in held
                if is_future(comparable_words(each.text)) or is_plan(comparable_words(each.text), each.at)
            ]
    found += ended_values(draft, held)
    held = [each for each in held if not fills_slot(each, draft)]
    if draft.attribute == "home" and not draft.against:
        # Somebody who moves away from Munich may still work there.
        held = [each for each in held if each.attribute in ("", "home")]
    reader = _ChangeReader(draft, held, often)
    found += (*reader.ended(), *reader.changed_values())
    puts_right = draft.against or corrections(words)
    found += [each for each, _ in corrected_quotations(words, draft.told or draft.at, held)] if puts_right else []
    found += reader.replaced_things()
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
        self.besides = has_cue("besides", self.words)
        self.only = has_cue("only", self.words)

    def ended(self) -> Iterator[Record]:
        """Memories of things that have ended according to the statement."""
        kin = {term for each, _ in self.held if each.attribute in (*KIN, "child", "name") for term in terms(each.value)}
        for said, gone, back, parted in ended_things(self.words):
            if (gone == "pet" and not said & self.persons - kin) or (gone == "animal" and said & kin):
                # Children who fall asleep, or are put to sleep, are well.
                continue
            # Somebody who gave up the flute is still there; somebody who is named alone may be gone.
            named = said if gone else said - self.persons or said
            found = [
                each for each, words in self.held if self._ends(each, words, named, gone=gone, back=back, parted=parted)
            ]
            # What could mean several things ends none of them.
            if len(found) <= (MOST if gone else _MOST_MEANT):
                yield from found

    def _ends(self, record: Record, words: Set[str], named: Set[str], *, gone: str, back: bool, parted: bool) -> bool:
        """Whether a memory is about what `named` names in full, which according to the statement ended or is back."""
        hit = self._shared_terms(named, words)
        if len(hit) < len(named) or not self._may_be_subject(record, hit):
            return False
        if record.attribute == "home" and not self._shared_terms(named, set(terms(record.value))):
            # Somebody who lived there with a cat that died still lives there.
            return False
        if self.draft.attribute == "home" and record.attribute != "home" and begins_with_name(record.text, "de"):
            # Who moves away from Munich ends nothing that others do there.
            return False
        if self._is_about_others(record, hit):
            # "The neighbour's dog" is another dog.
            return False
        if gone:
            return record.attribute != "manner"
        if record.attribute == "manner" and not (back or self.draft.attribute == "manner"):
            # What is told of one's life ends no wish for answers.
            return False
        for_good = record.attribute in _NAMED_FOR_GOOD or (record.attribute == "partner" and not parted)
        if (for_good and is_name_of(record)) or _only_names_subject(record, hit):
            # A daughter who dropped out keeps her name, and a wife who quit her job is still a wife.
            return False
        if not back and all(each in verb_forms() for each in named) and not self._does_the_same(record, named):
            # "I can't run any more" names no thing: who runs the shop is not meant.
            return False
        text = comparable_words(record.text)
        # It may say itself that this has ended.
        over = any(hit & ended for ended, *_ in ended_things(text)) or (
            has_cue("ends", text) and (back or len(hit) > 1)
        )
        return (over or (back and _is_ban(record))) == back

    def _does_the_same(self, record: Record, verbs: Set[str]) -> bool:
        """Whether a memory says that the speaker does what these verbs say."""
        text = comparable_words(record.text)
        if any(word.endswith("ing") and word in text.casefold() for word in self.words.casefold().split()):
            # Who "quit swimming" goes to no swimming any more.
            return True
        said = predicate(text)
        if said is None or said.tense == "past" or beings_in(said.subject, self.persons):
            return False
        return bool(verbs & set(terms(said.verb)))

    def _shared_terms(self, one: Set[str], other: Set[str]) -> set[str]:
        """The terms of `one` that occur in `other`, or in a longer word there."""
        same = set(one & other)
        parts = one - same if self.joins else (one - same) & self.names
        same |= {each for each in one if any(_of_one_family(each, word) for word in other)}
        return same | {each for each in parts if any(is_affix(each, word) for word in other)}

    def changed_values(self) -> Iterator[Record]:
        """Memories for which the statement gives another figure, day or opposite, and which say little besides."""
        told = figures_by_quantity(_DENIED.sub("", self.words))
        denied = figures_by_quantity(" ".join(found["what"] for found in _DENIED.finditer(self.words)))
        counts = counts_by_noun(self.words) if self.only or mentions_change(self.words) else {}
        is_fresh, was_past, found = self.only or has_cue("fresh", self.words), _is_past(self.words), list[Record]()
        for each, words in self.held if (told or counts) and not self.besides else ():
            text = comparable_words(each.text)
            theirs, counted = figures_by_quantity(_FROM.sub("", text)), counts_by_noun(text) if counts else {}
            if any(counts[thing] != counted[thing] for thing in counts.keys() & counted.keys()):
                found.append(each)
            elif differ := self._differing(told, theirs):
                if not is_fresh and (was_past or _is_past(text)):
                    # What happened once has the figures of its day.
                    continue
                if any(not theirs.get(kind, frozenset()) & values for kind, values in denied.items()):
                    # "On 13 June, not 3 June" puts no other day right.
                    continue
                figures = {term for kind in differ for term in (*terms(kind), *told[kind], *theirs[kind])}
                timed = not any(is_measure(kind) or kind.startswith((SIDE, APART)) for kind in differ)
                if self._share_a_thing(each, words, figures, timed=timed):
                    found.append(each)
        yield from found if len(found) <= _MOST_MEANT else ()

    def _differing(self, told: Mapping[str, Set[str]], theirs: Mapping[str, Set[str]]) -> list[str]:
        """The quantities for which two statements have different values; none if they agree on another one."""
        both = told.keys() & theirs.keys()
        differ = [
            kind
            for kind in both
            # "Only on Fridays" leaves out other days.
            if not told[kind] & theirs[kind] or (kind.startswith(WEEKDAY) and self.only and told[kind] < theirs[kind])
        ]
        # On Tuesdays all the same, but weekly now; every Sunday at three, and no longer every night.
        loose = (SIDE, APART, *((WEEKDAY, "clock") if {"often", "clock"} & set(differ) else ()))
        return [] if any(not kind.startswith(loose) for kind in both - set(differ)) else differ

    def _share_a_thing(self, record: Record, words: Set[str], figures: Set[str], *, timed: bool) -> bool:
        """Whether a memory is about the same thing; if the figures are days or times, that is more than a person."""
        shared = {term for term in self._shared_terms(self.said, words) if self.often.get(term, 0) <= MOST}
        shared -= {*units_by_term(), *_calendar_terms(), *figures}
        whom = self.persons | person_terms() | being_terms() | _names_at_start(record) if timed else set[str]()
        near = _words_beside_figures(comparable_words(record.text)) & _words_beside_figures(self.words)
        close = _CLOSE * len(shared) >= min(len(self.said), len(words)) or bool(shared & near)
        return (
            bool(shared - whom) and close and self._may_be_subject(record, shared) and self._same_beings(record, shared)
        )

    def replaced_things(self) -> Iterator[Record]:
        """Memories of a home or a job, if the statement mentions another one."""
        if (self.draft.against and self.draft.attribute) or self.besides:
            return
        named = _OPENING_NAME.match(self.words) if begins_with_name(self.words, "en") else None
        of_whom = set(terms(named[0].split()[0])) - person_terms() - being_terms() if named else set[str]()
        for thing, own, tells in changed_things(self.words):
            mine = without_speaker(self.words[: own.start()])
            for each, _ in self.held:
                if ONE_LIFE.get(self.draft.attribute) == each.attribute:
                    # `ended_values` decides how employer and job affect each other.
                    continue
                words = comparable_words(each.text)
                told = tells.search(words) if not each.attribute else None
                idle = thing == "employer" and each.attribute == "job" and each.value in _PHRASING.no_work
                # The value of somebody else's slot is told behind whose it is.
                of_other = each.attribute and each.subject != "user"
                at = told.start() if told else words.casefold().find(each.value.casefold()) if of_other else 0
                theirs = without_speaker(words[: max(at, 0)])
                if (
                    (each.attribute == thing or told or idle)
                    # "Kola has started nursery": somebody else's new place ends nothing of the speaker's.
                    and not (of_whom and of_whom.isdisjoint(terms(words)))
                    # "Moved to Hove": who lives at 12 Hill Road, Hove, is there.
                    and not (thing in ("home", "employer") and self.names & set(terms(words)))
                    and not (thing in _TOLD_AHEAD and not self.names and self._tells_of_new(each, thing))
                    and (
                        self._name_same_persons(mine, theirs)
                        or (is_name_of(each) and {*terms(each.value)} <= {*terms(mine)})
                    )
                    and (each.subject in ("", self.draft.subject) or not self.draft.subject)
                ):
                    yield each

    def _tells_of_new(self, record: Record, thing: str) -> bool:
        """Whether a memory itself tells of a recent or coming change, so that "we're in!" speaks of its home."""
        values = [record, *(each for each, _ in self.held if record.value and record.value in each.text)]
        told = ((comparable_words(each.text), each.at) for each in values if self.draft.at - each.at < COUNTS_FOR)
        return any(
            thing in {each for each, *_ in changed_things(words)} or plan_deadline(words, at) for words, at in told
        )

    def _same_beings(self, record: Record, shared: Set[str]) -> bool:
        """Whether a memory may be about the same people and animals, which must be clear if little is shared."""
        mine, theirs = (beings_in(words, self.persons) for words in (self.words, comparable_words(record.text)))
        return bool(mine & theirs) if mine and theirs else mine == theirs or len(shared) > 1

    def _is_about_others(self, record: Record, hit: set[str]) -> bool:
        """Whether statement and memory are about different people or animals, and share no name."""
        mine, theirs = (beings_in(words, self.persons) for words in (self.words, comparable_words(record.text)))
        return bool(mine and theirs) and not mine & theirs and (self.joins or not hit & self.names)

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


@lru_cache(4_096)
def changed_things(words: str) -> Sequence[tuple[str, re.Match[str], re.Pattern[str]]]:
    """The things of which `words` may report a change, where, and what tells which it is; cached."""
    found = ((thing, changes.search(words), tells) for thing, changes, tells in _one_at_a_time())
    # "Training moved to Wednesdays"; "we're in a flat in Hove for the week".
    return [
        (thing, own, tells)
        for thing, own, tells in found
        if own is not None and not (_begins_with_time(words[own.end() :]) or has_cue("for_a_visit", words))
    ]


@lru_cache(512)
def ended_things(words: str) -> tuple[tuple[frozenset[str], str, bool, bool], ...]:
    """The terms of each thing that has ended: if it died, "who", "pet" or "animal"; if it is back, or parted.

    Cached, since each statement is compared with the same memories.
    """
    told = []
    for pattern in cue_patterns("over_what"):
        for found in pattern.finditer(words):
            gone = next((each for each in ("pet", "animal", "who") if found.groupdict().get(each)), "")
            name = "who" if gone else "what"
            named = _phrase_terms(found[name], before=found.end(name) < found.end())
            # "I finished a model": a new thing is none that is known.
            if named and not _INDEFINITE.match(found[name]):
                rest = _CLAUSE_REST.match(words, found.end())
                again = f"{words[found.start() : found.start(name)]} {rest[0] if rest else ''}"
                told.append((frozenset(named), gone, has_cue("back", again), "both" in found.re.groupindex))
    return tuple(told)


def _phrase_terms(text: str, *, before: bool) -> frozenset[str]:
    """The terms of the thing at the end of a text (if that is `before` a verb), or at its beginning."""
    said = [found[0] for found in _WORDS.finditer(text)]
    # In "the truck's generator" it is the generator; "the neighbour's dog" is not the speaker's.
    said = [word for at, word in enumerate(said) if at + 1 == len(said) or not _is_owner(word)]
    said = [word for word in said if word.casefold() not in topic(Facts).adverbs]
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
    large = [
        at for at, word in enumerate(words) if word[:1].isupper() and word.casefold() not in topic(Facts).phrase_ends
    ]
    found: list[int] = []
    # "Das Bisoprolol hat die Ärztin abgesetzt": it isn't the doctor who has ended.
    large = [at for at in large if not set(terms(words[at])) & role_terms()] or large
    # "Den Kurs in Kassel sag ich ab": it isn't the town.
    near = {*topic(Facts).phrase_ends} - {*_PHRASING.definite}
    large = [at for at in large if not (at and words[at - 1].casefold() in near)] or large
    for at in reversed(large):
        if found and not (found[-1] - at == 1 or words[at + 1 : found[-1]] == ["und"]):
            break
        found.append(at)
    return [words[at] for at in found] or words


def _of_one_family(one: str, other: str) -> bool:
    """Whether two words differ by endings only: "therapy", "therapist"; "rauche", "rauchen"; no "internship"."""
    known = {"", *topic(Words).families}
    return any(one[:at] == other[:at] and {one[at:], other[at:]} <= known for at in range(_BEGINNING, len(one) + 1))


def is_affix(one: str, other: str) -> bool:
    """Whether one word begins or ends with the other."""
    short, long = sorted((one, other), key=len)
    return len(short) >= _COMPOUND and (long.startswith(short) or long.endswith(short))


def _only_names_subject(record: Record, hit: set[str]) -> bool:
    """Whether the shared terms only name the memory's subject."""
    text = comparable_words(record.text)
    first, _, rest = _OWNER.sub("", text).partition(" ")
    if set(terms(first)) & being_terms():
        # "My friend Mia", "my brother".
        name = rest.split(" ", 1)[0]
        return bool(hit) and hit <= {*terms(first), *(terms(name) if name[:1].isupper() else ())}
    # "Swimming has moved to Tuesdays" is about no person.
    return bool(hit) and hit <= set(terms(first)) and first[:1].isupper() and not first.endswith("ing")


def is_name_of(record: Record) -> bool:
    """Whether a memory only states somebody's name."""
    return record.value[:1].isupper() and record.text.rstrip(".").endswith(record.value) and len(record.text) < 60


def _is_ban(record: Record) -> bool:
    """Whether a memory says what somebody doesn't eat, or what answers must not contain."""
    return record.attribute in DIET or (
        record.attribute == "manner" and has_cue("forbids", comparable_words(record.text))
    )


_CALLED = lazy_re(
    lambda: rf"\b{any_of(topic(Phrasing).called)} (?:\w+ ){{0,2}}?[a-zäöüß-]+ ({CAPITAL}[\w-]+)(?= [a-zäöü]|['’]s)"
)
_CLAUSE_REST = lazy_re(r"[^.,;:!?]*")
_DENIED = lazy_re(
    lambda: rf"{any_of(topic(Facts).not_that)}(?P<what>(?:[^\W\d_]+ )?[$€£]?\d(?:[^.,;:!?]|[.,:](?=\d))*)", re.I
)
"""A figure that is called wrong: "not 3 June"."""
_OWNER = lazy_re(lambda: rf"^(?:the user['’]s|{any_of(of_language(Facts, 'en').owners)})\s+", re.I)
_FROM = lazy_re(lambda: any_of(topic(Phrasing).was), re.I)


def _is_past(text: str) -> bool:
    """Whether all clauses with figures tell what happened in the past."""
    told = [each for each in sentences(text, small_opens=True) if figures_by_quantity(each)]
    return bool(told) and all(clause_tense(each, language_of_sentence(each)) == "past" for each in told)


def _names_at_start(record: Record) -> set[str]:
    """The terms of the name with which a memory begins: who it is about."""
    found = _OPENING_NAME.match(comparable_words(record.text))
    return set(terms(found[0])) if found else set()


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
def _one_at_a_time() -> tuple[tuple[str, re.Pattern[str], re.Pattern[str]], ...]:
    """Things of which one has one at a time, with patterns for a change, and for which one it is."""
    return tuple(
        (thing, lazy_re(any_of(changes), re.I), lazy_re(any_of(known.tells_of[thing]), re.I))
        for known in (each.known for each in all_cues().values())
        for thing, changes in known.changes_of.items()
    )


_SHORT = 3
"""The maximum number of words of a list item if no word before it applies to the whole list."""
_LEFT_OUT = "…"
_END_LEFT_OUT = lazy_re(
    lambda: rf"(?:[,;:]? {any_of([*topic(Connectives).additions, *topic(Connectives).contrasts])})?[,;:]? …$"
)
_COUNTED = lazy_re(
    lambda: (
        rf"\b(?:(?P<two>{topic(Numbers).cardinals[0]})|{any_of(number_words())}|\d+) "
        r"(?P<all>(?P<one>[\w-]{1,30}?)s?)(?=[,:] )"
    ),
    re.I,
)
"""A number before what is listed."""
_TOLD_AHEAD = ("home", "job", "employer")
"""Things that people announce by name, and then speak of without it."""
_NEW_THING = lazy_re(lambda: rf"\b{any_of(topic(Facts).articles)} (?:\S+ )?[^\s,]+[,:] $", re.I)
_NAMES_AGAIN = lazy_re(lambda: rf"(?:{any_of(topic(Facts).article)})\s(?:\S+\s){{2,}}", re.I)
"""The beginning of a part that repeats the one before it: an article and several words."""


def without_ended(text: str, words: str) -> str | None:
    """Remove from `text` the one of several things that has ended according to `words`.

    None if `text` names no such thing, or nothing else.
    """
    said, own = unquoted_words(words), unquoted_words(text)
    over = set[str]().union(*(named for named, *_ in ended_things(said))) if words else set[str]()
    left = _other_items(own, over) if over else ""
    if not left or left == own:
        return None
    if own != text:
        left = _COUNTED.sub(rf"{_LEFT_OUT} \g<all>", left)
    else:
        left = _COUNTED.sub(lambda found: f"a {found['one']}" if found["two"] else found["all"], left)
        left = left.replace(f"{_LEFT_OUT} ", "")
        return left if left[-1] in ".!?" else f"{left.rstrip(' ,;:')}."
    frame = text if left.startswith(own.split(" ", 1)[0]) else topic(Phrasing).asked.sub("", text, count=1)
    return frame.replace(own, left)


def _lacks_subject(piece: str) -> bool:
    """Whether a part of a sentence begins with the verb, so that it says something of what stood before it."""
    named = f"Ana {piece}"
    return not piece[:1].isupper() and any(begins_with_name(named, code) for code in LANGUAGES)


def _other_items(own: str, over: set[str]) -> str:
    """The clauses or list items that are not about anything `over`."""
    breaks = [*PIECES.finditer(own)]
    first = own[: breaks[0].start()] if breaks else own
    if len(first.split()) > _SHORT and not (breaks and breaks[0][0][0] in ".!"):
        # It mostly contains words that apply to the whole list, unless it is a sentence of its own.
        over = over - {*terms(first)}
    cuts = [0, *(found.end() for found in breaks), len(own)]
    pieces = [own[start:end] for start, end in pairwise(cuts) if own[start:end].strip()]
    gone = [any(one == each or is_affix(one, each) for one in over for each in terms(piece)) for piece in pieces]
    if len(pieces) > 1 and gone[-1] and pieces[-2].endswith(", ") and _NAMES_AGAIN.match(pieces[-1]):
        # "By bicycle, a Brompton that I got": both are the same thing.
        gone[-2] = True
    for at, piece in enumerate(pieces[:-1]):
        # "In a band, Northlight": both are the same thing.
        gone[at] |= gone[at + 1] and _NEW_THING.search(piece) is not None
    if all(gone) or not any(gone):
        return ""
    kept, after = list[str](), False
    for piece, is_over in zip(pieces, gone, strict=True):
        after = is_over or (
            after
            and bool(topic(Facts).refers.match(piece) or topic(Facts).depends.match(piece) or _lacks_subject(piece))
        )
        if not after and (distinctive_words(piece) or not kept or kept[-1] != f"{_LEFT_OUT} "):
            kept.append(piece)
        elif not kept or kept[-1] != f"{_LEFT_OUT} ":
            kept.append(f"{_LEFT_OUT} ")
    left = _END_LEFT_OUT.sub("", "".join(kept).strip()).rstrip(" ,;:")
    return left if distinctive_words(left) else ""
