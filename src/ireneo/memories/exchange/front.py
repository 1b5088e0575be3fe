"""Front matter in TOML: one key a line, always in the same order, so that a change shows as a changed line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache

from msgspec import Struct
from msgspec.structs import FieldInfo, fields

from ireneo.patterns import lazy_re

FENCE = "+++"
_BARE = lazy_re(r"[A-Za-z0-9_-]+\Z")
_MINUTE = timedelta(minutes=1)


def front_matter(record: Struct, order: tuple[str, ...], left_out: frozenset[str]) -> Iterator[str]:
    """The lines of a record without those in `left_out`: those in `order` first, then the others, tables at the end.

    What has its default is not written.
    """
    tables: list[str] = []
    for name, value in told(record, order, left_out):
        if isinstance(value, dict):
            tables += ["", f"[{name}]", *(f"{_key(key)} = {_value(value[key])}" for key in sorted(value))]
        elif isinstance(value, tuple) and isinstance(value[0], Struct):
            for each in value:
                tables += ["", f"[[{name}]]", *(f"{key} = {_value(inner)}" for key, inner in told(each))]
        else:
            yield f"{name} = {_value(value)}"
    yield from tables


def told(
    record: Struct, order: tuple[str, ...] = (), left_out: frozenset[str] = frozenset()
) -> Iterator[tuple[str, object]]:
    """What a record says by name, those in `order` first: without `left_out`, what is empty and what is as always."""
    known = _fields(type(record))
    for name in (*order, *(name for name in known if name not in order)):
        value = getattr(record, name)
        empty: tuple[object, ...] = (None, "", (), {}, known[name].default)
        if name not in left_out and value not in empty:
            yield name, value


@cache
def _fields(kind: type[Struct]) -> dict[str, FieldInfo]:
    # What a type has must be worked out from its annotations, and is asked for with each memory.
    return {each.name: each for each in fields(kind)}


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, datetime):
        return _moment(value)
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{_key(key)} = {_value(value[key])}' for key in sorted(value))} }}"
    if isinstance(value, tuple):
        # A list of several stands one a line, so that one more is one line more.
        lines = "".join(f"\n  {_value(each)}," for each in value)
        return f"[{_value(value[0])}]" if len(value) == 1 else f"[{lines}\n]"
    return repr(value)


def _text(value: str) -> str:
    # JSON's strings are TOML's, but for one character that TOML wants escaped and JSON doesn't.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _moment(value: datetime) -> str:
    offset = value.utcoffset()
    if offset is None or offset % _MINUTE:
        value = value.astimezone(UTC)
    return value.isoformat().replace("+00:00", "Z")


def _key(name: str) -> str:
    return name if _BARE.match(name) else _text(name)


def line_of(front: str, name: str) -> int:
    """On which line of the file `name` is given, where `front` begins behind the first line; 1 where nowhere."""
    given = re.compile(rf"\s*(\[\[?\s*)?(['\"]?){re.escape(name)}\2\s*[=\].]")
    numbers = (number for number, line in enumerate(front.split("\n"), start=2) if name and given.match(line))
    return next(numbers, 1)
