"""The entry of the command line: the commands by name and section, and what their errors end with."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, NoReturn, Protocol, cast

import typer
from typer.core import TyperGroup

import ireneo
from ireneo.errors import BadInput, IreneoError, MissingExtra
from ireneo.faces.cli.brief import brief, pad, reflect
from ireneo.faces.cli.context import compact, context, snapshot
from ireneo.faces.cli.demo import demo
from ireneo.faces.cli.editing import delete, memories, merge, update
from ireneo.faces.cli.files import log_on_stderr
from ireneo.faces.cli.imports import export, import_logs
from ireneo.faces.cli.lessons import check, hook, learn, lessons, report
from ireneo.faces.cli.memories import fading, history, recall, remember, restore
from ireneo.faces.cli.notes import notes
from ireneo.faces.cli.options import As, From, Stored, embedder_named, grouped, keeps_secrets, option
from ireneo.faces.cli.place import database, room_for, say_once
from ireneo.faces.cli.proxy import proxy
from ireneo.faces.cli.review import review
from ireneo.faces.cli.sessions import dispute, expand, fork, formats, pin, pins, release, rewind, sessions, tree
from ireneo.faces.cli.threads import add, canon, edit, edit_, list_, resolve
from ireneo.faces.cli.upkeep import copy, doctor, forget, migrate, path, prune
from ireneo.faces.cli.work import summarise, work

LOG, RULES, MEMORIES, LESSONS, UPKEEP = (
    "The log, and contexts from it",
    "Rules and summaries",
    "Memories",
    "Lessons of runs",
    "Setting up and looking after",
)


class _Formatter(Protocol):
    """As much as is used of what writes a plain page of help."""

    width: int

    def section(self, name: str) -> AbstractContextManager[None]: ...

    def write_dl(self, rows: Sequence[tuple[str, str]]) -> None: ...


class Sections(TyperGroup):
    """The commands by what they are about, also where no boxes are drawn."""

    def format_commands(self, ctx: object, formatter: object) -> None:
        """List the commands, those of one panel together."""
        page = cast("_Formatter", formatter)
        widest = max(map(len, self.commands), default=0)
        panels: dict[str, list[tuple[str, str]]] = {}
        for name, command in self.commands.items():
            told = command.get_short_help_str(page.width - 6 - widest)
            panels.setdefault(getattr(command, "rich_help_panel", None) or "Commands", []).append(
                (name.ljust(widest), told)
            )
        for panel, rows in panels.items():
            with page.section(panel):
                page.write_dl(rows)


Project = Annotated[str, option("--project -p", "NAME", "Where the agent works.", shown="this directory's")]
OF_THE_EXTRA = ("mcp", "pydantic")


def mcp(project: Project = "", viewpoint: As = "", session: From = None, *, stored: Stored) -> None:
    """Serve the memory to an agent over MCP.

    On standard input and output, with fifteen tools: brief, recall, remember, memories, update, merge, delete, check,
    expand, scratchpad, dispute, threads, write_thread, notes_request, take_notes. For who plays in a story, with --as
    or --session, there are brief, recall and expand. It needs the extra `mcp`.
    """
    try:
        from ireneo.faces.mcp import make_server, place_in
    except ImportError as fault:
        if (fault.name or "").partition(".")[0] not in OF_THE_EXTRA:
            raise
        raise MissingExtra("The MCP server needs the official SDK; pip install 'ireneo[mcp]'.") from None

    # Imported when used: the other commands wait for no event loop here.
    import asyncio

    async def serve() -> None:
        async with ireneo.open(
            room_for(database(stored.db)),
            space=stored.space,
            embedder=embedder_named(None),
            keep_secrets=keeps_secrets(False),
        ) as memory:
            place = await place_in(memory, viewpoint, session)
            await make_server(memory, project=project or str(Path.cwd()), place=place).run_stdio_async()

    with log_on_stderr():
        asyncio.run(serve())


# Newer versions of Typer bring a click of their own: this is the error of a wrong command line in all of them.
_UsageError = cast("type[typer.BadParameter]", typer.BadParameter.__bases__[0])


def _version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"ireneo {ireneo.__version__}\n")
        raise typer.Exit


def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which version this is.")
    ] = False,
) -> None:
    """Memory for agents: it keeps all that happened, and cuts from it what the model should see."""


_COMMANDS = (
    (LOG, "import", import_logs, "ireneo import ~/.claude/projects"),
    (LOG, "sessions", sessions, "ireneo sessions"),
    (LOG, "context", context, "ireneo context 7c1e4f52 --budget 2000"),
    (LOG, "expand", expand, "ireneo expand s_3uvfilj"),
    (LOG, "tree", tree, "ireneo tree 7c1e4f52"),
    (LOG, "compact", compact, "ireneo compact messages.json --budget 2000"),
    (LOG, "snapshot", snapshot, "ireneo snapshot 7c1e4f52 --budget 2000"),
    (LOG, "rewind", rewind, "ireneo rewind 7c1e4f52 m_lsmtzy4"),
    (LOG, "fork", fork, "ireneo fork 7c1e4f52 another-way --at m_lsmtzy4"),
    (LOG, "proxy", proxy, "ireneo proxy --to https://api.openai.com/v1 --budget 16000"),
    (RULES, "pin", pin, "ireneo pin 7c1e4f52 'Never bump the version.'"),
    (RULES, "pins", pins, "ireneo pins 7c1e4f52"),
    (RULES, "release", release, "ireneo release 7c1e4f52 'Never bump'"),
    (RULES, "dispute", dispute, "ireneo dispute 7c1e4f52 s_irx4ofg 'It failed at first.'"),
    (RULES, "edit", edit, "ireneo edit 7c1e4f52 s_irx4ofg 'Vera left at dawn.'"),
    (RULES, "notes", notes, "ireneo notes 7c1e4f52 --take answer.txt"),
    (RULES, "summarise", summarise, "ireneo summarise 7c1e4f52 --budget 2000 --model ollama:llama3"),
    (RULES, "work", work, "ireneo work --until-idle"),
    (MEMORIES, "remember", remember, "ireneo remember 'Anna lives in Porto.' --at 2026-03-01"),
    (MEMORIES, "recall", recall, "ireneo recall 'Where does Anna live?'"),
    (MEMORIES, "brief", brief, "ireneo brief --goal 'mail Anna' --about-to 'lp letter.pdf'"),
    (MEMORIES, "reflect", reflect, "ireneo reflect --force"),
    (MEMORIES, "pad", pad, "ireneo pad letter --goal 'mail Anna' --plan 'find her address'"),
    (MEMORIES, "memories", memories, "ireneo memories --label travel"),
    (MEMORIES, "update", update, "ireneo update m_2uyvezr 'Anna lives in Lisbon.'"),
    (MEMORIES, "merge", merge, "ireneo merge m_2uyvezr m_q7hd3xa"),
    (MEMORIES, "delete", delete, "ireneo delete m_2uyvezr --source"),
    (MEMORIES, "history", history, "ireneo history Anna"),
    (MEMORIES, "fading", fading, "ireneo fading --limit 5"),
    (MEMORIES, "restore", restore, "ireneo restore m_2uyvezr"),
    (MEMORIES, "forget", forget, "ireneo forget --memory m_2uyvezr"),
    (MEMORIES, "export", export, "ireneo export memories"),
    (LESSONS, "learn", learn, "ireneo learn ~/.claude/projects"),
    (LESSONS, "lessons", lessons, "ireneo lessons --project kestrel --export CLAUDE.md"),
    (LESSONS, "review", review, "ireneo review --project kestrel"),
    (LESSONS, "check", check, "ireneo check Bash 'make integration'"),
    (LESSONS, "hook", hook, "ireneo hook < event.json"),
    (LESSONS, "report", report, "ireneo report --out report.html"),
    (LESSONS, "mcp", mcp, "ireneo mcp --project kestrel"),
    (UPKEEP, "demo", demo, "ireneo demo"),
    (UPKEEP, "path", path, 'sqlite3 "$(ireneo path)" .schema'),
    (UPKEEP, "formats", formats, "ireneo formats"),
    (UPKEEP, "doctor", doctor, "ireneo doctor --repair"),
    (UPKEEP, "copy", copy, "ireneo copy memory.db postgresql://localhost/memory"),
    (UPKEEP, "migrate", migrate, "ireneo migrate --dry-run"),
    (UPKEEP, "prune", prune, "ireneo prune 7c1e4f52"),
)
_THREAD = (
    ("list", list_, "ireneo thread list 7c1e4f52 --all"),
    ("add", add, "ireneo thread add 7c1e4f52 debt 'Vera owes Tom forty crowns.' --who Vera --whom Tom"),
    ("canon", canon, "ireneo thread canon 7c1e4f52 'Anselm is blind.'"),
    ("edit", edit_, "ireneo thread edit 7c1e4f52 t_65gbc3v 'Vera owes Tom fifty crowns.'"),
    ("resolve", resolve, "ireneo thread resolve 7c1e4f52 t_65gbc3v 'She paid him at the mill.'"),
)


def _app(asked: str) -> typer.Typer:
    """The command line, with the one command that is asked; with all, where that is none of them.

    To make the options of all commands takes longer than most commands do, and a line names one.
    """
    app = typer.Typer(
        name="ireneo",
        cls=Sections,
        # Boxes are for terminals.
        rich_markup_mode="rich" if sys.stdout.isatty() else None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(main)
    known = {name for _, name, *_ in _COMMANDS} | {"thread"}
    wanted = {asked} if asked in known else known
    for panel, name, command, example in _COMMANDS:
        if name in wanted:
            app.command(name, rich_help_panel=panel, epilog=f"Example: {example}")(grouped(command))
    if "thread" in wanted:
        thread = typer.Typer(cls=Sections, help="Show or write what a story carries.")
        for verb, does, example in _THREAD:
            thread.command(verb, epilog=f"Example: {example}")(grouped(does))
        app.add_typer(thread, name="thread", rich_help_panel=RULES)
    return app


def run() -> NoReturn:
    """Run the command that the arguments name, and end the process: 0 done, 1 failed, 2 unusable input, 130 Ctrl-C."""
    if isinstance(sys.stdout, TextIOWrapper):
        # A terminal that knows no arrows gets question marks, not a traceback.
        sys.stdout.reconfigure(errors="replace")
    say_once.cache_clear()
    try:
        given = sys.argv[1:] or ["--help"]
        code = _app(given[0])(given, prog_name="ireneo", standalone_mode=False)
        sys.stdout.flush()
    except _UsageError as fault:
        code = _say(_usage(fault), 2)
    except BadInput as fault:
        code = _say(str(fault), 2)
    except IreneoError as fault:
        code = _say(str(fault), 1)
    except BrokenPipeError:
        # Whoever read us has seen enough; what is left to flush must not fail a second time.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    except KeyboardInterrupt:
        code = 130
    sys.exit(code if isinstance(code, int) else 0)


def _usage(fault: typer.BadParameter) -> str:
    """What is wrong with a command line, and whose help says what is right."""
    said = fault.format_message().rstrip(".")
    command = fault.ctx.command_path if fault.ctx else "ireneo"
    return f"{said} Try `{command} --help`." if said.endswith("?") else f"{said}; try `{command} --help`."


def _say(sentence: str, code: int) -> int:
    sys.stderr.write(f"ireneo: {sentence}\n")
    return code
