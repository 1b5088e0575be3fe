"""What many tests of the engine begin with."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import ireneo


@pytest.fixture(params=["in memory", "sqlite"])
def store(request: pytest.FixtureRequest) -> str:
    """Each kind of store, one after the other."""
    return str(request.param)


@pytest.fixture
async def memory(store: str, tmp_path: Path) -> AsyncIterator[ireneo.Memory]:
    """An empty memory over a store of that kind."""
    place = ":memory:" if store == "in memory" else str(tmp_path / "memory.db")
    async with ireneo.open(place, durability="normal") as opened:
        yield opened
