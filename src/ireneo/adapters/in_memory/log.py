"""Sessions in memory: their messages, what is derived from them, who is at which work, and what was spent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime

from msgspec.structs import replace

from ireneo.adapters.in_memory.state import SessionState, StatePort
from ireneo.adapters.rules import (
    check_chain,
    check_holder,
    check_place,
    failed,
    is_held,
    may_take,
    pack,
    renewed,
    taken,
    unpack,
    widen,
)
from ireneo.errors import BadInput
from ireneo.log.message import Draft, Message, MessageId, voices_in
from ireneo.log.tree import BEFORE_FIRST, Annotation, Head, SessionKey
from ireneo.ports.store import (
    AnnotationsPort,
    Lease,
    LeasesPort,
    LogPort,
    Rebuild,
    RebuildsPort,
    SessionInfo,
    SessionsPort,
    Span,
    SpendingPort,
    Spent,
    SummariesPort,
)
from ireneo.summaries.summary import Summary, SummaryId

FOUND_AT_MOST = 100


class MemoryLog(StatePort, LogPort):
    """`ireneo.ports.store.LogPort` in memory."""

    def head(self, key: SessionKey, branch: str = "main") -> Head | None:
        return self._snapshot.session(key).head(branch)

    def insert(self, key: SessionKey, messages: Sequence[Message]) -> int:
        tree = self._snapshot.change_session(key)
        check_chain(messages)
        new = [message for message in messages if message.id not in tree.messages]
        if not new:
            return 0
        parent = new[0].parent
        check_place(new[0], None if parent is None else tree.need(parent).position)
        # Whatever may raise comes before the first change: a caller may catch it and go on.
        packed = [pack(message.draft) for message in new]
        for message, payload in zip(new, packed, strict=True):
            tree.messages[message.id] = replace(message, draft=replace(message.draft, native=None, record=None))
            if payload is not None:
                tree.payloads[message.id] = payload
            tree.index(message)
        tree.span = widen(tree.span, new)
        tree.appended = self._snapshot.next_append(key.space)
        return len(new)

    def move(self, key: SessionKey, branch: str, to: MessageId | None) -> None:
        tree = self._snapshot.change_session(key)
        tree.branches[branch] = None if to is None else tree.need(to).id

    def path(self, key: SessionKey, to: MessageId, first: int, last: int) -> Sequence[Message]:
        out: list[Message] = []
        for message in self._snapshot.session(key).walk(to):
            if message.position < first:
                break
            if message.position <= last:
                out.append(message)
        return out[::-1]

    def find(self, key: SessionKey, ids: Sequence[str]) -> Sequence[Message]:
        tree = self._snapshot.session(key)
        found: dict[MessageId, Message] = {}
        for name in ids:
            for message in _matches(tree, name):
                found.setdefault(message.id, message)
        return list(found.values())[:FOUND_AT_MOST]

    def on_branch(
        self, space: str, named: Sequence[tuple[str, Sequence[MessageId]]], branch: str | None = None
    ) -> Sequence[bool]:
        trees = {tree.key.session: tree for tree in self._snapshot.sessions(space)}
        there = {name: trees[name].on_branches(branch) for name in dict(named) if name in trees}
        return [session not in there or there[session].issuperset(names) for session, names in named]

    def speakers(self, space: str, session: str | None = None, name: str | None = None) -> frozenset[str]:
        found = {
            voice
            for tree in self._snapshot.sessions(space)
            if session is None or tree.key.session == session
            for message in tree.messages.values()
            for voice in voices_in(message.parts)
        }
        return frozenset(found if name is None else found & {name})

    def drafts(self, key: SessionKey, ids: Sequence[MessageId]) -> Mapping[MessageId, Draft]:
        tree = self._snapshot.session(key)
        out: dict[MessageId, Draft] = {}
        for name in ids:
            if name in tree.messages:
                native, record = unpack(tree.payloads.get(name))
                out[name] = replace(tree.messages[name].draft, native=native, record=record)
        return out


def _matches(tree: SessionState, name: str) -> Iterator[Message]:
    messages = tree.messages.values()
    yield from sorted((m for m in messages if m.id.startswith(name)), key=lambda m: m.id)
    yield from sorted((m for m in messages if m.draft.source_id == name), key=lambda m: (m.position, m.id))


class MemorySessions(StatePort, SessionsPort):
    """`ireneo.ports.store.SessionsPort` in memory."""

    def create(self, key: SessionKey, source: str | None) -> bool:
        return self._snapshot.add_session(key, source)

    def list(self, space: str) -> Sequence[SessionInfo]:
        trees = sorted(self._snapshot.sessions(space), key=lambda tree: tree.appended, reverse=True)
        return [tree.info() for tree in trees]

    def get(self, key: SessionKey) -> SessionInfo | None:
        return next((tree.info() for tree in self._snapshot.sessions(key.space) if tree.info().key == key), None)

    def branches(self, key: SessionKey) -> Mapping[str, Head | None]:
        tree = self._snapshot.need_session(key)
        return {branch: tree.head(branch) for branch in sorted(tree.branches)}

    def set_project(self, key: SessionKey, project: str) -> None:
        self._snapshot.change_session(key).project = project

    def without_project(self, space: str) -> Sequence[SessionKey]:
        return sorted(
            (tree.key for tree in self._snapshot.sessions(space) if tree.project is None), key=lambda key: key.session
        )

    def projects(self, space: str, sessions: Sequence[str]) -> Mapping[str, str]:
        there = {tree.key.session: tree.project for tree in self._snapshot.sessions(space)}
        return {session: project for session in sessions if (project := there.get(session))}


SUMMARIES_FOUND_AT_MOST = 10


class MemorySummaries(StatePort, SummariesPort):
    """`ireneo.ports.store.SummariesPort` in memory."""

    def put(self, key: SessionKey, summaries: Sequence[Summary]) -> int:
        tree = self._snapshot.change_session(key)
        for summary in summaries:
            stand = tree.need(summary.first).position, tree.need(summary.last).position
            if stand != (summary.first_position, summary.last_position):
                raise BadInput(f"Summary {summary.id} gives positions at which its first and last message don't stand.")
        before = len(tree.summaries)
        for summary in summaries:
            tree.summaries.setdefault(summary.id, summary)
        return len(tree.summaries) - before

    def frontier(self, key: SessionKey, to: MessageId, summarizer: str) -> Sequence[Summary]:
        tree = self._snapshot.session(key)
        path = {message.id for message in tree.walk(to)}
        on_path = [each for each in tree.summaries.values() if each.summarizer == summarizer and each.last in path]
        on_path.sort(key=lambda each: (each.first_position, -each.last_position, -each.depth, each.id))
        out: list[Summary] = []
        start = 0
        for each in on_path:
            if each.first_position >= start:
                out.append(each)
                start = each.last_position + 1
        return out

    def get(self, key: SessionKey, ids: Sequence[SummaryId]) -> Sequence[Summary]:
        known = self._snapshot.session(key).summaries
        return [known[name] for name in ids if name in known]

    def find(self, key: SessionKey, prefix: str) -> Sequence[Summary]:
        found = [each for each in self._snapshot.session(key).summaries.values() if each.id.startswith(prefix)]
        found.sort(key=lambda each: (-each.last_position, -each.first_position, each.id))
        return found[:SUMMARIES_FOUND_AT_MOST]

    def spans(self, key: SessionKey, to: MessageId, summarizer: str, depth: int, first: int = 0) -> Sequence[Span]:
        tree = self._snapshot.session(key)
        path = {message.id for message in tree.walk(to)}
        found = [
            Span(id=each.id, first_position=each.first_position, last_position=each.last_position)
            for each in tree.summaries.values()
            if (each.summarizer, each.depth) == (summarizer, depth)
            and each.first_position >= first
            and each.last in path
        ]
        return sorted(found, key=lambda span: (span.first_position, span.last_position, span.id))

    def summarizers(self, key: SessionKey) -> Sequence[str]:
        return sorted({each.summarizer for each in self._snapshot.session(key).summaries.values()})


class MemoryRebuilds(StatePort, RebuildsPort):
    """`ireneo.ports.store.RebuildsPort` in memory."""

    def last(self, key: SessionKey, to: MessageId, summarizer: str, budget_tokens: int) -> Rebuild | None:
        tree = self._snapshot.session(key)
        for message in tree.walk(to):
            rebuild = tree.rebuilds.get((summarizer, budget_tokens, message.id))
            if rebuild is not None:
                return rebuild
        return None

    def put(self, key: SessionKey, rebuild: Rebuild) -> None:
        tree = self._snapshot.change_session(key)
        if tree.need(rebuild.at).position != rebuild.at_position:
            raise BadInput(f"The rebuild gives a position at which its edge {rebuild.at} doesn't stand.")
        tree.rebuilds[rebuild.summarizer, rebuild.budget_tokens, rebuild.at] = rebuild

    def of_session(self, key: SessionKey) -> Sequence[Rebuild]:
        marks = self._snapshot.session(key).rebuilds.values()
        return sorted(marks, key=lambda mark: (mark.at_position, mark.at, mark.summarizer, mark.budget_tokens))


class MemoryAnnotations(StatePort, AnnotationsPort):
    """`ireneo.ports.store.AnnotationsPort` in memory."""

    def put(self, key: SessionKey, annotations: Sequence[Annotation]) -> int:
        tree = self._snapshot.change_session(key)
        for annotation in annotations:
            stands = tree.need(annotation.at).position if annotation.at else BEFORE_FIRST
            if stands != annotation.at_position:
                raise BadInput(f"Annotation {annotation.id} gives a position at which {annotation.at} doesn't stand.")
        before = len(tree.annotations)
        for annotation in annotations:
            tree.annotations.setdefault(annotation.id, annotation)
        return len(tree.annotations) - before

    def on_path(self, key: SessionKey, to: MessageId | None) -> Sequence[Annotation]:
        tree = self._snapshot.session(key)
        path = {"", *(message.id for message in (tree.walk(to) if to is not None else ()))}
        found = [each for each in tree.annotations.values() if each.at in path]
        return sorted(found, key=lambda each: (each.at_position, each.id))


class MemoryLeases(StatePort, LeasesPort):
    """`ireneo.ports.store.LeasesPort` in memory."""

    def take(self, key: SessionKey, work: str, holder: str, now: datetime, until: datetime) -> Lease | None:
        tree = self._snapshot.change_session(key)
        check_holder(holder)
        found = tree.leases.get(work)
        if not may_take(found, holder, now, until):
            return None
        tree.leased += 1
        lease = tree.leases[work] = taken(found, key, work, holder, tree.leased, until)
        return lease

    def renew(self, lease: Lease, until: datetime) -> bool:
        tree = self._snapshot.change_session(lease.key)
        found = _held(tree, lease)
        if found is not None:
            tree.leases[lease.work] = renewed(found, until)
        return found is not None

    def release(self, lease: Lease) -> bool:
        tree = self._snapshot.change_session(lease.key)
        if _held(tree, lease) is None:
            return False
        del tree.leases[lease.work]
        return True

    def fail(self, lease: Lease, error: str, retry_at: datetime) -> bool:
        tree = self._snapshot.change_session(lease.key)
        found = _held(tree, lease)
        if found is not None:
            tree.leases[lease.work] = failed(found, error, retry_at)
        return found is not None

    def of_session(self, key: SessionKey) -> Sequence[Lease]:
        return sorted(self._snapshot.session(key).leases.values(), key=lambda lease: lease.work)

    def forget(self, key: SessionKey, work: str) -> bool:
        return self._snapshot.change_session(key).leases.pop(work, None) is not None


def _held(tree: SessionState, lease: Lease) -> Lease | None:
    found = tree.leases.get(lease.work)
    return found if is_held(found, lease) else None


class MemorySpending(StatePort, SpendingPort):
    """`ireneo.ports.store.SpendingPort` in memory."""

    def add(self, key: SessionKey, day: date, spent: Spent) -> None:
        self._snapshot.spend(key, day, spent)

    def of_session(self, key: SessionKey) -> Spent:
        return _total(spent for (each, _), spent in self._snapshot.spent().items() if each == key)

    def of_day(self, space: str, day: date) -> Spent:
        return _total(spent for (key, on), spent in self._snapshot.spent().items() if (key.space, on) == (space, day))


def _total(spent: Iterable[Spent]) -> Spent:
    calls = tokens = 0
    for each in spent:
        calls += each.calls
        tokens += each.tokens
    return Spent(calls=calls, tokens=tokens)
