"""Take what is expected out of JSON that anyone may have written: a wrong type reads as absent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime

import msgspec

from ireneo.patterns import lazy_re

_NOTHING: Mapping[str, object] = {}
MILLISECONDS_FROM = 100_000_000_000
"""So many seconds after 1970 is the year 5138: a larger number counts milliseconds."""
SECONDS_FROM = 100_000_000
"""So many seconds after 1970 is the year 1973: a smaller number counts turns, or seconds from where a talk began."""
_LONGEST = 60
"""Characters of a date in words."""
_DATE_WORDS = frozenset(
    "jan feb mar apr may jun jul aug sep sept oct nov dec january february march april june july august september"
    " october november december mon tue tues wed thu thur thurs fri sat sun monday tuesday wednesday thursday friday"
    " saturday sunday am pm a p m t z on at of the st nd rd th utc gmt".split()
)
_YEAR = lazy_re(r"(?<!\d)\d{4}(?!\d)")
_EITHER_WAY = lazy_re(r"(?<!\d)(\d{1,2})([/.-])(\d{1,2})\2\d{4}(?!\d)")
_DEFAULTS = datetime(1904, 1, 1), datetime(1908, 2, 2)
"""Of what a date leaves out; one that is the same with both leaves out neither its day, nor its month, nor its year."""


def mapping(value: object) -> Mapping[str, object]:
    """`value` if it is an object, otherwise an empty one."""
    return value if isinstance(value, dict) else _NOTHING


def string(value: object) -> str | None:
    """`value` if it is a string that is not empty."""
    return value if isinstance(value, str) and value else None


def objects(value: object) -> list[dict[str, object]]:
    """The objects of `value`, if it is a list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def moment(value: object) -> datetime | None:
    """A time as logs write it: ISO 8601, seconds or milliseconds since 1970 (perhaps as text), or a date in words.

    In words: "1:56 pm on 8 May, 2023", "2023/05/08 (Mon) 13:56", "Mon, 08 May 2023 13:56:00 +0200". A date that could
    be read two ways (05/08/2023) or leaves out its year, month or day is none. UTC where no zone is given.
    """
    if isinstance(value, str):
        value = value.strip()
        # Eight digits are a date: 20230508.
        if len(value) != 8 and value.replace(".", "", 1).isdecimal():
            value = float(value)
    try:
        if isinstance(value, str):
            at: datetime | None = _iso(value) or _in_words(value)
        elif isinstance(value, int | float) and not isinstance(value, bool) and abs(value) >= SECONDS_FROM:
            at = datetime.fromtimestamp(value / 1_000 if abs(value) >= MILLISECONDS_FROM else value, UTC)
        else:
            return None
    except (ValueError, OverflowError, OSError):
        return None
    return at if at is None or at.tzinfo else at.replace(tzinfo=UTC)


def _iso(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _in_words(text: str) -> datetime | None:
    """Raises ValueError or OverflowError for what is no date."""
    words = re.findall(r"[^\W\d_]+", text.lower())
    if len(text) > _LONGEST or not _YEAR.search(text) or not _DATE_WORDS.issuperset(words):
        return None
    either = _EITHER_WAY.search(text)
    if either and either[1] != either[3] and max(int(either[1]), int(either[3])) <= 12:
        return None
    # Loaded for the few logs that need it.
    from dateutil.parser import parse

    plain = re.sub(r"[()\[\]]", " ", text)
    found, other = (parse(plain, default=each) for each in _DEFAULTS)
    return found if found == other else None


def json_in(text: str) -> object:
    """The JSON value that a string holds, such as the arguments of a call; None if it holds none."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
