"""What is asked for when episodes are looked back on."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

Word = Annotated[str, Meta(max_length=120)]


class Drawn(Struct, frozen=True, kw_only=True):
    """One conclusion."""

    text: Annotated[str, Meta(max_length=600)]
    episodes: Annotated[list[int], Meta(max_length=40)]
    """The numbers of the episodes that it rests on."""
    kind: Literal["semantic", "procedural"] = "semantic"
    subject: Word = ""
    attribute: Word = ""
    """Of a fact: what it is about, and which of its properties it tells."""
    task_type: Word = ""
    name: Word = ""
    """Of a procedure: for which sort of task it is, and what it is called."""


class ReflectReply(Struct, frozen=True, kw_only=True):
    """What lasts of the episodes; nothing where nothing does."""

    conclusions: Annotated[list[Drawn], Meta(max_length=6)] = []
