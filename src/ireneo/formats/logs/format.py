"""The log formats by name, how a file's format is recognised, and base classes: sessions, faults, tree builder."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Final, Literal, NamedTuple, Protocol, TypeAlias, cast, overload, runtime_checkable

from msgspec import Struct
from msgspec.structs import replace

from ireneo.errors import UnknownFormat, UnreadableLog
from ireneo.formats.values import BOM, objects
from ireneo.log.message import Draft, Native, opens_turn


class LogFault(Struct, frozen=True, kw_only=True, gc=False):
    """A place in a log that could not be read, or only in part."""

    line: int
    """From 1."""
    message: str
    """One sentence: what is wrong there, and what was done about it."""


def line_fault(number: int, what: str) -> LogFault:
    """Return the fault of line `number`; `what` completes the sentence "Line 3 …"."""
    return LogFault(line=number, message=f"Line {number} {what}")


class LoggedNode(Struct, frozen=True, kw_only=True, gc=False):
    """A draft in the tree of a logged session; `parent` is the index of an earlier node."""

    draft: Draft
    parent: int | None


class LoggedSession(Struct, frozen=True, kw_only=True):
    """One session of a log as a tree."""

    id: str
    nodes: tuple[LoggedNode, ...]
    head: int
    """The index of the node at which the log ended."""
    faults: tuple[LogFault, ...] = ()

    @property
    def path(self) -> list[Draft]:
        """The drafts from the root to the head, without other branches."""
        out = []
        place: int | None = self.head
        while place is not None:
            node = self.nodes[place]
            out.append(node.draft)
            place = node.parent
        return out[::-1]


class StreamedSession:
    """A session of a log whose nodes are read one at a time, so that it need not fit into memory."""

    def __init__(self, id: str, nodes: Generator[LoggedNode, None, int], faults: Sequence[LogFault] = ()) -> None:
        """Read `nodes`, each after its parent; the generator returns the index of the head, and may add `faults`."""
        self.id = id
        self.faults = faults
        self._nodes = nodes
        self._head: int | None = None

    def __iter__(self) -> Iterator[LoggedNode]:
        """Read the nodes; once only."""
        self._head = yield from self._nodes

    @property
    def head(self) -> int:
        """The index of the node at which the log ended; known once all nodes were read."""
        if self._head is None:
            raise ValueError("The head is known once all nodes were read.")
        return self._head

    def whole(self) -> LoggedSession:
        """Read all nodes."""
        nodes = tuple(self)
        return LoggedSession(id=self.id, nodes=nodes, head=self.head, faults=tuple(self.faults))


def as_stream(logged: LoggedSession) -> StreamedSession:
    """Wrap a session that was read as a whole."""

    def nodes() -> Generator[LoggedNode, None, int]:
        yield from logged.nodes
        return logged.head

    return StreamedSession(logged.id, nodes(), logged.faults)


def in_a_row(drafts: Iterable[Draft]) -> Generator[LoggedNode, None, int]:
    """The nodes of a session without branches."""
    head = -1
    for head, draft in enumerate(drafts):
        yield LoggedNode(draft=draft, parent=head - 1 if head else None)
    return head


class LogFormat(Protocol):
    """One agent's log format."""

    name: str
    chat: str
    """The chat format that the model in such a log uses; contexts for the log are written in it."""

    def recognises(self, sample: bytes) -> bool:
        """Whether a file that begins with `sample` (64 KiB at most) is of this format."""

    def read(self, lines: Iterable[bytes], name: str) -> Iterator[LoggedSession]:
        """Read the sessions of a file one at a time; `name` is the id of those that have none of their own.

        A line that can't be read becomes a fault of its session, and the rest is kept. Raises UnreadableLog where
        there is no session at all.
        """


@runtime_checkable
class StreamingFormat(Protocol):
    """A log format whose sessions are large: they are stored while their nodes are read."""

    def grow(self, lines: Iterable[bytes], name: str) -> Iterator[StreamedSession]:
        """Read the sessions of a file as `LogFormat.read` does; each must be read before the next one is asked for."""


def nothing_readable(faults: Sequence[LogFault]) -> UnreadableLog:
    """Return the error of a file without any session, with its first fault as the reason."""
    return UnreadableLog(" ".join([str(UnreadableLog()), *(fault.message for fault in faults[:1])]))


