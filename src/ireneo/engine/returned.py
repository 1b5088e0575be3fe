"""Recognise a context that comes back as history: which messages of the path it contains, and what is new.

A caller who sends `context()` to a model returns it with the next messages after it. In a context, whatever replaces
messages has their ids; blocks, marks, pins and scratchpads were written by Ireneo. The list is aligned with the path,
and only what is new is stored.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from ireneo.context.shorten import SKIPPED
from ireneo.engine.tree import passes_through
from ireneo.errors import BadInput
from ireneo.formats.chat.format import NOTES, SYSTEM, ChatFormat, origin_of
from ireneo.formats.chat.repairs import BEGINNING, UNANSWERED
from ireneo.log.calls import atoms, without_reminders
from ireneo.log.message import (
    BLOCK_TAGS,
    CLOSING,
    PAD_TAG,
    PINS_TAG,
    Call,
    Draft,
    Head,
    Media,
    Message,
    MessageId,
    Opaque,
    Part,
    Result,
    Role,
    Text,
    Thinking,
    head_of,
    is_recalled,
    short,
    with_names_in_text,
)
from ireneo.log.tree import SessionKey
from ireneo.patterns import lazy_re
from ireneo.ports.store import Transaction
from ireneo.summaries.steps import clip
from ireneo.summaries.work import WORK

_ID = r"[a-z2-7]{7}(?![a-z2-7])"
_TAGS = "|".join(re.escape(tag) for tag in BLOCK_TAGS)
_BLOCK = lazy_re(rf"(?:{_TAGS}) [^\n]*? · open with (?P<id>s_{_ID})[^\n]*")
_GAP = lazy_re(rf"(?:{_TAGS}) [^\n]*? · open with (?P<first>m_{_ID})(?: to (?P<last>m_{_ID}))?$", re.M)
_MARK = lazy_re(rf"^\[[^\n]* · open with (m_{_ID})(?: …)?\]$", re.M)
_SKIP = lazy_re(rf"^{SKIPPED}$", re.M)
_STORY_TAG = BLOCK_TAGS[2]
_OURS = (*BLOCK_TAGS, PINS_TAG, PAD_TAG)
_NAMES = "## Also named"
"""A heading in contexts of earlier releases, whose line has no dash."""
_HEADED = frozenset({_NAMES, *(style.heading for style in WORK.sections("turn").values() if style.heading)})

Kind = Literal["block", "gap", "note", "said"]


class Piece(Struct, frozen=True, kw_only=True):
    """A part of a text: a block, a line for left-out messages, a note (pins or a scratchpad), or plain words."""

    kind: Kind
    text: str
    start: int
    """The index in the text at which the part begins."""
    first: str = ""
    """The beginning of the block's id, or of the id of the first left-out message."""
    last: str = ""
    """The beginning of the id of the last left-out message."""


def pieces(text: str, notes: str = "") -> list[Piece]:
    """Split `text` into what Ireneo wrote and the words between.

    What Ireneo wrote begins the text or follows a blank line; A format's `notes` may precede it. Words that quote a
    block within a sentence are plain words.
    """
    if not any(tag in text for tag in _OURS):
        return [Piece(kind="said", text=text, start=0)]
    out: list[Piece] = []
    place = 0
    while place < len(text):
        place += len(text[place:]) - len(text[place:].lstrip())
        if place >= len(text):
            break
        piece = _own_part(text, place, notes)
        if piece is None:
            end = _next_own_part(text, place, notes)
            piece = Piece(kind="said", text=text[place:end].rstrip(), start=place)
            place = end
        else:
            place += len(piece.text)
        out.append(piece)
    return out


def marks(text: str) -> list[str]:
    """Return the abbreviated ids in the marks of `text`; each mark is on a line of its own."""
    return _MARK.findall(text) if " · open with m_" in text else []


def is_mark(text: str) -> bool:
    """Return whether `text` is a single mark: for a masked output, or for media that were left out."""
    return _MARK.fullmatch(text.strip()) is not None


