"""How commands speak: JSON, words and times for a screen, and a question before something is taken out for good."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from datetime import date, datetime, time, timedelta
from typing import Annotated

import msgspec
import typer

import ireneo
from ireneo.errors import BadInput
from ireneo.patterns import lazy_re

_STEERING = lazy_re(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)?"
    r"|[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)

SHORT = 9
"""Characters of an id that name it."""


def printable(text: str) -> str:
    """`text` without what a tool may have written into its output to steer a terminal or turn its letters around."""
    return _STEERING.sub("", text)


def one_line(text: str) -> str:
    """`text` on one line, printable."""
    return " ".join(printable(text).split())


def short(id: str) -> str:
    """As much of an id as names it."""
    return id[:SHORT]


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun, in the singular or the plural."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def share(part: float) -> str:
    """A share as a percentage; only all of it is 100 %."""
    return f"{min(round(part * 100), 99) if part < 1 else 100} %"


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


def write_json(answer: object) -> None:
    """Write `answer`: on one line for a program, indented for someone at a terminal."""
    text = msgspec.json.encode(answer)
    if sys.stdout.isatty():
        text = msgspec.json.format(text)
    sys.stdout.buffer.write(text + b"\n")
    sys.stdout.buffer.flush()


def context_answer(context: ireneo.Context) -> dict[str, object]:
    """A context as JSON; the system prompt stands apart only where its format keeps it apart."""
    answer: dict[str, object] = {
        "budget": context.budget,
        "tokens": context.tokens,
        "tokens_before": context.tokens_before,
        "format": context.format,
        "messages": context.messages,
    }
    if context.system is not None:
        answer["system"] = context.system
    answer |= {
        "view": context.view,
        "violations": context.violations,
        "repaired": context.repaired,
        "pins": context.pins,
    }
    answer["behind"] = context.behind
    if context.unkept:
        answer["unkept"] = context.unkept
    return answer if context.explained is None else answer | {"explained": context.explained}


Yes = Annotated[bool, typer.Option("--yes", "-y", help="Don't ask.")]


def agreed(question: str, *, what: str) -> bool:
    """Whether someone at the terminal says yes. Raises BadInput where nobody is there: `what` is taken out for good."""
    if not _is_asked():
        raise BadInput(f"It takes {what} out for good, and there is nobody to ask; add --yes if that is meant.")
    sys.stderr.write(f"  {printable(question)} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _is_asked() -> bool:
    return sys.stdin.isatty()


def secrets_told(redacted: Mapping[str, int], unredacted: int = 0) -> Iterator[str]:
    """A line such as ``3 secrets redacted: github-token 1, password 2``, and one on what was stored before; or none."""
    if redacted:
        told = ", ".join(f"{kind} {number:,}" for kind, number in sorted(redacted.items()))
        yield f"{counted(sum(redacted.values()), 'secret')} redacted: {told}"
    if unredacted:
        stand = "stands" if unredacted == 1 else "stand"
        yield (
            f"{counted(unredacted, 'message')} {stand} there with secrets since before, and stay so; "
            "`ireneo doctor --secrets` tells what they are, and with --repair takes them out"
        )
