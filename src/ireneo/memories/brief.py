"""Pack what a turn needs to know, from all four kinds of memories, into a token budget."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from ireneo.log.message import BRIEF_TAG, MessageId, short, tagged_block
from ireneo.memories.kinds import KINDS
from ireneo.memories.record import Kind, MemoryId, Record, objections, one_line, with_notes
from ireneo.memories.scratchpad import Count, Pad, fit_pad, pad_text
from ireneo.short_repr import ShortRepr

# Lessons for the beginning of a session, whatever it is about, chosen by what they are expected to save.


LESSONS_HEADING = "## Lessons of earlier runs"
LESSONS_SHARE = 0.7
"""The share of a brief that lessons take if other memories have something to say as well."""


def choose_lessons(
    lessons: Iterable[BriefLine], room: int, count: Count, without: Collection[str] = ()
) -> list[BriefLine]:
    """Choose the lessons that save most for their cost, within `room` tokens; the most valuable first."""
    left = room - count(LESSONS_HEADING) - 1
    costs = [(each, count(_lesson_line(each)) + 1) for each in lessons if each.id not in without]
    out: list[BriefLine] = []
    for each, cost in sorted(costs, key=lambda one: (-one[0].score / one[1], one[0].id)):
        if cost <= left:
            left -= cost
            out.append(each)
    return sorted(out, key=lambda one: (-one.score, one.id))


def written_lessons(lessons: Sequence[BriefLine]) -> list[str]:
    """The lines of these lessons."""
    return [LESSONS_HEADING, *map(_lesson_line, lessons)] if lessons else []


def _lesson_line(each: BriefLine) -> str:
    return f"- {one_line(each.text).rstrip('.')} [{short(each.id)}]"


# Lines are chosen by value for cost over the whole brief, so no kind has a fixed share: the best of each kind comes
# first, and the rest of the room goes to whichever kind has the most to say.


LEAST_BUDGET = 64
"""The tokens for the frame of a brief and one short line."""
ORDER: tuple[Kind, ...] = tuple(sorted(KINDS, key=lambda kind: KINDS[kind].place))
"""The order of the parts."""
ALWAYS_WORTH, SAID_WORTH = 3.0, 0.9
"""The worth of a memory that applies to any turn, and of the best message."""
PAD_SHARE = 0.4
"""The share of a narrow brief that the scratchpad may take."""
LINE_SHARE = 0.35
"""The share of a tight budget that one memory may take; a longer one is cut, with a mark."""
REASON = 120
"""The maximum number of characters of the reason why a memory is disputed or must be reconsidered."""
_PAD_HEADING = "## Scratchpad"
ALWAYS_HEADING = "## How the user wants to be answered"
SAID_HEADING = "## What the user said"
KINDS_HEADINGS: Mapping[Kind, str] = {name: f"## {kind.heading}" for name, kind in KINDS.items()}


class BriefCandidate(Struct, frozen=True, kw_only=True):
    """A memory that was found for a brief, with its score and the reason."""

    record: Record
    score: float
    """More than 0; only comparable within its kind."""
    why: str


class BriefLine(ShortRepr, frozen=True, kw_only=True):
    """A line of a brief: a memory or a message."""

    id: MemoryId | MessageId
    kind: Kind | Literal["message"]
    text: str
    """The text without its id; for a message its words, with the speaker and the time."""
    score: float
    """How well it answers; for a lesson at the beginning, how many tokens it is expected to save per run."""
    why: str
    """The cue that found it."""


class Brief(ShortRepr, frozen=True, kw_only=True):
    """The memories and lessons that a turn is given."""

    markdown: str
    """The text to put into a prompt as it is; empty if there is nothing. It is recognised when it comes back."""
    lines: tuple[BriefLine, ...]
    """The same as data, in the same order."""
    tokens: int
    """The cost of the Markdown; never more than the budget."""
    pad: Pad | None = None
    """The whole scratchpad of the task, if it has one."""
    left_out: int = 0
    """How many memories were found but had no room."""
    note: str = ""
    """Why only words were compared, if the embedder failed."""
    unmarked: str = ""
    """Why the memories shown could not be marked as used, if so; the brief is complete anyway."""


def make_brief(
    pad: Pad | None,
    found: Sequence[BriefCandidate],
    now: datetime,
    budget: int,
    count: Count,
    lessons: Sequence[BriefLine] = (),
    always: Sequence[BriefLine] = (),
    said: Sequence[BriefLine] = (),
) -> Brief:
    """Pack the scratchpad, the lessons for the session's beginning and the found memories into `budget` tokens.

    `always` are memories that apply to any turn; `said` are messages.
    """
    always = [each for each in always if each.id not in {one.id for one in lessons}]
    said = [each for each in said if each.id not in {one.id for one in always}]
    found = [each for each in found if each.record.id not in {one.id for one in always}]
    ids = {*(each.record.id for each in found), *(each.id for each in (*lessons, *always, *said))}

    def assemble(told: Sequence[BriefLine], chosen: Sequence[BriefLine], pad_lines: Sequence[str]) -> Brief:
        lines, text = _render(told, [each for each in always if each in chosen], chosen, pad_lines)
        left_out = len(ids) - len(lines)
        return Brief(markdown=text, lines=tuple(lines), tokens=count(text) if text else 0, pad=pad, left_out=left_out)

    def candidates_for(told: Sequence[BriefLine], most: int) -> list[tuple[BriefLine, float]]:
        named = {each.id for each in told}
        valued = _valued_lines([each for each in found if each.record.id not in named], now, most, count)
        quoted = [
            (replace(each, text=_cut_to_tokens(each.text, most, count)), SAID_WORTH / (1 + place))
            for place, each in enumerate(said)
        ]
        return [*((each, ALWAYS_WORTH) for each in always), *valued, *quoted]

    told = sorted(lessons, key=lambda one: (-one.score, one.id))
    whole = assemble(
        told, [line for line, _ in candidates_for(told, budget)], pad_text(pad).splitlines() if pad else []
    )
    if whole.tokens <= budget:
        # The costs of single lines don't add up to that of the whole, so the whole is tried first.
        return whole
    pad_lines = fit_pad(pad, int(budget * PAD_SHARE), count) if pad else []
    room = budget - count(tagged_block(BRIEF_TAG, [_PAD_HEADING, *pad_lines] if pad_lines else ()))
    told = choose_lessons(lessons, int(room * LESSONS_SHARE), count)
    wanted = candidates_for(told, int(budget * LINE_SHARE))
    chosen = _choose_lines(wanted, room - count("\n".join(written_lessons(told))), count, always)
    if len(told) < len(lessons):
        # Lessons also get the room that the others leave.
        left = room - sum(count(_line_with_id(line)) + 1 for line in chosen)
        left -= sum(count(heading) + 1 for heading in {_heading(line, always) for line in chosen})
        told = choose_lessons(lessons, left, count, {line.id for line in chosen})
    brief = assemble(told, chosen, pad_lines)
    # Lines cost a little more together than alone, which can't be known before.
    while brief.tokens > budget:
        if chosen:
            chosen = chosen[:-1]
        elif told:
            told = told[:-1]
        else:
            pad_lines = pad_lines[:-1]
        brief = assemble(told, chosen, pad_lines)
    return brief


def line_of(record: Record, now: datetime) -> str:
    """Render a memory as one line, in the form of its kind; a disputed or stale one begins with a note."""
    # Doubts come first, where no cut removes them; so the kind need not mention them.
    said = one_line(KINDS[record.kind].line(replace(record, state="active", stale=""), now))
    doubts = [
        f"disputed: {_clip(record.reason)}" if record.state == "disputed" else "",
        f"to be reconsidered: {_clip(record.stale)}" if record.stale else "",
        *(_clip(said) for said in objections(record)[:1] if record.state == "active"),
    ]
    doubt = with_notes("", doubts).strip()
    return f"{doubt} {said}" if doubt else said


def _valued_lines(
    found: Sequence[BriefCandidate], now: datetime, most: int, count: Count
) -> list[tuple[BriefLine, float]]:
    """Candidate lines, one for each memory within `most` tokens, with their worth, which falls with the rank."""
    out: list[tuple[BriefLine, float]] = []
    for kind in ORDER:
        ranked: dict[MemoryId, BriefCandidate] = {}
        of_kind = [each for each in found if each.record.kind == kind]
        of_kind.sort(key=lambda each: (-each.score, -each.record.at.timestamp(), each.record.id))
        for each in of_kind:
            ranked.setdefault(each.record.id, each)
        best = max((each.score for each in ranked.values()), default=0.0)
        for place, each in enumerate(ranked.values()):
            share = each.score / best if best > 0 else 0.0
            text = _cut_to_tokens(line_of(each.record, now), most, count)
            line = BriefLine(id=each.record.id, kind=kind, text=text, score=round(each.score, 4), why=each.why)
            out.append((line, KINDS[kind].worth * share / (1 + place)))
    return out


def _choose_lines(
    wanted: Sequence[tuple[BriefLine, float]], left: int, count: Count, always: Collection[BriefLine]
) -> list[BriefLine]:
    """Choose what fits into `left` tokens by value for cost; the best line of each part comes before all others."""
    costs = {line.id: max(count(_line_with_id(line)) + 1, 1) for line, _ in wanted}
    firsts: dict[str, tuple[BriefLine, float]] = {}
    for line, worth in wanted:
        firsts.setdefault(_heading(line, always), (line, worth))
    rest = [(line, worth) for line, worth in wanted if firsts[_heading(line, always)][0] is not line]
    order = sorted(firsts.values(), key=lambda each: -each[1])
    order += sorted(rest, key=lambda each: (-each[1] / costs[each[0].id], each[0].id))
    chosen: list[BriefLine] = []
    headed: set[str] = set()
    for line, _ in order:
        heading = _heading(line, always)
        cost = costs[line.id] + (0 if heading in headed else count(heading) + 1)
        if cost <= left:
            left -= cost
            headed.add(heading)
            chosen.append(line)
    return chosen


def _render(
    told: Sequence[BriefLine], always: Sequence[BriefLine], chosen: Sequence[BriefLine], pad: Sequence[str]
) -> tuple[list[BriefLine], str]:
    """Group the lines by parts, and render the brief; empty if there is nothing to show."""
    text = [*([_PAD_HEADING, *pad] if pad else []), *written_lessons(told)]
    lines = list(told)
    for heading in (ALWAYS_HEADING, *(KINDS_HEADINGS[kind] for kind in ORDER), SAID_HEADING):
        # Within its part the best line comes first, whatever it cost.
        part = sorted((each for each in chosen if _heading(each, always) == heading), key=lambda line: -line.score)
        if part:
            text += [heading, *map(_line_with_id, part)]
            lines += part
    return lines, tagged_block(BRIEF_TAG, text) if text else ""


def _heading(line: BriefLine, always: Collection[BriefLine]) -> str:
    if line in always:
        return ALWAYS_HEADING
    return SAID_HEADING if line.kind == "message" else KINDS_HEADINGS[line.kind]


def _line_with_id(line: BriefLine) -> str:
    return f"- {line.text} [{short(line.id)}]"


def _cut_to_tokens(text: str, room: int, count: Count) -> str:
    """Cut `text` between words to at most `room` tokens, with a mark for the omitted part."""
    if count(text) <= room:
        return text
    words = text.split()
    low, high = 0, len(words)
    while low < high:
        middle = (low + high + 1) // 2
        if count(" ".join(words[:middle]) + " …") <= room:
            low = middle
        else:
            high = middle - 1
    return (" ".join(words[:low]) + " …").strip()


def _clip(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= REASON else f"{line[: REASON - 1].rstrip()}…"
