"""Spaces: nothing reaches from one to another."""

from __future__ import annotations

from msgspec.structs import replace

from ireneo.errors import MessageNotFound, SessionNotFound
from ireneo.log.tree import SessionKey
from ireneo.ports.memories import Wanted
from ireneo.ports.search import Shelf, Size
from ireneo.ports.store import Spent, Store, Transaction
from ireneo.testing.conformance.check import check, expect, expect_error
from ireneo.testing.conformance.learned import cited, learned, pad
from ireneo.testing.conformance.material import (
    DAY,
    FAMILY,
    KEY,
    MINUTE,
    NOON,
    SPACE,
    append,
    aside,
    noted,
    numbered,
    read_path,
    rebuilt,
    say,
    summarise,
    tell,
    with_native,
)

ELSEWHERE = [
    SessionKey("another space", KEY.session),
    SessionKey("", KEY.session),
    SessionKey(KEY.space + " ", KEY.session),
    SessionKey(KEY.space.upper(), KEY.session),
    SessionKey("%", KEY.session),
    SessionKey(KEY.space, "another session"),
    # The two names run together would be the same.
    SessionKey(KEY.space + KEY.session[:1], KEY.session[1:]),
]
"""Sessions that are not `KEY`, however alike."""


SECRET = replace(
    learned("a secret", key="k"),
    subject="Ana",
    task_type="t",
    stale="why",
    cue="c",
    evidence=(cited(NOON, messages=("m_1",)),),
)
"""A memory of `SPACE` that is found by everything that a memory can be found by."""


def fill(tx: Transaction) -> list[str]:
    """Write through every port into `KEY`; gives the ids of what was written."""
    m = append(tx, KEY, [with_native(say("secret")[0], {"secret": 1}), *numbered(3)])
    summary = summarise(m[0], m[2])
    tx.summaries.put(KEY, [summary])
    tx.rebuilds.put(KEY, rebuilt(m[1]))
    tx.annotations.put(KEY, [noted(m[0], "secret")])
    tx.spending.add(KEY, DAY, Spent(calls=1, tokens=100))
    tx.leases.take(KEY, "work", "one", NOON, NOON + MINUTE)
    append(tx, KEY, [aside("Ana", "secret")])
    tx.memories.put(SPACE, [SECRET])
    tx.pads.write(SPACE, pad("secret"))
    return [message.id for message in m]


def expect_nothing(tx: Transaction, key: SessionKey, store: Store) -> None:
    """Check that nothing of `KEY` is to be seen in `key`."""
    messages = [message for message in tx.log.find(KEY, ["m_"]) if message.parent is None]
    expect(tx.log.head(key), None, "the head")
    expect(list(tx.log.find(key, ["m_", messages[0].id])), [], "what is found")
    expect(dict(tx.log.natives(key, [messages[0].id])), {}, "the natives")
    expect(list(tx.summaries.find(key, "s_")), [], "the summaries")
    expect(list(tx.upkeep.summaries(key)), [], "the summaries that are listed")
    expect(list(tx.summaries.families(key)), [], "the families")
    expect(list(tx.leases.of_session(key)), [], "the leases")
    expect(list(tx.upkeep.ends(key)), [], "the ends")
    expect(tx.spending.of_session(key), Spent(), "what the session spent")
    if key.space != KEY.space:
        expect(tx.spending.of_day(key.space, DAY), Spent(), "what the space spent")
        expect_nothing_learned(tx, key.space)
    with expect_error(MessageNotFound, "the path"):
        tx.log.path(key, messages[0].id, 0, 0)
    with expect_error(MessageNotFound, "the frontier"):
        tx.summaries.frontier(key, messages[0].id, FAMILY)
    with expect_error(MessageNotFound, "the spans"):
        tx.summaries.spans(key, messages[0].id, FAMILY, 1)
    with expect_error(MessageNotFound, "the mark"):
        tx.rebuilds.last(key, messages[0].id, FAMILY, 1000)
    with expect_error(MessageNotFound, "the annotations"):
        tx.annotations.on_path(key, messages[0].id)


