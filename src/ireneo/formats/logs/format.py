"""What a log format is: how a file is recognised, and the sessions with their faults that are read from it."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from functools import wraps
from typing import Protocol, TypeVar, runtime_checkable

from msgspec import Struct
from msgspec.structs import replace

from ireneo.errors import UnreadableLog
from ireneo.formats.values import objects
from ireneo.log.message import Draft, Native, opens_turn


class Spool(Protocol):
    """A place outside of the memory where bytes are put aside and read again."""

    def keep(self, text: bytes) -> int:
        """Put `text` aside; gives what it is read by."""

    def read(self, place: int) -> bytes:
        """Read what was put aside at `place`."""


class LogFault(Struct, frozen=True, kw_only=True):
    """A place in a log that could not be read as it stands; what could be saved of it was."""

    line: int
    """From 1."""
    message: str
    """One sentence: what is wrong there, and what was done about it."""


def line_fault(number: int, what: str) -> LogFault:
    """The fault of line `number`, of which the sentence tells `what`."""
    return LogFault(line=number, message=f"Line {number} {what}")


class LoggedNode(Struct, frozen=True, kw_only=True, gc=False):
    """A draft in the tree of a logged session; `parent` is the index of another node, before it in the list."""

    draft: Draft
    parent: int | None


class LoggedSession(Struct, frozen=True, kw_only=True):
    """One session of a log, as a tree whose head is where the log left off."""

    id: str
    nodes: tuple[LoggedNode, ...]
    head: int
    """The index of the node where the session stood when the log ended."""
    faults: tuple[LogFault, ...] = ()

    @property
    def path(self) -> list[Draft]:
        """The drafts from the session's first to its head; other branches of its tree are left aside."""
        out = []
        place: int | None = self.head
        while place is not None:
            node = self.nodes[place]
            out.append(node.draft)
            place = node.parent
        return out[::-1]


class StreamedSession:
    """A session of a log whose nodes are read one at a time: no more of it is held than what its tree asks for."""

    def __init__(self, id: str, nodes: Generator[LoggedNode, None, int], faults: tuple[LogFault, ...] = ()) -> None:
        """Read `nodes`, each behind its parent; the generator returns the index of the head."""
        self.id = id
        self.faults = faults
        self._nodes = nodes
        self._head: int | None = None

    def __iter__(self) -> Iterator[LoggedNode]:
        """Read the nodes; once only."""
        self._head = yield from self._nodes

    @property
    def head(self) -> int:
        """The index of the node where the session stood when the log ended, once all nodes were read."""
        if self._head is None:
            raise ValueError("The head is known once all nodes were read.")
        return self._head

    def whole(self) -> LoggedSession:
        """Read all of it."""
        nodes = tuple(self)
        return LoggedSession(id=self.id, nodes=nodes, head=self.head, faults=self.faults)


def as_stream(logged: LoggedSession) -> StreamedSession:
    """`logged` as a session that is read a node at a time."""

    def nodes() -> Generator[LoggedNode, None, int]:
        yield from logged.nodes
        return logged.head

    return StreamedSession(logged.id, nodes(), logged.faults)


class LogFormat(Protocol):
    """One agent's log format."""

    name: str
    chat: str
    """The chat format in which the model of such a log speaks, so that a context goes back to it."""

    def recognises(self, sample: bytes) -> bool:
        """Whether a file that begins with `sample` (64 KiB at the most) is of this format."""

    def read(self, lines: Iterable[bytes], name: str) -> Iterator[LoggedSession]:
        """Read the sessions of a file, one at a time; `name` names those that have no id of their own.

        A line that can't be read becomes a Fault of its session, and the rest is kept.
        """


@runtime_checkable
class LinearFormat(Protocol):
    """A log format whose files each hold one session without branches, which is stored while it is read."""

    def drafts(self, lines: Iterable[bytes]) -> Iterator[Draft | LogFault]:
        """Read the messages of a file one at a time, in order, with what can't be read among them."""


@runtime_checkable
class StreamingFormat(Protocol):
    """A log format whose sessions may be larger than the memory: they are stored while their nodes are read."""

    def grow(self, lines: Iterable[bytes], name: str, spool: Spool | None) -> Iterator[StreamedSession]:
        """Read the sessions of a file as `LogFormat.read` does; what is too large to be held is put into `spool`.

        Each session is to be read before the next one is asked for.
        """


def linear_session(name: str, drafts: Sequence[Draft], faults: Sequence[LogFault] = ()) -> LoggedSession:
    """The session in which `drafts`, one at the least, stand one behind the other."""
    nodes = tuple(LoggedNode(draft=draft, parent=index - 1 if index else None) for index, draft in enumerate(drafts))
    return LoggedSession(id=name, nodes=nodes, head=len(nodes) - 1, faults=tuple(faults))


