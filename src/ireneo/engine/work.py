"""Background work: find what is due, take the lease on it, write it, and store it in one transaction.

Any number of processes may work at once. The log and the stored data determine what is due, so nothing is queued, and a
killed worker leaves nothing to clean up. If two workers still do the same work, both make the same ids: the first
result is kept, and the second worker reports it as taken over, or, of several texts, reports only the new ones.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Literal

from msgspec.structs import replace

from ireneo.context.view import ContextOptions
from ireneo.engine.context import StoredReader, due_ahead, is_pruned, store_summaries, write_ahead
from ireneo.engine.intake import EpisodeReader, IntakeReader, IntakeResult
from ireneo.engine.models import FIRST_WAIT_SECONDS, VISIT, VISIT_SECONDS, Models, Worker
from ireneo.engine.notes import check_not_erased, keep_texts
from ireneo.engine.reflect import is_due, reflect
from ireneo.engine.remember import archive
from ireneo.engine.resources import Resources
from ireneo.engine.searching import embed_missing
from ireneo.engine.summarise import DueTexts, budgets_asked, due_summaries, due_texts, write_text
from ireneo.engine.writing import WrittenSummary
from ireneo.errors import (
    BadReply,
    EmbedderError,
    IreneoError,
    MessageNotFound,
    MissingExtra,
    ModelError,
    ModelRefused,
    NewerDatabase,
    NotADatabase,
    Overtaken,
    ReadOnlyStore,
    SpendingLimit,
    StoreBusy,
    SummaryNotFound,
    Unreachable,
)
from ireneo.log.message import Head
from ireneo.log.tree import SessionKey
from ireneo.ports.models import Embedder, LanguageModel, Prompt, R, Reply, Task
from ireneo.ports.store import Lease, SessionInfo, Transaction
from ireneo.short_repr import ShortRepr
from ireneo.summaries.policy import PRESETS, Policy, preset_of, story_of
from ireneo.summaries.story_path import StoryPath, StoryState
from ireneo.summaries.summary import Summary, SummaryId, SummaryLevel

# fmt: off
WorkKind = Literal[
    "caught_up", "written", "repaired", "offline", "taken_over", "failed", "passed_over",
    "listened", "remembered", "reflected", "archived", "embedded",
]
# fmt: on


class WorkResult(ShortRepr, frozen=True, kw_only=True, omit_defaults=True):
    """One piece of work that was done or failed, and how much is left to do."""

    session: str
    branch: str
    id: str = ""
    """The id of the summary that was written."""
    did: WorkKind
    """The outcome. ``caught_up``: summaries were written without a model. ``written``, ``repaired``: a model wrote one,
    at once or when asked a second time; ``offline``: its answers were so bad that the text written without a model is
    kept; ``taken_over``: another writer had stored the summary meanwhile; ``failed``: `reason` says why.
    ``passed_over``: of the session nothing more is done until it changes, for the `reason` given. ``listened``: what
    people said was read into memories. ``remembered``: episodes were made of turns or leaves, without a model.

    Three kinds of work concern the whole space and have no session: ``reflected``, ``archived``, and ``embedded``
    (vectors were computed).
    """
    first_position: int
    last_position: int
    level: SummaryLevel = "story"
    depth: int = 1
    summaries: int = 1
    """How many summaries were written: one answer may hold several texts."""
    reason: str = ""
    """Why the work failed, or what was wrong with the model's answer."""
    tokens_in: int = 0
    tokens_out: int = 0
    supported: float = 1.0
    """The share of the model's claims that its sources support."""
    struck: int = 0
    behind: int = 0
    """Messages of the branch that are due to be summarised and are not yet."""
    due: int = 0
    """How many texts a model must still write on the branch."""
    memories: int = 0
    """How many memories were made or changed; for ``embedded``, how many documents."""
    ended: int = 0
    """How many of these hold no longer."""
    episodes: int = 0
    """How many episodes were reflected on."""


