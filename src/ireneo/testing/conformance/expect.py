"""How a check says what it wanted; asserts that `python -O` doesn't take away."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ireneo.errors import IreneoError

SHOWN = 400
"""Characters of a value that a message shows."""


class UnmetError(AssertionError):
    """The store does not do what the check wants."""


def expect(actual: object, wanted: object, what: str) -> None:
    """Raise UnmetError unless `actual` equals `wanted`; `what` names it in the message."""
    if actual != wanted:
        raise UnmetError(f"{what}: wanted {_show(wanted)}, got {_show(actual)}")


@contextmanager
def expect_error(error: type[IreneoError], what: str) -> Iterator[None]:
    """Raise UnmetError unless the block raises `error`."""
    try:
        yield
    except error:
        return
    raise UnmetError(f"{what}: wanted {error.__name__}, and nothing was raised")


def _show(value: object) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"
