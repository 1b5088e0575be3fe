"""Lists and tables: sessions, formats, pins, memories, facts over time, lessons, faults of a database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING

from msgspec.structs import replace
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
    write,
)
from ireneo.language.words import sentences, terms
from ireneo.plumbing import unframed

if TYPE_CHECKING:
    from ireneo.types import ArchiveCandidate, Fact, Finding, Lesson, MemoryPage, RecallHit, Record

_SESSIONS = (
    Column("session", widest=80, within=True),
    Column("messages", right=True),
    Column("tokens", right=True),
    Column("last"),
    Column("project", widest=40),
    Column("source", widest=80),
)


def show_sessions(infos: Sequence[ireneo.SessionInfo], space: str) -> None:
    """Show a row for each session."""
    screen = console()
    if not infos:
        screen.print(f"There is no session in space {space} yet; add some with `ireneo import LOG`.")
        return
    rows = [
        [
            Text(info.key.session, style="bold"),
            Text(f"{info.messages:,}"),
            Text(f"{info.tokens:,}"),
            Text(f"{info.last_at:%Y-%m-%d}" if info.last_at else ""),
            Text(info.project or ""),
            Text((info.source or "").partition(":")[0], style="dim"),
        ]
        for info in infos
    ]
    show_columns(screen, _SESSIONS, rows)


def show_formats() -> None:
    """Show the log formats, then the chat formats."""
    screen = console()
    logs = [[Text(log.name, style="bold"), Text(log.chat)] for log in ireneo.LOG_FORMATS]
    show_columns(screen, (Column("logs in (--format)"), Column("becomes, unless --to says otherwise")), logs)
    screen.print()
    chats = [[Text(name, style="bold")] for name in ireneo.CHAT_FORMATS]
    show_columns(screen, (Column("messages in and out (--to)"),), chats)


def show_pins(pins: Sequence[Mapping[str, object]], title: str) -> None:
    """Show a row for each pin: its id, where it was set, and its whole text."""
    screen = console()
    if not pins:
        screen.print(f"There is no pin in {title}.", soft_wrap=True)
        return
    rows = [("id", "set by", "words")]
    for pin in pins:
        place = f"turn {pin['turn']}" if pin["source"] else "at the start"
        id = str(pin["id"])
        by = "by hand" if pin["by_hand"] else "open thread" if id.startswith("t_") else pin["role"]
        rows.append((short(id), f"{by}, {place}", printable(str(pin["text"]))))
    named, placed = (max(len(row[column]) for row in rows) for column in range(2))
    for number, (id, place, words) in enumerate(rows):
        label = f"{id:<{named}}  {place:<{placed}}"
        text = Text(words, style="" if number else "dim")
        show_labelled(screen, label, text, width=len(label) + len(MARGIN) * 2)


BAR = 20
"""Columns of a full bar."""
_EIGHTHS = " ▏▎▍▌▋▊▉"
KIND_STYLES = {
    "semantic": "color(71)",
    "episodic": "color(68)",
    "procedural": "color(99)",
    "failure": "color(160)",
    "message": "dim",
}
FOUND_LINES = 3
"""The maximum number of lines that are shown of a text that was found."""
_MEMORIES = (
    Column("kind", widest=21),
    Column("since"),
    Column("project", widest=20),
    Column("id"),
    Column("memory", widest=10_000, wraps=True),
)
_PLACES = {"": "", "*": "all"}
_FADING = (
    Column("kept", widest=BAR),
    Column("", right=True),
    Column("kind"),
    Column("id"),
    Column("memory", widest=10_000, wraps=True),
)


def show_recalled(found: Sequence[RecallHit], question: str = "", *, budget: int | None = None, hint: str = "") -> None:
    """Show search results, the best first; of a long text the passage that matches `question` best.

    Below each are its kind, what contradicts it, and if asked for the parts of its score. The `hint` says what else to
    search if no result has all the words.
    """
    screen = console()
    if not found:
        within = "" if budget is None else f" in {budget:,} tokens"
        write(screen, f"  Nothing matches that{within}.{hint}")
        return
    width = len(MARGIN) + len(str(len(found))) + len(MARGIN)
    room = max(screen.width - width, NARROWEST)
    for number, each in enumerate(found, start=1):
        label = f"{number:>{len(str(len(found)))}}"
        said = one_line(_passage(each.text, question, room * FOUND_LINES))
        # Lines break between words, so each holds a little less than its width.
        show_labelled(screen, label, Text(cut(said, room * FOUND_LINES - room // 4)), width=width)
        doubt = "stale" if each.stale else each.state if each.state != "active" else ""
        named = f"{each.kind} by {printable(each.author)}" if each.author else each.kind
        kind = Text(f"{named}, {doubt}" if doubt else named, style=KIND_STYLES[each.kind])
        where = f"session {printable(each.session)}" if each.session else ""
        beside = [part for part in (day_of(each.at), short(each.id), where) if part]
        show_labelled(screen, "", Text.assemble(kind, (" · ".join(["", *beside]), "dim")), width=width)
        for line in each.against:
            show_labelled(screen, "", Text(printable(line)), width=width)
        if each.parts:
            made = " · ".join(f"{name} {value:.4g}" for name, value in each.parts)
            show_labelled(screen, "", Text(f"{each.score:.4f}: {printable(made)}"), width=width)
    if hint:
        write(screen, f"  None of these has all the words.{hint}")


def _passage(text: str, question: str, most: int) -> str:
    """Return a short text whole, and a long one from the sentence that has most of the question's words."""
    if len(text) <= most:
        return text
    asked = set(terms(question))
    parts = [each for line in text.splitlines() for each in sentences(line)]
    best = max(range(len(parts)), key=lambda at: len(asked & set(terms(parts[at]))), default=0)
    return ("… " if best else "") + " ".join(parts[best:])


