"""What is left of a message that was erased: its place on the path, and the frame that keeps the path valid."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from ireneo.log.message import Call, Draft, Message, Part, Result, Text

ERASED = "[erased]"
"""What stands where something was erased."""


def erase(message: Message) -> Message:
    """`message` without anything that it said, who said it, and what its log and its provider wrote of it.

    Its id stays, since all that follow are named after it, and so do its role, its turn, when it was and what it was
    counted with: a log that is imported again counts the same. A call keeps its id and its tool's name, and a result
    its call's, so that the path remains one that every chat format takes.
    """
    draft = message.draft
    bare = Draft(role=draft.role, parts=_bare(draft.parts), origin=draft.origin, at=draft.at, joined=draft.joined)
    return replace(message, draft=bare, erased=True)


def _bare(parts: Sequence[Part]) -> tuple[Part, ...]:
    kept = tuple(_frames(parts))
    return kept or (Text(text=ERASED),)


def _frames(parts: Sequence[Part]) -> Iterator[Part]:
    """The frames of calls and results, and one text in the place of all texts and pictures."""
    told = False
    for part in parts:
        if isinstance(part, Call):
            yield Call(id=part.id, name=part.name, arguments={}, server=part.server)
        elif isinstance(part, Result):
            yield Result(call_id=part.call_id, parts=(Text(text=ERASED),), name=part.name)
        elif not told:
            told = True
            yield Text(text=ERASED)
