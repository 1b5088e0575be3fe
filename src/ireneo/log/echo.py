"""What memory itself put into a text: a brief or a scratchpad, told apart from what somebody says.

Such a block stands between two tags, in whatever role and format it comes back. It is evidence for nothing: what was
recalled once would else be learned again, each time with more weight.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from ireneo.log.message import BLOCK_TAGS, BRIEF_TAG, PAD_TAG, PINS_TAG, Draft, Message, Part, Result, Text
from ireneo.patterns import lazy_re

BRIEF_HEADING = f"{BRIEF_TAG} Recalled from memory for this turn; nobody says it here."
PAD_HEADING = f"{PAD_TAG} My working notes on the task; not a request."
"""The first lines of the blocks; one that was cut short is known by them."""
CLOSING = {BRIEF_TAG: "[/BRIEF]", PAD_TAG: "[/SCRATCHPAD]"}
"""What each block ends with."""
EXPORT_BEGINS, EXPORT_ENDS = "<!-- ireneo: lessons begin", "<!-- ireneo: lessons end -->"
"""Between these stand lessons in a file that agents read; who reads them there recalls them."""
_EXPORTED = lazy_re(rf"{EXPORT_BEGINS}.*?(?:{EXPORT_ENDS}|\Z)", re.S)
_HEADINGS = {BRIEF_TAG: BRIEF_HEADING, PAD_TAG: PAD_HEADING}
_TAGS = (*BLOCK_TAGS, PINS_TAG, *CLOSING, *CLOSING.values())


def without_recalled(text: str) -> str:
    """`text` without the briefs and scratchpads in it; the same text where there are none."""
    for tag, closing in CLOSING.items():
        if tag in text:
            text = _without(text, tag, closing)
    return _EXPORTED.sub("", text) if EXPORT_BEGINS in text else text


def is_recalled(text: str) -> bool:
    """Whether `text` is nothing but briefs and scratchpads."""
    return bool(text.strip()) and not without_recalled(text).strip()


def said_in(draft: Draft) -> Draft:
    """`draft` as far as it is evidence: without the briefs and scratchpads in its texts and results.

    The same draft where there are none. What is left of it is for reading: as a message it would be another one.
    """
    parts = tuple(_said(part) for part in draft.parts)
    if all(new is old for new, old in zip(parts, draft.parts, strict=True)):
        return draft
    kept = tuple(part for part in parts if not isinstance(part, Text) or part.text.strip())
    return replace(draft, parts=kept, native=None)


def as_said(messages: Iterable[Message]) -> list[Message]:
    """`messages` as far as they are evidence: `said_in` for the draft of each, under the ids that they have."""
    return [
        message if (said := said_in(message.draft)) is message.draft else replace(message, draft=said)
        for message in messages
    ]


def fenced(tag: str, lines: Sequence[str]) -> str:
    """`lines` as the block of ours that `tag` names; none of them can end it, or begin another."""
    return "\n".join([_HEADINGS[tag], *(harmless(line) for line in lines), CLOSING[tag]])


def harmless(text: str) -> str:
    """`text` with round brackets in the place of the square ones round a tag of ours."""
    for tag in _TAGS:
        if tag in text:
            text = text.replace(tag, f"({tag[1:-1]})")
    return text


def _said(part: Part) -> Part:
    if isinstance(part, Text):
        return _words(part)
    if isinstance(part, Result):
        inner = tuple(_words(each) if isinstance(each, Text) else each for each in part.parts)
        if any(new is not old for new, old in zip(inner, part.parts, strict=True)):
            return replace(part, parts=inner)
    return part


def _words(part: Text) -> Text:
    said = without_recalled(part.text)
    return part if said == part.text else replace(part, text=said)


def _without(text: str, tag: str, closing: str) -> str:
    out: list[str] = []
    place = 0
    closes = True
    while (begin := text.find(tag, place)) >= 0:
        end = text.find(closing, begin) if closes else -1
        closes = end >= 0
        if closes:
            end += len(closing)
        elif text.startswith(_HEADINGS[tag], begin):
            end = _end_of_lines(text, begin)
        else:
            # A word in brackets that somebody wrote: without its end it is no block of ours.
            end = begin + len(tag)
            out.append(text[place:end])
            place = end
            continue
        out.append(text[place:begin])
        place = end
    return "".join([*out, text[place:]])


def _end_of_lines(text: str, begin: int) -> int:
    """Where a block ends whose end was cut off: with the first line that reads like none of its lines."""
    place = begin
    while place < len(text):
        end = text.find("\n", place) + 1 or len(text)
        if place > begin and text[place:end].strip() and not text.startswith(_LINES, place):
            break
        place = end
    return place


_LINES = ("## ", "- ", "Goal: ", "Plan:", "Facts:", "Open questions:", "(")
"""How the lines of a block begin."""
