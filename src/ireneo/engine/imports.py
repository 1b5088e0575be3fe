"""Take a logged session into the log: its tree as it is, whether or not parts of it are there already."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from ireneo.context.weigh import Count, weigh
from ireneo.engine.batches import BATCH, BATCH_BYTES, size_of
from ireneo.engine.cleaning import Cleaning, Naming
from ireneo.engine.projects import place_session
from ireneo.formats.logs.format import Fault, GrowingSession, Node
from ireneo.log.branch import MAIN, Head, SessionKey, head_of
from ireneo.log.message import Message, MessageId, Part
from ireneo.ports.store import Store
from ireneo.ports.transition import Transaction


class Imported(Struct, frozen=True, kw_only=True):
    """What an import did with one session."""

    session: str
    messages: int
    """How many messages the log has."""
    new: int
    """How many of them were not stored before."""
    tokens: int
    """What the path to the log's head costs; of several logs in one session, what this one adds to it."""
    faults: tuple[Fault, ...]
    redacted: Mapping[str, int] = field(default_factory=dict)
    """How many different secrets of each kind were taken out; never what they were."""
    unredacted: int = 0
    """How many messages were there already with their secrets, and stay so; `Memory.secrets` takes these out."""


async def import_session(
    store: Store,
    space: str,
    logged: GrowingSession,
    source: str | None,
    count: Count,
    cleaning: Cleaning = Cleaning(None),  # noqa: B008 - it has no state
) -> Imported:
    """Store every message of a logged session, cleaned, and let its main branch stand where the log left off.

    A branch that has gone on since an earlier import of the same log stays where it is, and so does one that was taken
    elsewhere when the log has nothing new. A large session is stored in several transactions; the last of them has
    something new wherever there is anything, and moves the branch. So one that is broken off and begun again is told
    from one that has nothing new, and ends as if it had never been broken off.
    """
    key = await stored_name(store, SessionKey(space, logged.id), cleaning)
    async with store.read() as tx:
        has_erased = await tx.erasure.count(key) > 0
    importing = _Importing(store, key, source, count)
    naming = Naming(cleaning, importing.find, has_erased=has_erased)
    for node in logged:
        before = None if node.parent is None else importing.heads[node.parent]
        await importing.add(node, await naming.message(before, cleaning.choices(node.draft), importing.weigh))
    end = importing.heads[logged.head]
    new = await importing.finish(end)
    return Imported(
        session=key.session,
        messages=len(importing.heads),
        new=new,
        tokens=end.total_tokens,
        faults=tuple(map(cleaning.fault, logged.faults)),
        redacted=cleaning.found,
        unredacted=cleaning.unredacted,
    )


async def stored_name(store: Store, key: SessionKey, cleaning: Cleaning) -> SessionKey:
    """`key` under the name that its session is stored by: without the secrets in it, unless it is there with them."""
    async with store.read() as tx:
        if await tx.sessions.get(key) is not None:
            return key
    return SessionKey(key.space, cleaning.text(key.session))


class _Batch(Struct, kw_only=True):
    """Messages that are stored together, in runs that each go on from a message before."""

    runs: list[list[Message]] = field(default_factory=list)
    messages: int = 0
    bytes: int = 0
    last: int = -1
    """The index of its last node."""


class _Heads:
    """The head at each node of a session, held in little room."""

    def __init__(self) -> None:
        self._ids: list[MessageId] = []
        self._positions = array("q")
        self._turns = array("q")
        self._totals = array("q")

    def __len__(self) -> int:
        return len(self._ids)

    def __getitem__(self, node: int) -> Head:
        return Head(
            id=self._ids[node],
            position=self._positions[node],
            turn=self._turns[node],
            total_tokens=self._totals[node],
        )

    def append(self, head: Head) -> None:
        self._ids.append(head.id)
        self._positions.append(head.position)
        self._turns.append(head.turn)
        self._totals.append(head.total_tokens)


class _Importing:
    """One session on its way into the store."""

    def __init__(self, store: Store, key: SessionKey, source: str | None, count: Count) -> None:
        self._store = store
        self._key = key
        self._source = source
        self._count = count
        self.heads = _Heads()
        self._batch = _Batch()
        self._held: _Batch | None = None
        """A batch with something new, which is stored once more is found that is new."""
        self._held_end: int | None = None
        """The index of the last node of the held batch, where that is new."""
        self._new = 0

    async def add(self, node: Node, message: Message) -> None:
        """Take a node in, whose message this is; its parent was taken in before."""
        if self._batch.messages >= BATCH or self._batch.bytes >= BATCH_BYTES:
            await self._hold()
        if self._held is not None and node.parent is not None and node.parent == self._held_end:
            # What follows a message that is not stored is not stored either, so there is no need to ask.
            await self._store_held()
        batch = self._batch
        if batch.runs and node.parent == batch.last:
            batch.runs[-1].append(message)
        else:
            batch.runs.append([message])
        batch.last = len(self.heads)
        batch.messages += 1
        batch.bytes += size_of(node.draft)
        self.heads.append(head_of(message))

    async def finish(self, end: Head) -> int:
        """Store what is left, and let the main branch stand at `end`; returns how many messages were new in all."""
        key = self._key
        async with self._store.write() as tx:
            new = await self._insert(tx, self._held) + await self._insert(tx, self._batch)
            branches = await tx.sessions.branches(key)
            if MAIN not in branches or (self._new + new and not await passes(tx, key, branches[MAIN], end)):
                await tx.log.move(key, MAIN, end.id)
            await place_session(tx, key, drafts=[each.draft for run in self._batch.runs for each in run])
        return self._new + new

    async def find(self, ids: Sequence[str]) -> Sequence[Message]:
        """The messages of the session that are stored under these ids."""
        async with self._store.read() as tx:
            return await tx.log.find(self._key, ids)

    def weigh(self, parts: Sequence[Part]) -> tuple[int, int]:
        """What parts cost."""
        return weigh(parts, self._count)

    async def _hold(self) -> None:
        """Hold the batch that is full, if anything in it is new; what was held before is stored then."""
        batch, self._batch = self._batch, _Batch()
        fresh = await self._first_new(batch)
        if fresh is None:
            return
        await self._store_held()
        self._held = batch
        self._held_end = batch.last if fresh is batch.runs[-1] else None

    async def _first_new(self, batch: _Batch) -> list[Message] | None:
        """The last run whose end is not stored; a message is stored after all that it follows."""
        async with self._store.read() as tx:
            for run in reversed(batch.runs):
                if all(found.id != run[-1].id for found in await tx.log.find(self._key, [run[-1].id])):
                    return run
        return None

    async def _store_held(self) -> None:
        held, self._held, self._held_end = self._held, None, None
        if held is not None:
            async with self._store.write() as tx:
                self._new += await self._insert(tx, held)

    async def _insert(self, tx: Transaction, batch: _Batch | None) -> int:
        await tx.sessions.create(self._key, self._source)
        return sum([await tx.log.insert(self._key, run) for run in batch.runs]) if batch else 0


async def passes(tx: Transaction, key: SessionKey, current: Head | None, end: Head) -> bool:
    """Whether the path to `current` goes through `end`."""
    if current is None or end.position > current.position:
        return False
    at = await tx.log.path(key, current.id, end.position, end.position)
    return bool(at) and at[0].id == end.id
