"""Upkeep: what is wrong, which summaries and ends there are, and what nobody needs any more."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from msgspec.structs import replace

from ireneo.errors import BadInput, MessageNotFound, SessionNotFound
from ireneo.log.message import Message
from ireneo.log.redaction import erase
from ireneo.log.tree import SessionKey, head_of
from ireneo.ports.store import Store, Transaction
from ireneo.ports.upkeep import Pruned
from ireneo.summaries.summary import SummaryId
from ireneo.testing.conformance.check import check, expect, expect_error
from ireneo.testing.conformance.learned import learned, pad, ran, sighted
from ireneo.testing.conformance.material import (
    FAMILY,
    KEY,
    MINUTE,
    NOON,
    SPACE,
    append,
    noted,
    numbered,
    read_path,
    rebuilt,
    say,
    summarise,
    tell,
    tell_after,
    with_native,
)


def cost(messages: Sequence[Message]) -> int:
    """The tokens of messages."""
    return sum(message.tokens for message in messages)


def prune(tx: Transaction) -> Pruned:
    """Prune in a transaction of its own; afterwards nothing may be wrong, and nothing be left to prune."""
    pruned = tx.upkeep.prune(KEY)
    expect(tx.upkeep.prune(KEY), Pruned(), "what a second pruning takes out")
    expect(list(tx.upkeep.faults()), [], "the faults")
    expect(list(tx.upkeep.ends(KEY)), [], "the ends on no branch")
    return pruned


def move(tx: Transaction, branch: str, to: Message | None) -> None:
    """Move a branch in a transaction of its own."""
    tx.log.move(KEY, branch, None if to is None else to.id)


@check
async def a_sound_store_has_no_faults(store: Store) -> None:
    """A store in which everything was written through its ports has no faults."""
    m = await tell(store, [with_native(draft, {"n": 1}) for draft in numbered(8)])
    fork = await store.write(tell_after, m[3], numbered(4, "fork"))
    await store.write(tell_after, None, numbered(2, "another root"))

    def keep(tx: Transaction) -> None:
        tx.log.move(KEY, "empty", None)
        tx.log.move(KEY, "fork", fork[-1].id)
        tx.summaries.put(KEY, [summarise(m[0], m[5]), summarise(m[2], fork[1])])
        tx.rebuilds.put(KEY, rebuilt(fork[0]))
        tx.annotations.put(KEY, [noted(m[7], "note")])
        tx.leases.take(KEY, "work", "one", NOON, NOON + MINUTE)
        append(tx, SessionKey("other", "session"), numbered(2))
        tx.sessions.create(SessionKey("other", "empty"), None)
        tx.pads.write(SPACE, pad("task"))
        tx.memories.put(SPACE, [learned("a fact")])
        tx.runs.put(SPACE, ran("one"), [sighted("c", "one")])
        tx.erasure.messages(KEY, [erase(m[4])])
        tx.upkeep.mend()

    await store.write(keep)

    def look(tx: Transaction) -> None:
        expect(list(tx.upkeep.faults()), [], "the faults")
        looked = 0
        after: int | None = 0
        while after is not None:
            page = tx.upkeep.altered(after, 3)
            expect(page.faults, (), "what is not what was stored")
            looked, after = looked + page.looked, page.after
        expect(looked, 16, "the messages that were looked at")

    await store.read(look)


@check
async def every_summary_is_listed(store: Store) -> None:
    """The ids of all summaries of a session are listed, of every family, depth and path, by what they cover."""
    m = await tell(store, numbered(12))
    fork = await store.write(tell_after, m[3], numbered(4, "fork"))
    wanted = [
        summarise(m[0], m[1], family="family-2"),
        summarise(m[0], m[9], level="goal", depth=2),
        summarise(m[2], fork[1]),
        summarise(m[8], m[11]),
    ]

    def keep(tx: Transaction) -> None:
        tx.summaries.put(KEY, wanted[::-1])
        expect(list(tx.upkeep.summaries(KEY)), [each.id for each in wanted], "the summaries")
        expect(list(tx.upkeep.summaries(SessionKey(SPACE, "nowhere"))), [], "those of no session")

    await store.write(keep)


@check
async def summaries_are_discarded(store: Store) -> None:
    """Summaries that are discarded are gone, and may be stored again; unknown ids are passed over."""
    m = await tell(store, numbered(6))
    one, two = summarise(m[0], m[2]), summarise(m[3], m[5])

    def keep(tx: Transaction) -> None:
        tx.summaries.put(KEY, [one, two])
        expect(tx.upkeep.discard(KEY, [one.id, SummaryId("s_unknown"), one.id]), 1, "how many were there")
        expect(list(tx.summaries.frontier(KEY, m[-1].id, FAMILY)), [two], "the frontier")
        expect(tx.summaries.put(KEY, [one]), 1, "new when it is put again")
        with expect_error(SessionNotFound, "to discard in no session"):
            tx.upkeep.discard(SessionKey(SPACE, "nowhere"), [one.id])

    await store.write(keep)


@check
async def ends_on_no_branch_are_listed(store: Store) -> None:
    """The last message of each abandoned path is listed, by position; where a branch stands is no end."""
    m = await tell(store, numbered(8))
    fork = await store.write(tell_after, m[3], numbered(2, "fork"))
    twig = await store.write(tell_after, fork[0], numbered(6, "twig"))
    root = await store.write(tell_after, None, numbered(2, "another root"))

    def look(tx: Transaction) -> None:
        wanted = [head_of(each) for each in (root[-1], fork[-1], twig[-1])]
        expect(list(tx.upkeep.ends(KEY)), wanted, "the ends")
        expect(list(tx.upkeep.ends(SessionKey(SPACE, "nowhere"))), [], "the ends of no session")

    await store.read(look)
    await store.write(move, "twig", twig[-1])
    await store.write(move, "main", m[6])

    def look_2(tx: Transaction) -> None:
        wanted = [head_of(each) for each in (root[-1], fork[-1], m[-1])]
        expect(list(tx.upkeep.ends(KEY)), wanted, "the ends when branches were moved")

    await store.read(look_2)


@check
async def a_branch_is_dropped(store: Store) -> None:
    """A branch that is dropped is no longer there, main too; its messages stay and become an end."""
    m = await tell(store, numbered(3))

    def keep(tx: Transaction) -> None:
        tx.log.move(KEY, "empty", None)
        expect(tx.upkeep.drop(KEY, "unknown"), False, "whether there was such a branch")
        expect(tx.upkeep.drop(KEY, "main"), True, "whether main was there")
        expect(tx.upkeep.drop(KEY, "main"), False, "whether main is there again")
        expect(tx.log.head(KEY), None, "the head of main")
        expect(dict(tx.sessions.branches(KEY)), {"empty": None}, "the branches")
        expect(list(tx.upkeep.ends(KEY)), [head_of(m[-1])], "the ends")
        expect(tx.upkeep.drop(KEY, "empty"), True, "whether an empty one was there")
        with expect_error(SessionNotFound, "to drop in no session"):
            tx.upkeep.drop(SessionKey(SPACE, "nowhere"), "main")

    await store.write(keep)
    expect(await read_path(store, m[-1]), m, "the path")


@check
async def what_a_branch_leads_to_stays(store: Store) -> None:
    """Pruning a session whose every message is on the path of some branch takes out nothing."""
    m = await tell(store, numbered(6))
    fork = await store.write(tell_after, m[2], numbered(3, "fork"))
    await store.write(move, "fork", fork[-1])

    def keep(tx: Transaction) -> None:
        tx.summaries.put(KEY, [summarise(m[0], m[5]), summarise(m[1], fork[2])])

    await store.write(keep)
    expect(await store.write(prune), Pruned(), "what is taken out")
    expect(await read_path(store, m[-1]), m, "the path")
    expect(await read_path(store, fork[-1]), m[:3] + fork, "the path of the fork")


@check
async def what_no_branch_leads_to_is_taken_out(store: Store) -> None:
    """Pruning takes out abandoned paths: forks, roots, and what lies behind where a branch was moved back to."""
    m = await tell(store, numbered(8))
    fork = await store.write(tell_after, m[3], numbered(3, "fork"))
    twig = await store.write(tell_after, fork[1], numbered(2, "twig"))
    root = await store.write(tell_after, None, numbered(2, "another root"))
    await store.write(move, "main", m[5])
    await store.write(move, "fork", fork[1])
    gone = [*m[6:], fork[2], *twig, *root]
    expect(await store.write(prune), Pruned(messages=len(gone), tokens=cost(gone)), "what is taken out")
    expect(await read_path(store, m[5]), m[:6], "the path")
    expect(await read_path(store, fork[1]), m[:4] + fork[:2], "the path of the fork")

    def look(tx: Transaction) -> None:
        expect(list(tx.log.find(KEY, [each.id for each in gone])), [], "what is found of the rest")
        with expect_error(MessageNotFound, "a path to what is gone"):
            tx.log.path(KEY, m[7].id, 0, 7)

    await store.read(look)


@check
async def a_trunk_that_only_a_fork_needs_is_cut_there(store: Store) -> None:
    """Of a path that only forks need, what lies before the last of them stays, and what comes after it goes."""
    m = await tell(store, numbered(10))
    early = await store.write(tell_after, m[2], numbered(3, "early"))
    late = await store.write(tell_after, m[5], numbered(3, "late"))
    deep = await store.write(tell_after, late[0], numbered(3, "deep"))

    def keep(tx: Transaction) -> None:
        tx.upkeep.drop(KEY, "main")
        tx.log.move(KEY, "early", early[-1].id)
        tx.log.move(KEY, "deep", deep[-1].id)

    await store.write(keep)
    gone = [*m[6:], *late[1:]]
    expect(await store.write(prune), Pruned(messages=len(gone), tokens=cost(gone)), "what is taken out")
    expect(await read_path(store, early[-1]), m[:3] + early, "the early path")
    expect(await read_path(store, deep[-1]), m[:6] + late[:1] + deep, "the deep path")


@check
async def what_hangs_on_pruned_messages_goes_with_them(store: Store) -> None:
    """With messages go their payloads, marks and annotations, and each summary that covers any of them."""
    m = await tell(store, [with_native(draft, {"n": number}) for number, draft in enumerate(numbered(8))])
    kept, across, behind = summarise(m[0], m[4]), summarise(m[3], m[5]), summarise(m[6], m[7])

    def keep(tx: Transaction) -> None:
        tx.summaries.put(KEY, [kept, across, behind])
        for each in (m[4], m[6]):
            tx.rebuilds.put(KEY, rebuilt(each))
            tx.annotations.put(KEY, [noted(each, "note")])
        tx.log.move(KEY, "main", m[4].id)

    await store.write(keep)
    expect(await store.write(prune), Pruned(messages=3, tokens=cost(m[5:]), summaries=2), "what is taken out")

    def look(tx: Transaction) -> None:
        expect(list(tx.upkeep.summaries(KEY)), [kept.id], "the summaries")
        natives = tx.log.natives(KEY, [each.id for each in m])
        expect(set(natives), {each.id for each in m[:5]}, "the messages with payloads")

    await store.read(look)
    # Stored again they are new: nothing of the old hangs on them.
    expect(await tell(store, [each.draft for each in m[5:]]), m[5:], "the messages told again")

    def look_2(tx: Transaction) -> None:
        expect(tx.rebuilds.last(KEY, m[-1].id, FAMILY, 1000), rebuilt(m[4]), "the last mark")
        expect(list(tx.annotations.on_path(KEY, m[-1].id)), [noted(m[4], "note")], "the annotations")
        expect(list(tx.summaries.frontier(KEY, m[-1].id, FAMILY)), [kept], "the frontier")

    await store.read(look_2)


@check
async def a_pruned_session_is_counted_anew(store: Store) -> None:
    """After pruning, a session's messages, tokens and times are those of what is left; its place in the list stays."""
    drafts = [
        replace(draft, at=NOON + timedelta(hours=hours))
        for draft, hours in zip(numbered(5), (2, 1, 3, 9, 0), strict=True)
    ]
    m = await tell(store, drafts)
    await store.write(move, "main", m[2])
    await tell(store, say("later"), SessionKey(SPACE, "later"))
    await store.write(prune)

    def look(tx: Transaction) -> None:
        (first, info) = tx.sessions.list(SPACE)
        expect(first.key, SessionKey(SPACE, "later"), "the session that stands first")
        expect((info.messages, info.tokens), (3, cost(m[:3])), "the messages and tokens")
        expect((info.first_at, info.last_at), (NOON + timedelta(hours=1), NOON + timedelta(hours=3)), "the times")

    await store.read(look)


