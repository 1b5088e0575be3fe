"""Trails put one behind the other, until they are a tree of nodes."""

from __future__ import annotations

from collections.abc import Sequence

from ireneo.formats.logs.format import Node
from ireneo.log.message import Draft


class Planting:
    """A tree under construction."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.tails: dict[int, int] = {}
        """The last node of each trail."""
        self._newest_child: dict[int | None, int] = {}
        self._ends: dict[int, int] = {}
        """The last node of the trail that begins at a node."""
        self._spoken: set[int] = set()
        """The nodes on which, or on whose children's children, someone but the harness speaks."""

    def add(self, name: int, parent: int | None, trail: Sequence[Draft]) -> None:
        """Put `trail` behind the one called `parent`, which is there already; None is the root."""
        at = self._end_of_quiet(None if parent is None else self.tails[parent])
        first = len(self.nodes)
        for draft in trail:
            self._newest_child[at] = len(self.nodes)
            self.nodes.append(Node(draft=draft, parent=at))
            at = len(self.nodes) - 1
            if draft.origin != "injected":
                self._mark_spoken(at)
        self.tails[name] = self._ends[first] = len(self.nodes) - 1

    def _end_of_quiet(self, at: int | None) -> int | None:
        """Where to go on from `at`: behind a branch in which the harness alone speaks, since no one rewound that."""
        while (child := self._newest_child.get(at)) is not None and child not in self._spoken:
            at = self._ends[child]
        return at

    def _mark_spoken(self, node: int) -> None:
        at: int | None = node
        while at is not None and at not in self._spoken:
            self._spoken.add(at)
            at = self.nodes[at].parent