FormatT = TypeVar("FormatT")


def with_faults(
    read: Callable[[FormatT, Iterable[bytes], str], Iterator[LoggedSession | LogFault]],
) -> Callable[[FormatT, Iterable[bytes], str], Iterator[LoggedSession]]:
    """Make a format's `read` of one that names faults among the sessions.

    Each session has the faults that were found behind it, and the first those before it too. One session is held back
    for that: the last line of a file is the one that is cut off.
    """

    @wraps(read)
    def read_sessions(form: FormatT, lines: Iterable[bytes], name: str) -> Iterator[LoggedSession]:
        held: LoggedSession | None = None
        faults: list[LogFault] = []
        for one in read(form, lines, name):
            if isinstance(one, LogFault):
                faults.append(one)
                continue
            if held is not None:
                yield _with_more_faults(held, faults)
                faults.clear()
            held = one
        if held is None:
            raise nothing_readable(faults)
        yield _with_more_faults(held, faults)

    return read_sessions


def nothing_readable(faults: Sequence[LogFault]) -> UnreadableLog:
    """The error of a file without any session, with its first fault as the reason."""
    return UnreadableLog(" ".join([str(UnreadableLog()), *(fault.message for fault in faults[:1])]))


def _with_more_faults(session: LoggedSession, faults: Sequence[LogFault]) -> LoggedSession:
    return replace(session, faults=tuple(sorted([*session.faults, *faults], key=lambda fault: fault.line)))


RunT = TypeVar("RunT")


def read_runs(
    runs: Iterable[RunT | LogFault], build: Callable[[RunT], Iterable[tuple[SessionBuilder, Sequence[str]]]]
) -> Iterator[LoggedSession | LogFault]:
    """The sessions that `build` makes of each run, each with the names that it would like best first."""
    names = UniqueNames()
    for run in runs:
        if isinstance(run, LogFault):
            yield run
            continue
        for builder, wished in build(run):
            session = builder.session(names.give(*wished))
            yield from [session] if session else builder.faults


def objects_in(
    document: Mapping[str, object], key: str, number: int, what: str
) -> tuple[list[dict[str, object]], list[LogFault]]:
    """The objects that `document`, of line `number`, lists under `key`, and the fault of what is none among them."""
    listed = document.get(key)
    found = objects(listed)
    left = len(listed) - len(found) if isinstance(listed, list) else 0
    return found, [line_fault(number, f"holds {left} {what} that are no objects; they were left out.")] if left else []


class UniqueNames:
    """The names that were given so far."""

    def __init__(self, given: Iterable[str] = ()) -> None:
        self._given: set[str] = set(given)
        self._next: dict[str, int] = {}
        """The number to try next for a name that was given before."""

    def __bool__(self) -> bool:
        return bool(self._given)

    def give(self, *wished: str) -> str:
        """The first of `wished` that is free, or the last with a number that makes it so."""
        for name in wished:
            if name not in self._given:
                break
        else:
            number = self._next.get(wished[-1], 2)
            while (name := f"{wished[-1]}-{number}") in self._given:
                number += 1
            self._next[wished[-1]] = number + 1
        self._given.add(name)
        return name


DIRECTORY = "cwd"
"""Under this key a record says in which directory its message was worked."""