ANSWERS: tuple[WorkKind, ...] = ("written", "repaired", "offline", "failed")
"""The kinds of work in which a model was asked for a text."""

FAILURES_IN_A_ROW = 3
"""Failures in a row after which an explicit request for summaries gives up."""

Ask = Callable[[Summary], Awaitable[WrittenSummary]]

_LOG = logging.getLogger("ireneo")


class TextWriter:
    """Writes the texts of one branch of a session, each under a lease."""

    def __init__(self, resources: Resources, worker: Worker, key: SessionKey, branch: str) -> None:
        self.resources = resources
        self.store = resources.store
        self.worker = worker
        self.key = key
        self.branch = branch
        self.waits = False
        """Whether something may be due with which another worker was busy, so that it is worth looking again soon."""
        self.failures = 0.0
        """How many calls of a model failed in a row; infinite if calling again is useless for now."""
        self.erased: int | None = None
        """How many messages of the session had been erased when the sources were read; None if unknown."""
        self.settled = 0
        """How many due texts the last answer settled, whoever stored them."""
        self._at: tuple[Lease, SummaryId]
        """The lease, and the text that is being written under it."""

    def models(self) -> Models:
        """Return the session's models, which check before each call that the text is still this worker's to write."""
        own = self.resources.models.each(lambda model: _CheckedModel(model, self._check))
        return replace(self.resources, models=own).models_for(self.key)

    async def write(self, summary: Summary, name: SummaryId, ask: Ask) -> WorkResult | None:
        """Have a model write the texts of a stretch, the first of which will have the id `name`.

        Returns None if another worker has the lease, has overtaken this one, or has stored the text already, and if the
        stretch was pruned meanwhile. The caller then finds out anew what is due.
        """
        try:
            async with self.worker.leased(self.key, name) as lease:
                if lease is None:
                    self.waits = self.waits or not await self._is_deferred(name)
                    return None
                self._at = lease, name
                # It may have been stored since it was found to be due.
                if not await self.store.read(lambda tx: tx.summaries.get(self.key, [name])):
                    return await self._ask(summary, lease, ask)
        except (Overtaken, SummaryNotFound) as error:
            _LOG.debug("%s", error)
        except MessageNotFound:
            if not await self.store.read(is_pruned, self.key, summary):
                raise
        self.waits = True
        return None

    async def _check(self) -> None:
        """Raise Overtaken if calling the model would be wasted.

        Runs right before the call, since everything before it may have waited for long.
        """
        lease, name = self._at

        def still_mine(tx: Transaction) -> bool:
            check_not_erased(tx, self.key, self.erased)
            return not tx.summaries.get(self.key, [name]) and self.worker.renew(tx, lease)

        if not await self.store.write(still_mine):
            raise Overtaken(f"The text {name} is another worker's now.")

    async def _ask(self, summary: Summary, lease: Lease, ask: Ask) -> WorkResult:
        worked = WorkResult(
            session=self.key.session,
            branch=self.branch,
            id=summary.id,
            did="failed",
            level=summary.level,
            first_position=summary.first_position,
            last_position=summary.last_position,
            depth=summary.depth,
        )
        self.settled = 0
        try:
            written = await ask(summary)
        except ModelError as error:
            if not self.failures:
                _LOG.warning("%s The offline text stands for what no model wrote.", error)
            self.failures = self.failures + 1 if isinstance(error, (BadReply, ModelRefused)) else math.inf
            if not isinstance(error, SpendingLimit):
                await self.worker.failed(lease, str(error))
            return replace(worked, reason=str(error))

        def store_texts(tx: Transaction) -> Sequence[Summary]:
            new = keep_texts(tx, self.key, written.texts, self.erased)
            self.worker.done(tx, lease)
            return new

        self.failures = 0
        writing = written.writing
        worked = replace(worked, tokens_in=writing.tokens_in, tokens_out=writing.tokens_out)
        try:
            new = await self.store.write(store_texts)
        except Overtaken as error:
            # Messages were erased meanwhile: the answer is paid for, but must not be kept.
            return replace(worked, reason=str(error))
        self.settled = len(written.texts)
        # Another worker may have had the answer for some of these texts meanwhile, and reported them.
        told = new or written.texts
        if told[0] is not written.text:
            worked = replace(worked, first_position=told[0].first_position, depth=told[0].depth)
        return replace(
            worked,
            id=told[0].id,
            did=written.verdict if new else "taken_over",
            reason=_reasons(written.faults),
            supported=writing.supported,
            struck=writing.struck,
            summaries=len(told),
        )

    async def _is_deferred(self, name: str) -> bool:
        """Whether the text failed, waits for its next try, and no worker has its lease."""
        leases = await self.store.read(lambda tx: tx.leases.of_session(self.key))
        return any(lease.work == name and not lease.holder for lease in leases)


