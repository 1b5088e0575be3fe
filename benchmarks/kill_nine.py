"""Kill processes that append, at random moments, and look for what was lost.

    python benchmarks/kill_nine.py [--rounds 25] [--durability full] [--json]

In each round four processes append to one SQLite file, two of them to the same session. Each writes down the id of a
message once the commit of its append has returned, and is killed with signal 9 at a random moment: one while it still
opens the file, the others after so many messages and a moment more. Then the file is opened again: whatever was written
down must be there, on its session's path; SQLite must find the file sound; and an append must go on.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import apsw
from msgspec import Struct, to_builtins

from ireneo.adapters.sqlite.opening import Durability, open_sqlite
from ireneo.adapters.sqlite.store import SqliteStore
from ireneo.log.message import Draft, Message, Native, Part, Text, chain
from ireneo.log.tree import MAIN, SessionKey
from ireneo.ports.store import Transaction

SESSIONS = ("shared", "shared", "own 1", "own 2")
"""Whom each of the four processes appends to."""

MOST_ACKNOWLEDGED = 120
"""So many messages at most are waited for before a process is killed."""
OPENS_SECONDS = 0.4
"""About as long as a process takes to start and to open the file."""
PATIENCE_SECONDS = 60.0


class Round(Struct, frozen=True, kw_only=True):
    """What a round left behind."""

    number: int
    acknowledged: int
    """Messages written down in this round."""
    unacknowledged: int
    """Messages stored in it whose process was killed before it could write them down."""
    lost: int
    """Of all that was ever written down, what is not there."""
    integrity: str
    goes_on: bool


def count(parts: Sequence[Part]) -> tuple[int, int]:
    """Count a token a letter; it makes no difference here."""
    return sum(len(part.text) for part in parts if isinstance(part, Text)), 0


async def append(store: SqliteStore, key: SessionKey, text: str) -> Message:
    """Append one message as the engine does: head, insert and move in one transaction."""
    draft = Draft(role="user", parts=(Text(text=text),), native=Native(format="chat", payload={"content": text}))

    def change(tx: Transaction) -> Message:
        tx.sessions.create(key, None)
        (message,) = chain(tx.log.head(key), [draft], count)
        tx.log.insert(key, [message])
        tx.log.move(key, MAIN, message.id)
        return message

    return await store.write(change)


async def append_until_killed(database: Path, session: str, ledger: Path, durability: Durability) -> None:
    """Append, and write down each message once it is committed, for ever."""
    store = await open_sqlite(database, durability=durability)
    key = SessionKey("kill", session)
    out = os.open(ledger, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    number = 0
    while True:
        number += 1
        message = await append(store, key, f"{session} {os.getpid()} {number} " + "words " * random.randint(1, 400))
        os.write(out, f"{session}\t{message.id}\n".encode())


def start(database: Path, session: str, ledger: Path, durability: Durability) -> subprocess.Popen[bytes]:
    """Start one process that appends."""
    command = ["worker", "--database", str(database), "--session", session, "--ledger", str(ledger)]
    return subprocess.Popen([sys.executable, __file__, *command, "--durability", durability])


def kill_at_random(workers: Sequence[subprocess.Popen[bytes]], ledgers: Sequence[Path]) -> None:
    """Kill each worker at a moment of its own: one at once or soon, the others once they have written some down."""
    began = time.monotonic()
    opening = random.randrange(len(workers))
    wanted = [random.randint(1, MOST_ACKNOWLEDGED) for _ in workers]
    alive = set(range(len(workers)))
    soon = random.uniform(0, OPENS_SECONDS)
    while alive:
        waited = time.monotonic() - began
        for place in sorted(alive):
            ripe = waited >= soon if place == opening else lines_in(ledgers[place]) >= wanted[place]
            if ripe or waited > PATIENCE_SECONDS:
                # Anywhere in what it does next, and not always right after it has written.
                time.sleep(random.uniform(0, 0.01))
                workers[place].kill()
                alive.remove(place)
        time.sleep(0.001)
    for worker in workers:
        worker.wait()


def lines_in(ledger: Path) -> int:
    """How many messages a worker has written down so far."""
    return ledger.read_bytes().count(b"\n") if ledger.exists() else 0


def read_ledgers(folder: Path) -> set[tuple[str, str]]:
    """Read what was written down: session and id; a line that the kill cut short was not."""
    lines = [line for file in folder.glob("*.acks") for line in file.read_text().splitlines(keepends=True)]
    return {(session, name.strip()) for session, name in (line.split("\t") for line in lines if line.endswith("\n"))}


async def read_stored(store: SqliteStore) -> set[tuple[str, str]]:
    """Read what stands on the path of each session."""

    def look(tx: Transaction) -> set[tuple[str, str]]:
        stored: set[tuple[str, str]] = set()
        for info in tx.sessions.list("kill"):
            head = tx.log.head(info.key)
            path = [] if head is None else tx.log.path(info.key, head.id, 0, head.position)
            if len(path) != info.messages or [message.position for message in path] != list(range(len(path))):
                raise SystemExit(f"the path of {info.key.session} is not whole")
            stored |= {(info.key.session, message.id) for message in path}
        return stored

    return await store.read(look)


def check_integrity(database: Path) -> str:
    """What SQLite says of the file."""
    connection = apsw.Connection(str(database))
    try:
        return "; ".join(str(row[0]) for row in connection.execute("PRAGMA integrity_check"))
    finally:
        connection.close()


async def play(number: int, folder: Path, durability: Durability, before: set[tuple[str, str]]) -> Round:
    """One round: start, kill, open again and look."""
    database = folder / "store.db"
    written_down = read_ledgers(folder)
    ledgers = [folder / f"{number}-{place}.acks" for place in range(len(SESSIONS))]
    workers = [start(database, session, ledgers[place], durability) for place, session in enumerate(SESSIONS)]
    kill_at_random(workers, ledgers)
    acknowledged = read_ledgers(folder)
    # As it was left, with the WAL of those that were killed.
    integrity = check_integrity(database)
    store = await open_sqlite(database, durability=durability)
    try:
        stored = await read_stored(store)
        message = await append(store, SessionKey("kill", "shared"), f"after round {number}")
        goes_on = ("shared", message.id) in await read_stored(store)
    finally:
        await store.close()
    new = len(acknowledged) - len(written_down)
    unacknowledged = len(stored - before) - new
    before |= stored | {("shared", message.id)}
    return Round(
        number=number,
        acknowledged=new,
        unacknowledged=unacknowledged,
        lost=len(acknowledged - stored),
        integrity=integrity,
        goes_on=goes_on,
    )


def show(played: Sequence[Round]) -> str:
    """The rounds as a table, with their sums below."""
    rows: list[tuple[str, ...]] = [("round", "acknowledged", "unacknowledged", "lost", "integrity_check", "goes on")]
    for each in played:
        goes_on = "yes" if each.goes_on else "NO"
        counts = (each.number, each.acknowledged, each.unacknowledged, each.lost)
        rows.append((*map(str, counts), each.integrity, goes_on))
    sums = (sum(column) for column in zip(*((e.acknowledged, e.unacknowledged, e.lost) for e in played), strict=True))
    rows.append(("all", *map(str, sums), "", ""))
    return "\n".join("  ".join(f"{cell:>14}" for cell in row) for row in rows)


def run(rounds: int, durability: Durability, *, as_json: bool) -> bool:
    """Play the rounds and print them; says whether nothing was lost."""
    with tempfile.TemporaryDirectory() as folder:
        before: set[tuple[str, str]] = set()
        played = [asyncio.run(play(number + 1, Path(folder), durability, before)) for number in range(rounds)]
    if as_json:
        print(json.dumps(to_builtins(played)))
    else:
        print(show(played))
    return all(each.lost == 0 and each.integrity == "ok" and each.goes_on for each in played)


def main() -> None:
    parser = argparse.ArgumentParser(description="Kill processes that append, and look for what was lost.")
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--durability", choices=["full", "normal"], default="full")
    parser.add_argument("--json", action="store_true")
    commands = parser.add_subparsers(dest="command")
    worker = commands.add_parser("worker", help="one of the processes that are killed")
    worker.add_argument("--database", type=Path, required=True)
    worker.add_argument("--session", required=True)
    worker.add_argument("--ledger", type=Path, required=True)
    worker.add_argument("--durability", choices=["full", "normal"], default="full")
    given = parser.parse_args()
    if given.command == "worker":
        asyncio.run(append_until_killed(given.database, given.session, given.ledger, given.durability))
    elif not run(given.rounds, given.durability, as_json=given.json):
        raise SystemExit("something was lost")


if __name__ == "__main__":
    main()
