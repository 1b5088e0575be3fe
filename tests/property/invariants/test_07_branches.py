"""After a rewind nothing of the abandoned branch is seen; what the branches share is shared."""

from __future__ import annotations

import asyncio
import re
from contextlib import AsyncExitStack

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from ireneo import Context, Draft, Memory, Session
from ireneo.log.tree import ROOT

from .houses import House, calm, housed, stores
from .journeys import Look, looks
from .material import PRESETS, Teller, places, scripts
from .promises import bounded, exactly_once, in_place, strings, user_words, valid, whole_atoms

MARK = re.compile(r"era\d+_\d+x")
"""The words that stand nowhere else (see `Teller.mark`)."""

usual = st.sampled_from([Look(budget, preset, "openai") for budget in (420, 1_200, 4_000) for preset in PRESETS])


def marks(drafts: list[Draft]) -> set[str]:
    """The marks of what was said in `drafts`."""
    return set(MARK.findall(str([draft.parts for draft in drafts])))


def seen(context: Context) -> set[str]:
    """The marks that a model sees."""
    return set(MARK.findall(" ".join(strings([context.system, context.messages]))))


class Journey(RuleBasedStateMachine):
    """Appends, rewinds, forks and looks in any order, beside a model that keeps each branch as a plain list."""

    store = "in memory"

    @initialize(look=usual)
    def open(self, look: Look) -> None:
        self.runner = asyncio.Runner()
        self.stack = AsyncExitStack()
        self.house: House = self.runner.run(self.stack.enter_async_context(housed(self.store)))
        self.memory: Memory = self.runner.run(self.house.memory())
        self.paths: dict[str, list[Draft]] = {"main": []}
        self.sessions: dict[str, Session] = {}
        self.told = 0
        self.usual = look

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

    def new(self, steps: list[str]) -> list[Draft]:
        """What was never said before."""
        self.told += 1
        return Teller(f"era{self.told}").tell(steps)

    def kept(self, length: int, place: int) -> int:
        """Where to go back to: mostly a few messages, seldom anywhere."""
        return place % (length + 1) if place % 5 == 0 else max(length - place % 12, 0)

    @rule(branch=places, steps=scripts(max_size=5))
    def append(self, branch: int, steps: list[str]) -> None:
        session, drafts = self.session(branch), self.new(steps)
        self.runner.run(session.append(drafts))
        self.paths[session.branch] += drafts
        self.look(branch, self.usual)

    @rule(steps=scripts(max_size=8))
    def go_on(self, steps: list[str]) -> None:
        self.append(0, steps)

    @precondition(lambda self: any(self.paths.values()))
    @rule(branch=places, place=places)
    def rewind(self, branch: int, place: int) -> None:
        session = self.session(branch)
        path = self.runner.run(session.messages())
        keep = self.kept(len(path), place)
        self.runner.run(session.rewind(path[keep - 1].id if keep else ROOT))
        del self.paths[session.branch][keep:]
        self.look(branch, self.usual)

    @precondition(lambda self: any(self.paths.values()) and len(self.paths) < 4)
    @rule(branch=places, place=places)
    def fork(self, branch: int, place: int) -> None:
        session = self.session(branch)
        path = self.runner.run(session.messages())
        keep = 1 + place % len(path) if path else 0
        name = f"branch-{len(self.paths)}"
        self.sessions[name] = self.runner.run(session.fork(name, at=path[keep - 1].id if keep else None))
        self.paths[name] = self.paths[session.branch][:keep]

    @precondition(lambda self: any(self.paths.values()))
    @rule(branch=places, place=places, steps=scripts(max_size=3))
    def go_on_from_before(self, branch: int, place: int, steps: list[str]) -> None:
        session, drafts = self.session(branch), self.new(steps)
        path = self.runner.run(session.messages())
        keep = self.kept(len(path), place)
        self.runner.run(session.append(drafts, after=path[keep - 1].id if keep else ROOT))
        roles = {message.role for message in path}, {draft.role for draft in drafts}
        if not keep and roles[0] == {"system"} and "system" not in roles[1]:
            # A format that keeps the prompt apart hands in the messages alone: the prompt stays before them.
            keep = len(path)
        self.paths[session.branch][keep:] = drafts
        self.look(branch, self.usual)

    @rule(branch=places)
    def offer_it_all_again(self, branch: int) -> None:
        session = self.session(branch)
        if self.paths[session.branch]:
            assert self.runner.run(session.append(self.paths[session.branch], after=ROOT)).new == 0

    @rule()
    def come_back_as_another_process(self) -> None:
        self.memory = self.runner.run(self.house.memory())
        self.sessions.clear()

    @rule(branch=places, look=looks)
    def look(self, branch: int, look: Look) -> None:
        self.runner.run(self.check(self.session(branch), look))

    async def check(self, session: Session, look: Look) -> None:
        context = await look.at(session)
        path = await session.messages()
        assert [message.parts for message in path] == [draft.parts for draft in self.paths[session.branch]]
        assert seen(context) <= marks(self.paths[session.branch])
        exactly_once(context, path)
        in_place(context, path)
        whole_atoms(context, path)
        valid(context)
        bounded(context, look.budget)
        await user_words(session, context, path)


