"""The record of a memory and its evidence.

Also drafts of memories, how evidence is identified and summed up, and when two texts say the same.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Literal, NewType

from msgspec import Struct, field
from msgspec.structs import replace

from ireneo.language.files import of_language
from ireneo.language.topics import Words
from ireneo.log.message import MessageId, digest
from ireneo.patterns import lazy_re
from ireneo.short_repr import ShortRepr

# Evidence is only ever added to a record. Everything else (its state, its periods, what superseded it) is computed
# again by its kind each time, as a function of all the evidence under one key. So the order in which things are
# recorded makes no difference, and recording them twice changes nothing.


MemoryId = NewType("MemoryId", str)
"""``m_`` and 26 characters, a hash of the kind and of what identifies a memory of that kind."""

Kind = Literal["episodic", "semantic", "procedural", "failure"]
Source = Literal["user", "agent", "run", "tool", "derived"]
"""The source of evidence: a person, the agent itself, the structure of a run, a tool's output, or other memories."""
State = Literal["active", "superseded", "retired", "disputed", "erased"]
"""``superseded``: another one replaced it. ``retired``: it is no longer valid (overturned, or without valid grounds).
``disputed``: more trusted evidence contradicts it. ``erased``: forgotten for good."""

GENERAL = "*"
"""The project of general memories, which every project sees."""

TRUST: dict[Source, float] = {"user": 1.0, "agent": 0.7, "run": 0.6, "tool": 0.5, "derived": 0.4}
"""The default trust in evidence, from 0 to 1, by its source."""


