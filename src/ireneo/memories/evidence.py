"""What speaks for a memory: how pieces of evidence are told apart, kept, and summed up.

All of it is free of order: whichever piece comes first, the same pieces are kept in the end and sum up to the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from msgspec.structs import replace

from ireneo.memories.offer import Offer
from ireneo.memories.record import TRUST, Evidence, Record, Source
from ireneo.memories.wording import day, one_line

MOST_EVIDENCE = 512
"""Pieces that a memory keeps: the first half and the last half of them by time, so that its beginning and its present
stay."""
MOST_WHY = 400
"""Characters of a reason that a sentence quotes."""
_WHO: dict[Source, str] = {
    "user": "The user",
    "agent": "The agent",
    "run": "A run",
    "tool": "A tool",
    "derived": "What it was concluded from",
}


def evidence_of(offer: Offer) -> Evidence:
    """The piece of evidence that an offer is."""
    return Evidence(
        at=offer.at,
        recorded=offer.recorded,
        origin=offer.origin,
        trust=offer.trust,
        until=offer.until,
        against=offer.against,
        adds=offer.adds,
        salience=offer.salience,
        confidence=offer.confidence,
        conditions=offer.conditions,
        session=offer.session,
        project=offer.project,
        why=offer.why,
        messages=offer.messages,
        summaries=offer.summaries,
        memories=offer.memories,
    )


def with_evidence(evidence: Sequence[Evidence], piece: Evidence) -> tuple[tuple[Evidence, ...], bool]:
    """`evidence` and `piece`, by time and at most so many, and whether it is a new one.

    A piece is known where one of the same origin says the same of the same time from the same sources; of two without
    any source, where they were told at the same moment in the same project. Of a known piece the one that was told
    first is kept. A piece that would be let go of at once, from amid all others, counts as known: it can't be told
    whether it was there.
    """
    for at, known in enumerate(evidence):
        if _sameness(known) == _sameness(piece):
            first = min(known, piece, key=_told)
            return _ordered([*evidence[:at], first, *evidence[at + 1 :]]), False
    joined = _ordered([*evidence, piece])
    if len(joined) > MOST_EVIDENCE:
        half = MOST_EVIDENCE // 2
        joined = (*joined[:half], *joined[-half:])
    return joined, piece in joined


def summed(record: Record) -> Record:
    """`record` with what its evidence sums up to: whose word it is, how far it is trusted, how sure and how salient."""
    speaking = for_it(record) or record.evidence
    best = min(speaking, key=lambda each: (-each.trust, list(TRUST).index(each.origin)))
    surest = max(each.confidence for each in speaking)
    conditions = max((each for each in speaking if each.conditions), key=_told, default=None)
    return replace(
        record,
        recorded=min(record.recorded, *(each.recorded for each in record.evidence)),
        origin=best.origin,
        trust=best.trust,
        salience=max(each.salience for each in speaking),
        # Three pieces halve the doubt that the surest one leaves.
        confidence=round(1 - (1 - surest) * 2 / (1 + len(speaking)), 6),
        conditions=conditions.conditions if conditions else {},
    )


def for_it(record: Record) -> tuple[Evidence, ...]:
    """The pieces that don't speak against the memory."""
    return tuple(each for each in record.evidence if not each.against)


def project_of(piece: Evidence) -> str:
    """The project that a piece says it is of; empty where it says none."""
    return piece.project or piece.conditions.get("project", "")


def why_against(piece: Evidence) -> str:
    """What a word against a memory says is wrong with it; empty where it says nothing."""
    return piece.why or piece.conditions.get("disputed", "") if piece.against else ""


def said_against(piece: Evidence, what: str = "that it is not so") -> str:
    """Who spoke against a memory and when, with the reason where one was given; `what` is said where none was."""
    why = one_line(why_against(piece)).rstrip(".")
    said = f": “{why if len(why) <= MOST_WHY else why[: MOST_WHY - 1].rstrip() + '…'}”" if why else f" {what}"
    return f"{_WHO[piece.origin]} said on {day(piece.recorded)}{said}."


def disputes(record: Record) -> tuple[str, ...]:
    """The reasons that were given against a memory, by whom and when, in sentences, the newest first."""
    told = sorted((piece for piece in record.evidence if why_against(piece)), key=lambda piece: piece.recorded)
    return tuple(dict.fromkeys(said_against(piece) for piece in reversed(told)))


def as_told_until(record: Record, moment: datetime) -> Record | None:
    """`record` with only what we had been told by `moment`, not settled yet; None where that is nothing."""
    told = tuple(each for each in record.evidence if each.recorded <= moment)
    return replace(record, evidence=told, seen=len(told)) if told else None


def _sameness(piece: Evidence) -> tuple[object, ...]:
    return (
        piece.origin,
        piece.at if piece.timed else None,
        piece.until,
        piece.against,
        piece.adds,
        piece.messages,
        piece.summaries,
        piece.memories,
        None if piece.sources else (piece.recorded, project_of(piece)),
    )


def _told(piece: Evidence) -> tuple[object, ...]:
    return (piece.recorded, piece.at, -piece.trust, -piece.confidence, -piece.salience, *_rest(piece))


def _rest(piece: Evidence) -> tuple[object, ...]:
    return piece.session, sorted(piece.conditions.items()), piece.project, piece.why


def _ordered(evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
    def by_time(piece: Evidence) -> tuple[object, ...]:
        end = "" if piece.until is None else piece.until.isoformat()
        said = (piece.origin, piece.against, end, *piece.sources)
        return (piece.at, piece.recorded, said, -piece.trust, *_rest(piece))

    return tuple(sorted(evidence, key=by_time))
