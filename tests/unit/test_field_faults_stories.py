"""Faults that users of other systems reported of long conversations: each test holds one off."""

from __future__ import annotations

import asyncio
import json

import pytest
from tests.progress import progress_of
from tests.property.stories.checks import each_stands_once, seen, stored_once
from tests.property.stories.fickle import FickleLLM, memory_with
from tests.property.stories.material import TINY_STORY, Storyteller, marks

from ireneo import Memory, Session
from ireneo.adapters.in_memory import InMemoryStore
from ireneo.ports.store import Transaction

STORY = ("instruct", "chats", "scene", "chats", "promise", "chats", "scene", "chats")


async def begun(model: FickleLLM, store: InMemoryStore) -> tuple[Memory, Session]:
    memory = memory_with(store, model)
    session = await memory.session("run")
    await session.append(Storyteller().tell(STORY))
    return memory, session


async def worked(memory: Memory) -> list[str]:
    return [each.did for each in await progress_of(memory.work, until_idle=True, preset=TINY_STORY)]


async def test_what_is_summarised_is_not_shown_beside_its_summary() -> None:
    """Summaries were made and their sources never taken out: both were sent, and the context grew."""
    memory, session = await begun(FickleLLM(), InMemoryStore())
    whole = (await session.messages())[-1].total_tokens
    for look in range(2):
        context = await session.context(700, preset=TINY_STORY)
        each_stands_once(context, await session.messages())
        live = {row.first for row in context.view if row.what == "message"}
        covered = [row for row in context.view if row.what == "summary"]
        assert covered, look
        assert context.tokens < whole / 2
        for row in covered:
            opened = await session.expand(row.id)
            assert not live & {message.id for message in opened.messages}
        await worked(memory)


@pytest.mark.parametrize("mood", ["fails", "refuses", "times out", "bad reply", "out of money"])
async def test_a_failed_compaction_moves_nothing_on(mood: str) -> None:
    """A compaction failed, and the place up to which it was done moved on all the same: the stretch was lost."""
    model, store = FickleLLM(), InMemoryStore()
    memory, session = await begun(model, store)
    model.mood = mood
    before = await session.context(700, preset=TINY_STORY)
    assert "failed" in await worked(memory)
    after = await session.context(700, preset=TINY_STORY)
    each_stands_once(after, await session.messages())
    assert after.messages == before.messages
    due = await session.due(0, preset=TINY_STORY)
    assert due > 0
    model.mood = "fine"
    again = memory_with(store, model)

    def change(tx: Transaction) -> None:
        for lease in tx.leases.of_session(session.key):
            tx.leases.forget(session.key, lease.work)

    await store.write(change)
    assert [did for did in await worked(again) if did != "caught_up"]
    assert await session.due(0, preset=TINY_STORY) == 0


async def test_what_is_said_while_a_summary_is_written_is_not_lost() -> None:
    """A prompt that came during a compaction was acknowledged, and then overwritten by the compacted history."""
    model, store = FickleLLM(), InMemoryStore()
    memory, session = await begun(model, store)
    said: list[str] = []
    late = Storyteller(77)
    model.waits = asyncio.Event()
    working = asyncio.create_task(worked(memory))
    while not model.running:
        await asyncio.sleep(0)
    drafts = late.tell(["chat", "scene"])
    said += (await session.append(drafts)).ids
    model.waits.set()
    await working
    assert [message.id for message in await session.messages()][-len(said) :] == said
    assert marks(drafts) <= seen(await session.context(2_000, preset=TINY_STORY))


async def test_two_who_summarise_at_once_store_one_summary() -> None:
    """Two processes summarised the same stretch: both summaries were kept, and the model was told everything twice."""
    store = InMemoryStore()
    _, session = await begun(FickleLLM(), store)
    others = [memory_with(store, FickleLLM()) for _ in range(3)]

    async def one(memory: Memory) -> None:
        # Without leases: the names of what is written keep it apart.
        await memory.work(until_idle=True, preset=TINY_STORY, leases=False)

    await asyncio.gather(*map(one, others))
    await stored_once(store, session.key)
    each_stands_once(await session.context(700, preset=TINY_STORY), await session.messages())


def _told(text: str) -> list[str]:
    return [line for line in text.splitlines() if "open with" not in line]


@pytest.mark.parametrize("mood", ["rubbish", "error text", "refuses", "bad reply"])
async def test_no_placeholder_is_stored_for_what_a_model_did_not_write(mood: str) -> None:
    """A summariser failed, and “[summary unavailable]” took the place of the conversation for good."""
    model, store = FickleLLM(), InMemoryStore()
    memory, session = await begun(model, store)
    model.mood = mood
    before = await session.context(700, preset=TINY_STORY)
    await worked(memory)
    after = await session.context(700, preset=TINY_STORY)
    words = json.dumps(after.messages)
    assert not any(each in words for each in ("529", "502", "unavailable", "refused", "cut off"))
    # The offline text stands, word for word, but for the ids that open it, and the last line that these leave room for.
    for one, other in zip(after.view, before.view, strict=True):
        now, then = _told(one.text), _told(other.text)
        assert abs(len(now) - len(then)) <= 1
        shared = min(len(now), len(then))
        assert now[:shared] == then[:shared]
    assert any(_told(one.text) for one in after.view if one.what == "summary")
