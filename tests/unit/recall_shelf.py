"""A shelf small enough to hold in a test: sessions of (author, text), found and ranked as an engine would do it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from ireneo.language.words import terms
from ireneo.memories.index import OTHER, document_number, place_of
from ireneo.memories.ranking import (
    READ_AT_MOST,
    SHADE,
    Candidate,
    IndexStats,
    Passage,
    Postings,
    Question,
    Ranked,
    candidates,
    rank,
    read_question,
    terms_to_read,
)

BEGIN = datetime(2023, 5, 1, tzinfo=UTC)
"""When the first session is; each next one is a day later."""


class SmallShelf:
    """Sessions of messages, each of one author; what a message holds is known by its number."""

    def __init__(self, sessions: Sequence[Sequence[tuple[str | None, str]]], *, first_key: int = 0) -> None:
        self.passages: dict[int, Passage] = {}
        self._numbers: dict[str, list[int]] = {}
        size = 0
        for day, session in enumerate(sessions):
            for ordinal, (author, text) in enumerate(session):
                held = terms(text)
                size += len(held)
                number = document_number(first_key + day, ordinal, len(held), OTHER)
                at = BEGIN + timedelta(days=day)
                self.passages[number] = Passage(number=number, text=text, role="user", author=author, at=at)
                for term in dict.fromkeys(held):
                    self._numbers.setdefault(term, []).append(number)
        self.shelf = IndexStats(documents=len(self.passages), terms=size)

    @property
    def speakers(self) -> tuple[str, ...]:
        """The authors."""
        return tuple(sorted({each.author for each in self.passages.values() if each.author}))

    def counts(self, question: Question) -> Mapping[str, int]:
        """In how many messages each term stands."""
        return {term: len(self._numbers.get(term, ())) for term, _ in question.terms}

    def postings(self, question: Question, at_most: int = READ_AT_MOST) -> tuple[Postings, ...]:
        """Where the terms stand, as a store tells it."""
        counts = self.counts(question)
        read = terms_to_read(question, counts, at_most)
        return tuple(
            Postings(term=term, count=count, numbers=sorted(self._numbers[term]) if term in read else None)
            for term, count in counts.items()
        )

    def found(self, question: Question, reach: int = len(SHADE) - 1, **kept: int) -> tuple[Candidate, ...]:
        """The candidates."""
        return candidates(question, self.postings(question, **kept), self.shelf, reach=reach)

    def ranked(self, text: str, *, reach: int = len(SHADE) - 1, **kept: int) -> tuple[Ranked, ...]:
        """What answers `text`, best first."""
        question = read_question(text, now=BEGIN + timedelta(days=60), speakers=self.speakers)
        found = self.found(question, reach, **kept)
        by_place = {place_of(number): each for number, each in self.passages.items()}
        read = [by_place[each.place] for each in found if each.place in by_place]
        return rank(question, found, read, self.postings(question, **kept), self.shelf, reach=reach)

    def texts(self, text: str, *, reach: int = len(SHADE) - 1, **kept: int) -> list[str]:
        """The same as texts."""
        return [self.passages[each.number].text for each in self.ranked(text, reach=reach, **kept)]
