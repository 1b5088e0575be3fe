"""Import logs in batches: each session as a tree, or several logs joined into one session."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from itertools import count as count_from
from os import PathLike
from pathlib import Path
from typing import TypeAlias, TypeVar

import msgspec
from msgspec import Struct, field
from msgspec.structs import asdict, replace

from ireneo.engine.annotations import BranchMove, carry
from ireneo.engine.resources import (
    Cleaning,
    DraftVariants,
    Resources,
    StoredIdFinder,
    UncleanedIds,
)
from ireneo.engine.scope import record_project
from ireneo.engine.tree import last_shared, passes_through
from ireneo.errors import BadInput
from ireneo.formats.logs.format import (
    CONVERSATIONS,
    LogFault,
    LogFormat,
    LogFormatName,
    LoggedNode,
    StreamedSession,
    StreamingFormat,
    UniqueNames,
    as_stream,
    in_a_row,
    log_format,
    nothing_readable,
    recognise,
)
from ireneo.log.message import (
    Count,
    Draft,
    Head,
    Message,
    MessageId,
    Native,
    count_parts,
    head_of,
    strings,
)
from ireneo.log.tree import MAIN, SessionKey
from ireneo.ports.models import LogPlace, LogSource
from ireneo.ports.store import Store, Transaction
from ireneo.short_repr import ShortRepr

T = TypeVar("T")

BATCH = 4_000
"""Messages per transaction: an interrupted import keeps what was stored, and may be run again."""
LABELS = "labels"
"""The format of a record that only contains labels from files next to the log."""
BATCH_BYTES = 8_000_000
"""Characters of messages and their records per transaction."""


def new_name(stem: str, place: LogPlace, names: Collection[str]) -> str:
    """Return a unique name for a file, different from the `names` of others."""
    name = stem
    if name in names and isinstance(place, str | PathLike):
        # Agents that give every run's file the same name keep them in different folders.
        name = f"{Path(place).absolute().parent.name}/{name}"
    return f"{name}-{len(names) + 1}" if name in names else name


def format_of(given: LogFormatName | LogFormat | None, file: LogSource) -> LogFormat:
    """Return the given format, or recognise the format of the file."""
    if given is None:
        return recognise(file.sample(), file.label)
    return log_format(given) if isinstance(given, str) else given


def _next_batch(items: Iterator[T], size: Callable[[T], int]) -> list[T]:
    """Read until there is enough for a transaction; to be run in a thread, since reading and redacting is slow."""
    batch: list[T] = []
    letters = 0
    for item in items:
        batch.append(item)
        letters += size(item)
        if len(batch) >= BATCH or letters >= BATCH_BYTES:
            break
    return batch


def _size_of(draft: Draft) -> int:
    """Estimate the characters of a draft with its native payload and its record."""
    return sum(map(len, strings(msgspec.to_builtins(draft))))


class Imported(ShortRepr, frozen=True, kw_only=True):
    """The outcome of importing one session."""

    session: str
    messages: int
    """The number of messages in the log."""
    new: int
    """The number of those messages that were not stored before."""
    tokens: int
    """The cost of the path to the log's head; for several logs in one session, the cost that this log adds."""
    faults: tuple[LogFault, ...]
    redacted: Mapping[str, int] = field(default_factory=dict)
    """How many different secrets of each kind were redacted."""
    unredacted: int = 0
    """Messages that were stored with secrets before, and still are; `Memory.secrets` removes them."""
    kept: str = ""
    """The branch that keeps messages appended since the last import, if the log continues differently."""
    carried: int = 0
    """How many pins, threads, facts and summaries by hand were carried over to the edited messages."""
    unplaced: tuple[str, ...] = ()
    """Those that were written at messages which are no longer in the chat, so that they may be false now."""
    lost: tuple[str, ...] = ()
    """Summaries by hand that are no longer shown, since their messages were edited."""


LabelOf: TypeAlias = Callable[[str], Mapping[str, object] | None]
"""`LogSource.label_of`."""


def sessions_of(log: LogFormat, lines: Iterable[bytes], name: str, label_of: LabelOf) -> Iterator[StreamedSession]:
    """Read the sessions of a log, with their labels; each must be read before the next one is asked for."""
    read = log.grow(lines, name) if isinstance(log, StreamingFormat) else map(as_stream, log.read(lines, name))
    for logged in read:
        label = label_of(logged.id)
        yield StreamedSession(logged.id, _with_label(logged, label), logged.faults) if label else logged


