"""No call with one space ever reads or writes another."""

from __future__ import annotations

import pytest
from hypothesis import given

from ireneo import BadInput

from .houses import House, calm, every_store, live_in
from .journeys import Look, looks
from .material import Teller, scripts
from .promises import strings


@every_store
@calm(12)
@given(steps=scripts(max_size=4), others=scripts(max_size=4), look=looks)
def test_spaces_with_the_same_session_names_never_meet(
    store: str, steps: list[str], others: list[str], look: Look
) -> None:
    async def work(house: House) -> None:
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

    live_in(store, work)


@every_store
def test_an_id_of_one_space_opens_nothing_in_another(store: str) -> None:
    async def work(house: House) -> None:
        mine, theirs = await house.memory("mine"), await house.memory("theirs")
        session, other = await mine.session("run"), await theirs.session("run")
        await session.append(Teller("mine").tell(["ask", "work", "answer", "ask", "work"]))
        await other.append("Something else.")
        view = (await session.context(400)).view
        assert any(row.what == "summary" for row in view)
        for row in view:
            with pytest.raises(BadInput):
                await other.expand(row.id)

    live_in(store, work)
