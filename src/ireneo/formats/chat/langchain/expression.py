"""What the format can carry to whatever provider is below."""

from __future__ import annotations

from ireneo.formats.chat.langchain.media import write_media
from ireneo.formats.chat.langchain.names import CALLS, NAME, TEXTS, THOUGHTS
from ireneo.log.message import Media, Opaque

_OWN_PARTS = (*TEXTS, *CALLS, *THOUGHTS, "tool_result", "remove", "input_json_delta")
"""Blocks that have parts or messages of their own; one that was not read as such is broken."""


def carries(part: Media | Opaque, role: str) -> bool:
    """Whether a message of that role has a block for it."""
    if isinstance(part, Media):
        return role == "user" and write_media(part) is not None
    return part.format == NAME and part.payload.get("type") not in _OWN_PARTS
