"""The contents of a context: messages and blocks, the lines that fill them, pins shown by nothing else, scratchpad."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from posixpath import commonpath, dirname
from typing import Literal, get_args

from msgspec import Struct
from msgspec.structs import replace

from ireneo.context.allot import (
    Allotter,
    LineOffer,
    PricedLine,
    Statements,
    terms,
    without_pinned,
)
from ireneo.context.shorten import FittedMessage, divide_room, fit, without_thinking
from ireneo.errors import BadInput
from ireneo.log.message import (
    MESSAGE_TOKENS,
    PINS_TAG,
    Count,
    Draft,
    Message,
    MessageId,
    Text,
    Thinking,
    arguments_text,
    count_parts,
    is_own_block,
    opens_turn,
    short,
    texts,
    with_names_in_text,
)
from ireneo.log.tree import Annotation, AnnotationId
from ireneo.patterns import lazy_re
from ireneo.summaries.by_hand import canon_facts, current_wordings
from ireneo.summaries.notes import STANDS_BESIDE
from ireneo.summaries.outcomes import CHECK, STATUS_SUBJECT, approach_of_step
from ireneo.summaries.own_words import find_choices
from ireneo.summaries.pins import (
    BY_HAND,
    LIFTED,
    MEDIUM,
    MILD,
    STANDING,
    STRONG,
    constraints,
    split_pins_and_releases,
    valid_pins,
    with_later_orders,
)
from ireneo.summaries.policy import Policy
from ireneo.summaries.state import shown_state, state_lines
from ireneo.summaries.steps import clip, short_path, steps
from ireneo.summaries.summary import (
    ABOUT,
    REPLACED_CODE,
    Choice,
    Line,
    SectionName,
    Strategy,
    Summary,
    SummaryLevel,
    header,
    render,
)
from ireneo.summaries.tell_code import RemovedCode, change_lines, findings
from ireneo.summaries.tell_work import BRIEF_ANSWER, replaced_lines
from ireneo.summaries.work import strategy_of

NOTES_TOKENS = 14
"""The cost of the line that a format adds if a block must be in the user's role."""

FOREIGN_SUMMARY_TOKENS = 40

BLOCK_SHARE = 0.35
"""A block costs at most this share of the messages that it covers, however wide the budget."""
MIN_BLOCK_TOKENS = 60
"""The allowance of every block."""
HEADINGS_TOKENS = 24
"""The allowance for headings over a block's notes."""
MAX_DOUBT = 240
"""The maximum number of characters of a dispute in a block's header."""
WIDE = 4_500
"""In a room of at least this many tokens, the state shows whole paths."""
FILLS = 3
"""How often room that turns out to be left is filled again."""

ViewKind = Literal["message", "masked", "summary", "waiting", "left out", "pins", "pad"]


class ContextItem(Struct, frozen=True, kw_only=True):
    """One item of a context.

    A message, whole, shortened or masked; a summary; messages that wait for one; messages left out; pins; the
    scratchpad.
    """

    what: ViewKind
    id: str
    level: SummaryLevel | None = None
    depth: int = 0
    first: str
    last: str
    covers: int
    """How many messages the item covers."""
    tokens: int
    draft: Draft
    whole: bool = False
    """Whether a message is shown as it was passed, except for thinking, so that its provider's payload may be sent."""
    disputed: str = ""
    """Why a block is disputed, as its header says."""

    @property
    def text(self) -> str:
        """The words, calls and results of the item."""
        words = list(texts(self.draft.parts))
        words += [f"{call.name} {arguments_text(call)}" for call in self.draft.calls]
        return "\n".join(words)


ThinkingMode = Literal["prefix", "turn", "none"]
"""The signed thinking that is shown: ``prefix``: all, as long as nothing before it changed; ``turn``: that of the
running turn; ``none``."""


