"""How many files of the package each walk enters: a call of a function that is defined there counts it.

    python benchmarks/files_entered.py [--files]

The fewer there are, the shorter is the way of someone who reads what a verb does. Wanted: at most 15 for an append of
one message, 30 for a rebuilt context, 45 for `ireneo context FILE`. With `--files` they are named, and what is called.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import json
import os
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from inspect import CO_NEWLOCALS
from pathlib import Path
from types import FrameType

import ireneo
from event_loop import work

PACKAGE = Path(ireneo.__file__).parent
WANTED = {"an append": 15, "a rebuilt context": 30, "ireneo context FILE": 45}
Entered = dict[str, set[str]]


@contextmanager
def watched(entered: Entered) -> Iterator[None]:
    """Note which functions of which files are called, in this thread and in those that are started meanwhile."""

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        # The body of a module or of a class runs when it is imported, which is no step of the walk.
        if event == "call" and code.co_flags & CO_NEWLOCALS and code.co_filename.startswith(str(PACKAGE)):
            entered.setdefault(code.co_filename[len(str(PACKAGE)) + 1 :], set()).add(code.co_name)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]


async def walks(folder: Path) -> dict[str, Entered]:
    """An append, and a context that is rebuilt; the threads of the store are watched from their beginning."""
    everything: Entered = {}
    told: dict[str, Entered] = {}

    async def walk(name: str, doing: object) -> None:
        everything.clear()
        await doing  # type: ignore[misc]
        told[name] = {file: set(names) for file, names in everything.items()}

    with watched(everything):
        async with ireneo.open(folder / "memory.db") as memory:
            session = await memory.session("made-up")
            await session.append(work(60))
            await walk("an append", session.append([{"role": "user", "content": "And one more."}]))
            await session.context(3_000)
            await session.append(work(40, 60))
            await walk("a rebuilt context", session.context(3_000))
    return told


def of_the_command(folder: Path) -> Entered:
    """`ireneo context FILE`."""
    from ireneo.faces import entry

    log = folder / "log.jsonl"
    log.write_text("".join(f"{json.dumps(each)}\n" for each in work(100)), encoding="utf-8")
    os.environ["IRENEO_DB"] = str(folder / "command.db")
    sys.argv = ["ireneo", "context", str(log), "--budget", "3000"]
    entered: Entered = {}
    with redirect_stdout(io.StringIO()), watched(entered):
        try:
            entry.run()
        except SystemExit as end:
            if end.code:
                raise
    return entered


def main() -> None:
    """Count, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", action="store_true")
    named = parser.parse_args().files
    with tempfile.TemporaryDirectory() as folder:
        told = {**asyncio.run(walks(Path(folder))), "ireneo context FILE": of_the_command(Path(folder))}
    for name, entered in told.items():
        print(f"{name:22}{len(entered):5} files, wanted {WANTED[name]}")
        for file, names in sorted(entered.items()) if named else ():
            print(f"    {file:40}{' '.join(sorted(names))}")


if __name__ == "__main__":
    main()
