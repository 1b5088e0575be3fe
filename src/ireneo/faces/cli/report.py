"""`ireneo report`: what runs taught, as one page for a browser."""

from __future__ import annotations

import sys
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

import ireneo
from ireneo.errors import BadInput
from ireneo.faces.cli.answers import write_json
from ireneo.faces.cli.options import STDIN, AsJson, Stored
from ireneo.faces.cli.stored import reading
from ireneo.faces.cli.words import counted

Out = Annotated[
    Path, typer.Option("--out", "-o", metavar="FILE", help="The file that is written; - for standard output.")
]


def report(out: Out = Path("report.html"), as_json: AsJson = False, *, stored: Stored) -> None:
    """Draw what runs taught as one HTML page.

    The runs, what is kept of them, the lessons with their evidence, and the dead ends that came back. The page needs
    no network.
    """
    if as_json and str(out) == STDIN:
        raise BadInput("With --json the page needs a file of its own; name one with --out.")

    async def gathered(memory: ireneo.Memory) -> tuple[str, int]:
        from ireneo.faces.report.page import Material, page

        material = Material(
            space=memory.space,
            made=datetime.now().astimezone(),
            # A session without a call, a story for one, is no run: nothing was tried in it.
            runs=[run for run in await memory.runs() if run.calls],
            lessons=await memory.lessons(),
            claims=await memory.claims(least_runs=2),
            calibration=await memory.calibration(),
        )
        return page(material), len(material.runs)

    text, runs = reading(stored.db, stored.space, gathered)
    if str(out) == STDIN:
        sys.stdout.write(text)
        return
    try:
        out.write_text(text, "utf-8")
    except OSError as fault:
        raise BadInput(f"{out} can't be written: {fault.strerror}.") from fault
    if as_json:
        write_json({"path": str(out), "runs": runs})
        return
    if not runs:
        sys.stdout.write(f"{out}: no run yet; `ireneo learn` takes them in.\n")
        return
    sys.stdout.write(f"{out}: {counted(runs, 'run')}; open it in a browser.\n")
