"""The summaries of a story along one path: find the stored ones, open them as needed, and write those that are due.

What is due follows from the messages that no summary covers yet. There are no marks or queues, so nothing can be lost,
and every process would write the same summaries. Branches share what was written before they parted. A leaf written on
another branch may end where none ends on this path, such as after a rewind to just after it; it is then skipped here.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from ireneo.log.calls import atoms, incomplete_prefix
from ireneo.log.message import Head, Message, MessageId, heard_by
from ireneo.summaries.policy import Policy, StorySettings
from ireneo.summaries.story import (
    due_merge,
    finest_settings,
    leaves_at,
    make_deeper,
    make_leaf,
    plan_leaves,
    settings,
    shown_depths,
    source_depth,
    story_strategy,
)
from ireneo.summaries.summary import PathReader, RecentValues, Summary, SummaryId, Thread, anchor
from ireneo.summaries.threads import follow

RECORDS = 128
"""Cached summaries: enough for those shown of a million messages, and those under them in a wide context."""
PLACES = 512


class StoryRecords:
    """A cache of one session's summaries."""

    def __init__(self) -> None:
        self.records: RecentValues[Summary] = RecentValues(RECORDS)
        """Summaries by id."""
        self.sound: RecentValues[bool] = RecentValues(PLACES)
        """Whether a summary may end before a message, by the ids of both."""


class UncoveredMessages(Struct, frozen=True, kw_only=True):
    """Messages of a story that no summary covers yet, although one is due."""

    first: MessageId
    last: MessageId
    first_position: int
    last_position: int

    @property
    def messages(self) -> int:
        """The number of messages."""
        return self.last_position - self.first_position + 1


AHEAD = 16
"""Messages read after a leaf at first to find the next atom; more if needed."""
OPENING = 16
"""The maximum number of messages searched for system messages before the story."""
LEAST_LIVE = 12
"""The minimum of `live_messages`, however narrow a context is."""
TAIL = 2
"""Leaves of the newest messages that are read in addition when the summaries lag behind."""


class StoryState(Struct, frozen=True, kw_only=True):
    """A story along one path."""

    system: tuple[Message, ...]
    nodes: tuple[Summary, ...]
    """The canonical summaries that are shown, oldest first."""
    made: tuple[Summary, ...]
    """Summaries that had to be written, each after its sources."""
    waiting: UncoveredMessages | None
    """The due part that wasn't reached."""
    fresh: tuple[Message, ...]
    """The newest messages that the character was present for."""
    behind: int
    """Messages that are due to be summarised but are not."""
    recent: Summary | None = None
    """What the newest messages without a leaf say of the cast, in whole parts of a leaf."""
    threads: tuple[Thread, ...] = ()
    """The threads that are open now."""
    forgotten: int = 0
    """Open threads dropped in favour of weightier ones."""

    @property
    def known(self) -> tuple[Summary, ...]:
        """The summaries that know the cast."""
        return (*self.nodes, self.recent) if self.recent else self.nodes


class _NewLeaves(Struct, frozen=True, kw_only=True):
    """The leaves found in a stretch of messages."""

    written: int
    """Leaves that were not yet stored."""
    passed: int
    """All leaves passed, stored or not."""
    due: int
    """Messages of the leaves that weren't reached."""
    rest: tuple[Message, ...]


