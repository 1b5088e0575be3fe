"""Messages as rows, and rows as messages."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import msgspec
from msgspec import Struct

from ireneo.adapters.payload import unpack
from ireneo.adapters.sqlite.checksums import Value, with_checksum
from ireneo.log.message import Draft, Message, MessageId, Origin, Part, Role
from ireneo.log.tree import Head

_PARTS = msgspec.json.Decoder(tuple[Part, ...])

Bindings = dict[str, Value]
"""The values for a query's names."""


class MessageRow(Struct, frozen=True, array_like=True):
    """The light columns of a message, in the order in which the queries name them."""

    id: MessageId
    parent: MessageId | None
    role: Role
    origin: Origin
    position: int
    turn: int
    tokens: int
    thinking_tokens: int
    total_tokens: int
    at: str | None
    source_id: str | None
    joined: int
    parts: str
    erased: int = 0


def to_row(session: int, segment: int, message: Message) -> Bindings:
    """Write the light columns of a message, and the place where it stands."""
    draft = message.draft
    row: Bindings = {
        "key": session,
        "segment": segment,
        "position": message.position,
        "id": message.id,
        "parent": message.parent,
        "role": draft.role,
        "origin": draft.origin,
        "turn": message.turn,
        "tokens": message.tokens,
        "thinking_tokens": message.thinking_tokens,
        "total_tokens": message.total_tokens,
        "at": write_time(draft.at),
        "source_id": draft.source_id,
        "joined": int(draft.joined),
        "parts": msgspec.json.encode(draft.parts).decode(),
        "erased": 0,
    }
    return with_checksum("messages", row)


def message_row(values: Sequence[object]) -> MessageRow:
    """The light columns of a message. Raises ValidationError for what can't stand there.

    In a damaged file a text may be bytes, and a role none that there is.
    """
    return msgspec.convert(values, MessageRow)


def read_head(id: object, position: object, turn: object, total_tokens: object) -> Head:
    """A head of the columns of its message. Raises as `message_row` does."""
    return msgspec.convert({"id": id, "position": position, "turn": turn, "total_tokens": total_tokens}, Head)


def from_row(row: MessageRow, packed: bytes | None = None) -> Message:
    """Read a message; `packed` holds its payloads, where they are asked for."""
    native, record = unpack(packed)
    return Message(
        id=row.id,
        parent=row.parent,
        position=row.position,
        turn=row.turn,
        tokens=row.tokens,
        thinking_tokens=row.thinking_tokens,
        total_tokens=row.total_tokens,
        draft=Draft(
            role=row.role,
            parts=read_parts(row.parts),
            origin=row.origin,
            at=read_time(row.at),
            source_id=row.source_id,
            joined=bool(row.joined),
            native=native,
            record=record,
        ),
        erased=bool(row.erased),
    )


def read_parts(text: str) -> tuple[Part, ...]:
    """Read the parts of a message."""
    return _PARTS.decode(text)


def write_time(at: datetime | None) -> str | None:
    """Write a time with its zone, if it has one."""
    return None if at is None else at.isoformat()


def read_time(text: str | None) -> datetime | None:
    """Read what `write_time` wrote."""
    return None if text is None else datetime.fromisoformat(text)
