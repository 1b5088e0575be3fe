"""Every path, name, number, error and quotation in an offline or a written summary occurs in its sources."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st
from tests.property.hostile.checks import decent, grounded, stored, written
from tests.property.hostile.model import HostileModel

from ireneo import Context, Memory, Message, Session
from ireneo.engine.models import Models
from ireneo.engine.resources import Resources
from ireneo.testing.scripted import ManualClock, ScriptedLLM

from .houses import calm, housed, stores
from .journeys import Journey, Look, journeys, looks, travel
from .material import Teller, scripts
from .promises import TOKENS


@calm(4)
@given(store=stores, journey=journeys(legs=3))
def test_what_an_offline_summary_says_stands_in_its_sources(store: str, journey: Journey) -> None:
    async def check(session: Session, context: Context, path: Sequence[Message]) -> None:
        for summary in await stored(session):
            grounded(summary, path)

    travel(store, journey, check)


@calm(4)
@given(store=stores, steps=scripts(), look=looks, seed=st.integers(0, 1_000), truth=st.floats(0.1, 0.9))
async def test_what_a_model_wrote_stands_in_its_sources(
    store: str, steps: list[str], look: Look, seed: int, truth: float
) -> None:
    async with housed(store) as house:
        model = ScriptedLLM(HostileModel(seed, truth=truth), name="hostile")
        means = Resources(store=await house.store(), count=TOKENS.count, clock=ManualClock(), models=Models.of(model))
        session = await Memory(means, "mine").session("run")
        await session.append(Teller().tell(steps))
        await session.summarise(look.budget, preset=look.preset)
        path = await session.messages()
        for summary in await written(session):
            grounded(summary, path)
            decent(summary, path)
