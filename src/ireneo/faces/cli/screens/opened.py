"""What stands behind an id, and what became of the summaries that a model was asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec
from rich.console import Console
from rich.text import Text

import ireneo
from ireneo.faces.cli.output import Column, counted, day_of, printable, share, short, show_columns, show_labelled
from ireneo.faces.cli.screens.context import GOAL, KEPT, LIVE, MASKED, STORY, TURN, WORDS

if TYPE_CHECKING:
    from ireneo.types import Evidence, LookupResult, Period, Record

MOST_LINES = 40
"""Of one message among several; alone it is shown whole."""
PART_LINES = 3
"""Of a summary under the one that is opened."""
MOST_SOURCES = 8
_ROLE_STYLES = {"system": WORDS.style, "user": WORDS.style, "assistant": LIVE.style, "tool": MASKED.style}
_LEVELS = {"turn": TURN, "goal": GOAL, "story": STORY}


def show(screen: Console, opened: LookupResult) -> None:
    """What an id names, as it is."""
    if opened.memory is not None:
        _show_memory(screen, opened.memory)
    elif opened.note is not None:
        note = opened.note
        after = f"after {short(note.at)}" if note.at else "before its first message"
        _show_titled(screen, f"{note.kind} {short(note.id)} · {opened.session}, {after}", [note.text])
    elif opened.diary is not None:
        told = opened.diary.markdown.splitlines() or ["Nothing was tried in it."]
        _show_titled(screen, f"session {opened.session} · its diary", told)
    elif opened.expanded is not None:
        show_opened(screen, opened.expanded, opened.session)


def _show_titled(screen: Console, title: str, lines: Sequence[str]) -> None:
    screen.print()
    screen.print(Text(f"  {printable(title)}", style="bold"), soft_wrap=True)
    screen.print()
    for line in lines:
        screen.print(Text(f"    {printable(line)}".rstrip()), soft_wrap=True)
    screen.print()


def _show_memory(screen: Console, record: Record) -> None:
    """The record: what it says, what is known of it, and what speaks for it, with the ids that open that."""
    state = f"{record.state}, archived" if record.archived else record.state
    known = [
        ("state", f"{state}: {record.reason}" if record.reason else state),
        ("of", " · ".join(filter(None, (record.subject, record.attribute, record.task_type, record.name)))),
        ("held", "; ".join(_period(each) for each in record.periods)),
        ("instead", short(record.superseded_by or "")),
        ("stale", record.stale),
        ("if", ", ".join(f"{name} {value}" for name, value in sorted(record.conditions.items()))),
        ("told", f"{counted(record.seen, 'time')}, first on {day_of(record.recorded)}"),
        ("used", f"{counted(record.used, 'time')}, last on {day_of(record.last_used)}" if record.used else ""),
    ]
    order = ", the newest first" if len(record.evidence) > 1 else ""
    _show_titled(
        screen,
        f"{record.kind} memory {short(record.id)} · {day_of(record.at)}",
        [
            *record.text.splitlines(),
            "",
            *(f"{name:8} {told}" for name, told in known if told),
            "",
            f"evidence, {counted(len(record.evidence), 'piece')}{order}",
            *(line for piece in reversed(record.evidence) for line in _evidence(piece)),
        ],
    )


def _period(period: Period) -> str:
    return f"from {day_of(period.start)}{f' to {day_of(period.end)}' if period.end else ''}"


def _evidence(piece: Evidence) -> Iterator[str]:
    """When and by whom it was told, and a line of ids that open what it was."""
    against = " against it" if piece.against else ""
    yield f"- {day_of(piece.at)}{against}, by the {piece.origin}{f' in {piece.session}' if piece.session else ''}"
    if piece.sources:
        more = len(piece.sources) - MOST_SOURCES
        named = " ".join(map(short, piece.sources[:MOST_SOURCES]))
        yield f"  open with {named}{f' and {more} more' if more > 0 else ''}"


def show_opened(screen: Console, opened: ireneo.Expanded, session: str) -> None:
    """The block's place, then its messages one by one."""
    block = opened.summary
    if block is not None:
        tier = _LEVELS[block.level]
        size = f"{counted(block.messages, 'message')}, {block.source_tokens:,} tokens"
        title = f"  {tier.name} {short(block.id)} · {size} · {session}"
        screen.print()
        screen.print(Text(title, style="bold"), soft_wrap=True)
        if who := written_by(block):
            screen.print(Text(f"  {printable(who)}", style="dim"), soft_wrap=True)
    screen.print()
    if not opened.messages:
        for part in opened.parts:
            _show_part(screen, part)
    alone = len(opened.messages) == 1
    for message in opened.messages:
        _show_message(screen, message, MOST_LINES if not alone else None)


