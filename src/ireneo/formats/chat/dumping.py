"""Objects of the providers' clients as JSON: what the client itself would send of them.

No client is imported. An object is known by the module of its class, and dumps itself.
"""

from __future__ import annotations

from typing import Final

CLIENTS: Final = ("openai", "anthropic", "google")
FRAMEWORKS: Final = ("langchain", "langchain_core", "langgraph", "pydantic_ai")


def library_of(item: object) -> str:
    """The library whose class, or a subclass of it, `item` is of; empty where it is of none that is known here."""
    for each in type(item).__mro__:
        root = each.__module__.partition(".")[0]
        if root in CLIENTS or root in FRAMEWORKS:
            return root
    return ""


def dumped(item: object) -> object:
    """What the client of `item` would send of it: only what was set, and nothing that it made of the reply itself.

    Raises TypeError where it is no such object.
    """
    dump = getattr(item, "model_dump", None)
    library = library_of(item)
    if isinstance(item, type) or not callable(dump) or library not in CLIENTS:
        raise TypeError(f"a Python {type(item).__name__} is no JSON")
    if library == "google":
        # Its bytes are left to whoever writes the JSON: the library spells base64 in letters of its own.
        return dump(mode="python", by_alias=True, exclude_none=True)
    excluded = getattr(item, "__api_exclude__", None)
    return dump(mode="json", by_alias=True, exclude_unset=True, exclude=excluded, warnings=False)
