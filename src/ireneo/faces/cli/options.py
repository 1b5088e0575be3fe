"""What commands share: their options, and the database, the session and the ids that these name."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar, get_type_hints

import typer
from msgspec import NODEFAULT, Struct
from msgspec.structs import fields

from ireneo.errors import BadInput, IreneoError, SessionNotFound
from ireneo.faces.cli.output import counted, one_line
from ireneo.faces.cli.place import DEFAULT_SPACE, Database, existing, is_there, place_of, room_for
from ireneo.plumbing import GENERAL, project_here

if TYPE_CHECKING:
    from ireneo.sync import Memory, Session


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Let each parameter of `command` that is a Struct be given as the options that its fields are."""
    hints = get_type_hints(command, include_extras=True)
    groups = {name: kind for name, kind in hints.items() if isinstance(kind, type) and issubclass(kind, Struct)}
    shown: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        shown += _options(groups[name]) if name in groups else [parameter.replace(annotation=hints[name])]

    def gathered(**given: object) -> None:
        for name, kind in groups.items():
            given[name] = kind(**{field.name: given.pop(field.name) for field in fields(kind)})
        command(**given)

    gathered.__name__ = command.__name__
    # The lines of a docstring are broken for whoever reads the code; a screen has a width of its own.
    gathered.__doc__ = "\n\n".join(" ".join(part.split()) for part in (command.__doc__ or "").split("\n\n"))
    # What has no default stands first, as Python wants it.
    ordered = sorted(shown, key=lambda parameter: parameter.default is not inspect.Parameter.empty)
    gathered.__signature__ = inspect.Signature(ordered)  # type: ignore[attr-defined]
    gathered.__annotations__ = {parameter.name: parameter.annotation for parameter in ordered}
    return gathered


@cache
def _options(kind: type[Struct]) -> list[inspect.Parameter]:
    # Nearly every command takes some of the same groups.
    hints = get_type_hints(kind, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            annotation=hints[field.name],
            default=inspect.Parameter.empty if field.default is NODEFAULT else field.default,
        )
        for field in fields(kind)
    ]


def option(
    names: str, metavar: str, help: str, *, shown: bool | str = False, known: Callable[..., object] | None = None
) -> object:
    """An option with a value; `shown` is what its help says of the default, `known` completes it."""
    return typer.Option(*names.split(), metavar=metavar, help=help, show_default=shown, autocompletion=known)


def tokens(names: str, help: str, *, shown: bool | str = True) -> object:
    """An option that is a number of tokens: 32000, 32_000, or 32k."""
    return typer.Option(*names.split(), metavar="TOKENS", help=help, show_default=shown, parser=_number_of_tokens)


def _number_of_tokens(given: str | int) -> int:
    said = str(given).strip().casefold()
    thousands = said.endswith("k")
    try:
        return round(float(said[:-1]) * 1_000) if thousands else int(said)
    except (ValueError, OverflowError):
        raise typer.BadParameter(f"{given!r} is no number of tokens; give one such as 32000 or 32k.") from None


def flag(names: str, help: str, *, shown: bool | str = True) -> object:
    """An option that is given or not."""
    return typer.Option(*names.split(), help=help, show_default=shown)


def argument(
    metavar: str, help: str, *, shown: bool | str = True, known: Callable[..., object] | None = None
) -> object:
    """What stands in its place on the line."""
    return typer.Argument(metavar=metavar, help=help, show_default=shown, autocompletion=known)


SHOWN = 60
"""Characters of a text beside the id that is completed."""
Known = Sequence[tuple[str, str]]
"""Ids, each with what a shell says of it."""


def sessions_begun(ctx: typer.Context, incomplete: str) -> Iterator[tuple[str, str]]:
    """The sessions whose ids begin so."""

    def asked(memory: Memory) -> Known:
        return [
            (each.key.session, f"{counted(each.messages, 'message')}, {each.source or 'appended'}")
            for each in memory.sessions()
        ]

    return _begun(ctx, incomplete, asked)


def memories_begun(ctx: typer.Context, incomplete: str) -> Iterator[tuple[str, str]]:
    """The memories whose ids begin so, as many as a look into an index gives."""

    def asked(memory: Memory) -> Known:
        return [(each.id, one_line(each.text)[:SHOWN]) for each in memory.get([incomplete or "m_"])]

    return _begun(ctx, incomplete, asked)


