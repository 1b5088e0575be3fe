"""Times in words: the period that a question names ("last May", "two weeks ago"), and dates for comparison."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import TypeAlias

from msgspec import Struct

from ireneo.language.files import any_of, cached_data, fill_placeholders, topic
from ireneo.language.topics import Map, Times
from ireneo.patterns import lazy_re

Date = tuple[int, int, int]
"""Year, month and day; the year is 0 if none is given."""

ISO = r"(?<![\d-])\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?(?![\d-])"
CLOCK = r"(?<![\d:.])(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?(?![\d:])"

_UNIT_DAYS = {"day": 1, "week": 7, "month": 30.44, "year": 365.25}
_FIRST_MONTHS = {"spring": 3, "summer": 6, "autumn": 9, "winter": 12}
_LEAD_CHARACTERS = 100
"""How many characters before a time are read; limited, since a text may contain thousands of times."""

_ISO = lazy_re(ISO)
_ISO_PARTS = lazy_re(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?")
_CLOCK = lazy_re(CLOCK)
_LETTERS = lazy_re(r"[^\W\d_]+")


class Window(Struct, frozen=True, kw_only=True):
    """A half-open period from `since` up to but excluding `until`, both aware; unbounded if one is None."""

    since: datetime | None
    until: datetime | None

    def holds(self, at: datetime) -> bool:
        """Whether `at` is inside."""
        return (self.since is None or self.since <= at) and (self.until is None or at < self.until)


def time_window(text: str, now: datetime | None) -> Window | None:
    """Return the period that contains all the times named in `text`; None if it names none.

    Relative times ("yesterday", "last May") need `now`, which is aware; a full date does not.
    """
    found: list[Window] = []
    taken = [False] * len(text)
    for pattern, read in _readings():
        for match in pattern.finditer(text):
            if any(taken[match.start() : match.end()]):
                continue
            window = _apply_reading(read, match, now)
            if window is None:
                continue
            taken[match.start() : match.end()] = [True] * (match.end() - match.start())
            found.append(_with_direction(_text_before(match), window))
    if not found:
        return None
    since = [each.since for each in found]
    until = [each.until for each in found]
    if len(found) > 1 and None in since and None in until:
        # "After May and before August": each bounds the other.
        return Window(
            since=max((each for each in since if each), default=None),
            until=min((each for each in until if each), default=None),
        )
    return Window(
        since=None if None in since else min(each for each in since if each),
        until=None if None in until else max(each for each in until if each),
    )


def dates(text: str) -> Iterator[Date]:
    """Yield every date of `text`, once as written and once without its year."""
    for found in _ISO.finditer(text):
        year, month, day = (int(part) for part in found[0][:10].split("-"))
        yield year, month, day
        yield 0, month, day
    for found in _SPOKEN.finditer(text):
        year, month, day = _parse_date(found[0])
        yield year, month, day
        yield 0, month, day


def day_words(day: date) -> str:
    """Return the words for a day: its ISO date, its year, and the names of its month, weekday and season."""
    names = [name.capitalize() for name, number in month_numbers().items() if number == day.month]
    names += [name.capitalize() for name, number in weekday_numbers().items() if number == day.weekday()]
    season = next(name for name, first in _FIRST_MONTHS.items() if (day.month - first) % 12 < 3)
    return " ".join([day.isoformat(), str(day.year), *names, *topic(Times).seasons.get(season, ())])


def iso_window(text: str, zone: tzinfo | None) -> Window | None:
    """Return the day, month or year that ``2026-03-06``, ``2026-03`` or ``2026`` names; None for anything else."""
    found = _ISO_PARTS.fullmatch(text.strip())
    if found is None:
        return None
    year, month, day = (int(part) if part else None for part in found.groups())
    now = datetime(1, 1, 1, tzinfo=zone or UTC)
    if not year or year > 9_000 or (month is not None and not 1 <= month <= 12):
        return None
    return _year_window(year, now) if month is None else _date_window(year, month, day, now)


def without_dates(text: str) -> str:
    """Reduce the dates in `text` to their years, so that their other parts are no evidence for numbers."""
    iso = _ISO.sub(lambda found: f" {found[0][:4]} ", text)
    return _SPOKEN.sub(lambda found: f" {_parse_date(found[0])[0] or ''} ", iso)


def is_clock(word: str) -> bool:
    """Whether `word` is a time of day."""
    return bool(_CLOCK.fullmatch(word.strip("[]().,;\"'")))


@cached_data
def date_pattern() -> str:
    """Return a case-sensitive pattern for a date in which the month is a word."""
    month = longest_first(name.capitalize() for name in month_numbers())
    return (
        rf"\b(?:(?:{month})\.? \d{{1,2}}(?:st|nd|rd|th)?\b(?!\.\d)(?:,? \d{{4}}\b)?"
        rf"|\d{{1,2}}(?:st|nd|rd|th|\.)? (?:of )?(?:{month})\b\.?(?:,? \d{{4}}\b)?)"
    )


_SPOKEN = lazy_re(date_pattern)


@cached_data
def weekday_pattern() -> str:
    """Return a case-sensitive pattern for the name of a weekday, also in the plural."""
    return rf"\b(?:{longest_first(day.capitalize() for day in weekday_numbers())})s?\b"


@cached_data
def month_numbers() -> dict[str, int]:
    """Map every lower-case name of a month, short or long, to its number."""
    return {name: at % 12 + 1 for at, names in enumerate(topic(Times).months) for name in names.split()}


@cached_data
def weekday_numbers() -> dict[str, int]:
    """Map every lower-case name of a weekday to its number; Monday is 0."""
    return {name: at % 7 for at, name in enumerate(topic(Times).weekdays)}


def _parse_date(text: str) -> Date:
    known = month_numbers()
    month = next((known[word.lower()] for word in _LETTERS.findall(text) if word.lower() in known), 0)
    numbers = [int(number) for number in re.findall(r"\d+", text)]
    return (numbers[1] if len(numbers) > 1 else 0), month, numbers[0]


_Reading: TypeAlias = "Callable[[re.Match[str], datetime | None], Window | None]"


def _apply_reading(read: _Reading, match: re.Match[str], now: datetime | None) -> Window | None:
    """Return the window that `read` makes of a match; None if it is out of range for dates."""
    try:
        return read(match, now)
    except (ValueError, OverflowError):
        return None


def _text_before(match: re.Match[str]) -> str:
    """Return the text right before a match."""
    return match.string[max(0, match.start() - _LEAD_CHARACTERS) : match.start()]


def _with_direction(before: str, window: Window) -> Window:
    """Return `window`, or the time before or after it, depending on the words in front of it."""
    if found := _TURNS_BACK.search(before):
        return Window(since=None, until=window.since if found["before"] and not found["end"] else window.until)
    if found := _TURNS_ON.search(before):
        return Window(since=window.until if found["after"] else window.since, until=None)
    return window


def _date(match: re.Match[str], now: datetime | None) -> Window | None:
    """Read a calendar day or month; without a year, the latest one that has begun by `now`."""
    parts = match.groupdict()
    month, day = _month_number(parts["month"]), int(parts.get("day") or 0) or None
    if not _is_month(match):
        return None
    # "Between May and July 2022": the year belongs to both.
    shared = _SHARED_YEAR.match(match.string, match.end())
    year = parts.get("year") or (shared["year"] if shared else None)
    if year:
        return _date_window(int(year), month, day, now)
    if now is None:
        return None
    window = _date_window(now.year, month, day, now)
    ends_it = _LAST.search(_text_before(match))
    if window and window.since and window.until and (window.until if ends_it else window.since) <= now:
        return window
    return _date_window(now.year - 1, month, day, now)


def _bare_year(match: re.Match[str], now: datetime | None) -> Window | None:
    """Read a bare year, if the word before it shows that it isn't a count of something."""
    return _year_window(int(match["year"]), now) if _LEADS.search(_text_before(match)) else None


