"""A SpecStory export cut into what stands in it: who speaks, and in words, in thoughts or through a tool.

The export quotes what tools printed as it was, other exports included, so that a line that looks like a mark may be a
quotation. A speaker's line is one of this session only if its time fits; within a tool it must not lie before the line
of the last speaker.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Literal

from msgspec import Struct

from ireneo.formats.logs.narrow import moment
from ireneo.patterns import lazy_re

_SPEAKER = lazy_re(r"_\*\*(?P<who>User|Agent|Assistant)(?P<side> - sidechain)?(?: \((?P<about>.{0,200})\))?\*\*_\s*$")
_TIME = lazy_re(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?")
_OPENED = lazy_re(r"<tool-use\b")
_CLOSED = lazy_re(r"(?:</details>\s*)?</tool-use>\s*$")
_THOUGHT = lazy_re(r"<think>")
_THOUGHT_THROUGH = "</think>"
_BARE = lazy_re(r"Tool use: \*\*[^*\n]{1,80}\*\*")
_RULE = lazy_re(r"---\s*$")
_MESSAGE = lazy_re(r"<!-- message-id: (?P<id>\S{1,100}) -->\s*$")
_BEFORE = timedelta(days=1)
"""No turn of a session lies further before its beginning; a line that does is quoted."""

Kind = Literal["speaker", "text", "thinking", "tool"]


class Piece(Struct, frozen=True, kw_only=True):
    """Some lines of an export."""

    kind: Kind
    start: int
    """The index of its first line."""
    lines: Sequence[str]
    user: bool = False
    """Of a speaker: it is the user."""
    sidechain: bool = False
    """Of a speaker: it is a sub-agent."""
    at: datetime | None = None
    source_id: str | None = None
    fault: str | None = None


def pieces(lines: Sequence[str], begun: datetime | None) -> Iterator[Piece]:
    """The pieces of an export, in order; what stands before the first speaker is left out."""
    return _Cutter(lines, begun).pieces()


class _Cutter:
    def __init__(self, lines: Sequence[str], begun: datetime | None) -> None:
        self.lines = lines
        self.begun = begun
        self.last: datetime | None = None
        self.seen: set[str] = set()

    def pieces(self) -> Iterator[Piece]:
        at = 0
        while at < len(self.lines) and self.speaker(at) is None:
            at += 1
        while at < len(self.lines):
            piece = self.piece(at)
            at += max(len(piece.lines), 1)
            yield piece

    def piece(self, at: int) -> Piece:
        line = self.lines[at]
        if (speaker := self.speaker(at)) is not None:
            self.seen.add(line.strip())
            self.last = speaker.at or self.last
            self.begun = self.begun or speaker.at
            return speaker
        if _OPENED.match(line):
            return self.tool(at)
        if _THOUGHT.match(line):
            return self.thinking(at)
        if _BARE.match(line):
            end = self.until(at + 1, rules=True)
            return Piece(kind="tool", start=at, lines=self.lines[at:end])
        end = self.until(at + 1)
        return Piece(kind="text", start=at, lines=self.lines[at:end])

    def speaker(self, at: int) -> Piece | None:
        """The speaker's line that stands at `at`, with the id of the message where it follows."""
        found = _SPEAKER.match(self.lines[at])
        if found is None:
            return None
        time = _TIME.search(found["about"] or "")
        told = moment(time[0]) if time else None
        if told and self.begun and told < self.begun - _BEFORE:
            return None
        named = _MESSAGE.match(self.lines[at + 1]) if at + 1 < len(self.lines) else None
        return Piece(
            kind="speaker",
            start=at,
            lines=self.lines[at : at + (2 if named else 1)],
            user=found["who"] == "User",
            sidechain=found["side"] is not None,
            at=told,
            source_id=named["id"] if named else None,
        )

    def until(self, at: int, *, rules: bool = False) -> int:
        """Where words that begin before `at` end: at the next mark, or with `rules` at the next line across too."""
        while at < len(self.lines):
            line = self.lines[at]
            if self.speaker(at) or _OPENED.match(line) or _THOUGHT.match(line) or _BARE.match(line):
                break
            if rules and _RULE.match(line):
                break
            at += 1
        return at

    def thinking(self, start: int) -> Piece:
        for at in range(start, len(self.lines)):
            if self.lines[at].rstrip().endswith(_THOUGHT_THROUGH):
                return Piece(kind="thinking", start=start, lines=self.lines[start : at + 1])
            if at > start and self.speaker(at):
                break
        else:
            at = len(self.lines)
        return Piece(kind="thinking", start=start, lines=self.lines[start:at], fault="begins a thought without an end")

    def tool(self, start: int) -> Piece:
        depth = 0
        for at in range(start, len(self.lines)):
            line = self.lines[at]
            if at > start and self.goes_on(at):
                end = at
                break
            if at > start and _OPENED.match(line):
                depth += 1
            if _CLOSED.match(line) or (line.startswith("<tool-use") and line.rstrip().endswith("</tool-use>")):
                if depth == 0 or self.is_followed_by_turn(at + 1):
                    return Piece(kind="tool", start=start, lines=self.lines[start : at + 1])
                depth -= 1
        else:
            end = len(self.lines)
        return Piece(kind="tool", start=start, lines=self.lines[start:end], fault="begins a tool's work without an end")

    def goes_on(self, at: int) -> bool:
        """Whether the session itself goes on at `at`, which stands in what a tool printed."""
        speaker = self.speaker(at)
        if speaker is None or self.lines[at - 1].strip():
            return False
        if speaker.at is None:
            return self.lines[at].strip() in self.seen
        return self.last is None or speaker.at >= self.last

    def is_followed_by_turn(self, at: int) -> bool:
        while at < len(self.lines) and (not self.lines[at].strip() or _RULE.match(self.lines[at])):
            at += 1
        return at == len(self.lines) or (at > 0 and self.goes_on(at))
