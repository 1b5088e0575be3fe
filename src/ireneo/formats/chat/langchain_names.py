"""The words of LangChain's messages."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from ireneo.log.message import Role

NAME: Final = "langchain"

ROLES: Final[MappingProxyType[str, Role]] = MappingProxyType(
    {
        "system": "system",
        "human": "user",
        "ai": "assistant",
        "tool": "tool",
        "function": "tool",
        "chat": "user",
        "remove": "user",
    }
)
"""Whose message each type is; one of `chat` says itself who speaks."""

SPEAKERS: Final[MappingProxyType[str, Role]] = MappingProxyType(
    {"system": "system", "developer": "system", "assistant": "assistant", "ai": "assistant", "model": "assistant"}
)
"""The speakers of a `chat` message who are not the user."""

CHUNK: Final = "MessageChunk"
"""What the type of a streamed message ends with: ``AIMessageChunk``."""

SOURCE: Final = "lc_source"
"""Which feature of the harness added a message that nobody said."""
SUMMARISED: Final = "summarization"
"""What LangChain's own summarising marks its summaries with."""

CALLS: Final = ("tool_use", "tool_call", "function_call", "invalid_tool_call", "tool_call_chunk")
"""Blocks that say a call once more, as its provider spelled it."""
THOUGHTS: Final = ("thinking", "redacted_thinking", "reasoning", "reasoning_content")
TEXTS: Final = ("text", "refusal")


def type_named(message: dict[str, object]) -> str:
    """The type of a message, that of the whole one where it was streamed; empty where it has none that is known."""
    said = message.get("type")
    kind = said if isinstance(said, str) else ""
    if kind.endswith(CHUNK):
        kind = kind.removesuffix(CHUNK).lower()
    return kind if kind in ROLES else ""


def role_named(message: dict[str, object]) -> Role | None:
    """Whose message it is; None where its type is unknown."""
    kind = type_named(message)
    data = message.get("data")
    if kind == "chat" and isinstance(data, dict):
        speaker = data.get("role")
        return SPEAKERS.get(speaker.lower(), "user") if isinstance(speaker, str) else "user"
    return ROLES.get(kind)