def stands_for(shown: str, whole: str, ids: Collection[MessageId]) -> bool:
    """Whether `shown` is `whole`, or `whole` shortened by marks that open one of `ids`.

    Marks that open anything else were quoted in `whole` itself.
    """
    if shown.strip() == whole.strip():
        return True
    own = {short(each) for each in ids}
    if own.isdisjoint(marks(shown)):
        return False
    # A shortened text is its beginning, a mark, and its end; lines from the middle may be kept, with a line "…" where
    # some are missing. If several texts were joined, their marks are in order. White space is ignored.
    cut = _MARK.sub(lambda mark: "\0" if mark[1] in own else mark[0], shown)
    begin, *rest = cut.split("\0")
    kept = [without_spaces(each) for each in (begin, *(piece for each in rest for piece in _SKIP.split(each)))]
    return any(_in_order(kept, without_spaces(each)) for each in (whole, without_reminders(whole)))


def _in_order(kept: Sequence[str], rest: str) -> bool:
    """Return whether `rest` begins and ends with the first and last of `kept`, the others between."""
    if not rest.startswith(kept[0]) or not rest.endswith(kept[-1]) or len(rest) < len(kept[0]) + len(kept[-1]):
        return False
    rest = rest[len(kept[0]) : len(rest) - len(kept[-1])]
    for each in kept[1:-1]:
        found = rest.find(each)
        if found < 0:
            return False
        rest = rest[found + len(each) :]
    return True


def without_spaces(text: str) -> str:
    """`text` without white space."""
    return "".join(text.split())


def _next_own_part(text: str, place: int, notes: str) -> int:
    """Return the start of the next part by Ireneo after a blank line; the end of `text` if there is none."""
    for found in _blank_lines(text, place):
        if _own_part(text, found, notes):
            return found
    return len(text)


def _blank_lines(text: str, place: int) -> Iterator[int]:
    while (place := text.find("\n\n", place)) >= 0:
        while text.startswith("\n", place):
            place += 1
        yield place


def _own_part(text: str, place: int, notes: str) -> Piece | None:
    """Return the part by Ireneo that begins at `place`, if there is one."""
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
    """Return where a block ends: after the last line that looks like a line of a block."""
    end, before = place, ""
    while place < len(text):
        line_end = text.find("\n", place + 1)
        line_end = len(text) if line_end < 0 else line_end
        line = text[place + 1 : line_end]
        if not line.strip():
            break
        if line in _HEADED or line.startswith(("- ", "  - ")) or before == _NAMES:
            end = line_end
        before, place = line, line_end
    return end


def _end_of_list(text: str, place: int) -> int:
    """Return where a list of pins ends."""
    end = text.find("\n", place)
    end = len(text) if end < 0 else end
    while text.startswith(("\n- ", "\n("), end):
        following = text.find("\n", end + 1)
        end = len(text) if following < 0 else following
    return end


_OF_NOBODY = frozenset(map(without_spaces, (BEGINNING, UNANSWERED)))
"""Texts that formats add to a list to make it valid."""


MAX_QUOTED = 60
"""Characters quoted in an error."""


class Unit(Struct, frozen=True, kw_only=True):
    """The smallest unit that is compared with the path: a call, a result, or a piece of text."""

    part: Part
    role: Role
    draft: int
    """The index of the draft that has the unit."""
    place: int = 0
    """The index of the unit's part in that draft."""
    piece: Piece | None = None
    """For a text: the piece of it that is this unit."""
    cast: bool = False
    """Whether the unit is another tool's summary, whose role a format may change."""

    @property
    def text(self) -> str:
        """The words of the unit; empty for a call or a result."""
        return self.piece.text if self.piece else ""

    @property
    def is_block(self) -> bool:
        """Whether the unit replaces messages, which it names by their ids."""
        return self.piece is not None and self.piece.kind in ("block", "gap")

    @property
    def is_transient(self) -> bool:
        """Whether the unit belongs to no message: pins, a scratchpad, a brief, thinking, or what a format added."""
        if isinstance(self.part, Thinking):
            return True
        if isinstance(self.part, Result):
            return without_spaces(self.part.text) in _OF_NOBODY
        if self.piece is None:
            return False
        text = self.piece.text
        if not text.strip():
            return True
        return (
            self.piece.kind == "note"
            or without_spaces(text) in _OF_NOBODY
            or is_recalled(text.removeprefix(f"{SYSTEM} "))
        )


