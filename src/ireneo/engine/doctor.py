"""Examine a store at rest, and repair what can be repaired without touching the log."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from itertools import pairwise
from typing import Literal, get_args

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ireneo.context.story import PASSING
from ireneo.engine.context import text_id
from ireneo.engine.models import VISIT
from ireneo.engine.tree import TreePath, all_annotations, tree_paths
from ireneo.errors import BadInput, MessageNotFound, NotFound, ReadOnlyStore, StoreBusy, StoreError
from ireneo.language.topics import Voice
from ireneo.log.message import Head, Message, MessageId, message_id, short
from ireneo.log.tree import SessionKey
from ireneo.patterns import lazy_re
from ireneo.ports.store import Lease, Rebuild, Store, Transaction
from ireneo.prompts import FAMILIES
from ireneo.summaries.summary import Summary, SummaryId, ThreadChanges, anchor

RESTORE = (
    "The log is never changed to repair it: restore a backup, or save what can be read with `sqlite3 FILE .recover` "
    "and import the rest again."
)
TAKE_OUT = "`ireneo doctor --repair` takes it out; it is made again from the log."
TAKEN_OUT = "Taken out; it is made again from the log."
UNREADABLE = (StoreError, NotFound, msgspec.MsgspecError, ValueError)
"""Errors that reading a damaged value may raise."""


class Finding(Struct, frozen=True, kw_only=True):
    """A fault of the store, or a state that is allowed and worth knowing."""

    kind: Literal["fault", "note"]
    """``fault``: something is wrong. ``note``: a state that is allowed."""
    session: str
    """The session that the finding is about; empty for the whole store."""
    text: str
    repaired: bool = False
    advice: str = ""
    """The advice on the finding or, if it was repaired, the repair."""


class Diagnosis(Struct, frozen=True, kw_only=True):
    """A finding with its repair, if there is one, which never touches the log."""

    finding: Finding
    discard: tuple[SummaryId, ...] = ()
    """The summaries that the repair removes."""
    repair: Callable[[Transaction], None] | None = None
    """Any other repair."""
    done: str = ""
    """The advice in the finding once it is repaired."""
    about: tuple[str, ...] = ()
    """Ids or phrases that identify the store's own sentence about the same fault, which is left out."""


def _make_fault(session: str, text: str, advice: str = RESTORE, about: Iterable[str] = ()) -> Diagnosis:
    finding = Finding(kind="fault", session=session, text=text, advice=advice)
    return Diagnosis(finding=finding, about=tuple(about))


def _unreadable(what: str, error: Exception, session: str = "") -> Diagnosis:
    return _make_fault(session, f"{what} can't be looked at to its end: {str(error).rstrip('.')}.")


def _make_note(session: str, text: str, advice: str = "") -> Diagnosis:
    return Diagnosis(finding=Finding(kind="note", session=session, text=text, advice=advice))


def _describe_summary(summary: Summary) -> str:
    what = f"{summary.level} {summary.depth}"
    return f"{short(summary.id)} ({what}, {_describe_positions(summary.first_position, summary.last_position)})"


def _describe_positions(first: int, last: int) -> str:
    """Positions in words, counted from 1."""
    return f"message {first + 1:,}" if first == last else f"messages {first + 1:,}–{last + 1:,}"


CHUNK = 500
"""Messages or summaries read per query."""
_ID = lazy_re(r"\bs_[a-z2-7]{26}\b")


class StoredSummaries(Struct, frozen=True, kw_only=True):
    """The summaries of a session, without their content."""

    there: dict[SummaryId, Summary]
    unreadable: dict[SummaryId, str]
    """The ids that can't be read, with the reason."""

    @property
    def canonical(self) -> list[Summary]:
        """The offline summaries; all others are texts that models wrote for the same stretches."""
        return [each for each in self.there.values() if each.writing is None]

    @property
    def ids(self) -> set[SummaryId]:
        """Every id."""
        return {*self.there, *self.unreadable}


