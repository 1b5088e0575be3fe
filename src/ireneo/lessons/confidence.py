"""How often a claim was seen, told in plain words, and the simple share by which lessons are ranked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from msgspec import Struct

from ireneo.lessons.observe import ENDS_IN, GOT_OVER, occasion_of
from ireneo.lessons.run import Category, Observation, is_ruling
from ireneo.memories.wording import month

# A reader can weigh "seen in 5 of 6 runs; last in May 2026". A word for a chance ("high"), or the chance itself, says
# nothing that they could hold against what they know.


HALF_LIFE_DAYS = 120.0
"""When what was seen counts half in a ranking."""
PRIOR: Mapping[Category, float] = {"failure": 0.1, "procedural": 0.5, "factual": 0.9}
"""What claims of a category come to, as far as nothing else is known."""
PRIOR_RUNS = 2.0
"""For how many runs that counts."""
_DAY = 86_400.0


class Standing(Struct, frozen=True, kw_only=True):
    """How often a claim was seen."""

    runs: int = 0
    """Runs that showed it."""
    met: int = 0
    """Runs in which it could have shown, those among them: its program was run, its file looked for."""
    last: datetime | None = None
    """When a run showed it last; None where no log of them has times."""
    is_said: bool = False
    """Of a ruling: it is not seen, it is said."""

    @property
    def words(self) -> str:
        """It as a reader is told: “seen in 5 of 6 runs; last in May 2026”; empty where no run showed it."""
        if not self.runs:
            return ""
        verb = "said" if self.is_said else "seen"
        if max(self.runs, 0 if self.is_said else self.met) == 1:
            return f"{verb} once, in {month(self.last)}" if self.last else f"{verb} once"
        often = f"{self.runs:,}" if self.is_said else f"{self.runs:,} of {self.met:,}"
        return f"{verb} in {often} runs; last in {month(self.last)}" if self.last else f"{verb} in {often} runs"


def standing_of(observations: Sequence[Observation]) -> Standing:
    """How often a claim was seen, from its observations and, where they are given too, those of its occasion.

    The occasion's tell of runs in which the claim could have shown and did not. Their order makes no difference.
    """
    seen = [(each, good) for each, good, bad in tallies(observations) if good + bad > 0]
    shown = [each for each, good in seen if good > 0]
    return Standing(
        runs=len(shown),
        met=len(seen),
        last=max((each.at for each in shown if each.at is not None), default=None),
        is_said=any(is_ruling(each.cue) for each in shown),
    )


def cues_to_read(cue: str) -> tuple[str, ...]:
    """The cues whose observations tell how often the claim `cue` was seen: its own, and its occasion's.

    A trap with its way out was seen wherever the trap was, whatever was done about it.
    """
    trap = cue.partition(GOT_OVER)[0] if ENDS_IN in cue else cue
    return tuple(dict.fromkeys((cue, trap, occasion_of(trap))))


def tallies(observations: Sequence[Observation]) -> list[tuple[Observation, float, float]]:
    """Of each run how often a claim held and how often not; those of its occasion count where it was not seen."""
    if not observations:
        return []
    cue = max((each.cue for each in observations), key=lambda name: (occasion_of(name) != name, len(name), name))
    own = {each.session: each for each in observations if each.cue == cue}
    met = occasion_of(cue)
    missed = {each.session: each for each in observations if met == each.cue != cue and each.session not in own}
    out = [(each, float(each.held), float(each.broke)) for each in own.values()]
    out += [(each, 0.0, float(each.held + each.broke)) for each in missed.values()]
    return sorted(out, key=lambda each: each[0].session)


def share_of(observations: Sequence[Observation]) -> float:
    """How often a claim holds where it is met: the mean over its runs, drawn towards what its category comes to."""
    seen = tallies(observations)
    category: Category = max((each.category for each, _, _ in seen), default="failure")
    shares = [good / (good + bad) for _, good, bad in seen if good + bad > 0]
    return (PRIOR[category] * PRIOR_RUNS + sum(shares)) / (PRIOR_RUNS + len(shares))


def age_weight(at: datetime | None, now: datetime) -> float:
    """What an observation still counts, from 0 to 1; one of no known time counts whole."""
    if at is None:
        return 1.0
    return float(0.5 ** (max(0.0, (now - at).total_seconds() / _DAY) / HALF_LIFE_DAYS))
