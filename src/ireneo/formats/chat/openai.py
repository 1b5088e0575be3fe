"""OpenAI Chat Completions, the format that most providers and local servers speak."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final

import msgspec
from msgspec.structs import replace

from ireneo.formats.chat import repairs
from ireneo.formats.chat.format import (
    OPENAI,
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
    flatten_summaries,
    message_rule,
    read_draft,
    unknown_role,
    unpaired,
    unreadable,
    words_or_blocks,
)
from ireneo.formats.values import (
    copy_messages,
    mapping,
    objects,
    placed_blocks,
    placed_objects,
    read_arguments,
    require_object,
    require_string,
    role_of,
    string_or,
    type_of,
)
from ireneo.log.calls import derive_failed
from ireneo.log.message import Call, Draft, Media, Opaque, Part, Result, Role, Text, Thinking
from ireneo.patterns import lazy_re

ROLES: Final = ("system", "developer", "user", "assistant", "tool", "function")
CALL_FAILED: Final = "[The call failed.]"
_ANSWERING: Final = ("tool", "function")
REASONING: Final = ("reasoning_content", "reasoning")
"""The fields for a model's reasoning at providers of this format; OpenAI itself has none."""
_SIGNED_BESIDE: Final = ("reasoning_details", "thinking_blocks")
"""The field for signed reasoning at gateways."""
_TEXTS = ("text", "refusal")
"""Content types that are read as text; one in an opaque part is malformed."""


# Reading.


def _read(message: Json, place: str) -> Draft:
    role = role_of(message, place, ROLES)
    name, content = message.get("id"), message.get("content")
    if role in _ANSWERING:
        parts = tuple(_read_content(content, place)) if content else ()
        old = role == "function"
        tool = require_string(message.get("name"), f"{place}, name") if old else string_or(message.get("name")) or None
        return read_draft(
            "tool", [read_failure(Result(call_id=_result_id(message, role), parts=parts, name=tool))], name
        )
    said = _read_content(content, place) if content is not None else []
    if role == "assistant":
        return read_draft("assistant", _read_reply(message, said, place), name)
    return read_draft("user" if role == "user" else "system", said, name)


def _read_reply(message: Json, said: Sequence[Part], place: str) -> Iterator[Part]:
    # Some servers send their reasoning under both names.
    for thought in dict.fromkeys(string_or(message.get(key)) for key in REASONING):
        if thought:
            yield Thinking(text=thought)
    yield from said
    refusal, audio = message.get("refusal"), message.get("audio")
    if isinstance(refusal, str):
        yield Text(text=refusal)
    if isinstance(audio, dict):
        yield Opaque(format=OPENAI, payload={"audio": audio})
    yield from read_calls(message, place)


def _read_content(content: object, place: str) -> list[Text | Media | Opaque]:
    parts: list[Text | Media | Opaque] = []
    for where, block in placed_blocks(content, place, "content part"):
        name = type_of(block, where)
        parts.append(
            Text(text=require_string(block.get(name), f"{where}, {name}")) if name in _TEXTS else read_media(block)
        )
    return parts


def read_calls(message: Json, place: str) -> list[Call]:
    """Read the calls of an assistant message, also of the deprecated form without ids (`function_call`)."""
    calls = []
    listed, old = message.get("tool_calls"), message.get("function_call")
    for where, call in (
        placed_objects(listed, f"{place}, tool_calls", f"{place}, tool call") if listed is not None else ()
    ):
        # A custom tool takes free text; a function takes JSON, written as a string.
        custom = call.get("custom") if call.get("type") == "custom" else None
        inner = require_object(call.get("function") if custom is None else custom, f"{where}, function")
        name = require_string(inner.get("name"), f"{where}, name")
        given = read_arguments(inner.get("arguments")) if custom is None else string_or(inner.get("input"))
        calls.append(Call(id=string_or(call.get("id")), name=name, arguments=given))
    if old is not None:
        function = require_object(old, f"{place}, function_call")
        name = require_string(function.get("name"), f"{place}, function_call, name")
        calls.append(Call(id=legacy_id(name), name=name, arguments=read_arguments(function.get("arguments"))))
    return calls


# Writing, after the repairs: all parts can be written.


def _write_draft(draft: Draft) -> list[Json]:
    """Write a draft as one message, or as one for each result."""
    if draft.native is not None:
        return [require_object(draft.native.payload, "native")]
    if draft.role == "tool":
        return [_write_result(result) for result in draft.results]
    if draft.role != "assistant":
        return [{"role": draft.role, "content": words_or_blocks(draft.parts, write_media)}]
    opaque = [part for part in draft.parts if isinstance(part, Opaque)]
    spoken = [part for part in draft.parts if isinstance(part, Text) or (part in opaque and "type" in part.payload)]
    message: Json = {"role": "assistant", "content": words_or_blocks(spoken, write_media) if spoken else None}
    for part in opaque:
        if "type" not in part.payload:
            # A field of the message itself: the id of a spoken answer.
            message |= part.payload
    return [message | write_calls(draft.calls)]


