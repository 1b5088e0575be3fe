"""The tree of a session: find messages by id, move branches, find messages on no branch, and describe summaries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from ireneo.context.story import conservative_count, standing_threads
from ireneo.context.story_blocks import tell_blocks
from ireneo.context.view import ContextOptions
from ireneo.engine.check import compile_traps
from ireneo.engine.context import StoredReader
from ireneo.engine.named import messages_named
from ireneo.errors import BadInput, MessageNotFound
from ireneo.language.topics import Voice
from ireneo.log.message import Count, Head, Message, MessageId, head_of
from ireneo.log.tree import ROOT, Annotation, SessionKey
from ireneo.ports.store import Pruned, Transaction
from ireneo.short_repr import ShortRepr
from ireneo.summaries.overview import asked_budget
from ireneo.summaries.policy import Policy
from ireneo.summaries.state import shown_state
from ireneo.summaries.story import TOLD_TOKENS
from ireneo.summaries.story_path import StoryPath
from ireneo.summaries.summary import Summary, SummaryId, SummaryLevel, Thread, render
from ireneo.summaries.work import WORK


def rewind(tx: Transaction, key: SessionKey, branch: str, to: str) -> Head | None:
    """Move `branch` back to the message `to` (``root``: before the first one); later messages stay in the log."""
    head = head_named(tx, key, branch, to)
    tx.log.move(key, branch, head.id if head else None)
    if head is not None:
        _recompile_traps(tx, key)
    return head


def head_named(tx: Transaction, key: SessionKey, branch: str, name: str) -> Head | None:
    """The place of the message that `name` means, as `find_on_path` does; None for ``root``."""
    return None if name == ROOT else head_of(find_on_path(tx, key, branch, name))


def _recompile_traps(tx: Transaction, key: SessionKey) -> None:
    """Compile the traps again if a branch returns to undone messages, which may warn again."""
    if tx.traps.read(key.space) is not None:
        tx.traps.keep(key.space, compile_traps(tx, key.space))


def fork(tx: Transaction, key: SessionKey, branch: str, name: str, at: str | None) -> Head | None:
    """Create the branch `name` at the message `at` of `branch` (None: at its head)."""
    if not name.strip() or "@" in name or not name.isprintable():
        raise BadInput(f"{name!r} can't name a branch; give one line of text, without @, which stands before a name.")
    if name in tx.sessions.branches(key):
        raise BadInput(f"Session {key.session} has a branch {name!r} already; choose another name.")
    head = tx.log.head(key, branch) if at is None else head_named(tx, key, branch, at)
    tx.log.move(key, name, head.id if head else None)
    _recompile_traps(tx, key)
    return head


def passes_through(tx: Transaction, key: SessionKey, head: Head | None, place: Head) -> bool:
    """Return whether the path to `head` goes through `place`."""
    if head is None or place.position > head.position:
        return False
    at = tx.log.path(key, head.id, place.position, place.position)
    return bool(at) and at[0].id == place.id


def find_on_path(tx: Transaction, key: SessionKey, branch: str, name: str) -> Message:
    """Return the message that `name` means: an id, the beginning of one, or the id in its log.

    If a log used one id for several messages, the last of them on the branch's path is returned. Raises
    MessageNotFound, and BadInput if several ids begin with `name`.
    """
    found = messages_named(name, tx.log.find(key, [name])) if name else []
    if not found:
        raise MessageNotFound(
            f"There is no message {name or repr(name)} in session {key.session}; "
            "a context shows the ids of its messages."
        )
    head = tx.log.head(key, branch)
    for message in reversed(found):
        if passes_through(tx, key, head, head_of(message)):
            return message
    return found[-1]


class TreePath(Struct, frozen=True, kw_only=True):
    """The part of the tree that belongs only to one path: the positions from `first` to its head."""

    name: str
    """The name of its branch; empty for an abandoned path."""
    head: Head
    first: int
    """The first position that belongs only to this path; if there is none, one after the head."""
    parent: int | None
    """The index of the path that this one leaves; None if it begins with its own first message."""
    leaves_at: MessageId | None
    """The last message that it shares with that path."""
    tokens: int
    """The cost of the messages that belong only to this path."""

    @property
    def messages(self) -> int:
        """The number of messages that belong only to this path."""
        return self.head.position - self.first + 1


def tree_paths(tx: Transaction, key: SessionKey, heads: Sequence[tuple[str, Head]]) -> list[TreePath]:
    """Return one path for each named head, in order; together the paths contain every message once.

    Forks are found by bisection, so that few messages are read. Of many paths that leave the same path, pass the
    longest first.
    """
    paths: list[TreePath] = []
    leaving: dict[tuple[int | None, int], list[int]] = {}
    """The paths that leave another one, by that one's index and the last shared position."""

    def followed_path(parent: int | None, at: int, head: Head) -> int | None:
        """Which of the paths that leave `parent` after position `at` the path to `head` follows, if any."""
        rivals = leaving.get((parent, at), [])
        if not rivals or at == head.position:
            return None
        mine = _message_at(tx, key, head, at + 1).id
        return next((each for each in rivals if _message_at(tx, key, paths[each].head, at + 1).id == mine), None)

    for name, head in heads:
        parent: int | None = None
        at = -1
        while (found := followed_path(parent, at, head)) is not None:
            parent, at = found, last_shared(tx, key, paths[found].head, head, at + 1)
        fork = _message_at(tx, key, head, at) if at >= 0 else None
        tokens = head.total_tokens - (fork.total_tokens if fork else 0)
        leaves_at = fork.id if fork else None
        path = TreePath(name=name, head=head, first=at + 1, parent=parent, leaves_at=leaves_at, tokens=tokens)
        if path.messages:
            leaving.setdefault((parent, at), []).append(len(paths))
        paths.append(path)
    return paths


