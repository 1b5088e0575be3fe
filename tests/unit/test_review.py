"""The user's word on a lesson stands, whatever runs show before and after it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

import pytest
from msgspec.structs import replace
from tests.property.invariants.houses import House, housed
from tests.property.invariants.promises import TOKENS
from tests.unit.lesson_runs import NOW, observed

from ireneo import Draft, Memory
from ireneo.engine import learn
from ireneo.engine.resources import Resources
from ireneo.errors import BadInput, MemoryNotFound
from ireneo.lessons import study
from ireneo.lessons.run import Observation
from ireneo.lessons.shell import RunMaterial
from ireneo.log.message import Text
from ireneo.types import Exported, Lesson, MemoryFile

TRAP = "When `make tide` fails with “no moon table”, run `make moon` first (2 of 2 times it then passed)."
FACT = "This project runs its tests with `make tide`."
RULING = "Follow-up issues always go to Linear, project Troy, from now on."
OWN = "Make the moon before the tide."
SHOWN = {
    "trap": observed(2, cue="make tide ⇒ no moon table → first:make moon", text=TRAP, tokens=9_000),
    "fact": replace(
        observed(2, cue="ledger <command:tests> make tide", category="factual", text=FACT, tokens=9_000),
        conditions={
            "subject": "ledger",
            "attribute": "the tests: make tide",
            "value": "make tide",
            "proven": "yes",
        },
    ),
    "ruling": observed(
        2, cue="<ruling> follow-up issue linear project troy", category="procedural", text=RULING, tokens=9_000
    ),
}
sorts = pytest.mark.parametrize("sort", list(SHOWN))
Shows = Callable[[Sequence[Observation]], None]


@pytest.fixture
def shows(monkeypatch: pytest.MonkeyPatch) -> Shows:
    """Let every run show these claims."""

    def show(claims: Sequence[Observation]) -> None:
        def read(material: RunMaterial) -> Sequence[Observation]:
            about = {"session": material.session, "sources": (material.messages[0].id,), "project": "ledger"}
            return [replace(each, **about) for each in claims]

        monkeypatch.setattr(study, "READERS", (read,))

    return show


class Ticking:
    """A clock by which no two things happen at once."""

    def __init__(self) -> None:
        self._now = NOW

    def now(self) -> datetime:
        self._now += timedelta(seconds=1)
        return self._now


async def opened(house: House, space: str = "mine") -> Memory:
    return Memory(Resources(store=await house.store(), count=TOKENS.count, clock=Ticking()), space)


async def ran(memory: Memory, *sessions: str) -> None:
    for name in sessions:
        session = await memory.session(name, project="ledger")
        await session.append([Draft(role="user", parts=(Text(text=f"Print the tide of {name}."),))])
    await memory.learn()


def files_of(exported: Sequence[Exported]) -> list[MemoryFile]:
    return [MemoryFile(path=each.path, data=each.data) for each in exported]


async def told(memory: Memory) -> list[str]:
    return [each.lesson for each in await memory.lessons()]


async def only(memory: Memory) -> Lesson:
    (lesson,) = await memory.lessons(disputed=True)
    return lesson


async def learned_anew(memory: Memory, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Learn from every run again, by other rules."""
    monkeypatch.setattr(learn, "LEARNER", name)
    await memory.learn()


async def test_what_is_shown_as_one_lesson_is_opened_kept_and_dropped_as_one(shows: Shows) -> None:
    checks = [("make lint", 3), ("make types", 2)]
    for verdict, left in (("keep", 1), ("drop", 0)):
        shows(
            [
                replace(
                    observed(held, cue=f"<passes> make test {check}", tokens=9_000),
                    text=f"Before it is done, run `{check}` too, not only `make test`.",
                )
                for check, held in checks
            ]
        )
        async with housed() as house:
            memory = await opened(house)
            await ran(memory, "one", "two")
            lesson = await only(memory)
            assert all(f"`{check}`" in lesson.lesson for check, _ in checks)
            found = await memory.lookup(lesson.id)
            assert found.memory is not None
            assert (found.memory.text, found.standing) == (lesson.lesson, lesson.standing)
            (line,) = (await memory.brief(goal="Print the tide", project="ledger")).lines
            assert (line.id, line.text) == (lesson.id, lesson.lesson)
            await memory.review(lesson.id, verdict)
            assert await told(memory) == [lesson.lesson] * left


async def test_checks_of_other_runs_are_two_lessons(shows: Shows) -> None:
    async with housed() as house:
        memory = await opened(house)
        for check, runs in {"make lint": ("one", "two", "three"), "make types": ("four", "five")}.items():
            shows(
                [
                    replace(
                        observed(1, cue=f"<passes> make test {check}", tokens=9_000),
                        text=f"Before it is done, run `{check}` too, not only `make test`.",
                    )
                ]
            )
            await ran(memory, *runs)
        assert [each.standing.partition(";")[0] for each in await memory.lessons()] == [
            "seen in 3 of 3 runs",
            "seen in 2 of 2 runs",
        ]


