"""What the format can say, and the text that stands for the rest."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ireneo.formats.chat.anthropic.media import write_media
from ireneo.formats.chat.anthropic.names import (
    CALL,
    NAME,
    RESULT,
    THINKING,
    is_server_call,
    is_server_result,
    kind_of,
)
from ireneo.formats.chat.anthropic.server import is_server_block
from ireneo.formats.chat.mends.change import with_parts
from ireneo.formats.chat.mends.names import fitting_name
from ireneo.formats.chat.notes import media_note, opaque_note
from ireneo.log.message import Call, Draft, Media, Opaque, Part, Result, Text, Thinking, opens_turn

_OWN_PARTS = ("", "text", CALL, RESULT, *THINKING)
"""Blocks that have parts of their own; one that was not read as such is broken."""


def express(draft: Draft) -> Draft:
    """Say in text what the format has no block for; thinking that is unsigned, or signed elsewhere, is left out."""
    if draft.native is not None:
        return draft
    return with_parts(draft, [_said(part, draft.role) for part in draft.parts if not _is_foreign(part)])


def whole_loops(drafts: Sequence[Draft]) -> list[Draft]:
    """Take the signed thinking out of a tool loop in which a thought is no longer signed.

    Where a secret stood in it, a thought has lost its signature and is left out; the provider takes that of a whole
    loop, or none.
    """
    out: list[Draft] = []
    start = 0
    for place, draft in enumerate(drafts):
        if opens_turn(draft) and not draft.joined:
            out += _whole_loop(drafts[start:place])
            start = place
    return out + _whole_loop(drafts[start:])


def _whole_loop(drafts: Sequence[Draft]) -> list[Draft]:
    thoughts = [part for draft in drafts for part in draft.parts if isinstance(part, Thinking)]
    calls = any(draft.calls for draft in drafts)
    if not calls or all(part.is_bound or part.format not in (None, NAME) for part in thoughts):
        return list(drafts)
    return [
        with_parts(draft, [part for part in draft.parts if not isinstance(part, Thinking)])
        if any(isinstance(part, Thinking) and not _is_foreign(part) for part in draft.parts)
        else draft
        for draft in drafts
    ]


def _is_foreign(part: Part) -> bool:
    return isinstance(part, Thinking) and not (part.is_bound and part.format in (None, NAME))


def _said(part: Part, role: str) -> Part:
    if isinstance(part, Call):
        return part if part.server else replace(part, name=fitting_name(part.name))
    if isinstance(part, Result):
        if role == "assistant" and is_server_block(part):
            return part
        return replace(part, parts=tuple(_carried(each, True) for each in part.parts))
    return _carried(part, role == "user") if isinstance(part, Media | Opaque) else part


def _carried(part: Text | Media | Opaque, shown: bool) -> Text | Media | Opaque:
    if isinstance(part, Media) and not (shown and write_media(part) is not None):
        return Text(text=media_note(part))
    if isinstance(part, Opaque) and not _is_block(part):
        return Text(text=opaque_note(part))
    return part


def _is_block(part: Opaque) -> bool:
    kind = kind_of(part.payload)
    broken = kind in _OWN_PARTS or is_server_call(kind) or is_server_result(kind)
    return part.format == NAME and not broken
