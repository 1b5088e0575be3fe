"""What a model is asked: one folder a task, the versioned text beside its typed reply."""

from __future__ import annotations

from types import MappingProxyType

from ireneo.context.summary import Level
from ireneo.prompts.text import PromptText

TURN = PromptText(task="turn", version=1, max_tokens=1_600)
GOAL = PromptText(task="goal", version=1, max_tokens=1_600)

PROMPTS: MappingProxyType[Level, PromptText] = MappingProxyType({"turn": TURN, "goal": GOAL})
"""The prompt by which the text of each level is written."""
