"""The context of the preset `scratchpad`: pins and the last turns are shown, and one line says how to open the rest.

The cut depends on the path's cost alone and moves by half of the room at a time, so that in between the beginning of
the context stays the same and the provider's cache holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from msgspec.structs import replace

from ireneo.context.assemble import (
    WORDS_FLOOR,
    WORDS_SHARE,
    Assembled,
    Composed,
    compose_items,
    last_opener,
    newest_slots,
    read_tail,
    show_whole_path,
    split_system,
)
from ireneo.context.view import ContextItem, ContextOptions, fill_slots, omission, pin_block, slot_within, slots_within
from ireneo.log.calls import atoms
from ireneo.log.message import BLOCK_TAGS, Count, Message, short, texts
from ireneo.summaries.policy import first_target
from ireneo.summaries.summary import Summary
from ireneo.summaries.work import RowItem, WorkPath

LEFT_OUT_TAG = BLOCK_TAGS[3]
TRIES = 4
"""How often the cut is repeated if it cost more than estimated."""
LINES_TOKENS = 60
"""The cost of the lines (at most two) that say what is left out."""
OPENER_SHARE = 0.25
"""The share of the room for the request of a turn whose work does not fit as a whole."""


class LastTurnsComposer:
    """Composes a context of the last turns for several token targets, one after the other."""

    def __init__(self, path: WorkPath, options: ContextOptions) -> None:
        self._path = path
        self._options = options

    def compose(self, target: int) -> Assembled:
        """Show the path as it is, or otherwise its last turns, in `target` tokens."""
        options = replace(self._options, budget=target)
        if (fitting := show_whole_path(self._path, options)) is not None:
            return fitting
        _, why = first_target(self._path.head.total_tokens, target, 1.0, None)
        return Assembled(composed=last_turns(self._path, options), mark=None, why=why)


def last_turns(path: WorkPath, options: ContextOptions) -> Composed:
    """Show the system prompt, the pins and as many of the last turns as fit; at least the newest atom."""
    budget = options.budget
    tail = read_tail(path, path.head.position, budget)
    newest = tail[_shown_from(tail, budget // 4) :]
    row = path.row(newest[0].position - 1, newest)
    spent = _reserved_tokens(row, newest, options)
    for _ in range(TRIES):
        room = budget - spent
        newest = tail[_shown_from(tail, room) :]
        row = path.row(newest[0].position - 1, newest)
        found = compose_items(_shown_items(row, newest, options, room))
        if found.tokens <= budget:
            return found
        spent = min(spent + found.tokens - budget, budget - budget // 4)
    return compose_items([_omission_item([*row, *newest], options.count)])


def _reserved_tokens(row: Sequence[RowItem], newest: Sequence[Message], options: ContextOptions) -> int:
    """Tokens reserved for all but the turns, in eighths of the budget so that a new pin doesn't move the turns."""
    system, _ = split_system(row)
    pins = pin_block([*row, *newest], (), options, options.budget)
    words = min(sum(message.tokens for message in system), int(options.budget * WORDS_SHARE))
    step = max(options.budget // 8, 1)
    return min(-(-(words + (pins.tokens if pins else 0) + LINES_TOKENS) // step) * step, options.budget * 3 // 4)


def _shown_from(tail: Sequence[Message], room: int) -> int:
    """The start of the shown part of `tail`: at a turn, or at an atom if the turn is too large."""
    edges = list(accumulate(map(len, atoms(tail)), initial=0))[:-1]
    openers = [edge for edge in edges if tail[edge].opens_turn and not tail[edge].draft.joined]
    found = _first_fitting(tail, openers, room)
    if found is None:
        found = _first_fitting(tail, edges, room - int(room * OPENER_SHARE))
    return edges[-1] if found is None else found


def _first_fitting(tail: Sequence[Message], edges: Sequence[int], room: int) -> int | None:
    """The first of `edges` from which the messages fit into `room`; in whole steps, if these leave half of the room."""
    total, step = tail[-1].total_tokens, max(room // 2, 1)
    before = {edge: tail[edge].total_tokens - tail[edge].tokens for edge in edges}
    fitting = [edge for edge in edges if total - before[edge] <= room]
    if not fitting:
        return None
    wished = -(-(total - room) // step) * step
    stepped = next((edge for edge in fitting if before[edge] >= wished), fitting[0])
    return stepped if (total - before[stepped]) * 4 >= room else fitting[0]


def _shown_items(
    row: Sequence[RowItem], newest: Sequence[Message], options: ContextOptions, room: int
) -> list[ContextItem]:
    """The shown items in order: the newest messages in `room` tokens, and all others in the rest."""
    count = options.count
    system, past = split_system(row)
    opens_turn = any(message.opens_turn for message in newest)
    place = None if opens_turn else last_opener(past)
    opener = [] if place is None else [past[place]]
    before, between = (past, past[:0]) if place is None else (past[:place], past[place + 1 :])
    first = slots_within(system, int(options.budget * WORDS_SHARE), count, floor=WORDS_FLOOR)
    asked = [slot_within(item, int(room * OPENER_SHARE), count) for item in opener if isinstance(item, Message)]
    limit = room - sum(slot.fixed_cost(count) for slot in asked)
    slots = [*first, *asked, *newest_slots(newest, limit, options, limit)]
    said = [text for slot in slots for text in texts(slot.draft().parts)]
    pins = pin_block([*row, *newest], said, options, options.budget)
    told = [pins] if pins else []
    lines, gap = ([_omission_item(items, count)] if items else [] for items in (before, between))
    # Filled last, with the room that everything else leaves.
    shown = fill_slots(slots, options.budget - sum(each.tokens for each in (*told, *lines, *gap)), options.statements)
    edge, live = len(first), len(first) + len(asked)
    return [*shown[:edge], *told, *lines, *shown[edge:live], *gap, *shown[live:]]


def _omission_item(items: Sequence[RowItem], count: Count) -> ContextItem:
    """The one line that stands for adjacent items of a row."""
    first, last = items[0], items[-1]
    begin = first.first if isinstance(first, Summary) else first.id
    end = last.last if isinstance(last, Summary) else last.id
    number = sum(item.messages if isinstance(item, Summary) else 1 for item in items)
    text = f"{LEFT_OUT_TAG} {number:,} message{'' if number == 1 else 's'} · open with {short(begin)}"
    text += f" to {short(end)}" if number > 1 else ""
    return omission("left out", text, begin, end, number, count)
