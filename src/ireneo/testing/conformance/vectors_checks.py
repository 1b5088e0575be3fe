"""Vectors: kept by embedder, due where a document has none, gone with their documents, and every change is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from ireneo.errors import BadInput
from ireneo.log.message import Message
from ireneo.log.tree import SessionKey
from ireneo.memories.index import Vector
from ireneo.memories.record import Record
from ireneo.ports.memories import IndexName, VectorChanges
from ireneo.ports.store import Store
from ireneo.ports.transition import Transaction
from ireneo.testing.conformance.check import Again, check, expect, expect_error, shared_check
from ireneo.testing.conformance.learned import learned
from ireneo.testing.conformance.material import KEY, SPACE, append, say

EMBEDDER = "tiny:1"
ONE, TWO, THREE = bytes([127, 0, 3]), bytes([0, 127, 1]), bytes([129, 5, 0])


async def said(store: Store, *words: str) -> list[Message]:
    """Append messages; their documents are due."""
    async with store.write() as tx:
        return await append(tx, KEY, say(*words))


async def told(store: Store, *words: str) -> list[Record]:
    """Store memories; their documents are due."""
    records = [learned(word) for word in words]
    async with store.write() as tx:
        await tx.memories.put(SPACE, records)
    return records


async def due(
    store: Store, shelf: IndexName = "memories", embedder: str = EMBEDDER, space: str = SPACE
) -> Sequence[int]:
    """What is due, as many as there are."""
    async with store.read() as tx:
        return await tx.vectors.due(space, shelf, embedder, 1_000)


async def put(
    store: Store, vectors: Mapping[int, Vector], shelf: IndexName = "memories", embedder: str = EMBEDDER
) -> int:
    """Keep vectors in a transaction of their own."""
    async with store.write() as tx:
        return await tx.vectors.put(SPACE, shelf, embedder, vectors)


async def since(
    store: Store, change: int = 0, shelf: IndexName = "memories", embedder: str = EMBEDDER
) -> VectorChanges:
    """What changed."""
    async with store.read() as tx:
        return await tx.vectors.since(SPACE, shelf, embedder, change)


@check
async def nothing_is_due_where_there_is_nothing(store: Store) -> None:
    """A space without documents has no vectors, no changes, and nothing due."""
    expect(await due(store), [], "what is due")
    expect(await since(store), VectorChanges(change=0, added={}, removed=[], whole=False), "the changes")
    async with store.write() as tx:
        expect(await tx.vectors.embedders(SPACE), [], "the embedders")
        expect(await tx.vectors.drop(SPACE, EMBEDDER), 0, "the vectors that were dropped")
        expect(await tx.vectors.put(SPACE, "memories", EMBEDDER, {}), 0, "what was put")


@check
async def a_document_is_due_until_it_has_a_vector(store: Store) -> None:
    """Messages and memories are due on their shelves, the newest first, until they have a vector of that embedder."""
    await said(store, "the tide", "the moon")
    await told(store, "a fact", "another", "a third")
    messages, memories = await due(store, "messages"), await due(store)
    expect([len(messages), len(memories)], [2, 3], "the documents that are due")
    for documents in (messages, memories):
        expect(list(documents), sorted(documents, reverse=True), "their order")
    async with store.read() as tx:
        found = await tx.search.messages(SPACE, messages)
        expect([each.message.draft.text for each in found], ["the moon", "the tide"], "the messages that are due")
        expect(list(await tx.vectors.due(SPACE, "memories", EMBEDDER, 2)), list(memories[:2]), "the first two")
    expect(await put(store, {memories[0]: ONE, memories[2]: TWO}), 2, "the vectors that are new")
    expect(list(await due(store)), [memories[1]], "what is left")
    expect(len(await due(store, embedder="other:1")), 3, "what is due of another embedder")
    expect(len(await due(store, "messages")), 2, "what is due on the other shelf")


@check
async def each_change_is_told_once(store: Store) -> None:
    """Whoever has read up to a change is told what came after it, and nothing twice."""
    await told(store, "a fact", "another", "a third")
    a, b, c = sorted(await due(store))
    await put(store, {a: ONE, b: TWO})
    first = await since(store)
    expect((dict(first.added), list(first.removed), first.whole), ({a: ONE, b: TWO}, [], False), "the first changes")
    again = await since(store, first.change)
    expect((dict(again.added), again.change), ({}, first.change), "the changes after them")
    expect(await put(store, {a: ONE, b: THREE, c: ONE}), 2, "what is new or other than before")
    more = await since(store, first.change)
    expect(dict(more.added), {b: THREE, c: ONE}, "the changes since")
    expect(more.change > first.change, True, "whether the number grew")
    expect(dict((await since(store)).added), {a: ONE, b: THREE, c: ONE}, "all of it")
    ahead = await since(store, more.change + 5)
    expect((dict(ahead.added), ahead.change), ({}, more.change + 5), "the changes after one that is not there yet")


@check
async def a_memory_that_is_removed_takes_its_vectors_along(store: Store) -> None:
    """The vectors of a memory go in the transaction that removes it, of every embedder, and that is told."""
    kept, removed = await told(store, "a fact", "another")
    documents = {}
    numbers = await due(store)
    async with store.read() as tx:
        for each in await tx.search.memories(SPACE, numbers):
            documents[each.record.id] = each.document
    of_both = dict.fromkeys(documents.values(), ONE)
    await put(store, of_both)
    await put(store, of_both, embedder="other:1")
    before = await since(store)
    async with store.write() as tx:
        await tx.memories.remove(SPACE, [removed.id])
        inside = await tx.vectors.since(SPACE, "memories", EMBEDDER, before.change)
        expect(list(inside.removed), [documents[removed.id]], "what the transaction itself sees")
    after = await since(store, before.change)
    expect((dict(after.added), list(after.removed)), ({}, [documents[removed.id]]), "what changed")
    for embedder in (EMBEDDER, "other:1"):
        left = await since(store, embedder=embedder)
        expect((list(left.added), list(left.removed)), ([documents[kept.id]], []), f"what is left of {embedder}")
    expect(await put(store, of_both), 0, "what is put of a document that is gone")
    expect(list((await since(store)).added), [documents[kept.id]], "what is there then")


@check
async def a_memory_that_says_something_else_is_due_again(store: Store) -> None:
    """A memory that is stored with another text loses its vector; one that only changes otherwise keeps it."""
    (record,) = await told(store, "a fact")
    (document,) = await due(store)
    await put(store, {document: ONE})
    before = await since(store)
    async with store.write() as tx:
        await tx.memories.put(SPACE, [replace(record, seen=3, state="superseded")])
    expect(await due(store), [], "what is due after another change")
    async with store.write() as tx:
        await tx.memories.put(SPACE, [replace(record, text="a fake")])
    (again,) = await due(store)
    expect(list((await since(store, before.change)).removed), [document], "what lost its vector")
    expect(await put(store, {again: TWO}), 1, "what is put of the new text")
    after = await since(store, before.change)
    lost = [each for each in after.removed if each != again]
    expect((dict(after.added), lost), ({again: TWO}, [] if again == document else [document]), "all that changed")


@check
async def messages_that_are_pruned_take_their_vectors_along(store: Store) -> None:
    """The vectors of messages that no branch leads to go when these are pruned."""
    stays, goes = await said(store, "the tide", "the moon")
    moon, tide = await due(store, "messages")
    await put(store, {tide: ONE, moon: TWO}, "messages")
    before = await since(store, shelf="messages")
    async with store.write() as tx:
        await tx.log.move(KEY, "main", stays.id)
        await tx.upkeep.prune(KEY)
    after = await since(store, before.change, "messages")
    expect((dict(after.added), list(after.removed)), ({}, [moon]), f"what changed when {goes.id} went")
    expect(dict((await since(store, shelf="messages")).added), {tide: ONE}, "what is left")
    expect(await put(store, {moon: TWO}, "messages"), 0, "what is put of a message that is gone")


@check
async def vectors_keep_to_their_space(store: Store) -> None:
    """No space sees another's vectors, nor can it put one of another's document."""
    await told(store, "a fact")
    await said(store, "the tide")
    (memory,), (message,) = await due(store), await due(store, "messages")
    await put(store, {memory: ONE})
    expect(await due(store, space="elsewhere"), [], "what is due elsewhere")
    shelves: dict[IndexName, int] = {"memories": memory, "messages": message}
    async with store.write() as tx:
        for shelf, document in shelves.items():
            expect(await tx.vectors.put("elsewhere", shelf, EMBEDDER, {document: TWO}), 0, "what is put elsewhere")
            expect(dict((await tx.vectors.since("elsewhere", shelf, EMBEDDER, 0)).added), {}, "what is seen elsewhere")
        expect(await tx.vectors.embedders("elsewhere"), [], "the embedders elsewhere")
        expect(await tx.vectors.drop("elsewhere", EMBEDDER), 0, "what is dropped elsewhere")
    expect(dict((await since(store)).added), {memory: ONE}, "what is there still")


@check
async def an_embedder_is_dropped_with_all_its_vectors(store: Store) -> None:
    """What is dropped is due again, and whoever had read it is told to forget it all; other embedders keep theirs."""
    await told(store, "a fact")
    await said(store, "the tide")
    (memory,), (message,) = await due(store), await due(store, "messages")
    await put(store, {memory: ONE})
    await put(store, {message: ONE}, "messages")
    await put(store, {memory: TWO}, embedder="other:1")
    before = await since(store)
    async with store.write() as tx:
        expect(list(await tx.vectors.embedders(SPACE)), ["other:1", EMBEDDER], "the embedders")
        expect(await tx.vectors.drop(SPACE, EMBEDDER), 2, "the vectors that were dropped")
        expect(list(await tx.vectors.embedders(SPACE)), ["other:1"], "the embedders that are left")
    expect((list(await due(store)), list(await due(store, "messages"))), ([memory], [message]), "what is due again")
    # It may come back, with vectors of another length even.
    await put(store, {memory: THREE + bytes(5)})
    after = await since(store, before.change)
    expect((after.whole, dict(after.added)), (True, {memory: THREE + bytes(5)}), "what is told")
    expect(dict((await since(store, embedder="other:1")).added), {memory: TWO}, "what the other embedder has")


@check
async def vectors_of_another_length_are_turned_away(store: Store) -> None:
    """All vectors of an embedder in a space are equally long; others raise BadInput, and nothing is kept."""
    await told(store, "a fact", "another")
    a, b = await due(store)
    with expect_error(BadInput, "two lengths at once"):
        await put(store, {a: ONE, b: ONE[:2]})
    with expect_error(BadInput, "a vector without dimensions"):
        await put(store, {a: b""})
    await put(store, {a: ONE})
    with expect_error(BadInput, "another length than those before"):
        await put(store, {b: ONE[:2]})
    expect(dict((await since(store)).added), {a: ONE}, "what is there")


@check
async def vectors_that_were_not_committed_are_not_there(store: Store) -> None:
    """What a transaction put that was left with an error is due again, and its changes were never made."""
    await told(store, "a fact")
    (document,) = await due(store)

    class Stop(Exception):
        """Ends the transaction."""

    async def break_off(tx: Transaction) -> None:
        await tx.vectors.put(SPACE, "memories", EMBEDDER, {document: ONE})
        raise Stop

    try:
        async with store.write() as tx:
            await break_off(tx)
    except Stop:
        expect(list(await due(store)), [document], "what is due")
    expect((await since(store)).change, 0, "the newest change")


@shared_check
async def another_process_is_told_of_changes(store: Store, again: Again) -> None:
    """What one process puts and removes, another that asks since its last change is told."""
    gone, _ = await told(store, "a fact", "another")
    documents = sorted(await due(store))
    other = await again(store)
    try:
        await put(store, dict.fromkeys(documents, ONE))
        seen = await since(other)
        expect(sorted(seen.added), documents, "what the other process sees")
        async with store.write() as tx:
            await tx.memories.remove(SPACE, [gone.id])
            elsewhere = SessionKey(SPACE, "elsewhere")
            await tx.sessions.create(elsewhere, None)
        changed = await since(other, seen.change)
        expect((dict(changed.added), list(changed.removed)), ({}, documents[:1]), "what it sees of the removal")
    finally:
        await other.close()
