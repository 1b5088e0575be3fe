"""What a session knows of its blocks from one context to the next saves work, and changes nothing that is shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.property.invariants.houses import housed
from tests.property.invariants.material import Teller

import ireneo
from ireneo import Draft
from ireneo.context import allot as statements

STEPS = ("ask", "work", "parallel", "check fails", "edit", "check passes", "answer")


def told(turns: int) -> list[Draft]:
    return Teller().tell(["instruct", *(step for _ in range(turns) for step in STEPS)])


async def test_a_session_that_knows_its_blocks_shows_what_one_that_knows_nothing_shows() -> None:
    async with housed() as house:
        memory = await house.memory()
        known = await memory.session("run")
        drafts = told(12)
        for place in range(0, len(drafts), 40):
            await known.append(drafts[place : place + 40])
            for budget in (600, 6_000):
                now = await known.context(budget, to="openai", rebuild=True)
                fresh = await memory.session("run")
                assert now.messages == (await fresh.context(budget, to="openai", rebuild=True)).messages


async def test_a_disputed_block_is_shown_as_disputed_once_it_is_known() -> None:
    async with housed() as house:
        session = await (await house.memory()).session("run")
        await session.append(told(12))
        before = await session.context(2_000, to="openai", rebuild=True)
        block = next(row for row in before.view if row.what == "summary")
        await session.dispute(block.id, "It was the other way round.")
        after = await session.context(2_000, to="openai", rebuild=True)
        assert "(disputed): It was the other way round." in str(after.messages)


async def test_a_rebuild_reads_no_line_again_of_a_block_that_stood_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    artifacts = statements.artifacts

    def counted(text: str) -> list[str]:
        read.append(text)
        return artifacts(text)

    monkeypatch.setattr(statements, "artifacts", counted)
    async with ireneo.open(tmp_path / "memory.db") as memory:
        session = await memory.session("run")
        await session.append(told(40))
        await session.context(4_000, rebuild=True)
        first = len(read)
        read.clear()
        await session.append(Teller().tell(["say"]))
        await session.context(4_000, rebuild=True)
        assert len(read) < first / 4
