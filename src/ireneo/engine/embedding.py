"""Makes the vectors that are due: those of documents that have none yet of the embedder that is used now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from ireneo.errors import EmbedderError
from ireneo.memories.recall.searched import text_of_message
from ireneo.memories.recall.vector import Vector
from ireneo.ports.embedder import Embedder
from ireneo.ports.search import Shelf
from ireneo.ports.store import Store
from ireneo.ports.transition import SearchPort

SHELVES: tuple[Shelf, ...] = ("memories", "messages")
"""What was made of it first: it is little, and asked for most."""
TOGETHER = 256
"""Documents of one transaction: what a process that is stopped loses of its work at most."""


class Embedded(Struct, frozen=True, kw_only=True):
    """What was done about the vectors that are due."""

    documents: int
    """How many were given one."""
    left: bool
    """Whether there is more to do."""


async def embed_due(store: Store, space: str, embedder: Embedder, limit: int = 1_000) -> Embedded:
    """Give at most `limit` documents of a space their vectors by `embedder`, memories first, then the newest messages.

    What is due follows from what is stored, so it may be stopped anywhere and goes on where it was; several processes
    that do it at once do some of it twice, and no harm. The embedder is asked outside any transaction: a document that
    was erased or rewritten meanwhile gets no vector. Raises EmbedderError, with what came before it kept.
    """
    done = 0
    for shelf in SHELVES:
        while done < limit:
            wanted = min(TOGETHER, limit - done)
            async with store.read() as tx:
                due = await tx.vectors.due(space, shelf, embedder.name, wanted)
                texts = await _texts(tx.search, space, shelf, due)
            if not texts:
                break
            vectors = await vectors_of(embedder, list(texts.values()))
            kept = await _keep(store, space, shelf, embedder.name, texts, vectors)
            done += kept
            if not kept:
                # Another process was quicker with each of them, or they were all rewritten: a later round sees.
                break
    async with store.read() as tx:
        left = [await tx.vectors.due(space, shelf, embedder.name, 1) for shelf in SHELVES]
    return Embedded(documents=done, left=any(left))


async def vectors_of(embedder: Embedder, texts: Sequence[str], *, query: bool = False) -> Sequence[Vector]:
    """The vector of each text. Raises EmbedderError, also where there are too few of them or they are too short."""
    vectors = await embedder.embed(texts, query=query)
    if len(vectors) != len(texts):
        raise EmbedderError(f"{embedder.name} gave {len(vectors):,} vectors for {len(texts):,} texts.")
    size = embedder.dimensions or len(vectors[0])
    if odd := [each for each in vectors if len(each) != size]:
        raise EmbedderError(f"{embedder.name} gave a vector of {len(odd[0]):,} bytes, and {size:,} are wanted.")
    return vectors


async def _keep(
    store: Store, space: str, shelf: Shelf, name: str, texts: Mapping[int, str], vectors: Sequence[Vector]
) -> int:
    """Keep the vectors of those documents that still say what they said."""
    async with store.write() as tx:
        now = await _texts(tx.search, space, shelf, list(texts))
        still = {
            document: vector
            for (document, text), vector in zip(texts.items(), vectors, strict=True)
            if now.get(document) == text
        }
        return await tx.vectors.put(space, shelf, name, still)


async def _texts(port: SearchPort, space: str, shelf: Shelf, documents: Sequence[int]) -> Mapping[int, str]:
    """What each document says."""
    if shelf == "messages":
        return {each.document: text_of_message(each.message.draft) for each in await port.messages(space, documents)}
    return {each.document: each.record.text for each in await port.memories(space, documents)}
