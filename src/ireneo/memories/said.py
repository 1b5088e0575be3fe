"""A fact that somebody stated, and a quotation that continues as long as more is said about the same."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from ireneo.memories.earnest import Statement
from ireneo.memories.quoting import extend_quotation, quotation, with_context
from ireneo.memories.record import Kind
from ireneo.memories.wording import unquoted_words


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


class QuotedEvent(Struct, frozen=True, kw_only=True):
    """An event that may continue in the next statement, and is then quoted in the speaker's words."""

    fact: SaidFact
    words: str
    last: Statement
    """Its last statement."""
    key: tuple[str, ...]
    """The key of the event when it was first found."""
    asked: str = ""
    """The question that it answers."""
    retold: bool = False
    """Whether it is retold in the third person, as long as nothing more is said about it."""

    @classmethod
    def of(
        cls, facts: Sequence[SaidFact], said: Statement, statement: Statement, answer: str, asked: str
    ) -> QuotedEvent | None:
        """The event among the facts of a statement; None if all fill slots or only end something."""
        fact = next((each for each in facts if each.kind == "episodic" and not (each.attribute or each.against)), None)
        if fact is None:
            return None
        answers = bool(answer) and (said.sentence == answer or answer in said.opened)
        words = with_context(said, answers=answers) if said.text == statement.text else statement.text
        return cls(
            fact=fact,
            words=words,
            last=said,
            key=fact_key(fact),
            asked=asked if answers else "",
            retold=not is_quoted(fact, statement),
        )

    def with_more(self, said: Statement) -> QuotedEvent:
        """The same with what is said next."""
        return replace(self, words=extend_quotation(self.words, self.last, said), last=said, retold=False)

    def told(self, who: str, at: datetime | None) -> SaidFact:
        """The event with all its words, as `who` said them."""
        if self.retold:
            return self.fact
        text = quotation(self.words, who, at, self.last.language, self.asked)
        return replace(self.fact, text=text, at=at, answers=bool(self.asked))


def is_quoted(fact: SaidFact, statement: Statement) -> bool:
    """Whether a fact is an event in the words of a statement."""
    return (
        fact.kind == "episodic" and not (fact.attribute or fact.against) and unquoted_words(fact.text) == statement.text
    )


def with_original_words(fact: SaidFact, standard: str, said: str) -> SaidFact:
    """Return a fact in its original words, if it was read from words without dialect."""
    if standard == said:
        return fact
    return replace(fact, text=fact.text.replace(standard, said), quote=fact.quote.replace(standard, said))
