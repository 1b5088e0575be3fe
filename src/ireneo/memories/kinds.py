"""The four kinds of memories, a class for each, with everything in which they differ."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
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
    format_day,
    format_month,
    likeness_key,
    normalised_words,
    objection_reason,
    objection_sentence,
    slot,
    supporting,
    with_derived_fields,
    with_notes,
)

Factors: TypeAlias = tuple[tuple[str, float], ...]
"""The named factors by which a memory's relevance is multiplied, kept to explain a score."""


# How well a memory is retained, by how often and how long ago it was encountered: base-level activation.
#
# Each encounter leaves a trace that fades with a power of its age, and the traces add up:
#
#     B = ln(sum over j of t_j ** -d)     with d = 0.5, as in ACT-R.
#
# J. R. Anderson and L. J. Schooler, Reflections of the environment in memory, Psychological Science 2 (1991), found
# that this is how likely a thing is to be needed again. Of encounters that are no longer stored one by one only the
# number and the first and last time are known. A. A. Petrov, Computationally efficient approximation of the base-level
# learning equation in ACT-R (2006), replaces each by the mean of t ** -d over that time, which for d = 0.5 is 2 /
# (sqrt(young) + sqrt(old)).
#
# ACT-R's chance of retrieval is 1 / (1 + exp((threshold - B) / noise)); with a noise of 1 and the sum S that is
# S / (S + e ** threshold), so that no logarithm is taken if the sum is 0, and the result is between 0 and 1.


YOUNGEST_DAYS = 1 / 24
"""No encounter is treated as younger than an hour, not even one in the future."""
THRESHOLD = -2.0
"""The activation at which retention is one half: encountered once, 55 days ago."""
REFLECTED_PACE = 4.0
"""How much faster an episode ages once a conclusion was drawn from it."""
_DAY_SECONDS = 86_400


class Encounters(Struct, frozen=True, kw_only=True):
    """`count` times at which a memory was recorded or used, spread evenly between two moments."""

    first: datetime
    last: datetime
    count: int = 1


def activation(met: Iterable[Encounters], now: datetime, *, pace: float = 1.0, since: datetime | None = None) -> float:
    """How well a memory is retained, from 0 (never encountered) to 1: falls with time, rises with each encounter."""
    total = _activation_sum(met, now, pace, since)
    return total / (total + math.exp(THRESHOLD))


def encounters(record: Record) -> list[Encounters]:
    """The times at which a memory was recorded (by the time of the event) or used."""
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


def _activation_sum(met: Iterable[Encounters], now: datetime, pace: float, since: datetime | None) -> float:
    return math.fsum(
        each.count
        * 2
        / (math.sqrt(_paced_days(each.last, now, pace, since)) + math.sqrt(_paced_days(each.first, now, pace, since)))
        for each in met
    )


def _paced_days(moment: datetime, now: datetime, pace: float, since: datetime | None) -> float:
    """Days since `moment`; those after `since` (None: all of them) are multiplied by `pace`."""
    days = max(0.0, (now - moment).total_seconds() / _DAY_SECONDS)
    if since is None:
        return max(YOUNGEST_DAYS, days * pace)
    hurried = max(0.0, min(days, (now - since).total_seconds() / _DAY_SECONDS))
    return max(YOUNGEST_DAYS, days + (pace - 1) * hurried)


_Z = 1.2816
"""The normal quantile of the bound below: the true share is above it 80 % of the time."""


def success(record: Record) -> float:
    """How reliably it helps, from 0 to 1; 0.5 if it was never used.

    Laplace's rule of succession gives the share (one success and one failure are added). If it ever failed, a part of
    Wilson's half width is subtracted, so that two failures in a row weigh more than two in a hundred.
    """
    failed = record.harmed + sum(each.against for each in record.evidence)
    tries = record.helped + failed
    share = (record.helped + 1) / (tries + 2)
    if not failed:
        return share
    width = _Z * math.sqrt(share * (1 - share) / (tries + 2)) / (1 + _Z**2 / (tries + 2))
    return max(0.0, share - width)


_OF_STATE = {"active": 1.0, "disputed": 0.5, "superseded": 0.4, "retired": 0.3, "erased": 0.0}
"""The factor of a fact, or a procedure, in each state."""


