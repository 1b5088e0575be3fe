"""Shorten texts and messages: head, tail and the most informative lines between, or one line for an output."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from ireneo.language.files import topic
from ireneo.language.topics import OwnWords
from ireneo.log.calls import gutter_numbers, known_failed, without_reminders
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
    count_parts,
    rendered_text,
    short,
)
from ireneo.patterns import lazy_re
from ireneo.summaries.statements import ENOUGH_WORDS, code_worth, prose_worth
from ireneo.summaries.steps import error_lines, total_lines, understand
from ireneo.summaries.tell_code import seen_lines

_SAYS = topic(OwnWords)

HEAD_SHARE = 0.6
"""The share of a shortened text for its beginning, which says what it is."""
MIN_TOKENS = 24
"""Room for a mark and a few words on either side."""
MARK_TOKENS = 16
"""The approximate cost of a mark."""
SCRAP = 8
"""Pieces of at most this many characters are dropped as well."""


class Shortened(Struct, frozen=True, kw_only=True):
    """A text whose middle is left out."""

    head: str
    tail: str
    left_out_tokens: int
    opener: str
    """The id that opens the whole text; empty for readers who can't open it."""
    fence: str = ""
    """The fence of the code block in which the tail begins."""

    def text(self) -> str:
        """Join head and tail with a mark that says how much is left out and how to open it."""
        return _join_ends(self, _omission_mark(self.left_out_tokens, "", self.opener))


def _omission_mark(tokens: int, of: str, opener: str) -> str:
    """The mark in place of the omitted part, with the id that opens it if there is one."""
    return f"[… {tokens:,} tokens left out{of}{opener and f' · open with {opener}'} …]"


def shorten(text: str, tokens: int, opener: str, count: Count) -> Shortened | None:
    """Cut `text` to about `tokens` (at least 24), keeping head and tail; None if the text fits.

    Also None if the mark would cost more than the omitted part.
    """
    size, limit = count(text), max(tokens, MIN_TOKENS)
    if size <= limit:
        return None
    room = limit - MARK_TOKENS
    while True:
        short = _keep_ends(text, room / size, opener, size, count)
        said = count(short.text())
        # Names and numbers cost more per character than average: again with less.
        if said <= limit or room <= 0:
            return short if said < size else None
        room -= said - limit + 2


def _keep_ends(text: str, share: float, opener: str, size: int, count: Count) -> Shortened:
    """Keep a share of the characters of `text`, which costs `size` tokens."""
    characters = max(int(len(text) * share), 0)
    end = int(characters * HEAD_SHARE)
    begin = len(text) - (characters - end)
    head, tail = (
        _trim_to_word_end(text[:end], text[end:]),
        _trim_to_word_start(text[:begin], text[begin:]) if characters > end else "",
    )
    head, tail = head if len(head) > SCRAP else "", tail if len(tail) > SCRAP else ""
    return Shortened(
        head=head,
        tail=tail,
        left_out_tokens=max(size - count(head) - count(tail), 1),
        opener=opener,
        fence=_open_fence(text[: len(text) - len(tail)]),
    )


def _trim_to_word_end(head: str, rest: str) -> str:
    """Remove a word that the cut split from the end of the head."""
    cut = _LAST_PIECE.search(head) if rest[:1].strip() else None
    return (head[: cut.start()] if cut else head).rstrip()


def _trim_to_word_start(before: str, tail: str) -> str:
    """Remove the rest of a word that the cut split from the beginning of the tail."""
    cut = _FIRST_PIECE.match(tail) if before[-1:].strip() else None
    return (tail[cut.end() :] if cut else tail).lstrip()


_LAST_PIECE, _FIRST_PIECE = lazy_re(r"(?<=\s)\S{1,60}\Z"), lazy_re(r"\S{1,60}(?=\s)")
"""Longer pieces without a blank are not words: they are cut anywhere."""


def _join_ends(ends: Shortened, *between: str) -> str:
    """Join head and tail with `between`; a code block that was cut is closed before it and reopened after it."""
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


LISTED, MANY_PATHS, LISTING_TOKENS = 0.8, 20, 80
"""A text with more than this share of lines that are paths, and more than so many, is a listing: this much is kept."""
_PATH = lazy_re(r"\s*[\w@.+~-]*[./][\w@.+~/-]*")
LEAST_OF_FILE = 0.3
"""If less than this share of a file fits, nothing of it is shown: scattered lines are useless."""
TELLING_SHARE = 0.6
"""The share of a shortened output for the most informative lines of its middle."""