async def import_sessions(
    resources: Resources,
    space: str,
    lines: Iterable[bytes],
    log: LogFormat,
    name: str,
    keep_secrets: bool | None,
    label_of: LabelOf,
) -> AsyncGenerator[Imported, None]:
    """Store every message of a log's sessions, redacted, each session as it is read; `name` is the file's.

    A session's main branch is moved to the log's head, unless it was continued since an earlier import, or moved
    elsewhere while the log has nothing new; that of a chat as `move_main_branch` says. A large session takes several
    transactions. The last one with new messages, if there are any, also moves the branch, so that a repeated import
    after an interruption doesn't look like one without anything new.
    """
    store = resources.store
    move = move_main_branch if log.name in CONVERSATIONS else _move_forward
    found = sessions_of(log, lines, name, label_of)
    # Parsing a large log takes long: read each session in a thread.
    while (logged := await asyncio.to_thread(next, found, None)) is not None:
        cleaning = resources.cleaning(keep_secrets)
        key = await store.read(stored_name, SessionKey(space, logged.id), cleaning)
        source = f"{log.name}:{cleaning.text(name)}"
        of_file = is_of_file(logged.id, name)
        importing = _SessionImport(key, source, resources.count, cleaning, named_by_file=of_file)
        end = await importing.run(store, logged, lambda draft: draft, move)
        yield importing.report(logged, end)


def _with_label(logged: StreamedSession, label: Mapping[str, object]) -> Generator[LoggedNode, None, int]:
    """The nodes of a session, the first with the session's label."""
    for at, node in enumerate(logged):
        if at:
            yield node
            continue
        record = node.draft.record
        noted = record.payload if record is not None else []
        payload = [*(noted if isinstance(noted, list | tuple) else [noted]), dict(label)]
        form = record.format if record is not None else LABELS
        yield replace(node, draft=replace(node.draft, record=Native(format=form, payload=payload)))
    return logged.head


class NamedSession(Struct, frozen=True, kw_only=True):
    """A redacted session of a log, with the ids that its messages get in an empty store."""

    key: SessionKey
    source: str
    follows: bool
    end: Head
    runs: Sequence[Sequence[Message]]
    """The messages of the session, in runs; each run continues an earlier message."""
    imported: Imported
    has_secrets: bool
    """Whether a message has secrets, so that stored messages may have other ids."""
    is_renamed: bool
    """Whether the session's name has a secret."""

    @property
    def messages(self) -> Iterator[Message]:
        """All messages."""
        return (message for run in self.runs for message in run)


async def name_session(
    store: Store, space: str, logged: StreamedSession, source: str, count: Count, cleaning: Cleaning, *, follows: bool
) -> NamedSession:
    """Import a session into an empty store, and return what `keep_named` needs to store it in another."""
    key = await store.read(stored_name, SessionKey(space, logged.id), cleaning)
    importing = _SessionImport(key, source, count, cleaning)
    read = [(node, cleaning.variants(node.draft)) for node in logged]
    runs = await store.read(importing.unstored, read)
    end = importing.heads[logged.head]
    await store.write(importing.finish, runs, end, move_main_branch if follows else _move_forward)
    return NamedSession(
        key=key,
        source=source,
        follows=follows,
        end=end,
        runs=runs,
        imported=importing.report(logged, end),
        has_secrets=any(len(variants.drafts) > 1 for _, variants in read),
        is_renamed=key.session != logged.id,
    )


def keep_named(tx: Transaction, space: str, named: NamedSession) -> Imported:
    """Store a session that was named by `name_session`, as `import_sessions` would have."""
    importing = _SessionImport(SessionKey(space, named.key.session), named.source, len, Cleaning(None))
    importing.finish(tx, named.runs, named.end, move_main_branch if named.follows else _move_forward)
    return replace(named.imported, new=importing.new, **asdict(importing.moved))


MoveMain = Callable[[Transaction, SessionKey, Head, bool], BranchMove]
"""Moves the main branch once a log is stored up to its head; the flag says whether anything was new."""


