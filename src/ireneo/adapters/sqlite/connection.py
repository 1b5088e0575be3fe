"""A connection to a SQLite file and what goes over it: transactions, queries by name, and values as rows."""

from __future__ import annotations

import os
import random
import re
import struct
import threading
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import wraps
from operator import itemgetter
from pathlib import Path
from types import MappingProxyType
from typing import Any, Concatenate, ParamSpec, TypeAlias, TypeVar
from urllib.parse import quote

import apsw
import msgspec
from msgspec import Struct

from ireneo.adapters.pool import Cancellation
from ireneo.adapters.rules import unpack
from ireneo.errors import BadInput, NotADatabase, ReadOnlyStore, StoreBusy, StoreError, Unreachable
from ireneo.log.message import Draft, Message, MessageId, Origin, Part, Role
from ireneo.log.tree import Head
from ireneo.patterns import lazy_re

_NAME = lazy_re(r"^-- name: (\w+)\n", re.MULTILINE)


def parse_queries(text: str) -> dict[str, str]:
    """Split the text of a .sql file into its queries by name; what stands before the first name is a comment."""
    _, *pieces = _NAME.split(text)
    names, bodies = pieces[0::2], pieces[1::2]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"two queries are named {name}")
    return {name: body.strip() for name, body in zip(names, bodies, strict=True)}


def load_queries() -> Mapping[str, str]:
    """Read every query that ships with the package; a name stands once in all files together."""
    found: dict[str, str] = {}
    for file in sorted(Path(__file__).with_name("queries").iterdir(), key=lambda file: file.name):
        queries = parse_queries(file.read_text(encoding="utf-8"))
        if twice := found.keys() & queries.keys():
            raise ValueError(f"two queries are named {', '.join(sorted(twice))}")
        found |= queries
    return MappingProxyType(found)


SQL = load_queries()


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def microseconds(at: datetime) -> int:
    """The microseconds from the beginning of 1970 in UTC to `at`, which has a zone."""
    return (at - _EPOCH) // _MICROSECOND


def time_of(microseconds: int) -> datetime:
    """The time that is so many microseconds after the beginning of 1970, in UTC."""
    return _EPOCH + microseconds * _MICROSECOND


Value = str | bytes | int | None
"""What is bound to a query."""

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
"""What the checksum of a row covers, by the names under which it is written, in the order in which `ROWS` gives them.
That of a vector covers its set, its document and itself."""


ROWS: Mapping[str, str] = {
    "messages": "rows_of_messages",
    "payloads": "rows_of_payloads",
    "branches": "rows_of_branches",
    "summaries": "rows_of_summaries",
    "annotations": "rows_of_annotations",
    "memories": "rows_of_memories",
    "pads": "rows_of_pads",
    "runs": "rows_of_runs",
    "sightings": "rows_of_sightings",
    "vectors": "rows_of_vectors",
}
"""The query that reads all rows of a table. Payloads have a checksum of their own inside."""


_BETWEEN = "\x1f"
_NOTHING = str(None).encode()
_VALUES = {table: itemgetter(*names) for table, names in COVERED.items()}
_WRITTEN = {table: _BETWEEN.join(["%s"] * len(names)) for table, names in COVERED.items()}


def checksum(values: Sequence[bytes | None]) -> int:
    """The checksum of a row, by its columns as bytes, in order: numbers in digits, as SQLite gives them.

    SQLite sees to it that a page can be read, and not that it holds what was written. So each row that says something
    carries a CRC-32 of its columns, which no change of a single byte escapes.
    """
    return zlib.crc32(_BETWEEN.encode().join([_NOTHING if value is None else value for value in values]))


def with_checksum(table: str, row: Mapping[str, Value]) -> dict[str, Value]:
    """`row` as it is written, with its checksum; it holds no bytes and no truth values."""
    # The same as above, in one step for all columns: there are as many rows as messages.
    return {**row, "checksum": zlib.crc32((_WRITTEN[table] % _VALUES[table](row)).encode())}


_PARTS = msgspec.json.Decoder(tuple[Part, ...])

Bindings = dict[str, Value]
"""The values for a query's names."""

END = 2**63 - 1
"""The last position that there can be."""


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


SHORTEST_SECONDS = 0.001
LONGEST_SECONDS = 0.025
GROWTH = 1.5
STEPS = 20
"""After so many tries a pause has long reached its ceiling; further powers would only overflow."""


