"""The names of a stretch: what is left of them where there is no room for what was said of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ireneo.grounding.claims import artifacts
from ireneo.log.message import Message, strings
from ireneo.summaries.steps import ActionKind, Step
from ireneo.summaries.summary import Line, Mention

WRITTEN: dict[ActionKind, float] = {
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
AGAIN = 0.1
"""Each further use adds this share of its weight: a name that is used eight times is needed half as often again, not
eight times as often."""
MAX_NAMES = 250
"""Names that one block of work keeps, the likeliest."""
MAX_MERGED = 1_000
"""Names that a deeper one keeps."""


def named(messages: Sequence[Message], done: Sequence[Step]) -> tuple[Mention, ...]:
    """The names of a stretch of work, by how likely each is to be needed again."""
    weights: dict[str, float] = {}

    def add(text: str, weight: float) -> None:
        for name in artifacts(text):
            # MUST and TODO are words.
            if name.isupper() and name.isalpha():
                continue
            weights[name] = _both(weights.get(name, 0.0), weight)

    for step in done:
        add("\n".join(strings(step.call.arguments)), WRITTEN[step.action.kind])
        add(step.output, SEEN)
    for message in messages:
        if message.role == "assistant" and message.draft.origin == "spoken":
            add(message.text, SAID)
    return _ranked(weights)[:MAX_NAMES]


def merged(lines: Sequence[Line]) -> tuple[Mention, ...]:
    """Put the names of several records together: one that stands in several counts for more, an old one for less."""
    newest = max(line.position for line in lines)
    weights: dict[str, float] = {}
    for line in lines:
        share = math.pow(1.0 + newest - line.position, -FADING)
        for mention in line.names:
            weights[mention.name] = _both(weights.get(mention.name, 0.0), mention.weight * share)
    return _ranked(weights)[:MAX_MERGED]


def faded(weight: float, age: int) -> float:
    """What a name of this weight is worth, `age` messages after its last use."""
    if weight >= LEAST_WRITTEN:
        return weight * math.pow(1.0 + age, -FADING)
    return weight * SEEN_JUST_NOW * math.pow(1.0 + age, -SEEN_FADING)


def _both(one: float, other: float) -> float:
    """The weight of a name that has these two uses."""
    return max(one, other) + AGAIN * min(one, other)


def _ranked(weights: Mapping[str, float]) -> tuple[Mention, ...]:
    """Mentions by weight; equal weights keep the order in which they came."""
    return tuple(Mention(name, round(weight, 2)) for name, weight in sorted(weights.items(), key=lambda item: -item[1]))
