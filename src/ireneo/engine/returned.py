"""Recognise a context that comes back as history: which messages of the path it contains, and what is new.

A caller who sends `context()` to a model returns it with the next messages after it. In a context, whatever replaces
messages has their ids; blocks, marks, pins and scratchpads were written by Ireneo. The list is aligned with the path,
and only what is new is stored.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

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
_MARK = lazy_re(rf"^\[[^\n]* · open with (m_{_ID})(?: …)?\]$", re.M)
_BLANK = lazy_re(r"\n\n+")
_OURS = (*BLOCK_TAGS, PINS_TAG, PAD_TAG)


def _own_part_pattern() -> str:
    tags = "|".join(map(re.escape, BLOCK_TAGS))
    headings = "|".join(re.escape(style.heading) for style in WORK.sections("turn").values() if style.heading)
    pins, pad, pad_end = map(re.escape, (PINS_TAG, PAD_TAG, CLOSING[PAD_TAG]))
    # A story's block ends at a blank line, another one after its last line that looks like one of a block.
    story = re.escape(BLOCK_TAGS[2])
    lines = rf"(?(story)(?:\n[^\n]+)*|(?:(?:\n[^\n]+)*\n(?:{headings}|[ ]*- [^\n]*)(?=\n|\Z))?)"
    return (
        rf"(?:{re.escape(NOTES)}\s*)?(?:"
        rf"(?P<gap>(?:{tags}) [^\n]*? · open with (?P<first>m_{_ID})(?: to (?P<last>m_{_ID}))?$)"
        rf"|(?P<block>(?:(?P<story>{story})|{tags}) [^\n]*? · open with (?P<id>s_{_ID})[^\n]*{lines})"
        rf"|(?P<note>{pins}[^\n]*(?:\n(?:- |\()[^\n]*)*)"
        rf"|(?P<pad>{pad}[\s\S]*?(?:{pad_end}|\Z)))"
    )


_OWN_PART = lazy_re(_own_part_pattern, re.M)
_OF_NOBODY = frozenset("".join(each.split()) for each in (BEGINNING, UNANSWERED))
"""Texts that formats add to a list to make it valid, without white space."""
MAX_QUOTED = 60
"""Characters quoted in an error."""

Kind = Literal["block", "gap", "note", "said", "other"]


class Piece(Struct, frozen=True, kw_only=True):
    """A part of a text: a block, a line for left-out messages, a note (pins or a scratchpad), or plain words."""

    kind: Kind
    text: str = ""
    start: int = 0
    """The index in the text at which the part begins."""
    first: str = ""
    """The beginning of the block's id, or of the id of the first left-out message."""
    last: str = ""
    """The beginning of the id of the last left-out message."""


def pieces(text: str) -> list[Piece]:
    """Split `text` into what Ireneo wrote and the words between.

    What Ireneo wrote begins the text or follows a blank line. Words that quote a block within a sentence are plain
    words.
    """
    if not any(tag in text for tag in _OURS):
        return [Piece(kind="said", text=text)]
    out: list[Piece] = []
    place = 0
    while rest := text[place:].lstrip():
        place = len(text) - len(rest)
        piece = _own_part(text, place)
        if piece is None:
            begins = (found.end() for found in _BLANK.finditer(text, place) if _own_part(text, found.end()))
            piece = Piece(kind="said", text=text[place : next(begins, len(text))].rstrip(), start=place)
        place += len(piece.text)
        out.append(piece)
    return out


def _own_part(text: str, place: int) -> Piece | None:
    """Return the part by Ireneo that begins at `place`, if there is one."""
    found = _OWN_PART.match(text, place)
    if found is None or (found["pad"] and not is_recalled(found["pad"])):
        return None
    kind: Kind = "gap" if found["gap"] else "block" if found["block"] else "note"
    first = found["first"] or found["id"] or ""
    return Piece(kind=kind, text=found[0], start=place, first=first, last=found["last"] or first)


def stands_for(shown: str, whole: str, ids: Collection[MessageId]) -> bool:
    """Whether `shown` is `whole`, or `whole` shortened by marks that open one of `ids`.

    A shortened text begins and ends as the whole does, white space aside. Marks that open anything else were quoted in
    `whole` itself.
    """
    if shown.strip() == whole.strip():
        return True
    known = {short(each) for each in ids}
    own = [mark for mark in _MARK.finditer(shown) if mark[1] in known]
    if not own:
        return False
    # A block of code that is cut is closed before the mark.
    begin = without_spaces(shown[: own[0].start()]).rstrip("`~")
    end = without_spaces(shown[own[-1].end() :].rpartition("\n")[2])
    told = map(without_spaces, (whole, without_reminders(whole)))
    return any(each.startswith(begin) and each.endswith(end) for each in told)


