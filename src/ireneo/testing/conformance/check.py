"""Checks: what a check is, how it is run against a store, and the report on how a store did.

A capability has a class, and each public method of it is a check, with one sentence about stores as its docstring. Most
checks are plain functions over a `Place`, which is a store whose calls are transactions. They run twice, each time on a
fresh store: with each call in a transaction of its own, and all in one. Checks of tasks, or of transactions themselves,
are async functions over the store. Those with a second argument open another store over the same place with it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from inspect import iscoroutinefunction, signature
from typing import Any, Concatenate, Literal, ParamSpec, Protocol, TypeVar, cast

from msgspec import Struct

from ireneo.errors import IreneoError
from ireneo.ports.store import Store, Transaction

P = ParamSpec("P")
R = TypeVar("R")

Fresh = Callable[[], AbstractAsyncContextManager[Store]]
"""Creates an empty store, and cleans up afterwards; one check may call it several times."""

Again = Callable[[Store], Awaitable[Store]]
"""Opens a second store over the data of a first one, as another process would; the first may be closed already."""

Verdict = Literal["met", "unmet", "skipped"]

PATIENCE_SECONDS = 60.0
"""A check that takes longer has failed."""
SHOWN = 400
"""How many characters of a value an error message shows."""

WRITES = frozenset(
    "insert move create set_project put add take take_first renew fail release forget drop write remove mark rebuild "
    "drop_branch discard prune repair keep".split()
)
"""The methods of ports that write; those of erasure all do except `count`."""


class UnmetError(AssertionError):
    """The store does not do what a check demands."""


def expect(actual: object, wanted: object, what: str) -> None:
    """Raise UnmetError unless `actual` equals `wanted`; `what` names it in the message.

    A sequence equals any list of the same items, and a mapping any such dictionary, since ports promise no more.
    """
    if _plain(actual) != _plain(wanted):
        raise UnmetError(f"{what}: wanted {_show(wanted)}, got {_show(actual)}")


@contextmanager
def expect_error(error: type[IreneoError], what: str) -> Iterator[None]:
    """Raise UnmetError unless the block raises `error`."""
    try:
        yield
    except error:
        return
    raise UnmetError(f"{what}: wanted {error.__name__}, and nothing was raised")


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str | bytes) else value


def _show(value: object) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"


class Place(Transaction, Protocol):
    """The ports of a store, whose calls are either a transaction each or all in one."""

    def read(self, fn: Callable[Concatenate[Transaction, P], R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call `fn` in one transaction that reads."""

    def write(self, fn: Callable[Concatenate[Transaction, P], R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call `fn` in one transaction that writes."""


class _Apart:
    """A place whose calls are a transaction each, made from a thread outside the store's event loop."""

    def __init__(self, store: Store, loop: asyncio.AbstractEventLoop) -> None:
        self._store = store
        self._loop = loop

    def read(self, fn: Callable[..., R], /, *args: object, **kwargs: object) -> R:
        return asyncio.run_coroutine_threadsafe(self._store.read(fn, *args, **kwargs), self._loop).result()

    def write(self, fn: Callable[..., R], /, *args: object, **kwargs: object) -> R:
        return asyncio.run_coroutine_threadsafe(self._store.write(fn, *args, **kwargs), self._loop).result()

    def __getattr__(self, port: str) -> _Port:
        return _Port(self, port)


class _Port:
    def __init__(self, place: _Apart, port: str) -> None:
        self._place = place
        self._port = port

    def __getattr__(self, method: str) -> Callable[..., object]:
        writes = method in WRITES if self._port != "erasure" else method != "count"
        transaction = self._place.write if writes else self._place.read

        def call(*args: object, **kwargs: object) -> object:
            return transaction(lambda tx: getattr(getattr(tx, self._port), method)(*args, **kwargs))

        return call


class _Together:
    """A place whose calls are all in one transaction."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx

    def read(self, fn: Callable[..., R], /, *args: object, **kwargs: object) -> R:
        return fn(self._tx, *args, **kwargs)

    write = read

    def __getattr__(self, port: str) -> object:
        return getattr(self._tx, port)


class Check(Struct, frozen=True, kw_only=True):
    """One sentence that must be true of every store."""

    capability: str
    name: str
    sentence: str
    steps: Callable[..., Any]
    """Takes a place, or a store if it is async, and an `Again` if it `needs_again`."""
    needs_again: bool = False
    """Whether it opens a second store, and so only applies to stores whose data outlive them."""

    def __str__(self) -> str:
        return f"{self.capability}: {self.name.replace('_', ' ')}"

    async def run(self, fresh: Fresh, again: Again | None = None) -> None:
        """Run it on fresh stores. Raises UnmetError, or whatever the store raises.

        Without `again`, a check that needs it passes.
        """
        async with asyncio.timeout(PATIENCE_SECONDS):
            if self.needs_again and again is None:
                return
            async with fresh() as store:
                if iscoroutinefunction(self.steps):
                    await (self.steps(store, again) if self.needs_again else self.steps(store))
                    return
                place = cast(Place, _Apart(store, asyncio.get_running_loop()))
                await asyncio.to_thread(self.steps, place)
            async with fresh() as store:
                await store.write(lambda tx: self.steps(cast(Place, _Together(tx))))


def checks_in(**capabilities: type) -> tuple[Check, ...]:
    """The checks of some capabilities by their names, in order."""
    return tuple(
        Check(
            capability=capability,
            name=name,
            sentence=" ".join((method.__doc__ or "").split()),
            steps=getattr(checks(), name),
            needs_again="again" in signature(method).parameters,
        )
        for capability, checks in capabilities.items()
        for name, method in vars(checks).items()
        if not name.startswith("_")
    )


class CheckResult(Struct, frozen=True, kw_only=True):
    """The result of one check."""

    check: Check
    verdict: Verdict
    detail: str = ""
    """The expected and the actual result."""


class Report(Struct, frozen=True, kw_only=True):
    """The results of all checks."""

    results: tuple[CheckResult, ...]

    @property
    def conforms(self) -> bool:
        """Whether all checks were met."""
        return not self.unmet

    @property
    def unmet(self) -> tuple[CheckResult, ...]:
        """The checks that the store does not meet."""
        return tuple(result for result in self.results if result.verdict == "unmet")

    def __str__(self) -> str:
        lines = []
        for capability in dict.fromkeys(result.check.capability for result in self.results):
            own = [result for result in self.results if result.check.capability == capability]
            met, skipped = (sum(result.verdict == wanted for result in own) for wanted in ("met", "skipped"))
            lines.append(f"{capability}: {met} of {len(own)} met" + (f", {skipped} skipped" if skipped else ""))
            lines.extend(
                f"  unmet: {result.check.sentence} ({result.check.name}) {result.detail}"
                for result in own
                if result.verdict == "unmet"
            )
        return "\n".join(lines)


async def run_checks(checks: Sequence[Check], fresh: Fresh, again: Again | None = None) -> Report:
    """Run `checks`, each on fresh stores."""
    return Report(results=tuple([await _try(check, fresh, again) for check in checks]))


async def _try(check: Check, fresh: Fresh, again: Again | None) -> CheckResult:
    if check.needs_again and again is None:
        return CheckResult(check=check, verdict="skipped")
    try:
        await check.run(fresh, again)
    except (AssertionError, IreneoError, TimeoutError, LookupError, TypeError, ValueError, OSError) as fault:
        return CheckResult(check=check, verdict="unmet", detail=f"{type(fault).__name__}: {fault}")
    return CheckResult(check=check, verdict="met")
