"""A database as the ports see it: queries by name, inside an open transaction, and values as rows; no driver is here.

An adapter brings a `Database` over its driver's connection, a `SqlTransaction` that says what the driver's errors mean,
and its queries under the names by which the ports ask for them.
"""

from __future__ import annotations

import json
import re
import struct
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from functools import wraps
from importlib import import_module
from operator import itemgetter
from pathlib import Path
from types import MappingProxyType
from typing import Any, Concatenate, ParamSpec, Protocol, TypeAlias, TypeVar

import msgspec
from msgspec import Struct

from ireneo.adapters.pool import OpenTransaction
from ireneo.errors import BadInput, StoreError
from ireneo.log.message import Draft, Head, Message, MessageId, Native, Origin, Part, Role
from ireneo.patterns import lazy_re

Value: TypeAlias = str | bytes | int | float | None
"""What is bound to a query."""
Bindings: TypeAlias = dict[str, Value]
"""The values for a query's names."""
Row: TypeAlias = tuple[Any, ...]
"""What a query gives, in the order in which it names its columns."""

END = 2**63 - 1
"""The last position that there can be."""

P = ParamSpec("P")
T = TypeVar("T")
Q = TypeVar("Q", bound="Port")


class Database(Protocol):
    """A connection to a database. Each call names a query, and has a value for each of its names."""

    def rows(self, query: str, /, **bindings: Value) -> list[Row]:
        """All that it gives."""

    def scan(self, query: str, /, **bindings: Value) -> Iterator[Row]:
        """The same row by row, of what may be more than one wants to hold."""

    def row(self, query: str, /, **bindings: Value) -> Row | None:
        """The first row that it gives, if any."""

    def number(self, query: str, /, **bindings: Value) -> int:
        """The number that is the first column of the only row that it gives."""

    def change(self, query: str, /, **bindings: Value) -> int:
        """Run what writes; says how many rows it added, replaced or took out."""

    def send(self, query: str, /, **bindings: Value) -> None:
        """Run what writes, where nobody asks how many rows: a server is not waited for, and may raise for it later."""

    def send_all(self, query: str, rows: Iterable[Mapping[str, Value]], /) -> None:
        """Send it for each of `rows`."""

    def each(self, query: str, rows: Iterable[Mapping[str, Value]], /) -> list[list[Row]]:
        """All that it gives for each of `rows`, in their order; a server is asked for all of them at once."""

    def savepoint(self) -> AbstractContextManager[object]:
        """A block that leaves nothing where it raises."""

    def of(self, space: str) -> Database:
        """The same, for queries of one space: one where spaces lie apart has `space` bound to each of them."""

    def scopes(self) -> Sequence[Database]:
        """What its upkeep looks through one after the other: all of it, or space by space where they lie apart."""


class NamedQueries(ABC):
    """What a `Database` gives of a query, by a driver that runs it."""

    @abstractmethod
    def scan(self, query: str, /, **bindings: Value) -> Iterator[Row]:
        """All that a query gives, row by row."""

    def rows(self, query: str, /, **bindings: Value) -> list[Row]:
        """All that it gives."""
        return list(self.scan(query, **bindings))

    def row(self, query: str, /, **bindings: Value) -> Row | None:
        """The first row that it gives, if any."""
        return next(self.scan(query, **bindings), None)

    def each(self, query: str, rows: Iterable[Mapping[str, Value]], /) -> list[list[Row]]:
        """All that it gives for each of `rows`, in their order."""
        return [self.rows(query, **row) for row in rows]

    def number(self, query: str, /, **bindings: Value) -> int:
        """The number that is the first column of the only row that it gives."""
        ((number, *_),) = self.scan(query, **bindings)
        return int(number)


class SqlTransaction(OpenTransaction, ABC):
    """All ports over one open transaction; the module of each is loaded when it is first asked for."""

    ports: Mapping[str, tuple[str, str]] = MappingProxyType(
        {
            "log": ("ireneo.adapters.sql.log", "SqlLog"),
            "sessions": ("ireneo.adapters.sql.log", "SqlSessions"),
            "summaries": ("ireneo.adapters.sql.summaries", "SqlSummaries"),
            "rebuilds": ("ireneo.adapters.sql.summaries", "SqlRebuilds"),
            "annotations": ("ireneo.adapters.sql.summaries", "SqlAnnotations"),
            "read_marks": ("ireneo.adapters.sql.summaries", "SqlReadMarks"),
            "spending": ("ireneo.adapters.sql.leases", "SqlSpending"),
            "leases": ("ireneo.adapters.sql.leases", "SqlLeases"),
            "vectors": ("ireneo.adapters.sql.search", "SqlVectors"),
            "memories": ("ireneo.adapters.sql.memories", "SqlMemories"),
            "pads": ("ireneo.adapters.sql.memories", "SqlPads"),
            "runs": ("ireneo.adapters.sql.memories", "SqlRuns"),
            "ledger": ("ireneo.adapters.sql.memories", "SqlLedger"),
            "traps": ("ireneo.adapters.sql.memories", "SqlTraps"),
            "search": ("ireneo.adapters.sql.search", "SqlSearch"),
            "words": ("ireneo.adapters.sql.search", "SqlWords"),
            "upkeep": ("ireneo.adapters.sql.upkeep", "SqlUpkeep"),
            "erasure": ("ireneo.adapters.sql.erasure", "SqlErasure"),
        }
    )
    """The module and the class of each; a database that has a port of its own names it here."""

    def __init__(self, database: Database, *, writes: bool) -> None:
        """Stand on the transaction that was begun on `database`; `writes` says whether it may change anything."""
        super().__init__(writes=writes)
        self.database = database

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (which port it is, its name says)
        """The port of that name, which is made once."""
        if name not in self.ports:
            raise AttributeError(name)
        module, of = self.ports[name]
        port = getattr(import_module(module), of)(self)
        setattr(self, name, port)
        return port

    @abstractmethod
    def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do `work`. Raises StoreError for whatever the driver raises."""


class ErrorMeaning(Struct, frozen=True):
    """What an error of the driver means to a caller."""

    error: type[StoreError]
    sentence: str
    """Follows the name of the file, or the address."""
    told: bool = False
    """What the server says of it helps whoever reads it."""


class Migration(Struct, frozen=True, kw_only=True):
    """One step of the schema; it is applied once, in one transaction with its record."""

    number: int
    name: str
    sql: str
    step: Callable[[Any], None] | None = None
    """What SQL alone can't do, behind it."""


