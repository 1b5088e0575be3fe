"""What the format can carry."""

from __future__ import annotations

from ireneo.formats.chat.pydantic_ai.media import write_media
from ireneo.formats.chat.pydantic_ai.names import COMPACTION, CONTENT, NAME, SERVED, part_kind
from ireneo.log.message import Media, Opaque


def carries(part: Media | Opaque, role: str) -> bool:
    """Whether a message of that role has a part for it."""
    return _is_shown(part, role) if isinstance(part, Media) else _is_part(part, role)


def _is_shown(media: Media, role: str) -> bool:
    if role == "user":
        return write_media(media) is not None
    return role in ("assistant", "tool") and media.data is not None


def _is_part(part: Opaque, role: str) -> bool:
    if part.format != NAME:
        return False
    if role == "assistant":
        kind = part_kind(part.payload)
        return kind == COMPACTION or (kind in SERVED and isinstance(part.payload.get("tool_name"), str))
    return role == "user" and part.payload.get("kind") in CONTENT
