"""Times relative to now ("last Saturday", "in three weeks"), and how to write them out as dates."""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import datetime, timedelta
from typing import Literal, TypeAlias

from msgspec import Struct

from ireneo.language.files import LANGUAGES, any_of, cached_data, fill_placeholders, of_language, topic
from ireneo.language.spoken import Moments
from ireneo.language.times import longest_first, month_numbers, weekday_numbers
from ireneo.language.topics import Map, Times
from ireneo.patterns import lazy_re

Grain: TypeAlias = Literal["day", "week", "weekend", "month", "year", "around"]

_DAYS = {"day": 1, "week": 7, "month": 30.44, "year": 365.25}


class Moment(Struct, frozen=True, kw_only=True):
    """A time mentioned in a text."""

    start: int
    end: int
    at: datetime
    """When it begins."""
    written: str
    """The time as a date, which doesn't depend on when the text was written."""
    since: bool = False
    """Whether a word such as "since" is before the moment."""


def moments(text: str, now: datetime, language: str, *, ahead: bool | None) -> list[Moment]:
    """Return the times in `text` that are relative to `now`, in order.

    `ahead` says whether a bare "in May" is in the future or in the past; if None it is the nearest one.
    """
    found: list[Moment] = []
    taken = [False] * len(text)
    for code in dict.fromkeys((language, "en")):
        for pattern, kind in _patterns().get(code, ()):
            for match in pattern.finditer(text):
                if any(taken[match.start() : match.end()]) or (kind == "weekday" and _is_range(match)):
                    continue
                read = _resolve(match, kind, now, code, ahead=_lies_ahead(match, code, ahead=ahead))
                if read is not None:
                    taken[match.start() : match.end()] = [True] * (match.end() - match.start())
                    found.append(_moment(match, *read, code))
    return sorted(found, key=lambda each: each.start)


def _lies_ahead(match: re.Match[str], code: str, *, ahead: bool | None) -> bool | None:
    """Whether a time without a year is in the future: "until March" is, "since March" isn't, "from March" may be."""
    known, lead = of_language(Moments, code), (match.groupdict().get("lead") or "").strip().casefold()
    first = lead.split()[0] if lead else ""
    if first in known.ahead_of:
        return True
    if first in known.behind:
        return False
    return None if first in known.either_side else ahead


def _is_range(match: re.Match[str]) -> bool:
    """Whether a weekday is one end of a recurring range: "Monday to Friday"."""
    around = match.string[max(0, match.start() - 14) : match.end() + 16].casefold()
    return sum(len(re.findall(rf"\b{name}", around)) for name in {day[:6] for day in weekday_numbers()}) > 1


def with_dates(text: str, found: list[Moment]) -> str:
    """Return `text` with its times written out."""
    for each in reversed(found):
        text = f"{text[: each.start]}{each.written}{text[each.end :]}"
    return text


def written_date(at: datetime, grain: Grain, language: str) -> str:
    """Write a date as in a sentence, without a preposition."""
    names = of_language(Times, language).months or of_language(Times, "en").months
    month = names[at.month - 1].split()[0].capitalize()
    if grain == "year":
        return str(at.year)
    if grain == "month":
        return f"{month} {at.year}"
    return f"{at.day}{'.' if language == 'de' else ''} {month} {at.year}"


def _moment(match: re.Match[str], at: datetime, grain: Grain, bare: Grain, code: str) -> Moment:
    date = written_date(at, bare, code)
    known = of_language(Moments, code)
    lead = match.groupdict().get("lead") or ""
    part = match.groupdict().get("part") or ""
    article = of_language(Times, code).articles
    words = [each for each in lead.strip().split() if each.casefold() not in article]
    word = " ".join(words).casefold()
    if word in known.kept:
        written = f"{' '.join(words)} {date}"
    else:
        written = known.written[grain][0].replace("{}", date)
        if match.start() == 0 or lead[:1].isupper():
            written = written[:1].upper() + written[1:]
    return Moment(start=match.start(), end=match.end(), at=at, written=written + part, since=word in known.since)


def _resolve(
    match: re.Match[str], kind: str, now: datetime, code: str, *, ahead: bool | None
) -> tuple[datetime, Grain, Grain] | None:
    """Return the time, how exact it is, and with which grain its date is written."""
    try:
        return _resolve_kind(match, kind, now, code, ahead=ahead)
    except (ValueError, OverflowError):
        return None


def _resolve_kind(
    match: re.Match[str], kind: str, now: datetime, code: str, *, ahead: bool | None
) -> tuple[datetime, Grain, Grain] | None:
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    day, parts = timedelta(days=1), match.groupdict()
    step = _direction(parts, code)
    if kind == "day":
        return today + int(_key_of(of_language(Moments, code).days, match["name"])) * day, "day", "day"
    if kind in ("ago", "ahead"):
        unit = _unit(parts["unit"])
        away = timedelta(days=_count_value(parts["count"], code) * _DAYS[unit]) * (-1 if kind == "ago" else 1)
        if unit == "day":
            return today + away, "day", "day"
        return today + away, "around", "day" if unit == "week" else "month" if unit == "month" else "year"
    if kind == "weekday":
        forward = (step > 0) if step else ahead is not False
        wanted = weekday_numbers()[parts["weekday"].lower()]
        if forward:
            return today + day * ((wanted - today.weekday() - 1) % 7 + 1), "day", "day"
        return (
            today - day * ((today.weekday() - wanted - (0 if step == 0 else 1)) % 7 + (1 if step else 0)),
            "day",
            "day",
        )
    if kind == "span":
        return _resolve_unit(_unit(parts["unit"]), step, today)
    month = month_numbers()[parts["month"].lower()]
    if kind == "date":
        return _with_year(today, month, int(parts["day"]), ahead=ahead), "day", "day"
    return _with_year(today, month, None, ahead=ahead), "month", "month"