def excerpt(text: str, tokens: int, opener: str, count: Count, *, asked: bool = False) -> str | None:
    """Cut a text to about `tokens`: head, tail and the most informative lines between; None if it fits.

    The harness's reminders are dropped first. With `asked` a user wrote it: only its sentences are used, not code or
    data.
    """
    size, limit = count(text), max(tokens, MIN_TOKENS)
    if size <= limit:
        return None
    said = without_reminders(text).strip()
    hung_on = size - count(said)
    if hung_on > MARK_TOKENS and size - hung_on <= limit:
        return f"{said}\n{_omission_mark(hung_on, '', opener)}"
    lines = said.splitlines()
    if sum(_PATH.fullmatch(line) is not None for line in lines) > max(LISTED * len(lines), MANY_PATHS):
        tokens = limit = min(limit, LISTING_TOKENS)  # Which files there are can be looked up.
    if limit < size * LEAST_OF_FILE and gutter_numbers(said):
        return _omission_mark(size, "", opener)
    ends = None
    if len(lines) >= FEWEST_LINES:
        worth = _asked_worth(lines) if asked else [*map(_line_worth, lines)]
        if any(line.startswith("@@ -") for line in lines):
            worth = [max(each, _changed_worth(line)) for each, line in zip(worth, lines, strict=True)]
        # What a user says is chosen by its worth; of data the beginning and the end matter as such.
        by_worth = asked and any(each >= LEAST_WORTH for each in worth[1:-1])
        ends = _line_ends(lines, tokens - MARK_TOKENS, 0 if by_worth else 1 - TELLING_SHARE, count)
    if ends is None:
        cut = shorten(said, tokens, opener, count)
        return replace(cut, left_out_tokens=cut.left_out_tokens + hung_on).text() if cut else None
    first, last = ends
    head, tail = "\n".join(lines[:first]), "\n".join(lines[last:])
    bare = Shortened(
        head=head,
        tail=tail,
        left_out_tokens=max(size - count(head) - count(tail), 1),
        opener=opener,
        fence=_open_fence("\n".join(lines[:last])),
    )
    chosen = _most_informative(lines[first:last], worth[first:last], tokens - count(bare.text()), count)
    if not chosen:
        return bare.text()
    told = [line if place is None else lines[first + place] for place, line in _with_gaps(chosen)]
    left = max(size - count("\n".join([head, *told, tail])), 1)
    return _join_ends(bare, _omission_mark(left, " in all", opener), *told)


def _line_ends(lines: Sequence[str], room: int, share: float, count: Count) -> tuple[int, int] | None:
    """How many first lines are kept, and from which line on the last ones; None if not even one of each fits.

    They take about a `share` of the room, or one line each: the first line says what a text is, and what a user wants
    of a pasted text stands before or behind it.
    """
    begin, end = 1, len(lines) - 1
    of_head, of_tail = count(lines[0]) + 1, count(lines[-1]) + 1
    if of_head + of_tail > room:
        return None
    while begin < end and (of_head := of_head + count(lines[begin]) + 1) <= room * share * HEAD_SHARE:
        begin += 1
    while begin < end and (of_tail := of_tail + count(lines[end - 1]) + 1) <= room * share * (1 - HEAD_SHARE):
        end -= 1
    return begin, end


def _most_informative(lines: Sequence[str], worth: Sequence[float], room: int, count: Count) -> list[int]:
    """The indices of the lines worth most for their cost, in order."""
    costs = [count(line) + 2 for line in lines]
    chosen: list[int] = []
    seen: set[str] = set()
    for place in sorted(range(len(lines)), key=lambda place: -worth[place] / costs[place] ** 0.5):
        if worth[place] < LEAST_WORTH or costs[place] > room or lines[place].strip() in seen:
            continue
        room -= costs[place]
        chosen.append(place)
        seen.add(lines[place].strip())
    return sorted(chosen)


def _asked_worth(lines: Sequence[str]) -> list[float]:
    """The worth of each line of a user's text; even a few words in a list may be a rule.

    A prompt made from a template has the task in a part of its own, between tags or under a heading: its lines come
    before what the template says of how to work, also its code and its errors.
    """
    out: list[float] = []
    within, task = "", ""
    for line in lines:
        fence = _FENCE.match(line)
        if fence:
            within = "" if within else fence["mark"]
        elif task.startswith("<"):
            task = "" if line.strip() == task.replace("<", "</") else task
        elif not within and (part := _PART.match(line)):
            task = part[0].strip() if _SAYS.task_parts.search(part[0].casefold()) else ""
        said = _BULLET.sub("", line).strip()
        # A diff line, a field or a path is data, and a heading or introduction alone says nothing.
        is_said = len(said.split()) >= FEWEST_ASKED and not (within or fence or _DATA.match(line))
        worth = max(prose_worth(said), RULE_WORTH) if is_said else 0.0
        if task:
            # Code shows less than what is said of it.
            worth = worth + TASK_WORTH if worth else _line_worth(line) / 2 if within and not fence else 0.0
        out.append(worth)
    return out


