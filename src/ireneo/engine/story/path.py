"""The summaries of a story along one path: those that are stored, opened as finely as they are shown, and new ones.

What is due follows from what is there: the messages that no summary covers yet. Nothing is marked and nothing queued,
so nothing can be lost, and whoever comes first writes what everybody else would have written.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from ireneo.context.policy import Policy
from ireneo.context.summary import Summary, anchor
from ireneo.context.thread import Thread
from ireneo.engine.story.kept import Recalled
from ireneo.engine.story.known import KnownStory
from ireneo.engine.story.reading import Reading
from ireneo.log.atoms import torn
from ireneo.log.message import Message
from ireneo.pyramid.compose import Waiting
from ireneo.pyramid.nodes import make_deeper, make_leaf, make_running, settings
from ireneo.pyramid.plan_leaves import plan_leaves
from ireneo.pyramid.plan_rollup import due_merge
from ireneo.pyramid.retelling import source_depth
from ireneo.pyramid.threads import follow

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

    behind: int
    """How many messages are due to be summarised and are not."""


class _Added(Struct, frozen=True, kw_only=True):
    """What became of a stretch of messages."""

    written: int
    """Leaves that were not stored."""
    passed: int
    """Those, and the ones that were."""
    due: int
    """Messages of the leaves that were not reached."""
    rest: tuple[Message, ...]


class StoryPath:
    """The story along one path."""

    def __init__(self, reading: Reading, policy: Policy, recalled: Recalled | None = None) -> None:
        """Stand on the end of a path; nothing is read yet. `recalled` has what was read of the session before."""
        self._reading = reading
        self._policy = policy
        self._pyramid = settings(policy)
        self._known = KnownStory(reading, policy, recalled or Recalled())

    async def grow(self, most: int, blocks: int = 0) -> Grown:
        """Carry the story on to the head; at most `most` leaves are written on the way.

        Where there is room for more `blocks` than are kept of each depth, the newest deep ones are opened.
        """
        system = await self._known.system()
        row = await self._known.row(len(system), self._pyramid.live_messages)
        size = (most + 1) * self._pyramid.leaf_messages + self._pyramid.live_messages
        tail = TAIL * self._pyramid.leaf_messages + self._pyramid.live_messages
        waiting: Waiting | None = None
        while True:
            first = row[-1].last_position + 1 if row else len(system)
            ends = self._reading.last - first < size + tail
            stretch = await self._known.visible(first, self._reading.last if ends else first + size - 1)
            added = await self._add_leaves(row, stretch, most, ends=ends)
            if ends:
                fresh: Sequence[Message] = added.rest
                behind = added.due
                break
            if added.written:
                waiting, fresh = await self._waiting(row[-1].last_position + 1, tail)
                behind = waiting.messages
                break
            # Stored leaves were passed, or so many messages make none: a single atom, or what nobody heard.
            size = size if added.passed else size * 2
        return Grown(
            system=tuple(system),
            nodes=tuple(await self._known.opened(row, blocks)),
            made=tuple(await self._known.unstored()),
            waiting=waiting,
            fresh=tuple(fresh),
            behind=behind,
        )

    async def whole(self) -> Grown:
        """All of it as it was said, where a context has room for that."""
        messages = await self._known.visible(0, self._reading.last)
        return Grown(system=(), nodes=(), made=(), waiting=None, fresh=tuple(messages), behind=0)

    async def row(self) -> list[Summary]:
        """The canonical summaries that are stored, as they are shown for so many leaves."""
        return await self._known.row(len(await self._known.system()))

    async def under(self, node: Summary, depth: int) -> list[Summary]:
        """The summaries of `depth` under a deeper one."""
        return await self._known.under(node, depth)

    async def _waiting(self, first: int, tail: int) -> tuple[Waiting, Sequence[Message]]:
        """What is not reached from position `first` on, and behind it the newest messages, from a whole atom on."""
        edge = self._reading.last - tail + 1
        split = torn(newest := await self._reading.path(edge, self._reading.last))
        while split == len(newest) and edge > first + 1:
            # They are all of one atom, which begins before them.
            edge = max(first + 1, edge - len(newest))
            split = torn(newest := await self._reading.path(edge, self._reading.last))
        edge += split if split < len(newest) else 0
        ends = (await self._reading.path(first, first))[0], (await self._reading.path(edge - 1, edge - 1))[0]
        waiting = Waiting(first=ends[0].id, last=ends[1].id, first_position=first, last_position=edge - 1)
        return waiting, await self._known.visible(edge, self._reading.last)

    async def _add_leaves(self, row: list[Summary], messages: Sequence[Message], most: int, *, ends: bool) -> _Added:
        """Take in the leaves of the messages that come after `row`, and what they make deep; `most` are written.

        `ends` says that the path ends with them, so that the newest stay live.
        """
        pyramid = self._pyramid if ends else replace(self._pyramid, live_messages=0)
        planned = plan_leaves(messages, pyramid)
        names = [anchor("story", leaf[0].id, leaf[-1].id, self._policy.family) for leaf in planned.leaves]
        stored = {each.id: each for each in await self._known.stored([] if self._pyramid.running else names)}
        written = passed = 0
        for name, leaf in zip(names, planned.leaves, strict=True):
            made = stored.get(name)
            if made is None and written == most:
                break
            if made is None:
                written += 1
                made = make_leaf(leaf, open_threads(row, self._pyramid.open_threads)[0], self._policy)
            passed += 1
            await self._push(row, made)
        due = [message for leaf in planned.leaves[passed:] for message in leaf]
        return _Added(written=written, passed=passed, due=len(due), rest=(*due, *planned.rest))

    async def _push(self, row: list[Summary], leaf: Summary) -> None:
        if self._pyramid.running:
            leaf = make_running(row[-1], leaf, self._policy) if row else leaf
            row[:] = [leaf]
            self._known.add(leaf)
            return
        self._known.add(leaf)
        row.append(leaf)
        while (place := due_merge([node.depth for node in row], self._pyramid)) is not None:
            children = row[place : place + self._pyramid.fan_in]
            depth = source_depth(children[0].depth + 1, self._pyramid)
            told = [part for child in children for part in await self._known.under(child, depth)]
            deeper = make_deeper(children, told, self._policy)
            self._known.add(deeper)
            row[place : place + self._pyramid.fan_in] = [deeper]


def open_threads(nodes: Sequence[Summary], cap: int) -> tuple[tuple[Thread, ...], int]:
    """The threads that are open at the end of adjacent summaries, and how many gave way to weightier ones."""
    threads: tuple[Thread, ...] = ()
    forgotten = 0
    for node in nodes:
        threads, gone = follow(threads, node.threads, cap)
        forgotten += gone + node.threads.forgotten
    return threads, forgotten
