"""The lines that a task may have in the diary, each with its worth: what there is room for is chosen by that."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Literal

from msgspec import Struct

from ireneo.context.offline.prose import clip
from ireneo.context.offline.steps import Step
from ireneo.grounding.neutral import instruction_like
from ireneo.lessons.attempts import Attempt, Task
from ireneo.lessons.diary import DiaryLine
from ireneo.lessons.pattern import pattern_of
from ireneo.lessons.step_words import MOST_OF_AN_ERROR, cause, changes_named, error_quoted, named, telling
from ireneo.lessons.ways import way
from ireneo.log.message import MessageId
from ireneo.patterns import lazy_re

Section = Literal["attempted", "worked", "failed", "pattern", "plain"]
"""Where a line stands; a plain one is all that is said of a task in which nothing went wrong."""

DEAD_END = 8.0
UNDONE = 8.0
REFUSED = 5.5
"""A user's no; with the reason given it is worth a dead end."""
GOT_OVER = 8.0
"""A failure that was got over, and how: the two are worth about the same, so that they are told together."""
EASILY = 4.0
"""What both lose where a file only had to be read first: that any model knows."""
SAME_CALL = 1.5
"""What each further way in which one call failed loses."""
PATTERN = 7.0
UNSAID = 3.0
"""What a failure loses that came without a word."""
HELD = 5.0
RECURRED = 1.5
"""What a failure gains each time that it came again."""
TRIED = {"failed": 4.5, "replaced": 4.5, "abandoned": 4.5, "undone": 4.5, "rejected": 4.0, "worked": 2.0, "open": 1.0}
"""Of the approaches in their order, by outcome; one that worked after another failed is worth more."""
TRIED_AFTER_ALL = 4.5
PLAIN = 3.0
"""What a task is worth in which nothing went wrong: a line at the most."""
_WORDS = {
    "rejected": "the user said no",
    "undone": "taken back",
    "abandoned": "failed, given up",
    "replaced": "failed, replaced",
}
"""How an outcome is told in the list of approaches."""
LEAST_WORTH = 3.0
"""A task in which nothing went wrong and that is worth less is passed over where there is anything else to say."""
_REASON = lazy_re(
    r"(?:user said|provided the following reason[^:]{0,200}|reason):\s*(?P<words>.+)", re.IGNORECASE | re.DOTALL
)
_MOST_OF_A_REASON = 120
_ASKS_ONLY = lazy_re(r"--(?:version|help)\b")
"""What makes of a check a question about the tool."""


class Candidate(Struct, frozen=True, kw_only=True):
    """A line that the diary may show."""

    section: Section
    line: DiaryLine
    worth: float


def candidates(task: Task, error: int = MOST_OF_AN_ERROR) -> list[Candidate]:
    """Every line that `task` may have, in the order in which they would stand, with `error` characters of an error."""
    failures = any(attempt.outcome not in ("worked", "open") or attempt.error for attempt in task.attempts)
    if not failures:
        return [each for each in (_plain(task),) if each is not None]
    found = [*_tried(task), *_worked(task), *_failed(task, error), *_pattern(task)]
    # One refusal may be worded as another, and is told once; the approaches are a list in their order.
    once = {(each.section, each.line.text): each for each in reversed(found) if each.section != "attempted"}
    kept = [each for each in found if each.section == "attempted" or once[each.section, each.line.text] is each]
    return [each for each in kept if not instruction_like(each.line.text)]


def _plain(task: Task) -> Candidate | None:
    """One line for a task in which nothing went wrong: what was changed, and what passed."""
    changed = [step for attempt in task.attempts for step in attempt.steps if _changes(step)]
    held = _held(task)
    done = {named(attempt.step): attempt.step for attempt in task.attempts if attempt.outcome == "worked"}
    used = list(done.values())[-2:]
    if changed:
        text = changes_named(changed) + (f"; {_listed(held)} passed" if held else "")
    elif used:
        text = f"{_listed(used)} worked"
    else:
        return None
    # A change whose check nobody saw says little.
    worth = (PLAIN if changed and held else 1.0) + _weight(task.cost.tokens)
    line = _line(f"{text}.", [*telling(changed), *held] if changed else used)
    return None if instruction_like(line.text) else Candidate(section="plain", line=line, worth=worth)


