"""Memories: kept whole under their ids, and found by key, by what they are, and by what they come from."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone

from msgspec.structs import replace

from ireneo.memories.record import MemoryId, Period, Record
from ireneo.ports.memories import Wanted
from ireneo.ports.store import Store
from ireneo.testing.conformance.check import check, expect
from ireneo.testing.conformance.learned import cited, learned
from ireneo.testing.conformance.material import MINUTE, NOON, SPACE


async def put(store: Store, *records: Record) -> int:
    """Store memories in a transaction of their own."""
    async with store.write() as tx:
        return await tx.memories.put(SPACE, records)


async def listed(store: Store, wanted: Wanted, limit: int | None = None) -> list[str]:
    """The texts of the memories that are meant."""
    async with store.read() as tx:
        return [each.text for each in await tx.memories.list(SPACE, wanted, limit)]


def texts(records: Sequence[Record]) -> list[str]:
    """What records say."""
    return [each.text for each in records]


@check
async def a_memory_comes_back(store: Store) -> None:
    """A memory comes back equal, with all that it says, whatever characters it has."""
    plain = learned("The ferry leaves at “noon”.\n\x00 \U0001f9e0", key="ferry\x1fleaves")
    abroad = datetime(2031, 5, 9, 23, 59, 59, 999_999, tzinfo=timezone(-timedelta(hours=9, minutes=30)))
    full = replace(
        learned("Anna moved to Oslo.", kind="episodic"),
        evidence=(cited(NOON, messages=("m_1",)), replace(cited(abroad), until=NOON, against=True, trust=0.25)),
        seen=70,
        state="superseded",
        reason="it was told otherwise",
        superseded_by=plain.id,
        periods=(Period(start=NOON), Period(start=abroad, end=NOON)),
        valid_from=abroad,
        valid_to=NOON,
        retired=NOON,
        salience=0.1,
        confidence=1.0,
        subject="Anna",
        attribute="home",
        value="Oslo",
        task_type="moving",
        name="a name",
        version=3,
        signature="sig",
        conditions={"tool": "make", "version": "4"},
        uses=(NOON, abroad),
        used=2,
        helped=1,
        harmed=1,
        reflected=NOON,
        stale="what it was drawn from no longer holds",
        pinned=True,
        archived=True,
    )
    expect(await put(store, plain, full), 2, "new")
    async with store.read() as tx:
        expect(list(await tx.memories.get(SPACE, [full.id, plain.id])), [full, plain], "the memories")


@check
async def a_memory_is_replaced(store: Store) -> None:
    """A memory whose id is taken takes its place in everything that it is found by, and doesn't count as new."""
    first = replace(
        learned("It is red.", key="k"), subject="Door", evidence=(cited(NOON, messages=("m_old", "m_both")),)
    )
    second = replace(
        first,
        text="It is blue.",
        key="l",
        subject="Gate",
        state="retired",
        at=NOON + MINUTE,
        evidence=(cited(NOON, messages=("m_both", "m_new")),),
    )
    expect(await put(store, first), 1, "new")
    expect(await put(store, second, learned("Another one."), second), 1, "new of three")
    async with store.read() as tx:
        memories = tx.memories
        expect(list(await memories.get(SPACE, [first.id])), [second], "the memory")
        expect(list(await memories.of_key(SPACE, "semantic", "k")), [], "what is under its old key")
        expect(list(await memories.of_key(SPACE, "semantic", "l")), [second], "what is under its new key")
        expect(list(await memories.list(SPACE, Wanted(subject="door"))), [], "what has its old subject")
        expect(list(await memories.list(SPACE, Wanted(subject="gate"))), [second], "what has its new subject")
        expect(list(await memories.citing(SPACE, ["m_old"])), [], "what cites its old source")
        expect(list(await memories.citing(SPACE, ["m_both", "m_new"])), [second], "what cites its new ones")


@check
async def memories_are_found_by_the_beginning_of_their_id(store: Store) -> None:
    """Memories come in the order asked, each once, those of one beginning by id, at most ten of them."""
    many = [replace(learned("x"), id=MemoryId(f"m_{number:02}x"), text=f"number {number}") for number in range(12)]
    await put(store, *reversed(many))
    async with store.read() as tx:
        found = await tx.memories.get(SPACE, ["m_05", "m_11x", "m_05x", "unknown", "m_0"])
        expect(texts(found), [f"number {n}" for n in (5, 11, 0, 1, 2, 3, 4, 6, 7, 8, 9)], "what is found")
        expect(texts(await tx.memories.get(SPACE, ["m_"])), [f"number {n}" for n in range(10)], "the first ten")
        expect(list(await tx.memories.get(SPACE, ["m_%", "M_05x", "5x"])), [], "what begins otherwise")
        expect(list(await tx.memories.get(SPACE, [])), [], "what nobody asked for")


