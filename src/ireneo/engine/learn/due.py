"""Which sessions are to be learned from: it follows from where they stand, and up to where they were learned from."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from msgspec import Struct

from ireneo.engine.means import Means
from ireneo.errors import BadInput, SessionNotFound
from ireneo.lessons.run import LEARNER, LearnedRun
from ireneo.log.branch import MAIN, Head
from ireneo.ports.store import SessionInfo
from ireneo.ports.transition import Transaction

_NEVER = datetime.max.replace(tzinfo=UTC)


class Due(Struct, frozen=True, kw_only=True):
    """A session that is to be learned from, up to where it stands."""

    info: SessionInfo
    head: Head
    erased: int
    """How many of its messages were erased by then: where it has grown, what was read of it is not to be kept."""


async def due_runs(means: Means, space: str, sessions: Iterable[str] | None = None) -> list[Due]:
    """The sessions that were not learned from as far as they stand now, the one that began first standing first.

    Raises SessionNotFound where one that is named is not there.
    """
    if isinstance(sessions, str):
        raise BadInput(f"`sessions` is one text; give a list of them: [{sessions!r}].")
    chosen = None if sessions is None else set(sessions)
    out: list[Due] = []
    async with means.store.read() as tx:
        infos = [info for info in await tx.sessions.list(space) if chosen is None or info.key.session in chosen]
        if unknown := sorted((chosen or set()) - {info.key.session for info in infos}):
            raise SessionNotFound(f"There is no session {unknown[0]!r} in space {space!r}; see `ireneo sessions`.")
        known = {run.session: run for run in await tx.runs.get(space, [info.key.session for info in infos])}
        for info in infos:
            head = await tx.log.head(info.key, MAIN)
            if head is not None and not _is_learned(known.get(info.key.session), head):
                out.append(Due(info=info, head=head, erased=await tx.erasure.count(info.key)))
    # By the log's own times, so that the order in which they were taken in makes no difference.
    return sorted(out, key=lambda due: (due.info.first_at or _NEVER, due.info.key.session))


async def still_due(tx: Transaction, due: Due) -> bool:
    """Whether nobody has learned from it meanwhile, nothing of it was erased, and it stands where it stood."""
    key = due.info.key
    known = await tx.runs.get(key.space, [key.session])
    now = await tx.log.head(key, MAIN)
    if now is None or now.id != due.head.id or await tx.erasure.count(key) != due.erased:
        return False
    return not (known and _is_learned(known[0], due.head))


def _is_learned(run: LearnedRun | None, head: Head) -> bool:
    return run is not None and run.learner == LEARNER and run.head == head.id
