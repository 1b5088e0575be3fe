"""Remembering in a store: sources, echoes, what falls with what it was drawn from, and several processes at once."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.property.invariants.promises import TOKENS

import ireneo
import ireneo.sync
from ireneo import BadInput, Memory
from ireneo.adapters.in_memory import InMemoryStore
from ireneo.engine.resources import Resources
from ireneo.errors import MemoryNotFound
from ireneo.memories.intake import MemoryDetails
from ireneo.memories.record import Kind, Record
from ireneo.ports.memories import MemoryFilter
from ireneo.testing.scripted import ManualClock

DAY = timedelta(days=1)


class TickingClock(ManualClock):
    """A clock that goes on by a second whenever it is looked at."""

    def now(self) -> datetime:
        self.move(timedelta(seconds=1))
        return super().now()


@asynccontextmanager
async def memory_of(folder: Path | None = None) -> AsyncIterator[Memory]:
    """A memory in memory, or in a folder."""
    if folder is None:
        yield Memory(Resources(store=InMemoryStore(), count=TOKENS.count, clock=TickingClock()), "mine")
    else:
        async with ireneo.open(folder / "memory.db", durability="normal") as memory:
            yield memory


async def test_a_conclusion_falls_and_rises_with_what_it_was_drawn_from() -> None:
    async with memory_of() as memory:
        home = (await memory.remember("Anna lives in Porto.")).record
        near = (await memory.remember("Anna can walk to the sea.", origin="derived", memories=[home.id])).record
        boat = (await memory.remember("Anna might want a boat.", origin="derived", memories=[near.id])).record
        done = await memory.remember("Anna lives in Madrid.")
        assert done.did == "superseded"
        stale = {each.id: each.stale for each in done.changed}
        assert "“Porto”" in stale[near.id]
        assert "superseded" in stale[near.id]
        assert "must be reconsidered itself" in stale[boat.id]
        back = await memory.remember("Anna lives in Porto.")
        lifted = {each.id for each in back.changed if not each.stale}
        assert lifted >= {near.id, boat.id}
        # With ground of its own it stays, whatever becomes of the rest.
        await memory.remember("Anna can walk to the sea.")
        await memory.remember("Anna lives in Madrid.")
        (near, boat) = await memory.get([near.id, boat.id])
        assert (near.stale, boat.stale) == ("", "")


async def test_what_is_drawn_from_something_fallen_is_marked_at_once() -> None:
    async with memory_of() as memory:
        home = (await memory.remember("Anna lives in Porto.")).record
        await memory.remember("Anna lives in Madrid.")
        done = await memory.remember("Anna can walk to the sea.", origin="derived", memories=[home.id])
        assert "superseded" in done.record.stale


async def test_what_was_recalled_is_no_evidence_for_itself() -> None:
    async with memory_of() as memory:
        session = await memory.session("run")
        await session.append(
            [
                {"role": "user", "content": "The kettle leaks."},
                {"role": "assistant", "content": "So the kettle leaks."},
                {"role": "user", "content": "<system-reminder>The kettle leaks.</system-reminder>"},
            ]
        )
        heard, said, put = await session.messages()
        first = await memory.remember("The kettle leaks.", messages=[heard.id], session="run")
        for sources in ([], [said.id]):
            echo = await memory.remember("the kettle leaks", origin="agent", messages=sources)
            assert (echo.did, echo.record) == ("ignored", first.record)
        shown = await memory.remember("- The kettle leaks. [m_abcdefg]", origin="derived", kind="episodic")
        assert (shown.did, shown.record.id) == ("ignored", first.record.id)
        assert (await memory.remember("The kettle leaks.", origin="tool")).did == "reinforced"
        assert (await memory.remember("The kettle does not leak.", origin="agent")).did == "added"
        assert put.draft.origin == "injected"
        reminded = await memory.remember("The kettle leaks.", messages=[put.id])
        assert (reminded.did, reminded.record.seen) == ("ignored", 2)


async def test_that_something_held_has_ended_is_no_echo_of_it() -> None:
    async with memory_of() as memory:
        now = datetime.now(UTC)
        lamp: MemoryDetails = {"subject": "lamp", "attribute": "keeper", "value": "Perpetua", "origin": "agent"}
        await memory.remember("Perpetua keeps the lamp.", recorded=now - 9 * DAY, **lamp)
        ended = await memory.remember("Perpetua keeps the lamp.", recorded=now - DAY, until=now - 2 * DAY, **lamp)
        assert ended.record.state == "retired"
        assert not await memory.recall("Who keeps the lamp?")


async def test_a_source_that_is_not_there_is_refused_and_nothing_is_written() -> None:
    async with memory_of() as memory:
        await (await memory.session("run")).append({"role": "user", "content": "The kettle leaks."})
        for sources in ({"messages": ["m_none"]}, {"memories": ["m_none"]}, {"summaries": ["s_none"]}):
            with pytest.raises(BadInput, match="There is no"):
                await memory.remember_all([("The kettle leaks.", {}), ("It does.", sources)])  # type: ignore[list-item]
        assert list(await memory._store.read(lambda tx: tx.memories.list(memory.space, MemoryFilter()))) == []


async def test_use_is_counted_and_kept() -> None:
    async with memory_of() as memory:
        made = (await memory.remember("Run the tests twice.", task_type="test")).record
        for number in range(12):
            (record,) = await memory.used([made.id], helped=number % 3 > 0)
        assert (record.used, len(record.uses), record.helped, record.harmed) == (12, 10, 8, 4)
        with pytest.raises(MemoryNotFound, match="m_none"):
            await memory.used([made.id, "m_none"])
        assert (await memory.get([made.id]))[0].used == 12


async def test_history_tells_what_was_true_and_what_was_believed() -> None:
    clock = ManualClock()
    memory = Memory(Resources(store=InMemoryStore(), count=TOKENS.count, clock=clock), "mine")
    start = clock.now()
    await memory.remember("Anna lives in Porto.")
    clock.move(10 * DAY)
    await memory.remember("Anna lives in Madrid.", at=start + 5 * DAY)
    clock.move(10 * DAY)
    await memory.remember("Anna lives in Oslo.", at=start + 5 * DAY)
    await memory.remember("Anna lives in Rome.", origin="tool")

    async def values(**when: object) -> list[str]:
        return [each.record.value for each in await memory.history("anna", **when)]  # type: ignore[arg-type]

    assert await values(at=start + DAY) == ["Porto"]
    assert await values(at=start + 6 * DAY) == ["Oslo"]
    assert await values(at=start + 6 * DAY, believed_at=start + 12 * DAY) == ["Madrid"]
    assert await values(at=start + 6 * DAY, believed_at=start + DAY) == ["Porto"]
    assert await values(believed_at=start - DAY) == []
    told = {each.record.value: each for each in await memory.history("Anna", "home")}
    assert (told["Madrid"].believed_from, told["Madrid"].believed_to) == (start + 10 * DAY, start + 20 * DAY)
    assert (told["Oslo"].believed_from, told["Oslo"].believed_to) == (start + 20 * DAY, None)
    assert (told["Rome"].believed_from, told["Rome"].record.state) == (None, "disputed")
    assert await values(at=start - DAY) == []


WRITER = """
import asyncio, sys
from datetime import UTC, datetime
import ireneo

