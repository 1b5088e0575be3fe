"""Writes memories, and reads the history of facts.

Everything about a draft is decided inside the one transaction that stores what comes of it.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Unpack

from msgspec import Struct
from msgspec.structs import replace

from ireneo.engine.provenance import already_held, check_sources, update_staleness
from ireneo.engine.reading import Known, Utterance, drafts_of, read_by_model
from ireneo.engine.resources import Resources
from ireneo.engine.scope import Scope, ScopeLimits, check_project, place_session, project_told
from ireneo.engine.tree import memory_named
from ireneo.errors import BadInput, MemoryNotFound, ModelError, NothingToKeep
from ireneo.language.predicates import until_next_verb
from ireneo.language.words import terms
from ireneo.log.message import MessageId
from ireneo.log.tree import SessionKey
from ireneo.memories.changes import lasted, may_change, replaced_by, words_of
from ireneo.memories.facts import Fact, facts
from ireneo.memories.intake import LONGEST, MemoryDetails, memory_draft
from ireneo.memories.kinds import KINDS
from ireneo.memories.reconcile import RememberOutcome, reconcile
from ireneo.memories.record import GENERAL, NAMES, MemoryDraft, MemoryId, Record, slot, supporting
from ireneo.memories.remnants import uncounted, without
from ireneo.memories.rivals import counts_of
from ireneo.ports.memories import MemoryFilter
from ireneo.ports.store import Transaction

_TELLING = ("kind", "subject", "attribute", "value", "task_type", "name", "signature", "conditions")
"""What a caller may say of a text by which its kind is settled."""
_LOG = logging.getLogger("ireneo")


_AFTER = timedelta(microseconds=1)
RARE = 40
"""A word that more memories have tells nothing of which are meant."""
NEAREST = 48
"""Memories that are looked at for what a word ends: those that share the rarest words with it."""
USES_KEPT = 10
"""Uses of which the time is kept; of earlier ones the number."""


class Remembered(Struct, frozen=True, kw_only=True):
    """What became of something that was to be remembered."""

    did: RememberOutcome
    reason: str
    """Why, in a sentence."""
    record: Record
    """The memory that it went to, as it is now."""
    changed: tuple[Record, ...] = ()
    """Other memories that are not what they were: superseded, or to be reconsidered."""
    more: tuple[Remembered, ...] = ()
    """What became of the other things that the same words told."""


async def remember(resources: Resources, space: str, text: str, **details: Unpack[MemoryDetails]) -> Remembered:
    """Remember `text`; raises BadInput where it, or what is said of it, can't be used.

    A model, where there is one, reads what there is to remember in a text of which nothing is said; it may be several
    things, and raises NothingToKeep where it is none.
    """
    details, draft = await asyncio.to_thread(_drafted, resources, text, details)
    told = any(details.get(name) for name in _TELLING)
    drafts = [] if told else await _read(resources, space, draft)
    if not drafts:
        return await resources.store.write(lambda tx: settle_said(tx, space, [draft])[0])
    settled = await resources.store.write(settle_drafts, space, drafts)
    # What it speaks against is settled first, and is not what it says.
    first = next((place for place, each in enumerate(drafts) if not each.against), 0)
    return replace(settled[first], more=tuple(each for place, each in enumerate(settled) if place != first))


async def _read(resources: Resources, space: str, draft: MemoryDraft) -> list[MemoryDraft]:
    """What a model reads in the words of `draft`; nothing where there is none, it fails, or nothing of it stands.

    Words that tell one thing stay as they are.
    """
    model = resources.models_for_space(space).for_task("facts")
    if model is None:
        return []
    # Whoever remembers something by hand means it: what an agent says of a user counts here.
    speaker = "user" if draft.origin == "user" else "assistant"
    said = Utterance(message=MessageId(""), role="user", speaker=speaker, text=draft.text[:LONGEST], at=draft.at)
    known = await resources.store.read(Known, space, draft.project)
    try:
        reading = await read_by_model(model, [said], [], known.facts, resources.count)
    except ModelError as error:
        _LOG.warning("%s The kind is told by rules.", error)
        return []
    if not reading.facts and not reading.refused:
        raise NothingToKeep
    if len(reading.facts) == 1:
        (read,) = reading.facts
        return drafts_of(replace(read, fact=replace(read.fact, text=draft.text)), draft)
    return [each for read in reading.facts for each in drafts_of(read, draft)]


def remember_all(
    tx: Transaction, resources: Resources, space: str, texts: Iterable[tuple[str, MemoryDetails]]
) -> list[Remembered]:
    """Remember many texts in one transaction: all of them, or none where BadInput is raised.

    They count as told one after the other, so that of two that contradict each other the later one stands.
    """
    now = resources.clock.now()
    drafts = [
        _drafted(resources, text, details, now + number * _AFTER)[1] for number, (text, details) in enumerate(texts)
    ]
    return settle_said(tx, space, drafts)


def _drafted(
    resources: Resources, text: str, details: MemoryDetails, now: datetime | None = None
) -> tuple[MemoryDetails, MemoryDraft]:
    """What is told of a text without its secrets, and the draft that it makes."""
    text, details = resources.cleaning().told(text, details)
    return details, memory_draft(text, details, now or resources.clock.now())


def settle_drafts(
    tx: Transaction, space: str, drafts: Iterable[MemoryDraft], *, judged: bool = False
) -> list[Remembered]:
    """Settle drafts one after the other and store what comes of them: the one way by which memories are written.

    `tx` is an open write transaction: since nobody else writes meanwhile, a draft that several make at once is added
    by the first and known to the others. Raises BadInput where a source is not stored. With `judged` they are evidence
    that a memory had already, here or elsewhere: its sources may be missing, and what it says again is no echo.
    """
    settle = _reconcile if judged else _settle
    return [settle(tx, space, _placed(tx, space, draft, judged=judged)) for draft in drafts]


def settle_said(
    tx: Transaction, space: str, drafts: Iterable[MemoryDraft], near: Sequence[Record] = ()
) -> list[Remembered]:
    """Settle what a user said: each draft in its slot, and whatever it ends besides by its sense, which goes first.

    What it may end is looked for by its words, and in `near`. Of a word that only ends what it names, and fills no
    slot, what becomes of that is told, and it is kept itself; one that ends nothing is no memory where it was said in
    passing, in a message.
    """
    done: list[Remembered] = []
    for told in drafts:
        draft = _placed(tx, space, told, judged=False)
        over = _ended(tx, space, draft, near)
        ended = settle_drafts(tx, space, [_against(each, draft) for each in over])
        ended += settle_drafts(tx, space, [rest for each in over if (rest := _rest_of(each, draft))])
        if draft.against and not draft.attribute and (ended or draft.messages):
            done += ended
            if ended and words_of(draft.text) == draft.why:
                # That it is over is worth knowing once it was known before.
                done += settle_drafts(tx, space, [replace(draft, against=False, why="")])
        elif (
            draft.against and draft.messages and not tx.memories.of_key(space, draft.kind, KINDS[draft.kind].key(draft))
        ):
            # Nothing was known of the slot that it ends: it tells something new.
            done += settle_drafts(tx, space, [replace(draft, against=False, attribute="", value="", why="")])
        else:
            done += settle_drafts(tx, space, [draft])
            if draft.against and until_next_verb(draft.text) != draft.text:
                # What ends with the one half of a sentence is told by it; the other half is news.
                done += settle_drafts(tx, space, [replace(draft, against=False, attribute="", value="", why="")])
    return done


def _ended(tx: Transaction, space: str, draft: MemoryDraft, near: Sequence[Record]) -> list[Record]:
    """What a user's word ends by its sense."""
    if draft.origin != "user" or not (draft.against or draft.attribute == "manner" or may_change(draft.text)):
        return []
    asked = sorted(set(terms(draft.text)))
    often = tx.search.count(space, "memories", asked, RARE)
    telling = [term for term in asked if 0 < often[term] <= RARE]
    listed = tx.search.postings(space, "memories", telling)
    shared: Counter[int] = Counter()
    for term, documents in listed.items():
        # A word that stands in few memories tells more of which are meant.
        shared.update(dict.fromkeys(documents, 1_000 // often[term]))
    found = sorted(document for document, _ in shared.most_common(NEAREST))
    known = [*near, *(each.record for each in tx.search.memories(space, found))]
    if draft.attribute:
        known += tx.memories.of_key(space, "semantic", slot(draft.subject, draft.attribute))
    here = {each.id: each for each in known if {"", GENERAL, draft.project} & set(each.projects)}
    return replaced_by(draft, list(here.values()), often)


def _against(record: Record, draft: MemoryDraft) -> MemoryDraft:
    """The user's word as what speaks against a memory that it ends."""
    return replace(
        draft,
        kind=record.kind,
        text=record.text,
        # An event is told from others in the same words by when it was.
        at=record.at if record.kind == "episodic" else draft.at,
        against=True,
        adds=False,
        until=None,
        why=words_of(draft.text),
        conditions={},
        **{name: getattr(record, name) for name in NAMES},
    )


def _rest_of(record: Record, draft: MemoryDraft) -> MemoryDraft | None:
    """What a memory said of several by name of whom one is no longer among them; None where it is no such memory."""
    if record.kind == "episodic" and not lasted(record):
        # Of what happened nothing is left to be so.
        return None
    text = without(record.text, draft.text)
    if text is None:
        return None
    value = without(record.value, draft.text) or ""
    if record.value and not value and (not {*terms(uncounted(record.value))} <= {*terms(text)} or counts_of(text)):
        return None
    return replace(
        draft,
        kind=record.kind,
        text=text,
        at=record.at if record.kind == "episodic" else draft.at,
        subject=record.subject,
        # With the value that it had it would be the memory that has ended.
        attribute=record.attribute if value else "",
        value=value,
        against=False,
        adds=False,
        messages=(*record.sources, *draft.messages),
    )


def used(
    tx: Transaction, resources: Resources, space: str, ids: Sequence[str], *, helped: bool | None = None
) -> list[Record]:
    """Note that memories were acted on now and, where that is known, whether it helped or harmed.

    Gives them as they are then. Raises MemoryNotFound where one is not there, with nothing noted of any.
    """
    now = resources.clock.now()
    found = [
        replace(
            each,
            uses=tuple(sorted((now, *each.uses), reverse=True)[:USES_KEPT]),
            used=each.used + 1,
            helped=each.helped + (helped is True),
            harmed=each.harmed + (helped is False),
        )
        for each in _found(tx, space, ids)
    ]
    tx.memories.put(space, found)
    return found


def _found(tx: Transaction, space: str, ids: Sequence[str]) -> list[Record]:
    found: dict[MemoryId, Record] = {}
    for name in ids:
        there = memory_named(tx, space, name)
        if there is None:
            raise MemoryNotFound(f"There is no memory {name!r} in space {space!r}.")
        found[there.id] = there
    return list(found.values())


def _placed(tx: Transaction, space: str, draft: MemoryDraft, *, judged: bool) -> MemoryDraft:
    """`draft` with the project that it belongs to: the one that is told, or that of its session."""
    if not draft.session:
        return replace(draft, project=project_told(draft.project))
    key = SessionKey(space, draft.session)
    info = tx.sessions.get(key)
    if info is not None and info.project is None:
        place_session(tx, key)
        info = tx.sessions.get(key)
    known = (info.project if info else None) or ""
    told = project_told(draft.project)
    if not judged:
        check_project(draft.session, known, told or known)
    return replace(draft, project=told or known)


def _settle(tx: Transaction, space: str, draft: MemoryDraft) -> Remembered:
    cited = bool(draft.messages)
    draft, heard = check_sources(tx, space, draft)
    if cited and draft.session and not draft.project:
        draft = _placed(tx, space, draft, judged=False)
    row = KINDS[draft.kind]
    known = tx.memories.of_key(space, row.name, row.key(draft))
    if not heard and (draft.origin in ("agent", "derived") or (cited and not draft.messages)):
        held = already_held(tx, space, draft, known)
        if held is not None and draft.project and _here(tx, space, draft.project, [held]) == []:
            # What another project knows is not known here.
            held = None
        # That it is not so, or no longer, says more than the memory does that was recalled.
        if held is not None and not draft.against and draft.until is None:
            reason = "It reads as a memory that is held already: it was recalled, and is no new evidence."
            return Remembered(did="ignored", reason=reason, record=held)
    return _reconcile(tx, space, draft, judged=False)


def _reconcile(tx: Transaction, space: str, draft: MemoryDraft, *, judged: bool = True) -> Remembered:
    row = KINDS[draft.kind]
    known = tx.memories.of_key(space, row.name, row.key(draft))
    done = reconcile(draft, known)
    # What other projects say of the same is none of this one's business: it is told what became of it here.
    apart = draft.project and known and not draft.cue and (draft.against or not judged)
    told = reconcile(draft, _here(tx, space, draft.project, known)) if apart else done
    if not done.stored:
        return Remembered(did=done.did, reason=done.reason, record=done.record)
    now = {each.id: each for each in (done.record, *done.changed)}
    tx.memories.put(space, list(now.values()))
    before = {each.id: each for each in known}
    fallen = [name for name, each in now.items() if name in before and before[name].state != each.state]
    now.update({each.id: each for each in update_staleness(tx, space, fallen, [done.record])})
    record = now.pop(done.record.id)
    return Remembered(did=told.did, reason=told.reason, record=record, changed=tuple(now[name] for name in sorted(now)))


def _here(tx: Transaction, space: str, project: str, records: Sequence[Record]) -> list[Record]:
    """The memories as far as they belong to a project or to none, settled as if nothing else had been told."""
    scope = Scope.of(tx, space, ScopeLimits(project=project, undone=True))
    here = scope.told_here(records)
    kinds = {each.kind for each in here}
    return [each for kind in kinds for each in KINDS[kind].settle([one for one in here if one.kind == kind])]


def history(
    tx: Transaction,
    space: str,
    subject: str,
    attribute: str | None = None,
    *,
    at: datetime | None = None,
    believed_at: datetime | None = None,
    project: str | None = None,
) -> list[Fact]:
    """The facts about a subject, or about one of its attributes: slot by slot, each by when it began.

    With `at` what was true at that moment, with `believed_at` as we believed at that one, with `project` as it is known
    there. Raises BadInput where a time
    has no zone, or no subject is given.
    """
    if not subject.strip():
        raise BadInput("The subject is empty; say whose history is wanted.")
    for name, moment in (("at", at), ("believed_at", believed_at)):
        if moment is not None and moment.utcoffset() is None:
            raise BadInput(f"`{name}` has no zone; give it one, such as `tzinfo=timezone.utc`.")
    if attribute:
        records = tx.memories.of_key(space, "semantic", slot(subject, attribute))
    else:
        records = tx.memories.list(space, MemoryFilter(kind="semantic", subject=subject))
    if project is not None:
        records = Scope.of(tx, space, ScopeLimits(project=project, undone=True)).told_here(records)
    by_key: dict[str, list[Record]] = {}
    for each in records:
        by_key.setdefault(each.key, []).append(each)
    return [fact for key in sorted(by_key) for fact in facts(by_key[key], at=at, believed_at=believed_at)]


SLACK = 0.02
"""So much of the cap is freed at a time, so that the memories are weighed once in a while and not at each write."""
FADED = 0.15
"""What passed and is worth less than that is put away, however few there are: an event of middling weight that was
told once falls so low after two years, one from which a conclusion was drawn after half a year."""
BATCH = 1_000
"""Memories that are put away in one transaction, so that nobody waits for long."""


class ArchiveCandidate(Struct, frozen=True, kw_only=True):
    """A memory, and how much it is worth keeping."""

    record: Record
    retention: float
    """From 0 to 1; what is least goes first."""
    reason: str
    """Why it is no more, in words."""


def archive_candidates(
    tx: Transaction, resources: Resources, space: str, limit: int = 20
) -> Sequence[ArchiveCandidate]:
    """The memories that would be put away next, the least retained first; those that are pinned never are."""
    if limit < 1:
        raise BadInput(f"A limit of {limit} shows nothing; give at least 1.")
    now = resources.clock.now()
    ranked = _by_retention(tx.memories.list(space, MemoryFilter(archived=False)), now)
    return [
        ArchiveCandidate(record=record, retention=retention, reason=_reason(record, now))
        for retention, record in ranked[:limit]
    ]


def archived(tx: Transaction, space: str, limit: int = 20) -> Sequence[Record]:
    """The memories that were put away, the last of them first; each says when and why."""
    if limit < 1:
        raise BadInput(f"A limit of {limit} shows nothing; give at least 1.")
    away = tx.memories.list(space, MemoryFilter(archived=True))
    return sorted(away, key=lambda each: (-(each.archived_at or each.recorded).timestamp(), each.id))[:limit]


async def archive(resources: Resources, space: str, keep: int, *, faded: bool = False) -> Sequence[MemoryId]:
    """Put the least retained memories away until `keep` are left in use; returns which.

    They are not recalled any more, and `restore` takes them out again. With `faded` what passed and nobody asked for
    goes as well, as far as the messages that it was drawn from still tell it. All are weighed once, a little more than
    necessary is put away, and each batch in a transaction of its own. Raises BadInput for a negative number.
    """
    if keep < 0:
        raise BadInput(f"{keep} memories can't be kept; give 0 or more.")
    now = resources.clock.now()

    def least_retained(tx: Transaction) -> dict[MemoryId, str]:
        passed = tx.memories.list(space, MemoryFilter(kind="episodic", archived=False)) if faded else ()
        out = {each.id: f"{_reason(each, now)}: it has faded" for each in passed if has_faded(each, now)}
        if tx.search.size(space, "memories").documents <= keep:
            return out
        in_use = tx.memories.list(space, MemoryFilter(archived=False))
        over = len(in_use) - len(out) - keep
        if over > 0:
            ranked = [record for _, record in _by_retention(in_use, now) if record.id not in out]
            why = f"the least worth of more than {keep:,}"
            out.update((each.id, f"{_reason(each, now)}: {why}") for each in ranked[: over + int(keep * SLACK)])
        return out

    def put_away(tx: Transaction, ids: Sequence[MemoryId]) -> list[MemoryId]:
        # Read again: it may have been used, pinned or forgotten since it was weighed.
        there = tx.memories.get(space, ids)
        gone = [
            replace(record, archived=True, archived_at=now, archived_why=least[record.id])
            for record in there
            if not (record.pinned or record.archived)
        ]
        tx.memories.put(space, gone)
        return [record.id for record in gone]

    least = await resources.store.read(least_retained)
    names = list(least)
    out: list[MemoryId] = []
    for start in range(0, len(names), BATCH):
        out += await resources.store.write(put_away, names[start : start + BATCH])
    return out


def has_faded(record: Record, now: datetime) -> bool:
    """Whether a memory tells what passed, was told once and never asked for since, and its messages tell it still."""
    kind = KINDS[record.kind]
    may_go = kind.passing and not (record.pinned or record.cue or record.used) and len(supporting(record)) <= 1
    told_still = any(piece.messages for piece in record.evidence)
    return may_go and told_still and kind.retention(record, now) < FADED


def restore(tx: Transaction, resources: Resources, space: str, ids: Sequence[str]) -> Sequence[Record]:
    """Take memories out again that were put away; ids may be shortened. Raises MemoryNotFound.

    Whoever does that has asked for them: it counts as a use, so that they don't fade again at once.
    """
    out: list[Record] = []
    for name in ids:
        found = memory_named(tx, space, name)
        if found is None:
            raise MemoryNotFound(f"There is no memory {name!r} in space {space!r}.")
        out.append(replace(found, archived=False, archived_at=None, archived_why=""))
    tx.memories.put(space, out)
    return used(tx, resources, space, [each.id for each in out])


def _by_retention(records: Sequence[Record], now: datetime) -> list[tuple[float, Record]]:
    """How much each is worth keeping, the least first; those that are pinned are left out."""
    weighed = [(KINDS[each.kind].retention(each, now), each) for each in records if not each.pinned]
    # Of two that are worth the same the one that was written first.
    return sorted(weighed, key=lambda each: (each[0], each[1].recorded, each[1].at, each[1].id))


def _reason(record: Record, now: datetime) -> str:
    """Why a memory is not worth more, in words."""
    since = record.last_used or record.recorded
    days = max((now - since).days, 0)
    if days:
        used = "not used" if record.last_used else "never used"
        told = [f"{used} for {days} day{'' if days == 1 else 's'}"]
    else:
        told = ["used today" if record.last_used else "told today"]
    if record.state != "active":
        told.append(record.state)
    if record.reflected:
        told.append("reflected on")
    if record.harmed > record.helped:
        told.append(f"harmed {record.harmed} times and helped {record.helped}")
    if record.stale:
        told.append("to be reconsidered")
    return ", ".join(told)
