"""`ireneo work --processes`: real processes at one database that are killed, told to end, and lose their server."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest
from tests.cutting_proxy import CuttingProxy
from tests.e2e import loopback
from tests.e2e.loopback import Answer, Asked, LoopbackModel
from tests.postgres_server import MortalServer, empty_database

from ireneo import Draft, sync
from ireneo.log.message import Text

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no signal 9, and SIGTERM ends at once")

SESSIONS = ("ferry", "mill", "quarry")
PATIENCE_SECONDS = 150.0


def said(session: str, number: int) -> Draft:
    return Draft(
        role="user" if number % 2 else "assistant",
        parts=(Text(text=f"Mira carried crate {number} of the {session} down to the harbour and gave it to Tom."),),
    )


def fill(database: str, messages: int = 600) -> None:
    with sync.open(database) as memory:
        for session in SESSIONS:
            memory.session(session).append([said(session, number) for number in range(messages)])


def told(asked: Asked) -> Answer:
    """Some sentences of what was shown, after a while."""
    shown = [line.partition(": ")[2] or line for line in asked.user.splitlines() if "carried crate" in line]
    text = " ".join(shown[:: max(1, len(shown) // 8)])
    return loopback.slow(0.2, loopback.ok({"text": text, "names": [], "facts": [], "opened": [], "closed": []}))


@contextmanager
def at_work(database: str, model: LoopbackModel | None, *more: str) -> Iterator[subprocess.Popen[str]]:
    """The command, in a process of its own; nothing of it is left afterwards."""
    command = [*(sys.executable, "-m", "ireneo", "work", "--db", database, "--preset", "story", "--json"), *more]
    if model is not None:
        command += ["--model", model.name, "--base-url", model.base_url, "--no-listen"]
    environment = os.environ | {"IRENEO_API_KEY": "sk-loopback-secret", "NO_PROXY": "127.0.0.1"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        yield process
    finally:
        for each in children(process):
            each.kill()
        process.kill()
        process.communicate()


def children(process: subprocess.Popen[str]) -> list[psutil.Process]:
    """The workers that a command has begun, the oldest first."""
    with suppress(psutil.NoSuchProcess):
        found = psutil.Process(process.pid).children()
        return sorted((each for each in found if is_worker(each)), key=lambda each: each.create_time())
    return []


def is_worker(process: psutil.Process) -> bool:
    with suppress(psutil.NoSuchProcess):
        return any("spawn_main" in word for word in process.cmdline())
    return False


def wait_until(what: str, holds: Callable[[], object], *, look_seconds: float = 0.15) -> None:
    until = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        assert time.monotonic() < until, what
        time.sleep(look_seconds)


def wait_until_written(database: str, model: LoopbackModel) -> None:
    """Wait until no text is due; to look takes long, so it is done once the model is asked no more."""
    asked = -1

    def holds() -> bool:
        nonlocal asked
        before, asked = asked, len(model.asked)
        return asked == before and texts_due(database) == 0

    wait_until("all is written", holds, look_seconds=0.8)


def texts_due(database: str) -> int:
    """How many texts a model has still to write, but for those of narrow contexts; this one is never asked."""
    with sync.open(database, model="openai:tiny") as memory:
        return sum(memory.session(session).due(1_000_000, preset="story") for session in SESSIONS)


def leases(database: str) -> list[str]:
    """Who is at which work."""

    with sync.open(database) as memory:
        return [each.text for each in memory.doctor() if "lease" in each.text]


def end(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Tell a command to end, as whoever runs services does; what it said."""
    workers = children(process)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 0, err
    assert not any(each.is_running() and each.status() != psutil.STATUS_ZOMBIE for each in workers)
    return out, err


def test_several_processes_write_all_that_is_due_and_nothing_twice(tmp_path: Path) -> None:
    """At a file; those at a server are restarted and killed below, and race in `test_races.py`."""
    database = str(tmp_path / "memory.db")
    fill(database, 255)
    with (
        LoopbackModel("openai", told) as model,
        at_work(database, model, "--processes", "2", "--until-idle") as process,
    ):
        out, err = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 0, err
    done = [json.loads(line) for line in out.splitlines()]
    ids = [each["id"] for each in done if each["did"] in ("written", "repaired", "offline")]
    assert len(ids) >= len(SESSIONS)
    assert len(set(ids)) == len(ids)
    assert not [each for each in done if each["did"] in ("failed", "taken_over")]
    assert texts_due(database) == 0
    assert leases(database) == []


