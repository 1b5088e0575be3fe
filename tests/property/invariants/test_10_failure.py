"""A context that can't be made or kept changes nothing: the next one is what it would have been."""

from __future__ import annotations

from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from ireneo import Memory

from .houses import House, calm, every_store, live_in
from .journeys import Look, looks
from .material import Teller, scripts
from .promises import TOKENS
from .test_09_crash_safe import Fuse, FusedStore, StoppedError


@every_store
@calm(25)
@given(steps=scripts(max_size=6), look=looks, calls=st.integers(0, 40))
def test_a_context_that_failed_leaves_the_next_as_it_was(store: str, steps: list[str], look: Look, calls: int) -> None:
    async def work(house: House) -> None:
        told = Teller().tell(steps)
        failing = await (await house.memory()).session("failing")
        sound = await (await house.memory()).session("sound")
        await failing.append(told)
        await sound.append(told)
        fused = Memory(FusedStore(await house.store(), Fuse(calls)), TOKENS, "mine")  # type: ignore[arg-type]
        with suppress(StoppedError):
            await look.at(await fused.session("failing"))
        after, undisturbed = await look.at(failing), await look.at(sound)
        assert after.messages == undisturbed.messages
        assert after.view == undisturbed.view
        assert [message.id for message in await failing.messages()] == [m.id for m in await sound.messages()]

    live_in(store, work)