def _is_month(match: re.Match[str]) -> bool:
    """Whether an ambiguous word is a month here: next to a day or a year, or after "in" or "last".

    "May" is one also if it is capitalised inside a sentence; "Mai" isn't, as in Chiang Mai.
    """
    parts, known = match.groupdict(), topic(Times)
    month = parts["month"].lower()
    if month not in known.doubtful | known.led or parts.get("day") or parts.get("year"):
        return True
    if _LEADS.search(_text_before(match)):
        return True
    return month in known.doubtful and parts["month"][0].isupper() and match.start("month") > 0


def _month_number(word: str) -> int:
    return int(word) if word.isdigit() else month_numbers()[word.lower()]


def _date_window(year: int, month: int, day: int | None, now: datetime | None) -> Window | None:
    zone = now.tzinfo if now else UTC
    if day is not None:
        if not 1 <= day <= monthrange(year, month)[1]:
            return None
        begin = datetime(year, month, day, tzinfo=zone)
        return Window(since=begin, until=begin + timedelta(days=1))
    first = datetime(year, month, 1, tzinfo=zone)
    return Window(since=first, until=_add_months(first, 1))


def _year_window(year: int, now: datetime | None) -> Window:
    zone = now.tzinfo if now else UTC
    return Window(since=datetime(year, 1, 1, tzinfo=zone), until=datetime(year + 1, 1, 1, tzinfo=zone))


