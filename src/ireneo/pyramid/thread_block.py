"""How open threads are shown, word for word, among the pins of a context."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ireneo.context.thread import Thread
from ireneo.log.ids import short
from ireneo.pyramid.threads import weightiest

Count = Callable[[str], int]
"""Counts the tokens of a text."""


def say_thread(thread: Thread) -> str:
    """One thread on one line: its kind, who has it with whom, its own words, and the message that it comes from."""
    words = " ".join(thread.text.split())
    said = f"{thread.kind} · {_between(thread)}: “{words}”"
    return f"{said} · {short(thread.source)}" if thread.source else said


def thread_lines(threads: Sequence[Thread], forgotten: int, room: int, count: Count) -> list[str]:
    """The lines for `threads`, in their order; `room` is the tokens that they may take all together.

    Where they don't all fit, the weightiest stand, and a line says how many more there are; `forgotten` is how many
    gave way before. A room that has no place for anything gives no lines.
    """
    let_go = f"({forgotten} older ones were let go; open the story to find them.)" if forgotten > 0 else ""
    lines = {thread.id: f"- {say_thread(thread)}" for thread in threads}
    costs = {name: count(line) + 1 for name, line in lines.items()}
    if sum(costs.values()) + _cost(let_go, count) <= room:
        return [*lines.values(), *filter(None, [let_go])]
    used = _cost(let_go, count) + _cost(_no_room(len(lines)), count)
    chosen = set()
    for thread in weightiest(threads):
        if thread.id in costs and used + costs[thread.id] <= room:
            used += costs[thread.id]
            chosen.add(thread.id)
    shown = [line for name, line in lines.items() if name in chosen]
    return _fitting([*shown, _no_room(len(lines) - len(shown)), let_go], room, count)


def _fitting(lines: Sequence[str], room: int, count: Count) -> list[str]:
    out: list[str] = []
    used = 0
    for line in filter(None, lines):
        used += _cost(line, count)
        if used > room:
            break
        out.append(line)
    return out


def _cost(line: str, count: Count) -> int:
    return count(line) + 1 if line else 0


def _no_room(number: int) -> str:
    return f"({number} more open threads have no room here.)" if number else ""


def _between(thread: Thread) -> str:
    if thread.whom:
        return f"{thread.who or '?'} → {thread.whom}"
    return thread.who or "?"
