"""What a character was not present for reaches her in no way, at no depth, and no model that writes for her."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.property.invariants.houses import calm, housed, stores

from ireneo import Draft, Policy
from ireneo.log.message import Text, heard_by

from .checks import caught_up, shape, sound, twin_context
from .fickle import FickleLLM, memory_with
from .material import MARK, SMALL, TINY_STORY, Storyteller, budgets, formats, heard, places
from .test_story_work import worked

CHARACTERS = st.sampled_from(["Vera", "Tom", "Nobody"])
ALONE = ("Holm and Tom alone", "Vera and Holm alone", "Vera thinks", "scene", "chat", "promise", "tool")


def enters(character: str) -> Draft:
    """Nobody but `character` is there: only one of whom the story knows has a memory."""
    return Draft(role="user", parts=(Text(text="Nobody here.", author=character, present=(character,)),))


private = st.lists(st.sampled_from(ALONE), min_size=8, max_size=24)


@calm(3)
@given(store=stores, pieces=private, character=CHARACTERS, budget=budgets, to=formats, place=places)
async def test_nothing_that_she_did_not_hear_is_in_her_context_or_in_a_prompt(
    store: str, pieces: list[str], character: str, budget: int, to: str, place: int
) -> None:
    async with housed(store) as house:
        inner, model = await house.store(), FickleLLM()
        memory = memory_with(inner, model)
        policy = TINY_STORY.seen(character)
        session = await memory.session("run")
        await session.append([enters(character), *Storyteller().tell(pieces)])
        for look in (budget, 500):
            context = await session.context(look, to=to, preset=TINY_STORY, viewpoint=character)
            sound(context, await session.messages(), look, character)
        await worked(memory, policy)
        path = await session.messages()
        known = heard(path, character)
        for prompt in model.prompts:
            assert set(MARK.findall(prompt.user + prompt.system)) <= known
        # Back, and on in another way.
        await session.rewind(path[place % len(path)].id)
        await session.append(Storyteller(2).tell([*pieces[:6], "chats"]))
        await worked(memory, policy)
        path = await session.messages()
        for look in (budget, 500):
            context = await session.context(look, to=to, preset=TINY_STORY, viewpoint=character)
            sound(context, path, look, character)
            assert context.behind == 0
        stored = await inner.read(lambda tx: tx.summaries.get(session.key, tx.upkeep.summaries(session.key)))
        hers = [each for each in stored if f"/as/{character}" in each.summarizer]
        both = heard(path, character) | known
        assert set(MARK.findall(str([(each.sections, each.threads) for each in hers]))) <= both


@calm(3)
@given(store=stores, pieces=private, more=private, character=CHARACTERS, place=places)
async def test_her_context_after_a_rewind_is_that_of_a_session_that_was_never_rewound(
    store: str, pieces: list[str], more: list[str], character: str, place: int
) -> None:
    async with housed(store) as house:
        memory = await house.memory()
        policy = TINY_STORY.seen(character)
        session = await memory.session("run")
        await session.append([enters(character), *Storyteller().tell(pieces)])
        await caught_up(session, policy)
        path = await session.messages()
        await session.rewind(path[place % len(path)].id)
        for drafts in ([], Storyteller(2).tell(more)):
            await session.append(drafts)
            await caught_up(session, policy)
            context = await session.context(500, preset=policy)
            fresh = await twin_context([message.draft for message in await session.messages()], 500, "openai", policy)
            assert shape(context) == shape(fresh)
            assert context.messages == fresh.messages


async def test_one_who_hears_one_word_in_thirty_is_caught_up_with_too() -> None:
    async with housed() as house:
        memory = await house.memory()
        policy = TINY_STORY.seen("Vera")
        session = await memory.session("run")
        teller = Storyteller()
        for _ in range(18):
            await session.append(teller.tell(["Holm and Tom alone"] * 12 + ["Vera thinks"]))
        assert await caught_up(session, policy) >= 1
        context = await session.context(500, preset=policy)
        path = await session.messages()
        sound(context, path, 500, "Vera")
        assert context.behind == 0
        assert [row.depth for row in context.view if row.what == "summary"]


async def test_the_work_tells_no_story_of_somebody_called_open() -> None:
    """What is stored besides, to be opened from one context, is the memory of nobody."""

    async with housed() as house:
        inner, model = await house.store(), FickleLLM()
        memory = memory_with(inner, model)
        session = await memory.session("run")
        wide = Policy(name="story", story=SMALL, live_share=0.3)
        await session.append(Storyteller().tell(["chats", "scene", "chats", "huge", "chats"]))
        await session.context(256, preset=wide, viewpoint="Vera")
        await memory.work(until_idle=True)
        summarizers = await inner.read(lambda tx: tx.summaries.summarizers(session.key))
        assert any(summarizer.endswith("/as/Vera/open") for summarizer in summarizers)
        assert not any("open" in summarizer and "story-1" in summarizer for summarizer in summarizers)
        assert all(heard_by(message.draft, "Vera") for message in await session.messages())
