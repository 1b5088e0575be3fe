"""Where the system prompt stands, and that it says something."""

from __future__ import annotations

from collections.abc import Iterator

from ireneo.formats.chat.anthropic.names import kind_of
from ireneo.formats.chat.format import Violation
from ireneo.formats.chat.rules.outline import Outlines, breach


def system_in_list(outlines: Outlines) -> Iterator[Violation]:
    """The system prompt stands apart from the messages."""
    for outline in outlines:
        if outline.role == "system":
            yield breach(
                "system-in-list", outline.index, "a system prompt stands apart, under `system`, not in the list."
            )


def blank_system(system: object) -> Iterator[Violation]:
    """No block of the system prompt is blank. It has no place in the list; it is reported at the list's beginning."""
    for place, block in enumerate(system if isinstance(system, list) else ()):
        text = block.get("text") if isinstance(block, dict) and kind_of(block) == "text" else None
        if isinstance(text, str) and not text.strip():
            yield Violation(rule="empty-text", index=0, message=f"system, block {place}: its text is blank.")