class CoveredStretch(Struct, frozen=True, kw_only=True):
    """The positions on the path that a block covers."""

    unit: int
    """The index of the block's unit."""
    first: int
    last: int


class Alignment(Struct, frozen=True, kw_only=True):
    """How far a list agrees with the path."""

    reached: bool
    """Whether the list contains the path up to its end."""
    ids: tuple[MessageId, ...]
    """The messages of the path that the list itself contains, in order."""
    place: int
    """The index after the last unit that agrees with the path."""


class ReturnedContext:
    """A list that was passed in, examined as a context that may have come back."""

    def __init__(self, drafts: Sequence[Draft], chat: ChatFormat) -> None:
        self.drafts = tuple(drafts)
        self.chat = chat
        self.units = tuple(_units(drafts))

    @property
    def blocks(self) -> list[int]:
        """The indices of units that replace messages; blocks after plain words in the same text are quotations."""
        out: list[int] = []
        heads: set[tuple[int, int]] = set()
        for place, unit in enumerate(self.units):
            if unit.piece is not None and unit.piece.kind == "said":
                heads.add((unit.draft, unit.place))
            elif unit.is_block and (unit.draft, unit.place) not in heads:
                out.append(place)
        return out

    @property
    def is_shown(self) -> bool:
        """Whether the list holds anything that only Ireneo writes."""
        return bool(self.blocks) or any(map(_is_note, self.units))

    @property
    def has_prompt(self) -> bool:
        """Whether the list contains a system message; if not, the path's prompt may have been sent separately."""
        return any(draft.role == "system" for draft in self.drafts)

    @property
    def opens_with_block(self) -> bool:
        """Whether the list begins with a block, apart from units that stand for no message."""
        blocks = self.blocks
        return bool(blocks) and all(unit.is_transient for unit in self.units[: blocks[0]])

    def is_at_end(self, place: int) -> bool:
        """Return whether no unit from `place` on stands for a message."""
        return all(unit.is_transient for unit in self.units[place:])

    def words_at(self, place: int) -> str:
        """Return the first words at or after the unit at `place`, for an error."""
        words = (" ".join(_unit_text(unit).split()) for unit in self.units[place:])
        return clip(next(filter(None, words), ""), MAX_QUOTED)

    def new_drafts(self, begin: int) -> tuple[tuple[Draft, ...], tuple[str, ...]]:
        """Return the drafts from the unit `begin` on without Ireneo's parts, and the first lines of its blocks."""
        out: list[Draft] = []
        dropped: list[str] = []
        units = self.units[begin:]
        for at in range(units[0].draft if units else len(self.drafts), len(self.drafts)):
            draft, blocks = _own_draft(self.drafts[at], [unit for unit in units if unit.draft == at])
            dropped += blocks
            if draft is not None:
                out.append(draft)
        return tuple(out), tuple(dropped)

    def separate_drafts(self) -> tuple[Draft, ...]:
        """Return the drafts, with Ireneo's parts in separate ones, so that nobody is taken to have said them."""
        written = {self.units[place].draft for place in self.blocks}
        written |= {unit.draft for unit in self.units if _is_note(unit)}
        out: list[Draft] = []
        for at, draft in enumerate(self.drafts):
            units = [unit for unit in self.units if unit.draft == at]
            out += _separate_own_parts(draft, units) if at in written else [draft]
        return tuple(out)


