"""A file's lines told apart by session, and a session's by who works in it: the agent itself, or one of its sub-agents.

A file is one session as a rule, and is named after it. A resumed session begins with lines copied from the older one,
under the older id. So: where the file's name holds a session's id, all of the file is that session; otherwise another
id begins another session, unless its line follows one of those before it. An id that comes back after that is told as
one more session of the same name: only one is held in memory, and its lines name their parents in any case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ireneo.formats.logs.claude_code.lines import Line
from ireneo.formats.logs.claude_code.stubs import Stub, stub_of
from ireneo.formats.logs.format import Fault
from ireneo.formats.logs.json_lines import parse_line
from ireneo.formats.logs.kept import Lines, Place
from ireneo.formats.logs.narrow import mapping, string
from ireneo.patterns import lazy_re

_UUID = lazy_re(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_OWN = ""
"""What the agent's own story is called; a sub-agent's is called after it."""


class Batch:
    """The lines of one session, its sub-agents' included."""

    def __init__(self, named: str | None, lines: Lines) -> None:
        """Begin without a line, to keep them in `lines`; `named` is the session's id that the file's name holds."""
        self.id: str | None = None
        self.is_named = False
        """Whether one of its lines is of the session that the file is named after."""
        self.faults: list[Fault] = []
        self.lines = lines
        self.links: dict[str, Stub] = {}
        """The lines by their ids, those that only pass the conversation on included."""
        self._named = named
        self._spoken = False
        self._stories: dict[str, list[Stub]] = {_OWN: []}
        self._roots: dict[str, str] = {}
        self._latest: str | None = None

    def add(self, line: Line, place: Place) -> None:
        """Take `line` in, which is kept at `place`."""
        stub = self._stub(line, place)
        if stub.uuid:
            self.links.setdefault(stub.uuid, stub)
        self._spoken = self._spoken or stub.speaks
        # The last id is the session's own: what was copied stands at the beginning.
        session = string(line.raw.get("sessionId"))
        self.id = session or self.id
        self.is_named = self.is_named or (session is not None and session == self._named)
        if (agent := _reported(line)) is not None:
            inner, agent_id = agent
            self._stories.setdefault(f"/agent-{agent_id}", []).append(self._stub(inner, place))
        elif stub.sidechain is True:
            self._latest = self._sidechain(line)
            self._stories.setdefault(self._latest, []).append(stub)
        else:
            self._stories[_OWN].append(stub)

    def is_followed_by(self, line: Line) -> bool:
        """Whether `line` goes on with this session."""
        session = string(line.raw.get("sessionId"))
        if session is None or session == self.id or not (self._spoken and line.speaks):
            return True
        return any(line.raw.get(key) in self.links for key in ("parentUuid", "logicalParentUuid"))

    def stories(self) -> dict[str, list[Stub]]:
        """The lines of each session by its id, the agent's own first."""
        own = self._stories[_OWN]
        out = {f"{self.id or ''}{name}": stubs for name, stubs in self._stories.items()}
        if not any(stub.speaks for stub in own) and len(out) > 1:
            # A sub-agent's own file: what is noted in it is about that sub-agent.
            del out[self.id or ""]
            first = next(iter(out))
            out[first] = sorted(own + out[first], key=lambda stub: stub.number)
        return out

    def _stub(self, line: Line, place: Place) -> Stub:
        # A parent's id is held once, and not again by each line that follows it.
        parent = line.entry.get("parentUuid")
        before = self.links.get(parent) if isinstance(parent, str) else None
        return stub_of(line, place, before.uuid if before else None)

    def _sidechain(self, line: Line) -> str:
        agent = string(line.entry.get("agentId"))
        if agent is not None:
            return f"/agent-{agent}"
        parent = line.entry.get("parentUuid")
        if isinstance(parent, str) and parent in self._roots:
            found = self._roots[parent]
        elif self._latest is not None and parent is not None:
            found = self._latest
        else:
            found = f"/sidechain-{(line.uuid or str(line.number))[:8]}"
        if line.uuid:
            self._roots[line.uuid] = found
        return found


def batches(lines: Iterable[bytes], name: str, keep: Callable[[], Lines]) -> Iterator[Batch]:
    """The sessions of a file, one at a time; `keep` gives each a place for its lines."""
    found = _UUID.search(name)
    named = found[0] if found else None
    batch = Batch(named, keep())
    for number, text in enumerate(lines, 1):
        values, faults = parse_line(text, number)
        batch.faults.extend(faults)
        for index, value in enumerate(values):
            if not isinstance(value, dict):
                message = f"Line {number} is JSON, but no object; it was left out."
                batch.faults.append(Fault(line=number, message=message))
                continue
            line = Line(number=number, raw=value, entry=value)
            if not named and not batch.is_followed_by(line):
                yield batch
                batch = Batch(named, keep())
            batch.add(line, batch.lines.keep(value, index, text, number))
    if named and batch.is_named:
        batch.id = named
    batch.id = batch.id or name
    yield batch


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
