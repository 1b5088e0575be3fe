"""Write memories, read the history of facts, and archive memories.

Everything about a draft is decided inside the one transaction that stores the result.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Unpack

from msgspec.structs import replace

from ireneo.engine.named import memories_of_ids, record_use, subject_meant
from ireneo.engine.provenance import check_sources, find_echoed, update_staleness
from ireneo.engine.reading import KnownMemories, Utterance, drafts_of, own_draft, read_by_model, visible_records
from ireneo.engine.resources import Resources
from ireneo.engine.scope import Scope, ScopeLimits, check_project, record_project, stated_project
from ireneo.errors import BadInput, ModelError, NothingToKeep
from ireneo.language.predicates import before_next_verb, next_statement
from ireneo.language.words import sentences, terms
from ireneo.lessons.told_failures import is_warning, lacks_call
from ireneo.log.message import MessageId
from ireneo.log.tree import SessionKey
from ireneo.memories.ended_values import corrections, without_opposed
from ireneo.memories.endings import ended_memories, has_duration, may_be_over, may_change, without_ended
from ireneo.memories.exchange import evidence_draft
from ireneo.memories.extract import corrected_facts
from ireneo.memories.facts import ONE_LIFE, Fact, cardinality_of, facts, held_at
from ireneo.memories.intake import LONGEST, MemoryDetails, check_time, classify, memory_draft, part_draft, stated_parts
from ireneo.memories.kinds import KINDS
from ireneo.memories.lasting import expired_part
from ireneo.memories.quoting import is_informative
from ireneo.memories.reconcile import RememberOutcome, reconcile
from ireneo.memories.record import (
    NAMES,
    Evidence,
    MemoryDraft,
    MemoryId,
    Record,
    format_month,
    quoted,
    slot,
    supporting,
)
from ireneo.memories.wording import unquoted_words
from ireneo.ports.memories import MemoryFilter
from ireneo.ports.store import Transaction
from ireneo.short_repr import ShortRepr

_TELLING = ("kind", "subject", "attribute", "value", "task_type", "name", "signature", "conditions")
"""Details that determine a memory's kind."""
_WHOLE = (*_TELLING, "until", "against")
"""Details that apply to a text as a whole."""
_LOG = logging.getLogger("ireneo")

_AFTER = timedelta(microseconds=1)
RARE = 40
"""A word in more memories than this doesn't show which are meant."""
NEAREST = 48
"""How many memories are examined for what a statement ends: those that share its rarest words."""
_RECENT = timedelta(days=365)
"""Something that began longer than this before something else was said is history, and doesn't change it."""


class Remembered(ShortRepr, frozen=True, kw_only=True):
    """The outcome for a text that was to be remembered."""

    did: RememberOutcome
    reason: str
    """Why, in a sentence."""
    record: Record
    """The memory that the text became, or to which it added evidence, in its current state."""
    changed: tuple[Record, ...] = ()
    """Other memories that changed: they were superseded, or became stale."""
    more: tuple[Remembered, ...] = ()
    """The outcomes for further facts in the same text."""
    redacted: Mapping[str, int] = {}
    """How many different secrets of each kind were removed from the text and its details before they were stored."""

    @property
    def names_no_call(self) -> bool:
        """Whether it says what must not be run, or what fails, without a call that the guard could recognise."""
        return lacks_call(self.record)


async def remember(resources: Resources, space: str, text: str, **details: Unpack[MemoryDetails]) -> Remembered:
    """Remember `text`; raises BadInput if it or its details can't be used.

    If there is a model and no details are given, the model extracts the facts to remember, possibly several; raises
    NothingToKeep if there are none.
    """
    details, draft, redacted = await asyncio.to_thread(_redacted_draft, resources, text, details)
    told = any(details.get(name) for name in _TELLING)
    drafts = [] if told else await _facts_by_model(resources, space, draft)
    if not drafts:
        drafts = await asyncio.to_thread(_statements, draft, details)
        return replace(await resources.store.write(_settle_text, space, drafts), redacted=redacted)
    settled = await resources.store.write(settle_drafts, space, drafts)
    # Drafts against other memories are settled first, and aren't the text's own statement.
    first = next((place for place, each in enumerate(drafts) if not each.against), 0)
    more = tuple(each for place, each in enumerate(settled) if place != first)
    return replace(settled[first], more=more, redacted=redacted)


