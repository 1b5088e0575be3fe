"""Whatever a model says of a story, nothing is stored that its sources don't have."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Sequence

import pytest
from tests.examples import times
from tests.golden.story import SUMMARIZER, quarters, record
from tests.property.hostile.story import HIDDEN, NOBODY, NUMBERS, HostileStoryteller, Tale, tale

from ireneo.engine.story_writing import StoryJob, StoryTask
from ireneo.engine.writing import write as write_summary
from ireneo.errors import ModelError
from ireneo.grounding.check import is_error_text
from ireneo.log.calls import has_instruction
from ireneo.log.message import Message
from ireneo.summaries.summary import Summary
from ireneo.testing.scripted import ScriptedLLM

STORIES = times(42)
PARTS = 2
NUMBER_WORDS = (*NUMBERS, "two dozen", "dozen", "fifty", "nineteen", "hundred", "eight", "sixty", "thousand")
WORD = re.compile(r"[^\W_]+")


def sayings(summary: Summary) -> list[str]:
    """All that a record says in words that a model chose."""
    told = [line.text for line in summary.lines("story")]
    named = [mention.name for line in summary.lines("artifacts") for mention in line.names]
    threads = [f"{thread.text} {thread.who} {thread.whom}" for thread in summary.threads.opened]
    return [*told, *named, *threads]


def true(summary: Summary, raw: str) -> None:
    """By plain looking, whatever the grounding thinks of it."""
    known = set(WORD.findall(raw))
    for text in sayings(summary):
        words = set(WORD.findall(text))
        assert not words & set(NOBODY), f"invented: {text}"
        for word in re.findall(r"\b[A-Z]\w+", re.sub(r"^\W*\w+", "", text)):
            assert word in known or word in ("It", "The"), f"{word!r} stands nowhere: {text}"
        for number in re.findall(r"\d+", text):
            assert number in known, f"{number} stands nowhere: {text}"
        for word in words & set(NUMBER_WORDS):
            assert word in known, f"{word} stands nowhere: {text}"
        for quotation in re.findall(r"“([^”]*)”", text):
            assert quotation.strip(".,!?") in raw, f"{quotation!r} was not said"
        assert not is_error_text(text)
        assert not has_instruction(text)
        assert "this scene" not in text
        assert "The user" not in text


def heard(messages: Sequence[Message], who: str) -> str:
    out = ["Narrator, It was so.", who]
    for message in messages:
        for part in message.parts:
            present = getattr(part, "present", None)
            if not who or present is None or who in present:
                out.append(f"{getattr(part, 'author', '')}: {getattr(part, 'text', '')}")
    return "\n".join(out)


async def write(story: Tale, seed: int, outcomes: Counter[str]) -> list[Summary]:
    """A leaf, as told from outside or as Vera's own memory, and what a deeper summary makes of it."""
    own = seed % 3 == 0
    model = ScriptedLLM(HostileStoryteller(seed, story, truth=0.2 + 0.7 * (seed % 7) / 6, own=own))
    summarizer = f"{SUMMARIZER}/as/Vera" if own else SUMMARIZER
    offline = record(story.messages, summarizer=summarizer, text="It was so.", names=("Vera",))
    leaf = StoryJob(
        offline=offline, messages=story.messages, voice="first" if own else "third", seen_by="Vera" if own else ""
    )
    found: list[Summary] = []
    try:
        written = await write_summary(StoryTask(leaf, quarters), model)
        outcomes[written.verdict] += 1
        found.append(written.text)
        deep = record(story.messages, summarizer=summarizer, depth=2, leaves=2, text="It was so.", names=("Vera",))
        job = StoryJob(offline=deep, parts=(written.text,), voice=leaf.voice, seen_by=leaf.seen_by)
        found.append((await write_summary(StoryTask(job, quarters), model)).text)
    except ModelError:
        outcomes["failed"] += 1
    return found


@pytest.mark.parametrize("part", range(PARTS))
def test_what_a_lying_storyteller_says_is_not_believed(part: int) -> None:
    outcomes: Counter[str] = Counter()
    for seed in range(part, STORIES, PARTS):
        story = tale(seed)
        raw = heard(story.messages, "Vera" if seed % 3 == 0 else "")
        for summary in asyncio.run(write(story, seed, outcomes)):
            true(summary, raw)
            if seed % 3 == 0:
                assert not any(HIDDEN in text for text in sayings(summary))
    # The lies were told, some were kept out line by line, and truths between them came through.
    assert outcomes["offline"] > 3
    assert outcomes["repaired"] > 3
