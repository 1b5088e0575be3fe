"""A fact that somebody stated, and a quotation that goes on as long as more is said of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from ireneo.memories.earnest import Statement
from ireneo.memories.quoting import joined, opened, quotation
from ireneo.memories.record import Kind
from ireneo.memories.wording import words_of


class SaidFact(Struct, frozen=True, kw_only=True):
    """A fact stated in a message, ready to become evidence of a memory."""

    text: str
    """A sentence that stands alone, in the third person."""
    quote: str
    """The words of the message that say so."""
    kind: Kind
    subject: str = ""
    attribute: str = ""
    """A code of `slots` where it has one; empty where it fills no slot."""
    value: str = ""
    at: datetime | None = None
    """Since when it is so, or when it was."""
    until: datetime | None = None
    against: bool = False
    """It ends, or is denied."""
    adds: bool = False
    confidence: float = 0.7
    salience: float = 0.5
    answers: bool = False
    """It is told with the question that it answers."""


def key_of(fact: SaidFact) -> tuple[str, ...]:
    """By what two facts of a message are the same."""
    return (fact.kind, fact.subject, fact.attribute, fact.value, fact.text if not fact.attribute else "")


class Quoted(Struct, frozen=True, kw_only=True):
    """An event, which may continue in the next statement, and then is told in the speaker's words."""

    fact: SaidFact
    words: str
    last: Statement
    """What was said last of it."""
    key: tuple[str, ...]
    """By which the event was found first."""
    asked: str = ""
    """The question that it answers."""
    retold: bool = False
    """It is told in the third person, while nothing more is said of it."""

    @classmethod
    def of(
        cls, facts: Sequence[SaidFact], said: Statement, statement: Statement, answer: str, asked: str
    ) -> Quoted | None:
        """The event among the facts of a statement; None if all fill slots or only end something."""
        fact = next((each for each in facts if each.kind == "episodic" and not (each.attribute or each.against)), None)
        if fact is None:
            return None
        answers = bool(answer) and (said.sentence == answer or answer in said.opened)
        words = opened(said, answers=answers) if said.text == statement.text else statement.text
        return cls(
            fact=fact,
            words=words,
            last=said,
            key=key_of(fact),
            asked=asked if answers else "",
            retold=not is_quoted(fact, statement),
        )

    def with_more(self, said: Statement) -> Quoted:
        """The same with what is said next."""
        return replace(self, words=joined(self.words, self.last, said), last=said, retold=False)

    def told(self, who: str, at: datetime | None) -> SaidFact:
        """The event with all its words, as `who` said them."""
        if self.retold:
            return self.fact
        text = quotation(self.words, who, at, self.last.language, self.asked)
        return replace(self.fact, text=text, at=at, answers=bool(self.asked))


def is_quoted(fact: SaidFact, statement: Statement) -> bool:
    """Whether a fact is an event in the words of a statement."""
    return fact.kind == "episodic" and not (fact.attribute or fact.against) and words_of(fact.text) == statement.text
