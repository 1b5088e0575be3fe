"""The files that were learned from, told by their content: none is read twice by the same rules."""

from __future__ import annotations

from collections.abc import Sequence

from ireneo.engine.means import Means
from ireneo.lessons.run import LEARNER
from ireneo.ports.runs import LearnedFile


async def known_files(means: Means, space: str, digests: Sequence[str]) -> frozenset[str]:
    """Those of `digests` whose files were learned from already."""
    async with means.store.read() as tx:
        return await tx.ledger.known(space, LEARNER, digests)


async def mark_file(means: Means, space: str, digest: str, name: str, sessions: Sequence[str]) -> None:
    """Note that a file was learned from whole; a secret in its name is left out."""
    now = means.clock.now()
    clean = means.drawing().text(name)
    file = LearnedFile(digest=digest, learner=LEARNER, name=clean, at=now, sessions=tuple(sessions))
    async with means.store.write() as tx:
        await tx.ledger.mark(space, file)
