"""Write the diary of a run from its tasks and attempts, and from what its agent wrote itself.

The cited messages support every line, and the whole stays within an allowance of tokens.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from ireneo.errors import BadInput
from ireneo.grounding.claims import TextClaim, claims
from ireneo.grounding.evidence import SourceIndex, check_text, source_texts
from ireneo.language.words import sentences, terms
from ireneo.lessons.attempts import (
    MOST_OF_AN_ERROR,
    Attempt,
    Task,
    action_key,
    cause,
    changes_to_describe,
    describe_call,
    describe_changes,
    error_quoted,
)
from ireneo.lessons.run import DiaryEntry, DiaryLine
from ireneo.lessons.shell import RunMaterial
from ireneo.log.calls import has_instruction
from ireneo.log.message import Count, MessageId, escape_tags, without_recalled
from ireneo.log.tree import Annotation
from ireneo.patterns import lazy_re
from ireneo.summaries.statements import gives_reason, is_intent, is_request, prose, prose_worth
from ireneo.summaries.steps import Step, clip

UNASKED = "(nobody asked)"
"""Shown instead of a goal if there is none."""


def render_diary(entries: Sequence[DiaryEntry]) -> str:
    """Render entries in order: one with a single line as a list item, others under a heading. Empty without any."""
    blocks: list[str] = []
    listed: list[str] = []
    for entry in entries:
        if len(entry.lines) == 1:
            listed.append(f"- {entry.goal or UNASKED}: {entry.lines[0].text}")
            continue
        if listed:
            blocks.append("\n".join(listed))
            listed = []
        blocks.append("\n".join(_entry_lines(entry)))
    if listed:
        blocks.append("\n".join(listed))
    return escape_tags("\n\n".join(blocks))


def _entry_lines(entry: DiaryEntry) -> Iterator[str]:
    yield f"## {entry.goal or UNASKED}"
    if entry.attempted:
        yield "Attempted approaches:"
        yield from (f"{number}. {line.text}" for number, line in enumerate(entry.attempted, 1))
    yield from _list_lines("What worked", entry.worked)
    yield from _list_lines("What failed", entry.failed)
    if entry.pattern:
        yield f"Pattern: {entry.pattern}"


def _list_lines(heading: str, lines: Sequence[DiaryLine]) -> Iterator[str]:
    if len(lines) == 1:
        yield f"{heading}: {lines[0].text}"
    elif lines:
        yield f"{heading}:"
        yield from (f"- {line.text}" for line in lines)


NEXT = 4
"""How many calls after a failure may still explain it."""
MOST_OF_A_REASON, LEAST_OF_A_REASON = 170, 5
"""Limits of a quoted sentence: the maximum number of characters, the minimum number of words."""


SHARED = 2
"""How many words of an error a sentence about it must contain."""
_LABEL = lazy_re(r"^(?:THOUGHT|Thought):\s*")


class AgentReason(Struct, frozen=True, kw_only=True, gc=False):
    """The sentence in which an agent explains a failure."""

    text: str
    source: MessageId


def explanation_of(task: Task, attempt: Attempt) -> AgentReason | None:
    """The agent's best explanation of a failure, from before it was overcome or given up."""
    if attempt.step.action.kind in ("read", "search"):
        return None
    later = attempt.over or attempt.instead
    end = later.position if later else None
    of_error = {*terms(cause(attempt.step))}
    places = [at for at, step in enumerate(task.steps) if step.position > attempt.step.position][:NEXT]
    found: list[tuple[float, AgentReason]] = []
    for step in (task.steps[at] for at in places):
        if end is not None and step.position > end:
            break  # Later sentences are about something else.
        for sentence in (sentence for piece in prose(step.said) for sentence in sentences(piece)):
            told = _LABEL.sub("", sentence.replace("“", '"').replace("”", '"')).strip()
            fits = len(told) <= MOST_OF_A_REASON and len(told.split()) >= LEAST_OF_A_REASON
            says_why = gives_reason(told) or len(of_error & {*terms(told)}) >= SHARED
            if fits and says_why and not is_request(told) and not is_intent(told) and not has_instruction(told):
                found.append((prose_worth(told), AgentReason(text=told.rstrip("."), source=step.source)))
    return max(found, key=lambda each: each[0])[1] if found else None


Section = Literal["worked", "failed", "plain"]
"""The section of a line; "plain" is the single line of a task in which nothing failed."""

