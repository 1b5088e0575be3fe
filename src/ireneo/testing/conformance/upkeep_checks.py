"""Upkeep: what is wrong, which summaries and ends there are, and what nobody needs any more."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from msgspec.structs import replace

from ireneo.errors import BadInput, MessageNotFound, SessionNotFound
from ireneo.log.message import Message
from ireneo.log.redaction import erase
from ireneo.log.tree import SessionKey, head_of
from ireneo.ports.store import Pruned, Store
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


async def prune(store: Store) -> Pruned:
    """Prune in a transaction of its own; afterwards nothing may be wrong, and nothing be left to prune."""
    async with store.write() as tx:
        pruned = await tx.upkeep.prune(KEY)
        expect(await tx.upkeep.prune(KEY), Pruned(), "what a second pruning takes out")
        expect(list(await tx.upkeep.faults()), [], "the faults")
        expect(list(await tx.upkeep.ends(KEY)), [], "the ends on no branch")
    return pruned


async def move(store: Store, branch: str, to: Message | None) -> None:
    """Move a branch in a transaction of its own."""
    async with store.write() as tx:
        await tx.log.move(KEY, branch, None if to is None else to.id)


@check
async def a_sound_store_has_no_faults(store: Store) -> None:
    """A store in which everything was written through its ports has no faults."""
    m = await tell(store, [with_native(draft, {"n": 1}) for draft in numbered(8)])
    fork = await tell_after(store, m[3], numbered(4, "fork"))
    await tell_after(store, None, numbered(2, "another root"))
    async with store.write() as tx:
        await tx.log.move(KEY, "empty", None)
        await tx.log.move(KEY, "fork", fork[-1].id)
        await tx.summaries.put(KEY, [summarise(m[0], m[5]), summarise(m[2], fork[1])])
        await tx.rebuilds.put(KEY, rebuilt(fork[0]))
        await tx.annotations.put(KEY, [noted(m[7], "note")])
        await tx.leases.take(KEY, "work", "one", NOON, NOON + MINUTE)
        await append(tx, SessionKey("other", "session"), numbered(2))
        await tx.sessions.create(SessionKey("other", "empty"), None)
        await tx.pads.write(SPACE, pad("task"))
        await tx.memories.put(SPACE, [learned("a fact")])
        await tx.runs.put(SPACE, ran("one"), [sighted("c", "one")])
        await tx.erasure.messages(KEY, [erase(m[4])])
        await tx.upkeep.mend()
    async with store.read() as tx:
        expect(list(await tx.upkeep.faults()), [], "the faults")
        looked = 0
        after: int | None = 0
        while after is not None:
            page = await tx.upkeep.altered(after, 3)
            expect(page.faults, (), "what is not what was stored")
            looked, after = looked + page.looked, page.after
        expect(looked, 16, "the messages that were looked at")


@check
async def every_summary_is_listed(store: Store) -> None:
    """The ids of all summaries of a session are listed, of every family, depth and path, by what they cover."""
    m = await tell(store, numbered(12))
    fork = await tell_after(store, m[3], numbered(4, "fork"))
    wanted = [
        summarise(m[0], m[1], family="family-2"),
        summarise(m[0], m[9], level="goal", depth=2),
        summarise(m[2], fork[1]),
        summarise(m[8], m[11]),
    ]
    async with store.write() as tx:
        await tx.summaries.put(KEY, wanted[::-1])
        expect(list(await tx.upkeep.summaries(KEY)), [each.id for each in wanted], "the summaries")
        expect(list(await tx.upkeep.summaries(SessionKey(SPACE, "nowhere"))), [], "those of no session")


@check
async def summaries_are_discarded(store: Store) -> None:
    """Summaries that are discarded are gone, and may be stored again; unknown ids are passed over."""
    m = await tell(store, numbered(6))
    one, two = summarise(m[0], m[2]), summarise(m[3], m[5])
    async with store.write() as tx:
        await tx.summaries.put(KEY, [one, two])
        expect(await tx.upkeep.discard(KEY, [one.id, SummaryId("s_unknown"), one.id]), 1, "how many were there")
        expect(list(await tx.summaries.frontier(KEY, m[-1].id, FAMILY)), [two], "the frontier")
        expect(await tx.summaries.put(KEY, [one]), 1, "new when it is put again")
        with expect_error(SessionNotFound, "to discard in no session"):
            await tx.upkeep.discard(SessionKey(SPACE, "nowhere"), [one.id])


@check
async def ends_on_no_branch_are_listed(store: Store) -> None:
    """The last message of each abandoned path is listed, by position; where a branch stands is no end."""
    m = await tell(store, numbered(8))
    fork = await tell_after(store, m[3], numbered(2, "fork"))
    twig = await tell_after(store, fork[0], numbered(6, "twig"))
    root = await tell_after(store, None, numbered(2, "another root"))
    async with store.read() as tx:
        wanted = [head_of(each) for each in (root[-1], fork[-1], twig[-1])]
        expect(list(await tx.upkeep.ends(KEY)), wanted, "the ends")
        expect(list(await tx.upkeep.ends(SessionKey(SPACE, "nowhere"))), [], "the ends of no session")
    await move(store, "twig", twig[-1])
    await move(store, "main", m[6])
    async with store.read() as tx:
        wanted = [head_of(each) for each in (root[-1], fork[-1], m[-1])]
        expect(list(await tx.upkeep.ends(KEY)), wanted, "the ends when branches were moved")


@check
async def a_branch_is_dropped(store: Store) -> None:
    """A branch that is dropped is no longer there, main too; its messages stay and become an end."""
    m = await tell(store, numbered(3))
    async with store.write() as tx:
        await tx.log.move(KEY, "empty", None)
        expect(await tx.upkeep.drop(KEY, "unknown"), False, "whether there was such a branch")
        expect(await tx.upkeep.drop(KEY, "main"), True, "whether main was there")
        expect(await tx.upkeep.drop(KEY, "main"), False, "whether main is there again")
        expect(await tx.log.head(KEY), None, "the head of main")
        expect(dict(await tx.sessions.branches(KEY)), {"empty": None}, "the branches")
        expect(list(await tx.upkeep.ends(KEY)), [head_of(m[-1])], "the ends")
        expect(await tx.upkeep.drop(KEY, "empty"), True, "whether an empty one was there")
        with expect_error(SessionNotFound, "to drop in no session"):
            await tx.upkeep.drop(SessionKey(SPACE, "nowhere"), "main")
    expect(await read_path(store, m[-1]), m, "the path")


@check
async def what_a_branch_leads_to_stays(store: Store) -> None:
    """Pruning a session whose every message is on the path of some branch takes out nothing."""
    m = await tell(store, numbered(6))
    fork = await tell_after(store, m[2], numbered(3, "fork"))
    await move(store, "fork", fork[-1])
    async with store.write() as tx:
        await tx.summaries.put(KEY, [summarise(m[0], m[5]), summarise(m[1], fork[2])])
    expect(await prune(store), Pruned(), "what is taken out")
    expect(await read_path(store, m[-1]), m, "the path")
    expect(await read_path(store, fork[-1]), m[:3] + fork, "the path of the fork")


@check
async def what_no_branch_leads_to_is_taken_out(store: Store) -> None:
    """Pruning takes out abandoned paths: forks, roots, and what lies behind where a branch was moved back to."""
    m = await tell(store, numbered(8))
    fork = await tell_after(store, m[3], numbered(3, "fork"))
    twig = await tell_after(store, fork[1], numbered(2, "twig"))
    root = await tell_after(store, None, numbered(2, "another root"))
    await move(store, "main", m[5])
    await move(store, "fork", fork[1])
    gone = [*m[6:], fork[2], *twig, *root]
    expect(await prune(store), Pruned(messages=len(gone), tokens=cost(gone)), "what is taken out")
    expect(await read_path(store, m[5]), m[:6], "the path")
    expect(await read_path(store, fork[1]), m[:4] + fork[:2], "the path of the fork")
    async with store.read() as tx:
        expect(list(await tx.log.find(KEY, [each.id for each in gone])), [], "what is found of the rest")
        with expect_error(MessageNotFound, "a path to what is gone"):
            await tx.log.path(KEY, m[7].id, 0, 7)


@check
async def a_trunk_that_only_a_fork_needs_is_cut_there(store: Store) -> None:
    """Of a path that only forks need, what lies before the last of them stays, and what comes after it goes."""
    m = await tell(store, numbered(10))
    early = await tell_after(store, m[2], numbered(3, "early"))
    late = await tell_after(store, m[5], numbered(3, "late"))
    deep = await tell_after(store, late[0], numbered(3, "deep"))
    async with store.write() as tx:
        await tx.upkeep.drop(KEY, "main")
        await tx.log.move(KEY, "early", early[-1].id)
        await tx.log.move(KEY, "deep", deep[-1].id)
    gone = [*m[6:], *late[1:]]
    expect(await prune(store), Pruned(messages=len(gone), tokens=cost(gone)), "what is taken out")
    expect(await read_path(store, early[-1]), m[:3] + early, "the early path")
    expect(await read_path(store, deep[-1]), m[:6] + late[:1] + deep, "the deep path")


@check
async def what_hangs_on_pruned_messages_goes_with_them(store: Store) -> None:
    """With messages go their payloads, marks and annotations, and each summary that covers any of them."""
    m = await tell(store, [with_native(draft, {"n": number}) for number, draft in enumerate(numbered(8))])
    kept, across, behind = summarise(m[0], m[4]), summarise(m[3], m[5]), summarise(m[6], m[7])
    async with store.write() as tx:
        await tx.summaries.put(KEY, [kept, across, behind])
        for each in (m[4], m[6]):
            await tx.rebuilds.put(KEY, rebuilt(each))
            await tx.annotations.put(KEY, [noted(each, "note")])
        await tx.log.move(KEY, "main", m[4].id)
    expect(await prune(store), Pruned(messages=3, tokens=cost(m[5:]), summaries=2), "what is taken out")
    async with store.read() as tx:
        expect(list(await tx.upkeep.summaries(KEY)), [kept.id], "the summaries")
        natives = await tx.log.natives(KEY, [each.id for each in m])
        expect(set(natives), {each.id for each in m[:5]}, "the messages with payloads")
    # Stored again they are new: nothing of the old hangs on them.
    expect(await tell(store, [each.draft for each in m[5:]]), m[5:], "the messages told again")
    async with store.read() as tx:
        expect(await tx.rebuilds.last(KEY, m[-1].id, FAMILY, 1000), rebuilt(m[4]), "the last mark")
        expect(list(await tx.annotations.on_path(KEY, m[-1].id)), [noted(m[4], "note")], "the annotations")
        expect(list(await tx.summaries.frontier(KEY, m[-1].id, FAMILY)), [kept], "the frontier")


@check
async def a_pruned_session_is_counted_anew(store: Store) -> None:
    """After pruning, a session's messages, tokens and times are those of what is left; its place in the list stays."""
    drafts = [
        replace(draft, at=NOON + timedelta(hours=hours))
        for draft, hours in zip(numbered(5), (2, 1, 3, 9, 0), strict=True)
    ]
    m = await tell(store, drafts)
    await move(store, "main", m[2])
    await tell(store, say("later"), SessionKey(SPACE, "later"))
    await prune(store)
    async with store.read() as tx:
        (first, info) = await tx.sessions.list(SPACE)
        expect(first.key, SessionKey(SPACE, "later"), "the session that stands first")
        expect((info.messages, info.tokens), (3, cost(m[:3])), "the messages and tokens")
        expect((info.first_at, info.last_at), (NOON + timedelta(hours=1), NOON + timedelta(hours=3)), "the times")


