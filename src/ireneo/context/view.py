"""Put a context together: what is shown in each place, what it costs, and where the scratchpad goes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from ireneo.context.allot import NAMES_FROM, Allotter, LineOffer, PricedLine, Statements, terms
from ireneo.context.parts import Fitted, fit, mask, share, without_thinking
from ireneo.log.message import (
    MESSAGE_TOKENS,
    Call,
    Count,
    Draft,
    Message,
    Text,
    Thinking,
    arguments_text,
    is_own_block,
    opens_turn,
    texts,
    told_plainly,
    weigh,
)
from ireneo.log.tree import Annotation
from ireneo.patterns import lazy_re
from ireneo.summaries.notes import STANDS_BESIDE, is_written
from ireneo.summaries.state import CHECK, STATUS_SUBJECT, shown_state, state_lines
from ireneo.summaries.steps import clip, short_path, steps
from ireneo.summaries.summary import Choice, Line, SectionName, Strategy, Summary, SummaryLevel, header, render

NOTES_TOKENS = 14
"""The line that says whose notes a block is, where a format has to put it into the user's mouth."""

FOREIGN_SUMMARY_TOKENS = 40

BLOCK_SHARE = 0.35
"""However wide the budget, a block costs no more than this share of what it stands for."""
MIN_BLOCK_TOKENS = 60
"""So much a block may cost even where it stands for next to nothing."""
MAX_DOUBT = 240
"""Characters of why a block is disputed that its header has room for."""
FILLS = 3
"""How often what turned out to be left is filled again."""

ViewKind = Literal["message", "masked", "summary", "waiting", "left out", "pins", "pad"]


class ContextItem(Struct, frozen=True, kw_only=True):
    """One place of a context.

    A message as it is or shortened, a masked one, a summary, what waits to be summarised, what a budget cut leaves
    out, the pins that stand, or the scratchpad.
    """

    what: ViewKind
    id: str
    level: SummaryLevel | None = None
    depth: int = 0
    first: str
    last: str
    covers: int
    """How many messages it stands for."""
    tokens: int
    draft: Draft
    whole: bool = False
    """It is shown as it was handed in, but for its thinking perhaps: its provider's payload may stand for it."""
    disputed: str = ""
    """Of a block: why it is disputed, as its header says."""

    @property
    def text(self) -> str:
        """What a reader sees there: the words, then the calls and the results."""
        words = list(texts(self.draft.parts))
        words += [f"{call.name} {arguments_text(call)}" for call in self.draft.calls]
        return "\n".join(words)


