"""How long and how often a model is asked, and what came of it so far."""

from __future__ import annotations

from msgspec import Struct


class Patience(Struct, frozen=True, kw_only=True):
    """How long and how often a model is asked."""

    timeout_seconds: float
    """For one ask, its attempts and the waits between them included."""
    attempts: int
    pause_seconds: float
    """Before the second attempt; twice as long before each further one."""


class Tally(Struct, kw_only=True):
    """What one ask has cost so far."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0

    @property
    def tokens(self) -> int:
        """What went in and came out."""
        return self.tokens_in + self.tokens_out
