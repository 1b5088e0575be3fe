"""What is derived from a session's tree, in SQLite: summaries, marks of rebuilds, annotations."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from functools import lru_cache

import apsw
import msgspec

from ireneo.adapters.sqlite.connection import SQL, Port, reads, with_checksum, writes
from ireneo.adapters.sqlite.log import find_path, find_session, need_place, need_session
from ireneo.errors import BadInput
from ireneo.log.message import MessageId
from ireneo.log.tree import BEFORE_FIRST, Annotation, PathRange, SessionKey
from ireneo.ports.store import AnnotationsPort, Rebuild, RebuildsPort, Span, SummariesPort
from ireneo.summaries.summary import Summary, SummaryId

_SUMMARY = msgspec.json.Decoder(Summary)
DECODED = 128
"""Records that are kept as they were decoded: the contexts of one story read the same ones again and again."""

Candidate = tuple[int, int, int, SummaryId, PathRange]
"""A summary as it is weighed: where it begins, then how far it reaches and how deep it is (both negated), its id,
and the stretch that it came from."""


class SqliteSummaries(Port, SummariesPort):
    """`ireneo.ports.store.SummariesPort` in SQLite."""

    @writes
    def put(self, key: SessionKey, summaries: Sequence[Summary]) -> int:
        return put_summaries(self._database, key, summaries)

    @reads
    def frontier(self, key: SessionKey, to: MessageId, summarizer: str) -> Sequence[Summary]:
        """The widest summaries along the path to `to`.

        Each stretch offers its nearest candidate, and a heap keeps the nearest of all. One that an earlier choice
        overlaps is asked for again from there on; so a step costs one look into an index, however many summaries there
        are and however many stretches lie elsewhere on the path.
        """
        session, stretches = find_path(self._database, key, to)
        waiting: list[Candidate] = []

        def offer(stretch: PathRange, first: int) -> None:
            if first > stretch.last:
                return
            row = self._row(
                "next_summary",
                key=session.key,
                summarizer=summarizer,
                segment=stretch.segment,
                first=first,
                last=stretch.last,
            )
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
        return _read(self._database, session.key, chosen)

    @reads
    def get(self, key: SessionKey, ids: Sequence[SummaryId]) -> Sequence[Summary]:
        session = find_session(self._database, key)
        return [] if session is None else _read(self._database, session.key, ids)

    @reads
    def find(self, key: SessionKey, prefix: str) -> Sequence[Summary]:
        session = find_session(self._database, key)
        if session is None:
            return []
        rows = self._rows("find_summaries", key=session.key, prefix=prefix)
        return [_decoded(record) for (record,) in rows]

    @reads
    def spans(self, key: SessionKey, to: MessageId, summarizer: str, depth: int, first: int = 0) -> Sequence[Span]:
        """What the summaries of one summarizer and depth cover: a range of the index for a stretch, no record read."""
        session, stretches = find_path(self._database, key, to, first)
        found: list[tuple[int, int, SummaryId]] = []
        for stretch in stretches:
            found.extend(
                self._rows(
                    "list_spans",
                    key=session.key,
                    summarizer=summarizer,
                    segment=stretch.segment,
                    first=first,
                    last=stretch.last,
                    depth=depth,
                )
            )
        found.sort()
        return [Span(id=name, first_position=start, last_position=end) for start, end, name in found]

    @reads
    def summarizers(self, key: SessionKey) -> Sequence[str]:
        session = find_session(self._database, key)
        if session is None:
            return []
        return [summarizer for (summarizer,) in self._rows("list_families", key=session.key)]


def put_summaries(database: apsw.Connection, key: SessionKey, summaries: Sequence[Summary]) -> int:
    """Store summaries where their last message stands; says how many were new."""
    session = need_session(database, key)
    new = 0
    for summary in summaries:
        first = need_place(database, session.key, key, summary.first)
        last = need_place(database, session.key, key, summary.last)
        if (first.position, last.position) != (summary.first_position, summary.last_position):
            raise BadInput(f"Summary {summary.id} gives positions at which its first and last message don't stand.")
        database.execute(
            SQL["insert_summary"],
            with_checksum(
                "summaries",
                {
                    "key": session.key,
                    "id": summary.id,
                    "family": summary.summarizer,
                    "segment": last.segment,
                    "first_position": summary.first_position,
                    "last_position": summary.last_position,
                    "depth": summary.depth,
                    "record": msgspec.json.encode(summary).decode(),
                },
            ),
        )
        new += database.changes()
    return new


def list_summaries(database: apsw.Connection, key: SessionKey) -> list[SummaryId]:
    """The id of every summary of a session."""
    session = find_session(database, key)
    return (
        [] if session is None else [name for (name,) in database.execute(SQL["list_summaries"], {"key": session.key})]
    )


def discard_summaries(database: apsw.Connection, key: SessionKey, ids: Sequence[SummaryId]) -> int:
    """Delete summaries; says how many there were."""
    session = need_session(database, key)
    gone = 0
    for name in ids:
        database.execute(SQL["delete_summary"], {"key": session.key, "id": name})
        gone += database.changes()
    return gone


def _read(database: apsw.Connection, session: int, ids: Sequence[SummaryId]) -> list[Summary]:
    rows = (database.execute(SQL["read_summary"], {"key": session, "id": name}).fetchone() for name in ids)
    return [_decoded(row[0]) for row in rows if row is not None]


@lru_cache(maxsize=DECODED)
def _decoded(record: str) -> Summary:
    return _SUMMARY.decode(record)


_TEXTS = msgspec.json.Decoder(tuple[SummaryId, ...])


class SqliteRebuilds(Port, RebuildsPort):
    """`ireneo.ports.store.RebuildsPort` in SQLite."""

    @reads
    def last(self, key: SessionKey, to: MessageId, summarizer: str, budget_tokens: int) -> Rebuild | None:
        """The mark whose edge lies furthest along the path to `to`, looked for from the path's end."""
        session, stretches = find_path(self._database, key, to)
        for stretch in stretches:
            row = self._row(
                "last_rebuild",
                key=session.key,
                summarizer=summarizer,
                budget_tokens=budget_tokens,
                segment=stretch.segment,
                last=stretch.last,
            )
            if row is not None:
                return Rebuild(
                    summarizer=summarizer,
                    budget_tokens=budget_tokens,
                    at=row[0],
                    at_position=row[1],
                    target_tokens=row[2],
                    taken_up=_TEXTS.decode(row[3]),
                )
        return None

    @writes
    def put(self, key: SessionKey, rebuild: Rebuild) -> None:
        session = need_session(self._database, key)
        place = need_place(self._database, session.key, key, rebuild.at)
        if place.position != rebuild.at_position:
            raise BadInput(f"The rebuild gives a position at which its edge {rebuild.at} doesn't stand.")
        self._rows(
            "put_rebuild",
            key=session.key,
            summarizer=rebuild.summarizer,
            budget_tokens=rebuild.budget_tokens,
            segment=place.segment,
            at_position=rebuild.at_position,
            at=rebuild.at,
            target_tokens=rebuild.target_tokens,
            taken_up=msgspec.json.encode(rebuild.taken_up).decode(),
        )

    @reads
    def of_session(self, key: SessionKey) -> Sequence[Rebuild]:
        session = find_session(self._database, key)
        if session is None:
            return []
        return [
            Rebuild(
                summarizer=summarizer,
                budget_tokens=budget_tokens,
                at=at,
                at_position=at_position,
                target_tokens=target_tokens,
                taken_up=_TEXTS.decode(taken_up),
            )
            for summarizer, budget_tokens, at, at_position, target_tokens, taken_up in self._rows(
                "list_rebuilds", key=session.key
            )
        ]


