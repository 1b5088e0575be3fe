"""What is due of a whole space, and not of one of its sessions: its chores, each a small generator of work."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from ireneo.engine.embedding import embed_due
from ireneo.engine.fading import archive
from ireneo.engine.leasing import Worker
from ireneo.engine.means import Means
from ireneo.engine.reflect import Reflected, is_due, reflect
from ireneo.engine.work.worked import Did, Worked
from ireneo.errors import EmbedderError
from ireneo.log.branch import SessionKey

REFLECT = "reflect"
"""The name of the work under which looking back is leased."""


class Place(Struct, frozen=True, kw_only=True):
    """Where the chores of a space are done."""

    means: Means
    space: str
    worker: Worker
    desk: SessionKey | None
    """The session on which the leases of the whole space stand: all workers must take the same one. None where there
    is no session: without leases a model may be asked twice, and nothing is stored twice."""


Chore: TypeAlias = Callable[[Place], AsyncIterator[Worked]]


async def reflecting(place: Place) -> AsyncIterator[Worked]:
    """Look back as long as that is due: a model is asked under a lease, since two that ask pay twice."""
    while True:
        async with place.means.store.read() as tx:
            if not await is_due(tx, place.space):
                return
        if place.desk is None:
            reflected = await reflect(place.means, place.space)
        else:
            async with place.worker.leased(place.desk, REFLECT) as lease:
                if lease is None:
                    return
                reflected = await reflect(place.means, place.space)
                async with place.means.store.write() as tx:
                    await place.worker.done(tx, lease)
        if not (reflected.episodes or reflected.reconsidered):
            return
        yield _worked(reflected)


async def embedding(place: Place) -> AsyncIterator[Worked]:
    """Give what is searched its vectors, where there is an embedder; take out those of one that was used before.

    Two workers that are at it do some of it twice, and no harm.
    """
    embedder = place.means.embedder
    if embedder is None:
        return
    while True:
        try:
            embedded = await embed_due(place.means.store, place.space, embedder)
        except EmbedderError as error:
            yield _told(did="failed", reason=str(error))
            return
        if embedded.documents:
            yield _told(did="embedded", memories=embedded.documents)
        if not (embedded.left and embedded.documents):
            break
    async with place.means.store.write() as tx:
        for name in await tx.vectors.embedders(place.space):
            if name != embedder.name:
                await tx.vectors.drop(place.space, name)


async def putting_away(place: Place) -> AsyncIterator[Worked]:
    """Keep the space under its cap: the least retained memories are archived."""
    gone = await archive(place.means, place.space, place.means.keep_memories)
    if gone:
        yield _told(did="archived", memories=len(gone))


CHORES: Sequence[Chore] = (reflecting, putting_away, embedding)
"""What a worker does for a space after each round of its sessions, in this order; each ends when nothing is due."""


def _worked(reflected: Reflected) -> Worked:
    return replace(
        _told(did="reflected", reason=reflected.failed),
        memories=len(reflected.conclusions) + len(reflected.reconsidered),
        episodes=reflected.episodes,
        tokens_in=reflected.tokens_in,
        tokens_out=reflected.tokens_out,
    )


def _told(*, did: Did, memories: int = 0, reason: str = "") -> Worked:
    """A piece of work that is of no session."""
    return Worked(
        session="",
        branch="",
        did=did,
        first_position=0,
        last_position=0,
        summaries=0,
        memories=memories,
        reason=reason,
    )
