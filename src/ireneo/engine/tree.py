"""What a session has become: its summaries depth by depth, its branches, and the threads that are open at its end."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from ireneo.context.compose import ContextOptions
from ireneo.context.story import billed, standing_threads, tell_blocks
from ireneo.engine.branches import TreePath, tree_paths
from ireneo.engine.context import StoredReader
from ireneo.log.message import Count, MessageId
from ireneo.log.tree import Head, SessionKey
from ireneo.ports.store import Transaction
from ireneo.prompts.replies import Voice
from ireneo.summaries.policy import Policy
from ireneo.summaries.state import shown_state
from ireneo.summaries.story import TOLD_TOKENS
from ireneo.summaries.story_path import KnownStory, StoryRecords
from ireneo.summaries.summary import Summary, SummaryId, SummaryLevel, Thread, render
from ireneo.summaries.work import WORK


class OpenThread(Struct, frozen=True, kw_only=True):
    """A thread as it was opened."""

    id: str
    kind: str
    text: str
    who: str
    whom: str
    position: int
    """Where on the path it was opened."""


class TreeNode(Struct, frozen=True, kw_only=True):
    """A summary in its place on the path."""

    id: SummaryId
    """The canonical one's, which opens it; whoever wrote its text."""
    level: SummaryLevel
    depth: int
    first: MessageId
    last: MessageId
    first_position: int
    last_position: int
    messages: int
    """How many messages it covers."""
    tokens: int
    """What its text costs."""
    source_tokens: int
    """What the messages that it covers cost."""
    leaves: int
    retellings: int
    text: str
    """The best text that there is, in full."""
    model: str
    """Who wrote the text; empty: it is the one that the structure gives."""
    shown: bool
    """Whether it is one of the widest: those are what a context shows."""
    sources: tuple[SummaryId, ...]
    """The summaries right under it."""
    threads: tuple[OpenThread, ...]
    """What was opened within it and is open at its end."""


class TreeBranch(Struct, frozen=True, kw_only=True):
    """A branch beside the others."""

    name: str
    head: MessageId | None
    """None: it stands before the first message."""
    messages: int
    """How many messages its path has."""
    tokens: int
    parent: str
    """The branch that it leaves; empty where it leaves none."""
    shared: int
    """How many messages it shares with that one."""
    forks_at: MessageId | None
    """The last of them."""
    summarised: int
    """How many messages its widest summaries cover."""


class Tree(Struct, frozen=True, kw_only=True):
    """A session as it stands on one branch."""

    session: str
    branch: str
    preset: str
    head: MessageId | None
    messages: int
    """How many messages the path to the head has."""
    tokens: int
    """What they cost."""
    live: int
    """How many messages stand behind the last summary."""
    live_tokens: int
    behind: int
    """Of a story: of those behind the last summary, how many make whole leaves that nobody has written yet."""
    nodes: tuple[TreeNode, ...]
    """By their first positions, the widest first."""
    branches: tuple[TreeBranch, ...]
    """The one that this stands on, then the others by name."""
    threads: tuple[OpenThread, ...]
    """What is open at the end of the summaries."""


def tree(tx: Transaction, key: SessionKey, branch: str, policy: Policy, count: Count, voice: Voice) -> Tree:
    """Read the summaries along the path to the branch's head, and where the other branches leave it."""
    head = tx.log.head(key, branch)
    notes = tuple(tx.annotations.on_path(key, head.id)) if head else ()
    options = ContextOptions(budget=0, policy=policy, count=count, notes=notes)
    reader = StoredReader(tx, key, head, options, voice) if head else None
    shown = _widest(reader, policy) if reader else ()
    found = _with_sources(tx, key, shown)
    told = reader.texts(found) if reader else ()
    live, live_tokens = _live(tx, key, head, shown)
    story = policy.story
    behind = max(live - story.live_messages, 0) // story.leaf_messages * story.leaf_messages if story else 0
    widest = {each.id for each in shown}
    by_id = {summary.id: text for summary, text in zip(found, told, strict=True)}
    threads = standing_threads([by_id[each.id] for each in shown], options)[0] if story else ()
    return Tree(
        session=key.session,
        branch=branch,
        preset=policy.name,
        head=head.id if head else None,
        messages=head.position + 1 if head else 0,
        tokens=head.total_tokens if head else 0,
        live=live,
        live_tokens=live_tokens,
        behind=behind,
        nodes=tuple(_node(each, by_id[each.id], each.id in widest, count) for each in found),
        branches=tuple(_branches(tx, key, branch, policy.summarizer)),
        threads=tuple(map(_thread, threads)),
    )


