"""Study a run: write its diary, and collect the observations of claims that it shows.

This is the middle of the pipeline: commands and outputs are parsed (`commands`, `faults`), calls get an outcome
(`shell`) and are grouped into attempts (`attempts`), from which the diary is written (`write_diary`); readers draw
observations from the same calls and from the user's words (`traps`, `findings`, `rulings`, `user_words`). Lessons are
made of the observations of many runs (`lessons`), and the guard's traps of lessons (`lessons`, `guard`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from ireneo.lessons.attempts import read_tasks
from ireneo.lessons.baseline import failing_before
from ireneo.lessons.explanations import RunSentences
from ireneo.lessons.findings import facts, noted_claims
from ireneo.lessons.places import moved_paths
from ireneo.lessons.repositories import REPOSITORY, marks_of_repository, merged_marks
from ireneo.lessons.rulings import rulings
from ireneo.lessons.run import DiaryEntry, Observation, costs_of, sum_costs
from ireneo.lessons.shell import RunMaterial, run_steps, tried_calls
from ireneo.lessons.traps import failures
from ireneo.lessons.user_words import OF_CODING, refused_commands, repeated_wishes
from ireneo.lessons.write_diary import AgentNotes, write_diary
from ireneo.log.message import Count
from ireneo.summaries.steps import CHANGES


def observations_of(material: RunMaterial) -> list[Observation]:
    """The observations that follow from a run's calls: failures with their remedies, facts."""
    run = tried_calls(material)
    said = RunSentences(material.messages)
    traps = [*failures(material, run, said), *failing_before(material, run)]
    if material.outcome == "bad":
        return traps
    return [*traps, *facts(material, run), *moved_paths(material, run)]


MOST_SOURCES, MOST_AGAINST = 8, 4
MOST_ENTRIES = 500
"""How many tasks the diary of a run keeps, the latest ones."""
READERS: tuple[Callable[[RunMaterial], Sequence[Observation]], ...] = (
    observations_of,
    rulings,
    repeated_wishes,
    refused_commands,
    noted_claims,
    marks_of_repository,
)
"""The functions that look for claims in a run; a new kind of claim needs one more."""


class StudyResult(Struct, frozen=True, kw_only=True):
    """The result of studying a run, or a window of a long one."""

    entries: tuple[DiaryEntry, ...] = ()
    observations: tuple[Observation, ...] = ()
    messages: int = 0
    turns: int = 0
    """How many messages of the user open a turn."""
    calls: int = 0
    failures: int = 0
    lost_tokens: int = 0
    lost_seconds: float = 0.0


def study(material: RunMaterial, count: Count, written: Sequence[AgentNotes] = ()) -> StudyResult:
    """Study a run, or a window of it; the notes that its agent has `written` come first in the diary."""
    costs = costs_of(material.messages)
    done = run_steps(material)
    failed = [step for step in done if step.failed_itself]
    lost = sum_costs(costs[name] for step in failed for name in step.sources)
    return StudyResult(
        entries=write_diary(material, read_tasks(material), count, written),
        observations=tuple(observation for read in READERS for observation in read(material)),
        messages=len(material.messages),
        turns=sum(message.opens_turn for message in material.messages),
        calls=len(done),
        failures=len(failed),
        lost_tokens=lost.tokens,
        lost_seconds=lost.seconds,
    )


_WORK = CHANGES | {"run", "check", "save", "use"}
"""Actions that do something; others only look, plan or ask."""
_SEVERAL = 2


def may_teach(whole: StudyResult, source: str) -> bool:
    """Whether a model may find a lesson in a run: something failed, was done, or users said more than one thing.

    In a run that only looked something up, users can only correct the agent from their second message on.
    """
    seen = whole.observations
    if whole.failures or any(each.text or (each.category == "failure" and each.task_type in _WORK) for each in seen):
        return True
    return source in OF_CODING and whole.turns >= (_SEVERAL if whole.calls else 1)


def join_windows(studied: Iterable[StudyResult]) -> StudyResult:
    """Combine the windows of one run; the observations of each claim are summed.

    Windows are consumed one by one, so that memory grows with the claims of a run, not with its length.
    """
    out = StudyResult()
    claims: dict[str, Observation] = {}
    entries: deque[DiaryEntry] = deque(maxlen=MOST_ENTRIES)
    for each in studied:
        entries.extend(each.entries)
        _sum_up(claims, each.observations)
        out = StudyResult(
            messages=out.messages + each.messages,
            turns=out.turns + each.turns,
            calls=out.calls + each.calls,
            failures=out.failures + each.failures,
            lost_tokens=out.lost_tokens + each.lost_tokens,
            lost_seconds=out.lost_seconds + each.lost_seconds,
        )
    return replace(out, entries=tuple(entries), observations=tuple(claims.values()))


def sum_observations(observations: Iterable[Observation]) -> list[Observation]:
    """Sum the observations of one run by claim; the text is that of the first with one."""
    out: dict[str, Observation] = {}
    _sum_up(out, observations)
    return list(out.values())


def _sum_up(claims: dict[str, Observation], observations: Iterable[Observation]) -> None:
    for each in observations:
        known = claims.get(each.cue)
        claims[each.cue] = each if known is None else _add_observations(known, each)


def _add_observations(one: Observation, other: Observation) -> Observation:
    """Sum two observations of a claim; the sources of the text that is kept come first."""
    worded = one if one.text else other
    rest = other if worded is one else one
    times = [at for at in (one.at, other.at) if at is not None]
    if one.cue == REPOSITORY:
        worded = replace(worded, conditions=merged_marks(one.conditions, other.conditions))
    return replace(
        worded,
        at=max(times, default=None),
        held=one.held + other.held,
        broke=one.broke + other.broke,
        vain=one.vain + other.vain,
        limits=one.limits or other.limits,
        sources=tuple(dict.fromkeys((*worded.sources, *rest.sources)))[:MOST_SOURCES],
        against=tuple(dict.fromkeys((*one.against, *other.against)))[:MOST_AGAINST],
        tokens=one.tokens + other.tokens,
        seconds=one.seconds + other.seconds,
    )
