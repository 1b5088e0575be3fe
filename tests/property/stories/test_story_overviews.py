"""Overviews of stories that are told on, taken back, forked and worked at by a fickle model: each context is sound."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.progress import progress_of
from tests.property.invariants.houses import calm, housed, stores

from ireneo.engine import summarise as asking
from ireneo.engine import work as loop
from ireneo.log.tree import ROOT, SessionKey
from ireneo.ports.store import Store, Transaction
from ireneo.summaries import overview as rule

from .checks import sound, stored_once
from .fickle import FickleLLM, memory_with
from .material import TINY_STORY, Storyteller, formats, places, stories

BUDGETS = (420, 560, 1_200)
steps = st.one_of(
    st.tuples(st.just("tell"), stories(max_size=8)),
    st.tuples(st.just("rewind"), places),
    st.tuples(st.just("fork"), places),
    st.tuples(st.just("work"), st.sampled_from(("fine", "fine", "refuses", "rubbish", "invents"))),
)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Overviews of stories that fit into a test."""
    monkeypatch.setattr(rule, "MUCH", 0.8)
    monkeypatch.setattr(rule, "FULL", 0.1)
    monkeypatch.setattr(asking, "NO_ROOM", 50)
    monkeypatch.setattr(asking, "LEAST_TOKENS", 100)
    monkeypatch.setattr(loop, "POLL_SECONDS", 0.001)


async def overviews(store: Store) -> list[tuple[int, int]]:
    """What the stored overviews cover."""

    def look(tx: Transaction) -> list[tuple[int, int]]:
        key = SessionKey("mine", "run")
        found = tx.summaries.get(key, tx.upkeep.summaries(key))
        return [(each.first_position, each.last_position) for each in found if rule.asked_budget(each.summarizer)]

    return await store.read(look)


@calm(3)
@given(store=stores, begun=stories(min_size=6, max_size=20), script=st.lists(steps, min_size=2, max_size=8), to=formats)
async def test_a_context_with_an_overview_tells_each_message_once(
    store: str, begun: list[str], script: list[tuple[str, object]], to: str
) -> None:
    async with housed(store) as house:
        inner, model = await house.store(), FickleLLM()
        memory = memory_with(inner, model)
        session = await memory.session("run")
        teller = Storyteller()
        await session.append(teller.tell(["chats", "chats", *begun]))
        for number, (what, how) in enumerate([("work", "fine"), ("look", ""), ("work", "fine"), *script]):
            path = await session.messages()
            if what == "tell" and isinstance(how, list):
                await session.append(teller.tell(how))
            elif what in ("rewind", "fork") and isinstance(how, int):
                keep = how % (len(path) + 1)
                at = path[keep - 1].id if keep else ROOT
                if what == "rewind":
                    await session.rewind(at)
                else:
                    session = await session.fork(f"branch-{number}", at=at if keep else None)
            elif what == "work":
                model.mood = str(how)
                await progress_of(memory.work, until_idle=True, preset=TINY_STORY)
            path = await session.messages()
            for budget in BUDGETS if path else ():
                sound(await session.context(budget, to=to, preset=TINY_STORY), path, budget)
        await stored_once(inner, session.key)


async def test_these_stories_have_overviews() -> None:
    from ireneo.adapters.in_memory import InMemoryStore

    inner = InMemoryStore()
    memory = memory_with(inner, FickleLLM())
    session = await memory.session("run")
    await session.append(Storyteller().tell(["chats", "scene", "chats", "promise"] * 4))
    await progress_of(memory.work, until_idle=True, preset=TINY_STORY)
    assert await overviews(inner) == []
    for budget in BUDGETS:
        await session.context(budget, preset=TINY_STORY)
    await progress_of(memory.work, until_idle=True, preset=TINY_STORY)
    assert len(await overviews(inner)) >= 1
    path = await session.messages()
    context = await session.context(BUDGETS[0], preset=TINY_STORY)
    sound(context, path, BUDGETS[0])
    assert max(row.covers for row in context.view) > len(path) // 2
