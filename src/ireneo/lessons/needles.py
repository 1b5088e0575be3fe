"""Whether a call can concern a known trap at all, judged by words, so that most calls cost a hook next to nothing.

It imports nothing but the standard library.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

VERSION = 11
"""The version of how traps are compiled and stored; those of another version are compiled again."""


def contains_any(needles: Iterable[str], tool: str, arguments: object) -> bool:
    """Whether one of `needles` occurs in a call."""
    text = call_text(tool, arguments)
    return any(needle in text for needle in needles)


def call_text(tool: str, arguments: object) -> str:
    """All texts of a call, in one."""
    return "\n".join((tool, *nested_texts(arguments)))


def nested_texts(given: object) -> Iterator[str]:
    """The names and values of arguments, at any depth."""
    if isinstance(given, str):
        yield given
    elif isinstance(given, Mapping):
        for name, value in given.items():
            yield str(name)
            yield from nested_texts(value)
    elif isinstance(given, Sequence) and not isinstance(given, bytes):
        for value in given:
            yield from nested_texts(value)
    elif isinstance(given, int | float):
        yield str(given)
