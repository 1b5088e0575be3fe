"""Lists and tables: sessions, formats, pins, memories, facts over time, lessons, and what is wrong with a database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

import ireneo
from ireneo.faces.cli.output import (
    MARGIN,
    NARROWEST,
    Column,
    console,
    counted,
    cut,
    day_of,
    is_coloured,
    one_line,
    printable,
    short,
    show_columns,
    show_labelled,
)
from ireneo.language.sentences import sentences
from ireneo.language.words import terms

if TYPE_CHECKING:
    from ireneo.types import ArchiveCandidate, Fact, Finding, Lesson, MemoryPage, RecallHit, Record

_SESSIONS = (
    Column("session", widest=80),
    Column("messages", right=True),
    Column("tokens", right=True),
    Column("first"),
    Column("last"),
    Column("source", widest=80),
)


def show_sessions(infos: Sequence[ireneo.SessionInfo], space: str) -> None:
    """One row a session."""
    screen = console()
    if not infos:
        screen.print(f"There is no session in space {space} yet; fill it with `ireneo import LOG`.")
        return
    rows = [
        [
            Text(info.key.session, style="bold"),
            Text(f"{info.messages:,}"),
            Text(f"{info.tokens:,}"),
            Text(_day(info.first_at)),
            Text(_day(info.last_at)),
            Text((info.source or "").partition(":")[0], style="dim"),
        ]
        for info in infos
    ]
    show_columns(screen, _SESSIONS, rows)


def show_formats() -> None:
    """The log formats, then the chat formats."""
    screen = console()
    logs = [[Text(log.name, style="bold"), Text(log.chat)] for log in ireneo.LOG_FORMATS]
    show_columns(screen, (Column("logs in (--format)"), Column("becomes, unless --to says otherwise")), logs)
    screen.print()
    chats = [[Text(name, style="bold")] for name in ireneo.CHAT_FORMATS]
    show_columns(screen, (Column("messages in and out (--to)"),), chats)


def show_pins(pins: Sequence[Mapping[str, object]], title: str) -> None:
    """One row a pin: what releases it, where it was set, and its words, all of them."""
    screen = console()
    if not pins:
        screen.print(f"No pin stands in {title}.", soft_wrap=True)
        return
    rows = [("id", "set by", "words")]
    for pin in pins:
        place = f"turn {pin['turn']}" if pin["source"] else "at the start"
        by = "by hand" if pin["by_hand"] else pin["role"]
        rows.append((short(str(pin["id"])), f"{by}, {place}", printable(str(pin["text"]))))
    named, placed = (max(len(row[column]) for row in rows) for column in range(2))
    for number, (id, place, words) in enumerate(rows):
        label = f"{id:<{named}}  {place:<{placed}}"
        text = Text(words, style="" if number else "dim")
        show_labelled(screen, label, text, width=len(label) + len(MARGIN) * 2)


def _day(moment: datetime | None) -> str:
    return "" if moment is None else f"{moment:%Y-%m-%d}"


MESSAGE = "message"
BAR = 20
"""Columns of a bar that is full."""
_EIGHTHS = " ▏▎▍▌▋▊▉"
KIND_STYLES = {
    "semantic": "color(71)",
    "episodic": "color(68)",
    "procedural": "color(99)",
    "failure": "color(160)",
    MESSAGE: "dim",
}
"""The colour of each kind."""
FOUND_LINES = 3
"""So many lines of the text that was found are shown; all of it has `expand`, and --json."""
_MEMORIES = (
    Column("kind", widest=21),
    Column("since"),
    Column("project", widest=20),
    Column("id"),
    Column("memory", widest=10_000),
)
_PLACES = {"": "", "*": "all"}
_FADING = (
    Column("kept", widest=BAR),
    Column("", right=True),
    Column("kind"),
    Column("id"),
    Column("memory", widest=10_000),
)


def show_recalled(found: Sequence[RecallHit], question: str = "", *, budget: int | None = None, hint: str = "") -> None:
    """What was found, the best first: of a long text what answers to `question` best, and below it what it is.

    Then come what speaks against it and what its score is made of, if asked for. Where nothing was found, the `hint`
    says what else can be asked.
    """
    screen = console()
    if not found:
        within = "" if budget is None else f" in {budget:,} tokens"
        screen.print(f"  Nothing answers to that{within}.{hint}", soft_wrap=True, markup=False, highlight=False)
        return
    width = len(MARGIN) + len(str(len(found))) + len(MARGIN)
    room = max(screen.width - width, NARROWEST)
    for number, each in enumerate(found, start=1):
        label = f"{number:>{len(str(len(found)))}}"
        said = one_line(_passage(each.text, question, room * FOUND_LINES))
        # Lines break between words, so that they hold a little less than they could.
        show_labelled(screen, label, Text(cut(said, room * FOUND_LINES - room // 4)), width=width)
        doubt = "stale" if each.stale else each.state if each.state != "active" else ""
        kind = Text(f"{each.kind}, {doubt}" if doubt else each.kind, style=KIND_STYLES[each.kind])
        where = f"session {printable(each.session)}" if each.session else ""
        beside = [part for part in (day_of(each.at), short(each.id), where) if part]
        show_labelled(screen, "", Text.assemble(kind, (" · ".join(["", *beside]), "dim")), width=width)
        for line in each.against:
            show_labelled(screen, "", Text(printable(line)), width=width)
        if each.parts:
            made = " · ".join(f"{name} {value:.4g}" for name, value in each.parts)
            show_labelled(screen, "", Text(f"{each.score:.4f}: {printable(made)}"), width=width)


def _passage(text: str, question: str, most: int) -> str:
    """What is shown of a text: all of a short one, else what begins with the sentence that has most of the words."""
    if len(text) <= most:
        return text
    asked = set(terms(question))
    parts = [each for line in text.splitlines() for each in sentences(line)]
    best = max(range(len(parts)), key=lambda at: len(asked & set(terms(parts[at]))), default=0)
    return ("… " if best else "") + " ".join(parts[best:])


def show_memories(found: MemoryPage, space: str, hint: str = "") -> None:
    """One row for each memory, the newest first, and under them how the next page is asked for."""
    screen = console()
    if not found:
        screen.print(f"  No memory of space {space} is like that.{hint}", soft_wrap=True, markup=False, highlight=False)
        return
    rows = [
        [
            Text(each.kind if each.state == "active" else f"{each.kind}, {each.state}", style=KIND_STYLES[each.kind]),
            Text(day_of(each.at)),
            Text(printable(" ".join(sorted({_PLACES.get(name, name) for name in each.projects}))), style="dim"),
            Text(short(each.id), style="dim"),
            Text(one_line(" ".join([each.text, *(f"#{label}" for label in each.labels)]))),
        ]
        for each in found
    ]
    show_columns(screen, _MEMORIES, rows)
    if found.after:
        screen.print(f"\n  More: --after '{found.after}'", soft_wrap=True, markup=False, highlight=False)


def show_fading(found: Sequence[ArchiveCandidate], space: str) -> None:
    """One row for each memory, the one that would go first standing first, with why under it."""
    screen = console()
    if not found:
        screen.print(f"Nothing fades in space {space}: there is no memory that could be put away.", soft_wrap=True)
        return
    coloured = is_coloured(screen)
    rows = [
        [
            Text(filled(each.retention), style=KIND_STYLES[each.record.kind] if coloured else ""),
            Text(f"{each.retention:.2f}"),
            Text(each.record.kind),
            Text(short(each.record.id), style="dim"),
            Text(f"{one_line(each.record.text)}"),
        ]
        for each in found
    ]
    show_columns(screen, _FADING, rows)
    screen.print()
    for each in found:
        label = short(each.record.id)
        show_labelled(screen, label, Text(printable(each.reason)), width=len(label) + len(MARGIN) * 2)


def show_archived(found: Sequence[Record], space: str) -> None:
    """Each memory that was put away, with when and why."""
    screen = console()
    if not found:
        screen.print(f"Nothing was put away in space {space}.", soft_wrap=True)
    for each in found:
        when = f"{day_of(each.archived_at)}: " if each.archived_at else ""
        screen.print(f"{MARGIN}{short(each.id)}  {one_line(each.text)}", soft_wrap=True, markup=False)
        screen.print(f"{MARGIN}           {when}{printable(each.archived_why)}", soft_wrap=True, markup=False)


def filled(share: float, width: int = BAR) -> str:
    """A bar of so much of `width` columns, to an eighth of one."""
    eighths = round(min(max(share, 0.0), 1.0) * width * 8)
    whole, rest = divmod(eighths, 8)
    return "█" * whole + (_EIGHTHS[rest] if rest else "")


AXIS, LABEL, LEAST_AXIS = 40, 28, 12
"""Columns of the line of time and of what stands before it, where there is room."""
HOLDS, OVER, DOUBTED = "█", "▓", "░"
"""What is so still, what was so, and what is not believed (any more)."""


def show_history(facts: Sequence[Fact], title: str, now: datetime, hint: str = "") -> None:
    """A line of time for each value, those of one attribute together, in the order in which they held."""
    screen = console()
    if not facts:
        screen.print(f"Nothing is known of {title}.{hint}", soft_wrap=True, markup=False, highlight=False)
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
            _show_fact(screen, each, begin, end, label=label, axis=axis)
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


def _show_fact(screen: Console, fact: Fact, begin: datetime, end: datetime, *, label: int, axis: int) -> None:
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


CATEGORY_STYLES = {"failure": "color(160)", "procedural": "color(99)", "factual": "color(71)", "ruling": "bold"}
_STANDS = {"kept": "kept by you", "edited": "in your words", "dropped": "dropped by you"}
INDENT = MARGIN * 3
WIDEST = 110
"""Longer lines are tiring to read."""


def show_lessons(lessons: Sequence[Lesson], *, chosen: bool = False) -> None:
    """The lessons of each project as they come; what holds in several projects, or in none, stands last.

    `chosen` tells that there may be others than those that were asked for.
    """
    screen = console()
    if not lessons:
        none = "No lesson is like that" if chosen else "There are no lessons yet"
        shown = "`ireneo lessons` shows all" if chosen else "`ireneo learn LOGS` draws them from runs"
        screen.print(f"  {none}; {shown}.", soft_wrap=True)
        return
    by_project: dict[str, list[Lesson]] = {}
    for lesson in lessons:
        by_project.setdefault(one_line(lesson.project), []).append(lesson)
    for project in sorted(by_project, key=lambda name: (not name, name)):
        screen.print()
        screen.print(Text(f"{MARGIN}{project or 'anywhere'}", style="bold"), no_wrap=True, overflow="ellipsis")
        for lesson in by_project[project]:
            _show_lesson(screen, lesson)


def _show_lesson(screen: Console, lesson: Lesson) -> None:
    known = Text(MARGIN)
    sort = "ruling" if lesson.is_ruling else lesson.category
    known.append(sort, style=CATEGORY_STYLES[sort])
    known.append(f" · {lesson.standing}" if lesson.standing else "")
    known.append(f" · {short(lesson.id)}", style="dim")
    known.append(f" · {_STANDS[lesson.reviewed]}" if lesson.reviewed else "", style="dim")
    known.append("" if lesson.state == "active" or lesson.reviewed else " · counts no longer", style="dim")
    screen.print(known, no_wrap=True, overflow="ellipsis")
    width = max(min(screen.width, WIDEST) - len(INDENT), NARROWEST)
    for line in Text(one_line(lesson.lesson)).wrap(screen, width):
        line.rstrip()
        screen.print(Text(INDENT).append_text(line), no_wrap=True, crop=False, overflow="ignore")
    for said in lesson.against:
        screen.print(Text(f"{INDENT}{one_line(said)}", style="dim"), soft_wrap=True)


_CHANGED = {"+": "color(71)", "-": "red", "@": "color(68)"}


def show_difference(lines: Sequence[str]) -> None:
    """A unified diff, with what comes and what goes in colours."""
    screen = console()
    for line in lines:
        screen.print(Text(printable(line), style=_CHANGED.get(line[:1], "")), soft_wrap=True)


FINDING_LABEL = 11
"""Columns before a sentence."""
MOST = 20
"""So many findings of one session that are alike are shown."""
_STYLES = {"fault": "red", "repaired": "color(71)", "note": "color(136)"}


def _label(finding: Finding) -> str:
    return "repaired" if finding.repaired else finding.kind


def show_findings(
    screen: Console, found: Sequence[Finding], *, where: str, sessions: int, messages: int, quick: bool
) -> None:
    """The findings under their sessions, the advice that several share once, and a verdict."""
    screen.print()
    screen.print(Text(f"  {printable(where)}", style="bold"), soft_wrap=True)
    screen.print()
    for session, run in groupby(found, key=lambda each: each.session):
        screen.print(Text(f"  {printable(session) or 'the file'}", style="bold"), soft_wrap=True)
        _show_run(screen, list(run))
        screen.print()
    _show_verdict(screen, found, sessions=sessions, messages=messages, quick=quick)
    screen.print()


def _show_run(screen: Console, found: Sequence[Finding]) -> None:
    for advice, run in groupby(found, key=lambda each: (each.advice, _label(each))):
        alike = list(run)
        for each in alike[:MOST]:
            _labelled(screen, _label(each), printable(each.text))
        if len(alike) > MOST:
            _labelled(screen, "", f"… {len(alike) - MOST:,} more like these; --json has them all", dim=True)
        if advice[0]:
            _labelled(screen, "", f"→ {printable(advice[0])}", dim=True)


def _show_verdict(screen: Console, found: Sequence[Finding], *, sessions: int, messages: int, quick: bool) -> None:
    seen = f"{counted(sessions, 'session')} with {counted(messages, 'message')}"
    left = "; whether each message is what its id says was left out (--quick)" if quick else ""
    faults = sum(_label(each) == "fault" for each in found)
    repaired = sum(_label(each) == "repaired" for each in found)
    verdict = f"{counted(faults, 'fault')} left" if faults and repaired else counted(faults, "fault")
    if not faults:
        verdict = "all that was wrong is repaired" if repaired else "sound"
    label = "fault" if faults else "repaired"
    said = f"; {seen} {'was' if sessions == 1 else 'were'} looked at{left}."
    screen.print(Text.assemble((f"  {verdict}", f"bold {_STYLES[label]}"), said), soft_wrap=True)


def _labelled(screen: Console, label: str, text: str, *, dim: bool = False) -> None:
    show_labelled(screen, label, Text(text, style="dim" if dim else ""), width=FINDING_LABEL)