def _move_forward(tx: Transaction, key: SessionKey, end: Head, changed: bool) -> BranchMove:
    branches = tx.sessions.branches(key)
    main = branches.get(MAIN)
    if MAIN in branches and (not changed or passes_through(tx, key, main, end)):
        return BranchMove()
    return _move_branch(tx, key, main, end)


def _fast_forward(tx: Transaction, key: SessionKey, end: Head, changed: bool) -> BranchMove:
    main = tx.sessions.branches(key).get(MAIN)
    if main is None or passes_through(tx, key, end, main):
        tx.log.move(key, MAIN, end.id)
    return BranchMove()


def _extend(tx: Transaction, key: SessionKey, end: Head, changed: bool) -> BranchMove:
    """Move the main branch forward to `end`, unless it has gone on from there; raise BadInput if it went elsewhere."""
    branches = tx.sessions.branches(key)
    main = branches.get(MAIN)
    if MAIN not in branches or (changed and not passes_through(tx, key, main, end)):
        if main is not None and not passes_through(tx, key, end, main):
            raise BadInput(
                f"Session {key.session} holds other messages than these logs, or has gone on since; name all of its "
                "logs in their order, the new ones last, or take them into another session."
            )
        tx.log.move(key, MAIN, end.id)
    return BranchMove()


def _move_branch(tx: Transaction, key: SessionKey, main: Head | None, end: Head, kept: str = "") -> BranchMove:
    """Move the main branch from `main` to `end`, with what was written by hand on the path that it leaves."""
    tx.log.move(key, MAIN, end.id)
    return replace(carry(tx, key, main, end), kept=kept)


def move_main_branch(tx: Transaction, key: SessionKey, end: Head, changed: bool) -> BranchMove:
    """Move the main branch to `end`, where an edited chat ends now.

    The branch isn't moved if messages were appended after the chat's end, or after a rewind unless the chat has
    `changed`. Messages that the chat no longer contains remain in the log outside the path, as after a rewind.
    """
    branches = dict(tx.sessions.branches(key))
    main = branches.pop(MAIN, None)
    parts = last_shared(tx, key, main, end) if main else -1
    if main is None or parts == main.position:
        return _move_branch(tx, key, main, end)
    kept = ""
    if not _is_logged(tx, key, main.id):
        (leaves,) = tx.log.path(key, main.id, parts + 1, parts + 1)
        if not _is_logged(tx, key, leaves.id) and (parts == end.position or not changed):
            return BranchMove()
        standing = (name for name, head in branches.items() if head is not None and head.id == main.id)
        kept = next(standing, "") or UniqueNames([MAIN, *branches]).choose(MAIN)
        tx.log.move(key, kept, main.id)
    return _move_branch(tx, key, main, end, kept)


SAME_CHAT = 1_000
"""How many of the first messages are compared with those of the session."""
MOST_CUT = 8
"""How many messages may be missing at the beginning of a chat; if more are, only its later file was given."""


def _refuse_another(tx: Transaction, key: SessionKey, messages: Sequence[Message]) -> None:
    """Raise BadInput if `messages`, the first of a chat, share none with the beginning of the session.

    An edited chat keeps some of its messages; without any it is another chat, or only its second file. System messages
    are ignored here.
    """
    new = [message.text for message in messages[:SAME_CHAT] if message.role != "system"]
    places = _shared_places(tx, key, new) if new else None
    if places is not None and (not places or places[0] > MOST_CUT):
        raise BadInput(
            f"Session {key.session} holds another chat than this one; name all of its logs in their order, the new "
            "ones last, or take them into another session."
        )


def _shared_places(tx: Transaction, key: SessionKey, said: Sequence[str]) -> list[int] | None:
    """By how many places each text that a chat and a session share is later in the session; None for an empty one."""
    main = tx.sessions.branches(key).get(MAIN) if tx.sessions.get(key) else None
    there = [each.text for each in tx.log.path(key, main.id, 0, SAME_CHAT) if each.role != "system"] if main else []
    places = {text: place for place, text in reversed(list(enumerate(there)))}
    return [places[text] - place for place, text in enumerate(said) if text in places] if there else None


