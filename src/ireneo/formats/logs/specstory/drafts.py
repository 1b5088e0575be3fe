"""The messages of a SpecStory export: the agent's own session, and one for the sub-agents of each of its turns.

The lines of sub-agents that work side by side stand mixed, and nothing tells them apart: those of one turn of the user
are one session. Where the work is done is not told.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from msgspec import Struct, field
from msgspec.structs import replace

from ireneo.formats.logs.claude_code.origin import is_compaction, is_of_harness
from ireneo.formats.logs.format import Fault, LoggedSession
from ireneo.formats.logs.naming import Names
from ireneo.formats.logs.narrow import moment, string
from ireneo.formats.logs.sessions import straight_session
from ireneo.formats.logs.specstory.tools import used
from ireneo.formats.logs.specstory.turns import Piece, pieces
from ireneo.log.message import Call, Draft, Native, Origin, Part, Role, Text, Thinking
from ireneo.patterns import lazy_re

FORMAT = "specstory"
_SESSION = lazy_re(r"<!-- (?P<agent>.{1,60}) Session (?P<id>\S{1,100}) \((?P<time>[^)]{4,40})\) -->")
_HEADER = 40
"""The comment that names the session stands in so many of the first lines."""
_THINK = lazy_re(r"</?think>|</?details>|<summary>.{0,2000}?</summary>")
_RULES = ("", "---")
_SYNTHETIC = "<synthetic>"


class Export(Struct, kw_only=True):
    """One export, before it is read."""

    about: dict[str, object]
    """What is noted beside the Markdown."""
    name: str
    """What it is called if it does not say so itself."""
    number: int | None = None
    """The line that carries it, where it does not stand in a file of its own."""
    lines: list[str] = field(default_factory=list)

    def sessions(self, names: Names) -> Iterator[LoggedSession | Fault]:
        """Its sessions: the agent's own, then those of its sub-agents."""
        found = next((found for line in self.lines[:_HEADER] if (found := _SESSION.match(line.lstrip("\ufeff")))), None)
        begun = moment(found["time"]) if found else None
        stories = _Stories()
        for piece in pieces([line.rstrip("\r\n") for line in self.lines], begun):
            if piece.fault:
                yield self._fault(piece)
            stories.add(piece)
        main, sides = stories.told()
        if not main and not sides:
            place = f"Line {self.number}" if self.number else "The file"
            yield Fault(line=self.number or 1, message=f"{place} is an export in which nobody speaks; it was left out.")
            return
        told = {**self.about, **({"agent": found["agent"], "session": found["id"]} if found else {})}
        wished = string(self.about.get("session_id")) or (found["id"] if found else None) or self.name
        given = names.give(wished)
        for name, drafts in (given, main), *sides_named(given, sides):
            if drafts:
                first = replace(drafts[0], record=Native(format=FORMAT, payload=[told]))
                yield straight_session(name, [first, *drafts[1:]])

    def _fault(self, piece: Piece) -> Fault:
        line = piece.start + 1
        place = f"Line {line}" if self.number is None else f"Line {self.number}, at line {line} of its Markdown,"
        message = f"{place} {piece.fault}; it was taken to end where the next turn begins."
        return Fault(line=self.number or line, message=message)


def sides_named(name: str, sides: Sequence[list[Draft]]) -> Iterator[tuple[str, list[Draft]]]:
    """The sub-agents' sessions, called after the one that they worked for."""
    for number, drafts in enumerate(sides, 1):
        yield f"{name}-sidechain-{number}", drafts


class _Stories:
    """The drafts of the main session and of those beside it, while the pieces come in."""

    def __init__(self) -> None:
        self.main = _Story()
        self.sides: list[_Story] = []
        self.now = self.main
        self.open = False
        """The sub-agents' newest session still takes more."""

    def add(self, piece: Piece) -> None:
        if piece.kind == "speaker":
            self.now = self.side(piece) if piece.sidechain else self.main
            self.now.speaks(piece)
        else:
            self.now.says(piece)
            if self.now is self.main and self.main.user:
                self.open = False

    def side(self, piece: Piece) -> _Story:
        if not self.open or piece.user:
            self.sides.append(_Story())
            self.open = True
        return self.sides[-1]

    def told(self) -> tuple[list[Draft], list[list[Draft]]]:
        sides = [drafts for story in self.sides if (drafts := story.ended())]
        return self.main.ended(), sides


class _Story:
    """The drafts of one session."""

    def __init__(self) -> None:
        self.drafts: list[Draft] = []
        self.parts: list[Part] = []
        self.user = False
        self.at: datetime | None = None
        self.begun: datetime | None = None
        """The time of the draft that is put together."""
        self.source_id: str | None = None
        self.synthetic = False
        self.begins = False
        """Nothing was said since the speaker's line."""
        self.calls = 0

    def speaks(self, piece: Piece) -> None:
        synthetic = _SYNTHETIC in piece.lines[0]
        if piece.user or self.user or synthetic != self.synthetic:
            self.flush()
        self.user, self.synthetic, self.at, self.begins = piece.user, synthetic, piece.at, True
        if not self.parts:
            self.begun, self.source_id = piece.at, piece.source_id

    def says(self, piece: Piece) -> None:
        if piece.kind == "tool":
            self.uses(piece)
        elif piece.kind == "thinking":
            if thought := _THINK.sub("", "\n".join(piece.lines)).strip():
                self.parts.append(Thinking(text=thought))
        elif words := self.words(piece):
            self.parts.append(Text(text=words))
        self.begins = False

    def words(self, piece: Piece) -> str:
        """What is said, without the lines across that older exports put between the parts of a turn."""
        lines = list(piece.lines)
        while lines and lines[-1].strip() in _RULES:
            lines.pop()
        first = 0
        while not self.begins and first < len(lines) and lines[first].strip() in _RULES:
            first += 1
        return "\n".join(lines[first:]).strip()

    def uses(self, piece: Piece) -> None:
        tool = used(piece.lines)
        self.calls += 1
        call: Call = tool.call(f"call_{self.calls}")
        if self.user:
            # Users call no tools: what they said ends here, and the agent works.
            self.flush()
            self.user = False
        self.begun = self.begun or self.at
        self.parts.append(call)
        self.flush()
        self.drafts.append(Draft(role="tool", parts=(tool.result(call),), at=self.at))

    def flush(self) -> None:
        if self.parts:
            role: Role = "user" if self.user else "assistant"
            draft = Draft(role=role, parts=tuple(self.parts), at=self.begun, source_id=self.source_id)
            self.drafts.append(replace(draft, origin=self.origin()))
        self.parts = []
        self.begun, self.source_id = self.at, None

    def origin(self) -> Origin:
        texts = [part.text for part in self.parts if isinstance(part, Text)]
        if not self.user:
            return "injected" if self.synthetic else "spoken"
        if is_compaction(texts):
            return "summary"
        return "injected" if is_of_harness(texts) else "spoken"

    def ended(self) -> list[Draft]:
        self.flush()
        return self.drafts