def _write_result(result: Result) -> Json:
    content = words_or_blocks(result.parts, write_media) if result.parts else ""
    if is_legacy(result.call_id):
        return {"role": "function", "name": legacy_name(result.call_id), "content": content}
    message: Json = {"role": "tool", "tool_call_id": result.call_id, "content": content}
    return message | ({"name": result.name} if result.name is not None else {})


def write_calls(calls: Sequence[Call]) -> Json:
    """Write the fields of an assistant message that makes `calls`."""
    written = [{"name": call.name, "arguments": write_arguments(call)} for call in calls]
    if len(calls) == 1 and is_legacy(calls[0].id):
        return {"function_call": written[0]}
    listed = [
        {"id": call.id, "type": "function", "function": function} for call, function in zip(calls, written, strict=True)
    ]
    return {"tool_calls": listed} if listed else {}


def write_arguments(call: Call) -> str:
    """Write the arguments of a call as a JSON string."""
    return call.arguments if isinstance(call.arguments, str) else msgspec.json.encode(call.arguments).decode()


# Deprecated calls have no id, only their function's name, from which their ids are made.

_OLD = "function_call:"


def legacy_id(name: str) -> str:
    """Make the id of a deprecated call from its function's name."""
    return _OLD + name


def is_legacy(call_id: str) -> bool:
    """Whether `call_id` is that of a deprecated call."""
    return call_id.startswith(_OLD)


def without_reasoning(fields: Json) -> Json:
    """Remove the fields in which providers put a model's reasoning."""
    return {key: value for key, value in fields.items() if key not in (*REASONING, *_SIGNED_BESIDE)}


def keeps_id(call: Call, draft: Draft) -> bool:
    """Whether a call may keep its id: a message holds one deprecated call, under its own name."""
    return not is_legacy(call.id) or (len(draft.calls) == 1 and legacy_name(call.id) == call.name)


def legacy_name(call_id: str) -> str:
    """Return the function's name in the id of a deprecated call."""
    return call_id.removeprefix(_OLD)


def _result_id(message: Json, role: str) -> str:
    return legacy_id(string_or(message.get("name"))) if role == "function" else string_or(message.get("tool_call_id"))


# The format has no field that says that a call failed.


def write_failure(result: Part) -> Part:
    """Write in words that a call failed, unless the output says so itself."""
    if not isinstance(result, Result) or not result.failed or derive_failed(result.text):
        return result
    first = result.parts[0] if result.parts else None
    if isinstance(first, Text):
        return replace(result, parts=(replace(first, text=f"{CALL_FAILED} {first.text}".rstrip()), *result.parts[1:]))
    return replace(result, parts=(Text(text=CALL_FAILED), *result.parts))


def read_failure(result: Result) -> Result:
    """Read what `write_failure` wrote."""
    first = result.parts[0] if result.parts else None
    if not isinstance(first, Text) or not first.text.startswith(CALL_FAILED):
        return result
    rest = first.text.removeprefix(CALL_FAILED).removeprefix(" ")
    parts = (*((replace(first, text=rest),) if rest else ()), *result.parts[1:])
    return replace(result, parts=parts, failed=True)


# Media: content parts of a user message, in base64 within a data URL or in a field of its own.

_DATA_URL = lazy_re(r"data:([\w.+-]+/[\w.+*-]+);base64,([A-Za-z0-9+/=_-]*)")
_AUDIO = {"wav": "audio/wav", "mp3": "audio/mpeg"}
_IMAGES = ("image/jpeg", "image/png", "image/gif", "image/webp")
_PDF = "application/pdf"
_UNNAMED_FILE = "document.pdf"


def read_media(block: Json) -> Media | Opaque:
    """Read a content part that is no text; one of an unknown type is opaque."""
    inner = mapping(block.get(str(block.get("type"))))
    media: Media | None = None
    if block["type"] == "image_url":
        media = _media_at(inner.get("url"), None)
    elif block["type"] == "input_audio" and isinstance(inner.get("data"), str):
        sound = _AUDIO.get(string_or(inner.get("format")))
        media = Media(media_type=sound, data=string_or(inner["data"])) if sound else None
    elif block["type"] == "file":
        media = _media_at(inner.get("file_data"), inner.get("filename"))
    return media or Opaque(format=OPENAI, payload=block)


def _media_at(url: object, name: object) -> Media | None:
    if not isinstance(url, str):
        return None
    named = name if isinstance(name, str) else None
    inline = _DATA_URL.fullmatch(url)
    if inline:
        return Media(media_type=inline[1], data=inline[2], name=named)
    return Media(media_type="image/*", url=url, name=named)


