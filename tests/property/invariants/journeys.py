"""Sessions that grow and are looked at on the way: through one window mostly, now and then through another."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from hypothesis import strategies as st
from msgspec import Struct

from ireneo import Context, Message, Policy, Session

from .houses import House, live_in
from .material import Teller, budgets, formats, pads, presets, scripts


class Look(Struct, frozen=True):
    """What a context is asked for."""

    budget: int
    preset: str | Policy
    to: str

    async def at(self, session: Session) -> Context:
        """The context."""
        return await session.context(self.budget, to=self.to, preset=self.preset)


class Leg(Struct, frozen=True):
    """What happens next, and how it is looked at then besides the usual."""

    steps: list[str]
    besides: Look | None
    pad: tuple[str, ...]
    """What the agent writes into its scratchpad before; nothing: it leaves it as it is."""


class Journey(Struct, frozen=True):
    """A session's growth."""

    usual: Look
    legs: list[Leg]


Check = Callable[[Session, Context, Sequence[Message]], Awaitable[None]]

looks = st.builds(Look, budgets, presets, formats)


def journeys(*, legs: int = 4, size: int = 5) -> st.SearchStrategy[Journey]:
    """Sessions that grow in a few legs."""
    each = st.builds(Leg, scripts(max_size=size), st.none() | looks, pads)
    return st.builds(Journey, looks, st.lists(each, min_size=1, max_size=legs))


def travel(store: str, journey: Journey, check: Check) -> None:
    """Make the journey in an empty store, and check every context on the way."""

    async def work(house: House) -> None:
        memory = await house.memory()
        session = await memory.session("run")
        teller = Teller()
        for leg in journey.legs:
            await session.append(teller.tell(leg.steps))
            if leg.pad:
                await memory.scratchpad("run").write(goal=leg.pad[0], plan=leg.pad[1:])
            path = await session.messages()
            for look in (journey.usual, leg.besides):
                if look is not None:
                    await check(session, await look.at(session), path)

    live_in(store, work)
