"""Find the memories that a statement about a slot ends, in the same slot or others; `endings` compares words.

Work has two slots, employer and job, and a statement about one may end the other: somebody who is now a teacher at a
school has left the hospital where they were a nurse. Somebody who is promoted stays with the firm, and a nurse at
another hospital is still a nurse.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from datetime import datetime, timedelta
from functools import lru_cache

from msgspec import Struct

from ireneo.language.files import any_of, topic
from ireneo.language.spoken import Facts, Phrasing
from ireneo.language.times import month_numbers, weekday_numbers
from ireneo.language.topics import Words
from ireneo.language.words import sentences, terms
from ireneo.memories.cues import PIECES, has_cue
from ireneo.memories.facts import ONE_LIFE, cardinality_of
from ireneo.memories.figures import are_alike, counts_by_noun, figures_by_quantity, numbers_in
from ireneo.memories.record import MemoryDraft, Record, slot
from ireneo.memories.wording import comparable_words, distinctive_words, unquoted_words
from ireneo.patterns import lazy_re

_FACTS = topic(Facts)
_SAYS = topic(Phrasing)
_ITEM = r"[^\s,;:!?–—“”„\"]{1,30}(?: [^\s,;:!?–—“”„\"]{1,30}){0,2}?"
_ENDS = r"(?=\.?(?:[,;:!?–—\"”“]| [–—-]|$)|\. )"
_PUT_RIGHT = (
    lazy_re(
        lambda: (
            rf"{any_of(_FACTS.not_that)}(?P<wrong>{_ITEM})(?:(?: \w+){{0,2}}[,;:–—-]? {any_of(_FACTS.but_that)}"
            rf"|, ?(?:{any_of(_FACTS.article)} |{any_of(_SAYS.before_dates)} )*)(?P<right>{_ITEM}){_ENDS}"
        ),
        re.I,
    ),
    lazy_re(
        lambda: (
            rf"(?:{any_of(_FACTS.but_that)}|^\W{{0,5}}(?:\w{{1,20}}, )?)(?P<right>{_ITEM}),? "
            rf"{any_of(_FACTS.not_that)}(?P<wrong>{_ITEM}){_ENDS}"
        ),
        re.I,
    ),
)
"""What is right, beside what is not."""
_ITEMS = lazy_re(r"[^\s,;:.!?–—…]+(?: [^\s,;:.!?–—…]+)*")
_ITEM_WORDS = lazy_re(r"[^\s,;:!?–—…]+")
_RECENT = timedelta(days=30)
"""Who puts something right that was said longer ago says it in full."""
_CONVERSATION = timedelta(hours=8)
_MISHEARD = 0.2
"""The least ratio of a figure and one that puts it right."""
_STEM = 6
"""The first letters by which forms of a word are compared."""
_MUCH = 2
"""The least number of content words that a memory shares with a text that only says that it was wrong."""
_SHORT = 20
"""The maximum number of words of a message that only puts a figure right."""
DIET = ("allergy", "avoids", "restriction")
"""Attributes for what somebody must not or does not eat; who says that one has ended means the others as well."""


def ended_values(draft: MemoryDraft, held: Sequence[Record]) -> Iterator[Record]:
    """The current memories that a user's statement about a slot ends."""
    words, said = comparable_words(draft.text), set(terms(draft.value))
    if draft.against and draft.attribute:
        yield from _ended_slot_values(draft, held)
    elif draft.attribute == "manner":
        yield from (each for each in held if each.attribute == "manner" and opposed_parts(each.value, draft.value))
    elif opposite := {"like": "dislike", "dislike": "like"}.get(draft.attribute):
        yield from (each for each in held if each.attribute == opposite and said & set(terms(each.value)))
    elif draft.attribute and cardinality_of(draft.attribute) == "set":
        yield from (each for each in held if fills_slot(each, draft) and _has_other_count(each, draft))
    yield from _ended_other_half(draft, held, words)
    if draft.against and draft.attribute in DIET:
        yield from (each for each in held if not each.attribute and _makes_ill(each, said))


