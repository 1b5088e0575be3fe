"""What was found in a store, in plain sentences, and what mends it."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import Struct

from ireneo.context.summary import Summary, SummaryId
from ireneo.errors import NotFound, StoreError
from ireneo.log.ids import short
from ireneo.ports.leases import Lease
from ireneo.ports.store import Rebuild

RESTORE = (
    "The log is never changed to mend it: restore a backup, or save what can be read with `sqlite3 FILE .recover` "
    "and import the rest again."
)
TAKE_OUT = "`ireneo doctor --mend` takes it out; it is made again from the log."
TAKEN_OUT = "Taken out; it is made again from the log."
UNREADABLE = (StoreError, NotFound, msgspec.MsgspecError, ValueError)
"""What reading something raises that is broken."""


class Finding(Struct, frozen=True, kw_only=True):
    """Something that is wrong, or worth knowing."""

    kind: Literal["fault", "note"]
    """A note is about what is as it may be."""
    session: str
    """Empty where it is about the store as a whole."""
    text: str
    mended: bool = False
    advice: str = ""
    """What is to be done about it; of what is mended, what was done."""


class Cure(Struct, frozen=True, kw_only=True):
    """What mends a finding; nothing of it touches the log."""

    discard: tuple[SummaryId, ...] = ()
    forget: tuple[Lease, ...] = ()
    mark: tuple[Rebuild, Rebuild] | None = None
    """The mark as it is, and as it should be."""
    done: str = ""
    """What is said once it is done."""


class Found(Struct, frozen=True, kw_only=True):
    """A finding, and what mends it, if anything does."""

    finding: Finding
    cure: Cure | None = None
    about: tuple[str, ...] = ()
    """The ids that it is about, or other words that name the same: what the store says of them is said here."""


def fault(session: str, text: str, advice: str = RESTORE) -> Found:
    """Something that is wrong and can't be mended from within."""
    return Found(finding=Finding(kind="fault", session=session, text=text, advice=advice))


def note(session: str, text: str, advice: str = "") -> Found:
    """Something that is worth knowing."""
    return Found(finding=Finding(kind="note", session=session, text=text, advice=advice))


def named(summary: Summary) -> str:
    """What a sentence calls a summary."""
    what = f"{summary.level} {summary.depth}"
    return f"{short(summary.id)} ({what}, {stretch_of(summary.first_position, summary.last_position)})"


def stretch_of(first: int, last: int) -> str:
    """Positions in words, counted from 1 as a reader does."""
    return f"message {first + 1:,}" if first == last else f"messages {first + 1:,}–{last + 1:,}"
