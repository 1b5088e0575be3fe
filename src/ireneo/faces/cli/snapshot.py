"""`ireneo snapshot`: the exact payload of a context, in a dated file."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Annotated

import msgspec
import typer

import ireneo
from ireneo.errors import BadInput, IreneoError
from ireneo.faces.cli.answers import write_json
from ireneo.faces.cli.options import DEFAULT_SPACE, AsJson, Db, Preset, SessionName, Space, To
from ireneo.faces.cli.stored import reading, session_named

UNCUT = 1_000_000_000
"""A budget that no session reaches."""
Out = Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="The folder for the file.")]
Capped = Annotated[
    int | None,
    typer.Option("--budget", "-b", metavar="TOKENS", help="The most that it may cost.", show_default="no cut"),
]


def snapshot(
    session: SessionName,
    budget: Capped = None,
    to: To = None,
    preset: Preset = None,
    out: Out = Path(),
    as_json: AsJson = False,
    db: Db = None,
    space: Space = DEFAULT_SPACE,
) -> None:
    """Write the exact payload into a dated file.

    Prints its path; no file is ever overwritten.
    """

    async def work(memory: ireneo.Memory) -> tuple[str, ireneo.Context]:
        named = await session_named(memory, session)
        return named.id, await named.context(UNCUT if budget is None else budget, to=to, preset=preset)

    if not out.is_dir():
        raise BadInput(f"There is no folder {out}.")
    id, context = reading(db, space, work)
    payload: dict[str, object] = {} if context.system is None else {"system": context.system}
    payload["messages"] = context.messages
    data = msgspec.json.format(msgspec.json.encode(payload), indent=2)
    path = _written(data + b"\n", id, out)
    if as_json:
        write_json({"path": str(path), "session": id, "format": context.format, "tokens": context.tokens})
    else:
        sys.stdout.write(f"{path}\n")


def _written(data: bytes, id: str, out: Path) -> Path:
    for path in _paths(id, out):
        try:
            file = path.open("xb")
        except FileExistsError:
            continue
        except OSError as fault:
            raise IreneoError(f"{path} can't be written: {fault.strerror}.") from fault
        try:
            with file:
                file.write(data)
        except BaseException:
            # Half a payload is worse than none.
            path.unlink()
            raise
        return path
    raise AssertionError("there is always another number")


def _paths(id: str, out: Path) -> Iterator[Path]:
    # A session may be called as no file may.
    name = re.sub(r"[^\w.@-]+", "_", id).strip(".") or "session"
    base = f"{name}-{datetime.now(UTC):%Y-%m-%dT%H%M%SZ}"
    yield out / f"{base}.json"
    for number in count(2):
        yield out / f"{base}-{number}.json"