def show_memories(found: MemoryPage, place: str, hint: str = "", *, chosen: bool = True) -> None:
    """Show a row for each memory, the newest first, and how to get the next page.

    `chosen` says that other memories may exist besides those that were asked for.
    """
    screen = console()
    if not found:
        none = f"No memory of {place} matches that" if chosen else f"There is no memory of {place} yet"
        write(screen, f"  {none}.{hint}")
        return
    rows = [
        [
            Text(each.kind if each.state == "active" else f"{each.kind}, {each.state}", style=KIND_STYLES[each.kind]),
            Text(day_of(each.at)),
            Text(printable(" ".join(sorted({_PLACES.get(name, name) for name in each.projects}))), style="dim"),
            Text(short(each.id), style="dim"),
            Text("\n").join(
                [
                    Text(one_line(" ".join([unframed(each.text), *(f"#{label}" for label in each.labels)]))),
                    *([Text(one_line(each.reason), style="dim")] if each.state != "active" and each.reason else []),
                ]
            ),
        ]
        for each in found
    ]
    show_columns(screen, _MEMORIES, rows)
    if found.after:
        write(screen, f"\n  More: --after '{found.after}'")


def show_fading(found: Sequence[ArchiveCandidate], space: str) -> None:
    """Show a row for each memory that would be archived, the next one first, grouped by reason."""
    screen = console()
    if not found:
        write(screen, f"Nothing fades in space {space}: there is no memory that could be archived.")
        return
    coloured = is_coloured(screen)
    rows = [
        [
            Text(filled(each.retention), style=KIND_STYLES[each.record.kind] if coloured else ""),
            Text(f"{each.retention:.2f}"),
            Text(each.record.kind),
            Text(short(each.record.id), style="dim"),
            Text(one_line(unframed(each.record.text))),
        ]
        for each in found
    ]
    show_columns(screen, _FADING, rows, above=[one_line(each.reason) for each in found])
    screen.print()
    when = "An event goes when nobody asked for it in two years, other memories only when the space is full."
    write(screen, f"{MARGIN}{when}", "dim")


def show_archived(found: Sequence[Record], space: str) -> None:
    """Show each archived memory, with when and why."""
    screen = console()
    if not found:
        write(screen, f"Nothing was archived or let go by its age in space {space}.")
    for each in found:
        when = f"{day_of(each.archived_at)}: " if each.archived_at else ""
        write(screen, f"{MARGIN}{short(each.id)}  {one_line(each.text)}")
        write(screen, f"{MARGIN}           {when}{printable(each.archived_why)}")
    if found:
        write(screen, f"\n{MARGIN}`ireneo restore ID` brings one back.", "dim")


def filled(share: float) -> str:
    """Draw a bar that fills a share of its columns, to an eighth of a column."""
    eighths = round(min(max(share, 0.0), 1.0) * BAR * 8)
    whole, rest = divmod(eighths, 8)
    return "█" * whole + (_EIGHTHS[rest] if rest else "")


