"""What the format can say, and the text that stands for the rest."""

from __future__ import annotations

from msgspec.structs import replace

from ireneo.formats.chat.mends.change import with_parts
from ireneo.formats.chat.notes import UNNAMED, media_note, opaque_note
from ireneo.formats.chat.pydantic_ai.media import write_media
from ireneo.formats.chat.pydantic_ai.names import COMPACTION, CONTENT, NAME, SERVED, part_kind
from ireneo.log.message import Call, Draft, Media, Opaque, Part, Result, Text, Thinking


def express(draft: Draft) -> Draft:
    """Say in text what the format has no part for; thinking goes back only as it came."""
    if draft.native is not None:
        return draft
    said = [_said(part, draft.role) for part in draft.parts if not isinstance(part, Thinking)]
    return with_parts(draft, said)


def _said(part: Part, role: str) -> Part:
    if isinstance(part, Call):
        return part if part.name else replace(part, name=UNNAMED)
    if isinstance(part, Result):
        return replace(part, parts=tuple(_carried(each, "tool") for each in part.parts))
    return _carried(part, role) if isinstance(part, Media | Opaque) else part


def _carried(part: Text | Media | Opaque, role: str) -> Text | Media | Opaque:
    if isinstance(part, Media) and not _is_shown(part, role):
        return Text(text=media_note(part))
    if isinstance(part, Opaque) and not _is_part(part, role):
        return Text(text=opaque_note(part))
    return part


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