def _tried(task: Task) -> Iterator[Candidate]:
    """The approaches in order, each with its outcome; the same one again is counted, checks that passed are one."""
    troubled = False
    tried = [each for each in task.attempts if each.changed or each.outcome != "worked" or not _saves(each.step)]
    for (text, passed), group in groupby(tried, key=_alike):
        attempts = list(group)
        first, times = attempts[0], sum(attempt.times for attempt in attempts)
        worth = TRIED[first.outcome]
        if first.outcome == "worked" and troubled and (first.changed or passed):
            worth = TRIED_AFTER_ALL
        troubled = first.outcome not in ("worked", "open")
        shown = [*telling(first.changed), first.step, attempts[-1].step]
        if passed:
            shown = list({named(attempt.step): attempt.step for attempt in attempts}.values())
            text = f"{_listed(shown[:2])}{' and others' if len(shown) > 2 else ''} — passed"
        elif times > 1:
            text = f"{text} ×{times}"
        yield Candidate(section="attempted", line=_line(text, shown[:4]), worth=worth)


def _alike(attempt: Attempt) -> tuple[str, bool]:
    if attempt.outcome == "worked" and attempt.step.action.deed == "check" and not attempt.changed:
        return "", True
    return f"{_approach(attempt)} — {_outcome(attempt)}", False


def _approach(attempt: Attempt) -> str:
    if attempt.changed and not _changes(attempt.step):
        return f"{changes_named(attempt.changed)}, then {named(attempt.step)}"
    return changes_named(attempt.steps) if attempt.changed else named(attempt.step)


def _outcome(attempt: Attempt) -> str:
    if attempt.outcome == "open":
        return "failed, and was left so" if attempt.step.failed else "not checked"
    if attempt.outcome == "worked":
        return "passed" if attempt.step.action.deed == "check" else "worked"
    return _WORDS.get(attempt.outcome, "failed")


def _failed(task: Task, error: int) -> Iterator[Candidate]:
    """What went wrong, once for each failure however often it came, and what was taken instead."""
    groups: dict[str, list[Attempt]] = {}
    for attempt in task.attempts:
        if attempt.outcome == "rejected":
            yield _refused(attempt)
        elif attempt.outcome == "undone":
            yield _undone(attempt, error)
        elif attempt.error or attempt.step.failed:
            groups.setdefault(cause(attempt.step) or way(attempt.step), []).append(attempt)
    told: list[str] = []
    for alike in groups.values():
        last, times = alike[-1], sum(attempt.times for attempt in alike)
        like_it = " and the like" if len({way(attempt.step) for attempt in alike}) > 1 else ""
        counted = f" {times} times" if times > 1 else ""
        text = f"{named(last.step)}{like_it} failed{counted}{error_quoted(last.step, error)}"
        shown = [last.step]
        if last.instead is not None:
            other = named(last.instead)
            how = f"{other} worked instead" if other != named(last.step) else "in another form it worked"
            text, shown = f"{text}; {how}", [*shown, last.instead]
        elif last.outcome == "abandoned":
            text = f"{text}; given up"
        worth = DEAD_END + RECURRED * min(times - 1, 3) + _weight(sum(attempt.cost.tokens for attempt in alike))
        worth -= EASILY * _easily(last) + SAME_CALL * told.count(way(last.step))
        told.append(way(last.step))
        if not error_quoted(last.step):
            worth -= UNSAID
        yield Candidate(section="failed", line=_line(f"{text}.", shown), worth=worth)


