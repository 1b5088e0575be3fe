"""Tests that wait for something, as pytest runs them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps


def waited(test: Callable[..., Coroutine[object, object, None]]) -> Callable[..., None]:
    """Run a test that waits for something."""

    @wraps(test)
    def run(*given: object, **named: object) -> None:
        asyncio.run(test(*given, **named))

    return run
