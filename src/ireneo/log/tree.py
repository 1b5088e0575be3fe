"""The tree of a session: branches, annotations, and the groups of messages that no cut may split.

An atom is a tool call with all its results; a tool loop is everything an assistant does on one request.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NewType

from msgspec import Struct

from ireneo.log.message import Message, MessageId, digest

MAIN = "main"
ROOT = "root"
"""The place before the first message."""


class SessionKey(Struct, frozen=True, order=True, gc=False):
    """Names a session in its space."""

    space: str
    session: str


class PathRange(Struct, frozen=True, kw_only=True):
    """Positions `first` to `last`, both included, of one segment: a part of a path that is stored together."""

    segment: int
    first: int
    last: int


AnnotationId = NewType("AnnotationId", str)
"""``p_`` (a pin), ``r_`` (a release), ``d_`` (a dispute), ``e_`` (an entry), ``t_`` (a thread), ``c_`` (canon) or
``w_`` (a wording), and 26 characters."""

BEFORE_FIRST = -1
"""The position of annotations made before a session's first message."""

AnnotationKind = Literal["pin", "release", "dispute", "entry", "thread", "canon", "wording"]


class Annotation(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """An immutable note at a message: every path through that message has it, and no other."""

    id: AnnotationId
    kind: AnnotationKind
    at: MessageId
    """The message after which it was made: the branch's head, or the last one of a disputed summary.

    Empty before the first message: then every path of the session has it."""
    at_position: int
    """The position of that message, or `BEFORE_FIRST`."""
    text: str
    """What is pinned; what lifts a pin or resolves a thread; why a summary is disputed; an agent's diary entry; a
    thread, canon, or wording of a story."""
    about: str = ""
    """The id of the released or reworded pin or thread; the stretch of the disputed or rewritten summary."""
    claim: str = ""
    """The disputed words of the summary, where not all of it is."""
    by: Literal["hand", "model"] = "hand"
    source: MessageId | None = None
    """The message that contains the words, where they were found in one."""
    sort: str = ""
    """The kind of a thread."""
    who: str = ""
    whom: str = ""
    """Whose a thread is, and with whom."""
    known_to: tuple[str, ...] = ()
    """Of a thread or canon: the characters who know of it; none given: whoever it concerns, or all."""
    number: int = 0
    """Of several wordings the highest stands; of equal words noted again the one not released."""
    since: int = BEFORE_FIRST
    """Of a summary's wording: the first position that it covers."""
    seen_by: str = ""
    """Of a summary's wording: whose memory it is; empty: nobody's."""
    answers: tuple[AnnotationId, ...] = ()
    """Of a summary's wording: the disputes it answers; a later dispute overrides it."""


def annotation_id(kind: AnnotationKind, at: MessageId, text: str, about: str = "") -> AnnotationId:
    """Name an annotation by its content and place."""
    return AnnotationId(digest(kind[0], kind.encode(), at.encode(), text.encode(), about.encode()))


def atoms(messages: Sequence[Message]) -> list[tuple[Message, ...]]:
    """Group consecutive `messages` into atoms, in order.

    An assistant message with calls holds everything up to the last message that answers one of them, and so on for the
    calls in between. Every other message is an atom of its own.
    """
    out: list[tuple[Message, ...]] = []
    start = 0
    while start < len(messages):
        end = _end_of_atom(messages, start, start + 1)
        out.append(tuple(messages[start:end]))
        start = end
    return out


def settled(messages: Sequence[Message]) -> int:
    """How many of these messages, which begin with an atom, stand in atoms that later messages can't extend."""
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
    """How many of these messages may belong to an atom that begins before the first of them."""
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
    """Find the end of the atom that holds at least `messages[start:end]`."""
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


def next_loop(messages: Sequence[Message], *, running: bool) -> int:
    """The index from which no tool loop continues that was `running` before these messages.

    A loop continues with an assistant message after a call or result, unless a user spoke since. Providers that bind
    thinking want that of a whole loop, or none.
    """
    for place, message in enumerate(messages):
        if message.role == "assistant" and not running:
            return place
        runs = _runs_on(message)
        running = running if runs is None else runs
    return len(messages)


def loop_runs(messages: Sequence[Message]) -> bool:
    """Whether a tool loop is running behind these messages; assumed where they don't tell."""
    told = (runs for message in reversed(messages) if (runs := _runs_on(message)) is not None)
    return next(told, bool(messages) and messages[0].position > 0)


def _runs_on(message: Message) -> bool | None:
    """Whether a tool loop is running behind `message`; None where it doesn't tell."""
    if message.opens_turn and not message.draft.joined:
        return False
    if message.role == "assistant":
        return bool(message.draft.calls)
    return True if message.role == "tool" else None


def running_turn(messages: Sequence[Message]) -> int:
    """The index of the last user message; 0 where there is none."""
    return next((place for place in reversed(range(len(messages))) if messages[place].opens_turn), 0)