def _ended_slot_values(draft: MemoryDraft, held: Sequence[Record]) -> list[Record]:
    """The other values of a slot, if the statement says that a value has ended."""
    said, alike = set(terms(draft.value)), DIET if draft.attribute in DIET else (draft.attribute,)
    others = [
        each
        for each in held
        if each.subject == draft.subject
        and each.attribute in alike
        and (each.attribute, each.value) != (draft.attribute, draft.value)
    ]
    return (
        others if cardinality_of(draft.attribute) == "one" else [each for each in others if said & {*terms(each.value)}]
    )


def _makes_ill(record: Record, things: Set[str]) -> bool:
    """Whether a memory says that somebody's body reacts to one of these things: "aspirin brings me out in hives"."""
    clauses = PIECES.split(comparable_words(record.text))
    return any(has_cue("reacts", each) and things & {*terms(each)} for each in clauses)


class Correction(Struct, frozen=True, kw_only=True):
    """A sentence that calls something wrong, and says what is right: "not Hull, Hove"."""

    wrong: str
    right: str
    sentence: str

    @property
    def is_alike(self) -> bool:
        """Whether both are of one kind; a thing has no more words than the one that it replaces."""
        kind = _shape(self.right)
        if kind == "thing" and (len(self.right.split()) > len(self.wrong.split()) or not distinctive_words(self.right)):
            return False
        return kind == _shape(self.wrong) and self.wrong.casefold() != self.right.casefold()

    def concerns(self, words: str) -> bool:
        """Whether the wrong words stand in others."""
        return self._wrong(words) is not None

    def applied(self, words: str) -> str:
        """The same words with what is right; empty if that is written otherwise: "on the 3rd of May", "13"."""
        found = self._wrong(words)
        alike = len(self.wrong.split()) == len(self.right.split())
        return f"{words[: found.start()]}{self.right}{words[found.end() :]}" if found and alike else ""

    def _wrong(self, words: str) -> re.Match[str] | None:
        return re.search(rf"(?<![\w.]){re.escape(self.wrong)}(?!\w)", words, re.I)


@lru_cache(512)
def corrections(text: str) -> Sequence[Correction]:
    """The corrections in a text: of a name by a name, of a figure by a figure, or of one thing by another; cached."""
    found = list[Correction]()
    for sentence in sentences(text, small_opens=True) if _FACTS.not_that.search(text) else ():
        told = [
            Correction(wrong=each["wrong"].strip(" ."), right=each["right"].strip(" ."), sentence=sentence)
            for pattern in _PUT_RIGHT
            for each in pattern.finditer(sentence)
        ]
        found += [each for each in told if each.is_alike][:1]
    return found


def put_right_at_once(sentence: str) -> str:
    """A sentence that corrects itself, with what is right alone: "in Derby, no wait, Crewe"; empty if it doesn't."""
    found = _FACTS.in_breath.search(sentence)
    phrase = _ITEMS.match(sentence, found.end()) if found else None
    if found is None or phrase is None:
        return ""
    before, after = sentence[: found.start()], sentence[found.end() :]
    said, right = list(_ITEM_WORDS.finditer(before)), phrase[0].split()
    if right[0].casefold() in topic(Words).stop:
        # "In Jena, no, in Gera": both begin alike.
        starts = [each.start() for each in said if each[0].casefold() == right[0].casefold()]
        return f"{before[: starts[-1]]}{after}" if starts else ""
    kind = _shape(right[0])
    if kind == "thing" or any(_shape(each) != kind for each in right):
        return ""
    alike = next((at for at, each in enumerate(said[::-1]) if _shape(each[0]) != kind), len(said))
    return f"{before[: said[-alike].start()]}{after}" if alike else ""


def told_sentences(text: str) -> Sequence[str]:
    """The sentences of a text, each with those that put it right: "It's on May 4. Sorry, not May 4, May 14"."""
    found = list[str]()
    for each in sentences(text, small_opens=True):
        is_alone = not found or not (_FACTS.takes_back.search(each) or has_cue("put_right", each) or corrections(each))
        found = [*found, each] if is_alone else [*found[:-1], f"{found[-1]} {each}"]
    return found


def _shape(words: str) -> str:
    """What words look like: a figure, a day, a name or something else."""
    if any(letter.isdigit() for letter in words):
        return "figure"
    if words.split()[0].casefold() in {*weekday_numbers(), *month_numbers()}:
        return "day"
    return "name" if words[0].isupper() else "thing"