def test_workers_end_with_the_command_that_began_them() -> None:
    database = empty_database()
    fill(database, 5)
    with at_work(database, None, "--processes", "2") as process:
        wait_until("both have begun", lambda: len(children(process)) == 2)
        workers = children(process)
        process.kill()
        process.wait()
        wait_until("none is left", lambda: not any(map(is_worker, workers)))


def test_what_can_t_be_done_is_said_once() -> None:
    database = empty_database()
    with at_work(database, None, "--processes", "0") as process:
        _, err = process.communicate(timeout=PATIENCE_SECONDS)
    assert (process.returncode, err) == (2, "ireneo: 0 processes can't work; give at least 1.\n")
    with at_work("postgresql://nobody@127.0.0.1:1/none", None, "--processes", "2") as process:
        _, err = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 2
    assert err.count("can't be reached") == 1


def test_a_rolling_restart_and_an_outage_lose_nothing() -> None:
    """Commands are told to end and replaced, workers killed, connections cut, the server away: all is kept.

    Whoever is killed is begun again, and who is told to end gives back what they had begun.
    """
    direct = empty_database()
    chance = random.Random(3)
    fill(direct, 255)
    with LoopbackModel("openai", told) as model, CuttingProxy(direct) as proxy:
        acknowledged = list(range(255))

        def append_some() -> None:
            more = range(len(acknowledged), len(acknowledged) + 40)
            with sync.open(direct) as memory:
                for session in SESSIONS:
                    memory.session(session).append([said(session, number) for number in more])
            acknowledged.extend(more)

        with at_work(proxy.url, model, "--processes", "2", "--lease", "5") as old:
            wait_until("they have begun", lambda: len(children(old)) == 2)
            append_some()
            first = children(old)
            first[0].kill()
            append_some()
            wait_until("another has begun", lambda: len({*children(old)} - {*first}) == 1)
            with at_work(proxy.url, model, "--processes", "2", "--lease", "5") as new:
                wait_until("the next have begun", lambda: len(children(new)) == 2)
                for _ in range(5):
                    proxy.cut(chance)
                    time.sleep(0.2)
                _, said_of_old = end(old)
                assert "was killed by signal 9; another takes its place" in said_of_old
                append_some()
                proxy.is_away = True
                proxy.cut()
                time.sleep(2)
                proxy.is_away = False
                append_some()
                wait_until_written(direct, model)
                _, err = end(new)
        assert "Traceback" not in err
    # The one that was killed could give nothing back.
    assert len(leases(direct)) <= 2
    with sync.open(direct) as memory:
        for session in SESSIONS:
            expected = [said(session, number).parts[0].text for number in acknowledged]  # type: ignore[union-attr]
            assert [each.text for each in memory.session(session).messages()] == expected
        found = memory.doctor()
    assert not [each for each in found if each.kind == "fault"]


@pytest.mark.skipif("IRENEO_TEST_POSTGRES" in os.environ, reason="that server is not a test's to stop")
def test_a_server_that_crashes_and_comes_back_is_waited_for() -> None:
    server = MortalServer()
    numbers = range(300)
    done = threading.Event()

    def append() -> None:
        with sync.open(server.url) as memory:
            for number in range(len(numbers), len(numbers) + 60):
                memory.session(SESSIONS[0]).append([said(SESSIONS[0], number)])
                time.sleep(0.05)
        done.set()

    fill(server.url, len(numbers))
    # One process: several of them, and a server that is away, are those of the rolling restart.
    with LoopbackModel("openai", told) as model, at_work(server.url, model) as process:
        wait_until("somebody asks the model", lambda: model.asked)
        appending = threading.Thread(target=append)
        appending.start()
        time.sleep(0.5)
        server.crash()
        time.sleep(1.5)
        server.start()
        wait_until("all is appended", done.is_set)
        wait_until_written(server.url, model)
        _, err = end(process)
    assert "Traceback" not in err
    with sync.open(server.url) as memory:
        texts = [each.text for each in memory.session(SESSIONS[0]).messages()]
        assert texts == [said(SESSIONS[0], number).parts[0].text for number in range(len(numbers) + 60)]  # type: ignore[union-attr]
        assert not [each for each in memory.doctor() if each.kind == "fault"]