@check
async def memories_stand_under_their_key(store: Store) -> None:
    """Those of a kind under one key come by when they were recorded, then by id, in whatever state."""
    late = learned("late", key="a\x1fb", recorded=NOON + MINUTE)
    early = replace(learned("early", key="a\x1fb", recorded=NOON - MINUTE), state="superseded", archived=True)
    same = [learned(f"same {number}", key="a\x1fb") for number in range(3)]
    other = [learned("other key", key="a\x1fB"), learned("other kind", kind="failure", key="a\x1fb"), learned("none")]
    await put(store, late, *same, *other, early)
    async with store.read() as tx:
        wanted = [early, *sorted(same, key=lambda each: each.id), late]
        expect(list(await tx.memories.of_key(SPACE, "semantic", "a\x1fb")), wanted, "those under the key")
        expect(list(await tx.memories.of_key(SPACE, "procedural", "a\x1fb")), [], "those of a kind that has none")
        expect(texts(await tx.memories.of_key(SPACE, "semantic", "")), ["none"], "those without a key")


@check
async def memories_are_listed_by_time(store: Store) -> None:
    """The newest come first, those of one time by id, and no more than are wanted."""
    times = [NOON + MINUTE, NOON, NOON - MINUTE * 9, NOON, (NOON + MINUTE * 2).astimezone(timezone(timedelta(hours=5)))]
    records = [learned(f"{number}", at=at) for number, at in enumerate(times)]
    await put(store, *records)
    tied = [each.text for each in sorted((records[1], records[3]), key=lambda each: each.id)]
    expect(await listed(store, Wanted()), ["4", "0", *tied, "2"], "all")
    expect(await listed(store, Wanted(), 2), ["4", "0"], "the first two")
    expect(await listed(store, Wanted(), 0), [], "the first none")


@check
async def memories_are_listed_by_what_they_are(store: Store) -> None:
    """Only those come of which all that is asked for is true."""
    base = learned("base", kind="episodic")
    change = {
        "kind": replace(base, kind="failure"),
        "subject": replace(base, subject=" \u1e9e\u0130 Anna "),
        "task": replace(base, task_type="Fix Tests"),
        "retired": replace(base, state="retired"),
        "disputed": replace(base, state="disputed"),
        "archived": replace(base, archived=True),
        "reflected": replace(base, reflected=NOON),
        "stale": replace(base, stale="why"),
        "lesson": replace(base, cue="edit unread", stale="why"),
        "other lesson": replace(base, cue="Edit unread", kind="failure", task_type="fix tests"),
        "both": replace(base, subject="\u1e9e\u0130 ANNA", task_type="fix tests", stale="why", archived=True),
    }
    named = {name: replace(each, id=MemoryId(f"m_{name}"), text=name) for name, each in change.items()}
    await put(store, base, *named.values())
    every = {"base", *named}
    cases: list[tuple[Wanted, set[str]]] = [
        (Wanted(), every),
        (Wanted(kind="failure"), {"kind", "other lesson"}),
        (Wanted(kind="episodic"), every - {"kind", "other lesson"}),
        (Wanted(kind="procedural"), set()),
        (Wanted(states=("retired", "disputed")), {"retired", "disputed"}),
        (Wanted(states=("erased",)), set()),
        (Wanted(subject="\u1e9e\u0130 anna"), {"subject", "both"}),
        (Wanted(subject="  ss\u0130 ANNA"), {"subject", "both"}),
        (Wanted(subject="ann"), set()),
        (Wanted(subject=""), every - {"subject", "both"}),
        (Wanted(task_type="FIX tests "), {"task", "both", "other lesson"}),
        (Wanted(task_type=""), every - {"task", "both", "other lesson"}),
        (Wanted(archived=True), {"archived", "both"}),
        (Wanted(archived=False), every - {"archived", "both"}),
        (Wanted(unreflected=True), every - {"reflected"}),
        (Wanted(kind="episodic", unreflected=True), every - {"reflected", "kind", "other lesson"}),
        (Wanted(stale=True), {"stale", "both", "lesson"}),
        (Wanted(stale=True, archived=False), {"stale", "lesson"}),
        (Wanted(kind="episodic", subject="\u1e9e\u0130 anna", task_type="fix tests", states=("active",)), {"both"}),
        (Wanted(kind="failure", task_type="fix tests"), {"other lesson"}),
        (Wanted(kind="failure", subject="ss\u0130 anna"), set()),
        (Wanted(lessons=True), {"lesson", "other lesson"}),
        (Wanted(lessons=True, kind="failure"), {"other lesson"}),
        (Wanted(lessons=True, stale=True), {"lesson"}),
        (Wanted(cues=("edit unread",)), {"lesson"}),
        (Wanted(cues=("Edit unread", "edit unread", "edit")), {"lesson", "other lesson"}),
        (Wanted(cues=("edit unread", "Edit unread"), task_type="FIX tests", lessons=True), {"other lesson"}),
        (Wanted(cues=("edit",)), set()),
        (Wanted(cues=("",)), set()),
        (Wanted(kind="episodic", unreflected=True, states=("retired",), archived=False), {"retired"}),
    ]
    for wanted, found in cases:
        expect(set(await listed(store, wanted)), found, f"those with {wanted}")


