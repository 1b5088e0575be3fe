"""Show messages and summaries in less room: shorten and mask parts, fill blocks with lines, place the scratchpad."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from ireneo.context.allot import NAMES_FROM, Allotter, LineOffer, PricedLine, Statements, terms
from ireneo.log.calls import line_numbers, without_reminders
from ireneo.log.message import (
    CALL_TOKENS,
    MESSAGE_TOKENS,
    Call,
    Count,
    Draft,
    Media,
    Message,
    Part,
    Result,
    Text,
    Thinking,
    arguments_text,
    as_read,
    is_own_block,
    opens_turn,
    short,
    texts,
    weigh,
    with_names_in_text,
)
from ireneo.log.tree import Annotation
from ireneo.patterns import lazy_re
from ireneo.summaries.notes import STANDS_BESIDE
from ireneo.summaries.outcomes import CHECK, STATUS_SUBJECT, key, shown_state, state_lines
from ireneo.summaries.statements import ENOUGH_WORDS, code_worth, errors, prose_worth, seen_lines
from ireneo.summaries.steps import clip, short_path, steps, understand
from ireneo.summaries.summary import Choice, Line, SectionName, Strategy, Summary, SummaryLevel, header, render

HEAD_SHARE = 0.6
"""Share of a shortened text that is its beginning, which says what it is."""
MIN_TOKENS = 24
"""Room for a mark and a few words on either side of it."""
MARK_TOKENS = 16
"""About what a mark costs."""
SCRAP = 8
"""Pieces of at most this many characters are left out with the rest."""


class Shortened(Struct, frozen=True, kw_only=True):
    """A text whose middle is left out."""

    head: str
    tail: str
    left_out_tokens: int
    opener: str
    """The id that opens the whole text."""
    fence: str = ""
    """The fence of the code block in which the tail begins."""

    def text(self) -> str:
        """Join head and tail with a mark that says how much is left out and how to open it."""
        mark = f"[… {self.left_out_tokens:,} tokens left out · open with {self.opener} …]"
        return _joined(self, mark)


def shorten(text: str, tokens: int, opener: str, count: Count) -> Shortened | None:
    """Cut `text` to about `tokens` (at least 24), keeping head and tail; None where it fits.

    It also stays whole where the mark would cost more than what is left out.
    """
    size, limit = count(text), max(tokens, MIN_TOKENS)
    if size <= limit:
        return None
    room = limit - MARK_TOKENS
    while True:
        short = _cut(text, room / size, opener, size, count)
        said = count(short.text())
        # Names and numbers cost more per character than average: again with less.
        if said <= limit or room <= 0:
            return short if said < size else None
        room -= said - limit + 2


def _cut(text: str, share: float, opener: str, size: int, count: Count) -> Shortened:
    """Keep a share of the characters of `text`, which costs `size` tokens."""
    characters = max(int(len(text) * share), 0)
    end = int(characters * HEAD_SHARE)
    begin = len(text) - (characters - end)
    head, tail = text[:end].rstrip(), text[begin:].lstrip() if characters > end else ""
    head, tail = head if len(head) > SCRAP else "", tail if len(tail) > SCRAP else ""
    return Shortened(
        head=head,
        tail=tail,
        left_out_tokens=max(size - count(head) - count(tail), 1),
        opener=opener,
        fence=_open_fence(text[: len(text) - len(tail)]),
    )


def _joined(ends: Shortened, *between: str) -> str:
    """Join head and tail around `between`, which stands in no block of code: one that is cut is closed and reopened."""
    closing = _open_fence(ends.head)
    opening = ends.fence if ends.tail else ""
    return "\n".join(piece for piece in (ends.head, closing, *between, opening, ends.tail) if piece)


_FENCE = lazy_re(r"^[ \t]{0,9}(?P<mark>`{3,9}|~{3,9})(?P<info>[^`\n]*)$", re.MULTILINE)


def _open_fence(text: str) -> str:
    """The fence of a block of code that `text` opens and doesn't close; empty for none."""
    fence = ""
    for found in _FENCE.finditer(text):
        if not fence:
            fence = found["mark"]
        elif found["mark"].startswith(fence) and not found["info"].strip():
            fence = ""
    return fence


LEAST_OF_FILE = 0.3
"""Where less than this share of a file fits, nothing of it is shown: scattered lines say nothing."""
TELLING_SHARE = 0.6
"""Share of a shortened output for the most telling lines of its middle."""


