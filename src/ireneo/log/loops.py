"""Tool loops: all that an assistant does on one request, from its first call to its last word."""

from __future__ import annotations

from collections.abc import Sequence

from ireneo.log.message import Message


def next_loop(messages: Sequence[Message]) -> int:
    """The place in consecutive `messages` from which on no tool loop goes on that began before the first of them.

    A loop ends with an assistant message that makes no call, or where a user speaks. A provider that binds a model's
    thinking wants that of a whole loop, or none of it.
    """
    for place, message in enumerate(messages):
        if message.opens_turn and not message.draft.joined:
            return place
        if message.role == "assistant" and not message.draft.calls:
            return place + 1
    return len(messages)


def running_turn(messages: Sequence[Message]) -> int:
    """The place in `messages` of the user's last words; 0 where nobody spoke."""
    return next((place for place in reversed(range(len(messages))) if messages[place].opens_turn), 0)
