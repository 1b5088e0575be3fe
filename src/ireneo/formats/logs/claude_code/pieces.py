"""Lines put together into pieces: one reply of the model is spread over many lines, a line of results stands alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from ireneo.formats.logs.claude_code.lines import Line
from ireneo.formats.logs.format import Fault
from ireneo.formats.logs.narrow import string

Kind = Literal["reply", "results", "words"]


class Piece(Struct, kw_only=True):
    """The lines of one message, and all lines that are kept with it."""

    kind: Kind
    lines: list[Line]
    raws: list[dict[str, object]]
    """Its own lines and the notes after them, in the order of the file."""
    before: int | None
    """The piece that the message line before its first one belongs to."""


class Pieces(Struct, frozen=True, kw_only=True):
    """A session cut into pieces, with the ways to find them."""

    all: list[Piece]
    of_uuid: dict[str, int]
    of_call: dict[str, int]
    last: int
    """The piece of the last message line."""
    faults: list[Fault]


class _Cutter:
    def __init__(self) -> None:
        self.pieces: list[Piece] = []
        self.first_of: dict[str, Line] = {}
        self.of_uuid: dict[str, int] = {}
        self.of_reply: dict[str, int] = {}
        self.of_call: dict[str, int] = {}
        self.answered: set[str] = set()
        self.last: int | None = None
        self.early: list[dict[str, object]] = []
        self.faults: list[Fault] = []

    def add(self, line: Line) -> None:
        if not line.speaks:
            self.note(line)
        elif line.uuid is not None and line.uuid in self.first_of:
            # A resumed session copies lines; an equal copy says nothing, a changed one is kept as a note.
            if line.entry != self.first_of[line.uuid].entry:
                self.note(line)
        elif (again := line.answers) and self.answered.issuperset(again):
            self.note(line)
            message = f"Line {line.number} answers {again[0]} a second time; it was kept in the record only."
            self.faults.append(Fault(line=line.number, message=message))
        else:
            self.place(line)

    def note(self, line: Line) -> None:
        (self.early if self.last is None else self.pieces[self.last].raws).append(line.raw)

    def place(self, line: Line) -> None:
        reply = string(line.message.get("id")) if line.kind == "assistant" else None
        index = self.of_reply.get(reply) if reply else None
        if index is None:
            index = len(self.pieces)
            self.pieces.append(Piece(kind=_kind(line), lines=[], raws=self.early, before=self.last))
            self.early = []
        piece = self.pieces[index]
        piece.lines.append(line)
        piece.raws.append(line.raw)
        if reply:
            self.of_reply[reply] = index
        if line.uuid:
            self.first_of[line.uuid] = line
            self.of_uuid[line.uuid] = index
        for call in line.calls:
            self.of_call.setdefault(call, index)
        self.answered.update(line.answers)
        self.last = index


def _kind(line: Line) -> Kind:
    if line.kind == "assistant":
        return "reply"
    return "results" if line.answers else "words"


def cut(lines: Iterable[Line]) -> Pieces | None:
    """Put the lines of one session together into its pieces; None if no line says anything."""
    cutter = _Cutter()
    for line in lines:
        cutter.add(line)
    if cutter.last is None:
        return None
    return Pieces(
        all=cutter.pieces,
        of_uuid=cutter.of_uuid,
        of_call=cutter.of_call,
        last=cutter.last,
        faults=cutter.faults,
    )
