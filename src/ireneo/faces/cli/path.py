"""`ireneo path`: which database is meant here, and why that one."""

from __future__ import annotations

import sys

from ireneo.faces.cli.answers import write_json
from ireneo.faces.cli.options import AsJson, Db
from ireneo.faces.cli.place import is_there, place_of, shown


def path(as_json: AsJson = False, db: Db = None) -> None:
    """Say where the database is, and why there.

    The first of these: --db; the variable IRENEO_DB; a memory.db in this folder; a folder .ireneo, in this folder or
    above it; your own place, where your system keeps the data of programs.
    """
    place = place_of(db)
    there = is_there(place.path)
    if as_json:
        write_json({"path": str(place.path.absolute()), "why": place.why, "exists": there})
        return
    # The path alone on standard output, for scripts: sqlite3 "$(ireneo path)".
    sys.stdout.write(f"{place.path.absolute()}\n")
    made = "" if there else " It is not there yet: `ireneo import`, `learn` and `remember` make it."
    sys.stderr.write(f"ireneo: {shown(place.path)}: {place.why}.{made}\n")
