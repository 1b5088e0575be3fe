"""The first message is the user's."""

from __future__ import annotations

from collections.abc import Sequence

from ireneo.formats.chat.mends.change import note
from ireneo.formats.chat.mends.systems import leading_systems
from ireneo.formats.chat.notes import BEGINNING
from ireneo.log.message import Draft


def open_with_user(drafts: Sequence[Draft]) -> list[Draft]:
    """Put a user message before a conversation that another role begins; an empty one stays empty."""
    first = leading_systems(drafts)
    if first == len(drafts) or drafts[first].role == "user":
        return list(drafts)
    return [*drafts[:first], note(BEGINNING), *drafts[first:]]
