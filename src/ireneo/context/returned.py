"""What a context put in place of messages, found again in a text that comes back: the grammar of blocks and marks.

A framework hands a context back as history. Everything in it that stands for messages bears the id of what it stands
for, so that the path can be told from it again.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Literal

from msgspec import Struct

from ireneo.log.echo import CLOSING, is_recalled
from ireneo.log.message import BLOCK_TAGS, PAD_TAG, PINS_TAG, MessageId, short
from ireneo.patterns import lazy_re
from ireneo.summaries.work import HEADINGS

_ID = r"[a-z2-7]{7}(?![a-z2-7])"
_TAGS = "|".join(re.escape(tag) for tag in BLOCK_TAGS)
_BLOCK = lazy_re(rf"(?:{_TAGS}) [^\n]*? · open with (?P<id>s_{_ID})[^\n]*")
_GAP = lazy_re(rf"(?:{_TAGS}) [^\n]*? · open with (?P<first>m_{_ID})(?: to (?P<last>m_{_ID}))?$", re.M)
_MARK = lazy_re(rf"^\[[^\n]* · open with (m_{_ID})(?: …)?\]$", re.M)
_STORY_TAG = BLOCK_TAGS[2]
_OURS = (*BLOCK_TAGS, PINS_TAG, PAD_TAG)
_HEADED = frozenset(f"## {heading}" for heading in HEADINGS.values())
_PLAIN = frozenset(f"## {HEADINGS[name]}" for name in ("strategy", "status", "goal"))
"""The headings under which a line stands without a dash."""

Kind = Literal["block", "gap", "note", "said"]


class Piece(Struct, frozen=True, kw_only=True):
    """A stretch of a text: a block, a line that stands for what is left out, a note of memory's own, or plain words."""

    kind: Kind
    text: str
    start: int
    """Where it begins in the text."""
    first: str = ""
    """Of a block the beginning of its id; of a gap that of its first message's."""
    last: str = ""
    """Of a gap: the beginning of the id of its last message."""


def pieces(text: str, notes: str = "") -> list[Piece]:
    """Cut `text` into what memory wrote into it and the words between.

    What memory writes begins a text, or stands behind a blank line; `notes` is the line that may stand before it.
    Words that merely quote a block within a sentence are words.
    """
    if not any(tag in text for tag in _OURS):
        return [Piece(kind="said", text=text, start=0)]
    out: list[Piece] = []
    place = 0
    while place < len(text):
        place += len(text[place:]) - len(text[place:].lstrip())
        if place >= len(text):
            break
        piece = _ours(text, place, notes)
        if piece is None:
            end = _next_of_ours(text, place, notes)
            piece = Piece(kind="said", text=text[place:end].rstrip(), start=place)
            place = end
        else:
            place += len(piece.text)
        out.append(piece)
    return out


def marks(text: str) -> list[str]:
    """The beginnings of the ids that the marks in `text` bear; a mark has a line of its own."""
    return _MARK.findall(text) if " · open with m_" in text else []


def is_mark(text: str) -> bool:
    """Whether `text` is nothing but one mark: a masked output, or a picture that is left out."""
    return _MARK.fullmatch(text.strip()) is not None


def stands_for(shown: str, whole: str, ids: Collection[MessageId]) -> bool:
    """Whether `shown` is `whole`, or shows it shortened by marks that open one of `ids`.

    A mark that opens anything else is one that `whole` quotes.
    """
    if shown.strip() == whole.strip():
        return True
    own = {short(each) for each in ids}
    if own.isdisjoint(marks(shown)):
        return False
    # Around a mark stand the beginning and the end of the text; of several texts in one the marks stand in order, and
    # white space may be another.
    cut = _MARK.sub(lambda mark: "\0" if mark[1] in own else mark[0], shown)
    kept = [squeezed(each) for each in cut.split("\0")]
    rest = squeezed(whole)
    if not rest.startswith(kept[0]) or not rest.endswith(kept[-1]) or len(rest) < len(kept[0]) + len(kept[-1]):
        return False
    rest = rest[len(kept[0]) : len(rest) - len(kept[-1])]
    for each in kept[1:-1]:
        found = rest.find(each)
        if found < 0:
            return False
        rest = rest[found + len(each) :]
    return True


def squeezed(text: str) -> str:
    """`text` without its white space."""
    return "".join(text.split())


def _next_of_ours(text: str, place: int, notes: str) -> int:
    """Where, behind a blank line, the next thing begins that memory wrote; the end of `text` where none does."""
    for found in _blank_lines(text, place):
        if _ours(text, found, notes):
            return found
    return len(text)


def _blank_lines(text: str, place: int) -> Iterator[int]:
    while (place := text.find("\n\n", place)) >= 0:
        while text.startswith("\n", place):
            place += 1
        yield place


def _ours(text: str, place: int, notes: str) -> Piece | None:
    """What memory wrote from `place` on, if it wrote what begins there."""
    begin = place
    if notes and text.startswith(notes, place):
        begin += len(notes)
        begin += len(text[begin:]) - len(text[begin:].lstrip())
    if found := _GAP.match(text, begin):
        first = found["first"]
        return Piece(kind="gap", text=text[place : found.end()], start=place, first=first, last=found["last"] or first)
    if found := _BLOCK.match(text, begin):
        prose = text.startswith(_STORY_TAG, begin)
        end = _end_of_prose(text, found.end()) if prose else _end_of_sections(text, found.end())
        return Piece(kind="block", text=text[place:end], start=place, first=found["id"])
    if text.startswith(PINS_TAG, begin):
        return Piece(kind="note", text=text[place : _end_of_list(text, begin)], start=place)
    if text.startswith(PAD_TAG, begin):
        end = text.find(CLOSING[PAD_TAG], begin)
        end = len(text) if end < 0 else end + len(CLOSING[PAD_TAG])
        if is_recalled(text[begin:end]):
            return Piece(kind="note", text=text[place:end], start=place)
    return None


def _end_of_prose(text: str, place: int) -> int:
    end = text.find("\n\n", place)
    return len(text) if end < 0 else end


def _end_of_sections(text: str, place: int) -> int:
    """Where the sections of a block end: with the last line that reads like one of theirs."""
    end, before = place, ""
    while place < len(text):
        line_end = text.find("\n", place + 1)
        line_end = len(text) if line_end < 0 else line_end
        line = text[place + 1 : line_end]
        if not line.strip():
            break
        if line in _HEADED or line.startswith("- ") or before in _PLAIN:
            end = line_end
        before, place = line, line_end
    return end


def _end_of_list(text: str, place: int) -> int:
    """Where a list of pins ends: with the last line that is one."""
    end = text.find("\n", place)
    end = len(text) if end < 0 else end
    while text.startswith(("\n- ", "\n("), end):
        following = text.find("\n", end + 1)
        end = len(text) if following < 0 else following
    return end