def without_spaces(text: str) -> str:
    """`text` without white space."""
    return "".join(text.split())


class Unit(Struct, frozen=True, kw_only=True):
    """The smallest unit that is compared with the path: a call, a result, or a piece of text."""

    part: Part
    role: Role
    draft: int
    """The index of the draft that has the unit."""
    place: int
    """The index of the unit's part in that draft."""
    piece: Piece = Piece(kind="other")
    """For a text: the piece of it that is this unit."""
    cast: bool = False
    """Whether the unit is another tool's summary, whose role a format may change."""

    @property
    def text(self) -> str:
        """The words of the unit, for a call the tool's name."""
        if isinstance(self.part, Call):
            return self.part.name
        return self.part.text if isinstance(self.part, Result) else self.piece.text

    @property
    def is_block(self) -> bool:
        """Whether the unit replaces messages, which it names by their ids."""
        return self.piece.kind in ("block", "gap")

    @property
    def is_ours(self) -> bool:
        """Whether Ireneo wrote the unit."""
        return self.is_block or self.piece.kind == "note"

    @property
    def is_transient(self) -> bool:
        """Whether the unit belongs to no message: pins, a scratchpad, a brief, thinking, or what a format added."""
        if self.piece.kind == "other":
            return isinstance(self.part, Thinking) or (isinstance(self.part, Result) and self.is_of_nobody)
        text = self.text.removeprefix(f"{SYSTEM} ")
        return self.piece.kind == "note" or not text.strip() or self.is_of_nobody or is_recalled(text)

    @property
    def is_of_nobody(self) -> bool:
        """Whether a format added the unit to make a list valid."""
        return without_spaces(self.text) in _OF_NOBODY

    @property
    def marks(self) -> list[str]:
        """The abbreviated ids in the unit's marks. Marks that tools print among other text are ignored."""
        if isinstance(self.part, Result):
            found = _MARK.fullmatch(self.part.text.strip())
            return [found[1]] if found else []
        if isinstance(self.part, Call):
            given = self.part.arguments
            texts = [given] if isinstance(given, str) else [each for each in given.values() if isinstance(each, str)]
            return [name for text in texts for name in _MARK.findall(text)]
        return _MARK.findall(self.text) if self.piece.kind == "said" else []


def _units(drafts: Sequence[Draft], *, split: bool) -> Iterator[Unit]:
    """The units of drafts; with `split` what Ireneo wrote into a text is a unit of its own."""
    for at, draft in enumerate(drafts):
        for place, part in enumerate(draft.parts):
            unit = Unit(part=part, role=draft.role, draft=at, place=place, cast=not split and draft.origin == "summary")
            if isinstance(part, Text):
                found = pieces(part.text) if split else [Piece(kind="said", text=part.text)]
                yield from (replace(unit, piece=piece) for piece in found)
            else:
                yield unit


class CoveredStretch(Struct, frozen=True, kw_only=True):
    """The positions on the path that a block covers."""

    unit: int
    """The index of the block's unit."""
    first: int
    last: int


class ReturnedContext:
    """A list that was passed in, examined as a context that may have come back."""

    def __init__(self, drafts: Sequence[Draft], chat: ChatFormat) -> None:
        self.drafts = tuple(drafts)
        self.chat = chat
        self.units = tuple(_units(drafts, split=True))
        self.blocks: list[int] = []
        """The indices of units that replace messages; blocks after plain words in the same text are quotations."""
        spoken: set[tuple[int, int]] = set()
        for place, unit in enumerate(self.units):
            if unit.piece.kind == "said":
                spoken.add((unit.draft, unit.place))
            elif unit.is_block and (unit.draft, unit.place) not in spoken:
                self.blocks.append(place)
        self.is_shown = bool(self.blocks) or any(unit.piece.kind == "note" for unit in self.units)
        """Whether the list holds anything that only Ireneo writes."""

    def new_drafts(self, begin: int) -> tuple[tuple[Draft, ...], tuple[str, ...]]:
        """Return the drafts from the unit `begin` on without Ireneo's parts, and the first lines of its blocks."""
        units = self.units[begin:]
        drafts = range(units[0].draft if units else len(self.drafts), len(self.drafts))
        own = (_own_draft(self.drafts[at], [unit for unit in units if unit.draft == at]) for at in drafts)
        dropped = (self.units[place].text.partition("\n")[0] for place in self.blocks if place >= begin)
        return tuple(filter(None, own)), tuple(dropped)

    def separate_drafts(self) -> tuple[Draft, ...]:
        """Return the drafts, with Ireneo's parts in separate ones, so that nobody is taken to have said them."""
        written = {self.units[place].draft for place in self.blocks}
        written |= {unit.draft for unit in self.units if unit.piece.kind == "note"}
        out: list[Draft] = []
        for at, draft in enumerate(self.drafts):
            units = [unit for unit in self.units if unit.draft == at]
            out += _separate_own_parts(draft, units) if at in written else [draft]
        return tuple(out)


