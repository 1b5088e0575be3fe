"""Go round the sessions of a space and do what is due in each, a little at a time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import datetime, timedelta

from ireneo.context.policy import PRESETS, Policy, story_of
from ireneo.context.terms import Terms
from ireneo.engine.episodes.gather import Gatherer
from ireneo.engine.leasing import FIRST_WAIT_SECONDS, Worker
from ireneo.engine.means import Means
from ireneo.engine.story.preset import preset_of
from ireneo.engine.work.blocks import BlockWork
from ireneo.engine.work.chores import CHORES, Place
from ireneo.engine.work.desk import Desk
from ireneo.engine.work.stories import StoryWork
from ireneo.engine.work.worked import Worked
from ireneo.log.branch import SessionKey
from ireneo.ports.store import SessionInfo
from ireneo.ports.transition import Transaction

TEXTS_A_VISIT = 8
"""After so many texts of one story the next session has its turn."""
POLL_SECONDS = 2.0
REST_SECONDS = 60.0
"""A session in which nothing was due, and to which nothing was said since, is looked at again after this time."""


class Works:
    """The work on the sessions of one space."""

    def __init__(self, means: Means, space: str, worker: Worker, preset: Policy | None) -> None:
        """Work on each session with `preset`, or as it is looked at where that is None."""
        self._means = means
        self._store = means.store
        self._space = space
        self._preset = preset
        self._worker = worker
        self._idle: dict[SessionKey, tuple[SessionInfo, datetime]] = {}
        self._asks_again: dict[SessionKey, datetime] = {}
        """When a model is asked again for a session for which it failed."""
        self._gatherer = Gatherer(means, space)
        self._waits = False
        """Whether something is due that another worker is at."""

    async def run(self, *, until_idle: bool) -> AsyncIterator[Worked]:
        """Do what is due, as long as there is any; then wait for more, or end where `until_idle` is set."""
        while True:
            self._waits = busy = False
            async with self._store.read() as tx:
                sessions = await tx.sessions.list(self._space)
            for info in sessions:
                if not self._rests(info):
                    async for worked in self._session(info):
                        busy = busy or worked.did != "failed"
                        yield worked
            async for worked in self._chores(sessions):
                busy = busy or worked.did != "failed"
                yield worked
            if busy:
                continue
            if until_idle and not self._waits:
                return
            await asyncio.sleep(POLL_SECONDS)

    def _rests(self, info: SessionInfo) -> bool:
        """Whether nothing was due when the session was looked at last, which is not long ago and was the same."""
        seen, at = self._idle.get(info.key, (None, None))
        if seen != info or at is None:
            return False
        # A clock that was put back is no reason to rest longer.
        return timedelta(0) <= self._means.clock.now() - at < timedelta(seconds=REST_SECONDS)

    async def _session(self, info: SessionInfo) -> AsyncIterator[Worked]:
        """One visit: everything that needs no model, and some texts of each branch."""
        quiet = True
        own = self._preset or preset_of(info.source, self._means.preset)
        async with self._store.read() as tx:
            branches = await tx.sessions.branches(info.key)
            stories = await self._stories(tx, info)
            blocks = await self._blocks(tx, info)
        for branch, head in branches.items():
            desk = Desk(self._means, self._worker, info.key, branch)
            works: list[StoryWork | BlockWork] = [StoryWork(desk, policy) for policy in stories]
            works += [BlockWork(desk, terms) for terms in blocks]
            if head and not own.pyramid:
                async for worked in BlockWork(desk, Terms(budget=0, policy=own, count=self._means.count)).catch_up():
                    quiet = False
                    yield worked
            for work in works if head else ():
                async for worked in work.visit(self._texts(info.key)):
                    quiet = False
                    if worked.did == "failed":
                        again = self._means.clock.now() + timedelta(seconds=FIRST_WAIT_SECONDS)
                        self._asks_again[info.key] = again
                    yield worked
            self._waits = self._waits or desk.waits
        async for worked in self._memories(info):
            quiet = False
            yield worked
        if quiet and not self._waits:
            self._idle[info.key] = (info, self._means.clock.now())

    async def _memories(self, info: SessionInfo) -> AsyncIterator[Worked]:
        """What the session leaves behind; it needs no model, and two that gather at once store the same."""
        async for gathered in self._gatherer.session(info, self._preset):
            yield Worked(
                session=gathered.session,
                branch=gathered.branch,
                did="remembered",
                first_position=gathered.first_position,
                last_position=gathered.last_position,
                summaries=0,
                memories=len(gathered.remembered),
            )

    async def _chores(self, sessions: Sequence[SessionInfo]) -> AsyncIterator[Worked]:
        """What is due of the whole space. Its leases stand on the session whose name comes first."""
        desk = min((info.key for info in sessions), default=None)
        place = Place(means=self._means, space=self._space, worker=self._worker, desk=desk)
        for chore in CHORES:
            async for worked in chore(place):
                yield worked

    def _texts(self, key: SessionKey) -> int:
        """How many texts a visit may have written: none, for a while after a model failed."""
        again, now = self._asks_again.get(key), self._means.clock.now()
        return 0 if again and now < again <= now + timedelta(seconds=FIRST_WAIT_SECONDS) else TEXTS_A_VISIT

    async def _stories(self, tx: Transaction, info: SessionInfo) -> list[Policy]:
        """The ways in which a story is told: the one that was asked for or is the session's own, and those in use."""
        own = self._preset or preset_of(info.source, self._means.preset)
        found = [own] if own.pyramid else []
        if self._preset is None:
            stored = (story_of(family) for family in await tx.summaries.families(info.key))
            found += [each for each in stored if each and all(each.family != known.family for known in found)]
        return found

    async def _blocks(self, tx: Transaction, info: SessionInfo) -> list[Terms]:
        """The terms on which contexts of an agent's work were asked for, as their rebuilds tell."""
        marks = await tx.rebuilds.of_session(info.key)
        known = {policy.family: policy for policy in PRESETS.values() if not policy.pyramid}
        return [
            Terms(budget=budget, policy=known[family], count=self._means.count)
            for family, budget in sorted({(mark.family, mark.budget_tokens) for mark in marks})
            if family in known and self._preset in (None, known[family])
        ]
