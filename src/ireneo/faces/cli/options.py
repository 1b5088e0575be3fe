"""The options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from msgspec import Struct

from ireneo.faces.cli.completed import sessions_begun
from ireneo.faces.cli.place import DEFAULT_SPACE as DEFAULT_SPACE

AUTO = "auto"
STDIN = "-"

Db = Annotated[
    Path | None,
    typer.Option("--db", metavar="FILE", help="The database.", show_default="what `ireneo path` says"),
]
Space = Annotated[str, typer.Option("--space", metavar="NAME", help="Whose memory it is: a tenant, a user, a project.")]
Budget = Annotated[
    int, typer.Option("--budget", "-b", metavar="TOKENS", help="The most that the context may cost, in tokens.")
]
Preset = Annotated[
    str | None,
    typer.Option(
        "--preset",
        metavar="NAME",
        help="How it is cut: coding, forge or story.",
        show_default="story for transcripts of a chat, else coding",
    ),
]
To = Annotated[
    str | None,
    typer.Option("--to", metavar="FORMAT", help="The chat format that comes out.", show_default="as it came in"),
]
Format = Annotated[
    str, typer.Option("--format", "-f", metavar="FORMAT", help="The log's format; `ireneo formats` lists them.")
]
FormatOfFile = Annotated[
    str, typer.Option("--format", "-f", metavar="FORMAT", help="Of a file: its format; `ireneo formats` lists them.")
]
AsJson = Annotated[bool, typer.Option("--json", help="JSON on standard output, and nothing else there.")]
KeepSecrets = Annotated[
    bool,
    typer.Option(
        "--keep-secrets",
        help="Store keys, tokens and passwords as they are.",
        show_default="$IRENEO_KEEP_SECRETS, else marks in their place",
    ),
]
SessionOf = Annotated[
    str | None,
    typer.Option(
        "--session", "-s", metavar="ID", help="Which session of a file that holds several.", show_default="the first"
    ),
]
Embedder = Annotated[
    str | None,
    typer.Option(
        "--embedder",
        metavar="NAME",
        help="Search by meaning too: local, on this machine, or that of a provider.",
        show_default="$IRENEO_EMBEDDER, else by words alone",
    ),
]
Prices = Annotated[
    str | None,
    typer.Option("--prices", metavar="NAME", help="The provider's prices: a session is rebuilt when that costs least."),
]
Explain = Annotated[bool, typer.Option("--explain", help="Say why a session was kept or rebuilt, and what that costs.")]
Rebuild = Annotated[bool, typer.Option("--rebuild", help="Make it anew, with the summaries that were written since.")]
As = Annotated[
    str,
    typer.Option(
        "--as",
        metavar="NAME",
        help="Of a story: what this character was present for, and remembers.",
        show_default=False,
    ),
]
Undone = Annotated[bool, typer.Option("--undone", help="Also what a rewind left behind.")]
SessionName = Annotated[
    str,
    typer.Argument(
        metavar="SESSION",
        help="Its id or the beginning of it; SESSION@BRANCH stands on another branch.",
        autocompletion=sessions_begun,
    ),
]


class Within(Struct, frozen=True, kw_only=True):
    """Which session of a file is meant, and how the file is read."""

    session: SessionOf = None
    format: FormatOfFile = AUTO


class Cutting(Struct, frozen=True, kw_only=True):
    """How a session of the database is cut from one call to the next."""

    prices: Prices = None
    explain: Explain = False
    rebuild: Rebuild = False
    as_: As = ""


class Stored(Struct, frozen=True, kw_only=True):
    """Where the memory is."""

    db: Db = None
    space: Space = DEFAULT_SPACE
