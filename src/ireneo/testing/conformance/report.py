"""Run all checks on a store, and say how it did."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from ireneo.errors import IreneoError
from ireneo.testing.conformance.check import Again, Check, Fresh

Result = Literal["met", "unmet", "skipped"]


class Outcome(Struct, frozen=True, kw_only=True):
    """How a store did in one check."""

    check: Check
    result: Result
    detail: str = ""
    """What was wanted and what came instead."""


class Report(Struct, frozen=True, kw_only=True):
    """How a store did in all of them."""

    outcomes: tuple[Outcome, ...]

    @property
    def conforms(self) -> bool:
        """Whether no check was unmet."""
        return not self.unmet

    @property
    def unmet(self) -> tuple[Outcome, ...]:
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


async def _try(check: Check, fresh: Fresh, again: Again | None) -> Outcome:
    if check.needs_again and again is None:
        return Outcome(check=check, result="skipped")
    try:
        await check.run(fresh, again)
    except (AssertionError, IreneoError, TimeoutError, LookupError, TypeError, ValueError, OSError) as fault:
        return Outcome(check=check, result="unmet", detail=f"{type(fault).__name__}: {fault}")
    return Outcome(check=check, result="met")
