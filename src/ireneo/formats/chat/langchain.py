"""LangChain messages, as `messages_to_dict` writes them, of any provider."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Final

import msgspec
from msgspec.structs import replace

from ireneo.errors import UnreadableLog
from ireneo.formats.chat import anthropic, openai, repairs
from ireneo.formats.chat.format import (
    LANGCHAIN,
    ChatFormat,
    Json,
    Outline,
    Payload,
    Repair,
    Rule,
    ThinkingRule,
    call_without_id,
    cast_summaries,
    duplicate_id_in_message,
    first_not_user,
    flatten_summaries,
    message_rule,
    origin_of,
    outline_of,
    thinking_missing,
    unique_rule,
    unpaired,
    unreadable,
    words_or_blocks,
)
from ireneo.formats.values import (
    copy_messages,
    json_type,
    mapping,
    objects,
    placed_objects,
    read_arguments,
    remove_items,
    require_object,
    require_string,
    string_or,
)
from ireneo.log.message import Call, Draft, Media, Native, Opaque, Origin, Part, Result, Role, Text, Thinking, digest

_ROLES: Final[MappingProxyType[str, Role]] = MappingProxyType(
    {
        "system": "system",
        "human": "user",
        "ai": "assistant",
        "tool": "tool",
        "function": "tool",
        "chat": "user",
        "remove": "user",
    }
)
"""The role of each message type; a `chat` message names its own."""
_SPEAKERS: Final[MappingProxyType[str, Role]] = MappingProxyType(
    {"system": "system", "developer": "system", "assistant": "assistant", "ai": "assistant", "model": "assistant"}
)
"""The speakers of a `chat` message other than the user."""
_CHUNK: Final = "MessageChunk"
"""The end of a streamed message's type: ``AIMessageChunk``."""
_SOURCE: Final = "lc_source"
"""The key for the feature of the harness that added a message."""
_SUMMARISED: Final = "summarization"
"""The mark of LangChain's own summaries."""
_CALLS: Final = ("tool_use", "tool_call", "function_call", "invalid_tool_call", "tool_call_chunk")
"""Blocks that repeat a call as its provider wrote it."""
_THOUGHTS: Final = ("thinking", "redacted_thinking", "reasoning", "reasoning_content")
_TEXTS: Final = ("text", "refusal")
_OWN_PARTS = (*_TEXTS, *_CALLS, *_THOUGHTS, "tool_result", "remove", "input_json_delta")
"""Block types with parts of their own; one in an opaque part is malformed."""


def message_type(message: Mapping[str, object]) -> str:
    """Return the type of a message, also of a streamed one; empty if it is unknown."""
    said = string_or(message.get("type"))
    if said.endswith(_CHUNK):
        said = said.removesuffix(_CHUNK).lower()
    return said if said in _ROLES else ""


def _role(message: Json) -> Role | None:
    """Return the role of a message; None if its type is unknown."""
    data = message.get("data")
    if message_type(message) == "chat" and isinstance(data, dict):
        return _SPEAKERS.get(string_or(data.get("role")).lower(), "user")
    return _ROLES.get(message_type(message))


# Reading.


def _as_json(artifact: object) -> object:
    # A tool's artifact for the program may be anything: a table, an open file. It is not sent to the model.
    try:
        return msgspec.json.decode(msgspec.json.encode(artifact))
    except (TypeError, ValueError, RecursionError):
        return None


def _read(message: Json, place: str) -> Draft:
    """Read a message, without its payload."""
    said, role = message_type(message), _role(message)
    if role is None:
        known = ", ".join(_ROLES)
        raise UnreadableLog(f"{place}: its type {message.get('type')!r} is unknown; expected one of {known}")
    data = require_object(message.get("data"), f"{place}, data")
    source_id = string_or(data.get("id")) or None
    if said == "remove":
        if source_id is None:
            raise UnreadableLog(f"{place}: it names no message to remove")
        # It isn't for the model, but for the program that keeps the list.
        carried = Opaque(format=LANGCHAIN, payload=message)
        return Draft(role="user", parts=(carried,), origin="injected", source_id=source_id)
    parts: Sequence[Part]
    if role == "assistant":
        parts = _read_reply(data, place)
    elif role == "tool":
        parts = [_read_result(said, data, place)]
    else:
        parts = _read_content(data.get("content"), place)
    return Draft(role=role, parts=tuple(parts), origin=_origin(role, data, parts), source_id=source_id)


