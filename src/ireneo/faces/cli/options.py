"""What commands share: options, and how they open the database and the session that was named."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar, get_type_hints

import typer
from msgspec import NODEFAULT, Struct
from msgspec.structs import fields

from ireneo.errors import BadInput, IreneoError, SessionNotFound
from ireneo.faces.cli.output import Answer, counted, one_line, quiet_progress, write_json
from ireneo.faces.cli.place import DEFAULT_SPACE, Database, existing, exists, make_folder, place_of
from ireneo.plumbing import GENERAL, project_here

if TYPE_CHECKING:
    from ireneo.sync import Memory, Session


def as_command(function: Callable[..., Answer | None]) -> Callable[..., None]:
    """Make a Typer command of a function.

    A parameter that is a Struct becomes one option for each of its fields. A command that returns an Answer gets
    --json; if it has to know of --json earlier, it takes `as_json` itself.
    """
    hints = get_type_hints(function, include_extras=True)
    groups = {name: kind for name, kind in hints.items() if isinstance(kind, type) and issubclass(kind, Struct)}
    groups.pop("return", None)
    parameters = inspect.signature(function).parameters
    shown: list[inspect.Parameter] = []
    for name, parameter in parameters.items():
        shown += _options(groups[name]) if name in groups else [parameter.replace(annotation=hints[name])]
    if hints.get("return") is not type(None) and "as_json" not in parameters:
        shown.append(inspect.Parameter("as_json", inspect.Parameter.KEYWORD_ONLY, annotation=AsJson, default=False))

    def command(**given: object) -> None:
        as_json = given.get("as_json") if "as_json" in parameters else given.pop("as_json", False)
        for name, kind in groups.items():
            given[name] = kind(**{field.name: given.pop(field.name) for field in fields(kind)})
        with quiet_progress(bool(as_json)):
            answer = function(**given)
        if answer is None:
            return
        if as_json:
            write_json(answer.data)
        else:
            answer.show()
        if answer.fault is not None:
            raise answer.fault
        if answer.failed:
            raise typer.Exit(1)

    command.__name__ = function.__name__
    # The terminal breaks the lines at its own width.
    command.__doc__ = "\n\n".join(" ".join(part.split()) for part in (function.__doc__ or "").split("\n\n"))
    ordered = sorted(shown, key=lambda parameter: parameter.default is not inspect.Parameter.empty)
    command.__signature__ = inspect.Signature(ordered)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in ordered}
    return command


@cache
def _options(kind: type[Struct]) -> list[inspect.Parameter]:
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
    """Declare an option with a value; `shown` is what its help says of the default, `known` completes it."""
    return typer.Option(*names.split(), metavar=metavar, help=help, show_default=shown, autocompletion=known)


def tokens(names: str, help: str, *, shown: bool | str = True) -> object:
    """Declare an option that is a number of tokens: 32000, 32_000, or 32k."""
    return typer.Option(*names.split(), metavar="TOKENS", help=help, show_default=shown, parser=_number_of_tokens)


def _number_of_tokens(given: str | int) -> int:
    said = str(given).strip().casefold()
    thousands = said.endswith("k")
    try:
        return round(float(said[:-1]) * 1_000) if thousands else int(said)
    except (ValueError, OverflowError):
        raise typer.BadParameter(f"{given!r} is not a number of tokens; give one such as 32000 or 32k.") from None


def flag(names: str, help: str, *, shown: bool | str = True) -> object:
    """Declare an option without a value."""
    return typer.Option(*names.split(), help=help, show_default=shown)


def argument(
    metavar: str, help: str, *, shown: bool | str = True, known: Callable[..., object] | None = None
) -> object:
    """Declare a positional argument."""
    return typer.Argument(metavar=metavar, help=help, show_default=shown, autocompletion=known)


def sessions_begun(ctx: typer.Context, incomplete: str) -> Iterator[tuple[str, str]]:
    """Complete the id of a session."""

    def known(memory: Memory) -> Iterator[tuple[str, str]]:
        for each in memory.sessions():
            yield each.key.session, f"{counted(each.messages, 'message')}, {each.source or 'appended'}"

    return _completed(ctx, incomplete, known)


def memories_begun(ctx: typer.Context, incomplete: str) -> Iterator[tuple[str, str]]:
    """Complete the id of a memory."""

    def known(memory: Memory) -> Iterator[tuple[str, str]]:
        return ((each.id, one_line(each.text)[:60]) for each in memory.get([incomplete or "m_"]))

    return _completed(ctx, incomplete, known)


def _completed(
    ctx: typer.Context, incomplete: str, known: Callable[[Memory], Iterator[tuple[str, str]]]
) -> Iterator[tuple[str, str]]:
    from ireneo import sync

    # Pressing Tab must not print an error; the command itself will report it.
    with suppress(IreneoError):
        path = place_of(ctx.params.get("db")).path
        if exists(path):
            with sync.open(path, space=ctx.params.get("space") or DEFAULT_SPACE) as memory:
                yield from [(id, about) for id, about in known(memory) if id.startswith(incomplete)]


AUTO = "auto"
STDIN = "-"

Db = Annotated[
    str | None, option("--db", "FILE", "The database: a file, or postgresql://…", shown="what `ireneo path` says")
]
Space = Annotated[str, option("--space", "NAME", "The space: a tenant, a user, a project.", shown=True)]
Budget = Annotated[int, tokens("--budget -b", "The most that the context may cost, in tokens; 32k means 32000.")]
Preset = Annotated[
    str | None,
    option(
        "--preset",
        "NAME",
        "How sessions are cut: coding, forge or story.",
        shown="story for transcripts of a chat, else coding",
    ),
]
To = Annotated[str | None, option("--to", "FORMAT", "The chat format of the result.", shown="that of the input")]
Format = Annotated[str, option("--format -f", "FORMAT", "The log's format; `ireneo formats` lists them.", shown=True)]
FormatOfFile = Annotated[
    str, option("--format -f", "FORMAT", "Of a file: its format; `ireneo formats` lists them.", shown=True)
]
AsJson = Annotated[bool, flag("--json", "Write JSON to standard output, and nothing else.")]
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
        "Also search by meaning: local or multilingual, on this machine, or a provider's.",
        shown="$IRENEO_EMBEDDER, else words alone",
    ),
]
Prices = Annotated[
    str | None,
    option("--prices", "NAME", "The provider's prices: a context is rebuilt when that is cheapest.", shown=True),
]
Explain = Annotated[bool, flag("--explain", "Say why a context was kept or rebuilt, and what that costs.")]
Rebuild = Annotated[bool, flag("--rebuild", "Rebuild it, with the summaries written since.")]
As = Annotated[str, option("--as", "NAME", "Of a story: what this character (or Vera = the Countess) was present for.")]
From = Annotated[
    str | None, option("--session -s", "ID", "Only what comes from this session, or ID@BRANCH.", shown="any")
]
Yes = Annotated[bool, flag("--yes -y", "Don't ask for confirmation.")]
Undone = Annotated[bool, flag("--undone", "Include what a rewind left behind.")]
SessionName = Annotated[
    str,
    argument("SESSION", "Its id, its beginning or its end; SESSION@BRANCH for another branch.", known=sessions_begun),
]


class Within(Struct, frozen=True, kw_only=True):
    """The session of a file that is read, and the file's format."""

    session: SessionOf = None
    format: FormatOfFile = AUTO


