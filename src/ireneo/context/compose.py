"""Compose a context: what is shown of the path, in which order, under which limits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Literal

from msgspec import Struct

from ireneo.context.allot import Statements
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
from ireneo.log.message import MESSAGE_TOKENS, PINS_TAG, Count, Draft, Message, Text, short, texts
from ireneo.log.tree import Annotation, AnnotationId, atoms, next_loop, running_turn
from ireneo.summaries.by_hand import canon, standing_wordings
from ireneo.summaries.notes import is_written
from ireneo.summaries.pins import BY_HAND, MEDIUM, MILD, STANDING, STRONG, constraints, pinned, standing
from ireneo.summaries.policy import Policy, Prices, rebuild_cost
from ireneo.summaries.summary import Line, Summary
from ireneo.summaries.work import RowItem, cover_row, loose_from, open_block, strategy_of

ThinkingMode = Literal["prefix", "turn", "none"]
"""When signed thinking may be shown: as long as nothing before it was changed; in the turn that is running; never."""


class ContextOptions(Struct, frozen=True, kw_only=True, dict=True):
    """What a context is asked for."""

    budget: int
    policy: Policy
    count: Count
    thinking: ThinkingMode = "none"
    asked: ThinkingMode | None = None
    """What the caller says of the model's thinking; None: as the format has it."""
    notes: tuple[Annotation, ...] = ()
    """The pins, releases and disputes along the path."""
    rebuild: bool = False
    """The context is to be made anew, whatever its beginning was until now."""
    idle_seconds: float | None = None
    """How long no context was asked for; None where that is not known."""

    kept: Statements | None = None
    """What is known of lines from contexts before, as `count` counts them."""

    @cached_property
    def statements(self) -> Statements:
        """What is known of the lines of summaries."""
        return self.kept or Statements(self.count, strategy_of(self.policy))

    def ruled(self, rule: ThinkingMode) -> ThinkingMode:
        """Which thinking may be shown in a format that has this rule, where the caller says nothing else."""
        return rule if rule == "none" or self.asked is None else self.asked

    @cached_property
    def pins(self) -> tuple[list[Line], list[Line]]:
        """The pins and the releases among the notes."""
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
        """Of a story the facts that always stand."""
        return canon(self.notes, self.policy.seen_by)

    @cached_property
    def by_hand(self) -> list[Annotation]:
        """The words of summaries of a story that were written by hand, and stand."""
        return standing_wordings(self.notes, self.policy.seen_by)

    def disputes_of(self, summary: Summary) -> list[AnnotationId]:
        """The ids of the disputes of what a summary covers."""
        return [note.id for note in self.disputes.get(summary.stretch, ())]

    def doubts(self, summary: Summary) -> list[Annotation]:
        """The disputes of a summary that it was not written in view of."""
        answered = summary.writing.disputes if summary.writing else ()
        return [note for note in self.disputes.get(summary.stretch, ()) if note.id not in answered]


FILLED = 0.9
"""Of its low mark, so much a context is rebuilt to where calls have a price: what is needed least would be paid for at
every call until the next rebuild."""
ENOUGH = 0.25
"""A rebuild that no budget asks for has to save this share of the budget at the least: it is paid in recall."""


class Explained(Struct, frozen=True, kw_only=True):
    """Why a context was kept or rebuilt, in tokens, calls and one sentence."""

    tokens_before: int
    """What the context would cost if it were kept."""
    tokens_after: int
    """What it may cost."""
    suffix_tokens: int
    """What has to be written again, because what stands before it changes."""
    saved_tokens: int
    """What each further call is spared."""
    calls: int | None
    """After so many calls a rebuild has paid for itself; None: never, or there are no prices."""
    expired: bool
    """Whether the provider's cache has forgotten the context by now."""
    decision: str


class Stay(Struct, frozen=True):
    """The context keeps its beginning, and what came since follows it."""

    why: Explained


class RebuildTo(Struct, frozen=True):
    """The context is rebuilt, in `target` tokens."""

    target: int
    why: Explained


def decide(
    *,
    frozen_tokens: int,
    since_tokens: int,
    budget: int,
    low_water: float,
    idle_seconds: float | None = None,
    prices: Prices | None = None,
) -> Stay | RebuildTo:
    """Whether a context of `frozen_tokens`, followed by `since_tokens`, stays as it is in a `budget`.

    `idle_seconds` is how long ago the last call was; None, where that is not known. Without `prices` nothing is
    known of a cache, and only the budget decides.
    """
    before = frozen_tokens + since_tokens
    low = int(budget * low_water * (FILLED if prices else 1.0))
    expired = prices is not None and prices.expired(idle_seconds)
    if before > budget:
        return RebuildTo(low, _explain(before, low, prices, expired, f"over its budget of {budget:,}"))
    if expired and before - low >= budget * ENOUGH:
        return RebuildTo(low, _explain(before, low, prices, expired, "the cache has expired"))
    return Stay(_explain(before, before, prices, expired, f"within its budget of {budget:,}"))


