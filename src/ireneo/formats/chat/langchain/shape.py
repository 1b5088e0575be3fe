"""The shapes a message comes in: nested as `messages_to_dict` writes it, flat as `model_dump` does, or an object."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from ireneo.errors import UnreadableLog
from ireneo.formats.chat.langchain.names import type_named
from ireneo.formats.chat.reading import detached, kind, messages_of, record


def nested_messages(payload: object) -> Iterator[tuple[str, dict[str, object]]]:
    """Each message of `payload`, copied and nested, with the words that name its place."""
    for index, item in enumerate(messages_of(payload)):
        place = f"message {index}"
        yield place, record(detached(nested(item, place), place), place)


def nested(item: object, place: str) -> dict[str, object]:
    """A message with its fields under `data`."""
    if not isinstance(item, dict):
        item = _dumped(item, place)
    if "data" in item or not isinstance(item.get("type"), str):
        return item
    return {"type": item["type"], "data": item}


def is_message(item: object) -> bool:
    """Whether `item` is a message of this format, in any of its shapes."""
    if not isinstance(item, dict):
        return callable(getattr(item, "model_dump", None)) and type_named({"type": getattr(item, "type", None)}) != ""
    return type_named(item) != "" and (isinstance(item.get("data"), dict) or "content" in item)


def _dumped(item: object, place: str) -> dict[str, object]:
    dump = getattr(item, "model_dump", None)
    if not callable(dump) or not isinstance(getattr(item, "type", None), str):
        raise UnreadableLog(f"{place}: it is {kind(item)}, neither an object nor a message of LangChain")
    data = record(dump(), place)
    if "artifact" in data:
        data |= {"artifact": _written(data["artifact"])}
    return data


def _written(artifact: object) -> object:
    # What a tool hands to the program beside its words may be anything: a table, an open file. No model sees it.
    try:
        return msgspec.json.decode(msgspec.json.encode(artifact))
    except (TypeError, ValueError, RecursionError):
        return None
