"""A branch that leaves a story just behind a leaf, in the middle of a turn, where that leaf would have gone on."""

from __future__ import annotations

from tests.progress import progress_of

from ireneo.adapters.in_memory import InMemoryStore
from ireneo.engine.memory import Memory
from ireneo.engine.resources import Resources
from ireneo.engine.session import Session
from ireneo.log.message import Draft, Role, Text
from ireneo.summaries.policy import Policy, StorySettings
from ireneo.testing.scripted import ManualClock

POLICY = Policy(name="small", story=StorySettings(leaf_messages=4, fan_in=2, limit=2, live_messages=2), live_share=0.5)
BUDGET = 600
MOST = 200
"""More pieces of work than there are on any of these branches."""


def said(role: Role, number: int) -> Draft:
    return Draft(role=role, parts=(Text(text=f"Mira took the oar number {number} down to the boat in the morning."),))


def turns(first: int, count: int) -> list[Draft]:
    return [said("user" if number % 2 == 0 else "assistant", number) for number in range(first, first + count)]


async def memory() -> Memory:
    means = Resources(store=InMemoryStore(), count=lambda text: len(text) // 4 + 1, clock=ManualClock(), preset=POLICY)
    return Memory(means, "forks")


async def caught_up(session: Session) -> int:
    pieces = 0
    for _ in await progress_of(session.catch_up):
        pieces += 1
        assert pieces < MOST, "it catches up with the same again and again"
    return pieces


async def covered_once(session: Session) -> None:
    path = [message.id for message in await session.messages()]
    made = await session.context(BUDGET)
    due = 0
    for row in made.view:
        assert (row.first, row.last) == (path[due], path[due + row.covers - 1])
        due += row.covers
    assert due == len(path)


async def test_a_branch_behind_every_leaf_comes_to_an_end() -> None:
    main_branch = await (await memory()).session("story")
    await main_branch.append(turns(0, 64))
    await caught_up(main_branch)
    path = await main_branch.messages()
    for place in range(3, 48, 4):
        branch = await main_branch.fork(f"behind {place}", at=path[place].id)
        # The leaf that ends here would have gone on: what follows opens no turn.
        await branch.append(said("assistant", 1_000 + place))
        for number in range(0, 24, 6):
            await branch.append(turns(2_000 + 100 * place + number, 6))
            await caught_up(branch)
            assert await caught_up(branch) == 0
            assert (await branch.context(BUDGET)).behind == 0
            await covered_once(branch)
