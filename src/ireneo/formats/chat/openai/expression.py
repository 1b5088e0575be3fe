"""What the format can carry."""

from __future__ import annotations

from ireneo.formats.chat.openai.media import write_media
from ireneo.formats.chat.openai.names import NAME
from ireneo.log.message import Media, Opaque

_OWN_PARTS = ("text", "refusal")
"""Content that has parts of its own; one that was not read as such is broken."""


def carries(part: Media | Opaque, role: str) -> bool:
    """Whether a message of that role has a content part for it."""
    if isinstance(part, Media):
        return role == "user" and write_media(part) is not None
    return _is_content(part, role)


def _is_content(part: Opaque, role: str) -> bool:
    kind = part.payload.get("type")
    if part.format != NAME:
        return False
    if kind is None:
        # The one field of a message, and not of its content, that is carried so: a spoken answer's id.
        return role == "assistant" and list(part.payload) == ["audio"] and isinstance(part.payload["audio"], dict)
    return isinstance(kind, str) and kind not in _OWN_PARTS
