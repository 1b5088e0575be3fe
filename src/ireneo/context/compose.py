"""What a tier makes of a path in a given room: the cover, and the context composed of it."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from ireneo.context.options import ContextOptions
from ireneo.context.pinned import NOTES_SHARE, fitting_notes, pin_block
from ireneo.context.view import (
    MIN_BLOCK_TOKENS,
    ContextItem,
    ViewSlot,
    block_limit,
    settle,
    slot_masked,
    slot_verbatim,
    slot_within,
    slots_within,
    verbatim,
)
from ireneo.log.message import Message, texts
from ireneo.log.tree import atoms, next_loop, running_turn
from ireneo.summaries.policy import Policy
from ireneo.summaries.summary import Summary
from ireneo.summaries.work import RowItem, loose_from, open_block

BLOCK_TOKENS = 360
"""A block with less than this on the average says little beside its frame: then a coarser one serves better."""
CRAMPED_TOKENS = 1_500
CRAMPED_RATIO = 12
"""In less room, and where the past is so many times as large, several frames, and a file that is named in each of
them, would take the place of what they tell."""
WORDS_SHARE = 0.35
"""Of the past's room, so much may go to the words of the users and the system, verbatim."""
WORDS_FLOOR = 48
"""Tokens of a user message that are shown at the least where it stands for itself."""


