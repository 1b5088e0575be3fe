"""The log formats that Ireneo reads, and how to tell which one a file is."""

from __future__ import annotations

from ireneo.errors import UnknownFormat
from ireneo.formats.chat.anthropic import AnthropicMessages
from ireneo.formats.chat.openai import OpenAIChat
from ireneo.formats.chat.registry import CHAT_FORMATS
from ireneo.formats.logs.aider import Aider
from ireneo.formats.logs.atif import Atif
from ireneo.formats.logs.claude_code import ClaudeCode
from ireneo.formats.logs.codex import Codex
from ireneo.formats.logs.dialogue import Dialogue
from ireneo.formats.logs.documents import BOM
from ireneo.formats.logs.format import LogFormat
from ireneo.formats.logs.gemini_cli import GeminiCli
from ireneo.formats.logs.mini_swe_agent import MiniSweAgent
from ireneo.formats.logs.openhands import OpenHands
from ireneo.formats.logs.pi import Pi
from ireneo.formats.logs.specstory import SpecStory
from ireneo.formats.logs.swe_agent import SweAgent
from ireneo.formats.logs.transcripts import Transcript

LOG_FORMATS: tuple[LogFormat, ...] = (
    # Those first whose files begin with a mark of their own.
    SpecStory(),
    Aider(),
    Pi(),
    GeminiCli(),
    ClaudeCode(),
    Codex(),
    Atif(),
    # Before mini-SWE-agent, whose mark of a run's cost stands in its older sibling's files as well.
    SweAgent(),
    OpenHands(),
    MiniSweAgent(),
    Transcript(AnthropicMessages()),
    Transcript(OpenAIChat()),
    # The last: whatever another format knows is an agent's log and no story.
    Dialogue(),
)
"""Asked in this order whether they recognise a file; another format is one more line here."""


def log_format(name: str) -> LogFormat:
    """The format called `name`."""
    for known in LOG_FORMATS:
        if known.name == name:
            return known
    raise UnknownFormat(f"There is no log format {name!r}; the formats are {_names()}.")


def recognise(sample: bytes, filename: str) -> LogFormat:
    """The format of the file that begins with `sample`."""
    # A byte order mark says nothing about the format.
    sample = sample.removeprefix(BOM)
    for known in LOG_FORMATS:
        if known.recognises(sample):
            return known
    raise UnknownFormat(f"{filename} is in no log format that is known here; name it with --format: {_names()}.")


def chat_format_of(source: str | None) -> str | None:
    """The chat format of a session whose messages came from `source` (a format's name, perhaps with a file)."""
    name = (source or "").partition(":")[0]
    return next((known.chat for known in LOG_FORMATS if known.name == name), name if name in CHAT_FORMATS else None)


def _names() -> str:
    return ", ".join(known.name for known in LOG_FORMATS)
