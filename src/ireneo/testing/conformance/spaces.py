"""Spaces: nothing crosses from one to another."""

from __future__ import annotations

from msgspec.structs import replace

from ireneo.errors import MessageNotFound, SessionNotFound
from ireneo.log.tree import SessionKey
from ireneo.ports.memories import IndexName, IndexSize, MemoryFilter
from ireneo.ports.store import Spent, Transaction
from ireneo.testing.conformance.check import Place, expect, expect_error
from ireneo.testing.conformance.material import (
    DAY,
    KEY,
    MINUTE,
    NOON,
    SPACE,
    SUMMARIZER,
    aside,
    cited,
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
        """What is stored in one session is seen in no other session and no other space."""
        fill(store)
        for key in ELSEWHERE:
            expect_nothing(store, key)
            with expect_error(SessionNotFound, "the branches"):
                store.sessions.branches(key)
            if key.space != KEY.space:
                expect(store.sessions.list(key.space), [], "the sessions")

    def nothing_is_read_across_when_both_are_there(self, store: Place) -> None:
        """Sessions of the same name in two spaces are two sessions."""
        fill(store)
        for key in ELSEWHERE:
            store.sessions.create(key, None)
        for key in ELSEWHERE:
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
