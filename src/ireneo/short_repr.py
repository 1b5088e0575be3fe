"""The base of the values that methods return: a repr that fits on one line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime

from msgspec import Struct
from msgspec.structs import fields

from ireneo.patterns import lazy_re

_ID = lazy_re(r"[a-z]_[a-z2-7]{26}")
_ID_CHARACTERS = 9
"""How many characters of an id are shown."""
_MOST, _LONGEST = 200, 72
"""How many characters of a repr may come before the last field, and how many of one text are shown."""
_NESTED_FIELDS = 4
"""How many fields are shown of a value that is itself a field."""


class ShortRepr(Struct, frozen=True):
    """A value whose repr shows its first non-default fields, long ones only as a count or an extract.

    Everything is there as an attribute; `msgspec.to_builtins` shows all of it.
    """

    def __repr__(self) -> str:
        return _short(self, _MOST)


def _short(value: Struct, most: int) -> str:
    shown: list[str] = []
    for name, field in _set_fields(value):
        if sum(map(len, shown)) > most:
            shown.append("…")
            break
        shown.append(f"{name}={_of(field)}")
    return f"{type(value).__name__}({', '.join(shown)})"


def _set_fields(value: Struct) -> Iterator[tuple[str, object]]:
    """Yield the fields that are neither empty nor at their default."""
    for field in fields(value):
        set_to = getattr(value, field.name)
        is_empty = set_to is None or (isinstance(set_to, Collection) and not set_to)
        if not is_empty and set_to != field.default:
            yield field.name, set_to


def _of(value: object) -> str:
    if isinstance(value, str):
        return repr(value[:_ID_CHARACTERS] if _ID.fullmatch(value) else _cut(value))
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, datetime):
        return value.isoformat(" ", "minutes")
    if isinstance(value, Struct):
        set_fields = list(_set_fields(value))
        shown = [f"{name}={_of(each)}" for name, each in set_fields[:_NESTED_FIELDS] if not isinstance(each, Struct)]
        more = ["…"] if len(set_fields) > len(shown) else []
        return f"{type(value).__name__}({', '.join(shown + more)})"
    if isinstance(value, Mapping):
        return f"<{len(value)} keys>"
    if isinstance(value, Collection) and not isinstance(value, bytes):
        return _counted(value)
    return _cut(repr(value))


def _counted(values: Collection[object]) -> str:
    """Say how many values there are, and of what type."""
    kinds = Counter(type(each).__name__ for each in values)
    return f"<{', '.join(f'{number} {kind}' for kind, number in kinds.items())}>"


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