AXIS, LABEL, LEAST_AXIS = 40, 28, 12
"""Columns of the time line and of its label, and the fewest columns of the line."""
HOLDS, OVER, DOUBTED = "█", "▓", "░"
"""What holds now, what held once, and what is doubted or no longer believed."""


def show_history(
    facts: Sequence[Fact], title: str, now: datetime, none: str = "", *, at: datetime | None = None
) -> None:
    """Show a time line for each value, by attribute, in the order in which they held; without facts, print `none`.

    With `at` the lines end there, and what ended or was said later isn't shown.
    """
    screen = console()
    if not facts:
        write(screen, none)
        return
    facts = [_until(each, at) for each in facts] if at else facts
    begin = min(each.period.start for each in facts)
    end = at or max([now, *(each.period.end for each in facts if each.period.end)])
    label, axis = _widths(screen, facts)
    screen.print()
    write(screen, f"{MARGIN}{title}", "bold")
    ordered = sorted(facts, key=lambda each: (each.record.attribute.casefold(), each.period.start, each.record.id))
    for attribute, rows in groupby(ordered, key=lambda each: each.record.attribute):
        screen.print()
        if attribute:
            write(screen, f"{MARGIN}{one_line(attribute)}", "dim")
        for each in rows:
            _show_fact(screen, each, begin, end, label=label, axis=axis)
    screen.print()
    scale = f"{day_of(begin)}{'now' if end == now else day_of(end):>{max(axis - len(day_of(begin)), 4)}}"
    screen.print(Text(f"{MARGIN}{'':<{label}}  {scale}", style="dim"), no_wrap=True, overflow="crop")
    screen.print()
    legend = f"{HOLDS} holds   {OVER} held   {DOUBTED} not believed"
    screen.print(Text(f"{MARGIN}{'':<{label}}  {legend}", style="dim"), no_wrap=True, overflow="crop")
    screen.print()


def _until(fact: Fact, at: datetime) -> Fact:
    """The fact as of `at`, at which it was true: without its end, and without later objections."""
    evidence = tuple(each for each in fact.record.evidence if not each.against or each.at <= at)
    return replace(fact, period=replace(fact.period, end=None), record=replace(fact.record, evidence=evidence))


def _widths(screen: Console, facts: Sequence[Fact]) -> tuple[int, int]:
    label = min(max(len(_words(each)) for each in facts), LABEL)
    left = screen.width - len(MARGIN) - label - 2 - len("  2026-05-03 – 2026-05-03  m_2345678")
    return label, min(max(left, LEAST_AXIS), AXIS)


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
        write(screen, f"{MARGIN}{'':<{label}}  {one_line(said)}", "dim")


def _words(fact: Fact) -> str:
    return one_line(fact.record.value or fact.record.text)


def _believed(fact: Fact) -> str:
    """Say when a fact was believed, if that differs from when it held."""
    if fact.believed_from is None:
        return f"never believed: {one_line(fact.record.reason)}" if fact.record.reason else "never believed"
    since, until = day_of(fact.believed_from), day_of(fact.believed_to)
    if until:
        return f"believed from {since} until {until}"
    return f"recorded on {since}" if since != day_of(fact.period.start) else ""


CATEGORY_STYLES = {"failure": "color(160)", "procedural": "color(99)", "factual": "color(71)", "ruling": "bold"}
_STANDS = {"kept": "kept by you", "edited": "in your words", "dropped": "dropped by you"}
INDENT = MARGIN * 3


def show_lessons(
    lessons: Sequence[Lesson], *, chosen: bool = False, more: int = 0, beyond: int = 0, none: str = ""
) -> None:
    """Show lessons by the project that gets them; last come those of several, all or no projects.

    `chosen` says that other lessons may exist besides those that were asked for; `more` is how many are told only where
    they apply, `beyond` how many belong to other projects. `none` says that the folder's project has none of its own.
    """
    screen = console()
    if none:
        write(screen, f"{MARGIN}{none}")
    it, them = ("is told only where it applies", "it") if more == 1 else ("are told only where they apply", "them")
    beside = f"{it}: `ireneo lessons --all` shows {them}."
    if not lessons and more:
        write(screen, f"{MARGIN}{counted(more, 'lesson')} {beside}")
        return
    if not lessons:
        none = "No lesson matches that" if chosen else "There are no lessons yet"
        shown = (
            "`ireneo lessons --all-projects` shows all"
            if chosen
            else "`ireneo learn LOGS` draws them, mostly from several runs"
        )
        write(screen, f"  {none}; {shown}.")
        return
    by_place: dict[tuple[bool, str], list[Lesson]] = {}
    for lesson in lessons:
        by_place.setdefault((not lesson.project, one_line(lesson.where)), []).append(lesson)
    for place in sorted(by_place):
        screen.print()
        screen.print(Text(f"{MARGIN}{place[1]}", style="bold"), no_wrap=True, overflow="ellipsis")
        for lesson in by_place[place]:
            _show_lesson(screen, lesson)
    if more:
        screen.print()
        write(screen, f"{MARGIN}{counted(more, 'more lesson')} {beside}", "dim")
    if beyond:
        screen.print()
        write(screen, f"{MARGIN}{counted(beyond, 'lesson')} of other projects: `ireneo lessons --all-projects`.", "dim")