def _own_draft(draft: Draft, units: Sequence[Unit]) -> Draft | None:
    """Return the draft of `units` without what Ireneo wrote; None if nothing is left."""
    parts: dict[int, Part] = {}
    for unit in units:
        if unit.place not in parts and not unit.is_of_nobody and not unit.is_ours:
            part = unit.part
            if isinstance(part, Text) and part.text[: unit.piece.start].strip():
                part = replace(part, text=part.text[unit.piece.start :])
            parts[unit.place] = part
    left = tuple(parts.values())
    if left == draft.parts:
        return draft
    if all(isinstance(part, Thinking | Opaque) for part in left):
        return None
    return replace(draft, parts=left, origin=origin_of(left) if draft.role == "user" else "spoken", native=None)


def _separate_own_parts(draft: Draft, units: Sequence[Unit]) -> list[Draft]:
    """Return what Ireneo wrote in drafts of its own, and then the draft without it."""
    ours = [unit for unit in units if unit.is_ours]
    if len(ours) == len(units) and len(draft.parts) == 1:
        return [replace(draft, origin="summary" if units[0].is_block else "injected", native=None)]
    apart = [
        Draft(role=draft.role, parts=(Text(text=unit.text),), origin="summary" if unit.is_block else "injected")
        for unit in ours
    ]
    rest = _own_draft(draft, units)
    return [*apart, rest] if rest else apart


