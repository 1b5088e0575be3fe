"""The blocks of a long run are written when it is taken in, and the first context only reads them."""

from __future__ import annotations

import json

import pytest
from tests.progress import progress_of
from tests.property.invariants.houses import housed
from tests.property.invariants.material import Teller

from ireneo import Draft, Message, Session
from ireneo.engine import context as ahead
from ireneo.formats.logs.format import log_format
from ireneo.log.calls import atoms, complete_prefix
from ireneo.log.message import chain

STEPS = ("ask", "work", "parallel", "interleaved", "say", "late", "check fails", "edit", "check passes", "unanswered")


def told(turns: int) -> list[Draft]:
    """A long run: what happens in it repeats, the words don't."""
    teller = Teller()
    return teller.tell(["instruct", *(step for _ in range(turns) for step in ("ask", *STEPS, "answer"))])


def weighed(drafts: list[Draft]) -> list[Message]:
    return list(chain(None, drafts, lambda parts: (10, 0)))


@pytest.fixture
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if these runs were long."""
    monkeypatch.setattr("ireneo.summaries.work.CHUNK", 32)
    monkeypatch.setattr(ahead, "BEHIND", 40)
    monkeypatch.setattr("ireneo.engine.context.CHUNK", 32)


async def shown(session: Session, budget: int = 2_000) -> list[object]:
    return [(await session.context(size, to="openai", rebuild=True)).messages for size in (budget, budget * 3)]


@pytest.mark.usefixtures("_small_chunks")
async def test_what_is_written_ahead_is_what_a_context_writes() -> None:
    async with housed() as house:
        memory = await house.memory()
        plain, caught = await memory.session("plain"), await memory.session("caught")
        drafts = told(9)
        await plain.append(drafts)
        await caught.append(drafts)
        steps = await progress_of(caught.catch_up)
        assert len(steps) > 3
        assert [step.behind for step in steps] == sorted((step.behind for step in steps), reverse=True)
        assert steps[0].did == "caught_up"
        assert await shown(plain) == await shown(caught)
        assert await progress_of(caught.catch_up) == [], "what is written is not written again"


class Enough(Exception):
    """Whoever listens has heard enough."""


@pytest.mark.usefixtures("_small_chunks")
async def test_work_that_is_broken_off_goes_on_from_there() -> None:
    async with housed() as house:
        memory = await house.memory()
        session = await memory.session("run")
        await session.append(told(9))

        def enough(_: object) -> None:
            raise Enough

        with pytest.raises(Enough):
            await session.catch_up(on_progress=enough)
        rest = await progress_of(session.catch_up)
        assert rest
        assert rest[0].first_position > 0
        other = await memory.session("other")
        await other.append(told(9))
        assert await shown(session) == await shown(other)


@pytest.mark.usefixtures("_small_chunks")
async def test_work_leaves_nothing_to_write() -> None:
    async with housed() as house:
        memory = await house.memory()
        session = await memory.session("run")
        await session.append(told(9))
        caught = [step for step in await progress_of(memory.work, until_idle=True) if step.did == "caught_up"]
        assert caught
        assert await progress_of(session.catch_up) == []


def log(messages: int) -> list[bytes]:
    """A run as Claude Code logs one."""
    lines = []
    for at in range(messages):
        named = {"uuid": f"u{at}", "parentUuid": f"u{at - 1}" if at else None, "sessionId": "s"}
        said = {"role": "user", "content": f"Please look at part_{at}.py and tell me what it does {at}."}
        lines.append(json.dumps({"type": "user", **named, "message": said}).encode() + b"\n")
    return lines


@pytest.mark.usefixtures("_small_chunks")
async def test_an_import_leaves_nothing_to_write() -> None:
    async with housed() as house:
        memory = await house.memory()
        for done in await progress_of(memory.import_log, log(300), log_format("claude-code"), name="log"):
            assert done.messages == 300
            assert await progress_of((await memory.session(done.session)).catch_up) == []
        joined = await memory.import_log(log(300), log_format("claude-code"), name="log", session="joined")
        assert joined.new == 300
        one = await memory.session("joined")
        assert await progress_of(one.catch_up) == []
        other = await memory.session("appended")
        await other.append([message.draft for message in await one.messages()])
        assert await shown(other) == await shown(one)


def test_no_message_to_come_stretches_what_is_settled() -> None:
    messages = weighed(told(3))
    whole = atoms(messages)
    edges = {0}
    for atom in whole:
        edges.add(max(edges) + len(atom))
    for place in range(len(messages)):
        assert complete_prefix(messages[:place]) in edges


def test_a_call_that_nobody_answers_holds_up_nothing_behind_the_next_request() -> None:
    teller = Teller()
    messages = weighed(teller.tell(["ask", "unanswered", "say", "ask", "read"]))
    assert complete_prefix(messages) == len(messages)
    assert complete_prefix(messages[:3]) == 1
