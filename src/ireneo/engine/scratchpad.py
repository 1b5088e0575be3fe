"""The scratchpads of a space: read, rewritten whole, and at the end of the task what is worth it made memories."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ireneo.engine.remember import Remembered, settle_drafts
from ireneo.engine.resources import Resources
from ireneo.engine.scope import is_open, open_projects, place_all
from ireneo.errors import BadInput
from ireneo.log.tree import SessionKey
from ireneo.memories.intake import MemoryDetails, memory_draft
from ireneo.memories.record import MemoryDraft
from ireneo.memories.scratchpad import Pad, PlanStep, checked_pad, checked_task, items
from ireneo.ports.store import Transaction


class Scratchpad:
    """The working state of one task, in every session and process that works on it; made by `Memory.scratchpad`."""

    def __init__(self, resources: Resources, space: str, task: str, project: str | None = None) -> None:
        """Name the task; nothing is read yet. Raises BadInput where that is no name.

        With `project` (empty: none) every call raises BadInput where it is another one's scratchpad.
        """
        self.task = resources.cleaning().text(checked_task(task))
        self._project = project
        self._means = resources
        self._space = space

    async def read(self) -> Pad | None:
        """What is written on it now; None where nothing is."""
        await self._place()
        return await self._means.store.read(self._read)

    async def write(
        self,
        *,
        goal: str = "",
        plan: Sequence[PlanStep | str] = (),
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
            project=self._project or "",
        )
        pad = checked_pad(self._means.cleaning().struct(pad), self._means.count)
        if pad.is_empty:
            raise BadInput("There is nothing to write on the scratchpad; give a goal, or let go of it with drop().")
        await self._place()

        def write_pad(tx: Transaction) -> None:
            self._read(tx)
            tx.pads.write(self._space, pad)

        await self._means.store.write(write_pad)
        return pad

    async def finish(self, outcome: str = "") -> tuple[Remembered, ...]:
        """End the task: its facts become facts of memory, its `outcome` what happened; the rest is gone.

        All of it in one transaction, and once: where there is no scratchpad (any more) nothing is done, and nothing
        returned. The memories are the agent's word. Raises BadInput where one can't be remembered; then all stays.
        """
        now = self._means.clock.now()
        await self._place()
        outcome = self._means.cleaning().text(outcome)

        def write_pad(tx: Transaction) -> list[Remembered] | None:
            pad = self._read(tx)
            if pad is None:
                return None
            # The session that the task is called after, if there is one.
            session = self.task if tx.sessions.get(SessionKey(self._space, self.task)) else ""
            drafts = promoted(pad, outcome, session, self._project or pad.project, now)
            done = settle_drafts(tx, self._space, drafts)
            tx.pads.remove(self._space, self.task)
            return done

        done = await self._means.store.write(write_pad)
        return tuple(done or ())

    async def drop(self) -> bool:
        """Let go of it, and remember nothing; False where there was none."""
        await self._place()

        def write_pad(tx: Transaction) -> bool:
            self._read(tx)
            return tx.pads.remove(self._space, self.task)

        return await self._means.store.write(write_pad)

    async def _place(self) -> None:
        """See to it that it is known of which projects the sessions are, where that is asked for."""
        if self._project is not None:
            await place_all(self._means.store, self._space)

    def _read(self, tx: Transaction) -> Pad | None:
        pad = tx.pads.read(self._space, self.task)
        check_pad(tx, self._space, self.task, pad, self._project)
        return pad


def check_pad(tx: Transaction, space: str, task: str, pad: Pad | None, project: str | None) -> None:
    """Raise BadInput where a scratchpad, or the session that shows it, is not of `project`; None: whoever's it is."""
    if project is None:
        return
    here = f"project {project!r}" if project else "no project that is known"
    opened = open_projects(tx, space, project)
    if pad is not None and not is_open(opened, {pad.project}):
        theirs = f"project {pad.project!r}" if pad.project else "no project"
        raise BadInput(f"The scratchpad of {task} was written in {theirs}, and you work on {here}; name another task.")
    info = tx.sessions.get(SessionKey(space, task))
    if info is not None and not is_open(opened, {info.project or ""}):
        theirs = f"project {info.project!r}" if info.project else "no project that is known"
        raise BadInput(
            f"{task} is a session of {theirs}, and you work on {here}: only its own agent writes its scratchpad; "
            "name another task."
        )


def promoted(pad: Pad, outcome: str, session: str, project: str, now: datetime) -> list[MemoryDraft]:
    """What is worth remembering of a scratchpad whose task ends so."""
    facts = MemoryDetails(kind="semantic", origin="agent", session=session, project=project, at=pad.written)
    drafts = [memory_draft(fact, facts, now) for fact in pad.facts]
    if ended := " ".join(outcome.split()):
        text = ended if not pad.goal or pad.goal.casefold() in ended.casefold() else f"{pad.goal}: {ended}"
        happened = MemoryDetails(kind="episodic", origin="agent", session=session, project=project, at=now)
        drafts.append(memory_draft(text, happened, now))
    return drafts
