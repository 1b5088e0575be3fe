"""Ask before something is taken out for good."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from ireneo.errors import BadInput
from ireneo.faces.cli.words import printable

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Don't ask.")]


def agreed(question: str, *, what: str) -> bool:
    """Whether someone at the terminal says yes. Raises BadInput where nobody is there: `what` is taken out for good."""
    if not _is_asked():
        raise BadInput(f"It takes {what} out for good, and there is nobody to ask; add --yes if that is meant.")
    sys.stderr.write(f"  {printable(question)} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _is_asked() -> bool:
    return sys.stdin.isatty()