class JourneyInSqlite(Journey):
    """The same in a file."""

    store = "sqlite"


Journey.TestCase.settings = calm(4, stateful_step_count=20)
JourneyInSqlite.TestCase.settings = calm(3, stateful_step_count=20)
TestJourney = Journey.TestCase
TestJourneyInSqlite = JourneyInSqlite.TestCase


@calm(4)
@given(store=stores, shared=scripts(max_size=5), left=scripts(max_size=3), taken=scripts(max_size=3), look=looks)
async def test_nothing_of_an_abandoned_branch_is_seen(
    store: str, shared: list[str], left: list[str], taken: list[str], look: Look
) -> None:
    async with housed(store) as house:
        session = await (await house.memory()).session("run")
        common, abandoned, kept = (Teller(f"era{n}").tell(steps) for n, steps in enumerate((shared, left, taken)))
        fork = (await session.append(common)).ids[-1]
        await look.at(session)
        await session.append(abandoned)
        await look.at(session)
        await session.rewind(fork)
        assert seen(await look.at(session)) <= marks(common)
        await session.append(kept)
        assert seen(await look.at(session)) <= marks(common) | marks(kept)


@calm(4)
@given(store=stores, shared=scripts(max_size=5), one=scripts(max_size=3), other=scripts(max_size=3), look=looks)
async def test_a_fork_sees_the_shared_past_and_not_the_other_branch(
    store: str, shared: list[str], one: list[str], other: list[str], look: Look
) -> None:
    async with housed(store) as house:
        main = await (await house.memory()).session("run")
        common, here, there = (Teller(f"era{n}").tell(steps) for n, steps in enumerate((shared, one, other)))
        await main.append(common)
        before = await look.at(main)
        fork = await main.fork("try")
        # What was summarised before the fork is not summarised again: the same summaries, by the same names.
        after = await look.at(fork)
        assert [row.id for row in after.view] == [row.id for row in before.view]
        assert after.messages == before.messages
        await main.append(here)
        await fork.append(there)
        assert seen(await look.at(main)) <= marks(common) | marks(here)
        assert seen(await look.at(fork)) <= marks(common) | marks(there)


@calm(4)
@given(store=stores, steps=scripts(max_size=6), other=scripts(max_size=3), place=places, look=looks)
async def test_what_happens_on_another_branch_leaves_a_branchs_context_as_it_was(
    store: str, steps: list[str], other: list[str], place: int, look: Look
) -> None:
    async with housed(store) as house:
        main = await (await house.memory()).session("run")
        path = (await main.append(Teller("era0").tell(steps))).ids
        before = await look.at(main)
        # A branch may end blocks in the midst of those that go on here.
        fork = await main.fork("try", at=path[place % len(path)])
        for number in (1, 2):
            await fork.append(Teller(f"era{number}").tell(["ask", *other]))
            await look.at(fork)
        again = await (await house.memory()).session("run")
        assert (await look.at(again)).messages == before.messages