class _PathMatcher:
    """Reads a list along a path, atom by atom."""

    def __init__(self, returned: ReturnedContext, position: int) -> None:
        self.units = returned.units
        self.chat = returned.chat
        self.place = 0
        """The index after the last unit that agrees with the path."""
        self.position = position
        """The position of the next message."""
        self.ids: list[MessageId] = []
        """The messages of the path that the list itself contains, in order."""
        self.reached = False
        """Whether the list contains the path up to its end."""
        self._atom: Sequence[MessageId] = ()
        self._waiting: set[str] = set()
        """The ids of the atom's calls without a result yet, which only their id identifies."""

    def read(self, messages: Sequence[Message], end: int | None) -> bool:
        """Return whether the units up to `end` are `messages`; without `end` more units may follow.

        System messages may be missing, and units that stand for no message, such as pins, are skipped.
        """
        for group in _groups(messages):
            place = self._match_group(group, len(self.units) if end is None else end)
            if place is not None:
                self.place = place
                self.ids += self._atom
            elif any(message.role != "system" for message in group):
                # Formats that keep the prompt apart return the messages alone.
                return False
            self.position = group[-1].position + 1
        return end is None or _stand_for_nothing(self.units[self.place : end])

    def _match_group(self, group: Sequence[Message], end: int) -> int | None:
        """Return the index after the units of `group`, as they are logged or as the format writes them."""
        drafts = [with_names_in_text(message.draft) for message in group]
        self._atom = [message.id for message in group]
        answered = {result.call_id for draft in drafts for result in draft.results}
        self._waiting = {call.id for draft in drafts for call in draft.calls} - answered
        if (place := self._match_units(_units(drafts, split=False), end)) is not None:
            return place
        payload = self.chat.encode([replace(draft, native=None) for draft in drafts])
        written = self.chat.decode({"messages": payload.messages, "system": payload.system})
        return self._match_units(_units(written, split=False), end)

    def _match_units(self, wanted: Iterable[Unit], end: int) -> int | None:
        place, left = self.place, list(wanted)
        while left:
            at = place
            while at < end and not (same := self._compare(at, left)) and self.units[at].is_transient:
                at += 1
            if at < end and same:
                place = at + same[0]
                del left[: same[1]]
            elif isinstance(left[0].part, Media | Opaque) or left[0].is_transient:
                # A format may have dropped or added it.
                del left[0]
            else:
                return None
        return place

    def _compare(self, at: int, wanted: Sequence[Unit]) -> tuple[int, int] | None:
        """Return how many units from `at` on agree with how many of `wanted`; None if they differ."""
        unit, first = self.units[at], wanted[0]
        if isinstance(unit.part, Text):
            # A text that quotes a block is compared as a whole first.
            more = sum(1 for each in self.units[at:] if each.part is unit.part)
            if more > 1 and (count := self._same_words(unit, unit.part.text, wanted)):
                return more, count
            return (1, count) if (count := self._same_words(unit, unit.text, wanted)) else None
        if isinstance(unit.part, Call) and isinstance(first.part, Call):
            same = self._same_call(unit.part, first.part)
        elif isinstance(unit.part, Result) and isinstance(first.part, Result):
            same = self._is_masked(unit.text) or stands_for(unit.text, first.text, self._atom)
        else:
            same = unit.part == first.part
        return (1, 1) if same else None

    def _is_masked(self, text: str) -> bool:
        """Whether `text` is only the mark of one of the atom's messages: of a masked output, or of left-out media."""
        return _MARK.fullmatch(text.strip()) is not None and stands_for(text, "", self._atom)

    def _same_words(self, unit: Unit, text: str, wanted: Sequence[Unit]) -> int:
        """Return how many of `wanted` make up `text`, since formats may join texts; 0 if they don't."""
        said = text.removeprefix(f"{NOTES}\n")
        if self._is_masked(said):
            return 1
        words: list[str] = []
        for each in wanted:
            if not isinstance(each.part, Text) or not (unit.role == each.role or each.role == "system" or each.cast):
                break
            words.append(each.text.removeprefix(f"{NOTES}\n"))
        return self._count_joined(said, words) or self._count_joined(said.removeprefix(SYSTEM), words)

    def _count_joined(self, said: str, words: Sequence[str]) -> int:
        """Return how many of `words` make up `said`; 0 if they don't."""
        if _MARK.search(said):
            ends = range(1, len(words) + 1)
            return next((end for end in ends if stands_for(said, "".join(words[:end]), self._atom)), 0)
        rest = said.strip()
        for count, each in enumerate(words, 1):
            if not rest.startswith(each.strip()):
                return 0
            rest = rest[len(each.strip()) :].lstrip()
            if not rest:
                return count
        return 0

    def _same_call(self, shown: Call, call: Call) -> bool:
        if shown.name != call.name or (call.id in self._waiting and shown.id != call.id):
            return False
        if isinstance(shown.arguments, str) or isinstance(call.arguments, str):
            return stands_for(str(shown.arguments), str(call.arguments), self._atom)
        if shown.arguments.keys() != call.arguments.keys():
            return False
        pairs = ((value, call.arguments[name]) for name, value in shown.arguments.items())
        return all(
            stands_for(one, other, self._atom) if isinstance(one, str) and isinstance(other, str) else one == other
            for one, other in pairs
        )


def _stand_for_nothing(units: Sequence[Unit]) -> bool:
    return all(unit.is_transient for unit in units)


def _groups(messages: Sequence[Message]) -> list[Sequence[Message]]:
    """Return the atoms of `messages`; the system messages at the beginning are one group, since formats join them."""
    first = next((at for at, message in enumerate(messages) if message.role != "system"), len(messages))
    return [*([messages[:first]] if first else []), *atoms(messages[first:])]


class NewDrafts(Struct, frozen=True, kw_only=True):
    """The part of a list that is to be stored, and where."""

    drafts: tuple[Draft, ...]
    ids: tuple[MessageId, ...] = ()
    """The path's messages that precede these drafts in the list."""
    dropped: tuple[str, ...] = ()
    from_head: bool = False
    """Whether the drafts continue from the branch's head, wherever the list was to be appended."""


def what_is_new(
    returned: Sequence[ReturnedContext],
    tx: Transaction,
    key: SessionKey,
    branch: str,
    *,
    head: Head | None,
    place: Head | None,
    placed: bool,
    shown: MessageId | None,
) -> NewDrafts:
    """Decide what of a list is new that is to be appended at `place`; the list may have been read in several ways.

    `placed` says that the caller named the place: then the list is expected to repeat the path from there on. `shown`
    is the last message of the last context, if that was shown whole.
    """
    if head is None:
        return NewDrafts(drafts=returned[0].separate_drafts())
    place_to_append = _AppendPlace(tx=tx, key=key, branch=branch, head=head, place=place, placed=placed, shown=shown)
    return place_to_append.settle(returned)


