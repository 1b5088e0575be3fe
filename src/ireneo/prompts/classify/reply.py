"""What is asked for about a text that is to be remembered."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

Word = Annotated[str, Meta(max_length=120)]


class ClassifyReply(Struct, frozen=True, kw_only=True):
    """The kind of a memory, and the slot that it fills."""

    kind: Literal["episodic", "semantic", "procedural", "failure"]
    subject: Word = ""
    attribute: Word = ""
    value: Word = ""
