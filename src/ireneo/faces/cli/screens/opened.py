"""The screens of what an id opens, and of the summaries that a model wrote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec
from rich.console import Console
from rich.text import Text

import ireneo
from ireneo.faces.cli.context import KEPT, LEVELS, LIVE, MASKED, STORY, WORDS
from ireneo.faces.cli.output import (
    Column,
    console,
    counted,
    day_of,
    printable,
    share,
    short,
    show_columns,
    show_labelled,
    show_title,
    write,
)

if TYPE_CHECKING:
    from ireneo.types import Cited, Evidence, LookupResult, Period, Record

MOST_LINES = 40
"""The maximum number of lines of a message that is shown among others; a single message is shown whole."""
_ROLE_STYLES = {"system": WORDS.style, "user": WORDS.style, "assistant": LIVE.style, "tool": MASKED.style}


def show(opened: LookupResult) -> None:
    """Show what an id names."""
    screen = console()
    if opened.memory is not None:
        _show_memory(screen, opened.memory, opened.quotes)
    elif opened.note is not None:
        note = opened.note
        after = f"after {short(note.at)}" if note.at else "before its first message"
        _show_titled(screen, f"{note.kind} {short(note.id)} · {opened.session}, {after}", [note.text])
    elif opened.diary is not None:
        lines = opened.diary.markdown.splitlines() or ["Nothing was tried in it."]
        _show_titled(screen, f"session {opened.session} · its diary", lines)
    elif opened.expanded is not None:
        _show_expanded(screen, opened.expanded, opened.session)


def _show_titled(screen: Console, title: str, lines: Sequence[str]) -> None:
    screen.print()
    write(screen, f"  {printable(title)}", "bold")
    screen.print()
    for line in lines:
        write(screen, f"    {printable(line)}".rstrip())
    screen.print()


def _show_memory(screen: Console, record: Record, quotes: Sequence[Cited]) -> None:
    """Show a memory: its text, its details, the words that it comes from, and its evidence."""
    # The key of a lesson is made of codes and stems, which mean nothing to a reader.
    of = (record.subject, record.attribute, record.task_type, "" if record.cue else record.name)
    state = f"{record.state}, archived" if record.archived else record.state
    known = [
        ("state", f"{state}: {record.reason}" if record.reason else state),
        ("of", " · ".join(filter(None, of))),
        ("held", "; ".join(_period(each) for each in record.periods)),
        ("instead", short(record.superseded_by or "")),
        ("stale", record.stale),
        ("if", ", ".join(f"{name} {value}" for name, value in sorted(record.conditions.items()))),
        ("seen", f"{counted(record.seen, 'time')}, first on {day_of(record.recorded)}"),
        ("used", f"{counted(record.used, 'time')}, last on {day_of(record.last_used)}" if record.used else ""),
    ]
    order = ", the newest first" if len(record.evidence) > 1 else ""
    _show_titled(
        screen,
        f"{record.kind} memory {short(record.id)} · {day_of(record.at)}",
        [
            *record.text.splitlines(),
            "",
            *(f"{name:8} {text}" for name, text in known if text),
            "",
            *(f"“{each.quote}” {short(each.message)}" for each in quotes),
            *([""] if quotes else []),
            f"evidence, {counted(len(record.evidence), 'piece')}{order}",
            *(line for piece in reversed(record.evidence) for line in _evidence(piece)),
        ],
    )


def _period(period: Period) -> str:
    return f"from {day_of(period.start)}{f' to {day_of(period.end)}' if period.end else ''}"


def _evidence(piece: Evidence) -> Iterator[str]:
    """Yield the time and the author of a piece of evidence, and a line of ids to open it with."""
    against = " against it" if piece.against else ""
    yield f"- {day_of(piece.at)}{against}, by the {piece.origin}{f' in {piece.session}' if piece.session else ''}"
    if piece.sources:
        more = len(piece.sources) - 8
        named = " ".join(map(short, piece.sources[:8]))
        yield f"  open with {named}{f' and {more} more' if more > 0 else ''}"


def _show_expanded(screen: Console, opened: ireneo.Expanded, session: str) -> None:
    """Show a block's place, then its messages one by one."""
    block = opened.summary
    if block is not None:
        size = f"{counted(block.messages, 'message')}, {block.source_tokens:,} tokens"
        screen.print()
        write(screen, f"  {LEVELS[block.level].name} {short(block.id)} · {size} · {session}", "bold")
        if who := _written_by(block):
            write(screen, f"  {printable(who)}", "dim")
    screen.print()
    if not opened.messages:
        for part in opened.parts:
            place = f"messages {part.first_position + 1:,} to {part.last_position + 1:,}"
            screen.print(
                Text(f"  {short(part.id)}", style=STORY.style).append(f"  {place}", style="dim"), soft_wrap=True
            )
            for line in part.lines("story")[:3]:
                write(screen, f"    {printable(line.text)}")
            screen.print()
    for message in opened.messages:
        _show_message(screen, message, None if len(opened.messages) == 1 else MOST_LINES)


def _written_by(block: ireneo.Summary) -> str:
    """Say which model wrote a block, and how far it can be trusted; empty if no model did."""
    writing = block.writing
    if writing is None:
        return ""
    who = f"{writing.model} ({writing.prompt})"
    said = [
        f"written by {who}" if writing.trusted else f"as without a model: nothing that {who} wrote could be trusted",
        f"{share(writing.supported)} of its claims supported",
        f"{share(writing.recall)} of the critical names kept",
    ]
    if writing.repaired:
        said.append("asked twice")
    if writing.struck:
        said.append(f"{counted(writing.struck, 'line')} struck out")
    if writing.disputes:
        said.append(f"in view of {counted(len(writing.disputes), 'dispute')}")
    return " · ".join(said)


