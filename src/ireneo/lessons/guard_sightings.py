"""What a run shows of every situation that a call of it stood in: how often such a call failed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from msgspec import Struct

from ireneo.context.offline.prose import clip
from ireneo.context.offline.steps import Step, steps
from ireneo.grounding.neutral import instruction_like
from ireneo.lessons.costs import Cost, costs_of
from ireneo.lessons.guard import deed_cue, stored
from ireneo.lessons.material import Material
from ireneo.lessons.sighting import Sighting
from ireneo.lessons.signature import Shape, shape
from ireneo.lessons.situation import Situation
from ireneo.lessons.situation_cues import Chain, chains
from ireneo.log.message import Message, MessageId

ERROR = "error"
"""The condition that holds what a failing call said."""
_ERROR_CHARACTERS = 140
_MOST_SOURCES = 4


class Stood(Struct, frozen=True, kw_only=True):
    """A call of a run, with the situations in which it was made."""

    step: Step
    situation: Situation
    """As it was then; it goes on with the next call that is asked for."""
    seen: Shape
    chains: tuple[Chain, ...]
    failed: bool
    at: datetime | None

    @property
    def cues(self) -> tuple[str, ...]:
        """All its cues, each once."""
        return cues_of(self.chains, self.seen.deed)


class _Shown(Struct, kw_only=True):
    """What a run shows of a cue, while it is read."""

    held: int = 0
    broke: int = 0
    at: datetime | None = None
    error: str = ""
    sources: list[MessageId] = []
    tokens: int = 0
    seconds: float = 0.0


def cues_of(found: Iterable[Chain], deed: str) -> tuple[str, ...]:
    """All cues of a call, each once."""
    return tuple(dict.fromkeys((deed_cue(deed), *(cue for chain in found for cue in chain.cues))))


def stood(messages: Sequence[Message]) -> Iterator[Stood]:
    """Every call of a run whose outcome tells something, in order, as things stood when it was made.

    A call without arguments, of a tool that has some elsewhere in the run, is left out: some logs show what was asked
    for only where it went well, so that such a call would fail always.
    """
    outcomes = {(step.source, step.call.id): step for step in steps(messages)}
    asking = {step.call.name for step in outcomes.values() if step.call.arguments}
    situation = Situation()
    for message in messages:
        situation.hear(message)
        for call in message.draft.calls:
            step = outcomes[message.id, call.id]
            failed = step.failed_itself
            told = bool(call.arguments) or call.name not in asking
            if told and step.result is not None and (failed or not step.failed):
                seen = shape(call)
                found = chains(situation, seen)
                yield Stood(step=step, situation=situation, seen=seen, chains=found, failed=failed, at=message.draft.at)
            situation.begin(message, call)
        situation.settle(message)


def failing_sightings(material: Material) -> list[Sighting]:
    """What a run shows of the situations that its calls stood in, for the guard: statistics, without words."""
    costs = costs_of(material.messages)
    shown: dict[str, _Shown] = {}
    for each in stood(material.messages):
        for cue in each.cues:
            _add(shown.setdefault(cue, _Shown()), each, costs)
    return [
        Sighting(
            cue=stored(cue),
            category="failure",
            session=material.session,
            project=material.project,
            at=each.at,
            held=each.held,
            broke=each.broke,
            conditions={ERROR: each.error} if each.error else {},
            sources=tuple(each.sources[-_MOST_SOURCES:]),
            tokens=each.tokens,
            seconds=each.seconds,
        )
        for cue, each in shown.items()
    ]


def _add(shown: _Shown, stood: Stood, costs: dict[MessageId, Cost]) -> None:
    shown.at = stood.at or shown.at
    if not stood.failed:
        shown.broke += 1
        return
    shown.held += 1
    # What an output tells its reader to do is no error, and is shown to nobody.
    error = clip(stood.step.error, _ERROR_CHARACTERS)
    shown.error = "" if instruction_like(stood.step.error) else error
    shown.sources.extend(stood.step.sources[-1:])
    spent = [costs[source] for source in stood.step.sources if source in costs]
    shown.tokens += sum(cost.tokens for cost in spent)
    shown.seconds += sum(cost.seconds for cost in spent)
