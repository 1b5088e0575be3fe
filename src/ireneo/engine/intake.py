"""Read what people say into memories: each message once along each path, whoever is killed, and however many race.

How far a path was read is marked in the transaction that stores what was read, so a stretch is read whole or not at
all, and of two that read the same the second finds it read. What forks share is read once. Another reader than the
first reads nothing again that a user may have put right since.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from ireneo.engine.provenance import is_source
from ireneo.engine.remember import Remembered, settle_drafts
from ireneo.engine.resources import Resources
from ireneo.engine.scope import Scope, ScopeLimits
from ireneo.log.message import Message, MessageId, Text, said_in
from ireneo.log.tree import BEFORE_FIRST, SessionKey
from ireneo.memories.changes import replaced_by
from ireneo.memories.extract import SaidFact, said_facts
from ireneo.memories.record import NAMES, TRUST, MemoryDraft, Record, Source
from ireneo.ports.memories import MemoryFilter
from ireneo.ports.store import SessionInfo, Transaction
from ireneo.summaries.own_words import own_words
from ireneo.summaries.policy import Policy, preset_of

READ = "read"
"""The mark of what needs no reader any more."""
BATCH = 32
"""Messages that are read in one transaction: so much is done again after a crash, at the most."""
MOST_KNOWN = 400
"""Memories by which names are told and changes known, the newest."""
KINDS_SAID = ("semantic", "episodic", "procedural")
BEFORE = 4
"""Messages before a stretch that its first ones may answer or put right."""
LONGEST = 8_000
"""Characters of a message that are read: whoever says more than that has pasted it."""
REDACTED = "[REDACTED "
"""What a secret's mark begins with."""
_NEXT = timedelta(microseconds=1)
"""By which of two facts that were told in one stretch the later one is told later."""


class Stretch(Struct, frozen=True, kw_only=True):
    """Messages of a path that nobody has read yet, and those right before them."""

    key: SessionKey
    branch: str
    before: tuple[Message, ...]
    messages: tuple[Message, ...]
    """At least one."""


class Heard(Struct, frozen=True, kw_only=True):
    """What was remembered of a stretch."""

    session: str
    branch: str
    first_position: int
    last_position: int
    remembered: tuple[Remembered, ...]


class Utterance(Struct, frozen=True, kw_only=True):
    """What somebody says in a message in their own words."""

    message: MessageId
    role: Literal["user", "assistant"]
    speaker: str
    """The author's name, or else the role."""
    text: str
    at: datetime | None


async def listen(resources: Resources, info: SessionInfo, preset: Policy | None = None) -> AsyncIterator[Heard]:
    """Read what is due of one session, on each of its branches, and yield what became memories."""
    if not resources.listen:
        return
    policy = preset or preset_of(info.source, resources.preset)
    for branch in await resources.store.read(lambda tx: tx.sessions.branches(info.key)):
        while await resources.store.read(due_intake, info.key, branch, policy) is not None:
            heard = await resources.store.write(_read_by_rules, resources, info.key, branch, policy)
            if heard is not None and heard.remembered:
                yield heard


def due_intake(tx: Transaction, key: SessionKey, branch: str, policy: Policy) -> Stretch | None:
    """The first messages of a branch that nobody has read yet, so many at a time; None where there are none.

    A story of many voices is no conversation: what its characters say of themselves is true of nobody.
    """
    head = tx.log.head(key, branch)
    read = BEFORE_FIRST if head is None else tx.read_marks.read_to(key, head.id, READ)
    if head is None or read == head.position:
        return None
    if policy.story is not None and len(tx.log.speakers(key.space, key.session)) > 1:
        return None
    path = tx.log.path(key, head.id, max(0, read + 1 - BEFORE), read + BATCH)
    new = next(place for place, message in enumerate(path) if message.position > read)
    return Stretch(key=key, branch=branch, before=tuple(path[:new]), messages=tuple(path[new:]))