def _show_message(screen: Console, message: ireneo.Message, most: int | None) -> None:
    who = message.draft.author or message.role
    head = Text(f"  {printable(who)}", style=f"bold {_ROLE_STYLES.get(message.role, KEPT.style)}")
    place = f"  {short(message.id)}  turn {message.turn}, message {message.position + 1:,}, {message.tokens:,} tokens"
    if message.draft.present is not None:
        place += f", heard by {printable(', '.join(message.draft.present)) or 'nobody else'}"
    head.append(place, style="not bold dim")
    screen.print(head, soft_wrap=True)
    lines = list(_lines(message))
    shown = lines if most is None or len(lines) <= most else lines[:most]
    for line in shown:
        write(screen, f"    {printable(line)}")
    if len(shown) < len(lines):
        more = counted(len(lines) - len(shown), "line")
        write(screen, f"    … {more} more: ireneo expand {short(message.id)}", "dim")
    screen.print()


def _lines(message: ireneo.Message) -> Iterator[str]:
    if message.text:
        yield from message.text.splitlines()
    for call in message.draft.calls:
        yield from _call(call.name, call.arguments)
    for result in message.draft.results:
        if result.failed:
            yield "(failed)"
        yield from result.text.splitlines() or ["(no output)"]


def _call(name: str, arguments: Mapping[str, object] | str) -> Iterator[str]:
    if isinstance(arguments, str):
        arguments = {"": arguments}
    said = {
        key: value if isinstance(value, str) else msgspec.json.encode(value).decode()
        for key, value in arguments.items()
    }
    if len(said) == 1 and "\n" not in (only := next(iter(said.values()))):
        yield f"→ {name} {only}"
        return
    yield f"→ {name}"
    for key, value in said.items():
        first, *rest = value.splitlines() or [""]
        yield f"    {key}: {first}"
        yield from (f"      {line}" for line in rest)


LABEL = 13
"""Columns before a reason."""
_WORDS: dict[str, str] = {"written": "written", "repaired": "repaired", "offline": "kept offline", "failed": "failed"}
_OUTCOME_STYLES: dict[str, str] = {"written": "color(71)", "repaired": "color(136)", "offline": "dim", "failed": "red"}
_COLUMNS = (
    Column("what"),
    Column("messages", right=True),
    Column("opens with"),
    Column("tokens in", right=True),
    Column("out", right=True),
    Column("supported", right=True),
    Column("outcome"),
)


def show_written(done: Sequence[ireneo.WorkResult], *, due: int, budget: int, title: str) -> None:
    """Show a row for each summary, why some differ from the model's text, and what it all cost."""
    screen = console()
    show_title(screen, title)
    if not due:
        write(screen, f"  Nothing is due: a context of {budget:,} tokens shows no block that a model has yet to write.")
        screen.print()
        return
    if done:
        show_columns(screen, _COLUMNS, [_row(each) for each in done])
        screen.print()
    reasons = [(short(each.id), reason) for each in done if (reason := _reason(each))]
    for id, reason in reasons:
        show_labelled(screen, id, Text(reason), width=LABEL)
    if reasons:
        screen.print()
    for label, text in _sums(done, due):
        show_labelled(screen, label, Text(text), width=LABEL)
    screen.print()


def _row(each: ireneo.WorkResult) -> list[Text]:
    tier = LEVELS[each.level]
    first, last = each.first_position + 1, each.last_position + 1
    answered = each.did != "failed"
    return [
        Text(tier.name, style=tier.style),
        Text(f"{first:,}" if first == last else f"{first:,}–{last:,}"),
        Text(short(each.id), style="dim"),
        Text(f"{each.tokens_in:,}" if answered else ""),
        Text(f"{each.tokens_out:,}" if answered else ""),
        Text(share(each.supported) if answered else ""),
        Text(_WORDS[each.did], style=_OUTCOME_STYLES[each.did]),
    ]


def _reason(each: ireneo.WorkResult) -> str:
    reason = " ".join(printable(each.reason).split())
    if each.did == "offline":
        return f"too little of it could be trusted: {reason}"
    if each.struck:
        return f"{counted(each.struck, 'line')} struck out: {reason}"
    return reason


def _sums(done: Sequence[ireneo.WorkResult], due: int) -> Iterator[tuple[str, str]]:
    numbers = Counter[str]()
    for each in done:
        # One request may have asked for several texts of a story, while the notes on a stretch count as one.
        numbers[each.did] += each.summaries if each.level == "story" else 1
    outcomes = [f"{number} {_WORDS[outcome]}" for outcome, number in numbers.items()]
    if due > numbers.total():
        outcomes.append(f"{due - numbers.total()} left for another time")
    yield "due", f"{counted(due, 'text')}: {', '.join(outcomes)}"
    answered = [each for each in done if each.did != "failed"]
    if not answered:
        return
    read, wrote = sum(each.tokens_in for each in answered), sum(each.tokens_out for each in answered)
    yield "tokens", f"{read:,} in, {wrote:,} out"
    supported = sum(each.supported for each in answered) / len(answered)
    yield "supported", f"{share(supported)} of the claims on average, as first made"
    yield "shown", "when the context is next rebuilt"
