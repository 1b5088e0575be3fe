"""A run read as goals, attempts and outcomes: what was tried for each goal, what came back, what held in the end."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct

from ireneo.context.actions import CHANGES
from ireneo.context.offline.dead_ends import put_back, thrown_away
from ireneo.context.offline.errors import is_environment
from ireneo.context.offline.steps import Step, steps
from ireneo.lessons.costs import Cost, costs_of, summed
from ireneo.lessons.goals import Stretch, stretches
from ireneo.lessons.instead import got_over, replaced_by
from ireneo.lessons.material import Material
from ireneo.lessons.step_words import cause
from ireneo.lessons.ways import Course, way
from ireneo.log.message import MessageId
from ireneo.patterns import lazy_re

Outcome = Literal["worked", "failed", "replaced", "abandoned", "undone", "rejected", "open"]
"""It went well; it failed, and went well later on; another way was taken; it was given up; it went well and was taken
back; the user said no; nobody saw how it ends (a change that nothing checked, the last call of a run that failed)."""
LED_NOWHERE = frozenset({"failed", "replaced", "abandoned", "undone"})
"""The outcomes whose cost was lost."""

_TIDIES = lazy_re(r"^\s*(?:cd\s+\S+\s*&&\s*)?rm\b")
_NOTES = lazy_re(r"^(?:todo|task|skill|think|agent$|(?:exit|enter)planmode)", re.IGNORECASE)
"""Tools by which an agent takes notes or hands work on: that they answered shows nothing."""
_REVERTS = lazy_re(r"\bgit (?:checkout|restore|revert|reset|stash)\b")


class Attempt(Struct, frozen=True, kw_only=True):
    """One way to an end: a call, the same call again, or changes with the call that checked them."""

    step: Step
    """The call that tells how it went; of several alike the last."""
    changed: tuple[Step, ...] = ()
    """The changes that it tried out."""
    times: int = 1
    """How often it was done so, one time after the other."""
    outcome: Outcome
    over: Step | None = None
    """The later call that did the same and went well."""
    by: tuple[Step, ...] = ()
    """What was done between the two that may have helped."""
    instead: Step | None = None
    """The other way that was taken and went well, or the call that took it back."""
    cost: Cost = Cost()

    @property
    def error(self) -> str:
        """The line that said what went wrong, as it stands in the result; empty where nothing did."""
        return self.step.error

    @property
    def steps(self) -> tuple[Step, ...]:
        """Its calls, in order."""
        return (*self.changed, self.step)

    @property
    def sources(self) -> tuple[MessageId, ...]:
        """The messages that show it."""
        return tuple(dict.fromkeys(source for step in self.steps for source in step.sources))


class Task(Struct, frozen=True, kw_only=True):
    """A goal, and what was done for it."""

    goal: str
    """What was asked for, in the user's words, shortened; empty where nobody asked."""
    opening: MessageId
    """The message that asked."""
    last: MessageId
    steps: tuple[Step, ...]
    attempts: tuple[Attempt, ...]
    cost: Cost
    """What all of it cost."""

    @property
    def held(self) -> Step | None:
        """The check that passed in the end: the last one, unless it failed."""
        checks = [step for step in self.steps if step.action.deed == "check" and step.result is not None]
        return checks[-1] if checks and not checks[-1].failed else None

    @property
    def lost(self) -> Cost:
        """What the attempts cost that led nowhere."""
        return summed(attempt.cost for attempt in self.attempts if attempt.outcome in LED_NOWHERE)


def read_tasks(material: Material) -> tuple[Task, ...]:
    """Read a run: what was asked for, one after the other, with what was tried for it."""
    costs = costs_of(material.messages)
    return tuple(_task(stretch, costs) for stretch in stretches(material.messages))


def _task(stretch: Stretch, costs: Mapping[MessageId, Cost]) -> Task:
    done = steps(stretch.messages)
    shares = _shares(done, costs)
    return Task(
        goal=stretch.goal,
        opening=stretch.opening,
        last=stretch.messages[-1].id,
        steps=tuple(done),
        attempts=tuple(_attempts(done, shares)),
        cost=summed(costs[message.id] for message in stretch.messages),
    )


def _shares(done: Sequence[Step], costs: Mapping[MessageId, Cost]) -> list[Cost]:
    """What each call cost: its part of the message that made it, and of the one that brought its result."""
    asked: dict[MessageId, int] = {}
    answered: dict[MessageId, int] = {}
    for step in done:
        asked[step.source] = asked.get(step.source, 0) + len(step.command) + 1
        if step.answer:
            answered[step.answer] = answered.get(step.answer, 0) + len(step.output) + 1
    out: list[Cost] = []
    for step in done:
        share = costs[step.source].share((len(step.command) + 1) / asked[step.source])
        back = costs[step.answer].share((len(step.output) + 1) / answered[step.answer]) if step.answer else Cost()
        out.append(summed((share, back)))
    return out