class ViewSlot:
    """A place of a context before it is settled which names and lines it shows."""

    def __init__(
        self,
        item: Message | Summary,
        fitted: Fitted | Draft | None,
        *,
        masked: bool = False,
        doubts: Sequence[Annotation] = (),
    ) -> None:
        self.item = item
        self.fitted = fitted
        self.masked = masked
        self.doubts = doubts
        """The disputes of a block that it was not written in view of."""
        self.frame = MESSAGE_TOKENS + NOTES_TOKENS
        """Of a block: what its message costs besides its text."""
        self.standing: Sequence[tuple[SectionName, Line]] = ()
        """Of the last block: where the work stands, and what waits for the user."""
        self.is_newest = False
        """It is the last block, and no check was run behind it."""
        self.checked: Mapping[str, int] = {}
        """The checks of which the last block says how they ended, and where they were run."""
        self.names: Sequence[Line] = ()
        """Of the last block: the names that all of them know."""

    def offer(self, statements: Statements, done: Mapping[str, int]) -> LineOffer:
        """The lines and names that it could show; a dead end of an approach that was `done` later is none."""
        if isinstance(self.item, Summary):
            lines = tuple(statements.of(self.item, done))
            if any(each.claim for each in self.doubts):
                lines = tuple(statements.price(each.section, self._marked(each.line)) for each in lines)
            standing = [statements.price(name, self._marked(line)) for name, line in self.standing]
            return LineOffer(
                statements=(*(each for each in lines if self._is_needed(each)), *standing),
                limit=block_limit(self.item) + sum(each.cost for each in standing),
                names=tuple(self.names),
            )
        return LineOffer(statements=())

    def fixed(self, count: Count) -> int:
        """What it costs before its lines and names."""
        if isinstance(self.item, Summary):
            return count(header(self.item, self._doubt)) + 1 + self.frame
        return sum(weigh(self.draft().parts, count))

    def _is_needed(self, statement: PricedLine) -> bool:
        """Whether the last block doesn't say the same, and newer."""
        line = statement.line
        if statement.section == "status":
            told = any(clip(check, STATUS_SUBJECT) in line.text for check in self.checked)
            return line.text.startswith("COMPLETE") or (self.is_newest and not told)
        at = self.checked.get(line.subject, -1) if statement.section == "operations" else -1
        return line.position > at or (line.failed and line.position < at)

    @property
    def _doubt(self) -> str:
        return clip("; ".join(each.text for each in self.doubts), MAX_DOUBT)

    def _marked(self, line: Line) -> Line:
        """The line, marked as disputed where it says what is."""
        disputed = any(each.claim and each.claim in line.text for each in self.doubts)
        return replace(line, text=f"{line.text} (disputed)") if disputed else line

    def draft(self) -> Draft:
        """The message as it is shown."""
        if isinstance(self.fitted, Fitted):
            return self.fitted.draft
        if self.fitted is None or isinstance(self.item, Summary):
            raise TypeError("a summary is written from its choice")
        return self.fitted

    def shown(self, choice: Choice, count: Count, strategy: Strategy, files: set[str]) -> ContextItem:
        """Settle it; `files` are those that stand above lines before it, and grows by its own."""
        if isinstance(self.item, Summary):
            text = _terse(render(self.item, choice, strategy, self._doubt), files)
            shown = show_block(self.item, text, self.frame, count)
            return replace(shown, disputed=self._doubt)
        draft = self.draft()
        changed = self.masked and isinstance(self.fitted, Fitted) and not self.fitted.whole
        # What was to be shortened, and had no need of it, is whole as well.
        whole = not isinstance(self.fitted, Fitted) or self.fitted.whole
        return _message(self.item, draft, sum(weigh(draft.parts, count)), masked=changed, whole=whole)


_FILE = lazy_re(r"- (?P<path>/[^\n]{1,400}):$")
_PLACED = lazy_re(r"  - (?:(?P<place>\w+): |`(?:[a-z]+ )*(?:\([^()`]*\) )?(?P<name>\w+)\()")
FEWEST_SHARED = 3
"""Two paths are taken to be of one project where they have so many folders in common."""


def _terse(text: str, files: set[str]) -> str:
    """The text of a block without what it says again and again: whole paths, and where in a file code stands.

    A file's path stands as a whole where it is told first, unless another one of its project was told as a whole:
    then from where they part. `files` are those that were told so far.
    """
    lines = []
    place = ""
    for line in text.split("\n"):
        if (found := _FILE.match(line)) is not None:
            path, place = found["path"], ""
            lines.append(f"- {short_path(path) if path in files else _apart(path, files)}:")
            files.add(path)
        elif (found := _PLACED.match(line)) is not None:
            again = found["place"] is not None and found["place"] == place
            lines.append(f"    - {line[found.end() :]}" if again else line)
            place = found["place"] or found["name"]
        else:
            lines.append(line)
            place = ""
    return "\n".join(lines)


def _apart(path: str, files: Collection[str]) -> str:
    """A path from where it parts from those that were told before."""
    folders = path.split("/")[:-1]
    shared = 0
    for other in files:
        same = 0
        for mine, theirs in zip(folders, other.split("/")[:-1], strict=False):
            if mine != theirs:
                break
            same += 1
        shared = max(shared, same)
    # Before the first stroke stands nothing.
    return f"…/{path.split('/', shared)[-1]}" if shared > FEWEST_SHARED else path


def block_limit(summary: Summary) -> int:
    """What the lines of a block may cost at the most."""
    return max(int(summary.source_tokens * BLOCK_SHARE), MIN_BLOCK_TOKENS)