class _CheckedModel:
    """A model that runs a check before each call."""

    def __init__(self, model: LanguageModel, check: Callable[[], Awaitable[None]]) -> None:
        self._model = model
        self._check = check

    async def ask(self, prompt: Prompt, reply: type[R]) -> Reply[R]:
        await self._check()
        return await self._model.ask(prompt, reply)


FIRST_CHUNK, CHUNK = 2, 32
"""How many leaves are written without a model in one transaction. At most this many are written again after a crash.

The first transactions have fewer, so that users soon see how much there is to do.
"""
CHUNK_LEASE_SECONDS = 10.0
"""A short lease, since no model is awaited: if the worker dies, the next one need not wait for long."""


class SummaryWork:
    """The work on the summaries of one branch of a session, for contexts with certain options."""

    def __init__(self, writer: TextWriter, options: ContextOptions) -> None:
        self._writer = writer
        self._store = writer.store
        self._key = writer.key
        self._options = options
        self._policy = options.policy
        self._voice = writer.resources.voices.of(options.policy)

    async def visit(self, texts: int, patience: int = 1) -> AsyncGenerator[WorkResult, None]:
        """Write everything that needs no model, then have a model write about `texts` texts.

        There may be a few more, since notes from one question belong together. It ends after `patience` failures in a
        row, and after the first one if the model can't be reached or a spending limit is reached.
        """
        self._writer.failures = 0
        async for worked in self.catch_up():
            yield worked
        model = self._writer.models().for_task(self._task)
        if model is None:
            return
        while texts > 0:
            due = await self._due()
            for place, summary in enumerate(due.ready):
                done = await self._writer.write(summary, summary.id, partial(self._ask, due.options, model))
                if done is None:
                    continue
                settled = self._writer.settled
                yield replace(done, due=due.missing - (settled if self._policy.story else place + 1))
                texts -= max(settled, 1)
                if self._writer.failures >= patience or texts <= 0:
                    return
                if self._policy.story:
                    break  # After a new leaf, the next one may be written.
            else:
                return

    async def due(self) -> int:
        """How many texts a model must still write once everything else is done; 0 without a model."""
        if self._writer.models().for_task(self._task) is None:
            return 0
        async for _ in self.catch_up():
            pass
        return (await self._due()).missing

    @property
    def _task(self) -> Task:
        return "story" if self._policy.story else "notes"

    def catch_up(self) -> AsyncGenerator[WorkResult, None]:
        """Write the summaries that are due and need no model, some at a time."""
        return self._catch_up_story() if self._policy.story else self._catch_up_work()

    async def _catch_up_work(self) -> AsyncGenerator[WorkResult, None]:
        """Write the blocks of an agent's work in advance, if more are due than a context writes itself."""
        writer, key, branch, policy = self._writer, self._key, self._writer.branch, self._policy
        if await self._store.read(due_ahead, key, branch, policy) is None:
            return
        async with writer.worker.leased(key, f"write ahead {branch} {policy.summarizer}") as lease:
            if lease is None:
                writer.waits = True
                return
            # Another worker may have been busy with it until now.
            due = await self._store.read(due_ahead, key, branch, policy)
            if due is None:
                return
            first = due.reached.position
            async for reached in write_ahead(self._store, key, policy, due):
                yield WorkResult(
                    session=key.session,
                    branch=branch,
                    did="caught_up",
                    first_position=first,
                    last_position=reached.position - 1,
                    level="turn",
                    summaries=len(reached.made),
                    behind=due.head.position + 1 - reached.position,
                )
                first = reached.position

    async def _catch_up_story(self) -> AsyncGenerator[WorkResult, None]:
        most = FIRST_CHUNK
        while (ahead := await self._grow_story(1)) and ahead.made:
            # Named after the first block that is due, not after the branch, since branches share their common part.
            name = f"catch up {ahead.made[0].id}"
            async with self._writer.worker.leased(self._key, name, CHUNK_LEASE_SECONDS) as lease:
                if lease is None:
                    self._writer.waits = True
                    return
                grown = await self._grow_story(most)
                await self._store.write(self._store_grown, grown, lease)
            if grown is None or not grown.made:
                return
            yield WorkResult(
                session=self._key.session,
                branch=self._writer.branch,
                did="caught_up",
                first_position=grown.made[0].first_position,
                last_position=grown.made[-1].last_position,
                summaries=len(grown.made),
                behind=grown.behind,
            )
            if not grown.behind:
                return
            most = min(2 * most, CHUNK)

    async def _grow_story(self, most: int) -> StoryState | None:
        """Return the story with at most `most` more leaves; None before the first message."""

        def grow(tx: Transaction) -> StoryState | None:
            head = tx.log.head(self._key, self._writer.branch)
            if head is None:
                return None
            self._writer.erased = tx.sessions.erased(self._key)
            reader = StoredReader(tx, self._key, head, self._options)
            return StoryPath(reader, self._policy, budget=self._options.budget).grow(most)

        return await self._store.read(grow)

    def _store_grown(self, tx: Transaction, grown: StoryState | None, lease: Lease) -> None:
        store_summaries(tx, self._key, grown.made if grown else (), self._writer.erased)
        self._writer.worker.done(tx, lease)

    async def _due(self) -> DueTexts:
        if self._policy.story:
            now = self._writer.resources.clock.now()
            due = await self._store.read(due_texts, self._key, self._writer.branch, self._options, self._voice, now)
        else:
            due = await due_summaries(self._store, self._key, self._writer.branch, self._options, self._voice)
        self._writer.erased = due.erased
        return due

    async def _ask(self, options: ContextOptions, model: LanguageModel, summary: Summary) -> WrittenSummary:
        return await write_text(self._store, self._key, summary, options, self._voice, model)


