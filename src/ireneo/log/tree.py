"""The tree of a session: heads and branches, the notes at its messages, and the groups that no cut may split.

An atom is a tool call with all its results; a tool loop is all that an assistant does on one request.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NewType

from msgspec import Struct

from ireneo.log.message import Message, MessageId, digest

MAIN = "main"
ROOT = "root"
"""The place before the first message: append after it to offer a whole history again."""


class SessionKey(Struct, frozen=True, order=True, gc=False):
    """The name of a session: whose memory it is in, and which conversation or run."""

    space: str
    session: str


class PathRange(Struct, frozen=True, kw_only=True):
    """A run of a path that is stored together: positions `first` to `last`, both included, of one segment."""

    segment: int
    first: int
    last: int


AnnotationId = NewType("AnnotationId", str)
"""``p_`` (a pin), ``r_`` (a release), ``d_`` (a dispute), ``e_`` (an entry), ``t_`` (a thread), ``c_`` (canon) or
``w_`` (a wording), and 26 characters."""

BEFORE_FIRST = -1
"""The position of what was noted before a session's first message."""

AnnotationKind = Literal["pin", "release", "dispute", "entry", "thread", "canon", "wording"]


class Annotation(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """An immutable note at a place of the log: every path through that message has it, and no other."""

    id: AnnotationId
    kind: AnnotationKind
    at: MessageId
    """The message after which it was made: the branch's head, or the last one that a disputed summary covers.

    Empty where it was made before the first one: then every path of the session has it.
    """
    at_position: int
    """Where that message stands; `BEFORE_FIRST` where there is none."""
    text: str
    """What is pinned; what lifts a pin or resolves a thread; why a summary is disputed; what an agent wrote into its
    diary; of a story a thread, a fact that always stands, or the words of a summary or a thread."""
    about: str = ""
    """The id of the pin or thread that is released, or reworded; the name of the stretch whose summary is disputed, or
    written."""
    claim: str = ""
    """The words of the summary that are disputed, where not all of it is."""
    by: Literal["hand", "model"] = "hand"
    source: MessageId | None = None
    """The message whose words they are, where they were found in one."""
    sort: str = ""
    """Of a thread its kind."""
    who: str = ""
    whom: str = ""
    """Of a thread whose it is, and with whom."""
    known_to: tuple[str, ...] = ()
    """Of a thread or a fact: the characters in whose memories it stands; none given: whoever it is of, or all."""
    number: int = 0
    """Of the wordings of one thing the highest stands; of the same words noted again the one that nothing released."""
    since: int = BEFORE_FIRST
    """Of the wording of a summary: the position of the first message that it covers."""
    seen_by: str = ""
    """Of the wording of a summary: whose memory it is of; empty: nobody's."""
    answers: tuple[AnnotationId, ...] = ()
    """Of the wording of a summary: the disputes that it was written in view of. With a later one it stands no more."""


def annotation_id(kind: AnnotationKind, at: MessageId, text: str, about: str = "") -> AnnotationId:
    """Name an annotation by its content: noted twice at one place, it is one."""
    return AnnotationId(digest(kind[0], kind.encode(), at.encode(), text.encode(), about.encode()))


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
