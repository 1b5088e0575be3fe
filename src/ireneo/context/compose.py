"""Compose a context: choose what is shown of a path, in which order and within which limits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Literal

from msgspec import Struct

from ireneo.context.allot import Statements, terms
from ireneo.context.view import (
    MIN_BLOCK_TOKENS,
    ContextItem,
    ViewSlot,
    block_limit,
    fixed_cost,
    injected,
    mask,
    settle,
    slot_verbatim,
    slot_within,
    slots_within,
    verbatim,
)
from ireneo.language.files import either, topic
from ireneo.language.topics import Rulings
from ireneo.log.calls import atoms, next_loop, running_turn
from ireneo.log.message import MESSAGE_TOKENS, PINS_TAG, Count, Message, short, texts
from ireneo.log.tree import Annotation, AnnotationId
from ireneo.patterns import lazy_re
from ireneo.summaries.by_hand import canon, current_wordings
from ireneo.summaries.judge import MEDIUM, MILD, STANDING, STRONG
from ireneo.summaries.pins import BY_HAND, constraints, pinned, standing
from ireneo.summaries.policy import Policy
from ireneo.summaries.summary import Line, Summary
from ireneo.summaries.work import RowItem, cover_row, loose_from, open_block, strategy_of

ThinkingMode = Literal["prefix", "turn", "none"]
"""Which signed thinking may be shown: as long as nothing before it changed; of the running turn only; none."""


class ContextOptions(Struct, frozen=True, kw_only=True, dict=True):
    """The options of a context."""

    budget: int
    policy: Policy
    count: Count
    thinking: ThinkingMode = "none"
    asked: ThinkingMode | None = None
    """The mode that the caller asked for; None: that of the format."""
    notes: tuple[Annotation, ...] = ()
    """The annotations along the path."""
    rebuild: bool = False
    """Rebuild the context, even if its beginning could stay."""
    idle_seconds: float | None = None
    """Seconds since the last context was asked for; None where unknown."""

    kept: Statements | None = None
    """Cached statements from earlier contexts, counted by `count`."""
    notes_share: float | None = None
    """The room of this context for a model's notes, as a share of what they are on; None: unknown."""

    @cached_property
    def statements(self) -> Statements:
        """The priced statements of summaries."""
        return self.kept or Statements(self.count, strategy_of(self.policy))

    def ruled(self, rule: ThinkingMode) -> ThinkingMode:
        """The thinking mode for a format with this rule."""
        return rule if rule == "none" or self.asked is None else self.asked

    @cached_property
    def pins(self) -> tuple[list[Line], list[Line]]:
        """The pins and releases among the notes."""
        return pinned(self.notes)

    @cached_property
    def disputes(self) -> dict[str, list[Annotation]]:
        """The disputes by the stretch that they are about."""
        out: dict[str, list[Annotation]] = {}
        for note in self.notes:
            if note.kind == "dispute":
                out.setdefault(note.about, []).append(note)
        return out

    @cached_property
    def canon(self) -> list[Annotation]:
        """The canon of a story."""
        return canon(self.notes, self.policy.seen_by)

    @cached_property
    def by_hand(self) -> list[Annotation]:
        """The wordings of a story's summaries that were written by hand and stand."""
        return current_wordings(self.notes, self.policy.seen_by)

    def disputes_of(self, summary: Summary) -> list[AnnotationId]:
        """The ids of the disputes of a summary's stretch."""
        return [note.id for note in self.disputes.get(summary.stretch, ())]

    def doubts(self, summary: Summary) -> list[Annotation]:
        """The disputes that a summary does not answer."""
        answered = summary.writing.disputes if summary.writing else ()
        return [note for note in self.disputes.get(summary.stretch, ()) if note.id not in answered]


SHARES = ((BY_HAND, 0.5), (STANDING, 0.4), (STRONG, 0.35), (MEDIUM, 0.25), (MILD, 0.12))
"""Share of the room that pins of at least this strength may take, together with all stronger ones."""
WITH_SOURCES = 2_000
"""From this room on, each pin names the message that it comes from."""
WITH_COUNT = 400
"""From this room on, it is said how many pins have no room where none has."""
NOTES_SHARE = 0.5
"""Share of a context for pins and releases by hand, where they were made."""
HEADING = f"{PINS_TAG} Constraints that stand, word for word:"


