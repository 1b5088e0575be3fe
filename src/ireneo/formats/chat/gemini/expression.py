"""What the format can say, and the text that stands for the rest."""

from __future__ import annotations

from msgspec.structs import replace

from ireneo.formats.chat.gemini.media import write_media
from ireneo.formats.chat.gemini.names import NAME
from ireneo.formats.chat.gemini.parts import read_part
from ireneo.formats.chat.mends.change import with_parts
from ireneo.formats.chat.notes import UNNAMED, media_note, opaque_note
from ireneo.log.message import Call, Draft, Media, Opaque, Part, Result, Text, Thinking


def express(draft: Draft) -> Draft:
    """Say in text what the format has no part for; empty texts and the thinking of others are left out."""
    if draft.native is not None:
        return draft
    kept = draft.parts if draft.role == "system" else [part for part in draft.parts if not _says_nothing(part)]
    return with_parts(draft, [_said(part, draft.role) for part in kept])


def _says_nothing(part: Part) -> bool:
    if isinstance(part, Thinking):
        return part.format != NAME or not (part.text or part.signature)
    return isinstance(part, Text) and not part.text


def _said(part: Part, role: str) -> Part:
    if isinstance(part, Call):
        return part if part.name else replace(part, name=UNNAMED)
    if isinstance(part, Result):
        return replace(part, parts=tuple(_carried(each, "tool") for each in part.parts))
    return _carried(part, role) if isinstance(part, Media | Opaque) else part


def _carried(part: Text | Media | Opaque, role: str) -> Text | Media | Opaque:
    shown = role in ("user", "assistant")
    if isinstance(part, Media) and not (shown and write_media(part) is not None):
        return Text(text=media_note(part))
    if isinstance(part, Opaque) and not (shown and _is_part(part)):
        return Text(text=opaque_note(part))
    return part


def _is_part(part: Opaque) -> bool:
    # One that would be read as something else has parts of its own, and is broken if it was not read so before.
    own = ("text", "functionCall", "function_call", "functionResponse", "function_response")
    says = any(value is not None for key, value in part.payload.items() if key != "thought")
    if part.format != NAME or not says or any(name in part.payload for name in own):
        return False
    return read_part(part.payload, "model", "part") == [part]
