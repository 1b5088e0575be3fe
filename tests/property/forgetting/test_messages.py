"""Any messages of any tree may be forgotten: nothing of them is left, and all that is promised of contexts holds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.property.forgetting.material import MARK, all_told, learn_from, marks_of, needles, opened, raw, settle_in
from tests.property.invariants.houses import House, calm, housed, stores
from tests.property.invariants.material import FORMATS, TINY, Teller, places, scripts
from tests.property.invariants.promises import bounded, exactly_once, in_place, strings, user_words, valid, whole_atoms

from ireneo import Memory, Message, Session
from ireneo.log.message import erase
from ireneo.log.tree import SessionKey
from ireneo.ports.store import Store, Transaction

KEY = SessionKey("mine", "run")
some_places = st.lists(places, min_size=1, max_size=4)


async def grown(house: House, steps: list[str], more: list[str], fork: int) -> tuple[Memory, Store, list[Message]]:
    """A session with two branches and all that hangs on them, and its messages."""
    memory, store = await opened(house)
    session = await memory.session("run")
    await settle_in(session, steps, Teller("main"))
    path = list(await session.messages())
    await session.pin(f"Keep {' '.join(marks_of(path[fork % len(path)].draft)[:2])} in mind, whatever happens.")
    await session.fork("side", at=path[fork % len(path)].id)
    side = await memory.session("run", branch="side")
    await settle_in(side, more, Teller("side"))
    await learn_from(store, path, "run")
    everything = {message.id: message for message in [*path, *await side.messages()]}
    drafts = await store.read(lambda tx: tx.log.drafts(KEY, list(everything)))
    return memory, store, [replace(message, draft=drafts[message.id]) for message in everything.values()]


async def all_promises(session: Session, place: int) -> None:
    """What is promised of every context, narrow ones and wide ones in turn in every format."""
    path = await session.messages()
    for number, to in enumerate(FORMATS):
        budget = (700, 4_000)[(number + place) % 2]
        context = await session.context(budget, to=to, preset=TINY)
        exactly_once(context, path)
        in_place(context, path)
        whole_atoms(context, path)
        valid(context)
        bounded(context, budget)
        await user_words(session, context, path)


@calm(4)
@given(store=stores, steps=scripts(max_size=4), more=scripts(max_size=2), fork=places, chosen=some_places)
async def test_nothing_of_a_forgotten_message_is_left(
    store: str, steps: list[str], more: list[str], fork: int, chosen: list[int]
) -> None:
    async with housed(store) as house:
        memory, place, messages = await grown(house, steps, more, fork)
        # What was composed before is at hand in these, and must not be shown again.
        used = {branch: await memory.session("run", branch=branch) for branch in ("main", "side")}
        for session in used.values():
            await session.context(4_000, to="openai", preset=TINY)
        gone = {messages[each % len(messages)].id: messages[each % len(messages)] for each in chosen}
        for name in gone:
            receipt = await memory.forget(message=name)
            assert receipt.complete, receipt.note
            assert receipt.what.messages == 1
        words = {mark for message in gone.values() for mark in marks_of(message.draft)}
        left = {mark for message in messages if message.id not in gone for mark in marks_of(message.draft)}

        def look(tx: Transaction) -> None:
            assert not (words - left) & set(MARK.findall(all_told(tx, KEY)))
            assert list(tx.upkeep.faults()) == []
            # What is left is learned from anew.
            assert (list(tx.runs.list("mine")), list(tx.ledger.list("mine"))) == ([], [])

        await place.read(look)
        if house.kind == "sqlite":
            found = raw(house.folder)
            kept = set(needles([message for message in messages if message.id not in gone]))
            assert not [needle for needle in needles(list(gone.values())) if needle not in kept and needle in found]
        for branch in ("main", "side"):
            session = used[branch]
            stored = {message.id: message for message in await session.messages()}
            for message in messages:
                if message.id in stored:
                    wanted = erase(message) if message.id in gone else message
                    assert stored[message.id].parts == wanted.parts
                    assert stored[message.id].total_tokens == message.total_tokens
            await all_promises(session, fork)
            seen = await session.context(4_000, to="openai", preset=TINY)
            told = " ".join(strings([seen.system, seen.messages]))
            assert not (words - left) & set(MARK.findall(told))
        # Two windows of one session may overlap in a block without any erasure.
        faults = [each.text for each in await memory.doctor() if each.kind == "fault"]
        assert [each for each in faults if " both cover message " not in each] == []