def _begun(ctx: typer.Context, incomplete: str, asked: Callable[[Memory], Known]) -> Iterator[tuple[str, str]]:
    # Only someone who presses the key pays for it.
    from ireneo import sync

    try:
        path = place_of(ctx.params.get("db")).path
        if is_there(path):
            with sync.open(path, space=ctx.params.get("space") or DEFAULT_SPACE) as memory:
                known = asked(memory)
        else:
            known = ()
    except IreneoError:
        # Whoever presses a key is not told of a fault: the command itself says it.
        known = ()
    yield from ((id, told) for id, told in known if id.startswith(incomplete))


AUTO = "auto"
STDIN = "-"

Db = Annotated[
    str | None, option("--db", "FILE", "The database: a file, or postgresql://…", shown="what `ireneo path` says")
]
Space = Annotated[str, option("--space", "NAME", "Whose memory it is: a tenant, a user, a project.", shown=True)]
Budget = Annotated[int, tokens("--budget -b", "The most that the context may cost, in tokens; 32k means 32000.")]
Preset = Annotated[
    str | None,
    option(
        "--preset",
        "NAME",
        "How it is cut: coding, forge or story.",
        shown="story for transcripts of a chat, else coding",
    ),
]
To = Annotated[str | None, option("--to", "FORMAT", "The chat format that comes out.", shown="as it came in")]
Format = Annotated[str, option("--format -f", "FORMAT", "The log's format; `ireneo formats` lists them.", shown=True)]
FormatOfFile = Annotated[
    str, option("--format -f", "FORMAT", "Of a file: its format; `ireneo formats` lists them.", shown=True)
]
AsJson = Annotated[bool, flag("--json", "JSON on standard output, and nothing else there.")]
KeepSecrets = Annotated[
    bool,
    flag(
        "--keep-secrets",
        "Store keys, tokens and passwords as they are.",
        shown="$IRENEO_KEEP_SECRETS, else marks in their place",
    ),
]
SessionOf = Annotated[
    str | None, option("--session -s", "ID", "Which session of a file that holds several.", shown="the first")
]
Embedder = Annotated[
    str | None,
    option(
        "--embedder",
        "NAME",
        "Search by meaning too: local, on this machine, or that of a provider.",
        shown="$IRENEO_EMBEDDER, else by words alone",
    ),
]
Prices = Annotated[
    str | None,
    option("--prices", "NAME", "The provider's prices: a session is rebuilt when that costs least.", shown=True),
]
Explain = Annotated[bool, flag("--explain", "Say why a session was kept or rebuilt, and what that costs.")]
Rebuild = Annotated[bool, flag("--rebuild", "Make it anew, with the summaries that were written since.")]
As = Annotated[str, option("--as", "NAME", "Of a story: what this character (or Vera = the Countess) was present for.")]
From = Annotated[str | None, option("--session -s", "ID", "Only what comes from it, or from ID@BRANCH.", shown="any")]
Yes = Annotated[bool, flag("--yes -y", "Don't ask.")]
Undone = Annotated[bool, flag("--undone", "Also what a rewind left behind.")]
SessionName = Annotated[
    str,
    argument(
        "SESSION", "Its id or the beginning of it; SESSION@BRANCH stands on another branch.", known=sessions_begun
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
    viewpoint: As = ""


class Scoped(Struct, frozen=True, kw_only=True):
    """Which project is asked: what belongs to others is not shown."""

    project: Annotated[
        str | None,
        option(
            "--project -p", "NAME", "What belongs to it, by its name or a folder of it.", shown="that of this folder"
        ),
    ] = None
    all_projects: Annotated[bool, flag("--all-projects -a", "Whatever the project.")] = False

    @property
    def name(self) -> str | None:
        """The project that is meant; None for all, and in a folder that tells of none."""
        if self.all_projects and self.project is not None:
            raise BadInput("--project names one and --all-projects asks for all; give one of them.")
        if self.project is not None:
            return project_meant(self.project)
        return None if self.all_projects else project_here(str(Path.cwd())) or None

    def seen_by(self, viewpoint: str) -> str | None:
        """The same; what a character lived through is no folder's, unless one is named."""
        return self.name if not viewpoint or self.project is not None else None

    def hint(self, memory: Memory) -> str:
        """What else can be asked, and of which projects, where nothing was found in this folder's."""
        here = None if self.project is not None else self.name
        if not here:
            return ""
        known = {each.project for each in memory.sessions()}
        known.update(name for each in memory.memories(limit=LOOKED_AT) for name in each.projects)
        others = sorted(name for name in known - {here} if name and name != GENERAL)
        if not others:
            return ""
        named = ", ".join(others[:NAMED]) + (f" and {len(others) - NAMED} others" if len(others) > NAMED else "")
        return (
            f" Only project {here} and what is marked as general were searched; there are also {named}:"
            " name one with --project, or search all with --all-projects."
        )


def project_meant(given: str) -> str:
    """The project that is meant by what was given: a name, or a folder, such as one a dot stands for."""
    return str(Path(given).resolve()) if given.startswith(".") else given


class Stored(Struct, frozen=True, kw_only=True):
    """Where the memory is."""

    db: Db = None
    space: Space = DEFAULT_SPACE


T = TypeVar("T")
BRANCH = "@"
MAIN = "main"
TRIAL = Path(":memory:")
"""Where it is tried whether something can be stored at all."""
NAMED = 5
"""Other projects that are named."""
LOOKED_AT = 100
"""So many memories are looked at for other projects."""
LISTED = 5
"""So many sessions are named where a name fits several."""


def reading(stored: Stored) -> Memory:
    """The memory in a database that is there."""
    return writing(existing(stored.db), stored.space)


def writing(path: Database, space: str, *, embedder: str | None = None, keep_secrets: bool = False) -> Memory:
    """The memory in the database at `path`, which is made when it is not there."""
    # Imported when used: a command that only reads a file starts sooner by a fifth.
    from ireneo import sync

    keep = keeps_secrets(keep_secrets)
    return sync.open(room_for(path), space=space, embedder=embedder_named(embedder), keep_secrets=keep)


def tried(path: Database, space: str, work: Callable[[Memory], T], *, keep_secrets: bool = False) -> T:
    """Do `work` on the memory at `path`; where it can't be done, no database is made for it."""
    if not is_there(path):
        with writing(TRIAL, space, keep_secrets=keep_secrets) as memory:
            work(memory)
    with writing(path, space, keep_secrets=keep_secrets) as memory:
        return work(memory)


def keeps_secrets(given: bool) -> bool:
    """Whether secrets are stored as they are: where that was asked for, or the environment says so."""
    said = os.environ.get("IRENEO_KEEP_SECRETS", "").strip().lower()
    if said in ("1", "true", "yes", "on"):
        return True
    if said not in ("", "0", "false", "no", "off"):
        raise BadInput(f"IRENEO_KEEP_SECRETS is {said!r}; set it to 1 to keep secrets, or to 0.")
    return given


def embedder_named(given: str | None) -> str | None:
    """The embedder that was named, or that of the environment; None: full text alone."""
    return given or os.environ.get("IRENEO_EMBEDDER") or None


@contextmanager
def session_in(stored: Stored, name: str) -> Iterator[Session]:
    """The session that `name` names, in a database that is there."""
    with reading(stored) as memory:
        yield session_named(memory, name)


def session_named(memory: Memory, name: str) -> Session:
    """The session whose id is `name` or alone begins with it, on the branch that may follow an ``@``."""
    ids = [info.key.session for info in memory.sessions()]
    if name in ids:
        return memory.session(name)
    wished, _, branch = name.rpartition(BRANCH) if BRANCH in name else (name, "", "")
    id = _chosen(ids, wished, memory.space)
    return memory.session(id, branch=branch, must_exist=True) if branch else memory.session(id)


def session_asked(memory: Memory, name: str | None) -> tuple[str | None, str | None]:
    """The session that is meant, and the branch; one that is not stored may still be what a memory names."""
    if name is None:
        return None, None
    try:
        named = session_named(memory, name)
    except SessionNotFound:
        if BRANCH in name:
            raise
        return name, None
    return named.id, named.branch if name != named.id and BRANCH in name else None


def title_of(session: Session) -> str:
    """What a screen calls a session."""
    return session.id if session.branch == MAIN else f"{session.id}{BRANCH}{session.branch}"


def _chosen(ids: list[str], wished: str, space: str) -> str:
    if not wished:
        raise BadInput("The name of the session is empty; `ireneo sessions` lists those there are.")
    found = [wished] if wished in ids else [id for id in ids if id.startswith(wished)]
    if not found:
        raise SessionNotFound(
            f"There is no session {wished} in space {space}; `ireneo sessions` lists those there are."
        )
    # A run of a sub-agent is called after its session: the shorter id is the one that is meant.
    shortest = min(found, key=len)
    if not all(id.startswith(shortest) for id in found):
        more = ", …" if len(found) > LISTED else ""
        raise BadInput(f"{len(found)} sessions begin with {wished}: {', '.join(sorted(found)[:LISTED])}{more}.")
    return shortest
