"""What is asked for about a stretch of tool work."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

Short = Annotated[str, Meta(max_length=600)]
Status = Literal["COMPLETE", "PARTIAL", "BLOCKED"]


class DeadEnd(Struct, frozen=True, kw_only=True):
    """An approach that was tried and given up."""

    tried: Short
    because: Short


class Kept(Struct, frozen=True, kw_only=True):
    """A name that will be needed again, and what it is or what became of it."""

    name: Annotated[str, Meta(max_length=200)]
    what: Short


class TurnReply(Struct, frozen=True, kw_only=True):
    """The sections of a turn summary that a model writes; the operations come from the structure."""

    strategy: Short
    discoveries: Annotated[list[Short], Meta(max_length=12)] = []
    dead_ends: Annotated[list[DeadEnd], Meta(max_length=10)] = []
    what_worked: Annotated[list[Short], Meta(max_length=10)] = []
    critical_artifacts: Annotated[list[Kept], Meta(max_length=16)] = []
    status: Status
    status_because: Short = ""
