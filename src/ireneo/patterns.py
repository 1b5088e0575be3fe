"""What is made at its first use: patterns, so that a process pays for those that it uses, and the shapes of structs."""

from __future__ import annotations

import re
from collections.abc import Callable
from threading import Lock
from typing import AnyStr, Generic, TypeVar, cast, overload

import msgspec

T = TypeVar("T")


class _Pattern(Generic[AnyStr]):
    """Stands for a compiled pattern; a method that was asked for once is an attribute, and costs nothing more."""

    def __init__(self, source: AnyStr | Callable[[], AnyStr], flags: int) -> None:
        self._source: AnyStr | Callable[[], AnyStr] = source
        self._flags = flags

    def __getattr__(self, name: str) -> object:
        # Asked for what is no attribute yet. A copy in the making has none at all, and must not look for its source.
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
    """A pattern, to be used like one that `re.compile` gives; a fault in `source` shows when it is first used.

    A function as the `source` is called then: it makes the pattern of what is read by that time, such as a language's
    words.

    For every pattern that a module or a class holds. Where a function makes one, it is for use at once: `re.compile`.
    """
    return cast("re.Pattern[AnyStr]", _Pattern(source, flags))


_readable: set[type] = set()
_first_use = Lock()


def readable(kind: type[T]) -> type[T]:
    """`kind` itself, once msgspec has looked into it: for whatever reads a struct, in any thread.

    msgspec does so at the first use, and two threads that do it at once may crash Python. So every type that it is to
    read goes through here, and the first look is one thread's alone. Also decorates a class.
    """
    if kind not in _readable:
        with _first_use:
            msgspec.json.Decoder(kind)
            _readable.add(kind)
    return kind
