"""What every store holds sightings to, and how it counts their times."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from ireneo.errors import BadInput
from ireneo.lessons.run import LearnedRun, Observation


def check_sightings(run: LearnedRun, sightings: Sequence[Observation]) -> None:
    """Raise BadInput unless all are of the run's session, and each of another claim, which has a name."""
    cues: set[str] = set()
    for sighting in sightings:
        if sighting.session != run.session:
            raise BadInput(
                f"A sighting of session {sighting.session!r} can't be stored with the run of {run.session!r}."
            )
        if not sighting.cue:
            raise BadInput(f"A sighting of session {run.session!r} has no cue; name its claim.")
        if sighting.cue in cues:
            raise BadInput(f"Claim {sighting.cue!r} was sighted twice in session {run.session!r}; add them up first.")
        cues.add(sighting.cue)


def in_utc(at: datetime) -> datetime:
    """A time as it compares to others; one without a zone is taken for UTC."""
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
