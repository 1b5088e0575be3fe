"""Times as whole numbers, where they must compare exactly."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def microseconds(at: datetime) -> int:
    """The microseconds from the beginning of 1970 in UTC to `at`, which has a zone."""
    return (at - _EPOCH) // _MICROSECOND


def time_of(microseconds: int) -> datetime:
    """The time that is so many microseconds after the beginning of 1970, in UTC."""
    return _EPOCH + microseconds * _MICROSECOND