def first_target(tokens: int, budget: int, low_water: float, prices: Prices | None) -> tuple[int, Explained]:
    """What the first rebuild of a path of `tokens` may cost, and why.

    Who gives no prices may be cutting a list once, and wants as much of it as there is room for. Who gives them calls
    again and again: full to the brim, the context would have to be rebuilt at the next call.
    """
    target = budget if prices is None or tokens <= budget else int(budget * low_water * FILLED)
    return target, _explain(tokens, min(target, tokens), prices, False, f"over its budget of {budget:,}")


def whole(tokens: int, budget: int) -> Explained:
    """Why a path that fits is shown whole."""
    return _explain(tokens, tokens, None, False, f"within its budget of {budget:,}")


def idle_seconds(since: Sequence[Message]) -> float | None:
    """How long before the newest of these messages the model was last called; None where the log does not say.

    The model was called when an assistant's message came; what followed is a tool's work, or a user who thinks.
    """
    now = since[-1].draft.at if since else None
    called = next((message.draft.at for message in reversed(since) if message.role == "assistant"), None)
    if now is None or called is None:
        return None
    return max((now - called).total_seconds(), 0.0)


def _explain(before: int, after: int, prices: Prices | None, expired: bool, why: str) -> Explained:
    """Put it into figures: a rebuild changes a context from near its beginning, so that all of it is written again."""
    rebuilt = after < before
    calls = None
    if rebuilt and prices is not None:
        calls = rebuild_cost(
            suffix_tokens=after,
            saved_tokens=before - after,
            summary_tokens=0,
            summariser_tokens=0,
            prices=prices,
            expired=expired,
        ).calls
    return Explained(
        tokens_before=before,
        tokens_after=after,
        suffix_tokens=after if rebuilt else 0,
        saved_tokens=before - after,
        calls=calls,
        expired=expired,
        decision=_sentence(before, after, calls, why),
    )


def _sentence(before: int, after: int, calls: int | None, why: str) -> str:
    if after >= before:
        return f"Kept at {before:,} tokens: {why}."
    sentence = f"Rebuilt from {before:,} tokens to {after:,}: {why}"
    if calls is None:
        return f"{sentence}."
    return f"{sentence}; it pays at once." if not calls else f"{sentence}; it pays after {calls:,} calls."


SHARES = ((BY_HAND, 0.5), (STANDING, 0.4), (STRONG, 0.35), (MEDIUM, 0.25), (MILD, 0.12))
"""Of a context's room, what constraints at least so binding may take together with those that bind more."""
WITH_SOURCES = 2_000
"""From this room on each pin names the message that it comes from."""
WITH_COUNT = 400
"""From this room on it is said how many have no place, where not one has."""
NOTES_SHARE = 0.5
"""Of a context's room, what pins and releases by hand may take where they were made."""
HEADING = f"{PINS_TAG} Constraints that stand, word for word:"


def pin_block(
    items: Iterable[Summary | Message], said: Sequence[str], options: ContextOptions, room: int
) -> ContextItem | None:
    """Show the pins of `items`, and those by hand, that stand in none of the texts that are shown (`said`).

    Where `room` tokens have no place for all of them, the most binding are shown, and how many are left out.
    """
    pins, lifts = constraints(items, in_story=options.policy.story is not None)
    last = max((_end(item) for item in items), default=0)
    by_hand, released = options.pins
    # What is noted at the end of the path, or later, is shown there: so a block once shown stays as it is.
    pins += [pin for pin in by_hand if pin.position < last]
    lifts += [lift for lift in released if lift.position < last]
    shown = " ".join("\n".join(said).split())
    missing = [pin for pin in standing(pins, lifts) if " ".join(pin.text.split()) not in shown]
    chosen = _fitting(missing, options, room)
    if not chosen:
        return _unshown(missing, options.count) if missing and room >= WITH_COUNT else None
    return _show(chosen, len(missing) - len(chosen), options.count, sources=room >= WITH_SOURCES)


def note(annotation: Annotation, count: Count) -> ContextItem | None:
    """Show a pin or a release by hand where it was made; the others stand in the messages themselves."""
    if annotation.kind not in ("pin", "release") or annotation.by != "hand":
        return None
    heading = HEADING if annotation.kind == "pin" else f"{PINS_TAG} Lifted, and holds no longer:"
    return written(f"{heading}\n- {annotation.text}", annotation.id, count, annotation.at, annotation.at)


