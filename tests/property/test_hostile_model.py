"""Whatever a model says, what is stored is true, what binds still stands, and the rest is as it was without it."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest
from msgspec.structs import replace
from tests.examples import times
from tests.progress import progress_of
from tests.property.hostile.checks import decent, grounded, honest, pins_stand, written
from tests.property.hostile.model import HostileModel
from tests.property.hostile.sessions import told

import ireneo
from ireneo import CODING, Policy
from ireneo.testing.scripted import ScriptedLLM

SESSIONS = times(21)
"""Each model with each policy."""
PARTS = 2
NARROW = 450
ROOMY = (900, 1_200, 1_600)
"""From such budgets on there is room for six constraints beside all else."""
FINE = Policy(
    name="fine", leaf_min_atoms=2, leaf_max_atoms=5, leaf_max_tokens=1_500, fan_in=2, goal_min_turns=2, goal_max_turns=3
)
DEEP = Policy(name="deep", leaf_min_atoms=2, leaf_max_atoms=3, fan_in=2, goal_min_turns=1, goal_max_turns=2, eager=True)
POLICIES = (FINE, DEEP, CODING)


class Quarters:
    """Counts four characters a token: here it matters what is said, and not what it costs."""

    name = "quarters"

    def count(self, text: str) -> int:
        return (len(text) + 3) // 4


@pytest.mark.parametrize("part", range(PARTS))
def test_what_a_hostile_model_says_is_not_believed(part: int) -> None:
    outcomes: Counter[str] = Counter()
    for seed in range(part, SESSIONS, PARTS):
        asyncio.run(_session(seed, outcomes))
    # The lies were told, some were kept out line by line, and truths between them came through.
    assert outcomes["offline"] > 1
    assert outcomes["repaired"] > 1


async def _session(seed: int, outcomes: Counter[str]) -> None:
    # Short stretches, so that much is asked.
    planted, policy = told(seed), replace(POLICIES[seed % len(POLICIES)], notes_window=1_500)
    roomy = ROOMY[seed // 7 % len(ROOMY)]
    model = ScriptedLLM(HostileModel(seed, truth=0.1 + 0.8 * (seed % 7) / 6), name="hostile")
    async with ireneo.open(":memory:", model=model, tokens=Quarters()) as memory:
        session = await memory.session("run")
        await session.append(planted.drafts)
        for each in await progress_of(session.summarise, roomy, preset=policy):
            outcomes[each.did] += 1
        path = await session.messages()
        for summary in await written(session):
            grounded(summary, path)
            decent(summary, path)
            honest(summary, path)
        for budget in (NARROW, roomy):
            context = await session.context(budget, preset=policy)
            pins_stand(context, planted.standing, planted.lifted, roomy=budget > NARROW)
