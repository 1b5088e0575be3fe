"""What is asked for about a user's words."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct


class Quote(Struct, frozen=True, kw_only=True):
    """A constraint, word for word, and the number of the message that it stands in."""

    message: int
    quote: Annotated[str, Meta(max_length=400)]


class PinsReply(Struct, frozen=True, kw_only=True):
    """The standing constraints that were found."""

    constraints: Annotated[list[Quote], Meta(max_length=40)] = []