@check
async def memories_know_what_they_come_from(store: Store) -> None:
    """Whatever cites a message, a summary or a memory is found by it, each once, by when it was recorded."""
    first = replace(learned("first", recorded=NOON - MINUTE), evidence=(cited(NOON, messages=("m_a", "m_b")),))
    second = replace(learned("second"), evidence=(cited(NOON, summaries=("s_a",)), cited(NOON, messages=("m_a",))))
    third = replace(learned("third", recorded=NOON + MINUTE), evidence=(cited(NOON, memories=(first.id,)),))
    await put(store, third, second, first, learned("fourth"))
    async with store.read() as tx:
        memories = tx.memories
        expect(texts(await memories.citing(SPACE, ["m_a"])), ["first", "second"], "what cites a message")
        expect(texts(await memories.citing(SPACE, ["m_b", "m_a", "m_a"])), ["first", "second"], "what cites two")
        expect(texts(await memories.citing(SPACE, ["s_a"])), ["second"], "what cites a summary")
        expect(texts(await memories.citing(SPACE, [first.id, "s_a"])), ["second", "third"], "what cites a memory")
        expect(list(await memories.citing(SPACE, ["m_", "M_A", second.id])), [], "what nobody cites")
        expect(list(await memories.citing(SPACE, [])), [], "what cites nothing that was asked for")


@check
async def a_memory_goes(store: Store) -> None:
    """A memory that is taken out is found by nothing any more, and may be stored again."""
    gone = replace(learned("gone", key="k"), subject="Anna", evidence=(cited(NOON, messages=("m_a",)),))
    kept = replace(learned("kept", key="k"), subject="Anna", evidence=(cited(NOON, messages=("m_a",)),))
    await put(store, gone, kept)
    async with store.write() as tx:
        expect(await tx.memories.remove(SPACE, [gone.id, MemoryId("m_unknown"), gone.id]), 1, "how many there were")
        expect(await tx.memories.remove(SPACE, []), 0, "how many there were of none")
    async with store.read() as tx:
        memories = tx.memories
        expect(list(await memories.get(SPACE, [gone.id])), [], "the memory")
        expect(list(await memories.of_key(SPACE, "semantic", "k")), [kept], "what is under its key")
        expect(list(await memories.list(SPACE, Wanted(subject="anna"))), [kept], "what has its subject")
        expect(list(await memories.citing(SPACE, ["m_a"])), [kept], "what cites its source")
    expect(await put(store, gone), 1, "new when it is stored again")
    async with store.read() as tx:
        expect({each.id for each in await tx.memories.citing(SPACE, ["m_a"])}, {gone.id, kept.id}, "what cites then")


@check
async def a_time_is_a_time_in_any_zone(store: Store) -> None:
    """Memories are ordered by the moment, to the microsecond, and not by how it is written."""
    east = datetime(2031, 5, 10, 1, tzinfo=timezone(timedelta(hours=13)))
    order = [NOON + timedelta(microseconds=1), NOON, east, datetime(1, 1, 2, tzinfo=UTC)]
    records = [learned(f"{place}", at=at) for place, at in enumerate(order)]
    tied = sorted((1, 2), key=lambda place: records[place].id)
    await put(store, *reversed(records))
    expect(await listed(store, Wanted()), ["0", *map(str, tied), "3"], "the order")
