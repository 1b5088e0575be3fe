"""What the formats without branches share: a session is a line of drafts, and faults are told with a session."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from ireneo.errors import UnreadableLog
from ireneo.formats.logs.format import Fault, LoggedSession, Node
from ireneo.log.message import Draft


def straight_session(name: str, drafts: Sequence[Draft], faults: Sequence[Fault] = ()) -> LoggedSession:
    """The session in which `drafts`, one at the least, stand one behind the other."""
    nodes = tuple(Node(draft=draft, parent=index - 1 if index else None) for index, draft in enumerate(drafts))
    return LoggedSession(id=name, nodes=nodes, head=len(nodes) - 1, faults=tuple(faults))


def with_faults(found: Iterable[LoggedSession | Fault]) -> Iterator[LoggedSession]:
    """Each session with the faults that were found behind it, and the first with those before it too.

    One session is held back for that: the last line of a file is the one that is cut off.
    """
    held: LoggedSession | None = None
    faults: list[Fault] = []
    for one in found:
        if isinstance(one, Fault):
            faults.append(one)
            continue
        if held is not None:
            yield _told(held, faults)
            faults.clear()
        held = one
    if held is None:
        raise nothing_readable(faults)
    yield _told(held, faults)


def nothing_readable(faults: Sequence[Fault]) -> UnreadableLog:
    """The error of a file without any session, with its first fault as the reason."""
    return UnreadableLog(" ".join([str(UnreadableLog()), *(fault.message for fault in faults[:1])]))


def _told(session: LoggedSession, faults: Sequence[Fault]) -> LoggedSession:
    return replace(session, faults=tuple(sorted([*session.faults, *faults], key=lambda fault: fault.line)))
