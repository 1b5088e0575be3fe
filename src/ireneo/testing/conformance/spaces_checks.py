"""Spaces: nothing reaches from one to another."""

from __future__ import annotations

from msgspec.structs import replace

from ireneo.errors import MessageNotFound, SessionNotFound
from ireneo.log.tree import SessionKey
from ireneo.ports.memories import IndexName, IndexSize, Wanted
from ireneo.ports.store import Spent, Store
from ireneo.ports.transition import Transaction
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


async def fill(store: Store) -> list[str]:
    """Write through every port into `KEY`; gives the ids of what was written."""
    async with store.write() as tx:
        m = await append(tx, KEY, [with_native(say("secret")[0], {"secret": 1}), *numbered(3)])
        summary = summarise(m[0], m[2])
        await tx.summaries.put(KEY, [summary])
        await tx.rebuilds.put(KEY, rebuilt(m[1]))
        await tx.annotations.put(KEY, [noted(m[0], "secret")])
        await tx.spending.add(KEY, DAY, Spent(calls=1, tokens=100))
        await tx.leases.take(KEY, "work", "one", NOON, NOON + MINUTE)
        await append(tx, KEY, [aside("Ana", "secret")])
        await tx.memories.put(SPACE, [SECRET])
        await tx.pads.write(SPACE, pad("secret"))
    return [message.id for message in m]


async def expect_nothing(tx: Transaction, key: SessionKey, store: Store) -> None:
    """Check that nothing of `KEY` is to be seen in `key`."""
    messages = [message for message in await tx.log.find(KEY, ["m_"]) if message.parent is None]
    expect(await tx.log.head(key), None, "the head")
    expect(list(await tx.log.find(key, ["m_", messages[0].id])), [], "what is found")
    expect(dict(await tx.log.natives(key, [messages[0].id])), {}, "the natives")
    expect(list(await tx.summaries.find(key, "s_")), [], "the summaries")
    expect(list(await tx.upkeep.summaries(key)), [], "the summaries that are listed")
    expect(list(await tx.summaries.families(key)), [], "the families")
    expect(list(await tx.leases.of_session(key)), [], "the leases")
    expect(list(await tx.upkeep.ends(key)), [], "the ends")
    expect(await tx.spending.of_session(key), Spent(), "what the session spent")
    if key.space != KEY.space:
        expect(await tx.spending.of_day(key.space, DAY), Spent(), "what the space spent")
        await expect_nothing_learned(tx, key.space)
    with expect_error(MessageNotFound, "the path"):
        await tx.log.path(key, messages[0].id, 0, 0)
    with expect_error(MessageNotFound, "the frontier"):
        await tx.summaries.frontier(key, messages[0].id, FAMILY)
    with expect_error(MessageNotFound, "the spans"):
        await tx.summaries.spans(key, messages[0].id, FAMILY, 1)
    with expect_error(MessageNotFound, "the mark"):
        await tx.rebuilds.last(key, messages[0].id, FAMILY, 1000)
    with expect_error(MessageNotFound, "the annotations"):
        await tx.annotations.on_path(key, messages[0].id)


