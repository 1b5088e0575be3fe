"""The stretch of time that a question names: "last May", "in 2023", "two weeks ago", "before 3 May 2022"."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

from msgspec import Struct

from ireneo.patterns import lazy_re

_MONTHS = (
    "january february march april may june july august september october november december".split()
)  # fmt: skip
_DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
_COUNTS = {word: number for number, word in enumerate("zero one two three four five six seven eight nine ten".split())}
_COUNTS |= {
    "a": 1,
    "an": 1,
    "couple": 2,
    "a couple of": 2,
    "few": 3,
    "a few": 3,
    "several": 4,
    "eleven": 11,
    "twelve": 12,
}
_UNIT_DAYS = {"day": 1, "week": 7, "month": 30.44, "year": 365.25}

_MONTH = "(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|" + (
    "oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_DAY = r"(?P<day>3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?"
_COUNT = r"(?P<count>\d{1,3}|(?:a )?(?:few|couple(?: of)?)|" + "|".join(sorted(_COUNTS, key=len, reverse=True)) + ")"
_Reading: TypeAlias = "Callable[[re.Match[str], datetime | None], Window | None]"
_UNIT = "(?P<unit>day|week|month|year)s?"


class Window(Struct, frozen=True, kw_only=True):
    """A stretch of time, open on a side that is None; `since` belongs to it, `until` no longer does. Aware."""

    since: datetime | None
    until: datetime | None

    def holds(self, at: datetime) -> bool:
        """Whether `at` is in it."""
        return (self.since is None or self.since <= at) and (self.until is None or at < self.until)


def time_window(text: str, now: datetime | None) -> Window | None:
    """The stretch that holds all the times named in `text`, or None where it names none.

    What is only told from now ("yesterday", "last May") needs `now`, which is aware; a date alone does not.
    """
    found: list[Window] = []
    taken = [False] * len(text)
    for pattern, read in _READINGS:
        for match in pattern.finditer(text):
            if any(taken[match.start() : match.end()]):
                continue
            window = _read(read, match, now)
            if window is None:
                continue
            taken[match.start() : match.end()] = [True] * (match.end() - match.start())
            found.append(_turned(text[: match.start()], window))
    if not found:
        return None
    since = [each.since for each in found]
    until = [each.until for each in found]
    if len(found) > 1 and None in since and None in until:
        # "After May and before August": what each leaves open is closed by the other.
        return Window(
            since=max((each for each in since if each), default=None),
            until=min((each for each in until if each), default=None),
        )
    return Window(
        since=None if None in since else min(each for each in since if each),
        until=None if None in until else max(each for each in until if each),
    )


def _read(read: _Reading, match: re.Match[str], now: datetime | None) -> Window | None:
    """The window that `read` makes of a match; none where that reaches beyond the years that a date can have."""
    try:
        return read(match, now)
    except (ValueError, OverflowError):
        return None


_BEFORE = lazy_re(r"\b(?:before|until|till|prior to|by|earlier than)\s+(?:the\s+)?(?:end of\s+)?$", re.I)
_LEAD_CHARACTERS = 100
_LEADS = lazy_re(r"\b(?:in|last|since|until|during|before|after|of|this|by|year|from)\s+(?:the\s+)?$", re.I)
_LAST = lazy_re(r"\b(?:last|previous)\s+$", re.I)
_SHARED_YEAR = lazy_re(
    r"\s*(?:and|to|through|until|or|-|\u2013)\s*[a-z]+(?:\s+\d{1,2})?,?\s+(?P<year>(?:19|20)\d\d)", re.I
)
_AFTER = lazy_re(r"\b(?:after|since|from|later than)\s+(?:the\s+)?$", re.I)


def _turned(before: str, window: Window) -> Window:
    """`window`, or what lies before or after it, as the words in front of it say."""
    if _BEFORE.search(before):
        return Window(since=None, until=window.since if "before" in before[-9:].lower() else window.until)
    if _AFTER.search(before):
        return Window(since=window.until if "after" in before[-8:].lower() else window.since, until=None)
    return window


def _date(match: re.Match[str], now: datetime | None) -> Window | None:
    """A day or a month as the calendar names it; without its year, the last such one that has begun by `now`."""
    month, day = _month_number(match["month"]), int(match.groupdict().get("day") or 0) or None
    if match["month"].lower() == "may" and not _is_month(match):
        return None
    # "Between May and July 2022": the year belongs to both.
    shared = _SHARED_YEAR.match(match.string, match.end())
    year = match["year"] or (shared["year"] if shared else None)
    if year:
        return _span(int(year), month, day, now)
    if now is None:
        return None
    window = _span(now.year, month, day, now)
    ends_it = _LAST.search(_before(match))
    if window and window.since and window.until and (window.until if ends_it else window.since) <= now:
        return window
    return _span(now.year - 1, month, day, now)


def _before(match: re.Match[str]) -> str:
    """What stands right before it; a text may hold thousands of years, and is not read anew for each."""
    return match.string[max(0, match.start() - _LEAD_CHARACTERS) : match.start()]


def _bare_year(match: re.Match[str], now: datetime | None) -> Window | None:
    """A year alone, where the word before it says that it is one, and no count of anything."""
    return _year(int(match["year"]), now) if _LEADS.search(_before(match)) else None


def _is_month(match: re.Match[str]) -> bool:
    """Whether "may" is the month here: beside a day, a year or "in", "last"; or written large inside a sentence."""
    parts = match.groupdict()
    if parts.get("day") or parts.get("year") or _LEADS.search(_before(match)):
        return True
    return match["month"][0].isupper() and match.start("month") > 0


def _span(year: int, month: int, day: int | None, now: datetime | None) -> Window | None:
    zone = now.tzinfo if now else UTC
    if day is not None:
        if not 1 <= day <= monthrange(year, month)[1]:
            return None
        begin = datetime(year, month, day, tzinfo=zone)
        return Window(since=begin, until=begin + timedelta(days=1))
    return Window(
        since=datetime(year, month, 1, tzinfo=zone), until=_months_on(datetime(year, month, 1, tzinfo=zone), 1)
    )


def _year(year: int, now: datetime | None) -> Window:
    zone = now.tzinfo if now else UTC
    return Window(since=datetime(year, 1, 1, tzinfo=zone), until=datetime(year + 1, 1, 1, tzinfo=zone))


def _season(match: re.Match[str], now: datetime | None) -> Window | None:
    if not match["year"] and now is None:
        return None
    first = _SEASONS[match["season"].lower()]
    zone = now.tzinfo if now else UTC
    year = int(match["year"]) if match["year"] else now.year if now else 0
    begin = datetime(year, first, 1, tzinfo=zone)
    if not match["year"] and now is not None:
        over = _months_on(begin, 3) if match["which"].lower() == "last" else begin
        begin = begin if over <= now else begin.replace(year=year - 1)
    return Window(since=begin, until=_months_on(begin, 3))


def _ago(match: re.Match[str], now: datetime | None) -> Window | None:
    """Around the time told: people count loosely, so half a unit to each side, and a day at the least."""
    if now is None:
        return None
    days = _UNIT_DAYS[match["unit"].lower()]
    middle = now - timedelta(days=_count(match["count"]) * days)
    slack = timedelta(days=max(1.0, days / 2))
    return Window(since=middle - slack, until=middle + slack)


def _past(match: re.Match[str], now: datetime | None) -> Window | None:
    if now is None:
        return None
    days = (
        _count(match["count"]) * _UNIT_DAYS[match["unit"].lower()]
        if match["count"]
        else _UNIT_DAYS[match["unit"].lower()]
    )
    return Window(since=now - timedelta(days=days), until=now + timedelta(seconds=1))


def _named(match: re.Match[str], now: datetime | None) -> Window | None:
    """Yesterday, last night, last week, this month, last Monday: whole days, weeks from Monday, whole months."""
    if now is None:
        return None
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    which, name = (match["which"] or "").lower(), match["name"].lower()
    day = timedelta(days=1)
    back = 1 if which in ("last", "previous") else 0
    if name in ("yesterday", "night"):
        return Window(since=today - day, until=today)
    if name in ("today", "tonight"):
        return Window(since=today, until=today + day)
    if name in _DAYS:
        begin = today - day * ((today.weekday() - _DAYS.index(name) - 1) % 7 + 1)
        return Window(since=begin, until=begin + day)
    monday = today - day * today.weekday()
    if name == "week":
        return Window(since=monday - 7 * back * day, until=monday + 7 * (1 - back) * day)
    if name == "weekend":
        # The weekend that lies behind: on a Sunday, "this weekend" is the one it ends.
        saturday = monday + 5 * day if today.weekday() >= 5 and not back else monday - 2 * day
        return Window(since=saturday, until=saturday + 2 * day)
    first = today.replace(day=1)
    if name == "month":
        return Window(since=_months_on(first, -back), until=_months_on(first, 1 - back))
    return _year(now.year - back, now)


def _months_on(first: datetime, months: int) -> datetime:
    """The first of the month that many months on; `first` is a first itself."""
    count = first.year * 12 + first.month - 1 + months
    return first.replace(year=count // 12, month=count % 12 + 1)


def _month_number(name: str) -> int:
    return next(at for at, each in enumerate(_MONTHS, 1) if each.startswith(name.lower()[:3]))


def _count(words: str) -> int:
    words = words.lower()
    return (
        int(words)
        if words.isdigit()
        else _COUNTS.get(words.removeprefix("a ").removesuffix(" of"), _COUNTS.get(words, 1))
    )


def _iso(match: re.Match[str], now: datetime | None) -> Window | None:
    return _span(int(match["year"]), int(match["iso"]), int(match["day"]), now)


_SEASON = "(?P<season>spring|summer|autumn|fall|winter)"
_WHOLE_MONTH = "(?P<month>" + "|".join(_MONTHS) + ")"

_READINGS = tuple(
    (lazy_re(pattern, re.IGNORECASE), read)
    for pattern, read in (
        (r"\b(?P<year>(?:19|20)\d\d)-(?P<iso>0[1-9]|1[0-2])-(?P<day>[0-3]\d)\b", _iso),
        (rf"\b{_DAY}\s+(?:of\s+)?{_MONTH}\b\.?(?:,?\s+{_YEAR})?", _date),
        (rf"\b{_MONTH}\b\.?\s+{_DAY}\b(?:,?\s+{_YEAR})?", _date),
        (rf"\b{_MONTH}\b\.?,?\s+(?:of\s+)?{_YEAR}", _date),
        (rf"\b{_WHOLE_MONTH}\b(?P<year>)", _date),
        (rf"\b(?P<which>){_SEASON}\s+(?:of\s+)?{_YEAR}\b", _season),
        (rf"\b(?P<which>last|this)\s+{_SEASON}\b(?P<year>)", _season),
        (rf"\b{_COUNT}\s+{_UNIT}\s+ago\b", _ago),
        (rf"\b(?:last|past|previous)\s+{_COUNT}\s+{_UNIT}\b", _past),
        (r"\bpast\s+(?P<count>)(?P<unit>week|month|year)\b", _past),
        (r"\b(?P<which>)(?P<name>yesterday|today|tonight)\b", _named),
        (rf"\b(?P<which>last|previous|this)\s+(?P<name>week(?:end)?|month|year|night|{'|'.join(_DAYS)})\b", _named),
        (rf"\b{_YEAR}\b", _bare_year),
    )
)
"""What a time is told in, the most exact first: letters that one of them has read are not read again."""
