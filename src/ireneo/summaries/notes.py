"""Notes that a model wrote: parsing the statements of a reply, and building a block's sections from them.

A block written by a model has the model's statements, by worth, and the verbatim parts of the offline record: the
user's words and pins. Deeper blocks are rolled up from these without another model call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from ireneo.log.calls import has_instruction
from ireneo.log.message import MessageId, digest
from ireneo.patterns import lazy_re
from ireneo.summaries.summary import REPLACED_CODE, Line, Section, SectionName, Summary

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
"""The kinds of notes, and the section for each kind."""
BESIDE: SectionName = "beside"
"""Notes about words of the user that are next to the block. They are shown if these words are shortened, if a note
is also based on other messages, and once a deeper block replaces the words."""
REPLACED: SectionName = "replaced"
"""Superseded statements; never shown."""
VERBATIM: tuple[SectionName, ...] = ("goal", "direction", "constraints", "lifted", "state", REPLACED_CODE)
"""Sections of the offline record that are kept next to a model's statements."""
FOUND_BESIDE = 0.02
"""Weight factor for offline lines in a block written by a model: they only fill the remaining room."""
SAID_BESIDE = 0.03
"""Weight factor for the user's words in a block that replaces them."""
REFUSED_BESIDE = 0.1
"""Weight factor for the user's words in refusals and answers, which a note may have missed."""
STANDS_BESIDE = 0.1
"""Weight factor for the offline state and the last question, if the model described the state of the work."""
WORTH = 3
"""Default worth of a statement."""
WEIGHT_OF_WORTH = 2.0
MOST_LINES = 240
"""The maximum number of statements in one record, whatever it covers; those with the most weight are kept."""
MOST_OF: Mapping[SectionName, int] = MappingProxyType({"direction": 64, "asked": 64, BESIDE: 64, REPLACED: 48})
"""Sections with a limit of their own."""
UNCAPPED: frozenset[SectionName] = frozenset({"goal", "constraints", "lifted", "status", "state", REPLACED_CODE})
"""Sections that other rules limit."""
_BULLETS = "-*•> \t"
_NUMBERED = lazy_re(r"^\d{1,3}[.)] *")


class Note(Struct, frozen=True, kw_only=True):
    """One note, as the model gave it."""

    kind: str
    text: str
    worth: int = WORTH
    at: tuple[int, ...] = ()
    """The numbers of the messages that support it, if given."""
    replaces: tuple[str, ...] = ()
    """The ids of earlier notes that it supersedes."""
    refused: str = ""
    """Why the line is not a note and is never shown, if so."""

    @property
    def section(self) -> SectionName:
        """The section to which it belongs."""
        return KINDS[self.kind]


def note_id(text: str) -> str:
    """Return the short id of a statement, by which a later one may supersede it."""
    return f"n{digest('n', text.encode())[2:6]}"


def read_note(line: str) -> Note | None:
    """Parse one line of a reply: kind, worth, supporting messages, and the statement; None if it is not a note."""
    head, _, rest = _NUMBERED.sub("", line.strip().lstrip(_BULLETS), count=1).partition(" ")
    kind = head.strip("*:,.`").lower()
    if kind not in KINDS:
        return None
    worth, rest = WORTH, rest.lstrip(" *:,")
    if rest[:1] in tuple("12345") and not rest[1:2].isalnum():
        worth, rest = int(rest[0]), rest[1:].lstrip(" *:,")
    elif _OTHER_WORTH.match(rest):
        return None
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


_OTHER_WORTH = lazy_re(r"-?\d+(?:\.\d+)?\s*[*:]*\s*(?:\[|:)")
"""An invalid worth: `9 [12]`, `0:`. `3 tests failed: …` is a statement."""


def _numbers(name: str) -> tuple[int, ...]:
    """Parse a number, or the ends of a range."""
    ends = [end.strip() for end in name.replace("–", "-").split("-")]
    return tuple(int(end) for end in ends if end.isdecimal() and end.isascii())


def line_of(statement: Note, begins: int, position: int, sources: Sequence[MessageId]) -> Line:
    """Make a line of a statement, with these sources, from `begins` to `position`."""
    weight = WEIGHT_OF_WORTH * statement.worth
    return Line(text=statement.text, weight=weight, begins=begins, position=position, sources=tuple(sources))


Noted = Sequence[tuple[SectionName, Line]]
"""Statements as lines, each with its section."""


def note_sections(offline: Summary, lines: Noted, known: Callable[[int], bool]) -> list[Section]:
    """Build the sections of a block from the statements `lines` and its offline record.

    `known` says whether the model saw the message at a position; offline lines about other messages keep their weight.
    """
    gathered = {name: list(offline.lines(name)) for name in VERBATIM}
    for section in offline.sections:
        if section.name not in VERBATIM:
            gathered[section.name] = [
                replace(line, weight=line.weight * FOUND_BESIDE) if known(line.position) else line
                for line in section.lines
                if not has_instruction(line.text)
            ]
    for name, line in lines:
        # The user's words before the block are next to it.
        beside = name == "asked" and line.position < offline.first_position and offline.level == "turn"
        gathered.setdefault(BESIDE if beside else name, []).append(line)
    gathered["status"] = [line for name, line in lines if name == "status"]
    return _sections(gathered)


def deeper_sections(offline: Summary, parts: Sequence[Summary]) -> list[Section]:
    """Build the sections of a deeper block over `parts`, some of them written by a model, and its offline record."""
    gathered = {name: list(offline.lines(name)) for name in VERBATIM}
    # The notes about the user's words are shorter.
    gathered["direction"] = _scale_weights(gathered["direction"], SAID_BESIDE)
    for part in parts:
        for section in part.sections:
            # A turn block is shown next to the user's words; a block of complete turns replaces them.
            name = "asked" if section.name == BESIDE and offline.level != "turn" else section.name
            if section.name not in UNCAPPED:
                is_noted = name == "direction" and part.is_written
                lines = _scale_weights(section.lines, REFUSED_BESIDE) if is_noted else section.lines
                gathered.setdefault(name, []).extend(lines)
    gathered["status"] = next((list(part.lines("status")) for part in reversed(parts) if part.lines("status")), [])
    return _sections(gathered)


def _scale_weights(lines: Iterable[Line], factor: float) -> list[Line]:
    return [replace(line, weight=line.weight * factor) for line in lines]


def with_later_statements(text: Summary, lines: Noted) -> Summary:
    """Add to a block the statements `lines` on the messages after it."""
    gathered = {section.name: list(section.lines) for section in text.sections}
    for name, line in lines:
        if name == "status":
            gathered[name] = [line]
        else:
            gathered.setdefault(BESIDE if name == "asked" else name, []).append(line)
    return replace(text, sections=tuple(_sections(gathered)))


def without_replaced(row: Sequence[Summary]) -> dict[str, Summary]:
    """Map the id of each adjacent block that contains superseded statements to the block without them."""
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
    """Return the statements in these blocks in order of time, with `replaced` also the superseded ones."""
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
    """Build sections with each statement once, without superseded ones, up to the limits on their number."""
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
