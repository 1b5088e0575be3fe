"""A system prompt stands at the beginning, where the format has no other place for one."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ireneo.formats.chat.notes import SYSTEM
from ireneo.log.message import Draft, Text


def leading_systems(drafts: Sequence[Draft]) -> int:
    """How many system drafts stand at the beginning."""
    return next((index for index, draft in enumerate(drafts) if draft.role != "system"), len(drafts))


def quote_later_systems(drafts: Sequence[Draft]) -> list[Draft]:
    """Make user texts, marked as what they are, of the system drafts that stand further on; blank ones go."""
    first = leading_systems(drafts)
    out = list(drafts[:first])
    for draft in drafts[first:]:
        if draft.role != "system":
            out.append(draft)
        elif draft.text.strip():
            out.append(_quoted(draft))
    return out


def join_systems(drafts: Sequence[Draft]) -> list[Draft]:
    """Make one of the system drafts at the beginning."""
    first = leading_systems(drafts)
    if first < 2:
        return list(drafts)
    parts = tuple(part for draft in drafts[:first] for part in draft.parts)
    return [replace(drafts[0], parts=parts, native=None), *drafts[first:]]


def _quoted(draft: Draft) -> Draft:
    parts = (Text(text=f"{SYSTEM} {draft.text}"),)
    return replace(draft, role="user", origin="injected", parts=parts, joined=False, native=None)
