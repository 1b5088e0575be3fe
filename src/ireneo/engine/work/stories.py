"""What is due of a story: the summaries that need no model, and the texts that a model writes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial

from msgspec.structs import replace

from ireneo.context.policy import Policy
from ireneo.context.summary import Summary
from ireneo.context.terms import Terms
from ireneo.engine.keep import keep
from ireneo.engine.story.due import DueTexts, due_texts
from ireneo.engine.story.path import Grown, StoryPath
from ireneo.engine.story.reading import StoredReading
from ireneo.engine.story.tell import voice_of, write_text
from ireneo.engine.texts import text_id
from ireneo.engine.work.desk import Desk
from ireneo.engine.work.worked import Worked
from ireneo.engine.writing.asked import Written
from ireneo.ports.llm import LanguageModel

CHUNK = 32
"""Leaves that are written without a model in one transaction: so much is done again after a crash, at the most."""
CHUNK_LEASE_SECONDS = 10.0
"""No model is waited for: who comes after a worker that died need not wait for long either."""


class StoryWork:
    """The work on one branch of a story, cut by one policy."""

    def __init__(self, desk: Desk, policy: Policy) -> None:
        """Name the place; nothing is read yet."""
        self._desk = desk
        self._store = desk.store
        self._key = desk.key
        self._policy = policy
        self._voice = voice_of(policy, desk.means.story_voice)

    async def visit(self, texts: int) -> AsyncIterator[Worked]:
        """Everything that needs no model, and at most so many texts; a text that fails ends it."""
        async for worked in self.catch_up():
            yield worked
        model = self._desk.models().for_task("story")
        while model and texts and (told := await self._text(model)):
            texts -= 1
            yield told
            if told.did == "failed":
                return

    async def due(self) -> int:
        """How many texts a model has still to write, once everything else is done."""
        async for _ in self.catch_up():
            pass
        found = await self._due()
        return found[0].missing if found else 0

    async def catch_up(self) -> AsyncIterator[Worked]:
        """Make the summaries that need no model, some at a time."""
        while (ahead := await self._grown(1)) and ahead.made:
            # Called after what is due first, and not after the branch: branches share what they have in common.
            name = f"catch up {ahead.made[0].id}"
            async with self._desk.worker.leased(self._key, name, CHUNK_LEASE_SECONDS) as lease:
                if lease is None:
                    self._desk.waits = True
                    return
                grown = await self._grown(CHUNK)
                async with self._store.write() as tx:
                    await keep(tx, self._key, grown.made if grown else (), self._desk.erased)
                    await self._desk.worker.done(tx, lease)
            if grown is None or not grown.made:
                return
            yield Worked(
                session=self._key.session,
                branch=self._desk.branch,
                did="caught_up",
                first_position=grown.made[0].first_position,
                last_position=grown.made[-1].last_position,
                summaries=len(grown.made),
                behind=grown.behind,
            )
            if not grown.behind:
                return

    async def _grown(self, most: int) -> Grown | None:
        async with self._store.read() as tx:
            head = await tx.log.head(self._key, self._desk.branch)
            if head is None:
                return None
            self._desk.erased = await tx.erasure.count(self._key)
            return await StoryPath(StoredReading(tx, self._key, head, self._policy), self._policy).grow(most)

    async def _due(self) -> tuple[DueTexts, Terms] | None:
        terms = Terms(budget=0, policy=self._policy, count=self._desk.means.count)
        async with self._store.read() as tx:
            head = await tx.log.head(self._key, self._desk.branch)
            if head is None:
                return None
            self._desk.erased = await tx.erasure.count(self._key)
            terms = replace(terms, notes=tuple(await tx.annotations.on_path(self._key, head.id)))
            leases = await tx.leases.of_session(self._key)
            now = self._desk.means.clock.now()
            return await due_texts(tx, self._key, head, terms, self._voice, leases, now), terms

    async def _text(self, model: LanguageModel) -> Worked | None:
        """Let the model write the next text that nobody else is at; None where there is none."""
        found = await self._due()
        if found is None:
            return None
        due, terms = found
        for summary in due.ready:
            name = text_id(summary, [note.id for note in terms.disputes.get(summary.stretch, ())], self._voice)
            worked = await self._desk.write(summary, name, partial(self._ask, terms, model))
            if worked is not None:
                return replace(worked, due=due.missing - (worked.did != "failed"))
        return None

    async def _ask(self, terms: Terms, model: LanguageModel, summary: Summary) -> Written:
        return await write_text(self._store, self._key, summary, terms, self._voice, model)
