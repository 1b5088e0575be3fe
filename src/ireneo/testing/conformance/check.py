"""A check: one sentence about stores and the steps that show whether it holds.

Running checks, and the report on them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from types import ModuleType
from typing import Literal

from msgspec import Struct

from ireneo.errors import IreneoError
from ireneo.ports.store import Store

SHOWN = 400
"""Characters of a value that a message shows."""


class UnmetError(AssertionError):
    """The store does not do what the check wants."""


def expect(actual: object, wanted: object, what: str) -> None:
    """Raise UnmetError unless `actual` equals `wanted`; `what` names it in the message."""
    if actual != wanted:
        raise UnmetError(f"{what}: wanted {_show(wanted)}, got {_show(actual)}")


@contextmanager
def expect_error(error: type[IreneoError], what: str) -> Iterator[None]:
    """Raise UnmetError unless the block raises `error`."""
    try:
        yield
    except error:
        return
    raise UnmetError(f"{what}: wanted {error.__name__}, and nothing was raised")


def _show(value: object) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"


Fresh = Callable[[], AbstractAsyncContextManager[Store]]
"""Makes an empty store for one check, and clears it away afterwards."""

Again = Callable[[Store], Awaitable[Store]]
"""Opens a second store over what a first one keeps, as another process would; the first may be closed already."""

Steps = Callable[[Store], Awaitable[None]]
SharedSteps = Callable[[Store, Again], Awaitable[None]]

PATIENCE_SECONDS = 60.0
"""A check that takes longer hangs."""


class Check(Struct, frozen=True, kw_only=True):
    """One sentence that holds of every store."""

    capability: str
    name: str
    sentence: str
    steps: Steps | None = None
    shared_steps: SharedSteps | None = None

    def __str__(self) -> str:
        return f"{self.capability}: {self.name.replace('_', ' ')}"

    @property
    def needs_again(self) -> bool:
        """Whether it is about what two stores share, and so only for stores that outlive themselves."""
        return self.shared_steps is not None

    async def run(self, fresh: Fresh, again: Again | None = None) -> None:
        """Try it on a fresh store. Raises UnmetError, or whatever the store raises.

        Without `again` a check that needs it passes, since it has nothing to say of such a store.
        """
        async with asyncio.timeout(PATIENCE_SECONDS), fresh() as store:
            if self.steps is not None:
                await self.steps(store)
            if self.shared_steps is not None and again is not None:
                await self.shared_steps(store, again)


def check(steps: Steps) -> Check:
    """Make a check of steps on one store; their docstring is the sentence, and their module the capability."""
    return Check(capability=_capability(steps), name=steps.__name__, sentence=_sentence(steps), steps=steps)


def shared_check(steps: SharedSteps) -> Check:
    """Make a check of steps on two stores over one place."""
    return Check(capability=_capability(steps), name=steps.__name__, sentence=_sentence(steps), shared_steps=steps)


def checks_in(*modules: ModuleType) -> tuple[Check, ...]:
    """The checks that the modules define, in their order."""
    return tuple(value for module in modules for value in vars(module).values() if isinstance(value, Check))


def _capability(steps: Steps | SharedSteps) -> str:
    return steps.__module__.rpartition(".")[2].removesuffix("_checks")


def _sentence(steps: Steps | SharedSteps) -> str:
    return " ".join((steps.__doc__ or "").split())


Verdict = Literal["met", "unmet", "skipped"]


class CheckResult(Struct, frozen=True, kw_only=True):
    """How a store did in one check."""

    check: Check
    result: Verdict
    detail: str = ""
    """What was wanted and what came instead."""


class Report(Struct, frozen=True, kw_only=True):
    """How a store did in all of them."""

    outcomes: tuple[CheckResult, ...]

    @property
    def conforms(self) -> bool:
        """Whether no check was unmet."""
        return not self.unmet

    @property
    def unmet(self) -> tuple[CheckResult, ...]:
        """The checks that the store does not meet."""
        return tuple(outcome for outcome in self.outcomes if outcome.result == "unmet")

    def __str__(self) -> str:
        lines = []
        for capability in dict.fromkeys(outcome.check.capability for outcome in self.outcomes):
            own = [outcome for outcome in self.outcomes if outcome.check.capability == capability]
            met, skipped = (sum(outcome.result == wanted for outcome in own) for wanted in ("met", "skipped"))
            lines.append(f"{capability}: {met} of {len(own)} met" + (f", {skipped} skipped" if skipped else ""))
            lines.extend(
                f"  unmet: {outcome.check.sentence} ({outcome.check.name}) {outcome.detail}"
                for outcome in own
                if outcome.result == "unmet"
            )
        return "\n".join(lines)


async def run_checks(checks: Sequence[Check], fresh: Fresh, again: Again | None = None) -> Report:
    """Run `checks`, each on a fresh store."""
    return Report(outcomes=tuple([await _try(check, fresh, again) for check in checks]))


async def _try(check: Check, fresh: Fresh, again: Again | None) -> CheckResult:
    if check.needs_again and again is None:
        return CheckResult(check=check, result="skipped")
    try:
        await check.run(fresh, again)
    except (AssertionError, IreneoError, TimeoutError, LookupError, TypeError, ValueError, OSError) as fault:
        return CheckResult(check=check, result="unmet", detail=f"{type(fault).__name__}: {fault}")
    return CheckResult(check=check, result="met")