def _read_result(said: str, data: Json, place: str) -> Result:
    parts = tuple(_read_content(data["content"], place)) if data.get("content") else ()
    if said == "function":
        called = require_string(data.get("name"), f"{place}, name")
        return Result(call_id=openai.legacy_id(called), parts=parts, name=called)
    # Success is the default, so only an error is an outcome.
    failed = True if data.get("status") == "error" else None
    call_id = string_or(data.get("tool_call_id"))
    return Result(call_id=call_id, parts=parts, failed=failed, name=string_or(data.get("name")) or None)


def _read_reply(data: Json, place: str) -> list[Part]:
    """Read a message of the model: thoughts, words, and calls, also those among its blocks."""
    calls = _read_calls(data, place)
    listed = {call.id for call in calls}
    parts: list[Part] = []
    for where, item in _items(data.get("content"), place):
        if isinstance(item, dict) and item.get("type") in _THOUGHTS:
            parts.append(_read_thought(item))
        elif isinstance(item, dict) and item.get("type") in _CALLS:
            call = _block_call(item)
            parts += [] if call.id in listed else [call]
        else:
            parts.append(_read_item(item, where))
    beside = mapping(data.get("additional_kwargs"))
    if not any(isinstance(part, Thinking) for part in parts):
        # Some providers put the reasoning outside the content.
        thought = next(filter(None, (string_or(beside.get(key)) for key in openai.REASONING)), "")
        parts = [Thinking(text=thought), *parts] if thought else parts
    return [*parts, *calls]


def _read_content(content: object, place: str) -> list[Text | Media | Opaque]:
    return [_read_item(item, where) for where, item in _items(content, place)]


def _items(content: object, place: str) -> list[tuple[str, str | Json]]:
    if isinstance(content, str):
        return [(place, content)]
    if not isinstance(content, list):
        raise UnreadableLog(f"{place}, content: it is {json_type(content)}, neither a string nor a list of blocks")
    items = [(f"{place}, block {index}", item) for index, item in enumerate(content)]
    return [(where, item if isinstance(item, str) else require_object(item, where)) for where, item in items]


def _read_item(item: str | Json, place: str) -> Text | Media | Opaque:
    if isinstance(item, str):
        return Text(text=item)
    name = string_or(item.get("type"))
    return Text(text=require_string(item.get(name), f"{place}, {name}")) if name in _TEXTS else _read_media(item)


def _read_thought(block: Json) -> Thinking:
    fields = {**block, **mapping(block.get("reasoning_content")), **mapping(block.get("extras"))}
    text = next((fields[key] for key in ("thinking", "reasoning", "text") if isinstance(fields.get(key), str)), None)
    signature = string_or(fields.get("signature")) or None
    sealed = next((fields[key] for key in ("data", "encrypted_content") if isinstance(fields.get(key), str)), None)
    bound = signature is not None or sealed is not None
    summary = "\n".join(string_or(piece.get("text")) for piece in objects(block.get("summary")))
    return Thinking(
        text=string_or(text) or summary,
        signature=signature,
        sealed=string_or(sealed) or None,
        format=LANGCHAIN if bound else None,
    )


