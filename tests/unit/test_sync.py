"""`ireneo.sync`: the verbs without await, in a script, beside a running loop, in a web view and in many threads."""

from __future__ import annotations

import asyncio
import gc
import inspect
import os
import subprocess
import sys
import textwrap
import threading
import time
import traceback
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import flask
import pytest

import ireneo
import ireneo.sync
from ireneo.errors import BadInput, BudgetTooSmall, StoreError

LOG = (Path(ireneo.__file__).parent / "faces/cli/demo/kestrel-drift.jsonl").read_bytes().splitlines(keepends=True)


def public(of: object) -> dict[str, object]:
    return {name: getattr(of, name) for name in dir(of) if not name.startswith("_")}


def test_the_verbs_and_their_signatures_are_the_same() -> None:
    async def with_await() -> Sequence[object]:
        async with ireneo.open(":memory:") as memory:
            return memory, await memory.session("monday"), memory.scratchpad("monday")

    with ireneo.sync.open(":memory:") as memory:
        twins = memory, memory.session("monday"), memory.scratchpad("monday")
        for of, twin in zip(asyncio.run(with_await()), twins, strict=True):
            ours, theirs = public(twin), public(of)
            assert sorted(ours) == sorted(theirs)
            for name, verb in theirs.items():
                mine = ours[name]
                if callable(verb):
                    assert callable(mine)
                    assert inspect.signature(mine) == inspect.signature(verb), name
                    assert not inspect.iscoroutinefunction(mine), name
                    assert inspect.getdoc(mine), name
                else:
                    assert mine == verb, name


def test_open_takes_the_same_settings() -> None:
    assert inspect.signature(ireneo.sync.open).parameters == inspect.signature(ireneo.open).parameters


def test_in_a_script_nothing_is_awaited(tmp_path: Path) -> None:
    with ireneo.sync.open(tmp_path / "memory.db") as memory:
        session = memory.session("monday")
        assert session.append("Never touch the migrations.").new == 1
        assert session.context(1_000, to="openai").messages[0]["content"] == "Never touch the migrations."
        other = session.fork("another-way")
        other.append("Then a view.")
        assert sorted(session.branches()) == ["another-way", "main"]
        assert (session.id, session.branch, other.branch, memory.space) == ("monday", "main", "another-way", "default")
        memory.scratchpad("monday").write(goal="ship it")
        assert [pad.goal for pad in memory.pads()] == ["ship it"]
        expand, _ = session.tools()
        assert "migrations" in expand(session.messages()[0].id)
        assert memory.remember("Anna lives in Porto.").did == "added"
        assert memory.recall("Where does Anna live?")[0].text == "Anna lives in Porto."


def test_beside_a_running_loop_as_in_a_notebook(tmp_path: Path) -> None:
    async def cell() -> int:
        with ireneo.sync.open(tmp_path / "memory.db") as memory:
            return memory.session("monday").append("hello").new

    assert asyncio.run(cell()) == 1


def test_in_the_views_of_a_web_application(tmp_path: Path) -> None:
    app = flask.Flask("notes")
    memory = ireneo.sync.open(tmp_path / "memory.db")

    @app.post("/say/<name>")
    def say(name: str) -> str:
        return str(memory.session(name).append(flask.request.get_data(as_text=True)).new)

    def ask(number: int) -> str:
        return app.test_client().post(f"/say/s{number % 4}", data=f"message {number}").text

    with memory, ThreadPoolExecutor(8) as views:
        assert list(views.map(ask, range(32))) == ["1"] * 32
        assert sum(info.messages for info in memory.sessions()) == 32


def test_sixteen_threads_share_a_memory() -> None:
    with ireneo.sync.open(":memory:") as memory, ThreadPoolExecutor(16) as threads:

        def run(number: int) -> int:
            session = memory.session(f"s{number}")
            for step in range(10):
                session.append(f"step {step}")
                session.context(1_000)
            return len(session.messages())

        assert list(threads.map(run, range(16))) == [10] * 16


