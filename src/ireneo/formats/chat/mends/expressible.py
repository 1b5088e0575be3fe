"""What a format has no part for is said in text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from msgspec.structs import replace

from ireneo.formats.chat.mends.change import with_parts
from ireneo.formats.chat.notes import UNNAMED, media_note, opaque_note
from ireneo.log.message import Call, Draft, Media, Opaque, Part, Result, Text, Thinking

Carries: TypeAlias = Callable[[Media | Opaque, str], bool]
"""Whether a format can carry the part in a message of that role."""


def express_drafts(drafts: Sequence[Draft], carries: Carries) -> list[Draft]:
    """Leave out thinking, which goes back only as it came, and put a text in the place of what can't be carried."""
    return [express(draft, carries) for draft in drafts]


def express(draft: Draft, carries: Carries) -> Draft:
    """The same for one draft; one whose provider's payload stands for it is left as it is."""
    if draft.native is not None:
        return draft
    return with_parts(
        draft, [_said(part, draft.role, carries) for part in draft.parts if not isinstance(part, Thinking)]
    )


def _said(part: Part, role: str, carries: Carries) -> Part:
    if isinstance(part, Call):
        return part if part.name else replace(part, name=UNNAMED)
    if isinstance(part, Result):
        return replace(part, parts=tuple(_carried(each, "tool", carries) for each in part.parts))
    return _carried(part, role, carries) if isinstance(part, Media | Opaque) else part


def _carried(part: Text | Media | Opaque, role: str, carries: Carries) -> Text | Media | Opaque:
    if isinstance(part, Text) or carries(part, role):
        return part
    return Text(text=media_note(part) if isinstance(part, Media) else opaque_note(part))
