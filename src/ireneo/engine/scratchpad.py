"""The scratchpads of a space: read, rewritten whole, and at the end of the task what is worth it made memories."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ireneo.engine.means import Means
from ireneo.engine.remember import Remembered, settle_offers
from ireneo.errors import BadInput
from ireneo.log.branch import SessionKey
from ireneo.memories.offer import Offer
from ireneo.memories.offered import Told, offered
from ireneo.memories.scratchpad import Item, Pad, checked_pad, checked_task, items
from ireneo.ports.store import Transaction


class Scratchpad:
    """The working state of one task, in every session and process that works on it; made by `Memory.scratchpad`."""

    def __init__(self, means: Means, space: str, task: str) -> None:
        """Name the task; nothing is read yet. Raises BadInput where that is no name."""
        self.task = means.cleaning().text(checked_task(task))
        self._means = means
        self._space = space

    async def read(self) -> Pad | None:
        """What is written on it now; None where nothing is."""
        async with self._means.store.read() as tx:
            return await tx.pads.read(self._space, self.task)

    async def write(
        self,
        *,
        goal: str = "",
        plan: Sequence[Item | str] = (),
        facts: Sequence[str] = (),
        questions: Sequence[str] = (),
    ) -> Pad:
        """Write it anew, as a whole: what is not given is no longer on it. A step of the plan may begin with ``[x]``.

        Raises BadInput over its cap of 300 tokens, with how much it is over and what is largest, and where nothing is
        given; what was on it then stays.
        """
        for name, given in (("plan", plan), ("facts", facts), ("questions", questions)):
            if isinstance(given, str):
                raise BadInput(f"`{name}` is one text; give a list of them, if only of one.")
        pad = Pad(
            task=self.task,
            goal=goal,
            plan=items(plan),
            facts=tuple(facts),
            questions=tuple(questions),
            written=self._means.clock.now(),
        )
        pad = checked_pad(self._means.cleaning().struct(pad), self._means.count)
        if pad.is_empty:
            raise BadInput("There is nothing to write on the scratchpad; give a goal, or let go of it with drop().")
        async with self._means.store.write() as tx:
            await tx.pads.write(self._space, pad)
        return pad

    async def finish(self, outcome: str = "") -> tuple[Remembered, ...]:
        """End the task: its facts become facts of memory, its `outcome` what happened; the rest is gone.

        All of it in one transaction, and once: where there is no scratchpad (any more) nothing is done, and nothing
        returned. The memories are the agent's word. Raises BadInput where one can't be remembered; then all stays.
        """
        now = self._means.clock.now()
        outcome = self._means.cleaning().text(outcome)
        async with self._means.store.write() as tx:
            pad = await tx.pads.read(self._space, self.task)
            if pad is None:
                return ()
            session = await _session_of(tx, self._space, self.task)
            done = await settle_offers(tx, self._space, promoted(pad, outcome, session, now))
            await tx.pads.remove(self._space, self.task)
        return tuple(done)

    async def drop(self) -> bool:
        """Let go of it, and remember nothing; False where there was none."""
        async with self._means.store.write() as tx:
            return await tx.pads.remove(self._space, self.task)


async def pads(means: Means, space: str) -> Sequence[Pad]:
    """Every scratchpad of the space, the one that was written last standing first."""
    async with means.store.read() as tx:
        return await tx.pads.list(space)


def promoted(pad: Pad, outcome: str, session: str, now: datetime) -> list[Offer]:
    """What is worth remembering of a scratchpad whose task ends so."""
    facts = Told(kind="semantic", origin="agent", session=session, at=pad.written)
    offers = [offered(fact, facts, now) for fact in pad.facts]
    if ended := " ".join(outcome.split()):
        text = ended if not pad.goal or pad.goal.casefold() in ended.casefold() else f"{pad.goal}: {ended}"
        offers.append(offered(text, Told(kind="episodic", origin="agent", session=session, at=now), now))
    return offers


async def _session_of(tx: Transaction, space: str, task: str) -> str:
    """The session that the task is called after, if there is one."""
    return task if await tx.sessions.get(SessionKey(space, task)) else ""
