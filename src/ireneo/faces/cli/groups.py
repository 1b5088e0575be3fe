"""Options that belong together: a command takes them as one value, the command line shows them one by one."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import get_type_hints

from msgspec import NODEFAULT, Struct
from msgspec.structs import fields


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Let each parameter of `command` that is a Struct be given as the options that its fields are."""
    hints = get_type_hints(command, include_extras=True)
    groups = {name: kind for name, kind in hints.items() if isinstance(kind, type) and issubclass(kind, Struct)}
    shown: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        shown += _options(groups[name]) if name in groups else [parameter.replace(annotation=hints[name])]

    def gathered(**given: object) -> None:
        for name, kind in groups.items():
            given[name] = kind(**{field.name: given.pop(field.name) for field in fields(kind)})
        command(**given)

    gathered.__name__ = command.__name__
    # The lines of a docstring are broken for whoever reads the code; a screen has a width of its own.
    gathered.__doc__ = "\n\n".join(" ".join(part.split()) for part in (command.__doc__ or "").split("\n\n"))
    # What has no default stands first, as Python wants it.
    ordered = sorted(shown, key=lambda parameter: parameter.default is not inspect.Parameter.empty)
    gathered.__signature__ = inspect.Signature(ordered)  # type: ignore[attr-defined]
    gathered.__annotations__ = {parameter.name: parameter.annotation for parameter in ordered}
    return gathered


def _options(kind: type[Struct]) -> list[inspect.Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            annotation=hints[field.name],
            default=inspect.Parameter.empty if field.default is NODEFAULT else field.default,
        )
        for field in fields(kind)
    ]
