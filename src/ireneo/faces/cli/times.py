"""Times as people write them at a command line: in their own zone, and said back with it."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta

from ireneo.errors import BadInput

_DAYS = {"today": 0, "yesterday": 1}


def begins(given: str | None) -> datetime | None:
    """The moment that is meant; a day alone is its beginning. Raises BadInput."""
    return _moment(given, time.min)


def asked(given: str | None) -> datetime | None:
    """The moment that a question is about; a day alone is its end, so that all of the day counts. Raises BadInput."""
    return _moment(given, time.max)


def said(moment: datetime) -> str:
    """A moment for a screen, in the local zone, with its offset."""
    local = moment.astimezone()
    offset = f"{local:%z}"
    day = f"{local:%Y-%m-%d}" if local.time() in (time.min, time.max) else f"{local:%Y-%m-%d %H:%M}"
    return f"{day} ({offset[:3]}:{offset[3:5]})"


def day_of(moment: datetime | None) -> str:
    """The local day of a moment, for a column."""
    return "" if moment is None else f"{moment.astimezone():%Y-%m-%d}"


def _moment(given: str | None, of_day: time) -> datetime | None:
    if given is None:
        return None
    word = given.strip().lower()
    if word == "now":
        return datetime.now().astimezone()
    try:
        day = _day(word)
        moment = datetime.fromisoformat(given.strip()) if day is None else datetime.combine(day, of_day)
        # A time without a zone is the local one: so people write them, and so they are said back.
        return moment if moment.tzinfo else moment.astimezone()
    except (ValueError, OverflowError):
        raise BadInput(
            f"{given!r} is no time; write 2026-05-03, '2026-05-03 18:30', 2026-05-03T18:30+02:00, today or yesterday."
        ) from None


def _day(word: str) -> date | None:
    if word in _DAYS:
        return datetime.now().astimezone().date() - timedelta(days=_DAYS[word])
    return date.fromisoformat(word) if len(word) <= len("2026-05-03") else None