class ContextOptions(Struct, frozen=True, kw_only=True, dict=True):
    """The options of a context."""

    budget: int
    policy: Policy
    count: Count
    thinking: ThinkingMode = "none"
    asked: ThinkingMode | None = None
    """The mode that the caller asked for; None for the format's own."""
    notes: tuple[Annotation, ...] = ()
    """The annotations along the path."""
    joined: tuple[tuple[str, str], ...] = ()
    """Pairs of names that were joined by hand."""
    rebuild: bool = False
    """Rebuild the context, even if its beginning could be kept."""
    idle_seconds: float | None = None
    """Seconds since the last context was asked for; None if unknown."""

    kept: Statements | None = None
    """Cached statements from earlier contexts, counted by `count`."""
    notes_share: float | None = None
    """The room in this context for a model's notes, as a share of the past that they cover; None if unknown."""

    def __post_init__(self) -> None:
        """Raise BadInput for a mode of thinking that there isn't."""
        if self.asked not in (None, *get_args(ThinkingMode)):
            raise BadInput(f"`thinking` is {self.asked!r}; give 'prefix' or 'turn' or 'none'.")

    @cached_property
    def statements(self) -> Statements:
        """The priced statements of summaries."""
        return self.kept or Statements(self.count, strategy_of(self.policy))

    def thinking_mode(self, rule: ThinkingMode) -> ThinkingMode:
        """The thinking mode for a format with this rule."""
        return rule if rule == "none" or self.asked is None else self.asked

    @cached_property
    def pins(self) -> tuple[list[Line], list[Line]]:
        """The pins and releases among the notes."""
        return split_pins_and_releases(self.notes)

    @cached_property
    def disputes(self) -> dict[str, list[Annotation]]:
        """The disputes of this memory's summaries, by the stretch that they concern."""
        out: dict[str, list[Annotation]] = {}
        for note in self.notes:
            if note.kind == "dispute" and note.seen_by == self.policy.seen_by:
                out.setdefault(note.about, []).append(note)
        return out

    @cached_property
    def canon(self) -> list[Annotation]:
        """The canon of a story."""
        return canon_facts(self.notes, self.policy.seen_by)

    @cached_property
    def by_hand(self) -> list[Annotation]:
        """The valid wordings by hand of a story's summaries."""
        return current_wordings(self.notes, self.policy.seen_by)

    def disputes_of(self, summary: Summary) -> list[AnnotationId]:
        """The ids of the disputes of a summary's stretch."""
        return [note.id for note in self.disputes.get(summary.stretch, ())]

    def unanswered_disputes(self, summary: Summary) -> list[Annotation]:
        """The disputes that a summary does not answer."""
        answered = summary.writing.disputes if summary.writing else ()
        return [note for note in self.disputes.get(summary.stretch, ()) if note.id not in answered]


