"""The summaries over a session's tree, in SQLite."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from functools import lru_cache

import apsw
import msgspec

from ireneo.adapters.sqlite.channel import Channel
from ireneo.adapters.sqlite.checksums import with_checksum
from ireneo.adapters.sqlite.places import find_path, find_session, need_place, need_session
from ireneo.adapters.sqlite.queries import SQL
from ireneo.errors import BadInput
from ireneo.log.message import MessageId
from ireneo.log.tree import PathRange, SessionKey
from ireneo.ports.store import Span
from ireneo.summaries.summary import Summary, SummaryId

_SUMMARY = msgspec.json.Decoder(Summary)
DECODED = 128
"""Records that are kept as they were decoded: the contexts of one story read the same ones again and again."""

Candidate = tuple[int, int, int, SummaryId, PathRange]
"""A summary as it is weighed: where it begins, then how far it reaches and how deep it is (both negated), its id,
and the stretch that it came from."""


class SqliteSummaries:
    """`ireneo.ports.store.SummariesPort` over one open transaction."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def put(self, key: SessionKey, summaries: Sequence[Summary]) -> int:
        """Store summaries; those whose anchor is taken are left as they are."""
        return self._channel.change(put_summaries, key, summaries)

    def frontier(self, key: SessionKey, to: MessageId, family: str) -> Sequence[Summary]:
        """The widest summaries along a path."""
        return self._channel.ask(find_frontier, key, to, family)

    def get(self, key: SessionKey, ids: Sequence[SummaryId]) -> Sequence[Summary]:
        """Read summaries by id."""
        return self._channel.ask(get_summaries, key, ids)

    def find(self, key: SessionKey, prefix: str) -> Sequence[Summary]:
        """Read summaries by the beginning of their id."""
        return self._channel.ask(find_summaries, key, prefix)

    def spans(self, key: SessionKey, to: MessageId, family: str, depth: int, first: int = 0) -> Sequence[Span]:
        """What the summaries of one family and depth cover along a path."""
        return self._channel.ask(list_spans, key, to, family, depth, first)

    def families(self, key: SessionKey) -> Sequence[str]:
        """The families of which the session has summaries."""
        return self._channel.ask(list_families, key)


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
                    "family": summary.family,
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


def find_frontier(database: apsw.Connection, key: SessionKey, to: MessageId, family: str) -> list[Summary]:
    """The widest summaries along the path to `to`.

    Each stretch offers its nearest candidate, and a heap keeps the nearest of all. One that an earlier choice
    overlaps is asked for again from there on; so a step costs one look into an index, however many summaries there
    are and however many stretches lie elsewhere on the path.
    """
    session, stretches = find_path(database, key, to)
    waiting: list[Candidate] = []

    def offer(stretch: PathRange, first: int) -> None:
        if first > stretch.last:
            return
        row = database.execute(
            SQL["next_summary"],
            {"key": session.key, "family": family, "segment": stretch.segment, "first": first, "last": stretch.last},
        ).fetchone()
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
    return _read(database, session.key, chosen)


def get_summaries(database: apsw.Connection, key: SessionKey, ids: Sequence[SummaryId]) -> list[Summary]:
    """Read summaries in the order asked; unknown ids are passed over."""
    session = find_session(database, key)
    return [] if session is None else _read(database, session.key, ids)


def find_summaries(database: apsw.Connection, key: SessionKey, prefix: str) -> list[Summary]:
    """Read the summaries whose id begins with `prefix`, the newest stretch first."""
    session = find_session(database, key)
    if session is None:
        return []
    rows = database.execute(SQL["find_summaries"], {"key": session.key, "prefix": prefix})
    return [_decoded(record) for (record,) in rows]


def list_spans(
    database: apsw.Connection, key: SessionKey, to: MessageId, family: str, depth: int, first: int
) -> list[Span]:
    """What the summaries of one family and depth cover: a range of the index for each stretch, no record read."""
    session, stretches = find_path(database, key, to, first)
    found: list[tuple[int, int, SummaryId]] = []
    for stretch in stretches:
        run = {"family": family, "segment": stretch.segment, "first": first, "last": stretch.last, "depth": depth}
        found.extend(database.execute(SQL["list_spans"], {"key": session.key, **run}))
    found.sort()
    return [Span(id=name, first_position=start, last_position=end) for start, end, name in found]


def list_families(database: apsw.Connection, key: SessionKey) -> list[str]:
    """The families of which the session has summaries, by name."""
    session = find_session(database, key)
    if session is None:
        return []
    return [family for (family,) in database.execute(SQL["list_families"], {"key": session.key})]


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
