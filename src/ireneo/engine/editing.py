"""Change memories by hand: list them page by page, edit, merge and delete them.

Nothing is rewritten in place. A new wording is new evidence from its author, and evidence against the old one; other
changes are recorded with their time and author. An agent may change only what agents remembered.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Literal, TypeAlias, get_args

from msgspec import Struct
from msgspec.structs import replace

from ireneo.engine.forget import forget, says_part
from ireneo.engine.lessons import review
from ireneo.engine.named import USES_KEPT, memory_named, subject_meant
from ireneo.engine.remember import settle_drafts
from ireneo.engine.resources import Resources
from ireneo.engine.scope import (
    KIND_NAMES,
    MOST_RESULTS,
    Scope,
    ScopeLimits,
    drafts_per_project,
    open_projects,
    project_asked,
    stated_project,
)
from ireneo.errors import BadInput, MemoryNotFound
from ireneo.language.files import any_of, topic
from ireneo.language.topics import Words
from ireneo.log.message import MessageId, short
from ireneo.log.tree import SessionKey
from ireneo.memories.exchange import objection_draft
from ireneo.memories.index import label_term
from ireneo.memories.intake import MemoryDetails, check_labels, classify, memory_draft
from ireneo.memories.kinds import KINDS
from ireneo.memories.record import (
    MERGED,
    REWORDED,
    Kind,
    MemoryChange,
    MemoryId,
    Record,
    Source,
    State,
    one_line,
    quoted,
    slot,
    supporting,
    with_evidence,
)
from ireneo.memories.serving import informative_sentences
from ireneo.memories.wording import distinctive_words, unquoted_words
from ireneo.ports.memories import MemoryFilter
from ireneo.ports.store import Transaction
from ireneo.short_repr import ShortRepr

PAGE = 100
"""The default number of memories on a page."""
READ = 500
"""How many memories are read at a time until a page is full."""
MOST_SOURCES = 32
"""How many messages a new wording cites; it is erased when these are."""
MOST_LOST = 400
"""Up to how many characters are quoted of what a new wording no longer says."""
STATES: tuple[State, ...] = get_args(State)
ListedState: TypeAlias = State | Literal["archived", "any"]
HINT = "`update` rewords the one that is to stay, and `delete` or `dispute` takes out the other."
_STANDING: tuple[State, ...] = ("active", "disputed")
_TOLD: frozenset[Kind] = frozenset({"episodic", "semantic"})
"""The kinds of which one may say what the other says."""


class MemoryPage(tuple[Record, ...]):
    """Memories, the newest first; `after` is the cursor of the next page, empty after the last one."""

    after: str

    def __new__(cls, found: Iterable[Record] = (), after: str = "") -> MemoryPage:
        """Hold `found` in its order."""
        made = super().__new__(cls, found)
        made.after = after
        return made


class ListQuery(Struct, frozen=True, kw_only=True):
    """A validated query for a list of memories."""

    kind: Kind | None = None
    subject: str | None = None
    project: str | None = None
    label: str | None = None
    state: ListedState | None = None
    text: str = ""
    undone: bool = False
    """Whether to include what is only based on undone messages, as if these still counted."""
    limit: int = PAGE

    def __post_init__(self) -> None:
        if self.kind is not None and self.kind not in KIND_NAMES:
            raise BadInput(f"There is no kind {self.kind!r} of memory; take one of {', '.join(KIND_NAMES)}.")
        if self.state is not None and self.state not in (*STATES, "archived", "any"):
            raise BadInput(f"`state` is {self.state!r}; give one of {', '.join(STATES)}, archived or any.")
        if not 1 <= self.limit <= MOST_RESULTS:
            raise BadInput(f"`limit` is {self.limit!r}; give a whole number from 1 to {MOST_RESULTS:,}.")

    def wants(self, record: Record) -> bool:
        """Whether a memory, as visible from here, matches."""
        if self.state == "archived":
            stands = record.archived
        elif self.state in STATES:
            stands = record.state == self.state and not record.archived
        else:
            stands = self.state == "any" or (record.state in _STANDING and not record.archived)
        return (
            stands
            and (self.label is None or self.label in record.labels)
            and one_line(self.text).casefold() in one_line(record.text).casefold()
        )


def list_memories(tx: Transaction, space: str, asked: ListQuery, after: str = "") -> MemoryPage:
    """The matching memories, the newest first, a page at a time: the one after the cursor `after`."""
    limits = ScopeLimits(project=project_asked(asked.project), undone=asked.undone)
    scope = Scope(tx, space, limits)
    opened = open_projects(tx, space, limits.project)
    wanted = MemoryFilter(
        kind=asked.kind,
        subject=asked.subject and subject_meant(tx, space, asked.subject),
        projects=None if opened is None else tuple(sorted(opened)),
        after=_parse_cursor(after) if after else None,
    )
    found: list[Record] = []
    while len(found) <= asked.limit:
        read = (
            _memories_with_label(tx, space, asked.label, wanted)
            if asked.label
            else tx.memories.list(space, wanted, READ)
        )
        found += [each for each in scope.visible(read) if asked.wants(each)]
        if asked.label or len(read) < READ:
            break
        wanted = replace(wanted, after=(read[-1].at, read[-1].id))
    page = found[: asked.limit]
    if len(found) <= asked.limit:
        return MemoryPage(page)
    last = _reload(tx, space, page[-1])
    # A cursor stays valid if its memory is deleted.
    return MemoryPage(page, f"{last.at.astimezone(UTC).isoformat()} {last.id}")


def _memories_with_label(tx: Transaction, space: str, label: str, wanted: MemoryFilter) -> Sequence[Record]:
    """All matching memories with a label, in the order of a list."""
    term = label_term(label)
    documents = list(tx.search.postings(space, "memories", [term])[term])
    ids = [each.record.id for each in tx.search.memories(space, documents)]
    return tx.memories.list(space, replace(wanted, ids=tuple(ids))) if ids else []


def _parse_cursor(after: str) -> tuple[datetime, MemoryId]:
    at, _, id = after.partition(" ")
    try:
        return datetime.fromisoformat(at), MemoryId(id)
    except (ValueError, TypeError):
        raise BadInput(f"`after` is {after!r}; give the `after` of the page before.") from None


class MemoryEdit(Struct, frozen=True, kw_only=True):
    """The changes to a memory; None for no change."""

    text: str | None = None
    subject: str | None = None
    attribute: str | None = None
    value: str | None = None
    labels: Sequence[str] | None = None
    project: str | None = None
    pinned: bool | None = None
    at: datetime | None = None
    """Since when the new words are true; None for from now on."""

    @property
    def said(self) -> dict[str, str]:
        """The new words and slot that were given, by name."""
        given = {name: getattr(self, name) for name in ("text", "subject", "attribute", "value")}
        return {name: each for name, each in given.items() if each is not None}


async def update(resources: Resources, space: str, id: str, edit: MemoryEdit, origin: Source = "user") -> Record:
    """Change a memory; with other words or another slot it is a new memory (see `Memory.update`)."""
    if edit.text is not None and not edit.text.strip():
        raise BadInput("The new text is empty; say what the memory is to say, or `delete` it.")
    if edit == MemoryEdit() or (edit.at is not None and not edit.said):
        raise BadInput("There is nothing to change; give words, a slot, labels, a project, or whether it is pinned.")
    edit, now = _check_edit(resources, edit), resources.clock.now()
    record = await resources.store.read(_get_changeable, space, id, origin)
    if record.cue and edit.said:
        if set(edit.said) != {"text"} or origin != "user":
            raise BadInput(f"{short(record.id)} is a lesson: the user alone rewords it, and it has no slot.")
        await review(resources, space, record.id, "edit", edit.text or "")

    def settle(tx: Transaction) -> Record:
        record, left = _get_changeable(tx, space, id, origin), ""
        if edit.said and not record.cue:
            if record.state not in _STANDING:
                raise BadInput(
                    f"{short(record.id)} is {record.state}. {record.reason} Change what holds, or `restore` it."
                )
            if record.kind == "episodic" and set(edit.said) - {"text"}:
                raise BadInput(
                    f"{short(record.id)} tells what happened or was said once, and fills no slot: `remember` the fact."
                )
            before, record = record, _reword(tx, space, record, edit, now, origin)
            left = _left_over(tx, space, before, record)
        change = MemoryChange(
            at=now,
            origin=origin,
            labels=None if edit.labels is None else tuple(edit.labels),
            project=edit.project,
            pinned=edit.pinned,
        )
        if change != MemoryChange(at=now, origin=origin):
            pinned = record.pinned if edit.pinned is None else edit.pinned
            record = replace(record, changes=(*record.changes, change), pinned=pinned)
            tx.memories.put(space, [record])
        return replace(record, reason=f"{record.reason} {left}".strip()) if left else record

    return await resources.store.write(settle)


def _check_edit(resources: Resources, edit: MemoryEdit) -> MemoryEdit:
    """The edit with secrets redacted and the project resolved."""
    check_labels(edit.labels or ())
    told = MemoryDetails(labels=edit.labels or (), project=edit.project or "")
    for name in ("subject", "attribute", "value"):
        if (given := getattr(edit, name)) is not None:
            told[name] = given
    text, told = resources.cleaning().memory(edit.text or "", told)
    labels = None if edit.labels is None else tuple(dict.fromkeys(each.strip() for each in told["labels"]))
    project = None if edit.project is None else stated_project(told["project"])
    said = {name: value for name, value in {**told, "text": text}.items() if name in edit.said}
    return replace(edit, labels=labels, project=project, **said)


def _get_changeable(tx: Transaction, space: str, id: str, origin: Source) -> Record:
    """The memory with that id; raises BadInput if `origin` may not change it."""
    record = memory_named(tx, space, id)
    if record is None or record.state == "erased":
        raise MemoryNotFound.named(id, space)
    other = next((each.origin for each in record.evidence if each.origin not in (origin, "agent")), None)
    if origin != "user" and other is not None:
        whose = "the user's word" if other == "user" else f"no agent's word, but a {other}'s"
        raise BadInput(
            f"{short(record.id)} is {whose}; an agent changes only what agents remembered: dispute it, or ask the user."
        )
    return record


def _reword(tx: Transaction, space: str, record: Record, edit: MemoryEdit, now: datetime, origin: Source) -> Record:
    """Record a memory in new words, and evidence against the old ones."""
    text = edit.text or _with_value(record, edit.value or "")
    names = {name: edit.said.get(name, getattr(record, name)) for name in ("subject", "attribute")}
    kind, value = record.kind, edit.value or record.value
    if edit.text and not edit.value:
        # "My dog is called Pickle" gives a dog a name; words that no longer name the old value have another.
        read = classify(text, "user" if origin == "user" else "")
        named = record.value if record.value.casefold() in text.casefold() else ""
        value = read.value if read.value and slot(read.subject, read.attribute) == slot(*names.values()) else named
    is_quoted = bool(edit.text) and record.kind == "episodic" and unquoted_words(record.text) != record.text
    if is_quoted and unquoted_words(text) == text and origin == "user":
        # Instead of what was said once, the user states what is so.
        read = classify(text, "user")
        kind = read.kind if read.kind in _TOLD else kind
        names, value = ({"subject": read.subject, "attribute": read.attribute}, read.value)
    details = MemoryDetails(kind=kind, value=value, origin=origin, labels=record.labels, pinned=record.pinned)
    details |= {"task_type": record.task_type, "name": record.name, "conditions": record.conditions, **names}  # type: ignore[typeddict-item]
    if record.signature:
        details["signature"] = record.signature
    # A lasting fact is true so from now on; an event keeps its time.
    details["at"] = edit.at or (now if kind == "semantic" else record.at)
    sources = dict.fromkeys(name for piece in supporting(record) for name in piece.messages)
    word = replace(memory_draft(text, details, now), messages=tuple(sources)[-MOST_SOURCES:])
    done = settle_drafts(tx, space, drafts_per_project(tx, space, record, word), judged=True)[-1].record
    if word.text != done.text:
        # Another memory may have had the same value, in other words.
        done = replace(
            done, text=word.text, changes=(*done.changes, MemoryChange(at=now, origin=origin, text=done.text))
        )
        tx.memories.put(space, [done])
    if done.id == record.id:
        return done
    old = _reload(tx, space, record)
    if old.state in _STANDING:
        # The old words end when the new ones begin to be true.
        said = objection_draft(old, now, origin=origin, why=f"{REWORDED} {one_line(word.text)}")
        said = replace(said, at=edit.at or now)
        settle_drafts(tx, space, drafts_per_project(tx, space, old, said), judged=True)
    return done


def _left_over(tx: Transaction, space: str, before: Record, done: Record) -> str:
    """Which memories of the same messages still say what was reworded, and what is no longer said; empty if none."""
    if done.id == before.id:
        return ""
    old = before.value or before.text
    told = tx.memories.citing(space, before.sources) if before.sources else ()
    others = [each for each in told if each.holds and each.id not in (before.id, done.id)]
    also = [each for each in others if each.attribute in ("", before.attribute) and says_part(each.text, old)]
    said = informative_sentences(unquoted_words(before.text))
    lost = [each for each in said if len(said) > 1 and not says_part(each, done.text)]
    out = [f"Also says so: {', '.join(short(each.id) for each in also)}."] if also else []
    return " ".join([*out, *([f"No longer said: {quoted(' '.join(lost), MOST_LOST)}."] if lost else [])])


def _with_value(record: Record, value: str) -> str:
    """Replace the value in a memory's words, which would otherwise still contain the old one."""
    if not (value and record.value) or value.casefold() in record.text.casefold():
        return record.text
    # A name has no article: "lives in a flat", and "lives in Hull".
    article = rf"(?:(?<!\w){any_of(topic(Words).articles)}\s+)?" if value[:1].isupper() else ""
    said = rf"{article}(?<!\w){re.escape(record.value)}(?!\w)"
    return re.sub(said, lambda _: value, record.text, flags=re.IGNORECASE)