def expect_nothing_learned(tx: Transaction, space: str) -> None:
    """Check that nothing that `SPACE` learned is to be seen in `space`, and nothing that is said there."""
    memories = tx.memories
    expect(list(memories.get(space, ["m_", SECRET.id])), [], "the memories")
    expect(list(memories.of_key(space, SECRET.kind, SECRET.key)), [], "what is under the key")
    for wanted in (
        Wanted(),
        Wanted(kind=SECRET.kind),
        Wanted(subject="ana"),
        Wanted(task_type="t"),
        Wanted(stale=True),
        Wanted(lessons=True),
        Wanted(cues=("c",)),
    ):
        expect(list(memories.list(space, wanted)), [], "the memories that are listed")
    expect(list(memories.citing(space, ["m_1"])), [], "what cites the message")
    expect(tx.pads.read(space, "secret"), None, "the scratchpad")
    expect(list(tx.pads.list(space)), [], "the scratchpads")
    shelves: tuple[Shelf, ...] = ("messages", "memories")
    for shelf in shelves:
        there = tx.search.postings(SPACE, shelf, ["secret"])
        expect(len(there["secret"]) > 0, True, "whether the space itself finds it")
        expect(tx.search.size(space, shelf), Size(documents=0, terms=0), "how much there is to search")
        expect(dict(tx.search.count(space, shelf, ["secret", "@ana"])), {"secret": 0, "@ana": 0}, "the counts")
        found = tx.search.postings(space, shelf, ["secret"])
        expect(list(found["secret"]), [], "the postings")
        expect(list(tx.search.messages(space, there["secret"])), [], "the messages of the space's numbers")
        expect(list(tx.search.memories(space, there["secret"])), [], "the memories of the space's numbers")
    expect(list(tx.search.authors(space)), [], "the authors")


@check
async def nothing_is_read_across(store: Store) -> None:
    """What one space's session holds is seen in no other space and in no other session."""
    await store.write(fill)

    def look(tx: Transaction) -> None:
        for key in ELSEWHERE:
            expect_nothing(tx, key, store)
            with expect_error(SessionNotFound, "the branches"):
                tx.sessions.branches(key)
            if key.space != KEY.space:
                expect(list(tx.sessions.list(key.space)), [], "the sessions")

    await store.read(look)


@check
async def nothing_is_read_across_when_both_are_there(store: Store) -> None:
    """Sessions of one name in two spaces are two sessions."""
    await store.write(fill)

    def keep(tx: Transaction) -> None:
        for key in ELSEWHERE:
            tx.sessions.create(key, None)
        for key in ELSEWHERE:
            expect_nothing(tx, key, store)

    await store.write(keep)


@check
async def nothing_is_written_across(store: Store) -> None:
    """The same messages in two spaces are stored in each, and what changes one leaves the other."""
    drafts = numbered(6)
    first = await tell(store, drafts)
    for key in ELSEWHERE:

        def keep(tx: Transaction, key: SessionKey) -> None:
            tx.sessions.create(key, None)
            expect(tx.log.insert(key, first), 6, "new elsewhere")
            tx.log.move(key, "main", first[2].id)
            append(tx, key, say("only here"))
            tx.summaries.put(key, [summarise(first[0], first[3])])
            tx.rebuilds.put(key, rebuilt(first[1]))
            tx.annotations.put(key, [noted(first[0], "elsewhere")])
            tx.spending.add(key, DAY, Spent(calls=1, tokens=100))

        await store.write(keep, key)
    expect(await read_path(store, first[-1]), first, "the first path")

    def look(tx: Transaction) -> None:
        head = tx.log.head(KEY)
        expect(head.id if head else None, first[-1].id, "the first head")
        expect(list(tx.summaries.frontier(KEY, first[-1].id, FAMILY)), [], "the first frontier")
        expect(tx.rebuilds.last(KEY, first[-1].id, FAMILY, 1000), None, "the first mark")
        expect(list(tx.annotations.on_path(KEY, first[-1].id)), [], "the first annotations")
        expect(tx.spending.of_session(KEY), Spent(), "what the first session spent")
        expect(tx.spending.of_day(SPACE, DAY), Spent(calls=1, tokens=100), "what the first space spent")
        counted = {info.key: info.messages for info in tx.sessions.list(KEY.space)}
        expect(counted, {KEY: 6, SessionKey(KEY.space, "another session"): 7}, "the sessions of the first space")

    await store.read(look)


