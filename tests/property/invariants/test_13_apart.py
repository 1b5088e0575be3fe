"""No call with one space ever reads or writes another."""

from __future__ import annotations

from collections.abc import Awaitable
from datetime import UTC, datetime

import pytest
from hypothesis import given
from msgspec.structs import replace

from ireneo import BadInput, Context, Session

from .faults import everything
from .houses import House, calm, every_store, housed, live_in, stores
from .journeys import Journey, Look, journeys, looks
from .material import Teller, scripts
from .promises import strings

NOON = datetime(2031, 5, 1, 12, tzinfo=UTC)


@calm(4)
@given(store=stores, steps=scripts(max_size=4), others=scripts(max_size=4), look=looks)
async def test_spaces_with_the_same_session_names_never_meet(
    store: str, steps: list[str], others: list[str], look: Look
) -> None:
    async with housed(store) as house:
        mine, theirs = await house.memory("mine"), await house.memory("theirs")
        told, theirs_told = Teller("mine").tell(steps), Teller("theirs").tell(others)
        session, other = await mine.session("run"), await theirs.session("run")
        await session.append(told)
        assert list(await theirs.sessions()) == []
        await other.append(theirs_told)
        for each, foreign in ((session, "theirs_"), (other, "mine_")):
            context = await look.at(each)
            assert foreign not in " ".join(strings([context.system, context.messages]))
            assert foreign not in " ".join(row.text for row in context.view)
        ids = [message.id for message in await session.messages()]
        await other.rewind("root")
        assert [message.id for message in await session.messages()] == ids
        assert (await mine.sessions())[0].messages == len(told)


@calm(4)
@given(store=stores, journey=journeys(legs=4, size=3))
def test_a_space_is_as_if_it_were_alone_even_beside_the_same_words(store: str, journey: Journey) -> None:
    """The same contents have the same ids in every space: nothing else may keep them apart but the space."""

    async def live(house: House, spaces: tuple[str, ...]) -> tuple[list[Context], object]:
        sessions = [await (await house.memory(space)).session("run") for space in spaces]
        tellers = [Teller() for _ in spaces]
        contexts: list[Context] = []
        for number, leg in enumerate(journey.legs):
            for session, teller in zip(sessions, tellers, strict=True):
                # The others go on when the first has stopped looking, and are looked at more often.
                if session is sessions[0] or number % 2:
                    # At a time of their own, since both ways are compared.
                    await session.append([replace(each, at=NOON) for each in teller.tell(leg.steps)])
                for look in (journey.usual, leg.besides) if session is sessions[0] else (leg.besides, journey.usual):
                    context = await look.at(session) if look else None
                    contexts += [context] if context and session is sessions[0] else []
        summarizer = f"offline-1/{getattr(journey.usual.preset, 'name', journey.usual.preset)}"
        return contexts, await (await house.store()).read(everything, "mine", (summarizer,), (journey.usual.budget,))

    found: list[tuple[list[Context], object]] = []

    async def alone(house: House) -> None:
        found.append(await live(house, ("mine",)))

    async def beside_others(house: House) -> None:
        found.append(await live(house, ("mine", "theirs", "ours")))

    live_in(store, alone)
    live_in(store, beside_others)
    assert found[0] == found[1]


@every_store
async def test_an_id_of_one_space_opens_nothing_in_another(store: str) -> None:
    async with housed(store) as house:
        mine, theirs = await house.memory("mine"), await house.memory("theirs")
        session, other = await mine.session("run"), await theirs.session("run")
        await session.append(Teller("mine").tell(["ask", "work", "answer", "ask", "work"]))
        await other.append("Something else.")
        before = [message.id for message in await other.messages()]
        view = (await session.context(400)).view
        assert any(row.what == "summary" for row in view)
        for row in view:
            await refuses(other.expand(row.id))
        foreign = (await session.messages())[0].id
        for attempt in (other.append("More.", after=foreign), other.rewind(foreign), other.fork("try", at=foreign)):
            await refuses(attempt)
        assert [message.id for message in await other.messages()] == before
        assert list(await other.branches()) == ["main"]


async def refuses(attempt: Awaitable[object]) -> None:
    with pytest.raises(BadInput):
        await attempt


@every_store
async def test_a_session_of_one_space_is_not_there_in_another(store: str) -> None:
    async with housed(store) as house:
        await (await (await house.memory("mine")).session("run")).append("Mine.")
        stranger = await house.memory("theirs")
        with pytest.raises(BadInput):
            await stranger.session("run", must_exist=True)
        session: Session = await stranger.session("run")
        assert await session.messages() == ()
        assert (await session.context(1_000)).messages == []
