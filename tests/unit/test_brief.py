"""What a turn is given: each kind by its own cue, no more than its budget, and every line to be traced."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta

import pytest
from msgspec.structs import replace
from tests.golden.learned import NOW, PAD, learned
from tests.property.invariants.houses import memory_over, opened

from ireneo import BadInput, Memory
from ireneo.adapters.in_memory import InMemoryStore
from ireneo.engine.brief import action_signatures
from ireneo.engine.resources import Resources
from ireneo.errors import EmbedderError, SessionNotFound, StoreBusy
from ireneo.log.message import short
from ireneo.memories.brief import LEAST_BUDGET, BriefCandidate, line_of, make_brief
from ireneo.ports.store import Store
from ireneo.testing.scripted import ManualClock


def words(text: str) -> int:
    return len(text.split())


async def harbour(memory: Memory) -> None:
    """Remember something of each kind, and of each something else."""
    for text, task_type, name in (
        ("Start the desk with DESK_TEST=1; send a booking; look at the log", "test the desk", "a"),
        ("Call the desk; ask it for a berth", "test the desk", "b"),
        ("Test the desk by asking the harbour office", "ask the office", "c"),
    ):
        await memory.remember(text, kind="procedural", task_type=task_type, name=name)
    await memory.remember("Bookings are kept in the table berths.", kind="semantic", subject="bookings")
    await memory.remember("The lighthouse is painted white.", kind="semantic", subject="the lighthouse")
    await memory.remember("I restarted the desk in a storm, and two bookings were gone.", kind="episodic")
    await memory.remember("I painted the lighthouse.", kind="episodic")
    await memory.remember(
        "I tried `desk --reload` — abandoned because it drops what is open.",
        kind="failure",
        signature="bash: desk --reload ⇒ what is open is dropped",
    )
    await memory.remember("I tried to paint at night — abandoned because nobody sees a thing.", kind="failure")


async def test_each_kind_is_found_by_its_own_cue() -> None:
    async with opened() as (_, memory):
        await harbour(memory)
        brief = await memory.brief(
            goal="Keep bookings", task_type="test the desk", situation="A storm is coming", about_to="desk --reload"
        )
        shown = {(line.kind, line.text.split(" (")[0]) for line in brief.lines}
        assert shown == {
            ("procedural", "a: Start the desk with DESK_TEST=1; send a booking; look at the log"),
            ("procedural", "b: Call the desk; ask it for a berth"),
            ("semantic", "Bookings are kept in the table berths."),
            ("episodic", "I restarted the desk in a storm, and two bookings were gone."),
            ("failure", "I tried `desk --reload` — abandoned because it drops what is open."),
        }
        why = {line.kind: line.why for line in brief.lines}
        assert why["procedural"] == "the task type is test the desk"
        assert why["failure"] == "the same action failed before"
        assert why["semantic"] == "it speaks of bookings"


async def test_without_a_cue_a_part_is_left_out_and_without_any_all_is_empty() -> None:
    async with opened() as (_, memory):
        await harbour(memory)
        assert "## How it is done" not in (await memory.brief(goal="Look after the lighthouse")).markdown
        only = await memory.brief(task_type="test the desk")
        assert re.findall("^## .*$", only.markdown, re.MULTILINE) == ["## How it is done"]
        empty = await memory.brief()
        assert (empty.markdown, empty.lines, empty.tokens, empty.pad) == ("", (), 0, None)
        assert (await memory.brief(goal="quantum chromodynamics")).markdown == ""
        assert (await memory.brief(task_type="test")).markdown == "", "procedures are never found by likeness"


async def test_what_helped_more_often_comes_first() -> None:
    async with opened() as (_, memory):
        await harbour(memory)
        first = await memory.brief(task_type="test the desk")
        second = next(line for line in first.lines if line.text.startswith("b: "))
        for _ in range(4):
            await memory.used([second.id], helped=True)
        again = await memory.brief(task_type="Test the desk")
        assert again.lines[0].id == second.id


async def test_each_line_opens_and_is_marked_as_used() -> None:
    async with opened() as (_, memory):
        await harbour(memory)
        brief = await memory.brief(goal="Keep bookings", task_type="test the desk", about_to="bash: desk --reload")
        traced = re.findall(r"\[(m_\w+)\]$", brief.markdown, re.MULTILINE)
        assert traced == [short(line.id) for line in brief.lines]
        found = await memory.get(traced)
        assert [each.id for each in found] == [line.id for line in brief.lines]
        assert {each.used for each in found} == {1}
        assert brief.unmarked == ""


async def test_the_scratchpad_of_the_task_comes_first_and_whole_as_data() -> None:
    async with opened() as (house, memory):
        await harbour(memory)
        pad = await memory.scratchpad("berths").write(goal="Keep bookings", plan=["[x] look"])
        brief = await memory.brief(goal="Keep bookings", task="berths")
        assert brief.pad == pad
        assert brief.markdown.splitlines()[1:5] == ["## Scratchpad", "Goal: Keep bookings", "Plan:", "- [x] look"]
        assert (await memory.brief(goal="Keep bookings", task="other")).pad is None
        assert "Scratchpad" not in (await (await house.memory("other")).brief(goal="bookings", task="berths")).markdown


class Full:
    """A store that can be read, and that nobody can write to any more."""

    def __init__(self, store: Store) -> None:
        self.read = store.read
        self.close = store.close

    async def write(self, function: object, /, *args: object, **kwargs: object) -> object:
        raise StoreBusy("The disk is full.")


async def test_a_store_that_takes_no_mark_loses_no_brief() -> None:
    async with opened() as (house, memory):
        await harbour(memory)
        whole = await memory.brief(goal="Keep bookings", task_type="test the desk")
        means = Resources(store=Full(await house.store()), count=memory._resources.count, clock=memory._resources.clock)
        brief = await Memory(means, "mine").brief(goal="Keep bookings", task_type="test the desk")
        assert {line.id for line in brief.lines} == {line.id for line in whole.lines}
        assert brief.unmarked == "The disk is full."
        assert {each.used for each in await memory.get([line.id for line in brief.lines])} == {1}


async def test_too_small_a_budget_and_no_task_are_refused() -> None:
    async with opened() as (_, memory):
        with pytest.raises(BadInput, match="give at least 64"):
            await memory.brief(goal="x", budget=LEAST_BUDGET - 1)
        with pytest.raises(BadInput, match="Name the task"):
            await memory.brief(goal="x", task=" ")


def test_an_action_is_the_same_however_it_is_told() -> None:
    assert action_signatures("desk --reload") & action_signatures("bash: cd /srv/harbour && desk --reload")
    assert not action_signatures("desk --reload") & action_signatures("desk --stop")


def test_a_fact_that_is_disputed_or_rests_on_what_fell_says_so_before_all_else() -> None:
    lines = [line_of(each.record, NOW) for each in learned()]
    assert sum(line.startswith("(disputed: A more trusted word") for line in lines) == 1
    assert sum(line.startswith("(to be reconsidered: “It is copied") for line in lines) == 1
    assert not any(line.count("disputed") > 1 or line.count("reconsidered") > 1 for line in lines)


def test_the_same_memory_stands_once_by_its_best_cue() -> None:
    (failed,) = [each for each in learned() if each.record.kind == "failure"]
    brief = make_brief(None, [replace(failed, score=0.1, why="worse"), failed], NOW, 500, words)
    assert [line.why for line in brief.lines] == [failed.why]
    assert brief.left_out == 0


def test_one_long_memory_leaves_room_for_others() -> None:
    found = learned()
    long = replace(found[1].record, text="Bookings are " + "really " * 2_000 + "kept.")
    brief = make_brief(PAD, [BriefCandidate(record=long, score=5, why="x"), *found], NOW, 400, words)
    assert brief.tokens <= 400
    assert {line.kind for line in brief.lines} == {"procedural", "semantic", "episodic", "failure"}
    assert any(line.text.endswith(" …") for line in brief.lines)


async def test_the_clock_is_asked_and_not_the_machine() -> None:
    clock = ManualClock()
    memory = memory_over(InMemoryStore(), clock=clock)
    await harbour(memory)
    clock.move(timedelta(days=3))
    brief = await memory.brief(goal="Keep bookings")
    (record,) = await memory.get([brief.lines[0].id])
    assert record.last_used == clock.now()


async def test_a_command_is_quoted_as_its_user_entered_it() -> None:
    said = "My harbour report is due on 4 May."
    asked = (
        f"<command-message>note</command-message><command-name>/note</command-name><command-args>{said}</command-args>"
    )
    to_harness = "<command-name>/model</command-name>\n<command-args>report</command-args>"
    put_out = "<local-command-stdout>Set to the report of the harbour.</local-command-stdout>"

    async with opened() as (_, memory):
        session = await memory.session("a")
        for text in (asked, to_harness, put_out):
            await session.append({"role": "user", "content": text})
        brief = await memory.brief(goal="Write the harbour report.")
        assert [line.text.partition(" (")[0] for line in brief.lines] == [f"“/note {said}”"]


async def test_a_session_that_is_not_there_is_named() -> None:
    async with opened() as (_, memory):
        await harbour(memory)
        with pytest.raises(SessionNotFound, match="no session 'nosuch'"):
            await memory.brief(goal="test the desk", session="nosuch")


async def test_words_of_all_work_bring_up_no_episode_of_a_project() -> None:
    async with opened() as (_, memory):
        told = "I was asked: “how many desks are there?”. I ran the tests, and committed on a branch."
        await memory.remember(told, kind="episodic", project="harbour")
        await memory.remember("I ran the tests of the lighthouse.", kind="episodic", project="harbour")
        for goal in ("Commit the branch", "Run the tests", "Fix the failing test and commit"):
            assert not (await memory.brief(project="harbour", goal=goal)).lines
        found = (await memory.brief(project="harbour", goal="Test the lighthouse")).lines
        assert [line.text.split(" (")[0] for line in found] == ["I ran the tests of the lighthouse."]


class Deaf:
    """An embedder that is down."""

    name = "deaf"
    dimensions = 2

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> list[list[float]]:
        raise EmbedderError("The embedder is down.")


async def test_a_brief_says_that_the_embedder_failed_and_compares_words() -> None:
    async with opened() as (_, memory):
        await harbour(memory)
        whole = await memory.brief(goal="Keep bookings")
        mine = memory._resources
        means = Resources(store=mine.store, count=mine.count, clock=mine.clock, embedder=Deaf())
        brief = await Memory(means, memory.space).brief(goal="Keep bookings")
        assert brief.note == "Only words were compared: The embedder is down."
        assert [each.id for each in brief.lines] == [each.id for each in whole.lines]
        assert whole.note == ""
