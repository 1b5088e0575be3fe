"""How well a memory is still held, from how often and how long ago it was met: base-level activation.

Each time that a memory is met leaves a trace that fades with a power of its age, and the traces add up:

    B = ln(sum over j of t_j ** -d)

with d = 0.5, as in ACT-R. J. R. Anderson and L. J. Schooler, Reflections of the environment in memory, Psychological
Science 2 (1991), found that this is how likely a thing is to be needed again. Of times that are no longer kept one by
one, only their number and between which times they lay is known; A. A. Petrov, Computationally efficient approximation
of the base-level learning equation in ACT-R (2006), puts the mean of t ** -d over that stretch in the place of each,
which for d = 0.5 is 2 / (sqrt(young) + sqrt(old)).

ACT-R's chance of retrieval is 1 / (1 + exp((threshold - B) / noise)); with a noise of 1 and the sum S that is
S / (S + e ** threshold), so that no logarithm is taken where the sum is 0, and the result lies between 0 and 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import datetime

from msgspec import Struct

from ireneo.memories.evidence import for_it
from ireneo.memories.record import Record

YOUNGEST_DAYS = 1 / 24
"""Nothing counts as younger than an hour; what lies in the future is as young as can be."""
THRESHOLD = -2.0
"""The activation at which half is held: met once, 55 days ago."""
REFLECTED_PACE = 4.0
"""How much faster an episode ages once a conclusion was drawn from it."""
_DAY_SECONDS = 86_400


class Met(Struct, frozen=True, kw_only=True):
    """Times at which a memory was met: `count` of them, evenly between two moments (a single one: at both)."""

    first: datetime
    last: datetime
    count: int = 1


def held(met: Iterable[Met], now: datetime, *, pace: float = 1.0, since: datetime | None = None) -> float:
    """How well it is held, from 0 (never met) to 1: it only falls as time goes by, and rises with each meeting."""
    total = _sum(met, now, pace, since)
    return total / (total + math.exp(THRESHOLD))


def meetings(record: Record) -> list[Met]:
    """When a memory was met: the evidence for it, by when that happened, and its uses."""
    evidence = for_it(record)
    met = [Met(first=each.at, last=each.at) for each in evidence]
    let_go = record.seen - len(record.evidence)
    if let_go > 0 and evidence:
        middle = len(evidence) // 2
        met.append(Met(first=evidence[max(0, middle - 1)].at, last=evidence[middle].at, count=let_go))
    met += [Met(first=each, last=each) for each in record.uses]
    unkept = record.used - len(record.uses)
    if unkept > 0 and record.uses:
        oldest = min(record.uses)
        met.append(Met(first=min(record.recorded, oldest), last=oldest, count=unkept))
    return met


def _sum(met: Iterable[Met], now: datetime, pace: float, since: datetime | None) -> float:
    return math.fsum(
        each.count * 2 / (math.sqrt(_age(each.last, now, pace, since)) + math.sqrt(_age(each.first, now, pace, since)))
        for each in met
    )


def _age(moment: datetime, now: datetime, pace: float, since: datetime | None) -> float:
    """Days since `moment`, each counted `pace` times; where `since` is given, only those after it."""
    days = max(0.0, (now - moment).total_seconds() / _DAY_SECONDS)
    if since is None:
        return max(YOUNGEST_DAYS, days * pace)
    hurried = max(0.0, min(days, (now - since).total_seconds() / _DAY_SECONDS))
    return max(YOUNGEST_DAYS, days + (pace - 1) * hurried)