def _read_summaries(tx: Transaction, key: SessionKey) -> StoredSummaries:
    there: dict[SummaryId, Summary] = {}
    unreadable: dict[SummaryId, str] = {}
    ids = tx.upkeep.summaries(key)
    for start in range(0, len(ids), CHUNK):
        chunk = ids[start : start + CHUNK]
        try:
            there.update(_without_content(tx.summaries.get(key, chunk), chunk))
        except UNREADABLE:
            for name in chunk:
                try:
                    there.update(_without_content(tx.summaries.get(key, [name]), [name]))
                except UNREADABLE as error:
                    unreadable[name] = str(error)
    return StoredSummaries(there=there, unreadable=unreadable)


def _without_content(read: Sequence[Summary], ids: Sequence[SummaryId]) -> dict[SummaryId, Summary]:
    """Summaries by the id they are stored under, without their content, since there may be very many."""
    return {name: replace(each, sections=(), threads=ThreadChanges()) for name, each in zip(ids, read, strict=True)}


def _check_summaries(
    tx: Transaction, key: SessionKey, stored: StoredSummaries, faults: Sequence[str]
) -> list[Diagnosis]:
    """Check each summary by itself; `faults` is what the store reports of its values."""
    said = {name: each for each in faults for name in _ID.findall(each)}
    above = _dependents(stored)
    found = [
        _removable_fault([name], f"Summary {short(name)} can't be read: {why}.", key, above)
        for name, why in stored.unreadable.items()
    ]
    for name, summary in stored.there.items():
        if why := _id_fault(name, summary) or _position_fault(tx, key, summary) or _source_fault(summary, stored):
            found.append(
                _removable_fault([name], f"Summary {_describe_summary(replace(summary, id=name))} {why}.", key, above)
            )
        elif name in said:
            found.append(_removable_fault([name], said[name], key, above))
    return found


def _removable_fault(
    ids: Sequence[SummaryId], text: str, key: SessionKey, above: Mapping[SummaryId, Sequence[SummaryId]]
) -> Diagnosis:
    """A fault that is repaired by removing summaries, and all summaries that were made from them."""
    gone = dict.fromkeys(ids)
    waiting = list(gone)
    while waiting:
        higher = [each for name in waiting for each in above.get(name, ()) if each not in gone]
        gone.update(dict.fromkeys(higher))
        waiting = higher
    return replace(_make_fault(key.session, text, TAKE_OUT, ids), discard=tuple(gone), done=TAKEN_OUT)


def _dependents(stored: StoredSummaries) -> dict[SummaryId, list[SummaryId]]:
    """For each summary the ids of the summaries that were made from it."""
    out: dict[SummaryId, list[SummaryId]] = {}
    for summary in stored.canonical:
        for source in summary.sources:
            out.setdefault(source, []).append(summary.id)
    return out


def _id_fault(name: SummaryId, summary: Summary) -> str:
    """A wrong id: a search for its stretch would not find it, or find the wrong summary."""
    if name == summary.id and _is_temporary(summary):
        return ""
    right = anchor(summary.level, summary.first, summary.last, summary.summarizer)
    return "" if name == summary.id == right else "has an id that is not that of its stretch"


def _is_temporary(summary: Summary) -> bool:
    """Whether a block of a story was made for one context.

    Its id depends on the blocks that it joins, and another context may join others, so they may overlap.
    """
    return summary.level == "story" and summary.summarizer.endswith(PASSING)


