"""Find the secrets that a space holds, and remove them from everything stored.

A session is copied without its secrets, with the resulting ids, and replaced by the copy, so that its logs are
recognised when imported again. References to its messages are updated. An erased message keeps its id, which keeps it
from being imported again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, TypeVar

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from ireneo.engine.exchange import settle_record
from ireneo.engine.resources import Cleaning, Resources, redact_json
from ireneo.engine.tree import all_annotations, all_messages, all_summaries
from ireneo.log.message import Draft, Message, MessageId, count_parts, erase, message_id
from ireneo.log.tree import Annotation, AnnotationId, SessionKey, annotation_id
from ireneo.memories.kinds import KINDS
from ireneo.memories.record import MemoryId
from ireneo.patterns import readable
from ireneo.ports.memories import MemoryFilter
from ireneo.ports.store import Transaction
from ireneo.summaries.summary import Summary

S = TypeVar("S", bound=Struct)

COPIED_AT_A_TIME = 500
ON_THE_WAY = " (on its way to be without secrets)"
"""Suffix of a session's name while it is copied, within one transaction."""


class SessionCopy(Struct, kw_only=True):
    """The messages of a session that was copied."""

    ids: dict[str, MessageId] = field(default_factory=dict)
    """The new id of each message, by its old one."""
    totals: dict[MessageId, int] = field(default_factory=dict)
    """The tokens of the path to each message, by its new id."""
    erased: list[Message] = field(default_factory=list)

    def has_same_id(self, *messages: MessageId) -> bool:
        """Whether messages keep their ids: then the whole path to them is unchanged."""
        return all(self.ids.get(each) == each for each in messages)


def redact_session(tx: Transaction, resources: Resources, key: SessionKey) -> None:
    """Remove the secrets from a session and everything that belongs to it."""
    cleaning = resources.derived_cleaning()
    target = SessionKey(key.space, cleaning.text(key.session))
    through = SessionKey(key.space, key.session + ON_THE_WAY)
    info = tx.sessions.get(key)
    if info is None:
        return
    tx.erasure.begin()
    source = info.source and cleaning.text(info.source)
    branches = tx.sessions.branches(key)
    tx.sessions.create(through, source)
    copied = _copy_session(tx, key, through, lambda draft: cleaning.variants(draft).drafts[0], resources)
    summaries, dropped = _remaining_summaries(tx, key, copied, cleaning)
    stretches = {each.stretch: _rename_ids(each, copied.ids).stretch for each in all_summaries(tx, key)}
    notes = _rename_annotations(all_annotations(tx, key), copied.ids, stretches, cleaning)
    marks = [
        each
        for each in tx.rebuilds.of_session(key)
        if copied.has_same_id(each.at) and dropped.isdisjoint(each.taken_up)
    ]
    read = tx.read_marks.of_session(key)
    tx.erasure.session(key)
    tx.sessions.create(target, source)
    if info.project is not None:
        tx.sessions.set_project(target, cleaning.text(info.project))
    _copy_session(tx, through, target, lambda draft: draft, resources)
    tx.erasure.session(through)
    there = tx.sessions.branches(target)
    for name, head in branches.items():
        clean = cleaning.text(name)
        if clean not in there:
            tx.log.move(target, clean, copied.ids[head.id] if head else None)
    tx.summaries.put(target, summaries)
    tx.annotations.put(target, notes)
    for mark in marks:
        tx.rebuilds.put(target, mark)
    for reader, last in read:
        tx.read_marks.put(target, copied.ids[last], reader)
    renamed = {old: new for old, new in copied.ids.items() if old != new}
    _rename_sources(tx, key.space, renamed, dropped)


