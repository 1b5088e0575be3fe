"""The entry of the command line: the commands by name, and what their errors end with."""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper
from typing import Annotated, NoReturn, cast

import typer

import ireneo
from ireneo.errors import BadInput, IreneoError
from ireneo.faces.cli.branches import fork, rewind
from ireneo.faces.cli.brief import brief, reflect
from ireneo.faces.cli.check import check
from ireneo.faces.cli.compact import compact
from ireneo.faces.cli.context import context
from ireneo.faces.cli.demo import demo
from ireneo.faces.cli.doctor import doctor
from ireneo.faces.cli.exchange import export
from ireneo.faces.cli.expand import expand
from ireneo.faces.cli.fading import fading, restore
from ireneo.faces.cli.forget import forget
from ireneo.faces.cli.groups import grouped
from ireneo.faces.cli.history import history
from ireneo.faces.cli.imports import import_logs
from ireneo.faces.cli.learn import learn
from ireneo.faces.cli.lessons import lessons
from ireneo.faces.cli.mcp import mcp
from ireneo.faces.cli.pad import pad
from ireneo.faces.cli.path import path
from ireneo.faces.cli.pins import dispute, pin, pins, release
from ireneo.faces.cli.place import forget_notes
from ireneo.faces.cli.prune import prune
from ireneo.faces.cli.recall import recall
from ireneo.faces.cli.remember import remember
from ireneo.faces.cli.report import report
from ireneo.faces.cli.sections import LESSONS, LOG, MEMORIES, RULES, UPKEEP, Sections
from ireneo.faces.cli.sessions import formats, sessions
from ireneo.faces.cli.snapshot import snapshot
from ireneo.faces.cli.summarise import summarise
from ireneo.faces.cli.tree import tree
from ireneo.faces.cli.work import work

# Newer versions of Typer bring a click of their own: this is the error of a wrong command line in all of them.
_UsageError = cast("type[typer.BadParameter]", typer.BadParameter.__bases__[0])

app = typer.Typer(
    name="ireneo",
    cls=Sections,
    # Boxes are for terminals.
    rich_markup_mode="rich" if sys.stdout.isatty() else None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"ireneo {ireneo.__version__}\n")
        raise typer.Exit


@app.callback()
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
    (RULES, "pin", pin, "ireneo pin 7c1e4f52 'Never bump the version.'"),
    (RULES, "pins", pins, "ireneo pins 7c1e4f52"),
    (RULES, "release", release, "ireneo release 7c1e4f52 'Never bump'"),
    (RULES, "dispute", dispute, "ireneo dispute 7c1e4f52 s_irx4ofg 'It failed at first.'"),
    (RULES, "summarise", summarise, "ireneo summarise 7c1e4f52 --budget 2000 --model ollama:llama3"),
    (RULES, "work", work, "ireneo work --until-idle"),
    (MEMORIES, "remember", remember, "ireneo remember 'Anna lives in Porto.' --at 2026-03-01"),
    (MEMORIES, "recall", recall, "ireneo recall 'Where does Anna live?'"),
    (MEMORIES, "brief", brief, "ireneo brief --goal 'mail Anna' --about-to 'lp letter.pdf'"),
    (MEMORIES, "reflect", reflect, "ireneo reflect --force"),
    (MEMORIES, "pad", pad, "ireneo pad letter --goal 'mail Anna' --plan 'find her address'"),
    (MEMORIES, "history", history, "ireneo history Anna"),
    (MEMORIES, "fading", fading, "ireneo fading --limit 5"),
    (MEMORIES, "restore", restore, "ireneo restore m_2uyvezr"),
    (MEMORIES, "forget", forget, "ireneo forget --memory m_2uyvezr"),
    (MEMORIES, "export", export, "ireneo export memories"),
    (LESSONS, "learn", learn, "ireneo learn ~/.claude/projects"),
    (LESSONS, "lessons", lessons, "ireneo lessons --project kestrel --export CLAUDE.md"),
    (LESSONS, "check", check, "ireneo check Bash 'make integration'"),
    (LESSONS, "report", report, "ireneo report --out report.html"),
    (LESSONS, "mcp", mcp, "ireneo mcp --project kestrel"),
    (UPKEEP, "demo", demo, "ireneo demo"),
    (UPKEEP, "path", path, 'sqlite3 "$(ireneo path)" .schema'),
    (UPKEEP, "formats", formats, "ireneo formats"),
    (UPKEEP, "doctor", doctor, "ireneo doctor --mend"),
    (UPKEEP, "prune", prune, "ireneo prune 7c1e4f52"),
)
for _panel, _name, _command, _example in _COMMANDS:
    app.command(_name, rich_help_panel=_panel, epilog=f"Example: {_example}")(grouped(_command))


def run() -> NoReturn:
    """Run the command that the arguments name, and end the process: 0 done, 1 failed, 2 unusable input, 130 Ctrl-C."""
    _never_fail_to_print()
    forget_notes()
    try:
        code = app(sys.argv[1:] or ["--help"], prog_name="ireneo", standalone_mode=False)
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


def _never_fail_to_print() -> None:
    # A terminal that knows no arrows gets question marks, not a traceback.
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


def _say(sentence: str, code: int) -> int:
    sys.stderr.write(f"ireneo: {sentence}\n")
    return code
