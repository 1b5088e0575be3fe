"""A fact that somebody stated, and a quotation that continues as long as more is said about the same."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from ireneo.memories.cues import and_words, cues
from ireneo.memories.earnest import Statement
from ireneo.memories.quoting import LONGEST_QUESTION, MOST_WORDS, is_informative, is_short
from ireneo.memories.record import Kind
from ireneo.memories.worth import LEAST, LEAST_BESIDE
from ireneo.patterns import lazy_re

_WORDS = lazy_re(r"[^\W_]+(?:['’.-][^\W_]+)*")
ADDS = lazy_re(lambda: rf"{and_words()}\s+(?=\w)", re.I)
"""What joins a statement to one before it, which needn't be quoted with it."""
_FILLER = 2
"""Up to this many words a part may say nothing: "very good"."""
_LEAST_WORDS = 10
"""From this many words on a quotation means something although it begins with a pronoun."""


class SaidFact(Struct, frozen=True, kw_only=True):
    """A fact stated in a message, ready to become evidence of a memory."""

    text: str
    """A sentence that stands alone, in the third person."""
    quote: str
    """The words of the message that say so."""
    kind: Kind
    subject: str = ""
    attribute: str = ""
    """The attribute's code or name; empty if the fact fills no slot."""
    value: str = ""
    at: datetime | None = None
    """Since when it is true, or when it happened."""
    until: datetime | None = None
    against: bool = False
    """Whether it ended, or is denied."""
    adds: bool = False
    confidence: float = 0.7
    salience: float = 0.5
    answers: bool = False
    """Whether it is quoted with the question that it answers."""


def fact_key(fact: SaidFact) -> tuple[str, ...]:
    """The key by which two facts of a message are the same."""
    return (fact.kind, fact.subject, fact.attribute, fact.value, fact.text if not fact.attribute else "")


def with_original_words(fact: SaidFact, standard: str, said: str) -> SaidFact:
    """Return a fact in its original words, if it was read from words without dialect."""
    if standard == said:
        return fact
    return replace(fact, text=fact.text.replace(standard, said), quote=fact.quote.replace(standard, said))


class QuotedClause(Struct, frozen=True, kw_only=True):
    """A clause of a message that may be quoted."""

    said: Statement
    worth: float
    """See `keep_score`."""
    told: bool
    """Whether it fills slots, or is a rule, so that it needs no quotation."""
    meant: str = ""
    """The same with a name in place of its pronoun, if only one person can be meant."""


def quotations(clauses: Sequence[QuotedClause], answer: str = "") -> Iterator[tuple[str, str]]:
    """The parts of a message that are worth quoting, each with its language; the message may begin with an `answer`.

    A part begins with what its first clause refers to, and goes on as long as something is said about it. A few words
    about somebody or something that isn't named are left out.
    """
    kept = {at for at, each in enumerate(clauses) if each.worth >= LEAST and not (each.told or each.said.fragment)}
    for at in sorted(kept):
        while at and _needs_context(clauses[at].said) and _is_context(clauses[at - 1].said, answer):
            at -= 1
            kept.add(at)
    for at in range(1, len(clauses)):
        if at - 1 in kept and at not in kept and _goes_on(clauses[at - 1], clauses[at]):
            kept.add(at)
    for part in _parts(clauses, kept):
        first, words = part[0], joined([each.said for each in part])
        if cues(first.said.language).refers.match(words) and not (answer and words.startswith(answer)):
            if first.meant:
                words = f"{first.meant}{words[len(first.said.text) :]}"
            elif len(_WORDS.findall(words)) < _LEAST_WORDS:
                continue
        adds = None if answer and words.startswith(answer) else ADDS.match(words)
        yield words[adds.end() :] if adds else words, part[-1].said.language


def _parts(clauses: Sequence[QuotedClause], kept: Set[int]) -> Iterator[list[QuotedClause]]:
    """The `kept` clauses that follow each other, without repetitions, at most `MOST_WORDS` words at a time."""
    part: list[QuotedClause] = []
    for at, each in enumerate(clauses):
        size = sum(len(_WORDS.findall(one.said.text)) for one in (*part, each))
        if part and (at not in kept or size > MOST_WORDS):
            yield part
            part = []
        if at in kept and not (part and each.said.text.rstrip(".!…") == part[-1].said.text.rstrip(".!…")):
            part.append(each)
    if part:
        yield part


def _needs_context(said: Statement) -> bool:
    """Whether a clause can't be understood without what stands before it."""
    rows, text = cues(said.language), said.text
    refers = rows.refers.match(text) or rows.points.search(text) or rows.depends.match(text)
    return bool(refers) or is_short(said) or rows.elliptic.search(text) is not None


def _is_context(said: Statement, answer: str) -> bool:
    """Whether what stands before a clause may say what it is about."""
    size = len(_WORDS.findall(said.text))
    tells = (size > _FILLER and not said.asks) or (is_informative(said.text) and (size > 1 or said.text == answer))
    return tells and (not said.asks or size <= LONGEST_QUESTION)


def _goes_on(last: QuotedClause, each: QuotedClause) -> bool:
    """Whether a clause says more about the one before it."""
    said, rows = each.said, cues(each.said.language)
    if not said.text or said.asks or rows.address.search(said.text) or rows.asks_within.match(said.text):
        return False
    if last.said.sentence == said.sentence:
        return True
    return not each.told and (_needs_context(said) or each.worth >= LEAST_BESIDE)


def joined(part: Sequence[Statement]) -> str:
    """The clauses as they stand in the message, with a mark for what is left out of a sentence."""
    text, sentence, end = "", "", 0
    for said in part:
        if said.sentence != sentence:
            sentence, end = said.sentence, 0
            start = max(sentence.find(said.text), 0)
            text += f" {said.text}" if not text or text[-1] in ".!?…" else f". {said.text}"
        else:
            start = max(sentence.find(said.text, end), end)
            text += f"{sentence[end:start]}{said.text}"
        end = start + len(said.text)
    return text.strip()
