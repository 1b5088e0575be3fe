"""The conformance suite for stores: what every store must do, one sentence a check, grouped by capability.

Run all of it, in a script::

    @asynccontextmanager
    async def fresh():
        store = await open_my_store(a_new_place())
        try:
            yield store
        finally:
            await store.close()

    report = asyncio.run(check_store(fresh))
    print(report)

or each check as a test of pytest::

    @pytest.mark.parametrize("check", CHECKS, ids=str)
    def test_my_store(check):
        asyncio.run(check.run(fresh))

For a store whose data outlives it also pass `again`, which opens a second store over the data of a first one that is
open or closed; without it the checks on sharing are skipped.
"""

from ireneo.testing.conformance.check import (
    Again,
    Check,
    CheckResult,
    Fresh,
    Place,
    Report,
    UnmetError,
    checks_in,
    run_checks,
)
from ireneo.testing.conformance.leases import LeaseChecks, SpaceChecks
from ireneo.testing.conformance.log import LogChecks
from ireneo.testing.conformance.memories import MemoryChecks, RunChecks
from ireneo.testing.conformance.search import SearchChecks, VectorChecks
from ireneo.testing.conformance.summaries import SummaryChecks
from ireneo.testing.conformance.transactions import SharingChecks, TransactionChecks
from ireneo.testing.conformance.upkeep import ErasureChecks, UpkeepChecks

CHECKS = checks_in(
    log=LogChecks,
    summaries=SummaryChecks,
    memories=MemoryChecks,
    runs=RunChecks,
    search=SearchChecks,
    vectors=VectorChecks,
    leases=LeaseChecks,
    upkeep=UpkeepChecks,
    erasure=ErasureChecks,
    transactions=TransactionChecks,
    spaces=SpaceChecks,
    sharing=SharingChecks,
)
"""Every check."""

CAPABILITIES = tuple(dict.fromkeys(check.capability for check in CHECKS))


async def check_store(
    fresh: Fresh, *, again: Again | None = None, capabilities: tuple[str, ...] = CAPABILITIES
) -> Report:
    """Run every check of `capabilities`, each on stores created by `fresh`."""
    return await run_checks([check for check in CHECKS if check.capability in capabilities], fresh, again)


__all__ = [
    "CAPABILITIES",
    "CHECKS",
    "Again",
    "Check",
    "CheckResult",
    "Fresh",
    "Place",
    "Report",
    "UnmetError",
    "check_store",
]