@check
async def a_pruned_session_goes_on(store: Store) -> None:
    """After pruning, appends go on from what is left; behind what is gone MessageNotFound is raised."""
    m = await tell(store, numbered(6))
    fork = await store.write(tell_after, m[3], numbered(3, "fork"))
    await store.write(move, "fork", fork[0])
    await store.write(move, "main", m[1])
    await store.write(prune)
    with expect_error(MessageNotFound, "an append behind what is gone"):
        await store.write(tell_after, m[5], say("lost"))
    on_main = await store.write(tell_after, m[1], numbered(3, "on main"))
    on_trunk = await store.write(tell_after, m[3], numbered(3, "on the trunk"))
    on_fork = await store.write(tell_after, fork[0], numbered(3, "on the fork"))
    expect(await read_path(store, on_main[-1]), m[:2] + on_main, "the path on main")
    expect(await read_path(store, on_trunk[-1]), m[:4] + on_trunk, "the path on the trunk")
    expect(await read_path(store, on_fork[-1]), m[:4] + fork[:1] + on_fork, "the path on the fork")
    await store.read(lambda tx: expect(list(tx.upkeep.faults()), [], "the faults"))


@check
async def a_branch_before_the_first_message_keeps_nothing(store: Store) -> None:
    """A session whose only branch stands before the first message is pruned to nothing, and may be told again."""
    m = await tell(store, numbered(4))
    await store.write(move, "main", None)
    expect(await store.write(prune), Pruned(messages=4, tokens=cost(m)), "what is taken out")

    def look(tx: Transaction) -> None:
        info = tx.sessions.get(KEY)
        expect((info.messages, info.tokens) if info else None, (0, 0), "the messages and tokens")

    await store.read(look)
    expect(await tell(store, numbered(4)), m, "the messages told again")


@check
async def a_session_without_a_branch_is_not_pruned(store: Store) -> None:
    """To prune a session that has messages and no branch is refused, and takes out nothing; an empty one may be."""
    m = await tell(store, numbered(3))

    def keep(tx: Transaction) -> None:
        tx.upkeep.drop(KEY, "main")
        with expect_error(BadInput, "pruning without a branch"):
            tx.upkeep.prune(KEY)
        with expect_error(SessionNotFound, "pruning no session"):
            tx.upkeep.prune(SessionKey(SPACE, "nowhere"))
        empty = SessionKey(SPACE, "empty")
        tx.sessions.create(empty, None)
        expect(tx.upkeep.prune(empty), Pruned(), "what is taken out of an empty session")

    await store.write(keep)
    expect(await read_path(store, m[-1]), m, "the path")
