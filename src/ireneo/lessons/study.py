"""Read a run for all that it teaches: its diary, and what it shows of claims."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from ireneo.lessons.asked import asked_again, refused_again
from ireneo.lessons.attempts import read_tasks
from ireneo.lessons.explanations import Said
from ireneo.lessons.findings import demands, facts, findings, noted_claims
from ireneo.lessons.rulings import rulings
from ireneo.lessons.run import DiaryEntry, Observation, costs_of
from ireneo.lessons.run import sum_costs as cost_sum
from ireneo.lessons.shell import RunMaterial, run_steps, tried_calls
from ireneo.lessons.traps import failures, mended
from ireneo.lessons.write_diary import AgentNotes, write_diary
from ireneo.log.message import Count


def observations_of(material: RunMaterial) -> list[Observation]:
    """The observations of a run: what failed and how it was got over, what was found out, what is so."""
    run = tried_calls(material)
    said = Said(material.messages)
    traps = failures(material, run, said)
    told = {each.way_out for each in traps if each.way_out}
    if material.outcome == "bad":
        return [*traps, *demands(material, run)]
    return [
        *traps,
        *mended(material, {message.id: message for message in material.messages}, run),
        *findings(material, run, said, told),
        *demands(material, run),
        *facts(material, run, said),
    ]


MOST_SOURCES, MOST_AGAINST = 8, 4
MOST_ENTRIES = 500
"""Tasks of one run that its diary keeps, the latest ones: who reads it wants to know where the run stands."""
READERS: tuple[Callable[[RunMaterial], Sequence[Observation]], ...] = (
    observations_of,
    rulings,
    asked_again,
    refused_again,
    noted_claims,
)
"""What looks for claims in a run; another sort of claim is one more of these."""


class Studied(Struct, frozen=True, kw_only=True):
    """What a run, or a window of a long one, teaches."""

    entries: tuple[DiaryEntry, ...] = ()
    observations: tuple[Observation, ...] = ()
    messages: int = 0
    calls: int = 0
    failures: int = 0
    lost_tokens: int = 0
    lost_seconds: float = 0.0


def study(material: RunMaterial, count: Count, written: Sequence[AgentNotes] = ()) -> Studied:
    """Read one run, or a window of it; what its agent has `written` leads in the diary."""
    costs = costs_of(material.messages)
    done = run_steps(material)
    failed = [step for step in done if step.failed_itself]
    lost = cost_sum(costs[name] for step in failed for name in step.sources)
    return Studied(
        entries=write_diary(material, read_tasks(material), count, written),
        observations=tuple(observation for read in READERS for observation in read(material)),
        messages=len(material.messages),
        calls=len(done),
        failures=len(failed),
        lost_tokens=lost.tokens,
        lost_seconds=lost.seconds,
    )


def join_windows(studied: Iterable[Studied]) -> Studied:
    """The windows of one run as one; of each claim what all of them show.

    They are taken in one by one, so that no more is held of a run than of its claims, however long it is.
    """
    out = Studied()
    claims: dict[str, Observation] = {}
    entries: deque[DiaryEntry] = deque(maxlen=MOST_ENTRIES)
    for each in studied:
        entries.extend(each.entries)
        for observation in each.observations:
            known = claims.get(observation.cue)
            claims[observation.cue] = observation if known is None else _both(known, observation)
        out = Studied(
            messages=out.messages + each.messages,
            calls=out.calls + each.calls,
            failures=out.failures + each.failures,
            lost_tokens=out.lost_tokens + each.lost_tokens,
            lost_seconds=out.lost_seconds + each.lost_seconds,
        )
    return replace(out, entries=tuple(entries), observations=tuple(claims.values()))


def sum_observations(observations: Iterable[Observation]) -> list[Observation]:
    """The observations of one run, one for each claim; its words are those that were told first."""
    out: dict[str, Observation] = {}
    for each in observations:
        known = out.get(each.cue)
        out[each.cue] = each if known is None else _both(known, each)
    return list(out.values())


def _both(one: Observation, other: Observation) -> Observation:
    """`one` and then `other`; the sources of the words that stand come first, since they show them."""
    worded = one if one.text else other
    rest = other if worded is one else one
    times = [at for at in (one.at, other.at) if at is not None]
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
