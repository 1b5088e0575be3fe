"""Which database a command line means."""

from __future__ import annotations

import os
from pathlib import Path

from ireneo.errors import BadInput

DEFAULT_DB = "memory.db"
DEFAULT_SPACE = "default"


def database(given: Path | None) -> Path:
    """The database that is meant: the one that was named, that of the environment, or the one in this folder."""
    return given or Path(os.environ.get("IRENEO_DB") or DEFAULT_DB)


def existing(given: Path | None) -> Path:
    """The database that is meant, which must be there: to ask what is in one must not make an empty one."""
    path = database(given)
    if not path.exists():
        raise BadInput(f"There is no database {path}; fill one with `ireneo import LOG`, or name another with --db.")
    return path