def _refused(attempt: Attempt) -> Candidate:
    found = _REASON.search(attempt.step.output)
    reason = (
        clip(" ".join(found["words"].split()).replace("“", '"').replace("”", '"'), _MOST_OF_A_REASON) if found else ""
    )
    text = f"the user said no to {named(attempt.step)}" + (f": “{reason}”" if reason else "")
    return Candidate(section="failed", line=_line(f"{text}.", [attempt.step]), worth=DEAD_END if reason else REFUSED)


def _undone(attempt: Attempt, error: int) -> Candidate:
    steps = [*telling(attempt.changed), attempt.step]
    text = f"{_approach(attempt)} was taken back"
    if attempt.instead is not None and attempt.instead.action.shell:
        text = f"{text} by {named(attempt.instead)}"
        steps.append(attempt.instead)
    if attempt.step.failed:
        text += error_quoted(attempt.step, error)
    worth = UNDONE + _weight(attempt.cost.tokens)
    return Candidate(section="failed", line=_line(f"{text}.", steps), worth=worth)


def _worked(task: Task) -> Iterator[Candidate]:
    """How failures were got over, each once, and what held in the end."""
    told: dict[str, Candidate] = {}
    for attempt in task.attempts:
        if attempt.over is None:
            continue
        how = _remedy(attempt)
        if how:
            word = "passed" if attempt.over.action.deed == "check" else "worked"
            line = _line(
                f"{named(attempt.over)} {word} {how}.", [*telling(_changed(attempt.by)), *attempt.by[-1:], attempt.over]
            )
            worth = GOT_OVER + _weight(attempt.cost.tokens)
            told[named(attempt.over)] = Candidate(section="worked", line=line, worth=worth)
    yield from told.values()
    held = [step for step in _held(task) if named(step) not in told]
    if held:
        text = f"{_listed(held)} passed in the end."
        yield Candidate(section="worked", line=_line(text, held), worth=HELD)


def _remedy(attempt: Attempt) -> str:
    changes = _changed(attempt.by)
    if changes:
        return f"after {changes_named(changes)}"
    helped = named(attempt.by[-1]) if attempt.by else ""
    return f"after {helped}" if helped and attempt.over and helped != named(attempt.over) else ""


def _easily(attempt: Attempt) -> bool:
    return bool(attempt.by) and attempt.by[-1].action.deed == "read"


def _held(task: Task) -> list[Step]:
    """The checks that passed last, behind the last change; at most two, none where the last check failed."""
    if task.held is None:
        return []
    out: dict[str, Step] = {}
    for step in reversed(task.steps):
        if _changes(step) and out:
            break
        if step.action.deed == "check" and step.result is not None:
            if step.failed:
                break
            if not _ASKS_ONLY.search(step.command):
                out.setdefault(named(step), step)
    return list(out.values())[1::-1]


def _pattern(task: Task) -> Iterator[Candidate]:
    found = pattern_of(task)
    if found is not None:
        yield Candidate(section="pattern", line=found, worth=PATTERN)


def _listed(shown: Sequence[Step]) -> str:
    return " and ".join(named(step) for step in shown)


def _saves(step: Step) -> bool:
    return step.action.deed == "save"


def _changed(done: Iterable[Step]) -> list[Step]:
    return [step for step in done if _changes(step)]


def _changes(step: Step) -> bool:
    return step.action.deed in ("edit", "write") and not step.failed


def _weight(tokens: int) -> float:
    """What a cost adds to a line's worth: 0 to 3, one for each fourfold of a thousand tokens or so."""
    return min(3.0, math.log2(1 + tokens / 1_000))


def _line(text: str, shown: Sequence[Step]) -> DiaryLine:
    return DiaryLine(text=text, sources=sources_of(shown))


def sources_of(shown: Iterable[Step]) -> tuple[MessageId, ...]:
    """The messages that show these calls, each once."""
    return tuple(dict.fromkeys(source for step in shown for source in step.sources))
