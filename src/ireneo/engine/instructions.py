"""The lessons that stand in a project's instructions: a page that its maintainer would commit.

Rulings first, then commands that work, traps with the way out, and findings; what is said already is not said again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

from msgspec import Struct

from ireneo.engine.lessons import Lesson
from ireneo.lessons.observe import DEMANDED, ENDS_IN, EXPLAINED, GOT_OVER
from ireneo.lessons.relevance import SaidAlready, content_of, first_of_each
from ireneo.summaries.pins import binding_strength, own_words

MOST_LINES = 15
"""Lines of one project: more than that nobody reads before each task."""
SECTIONS = ("Rules", "Commands", "Traps", "Findings")
"""The parts of a page, in this order; a part without a line is left out."""
_SHARES = {"Rules": 8, "Commands": 3, "Traps": 6, "Findings": 3}
"""Lines that a part has at most while another one has lines left to tell."""
ASKS = "?"
_COMMAND = "<command:"
"""What stands in the cue of a fact about a command of the project."""


class InstructionPage(Struct, frozen=True, kw_only=True):
    """What stands in the instructions of one project."""

    project: str
    parts: tuple[tuple[str, tuple[Lesson, ...]], ...]
    """The parts that have lines, each by its name."""


def section_of(lesson: Lesson) -> str:
    """The part of a page that a lesson belongs to."""
    if lesson.is_ruling:
        return "Rules"
    if lesson.category == "factual" and _COMMAND in lesson.cue:
        return "Commands"
    if lesson.cue.startswith((EXPLAINED, DEMANDED)):
        return "Findings"
    return "Traps" if lesson.category == "failure" or ENDS_IN in lesson.cue else "Findings"


def said_once(lessons: Sequence[Lesson]) -> list[Lesson]:
    """`lessons` in their order, of those that say the same only one: the one that says what to do, else the first."""
    best = sorted(range(len(lessons)), key=lambda at: (not lessons[at].reviewed, not tells_how(lessons[at]), at))
    kept = first_of_each([content_of(lessons[at].lesson) for at in best])
    return [lessons[at] for at in sorted(best[place] for place in kept)]


def tells_how(lesson: Lesson) -> bool:
    """Whether a lesson says what to do, or why it is so, and not only what fails."""
    return bool(lesson.way_out or lesson.why) or GOT_OVER in lesson.cue


def instructions(
    lessons: Iterable[Lesson],
    *,
    said: Iterable[str] = (),
    offered: Collection[str] = (),
    since: datetime | None = None,
    project: str = "",
) -> list[InstructionPage]:
    """A page for each project, with those of several and of none last; with a `project` all of them on its page.

    `said` are files that are read beside it, `offered` the commands that stand in plain sight in the project's own
    files, with `since` only what was seen from then on.
    """
    already, by_project = SaidAlready(said), dict[str, list[Lesson]]()
    for each in lessons:
        if each.state == "active" and _is_worth_a_line(each, since, offered):
            by_project.setdefault(project or each.project, []).append(each)
    pages: list[InstructionPage] = []
    for name in sorted(by_project, key=lambda name: (not name, name)):
        told = said_once(sorted(by_project[name], key=_by_use))
        chosen = _shared_out([each for each in told if not already.says(content_of(each.lesson))])
        if chosen:
            pages.append(InstructionPage(project=name, parts=chosen))
    return pages


def _is_worth_a_line(lesson: Lesson, since: datetime | None, offered: Collection[str]) -> bool:
    if since is not None and (lesson.last_seen is None or lesson.last_seen < since):
        return False
    if lesson.reviewed:
        return True
    part = section_of(lesson)
    if part == "Rules" and lesson.seen <= 1 and (ASKS in lesson.lesson or not _force(lesson)):
        # What was said once, and neither for good nor in plain words, is as likely to be of that task alone.
        return False
    if part == "Commands" and lesson.category == "factual":
        return not all(code in offered for code in content_of(lesson.lesson).codes)
    return part != "Traps" or tells_how(lesson)


def _by_use(lesson: Lesson) -> tuple[object, ...]:
    """Sort key: reviewed lessons first, then those that most runs would have needed, the latest first."""
    last = -lesson.last_seen.timestamp() if lesson.last_seen else 0.0
    use = (not lesson.reviewed, -lesson.seen, -_force(lesson), last, -lesson.tokens, lesson.id)
    return (SECTIONS.index(section_of(lesson)), *use)


def _force(lesson: Lesson) -> float:
    """How strictly a ruling binds by its words, “always” more than “let's”; 0 for what is no ruling."""
    return max(map(binding_strength, own_words(lesson.lesson)), default=0.0) if lesson.is_ruling else 0.0


def _shared_out(lessons: Sequence[Lesson]) -> tuple[tuple[str, tuple[Lesson, ...]], ...]:
    """Share the lines of a page out to its parts; what one leaves over goes to the others in their order."""
    parts = {name: [each for each in lessons if section_of(each) == name] for name in SECTIONS}
    taken = {name: min(len(parts[name]), _SHARES[name]) for name in SECTIONS}
    while sum(taken.values()) > MOST_LINES:
        taken[max(SECTIONS[1:], key=lambda name: taken[name])] -= 1
    for name in SECTIONS:
        taken[name] += min(len(parts[name]) - taken[name], MOST_LINES - sum(taken.values()))
    return tuple((name, tuple(parts[name][: taken[name]])) for name in SECTIONS if taken[name])
