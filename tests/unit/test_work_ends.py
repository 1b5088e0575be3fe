"""`work` ends once nothing is left to do, also where what is due makes no memory."""

from __future__ import annotations

import asyncio

from tests.progress import progress_of

from ireneo.adapters.in_memory import InMemoryStore
from ireneo.engine.memory import Memory
from ireneo.engine.resources import Resources
from ireneo.log.message import Draft, Text
from ireneo.summaries.policy import Policy, StorySettings
from ireneo.testing.scripted import ManualClock

POLICY = Policy(name="small", story=StorySettings(leaf_messages=8, fan_in=2, limit=2, live_messages=2), live_share=0.5)
PROMISE = "“I promise to bring you the bell of Orm before the winter,” said Vera, and she gave him her father's ring."


def said(text: str, author: str) -> Draft:
    return Draft(role="assistant", parts=(Text(text=text, author=author, present=("Vera", "Tom")),))


async def test_a_story_that_two_sessions_tell_alike_is_remembered_once_and_no_more_is_due() -> None:
    means = Resources(store=InMemoryStore(), count=lambda text: len(text) // 4 + 1, clock=ManualClock(), preset=POLICY)
    memory = Memory(means, "work")
    for name, greeting in (("one", "Good morning."), ("two", "Good evening.")):
        session = await memory.session(name)
        talk = [said(f"We walked {miles} miles.", "Tom") for miles in range(20)]
        await session.append([said(greeting, "Tom"), said(PROMISE, "Vera"), *talk])
        await progress_of(session.catch_up)
    # The second session's leaf makes no memory, since its words are known: without an end it would be due for ever.
    await asyncio.wait_for(memory.work(until_idle=True), 60)
    (told,) = [each for each in await memory.memories(kind="episodic") if "bell of Orm" in each.text]
    assert {piece.session for piece in told.evidence} == {"one"}
    assert (await memory.work(until_idle=True)).memories == 0
