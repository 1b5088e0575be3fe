"""The upkeep of sessions in memory: what is wrong with them, what nobody needs any more, and what is erased."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from ireneo.adapters.in_memory.memories import take_out_run
from ireneo.adapters.in_memory.state import SessionState, StatePort
from ireneo.adapters.rules import between, check_branches, check_erased
from ireneo.log.message import Message, MessageId
from ireneo.log.tree import AnnotationId, Head, SessionKey, head_of
from ireneo.ports.store import TOGETHER, CorruptionReport, ErasurePort, Pruned, Rebuild, UpkeepPort
from ireneo.summaries.summary import SummaryId


def find_faults(tree: SessionState) -> Iterator[str]:
    """What is wrong with a session, a sentence each."""
    where = f"session {tree.key.session!r} of space {tree.key.space!r}"
    for message in tree.messages.values():
        yield from _of_message(tree, message, where)
    yield from _of_what_hangs(tree, where)
    for branch, head in tree.branches.items():
        if head is not None and head not in tree.messages:
            yield f"Branch {branch!r} of {where} points to {head}, and no such message is there."
    for lease in tree.leases.values():
        if lease.token > tree.leased:
            yield f"The lease on {lease.work!r} of {where} has token {lease.token}, and only {tree.leased} were given."


def _of_message(tree: SessionState, message: Message, where: str) -> Iterator[str]:
    parent = None if message.parent is None else tree.messages.get(message.parent)
    place = f"{message.id} at position {message.position} of {where}"
    if message.parent is not None and parent is None:
        yield f"Message {place} goes on after {message.parent}, and no such message is there."
        return
    if message.position != (parent.position + 1 if parent else 0):
        yield f"Message {place} stands behind a message that isn't its parent."
    if message.total_tokens != (parent.total_tokens if parent else 0) + message.tokens:
        yield f"Message {place} gives a total that its path doesn't cost."


def _of_what_hangs(tree: SessionState, where: str) -> Iterator[str]:
    for name in tree.payloads:
        if name not in tree.messages:
            yield f"A payload hangs on {name} of {where}, and no such message is there."
    stands = {name: message.position for name, message in tree.messages.items()}
    for summary in tree.summaries.values():
        covered = stands.get(summary.first), stands.get(summary.last)
        if covered != (summary.first_position, summary.last_position):
            yield (
                f"Summary {summary.id} of {where} covers positions {summary.first_position} to "
                f"{summary.last_position}, and its messages aren't there."
            )
    for mark in tree.rebuilds.values():
        if stands.get(mark.at) != mark.at_position:
            yield (
                f"The mark of a rebuild to {mark.budget_tokens} tokens hangs on position {mark.at_position} of "
                f"{where}, and its message isn't there."
            )
    for note in tree.annotations.values():
        if note.at and stands.get(note.at) != note.at_position:
            yield f"Annotation {note.id} hangs on position {note.at_position} of {where}, and its message isn't there."


class MemoryUpkeep(StatePort, UpkeepPort):
    """`ireneo.ports.store.UpkeepPort` in memory."""

    def faults(self) -> Sequence[str]:
        return [fault for tree in self._snapshot.every_session() for fault in find_faults(tree)]

    def corrupted(self, after: int = 0, limit: int = TOGETHER) -> CorruptionReport:
        return CorruptionReport(looked=sum(len(tree.messages) for tree in self._snapshot.every_session()))

    def repair(self) -> None:
        """Nothing follows from anything here that isn't reckoned each time."""

    def summaries(self, key: SessionKey) -> Sequence[SummaryId]:
        found = list(self._snapshot.session(key).summaries.values())
        found.sort(key=lambda each: (each.first_position, each.last_position, each.id))
        return [each.id for each in found]

    def discard(self, key: SessionKey, ids: Sequence[SummaryId]) -> int:
        tree = self._snapshot.change_session(key)
        return sum(tree.summaries.pop(name, None) is not None for name in ids)

    def abandoned_heads(self, key: SessionKey) -> Sequence[Head]:
        tree = self._snapshot.session(key)
        inner = {message.parent for message in tree.messages.values()} | set(tree.branches.values())
        found = [head_of(message) for message in tree.messages.values() if message.id not in inner]
        return sorted(found, key=lambda head: (head.position, head.id))

    def drop_branch(self, key: SessionKey, branch: str) -> bool:
        tree = self._snapshot.change_session(key)
        there = branch in tree.branches
        tree.branches.pop(branch, None)
        return there

    def prune(self, key: SessionKey) -> Pruned:
        tree = self._snapshot.change_session(key)
        check_branches(key, is_empty=not tree.messages, has_branch=bool(tree.branches))
        kept = tree.on_branches()
        gone = [message for message in tree.messages.values() if message.id not in kept]
        if not gone:
            return Pruned()
        before = len(tree.summaries)
        _take_out(tree, kept)
        run = self._snapshot.space(key.space).runs.get(key.session)
        if run is not None and run.head not in kept:
            take_out_run(self._snapshot.change_space(key.space), key.session)
        return Pruned(
            messages=len(gone),
            tokens=sum(message.tokens for message in gone),
            summaries=before - len(tree.summaries),
        )


def _take_out(tree: SessionState, kept: set[MessageId]) -> None:
    """Leave of a tree only the messages that are `kept`, and what hangs on them."""
    tree.messages = {name: message for name, message in tree.messages.items() if name in kept}
    tree.payloads = {name: packed for name, packed in tree.payloads.items() if name in kept}
    tree.documents = {name: each for name, each in tree.documents.items() if name in kept}
    tree.numbers = {each.number: name for name, each in tree.documents.items()}
    # Where the last message stays, all that a summary covers does.
    tree.summaries = {name: each for name, each in tree.summaries.items() if each.last in kept}
    tree.rebuilds = {name: each for name, each in tree.rebuilds.items() if each.at in kept}
    tree.annotations = {name: each for name, each in tree.annotations.items() if not each.at or each.at in kept}
    tree.span = between([message.draft.at for message in tree.messages.values() if message.draft.at is not None])


class MemoryErasure(StatePort, ErasurePort):
    """`ireneo.ports.store.ErasurePort` in memory."""

    def begin(self) -> None:
        self._snapshot.check(writes=True)

    def count(self, key: SessionKey) -> int:
        return sum(message.erased for message in self._snapshot.session(key).messages.values())

    def messages(self, key: SessionKey, messages: Sequence[Message]) -> int:
        tree = self._snapshot.change_session(key)
        check_erased(messages)
        for message in messages:
            tree.need(message.id)
        for message in messages:
            stored = tree.messages[message.id]
            draft = replace(stored.draft, parts=message.parts, source_id=None)
            tree.messages[message.id] = replace(stored, draft=draft, erased=True)
            tree.payloads.pop(message.id, None)
            tree.unindex(message.id)
        return len(messages)

    def notes(self, key: SessionKey, annotations: Sequence[AnnotationId], marks: Sequence[Rebuild]) -> int:
        tree = self._snapshot.change_session(key)
        places = [(mark.summarizer, mark.budget_tokens, mark.at) for mark in marks]
        gone = sum(tree.annotations.pop(name, None) is not None for name in annotations)
        return gone + sum(tree.rebuilds.pop(place, None) is not None for place in places)

    def session(self, key: SessionKey) -> bool:
        self._snapshot.unname(key)
        take_out_run(self._snapshot.change_space(key.space), key.session)
        return self._snapshot.drop_session(key)

    def space(self, space: str) -> int:
        return self._snapshot.drop_space(space)