def corrected_quotations(text: str, at: datetime, known: Sequence[Record]) -> Iterator[tuple[Record, str]]:
    """The recent memories that a text puts right, each with the sentence that does so.

    They contain the words that are called wrong, or, if the text only says that something was wrong, are the last
    ones of the conversation with another figure of the same kind. "I told you wrong, Tim is Ina's stepson" puts right
    the one of any age that says most of the same.
    """
    recent = [each for each in known if not each.value and timedelta(0) <= at - each.at < _RECENT]
    named = [
        (each, put.sentence)
        for put in corrections(text)
        for each in recent
        if _shape(put.wrong) != "thing" and put.concerns(comparable_words(each.text))
    ]
    is_short = len(text.split()) <= _SHORT
    if not named and is_short and has_cue("told_wrong", text):
        said = distinctive_words(_FACTS.told_wrong.sub("", text))
        sizes = [(len(said & distinctive_words(each.text)), each) for each in known if each.at < at]
        most = max((size for size, _ in sizes), default=0)
        alike = [each for size, each in sizes if size == most >= _MUCH]
        # A value that the text names is put right by the rules of its slot.
        named = [(each, " ".join(text.split())) for each in alike if said.isdisjoint(terms(each.value))]
    told = figures_by_quantity(text) if is_short and not named and _corrects(text) else {}
    near = [each for each in recent if told and at - each.at < _CONVERSATION and each.kind == "episodic"]
    named += [
        (each, " ".join(text.split()))
        for each in near
        if _has_other_figure(figures_by_quantity(unquoted_words(each.text)), told)
    ]
    if near and not named:
        # "900 quid", and then "no wait, 800": the last figure is meant, whatever it measures.
        last_said = max(near, key=lambda each: each.at)
        before = unquoted_words(last_said.text)
        is_other = numbers_in(text) - numbers_in(before) and are_alike(text, before, _MISHEARD)
        named = [(last_said, " ".join(text.split()))] if is_other else []
    last = max((each.at for each, _ in named), default=None)
    yield from ((each, sentence) for each, sentence in named if each.at == last)


def _corrects(text: str) -> bool:
    """Whether a text says that something said right before was wrong, and no joke."""
    found = _FACTS.takes_back.search(text)
    return has_cue("muddled", text) or has_cue("put_right", text) or bool(found and not has_cue("joke", found[0]))


def _has_other_figure(theirs: Mapping[str, Set[str]], told: Mapping[str, Set[str]]) -> bool:
    """Whether two texts have one figure of the same kind each, and not the same one."""
    same = [kind for kind in theirs.keys() & told.keys() if kind or len(theirs) == len(told) == 1]
    return any(len(theirs[kind]) == len(told[kind]) == 1 and theirs[kind] != told[kind] for kind in same)


def corrected_values(text: str, known: Sequence[Record]) -> Iterator[tuple[Record, str, Correction]]:
    """The known values that a text calls wrong, each with the right one, and the correction.

    If the sentence names one of their subjects, the others are not meant. A thing is only put right as a whole.
    """
    for put in corrections(text) if known else ():
        for each in [one for one in known if one.subject in put.sentence.replace(put.wrong, "")] or known:
            whole = each.value.casefold() == put.wrong.casefold()
            if whole or (_shape(put.wrong) != "thing" and put.concerns(each.value)):
                start = each.value.casefold().find(put.wrong.casefold())
                yield each, f"{each.value[:start]}{put.right}{each.value[start + len(put.wrong) :]}", put


def fills_slot(record: Record, draft: MemoryDraft) -> bool:
    """Whether a statement fills the slot of a memory."""
    return bool(draft.attribute) and slot(record.subject, record.attribute) == slot(draft.subject, draft.attribute)


def _has_other_count(record: Record, draft: MemoryDraft) -> bool:
    """Whether a memory gives another number for the same things than a later statement."""
    now, before = (counts_by_noun(comparable_words(each.text)) for each in (draft, record))
    if has_cue("besides", comparable_words(draft.text)):
        return False
    return any(now[thing] != before[thing] for thing in now.keys() & before.keys())


