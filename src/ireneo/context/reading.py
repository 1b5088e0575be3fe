"""What of a path the assembling of a context asks for: stretches, the row of its past, its end."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import cast

from ireneo.context.cover import choose_edge
from ireneo.context.forest import RowItem, grow
from ireneo.context.needs import Answer, KnownRow, Made, Need, NeedPath, NeedRow
from ireneo.context.policy import Policy
from ireneo.log.atoms import atoms, torn
from ireneo.log.message import Message

TAIL = 64
"""Messages that are read at a time from the end of a path to find where it stops being live."""


def read_row(last: int, newest: Sequence[Message], policy: Policy) -> Generator[Need, Answer, list[RowItem]]:
    """The row of the path up to position `last`, behind which `newest` stand; what had to be written is kept."""
    if last < 0:
        return []
    known = cast("KnownRow", (yield NeedRow(last)))
    growth = grow(known.row, known.following, policy, then=atoms(newest)[0])
    yield Made(growth.made)
    return list(growth.row)


def read_tail(last: int, tokens: int, policy: Policy) -> Generator[Need, Answer, list[Message]]:
    """Read from the end of the path until the live part is surely in it, and one atom more."""
    first = last + 1
    tail: list[Message] = []
    while first > 0:
        begin = max(first - TAIL, 0)
        tail = [*(yield from read_path(begin, first - 1)), *tail]
        first = begin
        # What may be the end of an atom that begins before is no place to cut.
        sound = tail[torn(tail) :] if first else tail
        enough = sum(message.tokens for message in sound) > tokens and len(sound) > policy.keep_messages
        if enough and len(atoms(sound)) > 2 and choose_edge(sound, tokens, policy) > 0:
            return sound
    return tail


def read_path(first: int, last: int) -> Generator[Need, Answer, list[Message]]:
    """The messages of positions `first` to `last`; none where `last` is before `first`."""
    if last < first:
        return []
    answer = yield NeedPath(first, last)
    return list(cast("Sequence[Message]", answer))
