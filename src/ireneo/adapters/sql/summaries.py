"""A session's data besides messages, in a database: summaries, marks, annotations, scratchpads, leases, spending."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from functools import lru_cache

import msgspec
from msgspec.structs import replace

from ireneo.adapters.sql.database import (
    Bindings,
    Database,
    Port,
    Row,
    microseconds,
    reads,
    time_of,
    utc,
    with_checksum,
    write_json,
    writes,
)
from ireneo.adapters.sql.log import (
    StoredPlace,
    find_path,
    find_places,
    find_session,
    need_place,
    need_session,
    not_stored,
)
from ireneo.errors import BadInput
from ireneo.log.message import MessageId
from ireneo.log.tree import BEFORE_FIRST, Annotation, PathRange, SessionKey
from ireneo.memories.scratchpad import Pad
from ireneo.patterns import readable
from ireneo.ports.memories import PadsPort
from ireneo.ports.store import (
    AnnotationsPort,
    Lease,
    LeasesPort,
    ReadMarksPort,
    Rebuild,
    RebuildsPort,
    Span,
    SpendingPort,
    Spent,
    SummariesPort,
)
from ireneo.summaries.summary import Summary, SummaryId

_SUMMARY = msgspec.json.Decoder(readable(Summary))
DECODED = 128
"""How many decoded records are cached: the contexts of one story read the same records repeatedly."""

Candidate = tuple[int, int, int, SummaryId, PathRange]
"""A summary as the frontier orders it: first position, last position and depth (both negated), id, stretch."""


class SqlSummaries(Port, SummariesPort):
    """`ireneo.ports.store.SummariesPort` in a database."""

    @writes
    def put(self, key: SessionKey, summaries: Sequence[Summary]) -> int:
        """Store summaries at the place of their last message."""
        session = need_session(self._db(key.space), key)
        # In one round trip.
        ends = list(dict.fromkeys(end for each in summaries for end in (each.first, each.last)))
        places = dict(zip(ends, find_places(self._db(key.space), session, ends), strict=True))
        new = 0
        for summary in summaries:
            first, last = places[summary.first], places[summary.last]
            if first is None or last is None:
                raise not_stored(key, summary.last if first else summary.first)
            if (first.position, last.position) != (summary.first_position, summary.last_position):
                raise BadInput(f"Summary {summary.id} gives positions at which its first and last message don't stand.")
            row: Bindings = {
                "key": session,
                "id": summary.id,
                "family": summary.summarizer,
                "segment": last.segment,
                "first_position": summary.first_position,
                "last_position": summary.last_position,
                "depth": summary.depth,
                "record": write_json(summary),
            }
            new += self._db(key.space).change("insert_summary", **with_checksum("summaries", row))
        return new

    @reads
    def frontier(self, key: SessionKey, to: MessageId, summarizer: str) -> Sequence[Summary]:
        """Choose the widest summaries along the path, with one index lookup for each step.

        Each stretch offers its nearest candidate, and a heap holds the nearest of all. A stretch whose candidate
        overlaps an earlier choice is asked again from the end of that choice.
        """
        session, stretches = find_path(self._db(key.space), key, to)
        waiting: list[Candidate] = []

        def offer(stretch: PathRange, first: int) -> None:
            if first > stretch.last:
                return
            place = {"segment": stretch.segment, "first": first, "last": stretch.last}
            row = self._db(key.space).row("next_summary", key=session, summarizer=summarizer, **place)
            if row is not None:
                heapq.heappush(waiting, (row[0], -row[1], -row[2], row[3], stretch))

        for stretch in stretches:
            offer(stretch, 0)
        chosen: list[SummaryId] = []
        start = 0
        while waiting:
            first, reach, _, name, stretch = heapq.heappop(waiting)
            if first >= start:
                chosen.append(name)
                start = 1 - reach
            offer(stretch, start)
        return _read(self._db(key.space), session, chosen)

    @reads
    def get(self, key: SessionKey, ids: Sequence[SummaryId]) -> Sequence[Summary]:
        return _read(self._db(key.space), find_session(self._db(key.space), key), ids)

    @reads
    def find(self, key: SessionKey, prefix: str) -> Sequence[Summary]:
        database = self._db(key.space)
        records = database.column("find_summaries", key=find_session(database, key), prefix=prefix)
        return list(map(_decode_summary, records))

    @reads
    def spans(self, key: SessionKey, to: MessageId, summarizer: str, depth: int, first: int = 0) -> Sequence[Span]:
        """Read one range of the index for each stretch, and no record."""
        session, stretches = find_path(self._db(key.space), key, to, first)
        of: Bindings = {"key": session, "summarizer": summarizer, "depth": depth, "first": first}
        asked: list[Bindings] = [{**of, "segment": stretch.segment, "last": stretch.last} for stretch in stretches]
        found = [row for rows in self._db(key.space).each("list_spans", asked) for row in rows]
        return [Span(id=name, first_position=start, last_position=end) for start, end, name in sorted(found)]

    @reads
    def summarizers(self, key: SessionKey) -> Sequence[str]:
        return self._db(key.space).column("list_families", key=find_session(self._db(key.space), key))


def _read(database: Database, session: int | None, ids: Sequence[SummaryId]) -> list[Summary]:
    found = database.each("read_summary", [{"key": session, "id": name} for name in ids])
    return [_decode_summary(record) for rows in found for (record,) in rows]


@lru_cache(maxsize=DECODED)
def _decode_summary(record: str) -> Summary:
    return _SUMMARY.decode(record)


_TEXTS = msgspec.json.Decoder(readable(tuple[SummaryId, ...]))


class SqlRebuilds(Port, RebuildsPort):
    """`ireneo.ports.store.RebuildsPort` in a database."""

    @reads
    def last(self, key: SessionKey, to: MessageId, summarizer: str, budget_tokens: int) -> Rebuild | None:
        """Look for the mark from the end of the path."""
        session, stretches = find_path(self._db(key.space), key, to)
        asked: Bindings = {"key": session, "summarizer": summarizer, "budget_tokens": budget_tokens}
        for stretch in stretches:
            row = self._db(key.space).row("last_rebuild", **asked, segment=stretch.segment, last=stretch.last)
            if row is not None:
                return _rebuild(summarizer, budget_tokens, *row)
        return None

    @writes
    def put(self, key: SessionKey, rebuild: Rebuild) -> None:
        session = need_session(self._db(key.space), key)
        place = need_place(self._db(key.space), session, key, rebuild.at)
        if place.position != rebuild.at_position:
            raise BadInput(f"The rebuild gives a position at which its edge {rebuild.at} doesn't stand.")
        self._db(key.space).send(
            "put_rebuild",
            key=session,
            summarizer=rebuild.summarizer,
            budget_tokens=rebuild.budget_tokens,
            segment=place.segment,
            at_position=rebuild.at_position,
            at=rebuild.at,
            target_tokens=rebuild.target_tokens,
            taken_up=write_json(rebuild.taken_up),
        )

    @reads
    def of_session(self, key: SessionKey) -> Sequence[Rebuild]:
        rows = self._db(key.space).rows("list_rebuilds", key=find_session(self._db(key.space), key))
        return [_rebuild(*row) for row in rows]


def _rebuild(
    summarizer: str, budget_tokens: int, at: MessageId, at_position: int, target_tokens: int, taken_up: str
) -> Rebuild:
    return Rebuild(
        summarizer=summarizer,
        budget_tokens=budget_tokens,
        at=at,
        at_position=at_position,
        target_tokens=target_tokens,
        taken_up=_TEXTS.decode(taken_up),
    )


NO_SEGMENT = -1
"""The segment of annotations before the first message; real ones are numbered from 0."""
_ANNOTATION = msgspec.json.Decoder(readable(Annotation))


class SqlAnnotations(Port, AnnotationsPort):
    """`ireneo.ports.store.AnnotationsPort` in a database."""

    @writes
    def put(self, key: SessionKey, annotations: Sequence[Annotation]) -> int:
        session = need_session(self._db(key.space), key)
        new = 0
        for annotation in annotations:
            place = StoredPlace(NO_SEGMENT, BEFORE_FIRST)
            if annotation.at:
                place = need_place(self._db(key.space), session, key, annotation.at)
            if place.position != annotation.at_position:
                raise BadInput(f"Annotation {annotation.id} gives a position at which {annotation.at} doesn't stand.")
            row: Bindings = {
                "key": session,
                "id": annotation.id,
                "segment": place.segment,
                "at_position": annotation.at_position,
                "record": write_json(annotation),
            }
            new += self._db(key.space).change("insert_annotation", **with_checksum("annotations", row))
        return new

    @reads
    def on_path(self, key: SessionKey, to: MessageId | None) -> Sequence[Annotation]:
        """Read one range of the index for each stretch of the path."""
        stretches: list[PathRange] = []
        session = find_session(self._db(key.space), key)
        if to is not None:
            session, stretches = find_path(self._db(key.space), key, to)
        out: list[Annotation] = []
        before = PathRange(segment=NO_SEGMENT, first=BEFORE_FIRST, last=BEFORE_FIRST)
        for stretch in (before, *reversed(stretches)):
            place = {"segment": stretch.segment, "first": stretch.first, "last": stretch.last}
            out += map(_ANNOTATION.decode, self._db(key.space).column("list_annotations", key=session, **place))
        return out


class SqlReadMarks(Port, ReadMarksPort):
    """`ireneo.ports.store.ReadMarksPort` in a database: one mark for each segment, which covers all before it."""

    @reads
    def read_to(self, key: SessionKey, to: MessageId, reader: str) -> int:
        session, stretches = find_path(self._db(key.space), key, to)
        for stretch in stretches:
            row = self._db(key.space).row("read_mark", key=session, segment=stretch.segment, reader=reader)
            if row is not None:
                return min(int(row[0]), stretch.last)
        return BEFORE_FIRST

    @writes
    def put(self, key: SessionKey, to: MessageId, reader: str) -> None:
        need_session(self._db(key.space), key)
        session, stretches = find_path(self._db(key.space), key, to)
        for stretch in stretches:
            place: Bindings = {"key": session, "segment": stretch.segment, "reader": reader}
            row = self._db(key.space).row("read_mark", **place)
            if row is not None and row[0] >= stretch.last:
                return
            self._db(key.space).send("put_read_mark", **place, position=stretch.last)

    @reads
    def of_session(self, key: SessionKey) -> Sequence[tuple[str, MessageId]]:
        rows = self._db(key.space).rows("list_read_marks", key=find_session(self._db(key.space), key))
        return [(reader, last) for reader, last in rows]


_PAD = msgspec.json.Decoder(readable(Pad))


class SqlPads(Port, PadsPort):
    """`ireneo.ports.memories.PadsPort` in a database."""

    @reads
    def read(self, space: str, task: str) -> Pad | None:
        row = self._db(space).row("read_pad", space=space, task=task)
        return None if row is None else _PAD.decode(row[0])

    @writes
    def write(self, space: str, pad: Pad) -> None:
        row: Bindings = {
            "space": space,
            "task": pad.task,
            "written": microseconds(pad.written),
            "record": write_json(pad),
        }
        self._db(space).send("write_pad", **with_checksum("pads", row))

    @writes
    def remove(self, space: str, task: str) -> bool:
        return self._db(space).change("remove_pad", space=space, task=task) > 0

    @reads
    def list(self, space: str) -> Sequence[Pad]:
        return list(map(_PAD.decode, self._db(space).column("list_pads", space=space)))


# Leases, and spending on models, in a database.

NOBODY = ""
"""The holder of a row that only keeps failures."""

FAR = timedelta(days=1)
"""A retry this far ahead is ignored: it was set before the clock was set back."""

FAR_LEASE = timedelta(minutes=10)
"""How much longer than the requested lease another one may last, before the clock is assumed to have been set back."""


class SqlLeases(Port, LeasesPort):
    """`ireneo.ports.store.LeasesPort` in a database."""

    @writes
    def take(self, key: SessionKey, work: str, holder: str, now: datetime, until: datetime) -> Lease | None:
        return self._take(need_session(self._db(key.space), key), key, work, holder, now, until)

    @writes
    def take_first(
        self, space: str, sessions: Sequence[str], work: str, holder: str, now: datetime, until: datetime
    ) -> Lease | None:
        for key in (SessionKey(space, session) for session in sessions):
            found = find_session(self._db(space), key)
            lease = None if found is None else self._take(found, key, work, holder, now, until)
            if lease is not None:
                return lease
        return None

    def _take(
        self, session: int, key: SessionKey, work: str, holder: str, now: datetime, until: datetime
    ) -> Lease | None:
        check_holder(holder)
        found = self._find(session, key, work)
        if found is not None and not _may_take(found, holder, utc(now), utc(until)):
            return None
        lease = Lease(
            key=key,
            work=work,
            holder=holder,
            token=self._db(key.space).number("next_token", key=session),
            until=utc(until),
            failures=found.failures if found else 0,
            error=found.error if found else "",
        )
        self._put(session, lease)
        return lease

    @writes
    def renew(self, lease: Lease, until: datetime) -> bool:
        session, found = self._find_held(lease)
        if found is not None:
            self._put(session, replace(found, until=utc(until)))
        return found is not None

    @writes
    def release(self, lease: Lease) -> bool:
        session, found = self._find_held(lease)
        return found is not None and self._db(lease.key.space).change("delete_lease", key=session, work=lease.work) > 0

    @writes
    def fail(self, lease: Lease, error: str, retry_at: datetime) -> bool:
        session, found = self._find_held(lease)
        if found is not None:
            failures = found.failures + 1
            self._put(session, replace(found, holder=NOBODY, failures=failures, error=error, retry_at=utc(retry_at)))
        return found is not None

    @reads
    def of_session(self, key: SessionKey) -> Sequence[Lease]:
        rows = self._db(key.space).rows("list_leases", key=find_session(self._db(key.space), key))
        return [_lease(key, row) for row in rows]

    @writes
    def forget(self, key: SessionKey, work: str) -> bool:
        return self._db(key.space).change("delete_lease", key=need_session(self._db(key.space), key), work=work) > 0

    def _find_held(self, lease: Lease) -> tuple[int, Lease | None]:
        """The session's key, and the stored lease unless it was taken over or released."""
        session = need_session(self._db(lease.key.space), lease.key)
        found = self._find(session, lease.key, lease.work)
        held = found is not None and (found.token, found.holder) == (lease.token, lease.holder)
        return session, found if held and lease.holder != NOBODY else None

    def _find(self, session: int, key: SessionKey, work: str) -> Lease | None:
        row = self._db(key.space).row("read_lease", key=session, work=work)
        return None if row is None else _lease(key, row)

    def _put(self, session: int, lease: Lease) -> None:
        self._db(lease.key.space).send(
            "put_lease",
            key=session,
            work=lease.work,
            holder=lease.holder,
            token=lease.token,
            until=microseconds(lease.until),
            failures=lease.failures,
            error=lease.error,
            retry_at=None if lease.retry_at is None else microseconds(lease.retry_at),
        )


