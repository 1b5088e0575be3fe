"""Memories, kept whole and found by key, by what they are and by what they come from; and scratchpads."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone

from msgspec.structs import replace

from ireneo.memories.record import MemoryId, Period, Record
from ireneo.ports.memories import MemoryFilter
from ireneo.ports.store import Transaction
from ireneo.testing.conformance.check import Place, expect
from ireneo.testing.conformance.material import MINUTE, NOON, SPACE, cited, learned, pad


def put(tx: Transaction, *records: Record) -> int:
    """Store memories."""
    return tx.memories.put(SPACE, records)


def listed(tx: Transaction, wanted: MemoryFilter, limit: int | None = None) -> list[str]:
    """The texts of the memories that are meant."""
    return [each.text for each in tx.memories.list(SPACE, wanted, limit)]


def texts(records: Sequence[Record]) -> list[str]:
    """What records say."""
    return [each.text for each in records]


class MemoryChecks:
    """What every store's memories and scratchpads do."""

    def a_memory_comes_back(self, store: Place) -> None:
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
        expect(put(store, plain, full), 2, "new")
        expect(store.memories.get(SPACE, [full.id, plain.id]), [full, plain], "the memories")

    def a_memory_is_replaced(self, store: Place) -> None:
        """A memory with a known id replaces the stored one in every index, and doesn't count as new."""
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
        expect(put(store, first), 1, "new")
        expect(put(store, second, learned("Another one."), second), 1, "new of three")
        memories = store.memories
        expect(memories.get(SPACE, [first.id]), [second], "the memory")
        expect(memories.of_key(SPACE, "semantic", "k"), [], "what is under its old key")
        expect(memories.of_key(SPACE, "semantic", "l"), [second], "what is under its new key")
        expect(memories.list(SPACE, MemoryFilter(subject="door")), [], "what has its old subject")
        expect(memories.list(SPACE, MemoryFilter(subject="gate")), [second], "what has its new subject")
        expect(memories.citing(SPACE, ["m_old"]), [], "what cites its old source")
        expect(memories.citing(SPACE, ["m_both", "m_new"]), [second], "what cites its new ones")

    def memories_are_found_by_the_beginning_of_their_id(self, store: Place) -> None:
        """Memories come in the order asked, each once, those of one beginning by id, at most ten of them."""
        many = [replace(learned("x"), id=MemoryId(f"m_{number:02}x"), text=f"number {number}") for number in range(12)]
        put(store, *reversed(many))
        found = store.memories.get(SPACE, ["m_05", "m_11x", "m_05x", "unknown", "m_0"])
        expect(texts(found), [f"number {n}" for n in (5, 11, 0, 1, 2, 3, 4, 6, 7, 8, 9)], "what is found")
        expect(texts(store.memories.get(SPACE, ["m_"])), [f"number {n}" for n in range(10)], "the first ten")
        expect(store.memories.get(SPACE, ["m_%", "M_05x", "5x"]), [], "what begins otherwise")
        expect(store.memories.get(SPACE, []), [], "what nobody asked for")

    def memories_stand_under_their_key(self, store: Place) -> None:
        """Those of a kind under one key come by when they were recorded, then by id, in whatever state."""
        late = learned("late", key="a\x1fb", recorded=NOON + MINUTE)
        early = replace(learned("early", key="a\x1fb", recorded=NOON - MINUTE), state="superseded", archived=True)
        same = [learned(f"same {number}", key="a\x1fb") for number in range(3)]
        other = [
            learned("other key", key="a\x1fB"),
            learned("other kind", kind="failure", key="a\x1fb"),
            learned("none"),
        ]
        put(store, late, *same, *other, early)
        wanted = [early, *sorted(same, key=lambda each: each.id), late]
        expect(store.memories.of_key(SPACE, "semantic", "a\x1fb"), wanted, "those under the key")
        expect(store.memories.of_key(SPACE, "procedural", "a\x1fb"), [], "those of a kind that has none")
        expect(texts(store.memories.of_key(SPACE, "semantic", "")), ["none"], "those without a key")

    def memories_are_listed_by_time(self, store: Place) -> None:
        """The newest come first, those of one time by id, and no more than are wanted."""
        times = [
            NOON + MINUTE,
            NOON,
            NOON - MINUTE * 9,
            NOON,
            (NOON + MINUTE * 2).astimezone(timezone(timedelta(hours=5))),
        ]
        records = [learned(f"{number}", at=at) for number, at in enumerate(times)]
        put(store, *records)
        tied = [each.text for each in sorted((records[1], records[3]), key=lambda each: each.id)]
        expect(listed(store, MemoryFilter()), ["4", "0", *tied, "2"], "all")
        expect(listed(store, MemoryFilter(), 2), ["4", "0"], "the first two")
        expect(listed(store, MemoryFilter(), 0), [], "the first none")
        for first, each in enumerate(store.memories.list(SPACE, MemoryFilter()), start=1):
            behind = ["4", "0", *tied, "2"][first:]
            expect(listed(store, MemoryFilter(after=(each.at, each.id))), behind, f"those behind the first {first}")
        gone = MemoryFilter(after=(NOON + MINUTE, MemoryId("m_~")))
        expect(listed(store, gone), [*tied, "2"], "those behind a place where nothing stands")

    def memories_are_listed_by_what_they_are(self, store: Place) -> None:
        """Only memories that match all filters are returned."""
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
        put(store, base, *named.values())
        every = {"base", *named}
        of = {"reflected": ("harbour", "mill"), "stale": ("mill",), "subject": ("*",)}
        for name, projects in of.items():
            pieces = tuple(replace(named[name].evidence[0], project=each, session="") for each in projects)
            put(store, replace(named[name], evidence=pieces))
        cases: list[tuple[MemoryFilter, set[str]]] = [
            (MemoryFilter(), every),
            (MemoryFilter(ids=(base.id, named["stale"].id, MemoryId("m_none"))), {"base", "stale"}),
            (MemoryFilter(projects=("harbour", "*")), {"reflected", "subject"}),
            (MemoryFilter(projects=("mill",), stale=True), {"stale"}),
            (MemoryFilter(projects=("", "mill")), every - {"subject"}),
            (MemoryFilter(projects=(), cues=("edit unread",)), set()),
            (MemoryFilter(kind="failure"), {"kind", "other lesson"}),
            (MemoryFilter(kind="episodic"), every - {"kind", "other lesson"}),
            (MemoryFilter(kind="procedural"), set()),
            (MemoryFilter(states=("retired", "disputed")), {"retired", "disputed"}),
            (MemoryFilter(states=("erased",)), set()),
            (MemoryFilter(subject="\u1e9e\u0130 anna"), {"subject", "both"}),
            (MemoryFilter(subject="  ss\u0130 ANNA"), {"subject", "both"}),
            (MemoryFilter(subject="ann"), set()),
            (MemoryFilter(subject=""), every - {"subject", "both"}),
            (MemoryFilter(task_type="FIX tests "), {"task", "both", "other lesson"}),
            (MemoryFilter(task_type=""), every - {"task", "both", "other lesson"}),
            (MemoryFilter(archived=True), {"archived", "both"}),
            (MemoryFilter(archived=False), every - {"archived", "both"}),
            (MemoryFilter(unreflected=True), every - {"reflected"}),
            (MemoryFilter(kind="episodic", unreflected=True), every - {"reflected", "kind", "other lesson"}),
            (MemoryFilter(stale=True), {"stale", "both", "lesson"}),
            (MemoryFilter(stale=True, archived=False), {"stale", "lesson"}),
            (
                MemoryFilter(kind="episodic", subject="\u1e9e\u0130 anna", task_type="fix tests", states=("active",)),
                {"both"},
            ),
            (MemoryFilter(kind="failure", task_type="fix tests"), {"other lesson"}),
            (MemoryFilter(kind="failure", subject="ss\u0130 anna"), set()),
            (MemoryFilter(lessons=True), {"lesson", "other lesson"}),
            (MemoryFilter(lessons=True, kind="failure"), {"other lesson"}),
            (MemoryFilter(lessons=True, stale=True), {"lesson"}),
            (MemoryFilter(cues=("edit unread",)), {"lesson"}),
            (MemoryFilter(cues=("Edit unread", "edit unread", "edit")), {"lesson", "other lesson"}),
            (MemoryFilter(cues=("edit unread", "Edit unread"), task_type="FIX tests", lessons=True), {"other lesson"}),
            (MemoryFilter(cues=("edit",)), set()),
            (MemoryFilter(cues=("",)), set()),
            (MemoryFilter(kind="episodic", unreflected=True, states=("retired",), archived=False), {"retired"}),
        ]
        for wanted, found in cases:
            expect(set(listed(store, wanted)), found, f"those with {wanted}")

    def memories_know_what_they_come_from(self, store: Place) -> None:
        """Whatever cites a message, a summary or a memory is found by it, each once, by when it was recorded."""
        first = replace(learned("first", recorded=NOON - MINUTE), evidence=(cited(NOON, messages=("m_a", "m_b")),))
        second = replace(learned("second"), evidence=(cited(NOON, summaries=("s_a",)), cited(NOON, messages=("m_a",))))
        third = replace(learned("third", recorded=NOON + MINUTE), evidence=(cited(NOON, memories=(first.id,)),))
        put(store, third, second, first, learned("fourth"))
        memories = store.memories
        expect(texts(memories.citing(SPACE, ["m_a"])), ["first", "second"], "what cites a message")
        expect(texts(memories.citing(SPACE, ["m_b", "m_a", "m_a"])), ["first", "second"], "what cites two")
        expect(texts(memories.citing(SPACE, ["s_a"])), ["second"], "what cites a summary")
        expect(texts(memories.citing(SPACE, [first.id, "s_a"])), ["second", "third"], "what cites a memory")
        expect(memories.citing(SPACE, ["m_", "M_A", second.id]), [], "what nobody cites")
        expect(memories.citing(SPACE, []), [], "what cites nothing that was asked for")

    def a_memory_goes(self, store: Place) -> None:
        """A memory that is taken out is found by nothing any more, and may be stored again."""
        gone = replace(learned("gone", key="k"), subject="Anna", evidence=(cited(NOON, messages=("m_a",)),))
        kept = replace(learned("kept", key="k"), subject="Anna", evidence=(cited(NOON, messages=("m_a",)),))
        put(store, gone, kept)
        expect(store.memories.remove(SPACE, [gone.id, MemoryId("m_unknown"), gone.id]), 1, "how many there were")
        expect(store.memories.remove(SPACE, []), 0, "how many there were of none")
        memories = store.memories
        expect(memories.get(SPACE, [gone.id]), [], "the memory")
        expect(memories.of_key(SPACE, "semantic", "k"), [kept], "what is under its key")
        expect(memories.list(SPACE, MemoryFilter(subject="anna")), [kept], "what has its subject")
        expect(memories.citing(SPACE, ["m_a"]), [kept], "what cites its source")
        expect(put(store, gone), 1, "new when it is stored again")
        expect({each.id for each in store.memories.citing(SPACE, ["m_a"])}, {gone.id, kept.id}, "what cites then")

    def a_time_is_a_time_in_any_zone(self, store: Place) -> None:
        """Memories are ordered by the moment, to the microsecond, and not by how it is written."""
        east = datetime(2031, 5, 10, 1, tzinfo=timezone(timedelta(hours=13)))
        order = [NOON + timedelta(microseconds=1), NOON, east, datetime(1, 1, 2, tzinfo=UTC)]
        records = [learned(f"{place}", at=at) for place, at in enumerate(order)]
        tied = sorted((1, 2), key=lambda place: records[place].id)
        put(store, *reversed(records))
        expect(listed(store, MemoryFilter()), ["0", *map(str, tied), "3"], "the order")

    def a_pad_comes_back(self, store: Place) -> None:
        """A scratchpad comes back equal; a task without one has none."""
        wanted = pad("Mend “it”.\n\x00 \U0001f9e0")
        expect(store.pads.read(SPACE, wanted.task), None, "the scratchpad before it was written")
        store.pads.write(SPACE, wanted)
        expect(store.pads.read(SPACE, wanted.task), wanted, "the scratchpad")
        expect(store.pads.read(SPACE, wanted.task.upper()), None, "that of another task")
        expect(store.pads.read(SPACE, ""), None, "that of no task")

    def a_pad_is_rewritten_whole(self, store: Place) -> None:
        """A scratchpad replaces that of its task, and no other."""
        other = pad("other")
        store.pads.write(SPACE, pad("task"))
        store.pads.write(SPACE, other)
        rewritten = pad("task", "to do something else", NOON + MINUTE)
        store.pads.write(SPACE, rewritten)
        expect(store.pads.read(SPACE, "task"), rewritten, "the scratchpad")
        expect(store.pads.read(SPACE, "other"), other, "the other one")
        expect(len(store.pads.list(SPACE)), 2, "how many there are")

    def a_pad_goes(self, store: Place) -> None:
        """A deleted scratchpad is gone; deleting a missing one says so."""
        store.pads.write(SPACE, pad("task"))
        store.pads.write(SPACE, pad("other"))
        expect(store.pads.remove(SPACE, "task"), True, "whether it was there")
        expect(store.pads.remove(SPACE, "task"), False, "whether it was there still")
        expect(store.pads.read(SPACE, "task"), None, "the scratchpad")
        expect([each.task for each in store.pads.list(SPACE)], ["other"], "the tasks that are left")

    def pads_are_listed_by_time(self, store: Place) -> None:
        """The scratchpad that was written last stands first, those of one time by task."""
        pads = [pad("c", written=NOON), pad("a", written=NOON + MINUTE), pad("d", written=NOON - MINUTE), pad("b")]
        for each in pads:
            store.pads.write(SPACE, each)
        expect([each.task for each in store.pads.list(SPACE)], ["a", "b", "c", "d"], "the tasks in order")