class SessionBuilder:
    """The nodes so far; a draft goes behind `head`, which a format moves where its log was rewound."""

    def __init__(self, form: str) -> None:
        self.nodes: list[LoggedNode] = []
        self.head: int | None = None
        self.directory: str | None = None
        """Where the work goes on; it is noted with each draft."""
        self.faults: list[LogFault] = []
        self._form = form
        self._aside: list[object] = []
        self._early, self._first = 0, ""
        """How many drafts came before any directory was known, and which that was then."""

    def note(self, entry: object) -> None:
        """Keep an entry that is no message, with the next draft that is."""
        self._aside.append(entry)

    def work_in(self, directory: str | None) -> None:
        """Note where the work goes on; drafts before the first directory that is known were worked there too."""
        if directory is None:
            return
        if self.directory is None:
            self._early, self._first = len(self.nodes), directory
        self.directory = directory

    def add(self, draft: Draft, *entries: object) -> int:
        """Put `draft` behind the head, with the log's `entries` about it and those noted before; its index comes back.

        A draft without any part is only noted.
        """
        if not draft.parts:
            self._aside += entries
            return -1 if self.head is None else self.head
        kept = [*self._directory(), *self._aside, *entries]
        self._aside = []
        record = Native(format=self._form, payload=kept) if kept else None
        self.nodes.append(LoggedNode(draft=replace(draft, record=record), parent=self.head))
        self.head = len(self.nodes) - 1
        return self.head

    def session(self, name: str, faults: Sequence[LogFault] = ()) -> LoggedSession | None:
        """The session, called `name`; None if it has no message."""
        if not self.nodes:
            return None
        for place in range(self._early):
            self._add_to_record(place, [{DIRECTORY: self._first}], front=True)
        self._add_to_record(len(self.nodes) - 1, self._aside)
        # Where everything was rewound, the log left off at what it had.
        head = len(self.nodes) - 1 if self.head is None else self.head
        return LoggedSession(id=name, nodes=tuple(self.nodes), head=head, faults=(*faults, *self.faults))

    def _directory(self) -> list[object]:
        return [] if self.directory is None else [{DIRECTORY: self.directory}]

    def _add_to_record(self, place: int, entries: Sequence[object], *, front: bool = False) -> None:
        node = self.nodes[place]
        had = node.draft.record.payload if node.draft.record else []
        held = had if isinstance(had, list) else [had]
        payload = [*entries, *held] if front else [*held, *entries]
        if payload:
            record = Native(format=self._form, payload=payload)
            self.nodes[place] = LoggedNode(draft=replace(node.draft, record=record), parent=node.parent)


class NotedTree:
    """The nodes so far of a log that names what each message follows; what is noted stays with the node before it."""

    def __init__(self, form: str, *early: object) -> None:
        self.early: list[object] = list(early)
        """What was noted before the first message; it goes with the next."""
        self._form = form
        self._drafts: list[tuple[Draft, int | None, list[object]]] = []

    def add(self, draft: Draft, parent: int | None, *entries: object, directory: str | None = None) -> int:
        """Put `draft` behind `parent`, with the log's `entries` about it; its index comes back.

        Only the head of such a log tells in which directory the work is done, and each turn is asked for it.
        """
        kept = [*self.early, *entries] if entries else []
        if entries:
            self.early = []
        if kept and directory and opens_turn(draft):
            kept.insert(0, {DIRECTORY: directory})
        self._drafts.append((draft, parent, kept))
        return len(self._drafts) - 1

    def note(self, at: int | None, *entries: object) -> None:
        """Keep what is no message with the node `at`, behind which it stands."""
        (self.early if at is None else self._drafts[at][2]).extend(entries)

    @property
    def nodes(self) -> tuple[LoggedNode, ...]:
        """Each draft with the entries that are kept with it."""
        return tuple(
            LoggedNode(
                draft=replace(draft, record=Native(format=self._form, payload=kept)) if kept else draft, parent=parent
            )
            for draft, parent, kept in self._drafts
        )


_ROOT = -1


class Planting:
    """A tree under construction: its nodes go on, and what is kept of each is a few numbers."""

    def __init__(self) -> None:
        self.tails: dict[int, int] = {}
        """The last node of each trail."""
        self._parents = array("q")
        self._spoken = bytearray()
        """Of each node, whether on it, or on its children's children, someone but the harness speaks."""
        self._newest_child = array("q")
        self._newest_root = _ROOT
        self._ends: dict[int, int] = {}
        """The last node of the trail that begins at a node."""

    def add(self, name: int, parent: int | None, trail: Sequence[Draft]) -> Iterator[LoggedNode]:
        """Put `trail` behind the one called `parent`, which is there already; None is the root."""
        at = self._end_of_quiet(_ROOT if parent is None else self.tails[parent])
        first = len(self._parents)
        for draft in trail:
            at = self._plant(at, is_spoken=draft.origin != "injected")
            yield LoggedNode(draft=draft, parent=None if self._parents[at] == _ROOT else self._parents[at])
        self.tails[name] = self._ends[first] = len(self._parents) - 1

    def _plant(self, parent: int, *, is_spoken: bool) -> int:
        node = len(self._parents)
        if parent == _ROOT:
            self._newest_root = node
        else:
            self._newest_child[parent] = node
        self._parents.append(parent)
        self._newest_child.append(_ROOT)
        self._spoken.append(False)
        at = node
        while is_spoken and at != _ROOT and not self._spoken[at]:
            self._spoken[at] = True
            at = self._parents[at]
        return node

    def _end_of_quiet(self, at: int) -> int:
        """Where to go on from `at`: behind a branch in which the harness alone speaks, since no one rewound that."""
        while True:
            child = self._newest_root if at == _ROOT else self._newest_child[at]
            if child == _ROOT or self._spoken[child]:
                return at
            at = self._ends[child]
