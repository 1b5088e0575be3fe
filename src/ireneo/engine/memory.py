"""A memory: a store, a space in it, and the sessions there."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence

from ireneo.engine.imports import Imported, import_session
from ireneo.engine.joined import JoinedImport
from ireneo.engine.means import Means
from ireneo.engine.session import Session
from ireneo.errors import SessionNotFound
from ireneo.formats.logs.format import LogFormat, StraightFormat
from ireneo.log.branch import MAIN, SessionKey
from ireneo.ports.store import SessionInfo


class Memory:
    """What `ireneo.open` gives: the sessions of one space. No call ever reaches another space."""

    def __init__(self, means: Means, space: str) -> None:
        """Stand on an open store."""
        self.space = space
        self._means = means
        self._store = means.store

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

    async def close(self) -> None:
        """Let go of the store."""
        await self._store.close()
