"""A context that fails leaves the store as it was, and the next one is what it would have been."""

from __future__ import annotations

from hypothesis import given

from ireneo import Session

from .faults import BreakingStore, BrokenOffError, Fuse, everything
from .houses import calm, housed, memory_over, stores
from .journeys import Journey, Look, journeys
from .material import PRESETS, Teller, places

FAMILIES = (
    "offline-1/coding",
    "offline-1/forge",
    *(preset.summarizer for preset in PRESETS if not isinstance(preset, str)),
)


async def failing(session: Session, look: Look) -> bool:
    """Look at a session through a store that may break."""
    try:
        await look.at(session)
    except BrokenOffError:
        return True
    return False


@calm(4)
@given(store=stores, journey=journeys(legs=5, size=3), at=places)
async def test_a_failing_context_is_as_if_it_had_not_been_asked_for(store: str, journey: Journey, at: int) -> None:
    async with housed(store) as house:
        fuse, inner = Fuse(), await house.store()
        session = await memory_over(BreakingStore(inner, fuse)).session("run")
        teller, twins = Teller(), Teller()
        async with _twin() as twin:
            for number, leg in enumerate(journey.legs):
                await session.append(teller.tell(leg.steps))
                await twin.append(twins.tell(leg.steps))
                looks = [journey.usual, *([leg.besides] if leg.besides else [])]
                for look in looks:
                    before = await inner.read(everything, "mine", FAMILIES, (look.budget,))
                    fuse.set((at + 7 * number) % 30)
                    failed = await failing(session, look)
                    after = await inner.read(everything, "mine", FAMILIES, (look.budget,))
                    fuse.set(None)
                    # The same session object goes on, with what it keeps at hand.
                    assert (await look.at(session)).messages == (await look.at(twin)).messages
                    done = await inner.read(everything, "mine", FAMILIES, (look.budget,))
                    assert after in (before, done) if failed else after == done


def _twin() -> _Twin:
    return _Twin()


class _Twin:
    """The same session where nothing fails."""

    async def __aenter__(self) -> Session:
        import ireneo

        self._open = ireneo.open(":memory:", space="mine")
        return await (await self._open.__aenter__()).session("run")

    async def __aexit__(self, *_: object) -> None:
        await self._open.__aexit__(None, None, None)