class Evidence(ShortRepr, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One occasion on which something was said or observed."""

    at: datetime
    """When it happened, or since when it is true."""
    recorded: datetime
    """When it was recorded."""
    origin: Source = "user"
    trust: float = 1.0
    until: datetime | None = None
    """For a fact: when it ended, if that was said."""
    against: bool = False
    """Whether it contradicts the memory: the approach worked after all, the steps failed."""
    adds: bool = False
    """For a fact: whether it is one more value of its slot, and replaces none."""
    salience: float = 0.5
    confidence: float = 0.8
    conditions: dict[str, str] = field(default_factory=dict)
    """For a failure: the conditions under which it was seen."""
    session: str = ""
    project: str = ""
    """The project in which it was said or seen, if known; ``*`` if it applies to all."""
    labels: tuple[str, ...] = ()
    why: str = ""
    """For evidence against the memory: what is wrong with it, in the words of whoever said so."""
    messages: tuple[MessageId, ...] = ()
    summaries: tuple[str, ...] = ()
    memories: tuple[MemoryId, ...] = ()
    """For a conclusion: the memories from which it was drawn."""

    @property
    def sources(self) -> tuple[str, ...]:
        """The ids of all its sources."""
        return (*self.messages, *self.summaries, *self.memories)

    @property
    def lapsed(self) -> bool:
        """Whether it only says that the memory is too old to be relied on, which nobody has said."""
        return self.against and self.until is not None and not (self.why or self.sources)

    @property
    def role(self) -> str:
        """What it says of the memory and who says so, as shown behind its day."""
        if self.lapsed:
            return f", by its age: not relied on since {self.until:%Y-%m-%d}"
        return f"{' against it' if self.against else ''}, by the {self.origin}"

    @property
    def timed(self) -> bool:
        """Whether a time was stated; otherwise the time of recording is used."""
        return self.at != self.recorded

    @property
    def when(self) -> datetime | None:
        """When it happened; None if unknown.

        If somebody records something by hand without a time, the time of recording is used; but not for messages
        without times, since they may be read years later.
        """
        return self.at if self.timed or not self.sources else None


class Period(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A time in which something was true: from `start` up to, but excluding, `end` (None: still)."""

    start: datetime
    end: datetime | None = None


class MemoryChange(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A change of a memory's details by hand; None: unchanged."""

    at: datetime
    origin: Source = "user"
    labels: tuple[str, ...] | None = None
    """All of its labels from then on."""
    project: str | None = None
    """The project of all evidence recorded until then."""
    pinned: bool | None = None
    text: str = ""
    """If it was reworded: its former text."""
    joined: bool = False
    """Whether it was merged with others, which may have been worded differently."""


class Record(ShortRepr, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A memory."""

    id: MemoryId
    kind: Kind
    key: str
    """The key by which its kind identifies it: the slot, task type and name, or signature; else ``t_…``, from its
    words."""
    text: str
    at: datetime
    """When the event happened; for a fact: since when it is true."""
    recorded: datetime
    """When it was first recorded."""
    evidence: tuple[Evidence, ...]
    """The evidence for and against it, by `at`, then `recorded`; at least one piece."""
    seen: int = 1
    """How often it was recorded or seen; more than the number of pieces of evidence if old ones were dropped."""
    state: State = "active"
    reason: str = ""
    """Why it is in this state, in a sentence."""
    superseded_by: MemoryId | None = None
    periods: tuple[Period, ...] = ()
    """For a fact: when it was true, as believed now."""
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    """For a fact: its last period."""
    retired: datetime | None = None
    """When it was retired or archived."""
    salience: float = 0.5
    """How much it mattered, from 0 to 1."""
    confidence: float = 0.8
    """How certain it is, from 0 to 1, increasing with the evidence."""
    origin: Source = "user"
    trust: float = 1.0
    """The trust in its most trusted evidence."""
    subject: str = ""
    attribute: str = ""
    value: str = ""
    """For a fact in a slot: the value, if it is known separately from the text."""
    task_type: str = ""
    name: str = ""
    version: int = 1
    signature: str = ""
    cue: str = ""
    """For a lesson: the name of its claim, by which its observations are found. Empty for other memories."""
    drawn: str = ""
    """For a lesson that the user reworded: its original words. Empty if `text` is original."""
    conditions: dict[str, str] = field(default_factory=dict)
    """For a failure: the conditions under which it failed (tool, version, repository, file hashes)."""
    uses: tuple[datetime, ...] = ()
    """The last times that it was shown for use, the newest first, at most ten."""
    used: int = 0
    """How often it was shown for use."""
    helped: int = 0
    harmed: int = 0
    reflected: datetime | None = None
    """For an episode: when a conclusion was drawn from it."""
    stale: str = ""
    """Why it must be reconsidered: the grounds that are no longer valid. Empty if it need not be."""
    pinned: bool = False
    """Whether it is never evicted."""
    archived: bool = False
    """Whether it was evicted: not recalled, but restorable."""
    archived_at: datetime | None = None
    archived_why: str = ""
    """When and why it was evicted."""
    changes: tuple[MemoryChange, ...] = ()
    """Changes by hand, the oldest first."""

    @property
    def labels(self) -> tuple[str, ...]:
        """Its labels, in order, as recorded or as last changed by hand."""
        last = next((each for each in reversed(self.changes) if each.labels is not None), None)
        told = {name for each in self.evidence if last is None or each.recorded > last.at for name in each.labels}
        return tuple(sorted(told.union(last.labels or () if last else ())))

    @property
    def projects(self) -> tuple[str, ...]:
        """For each piece of evidence the project that it names, or to which it was moved; empty if there is none."""
        last = next((each for each in reversed(self.changes) if each.project is not None), None)
        return tuple(
            last.project or "" if last is not None and each.recorded <= last.at else evidence_project(each)
            for each in self.evidence
        )

    @property
    def when(self) -> datetime | None:
        """`at`, if it is known; None if all evidence was drawn from messages without times."""
        return self.at if any(each.when is not None for each in self.evidence) else None

    @property
    def sources(self) -> tuple[str, ...]:
        """The ids of all sources of its evidence, each once, in order."""
        return tuple(dict.fromkeys(name for each in self.evidence for name in each.sources))

    @property
    def sessions(self) -> tuple[str, ...]:
        """The sessions that its evidence is from, each once."""
        return tuple(dict.fromkeys(each.session for each in self.evidence if each.session))

    @property
    def runs(self) -> int:
        """How many runs its evidence is from."""
        return count_runs(self.evidence)

    @property
    def last_used(self) -> datetime | None:
        """When it was last used."""
        return self.uses[0] if self.uses else None

    @property
    def holds(self) -> bool:
        """Whether it is true, as far as is known, and may be recalled as such."""
        return self.state == "active" and not self.archived


NAMES = ("subject", "attribute", "value", "task_type", "name", "signature")
"""The fields that name a memory besides its text; which of them are used depends on its kind."""


class MemoryDraft(Evidence, frozen=True, kw_only=True, omit_defaults=True):
    """A memory to be stored, with its evidence: validated and of a known kind, but not compared with others yet."""

    text: str
    kind: Kind
    subject: str = ""
    attribute: str = ""
    value: str = ""
    task_type: str = ""
    name: str = ""
    signature: str = ""
    cue: str = ""
    """For a lesson: the code of its claim."""
    pinned: bool = False
    quote: str = ""
    """The words of the message that say so, if the text is worded differently."""
    told: datetime | None = None
    """When it was said, if that differs from the time that it is about."""


# When two texts say the same: the same words in the same order, except for case, articles, punctuation and
# contractions.
#
# That is strict on purpose. A text that is mistaken for another is lost; one that isn't recognised is only stored
# twice. So no word is reduced to its stem ("lives" is not "lived"), none is left out for being common ("to Rome" is not
# "from Rome", "is" is not "is not"), and numbers and names must be the same. The result is an equivalence: three texts
# that are equal in pairs are all equal, so their order makes no difference.


_MARK = lazy_re(r"\[[ms]_[a-z2-7]{3,26}\]")
_AROUND = ".,;:!?\"“”„«»‘'`()[]{}*_…"
_DASHES = frozenset({"-", "–", "—", "•", "*", "+", "#", ">"})


@lru_cache(1_024)
def normalised_words(text: str) -> str:
    """Return the words of `text` as they are compared; never empty unless `text` is blank. Idempotent."""
    # A letter may only appear in this form once others were combined, so folding is repeated.
    folded = _fold_case(_fold_case(_MARK.sub(" ", text)))
    words = [form for word in folded.split() for form in _expand_contraction(word.strip(_AROUND)).split()]
    said = [word for word in words if word not in _DASHES]
    articles = of_language(Words, "en").articles
    kept = [word for word in said if word not in articles]
    return " ".join(kept or said or folded.split())


def likeness_key(*pieces: str) -> str:
    """``t_`` and 26 characters, the same for texts that say the same, piece by piece."""
    return digest("t", *(normalised_words(piece).encode() for piece in pieces))


def slot(*names: str) -> str:
    """Make a key of names, which are compared without case and blanks."""
    return "\x1f".join(" ".join(name.casefold().split()) for name in names)


def _fold_case(text: str) -> str:
    return unicodedata.normalize("NFKC", text).replace("’", "'").casefold()


@lru_cache(4_096)
def _expand_contraction(word: str) -> str:
    known = of_language(Words, "en")
    if word in known.contractions:
        return " ".join(known.contractions[word])
    for ending, meant in known.contracted.items():
        if word.endswith(ending) and word != ending:
            return " ".join((word.removesuffix(ending), *meant))
    return word


# The evidence for a memory: how its pieces are distinguished, kept, and summed up.
#
# All of this is independent of their order: the same pieces are kept in the end, with the same sums.


MOST_EVIDENCE = 512
"""How many pieces a memory keeps: the first half and the last half of them by time, so that its beginning and its
present are covered."""
MOST_WHY = 400
"""How many characters of a reason are quoted in a sentence."""
_WHO: dict[Source, str] = {
    "user": "The user",
    "agent": "The agent",
    "run": "A run",
    "tool": "A tool",
    "derived": "What it was concluded from",
}


def evidence_of(draft: MemoryDraft) -> Evidence:
    """The evidence that a draft contains."""
    return Evidence(**{name: getattr(draft, name) for name in Evidence.__struct_fields__})


def with_evidence(evidence: Sequence[Evidence], piece: Evidence) -> tuple[tuple[Evidence, ...], bool]:
    """Add `piece` to `evidence`, by time and up to the limit; return also whether it is new.

    A piece is known if one of the same origin says the same about the same time from the same sources; without any
    source, if both were recorded at the same moment in the same project. The first recorded of equal pieces is kept. A
    piece that would be dropped at once, from the middle of all others, counts as known, since it may have been there
    before.
    """
    for at, known in enumerate(evidence):
        if _identity_key(known) == _identity_key(piece):
            first = min(known, piece, key=_recording_key)
            return _sorted_evidence([*evidence[:at], first, *evidence[at + 1 :]]), False
    joined = _sorted_evidence([*evidence, piece])
    if len(joined) > MOST_EVIDENCE:
        half = MOST_EVIDENCE // 2
        joined = (*joined[:half], *joined[-half:])
    return joined, piece in joined


def with_derived_fields(record: Record) -> Record:
    """Compute the fields of `record` that follow from its evidence: origin, trust, confidence and salience."""
    speaking = supporting(record) or record.evidence
    best = min(speaking, key=lambda each: (-each.trust, list(TRUST).index(each.origin)))
    surest = max(each.confidence for each in speaking)
    conditions = max((each for each in speaking if each.conditions), key=_recording_key, default=None)
    return replace(
        record,
        recorded=min(record.recorded, *(each.recorded for each in record.evidence)),
        origin=best.origin,
        trust=best.trust,
        salience=max(each.salience for each in speaking),
        # Three pieces halve the doubt that the most certain one leaves.
        confidence=round(1 - (1 - surest) * 2 / (1 + len(speaking)), 6),
        conditions=conditions.conditions if conditions else {},
    )


def supporting(record: Record) -> tuple[Evidence, ...]:
    """The evidence for the memory, not against it."""
    return tuple(each for each in record.evidence if not each.against)


def count_runs(pieces: Iterable[Evidence]) -> int:
    """How many sessions the pieces are from; a copy, which shares messages with a session before it, is none."""
    runs: set[str] = set()
    known: set[MessageId] = set()
    for each in pieces:
        if each.session and known.isdisjoint(each.messages):
            runs.add(each.session)
        known.update(each.messages)
    return len(runs)


def evidence_project(piece: Evidence) -> str:
    """The project that a piece of evidence names; empty if it names none."""
    return piece.project or piece.conditions.get("project", "")


def is_confirmed_by_user(record: Record) -> bool:
    """Whether the user decided to keep a lesson, with or without new wording."""
    return bool(record.cue) and any(piece.origin == "user" and not piece.against for piece in record.evidence)


def is_dropped_by_user(record: Record) -> bool:
    """Whether the user decided to drop a lesson."""
    by_user = any(piece.origin == "user" and piece.against for piece in record.evidence)
    return bool(record.cue) and record.state == "retired" and by_user


def objection_reason(piece: Evidence) -> str:
    """The reason in a piece of evidence against a memory; empty if there is none."""
    return piece.why or piece.conditions.get("disputed", "") if piece.against else ""


DROPPED = "It was dropped in a review."
"""Replaces the reason if somebody dropped a lesson without one; nobody's words."""
MERGED, REWORDED = "It was merged into", "It was put in other words:"
"""How reasons begin that are nobody's words either."""


def objection_sentence(piece: Evidence, what: str = "that it is not so") -> str:
    """The sentence on who contradicted a memory and when, with the reason if one was given, else `what`."""
    if objection_reason(piece) == DROPPED:
        return f"{_WHO[piece.origin]} dropped it on {format_day(piece.recorded)}."
    why = one_line(objection_reason(piece)).rstrip(".")
    if why.startswith((MERGED, REWORDED)):
        return f"{why} ({format_day(piece.recorded)})."
    said = f": “{why if len(why) <= MOST_WHY else why[: MOST_WHY - 1].rstrip() + '…'}”" if why else f" {what}"
    # It was said in a message that was read later, which has its own time. A review names messages too, but is no
    # later.
    when = "" if piece.messages and piece.at < piece.recorded else f" on {format_day(piece.recorded)}"
    return f"{_WHO[piece.origin]} said{when}{said}."


def objections(record: Record) -> tuple[str, ...]:
    """The objections to a memory that nobody overruled, by whom, when and why, in sentences, the newest first."""
    last = max((each.recorded for each in supporting(record) if each.origin == "user"), default=record.recorded)
    told = [piece for piece in record.evidence if objection_reason(piece) and piece.recorded >= last]
    told.sort(key=lambda piece: piece.recorded, reverse=True)
    return tuple(dict.fromkeys(map(objection_sentence, told)))


def known_until(record: Record, moment: datetime) -> Record | None:
    """`record` with only the evidence known by `moment`, before it is settled; None if there was none."""
    told = tuple(each for each in record.evidence if each.recorded <= moment)
    return replace(record, evidence=told, seen=len(told)) if told else None


def _identity_key(piece: Evidence) -> tuple[object, ...]:
    return (
        piece.origin,
        piece.at if piece.timed else None,
        piece.until,
        piece.against,
        piece.adds,
        piece.messages,
        piece.summaries,
        piece.memories,
        None if piece.sources else (piece.recorded, evidence_project(piece)),
    )


def _recording_key(piece: Evidence) -> tuple[object, ...]:
    return (piece.recorded, piece.at, -piece.trust, -piece.confidence, -piece.salience, *_remaining_key(piece))


def _remaining_key(piece: Evidence) -> tuple[object, ...]:
    return piece.session, sorted(piece.conditions.items()), piece.project, piece.why


def _sorted_evidence(evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
    def by_time(piece: Evidence) -> tuple[object, ...]:
        end = "" if piece.until is None else piece.until.isoformat()
        said = (piece.origin, piece.against, end, *piece.sources)
        return (piece.at, piece.recorded, said, -piece.trust, *_remaining_key(piece))

    return tuple(sorted(evidence, key=by_time))


# How a memory is rendered as one line.


def one_line(text: str) -> str:
    """`text` with every run of white space replaced by one blank."""
    return " ".join(text.split())


def format_day(moment: datetime) -> str:
    """A day as written in a memory: 3 May 2026."""
    return f"{moment.day} {moment:%B} {moment.year:04}"


def format_month(moment: datetime) -> str:
    """A month as written if the day doesn't matter: May 2026."""
    return f"{moment:%B} {moment.year:04}"


def with_notes(text: str, notes: Iterable[str]) -> str:
    """`text`, followed by notes in brackets."""
    said = "; ".join(note for note in notes if note)
    return f"{one_line(text)} ({said})" if said else one_line(text)


def quoted(text: str, longest: int = 80) -> str:
    """The beginning of a text in quotation marks, once also where it is a quotation."""
    line = one_line(text)
    line = line[1:-1] if line[:1] == "“" and line.find("”") == len(line) - 1 else line
    return f"“{line}”" if len(line) <= longest else f"“{line[: longest - 1].rstrip()}…”"