TOLD_SHARE, QUOTED_SHARE = 0.5, 0.3
"""A note on the message of a pin tells it where it has the first share of the pin's words, and quotes the second or
denies where the pin does."""
_QUOTED = lazy_re(r"“(?P<curly>[^“”]{4,1000})”|\"(?P<straight>[^\"\n]{4,1000})\"")
_DENIES = lazy_re(lambda: rf"\b{either(topic(Rulings).negates)}", re.IGNORECASE)


def pin_block(
    items: Iterable[Summary | Message],
    said: Sequence[str],
    options: ContextOptions,
    room: int,
    notes: Sequence[Line] = (),
) -> ContextItem | None:
    """Show the standing pins of `items` and those by hand, without those that the shown texts `said` contain.

    Pins that one of a model's `notes` tells are left out too, except those by hand. Where `room` is too small for all,
    the strongest are shown, and how many are left out.
    """
    pins, lifts = constraints(items, in_story=options.policy.story is not None)
    pins = [pin for pin in pins if not any(_tells(note, pin) for note in notes)]
    ends = (item.last_position if isinstance(item, Summary) else item.position for item in items)
    end = max(ends, default=0)
    by_hand, released = options.pins
    # Notes at the end of the path are shown there, so that a block once shown stays the same.
    pins += [pin for pin in by_hand if pin.position < end]
    lifts += [lift for lift in released if lift.position < end]
    shown = " ".join("\n".join(said).split())
    missing = [pin for pin in standing(pins, lifts) if " ".join(pin.text.split()) not in shown]
    chosen = _fitting(missing, options, room)
    if chosen:
        lines = [HEADING, *(_line(pin, sources=room >= WITH_SOURCES) for pin in chosen)]
        if len(missing) > len(chosen):
            lines.append(f"({len(missing) - len(chosen)} more have no room here.)")
    elif missing and room >= WITH_COUNT:
        lines, chosen = [f"{PINS_TAG} {len(missing)} standing constraints have no room here."], missing
    else:
        return None
    first, last = chosen[0].sources[:1], chosen[-1].sources[-1:]
    return injected("pins", "pins", "\n".join(lines), options.count, *(first or ("",)), *(last or ("",)))


def _tells(note: Line, pin: Line) -> bool:
    words = terms(pin.text)
    if set(pin.sources).isdisjoint(note.sources) or len(words & terms(note.text)) < TOLD_SHARE * len(words):
        return False
    quoted = terms(" ".join(found["curly"] or found["straight"] for found in _QUOTED.finditer(note.text)))
    if len(words & quoted) >= QUOTED_SHARE * len(words):
        return True
    return bool(_DENIES.search(pin.text)) == bool(_DENIES.search(note.text))


def note(annotation: Annotation, count: Count) -> ContextItem | None:
    """Show a pin or release by hand; other annotations have no text of their own in a context."""
    if annotation.kind not in ("pin", "release") or annotation.by != "hand":
        return None
    heading = HEADING if annotation.kind == "pin" else f"{PINS_TAG} Lifted, and holds no longer:"
    return injected("pins", annotation.id, f"{heading}\n- {annotation.text}", count, annotation.at, annotation.at)


def fitting_notes(
    annotations: Sequence[Annotation], count: Count, room: int
) -> tuple[dict[AnnotationId, ContextItem], ContextItem | None]:
    """The pins and releases by hand that fit into `room` tokens, by id, and one line that counts the other pins.

    The newest pins are taken first, releases last.
    """
    told = {each.id: shown for each in annotations if (shown := note(each, count))}
    if sum(shown.tokens for shown in told.values()) <= room:
        return told, None
    kept: set[str] = set()
    left: list[Annotation] = []
    pins = [each for each in annotations if each.kind == "pin"]
    others = [each for each in annotations if each.kind != "pin"]
    for each in (*reversed(pins), *reversed(others)):
        if each.id in told and told[each.id].tokens <= room:
            room -= told[each.id].tokens
            kept.add(each.id)
        elif each.id in told and each.kind == "pin":
            left.append(each)
    fitting = {name: shown for name, shown in told.items() if name in kept}
    if not left:
        return fitting, None
    text = f"{PINS_TAG} {len(left)} standing constraints have no room here."
    return fitting, injected("pins", "pins", text, count, left[-1].at, left[0].at)


