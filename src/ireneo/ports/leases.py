"""What the engine needs of a store so that two writers seldom do the same work.

Leases save money and nothing else: the truth is kept by the names of what is written, which two writers of one
stretch share. A lease spans the call of a model, and no transaction does.

Times are compared exactly, to the microsecond, and come back in UTC; one without a zone is taken for UTC. As with
every port, writing to a session that was never made raises SessionNotFound.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from msgspec import Struct

from ireneo.log.tree import SessionKey


class Lease(Struct, frozen=True, kw_only=True):
    """The right to do one piece of work, until it expires."""

    key: SessionKey
    work: str
    """The name of the piece: the anchor of the summary that is to be written, or what is to be caught up with."""
    holder: str
    """Who has it; empty where nobody has it, and what is kept is only how the work failed."""
    token: int
    """Grows each time that the work is taken, also after it was given back or forgotten: whoever comes with an older
    one was overtaken. The works of a session count together, so it may grow by more than one."""
    until: datetime
    """When it expires."""
    failures: int = 0
    """How often the work failed in a row."""
    error: str = ""
    """How it failed last, in a sentence."""
    retry_at: datetime | None = None
    """Before this time it is not tried again."""


class LeasesPort(Protocol):
    """The leases on a session's work."""

    def take(self, key: SessionKey, work: str, holder: str, now: datetime, until: datetime) -> Lease | None:
        """Take the lease on `work` until `until`; None while another holds it, or before its `retry_at`.

        One that `holder` has already is taken anew, and one that has expired at `now` is taken over. So is one that
        would outlast `until` by more than ten minutes, and by more than the time from `now` to `until`: nobody leases
        for so long, so the clock was set back since. (By less it may: not everybody leases for as long.) For the same
        reason a `retry_at` that lies a day ahead or more is passed over. The number of failures and the last
        error are carried on, the `retry_at` is not. Raises BadInput where `holder` is empty.
        """

    def renew(self, lease: Lease, until: datetime) -> bool:
        """Make it last until `until`; False, and nothing changed, where it was taken over or let go of.

        One that has expired is renewed too, as long as nobody has taken it since.
        """

    def give_back(self, lease: Lease) -> bool:
        """Let go of it, the work being done: nothing is kept of it, nor of its failures.

        False, and nothing changed, where it was taken over or let go of.
        """

    def fail(self, lease: Lease, error: str, retry_at: datetime) -> bool:
        """Let go of it, the work having failed: how often, how and when to try again is kept, without a holder.

        False, and nothing changed, where it was taken over or let go of.
        """

    def of_session(self, key: SessionKey) -> Sequence[Lease]:
        """Every lease that is held and every failure that is kept, by the name of the work."""

    def forget(self, key: SessionKey, work: str) -> bool:
        """Drop a lease whoever holds it, and what is kept of its failures. False where there is none."""
