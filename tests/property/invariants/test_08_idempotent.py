"""What is offered twice, or by two at once, is stored once; the same head and budget give the same context."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st
from tests.progress import progress_of

import ireneo
from ireneo import Context, Draft, Memory, Message, Session, chat_format, log_format
from ireneo.engine.append import Appended
from ireneo.formats.chat.format import Payload
from ireneo.log.message import BLOCK_TAGS, chain
from ireneo.log.tree import ROOT

from .houses import House, calm, housed, live_in, stores, transcript, written_in
from .journeys import Journey, Look, journeys, looks, travel
from .material import LOGGED, Teller, scripts
from .promises import exactly_once, valid

names = st.sampled_from(LOGGED)


async def path_of(memory: Memory) -> Sequence[Message]:
    return await (await memory.session("run")).messages()


async def take_in(memory: Memory, lines: Sequence[bytes], name: str) -> int:
    """Import a log; says how much of it was new."""
    return sum([done.new for done in await progress_of(memory.import_log, lines, log_format(name), name="run")])


@calm(4)
@given(store=stores, steps=scripts(max_size=6), cut=st.integers(0, 100), name=names, look=looks)
async def test_a_history_that_is_offered_again_after_the_root_is_stored_once(
    store: str, steps: list[str], cut: int, name: str, look: Look
) -> None:
    messages = written_in(name, Teller().tell(["ask", *steps]))

    async with housed(store) as house:
        memory = await house.memory()
        session = await memory.session("run")
        early = messages[: 1 + cut % len(messages)]
        first = await session.append(early, format=name, after=ROOT)
        await look.at(session)
        whole = await session.append(messages, format=name, after=ROOT)
        context = await look.at(session)
        for again in (session, await (await house.memory()).session("run")):
            assert (await again.append(messages, format=name, after=ROOT)) == Appended(ids=whole.ids, new=0)
            assert (await again.append(early, format=name, after=ROOT)).new == 0
            assert [message.id for message in await again.messages()] == list(whole.ids)
            assert (await look.at(again)).messages == context.messages
        info = (await memory.sessions())[0]
        assert info.messages == len(whole.ids) == first.new + whole.new


@calm(4)
@given(store=stores, steps=scripts(max_size=6), more=scripts(max_size=3), name=st.sampled_from(LOGGED), look=looks)
async def test_a_log_that_is_imported_again_changes_nothing(
    store: str, steps: list[str], more: list[str], name: str, look: Look
) -> None:
    teller = Teller()
    drafts = teller.tell(["ask", *steps])
    early = transcript(name, drafts)
    whole = transcript(name, [*drafts, *teller.tell(["ask", *more])])

    async with housed(store) as house:
        memory = await house.memory()
        assert await take_in(memory, early, name) > 0
        await look.at(await memory.session("run"))
        await take_in(memory, whole, name)
        path = await path_of(memory)
        context = await look.at(await memory.session("run"))
        for again in (memory, await house.memory()):
            for lines in (whole, early):
                assert await take_in(again, lines, name) == 0
            assert await path_of(again) == path
            assert (await look.at(await again.session("run"))).messages == context.messages


@calm(4)
@given(store=stores, steps=scripts(max_size=4), more=scripts(max_size=2), place=st.integers(0, 100))
async def test_a_log_that_is_imported_again_leaves_the_branch_where_its_user_took_it(
    store: str, steps: list[str], more: list[str], place: int
) -> None:
    lines = transcript("openai", Teller("log").tell(["ask", *steps]))

    async with housed(store) as house:
        memory = await house.memory()
        await take_in(memory, lines, "openai")
        session = await memory.session("run")
        path = await session.messages()
        await session.rewind(path[place % len(path)].id)
        await session.append(Teller("user").tell(["ask", *more]))
        mine = await session.messages()
        await take_in(memory, lines, "openai")
        assert await session.messages() == mine


@calm(4)
@given(store=stores, steps=scripts(max_size=5), tails=st.lists(scripts(max_size=2), min_size=2, max_size=2), look=looks)
def test_two_processes_at_once_store_what_they_share_once(
    store: str, steps: list[str], tails: list[list[str]], look: Look
) -> None:
    shared = Teller("shared").tell(["ask", *steps])
    own = [Teller(f"own{number}").tell(["ask", *tail]) for number, tail in enumerate(tails)]
    lines = transcript("openai", Teller("log").tell(["ask", *steps]))

    async def one(memory: Memory, session: Session, drafts: list[Draft]) -> Context:
        await session.append(shared, after=ROOT)
        await look.at(session)
        await session.append([*shared, *drafts], after=ROOT)
        await take_in(memory, lines, "openai")
        return await look.at(session)

    async def work(house: House) -> None:
        memories = [await house.memory(), await house.memory()]
        # Before the first append a session has no branches, and may begin on any.
        sessions = [await each.session("both", branch=on) for each, on in zip(memories, ("main", "try"), strict=True)]
        await asyncio.gather(*(one(*each) for each in zip(memories, sessions, own, strict=True)))
        counts = {info.key.session: info.messages for info in await memories[0].sessions()}
        assert counts["both"] == len(shared) + sum(map(len, own))
        for branch, drafts in zip(("main", "try"), own, strict=True):
            paths = [await (await memory.session("both", branch=branch)).messages() for memory in memories]
            assert paths[0] == paths[1]
            assert [message.parts for message in paths[0]] == [draft.parts for draft in [*shared, *drafts]]

    live_in(store, work)


@calm(4)
@given(store=stores, journey=journeys(legs=5, size=3))
async def test_another_process_sees_the_same_context(store: str, journey: Journey) -> None:
    async with housed(store) as house:
        session = await (await house.memory()).session("run")
        teller = Teller()
        for leg in journey.legs:
            await session.append(teller.tell(leg.steps))
            for look in (journey.usual, leg.besides or journey.usual):
                context = await look.at(session)
                other = await (await house.memory()).session("run")
                assert (await look.at(other)).messages == context.messages
                assert (await look.at(session)).messages == context.messages


def test_both_stores_give_the_same_contexts() -> None:
    @calm(4)
    @given(journey=journeys())
    def compare(journey: Journey) -> None:
        found: dict[str, list[Context]] = {"in memory": [], "sqlite": []}
        for store, contexts in found.items():

            async def keep(session: object, context: Context, path: object, into: list[Context] = contexts) -> None:
                into.append(context)

            travel(store, journey, keep)
        assert found["in memory"] == found["sqlite"]

    compare()


@calm(14)
@given(steps=scripts(), look=looks, smaller=looks)
def test_what_was_compacted_can_be_compacted_again(steps: list[str], look: Look, smaller: Look) -> None:
    payload = chat_format(look.to).encode(Teller().tell(["ask", *steps]))
    once = ireneo.compact(payload, look.budget, preset=look.preset)
    written = Payload(messages=once.messages, system=once.system)
    same = ireneo.compact(written, look.budget, to=look.to, preset=look.preset)
    assert same.tokens <= look.budget
    valid(same)
    assert len(openers(same)) == len(set(openers(same))), "a block is told twice"
    twice = ireneo.compact(written, smaller.budget, to=look.to, preset=smaller.preset)
    assert twice.tokens <= smaller.budget
    valid(twice)
    path = chain(None, chat_format(look.to).decode(written), lambda parts: (0, 0))
    exactly_once(twice, path)
    # Nothing else is left of what a block covers: it stands as it is, shortened, or under a goal's summary.
    places = {message.id: message.position for message in path}
    for row in twice.view:
        covered = path[places[row.first] : places[row.last] + 1]
        if row.what == "summary" and row.level == "turn":
            assert not any(message.draft.origin == "summary" for message in covered)


def openers(context: Context) -> list[str]:
    """The lines that open the blocks of a context."""
    return [line for row in context.view for line in row.text.splitlines() if line.startswith(BLOCK_TAGS)]
