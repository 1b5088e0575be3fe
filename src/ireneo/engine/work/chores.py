"""What is due of a whole space, and not of one of its sessions: its chores, each a small generator of work."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from typing import TypeAlias

from msgspec import Struct

from ireneo.engine.leasing import Worker
from ireneo.engine.means import Means
from ireneo.engine.reflect import Reflected, is_due, reflect
from ireneo.engine.work.worked import Worked
from ireneo.log.branch import SessionKey

REFLECT = "reflect"
"""The name of the work under which looking back is leased."""


class Place(Struct, frozen=True, kw_only=True):
    """Where the chores of a space are done."""

    means: Means
    space: str
    worker: Worker
    desk: SessionKey
    """The session on which the leases of the whole space stand: all workers must take the same one."""


Chore: TypeAlias = Callable[[Place], AsyncIterator[Worked]]


async def reflecting(place: Place) -> AsyncIterator[Worked]:
    """Look back as long as that is due: a model is asked under a lease, since two that ask pay twice."""
    while True:
        async with place.means.store.read() as tx:
            if not await is_due(tx, place.space):
                return
        async with place.worker.leased(place.desk, REFLECT) as lease:
            if lease is None:
                return
            reflected = await reflect(place.means, place.space)
            async with place.means.store.write() as tx:
                await place.worker.done(tx, lease)
        if not (reflected.episodes or reflected.reconsidered):
            return
        yield _worked(reflected)


CHORES: Sequence[Chore] = (reflecting,)
"""What a worker does for a space after each round of its sessions, in this order; each ends when nothing is due."""


def _worked(reflected: Reflected) -> Worked:
    return Worked(
        session="",
        branch="",
        did="reflected",
        first_position=0,
        last_position=0,
        summaries=0,
        memories=len(reflected.conclusions) + len(reflected.reconsidered),
        episodes=reflected.episodes,
        reason=reflected.failed,
        tokens_in=reflected.tokens_in,
        tokens_out=reflected.tokens_out,
    )
