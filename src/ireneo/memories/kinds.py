"""The four kinds of memories: one row of behaviour for each, so that nothing else asks of which kind a memory is."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from ireneo.log.message import digest
from ireneo.memories.facts import holds_at, settle_values
from ireneo.memories.record import (
    Evidence,
    Kind,
    MemoryDraft,
    MemoryId,
    Record,
    State,
    likeness_key,
    normal,
    said_against,
    slot,
    summed,
    supporting,
    why_against,
)
from ireneo.memories.wording import day, with_notes

Factors: TypeAlias = tuple[tuple[str, float], ...]
"""What a memory's relevance is multiplied by, each part by its name, for those who ask why."""


class KindRow(Struct, frozen=True, kw_only=True):
    """How memories of one kind are written, found, worded and forgotten."""

    name: Kind
    answers: str
    """The question that should find it."""
    heading: str
    """What a brief calls these memories."""
    key: Callable[[MemoryDraft], str]
    """What an offer is compared under: its slot or signature, or ``t_…`` from its words where it has none."""
    id: Callable[[MemoryDraft], MemoryId]
    """The id of the memory that an offer makes where none says the same already."""
    same: Callable[[Record, MemoryDraft], bool]
    """Whether an offer says again what a memory under its key says already."""
    settle: Callable[[Sequence[Record]], Sequence[Record]]
    """State, periods, versions and confidence of all memories under one key, from their evidence alone.

    A pure function of the set: the order in which they stand makes no difference, and settling twice is settling once.
    They come back in the order of their ids.
    """
    holds: Callable[[Record, datetime], bool]
    """Whether what a memory says is the case at a moment, as far as we believe now; archived ones hold no more."""
    fits: Callable[[Record, Mapping[str, str]], bool]
    """Whether a memory still counts under the conditions that hold now (tool, version, file hashes)."""
    retention: Callable[[Record, datetime], float]
    """How much it is worth keeping, from 0 to 1; what is least goes first."""
    score: Callable[[Record, datetime], Factors]
    """The kind's own part in how well a memory answers; the factors are multiplied with its relevance."""
    line: Callable[[Record, datetime], str]
    """It on the wire, as one line without its id: "I …", a statement, steps, "I tried X — abandoned because Y"."""


# How well a memory is still held, from how often and how long ago it was met: base-level activation.
#
# Each time that a memory is met leaves a trace that fades with a power of its age, and the traces add up:
#
#     B = ln(sum over j of t_j ** -d)
#
# with d = 0.5, as in ACT-R. J. R. Anderson and L. J. Schooler, Reflections of the environment in memory, Psychological
# Science 2 (1991), found that this is how likely a thing is to be needed again. Of times that are no longer kept one by
# one, only their number and between which times they lay is known; A. A. Petrov, Computationally efficient
# approximation
# of the base-level learning equation in ACT-R (2006), puts the mean of t ** -d over that stretch in the place of each,
# which for d = 0.5 is 2 / (sqrt(young) + sqrt(old)).
#
# ACT-R's chance of retrieval is 1 / (1 + exp((threshold - B) / noise)); with a noise of 1 and the sum S that is
# S / (S + e ** threshold), so that no logarithm is taken where the sum is 0, and the result lies between 0 and 1.


YOUNGEST_DAYS = 1 / 24
"""Nothing counts as younger than an hour; what lies in the future is as young as can be."""
THRESHOLD = -2.0
"""The activation at which half is held: met once, 55 days ago."""
REFLECTED_PACE = 4.0
"""How much faster an episode ages once a conclusion was drawn from it."""
_DAY_SECONDS = 86_400


class Encounters(Struct, frozen=True, kw_only=True):
    """Times at which a memory was met: `count` of them, evenly between two moments (a single one: at both)."""

    first: datetime
    last: datetime
    count: int = 1


def activation(met: Iterable[Encounters], now: datetime, *, pace: float = 1.0, since: datetime | None = None) -> float:
    """How well it is held, from 0 (never met) to 1: it only falls as time goes by, and rises with each meeting."""
    total = _sum(met, now, pace, since)
    return total / (total + math.exp(THRESHOLD))


