"""The tree of a session: its key, ranges of its paths, and annotations of its messages."""

from __future__ import annotations

from typing import Literal, NewType

from msgspec import Struct

from ireneo.log.message import MessageId, digest
from ireneo.patterns import lazy_re
from ireneo.short_repr import ShortRepr

MAIN = "main"
ROOT = "root"
"""The place before the first message."""


_OF_AGENT = lazy_re(r"/(?:agent|sidechain)-|-sidechain-\d+\Z")


def is_of_sub_agent(session: str) -> bool:
    """Whether a session of a coding agent's log is that of a sub-agent, whose "user" is another agent."""
    return _OF_AGENT.search(session) is not None


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


class Annotation(ShortRepr, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """An immutable note at a message: every path through that message has it, and no other."""

    id: AnnotationId
    kind: AnnotationKind
    at: MessageId
    """The message after which it was made: the branch's head, or the last one of a disputed summary.

    Empty before the first message: then every path of the session has it."""
    at_position: int
    """The position of the message `at`, or `BEFORE_FIRST`."""
    text: str
    """The words of a pin, of its lifting or of the end of a thread; the reason of a dispute; a diary entry; a thread,
    canon, or wording of a story."""
    about: str = ""
    """The id of the released or reworded pin or thread; the stretch of the disputed or rewritten summary."""
    claim: str = ""
    """The disputed words of the summary; empty if all of it is disputed."""
    by: Literal["hand", "model"] = "hand"
    source: MessageId | None = None
    """The message that contains the words, if they were found in one."""
    sort: str = ""
    """The kind of a thread."""
    who: str = ""
    whom: str = ""
    """For a thread: its owner, and the other person concerned."""
    known_to: tuple[str, ...] = ()
    """For a thread or canon: the characters who know of it. If empty: those concerned, or everybody if nobody is."""
    number: int = 0
    """Distinguishes annotations with equal words. Of several wordings the one with the highest number is used; of a pin
    or thread that was noted again, the one that was not released.
    """
    since: int = BEFORE_FIRST
    """For a wording of a summary: the first position that it covers."""
    seen_by: str = ""
    """For a wording of a summary: the character whose memory it is; empty for nobody's."""
    answers: tuple[AnnotationId, ...] = ()
    """For a wording of a summary: the disputes that it answers; a later dispute makes it void."""

    @property
    def words(self) -> tuple[object, ...]:
        """The words by which two annotations are the same, whatever their positions."""
        named = (self.about, self.claim, self.sort, self.who, self.whom, self.known_to, self.number)
        return (self.kind, self.text, *named)


def annotation_id(kind: AnnotationKind, at: MessageId, text: str, about: str = "") -> AnnotationId:
    """Name an annotation by its content and place."""
    return AnnotationId(digest(kind[0], kind.encode(), at.encode(), text.encode(), about.encode()))