async def _facts_by_model(resources: Resources, space: str, draft: MemoryDraft) -> list[MemoryDraft]:
    """The facts that a model finds in the text of `draft`; empty if there is no model, it fails, or no fact is sound.

    A text with a single fact is kept as it is.
    """
    model = resources.models_for_space(space).for_task("facts")
    if model is None:
        return []
    # A deliberate statement is remembered, even if an agent makes it about the user.
    speaker = "user" if draft.origin == "user" else "assistant"
    said = Utterance(message=MessageId(""), role="user", speaker=speaker, text=draft.text[:LONGEST], at=draft.at)
    known = await resources.store.read(KnownMemories, space, draft.project)
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


def _statements(draft: MemoryDraft, details: MemoryDetails) -> list[MemoryDraft]:
    """The draft of each statement of a text; a single draft if the details say what it is, or if it is a warning.

    All of the drafts have the text's sources.
    """
    if any(details.get(name) for name in _TELLING):
        return [draft]
    whole = any(details.get(name) for name in _WHOLE)
    if not (whole or draft.against) and is_warning(draft.text):
        return [replace(draft, kind="failure", subject="", attribute="", value="")]
    parts = [] if whole else stated_parts(draft.text, _speaker(draft))
    if len(parts) < 2 and all(part.text == draft.text for part in parts):
        return _split_ending(draft)
    return [half for part in parts for half in _split_ending(part_draft(draft, part, details))]


def _speaker(draft: MemoryDraft) -> str:
    """Whom "I" means in a text; unknown unless the user says it."""
    return "user" if draft.origin == "user" else ""


def _split_ending(draft: MemoryDraft) -> list[MemoryDraft]:
    """A statement, or its second half and perhaps the first if it says what has ended and what is true instead.

    A new value of the same attribute replaces the old one anyway.
    """
    text = next_statement(draft.text, draft.subject) if draft.against and draft.attribute else ""
    found = classify(text, _speaker(draft)) if text else None
    if found is None or found.against or not found.attribute or slot(found.subject, "") != slot(draft.subject, ""):
        return [draft]
    news = replace(
        draft,
        text=text,
        kind=found.kind,
        subject=found.subject,
        attribute=found.attribute,
        value=found.value,
        against=False,
        why="",
    )
    is_instead = found.attribute == draft.attribute and cardinality_of(draft.attribute) == "one"
    return [news] if is_instead else [news, draft]


def remember_all(
    tx: Transaction, resources: Resources, space: str, texts: Iterable[tuple[str, MemoryDetails]]
) -> list[Remembered]:
    """Remember many texts in one transaction: all of them, or none if BadInput is raised.

    They are treated as stated one after the other, so that of two contradictory ones the later is true.
    """
    now = resources.clock.now()
    told = [
        _redacted_draft(resources, text, details, now + number * _AFTER) for number, (text, details) in enumerate(texts)
    ]
    return [_settle_text(tx, space, _statements(draft, details)) for details, draft, _ in told]


def _settle_text(tx: Transaction, space: str, drafts: Sequence[MemoryDraft]) -> Remembered:
    """Settle the drafts of a text; the text is stored even if it ended nothing."""
    drafts = _corrections(tx, space, drafts) or drafts
    first, *more = settle_statements(tx, space, drafts) or settle_drafts(tx, space, drafts)
    return replace(first, more=tuple(more))


def _corrections(tx: Transaction, space: str, drafts: Sequence[MemoryDraft]) -> list[MemoryDraft]:
    """The drafts of known values that a user's text only puts right: "Not Hull, it's Hove"."""
    draft = drafts[0]
    if len(drafts) > 1 or draft.attribute or draft.origin != "user" or not corrections(draft.text):
        return []
    known = KnownMemories(tx, space, draft.project).facts
    return [own_draft(fact, draft) for fact in corrected_facts(draft.text, _speaker(draft), draft.at, known)]


