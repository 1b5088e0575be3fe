"""Vectors: kept by embedder, due where a document has none, gone with their documents, and every change is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from msgspec.structs import replace

from ireneo.errors import BadInput
from ireneo.log.message import Message
from ireneo.memories.index import Vector
from ireneo.memories.record import Record
from ireneo.ports.memories import IndexName, VectorChanges
from ireneo.ports.store import Store, Transaction
from ireneo.testing.conformance.check import Place, expect, expect_error
from ireneo.testing.conformance.material import KEY, SPACE, BrokenOffError, break_off, learned, say, tell

EMBEDDER = "tiny:1"
ONE, TWO, THREE = bytes([127, 0, 3]), bytes([0, 127, 1]), bytes([129, 5, 0])


def said(tx: Transaction, *words: str) -> list[Message]:
    """Append messages; their documents are due."""
    return tell(tx, say(*words))


def told(tx: Transaction, *words: str) -> list[Record]:
    """Store memories; their documents are due."""
    records = [learned(word) for word in words]
    tx.memories.put(SPACE, records)
    return records


def due(tx: Transaction, shelf: IndexName = "memories", embedder: str = EMBEDDER, space: str = SPACE) -> Sequence[int]:
    """What is due, as many as there are."""
    return tx.vectors.due(space, shelf, embedder, 1_000)


def put(tx: Transaction, vectors: Mapping[int, Vector], shelf: IndexName = "memories", embedder: str = EMBEDDER) -> int:
    """Keep vectors."""
    return tx.vectors.put(SPACE, shelf, embedder, vectors)


def since(tx: Transaction, change: int = 0, shelf: IndexName = "memories", embedder: str = EMBEDDER) -> VectorChanges:
    """What changed."""
    return tx.vectors.since(SPACE, shelf, embedder, change)


class VectorChecks:
    """What every store's vectors do."""

    def nothing_is_due_where_there_is_nothing(self, store: Place) -> None:
        """A space without documents has no vectors, no changes, and nothing due."""
        expect(due(store), [], "what is due")
        expect(since(store), VectorChanges(change=0, added={}, removed=[], whole=False), "the changes")
        expect(store.vectors.embedders(SPACE), [], "the embedders")
        expect(store.vectors.drop(SPACE, EMBEDDER), 0, "the vectors that were dropped")
        expect(store.vectors.put(SPACE, "memories", EMBEDDER, {}), 0, "what was put")

    def a_document_is_due_until_it_has_a_vector(self, store: Place) -> None:
        """Messages and memories without a vector of an embedder are due in their index, newest first."""
        said(store, "the tide", "the moon")
        told(store, "a fact", "another", "a third")
        messages, memories = due(store, "messages"), due(store)
        expect([len(messages), len(memories)], [2, 3], "the documents that are due")
        for documents in (messages, memories):
            expect(list(documents), sorted(documents, reverse=True), "their order")
        found = store.search.messages(SPACE, messages)
        expect([each.message.draft.text for each in found], ["the moon", "the tide"], "the messages that are due")
        expect(store.vectors.due(SPACE, "memories", EMBEDDER, 2), list(memories[:2]), "the first two")
        expect(put(store, {memories[0]: ONE, memories[2]: TWO}), 2, "the vectors that are new")
        expect(due(store), [memories[1]], "what is left")
        expect(len(due(store, embedder="other:1")), 3, "what is due of another embedder")
        expect(len(due(store, "messages")), 2, "what is due on the other shelf")

    def each_change_is_reported_once(self, store: Place) -> None:
        """A reader that has seen changes up to one gets the later ones, each once."""
        told(store, "a fact", "another", "a third")
        a, b, c = sorted(due(store))
        put(store, {a: ONE, b: TWO})
        first = since(store)
        expect(
            (dict(first.added), list(first.removed), first.whole), ({a: ONE, b: TWO}, [], False), "the first changes"
        )
        again = since(store, first.change)
        expect((dict(again.added), again.change), ({}, first.change), "the changes after them")
        expect(put(store, {a: ONE, b: THREE, c: ONE}), 2, "what is new or other than before")
        more = since(store, first.change)
        expect(more.added, {b: THREE, c: ONE}, "the changes since")
        expect(more.change > first.change, True, "whether the number grew")
        expect(since(store).added, {a: ONE, b: THREE, c: ONE}, "all of it")
        ahead = since(store, more.change + 5)
        expect((dict(ahead.added), ahead.change), ({}, more.change + 5), "the changes after one that is not there yet")

    def what_is_likely_holds_the_nearest(self, store: Place) -> None:
        """A store's own vector search gives the nearest and no deleted ones; a store may leave it to the caller."""
        kept, removed = told(store, "a fact", "another")
        documents = {each.record.id: each.document for each in store.search.memories(SPACE, due(store))}
        put(store, {documents[kept.id]: ONE, documents[removed.id]: TWO})
        store.memories.remove(SPACE, [removed.id])
        for query in (ONE, TWO):
            likely = store.vectors.likely(SPACE, "memories", EMBEDDER, query, 2)
            expect(likely in (None, {documents[kept.id]: ONE}), True, "whether what is likely is what is there")
        expect(store.vectors.likely(SPACE, "memories", "other:1", ONE, 1), None, "what is likely of another embedder")

    def a_memory_that_is_removed_takes_its_vectors_along(self, store: Place) -> None:
        """Deleting a memory deletes its vectors of every embedder in the same transaction, and reports it."""
        kept, removed = told(store, "a fact", "another")
        documents = {}
        numbers = due(store)
        for each in store.search.memories(SPACE, numbers):
            documents[each.record.id] = each.document
        of_both = dict.fromkeys(documents.values(), ONE)
        put(store, of_both)
        put(store, of_both, embedder="other:1")
        before = since(store)
        store.memories.remove(SPACE, [removed.id])
        inside = store.vectors.since(SPACE, "memories", EMBEDDER, before.change)
        expect(inside.removed, [documents[removed.id]], "what the transaction itself sees")
        after = since(store, before.change)
        expect((dict(after.added), list(after.removed)), ({}, [documents[removed.id]]), "what changed")
        for embedder in (EMBEDDER, "other:1"):
            left = since(store, embedder=embedder)
            expect((list(left.added), list(left.removed)), ([documents[kept.id]], []), f"what is left of {embedder}")
        expect(put(store, of_both), 0, "what is put of a document that is gone")
        expect(list(since(store).added), [documents[kept.id]], "what is there then")

    def a_memory_that_says_something_else_is_due_again(self, store: Place) -> None:
        """A memory that is stored with another text loses its vector; one that only changes otherwise keeps it."""
        (record,) = told(store, "a fact")
        (document,) = due(store)
        put(store, {document: ONE})
        before = since(store)
        store.memories.put(SPACE, [replace(record, seen=3, state="superseded")])
        expect(due(store), [], "what is due after another change")
        store.memories.put(SPACE, [replace(record, text="a fake")])
        (again,) = due(store)
        expect(since(store, before.change).removed, [document], "what lost its vector")
        expect(put(store, {again: TWO}), 1, "what is put of the new text")
        after = since(store, before.change)
        lost = [each for each in after.removed if each != again]
        expect((dict(after.added), lost), ({again: TWO}, [] if again == document else [document]), "all that changed")

    def messages_that_are_pruned_take_their_vectors_along(self, store: Place) -> None:
        """The vectors of messages that no branch leads to go when these are pruned."""
        stays, goes = said(store, "the tide", "the moon")
        moon, tide = due(store, "messages")
        put(store, {tide: ONE, moon: TWO}, "messages")
        before = since(store, shelf="messages")
        store.log.move(KEY, "main", stays.id)
        store.upkeep.prune(KEY)
        after = since(store, before.change, "messages")
        expect((dict(after.added), list(after.removed)), ({}, [moon]), f"what changed when {goes.id} went")
        expect(since(store, shelf="messages").added, {tide: ONE}, "what is left")
        expect(put(store, {moon: TWO}, "messages"), 0, "what is put of a message that is gone")

    def vectors_keep_to_their_space(self, store: Place) -> None:
        """No space sees another's vectors, nor can it put one of another's document."""
        told(store, "a fact")
        said(store, "the tide")
        (memory,), (message,) = due(store), due(store, "messages")
        put(store, {memory: ONE})
        expect(due(store, space="elsewhere"), [], "what is due elsewhere")
        shelves: dict[IndexName, int] = {"memories": memory, "messages": message}
        for shelf, document in shelves.items():
            expect(store.vectors.put("elsewhere", shelf, EMBEDDER, {document: TWO}), 0, "what is put elsewhere")
            expect(store.vectors.since("elsewhere", shelf, EMBEDDER, 0).added, {}, "what is seen elsewhere")
        expect(store.vectors.embedders("elsewhere"), [], "the embedders elsewhere")
        expect(store.vectors.drop("elsewhere", EMBEDDER), 0, "what is dropped elsewhere")
        expect(since(store).added, {memory: ONE}, "what is there still")

    def an_embedder_is_dropped_with_all_its_vectors(self, store: Place) -> None:
        """Dropped vectors are due again, and readers are told to drop them; other embedders keep theirs."""
        told(store, "a fact")
        said(store, "the tide")
        (memory,), (message,) = due(store), due(store, "messages")
        put(store, {memory: ONE})
        put(store, {message: ONE}, "messages")
        put(store, {memory: TWO}, embedder="other:1")
        before = since(store)
        expect(store.vectors.embedders(SPACE), ["other:1", EMBEDDER], "the embedders")
        expect(store.vectors.drop(SPACE, EMBEDDER), 2, "the vectors that were dropped")
        expect(store.vectors.embedders(SPACE), ["other:1"], "the embedders that are left")
        expect((list(due(store)), list(due(store, "messages"))), ([memory], [message]), "what is due again")
        # It may come back, with vectors of another length even.
        put(store, {memory: THREE + bytes(5)})
        after = since(store, before.change)
        expect((after.whole, dict(after.added)), (True, {memory: THREE + bytes(5)}), "what is told")
        expect(since(store, embedder="other:1").added, {memory: TWO}, "what the other embedder has")

    def vectors_of_another_length_are_turned_away(self, store: Place) -> None:
        """All vectors of an embedder in a space are equally long; others raise BadInput, and nothing is kept."""
        told(store, "a fact", "another")
        a, b = due(store)
        with expect_error(BadInput, "two lengths at once"):
            put(store, {a: ONE, b: ONE[:2]})
        with expect_error(BadInput, "a vector without dimensions"):
            put(store, {a: b""})
        put(store, {a: ONE})
        with expect_error(BadInput, "another length than those before"):
            put(store, {b: ONE[:2]})
        expect(since(store).added, {a: ONE}, "what is there")

    async def vectors_that_were_not_committed_are_not_there(self, store: Store) -> None:
        """What a transaction put that was left with an error is due again, and its changes were never made."""

        def steps(tx: Transaction) -> None:
            put(tx, dict.fromkeys(due(tx), ONE))

        await store.write(told, "a fact")
        with suppress(BrokenOffError):
            await store.write(break_off, steps)
        expect(len(await store.read(due)), 1, "what is due")
        expect((await store.read(since)).change, 0, "the newest change")
