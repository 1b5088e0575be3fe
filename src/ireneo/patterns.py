"""Patterns and struct types, prepared at their first use, so that a process pays only for those that it uses."""

from __future__ import annotations

import re
from collections.abc import Callable
from threading import Lock
from typing import AnyStr, Generic, TypeVar, cast, overload

import msgspec

T = TypeVar("T")


class _Pattern(Generic[AnyStr]):
    """Stands for a compiled pattern; methods are cached as attributes once used, so that later calls are as fast."""

    # Without a dictionary each: there are thousands, and the garbage collector looks at every one.
    __slots__ = (
        *("_compiled", "_flags", "_source", "findall", "finditer", "flags", "fullmatch", "groupindex", "groups"),
        *("match", "pattern", "scanner", "search", "split", "sub", "subn"),
    )

    def __init__(self, source: AnyStr | Callable[[], AnyStr], flags: int) -> None:
        self._source: AnyStr | Callable[[], AnyStr] = source
        self._flags = flags

    def __getattr__(self, name: str) -> object:
        # The attribute is missing. An object that is being copied has no attributes yet, and must not look for its
        # source.
        if name == "_compiled":
            source = self._source
            value: object = re.compile(source() if callable(source) else source, self._flags)
        elif name.startswith("_"):
            raise AttributeError(name)
        else:
            value = getattr(self._compiled, name)
        setattr(self, name, value)
        return value

    def __repr__(self) -> str:
        return f"lazy_re({self._source!r}, {self._flags})"


@overload
def lazy_re(source: Callable[[], str], flags: int = 0) -> re.Pattern[str]: ...


@overload
def lazy_re(source: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]: ...


def lazy_re(source: AnyStr | Callable[[], AnyStr], flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a pattern like one from `re.compile`, compiled at its first use, when an error in `source` is also raised.

    If `source` is a function, it is called then: it may use what isn't loaded at import, such as a language's words.

    Every pattern at module or class level uses this; a function that makes one uses `re.compile`.
    """
    return cast("re.Pattern[AnyStr]", _Pattern(source, flags))


_readable: set[type] = set()
_first_use = Lock()


def readable(kind: type[T]) -> type[T]:
    """Return `kind` after msgspec has inspected it, so that any thread can decode it.

    msgspec inspects a type at its first use, and two threads that do so at once may crash Python. So every type that is
    decoded goes through here, where only one thread inspects it. Also a class decorator.
    """
    if kind not in _readable:
        with _first_use:
            msgspec.json.Decoder(kind)
            _readable.add(kind)
    return kind
