"""How much each artifact is likely to be needed again, from who used it and how."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from ireneo.context.actions import Deed
from ireneo.context.summary import Mention
from ireneo.grounding.artifacts import artifacts

WRITTEN: dict[Deed, float] = {
    "read": 16.0,
    "edit": 12.0,
    "write": 14.0,
    "plan": 20.0,
    "run": 10.0,
    "check": 10.0,
    "save": 10.0,
    "search": 5.0,
    "fetch": 8.0,
    "ask": 8.0,
    "use": 8.0,
}
"""What a name is worth that the agent wrote in a call of this kind: 12 stands for one chance in six that the agent
writes it again. Counted over logs of coding agents, one name in six that an agent wrote in an edit came again, one in
four of the files that it opened, one in fourteen of what it searched for, and one in eighty of what it only saw."""
LEAST_WRITTEN = min(WRITTEN.values())
SUBJECT = 16.0
"""The file or the command itself."""
SAID = 9.0
"""A name in the agent's prose."""
SEEN = 1.0
"""A name in an output."""
SEEN_JUST_NOW = 6.0
"""A name in the newest output is so many times as likely to be used as one in the average output."""
FADING = 0.27
"""What the agent wrote falls in worth with the number of messages since, to this negative power: slowly."""
SEEN_FADING = 0.65
"""What it only saw falls faster: either it is used soon, or hardly ever."""
LINE_START = 2.0
"""A name that begins a line of what the agent wrote is so many times likelier to be written again."""
AGAIN = 0.1
"""Each further use adds this share of its weight: a name that is used eight times is needed half as often again, not
eight times as often."""
MAX_NAMES = 200
"""Names that one line keeps: those of a whole file that the agent wrote, and of a list the likeliest."""


class Tally:
    """Adds up the weights of names over the texts of one line."""

    def __init__(self) -> None:
        self._weights: dict[str, float] = {}

    def add(self, text: str, weight: float) -> None:
        """Count every artifact of `text`."""
        for name in artifacts(text):
            worth = weight * LINE_START if name[0] == "\\" and weight > SEEN else weight
            self._weights[name] = both(self._weights.get(name, 0.0), worth)

    def mentions(self, *, without: str = "", limit: int = MAX_NAMES) -> tuple[Mention, ...]:
        """The names by weight, those that stand in `without` left out."""
        ranked = sorted(self._weights.items(), key=lambda item: -item[1])
        return tuple(Mention(name, round(weight, 2)) for name, weight in ranked if name not in without)[:limit]


def both(one: float, other: float) -> float:
    """The weight of a name that has these two uses."""
    return max(one, other) + AGAIN * min(one, other)


def merged(groups: Iterable[Iterable[Mention]], limit: int = MAX_NAMES) -> tuple[Mention, ...]:
    """Put the names of several lines together; a name that stands in several counts for more."""
    weights: dict[str, float] = {}
    for group in groups:
        for mention in group:
            weights[mention.name] = both(weights.get(mention.name, 0.0), mention.weight)
    return ranked(weights)[:limit]


def ranked(weights: Mapping[str, float]) -> tuple[Mention, ...]:
    """Mentions by weight; equal weights keep the order in which they came."""
    return tuple(Mention(name, round(weight, 2)) for name, weight in sorted(weights.items(), key=lambda item: -item[1]))


def faded(weights: Iterable[float], age: int) -> list[float]:
    """What names of these weights are worth, `age` messages after their last use."""
    of_written, of_seen = math.pow(1.0 + age, -FADING), math.pow(1.0 + age, -SEEN_FADING)
    return [weight * of_written if weight >= LEAST_WRITTEN else weight * SEEN_JUST_NOW * of_seen for weight in weights]
