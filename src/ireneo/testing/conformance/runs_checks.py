"""What runs teach: the runs, what each shows of each claim, and the files that were read."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import timedelta, timezone

from msgspec.structs import replace

from ireneo.errors import BadInput, StoreError
from ireneo.lessons.run import ClaimTotals, LearnedRun, Observation
from ireneo.ports.store import Store
from ireneo.testing.conformance.check import check, expect, expect_error
from ireneo.testing.conformance.learned import ran, read_from, sighted
from ireneo.testing.conformance.material import KEY, MINUTE, NOON, SPACE, numbered, tell


class _StoppedError(Exception):
    """Raised by a check, in the middle of a transaction."""


async def put(store: Store, run: LearnedRun, *sightings: Observation) -> None:
    """Store a run in a transaction of its own."""
    async with store.write() as tx:
        await tx.runs.put(SPACE, run, sightings)


@check
async def a_run_comes_back(store: Store) -> None:
    """A run and its sightings come back equal, with and without a time; an unknown session has none."""
    runs = [ran("one"), ran("two", None)]
    seen = [
        sighted("mend unread ⇒ It “broke”\x00", "one", text="It broke, since \U0001f9e0."),
        sighted("mend", "one", None),
        replace(sighted("other", "one"), held=0, sources=(), conditions={}),
    ]
    await put(store, runs[0], *seen)
    await put(store, runs[1])
    async with store.read() as tx:
        expect(list(await tx.runs.get(SPACE, ["two", "none", "one", "One"])), [runs[1], runs[0]], "the runs")
        expect(list(await tx.runs.of_run(SPACE, "one")), sorted(seen, key=lambda each: each.cue), "the sightings")
        expect(list(await tx.runs.sightings(SPACE, [each.cue for each in seen])), seen, "those of the claims")
        expect(list(await tx.runs.of_run(SPACE, "none")), [], "the sightings of an unknown session")
        expect(list(await tx.runs.sightings(SPACE, ["MEND", "men", ""])), [], "those of unknown claims")
        expect(list(await tx.runs.claims(SPACE, session="none")), [], "the claims of an unknown session")


@check
async def a_run_is_replaced_with_its_sightings(store: Store) -> None:
    """A run takes the place of the one that its session had, and none of the former sightings stays."""
    await put(store, ran("other"), sighted("kept", "other"), sighted("gone", "other"))
    await put(store, ran("one"), sighted("gone", "one"), sighted("kept", "one", held=5))
    after = ran("one", NOON + MINUTE, told="it held")
    for _ in range(2):
        await put(store, after, sighted("kept", "one", NOON + MINUTE, held=2), sighted("new", "one"))
    async with store.read() as tx:
        expect(list(await tx.runs.get(SPACE, ["one"])), [after], "the run")
        expect([each.cue for each in await tx.runs.of_run(SPACE, "one")], ["kept", "new"], "what it shows")
        told = {claim.cue: (claim.runs, claim.held) for claim in await tx.runs.claims(SPACE)}
        expect(told, {"gone": (1, 1), "kept": (2, 3), "new": (1, 1)}, "the claims")
        expect(len(await tx.runs.list(SPACE)), 2, "how many runs there are")


@check
async def a_run_goes_with_its_sightings(store: Store) -> None:
    """A run that is taken out is gone with what it showed; to take out one that isn't there says so."""
    await put(store, ran("one"), sighted("a", "one"), sighted("b", "one"))
    await put(store, ran("two"), sighted("a", "two"))
    async with store.write() as tx:
        expect(await tx.runs.remove(SPACE, "one"), True, "whether it was there")
        expect(await tx.runs.remove(SPACE, "one"), False, "whether it was there still")
    async with store.read() as tx:
        expect([run.session for run in await tx.runs.list(SPACE)], ["two"], "the runs left")
        expect([each.session for each in await tx.runs.sightings(SPACE, ["a", "b"])], ["two"], "the sightings left")
        expect([claim.cue for claim in await tx.runs.claims(SPACE, least_runs=0)], ["a"], "the claims left")


@check
async def runs_are_listed_by_time(store: Store) -> None:
    """The run that ended last stands first, whatever its zone, those without a time last, those of one by session."""
    east = timezone(timedelta(hours=5, minutes=30))
    ends = {"c": NOON, "a": NOON + MINUTE, "d": None, "b": (NOON + 2 * MINUTE).astimezone(east), "e": NOON, "0": None}
    for session, ended in ends.items():
        await put(store, ran(session, ended))
    async with store.read() as tx:
        expect([run.session for run in await tx.runs.list(SPACE)], ["b", "a", "c", "e", "0", "d"], "the order")
        expect([run.session for run in await tx.runs.list(SPACE, 2)], ["b", "a"], "the first two")
        expect(list(await tx.runs.list(SPACE, 0)), [], "the first none")


