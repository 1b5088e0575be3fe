"""Codex: the rollouts in ``~/.codex/sessions/**/rollout-*.jsonl``.

Each line is an envelope `{timestamp, type, payload}`; what the model said and saw are the `response_item` lines, items
of OpenAI's Responses API. Older rollouts have the items without the envelope, behind a first line about the session.
`event_msg` lines repeat the items for the screen and are left out where they do; what they alone say (an exit code, a
rewind) is used. A `compacted` line is another tool's summary. A rewind (`thread_rolled_back`) makes a branch.

Written after openai/codex's own types (`codex-rs/protocol`, `codex-rs/rollout`), without a real rollout at hand. Not
covered: rollouts that were compressed (`.jsonl.zst`), and messages between agents, which are kept as records only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ireneo.formats.chat.responses.names import NAME
from ireneo.formats.logs.codex.lines import FORMAT, is_line, line_of
from ireneo.formats.logs.codex.rollout import Rollout
from ireneo.formats.logs.entries import Entries, entry_runs
from ireneo.formats.logs.format import Fault, LoggedSession
from ireneo.formats.logs.json_lines import parse_line
from ireneo.formats.logs.naming import Names
from ireneo.formats.logs.sessions import with_faults
from ireneo.patterns import lazy_re

_ENVELOPE = lazy_re(
    rb'(?<!\\)"type":\s*"(?:session_meta|turn_context|response_item|event_msg|compacted|world_state)",\s*'
    rb'(?<!\\)"payload":\s*\{'
)
_LOOKED_AT = 20
"""Lines of a sample that may tell; a rollout of the older form may begin with messages that others write too."""


class Codex:
    """Reads Codex's rollouts; a file is one session."""

    name = FORMAT
    chat = NAME

    def recognises(self, sample: bytes) -> bool:
        """Whether lines of a rollout stand in `sample`."""
        if not sample.lstrip().startswith((b"{", b"[")):
            return False
        return _ENVELOPE.search(sample) is not None or any(map(_is_bare, sample.splitlines()[:_LOOKED_AT]))

    def read(self, lines: Iterable[bytes], name: str) -> Iterator[LoggedSession]:
        """Read the session, called by its own id."""
        return with_faults(_found(lines, name))


def _found(lines: Iterable[bytes], name: str) -> Iterator[LoggedSession | Fault]:
    names = Names()
    for run in entry_runs(lines, is_line):
        if isinstance(run, Fault):
            yield run
            continue
        rollout = _read(run)
        session = rollout.growth.session(names.give(rollout.id or name))
        yield from [session] if session else rollout.growth.faults


def _read(run: Entries) -> Rollout:
    rollout = Rollout()
    if run.besides:
        rollout.growth.note(dict(run.besides))
    for number, raw in run.entries:
        rollout.take(line_of(raw, number))
    rollout.settle()
    return rollout


def _is_bare(line: bytes) -> bool:
    """Whether an item stands on the line as only the Responses API writes it, or the older form's first line."""
    if not line.startswith(b"{"):
        return False
    values, _ = parse_line(line, 1)
    value = values[0] if values else None
    if not isinstance(value, dict) or "payload" in value or not is_line(value):
        return False
    return value.get("type") != "message" or b'"input_text"' in line or b'"output_text"' in line