async def work():
    at = datetime(2031, 5, 1, tzinfo=UTC)
    async with ireneo.open(sys.argv[1], durability="normal") as memory:
        for number in range(8):
            await memory.remember(f"Anna's favourite colour is colour{number}.", at=at, recorded=at)
            await memory.remember(f"We went to place{number}.", at=at)
            await memory.remember(f"Run {number}.", task_type=f"task{number}")
            await memory.remember(f"It failed {number}.", signature=f"do {number} ⇒ it")

asyncio.run(work())
"""


def test_two_processes_that_tell_the_same_make_one_memory_of_each(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    command = [sys.executable, "-c", WRITER, str(path)]
    running = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    errors = [each.communicate(timeout=120)[1] for each in running]
    assert [each.returncode for each in running] == [0] * 2, errors

    async def stored() -> list[Record]:
        async with ireneo.open(path) as memory:
            return list(await memory._store.read(lambda tx: tx.memories.list(memory.space, MemoryFilter())))

    records = asyncio.run(stored())
    assert len(records) == len({each.id for each in records}) == 32
    # The facts came with their own time each and are one piece of evidence; the others were told twice.
    assert sorted({(each.kind, each.seen) for each in records}) == [
        ("episodic", 2),
        ("failure", 2),
        ("procedural", 2),
        ("semantic", 1),
    ]
    assert sum(each.kind == "semantic" and each.state == "active" for each in records) == 1


async def test_a_fact_is_the_same_whether_its_slot_was_told_or_read() -> None:
    async with memory_of() as memory:
        read = await memory.remember("Anna lives in Lisbon.")
        told = await memory.remember("Anna lives in Lisbon.", subject="anna", attribute=read.record.attribute)
        in_part = await memory.remember("Anna lives in Lisbon.", subject="Anna")
        other = await memory.remember("Anna lives in Porto.", subject="Anna", attribute=read.record.attribute)
    assert (told.did, in_part.did, other.did) == ("reinforced", "reinforced", "superseded")
    assert told.record.id == in_part.record.id == read.record.id


async def test_who_moves_away_keeps_the_job() -> None:
    async with memory_of() as memory:
        works = (await memory.remember("Maria works for Siemens in Munich.")).record
        await memory.remember("Maria moved from Munich to Hamburg.")
        assert [each.holds for each in await memory.get([works.id])] == [True]


@pytest.mark.parametrize(
    ("done", "told"),
    [
        ("I restarted the harbour pump, and the port was closed meanwhile.", "episodic"),
        ("I tried to reload the new harbour pump on its port — abandoned because it leaks.", "failure"),
        ("Drain the harbour pump; change its port; start it from now with its log on.", "procedural"),
    ],
)
async def test_what_was_done_to_a_thing_ends_nothing_that_is_known_of_it(done: str, told: Kind) -> None:
    async with memory_of() as memory:
        port = (await memory.remember("The harbour pump runs on port 7401.")).record
        await memory.remember(done, kind=told)
        assert [each.holds for each in await memory.get([port.id])] == [True]
        await memory.remember("The harbour pump no longer runs on that port.")
        assert [each.holds for each in await memory.get([port.id])] == [False]


@pytest.mark.parametrize(
    ("before", "now", "holds"),
    [
        ("Eve lives in Lyon.", "Eve doesn't live in Lyon anymore, she lives in Oslo now.", "Eve lives in Oslo now."),
        ("Dan works at Acme.", "Dan left Acme and works at Globex now.", "Dan works at Globex now."),
    ],
)
def test_a_sentence_that_ends_a_fact_and_says_what_holds_instead_replaces_it(
    before: str, now: str, holds: str, tmp_path: Path
) -> None:
    with ireneo.sync.open(tmp_path / "memory.db") as memory:
        old = memory.remember(before).record
        done = memory.remember(now)
        assert (done.did, done.record.text) == ("superseded", holds)
        assert [each.text for each in memory.memories()] == [holds]
        assert [each.state for each in memory.get([old.id])] == ["superseded"]


def test_what_a_sentence_says_besides_what_it_ends_is_kept(tmp_path: Path) -> None:
    said = "I no longer prefer tabs over spaces, I use spaces."
    with ireneo.sync.open(tmp_path / "memory.db") as memory:
        memory.remember("I prefer tabs over spaces.")
        memory.remember(said)
        assert [each.text for each in memory.memories()] == [said]


def test_a_memory_that_is_ended_by_another_is_among_what_changed(tmp_path: Path) -> None:
    with ireneo.sync.open(tmp_path / "memory.db") as memory:
        old = memory.remember("The deploy port is 8080.").record
        done = memory.remember("The deploy port is 9090.")
        assert [(each.id, each.state) for each in done.changed] == [(old.id, "retired")]
        assert (done.did, done.reason) == ("added", "It ends “The deploy port is 8080”.")


async def test_the_result_counts_the_secrets_that_were_taken_out(tmp_path: Path) -> None:
    async with memory_of(tmp_path) as memory:
        secret = "ghp_" + "a1B2c3D4" * 5
        done = await memory.remember(f"The deploy token is {secret}.")
        assert sum(done.redacted.values()) == 1
        assert secret not in done.record.text
        assert not (await memory.remember("The deploy runs at noon.")).redacted


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("The deploy broke two days ago.", 2),
        ("We had the reunion yesterday.", 1),
        ("The office is on the third floor.", 0),
        ("We are going to Lund in two days.", 0),
    ],
)
async def test_what_happened_has_the_time_that_its_text_names(text: str, days: int, tmp_path: Path) -> None:
    async with memory_of(tmp_path) as memory:
        record = (await memory.remember(text)).record
        assert (record.recorded.date() - record.at.date()).days == days


PARTS: tuple[tuple[str, dict[str, str]], ...] = (
    ("I live in Porto. My cat is called Otto.", {"home": "Porto", "pet": "Otto"}),
    ("I moved to Lisbon and started at Airbus.", {"home": "Lisbon", "employer": "Airbus"}),
    ("Anna lives in Porto. She works at Siemens.", {"home": "Porto", "employer": "Siemens"}),
    ("The user lives in Porto. The user is vegan.", {"home": "Porto", "diet": "vegan"}),
    ("Ich wohne in Graz und arbeite bei Magna.", {"home": "Graz", "employer": "Magna"}),
    ("Ich bin Vegetarierin. Mein Hund heißt Bello.", {"diet": "Vegetarierin", "pet": "Bello"}),
    ("I work at Volmer as a test manager.", {"employer": "Volmer", "job": "test manager"}),
    ("- Anna lives in Porto\n- Anna works at Siemens", {"home": "Porto", "employer": "Siemens"}),
)


@pytest.mark.parametrize(("text", "slots"), PARTS)
async def test_each_statement_of_a_text_that_fills_a_slot_is_a_memory(text: str, slots: dict[str, str]) -> None:
    async with memory_of() as memory:
        sources = (await (await memory.session("run")).append(text)).ids
        done = await memory.remember(text, messages=sources, labels=["told"])
        settled = [done.record, *(each.record for each in done.more)]
        assert {each.attribute: each.value for each in settled} == slots
        assert {(each.labels, each.sources) for each in settled} == {(("told",), tuple(sources))}


async def test_what_one_statement_of_a_text_says_outlives_another() -> None:
    async with memory_of() as memory:
        await memory.remember("I live in Porto. The spare key is under the blue pot. My cat is called Otto.")
        await memory.remember("I live in Lisbon.")
        held = {each.text for each in await memory.memories(state="active")}
        assert held == {"I live in Lisbon.", "The spare key is under the blue pot.", "My cat is called Otto."}


@pytest.mark.parametrize(
    "text",
    [
        "I live in Porto in winter. I live in Bergen in summer.",
        "Anna lives in Porto. It is close to the sea.",
        "To release: first bump the version, then tag. Anna lives in Porto. Bo lives in Riga.",
        "We use Postgres. The team knows it well.",
    ],
)
async def test_a_text_stays_whole_where_no_second_statement_stands_alone(text: str) -> None:
    async with memory_of() as memory:
        done = await memory.remember(text)
        assert (done.record.text, done.more) == (text, ())


async def test_details_are_said_of_the_whole_text() -> None:
    async with memory_of() as memory:
        text = "Anna lives in Porto. Bo lives in Riga."
        for details in ({"kind": "semantic"}, {"subject": "Anna"}, {"until": datetime.now(UTC)}, {"task_type": "post"}):
            done = await memory.remember(text, **details)  # type: ignore[arg-type]
            assert (done.record.text, done.more) == (text, ())


async def test_many_texts_are_answered_one_by_one() -> None:
    async with memory_of() as memory:
        first, second = await memory.remember_all([("Anna lives in Porto. Bo lives in Riga.", {}), ("Bo sings.", {})])
        assert [each.record.text for each in (first, *first.more)] == ["Anna lives in Porto.", "Bo lives in Riga."]
        assert (second.record.text, second.more) == ("Bo sings.", ())


async def test_a_text_against_something_unknown_is_kept_with_its_source() -> None:
    async with memory_of() as memory:
        (source,) = (await (await memory.session("run")).append("The kettle is broken.")).ids
        done = await memory.remember("The kettle leaks.", against=True, messages=[source])
        assert (done.record.text, done.record.state) == ("The kettle leaks.", "retired")


async def test_who_quits_ends_nobody_elses_job() -> None:
    async with memory_of() as memory:
        mine = (await memory.remember("I work at Siemens.")).record
        await memory.remember("Mia quit Siemens.")
        assert [each.state for each in await memory.get([mine.id])] == ["active"]


@pytest.mark.parametrize(
    ("known", "told", "gone"),
    [
        (["I use Zedix.", "I use Woltix."], "I switched to Qvim.", []),
        (["Odile uses Zedix."], "I switched to Qvim.", []),
        (["I use Zedix."], "Odile switched to Qvim.", []),
        (["Odile uses Zedix.", "Odile uses Woltix."], "Odile switched to Qvim.", []),
        (["Odile uses Zedix.", "Odile uses Woltix."], "Odile now uses Qvim.", []),
        (["Odile uses Zedix."], "Runa switched to Qvim.", []),
        (["Odile drinks coffee."], "Odile also switched to tea.", []),
    ],
)
async def test_what_may_be_meant_beside_what_somebody_switched_to_stays(
    tmp_path: Path, known: list[str], told: str, gone: list[str]
) -> None:
    async with memory_of(tmp_path) as memory:
        for each in known:
            await memory.remember(each)
        found = await memory.remember(told)
        assert [each.text for each in found.changed] == gone
