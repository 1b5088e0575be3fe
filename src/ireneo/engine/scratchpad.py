"""The scratchpads of a space: read, rewritten as a whole, and turned into memories at the end of a task."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ireneo.engine.arguments import validate_methods
from ireneo.engine.remember import Remembered, settle_drafts
from ireneo.engine.resources import Resources
from ireneo.engine.scope import check_pad, set_projects
from ireneo.errors import BadInput
from ireneo.log.tree import SessionKey
from ireneo.memories.intake import MemoryDetails, memory_draft
from ireneo.memories.record import MemoryDraft
from ireneo.memories.scratchpad import Pad, PlanStep, check_task, to_plan_steps, validate_pad
from ireneo.ports.store import Transaction


@validate_methods
class Scratchpad:
    """The working state of one task, shared by all sessions and processes that work on it; see `Memory.scratchpad`."""

    def __init__(self, resources: Resources, space: str, task: str, project: str | None = None) -> None:
        """Raise BadInput for an invalid task name; nothing is read yet.

        With `project` (empty: none) every call raises BadInput if the scratchpad belongs to another one.
        """
        self.task = resources.cleaning().text(check_task(task))
        self._project = project
        self._resources = resources
        self._space = space

    async def read(self) -> Pad | None:
        """Return its content, or None."""
        await set_projects(self._resources.store, self._space, self._project)
        return await self._resources.store.read(self._read)

    async def write(
        self,
        *,
        goal: str = "",
        plan: Sequence[PlanStep | str] = (),
        facts: Sequence[str] = (),
        questions: Sequence[str] = (),
    ) -> Pad:
        """Replace its whole content: what is not given is dropped. A step of the plan may begin with ``[x]``.

        Raises BadInput, and keeps the old content, if it exceeds its limit of 300 tokens (saying by how much, and what
        is largest) or if nothing is given.
        """
        pad = Pad(
            task=self.task,
            goal=goal,
            plan=to_plan_steps(plan),
            facts=tuple(facts),
            questions=tuple(questions),
            written=self._resources.clock.now(),
            project=self._project or "",
        )
        pad = validate_pad(self._resources.cleaning().struct(pad), self._resources.count)
        if pad.is_empty:
            raise BadInput("There is nothing to write on the scratchpad; give a goal, or let go of it with drop().")
        await set_projects(self._resources.store, self._space, self._project)

        def write_pad(tx: Transaction) -> None:
            self._read(tx)
            tx.pads.write(self._space, pad)

        await self._resources.store.write(write_pad)
        return pad

    async def finish(self, outcome: str = "") -> tuple[Remembered, ...]:
        """End the task: its facts become semantic memories, its `outcome` an episode, and the rest is deleted.

        This happens in one transaction, and once: without a scratchpad nothing is done. The memories have the agent as
        their source. Raises BadInput, and keeps everything, if one can't be remembered.
        """
        now = self._resources.clock.now()
        await set_projects(self._resources.store, self._space, self._project)
        outcome = self._resources.cleaning().text(outcome)

        def write_pad(tx: Transaction) -> list[Remembered] | None:
            pad = self._read(tx)
            if pad is None:
                return None
            session = self.task if tx.sessions.get(SessionKey(self._space, self.task)) else ""
            drafts = promoted_drafts(pad, outcome, session, self._project or pad.project, now)
            done = settle_drafts(tx, self._space, drafts)
            tx.pads.remove(self._space, self.task)
            return done

        done = await self._resources.store.write(write_pad)
        return tuple(done or ())

    async def drop(self) -> bool:
        """Delete it without remembering anything; False if there was none."""
        await set_projects(self._resources.store, self._space, self._project)

        def write_pad(tx: Transaction) -> bool:
            self._read(tx)
            return tx.pads.remove(self._space, self.task)

        return await self._resources.store.write(write_pad)

    def _read(self, tx: Transaction) -> Pad | None:
        pad = tx.pads.read(self._space, self.task)
        check_pad(tx, self._space, self.task, pad, self._project)
        return pad


def promoted_drafts(pad: Pad, outcome: str, session: str, project: str, now: datetime) -> list[MemoryDraft]:
    """The drafts of memories from a scratchpad whose task ends."""
    facts = MemoryDetails(kind="semantic", origin="agent", session=session, project=project, at=pad.written)
    drafts = [memory_draft(fact, facts, now) for fact in pad.facts]
    if ended := " ".join(outcome.split()):
        text = ended if not pad.goal or pad.goal.casefold() in ended.casefold() else f"{pad.goal}: {ended}"
        happened = MemoryDetails(kind="episodic", origin="agent", session=session, project=project, at=now)
        drafts.append(memory_draft(text, happened, now))
    return drafts