def encounters(record: Record) -> list[Encounters]:
    """When a memory was met: the evidence for it, by when that happened, and its uses."""
    evidence = supporting(record)
    met = [Encounters(first=each.at, last=each.at) for each in evidence]
    let_go = record.seen - len(record.evidence)
    if let_go > 0 and evidence:
        middle = len(evidence) // 2
        met.append(Encounters(first=evidence[max(0, middle - 1)].at, last=evidence[middle].at, count=let_go))
    met += [Encounters(first=each, last=each) for each in record.uses]
    unkept = record.used - len(record.uses)
    if unkept > 0 and record.uses:
        oldest = min(record.uses)
        met.append(Encounters(first=min(record.recorded, oldest), last=oldest, count=unkept))
    return met


def _sum(met: Iterable[Encounters], now: datetime, pace: float, since: datetime | None) -> float:
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


_ONE_EVENT = timedelta(days=1)
"""Told in the same words of times no further apart than this, it is one event."""


def _episodic_key(offer: MemoryDraft) -> str:
    return likeness_key(offer.text)


def _episodic_id(offer: MemoryDraft) -> MemoryId:
    when = offer.at.isoformat() if offer.at != offer.recorded else ""
    return MemoryId(digest("m", b"episodic", normal(offer.text).encode(), offer.session.encode(), when.encode()))


def _episodic_same(record: Record, offer: MemoryDraft) -> bool:
    if record.sessions and offer.session and offer.session not in record.sessions:
        return False
    times = [each.at for each in record.evidence if each.timed]
    if offer.at == offer.recorded or not times:
        return True
    return any(abs(offer.at - each) <= _ONE_EVENT for each in times)


def _episodic_settle(records: Sequence[Record]) -> list[Record]:
    return [_episodic_settled(each) for each in sorted(records, key=lambda each: each.id)]


def _episodic_settled(record: Record) -> Record:
    told, against = supporting(record), [each for each in record.evidence if each.against]
    timed = [each.at for each in told if each.timed]
    at = min(timed or [each.at for each in told or record.evidence])
    record = replace(summed(record), at=at, reason="", retired=None, state=_unless_erased(record))
    if record.state == "erased":
        return record
    last = max((each.recorded for each in told), default=None)
    denied = [each for each in against if last is None or (each.recorded > last and each.trust >= record.trust)]
    if not denied:
        return record
    first = min(denied, key=lambda each: each.recorded)
    reason = said_against(first, "that it did not happen")
    return replace(record, state="retired", reason=reason, retired=first.recorded)


def _unless_erased(record: Record) -> State:
    return "erased" if record.state == "erased" else "active"


def _episodic_holds(record: Record, moment: datetime) -> bool:
    return record.holds and record.at <= moment


def _episodic_fits(record: Record, conditions: Mapping[str, str]) -> bool:
    return True


def _episodic_activation(record: Record, now: datetime) -> float:
    return activation(encounters(record), now, pace=REFLECTED_PACE if record.reflected else 1.0, since=record.reflected)


def _episodic_retention(record: Record, now: datetime) -> float:
    worth = _episodic_activation(record, now) * (0.4 + 0.6 * record.salience)
    return worth * (1.0 if record.state == "active" else 0.3)


def _episodic_score(record: Record, now: datetime) -> Factors:
    return (("recency", 0.6 + 0.4 * _episodic_activation(record, now)), ("salience", 0.75 + 0.5 * record.salience))


def _episodic_line(record: Record, now: datetime) -> str:
    return with_notes(record.text, [day(record.when) if record.when else ""])


EPISODIC = KindRow(
    name="episodic",
    answers="What happened?",
    heading="What happened",
    key=_episodic_key,
    id=_episodic_id,
    same=_episodic_same,
    settle=_episodic_settle,
    holds=_episodic_holds,
    fits=_episodic_fits,
    retention=_episodic_retention,
    score=_episodic_score,
    line=_episodic_line,
)


_OF_STATE = {"active": 1.0, "disputed": 0.5, "superseded": 0.4, "retired": 0.3, "erased": 0.0}


def _semantic_key(offer: MemoryDraft) -> str:
    if offer.subject and offer.attribute:
        return slot(offer.subject, offer.attribute)
    return likeness_key(offer.subject, offer.text)


