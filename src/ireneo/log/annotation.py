"""What is noted about a session by hand or by a model: a pin, its release, a dispute of a summary, a diary's entry."""

from __future__ import annotations

from typing import Literal, NewType

from msgspec import Struct

from ireneo.log.ids import digest
from ireneo.log.message import MessageId

AnnotationId = NewType("AnnotationId", str)
"""``p_`` (a pin), ``r_`` (a release), ``d_`` (a dispute) or ``e_`` (an entry), and 26 characters."""

BEFORE_FIRST = -1
"""The position of what was noted before a session's first message."""

Kind = Literal["pin", "release", "dispute", "entry"]


class Annotation(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An immutable note at a place of the log: every path through that message has it, and no other."""

    id: AnnotationId
    kind: Kind
    at: MessageId
    """The message after which it was made: the branch's head, or the last one that a disputed summary covers.

    Empty where it was made before the first one: then every path of the session has it.
    """
    at_position: int
    """Where that message stands; `BEFORE_FIRST` where there is none."""
    text: str
    """What is pinned; what lifts a pin; why a summary is disputed; what an agent wrote into its diary."""
    about: str = ""
    """The id of the pin that is released, or the name of the stretch whose summary is disputed."""
    claim: str = ""
    """The words of the summary that are disputed, where not all of it is."""
    by: Literal["hand", "model"] = "hand"
    source: MessageId | None = None
    """The message whose words they are, where they were found in one."""


def annotation_id(kind: Kind, at: MessageId, text: str, about: str = "") -> AnnotationId:
    """Name an annotation by its content: noted twice at one place, it is one."""
    return AnnotationId(digest(kind[0], kind.encode(), at.encode(), text.encode(), about.encode()))
