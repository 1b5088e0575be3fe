"""Notes that a model wrote: the statements of a reply, and the sections that they make of a block, at every depth.

A block that a model wrote says the model's statements, by their worth, and of the offline record what is verbatim: the
user's words, and what is pinned in them. Deeper blocks are rolled up from these without asking anybody again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from ireneo.grounding.neutral import instruction_like
from ireneo.log.message import MessageId, digest
from ireneo.summaries.summary import Line, Section, SectionName, Summary

KINDS: Mapping[str, SectionName] = MappingProxyType(
    {
        "ruled": "asked",
        "wants": "asked",
        "decided": "strategy",
        "did": "operations",
        "found": "discoveries",
        "failed": "dead_ends",
        "worked": "worked",
        "changed": "artifacts",
        "open": "pending",
        "state": "status",
    }
)
"""What a note may begin with, and the section that its statement is for."""
BESIDE: SectionName = "beside"
"""What is noted of words of the user that stand verbatim beside the block: shown where a block takes their place."""
REPLACED: SectionName = "replaced"
"""The statements that hold no longer since another took their place; they are never shown."""
VERBATIM: tuple[SectionName, ...] = ("goal", "direction", "constraints", "lifted", "state")
"""What of the offline record stands beside a model's statements, whatever these say; names alone say nothing there."""
FOUND_BESIDE = 0.02
"""Of its worth, so much is left to what the structure shows where a model spoke: it fills what room is left, and no
note waits for it."""
SAID_BESIDE = 0.03
"""The same of the user's words where a block takes their place."""
STANDS_BESIDE = 0.4
"""The same of where things stand by the structure, where a model said that too."""
WORTH = 3
"""Of a statement whose writer gives none."""
WEIGHT_OF_WORTH = 2.0
MOST_LINES = 240
"""Statements that one record holds, so that it is bounded however much it covers: the weightiest."""
MOST_OF: Mapping[SectionName, int] = MappingProxyType({"direction": 64, "asked": 64, BESIDE: 64, REPLACED: 48})
"""Lines of a section that are counted apart."""
UNCAPPED: frozenset[SectionName] = frozenset({"goal", "constraints", "lifted", "status", "state"})
"""What its own rules hold small."""
_BULLETS = "-*•> \t"


class Note(Struct, frozen=True, kw_only=True):
    """One note, as its writer gave it."""

    kind: str
    text: str
    worth: int = WORTH
    at: tuple[int, ...] = ()
    """The numbers of the messages that it rests on, where they are given."""
    replaces: tuple[str, ...] = ()
    """The ids of earlier notes that hold no longer."""

    @property
    def section(self) -> SectionName:
        """The section that it is for."""
        return KINDS[self.kind]


def note_id(text: str) -> str:
    """The short id of a statement, by which a later one says that it takes its place."""
    return f"n{digest('n', text.encode())[2:6]}"


def read_note(line: str, otherwise: str = "") -> Note | None:
    """Read one line of a reply: kind, worth, what it rests on, and the statement; None for what is no note.

    A line that begins with no kind is one of the kind `otherwise`, where that is given.
    """
    head, _, rest = line.strip().lstrip(_BULLETS).partition(" ")
    kind = head.strip("*:,.`").lower()
    if kind not in KINDS:
        text = " ".join(line.split())
        return Note(kind=otherwise, text=text) if otherwise and text else None
    worth, rest = WORTH, rest.lstrip(" *:,")
    if rest[:1] in tuple("12345") and not rest[1:2].isalnum():
        worth, rest = int(rest[0]), rest[1:].lstrip(" *:,")
    named, text = "", rest
    if rest.startswith("[") and "]" in rest[:160]:
        named, _, text = rest[1:].partition("]")
    text = " ".join(text.lstrip(" :—–-").split())
    if not text:
        return None
    names = [name.strip().lstrip("#") for name in named.replace(";", ",").split(",")]
    return Note(
        kind=kind,
        worth=worth,
        text=text,
        at=tuple(number for name in names for number in _numbers(name)),
        replaces=tuple(name for name in names if name[:1] == "n"),
    )


def _numbers(name: str) -> tuple[int, ...]:
    """The numbers that `name` stands for: one, or the ends of a range."""
    ends = [end.strip() for end in name.replace("–", "-").split("-")]
    return tuple(int(end) for end in ends if end.isdecimal() and end.isascii())


def line_of(statement: Note, position: int, sources: Sequence[MessageId]) -> Line:
    """The statement as a line that rests on these messages, the last of which stands at `position`."""
    weight = WEIGHT_OF_WORTH * statement.worth
    return Line(text=statement.text, weight=weight, position=position, sources=tuple(sources))


Noted = Sequence[tuple[SectionName, Line]]
"""Statements as lines, each with its section."""


