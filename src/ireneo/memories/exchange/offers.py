"""What a memory from a file has to offer: its evidence, or the word of the person who wrote or edited it."""

from __future__ import annotations

from datetime import datetime

from msgspec.structs import replace

from ireneo.memories.exchange.entry import Entry, seal_of, settled
from ireneo.memories.offer import Offer
from ireneo.memories.record import TRUST, Evidence, Record, Source

_USES = 10


def offers_of(record: Record) -> list[Offer]:
    """Each piece of its evidence, as it was told once."""
    return [_offer(record, piece) for piece in record.evidence]


def word_of(entry: Entry, known: Record | None, now: datetime) -> Offer:
    """What a person says by writing or rewording a file: told now, of the time that the file names."""
    record = entry.record
    said = Evidence(
        at=record.at if entry.timed else now,
        recorded=now,
        origin="user",
        trust=TRUST["user"],
        salience=record.salience,
        confidence=record.confidence,
        conditions=record.conditions,
    )
    # A text that was changed and does not name the value any more says another one.
    keeps = known is not None and record.value != known.value
    value = record.value if keeps or record.value.casefold() in record.text.casefold() else ""
    return replace(_offer(record, said), value=value)


def against(record: Record, now: datetime, *, origin: Source = "user", why: str = "") -> Offer:
    """The word of a person, or of `origin`, that a memory does not hold as it stands, and why."""
    return _offer(
        record,
        Evidence(at=now, recorded=now, origin=origin, trust=TRUST[origin], against=True, why=why),
    )


def is_reworded(entry: Entry, known: Record | None) -> bool:
    """Whether a person changed its words: the file says so, or, where it can't tell, what is stored does."""
    if entry.edited is None:
        return known is not None and seal_of(known) != seal_of(entry.record)
    return entry.edited


def said_before(record: Record | None, offer: Offer) -> bool:
    """Whether a memory has this word of a person already, so that the same file twice says it once."""
    return record is not None and any(
        each.origin == offer.origin and each.against == offer.against and not each.sources and _same_time(each, offer)
        for each in record.evidence
    )


def is_taken(saying: Record | None, word: Offer, *, told: Record) -> bool:
    """Whether the words of an edited file, which told of `told`, are those of the memory that says so already."""
    if saying is None or not said_before(saying, word):
        return False
    return saying.id != told.id or settled(saying.text) == settled(word.text)


def carried(stored: Record, told: Record, *, is_new: bool) -> Record:
    """`stored` with what a file knows of its use; the same file twice changes nothing."""
    uses = tuple(sorted({*stored.uses, *told.uses}, reverse=True)[:_USES])
    grown = replace(
        stored,
        seen=max(stored.seen, told.seen),
        uses=uses,
        used=max(stored.used, told.used),
        helped=max(stored.helped, told.helped),
        harmed=max(stored.harmed, told.harmed),
        reflected=stored.reflected or told.reflected,
    )
    return replace(grown, pinned=told.pinned, archived=told.archived) if is_new else grown


def _offer(record: Record, piece: Evidence) -> Offer:
    return Offer(
        text=record.text,
        kind=record.kind,
        at=piece.at,
        timed=piece.timed,
        recorded=piece.recorded,
        until=piece.until,
        origin=piece.origin,
        trust=piece.trust,
        salience=piece.salience,
        confidence=piece.confidence,
        subject=record.subject,
        attribute=record.attribute,
        value=record.value,
        task_type=record.task_type,
        name=record.name,
        signature=record.signature,
        cue=record.cue,
        conditions=piece.conditions,
        against=piece.against,
        why=piece.why,
        session=piece.session,
        project=piece.project,
        messages=piece.messages,
        summaries=piece.summaries,
        memories=piece.memories,
        pinned=record.pinned,
    )


def _same_time(piece: Evidence, offer: Offer) -> bool:
    # Where the file names no time, it was the time of the import.
    return piece.at == offer.at or (not offer.timed and not piece.timed)
