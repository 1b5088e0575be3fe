"""Assemble the context of an agent's work: try the tiers in order until one fits the budget.

Everything is read through a `WorkPath`, so that stored paths and plain lists are cut by the same functions.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from ireneo.context.compose import (
    SPARE_SHARE,
    WORDS_FLOOR,
    WORDS_SHARE,
    Composed,
    ContextOptions,
    all_in_one,
    choose_edge,
    close_loose,
    coarse_row,
    composed,
    is_cramped,
    is_noted,
    last_opener,
    live,
    newest_slots,
    next_to_open,
    one_block,
    opened,
    pin_block,
    room_for_notes,
    split_system,
    too_fine,
    with_blocks,
    with_masks,
)
from ireneo.context.view import ContextItem, gap, settle, slot_within, slots_within
from ireneo.log.calls import atoms, loop_runs, torn
from ireneo.log.message import BLOCK_TAGS, Count, Message, MessageId, short, texts
from ireneo.summaries.policy import Explained, Stay, decide, first_target, idle_seconds, whole
from ireneo.summaries.summary import RecentValues, Summary
from ireneo.summaries.work import RowItem, WorkPath, cover_row


class Mark(Struct, frozen=True, kw_only=True):
    """Where and how a context was last rebuilt: until the next rebuild, later contexts begin with it unchanged."""

    at: MessageId
    """The head for which it was rebuilt."""
    at_position: int
    target_tokens: int
    """The budget of the rebuilt context."""
    taken_up: tuple[str, ...] = ()
    """The summaries by a model that it shows, and the disputes that were known then."""


class Assembled(Struct, frozen=True, kw_only=True):
    """A context, and the mark to store for the next one (None: nothing was compacted)."""

    composed: Composed
    mark: Mark | None
    why: Explained


TAIL = 64
"""Messages read at a time from the end of a path to find where its live part begins."""


def read_tail(path: WorkPath, last: int, tokens: int) -> list[Message]:
    """Read from the end of the path until the live part and one atom before it are surely included."""
    first, policy = last + 1, path.policy
    tail: list[Message] = []
    while first > 0:
        begin = max(first - TAIL, 0)
        tail = [*path.reader.path(begin, first - 1), *tail]
        first = begin
        # The tail may begin within an atom, which is no place to cut.
        sound = tail[torn(tail) :] if first else tail
        enough = sum(message.tokens for message in sound) > tokens and len(sound) > policy.keep_messages
        if enough and len(atoms(sound)) > 2 and choose_edge(sound, tokens, policy) > 0:
            return sound
    return tail


STATEMENTS_SHARE = 0.96
"""Share of the room for notes that their statements get; the rest is for bullets, headings and the state."""


def share_for_notes(path: WorkPath, options: ContextOptions) -> float:
    """What notes on the past may cost, as a share of it, where a narrow context is to show them all."""
    target, policy = options.budget, options.policy
    live_tokens = int(target * policy.live_share)
    tail = read_tail(path, path.head.position, max(live_tokens, 1))
    newest = tail[choose_edge(tail, live_tokens, policy) :]
    row, _ = close_loose(path.row(newest[0].position - 1, newest), policy)
    system, rest = split_system(row)
    size = sum(item.source_tokens if isinstance(item, Summary) else item.tokens for item in rest)
    past = coarse_row(rest, policy, noted=True)
    return STATEMENTS_SHARE * room_for_notes(system, past, newest, target, options) / max(size, 1)


# The preset `scratchpad`: pins and the last turns are shown, and one line says how to open the rest.
#
# The cut depends on the path's cost alone and moves by half of the room at a time, so that in between the beginning of
# the context stays the same and the provider's cache holds.


LEFT_OUT_TAG = BLOCK_TAGS[3]
TRIES = 4
"""How often the cut is repeated because it cost more than estimated."""
LINES_TOKENS = 60
"""Cost of the lines (two at most) that say what is left out."""
OPENER_SHARE = 0.25
"""Share of the room for the request of a turn whose work does not fit as a whole."""


def last_turns(path: WorkPath, options: ContextOptions) -> Composed:
    """Show the system prompt, the pins and as many of the last turns as fit; at least the newest atom."""
    budget = options.budget
    tail = read_tail(path, path.head.position, budget)
    newest = tail[_edge(tail, budget // 4) :]
    row = path.row(newest[0].position - 1, newest)
    spent = _besides(row, newest, options)
    for _ in range(TRIES):
        room = budget - spent
        newest = tail[_edge(tail, room) :]
        row = path.row(newest[0].position - 1, newest)
        found = composed(_cut(row, newest, options, room))
        if found.tokens <= budget:
            return found
        spent = min(spent + found.tokens - budget, budget - budget // 4)
    return composed([_left_out([*row, *newest], options.count)])


def _besides(row: Sequence[RowItem], newest: Sequence[Message], options: ContextOptions) -> int:
    """Tokens reserved for all but the turns, in eighths of the budget so that a new pin doesn't move the turns."""
    system, _ = split_system(row)
    pins = pin_block([*row, *newest], (), options, options.budget)
    words = min(sum(message.tokens for message in system), int(options.budget * WORDS_SHARE))
    step = max(options.budget // 8, 1)
    return min(-(-(words + (pins.tokens if pins else 0) + LINES_TOKENS) // step) * step, options.budget * 3 // 4)


def _edge(tail: Sequence[Message], room: int) -> int:
    """Where in `tail` the shown part begins: at a turn, or at an atom where the turn is too large."""
    edges = [0]
    for atom in atoms(tail):
        edges.append(edges[-1] + len(atom))
    edges.pop()
    openers = [edge for edge in edges if tail[edge].opens_turn and not tail[edge].draft.joined]
    found = _first_fitting(tail, openers, room)
    if found is None:
        found = _first_fitting(tail, edges, room - int(room * OPENER_SHARE))
    return edges[-1] if found is None else found


def _first_fitting(tail: Sequence[Message], edges: Sequence[int], room: int) -> int | None:
    """The first of `edges` from which the messages fit into `room`, in whole steps where that leaves half of it."""
    total, step = tail[-1].total_tokens, max(room // 2, 1)
    before = {edge: tail[edge].total_tokens - tail[edge].tokens for edge in edges}
    fitting = [edge for edge in edges if total - before[edge] <= room]
    if not fitting:
        return None
    wished = -(-(total - room) // step) * step
    stepped = next((edge for edge in fitting if before[edge] >= wished), fitting[0])
    return stepped if (total - before[stepped]) * 4 >= room else fitting[0]


def _cut(row: Sequence[RowItem], newest: Sequence[Message], options: ContextOptions, room: int) -> list[ContextItem]:
    """What is shown, in order: the newest messages in `room` tokens, and the rest in what they leave."""
    count = options.count
    system, past = split_system(row)
    opens_turn = any(message.opens_turn for message in newest)
    place = None if opens_turn else last_opener(past)
    opener = [] if place is None else [past[place]]
    before, between = (past, past[:0]) if place is None else (past[:place], past[place + 1 :])
    first = slots_within(system, int(options.budget * WORDS_SHARE), count, floor=WORDS_FLOOR)
    asked = [slot_within(item, int(room * OPENER_SHARE), count) for item in opener if isinstance(item, Message)]
    limit = room - sum(slot.fixed(count) for slot in asked)
    slots = [*first, *asked, *newest_slots(newest, limit, options, limit)]
    said = [text for slot in slots for text in texts(slot.draft().parts)]
    pins = pin_block([*row, *newest], said, options, options.budget)
    told = [pins] if pins else []
    lines, gap = ([_left_out(items, count)] if items else [] for items in (before, between))
    # Settled last, in the room that all the rest leaves.
    shown = settle(slots, options.budget - sum(each.tokens for each in (*told, *lines, *gap)), options.statements)
    edge, live = len(first), len(first) + len(asked)
    return [*shown[:edge], *told, *lines, *shown[edge:live], *gap, *shown[live:]]


def _left_out(items: Sequence[RowItem], count: Count) -> ContextItem:
    """The one line that stands for adjacent items of a row."""
    first, last = items[0], items[-1]
    begin = first.first if isinstance(first, Summary) else first.id
    end = last.last if isinstance(last, Summary) else last.id
    number = sum(item.messages if isinstance(item, Summary) else 1 for item in items)
    text = f"{LEFT_OUT_TAG} {number:,} message{'' if number == 1 else 's'} · open with {short(begin)}"
    text += f" to {short(end)}" if number > 1 else ""
    return gap("left out", text, begin, end, number, count)


MASKABLE = 12
"""Outputs are rarely more than eleven twelfths of a run: longer paths are not tried with masks."""
WIDENINGS = 4
"""How often, at most, room that the blocks leave is given to the live part."""


def assemble(
    path: WorkPath, mark: Mark | None, options: ContextOptions, recent: RecentValues[Composed] | None = None
) -> Assembled:
    """Assemble the context of a path; `mark` is that of the last rebuild on it.

    `recent` caches the contexts that were rebuilt for earlier marks.
    """
    head, budget, policy = path.head, options.budget, options.policy
    if head.total_tokens <= budget and not policy.eager:
        messages = path.reader.path(0, head.position)
        composed = live(messages, options)
        if composed.tokens <= budget:
            return Assembled(composed=composed, mark=None, why=whole(composed.tokens, budget))
    if policy.cuts:
        cut = last_turns(path, options)
        _, why = first_target(head.total_tokens, budget, 1.0, None)
        return Assembled(composed=cut, mark=None, why=why)
    recent = RecentValues(1) if recent is None else recent
    kind = (policy.summarizer, options.thinking)
    if mark is not None and not options.rebuild and not _newly_disputed(mark, options):
        frozen = recent.find((kind, mark))
        if frozen is None:
            frozen, _ = _rebuild(path, mark.at_position, mark.target_tokens, options, mark.taken_up)
            recent.put((kind, mark), frozen)
        since = path.reader.path(mark.at_position + 1, head.position)
        grown = frozen.followed_by(since, mark.at_position, options)
        idle = [seconds for seconds in (options.idle_seconds, idle_seconds(since)) if seconds is not None]
        decision = decide(
            frozen_tokens=frozen.tokens,
            since_tokens=grown.tokens - frozen.tokens,
            budget=budget,
            low_water=policy.low_water,
            idle_seconds=max(idle, default=None),
            prices=policy.prices,
        )
        if isinstance(decision, Stay):
            return Assembled(composed=grown, mark=mark, why=decision.why)
        target, why = decision.target, decision.why
    else:
        target, why = first_target(head.total_tokens, budget, policy.low_water, policy.prices)
    composed, taken_up = _rebuild(path, head.position, target, options, None)
    mark = Mark(at=head.id, at_position=head.position, target_tokens=target, taken_up=taken_up)
    recent.put((kind, mark), composed)
    return Assembled(composed=composed.followed_by((), head.position, options), mark=mark, why=why)


class WorkComposer:
    """Composes the context of an agent's work for one token target after the other."""

    def __init__(
        self,
        path: WorkPath,
        mark: Mark | None,
        options: ContextOptions,
        recent: RecentValues[Composed] | None = None,
    ) -> None:
        self._path = path
        self._mark = mark
        self._options = options
        self._recent = recent

    def compose(self, target: int) -> Assembled:
        """Assemble the context in `target` tokens."""
        return assemble(self._path, self._mark, replace(self._options, budget=target), self._recent)


def _newly_disputed(mark: Mark, options: ContextOptions) -> bool:
    """Whether a summary before the mark was disputed since: that is worth changing the cached prefix."""
    return any(
        note.kind == "dispute" and note.at_position <= mark.at_position and note.id not in mark.taken_up
        for note in options.notes
    )


def _rebuild(
    path: WorkPath, last: int, target: int, options: ContextOptions, known: tuple[str, ...] | None
) -> tuple[Composed, tuple[str, ...]]:
    """Compose the path up to position `last` in `target` tokens, with the first tier that fits.

    Returns the context and the ids that it took up; `known` are the only ids it may take up, where it is made again.
    """
    heard = tuple(note.id for note in options.notes if note.kind == "dispute" and note.at_position <= last)
    if known is not None:
        disputes = tuple(note for note in options.notes if note.kind != "dispute" or note.id in known)
        options = replace(options, notes=disputes)
    live_tokens = int(target * options.policy.live_share)
    tail = read_tail(path, last, max(live_tokens, 1))
    blocks = _tiers(path, tail, target, options, known)
    path.keep(blocks.made)
    return replace(blocks.composed, in_loop=loop_runs(tail)), (*blocks.texts, *heard)


def _tiers(
    path: WorkPath, tail: Sequence[Message], target: int, options: ContextOptions, known: tuple[str, ...] | None
) -> _Blocks:
    """Try the tiers one after the other for the path that ends with `tail`."""
    last, live_tokens = tail[-1].position, int(target * options.policy.live_share)
    if options.policy.eager:
        eager = _eager(path, tail, target, options, known)
        if eager is not None:
            return eager
    edge = tail[choose_edge(tail, live_tokens, options.policy)].position
    if tail[-1].total_tokens <= target or edge * 20 < target:
        messages = path.reader.path(0, last)
        if sum(message.tokens for message in messages) <= target * MASKABLE:
            masked = with_masks(messages, edge, target, options)
            if masked.tokens <= target:
                return _Blocks(composed=masked)
    blocks = _with_blocks(path, tail, target, live_tokens, options, known)
    for _ in range(WIDENINGS):
        free = target - blocks.composed.tokens
        if free < target * SPARE_SHARE:
            break
        # The blocks have no more to say: what is left is for more of the newest turns, verbatim.
        newest = tail[choose_edge(tail, live_tokens, options.policy) :]
        before = newest[0].position
        size = sum(message.tokens for message in newest)
        live_tokens = min(size, live_tokens) + free - free // 10
        tail = read_tail(path, last, live_tokens)
        edge = choose_edge(tail, live_tokens, options.policy)
        # An atom before them that is too large for the rest is shown head and tail.
        partly = edge > 0 and tail[edge].position == before and size <= live_tokens
        wider = _with_blocks(path, tail, target, live_tokens, options, known, partly=partly)
        # More of the newest turns says more than names did; a single block for the past says less.
        if (partly or wider.coarse) and wider.composed.tokens <= blocks.composed.tokens:
            break
        blocks = wider
        if partly:
            break
    return blocks


class _Blocks(Struct, frozen=True, kw_only=True):
    """A context of blocks, the summaries made for it alone, and the ids of model texts that it shows."""

    composed: Composed
    made: tuple[Summary, ...] = ()
    texts: tuple[str, ...] = ()
    coarse: bool = False
    """The whole past stands in one block."""


def _with_blocks(
    path: WorkPath,
    tail: Sequence[Message],
    target: int,
    live_tokens: int,
    options: ContextOptions,
    known: tuple[str, ...] | None,
    *,
    partly: bool = False,
) -> _Blocks:
    """Show all but the newest `live_tokens` as blocks, as fine as there is room for.

    With `partly`, one more atom is shown in what the newest messages leave of these tokens.
    """
    policy = options.policy
    edge = choose_edge(tail, live_tokens, policy)
    newest = tail[edge:]
    # Thinking is bound to all that was shown before it, so not behind an atom that is cut.
    thinks = options.thinking == "turn" and any(message.thinking_tokens for message in newest)
    cut = atoms(tail[:edge])[-1] if partly and edge and not thinks else ()
    row = path.row(tail[edge - len(cut)].position - 1, tail[edge - len(cut) :])
    row, made = close_loose(row, policy)
    size = sum(message.tokens for message in newest)
    room = target - min(size, max(live_tokens, target // 4))
    while block := next_to_open(row, room):
        row = opened(row, block, path.parts(block))
    row = path.best(row, known)
    texts = tuple(path.reader.taken_up)
    if not is_cramped(row, target):
        system, rest = split_system(row)
        if oldest := too_fine(rest, room):
            made.append(cover_row(rest[:oldest], policy))
            row = [*system, made[-1], *rest[oldest:]]
        composed = with_blocks(row, newest, target, live_tokens, options, cut)
        over = composed.tokens - target
        if 0 < over <= target * SPARE_SHARE:
            # The frames' additional cost is known by now: again with so much less.
            composed = with_blocks(row, newest, target - over - 8, live_tokens, options, cut)
        if composed.tokens <= target:
            return _Blocks(composed=composed, made=tuple(made), texts=texts)
    newest = [*cut, *newest]
    system, rest = split_system(row)
    for past in (coarse_row(rest, policy, noted=is_noted(rest)), [cover_row(rest, policy)] if rest else []):
        composed = one_block(system, past, newest, target, options)
        if composed.tokens <= target:
            blocks = tuple(item for item in past if isinstance(item, Summary))
            return _Blocks(composed=composed, made=blocks, texts=texts, coarse=True)
    whole = cover_row([*row, *newest], policy)
    return _Blocks(composed=all_in_one(whole, target, options), made=(whole,), texts=texts, coarse=True)


def _eager(
    path: WorkPath, tail: Sequence[Message], target: int, options: ContextOptions, known: tuple[str, ...] | None
) -> _Blocks | None:
    """Summarise what is old enough, even if the budget doesn't ask for it; None where that does not fit."""
    newest = tail[choose_edge(tail, 0, options.policy) :]
    row = path.row(newest[0].position - 1, newest)
    # Messages without a block stay as they are: blocks need enough calls.
    waiting: list[Message] = []
    while row and isinstance(last := row[-1], Message):
        waiting.insert(0, last)
        row.pop()
    row = path.best(row, known)
    composed = with_blocks(row, [*waiting, *newest], target, target // 2, options)
    size = sum(message.tokens for message in (*waiting, *newest))
    if size > target // 2 or composed.tokens > target:
        return None
    return _Blocks(composed=composed, texts=tuple(path.reader.taken_up))