class MemoryKind(ABC):
    """How memories of one kind are written, compared, ranked and forgotten."""

    name: Kind
    answers: str
    """The question that should find such memories."""
    heading: str
    """The heading of these memories in a brief."""
    place: int
    """Their order in a brief: procedures, facts, episodes, and last the failures that must not be repeated."""
    worth: float
    """The worth of the best of them to a turn: avoiding a known error saves most."""
    most = 4
    """How many of them a brief shows for a goal."""
    shown: tuple[State, ...] = ("active",)
    """The states in which a brief shows them."""
    lasts = False
    """Whether a memory of this kind states what is true from then on, rather than an event."""
    costs_each_time = False
    """Whether each occurrence had a cost, however rare it was."""
    passing = False
    """Whether a memory of this kind describes a single event, so that it need not stay in use for good."""

    @abstractmethod
    def key(self, draft: MemoryDraft) -> str:
        """The key under which a draft is compared: its slot or signature, or ``t_…`` from its words if it has none."""

    @abstractmethod
    def id(self, draft: MemoryDraft) -> MemoryId:
        """The id of the memory that a draft creates if no known memory says the same."""

    def same(self, record: Record, draft: MemoryDraft) -> bool:
        """Whether a draft says the same as a memory under its key."""
        return record.id == self.id(draft)

    def settle(self, records: Sequence[Record]) -> Sequence[Record]:
        """State, periods, versions and confidence of all memories under one key, from their evidence alone.

        A pure function of the set: the order makes no difference, and settling twice changes nothing. They are returned
        in the order of their ids.
        """
        return settle_values(records)

    def effective_time(self, record: Record, at: datetime) -> datetime:
        """The time to which something said about a memory at a given time refers."""
        return at

    def holds(self, record: Record, moment: datetime) -> bool:
        """Whether a memory is true at a moment, as far as is known now; archived memories are not."""
        return holds_at(record, moment)

    def fits(self, record: Record, conditions: Mapping[str, str]) -> bool:
        """Whether a memory applies under the current conditions (tool, version, file hashes)."""
        return True

    @abstractmethod
    def retention(self, record: Record, now: datetime) -> float:
        """How much a memory is worth keeping, from 0 to 1; the least is archived first."""

    @abstractmethod
    def score(self, record: Record, now: datetime) -> Factors:
        """The kind's own factors, by which a memory's relevance is multiplied."""

    @abstractmethod
    def line(self, record: Record, now: datetime) -> str:
        """A memory as one line without its id: "I …", a statement, steps, or "I tried X — abandoned because Y"."""


class _Episodic(MemoryKind):
    """Events. They are appended, fade with time and disuse, and fade faster once a conclusion was drawn from them."""

    name = "episodic"
    answers = "What happened?"
    heading = "What happened"
    place = 2
    worth = 0.8
    passing = True
    one_event = timedelta(days=1)
    """Reports in the same words at times no further apart than this are one event."""

    def key(self, draft: MemoryDraft) -> str:
        return likeness_key(draft.text)

    def id(self, draft: MemoryDraft) -> MemoryId:
        when = draft.at.isoformat() if draft.at != draft.recorded else ""
        return MemoryId(
            digest("m", b"episodic", normalised_words(draft.text).encode(), draft.session.encode(), when.encode())
        )

    def same(self, record: Record, draft: MemoryDraft) -> bool:
        # An event of one session may be denied in another.
        if not draft.against and record.sessions and draft.session and draft.session not in record.sessions:
            return False
        times = [each.at for each in record.evidence if each.timed]
        if draft.at == draft.recorded or not times:
            return True
        return any(abs(draft.at - each) <= self.one_event for each in times)

    def effective_time(self, record: Record, at: datetime) -> datetime:
        # Events in the same words differ by their time.
        return record.at

    def settle(self, records: Sequence[Record]) -> list[Record]:
        return [self._settle_one(each) for each in sorted(records, key=lambda each: each.id)]

    def _settle_one(self, record: Record) -> Record:
        speaking, against = supporting(record), [each for each in record.evidence if each.against]
        timed = [each.at for each in speaking if each.timed]
        at = min(timed or [each.at for each in speaking or record.evidence])
        record = replace(with_derived_fields(record), at=at, reason="", retired=None, state=_unless_erased(record))
        if record.state == "erased":
            return record
        last = max((each.recorded for each in speaking), default=None)
        denied = [each for each in against if last is None or (each.recorded > last and each.trust >= record.trust)]
        if not denied:
            return record
        first = min(denied, key=lambda each: each.recorded)
        reason = objection_sentence(first, "that it did not happen")
        if first.until is not None:
            reason = f"It was told of {format_day(record.at)}, and is not relied on since {format_day(first.until)}."
        return replace(record, state="retired", reason=reason, retired=first.recorded)

    def holds(self, record: Record, moment: datetime) -> bool:
        if record.holds or record.archived or record.state != "retired":
            return record.holds and record.at <= moment
        # A fact that was said to last for a while was true for that time.
        ends = [each.until for each in record.evidence if each.against and each.until is not None]
        return bool(ends) and record.at <= moment < max(ends)

    def retention(self, record: Record, now: datetime) -> float:
        """By how often and how recently it was recorded or used, regardless of when it happened."""
        pace = REFLECTED_PACE if record.reflected else 1.0
        told = [
            Encounters(first=max(each.first, record.recorded), last=max(each.last, record.recorded), count=each.count)
            for each in encounters(record)
        ]
        worth = activation(told, now, pace=pace, since=record.reflected) * (0.4 + 0.6 * record.salience)
        return worth * (1.0 if record.state == "active" else 0.3)

    def score(self, record: Record, now: datetime) -> Factors:
        pace = REFLECTED_PACE if record.reflected else 1.0
        recency = activation(encounters(record), now, pace=pace, since=record.reflected)
        return (("recency", 0.6 + 0.4 * recency), ("salience", 0.75 + 0.5 * record.salience))

    def line(self, record: Record, now: datetime) -> str:
        return with_notes(record.text, [format_day(record.when) if record.when else ""])


