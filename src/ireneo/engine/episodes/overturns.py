"""What an earlier turn of a session gave up, and a later one shows to work after all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from msgspec import Struct

from ireneo.context.offline.steps import Step, steps
from ireneo.engine.episodes.turns import Turn
from ireneo.memories.offer import Offer
from ireneo.memories.record import TRUST, Record
from ireneo.memories.signature import action_of, action_signature


class Failing(Struct, frozen=True, kw_only=True):
    """A failure that a session knows of, and has not seen to work since."""

    signature: str
    text: str
    at: datetime
    place: dict[str, str]


def failing(records: Iterable[Record], session: str) -> list[Failing]:
    """The failures of `session` that it has not overturned; what other sessions saw makes no difference.

    So it doesn't matter in which order the sessions of a space are gone over.
    """
    out: list[Failing] = []
    for record in records:
        seen = [piece for piece in record.evidence if piece.session == session]
        last = max(seen, key=lambda piece: piece.at, default=None)
        if last is not None and not last.against:
            out.append(Failing(signature=record.signature, text=record.text, at=last.at, place=dict(record.conditions)))
    return out


def of_offers(offers: Iterable[Offer]) -> list[Failing]:
    """The failures among the offers of a turn."""
    return [
        Failing(signature=offer.signature, text=offer.text, at=offer.at, place=dict(offer.conditions))
        for offer in offers
        if offer.signature and not offer.against
    ]


def overturns(turn: Turn, known: Sequence[Failing], recorded: datetime) -> list[Offer]:
    """What speaks against `known` failures in a turn: the same call in the same place, and it went well."""
    by_action = {action: each for each in known if (action := action_of(each.signature))}
    if not by_action:
        return []
    out: dict[str, Offer] = {}
    at = {message.id: message.draft.at for message in turn.messages}
    for step in steps([message for message in turn.messages if message.draft.origin == "spoken"]):
        failure = by_action.get(action_signature(step.call.name, step.call.arguments))
        moment = at[step.answer] if step.answer else None
        if failure is None or not _worked(step) or moment is None or moment <= failure.at:
            continue
        if any(failure.place.get(name, value) != value for name, value in turn.place.items()):
            continue
        offer = Offer(
            text=failure.text,
            kind="failure",
            at=moment,
            timed=True,
            recorded=recorded,
            origin="agent",
            trust=TRUST["agent"],
            signature=failure.signature,
            conditions={"tool": step.call.name, **turn.place},
            against=True,
            session=turn.session,
            messages=step.sources,
        )
        out.setdefault(failure.signature, offer)
    return list(out.values())


def _worked(step: Step) -> bool:
    return step.result is not None and not step.failed
