"""Tool calls, of today's form and of the older one whose calls have a name and no id."""

from __future__ import annotations

import msgspec

from ireneo.formats.chat.reading import listing, record, text_or, words
from ireneo.log.message import Call, Draft

_OLD = "function_call:"
"""What the id of an older call begins with: it answers to its function's name."""


def read_calls(message: dict[str, object], place: str) -> list[Call]:
    """The calls of an assistant message."""
    calls = []
    listed = message.get("tool_calls")
    if listed is not None:
        for index, item in enumerate(listing(listed, f"{place}, tool_calls")):
            where = f"{place}, tool call {index}"
            calls.append(_read(record(item, where), where))
    old = message.get("function_call")
    if old is not None:
        where = f"{place}, function_call"
        function = record(old, where)
        name = words(function.get("name"), f"{where}, name")
        calls.append(Call(id=old_id(name), name=name, arguments=read_arguments(function.get("arguments"))))
    return calls


def write_calls(calls: tuple[Call, ...]) -> dict[str, object]:
    """The fields of an assistant message that makes `calls`."""
    if len(calls) == 1 and is_old(calls[0].id):
        return {"function_call": {"name": calls[0].name, "arguments": write_arguments(calls[0])}}
    if not calls:
        return {}
    return {
        "tool_calls": [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": write_arguments(call)}}
            for call in calls
        ]
    }


def old_id(name: str) -> str:
    """The id of a call, and of its result, that have a function's name only."""
    return _OLD + name


def is_old(call_id: str) -> bool:
    """Whether the call is of the older form."""
    return call_id.startswith(_OLD)


def old_name(call_id: str) -> str:
    """The function's name that an older call's id holds."""
    return call_id.removeprefix(_OLD)


def id_fits(call: Call, draft: Draft) -> bool:
    """Whether a call may keep its id: the older form has room for one call in a message, under its own name."""
    return not is_old(call.id) or (len(draft.calls) == 1 and old_name(call.id) == call.name)


def read_arguments(written: object) -> dict[str, object] | str:
    """What a model wrote as arguments: the object, or the string as it is where it holds none."""
    if isinstance(written, dict):
        return written
    if not isinstance(written, str) or not written.strip():
        return {}
    try:
        parsed = msgspec.json.decode(written)
    except (msgspec.DecodeError, RecursionError):
        # What the model wrote is kept as it wrote it.
        return written
    return parsed if isinstance(parsed, dict) else written


def write_arguments(call: Call) -> str:
    """The arguments of a call, as the string that the format wants."""
    return call.arguments if isinstance(call.arguments, str) else msgspec.json.encode(call.arguments).decode()


def _read(item: dict[str, object], place: str) -> Call:
    # A custom tool takes free text; a function takes JSON, written as a string.
    custom = item.get("custom") if item.get("type") == "custom" else None
    inner = record(item.get("function") if custom is None else custom, f"{place}, function")
    name = words(inner.get("name"), f"{place}, name")
    arguments = read_arguments(inner.get("arguments")) if custom is None else text_or(inner.get("input"))
    return Call(id=text_or(item.get("id")), name=name, arguments=arguments)