class ViewSlot:
    """An item of a context whose statements are not chosen yet."""

    def __init__(
        self,
        item: Message | Summary,
        fitted: FittedMessage | Draft | None,
        *,
        masked: bool = False,
        doubts: Sequence[Annotation] = (),
    ) -> None:
        self.item = item
        self.fitted = fitted
        self.masked = masked
        self.doubts = doubts
        """The disputes that a block does not answer."""
        self.frame = MESSAGE_TOKENS + NOTES_TOKENS
        """The cost of a block's message besides its text."""
        self.standing: Sequence[tuple[SectionName, Line]] = ()
        """For the last block: the state of the work, and what the user was asked."""
        self.is_last = False
        """Whether this is the last block."""
        self.is_newest = False
        """Whether this is the last block, and no check was run after it."""
        self.checked: Mapping[str, int] = {}
        """The checks in the shown state, with their positions."""
        self.whole: Collection[int] = ()
        """The positions of the messages that are shown whole."""

    def offer(self, statements: Statements, done: Mapping[str, int]) -> LineOffer:
        """The lines to choose from, without failures of approaches that were `done` later."""
        if isinstance(self.item, Summary):
            lines = tuple(statements.of(self.item, done))
            if any(each.claim for each in self.doubts):
                lines = tuple(
                    statements.price(each.section, self._mark_disputed(each.line), noted=self.item.is_written)
                    for each in lines
                )
            standing = [statements.price(name, self._mark_disputed(line)) for name, line in self.standing]
            return LineOffer(
                statements=(*(each for each in lines if self._is_needed(each)), *standing),
                limit=block_limit(self.item, lines) + sum(each.cost for each in standing),
            )
        return LineOffer(statements=())

    def fixed_cost(self, count: Count) -> int:
        """The cost of the message without lines."""
        if isinstance(self.item, Summary):
            return count(header(self.item, self._dispute_text)) + 1 + self.frame
        return sum(count_parts(self.draft().parts, count))

    def _is_needed(self, statement: PricedLine) -> bool:
        """Whether neither a shown message nor the shown state has newer information on the same subject."""
        line = statement.line
        if statement.on_words:
            return len(line.sources) > 1 or line.position not in self.whole
        if statement.section == "status":
            # A model's statement on the state says more than how a check ended.
            if statement.is_note:
                return self.is_last
            return self.is_newest and not any(clip(check, STATUS_SUBJECT) in line.text for check in self.checked)
        at = self.checked.get(line.subject, -1) if statement.section == "operations" else -1
        return line.position > at or (line.failed and line.position < at)

    @property
    def _dispute_text(self) -> str:
        return clip("; ".join(each.text for each in self.doubts), MAX_DOUBT)

    def _mark_disputed(self, line: Line) -> Line:
        """Mark the line as disputed if it contains a disputed claim."""
        disputed = any(each.claim and each.claim in line.text for each in self.doubts)
        return replace(line, text=f"{line.text} (disputed)") if disputed else line

    @property
    def is_whole(self) -> bool:
        """Whether a message is shown whole, also if there was no need to shorten it."""
        return not isinstance(self.fitted, FittedMessage) or self.fitted.whole

    def draft(self) -> Draft:
        """The message as it is shown; not for blocks."""
        if isinstance(self.fitted, FittedMessage):
            return self.fitted.draft
        if self.fitted is None or isinstance(self.item, Summary):
            raise TypeError("a summary is written from its choice")
        return self.fitted

    def shown(self, choice: Choice, count: Count, strategy: Strategy, files: set[str]) -> ContextItem:
        """Render it; `files` are the paths already written in full, to which its own are added."""
        if isinstance(self.item, Summary):
            text = _without_repetition(render(self.item, choice, strategy, self._dispute_text), files)
            shown = show_block(self.item, text, self.frame, count)
            return replace(shown, disputed=self._dispute_text)
        draft = self.draft()
        changed = self.masked and isinstance(self.fitted, FittedMessage) and not self.fitted.whole
        return _message(self.item, draft, sum(count_parts(draft.parts, count)), masked=changed, whole=self.is_whole)


_FILE = lazy_re(r"- (?P<verb>read )?(?P<path>/[^\n]{1,400}):$")
_PLACED = lazy_re(r"  - (?P<place>\w+): ")


def _without_repetition(text: str, files: set[str]) -> str:
    """Shorten what a block's lines repeat: paths, of which `files` were written so far, and places in a file."""
    lines = text.split("\n")
    place = ""
    for number, line in enumerate(lines):
        found = _FILE.match(line) or _PLACED.match(line)
        if found is not None and "path" in found.re.groupindex:
            path = found["path"]
            shown = short_path(path) if path in files else _path_from_difference(path, files)
            lines[number] = f"- {found['verb'] or ''}{shown}:"
            files.add(path)
        elif found is not None and found["place"] == place:
            lines[number] = f"    - {line[found.end() :]}"
        place = found["place"] if found is not None and "place" in found.re.groupindex else ""
    return "\n".join(lines)


def _path_from_difference(path: str, files: Collection[str]) -> str:
    """A path from where it differs from those of its project in `files`, but at least its file with the folder."""
    shared = max((len(commonpath((path, other))) for other in files), default=0)
    begin = min(shared, len(dirname(dirname(path))))
    return f"…{path[begin:]}" if path[:begin].count("/") >= FEWEST_SHARED else path


FEWEST_SHARED = 3
"""Two paths belong to one project if they share at least this many folders."""


def block_limit(summary: Summary, lines: Iterable[PricedLine]) -> int:
    """The maximum number of tokens for the lines of a block; the model's notes among its `lines` are not limited."""
    notes = sum(each.cost for each in lines if each.is_note)
    return max(int(summary.source_tokens * BLOCK_SHARE), MIN_BLOCK_TOKENS, notes + HEADINGS_TOKENS)


def verbatim(message: Message, *, thinking: bool) -> ContextItem:
    """Show a message as it is; without thinking if something before it changed."""
    kept = thinking or not message.thinking_tokens
    draft = message.draft if kept else without_thinking(message.draft)
    tokens = message.tokens + (message.thinking_tokens if thinking else 0)
    return _message(message, draft, tokens, masked=False, whole=True)