def opposed_parts(wish: str, newer: str) -> Sequence[str]:
    """The parts of a wish for answers that a newer one replaces: another length, address or language, or a ban."""
    now = [each for each in PIECES.split(newer) if each.strip()]
    return [each for each in PIECES.split(wish) if any(_are_opposed(each, other) for other in now)]


def without_opposed(wish: str, newer: str) -> str | None:
    """A wish for answers without what a newer one replaces; None if that is nothing of it, or all."""
    gone = opposed_parts(wish, newer)
    pieces = [each for each in PIECES.split(wish) if each not in gone and has_cue("manners", each)]
    return ", ".join(pieces) if gone and pieces else None


def _are_opposed(one: str, other: str) -> bool:
    """Whether two wishes can't both be fulfilled: they choose differently, or one bans what the other allows."""
    before, now = _choices(one), _choices(other)
    forms = ({each[:_STEM] for each in distinctive_words(text) if has_cue("manners", each)} for text in (one, other))
    allows = (
        bool(set.intersection(*forms))
        and has_cue("forbids", one) != has_cue("forbids", other)
        and not has_cue("of_a_kind", other)
    )
    return allows or any(before[matter] != now[matter] for matter in before.keys() & now.keys())


@lru_cache(512)
def _choices(wish: str) -> Mapping[str, str]:
    """What a wish for answers chooses, by matter: "length", "address", and the language."""
    tongue = _FACTS.tongues.search(wish)
    found = {"language": tongue[0].casefold()} if tongue else {}
    for name, patterns in _FACTS.choices.items():
        matter, choice = name.split()
        if re.search(any_of(patterns), wish, re.I):
            # "No long answers" asks for short ones.
            found[matter] = found.get(matter, "") + choice
    return found


def split_occupation(text: str, employer: str, job: str) -> tuple[str, str]:
    """Split work into employer and job: "is an analyst at Philips" gives "works at Philips" and "is an analyst"."""
    before, _, after = text.partition(job)
    left = _SAYS.as_what.sub("", before)
    left = left if left != before else _SAYS.is_what.sub(_SAYS.works[0], before)
    place = rf" {any_of(_SAYS.of_work)} (?:\w+ )?{re.escape(employer)}(?= )"
    return (f"{left}{after}" if left != before else text), re.sub(place, "", f"{before}{job}.")


def _ended_other_half(draft: MemoryDraft, held: Sequence[Record], words: str) -> Iterator[Record]:
    """The memories of the other half of somebody's work that `words` end."""
    if draft.attribute not in ONE_LIFE or has_cue("besides", words):
        return
    same = [each for each in held if each.subject == draft.subject]
    if draft.attribute == "employer":
        # The boss belongs to the former employer.
        yield from (each for each in held if each.attribute == "boss" or has_cue("of_boss", each.text))
    others = [each for each in same if each.attribute == ONE_LIFE[draft.attribute]]
    if draft.against and draft.attribute == "employer":
        # Who leaves a named employer keeps the trade.
        yield from others if not draft.value else ()
    elif draft.against:
        yield from _stated_together(draft, same, others)
    elif draft.attribute == "job" and not has_cue("promoted", words):
        place = _SAYS.of_work.search(words)
        elsewhere = set(terms(place["place"])) if place else set[str]()
        together = list(_stated_together(draft, same, others))
        for each in others:
            if (
                elsewhere.isdisjoint(terms(each.value))
                if elsewhere
                else (each in together or (draft.value in _SAYS.no_work))
            ):
                yield each


def _has_value(record: Record, draft: MemoryDraft) -> bool:
    """Whether a memory has the value of a draft, or a longer form of it: "Fenwick" and "Fenwick Hall"."""
    one, other = set(terms(record.value)), set(terms(draft.value))
    return one <= other or (draft.against and bool(other) and other <= one)


def _stated_together(draft: MemoryDraft, same: Sequence[Record], others: Sequence[Record]) -> Iterator[Record]:
    """The `others` that were stated together with the memory that the draft ends or replaces."""
    gone = [each for each in same if each.attribute == draft.attribute and _has_value(each, draft) == draft.against]
    messages = {name for each in gone for name in each.sources}
    yield from (each for each in others if messages.intersection(each.sources))
