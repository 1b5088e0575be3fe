"""The summaries and annotations over a session's tree and the marks of rebuilds, in memory."""

from __future__ import annotations

from collections.abc import Sequence

from ireneo.adapters.in_memory.shelf import Shelf
from ireneo.errors import BadInput
from ireneo.log.message import MessageId
from ireneo.log.tree import BEFORE_FIRST, Annotation, SessionKey
from ireneo.ports.store import Rebuild, Span
from ireneo.summaries.summary import Summary, SummaryId

FOUND_AT_MOST = 10


class MemorySummaries:
    """`ireneo.ports.store.SummariesPort` over one open transaction."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    def put(self, key: SessionKey, summaries: Sequence[Summary]) -> int:
        """Store summaries; those whose anchor is taken are left as they are."""
        tree = self._shelf.change(key)
        for summary in summaries:
            stand = tree.need(summary.first).position, tree.need(summary.last).position
            if stand != (summary.first_position, summary.last_position):
                raise BadInput(f"Summary {summary.id} gives positions at which its first and last message don't stand.")
        before = len(tree.summaries)
        for summary in summaries:
            tree.summaries.setdefault(summary.id, summary)
        return len(tree.summaries) - before

    def frontier(self, key: SessionKey, to: MessageId, family: str) -> Sequence[Summary]:
        """The widest summaries along a path."""
        tree = self._shelf.see(key)
        path = {message.id for message in tree.walk(to)}
        on_path = [each for each in tree.summaries.values() if each.family == family and each.last in path]
        on_path.sort(key=lambda each: (each.first_position, -each.last_position, -each.depth, each.id))
        out: list[Summary] = []
        start = 0
        for each in on_path:
            if each.first_position >= start:
                out.append(each)
                start = each.last_position + 1
        return out

    def get(self, key: SessionKey, ids: Sequence[SummaryId]) -> Sequence[Summary]:
        """Read summaries by id."""
        known = self._shelf.see(key).summaries
        return [known[name] for name in ids if name in known]

    def find(self, key: SessionKey, prefix: str) -> Sequence[Summary]:
        """Read summaries by the beginning of their id."""
        found = [each for each in self._shelf.see(key).summaries.values() if each.id.startswith(prefix)]
        found.sort(key=lambda each: (-each.last_position, -each.first_position, each.id))
        return found[:FOUND_AT_MOST]

    def spans(self, key: SessionKey, to: MessageId, family: str, depth: int, first: int = 0) -> Sequence[Span]:
        """What the summaries of one family and depth cover along a path."""
        tree = self._shelf.see(key)
        path = {message.id for message in tree.walk(to)}
        found = [
            Span(id=each.id, first_position=each.first_position, last_position=each.last_position)
            for each in tree.summaries.values()
            if (each.family, each.depth) == (family, depth) and each.first_position >= first and each.last in path
        ]
        return sorted(found, key=lambda span: (span.first_position, span.last_position, span.id))

    def families(self, key: SessionKey) -> Sequence[str]:
        """The families of which the session has summaries."""
        return sorted({each.family for each in self._shelf.see(key).summaries.values()})


class MemoryRebuilds:
    """`ireneo.ports.store.RebuildsPort` over one open transaction."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    def last(self, key: SessionKey, to: MessageId, family: str, budget_tokens: int) -> Rebuild | None:
        """The mark that lies furthest along a path."""
        tree = self._shelf.see(key)
        for message in tree.walk(to):
            rebuild = tree.rebuilds.get((family, budget_tokens, message.id))
            if rebuild is not None:
                return rebuild
        return None

    def put(self, key: SessionKey, rebuild: Rebuild) -> None:
        """Store a mark."""
        tree = self._shelf.change(key)
        if tree.need(rebuild.at).position != rebuild.at_position:
            raise BadInput(f"The rebuild gives a position at which its edge {rebuild.at} doesn't stand.")
        tree.rebuilds[rebuild.family, rebuild.budget_tokens, rebuild.at] = rebuild

    def of_session(self, key: SessionKey) -> Sequence[Rebuild]:
        """Every mark of a session."""
        marks = self._shelf.see(key).rebuilds.values()
        return sorted(marks, key=lambda mark: (mark.at_position, mark.at, mark.family, mark.budget_tokens))


class MemoryAnnotations:
    """`ireneo.ports.store.AnnotationsPort` over one open transaction."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    def put(self, key: SessionKey, annotations: Sequence[Annotation]) -> int:
        """Store annotations; those whose id is taken are left as they are."""
        tree = self._shelf.change(key)
        for annotation in annotations:
            stands = tree.need(annotation.at).position if annotation.at else BEFORE_FIRST
            if stands != annotation.at_position:
                raise BadInput(f"Annotation {annotation.id} gives a position at which {annotation.at} doesn't stand.")
        before = len(tree.annotations)
        for annotation in annotations:
            tree.annotations.setdefault(annotation.id, annotation)
        return len(tree.annotations) - before

    def on_path(self, key: SessionKey, to: MessageId | None) -> Sequence[Annotation]:
        """Every annotation at a message of a path."""
        tree = self._shelf.see(key)
        path = {"", *(message.id for message in (tree.walk(to) if to is not None else ()))}
        found = [each for each in tree.annotations.values() if each.at in path]
        return sorted(found, key=lambda each: (each.at_position, each.id))