def read_migrations(folder: Path) -> tuple[Migration, ...]:
    """Read the migrations of an adapter, in their order."""
    found = []
    for file in folder.iterdir():
        number, _, name = file.name.removesuffix(".sql").partition("_")
        found.append(Migration(number=int(number), name=name, sql=file.read_text(encoding="utf-8")))
    return tuple(sorted(found, key=lambda migration: migration.number))


class Port:
    """A port over an open transaction: each of its methods is marked with what it does, `reads` or `writes`."""

    def __init__(self, transaction: SqlTransaction) -> None:
        """Work on an open transaction."""
        self.transaction = transaction
        self._database = transaction.database

    def _of(self, space: str) -> Database:
        return self._database.of(space)


def reads(method: Callable[Concatenate[Q, P], T]) -> Callable[Concatenate[Q, P], T]:
    """A method of a port that reads.

    It raises StoreError once the transaction is over, and for whatever the driver raises.
    """

    @wraps(method)
    def within(self: Q, /, *args: P.args, **kwargs: P.kwargs) -> T:
        self.transaction.check()
        return self.transaction.run(method, self, *args, **kwargs)

    return within


def writes(method: Callable[Concatenate[Q, P], T]) -> Callable[Concatenate[Q, P], T]:
    """A method of a port that writes: all of it or, where it raises, nothing, so that a caller may catch it and go on.

    It raises StoreError in a transaction that only reads, and as those do that read.
    """

    def whole(self: Q, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with self._database.savepoint():
            result = method(self, *args, **kwargs)
        return result  # noqa: RET504 (mypy can't know that the block swallows nothing)

    @wraps(method)
    def within(self: Q, /, *args: P.args, **kwargs: P.kwargs) -> T:
        self.transaction.check(writes=True)
        return self.transaction.run(whole, self, *args, **kwargs)

    return within


_DIALECT = lazy_re(r"\{(?:(sqlite): )?([^{}]*)\}")
_BYTES_OF = lazy_re(r"\bbytes_of\((\w+)\)")
_LISTED = lazy_re(r"\bSELECT listed\((:\w+)\)")


def in_postgres(text: str) -> str:
    """Render shared SQL for PostgreSQL: ``{...}`` is kept, ``{sqlite: ...}`` is dropped."""
    return _DIALECT.sub(lambda found: "" if found[1] else found[2], text)


def in_sqlite(text: str) -> str:
    """Render shared SQL for SQLite: ``{sqlite: ...}`` is kept, ``{...}`` is dropped.

    Most of what is dropped is the space in a key: here a session's key is unique in the whole file. The two functions
    that the schema of PostgreSQL defines are written out.
    """
    rendered = _DIALECT.sub(lambda found: found[2] if found[1] else "", text)
    return _LISTED.sub(r"SELECT value FROM json_each(\1)", _BYTES_OF.sub(r"CAST(\1 AS BLOB)", rendered))


_NAME = lazy_re(r"^-- name: (\w+)\n", re.MULTILINE)
_LIKE = lazy_re(r"-- like: (\w+), where (.+)")
_OF_SPACE = "WHERE space = :space"


def parse_queries(text: str) -> dict[str, str]:
    """Split the text of a .sql file into its queries by name; text before the first name is a comment.

    A query may be defined as an earlier one with an additional condition: ``-- like: list_lessons, where stale = 1``.
    """
    _, *pieces = _NAME.split(text)
    queries: dict[str, str] = {}
    for name, body in zip(pieces[0::2], pieces[1::2], strict=True):
        if name in queries:
            raise ValueError(f"two queries are named {name}")
        like = _LIKE.search(body)
        queries[name] = queries[like[1]].replace(_OF_SPACE, f"{_OF_SPACE} AND {like[2]}", 1) if like else body.strip()
    return queries


def load_queries(folder: Path, render: Callable[[str], str]) -> Mapping[str, str]:
    """Load the shared queries in an adapter's dialect, and those in `folder` that are its own; names are unique."""
    found: dict[str, str] = {}
    for file in (*Path(__file__).with_name("queries").iterdir(), *folder.iterdir()):
        queries = parse_queries(render(file.read_text(encoding="utf-8")))
        if twice := found.keys() & queries.keys():
            raise ValueError(f"two queries are named {', '.join(sorted(twice))}")
        found |= queries
    return MappingProxyType(found)


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