def noted(offline: Summary, lines: Noted, known: Callable[[int], bool]) -> list[Section]:
    """The sections of a block of which `lines` were said.

    `known` tells of a position whether the writer knew what stands there: of the rest the offline lines count in full.
    """
    gathered = {name: list(offline.lines(name)) for name in VERBATIM}
    for section in offline.sections:
        if section.name not in (*VERBATIM, "names"):
            gathered[section.name] = [
                replace(line, weight=line.weight * FOUND_BESIDE) if known(line.position) else line
                for line in section.lines
                if not instruction_like(line.text)
            ]
    for name, line in lines:
        # What the user said before the block stands beside it in the user's own words.
        beside = name == "asked" and line.position < offline.first_position and offline.level == "turn"
        gathered.setdefault(BESIDE if beside else name, []).append(line)
    gathered["status"] = [line for name, line in lines if name == "status"]
    return _sections(gathered)


def rolled_up(offline: Summary, parts: Sequence[Summary]) -> list[Section]:
    """The sections of a deeper block over `parts`, of which a model wrote some; its offline record is `offline`."""
    gathered = {name: list(offline.lines(name)) for name in VERBATIM}
    # What was noted of the user's words says in fewer what they want.
    gathered["direction"] = [replace(line, weight=line.weight * SAID_BESIDE) for line in gathered["direction"]]
    for part in parts:
        for section in part.sections:
            # The user's words stand beside a block of a turn; one that covers complete turns takes their place.
            name = "asked" if section.name == BESIDE and offline.level != "turn" else section.name
            if section.name not in UNCAPPED and (section.name != "names" or not part.is_written):
                gathered.setdefault(name, []).extend(section.lines)
    # Where things stand is what was said of it last.
    gathered["status"] = next((list(part.lines("status")) for part in reversed(parts) if part.lines("status")), [])
    return _sections(gathered)


def with_later(text: Summary, lines: Noted) -> Summary:
    """The text of a block that says as well what was noted of the messages behind it, `lines`."""
    gathered = {section.name: list(section.lines) for section in text.sections}
    for name, line in lines:
        if name == "status":
            gathered[name] = [line]
        else:
            # The user's words stand there themselves.
            gathered.setdefault(BESIDE if name == "asked" else name, []).append(line)
    return replace(text, sections=tuple(_sections(gathered)))


def without_replaced(row: Sequence[Summary]) -> dict[str, Summary]:
    """Of adjacent blocks, by their ids, those that say what a later one replaced, without it."""
    out: dict[str, Summary] = {}
    gone: dict[str, int] = {}
    for block in reversed(row):
        gone.update((line.text, line.position) for line in block.lines(REPLACED))
        if any(line.text in gone for section in block.sections for line in section.lines if section.name != REPLACED):
            sections = {section.name: list(section.lines) for section in block.sections}
            sections[REPLACED] = [Line(text=text, position=position) for text, position in gone.items()]
            out[block.id] = replace(block, sections=tuple(_sections(sections)))
    return out


def statements_of(summaries: Iterable[Summary], *, replaced: bool = False) -> list[tuple[SectionName, Line]]:
    """What was noted in these blocks, in the order of time; with what it `replaced`, where that is asked for."""
    hidden = ("goal", "constraints", "lifted", *(() if replaced else (REPLACED,)))
    told = [
        (section.name, line)
        for summary in summaries
        if summary.is_written
        for section in summary.sections
        if section.name not in hidden
        for line in section.lines
        if line.text
    ]
    return sorted(told, key=lambda each: each[1].position)


def _sections(gathered: Mapping[SectionName, Sequence[Line]]) -> list[Section]:
    """Build sections with each statement once, without replaced ones, and of very many only the weightiest."""
    gone = {line.text: line.position for line in gathered.get(REPLACED, ())}
    kept: dict[SectionName, dict[Line | str, Line]] = {}
    for name, lines in gathered.items():
        for line in lines:
            if name == REPLACED or line.position > gone.get(line.text, -1):
                kept.setdefault(name, {}).setdefault(line if line.subject or line.names else line.text, line)
    free = [line for name in kept if name not in UNCAPPED and name not in MOST_OF for line in kept[name].values()]
    told = set(map(id, _weightiest(free, MOST_LINES)))
    out: list[Section] = []
    for name, known in kept.items():
        if name in UNCAPPED:
            lines = list(known.values())
        elif name in MOST_OF:
            lines = _weightiest(list(known.values()), MOST_OF[name])
        else:
            lines = [line for line in known.values() if id(line) in told]
        if lines:
            ordered = lines if name in UNCAPPED else sorted(lines, key=lambda line: line.position)
            out.append(Section(name=name, lines=tuple(ordered)))
    return out


def _weightiest(lines: Sequence[Line], most: int) -> list[Line]:
    return sorted(lines, key=lambda line: (-line.weight, -line.position))[:most]