def _read_by_rules(tx: Transaction, resources: Resources, key: SessionKey, branch: str, policy: Policy) -> Heard | None:
    """Read the next messages of a branch by rules, store what they say, and that they were read; all at once.

    What a message says is settled before the next one is read, which may put it right.
    """
    stretch = due_intake(tx, key, branch, policy)
    if stretch is None:
        return None
    cleaning, now = resources.drawing(), resources.clock.now()
    known = Known(tx, key)
    before = [said.text for message in stretch.before for said in utterances(cleaning.message(message))]
    remembered: list[Remembered] = []
    for message in stretch.messages:
        for said in utterances(cleaning.message(message)):
            facts = said_facts(
                said.text, speaker=said.speaker, role=said.role, at=said.at, before=before[-BEFORE:], known=known.facts
            )
            for fact in facts:
                ended = replaced_by(fact, known.facts)
                settled = settle_drafts(tx, key.space, drafts_of(fact, said, key, now + len(remembered) * _NEXT, ended))
                known.learn(settled)
                remembered += settled
            before.append(said.text)
    tx.read_marks.put(key, stretch.messages[-1].id, READ)
    return heard_of(stretch, remembered)


class Known:
    """What is known when a message is read: the newest facts and events that its session may see."""

    def __init__(self, tx: Transaction, key: SessionKey) -> None:
        """Read them."""
        info = tx.sessions.get(key)
        scope = Scope.of(tx, key.space, ScopeLimits(project=(info.project if info else None) or ""))
        listed = tx.memories.list(key.space, MemoryFilter(states=("active",), archived=False), MOST_KNOWN)
        seen = scope.seen([each for each in listed if each.kind in KINDS_SAID and not each.cue])
        self._held = {each.id: each for each in seen if each is not None}

    @property
    def facts(self) -> Sequence[Record]:
        """Those that hold."""
        return [each for each in self._held.values() if each.state == "active"]

    def learn(self, settled: Sequence[Remembered]) -> None:
        """Take note of what became of something that was just told."""
        self._held.update({each.id: each for done in settled for each in (done.record, *done.changed)})


def utterances(message: Message) -> Iterator[Utterance]:
    """What a user or an agent says in a message, without what is pasted, quoted or recalled in it.

    A message that calls tools says what is about to be done, and is passed over.
    """
    draft = said_in(message.draft)
    if not is_source(message) or draft.role not in ("user", "assistant") or draft.calls:
        return
    role: Literal["user", "assistant"] = "user" if draft.role == "user" else "assistant"
    for part in draft.parts:
        if isinstance(part, Text):
            own = "\n".join(each.text for each in own_words(part.text[:LONGEST]))
            if own:
                yield Utterance(message=message.id, role=role, speaker=part.author or role, text=own, at=draft.at)


def drafts_of(
    fact: SaidFact, said: Utterance, key: SessionKey, now: datetime, ended: Sequence[Record]
) -> list[MemoryDraft]:
    """The pieces of evidence that a fact is: against each memory that it `ended`, then for itself.

    Nothing of a fact in which a secret was. One that only says that something is over is none itself.
    """
    if REDACTED in f"{fact.text} {fact.value}":
        return []
    origin: Source = "user" if said.role == "user" else "agent"
    at = fact.at or said.at or now
    own = MemoryDraft(
        text=fact.text,
        kind=fact.kind,
        at=min(at, fact.until) if fact.until else at,
        recorded=now,
        until=fact.until,
        origin=origin,
        trust=TRUST[origin],
        subject=fact.subject,
        attribute=fact.attribute,
        value=fact.value,
        against=fact.against,
        why=fact.quote if fact.against else "",
        adds=fact.adds,
        confidence=fact.confidence,
        salience=fact.salience,
        session=key.session,
        messages=(said.message,),
    )
    over = [
        replace(own, at=at, until=None, adds=False, against=True, why=fact.quote, **_called(each), kind=each.kind)
        for each in ended
    ]
    is_only_an_end = fact.against and not fact.attribute and fact.kind != "episodic"
    return over if is_only_an_end else [*over, own]


def _called(record: Record) -> dict[str, str]:
    """What a memory says, and what it is found again by."""
    return {name: getattr(record, name) for name in ("text", *NAMES)}


def heard_of(stretch: Stretch, remembered: Sequence[Remembered]) -> Heard:
    """What was remembered of a stretch."""
    return Heard(
        session=stretch.key.session,
        branch=stretch.branch,
        first_position=stretch.messages[0].position,
        last_position=stretch.messages[-1].position,
        remembered=tuple(remembered),
    )
