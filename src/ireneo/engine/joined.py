"""Take logs into one session, one behind the other, a few thousand messages in each transaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator

from msgspec.structs import replace

from ireneo.context.weigh import Count, weigh
from ireneo.engine.batches import BATCH, BATCH_BYTES, size_of
from ireneo.engine.cleaning import Cleaning
from ireneo.engine.imports import Imported, passes
from ireneo.engine.projects import place_session
from ireneo.errors import BadInput
from ireneo.formats.logs.format import Fault, LogFormat, StraightFormat
from ireneo.formats.logs.sessions import nothing_readable
from ireneo.log.branch import MAIN, Head, SessionKey, chain, head_of
from ireneo.log.message import Draft
from ireneo.ports.store import Store


class JoinedImport:
    """A session that is taken from logs: what is there already, from its first message on, is left as it is.

    The main branch stands at the end of what was taken; one that has gone on from there stays where it is.
    """

    def __init__(
        self, store: Store, key: SessionKey, count: Count, cleaning: Cleaning, *, only_adds: bool = True
    ) -> None:
        """Begin at the session's root; with `only_adds` nothing that the main branch leads to is left aside.

        All that is taken in passes through `cleaning`.
        """
        self._store = store
        self._key = key
        self._count = count
        self._cleaning = cleaning
        self._only_adds = only_adds
        self._head: Head | None = None
        self._earlier: set[str] = set()
        """The ids that the logs before gave their messages."""

    async def import_log(self, lines: Iterable[bytes], log: LogFormat, *, name: str) -> AsyncIterator[Imported]:
        """Store the messages of a log behind those of the logs before, while it is read; `name` is the file's.

        Of a log with branches the path to its head is taken. Raises UnreadableLog where it has no message, and
        BadInput where the session holds others in their place.
        """
        cleaning = self._cleaning
        source = f"{log.name}:{self._key.session}"
        found = Counter(cleaning.found)
        before = self._head.total_tokens if self._head else 0
        faults: list[Fault] = []
        ids: set[str] = set()
        batch: list[Draft] = []
        messages = new = size = 0
        for each in _read(lines, log, name):
            if isinstance(each, Fault):
                faults.append(cleaning.fault(each))
                continue
            batch.append(self._named(cleaning.draft(each), cleaning.name(name), ids))
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
        )

    def _named(self, draft: Draft, name: str, ids: set[str]) -> Draft:
        """`draft` under an id that no log before it gave: behind the name of its own, where need be."""
        if draft.source_id is None:
            return draft
        if draft.source_id in self._earlier:
            draft = replace(draft, source_id=f"{name}:{draft.source_id}")
        ids.add(draft.source_id or "")
        return draft

    async def _store_batch(self, drafts: list[Draft], source: str) -> int:
        key = self._key
        messages = chain(self._head, drafts, lambda parts: weigh(parts, self._count))
        end = head_of(messages[-1])
        async with self._store.write() as tx:
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
            await place_session(tx, key, drafts=drafts)
        self._head = end
        return new


def _read(lines: Iterable[bytes], log: LogFormat, name: str) -> Iterator[Draft | Fault]:
    if isinstance(log, StraightFormat):
        yield from log.drafts(lines)
        return
    for logged in log.read(lines, name):
        yield from logged.path
        yield from logged.faults