async def expect_nothing_learned(tx: Transaction, space: str) -> None:
    """Check that nothing that `SPACE` learned is to be seen in `space`, and nothing that is said there."""
    memories = tx.memories
    expect(list(await memories.get(space, ["m_", SECRET.id])), [], "the memories")
    expect(list(await memories.of_key(space, SECRET.kind, SECRET.key)), [], "what is under the key")
    for wanted in (
        Wanted(),
        Wanted(kind=SECRET.kind),
        Wanted(subject="ana"),
        Wanted(task_type="t"),
        Wanted(stale=True),
        Wanted(lessons=True),
        Wanted(cues=("c",)),
    ):
        expect(list(await memories.list(space, wanted)), [], "the memories that are listed")
    expect(list(await memories.citing(space, ["m_1"])), [], "what cites the message")
    expect(await tx.pads.read(space, "secret"), None, "the scratchpad")
    expect(list(await tx.pads.list(space)), [], "the scratchpads")
    shelves: tuple[IndexName, ...] = ("messages", "memories")
    for shelf in shelves:
        there = await tx.search.postings(SPACE, shelf, ["secret"])
        expect(len(there["secret"]) > 0, True, "whether the space itself finds it")
        expect(await tx.search.size(space, shelf), IndexSize(documents=0, terms=0), "how much there is to search")
        expect(dict(await tx.search.count(space, shelf, ["secret", "@ana"])), {"secret": 0, "@ana": 0}, "the counts")
        found = await tx.search.postings(space, shelf, ["secret"])
        expect(list(found["secret"]), [], "the postings")
        expect(list(await tx.search.messages(space, there["secret"])), [], "the messages of the space's numbers")
        expect(list(await tx.search.memories(space, there["secret"])), [], "the memories of the space's numbers")
    expect(list(await tx.search.authors(space)), [], "the authors")


@check
async def nothing_is_read_across(store: Store) -> None:
    """What one space's session holds is seen in no other space and in no other session."""
    await fill(store)
    async with store.read() as tx:
        for key in ELSEWHERE:
            await expect_nothing(tx, key, store)
            with expect_error(SessionNotFound, "the branches"):
                await tx.sessions.branches(key)
            if key.space != KEY.space:
                expect(list(await tx.sessions.list(key.space)), [], "the sessions")


@check
async def nothing_is_read_across_when_both_are_there(store: Store) -> None:
    """Sessions of one name in two spaces are two sessions."""
    await fill(store)
    async with store.write() as tx:
        for key in ELSEWHERE:
            await tx.sessions.create(key, None)
        for key in ELSEWHERE:
            await expect_nothing(tx, key, store)


@check
async def nothing_is_written_across(store: Store) -> None:
    """The same messages in two spaces are stored in each, and what changes one leaves the other."""
    drafts = numbered(6)
    first = await tell(store, drafts)
    for key in ELSEWHERE:
        async with store.write() as tx:
            await tx.sessions.create(key, None)
            expect(await tx.log.insert(key, first), 6, "new elsewhere")
            await tx.log.move(key, "main", first[2].id)
            await append(tx, key, say("only here"))
            await tx.summaries.put(key, [summarise(first[0], first[3])])
            await tx.rebuilds.put(key, rebuilt(first[1]))
            await tx.annotations.put(key, [noted(first[0], "elsewhere")])
            await tx.spending.add(key, DAY, Spent(calls=1, tokens=100))
    expect(await read_path(store, first[-1]), first, "the first path")
    async with store.read() as tx:
        head = await tx.log.head(KEY)
        expect(head.id if head else None, first[-1].id, "the first head")
        expect(list(await tx.summaries.frontier(KEY, first[-1].id, FAMILY)), [], "the first frontier")
        expect(await tx.rebuilds.last(KEY, first[-1].id, FAMILY, 1000), None, "the first mark")
        expect(list(await tx.annotations.on_path(KEY, first[-1].id)), [], "the first annotations")
        expect(await tx.spending.of_session(KEY), Spent(), "what the first session spent")
        expect(await tx.spending.of_day(SPACE, DAY), Spent(calls=1, tokens=100), "what the first space spent")
        counted = {info.key: info.messages for info in await tx.sessions.list(KEY.space)}
        expect(counted, {KEY: 6, SessionKey(KEY.space, "another session"): 7}, "the sessions of the first space")


