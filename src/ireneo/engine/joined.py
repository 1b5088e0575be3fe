"""Take logs into one session, one behind the other, a few thousand messages in each transaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator

from msgspec.structs import replace

from ireneo.context.policy import Policy
from ireneo.context.weigh import Count, weigh
from ireneo.engine.ahead import Ahead, due_ahead, write_ahead
from ireneo.engine.batches import BATCH, BATCH_BYTES, size_of
from ireneo.engine.cleaning import Choices, Cleaning, Given, chain_named
from ireneo.engine.imports import Imported, passes, stored_name
from ireneo.engine.projects import place_session
from ireneo.engine.story.preset import preset_of
from ireneo.errors import BadInput
from ireneo.formats.logs.format import Fault, LogFormat, StraightFormat
from ireneo.formats.logs.sessions import nothing_readable
from ireneo.log.branch import MAIN, Head, SessionKey, head_of
from ireneo.log.message import Draft
from ireneo.ports.store import Store


class JoinedImport:
    """A session that is taken from logs: what is there already, from its first message on, is left as it is.

    The main branch stands at the end of what was taken; one that has gone on from there stays where it is.
    """

    def __init__(
        self,
        store: Store,
        key: SessionKey,
        count: Count,
        cleaning: Cleaning,
        *,
        only_adds: bool = True,
        preset: Policy | None = None,
    ) -> None:
        """Begin at the session's root; with `only_adds` nothing that the main branch leads to is left aside.

        All that is taken in passes through `cleaning`. With the memory's own `preset` the blocks of what is taken in
        are written as well, so that the first context of a long session finds them.
        """
        self._store = store
        self._key = key
        self._count = count
        self._cleaning = cleaning
        self._only_adds = only_adds
        self._preset = preset
        self._ahead: Ahead | None = None
        self._head: Head | None = None
        self._given: Given = {}
        self._earlier: set[str] = set()
        """The ids that the logs before gave their messages."""

    async def import_log(self, lines: Iterable[bytes], log: LogFormat, *, name: str) -> AsyncIterator[Imported]:
        """Store the messages of a log behind those of the logs before, while it is read; `name` is the file's.

        Of a log with branches the path to its head is taken. Raises UnreadableLog where it has no message, and
        BadInput where the session holds others in their place.
        """
        cleaning = self._cleaning
        self._key = await stored_name(self._store, self._key, cleaning)
        source = f"{log.name}:{self._key.session}"
        clean_name = cleaning.text(name)
        found = Counter(cleaning.found)
        before = self._head.total_tokens if self._head else 0
        faults: list[Fault] = []
        ids: set[str] = set()
        batch: list[Choices] = []
        unredacted = cleaning.unredacted
        messages = new = size = 0
        for each in _read(lines, log, name):
            if isinstance(each, Fault):
                faults.append(cleaning.fault(each))
                continue
            batch.append(cleaning.choices(self._named(each, clean_name, ids)))
            messages += 1
            size += size_of(each)
            if len(batch) >= BATCH or size >= BATCH_BYTES:
                new += await self._store_batch(batch, source)
                batch, size = [], 0
        if batch:
            new += await self._store_batch(batch, source)
        if self._head is None or not messages:
            raise nothing_readable(faults)
        self._earlier |= ids
        tokens = self._head.total_tokens - before
        yield Imported(
            session=self._key.session,
            messages=messages,
            new=new,
            tokens=tokens,
            faults=tuple(faults),
            redacted=dict(Counter(cleaning.found) - found),
            unredacted=cleaning.unredacted - unredacted,
        )

    def _named(self, draft: Draft, name: str, ids: set[str]) -> Draft:
        """`draft` under an id that no log before it gave: behind the name of its own, where need be."""
        if draft.source_id is None:
            return draft
        if draft.source_id in self._earlier:
            draft = replace(draft, source_id=f"{name}:{draft.source_id}")
        ids.add(draft.source_id or "")
        return draft

    async def _store_batch(self, drafts: list[Choices], source: str) -> int:
        key = self._key
        async with self._store.write() as tx:
            messages = await chain_named(
                tx, key, self._head, drafts, self._cleaning, lambda parts: weigh(parts, self._count), self._given
            )
            end = head_of(messages[-1])
            await tx.sessions.create(key, source)
            new = await tx.log.insert(key, messages)
            branches = await tx.sessions.branches(key)
            main = branches.get(MAIN)
            if MAIN not in branches or (new and not await passes(tx, key, main, end)):
                if self._only_adds and main is not None and not await passes(tx, key, end, main):
                    raise BadInput(
                        f"Session {key.session} holds other messages than these logs, or has gone on since; name all "
                        "of its logs in their order, the new ones last, or take them into another session."
                    )
                await tx.log.move(key, MAIN, end.id)
            await place_session(tx, key, drafts=[each.draft for each in messages])
        self._head = end
        await self._write_ahead(end, source)
        return new

    async def _write_ahead(self, end: Head, source: str) -> None:
        if self._preset is None or (policy := preset_of(source, self._preset)).pyramid is not None:
            return
        due = await due_ahead(self._store, self._key, end, policy, self._ahead)
        if due is not None:
            async for ahead in write_ahead(self._store, self._key, policy, due):
                self._ahead = ahead


def _read(lines: Iterable[bytes], log: LogFormat, name: str) -> Iterator[Draft | Fault]:
    if isinstance(log, StraightFormat):
        yield from log.drafts(lines)
        return
    for logged in log.read(lines, name):
        yield from logged.path
        yield from logged.faults