def _fitting(pins: Sequence[Line], options: ContextOptions, room: int) -> list[Line]:
    """The strongest pins that fit, in path order."""
    used = options.count(HEADING) + MESSAGE_TOKENS
    chosen: list[Line] = []
    costs = {id(pin): options.statements.recount(_line(pin, sources=room >= WITH_SOURCES)) + 1 for pin in pins}
    for pin in sorted(pins, key=lambda line: (-line.weight, costs[id(line)])):
        share = max((share for weight, share in SHARES if pin.weight >= weight), default=SHARES[-1][1])
        if used + costs[id(pin)] <= room * share:
            used += costs[id(pin)]
            chosen.append(pin)
    return sorted(chosen, key=lambda line: line.position)


def _line(pin: Line, *, sources: bool) -> str:
    words = " ".join(pin.text.split())
    return f"- {words} · {short(pin.sources[0])}" if sources and pin.sources else f"- {words}"


BLOCK_TOKENS = 360
"""Blocks with less than this on average say little beside their frames: a coarser one serves better."""
CRAMPED_TOKENS, CRAMPED_RATIO = 1_500, 12
"""The past becomes one block if the room is under `CRAMPED_TOKENS` and the past over `CRAMPED_RATIO` times as large:
the frames of several blocks would displace their statements."""
CRAMPED_NOTED = 10_000
"""The limit in place of `CRAMPED_TOKENS` if a model wrote all blocks of the past."""
NOTED_LIVE = 0.06
NOTED_OPENER = 0.04
"""Shares of a room filled by notes alone: for the newest atom where it is larger, and for the current request."""
WORDS_SHARE = 0.35
"""Share of the past's room for verbatim words of users and the system."""
WORDS_FLOOR = 48
"""Least tokens shown of a user message that no summary covers."""


def choose_edge(messages: Sequence[Message], live_tokens: int, policy: Policy) -> int:
    """Find where the live part of `messages` begins: whole atoms from the end, within `live_tokens`; at least one."""
    groups = atoms(messages)
    place = len(messages)
    used = 0
    for number, atom in enumerate(reversed(groups)):
        used += sum(message.tokens for message in atom)
        if number and used > live_tokens and len(messages) - place >= policy.keep_messages:
            break
        place -= len(atom)
    return place