def objects_in(
    document: Mapping[str, object], key: str, number: int, what: str
) -> tuple[list[dict[str, object]], list[LogFault]]:
    """Return the objects listed under `key` of the document on line `number`, and a fault for items of other types."""
    listed = document.get(key)
    found = objects(listed)
    left = len(listed) - len(found) if isinstance(listed, list) else 0
    return found, [line_fault(number, f"holds {left} {what} that are no objects; they were left out.")] if left else []


class UniqueNames:
    """Names that were given so far."""

    def __init__(self, given: Iterable[str] = ()) -> None:
        self._given: set[str] = set(given)
        self._next: dict[str, int] = {}
        """The number to try next for a name that was given before."""

    def choose(self, *wished: str) -> str:
        """Return the first of `wished` that is free, or else the last with a number appended."""
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
"""The key under which a record names the working directory of its message."""


class UnrecordedNode(Struct, kw_only=True, gc=False):
    """A node under construction, and the log's entries that will be its record."""

    draft: Draft
    parent: int | None
    entries: list[object]


class SessionBuilder:
    """Builds the tree of one session; each draft is added after `head`, which a format may move."""

    def __init__(self, form: str, *early: object) -> None:
        """Build a session of the log format `form`; `early` entries are recorded with the first draft."""
        self.nodes: list[UnrecordedNode] = []
        self.head: int | None = None
        self.faults: list[LogFault] = []
        self._form = form
        self._directory: str | None = None
        self._noted: list[object] = list(early)

    def note(self, *entries: object, at: int | None = None) -> None:
        """Record entries that are no message with the next draft, or with the node `at`."""
        (self._noted if at is None else self.nodes[at].entries).extend(entries)

    def set_directory(self, directory: str | None) -> None:
        """Set the working directory that is recorded with each draft; the first one holds for earlier drafts too."""
        if directory is None:
            return
        if self._directory is None:
            for node in self.nodes:
                node.entries.insert(0, {DIRECTORY: directory})
        self._directory = directory

    def add(self, draft: Draft, *entries: object, turns_in: str | None = None) -> int | None:
        """Append `draft`, or only note the entries of one without parts; returns the head."""
        if not draft.parts:
            self._noted += entries
            return self.head
        return self.append(draft, *entries, turns_in=turns_in)

    def append(self, draft: Draft, *entries: object, turns_in: str | None = None) -> int:
        """Append `draft` with the log's `entries` about it and those noted before; returns the new head.

        `turns_in` is a working directory that is recorded only where `draft` opens a turn.
        """
        directory = self._directory or (turns_in if opens_turn(draft) else None)
        kept = [*([{DIRECTORY: directory}] if directory else []), *self._noted, *entries]
        self._noted = []
        self.nodes.append(UnrecordedNode(draft=draft, parent=self.head, entries=kept))
        self.head = len(self.nodes) - 1
        return self.head

    def session(self, name: str) -> LoggedSession | None:
        """Return the session under the id `name`; None if it has no message."""
        if not self.nodes:
            return None
        self.nodes[-1].entries += self._noted
        nodes = tuple(LoggedNode(draft=self._with_record(node), parent=node.parent) for node in self.nodes)
        # If everything was rewound, the session is still at its newest message.
        head = len(nodes) - 1 if self.head is None else self.head
        return LoggedSession(id=name, nodes=nodes, head=head, faults=tuple(self.faults))

    def _with_record(self, node: UnrecordedNode) -> Draft:
        if not node.entries:
            return node.draft
        return replace(node.draft, record=Native(format=self._form, payload=node.entries))


# The formats that ship with Ireneo.

LogFormatName: TypeAlias = Literal[
    "specstory",
    "aider",
    "pi",
    "gemini-cli",
    "claude-code",
    "codex",
    "atif",
    "swe-agent",
    "openhands",
    "mini-swe-agent",
    "sillytavern",
    "character-card",
    "character-ai",
    "chatgpt",
    "discord",
    "oobabooga",
    "anthropic",
    "openai",
    "chat",
]
"""The name of a log format."""


class _Row(NamedTuple):
    """A format that is loaded when it is first needed."""

    name: LogFormatName
    home: str
    marks: tuple[bytes, ...] = ()
    """One of these is near the beginning of every file of the format; without any, the format is always loaded."""