def check_holder(holder: str) -> None:
    """Raise BadInput for an empty name."""
    if holder == NOBODY:
        raise BadInput("A lease needs a holder; give it a name that no other process has.")


def _may_take(found: Lease, holder: str, now: datetime, until: datetime) -> bool:
    """Whether `holder` may take the stored lease `found`: its own, a free one, or one that has run out.

    PostgreSQL's `take_first_lease` (`adapters/postgres/queries/ports.sql`) has the same rule in SQL.
    """
    if found.retry_at is not None and now < found.retry_at < now + FAR:
        return False
    if found.holder in (NOBODY, holder) or found.until <= now:
        return True
    return found.until - until > max(until - now, FAR_LEASE)


def _lease(key: SessionKey, row: Row) -> Lease:
    work, holder, token, until, failures, error, retry_at = row
    return Lease(
        key=key,
        work=work,
        holder=holder,
        token=token,
        until=time_of(until),
        failures=failures,
        error=error,
        retry_at=None if retry_at is None else time_of(retry_at),
    )


class SqlSpending(Port, SpendingPort):
    """`ireneo.ports.store.SpendingPort` in a database."""

    @writes
    def add(self, key: SessionKey, day: date, spent: Spent) -> None:
        row = {"space": key.space, "session": key.session, "day": day.isoformat()}
        self._db(key.space).send("add_spent", **row, calls=spent.calls, tokens=spent.tokens)

    @reads
    def of_session(self, key: SessionKey) -> Spent:
        ((calls, tokens),) = self._db(key.space).rows("spent_of_session", space=key.space, session=key.session)
        return Spent(calls=calls, tokens=tokens)

    @reads
    def of_day(self, space: str, day: date) -> Spent:
        ((calls, tokens),) = self._db(space).rows("spent_of_day", space=space, day=day.isoformat())
        return Spent(calls=calls, tokens=tokens)