LEAST_WORTH = 1.0
"""Lines that are worth less are not shown."""
FEWEST_ASKED, RULE_WORTH, TASK_WORTH = 3, 1.0, 3.0
_PART = lazy_re(r"\s*<[a-zA-Z][\w-]{1,40}>\s*$|[A-Z][A-Z ]{2,40}:\s*$")
_BULLET = lazy_re(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+")
_DATA = lazy_re(
    r" ?#|\\ No newline|.*:$|[-+][^\s-]|[-+]{3}\s|@@ |diff --|index [0-9a-f]|[\w -]{1,30}:\t|\s*[\w./-]+$|<|\t|\+ "
)


def _changed_worth(line: str) -> float:
    """The worth of a line of a diff: what it adds or removes says more than what it shows around."""
    return CHANGED_WORTH if line[:1] in ("+", "-") and line[:3] not in ("+++", "---") and line[1:].strip() else 0.0


CHANGED_WORTH = 2.0


def _line_worth(line: str) -> float:
    return _known_worth(line) if len(line) <= LINE_KEPT else _prose_or_code_worth(line)


def _prose_or_code_worth(line: str) -> float:
    (bare,) = seen_lines(line) or [""]
    said = prose_worth(bare) if len(bare.split()) >= ENOUGH_WORDS else 0.0
    return max(code_worth(bare), said, 3.0 if error_lines(bare) else 0.0, 2.5 if _ENDED.search(bare) else 0.0)


# Every rebuild weighs the lines of the same outputs again.
_known_worth = lru_cache(maxsize=8_192)(_prose_or_code_worth)


def _with_gaps(places: Sequence[int]) -> Iterator[tuple[int | None, str]]:
    """The indices, with a mark where lines between or after them are missing."""
    for before, place in zip([None, *places], places, strict=False):
        if before is not None and place != before + 1:
            yield None, SKIPPED
        yield place, ""
    # The tail begins within a line.
    yield None, SKIPPED


SKIPPED = "…"
"""Stands for missing lines of an excerpt, whose mark says how many are missing in total."""
_ENDED = lazy_re(r"^\s*(?:--- PASS|ok\b|PASS\b|\d+ (?:passed|failed|tests?)\b|test result:)")
LINE_KEPT = 400
"""The worth of longer lines is not cached."""
FEWEST_LINES = 8
"""Outputs of fewer lines are cut in the middle."""
MASK_TOKENS = 60
"""Shorter outputs cost no more than a mask, and are kept."""
MASKED_ERROR = 120
"""The maximum number of characters of an error, or of a check's totals, in place of an output."""
MASKED_ARGUMENT_TOKENS = 160
"""The room for each long argument of a call whose output is masked."""


SMALL_ARGUMENT = 60
"""Arguments of a call of at most this many tokens are kept whole."""


class FittedMessage(Struct, frozen=True, kw_only=True):
    """A shortened message."""

    draft: Draft
    whole: bool
    """Whether nothing was left out."""


def fit(message: Message, tokens: int, count: Count) -> FittedMessage:
    """Show `message` in about `tokens`, without thinking, with its long parts shortened."""
    opener = short(message.id)
    parts = [part for part in message.parts if not isinstance(part, Thinking)]
    sizes = [count_parts((part,), count)[0] - MESSAGE_TOKENS for part in parts]
    shares = divide_room(sizes, max(tokens - MESSAGE_TOKENS, 0), floor=12)
    asked = message.role == "user" and message.draft.origin == "spoken"
    return _replace_parts(message, _fit_parts(parts, sizes, shares, opener, count, asked=asked), parts)


def mask(message: Message, calls: Mapping[str, Call], count: Count) -> FittedMessage:
    """Show `message` with each output as one line and long arguments shortened; `calls` are by call id."""
    opener = short(message.id)
    parts = [part for part in message.parts if not isinstance(part, Thinking)]
    pieces: list[Part | None] = []
    for part in parts:
        if isinstance(part, Result):
            pieces.append(_mask_result(part, calls.get(part.call_id), opener, count))
        else:
            pieces.append(_fit_part(part, MASKED_ARGUMENT_TOKENS, opener, count) if isinstance(part, Call) else None)
    return _replace_parts(message, pieces, parts)


def divide_room(sizes: Sequence[int], room: int, *, floor: int) -> list[int]:
    """Divide `room` among texts of these sizes: short ones stay whole, long ones get equal parts, at least `floor`."""
    shares = [0] * len(sizes)
    left, waiting = room, sorted(range(len(sizes)), key=lambda place: sizes[place])
    for number, place in enumerate(waiting):
        fair = max(left // (len(waiting) - number), floor)
        shares[place] = min(sizes[place], fair)
        left -= shares[place]
    return shares


def without_thinking(draft: Draft) -> Draft:
    """The draft without its thinking."""
    return _with_parts(draft, tuple(part for part in draft.parts if not isinstance(part, Thinking)))


def _replace_parts(message: Message, pieces: Sequence[Part | None], parts: Sequence[Part]) -> FittedMessage:
    """Replace the parts for which there is a shortened piece."""
    shown = tuple(part if piece is None else piece for piece, part in zip(pieces, parts, strict=True))
    return FittedMessage(draft=_with_parts(message.draft, shown), whole=all(piece is None for piece in pieces))


def _fit_parts(
    parts: Sequence[Part], sizes: Sequence[int], rooms: Sequence[int], opener: str, count: Count, *, asked: bool = False
) -> list[Part | None]:
    """Cut each part to its room; None for parts that fit."""
    return [
        None if size <= room else _fit_part(part, room, opener, count, asked=asked)
        for part, size, room in zip(parts, sizes, rooms, strict=True)
    ]


def _fit_part(part: Part, tokens: int, opener: str, count: Count, *, asked: bool = False) -> Part | None:
    """The part in about `tokens`; None if it is not changed."""
    if isinstance(part, Text):
        name = count(rendered_text(part)) - count(part.text) if part.author else 0
        cut = excerpt(part.text, tokens - name, opener, count, asked=asked)
        return replace(part, text=cut) if cut else None
    if isinstance(part, Call):
        return _fit_call(part, tokens - CALL_TOKENS, opener, count)
    if isinstance(part, Result):
        return _fit_result(part, tokens - CALL_TOKENS, opener, count)
    if isinstance(part, Media) and count_parts((part,), count)[0] - MESSAGE_TOKENS > tokens:
        return Text(text=f"[{part.media_type} left out · open with {opener}]")
    return None


def _fit_call(call: Call, tokens: int, opener: str, count: Count) -> Call | None:
    """Shorten the long strings among a call's arguments."""
    if isinstance(call.arguments, str):
        raw = shorten(call.arguments, tokens, opener, count)
        return replace(call, arguments=raw.text()) if raw else None
    texts = {key: value for key, value in call.arguments.items() if isinstance(value, str)}
    sizes = {key: count(value) for key, value in texts.items()}
    shares = divide_room(list(sizes.values()), max(tokens, 0), floor=12)
    cuts = {
        key: cut.text()
        for (key, size), room in zip(sizes.items(), shares, strict=True)
        # The subject of a call, such as a path, says more than a mark in its place, which costs nearly as much.
        if size > SMALL_ARGUMENT and (cut := shorten(texts[key], room, opener, count))
    }
    return replace(call, arguments={**call.arguments, **cuts}) if cuts else None


def _fit_result(result: Result, tokens: int, opener: str, count: Count) -> Result | None:
    sizes = [count_parts((part,), count)[0] - MESSAGE_TOKENS for part in result.parts]
    shares = divide_room(sizes, max(tokens, 0), floor=12)
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
    facts = [f"{result.text.count(chr(10)) + 1} lines, {size:,} tokens", *media]
    checks = action is not None and action.kind == "check"
    failed = known_failed(result, call) if call and checks else result.failed
    wrong = error_lines(result.text, MASKED_ERROR) if failed or (checks and failed is None) else ""
    if failed or wrong:
        facts.append(": ".join(part for part in ("failed" if failed else "said", wrong) if part))
    elif checks and (counted := total_lines(result.text, MASKED_ERROR)):
        facts.append(counted)
    return replace(result, parts=(Text(text=f"[{what} · {', '.join(facts)} · open with {opener}]"),))


def _with_parts(draft: Draft, parts: tuple[Part, ...]) -> Draft:
    """Replace a draft's parts, and drop the provider's payload, which no longer matches."""
    return Draft(
        role=draft.role, parts=parts, origin=draft.origin, at=draft.at, source_id=draft.source_id, joined=draft.joined
    )
