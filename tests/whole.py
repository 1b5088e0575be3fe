"""All that a value holds as text, for tests that look for what must not be in it: a `repr` leaves most of it out."""

from __future__ import annotations

import msgspec


def whole(value: object) -> str:
    """Every field of a value, and of all values in it."""
    return repr(msgspec.to_builtins(value, enc_hook=repr))