def test_errors_keep_their_type_and_where_they_arose() -> None:
    with ireneo.sync.open(":memory:") as memory:
        with pytest.raises(BudgetTooSmall) as raised:
            memory.session("monday").context(1)
        frames = [frame.name for frame in traceback.extract_tb(raised.value.__traceback__)]
        assert frames[0] == "test_errors_keep_their_type_and_where_they_arose"
        assert "check_budget" in frames
        with pytest.raises(TypeError, match="nonsense"):
            memory.recall("x", nonsense=1)  # type: ignore[call-arg]
    with pytest.raises(BadInput, match="no folder"):
        ireneo.sync.open("/nowhere/at/all/memory.db")
    assert not [thread for thread in threading.enumerate() if thread.name == "ireneo-sync"]


def test_a_closed_memory_says_so() -> None:
    memory = ireneo.sync.open(":memory:")
    session = memory.session("monday")
    memory.close()
    memory.close()
    with pytest.raises(StoreError, match="is closed"):
        session.append("too late")


def test_closing_ends_what_another_thread_waits_for() -> None:
    memory = ireneo.sync.open(":memory:")
    memory.session("monday").append("hello")
    with ThreadPoolExecutor(1) as threads:
        working = threads.submit(memory.work)
        while not memory.sessions():
            time.sleep(0.01)
        memory.close()
        with pytest.raises(StoreError, match="closed during"):
            working.result(timeout=30)


def test_a_memory_that_nobody_holds_is_closed() -> None:
    session = ireneo.sync.open(":memory:").session("monday")
    session.append("still open, since its session is held")
    (thread,) = [each for each in threading.enumerate() if each.name == "ireneo-sync"]
    del session
    gc.collect()
    thread.join(30)
    assert not thread.is_alive()


def test_progress_is_told_in_the_calling_thread_which_may_use_the_memory() -> None:
    with ireneo.sync.open(":memory:") as memory:
        told: list[tuple[int, int]] = []

        def tell(_: object) -> None:
            told.append((threading.get_ident(), len(memory.sessions())))

        for name in ("a", "b"):
            memory.import_log(LOG, ireneo.log_format("claude-code"), name=name)
        memory.learn(on_progress=tell)
        assert told
        assert {thread for thread, _ in told} == {threading.get_ident()}


def test_an_error_in_on_progress_ends_the_work() -> None:
    class Enough(Exception):
        pass

    def enough(_: object) -> None:
        raise Enough

    with ireneo.sync.open(":memory:") as memory:
        memory.import_log(LOG, ireneo.log_format("claude-code"), name="a")
        with pytest.raises(Enough):
            memory.learn(on_progress=enough)
        assert memory.sessions()


def test_on_its_own_loop_a_verb_says_what_to_do() -> None:
    class Embeds:
        """An embedder of one's own that goes back to the memory that asked it."""

        name = "mine"
        dimensions = 4

        async def embed(self, texts: Sequence[str], *, query: bool = False) -> Sequence[bytes]:
            memory.sessions()
            raise AssertionError("it was let through")

    with ireneo.sync.open(":memory:", embedder=Embeds()) as memory:
        memory.remember("Anna lives in Porto.")
        with pytest.raises(BadInput, match="own event loop"):
            memory.embed()


def test_work_ends_once_nothing_is_due_unless_it_is_to_wait_for_more() -> None:
    with ireneo.sync.open(":memory:") as memory:
        memory.session("monday").append("I live in Porto.")
        assert memory.work().memories == 1
        assert memory.work().is_empty

    async def waits() -> None:
        async with ireneo.open(":memory:") as memory:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(memory.work(until_idle=False), 0.5)

    asyncio.run(waits())


SCRIPT = """
    import os, signal, threading, time
    import ireneo.sync

    # A shell that runs in the background has its commands ignore Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    memory = ireneo.sync.open({db!r})
    memory.session("monday").append("hello")
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    try:
        memory.work(until_idle=False)
    except KeyboardInterrupt:
        print("interrupted", memory.session("monday").append("and on").new)
"""


def test_an_interrupt_cancels_the_call_and_the_end_of_the_program_closes_the_memory(tmp_path: Path) -> None:
    script = textwrap.dedent(SCRIPT).format(db=str(tmp_path / "memory.db"))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert (done.stdout, done.stderr) == ("interrupted 1\n", "")
    assert os.listdir(tmp_path) == ["memory.db"], "its write-ahead log was written back"