def choose_edge(messages: Sequence[Message], live_tokens: int, policy: Policy) -> int:
    """Find the place in `messages` from which on they are live: whole atoms from the newest back, within `live_tokens`.

    At the least the newest atom is live, and with it, where that is an answer to it, the user's last message.
    """
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
    """Name the newest block of `row` that should be opened into those under it, if `room` tokens allow a finer row."""
    blocks = [item for item in row if isinstance(item, Summary)]
    for block in reversed(blocks):
        if not block.sources:
            continue
        finer = len(blocks) - 1 + len(block.sources)
        words = _words(row) + (WORDS_FLOOR * (block.messages // 8) if block.level == "goal" else 0)
        if finer * BLOCK_TOKENS + min(words, int(room * WORDS_SHARE)) <= room and words <= room * WORDS_SHARE * 2:
            return block
        return None
    return None


def is_cramped(row: Sequence[RowItem], target: int) -> bool:
    """Whether the past of `row` should stand in one block, since `target` tokens have no room for several."""
    if target >= CRAMPED_TOKENS:
        return False
    size = sum(item.source_tokens if isinstance(item, Summary) else item.tokens for item in row)
    return size > CRAMPED_RATIO * target


def split_system(row: Sequence[RowItem]) -> tuple[list[Message], list[RowItem]]:
    """Part the system's words that a row begins with from the rest: no block takes their place."""
    end = 0
    while end < len(row) and isinstance(item := row[end], Message) and item.role == "system":
        end += 1
    return [item for item in row[:end] if isinstance(item, Message)], list(row[end:])


def too_fine(row: Sequence[RowItem], room: int) -> int:
    """How many items at the beginning of `row` should stand under one block, since `room` is too small for all blocks.

    Whole turns only, and never the current one: its request stays in the user's words.
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
    """Put `parts`, which together cover what `block` covers, in its place."""
    place = next(number for number, item in enumerate(row) if isinstance(item, Summary) and item.id == block.id)
    return [*row[:place], *parts, *row[place + 1 :]]


def _words(row: Sequence[RowItem]) -> int:
    return sum(min(item.tokens, 400) for item in row if isinstance(item, Message))


PARTLY_FLOOR = 24
"""Tokens of each message of an atom that is shown in part."""
SPARE_SHARE = 0.1
"""Less than this share of the room is not worth another round; more is filled where there is so much to show."""


class Composed(Struct, frozen=True, kw_only=True):
    """A context before it is written in a provider's format."""

    shown: tuple[ContextItem, ...]
    tokens: int
    in_loop: bool = False
    """A tool loop runs on behind its last message, whose first thoughts it does not show."""

    def followed_by(self, messages: Sequence[Message], after: int, options: ContextOptions) -> Composed:
        """The same context with the messages that came since, as they are; `after` is the place of the last one before.

        They were said with just this context before them, so thinking that is bound to what came before it still is:
        but for a loop that began before the context was made, whose first thoughts are gone.
        """
        whole = next_loop(messages, running=self.in_loop) if options.thinking == "prefix" else 0
        fresh = [
            verbatim(message, thinking=options.thinking != "none" and place >= whole)
            for place, message in enumerate(messages)
        ]
        return composed([*self.shown, *with_notes(messages, fresh, after, options)])


def live(messages: Sequence[Message], options: ContextOptions) -> Composed:
    """Show every message as it is, with the model's thinking where the format has a place for it."""
    thinking = options.thinking != "none"
    shown = [verbatim(message, thinking=thinking) for message in messages]
    # Whether all of it fits, its reader sees.
    return composed(with_notes(messages, shown, -1, options, share=1.0))


def with_notes(
    messages: Sequence[Message],
    shown: Sequence[ContextItem],
    after: int,
    options: ContextOptions,
    share: float = NOTES_SHARE,
) -> list[ContextItem]:
    """Put the pins by hand that were made from the place `after` on where they were made, between atoms.

    They take at most a `share` of the budget: of more than that the newest are shown, and how many are left out.
    """
    made = [each for each in options.notes if each.at_position >= after]
    told, left_out = fitting_notes(made, options.count, int(options.budget * share))
    if not told and not left_out:
        return list(shown)
    notes = [each for each in made if each.id in told]
    out: list[ContextItem] = []
    place = 0
    # What the system says stands first, also before what was pinned before anything was said.
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
    """Show every message, the outputs of the oldest masked: of those before the place `edge` as few as will do."""
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
        slot = slot_masked(messages[place], calls, count)
        size -= slots[place].fixed(count) - slot.fixed(count)
        slots[place] = slot
        masked.append(place)
    shown = _settled(slots, messages, target, options)
    # One long output more than had to go leaves a good part of the room empty: there it stands head and tail.
    for place in reversed(masked):
        free = target - shown.tokens
        if free < target * SPARE_SHARE:
            break
        wider = [*slots]
        wider[place] = slot_within(messages[place], slots[place].fixed(count) + free, count)
        if (fuller := _settled(wider, messages, target, options)).tokens <= target:
            shown, slots = max((shown, slots), (fuller, wider), key=lambda each: each[0].tokens)
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

    Of `live_tokens` the atom `partly`, which stands before them, has what they leave: too little to show it whole.
    """
    count = options.count
    blocks = [_block(item, options) for item in row if isinstance(item, Summary)]
    kept = [item for item in row if isinstance(item, Message)]
    # Thinking comes before what blocks and old words can say, but not before what they say at the least.
    least = sum(slot.fixed(count) + MIN_BLOCK_TOKENS for slot in blocks)
    least += sum(min(message.tokens, WORDS_FLOOR) for message in kept)
    after = newest_slots(newest, max(oversized_limit(target), live_tokens), options, target - least)
    if partly:
        rest = max(live_tokens - sum(message.tokens for message in newest), 0)
        after = [*slots_within(partly, rest, count, floor=PARTLY_FLOOR), *after]
    left = target - sum(slot.fixed(count) for slot in (*after, *blocks))
    # Blocks can say no more than their share of what they stand for: what they leave is for words.
    sayable = sum(block_limit(slot.item) for slot in blocks if isinstance(slot.item, Summary))
    words_room = max(int(max(left, 0) * WORDS_SHARE), left - sayable)
    said = iter(slots_within(kept, words_room, count, floor=WORDS_FLOOR))
    past = [_block(item, options) if isinstance(item, Summary) else next(said) for item in row]
    return _settled([*past, *after], [*row, *partly, *newest], target, options)


def one_block(
    system: Sequence[Message], past: Sequence[Summary], newest: Sequence[Message], target: int, options: ContextOptions
) -> Composed:
    """Show the past as one block after the system's words, for a budget that has no room for more, and the newest."""
    limit = oversized_limit(target) if past else target - 40
    after = newest_slots(newest, limit, options, limit)
    before = slots_within(system, int(target * WORDS_SHARE), options.count, floor=WORDS_FLOOR)
    slots = [*before, *(_block(block, options) for block in past), *after]
    return _settled(slots, [*system, *past, *newest], target, options)


def all_in_one(whole: Summary, target: int, options: ContextOptions) -> Composed:
    """Show everything, the newest messages too, as one block: what is left where not even they fit."""
    return _settled([_block(whole, options)], [whole], target, options)


def _settled(slots: Sequence[ViewSlot], items: Sequence[RowItem], target: int, options: ContextOptions) -> Composed:
    """Fill the slots, the pins that no message shows behind the system's words before the rest."""
    said = [text for slot in slots if isinstance(slot.item, Message) for text in texts(slot.draft(()).parts)]
    pins = pin_block(items, said, options, target)
    shown = settle(slots, target - (pins.tokens if pins else 0), options.statements)
    if pins is None:
        return composed(shown)
    first = next((place for place, slot in enumerate(slots) if not _is_system(slot)), len(slots))
    return composed([*shown[:first], pins, *shown[first:]])


def _is_system(slot: ViewSlot) -> bool:
    return isinstance(slot.item, Message) and slot.item.role == "system"


def _block(summary: Summary, options: ContextOptions) -> ViewSlot:
    return ViewSlot(summary, None, doubts=options.doubts(summary))


def oversized_limit(target: int) -> int:
    """What the newest atom may take of `target` tokens when it alone is larger than the live share.

    A wide context shows the newest output as nearly whole as it can, since that is what the next step is decided on;
    a narrow one would show nothing else, and is better spent on the past: 13 % at 1,000 tokens, 40 % from 28,000.
    """
    return int(target * min(0.12 + target / 100_000, 0.4))


def close_loose(row: Sequence[RowItem], policy: Policy) -> tuple[list[RowItem], list[Summary]]:
    """Cover what waits for its block at the end of a row by an open one; returns the row, and what was made."""
    place = loose_from(row, policy)
    items = list(row[:place])
    loose = [item for item in row[place:] if isinstance(item, Message)]
    if not loose:
        return items, []
    opener = next((item for item in reversed(items) if isinstance(item, Message) and item.opens_turn), None)
    block = open_block(loose, opener.text if opener else "", policy)
    return [*items, block], [block]


def composed(shown: Sequence[ContextItem]) -> Composed:
    """Add up what is shown."""
    return Composed(shown=tuple(shown), tokens=sum(each.tokens for each in shown))


def newest_slots(messages: Sequence[Message], limit: int, options: ContextOptions, free: int) -> list[ViewSlot]:
    """The newest messages, as they are where they fit into `limit` together, with thinking where that fits in `free`.

    That is the thinking of the running turn alone, and of all that is shown of it or of nothing.
    """
    turn = running_turn(messages) if options.thinking == "turn" else len(messages)
    size = sum(message.tokens for message in messages)
    if size + sum(message.thinking_tokens for message in messages[turn:]) > free:
        turn = len(messages)
    if size <= limit:
        return [slot_verbatim(message, options.count, thinking=place >= turn) for place, message in enumerate(messages)]
    return slots_within(messages, max(limit, 0), options.count, floor=PARTLY_FLOOR)