async def merge(
    resources: Resources, space: str, ids: Sequence[str], text: str | None = None, origin: Source = "user"
) -> Record:
    """Merge memories that say the same into the first of them (see `Memory.merge`)."""
    now = resources.clock.now()

    def settle(tx: Transaction) -> Record:
        named = (memory_named(tx, space, each) for each in ids)
        found = {each.id: each for each in named if each is not None}
        if len(set(ids)) != len(found) or len(found) < 2:
            _all_changeable(tx, space, ids, origin)
            raise BadInput("Name at least two different memories; the first is the one that stays.")
        # A fact takes in what was told of it; the day of an event fits nothing else.
        stays, *others = sorted(_all_changeable(tx, space, ids, origin), key=lambda each: not KINDS[each.kind].lasts)
        for each in others:
            if why := _reason_against_merging(stays, each):
                raise BadInput(f"{short(stays.id)} and {short(each.id)} can't be one memory: {why}. {HINT}")
        return _merge_records(tx, space, stays, others, now, origin)

    record = await resources.store.write(settle)
    # The new words say what the merged memories said, and are true since then.
    return await update(resources, space, record.id, MemoryEdit(text=text, at=record.at), origin) if text else record


def _reason_against_merging(one: Record, other: Record) -> str:
    """The reason why two memories can't say the same; empty if they may."""
    if one.cue or other.cue:
        return "lessons are merged by learning"
    if one.kind != other.kind and not {one.kind, other.kind} <= _TOLD:
        return "they are of different kinds"
    facts = [each for each in (one, other) if each.attribute]
    if len(facts) == 2 and slot(one.subject, one.attribute) != slot(other.subject, other.attribute):
        return "they are about different things"
    fact, said = (other, one) if facts == [other] else (one, other)
    if distinctive_words(fact.value or fact.text).isdisjoint(distinctive_words(said.text)):
        return f"{short(said.id)} says nothing of “{one_line(fact.value or fact.text)}”"
    return ""


