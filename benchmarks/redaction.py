"""What it costs to take secrets out of what comes in, and how often it takes something out.

    python benchmarks/redaction.py [LOG…] [--every 8] [--show]

Without logs it reads every eighth sample session of Claude Code (`../shared/data` beside the project). It prints
the user CPU of redacting every message with its record, and of importing the logs into a fresh database, each in a
process of its own, with that and without; then how many messages were changed, with `--show` each mark with what
stands before it.

Wanted: less than what the import itself costs.
"""

from __future__ import annotations

import argparse
import asyncio
import glob
import resource
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from msgspec.structs import replace

import ireneo
from ireneo.adapters.log_files import LogFile
from ireneo.adapters.redact import SecretRedactor
from ireneo.engine.resources import Cleaning
from ireneo.log.message import Draft, texts
from valid_cuts import DATA

MB = 1_000_000


def user_seconds() -> float:
    """The user CPU of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime


def drafts_of(file: str) -> Iterator[Draft]:
    """Every message of a log."""
    with LogFile(file) as log:
        for logged in ireneo.recognise(log.sample(), log.label).read(log.lines(), log.stem):
            for node in logged.nodes:
                yield node.draft


def marks_in(draft: Draft) -> Iterator[str]:
    """Each mark of a message, with what stands before it."""
    for text in texts(draft.parts):
        for piece in text.split("[REDACTED ")[1:]:
            at = text.index(f"[REDACTED {piece[:20]}")
            yield " ".join(text[max(0, at - 60) : at + 40].split())


async def imported(files: list[str], *, redacts: bool) -> float:
    """The user CPU of taking logs in."""
    before = user_seconds()
    with tempfile.TemporaryDirectory() as folder:
        async with ireneo.open(Path(folder) / "memory.db", durability="normal") as memory:
            if not redacts:
                memory._resources = replace(memory._resources, redactor=None)
            for file in files:
                with LogFile(file) as log:
                    await memory.import_log(log.lines(), ireneo.recognise(log.sample(), log.label), name=file)
    return user_seconds() - before


def in_a_process(files: list[str], *, redacts: bool) -> float:
    """The same in a process of its own, which remembers nothing of the texts."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(_imported, files, redacts).result()


def _imported(files: list[str], redacts: bool) -> float:
    return asyncio.run(imported(files, redacts=redacts))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("logs", nargs="*")
    parser.add_argument("--every", type=int, default=8)
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    files = given.logs or sorted(glob.glob(str(DATA / "claude_code_sessions" / "*.xz")))[:: given.every]
    if not files:
        sys.exit(f"No sample sessions in {DATA}; name some logs.")
    size = messages = changed = 0
    seconds = 0.0
    shown: list[str] = []
    for file in files:
        with LogFile(file) as log:
            size += sum(map(len, log.lines()))
        drafts = list(drafts_of(file))
        before = user_seconds()
        cleaned = [Cleaning(SecretRedactor).variants(draft).drafts[0] for draft in drafts]
        seconds += user_seconds() - before
        messages += len(drafts)
        new = [one for one, other in zip(cleaned, drafts, strict=True) if one.parts is not other.parts]
        changed += len(new)
        shown += [mark for draft in new for mark in marks_in(draft)]
    bare, whole = (in_a_process(files, redacts=redacts) for redacts in (False, True))
    print(f"{len(files)} logs, {size / MB:.1f} MB, {messages:,} messages")
    print(
        f"redacting   {seconds:6.2f} s  {size / MB / seconds:5.1f} MB/s  {1_000 * seconds / messages:.2f} ms a message"
    )
    print(f"importing   {bare:6.2f} s without, {whole:.2f} s with it: {whole / bare:.2f} times as much")
    print(f"changed     {changed} messages, {len(shown)} marks")
    if given.show:
        print("\n".join(f"  {mark}" for mark in shown))


if __name__ == "__main__":
    main()
