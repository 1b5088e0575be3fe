"""The shapes that a message comes in: as it is dumped, or the library's own object."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from ireneo.errors import UnreadableLog
from ireneo.formats.chat.pydantic_ai.names import kind_named
from ireneo.formats.chat.reading import detached, kind, messages_of, record

_ADAPTER = "ModelMessagesTypeAdapter"


def dumped_messages(payload: object) -> Iterator[tuple[str, dict[str, object]]]:
    """Each message of `payload`, copied, with the words that name its place."""
    for index, item in enumerate(messages_of(payload)):
        place = f"message {index}"
        message = item if isinstance(item, dict) else _dumped(item, place)
        yield place, record(detached(message, place), place)


def is_message(item: object) -> bool:
    """Whether `item` is a message of this format, dumped or as an object."""
    if isinstance(item, dict):
        return kind_named(item) != "" and isinstance(item.get("parts"), list)
    return hasattr(item, "parts") and kind_named({"kind": getattr(item, "kind", None)}) != ""


def _dumped(item: object, place: str) -> dict[str, object]:
    # The library was loaded by whoever made the object; its adapter stands beside the object's class.
    adapter = getattr(sys.modules.get(type(item).__module__), _ADAPTER, None)
    if adapter is None:
        raise UnreadableLog(
            f"{place}: it is {kind(item)}, not an object; dump messages with {_ADAPTER}.dump_python(…, mode='json')"
        )
    try:
        (message,) = adapter.dump_python([item], mode="json")
    except (TypeError, ValueError) as fault:
        raise UnreadableLog(f"{place}: {_ADAPTER} can't dump it ({fault})") from fault
    return record(message, place)
