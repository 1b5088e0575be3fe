"""A session as a plain model: what every store has to agree with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta

from ireneo.log.message import Draft, Head, Message, MessageId, Native, Text, head_of
from ireneo.log.tree import Annotation, AnnotationId, SessionKey
from ireneo.ports.store import Lease, Pruned, Rebuild, Span, Spent
from ireneo.summaries.summary import Summary


class Model:
    """One session, without any cleverness: the whole path to each message, and lists of everything else."""

    def __init__(self) -> None:
        self.paths: dict[MessageId, list[Message]] = {}
        self.drafts: dict[MessageId, Draft] = {}
        self.branches: dict[str, Message | None] = {}
        self.summaries: dict[str, Summary] = {}
        self.rebuilds: dict[tuple[str, int, MessageId], Rebuild] = {}
        self.annotations: dict[AnnotationId, Annotation] = {}
        self.read: dict[str, set[MessageId]] = {}
        self.spent: dict[date, Spent] = {}
        self.leases: dict[str, Lease] = {}
        self.leased = 0

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

    def frontier(self, path: Sequence[Message], summarizer: str) -> list[Summary]:
        on_path = {message.id for message in path}
        mine = [each for each in self.summaries.values() if each.summarizer == summarizer and each.last in on_path]
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

    def last_rebuild(self, path: Sequence[Message], summarizer: str) -> Rebuild | None:
        marks = [self.rebuilds.get((summarizer, 1000, message.id)) for message in path]
        return next((mark for mark in reversed(marks) if mark is not None), None)

    def read_to(self, path: Sequence[Message], reader: str) -> int:
        return sum(message.id in self.read.get(reader, set()) for message in path) - 1

    def annotations_on(self, path: Sequence[Message]) -> list[Annotation]:
        noted_there = [[each for each in self.annotations.values() if each.at == message.id] for message in path]
        return [each for there in noted_there for each in sorted(there, key=lambda each: each.id)]

    def spans(self, path: Sequence[Message], summarizer: str, depth: int, first: int) -> list[Span]:
        on_path = {message.id for message in path}
        return [
            Span(id=each.id, first_position=each.first_position, last_position=each.last_position)
            for each in self.listed()
            if (each.summarizer, each.depth) == (summarizer, depth)
            and each.last in on_path
            and each.first_position >= first
        ]

    def listed(self) -> list[Summary]:
        return sorted(self.summaries.values(), key=lambda each: (each.first_position, each.last_position, each.id))

    def ends(self) -> list[Head]:
        stood_on = [message.id for message in self.branches.values() if message]
        ends = [
            path[-1]
            for path in self.paths.values()
            if path[-1].id not in stood_on and not any(path[-1].id == other[-1].parent for other in self.paths.values())
        ]
        return [head_of(end) for end in sorted(ends, key=lambda end: (end.position, end.id))]

    def prune(self) -> Pruned:
        """Leave the messages on some branch's path, and what lies on those alone."""
        kept = {each.id for head in self.branches.values() if head for each in self.paths[head.id]}
        gone = [path[-1] for name, path in self.paths.items() if name not in kept]
        covering = [
            name
            for name, each in self.summaries.items()
            if any(message.id not in kept for message in self.paths[each.last][each.first_position :])
        ]
        for name in covering:
            del self.summaries[name]
        for message in gone:
            del self.paths[message.id], self.drafts[message.id]
        self.rebuilds = {name: each for name, each in self.rebuilds.items() if each.at in kept}
        self.annotations = {name: each for name, each in self.annotations.items() if each.at in kept}
        self.read = {reader: read & kept for reader, read in self.read.items()}
        return Pruned(messages=len(gone), tokens=sum(each.tokens for each in gone), summaries=len(covering))

    def take(self, key: SessionKey, work: str, holder: str, now: datetime, until: datetime) -> Lease | None:
        found = self.leases.get(work)
        if found is not None:
            if found.retry_at is not None and found.retry_at > now and found.retry_at - now < timedelta(days=1):
                return None
            if found.holder not in ("", holder) and now < found.until <= until + max(
                until - now, timedelta(minutes=10)
            ):
                return None
        self.leased += 1
        failures, error = (found.failures, found.error) if found else (0, "")
        self.leases[work] = Lease(
            key=key, work=work, holder=holder, token=self.leased, until=until, failures=failures, error=error
        )
        return self.leases[work]

    def holds(self, lease: Lease) -> bool:
        """Whether a lease that was once given is still held."""
        found = self.leases.get(lease.work)
        return found is not None and found.holder != "" and found.token == lease.token


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
