"""The command line: its commands by section, and how the program exits."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from importlib import import_module
from io import TextIOWrapper
from typing import Annotated, NoReturn, Protocol, cast

import typer
from typer.core import TyperGroup

import ireneo
from ireneo.errors import BadInput, IreneoError
from ireneo.faces.cli.options import as_command
from ireneo.faces.cli.output import Answer
from ireneo.faces.cli.place import say_once
from ireneo.patterns import lazy_re

LOG, RULES, MEMORIES, LESSONS, SERVING, UPKEEP = (
    "The log, and contexts from it",
    "Rules and summaries",
    "Memories",
    "Lessons of runs",
    "Serving agents and clients",
    "Setting up and looking after",
)


class _Formatter(Protocol):
    """The part of click's help formatter that is used here."""

    width: int

    def section(self, name: str) -> AbstractContextManager[None]: ...

    def write_dl(self, rows: Sequence[tuple[str, str]]) -> None: ...


class Sections(TyperGroup):
    """A group that lists its commands by section even where no boxes are drawn."""

    def format_commands(self, ctx: object, formatter: object) -> None:
        """Write the commands, grouped by panel."""
        page = cast("_Formatter", formatter)
        widest = max(map(len, self.commands), default=0)
        panels: dict[str, list[tuple[str, str]]] = {}
        for name, command in self.commands.items():
            row = (name.ljust(widest), command.get_short_help_str(page.width - 6 - widest))
            panels.setdefault(getattr(command, "rich_help_panel", None) or "Commands", []).append(row)
        for panel, rows in panels.items():
            with page.section(panel):
                page.write_dl(rows)


# The usage error of the copy of click that this version of Typer uses.
_UsageError = cast("type[typer.BadParameter]", typer.BadParameter.__bases__[0])


def _version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"ireneo {ireneo.__version__}\n")
        raise typer.Exit