def last_shared(tx: Transaction, key: SessionKey, one: Head, other: Head, low: int = -1) -> int:
    """Return the last position that two paths share, given that they share `low`; -1 for none."""
    high = min(one.position, other.position)
    tries = 0
    while low < high:
        # Most often one path begins the other, or leaves it near its end.
        probe = max(high - (1 << tries) // 4, (low + high + 1) // 2)
        if _message_at(tx, key, one, probe).id == _message_at(tx, key, other, probe).id:
            low = probe
        else:
            high = probe - 1
        tries += 1
    return low


def _message_at(tx: Transaction, key: SessionKey, head: Head, position: int) -> Message:
    (message,) = tx.log.path(key, head.id, position, position)
    return message


def prunable(tx: Transaction, key: SessionKey, without: str = "") -> Pruned:
    """Count the messages that no branch leads to, or would without the branch `without`. Raises as `drop_branch`."""
    kept = dict(tx.sessions.branches(key))
    ends = [("", end) for end in reversed(tx.upkeep.abandoned_heads(key))]
    if without:
        _check_drop(tx, key, without)
        if head := kept.pop(without):
            ends.append(("", head))
    named = [(name, head) for name, head in kept.items() if head is not None]
    found = tree_paths(tx, key, [*named, *ends])[len(named) :]
    return Pruned(messages=sum(path.messages for path in found), tokens=sum(path.tokens for path in found))


def drop_branch(tx: Transaction, key: SessionKey, branch: str) -> None:
    """Delete the name of a branch.

    Raises BadInput if there is no such branch, or if no other branch leads to a message.
    """
    _check_drop(tx, key, branch)
    tx.upkeep.drop_branch(key, branch)


def _check_drop(tx: Transaction, key: SessionKey, branch: str) -> None:
    there = tx.sessions.branches(key)
    if branch not in there:
        names = ", ".join(there) or "none"
        raise BadInput(f"Session {key.session} has no branch {branch!r}; it has: {names}.")
    others = [head for name, head in there.items() if name != branch]
    if not others:
        raise BadInput(
            f"{branch!r} is the only branch of session {key.session}, and nothing would lead to its messages; "
            "make another one first, and drop it then."
        )
    if there[branch] is not None and not any(others):
        raise BadInput(
            f"{branch!r} is the only branch of session {key.session} that leads to a message; "
            "move another one to what is to be kept first."
        )


class OpenThread(Struct, frozen=True, kw_only=True):
    """An open thread of a story."""

    id: str
    kind: str
    text: str
    who: str
    whom: str
    position: int
    """The position of the message that opened it."""


class TreeNode(Struct, frozen=True, kw_only=True):
    """A summary and its place on the path."""

    id: SummaryId
    """The id by which the summary can be opened, whoever wrote the text."""
    level: SummaryLevel
    depth: int
    first: MessageId
    last: MessageId
    first_position: int
    last_position: int
    messages: int
    """The number of messages that the summary covers."""
    tokens: int
    """The cost of the text."""
    source_tokens: int
    """The cost of the messages that the summary covers."""
    leaves: int
    retellings: int
    text: str
    """The best text of the summary, in full."""
    model: str
    """The model that wrote the text; empty if it was written without one."""
    shown: bool
    """Whether no wider summary covers it, so that contexts may show it."""
    sources: tuple[SummaryId, ...]
    """The summaries that this one was merged from."""
    threads: tuple[OpenThread, ...]
    """The threads that were opened within the summary and are open at its end."""


class TreeBranch(Struct, frozen=True, kw_only=True):
    """A branch, and how it relates to the others."""

    name: str
    head: MessageId | None
    """The last message of the branch; None before the first one."""
    messages: int
    """The number of messages on its path."""
    tokens: int
    parent: str
    """The branch from which this one forks; empty for none."""
    shared: int
    """The number of messages that both branches share."""
    forks_at: MessageId | None
    """The last message that both share."""
    summarised: int
    """The number of messages on the branch that summaries cover."""


class Tree(ShortRepr, frozen=True, kw_only=True):
    """A session, seen from one branch."""

    session: str
    branch: str
    preset: str
    head: MessageId | None
    messages: int
    """The number of messages on the path."""
    tokens: int
    """The cost of these messages."""
    live: int
    """The number of messages after the last summary."""
    live_tokens: int
    behind: int
    """For a story: how many of the live messages are due to be summarised."""
    nodes: tuple[TreeNode, ...]
    """The summaries, by first position, of equal ones the widest first."""
    branches: tuple[TreeBranch, ...]
    """This branch first, then the others by name."""
    threads: tuple[OpenThread, ...]
    """The threads that are open at the end of the summaries."""
    overviews: tuple[TreeNode, ...] = ()
    """For a story: the newest overview for each budget, by cost; narrow contexts show one in place of the summaries."""


MOST_TOLD = 20_000
"""Tokens that no text by a model has."""


def tree(tx: Transaction, key: SessionKey, branch: str, policy: Policy, count: Count, voice: Voice) -> Tree:
    """Describe the summaries along the path to the branch's head, and where other branches leave it."""
    head = tx.log.head(key, branch)
    notes = tuple(tx.annotations.on_path(key, head.id)) if head else ()
    options = ContextOptions(budget=0, policy=policy, count=count, notes=notes)
    reader = StoredReader(tx, key, head, options, voice) if head else None
    shown = reader.frontier(reader.head.position) if reader else ()
    if reader and policy.story:
        # Of a story those that are kept for a path of this length.
        shown = StoryPath(reader, policy).opened(shown, 0)
    found = _with_sources(tx, key, shown)
    told = reader.texts(found) if reader else ()
    live, live_tokens = _live_messages(tx, key, head, shown)
    story = policy.story
    behind = max(live - story.live_messages, 0) // story.leaf_messages * story.leaf_messages if story else 0
    widest = {each.id for each in shown}
    by_id = {summary.id: text for summary, text in zip(found, told, strict=True)}
    overviews: dict[int, Summary] = {}
    for each in sorted(reader.overviews() if reader and story else (), key=lambda each: each.last_position):
        if each.is_written:
            overviews[asked_budget(each.summarizer)] = each
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
        nodes=tuple(_tree_node(each, by_id[each.id], each.id in widest, count) for each in found),
        branches=tuple(_tree_branches(tx, key, branch, policy.summarizer)),
        threads=tuple(map(_open_thread, threads)),
        overviews=tuple(_tree_node(each, each, False, count) for _, each in sorted(overviews.items())),
    )


