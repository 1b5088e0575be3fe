"""What the formats without branches share: a session is a line of drafts, and a file without one is an error."""

from __future__ import annotations

from collections.abc import Sequence

from ireneo.errors import UnreadableLog
from ireneo.formats.logs.format import Fault, LoggedSession, Node
from ireneo.log.message import Draft


def straight_session(name: str, drafts: Sequence[Draft], faults: Sequence[Fault]) -> LoggedSession:
    """The session in which `drafts`, one at the least, stand one behind the other."""
    nodes = tuple(Node(draft=draft, parent=index - 1 if index else None) for index, draft in enumerate(drafts))
    return LoggedSession(id=name, nodes=nodes, head=len(nodes) - 1, faults=tuple(faults))


def nothing_readable(faults: Sequence[Fault]) -> UnreadableLog:
    """The error of a file without any session, with its first fault as the reason."""
    return UnreadableLog(" ".join([str(UnreadableLog()), *(fault.message for fault in faults[:1])]))
