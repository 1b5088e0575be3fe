"""When a lease may be taken, and what becomes of one: the rules that every store keeps to."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

from ireneo.errors import BadInput
from ireneo.log.tree import SessionKey
from ireneo.ports.leases import Lease

NOBODY = ""
"""The holder of what is kept only for its failures."""

FAR = timedelta(days=1)
"""Nobody puts a retry off for so long: one that lies so far ahead was set before the clock was put back."""

FAR_LEASE = timedelta(minutes=10)
"""How much further than one's own a rival's lease may reach: not everybody leases for as long."""


def utc(at: datetime) -> datetime:
    """A time in UTC; one without a zone is taken for UTC."""
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)


def check_holder(holder: str) -> None:
    """Raise BadInput for a holder without a name."""
    if holder == NOBODY:
        raise BadInput("A lease needs a holder; give it a name that no other process has.")


def may_take(found: Lease | None, holder: str, now: datetime, until: datetime) -> bool:
    """Whether `holder` may take what is stored as `found`; None: nothing is."""
    if found is None:
        return True
    now, until = utc(now), utc(until)
    if found.retry_at is not None and now < found.retry_at < now + FAR:
        return False
    if found.holder in (NOBODY, holder) or found.until <= now:
        return True
    return found.until - until > max(until - now, FAR_LEASE)


def taken(found: Lease | None, key: SessionKey, work: str, holder: str, token: int, until: datetime) -> Lease:
    """The lease as it is once `holder` has taken it; how the work failed before is carried on."""
    return Lease(
        key=key,
        work=work,
        holder=holder,
        token=token,
        until=utc(until),
        failures=found.failures if found else 0,
        error=found.error if found else "",
    )


def is_held(found: Lease | None, lease: Lease) -> bool:
    """Whether `lease` is still what is stored as `found`, and neither taken over nor let go of."""
    return found is not None and (found.token, found.holder) == (lease.token, lease.holder) and lease.holder != NOBODY


def renewed(found: Lease, until: datetime) -> Lease:
    """The lease as it is once it lasts until `until`."""
    return replace(found, until=utc(until))


def failed(found: Lease, error: str, retry_at: datetime) -> Lease:
    """What is kept of a lease whose work failed."""
    return replace(found, holder=NOBODY, failures=found.failures + 1, error=error, retry_at=utc(retry_at))
