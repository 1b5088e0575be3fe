"""Leases: who is at which work of a session, and how work failed."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from msgspec.structs import replace

from ireneo.errors import BadInput, SessionNotFound
from ireneo.log.tree import SessionKey
from ireneo.ports.store import Lease, Store
from ireneo.ports.transition import Transaction
from ireneo.testing.conformance.check import check, expect, expect_error
from ireneo.testing.conformance.material import KEY, MINUTE, NOON, SPACE

NOW = NOON + timedelta(microseconds=123457)
INSTANT = timedelta(microseconds=1)
WORK = "s_work"


async def make(store: Store, key: SessionKey = KEY) -> None:
    """Make a session."""
    async with store.write() as tx:
        await tx.sessions.create(key, None)


async def take(tx: Transaction, holder: str, now: datetime = NOW, work: str = WORK) -> Lease | None:
    """Take a lease for a minute."""
    return await tx.leases.take(KEY, work, holder, now, now + MINUTE)


async def get(tx: Transaction, holder: str, now: datetime = NOW, work: str = WORK) -> Lease:
    """Take a lease for a minute that is there to be had."""
    lease = await take(tx, holder, now, work)
    if lease is None:
        raise AssertionError(f"{holder} should have got the lease on {work}")
    return lease


@check
async def a_lease_is_had_by_one(store: Store) -> None:
    """While one holds a lease another gets None; the work of another name is free."""
    await make(store)
    async with store.write() as tx:
        lease = await get(tx, "one")
        wanted = Lease(key=KEY, work=WORK, holder="one", token=lease.token, until=NOW + MINUTE)
        expect(lease, wanted, "the lease")
        expect(await take(tx, "two"), None, "what another gets")
        expect(await take(tx, "two", NOW + MINUTE - INSTANT), None, "what another gets at the last instant")
        other = await get(tx, "two", work="s_other")
        expect(list(await tx.leases.of_session(KEY)), [other, lease], "the leases, by the name of the work")


@check
async def a_lease_is_kept(store: Store) -> None:
    """A lease that was taken in one transaction is seen, and held, in the next."""
    await make(store)
    async with store.write() as tx:
        lease = await get(tx, "one")
    async with store.write() as tx:
        expect(await take(tx, "two"), None, "what another gets")
    async with store.read() as tx:
        expect(list(await tx.leases.of_session(KEY)), [lease], "the leases")


@check
async def a_lease_that_has_expired_is_taken_over(store: Store) -> None:
    """At the instant when a lease expires another may take it, and whoever had it comes too late."""
    await make(store)
    async with store.write() as tx:
        late = await get(tx, "one")
        lease = await get(tx, "two", NOW + MINUTE)
        expect(lease.token > late.token, True, "whether the token has grown")
        expect(await tx.leases.renew(late, NOW + 3 * MINUTE), False, "whether the late one renews it")
        expect(await tx.leases.fail(late, "too late", NOW + 3 * MINUTE), False, "whether the late one fails it")
        expect(await tx.leases.give_back(late), False, "whether the late one gives it back")
        expect(list(await tx.leases.of_session(KEY)), [lease], "the leases")


@check
async def a_holder_may_take_its_own_again(store: Store) -> None:
    """Who holds a lease takes it anew, with another token; the older one is worth nothing then."""
    await make(store)
    async with store.write() as tx:
        first = await get(tx, "one")
        second = await get(tx, "one", NOW + MINUTE / 2)
        expect(second.token > first.token, True, "whether the token has grown")
        expect(await tx.leases.renew(first, NOW + 3 * MINUTE), False, "whether the older one renews it")
        expect(list(await tx.leases.of_session(KEY)), [second], "the leases")


@check
async def a_lease_is_renewed(store: Store) -> None:
    """A lease that is renewed lasts until the new time; also one that had expired and that nobody took."""
    await make(store)
    async with store.write() as tx:
        lease = await get(tx, "one")
        expect(await tx.leases.renew(lease, NOW + 2 * MINUTE), True, "whether it is renewed")
        expect(await take(tx, "two", NOW + 2 * MINUTE - INSTANT), None, "what another gets")
        expect(await tx.leases.renew(lease, NOW + 5 * MINUTE), True, "whether it is renewed late")
        expect(list(await tx.leases.of_session(KEY)), [replace(lease, until=NOW + 5 * MINUTE)], "the leases")


@check
async def nothing_is_kept_of_a_lease_that_is_given_back(store: Store) -> None:
    """A lease that is given back is gone, with its failures; it can't be renewed, and the next token is greater."""
    await make(store)
    async with store.write() as tx:
        await tx.leases.fail(await get(tx, "one"), "it broke", NOW)
        lease = await get(tx, "one")
        expect(await tx.leases.give_back(lease), True, "whether it is given back")
        expect(list(await tx.leases.of_session(KEY)), [], "the leases")
        expect(await tx.leases.give_back(lease), False, "whether it is given back twice")
        expect(await tx.leases.renew(lease, NOW + MINUTE), False, "whether it is renewed")
        expect(list(await tx.leases.of_session(KEY)), [], "the leases")
        again = await get(tx, "two")
        expect(again.token > lease.token, True, "whether the token has grown")
        expect((again.failures, again.error), (0, ""), "its failures")