class ReturnedPath:
    """The path that a list is compared with."""

    def __init__(self, tx: Transaction, key: SessionKey, head: Head) -> None:
        self.tx = tx
        self.key = key
        self.head = head

    def covered_stretches(self, returned: ReturnedContext) -> list[CoveredStretch]:
        """Return what the list's blocks cover, for those blocks that lie on the path in order."""
        out: list[CoveredStretch] = []
        for place in returned.blocks:
            piece = returned.units[place].piece
            found = self._stretch(piece) if piece else None
            if found is not None and found[0] > (out[-1].last if out else -1):
                out.append(CoveredStretch(unit=place, first=found[0], last=found[1]))
        return out

    def count_marks(self, returned: ReturnedContext) -> int:
        """Count the texts with a mark of the path; a tool's output is only counted if it consists of the mark."""
        names = [names[0] for unit in returned.units if (names := _marks(unit))]
        return sum([self._position(name) is not None for name in names])

    def align(self, returned: ReturnedContext, covers: Sequence[CoveredStretch], begin: int) -> Alignment:
        """Compare a list with the path from position `begin` on."""
        matching = _PathMatcher(returned, begin)
        for cover in covers:
            before = self._messages(matching.position, cover.first - 1)
            if cover.first < matching.position or not matching.read(before, cover.unit):
                return matching.aligned(reached=False)
            matching.skip(cover)
        rest = self._messages(matching.position, self.head.position)
        return matching.aligned(reached=matching.read(rest, None))

    def _messages(self, first: int, last: int) -> Sequence[Message]:
        return self.tx.log.path(self.key, self.head.id, first, last) if first <= last else ()

    def _stretch(self, piece: Piece) -> tuple[int, int] | None:
        """Return the first and last position that a block covers; None if they are not on the path."""
        if piece.kind == "gap":
            first, last = self._position(piece.first), self._position(piece.last)
            return None if first is None or last is None else (first, last)
        for summary in self.tx.summaries.find(self.key, piece.first):
            there = self._messages(summary.last_position, summary.last_position)
            if there and there[0].id == summary.last:
                return summary.first_position, summary.last_position
        return None

    def _position(self, name: str) -> int | None:
        """Return the position of the path's message with that abbreviated id, if there is one."""
        for message in self.tx.log.find(self.key, [name]):
            if passes_through(self.tx, self.key, self.head, head_of(message)):
                return message.position
        return None


class _PathMatcher:
    """Reads a list along a path, atom by atom."""

    def __init__(self, returned: ReturnedContext, position: int) -> None:
        self.units = returned.units
        self.chat = returned.chat
        self.place = 0
        """The next unit."""
        self.position = position
        """The position of the next message."""
        self.ids: list[MessageId] = []

    def aligned(self, *, reached: bool) -> Alignment:
        """Return how far the list was read."""
        return Alignment(reached=reached, ids=tuple(self.ids), place=self.place)

    def skip(self, cover: CoveredStretch) -> None:
        """Continue after a block, and after the messages that it covers."""
        self.place, self.position = cover.unit + 1, cover.last + 1

    def read(self, messages: Sequence[Message], end: int | None) -> bool:
        """Return whether the units up to `end` are `messages`; without `end` more units may follow.

        System messages may be missing, and units that stand for no message, such as pins, are skipped.
        """
        for group in _groups(messages):
            place = self._match_group(group, len(self.units) if end is None else end)
            if place is not None:
                self.place = place
                self.ids += [message.id for message in group]
            elif any(message.role != "system" for message in group):
                # Formats that keep the prompt apart return the messages alone.
                return False
            self.position = group[-1].position + 1
        return end is None or all(unit.is_transient for unit in self.units[self.place : end])

    def _match_group(self, group: Sequence[Message], end: int) -> int | None:
        """Return the index after the units of `group`; None if the units differ from it."""
        names = _AtomNames(group)
        told = (self._match_units(wanted, names, end) for wanted in _expected_units(group, self.chat))
        return next((place for place in told if place is not None), None)

    def _match_units(self, wanted: Sequence[Unit], names: _AtomNames, end: int) -> int | None:
        place, left = self.place, list(wanted)
        while left:
            at = place
            while (
                at < end and not (same := _compare_units(self.units, at, left, names)) and self.units[at].is_transient
            ):
                at += 1
            if at < end and same:
                place = at + same[0]
                del left[: same[1]]
            elif _is_optional(left[0]):
                del left[0]
            else:
                return None
        return place


