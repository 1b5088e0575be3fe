"""The words of the format."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

NAME: Final = "pydantic-ai"

REQUEST: Final = "request"
RESPONSE: Final = "response"

Voice: TypeAlias = Literal["system", "user", "tool", "harness", "summary"]
"""Who speaks in a part of a request."""

SYSTEM: Final = "system-prompt"
PROMPT: Final = "user-prompt"
RETURN: Final = "tool-return"
RETRY: Final = "retry-prompt"
FEEDBACK: Final = "retry-feedback"
COMPACTION: Final = "compaction"
SPEECH: Final = "speech"

TEXT: Final = "text"
THINKING: Final = "thinking"
CALL: Final = "tool-call"
FILE: Final = "file"
SERVED: Final = ("builtin-tool-call", "builtin-tool-return")
"""A call that the provider ran, and its result: what becomes of them is the library's to know."""

ONLY_IN_REQUESTS: Final = (SYSTEM, PROMPT, RETURN, RETRY, FEEDBACK)
ONLY_IN_RESPONSES: Final = (TEXT, THINKING, CALL, FILE, *SERVED)

CONTENT: Final = ("cache-point", "uploaded-file")
"""Items of a prompt that are neither words nor media that can be read."""


def kind_named(message: dict[str, object]) -> str:
    """Whether a message is a request or a response; empty where it is neither."""
    kind = message.get("kind")
    return kind if isinstance(kind, str) and kind in (REQUEST, RESPONSE) else ""


def part_kind(part: dict[str, object]) -> str:
    """The kind of a part; empty where it has none."""
    kind = part.get("part_kind")
    return kind if isinstance(kind, str) else ""


def voice_of(part: dict[str, object]) -> Voice | None:
    """Who speaks in a part of a request; None where it only records something for the library."""
    kind = part_kind(part)
    if kind == RETRY:
        # One that names no tool is about the response as a whole.
        return "tool" if isinstance(part.get("tool_name"), str) else "harness"
    return _VOICES.get(kind)


_VOICES: dict[str, Voice] = {
    SYSTEM: "system",
    PROMPT: "user",
    SPEECH: "user",
    RETURN: "tool",
    FEEDBACK: "harness",
    COMPACTION: "summary",
}
