"""Settle a new draft with the known memories under its key, and mark conclusions whose sources no longer hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from ireneo.log.message import short
from ireneo.memories.cues import has_cue
from ireneo.memories.facts import held_at
from ireneo.memories.kinds import KINDS, MemoryKind
from ireneo.memories.persons import beings_in, gender
from ireneo.memories.record import (
    NAMES,
    Evidence,
    MemoryDraft,
    MemoryId,
    Record,
    evidence_of,
    normalised_words,
    quoted,
    supporting,
    with_evidence,
)

# The outcome of a draft, compared with what is known: added, reinforced, superseded, disputed, overturned, ignored.
#
# The evidence goes to the memory that says the same, or makes a new one; then the kind settles everything under the key
# again. No model is asked, and the outcome depends on the evidence alone.


RememberOutcome: TypeAlias = Literal["added", "reinforced", "superseded", "disputed", "overturned", "ignored"]


class Reconciled(Struct, frozen=True, kw_only=True):
    """The result of settling a draft."""

    did: RememberOutcome
    reason: str
    """Why, in a sentence."""
    record: Record
    """The memory that got the evidence."""
    changed: tuple[Record, ...] = ()
    """Other memories under the key that changed."""
    stored: bool = True
    """Whether `record` changed, and must be stored."""


def reconcile(draft: MemoryDraft, known: Sequence[Record]) -> Reconciled:
    """Settle a draft with `known`, all memories under its key."""
    row = KINDS[draft.kind]
    old = _matching_record(row, draft, known)
    record, is_new = (new_record(row, draft), True) if old is None else _merge_draft(old, draft)
    if record == old:
        return Reconciled(
            did="ignored", reason="It was told before, and this is the same piece of it.", record=record, stored=False
        )
    others = [each for each in known if old is None or each.id != old.id]
    settled = {each.id: each for each in row.settle([*others, record])}
    record = settled[record.id]
    before = {each.id: each for each in known}
    changed = tuple(each for name, each in settled.items() if name != record.id and each != before[name])
    if not is_new:
        reason = "It was told before; only when we were told first has changed."
        return Reconciled(did="ignored", reason=reason, record=record, changed=changed, stored=record != old)
    did, reason = _outcome(draft, old, record, changed, before)
    return Reconciled(did=did, reason=reason, record=record, changed=changed, stored=record != old)


def new_record(row: MemoryKind, draft: MemoryDraft) -> Record:
    """The memory that a draft creates if there is none yet, before it is settled."""
    return _with_wording(
        Record(
            id=row.id(draft),
            kind=draft.kind,
            key=row.key(draft),
            text=draft.text,
            at=draft.at,
            recorded=draft.recorded,
            evidence=(evidence_of(_without_repeated_reason(draft, draft.text)),),
            pinned=draft.pinned,
        ),
        draft,
    )


def _matching_record(row: MemoryKind, draft: MemoryDraft, known: Sequence[Record]) -> Record | None:
    """The memory that says the same as a draft; the nearest in time of several."""
    alike = [each for each in known if each.state != "erased" and row.same(each, draft)]
    return min(alike, key=lambda each: (each.id != row.id(draft), abs(each.at - draft.at), each.id), default=None)


def _merge_draft(old: Record, draft: MemoryDraft) -> tuple[Record, bool]:
    evidence, is_new = with_evidence(old.evidence, evidence_of(_without_repeated_reason(draft, old.text)))
    record = replace(old, evidence=evidence, seen=old.seen + is_new, pinned=old.pinned or draft.pinned)
    if is_new:
        # A memory that is recorded again leaves the archive.
        record = replace(record, archived=False, archived_at=None, archived_why="")
    return (_with_wording(record, draft) if _takes_wording(old, draft) else record), is_new


def _without_repeated_reason(draft: MemoryDraft, text: str) -> MemoryDraft:
    """`draft` without a reason that only repeats the memory that it contradicts."""
    return replace(draft, why="") if draft.why and normalised_words(draft.why) == normalised_words(text) else draft


def _takes_wording(old: Record, draft: MemoryDraft) -> bool:
    """Whether the memory should take the draft's wording: the earliest wording wins, unless it contradicts the memory.

    A user's wording is kept. A partner is called what they were called last: "boyfriend", and then "husband".
    """
    evidence = supporting(old)
    if old.drawn:
        return False
    if has_cue("told_wrong", draft.quote):
        return True
    if draft.against:
        return not evidence and (draft.recorded, draft.text) < (old.recorded, old.text)
    first = min((each.recorded for each in evidence), default=None)
    if first is None:
        return True
    is_other = draft.attribute == "partner" and beings_in(old.text, set()) != beings_in(draft.text, set())
    if is_other and gender(draft.text):
        return draft.at > max(each.at for each in evidence)
    return (draft.recorded, draft.text, *_slot_names(draft).values()) < (first, old.text, *_slot_names(old).values())


def _slot_names(said: MemoryDraft | Record) -> dict[str, str]:
    return {name: getattr(said, name) for name in NAMES}


def _with_wording(record: Record, draft: MemoryDraft) -> Record:
    return replace(record, text=draft.text, cue=draft.cue or record.cue, **_slot_names(draft))


def _outcome(
    draft: MemoryDraft, old: Record | None, record: Record, changed: Sequence[Record], before: Mapping[MemoryId, Record]
) -> tuple[RememberOutcome, str]:
    replaced = [each for each in changed if each.state == "superseded" and before[each.id].state == "active"]
    if draft.against:
        if old is None:
            return "added", "Nothing that it speaks against was known; give the words or the signature of that."
        if record.state == "retired" and old.state == "active":
            return "overturned", f"What it speaks against no longer counts: {record.reason}"
        return "reinforced", "It is kept beside what speaks for the memory, which it does not change."
    if record.state == "disputed" or (record.periods and not held_at(record.periods, draft.at)):
        return "disputed", record.reason or "A more trusted word stands against it for that time."
    if record.state == "active" and replaced:
        return (
            "superseded",
            f"It takes the place of {' and '.join(quoted(each.value or each.text) for each in replaced)}.",
        )
    if old is None:
        return "added", record.reason or "Nothing that says the same was known."
    if record.state == "active" and old.state != "active":
        return "reinforced", "It was known, had ceased to hold, and holds again."
    return "reinforced", f"It was known; {record.seen} pieces of evidence speak of it now."


# Find conclusions that must be reconsidered because none of their grounds is valid any more.
#
# A conclusion is valid as long as one piece of its evidence is: one that cites no memory, or only memories that are
# active and valid themselves. This applies through any number of conclusions, and the mark is removed when the grounds
# are valid again.


def update_stale(reached: Mapping[MemoryId, Record], around: Mapping[MemoryId, Record]) -> dict[MemoryId, Record]:
    """Mark or unmark each record of `reached`; `around` has other memories that they cite, and all others are gone.

    A mark needs a reason outside, so two conclusions that cite each other don't keep each other marked.
    """
    known = {**around, **{name: replace(each, stale="") for name, each in reached.items()}}
    marked: dict[MemoryId, Record] = {}
    while fallen := [name for name in reached if name not in marked and _has_no_valid_evidence(known[name], known)]:
        for name in fallen:
            marked[name] = known[name] = replace(known[name], stale="-")
    return {
        name: replace(known[name], stale=_stale_reason(known[name], known) if name in marked else "")
        for name in reached
    }


def cites_memories(record: Record) -> bool:
    """Whether a memory was concluded from others, and may have to be reconsidered with them."""
    return any(each.memories for each in record.evidence)


def _has_no_valid_evidence(record: Record, known: Mapping[MemoryId, Record]) -> bool:
    evidence = supporting(record)
    return bool(evidence) and all(_invalid_sources(piece, known) for piece in evidence)


def _invalid_sources(piece: Evidence, known: Mapping[MemoryId, Record]) -> list[MemoryId]:
    """The cited memories of a piece of evidence that are no longer valid."""
    return [name for name in piece.memories if name not in known or known[name].state != "active" or known[name].stale]


def _stale_reason(record: Record, known: Mapping[MemoryId, Record]) -> str:
    name = next(name for piece in supporting(record) for name in _invalid_sources(piece, known))
    ground = known.get(name)
    if ground is None or ground.state == "erased":
        return f"It was drawn from {short(name)}, which was erased."
    state = "must be reconsidered itself" if ground.state == "active" else f"is {ground.state}"
    return f"It was drawn from {quoted(ground.value or ground.text)} ({short(name)}), which {state}."