class _AtomNames:
    """The ids of an atom's messages, and of its calls without a result."""

    def __init__(self, group: Sequence[Message]) -> None:
        self.ids = [message.id for message in group]
        answered = {result.call_id for message in group for result in message.draft.results}
        self.waiting = {call.id for message in group for call in message.draft.calls} - answered
        """The ids of calls without a result yet, which only their id identifies."""


def _compare_units(units: Sequence[Unit], at: int, wanted: Sequence[Unit], names: _AtomNames) -> tuple[int, int] | None:
    """Return how many units from `at` on agree with how many of `wanted`; None if they differ."""
    unit, first = units[at], wanted[0]
    if isinstance(unit.part, Text):
        # A text that quotes a block is compared as a whole first.
        more = next((more for more, each in enumerate(units[at:]) if each.part is not unit.part), len(units) - at)
        if more > 1 and (count := _same_words(unit, unit.part.text, wanted, names)):
            return more, count
        return (1, count) if (count := _same_words(unit, unit.text, wanted, names)) else None
    if isinstance(unit.part, Call) and isinstance(first.part, Call):
        return (1, 1) if _same_call(unit.part, first.part, names) else None
    if isinstance(unit.part, Result) and isinstance(first.part, Result):
        shown = unit.part.text
        masked = is_mark(shown) and stands_for(shown, "", names.ids)
        return (1, 1) if masked or stands_for(shown, first.part.text, names.ids) else None
    return (1, 1) if unit.part == first.part else None


def _same_words(unit: Unit, text: str, wanted: Sequence[Unit], names: _AtomNames) -> int:
    """Return how many of `wanted` make up `text`, since formats may join texts; 0 if they don't."""
    said = text.removeprefix(f"{NOTES}\n")
    if is_mark(said) and stands_for(said, "", names.ids):
        return 1
    words: list[str] = []
    for each in wanted:
        if not isinstance(each.part, Text) or not (unit.role == each.role or each.role == "system" or each.cast):
            break
        words.append(each.text.removeprefix(f"{NOTES}\n"))
    return _count_joined(said, words, names) or _count_joined(said.removeprefix(SYSTEM), words, names)


def _count_joined(said: str, words: Sequence[str], names: _AtomNames) -> int:
    """Return how many of `words` make up `said`; 0 if they don't."""
    if marks(said):
        ends = range(1, len(words) + 1)
        return next((end for end in ends if stands_for(said, "".join(words[:end]), names.ids)), 0)
    rest = said.strip()
    for count, each in enumerate(words, 1):
        if not rest.startswith(each.strip()):
            return 0
        rest = rest[len(each.strip()) :].lstrip()
        if not rest:
            return count
    return 0


def _same_call(shown: Call, call: Call, names: _AtomNames) -> bool:
    if shown.name != call.name or (call.id in names.waiting and shown.id != call.id):
        return False
    if isinstance(shown.arguments, str) or isinstance(call.arguments, str):
        return stands_for(str(shown.arguments), str(call.arguments), names.ids)
    if shown.arguments.keys() != call.arguments.keys():
        return False
    return all(_same_value(value, call.arguments[name], names) for name, value in shown.arguments.items())


def _same_value(shown: object, value: object, names: _AtomNames) -> bool:
    if isinstance(shown, str) and isinstance(value, str):
        return stands_for(shown, value, names.ids)
    return shown == value


def _is_optional(unit: Unit) -> bool:
    """Return whether a format may have dropped or added the unit."""
    return isinstance(unit.part, Media | Opaque) or unit.is_transient


def _is_note(unit: Unit) -> bool:
    return unit.piece is not None and unit.piece.kind == "note"


def _marks(unit: Unit) -> list[str]:
    """Return the abbreviated ids in a unit's marks. Marks that tools print among other text are ignored."""
    if isinstance(unit.part, Result):
        return marks(unit.part.text) if is_mark(unit.part.text) else []
    if isinstance(unit.part, Call):
        given = unit.part.arguments
        texts = [given] if isinstance(given, str) else [value for value in given.values() if isinstance(value, str)]
        return [name for text in texts for name in marks(text)]
    return marks(unit.text) if unit.piece is not None and unit.piece.kind == "said" else []


