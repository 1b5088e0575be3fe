"""pi's sessions: JSON lines whose first describes the session; newer ones name the entry that they follow.

A session without such names is a straight line. `entries` says what an entry says, `grow` where it stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ireneo.formats.logs.format import Fault, LoggedSession
from ireneo.formats.logs.json_lines import parse_line
from ireneo.formats.logs.naming import Names
from ireneo.formats.logs.narrow import string
from ireneo.formats.logs.pi.entries import FORMAT
from ireneo.formats.logs.pi.grow import Growth
from ireneo.formats.logs.sessions import with_faults
from ireneo.patterns import lazy_re

_RESULT = (lazy_re(rb'"role":\s*"toolResult"'), lazy_re(rb'"type":\s*"message"'))


class Pi:
    """Reads `~/.pi/agent/sessions/<folder>/<time>_<id>.jsonl`."""

    name = FORMAT
    chat = "anthropic"

    def recognises(self, sample: bytes) -> bool:
        """Whether `sample` begins with pi's header or, where that was lost, holds results as only pi writes them."""
        sample = sample.lstrip()
        if not sample.startswith(b"{"):
            return False
        values, _ = parse_line(sample.split(b"\n", 1)[0], 1)
        return any(_is_header(value) for value in values) or all(mark.search(sample) for mark in _RESULT)

    def read(self, lines: Iterable[bytes], name: str) -> Iterator[LoggedSession]:
        """Read the session of a file; where several were put one behind the other, each of them."""
        return with_faults(_found(lines, name))


def _is_header(value: object) -> bool:
    if not isinstance(value, dict) or value.get("type") != "session" or not string(value.get("id")):
        return False
    return any(string(value.get(key)) for key in ("timestamp", "cwd"))


def _found(lines: Iterable[bytes], name: str) -> Iterator[LoggedSession | Fault]:
    names = Names()
    growth = Growth({})
    for number, text in enumerate(lines, 1):
        values, faults = parse_line(text, number)
        yield from faults
        for value in values:
            if not isinstance(value, dict):
                yield Fault(line=number, message=f"Line {number} is JSON, but no object; it was left out.")
            elif value.get("type") == "session":
                yield from _told(growth, names, name)
                growth = Growth(value)
            else:
                yield from growth.add(value, number)
    yield from _told(growth, names, name)


def _told(growth: Growth, names: Names, name: str) -> Iterator[LoggedSession]:
    header: Mapping[str, object] = growth.header
    nodes = growth.nodes()
    if nodes:
        given = names.give(string(header.get("id")) or name)
        yield LoggedSession(id=given, nodes=nodes, head=growth.head or 0)
