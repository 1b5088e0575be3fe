"""`ireneo work` that is killed with signal 9 while it listens remembers what one does that never was; so do two."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest
from tests.e2e.test_cli_command import run

from ireneo import Draft, Text, sync

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no signal 9")
COMMAND = "import sys; from ireneo.faces.cli.main import run; sys.argv[0] = 'ireneo'; run()"
TOWNS = ("Porto", "Bergen", "Gdansk", "Tallinn", "Lugo", "Kotor", "Zadar")
MESSAGES = 128


def work(path: Path) -> subprocess.Popen[bytes]:
    arguments = ("work", "--until-idle", "--db", str(path))
    return subprocess.Popen([sys.executable, "-c", COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def hear(path: Path) -> None:
    """Listen in this process, where nobody kills it."""
    run("work", "--until-idle", db=path)


def finish(process: subprocess.Popen[bytes]) -> None:
    _, err = process.communicate(timeout=200)
    assert process.returncode == 0, err.decode()


def heard(path: Path) -> list[tuple[str, list[str]]]:
    """What is remembered, each with every message that was taken for it, as often as it was."""
    database = apsw.Connection(str(path), apsw.SQLITE_OPEN_READONLY)
    # Whoever opens a file first after a kill recovers its log, and locks out even readers for that long.
    database.set_busy_timeout(30_000)
    try:
        records = [json.loads(record) for (record,) in database.execute("SELECT record FROM memories")]
    finally:
        database.close()
    pieces = ((each["text"], [str(piece["messages"]) for piece in each["evidence"]]) for each in records)
    return sorted((text, sorted(messages)) for text, messages in pieces)


@contextmanager
def changes(path: Path) -> Iterator[Callable[[], bool]]:
    """Whether another process has written to the database since; asked again and again, it costs nearly nothing."""
    database = apsw.Connection(str(path), apsw.SQLITE_OPEN_READONLY)
    database.set_busy_timeout(30_000)

    def memories() -> object:
        return database.execute("SELECT count(*), sum(length(record)) FROM memories").fetchall()

    try:
        before = memories()
        yield lambda: memories() != before
    finally:
        database.close()


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    """A database in which a user says again and again where she lives."""
    path = tmp_path / "talk.db"
    with sync.open(path, durability="normal") as memory:
        memory.session("talk").append(
            [Draft(role="user", parts=(Text(text=f"I live in {TOWNS[at % 7]}."),)) for at in range(MESSAGES)]
        )
    return path


def test_killed_again_and_again_each_message_is_read_once(talk: Path) -> None:
    whole = shutil.copy(talk, talk.with_name("whole.db"))
    hear(whole)
    assert sum(len(messages) for _, messages in heard(whole)) == MESSAGES
    chance = random.Random(5)
    for _ in range(3):
        process = work(talk)
        try:
            deadline = time.monotonic() + 150
            with changes(talk) as has_changed:
                while process.poll() is None and not has_changed() and time.monotonic() < deadline:
                    time.sleep(0.005)
            time.sleep(chance.random() * 0.05)
        finally:
            process.kill()
            process.communicate()
    assert heard(talk) != heard(whole)
    hear(talk)
    assert heard(talk) == heard(whole)


def test_two_that_listen_at_once_hear_what_one_does(talk: Path) -> None:
    for process in [work(talk) for _ in range(2)]:
        finish(process)
    assert sum(len(messages) for _, messages in heard(talk)) == MESSAGES