def _all_changeable(tx: Transaction, space: str, ids: Sequence[str], origin: Source) -> list[Record]:
    return [_get_changeable(tx, space, each, origin) for each in ids]


def _merge_records(
    tx: Transaction, space: str, stays: Record, others: Sequence[Record], now: datetime, origin: Source
) -> Record:
    kind = KINDS[stays.kind]
    evidence = stays.evidence
    for each in others:
        told = zip(each.evidence, each.projects, strict=True)
        for piece, project in [one for one in told if not one[0].against]:
            # An event keeps its day.
            at = piece.at if kind.lasts else stays.at
            evidence, _ = with_evidence(evidence, replace(piece, at=at, project=project, labels=each.labels))
    taken = replace(stays, evidence=evidence, seen=stays.seen + sum(each.seen for each in others))
    known = {each.id: each for each in tx.memories.of_key(space, stays.kind, stays.key)} | {stays.id: taken}
    tx.memories.put(space, kind.settle(list(known.values())))
    joined = _reload(tx, space, stays)
    every = (joined, *others)
    joined = replace(
        joined,
        uses=tuple(sorted({use for each in every for use in each.uses}, reverse=True)[:USES_KEPT]),
        used=sum(each.used for each in every),
        helped=sum(each.helped for each in every),
        harmed=sum(each.harmed for each in every),
        pinned=any(each.pinned for each in every),
        archived=all(each.archived for each in every),
        changes=(
            *joined.changes,
            MemoryChange(
                at=now,
                origin=origin,
                labels=tuple(sorted({name for each in every for name in each.labels})),
                joined=True,
            ),
        ),
    )
    tx.memories.put(space, [joined])
    gone = {each.id for each in others}
    tx.memories.put(space, [_replace_merged(each, gone, joined.id) for each in tx.memories.citing(space, sorted(gone))])
    why = f"{MERGED} {short(joined.id)}"
    for each in others:
        # Dated at its oldest evidence, so that it was never true: the remaining memory has its dates.
        word = replace(objection_draft(each, now, origin=origin, why=why), at=min(piece.at for piece in each.evidence))
        settle_drafts(tx, space, drafts_per_project(tx, space, each, word), judged=True)
    return _reload(tx, space, joined)


