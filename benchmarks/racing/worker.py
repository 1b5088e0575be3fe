"""One of the processes that race: it does one thing after the other with the story, until it is killed or done."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from msgspec import Struct

from ireneo.adapters.opening import open_store
from ireneo.adapters.tokens import EstimatedTokenizer
from ireneo.context.view import ContextOptions
from ireneo.engine.memory import Memory
from ireneo.engine.models import Limits, Models, Worker
from ireneo.engine.resources import Resources
from ireneo.engine.session import Session
from ireneo.engine.work import SummaryWork, TextWriter, WorkResult
from ireneo.errors import IreneoError, NotFound, Unreachable
from ireneo.log.message import Message
from ireneo.log.tree import MAIN
from ireneo.ports.store import Pruned, Store, Transaction
from racing.checks import faults_of, stored_ids
from racing.ledger import JumpingClock, Ledger, operations_done
from racing.model import ScriptedModel
from racing.tale import KEY, POLICY, message_with, word_of

SHARES = {"append": 0.871, "context": 0.04, "work": 0.066, "rewind": 0.014, "fork": 0.007, "prune": 0.002}
BRANCHES = 5
"""So many branches at the most."""
ON_MAIN = 0.6
BUDGETS = (600, 1_500, 4_000)
OPENS = 10
"""So often a process tries to open the database."""
BACK = 60
"""A branch is rewound, or forked, so many messages back at the most."""
TEXTS = 3
"""So many texts one visit writes at the most."""
UNLIMITED = Limits(calls_per_session=None, tokens_per_session=None, calls_per_day=None, tokens_per_day=None)


class Part(Struct, frozen=True, kw_only=True):
    """What one process has to do."""

    folder: str
    database: str
    number: int
    life: int
    operations: int
    seed: int
    leases: bool
    lease_seconds: float
    longest_seconds: float
    """How long the model takes at the most, as a rule."""

    @property
    def place(self) -> Path:
        """The folder that everybody writes into."""
        return Path(self.folder)


class Racer:
    """A process at its part."""

    def __init__(self, part: Part, store: Store) -> None:
        """Stand before the first operation of this life."""
        self._part = part
        self._store = store
        self._chance = random.Random(f"{part.seed} {part.number} {part.life}")
        self._ledger = Ledger(part.place, part.number, part.life)
        self._model = ScriptedModel(self._ledger, self._chance, part.longest_seconds)
        self._means = Resources(
            store=store,
            count=EstimatedTokenizer().count,
            clock=JumpingClock(part.place / "clock"),
            models=Models.of(self._model),
            limits=UNLIMITED,
            preset=POLICY,
        )
        self._sessions: dict[str, Session] = {}
        self._said = 0

    async def run(self) -> None:
        """Do what is left to do of the part."""
        doing = {
            "append": self._append,
            "context": self._context,
            "work": self._work,
            "rewind": self._rewind,
            "fork": self._fork,
            "prune": self._prune,
        }
        while operations_done(self._part.place, self._part.number) < self._part.operations:
            (name,) = self._chance.choices(list(SHARES), list(SHARES.values()))
            try:
                await doing[name](await self._session())
            except NotFound as gone:
                # Whoever names a message may find that another has pruned it meanwhile; nobody else has an excuse.
                self._excused(name, gone, excused=name in ("rewind", "fork"))
            except IreneoError as error:
                self._excused(name, error, excused=name == "fork" and "already" in str(error))
            self._ledger.done()

    async def finish(self) -> None:
        """Write what is still due, until nothing is."""
        memory = Memory(self._means, KEY.space)
        seconds, leases = self._part.lease_seconds, self._part.leases
        await memory.work(until_idle=True, lease_seconds=seconds, leases=leases, on_progress=self._worked)

    def _excused(self, name: str, error: IreneoError, *, excused: bool) -> None:
        if excused:
            self._ledger.count("missed")
        else:
            self._ledger.fault("error", f"{name}: {type(error).__name__}: {error}")

    async def _session(self) -> Session:
        """The story, on a branch that is there."""
        name = MAIN
        if self._chance.random() > ON_MAIN:

            def look(tx: Transaction) -> str:
                return self._chance.choice(list(tx.sessions.branches(KEY))) if tx.sessions.get(KEY) else MAIN

            name = await self._store.read(look)
        return self._sessions.setdefault(name, Session(self._means, KEY, name, None))

    async def _append(self, session: Session) -> None:
        given = []
        for _ in range(self._chance.choice((1, 1, 1, 2))):
            self._said += 1
            word = word_of(self._part.number, self._part.life, self._said)
            given.append(message_with(word, self._chance))
        self._ledger.acknowledged((await session.append(given)).ids)

    async def _context(self, session: Session) -> None:
        made = await session.context(self._chance.choice(BUDGETS))
        try:
            faults = await faults_of(self._store, made)
        except NotFound:
            self._ledger.count("pruned under a context")
            return
        self._ledger.count("contexts")
        for kind, detail in faults:
            self._ledger.fault(kind, f"{session.branch}: {detail}")

    async def _work(self, session: Session) -> None:
        worker = Worker(
            self._store, self._means.clock, lease_seconds=self._part.lease_seconds, leases=self._part.leases
        )
        desk = TextWriter(self._means, worker, KEY, session.branch)
        async for worked in SummaryWork(desk, ContextOptions(budget=0, policy=POLICY, count=len)).visit(TEXTS):
            self._worked(worked)

    def _worked(self, worked: WorkResult) -> None:
        if worked.did == "caught_up":
            self._ledger.count("caught up")
        else:
            self._ledger.called(worked.did, self._model.last)
        if worked.did == "failed":
            self._ledger.fault("error", f"work: {worked.reason}")

    async def _rewind(self, session: Session) -> None:
        path = await self._newest(session)
        if len(path) > 1:
            await session.rewind(self._chance.choice(path).id)

    async def _fork(self, session: Session) -> None:
        names = await session.branches()
        path = await self._newest(session)
        free = [f"way {number}" for number in range(1, BRANCHES) if f"way {number}" not in names]
        if free and path:
            await session.fork(self._chance.choice(free), at=self._chance.choice(path).id)

    async def _newest(self, session: Session) -> Sequence[Message]:
        """The newest messages of a branch."""

        def look(tx: Transaction) -> Sequence[Message]:
            head = tx.log.head(KEY, session.branch)
            return tx.log.path(KEY, head.id, head.position - BACK, head.position) if head else ()

        return await self._store.read(look)

    async def _prune(self, session: Session) -> None:
        """Forget a branch, and take out what no other leads to; what that is, is written down before."""

        def change(tx: Transaction) -> tuple[set[str], Pruned]:
            names = [name for name in tx.sessions.branches(KEY) if name != MAIN]
            if len(names) > 1:
                tx.upkeep.drop_branch(KEY, self._chance.choice(names))
            stored, kept = stored_ids(tx)
            self._ledger.pruned(sorted(stored - kept))
            return stored - kept, tx.upkeep.prune(KEY)

        gone, pruned = await self._store.write(change)
        self._ledger.count("prunes")
        if pruned.messages != len(gone):
            self._ledger.fault("error", f"prune: {pruned.messages} went, and {len(gone)} were on no branch")


@asynccontextmanager
async def racer(part: Part) -> AsyncIterator[Racer]:
    """A process at its part, with the database open."""
    store = await _opened(part.database)
    try:
        yield Racer(part, store)
    finally:
        await store.close()


async def _opened(database: str) -> Store:
    """Open the store. A process whose first connection is cut is begun again, which would take longer than this."""
    for _ in range(OPENS):
        with suppress(Unreachable):
            return await open_store(database)
    return await open_store(database)


async def take_part(part: Part, *, finish: bool) -> None:
    """Be one of the processes."""
    async with racer(part) as own:
        await (own.finish() if finish else own.run())