def whole_text(summary: Summary, count: Count) -> str:
    """What a summary says, as its reader sees it: of a block of an agent's work all, of one of a story its words."""
    if summary.level == "story":
        (block,) = tell_blocks([summary], TOLD_TOKENS, billed(count))
        return block.partition("\n")[2]
    # Names of which nothing is said fill what room a context leaves; here they would bury what is said.
    lines = {name: [(line, ()) for line in summary.lines(name)] for name in WORK.sections(summary.level)}
    lines |= {"names": [], "state": [(line, ()) for line in shown_state(summary.lines("state"))]}
    return render(summary, lines, WORK)


def _widest(reader: StoredReader, policy: Policy) -> Sequence[Summary]:
    """The widest summaries; of a story those that are kept for a path of this length."""
    widest = reader.frontier(reader.head.position)
    if policy.story is None:
        return widest
    return KnownStory(reader, policy, StoryRecords()).opened(widest, 0)


def _with_sources(tx: Transaction, key: SessionKey, shown: Sequence[Summary]) -> list[Summary]:
    """The summaries that are shown and all that stand under them, by position, the widest first."""
    found: dict[str, Summary] = {}
    row = list(shown)
    while row:
        found.update((each.id, each) for each in row)
        under = dict.fromkeys(source for each in row for source in each.sources if source not in found)
        row = list(tx.summaries.get(key, list(under))) if under else []
    return sorted(found.values(), key=lambda each: (each.first_position, -each.last_position, -each.depth))


def _live(tx: Transaction, key: SessionKey, head: Head | None, shown: Sequence[Summary]) -> tuple[int, int]:
    """How many messages stand behind the last summary, and what they cost."""
    if head is None:
        return 0, 0
    if not shown:
        return head.position + 1, head.total_tokens
    last = shown[-1].last_position
    (covered,) = tx.log.path(key, head.id, last, last)
    return head.position - last, head.total_tokens - covered.total_tokens


def _branches(tx: Transaction, key: SessionKey, current: str, summarizer: str) -> list[TreeBranch]:
    heads = tx.sessions.branches(key)
    named = sorted(heads.items(), key=lambda each: (each[0] != current, each[0]))
    paths = tree_paths(tx, key, [(name, head) for name, head in named if head is not None])
    out = {path.name: _branch(tx, key, path, paths, summarizer) for path in paths}
    empty = TreeBranch(name="", head=None, messages=0, tokens=0, parent="", shared=0, forks_at=None, summarised=0)
    return [out.get(name) or replace(empty, name=name) for name, _ in named]


def _branch(tx: Transaction, key: SessionKey, path: TreePath, paths: Sequence[TreePath], summarizer: str) -> TreeBranch:
    covering = tx.summaries.frontier(key, path.head.id, summarizer)
    return TreeBranch(
        name=path.name,
        head=path.head.id,
        messages=path.head.position + 1,
        tokens=path.head.total_tokens,
        parent=paths[path.parent].name if path.parent is not None else "",
        shared=path.first,
        forks_at=path.leaves_at,
        summarised=sum(each.messages for each in covering),
    )


def _node(summary: Summary, told: Summary, shown: bool, count: Count) -> TreeNode:
    text = whole_text(told, count)
    return TreeNode(
        id=summary.id,
        level=summary.level,
        depth=summary.depth,
        first=summary.first,
        last=summary.last,
        first_position=summary.first_position,
        last_position=summary.last_position,
        messages=summary.messages,
        tokens=count(text),
        source_tokens=summary.source_tokens,
        leaves=summary.leaves,
        retellings=told.retellings,
        text=text,
        model=told.writing.model if told.writing and told.writing.trusted else "",
        shown=shown,
        sources=summary.sources,
        threads=tuple(_thread(each) for each in told.threads.opened),
    )


def _thread(thread: Thread) -> OpenThread:
    return OpenThread(
        id=thread.id, kind=thread.kind, text=thread.text, who=thread.who, whom=thread.whom, position=thread.position
    )
