"""The words of the format."""

from __future__ import annotations

from typing import Final

NAME: Final = "openai"

ROLES: Final = ("system", "developer", "user", "assistant", "tool", "function")
ANSWERING: Final = ("tool", "function")

REASONING: Final = ("reasoning_content", "reasoning")
"""Where providers of this format put a model's reasoning; the format itself has no place for it."""
