"""Faults that other projects met in the field, where memories could have them too; each test is named for its fault."""

from __future__ import annotations

from datetime import timedelta

from tests.property.invariants.promises import TOKENS

from ireneo import Draft, Memory
from ireneo.adapters.in_memory import InMemoryStore
from ireneo.engine.resources import Resources
from ireneo.log.message import Text
from ireneo.memories.kinds import KINDS
from ireneo.testing.scripted import ManualClock


def memory_at(clock: ManualClock) -> Memory:
    return Memory(Resources(store=InMemoryStore(), count=TOKENS.count, clock=clock), "mine")


async def test_openclaw_75972_a_summary_beside_its_originals_is_no_second_evidence() -> None:
    memory = memory_at(ManualClock())
    session = await memory.session("run")
    await session.append(
        [
            Draft(role="user", parts=(Text(text="The pump must stay off."),)),
            Draft(role="user", origin="summary", parts=(Text(text="The pump must stay off."),)),
        ]
    )
    heard, retold = await session.messages()
    first = await memory.remember("The pump must stay off.", messages=[heard.id])
    again = await memory.remember("The pump must stay off.", messages=[retold.id])
    assert (again.did, again.record) == ("ignored", first.record)
    fresh = await memory.remember("The valve is open.", messages=[retold.id], origin="agent")
    assert fresh.record.sources == ()


async def test_openclaw_1084_a_failure_is_still_known_long_after_it_happened() -> None:
    clock = ManualClock()
    memory = memory_at(clock)
    told = await memory.remember("I tried the old pump; it failed.", signature="start pump ⇒ no pressure")
    clock.move(timedelta(days=2000))
    (record,) = await memory.get([told.record.id])
    row = KINDS[record.kind]
    assert row.holds(record, clock.now())
    assert row.retention(record, clock.now()) > 0.1
    again = await memory.remember("It failed again.", signature="start pump ⇒ no pressure")
    assert (again.did, again.record.id, again.record.seen) == ("reinforced", record.id, 2)


async def test_codex_38931_telling_a_finished_thing_again_does_not_open_it_again() -> None:
    clock = ManualClock()
    memory = memory_at(clock)
    day = clock.now()
    slot = {"subject": "the migration", "attribute": "status"}
    await memory.remember("The migration is open.", value="open", at=day, messages=[], **slot)
    clock.move(timedelta(days=1))
    await memory.remember("The migration is done.", value="done", **slot)
    clock.move(timedelta(days=1))
    # What was said of the first day is read and told once more.
    late = await memory.remember("The migration is open.", value="open", at=day, **slot)
    assert (late.did, late.record.state) == ("reinforced", "superseded")
    (now,) = await memory.history("the migration", "status", at=clock.now())
    assert now.record.value == "done"
