"""The types of all arguments of public methods, which are checked against their annotations."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime
from functools import cache, wraps
from inspect import Parameter, Signature, get_annotations, iscoroutinefunction, signature
from os import PathLike
from types import FunctionType, NoneType, UnionType
from typing import (
    Any,
    BinaryIO,
    Literal,
    NewType,
    ParamSpec,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from ireneo.errors import BadInput

C = TypeVar("C", bound=type)
P = ParamSpec("P")
R = TypeVar("R")

MOST_SHOWN = 40
"""How many characters of a value an error repeats at most."""
LARGEST = 2**63 - 1
"""The largest whole number that a database holds."""
_OPEN: tuple[object, ...] = (BinaryIO,)
_CALLED: Mapping[object, str] = {
    str: "a string",
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    datetime: "a datetime with a zone",
    PathLike: "a path",
    Callable: "a function",
    BinaryIO: "an open file",
    NoneType: "None",
}


def validate_methods(owner: C) -> C:
    """Decorate a class: each of its public methods checks its arguments, as `checked` says."""
    for name, method in list(vars(owner).items()):
        if isinstance(method, FunctionType) and not name.startswith("_"):
            setattr(owner, name, validate_arguments(method))
    return owner


def validate_arguments(verb: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function: it raises BadInput for an argument of a wrong type, and for an empty name.

    An annotation that can't be resolved, since its type is only imported for annotations, accepts anything; a protocol
    accepts whatever has its attributes.
    """
    if iscoroutinefunction(verb):

        @wraps(verb)
        async def call_async(*given: P.args, **named: P.kwargs) -> object:
            _check_arguments(verb, given, named)
            return await verb(*given, **named)

        return cast("Callable[P, R]", call_async)

    @wraps(verb)
    def call_sync(*given: P.args, **named: P.kwargs) -> R:
        _check_arguments(verb, given, named)
        return verb(*given, **named)

    return call_sync


def _check_arguments(verb: Callable[..., object], given: tuple[object, ...], named: Mapping[str, object]) -> None:
    accepts, hints = _signature_and_types(verb)
    try:
        arguments = accepts.bind(*given, **named).arguments
    except TypeError:
        # The call itself raises it, with the method's name.
        return
    for name, value in arguments.items():
        hint = hints.get(name, Any)
        several = accepts.parameters[name].kind is Parameter.VAR_POSITIONAL
        for each in value if several else (value,):
            if said := _type_fault(each, hint):
                raise BadInput(f"`{name}` {said}; give {_describe_type(hint)}.")
        if name in ("id", "space", "tool") and isinstance(value, str) and not value.strip():
            raise BadInput(f"`{name}` is empty; give one.")


@cache
def _signature_and_types(verb: Callable[..., object]) -> tuple[Signature, Mapping[str, Any]]:
    """The parameters of a function, and the types that they accept."""
    accepts = signature(verb)
    hints = get_type_hints(verb, localns=_ModuleNames(verb.__globals__))
    checks = (each.name for each in accepts.parameters.values() if each.kind is not Parameter.VAR_KEYWORD)
    return accepts, {name: hints[name] for name in checks if name in hints}


class _ModuleNames(dict[str, Any]):
    """The names in a module; a name imported only for annotations accepts any type."""

    def __missing__(self, name: str) -> Any:  # noqa: ANN401 (whatever is called so)
        return getattr(builtins, name, Any)


def _type_fault(value: object, hint: Any) -> str:  # noqa: ANN401 (any annotation)
    """The fault of a value, worded to follow its name; empty if the value fits."""
    origin, inner = get_origin(hint), get_args(hint)
    fits = True
    if origin in (Union, UnionType):
        said = ""
        for each in inner:
            if not (found := _type_fault(value, each)):
                return ""
            # A fault inside a list or of an object is more specific than that the value is one.
            said = found if found.startswith("holds") or "which lacks" in found else said or found
        return said
    if isinstance(hint, NewType):
        return _type_fault(value, hint.__supertype__)
    if origin is Literal:
        fits = isinstance(value, str)
    elif isinstance(origin, type):
        # A string is a sequence of strings, but never meant as one.
        listed = issubclass(origin, Iterable) and not issubclass(origin, Mapping | tuple)
        fits = isinstance(value, origin) and not (listed and isinstance(value, str | bytes))
        if fits and listed and isinstance(value, Collection):
            # Of many values the first of each type is looked at: a log may be a list of a million lines.
            held = [*value][::-1]
            firsts = reversed(dict(zip(map(type, held), held, strict=True)).values())
            return next((f"holds {said[3:]}" for each in firsts if (said := _type_fault(each, inner[0]))), "")
    elif hint in (int, float):
        fits = isinstance(value, int | hint) and not isinstance(value, bool) and not _is_too_large(value)
    elif hint in _OPEN:
        fits = hasattr(value, "read")
    elif getattr(hint, "_is_protocol", False):
        fits = not _lacking_attributes(value, hint)
    elif isinstance(hint, type) and hint.__module__ != "typing":
        fits = isinstance(value, hint)
    return "" if fits else _misfit(value, hint)


def _misfit(value: object, hint: Any) -> str:  # noqa: ANN401 (any annotation)
    if _is_too_large(value):
        return "is too large for 64 bits"
    if value is None or isinstance(value, int | float | str):
        return f"is {shown if len(shown := repr(value)) <= MOST_SHOWN else type(value).__name__}"
    lacks = _lacking_attributes(value, hint) if getattr(hint, "_is_protocol", False) else ()
    return f"is {type(value).__name__}{', which lacks ' if lacks else ''}{' and '.join(lacks)}"


def _is_too_large(value: object) -> bool:
    return isinstance(value, int) and abs(value) > LARGEST


def _lacking_attributes(value: object, protocol: Any) -> list[str]:  # noqa: ANN401 (any protocol)
    asked = (name for name in (*vars(protocol), *get_annotations(protocol)) if not name.startswith("_"))
    return [f"`{name}`" for name in asked if not hasattr(value, name)]


def _describe_type(hint: Any) -> str:  # noqa: ANN401 (any annotation)
    """An annotation in words."""
    inner = [each for each in get_args(hint) if each is not NoneType]
    if get_origin(hint) in (Union, UnionType):
        return " or ".join(dict.fromkeys(map(_describe_type, inner)))
    if get_origin(hint) is Literal:
        return " or ".join(map(repr, inner))
    if isinstance(hint, NewType):
        return _describe_type(hint.__supertype__)
    if isinstance(origin := get_origin(hint), type):
        if not issubclass(origin, Iterable):
            return _CALLED.get(origin, f"a {origin.__name__}")
        return "a mapping" if issubclass(origin, Mapping) else f"a list, each {_describe_type(inner[0])}"
    name = getattr(hint, "__name__", "value")
    return _CALLED.get(hint, f"{'an' if name[0] in 'AEIO' else 'a'} {name}")
