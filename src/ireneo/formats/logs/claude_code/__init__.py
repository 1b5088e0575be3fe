"""Claude Code's session logs: JSON lines that name their parents, one line a block.

In the order of the reading: `split` (which session), `lines`, `queued`, `pieces` (which message), `origin` and `drafts`
(what it says), `tree` (what it follows).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ireneo.formats.logs.claude_code.drafts import FORMAT
from ireneo.formats.logs.claude_code.lines import Line
from ireneo.formats.logs.claude_code.pieces import cut
from ireneo.formats.logs.claude_code.queued import with_queued_words
from ireneo.formats.logs.claude_code.split import Batch, batches, stories
from ireneo.formats.logs.claude_code.tree import grow
from ireneo.formats.logs.format import Fault, LoggedSession
from ireneo.formats.logs.sessions import nothing_readable

_MARKS = ((b'"sessionId"', b'"type"', b'"uuid"'), (b'"type":"summary"', b'"leafUuid"'), (b'"isSnapshotUpdate"',))


class ClaudeCode:
    """Reads `~/.claude/projects/<folder>/<session>.jsonl`."""

    name = FORMAT
    chat = "anthropic"

    def recognises(self, sample: bytes) -> bool:
        """Whether the keys of its lines stand in `sample`; a quote inside a text would be escaped, so these can't."""
        return sample.lstrip().startswith(b"{") and any(all(mark in sample for mark in marks) for marks in _MARKS)

    def read(self, lines: Iterable[bytes], name: str) -> Iterator[LoggedSession]:
        """Read the sessions of a file: for each the agent's own, then those of its sub-agents."""
        found = False
        faults: list[Fault] = []
        for batch in batches(lines, name):
            faults = batch.faults
            for session in _sessions(batch):
                found = True
                yield session
        if not found:
            raise nothing_readable(faults)


def _sessions(batch: Batch) -> Iterator[LoggedSession]:
    # The file's faults are told once, with the first of its sessions.
    faults = batch.faults
    for name, lines in stories(batch).items():
        session = _session(name, lines, batch.links, faults)
        if session is not None:
            faults = []
            yield session


def _session(name: str, lines: Sequence[Line], links: dict[str, Line], faults: list[Fault]) -> LoggedSession | None:
    pieces = cut(with_queued_words(lines))
    if pieces is None:
        return None
    nodes, head = grow(pieces, links)
    ordered = sorted([*faults, *pieces.faults], key=lambda fault: fault.line)
    return LoggedSession(id=name, nodes=tuple(nodes), head=head, faults=tuple(ordered))