@check
async def a_failure_is_kept(store: Store) -> None:
    """Work that failed has no holder; how often it failed in a row, how and when to try again is kept."""
    await make(store)
    later = NOW + 10 * MINUTE
    async with store.write() as tx:
        lease = await get(tx, "one")
        expect(await tx.leases.fail(lease, "it broke", later), True, "whether it is let go of")
        (kept,) = await tx.leases.of_session(KEY)
        expect((kept.holder, kept.failures, kept.error, kept.retry_at), ("", 1, "it broke", later), "what is kept")
        for late in (lease, kept):
            expect(await tx.leases.renew(late, later), False, "whether it is renewed")
            expect(await tx.leases.give_back(late), False, "whether it is given back")
            expect(await tx.leases.fail(late, "again", NOW), False, "whether it fails again")
        expect(list(await tx.leases.of_session(KEY)), [kept], "what is kept")


@check
async def work_that_failed_waits(store: Store) -> None:
    """Nobody gets a lease before its time to try again; then its failures are carried on and counted further."""
    await make(store)
    later = NOW + 10 * MINUTE
    async with store.write() as tx:
        await tx.leases.fail(await get(tx, "one"), "it broke", later)
        for holder in ("one", "two"):
            expect(await take(tx, holder, later - INSTANT), None, f"what {holder} gets before the time")
        lease = await get(tx, "two", later)
        expect((lease.failures, lease.error, lease.retry_at), (1, "it broke", None), "what is carried on")
        await tx.leases.fail(lease, "it broke again", later + MINUTE)
        (kept,) = await tx.leases.of_session(KEY)
        expect((kept.failures, kept.error), (2, "it broke again"), "what is kept")


@check
async def a_clock_that_was_set_back_holds_nobody_up(store: Store) -> None:
    """A lease that lies further ahead than anybody leases is taken over, and a retry a day ahead is passed over."""
    await make(store)
    before = NOW - timedelta(hours=6)
    async with store.write() as tx:
        late = await get(tx, "one")
        lease = await get(tx, "two", before)
        expect(lease.token > late.token, True, "whether the token has grown")
        expect(await tx.leases.give_back(late), False, "whether the late one gives it back")
        await tx.leases.fail(lease, "it broke", NOW)
        expect(await take(tx, "three", NOW - timedelta(days=1) + INSTANT), None, "what is had within the day")
        expect((await get(tx, "three", NOW - timedelta(days=1))).failures, 1, "the failures a day before")


