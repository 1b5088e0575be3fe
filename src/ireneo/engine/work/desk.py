"""Write one text under its lease: ask outside of any transaction, and store what came of it in one."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

from msgspec.structs import replace

from ireneo.context.summary import Summary, SummaryId
from ireneo.engine.keep import is_pruned, was_erased
from ireneo.engine.leasing import Worker
from ireneo.engine.means import Means
from ireneo.engine.models import Models
from ireneo.engine.summarise import told
from ireneo.engine.work.worked import Worked, told_by
from ireneo.engine.writing.asked import Written
from ireneo.errors import MessageNotFound, ModelError, Overtaken, SpendingLimit, SummaryNotFound
from ireneo.log.branch import SessionKey
from ireneo.ports.leases import Lease
from ireneo.ports.llm import LanguageModel, Prompt, R, Reply

Ask = Callable[[Summary], Awaitable[Written]]

_LOG = logging.getLogger("ireneo")


class Desk:
    """Where a worker writes the texts of one branch of a session."""

    def __init__(self, means: Means, worker: Worker, key: SessionKey, branch: str) -> None:
        """Name the place; nothing is read yet."""
        self.means = means
        self.store = means.store
        self.worker = worker
        self.key = key
        self.branch = branch
        self.waits = False
        """Whether something may be due that another worker is at, or was: then it is worth looking again soon."""
        self.erased: int | None = None
        """How many messages of the session had been erased when what is to be written was read; None: unknown."""
        self._at: tuple[Lease, SummaryId]
        """What is being written, and under which lease."""

    def models(self) -> Models:
        """The session's models, each of which is asked only as long as nobody else has the text, or the lease on it."""
        own = self.means.models.each(lambda model: _Checked(model, self._check))
        return replace(self.means, models=own).models_for(self.key)

    async def write(self, summary: Summary, name: SummaryId, ask: Ask) -> Worked | None:
        """Have the text `name` of a canonical summary written.

        None where another is at it, has overtaken this worker, or wrote it since, and where it was pruned meanwhile:
        then what is due is to be looked for again.
        """
        try:
            async with self.worker.leased(self.key, name) as lease:
                if lease is None:
                    self.waits = self.waits or not await self._is_put_off(name)
                    return None
                self._at = lease, name
                if not await self._is_there(name):
                    return await self._asked(summary, lease, ask)
        except Overtaken as error:
            _LOG.debug("%s", error)
        except SummaryNotFound as error:
            _LOG.debug("%s", error)
        except MessageNotFound:
            async with self.store.read() as tx:
                if not await is_pruned(tx, self.key, summary):
                    raise
        self.waits = True
        return None

    async def _check(self) -> None:
        """Raise where a call would be wasted; last thing before it, since all the rest may have had to wait long."""
        lease, name = self._at
        async with self.store.write() as tx:
            if await tx.summaries.get(self.key, [name]) or not await self.worker.still_has(tx, lease):
                raise Overtaken(f"The text {name} is another worker's now.")

    async def _asked(self, summary: Summary, lease: Lease, ask: Ask) -> Worked:
        worked = Worked(
            session=self.key.session,
            branch=self.branch,
            id=summary.id,
            did="failed",
            level=summary.level,
            first_position=summary.first_position,
            last_position=summary.last_position,
            depth=summary.depth,
        )
        try:
            written = await ask(summary)
        except SpendingLimit as error:
            return replace(worked, reason=str(error))
        except ModelError as error:
            _LOG.warning("%s The offline text stands for what no model wrote.", error)
            await self.worker.failed(lease, str(error))
            return replace(worked, reason=str(error))
        async with self.store.write() as tx:
            if await was_erased(tx, self.key, self.erased):
                raise Overtaken(f"Messages of session {self.key.session!r} were erased while it was written.")
            new = await tx.summaries.put(self.key, [written.text])
            await self.worker.done(tx, lease)
        worked = told_by(told(written, summary), worked)
        return worked if new else replace(worked, did="taken_over")

    async def _is_there(self, name: SummaryId) -> bool:
        """Whether the text was stored since it was found to be due."""
        async with self.store.read() as tx:
            return bool(await tx.summaries.get(self.key, [name]))

    async def _is_put_off(self, name: str) -> bool:
        """Whether it failed and is to be tried later, and nobody is at it."""
        async with self.store.read() as tx:
            leases = await tx.leases.of_session(self.key)
        return any(lease.work == name and not lease.holder for lease in leases)


class _Checked:
    """A model that is asked only where a check lets it."""

    def __init__(self, model: LanguageModel, check: Callable[[], Awaitable[None]]) -> None:
        self._model = model
        self._check = check

    async def ask(self, prompt: Prompt, reply: type[R]) -> Reply[R]:
        await self._check()
        return await self._model.ask(prompt, reply)
