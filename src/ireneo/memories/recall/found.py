"""What ranking asks of a store, as values: how common the terms are, where they stand, and the passages themselves."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct


class Shelf(Struct, frozen=True, kw_only=True):
    """What there is to search in one space: its messages, or its memories, which stand on a shelf of their own."""

    documents: int
    """How many documents it holds."""
    terms: int
    """How many terms they have together; with `documents` this gives the average length."""


class Postings(Struct, frozen=True, kw_only=True):
    """Where one term stands in one space."""

    term: str
    """As `words.terms` or `words.author_term` gives it, without the space's prefix."""
    count: int
    """How many documents of the space hold it; known also where they are not listed."""
    numbers: Sequence[int] | None = None
    """The numbers of the documents that hold it, rising; None where the term is too common to be read."""


class Passage(Struct, frozen=True, kw_only=True):
    """A document as it is read for the second, exact look: few are."""

    number: int
    text: str
    role: str
    author: str | None = None
    at: datetime | None = None
    """When it was said, or when what it tells of happened; aware."""
