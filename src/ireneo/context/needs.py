"""What the assembling of a context asks of its driver, what it tells it, and what it returns."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TypeAlias

from msgspec import Struct

from ireneo.context.compose import Composed
from ireneo.context.forest import RowItem
from ireneo.context.plan_rebuild import Explained
from ireneo.context.summary import Summary
from ireneo.log.message import Message, MessageId


class NeedPath(Struct, frozen=True):
    """Send the messages of positions `first` to `last` of the path."""

    first: int
    last: int


class NeedRow(Struct, frozen=True):
    """Send what is known of the path up to position `last`: a `KnownRow`."""

    last: int


class NeedParts(Struct, frozen=True):
    """Send the row that a summary was written from: its sources, and the messages between them."""

    summary: Summary


class NeedTexts(Struct, frozen=True):
    """Send for each of `summaries` the best text that there is of its stretch: itself, or one that a model wrote.

    Of those that a model wrote only those among `known`, where that is given: a context that was shown before is to
    be the same again.
    """

    summaries: tuple[Summary, ...]
    known: tuple[str, ...] | None = None


class Made(Struct, frozen=True):
    """Keep these summaries; nothing is sent back."""

    summaries: tuple[Summary, ...]


class KnownRow(Struct, frozen=True):
    """The row up to the last summary that is known, and the messages from there on."""

    row: tuple[RowItem, ...]
    following: tuple[Message, ...]


class Mark(Struct, frozen=True, kw_only=True):
    """Where and how the context was last rebuilt, so that its beginning stays the same until it has to be again."""

    at: MessageId
    """The head for which it was rebuilt."""
    at_position: int
    target_tokens: int
    """What the rebuilt context was allowed to cost."""
    taken_up: tuple[str, ...] = ()
    """The summaries by a model that it shows, and the disputes that were known."""


class Recall(Struct, frozen=True):
    """Send the context that was composed for this mark before, if it is at hand; else None."""

    mark: Mark


class Keep(Struct, frozen=True):
    """Keep the context that was composed for a mark at hand; nothing is sent back."""

    mark: Mark
    composed: Composed


class Assembled(Struct, frozen=True, kw_only=True):
    """A context, and the mark to keep for the next one (None: there was nothing to compact)."""

    composed: Composed
    mark: Mark | None
    why: Explained


Need: TypeAlias = NeedPath | NeedRow | NeedParts | NeedTexts | Made | Recall | Keep
Answer: TypeAlias = "Sequence[Message] | KnownRow | Sequence[RowItem] | Sequence[Summary] | Composed | None"
Assembling: TypeAlias = Generator[Need, Answer, Assembled]
