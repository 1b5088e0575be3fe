"""A tool loop that runs begins with the model's thinking, where thinking is on for the next call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ireneo.formats.chat.format import Violation
from ireneo.formats.chat.rules.outline import Outline, Outlines, breach

THINKING_MISSING: Final = "thinking-missing"


def thinking_missing(outlines: Outlines) -> Iterator[Violation]:
    """The assistant's first message in the tool loop that runs begins with thinking.

    The loop is all that the assistant did since the user last spoke; it runs while results are the last that was said.
    The messages after the first think or don't, as the model answered them.
    """
    first = _loop_begins(list(outlines))
    if first is not None and not first.thinks:
        says = (
            "the tool loop that runs begins here without thinking, since the model answered so, or since a thought "
            "doesn't hold any more once what stood before it was changed; send the call with extended thinking off."
        )
        yield breach(THINKING_MISSING, first.index, says)


def _loop_begins(outlines: list[Outline]) -> Outline | None:
    """The first message of the assistant's in the loop that runs at the end; None where none runs."""
    first: Outline | None = None
    place = len(outlines)
    while place:
        answered = False
        while place and outlines[place - 1].role != "assistant":
            answered = answered or bool(outlines[place - 1].results)
            place -= 1
        if not answered:
            break
        while place and outlines[place - 1].role == "assistant":
            first = outlines[place - 1]
            place -= 1
    return first