def _resolve_unit(unit: str, step: int, today: datetime) -> tuple[datetime, Grain, Grain]:
    day = timedelta(days=1)
    monday = today - day * today.weekday()
    if unit == "week":
        return monday + 7 * step * day, "week", "day"
    if unit == "weekend":
        saturday = monday + 5 * day
        if step < 0 or (step == 0 and today.weekday() < 2):
            saturday -= 7 * day * (1 if step == 0 or today.weekday() < 5 else 0)
            saturday -= 7 * day * (step < 0 and today.weekday() >= 5)
        return saturday + 7 * day * (step > 0), "weekend", "day"
    if unit == "month":
        count = today.year * 12 + today.month - 1 + step
        return today.replace(year=count // 12, month=count % 12 + 1, day=1), "month", "month"
    return today.replace(year=today.year + step, month=1, day=1), "year", "year"


def _with_year(today: datetime, month: int, number: int | None, *, ahead: bool | None) -> datetime:
    """A date without a year: the next date of this day and month, the last, or the nearest."""
    years = [year for year in range(today.year - 1, today.year + 2) if (number or 1) <= monthrange(year, month)[1]]
    dates = [today.replace(year=year, month=month, day=number or 1) for year in years or [today.year]]
    floor = today.replace(day=1) if number is None else today
    if ahead:
        return next((each for each in dates if each >= floor), dates[-1])
    if ahead is None:
        return min(dates, key=lambda each: abs(each - today))
    return next((each for each in reversed(dates) if each <= today), dates[0])


def _direction(parts: dict[str, str | None], code: str) -> int:
    known, which = of_language(Moments, code), (parts.get("which") or "").casefold()
    for step, words in ((-1, known.last), (1, known.next)):
        if which and re.fullmatch(any_of(words), which):
            return step
    return 0


def _unit(word: str) -> str:
    if found := _key_of(topic(Moments).units, word):
        return found
    return next(name for name, words in topic(Times).units.items() if word.casefold() in words)


def _count_value(words: str, code: str) -> int:
    if words.isdigit():
        return int(words)
    plain = " ".join(words.casefold().split())
    return next((int(n) for n, forms in of_language(Times, code).counts.items() if plain in forms), 1)


def _key_of(known: Map, word: str) -> str:
    return next((name for name, patterns in known.items() if re.fullmatch(any_of(patterns), word, re.I)), "")


@cached_data
def _patterns() -> dict[str, tuple[tuple[re.Pattern[str], str], ...]]:
    return {code: _moment_patterns(code) for code in LANGUAGES if of_language(Moments, code).days}


def _moment_patterns(code: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    known, times = of_language(Moments, code), of_language(Times, code)
    months = [name for row in times.months for name in row.split()]
    full = [row.split()[0] for row in times.months]
    words = f"(?:{longest_first((*known.on, *known.kept))})"
    parts = {
        "lead": rf"(?P<lead>\b{words}\s+(?:{any_of(times.articles or ['(?!)'])}\s+)?)?",
        "count": rf"(?P<count>\d{{1,3}}|{longest_first(word for words in times.counts.values() for word in words)})",
        "unit": f"(?P<unit>{longest_first(word for words in times.units.values() for word in words)})",
        "which": f"(?P<which>{'|'.join((*known.last, *known.this, *known.next))})",
        "weekday": f"(?P<weekday>{longest_first(times.weekdays)})",
        "on_weekday": rf"(?:(?:{longest_first(times.weekdays)}),?\s+(?:the\s+|den\s+|dem\s+)?)?",
        "span": f"(?P<unit>{'|'.join(word for words in known.units.values() for word in words)})",
        "part": rf"(?P<part>\s+(?:{'|'.join(known.day_parts)}))?",
        "days": "|".join(word for words in known.days.values() for word in words),
    }
    rows = [
        (rf"{{lead}}(?P<name>{parts['days']}){{part}}(?!\w)", "day"),
        *((rf"\b{each}(?!\w)", "ago") for each in known.ago),
        *((rf"\b{each}(?!\w)", "ahead") for each in known.ahead),
        (r"{lead}\b{which}\s+{weekday}{part}(?!\w)", "weekday"),
        (r"{lead}\b{which}\s+{span}(?!\w)", "span"),
        (
            rf"{{lead}}\b{{on_weekday}}(?P<day>3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th|\.)?\s+(?:of\s+)?(?P<month>{longest_first(months)})(?!\w|\.?,?\s*\d{{4}})",
            "date",
        ),
        (
            rf"{{lead}}\b{{on_weekday}}(?P<month>{longest_first(months)})\s+(?P<day>3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?(?!\w|[:.]\d|,?\s*\d{{4}})",
            "date",
        ),
        (rf"(?P<lead>\b{words}\s+)\b(?P<month>{longest_first(full)})(?!\w|,?\s*\d)", "month"),
        (rf"(?P<lead>\b{words}\s+)\b{{weekday}}{{part}}(?!\w)", "weekday"),
    ]
    return tuple((lazy_re(fill_placeholders(pattern, parts), re.I), kind) for pattern, kind in rows)
