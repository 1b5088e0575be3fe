"""Each message has an id of its own: it is how LangChain replaces a message, or removes it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from ireneo.formats.chat.format import Violation
from ireneo.formats.chat.langchain.names import type_named
from ireneo.formats.chat.rules.outline import Outlines, breach
from ireneo.log.ids import digest

_ENCODER = msgspec.json.Encoder(order="sorted")
_PREFIX = "msg"


def name_messages(messages: Sequence[dict[str, object]]) -> list[dict[str, object]]:
    """Give an id to each message that has none, or that of another: the same message gets the same id each time."""
    taken = {name for message in messages if (name := _named(message))}
    seen: set[str] = set()
    out: list[dict[str, object]] = []
    for message in messages:
        name = _named(message)
        if type_named(message) == "remove":
            # Its id is that of another message, on purpose.
            out.append(message)
            continue
        if not name or name in seen:
            message, name = _renamed(message, taken)
        seen.add(name)
        out.append(message)
    return out


def missing_id(outlines: Outlines) -> Iterator[Violation]:
    """Each message has an id."""
    for outline in outlines:
        if not _named(outline.message):
            yield breach("missing-id", outline.index, "it has no id, so that it can't be replaced or removed.")


def duplicate_id(outlines: Outlines) -> Iterator[Violation]:
    """No two messages have one id, or one would take the other's place."""
    seen: set[str] = set()
    for outline in outlines:
        name = _named(outline.message)
        if not name or type_named(outline.message) == "remove":
            continue
        if name in seen:
            yield breach("duplicate-id", outline.index, f"the id {name!r} is that of a message before it.")
        seen.add(name)


def _named(message: dict[str, object]) -> str:
    data = message.get("data")
    name = data.get("id") if isinstance(data, dict) else None
    return name if isinstance(name, str) else ""


def _renamed(message: dict[str, object], taken: set[str]) -> tuple[dict[str, object], str]:
    data = message.get("data")
    fields = {key: value for key, value in data.items() if key != "id"} if isinstance(data, dict) else {}
    count = 0
    while True:
        name = digest(_PREFIX, _ENCODER.encode(fields), str(count).encode())
        if name not in taken:
            taken.add(name)
            return message | {"data": fields | {"id": name}}, name
        count += 1
