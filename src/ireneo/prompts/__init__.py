"""Prompts: one folder per task with versioned texts; `replies` has the typed replies."""

from __future__ import annotations

from types import MappingProxyType

from ireneo.prompts.replies import PromptText
from ireneo.summaries.summary import SummaryLevel

NOTES = PromptText(task="notes", version=5, max_tokens=8_000)
NOTES_REPAIR = PromptText(task="notes", text="repair", version=NOTES.version, max_tokens=1_200)
NOTES_OWN = PromptText(task="notes", text="own", version=NOTES.version, max_tokens=NOTES.max_tokens)
"""Notes on an agent's work: by a model, the repair of unsupported notes, and by the agent itself."""
STORY = PromptText(task="story", version=5, max_tokens=2_800)
STORY_DEEP = PromptText(task="story", text="deep", version=STORY.version, max_tokens=STORY.max_tokens)
"""For the deeper summaries of a story; the version is the leaf's, since one summarizer writes both."""
STORY_OVERVIEW = PromptText(task="story", text="overview", version=1, max_tokens=800)
"""For one text about a whole story; the limit on its reply follows from the length asked for."""
REFLECT = PromptText(task="reflect", version=2, max_tokens=1_200)
FACTS = PromptText(task="facts", version=3, max_tokens=6_000)
"""Facts that people state about themselves."""

LESSONS = PromptText(task="lessons", version=3, max_tokens=3_000)
LESSONS_LOOK = PromptText(task="lessons", text="look", version=LESSONS.version, max_tokens=3_000)
"""Lessons from a run, and a second look at them."""

FAMILIES: MappingProxyType[SummaryLevel, str] = MappingProxyType(
    {"turn": "notes-1", "goal": "notes-1", "story": "story-1"}
)
"""The summarizer's name for the texts of each level; it never changes, so that summaries by earlier prompts are kept
and not paid for again."""
