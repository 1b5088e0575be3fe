"""Where we are in a session's tree: a head, the chain that an append makes of it, and the stretches of a path."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from ireneo.log.ids import message_id
from ireneo.log.message import Draft, Message, MessageId, Part, opens_turn

MAIN = "main"
ROOT = "root"
"""The place before the first message: append after it to offer a whole history again."""

CountParts = Callable[[Sequence[Part]], tuple[int, int]]
"""Counts the tokens of a message's parts: (without its thinking, of its thinking)."""


class SessionKey(Struct, frozen=True, order=True):
    """The name of a session: whose memory it is in, and which conversation or run."""

    space: str
    session: str


class Head(Struct, frozen=True, kw_only=True):
    """A place in the log: a message, and what must be known of it to append after it."""

    id: MessageId
    position: int
    turn: int
    total_tokens: int
    """What the path up to here costs, thinking left out."""


class Stretch(Struct, frozen=True, kw_only=True):
    """A run of a path that is stored together: positions `first` to `last`, both included, of one segment."""

    segment: int
    first: int
    last: int


def chain(head: Head | None, drafts: Sequence[Draft], count: CountParts) -> list[Message]:
    """Make messages of `drafts`, one after the other behind `head` (None: the root of the tree)."""
    out: list[Message] = []
    parent = head.id if head else None
    position = head.position if head else -1
    turn = head.turn if head else 0
    total = head.total_tokens if head else 0
    for draft in drafts:
        position += 1
        turn += opens_turn(draft)
        tokens, thinking = count(draft.parts)
        total += tokens
        parent_id, parent = parent, message_id(parent, draft.role, draft.parts)
        out.append(
            Message(
                id=parent,
                parent=parent_id,
                position=position,
                turn=turn,
                tokens=tokens,
                thinking_tokens=thinking,
                total_tokens=total,
                draft=draft,
            )
        )
    return out


def head_of(message: Message) -> Head:
    """The head that stands on `message`."""
    return Head(id=message.id, position=message.position, turn=message.turn, total_tokens=message.total_tokens)
