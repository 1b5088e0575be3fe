"""What a chat format is, and when a provider's own payload may be sent again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, Protocol

from msgspec import Struct
from msgspec.structs import replace

from ireneo.errors import UnreadableLog
from ireneo.log.message import Draft, Native, Part, Result


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


def keep_native(draft: Draft, name: str, payload: object, written: object) -> Draft:
    """`draft` with `payload` beside it, unless the parts alone were `written` as the very same JSON."""
    return draft if written == payload else replace(draft, native=Native(format=name, payload=payload))


def settle_natives(
    drafts: Sequence[Draft],
    name: str,
    read: Callable[[object], Sequence[Draft]],
    accepts: Callable[[object], bool],
) -> list[Draft]:
    """Leave only the natives that may be sent unchanged; the other drafts are built from their parts.

    A native may be sent if it is of this format, breaks no rule of its own, and says what the parts say: parts
    that were changed since (a masked output, say) are the truth.
    """
    return [draft if _holds(draft, name, read, accepts) else replace(draft, native=None) for draft in drafts]


def _holds(
    draft: Draft, name: str, read: Callable[[object], Sequence[Draft]], accepts: Callable[[object], bool]
) -> bool:
    if draft.native is None:
        return True
    if draft.native.format != name or not accepts(draft.native.payload):
        return False
    try:
        said = read(draft.native.payload)
    except UnreadableLog:
        # Whoever handed it in wrote something else under this format's name; the parts are what there is.
        return False
    return len(said) == 1 and said[0].role == draft.role and _bare(said[0].parts) == _bare(draft.parts)


def _bare(parts: Sequence[Part]) -> list[Part]:
    # Whether a call failed may have been derived from the text since; the payload needn't say so.
    return [replace(part, failed=None) if isinstance(part, Result) else part for part in parts]