def write_media(media: Media) -> Json | None:
    """Write `media` as a content part; None if the format can't hold it."""
    if media.data is not None:
        located = f"data:{media.media_type};base64,{media.data}"
        if media.media_type in _IMAGES:
            return {"type": "image_url", "image_url": {"url": located}}
        if media.media_type == _PDF:
            return {"type": "file", "file": {"filename": media.name or _UNNAMED_FILE, "file_data": located}}
        for name, media_type in _AUDIO.items():
            if media.media_type == media_type:
                return {"type": "input_audio", "input_audio": {"data": media.data, "format": name}}
    elif media.url is not None and media.media_type.startswith("image/"):
        return {"type": "image_url", "image_url": {"url": media.url}}
    return None


# The rules.


def _empty_content(outline: Outline) -> Iterator[str]:
    """Find missing content: it may be an empty string, and an assistant's message may have calls instead."""
    message = outline.message
    if message.get("tool_calls") == []:
        yield "`tool_calls` is an empty list; leave it out instead."
    instead = ("tool_calls", "function_call", "refusal", "audio") if outline.role == "assistant" else ()
    if message.get("content") in (None, []) and not any(message.get(key) for key in instead):
        yield "it has no content."


def _called_functions(message: Json) -> Iterator[tuple[str, Mapping[str, object]]]:
    for call in objects(message.get("tool_calls")):
        field, key = ("input", "custom") if call.get("type") == "custom" else ("arguments", "function")
        yield field, mapping(call.get(key))
    if isinstance(old := message.get("function_call"), dict):
        yield "arguments", old


_LOCAL_RULES: tuple[Rule, ...] = (
    unknown_role(ROLES),
    unreadable(_read, ROLES),
    call_without_id,
    duplicate_id_in_message,
    message_rule(
        "bad-arguments",
        "the {0} of a call must be a string.",
        lambda seen: [name for name, made in _called_functions(seen.message) if not isinstance(made.get(name), str)],
    ),
    message_rule(
        "bad-call-name",
        "a call names no function.",
        lambda seen: any(made.get("name") == "" for _, made in _called_functions(seen.message)),
    ),
    message_rule("empty-content", "{0}", _empty_content),
)


class OpenAIChat(ChatFormat):
    """OpenAI Chat Completions messages.

    Calls are answered, and results follow their calls; what can't be sent becomes a note. Thinking is left out.
    """

    name = OPENAI
    thinking: ThinkingRule = "none"
    local_rules = _LOCAL_RULES
    rules = (*_LOCAL_RULES, unpaired)
    answering = _ANSWERING
    failed_mark = CALL_FAILED

    @staticmethod
    def _outline(message: Json, before: Json | None) -> Outline:
        role, calls = string_or(message.get("role")), []
        if role == "assistant":
            calls = [string_or(call.get("id")) for call in objects(message.get("tool_calls"))]
            if isinstance(old := message.get("function_call"), dict):
                calls.append(legacy_id(string_or(old.get("name"))))
        results = (_result_id(message, role),) if role in _ANSWERING else ()
        return Outline(role=role, message=message, calls=tuple(calls), results=results)

    def encode(self, drafts: Sequence[Draft]) -> Payload:
        """Write drafts as a valid message list."""
        return Payload(messages=copy_messages(each for draft in self._repair(drafts) for each in _write_draft(draft)))

    def _read_message(self, message: Json, place: str) -> list[Draft]:
        draft = _read(message, place)
        return [self._keep_native(draft, message, _write_draft(self._replace_in_draft(draft))[0])]

    def without_thinking(self, payload: Json) -> Json:
        """Return the message without its reasoning fields."""
        return without_reasoning(payload)

    def _supported_part(self, part: Part, role: Role) -> Part:
        return write_failure(super()._supported_part(part, role))

    def _can_hold(self, part: Media | Opaque, role: str) -> bool:
        if isinstance(part, Media):
            return role == "user" and write_media(part) is not None
        kind = part.payload.get("type")
        if kind is None and part.format == OPENAI:
            # The id of a spoken answer, which is a field of the message.
            return role == "assistant" and list(part.payload) == ["audio"] and isinstance(part.payload["audio"], dict)
        return part.format == OPENAI and isinstance(kind, str) and kind not in _TEXTS

    def _repair_steps(self) -> Iterable[Repair]:
        return (
            flatten_summaries,
            repairs.join_drafts,
            repairs.note_server_pairs,
            self._replace_unsupported,
            repairs.place_parts,
            repairs.drop_empty,
            partial(repairs.give_unique_ids, fits=keeps_id, per_message=True),
            repairs.answer_calls,
            cast_summaries,
        )
