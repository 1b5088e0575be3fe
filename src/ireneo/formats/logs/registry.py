"""The log formats that ship with Ireneo, and how the format of a file is recognised."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias, overload

from ireneo.errors import UnknownFormat
from ireneo.formats.values import BOM

if TYPE_CHECKING:
    from ireneo.formats.logs.format import LogFormat

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
    """One of these is near the beginning of every file of the format; empty: the format is always loaded."""


_ROWS: Final = (
    # First the formats whose files begin with a mark of their own.
    _Row("specstory", "specstory.SpecStory", (b"<!-- ",)),
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
    # Before mini-SWE-agent, whose mark of a run's cost is in SWE-agent's files as well.
    _Row("swe-agent", "trajectories.SweAgent", (b'"trajectory"', b'"message_type"')),
    _Row("openhands", "openhands.OpenHands", (b'"kind"', b'"agent_class"', b'"action"', b'"observation"')),
    _Row(
        "mini-swe-agent",
        "trajectories.MiniSweAgent",
        (b'"trajectory_format"', b'"mini_version"', b'"instance_cost"'),
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
    _Row("anthropic", "transcripts.AnthropicTranscript", (b'"role"',)),
    _Row("openai", "transcripts.OpenAITranscript", (b'"role"',)),
    # The last: what another format recognises is no story.
    _Row("chat", "dialogue.Dialogue"),
)
"""The formats in the order in which they are asked whether they recognise a file."""


CONVERSATIONS: Final = frozenset(
    {"sillytavern", "character-card", "character-ai", "chatgpt", "discord", "oobabooga", "chat"}
)
"""Formats of chats that people edit: importing one again updates the session to its present state."""


class _LogFormats(Sequence["LogFormat"]):
    """The formats, each loaded when it is first asked for."""

    def __init__(self) -> None:
        self._loaded: dict[str, LogFormat] = {}

    def of(self, row: _Row) -> LogFormat:
        """Load the format of a row."""
        if row.name not in self._loaded:
            module, _, of = row.home.partition(".")
            self._loaded[row.name] = getattr(import_module(f"ireneo.formats.logs.{module}"), of)()
        return self._loaded[row.name]

    @overload
    def __getitem__(self, index: int) -> LogFormat: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[LogFormat]: ...
    def __getitem__(self, index: int | slice) -> LogFormat | Sequence[LogFormat]:
        return [*self][index]

    def __iter__(self) -> Iterator[LogFormat]:
        return map(self.of, _ROWS)

    def __len__(self) -> int:
        return len(_ROWS)


_FORMATS = _LogFormats()
LOG_FORMATS: Final[Sequence[LogFormat]] = _FORMATS
"""Every log format, in the order in which they are asked whether they recognise a file."""


def log_format(name: str) -> LogFormat:
    """Return the format of that name. Raises UnknownFormat."""
    for row in _ROWS:
        if row.name == name:
            return _FORMATS.of(row)
    raise UnknownFormat(f"There is no log format {name!r}; the formats are {_names()}.")


def recognise(sample: bytes, filename: str) -> LogFormat:
    """Return the format of the file that begins with `sample`. Raises UnknownFormat."""
    sample = sample.removeprefix(BOM)
    for row in _ROWS:
        marked = not row.marks or any(mark in sample for mark in row.marks)
        if marked and (known := _FORMATS.of(row)).recognises(sample):
            return known
    raise UnknownFormat(f"{filename} is in no log format that is known here; name it with --format: {_names()}.")


def _names() -> str:
    return ", ".join(row.name for row in _ROWS)