class Cutting(Struct, frozen=True, kw_only=True):
    """How a stored session is cut."""

    prices: Prices = None
    explain: Explain = False
    rebuild: Rebuild = False
    viewpoint: As = ""


class Scoped(Struct, frozen=True, kw_only=True):
    """Which project to search."""

    project: Annotated[
        str | None,
        option(
            "--project -p", "NAME", "What belongs to it, by its name or a folder of it.", shown="that of this folder"
        ),
    ] = None
    all_projects: Annotated[bool, flag("--all-projects -a", "Search all projects.")] = False

    @property
    def name(self) -> str | None:
        """The project to search; None for all projects, and in a folder that belongs to none."""
        if self.all_projects and self.project is not None:
            raise BadInput("--project names one project and --all-projects means all; give one of them.")
        if self.project is not None:
            return resolve_project(self.project)
        return None if self.all_projects else project_here(str(Path.cwd())) or None

    def place(self, space: str) -> str:
        """The name of what is searched, for a sentence: a project, or the whole space."""
        return f"project {self.name}" if self.name else f"space {space}"

    def hint(self, memory: Memory, *, asked: bool = True) -> str:
        """Return a sentence on which other projects there are, for a search in one project that found nothing.

        If the project was named and nothing stored belongs to it, the sentence says so; if something was `asked` for,
        it is raised as BadInput.
        """
        here = self.name
        if not here:
            return ""
        known = {each.project for each in memory.sessions()}
        for found in (memory.memories(project=here, limit=100), memory.memories(limit=100)):
            known.update(name for each in found for name in each.projects)
        others = sorted(name for name in known - {here} if name and name != GENERAL)
        if not others:
            return ""
        named = some_of(others) + (", and what belongs to none" if asked and "" in known else "")
        verb = "is" if len(others) == 1 else "are"
        if here == self.project and here not in known:
            unknown = f"Nothing that is stored belongs to a project {here}; there {verb} {named}."
            if asked:
                raise BadInput(unknown)
            return unknown
        if not asked:
            return ""
        return (
            f" Only project {here} and general memories were searched; there {verb} also {named}:"
            " name one with --project, or search all with --all-projects."
        )


