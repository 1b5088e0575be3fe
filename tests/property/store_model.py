"""A session as a plain model: what every store has to agree with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date

from ireneo.context.summary import Summary
from ireneo.log.annotation import Annotation, AnnotationId
from ireneo.log.message import Draft, Message, MessageId, Native, Text
from ireneo.ports.store import Rebuild, Spent


class Model:
    """One session, without any cleverness: the whole path to each message, and lists of everything else."""

    def __init__(self) -> None:
        self.paths: dict[MessageId, list[Message]] = {}
        self.drafts: dict[MessageId, Draft] = {}
        self.branches: dict[str, Message | None] = {}
        self.summaries: dict[str, Summary] = {}
        self.rebuilds: dict[tuple[str, int, MessageId], Rebuild] = {}
        self.annotations: dict[AnnotationId, Annotation] = {}
        self.spent: dict[date, Spent] = {}

    def copy(self) -> Model:
        other = Model()
        for name, value in vars(self).items():
            setattr(other, name, dict(value))
        return other

    def pick(self, place: int) -> list[Message]:
        """Some stored path."""
        return list(self.paths.values())[place % len(self.paths)]

    def insert(self, messages: Sequence[Message]) -> int:
        new = [message for message in messages if message.id not in self.paths]
        for message in new:
            before = [] if message.parent is None else self.paths[message.parent]
            self.paths[message.id] = [*before, light(message)]
            self.drafts[message.id] = message.draft
        return len(new)

    def frontier(self, path: Sequence[Message], family: str) -> list[Summary]:
        on_path = {message.id for message in path}
        mine = [each for each in self.summaries.values() if each.family == family and each.last in on_path]
        out: list[Summary] = []
        start = 0
        while ahead := [each for each in mine if each.first_position >= start]:
            nearest = min(each.first_position for each in ahead)
            beginning = [each for each in ahead if each.first_position == nearest]
            furthest = max(each.last_position for each in beginning)
            alike = [each for each in beginning if each.last_position == furthest]
            out.append(min(alike, key=lambda each: (-each.depth, each.id)))
            start = furthest + 1
        return out

    def last_rebuild(self, path: Sequence[Message], family: str) -> Rebuild | None:
        marks = [self.rebuilds.get((family, 1000, message.id)) for message in path]
        return next((mark for mark in reversed(marks) if mark is not None), None)

    def annotations_on(self, path: Sequence[Message]) -> list[Annotation]:
        noted_there = [[each for each in self.annotations.values() if each.at == message.id] for message in path]
        return [each for there in noted_there for each in sorted(there, key=lambda each: each.id)]


def total(spent: Iterable[Spent]) -> Spent:
    together = list(spent)
    return Spent(calls=sum(each.calls for each in together), tokens=sum(each.tokens for each in together))


def light(message: Message) -> Message:
    """A message as paths bring it."""
    draft = Draft(role=message.role, parts=message.parts, source_id=message.draft.source_id)
    return Message(
        id=message.id,
        parent=message.parent,
        position=message.position,
        turn=message.turn,
        tokens=message.tokens,
        thinking_tokens=message.thinking_tokens,
        total_tokens=message.total_tokens,
        draft=draft,
    )


def drafts_of(letters: Sequence[str]) -> list[Draft]:
    return [
        Draft(
            role="user" if letter == "a" else "assistant",
            parts=(Text(text=letter),),
            source_id=f"line-{letter}",
            native=Native(format="chat", payload={"content": letter}) if letter == "a" else None,
        )
        for letter in letters
    ]
