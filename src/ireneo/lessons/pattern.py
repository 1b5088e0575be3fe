"""The pattern of a task in one sentence, where something in it recurs: read off its structure, and nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from ireneo.context.actions import CHANGES
from ireneo.context.offline.steps import Step
from ireneo.grounding.neutral import instruction_like
from ireneo.lessons.attempts import Attempt, Task
from ireneo.lessons.diary import DiaryLine
from ireneo.lessons.step_words import MOST_OF_AN_ERROR, cause, changes_named, named, telling
from ireneo.lessons.ways import way
from ireneo.log.message import MessageId
from ireneo.patterns import lazy_re

_NUMBER = lazy_re(r"\d+")
LEAST = 2
"""What happened once is no pattern."""
CHECKED = 3
"""So many changes that the same command checked are a way of working."""


def pattern_of(task: Task) -> DiaryLine | None:
    """What recurs in `task`; None where nothing does."""
    return _struggle(task.attempts) or _same_error(task.attempts) or _refusals(task.attempts) or _checked(task.attempts)


def _struggle(attempts: Sequence[Attempt]) -> DiaryLine | None:
    """A check that failed again and again, and what ended that."""
    failures: dict[str, list[Attempt]] = {}
    for attempt in attempts:
        if attempt.step.action.deed == "check" and attempt.step.failed and attempt.outcome != "rejected":
            failures.setdefault(way(attempt.step), []).append(attempt)
    alike = max(failures.values(), key=_times, default=[])
    times = _times(alike)
    if times < LEAST:
        return None
    last = alike[-1]
    shown = [attempt.step for attempt in alike[-3:]]
    counted = f"{named(last.step)} failed {times} times"
    if last.over is None:
        # Where a later check much like it passed, that is told by the attempts.
        return _line(f"{counted} and did not pass.", shown) if times > LEAST else None
    changes = [step for step in last.by if step.action.deed in CHANGES]
    how = f"before {changes_named(changes)} made it pass" if changes else "before it passed"
    each = "; each change was checked by the same command" if _each_checked(attempts, alike) else ""
    return _line(f"{counted} {how}{each}.", [*shown, *telling(changes), last.over])


def _each_checked(attempts: Sequence[Attempt], alike: Sequence[Attempt]) -> bool:
    checks = {way(attempt.step) for attempt in attempts if attempt.changed}
    return checks == {way(alike[0].step)} and sum(bool(attempt.changed) for attempt in attempts) > LEAST


def _same_error(attempts: Sequence[Attempt]) -> DiaryLine | None:
    """One error that came back from calls that differ."""
    groups: dict[str, list[Attempt]] = {}
    for attempt in attempts:
        said = cause(attempt.step) if attempt.step.failed and attempt.step.action.deed != "check" else ""
        if said and attempt.outcome != "rejected":
            groups.setdefault(_NUMBER.sub("", said), []).append(attempt)
    alike = max(groups.values(), key=_times, default=[])
    times = _times(alike)
    if times < LEAST:
        return None
    last = alike[-1]
    said = cause(last.step)
    if len(said) > MOST_OF_AN_ERROR or instruction_like(said):
        return None
    over = [attempt for attempt in alike if attempt.over is not None]
    how = ""
    if len(over) == len(alike) and all(_read_first(attempt) for attempt in over):
        how = ", each time until the file was read"
    elif over or any(attempt.instead is not None for attempt in alike):
        how = ", and each time another try went well" if len(over) == len(alike) else ""
    return _line(f"“{said}” came back {times} times{how}.", [attempt.step for attempt in alike[-3:]])


def _read_first(attempt: Attempt) -> bool:
    return any(step.action.deed == "read" for step in attempt.by)


def _refusals(attempts: Sequence[Attempt]) -> DiaryLine | None:
    refused = [attempt for attempt in attempts if attempt.outcome == "rejected"]
    if len(refused) < LEAST:
        return None
    alike = Counter(named(attempt.step) for attempt in refused).most_common(1)[0]
    about = f", mostly to {alike[0]}" if alike[1] >= LEAST else ""
    return _line(f"The user said no {_times(refused)} times{about}.", [attempt.step for attempt in refused[:4]])


def _checked(attempts: Sequence[Attempt]) -> DiaryLine | None:
    """Each change was tried out by the same command."""
    checks = Counter(way(attempt.step) for attempt in attempts if attempt.changed and attempt.step.action.shell)
    name, times = checks.most_common(1)[0] if checks else ("", 0)
    if times < CHECKED or len(checks) > 1:
        return None
    shown = [attempt.step for attempt in attempts if attempt.changed and way(attempt.step) == name]
    return _line(f"Each change was checked by {named(shown[-1])}.", shown[-3:])


def _times(alike: Iterable[Attempt]) -> int:
    return sum(attempt.times for attempt in alike)


def _line(text: str, shown: Sequence[Step]) -> DiaryLine:
    sources: dict[MessageId, None] = dict.fromkeys(source for step in shown for source in step.sources)
    return DiaryLine(text=text, sources=tuple(sources))
