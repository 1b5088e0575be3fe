"""Values as rows: times, the light columns of a message, and the checksum that a row carries."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from operator import itemgetter

import msgspec
from msgspec import Struct

from ireneo.adapters.sql.database import Bindings, Value
from ireneo.errors import BadInput
from ireneo.log.message import Draft, Message, MessageId, Native, Origin, Part, Role
from ireneo.log.tree import Head

UNPARSABLE = (ValueError, TypeError, LookupError, OverflowError, msgspec.MsgspecError, struct.error, zlib.error)
"""What reading a value raises that is not what was written: of JSON, a time, packed bytes, a number that is none."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def microseconds(at: datetime) -> int:
    """The microseconds from the beginning of 1970 in UTC to `at`, which has a zone."""
    return (at - _EPOCH) // _MICROSECOND


def time_of(microseconds: int) -> datetime:
    """The time that is so many microseconds after the beginning of 1970, in UTC."""
    return _EPOCH + microseconds * _MICROSECOND


def utc(at: datetime) -> datetime:
    """A time in UTC; one without a zone is taken for UTC."""
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)


def write_time(at: datetime | None) -> str | None:
    """Write a time with its zone, if it has one."""
    return None if at is None else at.isoformat()


def read_time(text: str | None) -> datetime | None:
    """Read what `write_time` wrote."""
    return None if text is None else datetime.fromisoformat(text)


def between(times: Iterable[datetime | None]) -> tuple[datetime | None, datetime | None]:
    """The earliest and the latest of the `times` that there are; one without a zone is taken for UTC."""
    known = [at for at in times if at is not None]
    return min(known, key=_zoned, default=None), max(known, key=_zoned, default=None)


def _zoned(at: datetime) -> datetime:
    # Not converted: at the ends of the calendar there is no such time in UTC.
    return at if at.tzinfo is not None else at.replace(tzinfo=UTC)


def write_json(value: object) -> str:
    """Write a record, or a list that is handed to a query."""
    return msgspec.json.encode(value).decode()


COVERED: Mapping[str, tuple[str, ...]] = {
    "messages": (
        *("key", "segment", "position", "id", "parent", "role", "origin", "turn", "tokens", "thinking_tokens"),
        *("total_tokens", "at", "source_id", "joined", "parts", "erased"),
    ),
    "branches": ("key", "branch", "segment", "position"),
    "summaries": ("key", "id", "family", "segment", "first_position", "last_position", "depth", "record"),
    "annotations": ("key", "id", "segment", "at_position", "record"),
    "memories": (
        *("space", "id", "kind", "key", "state", "archived", "subject", "task_type", "at", "recorded"),
        *("unreflected", "stale", "cue", "record"),
    ),
    "pads": ("space", "task", "written", "record"),
    "runs": ("space", "session", "head", "ended", "record"),
    "sightings": ("space", "session", "cue", "at", "category", "project", "held", "broke", "tokens", "record"),
}
"""What the checksum of a row covers, by the names under which it is written, in the order in which the queries
``rows_of_`` give them. That of a vector covers its set, its document and itself."""

_BETWEEN = "\x1f"
_NOTHING = str(None).encode()
_VALUES = {table: itemgetter(*names) for table, names in COVERED.items()}
_WRITTEN = {table: _BETWEEN.join(["%s"] * len(names)) for table, names in COVERED.items()}


def checksum(values: Sequence[bytes | None]) -> int:
    """The checksum of a row, by its columns as bytes, in order: numbers in digits, as a database casts them.

    A database sees to it that a page can be read, and not that it holds what was written. So each row that says
    something carries a CRC-32 of its columns, which no change of a single byte escapes.
    """
    return zlib.crc32(_BETWEEN.encode().join([_NOTHING if value is None else value for value in values]))


def with_checksum(table: str, row: Mapping[str, Value]) -> Bindings:
    """`row` as it is written, with its checksum; it holds no bytes and no truth values."""
    # The same as above, in one step for all columns: there are as many rows as messages.
    return {**row, "checksum": zlib.crc32((_WRITTEN[table] % _VALUES[table](row)).encode())}


_PARTS = msgspec.json.Decoder(tuple[Part, ...])


def read_parts(text: str) -> tuple[Part, ...]:
    """Read the parts of a message."""
    return _PARTS.decode(text)


COMPRESSION = 3
"""zlib's level: of payloads such as these 6 saves 5 % more and takes twice as long."""


def pack(draft: Draft) -> bytes | None:
    """Write the payload and the record of a draft; None where it has neither.

    The standard library's JSON, since it keeps what others refuse and what real logs hold: lone surrogates, NaN.
    Raises BadInput for what is no JSON.
    """
    if draft.native is None and draft.record is None:
        return None
    whole = [[piece.format, piece.payload] if piece else None for piece in (draft.native, draft.record)]
    try:
        text = json.dumps(whole, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as fault:
        raise BadInput(f"A message's payload can't be written as JSON: {fault}") from fault
    return zlib.compress(text.encode("utf-8", "surrogatepass"), COMPRESSION)


def unpack(packed: bytes | None) -> tuple[Native | None, Native | None]:
    """Read the payload and the record that `pack` wrote."""
    if packed is None:
        return None, None
    native, record = json.loads(zlib.decompress(packed).decode("utf-8", "surrogatepass"))
    return _native(native), _native(record)


def _native(piece: list[object] | None) -> Native | None:
    return None if piece is None else Native(format=str(piece[0]), payload=piece[1])


class _MessageRow(Struct, frozen=True, array_like=True):
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


def write_message(session: int, segment: int, message: Message) -> Bindings:
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
        "parts": write_json(draft.parts),
        "erased": 0,
    }
    return with_checksum("messages", row)


def read_message(values: Sequence[object], packed: bytes | None = None) -> Message:
    """Read a message; `packed` holds its payloads, where they are asked for. Raises ValidationError for what can't be.

    In damaged rows a text may be bytes, and a role none that there is.
    """
    row = msgspec.convert(values, _MessageRow)
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


def read_head(id: object, position: object, turn: object, total_tokens: object) -> Head:
    """A head of the columns of its message. Raises as `read_message` does."""
    return msgspec.convert({"id": id, "position": position, "turn": turn, "total_tokens": total_tokens}, Head)