class _AppendPlace(Struct, frozen=True, kw_only=True):
    tx: Transaction
    key: SessionKey
    branch: str
    head: Head
    place: Head | None
    placed: bool
    shown: MessageId | None

    def settle(self, returned: Sequence[ReturnedContext]) -> NewDrafts:
        first = returned[0]
        covers = self._covered_stretches(first)
        marked = [names[0] for unit in first.units if (names := unit.marks)]
        known = len(covers) + sum([self._position(name) is not None for name in marked])
        begins = self._possible_starts(first, covers, known)
        best: _PathMatcher | None = None
        for each in returned if len(returned) > 1 and returned[1].drafts != first.drafts else returned[:1]:
            # A user may quote a block; the path is then present without it.
            for begin, found in [(begin, found) for begin in begins for found in ([covers, []] if covers else [[]])]:
                tried = self._align(each, found, begin)
                ids = tuple(tried.ids)
                # An older context without anything after it contains nothing new.
                is_over = tried.place > 0 and _stand_for_nothing(each.units[tried.place :])
                if is_over and not tried.reached and (self.placed or known):
                    return NewDrafts(drafts=(), ids=ids, from_head=True)
                # Empty messages and prompts are on every path, so a list of only these is appended at the given place.
                # Without a system message, the path's prompt may have been sent separately.
                tells = tried.place > 0 or not (ids or any(draft.role == "system" for draft in each.drafts))
                if tried.reached and tells and (self.placed or known or self._was_shown(tried)):
                    drafts, dropped = each.new_drafts(tried.place)
                    return NewDrafts(drafts=drafts, ids=ids, dropped=dropped, from_head=True)
                if best is None or tried.place > best.place:
                    best = tried
        is_context = (
            (known or first.is_shown) if self.placed else known > 1 or (known and best is not None and best.ids)
        )
        if is_context:
            raise self._refusal(first, best.place if best else 0)
        drafts, dropped = first.new_drafts(0) if first.blocks else (first.drafts, ())
        return NewDrafts(drafts=drafts, dropped=dropped)

    def _possible_starts(self, returned: ReturnedContext, covers: Sequence[CoveredStretch], known: int) -> list[int]:
        """Return the positions of the path at which the list may begin."""
        if self.placed:
            if self.place is None:
                return [0]
            return [self.place.position + 1] if passes_through(self.tx, self.key, self.head, self.place) else []
        if known:
            opens = covers and returned.blocks and _stand_for_nothing(returned.units[: returned.blocks[0]])
            return [0, covers[0].first] if opens else [0]
        # Without our ids, only the last context can be distinguished from repeated words.
        return [0] if self.shown is not None else []

    def _was_shown(self, tried: _PathMatcher) -> bool:
        """Return whether a list without ids is the last context, and not the same words said again."""
        goes_on = tried.place < len(tried.units)
        return self.shown in tried.ids and (goes_on or any(isinstance(unit.part, Call) for unit in tried.units))

    def _refusal(self, returned: ReturnedContext, place: int) -> BadInput:
        words = (" ".join(unit.text.split()) for unit in returned.units[place:])
        quoted = clip(next(filter(None, words), ""), MAX_QUOTED)
        where = f"from “{quoted}” on" if quoted else "at its end"
        return BadInput(
            f"This list holds parts of a context, but {where} it is not what branch {self.branch!r} of session "
            f"{self.key.session} says; hand in the last context as it was with the new messages behind it, or the new "
            "messages alone, and rewind first where the session is to go on from an earlier place."
        )

    def _align(self, returned: ReturnedContext, covers: Sequence[CoveredStretch], begin: int) -> _PathMatcher:
        """Compare a list with the path from position `begin` on."""
        matching = _PathMatcher(returned, begin)
        for cover in covers:
            before = self._messages(matching.position, cover.first - 1)
            if cover.first < matching.position or not matching.read(before, cover.unit):
                return matching
            matching.place, matching.position = cover.unit + 1, cover.last + 1
        matching.reached = matching.read(self._messages(matching.position, self.head.position), None)
        return matching

    def _covered_stretches(self, returned: ReturnedContext) -> list[CoveredStretch]:
        """Return what the list's blocks cover, for those blocks that lie on the path in order."""
        out: list[CoveredStretch] = []
        for place in returned.blocks:
            found = self._stretch(returned.units[place].piece)
            if found is not None and found[0] > (out[-1].last if out else -1):
                out.append(CoveredStretch(unit=place, first=found[0], last=found[1]))
        return out

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

    def _messages(self, first: int, last: int) -> Sequence[Message]:
        return self.tx.log.path(self.key, self.head.id, first, last) if first <= last else ()

    def _position(self, name: str) -> int | None:
        """Return the position of the path's message with that abbreviated id, if there is one."""
        for message in self.tx.log.find(self.key, [name]):
            if passes_through(self.tx, self.key, self.head, head_of(message)):
                return message.position
        return None