def _redacted_draft(
    resources: Resources, text: str, details: MemoryDetails, now: datetime | None = None
) -> tuple[MemoryDetails, MemoryDraft, Mapping[str, int]]:
    """The details of a text with secrets redacted, the draft they make, and how many secrets there were by kind."""
    cleaning = resources.cleaning()
    text, details = cleaning.memory(text, details)
    return details, memory_draft(text, details, now or resources.clock.now()), cleaning.found


def settle_drafts(
    tx: Transaction, space: str, drafts: Iterable[MemoryDraft], *, judged: bool = False
) -> list[Remembered]:
    """Settle drafts one after the other and store the results: the only way in which memories are written.

    `tx` is a write transaction: of several processes with the same draft the first adds it, and the others find it.
    Raises BadInput if a source is not stored. With `judged` the drafts are evidence that a memory already had, here or
    elsewhere, so that sources may be missing and repetition is no echo.
    """
    settle = _reconcile if judged else _settle_draft
    return [settle(tx, space, _with_project(tx, space, draft, judged=judged)) for draft in drafts]


def settle_statements(
    tx: Transaction, space: str, drafts: Iterable[MemoryDraft], near: Sequence[Record] = ()
) -> list[Remembered]:
    """Settle a user's statements: first the memories that their meaning ends, then each draft itself.

    Candidates are searched by words, and in `near`. A draft without a slot that only ends what it names is stored if it
    ended something; if it was said in passing and ended nothing, it is dropped.
    """
    done: list[Remembered] = []
    for told in drafts:
        draft = _with_stated_time(tx, space, _with_project(tx, space, told, judged=False))
        over = _memories_ended(tx, space, draft, near)
        ended = settle_drafts(tx, space, [_evidence_against(each, draft) for each in over])
        ended += settle_drafts(tx, space, [rest for each in over if (rest := _without_person(each, draft))])
        if draft.against and not draft.attribute and (ended or draft.messages):
            done += ended
            if ended and unquoted_words(draft.text) == draft.why and is_informative(draft.why):
                # The end of something is worth knowing if the thing was known before, and "we're in!" says no more.
                done += settle_drafts(tx, space, [replace(draft, against=False, why="")])
        elif draft.against and not visible_records(
            tx, space, draft.project, tx.memories.of_key(space, draft.kind, KINDS[draft.kind].key(draft))
        ):
            # Nothing was known in the slot that it ends, so it is news.
            done += settle_drafts(tx, space, [replace(draft, against=False, attribute="", value="", why="")])
        else:
            first, *others = settle_drafts(tx, space, [draft])
            gone = tuple(each.record for each in ended if not each.record.holds)
            if gone and first.did == "added":
                ends = " and ".join(quoted(each.text.removesuffix(".")) for each in gone)
                first = replace(first, reason=f"It ends {ends}.")
            done += [replace(first, changed=(*first.changed, *gone)), *others]
            settle_drafts(tx, space, list(_evidence_of_earlier_end(tx, space, draft, first.record, near)))
            if draft.against and (
                (not draft.messages and draft.text not in (each.text for each in (first.record, *first.changed)))
                or before_next_verb(draft.text) != draft.text
                or next_statement(draft.text, draft.subject)
            ):
                # One half of the sentence ends something, and the other half is news.
                done += settle_drafts(tx, space, [replace(draft, against=False, attribute="", value="", why="")])
            elif (
                draft.against
                # Who "quit" says no more than that something ended, and so does a denial.
                and (draft.value or draft.attribute not in ("", "employer"))
                and cardinality_of(draft.attribute) == "one"
                and (gone or (first.did == "overturned" or any(not each.holds for each in first.changed)))
            ):
                # It is worth knowing where somebody worked or lived until now, and that they no longer do.
                event = replace(draft, kind="episodic", against=False, subject="", attribute="", value="", why="")
                done += settle_drafts(tx, space, [event])
    return done


