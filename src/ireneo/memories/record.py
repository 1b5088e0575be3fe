"""The record of a memory: what it says, of which kind it is, and what speaks for it.

What a record *is* (its evidence) is only ever added to. What follows from that (its state, its periods, who it was
superseded by) is settled anew each time by its kind, as a function of all the evidence under one key: so the order in
which things are told makes no difference, and telling them twice changes nothing.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal, NewType

from msgspec import Struct

from ireneo.log.message import MessageId

MemoryId = NewType("MemoryId", str)
"""``m_`` and 26 characters, from the kind and what makes two memories of it the same."""

Kind = Literal["episodic", "semantic", "procedural", "failure"]
Source = Literal["user", "agent", "run", "tool", "derived"]
"""Whose word it is: a person's, the agent's own, what the structure of a run shows, a tool's output, or a conclusion
from other memories."""
State = Literal["active", "superseded", "retired", "disputed", "erased"]
"""``superseded``: another one holds in its place. ``retired``: it no longer counts (overturned, or no ground is left
for it). ``disputed``: a less trusted word against one that stands. ``erased``: forgotten for good."""

TRUST: dict[Source, float] = {"user": 1.0, "agent": 0.7, "run": 0.6, "tool": 0.5, "derived": 0.4}
"""How far a word is trusted where nobody says, from 0 to 1."""


class Evidence(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One time that something was said or seen."""

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
    conditions: dict[str, str] = {}
    """Of a failure: what held when it was seen."""
    session: str = ""
    project: str = ""
    """The project that it was said or seen in, where that is known."""
    why: str = ""
    """Of a word against the memory: what is wrong with it, in the words of whoever said so."""
    messages: tuple[MessageId, ...] = ()
    summaries: tuple[str, ...] = ()
    memories: tuple[MemoryId, ...] = ()
    """Of a conclusion: the memories that it was drawn from."""

    @property
    def sources(self) -> tuple[str, ...]:
        """Every id that it names."""
        return (*self.messages, *self.summaries, *self.memories)

    @property
    def timed(self) -> bool:
        """Whether somebody said when; where nobody does, it counts from when it was told."""
        return self.at != self.recorded

    @property
    def when(self) -> datetime | None:
        """When it happened; None where that is not known.

        What somebody tells by hand and gives no time of, happened as far as they know when they told it. What was
        drawn from messages that bear no time did not: they may be read years later.
        """
        return self.at if self.timed or not self.sources else None


class Period(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A time in which something was true: from `start` on, up to but without `end` (None: it is so still)."""

    start: datetime
    end: datetime | None = None


class Record(Struct, frozen=True, kw_only=True, omit_defaults=True):
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
    """Of a lesson: the name of the claim that it makes, by which its sightings are found. Empty: it is no lesson."""
    conditions: dict[str, str] = {}
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

    @property
    def when(self) -> datetime | None:
        """`at`, as far as that is known: None where all that speaks for it was drawn from messages without times."""
        return self.at if any(each.when is not None for each in self.evidence) else None

    @property
    def sources(self) -> tuple[str, ...]:
        """Every id that its evidence names, each once, in order."""
        return tuple(dict.fromkeys(name for each in self.evidence for name in each.sources))

    @property
    def sessions(self) -> tuple[str, ...]:
        """The sessions that it comes from, each once."""
        return tuple(dict.fromkeys(each.session for each in self.evidence if each.session))

    @property
    def last_used(self) -> datetime | None:
        """When it was used last."""
        return self.uses[0] if self.uses else None

    @property
    def holds(self) -> bool:
        """Whether it may be recalled as what is the case."""
        return self.state == "active" and not self.archived
