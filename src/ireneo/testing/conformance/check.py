"""A check: one sentence about stores, and the steps that show whether it holds."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from types import ModuleType

from msgspec import Struct

from ireneo.ports.store import Store

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