def _show_lesson(screen: Console, lesson: Lesson) -> None:
    known = Text(MARGIN)
    sort = "ruling" if lesson.is_ruling else lesson.category
    known.append(sort, style=CATEGORY_STYLES[sort])
    known.append(f" · {lesson.standing}" if lesson.standing else "")
    known.append(f" · {short(lesson.id)}", style="dim")
    known.append(f" · {_STANDS[lesson.reviewed]}" if lesson.reviewed else "", style="dim")
    kept = "told once another run says it, or you keep it" if lesson.is_ruling else "told where it applies"
    known.append(f" · {kept}" if lesson.guard_only else "", style="dim")
    known.append("" if lesson.state == "active" or lesson.reviewed else " · no longer active", style="dim")
    screen.print(known, no_wrap=True, overflow="ellipsis")
    width = max(min(screen.width, 110) - len(INDENT), NARROWEST)
    for line in Text(one_line(lesson.lesson)).wrap(screen, width):
        line.rstrip()
        screen.print(Text(INDENT).append_text(line), no_wrap=True, crop=False, overflow="ignore")
    for said in lesson.against:
        write(screen, f"{INDENT}{one_line(said)}", "dim")


_CHANGED = {"+": "color(71)", "-": "red", "@": "color(68)"}


def show_difference(lines: Sequence[str]) -> None:
    """Show a unified diff in colours."""
    screen = console()
    for line in lines:
        write(screen, printable(line), _CHANGED.get(line[:1], ""))


MOST = 20
"""How many findings of the same kind are shown for one session."""
_STYLES = {"fault": "red", "repaired": "color(71)", "note": "color(136)"}


def _label(finding: Finding) -> str:
    return "repaired" if finding.repaired else finding.kind


def show_findings(found: Sequence[Finding], *, where: str, sessions: int, messages: int, quick: bool) -> None:
    """Show the findings by session, with shared advice only once, and a verdict."""
    screen = console()
    screen.print()
    write(screen, f"  {printable(where)}", "bold")
    screen.print()
    for session, run in groupby(found, key=lambda each: each.session):
        write(screen, f"  {printable(session) or 'the file'}", "bold")
        for (advice, label), alike in groupby(run, key=lambda each: (each.advice, _label(each))):
            _show_alike(screen, list(alike), label, advice)
        screen.print()
    _show_verdict(screen, found, sessions=sessions, messages=messages, quick=quick)
    screen.print()


def _show_alike(screen: Console, found: Sequence[Finding], label: str, advice: str) -> None:
    lines = [(label, Text(printable(each.text))) for each in found[:MOST]]
    if len(found) > MOST:
        lines.append(("", Text(f"… {len(found) - MOST:,} more like these; --json has them all", style="dim")))
    if advice:
        lines.append(("", Text(f"→ {printable(advice)}", style="dim")))
    for name, text in lines:
        show_labelled(screen, name, text, width=11)


def _show_verdict(screen: Console, found: Sequence[Finding], *, sessions: int, messages: int, quick: bool) -> None:
    checked = f"{counted(sessions, 'session')} with {counted(messages, 'message')}"
    left = "; whether each message is what its id says was not checked (--quick)" if quick else ""
    labels = [_label(each) for each in found]
    faults, repaired = labels.count("fault"), labels.count("repaired")
    verdict = f"{counted(faults, 'fault')} left" if faults and repaired else counted(faults, "fault")
    if not faults:
        verdict = "every fault is repaired" if repaired else "sound"
    style = f"bold {_STYLES['fault' if faults else 'repaired']}"
    text = f"; {checked} {'was' if sessions == 1 else 'were'} checked{left}."
    screen.print(Text.assemble((f"  {verdict}", style), text), soft_wrap=True)
