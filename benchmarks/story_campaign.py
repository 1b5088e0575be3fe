"""A whole campaign on the command line: import it, tell it, look at it; then again, killed with signal 9 in the middle.

The files are one story, in order. Both runs must end in the same summaries, and what was stored before the kill must
be kept: an import that is run again stores the rest, and `ireneo work` goes on where it was. Each command runs on a
terminal, so that its progress bar can be counted: how often it changed, and what it showed last.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

import ireneo
from ireneo.adapters.sqlite.opening import open_sqlite
from ireneo.log.tree import SessionKey
from ireneo.ports.store import Transaction
from ireneo.summaries.policy import STORY
from ireneo.summaries.summary import Summary

BESIDE = Path(__file__).resolve().parents[2] / "shared"
NAME = "campaign1"
BUDGET = 4_000
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_NUMBERS = re.compile(r"\d[\d,.]*")


class Ran(Struct, frozen=True, kw_only=True):
    """What a command did."""

    seconds: float
    memory_mb: float
    frames: int
    """How many different lines with numbers it drew: a bar that moves draws many."""
    said: str
    """The last line that it wrote."""
    killed: bool


def run(arguments: Sequence[str], *, kill_after: float | None = None) -> Ran:
    """Run `ireneo` on a terminal; with `kill_after`, kill it after so many seconds."""
    ours, theirs = pty.openpty()
    started = time.monotonic()
    command = [sys.executable, "-m", "ireneo", *arguments]
    process = subprocess.Popen(command, stdout=theirs, stderr=theirs, stdin=theirs, env={**os.environ, "TERM": "xterm"})
    os.close(theirs)
    written = b""
    while True:
        if kill_after is not None and time.monotonic() - started > kill_after:
            process.send_signal(signal.SIGKILL)
            kill_after = None
        if not select.select([ours], [], [], 0.05)[0]:
            continue
        try:
            piece = os.read(ours, 65_536)
        except OSError:
            # A terminal whose last writer is gone.
            break
        if not piece:
            break
        written += piece
    os.close(ours)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, -signal.SIGKILL):
        raise SystemExit(written.decode(errors="replace"))
    lines = [line.strip() for line in re.split(r"[\r\n]+", _CONTROL.sub("", written.decode(errors="replace")))]
    frames = {line for line in lines if _NUMBERS.search(line)}
    return Ran(
        seconds=time.monotonic() - started,
        memory_mb=usage.ru_maxrss / 1024,
        frames=len(frames),
        said=next((line for line in reversed(lines) if line), ""),
        killed=process.returncode == -signal.SIGKILL,
    )


def show(what: str, ran: Ran) -> None:
    """Print a row."""
    print(f"{what:38} {ran.seconds:>7.1f} s {ran.memory_mb:>6.0f} MB {ran.frames:>6} frames  {ran.said[:100]}")


async def stored(database: Path) -> tuple[int, list[Summary]]:
    """How many messages there are, and all canonical summaries, in order."""
    key = SessionKey("default", NAME)
    async with ireneo.open(database) as memory:
        messages = sum(info.messages for info in await memory.sessions())
    store = await open_sqlite(database)

    def look(tx: Transaction) -> list[Summary]:
        out: list[Summary] = []
        head = tx.log.head(key)
        depth = 1
        while head and (spans := tx.summaries.spans(key, head.id, STORY.summarizer, depth)):
            out += tx.summaries.get(key, [span.id for span in spans])
            depth += 1
        return out

    try:
        return messages, await store.read(look)
    finally:
        await store.close()


def campaign(database: Path, files: Sequence[str]) -> None:
    """From files to a context, without an interruption."""
    at = ["--db", str(database)]
    show("ireneo import", run(["import", *files, "--format", "chat", "--session", NAME, *at]))
    show("ireneo work --until-idle", run(["work", "--until-idle", *at]))
    show("ireneo work --until-idle, again", run(["work", "--until-idle", *at]))
    show(f"ireneo context -b {BUDGET}", run(["context", NAME, "-b", str(BUDGET), "--preset", "story", *at]))


def interrupted(database: Path, files: Sequence[str], kill_after: Sequence[float]) -> None:
    """The same, each command killed once or more."""
    at = ["--db", str(database)]
    importing = ["import", *files, "--format", "chat", "--session", NAME, *at]
    show("ireneo import, killed", run(importing, kill_after=kill_after[0]))
    print(f"{'':38} {asyncio.run(stored(database))[0]:,} messages are stored")
    show("ireneo import, again", run(importing))
    for seconds in kill_after[1:]:
        show("ireneo work --until-idle, killed", run(["work", "--until-idle", *at], kill_after=seconds))
        print(f"{'':38} {len(asyncio.run(stored(database))[1]):,} summaries are stored")
    show("ireneo work --until-idle, again", run(["work", "--until-idle", *at]))


def main() -> None:
    """Print a row a command, and whether both ways ended alike."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=BESIDE / "data" / "crd3")
    parser.add_argument("--kill-after", default="6,12,12", help="seconds, of the import and of each work")
    given = parser.parse_args()
    files = [str(path) for path in sorted(given.data.glob("campaign1_*.jsonl.xz"))]
    if not files:
        print(f"There is no campaign in {given.data}; name the folder that has it with --data.", file=sys.stderr)
        sys.exit(2)
    with tempfile.TemporaryDirectory() as temporary:
        whole, parts, only = (Path(temporary) / f"{name}.db" for name in ("whole", "parts", "only"))
        campaign(whole, files)
        interrupted(parts, files, [float(each) for each in given.kill_after.split(",")])
        one, other = (asyncio.run(stored(database)) for database in (whole, parts))
        leaves = sum(each.depth == 1 for each in one[1])
        print(f"\n{one[0]:,} messages, {len(one[1]):,} summaries, {leaves:,} of them leaves")
        print(f"the same ids after the kills: {[each.id for each in one[1]] == [each.id for each in other[1]]}")
        print(f"the same records: {one == other}")
        at = ["--db", str(only)]
        run(["import", *files, "--format", "chat", "--session", NAME, *at])
        print("\nright behind an import, without any work:")
        show(f"ireneo context -b {BUDGET}", run(["context", NAME, "-b", str(BUDGET), "--preset", "story", *at]))


if __name__ == "__main__":
    main()