@check
async def a_pruned_session_goes_on(store: Store) -> None:
    """After pruning, appends go on from what is left; behind what is gone MessageNotFound is raised."""
    m = await tell(store, numbered(6))
    fork = await tell_after(store, m[3], numbered(3, "fork"))
    await move(store, "fork", fork[0])
    await move(store, "main", m[1])
    await prune(store)
    with expect_error(MessageNotFound, "an append behind what is gone"):
        await tell_after(store, m[5], say("lost"))
    on_main = await tell_after(store, m[1], numbered(3, "on main"))
    on_trunk = await tell_after(store, m[3], numbered(3, "on the trunk"))
    on_fork = await tell_after(store, fork[0], numbered(3, "on the fork"))
    expect(await read_path(store, on_main[-1]), m[:2] + on_main, "the path on main")
    expect(await read_path(store, on_trunk[-1]), m[:4] + on_trunk, "the path on the trunk")
    expect(await read_path(store, on_fork[-1]), m[:4] + fork[:1] + on_fork, "the path on the fork")
    async with store.read() as tx:
        expect(list(await tx.upkeep.faults()), [], "the faults")


@check
async def a_branch_before_the_first_message_keeps_nothing(store: Store) -> None:
    """A session whose only branch stands before the first message is pruned to nothing, and may be told again."""
    m = await tell(store, numbered(4))
    await move(store, "main", None)
    expect(await prune(store), Pruned(messages=4, tokens=cost(m)), "what is taken out")
    async with store.read() as tx:
        info = await tx.sessions.get(KEY)
        expect((info.messages, info.tokens) if info else None, (0, 0), "the messages and tokens")
    expect(await tell(store, numbered(4)), m, "the messages told again")


@check
async def a_session_without_a_branch_is_not_pruned(store: Store) -> None:
    """To prune a session that has messages and no branch is refused, and takes out nothing; an empty one may be."""
    m = await tell(store, numbered(3))
    async with store.write() as tx:
        await tx.upkeep.drop(KEY, "main")
        with expect_error(BadInput, "pruning without a branch"):
            await tx.upkeep.prune(KEY)
        with expect_error(SessionNotFound, "pruning no session"):
            await tx.upkeep.prune(SessionKey(SPACE, "nowhere"))
        empty = SessionKey(SPACE, "empty")
        await tx.sessions.create(empty, None)
        expect(await tx.upkeep.prune(empty), Pruned(), "what is taken out of an empty session")
    expect(await read_path(store, m[-1]), m, "the path")
