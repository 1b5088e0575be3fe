"""What overwrites the bytes that an erasure leaves behind in the file and its WAL."""

from __future__ import annotations

import apsw

from ireneo.adapters.sql.database import Database
from ireneo.ports.store import Scrubbed

WAIT_SECONDS = 5.0
"""So long at most it waits for others who read or write."""

AGAIN = "forget again, or run `ireneo doctor --repair`, when they are done"
LEFT = "An erasure may have left its bytes in the file or its WAL; forget again, or run `ireneo doctor --repair`."
READ = f"Another reader still holds an old state of the file, so that its WAL can't be emptied yet; {AGAIN}."
BUSY = f"Another process is at the file, so that it can't be written anew; {AGAIN}."
FULL = (
    "There is no room to write the file anew, which takes twice its size; free some, and forget again or run "
    "`ireneo doctor --repair`."
)


def look_at_scrubs(database: Database) -> Scrubbed:
    """Whether an erasure waits for a scrub."""
    waiting = database.rows("list_scrubs")
    return Scrubbed(complete=not waiting, note=LEFT if waiting else "")


def scrub_file(database: Database) -> Scrubbed:
    """Write the file anew and empty its WAL, unless nothing was erased since that was done last.

    Overwriting what is deleted (`secure_delete`) is not enough: when SQLite moves rows from page to page, it leaves
    their old copies where they were, and nobody knows of them any more when the row itself is deleted. So the file is
    written anew from what is there (VACUUM), and then the WAL is brought into it and emptied.
    """
    marks = database.rows("list_scrubs")
    if not marks:
        return Scrubbed(complete=True)
    try:
        for query in ("settle_message_words", "settle_memory_words", "vacuum"):
            database.change(query)
        if database.number("empty_wal"):
            return Scrubbed(complete=False, note=READ)
        # The marks of the erasures that this has reached; those that came since stay.
        with database.savepoint():
            database.change_all("delete_scrub", ({"mark": mark} for (mark,) in marks))
    except (apsw.BusyError, apsw.LockedError):
        return Scrubbed(complete=False, note=BUSY)
    except apsw.FullError:
        return Scrubbed(complete=False, note=FULL)
    return Scrubbed(complete=True)
