"""Assemble the context of an agent's work: the first tier that fits the budget.

Everything is read through a `WorkPath`, so that stored paths and plain lists are cut by the same functions.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from ireneo.context.shorten import mask
from ireneo.context.view import (
    MIN_BLOCK_TOKENS,
    NOTES_SHARE,
    ContextItem,
    ContextOptions,
    ViewSlot,
    block_limit,
    fill_slots,
    fitting_notes,
    fixed_cost,
    pin_block,
    slot_verbatim,
    slot_within,
    slots_within,
    verbatim,
)
from ireneo.log.calls import atoms, incomplete_prefix, is_loop_open, last_user_index, next_loop_start
from ireneo.log.message import MESSAGE_TOKENS, Message, MessageId, texts
from ireneo.log.tree import Annotation
from ireneo.summaries.by_hand import is_known, wordings
from ireneo.summaries.policy import (
    CostExplanation,
    KeepContext,
    Policy,
    decide,
    explain_whole,
    first_target,
    idle_seconds,
)
from ireneo.summaries.summary import Line, RecentValues, Summary, header
from ireneo.summaries.work import RowItem, WorkPath, cover_open_messages, cover_row, uncovered_from

BLOCK_TOKENS = 360
"""Blocks with fewer tokens than this on average contain little but their frames: a coarser block is better."""
CRAMPED_TOKENS, CRAMPED_RATIO = 1_500, 12
"""The past becomes one block if the room is under `CRAMPED_TOKENS` and the past more than `CRAMPED_RATIO` times as
large, since the frames of several blocks would displace their statements."""
CRAMPED_NOTED = 10_000
"""Replaces `CRAMPED_TOKENS` if a model wrote all blocks of the past."""
NEWEST_SHARE = 0.2
"""The newest messages are shown as they are if they take at most this share of a context whose past is one block."""
NOTED_LIVE = 0.06
NOTED_OPENER = 0.04
"""In a room filled only by notes, the shares for the newest atom if it is larger, and for the current request."""
NOTED_ORDER = 0.12
"""The share for the user's last message if it is among the newest ones, since it says what to do now."""
WORDS_SHARE = 0.35
"""The share of the past's room for verbatim words of users and the system."""
SYSTEM_SHARE = 0.2
"""The same for the system prompt in a context whose past is one block."""
WORDS_FLOOR = 48
"""The least tokens shown of a user message that no summary covers."""


def choose_edge(messages: Sequence[Message], live_tokens: int, policy: Policy) -> int:
    """Find where the live part of `messages` begins: whole atoms from the end, at least one, within `live_tokens`."""
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
    """The newest block of `row` to replace by its sources, if `room` allows a finer row."""
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
    """Whether the past should become one block, since `target` tokens are too few for several."""
    if target >= (CRAMPED_NOTED if is_noted(row) else CRAMPED_TOKENS):
        return False
    size = sum(item.source_tokens if isinstance(item, Summary) else item.tokens for item in row)
    return size > CRAMPED_RATIO * target


def is_noted(row: Sequence[RowItem]) -> bool:
    """Whether a model wrote all blocks of `row`."""
    blocks = [item for item in row if isinstance(item, Summary)]
    return bool(blocks) and all(block.is_written for block in blocks)


def coarse_row(row: Sequence[RowItem], newest: Sequence[Message], policy: Policy, *, noted: bool) -> list[RowItem]:
    """Cover all of `row` by one block; if `noted`, the last request stays verbatim unless one is in `newest`."""
    if not row:
        return []
    place = last_opener(row)
    if place is None or not noted or any(message.opens_turn for message in newest):
        return [cover_row(row, policy)]
    parts = [row[:place], row[place + 1 :]]
    before, after = ([cover_row(part, policy)] if part else [] for part in parts)
    return [*before, row[place], *after]


def last_opener(row: Sequence[RowItem]) -> int | None:
    """The index of the user message that opened the last turn of `row`; None if a summary covers it."""
    places = range(len(row) - 1, -1, -1)
    return next((place for place in places if isinstance(item := row[place], Message) and item.opens_turn), None)


def split_system(row: Sequence[RowItem]) -> tuple[list[Message], list[RowItem]]:
    """Split off the system messages at the beginning of a row, which no block replaces."""
    end = 0
    while end < len(row) and isinstance(item := row[end], Message) and item.role == "system":
        end += 1
    return [item for item in row[:end] if isinstance(item, Message)], list(row[end:])


