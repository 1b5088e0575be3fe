"""A message has the shape that its format gives it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ireneo.errors import UnreadableLog
from ireneo.formats.chat.format import Violation
from ireneo.formats.chat.rules.outline import Outlines, Rule


def unreadable(read: Callable[[dict[str, object], str], object], known: tuple[str, ...]) -> Rule:
    """Each message can be read at all; one whose role is unknown is another rule's."""

    def rule(outlines: Outlines) -> Iterator[Violation]:
        for outline in outlines:
            if outline.role in known:
                try:
                    read(outline.message, f"message {outline.index}")
                except UnreadableLog as fault:
                    yield Violation(rule="unreadable", index=outline.index, message=f"{fault}.")

    return rule
