"""A large logged session is stored in batches: broken off anywhere and begun again, it ends as in one."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from io import BytesIO
from typing import TypeVar

import pytest
from tests.progress import progress_of

import ireneo
from ireneo.adapters.in_memory import InMemoryStore
from ireneo.adapters.tokens import EstimatedTokenizer
from ireneo.engine import imports
from ireneo.engine.imports import Imported
from ireneo.engine.memory import Memory
from ireneo.engine.resources import Resources
from ireneo.formats.logs.claude_code import ClaudeCode
from ireneo.log.tree import MAIN, SessionKey
from ireneo.ports.store import Store, Transaction
from ireneo.testing.scripted import ManualClock

KEY = SessionKey("mine", "s")


def line(uuid: str, parent: str | None, words: str | None = None) -> bytes:
    message = {"role": "user", "content": words or f"words of {uuid}"}
    told = {"type": "user", "uuid": uuid, "parentUuid": parent, "sessionId": "s", "message": message}
    return json.dumps(told).encode() + b"\n"


def straight(count: int) -> list[bytes]:
    return [line(f"u{at}", f"u{at - 1}" if at else None) for at in range(count)]


def forked(count: int) -> list[bytes]:
    """Each fifth message begins a branch at the second one; the log leaves off on the last branch."""
    return [
        line(f"u{at}", None if at == 0 else "u1" if at % 5 == 0 and at > 2 else f"u{at - 1}") for at in range(count)
    ]


T = TypeVar("T")


class BrokenOffError(Exception):
    """The process ends here."""


class Frail(InMemoryStore):
    """A store whose process ends with its n-th transaction that writes, before or after the commit."""

    def __init__(self) -> None:
        super().__init__()
        self.left: int | None = None
        self.written = 0

    async def write(self, function: Callable[..., T], /, *args: object, **kwargs: object) -> T:
        self.written += 1
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                raise BrokenOffError
        return await super().write(function, *args, **kwargs)


def memory(store: Store) -> Memory:
    return Memory(Resources(store=store, count=EstimatedTokenizer().count, clock=ManualClock()), "mine")


async def take(store: Store, lines: Sequence[bytes]) -> Imported:
    (done,) = await progress_of(memory(store).import_log, lines, ClaudeCode(), name="log")
    return done


async def stored(store: Store) -> tuple[int, list[str | None]]:
    """How many messages there are, and the source ids on the path of the main branch."""

    def look(tx: Transaction) -> tuple[int, list[str | None]]:
        info = tx.sessions.get(KEY)
        head = tx.log.head(KEY)
        path = tx.log.path(KEY, head.id, 0, head.position) if head else []
        return info.messages if info else 0, [message.draft.source_id for message in path]

    return await store.read(look)


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imports, "BATCH", 4)


@pytest.mark.parametrize("lines", [straight(23), forked(23)], ids=["straight", "forked"])
@pytest.mark.parametrize("known", [0, 3, 9, 22])
async def test_it_ends_the_same_wherever_it_was_broken_off(lines: list[bytes], known: int) -> None:
    whole = InMemoryStore()
    await take(whole, lines)
    wanted = await stored(whole)
    assert wanted[0] == 23
    for at in range(100):
        store = Frail()
        if known:
            await take(store, lines[:known])
        before = await stored(store)
        store.left = at
        try:
            done = await take(store, lines)
        except BrokenOffError:
            # Nobody sees half a log as the whole of it.
            assert (await stored(store))[1] == before[1]
        else:
            assert done.new == 23 - known
            assert at >= (23 - known) // 4
            return
        store.left = None
        done = await take(store, lines)
        assert (done.new > 0, done.messages) == (True, 23)
        assert await stored(store) == wanted
    raise AssertionError("it never ends")


@pytest.mark.parametrize("lines", [straight(23), forked(23)], ids=["straight", "forked"])
async def test_what_is_known_is_not_written_again_and_a_branch_that_was_moved_stays(lines: list[bytes]) -> None:
    store = Frail()
    await take(store, lines)

    def change(tx: Transaction) -> None:
        (first,) = tx.log.find(KEY, ["u1"])
        tx.log.move(KEY, MAIN, first.id)

    await store.write(change)
    store.written = 0
    assert (await take(store, lines)).new == 0
    assert store.written == 1
    assert (await stored(store))[1] == ["u0", "u1"]
    assert (await take(store, [*lines, line("new", "u22")])).new == 1
    assert (await stored(store))[1][-2:] == ["u22", "new"]


async def test_many_letters_fill_a_batch_as_many_messages_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imports, "BATCH", 1_000)
    monkeypatch.setattr(imports, "BATCH_BYTES", 5_000)
    store = Frail()
    await take(store, [line("u0", None, "word " * 2_000), line("u1", "u0", "word " * 2_000), line("u2", "u1")])
    assert store.written == 3


class Watched(BytesIO):
    """A log that notes which threads read it."""

    def __init__(self, lines: Sequence[bytes]) -> None:
        super().__init__(b"".join(lines))
        self.readers: set[int] = set()

    def read(self, size: int | None = -1, /) -> bytes:
        self.readers.add(threading.get_ident())
        return super().read(size)

    def read1(self, size: int | None = -1, /) -> bytes:
        self.readers.add(threading.get_ident())
        return super().read1(size)

    def readline(self, size: int | None = -1, /) -> bytes:
        self.readers.add(threading.get_ident())
        return super().readline(size)


async def test_no_log_is_read_on_the_event_loop() -> None:
    looped = threading.get_ident()
    async with ireneo.open(":memory:") as memory:
        for take_in in (memory.import_file, memory.learn_from):
            log = Watched(straight(20))
            await take_in(log, name="log")
            assert log.readers
            assert looped not in log.readers
        parsed: set[int] = set()

        def lines() -> Iterator[bytes]:
            parsed.add(threading.get_ident())
            yield from straight(20)

        await memory.check("Bash", {"command": "make"}, session="s", log=ClaudeCode(), lines=lines())
        assert parsed
        assert looped not in parsed
