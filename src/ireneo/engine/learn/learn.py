"""Learn from the runs of a space: each session once, and again when it has gone on.

One unit for each session: its path is read, what it shows is worked out by pure rules (and by a model, where there is
one), and one transaction stores the run, its sightings and what follows from them. Two that learn at once store the
same, and whoever is killed leaves whole runs behind.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack

from msgspec import Struct

from ireneo.engine.diary import written_on_path
from ireneo.engine.learn.due import Due, due_runs, still_due
from ireneo.engine.learn.reading import windows
from ireneo.engine.learn.retract import retract, still_told
from ireneo.engine.learn.settle import settle_lessons
from ireneo.engine.learn.synthesis import Synthesis, synthesise
from ireneo.engine.leasing import Worker
from ireneo.engine.means import Means
from ireneo.engine.projects import session_project
from ireneo.engine.remember import Remembered
from ireneo.errors import ModelError, NotFound
from ireneo.lessons.lessons import applies, projects_of
from ireneo.lessons.material import Material
from ireneo.lessons.render_diary import render_diary
from ireneo.lessons.run import LEARNER, LearnedRun
from ireneo.lessons.study import Studied, joined, study, summed
from ireneo.ports.leases import Lease
from ireneo.ports.llm import LanguageModel
from ireneo.ports.memories import Wanted

LEARN = "learn"
"""The name of the work under which a model reads a run is leased."""
_LESSONS = Wanted(lessons=True, states=("active",), archived=False)
_LOG = logging.getLogger("ireneo")


class Learned(Struct, frozen=True, kw_only=True):
    """What was learned from one session."""

    run: LearnedRun
    lessons: tuple[Remembered, ...]
    """The lessons that it made or spoke to."""
    new: int
    """How many of them were not known before."""
    lesson_tokens: int
    """What the lessons that are new cost, so that each is counted once over all runs."""
    failed: str = ""
    """Why the model failed, without which it was learned from."""
    refused: tuple[str, ...] = ()
    """What a model said and was not let stand, and why."""
    tokens_in: int = 0
    tokens_out: int = 0
    """What the model cost."""


class _Read(Struct, frozen=True, kw_only=True):
    """A session as it was read."""

    project: str
    last: Material
    """The run, or the last window of a long one."""
    whole: Studied


async def learn(means: Means, space: str, sessions: Iterable[str] | None = None) -> AsyncIterator[Learned]:
    """Learn from all that is due of these sessions (None: of the space), one after the other as they were begun.

    A model is asked under a lease, since two that ask pay twice: a run that another is at is left to it.
    """
    worker = Worker(means.store, means.clock)
    for due in await due_runs(means, space, sessions):
        model = means.models_for(due.info.key).for_task("lessons")
        async with AsyncExitStack() as held:
            lease: Lease | None = None
            if model is not None:
                lease = await held.enter_async_context(worker.leased(due.info.key, LEARN))
                async with means.store.read() as tx:
                    if lease is None or not await still_due(tx, due):
                        continue
            learned = await _learn_session(means, due, model, worker, lease)
        if learned is not None:
            yield learned


async def _learn_session(
    means: Means, due: Due, model: LanguageModel | None, worker: Worker, lease: Lease | None
) -> Learned | None:
    key = due.info.key
    try:
        read = await _read(means, due)
    except NotFound:
        async with means.store.read() as tx:
            if await still_due(tx, due):
                raise
        return None  # It was forgotten, or in part, while it was read.
    told, failed = Synthesis(), ""
    if model is not None and read.whole.calls:
        try:
            told = await _told(means, due, model, read)
        except ModelError as error:
            _LOG.warning("%s The lessons of %s are drawn without it.", error, key.session)
            failed = str(error)
    run = _run(means, due, read)
    async with means.store.write() as tx:
        if lease is not None:
            await worker.done(tx, lease)
        if not await still_due(tx, due):
            return None
        before = await tx.runs.of_run(key.space, key.session)
        sightings = summed([*read.whole.sightings, *told.sightings])
        fresh = {each.cue for each in sightings}
        sightings += [each for each in await still_told(tx, key, due.head, before) if each.cue not in fresh]
        await tx.runs.put(key.space, run, sightings)
        await retract(tx, key.space, key.session, [each.cue for each in (*before, *sightings)] if before else ())
        settled = await settle_lessons(tx, key.space, sightings, run.learned)
    new = [each.record for each in settled if each.did == "added"]
    return Learned(
        run=run,
        lessons=tuple(settled),
        new=len(new),
        lesson_tokens=sum(means.count(each.text) for each in new),
        failed=failed,
        refused=told.refused,
        tokens_in=sum(each.tokens_in for each in told.usage),
        tokens_out=sum(each.tokens_out for each in told.usage),
    )


async def _read(means: Means, due: Due) -> _Read:
    key = due.info.key
    cleaning = means.drawing()
    project = cleaning.text(await session_project(means, key, due.head))
    source = (due.info.source or "").partition(":")[0]
    last = Material(session=key.session, source=source, project=project, messages=())
    whole = Studied()
    async with means.store.read() as tx:
        written = await written_on_path(tx, key, due.head.id)
    async for window in windows(means.store, key, due.head, cleaning):
        last = Material(session=key.session, source=source, project=project, messages=tuple(window))
        whole = joined((whole, study(last, means.count, written)))
    return _Read(project=project, last=last, whole=whole)


async def _told(means: Means, due: Due, model: LanguageModel, read: _Read) -> Synthesis:
    """What a model makes of it, which is told the lessons of the project that are known."""
    async with means.store.read() as tx:
        listed = await tx.memories.list(due.info.key.space, _LESSONS)
    known = [each for each in listed if applies(projects_of(each), read.project)]
    return await synthesise(model, read.last, read.whole.entries, known, means.count)


def _run(means: Means, due: Due, read: _Read) -> LearnedRun:
    rendered = render_diary(read.whole.entries)
    return LearnedRun(
        session=due.info.key.session,
        head=due.head.id,
        learner=LEARNER,
        learned=means.clock.now(),
        project=read.project,
        source=means.drawing().text(due.info.source or ""),
        started=due.info.first_at,
        ended=due.info.last_at,
        messages=read.whole.messages,
        tokens=due.head.total_tokens,
        calls=read.whole.calls,
        failures=read.whole.failures,
        lost_tokens=read.whole.lost_tokens,
        lost_seconds=read.whole.lost_seconds,
        diary=read.whole.entries,
        diary_tokens=means.count(rendered) if rendered else 0,
    )