class _Tried(Struct):
    """An attempt while it is being read: the places of its steps."""

    place: int
    changed: list[int]
    times: int = 1
    places: list[int] = []

    @property
    def all(self) -> list[int]:
        return [*self.changed, *self.places, self.place]


def _attempts(done: Sequence[Step], costs: Sequence[Cost]) -> list[Attempt]:
    course, back = Course(done), _taken_back(done)
    return [_settled(tried, course, costs, back) for tried in _tried(done)]


def _tried(done: Sequence[Step]) -> list[_Tried]:
    """Put the calls together to attempts: changes go with what checks them, a failure with the same one again."""
    out: list[_Tried] = []
    changes: list[int] = []
    last: _Tried | None = None
    failed_before: set[str] = set()
    for place, step in enumerate(done):
        deed, bad = step.action.deed, step.failed_itself
        if step.result is None or (step.failed and not bad and not step.rejected):
            continue
        if _says_nothing(step):
            continue
        if deed in CHANGES and not step.failed:
            changes.append(place)
            continue
        again = last is not None and not changes and way(done[last.place]) == way(step)
        if last is not None and again and bad == done[last.place].failed_itself:
            last.places.append(last.place)
            last.place, last.times = place, last.times + 1
            continue
        tries = deed == "check" or (deed in ("run", "use", "save") and _names(step, [done[at] for at in changes]))
        if not (bad or step.rejected or tries or deed in ("save", "use") or way(step) in failed_before):
            continue
        tested = changes if tries or (deed == "save" and not step.failed) else []
        last = _Tried(place=place, changed=list(tested), places=[])
        if tested:
            changes = []
        if bad:
            failed_before.add(way(step))
        out.append(last)
    if changes:
        out.append(_Tried(place=changes[-1], changed=changes[:-1], places=[]))
    return out


def _says_nothing(step: Step) -> bool:
    """Whether a call tried nothing: a search that found nothing, a file that is tidied away, the agent's own notes."""
    if step.action.deed in ("search", "read") and step.failed:
        return not cause(step)
    if step.action.deed in CHANGES:
        return bool(_TIDIES.search(step.command))
    handed_on = step.failed and step.call.name.lower() in ("task", "agent")
    return bool(_NOTES.match(step.call.name)) and not handed_on


def _names(step: Step, changes: Sequence[Step]) -> bool:
    """Whether a command names one of the files that were changed before it."""
    command = step.command
    return any(change.action.subject.rsplit("/", 1)[-1] in command for change in changes)


def _taken_back(done: Sequence[Step]) -> dict[int, int]:
    """The places of changes that were taken back, each with the place of what took it back."""
    changes: dict[str, list[int]] = {}
    for place, step in enumerate(done):
        if step.action.deed in CHANGES and not step.failed:
            changes.setdefault(step.action.subject, []).append(place)
    out: dict[int, int] = {}
    for places in changes.values():
        edits = [done[place] for place in places]
        for at, place in enumerate(places):
            if (later := put_back(edits, at)) is not None:
                out[place] = places[later]
    for place in range(len(done)):
        # A file that was made for a trial and removed is tidied up; what version control takes back was wrong.
        for file in thrown_away(done, place) if _REVERTS.search(done[place].command) else ():
            out.update((at, place) for at in changes.get(file, ()) if at < place and at not in out)
    return out


def _settled(tried: _Tried, course: Course, costs: Sequence[Cost], back: Mapping[int, int]) -> Attempt:
    done = course.steps
    step = done[tried.place]
    outcome: Outcome = "worked"
    over = instead = None
    by: tuple[Step, ...] = ()
    edits = [at for at in tried.all if done[at].action.deed in CHANGES and course.well[at]]
    if step.rejected:
        outcome = "rejected"
    elif edits and all(at in back for at in edits):
        outcome, instead = "undone", done[back[edits[-1]]]
    elif step.failed_itself:
        found = got_over(course, tried.place)
        if found or (step.action.deed == "check" and not is_environment(step.error)):
            # A test that fails is what tests are for: nothing is given up by it.
            outcome, over, by = "failed", found.step if found else None, found.by if found else ()
        elif (instead := replaced_by(course, tried.place)) is not None:
            outcome = "replaced"
        else:
            outcome = "open" if tried.place == len(done) - 1 else "abandoned"
    elif step.action.deed in CHANGES:
        outcome = "open"
    return Attempt(
        step=step,
        changed=tuple(done[at] for at in tried.changed),
        times=tried.times,
        outcome=outcome,
        over=over,
        by=by,
        instead=instead,
        cost=summed(costs[at] for at in tried.all),
    )
