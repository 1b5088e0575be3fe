"""The newest messages of a story, told by a model ahead of their leaf where a narrow context has no room for them."""

from __future__ import annotations

import re

from msgspec.structs import replace
from tests.story_parts import replied
from tests.unit.test_overview import Tale, drafts, told

from ireneo import Context
from ireneo.ports.models import Prompt
from ireneo.summaries.policy import STORY, StorySettings
from ireneo.testing.scripted import Scripted

POLICY = replace(STORY, story=StorySettings(leaf_messages=24, live_messages=60))
BUDGET = 2_000
LEAVES, OPEN = 3, 7
"""Whole leaves, and a quarter of so many days behind them: each day is four messages."""


def blocks(context: Context) -> list[tuple[int, str]]:
    """The messages that each block stands for, and its text."""
    return [(row.covers, row.text) for row in context.view if row.what == "summary"]


async def test_a_model_tells_the_newest_messages_ahead_of_their_leaf() -> None:
    story = Tale(policy=POLICY)
    await story.go_on()
    await story.session.append(drafts(0, LEAVES * 6 + OPEN))
    before = await story.session.context(BUDGET)
    await story.session.summarise(BUDGET)
    asked = len(story.model.prompts)
    context = await story.session.context(BUDGET)
    assert context.tokens <= BUDGET
    ahead = [text for covers, text in blocks(context) if covers == 12]
    assert len(ahead) == 1
    assert "On day 18" in ahead[0]
    assert sum(row.covers for row in context.view if row.what in ("summary", "message")) == (LEAVES * 6 + OPEN) * 4
    assert not [text for covers, text in blocks(before) if covers == 12]
    # Nothing is asked anew until the story has gone on by half a leaf.
    await story.session.append(drafts(LEAVES * 6 + OPEN, 1))
    await story.session.summarise(BUDGET)
    assert len(story.model.prompts) == asked
    again = await story.session.context(BUDGET)
    assert [text for covers, text in blocks(again) if covers == 12] == ahead
    # Once its leaf is told, that stands in its place.
    await story.session.append(drafts(LEAVES * 6 + OPEN + 1, 5))
    await story.session.summarise(BUDGET)
    later = await story.session.context(BUDGET)
    assert sum(row.covers for row in later.view if row.what in ("summary", "message")) == (LEAVES * 6 + OPEN + 6) * 4
    assert ahead[0] not in "\n".join(text for _, text in blocks(later))


async def test_a_context_with_room_for_them_shows_the_messages() -> None:
    story = Tale(policy=POLICY)
    await story.go_on()
    await story.session.append(drafts(0, LEAVES * 6 + OPEN))
    await story.session.summarise(BUDGET)
    wide = await story.session.context(40_000)
    assert not [text for covers, text in blocks(wide) if covers == 12]


def with_threads(prompt: Prompt) -> Scripted:
    """The last day that is shown: day 5 opens a question, and day 20 ends it and opens another."""

    def text(messages: str) -> dict[str, object]:
        day = max(map(int, re.findall(r"On day (\d+)", messages)))
        asked = {5: "Why did Anselm hide the pistol at Wexcombe?", 20: "What does Tam want in Easterby?"}.get(day)
        opened = [{"kind": "question", "text": asked}] if asked else []
        ended = [f"{each}: it was told" for each in re.findall(r"t_\w+(?= question)", prompt.user) if day == 20]
        return {"text": f"{told(day)} [7]", "opened": opened, "resolved": ended}

    return replied(prompt, text)


async def test_the_list_of_threads_knows_what_the_newest_text_opened_and_ended() -> None:
    story = Tale(policy=POLICY)
    story.answer = with_threads
    await story.go_on()
    await story.session.append(drafts(0, LEAVES * 6 + OPEN))
    await story.session.summarise(BUDGET)
    threads = await story.session.threads(resolved=True, preset=POLICY)
    found = [(each.text, each.ended) for each in threads]
    assert found == [
        ("What does Tam want in Easterby?", ""),
        ("Why did Anselm hide the pistol at Wexcombe?", "it was told"),
    ]