REFLECT = "reflect"
"""The name under which reflection is leased."""
TEXTS_A_VISIT = 8
"""Texts written for one session before the next session has its turn."""
POLL_SECONDS = 2.0
"""The interval at which an idle worker looks for work, if the store doesn't notify."""
IDLE_SECONDS = 15.0
"""The interval if the store notifies, for work that becomes due as time passes."""
AWAY_SECONDS = 5.0
"""The pause after the store was unreachable."""
REST_SECONDS = 60.0
"""After this time an unchanged session in which nothing was due is examined again."""
WEIGH_SECONDS = 3_600.0
"""The interval at which an idle worker looks for what to archive: it reads all memories, which fade over days."""
OF_ALL = (MissingExtra, NewerDatabase, NotADatabase, ReadOnlyStore, StoreBusy, Unreachable)
"""Errors that the next session would meet as well."""
_UNDATED = datetime.min.replace(tzinfo=UTC)


class SpaceWork:
    """The work on all sessions of one space."""

    def __init__(self, resources: Resources, space: str, worker: Worker, preset: Policy | None) -> None:
        """Work on each session with `preset` or, if that is None, in the ways in which it is shown."""
        self._resources = resources
        self._store = resources.store
        self._space = space
        self._preset = preset
        self._worker = worker
        self._idle: dict[SessionKey, tuple[SessionInfo, datetime | None]] = {}
        """Sessions as they were when nothing was due in them, and when that was; None: they are passed over."""
        self._asks_again: dict[SessionKey, datetime] = {}
        """When a model that failed for a session is next asked about that session."""
        self._listener = IntakeReader(resources, worker, preset)
        self._gatherer = EpisodeReader(resources, space)
        self._weighed: datetime | None = None
        """When it was last looked for what to archive; None: not since something was done."""
        self._waits = False
        """Whether another worker is busy with something due."""

    async def run(self, *, until_idle: bool) -> AsyncGenerator[WorkResult, None]:
        """Do what is due, then wait for more, or end if `until_idle` is set.

        While it waits for more, it survives a store that can't be reached. With `until_idle` it raises the store's
        errors.
        """
        async with self._store.hearing(self._space) as wait:
            while True:
                busy = False
                try:
                    async for worked in self._run_round(patient=not until_idle):
                        busy = busy or worked.did not in ("failed", "passed_over")
                        yield worked
                except (StoreBusy, Unreachable) as fault:
                    if until_idle:
                        raise
                    _LOG.warning("%s", fault)
                    yield replace(_space_result("failed", memories=0), reason=str(fault))
                    await asyncio.sleep(AWAY_SECONDS)
                    continue
                if busy:
                    self._weighed = None
                    continue
                if until_idle and not self._waits:
                    return
                await wait(POLL_SECONDS, POLL_SECONDS if self._waits else IDLE_SECONDS)

    async def _run_round(self, *, patient: bool) -> AsyncGenerator[WorkResult, None]:
        """Visit each session that is not resting, then do what is due for the whole space."""
        self._waits = False
        sessions = await self._store.read(lambda tx: tx.sessions.list(self._space))
        # In the order in which they began, since a session may change what was said in an earlier one.
        begun = sorted(sessions, key=lambda info: (info.first_at or _UNDATED, info.key.session))
        awake = [info for info in begun if not self._is_resting(info)]
        # Changed sessions are shared out among all workers; a second look isn't worth that.
        changed = {info.key.session: info for info in awake if self._idle.get(info.key, (None,))[0] != info}
        while changed:
            async with self._worker.visiting(self._space, [*changed]) as session:
                # If others are busy with all of them, they are helped.
                info = changed.pop(session or next(iter(changed)))
                async for worked in self._visit(info, patient=patient):
                    yield worked
        for info in awake:
            if info.key in self._idle and self._idle[info.key][0] == info and not self._is_resting(info):
                async for worked in self._visit(info, patient=patient):
                    yield worked
        async for worked in self._work_on_space(sessions):
            yield worked

    def _is_resting(self, info: SessionInfo) -> bool:
        """Return whether the session is as it was when it was passed over, or, a short while ago, had nothing due."""
        seen, at = self._idle.get(info.key, (None, None))
        rested = None if at is None else self._resources.clock.now() - at
        # A clock that was set back is no reason to rest longer.
        return seen == info and (rested is None or timedelta(0) <= rested < timedelta(seconds=REST_SECONDS))

    async def _visit(self, info: SessionInfo, *, patient: bool) -> AsyncIterator[WorkResult]:
        """Visit a session; one that something is wrong with is named, and keeps nobody from the others.

        The error is kept on the lease of visits until a visit succeeds.
        """
        try:
            async for worked in self._work_on_session(info, patient=patient):
                yield worked
        except OF_ALL:
            raise
        except IreneoError as fault:
            if await self._store.read(lambda tx: tx.sessions.get(info.key)) is None:
                return  # It was forgotten meanwhile.
            reason = str(fault)
            _LOG.warning("Session %r is passed over: %s", info.key.session, reason)
            async with self._worker.leased(info.key, VISIT, VISIT_SECONDS) as lease:
                if lease is not None:
                    await self._worker.failed(lease, reason, wait_seconds=0)
            self._idle[info.key] = info, None
            yield replace(_space_result("passed_over", reason=reason), session=info.key.session)

    async def _work_on_session(self, info: SessionInfo, *, patient: bool) -> AsyncIterator[WorkResult]:
        """Everything that needs no model, and some texts of each branch."""
        quiet = True
        branches, shown = await self._store.read(self._heads_and_options, info)
        for branch, head in branches.items():
            writer = TextWriter(self._resources, self._worker, info.key, branch)
            own = SummaryWork(writer, self._options(self._own_policy(info)))
            if head and not self._own_policy(info).story:
                async for worked in own.catch_up():
                    quiet = False
                    yield worked
            for options in shown if head else ():
                async for worked in SummaryWork(writer, options).visit(self._text_allowance(info.key)):
                    quiet = False
                    if worked.did == "failed":
                        again = self._resources.clock.now() + timedelta(seconds=FIRST_WAIT_SECONDS)
                        self._asks_again[info.key] = again
                    yield worked
            self._waits = self._waits or writer.waits
        async for worked in self._make_memories(info, patient=patient):
            quiet = False
            yield worked
        if quiet and not self._waits:
            self._idle[info.key] = (info, self._resources.clock.now())

    async def _make_memories(self, info: SessionInfo, *, patient: bool) -> AsyncIterator[WorkResult]:
        """Make memories of the session; two workers that do so at once store the same."""
        async for heard in self._listener.session(info, patient=patient):
            yield replace(
                _memory_result("failed" if heard.failed else "listened", heard),
                reason=heard.failed or " ".join(heard.refused),
                tokens_in=heard.tokens_in,
                tokens_out=heard.tokens_out,
            )
        self._waits = self._waits or self._listener.waits
        async for gathered in self._gatherer.session(info, self._preset):
            yield _memory_result("remembered", gathered)

    async def _work_on_space(self, sessions: Sequence[SessionInfo]) -> AsyncIterator[WorkResult]:
        """Reflect, archive and embed for the whole space."""
        async for worked in self._reflect(min((info.key for info in sessions), default=None)):
            yield worked
        now, weighed = self._resources.clock.now(), self._weighed
        if weighed is None or not timedelta(0) <= now - weighed < timedelta(seconds=WEIGH_SECONDS):
            self._weighed = now
            if gone := await archive(self._resources, self._space, self._resources.keep_memories, faded=True):
                yield _space_result("archived", memories=len(gone))
        if self._resources.embedder is not None:
            async for worked in self._embed(self._resources.embedder):
                yield worked

    async def _reflect(self, key: SessionKey | None) -> AsyncIterator[WorkResult]:
        """Reflect as long as that is due.

        A model is asked under a lease, so that two workers don't both pay. The lease is on the session `key`, which all
        workers must choose alike. Without any session there is no lease: a model may be asked twice, but nothing is
        stored twice.
        """
        while await self._store.read(is_due, self._space):
            if key is None:
                reflected = await reflect(self._resources, self._space)
            else:
                async with self._worker.leased(key, REFLECT) as lease:
                    if lease is None:
                        return
                    reflected = await reflect(self._resources, self._space)
                    await self._store.write(self._worker.done, lease)
            changed = len(reflected.conclusions) + len(reflected.reconsidered)
            if not (reflected.episodes or reflected.reconsidered):
                return
            yield replace(
                _space_result("reflected", memories=changed, reason=reflected.failed),
                episodes=reflected.episodes,
                tokens_in=reflected.tokens_in,
                tokens_out=reflected.tokens_out,
            )

    async def _embed(self, embedder: Embedder) -> AsyncIterator[WorkResult]:
        """Compute missing vectors, and remove those of an embedder that was used before.

        Two workers may compute some vectors twice, which does no harm.
        """
        goes_on = True
        while goes_on:
            try:
                embedded = await embed_missing(self._store, self._space, embedder)
            except EmbedderError as error:
                yield _space_result("failed", reason=str(error))
                return
            if embedded.documents:
                yield _space_result("embedded", memories=embedded.documents)
            goes_on = embedded.left and embedded.documents > 0

        def drop_others(tx: Transaction) -> None:
            for name in tx.vectors.embedders(self._space):
                if name != embedder.name:
                    tx.vectors.drop(self._space, name)

        if {*await self._store.read(lambda tx: tx.vectors.embedders(self._space))} - {embedder.name}:
            await self._store.write(drop_others)

    def _text_allowance(self, key: SessionKey) -> int:
        """How many texts a visit may write: none for a while after a model failed."""
        again, now = self._asks_again.get(key), self._resources.clock.now()
        return 0 if again and now < again <= now + timedelta(seconds=FIRST_WAIT_SECONDS) else TEXTS_A_VISIT

    def _heads_and_options(
        self, tx: Transaction, info: SessionInfo
    ) -> tuple[Mapping[str, Head | None], list[ContextOptions]]:
        """Return the heads of a session's branches, and the options with which its contexts are requested."""
        stories = [
            self._options(policy, budget)
            for policy in self._story_policies(tx, info)
            for budget in sorted(budgets_asked(tx, info.key, policy)) or [0]
        ]
        return tx.sessions.branches(info.key), [*stories, *self._work_options(tx, info)]

    def _story_policies(self, tx: Transaction, info: SessionInfo) -> list[Policy]:
        """Return the policies by which the session is summarised as a story: its own, and others in use."""
        own = self._own_policy(info)
        found = [own] if own.story else []
        if self._preset is None:
            stored = (story_of(summarizer) for summarizer in tx.summaries.summarizers(info.key))
            found += [each for each in stored if each and all(each.summarizer != known.summarizer for known in found)]
        return found

    def _work_options(self, tx: Transaction, info: SessionInfo) -> list[ContextOptions]:
        """Return the options with which contexts of agents' work were requested, as the stored rebuild marks say."""
        marks = tx.rebuilds.of_session(info.key)
        known = {policy.summarizer: policy for policy in PRESETS.values() if not policy.story}
        return [
            self._options(known[summarizer], budget)
            for summarizer, budget in sorted({(mark.summarizer, mark.budget_tokens) for mark in marks})
            if summarizer in known and self._preset in (None, known[summarizer])
        ]

    def _own_policy(self, info: SessionInfo) -> Policy:
        return self._preset or preset_of(info.source, self._resources.preset)

    def _options(self, policy: Policy, budget: int = 0) -> ContextOptions:
        return ContextOptions(budget=budget, policy=policy, count=self._resources.count)


def _memory_result(did: WorkKind, read: IntakeResult) -> WorkResult:
    return WorkResult(
        session=read.session,
        branch=read.branch,
        did=did,
        first_position=read.first_position,
        last_position=read.last_position,
        summaries=0,
        memories=len(read.remembered),
        ended=len({one.id for each in read.remembered for one in (each.record, *each.changed) if not one.holds}),
    )


MOST_REASONS = 6


def _reasons(faults: Sequence[str]) -> str:
    """The first faults, and the last one, which says how a repair ended."""
    if len(faults) > MOST_REASONS:
        faults = [*faults[: MOST_REASONS - 1], f"{len(faults) - MOST_REASONS} more", faults[-1]]
    return "; ".join(faults)


def _space_result(did: WorkKind, *, memories: int = 0, reason: str = "") -> WorkResult:
    """The result of work that belongs to no session."""
    return WorkResult(
        session="", branch="", did=did, first_position=0, last_position=0, summaries=0, memories=memories, reason=reason
    )