def whole_text(summary: Summary, count: Count) -> str:
    """The full text of a summary: all lines of a block of work, the words of a story's."""
    if summary.level == "story":
        # Sentences selected by rules are more than a reader wants; a model's text is read as a whole.
        room = MOST_TOLD if summary.is_written else TOLD_TOKENS
        (block,) = tell_blocks([summary], room, conservative_count(count))
        return block.partition("\n")[2]
    lines = {name: [(line, ()) for line in summary.lines(name)] for name in WORK.sections(summary.level)}
    lines["state"] = [(line, ()) for line in shown_state(summary.lines("state"))]
    return render(summary, lines, WORK)


def _with_sources(tx: Transaction, key: SessionKey, shown: Sequence[Summary]) -> list[Summary]:
    """The summaries `shown` and all their sources, by position, the widest first."""
    found: dict[str, Summary] = {}
    row = list(shown)
    while row:
        found.update((each.id, each) for each in row)
        under = dict.fromkeys(source for each in row for source in each.sources if source not in found)
        row = list(tx.summaries.get(key, list(under))) if under else []
    return sorted(found.values(), key=lambda each: (each.first_position, -each.last_position, -each.depth))


def _live_messages(tx: Transaction, key: SessionKey, head: Head | None, shown: Sequence[Summary]) -> tuple[int, int]:
    """How many messages come after the last summary, and what they cost."""
    if head is None:
        return 0, 0
    if not shown:
        return head.position + 1, head.total_tokens
    last = shown[-1].last_position
    (covered,) = tx.log.path(key, head.id, last, last)
    return head.position - last, head.total_tokens - covered.total_tokens


