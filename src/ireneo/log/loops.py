"""Tool loops: all that an assistant does on one request, from its first call to its last word."""

from __future__ import annotations

from collections.abc import Sequence

from ireneo.log.message import Message


def next_loop(messages: Sequence[Message], *, running: bool) -> int:
    """The place in consecutive `messages` from which on no tool loop goes on that was `running` before them.

    A loop goes on with an assistant message that comes after a call or a result, where no user spoke since. A provider
    that binds a model's thinking wants that of a whole loop, or none of it.
    """
    for place, message in enumerate(messages):
        if message.role == "assistant" and not running:
            return place
        runs = _runs_on(message)
        running = running if runs is None else runs
    return len(messages)


def loop_runs(messages: Sequence[Message]) -> bool:
    """Whether a tool loop runs on behind consecutive `messages`; taken for granted where they don't tell."""
    told = (runs for message in reversed(messages) if (runs := _runs_on(message)) is not None)
    return next(told, bool(messages) and messages[0].position > 0)


def _runs_on(message: Message) -> bool | None:
    """Whether a tool loop runs on behind `message`; None where what stands before it settles that."""
    if message.opens_turn and not message.draft.joined:
        return False
    if message.role == "assistant":
        return bool(message.draft.calls)
    return True if message.role == "tool" else None


def running_turn(messages: Sequence[Message]) -> int:
    """The place in `messages` of the user's last words; 0 where nobody spoke."""
    return next((place for place in reversed(range(len(messages))) if messages[place].opens_turn), 0)
