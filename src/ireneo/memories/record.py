"""The record of a memory and its evidence.

Also drafts of memories, how pieces of evidence are identified and summed up, and when two texts say the same.
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

# What a record *is* (its evidence) is only ever added to. What follows from that (its state, its periods, who it was
# superseded by) is settled anew each time by its kind, as a function of all the evidence under one key: so the order in
# which things are told makes no difference, and telling them twice changes nothing.


MemoryId = NewType("MemoryId", str)
"""``m_`` and 26 characters, from the kind and what makes two memories of it the same."""

Kind = Literal["episodic", "semantic", "procedural", "failure"]
Source = Literal["user", "agent", "run", "tool", "derived"]
"""Whose word it is: a person's, the agent's own, what the structure of a run shows, a tool's output, or a conclusion
from other memories."""
State = Literal["active", "superseded", "retired", "disputed", "erased"]
"""``superseded``: another one holds in its place. ``retired``: it no longer counts (overturned, or no ground is left
for it). ``disputed``: a less trusted word against one that stands. ``erased``: forgotten for good."""

GENERAL = "*"
"""The project of what is marked general: every project sees it."""

TRUST: dict[Source, float] = {"user": 1.0, "agent": 0.7, "run": 0.6, "tool": 0.5, "derived": 0.4}
"""How far a word is trusted where nobody says, from 0 to 1."""


class Evidence(ShortRepr, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One time that something was said or observed."""

    at: datetime
    """When it happened, or since when it is so."""
    recorded: datetime
    """When we were told."""
    origin: Source = "user"
    trust: float = 1.0
    until: datetime | None = None
    """Of what is true: when it ended, where that was said."""
    against: bool = False
    """It speaks against the memory: the approach worked after all, the steps failed."""
    adds: bool = False
    """Of what is true: it stands beside the other values of its slot, and takes the place of none."""
    salience: float = 0.5
    confidence: float = 0.8
    conditions: dict[str, str] = field(default_factory=dict)
    """Of a failure: what held when it was seen."""
    session: str = ""
    project: str = ""
    """The project that it was said or seen in, where that is known; ``*``: it is meant for all."""
    labels: tuple[str, ...] = ()
    why: str = ""
    """Of a word against the memory: what is wrong with it, in the words of whoever said so."""
    messages: tuple[MessageId, ...] = ()
    summaries: tuple[str, ...] = ()
    memories: tuple[MemoryId, ...] = ()
    """Of a conclusion: the memories that it was drawn from."""

    @property
    def sources(self) -> tuple[str, ...]:
        """The ids of all its sources."""
        return (*self.messages, *self.summaries, *self.memories)

    @property
    def timed(self) -> bool:
        """Whether a time was stated; otherwise it counts from when it was told."""
        return self.at != self.recorded

    @property
    def when(self) -> datetime | None:
        """When it happened; None where that is not known.

        What somebody tells by hand and gives no time of, happened as far as they know when they told it. What was
        drawn from messages that bear no time did not: they may be read years later.
        """
        return self.at if self.timed or not self.sources else None