def verbatim(message: Message, *, thinking: bool) -> ContextItem:
    """Show a message as it is; without its thinking where something before it was changed."""
    kept = thinking or not message.thinking_tokens
    draft = message.draft if kept else without_thinking(message.draft)
    tokens = message.tokens + (message.thinking_tokens if thinking else 0)
    return _message(message, draft, tokens, masked=False, whole=True)


def slot_verbatim(message: Message, count: Count, *, thinking: bool = False) -> ViewSlot:
    """Show a message as it is, but for its thinking (unless `thinking`); of another tool's summary that it is there.

    What such a summary covers stands on the path itself: shown beside it, everything would be told twice.
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
    """Show messages in `room` tokens together: short ones whole, the long ones alike, none in less than `floor`."""
    rooms = share([message.tokens for message in messages], room, floor=floor)
    return [slot_within(message, each, count) for message, each in zip(messages, rooms, strict=True)]


def slot_masked(message: Message, calls: dict[str, Call], count: Count) -> ViewSlot:
    """Show a message with its outputs masked."""
    return ViewSlot(message, mask(message, calls, count), masked=True)


def settle(slots: Sequence[ViewSlot], room: int, statements: Statements) -> list[ContextItem]:
    """Fill what the fixed parts of `slots` leave of `room` tokens with the lines and names that are most needed."""
    count = statements.count
    for slot, following in zip(slots, [*slots[1:], None], strict=True):
        slot.frame = _frame(following)
    fixed = sum(slot.fixed(count) for slot in slots)
    read = [text for slot in slots if isinstance(slot.item, Message) for text in _read(slot.draft())]
    standing = [term for text in read for term in terms(text)]
    end = max((_end(slot.item) for slot in slots), default=0)
    blocks = [slot.item for slot in slots if isinstance(slot.item, Summary)]
    if blocks:
        statements.keep(blocks)
        last = next(slot for slot in reversed(slots) if isinstance(slot.item, Summary))
        live = state_lines(steps([slot.item for slot in slots if isinstance(slot.item, Message)]))
        told = (line for block in blocks for line in block.lines("state"))
        state = shown_state(told, live, narrow=room < NAMES_FROM)
        waiting = _unanswered(slots, blocks)
        if is_written(blocks[-1]) and blocks[-1].lines("status"):
            state = [replace(line, weight=line.weight * STANDS_BESIDE) for line in state]
        last.standing = [*(("state", line) for line in state), *([("open", waiting)] if waiting else [])]
        last.names = [line for block in blocks for line in block.lines("names")]
        last.is_newest = not any(line.subject.startswith(CHECK) for line in live)
        checked = {line.subject.removeprefix(CHECK): line.position for line in state if line.subject.startswith(CHECK)}
        for slot in slots:
            slot.checked = checked
    done = statements.done(blocks)
    offers = [slot.offer(statements, done) for slot in slots]
    aim = room
    for _ in range(FILLS):
        allotter = Allotter(offers, max(aim - fixed, 0), statements, end=end, standing=standing)
        shown = _fill(slots, allotter, aim, fixed, statements)
        over = sum(each.tokens for each in shown) - room
        if over <= 0 or aim <= fixed:
            break
        # Words cost a little more together than each alone, which can't be known before: then with less.
        aim -= over + 8
    return shown


def _fill(
    slots: Sequence[ViewSlot], allotter: Allotter, room: int, fixed: int, statements: Statements
) -> list[ContextItem]:
    """Spend `room`, and what turns out to be left of it again."""
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


def _frame(following: ViewSlot | None) -> int:
    """What a block costs besides its text: adjacent blocks share a message, and before a user it needs no note."""
    if following is None:
        return MESSAGE_TOKENS + NOTES_TOKENS
    if isinstance(following.item, Summary):
        return 1
    return MESSAGE_TOKENS if following.item.role == "user" else MESSAGE_TOKENS + NOTES_TOKENS


def show_block(summary: Summary, text: str, frame: int, count: Count) -> ContextItem:
    """Show a summary as `text`, in a message that costs `frame` tokens besides."""
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
    """The drafts of a context as a provider is told them, in order; adjacent blocks stand in one message.

    No provider knows of authors, so that their names stand in the words.
    """
    out: list[Draft] = []
    for each in shown:
        if each.what == "summary" and out and out[-1].origin == "summary":
            out[-1] = _block(f"{out[-1].text}\n\n{each.draft.text}")
        else:
            out.append(told_plainly(each.draft))
    return out


def gap(what: ViewKind, text: str, first: str, last: str, covers: int, count: Count) -> ContextItem:
    """One line that stands for so many messages, from `first` to `last`, which are not shown."""
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


def _read(draft: Draft) -> list[str]:
    return [*texts(draft.parts), *(arguments_text(call) for call in draft.calls)]


def _unanswered(slots: Sequence[ViewSlot], blocks: Sequence[Summary]) -> Line | None:
    """What the agent asked last, unless the user went on to other things more than once since."""
    asked = max((line for block in blocks for line in block.lines("open")), key=_position, default=None)
    if asked is None:
        return None
    said = {line.position for block in blocks for line in block.lines("direction")}
    said |= {slot.item.position for slot in slots if isinstance(slot.item, Message) and slot.item.opens_turn}
    return asked if sum(position > asked.position for position in said) <= 1 else None


def _position(line: Line) -> int:
    return line.position


def _end(item: Message | Summary) -> int:
    return item.last_position if isinstance(item, Summary) else item.position


# The scratchpad in a context: the one block of it that changes, as late as it may stand.
#
# It stands right before the user's newest words. All that comes before it is the same at the next call, and so a
# provider's cache holds; the user's words stay the last that a user says; and a tool loop runs on behind it, as long as
# nobody writes in it.


def pad_shown(text: str, count: Count) -> ContextItem:
    """Show a scratchpad as a note in the user's place; it stands for no message."""
    draft = Draft(role="user", parts=(Text(text=text),), origin="injected")
    return ContextItem(
        what="pad", id="pad", first="", last="", covers=0, tokens=count(text) + MESSAGE_TOKENS, draft=draft
    )