class _Semantic(MemoryKind):
    """Facts. A slot (subject, attribute) has one value at a time; facts never fade with time."""

    name = "semantic"
    answers = "What is true?"
    heading = "Facts"
    place = 1
    worth = 1.0
    most = 8
    shown = ("active", "disputed")
    lasts = True

    def key(self, draft: MemoryDraft) -> str:
        if draft.subject and draft.attribute:
            return slot(draft.subject, draft.attribute)
        return likeness_key(draft.subject, draft.text)

    def id(self, draft: MemoryDraft) -> MemoryId:
        said = normalised_words(draft.value or draft.text) if draft.attribute else normalised_words(draft.text)
        return MemoryId(digest("m", b"semantic", self.key(draft).encode(), said.encode()))

    def retention(self, record: Record, now: datetime) -> float:
        """By how certain and how useful it is, never by age."""
        use = 1 - 1 / (1 + record.used + len(supporting(record)))
        worth = 0.6 + 0.4 * (0.5 * record.confidence + 0.25 * record.salience + 0.25 * use)
        return worth * _OF_STATE[record.state] * (0.6 if record.stale else 1.0)

    def score(self, record: Record, now: datetime) -> Factors:
        return (
            ("confidence", 0.5 + 0.5 * record.confidence),
            ("trust", 0.7 + 0.3 * record.trust),
            ("stale", 0.6 if record.stale else 1.0),
        )

    def line(self, record: Record, now: datetime) -> str:
        notes = []
        if record.state == "disputed":
            notes.append("disputed")
        elif not holds_at(record, now) and record.valid_to:
            notes.append(f"until {format_day(record.valid_to)}")
        elif record.when is not None and not record.cue:
            notes.append(_since_note(record.when))
        return with_notes(record.text, [*notes, *_stale_notes(record)])


class _Procedural(MemoryKind):
    """Procedures. Keyed by task type and name, versioned, and ranked by how often they helped."""

    name = "procedural"
    answers = "How is it done?"
    heading = "How it is done"
    place = 0
    worth = 1.1
    lasts = True

    def key(self, draft: MemoryDraft) -> str:
        if draft.task_type or draft.name:
            return slot(draft.task_type, draft.name)
        return likeness_key(draft.text)

    def id(self, draft: MemoryDraft) -> MemoryId:
        return MemoryId(digest("m", b"procedural", self.key(draft).encode(), normalised_words(draft.text).encode()))

    def settle(self, records: Sequence[Record]) -> list[Record]:
        """Different steps under the same name are versions, numbered in the order in which they were recorded."""
        settled = settle_values(records)
        speaking = sorted(settled, key=lambda each: (each.recorded, min(piece.at for piece in each.evidence), each.id))
        versions = {each.id: number for number, each in enumerate(speaking, 1)}
        return [replace(each, version=versions[each.id]) for each in settled]

    def retention(self, record: Record, now: datetime) -> float:
        worth = 0.7 * success(record) + 0.2 * record.salience + 0.1 * record.confidence
        return worth * _OF_STATE[record.state] * (0.6 if record.stale else 1.0)

    def score(self, record: Record, now: datetime) -> Factors:
        return (("helped", 0.5 + success(record)), ("stale", 0.6 if record.stale else 1.0))

    def line(self, record: Record, now: datetime) -> str:
        # A lesson states its own subject.
        about = "" if record.cue else record.name or record.task_type
        text = "; ".join(line.strip().rstrip(";") for line in record.text.splitlines() if line.strip())
        tries = record.helped + record.harmed
        notes = [f"helped {record.helped} of {tries} times"] if tries else []
        said = text if not about or text.casefold().startswith(about.casefold()) else f"{about}: {text}"
        return with_notes(said, [*notes, *_stale_notes(record)])