def slot_verbatim(message: Message, count: Count, *, thinking: bool = False) -> ViewSlot:
    """Show a message as it is, without thinking by default; another tool's summary is only mentioned.

    The messages that such a summary covers are on the path too, and would be shown twice.
    """
    if message.draft.origin == "summary" and message.position and not is_own_block(message.draft):
        return ViewSlot(message, fit(message, FOREIGN_SUMMARY_TOKENS, count))
    bare = message.thinking_tokens and not thinking
    return ViewSlot(message, without_thinking(message.draft) if bare else message.draft)


def slot_within(message: Message, tokens: int, count: Count) -> ViewSlot:
    """Show a message in about `tokens`."""
    if message.tokens <= tokens:
        return slot_verbatim(message, count)
    return ViewSlot(message, fit(message, tokens, count))


def slots_within(messages: Sequence[Message], room: int, count: Count, *, floor: int) -> list[ViewSlot]:
    """Show messages in `room` tokens together: short ones whole, long ones equally, none below `floor`."""
    sizes = [message.tokens for message in messages]
    if sum(sizes) <= room:
        return [slot_verbatim(message, count) for message in messages]
    rooms = divide_room(sizes, room, floor=floor)
    return [slot_within(message, each, count) for message, each in zip(messages, rooms, strict=True)]


def fixed_cost(slots: Sequence[ViewSlot], count: Count) -> int:
    """The cost of a context's slots before lines are chosen: messages, and headers and frames of blocks."""
    for slot, following in zip(slots, [*slots[1:], None], strict=True):
        slot.frame = _frame_cost(following)
    return sum(slot.fixed_cost(count) for slot in slots)


def fill_slots(
    slots: Sequence[ViewSlot], room: int, statements: Statements, pinned_there: str = ""
) -> list[ContextItem]:
    """Fill what the fixed parts of `slots` leave of `room` with the most valuable lines.

    The user's words in the text `pinned_there` are not repeated.
    """
    count = statements.count
    fixed = fixed_cost(slots, count)
    said = [slot.draft() for slot in slots if isinstance(slot.item, Message)]
    read = (text for each in said for text in (*texts(each.parts), *map(arguments_text, each.calls)))
    standing = [term for text in read for term in terms(text)]

    blocks = [slot.item for slot in slots if isinstance(slot.item, Summary)]
    shown_messages = [slot.item for slot in slots if isinstance(slot.item, Message)]
    shown_steps = steps(shown_messages)
    if blocks:
        statements.keep(blocks)
        last = next(slot for slot in reversed(slots) if isinstance(slot.item, Summary))
        live = state_lines(shown_steps)
        state = shown_state([line for block in blocks for line in block.lines("state")], live, narrow=room < WIDE)
        last.standing = [("state", line) for line in state]
        for at, section, question in _questions_to_show(slots):
            at.standing = [*at.standing, (section, question)]
        if blocks[-1].is_written and blocks[-1].lines("status"):
            last.standing = [(name, replace(line, weight=line.weight * STANDS_BESIDE)) for name, line in last.standing]
        last.is_last = True
        last.is_newest = not any(line.subject.startswith(CHECK) for line in live)
        checked = {line.subject.removeprefix(CHECK): line.position for line in state if line.subject.startswith(CHECK)}
        for slot in slots:
            slot.checked = checked
    done = statements.last_success_positions(blocks)
    done |= {approach_of_step(step): step.position for step in shown_steps if step.result and not step.failed}
    whole = {slot.item.position for slot in slots if isinstance(slot.item, Message) and slot.is_whole}
    for slot in slots:
        slot.whole = whole
    offers = [slot.offer(statements, done) for slot in slots]
    offered = [each for offer in offers for each in offer.statements]
    told = {name: [each.line for each in offered if each.section == name] for name in ABOUT}
    replaced = [line for block in blocks for line in block.lines(REPLACED_CODE)]
    gone = RemovedCode(
        [*replaced, *replaced_lines(shown_messages, shown_steps)],
        [*told["artifacts"], *change_lines(shown_steps)],
        [*told["discoveries"], *findings(shown_steps)],
    )
    offers = [without_pinned(_with_replaced_marked(offer, gone, statements), pinned_there) for offer in offers]
    aim = room
    for _ in range(FILLS):
        allotter = Allotter(offers, max(aim - fixed, 0), statements, standing=standing)
        shown = _fill(slots, allotter, aim, fixed, statements)
        over = sum(each.tokens for each in shown) - room
        if over <= 0 or aim <= fixed:
            break
        # Texts may cost more together than separately: again with less room.
        aim -= over + 8
    return shown


