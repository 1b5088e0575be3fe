"""The summaries of a story along one path: those that are stored, opened as finely as they are shown, and new ones.

What is due follows from what is there: the messages that no summary covers yet. Nothing is marked and nothing queued,
so nothing can be lost, and whoever comes first writes what everybody else would have written.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from ireneo.context.policy import Policy
from ireneo.context.summary import Summary, SummaryId
from ireneo.context.thread import Thread
from ireneo.engine.story.kept import Recalled
from ireneo.log.atoms import atoms
from ireneo.log.branch import Head, SessionKey
from ireneo.log.message import Message, heard_by
from ireneo.ports.store import Transaction
from ireneo.pyramid.compose import Waiting
from ireneo.pyramid.nodes import make_deeper, make_leaf, make_running, settings
from ireneo.pyramid.plan_leaves import leaf_ends, plan_leaves
from ireneo.pyramid.plan_rollup import due_merge, finest, leaves_at, shown_depths
from ireneo.pyramid.retelling import source_depth
from ireneo.pyramid.threads import follow

AHEAD = 16
"""Messages that are read behind a leaf to see which atom comes next; of a longer one the beginning tells enough."""
OPENING = 16
"""So many messages at the most are looked at for what was said to the model before the story began."""
TAIL = 2
"""Of what has fallen behind, so many leaves at the end are read besides, to show the newest of it."""


class Grown(Struct, frozen=True, kw_only=True):
    """A story along one path."""

    system: tuple[Message, ...]
    nodes: tuple[Summary, ...]
    """The canonical summaries that are shown, from the oldest to the newest."""
    made: tuple[Summary, ...]
    """Those that had to be written, each after those that it was made from."""
    waiting: Waiting | None
    """What is due and was not reached."""
    fresh: tuple[Message, ...]
    """The newest messages that the character was present for."""

    @property
    def behind(self) -> int:
        """How many messages are due to be summarised and are not."""
        return self.waiting.messages if self.waiting else 0


class Reading(Protocol):
    """What is read of a path and of the summaries over it."""

    last: int
    """The position of the path's last message."""

    async def path(self, first: int, last: int) -> Sequence[Message]:
        """The messages of positions `first` to `last`; none where it is before `first`."""

    async def frontier(self) -> Sequence[Summary]:
        """The widest summaries along the path, in order."""

    async def get(self, ids: Sequence[SummaryId]) -> Sequence[Summary]:
        """Summaries by id."""


class StoredReading:
    """Reads the path to a head from one snapshot of a store."""

    def __init__(self, tx: Transaction, key: SessionKey, head: Head, policy: Policy) -> None:
        """Stand on `head`."""
        self.last = head.position
        self._tx = tx
        self._key = key
        self._head = head
        self._family = policy.family

    async def path(self, first: int, last: int) -> Sequence[Message]:
        """The messages of positions `first` to `last`."""
        return await self._tx.log.path(self._key, self._head.id, first, last) if first <= last else ()

    async def frontier(self) -> Sequence[Summary]:
        """The widest summaries along the path."""
        return await self._tx.summaries.frontier(self._key, self._head.id, self._family)

    async def get(self, ids: Sequence[SummaryId]) -> Sequence[Summary]:
        """Summaries by id."""
        return await self._tx.summaries.get(self._key, ids)