def pad_place(shown: Sequence[ContextItem]) -> int:
    """Where the scratchpad goes: before the newest words of the user; else behind all that is no plain message."""
    for place in reversed(range(len(shown))):
        if _opens(shown[place]):
            return place
    fixed = (place for place, each in enumerate(shown) if each.what != "message" or each.draft.role == "system")
    return max(fixed, default=-1) + 1


def with_pad(shown: Sequence[ContextItem], pad: ContextItem | None) -> list[ContextItem]:
    """Put the scratchpad, where there is one, in its place."""
    if pad is None:
        return list(shown)
    place = pad_place(shown)
    return [*shown[:place], pad, *shown[place:]]


def positions(shown: Sequence[ContextItem]) -> list[int]:
    """The position on the path of the first message that each place stands for, or of the next one that is shown."""
    out: list[int] = []
    position = 0
    for each in shown:
        out.append(position)
        position += each.covers
    return out


def bound_from(shown: Sequence[ContextItem], position: int, count: Count) -> list[ContextItem]:
    """Take the thinking out of what stands before the first turn that begins at `position` of the path or later.

    A provider that binds thinking to what stood before it refuses it once a scratchpad there has changed; it wants
    that of a whole loop, or none.
    """
    if not position:
        return list(shown)
    places = enumerate(zip(shown, positions(shown), strict=True))
    whole = next((place for place, (each, at) in places if at >= position and _opens(each)), len(shown))
    return [*(_bare(each, count) for each in shown[:whole]), *shown[whole:]]


def _opens(shown: ContextItem) -> bool:
    return shown.what in ("message", "masked") and opens_turn(shown.draft) and not shown.draft.joined


def _bare(shown: ContextItem, count: Count) -> ContextItem:
    if not any(isinstance(part, Thinking) for part in shown.draft.parts):
        return shown
    draft = without_thinking(shown.draft)
    return replace(shown, draft=draft, tokens=sum(weigh(draft.parts, count)))