def _position_fault(tx: Transaction, key: SessionKey, summary: Summary) -> str:
    """Wrong positions, or a wrong count of the tokens of its messages."""
    try:
        first = tx.log.path(key, summary.last, summary.first_position, summary.first_position)
        last = tx.log.path(key, summary.last, summary.last_position, summary.last_position)
    except MessageNotFound:
        return "ends with a message that is not there"
    except UNREADABLE:
        # The message is damaged, not the summary: `_check_messages` reports it.
        return ""
    if not first or not last or (first[0].id, last[0].id) != (summary.first, summary.last):
        return "doesn't stand where it says: its first and its last message aren't on one path there"
    costs = last[0].total_tokens - first[0].total_tokens + first[0].tokens
    # A partial summary counts only the messages for which its character was present.
    if summary.writing is None and not _is_partial(summary) and summary.source_tokens != costs:
        return f"says that its messages cost {summary.source_tokens:,} tokens, and they cost {costs:,}"
    return ""


def _is_partial(summary: Summary) -> bool:
    """Whether `summary` is a story as one character knows it, which leaves messages out."""
    return "/as/" in summary.summarizer


def _source_fault(summary: Summary, stored: StoredSummaries) -> str:
    """Sources that are missing or do not add up to the summary."""
    if summary.writing is not None or not summary.sources:
        return ""
    parts = [stored.there[source] for source in summary.sources if source in stored.there]
    if len(parts) < len(summary.sources):
        gone = next(source for source in summary.sources if source not in stored.there)
        return f"was made from {short(gone)}, which is not there"
    inside = all(
        summary.first_position <= part.first_position and part.last_position <= summary.last_position for part in parts
    )
    if not inside or any(one.last_position >= other.first_position for one, other in pairwise(parts)):
        return "was made from others that don't stand one after the other within it"
    if summary.leaves and summary.leaves != (leaves := sum(part.leaves for part in parts)):
        return f"says that it covers {summary.leaves:,} leaves, and {leaves:,} are there"
    if summary.level == "story" and not _is_partial(summary) and not _covers_all(summary, parts):
        return "covers messages that none of those covers which it was made from"
    return ""


def _covers_all(summary: Summary, parts: Sequence[Summary]) -> bool:
    """Whether adjacent `parts` cover everything that `summary` covers."""
    ends = (parts[0].first_position, parts[-1].last_position) == (summary.first_position, summary.last_position)
    return ends and all(one.last_position + 1 == other.first_position for one, other in pairwise(parts))


def _check_overlaps(
    tx: Transaction, key: SessionKey, heads: Sequence[Head], stored: StoredSummaries
) -> list[Diagnosis]:
    """Summaries that cover the same messages of a branch."""
    kinds = sorted({(each.summarizer, each.depth) for each in stored.canonical if not _is_temporary(each)})
    above = _dependents(stored)
    found: dict[tuple[str, str], Diagnosis] = {}
    for head in heads:
        for summarizer, depth in kinds:
            spans = tx.summaries.spans(key, head.id, summarizer, depth)
            row = [stored.there[span.id] for span in spans if span.id in stored.there]
            for one, other in _overlapping(row):
                text = (
                    f"Summaries {_describe_summary(one)} and {_describe_summary(other)} both cover "
                    f"{_describe_positions(other.first_position, min(one.last_position, other.last_position))}."
                )
                found.setdefault((one.id, other.id), _removable_fault([one.id, other.id], text, key, above))
    return list(found.values())


def _overlapping(row: Sequence[Summary]) -> list[tuple[Summary, Summary]]:
    """The overlapping pairs of each level, in a row ordered by first position.

    Two summaries may begin together: if another branch forked off, a block ended early; the wider one replaces it.
    """
    out: list[tuple[Summary, Summary]] = []
    furthest: dict[str, Summary] = {}
    for summary in row:
        before = furthest.get(summary.level)
        if before is None or summary.last_position > before.last_position:
            furthest[summary.level] = summary
        apart = before is None or summary.first_position in (before.first_position, before.last_position + 1)
        if before is not None and not apart and summary.first_position <= before.last_position:
            out.append((before, summary))
    return out