DEAD_END = 8.0
UNDONE = 8.0
EASILY = 4.0
"""Deducted from a failure if only a file had to be read first, which any model knows."""
SAME_CALL = 1.5
"""Deducted from each further failure of the same call."""
UNSAID = 3.0
"""Deducted from a failure without an error message."""
HELD = 5.0
RECURRED = 1.5
"""Added to a failure for each repetition."""
PLAIN = 3.0
"""The worth of the line of a task in which nothing failed."""
LEAST_WORTH = 3.0
"""A plain line worth less than this is left out if the diary has any other line."""
_ASKS_ONLY = lazy_re(r"--(?:version|help)\b")
"""Flags with which a check only asks about the tool."""


class DiaryCandidate(Struct, frozen=True, kw_only=True, gc=False):
    """A line that the diary may show."""

    section: Section
    line: DiaryLine
    worth: float


def candidates(task: Task, error: int = MOST_OF_AN_ERROR) -> list[DiaryCandidate]:
    """All possible lines of `task`, in their order, with at most `error` characters of each error."""
    telling_ones = list(filter(_is_worth_listing, task.attempts))
    failures = any(attempt.outcome not in ("worked", "open") or attempt.error for attempt in telling_ones)
    told = _failure_lines(task, error) if failures else ()
    # Equal lines are kept once.
    once = {each.line.text: each for each in (*_summary_lines(task, failures), *told)}
    return [each for each in once.values() if not has_instruction(each.line.text)]


def _is_worth_listing(attempt: Attempt) -> bool:
    """Whether an attempt is worth telling, and isn't just a file that was not found."""
    looked = attempt.step.action.kind in ("read", "search") and attempt.outcome == "abandoned"
    return not looked or attempt.step.action.shell


def _summary_lines(task: Task, failures: bool) -> Iterator[DiaryCandidate]:
    """What was changed and what passed in the end; where nothing failed, this is the only line of a task."""
    kept = (attempt for attempt in task.attempts if attempt.outcome != "undone")
    changed = [step for attempt in kept for step in attempt.steps if _is_change(step)]
    held = _passing_checks(task)
    done = {describe_call(attempt.step): attempt.step for attempt in task.attempts if attempt.outcome == "worked"}
    used = [] if failures else list(done.values())[-2:]
    if failures and not held and any(step.action.kind == "check" for step in task.steps):
        return  # Nothing shows that it worked.
    if changed or held:
        unchecked = ", not checked" if failures and not held else ""
        passed = f"{_join_calls(held)} passed{' in the end' if failures else ''}" if held else ""
        text = "; ".join(filter(None, (describe_changes(changed) + unchecked if changed else "", passed)))
    elif used:
        text = f"{_join_calls(used)} worked"
    else:
        return
    line = _line(f"{text}.", [*changes_to_describe(changed), *held] if changed or held else used)
    worth = HELD if failures else (PLAIN if changed and held else 1.0) + _cost_weight(task.cost.tokens)
    yield DiaryCandidate(section="worked" if failures else "plain", line=line, worth=worth)


def _approach(attempt: Attempt) -> str:
    if attempt.changed and not _is_change(attempt.step):
        return f"{describe_changes(attempt.changed)}, then {describe_call(attempt.step)}"
    return describe_changes(attempt.steps) if attempt.changed else describe_call(attempt.step)


def _failure_lines(task: Task, error: int) -> Iterator[DiaryCandidate]:
    """The failures, each once however often it occurred, with the alternative that was taken."""
    groups: dict[str, list[Attempt]] = {}
    for attempt in filter(_is_worth_listing, task.attempts):
        if attempt.outcome == "undone":
            yield _reverted_line(attempt, error)
        elif attempt.error or attempt.step.failed:
            groups.setdefault(cause(attempt.step) or action_key(attempt.step), []).append(attempt)
    told: list[str] = []
    reasons = [explanation_of(task, alike[-1]) for alike in groups.values()]
    for place, alike in enumerate(groups.values()):
        last, times = alike[-1], sum(attempt.times for attempt in alike)
        like_it = " and the like" if len({action_key(attempt.step) for attempt in alike}) > 1 else ""
        counted = f" {times} times" if times > 1 else ""
        text = f"{describe_call(last.step)}{like_it} failed{counted}{error_quoted(last.step, error)}"
        shown = [last.step]
        if last.instead is not None:
            other = describe_call(last.instead)
            how = f"{other} worked instead" if other != describe_call(last.step) else "in another form it worked"
            text, shown = f"{text}; {how}", [*shown, last.instead]
        elif last.over is not None:
            text, shown = (
                f"{text}; {_describe_success(last)}",
                [*shown, *changes_to_describe(_changing_steps(last.by)), *last.by[-1:], last.over],
            )
        elif last.outcome == "abandoned":
            text = f"{text}; not tried again"
        # A sentence that fits two failures belongs to the later one.
        why = None if reasons[place] in reasons[place + 1 :] else reasons[place]
        worth = DEAD_END + RECURRED * min(times - 1, 3) + _cost_weight(sum(attempt.cost.tokens for attempt in alike))
        easily = bool(last.by) and last.by[-1].action.kind == "read"
        worth -= EASILY * easily + SAME_CALL * told.count(action_key(last.step))
        told.append(action_key(last.step))
        if not error_quoted(last.step):
            worth -= UNSAID
        sources = sources_of(shown)
        if why is not None:
            text = f"{text} — the agent: “{why.text}”"
            sources = tuple(dict.fromkeys((*sources, why.source)))
        line = DiaryLine(text=f"{text}.", sources=sources)
        yield DiaryCandidate(section="failed", line=line, worth=worth)


