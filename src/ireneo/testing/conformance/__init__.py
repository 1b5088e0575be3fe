"""The examiner of stores: what every store must do, one sentence a check, sorted by capability.

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

A store that outlives itself also gives `again`, which opens a second store over what a first one keeps, for as long as
that is open or afterwards; without it the checks on sharing are skipped.
"""

from ireneo.testing.conformance import (
    erasure,
    leases,
    log,
    memories,
    runs,
    search,
    sharing,
    spaces,
    summaries,
    transactions,
    upkeep,
    vectors,
)
from ireneo.testing.conformance.check import Again, Check, CheckResult, Fresh, Report, UnmetError, checks_in, run_checks
from ireneo.testing.conformance.place import Place

CHECKS = checks_in(
    log,
    summaries,
    memories,
    runs,
    search,
    vectors,
    leases,
    upkeep,
    erasure,
    transactions,
    spaces,
    sharing,
)
"""Every check."""

CAPABILITIES = tuple(dict.fromkeys(check.capability for check in CHECKS))


async def check_store(
    fresh: Fresh, *, again: Again | None = None, capabilities: tuple[str, ...] = CAPABILITIES
) -> Report:
    """Run every check of `capabilities`, each on a store that `fresh` makes for it."""
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