def _with_replaced_marked(offer: LineOffer, gone: RemovedCode, statements: Statements) -> LineOffer:
    """Mark the code in an offer that later changes removed."""
    told = (
        gone.mark_removed(each.line) if each.section in ABOUT and not each.is_note else each.line
        for each in offer.statements
    )
    lines = tuple(
        each if line is each.line else statements.price(each.section, line, noted=each.is_beside)
        for each, line in zip(offer.statements, told, strict=True)
    )
    return replace(offer, statements=lines)


def _fill(
    slots: Sequence[ViewSlot], allotter: Allotter, room: int, fixed: int, statements: Statements
) -> list[ContextItem]:
    """Spend `room`, and then what turns out to be left of it."""
    left = room - fixed
    for _ in range(FILLS):
        allotter.fill(max(left, 0))
        files: set[str] = set()
        shown = [
            slot.shown(choice, statements.count, statements.strategy, files)
            for slot, choice in zip(slots, allotter.choices(), strict=True)
        ]
        left = room - sum(each.tokens for each in shown)
        if left < max(room // 50, 16):
            break
        left -= left // 10
    return shown


def _frame_cost(following: ViewSlot | None) -> int:
    """The cost of a block besides its text: adjacent blocks share a message; before a user message there is no note."""
    if following is None:
        return MESSAGE_TOKENS + NOTES_TOKENS
    if isinstance(following.item, Summary):
        return 1
    return MESSAGE_TOKENS if following.item.role == "user" else MESSAGE_TOKENS + NOTES_TOKENS


def show_block(summary: Summary, text: str, frame: int, count: Count) -> ContextItem:
    """Show a summary as `text`, in a message that costs `frame` additional tokens."""
    return ContextItem(
        what="summary",
        id=summary.id,
        level=summary.level,
        depth=summary.depth,
        first=summary.first,
        last=summary.last,
        covers=summary.messages,
        tokens=count(text) + frame,
        draft=_block(text),
    )


def _message(message: Message, draft: Draft, tokens: int, *, masked: bool, whole: bool = False) -> ContextItem:
    return ContextItem(
        what="masked" if masked else "message",
        id=message.id,
        first=message.id,
        last=message.id,
        covers=1,
        tokens=tokens,
        draft=draft,
        whole=whole,
    )


def drafts(shown: Sequence[ContextItem]) -> list[Draft]:
    """The drafts of a context as a provider reads them: adjacent blocks in one message, authors' names in the text."""
    out: list[Draft] = []
    for each in shown:
        if each.what == "summary" and out and out[-1].origin == "summary":
            out[-1] = _block(f"{out[-1].text}\n\n{each.draft.text}")
        else:
            out.append(with_names_in_text(each.draft))
    return out


def omission(what: ViewKind, text: str, first: str, last: str, covers: int, count: Count) -> ContextItem:
    """One line that stands for messages that are not shown."""
    return ContextItem(
        what=what,
        id=first,
        first=first,
        last=last,
        covers=covers,
        tokens=count(text) + MESSAGE_TOKENS + NOTES_TOKENS,
        draft=_block(text),
    )


def _block(text: str) -> Draft:
    return Draft(role="assistant", parts=(Text(text=text),), origin="summary")


def _questions_to_show(slots: Sequence[ViewSlot]) -> Iterator[tuple[ViewSlot, SectionName, Line]]:
    """What the agent asked, each with its place: before a short answer that is shown, and at the end while it is open.

    An answer that chooses from a list is preceded by what it chose.
    """
    choices = {line.position: line for line in find_choices([slot.item for slot in slots])}
    block: ViewSlot | None = None
    for slot in slots:
        if isinstance(slot.item, Summary):
            if block is not None and slot.item.first_position in choices:
                yield block, "strategy", choices[slot.item.first_position]
            block = slot
        elif slot.item.opens_turn:
            if block is not None and slot.item.position in choices:
                yield block, "strategy", choices[slot.item.position]
            elif block is not None and len(slot.item.text) <= BRIEF_ANSWER and (asked := _last_question(block)):
                yield block, "discoveries", asked
            block = None
    if block is not None and (asked := _last_question(block)):
        yield block, "open", asked


def _last_question(slot: ViewSlot) -> Line | None:
    """The question with which a block ends, unless the user said something after it."""
    if not isinstance(slot.item, Summary):
        return None
    asked = next(iter(slot.item.lines("open")[-1:]), None)
    told = any(asked and line.position > asked.position for line in slot.item.lines("direction"))
    return None if told else asked


# The active constraints that no shown message contains.

SHARES = ((BY_HAND, 0.5), (STANDING, 0.4), (STRONG, 0.35), (MEDIUM, 0.25), (MILD, 0.12))
"""The share of the room that pins of at least this strength may take, together with all stronger ones."""
WITH_SOURCES = 2_000
"""From this room on, each pin names the message that it comes from."""
WITH_COUNT = 400
"""From this room on, the number of pins is given if none of them fits."""
NOTES_SHARE = 0.5
"""The share of a context for pins and releases by hand, at the place where they were made."""
HEADING = f"{PINS_TAG} Constraints that stand, word for word:"
SETTLED = f"{PINS_TAG} No longer open:"


QUOTED_SHARE = 0.5
"""A note covers a pin of the same message if it quotes this share of the pin's words: a paraphrase never does."""
_QUOTED = lazy_re(r"“(?P<curly>[^“”]{4,1000})”|\"(?P<straight>[^\"\n]{4,1000})\"")


def pin_block(
    items: Sequence[Summary | Message],
    said: Sequence[str],
    options: ContextOptions,
    room: int,
    notes: Sequence[Line] = (),
    spare: int = 0,
) -> ContextItem | None:
    """Show the active pins of `items` and those by hand, without those that the shown texts `said` contain.

    Pins that one of a model's `notes` quotes are left out too, except those by hand. If `room` is too small for all,
    the strongest are shown, and the number of the others; `spare` tokens may be used whatever their strength.
    """
    pins, lifts = constraints(items, in_story=options.policy.story is not None)
    pins = [pin for pin in pins if not any(_covers_pin(note, pin) for note in notes)]
    ends = (item.last_position if isinstance(item, Summary) else item.position for item in items)
    end = max(ends, default=0)
    by_hand, released = options.pins
    # Pins at the end of the path are shown there, so that a block doesn't change once it was shown.
    pins += [pin for pin in by_hand if pin.position < end]
    lifts += [lift for lift in released if lift.position <= end]
    shown = " ".join("\n".join(said).split())
    unseen = (pin for pin in valid_pins(pins, lifts) if " ".join(pin.text.split()) not in shown)
    missing = list(with_later_orders(unseen, lifts))
    of_system = {item.id for item in items if isinstance(item, Message) and item.role == "system"}
    chosen = _strongest_pins(missing, options, room, of_system, spare)
    if chosen:
        lines = [HEADING, *(_pin_line(pin, sources=room >= WITH_SOURCES) for pin in chosen)]
        if len(missing) > len(chosen):
            lines.append(f"({len(missing) - len(chosen)} more have no room here.)")
    elif missing and room >= WITH_COUNT:
        lines, chosen = [f"{PINS_TAG} {len(missing)} standing constraints have no room here."], missing
    else:
        return None
    first, last = chosen[0].sources[:1], chosen[-1].sources[-1:]
    return own_item("pins", "pins", "\n".join(lines), options.count, *(first or ("",)), *(last or ("",)))


def _covers_pin(note: Line, pin: Line) -> bool:
    words = terms(pin.text)
    quoted = terms(" ".join(found["curly"] or found["straight"] for found in _QUOTED.finditer(note.text)))
    return not set(pin.sources).isdisjoint(note.sources) and len(words & quoted) >= QUOTED_SHARE * len(words)


def note_item(annotation: Annotation, count: Count) -> ContextItem | None:
    """Show a pin or release by hand; other annotations have no text of their own in a context."""
    if annotation.kind not in ("pin", "release") or annotation.by != "hand":
        return None
    heading = HEADING if annotation.kind == "pin" else SETTLED if annotation.about.startswith("t_") else LIFTED
    # A thread's release has the thread's own words as its claim.
    was = f" (It was: {annotation.claim})" if annotation.claim not in ("", annotation.text) else ""
    return own_item("pins", annotation.id, f"{heading}\n- {annotation.text}{was}", count, annotation.at, annotation.at)


def fitting_notes(
    annotations: Sequence[Annotation], count: Count, room: int
) -> tuple[dict[AnnotationId, ContextItem], ContextItem | None]:
    """The pins and releases by hand that fit into `room` tokens, by id, and a line with the number of the other pins.

    The newest pins come first, releases last.
    """
    told = {each.id: shown for each in annotations if (shown := note_item(each, count))}
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
    return fitting, own_item("pins", "pins", text, count, left[-1].at, left[0].at)


def _strongest_pins(
    pins: Sequence[Line], options: ContextOptions, room: int, of_system: Collection[MessageId], spare: int
) -> list[Line]:
    """The strongest pins that fit, in path order; those of system messages, which are shown at least in part, last."""
    used = options.count(HEADING) + MESSAGE_TOKENS
    chosen: list[Line] = []
    costs = {id(pin): options.statements.recount(_pin_line(pin, sources=room >= WITH_SOURCES)) + 1 for pin in pins}
    by_system = {id(pin) for pin in pins if any(source in of_system for source in pin.sources)}
    for pin in sorted(pins, key=lambda line: (id(line) in by_system, -line.weight, costs[id(line)])):
        weight = MILD if id(pin) in by_system else pin.weight
        share = max((share for least, share in SHARES if weight >= least), default=SHARES[-1][1])
        if used + costs[id(pin)] <= room * share + spare:
            used += costs[id(pin)]
            chosen.append(pin)
    return sorted(chosen, key=lambda line: line.position)


def _pin_line(pin: Line, *, sources: bool) -> str:
    words = " ".join(pin.text.split())
    return f"- {words} · {short(pin.sources[0])}" if sources and pin.sources else f"- {words}"


# The scratchpad is the only part of a context that changes. It is placed right before the newest user message, so that
# the provider's cache of everything before it remains valid and a running tool loop isn't interrupted.


def own_item(what: ViewKind, id: str, text: str, count: Count, first: str = "", last: str = "") -> ContextItem:
    """Show our own text as a user message; it represents no message of the path."""
    draft = Draft(role="user", parts=(Text(text=text),), origin="injected")
    tokens = count(text) + MESSAGE_TOKENS
    return ContextItem(what=what, id=id, first=first, last=last, covers=0, tokens=tokens, draft=draft)


def pad_place(shown: Sequence[ContextItem]) -> int:
    """The index for the scratchpad: before the newest user message, otherwise after all that is not a plain message."""
    for place in reversed(range(len(shown))):
        if _opens_turn(shown[place]):
            return place
    fixed = (place for place, each in enumerate(shown) if each.what != "message" or each.draft.role == "system")
    return max(fixed, default=-1) + 1


def with_pad(shown: Sequence[ContextItem], pad: ContextItem | None) -> list[ContextItem]:
    """Insert the scratchpad, if there is one."""
    if pad is None:
        return list(shown)
    place = pad_place(shown)
    return [*shown[:place], pad, *shown[place:]]


def positions(shown: Sequence[ContextItem]) -> list[int]:
    """For each item, the path position of the first message that it covers, or of the next message shown."""
    out: list[int] = []
    position = 0
    for each in shown:
        out.append(position)
        position += each.covers
    return out


def drop_thinking_from(shown: Sequence[ContextItem], position: int, count: Count) -> list[ContextItem]:
    """Drop the thinking before the first turn that begins at path position `position` or later.

    A provider that signs thinking together with its prefix rejects it once a scratchpad there has changed.
    """
    if not position:
        return list(shown)
    places = enumerate(zip(shown, positions(shown), strict=True))
    whole = next((place for place, (each, at) in places if at >= position and _opens_turn(each)), len(shown))
    return [*(_without_thinking(each, count) for each in shown[:whole]), *shown[whole:]]


def _opens_turn(shown: ContextItem) -> bool:
    return shown.what in ("message", "masked") and opens_turn(shown.draft) and not shown.draft.joined


def _without_thinking(shown: ContextItem, count: Count) -> ContextItem:
    if not any(isinstance(part, Thinking) for part in shown.draft.parts):
        return shown
    draft = without_thinking(shown.draft)
    return replace(shown, draft=draft, tokens=sum(count_parts(draft.parts, count)))
