"""The smallest groups of messages that no cut may split: a tool call with all its results."""

from __future__ import annotations

from collections.abc import Sequence

from ireneo.log.message import Message


def atoms(messages: Sequence[Message]) -> list[tuple[Message, ...]]:
    """Group consecutive `messages` into atoms, in order; together they are `messages` again.

    An assistant message that makes calls holds everything up to the last message that answers one of them, and
    so on for the calls in between. Every other message stands alone.
    """
    out: list[tuple[Message, ...]] = []
    start = 0
    while start < len(messages):
        end = _end_of_atom(messages, start, start + 1)
        out.append(tuple(messages[start:end]))
        start = end
    return out


def settled(messages: Sequence[Message]) -> int:
    """How many of consecutive `messages`, which begin with an atom, stand in atoms that nothing to come can stretch."""
    waiting: set[str] = set()
    end = 0
    for place, message in enumerate(messages):
        if _ends_the_wait(message):
            waiting = set()
        if not waiting:
            end = place
        waiting = waiting - _answers(message) | _calls(message)
    return end if waiting else len(messages)


def torn(messages: Sequence[Message]) -> int:
    """How many of consecutive `messages` may be the end of an atom that begins before the first of them."""
    made: set[str] = set()
    end = 0
    for place, message in enumerate(messages):
        if _ends_the_wait(message):
            break
        if any(result.call_id not in made for result in message.draft.results):
            end = place + 1
        made |= _calls(message)
    return _end_of_atom(messages, 0, end) if end else 0


def _end_of_atom(messages: Sequence[Message], start: int, end: int) -> int:
    """Find the place behind the atom that holds at least the messages from `start` to before `end`."""
    waiting: set[str] = set()
    for message in messages[start:end]:
        waiting = waiting - _answers(message) | _calls(message)
    # A result that comes late stretches the atom over what stands in between: those messages would be
    # torn from it otherwise. A user's message ends the wait, since a turn is never split over by an atom.
    between: set[str] = set()
    for place in range(end, len(messages)):
        message = messages[place]
        if not waiting or _ends_the_wait(message):
            break
        answered = _answers(message)
        stretched = bool(answered & waiting)
        waiting -= answered
        between = between - answered | _calls(message)
        if stretched:
            end = place + 1
            waiting |= between
            between = set()
    return end


def _ends_the_wait(message: Message) -> bool:
    return message.opens_turn and not message.draft.joined


def _calls(message: Message) -> set[str]:
    return {call.id for call in message.draft.calls if not call.server}


def _answers(message: Message) -> set[str]:
    return {result.call_id for result in message.draft.results}