@check
async def upkeep_and_leases_keep_to_their_session(store: Store) -> None:
    """To prune, drop, discard, take and forget in one session leaves every other as it was."""
    m = await tell(store, numbered(6))
    summary = summarise(m[0], m[3])

    def keep(tx: Transaction) -> None:
        for key in (KEY, *ELSEWHERE):
            tx.sessions.create(key, None)
            tx.log.insert(key, m)
            tx.log.move(key, "main", m[2].id)
            tx.log.move(key, "other", m[4].id)
            tx.summaries.put(key, [summary])
            lease = tx.leases.take(key, "work", "one", NOON, NOON + MINUTE)
            expect(lease.token if lease else None, 1, "the first token of a session")
        for key in ELSEWHERE:
            expect(tx.upkeep.drop(key, "other"), True, "whether the branch was there")
            expect(tx.upkeep.discard(key, [summary.id]), 1, "the summaries that were there")
            expect(tx.upkeep.prune(key).messages, 3, "the messages that were pruned")
            expect(tx.leases.forget(key, "work"), True, "whether the lease was there")
        expect(len(tx.log.path(KEY, m[-1].id, 0, 9)), 6, "the path")
        expect(list(tx.upkeep.summaries(KEY)), [summary.id], "the summaries")
        expect(sorted(tx.sessions.branches(KEY)), ["main", "other"], "the branches")
        expect([lease.holder for lease in tx.leases.of_session(KEY)], ["one"], "the leases")

    await store.write(keep)


@check
async def what_is_learned_keeps_to_its_space(store: Store) -> None:
    """The same memories, scratchpads and words in two spaces are two, and what changes one leaves the other."""
    await store.write(fill)
    spaces = sorted({key.space for key in ELSEWHERE} - {SPACE})
    other = replace(SECRET, text="another secret", subject="Bo", evidence=(cited(NOON, messages=("m_2",)),))

    def keep(tx: Transaction) -> None:
        before = seen(tx, SPACE)
        for space in spaces:
            key = SessionKey(space, KEY.session)
            append(tx, key, [*say("secret"), aside("Bo", "secret")])
            tx.upkeep.drop(key, "main")
            tx.log.move(key, "main", None)
            tx.upkeep.prune(key)
            append(tx, key, say("secret"))
            expect(tx.memories.put(space, [other]), 1, "new elsewhere")
            tx.pads.write(space, pad("secret", "elsewhere"))
        expect(seen(tx, SPACE), before, "what the first space sees")
        for space in spaces:
            expect(tx.search.size(space, "messages"), Size(documents=1, terms=1), "how much is said elsewhere")
            expect(list(tx.memories.citing(space, ["m_1", "m_2"])), [other], "what is cited elsewhere")
            expect(tx.memories.remove(space, [other.id]), 1, "how many there were elsewhere")
            expect(tx.pads.remove(space, "secret"), True, "whether the scratchpad was there")
        expect(seen(tx, SPACE), before, "what the first space sees at the end")

    await store.write(keep)


def seen(tx: Transaction, space: str) -> list[object]:
    """All that a space has learned, and what it finds."""
    shelves: tuple[Shelf, ...] = ("messages", "memories")
    return [
        list(tx.memories.list(space, Wanted())),
        list(tx.memories.citing(space, ["m_1", "m_2"])),
        list(tx.pads.list(space)),
        list(tx.search.authors(space)),
        [tx.search.size(space, shelf) for shelf in shelves],
        [{t: list(n) for t, n in tx.search.postings(space, s, ["secret", "@bo"]).items()} for s in shelves],
    ]


@check
async def a_parent_is_not_found_across(store: Store) -> None:
    """A chain can't go on from a message of another space."""
    first = await tell(store, numbered(3))
    for key in ELSEWHERE:

        def keep(tx: Transaction, key: SessionKey) -> None:
            tx.sessions.create(key, None)
            with expect_error(MessageNotFound, "the insert"):
                tx.log.insert(key, first[1:])
            with expect_error(MessageNotFound, "the move"):
                tx.log.move(key, "main", first[0].id)
            with expect_error(MessageNotFound, "the annotation"):
                tx.annotations.put(key, [noted(first[0], "from elsewhere")])

        await store.write(keep, key)
