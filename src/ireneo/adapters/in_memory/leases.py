"""The leases on a session's work, in memory."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ireneo.adapters.in_memory.shelf import Shelf
from ireneo.adapters.in_memory.tree import Tree
from ireneo.adapters.leasing import check_holder, failed, is_held, may_take, renewed, taken
from ireneo.log.tree import SessionKey
from ireneo.ports.leases import Lease


class MemoryLeases:
    """`ireneo.ports.leases.LeasesPort` over one open transaction."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    def take(self, key: SessionKey, work: str, holder: str, now: datetime, until: datetime) -> Lease | None:
        """Take the lease on a piece of work, unless another holds it or it is too early."""
        tree = self._shelf.change(key)
        check_holder(holder)
        found = tree.leases.get(work)
        if not may_take(found, holder, now, until):
            return None
        tree.leased += 1
        lease = tree.leases[work] = taken(found, key, work, holder, tree.leased, until)
        return lease

    def renew(self, lease: Lease, until: datetime) -> bool:
        """Make a lease last longer."""
        tree = self._shelf.change(lease.key)
        found = _held(tree, lease)
        if found is not None:
            tree.leases[lease.work] = renewed(found, until)
        return found is not None

    def give_back(self, lease: Lease) -> bool:
        """Let go of a lease, the work being done."""
        tree = self._shelf.change(lease.key)
        if _held(tree, lease) is None:
            return False
        del tree.leases[lease.work]
        return True

    def fail(self, lease: Lease, error: str, retry_at: datetime) -> bool:
        """Let go of a lease, the work having failed."""
        tree = self._shelf.change(lease.key)
        found = _held(tree, lease)
        if found is not None:
            tree.leases[lease.work] = failed(found, error, retry_at)
        return found is not None

    def of_session(self, key: SessionKey) -> Sequence[Lease]:
        """Every lease and every failure of a session."""
        return sorted(self._shelf.see(key).leases.values(), key=lambda lease: lease.work)

    def forget(self, key: SessionKey, work: str) -> bool:
        """Drop a lease whoever holds it."""
        return self._shelf.change(key).leases.pop(work, None) is not None


def _held(tree: Tree, lease: Lease) -> Lease | None:
    found = tree.leases.get(lease.work)
    return found if is_held(found, lease) else None
