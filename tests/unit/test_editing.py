"""Memories by hand: listed page by page, changed without being rewritten, put together and deleted."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from tests.planted import KINDS, planted
from tests.unit.test_scopes import said
from tests.whole import whole

import ireneo
from ireneo import sync
from ireneo.errors import BadInput, MemoryNotFound
from ireneo.log.message import short
from ireneo.types import MemoryDetails

MAY = datetime(2020, 5, 3, 12, tzinfo=UTC)


async def filled(memory: ireneo.Memory) -> list[str]:
    """Five memories, the newest first."""
    told = [
        ("The ferry was late.", {"kind": "episodic", "project": "harbour"}),
        ("Ana lives in Oslo.", {"project": "harbour", "labels": ["family", "home"]}),
        ("The mill grinds at nine.", {"project": "mill", "labels": ["home"]}),
        ("The gates close at nine.", {"project": "*"}),
        ("Bo lives in Rome.", {}),
    ]
    done = [
        await memory.remember(text, at=MAY - timedelta(days=at), **details)  # type: ignore[arg-type]
        for at, (text, details) in enumerate(told)
    ]
    return [each.record.id for each in done]


async def texts(memory: ireneo.Memory, **asked: object) -> list[str]:
    return [each.text for each in await memory.memories(**asked)]  # type: ignore[arg-type]


async def test_memories_are_listed_by_what_is_asked(memory: ireneo.Memory) -> None:
    ids = await filled(memory)
    assert [each.id for each in await memory.memories()] == ids
    assert await texts(memory, kind="episodic") == ["The ferry was late."]
    assert await texts(memory, subject="ana") == ["Ana lives in Oslo."]
    assert await texts(memory, label="home") == ["Ana lives in Oslo.", "The mill grinds at nine."]
    assert await texts(memory, label="home", project="mill") == ["The mill grinds at nine."]
    assert await texts(memory, text="AT  nine") == ["The mill grinds at nine.", "The gates close at nine."]
    assert await texts(memory, project="mill") == ["The mill grinds at nine.", "The gates close at nine."]
    assert await texts(memory, project="") == ["The gates close at nine.", "Bo lives in Rome."]
    await memory.remember("Ana lives in Bergen.", at=MAY, project="harbour")
    assert "Ana lives in Oslo." not in await texts(memory)
    assert await texts(memory, state="superseded") == ["Ana lives in Oslo."]
    assert len(await memory.memories(state="any")) == 6
    assert await texts(memory, state="archived") == []
    for wrong, sentence in (
        ({"kind": "rumour"}, "There is no kind 'rumour'"),
        ({"state": "gone"}, "`state` is 'gone'; give one of active, superseded"),
        ({"limit": 0}, "`limit` is 0; give a whole number from 1 to 1,000"),
        ({"after": "there"}, "`after` is 'there'; give the `after` of the page before"),
    ):
        with pytest.raises(BadInput, match=sentence):
            await texts(memory, **wrong)


async def test_pages_neither_repeat_nor_hide_a_memory_while_others_come_and_go(memory: ireneo.Memory) -> None:
    day = timedelta(days=1)
    for number in range(9):
        await memory.remember(f"Boat {number} has two masts.", at=MAY + day * (number // 2), project="harbour")
    seen: list[str] = []
    after = ""
    while True:
        page = await memory.memories(limit=2, after=after, project="harbour")
        seen += [each.text for each in page]
        if not page.after:
            break
        after = page.after
        await memory.remember(f"Buoy {len(seen)} is red.", at=MAY + day * 90, project="harbour")
        await memory.remember(f"Mill wheel {len(seen)} is oak.", at=MAY - day, project="mill")
        # The place where a page ended holds also where its memory is gone.
        await memory.delete([page[-1].id])
    assert sorted(seen) == [f"Boat {number} has two masts." for number in range(9)]


async def test_new_words_are_a_new_word_and_the_old_ones_stay_in_the_history(memory: ireneo.Memory) -> None:
    told = (await memory.remember("Ana lives in Oslo.", at=MAY, labels=["family"], project="harbour")).record
    moved = await memory.update(told.id, text="Ana lives in Bergen.")
    assert (moved.text, moved.value, moved.state) == ("Ana lives in Bergen.", "Bergen", "active")
    assert (moved.labels, moved.projects) == (("family",), ("harbour",))
    old, new = await memory.history("Ana", "home")
    assert (old.record.id, old.record.state, new.record.id) == (told.id, "superseded", moved.id)
    assert old.period.end == new.period.start
    with pytest.raises(BadInput, match=r"is superseded\. Since .* Change what holds, or `restore` it"):
        await memory.update(told.id, text="Ana lives in Hamar.")
    assert (await memory.update(told.id, pinned=True)).pinned
    zoe = (await memory.remember("Zoe lives in Oslo.", at=MAY)).record
    zoe = await memory.update(zoe.id, value="Trondheim")
    assert (zoe.text, zoe.value) == ("Zoe lives in Trondheim.", "Trondheim")
    plain = (await memory.remember("The gate squeaks.", at=MAY)).record
    better = await memory.update(plain.id[:9], text="The western gate squeaks.")
    (before,) = await memory.get([plain.id])
    assert (before.state, better.state) == ("retired", "active")
    assert before.reason.startswith("It was put in other words: The western gate squeaks")
    assert await texts(memory, text="squeaks") == ["The western gate squeaks."]
    event = (await memory.remember("We sailed to Rost.", kind="episodic", at=MAY)).record
    event = await memory.update(event.id, text="We sailed to Røst.")
    assert event.at == MAY
    for slot in ({"subject": "Røst", "attribute": "visited"}, {"value": "Røst"}):
        with pytest.raises(BadInput, match="fills no slot: `remember` the fact"):
            await memory.update(event.id, **slot)
    slotted = await memory.update(better.id, subject="gate", attribute="sound", value="squeaking")
    assert (slotted.subject, slotted.attribute, slotted.text) == ("gate", "sound", "The western gate squeaks.")
    reworded = await memory.update(slotted.id, text="The gate's sound is squeaking.", value="squeaking")
    assert (reworded.id, reworded.changes[-1].text) == (slotted.id, "The western gate squeaks.")


async def test_labels_a_project_and_a_pin_are_changed_beside_the_words(memory: ireneo.Memory) -> None:
    told = (await memory.remember("The gate squeaks.", labels=["old", "loud"], project="harbour")).record
    await memory.remember("The mill grinds.", project="mill")
    changed = await memory.update(told.id, labels=["loud", "wood"], pinned=True)
    assert (changed.labels, changed.pinned, changed.trust, changed.seen) == (("loud", "wood"), True, 1.0, 1)
    assert await texts(memory, label="old") == []
    await memory.update(told.id, project="mill")
    assert await texts(memory, project="harbour") == []
    assert len(await memory.recall("gate squeaks", project="mill")) == 1
    assert not await memory.recall("gate squeaks", project="harbour")
    await memory.update(told.id, project="*", pinned=False)
    for project in ("harbour", "mill", "tower"):
        assert len(await memory.recall("gate squeaks", project=project)) == 1
    (now,) = await memory.get([told.id])
    assert [each.project for each in now.changes] == [None, "mill", "*"]
    assert not now.pinned
    later = datetime(2100, 5, 3, tzinfo=UTC)
    again = (await memory.remember("The gate squeaks.", labels=["night"], project="harbour", recorded=later)).record
    assert again.labels == ("loud", "night", "wood"), "what is told since is added"
    assert again.projects == ("*", "harbour")
    for wrong, sentence in (
        ({}, "There is nothing to change"),
        ({"at": MAY}, "There is nothing to change"),
        ({"labels": "loud"}, "`labels` is 'loud'; give a list, each a string"),
        ({"labels": [" "]}, "A label is empty"),
        ({"text": "  "}, "is empty"),
        ({"project": "/tmp"}, "names no project"),
    ):
        with pytest.raises(BadInput, match=sentence):
            await memory.update(told.id, **wrong)  # type: ignore[arg-type]
    with pytest.raises(MemoryNotFound, match="`memories` lists"):
        await memory.update("m_nothing", pinned=True)


async def test_memories_that_say_the_same_become_one(memory: ireneo.Memory) -> None:
    session = await memory.session("monday")
    ids = (await session.append(said("Ana has a flat in Oslo."))).ids
    one = (await memory.remember("Ana lives in Oslo.", at=MAY, labels=["home"])).record
    two = (await memory.remember("Ana can be found in Oslo.", messages=ids, session="monday", pinned=True)).record
    drawn = (await memory.remember("Ana is a townswoman.", memories=[two.id], origin="derived")).record
    await memory.used([two.id], helped=True)
    joined = await memory.merge([one.id, two.id])
    assert (joined.id, joined.text, joined.seen) == (one.id, "Ana lives in Oslo.", 2)
    assert (joined.labels, joined.helped, joined.pinned) == (("home",), 1, True)
    assert set(ids) <= set(joined.sources)
    (gone,) = await memory.get([two.id])
    assert gone.state == "retired"
    assert gone.reason.startswith("It was merged into m_")
    (still,) = await memory.get([drawn.id])
    assert (still.stale, still.evidence[0].memories) == ("", (one.id,))
    assert await texts(memory, text="Oslo") == ["Ana lives in Oslo."]
    other = (await memory.remember("Ana was late.", kind="episodic")).record
    cat = (await memory.remember("Ana has a cat, Oslo.")).record
    steps = (await memory.remember("To reach Oslo, Ana takes the ferry.", kind="procedural", name="ferry")).record
    for ids_, sentence in (
        ([one.id], "Name at least two different memories"),
        ([one.id, one.id], "Name at least two different memories"),
        ([one.id, other.id], "says nothing of “Oslo”"),
        ([one.id, cat.id], "they are about different things"),
        ([one.id, steps.id], "they are of different kinds"),
    ):
        with pytest.raises(BadInput, match=sentence):
            await memory.merge(ids_)
    with pytest.raises(MemoryNotFound):
        await memory.merge([one.id, "m_nothing"])
    third = (await memory.remember("Ana's home is Oslo, Norway.", value="Oslo, Norway")).record
    worded = await memory.merge([one.id, third.id], text="Ana lives in Oslo in Norway.")
    assert worded.text == "Ana lives in Oslo in Norway."
    assert [each.period.start for each in await memory.history("Ana", "home") if each.record.holds] == [MAY]


async def test_a_fact_takes_in_what_was_told_of_it_and_an_event_keeps_its_day(memory: ireneo.Memory) -> None:
    event = (await memory.remember("Ana sold her flat in Oslo.", kind="episodic", at=MAY)).record
    fact = (await memory.remember("Ana lives in Oslo.", at=MAY - timedelta(days=9))).record
    assert (await memory.merge([event.id, fact.id])).id == fact.id
    (back,) = await memory.restore([event.id])
    assert (back.state, back.at) == ("active", MAY)
    assert not await memory.restore([event.id])
    again = (await memory.remember("The flat in Oslo was sold by Ana.", kind="episodic", at=MAY - timedelta(9))).record
    assert (await memory.merge([event.id, again.id])).at == MAY
    assert len(await memory.memories(kind="episodic")) == 1


async def test_new_words_are_kept_where_another_memory_has_the_value(memory: ireneo.Memory) -> None:
    told = (await memory.remember("Ana lives in a flat.", at=MAY)).record
    moved = await memory.update(told.id, value="Bergen")
    assert (moved.text, moved.attribute) == ("Ana lives in Bergen.", "home")
    back = await memory.update(moved.id, text="Ana lives in a hut.")
    assert (await memory.update(back.id, text="Ana lives in Bergen, Norway.")).id == moved.id
    assert await texts(memory, text="Bergen") == ["Ana lives in Bergen, Norway."]


async def test_new_words_that_fill_the_slot_otherwise_have_their_own_value(memory: ireneo.Memory) -> None:
    kept = (await memory.remember("I have a dog.", at=MAY)).record
    named = await memory.update(kept.id, text="My dog is called Bramble.")
    assert (kept.value, named.attribute, named.value) == ("dog", "pet", "Bramble")
    worded = await memory.update(named.id, text="Bramble is the dog that follows me home.")
    assert worded.value == "Bramble"


async def test_a_reworded_quotation_is_the_user_s_statement_and_nothing_of_it_is_lost_silently(
    memory: ireneo.Memory,
) -> None:
    session = await memory.session("pier")
    text = "My shifts at the pier are Friday and Saturday now. Our neighbour Wilma lent me her old oilskins."
    (source,) = (await session.append({"role": "user", "content": text, "timestamp": "2020-05-03T12:00:00Z"})).ids
    await memory.remember(f"On 3 May 2020 the user said: “{text}”", kind="episodic", at=MAY, messages=[source])
    twin = "On 3 May 2020 the user said: “My shifts at the pier are Friday and Saturday now.”"
    other = (await memory.remember(twin, kind="episodic", at=MAY, messages=[source])).record
    old = next(each for each in await memory.memories() if text in each.text)
    done = await memory.update(old.id, text="My shifts at the pier are Monday and Tuesday.")
    assert (done.kind, done.at.date()) == ("semantic", datetime.now(UTC).date())
    assert f"Also says so: {short(other.id)}." in done.reason
    assert "No longer said: “" in done.reason
    assert "oilskins" in done.reason
    found = await memory.recall("When are my shifts at the pier?")
    assert found[0].id == done.id
    assert source in [each.id for each in found]
    then = await memory.update(done.id, text="My shifts at the pier are Monday and Sunday.", at=MAY)
    assert (then.at, then.reason) == (MAY, f"Also says so: {short(other.id)}.")


async def test_deleting_forgets_and_offers_the_source(memory: ireneo.Memory) -> None:
    session = await memory.session("monday")
    ids = (await session.append([said("My dog is called Rex."), said("It rains.")])).ids
    rex = (await memory.remember("The user's dog is Rex.", messages=ids[:1], session="monday")).record
    rain = (await memory.remember("It rained in May.")).record
    looked = await memory.delete([rex.id, rain.id], preview=True)
    assert looked.preview
    assert len(await memory.memories()) == 2
    done = await memory.delete([rain.id, rex.id])
    assert (done.complete, [each.id for each in done.memories]) == (True, [rain.id, rex.id])
    assert [(each.session, each.message, each.text) for each in done.sources] == [
        ("monday", ids[0], "My dog is called Rex.")
    ]
    assert await texts(memory, state="any") == []
    with pytest.raises(MemoryNotFound):
        await memory.delete([rex.id])
    rex = (await memory.remember("The user's dog is Rex.", messages=ids[:1], session="monday")).record
    with pytest.raises(MemoryNotFound):
        await memory.delete([rex.id, "m_nothing"])
    assert len(await memory.memories()) == 1, "where one is not there, none goes"
    assert (await memory.delete([rex.id], source=True)).sources == ()
    assert not await memory.recall("What is the dog called, Rex?")
    with pytest.raises(BadInput, match="give a list, each a string"):
        await memory.delete(rex.id)  # type: ignore[arg-type]


async def test_an_agent_changes_what_agents_remembered_and_nothing_else(memory: ireneo.Memory) -> None:
    user = (await memory.remember("Ana lives in Oslo.", at=MAY)).record
    told = (await memory.remember("Ana lives in Rome.", origin="agent")).record
    assert told.state == "disputed", "an agent's word takes the place of no user's"
    failed = (await memory.remember("I tried to pin numpy — abandoned as its wheels are gone", kind="failure")).record
    assert (await memory.dispute(failed.id, "It works.")).record.state == "active"  # type: ignore[union-attr]
    own = (await memory.remember("The build needs make gen.", origin="agent")).record
    told_then = MemoryDetails(kind="semantic", origin="agent", at=MAY)
    other = (await memory.remember("Run make gen before a build.", **told_then)).record
    for change in (
        memory.update(user.id, text="Ana lives in Rome.", origin="agent"),
        memory.merge([own.id, user.id], origin="agent"),
        memory.delete([user.id], origin="agent"),
    ):
        with pytest.raises(BadInput, match="is the user's word; an agent changes only what agents remembered"):
            await change
    changed = await memory.update(own.id, text="The build needs make gen first.", origin="agent")
    assert (changed.origin, changed.trust) == ("agent", 0.7)
    assert (await memory.merge([changed.id, other.id], origin="agent")).seen == 2
    assert (await memory.delete([changed.id], origin="agent")).complete
    await memory.remember("Ana lives in Rome.", at=MAY)
    with pytest.raises(BadInput, match="the user's word"):
        await memory.delete([told.id], origin="agent")


async def test_no_secret_comes_in_by_a_change() -> None:
    async with ireneo.open(":memory:") as memory:
        for number, kind in enumerate(sorted(KINDS)):
            secret = planted(kind, number)
            first = (await memory.remember(f"Berth {number} is taken.", labels=[f"berth {secret.text}"])).record
            made = await memory.update(
                first.id,
                text=f"Berth {number} is free. {secret.text}",
                subject=f"berth {secret.text[:900]}",
                labels=[secret.text[:900]],
            )
            kept = whole((await memory.get([first.id, made.id]), await memory.history(made.subject)))
            assert not any(one in kept for one in secret.secrets), kind


def test_the_same_without_await() -> None:
    with sync.open(":memory:") as memory:
        one = memory.remember("The gate squeaks.", labels=["wood"]).record
        two = memory.remember("The gate makes a noise.").record
        assert memory.update(one.id, pinned=True).pinned
        assert memory.merge([one.id, two.id]).seen == 2
        assert [each.id for each in memory.memories(label="wood")] == [one.id]
        assert memory.delete([one.id]).complete