class StoryPath:
    """The story along one path."""

    def __init__(self, reading: Reading, policy: Policy, recalled: Recalled | None = None) -> None:
        """Read the path by `reading`; `recalled` has what was read of the session before."""
        self._reading = reading
        self._recalled = recalled or Recalled()
        self._policy = policy
        self._pyramid = settings(policy)
        self._made: dict[SummaryId, Summary] = {}

    async def grow(self, most: int, blocks: int = 0) -> Grown:
        """Carry the story on to the head; at most `most` leaves are written on the way.

        Where there is room for more `blocks` than are kept of each depth, the newest deep ones are opened.
        """
        row = await self.row()
        system = await self._system(row)
        first = max(row[-1].last_position + 1 if row else 0, len(system))
        last = self._reading.last
        chunk = (most + 1) * self._pyramid.leaf_messages + self._pyramid.live_messages
        tail = TAIL * self._pyramid.leaf_messages + self._pyramid.live_messages
        if last - first < chunk + tail:
            rest = await self._add_leaves(row, await self._visible(first, last), most, ends=True)
            return self._grown(system, await self._opened(row, blocks), rest, None)
        rest = await self._add_leaves(row, await self._visible(first, first + chunk - 1), most, ends=False)
        first = row[-1].last_position + 1 if row else first
        edge = last - tail + 1
        ends = (await self._reading.path(first, first))[0], (await self._reading.path(edge - 1, edge - 1))[0]
        waiting = Waiting(first=ends[0].id, last=ends[1].id, first_position=first, last_position=edge - 1)
        return self._grown(system, await self._opened(row, blocks), await self._visible(edge, last), waiting)

    async def whole(self) -> Grown:
        """All of it as it was said, where a context has room for that."""
        messages = await self._visible(0, self._reading.last)
        return self._grown((), (), messages, None)

    def _grown(
        self, system: Sequence[Message], row: Sequence[Summary], fresh: Sequence[Message], waiting: Waiting | None
    ) -> Grown:
        made = tuple(self._made.values())
        return Grown(system=tuple(system), nodes=tuple(row), made=made, waiting=waiting, fresh=tuple(fresh))

    async def row(self) -> list[Summary]:
        """The canonical summaries that are stored, as they are shown for so many leaves."""
        row: list[Summary] = []
        frontier = await self._reading.frontier()
        for node, following in zip(frontier, [*frontier[1:], None], strict=False):
            sound = await self._sound(node, following)
            row += sound
            if sound != [node]:
                break
        return await self._opened(row, 0)

    async def children(self, node: Summary) -> list[Summary]:
        """The summaries right under a deeper one."""
        records = self._recalled.records
        at_hand = {name: each for name in node.sources if (each := self._made.get(name) or records.find(name))}
        missing = [name for name in node.sources if name not in at_hand]
        for each in await self._reading.get(missing) if missing else ():
            at_hand[each.id] = records.get(each.id, partial(_same, each))
        return [at_hand[name] for name in node.sources]

    async def under(self, node: Summary, depth: int) -> list[Summary]:
        """The summaries of `depth` under a deeper one."""
        found = [node]
        while found and found[0].depth > depth:
            found = [child for each in found for child in await self.children(each)]
        return found

    # -- what is stored ----------------------------------------------------------------------------------------------

    async def _sound(self, node: Summary, after: Summary | None) -> list[Summary]:
        """The part of `node` that stands on this path: all of it, unless its last leaf goes on here.

        A leaf ends before a certain atom. A branch that went its own way just there may not have it. Where it ends
        before the summary `after` it was looked at before, mostly, and needs no other look.
        """
        adjacent = after is not None and after.first_position == node.last_position + 1
        name = (node.id, after.first) if after and adjacent else None
        if name and self._recalled.sound.find(name):
            return [node]
        following = await self._visible(node.last_position + 1, node.last_position + AHEAD)
        leaf, left = node, []
        if following and not following[0].opens_turn:
            while leaf.depth > 1 and leaf.sources:
                *before, leaf = await self.children(leaf)
                left += before
            if not leaf_ends(leaf.messages, leaf.source_tokens, atoms(following)[0], self._pyramid):
                return left
        if name:
            self._recalled.sound.get(name, lambda: True)
        return [node]

    async def _opened(self, row: Sequence[Summary], blocks: int) -> list[Summary]:
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
            if inside and node.sources:
                waiting += reversed(await self.children(node))
                continue
            out.append(node)
            start += node.leaves
        return out

    # -- what is new -------------------------------------------------------------------------------------------------

    async def _add_leaves(
        self, row: list[Summary], messages: Sequence[Message], most: int, *, ends: bool
    ) -> Sequence[Message]:
        """Write the leaves of the messages that come after `row`, and what they make deep; returns what is left.

        `ends` says that the path ends with them, so that the newest stay live.
        """
        pyramid = self._pyramid if ends else replace(self._pyramid, live_messages=0)
        planned = plan_leaves(messages, pyramid)
        due = bool(planned.leaves[:most])
        threads = open_threads(row, self._pyramid.open_threads)[0] if due else ()
        for leaf in planned.leaves[:most]:
            made = make_leaf(leaf, threads, self._policy)
            threads = follow(threads, made.threads, self._pyramid.open_threads)[0]
            await self._push(row, made)
        left = [message for leaf in planned.leaves[most:] for message in leaf]
        return [*left, *planned.rest]

    async def _push(self, row: list[Summary], leaf: Summary) -> None:
        if self._pyramid.running:
            leaf = make_running(row[-1], leaf, self._policy) if row else leaf
            row[:] = [leaf]
            self._made[leaf.id] = leaf
            return
        self._made[leaf.id] = leaf
        row.append(leaf)
        while (place := due_merge([node.depth for node in row], self._pyramid)) is not None:
            children = row[place : place + self._pyramid.fan_in]
            depth = source_depth(children[0].depth + 1, self._pyramid)
            told = [part for child in children for part in await self.under(child, depth)]
            deeper = make_deeper(children, told, self._policy)
            self._made[deeper.id] = deeper
            row[place : place + self._pyramid.fan_in] = [deeper]

    # -- reading -----------------------------------------------------------------------------------------------------

    async def _system(self, row: Sequence[Summary]) -> Sequence[Message]:
        """What was said before the story; behind the first summary of `row` it is always the same."""
        found = self._recalled.system.find(row[0].id) if row else None
        if found is not None:
            return found
        out: list[Message] = []
        for message in await self._reading.path(0, min(OPENING, self._reading.last + 1) - 1):
            if message.role != "system":
                break
            out.append(message)
        return self._recalled.system.get(row[0].id, lambda: tuple(out)) if row else out

    async def _visible(self, first: int, last: int) -> list[Message]:
        """The messages of a stretch of the path, but for those that the character was not present for."""
        messages = await self._reading.path(first, last)
        character = self._policy.seen_by
        return [each for each in messages if heard_by(each.draft, character)] if character else list(messages)


def open_threads(nodes: Sequence[Summary], cap: int) -> tuple[tuple[Thread, ...], int]:
    """The threads that are open at the end of adjacent summaries, and how many gave way to weightier ones."""
    threads: tuple[Thread, ...] = ()
    forgotten = 0
    for node in nodes:
        threads, gone = follow(threads, node.threads, cap)
        forgotten += gone + node.threads.forgotten
    return threads, forgotten


def _same(summary: Summary) -> Summary:
    return summary
