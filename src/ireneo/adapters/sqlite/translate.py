"""Where the driver's errors stop: each class of apsw's becomes one of ours, and one sentence."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping
from pathlib import Path

import apsw
import msgspec
from msgspec import Struct

from ireneo.errors import NotADatabase, ReadOnlyStore, StoreBusy, StoreError, Unreachable


class Meaning(Struct, frozen=True):
    """What an error of the driver means to a caller."""

    error: type[StoreError]
    sentence: str
    """Follows the name of the file."""


BUSY = Meaning(StoreBusy, "was kept locked for too long by another process; try again, or look for one that hangs.")
FOREIGN = Meaning(NotADatabase, "is not an Ireneo database; name another file, or a new one.")
DAMAGED = Meaning(StoreError, "is damaged; restore it from a copy.")
UNOPENED = Meaning(Unreachable, "can't be opened; check that its folder exists and that you may write to it.")
READ_ONLY = Meaning(ReadOnlyStore, "may not be written to; check its permissions and those of its folder.")
UNREADABLE = Meaning(StoreError, "can't be read or written; the disk or its file system reports a fault.")
FULL = Meaning(StoreError, "can't grow; the disk is full.")
UNPARSED = "holds something that can't be read; see `ireneo doctor`"
"""A value that is not what was written: the file is damaged, and SQLite doesn't know."""

UNPARSABLE = (ValueError, TypeError, LookupError, OverflowError, msgspec.MsgspecError, struct.error, zlib.error)
"""What reading such a value raises: of JSON, a time, packed bytes, a number that is none."""

TOO_BIG = Meaning(StoreError, "can't hold a single value this large; split it, or keep it in a file of its own.")
NO_MEMORY = Meaning(StoreError, "can't be worked on; there is no memory left.")
CLOSED = Meaning(StoreError, "was closed while it was in use; open the store again.")
FORKED = Meaning(StoreError, "was opened before this process was forked; open the store after the fork.")
OUR_FAULT = Meaning(
    StoreError, "was asked for something that it can't do; this is a fault in Ireneo, please report it."
)

MEANINGS: Mapping[type[apsw.Error], Meaning] = {
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