def _semantic_id(offer: MemoryDraft) -> MemoryId:
    said = normal(offer.value or offer.text) if offer.attribute else normal(offer.text)
    return MemoryId(digest("m", b"semantic", _semantic_key(offer).encode(), said.encode()))


def _semantic_same(record: Record, offer: MemoryDraft) -> bool:
    return record.id == _semantic_id(offer)


def _semantic_fits(record: Record, conditions: Mapping[str, str]) -> bool:
    return True


def _semantic_retention(record: Record, now: datetime) -> float:
    """By how sure and how useful it is, never by its age."""
    use = 1 - 1 / (1 + record.used + len(supporting(record)))
    worth = 0.5 * record.confidence + 0.25 * record.salience + 0.25 * use
    return worth * _OF_STATE[record.state] * (0.6 if record.stale else 1.0)


def _semantic_score(record: Record, now: datetime) -> Factors:
    return (
        ("confidence", 0.5 + 0.5 * record.confidence),
        ("trust", 0.7 + 0.3 * record.trust),
        ("stale", 0.6 if record.stale else 1.0),
    )


def _semantic_line(record: Record, now: datetime) -> str:
    notes = []
    if record.state == "disputed":
        notes.append("disputed")
    elif not holds_at(record, now) and record.valid_to:
        notes.append(f"until {day(record.valid_to)}")
    if record.stale:
        notes.append(f"to be reconsidered: {record.stale.rstrip('.')}")
    return with_notes(record.text, notes)


SEMANTIC = KindRow(
    name="semantic",
    answers="What is true?",
    heading="Facts",
    key=_semantic_key,
    id=_semantic_id,
    same=_semantic_same,
    settle=settle_values,
    holds=holds_at,
    fits=_semantic_fits,
    retention=_semantic_retention,
    score=_semantic_score,
    line=_semantic_line,
)


_Z = 1.2816
"""The normal quantile of the bound below: 80 % of the time the true share lies above it."""


def _procedural_key(offer: MemoryDraft) -> str:
    if offer.task_type or offer.name:
        return slot(offer.task_type, offer.name)
    return likeness_key(offer.text)


def _procedural_id(offer: MemoryDraft) -> MemoryId:
    return MemoryId(digest("m", b"procedural", _procedural_key(offer).encode(), normal(offer.text).encode()))


def _procedural_same(record: Record, offer: MemoryDraft) -> bool:
    return record.id == _procedural_id(offer)


def _settle(records: Sequence[Record]) -> list[Record]:
    """Other steps under the same name are another version, numbered as they were told."""
    settled = settle_values(records)
    told = sorted(settled, key=lambda each: (each.recorded, min(piece.at for piece in each.evidence), each.id))
    versions = {each.id: number for number, each in enumerate(told, 1)}
    return [replace(each, version=versions[each.id]) for each in settled]


def _procedural_fits(record: Record, conditions: Mapping[str, str]) -> bool:
    return True


def success(record: Record) -> float:
    """How often it can be relied on to help, from 0 to 1: 0.5 where it was never used.

    Laplace's rule of succession gives the share (one success and one failure are added); from it a part of Wilson's
    half width is taken off where it failed, so that two failures in a row weigh more than two in a hundred.
    """
    failed = record.harmed + sum(each.against for each in record.evidence)
    tries = record.helped + failed
    share = (record.helped + 1) / (tries + 2)
    if not failed:
        return share
    width = _Z * math.sqrt(share * (1 - share) / (tries + 2)) / (1 + _Z**2 / (tries + 2))
    return max(0.0, share - width)


def _procedural_retention(record: Record, now: datetime) -> float:
    worth = 0.7 * success(record) + 0.2 * record.salience + 0.1 * record.confidence
    return worth * _OF_STATE[record.state] * (0.6 if record.stale else 1.0)


def _procedural_score(record: Record, now: datetime) -> Factors:
    return (("helped", 0.5 + success(record)), ("stale", 0.6 if record.stale else 1.0))


def _procedural_line(record: Record, now: datetime) -> str:
    about = record.name or record.task_type
    text = "; ".join(line.strip().rstrip(";") for line in record.text.splitlines() if line.strip())
    tries = record.helped + record.harmed
    notes = [f"helped {record.helped} of {tries} times"] if tries else []
    if record.stale:
        notes.append(f"to be reconsidered: {record.stale.rstrip('.')}")
    said = text if not about or text.casefold().startswith(about.casefold()) else f"{about}: {text}"
    return with_notes(said, notes)


