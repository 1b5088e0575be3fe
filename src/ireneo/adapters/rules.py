"""What every store holds its callers to, and how it packs the heavy side of a message."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from msgspec.structs import replace

from ireneo.errors import BadInput, MessageNotFound, SessionNotFound
from ireneo.lessons.run import LearnedRun, Observation
from ireneo.log.message import Draft, Message, MessageId, Native
from ireneo.log.tree import Annotation, SessionKey
from ireneo.memories.index import Vector
from ireneo.ports.store import Lease, Rebuild
from ireneo.summaries.summary import Summary

COMPRESSION = 3
"""zlib's level: of payloads such as these 6 saves 5 % more and takes twice as long."""


def pack(draft: Draft) -> bytes | None:
    """Write the payload and the record of a draft; None where it has neither.

    The standard library's JSON, since it keeps what others refuse and what real logs hold: lone surrogates, NaN.
    Raises BadInput for what is no JSON.
    """
    if draft.native is None and draft.record is None:
        return None
    whole = [[piece.format, piece.payload] if piece else None for piece in (draft.native, draft.record)]
    try:
        text = json.dumps(whole, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as fault:
        raise BadInput(f"A message's payload can't be written as JSON: {fault}") from fault
    return zlib.compress(text.encode("utf-8", "surrogatepass"), COMPRESSION)


def unpack(packed: bytes | None) -> tuple[Native | None, Native | None]:
    """Read the payload and the record that `pack` wrote."""
    if packed is None:
        return None, None
    native, record = json.loads(zlib.decompress(packed).decode("utf-8", "surrogatepass"))
    return _native(native), _native(record)


def _native(piece: list[object] | None) -> Native | None:
    return None if piece is None else Native(format=str(piece[0]), payload=piece[1])


def check_chain(messages: Sequence[Message]) -> None:
    """Raise BadInput unless each message is the child of the one before it and stands right after it."""
    for before, after in pairwise(messages):
        if after.parent != before.id or after.position != before.position + 1:
            raise BadInput(f"Message {after.id} does not follow {before.id}; insert one path at a time, in its order.")


def check_place(message: Message, parent_position: int | None) -> None:
    """Raise BadInput unless `message` stands right after its parent; None: it has none, and is a root."""
    wanted = 0 if parent_position is None else parent_position + 1
    if message.position != wanted:
        raise BadInput(
            f"Message {message.id} says that it is at position {message.position}, its parent at {wanted - 1}."
        )


def not_made(key: SessionKey) -> SessionNotFound:
    """The error for a session that should be there."""
    return SessionNotFound(f"There is no session {key.session!r} in this space.")


def not_stored(key: SessionKey, name: MessageId) -> MessageNotFound:
    """The error for a message that should be in the session."""
    return MessageNotFound(f"There is no message {name} in session {key.session!r}.")


def check_summary(summary: Summary, first: int, last: int) -> None:
    """Raise BadInput unless its first and last message stand at these positions."""
    if (summary.first_position, summary.last_position) != (first, last):
        raise BadInput(f"Summary {summary.id} gives positions at which its first and last message don't stand.")


def check_rebuild(rebuild: Rebuild, position: int) -> None:
    """Raise BadInput unless the message that it is at stands at `position`."""
    if rebuild.at_position != position:
        raise BadInput(f"The rebuild gives a position at which its edge {rebuild.at} doesn't stand.")


def check_annotation(annotation: Annotation, position: int) -> None:
    """Raise BadInput unless the message that it is at stands at `position`."""
    if annotation.at_position != position:
        raise BadInput(f"Annotation {annotation.id} gives a position at which {annotation.at} doesn't stand.")


def widen(
    span: tuple[datetime | None, datetime | None], messages: Sequence[Message]
) -> tuple[datetime | None, datetime | None]:
    """The earliest and the latest time in `span` and in `messages`; a time without a zone is taken for UTC."""
    times = [at for at in (*span, *(message.draft.at for message in messages)) if at is not None]
    return between(times)


def between(times: Sequence[datetime]) -> tuple[datetime | None, datetime | None]:
    """The earliest and the latest of `times`; a time without a zone is taken for UTC."""
    if not times:
        return None, None
    return min(times, key=_zoned), max(times, key=_zoned)


def _zoned(at: datetime) -> datetime:
    # Not converted: at the ends of the calendar there is no such time in UTC.
    return at if at.tzinfo is not None else at.replace(tzinfo=UTC)


def check_branches(key: SessionKey, *, is_empty: bool, has_branch: bool) -> None:
    """Raise BadInput where a session with messages has no branch: to prune it would leave nothing."""
    if not is_empty and not has_branch:
        raise BadInput(f"Session {key.session!r} has no branch; fork or rewind one first.")


def check_erased(messages: Sequence[Message]) -> None:
    """Raise BadInput unless each message is what is left of an erased one."""
    for message in messages:
        if not message.erased:
            raise BadInput(f"Message {message.id} is not marked as erased; hand in what `ireneo.log.redaction` leaves.")


NOBODY = ""
"""The holder of what is kept only for its failures."""

FAR = timedelta(days=1)
"""Nobody puts a retry off for so long: one that lies so far ahead was set before the clock was put back."""

FAR_LEASE = timedelta(minutes=10)
"""How much further than one's own a rival's lease may reach: not everybody leases for as long."""


def utc(at: datetime) -> datetime:
    """A time in UTC; one without a zone is taken for UTC."""
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)