def count_too_fine(row: Sequence[RowItem], room: int) -> int:
    """How many items at the beginning of `row` one block should cover for lack of room.

    Whole turns only, and never the current one, whose request stays verbatim.
    """
    blocks = [isinstance(item, Summary) for item in row]
    allowed = max(room // BLOCK_TOKENS, 2)
    if sum(blocks) <= allowed:
        return 0
    openers = [place for place, item in enumerate(row) if isinstance(item, Message) and item.opens_turn]
    fitting = [place for place in openers if sum(blocks[place:]) < allowed]
    place = fitting[0] if fitting else (openers[-1] if openers else 0)
    return place if sum(blocks[:place]) > 1 else 0


def with_small_opened(row: Sequence[RowItem], path: WorkPath, options: ContextOptions) -> list[RowItem]:
    """Replace each block by its messages if it would be empty, or cost as much as they do with one line.

    Only if there is no call among them: a call with its result is informative even if nothing came of it.
    """
    out: list[RowItem] = []
    for item in row:
        messages: Sequence[Message] = ()
        if isinstance(item, Summary) and not item.calls and _saves_nothing(item, options):
            messages = path.reader.path(item.first_position, item.last_position)
        out.extend(messages if messages and all(message.role != "tool" for message in messages) else [item])
    return out


def _saves_nothing(block: Summary, options: ContextOptions) -> bool:
    # How a turn ended is only shown in the last block.
    costs = [each.cost for each in options.statements.of(block, {}) if each.section != "status"]
    frame = options.count(header(block)) + 1 + MESSAGE_TOKENS
    return not costs or block.source_tokens <= frame + min(costs)


PARTLY_FLOOR = 24
"""The least tokens for each message of an atom that is shown in part."""
LEAST_SPARE = 12
"""Fewer tokens than this hold no further pin."""
SPARE_SHARE = 0.1
"""A rest below this share of the room is not worth another round."""


class Composed(Struct, frozen=True, kw_only=True):
    """A context that is not yet written in a provider's format."""

    shown: tuple[ContextItem, ...]
    tokens: int
    in_loop: bool = False
    """Whether a tool loop continues after the last message, while the loop's first thinking is not shown."""

    def followed_by(self, messages: Sequence[Message], after: int, options: ContextOptions) -> Composed:
        """This context followed by newer messages; `after` is the position of the last message before them.

        The newer messages were written in view of this context, so their signed thinking is still valid, except in a
        loop that began before the context.
        """
        whole = next_loop_start(messages, running=self.in_loop) if options.thinking == "prefix" else 0
        fresh = [
            verbatim(message, thinking=options.thinking != "none" and place >= whole)
            for place, message in enumerate(messages)
        ]
        return compose_items([*self.shown, *with_notes(messages, fresh, after, options, before=self.shown)])


def show_live(messages: Sequence[Message], options: ContextOptions) -> Composed:
    """Show every message as it is, with thinking if the format allows it."""
    thinking = options.thinking != "none"
    shown = [verbatim(message, thinking=thinking) for message in messages]
    # The caller checks whether all of it fits.
    return compose_items(with_notes(messages, shown, -1, options, share=1.0))


def with_notes(
    messages: Sequence[Message],
    shown: Sequence[ContextItem],
    after: int,
    options: ContextOptions,
    share: float = NOTES_SHARE,
    before: Sequence[ContextItem] = (),
) -> list[ContextItem]:
    """Insert notes by hand from position `after` on where they were made, between atoms.

    They take at most `share` of the budget: beyond it the newest are shown, with the number of the others. A pin that
    was released is left out, and so is its release, unless an item of `before` or `shown` has its words.
    """
    if not options.notes:
        return list(shown)
    released = {each.about or each.text for each in options.notes if each.kind == "release"}
    said = " ".join(" ".join(each.text for each in (*before, *shown)).split()) if released else ""
    seen_by = options.policy.seen_by
    worded = wordings(options.notes)
    known = {each.id for each in options.notes if each.kind == "thread" and is_known(each, seen_by, worded)}

    def is_shown(note: Annotation) -> bool:
        # What became of a thread is told to nobody who doesn't know of it.
        if note.about.startswith("t_"):
            return not seen_by or note.about in known
        return note.id not in released if note.kind == "pin" else note.text in said

    made = [each for each in options.notes if each.at_position >= after and is_shown(each)]
    told, left_out = fitting_notes(made, options.count, int(options.budget * share))
    if not told and not left_out:
        return list(shown)
    notes = [each for each in made if each.id in told]
    out: list[ContextItem] = []
    place = 0
    # System messages come first, even before pins from before the first message.
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
    turn = last_user_index(messages) if options.thinking == "turn" else len(messages)
    slots = [slot_verbatim(message, count, thinking=place >= turn) for place, message in enumerate(messages)]
    size = sum(slot.fixed_cost(count) for slot in slots)
    masked: list[int] = []
    for place in range(edge):
        if size <= target:
            break
        if place >= turn and messages[place].role != "tool":
            continue
        slot = ViewSlot(messages[place], mask(messages[place], calls, count), masked=True)
        size -= slots[place].fixed_cost(count) - slot.fixed_cost(count)
        slots[place] = slot
        masked.append(place)
    shown = _fill_with_pins(slots, messages, target, options)
    # Masking one output too many may leave much room: it is then shown with head and tail.
    for place in reversed(masked):
        free = target - shown.tokens
        if free < target * SPARE_SHARE:
            break
        room = slots[place].fixed_cost(count) + free
        # A text cut to a room may come out slightly larger: then once more, with less room.
        for _ in range(2):
            wider = [*slots]
            wider[place] = slot_within(messages[place], room, count)
            fuller = _fill_with_pins(wider, messages, target, options)
            if fuller.tokens <= target:
                shown, slots = max((shown, slots), (fuller, wider), key=lambda each: each[0].tokens)
                break
            room -= fuller.tokens - target + 8
    return shown


def with_blocks(
    row: Sequence[RowItem],
    newest: Sequence[Message],
    target: int,
    live_tokens: int,
    options: ContextOptions,
    partly: Sequence[Message] = (),
) -> Composed:
    """Show a row as blocks and verbatim words, then the `newest` messages, in `target` tokens.

    The atom `partly` before the newest messages gets the rest of `live_tokens`, which is too small for all of it.
    """
    count = options.count
    blocks = [_block_slot(item, options) for item in row if isinstance(item, Summary)]
    kept = [item for item in row if isinstance(item, Message)]
    # Thinking takes precedence over blocks and old words, except for their minimum.
    least = sum(slot.fixed_cost(count) + MIN_BLOCK_TOKENS for slot in blocks)
    least += sum(min(message.tokens, WORDS_FLOOR) for message in kept)
    after = newest_slots(newest, max(oversized_limit(target, newest), live_tokens), options, target - least)
    if partly:
        rest = max(live_tokens - sum(message.tokens for message in newest), 0)
        after = [*slots_within(partly, rest, count, floor=PARTLY_FLOOR), *after]
    left = target - sum(slot.fixed_cost(count) for slot in (*after, *blocks))
    # Blocks are limited to a share of the messages that they cover; the rest is for verbatim words.
    told = (slot.item for slot in blocks if isinstance(slot.item, Summary))
    sayable = sum(block_limit(item, options.statements.of(item, {}) if item.is_written else ()) for item in told)
    words_room = max(int(max(left, 0) * WORDS_SHARE), left - sayable)
    said = iter(slots_within(kept, words_room, count, floor=WORDS_FLOOR))
    past = [_block_slot(item, options) if isinstance(item, Summary) else next(said) for item in row]
    return _fill_with_pins([*past, *after], [*row, *partly, *newest], target, options)


def one_block(
    system: Sequence[Message], past: Sequence[RowItem], newest: Sequence[Message], target: int, options: ContextOptions
) -> Composed:
    """Show the past as one block after the system prompt, then the newest messages."""
    noted = is_noted(past)
    slots = _one_block_slots(system, past, newest, target, options, noted=noted)
    ruled = [line for item in past if noted and isinstance(item, Summary) for line in item.lines("asked")]
    return _fill_with_pins(slots, [*system, *past, *newest], target, options, ruled)


def room_for_notes(
    system: Sequence[Message], past: Sequence[RowItem], newest: Sequence[Message], target: int, options: ContextOptions
) -> int:
    """The tokens that `one_block` leaves for notes, once a model has written them on all of `past`."""
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
    limit = oversized_limit(target, newest) if past else target - 40
    size = sum(message.tokens for message in newest)
    if noted:
        limit = int(target * NOTED_LIVE)
    elif size <= target * NEWEST_SHARE:
        limit = max(limit, size)
    after = newest_slots(newest, limit, options, limit)
    if noted and (last := [place for place, message in enumerate(newest) if message.opens_turn][-1:]):
        after[last[0]] = slot_within(newest[last[0]], int(target * NOTED_ORDER), options.count)
    before = slots_within(system, int(target * SYSTEM_SHARE), options.count, floor=WORDS_FLOOR)
    opener = max(int(target * NOTED_OPENER), WORDS_FLOOR)
    told = [
        _block_slot(item, options) if isinstance(item, Summary) else slot_within(item, opener, options.count)
        for item in past
    ]
    return [*before, *told, *after]


def all_in_one(whole: Summary, target: int, options: ContextOptions) -> Composed:
    """Show everything as one block, if not even the newest messages fit."""
    return _fill_with_pins([_block_slot(whole, options)], [whole], target, options)


def _fill_with_pins(
    slots: Sequence[ViewSlot],
    items: Sequence[RowItem],
    target: int,
    options: ContextOptions,
    notes: Sequence[Line] = (),
) -> Composed:
    """Fill the slots, and add pins after the system prompt that no message and none of `notes` contains."""
    said = [text for slot in slots if isinstance(slot.item, Message) for text in texts(slot.draft().parts)]
    pins = pin_block(items, said, options, target, notes)
    shown = fill_slots(slots, target - (pins.tokens if pins else 0), options.statements, pins.text if pins else "")
    if pins is None:
        return compose_items(shown)
    spare = target - pins.tokens - sum(each.tokens for each in shown)
    if spare >= LEAST_SPARE and (fuller := pin_block(items, said, options, target, notes, spare)):
        pins = fuller if fuller.tokens - pins.tokens <= spare else pins
    system = [isinstance(slot.item, Message) and slot.item.role == "system" for slot in slots]
    first = [*system, False].index(False)
    return compose_items([*shown[:first], pins, *shown[first:]])


def _block_slot(summary: Summary, options: ContextOptions) -> ViewSlot:
    return ViewSlot(summary, None, doubts=options.unanswered_disputes(summary))


def oversized_limit(target: int, newest: Sequence[Message]) -> int:
    """The limit for the newest atom if it exceeds the live share: 9 % of 1,000 tokens, 40 % from 32,000.

    The next step depends on the newest output: a wide context shows nearly all of it; a narrow one also needs the past.
    What the user says last is to be answered, so it has the share of newest messages that fit.
    """
    asked = newest[-1].role == "user" and newest[-1].draft.origin == "spoken"
    return int(target * min(max(0.08 + target / 100_000, NEWEST_SHARE if asked else 0), 0.4))


def cover_uncovered(row: Sequence[RowItem], policy: Policy) -> tuple[list[RowItem], list[Summary]]:
    """Cover the messages at the end of a row that no block covers yet; returns the row and the new block."""
    place = uncovered_from(row, policy)
    items = list(row[:place])
    loose = [item for item in row[place:] if isinstance(item, Message)]
    if not loose:
        return items, []
    opener = next((item for item in reversed(items) if isinstance(item, Message) and item.opens_turn), None)
    block = cover_open_messages(loose, opener.text if opener else "", policy)
    return [*items, block], [block]


def compose_items(shown: Sequence[ContextItem]) -> Composed:
    """Make a `Composed` of these items."""
    return Composed(shown=tuple(shown), tokens=sum(each.tokens for each in shown))


def newest_slots(messages: Sequence[Message], limit: int, options: ContextOptions, free: int) -> list[ViewSlot]:
    """Show the newest messages as they are if they fit into `limit`, with thinking if that fits into `free`.

    Only the running turn's thinking is shown, all of it or none. If not all messages fit, but that turn does with its
    thinking, only the messages before it are shortened.
    """
    turn = last_user_index(messages) if options.thinking == "turn" else len(messages)
    size = sum(message.tokens for message in messages)
    thinking = sum(message.thinking_tokens for message in messages[turn:])
    if size <= limit:
        turn = turn if size + thinking <= free else len(messages)
        return [slot_verbatim(message, options.count, thinking=place >= turn) for place, message in enumerate(messages)]
    before, after = messages[:turn], messages[turn:]
    running = thinking + sum(message.tokens for message in after)
    least = sum(min(message.tokens, PARTLY_FLOOR) for message in before)
    if not thinking or running > max(limit, free // 3) or running + least > free:
        return slots_within(messages, max(limit, 0), options.count, floor=PARTLY_FLOOR)
    shortened = slots_within(before, max(limit - running, 0), options.count, floor=PARTLY_FLOOR)
    return [*shortened, *(slot_verbatim(message, options.count, thinking=True) for message in after)]


class Mark(Struct, frozen=True, kw_only=True):
    """The place and manner of the last rebuild: until the next one, later contexts begin with it unchanged."""

    at: MessageId
    """The head for which it was rebuilt."""
    at_position: int
    target_tokens: int
    """The budget of the rebuilt context."""
    taken_up: tuple[str, ...] = ()
    """The summaries by a model that it shows, and the disputes and releases that were known then."""


class Assembled(Struct, frozen=True, kw_only=True):
    """A context, and the mark to store for the next one (None: nothing was compacted)."""

    composed: Composed
    mark: Mark | None
    why: CostExplanation


TAIL = 64
"""Messages read at a time from the end of a path to find where its live part begins."""


def read_tail(path: WorkPath, last: int, tokens: int) -> list[Message]:
    """Read from the end of the path until the live part and one atom before it are certainly included."""
    first, policy = last + 1, path.policy
    tail: list[Message] = []
    while first > 0:
        begin = max(first - TAIL, 0)
        tail = [*path.reader.path(begin, first - 1), *tail]
        first = begin
        # The tail may begin within an atom, where it must not be cut.
        sound = tail[incomplete_prefix(tail) :] if first else tail
        enough = sum(message.tokens for message in sound) > tokens and len(sound) > policy.keep_messages
        if enough and len(atoms(sound)) > 2 and choose_edge(sound, tokens, policy) > 0:
            return sound
    return tail


STATEMENTS_SHARE = 0.96
"""The share of the room for notes that their statements take; the rest is for bullets, headings and the state."""


def notes_share(path: WorkPath, options: ContextOptions, end: int) -> float:
    """The share of notes up to position `end` for which a narrow context that should show all of them has room."""
    target, policy = options.budget, options.policy
    live_tokens = int(target * policy.live_share)
    tail = read_tail(path, path.head.position, max(live_tokens, 1))
    newest = tail[choose_edge(tail, live_tokens, policy) :]
    row, _ = cover_uncovered(path.row(newest[0].position - 1, newest), policy)
    system, rest = split_system(row)
    size = sum(item.source_tokens if isinstance(item, Summary) else item.tokens for item in rest)
    size += sum(message.tokens for message in newest if message.position <= end)
    past = coarse_row(rest, newest, policy, noted=True)
    return STATEMENTS_SHARE * room_for_notes(system, past, newest, target, options) / max(size, 1)


MASKS_TELL = 2
"""In a budget below half of a run, masks hide most of what was read, and a model's notes say more about it."""
MASKABLE = 12
"""Outputs are rarely more than eleven twelfths of a run: longer paths are not tried with masks."""
WIDENINGS = 4
"""How often room that the blocks leave is given to the live part at most."""


def show_whole_path(path: WorkPath, options: ContextOptions) -> Assembled | None:
    """The whole path with every message as it is; None if that exceeds the budget, or is not wanted."""
    if path.head.total_tokens > options.budget or options.policy.eager:
        return None
    composed = show_live(path.reader.path(0, path.head.position), options)
    if composed.tokens > options.budget:
        return None
    return Assembled(composed=composed, mark=None, why=explain_whole(composed.tokens, options.budget))


def assemble(
    path: WorkPath, mark: Mark | None, options: ContextOptions, recent: RecentValues[Composed] | None = None
) -> Assembled:
    """Assemble the context of a path; `mark` is the mark of the last rebuild on the path.

    `recent` caches the contexts that were rebuilt for earlier marks.
    """
    head, budget, policy = path.head, options.budget, options.policy
    if (fitting := show_whole_path(path, options)) is not None:
        return fitting
    recent = RecentValues(1) if recent is None else recent
    kind = (policy.summarizer, options.thinking)
    if mark is not None and not options.rebuild and not _newly_denied(mark, options):
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
        if isinstance(decision, KeepContext):
            return Assembled(composed=grown, mark=mark, why=decision.why)
        target, why = decision.target, decision.why
    else:
        target, why = first_target(head.total_tokens, budget, policy.low_water, policy.prices)
    composed, taken_up = _rebuild(path, head.position, target, options, None)
    mark = Mark(at=head.id, at_position=head.position, target_tokens=target, taken_up=taken_up)
    recent.put((kind, mark), composed)
    return Assembled(composed=composed.followed_by((), head.position, options), mark=mark, why=why)


class WorkComposer:
    """Composes the context of an agent's work for several token targets, one after the other."""

    def __init__(
        self, path: WorkPath, mark: Mark | None, options: ContextOptions, recent: RecentValues[Composed] | None = None
    ) -> None:
        self._path = path
        self._mark = mark
        self._options = options
        self._recent = recent

    def compose(self, target: int) -> Assembled:
        """Assemble the context in `target` tokens."""
        return assemble(self._path, self._mark, replace(self._options, budget=target), self._recent)


_AGAINST = ("dispute", "release")
"""The kinds of annotations that say that something shown doesn't hold."""


def _newly_denied(mark: Mark, options: ContextOptions) -> bool:
    """Whether something shown was disputed or released since the mark, which is worth changing the cached prefix."""
    return any(
        note.kind in _AGAINST
        and (note.at_position <= mark.at_position or note.kind == "release")
        and note.id not in mark.taken_up
        for note in options.notes
    )


def _rebuild(
    path: WorkPath, last: int, target: int, options: ContextOptions, known: tuple[str, ...] | None
) -> tuple[Composed, tuple[str, ...]]:
    """Compose the path up to position `last` in `target` tokens, with the first tier that fits.

    Returns the context and the ids of the model texts in it; if it is rebuilt as before, only those in `known` may be
    used.
    """
    heard = tuple(note.id for note in options.notes if note.kind in _AGAINST and note.at_position <= last)
    if known is not None:
        notes = tuple(note for note in options.notes if note.kind not in _AGAINST or note.id in known)
        options = replace(options, notes=notes)
    live_tokens = int(target * options.policy.live_share)
    tail = read_tail(path, last, max(live_tokens, 1))
    blocks = _tiers(path, tail, target, options, known)
    path.keep(blocks.made)
    return replace(blocks.composed, in_loop=is_loop_open(tail)), (*blocks.texts, *heard)


def _tiers(
    path: WorkPath, tail: Sequence[Message], target: int, options: ContextOptions, known: tuple[str, ...] | None
) -> _BlocksContext:
    """Try the tiers in order for the path that ends with `tail`."""
    last, live_tokens = tail[-1].position, int(target * options.policy.live_share)
    if options.policy.eager:
        eager = _summarise_early(path, tail, target, options, known)
        if eager is not None:
            return eager
    edge = tail[choose_edge(tail, live_tokens, options.policy)].position
    blocks: _BlocksContext | None = None
    if tail[-1].total_tokens <= target or edge * 20 < target:
        messages = path.reader.path(0, last)
        if sum(message.tokens for message in messages) <= target * MASKABLE:
            masked = with_masks(messages, edge, target, options)
            if masked.tokens <= target:
                hidden = target * MASKS_TELL < sum(message.tokens for message in messages)
                blocks = _with_blocks(path, tail, target, live_tokens, options, known) if hidden else None
                if blocks is None or not blocks.noted:
                    return _BlocksContext(composed=masked)
    blocks = blocks or _with_blocks(path, tail, target, live_tokens, options, known)
    for _ in range(WIDENINGS):
        free = target - blocks.composed.tokens
        if free < target * SPARE_SHARE:
            break
        # The blocks have no more to say, so the rest is for more of the newest turns, verbatim.
        newest = tail[choose_edge(tail, live_tokens, options.policy) :]
        before = newest[0].position
        size = sum(message.tokens for message in newest)
        live_tokens = min(size, live_tokens) + free - free // 10
        tail = read_tail(path, last, live_tokens)
        edge = choose_edge(tail, live_tokens, options.policy)
        # An atom before them that is too large for the rest is shown with head and tail.
        partly = edge > 0 and tail[edge].position == before and size <= live_tokens
        wider = _with_blocks(path, tail, target, live_tokens, options, known, partly=partly)
        # More of the newest turns says more than names; a single block for the past says less.
        if (partly or wider.coarse) and wider.composed.tokens <= blocks.composed.tokens:
            break
        blocks = wider
        if partly:
            break
    return blocks


class _BlocksContext(Struct, frozen=True, kw_only=True):
    """A context of blocks, the summaries made only for it, and the ids of model texts that it shows."""

    composed: Composed
    made: tuple[Summary, ...] = ()
    texts: tuple[str, ...] = ()
    coarse: bool = False
    """Whether the whole past is one block."""
    noted: bool = False
    """Whether a model wrote all of its blocks."""


def _with_blocks(
    path: WorkPath,
    tail: Sequence[Message],
    target: int,
    live_tokens: int,
    options: ContextOptions,
    known: tuple[str, ...] | None,
    *,
    partly: bool = False,
) -> _BlocksContext:
    """Show all but the newest `live_tokens` as blocks, as fine as the room allows.

    With `partly`, one more atom is shown in what the newest messages leave of these tokens.
    """
    policy = options.policy
    edge = choose_edge(tail, live_tokens, policy)
    newest = tail[edge:]
    # Thinking is bound to everything shown before it, so it can't follow an atom that is cut.
    thinks = options.thinking == "turn" and any(message.thinking_tokens for message in newest)
    cut = atoms(tail[:edge])[-1] if partly and edge and not thinks else ()
    row = path.row(tail[edge - len(cut)].position - 1, tail[edge - len(cut) :])
    row, made = cover_uncovered(row, policy)
    size = sum(message.tokens for message in newest)
    room = target - min(size, max(live_tokens, target // 4))
    while block := next_to_open(row, room):
        row = [part for item in row for part in (path.parts(block) if item is block else [item])]
    row = path.with_best_texts(row, known)
    texts = tuple(path.reader.used_texts)
    if not is_cramped(row, target):
        system, rest = split_system(row)
        if oldest := count_too_fine(rest, room):
            made.append(cover_row(rest[:oldest], policy))
            row = [*system, made[-1], *rest[oldest:]]
        finest = with_small_opened(row, path, options)
        composed = with_blocks(finest, newest, target, live_tokens, options, cut)
        over = composed.tokens - target
        if 0 < over <= target * SPARE_SHARE:
            # The additional cost of the frames is now known: again with that much less.
            composed = with_blocks(finest, newest, target - over - 8, live_tokens, options, cut)
        if composed.tokens <= target:
            return _BlocksContext(composed=composed, made=tuple(made), texts=texts, noted=is_noted(rest))
    newest = [*cut, *newest]
    system, rest = split_system(row)
    for past in (coarse_row(rest, newest, policy, noted=is_noted(rest)), [cover_row(rest, policy)] if rest else []):
        composed = one_block(system, past, newest, target, options)
        if composed.tokens <= target:
            blocks = tuple(item for item in past if isinstance(item, Summary))
            return _BlocksContext(composed=composed, made=blocks, texts=texts, coarse=True, noted=is_noted(rest))
    whole = cover_row([*row, *newest], policy)
    return _BlocksContext(composed=all_in_one(whole, target, options), made=(whole,), texts=texts, coarse=True)


def _summarise_early(
    path: WorkPath, tail: Sequence[Message], target: int, options: ContextOptions, known: tuple[str, ...] | None
) -> _BlocksContext | None:
    """Summarise messages that are old enough, even if the budget doesn't require it; None if the result doesn't fit."""
    newest = tail[choose_edge(tail, 0, options.policy) :]
    row = path.row(newest[0].position - 1, newest)
    # Messages without a block stay as they are, since blocks need enough calls.
    waiting: list[Message] = []
    while row and isinstance(last := row[-1], Message):
        waiting.insert(0, last)
        row.pop()
    row = path.with_best_texts(row, known)
    row = with_small_opened(row, path, options)
    composed = with_blocks(row, [*waiting, *newest], target, target // 2, options)
    size = sum(message.tokens for message in (*waiting, *newest))
    if size > target // 2 or composed.tokens > target:
        return None
    return _BlocksContext(composed=composed, texts=tuple(path.reader.used_texts))
