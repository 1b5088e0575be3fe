"""Unlearning: what runs taught goes with what it was learned from."""

from __future__ import annotations

from ireneo.log.tree import SessionKey
from ireneo.ports.store import Store
from ireneo.testing.conformance.check import check, expect
from ireneo.testing.conformance.learned import ran, read_from, sighted
from ireneo.testing.conformance.material import KEY, SPACE, numbered, tell

OTHER = SessionKey(SPACE, "other")
ELSEWHERE = SessionKey("elsewhere", KEY.session)


async def teach(store: Store) -> None:
    """Store three sessions with a run each, and a file in each of their spaces."""
    for key in (KEY, OTHER, ELSEWHERE):
        m = await tell(store, numbered(3), key)
        async with store.write() as tx:
            await tx.runs.put(key.space, ran(key.session, head=m[2].id), [sighted("x", key.session)])
            await tx.ledger.mark(key.space, read_from("a"))


@check
async def a_run_goes_with_its_session(store: Store) -> None:
    """With a session go its run and its sightings; another session and another space keep theirs."""
    await teach(store)
    async with store.write() as tx:
        await tx.erasure.begin()
        await tx.erasure.session(KEY)
    async with store.read() as tx:
        expect([run.session for run in await tx.runs.list(SPACE)], [OTHER.session], "the runs left")
        expect([each.session for each in await tx.runs.sightings(SPACE, ["x"])], [OTHER.session], "the sightings left")
        expect(len(await tx.runs.list(ELSEWHERE.space)), 1, "the runs elsewhere")
        expect(list(await tx.runs.strays(SPACE)), [], "those astray")


@check
async def a_run_of_no_session_goes_by_its_name(store: Store) -> None:
    """What a session that was never made taught goes when it is erased."""
    async with store.write() as tx:
        await tx.runs.put(SPACE, ran("never made"), [sighted("x", "never made")])
        await tx.erasure.begin()
        expect(await tx.erasure.session(SessionKey(SPACE, "never made")), False, "whether the session was there")
        expect(list(await tx.runs.list(SPACE)), [], "the runs left")
        expect(list(await tx.runs.claims(SPACE)), [], "the claims left")


@check
async def what_runs_taught_goes_with_the_space(store: Store) -> None:
    """With a space go its runs, their sightings and its files; another space keeps its own."""
    await teach(store)
    async with store.write() as tx:
        await tx.runs.put(SPACE, ran("never made"), [sighted("y", "never made")])
        await tx.erasure.begin()
        await tx.erasure.space(SPACE)
    async with store.read() as tx:
        expect(list(await tx.runs.list(SPACE)), [], "its runs")
        expect(list(await tx.runs.claims(SPACE, least_runs=0)), [], "its claims")
        expect(list(await tx.ledger.list(SPACE)), [], "its files")
        expect([claim.cue for claim in await tx.runs.claims(ELSEWHERE.space)], ["x"], "the claims of another")
        expect(list(await tx.ledger.list(ELSEWHERE.space)), [read_from("a")], "the files of another")


@check
async def a_run_is_pruned_with_its_head(store: Store) -> None:
    """What was learned up to a message that is pruned goes with it; what was learned up to one that stays, stays."""
    await teach(store)
    m = await tell(store, numbered(2, "later"))
    async with store.write() as tx:
        await tx.runs.put(OTHER.space, ran(OTHER.session), [sighted("x", OTHER.session)])
        await tx.log.move(KEY, "main", m[0].id)
        expect((await tx.upkeep.prune(KEY)).messages, 1, "how many were pruned")
        expect(len(await tx.runs.get(SPACE, [KEY.session])), 1, "the run whose head stays")
        await tx.runs.put(SPACE, ran(KEY.session, head=m[0].id), [sighted("x", KEY.session)])
        parent = m[0].parent
        await tx.log.move(KEY, "main", parent)
        expect((await tx.upkeep.prune(KEY)).messages, 1, "how many were pruned then")
        expect([run.session for run in await tx.runs.list(SPACE)], [OTHER.session], "the runs left")
        expect([each.session for each in await tx.runs.sightings(SPACE, ["x"])], [OTHER.session], "the sightings left")
