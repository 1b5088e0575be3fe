"""The same append, import or context, offered twice or by two processes at once, is stored once."""

from __future__ import annotations

import asyncio

from hypothesis import given
from hypothesis import strategies as st

import ireneo
from ireneo import ROOT

from .houses import House, calm, every_store, live_in, transcript, written_in
from .journeys import Look, looks
from .material import FORMATS, Teller, scripts
from .promises import bounded, valid


@every_store
@calm(15)
@given(steps=scripts(max_size=5), more=scripts(max_size=3))
def test_a_history_offered_again_is_stored_once(store: str, steps: list[str], more: list[str]) -> None:
    async def work(house: House) -> None:
        teller = Teller()
        history = teller.tell(steps)
        session = await (await house.memory()).session("run")
        first = await session.append(history, after=ROOT)
        again = await session.append(history, after=ROOT)
        assert (first.new, again.new, again.ids) == (len(history), 0, first.ids)
        grown = [*history, *teller.tell(more)]
        assert (await session.append(grown, after=ROOT)).new == len(grown) - len(history)
        # What is behind the head already does not move it back.
        assert (await session.append(history, after=ROOT)).new == 0
        assert len(await session.messages()) == len(grown)

    live_in(store, work)


@every_store
@calm(8)
@given(steps=scripts(max_size=4), look=looks)
def test_two_processes_that_offer_the_same_at_once_store_it_once(store: str, steps: list[str], look: Look) -> None:
    async def work(house: House) -> None:
        history = Teller().tell(steps)
        sessions = [await (await house.memory()).session("run") for _ in range(2)]
        done = await asyncio.gather(*(session.append(history, after=ROOT) for session in sessions))
        assert sum(each.new for each in done) == len(history)
        contexts = await asyncio.gather(*(look.at(session) for session in sessions))
        assert contexts[0].messages == contexts[1].messages
        info = (await (await house.memory()).sessions())[0]
        assert info.messages == len(history)

    live_in(store, work)


@every_store
@calm(8)
@given(steps=scripts(max_size=4), grown=scripts(max_size=2), to=st.sampled_from(FORMATS))
def test_a_log_imported_again_brings_only_what_is_new(store: str, steps: list[str], grown: list[str], to: str) -> None:
    async def work(house: House) -> None:
        memory = await house.memory()
        teller = Teller()
        told = teller.tell(["ask", *steps])
        log = ireneo.log_format(to)
        for expected in (None, 0):
            async for done in memory.import_log(transcript(to, told), log, name="run.json"):
                assert done.new == (done.messages if expected is None else expected)
        longer = [*told, *teller.tell(["ask", *grown])]
        async for done in memory.import_log(transcript(to, longer), log, name="run.json"):
            session = await memory.session(done.session, must_exist=True)
            assert len(await session.messages()) == done.messages
        async for done in memory.import_log(transcript(to, longer), log, name="run.json"):
            assert done.new == 0

    live_in(store, work)


@every_store
@calm(12)
@given(steps=scripts(max_size=6), look=looks)
def test_a_context_is_the_same_for_whoever_asks_and_however_often(store: str, steps: list[str], look: Look) -> None:
    async def work(house: House) -> None:
        session = await (await house.memory()).session("run")
        await session.append(Teller().tell(steps))
        first = await look.at(session)
        assert (await look.at(session)).messages == first.messages
        stranger = await (await house.memory()).session("run")
        assert (await look.at(stranger)).messages == first.messages

    live_in(store, work)


@calm(25)
@given(steps=scripts(max_size=6), look=looks)
def test_what_was_compacted_can_be_compacted_again(steps: list[str], look: Look) -> None:
    messages = written_in(look.to, Teller().tell(["ask", *steps]))
    once = ireneo.compact(messages, look.budget, to=look.to)
    twice = ireneo.compact({"messages": once.messages, "system": once.system}, max(look.budget // 2, 256), to=look.to)
    valid(twice)
    bounded(twice, max(look.budget // 2, 256))
