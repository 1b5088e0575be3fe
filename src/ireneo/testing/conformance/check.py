"""A check: one sentence about stores, and the steps that show whether it holds; and the report on how a store did.

Most checks are plain functions over a `Place`, which is a store whose calls are transactions. They are taken twice,
each time on a fresh store: with each call in a transaction of its own, and all in one. What is about several tasks, or
about transactions themselves, is an async function over the store.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from types import ModuleType
from typing import Literal

from msgspec import Struct

from ireneo.errors import IreneoError
from ireneo.ports.store import Store
from ireneo.testing.conformance.place import Plain, call_by_call, in_one

Fresh = Callable[[], AbstractAsyncContextManager[Store]]
"""Makes an empty store, and clears it away afterwards; a check may want two, one after the other."""

Again = Callable[[Store], Awaitable[Store]]
"""Opens a second store over what a first one keeps, as another process would; the first may be closed already."""

Verdict = Literal["met", "unmet", "skipped"]

PATIENCE_SECONDS = 60.0
"""A check that takes longer hangs."""
SHOWN = 400
"""Characters of a value that a message shows."""


class UnmetError(AssertionError):
    """The store does not do what the check wants."""


def expect(actual: object, wanted: object, what: str) -> None:
    """Raise UnmetError unless `actual` equals `wanted`; `what` names it in the message.

    Any sequence equals a list of the same, and any mapping a dictionary: a port promises no more.
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


class Check(Struct, frozen=True, kw_only=True):
    """One sentence that holds of every store."""

    capability: str
    name: str
    sentence: str
    trial: Callable[[Fresh, Again | None], Awaitable[None]]
    """Takes its steps on fresh stores."""
    needs_again: bool = False
    """Whether it is about what two stores share, and so only for stores that outlive themselves."""

    def __str__(self) -> str:
        return f"{self.capability}: {self.name.replace('_', ' ')}"

    async def run(self, fresh: Fresh, again: Again | None = None) -> None:
        """Try it on fresh stores. Raises UnmetError, or whatever the store raises.

        Without `again` a check that needs it passes, since it has nothing to say of such a store.
        """
        async with asyncio.timeout(PATIENCE_SECONDS):
            await self.trial(fresh, again)


def check(steps: Plain) -> Check:
    """Make a check of plain steps; their docstring is the sentence, and their module the capability."""

    async def trial(fresh: Fresh, again: Again | None) -> None:
        for taken in (call_by_call, in_one):
            async with fresh() as store:
                await taken(store, steps)

    return _named(steps, trial)


def async_check(steps: Callable[[Store], Awaitable[None]]) -> Check:
    """Make a check of steps that are about tasks, or about transactions themselves."""

    async def trial(fresh: Fresh, again: Again | None) -> None:
        async with fresh() as store:
            await steps(store)

    return _named(steps, trial)


def shared_check(steps: Callable[[Store, Again], Awaitable[None]]) -> Check:
    """Make a check of steps on two stores over one place."""

    async def trial(fresh: Fresh, again: Again | None) -> None:
        async with fresh() as store:
            if again is not None:
                await steps(store, again)

    return _named(steps, trial, needs_again=True)


def _named(
    steps: Callable[..., object], trial: Callable[[Fresh, Again | None], Awaitable[None]], *, needs_again: bool = False
) -> Check:
    return Check(
        capability=steps.__module__.rpartition(".")[2],
        name=steps.__name__,
        sentence=" ".join((steps.__doc__ or "").split()),
        trial=trial,
        needs_again=needs_again,
    )


def checks_in(*modules: ModuleType) -> tuple[Check, ...]:
    """The checks that the modules define, in their order."""
    return tuple(value for module in modules for value in vars(module).values() if isinstance(value, Check))


class CheckResult(Struct, frozen=True, kw_only=True):
    """How a store did in one check."""

    check: Check
    verdict: Verdict
    detail: str = ""
    """What was wanted and what came instead."""


class Report(Struct, frozen=True, kw_only=True):
    """How a store did in all of them."""

    results: tuple[CheckResult, ...]

    @property
    def conforms(self) -> bool:
        """Whether no check was unmet."""
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
