"""Leases: who does which work on a session, how work failed, what was spent on models. And spaces, which stay apart."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone

from msgspec.structs import replace

from ireneo.errors import BadInput, MessageNotFound, SessionNotFound
from ireneo.log.tree import SessionKey
from ireneo.ports.memories import IndexName, IndexSize, MemoryFilter
from ireneo.ports.store import Lease, Spent, Transaction
from ireneo.testing.conformance.check import (
    DAY,
    KEY,
    MINUTE,
    NOON,
    SPACE,
    SUMMARIZER,
    Place,
    aside,
    cited,
    expect,
    expect_error,
    learned,
    noted,
    numbered,
    pad,
    read_path,
    rebuilt,
    say,
    summarise,
    tell,
    with_native,
)

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


# Spaces: nothing crosses from one to another.

ELSEWHERE = [
    SessionKey("another space", KEY.session),
    SessionKey("", KEY.session),
    SessionKey(KEY.space + " ", KEY.session),
    SessionKey(KEY.space.upper(), KEY.session),
    SessionKey("%", KEY.session),
    SessionKey(KEY.space, "another session"),
    # Joined without a separator, the two names would be the same.
    SessionKey(KEY.space + KEY.session[:1], KEY.session[1:]),
]
"""Sessions that are not `KEY`, however similar."""


SECRET = replace(
    learned("a secret", key="k"),
    subject="Ana",
    task_type="t",
    stale="why",
    cue="c",
    evidence=(cited(NOON, messages=("m_1",)),),
)
"""A memory of `SPACE` with everything that a memory can be found by."""


def fill(tx: Transaction) -> list[str]:
    """Write through every port into `KEY`; returns the ids of what was written."""
    m = tell(tx, [with_native(say("secret")[0], {"secret": 1}), *numbered(3)])
    summary = summarise(m[0], m[2])
    tx.summaries.put(KEY, [summary])
    tx.rebuilds.put(KEY, rebuilt(m[1]))
    tx.annotations.put(KEY, [noted(m[0], "secret")])
    tx.read_marks.put(KEY, m[3].id, "one")
    tx.spending.add(KEY, DAY, Spent(calls=1, tokens=100))
    tx.leases.take(KEY, "work", "one", NOON, NOON + MINUTE)
    tell(tx, [aside("Ana", "secret")])
    tx.memories.put(SPACE, [SECRET])
    tx.pads.write(SPACE, pad("secret"))
    return [message.id for message in m]


def expect_nothing(tx: Transaction, key: SessionKey) -> None:
    """Check that nothing of `KEY` is to be seen in `key`."""
    messages = [message for message in tx.log.find(KEY, ["m_"]) if message.parent is None]
    expect(tx.log.head(key), None, "the head")
    expect(tx.log.find(key, ["m_", messages[0].id]), [], "what is found")
    expect(tx.log.drafts(key, [messages[0].id]), {}, "the natives")
    expect(tx.summaries.find(key, "s_"), [], "the summaries")
    expect(tx.upkeep.summaries(key), [], "the summaries that are listed")
    expect(tx.summaries.summarizers(key), [], "the families")
    expect(tx.leases.of_session(key), [], "the leases")
    expect(tx.read_marks.of_session(key), [], "how far it was read")
    expect(tx.upkeep.abandoned_heads(key), [], "the ends")
    expect(tx.spending.of_session(key), Spent(), "what the session spent")
    if key.space != KEY.space:
        expect(tx.spending.of_day(key.space, DAY), Spent(), "what the space spent")
        expect_nothing_learned(tx, key.space)
    with expect_error(MessageNotFound, "the path"):
        tx.log.path(key, messages[0].id, 0, 0)
    with expect_error(MessageNotFound, "the frontier"):
        tx.summaries.frontier(key, messages[0].id, SUMMARIZER)
    with expect_error(MessageNotFound, "the spans"):
        tx.summaries.spans(key, messages[0].id, SUMMARIZER, 1)
    with expect_error(MessageNotFound, "the mark"):
        tx.rebuilds.last(key, messages[0].id, SUMMARIZER, 1000)
    with expect_error(MessageNotFound, "the annotations"):
        tx.annotations.on_path(key, messages[0].id)


def expect_nothing_learned(tx: Transaction, space: str) -> None:
    """Check that nothing that `SPACE` learned is to be seen in `space`, and nothing that is said there."""
    memories = tx.memories
    expect(memories.get(space, ["m_", SECRET.id]), [], "the memories")
    expect(memories.of_key(space, SECRET.kind, SECRET.key), [], "what is under the key")
    for wanted in (
        MemoryFilter(),
        MemoryFilter(kind=SECRET.kind),
        MemoryFilter(subject="ana"),
        MemoryFilter(task_type="t"),
        MemoryFilter(stale=True),
        MemoryFilter(lessons=True),
        MemoryFilter(cues=("c",)),
    ):
        expect(memories.list(space, wanted), [], "the memories that are listed")
    expect(memories.citing(space, ["m_1"]), [], "what cites the message")
    expect(tx.pads.read(space, "secret"), None, "the scratchpad")
    expect(tx.pads.list(space), [], "the scratchpads")
    shelves: tuple[IndexName, ...] = ("messages", "memories")
    for shelf in shelves:
        there = tx.search.postings(SPACE, shelf, ["secret"])
        expect(len(there["secret"]) > 0, True, "whether the space itself finds it")
        expect(tx.search.size(space, shelf), IndexSize(documents=0, terms=0), "how much there is to search")
        expect(tx.search.count(space, shelf, ["secret", "@ana"]), {"secret": 0, "@ana": 0}, "the counts")
        found = tx.search.postings(space, shelf, ["secret"])
        expect(found["secret"], [], "the postings")
        expect(tx.search.messages(space, there["secret"]), [], "the messages of the space's numbers")
        expect(tx.search.memories(space, there["secret"]), [], "the memories of the space's numbers")
    expect(list(tx.search.authors(space)), [], "the authors")


def seen(tx: Transaction, space: str) -> list[object]:
    """All that a space has learned, and what it finds."""
    shelves: tuple[IndexName, ...] = ("messages", "memories")
    return [
        list(tx.memories.list(space, MemoryFilter())),
        list(tx.memories.citing(space, ["m_1", "m_2"])),
        list(tx.pads.list(space)),
        list(tx.search.authors(space)),
        [tx.search.size(space, shelf) for shelf in shelves],
        [{t: list(n) for t, n in tx.search.postings(space, s, ["secret", "@bo"]).items()} for s in shelves],
    ]


class SpaceChecks:
    """Checks that a store keeps spaces apart."""

    def nothing_is_read_across(self, store: Place) -> None:
        """What is stored in one session is seen in no other and in no other space, whether or not that is there."""
        fill(store)
        for key in ELSEWHERE:
            expect_nothing(store, key)
            with expect_error(SessionNotFound, "the branches"):
                store.sessions.branches(key)
            if key.space != KEY.space:
                expect(store.sessions.list(key.space), [], "the sessions")
            store.sessions.create(key, None)
            expect_nothing(store, key)

    def nothing_is_written_across(self, store: Place) -> None:
        """The same messages in two spaces are stored in each; changing one leaves the other."""
        drafts = numbered(6)
        first = store.write(tell, drafts)
        for key in ELSEWHERE:
            store.sessions.create(key, None)
            expect(store.log.insert(key, first), 6, "new elsewhere")
            store.log.move(key, "main", first[2].id)
            store.write(tell, say("only here"), key)
            store.summaries.put(key, [summarise(first[0], first[3])])
            store.rebuilds.put(key, rebuilt(first[1]))
            store.annotations.put(key, [noted(first[0], "elsewhere")])
            store.read_marks.put(key, first[0].id, "one")
            store.spending.add(key, DAY, Spent(calls=1, tokens=100))
        expect(read_path(store, first[-1]), first, "the first path")
        head = store.log.head(KEY)
        expect(head.id if head else None, first[-1].id, "the first head")
        expect(store.summaries.frontier(KEY, first[-1].id, SUMMARIZER), [], "the first frontier")
        expect(store.rebuilds.last(KEY, first[-1].id, SUMMARIZER, 1000), None, "the first mark")
        expect(store.annotations.on_path(KEY, first[-1].id), [], "the first annotations")
        expect(store.read_marks.read_to(KEY, first[-1].id, "one"), -1, "how far the first was read")
        expect(store.spending.of_session(KEY), Spent(), "what the first session spent")
        expect(store.spending.of_day(SPACE, DAY), Spent(calls=1, tokens=100), "what the first space spent")
        counted = {info.key: info.messages for info in store.sessions.list(KEY.space)}
        expect(counted, {KEY: 6, SessionKey(KEY.space, "another session"): 7}, "the sessions of the first space")

    def upkeep_and_leases_keep_to_their_session(self, store: Place) -> None:
        """Pruning, dropping, discarding, leasing and forgetting in one session leave all others unchanged."""
        m = store.write(tell, numbered(6))
        summary = summarise(m[0], m[3])
        for key in (KEY, *ELSEWHERE):
            store.sessions.create(key, None)
            store.log.insert(key, m)
            store.log.move(key, "main", m[2].id)
            store.log.move(key, "other", m[4].id)
            store.summaries.put(key, [summary])
            lease = store.leases.take(key, "work", "one", NOON, NOON + MINUTE)
            expect(lease.token if lease else None, 1, "the first token of a session")
        for key in ELSEWHERE:
            expect(store.upkeep.drop_branch(key, "other"), True, "whether the branch was there")
            expect(store.upkeep.discard(key, [summary.id]), 1, "the summaries that were there")
            expect(store.upkeep.prune(key).messages, 3, "the messages that were pruned")
            expect(store.leases.forget(key, "work"), True, "whether the lease was there")
        expect(len(store.log.path(KEY, m[-1].id, 0, 9)), 6, "the path")
        expect(store.upkeep.summaries(KEY), [summary.id], "the summaries")
        expect(sorted(store.sessions.branches(KEY)), ["main", "other"], "the branches")
        expect([lease.holder for lease in store.leases.of_session(KEY)], ["one"], "the leases")

    def what_is_learned_keeps_to_its_space(self, store: Place) -> None:
        """The same memories, scratchpads and words are stored in each space; changing one leaves the other."""
        fill(store)
        spaces = sorted({key.space for key in ELSEWHERE} - {SPACE})
        other = replace(SECRET, text="another secret", subject="Bo", evidence=(cited(NOON, messages=("m_2",)),))
        before = seen(store, SPACE)
        for space in spaces:
            key = SessionKey(space, KEY.session)
            store.write(tell, [*say("secret"), aside("Bo", "secret")], key)
            store.upkeep.drop_branch(key, "main")
            store.log.move(key, "main", None)
            store.upkeep.prune(key)
            store.write(tell, say("secret"), key)
            expect(store.memories.put(space, [other]), 1, "new elsewhere")
            store.pads.write(space, pad("secret", "elsewhere"))
        expect(seen(store, SPACE), before, "what the first space sees")
        for space in spaces:
            expect(store.search.size(space, "messages"), IndexSize(documents=1, terms=1), "how much is said elsewhere")
            expect(store.memories.citing(space, ["m_1", "m_2"]), [other], "what is cited elsewhere")
            expect(store.memories.remove(space, [other.id]), 1, "how many there were elsewhere")
            expect(store.pads.remove(space, "secret"), True, "whether the scratchpad was there")
        expect(seen(store, SPACE), before, "what the first space sees at the end")

    def a_parent_is_not_found_across(self, store: Place) -> None:
        """A chain can't follow a message of another space."""
        first = store.write(tell, numbered(3))
        for key in ELSEWHERE:
            store.sessions.create(key, None)
            with expect_error(MessageNotFound, "the insert"):
                store.log.insert(key, first[1:])
            with expect_error(MessageNotFound, "the move"):
                store.log.move(key, "main", first[0].id)
            with expect_error(MessageNotFound, "the annotation"):
                store.annotations.put(key, [noted(first[0], "from elsewhere")])