def _reload(tx: Transaction, space: str, record: Record) -> Record:
    """A memory as it is stored now."""
    return next(each for each in tx.memories.get(space, [record.id]) if each.id == record.id)


def _replace_merged(record: Record, gone: set[MemoryId], instead: MemoryId) -> Record:
    """A conclusion in which the remaining memory replaces the merged ones."""
    pieces = (
        replace(piece, memories=tuple(dict.fromkeys(instead if name in gone else name for name in piece.memories)))
        for piece in record.evidence
    )
    return replace(record, evidence=tuple(pieces))


class MemorySource(Struct, frozen=True, kw_only=True):
    """A message that says the same as a memory."""

    session: str
    message: MessageId
    text: str


class Deleted(ShortRepr, frozen=True, kw_only=True):
    """The result of deleting memories."""

    memories: tuple[Record, ...]
    """The memories that were named, as they were."""
    sources: tuple[MemorySource, ...] = ()
    """The messages that the memories came from. They remain, and may be learned from again, unless `source` was set."""
    preview: bool = False
    complete: bool = True
    """Whether no byte of the store contains the memories any more; False for a preview."""
    note: str = ""
    """The steps that remain to be done."""


async def delete(
    resources: Resources,
    space: str,
    ids: Sequence[str],
    *,
    source: bool = False,
    preview: bool = False,
    origin: Source = "user",
) -> Deleted:
    """Erase memories for good, as `forget` does (see `Memory.delete`)."""
    if not ids:
        raise BadInput("Name the memories that are to be deleted, as a list of their ids.")

    def look(tx: Transaction) -> Deleted:
        records = {each.id: each for each in _all_changeable(tx, space, ids, origin)}
        return Deleted(memories=tuple(records.values()), sources=sources_of(tx, space, tuple(records.values())))

    meant = await resources.store.read(look)
    if preview:
        return replace(meant, preview=True, complete=False)
    first, *others = (each.id for each in meant.memories)
    messages = [each.message for each in meant.sources] if source else []
    receipt = await forget(resources, space, memory=first, also=[*others, *messages])
    return replace(
        meant,
        sources=() if source else meant.sources,
        complete=receipt.complete,
        note="" if receipt.complete else receipt.note,
    )


def sources_of(tx: Transaction, space: str, records: Sequence[Record]) -> tuple[MemorySource, ...]:
    """The messages from which memories were read, each once, the oldest evidence first."""
    found: dict[tuple[str, MessageId], MemorySource] = {}
    for piece in (piece for record in records for piece in record.evidence if piece.session and piece.messages):
        for each in tx.log.find(SessionKey(space, piece.session), list(piece.messages)):
            if each.id in piece.messages and not each.erased:
                source = MemorySource(session=piece.session, message=each.id, text=each.text)
                found.setdefault((piece.session, each.id), source)
    return tuple(found.values())
