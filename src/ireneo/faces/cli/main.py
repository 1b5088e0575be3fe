"""The entry of the command line: the commands by name, and what their errors end with."""

from __future__ import annotations

import os
import sys
from typing import Annotated, NoReturn

import typer

import ireneo
from ireneo.errors import BadInput, IreneoError
from ireneo.faces.cli.branches import fork, rewind
from ireneo.faces.cli.compact import compact
from ireneo.faces.cli.context import context
from ireneo.faces.cli.expand import expand
from ireneo.faces.cli.imports import import_logs
from ireneo.faces.cli.sessions import formats, sessions
from ireneo.faces.cli.snapshot import snapshot

app = typer.Typer(
    name="ireneo",
    no_args_is_help=True,
    add_completion=False,
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


app.command("import")(import_logs)
for command in (sessions, context, expand, compact, snapshot, rewind, fork, formats):
    app.command()(command)


def run() -> NoReturn:
    """Run the command that the arguments name, and end the process: 0 done, 1 failed, 2 unusable input, 130 Ctrl-C."""
    try:
        app(prog_name="ireneo")
        code = 0
    except BadInput as fault:
        code = _say(fault, 2)
    except IreneoError as fault:
        code = _say(fault, 1)
    except BrokenPipeError:
        # Whoever read us has seen enough; the interpreter's own flush at exit must not fail a second time.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)


def _say(fault: IreneoError, code: int) -> int:
    sys.stderr.write(f"ireneo: {fault}\n")
    return code