def _own_draft(draft: Draft, units: Sequence[Unit]) -> tuple[Draft | None, list[str]]:
    """Return the draft of `units` without what Ireneo wrote, and the first lines of the blocks left out."""
    parts: list[Part] = []
    dropped: list[str] = []
    seen: set[int] = set()
    for unit in units:
        if unit.place in seen or without_spaces(_unit_text(unit)) in _OF_NOBODY:
            continue
        if unit.is_block or _is_note(unit):
            dropped += [unit.text.partition("\n")[0]] if unit.is_block else []
            continue
        seen.add(unit.place)
        parts.append(_rest_of_part(unit))
    if tuple(parts) == draft.parts:
        return draft, dropped
    if all(isinstance(part, Thinking | Opaque) for part in parts):
        return None, dropped
    origin = origin_of(parts) if draft.role == "user" else "spoken"
    return replace(draft, parts=tuple(parts), origin=origin, native=None), dropped


def _separate_own_parts(draft: Draft, units: Sequence[Unit]) -> list[Draft]:
    """Return what Ireneo wrote in drafts of its own, and then the draft without it."""
    if all(unit.is_block or _is_note(unit) for unit in units) and len(draft.parts) == 1:
        return [replace(draft, origin="summary" if units[0].is_block else "injected", native=None)]
    ours: list[Draft] = []
    for unit in units:
        if unit.is_block or _is_note(unit):
            parts = (Text(text=unit.text),)
            ours.append(Draft(role=draft.role, parts=parts, origin="summary" if unit.is_block else "injected"))
    rest, _ = _own_draft(draft, units)
    return [*ours, rest] if rest else ours


def _unit_text(unit: Unit) -> str:
    if isinstance(unit.part, Call):
        return unit.part.name
    return unit.part.text if isinstance(unit.part, Result) else unit.text


def _rest_of_part(unit: Unit) -> Part:
    """Return the unit's part from the beginning of the unit on."""
    if not isinstance(unit.part, Text) or unit.piece is None or not unit.part.text[: unit.piece.start].strip():
        return unit.part
    return replace(unit.part, text=unit.part.text[unit.piece.start :])


def _expected_units(group: Sequence[Message], chat: ChatFormat) -> Iterator[list[Unit]]:
    """Yield what a list may contain for `group`: the messages as they are logged, and as the format writes them."""
    plain = [with_names_in_text(message.draft) for message in group]
    yield _whole_units(plain)
    yield _whole_units(_round_trip(plain, chat))


def _round_trip(drafts: Sequence[Draft], chat: ChatFormat) -> list[Draft]:
    payload = chat.encode([replace(draft, native=None) for draft in drafts])
    return chat.decode({"messages": payload.messages, "system": payload.system})


def _groups(messages: Sequence[Message]) -> list[Sequence[Message]]:
    """Return the atoms of `messages`; the system messages at the beginning are one group, since formats join them."""
    first = next((at for at, message in enumerate(messages) if message.role != "system"), len(messages))
    return [*([messages[:first]] if first else []), *atoms(messages[first:])]


def _units(drafts: Sequence[Draft]) -> Iterator[Unit]:
    for at, draft in enumerate(drafts):
        for place, part in enumerate(draft.parts):
            unit = Unit(part=part, role=draft.role, draft=at, place=place)
            if isinstance(part, Text):
                yield from (replace(unit, piece=piece) for piece in pieces(part.text, NOTES))
            else:
                yield unit


def _whole_units(drafts: Sequence[Draft]) -> list[Unit]:
    return [
        Unit(
            part=part,
            role=draft.role,
            draft=at,
            place=place,
            piece=Piece(kind="said", text=part.text, start=0) if isinstance(part, Text) else None,
            cast=draft.origin == "summary",
        )
        for at, draft in enumerate(drafts)
        for place, part in enumerate(draft.parts)
    ]


