"""A store that breaks at a chosen step, and a look at all that a store holds."""

from __future__ import annotations

from collections.abc import Callable

from ireneo.log.tree import SessionKey
from ireneo.ports.store import Store, Transaction


class BrokenOffError(Exception):
    """The process dies here, as far as the store can tell."""


class Fuse:
    """Counts the steps of whatever is done to a store, and blows at one of them."""

    def __init__(self) -> None:
        self.steps = 0
        self.at: int | None = None

    def set(self, at: int | None) -> None:
        """Blow at the step `at` from now on (from 0; None: never)."""
        self.steps, self.at = 0, at

    def step(self) -> None:
        """One thing is about to happen, or has just happened."""
        if self.steps == self.at:
            raise BrokenOffError
        self.steps += 1


class BreakingStore:
    """A store over another one: it breaks before or after any call, before a commit, and right after one."""

    def __init__(self, store: Store, fuse: Fuse) -> None:
        self.store = store
        self.fuse = fuse
        self.hearing = store.hearing

    async def read(self, function: Callable[..., object], /, *args: object, **kwargs: object) -> object:
        self.fuse.step()
        return await self.store.read(lambda tx: function(_Breaking(tx, self.fuse), *args, **kwargs))

    async def write(self, function: Callable[..., object], /, *args: object, **kwargs: object) -> object:
        def breaking(tx: Transaction) -> object:
            result = function(_Breaking(tx, self.fuse), *args, **kwargs)
            self.fuse.step()
            return result

        self.fuse.step()
        result = await self.store.write(breaking)
        # Committed, and the caller does not get to know it.
        self.fuse.step()
        return result

    async def close(self) -> None:
        await self.store.close()


class _Breaking:
    """A transaction, or one of its ports, whose calls may break."""

    def __init__(self, inner: object, fuse: Fuse) -> None:
        self._inner = inner
        self._fuse = fuse

    def __getattr__(self, name: str) -> object:
        found = getattr(self._inner, name)
        if not callable(found):
            return _Breaking(found, self._fuse)
        return self._breaking(found)

    def _breaking(self, call: Callable[..., object]) -> Callable[..., object]:
        def breaking(*given: object, **named: object) -> object:
            self._fuse.step()
            out = call(*given, **named)
            self._fuse.step()
            return out

        return breaking


def everything(tx: Transaction, space: str, summarizers: tuple[str, ...], budgets: tuple[int, ...]) -> object:
    """All that a store holds of a space, but for the times."""
    out: list[object] = []
    for info in sorted(tx.sessions.list(space), key=lambda each: each.key):
        out.append((info.key, info.source, info.messages, info.tokens))
        out += [(branch, head) for branch, head in tx.sessions.branches(info.key).items()]
        out += _along_the_branches(tx, info.key, summarizers, budgets)
    return out


def _along_the_branches(
    tx: Transaction, key: SessionKey, summarizers: tuple[str, ...], budgets: tuple[int, ...]
) -> list[object]:
    out: list[object] = []
    for head in tx.sessions.branches(key).values():
        if head is None:
            continue
        path = tx.log.path(key, head.id, 0, head.position)
        out += path
        out.append(tx.log.drafts(key, [message.id for message in path]))
        for summarizer in summarizers:
            out += tx.summaries.frontier(key, head.id, summarizer)
            out += [tx.rebuilds.last(key, head.id, summarizer, budget) for budget in budgets]
    # The open blocks and those that cover everything are on no frontier.
    out += sorted(each.id for each in tx.summaries.find(key, "s_"))
    return out
