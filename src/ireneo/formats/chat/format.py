"""What a chat format is: three pure functions, and the values that they exchange."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from msgspec import Struct

from ireneo.log.message import Draft


class Payload(Struct, frozen=True, kw_only=True):
    """What is sent to a provider: its message list and, where the format keeps it apart, the system prompt."""

    messages: list[dict[str, object]]
    system: str | list[dict[str, object]] | None = None


class Violation(Struct, frozen=True, kw_only=True):
    """A rule of the format that a message list breaks, and where."""

    rule: str
    """The rule's name, such as ``orphaned-result``."""
    index: int
    """The place of the message in the list, from 0."""
    message: str
    """One sentence: what is wrong, and what the provider wants instead."""


ThinkingRule = Literal["prefix", "turn", "none"]
"""When a model's signed thinking may go back: ``prefix``, as long as nothing before it was changed; ``turn``, within
the turn that is running, whatever was changed before; ``none``, the format has no place for it."""


class ChatFormat(Protocol):
    """One provider's message format."""

    name: str
    thinking: ThinkingRule

    def decode(self, payload: object) -> list[Draft]:
        """Read a message list, or an object that holds one under `messages`.

        Raises UnreadableLog with the fault's place.
        """

    def encode(self, drafts: Sequence[Draft]) -> Payload:
        """Write drafts as a message list that passes `validate`, mending what a cut may have left (see each format)."""

    def validate(self, payload: Payload, *, thinking: bool = False) -> list[Violation]:
        """Name every rule that the list breaks; an empty list is valid.

        With `thinking`, those too that hold where extended thinking is on for the next call.
        """