@check
async def sightings_come_in_the_order_asked(store: Store) -> None:
    """Claim by claim as asked, each once, of each the newest first, no time last, then by session, at most so many."""
    times = {"c": NOON, "a": NOON, "b": NOON + MINUTE, "d": None, "0": None, "e": NOON - MINUTE}
    for session, at in times.items():
        await put(store, ran(session), sighted("x", session, at), sighted("y", session, at))
    async with store.read() as tx:
        found = [(each.cue, each.session) for each in await tx.runs.sightings(SPACE, ["y", "z", "x", "y"])]
        expect(found, [(cue, session) for cue in "yx" for session in "bace0d"], "the sightings")
        found = [(each.cue, each.session) for each in await tx.runs.sightings(SPACE, ["x", "y"], limit=2)]
        expect(found, [("x", "b"), ("x", "a"), ("y", "b"), ("y", "a")], "two of each")
        expect(list(await tx.runs.sightings(SPACE, [])), [], "those of no claim")


@check
async def claims_are_summed_up(store: Store) -> None:
    """A claim counts what held and broke in all runs, the runs, projects and times in which it held, and its costs."""
    await put(store, ran("one"), sighted("x", "one", NOON, held=2, broke=1), sighted("only", "one"))
    await put(store, ran("two"), sighted("x", "two", NOON + MINUTE, project="ark"), sighted("y", "two", held=0))
    await put(store, ran("three"), sighted("x", "three", NOON - MINUTE, held=0, broke=3, project="never held"))
    await put(store, ran("four"), sighted("x", "four", None, project=""))
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
    async with store.read() as tx:
        claims = list(await tx.runs.claims(SPACE))
        expect(claims[1], x, "the sum")
        expect([claim.cue for claim in claims], ["only", "x"], "those that held once")
        expect([claim.cue for claim in await tx.runs.claims(SPACE, least_runs=0)], ["only", "x", "y"], "every claim")
        expect(list(await tx.runs.claims(SPACE, least_runs=3)), [x], "those that held in three runs")
        expect(list(await tx.runs.claims(SPACE, least_runs=4)), [], "those that held in four")
        expect(list(await tx.runs.claims(SPACE, session="two")), [x], "what a session sighted, over all runs")
        expect(list(await tx.runs.claims(SPACE, session="one", least_runs=2)), [x], "and what held in two runs")


@check
async def a_claim_may_have_no_time_and_no_project(store: Store) -> None:
    """A claim that held only where no log has times has none; one of two categories has that first by name."""
    await put(store, ran("one"), sighted("x", "one", None, project="", category="procedural"))
    await put(store, ran("two"), sighted("x", "two", NOON, held=0, broke=1, category="factual"))
    async with store.read() as tx:
        (claim,) = await tx.runs.claims(SPACE)
        expect((claim.first, claim.last, claim.projects), (None, None, ()), "its times and projects")
        expect(claim.category, "factual", "its category")


@check
async def sightings_belong_to_their_run(store: Store) -> None:
    """A sighting of another session, one without a cue, and two of one claim are refused, and nothing is stored."""
    for sightings in (
        [sighted("x", "one"), sighted("x", "two")],
        [sighted("", "one")],
        [sighted("x", "one"), sighted("y", "one"), sighted("x", "one", held=2)],
    ):
        async with store.write() as tx:
            with expect_error(BadInput, "sightings that are not of the run"):
                await tx.runs.put(SPACE, ran("one"), sightings)
    async with store.read() as tx:
        expect(list(await tx.runs.list(SPACE)), [], "the runs")
        expect(list(await tx.runs.claims(SPACE, least_runs=0)), [], "the claims")


@check
async def strays_are_found(store: Store) -> None:
    """A run is astray where its head is not stored: its session never was, or went on without that message."""
    m = await tell(store, numbered(2))
    await put(store, ran(KEY.session, head=m[1].id), sighted("x", KEY.session))
    await put(store, ran("never told", head=m[1].id))
    async with store.write() as tx:
        expect(list(await tx.runs.strays(SPACE)), ["never told"], "those astray")
        await tx.runs.put(SPACE, ran(KEY.session), [sighted("x", KEY.session)])
        expect(list(await tx.runs.strays(SPACE)), sorted([KEY.session, "never told"]), "those without their head")
        for session in (KEY.session, "never told"):
            await tx.runs.remove(SPACE, session)
        expect(list(await tx.runs.strays(SPACE)), [], "those left astray")