def _check_marks(tx: Transaction, key: SessionKey, stored: StoredSummaries, gone: Collection[str]) -> list[Diagnosis]:
    """Check rebuild marks and disputes; `gone` are summaries that will be taken out."""
    there = stored.ids - set(gone)
    found = []
    for mark in tx.rebuilds.of_session(key):
        lost = [name for name in mark.taken_up if name.startswith("s_") and name not in there]
        if not lost:
            continue
        kept = replace(mark, taken_up=tuple(name for name in mark.taken_up if name not in lost))
        text = (
            f"The rebuild at message {mark.at_position + 1:,} to {mark.budget_tokens:,} tokens ({mark.summarizer}) "
            f"shows {', '.join(short(name) for name in lost)}, and no such text is there."
        )
        advice = "`ireneo doctor --repair` takes it off the mark; the text of the structure is shown there."
        done = "Taken off the mark; the text of the structure is shown there."
        repair = partial(_replace_mark, key=key, before=mark, after=kept)
        found.append(replace(_make_fault(key.session, text, advice), repair=repair, done=done))
    stretches = {each.stretch for each in stored.there.values()}
    for dispute in all_annotations(tx, key):
        if dispute.kind == "dispute" and dispute.about not in stretches:
            place = f"Dispute {short(dispute.id)} at message {dispute.at_position + 1:,}"
            text = f"{place} is about a summary that is not there."
            found.append(_make_note(key.session, text, "It holds again as soon as the summary is made again."))
    return found


def _replace_mark(tx: Transaction, key: SessionKey, before: Rebuild, after: Rebuild) -> None:
    if before in tx.rebuilds.of_session(key):
        tx.rebuilds.put(key, after)


STALE = timedelta(hours=1)
"""A lease that expired longer ago than this was abandoned."""
FAR = timedelta(days=1)
"""No lease lasts longer; if one seems to, a clock was wrong."""
KEEPS_FAILING = 3
"""From this many failures in a row on, the work is reported."""


def _check_leases(tx: Transaction, key: SessionKey, stored: StoredSummaries, now: datetime) -> list[Diagnosis]:
    leases = tx.leases.of_session(key)
    texts = _by_text_id(stored) if leases else {}
    found = []
    for lease in leases:
        work = _describe_work(lease, texts)
        if lease.work == VISIT and lease.failures:
            text = f"`ireneo work` passed it over: {lease.error.strip().rstrip('.')}."
            advice = "It is tried again when it changes, and by the next `ireneo work`."
            done = f"The error is forgotten. {advice}"
        elif lease.failures >= KEEPS_FAILING:
            waits = lease.retry_at is not None and lease.retry_at > now
            when = f"at {_utc(lease.retry_at)}" if waits and lease.retry_at else "when work goes on"
            why = lease.error.strip().rstrip(".") or "no reason was kept"
            text = f"{work} failed {lease.failures} times in a row; it is tried again {when}. Last: {why}."
            advice = "`ireneo doctor --repair` forgets the failures, so that it is tried again at once."
            done = "The failures are forgotten; it is tried again at once."
        elif lease.holder and not now - STALE <= lease.until <= now + FAR:
            what = f"expired at {_utc(lease.until)}, and was never given back"
            if lease.until > now:
                what = f"lasts until {_utc(lease.until)}, which nobody leases for: a clock was wrong"
            text = f"{work} is leased to {lease.holder}; the lease {what}."
            advice, done = "`ireneo doctor --repair` forgets the lease.", "The lease is forgotten."
        else:
            continue
        repair = partial(_forget_lease, key=key, lease=lease)
        found.append(replace(_make_fault(key.session, text, advice), repair=repair, done=done))
    return found


def _forget_lease(tx: Transaction, key: SessionKey, lease: Lease) -> None:
    # A lease taken since must stay.
    if lease in tx.leases.of_session(key):
        tx.leases.forget(key, lease.work)


