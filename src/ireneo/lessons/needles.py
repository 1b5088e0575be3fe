"""Whether a call could be about a known trap at all: by words, so that most calls cost a hook next to nothing.

It imports nothing but the standard library.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

VERSION = 9
"""How traps are compiled and laid out; what another version kept is compiled anew."""


def says_any(needles: Iterable[str], tool: str, arguments: object) -> bool:
    """Whether one of `needles` stands in what a call says."""
    text = said(tool, arguments)
    return any(needle in text for needle in needles)


def said(tool: str, arguments: object) -> str:
    """All that a call says, in one text."""
    return "\n".join((tool, *texts(arguments)))


def texts(given: object) -> Iterator[str]:
    """The names and the values of arguments, however deep they lie."""
    if isinstance(given, str):
        yield given
    elif isinstance(given, Mapping):
        for name, value in given.items():
            yield str(name)
            yield from texts(value)
    elif isinstance(given, Sequence) and not isinstance(given, bytes):
        for value in given:
            yield from texts(value)
    elif isinstance(given, int | float):
        yield str(given)
