"""The context of an agent that keeps its own understanding: pins and the last turns, and the rest left out.

What is left out stands in the view, and in the context as one line that says how to open it. Where the cut falls
depends on what the path costs alone, and it moves by half of the room at a time: in between the beginning stays the
same, and a provider's cache with it.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence

from ireneo.context.compose import Composed, composed, newest_slots
from ireneo.context.cover import WORDS_FLOOR, WORDS_SHARE, split_system
from ireneo.context.forest import RowItem
from ireneo.context.needs import Answer, Need
from ireneo.context.parts import share
from ireneo.context.pinned import pin_block
from ireneo.context.reading import read_row, read_tail
from ireneo.context.summary import Summary
from ireneo.context.terms import Terms
from ireneo.context.view import NOTES_TOKENS, Shown, settle, slot_within
from ireneo.context.weigh import MESSAGE_TOKENS, Count
from ireneo.log.atoms import atoms
from ireneo.log.branch import Head
from ireneo.log.ids import short
from ireneo.log.message import BLOCK_TAGS, Draft, Message, Text, texts

LEFT_OUT_TAG = BLOCK_TAGS[3]
TRIES = 4
"""How often it is cut again because it costs more than was thought."""
LINES_TOKENS = 60
"""What the lines cost, at the most two, that say what is left out."""
OPENER_SHARE = 0.25
"""Of the room, what the request of a turn may take whose work has no room as a whole."""


def last_turns(head: Head, terms: Terms) -> Generator[Need, Answer, Composed]:
    """Show the system's words, the pins and as many of the last turns as fit; at the least the newest atom."""
    budget, policy = terms.budget, terms.policy
    tail = yield from read_tail(head.position, budget, policy)
    newest = tail[_edge(tail, budget // 4) :]
    row = yield from read_row(newest[0].position - 1, newest, policy)
    spent = _besides(row, newest, terms)
    for _ in range(TRIES):
        room = budget - spent
        newest = tail[_edge(tail, room) :]
        row = yield from read_row(newest[0].position - 1, newest, policy)
        found = composed(_cut(row, newest, terms, room))
        if found.tokens <= budget:
            return found
        spent = min(spent + found.tokens - budget, budget - budget // 4)
    return composed([_left_out([*row, *newest], terms.count)])


def _besides(row: Sequence[RowItem], newest: Sequence[Message], terms: Terms) -> int:
    """What all but the turns may take, by whole eighths: so that the turns don't move with each pin that is added."""
    system, _ = split_system(row)
    pins = pin_block([*row, *newest], (), terms, terms.budget)
    words = min(sum(message.tokens for message in system), int(terms.budget * WORDS_SHARE))
    step = max(terms.budget // 8, 1)
    return min(-(-(words + (pins.tokens if pins else 0) + LINES_TOKENS) // step) * step, terms.budget * 3 // 4)


def _edge(tail: Sequence[Message], room: int) -> int:
    """The place in `tail` from which on all is shown: a turn's beginning, or within a turn that is too large an atom's.

    At the least the newest atom is.
    """
    edges = [0]
    for atom in atoms(tail):
        edges.append(edges[-1] + len(atom))
    edges.pop()
    openers = [edge for edge in edges if tail[edge].opens_turn and not tail[edge].draft.joined]
    found = _first_fitting(tail, openers, room)
    if found is None:
        found = _first_fitting(tail, edges, room - _share(room))
    return edges[-1] if found is None else found


def _first_fitting(tail: Sequence[Message], edges: Sequence[int], room: int) -> int | None:
    """The first of `edges` from which on the messages fit into `room`; by whole steps, where that leaves half of it."""
    total, step = tail[-1].total_tokens, max(room // 2, 1)
    before = {edge: tail[edge].total_tokens - tail[edge].tokens for edge in edges}
    fitting = [edge for edge in edges if total - before[edge] <= room]
    if not fitting:
        return None
    wished = -(-(total - room) // step) * step
    stepped = next((edge for edge in fitting if before[edge] >= wished), fitting[0])
    return stepped if (total - before[stepped]) * 4 >= room else fitting[0]


def _cut(row: Sequence[RowItem], newest: Sequence[Message], terms: Terms, room: int) -> list[Shown]:
    """What is shown, in order: the newest messages in `room` tokens, and the rest in what they leave."""
    count = terms.count
    system, past = split_system(row)
    place = None if _opens(newest) else _last_opener(past)
    opener = [] if place is None else [past[place]]
    before, between = (past, past[:0]) if place is None else (past[:place], past[place + 1 :])
    rooms = share([message.tokens for message in system], int(terms.budget * WORDS_SHARE), floor=WORDS_FLOOR)
    first = [slot_within(message, each, count) for message, each in zip(system, rooms, strict=True)]
    asked = [slot_within(item, _share(room), count) for item in opener if isinstance(item, Message)]
    limit = room - sum(slot.fixed(count) for slot in asked)
    slots = [*first, *asked, *newest_slots(newest, limit, terms, limit)]
    said = [text for slot in slots for text in texts(slot.draft(()).parts)]
    pins = pin_block([*row, *newest], said, terms, terms.budget)
    told = [pins] if pins else []
    lines, gap = _marked(before, count), _marked(between, count)
    # What is cut may name what it leaves out, in the room that all the rest leaves.
    shown = settle(slots, terms.budget - sum(each.tokens for each in (*told, *lines, *gap)), terms.statements)
    edge, live = len(first), len(first) + len(asked)
    return [*shown[:edge], *told, *lines, *shown[edge:live], *gap, *shown[live:]]


def _opens(newest: Sequence[Message]) -> bool:
    return any(message.opens_turn for message in newest)


def _last_opener(row: Sequence[RowItem]) -> int | None:
    """The place of the words that opened the turn at the end of `row`; None where they stand under a summary."""
    places = range(len(row) - 1, -1, -1)
    return next((place for place in places if isinstance(item := row[place], Message) and item.opens_turn), None)


def _share(room: int) -> int:
    return int(room * OPENER_SHARE)


def _marked(items: Sequence[RowItem], count: Count) -> list[Shown]:
    return [_left_out(items, count)] if items else []


def _left_out(items: Sequence[RowItem], count: Count) -> Shown:
    """The one line that stands for adjacent items of a row."""
    first, last = items[0], items[-1]
    begin = first.first if isinstance(first, Summary) else first.id
    end = last.last if isinstance(last, Summary) else last.id
    number = sum(item.messages if isinstance(item, Summary) else 1 for item in items)
    text = f"{LEFT_OUT_TAG} {number:,} message{'' if number == 1 else 's'} · open with {short(begin)}"
    text += f" to {short(end)}" if number > 1 else ""
    return Shown(
        what="left out",
        id=begin,
        first=begin,
        last=end,
        covers=number,
        tokens=count(text) + MESSAGE_TOKENS + NOTES_TOKENS,
        draft=Draft(role="assistant", parts=(Text(text=text),), origin="summary"),
    )
