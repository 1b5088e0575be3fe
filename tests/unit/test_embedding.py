"""Vectors are made of what is due, and searched with what other processes wrote and erased since."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from ireneo.adapters.in_memory import InMemoryStore
from ireneo.adapters.sqlite.opening import open_sqlite
from ireneo.engine import searching as embedding
from ireneo.engine.searching import EmbedReport, VectorCache, embed_missing
from ireneo.errors import EmbedderError, MissingExtra
from ireneo.memories.index import Vector, quantised
from ireneo.memories.record import Record
from ireneo.ports.store import Store, Transaction
from ireneo.testing.conformance.check import SPACE, learned, say, tell

NAME = "letters:26"


class Letters:
    """An embedder that counts letters; `before` is called with the texts ahead of each answer."""

    name = NAME
    dimensions = 26

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.before: Callable[[], object] | None = None
        self.fails = False

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> Sequence[Vector]:
        self.asked += texts
        if self.before is not None:
            await asyncio.ensure_future(self.before())  # type: ignore[arg-type]
        if self.fails:
            raise EmbedderError("out of order")
        return [quantised([float(text.lower().count(chr(97 + at))) for at in range(26)]) for text in texts]


@asynccontextmanager
async def two_stores(place: Path) -> AsyncIterator[tuple[Store, Store]]:
    """Two stores over one file, as two processes have them."""
    one, other = await open_sqlite(place / "store.db"), await open_sqlite(place / "store.db")
    try:
        yield one, other
    finally:
        await one.close()
        await other.close()


def put_memories(tx: Transaction, space: str, records: Sequence[Record]) -> None:
    tx.memories.put(space, records)


async def know(store: Store, *texts: str) -> list[Record]:
    records = [learned(text) for text in texts]
    await store.write(put_memories, SPACE, records)
    return records


def nearest(tx: Transaction, held: VectorCache, query: bytes, k: int, space: str = SPACE) -> list[int]:
    """The documents that are nearest."""
    return [document for document, _ in held.nearest(tx.vectors, space, "memories", NAME, query, k)]


async def found(store: Store, held: VectorCache, text: str, k: int = 3) -> list[str]:
    """The texts of the memories that are nearest."""
    (query,) = await Letters().embed([text])

    def look(tx: Transaction) -> list[str]:
        return [each.record.text for each in tx.search.memories(SPACE, nearest(tx, held, query, k))]

    return await store.read(look)


async def test_what_is_due_is_made_in_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "TOGETHER", 2)
    store, letters = InMemoryStore(), Letters()
    assert await embed_missing(store, SPACE, letters) == EmbedReport(documents=0, left=False)
    await know(store, "aa", "bb", "cc")
    await store.write(tell, say("the tide", "the moon"))
    assert await embed_missing(store, SPACE, letters, limit=4) == EmbedReport(documents=4, left=True)
    assert letters.asked == ["cc", "bb", "aa", "the moon"]
    assert await embed_missing(store, SPACE, letters) == EmbedReport(documents=1, left=False)
    assert await embed_missing(store, SPACE, letters) == EmbedReport(documents=0, left=False)
    assert len(letters.asked) == 5
    # Another embedder begins anew, and what the first one made stays.
    letters.name = "letters:26b"
    assert await embed_missing(store, SPACE, letters) == EmbedReport(documents=5, left=False)
    assert list(await store.read(lambda tx: tx.vectors.embedders(SPACE))) == [NAME, "letters:26b"]


async def test_an_embedder_that_fails_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "TOGETHER", 1)
    store, letters = InMemoryStore(), Letters()
    await know(store, "aa", "bb")
    assert await embed_missing(store, SPACE, letters, limit=1) == EmbedReport(documents=1, left=True)
    letters.fails = True
    with pytest.raises(EmbedderError, match="out of order"):
        await embed_missing(store, SPACE, letters)
    changes = await store.read(lambda tx: tx.vectors.since(SPACE, "memories", NAME, 0))
    assert len(changes.added) == 1
    letters.fails = False
    assert await embed_missing(store, SPACE, letters) == EmbedReport(documents=1, left=False)


async def test_an_answer_with_too_few_vectors_is_turned_away() -> None:
    class Forgetful(Letters):
        async def embed(self, texts: Sequence[str], *, query: bool = False) -> Sequence[Vector]:
            return (await super().embed(texts))[1:]

    store = InMemoryStore()
    await know(store, "aa", "bb")
    with pytest.raises(EmbedderError, match="gave 1 vectors for 2 texts"):
        await embed_missing(store, SPACE, Forgetful())


async def test_what_is_erased_or_rewritten_while_it_is_embedded_gets_no_vector(tmp_path: Path) -> None:
    async with two_stores(tmp_path) as (store, other):
        stays, goes, turns = await know(store, "aa", "bb", "cc")
        letters = Letters()

        async def meanwhile() -> None:
            # The store is free while the embedder is asked.
            letters.before = None

            def change(tx: Transaction) -> None:
                tx.memories.remove(SPACE, [goes.id])
                tx.memories.put(SPACE, [replace(turns, text="dd")])

            await other.write(change)

        letters.before = meanwhile
        assert await embed_missing(store, SPACE, letters) == EmbedReport(documents=2, left=False)
        # The text that was rewritten was embedded again, as it reads now.
        assert letters.asked == ["cc", "bb", "aa", "dd"]
        held = VectorCache()
        assert await found(store, held, "a") == [stays.text, "dd"]
        assert (await found(store, held, "d"))[0] == "dd"


async def test_two_that_embed_at_once_do_no_harm(tmp_path: Path) -> None:
    async with two_stores(tmp_path) as (store, other):
        await know(store, *("a" * each + "b" for each in range(1, 40)))
        done = await asyncio.gather(
            embed_missing(store, SPACE, Letters()),
            embed_missing(other, SPACE, Letters()),
            embed_missing(store, SPACE, Letters()),
        )
        assert not any(each.left for each in done)
        assert sum(each.documents for each in done) == 39


async def test_what_another_process_wrote_and_erased_is_noticed(tmp_path: Path) -> None:
    async with two_stores(tmp_path) as (store, other):
        held = VectorCache()
        assert await found(store, held, "z") == []
        _, bb = await know(other, "aa", "bb")
        await embed_missing(other, SPACE, Letters())
        assert await found(store, held, "b") == ["bb", "aa"]
        await know(other, "bbc")
        assert await found(store, held, "b") == ["bb", "aa"]
        await embed_missing(other, SPACE, Letters())
        assert await found(store, held, "b") == ["bb", "bbc", "aa"]
        await other.write(lambda tx: tx.memories.remove(SPACE, [bb.id]))
        assert await found(store, held, "b") == ["bbc", "aa"]
        await other.write(lambda tx: tx.vectors.drop(SPACE, NAME))
        assert await found(store, held, "b") == []


async def test_many_searches_at_once() -> None:
    store, held = InMemoryStore(), VectorCache()
    await know(store, "aa", "bb", "cc")
    await embed_missing(store, SPACE, Letters())
    assert await asyncio.gather(*(found(store, held, each, 1) for each in "abcabc")) == [
        [each * 2] for each in "abcabc"
    ]


async def test_one_that_is_cancelled_leaves_nothing_half_read() -> None:
    store, held = InMemoryStore(), VectorCache()
    aa, _ = await know(store, "aa", "bb")
    await embed_missing(store, SPACE, Letters())
    for ticks in range(6):
        search = asyncio.create_task(found(store, held, "a", 1))
        for _ in range(ticks):
            await asyncio.sleep(0)
        search.cancel()
        await asyncio.gather(search, return_exceptions=True)
    assert await found(store, held, "a", 2) == ["aa", "bb"]
    await store.write(lambda tx: tx.memories.remove(SPACE, [aa.id]))
    assert await found(store, held, "a", 2) == ["bb"]


async def test_the_spaces_that_were_not_used_for_the_longest_are_let_go() -> None:
    store, letters = InMemoryStore(), Letters()
    spaces = ("one", "two", "three")
    for space in spaces:
        records = [learned("a" * each + "b") for each in range(1, 30)]
        await store.write(put_memories, space, records)
        await embed_missing(store, space, letters)
    (query,) = await letters.embed(["a"])
    one = VectorCache()
    await store.read(nearest, one, query, 1, "one")
    held = VectorCache(most_bytes=one.size_bytes * 2)
    for space in (*spaces, *spaces):
        assert len(await store.read(nearest, held, query, 5, space)) == 5
        assert 0 < held.size_bytes <= one.size_bytes * 2
    # One that is too large by itself is searched all the same.
    tiny = VectorCache(most_bytes=1)
    assert len(await store.read(nearest, tiny, query, 5, "one")) == 5


async def test_what_can_t_be_compared_is_said() -> None:
    store, held = InMemoryStore(), VectorCache()
    await know(store, "aa")
    await embed_missing(store, SPACE, Letters())
    with pytest.raises(EmbedderError, match=r"the question has 3 dimensions, and the vectors have 26\."):
        await store.read(nearest, held, bytes(3), 1)


async def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ireneo.memories.nearest", None)
    with pytest.raises(MissingExtra, match=r"pip install 'ireneo\[vectors\]'"):
        await InMemoryStore().read(nearest, VectorCache(), bytes(26), 1)
