"""What stands behind an id: each message with its words, its calls and what came back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec
from rich.console import Console
from rich.text import Text

import ireneo
from ireneo.faces.cli.screens.blocks import GOAL, KEPT, LIVE, MASKED, STORY, TURN, WORDS
from ireneo.faces.cli.words import counted, printable, share

MOST_LINES = 40
"""Of one message among several; alone it is shown whole."""
PART_LINES = 3
"""Of a summary under the one that is opened."""
SHORT = 9
_STYLES = {"system": WORDS.style, "user": WORDS.style, "assistant": LIVE.style, "tool": MASKED.style}
_LEVELS = {"turn": TURN, "goal": GOAL, "story": STORY}


def show_opened(screen: Console, opened: ireneo.Expanded, session: str) -> None:
    """The block's place, then its messages one by one."""
    block = opened.summary
    if block is not None:
        tier = _LEVELS[block.level]
        size = f"{counted(block.messages, 'message')}, {block.source_tokens:,} tokens"
        title = f"  {tier.name} {block.id[:SHORT]} · {size} · {session}"
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
    screen.print(Text(f"  {part.id[:SHORT]}", style=STORY.style).append(f"  {place}", style="dim"), soft_wrap=True)
    for line in part.lines("story")[:PART_LINES]:
        screen.print(Text(f"    {printable(line.text)}"), soft_wrap=True)
    screen.print()


def _show_message(screen: Console, message: ireneo.Message, most: int | None) -> None:
    who = message.draft.author or message.role
    head = Text(f"  {printable(who)}", style=f"bold {_STYLES.get(message.role, KEPT.style)}")
    place = f"  {message.id[:SHORT]}  turn {message.turn}, message {message.position + 1:,}, {message.tokens:,} tokens"
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
                f"    … {counted(len(lines) - len(shown), 'line')} more: ireneo expand {message.id[:SHORT]}",
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
