"""Branches, the paths that end in them, and messages found by name."""

from __future__ import annotations

from ireneo.errors import MessageNotFound
from ireneo.log.message import Draft, Message, MessageId, Text
from ireneo.log.tree import head_of
from ireneo.ports.store import Store
from ireneo.testing.conformance.check import check, expect, expect_error
from ireneo.testing.conformance.material import (
    KEY,
    NOWHERE,
    append,
    numbered,
    read_path,
    say,
    tell,
    tell_after,
)


@check
async def a_path_is_read_in_runs(store: Store) -> None:
    """A path is read from position to position, both included; what lies outside of it is left out."""
    messages = await tell(store, numbered(10))
    async with store.read() as tx:
        for first, last in ((0, 9), (3, 3), (4, 8), (0, 0), (9, 9), (7, 50), (-5, 2), (6, 5), (10, 20)):
            wanted = [message for message in messages if first <= message.position <= last]
            expect(list(await tx.log.path(KEY, messages[-1].id, first, last)), wanted, f"positions {first} to {last}")
        expect(list(await tx.log.path(KEY, messages[4].id, 2, 9)), messages[2:5], "a path that ends before")


@check
async def a_path_crosses_every_fork(store: Store) -> None:
    """A path through forks of forks is read as one, in any run."""
    paths: list[list[Message]] = [await tell(store, numbered(8))]
    for number, (trunk, place) in enumerate([(0, 5), (1, 3), (1, 7), (2, 6), (3, 8), (0, 0)]):
        stem = paths[trunk][: place + 1]
        paths.append(stem + await tell_after(store, stem[-1], numbered(5, f"branch {number}")))
    async with store.read() as tx:
        for path in paths:
            for first in range(len(path)):
                found = await tx.log.path(KEY, path[-1].id, first, first + 4)
                expect(list(found), path[first : first + 5], f"the path from {first}")


@check
async def many_children_of_one_message(store: Store) -> None:
    """Any number of branches may leave the same message."""
    stem = await tell(store, numbered(3))
    leaves = [(await tell_after(store, stem[1], say(f"try {number}")))[0] for number in range(20)]
    for leaf in leaves:
        expect(await read_path(store, leaf), [*stem[:2], leaf], "the path")


@check
async def a_path_must_end_in_a_stored_message(store: Store) -> None:
    """A path to a message that is not stored raises MessageNotFound."""
    await tell(store, numbered(2))
    async with store.read() as tx:
        with expect_error(MessageNotFound, "the path"):
            await tx.log.path(KEY, MessageId(NOWHERE), 0, 1)


@check
async def after_a_rewind_an_append_forks(store: Store) -> None:
    """A branch that was moved back goes on from there, and what it left can still be read."""
    old = await tell(store, numbered(6))
    async with store.write() as tx:
        await tx.log.move(KEY, "main", old[2].id)
        new = await append(tx, KEY, numbered(2, "again"))
    async with store.read() as tx:
        expect(await tx.log.head(KEY), head_of(new[-1]), "the head")
    expect(await read_path(store, new[-1]), old[:3] + new, "the new path")
    expect(await read_path(store, old[-1]), old, "the path that was left")


@check
async def a_branch_may_stand_before_everything(store: Store) -> None:
    """A branch that is moved before the first message has no head, and can begin anew."""
    old = await tell(store, numbered(3))
    async with store.write() as tx:
        await tx.log.move(KEY, "main", None)
        expect(await tx.log.head(KEY), None, "the head")
        new = await append(tx, KEY, say("a new beginning"))
    expect(await read_path(store, new[-1]), new, "the new path")
    expect(await read_path(store, old[-1]), old, "the old path")


@check
async def a_branch_moves_to_stored_messages_only(store: Store) -> None:
    """Moving a branch to a message that is not stored raises MessageNotFound and leaves it where it was."""
    messages = await tell(store, numbered(2))
    async with store.write() as tx:
        with expect_error(MessageNotFound, "the move"):
            await tx.log.move(KEY, "main", MessageId(NOWHERE))
        expect(await tx.log.head(KEY), head_of(messages[-1]), "the head")


@check
async def branches_move_apart(store: Store) -> None:
    """Moving one branch leaves the others where they are."""
    messages = await tell(store, numbered(4))
    async with store.write() as tx:
        await tx.log.move(KEY, "try", messages[1].id)
        forked = await append(tx, KEY, say("other way"), "try")
        expect(await tx.log.head(KEY), head_of(messages[-1]), "the head of main")
        expect(await tx.log.head(KEY, "try"), head_of(forked[-1]), "the head of the other")


@check
async def a_message_is_found_by_the_beginning_of_its_id(store: Store) -> None:
    """Messages are found by the beginning of their id, in the order asked, each once; unknown ones are passed over."""
    messages = await tell(store, numbered(12))
    async with store.read() as tx:
        asked = [messages[7].id[:12], NOWHERE, messages[2].id, messages[7].id]
        expect(list(await tx.log.find(KEY, asked)), [messages[7], messages[2]], "what is found")
        everything = await tx.log.find(KEY, ["m_"])
        expect(list(everything), sorted(messages, key=lambda message: message.id), "all, by the shortest beginning")
        expect(list(await tx.log.find(KEY, [])), [], "what is found for nothing")


@check
async def a_message_is_found_by_its_source_id(store: Store) -> None:
    """Messages are found by the whole id that their log gave them, and not by a part of it."""
    drafts = [
        Draft(role="assistant", parts=(Text(text=f"piece {number}"),), source_id=f"line-{number // 2}")
        for number in range(6)
    ]
    messages = await tell(store, drafts)
    async with store.read() as tx:
        expect(list(await tx.log.find(KEY, ["line-1"])), messages[2:4], "what is found")
        expect(list(await tx.log.find(KEY, ["line-", "ine-1"])), [], "what is found by a part")
        both = await tx.log.find(KEY, ["line-2", messages[0].id, "line-0"])
        expect(list(both), [*messages[4:6], messages[0], messages[1]], "ids of both sorts")


@check
async def at_most_a_hundred_are_found(store: Store) -> None:
    """A find that fits more messages brings a hundred."""
    messages = await tell(store, numbered(130))
    async with store.read() as tx:
        expect(len(await tx.log.find(KEY, ["m_"])), 100, "the number found by one beginning")
        expect(len(await tx.log.find(KEY, [message.id for message in messages])), 100, "the number found by many ids")