class BusyHandler:
    """A busy handler for one connection: SQLite calls it with the number of tries, and waits on while it says True.

    SQLite's own wait is the same for everyone, so that writers who came at once meet again at each try, and the one
    that waited longest asks most rarely. Here a pause is random, and its ceiling is low enough that a waiter of long
    standing asks nearly as often as a newcomer.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._began = 0.0
        self.given_up = threading.Event()
        """Set, by another thread, once nobody wants what it waits for any more: the wait ends at once."""

    def __call__(self, tries: int) -> bool:
        """Pause, and say whether to try again; False once the limit is over or the wait was given up."""
        if tries == 0:
            self._began = time.monotonic()
        left = self._began + self._seconds - time.monotonic()
        if left <= 0:
            return False
        ceiling = min(LONGEST_SECONDS, SHORTEST_SECONDS * GROWTH ** min(tries, STEPS))
        pause = random.uniform(ceiling / 4, ceiling)
        return not self.given_up.wait(min(pause, left))


class ErrorMeaning(Struct, frozen=True):
    """What an error of the driver means to a caller."""

    error: type[StoreError]
    sentence: str
    """Follows the name of the file."""


BUSY = ErrorMeaning(
    StoreBusy, "was kept locked for too long by another process; try again, or look for one that hangs."
)
FOREIGN = ErrorMeaning(NotADatabase, "is not an Ireneo database; name another file, or a new one.")
DAMAGED = ErrorMeaning(StoreError, "is damaged; restore it from a copy.")
UNOPENED = ErrorMeaning(Unreachable, "can't be opened; check that its folder exists and that you may write to it.")
READ_ONLY = ErrorMeaning(ReadOnlyStore, "may not be written to; check its permissions and those of its folder.")
UNREADABLE = ErrorMeaning(StoreError, "can't be read or written; the disk or its file system reports a fault.")
FULL = ErrorMeaning(StoreError, "can't grow; the disk is full.")
UNPARSED = "holds something that can't be read; see `ireneo doctor`"
"""A value that is not what was written: the file is damaged, and SQLite doesn't know."""

UNPARSABLE = (ValueError, TypeError, LookupError, OverflowError, msgspec.MsgspecError, struct.error, zlib.error)
"""What reading such a value raises: of JSON, a time, packed bytes, a number that is none."""

TOO_BIG = ErrorMeaning(StoreError, "can't hold a single value this large; split it, or keep it in a file of its own.")
NO_MEMORY = ErrorMeaning(StoreError, "can't be worked on; there is no memory left.")
CLOSED = ErrorMeaning(StoreError, "was closed while it was in use; open the store again.")
FORKED = ErrorMeaning(StoreError, "was opened before this process was forked; open the store after the fork.")
OUR_FAULT = ErrorMeaning(
    StoreError, "was asked for something that it can't do; this is a fault in Ireneo, please report it."
)

MEANINGS: Mapping[type[apsw.Error], ErrorMeaning] = {
    apsw.BusyError: BUSY,
    apsw.LockedError: BUSY,
    apsw.ProtocolError: BUSY,
    apsw.NotADBError: FOREIGN,
    apsw.FormatError: FOREIGN,
    apsw.CorruptError: DAMAGED,
    apsw.CantOpenError: UNOPENED,
    apsw.PermissionsError: READ_ONLY,
    apsw.ReadOnlyError: READ_ONLY,
    apsw.AuthError: READ_ONLY,
    apsw.IOError: UNREADABLE,
    apsw.NoLFSError: UNREADABLE,
    apsw.FullError: FULL,
    apsw.TooBigError: TOO_BIG,
    apsw.NoMemError: NO_MEMORY,
    apsw.ConnectionClosedError: CLOSED,
    apsw.ConnectionNotClosedError: CLOSED,
    apsw.CursorClosedError: CLOSED,
    apsw.VFSFileClosedError: CLOSED,
    apsw.ForkingViolationError: FORKED,
    apsw.AbortError: OUR_FAULT,
    apsw.BindingsError: OUR_FAULT,
    apsw.ConstraintError: OUR_FAULT,
    apsw.EmptyError: OUR_FAULT,
    apsw.ExecTraceAbort: OUR_FAULT,
    apsw.ExecutionCompleteError: OUR_FAULT,
    apsw.ExtensionLoadingError: OUR_FAULT,
    apsw.IncompleteExecutionError: OUR_FAULT,
    apsw.InternalError: OUR_FAULT,
    apsw.InterruptError: OUR_FAULT,
    apsw.InvalidContextError: OUR_FAULT,
    apsw.MismatchError: OUR_FAULT,
    apsw.MisuseError: OUR_FAULT,
    apsw.NoFTS5Error: OUR_FAULT,
    apsw.NotFoundError: OUR_FAULT,
    apsw.RangeError: OUR_FAULT,
    apsw.SQLError: OUR_FAULT,
    apsw.SchemaChangeError: OUR_FAULT,
    apsw.ThreadingViolationError: OUR_FAULT,
    apsw.VFSNotImplementedError: OUR_FAULT,
}
"""Every class that apsw has: a test fails when it grows one that is missing here."""