@check
async def upkeep_and_leases_keep_to_their_session(store: Store) -> None:
    """To prune, drop, discard, take and forget in one session leaves every other as it was."""
    m = await tell(store, numbered(6))
    summary = summarise(m[0], m[3])
    async with store.write() as tx:
        for key in (KEY, *ELSEWHERE):
            await tx.sessions.create(key, None)
            await tx.log.insert(key, m)
            await tx.log.move(key, "main", m[2].id)
            await tx.log.move(key, "other", m[4].id)
            await tx.summaries.put(key, [summary])
            lease = await tx.leases.take(key, "work", "one", NOON, NOON + MINUTE)
            expect(lease.token if lease else None, 1, "the first token of a session")
        for key in ELSEWHERE:
            expect(await tx.upkeep.drop(key, "other"), True, "whether the branch was there")
            expect(await tx.upkeep.discard(key, [summary.id]), 1, "the summaries that were there")
            expect((await tx.upkeep.prune(key)).messages, 3, "the messages that were pruned")
            expect(await tx.leases.forget(key, "work"), True, "whether the lease was there")
        expect(len(await tx.log.path(KEY, m[-1].id, 0, 9)), 6, "the path")
        expect(list(await tx.upkeep.summaries(KEY)), [summary.id], "the summaries")
        expect(sorted(await tx.sessions.branches(KEY)), ["main", "other"], "the branches")
        expect([lease.holder for lease in await tx.leases.of_session(KEY)], ["one"], "the leases")


@check
async def what_is_learned_keeps_to_its_space(store: Store) -> None:
    """The same memories, scratchpads and words in two spaces are two, and what changes one leaves the other."""
    await fill(store)
    spaces = sorted({key.space for key in ELSEWHERE} - {SPACE})
    other = replace(SECRET, text="another secret", subject="Bo", evidence=(cited(NOON, messages=("m_2",)),))
    async with store.write() as tx:
        before = await seen(tx, SPACE)
        for space in spaces:
            key = SessionKey(space, KEY.session)
            await append(tx, key, [*say("secret"), aside("Bo", "secret")])
            await tx.upkeep.drop(key, "main")
            await tx.log.move(key, "main", None)
            await tx.upkeep.prune(key)
            await append(tx, key, say("secret"))
            expect(await tx.memories.put(space, [other]), 1, "new elsewhere")
            await tx.pads.write(space, pad("secret", "elsewhere"))
        expect(await seen(tx, SPACE), before, "what the first space sees")
        for space in spaces:
            expect(
                await tx.search.size(space, "messages"), IndexSize(documents=1, terms=1), "how much is said elsewhere"
            )
            expect(list(await tx.memories.citing(space, ["m_1", "m_2"])), [other], "what is cited elsewhere")
            expect(await tx.memories.remove(space, [other.id]), 1, "how many there were elsewhere")
            expect(await tx.pads.remove(space, "secret"), True, "whether the scratchpad was there")
        expect(await seen(tx, SPACE), before, "what the first space sees at the end")


async def seen(tx: Transaction, space: str) -> list[object]:
    """All that a space has learned, and what it finds."""
    shelves: tuple[IndexName, ...] = ("messages", "memories")
    return [
        list(await tx.memories.list(space, Wanted())),
        list(await tx.memories.citing(space, ["m_1", "m_2"])),
        list(await tx.pads.list(space)),
        list(await tx.search.authors(space)),
        [await tx.search.size(space, shelf) for shelf in shelves],
        [{t: list(n) for t, n in (await tx.search.postings(space, s, ["secret", "@bo"])).items()} for s in shelves],
    ]


@check
async def a_parent_is_not_found_across(store: Store) -> None:
    """A chain can't go on from a message of another space."""
    first = await tell(store, numbered(3))
    for key in ELSEWHERE:
        async with store.write() as tx:
            await tx.sessions.create(key, None)
            with expect_error(MessageNotFound, "the insert"):
                await tx.log.insert(key, first[1:])
            with expect_error(MessageNotFound, "the move"):
                await tx.log.move(key, "main", first[0].id)
            with expect_error(MessageNotFound, "the annotation"):
                await tx.annotations.put(key, [noted(first[0], "from elsewhere")])