def holds_another(tx: Transaction, key: SessionKey, said: Sequence[str]) -> bool:
    """Whether a session holds another chat than the one that begins with what was `said`.

    What was erased there can't be compared, and must not come back under another name.
    """
    said = [text for text in said if text]
    return bool(said) and not tx.sessions.erased(key) and _shared_places(tx, key, said) == []


def is_of_file(session: str, name: str) -> bool:
    """Whether a session of a log has its name from that of the file, since the log has none."""
    return session == name or session.startswith(f"{name}-")


def _is_logged(tx: Transaction, key: SessionKey, id: MessageId) -> bool:
    """Whether a message was imported: an appended one has a time, and no record."""
    draft = tx.log.drafts(key, [id])[id]
    return draft.record is not None or draft.at is None


def stored_name(tx: Transaction, key: SessionKey, cleaning: Cleaning) -> SessionKey:
    """Redact the name of a session, unless it is stored with its secrets."""
    if tx.sessions.get(key) is not None:
        return key
    return SessionKey(key.space, cleaning.text(key.session))


class _SessionImport:
    def __init__(
        self,
        key: SessionKey,
        source: str | None,
        count: Count,
        cleaning: Cleaning,
        base: Head | None = None,
        *,
        joins: bool = False,
        named_by_file: bool = False,
    ) -> None:
        """Begin after `base`, or at the root; a chat that `joins` others there must be the same.

        A session that has its name from its file gets another where the stored one of that name shares nothing with it.
        """
        self._key = key
        self._source = source
        self._count = count
        self._cleaning = cleaning
        self._base = base
        self._joins = joins
        self._named_by_file = named_by_file
        self.uncleaned: UncleanedIds = {}
        self.new = 0
        self.moved = BranchMove()
        self.heads: list[Head] = []

    async def run(
        self, store: Store, logged: StreamedSession, named: Callable[[Draft], Draft], move_main: MoveMain
    ) -> Head:
        """Store all drafts, changed by `named`, and call `move_main` with its head; returns the head."""
        nodes = ((node, self._cleaning.variants(named(node.draft))) for node in logged)
        held: Sequence[Sequence[Message]] = ()
        while read := await asyncio.to_thread(_next_batch, nodes, lambda each: _size_of(each[0].draft)):
            if self._named_by_file and not self.heads:
                self._key = await store.read(self._own_key, read)
            # A batch with new messages is held until the next one is found, since the last one moves the branch.
            if runs := await store.read(self.unstored, read):
                if held:
                    await store.write(self.insert, held)
                held = runs
        end = self.heads[logged.head]
        await store.write(self.finish, held, end, move_main)
        return end

    def _own_key(self, tx: Transaction, read: Sequence[tuple[LoggedNode, DraftVariants]]) -> SessionKey:
        """The key of the session that holds what was `read`, or of a new one."""
        said = [each.text for _, variants in read[:SAME_CHAT] for each in variants.drafts if each.role != "system"]
        names = chain([self._key.session], (f"{self._key.session}-{number}" for number in count_from(2)))
        keys = (SessionKey(self._key.space, name) for name in names)
        return next(key for key in keys if not holds_another(tx, key, said))

    def unstored(
        self, tx: Transaction, read: Sequence[tuple[LoggedNode, DraftVariants]]
    ) -> Sequence[Sequence[Message]]:
        """Turn a batch into messages with their ids, grouped into chains that continue earlier messages.

        Returns an empty list if the whole batch is stored already, so that nothing has to be written.
        """
        find = partial(tx.log.find, self._key)
        has_erased = tx.sessions.erased(self._key) > 0
        naming = StoredIdFinder(self._cleaning, find, has_erased=has_erased, given=self.uncleaned)
        runs: list[list[Message]] = []
        begins = self._joins and self._base is None and not self.heads
        for node, variants in read:
            before = self._base if node.parent is None else self.heads[node.parent]
            message = naming.message(before, variants, lambda parts: count_parts(parts, self._count))
            if runs and node.parent == len(self.heads) - 1:
                runs[-1].append(message)
            else:
                runs.append([message])
            self.heads.append(head_of(message))
        if begins:
            _refuse_another(tx, self._key, [message for run in runs for message in run])
        # Messages are stored in order, so a run is stored if its last message is.
        ends = (run[-1].id for run in reversed(runs))
        return runs if any(all(each.id != end for each in find([end])) for end in ends) else []

    def insert(self, tx: Transaction, runs: Sequence[Sequence[Message]]) -> None:
        """Store a batch."""
        tx.sessions.create(self._key, self._source)
        self.new += sum(tx.log.insert(self._key, run) for run in runs)

    def finish(self, tx: Transaction, runs: Sequence[Sequence[Message]], end: Head, move_main: MoveMain) -> None:
        """Store the last batch, and call `move_main` with its head."""
        self.insert(tx, runs)
        self.moved = move_main(tx, self._key, end, self.new > 0)
        record_project(tx, self._key, drafts=[each.draft for run in runs for each in run])

    def report(self, logged: StreamedSession, end: Head) -> Imported:
        """Return the outcome of the import, whose head is `end`."""
        cleaning = self._cleaning
        return Imported(
            session=self._key.session,
            messages=len(self.heads),
            new=self.new,
            tokens=end.total_tokens,
            faults=tuple(map(cleaning.fault, logged.faults)),
            redacted=cleaning.found,
            unredacted=cleaning.unredacted,
            **asdict(self.moved),
        )