def check_holder(holder: str) -> None:
    """Raise BadInput for a holder without a name."""
    if holder == NOBODY:
        raise BadInput("A lease needs a holder; give it a name that no other process has.")


def may_take(found: Lease | None, holder: str, now: datetime, until: datetime) -> bool:
    """Whether `holder` may take what is stored as `found`; None: nothing is."""
    if found is None:
        return True
    now, until = utc(now), utc(until)
    if found.retry_at is not None and now < found.retry_at < now + FAR:
        return False
    if found.holder in (NOBODY, holder) or found.until <= now:
        return True
    return found.until - until > max(until - now, FAR_LEASE)


def taken(found: Lease | None, key: SessionKey, work: str, holder: str, token: int, until: datetime) -> Lease:
    """The lease as it is once `holder` has taken it; how the work failed before is carried on."""
    return Lease(
        key=key,
        work=work,
        holder=holder,
        token=token,
        until=utc(until),
        failures=found.failures if found else 0,
        error=found.error if found else "",
    )


def is_held(found: Lease | None, lease: Lease) -> bool:
    """Whether `lease` is still what is stored as `found`, and neither taken over nor let go of."""
    return found is not None and (found.token, found.holder) == (lease.token, lease.holder) and lease.holder != NOBODY


def renewed(found: Lease, until: datetime) -> Lease:
    """The lease as it is once it lasts until `until`."""
    return replace(found, until=utc(until))


def failed(found: Lease, error: str, retry_at: datetime) -> Lease:
    """What is kept of a lease whose work failed."""
    return replace(found, holder=NOBODY, failures=found.failures + 1, error=error, retry_at=utc(retry_at))


def check_observations(run: LearnedRun, observations: Sequence[Observation]) -> None:
    """Raise BadInput unless all are of the run's session, and each of another claim, which has a name."""
    cues: set[str] = set()
    for observation in observations:
        if observation.session != run.session:
            raise BadInput(
                f"An observation of session {observation.session!r} can't be stored with the run of {run.session!r}."
            )
        if not observation.cue:
            raise BadInput(f"An observation of session {run.session!r} has no cue; name its claim.")
        if observation.cue in cues:
            raise BadInput(
                f"Claim {observation.cue!r} was observed twice in session {run.session!r}; add them up first."
            )
        cues.add(observation.cue)


def check_lengths(embedder: str, vectors: Mapping[int, Vector], dimensions: int | None) -> int:
    """How long `vectors` are, all of them; `dimensions` is how long those are that are there already. Raises BadInput.

    Vectors of two lengths can't be compared: whoever asks a model for others gives the embedder another name.
    """
    lengths = {len(vector) for vector in vectors.values()} | ({dimensions} if dimensions else set())
    if len(lengths) != 1 or 0 in lengths:
        told = ", ".join(f"{length:,}" for length in sorted(lengths))
        raise BadInput(f"The vectors of {embedder} have {told} dimensions; all of one embedder must have as many.")
    return lengths.pop()
