"""The data files of languages: a section is read when it is first asked for, and is checked as it is read.

A language is one TOML file beside this module, a section of it one topic: a struct in `topics`, whose fields say what
a language may bring. A file need not have every section, and a section not every field.

In a file, words may be written as one text with blanks between them. In a pattern, `{name}` stands for the part of
that name in the section's own table `parts`: a pattern, or a list of which any may stand there. A pattern may be broken
over several lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pkgutil import get_data
from typing import TypeVar, cast

import msgspec
from msgspec import Struct

from ireneo.patterns import lazy_re

LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl", "zh")
"""The languages whose words are known, by the names of their files."""

T = TypeVar("T", bound=Struct)
V = TypeVar("V")

MADE: list[Callable[[], object]] = []
"""Every function whose value is made of data and kept; the tests of patterns call each."""

_HEADING = lazy_re(r"^(?=\[\w+\]$)", re.MULTILINE)
_LINE_BREAK = lazy_re(r"\n\s*")
_NAMED_PART = lazy_re(r"\{([a-z_]+)\}")

_sections: dict[str, dict[str, str]] = {}
_topics: dict[tuple[type[Struct], str], Struct] = {}


def from_data(make: Callable[[], V]) -> Callable[[], V]:
    """Keep what `make` gives once it was asked for: a module holds nothing of the data when it is imported."""
    made = cache(make)
    MADE.append(made)
    return made


def topic(kind: type[T]) -> T:
    """What all languages bring to a topic, side by side: sets are united, rows are joined in the order of languages."""
    key = (kind, "")
    if key not in _topics:
        each = [of_language(kind, code) for code in LANGUAGES]
        rows = {name: [getattr(one, name) for one in each] for name in kind.__struct_fields__}
        _topics[key] = kind(**{name: _joined(values) for name, values in rows.items()})
    return cast("T", _topics[key])


def of_language(kind: type[T], code: str) -> T:
    """What one language brings to a topic; nothing, where its file has no such section."""
    key = (kind, code)
    if key not in _topics:
        _topics[key] = _read(kind, code)
    return cast("T", _topics[key])


def either(alternatives: Iterable[str]) -> str:
    """A pattern for any of `alternatives`, each a pattern; of none, one that matches nothing."""
    return f"(?:{'|'.join(alternatives) or '(?!)'})"


def fill(pattern: str, parts: Mapping[str, str]) -> str:
    """`pattern` with the text of each part in the place of its name, and so on for what that names."""
    while _NAMED_PART.search(pattern):
        pattern = _NAMED_PART.sub(lambda found: parts[found[1]], pattern)
    return pattern


def sections(code: str) -> Mapping[str, str]:
    """The sections of a language's file, as they are written, by name."""
    if code not in _sections:
        data = get_data(__package__, f"{code}.toml")
        assert data is not None, code
        written = _HEADING.split(data.decode("utf-8"))[1:]
        _sections[code] = {text[1 : text.index("]")]: text for text in written}
    return _sections[code]


def _read(kind: type[T], code: str) -> T:
    # Imported when used: a process that reads no text needs no parser.
    import tomllib

    name = kind.__name__.lower()
    held = tomllib.loads(sections(code).get(name, "")).get(name, {})
    given = held.pop("parts", {})
    parts = {key: _one_line(part) if isinstance(part, str) else either(part) for key, part in given.items()}
    return msgspec.convert({key: _value(value, parts) for key, value in held.items()}, kind)


def _value(value: object, parts: Mapping[str, str]) -> object:
    """A field: words that are written as one text one by one, and patterns with their parts filled in."""
    if isinstance(value, str):
        return value.split()
    if isinstance(value, dict):
        return {key: _value(each, parts) for key, each in value.items()}
    return _pattern(value, parts)


def _pattern(value: object, parts: Mapping[str, str]) -> object:
    if isinstance(value, str):
        return fill(_one_line(value), parts) if parts else _one_line(value)
    if isinstance(value, list):
        return [_pattern(each, parts) for each in value]
    return {key: _pattern(each, parts) for key, each in value.items()} if isinstance(value, dict) else value


def _one_line(text: str) -> str:
    return _LINE_BREAK.sub("", text)


def _joined(values: list[object]) -> object:
    first = values[0]
    if isinstance(first, frozenset):
        return first.union(*cast("list[frozenset[str]]", values))
    if isinstance(first, tuple):
        return tuple(each for value in cast("list[tuple[object, ...]]", values) for each in value)
    maps = cast("list[dict[str, tuple[str, ...]]]", values)
    return {name: tuple(word for each in maps for word in each.get(name, ())) for each in maps for name in each}
