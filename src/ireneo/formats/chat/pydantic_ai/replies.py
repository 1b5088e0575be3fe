"""The parts of a response: what the model said, thought and called."""

from __future__ import annotations

import msgspec

from ireneo.formats.chat.pydantic_ai.media import read_media
from ireneo.formats.chat.pydantic_ai.names import CALL, FILE, NAME, SPEECH, TEXT, THINKING, part_kind
from ireneo.formats.chat.reading import text_or, words
from ireneo.log.message import Call, Opaque, Part, Text, Thinking


def read_reply(part: dict[str, object], place: str) -> Part:
    """The part that a part of a response is; one of a kind that is not known here stays as it is."""
    kind = part_kind(part)
    read: Part | None = None
    if kind == TEXT:
        read = Text(text=words(part.get("content"), f"{place}, content"))
    elif kind == THINKING:
        read = _thinking(part, place)
    elif kind == CALL:
        name = words(part.get("tool_name"), f"{place}, tool_name")
        read = Call(id=text_or(part.get("tool_call_id")), name=name, arguments=_arguments(part.get("args")))
    elif kind == FILE:
        read = read_media(part.get("content"))
    elif kind == SPEECH and isinstance(part.get("transcript"), str):
        read = Text(text=text_or(part.get("transcript")))
    return read or Opaque(format=NAME, payload=part)


def _thinking(part: dict[str, object], place: str) -> Thinking:
    signature = text_or(part.get("signature")) or None
    text = words(part.get("content"), f"{place}, content")
    return Thinking(text=text, signature=signature, format=NAME if signature else None)


def _arguments(given: object) -> dict[str, object] | str:
    if isinstance(given, dict):
        return given
    if not isinstance(given, str) or not given.strip():
        return {}
    try:
        parsed = msgspec.json.decode(given)
    except (msgspec.DecodeError, RecursionError):
        # What the model wrote is kept as it wrote it.
        return given
    return parsed if isinstance(parsed, dict) else given
