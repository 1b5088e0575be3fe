"""Write one text under its lease: ask outside of any transaction, and store what came of it in one."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

from msgspec.structs import replace

from ireneo.context.summary import Summary, SummaryId
from ireneo.engine.leasing import Worker
from ireneo.engine.means import Means
from ireneo.engine.summarise import told
from ireneo.engine.work.worked import Worked, told_by
from ireneo.engine.writing.asked import Written
from ireneo.errors import ModelError, NotFound, SpendingLimit
from ireneo.log.branch import SessionKey
from ireneo.ports.leases import Lease

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
        """Whether something is due that another worker is at."""

    async def write(self, summary: Summary, name: SummaryId, ask: Ask) -> Worked | None:
        """Have the text `name` of a canonical summary written; None where another is at it, or wrote it since."""
        async with self.worker.leased(self.key, name) as lease:
            if lease is None:
                self.waits = self.waits or await self._is_held(name)
            elif not await self._is_there(name):
                return await self._asked(summary, lease, ask)
        return None

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
            async with self.store.write() as tx:
                new = await tx.summaries.put(self.key, [written.text])
                await self.worker.done(tx, lease)
        except (SpendingLimit, NotFound) as error:
            # Not the work failed: it can't be paid for, or somebody pruned what it is about.
            return replace(worked, reason=str(error))
        except ModelError as error:
            _LOG.warning("%s The offline text stands for what no model wrote.", error)
            await self.worker.failed(lease, str(error))
            return replace(worked, reason=str(error))
        worked = told_by(told(written, summary), worked)
        return worked if new else replace(worked, did="taken_over")

    async def _is_there(self, name: SummaryId) -> bool:
        """Whether the text was stored since it was found to be due."""
        async with self.store.read() as tx:
            return bool(await tx.summaries.get(self.key, [name]))

    async def _is_held(self, name: str) -> bool:
        """Whether another worker is at it, and not only that it failed and is to be tried later."""
        now = self.means.clock.now()
        async with self.store.read() as tx:
            leases = await tx.leases.of_session(self.key)
        return any(lease.work == name and lease.holder and lease.until > now for lease in leases)
