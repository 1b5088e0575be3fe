"""Read only the compiled traps of a space, for a hook, which can't wait for a store to be opened."""

from __future__ import annotations

from os import PathLike, fspath

import apsw

BUSY_MILLISECONDS = 200
_READ = """
SELECT t.needles, t.record, t.version FROM traps AS t WHERE t.space = :space
UNION ALL
SELECT '', '', :version
WHERE NOT EXISTS (SELECT 1 FROM traps WHERE space = :space)
AND NOT EXISTS (SELECT 1 FROM memories WHERE space = :space AND cue <> '')
AND NOT EXISTS (SELECT 1 FROM memories WHERE space = :space AND kind = 'failure')
"""


def read_trap_index(path: str | PathLike[str], space: str, version: int) -> tuple[tuple[str, ...], str] | None:
    """The needles and the record of the compiled traps; empty if the space has no lesson and no failure.

    None if the caller should open the store: nothing is compiled, another version compiled it, or the file is locked.
    """
    try:
        connection = apsw.Connection(fspath(path), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            connection.set_busy_timeout(BUSY_MILLISECONDS)
            found = connection.execute(_READ, {"space": space, "version": version}).fetchone()
        finally:
            connection.close()
    except apsw.Error:
        # An earlier version's file, a locked one, or not our database: opening the store shows which.
        return None
    if found is None or found[2] != version:
        return None
    return tuple(filter(None, found[0].split("\n"))), found[1]
