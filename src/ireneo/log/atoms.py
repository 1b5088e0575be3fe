"""The smallest groups of messages that no cut may split: a tool call with all its results."""

from __future__ import annotations

from collections.abc import Sequence

from ireneo.log.message import Message


def atoms(messages: Sequence[Message]) -> list[tuple[Message, ...]]:
    """Group consecutive `messages` into atoms, in order; together they are `messages` again.

    An assistant message that makes calls holds everything up to the last message that answers one of them
    (a joined draft belongs to the provider message before it, and so to its atom). Every other message stands alone.
    """
    out: list[tuple[Message, ...]] = []
    start = 0
    while start < len(messages):
        end = _end_of_atom(messages, start)
        out.append(tuple(messages[start:end]))
        start = end
    return out


def _end_of_atom(messages: Sequence[Message], start: int) -> int:
    """Find the place behind the atom that begins at `start`."""
    waiting = {call.id for call in messages[start].draft.calls if not call.server}
    end = start + 1
    # A result that comes late stretches the atom over what stands in between: those messages would be
    # torn from it otherwise. A user's message ends the wait, since a turn is never split over by an atom.
    for place in range(start + 1, len(messages)):
        if not waiting or (messages[place].opens_turn and not messages[place].draft.joined):
            break
        answered = {result.call_id for result in messages[place].draft.results}
        if answered & waiting:
            waiting -= answered
            end = place + 1
    return end