NO_SEGMENT = -1
"""Where what was noted before the first message lies; segments are numbered from 0."""
_ANNOTATION = msgspec.json.Decoder(Annotation)


class SqliteAnnotations(Port, AnnotationsPort):
    """`ireneo.ports.store.AnnotationsPort` in SQLite."""

    @writes
    def put(self, key: SessionKey, annotations: Sequence[Annotation]) -> int:
        session = need_session(self._database, key)
        new = 0
        for annotation in annotations:
            segment, position = NO_SEGMENT, BEFORE_FIRST
            if annotation.at:
                place = need_place(self._database, session.key, key, annotation.at)
                segment, position = place.segment, place.position
            if position != annotation.at_position:
                raise BadInput(f"Annotation {annotation.id} gives a position at which {annotation.at} doesn't stand.")
            self._rows(
                "insert_annotation",
                **with_checksum(
                    "annotations",
                    {
                        "key": session.key,
                        "id": annotation.id,
                        "segment": segment,
                        "at_position": annotation.at_position,
                        "record": msgspec.json.encode(annotation).decode(),
                    },
                ),
            )
            new += self._database.changes()
        return new

    @reads
    def on_path(self, key: SessionKey, to: MessageId | None) -> Sequence[Annotation]:
        """The annotations along the path to `to`: one range of an index for each of its stretches."""
        stretches: list[PathRange] = []
        session = find_session(self._database, key)
        if to is not None:
            session, stretches = find_path(self._database, key, to)
        if session is None:
            return []
        out: list[Annotation] = []
        before = PathRange(segment=NO_SEGMENT, first=BEFORE_FIRST, last=BEFORE_FIRST)
        for stretch in (before, *reversed(stretches)):
            out.extend(
                _ANNOTATION.decode(record)
                for (record,) in self._rows(
                    "list_annotations", key=session.key, segment=stretch.segment, first=stretch.first, last=stretch.last
                )
            )
        return out
