"""What must hold of memories, whatever is told: they fade, and neither order nor number of tellings counts."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import msgspec
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.property.invariants.houses import calm

from ireneo.adapters.in_memory import InMemoryStore
from ireneo.engine.remember import Remembered, settle_drafts
from ireneo.memories.facts import facts
from ireneo.memories.intake import MemoryDetails, memory_draft
from ireneo.memories.kinds import KINDS, Encounters, activation
from ireneo.memories.record import Kind, MemoryDraft, Record, Source, normalised_words
from ireneo.memories.signature import action_signature, error_signature, signature
from ireneo.ports.memories import MemoryFilter

START = datetime(2031, 5, 1, tzinfo=UTC)
DAY = timedelta(days=1)
COLOURS = ("green", "blue", "red")

times = st.integers(min_value=-400, max_value=400).map(lambda days: START + days * DAY)
moments = st.datetimes(min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30), timezones=st.sampled_from([UTC]))
meetings = st.lists(
    st.builds(
        lambda first, last, count: Encounters(first=min(first, last), last=max(first, last), count=count),
        moments,
        moments,
        st.integers(min_value=1, max_value=10**9),
    ),
    max_size=5,
)
days = st.integers(min_value=0, max_value=8)


@st.composite
def tellings(
    draw: st.DrawFn,
    origins: Sequence[Source] = ("user", "tool"),
    kinds: Sequence[Kind] = ("semantic", "semantic", "semantic", "procedural", "failure", "episodic"),
) -> MemoryDraft:
    """Something about a few slots, procedures, failures and events, so that much of it meets."""
    kind: Kind = draw(st.sampled_from(list(kinds)))
    what = draw(st.sampled_from(COLOURS))
    recorded = START + draw(days) * DAY + timedelta(hours=draw(st.integers(0, 3)))
    told: MemoryDetails = {"kind": kind, "origin": draw(st.sampled_from(list(origins))), "recorded": recorded}
    if draw(st.booleans()):
        told["at"] = START + draw(days) * DAY
    if kind == "semantic":
        told |= {"subject": draw(st.sampled_from(["Anna", "Karl"])), "attribute": "colour", "value": what}
        if draw(st.integers(0, 4)) == 0:
            told["until"] = told.get("at", recorded) + draw(days) * DAY
        told["against"] = draw(st.integers(0, 9)) == 0
    elif kind == "procedural":
        told |= {"task_type": "paint", "name": "walls"}
    elif kind == "failure":
        told |= {"signature": f"paint {what}", "against": draw(st.booleans())}
    else:
        # Each event has one time. Told of two times within a day it has its id from the one that came first.
        told["at"] = START + COLOURS.index(what) * DAY
    told["confidence"] = draw(st.sampled_from([0.3, 0.8]))
    return memory_draft(f"It is {what}.", told, recorded)


def settled(*batches: Sequence[MemoryDraft], space: str = "mine") -> bytes:
    """Everything that a store holds once `batches` were offered one after the other, as bytes."""

    async def work() -> bytes:
        store = InMemoryStore()
        for batch in batches:
            await settle(store, batch, space)
        return await everything(store, space)

    return asyncio.run(work())


async def settle(store: InMemoryStore, offers: Sequence[MemoryDraft], space: str = "mine") -> list[Remembered]:
    return await store.write(settle_drafts, space, offers)


async def everything(store: InMemoryStore, space: str = "mine") -> bytes:
    return msgspec.json.encode(
        sorted(await store.read(lambda tx: tx.memories.list(space, MemoryFilter())), key=lambda each: each.id)
    )


def records(stored: bytes) -> list[Record]:
    return msgspec.json.decode(stored, type=list[Record])


@calm(130)
@given(
    met=meetings,
    now=moments,
    later=st.timedeltas(min_value=timedelta(0), max_value=400 * DAY),
    pace=st.sampled_from([0.1, 1.0, 4.0]),
    since=st.none() | moments,
)
def test_what_is_not_met_again_only_fades(
    met: list[Encounters], now: datetime, later: timedelta, pace: float, since: datetime | None
) -> None:
    assume(now < datetime(9998, 1, 1, tzinfo=UTC))
    before, after = activation(met, now, pace=pace, since=since), activation(met, now + later, pace=pace, since=since)
    assert 0 <= after <= before <= 1
    again = activation([*met, Encounters(first=now, last=now)], now, pace=pace, since=since)
    assert again >= before
    assert again > 0


@calm(40)
@given(offer=tellings(), now=moments, later=st.timedeltas(min_value=timedelta(0), max_value=4000 * DAY))
def test_no_kind_is_worth_more_for_lying_idle(offer: MemoryDraft, now: datetime, later: timedelta) -> None:
    assume(now < datetime(9980, 1, 1, tzinfo=UTC))
    (record,) = records(settled([offer]))
    row = KINDS[record.kind]
    assert 0 <= row.retention(record, now + later) <= row.retention(record, now) <= 1
    assert all(0 <= part < math.inf for _, part in row.score(record, now))


@calm(20)
@given(offers=st.lists(tellings(), max_size=8))
def test_telling_twice_changes_nothing(offers: list[MemoryDraft]) -> None:
    once = settled(offers)
    assert settled(offers, offers) == once
    assert settled(*([each, each] for each in offers)) == once


@calm(40)
@given(data=st.data(), offers=st.lists(tellings(), max_size=7))
def test_the_order_of_telling_makes_no_difference(data: st.DataObject, offers: list[MemoryDraft]) -> None:
    assert settled(data.draw(st.permutations(offers))) == settled(offers)


@calm(26)
@given(mine=st.lists(tellings(), max_size=5), theirs=st.lists(tellings(), max_size=5))
def test_spaces_never_mix(mine: list[MemoryDraft], theirs: list[MemoryDraft]) -> None:
    async def work() -> tuple[bytes, bytes]:
        store = InMemoryStore()
        for number in range(max(len(mine), len(theirs))):
            await settle(store, mine[number : number + 1], "mine")
            await settle(store, theirs[number : number + 1], "theirs")
        return await everything(store, "mine"), await everything(store, "theirs")

    assert asyncio.run(work()) == (settled(mine), settled(theirs))


@calm(40)
@given(offers=st.lists(tellings(), max_size=8), moment=days)
def test_what_was_believed_then_is_what_was_told_until_then(offers: list[MemoryDraft], moment: int) -> None:
    until = START + moment * DAY
    facts_of = [each for each in offers if each.kind == "semantic"]
    whole = records(settled(facts_of))
    replayed = records(settled([each for each in facts_of if each.recorded <= until]))
    for key in {each.key for each in whole}:
        now = [each for each in whole if each.key == key]
        then = [each for each in replayed if each.key == key]
        assert facts(now, believed_at=until) == facts(then)


@calm(34)
@given(
    first=tellings(["user"], ["semantic"]),
    more=st.lists(tellings(["user"], ["semantic"]), max_size=5),
    value=st.sampled_from(COLOURS),
)
def test_a_less_trusted_contradiction_never_changes_what_is_active(
    first: MemoryDraft, more: list[MemoryDraft], value: str
) -> None:
    row = KINDS["semantic"]
    told = START + 30 * DAY
    # It is told last; of slots in which nothing holds any more it would be no contradiction.
    offers = [replace(first, until=None, against=False, at=START, recorded=START), *more]
    before = {each.id: each for each in records(settled(offers))}
    word = replace(first, value=value, text=f"It is {value}.", origin="tool", trust=0.5, at=told, recorded=told)
    word = replace(word, until=None, against=False)
    slot = [each for each in before.values() if each.key == row.key(word)]
    assume(any(row.holds(each, told) for each in slot))
    for each in records(settled([*offers, word])):
        assert row.holds(each, told) == (each.id in before and row.holds(before[each.id], told))


texts = st.text(max_size=80) | st.lists(
    st.sampled_from(
        (
            "/usr/lib/x.py¦'a b'¦\"q¦0x7ffe12¦12:04:33¦3.14¦a/b¦deadbeef01¦Error: ¦\n¦; ¦…¦it's¦ ¦<n>¦not found¦"
            "C:\\temp\\y.txt¦--flag=3¦https://x.org/y?z=1¦⇒¦```¦failed"
        ).split("¦")
    ),
    max_size=12,
).map("".join)


@calm(200)
@given(text=texts)
def test_the_signature_of_a_signature_is_itself(text: str) -> None:
    once = error_signature(text)
    assert error_signature(once) == once
    assert len(once) <= 300
    key = signature(action_signature("Bash", {"command": text}), once)
    assert signature(*key.split(" ⇒ ")) == key if key else not once
    assert normalised_words(normalised_words(text)) == normalised_words(text)