class Period(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A time in which something was true: from `start` up to, and without, `end` (None: still)."""

    start: datetime
    end: datetime | None = None


class MemoryChange(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A change of a memory's details by hand; None: unchanged."""

    at: datetime
    origin: Source = "user"
    labels: tuple[str, ...] | None = None
    """All of its labels from then on, as far as they had been told."""
    project: str | None = None
    """Where all belongs that had been told by then."""
    pinned: bool | None = None
    text: str = ""
    """Where it was put in other words: those that it had before."""
    joined: bool = False
    """It took in others, which may have been told in other words."""


class Record(ShortRepr, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A memory."""

    id: MemoryId
    kind: Kind
    key: str
    """What its kind finds it again by: the slot, task type and name, the signature; else ``t_…``, from its words."""
    text: str
    at: datetime
    """When what it tells happened; of a fact: since when it is so."""
    recorded: datetime
    """When we were told first."""
    evidence: tuple[Evidence, ...]
    """What speaks for it and against it, by `at`, then `recorded`; at least one piece."""
    seen: int = 1
    """How often it was told or seen; more than there is evidence where old evidence was let go of."""
    state: State = "active"
    reason: str = ""
    """Why it is in this state, in a sentence."""
    superseded_by: MemoryId | None = None
    periods: tuple[Period, ...] = ()
    """Of a fact: when it was true, as we believe now."""
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    """Of a fact: its last period."""
    retired: datetime | None = None
    """When we stopped believing it, or put it away."""
    salience: float = 0.5
    """How much it mattered, from 0 to 1."""
    confidence: float = 0.8
    """How sure we are, from 0 to 1: more, the more speaks for it."""
    origin: Source = "user"
    trust: float = 1.0
    """Those of its most trusted evidence."""
    subject: str = ""
    attribute: str = ""
    value: str = ""
    """Of a fact in a slot: what was said of it, where that is told apart from the text."""
    task_type: str = ""
    name: str = ""
    version: int = 1
    signature: str = ""
    cue: str = ""
    """Of a lesson: the name of the claim that it makes, by which its observations are found. Empty: it is no lesson."""
    drawn: str = ""
    """Of a lesson that the user reworded: the words in which it was drawn from runs. Empty: those of `text`."""
    conditions: dict[str, str] = field(default_factory=dict)
    """Of a failure: what held when it failed (tool, version, repository, file hashes)."""
    uses: tuple[datetime, ...] = ()
    """The last times that it was shown to be acted on, the newest first, at most ten."""
    used: int = 0
    """How often that was."""
    helped: int = 0
    harmed: int = 0
    reflected: datetime | None = None
    """Of an episode: when a conclusion was drawn from it."""
    stale: str = ""
    """Why it must be reconsidered: what it was drawn from no longer holds. Empty: it need not."""
    pinned: bool = False
    """It is never evicted."""
    archived: bool = False
    """It was evicted: not recalled, and restorable."""
    archived_at: datetime | None = None
    archived_why: str = ""
    """When and why it was evicted."""
    changes: tuple[MemoryChange, ...] = ()
    """What was changed about it by hand, the oldest first."""

    @property
    def labels(self) -> tuple[str, ...]:
        """Its labels, in order: as told, or as last changed by hand."""
        last = next((each for each in reversed(self.changes) if each.labels is not None), None)
        told = {name for each in self.evidence if last is None or each.recorded > last.at for name in each.labels}
        return tuple(sorted(told.union(last.labels or () if last else ())))

    @property
    def projects(self) -> tuple[str, ...]:
        """Of each piece of evidence the project that it says it is of, or that it was moved to; empty: it says none."""
        last = next((each for each in reversed(self.changes) if each.project is not None), None)
        return tuple(
            last.project or "" if last is not None and each.recorded <= last.at else project_of(each)
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
    def last_used(self) -> datetime | None:
        """When it was last used."""
        return self.uses[0] if self.uses else None

    @property
    def holds(self) -> bool:
        """Whether it is true, as far as is known, and may be recalled as such."""
        return self.state == "active" and not self.archived


NAMES = ("subject", "attribute", "value", "task_type", "name", "signature")
"""What a memory is called by beside its text; which of them, depends on its kind."""


class MemoryDraft(Evidence, frozen=True, kw_only=True, omit_defaults=True):
    """A memory to be stored, with its evidence: validated and of a known kind, not compared with others yet."""

    text: str
    kind: Kind
    subject: str = ""
    attribute: str = ""
    value: str = ""
    task_type: str = ""
    name: str = ""
    signature: str = ""
    cue: str = ""
    """Of a lesson: the code of its claim."""
    pinned: bool = False
    quote: str = ""
    """The words of the message that say so, where the text tells them otherwise."""
    told: datetime | None = None
    """When it was said, where that is another time than that of which it tells."""


# When two texts say the same: the same words in the same order, but for case, articles, punctuation and contractions.
#
# That is strict on purpose. A text that is taken for another is lost, one that is not is only held twice. So no word is
# reduced to its stem ("lives" is not "lived"), none is left out for being common ("to Rome" is not "from Rome", "is" is
# not "is not"), and numbers and names must be the same. What is left is an equivalence: three texts that are alike in
# pairs are all alike, and so the order in which they come makes no difference.


_MARK = lazy_re(r"\[[ms]_[a-z2-7]{3,26}\]")
_AROUND = ".,;:!?\"“”„«»‘'`()[]{}*_…"
_DASHES = frozenset({"-", "–", "—", "•", "*", "+", "#", ">"})


@lru_cache(1_024)
def normal(text: str) -> str:
    """The words of `text` as they are compared; never empty unless `text` is blank. Idempotent."""
    # In another form a letter may only appear once others have been put together, so folding is repeated.
    folded = _folded(_folded(_MARK.sub(" ", text)))
    words = [form for word in folded.split() for form in _spelled_out(word.strip(_AROUND)).split()]
    said = [word for word in words if word not in _DASHES]
    articles = of_language(Words, "en").articles
    kept = [word for word in said if word not in articles]
    return " ".join(kept or said or folded.split())


def likeness_key(*pieces: str) -> str:
    """``t_`` and 26 characters: the same for texts that say the same, piece by piece."""
    return digest("t", *(normal(piece).encode() for piece in pieces))


def slot(*names: str) -> str:
    """A key made of names, which are compared without case and blanks."""
    return "\x1f".join(" ".join(name.casefold().split()) for name in names)


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).replace("’", "'").casefold()


@lru_cache(4_096)
def _spelled_out(word: str) -> str:
    known = of_language(Words, "en")
    if word in known.contractions:
        return " ".join(known.contractions[word])
    for ending, meant in known.contracted.items():
        if word.endswith(ending) and word != ending:
            return " ".join((word.removesuffix(ending), *meant))
    return word


# What speaks for a memory: how pieces of evidence are told apart, kept, and summed up.
#
# All of it is free of order: whichever piece comes first, the same pieces are kept in the end and sum up to the same.


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


def evidence_of(draft: MemoryDraft) -> Evidence:
    """The evidence that a draft contains."""
    return Evidence(**{name: getattr(draft, name) for name in Evidence.__struct_fields__})


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
    """`record` with the fields that follow from its evidence: origin, trust, confidence and salience."""
    speaking = supporting(record) or record.evidence
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


def supporting(record: Record) -> tuple[Evidence, ...]:
    """The evidence for the memory, not against it."""
    return tuple(each for each in record.evidence if not each.against)


def project_of(piece: Evidence) -> str:
    """The project that a piece of evidence names; empty if it names none."""
    return piece.project or piece.conditions.get("project", "")


def is_kept(record: Record) -> bool:
    """Whether the user decided to keep a lesson, in its own words or in others."""
    return bool(record.cue) and any(piece.origin == "user" and not piece.against for piece in record.evidence)


def is_dropped(record: Record) -> bool:
    """Whether the user decided to drop a lesson."""
    by_user = any(piece.origin == "user" and piece.against for piece in record.evidence)
    return bool(record.cue) and record.state == "retired" and by_user


def why_against(piece: Evidence) -> str:
    """What evidence against a memory says is wrong with it; empty if it says nothing."""
    return piece.why or piece.conditions.get("disputed", "") if piece.against else ""


DROPPED = "It was dropped in a review."
"""What stands in the place of a reason where somebody dropped a lesson without one: nobody's words."""


def said_against(piece: Evidence, what: str = "that it is not so") -> str:
    """Who contradicted a memory and when, with the reason if one was given, else `what`."""
    if why_against(piece) == DROPPED:
        return f"{_WHO[piece.origin]} dropped it on {day(piece.recorded)}."
    why = one_line(why_against(piece)).rstrip(".")
    said = f": “{why if len(why) <= MOST_WHY else why[: MOST_WHY - 1].rstrip() + '…'}”" if why else f" {what}"
    # Said in a message that is read later: that message tells when. A review names messages too, and is no later.
    when = "" if piece.messages and piece.at < piece.recorded else f" on {day(piece.recorded)}"
    return f"{_WHO[piece.origin]} said{when}{said}."


def disputes(record: Record) -> tuple[str, ...]:
    """Who contradicted a memory, when and why, in sentences, the newest first."""
    told = sorted((piece for piece in record.evidence if why_against(piece)), key=lambda piece: piece.recorded)
    return tuple(dict.fromkeys(said_against(piece) for piece in reversed(told)))


def as_told_until(record: Record, moment: datetime) -> Record | None:
    """`record` with only the evidence known by `moment`, not settled yet; None if there was none."""
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


# How a memory is put into one line.


def one_line(text: str) -> str:
    """`text` with every run of white space replaced by one blank."""
    return " ".join(text.split())


def day(moment: datetime) -> str:
    """A day as written in a memory: 3 May 2026."""
    return f"{moment.day} {moment:%B} {moment.year:04}"


def month(moment: datetime) -> str:
    """A month as written if the day doesn't matter: May 2026."""
    return f"{moment:%B} {moment.year:04}"


def with_notes(text: str, notes: Iterable[str]) -> str:
    """`text`, followed by notes in brackets."""
    said = "; ".join(note for note in notes if note)
    return f"{one_line(text)} ({said})" if said else one_line(text)


def quoted(text: str, longest: int = 80) -> str:
    """The beginning of a text in quotation marks."""
    line = one_line(text)
    return f"“{line}”" if len(line) <= longest else f"“{line[: longest - 1].rstrip()}…”"