@check
async def a_rival_with_an_earlier_clock_gets_nothing(store: Store) -> None:
    """Who looked at the clock a little before the holder did, and comes after it, does not take the lease over."""
    await make(store)
    async with store.write() as tx:
        await get(tx, "one")
        for early in (INSTANT, timedelta(seconds=5), MINUTE, 10 * MINUTE):
            expect(await take(tx, "two", NOW - early), None, f"what is had {early} earlier")
        await get(tx, "two", NOW - 10 * MINUTE - INSTANT)


@check
async def a_rival_that_leases_for_less_gets_nothing(store: Store) -> None:
    """Who leases for a second leaves alone what another leases for minutes, and takes what lies further ahead."""
    await make(store)
    second = timedelta(seconds=1)
    async with store.write() as tx:
        lease = await get(tx, "one")
        expect(await tx.leases.take(KEY, WORK, "two", NOW, NOW + second), None, "what is had of a minute")
        await tx.leases.renew(lease, NOW + 10 * MINUTE + second)
        expect(await tx.leases.take(KEY, WORK, "two", NOW, NOW + second), None, "what is had of ten")
        await tx.leases.renew(lease, NOW + 10 * MINUTE + second + INSTANT)
        taken = await tx.leases.take(KEY, WORK, "two", NOW, NOW + second)
        expect(taken is not None and taken.holder, "two", "who has what lies further ahead")


@check
async def times_come_back_in_utc(store: Store) -> None:
    """A time in any zone is the same instant in UTC, to the microsecond; one without a zone is taken for UTC."""
    await make(store)
    zone = timezone(timedelta(hours=5, minutes=30))
    async with store.write() as tx:
        there = NOW.astimezone(zone)
        lease = await tx.leases.take(KEY, WORK, "one", there, there + MINUTE)
        bare = NOW.replace(tzinfo=None)
        expect(await tx.leases.take(KEY, WORK, "two", bare, bare + MINUTE), None, "what another gets")
        (kept,) = await tx.leases.of_session(KEY)
        expect(lease, kept, "the lease")
        expect(kept.until.isoformat(), (NOW + MINUTE).isoformat(), "its end")
        expect(await tx.leases.fail(kept, "it broke", bare), True, "whether it is let go of")
        (kept,) = await tx.leases.of_session(KEY)
        expect(str(kept.retry_at), str(NOW), "its time to try again")


@check
async def a_lease_is_forgotten(store: Store) -> None:
    """To forget drops a lease whoever holds it, or what is kept of its failures; the next token is greater."""
    await make(store)
    async with store.write() as tx:
        expect(await tx.leases.forget(KEY, WORK), False, "whether there was one")
        lease = await get(tx, "one")
        expect(await tx.leases.forget(KEY, WORK), True, "whether there was one")
        expect(await tx.leases.renew(lease, NOW + MINUTE), False, "whether it is renewed")
        again = await get(tx, "two")
        expect(again.token > lease.token, True, "whether the token has grown")
        await tx.leases.fail(again, "it broke", NOW + 10 * MINUTE)
        expect(await tx.leases.forget(KEY, WORK), True, "whether there was a failure")
        expect((await get(tx, "one")).failures, 0, "the failures")


@check
async def a_lease_needs_a_session_and_a_holder(store: Store) -> None:
    """Leases of a session that was never made raise SessionNotFound, and have none to read; no name is BadInput."""
    nowhere = SessionKey(SPACE, "nowhere")
    lease = Lease(key=nowhere, work=WORK, holder="one", token=1, until=NOW)
    async with store.write() as tx:
        expect(list(await tx.leases.of_session(nowhere)), [], "the leases")
        with expect_error(SessionNotFound, "a take"):
            await tx.leases.take(nowhere, WORK, "one", NOW, NOW + MINUTE)
        with expect_error(SessionNotFound, "a renewal"):
            await tx.leases.renew(lease, NOW + MINUTE)
        with expect_error(SessionNotFound, "to forget"):
            await tx.leases.forget(nowhere, WORK)
        await tx.sessions.create(KEY, None)
        with expect_error(BadInput, "no name"):
            await take(tx, "")
