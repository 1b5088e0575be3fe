"""The clock of the machine."""

from __future__ import annotations

from datetime import UTC, datetime


class SystemClock:
    """A Clock that goes with the machine's, in UTC."""

    def now(self) -> datetime:
        """The time."""
        return datetime.now(UTC)