PROCEDURAL = KindRow(
    name="procedural",
    answers="How is it done?",
    heading="How it is done",
    key=_procedural_key,
    id=_procedural_id,
    same=_procedural_same,
    settle=_settle,
    holds=holds_at,
    fits=_procedural_fits,
    retention=_procedural_retention,
    score=_procedural_score,
    line=_procedural_line,
)


PACE = 0.125
"""How fast a failure ages beside an episode."""


def _failure_key(offer: MemoryDraft) -> str:
    return offer.signature or likeness_key(offer.text)


def _failure_id(offer: MemoryDraft) -> MemoryId:
    return MemoryId(digest("m", b"failure", _failure_key(offer).encode()))


def _failure_same(record: Record, offer: MemoryDraft) -> bool:
    return True


def _failure_settle(records: Sequence[Record]) -> list[Record]:
    return [_failure_settled(each) for each in sorted(records, key=lambda each: each.id)]


def _failure_settled(record: Record) -> Record:
    failed = sorted(supporting(record), key=_failure_when)
    worked = sorted((each for each in record.evidence if each.against), key=_failure_when)
    shown = failed or worked
    # What bears a time of its own goes before what counts from when a log was read.
    at = ([each for each in shown if each.when is not None] or shown)[-1].at
    state: State = "erased" if record.state == "erased" else "active"
    record = replace(summed(record), at=at, state=state, reason="", retired=None)
    if state == "erased" or not worked:
        return record
    if failed and _failure_when(worked[-1]) <= _failure_when(failed[-1]):
        return record
    turned = next(each for each in worked if not failed or _failure_when(each) > _failure_when(failed[-1]))
    # That it worked is shown by a log, or said by somebody: what only was said is told as such.
    seen = bool(turned.messages) and not why_against(turned)
    reason = f"it worked on {day(turned.at)}." if seen else said_against(turned)
    reason = f"overturned: {reason[:1].lower()}{reason[1:]}"
    return replace(record, state="retired", reason=reason, retired=turned.recorded)


def _failure_when(piece: Evidence) -> tuple[datetime, datetime]:
    return piece.at, piece.recorded


def _failure_holds(record: Record, moment: datetime) -> bool:
    return record.holds


def _failure_fits(record: Record, conditions: Mapping[str, str]) -> bool:
    """Not where one of the conditions that are known of both is another one now."""
    return all(conditions.get(name, value) == value for name, value in record.conditions.items())


def _failure_weight(record: Record) -> float:
    """How often it was seen, from 0.5 (once) towards 1."""
    return 1 - 1 / (1 + math.log2(1 + max(1, record.seen)))


def _failure_retention(record: Record, now: datetime) -> float:
    worth = activation(encounters(record), now, pace=PACE) * (0.5 + 0.5 * _failure_weight(record))
    return worth * (1.0 if record.state == "active" else 0.3)


def _failure_score(record: Record, now: datetime) -> Factors:
    return (
        ("seen", 0.5 + _failure_weight(record)),
        ("recency", 0.6 + 0.4 * activation(encounters(record), now, pace=PACE)),
    )


def _failure_line(record: Record, now: datetime) -> str:
    times = len(supporting(record))
    sessions = record.sessions
    seen = f"seen {max(times, record.seen)} times" if times > 1 else ""
    on = day(record.when) if record.when else ""
    notes = [
        f"{seen}, last on {on}" if seen and on else seen or on,
        f"in session {sessions[-1]}" if sessions else "",
        ", ".join(f"{name} {value}" for name, value in sorted(record.conditions.items())),
    ]
    return with_notes(record.text, notes)


FAILURE = KindRow(
    name="failure",
    answers="What must I not repeat?",
    heading="What failed",
    key=_failure_key,
    id=_failure_id,
    same=_failure_same,
    settle=_failure_settle,
    holds=_failure_holds,
    fits=_failure_fits,
    retention=_failure_retention,
    score=_failure_score,
    line=_failure_line,
)


KINDS: dict[Kind, KindRow] = {row.name: row for row in (EPISODIC, SEMANTIC, PROCEDURAL, FAILURE)}
"""What each kind differs in."""