class StoryPath:
    """The story along one path."""

    def __init__(
        self, reader: PathReader, policy: Policy, recalled: StoryRecords | None = None, budget: int = 0
    ) -> None:
        """Read nothing yet; `recalled` caches what was read of the session before.

        In a context of `budget` tokens (0: any) the newest leaf is shown as soon as the messages after it take the room
        that there is for the newest messages: those without room are represented by a few sentences that rules pick.
        """
        self.reader = reader
        self._policy = policy
        self._settings = _with_live(settings(policy), policy.live_share, budget, reader.head)
        self._strategy = story_strategy(policy)
        self._recalled = recalled or StoryRecords()
        self._new: dict[SummaryId, Summary] = {}

    def grow(self, most: int, blocks: int = 0) -> StoryState:
        """Bring the summaries up to the head, writing at most `most` leaves.

        If there is room for more `blocks` than the limit of each depth, the newest deep ones are opened.
        """
        system = self._system()
        row = self._row(len(system), self._settings.live_messages)
        size = (most + 1) * self._settings.leaf_messages + self._settings.live_messages
        tail = TAIL * self._settings.leaf_messages + self._settings.live_messages
        waiting: UncoveredMessages | None = None
        while True:
            first = row[-1].last_position + 1 if row else len(system)
            ends = self.reader.head.position - first < size + tail
            stretch = self._visible(first, self.reader.head.position if ends else first + size - 1)
            added = self._add_leaves(row, stretch, most, ends=ends)
            if ends:
                fresh: Sequence[Message] = added.rest
                behind = added.due
                break
            if added.written:
                waiting, fresh = self._uncovered(row[-1].last_position + 1, tail)
                behind = waiting.messages
                break
            # Only stored leaves were passed, or the stretch makes none: a single atom, or messages nobody heard.
            size = size if added.passed else size * 2
        return StoryState(
            system=tuple(system),
            nodes=tuple(self.opened(row, blocks)),
            made=tuple(self._unstored()),
            waiting=waiting,
            fresh=tuple(fresh),
            behind=behind,
        )

    def whole(self) -> StoryState:
        """Return all messages verbatim, without summaries."""
        messages = self._visible(0, self.reader.head.position)
        return StoryState(system=(), nodes=(), made=(), waiting=None, fresh=tuple(messages), behind=0)

    def row(self) -> list[Summary]:
        """Return the stored canonical summaries, at the depths at which they are shown."""
        return self._row(len(self._system()))

    def opened(self, row: Sequence[Summary], blocks: int) -> list[Summary]:
        """Open summaries that were merged for a longer path, or that there is room to show in more detail."""
        leaves = sum(node.leaves for node in row)
        wanted = shown_depths(leaves, finest_settings(leaves, blocks, self._settings))
        edges = {0}
        for depth in wanted:
            edges.add(max(edges) + leaves_at(depth, self._settings))
        out: list[Summary] = []
        waiting, start = list(reversed(row)), 0
        while waiting:
            node = waiting.pop()
            inside = any(start < edge < start + node.leaves for edge in edges)
            if inside and (children := self._children(node)):
                waiting += reversed(children)
                continue
            out.append(node)
            start += node.leaves
        return out

    def summaries_under(self, node: Summary, depth: int) -> list[Summary]:
        """Return the summaries of `depth` under a deeper one, or the least deep ones that exist."""
        children = self._children(node) if node.depth > depth else []
        if not children:
            return [node]
        return [each for child in children for each in self.summaries_under(child, depth)]

    def row_after(self, row: Sequence[Summary], position: int) -> list[Summary] | None:
        """Return the part of a row after `position`, with a summary around it opened; None if it is in a leaf."""
        out: list[Summary] = []
        waiting = list(reversed(row))
        while waiting:
            node = waiting.pop()
            if node.first_position > position:
                out.append(node)
            elif node.last_position > position:
                children = self._children(node)
                if not children:
                    return None
                waiting += reversed(children)
        return out

    def _row(self, start: int, live: int = 0) -> list[Summary]:
        """Return the summaries from position `start` on, at the depths at which they are shown.

        The newest `live` messages are left out.
        """
        row: list[Summary] = []
        found = self.reader.frontier(self.reader.head.position)
        for place, node in enumerate(found):
            if not self._is_adjacent(start, node):
                break
            follows = place + 1 < len(found) and self._is_adjacent(node.last_position + 1, found[place + 1])
            # A stored summary that begins right after it proves that the leaf ends here.
            if not follows and not self._ends_here(node):
                row += self._without_last_leaf(node)
                break
            row.append(node)
            start = node.last_position + 1
        return self.opened(self._row_before_live(row, live), 0)

    def _children(self, node: Summary) -> list[Summary]:
        """Return the summaries right under a deeper summary; empty if one of them is missing."""
        missing = [name for name in node.sources if name not in self._new]
        there = {**self._new, **{each.id: each for each in self._get(missing)}}
        return [there[name] for name in node.sources] if all(name in there for name in node.sources) else []

    def _get(self, names: Sequence[SummaryId]) -> Sequence[Summary]:
        """Return the stored ones among these summaries, using the cache."""
        records = self._recalled.records
        found = {name: known for name in names if (known := records.find(name))}
        for summary in self._stored([name for name in names if name not in found]):
            found[summary.id] = summary
            records.put(summary.id, summary)
        return [found[name] for name in names if name in found]

    def _stored(self, names: Sequence[SummaryId]) -> Sequence[Summary]:
        return self.reader.get(names) if names else ()

    def _unstored(self) -> list[Summary]:
        """Return the new summaries that are not stored, each after its sources."""
        stored = {each.id for each in self._stored(list(self._new))}
        return [each for each in self._new.values() if each.id not in stored]

    def _system(self) -> list[Message]:
        """Return the system messages before the story begins."""
        out: list[Message] = []
        for message in self.reader.path(0, min(OPENING, self.reader.head.position + 1) - 1):
            if message.role != "system":
                break
            out.append(message)
        return out

    def _visible(self, first: int, last: int) -> list[Message]:
        """Return the messages of a stretch that the character was present for."""
        character, messages = self._policy.seen_by, self.reader.path(first, last)
        return [each for each in messages if not character or heard_by(each.draft, character)]

    def _is_adjacent(self, start: int, node: Summary) -> bool:
        """Whether no visible message lies between position `start` and a summary."""
        if node.first_position <= start or not self._policy.seen_by:
            return node.first_position == start
        return not self._visible(start, node.first_position - 1)

    def _ends_here(self, node: Summary) -> bool:
        """Whether the last leaf of `node` ends in the same place on this path."""
        last = node.last_position
        name = (node.id, *(message.id for message in self._visible(last + 1, last + 1)))
        if len(name) > 1 and self._recalled.sound.find(name):
            return True
        first = self._first_of_last_leaf(node)
        ahead = AHEAD
        while True:
            messages = self._visible(first, last + ahead)
            behind = [atom for atom in atoms(messages) if atom[-1].position > last]
            if len(behind) > 1 or last + ahead >= self.reader.head.position:
                break
            ahead *= AHEAD
        if not behind or behind[0][0].position <= last:
            # Nothing follows, or what follows is the result of a call inside the leaf.
            return not behind
        leaf = [message for message in messages if message.position <= last]
        ends = self._strategy.ends(atoms(leaf), behind[0])
        if ends:
            self._recalled.sound.put(name, True)
        return ends

    def _row_before_live(self, row: list[Summary], live: int) -> list[Summary]:
        """Return the summaries of `row` after which at least `live` messages remain."""
        edge = self._live_edge(live) if row and live else self.reader.head.position + 1
        while row and row[-1].last_position >= edge:
            row = [*row[:-1], *self._without_last_leaf(row[-1])]
        return row

    def _live_edge(self, live: int) -> int:
        """Return the position of the first of the newest `live` messages."""
        first, found = self.reader.head.position + 1, 0
        while first > 0 and found < live:
            size = (live - found) * (AHEAD if self._policy.seen_by else 1)
            newest = self._visible(max(first - size, 0), first - 1)
            if found + len(newest) >= live:
                return newest[found - live].position
            first, found = max(first - size, 0), found + len(newest)
        return 0

    def _without_last_leaf(self, node: Summary) -> list[Summary]:
        children = self._children(node)
        return [*children[:-1], *self._without_last_leaf(children[-1])] if children else []

    def _first_of_last_leaf(self, node: Summary) -> int:
        children = self._children(node)
        return self._first_of_last_leaf(children[-1]) if children else node.first_position

    def _uncovered(self, first: int, tail: int) -> tuple[UncoveredMessages, Sequence[Message]]:
        """Return the messages not reached from `first` on, and the newest messages after those, in whole atoms."""
        edge = self.reader.head.position - tail + 1
        split = incomplete_prefix(newest := self.reader.path(edge, self.reader.head.position))
        while split == len(newest) and edge > first + 1:
            # They all belong to one atom, which begins earlier.
            edge = max(first + 1, edge - len(newest))
            split = incomplete_prefix(newest := self.reader.path(edge, self.reader.head.position))
        edge += split if split < len(newest) else 0
        ends = (self.reader.path(first, first))[0], (self.reader.path(edge - 1, edge - 1))[0]
        waiting = UncoveredMessages(first=ends[0].id, last=ends[1].id, first_position=first, last_position=edge - 1)
        return waiting, self._visible(edge, self.reader.head.position)

    def _add_leaves(self, row: list[Summary], messages: Sequence[Message], most: int, *, ends: bool) -> _NewLeaves:
        """Add the leaves of the messages after `row`, merging as due; at most `most` are written.

        `ends` says that the path ends with them, so that the newest stay live.
        """
        story = self._settings if ends else replace(self._settings, live_messages=0)
        planned = plan_leaves(messages, story, story_strategy(self._policy))
        names = [anchor("story", leaf[0].id, leaf[-1].id, self._policy.summarizer) for leaf in planned.leaves]
        stored = {each.id: each for each in self._stored(names)}
        written = passed = 0
        for name, leaf in zip(names, planned.leaves, strict=True):
            made = stored.get(name)
            if made is None and written == most:
                break
            if made is None:
                written += 1
                made = make_leaf(leaf, self._policy)
            passed += 1
            self._push(row, made)
        due = [message for leaf in planned.leaves[passed:] for message in leaf]
        return _NewLeaves(written=written, passed=passed, due=len(due), rest=(*due, *planned.rest))

    def _push(self, row: list[Summary], leaf: Summary) -> None:
        self._new[leaf.id] = leaf
        row.append(leaf)
        while (place := due_merge([node.depth for node in row], self._settings)) is not None:
            children = row[place : place + self._settings.fan_in]
            depth = source_depth(children[0].depth + 1, self._settings)
            told = [part for child in children for part in self.summaries_under(child, depth)]
            deeper = make_deeper(children, told, self._policy)
            self._new[deeper.id] = deeper
            row[place : place + self._settings.fan_in] = [deeper]


def _with_live(story: StorySettings, share: float, budget: int, head: Head) -> StorySettings:
    """The settings with as few live messages as there is room for in `share` of `budget`, by the path's average."""
    if not budget or not head.total_tokens:
        return story
    room = int(share * budget * (head.position + 1) / head.total_tokens)
    return replace(story, live_messages=min(story.live_messages, max(room, LEAST_LIVE)))


def open_threads(nodes: Sequence[Summary], cap: int) -> tuple[tuple[Thread, ...], int]:
    """Return the threads open at the end of adjacent summaries, and how many were dropped for weightier ones."""
    threads: tuple[Thread, ...] = ()
    forgotten = 0
    for node in nodes:
        threads, gone = follow(threads, node.threads, cap)
        forgotten += gone + node.threads.forgotten
    return threads, forgotten
