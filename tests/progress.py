"""What a verb reports on its way."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any


async def progress_of(verb: Callable[..., Awaitable[object]], *given: object, **named: object) -> list[Any]:
    """All that `verb` tells its `on_progress`, once it is done."""
    told: list[Any] = []
    await verb(*given, on_progress=told.append, **named)
    return told