def _reverted_line(attempt: Attempt, error: int) -> DiaryCandidate:
    steps = [*changes_to_describe(attempt.changed), attempt.step]
    text = f"{_approach(attempt)} was taken back"
    if attempt.instead is not None and attempt.instead.action.shell:
        text = f"{text} by {describe_call(attempt.instead)}"
        steps.append(attempt.instead)
    if attempt.step.failed:
        text += error_quoted(attempt.step, error)
    worth = UNDONE + _cost_weight(attempt.cost.tokens)
    return DiaryCandidate(section="failed", line=_line(f"{text}.", steps), worth=worth)


def _describe_success(attempt: Attempt) -> str:
    word = "passed" if attempt.over and attempt.over.action.kind == "check" else "worked"
    return f"it {word} {_describe_remedy(attempt) or 'later'}"


def _describe_remedy(attempt: Attempt) -> str:
    changes = _changing_steps(attempt.by)
    if changes:
        return f"after {describe_changes(changes)}"
    helped = describe_call(attempt.by[-1]) if attempt.by else ""
    return f"after {helped}" if helped and attempt.over and helped != describe_call(attempt.over) else ""


def _passing_checks(task: Task) -> list[Step]:
    """The last checks that passed after the last change, at most two; none where the last check failed."""
    if task.passing_check is None:
        return []
    out: dict[str, Step] = {}
    for step in reversed(task.steps):
        if _is_change(step) and out:
            break
        if step.action.kind == "check" and step.result is not None:
            if step.failed:
                break
            if not _ASKS_ONLY.search(step.command):
                out.setdefault(describe_call(step), step)
    return list(out.values())[1::-1]


def _join_calls(shown: Sequence[Step]) -> str:
    return " and ".join(describe_call(step) for step in shown)


def _changing_steps(done: Iterable[Step]) -> list[Step]:
    return [step for step in done if _is_change(step)]


def _is_change(step: Step) -> bool:
    return step.action.kind in ("edit", "write") and not step.failed


def _cost_weight(tokens: int) -> float:
    """The worth that a cost adds to a line, from 0 to 3, growing with its logarithm."""
    return min(3.0, math.log2(1 + tokens / 1_000))


def _line(text: str, shown: Sequence[Step]) -> DiaryLine:
    return DiaryLine(text=text, sources=sources_of(shown))


def sources_of(shown: Iterable[Step]) -> tuple[MessageId, ...]:
    """The messages that contain these calls, each once."""
    return tuple(dict.fromkeys(source for step in shown for source in step.sources))


MOST_LINES = 8
"""The maximum number of lines of a section that an agent writes at once."""
MOST_CHARACTERS = 300
"""The maximum number of characters of a line."""
SHOWN = 3
"""How many unverified names are listed in one line at most."""
_MARK = lazy_re(r"^(?:[-*•]|\d{1,3}[.)])\s+")


