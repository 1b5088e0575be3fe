"""What fades, the cap of a space, and what is taken out again."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace
from tests.unit.test_forget import NOON, fact, heard, kept, living, talk
from tests.unit.test_forget import keep as store_them

from ireneo.errors import BadInput, NotFound
from ireneo.memories.record import Record


def event(name: str, days: int, *, pinned: bool = False) -> Record:
    """Something that happened so many days ago."""
    at = NOON - timedelta(days=days)
    piece = replace(heard(), at=at, recorded=at)
    told = fact(name, f"Event {name}.", piece)
    return replace(told, kind="episodic", at=at, recorded=at, pinned=pinned)


EVENTS = (event("a", 400), event("b", 1), event("c", 90), event("d", 900, pinned=True), event("e", 10))


async def test_what_was_not_used_for_longest_is_listed_first_with_the_reason() -> None:
    async with living() as (memory, store):
        await store_them(store, *EVENTS, replace(event("f", 90), reflected=NOON - timedelta(days=80)))
        listed = await memory.archive_candidates(10)
        # One that was reflected on fades faster; a pinned one never.
        assert [each.record.id for each in listed] == ["m_a", "m_f", "m_c", "m_e", "m_b"]
        assert [each.retention for each in listed] == sorted(each.retention for each in listed)
        assert listed[0].reason == "never used for 400 days"
        assert listed[1].reason == "never used for 90 days, reflected on"
        assert [each.record.id for each in await memory.archive_candidates(1)] == ["m_a"]


async def test_the_least_retained_are_put_away_and_taken_out_again() -> None:
    async with living() as (memory, store):
        await store_them(store, *EVENTS)
        assert await memory.archive(5) == []
        assert await memory.archive(3) == ["m_a", "m_c"]
        assert await memory.archive(3) == []
        left = await kept(store)
        assert {name for name, record in left.items() if record.archived} == {"m_a", "m_c"}
        assert [each.record.id for each in await memory.archive_candidates()] == ["m_e", "m_b"]
        (back,) = await memory.restore(["m_c"])
        assert (back.id, back.archived) == ("m_c", False)
        # Of what is pinned nothing is put away, however low the cap.
        assert set(await memory.archive(0)) == {"m_c", "m_e", "m_b"}
        assert not (await kept(store))["m_d"].archived


async def test_what_passed_and_nobody_asked_for_fades_where_its_messages_tell_it_still() -> None:
    async with living() as (memory, store):
        (said, *_) = await talk(memory)
        long_ago = NOON - timedelta(days=800)

        def told(name: str, *, by_hand: bool = False, times: int = 1, used: int = 0, days: int = 800) -> Record:
            at = NOON - timedelta(days=days)
            piece = replace(heard(*(() if by_hand else (said,))), at=at, recorded=at)
            pieces = [replace(piece, recorded=at + timedelta(days=each)) for each in range(times)]
            record = replace(fact(name, f"Event {name}.", *pieces), kind="episodic", at=at, recorded=at)
            return replace(record, used=used, uses=(long_ago,) * used)

        home = replace(fact("home", "Ann lives at the mole.", replace(heard(said), at=long_ago)), recorded=long_ago)
        await store_them(
            store,
            told("gone"),
            told("byhand", by_hand=True),
            told("twice", times=2),
            told("used", used=1),
            told("young", days=90),
            home,
        )
        report = await memory.work(until_idle=True)
        assert report.archived == 1
        (away,) = await memory.archived()
        assert (away.id, away.archived_at) == ("m_gone", NOON)
        assert away.archived_why == "never used for 800 days: it has faded"
        # Whoever takes it back has asked for it.
        (back,) = await memory.restore(["m_gone"])
        assert (back.archived_at, back.archived_why, back.used) == (None, "", 1)
        assert (await memory.work(until_idle=True)).archived == 0
        assert await memory.archived() == []


async def test_what_holds_outlasts_what_happened_and_of_equals_the_one_written_last() -> None:
    async with living() as (memory, store):
        old = NOON - timedelta(days=3_000)
        lasting = replace(fact("a", "Ann lives at the mole.", replace(heard(), at=old, recorded=old)), recorded=old)
        # It happened long ago, and was told today.
        youth = replace(
            event("b", 20_000), evidence=(replace(heard(), at=NOON - timedelta(days=20_000)),), recorded=NOON
        )
        later, first = event("c", 30), replace(event("d", 30), recorded=NOON - timedelta(days=31))
        first = replace(first, evidence=later.evidence, at=later.at)
        later = replace(later, recorded=NOON - timedelta(days=30))
        await store_them(store, lasting, youth, later, first)
        listed = [each.record.id for each in await memory.archive_candidates(10)]
        assert listed == ["m_d", "m_c", "m_b", "m_a"]
        assert await memory.archive(3) == ["m_d"]
        (away,) = await memory.archived()
        assert away.archived_why.endswith("the least worth of more than 3")


async def test_what_can_not_be_is_said() -> None:
    async with living() as (memory, store):
        await store_them(store, *EVENTS)
        with pytest.raises(BadInput, match="-1"):
            await memory.archive(-1)
        with pytest.raises(BadInput, match="at least 1"):
            await memory.archive_candidates(0)
        with pytest.raises(NotFound, match="m_none"):
            await memory.restore(["m_a", "m_none"])
        assert not any(record.archived for record in (await kept(store)).values())


async def test_what_became_too_old_is_listed_with_what_was_archived() -> None:
    async with living() as (memory, store):
        old = replace(heard(), against=True, until=NOON - timedelta(days=3))
        await store_them(store, replace(fact("cold", "A cold.", heard(), old), state="retired", reason="Old."))
        await store_them(store, replace(fact("gone", "A cat.", heard(), replace(old, why="No.")), state="retired"))
        (away,) = await memory.archived()
        assert (away.id, away.archived_at, away.archived_why) == ("m_cold", NOON - timedelta(days=3), "Old.")


async def test_what_was_read_from_an_old_chat_is_not_told_today() -> None:
    async with living() as (memory, store):
        old = NOON - timedelta(days=200)
        read = replace(fact("a", "Ann lives at the mole.", replace(heard("m_1"), at=old, recorded=NOON)), recorded=NOON)
        by_hand = replace(fact("b", "Ann has a boat.", replace(heard(), at=old, recorded=NOON)), recorded=NOON)
        await store_them(store, read, by_hand)
        why = {each.record.id: each.reason for each in await memory.archive_candidates(10)}
        assert why == {"m_a": f"from {old:%B %Y}", "m_b": "told today"}
