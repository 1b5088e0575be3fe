"""What a context is made with: its budget, policy and tokenizer, and what was noted by hand."""

from __future__ import annotations

from functools import cached_property
from typing import Literal

from msgspec import Struct

from ireneo.context.allot import Statements
from ireneo.log.tree import Annotation, AnnotationId
from ireneo.log.weigh import Count
from ireneo.summaries.pins import pinned
from ireneo.summaries.policy import Policy
from ireneo.summaries.summary import Line, Summary
from ireneo.summaries.work import strategy_of

Thinking = Literal["prefix", "turn", "none"]
"""When signed thinking may be shown: as long as nothing before it was changed; in the turn that is running; never."""


class ContextOptions(Struct, frozen=True, kw_only=True, dict=True):
    """What a context is asked for."""

    budget: int
    policy: Policy
    count: Count
    thinking: Thinking = "none"
    asked: Thinking | None = None
    """What the caller says of the model's thinking; None: as the format has it."""
    notes: tuple[Annotation, ...] = ()
    """The pins, releases and disputes along the path."""
    rebuild: bool = False
    """The context is to be made anew, whatever its beginning was until now."""
    idle_seconds: float | None = None
    """How long no context was asked for; None where that is not known."""

    kept: Statements | None = None
    """What is known of lines from contexts before, as `count` counts them."""

    @cached_property
    def statements(self) -> Statements:
        """What is known of the lines of summaries."""
        return self.kept or Statements(self.count, strategy_of(self.policy))

    def ruled(self, rule: Thinking) -> Thinking:
        """Which thinking may be shown in a format that has this rule, where the caller says nothing else."""
        return rule if rule == "none" or self.asked is None else self.asked

    @cached_property
    def pins(self) -> tuple[list[Line], list[Line]]:
        """The pins and the releases among the notes."""
        return pinned(self.notes)

    @cached_property
    def disputes(self) -> dict[str, list[Annotation]]:
        """The disputes by the stretch that they are about."""
        out: dict[str, list[Annotation]] = {}
        for note in self.notes:
            if note.kind == "dispute":
                out.setdefault(note.about, []).append(note)
        return out

    def disputes_of(self, summary: Summary) -> list[AnnotationId]:
        """The ids of the disputes of what a summary covers."""
        return [note.id for note in self.disputes.get(summary.stretch, ())]

    def doubts(self, summary: Summary) -> list[Annotation]:
        """The disputes of a summary that it was not written in view of."""
        answered = summary.writing.disputes if summary.writing else ()
        return [note for note in self.disputes.get(summary.stretch, ()) if note.id not in answered]
