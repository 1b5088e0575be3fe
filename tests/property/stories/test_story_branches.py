"""Stories that are told on, taken back, told otherwise and pruned: each branch shows its own path, and always alike."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from tests.property.invariants.houses import House, calm, housed

from ireneo import Draft, Memory, Session
from ireneo.log.tree import ROOT, SessionKey
from ireneo.ports.store import Store, Transaction

from .checks import caught_up, seen, shape, sound, stored_once, twin_context
from .material import TINY_STORY, Storyteller, budgets, formats, marks, places, stories

RUN = SessionKey("mine", "run")


class Journey(RuleBasedStateMachine):
    """Appends, rewinds, forks, prunings and looks in any order, beside a model that keeps each branch as a list."""

    store = "in memory"

    @initialize(begun=st.booleans())
    def open(self, begun: bool) -> None:
        self.runner = asyncio.Runner()
        self.stack = AsyncExitStack()
        self.house: House = self.runner.run(self.stack.enter_async_context(housed(self.store)))
        self.memory: Memory = self.runner.run(self.house.memory())
        self.looked_into: Store = self.runner.run(self.house.store())
        self.paths: dict[str, list[Draft]] = {"main": []}
        self.sessions: dict[str, Session] = {}
        self.told = 0
        self.append(0, ["instruct", "chats", "chats"] if begun else ["chats"])

    def teardown(self) -> None:
        if hasattr(self, "runner"):
            self.runner.run(self.stack.aclose())
            self.runner.close()

    def session(self, place: int) -> Session:
        """Some branch."""
        branch = list(self.paths)[place % len(self.paths)]
        if branch not in self.sessions:
            self.sessions[branch] = self.runner.run(self.memory.session("run", branch=branch))
        return self.sessions[branch]

    @rule(branch=places, pieces=stories())
    def append(self, branch: int, pieces: list[str]) -> None:
        session = self.session(branch)
        self.told += 1
        drafts = Storyteller(self.told).tell(pieces)
        self.runner.run(session.append(drafts))
        self.paths[session.branch] += drafts

    @rule(pieces=stories(max_size=20))
    def go_on(self, pieces: list[str]) -> None:
        self.append(0, pieces)

    @rule(branch=places, place=places, near=st.booleans())
    def rewind(self, branch: int, place: int, near: bool) -> None:
        session = self.session(branch)
        path = self.runner.run(session.messages())
        keep = max(len(path) - place % 12, 0) if near else place % (len(path) + 1)
        self.runner.run(session.rewind(path[keep - 1].id if keep else ROOT))
        del self.paths[session.branch][keep:]

    @precondition(lambda self: len(self.paths) < 4)
    @rule(branch=places, place=places)
    def fork(self, branch: int, place: int) -> None:
        session = self.session(branch)
        path = self.runner.run(session.messages())
        keep = 1 + place % len(path) if path else 0
        name = f"branch-{self.told}-{len(self.paths)}"
        if name not in self.paths:
            self.sessions[name] = self.runner.run(session.fork(name, at=path[keep - 1].id if keep else None))
            self.paths[name] = self.paths[session.branch][:keep]

    @precondition(lambda self: len(self.paths) > 1)
    @rule(branch=places)
    def drop_and_prune(self, branch: int) -> None:
        name = list(self.paths)[1 + branch % (len(self.paths) - 1)]
        self.runner.run(self._drop(name))
        self.paths.pop(name)
        self.sessions.pop(name, None)

    async def _drop(self, name: str) -> None:

        def change(tx: Transaction) -> None:
            tx.upkeep.drop_branch(RUN, name)
            tx.upkeep.prune(RUN)

        await self.looked_into.write(change)

    @rule()
    def come_back_as_another_process(self) -> None:
        self.memory = self.runner.run(self.house.memory())
        self.sessions.clear()

    @rule(branch=places)
    def catch_up(self, branch: int) -> None:
        session = self.session(branch)
        self.runner.run(caught_up(session, TINY_STORY))
        context = self.runner.run(session.context(600, preset=TINY_STORY))
        assert context.behind == 0
        assert self.runner.run(caught_up(session, TINY_STORY)) == 0

    @rule(branch=places, budget=budgets, to=formats)
    def look(self, branch: int, budget: int, to: str) -> None:
        self.runner.run(self._look(self.session(branch), budget, to))

    async def _look(self, session: Session, budget: int, to: str) -> None:
        context = await session.context(budget, to=to, preset=TINY_STORY)
        path = await session.messages()
        assert [message.parts for message in path] == [draft.parts for draft in self.paths[session.branch]]
        sound(context, path, budget)
        assert seen(context) <= marks(self.paths[session.branch])
        await stored_once(self.looked_into, RUN)

    @rule(branch=places, budget=budgets, to=formats)
    def look_as_if_nothing_else_had_been(self, branch: int, budget: int, to: str) -> None:
        self.runner.run(self._canonical(self.session(branch), budget, to))

    async def _canonical(self, session: Session, budget: int, to: str) -> None:
        await caught_up(session, TINY_STORY)
        context = await session.context(budget, to=to, preset=TINY_STORY)
        fresh = await twin_context(self.paths[session.branch], budget, to)
        assert shape(context) == shape(fresh)
        assert context.messages == fresh.messages
        assert context.system == fresh.system


class JourneyInSqlite(Journey):
    """The same in a file."""

    store = "sqlite"


Journey.TestCase.settings = calm(4, stateful_step_count=16)
JourneyInSqlite.TestCase.settings = calm(4, stateful_step_count=16)
TestJourney = Journey.TestCase
TestJourneyInSqlite = JourneyInSqlite.TestCase