def _read_calls(data: Json, place: str) -> list[Call]:
    """Read the calls of an AI message: the parsed ones, and those that LangChain couldn't parse."""
    calls: list[Call] = []
    for index, item in enumerate(_require_objects(data, "tool_calls", place)):
        where = f"{place}, tool call {index}"
        name = require_string(item.get("name"), f"{where}, name")
        calls.append(
            Call(id=string_or(item.get("id")), name=name, arguments=require_object(item.get("args"), f"{where}, args"))
        )
    invalid, streamed = (
        _require_objects(data, "invalid_tool_calls", place),
        _require_objects(data, "tool_call_chunks", place),
    )
    unread: list[tuple[Json, Json | str]] = [(item, string_or(item.get("args"))) for item in invalid]
    if not calls and not unread:
        unread = [(item, read_arguments(item.get("args"))) for item in streamed]
    for item, given in unread:
        calls.append(Call(id=string_or(item.get("id")), name=string_or(item.get("name")), arguments=given))
    raw = data.get("additional_kwargs")
    # Older versions store calls only as the provider wrote them.
    return openai.read_calls(raw, f"{place}, additional_kwargs") if not calls and isinstance(raw, dict) else calls


def _require_objects(data: Json, key: str, place: str) -> list[Json]:
    where = f"{place}, {key}"
    return [item for _, item in placed_objects([] if data.get(key) is None else data[key], where, where)]


def _block_call(block: Json) -> Call:
    """Read a content block that is a call."""
    given = next((block[key] for key in ("input", "args", "arguments") if key in block), None)
    name = string_or(block.get("call_id")) or string_or(block.get("id"))
    return Call(id=name, name=string_or(block.get("name")), arguments=read_arguments(given))


def _origin(role: Role, data: Json, parts: Sequence[Part]) -> Origin:
    source = mapping(data.get("additional_kwargs")).get(_SOURCE)
    if role in ("user", "assistant") and source == _SUMMARISED:
        return "spoken" if any(isinstance(part, Call) for part in parts) else "summary"
    if role != "user":
        return "spoken"
    return "injected" if isinstance(source, str) else origin_of(parts)


# Media: LangChain's own blocks, and those of providers.

_KINDS = {"image": "image/", "audio": "audio/", "video": "video/"}
_ANY = {"image": "image/*", "audio": "audio/*", "video": "video/*", "file": "application/octet-stream"}
_OPENAI = ("image_url", "input_audio", "file")


def _read_media(block: Json) -> Media | Opaque:
    """Read a block that is no text; one of an unknown type is opaque."""
    name = str(block.get("type"))
    found: Media | Opaque | None = _standard_media(block, name) if name in _ANY else None
    if found is None and name in _OPENAI:
        found = openai.read_media(block)
    if found is None and "source" in block:
        found = anthropic.read_media(block)
    return found if isinstance(found, Media) else Opaque(format=LANGCHAIN, payload=block)


def _standard_media(block: Json, name: str) -> Media | None:
    data, url = block.get("base64"), block.get("url")
    if "source_type" in block:
        data = block.get("data") if block.get("source_type") == "base64" else None
    media_type = string_or(block.get("mime_type")) or _ANY[name]
    filename = string_or(block.get("filename")) or None
    if isinstance(data, str):
        return Media(media_type=media_type, data=data, name=filename)
    return Media(media_type=media_type, url=url, name=filename) if isinstance(url, str) else None


def _write_media(media: Media) -> Json | None:
    """Write `media` as a block; None if it has neither data nor a URL."""
    name = next((name for name, begins in _KINDS.items() if media.media_type.startswith(begins)), "file")
    block: Json = {"type": name}
    if media.data is not None:
        block["base64"] = media.data
    elif media.url is not None and media.url.startswith(("http://", "https://")):
        block["url"] = media.url
    else:
        return None
    if media.media_type != _ANY[name]:
        block["mime_type"] = media.media_type
    # Some providers reject a file without a name.
    return block | ({"filename": media.name or "file"} if name == "file" else {})


# Writing, after the repairs: all parts can be written.

_TYPES = {"system": "system", "user": "human", "assistant": "ai"}


def _write_draft(draft: Draft) -> list[Json]:
    """Write a draft as one message, or as one for each result."""
    if draft.native is not None:
        return [require_object(draft.native.payload, "native")]
    if draft.role == "tool":
        return [_write_result(result, None if index else draft.source_id) for index, result in enumerate(draft.results)]
    spoken = [part for part in draft.parts if isinstance(part, Text | Media | Opaque)]
    more = _write_calls(draft.calls) if draft.role == "assistant" else {}
    if draft.origin == "summary":
        more |= {"additional_kwargs": {_SOURCE: _SUMMARISED}}
    return [_message(_TYPES[draft.role], words_or_blocks(spoken, _write_media), draft.source_id, more)]


