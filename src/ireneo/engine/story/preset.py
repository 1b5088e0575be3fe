"""Which preset a session is cut with where none is named."""

from __future__ import annotations

from ireneo.context.policy import STORY, Policy

CHAT = "chat"
"""The log format of transcripts with authors: what comes from there is a story."""


def preset_of(source: str | None, own: Policy) -> Policy:
    """The preset of a session that came from `source`: a story's, or the memory's `own`."""
    return STORY if (source or "").partition(":")[0] == CHAT else own
