"""Take out of a session what no branch leads to, and forget a branch."""

from __future__ import annotations

from msgspec import Struct

from ireneo.engine.limbs import limbs
from ireneo.errors import BadInput
from ireneo.log.branch import SessionKey
from ireneo.ports.store import Store
from ireneo.ports.transition import Transaction
from ireneo.ports.upkeep import Pruned


class Loose(Struct, frozen=True, kw_only=True):
    """What `prune` would take out."""

    messages: int = 0
    tokens: int = 0


async def loose(store: Store, key: SessionKey, without: str = "") -> Loose:
    """What no branch leads to, or would lead to if the branch `without` were forgotten. Raises as `drop` does."""
    async with store.read() as tx:
        kept = dict(await tx.sessions.branches(key))
        ends = [("", end) for end in await tx.upkeep.ends(key)]
        if without:
            await _check_drop(tx, key, without)
            if head := kept.pop(without):
                ends.append(("", head))
        named = [(name, head) for name, head in kept.items() if head is not None]
        found = (await limbs(tx, key, [*named, *ends]))[len(named) :]
    return Loose(messages=sum(limb.messages for limb in found), tokens=sum(limb.tokens for limb in found))


async def prune(store: Store, key: SessionKey) -> Pruned:
    """Take out every message that no branch leads to, with all that hangs on it."""
    async with store.write() as tx:
        return await tx.upkeep.prune(key)


async def drop(store: Store, key: SessionKey, branch: str) -> None:
    """Forget the name of a branch.

    Raises BadInput where there is no such branch, or none that leads to a message would be left.
    """
    async with store.write() as tx:
        await _check_drop(tx, key, branch)
        await tx.upkeep.drop(key, branch)


async def _check_drop(tx: Transaction, key: SessionKey, branch: str) -> None:
    there = await tx.sessions.branches(key)
    if branch not in there:
        names = ", ".join(there) or "none"
        raise BadInput(f"Session {key.session} has no branch {branch!r}; it has: {names}.")
    others = [head for name, head in there.items() if name != branch]
    if not others:
        raise BadInput(
            f"{branch!r} is the only branch of session {key.session}, and nothing would lead to its messages; "
            "make another one first, and drop it then."
        )
    if there[branch] is not None and not any(others):
        raise BadInput(
            f"{branch!r} is the only branch of session {key.session} that leads to a message; "
            "move another one to what is to be kept first."
        )
