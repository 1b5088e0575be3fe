"""What users say is read into memories exactly once, wherever a reader is broken off, and however many read at once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from ireneo import Draft
from ireneo.engine.intake import BATCH, IntakeReader
from ireneo.engine.models import Worker
from ireneo.engine.resources import Resources
from ireneo.log.message import Text
from ireneo.memories.facts import cardinality_of
from ireneo.memories.intake import StatedPart, stated_parts
from ireneo.memories.record import Record
from ireneo.memories.wording import distinctive_words
from ireneo.ports.memories import MemoryFilter
from ireneo.ports.store import Store, Transaction
from ireneo.testing.scripted import ManualClock

from .invariants.faults import BreakingStore, BrokenOffError, Fuse
from .invariants.houses import calm, every_store, housed, stores
from .invariants.promises import TOKENS

TOWNS = ("Porto", "Bergen", "Gdansk", "Tallinn", "Lugo")


def conversation(towns: Sequence[str]) -> list[Draft]:
    """A user who says again and again where she lives, and an agent who has no more to say than that."""
    return [
        Draft(role=role, parts=(Text(text=text),))
        for number, town in enumerate(towns)
        for role, text in (("user", f"I live in {town}."), ("assistant", f"Noted, that was number {number}."))
    ]


def means(store: Store) -> Resources:
    return Resources(store=store, count=TOKENS.count, clock=ManualClock())


async def hear(store: Store) -> int:
    """Read all that is due; says of how many pieces something was remembered."""
    listener = IntakeReader(means(store), Worker(store, ManualClock()), None)
    sessions = await store.read(lambda tx: tx.sessions.list("mine"))
    return sum([len(heard.remembered) for info in sessions async for heard in listener.session(info)])


def evidence(tx: Transaction) -> list[tuple[str, tuple[str, ...]]]:
    """What is remembered, and each message that was taken for it."""
    found: Sequence[Record] = tx.memories.list("mine", MemoryFilter())
    return sorted((each.text, piece.messages) for each in found for piece in each.evidence)


@calm(4)
@given(store=stores, towns=st.lists(st.sampled_from(TOWNS), min_size=1, max_size=4), data=st.data())
async def test_a_reader_that_is_broken_off_anywhere_has_read_all_or_nothing(
    store: str, towns: list[str], data: st.DataObject
) -> None:
    async with housed(store) as house:
        memory = await house.memory()
        await (await memory.session("talk")).append(conversation(towns))
        fuse = Fuse()
        breaking = BreakingStore(await house.store(), fuse)
        for _ in range(6):
            fuse.set(data.draw(st.integers(0, 60)))
            before = await breaking.store.read(evidence)
            try:
                await hear(breaking)
            except BrokenOffError:
                assert await breaking.store.read(evidence) in (before, [*_wanted(await _messages(memory))])
        fuse.set(None)
        await hear(breaking)
        assert await breaking.store.read(evidence) == _wanted(await _messages(memory))
        assert await hear(breaking) == 0


async def _messages(memory: object) -> list[tuple[str, str]]:
    session = await memory.session("talk")  # type: ignore[attr-defined]
    return [(message.id, message.text) for message in await session.messages()]


def _wanted(messages: Sequence[tuple[str, str]]) -> list[tuple[str, tuple[str, ...]]]:
    return sorted(
        (f"The user lives in {text.removeprefix('I live in ')}", (name,))
        for name, text in messages
        if text.startswith("I live")
    )


@every_store
async def test_readers_that_race_remember_what_one_does(store: str) -> None:
    async with housed(store) as house:
        memory = await house.memory()
        await (await memory.session("talk")).append(conversation(TOWNS * (BATCH // len(TOWNS) + 1)))
        stores = [await house.store() for _ in range(3)]
        counts = await asyncio.gather(*map(hear, stores))
        assert sum(counts) == len(_wanted(await _messages(memory)))
        assert await stores[0].read(evidence) == _wanted(await _messages(memory))


@calm(5)
@given(store=stores, cuts=st.lists(st.tuples(st.integers(0, 20), st.booleans()), min_size=1, max_size=4))
async def test_what_forks_share_is_read_once_and_what_a_rewind_left_unread_never(
    store: str, cuts: list[tuple[int, bool]]
) -> None:
    async with housed(store) as house:
        memory = await house.memory()
        session = await memory.session("talk")
        await session.append(conversation(TOWNS))
        read: dict[str, str] = {}
        its = await house.store()
        for number, (place, reads) in enumerate(cuts):
            if reads:
                await hear(its)
                read.update(await _messages(memory))
            path = await session.messages()
            await session.rewind(path[place % len(path)].id)
            await session.append(conversation([f"Town{number}"]))
        await hear(its)
        read.update(await _messages(memory))
        assert await its.read(evidence) == _wanted(list(read.items()))
        assert await hear(its) == 0


SAID = (
    "I live in Porto.",
    "I live in Bergen and work at Siemens.",
    "Anna lives in Lugo, and she works at Airbus.",
    "She is allergic to nuts and shellfish.",
    "My cat is called Otto!",
    "It is close to the sea.",
    "Ich wohne in Graz und arbeite bei Magna.",
    "Meine Schwester heißt Ute.",
    "The spare key is under the blue pot.",
    "If I moved to Lyon, I'd miss the harbour.",
    "Is the shop open?",
    "no longer in Rome",
)
SOME = st.lists(st.one_of(st.sampled_from(SAID), st.text(max_size=12)), min_size=1, max_size=5)


@given(said=SOME, between=st.sampled_from((" ", "\n", "\n- ", "  ", "\n\n")), speaker=st.sampled_from(("user", "")))
def test_the_parts_of_a_text_leave_nothing_out(said: list[str], between: str, speaker: str) -> None:
    text = between.join(said)
    parts = stated_parts(text, speaker)
    assert distinctive_words(text) <= {word for part in parts for word in distinctive_words(part.text)}
    one = [_slot(part) for part in parts if part.guess.attribute and cardinality_of(part.guess.attribute) == "one"]
    assert len(one) == len(set(one))
    assert all(part.text or part.text == text.strip() for part in parts)


def _slot(part: StatedPart) -> tuple[str, str, bool]:
    return part.guess.subject.casefold(), part.guess.attribute, part.guess.against


@calm(6)
@given(store=stores, said=st.lists(st.sampled_from(SAID), min_size=1, max_size=4))
async def test_a_text_that_is_remembered_again_adds_no_memory(store: str, said: list[str]) -> None:
    async with housed(store) as house:
        memory = await house.memory()
        text = " ".join(said)
        first = await memory.remember(text)
        held = await (await house.store()).read(
            lambda tx: {each.id for each in tx.memories.list("mine", MemoryFilter())}
        )
        again = await memory.remember(text)
        assert {each.record.id for each in (again, *again.more)} <= held
        assert len((first, *first.more)) == len((again, *again.more))
