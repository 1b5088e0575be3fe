"""A memory: a store, a space in it, the sessions there, and what is known from them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Sequence

from ireneo.context.policy import Policy
from ireneo.context.policy import preset as preset_named
from ireneo.engine.doctor.examine import examine
from ireneo.engine.doctor.finding import Finding
from ireneo.engine.doctor.secrets import Secrets, secrets
from ireneo.engine.imports import Imported, import_session, stored_name
from ireneo.engine.joined import JoinedImport
from ireneo.engine.learning import Learning
from ireneo.engine.leasing import LEASE_SECONDS, Worker
from ireneo.engine.projects import check_project, project_told
from ireneo.engine.session import Session
from ireneo.engine.story.preset import preset_of
from ireneo.engine.work.loop import Works
from ireneo.engine.work.worked import Worked
from ireneo.errors import SessionNotFound
from ireneo.formats.logs.format import GrowingFormat, LogFormat, StraightFormat, growing
from ireneo.log.branch import MAIN, SessionKey
from ireneo.ports.store import SessionInfo


class Memory(Learning):
    """What `ireneo.open` gives: the sessions of one space, and its memories. No call ever reaches another space."""

    async def session(
        self, id: str, *, branch: str = MAIN, must_exist: bool = False, task: str = "", project: str = ""
    ) -> Session:
        """The session called `id`, on one of its branches; it is made by its first append.

        Its contexts show the scratchpad of `task`, or of the task that is called as the session is. `project`, a name
        or the directory where it lies, is the one that it works on: what it shows is told there, and not in others. An
        imported log says that itself. With `must_exist`, raises SessionNotFound where it was not made yet, and
        BadInput where it is known to be of another project.
        """
        named = project_told(project)
        key = await stored_name(self._store, SessionKey(self.space, id), self._means.cleaning())
        async with self._store.read() as tx:
            info = await tx.sessions.get(key)
        if info is None and must_exist:
            raise SessionNotFound(f"There is no session {id!r} in space {self.space!r}; see `ireneo sessions`.")
        if named and info is not None:
            check_project(id, info.project, named)
        session = Session(self._means, key, branch, info.source if info else None, task, named)
        if must_exist:
            await session.check()
        return session

    async def sessions(self) -> Sequence[SessionInfo]:
        """Every session of the space, the one that was appended to last standing first."""
        async with self._store.read() as tx:
            return await tx.sessions.list(self.space)

    async def import_log(
        self, lines: Iterable[bytes], log: LogFormat, *, name: str, keep_secrets: bool | None = None
    ) -> AsyncIterator[Imported]:
        """Store the sessions of a log, one at a time as they are read; `name` is the file's.

        What is there already is left as it is, so that a log that has grown can be imported again. Keys, tokens and
        passwords become marks such as ``[REDACTED password]`` before anything is stored, unless `keep_secrets` says
        otherwise, here or where the memory was opened. A message that is stored already is found again, with its
        secrets or without them.
        """
        if isinstance(log, StraightFormat):
            async for done in self.joined(name, only_adds=False, keep_secrets=keep_secrets).import_log(
                lines, log, name=name
            ):
                yield done
            return
        with self._means.spool() as spool:
            found = (
                log.grow(lines, name, spool) if isinstance(log, GrowingFormat) else map(growing, log.read(lines, name))
            )
            for logged in found:
                cleaning = self._means.cleaning(keep_secrets)
                source = f"{log.name}:{cleaning.text(name)}"
                done = await import_session(self._store, self.space, logged, source, self._means.count, cleaning)
                if preset_of(source, self._means.preset).pyramid is None:
                    async for _ in (await self.session(done.session)).catch_up():
                        pass
                yield done

    def joined(self, session: str, *, only_adds: bool = True, keep_secrets: bool | None = None) -> JoinedImport:
        """Begin to take logs into one session called `session`, one behind the other from its first message on.

        Take the same logs again, with new ones behind them, and only these are added. Unless `only_adds` is off,
        BadInput is raised where the session has gone on otherwise. Secrets become marks before anything is stored, as
        `import_log` tells.
        """
        cleaning = self._means.cleaning(keep_secrets)
        key, preset = SessionKey(self.space, session), self._means.preset
        return JoinedImport(self._store, key, self._means.count, cleaning, only_adds=only_adds, preset=preset)

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
        `until_idle`, never. Each session is worked on as it is looked at; with `preset`, all of them so. What was
        done is remembered as well: episodes and failures of each turn of work and each leaf of a story, and, where
        enough is new, what follows from them.
        """
        chosen = preset_named(preset) if isinstance(preset, str) else preset
        worker = Worker(self._store, self._means.clock, lease_seconds=lease_seconds, leases=leases)
        async for worked in Works(self._means, self.space, worker, chosen).run(until_idle=until_idle):
            yield worked

    async def doctor(
        self, *, mend: bool = False, quick: bool = False, told: Callable[[int], None] = lambda messages: None
    ) -> Sequence[Finding]:
        """Look over the store and every session of the space: what is wrong, and what is worth knowing.

        With `mend` what can be mended is mended: broken summaries are taken out, since they are made again from the
        log; stale leases and failures are forgotten; counters, indexes, vectors and what was learned from runs are
        put right. The log is never changed. `quick` leaves out whether each message is what its id says and each row
        what was stored, which reads all of it; `told` is told how many more messages were looked at.
        """
        now = self._means.clock.now()
        return await examine(self._store, self.space, now, mend=mend, quick=quick, told=told)

    async def secrets(self, *, mend: bool = False, told: Callable[[int], None] = lambda messages: None) -> Secrets:
        """Look for keys, tokens and passwords in all that is kept of the space: how many of which sort stand where.

        With `mend` they are taken out, and out of every byte of the store. Messages get the ids that they have without
        them, so that their logs are known when they are imported again; branches, pins and the sources of memories
        follow, summaries over what has changed are dropped. `told` is told how many more messages were looked at.
        """
        return await secrets(self._means, self.space, mend=mend, told=told)

    async def close(self) -> None:
        """Let go of the store."""
        await self._store.close()
