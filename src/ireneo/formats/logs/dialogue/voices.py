"""The message that a voice speaks: who its author is, and which role that is to a model."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from msgspec.structs import replace

from ireneo.log.message import Draft, Native, Role, Text

_ROLES: Mapping[str, Role] = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "bot": "assistant",
    "system": "system",
    "tool": "tool",
}
"""Names that are no author's, but say which role speaks."""


def spoken(
    author: str | None,
    text: str,
    *,
    at: datetime | None = None,
    id: str | None = None,
    present: tuple[str, ...] | None = None,
    besides: Mapping[str, object] | None = None,
) -> Draft:
    """The draft of `text`, said by `author` (None: a narrator, or nobody knows); `besides` is kept as its record."""
    role = _ROLES.get(author.casefold()) if author else None
    return Draft(
        role=role or "user",
        parts=(Text(text=text, author=None if role else author, present=present),),
        at=at,
        source_id=id,
        record=Native(format="chat", payload=[besides]) if besides else None,
    )


def with_besides(draft: Draft, besides: Mapping[str, object]) -> Draft:
    """`draft` with what its file says of the whole episode kept in its record too."""
    own = draft.record.payload if draft.record else []
    return replace(draft, record=Native(format="chat", payload=[besides, *(own if isinstance(own, list) else [])]))