def _tree_branches(tx: Transaction, key: SessionKey, current: str, summarizer: str) -> list[TreeBranch]:
    heads = tx.sessions.branches(key)
    named = sorted(heads.items(), key=lambda each: (each[0] != current, each[0]))
    paths = tree_paths(tx, key, [(name, head) for name, head in named if head is not None])
    out = {path.name: _tree_branch(tx, key, path, paths, summarizer) for path in paths}
    empty = TreeBranch(name="", head=None, messages=0, tokens=0, parent="", shared=0, forks_at=None, summarised=0)
    return [out.get(name) or replace(empty, name=name) for name, _ in named]


def _tree_branch(
    tx: Transaction, key: SessionKey, path: TreePath, paths: Sequence[TreePath], summarizer: str
) -> TreeBranch:
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


def _tree_node(summary: Summary, told: Summary, shown: bool, count: Count) -> TreeNode:
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
        threads=tuple(_open_thread(each) for each in told.threads.opened),
    )


def _open_thread(thread: Thread) -> OpenThread:
    return OpenThread(
        id=thread.id, kind=thread.kind, text=thread.text, who=thread.who, whom=thread.whom, position=thread.position
    )


CHUNK = 500
"""Messages or summaries read per query."""


def heads_of(tx: Transaction, key: SessionKey) -> list[Head]:
    """The ends of all paths of a session: the heads of its branches, then abandoned ends."""
    branches = tx.sessions.branches(key)
    heads = [*(head for head in branches.values() if head is not None), *reversed(tx.upkeep.abandoned_heads(key))]
    return list({head.id: head for head in heads}.values())


def all_messages(tx: Transaction, key: SessionKey, *, whole: bool = False) -> Iterator[Message]:
    """Every message of a session once; with `whole` including its native payload and log record."""
    for path in tree_paths(tx, key, [("", head) for head in heads_of(tx, key)]):
        for first in range(path.first, path.head.position + 1, CHUNK):
            last = min(first + CHUNK - 1, path.head.position)
            read = tx.log.path(key, path.head.id, first, last)
            yield from whole_messages(tx, key, read) if whole else read


def whole_messages(tx: Transaction, key: SessionKey, messages: Sequence[Message]) -> list[Message]:
    """The messages with their native payloads and log records."""
    drafts = tx.log.drafts(key, [message.id for message in messages])
    return [replace(message, draft=drafts[message.id]) for message in messages]


def all_summaries(tx: Transaction, key: SessionKey) -> Iterator[Summary]:
    """Every summary of a session."""
    ids = tx.upkeep.summaries(key)
    for start in range(0, len(ids), CHUNK):
        yield from tx.summaries.get(key, ids[start : start + CHUNK])


def all_annotations(tx: Transaction, key: SessionKey) -> list[Annotation]:
    """Every annotation of a session, on any path."""
    ends = (None, *(head.id for head in heads_of(tx, key)))
    return list({each.id: each for end in ends for each in tx.annotations.on_path(key, end)}.values())