class NewDrafts(Struct, frozen=True, kw_only=True):
    """The part of a list that is to be stored, and where."""

    drafts: tuple[Draft, ...]
    ids: tuple[MessageId, ...] = ()
    """The path's messages that precede these drafts in the list."""
    dropped: tuple[str, ...] = ()
    from_head: bool = False
    """Whether the drafts continue from the branch's head, wherever the list was to be appended."""


class AppendPlace:
    """A place to append a list to, which may be a context that came back."""

    def __init__(
        self, key: SessionKey, branch: str, head: Head | None, place: Head | None, placed: bool, shown: MessageId | None
    ) -> None:
        self.key = key
        self.branch = branch
        self.head = head
        self.place = place
        self.placed = placed
        """Whether `after` was given: then the list is expected to repeat the path from there on."""
        self.shown = shown

    def settle(self, tx: Transaction, returned: Sequence[ReturnedContext]) -> NewDrafts:
        """Decide what of a list is new; the list may have been read in several ways."""
        first = returned[0]
        if self.head is None:
            return NewDrafts(drafts=first.separate_drafts())
        path = ReturnedPath(tx, self.key, self.head)
        covers = path.covered_stretches(first)
        known = len(covers) + path.count_marks(first)
        begins = self._possible_starts(tx, first, covers, known)
        aligned: Alignment | None = None
        for each in returned if len(returned) > 1 and returned[1].drafts != first.drafts else returned[:1]:
            # A user may quote a block; the path is then present without it.
            for begin, found in [(begin, found) for begin in begins for found in ([covers, []] if covers else [[]])]:
                tried = path.align(each, found, begin)
                # An older context without anything after it contains nothing new.
                if tried.place and not tried.reached and each.is_at_end(tried.place) and (self.placed or known):
                    return NewDrafts(drafts=(), ids=tried.ids, from_head=True)
                # Empty messages and prompts are on every path, so a list of only these is appended at the given place.
                tells = tried.place > 0 or not (tried.ids or each.has_prompt)
                if tried.reached and tells and (self.placed or known or self._was_shown(tried, each)):
                    drafts, dropped = each.new_drafts(tried.place)
                    return NewDrafts(drafts=drafts, ids=tried.ids, dropped=dropped, from_head=True)
                if aligned is None or tried.place > aligned.place:
                    aligned = tried
        if self.placed and (known or first.is_shown):
            raise self._refusal(first, aligned)
        if not self.placed and known and (known > 1 or (aligned is not None and aligned.ids)):
            raise self._refusal(first, aligned)
        drafts, dropped = first.new_drafts(0) if first.blocks else (first.drafts, ())
        return NewDrafts(drafts=drafts, dropped=dropped)

    def _possible_starts(
        self, tx: Transaction, returned: ReturnedContext, covers: Sequence[CoveredStretch], known: int
    ) -> list[int]:
        """Return the positions of the path at which the list may begin."""
        if self.placed:
            if self.place is None:
                return [0]
            return [self.place.position + 1] if passes_through(tx, self.key, self.head, self.place) else []
        if known:
            opens = [covers[0].first] if covers and returned.opens_with_block else []
            return [0, *opens]
        # Without our ids, only the last context can be distinguished from repeated words.
        return [0] if self.shown is not None else []

    def _was_shown(self, aligned: Alignment, returned: ReturnedContext) -> bool:
        """Return whether a list without ids is the last context, and not the same words said again."""
        goes_on = aligned.place < len(returned.units)
        calls = any(isinstance(unit.part, Call) for unit in returned.units)
        return self.shown in aligned.ids and (goes_on or calls)

    def _refusal(self, returned: ReturnedContext, aligned: Alignment | None) -> BadInput:
        words = returned.words_at(aligned.place if aligned else 0)
        where = f"from “{words}” on" if words else "at its end"
        return BadInput(
            f"This list holds parts of a context, but {where} it is not what branch {self.branch!r} of session "
            f"{self.key.session} says; hand in the last context as it was with the new messages behind it, or the new "
            "messages alone, and rewind first where the session is to go on from an earlier place."
        )
