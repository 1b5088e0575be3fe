"""Which database a command uses, and why. Quick to import, since the hook needs it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias
from urllib.parse import urlsplit

from ireneo.errors import BadInput, Unreachable

if TYPE_CHECKING:
    from platformdirs.api import PlatformDirsABC

DEFAULT_SPACE = "default"
FILE = "memory.db"
"""The name of a database file if none was given."""
FOLDER = ".ireneo"
"""A folder with this name holds the database for its parent folder and everything below."""
VARIABLE = "IRENEO_DB"
_SQLITE = b"SQLite format 3\0"
_OURS = (68, (1232236143).to_bytes(4, "big"))
"""The place and the value of the application id in the header of our SQLite files."""
SERVERS = ("postgresql://", "postgres://")
"""The beginnings of the address of a database on a server."""
_FILE_SCHEME = "sqlite:///"
"""The beginning of an address that is a file's."""
Database: TypeAlias = Path | str
"""A file, or the address of a database on a server."""


class DatabasePlace(NamedTuple):
    """A database, which may not exist yet, and why it is used."""

    path: Database
    why: str
    note: str = ""
    """A notice for the user: that the database was only found, or that another one was ignored."""


def place_of(given: str | Path | None, environ: Mapping[str, str] | None = None) -> DatabasePlace:
    """Find the database to use, which is the first of five.

    1. `--db`, 2. `IRENEO_DB`, 3. a `memory.db` in this folder, as earlier versions and `ireneo.open("memory.db")` make
    it, 4. the one in a folder `.ireneo`, here or above, 5. the user's own. Raises BadInput where the user has no home.
    """
    environ = os.environ if environ is None else environ
    if given is not None:
        return DatabasePlace(_expand_path(given), "it was named with --db")
    if named := environ.get(VARIABLE):
        return DatabasePlace(_expand_path(named), f"{VARIABLE} names it")
    if _is_ireneo_database(here := Path(FILE)):
        note = f"Using the {FILE} in this folder; `ireneo path --help` says how to use another."
        return DatabasePlace(here, f"there is a {FILE} in this folder", note)
    note = ""
    here = Path.cwd()
    for folder in (here, *here.parents):
        inside = folder / FOLDER
        if not inside.is_dir():
            continue
        if not hasattr(os, "getuid") or inside.stat().st_uid == os.getuid():
            return DatabasePlace(inside / FILE, f"the folder {shown(folder)} has a {FOLDER} in it", note)
        note = note or f"{shown(inside)} belongs to another user and is passed over; to use it, name it with --db."
    return DatabasePlace(user_database(), "your own database, used in folders that have none", note)


def database(given: str | Path | None) -> Database:
    """Return the database to use (`place_of`), and write its notice once."""
    place = place_of(given)
    if place.note:
        say_once(place.note)
    return place.path


@cache
def say_once(note: str) -> None:
    """Write a notice to standard error, once for each command."""
    sys.stderr.write(f"ireneo: {note}\n")


def existing(given: str | Path | None) -> Database:
    """Return the database to use. Raises BadInput if it does not exist, because reading must not create one."""
    path = database(given)
    if not exists(path):
        raise BadInput(
            f"There is no database {shown(path)}; create one with `ireneo import LOG`, or name another with --db."
        )
    return path


def exists(path: Database) -> bool:
    """Whether there is a file at `path`; always true for a server. Raises Unreachable."""
    if isinstance(path, str):
        return True
    try:
        return path.exists()
    except OSError as fault:
        raise Unreachable(f"{shown(path)} can't be reached: {fault.strerror}.") from fault


def absolute(path: Database) -> str:
    """Return the absolute path; for a server the address without its password."""
    return shown(path) if isinstance(path, str) else str(path.absolute())


def make_folder(path: Database) -> Database:
    """Create the folder of a database, for its user alone; returns the path."""
    if isinstance(path, str):
        return path
    try:
        if not path.parent.is_dir():
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as fault:
        raise Unreachable(f"The folder {shown(path.parent)} can't be made: {fault.strerror}.") from fault
    return path


def user_database(system: PlatformDirsABC | None = None) -> Path:
    r"""Return the user's own database, in the data folder of `system` (this one). Raises BadInput without a home.

    `~/.local/share/ireneo` or in `XDG_DATA_HOME`, `~/Library/Application Support/ireneo`, `%LOCALAPPDATA%\ireneo`.
    """
    if system is None:
        from platformdirs import PlatformDirs

        system = PlatformDirs("ireneo", appauthor=False)
    folder = system.user_data_path
    if str(folder).startswith("~"):
        raise BadInput(f"Your home folder is not known; name the database with --db or in {VARIABLE}.")
    return folder / FILE


def shown(path: Database) -> str:
    """Format a path with `~` for the home folder, and an address without its password."""
    if isinstance(path, str):
        parts = urlsplit(path)
        user, at, host = parts.netloc.rpartition("@")
        return f"{parts.scheme}://{user.partition(':')[0]}{at}{host}{parts.path}"
    home = os.path.expanduser("~")
    if path.is_absolute() and home not in ("~", os.sep) and path.is_relative_to(home):
        return str(Path("~") / path.relative_to(home))
    return str(path)


def _expand_path(given: str | Path) -> Database:
    if isinstance(given, str):
        if given.startswith(SERVERS):
            return given
        given = given.removeprefix(_FILE_SCHEME)
        if not given:
            raise BadInput("The name of the database is empty; give a file, or postgresql://….")
        if "://" in given:
            raise BadInput(f"{given} is not a database that can be used here; give a file, or postgresql://….")
    try:
        return Path(given).expanduser()
    except RuntimeError:
        raise BadInput(f"{given} is in a home folder that is not known; give the whole path.") from None


def _is_ireneo_database(file: Path) -> bool:
    """Whether a file is a database of Ireneo, since other programs use the same file name."""
    place, mark = _OURS
    try:
        with file.open("rb") as opened:
            head = opened.read(place + len(mark))
    except OSError:
        return False
    return head.startswith(_SQLITE) and head[place:] == mark
