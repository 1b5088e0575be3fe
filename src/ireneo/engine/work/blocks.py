"""What is due of an agent's work: its blocks, and the texts of those that its contexts show."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from functools import partial

from msgspec.structs import replace

from ireneo.context.summary import Summary
from ireneo.context.terms import Terms
from ireneo.engine.ahead import due_ahead, write_ahead
from ireneo.engine.summarise import ask_one, due_summaries
from ireneo.engine.texts import text_id
from ireneo.engine.work.desk import Desk
from ireneo.engine.work.worked import Worked
from ireneo.engine.writing.asked import Written
from ireneo.ports.llm import LanguageModel


class BlockWork:
    """The work on one branch of a session, for contexts on certain terms."""

    def __init__(self, desk: Desk, terms: Terms) -> None:
        """Name the place; nothing is read yet."""
        self._desk = desk
        self._terms = terms

    async def catch_up(self) -> AsyncGenerator[Worked, None]:
        """Write the blocks that need no model, where there are more than a context writes in passing."""
        desk, policy = self._desk, self._terms.policy
        if await due_ahead(desk.store, desk.key, desk.branch, policy) is None:
            return
        async with desk.worker.leased(desk.key, f"write ahead {desk.branch} {policy.family}") as lease:
            if lease is None:
                desk.waits = True
                return
            # Another may have been at it until now.
            due = await due_ahead(desk.store, desk.key, desk.branch, policy)
            if due is None:
                return
            first = due.ahead.position
            async for ahead in write_ahead(desk.store, desk.key, policy, due):
                yield Worked(
                    session=desk.key.session,
                    branch=desk.branch,
                    did="caught_up",
                    first_position=first,
                    last_position=ahead.position - 1,
                    level="turn",
                    summaries=len(ahead.made),
                    behind=due.head.position + 1 - ahead.position,
                )
                first = ahead.position

    async def visit(self, texts: int) -> AsyncIterator[Worked]:
        """The blocks, and at most so many texts; one that fails ends it."""
        async for ahead in self.catch_up():
            yield ahead
        desk, voice = self._desk, self._desk.means.voice
        models = desk.models()
        if not texts or (models.for_task("turn") is None and models.for_task("goal") is None):
            return
        async with desk.store.read() as tx:
            desk.erased = await tx.erasure.count(desk.key)
        due = await due_summaries(desk.store, desk.key, desk.branch, self._terms, voice)
        async with desk.store.read() as tx:
            head = await tx.log.head(desk.key, desk.branch)
            notes = tuple(await tx.annotations.on_path(desk.key, head.id)) if head else ()
        disputes = replace(self._terms, notes=notes).disputes
        for place, summary in enumerate(due):
            model = models.for_task(summary.level)
            if model is None:
                continue
            name = text_id(summary, [note.id for note in disputes.get(summary.stretch, ())], voice)
            worked = await desk.write(summary, name, partial(self._ask, model))
            if worked is None:
                continue
            yield replace(worked, due=len(due) - place - 1)
            texts -= 1
            if worked.did == "failed" or not texts:
                return

    async def _ask(self, model: LanguageModel, summary: Summary) -> Written:
        desk = self._desk
        return await ask_one(desk.store, desk.key, summary, self._terms, desk.means.voice, model)
