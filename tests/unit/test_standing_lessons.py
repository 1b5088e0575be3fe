"""The lessons that stand in a brief at the beginning of a session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from tests.golden.material import user
from tests.progress import progress_of
from tests.unit.lesson_runs import NOW, TRAP, a_run, no_pytest, observed
from tests.unit.runs import quarters
from tests.unit.test_lessons import learned

import ireneo
from ireneo.engine.brief import opening_lessons
from ireneo.lessons.run import Observation
from ireneo.log.message import Draft
from ireneo.memories.brief import BriefLine, make_brief
from ireneo.memories.record import Record


def lesson(cue: str, text: str, *, project: str = "ledger", held: int = 3) -> tuple[Record, list[Observation]]:
    seen = [observed(held, cue=cue, text=text, session=f"{project} {name}", project=project) for name in ("one", "two")]
    record = learned(seen)
    assert record is not None
    return record, seen


def stood(*made: tuple[Record, list[Observation]], project: str = "ledger") -> list[BriefLine]:
    known: Mapping[str, Sequence[Observation]] = {record.cue: seen for record, seen in made}
    return opening_lessons([record for record, _ in made], known, NOW, [project])


NO_TABLE = (TRAP, "When `bin/test` fails with “no such table”, run `bin/migrate` first.")


def test_the_costliest_stands_first_and_other_projects_keep_theirs() -> None:
    keys = "When `make` fails with “no such key”, run `make keys` first."
    rare = lesson("make ⇒ <any> → first:make keys", keys, held=1)
    often = lesson(*NO_TABLE, held=9)
    assert [each.id for each in stood(rare, often)] == [often[0].id, rare[0].id]
    assert stood(rare, often, project="atlas") == []


@pytest.mark.parametrize("budget", [64, 120, 300, 1_500])
def test_a_brief_stays_within_its_budget(budget: int) -> None:
    made = [
        lesson(f"tool{number} ⇒ <any> → use:other", f"`tool{number}` fails with “fault {number} of many”: use `other`.")
        for number in range(60)
    ]
    brief = make_brief(None, [], NOW, budget, quarters, stood(*made))
    assert brief.tokens <= budget
    assert brief.left_out == 60 - len(brief.lines)
    if budget >= 300:
        assert brief.lines


async def test_a_session_is_told_the_lessons_of_its_project() -> None:
    async with ireneo.open(":memory:") as memory:
        for name, drafts in (("one", no_pytest()), ("two", no_pytest("tests/x.py")), ("three", no_pytest())):
            session = await memory.session(name)
            await session.append([message.draft for message in a_run(drafts).messages])
        assert len(await progress_of(memory.learn)) == 3
        told = await memory.brief(project="ledger", budget=1_500)
        assert "## Lessons of earlier runs" in told.markdown
        assert "When `pytest` fails with" in told.markdown
        assert told.tokens <= 1_500
        assert "## Lessons of earlier runs" not in (await memory.brief(goal="Add a column")).markdown
        assert (await memory.brief(goal="Add a column", project="ledger")).lines == ()


async def test_a_chat_that_was_exported_twice_is_one_run() -> None:
    def run_of(task: str) -> list[Draft]:
        told = a_run(user(task), no_pytest(), user("Can we not touch the migrations?"), no_pytest("tests/x.py"))
        return [message.draft for message in told.messages]

    chat = run_of("Mend the order of the rows.")
    async with ireneo.open(":memory:") as memory:

        async def learn(name: str, drafts: list[Draft]) -> list[int]:
            session = await memory.session(name)
            await session.append(drafts)
            await memory.learn()
            return [each.seen for each in await memory.lessons()]

        assert await learn("one", chat) == [1]
        assert await learn("copy", chat) == [1]
        assert await learn("copy that goes on", [*chat, *user("Thank you.")]) == [1]
        assert await learn("two", run_of("Sort the totals.")) == [2, 2], "what was said once is told"