def redact_memories(tx: Transaction, resources: Resources, space: str) -> None:
    """Remove the secrets from memories, settling each anew from its redacted evidence."""
    records = tx.memories.list(space, MemoryFilter())
    pairs = [
        (record, clean) for record in records if (clean := resources.derived_cleaning().struct(record)) is not record
    ]
    if not pairs:
        return
    tx.erasure.begin()
    tx.memories.remove(space, [record.id for record, _ in pairs])
    for kind, key in dict.fromkeys((record.kind, record.key) for record, _ in pairs):
        if under := tx.memories.of_key(space, kind, key):
            tx.memories.put(space, KINDS[kind].settle(under))
    ids: dict[str, MemoryId] = {}
    # Conclusions come after the memories from which they were drawn.
    for record, clean in sorted(pairs, key=lambda pair: (pair[0].recorded, pair[0].id)):
        renamed = _rename_ids(clean, ids)
        settled = settle_record(tx, space, renamed, is_new=True)
        if settled.stale != renamed.stale:
            tx.memories.put(space, [replace(settled, stale=renamed.stale)])
        ids[record.id] = settled.id
    _rename_sources(tx, space, {old: new for old, new in ids.items() if old != new}, frozenset())


def redact_runs(tx: Transaction, resources: Resources, space: str) -> None:
    """Remove runs that hold secrets, so that their sessions are learned from again.

    A run whose session is not stored is redacted instead.
    """
    for run in tx.runs.list(space):
        cleaning = resources.derived_cleaning()
        clean = cleaning.struct(run)
        shown = {each.cue: each for each in map(cleaning.struct, tx.runs.of_run(space, run.session))}
        if not cleaning.secrets:
            continue
        tx.erasure.begin()
        tx.runs.remove(space, run.session)
        if tx.sessions.get(SessionKey(space, clean.session)) is None:
            tx.runs.put(space, clean, list(shown.values()))


def redact_others(tx: Transaction, resources: Resources, space: str) -> None:
    """Remove the secrets from scratchpads, and from the names of learned files."""
    for pad in tx.pads.list(space):
        if (clean := resources.derived_cleaning().struct(pad)) is not pad:
            tx.erasure.begin()
            tx.pads.remove(space, pad.task)
            tx.pads.write(space, clean)
    for file in tx.ledger.list(space):
        if (named := resources.derived_cleaning().struct(file)) is not file:
            tx.erasure.begin()
            tx.ledger.remove(space, [file])
            tx.ledger.mark(space, named)


def _copy_session(
    tx: Transaction, source: SessionKey, target: SessionKey, change: Callable[[Draft], Draft], resources: Resources
) -> SessionCopy:
    """Copy the tree of a session with each draft changed; two messages that become equal are stored once."""
    copied = SessionCopy()
    batch: list[Message] = []
    for message in all_messages(tx, source, whole=True):
        new = _copy_message(message, message.draft if message.erased else change(message.draft), copied, resources)
        copied.ids[message.id] = new.id
        if new.id in copied.totals:
            continue
        copied.totals[new.id] = new.total_tokens
        if message.erased:
            copied.erased.append(new)
        if batch and (len(batch) >= COPIED_AT_A_TIME or batch[-1].id != new.parent):
            tx.log.insert(target, batch)
            batch = []
        batch.append(new)
    if batch:
        tx.log.insert(target, batch)
    if copied.erased:
        tx.erasure.messages(target, [erase(each) for each in copied.erased])
    return copied


def _copy_message(message: Message, draft: Draft, copied: SessionCopy, resources: Resources) -> Message:
    parent = message.parent and copied.ids[message.parent]
    name = message.id
    if not message.erased and (draft is not message.draft or parent != message.parent):
        name = message_id(parent, draft.role, draft.parts)
    tokens, thinking = message.tokens, message.thinking_tokens
    if draft.parts is not message.draft.parts:
        tokens, thinking = count_parts(draft.parts, resources.count)
    return replace(
        message,
        id=name,
        parent=parent,
        draft=draft,
        tokens=tokens,
        thinking_tokens=thinking,
        total_tokens=tokens + (copied.totals[parent] if parent else 0),
    )


def _remaining_summaries(
    tx: Transaction, key: SessionKey, copied: SessionCopy, cleaning: Cleaning
) -> tuple[list[Summary], frozenset[str]]:
    """The summaries of unchanged messages, and the ids of all other summaries."""
    every = list(all_summaries(tx, key))
    stay = {
        each.id: each for each in every if copied.has_same_id(each.first, each.last) and cleaning.struct(each) is each
    }
    while lost := [each.id for each in stay.values() if not stay.keys() >= set(each.sources)]:
        for name in lost:
            del stay[name]
    return list(stay.values()), frozenset(each.id for each in every if each.id not in stay)


