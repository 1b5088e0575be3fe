"""Assign models to tasks, limit the spending on them, and lease work so that no two processes pay for it.

Spending is counted in the store, so that a limit holds over processes and restarts. Before a call, its maximum cost is
reserved in one transaction; afterwards the unused part is returned. So two processes can't both spend the last of it.
If a call costs more than was reserved, for example because of retries, that is counted too. The reservation of a call
whose end is unknown remains spent.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import os
import secrets
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime, timedelta
from typing import TypeVar, get_args

import msgspec
from msgspec import Struct

from ireneo.errors import BadInput, IreneoError, ModelError, ModelTimeout, SpendingLimit, StoreError
from ireneo.log.message import Count
from ireneo.log.tree import SessionKey
from ireneo.ports.models import Clock, LanguageModel, Prompt, Reply, Task
from ireneo.ports.store import Lease, Spent, Store, Transaction

DEFAULT = "default"
"""The key of the model for tasks that a mapping does not name."""

TASKS: tuple[Task, ...] = get_args(Task)


class Models(Struct, frozen=True, kw_only=True):
    """A model for each task; made by `Models.of`."""

    default: LanguageModel | None = None
    """The model for tasks without one of their own; None if these are done without a model."""
    by_task: Mapping[str, LanguageModel] = {}

    @classmethod
    def of(cls, given: LanguageModel | Mapping[str, LanguageModel]) -> Models:
        """Use one model for everything, or one for each task and the one called ``default`` for all others.

        Raises BadInput.
        """
        if not isinstance(given, Mapping):
            return cls(default=given)
        by_task = dict(given)
        default = by_task.pop(DEFAULT, None)
        for task in by_task:
            _check_task(task)
        return cls(default=default, by_task=by_task)

    def for_task(self, task: str) -> LanguageModel | None:
        """The model for a task; None if it is done without one. Raises BadInput for an unknown task."""
        _check_task(task)
        return self.by_task.get(task, self.default)

    def each(self, change: Callable[[LanguageModel], LanguageModel]) -> Models:
        """Return these models, each wrapped by `change`."""
        default = None if self.default is None else change(self.default)
        return Models(default=default, by_task={task: change(model) for task, model in self.by_task.items()})


def _check_task(task: str) -> None:
    if task not in TASKS:
        raise BadInput(
            f"There is no task {task!r} for a model; there are {', '.join(TASKS)}, and {DEFAULT} for the rest."
        )


R = TypeVar("R", bound=Struct)

FRAME_TOKENS = 100
"""Tokens that a request adds to a prompt: roles, and the instruction to answer in JSON."""


class Limits(Struct, frozen=True, kw_only=True):
    """How much may be spent on models; None for no limit. Raises BadInput for a negative one."""

    calls_per_session: int | None = 400
    tokens_per_session: int | None = 4_000_000
    """Tokens of prompts and replies together."""
    calls_per_day: int | None = 1_000
    """Requests for all sessions of a space together; a day ends at midnight in UTC."""
    tokens_per_day: int | None = 10_000_000

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            limit = getattr(self, name)
            if limit is not None and limit < 0:
                raise BadInput(f"{name} is {limit}; give 0 to call no model, or None for no limit.")


class Spending:
    """A LanguageModel that charges its calls to one session, within limits."""

    def __init__(
        self, model: LanguageModel, store: Store, key: SessionKey, limits: Limits, clock: Clock, count: Count
    ) -> None:
        """Charge `key` for the calls of `model`; `count` estimates the tokens of a prompt."""
        self._model = model
        self._store = store
        self._key = key
        self._limits = limits
        self._clock = clock
        self._count = count

    async def ask(self, prompt: Prompt, reply: type[R]) -> Reply[R]:
        """Ask, unless that may exceed a limit. Raises SpendingLimit, and what the model raises."""
        day = self._clock.now().astimezone(UTC).date()
        # The least that the model must read.
        shape = json.dumps(msgspec.json.schema(reply))
        read = self._count(prompt.system) + self._count(prompt.user) + self._count(shape) + FRAME_TOKENS
        aside = Spent(calls=1, tokens=read + prompt.max_tokens)

        def keep(tx: Transaction) -> None:
            session = tx.spending.of_session(self._key)
            today = tx.spending.of_day(self._key.space, day)
            for reached in self._exceeded_limits(session, today, aside):
                raise SpendingLimit(reached)
            tx.spending.add(self._key, day, aside)

        await self._store.write(keep)
        # A crash or cancellation here leaves the reservation as spent, since the cost of the call is unknown.
        try:
            answer = await self._model.ask(prompt, reply)
        except ModelError as error:
            await self._correct_reservation(day, aside, _cost_of(error, aside))
            raise
        except IreneoError:
            await self._correct_reservation(day, aside, Spent())
            raise
        usage = answer.usage
        # A small server may report no token counts.
        told = usage.tokens_in + usage.tokens_out
        told = told or read + self._count(msgspec.json.encode(answer.value).decode())
        await self._correct_reservation(day, aside, Spent(calls=usage.calls, tokens=told))
        return answer

    def _exceeded_limits(self, session: Spent, today: Spent, aside: Spent) -> Iterator[str]:
        """Yield a sentence for each limit that a call would exceed."""
        for span, who, spent, when, wait in (
            ("session", f"Session {self._key.session}", session, "", ""),
            ("day", f"Space {self._key.space}", today, " today", "wait for the next day (UTC), or "),
        ):
            for what in ("calls", "tokens"):
                name = f"{what}_per_{span}"
                limit, used, more = getattr(self._limits, name), getattr(spent, what), getattr(aside, what)
                if limit is not None and used + more > limit:
                    yield (
                        f"{who} has used {used:,} of its {limit:,} {what}{when}, and the next call may take {more:,}: "
                        f"{wait}raise {name} to go on with a model."
                    )

    async def _correct_reservation(self, day: date, aside: Spent, cost: Spent) -> None:
        """Correct the reservation by the actual cost of the call."""
        rest = Spent(calls=cost.calls - aside.calls, tokens=cost.tokens - aside.tokens)
        if rest != Spent():
            await self._store.write(lambda tx: tx.spending.add(self._key, day, rest))


def _cost_of(error: ModelError, aside: Spent) -> Spent:
    """The cost of a failed call, as far as it is known."""
    if isinstance(error, ModelTimeout) and error.calls:
        # The server may have continued, and billed it.
        return Spent(calls=error.calls, tokens=max(error.tokens, aside.tokens))
    return Spent(calls=error.calls, tokens=error.tokens)


# Leases: taken for long work, renewed by a heartbeat, released with the outcome.

LEASE_SECONDS = 180.0
"""The default duration of a lease: longer than a slow model call, which must not outlive it."""
VISIT = "visit"
"""The name of the lease on visiting a whole session."""
VISIT_SECONDS = 15.0
"""The maximum number of seconds for which others avoid a session whose visitor died."""
BEATS = 3
"""Renewals within the duration of a lease."""
FIRST_WAIT_SECONDS = 30.0
LONGEST_WAIT_SECONDS = 6 * 3600.0
"""Work that fails is tried again after 30 seconds, then after twice as long each time, up to a quarter of a day."""


class Worker:
    """Takes leases under a unique name."""

    def __init__(
        self, store: Store, clock: Clock, *, lease_seconds: float = LEASE_SECONDS, leases: bool = True
    ) -> None:
        """Give the worker a unique name; without `leases` it works as if it were alone."""
        self.name = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(3)}"
        self._store = store
        self._clock = clock
        self._seconds = lease_seconds
        self._leases = leases
        self._over: set[tuple[SessionKey, int]] = set()
        """Leases that were released while their ``async with`` body ran, by session and token."""

    @asynccontextmanager
    async def leased(self, key: SessionKey, work: str, most_seconds: float = math.inf) -> AsyncIterator[Lease | None]:
        """Hold the lease on `work` while the ``async with`` body runs.

        Yields None if another worker holds it, or if it must not be tried again yet. The body releases the lease
        itself: by `done`, in the transaction that stores the result, or by `failed`; an exception releases it at once.
        The lease of a worker that died expires after `lease_seconds`, or after `most_seconds` if that is less: use it
        for work without a model, which others can soon take over.
        """
        seconds = min(self._seconds, most_seconds)

        def take(tx: Transaction) -> Lease | None:
            # Read inside the transaction: a short lease could expire while the transaction waits for the store.
            now = self._clock.now()
            return tx.leases.take(key, work, self.name, now, now + timedelta(seconds=seconds))

        if not self._leases:
            yield Lease(key=key, work=work, holder=self.name, token=0, until=self._clock.now())
            return
        async with self._hold(await self._store.write(take), seconds) as lease:
            yield lease

    @asynccontextmanager
    async def visiting(self, space: str, sessions: Sequence[str]) -> AsyncIterator[str | None]:
        """Reserve the first free session of `sessions` while the ``async with`` body runs; None if all are taken.

        This only spreads the workers over the sessions; each piece of work there has its own lease.
        """
        seconds = min(self._seconds, VISIT_SECONDS)

        def take(tx: Transaction) -> Lease | None:
            now = self._clock.now()
            return tx.leases.take_first(space, sessions, VISIT, self.name, now, now + timedelta(seconds=seconds))

        if not self._leases:
            yield sessions[0]
            return
        async with self._hold(await self._store.write(take), seconds) as lease:
            yield lease.key.session if lease else None

    @asynccontextmanager
    async def _hold(self, lease: Lease | None, seconds: float) -> AsyncIterator[Lease | None]:
        """Renew a lease while the block runs, and release it unless the block did."""
        if lease is None:
            yield None
            return
        beating = asyncio.create_task(self._renew_until_cancelled(lease, seconds))
        broken_off = True
        try:
            yield lease
            broken_off = False
        finally:
            if broken_off:
                # A release within the block was undone with its transaction.
                self._over.discard((lease.key, lease.token))
            beating.cancel()
            try:
                # It is not awaited itself: a cancellation in the meantime would look like the end of the heartbeat.
                await asyncio.wait([beating])
            finally:
                await self._release(lease)

    async def _release(self, lease: Lease) -> None:
        """Release what the block still holds, so that an error or a cancellation blocks nobody."""
        if (lease.key, lease.token) in self._over:
            self._over.remove((lease.key, lease.token))
            return
        await self._store.write(lambda tx: tx.leases.release(lease))

    def renew(self, tx: Transaction, lease: Lease) -> bool:
        """Renew a lease before something costly is done under it; False if it was overtaken."""
        return not self._leases or tx.leases.renew(lease, self._expiry(self._seconds))

    def done(self, tx: Transaction, lease: Lease) -> None:
        """Release a lease in the transaction that stores the result, overtaken or not."""
        if self._leases:
            tx.leases.release(lease)
            self._over.add((lease.key, lease.token))

    async def failed(self, lease: Lease, error: str, *, wait_seconds: float | None = None) -> None:
        """Release the lease of work that failed, and schedule the retry."""
        wait = min(FIRST_WAIT_SECONDS * 2**lease.failures, LONGEST_WAIT_SECONDS)
        wait = wait if wait_seconds is None else wait_seconds
        if not self._leases:
            return
        retry_at = self._clock.now() + timedelta(seconds=wait)
        await self._store.write(lambda tx: tx.leases.fail(lease, error, retry_at))
        self._over.add((lease.key, lease.token))

    async def _renew_until_cancelled(self, lease: Lease, seconds: float) -> None:
        """Renew the lease until cancelled or overtaken; a busy store is asked again at the next beat."""
        while True:
            await asyncio.sleep(seconds / BEATS)
            with contextlib.suppress(StoreError):
                if not await self._store.write(lambda tx: tx.leases.renew(lease, self._expiry(seconds))):
                    return

    def _expiry(self, seconds: float) -> datetime:
        return self._clock.now() + timedelta(seconds=seconds)
