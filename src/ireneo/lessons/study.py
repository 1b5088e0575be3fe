"""Read a run for all that it teaches: its diary, and what it shows of claims."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from ireneo.context.weigh import Count
from ireneo.lessons.attempts import read_tasks
from ireneo.lessons.costs import costs_of
from ireneo.lessons.costs import summed as cost_sum
from ireneo.lessons.diary import Entry
from ireneo.lessons.guard_sightings import failing_sightings
from ireneo.lessons.material import Material, material_steps
from ireneo.lessons.shown import shown
from ireneo.lessons.sighting import Sighting
from ireneo.lessons.write_diary import write_diary
from ireneo.lessons.written import Written

MOST_SOURCES, MOST_AGAINST = 8, 4
MOST_ENTRIES = 500
"""Tasks of one run that its diary keeps, the latest ones: who reads it wants to know where the run stands."""
READERS: tuple[Callable[[Material], Sequence[Sighting]], ...] = (shown, failing_sightings)
"""What looks for claims in a run; another sort of claim is one more of these."""


class Studied(Struct, frozen=True, kw_only=True):
    """What a run, or a window of a long one, teaches."""

    entries: tuple[Entry, ...] = ()
    sightings: tuple[Sighting, ...] = ()
    messages: int = 0
    calls: int = 0
    failures: int = 0
    lost_tokens: int = 0
    lost_seconds: float = 0.0


def study(material: Material, count: Count, written: Sequence[Written] = ()) -> Studied:
    """Read one run, or a window of it; what its agent has `written` leads in the diary."""
    costs = costs_of(material.messages)
    done = material_steps(material)
    failed = [step for step in done if step.failed_itself]
    lost = cost_sum(costs[name] for step in failed for name in step.sources)
    return Studied(
        entries=write_diary(material, read_tasks(material), count, written),
        sightings=tuple(sighting for read in READERS for sighting in read(material)),
        messages=len(material.messages),
        calls=len(done),
        failures=len(failed),
        lost_tokens=lost.tokens,
        lost_seconds=lost.seconds,
    )


def joined(studied: Iterable[Studied]) -> Studied:
    """The windows of one run as one; of each claim what all of them show.

    They are taken in one by one, so that no more is held of a run than of its claims, however long it is.
    """
    out = Studied()
    claims: dict[str, Sighting] = {}
    entries: deque[Entry] = deque(maxlen=MOST_ENTRIES)
    for each in studied:
        entries.extend(each.entries)
        for sighting in each.sightings:
            known = claims.get(sighting.cue)
            claims[sighting.cue] = sighting if known is None else _both(known, sighting)
        out = Studied(
            messages=out.messages + each.messages,
            calls=out.calls + each.calls,
            failures=out.failures + each.failures,
            lost_tokens=out.lost_tokens + each.lost_tokens,
            lost_seconds=out.lost_seconds + each.lost_seconds,
        )
    return replace(out, entries=tuple(entries), sightings=tuple(claims.values()))


def summed(sightings: Iterable[Sighting]) -> list[Sighting]:
    """The sightings of one run, one for each claim; its words are those that were told first."""
    out: dict[str, Sighting] = {}
    for each in sightings:
        known = out.get(each.cue)
        out[each.cue] = each if known is None else _both(known, each)
    return list(out.values())


def _both(one: Sighting, other: Sighting) -> Sighting:
    """`one` and then `other`; the sources of the words that stand come first, since they show them."""
    worded = one if one.text else other
    rest = other if worded is one else one
    times = [at for at in (one.at, other.at) if at is not None]
    return replace(
        worded,
        at=max(times, default=None),
        held=one.held + other.held,
        broke=one.broke + other.broke,
        limits=one.limits or other.limits,
        sources=tuple(dict.fromkeys((*worded.sources, *rest.sources)))[:MOST_SOURCES],
        against=tuple(dict.fromkeys((*one.against, *other.against)))[:MOST_AGAINST],
        tokens=one.tokens + other.tokens,
        seconds=one.seconds + other.seconds,
    )