_NAMING: Mapping[str, int] = MappingProxyType({"release": 1, "dispute": 1, "wording": 2})
"""Kinds of annotations that name other annotations, and are renamed after them."""


def _rename_annotations(
    notes: Sequence[Annotation], ids: Mapping[str, MessageId], stretches: Mapping[str, str], cleaning: Cleaning
) -> list[Annotation]:
    """The annotations with the new ids of the messages and annotations that they name."""
    names: dict[str, str] = dict(stretches)
    out = []
    for note in sorted(notes, key=lambda each: _NAMING.get(each.kind, 0)):
        clean = replace(
            _rename_ids(note, ids),
            text=cleaning.text(note.text),
            claim=cleaning.text(note.claim),
            about=names.get(note.about, note.about),
            who=cleaning.text(note.who),
            whom=cleaning.text(note.whom),
            known_to=tuple(cleaning.text(each) for each in note.known_to),
            answers=tuple(AnnotationId(names.get(each, each)) for each in note.answers),
        )
        if clean != note:
            about = f"{clean.about} {clean.claim}".strip() if clean.kind == "dispute" else clean.about
            about = " ".join(filter(None, (about, clean.sort, clean.who, clean.whom, str(clean.number or ""))))
            clean = replace(clean, id=annotation_id(clean.kind, clean.at, clean.text, about))
        names[note.id] = clean.id
        out.append(clean)
    return out


def _rename_sources(tx: Transaction, space: str, ids: Mapping[str, str], dropped: frozenset[str]) -> None:
    """Rename the sources of memories, and remove dropped summaries from them."""
    names = [*ids, *dropped]
    for start in range(0, len(names), COPIED_AT_A_TIME):
        citing = tx.memories.citing(space, names[start : start + COPIED_AT_A_TIME])
        for record in citing:
            pieces = (_rename_ids(piece, ids) for piece in record.evidence)
            kept = (replace(each, summaries=tuple(id for id in each.summaries if id not in dropped)) for each in pieces)
            tx.memories.put(space, [replace(record, evidence=tuple(kept))])


def _rename_ids(value: S, names: Mapping[str, str] | Mapping[str, MessageId] | Mapping[str, MemoryId]) -> S:
    """The value with the ids of messages, summaries or memories in it replaced."""
    held = msgspec.to_builtins(value)
    renamed = redact_json(held, "", lambda text, _: names.get(text, text))
    return value if renamed == held else msgspec.convert(renamed, readable(type(value)))


# fmt: off
SecretPlace = Literal[
    "messages", "payloads", "summaries", "notes", "names", "leases", "memories", "scratchpads", "runs", "files",
]
# fmt: on
"""The places that may hold secrets: the parts of messages; their native payloads and log records; summaries;
annotations; the names of sessions, branches and sources; the errors of failed work; memories; scratchpads; runs with
their observations; learned files."""


class SecretCounts(Struct, frozen=True, kw_only=True):
    """Secrets in things of one kind."""

    where: SecretPlace
    session: str
    """The session's redacted name; empty for what belongs to no session."""
    things: int
    """How many messages, summaries or memories contain secrets."""
    kinds: Mapping[str, int]
    """How many different secrets there are, by kind."""


class Secrets(Struct, frozen=True, kw_only=True):
    """The result of a search for secrets."""

    found: tuple[SecretCounts, ...]
    """The places of the secrets, or those before they were removed."""
    messages: int
    """How many messages were examined."""
    repaired: bool = False
    """Whether the secrets were removed."""
    complete: bool = True
    """Whether no byte of the store holds what was removed, now or earlier."""
    note: str = ""
    """The steps that remain if it isn't `complete`, and the reason."""


