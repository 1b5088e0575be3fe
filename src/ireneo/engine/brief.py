"""Give a turn what it needs of all four kinds, each by its cue, and a session's beginning its lessons.

No model is asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from msgspec.structs import replace

from ireneo.engine.projects import place_all
from ireneo.engine.remember import used
from ireneo.engine.resources import Resources
from ireneo.engine.scope import KIND_NAMES, Scope, ScopeLimits
from ireneo.engine.scratchpad import check_pad
from ireneo.engine.serving import Nearness, Shelf, nearness
from ireneo.engine.vectors import HeldVectors
from ireneo.errors import BadInput, MemoryNotFound, StoreError
from ireneo.grounding.neutral import neutralise
from ireneo.lessons.lessons import (
    applies,
    cues_to_read,
    expected_cost,
    is_in_sight,
    projects_of,
    share_of,
    standing_of,
    without_remedies_told,
)
from ireneo.lessons.relevance import RELATED, Goal, content_of
from ireneo.lessons.rulings import merged_rulings, reach
from ireneo.lessons.run import Observation, is_ruling
from ireneo.memories.brief import LEAST_BUDGET, Brief, BriefCandidate, BriefLine, make_brief
from ireneo.memories.kinds import worth
from ireneo.memories.record import Kind, Record, is_kept, supporting
from ireneo.memories.scratchpad import checked_task
from ireneo.memories.serving import Purpose
from ireneo.memories.signature import action_of, action_signature
from ireneo.ports.memories import MemoryFilter
from ireneo.ports.store import Transaction

A_RULING = 1_000_000.0
"""What a ruling is worth beside what failures cost: the user's word stands first."""
MOST_GENERAL = 3
"""Rulings that stand whatever the goal is."""
MOST_CONCERNING = 12
"""Lessons that are told of one goal."""
MOST_RUNS = 300
"""Past runs whose goals are compared with the one at hand, the latest."""
LEAST_SHARE = 0.5
"""A way of doing something that helps less often than that is not recommended."""


def opening_lessons(
    records: Sequence[Record],
    observations: Mapping[str, Sequence[Observation]],
    now: datetime,
    project: str,
    goal: Goal | None = None,
) -> list[BriefLine]:
    """The lessons for a run of `project`, each with what it is expected to save.

    With a `goal` those that concern it, and the rulings that several runs, or the user's review, show to be general.
    `observations` are those of their cues, and of the occasions of these (`cues_to_read`).
    """
    lines: list[BriefLine] = []
    here = [each for each in records if each.holds and each.cue and applies(projects_of(each), project)]
    always = {each.id for each in general_rulings(here)}
    for record in here:
        seen = [each for cue in cues_to_read(record.cue) for each in observations.get(cue, ())]
        share = share_of(seen)
        if record.kind != "failure" and share < LEAST_SHARE and not is_kept(record):
            continue
        own = [each for each in seen if each.cue == record.cue]
        concerns = 1.0 if goal is None or record.id in always else _concern(goal, record, own)
        if goal is not None and concerns < RELATED:
            continue
        cost = expected_cost(own, now, project) * concerns
        if record.kind != "failure":
            # What failed has cost just as often as it came true; of anything else that is still to be reckoned with.
            cost *= share
        if is_ruling(record.cue):
            cost += A_RULING
        line = BriefLine(
            id=record.id,
            kind=record.kind,
            text=record.text,
            score=round(cost, 3),
            why=standing_of(seen).words,
        )
        lines.append(line)
    lines.sort(key=lambda each: (-each.score, each.id))
    return lines if goal is None else lines[:MOST_CONCERNING]


def general_rulings(records: Sequence[Record]) -> list[Record]:
    """The few rulings that stand whatever the goal is: those of several runs, and those that the user kept."""
    ruled = [each for each in records if is_ruling(each.cue) and (is_kept(each) or len(each.sessions) > 1)]
    return sorted(ruled, key=lambda each: (not is_kept(each), -len(each.sessions), -reach(each.text), each.id))[
        :MOST_GENERAL
    ]


def _concern(goal: Goal, record: Record, own: Sequence[Observation]) -> float:
    if any(each.trigger is not None and goal.names(each.trigger) for each in own):
        return 1.0
    return goal.concerns(content_of(record.text), {each.session for each in supporting(record)})


BUDGET = 1_500
OF_EACH = 20
"""So many memories of a kind are looked at for a brief."""
READ = 2_000
"""So many failures are compared by their action."""
TOGETHER = 200
"""Claims whose observations are read at one time."""
SHELL = "bash"
"""The tool that an action without one is taken for."""


class BriefCue(ScopeLimits, frozen=True, kw_only=True):
    """What a turn is about; with a project its lessons stand first, with those of several."""

    goal: str = ""
    task_type: str = ""
    situation: str = ""
    about_to: str = ""
    """The action about to be taken: a command, or a tool, a colon and what it is given."""


