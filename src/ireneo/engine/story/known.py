"""The summaries of a story that are there along one path, as far as they are what would be written of it now.

The branches of a session share what was written before they parted. A leaf that another branch wrote may end here
where none ends on this path: after a rewind just behind it, say. Then it is left out here, and nothing else is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ireneo.context.policy import Policy
from ireneo.context.summary import Summary, SummaryId
from ireneo.engine.story.kept import Recalled
from ireneo.engine.story.reading import Reading
from ireneo.log.atoms import atoms
from ireneo.log.message import Message, heard_by
from ireneo.pyramid.nodes import settings
from ireneo.pyramid.plan_leaves import leaf_ends
from ireneo.pyramid.plan_rollup import finest, leaves_at, shown_depths

AHEAD = 16
"""Messages that are read behind a leaf to see which atom comes next, at first; more where they don't tell."""
OPENING = 16
"""So many messages at the most are looked at for what was said to the model before the story began."""


class KnownStory:
    """What is stored of a story along one path, and what was written of it since it was read."""

    def __init__(self, reading: Reading, policy: Policy, recalled: Recalled) -> None:
        """Stand on the end of a path; nothing is read yet but what was `recalled`."""
        self._recalled = recalled
        self.reading = reading
        self._character = policy.seen_by
        self._pyramid = settings(policy)
        self._new: dict[SummaryId, Summary] = {}

    # -- summaries ---------------------------------------------------------------------------------------------------

    async def row(self, start: int, live: int = 0) -> list[Summary]:
        """The summaries from position `start` on, as they are shown for so many leaves.

        The newest `live` messages stay out of them.
        """
        row: list[Summary] = []
        found = await self.reading.frontier()
        for place, node in enumerate(found):
            if not await self._touch(start, node):
                break
            follows = place + 1 < len(found) and await self._touch(node.last_position + 1, found[place + 1])
            # What was written from the next message on was written behind the same leaf.
            if not follows and not await self._ends_here(node):
                row += await self._without_last_leaf(node)
                break
            row.append(node)
            start = node.last_position + 1
        return await self.opened(await self._behind(row, live), 0)

    async def opened(self, row: Sequence[Summary], blocks: int) -> list[Summary]:
        """Open what was merged for a longer path than this one, or has room to be shown as what is under it."""
        if self._pyramid.running:
            return list(row)
        leaves = sum(node.leaves for node in row)
        wanted = shown_depths(leaves, finest(leaves, blocks, self._pyramid))
        edges = {0}
        for depth in wanted:
            edges.add(max(edges) + leaves_at(depth, self._pyramid))
        out: list[Summary] = []
        waiting, start = list(reversed(row)), 0
        while waiting:
            node = waiting.pop()
            inside = any(start < edge < start + node.leaves for edge in edges)
            if inside and (children := await self.children(node)):
                waiting += reversed(children)
                continue
            out.append(node)
            start += node.leaves
        return out

    async def children(self, node: Summary) -> list[Summary]:
        """The summaries right under a deeper one; none where one of them is gone."""
        missing = [name for name in node.sources if name not in self._new]
        there = {**self._new, **{each.id: each for each in await self.get(missing)}}
        return [there[name] for name in node.sources] if all(name in there for name in node.sources) else []

    async def under(self, node: Summary, depth: int) -> list[Summary]:
        """The summaries of `depth` under a deeper one, or the least deep that are there."""
        children = await self.children(node) if node.depth > depth else []
        if not children:
            return [node]
        return [each for child in children for each in await self.under(child, depth)]

    async def get(self, names: Sequence[SummaryId]) -> Sequence[Summary]:
        """Those of these summaries that are stored, or were when they were read last."""
        records = self._recalled.records
        found = {name: known for name in names if (known := records.find(name))}
        for summary in await self.stored([name for name in names if name not in found]):
            found[summary.id] = summary
            records.put(summary.id, summary)
        return [found[name] for name in names if name in found]

    async def stored(self, names: Sequence[SummaryId]) -> Sequence[Summary]:
        """Those of these summaries that are stored, past all that is at hand."""
        return await self.reading.get(names) if names else ()

    def add(self, summary: Summary) -> None:
        """Take in what was just written."""
        self._new[summary.id] = summary

    async def unstored(self) -> list[Summary]:
        """What was written and is not stored, each after those that it was made from."""
        stored = {each.id for each in await self.stored(list(self._new))}
        return [each for each in self._new.values() if each.id not in stored]

    # -- messages ----------------------------------------------------------------------------------------------------

    async def system(self) -> list[Message]:
        """What was said to the model before the story began."""
        out: list[Message] = []
        for message in await self.reading.path(0, min(OPENING, self.reading.last + 1) - 1):
            if message.role != "system":
                break
            out.append(message)
        return out

    async def visible(self, first: int, last: int) -> list[Message]:
        """The messages of a stretch of the path, but for those that the character was not present for."""
        return self._heard(await self.reading.path(first, last))

    def _heard(self, messages: Iterable[Message]) -> list[Message]:
        return [each for each in messages if not self._character or heard_by(each.draft, self._character)]

    # -- what still holds --------------------------------------------------------------------------------------------

    async def _touch(self, start: int, node: Summary) -> bool:
        """Whether nothing that is to be summarised lies between position `start` and a summary."""
        if node.first_position <= start or not self._character:
            return node.first_position == start
        return not await self.visible(start, node.first_position - 1)

    async def _ends_here(self, node: Summary) -> bool:
        """Whether the last leaf of `node` ends there on this path, too."""
        last = node.last_position
        name = (node.id, *(message.id for message in await self.visible(last + 1, last + 1)))
        if len(name) > 1 and self._recalled.sound.find(name):
            return True
        first = await self._first_of_last_leaf(node)
        ahead = AHEAD
        while True:
            messages = await self.visible(first, last + ahead)
            behind = [atom for atom in atoms(messages) if atom[-1].position > last]
            if len(behind) > 1 or last + ahead >= self.reading.last:
                break
            ahead *= AHEAD
        if not behind or behind[0][0].position <= last:
            # Nothing goes on behind it; or a result came that belongs to a call in it.
            return not behind
        leaf = [message for message in messages if message.position <= last]
        ends = leaf_ends(len(leaf), sum(message.tokens for message in leaf), behind[0], self._pyramid)
        if ends:
            self._recalled.sound.put(name, True)
        return ends

    async def _behind(self, row: list[Summary], live: int) -> list[Summary]:
        """The summaries of `row` behind which so many messages are left."""
        edge = await self._live_edge(live) if row and live else self.reading.last + 1
        while row and row[-1].last_position >= edge:
            row = [*row[:-1], *await self._without_last_leaf(row[-1])]
        return row

    async def _live_edge(self, live: int) -> int:
        """The position of the first of the newest `live` messages."""
        first, found = self.reading.last + 1, 0
        while first > 0 and found < live:
            size = (live - found) * (AHEAD if self._character else 1)
            newest = await self.visible(max(first - size, 0), first - 1)
            if found + len(newest) >= live:
                return newest[found - live].position
            first, found = max(first - size, 0), found + len(newest)
        return 0

    async def _without_last_leaf(self, node: Summary) -> list[Summary]:
        """What is left of `node` without the last leaf under it."""
        if self._pyramid.running:
            return list(await self.get(node.sources[:1]))
        children = await self.children(node)
        return [*children[:-1], *await self._without_last_leaf(children[-1])] if children else []

    async def _first_of_last_leaf(self, node: Summary) -> int:
        if self._pyramid.running:
            before = await self.get(node.sources[:1])
            return before[0].last_position + 1 if before else node.first_position
        children = await self.children(node)
        return await self._first_of_last_leaf(children[-1]) if children else node.first_position
