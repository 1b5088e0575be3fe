"""A memory: a store, a space in it, and the sessions there."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from datetime import datetime
from typing import Unpack

from ireneo.context.policy import Policy
from ireneo.context.policy import preset as preset_named
from ireneo.engine.doctor.examine import examine
from ireneo.engine.doctor.finding import Finding
from ireneo.engine.fading import Fading, archive, fading, restore
from ireneo.engine.forget import Receipt, forget
from ireneo.engine.history import history
from ireneo.engine.imports import Imported, import_session
from ireneo.engine.joined import JoinedImport
from ireneo.engine.leasing import LEASE_SECONDS, Worker
from ireneo.engine.means import Means
from ireneo.engine.recall.asked import Asked
from ireneo.engine.recall.recall import recall
from ireneo.engine.remember import Remembered, get, remember, remember_all, used
from ireneo.engine.session import Session
from ireneo.engine.vectors import HeldVectors
from ireneo.engine.work.loop import Works
from ireneo.engine.work.worked import Worked
from ireneo.errors import SessionNotFound
from ireneo.formats.logs.format import LogFormat, StraightFormat
from ireneo.log.branch import MAIN, SessionKey
from ireneo.memories.facts import Fact
from ireneo.memories.offered import Told
from ireneo.memories.recall.recalled import Recollection
from ireneo.memories.record import Kind, MemoryId, Record
from ireneo.ports.store import SessionInfo


class Memory:
    """What `ireneo.open` gives: the sessions of one space. No call ever reaches another space."""

    def __init__(self, means: Means, space: str) -> None:
        """Stand on an open store."""
        self.space = space
        self._means = means
        self._store = means.store
        self._held = HeldVectors()

    async def session(self, id: str, *, branch: str = MAIN, must_exist: bool = False) -> Session:
        """The session called `id`, on one of its branches; it is made by its first append.

        With `must_exist`, raises SessionNotFound where it was not made yet.
        """
        key = SessionKey(self.space, id)
        async with self._store.read() as tx:
            info = await tx.sessions.get(key)
        if info is None and must_exist:
            raise SessionNotFound(f"There is no session {id!r} in space {self.space!r}; see `ireneo sessions`.")
        session = Session(self._means, key, branch, info.source if info else None)
        if must_exist:
            await session.check()
        return session

    async def sessions(self) -> Sequence[SessionInfo]:
        """Every session of the space, the one that was appended to last standing first."""
        async with self._store.read() as tx:
            return await tx.sessions.list(self.space)

    async def import_log(self, lines: Iterable[bytes], log: LogFormat, *, name: str) -> AsyncIterator[Imported]:
        """Store the sessions of a log, one at a time as they are read; `name` is the file's.

        What is there already is left as it is, so that a log that has grown can be imported again.
        """
        if isinstance(log, StraightFormat):
            async for done in self.joined(name, only_adds=False).import_log(lines, log, name=name):
                yield done
            return
        for logged in log.read(lines, name):
            source = f"{log.name}:{name}"
            yield await import_session(self._store, self.space, logged, source, self._means.count)

    def joined(self, session: str, *, only_adds: bool = True) -> JoinedImport:
        """Begin to take logs into one session called `session`, one behind the other from its first message on.

        Take the same logs again, with new ones behind them, and only these are added. Unless `only_adds` is off,
        BadInput is raised where the session has gone on otherwise.
        """
        return JoinedImport(self._store, SessionKey(self.space, session), self._means.count, only_adds=only_adds)

    async def work(
        self,
        *,
        until_idle: bool = False,
        preset: str | Policy | None = None,
        lease_seconds: float = LEASE_SECONDS,
        leases: bool = True,
    ) -> AsyncIterator[Worked]:
        """Write what is due behind the conversation, in this and in any number of processes; tells each piece.

        Without a model the summaries that the structure gives; with one its texts, under a lease of `lease_seconds`
        each, which is renewed while the model is waited for. It ends when nothing is due any more, or, unless
        `until_idle`, never. Each session is worked on as it is looked at; with `preset`, all of them so.
        """
        chosen = preset_named(preset) if isinstance(preset, str) else preset
        worker = Worker(self._store, self._means.clock, lease_seconds=lease_seconds, leases=leases)
        async for worked in Works(self._means, self.space, worker, chosen).run(until_idle=until_idle):
            yield worked

    async def remember(self, text: str, **told: Unpack[Told]) -> Remembered:
        """Remember `text`, and tell what became of it: added, reinforced, superseded, disputed, overturned or ignored.

        Of which kind it is, and what slot a plain statement has, is found by rules where it is not `told`. Raises
        BadInput, with nothing written, where something of it can't be used.
        """
        return await remember(self._means, self.space, text, **told)

    async def remember_all(self, texts: Iterable[tuple[str, Told]]) -> Sequence[Remembered]:
        """Remember many texts, each with what is told of it, in one transaction: all of them or, on BadInput, none."""
        return await remember_all(self._means, self.space, texts)

    async def get(self, ids: Sequence[str]) -> Sequence[Record]:
        """The memories whose ids begin with one of `ids`, in the order asked; unknown ones are passed over."""
        return await get(self._means, self.space, ids)

    async def history(
        self,
        subject: str,
        attribute: str | None = None,
        *,
        at: datetime | None = None,
        believed_at: datetime | None = None,
    ) -> Sequence[Fact]:
        """What is known of a subject, or of one of its attributes, over time: with what was corrected and disputed.

        With `at` only what was true at that moment; with `believed_at` as we believed then, having been told no more.
        """
        return await history(self._means, self.space, subject, attribute, at=at, believed_at=believed_at)

    async def used(self, ids: Sequence[str], *, helped: bool | None = None) -> Sequence[Record]:
        """Note that memories were acted on now and, where that is known, whether it helped or harmed.

        Raises MemoryNotFound.
        """
        return await used(self._means, self.space, ids, helped=helped)

    async def doctor(
        self, *, mend: bool = False, quick: bool = False, told: Callable[[int], None] = lambda messages: None
    ) -> Sequence[Finding]:
        """Look over the store and every session of the space: what is wrong, and what is worth knowing.

        With `mend` what can be mended is mended: broken summaries are taken out, since they are made again from the
        log; stale leases and failures are forgotten. The log is never changed. `quick` leaves out the check of each
        message against its id, which reads all of the log; `told` is told how many more messages were looked at.
        """
        now = self._means.clock.now()
        return await examine(self._store, self.space, now, mend=mend, quick=quick, told=told)

    async def fading(self, limit: int = 20) -> Sequence[Fading]:
        """The memories that would be put away next, the least retained first, and why."""
        return await fading(self._means, self.space, limit)

    async def archive(self, keep: int) -> Sequence[MemoryId]:
        """Put the least retained memories away until `keep` are left in use; pinned ones never; returns which.

        They are not recalled any more; `restore` takes them out again.
        """
        return await archive(self._means, self.space, keep)

    async def restore(self, ids: Sequence[str]) -> Sequence[Record]:
        """Take memories out again that were put away. Raises NotFound."""
        return await restore(self._means, self.space, ids)

    async def forget(
        self,
        *,
        subject: str | None = None,
        message: str | None = None,
        session: str | None = None,
        memory: str | None = None,
        everything: str | None = None,
        preview: bool = False,
    ) -> Receipt:
        """Erase a message, a session, a memory or all that names a subject, with what was derived from it alone.

        `everything` erases the space; give its name, so that nobody does it by chance. Summaries are taken out and
        made again without what is erased; memories lose that source, or go; indexes and vectors as well; and then no
        byte of the store has it any more (`Receipt.complete`; where not, its note says what is left to do). An erased
        message leaves its place, so that all that follow stay as they are; stored again it stays erased.

        With `preview` nothing is done, and the receipt says what would be. Raises BadInput unless exactly one thing is
        named, NotFound where it is not there.
        """
        return await forget(
            self._means,
            self.space,
            subject=subject,
            message=message,
            session=session,
            memory=memory,
            everything=everything,
            preview=preview,
        )

    async def recall(
        self,
        text: str,
        *,
        kind: Kind | None = None,
        limit: int = 10,
        budget: int | None = None,
        at: datetime | None = None,
        session: str | None = None,
        explain: bool = False,
    ) -> Recollection:
        """What answers the question `text`, best first: at most `limit` messages and memories.

        With `kind` only memories of that kind, with `session` only what comes from there, with `at` what was the case
        then and what was said by then. `budget` is what the texts may cost together, in tokens. `explain` gives the
        parts of each score. Raises BadInput for an empty question, a kind or limit that there is not, and a naive time.
        """
        asked = Asked(text=text, kind=kind, limit=limit, budget=budget, at=at, session=session, explain=explain)
        return await recall(self._means, self.space, self._held, asked)

    async def close(self) -> None:
        """Let go of the store."""
        await self._store.close()
