"""What is asked for about several complete turns."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from ireneo.prompts.turn.reply import DeadEnd, Kept, Short, Status


class GoalReply(Struct, frozen=True, kw_only=True):
    """The sections of a goal batch that a model writes; the user's words are carried beside it, verbatim."""

    goal_arc: Short
    achieved: Annotated[list[Short], Meta(max_length=12)] = []
    discoveries: Annotated[list[Short], Meta(max_length=10)] = []
    dead_ends: Annotated[list[DeadEnd], Meta(max_length=10)] = []
    key_artifacts: Annotated[list[Kept], Meta(max_length=20)] = []
    constraints: Annotated[list[Annotated[str, Meta(max_length=400)]], Meta(max_length=24)] = []
    """Standing constraints in the user's words, letter for letter."""
    status: Status
    status_because: Short = ""
