"""What the format can say, and the text that stands for the rest."""

from __future__ import annotations

from msgspec.structs import replace

from ireneo.formats.chat.langchain.media import write_media
from ireneo.formats.chat.langchain.names import CALLS, NAME, TEXTS, THOUGHTS
from ireneo.formats.chat.mends.change import with_parts
from ireneo.formats.chat.notes import UNNAMED, media_note, opaque_note
from ireneo.log.message import Call, Draft, Media, Opaque, Part, Result, Text, Thinking

_OWN_PARTS = (*TEXTS, *CALLS, *THOUGHTS, "tool_result", "remove", "input_json_delta")
"""Blocks that have parts or messages of their own; one that was not read as such is broken."""


def express(draft: Draft) -> Draft:
    """Say in text what can't be shown to whatever provider is below; thinking goes back only as it came."""
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
    if isinstance(part, Opaque) and not _is_content(part):
        return Text(text=opaque_note(part))
    return part


def _is_content(part: Opaque) -> bool:
    return part.format == NAME and part.payload.get("type") not in _OWN_PARTS