def written_by(block: ireneo.Summary) -> str:
    """Who wrote a block and how far it could be trusted, in a line; nothing where no model had a part in it."""
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


def _show_part(screen: Console, part: ireneo.Summary) -> None:
    """One of the finer summaries of a stretch that is too long to be opened at once."""
    place = f"messages {part.first_position + 1:,} to {part.last_position + 1:,}"
    screen.print(Text(f"  {short(part.id)}", style=STORY.style).append(f"  {place}", style="dim"), soft_wrap=True)
    for line in part.lines("story")[:PART_LINES]:
        screen.print(Text(f"    {printable(line.text)}"), soft_wrap=True)
    screen.print()


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
        screen.print(Text(f"    {printable(line)}"), soft_wrap=True)
    if len(shown) < len(lines):
        screen.print(
            Text(
                f"    … {counted(len(lines) - len(shown), 'line')} more: ireneo expand {short(message.id)}",
                style="dim",
            ),
            soft_wrap=True,
        )
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
    said = {key: _said(value) for key, value in arguments.items()}
    if len(said) == 1 and "\n" not in (only := next(iter(said.values()))):
        yield f"→ {name} {only}"
        return
    yield f"→ {name}"
    for key, value in said.items():
        first, *rest = value.splitlines() or [""]
        yield f"    {key}: {first}"
        yield from (f"      {line}" for line in rest)


def _said(value: object) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


LABEL = 13
"""Columns before a reason: an id between two margins."""
_WORDS = {"written": "written", "repaired": "repaired", "offline": "kept offline", "failed": "failed"}
_OUTCOME_STYLES = {"written": "color(71)", "repaired": "color(136)", "offline": "dim", "failed": "red"}
_COLUMNS = (
    Column("what"),
    Column("messages", right=True),
    Column("opens with"),
    Column("tokens in", right=True),
    Column("out", right=True),
    Column("supported", right=True),
    Column("outcome"),
)


def show_written(screen: Console, done: Sequence[ireneo.Summarised], *, due: int, budget: int, title: str) -> None:
    """One row a summary, why some are not as the model wrote them, and what it took."""
    screen.print()
    screen.print(Text(f"  {title}", style="bold"), overflow="ellipsis", no_wrap=True)
    screen.print()
    if not due:
        text = f"  Nothing is due: a context of {budget:,} tokens shows no block that a model has yet to write."
        screen.print(text, soft_wrap=True)
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
    _show_sums(screen, done, due)
    screen.print()


def _row(each: ireneo.Summarised) -> list[Text]:
    tier = _LEVELS[each.level]
    first, last = each.first_position + 1, each.last_position + 1
    answered = each.outcome != "failed"
    return [
        Text(tier.name, style=tier.style),
        Text(f"{first:,}" if first == last else f"{first:,}–{last:,}"),
        Text(short(each.id), style="dim"),
        Text(f"{each.tokens_in:,}" if answered else ""),
        Text(f"{each.tokens_out:,}" if answered else ""),
        Text(share(each.supported) if answered else ""),
        Text(_WORDS[each.outcome], style=_OUTCOME_STYLES[each.outcome]),
    ]


def _reason(each: ireneo.Summarised) -> str:
    reason = " ".join(printable(each.reason).split())
    if each.outcome == "offline":
        return f"too little of it could be trusted: {reason}"
    if each.struck:
        return f"{counted(each.struck, 'line')} struck out: {reason}"
    return reason


def _show_sums(screen: Console, done: Sequence[ireneo.Summarised], due: int) -> None:
    outcomes = Counter(each.outcome for each in done)
    said = [f"{number} {_WORDS[outcome]}" for outcome, number in outcomes.items()]
    if due > len(done):
        said.append(f"{due - len(done)} left for another time")
    show_labelled(screen, "due", Text(f"{counted(due, 'text')}: {', '.join(said)}"), width=LABEL)
    answered = [each for each in done if each.outcome != "failed"]
    if not answered:
        return
    read, wrote = sum(each.tokens_in for each in answered), sum(each.tokens_out for each in answered)
    show_labelled(screen, "tokens", Text(f"{read:,} in, {wrote:,} out"), width=LABEL)
    supported = sum(each.supported for each in answered) / len(answered)
    show_labelled(screen, "supported", Text(f"{share(supported)} of the claims on average, as first made"), width=LABEL)
    show_labelled(screen, "shown", Text("when the context is next rebuilt"), width=LABEL)