def excerpt(text: str, tokens: int, opener: str, count: Count) -> str | None:
    """Cut a text to about `tokens`: head, tail and the most telling lines between; None where it fits.

    Reminders of the harness are dropped first.
    """
    size, limit = count(text), max(tokens, MIN_TOKENS)
    if size <= limit:
        return None
    said = without_reminders(text).strip()
    hung_on = size - count(said)
    if hung_on > MARK_TOKENS and size - hung_on <= limit:
        return f"{said}\n[… {hung_on:,} tokens left out · open with {opener} …]"
    lines = said.splitlines()
    if limit < size * LEAST_OF_FILE and line_numbers(said):
        return f"[… {size:,} tokens left out · open with {opener} …]"
    ends = shorten(said, int(tokens * (1 - TELLING_SHARE)), opener, count) if len(lines) >= FEWEST_LINES else None
    if ends is not None:
        # Prefer whole lines.
        tail = ends.tail.partition("\n")[2] or ends.tail
        fence = _open_fence(said[: len(said) - len(tail)])
        ends = replace(ends, head=ends.head.rpartition("\n")[0] or ends.head, tail=tail, fence=fence)
        first, last = ends.head.count("\n") + 1, len(lines) - ends.tail.count("\n") - 1
        if chosen := _telling(lines[first:last], tokens - count(ends.text()), count):
            told = [line if place is None else lines[first + place] for place, line in _with_gaps(chosen)]
            left = max(size - count("\n".join([ends.head, *told, ends.tail])), 1)
            mark = f"[… {left:,} tokens left out in all · open with {opener} …]"
            return _joined(ends, mark, *told)
    cut = shorten(said, tokens, opener, count)
    return replace(cut, left_out_tokens=cut.left_out_tokens + hung_on).text() if cut else None


def _telling(lines: Sequence[str], room: int, count: Count) -> list[int]:
    """The indices of the lines worth most for their cost, in order."""
    worth = [_line_worth(line) for line in lines]
    costs = [count(line) + 2 for line in lines]
    chosen: list[int] = []
    seen: set[str] = set()
    for place in sorted(range(len(lines)), key=lambda place: -worth[place] / costs[place] ** 0.5):
        if worth[place] < 1 or costs[place] > room or lines[place].strip() in seen:
            continue
        room -= costs[place]
        chosen.append(place)
        seen.add(lines[place].strip())
    return sorted(chosen)


def _line_worth(line: str) -> float:
    return _known_worth(line) if len(line) <= LINE_KEPT else _worth(line)


def _worth(line: str) -> float:
    (bare,) = seen_lines(line) or [""]
    said = prose_worth(bare) if len(bare.split()) >= ENOUGH_WORDS else 0.0
    return max(code_worth(bare), said, 3.0 if errors(bare) else 0.0, 2.5 if _ENDED.search(bare) else 0.0)


# Every rebuild weighs the lines of the same outputs again.
_known_worth = lru_cache(maxsize=8_192)(_worth)


def _with_gaps(places: Sequence[int]) -> Iterator[tuple[int | None, str]]:
    """The indices, with a sign where lines between or behind them are missing."""
    for before, place in zip([None, *places], places, strict=False):
        if before is not None and place != before + 1:
            yield None, SKIPPED
        yield place, ""
    # The tail begins within a line.
    yield None, SKIPPED


SKIPPED = "…"
"""Stands for missing lines of an excerpt, whose mark says how many are missing in all."""
_ENDED = lazy_re(r"^\s*(?:--- PASS|ok\b|PASS\b|\d+ (?:passed|failed|tests?)\b|test result:)")
LINE_KEPT = 400
"""The worth of longer lines is not cached."""
FEWEST_LINES = 8
"""Outputs of fewer lines are cut in the middle."""
MASK_TOKENS = 60
"""Shorter outputs cost no more than a mask, and stay."""
MASKED_ARGUMENT_TOKENS = 160
"""Room for each long argument of a call whose output is masked."""


class Fitted(Struct, frozen=True, kw_only=True):
    """A message in less room."""

    draft: Draft
    whole: bool
    """Nothing was left out."""


def fit(message: Message, tokens: int, count: Count) -> Fitted:
    """Show `message` in about `tokens`, without thinking, its long parts shortened."""
    opener = short(message.id)
    parts = [part for part in message.parts if not isinstance(part, Thinking)]
    sizes = [weigh((part,), count)[0] - MESSAGE_TOKENS for part in parts]
    shares = share(sizes, max(tokens - MESSAGE_TOKENS, 0), floor=12)
    return _fitted(message, _fit_parts(parts, sizes, shares, opener, count), parts)