def _with_stated_time(tx: Transaction, space: str, draft: MemoryDraft) -> MemoryDraft:
    """Date a draft from a chat after everything that was said before it.

    "I live in Porto" doesn't say since when. "I moved to Lisbon last week", said later, is the newer state, although
    that week was before Porto was mentioned. The time of the statement is used, not the time of reading it: what was
    said on later days remains later than the draft.
    """
    if not draft.messages or not draft.attribute or cardinality_of(draft.attribute) != "one":
        return draft
    heard = draft.told or _time_said(tx, space, draft)
    row = KINDS[draft.kind]
    known = visible_records(tx, space, draft.project, tx.memories.of_key(space, draft.kind, row.key(draft)))
    others = [each for each in known if row.holds(each, heard) and (draft.against or each.value != draft.value)]
    # "I quit. Since Monday I'm a teacher": the new work doesn't end with the old one.
    ends = [piece for each in known for piece in each.evidence if piece.against and piece.messages]
    between = [
        piece
        for piece in (*(one for each in others for one in supporting(each)), *ends)
        if draft.at < piece.at <= heard and piece.at < draft.at + _RECENT
    ]
    told = max((piece.at for piece in between if _time_said(tx, space, piece) <= heard), default=None)
    if told is not None:
        return replace(draft, at=told + _AFTER)
    if draft.against:
        return draft
    newer = [
        piece.at
        for each in others
        for piece in supporting(each)
        if any(period.start == piece.at for period in each.periods if held_at([period], draft.at))
        and draft.at - _RECENT < piece.at <= draft.at
        and _time_said(tx, space, piece) > heard
    ]
    return replace(draft, at=min(newer) - _AFTER) if newer else draft


def _time_said(tx: Transaction, space: str, piece: Evidence) -> datetime:
    """When something was said: the time of its last message, or else that of its event."""
    named = tx.log.find(SessionKey(space, piece.session), piece.messages) if piece.session and piece.messages else ()
    return max((each.draft.at for each in named if each.draft.at is not None), default=piece.at)


def _memories_ended(tx: Transaction, space: str, draft: MemoryDraft, near: Sequence[Record]) -> list[Record]:
    """The memories that the meaning of a user's statement ends."""
    if draft.origin != "user" or not (draft.against or draft.attribute == "manner" or may_change(draft.text)):
        return []
    known, often = _related_memories(tx, space, draft, near)
    return _ended_among(draft, known, often)


def _evidence_of_earlier_end(
    tx: Transaction, space: str, draft: MemoryDraft, told: Record, near: Sequence[Record]
) -> Iterator[MemoryDraft]:
    """The evidence against a memory that, according to an earlier statement, ended on a later day."""
    if (
        draft.origin != "user"
        or draft.against
        or not (told.holds or held_at(told.periods, draft.at))
        or not may_be_over(replace(told, state="active"))
        or (near and all(each.at <= draft.at for each in near))
    ):
        return
    known, often = _related_memories(tx, space, draft, near)
    for each in known:
        last = each.evidence[-1]
        if not each.holds or each.id == told.id or each.at <= draft.at or each.origin != "user":
            continue
        if not may_change(each.text):
            continue
        word = replace(
            draft,
            text=each.text,
            kind=each.kind,
            at=each.at,
            recorded=max(told.recorded, draft.recorded) + _AFTER,
            session=last.session,
            messages=last.messages,
            quote="",
            **{name: getattr(each, name) for name in NAMES},
        )
        # A value with a successor may have ended before that began.
        if _ended_among(word, [replace(told, state="active", at=draft.at)], often):
            yield _evidence_against(told, word)