def fitting_notes(
    annotations: Sequence[Annotation], count: Count, room: int
) -> tuple[dict[AnnotationId, ContextItem], ContextItem | None]:
    """The pins and releases by hand as they are shown, by id; what has no room in `room` tokens is counted in one line.

    The newest pins go first, and releases last.
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
    return fitting, written(text, "pins", count, left[-1].at, left[0].at)


def _fitting(pins: Sequence[Line], options: ContextOptions, room: int) -> list[Line]:
    """The most binding pins that there is room for, in the order in which they were set."""
    used = options.count(HEADING) + MESSAGE_TOKENS
    chosen: list[Line] = []
    costs = {id(pin): options.statements.recount(_line(pin, sources=room >= WITH_SOURCES)) + 1 for pin in pins}
    for pin in sorted(pins, key=lambda line: (-line.weight, costs[id(line)])):
        share = max((share for weight, share in SHARES if pin.weight >= weight), default=SHARES[-1][1])
        if used + costs[id(pin)] <= room * share:
            used += costs[id(pin)]
            chosen.append(pin)
    return sorted(chosen, key=lambda line: line.position)


def _show(pins: Sequence[Line], left_out: int, count: Count, *, sources: bool) -> ContextItem:
    lines = [HEADING, *(_line(pin, sources=sources) for pin in pins)]
    if left_out:
        lines.append(f"({left_out} more have no room here.)")
    first, last = pins[0].sources[:1], pins[-1].sources[-1:]
    return written("\n".join(lines), "pins", count, *(first or ("",)), *(last or ("",)))


def _unshown(pins: Sequence[Line], count: Count) -> ContextItem:
    """Say that there are some, where not one has room."""
    text = f"{PINS_TAG} {len(pins)} standing constraints have no room here."
    return written(text, "pins", count, *(pins[0].sources[:1] or ("",)), *(pins[-1].sources[-1:] or ("",)))


def _line(pin: Line, *, sources: bool) -> str:
    words = " ".join(pin.text.split())
    return f"- {words} · {short(pin.sources[0])}" if sources and pin.sources else f"- {words}"


def written(text: str, id: str, count: Count, first: str, last: str) -> ContextItem:
    """Show pins as a note in the user's place."""
    draft = Draft(role="user", parts=(Text(text=text),), origin="injected")
    return ContextItem(
        what="pins", id=id, first=first, last=last, covers=0, tokens=count(text) + MESSAGE_TOKENS, draft=draft
    )


def _end(item: Summary | Message) -> int:
    return item.last_position if isinstance(item, Summary) else item.position


BLOCK_TOKENS = 360
"""A block with less than this on the average says little beside its frame: then a coarser one serves better."""
CRAMPED_TOKENS = 1_500
CRAMPED_NOTED = 10_000
"""The same where all of the past was noted."""
CRAMPED_RATIO = 12
"""In less room, and where the past is so many times as large, several frames, and a file that is named in each of
them, would take the place of what they tell: notes above all, of which there are as many as so much room can show."""
NOTED_LIVE = 0.06
NOTED_OPENER = 0.04
"""Of a room that notes alone would fill, what the newest atom may take where it is larger, and the request that is
being worked on."""
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
    if target >= (CRAMPED_NOTED if is_noted(row) else CRAMPED_TOKENS):
        return False
    size = sum(item.source_tokens if isinstance(item, Summary) else item.tokens for item in row)
    return size > CRAMPED_RATIO * target


def is_noted(row: Sequence[RowItem]) -> bool:
    """Whether a model wrote all of the blocks of `row`."""
    blocks = [item for item in row if isinstance(item, Summary)]
    return bool(blocks) and all(map(is_written, blocks))


def coarse_row(row: Sequence[RowItem], policy: Policy) -> list[RowItem]:
    """All of `row` under one block; where that was noted, what was asked for last stands in the user's words."""
    if not row:
        return []
    place = next((place for place in range(len(row) - 1, -1, -1) if _opens(row[place])), None)
    if place is None or not is_noted(row):
        return [cover_row(row, policy)]
    parts = [row[:place], row[place + 1 :]]
    before, after = ([cover_row(part, policy)] if part else [] for part in parts)
    return [*before, row[place], *after]


def _opens(item: RowItem) -> bool:
    return isinstance(item, Message) and item.opens_turn


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
    system: Sequence[Message], past: Sequence[RowItem], newest: Sequence[Message], target: int, options: ContextOptions
) -> Composed:
    """Show the past as one block after the system's words, for a budget that has no room for more, and the newest."""
    limit = oversized_limit(target) if past else target - 40
    if is_noted(past):
        limit = int(target * NOTED_LIVE)
    after = newest_slots(newest, limit, options, limit)
    before = slots_within(system, int(target * WORDS_SHARE), options.count, floor=WORDS_FLOOR)
    opener = max(int(target * NOTED_OPENER), WORDS_FLOOR)
    told = [
        _block(item, options) if isinstance(item, Summary) else slot_within(item, opener, options.count)
        for item in past
    ]
    return _settled([*before, *told, *after], [*system, *past, *newest], target, options)


def all_in_one(whole: Summary, target: int, options: ContextOptions) -> Composed:
    """Show everything, the newest messages too, as one block: what is left where not even they fit."""
    return _settled([_block(whole, options)], [whole], target, options)


def _settled(slots: Sequence[ViewSlot], items: Sequence[RowItem], target: int, options: ContextOptions) -> Composed:
    """Fill the slots, the pins that no message shows behind the system's words before the rest."""
    said = [text for slot in slots if isinstance(slot.item, Message) for text in texts(slot.draft().parts)]
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
    a narrow one would show nothing else, and is better spent on the past: 9 % at 1,000 tokens, 40 % from 32,000.
    """
    return int(target * min(0.08 + target / 100_000, 0.4))


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