def _write_result(result: Result, source_id: str | None) -> Json:
    content = words_or_blocks(result.parts, _write_media)
    if openai.is_legacy(result.call_id):
        return _message("function", content, source_id, {"name": openai.legacy_name(result.call_id)})
    status = "error" if result.failed else "success"
    more: Json = {"name": result.name, "tool_call_id": result.call_id, "artifact": None, "status": status}
    return _message("tool", content, source_id, more)


def _message(name: str, content: object, source_id: str | None, more: Json) -> Json:
    """Make a message with all fields that LangChain itself writes."""
    plain = {"content": content, "additional_kwargs": {}, "response_metadata": {}}
    return {"type": name, "data": plain | {"type": name, "name": None, "id": source_id} | more}


def _write_calls(calls: Sequence[Call]) -> Json:
    """Write the fields of an AI message that makes `calls`."""
    fields: Json = {}
    if len(calls) == 1 and openai.is_legacy(calls[0].id):
        fields["additional_kwargs"] = openai.write_calls(calls)
        calls = ()
    made, unread = [], []
    for call in calls:
        written: Json = {"name": call.name, "args": call.arguments, "id": call.id, "type": "tool_call"}
        if isinstance(call.arguments, dict):
            made.append(written)
        else:
            unread.append(written | {"type": "invalid_tool_call", "error": None})
    return fields | {"tool_calls": made, "invalid_tool_calls": unread, "usage_metadata": None}


# Each message has a unique id, by which LangChain replaces or removes it.

_ENCODER = msgspec.json.Encoder(order="sorted")
_PREFIX = "msg"


def _message_id(message: Json) -> str:
    return string_or(mapping(message.get("data")).get("id"))


def _give_ids(messages: Sequence[Json]) -> list[Json]:
    """Give a message without an id, or with the id of another message, an id that is derived from the message."""
    taken = {name for message in messages if (name := _message_id(message))}
    seen: set[str] = set()
    out: list[Json] = []
    for message in messages:
        name = _message_id(message)
        # A removal has the id of another message.
        if message_type(message) != "remove":
            if not name or name in seen:
                fields = {key: value for key, value in mapping(message.get("data")).items() if key != "id"}
                count = 0
                while (name := digest(_PREFIX, _ENCODER.encode(fields), str(count).encode())) in taken:
                    count += 1
                taken.add(name)
                message = message | {"data": fields | {"id": name}}
            seen.add(name)
        out.append(message)
    return out


# The rules.


def _unknown_type(seen: Outline) -> Iterator[str]:
    said, inner = seen.message.get("type"), mapping(seen.message.get("data")).get("type")
    if not seen.role:
        yield f"its type {said!r} is unknown; expected one of {', '.join(_ROLES)}."
    elif inner not in (None, said):
        yield f"its type is {said!r}, but its data say {inner!r}."


_SHAPES: dict[str, type] = {"additional_kwargs": dict, "response_metadata": dict, "name": str, "id": str}


def _wrong_fields(seen: Outline) -> list[str]:
    data = mapping(seen.message.get("data"))
    return [key for key, fits in _SHAPES.items() if data.get(key) is not None and not isinstance(data[key], fits)]


_LOCAL_RULES: tuple[Rule, ...] = (
    message_rule("unknown-type", "{0}", _unknown_type),
    unreadable(_read, ("system", "user", "assistant", "tool")),
    message_rule("misfit", "its {0} can't be loaded.", _wrong_fields),
    call_without_id,
    duplicate_id_in_message,
)
_RULES = (
    *_LOCAL_RULES,
    message_rule(
        "missing-id",
        "it has no id, so that it can't be replaced or removed.",
        lambda seen: not _message_id(seen.message),
    ),
    unique_rule(
        "duplicate-id",
        "the id {0!r} is that of a message before it.",
        lambda seen: [_message_id(seen.message)] if message_type(seen.message) != "remove" else [],
    ),
    message_rule(
        "system-not-first",
        "a system message may only stand first, and alone.",
        lambda seen: seen.role == "system" and seen.index > 0,
    ),
    first_not_user,
    unpaired,
)


