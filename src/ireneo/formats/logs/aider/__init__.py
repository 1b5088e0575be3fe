"""aider's chat histories: Markdown to which each start of aider adds a session.

JSON lines may carry such files as `markdown`. In the order of the reading: `stretches` (who speaks), `edits` (what a
reply changes), `told` (what aider says became of it, and what its linter and tests said), `drafts` (the messages).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ireneo.formats.logs.aider.drafts import FORMAT, Chat
from ireneo.formats.logs.aider.stretches import STARTED, Started, starts
from ireneo.formats.logs.format import Fault, LoggedSession
from ireneo.formats.logs.json_lines import BOM, parse_line, readable
from ireneo.formats.logs.naming import Names
from ireneo.formats.logs.narrow import mapping, string
from ireneo.formats.logs.sessions import with_faults
from ireneo.patterns import lazy_re

_BEGINNING = lazy_re(rb"\s*# aider chat started at \d{4}-\d\d-\d\d")
_CARRIED = lazy_re(rb'"markdown":\s*"(?:\s|\\[nr])*# aider chat started at \d{4}-\d\d-\d\d')


class Aider:
    """Reads `.aider.chat.history.md`, and JSON lines that hold such files."""

    name = FORMAT
    chat = "openai"

    def recognises(self, sample: bytes) -> bool:
        """Whether `sample` begins with the line that aider writes when it starts."""
        if sample.lstrip().startswith(b"{"):
            return _CARRIED.search(sample) is not None
        return _BEGINNING.match(sample) is not None

    def read(self, lines: Iterable[bytes], name: str) -> Iterator[LoggedSession]:
        """Read the sessions of a file, each called after the file and the time when it began."""
        return with_faults(_found(lines, name))


def _found(lines: Iterable[bytes], name: str) -> Iterator[LoggedSession | Fault]:
    names = Names()
    rest = iter(lines)
    first: list[bytes] = []
    for line in rest:
        first.append(line if first else line.removeprefix(BOM))
        if line.strip():
            break
    numbered = enumerate((line for part in (first, rest) for line in part), 1)
    if first and first[-1].lstrip().startswith(b"{"):
        for number, line in numbered:
            values, faults = parse_line(line, number)
            yield from faults
            for value in values:
                yield from _carried(mapping(value), number, names, name)
        return
    yield from _sessions(_texts(numbered), {}, names, name)


def _texts(numbered: Iterable[tuple[int, bytes]]) -> Iterator[str | Fault]:
    for number, line in numbered:
        text, fault = readable(line, number)
        if fault:
            yield fault
        yield text


def _carried(value: Mapping[str, object], number: int, names: Names, name: str) -> Iterator[LoggedSession | Fault]:
    told = string(value.get("markdown"))
    if told is None or STARTED.search(told) is None:
        yield Fault(line=number, message=f"Line {number} carries no chat of aider's; it was left out.")
        return
    about = {key: item for key, item in value.items() if key != "markdown"}
    wished = string(mapping(value.get("meta")).get("instance_id")) or string(value.get("session_id")) or name
    yield from _sessions(told.split("\n"), about, names, wished)


def _sessions(
    lines: Iterable[str | Fault], about: Mapping[str, object], names: Names, name: str
) -> Iterator[LoggedSession | Fault]:
    for found in starts(lines):
        if isinstance(found, Fault):
            yield found
        elif (session := _session(found, about, names, name)) is not None:
            yield session


def _session(started: Started, about: Mapping[str, object], names: Names, name: str) -> LoggedSession | None:
    chat = Chat(started, about)
    # A session that was opened and left again says nothing.
    return chat.session(names.give(f"{name}-{started.label}")) if chat.speaks else None
