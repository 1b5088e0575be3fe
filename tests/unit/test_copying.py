"""A copy of a store holds what the store holds, whatever the two are kept in, and goes on where it was broken off."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.postgres_server import empty_database

import ireneo
from ireneo.adapters.opening import open_store
from ireneo.engine import exchange as copying
from ireneo.engine.exchange import copy_store
from ireneo.errors import StoreError
from ireneo.log.message import Text
from ireneo.memories.scratchpad import Pad

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def say(role: ireneo.Role, text: str) -> ireneo.Draft:
    return ireneo.Draft(role=role, parts=(Text(text=text),))


async def fill(url: str) -> None:
    """Two spaces: a session with a rewind, a fork, pins, summaries and what was forgotten, and what was remembered."""
    async with ireneo.open(url, space="tools") as memory:
        session = await memory.session("long")
        for turn in range(24):
            asked = say("user", f"Never touch file {turn}; mend valve {turn}, please. " + "It leaks again. " * 8)
            await session.append([asked, say("assistant", f"Valve {turn} is mended with part {turn * 7}.\x00")])
        await session.pin("Never bump the version.")
        await session.context(700)
        await session.fork("other", at=(await session.messages())[9].id)
        other = await memory.session("long", branch="other")
        await other.append([say("user", "Try it with brass instead.")])
        await session.rewind((await session.messages())[30].id)
        await memory.remember("The valves are from Kestrel.", kind="semantic", subject="valves")
        await memory.work(until_idle=True)
    async with ireneo.open(url, space="Errands") as memory:
        await memory.remember("The ferry leaves at noon.", kind="semantic", subject="ferry")
        await (await memory.session("empty")).append([])
        (found, *_) = await memory.recall("ferry")
        assert found
    store = await open_store(url)
    try:
        await store.write(lambda tx: tx.pads.write("Errands", Pad(task="mend", goal="Buy bread.", written=NOON)))
    finally:
        await store.close()


def in_a_file(folder: Path) -> str:
    return str(folder / "copy.db")


def on_a_server(_: Path) -> str:
    return empty_database()


@pytest.mark.parametrize("target", [in_a_file, on_a_server])
async def test_a_copy_holds_what_the_store_holds(target: Callable[[Path], str], tmp_path: Path) -> None:
    here, there = str(tmp_path / "memory.db"), target(tmp_path)
    await fill(here)
    tally = await ireneo_copy(here, there)
    assert (tally.spaces, tally.sessions) == (2, 2)
    assert tally.messages == tally.new_messages == 49
    assert tally.summaries > 3
    again = await ireneo_copy(here, there)
    assert (again.new_messages, again.messages) == (0, 49)
    # And back, into a file of its own.
    back = await ireneo_copy(there, str(tmp_path / "back.db"))
    assert (back.messages, back.summaries, back.memories) == (tally.messages, tally.summaries, tally.memories)
    async with ireneo.open(here, space="tools") as mine, ireneo.open(there, space="tools") as theirs:
        contexts = [
            await (await memory.session("long", branch=branch)).context(700)
            for memory in (mine, theirs)
            for branch in ("main", "other")
        ]
        assert [each.messages for each in contexts[:2]] == [each.messages for each in contexts[2:]]
        found = [[hit.id for hit in await memory.recall("brass valves")] for memory in (mine, theirs)]
        assert found[0] == found[1] != []


async def ireneo_copy(here: str, there: str) -> copying.CopyTally:
    store, other = await open_store(here), await open_store(there)
    try:
        return await copy_store(store, other)
    finally:
        await store.close()
        await other.close()


async def test_a_copy_that_is_broken_off_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copying, "PAGE", 7)
    here, there = str(tmp_path / "memory.db"), str(tmp_path / "copy.db")
    await fill(here)
    store, other = await open_store(here), await open_store(there)
    writes = 0
    write = other.write

    async def failing(function: Callable[..., object], /, *args: object, **kwargs: object) -> object:
        nonlocal writes
        writes += 1
        if writes == 9:
            raise StoreError("The network is gone.")
        return await write(function, *args, **kwargs)

    monkeypatch.setattr(other, "write", failing)
    with pytest.raises(StoreError, match="network"):
        await copy_store(store, other)
    tally = await copy_store(store, other)
    assert 0 < tally.new_messages < tally.messages == 49
    await store.close()
    await other.close()


async def test_a_target_that_holds_something_else_is_told(tmp_path: Path) -> None:
    here, there = str(tmp_path / "memory.db"), str(tmp_path / "copy.db")
    await fill(here)
    async with ireneo.open(there, space="tools") as memory:
        await (await memory.session("long")).append([say("user", "Something else.")])
    with pytest.raises(StoreError, match="differs after the copy"):
        await ireneo_copy(here, there)