_ROWS: Final = (
    # First, formats whose files begin with a mark of their own.
    _Row("specstory", "specstory.SpecStory", (b"<!-- ", b"## SpecStory")),
    _Row("aider", "aider.Aider", (b"# aider chat started at ",)),
    _Row("pi", "pi.Pi", (b'"session"', b'"toolResult"')),
    _Row("gemini-cli", "gemini_cli.GeminiCli", (b'"projectHash"',)),
    _Row("claude-code", "claude_code.ClaudeCode", (b'"uuid"', b'"leafUuid"', b'"isSnapshotUpdate"')),
    _Row(
        "codex",
        "codex.Codex",
        (
            *(b'"payload"', b'"record_type"', b'"instructions"', b'"git"', b'put_text"', b'_call"', b'_output"'),
            *(b'"reasoning"', b'"ghost_snapshot"', b'"compaction"'),
        ),
    ),
    _Row("atif", "trajectories.Atif", (b'"schema_version"', b'"step_id"')),
    # Before mini-SWE-agent, whose mark for a run's cost is in SWE-agent's files as well.
    _Row("swe-agent", "trajectories.SweAgent", (b'"trajectory"', b'"message_type"')),
    _Row("openhands", "openhands.OpenHands", (b'"kind"', b'"agent_class"', b'"action"', b'"observation"')),
    _Row(
        "mini-swe-agent", "trajectories.MiniSweAgent", (b'"trajectory_format"', b'"mini_version"', b'"instance_cost"')
    ),
    # Chats of people; before lists of messages, which such an export holds as well.
    _Row("sillytavern", "chats.SillyTavern", (b'"mes"', b'"user_name"', b'"chat_metadata"')),
    _Row(
        "character-card",
        "chats.CharacterCard",
        (b"\x89PNG", b'"chara_card_v', b'"lorebook_v', b'"first_mes"', b'"keysecondary"'),
    ),
    _Row("character-ai", "chats.CharacterAI", (b'"turn_key"', b'"histories"')),
    _Row("chatgpt", "chats.ChatGPT", (b'"mapping"',)),
    _Row("discord", "chats.Discord", (b'"guild"',)),
    _Row("oobabooga", "chats.Oobabooga", (b'"internal"', b'"data"')),
    _Row("anthropic", "trajectories.AnthropicTranscript", (b'"role"',)),
    _Row("openai", "trajectories.OpenAITranscript", (b'"role"',)),
    # Last: a file that another format recognises is not a story.
    _Row("chat", "dialogue.Dialogue"),
)
"""The formats, in the order in which they try to recognise a file."""


CONVERSATIONS: Final = frozenset(
    {"sillytavern", "character-card", "character-ai", "chatgpt", "discord", "oobabooga", "chat"}
)
"""Formats of chats that people edit: importing one again updates the session."""


@cache
def _load_format(row: _Row) -> LogFormat:
    module, _, of = row.home.partition(".")
    return cast("LogFormat", getattr(import_module(f"ireneo.formats.logs.{module}"), of)())


class _LogFormats(Sequence["LogFormat"]):
    """The formats, each loaded when it is first asked for."""

    @overload
    def __getitem__(self, index: int) -> LogFormat: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[LogFormat]: ...
    def __getitem__(self, index: int | slice) -> LogFormat | Sequence[LogFormat]:
        return [*self][index]

    def __iter__(self) -> Iterator[LogFormat]:
        return map(_load_format, _ROWS)

    def __len__(self) -> int:
        return len(_ROWS)


LOG_FORMATS: Final[Sequence[LogFormat]] = _LogFormats()
"""Every log format, in the order in which they try to recognise a file."""


def log_format(name: str) -> LogFormat:
    """Return the log format called `name`. Raises UnknownFormat."""
    for row in _ROWS:
        if row.name == name:
            return _load_format(row)
    raise UnknownFormat(f"There is no log format {name!r}; the formats are {_names()}.")


def recognise(sample: bytes, filename: str) -> LogFormat:
    """Return the format of the file that begins with `sample`. Raises UnknownFormat."""
    sample = sample.removeprefix(BOM)
    for row in _ROWS:
        marked = not row.marks or any(mark in sample for mark in row.marks)
        if marked and (known := _load_format(row)).recognises(sample):
            return known
    raise UnknownFormat(
        f"{filename} is in no log format that is known here; if it is a log, name its `format`: {_names()}."
    )


def _names() -> str:
    return ", ".join(row.name for row in _ROWS)
