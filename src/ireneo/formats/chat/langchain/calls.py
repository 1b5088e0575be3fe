"""Tool calls: those that could be read, those that couldn't, and the older one that has a name and no id."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ireneo.formats.chat.openai import calls as openai
from ireneo.formats.chat.reading import listing, record, text_or, words
from ireneo.log.message import Call

_LISTS = ("tool_calls", "invalid_tool_calls", "tool_call_chunks")


def read_calls(data: dict[str, object], place: str) -> list[Call]:
    """The calls of an AI message, as LangChain itself finds them."""
    made, broken, streamed = (_listed(data, key, place) for key in _LISTS)
    calls = [_call(item, f"{place}, tool call {index}") for index, item in enumerate(made)]
    calls += [_broken(item) for item in broken]
    if not calls:
        calls = [_streamed(item) for item in streamed]
    raw = data.get("additional_kwargs")
    if calls or not isinstance(raw, dict):
        return calls
    # As the provider wrote them: what was stored by older versions has them nowhere else.
    return openai.read_calls(raw, f"{place}, additional_kwargs")


def write_calls(calls: Sequence[Call]) -> dict[str, object]:
    """The fields of an AI message that makes `calls`."""
    fields: dict[str, object] = {}
    if len(calls) == 1 and openai.is_old(calls[0].id):
        fields["additional_kwargs"] = openai.write_calls((calls[0],))
        calls = ()
    made = [_written(call, call.arguments) for call in calls if isinstance(call.arguments, dict)]
    return fields | {
        "tool_calls": made,
        "invalid_tool_calls": [_unread(call) for call in calls if not isinstance(call.arguments, dict)],
        "usage_metadata": None,
    }


def block_call(block: dict[str, object]) -> Call:
    """The call that a content block of an AI message says."""
    given = next((block[key] for key in ("input", "args", "arguments") if key in block), None)
    name = text_or(block.get("call_id")) or text_or(block.get("id"))
    return Call(id=name, name=text_or(block.get("name")), arguments=_arguments(given))


def _listed(data: dict[str, object], key: str, place: str) -> list[dict[str, object]]:
    listed = data.get(key)
    if listed is None:
        return []
    where = f"{place}, {key}"
    return [record(item, f"{where} {index}") for index, item in enumerate(listing(listed, where))]


def _call(item: dict[str, object], place: str) -> Call:
    name = words(item.get("name"), f"{place}, name")
    return Call(id=text_or(item.get("id")), name=name, arguments=record(item.get("args"), f"{place}, args"))


def _broken(item: dict[str, object]) -> Call:
    return Call(id=text_or(item.get("id")), name=text_or(item.get("name")), arguments=text_or(item.get("args")))


def _streamed(item: dict[str, object]) -> Call:
    return Call(id=text_or(item.get("id")), name=text_or(item.get("name")), arguments=_arguments(item.get("args")))


def _arguments(given: object) -> dict[str, object] | str:
    if isinstance(given, dict):
        return given
    if not isinstance(given, str) or not given.strip():
        return {}
    try:
        parsed = msgspec.json.decode(given)
    except (msgspec.DecodeError, RecursionError):
        # What the model wrote is kept as it wrote it.
        return given
    return parsed if isinstance(parsed, dict) else given


def _written(call: Call, arguments: object) -> dict[str, object]:
    return {"name": call.name, "args": arguments, "id": call.id, "type": "tool_call"}


def _unread(call: Call) -> dict[str, object]:
    return _written(call, call.arguments) | {"type": "invalid_tool_call", "error": None}
