"""What many tests of the engine begin with."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

import ireneo


@pytest.fixture
async def memory() -> AsyncIterator[ireneo.Memory]:
    """An empty memory. What a verb does is the same over every store, as the conformance suite and properties show."""
    async with ireneo.open(":memory:") as opened:
        yield opened