def resolve_project(given: str) -> str:
    """Return the name of a project as it is, and a folder such as `.` as an absolute path."""
    return str(Path(given).resolve()) if given.startswith(".") else given


class Stored(Struct, frozen=True, kw_only=True):
    """Which database and space to use."""

    db: Db = None
    space: Space = DEFAULT_SPACE


T = TypeVar("T")
BRANCH, MAIN = "@", "main"
TRIAL = Path(":memory:")
LISTED = 5
"""The most sessions or projects that a message names."""


def some_of(names: Sequence[str]) -> str:
    """List names, and count those beyond the first few; a single one more is named as well."""
    few = names if len(names) == LISTED + 1 else names[:LISTED]
    return ", ".join(few) + (f" and {len(names) - len(few):,} more" if len(few) < len(names) else "")


def open_existing(stored: Stored) -> Memory:
    """Open an existing database."""
    return open_memory(existing(stored.db), stored.space)


def open_memory(path: Database, space: str, *, embedder: str | None = None, keep_secrets: bool = False) -> Memory:
    """Open the database at `path`, which is created if needed."""
    # Imported late: a command that only reads a file needs no database.
    from ireneo import sync

    keep = keeps_secrets(keep_secrets)
    return sync.open(make_folder(path), space=space, embedder=embedder_named(embedder), keep_secrets=keep)


def try_work(path: Database, space: str, work: Callable[[Memory], T], *, keep_secrets: bool = False) -> T:
    """Do `work` on the memory at `path`. If that would create the database, try it in memory first."""
    if not exists(path):
        with open_memory(TRIAL, space, keep_secrets=keep_secrets) as memory:
            work(memory)
    with open_memory(path, space, keep_secrets=keep_secrets) as memory:
        return work(memory)


def keeps_secrets(given: bool) -> bool:
    """Whether to store secrets unchanged: by the option or IRENEO_KEEP_SECRETS. Raises BadInput."""
    said = os.environ.get("IRENEO_KEEP_SECRETS", "").strip().lower()
    if said in ("1", "true", "yes", "on"):
        return True
    if said not in ("", "0", "false", "no", "off"):
        raise BadInput(f"IRENEO_KEEP_SECRETS is {said!r}; set it to 1 to keep secrets, or to 0.")
    return given


def embedder_named(given: str | None) -> str | None:
    """Return the embedder's name from the option or IRENEO_EMBEDDER; None for full text alone."""
    return given or os.environ.get("IRENEO_EMBEDDER") or None


@contextmanager
def open_session(stored: Stored, name: str) -> Iterator[Session]:
    """Open a session of an existing database by its name."""
    with open_existing(stored) as memory:
        yield session_named(memory, name)


def session_named(memory: Memory, name: str) -> Session:
    """Return the session with this id, or the only one whose id begins or ends so, on the branch after an ``@``."""
    ids = [info.key.session for info in memory.sessions()]
    if name in ids:
        return memory.session(name)
    wished, _, branch = name.rpartition(BRANCH) if BRANCH in name else (name, "", "")
    id = _only_session(ids, wished, memory.space)
    return memory.session(id, branch=branch, must_exist=True) if branch else memory.session(id)


def parse_session(memory: Memory, name: str | None) -> tuple[str | None, str | None]:
    """Return the session and branch that are meant; the session need not be stored, as memories may name others."""
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
    """Return a session's name as screens show it."""
    return session.id if session.branch == MAIN else f"{session.id}{BRANCH}{session.branch}"


def _only_session(ids: list[str], wished: str, space: str) -> str:
    if not wished:
        raise BadInput("The name of the session is empty; `sessions` lists those there are.")
    if wished in ids:
        return wished
    begun, ended = ([id for id in ids if matches(id, wished)] for matches in (str.startswith, str.endswith))
    found = begun or ended
    if not found:
        raise SessionNotFound.named(wished, space)
    # A sub-agent's run has its session's id and more: the shorter id is the one that is meant.
    shortest = min(found, key=len)
    if not all(id.startswith(shortest) for id in found):
        more = ", …" if len(found) > LISTED else ""
        named = ", ".join(sorted(found)[:LISTED]) + more
        raise BadInput(
            f"{len(found)} sessions {'begin' if begun else 'end'} with {wished}: {named}; give more of its id."
        )
    return shortest