def _season(match: re.Match[str], now: datetime | None) -> Window | None:
    parts = match.groupdict()
    if not parts.get("year") and now is None:
        return None
    zone = now.tzinfo if now else UTC
    year = int(parts["year"]) if parts.get("year") else now.year if now else 0
    begin = datetime(year, _FIRST_MONTHS[_key_of(topic(Times).seasons, parts["season"])], 1, tzinfo=zone)
    if not parts.get("year") and now is not None:
        over = _add_months(begin, 3) if _key_of(topic(Times).which, parts["which"]) == "last" else begin
        begin = begin if over <= now else begin.replace(year=year - 1)
    return Window(since=begin, until=_add_months(begin, 3))


def _ago(match: re.Match[str], now: datetime | None) -> Window | None:
    """Read a time some units ago; people count loosely, so with half a unit, at least a day, to each side."""
    if now is None:
        return None
    days = _unit_days(match)
    middle = now - timedelta(days=_count_value(match["count"]) * days)
    slack = timedelta(days=max(1.0, days / 2))
    return Window(since=middle - slack, until=middle + slack)


def _past_period(match: re.Match[str], now: datetime | None) -> Window | None:
    if now is None:
        return None
    days = _count_value(match["count"]) * _unit_days(match) if match.groupdict().get("count") else _unit_days(match)
    return Window(since=now - timedelta(days=days), until=now + timedelta(seconds=1))


def _named_period(match: re.Match[str], now: datetime | None) -> Window | None:
    """Read yesterday, last night, last week, this month, last Monday: whole days, weeks from Monday, whole months."""
    if now is None:
        return None
    parts = match.groupdict()
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    step = {"last": -1, "next": 1}.get(_key_of(topic(Times).which, parts.get("which") or ""), 0)
    day = timedelta(days=1)
    if parts.get("weekday"):
        wanted = weekday_numbers()[parts["weekday"].lower()]
        ahead = day * ((wanted - today.weekday() - 1) % 7 + 1)
        begin = today + ahead if step > 0 else today - day * ((today.weekday() - wanted - 1) % 7 + 1)
        return Window(since=begin, until=begin + day)
    name = _key_of(topic(Times).names, parts["name"])
    if name in ("yesterday", "night", "day_before", "today"):
        begin = today - day * {"today": 0, "day_before": 2}.get(name, 1)
        return Window(since=begin, until=begin + day)
    monday = today - day * today.weekday()
    if name == "week":
        return Window(since=monday + 7 * step * day, until=monday + 7 * (step + 1) * day)
    if name == "weekend":
        # The previous weekend; but on a weekend, "this weekend" is the current one.
        saturday = monday + 5 * day if (today.weekday() >= 5 and step == 0) or step > 0 else monday - 2 * day
        return Window(since=saturday, until=saturday + 2 * day)
    first = today.replace(day=1)
    if name == "month":
        return Window(since=_add_months(first, step), until=_add_months(first, step + 1))
    return _year_window(now.year + step, now)