def mask(message: Message, calls: Mapping[str, Call], count: Count) -> Fitted:
    """Show `message` with each output as one line and long arguments shortened; `calls` are by call id."""
    opener = short(message.id)
    parts = [part for part in message.parts if not isinstance(part, Thinking)]
    pieces: list[Part | None] = []
    for part in parts:
        if isinstance(part, Result):
            pieces.append(_mask_result(part, calls.get(part.call_id), opener, count))
        else:
            pieces.append(_fit_part(part, MASKED_ARGUMENT_TOKENS, opener, count) if isinstance(part, Call) else None)
    return _fitted(message, pieces, parts)


def share(sizes: Sequence[int], room: int, *, floor: int) -> list[int]:
    """Divide `room` among texts of these sizes: short ones whole, long ones alike, none below `floor`."""
    shares = [0] * len(sizes)
    left, waiting = room, sorted(range(len(sizes)), key=lambda place: sizes[place])
    for number, place in enumerate(waiting):
        fair = max(left // (len(waiting) - number), floor)
        shares[place] = min(sizes[place], fair)
        left -= shares[place]
    return shares


def without_thinking(draft: Draft) -> Draft:
    """The draft without its thinking."""
    return _edited(draft, tuple(part for part in draft.parts if not isinstance(part, Thinking)))


def _fitted(message: Message, pieces: Sequence[Part | None], parts: Sequence[Part]) -> Fitted:
    """Replace those parts that have a piece."""
    shown = tuple(part if piece is None else piece for piece, part in zip(pieces, parts, strict=True))
    return Fitted(draft=_edited(message.draft, shown), whole=all(piece is None for piece in pieces))


def _fit_parts(
    parts: Sequence[Part], sizes: Sequence[int], rooms: Sequence[int], opener: str, count: Count
) -> list[Part | None]:
    """Cut each part to its room; None for parts that fit."""
    return [
        None if size <= room else _fit_part(part, room, opener, count)
        for part, size, room in zip(parts, sizes, rooms, strict=True)
    ]


def _fit_part(part: Part, tokens: int, opener: str, count: Count) -> Part | None:
    """The part in about `tokens`; None where it stays as it is."""
    if isinstance(part, Text):
        name = count(as_read(part)) - count(part.text) if part.author else 0
        cut = excerpt(part.text, tokens - name, opener, count)
        return replace(part, text=cut) if cut else None
    if isinstance(part, Call):
        return _fit_call(part, tokens - CALL_TOKENS, opener, count)
    if isinstance(part, Result):
        return _fit_result(part, tokens - CALL_TOKENS, opener, count)
    if isinstance(part, Media) and weigh((part,), count)[0] - MESSAGE_TOKENS > tokens:
        return Text(text=f"[{part.media_type} left out · open with {opener}]")
    return None


def _fit_call(call: Call, tokens: int, opener: str, count: Count) -> Call | None:
    """Shorten the long strings among a call's arguments."""
    if isinstance(call.arguments, str):
        raw = shorten(call.arguments, tokens, opener, count)
        return replace(call, arguments=raw.text()) if raw else None
    long = {key: value for key, value in call.arguments.items() if isinstance(value, str)}
    shares = share([count(value) for value in long.values()], max(tokens, 0), floor=12)
    cuts = {
        key: cut.text()
        for (key, value), room in zip(long.items(), shares, strict=True)
        if (cut := shorten(value, room, opener, count))
    }
    return replace(call, arguments={**call.arguments, **cuts}) if cuts else None


def _fit_result(result: Result, tokens: int, opener: str, count: Count) -> Result | None:
    sizes = [weigh((part,), count)[0] - MESSAGE_TOKENS for part in result.parts]
    shares = share(sizes, max(tokens, 0), floor=12)
    pieces = _fit_parts(result.parts, sizes, shares, opener, count)
    if all(piece is None for piece in pieces):
        return None
    shown = [part if piece is None else piece for piece, part in zip(pieces, result.parts, strict=True)]
    return replace(result, parts=tuple(part for part in shown if isinstance(part, (Text, Media))))


def _mask_result(result: Result, call: Call | None, opener: str, count: Count) -> Result | None:
    size = count(result.text)
    media = [part.media_type for part in result.parts if isinstance(part, Media)]
    if size < MASK_TOKENS and all(isinstance(part, Text) for part in result.parts):
        return None
    action = understand(call) if call else None
    what = f"{action.kind} {action.subject}" if action else "output"
    facts = [f"{result.text.count(chr(10)) + 1} lines, {size:,} tokens", *media, *(["failed"] if result.failed else [])]
    return replace(result, parts=(Text(text=f"[{what} · {', '.join(facts)} · open with {opener}]"),))


def _edited(draft: Draft, parts: tuple[Part, ...]) -> Draft:
    """Replace a draft's parts, and drop the provider's payload, which no longer matches."""
    return Draft(
        role=draft.role,
        parts=parts,
        origin=draft.origin,
        at=draft.at,
        source_id=draft.source_id,
        joined=draft.joined,
    )


NOTES_TOKENS = 14
"""Cost of the line that a format adds where a block has to stand in the user's role."""

FOREIGN_SUMMARY_TOKENS = 40

BLOCK_SHARE = 0.35
"""A block costs at most this share of the messages that it covers, however wide the budget."""
MIN_BLOCK_TOKENS = 60
"""Allowance of every block."""
MAX_DOUBT = 240
"""Most characters of a dispute in a block's header."""
FILLS = 3
"""How often room that turned out to be left is filled again."""

ViewKind = Literal["message", "masked", "summary", "waiting", "left out", "pins", "pad"]


class ContextItem(Struct, frozen=True, kw_only=True):
    """One place of a context.

    A message, whole, shortened or masked; a summary; what waits to be summarised; what is left out; pins; the
    scratchpad.
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
    """It is shown as it was handed in, except thinking, so that its provider's payload may be sent."""
    disputed: str = ""
    """Why a block is disputed, as its header says."""

    @property
    def text(self) -> str:
        """Its words, calls and results."""
        words = list(texts(self.draft.parts))
        words += [f"{call.name} {arguments_text(call)}" for call in self.draft.calls]
        return "\n".join(words)


class ViewSlot:
    """A place of a context whose statements and names are not chosen yet."""

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
        """The disputes that a block does not answer."""
        self.frame = MESSAGE_TOKENS + NOTES_TOKENS
        """What a block's message costs besides its text."""
        self.standing: Sequence[tuple[SectionName, Line]] = ()
        """Of the last block: the state of the work, and what the user was asked."""
        self.is_last = False
        """It is the last block."""
        self.is_newest = False
        """It is the last block, and no check was run behind it."""
        self.checked: Mapping[str, int] = {}
        """The checks of the shown state, with their positions."""
        self.names: Sequence[Line] = ()
        """Of the last block: the names of all blocks."""

    def offer(self, statements: Statements, done: Mapping[str, int]) -> LineOffer:
        """The lines and names that it could show; failures of approaches that were `done` later are left out."""
        if isinstance(self.item, Summary):
            lines = tuple(statements.of(self.item, done))
            if any(each.claim for each in self.doubts):
                lines = tuple(
                    statements.price(each.section, self._marked(each.line), noted=self.item.is_written)
                    for each in lines
                )
            standing = [statements.price(name, self._marked(line)) for name, line in self.standing]
            return LineOffer(
                statements=(*(each for each in lines if self._is_needed(each)), *standing),
                limit=block_limit(self.item) + sum(each.cost for each in standing),
                names=tuple(self.names),
            )
        return LineOffer(statements=())

    def fixed(self, count: Count) -> int:
        """Its cost without lines and names."""
        if isinstance(self.item, Summary):
            return count(header(self.item, self._doubt)) + 1 + self.frame
        return sum(weigh(self.draft().parts, count))

    def _is_needed(self, statement: PricedLine) -> bool:
        """Whether the shown state doesn't say the same, and newer."""
        line = statement.line
        if statement.section == "status":
            # What a model says of the state is more than how a check ended.
            if statement.is_note:
                return self.is_last
            told = any(clip(check, STATUS_SUBJECT) in line.text for check in self.checked)
            return line.text.startswith("COMPLETE") or (self.is_newest and not told)
        at = self.checked.get(line.subject, -1) if statement.section == "operations" else -1
        return line.position > at or (line.failed and line.position < at)

    @property
    def _doubt(self) -> str:
        return clip("; ".join(each.text for each in self.doubts), MAX_DOUBT)

    def _marked(self, line: Line) -> Line:
        """The line, marked as disputed where it contains a disputed claim."""
        disputed = any(each.claim and each.claim in line.text for each in self.doubts)
        return replace(line, text=f"{line.text} (disputed)") if disputed else line

    def draft(self) -> Draft:
        """The message as it is shown; not for blocks."""
        if isinstance(self.fitted, Fitted):
            return self.fitted.draft
        if self.fitted is None or isinstance(self.item, Summary):
            raise TypeError("a summary is written from its choice")
        return self.fitted

    def shown(self, choice: Choice, count: Count, strategy: Strategy, files: set[str]) -> ContextItem:
        """Render it; `files` are the paths told in full so far, to which its own are added."""
        if isinstance(self.item, Summary):
            text = _terse(render(self.item, choice, strategy, self._doubt), files)
            shown = show_block(self.item, text, self.frame, count)
            return replace(shown, disputed=self._doubt)
        draft = self.draft()
        changed = self.masked and isinstance(self.fitted, Fitted) and not self.fitted.whole
        # A message that did not have to be shortened is whole as well.
        whole = not isinstance(self.fitted, Fitted) or self.fitted.whole
        return _message(self.item, draft, sum(weigh(draft.parts, count)), masked=changed, whole=whole)


_FILE = lazy_re(r"- (?P<path>/[^\n]{1,400}):$")
_PLACED = lazy_re(r"  - (?:(?P<place>\w+): |`(?:[a-z]+ )*(?:\([^()`]*\) )?(?P<name>\w+)\()")
FEWEST_SHARED = 3
"""Two paths are of one project where they share this many folders."""


def _terse(text: str, files: set[str]) -> str:
    """Shorten what a block's text repeats: paths, and where in a file code stands.

    A path is told in full once; another one of the same project from where they part. `files` are the paths told so
    far.
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
    """A path from where it parts from those in `files`."""
    folders = path.split("/")[:-1]
    shared = 0
    for other in files:
        same = 0
        for mine, theirs in zip(folders, other.split("/")[:-1], strict=False):
            if mine != theirs:
                break
            same += 1
        shared = max(shared, same)
    # The first part of an absolute path is empty.
    return f"…/{path.split('/', shared)[-1]}" if shared > FEWEST_SHARED else path


def block_limit(summary: Summary) -> int:
    """Most tokens for the lines of a block."""
    return max(int(summary.source_tokens * BLOCK_SHARE), MIN_BLOCK_TOKENS)


def verbatim(message: Message, *, thinking: bool) -> ContextItem:
    """Show a message as it is; without thinking where something before it changed."""
    kept = thinking or not message.thinking_tokens
    draft = message.draft if kept else without_thinking(message.draft)
    tokens = message.tokens + (message.thinking_tokens if thinking else 0)
    return _message(message, draft, tokens, masked=False, whole=True)


def slot_verbatim(message: Message, count: Count, *, thinking: bool = False) -> ViewSlot:
    """Show a message as it is, without thinking by default; of another tool's summary only that it is there.

    The messages that such a summary covers are on the path too: they would be told twice.
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
    """Show messages in `room` tokens together: short ones whole, long ones alike, none below `floor`."""
    rooms = share([message.tokens for message in messages], room, floor=floor)
    return [slot_within(message, each, count) for message, each in zip(messages, rooms, strict=True)]


def fixed_cost(slots: Sequence[ViewSlot], count: Count) -> int:
    """What the slots of a context cost before any line is chosen: messages, and headers and frames of blocks."""
    for slot, following in zip(slots, [*slots[1:], None], strict=True):
        slot.frame = _frame(following)
    return sum(slot.fixed(count) for slot in slots)


def settle(slots: Sequence[ViewSlot], room: int, statements: Statements) -> list[ContextItem]:
    """Fill what the fixed parts of `slots` leave of `room` with the most valuable lines and names."""
    count = statements.count
    fixed = fixed_cost(slots, count)
    said = [slot.draft() for slot in slots if isinstance(slot.item, Message)]
    read = (text for each in said for text in (*texts(each.parts), *map(arguments_text, each.calls)))
    standing = [term for text in read for term in terms(text)]
    items = [slot.item for slot in slots]
    end = max((each.last_position if isinstance(each, Summary) else each.position for each in items), default=0)
    blocks = [slot.item for slot in slots if isinstance(slot.item, Summary)]
    shown_steps = steps([slot.item for slot in slots if isinstance(slot.item, Message)])
    if blocks:
        statements.keep(blocks)
        last = next(slot for slot in reversed(slots) if isinstance(slot.item, Summary))
        live = state_lines(shown_steps)
        told = (line for block in blocks for line in block.lines("state"))
        state = shown_state(told, live, narrow=room < NAMES_FROM)
        waiting = _unanswered(slots, blocks)
        last.standing = [*(("state", line) for line in state), *([("open", waiting)] if waiting else [])]
        if blocks[-1].is_written and blocks[-1].lines("status"):
            last.standing = [(name, replace(line, weight=line.weight * STANDS_BESIDE)) for name, line in last.standing]
        last.names = [line for block in blocks for line in block.lines("names")]
        last.is_last = True
        last.is_newest = not any(line.subject.startswith(CHECK) for line in live)
        checked = {line.subject.removeprefix(CHECK): line.position for line in state if line.subject.startswith(CHECK)}
        for slot in slots:
            slot.checked = checked
    done = statements.done(blocks)
    done |= {key(step): step.position for step in shown_steps if step.result and not step.failed}
    offers = [slot.offer(statements, done) for slot in slots]
    aim = room
    for _ in range(FILLS):
        allotter = Allotter(offers, max(aim - fixed, 0), statements, end=end, standing=standing)
        shown = _fill(slots, allotter, aim, fixed, statements)
        over = sum(each.tokens for each in shown) - room
        if over <= 0 or aim <= fixed:
            break
        # Texts may cost more together than separately: again with less.
        aim -= over + 8
    return shown


def _fill(
    slots: Sequence[ViewSlot], allotter: Allotter, room: int, fixed: int, statements: Statements
) -> list[ContextItem]:
    """Spend `room`, and again what turns out to be left of it."""
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
    """Cost of a block besides its text: adjacent blocks share a message; before a user message there is no note."""
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
    """The drafts of a context as a provider reads them: adjacent blocks in one message, authors in the words."""
    out: list[Draft] = []
    for each in shown:
        if each.what == "summary" and out and out[-1].origin == "summary":
            out[-1] = _block(f"{out[-1].text}\n\n{each.draft.text}")
        else:
            out.append(with_names_in_text(each.draft))
    return out


def gap(what: ViewKind, text: str, first: str, last: str, covers: int, count: Count) -> ContextItem:
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


def _unanswered(slots: Sequence[ViewSlot], blocks: Sequence[Summary]) -> Line | None:
    """The agent's last question, unless the user went on to other things since; an answer that is shown needs it."""
    asked = max(
        (line for block in blocks for line in block.lines("open")), key=lambda line: line.position, default=None
    )
    if asked is None:
        return None
    told = {line.position for block in blocks for line in block.lines("direction")}
    shown = {slot.item.position for slot in slots if isinstance(slot.item, Message) and slot.item.opens_turn}
    gone_on = any(position > asked.position for position in told - shown)
    return None if gone_on or sum(position > asked.position for position in shown) > 1 else asked


# The scratchpad is the one part of a context that changes. It stands right before the newest user message, so that the
# provider's cache of everything before it holds and a running tool loop stays unbroken.


def pad_shown(text: str, count: Count) -> ContextItem:
    """Show a scratchpad."""
    return injected("pad", "pad", text, count)


def injected(what: ViewKind, id: str, text: str, count: Count, first: str = "", last: str = "") -> ContextItem:
    """Show our own text as a user message; it stands for no message of the path."""
    draft = Draft(role="user", parts=(Text(text=text),), origin="injected")
    tokens = count(text) + MESSAGE_TOKENS
    return ContextItem(what=what, id=id, first=first, last=last, covers=0, tokens=tokens, draft=draft)


def pad_place(shown: Sequence[ContextItem]) -> int:
    """Index for the scratchpad: before the newest user message, else behind everything that is no plain message."""
    for place in reversed(range(len(shown))):
        if _opens(shown[place]):
            return place
    fixed = (place for place, each in enumerate(shown) if each.what != "message" or each.draft.role == "system")
    return max(fixed, default=-1) + 1


def with_pad(shown: Sequence[ContextItem], pad: ContextItem | None) -> list[ContextItem]:
    """Insert the scratchpad, where there is one."""
    if pad is None:
        return list(shown)
    place = pad_place(shown)
    return [*shown[:place], pad, *shown[place:]]


def positions(shown: Sequence[ContextItem]) -> list[int]:
    """For each place, the path position of the first message that it stands for, or of the next one shown."""
    out: list[int] = []
    position = 0
    for each in shown:
        out.append(position)
        position += each.covers
    return out


def bound_from(shown: Sequence[ContextItem], position: int, count: Count) -> list[ContextItem]:
    """Drop the thinking before the first turn that begins at path position `position` or later.

    A provider that binds thinking to its prefix rejects it once a scratchpad there has changed.
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
