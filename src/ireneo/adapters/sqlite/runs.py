"""The runs of a space that were learned from, with their sightings, in SQLite."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import cast

import apsw
import msgspec

from ireneo.adapters.sighted import check_sightings, in_utc
from ireneo.adapters.sqlite.channel import Channel
from ireneo.adapters.sqlite.checksums import with_checksum
from ireneo.adapters.sqlite.queries import SQL
from ireneo.adapters.sqlite.rows import Bindings
from ireneo.adapters.sqlite.times import microseconds, time_of
from ireneo.lessons.run import Category, ClaimTotals, LearnedRun, Observation

ClaimRow = tuple[str, Category, int, int, int, str, int | None, int | None, int, float]
"""A claim in the order in which the queries sum it up."""

NEVER = -(2**63)
"""What stands for no time, so that it sorts as the oldest."""

_RUN = msgspec.json.Decoder(LearnedRun)
_SIGHTING = msgspec.json.Decoder(Observation)
_NAMES = msgspec.json.Decoder(tuple[str, ...])


class SqliteRuns:
    """`ireneo.ports.runs.RunsPort` over one open transaction."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def put(self, space: str, run: LearnedRun, sightings: Sequence[Observation]) -> None:
        """Store a run with its sightings in the place of what its session had."""
        self._channel.change(put_run, space, run, sightings)

    def get(self, space: str, sessions: Sequence[str]) -> Sequence[LearnedRun]:
        """The runs of these sessions."""
        return self._channel.ask(get_runs, space, sessions)

    def list(self, space: str, limit: int | None = None) -> Sequence[LearnedRun]:
        """The runs, the one that ended last standing first."""
        return self._channel.ask(list_runs, space, limit)

    def remove(self, space: str, session: str) -> bool:
        """Take a run out with its sightings."""
        return self._channel.change(remove_run, space, session)

    def sightings(self, space: str, cues: Sequence[str], limit: int = 200) -> Sequence[Observation]:
        """The sightings of these claims."""
        return self._channel.ask(list_sightings, space, cues, limit)

    def of_run(self, space: str, session: str) -> Sequence[Observation]:
        """The sightings of one run."""
        return self._channel.ask(sightings_of_run, space, session)

    def strays(self, space: str) -> Sequence[str]:
        """The sessions whose run or sightings hang on nothing."""
        return self._channel.ask(stray_runs, space)

    def claims(self, space: str, *, least_runs: int = 1, session: str | None = None) -> Sequence[ClaimTotals]:
        """Every claim that held in so many runs, summed up."""
        return self._channel.ask(sum_claims, space, least_runs, session)


def put_run(database: apsw.Connection, space: str, run: LearnedRun, sightings: Sequence[Observation]) -> None:
    """Store a run with its sightings in the place of what its session had."""
    check_sightings(run, sightings)
    database.execute(
        SQL["put_run"],
        with_checksum(
            "runs",
            {
                "space": space,
                "session": run.session,
                "head": run.head,
                "ended": None if run.ended is None else _moment(run.ended),
                "record": msgspec.json.encode(run).decode(),
            },
        ),
    )
    database.execute(SQL["delete_sightings_of_run"], {"space": space, "session": run.session})
    database.executemany(SQL["add_sighting"], (_row(space, sighting) for sighting in sightings))


def _row(space: str, sighting: Observation) -> dict[str, str | bytes | int | float | None]:
    row: Bindings = {
        "space": space,
        "cue": sighting.cue,
        "session": sighting.session,
        "at": NEVER if sighting.at is None else _moment(sighting.at),
        "category": sighting.category,
        "project": sighting.project,
        "held": sighting.held,
        "broke": sighting.broke,
        "tokens": sighting.tokens,
        "record": msgspec.json.encode(sighting).decode(),
    }
    return {**with_checksum("sightings", row), "seconds": float(sighting.seconds)}


def _moment(at: datetime) -> int:
    return microseconds(in_utc(at))


def get_runs(database: apsw.Connection, space: str, sessions: Sequence[str]) -> list[LearnedRun]:
    """The runs of these sessions, in the order asked."""
    found = []
    for session in sessions:
        row = database.execute(SQL["get_run"], {"space": space, "session": session}).fetchone()
        if row is not None:
            found.append(_RUN.decode(row[0]))
    return found


def list_runs(database: apsw.Connection, space: str, limit: int | None) -> list[LearnedRun]:
    """The runs, the one that ended last standing first."""
    asked: Bindings = {"space": space, "limit": -1 if limit is None else limit}
    return [_RUN.decode(record) for (record,) in database.execute(SQL["list_runs"], asked)]


def remove_run(database: apsw.Connection, space: str, session: str) -> bool:
    """Take a run out with its sightings; says whether there was one."""
    named = {"space": space, "session": session}
    database.execute(SQL["delete_sightings_of_run"], named)
    database.execute(SQL["delete_run"], named)
    return database.changes() > 0


def list_sightings(database: apsw.Connection, space: str, cues: Sequence[str], limit: int) -> list[Observation]:
    """The sightings of these claims, in the order asked, at most `limit` of each, the newest first."""
    found: list[Observation] = []
    for cue in dict.fromkeys(cues):
        asked: Bindings = {"space": space, "cue": cue, "limit": limit}
        found += _sightings(database.execute(SQL["list_sightings"], asked))
    return found


def sightings_of_run(database: apsw.Connection, space: str, session: str) -> list[Observation]:
    """The sightings of one run, by cue."""
    return _sightings(database.execute(SQL["sightings_of_run"], {"space": space, "session": session}))


def _sightings(rows: Iterable[tuple[str]]) -> list[Observation]:
    return [_SIGHTING.decode(record) for (record,) in rows]


def stray_runs(database: apsw.Connection, space: str) -> list[str]:
    """The sessions whose run has a head that is not stored, or that have sightings and no run, by name."""
    return [session for (session,) in database.execute(SQL["stray_runs"], {"space": space})]


def sum_claims(database: apsw.Connection, space: str, least_runs: int, session: str | None) -> list[ClaimTotals]:
    """The claims of a space that held in so many runs, summed up; with `session` only those that it sighted."""
    asked: Bindings = {"space": space, "least_runs": least_runs, "never": NEVER}
    if session is None:
        rows = database.execute(SQL["sum_claims"], asked)
    else:
        rows = database.execute(SQL["sum_claims_of_run"], {**asked, "session": session})
    return [_claim(cast(ClaimRow, row)) for row in rows]


def _claim(row: ClaimRow) -> ClaimTotals:
    cue, category, held, broke, runs, projects, first, last, tokens, seconds = row
    return ClaimTotals(
        cue=cue,
        category=category,
        held=held,
        broke=broke,
        runs=runs,
        projects=tuple(sorted(_NAMES.decode(projects))),
        first=None if first is None else time_of(first),
        last=None if last is None else time_of(last),
        tokens=tokens,
        seconds=seconds,
    )
