"""Memories and scratchpads, stored whole and found by all their fields; runs with their observations, and files."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone

from msgspec.structs import replace

from ireneo.errors import BadInput, StoreError
from ireneo.lessons.guard import Trap, TrapIndex
from ireneo.lessons.run import ClaimTotals, LearnedRun, Observation
from ireneo.log.tree import SessionKey
from ireneo.memories.record import MemoryId, Period, Record
from ireneo.ports.memories import MemoryFilter
from ireneo.ports.store import Store, Transaction
from ireneo.testing.conformance.check import (
    KEY,
    MINUTE,
    NOON,
    SPACE,
    BrokenOffError,
    Place,
    break_off,
    cited,
    erase_session,
    erase_space,
    expect,
    expect_error,
    learned,
    numbered,
    observed,
    pad,
    ran,
    read_from,
    tell,
)


def put(tx: Transaction, *records: Record) -> int:
    """Store memories."""
    return tx.memories.put(SPACE, records)


def listed(tx: Transaction, wanted: MemoryFilter, limit: int | None = None) -> list[str]:
    """The texts of the memories that match the filter."""
    return [each.text for each in tx.memories.list(SPACE, wanted, limit)]


def texts(records: Sequence[Record]) -> list[str]:
    """The texts of some records."""
    return [each.text for each in records]


class MemoryChecks:
    """Checks of a store's memories and scratchpads."""

    def a_memory_comes_back(self, store: Place) -> None:
        """A memory is read back equal, with all its fields and any characters."""
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
        """Memories are found by the beginning of an id, in the order asked, each once, at most ten for a beginning."""
        many = [replace(learned("x"), id=MemoryId(f"m_{number:02}x"), text=f"number {number}") for number in range(12)]
        put(store, *reversed(many))
        found = store.memories.get(SPACE, ["m_05", "m_11x", "m_05x", "unknown", "m_0"])
        expect(texts(found), [f"number {n}" for n in (5, 11, 0, 1, 2, 3, 4, 6, 7, 8, 9)], "what is found")
        expect(texts(store.memories.get(SPACE, ["m_"])), [f"number {n}" for n in range(10)], "the first ten")
        expect(store.memories.get(SPACE, ["m_%", "M_05x", "5x"]), [], "what begins otherwise")
        expect(store.memories.get(SPACE, []), [], "what nobody asked for")

    def memories_stand_under_their_key(self, store: Place) -> None:
        """Memories of one kind and key are sorted by the time they were recorded, then by id, in any state."""
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
        """Memories are listed by time in any zone, from the newest on, those of one time by id, up to the limit."""
        east = timezone(timedelta(hours=5))
        times = [
            *(NOON + timedelta(microseconds=1), NOON, datetime(1, 1, 2, tzinfo=UTC), NOON.astimezone(east)),
            (NOON + MINUTE * 2).astimezone(east),
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
        gone = MemoryFilter(after=(NOON + timedelta(microseconds=1), MemoryId("m_~")))
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
        """Memories that cite a message, a summary or a memory are found by it, each once, by time of recording."""
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
        """A deleted memory is found nowhere any more, and may be stored again."""
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

    def a_pad_comes_back(self, store: Place) -> None:
        """A scratchpad is read back equal; a task without one has none."""
        wanted = pad("Mend “it”.\n\x00 \U0001f9e0")
        expect(store.pads.read(SPACE, wanted.task), None, "the scratchpad before it was written")
        store.pads.write(SPACE, wanted)
        expect(store.pads.read(SPACE, wanted.task), wanted, "the scratchpad")
        expect(store.pads.read(SPACE, wanted.task.upper()), None, "that of another task")
        expect(store.pads.read(SPACE, ""), None, "that of no task")

    def a_pad_is_rewritten_whole(self, store: Place) -> None:
        """Writing a scratchpad replaces that of its task, and no other."""
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
        """The scratchpad that was written last comes first; those of one time are sorted by task."""
        pads = [pad("c", written=NOON), pad("a", written=NOON + MINUTE), pad("d", written=NOON - MINUTE), pad("b")]
        for each in pads:
            store.pads.write(SPACE, each)
        expect([each.task for each in store.pads.list(SPACE)], ["a", "b", "c", "d"], "the tasks in order")


# What runs teach.


def put_run(tx: Transaction, run: LearnedRun, *observations: Observation) -> None:
    """Store a run."""
    tx.runs.put(SPACE, run, observations)


OTHER = SessionKey(SPACE, "other")
ELSEWHERE = SessionKey("elsewhere", KEY.session)


def teach(tx: Transaction) -> None:
    """Store three sessions with a run each, and a file in each of their spaces."""
    for key in (KEY, OTHER, ELSEWHERE):
        m = tell(tx, numbered(3), key)
        tx.runs.put(key.space, ran(key.session, head=m[2].id), [observed("x", key.session)])
        tx.ledger.mark(key.space, read_from("a"))


def lesson(text: str) -> Record:
    """A memory that is a lesson."""
    return replace(learned(text, kind="failure"), cue="x")


KEPT = TrapIndex(
    traps=(Trap(lesson="m_one", said="It “broke”", way_out="mend it", command="make it"),), projects=("ark",)
)


class RunChecks:
    """Checks of a store's runs, ledger and traps."""

    def a_run_comes_back(self, store: Place) -> None:
        """A run and its observations are read back equal, with or without a time; an unknown session has none."""
        runs = [ran("one"), ran("two", None)]
        seen = [
            observed("mend unread ⇒ It “broke”\x00", "one", text="It broke, since \U0001f9e0."),
            observed("mend", "one", None),
            replace(observed("other", "one"), held=0, sources=(), conditions={}),
        ]
        put_run(store, runs[0], *seen)
        put_run(store, runs[1])
        expect(store.runs.get(SPACE, ["two", "none", "one", "One"]), [runs[1], runs[0]], "the runs")
        expect(store.runs.of_run(SPACE, "one"), sorted(seen, key=lambda each: each.cue), "the observations")
        expect(store.runs.observations(SPACE, [each.cue for each in seen]), seen, "those of the claims")
        expect(store.runs.of_run(SPACE, "none"), [], "the observations of an unknown session")
        expect(store.runs.observations(SPACE, ["MEND", "men", ""]), [], "those of unknown claims")
        expect(store.runs.claims(SPACE, session="none"), [], "the claims of an unknown session")
        expect(store.runs.cues(SPACE, "mend"), ["mend", "mend unread ⇒ It “broke”\x00"], "the claims that begin so")
        expect(store.runs.cues(SPACE, ""), sorted(each.cue for each in seen), "every cue")
        expect(store.runs.cues(SPACE, "Mend"), [], "the claims that begin otherwise")

    def a_run_is_replaced_with_its_observations(self, store: Place) -> None:
        """A new run replaces that of its session, with all its observations."""
        put_run(store, ran("other"), observed("kept", "other"), observed("gone", "other"))
        put_run(store, ran("one"), observed("gone", "one"), observed("kept", "one", held=5))
        after = ran("one", NOON + MINUTE, told="it held")
        for _ in range(2):
            put_run(store, after, observed("kept", "one", NOON + MINUTE, held=2), observed("new", "one"))
        expect(store.runs.get(SPACE, ["one"]), [after], "the run")
        expect([each.cue for each in store.runs.of_run(SPACE, "one")], ["kept", "new"], "what it shows")
        told = {claim.cue: (claim.runs, claim.held) for claim in store.runs.claims(SPACE)}
        expect(told, {"gone": (1, 1), "kept": (2, 3), "new": (1, 1)}, "the claims")
        expect(len(store.runs.list(SPACE)), 2, "how many runs there are")

    def a_run_goes_with_its_observations(self, store: Place) -> None:
        """A run is deleted with its observations; deleting a missing one says so."""
        put_run(store, ran("one"), observed("a", "one"), observed("b", "one"))
        put_run(store, ran("two"), observed("a", "two"))
        expect(store.runs.remove(SPACE, "one"), True, "whether it was there")
        expect(store.runs.remove(SPACE, "one"), False, "whether it was there still")
        expect([run.session for run in store.runs.list(SPACE)], ["two"], "the runs left")
        expect([each.session for each in store.runs.observations(SPACE, ["a", "b"])], ["two"], "the observations left")
        expect([claim.cue for claim in store.runs.claims(SPACE, least_runs=0)], ["a"], "the claims left")

    def runs_are_listed_by_time(self, store: Place) -> None:
        """Runs are listed by end time, newest first, whatever the zone, then those without a time, then by session."""
        east = timezone(timedelta(hours=5, minutes=30))
        ends = {
            "c": NOON,
            "a": NOON + MINUTE,
            "d": None,
            "b": (NOON + 2 * MINUTE).astimezone(east),
            "e": NOON,
            "0": None,
        }
        for session, ended in ends.items():
            put_run(store, ran(session, ended))
        expect([run.session for run in store.runs.list(SPACE)], ["b", "a", "c", "e", "0", "d"], "the order")
        expect([run.session for run in store.runs.list(SPACE, 2)], ["b", "a"], "the first two")
        expect(store.runs.list(SPACE, 0), [], "the first none")

    def observations_come_in_the_order_asked(self, store: Place) -> None:
        """Observations are sorted by claim as asked, then newest first, those without a time last, up to a limit."""
        times = {"c": NOON, "a": NOON, "b": NOON + MINUTE, "d": None, "0": None, "e": NOON - MINUTE}
        for session, at in times.items():
            put_run(store, ran(session), observed("x", session, at), observed("y", session, at))
        found = [(each.cue, each.session) for each in store.runs.observations(SPACE, ["y", "z", "x", "y"])]
        expect(found, [(cue, session) for cue in "yx" for session in "bace0d"], "the observations")
        found = [(each.cue, each.session) for each in store.runs.observations(SPACE, ["x", "y"], limit=2)]
        expect(found, [("x", "b"), ("x", "a"), ("y", "b"), ("y", "a")], "two of each")
        expect(store.runs.observations(SPACE, []), [], "those of no claim")

    def claims_are_summed_up(self, store: Place) -> None:
        """The totals of a claim cover all runs: how often it held and failed, its runs, projects, times and costs."""
        put_run(store, ran("one"), observed("x", "one", NOON, held=2, broke=1), observed("only", "one"))
        put_run(store, ran("two"), observed("x", "two", NOON + MINUTE, project="ark"), observed("y", "two", held=0))
        put_run(store, ran("three"), observed("x", "three", NOON - MINUTE, held=0, broke=3, project="never held"))
        put_run(store, ran("four"), observed("x", "four", None, project=""))
        x = ClaimTotals(
            cue="x",
            category="failure",
            held=4,
            broke=4,
            runs=3,
            projects=("ark", "bridge"),
            first=NOON,
            last=NOON + MINUTE,
            tokens=40,
            seconds=2.0,
        )
        claims = list(store.runs.claims(SPACE))
        expect(claims[1], x, "the sum")
        expect([claim.cue for claim in claims], ["only", "x"], "those that held once")
        expect([claim.cue for claim in store.runs.claims(SPACE, least_runs=0)], ["only", "x", "y"], "every claim")
        expect(store.runs.claims(SPACE, least_runs=3), [x], "those that held in three runs")
        expect(store.runs.claims(SPACE, least_runs=4), [], "those that held in four")
        expect(store.runs.claims(SPACE, session="two"), [x], "what a session observed, over all runs")
        expect(store.runs.claims(SPACE, session="one", least_runs=2), [x], "and what held in two runs")

    def a_claim_may_have_no_time_and_no_project(self, store: Place) -> None:
        """A claim that held only in logs without times has no time; of two categories the first by name is given."""
        put_run(store, ran("one"), observed("x", "one", None, project="", category="procedural"))
        put_run(store, ran("two"), observed("x", "two", NOON, held=0, broke=1, category="factual"))
        (claim,) = store.runs.claims(SPACE)
        expect((claim.first, claim.last, claim.projects), (None, None, ()), "its times and projects")
        expect(claim.category, "factual", "its category")

    def observations_belong_to_their_run(self, store: Place) -> None:
        """Observations of another session, without a cue, or twice of one claim are refused; nothing is stored."""
        for observations in (
            [observed("x", "one"), observed("x", "two")],
            [observed("", "one")],
            [observed("x", "one"), observed("y", "one"), observed("x", "one", held=2)],
        ):
            with expect_error(BadInput, "observations that are not of the run"):
                store.runs.put(SPACE, ran("one"), observations)
        expect(store.runs.list(SPACE), [], "the runs")
        expect(store.runs.claims(SPACE, least_runs=0), [], "the claims")

    def strays_are_found(self, store: Place) -> None:
        """Runs are found whose head is not stored: their session is missing, or has lost that message."""
        m = store.write(tell, numbered(2))
        put_run(store, ran(KEY.session, head=m[1].id), observed("x", KEY.session))
        put_run(store, ran("never told", head=m[1].id))
        expect(store.runs.orphans(SPACE), ["never told"], "those astray")
        store.runs.put(SPACE, ran(KEY.session), [observed("x", KEY.session)])
        expect(store.runs.orphans(SPACE), sorted([KEY.session, "never told"]), "those without their head")
        for session in (KEY.session, "never told"):
            store.runs.remove(SPACE, session)
        expect(store.runs.orphans(SPACE), [], "those left astray")

    def files_are_known_by_content_and_learner(self, store: Place) -> None:
        """Files are known by digest and learner; a file that is noted again is replaced."""
        renamed = read_from("b", name="night.jsonl", at=NOON + MINUTE)
        for file in (read_from("b"), read_from("a"), read_from("c", learner="2"), renamed):
            store.ledger.mark(SPACE, file)
        expect(store.ledger.known(SPACE, "1", ["a", "b", "c", "A", "", "a"]), frozenset("ab"), "what it knows")
        expect(store.ledger.known(SPACE, "2", ["a", "b", "c"]), frozenset("c"), "what the next version knows")
        expect(store.ledger.known(SPACE, "1", []), frozenset(), "what it knows of nothing")
        expect(store.ledger.list(SPACE), [read_from("a"), renamed, read_from("c", learner="2")], "the files")
        expect(store.ledger.remove(SPACE, [renamed, read_from("c"), renamed]), 1, "how many were taken out")
        expect(store.ledger.known(SPACE, "1", ["a", "b"]), frozenset("a"), "what it knows still")

    def what_runs_teach_keeps_to_its_space(self, store: Place) -> None:
        """Runs, observations, claims and files of one space are neither seen nor changed from another."""
        put_run(store, ran("one"), observed("x", "one"))
        others = ("another", SPACE.upper(), SPACE + " ", "", "%")
        store.ledger.mark(SPACE, read_from("a"))
        for space in others:
            expect(store.runs.get(space, ["one"]), [], "the run elsewhere")
            expect(store.runs.list(space), [], "the runs elsewhere")
            expect(store.runs.observations(space, ["x"]), [], "the observations elsewhere")
            expect(store.runs.of_run(space, "one"), [], "those of the run elsewhere")
            expect(store.runs.claims(space, least_runs=0), [], "the claims elsewhere")
            expect(store.runs.orphans(space), [], "those astray elsewhere")
            expect(store.ledger.known(space, "1", ["a"]), frozenset(), "what is known elsewhere")
            expect(store.ledger.list(space), [], "the files elsewhere")
            store.runs.put(space, ran("one", told="elsewhere"), [observed("x", "one", held=7)])
            store.ledger.mark(space, read_from("a", name="elsewhere"))
        for space in others:
            expect(store.runs.remove(space, "one"), True, "whether it was there elsewhere")
            expect(store.ledger.remove(space, [read_from("a")]), 1, "the files taken out elsewhere")
        expect(store.runs.list(SPACE), [ran("one")], "the run")
        expect(store.runs.of_run(SPACE, "one"), [observed("x", "one")], "its observations")
        expect(store.ledger.list(SPACE), [read_from("a")], "the file")

    async def what_is_broken_off_teaches_nothing(self, store: Store) -> None:
        """A transaction that raises changes no runs, observations or files; one that reads can't write any."""
        await store.write(put_run, ran("one"), observed("x", "one"))

        def steps(tx: Transaction) -> None:
            put_run(tx, ran("one", told="anew"), observed("y", "one"))
            put_run(tx, ran("two"), observed("x", "two"))
            tx.ledger.mark(SPACE, read_from("a"))

        def look(tx: Transaction) -> None:
            expect(tx.runs.list(SPACE), [ran("one")], "the runs")
            expect(tx.runs.observations(SPACE, ["x", "y"]), [observed("x", "one")], "the observations")
            expect(tx.ledger.list(SPACE), [], "the files")
            with expect_error(StoreError, "a run in a transaction that reads"):
                put_run(tx, ran("two"))
            with expect_error(StoreError, "a file in a transaction that reads"):
                tx.ledger.mark(SPACE, read_from("a"))

        with suppress(BrokenOffError):
            await store.write(break_off, steps)
        await store.read(look)

    async def two_that_learn_at_once_leave_one_run(self, store: Store) -> None:
        """If several tasks learn from one session at once, only the whole result of the last one is stored."""

        def learn(tx: Transaction, number: int) -> None:
            put_run(tx, ran("one", told=str(number)), *(observed(f"{number} {place}", "one") for place in range(4)))

        def look(tx: Transaction) -> None:
            (run,) = tx.runs.list(SPACE)
            shown = [each.cue for each in tx.runs.of_run(SPACE, "one")]
            expect(shown, [f"{run.diary[0].pattern} {place}" for place in range(4)], "its claims")
            expect(len(tx.runs.claims(SPACE)), 4, "how many claims there are")

        await asyncio.gather(*(store.write(learn, number) for number in range(8)))
        await store.read(look)

    def a_run_goes_with_its_session(self, store: Place) -> None:
        """Erasing a session deletes its run and observations, and nothing of other sessions and spaces."""
        teach(store)
        store.write(erase_session)
        expect([run.session for run in store.runs.list(SPACE)], [OTHER.session], "the runs left")
        expect(
            [each.session for each in store.runs.observations(SPACE, ["x"])], [OTHER.session], "the observations left"
        )
        expect(len(store.runs.list(ELSEWHERE.space)), 1, "the runs elsewhere")
        expect(store.runs.orphans(SPACE), [], "those astray")

    def a_run_of_no_session_goes_by_its_name(self, store: Place) -> None:
        """Erasing a session that was never stored deletes what was learned from it."""
        put_run(store, ran("never made"), observed("x", "never made"))
        expect(store.write(erase_session, SessionKey(SPACE, "never made")), False, "whether the session was there")
        expect(store.runs.list(SPACE), [], "the runs left")
        expect(store.runs.claims(SPACE), [], "the claims left")

    def traps_come_back(self, store: Place) -> None:
        """Stored traps are read back and can be replaced; nothing is due without a lesson or a failure."""
        expect(store.traps.read(SPACE), None, "what nobody kept")
        expect(store.traps.due(SPACE), False, "whether it is due without a lesson")
        store.memories.put(SPACE, [learned("no lesson")])
        expect(store.traps.due(SPACE), False, "whether it is due with a memory")
        store.memories.put(SPACE, [lesson("a lesson")])
        expect(store.traps.due(SPACE), True, "whether it is due with a lesson")
        store.memories.put(ELSEWHERE.space, [learned("a failure", kind="failure")])
        expect(store.traps.due(ELSEWHERE.space), True, "whether it is due with a failure")
        for index in (TrapIndex(), KEPT):
            store.traps.keep(SPACE, index)
            expect(store.traps.read(SPACE), index, "what was kept")
        expect(store.traps.due(SPACE), False, "whether it is due once it is kept")
        expect(store.traps.read(ELSEWHERE.space), None, "what is kept elsewhere")

    def traps_go_with_what_they_follow_from(self, store: Place) -> None:
        """Any change of a lesson, a failure or an observation deletes the traps of its space; use of one does not."""
        known, told = lesson("a lesson"), learned("a failure", kind="failure")
        store.memories.put(SPACE, [known, told])
        put_run(store, ran("one"), observed("x", "one"))
        store.traps.keep(ELSEWHERE.space, KEPT)

        def after(change: Callable[[], object], what: str, *, kept: bool = False) -> None:
            store.traps.keep(SPACE, KEPT)
            change()
            expect(store.traps.read(SPACE), KEPT if kept else None, what)

        after(lambda: store.memories.put(SPACE, [learned("no lesson")]), "after a memory", kept=True)
        after(lambda: store.memories.put(SPACE, [replace(known, used=3, uses=(NOON,))]), "after a use", kept=True)
        after(lambda: store.memories.put(SPACE, [replace(known, state="retired")]), "after a dispute")
        after(lambda: store.memories.put(SPACE, [lesson("another one")]), "after another lesson")
        after(lambda: store.memories.remove(SPACE, [known.id]), "after a lesson was taken out")
        after(lambda: store.memories.put(SPACE, [replace(told, used=3, uses=(NOON,))]), "after a use of it", kept=True)
        after(lambda: store.memories.put(SPACE, [replace(told, state="retired")]), "after a failure was overturned")
        after(lambda: store.memories.put(SPACE, [learned("another", kind="failure")]), "after another failure")
        after(lambda: store.memories.remove(SPACE, [told.id]), "after a failure was taken out")
        after(lambda: put_run(store, ran("two"), observed("x", "two")), "after another run")
        after(lambda: store.runs.remove(SPACE, "two"), "after a run was taken out")
        store.traps.keep(SPACE, KEPT)
        store.write(erase_space)
        expect(store.traps.read(SPACE), None, "after the space was erased")
        expect(store.traps.read(ELSEWHERE.space), KEPT, "what is kept elsewhere")

    def what_runs_taught_goes_with_the_space(self, store: Place) -> None:
        """Erasing a space deletes its runs, observations and files; another space keeps its own."""
        teach(store)
        put_run(store, ran("never made"), observed("y", "never made"))
        store.write(erase_space)
        expect(store.runs.list(SPACE), [], "its runs")
        expect(store.runs.claims(SPACE, least_runs=0), [], "its claims")
        expect(store.ledger.list(SPACE), [], "its files")
        expect([claim.cue for claim in store.runs.claims(ELSEWHERE.space)], ["x"], "the claims of another")
        expect(store.ledger.list(ELSEWHERE.space), [read_from("a")], "the files of another")

    def a_run_is_pruned_with_its_head(self, store: Place) -> None:
        """A run is deleted when its head is pruned, and kept when its head stays."""
        teach(store)
        m = store.write(tell, numbered(2, "later"))
        store.runs.put(OTHER.space, ran(OTHER.session), [observed("x", OTHER.session)])
        store.log.move(KEY, "main", m[0].id)
        expect(store.upkeep.prune(KEY).messages, 1, "how many were pruned")
        expect(len(store.runs.get(SPACE, [KEY.session])), 1, "the run whose head stays")
        store.runs.put(SPACE, ran(KEY.session, head=m[0].id), [observed("x", KEY.session)])
        parent = m[0].parent
        store.log.move(KEY, "main", parent)
        expect(store.upkeep.prune(KEY).messages, 1, "how many were pruned then")
        expect([run.session for run in store.runs.list(SPACE)], [OTHER.session], "the runs left")
        expect(
            [each.session for each in store.runs.observations(SPACE, ["x"])], [OTHER.session], "the observations left"
        )