class AgentNotes(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The notes of an agent about its current task."""

    at: MessageId = MessageId("")
    """The message after which it was written."""
    position: int = 0
    tried: tuple[str, ...] = ()
    worked: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    pattern: str = ""
    goal: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether it has no text."""
        return not any(map("".join, (_noted(self, name) for name in _NOTED)))


def lines_of(name: str, given: str | Sequence[str]) -> tuple[str, ...]:
    """Split what an agent gave for the section `name` into lines, without list markers.

    Briefs and scratchpads in it are left out. Raises BadInput for too many lines.
    """
    texts = given.splitlines() if isinstance(given, str) else given
    told = (" ".join(_MARK.sub("", without_recalled(text).strip()).split()) for text in texts)
    lines = tuple(dict.fromkeys(clip(escape_tags(line), MOST_CHARACTERS) for line in told if line))
    if len(lines) > MOST_LINES:
        raise BadInput(f"{len(lines)} lines for `{name}` are too many; a diary takes {MOST_LINES}: keep what matters.")
    return lines


def notes_claims(written: AgentNotes) -> set[TextClaim]:
    """The claims in the lines of `written`; its goal is a wish and claims nothing."""
    lines = (line for name in _NOTED if name != "goal" for line in _noted(written, name))
    return {claim for line in lines for claim in claims(line)}


def mark_unverified(written: AgentNotes, unknown: Collection[TextClaim]) -> AgentNotes:
    """Mark each line of `written` that contains an `unknown` claim as unverified."""

    def mark_line(line: str) -> str:
        names = [claim.text for claim in claims(line) if claim in unknown]
        if not names:
            return line
        return f"{line} (unverified: {', '.join(f'“{each}”' for each in names[:SHOWN])})"

    marked = {name: tuple(map(mark_line, getattr(written, name))) for name in _NOTED_LINES}
    return replace(written, pattern=mark_line(written.pattern), **marked)


def serialise_notes(written: AgentNotes) -> str:
    """Serialise notes: one line each, after the name of its section."""
    return "\n".join(f"{name}: {line}" for name in _NOTED for line in _noted(written, name) if line)


_NOTED_LINES = ("tried", "worked", "failed")
_NOTED = ("goal", *_NOTED_LINES, "pattern")


def _noted(written: AgentNotes, name: str) -> tuple[str, ...]:
    """The lines of a section of notes."""
    given = getattr(written, name)
    return (given,) if isinstance(given, str) else given


def parse_notes(note: Annotation) -> AgentNotes:
    """Parse what `serialise_notes` stored in an annotation."""
    sections: dict[str, list[str]] = {}
    for line in note.text.split("\n"):
        name, _, text = line.partition(": ")
        sections.setdefault(name, []).append(text)
    lines = {name: tuple(sections.get(name, ())) for name in _NOTED_LINES}
    goal, pattern = ("".join(sections.get(name, ())) for name in ("goal", "pattern"))
    return AgentNotes(at=note.at, position=note.at_position, goal=goal, pattern=pattern, **lines)


def with_agent_notes(frame: DiaryEntry, written: Sequence[AgentNotes]) -> DiaryEntry:
    """The entry of a task as its agent wrote it; of several patterns and goals the last one is used."""
    last = written[-1].at if written else frame.last
    sources = tuple(dict.fromkeys((frame.opening, last)))

    def lines_of_all(name: str) -> tuple[DiaryLine, ...]:
        texts = dict.fromkeys(text for each in written for text in _noted(each, name))
        return tuple(DiaryLine(text=text, sources=sources) for text in texts)

    pattern = next((each.pattern for each in reversed(written) if each.pattern), "")
    return DiaryEntry(
        goal=next((each.goal for each in reversed(written) if each.goal), frame.goal),
        opening=frame.opening,
        last=frame.last,
        attempted=lines_of_all("tried"),
        worked=lines_of_all("worked"),
        failed=lines_of_all("failed"),
        pattern=pattern,
        pattern_sources=sources if pattern else (),
        author="agent",
    )


LEAST_TOKENS = 40
SHARE = 150
"""How many tokens of the log allow one token of the diary."""
_GOAL = 0.3
"""The share of a narrow diary that a goal may take."""
LEAST_OF_A_GOAL = 40
NARROW, NARROW_ERROR = 80, 60
"""In a diary of at most `NARROW` tokens an error is cut to `NARROW_ERROR` characters."""
CHARACTERS_PER_TOKEN = 4
LINE_TOKENS = 2
"""The tokens of a list marker."""

_Found: TypeAlias = tuple[int, int, DiaryCandidate]
"""A line, with the index of its task and its index among the lines of that task."""


def allowance(tokens: int) -> int:
    """How many tokens the diary of a run of `tokens` may have."""
    return max(LEAST_TOKENS, tokens // SHARE)


def write_diary(
    material: RunMaterial, tasks: Sequence[Task], count: Count, written: Sequence[AgentNotes] = ()
) -> tuple[DiaryEntry, ...]:
    """The diary of a run with these `tasks`: an entry for each task with something to say, in order.

    What its agent has `written` comes first, whatever it costs. Other sections are filled within the allowance: dead
    ends and their remedies first, then what worked, then the tasks without failures.
    """
    room = allowance(sum(message.tokens for message in material.messages))
    frames = _empty_entries(material, tasks, room, written)
    chooser = _LineSelector(material, frames, room, count)
    error = MOST_OF_AN_ERROR if room > NARROW else NARROW_ERROR
    offered = [
        _lines_for_empty_sections(candidates(task, error), frame) for task, frame in zip(tasks, frames, strict=True)
    ]
    told = [(place, at, each) for place, lines in enumerate(offered) for at, each in enumerate(lines)]
    ranked = sorted(told, key=lambda found: (-found[2].worth, found[0], found[1]))
    for found in ranked:
        if found[2].section != "plain":
            chooser.take(found)
    for found in ranked:
        if found[2].section == "plain" and (found[2].worth >= LEAST_WORTH or not chooser.chosen):
            chooser.take(found)
    return chooser.entries()


class _LineSelector:
    """Selects lines as long as there is room."""

    def __init__(self, material: RunMaterial, frames: Sequence[DiaryEntry], room: int, count: Count) -> None:
        self.chosen: list[_Found] = []
        self._messages = {message.id: message for message in material.messages}
        self._frames = frames
        self._count = count
        self._spent = count(render_diary([frame for frame in frames if frame.author == "agent"]))
        self._room = max(room, self._spent)

    def take(self, found: _Found) -> None:
        """Take a line if there is room, unless it is unsupported."""
        place, _, each = found
        cost = self._count(each.line.text) + LINE_TOKENS
        if self._frames[place].author != "agent" and place not in {one for one, _, _ in self.chosen}:
            cost += self._count(self._frames[place].goal) + LINE_TOKENS
        if self._spent + cost <= self._room and self._is_supported(each.line):
            self.chosen.append(found)
            self._spent += cost

    def entries(self) -> tuple[DiaryEntry, ...]:
        """The entries of the chosen lines; the least valuable are dropped if headings leave no room."""
        while True:
            entries = _build_entries(self._frames, self.chosen)
            if not self.chosen or self._count(render_diary(entries)) <= self._room:
                return entries
            self.chosen.pop()

    def _is_supported(self, line: DiaryLine) -> bool:
        """Whether the cited messages support all claims of a line."""
        messages = (self._messages[source] for source in line.sources if source in self._messages)
        return not check_text(line.text, SourceIndex(source_texts(messages)))


def _build_entries(frames: Sequence[DiaryEntry], chosen: Sequence[_Found]) -> tuple[DiaryEntry, ...]:
    """The entries of these lines, with those that an agent wrote; lines keep their order."""
    lines: dict[int, list[DiaryCandidate]] = {}
    for place, _, each in sorted(chosen, key=lambda found: found[:2]):
        lines.setdefault(place, []).append(each)
    made = (_filled_entry(frame, lines.get(place, [])) for place, frame in enumerate(frames))
    return tuple(entry for entry in made if entry.lines)


def _filled_entry(frame: DiaryEntry, lines: Sequence[DiaryCandidate]) -> DiaryEntry:
    def lines_in(*sections: Section) -> tuple[DiaryLine, ...]:
        return tuple(each.line for each in lines if each.section in sections)

    return replace(
        frame,
        worked=frame.worked + lines_in("worked", "plain"),
        failed=frame.failed + lines_in("failed"),
    )


def _empty_entries(
    material: RunMaterial, tasks: Sequence[Task], room: int, written: Sequence[AgentNotes]
) -> list[DiaryEntry]:
    """The entries before lines are added; what an agent wrote belongs to its current task."""
    positions = {message.id: message.position for message in material.messages}
    out: list[DiaryEntry] = []
    before = material.messages[0].position - 1 if material.messages else -1
    for task in tasks:
        last = positions[task.last]
        own = [each for each in written if before < each.position <= last]
        frame = _empty_entry(task, room)
        out.append(with_agent_notes(frame, own) if own else frame)
        before = last
    return out


def _empty_entry(task: Task, room: int) -> DiaryEntry:
    """The entry of a task without lines; in a narrow diary its goal is shortened."""
    shown = max(int(room * CHARACTERS_PER_TOKEN * _GOAL), LEAST_OF_A_GOAL)
    goal = "" if has_instruction(task.goal) else clip(task.goal, shown)
    if goal.count("`") % 2:
        goal = goal.replace("`", "")
    return DiaryEntry(goal=goal, opening=task.opening, last=task.last)


def _lines_for_empty_sections(lines: Sequence[DiaryCandidate], frame: DiaryEntry) -> list[DiaryCandidate]:
    """The `lines` whose section the agent left empty."""
    if frame.author != "agent":
        return list(lines)
    said: dict[Section, bool] = {
        "worked": bool(frame.worked),
        "failed": bool(frame.failed),
        "plain": True,
    }
    return [each for each in lines if not said[each.section]]