def _related_memories(
    tx: Transaction, space: str, draft: MemoryDraft, near: Sequence[Record]
) -> tuple[list[Record], Mapping[str, int]]:
    """The memories that share words or a slot with a draft, and how many memories contain each word."""
    asked = sorted(set(terms(draft.text)))
    often = tx.search.count(space, "memories", asked, RARE)
    telling = [term for term in asked if 0 < often[term] <= RARE]
    listed = tx.search.postings(space, "memories", telling)
    shared: Counter[int] = Counter()
    for term, documents in listed.items():
        # The rarer a word, the better it shows which memories are meant.
        shared.update(dict.fromkeys(documents, 1_000 // often[term]))
    found = sorted(document for document, _ in shared.most_common(NEAREST))
    known = [*near, *(each.record for each in tx.search.memories(space, found))]
    if draft.attribute:
        for name in (draft.attribute, ONE_LIFE.get(draft.attribute, "")):
            known += tx.memories.of_key(space, "semantic", slot(draft.subject, name)) if name else ()
    return visible_records(tx, space, draft.project, list({each.id: each for each in known}.values())), often


def _ended_among(draft: MemoryDraft, known: Sequence[Record], often: Mapping[str, int]) -> list[Record]:
    """The known memories that a statement ends by its meaning."""
    words = unquoted_words(draft.text)
    # Each sentence of a quotation ends memories by itself.
    is_quoted = words != draft.text and not draft.against
    said = list(sentences(words, small_opens=True)) if is_quoted else [words]
    over = (ended_memories(replace(draft, text=each), known, often) for each in said)
    return list({each.id: each for some in over for each in some}.values())


def _evidence_against(record: Record, draft: MemoryDraft) -> MemoryDraft:
    """The user's statement as evidence against a memory that it ends."""
    return replace(
        draft,
        kind=record.kind,
        text=record.text,
        at=KINDS[record.kind].effective_time(record, max(draft.at, min(record.at + _AFTER, draft.told or draft.at))),
        against=True,
        adds=False,
        until=None,
        # A retold statement is quoted in its original words.
        why=(draft.quote or draft.text) if unquoted_words(draft.text) == draft.text else unquoted_words(draft.text),
        conditions={},
        **{name: getattr(record, name) for name in NAMES},
    )


def retire_expired(
    tx: Transaction, space: str, known: Sequence[Record], moment: datetime, recorded: datetime
) -> list[Remembered]:
    """Retire quotations that are over at `moment`; those that are only too old to be relied on get a warning."""
    done: list[Remembered] = []
    for each in known:
        is_quoted = each.kind == "episodic" and each.holds and not each.pinned
        # What was restored by hand doesn't lapse again.
        is_quoted = is_quoted and not any(piece.lapsed for piece in each.evidence)
        over_now = expired_part(each.text, each.at, moment) if is_quoted else None
        if over_now is None:
            continue
        last = each.evidence[-1]
        names = {name: getattr(each, name) for name in NAMES}
        over = MemoryDraft(
            text=each.text,
            kind=each.kind,
            at=each.at,
            recorded=max(recorded, last.recorded + _AFTER),
            until=over_now.until,
            against=True,
            origin=each.origin,
            trust=each.trust,
            project=last.project,
            **names,
        )
        rest = replace(over, until=None, against=False, session=last.session, messages=last.messages)
        left = [replace(rest, text=text) for text in (over_now.left, over_now.old) if text]
        done += settle_drafts(tx, space, [over, *left])
    return done


def retire_jokes(tx: Transaction, space: str, known: Sequence[Record], word: MemoryDraft) -> list[Remembered]:
    """Retire the memories that a user's `word` calls a joke."""
    return settle_drafts(tx, space, [replace(_evidence_against(each, word), at=each.at) for each in known])


def _without_person(record: Record, draft: MemoryDraft) -> MemoryDraft | None:
    """The rest of a memory about several people, without the one who is gone; None if it isn't such a memory."""
    if record.attribute == "manner":
        value = without_opposed(record.value, draft.value) or ""
        words = re.compile(re.escape(record.value), re.I)
        text = words.sub(lambda _: value[0].upper() + value[1:], record.text) if value else None
    else:
        text, value = without_ended(record.text, draft.text), without_ended(record.value, draft.text) or ""
    if text is None or (record.kind == "episodic" and not has_duration(record)):
        return None
    if record.value and not value and not {*terms(record.value)}.isdisjoint(terms(unquoted_words(draft.text))):
        return None
    return replace(
        draft,
        kind=record.kind,
        text=text,
        at=KINDS[record.kind].effective_time(record, draft.at),
        subject=record.subject,
        # Without a value of its own it would be the memory that has ended.
        attribute=record.attribute if value else "",
        value=value.rstrip("."),
        against=False,
        adds=False,
        # The memory may come from other sessions than the statement, or from several.
        session=draft.session if all(each.session == draft.session for each in record.evidence) else "",
        messages=(*(name for each in record.evidence for name in each.messages), *draft.messages),
        summaries=tuple(name for each in record.evidence for name in each.summaries),
    )


def _with_project(tx: Transaction, space: str, draft: MemoryDraft, *, judged: bool) -> MemoryDraft:
    """Add the project to a draft: the one it states, or that of its session."""
    if not draft.session:
        return replace(draft, project=stated_project(draft.project))
    key = SessionKey(space, draft.session)
    info = tx.sessions.get(key)
    if info is not None and info.project is None:
        record_project(tx, key)
        info = tx.sessions.get(key)
    known = (info.project if info else None) or ""
    told = stated_project(draft.project)
    if not judged:
        check_project(draft.session, known, told or known)
    return replace(draft, project=told or known)


def _settle_draft(tx: Transaction, space: str, draft: MemoryDraft) -> Remembered:
    cited = bool(draft.messages)
    draft, heard = check_sources(tx, space, draft)
    if cited and draft.session and not draft.project:
        draft = _with_project(tx, space, draft, judged=False)
    row = KINDS[draft.kind]
    known = tx.memories.of_key(space, row.name, row.key(draft))
    if not heard and (draft.origin in ("agent", "derived") or (cited and not draft.messages)):
        held = find_echoed(tx, space, draft, known)
        if held is not None and draft.project and _settle_within_project(tx, space, draft.project, [held]) == []:
            held = None
        # Evidence against a recalled memory, or of its end, is no echo of it.
        if held is not None and not draft.against and draft.until is None:
            reason = "It reads as a memory that is held already: it was recalled, and is no new evidence."
            return Remembered(did="ignored", reason=reason, record=held)
    return _reconcile(tx, space, draft, judged=False)


def _reconcile(tx: Transaction, space: str, draft: MemoryDraft, *, judged: bool = True) -> Remembered:
    row = KINDS[draft.kind]
    known = tx.memories.of_key(space, row.name, row.key(draft))
    done = reconcile(draft, known)
    # The outcome is reported as seen from this project, without what others state.
    apart = draft.project and known and not draft.cue and (draft.against or not judged)
    told = reconcile(draft, _settle_within_project(tx, space, draft.project, known)) if apart else done
    if not done.stored:
        return Remembered(did=done.did, reason=done.reason, record=done.record)
    now = {each.id: each for each in (done.record, *done.changed)}
    tx.memories.put(space, list(now.values()))
    before = {each.id: each for each in known}
    fallen = [name for name, each in now.items() if name in before and before[name].state != each.state]
    now.update({each.id: each for each in update_staleness(tx, space, fallen, [done.record])})
    record = now.pop(done.record.id)
    return Remembered(did=told.did, reason=told.reason, record=record, changed=tuple(now[name] for name in sorted(now)))


def _settle_within_project(tx: Transaction, space: str, project: str, records: Sequence[Record]) -> list[Record]:
    """Settle memories only by what was stated in a project, or in none."""
    scope = Scope(tx, space, ScopeLimits(project=project, undone=True))
    here = scope.with_visible_evidence(records)
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
    undone: bool = False,
) -> list[Fact]:
    """The facts about a subject, slot by slot, each by when it began (see `Memory.history`)."""
    if not subject.strip():
        raise BadInput("The subject is empty; say whose history is wanted.")
    for name, moment in (("at", at), ("believed_at", believed_at)):
        check_time(name, moment)
    meant = dict.fromkeys((subject, subject_meant(tx, space, subject)))
    if attribute:
        records = [each for name in meant for each in tx.memories.of_key(space, "semantic", slot(name, attribute))]
    else:
        found = (tx.memories.list(space, MemoryFilter(kind="semantic", subject=name)) for name in meant)
        records = [each for part in found for each in part]
    if project is not None or not undone:
        records = Scope(tx, space, ScopeLimits(project=project, undone=undone)).with_visible_evidence(records)
    by_key: dict[str, list[Record]] = {}
    for each in records:
        by_key.setdefault(each.key, []).append(each)
    return [fact for key in sorted(by_key) for fact in facts(by_key[key], at=at, believed_at=believed_at)]


SLACK = 0.02
"""The share of the limit that is freed in addition, so that memories are not weighed at each write."""
FADED = 0.15
"""Past events with lower retention are archived, however few there are: after two years if one of medium salience
was mentioned once, after half a year if conclusions were drawn from it."""
ARCHIVED_AT_A_TIME = 1_000
"""How many memories are archived per transaction."""


class ArchiveCandidate(ShortRepr, frozen=True, kw_only=True):
    """A memory, and how much it is worth keeping."""

    record: Record
    retention: float
    """How much the memory is worth keeping, from 0 to 1; the lowest is archived first."""
    reason: str
    """The reason why the value isn't higher, in words."""


def archive_candidates(
    tx: Transaction, resources: Resources, space: str, limit: int = 20
) -> Sequence[ArchiveCandidate]:
    """The memories that would be archived next, the least retained first; pinned ones never are."""
    _check_limit(limit)
    now = resources.clock.now()
    ranked = _by_retention(tx.memories.list(space, MemoryFilter(archived=False)), now)
    return [
        ArchiveCandidate(record=record, retention=retention, reason=_retention_reason(record, now))
        for retention, record in ranked[:limit]
    ]


def archived(tx: Transaction, space: str, limit: int = 20) -> Sequence[Record]:
    """The memories that were archived, or that are too old to be relied on, the most recent first."""
    _check_limit(limit)
    away = [*tx.memories.list(space, MemoryFilter(archived=True))]
    for each in tx.memories.list(space, MemoryFilter(states=("retired",), archived=False)):
        ends = [piece for piece in each.evidence if piece.against]
        if ends and all(piece.lapsed for piece in ends):
            away.append(replace(each, archived_at=max(filter(None, (e.until for e in ends))), archived_why=each.reason))
    return sorted(away, key=lambda each: (-(each.archived_at or each.recorded).timestamp(), each.id))[:limit]


def _check_limit(limit: int) -> None:
    if limit < 1:
        raise BadInput(f"A limit of {limit} shows nothing; give at least 1.")


async def archive(resources: Resources, space: str, keep: int, *, faded: bool = False) -> Sequence[MemoryId]:
    """Archive the least retained memories until `keep` are left in use; return their ids (see `Memory.archive`).

    With `faded`, past events that nobody asked for are archived too, as long as their messages remain.
    """
    if keep < 0:
        raise BadInput(f"{keep} memories can't be kept; give 0 or more.")
    now = resources.clock.now()

    def weighed(records: Iterable[Record], why: str) -> dict[MemoryId, tuple[Record, str]]:
        return {each.id: (each, f"{_retention_reason(each, now)}: {why}") for each in records}

    def least_retained(tx: Transaction) -> dict[MemoryId, tuple[Record, str]]:
        passed = tx.memories.list(space, MemoryFilter(kind="episodic", archived=False)) if faded else ()
        out = weighed((each for each in passed if has_faded(each, now)), "it has faded")
        if tx.search.size(space, "memories").documents <= keep:
            return out
        in_use = tx.memories.list(space, MemoryFilter(archived=False))
        over = len(in_use) - len(out) - keep
        if over > 0:
            ranked = [record for _, record in _by_retention(in_use, now) if record.id not in out]
            out |= weighed(ranked[: over + int(keep * SLACK)], f"the least worth of more than {keep:,}")
        return out

    def archive_records(tx: Transaction, ids: Sequence[MemoryId]) -> list[MemoryId]:
        # Read again: what was used, changed or erased since it was weighed stays as it is.
        there = [each for each in tx.memories.get(space, ids) if each == least[each.id][0]]
        gone = [replace(each, archived=True, archived_at=now, archived_why=least[each.id][1]) for each in there]
        tx.memories.put(space, gone)
        return [record.id for record in gone]

    least = await resources.store.read(least_retained)
    names = list(least)
    out: list[MemoryId] = []
    for start in range(0, len(names), ARCHIVED_AT_A_TIME):
        out += await resources.store.write(archive_records, names[start : start + ARCHIVED_AT_A_TIME])
    return out


def has_faded(record: Record, now: datetime) -> bool:
    """Whether a memory is a past event that was mentioned once, never used, and is still in its messages."""
    kind = KINDS[record.kind]
    may_go = kind.passing and not (record.pinned or record.cue or record.used) and len(supporting(record)) <= 1
    told_still = any(piece.messages for piece in record.evidence)
    return may_go and told_still and kind.retention(record, now) < FADED


def restore(tx: Transaction, resources: Resources, space: str, ids: Sequence[str]) -> Sequence[Record]:
    """Take memories out of the archive, and let those be true again that were ended; ids may be shortened.

    Those that hold already are left as they are, and not returned. It is recorded as a use, so that they don't fade
    again at once. Raises MemoryNotFound, and BadInput for one that another value replaced.
    """
    found = [each for each in memories_of_ids(tx, space, ids) if each.archived or not each.holds]
    tx.memories.put(space, [replace(each, archived=False, archived_at=None, archived_why="") for each in found])
    ended = [each for each in found if each.state == "retired" and not each.archived]
    now = resources.clock.now()
    settle_drafts(tx, space, [_revival(each, now) for each in ended], judged=True)
    # What was restored needs no second line that warns of its age.
    ends = [(each, piece.until + _AFTER) for each in ended for piece in each.evidence if piece.lapsed and piece.until]
    aged = [(each, part.old) for each, end in ends if (part := expired_part(each.text, each.at, end)) and part.old]
    over = [replace(_revival(each, now), text=old, against=True, why="It was restored.") for each, old in aged]
    settle_drafts(tx, space, over, judged=True)
    for each in tx.memories.get(space, [each.id for each in found if not each.archived]):
        if not each.holds:
            said = f"Memory {each.id} is not in the archive but {each.state}. {each.reason}".strip()
            raise BadInput(f"{said} `remember` its words again if they hold.")
    return record_use(tx, resources, space, [each.id for each in found])


def _revival(record: Record, now: datetime) -> MemoryDraft:
    """The user's word that a memory did not end when it was said to."""
    last = max(each.until or each.at for each in record.evidence if each.against)
    # An event is found by its own time, however long ago it lapsed.
    return evidence_draft(record, Evidence(at=record.at if KINDS[record.kind].passing else last, recorded=now))


def _by_retention(records: Sequence[Record], now: datetime) -> list[tuple[float, Record]]:
    """How much each is worth keeping, the lowest first, without pinned ones."""
    weighed = [(KINDS[each.kind].retention(each, now), each) for each in records if not each.pinned]
    return sorted(weighed, key=lambda each: (each[0], each[1].recorded, each[1].at, each[1].id))


def _retention_reason(record: Record, now: datetime) -> str:
    """The reason why a memory's retention isn't higher, in words."""
    since = record.last_used or record.recorded
    days = max((now - since).days, 0)
    if days:
        used = "not used" if record.last_used else "never used"
        told = [f"{used} for {days} day{'' if days == 1 else 's'}"]
    else:
        told = ["used today" if record.last_used else "told today"]
    if (last := supporting(record)) and last[-1].messages and last[-1].at.date() < record.recorded.date():
        # What was read from an old chat is older than its record.
        month = f"from {format_month(last[-1].at)}"
        told = [month, *told] if days or record.last_used else [month]
    if record.state != "active":
        told.append(record.state)
    if record.reflected:
        told.append("reflected on")
    if record.harmed > record.helped:
        told.append(f"harmed {record.harmed} times and helped {record.helped}")
    if record.stale:
        told.append("to be reconsidered")
    return ", ".join(told)
