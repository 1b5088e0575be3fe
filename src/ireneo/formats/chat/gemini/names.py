"""The words of the format, in both of their spellings."""

from __future__ import annotations

from typing import Final

NAME: Final = "gemini"

ROLES: Final = ("user", "model")
READ_ROLES: Final = (*ROLES, "function")
"""The last is an older name for who brings results; it is read, and reported."""

CALL: Final = "functionCall"
RESULT: Final = "functionResponse"
INLINE: Final = "inlineData"
FILE: Final = "fileData"
SIGNATURE: Final = "thoughtSignature"
MEDIA_TYPE: Final = "mimeType"
URI: Final = "fileUri"

_SNAKE: Final = {
    CALL: "function_call",
    RESULT: "function_response",
    INLINE: "inline_data",
    FILE: "file_data",
    SIGNATURE: "thought_signature",
    MEDIA_TYPE: "mime_type",
    URI: "file_uri",
}


def field(record: dict[str, object], name: str) -> object:
    """What stands under `name`, in either spelling; None where nothing does."""
    found = record.get(name)
    return found if found is not None else record.get(_SNAKE[name])


def without(record: dict[str, object], name: str) -> dict[str, object]:
    """`record` without `name`, in either spelling."""
    return {key: value for key, value in record.items() if key not in (name, _SNAKE[name])}


def role_in(content: dict[str, object]) -> str:
    """Who speaks; a content that doesn't say so is the user's. Empty where it says something else than a word."""
    role = content.get("role")
    return "user" if role is None else role if isinstance(role, str) else ""


def parts_in(content: dict[str, object]) -> list[dict[str, object]]:
    """The parts of a content, as far as they are parts."""
    listed = content.get("parts")
    return [part for part in listed if isinstance(part, dict)] if isinstance(listed, list) else []
