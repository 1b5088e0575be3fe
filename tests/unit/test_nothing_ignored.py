"""Nothing that is asked for is ignored in silence: it has an effect, or it is refused in a sentence."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

import pytest
from tests.progress import progress_of
from tests.property.invariants.houses import housed

import ireneo
from ireneo.errors import BadInput, SessionNotFound
from ireneo.log.message import Draft, Text

THEN = datetime(2025, 5, 3, tzinfo=UTC)
Asking = Callable[[ireneo.Memory], Awaitable[object]]


async def learned(memory: ireneo.Memory, sessions: object) -> object:
    return await progress_of(memory.learn, sessions)  # type: ignore[arg-type]


async def context(memory: ireneo.Memory, **asked: object) -> object:
    return await (await memory.session("talk")).context(budget=2_000, **asked)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("asking", "sentence"),
    [
        (lambda memory: memory.recall("x", branch="main"), "`branch` is 'main', and no session is named"),
        (lambda memory: memory.recall("x", session="talk", branch="odd"), "has no branch 'odd'"),
        (lambda memory: memory.recall("x", session=3), "`session` is 3; give a string"),
        (lambda memory: memory.recall("x", viewpoint="Nobody"), "Nobody called 'Nobody' is known"),
        (lambda memory: memory.recall("x", project=3), "`project` is 3; give a string"),
        (lambda memory: memory.recall("x", kind="rumour"), "There is no kind 'rumour'"),
        (lambda memory: memory.brief(goal="x", viewpoint="Nobody"), "Nobody called 'Nobody' is known"),
        (lambda memory: memory.brief(goal="x", budget="many"), "`budget` is 'many'; give a whole number"),
        (lambda memory: memory.brief(goal="x", project=3), "`project` is 3; give a string"),
        (lambda memory: context(memory, viewpoint="Ana"), "knows no characters"),
        (lambda memory: context(memory, preset="story", viewpoint="Bo"), "Nobody called 'Bo' is known in session talk"),
        (lambda memory: context(memory, preset="story", prices="anthropic"), "`prices` have no effect"),
        (lambda memory: memory.check("Bash", "ls", lines=[b"{}"]), "without their format"),
        (lambda memory: memory.check("Bash", "ls", project=3), "`project` is 3"),
        (lambda memory: learned(memory, "talk"), "`sessions` is 'talk'; give a list, each a string"),
        (lambda memory: learned(memory, ["nobody's"]), "There is no session"),
        (lambda memory: memory.remember("Bo left.", kind="episodic", until=THEN), "`until` says something of a"),
        (lambda memory: memory.remember("Bo is here.", kind="semantic", signature="x"), "`signature` says something"),
        (lambda memory: memory.remember("Bo is here.", project="/tmp"), "names no project"),
        (lambda memory: memory.remember("Bo is here.", colour="red"), "Nothing called 'colour' can be said"),
    ],
)
async def test_what_cannot_be_honoured_is_refused(asking: Asking, sentence: str) -> None:
    async with housed("in memory") as house:
        memory = await house.memory()
        await (await memory.session("talk")).append(
            Draft(role="user", parts=(Text(text="Where is the ledger?", author="Ana"),))
        )
        with pytest.raises(BadInput) as refused:
            await asking(memory)
        assert sentence in str(refused.value)
        assert str(refused.value).count("\n") == 0


async def test_a_session_that_is_not_there_is_none_to_learn_from() -> None:
    async with housed("in memory") as house:
        with pytest.raises(SessionNotFound):
            await learned(await house.memory(), ["never made"])


async def test_a_misspelt_branch_takes_no_messages() -> None:
    async with housed("in memory") as house:
        memory = await house.memory()
        begun = await memory.session("draft", branch="second try")
        session = await memory.session("talk")
        await session.append("Where is the ledger?")
        await session.fork("aside")
        for name in ("asside", "Main", ""):
            with pytest.raises(SessionNotFound, match=f"Session talk has no branch {name!r}; it has: aside, main."):
                await memory.session("talk", branch=name)
        await (await memory.session("talk", branch="aside")).append("Who keeps it?")
        assert {name: head.position for name, head in (await session.branches()).items() if head} == {
            "main": 0,
            "aside": 1,
        }
        await begun.append("A session that is not stored may begin on any branch.")
        assert list(await begun.branches()) == ["second try"]
        assert (await memory.session("draft")).branch == "main"