@check
async def files_are_known_by_content_and_learner(store: Store) -> None:
    """Only those digests are known that this learner has learned from; noted again, a file is replaced."""
    renamed = read_from("b", name="night.jsonl", at=NOON + MINUTE)
    async with store.write() as tx:
        for file in (read_from("b"), read_from("a"), read_from("c", learner="2"), renamed):
            await tx.ledger.mark(SPACE, file)
    async with store.write() as tx:
        expect(await tx.ledger.known(SPACE, "1", ["a", "b", "c", "A", "", "a"]), frozenset("ab"), "what it knows")
        expect(await tx.ledger.known(SPACE, "2", ["a", "b", "c"]), frozenset("c"), "what the next version knows")
        expect(await tx.ledger.known(SPACE, "1", []), frozenset(), "what it knows of nothing")
        expect(list(await tx.ledger.list(SPACE)), [read_from("a"), renamed, read_from("c", learner="2")], "the files")
        expect(await tx.ledger.remove(SPACE, [renamed, read_from("c"), renamed]), 1, "how many were taken out")
        expect(await tx.ledger.known(SPACE, "1", ["a", "b"]), frozenset("a"), "what it knows still")


@check
async def what_runs_teach_keeps_to_its_space(store: Store) -> None:
    """Runs, sightings, claims and files of one space are seen in no other, and what changes one leaves the other."""
    await put(store, ran("one"), sighted("x", "one"))
    others = ("another", SPACE.upper(), SPACE + " ", "", "%")
    async with store.write() as tx:
        await tx.ledger.mark(SPACE, read_from("a"))
        for space in others:
            expect(list(await tx.runs.get(space, ["one"])), [], "the run elsewhere")
            expect(list(await tx.runs.list(space)), [], "the runs elsewhere")
            expect(list(await tx.runs.sightings(space, ["x"])), [], "the sightings elsewhere")
            expect(list(await tx.runs.of_run(space, "one")), [], "those of the run elsewhere")
            expect(list(await tx.runs.claims(space, least_runs=0)), [], "the claims elsewhere")
            expect(list(await tx.runs.strays(space)), [], "those astray elsewhere")
            expect(await tx.ledger.known(space, "1", ["a"]), frozenset(), "what is known elsewhere")
            expect(list(await tx.ledger.list(space)), [], "the files elsewhere")
            await tx.runs.put(space, ran("one", told="elsewhere"), [sighted("x", "one", held=7)])
            await tx.ledger.mark(space, read_from("a", name="elsewhere"))
        for space in others:
            expect(await tx.runs.remove(space, "one"), True, "whether it was there elsewhere")
            expect(await tx.ledger.remove(space, [read_from("a")]), 1, "the files taken out elsewhere")
    async with store.read() as tx:
        expect(list(await tx.runs.list(SPACE)), [ran("one")], "the run")
        expect(list(await tx.runs.of_run(SPACE, "one")), [sighted("x", "one")], "its sightings")
        expect(list(await tx.ledger.list(SPACE)), [read_from("a")], "the file")


@check
async def what_is_broken_off_teaches_nothing(store: Store) -> None:
    """A transaction that raises leaves runs, sightings and files as they were; one that reads can't write any."""
    await put(store, ran("one"), sighted("x", "one"))
    with suppress(_StoppedError):
        async with store.write() as tx:
            await tx.runs.put(SPACE, ran("one", told="anew"), [sighted("y", "one")])
            await tx.runs.put(SPACE, ran("two"), [sighted("x", "two")])
            await tx.ledger.mark(SPACE, read_from("a"))
            raise _StoppedError
    async with store.read() as tx:
        expect(list(await tx.runs.list(SPACE)), [ran("one")], "the runs")
        expect(list(await tx.runs.sightings(SPACE, ["x", "y"])), [sighted("x", "one")], "the sightings")
        expect(list(await tx.ledger.list(SPACE)), [], "the files")
        with expect_error(StoreError, "a run in a transaction that reads"):
            await tx.runs.put(SPACE, ran("two"), [])
        with expect_error(StoreError, "a file in a transaction that reads"):
            await tx.ledger.mark(SPACE, read_from("a"))


@check
async def two_that_learn_at_once_leave_one_run(store: Store) -> None:
    """Tasks that learn from one session at once leave what the last of them stored, whole, and nothing besides."""

    async def learn(number: int) -> None:
        cues = [f"{number} {place}" for place in range(4)]
        await put(store, ran("one", told=str(number)), *(sighted(cue, "one") for cue in cues))

    await asyncio.gather(*(learn(number) for number in range(8)))
    async with store.read() as tx:
        (run,) = await tx.runs.list(SPACE)
        told = run.diary[0].pattern
        shown = [each.cue for each in await tx.runs.of_run(SPACE, "one")]
        expect(shown, [f"{told} {place}" for place in range(4)], "its claims")
        expect(len(await tx.runs.claims(SPACE)), 4, "how many claims there are")
