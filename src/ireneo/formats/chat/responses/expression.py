"""What the format can say, and the text that stands for the rest."""

from __future__ import annotations

from msgspec.structs import replace

from ireneo.formats.chat.mends.change import with_parts
from ireneo.formats.chat.mends.names import fitting_name
from ireneo.formats.chat.notes import media_note, opaque_note
from ireneo.formats.chat.reading import text_or
from ireneo.formats.chat.responses.media import write_media
from ireneo.formats.chat.responses.names import (
    APPROVAL,
    MESSAGE,
    NAME,
    REASONING,
    content_fits,
    is_call,
    is_output,
    kind_of,
)
from ireneo.log.message import Call, Draft, Media, Opaque, Part, Result, Text, Thinking

_OWN_PARTS = ("input_text", "output_text", "refusal")
"""Content that has parts of its own; one that was not read as such is broken."""


def express(draft: Draft) -> Draft:
    """Say in text what the format has no item for; reasoning that isn't sealed, or sealed elsewhere, is left out."""
    if draft.native is not None:
        return draft
    return with_parts(draft, [_said(part, draft.role) for part in draft.parts if not _is_foreign(part)])


def _is_foreign(part: Part) -> bool:
    return isinstance(part, Thinking) and (part.sealed is None or part.format != NAME)


def _said(part: Part, role: str) -> Part:
    if isinstance(part, Call):
        return replace(part, name=fitting_name(part.name))
    if isinstance(part, Result):
        return replace(part, parts=tuple(_carried(each, "tool") for each in part.parts))
    return _carried(part, role) if isinstance(part, Media | Opaque) else part


def _carried(part: Text | Media | Opaque, role: str) -> Text | Media | Opaque:
    if isinstance(part, Media) and not (role in ("user", "tool") and write_media(part) is not None):
        return Text(text=media_note(part))
    if isinstance(part, Opaque) and not _is_carried(part, role):
        return Text(text=opaque_note(part))
    return part


def _is_carried(part: Opaque, role: str) -> bool:
    if part.format != NAME or role == "system":
        return False
    kind = text_or(part.payload.get("type"))
    if role == "assistant":
        return _is_item(part.payload)
    return (content_fits(kind, role) and kind not in _OWN_PARTS) or (kind == APPROVAL and role == "user")


def _is_item(payload: dict[str, object]) -> bool:
    """Whether it stands in the list as it is: an item of the provider's, or a message of content that we can't read."""
    kind = kind_of(payload)
    if kind != MESSAGE:
        return kind not in ("", REASONING, APPROVAL) and not is_call(payload) and not is_output(payload)
    content = payload.get("content")
    block = content[0] if isinstance(content, list) and len(content) == 1 else None
    shown = text_or(block.get("type")) if isinstance(block, dict) else ""
    return payload.get("role") == "assistant" and content_fits(shown, "assistant") and shown not in _OWN_PARTS
