"""Which tools run something, and which only show what is there."""

from __future__ import annotations

import re
from bisect import bisect_left

from ireneo.log.message import Call
from ireneo.patterns import lazy_re

_WORD = lazy_re(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_RUNNERS = {
    *("bash", "shell", "sh", "zsh", "powershell", "exec", "execute", "run", "terminal", "command", "cmd"),
    *("python", "ipython", "jupyter", "repl", "console", "script", "test", "tests"),
}
_COMMAND_KEYS = ("command", "cmd", "script", "code", "input")
_WRITES = lazy_re(r"<<-?\s*+(['\"]?)(\w++)\1(?=([^\n]{0,1000}+)\n)")
_LONE_WORD = lazy_re(r"^[^\S\n]*+(\w++)\s*$", re.M)
_SEPARATOR = lazy_re(r"&&|\|\||;|\n")
_SHOWS = lazy_re(
    r"(?:cat|head|tail|less|more|nl|grep|egrep|fgrep|rg|ag|ack|find|fd|ls|tree|wc|file|stat|awk|diff|sort|uniq|jq|strings"
    r"|sed -n|git(?: -C \S+| --no-pager)* (?:show|diff|log|grep|blame|status|ls-files|cat-file)"
    r"|gh (?:pr|issue|run|api)|bat|xxd|od|column|cut|echo|printf)\b"
)
_LONG = 20_000
"""How much of a command is looked at, in characters."""
_SAYS_NOTHING = lazy_re(r"(?:cd|pwd|export|set|source|true|sleep|mkdir|touch|\w+=\S*)\b|#|$")


def runs_something(call: Call) -> bool:
    """Whether `call` ran a program whose own output came back, rather than showed a file, a diff or a search."""
    words = {word.lower() for word in _WORD.findall(call.name)}
    if not words & _RUNNERS:
        return False
    command = _command(call)
    return command is None or not _only_shows(command)


def _command(call: Call) -> str | None:
    if isinstance(call.arguments, str):
        return call.arguments
    for key in _COMMAND_KEYS:
        value = call.arguments.get(key)
        if isinstance(value, list):
            return " ".join(str(word) for word in value)
        if isinstance(value, str):
            return value
    return None


def _only_shows(command: str) -> bool:
    # A text that is written to a file in passing holds no commands.
    steps = [step.strip() for step in _SEPARATOR.split(_without_written(command[:_LONG]))]
    telling = [step for step in steps if not _SAYS_NOTHING.match(step)]
    return bool(telling) and all(_SHOWS.match(step) for step in telling)


def _without_written(command: str) -> str:
    """Leave out the here-documents that end; one whose end is missing may be none, and stays."""
    ends: dict[str, list[tuple[int, int]]] = {}
    for line in _LONE_WORD.finditer(command):
        ends.setdefault(line[1], []).append(line.span())
    out, at = [], 0
    for begun in _WRITES.finditer(command) if ends else ():
        behind = ends.get(begun[2], [])
        place = bisect_left(behind, (begun.end(3) + 1,))
        if begun.start() >= at and place < len(behind):
            out.append(command[at : begun.start()] + begun[3])
            at = behind[place][1]
    return "".join(out) + command[at:]