class JoinedImport:
    """Joins several logs into one session; messages that are stored already stay as they are.

    The main branch moves to the end of the logs, unless it has gone on from there. If the last of them is a chat,
    `settle` moves the branch to where it ends now.
    """

    def __init__(self, store: Store, key: SessionKey, count: Count, cleaning: Cleaning) -> None:
        """Begin at the session's root. Messages are redacted by `cleaning`."""
        self._store = store
        self._key = key
        self._count = count
        self._cleaning = cleaning
        self._head: Head | None = None
        self._earlier: set[str] = set()
        """The source ids of the earlier logs."""
        self._uncleaned: UncleanedIds = {}
        self._follows = False
        self._new = 0

    async def import_log(self, lines: Iterable[bytes], log: LogFormat, *, name: str) -> Imported:
        """Store the messages of a log after those of the earlier logs, while it is read; `name` is the file's.

        For an agent's log only the path to its head is stored, for a chat all branches. Raises UnreadableLog if it has
        no message, and BadInput if the session contains other messages.
        """
        cleaning = self._cleaning
        self._key = await self._store.read(stored_name, self._key, cleaning)
        name = cleaning.text(name)
        found = Counter(cleaning.found)
        before, unredacted = self._head, cleaning.unredacted
        faults: list[LogFault] = []
        ids: set[str] = set()
        messages = new = 0
        self._follows = log.name in CONVERSATIONS
        sessions = sessions_of(log, lines, name, lambda session: None)
        while (logged := await asyncio.to_thread(next, sessions, None)) is not None:
            if not self._follows:
                logged = StreamedSession(
                    logged.id, in_a_row((await asyncio.to_thread(logged.whole)).path), logged.faults
                )
            source = f"{log.name}:{self._key.session}"
            importing = _SessionImport(self._key, source, self._count, cleaning, self._head, joins=self._follows)
            importing.uncleaned = self._uncleaned
            move = _fast_forward if self._follows else _extend
            self._head = await importing.run(
                self._store, logged, lambda draft: self._with_unique_id(draft, name, ids), move
            )
            faults += map(cleaning.fault, logged.faults)
            messages, new = messages + len(importing.heads), new + importing.new
        if self._head is None or not messages:
            raise nothing_readable(faults)
        self._earlier |= ids
        self._new += new
        return Imported(
            session=self._key.session,
            messages=messages,
            new=new,
            tokens=self._head.total_tokens - (before.total_tokens if before else 0),
            faults=tuple(faults),
            redacted=dict(Counter(cleaning.found) - found),
            unredacted=cleaning.unredacted - unredacted,
        )

    async def settle(self) -> BranchMove:
        """Move the main branch to the end of the logs."""
        if self._head is None or not self._follows:
            return BranchMove()
        return await self._store.write(move_main_branch, self._key, self._head, self._new > 0)

    def _with_unique_id(self, draft: Draft, name: str, ids: set[str]) -> Draft:
        """Make the source id of `draft` unique among the earlier logs, by the name of its own."""
        if draft.source_id is None:
            return draft
        if draft.source_id in self._earlier:
            draft = replace(draft, source_id=f"{name}:{draft.source_id}")
        ids.add(draft.source_id or "")
        return draft