def _by_text_id(stored: StoredSummaries) -> dict[str, Summary]:
    """Summaries by the ids of the texts that models may be asked for."""
    out: dict[str, Summary] = {}
    voices: tuple[Voice, ...] = get_args(Voice)
    for summary in stored.canonical:
        out[summary.id] = summary
        if summary.level in FAMILIES:
            out.update((text_id(summary, (), voice), summary) for voice in voices)
    return out


def _describe_work(lease: Lease, texts: Mapping[str, Summary]) -> str:
    summary = texts.get(lease.work)
    if summary is not None:
        return f"The text of {_describe_summary(summary)}"
    return f"Work {short(lease.work) if lease.work.startswith('s_') else lease.work}"


def _utc(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"


MOST_NAMED = 20
"""Faults of one session that are listed; further ones are only counted."""

MORE_ARE_WRONG = "more of the messages are wrong"
"""The store's phrase for messages that it counts without naming them."""

OnProgress = Callable[[int], None]
"""Receives how many more messages were examined."""


def _check_messages(
    tx: Transaction, key: SessionKey, paths: Sequence[TreePath], on_looked: OnProgress
) -> list[Diagnosis]:
    """Check every message of a session once."""
    found: list[Diagnosis] = []
    more: list[str] = []
    for path in paths:
        for sentence, about in _faults_along(tx, key, path, on_looked):
            if len(found) < MOST_NAMED:
                found.append(_make_fault(key.session, sentence, about=(about,)))
            else:
                more.append(about)
    if more:
        text = f"{len(more):,} more messages are wrong in the same way."
        found.append(_make_fault(key.session, text, about=(*more, MORE_ARE_WRONG)))
    return found


def _faults_along(tx: Transaction, key: SessionKey, path: TreePath, on_looked: OnProgress) -> Iterator[tuple[str, str]]:
    """The faults along a path, each with a phrase of the store's own sentence about the same fault."""
    before: MessageId | None = path.leaves_at
    for first in range(path.first, path.head.position + 1, CHUNK):
        last = min(first + CHUNK - 1, path.head.position)
        for position, message in _read_stretch(tx, key, path, first, last):
            if isinstance(message, Message):
                if sentence := _fault_of(message, position, before):
                    yield sentence, message.id
                before = message.id
            else:
                yield message, f"at position {position} of session {key.session!r} of space {key.space!r}"
                before = None
        on_looked(last - first + 1)


def _read_stretch(
    tx: Transaction, key: SessionKey, path: TreePath, first: int, last: int
) -> Sequence[tuple[int, Message | str]]:
    """The messages `first` to `last`, with a reason in place of each that can't be read."""
    try:
        read = tx.log.path(key, path.head.id, first, last)
    except UNREADABLE as error:
        if first == last:
            return [(first, f"Message {first + 1:,} on the path to {short(path.head.id)} can't be read: {error}.")]
        return [pair for place in range(first, last + 1) for pair in _read_stretch(tx, key, path, place, place)]
    if len(read) == last - first + 1:
        return list(enumerate(read, first))
    there = {message.position: message for message in read}
    gone = "Message {:,} on the path to {} is not there."
    return [
        (place, there.get(place) or gone.format(place + 1, short(path.head.id))) for place in range(first, last + 1)
    ]


def _fault_of(message: Message, position: int, before: MessageId | None) -> str:
    """The fault of a message; `before` is the message before it, if known."""
    place = f"Message {short(message.id)} (number {position + 1:,})"
    if (before is not None and message.parent != before) or (position == 0) != (message.parent is None):
        return f"{place} says that it follows {message.parent or 'nothing'}, and {before or 'nothing'} is before it."
    if message.erased:
        # Its id is the hash of content that is gone.
        return ""
    if message_id(message.parent, message.role, message.parts) != message.id:
        return f"{place} is not what was stored: its id is not the hash of what it says."
    return ""


def _check_paths(key: SessionKey, branches: Mapping[str, Head | None], paths: Sequence[TreePath]) -> list[Diagnosis]:
    """Check that branches lead to the messages of a session, all of whose paths are `paths`."""
    loose = [path for path in paths if not path.name]
    if not branches and loose:
        furthest = max(loose, key=lambda path: path.head.position).head
        makes = f"`ireneo rewind {key.session} {short(furthest.id)}` makes one."
        advice = f"Import its log again, if that was broken off; or {makes}"
        return [_make_fault(key.session, f"No branch leads to any of its {_describe_counts(loose)}.", advice)]
    if not branches:
        return [_make_note(key.session, "It has neither a message nor a branch.")]
    if not loose:
        return []
    which = "a path that was" if len(loose) == 1 else f"{len(loose)} paths that were"
    text = f"{_describe_counts(loose)} stand on {which} abandoned; no branch leads there."
    advice = f"`ireneo prune {key.session}` takes out what no branch leads to, if it is not needed any more."
    return [_make_note(key.session, text, advice)]


def _describe_counts(loose: Sequence[TreePath]) -> str:
    messages, tokens = sum(path.messages for path in loose), sum(path.tokens for path in loose)
    return f"{messages:,} {'message' if messages == 1 else 'messages'} ({tokens:,} tokens)"


async def _check_words(store: Store, space: str, *, repair: bool) -> list[Finding]:
    """Find faults in the index of a space. All of them can be repaired, since the index is derived from the log."""
    try:
        faults = await store.read(lambda tx: tx.words.faults(space))
        if faults and repair:
            await store.write(lambda tx: tx.words.rebuild(space))
    except UNREADABLE as error:
        return [_unreadable("The index of words", error).finding]
    advice = "`ireneo doctor --repair` makes the index of the space anew."
    if repair:
        advice = "The index of the space was made anew."
    return [Finding(kind="fault", session="", text=each, repaired=repair, advice=advice) for each in faults]


async def _check_runs(store: Store, space: str, *, repair: bool) -> list[Finding]:
    """Find runs that end with a message that is not stored; they can be learned again, so all can be repaired."""

    def remove(tx: Transaction, astray: Sequence[str]) -> Sequence[str]:
        # Another process may have learned from some of the sessions again since.
        lost = [session for session in tx.runs.orphans(space) if session in astray]
        for session in lost:
            tx.runs.remove(space, session)
        tx.ledger.remove(space, [file for file in tx.ledger.list(space) if not set(lost).isdisjoint(file.sessions)])
        return lost

    try:
        astray = await store.read(lambda tx: tx.runs.orphans(space))
        if astray and repair:
            astray = await store.write(remove, astray)
    except UNREADABLE as error:
        return [_unreadable("What runs taught", error).finding]
    text = "What was learned from it hangs on nothing: the message up to which it was read is not stored."
    takes_out = "Taken out" if repair else "`ireneo doctor --repair` takes it out"
    advice = f"{takes_out}; what is stored of the session can be learned from again."
    return [Finding(kind="fault", session=session, text=text, repaired=repair, advice=advice) for session in astray]


async def examine(
    store: Store, space: str, now: datetime, *, repair: bool, quick: bool, on_looked: OnProgress
) -> list[Finding]:
    """Return the faults and notes of the whole store and of each session of a space (see `Memory.doctor`)."""
    faults = await _store_faults(store, quick=quick)
    found: list[Diagnosis] = []
    keys: list[SessionKey] = []
    try:
        keys += [info.key for info in await store.read(lambda tx: tx.sessions.list(space))]
    except UNREADABLE as error:
        found.append(_make_fault("", f"The sessions can't be listed: {str(error).rstrip('.')}."))
    diagnose = partial(_diagnose, now=now, faults=faults, on_looked=None if quick else on_looked)
    for key in keys:
        of_session = await store.read(diagnose, key)
        if repair and any(each.done for each in of_session):
            of_session = await store.write(_repair, key, of_session)
        found += of_session
    of_words = await _check_words(store, space, repair=repair)
    of_runs = await _check_runs(store, space, repair=repair)
    known = {name for each in found for name in each.about}
    left = await _repair_store(store, quick=quick) if repair and faults else faults
    of_store = [
        _repaired(each, repaired=each not in left) for each in faults if not any(name in each for name in known)
    ]
    unscrubbed = await _check_scrubbing(store, repair=repair)
    return [*of_store, *of_words, *of_runs, *(each.finding for each in found), *unscrubbed]


def _repaired(fault: str, *, repaired: bool) -> Finding:
    advice = "It is gone with what was repaired." if repaired else RESTORE
    return Finding(kind="fault", session="", text=fault, repaired=repaired, advice=advice)


async def _store_faults(store: Store, *, quick: bool) -> list[str]:
    """The faults that the store reports of itself and, unless `quick`, of every value in it."""
    found = await store.read(lambda tx: list(tx.upkeep.faults()))
    after: int | None = None if quick else 0
    while after is not None:
        try:
            altered = await store.read(lambda tx, after: tx.upkeep.corrupted(after), after)
        except UNREADABLE as error:
            # The store's own check has already reported a file damaged this badly.
            return found or [_unreadable("It", error).finding.text]
        found += altered.faults
        after = altered.after
    return found


async def _repair_store(store: Store, *, quick: bool) -> list[str]:
    """Repair what the store can by itself; returns the faults that are left."""
    try:
        await store.write(lambda tx: tx.upkeep.repair())
    except (ReadOnlyStore, StoreBusy):
        raise
    except UNREADABLE as error:
        return [*await _store_faults(store, quick=quick), f"What follows from the log can't be repaired: {error}"]
    return await _store_faults(store, quick=quick)


async def _check_scrubbing(store: Store, *, repair: bool) -> list[Finding]:
    """Whether an erasure was interrupted, or hindered by a reader, before its bytes were overwritten."""
    before = await store.scrub(look=True)
    if before.complete:
        return []
    after = await store.scrub() if repair else before
    advice = "Its bytes are overwritten now." if after.complete else after.note
    text = "An erasure was not completed: bytes of what was forgotten may still stand in the file."
    return [Finding(kind="fault", session="", text=text, advice=advice, repaired=after.complete)]


def _diagnose(
    tx: Transaction, key: SessionKey, *, now: datetime, faults: Sequence[str], on_looked: OnProgress | None
) -> list[Diagnosis]:
    """The findings about a session; `faults` is what the store reports. Without `on_looked` no message is read."""
    found: list[Diagnosis] = []
    try:
        stored = _read_summaries(tx, key)
        branches = tx.sessions.branches(key)
        heads = [(name, head) for name, head in branches.items() if head is not None]
        ends = tx.upkeep.abandoned_heads(key)
        found += _check_leases(tx, key, stored, now)
        sick = _check_summaries(tx, key, stored, faults)
        sick += _check_overlaps(tx, key, [head for _, head in heads], stored)
        found += sick
        gone = {name for each in sick for name in each.discard}
        found += _check_marks(tx, key, stored, gone)
        paths = tree_paths(tx, key, [*heads, *(("", end) for end in reversed(ends))])
        found += _check_paths(key, branches, paths)
        if on_looked is not None:
            found += _check_messages(tx, key, paths, on_looked)
    except UNREADABLE as error:
        found.append(_unreadable("It", error, key.session))
    return found


def _repair(tx: Transaction, key: SessionKey, found: Sequence[Diagnosis]) -> list[Diagnosis]:
    """Apply the repairs of the findings in this transaction."""
    out: list[Diagnosis] = []
    for each in found:
        if each.done:
            try:
                tx.upkeep.discard(key, each.discard)
                if each.repair is not None:
                    each.repair(tx)
            except BadInput as error:
                finding = replace(each.finding, advice=f"It can't be repaired: {error} {RESTORE}")
            else:
                finding = replace(each.finding, repaired=True, advice=each.done)
            each = replace(each, finding=finding)
        out.append(each)
    return out