def _add_months(first: datetime, months: int) -> datetime:
    """Return the first of the month `months` later; `first` is the first of a month."""
    count = first.year * 12 + first.month - 1 + months
    return first.replace(year=count // 12, month=count % 12 + 1)


def _iso_day(match: re.Match[str], now: datetime | None) -> Window | None:
    return _date_window(int(match["year"]), int(match["iso"]), int(match["day"]), now)


def _key_of(known: Map, word: str) -> str:
    """Return the key under which a word is listed; empty if there is none."""
    return next((name for name, words in known.items() if word.lower() in words), "")


def _count_value(words: str) -> int:
    return int(words) if words.isdigit() else int(_key_of(topic(Times).counts, " ".join(words.split())) or 1)


def _unit_days(match: re.Match[str]) -> float:
    return _UNIT_DAYS[_key_of(topic(Times).units, match["unit"])]


def longest_first(words: Iterable[str]) -> str:
    """Return a pattern for any of `words`, without a group, the longest first: a shorter one may be its prefix."""
    return "|".join(sorted((re.escape(word) for word in set(words)), key=lambda word: (-len(word), word)))


def _any_word(known: Map) -> str:
    return longest_first(word for words in known.values() for word in words)


_TURNS_BACK = lazy_re(
    lambda: rf"\b(?:(?P<before>{any_of(topic(Times).before)})|{any_of(topic(Times).until)}){_up_to('end')}$", re.I
)
_TURNS_ON = lazy_re(
    lambda: rf"\b(?:(?P<after>{any_of(topic(Times).after)})|{any_of(topic(Times).since)}){_up_to()}$", re.I
)
_LEADS = lazy_re(lambda: rf"\b(?:{longest_first(topic(Times).leads)})\s+(?:{any_of(topic(Times).articles)}\s+)?$", re.I)
_LAST = lazy_re(lambda: rf"\b{any_of(topic(Times).which['last'])}\s+$", re.I)
_SHARED_YEAR = lazy_re(
    lambda: rf"\s*(?:{longest_first(topic(Times).joins)}|-|–)\s*[^\W\d_]+(?:\s+\d{{1,2}})?,?\s+{_YEAR}", re.I
)
_YEAR = r"(?P<year>(?:19|20)\d\d)"


def _up_to(end: str = "") -> str:
    """Return a pattern for what may be between a word such as "before" and the time."""
    known = topic(Times)
    last = f"(?P<{end}>{any_of(known.end_of)}\\s+)?" if end else ""
    return rf"\s+(?:{any_of(known.articles)}\s+)?{last}"


@cached_data
def _readings() -> tuple[tuple[re.Pattern[str], _Reading], ...]:
    """Return the patterns of times with their readers, the most exact first; text that one matched is not reread."""
    known = topic(Times)
    full = [name.split()[0] for name in known.months]
    units = _any_word(known.units)
    parts = {
        "month": f"(?P<month>{longest_first(month_numbers())})",
        "month_number": "(?P<month>1[0-2]|0?[1-9])",
        "year": _YEAR,
        "day": r"(?P<day>3[01]|[12]\d|0?[1-9])",
        "count": rf"(?P<count>\d{{1,3}}|{_any_word(known.counts)})",
        "unit": f"(?P<unit>{units})",
        "season": f"(?P<season>{_any_word(known.seasons)})",
        "weekday": f"(?P<weekday>{longest_first(weekday_numbers())})",
        "which": f"(?P<which>{_any_word(known.which)})",
    }
    plain = longest_first(word for name in ("today", "yesterday", "day_before") for word in known.names[name])
    rest = longest_first(word for name in ("night", "week", "weekend", "month", "year") for word in known.names[name])
    of = rf"\s+(?:{any_of(known.season_of_year)}\s+)?"
    rows: tuple[tuple[Iterable[str], _Reading], ...] = (
        ((r"\b(?P<year>(?:19|20)\d\d)-(?P<iso>0[1-9]|1[0-2])-(?P<day>[0-3]\d)\b",), _iso_day),
        (known.day_dates, _date),
        (known.month_dates, _date),
        ((rf"\b(?P<month>{longest_first(full)})\b",), _date),
        ((rf"\b{{season}}{of}{{year}}\b", r"\b{which}\s+{season}\b"), _season),
        (known.ago, _ago),
        (known.past, _past_period),
        ((rf"\b(?P<name>{plain})\b", rf"\b{{which}}\s+(?:(?P<name>{rest})|{{weekday}})\b"), _named_period),
        ((r"\b{year}\b",), _bare_year),
    )
    return tuple(
        (lazy_re(fill_placeholders(pattern, parts), re.I), read) for patterns, read in rows for pattern in patterns
    )
