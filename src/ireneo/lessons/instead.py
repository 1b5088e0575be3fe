"""What was done instead of a call that failed: the same later on, or another way to the same end."""

from __future__ import annotations

import re

from msgspec import Struct

from ireneo.context.actions import CHANGES
from ireneo.context.offline.steps import Step
from ireneo.lessons.ways import Course
from ireneo.patterns import lazy_re

NEAR = 6
"""So many calls later another way may still be one to the same end."""
FAR = 200
"""So many calls before a call that went well may have to do with that."""
_SHARED = 0.5
"""Of the words of a failed call, how many another way has to share with it."""
_WORD = lazy_re(r"[A-Za-z_][\w.-]{2,}")
_THINKS = lazy_re(r"(?:think|todo|task)", re.IGNORECASE)
_HELPS = frozenset({"run", "save", "use", "fetch"})


class GotOver(Struct, frozen=True, kw_only=True):
    """The same call, later, that went well."""

    step: Step
    by: tuple[Step, ...]
    """What was done in between that may have helped; nothing, where trying again was enough."""


def got_over(course: Course, place: int) -> GotOver | None:
    """How the call at `place`, which failed, went well later on; None where it never did."""
    failed = course.steps[place]
    later = course.done_later(place)
    if later is None and failed.action.deed == "check":
        later = _checked_later(course, place)
    if later is None:
        return None
    between = [course.steps[at] for at in range(max(place + 1, later - FAR), later) if course.well[at]]
    helped = [step for step in between if step.action.deed in CHANGES and step.action.subject != failed.action.subject]
    if failed.action.deed in CHANGES or failed.action.deed == "read":
        # A file that would not be changed: it was read, or something was done to it, before it would.
        helped = [step for step in between if _is_about(step, failed.action.subject)]
    elif not helped:
        helped = [step for step in between if step.action.deed in _HELPS and not _THINKS.match(step.call.name)][-1:]
    unique = {(step.action.deed, step.action.subject): step for step in helped}
    return GotOver(step=course.steps[later], by=tuple(unique.values()))


def _checked_later(course: Course, place: int) -> int | None:
    """The place of a later check much like the one at `place` that passed, once something was changed."""
    changed = False
    for later in range(place + 1, min(place + FAR, len(course))):
        step = course.steps[later]
        changed = changed or (step.action.deed in CHANGES and course.well[later])
        if changed and step.action.deed == "check" and _another_way(course, later, place):
            return later
    return None


def replaced_by(course: Course, place: int) -> Step | None:
    """The call soon after `place` that reached the same end another way; None where none did."""
    near = range(place + 1, min(place + 1 + NEAR, len(course)))
    return next((course.steps[at] for at in near if _another_way(course, at, place)), None)


def _another_way(course: Course, place: int, wrong: int) -> bool:
    """Whether the call at `place` went well, and reached what the one at `wrong` was to reach."""
    if not course.well[place] or course.ways[place] == course.ways[wrong]:
        return False
    step, failed = course.steps[place], course.steps[wrong]
    if failed.action.deed in CHANGES or failed.action.deed == "read":
        same_file = _name(step.action.subject) == _name(failed.action.subject)
        return same_file and step.action.deed == failed.action.deed
    if step.action.shell != failed.action.shell:
        return False
    if not failed.action.shell:
        return step.call.name == failed.call.name
    words, theirs = _words(failed.action.subject), _words(step.action.subject)
    if not words or step.action.deed in CHANGES:
        return False
    first, other = failed.action.subject.split()[0], step.action.subject.split()[0]
    shared = len(words & theirs) / len(words)
    return shared >= _SHARED or (first == other and shared > 0 and step.action.deed == failed.action.deed)


def _is_about(step: Step, subject: str) -> bool:
    return _name(subject) in step.command


def _name(path: str) -> str:
    return path.rstrip("/").rsplit("/", 1)[-1]


def _words(command: str) -> set[str]:
    return set(_WORD.findall(command))
