"""Gemini CLI's chats: one JSON document or, in newer versions, JSON lines that are added to and rewound.

`history` says which messages stand where, `messages` what one says.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ireneo.formats.logs.documents import documents
from ireneo.formats.logs.format import Fault, LoggedSession
from ireneo.formats.logs.gemini_cli.history import History
from ireneo.formats.logs.gemini_cli.messages import FORMAT
from ireneo.formats.logs.naming import Names
from ireneo.formats.logs.narrow import string
from ireneo.formats.logs.sessions import with_faults
from ireneo.patterns import lazy_re

_MARKS = (lazy_re(rb'"sessionId":\s*"'), lazy_re(rb'"projectHash":\s*"'))


class GeminiCli:
    """Reads `~/.gemini/tmp/<project>/chats/session-*.json` and `.jsonl`."""

    name = FORMAT
    chat = "gemini"

    def recognises(self, sample: bytes) -> bool:
        """Whether a session with the hash of its project stands in `sample`."""
        return sample.lstrip().startswith(b"{") and all(mark.search(sample) for mark in _MARKS)

    def read(self, lines: Iterable[bytes], name: str) -> Iterator[LoggedSession]:
        """Read the session of a file; where several were put one behind the other, each of them."""
        return with_faults(_found(lines, name))


def _found(lines: Iterable[bytes], name: str) -> Iterator[LoggedSession | Fault]:
    names = Names()
    history = History()
    for document in documents(lines):
        yield from document.faults
        value = document.value
        if value is None:
            continue
        if not isinstance(value, dict):
            message = f"Line {document.number} is JSON, but no object; it was left out."
            yield Fault(line=document.number, message=message)
            continue
        if history.is_followed_by(value):
            yield from history.add(value, document.number)
            continue
        yield from _told(history, names, name)
        history = History()
        yield from history.add(value, document.number)
    yield from _told(history, names, name)


def _told(history: History, names: Names, name: str) -> Iterator[LoggedSession]:
    nodes, head = history.grown()
    if nodes:
        given = names.give(string(history.about.get("sessionId")) or name)
        yield LoggedSession(id=given, nodes=nodes, head=head)