class _Failure(MemoryKind):
    """Failures to avoid. They gain weight when seen again, and are overturned when the approach works after all."""

    name = "failure"
    answers = "What must I not repeat?"
    heading = "What failed"
    place = 3
    worth = 1.2
    costs_each_time = True
    pace = 0.125
    """How fast a failure ages compared to an episode."""

    def key(self, draft: MemoryDraft) -> str:
        return draft.signature or likeness_key(draft.text)

    def id(self, draft: MemoryDraft) -> MemoryId:
        return MemoryId(digest("m", b"failure", self.key(draft).encode()))

    def same(self, record: Record, draft: MemoryDraft) -> bool:
        return True

    def settle(self, records: Sequence[Record]) -> list[Record]:
        return [self._settle_one(each) for each in sorted(records, key=lambda each: each.id)]

    def _settle_one(self, record: Record) -> Record:
        failed = sorted(supporting(record), key=_time_key)
        worked = sorted((each for each in record.evidence if each.against), key=_time_key)
        shown = failed or worked
        spoken = [each for each in record.evidence if each.origin == "user"] if record.cue else []
        # Evidence with a time of its own comes before evidence dated by when a log was read.
        at = ([each for each in shown if each.when is not None] or shown)[-1].at
        record = replace(with_derived_fields(record), at=at, state=_unless_erased(record), reason="", retired=None)
        # A less trusted claim that something worked, which no run shows, isn't enough.
        worked = [each for each in worked if each.sources or each.trust >= record.trust or not failed]
        if spoken:
            # The user's words about a lesson take precedence over all runs.
            failed, worked = ([each for each in some if each in spoken] for some in (failed, worked))
        if record.state == "erased" or not worked:
            return record
        if failed and _time_key(worked[-1]) <= _time_key(failed[-1]):
            return record
        turned = next(each for each in worked if not failed or _time_key(each) > _time_key(failed[-1]))
        # A log shows that it worked, or somebody only said so, which is worded differently.
        seen = bool(turned.messages) and not objection_reason(turned)
        reason = f"it worked on {format_day(turned.at)}." if seen else objection_sentence(turned)
        reason = f"overturned: {reason[:1].lower()}{reason[1:]}"
        return replace(record, state="retired", reason=reason, retired=turned.recorded)

    def holds(self, record: Record, moment: datetime) -> bool:
        return record.holds

    def fits(self, record: Record, conditions: Mapping[str, str]) -> bool:
        """False if a condition that is known for both has changed."""
        return all(conditions.get(name, value) == value for name, value in record.conditions.items())

    def retention(self, record: Record, now: datetime) -> float:
        worth = activation(encounters(record), now, pace=self.pace) * (0.5 + 0.5 * self._weight(record))
        return worth * (1.0 if record.state == "active" else 0.3)

    def score(self, record: Record, now: datetime) -> Factors:
        recency = activation(encounters(record), now, pace=self.pace)
        return (("seen", 0.5 + self._weight(record)), ("recency", 0.6 + 0.4 * recency))

    def line(self, record: Record, now: datetime) -> str:
        times = len(supporting(record))
        sessions = record.sessions
        seen = f"seen {max(times, record.seen)} times" if times > 1 else ""
        on = format_day(record.when) if record.when else ""
        notes = [
            f"{seen}, last on {on}" if seen and on else seen or on,
            f"in session {sessions[-1]}" if sessions else "",
            ", ".join(f"{name} {value}" for name, value in sorted(record.conditions.items())),
        ]
        return with_notes(record.text, notes)

    def _weight(self, record: Record) -> float:
        """By how often it was seen, from 0.5 (once) towards 1."""
        return 1 - 1 / (1 + math.log2(1 + max(1, record.seen)))


def _unless_erased(record: Record) -> State:
    return "erased" if record.state == "erased" else "active"


def _since_note(moment: datetime) -> str:
    """Since when a fact is true; if the time has minutes, only that it was true then."""
    if moment.minute or moment.second or moment.microsecond:
        return f"as of {format_day(moment)}"
    return f"since {format_month(moment) if moment.day == 1 else format_day(moment)}"


def _time_key(piece: Evidence) -> tuple[datetime, datetime]:
    return piece.at, piece.recorded


def _stale_notes(record: Record) -> list[str]:
    return [f"to be reconsidered: {record.stale.rstrip('.')}"] if record.stale else []


KINDS: dict[Kind, MemoryKind] = {kind.name: kind for kind in (_Episodic(), _Semantic(), _Procedural(), _Failure())}
"""The class of each kind."""


def score_factor(record: Record, now: datetime) -> float:
    """The product of the kind's own factors of a memory's score."""
    return math.prod(factor for _, factor in KINDS[record.kind].score(record, now))
