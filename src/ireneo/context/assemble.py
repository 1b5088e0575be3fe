"""From a head and a budget to a context: the order in which the tiers are tried, as one algorithm without I/O.

`assemble` is a generator: it yields what it needs to know (`NeedPath`, `NeedRow`, `NeedParts`), is sent the answer,
yields what is worth keeping (`Made`, `Keep`), and returns the context.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TypeAlias, cast

from msgspec import Struct
from msgspec.structs import replace

from ireneo.context.compose import (
    SPARE_SHARE,
    WORDS_FLOOR,
    WORDS_SHARE,
    Composed,
    all_in_one,
    choose_edge,
    close_loose,
    composed,
    is_cramped,
    live,
    newest_slots,
    next_to_open,
    one_block,
    opened,
    split_system,
    too_fine,
    with_blocks,
    with_masks,
)
from ireneo.context.options import ContextOptions
from ireneo.context.parts import share
from ireneo.context.pinned import pin_block
from ireneo.context.rebuild import Explained, RebuildTo, Stay, decide, first_target, idle_seconds, whole
from ireneo.context.view import NOTES_TOKENS, ContextItem, settle, slot_within
from ireneo.log.message import BLOCK_TAGS, Draft, Message, MessageId, Text, short, texts
from ireneo.log.tree import Head, atoms, loop_runs, torn
from ireneo.log.weigh import MESSAGE_TOKENS, Count
from ireneo.summaries.policy import Policy
from ireneo.summaries.summary import Summary
from ireneo.summaries.work import RowItem, cover_row, grow


class NeedPath(Struct, frozen=True):
    """Send the messages of positions `first` to `last` of the path."""

    first: int
    last: int


class NeedRow(Struct, frozen=True):
    """Send what is known of the path up to position `last`: a `KnownRow`."""

    last: int


class NeedParts(Struct, frozen=True):
    """Send the row that a summary was written from: its sources, and the messages between them."""

    summary: Summary


class NeedTexts(Struct, frozen=True):
    """Send for each of `summaries` the best text that there is of its stretch: itself, or one that a model wrote.

    Of those that a model wrote only those among `known`, where that is given: a context that was shown before is to
    be the same again.
    """

    summaries: tuple[Summary, ...]
    known: tuple[str, ...] | None = None


class Made(Struct, frozen=True):
    """Keep these summaries; nothing is sent back."""

    summaries: tuple[Summary, ...]


class KnownRow(Struct, frozen=True):
    """The row up to the last summary that is known, and the messages from there on."""

    row: tuple[RowItem, ...]
    following: tuple[Message, ...]


class Mark(Struct, frozen=True, kw_only=True):
    """Where and how the context was last rebuilt, so that its beginning stays the same until it has to be again."""

    at: MessageId
    """The head for which it was rebuilt."""
    at_position: int
    target_tokens: int
    """What the rebuilt context was allowed to cost."""
    taken_up: tuple[str, ...] = ()
    """The summaries by a model that it shows, and the disputes that were known."""


class Recall(Struct, frozen=True):
    """Send the context that was composed for this mark before, if it is at hand; else None."""

    mark: Mark


class Keep(Struct, frozen=True):
    """Keep the context that was composed for a mark at hand; nothing is sent back."""

    mark: Mark
    composed: Composed


class Assembled(Struct, frozen=True, kw_only=True):
    """A context, and the mark to keep for the next one (None: there was nothing to compact)."""

    composed: Composed
    mark: Mark | None
    why: Explained


Need: TypeAlias = NeedPath | NeedRow | NeedParts | NeedTexts | Made | Recall | Keep
Answer: TypeAlias = "Sequence[Message] | KnownRow | Sequence[RowItem] | Sequence[Summary] | Composed | None"
Assembling: TypeAlias = Generator[Need, Answer, Assembled]


TAIL = 64
"""Messages that are read at a time from the end of a path to find where it stops being live."""


def read_row(last: int, newest: Sequence[Message], policy: Policy) -> Generator[Need, Answer, list[RowItem]]:
    """The row of the path up to position `last`, behind which `newest` stand; what had to be written is kept."""
    if last < 0:
        return []
    known = cast("KnownRow", (yield NeedRow(last)))
    growth = grow(known.row, known.following, policy, then=atoms(newest)[0])
    yield Made(growth.made)
    return list(growth.row)


def read_tail(last: int, tokens: int, policy: Policy) -> Generator[Need, Answer, list[Message]]:
    """Read from the end of the path until the live part is surely in it, and one atom more."""
    first = last + 1
    tail: list[Message] = []
    while first > 0:
        begin = max(first - TAIL, 0)
        tail = [*(yield from read_path(begin, first - 1)), *tail]
        first = begin
        # What may be the end of an atom that begins before is no place to cut.
        sound = tail[torn(tail) :] if first else tail
        enough = sum(message.tokens for message in sound) > tokens and len(sound) > policy.keep_messages
        if enough and len(atoms(sound)) > 2 and choose_edge(sound, tokens, policy) > 0:
            return sound
    return tail


def read_path(first: int, last: int) -> Generator[Need, Answer, list[Message]]:
    """The messages of positions `first` to `last`; none where `last` is before `first`."""
    if last < first:
        return []
    answer = yield NeedPath(first, last)
    return list(cast("Sequence[Message]", answer))


# The context of an agent that keeps its own understanding: pins and the last turns, and the rest left out.
#
# What is left out stands in the view, and in the context as one line that says how to open it. Where the cut falls
# depends on what the path costs alone, and it moves by half of the room at a time: in between the beginning stays the
# same, and a provider's cache with it.


LEFT_OUT_TAG = BLOCK_TAGS[3]
TRIES = 4
"""How often it is cut again because it costs more than was thought."""
LINES_TOKENS = 60
"""What the lines cost, at the most two, that say what is left out."""
OPENER_SHARE = 0.25
"""Of the room, what the request of a turn may take whose work has no room as a whole."""


def last_turns(head: Head, terms: ContextOptions) -> Generator[Need, Answer, Composed]:
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


def _besides(row: Sequence[RowItem], newest: Sequence[Message], terms: ContextOptions) -> int:
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


def _cut(row: Sequence[RowItem], newest: Sequence[Message], terms: ContextOptions, room: int) -> list[ContextItem]:
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


def _marked(items: Sequence[RowItem], count: Count) -> list[ContextItem]:
    return [_left_out(items, count)] if items else []


def _left_out(items: Sequence[RowItem], count: Count) -> ContextItem:
    """The one line that stands for adjacent items of a row."""
    first, last = items[0], items[-1]
    begin = first.first if isinstance(first, Summary) else first.id
    end = last.last if isinstance(last, Summary) else last.id
    number = sum(item.messages if isinstance(item, Summary) else 1 for item in items)
    text = f"{LEFT_OUT_TAG} {number:,} message{'' if number == 1 else 's'} · open with {short(begin)}"
    text += f" to {short(end)}" if number > 1 else ""
    return ContextItem(
        what="left out",
        id=begin,
        first=begin,
        last=end,
        covers=number,
        tokens=count(text) + MESSAGE_TOKENS + NOTES_TOKENS,
        draft=Draft(role="assistant", parts=(Text(text=text),), origin="summary"),
    )


# From a head and a budget to a context: the order in which the tiers are tried, as one algorithm without I/O.
#
# `assemble` is a generator: it yields what it needs to know (`NeedPath`, `NeedRow`, `NeedParts`), is sent the answer,
# yields what is worth keeping (`Made`, `Keep`), and returns the context. A driver over a list of messages and one
# over a store run the same text.


MASKABLE = 12
"""Outputs are most of a run, but hardly ever more than eleven twelfths of it: longer paths are not tried with masks."""
WIDENINGS = 4
"""How often what the blocks leave of the room is given to the live part, at the most."""


def assemble(head: Head, mark: Mark | None, terms: ContextOptions) -> Assembling:
    """Make the context of the path to `head` on these `terms`; `mark` is that of the last rebuild on this path."""
    budget, policy = terms.budget, terms.policy
    if head.total_tokens <= budget and not policy.eager:
        messages = yield from read_path(0, head.position)
        composed = live(messages, terms)
        if composed.tokens <= budget:
            return Assembled(composed=composed, mark=None, why=whole(composed.tokens, budget))
    if policy.cuts:
        cut = yield from last_turns(head, terms)
        _, why = first_target(head.total_tokens, budget, 1.0, None)
        return Assembled(composed=cut, mark=None, why=why)
    if mark is not None and not terms.rebuild and not _newly_disputed(mark, terms):
        frozen = cast("Composed | None", (yield Recall(mark)))
        if frozen is None:
            frozen, _ = yield from _rebuild(mark.at_position, mark.target_tokens, terms, mark.taken_up)
            yield Keep(mark, frozen)
        since = yield from read_path(mark.at_position + 1, head.position)
        grown = frozen.followed_by(since, mark.at_position, terms)
        decision = _decide(frozen.tokens, grown.tokens - frozen.tokens, since, terms)
        if isinstance(decision, Stay):
            return Assembled(composed=grown, mark=mark, why=decision.why)
        target, why = decision.target, decision.why
    else:
        target, why = first_target(head.total_tokens, budget, policy.low_water, policy.prices)
    composed, taken_up = yield from _rebuild(head.position, target, terms, None)
    mark = Mark(at=head.id, at_position=head.position, target_tokens=target, taken_up=taken_up)
    yield Keep(mark, composed)
    return Assembled(composed=composed.followed_by((), head.position, terms), mark=mark, why=why)


def _newly_disputed(mark: Mark, terms: ContextOptions) -> bool:
    """Whether a summary before the mark was disputed since: that is worth what it costs to change the prefix."""
    return any(
        note.kind == "dispute" and note.at_position <= mark.at_position and note.id not in mark.taken_up
        for note in terms.notes
    )


def _decide(frozen_tokens: int, since_tokens: int, since: Sequence[Message], terms: ContextOptions) -> Stay | RebuildTo:
    idle = [seconds for seconds in (terms.idle_seconds, idle_seconds(since)) if seconds is not None]
    return decide(
        frozen_tokens=frozen_tokens,
        since_tokens=since_tokens,
        budget=terms.budget,
        low_water=terms.policy.low_water,
        idle_seconds=max(idle, default=None),
        prices=terms.policy.prices,
    )


def _rebuild(
    last: int, target: int, terms: ContextOptions, known: tuple[str, ...] | None
) -> Generator[Need, Answer, tuple[Composed, tuple[str, ...]]]:
    """Make the context of the path up to position `last` in `target` tokens, with whatever tier fits first.

    Returns what it took up besides the messages as well; `known` is what it may take up, where it was made before.
    """
    heard = tuple(note.id for note in terms.notes if note.kind == "dispute" and note.at_position <= last)
    if known is not None:
        disputes = tuple(note for note in terms.notes if note.kind != "dispute" or note.id in known)
        terms = replace(terms, notes=disputes)
    live_tokens = int(target * terms.policy.live_share)
    tail = yield from read_tail(last, max(live_tokens, 1), terms.policy)
    blocks = yield from _tiers(tail, target, terms, known)
    yield Made(blocks.made)
    return replace(blocks.composed, in_loop=loop_runs(tail)), (*blocks.texts, *heard)


def _tiers(
    tail: Sequence[Message], target: int, terms: ContextOptions, known: tuple[str, ...] | None
) -> Generator[Need, Answer, _Blocks]:
    """Make the context of the path that ends with `tail`, the tiers one after the other."""
    last, live_tokens = tail[-1].position, int(target * terms.policy.live_share)
    if terms.policy.eager:
        eager = yield from _eager(tail, target, terms, known)
        if eager is not None:
            return eager
    edge = tail[choose_edge(tail, live_tokens, terms.policy)].position
    if tail[-1].total_tokens <= target or edge * 20 < target:
        messages = yield from read_path(0, last)
        if sum(message.tokens for message in messages) <= target * MASKABLE:
            masked = with_masks(messages, edge, target, terms)
            if masked.tokens <= target:
                return _Blocks(composed=masked)
    blocks = yield from _with_blocks(tail, target, live_tokens, terms, known)
    for _ in range(WIDENINGS):
        free = target - blocks.composed.tokens
        if free < target * SPARE_SHARE:
            break
        # The past has said what it has to say: what is left is for more of the newest turns, verbatim.
        newest = tail[choose_edge(tail, live_tokens, terms.policy) :]
        before = newest[0].position
        size = sum(message.tokens for message in newest)
        live_tokens = min(size, live_tokens) + free - free // 10
        tail = yield from read_tail(last, live_tokens, terms.policy)
        edge = choose_edge(tail, live_tokens, terms.policy)
        # An atom before them that is larger than all that is left stands there head and tail.
        partly = edge > 0 and tail[edge].position == before and size <= live_tokens
        wider = yield from _with_blocks(tail, target, live_tokens, terms, known, partly=partly)
        # More of the newest turns say more than the names that filled the marks in them; one block for all says less.
        if (partly or wider.coarse) and wider.composed.tokens <= blocks.composed.tokens:
            break
        blocks = wider
        if partly:
            break
    return blocks


class _Blocks(Struct, frozen=True, kw_only=True):
    """A context of blocks, the summaries that were made for it alone, and those by a model that it shows."""

    composed: Composed
    made: tuple[Summary, ...] = ()
    texts: tuple[str, ...] = ()
    coarse: bool = False
    """All of the past stands in one block, or everything."""


def _with_blocks(
    tail: Sequence[Message],
    target: int,
    live_tokens: int,
    terms: ContextOptions,
    known: tuple[str, ...] | None,
    *,
    partly: bool = False,
) -> Generator[Need, Answer, _Blocks]:
    """Show all but the newest `live_tokens` as blocks, as fine as there is room for.

    With `partly` one atom more is shown, in as much as they leave of these tokens.
    """
    policy = terms.policy
    edge = choose_edge(tail, live_tokens, policy)
    newest = tail[edge:]
    # Thinking is bound to all that was shown before it, and is not shown behind an atom that is cut.
    thinks = terms.thinking == "turn" and any(message.thinking_tokens for message in newest)
    cut = atoms(tail[:edge])[-1] if partly and edge and not thinks else ()
    row = yield from read_row(tail[edge - len(cut)].position - 1, tail[edge - len(cut) :], policy)
    row, made = close_loose(row, policy)
    size = sum(message.tokens for message in newest)
    room = target - min(size, max(live_tokens, target // 4))
    while block := next_to_open(row, room):
        parts = yield NeedParts(block)
        row = opened(row, block, cast("Sequence[RowItem]", parts))
    row = yield from _best(row, known)
    texts = _written(row)
    if not is_cramped(row, target):
        system, rest = split_system(row)
        if oldest := too_fine(rest, room):
            made.append(cover_row(rest[:oldest], policy))
            row = [*system, made[-1], *rest[oldest:]]
        composed = with_blocks(row, newest, target, live_tokens, terms, cut)
        over = composed.tokens - target
        if 0 < over <= target * SPARE_SHARE:
            # What the frames cost besides is known by now: then with so much less.
            composed = with_blocks(row, newest, target - over - 8, live_tokens, terms, cut)
        if composed.tokens <= target:
            return _Blocks(composed=composed, made=tuple(made), texts=texts)
    newest = [*cut, *newest]
    system, rest = split_system(row)
    past = [cover_row(rest, policy)] if rest else []
    composed = one_block(system, past, newest, target, terms)
    if composed.tokens <= target:
        return _Blocks(composed=composed, made=tuple(past), texts=texts, coarse=True)
    whole = cover_row([*row, *newest], policy)
    return _Blocks(composed=all_in_one(whole, target, terms), made=(whole,), texts=texts, coarse=True)


def _written(row: Sequence[RowItem]) -> tuple[str, ...]:
    """The ids of the texts in a row that a model wrote."""
    return tuple(item.id for item in row if isinstance(item, Summary) and item.writing)


def _best(row: Sequence[RowItem], known: tuple[str, ...] | None) -> Generator[Need, Answer, list[RowItem]]:
    """Put the best text that there is in the place of each block."""
    blocks = tuple(item for item in row if isinstance(item, Summary))
    if not blocks:
        return list(row)
    best = cast("Sequence[Summary]", (yield NeedTexts(blocks, known)))
    texts = {block.id: text for block, text in zip(blocks, best, strict=True)}
    return [texts[item.id] if isinstance(item, Summary) else item for item in row]


def _eager(
    tail: Sequence[Message], target: int, terms: ContextOptions, known: tuple[str, ...] | None
) -> Generator[Need, Answer, _Blocks | None]:
    """Summarise what is old enough, whether or not the budget asks for it; None where that is not enough to fit."""
    newest = tail[choose_edge(tail, 0, terms.policy) :]
    row = yield from read_row(newest[0].position - 1, newest, terms.policy)
    # What waits for its block stays as it is: blocks are made of enough calls, or not at all.
    waiting: list[Message] = []
    while row and isinstance(last := row[-1], Message):
        waiting.insert(0, last)
        row.pop()
    row = yield from _best(row, known)
    composed = with_blocks(row, [*waiting, *newest], target, target // 2, terms)
    size = sum(message.tokens for message in (*waiting, *newest))
    if size > target // 2 or composed.tokens > target:
        return None
    return _Blocks(composed=composed, texts=_written(row))