def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Memory for agents: it keeps all that happened, and cuts from it what the model should see."""


_COMMANDS = (
    (LOG, "import", "imports", "ireneo import ~/.claude/projects"),
    (LOG, "sessions", "sessions", "ireneo sessions"),
    (LOG, "context", "context", "ireneo context 7c1e4f52 --budget 2000"),
    (LOG, "expand", "sessions", "ireneo expand s_3uvfilj"),
    (LOG, "tree", "sessions", "ireneo tree 7c1e4f52"),
    (LOG, "compact", "context", "ireneo compact messages.json --budget 2000"),
    (LOG, "snapshot", "context", "ireneo snapshot 7c1e4f52 --budget 2000"),
    (LOG, "rewind", "sessions", "ireneo rewind 7c1e4f52 m_lsmtzy4"),
    (LOG, "fork", "sessions", "ireneo fork 7c1e4f52 another-way --at m_lsmtzy4"),
    (RULES, "pin", "sessions", "ireneo pin 7c1e4f52 'Never bump the version.'"),
    (RULES, "pins", "sessions", "ireneo pins 7c1e4f52"),
    (RULES, "release", "sessions", "ireneo release 7c1e4f52 'Never bump'"),
    (RULES, "dispute", "sessions", "ireneo dispute 7c1e4f52 s_irx4ofg 'It failed at first.'"),
    (RULES, "edit", "sessions", "ireneo edit 7c1e4f52 s_irx4ofg 'Vera left at dawn.'"),
    (RULES, "notes", "work", "ireneo notes 7c1e4f52 --take answer.txt"),
    (RULES, "summarise", "work", "ireneo summarise 7c1e4f52 --budget 2000 --model ollama:llama3"),
    (RULES, "work", "work", "ireneo work --until-idle"),
    (MEMORIES, "remember", "memories", "ireneo remember 'Anna lives in Porto.' --at 2026-03-01"),
    (MEMORIES, "recall", "memories", "ireneo recall 'Where does Anna live?'"),
    (MEMORIES, "brief", "brief", "ireneo brief --goal 'mail Anna' --about-to 'lp letter.pdf'"),
    (MEMORIES, "reflect", "brief", "ireneo reflect --force"),
    (MEMORIES, "pad", "brief", "ireneo pad letter --goal 'mail Anna' --plan 'find her address'"),
    (MEMORIES, "memories", "memories", "ireneo memories --label travel"),
    (MEMORIES, "update", "memories", "ireneo update m_2uyvezr 'Anna lives in Lisbon.'"),
    (MEMORIES, "merge", "memories", "ireneo merge m_2uyvezr m_q7hd3xa"),
    (MEMORIES, "delete", "memories", "ireneo delete m_2uyvezr --source"),
    (MEMORIES, "history", "memories", "ireneo history Anna"),
    (MEMORIES, "fading", "memories", "ireneo fading --limit 5"),
    (MEMORIES, "restore", "memories", "ireneo restore m_2uyvezr"),
    (MEMORIES, "forget", "upkeep", "ireneo forget --memory m_2uyvezr"),
    (MEMORIES, "export", "imports", "ireneo export memories"),
    (LESSONS, "learn", "lessons", "ireneo learn ~/.claude/projects"),
    (LESSONS, "lessons", "lessons", "ireneo lessons --project kestrel --export CLAUDE.md"),
    (LESSONS, "review", "review", "ireneo review --project kestrel"),
    (LESSONS, "check", "lessons", "ireneo check Bash 'make integration'"),
    (LESSONS, "report", "lessons", "ireneo report --out report.html"),
    (SERVING, "mcp", "workers", "ireneo mcp --project kestrel"),
    (SERVING, "hook", "lessons", "ireneo hook < event.json"),
    (SERVING, "proxy", "workers", "ireneo proxy --to https://api.openai.com/v1 --budget 16000"),
    (UPKEEP, "demo", "demo.steps", "ireneo demo"),
    (UPKEEP, "path", "upkeep", 'sqlite3 "$(ireneo path)" .schema'),
    (UPKEEP, "formats", "sessions", "ireneo formats"),
    (UPKEEP, "doctor", "upkeep", "ireneo doctor --repair"),
    (UPKEEP, "copy", "upkeep", "ireneo copy memory.db postgresql://localhost/memory"),
    (UPKEEP, "migrate", "upkeep", "ireneo migrate --dry-run"),
    (UPKEEP, "prune", "upkeep", "ireneo prune 7c1e4f52"),
)
_NAMES = {name for _, name, *_ in _COMMANDS} | {"thread"}
_THREAD = (
    ("list", "list_threads", "ireneo thread list 7c1e4f52 --all"),
    ("add", "add_thread", "ireneo thread add 7c1e4f52 debt 'Vera owes Tom forty crowns.' --who Vera --whom Tom"),
    ("canon", "add_canon", "ireneo thread canon 7c1e4f52 'Anselm is blind.'"),
    ("edit", "edit_thread", "ireneo thread edit 7c1e4f52 t_65gbc3v 'Vera owes Tom fifty crowns.'"),
    ("resolve", "resolve_thread", "ireneo thread resolve 7c1e4f52 t_65gbc3v 'She paid him at the mill.'"),
)


def _app(asked: str) -> typer.Typer:
    """Build the command line with only the command that is asked for, or with all if there is no such command.

    A command's module is imported here, since loading all of them takes longer than most commands do.
    """
    app = typer.Typer(
        name="ireneo",
        cls=Sections,
        rich_markup_mode="rich" if sys.stdout.isatty() else None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(main)
    wanted = {asked} if asked in _NAMES else _NAMES
    for panel, name, module, example in _COMMANDS:
        if name in wanted:
            command = _function(module, "import_logs" if name == "import" else name)
            app.command(name, rich_help_panel=panel, epilog=f"Example: {example}")(as_command(command))
    if "thread" in wanted:
        thread = typer.Typer(cls=Sections, help="Show or write what a story carries.")
        for name, function, example in _THREAD:
            thread.command(name, epilog=f"Example: {example}")(as_command(_function("sessions", function)))
        app.add_typer(thread, name="thread", rich_help_panel=RULES)
    return app


def _function(module: str, name: str) -> Callable[..., Answer | None]:
    return cast("Callable[..., Answer | None]", getattr(import_module(f"ireneo.faces.cli.{module}"), name))


def run() -> NoReturn:
    """Run the command that the arguments name, and exit with 0 (done), 1 (failed), 2 (bad input) or 130 (Ctrl-C)."""
    if isinstance(sys.stdout, TextIOWrapper):
        # If the terminal's encoding has no arrows, it shows question marks instead of a traceback.
        sys.stdout.reconfigure(errors="replace")
    say_once.cache_clear()
    given = sys.argv[1:] or ["--help"]
    try:
        code = _app(given[0])(given, prog_name="ireneo", standalone_mode=False)
        sys.stdout.flush()
    except _UsageError as fault:
        code = _say(_usage(fault, given), 2)
    except BadInput as fault:
        code = _say(str(fault), 2)
    except IreneoError as fault:
        code = _say(str(fault), 1)
    except BrokenPipeError:
        # The reader closed the pipe: flushing the rest must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    except KeyboardInterrupt:
        code = 130
    sys.exit(code if isinstance(code, int) else 0)


_BESIDE = lazy_re(r"unexpected extra arguments?(?:\(s\))? \(([\w-]+)")


def _usage(fault: typer.BadParameter, given: Sequence[str]) -> str:
    """Say what is wrong with a command line, and how to get its help."""
    said = fault.format_message().rstrip(".")
    command = fault.ctx.command_path if fault.ctx else "ireneo"
    if command == "ireneo" and given[0].startswith("-") and (named := next(filter(_NAMES.__contains__, given), "")):
        return f"{said}: options stand behind the command, as in `ireneo {named} {given[0]}`."
    # Two commands in one line: the second may be the one that was meant.
    if (beside := _BESIDE.search(said)) and beside[1] in _NAMES:
        said = f"{said}. Did you mean `ireneo {beside[1]}`?"
    return f"{said} Try `{command} --help`." if said.endswith("?") else f"{said}; try `{command} --help`."


def _say(sentence: str, code: int) -> int:
    """Print an error; where it names verbs and parameters of the library, name the commands and options instead."""
    said = re.sub(r"`(?=(?:format|to)`)", "`--", re.sub(r"`(?=[a-z]+` lists )", "`ireneo ", sentence))
    sys.stderr.write(f"ireneo: {said}\n")
    return code