async def brief(
    resources: Resources, space: str, held: HeldVectors, cue: BriefCue, task: str | None, budget: int
) -> Brief:
    """The brief of a turn within `budget` tokens; what it shows is marked as used.

    A store that can't be written to at the moment loses nothing but the mark: `unmarked` says so then.
    """
    if isinstance(budget, bool) or not isinstance(budget, int):
        raise BadInput(f"`budget` is {budget!r}; give a whole number of tokens.")
    if budget < LEAST_BUDGET:
        raise BadInput(f"A brief of {budget:,} tokens has room for nothing; give at least {LEAST_BUDGET}.")
    name = None if task is None else checked_task(task)
    now = resources.clock.now()
    if cue.project is not None:
        await place_all(resources.store, space)

    asked = {text: await nearness(resources.embedder, text) for text in {cue.goal, cue.situation, cue.about_to}}

    def compose(tx: Transaction) -> Brief:
        pad = tx.pads.read(space, name) if name else None
        if name:
            check_pad(tx, space, name, pad, cue.project)
        scope = Scope.of(tx, space, cue)
        shelf = Shelf(tx, space, cue, scope, now, held)
        found, said = _found(tx, space, cue, scope, shelf, asked)
        found = [replace(each, record=_inert(each.record)) for each in found]
        lessons = _opening_lessons(tx, space, cue, now, scope) if cue.project else []
        return make_brief(pad, found, now, budget, resources.count, lessons, shelf.standing(cue.goal), said)

    made = await resources.store.read(compose)
    shown = [line.id for line in made.lines if line.kind != "message"]
    if not shown:
        return made
    try:
        await resources.store.write(used, resources, space, shown)
    except (StoreError, MemoryNotFound) as error:
        # It was read, and serves as it is; another may have erased one of them since.
        return replace(made, unmarked=str(error))
    return made


def _inert(record: Record) -> Record:
    """A memory whose words can't be taken for an instruction, unless they are the user's."""
    return record if record.origin == "user" else replace(record, text=neutralise(record.text))


def _found(
    tx: Transaction, space: str, cue: BriefCue, scope: Scope, shelf: Shelf, asked: Mapping[str, Nearness | None]
) -> tuple[list[BriefCandidate], list[BriefLine]]:
    """What serves the goal, what happened in situations like this one, and what must be heeded before the next act.

    Beside the memories what the user said, as far as none of them says it.
    """
    out = _procedures(tx, space, cue.task_type, shelf.now, scope) if cue.task_type.strip() else []
    said: list[BriefLine] = []
    looks: tuple[tuple[str, tuple[Kind, ...]], ...] = (
        (cue.goal, KIND_NAMES),
        (cue.situation, ("episodic",)),
        (cue.about_to, ("failure",)),
    )
    for text, kinds in looks:
        if text.strip():
            found, words = shelf.serving(Purpose(text), asked[text], kinds)
            said += words if kinds == KIND_NAMES else []
            # Which lessons of a project concern its goal, they are asked themselves.
            out += [each for each in found if not (cue.project and each.record.cue)]
    if cue.about_to.strip():
        out += _failures(tx, space, cue.about_to, shelf.now, scope)
    return out, said


def _opening_lessons(tx: Transaction, space: str, cue: BriefCue, now: datetime, scope: Scope) -> list[BriefLine]:
    """The lessons of a project, by what they are expected to save; those that concern the goal, where one is given."""
    project = cue.project or ""
    wanted = MemoryFilter(states=("active",), lessons=True, archived=False)
    listed = tx.memories.list(space, wanted, READ)
    # What was seen in one project alone is none of another's business, however well it reads.
    here = [each for each in listed if each.cue and applies(projects_of(each), project)]
    records = merged_rulings([each for each in scope.seen(here) if each is not None])
    cues = list(dict.fromkeys(name for each in records for name in cues_to_read(each.cue)))
    observed: dict[str, list[Observation]] = {}
    for start in range(0, len(cues), TOGETHER):
        for each in tx.runs.observations(space, cues[start : start + TOGETHER]):
            observed.setdefault(each.cue, []).append(each)
    told = [each for each in records if is_kept(each) or not is_in_sight(observed.get(each.cue, ()))]
    records = without_remedies_told(told)
    goal = None
    if cue.goal.strip():
        runs = [each for each in tx.runs.list(space, MOST_RUNS) if each.project == project]
        goal = Goal(cue.goal, runs, [content_of(each.text) for each in records], cue.task_type.strip())
    return opening_lessons(records, observed, now, project, goal)


def _procedures(tx: Transaction, space: str, task_type: str, now: datetime, scope: Scope) -> list[BriefCandidate]:
    """Those of just this task type: how a task is done is never found by likeness."""
    # Another version may hold of what is seen from here than of all there is.
    every = tx.memories.list(space, MemoryFilter(kind="procedural", task_type=task_type, archived=False))
    listed = [each for each in scope.seen(every) if each is not None and each.state == "active"]
    ranked = sorted(listed, key=lambda each: -worth(each, now))[:OF_EACH]
    return [
        BriefCandidate(record=each, score=worth(each, now), why=f"the task type is {each.task_type}") for each in ranked
    ]


def _failures(tx: Transaction, space: str, about_to: str, now: datetime, scope: Scope) -> list[BriefCandidate]:
    """Those of the same action, however it is written."""
    meant = actions(about_to)
    listed = tx.memories.list(space, MemoryFilter(kind="failure", states=("active",), archived=False), READ)
    alike = [each for each in listed if (action_of(each.signature) or each.signature) in meant]
    same = [each for each in scope.seen(alike) if each is not None and each.state == "active"]
    why = "the same action failed before"
    return [BriefCandidate(record=each, score=10 * worth(each, now), why=why) for each in same]


def actions(about_to: str) -> set[str]:
    """The signatures that an action may have, as it is told: as a command, or as a tool with what it is given."""
    text = about_to.strip()
    tool, colon, given = text.partition(":")
    named = {action_signature(tool, given.strip())} if colon and given.strip() and len(tool.split()) == 1 else set()
    return {text, action_signature(SHELL, text), *named}