@sorts
async def test_what_was_dropped_stays_dropped(sort: str, shows: Shows, monkeypatch: pytest.MonkeyPatch) -> None:
    shows([SHOWN[sort]])
    async with housed() as house:
        memory = await opened(house)
        await ran(memory, "one", "two")
        lesson = await only(memory)
        await memory.review(lesson.id, "drop", reason="The moon is made by the harbour master now.")
        assert await told(memory) == []
        dropped = await only(memory)
        assert (dropped.id, dropped.reviewed) == (lesson.id, "dropped")
        assert "user said on" in dropped.against[0]
        assert "harbour master" in dropped.against[0]
        await ran(memory, "three", "four")
        assert await told(memory) == [], "runs that show it again change nothing"
        await learned_anew(memory, monkeypatch, "newer")
        assert await told(memory) == []
        shows(
            [
                replace(
                    SHOWN[sort],
                    cue=SHOWN[sort].cue.replace("project", "issues") if sort == "ruling" else f"{SHOWN[sort].cue} anew",
                )
            ]
        )
        await learned_anew(memory, monkeypatch, "newest")
        assert await told(memory) == [], "rules that tell the same by another code bring it back no more"
        assert lesson.lesson not in (await memory.brief(goal="Print the tide", project="ledger")).markdown
        await memory.review(lesson.id, "keep")
        assert await told(memory) == [lesson.lesson]


@sorts
async def test_what_was_reworded_keeps_its_words_and_its_evidence(
    sort: str, shows: Shows, monkeypatch: pytest.MonkeyPatch
) -> None:
    shows([SHOWN[sort]])
    async with housed() as house:
        memory = await opened(house)
        await ran(memory, "one", "two")
        before = await only(memory)
        await memory.review(before.id, "edit", text=f"  {OWN}\n")
        edited = await only(memory)
        assert (edited.id, edited.lesson, edited.reviewed) == (before.id, OWN, "edited")
        assert edited.sources
        better = replace(SHOWN[sort], text=SHOWN[sort].text.replace(".", ": run `make sun` as well."))
        shows([better])
        await ran(memory, "three")
        await learned_anew(memory, monkeypatch, "newer")
        again = await only(memory)
        assert (again.id, again.lesson, again.seen, again.reviewed) == (before.id, OWN, 3, "edited")
        shows([])
        await learned_anew(memory, monkeypatch, "newest")
        assert await told(memory) == [OWN], "rules that see it no more don't take it away"
        (record,) = await memory.get([before.id])
        assert record.pinned
        assert record.drawn == before.lesson


async def test_a_kept_trap_is_not_overturned_by_runs_that_heed_it(shows: Shows) -> None:
    shows([replace(SHOWN["trap"], held=6)])
    async with housed() as house:
        memory = await opened(house)
        await ran(memory, *"abcdefgh")
        lesson = await only(memory)
        await memory.review(lesson.id, "keep")
        shows([replace(SHOWN["trap"], held=0, broke=4, text="")])
        await ran(memory, "later")
        assert await told(memory) == [lesson.lesson]


async def test_what_is_forgotten_takes_the_word_on_it_along(shows: Shows) -> None:
    shows([SHOWN["fact"]])
    async with housed("sqlite") as house:
        memory = await opened(house)
        await ran(memory, "one")
        await memory.review((await only(memory)).id, "keep")
        await memory.forget(session="one")
        assert await memory.lessons(disputed=True) == []


async def test_a_review_survives_an_export_of_memories(shows: Shows) -> None:
    shows([SHOWN["ruling"], SHOWN["trap"]])
    async with housed("sqlite") as house:
        memory = await opened(house)
        await ran(memory, "one")
        ruling, trap = await memory.lessons()
        await memory.review(ruling.id, "edit", text=OWN)
        await memory.review(trap.id, "drop")
        (dropped,) = (each for each in await memory.lessons(disputed=True) if each.id == trap.id)
        assert dropped.against[0].startswith("The user dropped it on "), "nobody said a word about it"
        exported = await memory.export_memories("jsonl")
        there = await opened(house, "elsewhere")
        await there.import_memories(files_of(exported))
        assert await told(there) == [OWN]
        await memory.import_memories(files_of(exported))
        assert await told(memory) == [OWN], "and the same file again changes nothing"


async def test_what_a_review_cannot_use_is_refused(shows: Shows) -> None:
    shows([SHOWN["fact"]])
    async with housed("in memory") as house:
        memory = await opened(house)
        await ran(memory, "one")
        lesson = await only(memory)
        plain = await memory.remember("The keeper is Bo.")
        with pytest.raises(MemoryNotFound, match="no lesson"):
            await memory.review(plain.record.id, "drop")
        with pytest.raises(BadInput, match="give one of keep, edit, drop"):
            await memory.review(lesson.id, "burn")  # type: ignore[arg-type]
        with pytest.raises(BadInput, match="new words"):
            await memory.review(lesson.id, "edit", text="  ")
        with pytest.raises(BadInput, match="new words"):
            await memory.review(lesson.id, "keep", text=OWN)
        with pytest.raises(BadInput, match="one line of at most"):
            await memory.review(lesson.id, "edit", text="long " * 300)