class SecretCounter:
    """Counts the things that hold secrets, and the secrets, by place."""

    def __init__(self, cleaning: Callable[[], Cleaning]) -> None:
        self._cleaning = cleaning
        self._things: Counter[tuple[str, SecretPlace]] = Counter()
        self._secrets: dict[tuple[str, SecretPlace], dict[str, str]] = {}

    def note(self, session: str, where: SecretPlace, cleaning: Cleaning) -> None:
        """Record what `cleaning` found in one thing."""
        if cleaning.secrets:
            self._things[session, where] += 1
            self._secrets.setdefault((session, where), {}).update(cleaning.secrets)

    def struct(self, session: str, where: SecretPlace, *things: Struct) -> None:
        """Examine values, each one thing."""
        for thing in things:
            cleaning = self._cleaning()
            cleaning.struct(thing)
            self.note(session, where, cleaning)

    def text(self, session: str, where: SecretPlace, *texts: str) -> None:
        """Examine texts that together are one thing."""
        cleaning = self._cleaning()
        for text in texts:
            cleaning.text(text)
        self.note(session, where, cleaning)

    def message(self, session: str, message: Message) -> None:
        """Examine a message, with its native payload and log record."""
        cleaning = self._cleaning()
        draft = cleaning.variants(message.draft).drafts[0]
        if not cleaning.secrets:
            return
        says = draft.parts is not message.draft.parts
        self.note(session, "messages" if says else "payloads", cleaning)

    def found(self) -> tuple[SecretCounts, ...]:
        """Everything recorded, session by session."""
        return tuple(
            SecretCounts(
                where=where,
                session=session,
                things=things,
                kinds=dict(sorted(Counter(self._secrets[session, where].values()).items())),
            )
            for (session, where), things in self._things.items()
        )


async def secrets(
    resources: Resources, space: str, *, repair: bool = False, on_looked: Callable[[int], None] = lambda messages: None
) -> Secrets:
    """Search everything stored of a space for secrets; with `repair` remove them, down to every byte.

    Each session and each kind of the rest is one transaction: if the process is killed, a later call does the rest.
    `on_looked` receives how many more messages were examined.
    """
    store = resources.store
    seen = SecretCounter(resources.derived_cleaning)
    looked = 0
    dirty: list[SessionKey] = []
    for info in await store.read(lambda tx: tx.sessions.list(space)):
        before = len(seen.found())
        looked += await store.read(_examine_session, info.key, seen, resources.derived_cleaning(), on_looked)
        if len(seen.found()) > before:
            dirty.append(info.key)
    await store.read(_examine_learned, space, seen)
    if repair:
        for key in dirty:
            await store.write(redact_session, resources, key)
        for redact in (redact_memories, redact_runs, redact_others):
            await store.write(redact, resources, space)
    scrubbed = await store.scrub(look=not repair)
    learn_again = LEARN_AGAIN if repair and dirty else ""
    return Secrets(
        found=seen.found(),
        messages=looked,
        repaired=repair and bool(seen.found()),
        complete=scrubbed.complete,
        note=" ".join(filter(None, (scrubbed.note, learn_again))),
    )


LEARN_AGAIN = (
    "What was learned from these sessions is drawn from them anew by `ireneo learn`; `ireneo work` writes summaries."
)


def _examine_session(
    tx: Transaction, key: SessionKey, seen: SecretCounter, cleaning: Cleaning, on_looked: Callable[[int], None]
) -> int:
    name = cleaning.text(key.session)
    looked = 0
    info = tx.sessions.get(key)
    if info is None:
        return 0
    branches = tx.sessions.branches(key)
    seen.text(name, "names", key.session, info.source or "", *branches)
    for message in all_messages(tx, key, whole=True):
        seen.message(name, message)
        looked += 1
        if looked % PROGRESS_EVERY == 0:
            on_looked(PROGRESS_EVERY)
    for summary in all_summaries(tx, key):
        seen.struct(name, "summaries", summary)
    seen.struct(name, "notes", *all_annotations(tx, key))
    for lease in tx.leases.of_session(key):
        seen.text(name, "leases", lease.error)
    on_looked(looked % PROGRESS_EVERY)
    return looked


PROGRESS_EVERY = 500


def _examine_learned(tx: Transaction, space: str, seen: SecretCounter) -> None:
    """Examine everything that is stored of a space outside its sessions."""
    seen.struct("", "memories", *tx.memories.list(space, MemoryFilter()))
    seen.struct("", "scratchpads", *tx.pads.list(space))
    for run in tx.runs.list(space):
        seen.struct("", "runs", run, *tx.runs.of_run(space, run.session))
    seen.struct("", "files", *tx.ledger.list(space))