def translate(fault: apsw.Error, path: Path) -> StoreError:
    """Say in our words what the driver says of the file at `path`; raise the result ``from fault``."""
    # A class that a later apsw brings is no reason to let it through.
    meaning = MEANINGS.get(type(fault), OUR_FAULT)
    detail = f" ({fault})" if meaning in (OUR_FAULT, DAMAGED, UNREADABLE) else ""
    return meaning.error(f"{path} {meaning.sentence}{detail}")


P = ParamSpec("P")
T = TypeVar("T")
Q = TypeVar("Q", bound="Port")

LONGEST = 200
"""Characters of what a parser says."""


class Connection:
    """A connection that is opened by the first work that it is given."""

    def __init__(
        self, path: Path, busy_seconds: float, prepare: Callable[[apsw.Connection, BusyHandler], None]
    ) -> None:
        """Keep a connection to `path` ready; `prepare` is run on it right after it was opened."""
        self._path = path
        self._prepare = prepare
        self._busy = BusyHandler(busy_seconds)
        self._database: apsw.Connection | None = None

    @property
    def database(self) -> apsw.Connection:
        """The driver's connection, opened and prepared."""
        if self._database is None:
            database = self._open()
            try:
                database.set_busy_handler(self._busy)
                self._prepare(database, self._busy)
            except BaseException:
                database.close(True)
                raise
            self._database = database
        return self._database

    def execute(self, name: str) -> None:
        """Run the query called `name`, which takes and gives nothing. Raises as `run` does."""
        self.run(lambda: self.database.execute(SQL[name]).fetchall())

    def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do `work` on the connection. Raises StoreError for whatever the driver raises."""
        try:
            return work(*args, **kwargs)
        except apsw.Error as fault:
            raise translate(fault, self._path) from fault
        except UnicodeEncodeError as fault:
            raise BadInput("A name or a text has half a surrogate pair in it; give valid Unicode.") from fault
        except UNPARSABLE as fault:
            raise StoreError(f"{self._path} {UNPARSED} ({' '.join(str(fault).split())[:LONGEST]}).") from fault

    def heed(self, cancellation: Cancellation) -> None:
        """Let go of the wait for a locked file as soon as a cancellation is requested."""
        self._busy.given_up = cancellation.requested

    def finish(self) -> None:
        """End a transaction that read; raises StoreError where what was read can't be relied on."""

    def roll_back(self) -> None:
        """Roll back what is still open."""
        if self._database is None or not self._database.in_transaction:
            return
        try:
            self._database.execute(SQL["roll_back"])
        except apsw.Error:
            # A connection that can't even roll back is given up; closing it does, and the next work opens another.
            self.close()

    def close(self) -> None:
        """Close the connection; the next work opens it again."""
        database, self._database = self._database, None
        if database is not None:
            database.close(True)

    def _open(self) -> apsw.Connection:
        if self._path != Path(":memory:"):
            # A new file is for its owner's eyes alone. What keeps it from being made, SQLite says as it opens it.
            with suppress(OSError):
                os.close(os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        return apsw.Connection(str(self._path), apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE)


CHANGED = "was written to while it was read; ask again."
WITHOUT_LOCKS = ("unix-none", "win32-none")
"""What SQLite calls the ways to a file that take no locks: where no lock file can be made, there are none to take."""

_Stamp: TypeAlias = tuple[tuple[int, int, int] | None, ...]


class ReadOnlyConnection(Connection):
    """A connection to a file that can't be written to, or whose folder can't: nothing is made beside it.

    Whoever reads a file in WAL mode writes as well: into the ``-shm`` beside it, where readers and writers find each
    other. Where that is there, SQLite reads by it even if it may not write to it. Where it is not, nobody is at the
    file, and two cases are left:

    - There is no WAL, or an empty one: all that was written is in the file, which is read as one that never changes.
    - There is a WAL with something in it, which a process left behind that was killed: it is read along, in this
      connection's own memory and without locks.

    Neither would notice a writer who comes meanwhile. So the file is opened anew for each transaction, closed behind
    it, and looked at again when that ends: what was read from a file that changed meanwhile is not given out.
    """

    def __init__(
        self, path: Path, busy_seconds: float, prepare: Callable[[apsw.Connection, BusyHandler], None]
    ) -> None:
        """Keep a connection to `path` ready."""
        super().__init__(path, busy_seconds, prepare)
        self._stamp: _Stamp | None = None
        """How the file was when it was opened; None where SQLite itself sees to it that a snapshot stands still."""

    def finish(self) -> None:
        """Raise StoreError where the file was changed since the transaction began."""
        if self._stamp is not None and _stamp(self._path) != self._stamp:
            raise StoreError(f"{self._path} {CHANGED}")

    def _open(self) -> apsw.Connection:
        self._stamp = None
        if _beside(self._path, "-shm").exists():
            return apsw.Connection(str(self._path), apsw.SQLITE_OPEN_READONLY)
        self._stamp = _stamp(self._path)
        if not _size(_beside(self._path, "-wal")):
            flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
            return apsw.Connection(f"file:{quote(str(self._path))}?immutable=1", flags)
        vfs = next((name for name in WITHOUT_LOCKS if name in apsw.vfs_names()), None)
        if vfs is None:
            raise Unreachable(f"{self._path} has a WAL beside it, which can't be read along here; copy both elsewhere.")
        database = apsw.Connection(str(self._path), apsw.SQLITE_OPEN_READONLY, vfs=vfs)
        # In this mode alone SQLite keeps the index of a WAL in its own memory.
        database.execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()
        # Else it would try to bring the WAL into the file when it is closed.
        database.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        return database

    def roll_back(self) -> None:
        """Roll back what is still open, and close the file."""
        super().roll_back()
        self.close()


def is_writable(path: Path) -> bool:
    """Whether a file that is there and holds something may be written to, as far as its permissions tell."""
    return not _size(path) or os.access(path, os.W_OK)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def _stamp(path: Path) -> _Stamp:
    """What changes of a file and its WAL when somebody writes to them."""
    return tuple(_times(each) for each in (path, _beside(path, "-wal")))


def _times(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return (found.st_ino, found.st_size, found.st_mtime_ns)


class OpenTransaction:
    """A transaction on a connection, until it is over."""

    def __init__(self, connection: Connection, *, writes: bool) -> None:
        """Stand on the transaction that was begun on `connection`; `writes` says whether it may change anything."""
        self.connection = connection
        self.database = connection.database
        self.writes = writes
        self.is_over = False


class Port:
    """A port over an open transaction: each of its methods is marked with what it does, `reads` or `writes`."""

    def __init__(self, transaction: OpenTransaction) -> None:
        """Work on an open transaction."""
        self._transaction = transaction
        self._database = transaction.database

    def _rows(self, query: str, **bindings: Value) -> apsw.Cursor:
        return self._database.execute(SQL[query], bindings)

    def _row(self, query: str, **bindings: Value) -> tuple[Any, ...] | None:
        return self._database.execute(SQL[query], bindings).fetchone()


def reads(method: Callable[Concatenate[Q, P], T]) -> Callable[Concatenate[Q, P], T]:
    """A method of a port that reads.

    It raises StoreError once the transaction is over, and for whatever the driver raises.
    """

    @wraps(method)
    def within(self: Q, /, *args: P.args, **kwargs: P.kwargs) -> T:
        if self._transaction.is_over:
            raise StoreError("The transaction is over; open another with store.read() or store.write().")
        return self._transaction.connection.run(method, self, *args, **kwargs)

    return within


def writes(method: Callable[Concatenate[Q, P], T]) -> Callable[Concatenate[Q, P], T]:
    """A method of a port that writes: all of it or, where it raises, nothing.

    It raises StoreError in a transaction that only reads, and as those do that read.
    """

    def whole(self: Q, /, *args: P.args, **kwargs: P.kwargs) -> T:
        if not self._transaction.writes:
            raise StoreError("This transaction only reads; write inside store.write().")
        # apsw's own block is a savepoint inside a transaction, so that a caller may catch what this raises.
        with self._database:
            result = method(self, *args, **kwargs)
        return result  # noqa: RET504 (mypy can't know that the block swallows nothing)

    return wraps(method)(reads(whole))
