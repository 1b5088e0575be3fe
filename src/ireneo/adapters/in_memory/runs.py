"""The runs of a space that were learned from, with their sightings, and the files that were, in memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from math import fsum

from ireneo.adapters.in_memory.kept import Kept
from ireneo.adapters.in_memory.shelf import Shelf
from ireneo.adapters.sighted import check_sightings, in_utc
from ireneo.lessons.run import ClaimTotals, LearnedRun, Observation
from ireneo.log.tree import SessionKey
from ireneo.ports.runs import LearnedFile

_ANY = datetime(1970, 1, 1, tzinfo=UTC)
"""Some time, from which others are counted."""


class MemoryRuns:
    """`ireneo.ports.runs.RunsPort` over one open transaction."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    def put(self, space: str, run: LearnedRun, sightings: Sequence[Observation]) -> None:
        """Store a run with its sightings in the place of what its session had."""
        kept = self._shelf.change_kept(space)
        check_sightings(run, sightings)
        take_out_run(kept, run.session)
        kept.runs[run.session] = run
        for each in sightings:
            kept.sightings[each.cue] = {**kept.sightings.get(each.cue, {}), run.session: each}

    def get(self, space: str, sessions: Sequence[str]) -> Sequence[LearnedRun]:
        """The runs of these sessions."""
        runs = self._shelf.kept(space).runs
        return [runs[session] for session in sessions if session in runs]

    def list(self, space: str, limit: int | None = None) -> Sequence[LearnedRun]:
        """The runs, the one that ended last standing first."""
        runs = self._shelf.kept(space).runs.values()
        return sorted(runs, key=lambda run: _newest_first(run.ended, run.session))[:limit]

    def remove(self, space: str, session: str) -> bool:
        """Take a run out with its sightings."""
        return take_out_run(self._shelf.change_kept(space), session)

    def sightings(self, space: str, cues: Sequence[str], limit: int = 200) -> Sequence[Observation]:
        """The sightings of these claims."""
        known = self._shelf.kept(space).sightings
        found: list[Observation] = []
        for cue in dict.fromkeys(cues):
            of_cue = known.get(cue, {}).values()
            found += sorted(of_cue, key=lambda each: _newest_first(each.at, each.session))[:limit]
        return found

    def of_run(self, space: str, session: str) -> Sequence[Observation]:
        """The sightings of one run."""
        known = self._shelf.kept(space).sightings
        return [known[cue][session] for cue in sorted(known) if session in known[cue]]

    def strays(self, space: str) -> Sequence[str]:
        """The sessions whose run or sightings hang on nothing."""
        kept = self._shelf.kept(space)
        loose = {
            run.session
            for run in kept.runs.values()
            if run.head not in self._shelf.see(SessionKey(space, run.session)).messages
        }
        sighted = {session for of_cue in kept.sightings.values() for session in of_cue}
        return sorted(loose | (sighted - kept.runs.keys()))

    def claims(self, space: str, *, least_runs: int = 1, session: str | None = None) -> Sequence[ClaimTotals]:
        """Every claim that held in so many runs, summed up."""
        known = self._shelf.kept(space).sightings
        meant = [known[cue] for cue in sorted(known) if session is None or session in known[cue]]
        claims = [sum_up(of_cue.values()) for of_cue in meant]
        return [claim for claim in claims if claim.runs >= least_runs]


class MemoryLedger:
    """`ireneo.ports.runs.LedgerPort` over one open transaction."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    def known(self, space: str, learner: str, digests: Sequence[str]) -> frozenset[str]:
        """Those of `digests` that `learner` has learned from."""
        ledger = self._shelf.kept(space).ledger
        return frozenset(digest for digest in digests if (learner, digest) in ledger)

    def mark(self, space: str, file: LearnedFile) -> None:
        """Note a file."""
        self._shelf.change_kept(space).ledger[file.learner, file.digest] = file

    def list(self, space: str) -> Sequence[LearnedFile]:
        """Every file that is noted."""
        ledger = self._shelf.kept(space).ledger
        return [ledger[place] for place in sorted(ledger)]

    def remove(self, space: str, files: Sequence[LearnedFile]) -> int:
        """Take out what is noted of these files."""
        ledger = self._shelf.change_kept(space).ledger
        return sum(ledger.pop((file.learner, file.digest), None) is not None for file in files)


def take_out_run(kept: Kept, session: str) -> bool:
    """Take a run out with its sightings; says whether there was one."""
    for cue in [cue for cue, of_cue in kept.sightings.items() if session in of_cue]:
        left = {name: each for name, each in kept.sightings[cue].items() if name != session}
        if left:
            kept.sightings[cue] = left
        else:
            del kept.sightings[cue]
    return kept.runs.pop(session, None) is not None


def sum_up(sightings: Iterable[Observation]) -> ClaimTotals:
    """A claim as the sum of its sightings, of which there is at least one."""
    every = list(sightings)
    held = [each for each in every if each.held > 0]
    times = sorted(in_utc(each.at) for each in held if each.at is not None)
    return ClaimTotals(
        cue=every[0].cue,
        category=min(each.category for each in every),
        held=sum(each.held for each in every),
        broke=sum(each.broke for each in every),
        runs=len(held),
        projects=tuple(sorted({each.project for each in held if each.project})),
        first=times[0] if times else None,
        last=times[-1] if times else None,
        tokens=sum(each.tokens for each in every),
        seconds=fsum(each.seconds for each in every),
    )


def _newest_first(at: datetime | None, name: str) -> tuple[bool, timedelta, str]:
    """A key that puts the newest first, what has no time last, and those of one time by name."""
    return at is None, timedelta() if at is None else _ANY - in_utc(at), name
