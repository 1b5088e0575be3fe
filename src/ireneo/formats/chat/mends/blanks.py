"""A message says something; so does each of its texts, where the format wants that."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ireneo.formats.chat.mends.change import with_parts
from ireneo.log.message import Draft, Part, Result, Text, Thinking


def drop_empty(drafts: Sequence[Draft]) -> list[Draft]:
    """Drop the messages that hold nothing."""
    return [draft for draft in drafts if draft.parts or draft.native is not None]


def drop_blanks(drafts: Sequence[Draft]) -> list[Draft]:
    """Drop blank texts, thinking that leads to nothing, and the messages that then hold nothing.

    System drafts are left as they are: they have no message of their own to be empty.
    """
    spoken = [draft if draft.role == "system" else with_parts(draft, _spoken(draft.parts)) for draft in drafts]
    return drop_empty(drop_loose_thinking(spoken))


def drop_loose_thinking(drafts: Sequence[Draft]) -> list[Draft]:
    """Drop the thinking at a message's end, which leads to nothing; system drafts are left as they are."""
    return [draft if draft.role == "system" else with_parts(draft, _led(draft.parts)) for draft in drafts]


def is_blank(part: Part) -> bool:
    """Whether `part` is a text without anything to read."""
    return isinstance(part, Text) and not part.text.strip()


def _spoken(parts: Sequence[Part]) -> list[Part]:
    return [_answered(part) if isinstance(part, Result) else part for part in parts if not is_blank(part)]


def _led(parts: Sequence[Part]) -> Sequence[Part]:
    end = len(parts)
    while end and isinstance(parts[end - 1], Thinking):
        end -= 1
    return parts[:end]


def _answered(result: Result) -> Result:
    # One blank text alone is what a silent command printed, and may stand; among others it is a block too many.
    if len(result.parts) < 2 or not any(is_blank(part) for part in result.parts):
        return result
    return replace(result, parts=tuple(part for part in result.parts if not is_blank(part)))
