"""`ireneo import`: take logs into a database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec import Struct

import ireneo
from ireneo.errors import BadInput, UnknownFormat
from ireneo.faces.cli.files import LOG_SUFFIXES, LogFile
from ireneo.faces.cli.logs import log_format_of
from ireneo.faces.cli.options import AUTO, DEFAULT_SPACE, STDIN, Db, Format, Space
from ireneo.faces.cli.stored import database, writing
from ireneo.faces.cli.warnings import warn, warn_of_damage, warn_of_faults

if TYPE_CHECKING:
    from ireneo.faces.cli.screens.progress import Progress

Logs = Annotated[
    list[str],
    typer.Argument(metavar="LOG…", help="Files (plain, .gz or .xz), folders to search for logs, or - for standard input."),
]


class Taken(Struct, frozen=True, kw_only=True):
    """A log that is to be taken in: where it lies, and how it is read."""

    given: str
    name: str
    log: ireneo.LogFormat
    bytes: int


class Tally(Struct, kw_only=True):
    """What an import did so far."""

    sessions: int = 0
    new: int = 0
    unread: int = 0
    passed: int = 0
    """Files of a folder that are no logs."""


def import_logs(logs: Logs, db: Db = None, space: Space = DEFAULT_SPACE, format: Format = AUTO) -> None:
    """Take agents' logs into the memory; what is there already is left as it is, so import as often as you like."""
    tally = Tally()
    taken = list(_recognised(logs, format, tally))
