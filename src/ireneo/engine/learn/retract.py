"""What a run has shown once and shows no more: its session was rewound, or the rules have changed since.

The evidence that a lesson has from a run is what the run shows now. What it showed of a path that was left, or by older
rules, is taken back, and a lesson that stands on nothing else goes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from ireneo.engine.forgetting.learned import Following, Lost
from ireneo.engine.forgetting.plan import Plan
from ireneo.engine.forgetting.settled import settle_left
from ireneo.lessons.guard import is_guards
from ireneo.lessons.lessons import best_told
from ireneo.lessons.sighting import TOLD, Sighting
from ireneo.lessons.wording import limited
from ireneo.log.branch import Head, SessionKey
from ireneo.memories.record import Evidence, Record
from ireneo.ports.memories import Wanted
from ireneo.ports.transition import Transaction

TOGETHER = 200
"""Claims that are looked up at one time."""


async def still_told(tx: Transaction, key: SessionKey, head: Head, before: Iterable[Sighting]) -> list[Sighting]:
    """What a model told of a run `before`, as far as the path to `head` still holds the messages that show it.

    No rule sees it again, so that a run that is learned from without a model would lose it.
    """
    kept = []
    for each in before:
        if each.cue.startswith(TOLD) and await _stand(tx, key, head, (*each.sources, *each.against)):
            kept.append(each)
    return kept


async def retract(tx: Transaction, space: str, session: str, cues: Iterable[str]) -> None:
    """Bring the lessons of `cues`, which the session showed or shows, in line with what it shows now.

    `tx` has stored the run with its sightings already.
    """
    changed: list[Record] = []
    gone: list[Record] = []
    asked = [cue for cue in dict.fromkeys(cues) if not is_guards(cue)]
    for start in range(0, len(asked), TOGETHER):
        for record in await tx.memories.list(space, Wanted(cues=tuple(asked[start : start + TOGETHER]))):
            if record.state == "erased" or not any(_is_of(piece, session) for piece in record.evidence):
                continue
            seen = await tx.runs.sightings(space, [record.cue])
            left = _in_line(record, session, {each.session: each for each in seen})
            if left is None:
                gone.append(record)
            elif left != record:
                changed.append(left)
    if not (changed or gone):
        return
    await tx.memories.put(space, changed)
    rest = await Following(tx, space, Lost()).follow(gone, ())
    await tx.memories.remove(space, [each.id for each in rest.gone])
    await tx.memories.put(space, rest.lessened)
    await settle_left(tx, space, Plan(memories=rest.gone, lessened=(*changed, *rest.lessened)))


async def _stand(tx: Transaction, key: SessionKey, head: Head, sources: Sequence[str]) -> bool:
    for message in await tx.log.find(key, list(sources)):
        on_path = message.position <= head.position and not message.erased
        there = await tx.log.path(key, head.id, message.position, message.position) if on_path else ()
        if [each.id for each in there] != [message.id]:
            return False
    return True


def _is_of(piece: Evidence, session: str) -> bool:
    return piece.origin == "run" and piece.session == session


def _in_line(record: Record, session: str, sighted: Mapping[str, Sighting]) -> Record | None:
    """The lesson with the evidence that the run gives now; None where it has none left."""
    pieces = []
    for piece in record.evidence:
        now = _now(piece, sighted.get(session)) if _is_of(piece, session) else piece
        if now is not None:
            pieces.append(now)
    if not pieces:
        return None
    if tuple(pieces) == record.evidence:
        return record
    lost = len(record.evidence) - len(pieces)
    left = replace(
        record,
        evidence=tuple(pieces),
        seen=max(record.seen - lost, len(pieces)),
        recorded=min(each.recorded for each in pieces),
    )
    return _reworded(left, sighted)


def _now(piece: Evidence, seen: Sighting | None) -> Evidence | None:
    """A piece as the run shows it now; None where it shows it no more."""
    if seen is None or bool(seen.held) == piece.against:
        return None
    shown = seen.against if piece.against and seen.against else seen.sources
    return replace(piece, messages=shown, at=seen.at or piece.at) if shown else None


def _reworded(record: Record, sighted: Mapping[str, Sighting]) -> Record:
    """The lesson in the words of a run that still shows it, where its own are nobody's any more."""
    speaking = {piece.session for piece in record.evidence if not piece.against}
    told = best_told(list(sighted.values()))
    if told is None or not speaking <= sighted.keys():
        return record
    words = {text for each in sighted.values() for text in (_text(each), limited(each.text, each.limits))}
    return record if record.text in words else replace(record, text=_text(told))


def _text(told: Sighting) -> str:
    return f"{told.text} {told.limits}".strip()
