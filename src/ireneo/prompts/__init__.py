"""What a model is asked: one folder a task, the versioned text beside its typed reply."""

from __future__ import annotations

from types import MappingProxyType

from ireneo.prompts.replies import PromptText
from ireneo.summaries.summary import SummaryLevel

NOTES = PromptText(task="notes", version=1, max_tokens=8_000)
NOTES_REPAIR = PromptText(task="notes", text="repair", version=NOTES.version, max_tokens=1_200)
NOTES_OWN = PromptText(task="notes", text="own", version=NOTES.version, max_tokens=NOTES.max_tokens)
"""An agent's work: on a stretch of it, on what of these notes didn't stand, and what the agent itself is asked for."""
STORY = PromptText(task="story", version=3, max_tokens=2_800)
STORY_DEEP = PromptText(task="story", text="deep", version=STORY.version, max_tokens=STORY.max_tokens)
"""By which the deeper summaries of a story are written. Its version is the leaf's: one summarizer writes both."""
REFLECT = PromptText(task="reflect", version=2, max_tokens=1_200)
FACTS = PromptText(task="facts", version=1, max_tokens=6_000)
"""What people say that should be remembered."""

LESSONS = PromptText(task="lessons", version=2, max_tokens=3_000)
LESSONS_REPAIR = PromptText(task="lessons", text="repair", version=LESSONS.version, max_tokens=1_500)
"""What a run teaches, and what of that didn't stand."""
LESSONS_MERGE = PromptText(task="lessons", text="merge", version=1, max_tokens=2_000)
"""Which lessons of a project are one."""

FAMILIES: MappingProxyType[SummaryLevel, str] = MappingProxyType(
    {"turn": NOTES.name, "goal": NOTES.name, "story": "story-1"}
)
"""After what the summarizer of the texts of each level is named. A story that was told by an earlier prompt stands as
it was told, rather than being paid for again: so its summarizer keeps the first one's name."""