class LangChainMessages(ChatFormat):
    """LangChain messages, as `messages_to_dict` writes and `messages_from_dict` loads them.

    Flat messages (of `model_dump`) and message objects are read as well. Calls are answered and results follow their
    calls, one system message stands first, then the user begins, and each message has an id. Thinking is sent only in a
    message that is sent unchanged.
    """

    name = LANGCHAIN
    thinking: ThinkingRule = "prefix"
    local_rules = _LOCAL_RULES
    thinking_rules = (thinking_missing,)
    rules = _RULES
    answering = ("tool",)

    @staticmethod
    def _outline(message: Json, before: Json | None) -> Outline:
        try:
            draft = _read(message, "message")
        except UnreadableLog:
            # Another rule reports it.
            draft = Draft(role="user", parts=())
        return outline_of(_role(message) or "", message, [draft])

    def decode(self, payload: object) -> list[Draft]:
        """Read a message list, or an object that holds one; one draft a message."""
        out = self._read_all(payload)
        # A summary in the assistant's role is accepted only where a user message follows, as we write them.
        for index in reversed(range(len(out))):
            following = out[index + 1] if index + 1 < len(out) else None
            heard = following is not None and following.role == "user" and following.origin != "summary"
            if out[index].origin == "summary" and out[index].role == "assistant" and not heard:
                out[index] = replace(out[index], origin="spoken")
        return out

    def _to_json(self, message: object, place: str) -> object:
        """Convert a message to one with its fields under `data`, also from a flat one or an object."""
        item = message
        if not isinstance(item, dict):
            dump = getattr(item, "model_dump", None)
            if not callable(dump) or not isinstance(getattr(item, "type", None), str):
                raise UnreadableLog(f"{place}: it is {json_type(item)}, neither an object nor a message of LangChain")
            item = require_object(dump(), place)
            if "artifact" in item:
                item = item | {"artifact": _as_json(item["artifact"])}
        if "data" in item or not isinstance(item.get("type"), str):
            return item
        return {"type": item["type"], "data": item}

    def encode(self, drafts: Sequence[Draft]) -> Payload:
        """Write drafts as a valid message list."""
        messages = copy_messages(message for draft in self._repair(drafts) for message in _write_draft(draft))
        return Payload(messages=_give_ids(messages))

    def _read_message(self, message: Json, place: str) -> list[Draft]:
        draft = _read(message, place)
        if draft.origin == "summary":
            # Another tool's summary is sent unchanged if it still fits.
            return [replace(draft, native=Native(format=LANGCHAIN, payload=message))]
        return [self._keep_native(draft, message, _write_draft(self._replace_in_draft(draft))[0])]

    def without_thinking(self, payload: Json) -> Json:
        """Return the message without its thinking, including that outside its content."""
        data = payload.get("data")
        if not isinstance(data, dict):
            return payload
        data = remove_items(data, "content", lambda block: block.get("type") not in _THOUGHTS)
        more = data.get("additional_kwargs")
        beside = {"additional_kwargs": openai.without_reasoning(more)} if isinstance(more, dict) else {}
        return payload | {"data": data | beside}

    def _can_hold(self, part: Media | Opaque, role: str) -> bool:
        if isinstance(part, Media):
            return role == "user" and _write_media(part) is not None
        return part.format == LANGCHAIN and part.payload.get("type") not in _OWN_PARTS

    def _repair_steps(self) -> Iterable[Repair]:
        return (
            flatten_summaries,
            repairs.join_drafts,
            repairs.note_server_pairs,
            self._replace_unsupported,
            repairs.place_parts,
            repairs.drop_empty,
            partial(repairs.give_unique_ids, fits=openai.keeps_id, per_message=True),
            repairs.answer_calls,
            repairs.join_systems,
            repairs.quote_later_systems,
            cast_summaries,
            repairs.open_with_user,
        )
