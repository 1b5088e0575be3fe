"""Times at the command line are local, and a day is its beginning or, where it is asked about, its end."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from ireneo.errors import BadInput
from ireneo.faces.cli.output import day_end, day_of, day_start, local_time


@pytest.fixture(autouse=True)
def zone() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "Asia/Kolkata")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.parametrize(
    ("given", "moment"),
    [
        ("2026-05-03", datetime(2026, 5, 2, 18, 30, tzinfo=UTC)),
        (" 2026-05-03 18:30", datetime(2026, 5, 3, 13, tzinfo=UTC)),
        ("2026-05-03T18:30+02:00", datetime(2026, 5, 3, 16, 30, tzinfo=UTC)),
        ("2026-05-03T18:30:00Z", datetime(2026, 5, 3, 18, 30, tzinfo=UTC)),
    ],
)
def test_a_time_without_a_zone_is_local(given: str, moment: datetime) -> None:
    assert day_start(given) == moment
    assert day_start(given).utcoffset() is not None  # type: ignore[union-attr]


def test_a_day_that_is_asked_about_counts_whole() -> None:
    assert day_end("2026-05-03") == day_start("2026-05-04") - timedelta(microseconds=1)  # type: ignore[operator]
    assert day_end("2026-05-03 18:30") == day_start("2026-05-03 18:30")
    assert day_end(None) is None


def test_days_by_name() -> None:
    assert day_start("Today") == day_start("yesterday") + timedelta(days=1)  # type: ignore[operator]
    assert abs(day_start("now") - datetime.now(UTC)) < timedelta(minutes=1)  # type: ignore[operator]


@pytest.mark.parametrize("given", ["", "soon", "2026-02-30", "2026-05-03 25:00", "0001-01-01", "12"])
def test_what_is_no_time_is_told(given: str) -> None:
    with pytest.raises(BadInput, match="is not a time; write 2026-05-03"):
        day_start(given)


def test_a_moment_is_said_with_its_offset() -> None:
    assert local_time(datetime(2026, 5, 2, 18, 30, tzinfo=UTC)) == "2026-05-03 (+05:30)"
    assert local_time(datetime(2026, 5, 3, 16, 30, tzinfo=UTC)) == "2026-05-03 22:00 (+05:30)"
    assert day_of(datetime(2026, 5, 2, 18, 30, tzinfo=UTC)) == "2026-05-03"
    assert day_of(None) == ""
