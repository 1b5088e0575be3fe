"""What a run showed once and shows no more: lessons lose that evidence when its session is learned from again."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from tests.golden.material import read
from tests.progress import progress_of
from tests.unit.lesson_runs import a_run, no_pytest, unread

from ireneo import Draft, Memory
from ireneo.engine import learn
from ireneo.engine import learn as due
from ireneo.engine.learn import PathWindow, windows
from ireneo.engine.resources import Cleaning
from ireneo.lessons.shell import RunMaterial
from ireneo.log.message import Head
from ireneo.log.tree import SessionKey
from ireneo.ports.store import Store

NO_PYTEST = "pytest ⇒ <any> → use:bin/test"


def drafts(run: RunMaterial) -> list[Draft]:
    return [each.draft for each in run.messages]


def failing(number: int) -> list[Draft]:
    """A run that reads a file, and then looks for a program three times that is not there."""
    files = [no_pytest(f"tests/{name}{number}.py") for name in ("rows", "days", "sums")]
    return drafts(a_run(read(f"notes{number}.md", "nothing"), *files, days=number))


async def learned(memory: Memory) -> list[str]:
    return [each.run.session for each in await progress_of(memory.learn)]


async def stored(memory: Memory, runs: int) -> None:
    for number in range(runs):
        await (await memory.session(f"run {number}")).append(failing(number))
    assert len(await learned(memory)) == runs


async def rewound(memory: Memory, session: str) -> None:
    """The session goes back to before its failures, and on without them."""
    there = await memory.session(session)
    await there.rewind((await there.messages())[1].id)
    await there.append(drafts(a_run(read("other.md", "nothing"), days=9)))
    assert await learned(memory) == [session]


async def test_a_path_that_was_left_is_no_evidence(memory: Memory) -> None:
    await stored(memory, 3)
    before = {each.cue: each.seen for each in await memory.lessons()}
    assert before[NO_PYTEST] == 3
    await rewound(memory, "run 0")
    found = await memory.lessons()
    assert {each.cue: each.seen for each in found} == dict.fromkeys(before, 2)
    assert not [cited for each in found for cited in each.sources if cited.session == "run 0"]


async def test_a_lesson_whose_only_run_left_its_path_goes(memory: Memory) -> None:
    await stored(memory, 1)
    assert await memory.lessons()
    await rewound(memory, "run 0")
    assert await memory.lessons() == []
    assert await memory.recall("pytest command not found", kind="failure") == ()


async def test_newer_rules_take_back_what_they_no_longer_see(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    await stored(memory, 2)
    before = await memory.lessons()
    monkeypatch.setattr(due, "LEARNER", "newer")
    monkeypatch.setattr(learn, "LEARNER", "newer")
    assert len(await learned(memory)) == 2
    assert await memory.lessons() == before
    monkeypatch.setattr("ireneo.lessons.study.READERS", ())
    monkeypatch.setattr(due, "LEARNER", "newest")
    monkeypatch.setattr(learn, "LEARNER", "newest")
    assert len(await learned(memory)) == 2
    assert await memory.lessons() == []


async def test_a_session_that_has_grown_is_one_piece_of_evidence(memory: Memory) -> None:
    await stored(memory, 2)
    before = {each.cue: each.seen for each in await memory.lessons()}
    there = await memory.session("run 1")
    await there.append(drafts(a_run(unread("src/more.py"), no_pytest(), days=9)))
    assert await learned(memory) == ["run 1"]
    after = {each.cue: each.seen for each in await memory.lessons()}
    assert {cue: after[cue] for cue in before} == before


async def test_a_session_that_is_forgotten_while_it_is_read_is_passed_over(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def late(kept: Store, key: SessionKey, head: Head, cleaning: Cleaning) -> AsyncIterator[PathWindow]:
        if key.session == "run 0":
            await memory.forget(session="run 0")
        async for window in windows(kept, key, head, cleaning):
            yield window

    monkeypatch.setattr(learn, "windows", late)
    for number in range(3):
        await (await memory.session(f"run {number}")).append(failing(number))
    assert await learned(memory) == ["run 1", "run 2"]
    assert not [cited for each in await memory.lessons() for cited in each.sources if cited.session == "run 0"]
