"""The names in an agent's work, by how likely each is to be needed again."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ireneo.grounding.claims import artifacts
from ireneo.log.message import Message, strings
from ireneo.summaries.statements import defined, seen_lines
from ireneo.summaries.steps import ActionKind, Step, states_of
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
"""Weight of a name that the agent wrote in a call of this kind; 12 means one chance in six that it is written again.
In logs of coding agents, one in six names written in an edit came again, one in four opened files, one in
fourteen searched for, one in eighty that were only seen."""
LEAST_WRITTEN = min(WRITTEN.values())
SAID = 9.0
"""A name in the agent's prose."""
SEEN = 1.0
"""A name in an output."""
SEEN_JUST_NOW = 6.0
"""Factor for a name in the newest output."""
FADING = 0.27
"""Names that the agent wrote fade with this negative power of their age: slowly."""
SEEN_FADING = 0.65
"""Names that were only seen fade faster."""
AGAIN = 0.1
"""Share of its weight that each further use adds."""
MAX_NAMES = 250
"""Most names of one block, the likeliest."""
MAX_MERGED = 1_000
"""Most names of a deeper one."""


_OF_ANY_COMMAND = ("--", "/dev/")


def named(messages: Sequence[Message], done: Sequence[Step]) -> tuple[Mention, ...]:
    """The names in a stretch of work, by how likely each is to be needed again."""
    weights: dict[str, float] = {}
    files: dict[str, str] = {}
    states = {state for step in done if step.action.kind == "plan" for state in states_of(step)}

    def add(text: str, weight: float) -> None:
        for name in artifacts(text):
            # Words such as MUST and TODO, and what any command may have.
            if (name.isupper() and name.isalpha()) or name in states or name.startswith(_OF_ANY_COMMAND):
                continue
            weights[name] = _both(weights.get(name, 0.0), weight)

    for step in done:
        add("\n".join(strings(step.call.arguments)), WRITTEN[step.action.kind])
        add(step.output, SEEN)
        if step.action.kind in ("read", "edit", "write"):
            lines = [*step.action.added.splitlines(), *seen_lines(step.output)]
            files |= {name: step.action.subject for line in lines if (name := defined(line))}
    for message in messages:
        if message.role == "assistant" and message.draft.origin == "spoken":
            add(message.text, SAID)
    return _ranked(weights, files)[:MAX_NAMES]


def merged(lines: Sequence[Line]) -> tuple[Mention, ...]:
    """Merge the names of several records: more weight for repeated names, less for old ones."""
    newest = max(line.position for line in lines)
    weights: dict[str, float] = {}
    files = {mention.name: mention.file for line in lines for mention in line.names if mention.file}
    for line in lines:
        share = math.pow(1.0 + newest - line.position, -FADING)
        for mention in line.names:
            weights[mention.name] = _both(weights.get(mention.name, 0.0), mention.weight * share)
    return _ranked(weights, files)[:MAX_MERGED]


def faded(weight: float, age: int) -> float:
    """The weight of a name `age` messages after its last use."""
    if weight >= LEAST_WRITTEN:
        return weight * math.pow(1.0 + age, -FADING)
    return weight * SEEN_JUST_NOW * math.pow(1.0 + age, -SEEN_FADING)


def _both(one: float, other: float) -> float:
    """The weight of a name with these two uses."""
    return max(one, other) + AGAIN * min(one, other)


def _ranked(weights: Mapping[str, float], files: Mapping[str, str]) -> tuple[Mention, ...]:
    """Mentions by weight, stable."""
    ranked = sorted(weights.items(), key=lambda item: -item[1])
    return tuple(Mention(name, round(weight, 2), files.get(name, "")) for name, weight in ranked)
