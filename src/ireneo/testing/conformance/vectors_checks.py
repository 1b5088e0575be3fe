"""Vectors: kept by embedder, due where a document has none, gone with their documents, and every change is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from ireneo.errors import BadInput
from ireneo.log.message import Message
from ireneo.log.tree import SessionKey
from ireneo.memories.index import Vector
from ireneo.memories.record import Record
from ireneo.ports.search import Shelf
from ireneo.ports.store import Store, Transaction
from ireneo.ports.vectors import VectorChanges
from ireneo.testing.conformance.check import Again, check, expect, expect_error, shared_check
from ireneo.testing.conformance.learned import learned
from ireneo.testing.conformance.material import KEY, SPACE, append, say

EMBEDDER = "tiny:1"
ONE, TWO, THREE = bytes([127, 0, 3]), bytes([0, 127, 1]), bytes([129, 5, 0])


def said(tx: Transaction, *words: str) -> list[Message]:
    """Append messages; their documents are due."""
    return append(tx, KEY, say(*words))


def told(tx: Transaction, *words: str) -> list[Record]:
    """Store memories; their documents are due."""
    records = [learned(word) for word in words]
    tx.memories.put(SPACE, records)
    return records


def due(tx: Transaction, shelf: Shelf = "memories", embedder: str = EMBEDDER, space: str = SPACE) -> Sequence[int]:
    """What is due, as many as there are."""
    return tx.vectors.due(space, shelf, embedder, 1_000)


def put(tx: Transaction, vectors: Mapping[int, Vector], shelf: Shelf = "memories", embedder: str = EMBEDDER) -> int:
    """Keep vectors in a transaction of their own."""
    return tx.vectors.put(SPACE, shelf, embedder, vectors)


def since(tx: Transaction, change: int = 0, shelf: Shelf = "memories", embedder: str = EMBEDDER) -> VectorChanges:
    """What changed."""
    return tx.vectors.since(SPACE, shelf, embedder, change)


@check
async def nothing_is_due_where_there_is_nothing(store: Store) -> None:
    """A space without documents has no vectors, no changes, and nothing due."""
    expect(await store.read(due), [], "what is due")
    expect(await store.read(since), VectorChanges(change=0, added={}, removed=[], whole=False), "the changes")

    def keep(tx: Transaction) -> None:
        expect(tx.vectors.embedders(SPACE), [], "the embedders")
        expect(tx.vectors.drop(SPACE, EMBEDDER), 0, "the vectors that were dropped")
        expect(tx.vectors.put(SPACE, "memories", EMBEDDER, {}), 0, "what was put")

    await store.write(keep)


@check
async def a_document_is_due_until_it_has_a_vector(store: Store) -> None:
    """Messages and memories are due on their shelves, the newest first, until they have a vector of that embedder."""
    await store.write(said, "the tide", "the moon")
    await store.write(told, "a fact", "another", "a third")
    messages, memories = await store.read(due, "messages"), await store.read(due)
    expect([len(messages), len(memories)], [2, 3], "the documents that are due")
    for documents in (messages, memories):
        expect(list(documents), sorted(documents, reverse=True), "their order")

    def look(tx: Transaction) -> None:
        found = tx.search.messages(SPACE, messages)
        expect([each.message.draft.text for each in found], ["the moon", "the tide"], "the messages that are due")
        expect(list(tx.vectors.due(SPACE, "memories", EMBEDDER, 2)), list(memories[:2]), "the first two")

    await store.read(look)
    expect(await store.write(put, {memories[0]: ONE, memories[2]: TWO}), 2, "the vectors that are new")
    expect(list(await store.read(due)), [memories[1]], "what is left")
    expect(len(await store.read(due, embedder="other:1")), 3, "what is due of another embedder")
    expect(len(await store.read(due, "messages")), 2, "what is due on the other shelf")


@check
async def each_change_is_told_once(store: Store) -> None:
    """Whoever has read up to a change is told what came after it, and nothing twice."""
    await store.write(told, "a fact", "another", "a third")
    a, b, c = sorted(await store.read(due))
    await store.write(put, {a: ONE, b: TWO})
    first = await store.read(since)
    expect((dict(first.added), list(first.removed), first.whole), ({a: ONE, b: TWO}, [], False), "the first changes")
    again = await store.read(since, first.change)
    expect((dict(again.added), again.change), ({}, first.change), "the changes after them")
    expect(await store.write(put, {a: ONE, b: THREE, c: ONE}), 2, "what is new or other than before")
    more = await store.read(since, first.change)
    expect(dict(more.added), {b: THREE, c: ONE}, "the changes since")
    expect(more.change > first.change, True, "whether the number grew")
    expect(dict((await store.read(since)).added), {a: ONE, b: THREE, c: ONE}, "all of it")
    ahead = await store.read(since, more.change + 5)
    expect((dict(ahead.added), ahead.change), ({}, more.change + 5), "the changes after one that is not there yet")


@check
async def a_memory_that_is_removed_takes_its_vectors_along(store: Store) -> None:
    """The vectors of a memory go in the transaction that removes it, of every embedder, and that is told."""
    kept, removed = await store.write(told, "a fact", "another")
    documents = {}
    numbers = await store.read(due)

    def look(tx: Transaction) -> None:
        for each in tx.search.memories(SPACE, numbers):
            documents[each.record.id] = each.document

    await store.read(look)
    of_both = dict.fromkeys(documents.values(), ONE)
    await store.write(put, of_both)
    await store.write(put, of_both, embedder="other:1")
    before = await store.read(since)

    def keep(tx: Transaction) -> None:
        tx.memories.remove(SPACE, [removed.id])
        inside = tx.vectors.since(SPACE, "memories", EMBEDDER, before.change)
        expect(list(inside.removed), [documents[removed.id]], "what the transaction itself sees")

    await store.write(keep)
    after = await store.read(since, before.change)
    expect((dict(after.added), list(after.removed)), ({}, [documents[removed.id]]), "what changed")
    for embedder in (EMBEDDER, "other:1"):
        left = await store.read(since, embedder=embedder)
        expect((list(left.added), list(left.removed)), ([documents[kept.id]], []), f"what is left of {embedder}")
    expect(await store.write(put, of_both), 0, "what is put of a document that is gone")
    expect(list((await store.read(since)).added), [documents[kept.id]], "what is there then")


@check
async def a_memory_that_says_something_else_is_due_again(store: Store) -> None:
    """A memory that is stored with another text loses its vector; one that only changes otherwise keeps it."""
    (record,) = await store.write(told, "a fact")
    (document,) = await store.read(due)
    await store.write(put, {document: ONE})
    before = await store.read(since)

    def keep(tx: Transaction) -> None:
        tx.memories.put(SPACE, [replace(record, seen=3, state="superseded")])

    await store.write(keep)
    expect(await store.read(due), [], "what is due after another change")
    await store.write(lambda tx: tx.memories.put(SPACE, [replace(record, text="a fake")]))
    (again,) = await store.read(due)
    expect(list((await store.read(since, before.change)).removed), [document], "what lost its vector")
    expect(await store.write(put, {again: TWO}), 1, "what is put of the new text")
    after = await store.read(since, before.change)
    lost = [each for each in after.removed if each != again]
    expect((dict(after.added), lost), ({again: TWO}, [] if again == document else [document]), "all that changed")


@check
async def messages_that_are_pruned_take_their_vectors_along(store: Store) -> None:
    """The vectors of messages that no branch leads to go when these are pruned."""
    stays, goes = await store.write(said, "the tide", "the moon")
    moon, tide = await store.read(due, "messages")
    await store.write(put, {tide: ONE, moon: TWO}, "messages")
    before = await store.read(since, shelf="messages")

    def keep(tx: Transaction) -> None:
        tx.log.move(KEY, "main", stays.id)
        tx.upkeep.prune(KEY)

    await store.write(keep)
    after = await store.read(since, before.change, "messages")
    expect((dict(after.added), list(after.removed)), ({}, [moon]), f"what changed when {goes.id} went")
    expect(dict((await store.read(since, shelf="messages")).added), {tide: ONE}, "what is left")
    expect(await store.write(put, {moon: TWO}, "messages"), 0, "what is put of a message that is gone")


@check
async def vectors_keep_to_their_space(store: Store) -> None:
    """No space sees another's vectors, nor can it put one of another's document."""
    await store.write(told, "a fact")
    await store.write(said, "the tide")
    (memory,), (message,) = await store.read(due), await store.read(due, "messages")
    await store.write(put, {memory: ONE})
    expect(await store.read(due, space="elsewhere"), [], "what is due elsewhere")
    shelves: dict[Shelf, int] = {"memories": memory, "messages": message}

    def keep(tx: Transaction) -> None:
        for shelf, document in shelves.items():
            expect(tx.vectors.put("elsewhere", shelf, EMBEDDER, {document: TWO}), 0, "what is put elsewhere")
            expect(dict(tx.vectors.since("elsewhere", shelf, EMBEDDER, 0).added), {}, "what is seen elsewhere")
        expect(tx.vectors.embedders("elsewhere"), [], "the embedders elsewhere")
        expect(tx.vectors.drop("elsewhere", EMBEDDER), 0, "what is dropped elsewhere")

    await store.write(keep)
    expect(dict((await store.read(since)).added), {memory: ONE}, "what is there still")


@check
async def an_embedder_is_dropped_with_all_its_vectors(store: Store) -> None:
    """What is dropped is due again, and whoever had read it is told to forget it all; other embedders keep theirs."""
    await store.write(told, "a fact")
    await store.write(said, "the tide")
    (memory,), (message,) = await store.read(due), await store.read(due, "messages")
    await store.write(put, {memory: ONE})
    await store.write(put, {message: ONE}, "messages")
    await store.write(put, {memory: TWO}, embedder="other:1")
    before = await store.read(since)

    def keep(tx: Transaction) -> None:
        expect(list(tx.vectors.embedders(SPACE)), ["other:1", EMBEDDER], "the embedders")
        expect(tx.vectors.drop(SPACE, EMBEDDER), 2, "the vectors that were dropped")
        expect(list(tx.vectors.embedders(SPACE)), ["other:1"], "the embedders that are left")

    await store.write(keep)
    expect(
        (list(await store.read(due)), list(await store.read(due, "messages"))),
        ([memory], [message]),
        "what is due again",
    )
    # It may come back, with vectors of another length even.
    await store.write(put, {memory: THREE + bytes(5)})
    after = await store.read(since, before.change)
    expect((after.whole, dict(after.added)), (True, {memory: THREE + bytes(5)}), "what is told")
    expect(dict((await store.read(since, embedder="other:1")).added), {memory: TWO}, "what the other embedder has")


@check
async def vectors_of_another_length_are_turned_away(store: Store) -> None:
    """All vectors of an embedder in a space are equally long; others raise BadInput, and nothing is kept."""
    await store.write(told, "a fact", "another")
    a, b = await store.read(due)
    with expect_error(BadInput, "two lengths at once"):
        await store.write(put, {a: ONE, b: ONE[:2]})
    with expect_error(BadInput, "a vector without dimensions"):
        await store.write(put, {a: b""})
    await store.write(put, {a: ONE})
    with expect_error(BadInput, "another length than those before"):
        await store.write(put, {b: ONE[:2]})
    expect(dict((await store.read(since)).added), {a: ONE}, "what is there")


@check
async def vectors_that_were_not_committed_are_not_there(store: Store) -> None:
    """What a transaction put that was left with an error is due again, and its changes were never made."""
    await store.write(told, "a fact")
    (document,) = await store.read(due)

    class Stop(Exception):
        """Ends the transaction."""

    def break_off(tx: Transaction) -> None:
        tx.vectors.put(SPACE, "memories", EMBEDDER, {document: ONE})
        raise Stop

    try:
        await store.write(break_off)
    except Stop:
        expect(list(await store.read(due)), [document], "what is due")
    expect((await store.read(since)).change, 0, "the newest change")


@shared_check
async def another_process_is_told_of_changes(store: Store, again: Again) -> None:
    """What one process puts and removes, another that asks since its last change is told."""
    gone, _ = await store.write(told, "a fact", "another")
    documents = sorted(await store.read(due))
    other = await again(store)
    try:
        await store.write(put, dict.fromkeys(documents, ONE))
        seen = await other.read(since)
        expect(sorted(seen.added), documents, "what the other process sees")

        def keep(tx: Transaction) -> None:
            tx.memories.remove(SPACE, [gone.id])
            elsewhere = SessionKey(SPACE, "elsewhere")
            tx.sessions.create(elsewhere, None)

        await store.write(keep)
        changed = await other.read(since, seen.change)
        expect((dict(changed.added), list(changed.removed)), ({}, documents[:1]), "what it sees of the removal")
    finally:
        await other.close()
