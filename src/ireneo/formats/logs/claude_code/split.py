"""A file's lines told apart by session, and a session's by who works in it: the agent itself, or one of its sub-agents.

A file is one session as a rule, and is named after it. A resumed session begins with lines copied from the older one,
under the older id. So: where the file's name holds a session's id, all of the file is that session; otherwise another
id begins another session, unless its line follows one of those before it. An id that comes back after that is told as
one more session of the same name: only one is held in memory, and its lines name their parents in any case.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct, field

from ireneo.formats.logs.claude_code.lines import Line
from ireneo.formats.logs.format import Fault
from ireneo.formats.logs.json_lines import parse_line
from ireneo.formats.logs.narrow import mapping, string

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


class Batch(Struct, kw_only=True):
    """The lines of one session, its sub-agents' included."""

    id: str | None = None
    lines: list[Line] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    links: dict[str, Line] = field(default_factory=dict)
    """The lines by their ids, those that only pass the conversation on included."""
    spoken: bool = False

    def add(self, line: Line) -> None:
        """Take `line` in."""
        self.lines.append(line)
        if line.uuid:
            self.links.setdefault(line.uuid, line)
        self.spoken = self.spoken or line.speaks
        # The last id is the session's own: what was copied stands at the beginning.
        self.id = string(line.raw.get("sessionId")) or self.id

    def is_followed_by(self, line: Line) -> bool:
        """Whether `line` goes on with this session."""
        session = string(line.raw.get("sessionId"))
        if session is None or session == self.id or not (self.spoken and line.speaks):
            return True
        return any(line.raw.get(key) in self.links for key in ("parentUuid", "logicalParentUuid"))


def batches(lines: Iterable[bytes], name: str) -> Iterator[Batch]:
    """The sessions of a file, one at a time."""
    named = _UUID.search(name)
    batch = Batch()
    for number, text in enumerate(lines, 1):
        values, faults = parse_line(text, number)
        batch.faults.extend(faults)
        for value in values:
            if not isinstance(value, dict):
                message = f"Line {number} is JSON, but no object; it was left out."
                batch.faults.append(Fault(line=number, message=message))
                continue
            line = Line(number=number, raw=value, entry=value)
            if not named and not batch.is_followed_by(line):
                yield batch
                batch = Batch()
            batch.add(line)
    if named and any(line.raw.get("sessionId") == named[0] for line in batch.lines):
        batch.id = named[0]
    batch.id = batch.id or name
    yield batch


def stories(batch: Batch) -> dict[str, list[Line]]:
    """The lines of each session in `batch` by its id, the agent's own first."""
    main = batch.id or ""
    out: dict[str, list[Line]] = {main: []}
    roots: dict[str, str] = {}
    latest: str | None = None
    for line in batch.lines:
        if (agent := _reported(line)) is not None:
            inner, agent_id = agent
            out.setdefault(f"{main}/agent-{agent_id}", []).append(inner)
        elif line.entry.get("isSidechain") is True:
            latest = _sidechain(line, main, roots, latest)
            out.setdefault(latest, []).append(line)
        else:
            out[main].append(line)
    if not any(line.speaks for line in out[main]) and len(out) > 1:
        # A sub-agent's own file: what is noted in it is about that sub-agent.
        notes = out.pop(main)
        first = next(iter(out))
        out[first] = sorted(notes + out[first], key=lambda line: line.number)
    return out


def _reported(line: Line) -> tuple[Line, str] | None:
    """The words of a sub-agent that a progress line passes on, and the sub-agent's id."""
    data = mapping(line.entry.get("data"))
    if line.kind != "progress" or data.get("type") != "agent_progress":
        return None
    inner = mapping(data.get("message"))
    agent = string(data.get("agentId")) or string(line.entry.get("parentToolUseID"))
    if not inner or agent is None:
        return None
    return Line(number=line.number, raw=line.raw, entry=inner), agent


def _sidechain(line: Line, main: str, roots: dict[str, str], latest: str | None) -> str:
    agent = string(line.entry.get("agentId"))
    if agent is not None:
        return f"{main}/agent-{agent}"
    parent = line.entry.get("parentUuid")
    if isinstance(parent, str) and parent in roots:
        found = roots[parent]
    elif latest is not None and parent is not None:
        found = latest
    else:
        found = f"{main}/sidechain-{(line.uuid or str(line.number))[:8]}"
    if line.uuid:
        roots[line.uuid] = found
    return found
