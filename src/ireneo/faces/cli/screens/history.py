"""What was true of a subject, and when: a line of time for each thing that is known of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from ireneo.faces.cli.screens.columns import MARGIN
from ireneo.faces.cli.screens.console import console
from ireneo.faces.cli.times import day_of
from ireneo.faces.cli.words import one_line, short

if TYPE_CHECKING:
    from ireneo.types import Fact

AXIS, LABEL, LEAST_AXIS = 40, 28, 12
"""Columns of the line of time and of what stands before it, where there is room."""
HOLDS, OVER, DOUBTED = "█", "▓", "░"
"""What is so still, what was so, and what is not believed (any more)."""


def show_history(facts: Sequence[Fact], title: str, now: datetime) -> None:
    """A line of time for each value, those of one attribute together, in the order in which they held."""
    screen = console()
    if not facts:
        screen.print(f"Nothing is known of {title}.", soft_wrap=True)
        return
    begin = min(each.period.start for each in facts)
    end = max([now, *(each.period.end for each in facts if each.period.end)])
    label, axis = _widths(screen, facts)
    screen.print()
    screen.print(Text(f"{MARGIN}{title}", style="bold"), soft_wrap=True)
    for attribute, rows in groupby(sorted(facts, key=_order), key=lambda each: each.record.attribute):
        screen.print()
        if attribute:
            screen.print(Text(f"{MARGIN}{one_line(attribute)}", style="dim"), soft_wrap=True)
        for each in rows:
            _show(screen, each, begin, end, label=label, axis=axis)
    screen.print()
    scale = f"{day_of(begin)}{'now' if end == now else day_of(end):>{max(axis - len(day_of(begin)), 4)}}"
    screen.print(Text(f"{MARGIN}{'':<{label}}  {scale}", style="dim"), no_wrap=True, overflow="crop")
    screen.print()
    legend = f"{HOLDS} holds   {OVER} held   {DOUBTED} not believed"
    screen.print(Text(f"{MARGIN}{'':<{label}}  {legend}", style="dim"), no_wrap=True, overflow="crop")
    screen.print()


def _widths(screen: Console, facts: Sequence[Fact]) -> tuple[int, int]:
    label = min(max(len(_words(each)) for each in facts), LABEL)
    left = screen.width - len(MARGIN) - label - 2 - len("  2026-05-03 – 2026-05-03  m_2345678")
    return label, min(max(left, LEAST_AXIS), AXIS)


def _order(fact: Fact) -> tuple[str, datetime, str]:
    return fact.record.attribute.casefold(), fact.period.start, fact.record.id


def _show(screen: Console, fact: Fact, begin: datetime, end: datetime, *, label: int, axis: int) -> None:
    words = Text(_words(fact))
    words.truncate(label, overflow="ellipsis", pad=True)
    span = (end - begin).total_seconds() or 1.0
    first = min(int((fact.period.start - begin).total_seconds() / span * axis), axis - 1)
    last = axis if fact.period.end is None else int((fact.period.end - begin).total_seconds() / span * axis)
    doubted = fact.believed_from is None or fact.believed_to is not None
    mark = DOUBTED if doubted else OVER if fact.period.end else HOLDS
    bar = (" " * first + mark * max(last - first, 1)).ljust(axis)
    dates = f"{day_of(fact.period.start)} – {day_of(fact.period.end):<10}"
    line = Text.assemble(MARGIN, words, "  ", bar, "  ", dates, "  ", (short(fact.record.id), "dim"))
    screen.print(line, no_wrap=True, overflow="ellipsis", crop=True)
    if believed := _believed(fact):
        screen.print(Text(f"{MARGIN}{'':<{label}}  {believed}", style="dim"), no_wrap=True, overflow="ellipsis")
    for said in fact.against:
        screen.print(Text(f"{MARGIN}{'':<{label}}  {one_line(said)}", style="dim"), soft_wrap=True)


def _words(fact: Fact) -> str:
    return one_line(fact.record.value or fact.record.text)


def _believed(fact: Fact) -> str:
    """From when to when we took it to be so, where that is not plain from when it was."""
    if fact.believed_from is None:
        return f"never believed: {one_line(fact.record.reason)}" if fact.record.reason else "never believed"
    since, until = day_of(fact.believed_from), day_of(fact.believed_to)
    if until:
        return f"believed from {since} until {until}"
    return f"told on {since}" if since != day_of(fact.period.start) else ""
