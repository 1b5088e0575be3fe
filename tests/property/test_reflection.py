"""Looking back on any episodes: a conclusion cites two events and stands once, however often and by however many."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st
from tests.property.invariants.houses import calm, memory_over

from ireneo.adapters.in_memory import InMemoryStore
from ireneo.engine.reflect import ReflectionResult
from ireneo.memories.intake import MemoryDetails
from ireneo.memories.record import Record
from ireneo.memories.reflect import MOST_CONCLUSIONS, distinct_events
from ireneo.ports.memories import MemoryFilter

START = datetime(2026, 5, 1, 12, tzinfo=UTC)
TEXTS = (
    "`make lint` failed.",
    "`make lint` passed.",
    "I was asked for 3 reports. `pytest -q` failed: 2 errors.",
    "Anna missed the early train to Porto.",
    "Bernardo edited src/loop.py and src/desk.py again.",
    "Nothing of note.",
)
told = st.lists(st.tuples(st.sampled_from(TEXTS), st.integers(0, 9), st.sampled_from(["", "a", "b"])), max_size=24)


@calm(26)
@given(told, st.integers(1, 3))
async def test_reflecting_again_adds_nothing(episodes: list[tuple[str, int, str]], workers: int) -> None:
    store = InMemoryStore()
    memories = [memory_over(store) for _ in range(workers)]
    offers: list[tuple[str, MemoryDetails]] = [
        (text, {"kind": "episodic", "at": START + timedelta(days=day), "session": session})
        for text, day, session in episodes
    ]
    await memories[0].remember_all(offers)
    done = await asyncio.gather(*(memory.reflect(force=True) for memory in memories))
    assert all(len(each.conclusions) <= MOST_CONCLUSIONS for each in done)
    held = {each.id: each for each in await store.read(lambda tx: tx.memories.list("mine", MemoryFilter()))}
    drawn = [each for each in held.values() if each.kind == "semantic"]
    for each in drawn:
        cited = [held[name] for name in each.evidence[0].memories]
        assert len(distinct_events(cited)) >= 2
        assert all(record.kind == "episodic" for record in cited)
        assert each.seen == 1
    assert all(each.reflected for each in held.values() if each.kind == "episodic")
    for memory in memories:
        assert await memory.reflect(force=True) == ReflectionResult()
    assert {each.id: each for each in await store.read(lambda tx: tx.memories.list("mine", MemoryFilter()))} == held
    assert _slots(drawn) == len(drawn)


def _slots(drawn: list[Record]) -> int:
    return len({(each.subject, each.attribute) for each in drawn})