def next_to_open(row: Sequence[RowItem], room: int) -> Summary | None:
    """The newest block of `row` to be replaced by its sources, where `room` allows a finer row."""
    blocks = [item for item in row if isinstance(item, Summary)]
    for block in reversed(blocks):
        if not block.sources:
            continue
        finer = len(blocks) - 1 + len(block.sources)
        words = sum(min(item.tokens, 400) for item in row if isinstance(item, Message))
        words += WORDS_FLOOR * (block.messages // 8) if block.level == "goal" else 0
        if finer * BLOCK_TOKENS + min(words, int(room * WORDS_SHARE)) <= room and words <= room * WORDS_SHARE * 2:
            return block
        return None
    return None


def is_cramped(row: Sequence[RowItem], target: int) -> bool:
    """Whether the past should stand in one block, since `target` tokens are too few for several."""
    if target >= (CRAMPED_NOTED if is_noted(row) else CRAMPED_TOKENS):
        return False
    size = sum(item.source_tokens if isinstance(item, Summary) else item.tokens for item in row)
    return size > CRAMPED_RATIO * target


def is_noted(row: Sequence[RowItem]) -> bool:
    """Whether a model wrote all blocks of `row`."""
    blocks = [item for item in row if isinstance(item, Summary)]
    return bool(blocks) and all(block.is_written for block in blocks)


def coarse_row(row: Sequence[RowItem], policy: Policy, *, noted: bool) -> list[RowItem]:
    """Cover all of `row` by one block; where it is `noted`, the last request stays verbatim."""
    if not row:
        return []
    place = last_opener(row)
    if place is None or not noted:
        return [cover_row(row, policy)]
    parts = [row[:place], row[place + 1 :]]
    before, after = ([cover_row(part, policy)] if part else [] for part in parts)
    return [*before, row[place], *after]


def last_opener(row: Sequence[RowItem]) -> int | None:
    """The index of the user message that opened the last turn of `row`; None where a summary covers it."""
    places = range(len(row) - 1, -1, -1)
    return next((place for place in places if isinstance(item := row[place], Message) and item.opens_turn), None)


def split_system(row: Sequence[RowItem]) -> tuple[list[Message], list[RowItem]]:
    """Split off the system messages that a row begins with: no block replaces them."""
    end = 0
    while end < len(row) and isinstance(item := row[end], Message) and item.role == "system":
        end += 1
    return [item for item in row[:end] if isinstance(item, Message)], list(row[end:])


def too_fine(row: Sequence[RowItem], room: int) -> int:
    """How many items at the beginning of `row` should be covered by one block for lack of room.

    Whole turns only, and never the current one: its request stays verbatim.
    """
    blocks = [isinstance(item, Summary) for item in row]
    allowed = max(room // BLOCK_TOKENS, 2)
    if sum(blocks) <= allowed:
        return 0
    openers = [place for place, item in enumerate(row) if isinstance(item, Message) and item.opens_turn]
    fitting = [place for place in openers if sum(blocks[place:]) < allowed]
    place = fitting[0] if fitting else (openers[-1] if openers else 0)
    return place if sum(blocks[:place]) > 1 else 0


def opened(row: Sequence[RowItem], block: Summary, parts: Sequence[RowItem]) -> list[RowItem]:
    """Replace `block` by `parts`, which together cover the same messages."""
    place = next(number for number, item in enumerate(row) if isinstance(item, Summary) and item.id == block.id)
    return [*row[:place], *parts, *row[place + 1 :]]


PARTLY_FLOOR = 24
"""Least tokens of each message of an atom that is shown in part."""
SPARE_SHARE = 0.1
"""A remainder under this share of the room is not worth another round."""


class Composed(Struct, frozen=True, kw_only=True):
    """A context before it is written in a provider's format."""

    shown: tuple[ContextItem, ...]
    tokens: int
    in_loop: bool = False
    """A tool loop continues behind its last message, and its first thinking is not shown."""

    def followed_by(self, messages: Sequence[Message], after: int, options: ContextOptions) -> Composed:
        """The same context followed by the messages since; `after` is the position of the last one before them.

        They were said in view of this context, so their bound thinking still holds, except that of a loop that began
        before it.
        """
        whole = next_loop(messages, running=self.in_loop) if options.thinking == "prefix" else 0
        fresh = [
            verbatim(message, thinking=options.thinking != "none" and place >= whole)
            for place, message in enumerate(messages)
        ]
        return composed([*self.shown, *with_notes(messages, fresh, after, options)])


def live(messages: Sequence[Message], options: ContextOptions) -> Composed:
    """Show every message as it is, with thinking where the format allows it."""
    thinking = options.thinking != "none"
    shown = [verbatim(message, thinking=thinking) for message in messages]
    # The caller checks whether all of it fits.
    return composed(with_notes(messages, shown, -1, options, share=1.0))


def with_notes(
    messages: Sequence[Message],
    shown: Sequence[ContextItem],
    after: int,
    options: ContextOptions,
    share: float = NOTES_SHARE,
) -> list[ContextItem]:
    """Insert the notes by hand made at or behind position `after` where they were made, between atoms.

    They take at most `share` of the budget: beyond it the newest are shown, and how many are left out.
    """
    made = [each for each in options.notes if each.at_position >= after]
    told, left_out = fitting_notes(made, options.count, int(options.budget * share))
    if not told and not left_out:
        return list(shown)
    notes = [each for each in made if each.id in told]
    out: list[ContextItem] = []
    place = 0
    # System messages stand first, even before pins that were made before any message.
    first = next((number for number, message in enumerate(messages) if message.role != "system"), len(messages))
    for atom in [(), *atoms(messages)]:
        out.extend(shown[place : place + len(atom)])
        place += len(atom)
        if place < first:
            continue
        end = atom[-1].position if atom else after
        out.extend(told[each.id] for each in notes if each.at_position <= end)
        notes = [each for each in notes if each.at_position > end]
    return [*out, left_out] if left_out else out


def with_masks(messages: Sequence[Message], edge: int, target: int, options: ContextOptions) -> Composed:
    """Show every message, with as few of the oldest outputs before index `edge` masked as needed."""
    count = options.count
    calls = {call.id: call for message in messages for call in message.draft.calls}
    turn = running_turn(messages) if options.thinking == "turn" else len(messages)
    slots = [slot_verbatim(message, count, thinking=place >= turn) for place, message in enumerate(messages)]
    size = sum(slot.fixed(count) for slot in slots)
    masked: list[int] = []
    for place in range(edge):
        if size <= target:
            break
        if place >= turn and messages[place].role != "tool":
            continue
        slot = ViewSlot(messages[place], mask(messages[place], calls, count), masked=True)
        size -= slots[place].fixed(count) - slot.fixed(count)
        slots[place] = slot
        masked.append(place)
    shown = _settled(slots, messages, target, options)
    # Masking one output too many may leave much room: there it is shown head and tail.
    for place in reversed(masked):
        free = target - shown.tokens
        if free < target * SPARE_SHARE:
            break
        room = slots[place].fixed(count) + free
        # What is cut to a room may come out a little over it: then once more, with less.
        for _ in range(2):
            wider = [*slots]
            wider[place] = slot_within(messages[place], room, count)
            fuller = _settled(wider, messages, target, options)
            if fuller.tokens <= target:
                shown, slots = max((shown, slots), (fuller, wider), key=lambda each: each[0].tokens)
                break
            room -= fuller.tokens - target
    return shown


def with_blocks(
    row: Sequence[RowItem],
    newest: Sequence[Message],
    target: int,
    live_tokens: int,
    options: ContextOptions,
    partly: Sequence[Message] = (),
) -> Composed:
    """Show a row as blocks and kept words, and the `newest` messages after it, in `target` tokens.

    The atom `partly` before them is shown in what they leave of `live_tokens`, which is too little for all of it.
    """
    count = options.count
    blocks = [_block(item, options) for item in row if isinstance(item, Summary)]
    kept = [item for item in row if isinstance(item, Message)]
    # Thinking takes precedence over blocks and old words, but not over their minimum.
    least = sum(slot.fixed(count) + MIN_BLOCK_TOKENS for slot in blocks)
    least += sum(min(message.tokens, WORDS_FLOOR) for message in kept)
    after = newest_slots(newest, max(oversized_limit(target), live_tokens), options, target - least)
    if partly:
        rest = max(live_tokens - sum(message.tokens for message in newest), 0)
        after = [*slots_within(partly, rest, count, floor=PARTLY_FLOOR), *after]
    left = target - sum(slot.fixed(count) for slot in (*after, *blocks))
    # Blocks are limited to their share of what they cover: what they leave is for words.
    sayable = sum(block_limit(slot.item) for slot in blocks if isinstance(slot.item, Summary))
    words_room = max(int(max(left, 0) * WORDS_SHARE), left - sayable)
    said = iter(slots_within(kept, words_room, count, floor=WORDS_FLOOR))
    past = [_block(item, options) if isinstance(item, Summary) else next(said) for item in row]
    return _settled([*past, *after], [*row, *partly, *newest], target, options)


def one_block(
    system: Sequence[Message], past: Sequence[RowItem], newest: Sequence[Message], target: int, options: ContextOptions
) -> Composed:
    """Show the past as one block behind the system prompt, and the newest messages."""
    noted = is_noted(past)
    slots = _one_block_slots(system, past, newest, target, options, noted=noted)
    ruled = [line for item in past if noted and isinstance(item, Summary) for line in item.lines("asked")]
    return _settled(slots, [*system, *past, *newest], target, options, ruled)


def room_for_notes(
    system: Sequence[Message], past: Sequence[RowItem], newest: Sequence[Message], target: int, options: ContextOptions
) -> int:
    """The tokens that `one_block` leaves to notes, once a model has written them on all of `past`."""
    slots = _one_block_slots(system, past, newest, target, options, noted=True)
    return max(target - fixed_cost(slots, options.count), 0)


def _one_block_slots(
    system: Sequence[Message],
    past: Sequence[RowItem],
    newest: Sequence[Message],
    target: int,
    options: ContextOptions,
    *,
    noted: bool,
) -> list[ViewSlot]:
    limit = oversized_limit(target) if past else target - 40
    if noted:
        limit = int(target * NOTED_LIVE)
    after = newest_slots(newest, limit, options, limit)
    before = slots_within(system, int(target * WORDS_SHARE), options.count, floor=WORDS_FLOOR)
    opener = max(int(target * NOTED_OPENER), WORDS_FLOOR)
    told = [
        _block(item, options) if isinstance(item, Summary) else slot_within(item, opener, options.count)
        for item in past
    ]
    return [*before, *told, *after]


def all_in_one(whole: Summary, target: int, options: ContextOptions) -> Composed:
    """Show everything as one block, where not even the newest messages fit."""
    return _settled([_block(whole, options)], [whole], target, options)


def _settled(
    slots: Sequence[ViewSlot],
    items: Sequence[RowItem],
    target: int,
    options: ContextOptions,
    notes: Sequence[Line] = (),
) -> Composed:
    """Fill the slots, and put the pins that no message and none of `notes` tells behind the system prompt."""
    said = [text for slot in slots if isinstance(slot.item, Message) for text in texts(slot.draft().parts)]
    pins = pin_block(items, said, options, target, notes)
    shown = settle(slots, target - (pins.tokens if pins else 0), options.statements)
    if pins is None:
        return composed(shown)
    system = [isinstance(slot.item, Message) and slot.item.role == "system" for slot in slots]
    first = [*system, False].index(False)
    return composed([*shown[:first], pins, *shown[first:]])


def _block(summary: Summary, options: ContextOptions) -> ViewSlot:
    return ViewSlot(summary, None, doubts=options.doubts(summary))


def oversized_limit(target: int) -> int:
    """Limit for the newest atom where it exceeds the live share: 9 % of 1,000 tokens, 40 % from 32,000.

    The next step is decided on the newest output, so a wide context shows nearly all of it; a narrow one needs the
    past.
    """
    return int(target * min(0.08 + target / 100_000, 0.4))


def close_loose(row: Sequence[RowItem], policy: Policy) -> tuple[list[RowItem], list[Summary]]:
    """Cover the messages at the end of a row that no block covers yet; returns the row and the new block."""
    place = loose_from(row, policy)
    items = list(row[:place])
    loose = [item for item in row[place:] if isinstance(item, Message)]
    if not loose:
        return items, []
    opener = next((item for item in reversed(items) if isinstance(item, Message) and item.opens_turn), None)
    block = open_block(loose, opener.text if opener else "", policy)
    return [*items, block], [block]


def composed(shown: Sequence[ContextItem]) -> Composed:
    """Make a `Composed` of what is shown."""
    return Composed(shown=tuple(shown), tokens=sum(each.tokens for each in shown))


def newest_slots(messages: Sequence[Message], limit: int, options: ContextOptions, free: int) -> list[ViewSlot]:
    """Show the newest messages as they are where they fit into `limit`, with thinking where that fits into `free`.

    Only the running turn's thinking is shown, all of it or none.
    """
    turn = running_turn(messages) if options.thinking == "turn" else len(messages)
    size = sum(message.tokens for message in messages)
    if size + sum(message.thinking_tokens for message in messages[turn:]) > free:
        turn = len(messages)
    if size <= limit:
        return [slot_verbatim(message, options.count, thinking=place >= turn) for place, message in enumerate(messages)]
    return slots_within(messages, max(limit, 0), options.count, floor=PARTLY_FLOOR)
