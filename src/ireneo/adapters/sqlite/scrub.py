"""Overwrite what erasures have left in a SQLite file and its WAL.

Overwriting what is deleted (`secure_delete`) is not enough: when SQLite moves rows from page to page, it leaves their
old copies where they were, and nobody knows of them any more when the row itself is deleted. So the file is written
anew from what is there (VACUUM), and then the WAL is brought into it and emptied.
"""

from __future__ import annotations

import apsw

from ireneo.adapters.sqlite.queries import SQL
from ireneo.ports.erasure import Scrubbed

WAIT_SECONDS = 5.0
"""So long at most it waits for others who read or write."""

AGAIN = "forget again, or run `ireneo doctor --mend`, when they are done"
LEFT = "An erasure may have left its bytes in the file or its WAL; forget again, or run `ireneo doctor --mend`."
READ = f"Another reader still holds an old state of the file, so that its WAL can't be emptied yet; {AGAIN}."
BUSY = f"Another process is at the file, so that it can't be written anew; {AGAIN}."
FULL = (
    "There is no room to write the file anew, which takes twice its size; free some, and forget again or run "
    "`ireneo doctor --mend`."
)


def look_at_scrubs(database: apsw.Connection) -> Scrubbed:
    """Whether an erasure waits for a scrub."""
    waiting = database.execute(SQL["list_scrubs"]).fetchall()
    return Scrubbed(complete=not waiting, note=LEFT if waiting else "")


def scrub_file(database: apsw.Connection) -> Scrubbed:
    """Write the file anew and empty its WAL, unless nothing was erased since that was done last."""
    marks = [mark for (mark,) in database.execute(SQL["list_scrubs"])]
    if not marks:
        return Scrubbed(complete=True)
    try:
        for query in ("settle_message_words", "settle_memory_words", "vacuum"):
            database.execute(SQL[query])
        ((busy, _, _),) = database.execute(SQL["empty_wal"])
        if busy:
            return Scrubbed(complete=False, note=READ)
        _forget(database, marks)
    except (apsw.BusyError, apsw.LockedError):
        return Scrubbed(complete=False, note=BUSY)
    except apsw.FullError:
        return Scrubbed(complete=False, note=FULL)
    return Scrubbed(complete=True)


def _forget(database: apsw.Connection, marks: list[str]) -> None:
    """Take away the marks of the erasures that the scrub has reached; those that came since stay."""
    with database:
        for mark in marks:
            database.execute(SQL["delete_scrub"], {"mark": mark})
