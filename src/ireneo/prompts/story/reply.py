"""What is asked for about a stretch of a story."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from ireneo.context.thread import ThreadKind

Name = Annotated[str, Meta(max_length=120)]


class ThreadSaid(Struct, frozen=True, kw_only=True):
    """A thread that a model found: what is promised, owed, hidden, suffered or asked, and not at its end yet."""

    kind: ThreadKind
    text: Annotated[str, Meta(max_length=400)]
    """One sentence that can be understood by itself."""
    who: Name = ""
    whom: Name = ""


class StoryReply(Struct, frozen=True, kw_only=True):
    """The prose that stands for a stretch of a story, and what became of threads in it."""

    text: Annotated[str, Meta(max_length=8_000)]
    names: Annotated[list[Name], Meta(max_length=32)] = []
    """People, places and things that matter, as the story spells them."""
    opened: Annotated[list[ThreadSaid], Meta(max_length=16)] = []
    resolved: Annotated[list[Name], Meta(max_length=40)] = []
    """The short ids of the threads that came to their end here."""
