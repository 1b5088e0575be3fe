"""Leases: who does which work on a session, and how work failed. And what was spent on models."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone

from msgspec.structs import replace

from ireneo.errors import BadInput, SessionNotFound
from ireneo.log.tree import SessionKey
from ireneo.ports.store import Lease, Spent, Transaction
from ireneo.testing.conformance.check import Place, expect, expect_error
from ireneo.testing.conformance.material import DAY, KEY, MINUTE, NOON, SPACE, numbered, tell

NOW = NOON + timedelta(microseconds=123457)
INSTANT = timedelta(microseconds=1)
WORK = "s_work"


def make(tx: Transaction, key: SessionKey = KEY) -> None:
    """Make a session."""
    tx.sessions.create(key, None)


def take(tx: Transaction, holder: str, now: datetime = NOW, work: str = WORK) -> Lease | None:
    """Take a lease for a minute."""
    return tx.leases.take(KEY, work, holder, now, now + MINUTE)


def get(tx: Transaction, holder: str, now: datetime = NOW, work: str = WORK) -> Lease:
    """Take a lease for a minute, which must be free."""
    lease = take(tx, holder, now, work)
    if lease is None:
        raise AssertionError(f"{holder} should have got the lease on {work}")
    return lease


NEXT_DAY = DAY + timedelta(days=1)
OTHER = SessionKey(SPACE, "other")


def add(tx: Transaction, calls: int, tokens: int, *, key: SessionKey = KEY, day: date = DAY) -> None:
    """Add to what a session spent."""
    tx.spending.add(key, day, Spent(calls=calls, tokens=tokens))


def of_session(tx: Transaction, key: SessionKey = KEY) -> tuple[int, int]:
    """Read the calls and tokens of a session."""
    spent = tx.spending.of_session(key)
    return spent.calls, spent.tokens


def of_day(tx: Transaction, day: date = DAY) -> tuple[int, int]:
    """Read the calls and tokens of a day."""
    spent = tx.spending.of_day(SPACE, day)
    return spent.calls, spent.tokens


class LeaseChecks:
    """Checks of a store's leases and spending."""

    def a_lease_is_had_by_one(self, store: Place) -> None:
        """While a lease is held, others get None; work with another name is free."""
        make(store)
        lease = get(store, "one")
        wanted = Lease(key=KEY, work=WORK, holder="one", token=lease.token, until=NOW + MINUTE)
        expect(lease, wanted, "the lease")
        expect(take(store, "two"), None, "what another gets")
        expect(take(store, "two", NOW + MINUTE - INSTANT), None, "what another gets at the last instant")
        other = get(store, "two", work="s_other")
        expect(store.leases.of_session(KEY), [other, lease], "the leases, by the name of the work")

    def a_lease_is_kept(self, store: Place) -> None:
        """A lease that was taken in one transaction is held in the next."""
        make(store)
        lease = get(store, "one")
        expect(take(store, "two"), None, "what another gets")
        expect(store.leases.of_session(KEY), [lease], "the leases")

    def a_lease_that_has_expired_is_taken_over(self, store: Place) -> None:
        """From the moment that it expires, a lease can be taken by another, and its former holder can't use it."""
        make(store)
        late = get(store, "one")
        lease = get(store, "two", NOW + MINUTE)
        expect(lease.token > late.token, True, "whether the token has grown")
        expect(store.leases.renew(late, NOW + 3 * MINUTE), False, "whether the late one renews it")
        expect(store.leases.fail(late, "too late", NOW + 3 * MINUTE), False, "whether the late one fails it")
        expect(store.leases.release(late), False, "whether the late one gives it back")
        expect(store.leases.of_session(KEY), [lease], "the leases")

    def a_holder_may_take_its_own_again(self, store: Place) -> None:
        """A holder who takes its own lease again gets a new token, and the old one becomes invalid."""
        make(store)
        first = get(store, "one")
        second = get(store, "one", NOW + MINUTE / 2)
        expect(second.token > first.token, True, "whether the token has grown")
        expect(store.leases.renew(first, NOW + 3 * MINUTE), False, "whether the older one renews it")
        expect(store.leases.of_session(KEY), [second], "the leases")

    def a_lease_is_renewed(self, store: Place) -> None:
        """A renewed lease lasts until the new time, even if it had expired, as long as nobody took it."""
        make(store)
        lease = get(store, "one")
        expect(store.leases.renew(lease, NOW + 2 * MINUTE), True, "whether it is renewed")
        expect(take(store, "two", NOW + 2 * MINUTE - INSTANT), None, "what another gets")
        expect(store.leases.renew(lease, NOW + 5 * MINUTE), True, "whether it is renewed late")
        expect(store.leases.of_session(KEY), [replace(lease, until=NOW + 5 * MINUTE)], "the leases")

    def nothing_is_kept_of_a_lease_that_is_given_back(self, store: Place) -> None:
        """A returned lease is gone, with its failures; it can't be renewed, and the next token is greater."""
        make(store)
        store.leases.fail(get(store, "one"), "it broke", NOW)
        lease = get(store, "one")
        expect(store.leases.release(lease), True, "whether it is given back")
        expect(store.leases.of_session(KEY), [], "the leases")
        expect(store.leases.release(lease), False, "whether it is given back twice")
        expect(store.leases.renew(lease, NOW + MINUTE), False, "whether it is renewed")
        expect(store.leases.of_session(KEY), [], "the leases")
        again = get(store, "two")
        expect(again.token > lease.token, True, "whether the token has grown")
        expect((again.failures, again.error), (0, ""), "its failures")

    def a_failure_is_kept(self, store: Place) -> None:
        """Failed work has no holder; how often in a row and how it failed, and when to try again, is stored."""
        make(store)
        later = NOW + 10 * MINUTE
        lease = get(store, "one")
        expect(store.leases.fail(lease, "it broke", later), True, "whether it is let go of")
        (kept,) = store.leases.of_session(KEY)
        expect((kept.holder, kept.failures, kept.error, kept.retry_at), ("", 1, "it broke", later), "what is kept")
        for late in (lease, kept):
            expect(store.leases.renew(late, later), False, "whether it is renewed")
            expect(store.leases.release(late), False, "whether it is given back")
            expect(store.leases.fail(late, "again", NOW), False, "whether it fails again")
        expect(store.leases.of_session(KEY), [kept], "what is kept")

    def work_that_failed_waits(self, store: Place) -> None:
        """Nobody gets a lease before the time to try again; then its failures are counted on."""
        make(store)
        later = NOW + 10 * MINUTE
        store.leases.fail(get(store, "one"), "it broke", later)
        for holder in ("one", "two"):
            expect(take(store, holder, later - INSTANT), None, f"what {holder} gets before the time")
        lease = get(store, "two", later)
        expect((lease.failures, lease.error, lease.retry_at), (1, "it broke", None), "what is carried on")
        store.leases.fail(lease, "it broke again", later + MINUTE)
        (kept,) = store.leases.of_session(KEY)
        expect((kept.failures, kept.error), (2, "it broke again"), "what is kept")

    def a_clock_that_was_set_back_holds_nobody_up(self, store: Place) -> None:
        """A lease that expires implausibly late can be taken over, and a retry time a day ahead is ignored."""
        make(store)
        before = NOW - timedelta(hours=6)
        late = get(store, "one")
        lease = get(store, "two", before)
        expect(lease.token > late.token, True, "whether the token has grown")
        expect(store.leases.release(late), False, "whether the late one gives it back")
        store.leases.fail(lease, "it broke", NOW)
        expect(take(store, "three", NOW - timedelta(days=1) + INSTANT), None, "what is had within the day")
        expect(get(store, "three", NOW - timedelta(days=1)).failures, 1, "the failures a day before")

    def a_rival_with_an_earlier_clock_gets_nothing(self, store: Place) -> None:
        """A task whose clock is slightly behind the holder's does not take over the lease."""
        make(store)
        get(store, "one")
        for early in (INSTANT, timedelta(seconds=5), MINUTE, 10 * MINUTE):
            expect(take(store, "two", NOW - early), None, f"what is had {early} earlier")
        get(store, "two", NOW - 10 * MINUTE - INSTANT)

    def a_rival_that_leases_for_less_gets_nothing(self, store: Place) -> None:
        """A task that leases for a second respects leases of minutes, and takes over those of implausible length."""
        make(store)
        second = timedelta(seconds=1)
        lease = get(store, "one")
        expect(store.leases.take(KEY, WORK, "two", NOW, NOW + second), None, "what is had of a minute")
        store.leases.renew(lease, NOW + 10 * MINUTE + second)
        expect(store.leases.take(KEY, WORK, "two", NOW, NOW + second), None, "what is had of ten")
        store.leases.renew(lease, NOW + 10 * MINUTE + second + INSTANT)
        taken = store.leases.take(KEY, WORK, "two", NOW, NOW + second)
        expect(taken is not None and taken.holder, "two", "who has what lies further ahead")

    def times_come_back_in_utc(self, store: Place) -> None:
        """A time in any zone comes back as the same instant in UTC, to the microsecond; one without a zone is UTC."""
        make(store)
        zone = timezone(timedelta(hours=5, minutes=30))
        there = NOW.astimezone(zone)
        lease = store.leases.take(KEY, WORK, "one", there, there + MINUTE)
        bare = NOW.replace(tzinfo=None)
        expect(store.leases.take(KEY, WORK, "two", bare, bare + MINUTE), None, "what another gets")
        (kept,) = store.leases.of_session(KEY)
        expect(lease, kept, "the lease")
        expect(kept.until.isoformat(), (NOW + MINUTE).isoformat(), "its end")
        expect(store.leases.fail(kept, "it broke", bare), True, "whether it is let go of")
        (kept,) = store.leases.of_session(KEY)
        expect(str(kept.retry_at), str(NOW), "its time to try again")

    def a_lease_is_forgotten(self, store: Place) -> None:
        """Forgetting a lease drops it whoever holds it, with its failures; the next token is greater."""
        make(store)
        expect(store.leases.forget(KEY, WORK), False, "whether there was one")
        lease = get(store, "one")
        expect(store.leases.forget(KEY, WORK), True, "whether there was one")
        expect(store.leases.renew(lease, NOW + MINUTE), False, "whether it is renewed")
        again = get(store, "two")
        expect(again.token > lease.token, True, "whether the token has grown")
        store.leases.fail(again, "it broke", NOW + 10 * MINUTE)
        expect(store.leases.forget(KEY, WORK), True, "whether there was a failure")
        expect(get(store, "one").failures, 0, "the failures")

    def the_first_lease_that_is_free_is_taken(self, store: Place) -> None:
        """The first of several sessions whose work is free is leased; expired leases and one's own count as free."""
        names = ["gone", "a", "b", "c"]
        for name in names[1:]:
            make(store, SessionKey(SPACE, name))

        def first(holder: str, now: datetime = NOW, among: list[str] = names) -> Lease | None:
            return store.leases.take_first(SPACE, among, WORK, holder, now, now + MINUTE)

        late = first("one")
        expect(late and (late.key, late.holder, late.until), (SessionKey(SPACE, "a"), "one", NOW + MINUTE), "the first")
        second = first("two")
        expect(second and second.key.session, "b", "what another gets")
        expect(store.leases.take(SessionKey(SPACE, "b"), WORK, "one", NOW, NOW + MINUTE), None, "what is left of that")
        third = first("three")
        expect(third and third.key.session, "c", "what a third gets")
        expect(first("four"), None, "what is had where all are taken")
        expect(first("four", among=["gone"]), None, "what is had of a session that was never made")
        own = first("three", among=["b", "c"])
        expect(own and own.key.session, "c", "what is had where one's own is among them")
        expect(third and own and own.token > third.token, True, "whether the token has grown")
        taken = first("five", NOW + MINUTE)
        expect(taken and taken.key.session, "a", "what is had of what has expired")
        expect(late and store.leases.release(late), False, "whether the late one gives it back")
        if taken is None:
            raise AssertionError("what has expired should have been had")
        expect(store.leases.of_session(taken.key), [taken], "the lease")
        store.leases.fail(taken, "it broke", NOW + 9 * MINUTE)
        expect(first("six", NOW + 8 * MINUTE, ["a"]), None, "what is had before the time to try again")
        again = first("six", NOW + 9 * MINUTE, ["a"])
        expect(again and (again.failures, again.error, again.retry_at), (1, "it broke", None), "what is carried on")
        expect(store.leases.of_session(taken.key), [again], "the lease")
        with expect_error(BadInput, "no name"):
            first("")

    def a_lease_needs_a_session_and_a_holder(self, store: Place) -> None:
        """Leases need a session that exists (else SessionNotFound, or nothing is read) and a holder (else BadInput)."""
        nowhere = SessionKey(SPACE, "nowhere")
        lease = Lease(key=nowhere, work=WORK, holder="one", token=1, until=NOW)
        expect(store.leases.of_session(nowhere), [], "the leases")
        with expect_error(SessionNotFound, "a take"):
            store.leases.take(nowhere, WORK, "one", NOW, NOW + MINUTE)
        with expect_error(SessionNotFound, "a renewal"):
            store.leases.renew(lease, NOW + MINUTE)
        with expect_error(SessionNotFound, "to forget"):
            store.leases.forget(nowhere, WORK)
        store.sessions.create(KEY, None)
        with expect_error(BadInput, "no name"):
            take(store, "")

    def nothing_is_spent_at_first(self, store: Place) -> None:
        """If nothing was spent, the counts are zero, whether or not the session exists."""
        expect((of_session(store), of_day(store)), ((0, 0), (0, 0)), "what an empty store counts")
        store.write(tell, numbered(2))
        expect((of_session(store), of_day(store)), ((0, 0), (0, 0)), "what a session without a model counts")

    def what_is_spent_adds_up(self, store: Place) -> None:
        """A session counts its spending on all days, and a day that of all sessions of the space."""
        add(store, 1, 100)
        add(store, 2, 30)
        add(store, 1, 7, day=NEXT_DAY)
        add(store, 4, 1000, key=OTHER)
        expect(of_session(store), (4, 137), "what the session spent")
        expect(of_session(store, OTHER), (4, 1000), "what the other one spent")
        expect(of_day(store), (7, 1130), "what was spent on the day")
        expect(of_day(store, NEXT_DAY), (1, 7), "what was spent on the next one")
        expect(of_day(store, DAY - timedelta(days=1)), (0, 0), "what was spent the day before")

    def what_was_reserved_is_given_back(self, store: Place) -> None:
        """Negative numbers give back what was reserved, but never below zero."""
        add(store, 1, 5000)
        add(store, 0, -3800)
        expect((of_session(store), of_day(store)), ((1, 1200), (1, 1200)), "what is left of a reserve")
        add(store, -1, -1200)
        expect((of_session(store), of_day(store)), ((0, 0), (0, 0)), "what is left when all is given back")

    def large_numbers_are_kept_exactly(self, store: Place) -> None:
        """Tokens are counted exactly, far beyond what four bytes or a float can hold."""
        add(store, 3_000_000_000, 2**53)
        add(store, 1, 1)
        expect(of_session(store), (3_000_000_001, 2**53 + 1), "what the session spent")
        expect(of_day(store), (3_000_000_001, 2**53 + 1), "what was spent on the day")

    def spending_makes_no_session(self, store: Place) -> None:
        """Spending needs no session and creates none; a session that is created later finds its spending."""
        add(store, 1, 50)
        expect(store.sessions.list(SPACE), [], "the sessions")
        expect(store.sessions.get(KEY), None, "the session")
        with expect_error(SessionNotFound, "the branches"):
            store.sessions.branches(KEY)
        expect(store.sessions.create(KEY, None), True, "whether the session was made")
        expect(of_session(store), (1, 50), "what it spent")

    def spending_leaves_the_list_of_sessions(self, store: Place) -> None:
        """Spending changes neither the order of the sessions nor their entries in the list."""
        store.write(tell, numbered(2))
        store.write(tell, numbered(2), OTHER)
        before = list(store.sessions.list(SPACE))
        add(store, 1, 50)
        expect(store.sessions.list(SPACE), before, "the sessions")
