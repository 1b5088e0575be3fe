"""What the format can say, and the text that stands for the rest."""

from __future__ import annotations

from msgspec.structs import replace

from ireneo.formats.chat.mends.change import with_parts
from ireneo.formats.chat.notes import UNNAMED, media_note, opaque_note
from ireneo.formats.chat.openai.media import write_media
from ireneo.formats.chat.openai.names import NAME
from ireneo.log.message import Call, Draft, Media, Opaque, Part, Result, Text, Thinking

_OWN_PARTS = ("text", "refusal")
"""Content that has parts of its own; one that was not read as such is broken."""


def express(draft: Draft) -> Draft:
    """Say in text what the format has no content part for; thinking is left out, since it has no place for it."""
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
    if isinstance(part, Media) and not (role == "user" and write_media(part) is not None):
        return Text(text=media_note(part))
    if isinstance(part, Opaque) and not _is_content(part, role):
        return Text(text=opaque_note(part))
    return part


def _is_content(part: Opaque, role: str) -> bool:
    kind = part.payload.get("type")
    if part.format != NAME:
        return False
    if kind is None:
        # The one field of a message, and not of its content, that is carried so: a spoken answer's id.
        return role == "assistant" and list(part.payload) == ["audio"] and isinstance(part.payload["audio"], dict)
    return isinstance(kind, str) and kind not in _OWN_PARTS
