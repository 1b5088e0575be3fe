"""What the engine needs of a store to keep what runs teach: the runs, the sightings in them, and the files read."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from msgspec import Struct

from ireneo.lessons.run import ClaimTotals, LearnedRun, Observation


class LearnedFile(Struct, frozen=True, kw_only=True):
    """A file that was learned from whole, told by its content alone: its digest, and who learned from it."""

    digest: str
    learner: str
    """The version of the rules that read it: to another one it is new."""
    name: str
    at: datetime
    sessions: tuple[str, ...] = ()


class RunsPort(Protocol):
    """The runs of a space that were learned from. Sightings belong to their run: they come and go with it."""

    def put(self, space: str, run: LearnedRun, sightings: Sequence[Observation]) -> None:
        """Store a run with its sightings in the place of what its session had.

        The session needn't be stored, as with memories; `strays` names those that aren't. Raises BadInput for a
        sighting of another session, for one without a cue, and for two of one claim.
        """

    def get(self, space: str, sessions: Sequence[str]) -> Sequence[LearnedRun]:
        """The runs of these sessions, in the order asked; unknown ones are passed over."""

    def list(self, space: str, limit: int | None = None) -> Sequence[LearnedRun]:
        """The runs, the one that ended last standing first, those without a time last, then by session."""

    def remove(self, space: str, session: str) -> bool:
        """Take a run out with its sightings; False where there was none."""

    def sightings(self, space: str, cues: Sequence[str], limit: int = 200) -> Sequence[Observation]:
        """The sightings of these claims, in the order asked, of each the newest first (no time last), then by session.

        At most `limit` of each.
        """

    def of_run(self, space: str, session: str) -> Sequence[Observation]:
        """The sightings of one run, by cue."""

    def strays(self, space: str) -> Sequence[str]:
        """The sessions whose run has a head that is not stored, or that have sightings and no run, by name."""

    def claims(self, space: str, *, least_runs: int = 1, session: str | None = None) -> Sequence[ClaimTotals]:
        """Every claim that held in so many runs, summed up; with `session` only those that it sighted. By cue.

        A claim of which runs differ in the category gets the one that comes first by name. Its times are in UTC.
        """


class LedgerPort(Protocol):
    """The files that were learned from, so that none is read twice."""

    def known(self, space: str, learner: str, digests: Sequence[str]) -> frozenset[str]:
        """Those of `digests` that `learner` has learned from."""

    def mark(self, space: str, file: LearnedFile) -> None:
        """Note a file; one that is noted already is replaced."""

    def list(self, space: str) -> Sequence[LearnedFile]:
        """Every file that is noted, by learner, then digest."""

    def remove(self, space: str, files: Sequence[LearnedFile]) -> int:
        """Take out what is noted of these files, so that they are read again; returns how many there were."""
