"""What an erasure takes out, written down before any of it is done."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from ireneo.context.summary import SummaryId
from ireneo.engine.forgetting.taught import Taught, unlearn
from ireneo.log.annotation import AnnotationId
from ireneo.log.branch import SessionKey
from ireneo.log.erased import erase
from ireneo.log.message import Message
from ireneo.memories.record import Record
from ireneo.ports.leases import Lease
from ireneo.ports.store import Rebuild
from ireneo.ports.transition import Transaction


class OfSession(Struct, frozen=True, kw_only=True):
    """What goes of one session."""

    key: SessionKey
    whole: bool = False
    """The session itself goes, with all that hangs on it."""
    messages: tuple[Message, ...] = ()
    """As they are now."""
    summaries: tuple[SummaryId, ...] = ()
    remade: tuple[SummaryId, ...] = ()
    """Those that the structure gave of what comes after: they tell nothing of it, and are made again, since summaries
    are made from the first to the last without a gap. What models wrote of the same stretches is found again."""
    annotations: tuple[AnnotationId, ...] = ()
    marks: tuple[Rebuild, ...] = ()
    leases: tuple[Lease, ...] = ()


class Plan(Struct, frozen=True, kw_only=True):
    """What goes of a space."""

    sessions: tuple[OfSession, ...] = ()
    memories: tuple[Record, ...] = ()
    """Those that go."""
    lessened: tuple[Record, ...] = ()
    """Those that stay with what other evidence they have, as they are to be stored before they are settled."""
    pads: tuple[str, ...] = ()
    """The scratchpads that go, by task."""
    taught: Taught = Taught()
    """What becomes of what runs taught."""
    everything: bool = False
    """The space goes whole."""
    notes: tuple[str, ...] = ()
    """What is to be told besides, a sentence each."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to do."""
        kept = self.sessions or self.memories or self.lessened or self.pads
        return not (kept or self.everything) and self.taught.is_empty


async def carry_out(tx: Transaction, space: str, plan: Plan) -> None:
    """Take out all that is planned, but for settling anew the memories that lost a source."""
    await tx.erasure.begin()
    for each in plan.sessions:
        if each.whole:
            await tx.erasure.session(each.key)
        else:
            await _of_session(tx, each)
    await tx.memories.remove(space, [record.id for record in plan.memories])
    await tx.memories.put(space, plan.lessened)
    for task in plan.pads:
        await tx.pads.remove(space, task)
    await unlearn(tx, space, plan.taught)
    if plan.everything:
        await tx.erasure.space(space)


async def _of_session(tx: Transaction, what: OfSession) -> None:
    await tx.erasure.messages(what.key, erased(what.messages))
    await tx.upkeep.discard(what.key, [*what.summaries, *what.remade])
    await tx.erasure.notes(what.key, what.annotations, what.marks)
    for lease in what.leases:
        await tx.leases.forget(what.key, lease.work)


def erased(messages: Sequence[Message]) -> list[Message]:
    """What is left of messages."""
    return [erase(message) for message in messages]
