"""Pydantic AI: a history of requests and responses, as `ModelMessagesTypeAdapter` dumps it."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Final, Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from ireneo.errors import UnreadableLog
from ireneo.formats.chat import repairs
from ireneo.formats.chat.format import (
    PYDANTIC_AI,
    UNNAMED,
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
    require_list,
    require_object,
    require_string,
    string_or,
)
from ireneo.log.message import Call, Draft, Media, Native, Opaque, Origin, Part, Result, Role, Text, Thinking

_REQUEST: Final = "request"
_RESPONSE: Final = "response"

_SYSTEM: Final = "system-prompt"
_PROMPT: Final = "user-prompt"
_RETURN: Final = "tool-return"
_RETRY: Final = "retry-prompt"
_FEEDBACK: Final = "retry-feedback"
_COMPACTION: Final = "compaction"
_SPEECH: Final = "speech"
_TEXT: Final = "text"
_THINKING: Final = "thinking"
_CALL: Final = "tool-call"
_FILE: Final = "file"
_SERVED: Final = ("builtin-tool-call", "builtin-tool-return")
"""A call that the provider ran, and its result, which only the library interprets."""
_ONLY_IN_REQUESTS: Final = (_SYSTEM, _PROMPT, _RETURN, _RETRY, _FEEDBACK)
_ONLY_IN_RESPONSES: Final = (_TEXT, _THINKING, _CALL, _FILE, *_SERVED)
_WORDS: Final = ("text-content", "structured-content")
_CARRIED: Final = ("cache-point", "uploaded-file")
"""Items of a prompt that are kept as opaque parts."""

_Voice: TypeAlias = Literal["system", "user", "tool", "harness", "summary"]
"""The speaker of a part of a request."""
_VOICES: dict[str, _Voice] = {
    _SYSTEM: "system",
    _PROMPT: "user",
    _SPEECH: "user",
    _RETURN: "tool",
    _FEEDBACK: "harness",
    _COMPACTION: "summary",
}
_ROLES: dict[_Voice, Role] = {"system": "system", "tool": "tool"}
_ORIGINS: dict[_Voice, Origin] = {"harness": "injected", "summary": "summary"}

_Placed: TypeAlias = tuple[str, Json]
"""The place of a part, and the part."""


def _message_kind(message: Mapping[str, object]) -> str:
    """Return whether a message is a request or a response; empty if it is neither."""
    said = string_or(message.get("kind"))
    return said if said in (_REQUEST, _RESPONSE) else ""


def _part_kind(part: Mapping[str, object]) -> str:
    return string_or(part.get("part_kind"))


def _speaker(part: Json) -> _Voice | None:
    """Return the speaker of a part of a request; None for a part that is only for the library."""
    if _part_kind(part) == _RETRY:
        # Without a tool it is about the response as a whole.
        return "tool" if isinstance(part.get("tool_name"), str) else "harness"
    return _VOICES.get(_part_kind(part))


# Reading.

_ADAPTER = "ModelMessagesTypeAdapter"


def _dump_message(item: object, place: str) -> object:
    # The library is loaded, since the object exists; its adapter is in the module of the object's class.
    adapter = getattr(sys.modules.get(type(item).__module__), _ADAPTER, None)
    if adapter is None:
        raise UnreadableLog(
            f"{place}: it is {json_type(item)}, not an object; "
            f"dump messages with {_ADAPTER}.dump_python(…, mode='json')"
        )
    try:
        return adapter.dump_python([item], mode="json")[0]
    except (TypeError, ValueError) as fault:
        raise UnreadableLog(f"{place}: {_ADAPTER} can't dump it ({fault})") from fault


def _read(message: Json, place: str) -> list[tuple[Draft, Json]]:
    """Read a message as drafts, each with its part of the message."""
    said = _message_kind(message)
    if not said:
        raise UnreadableLog(f"{place}: its kind {message.get('kind')!r} is unknown; expected request or response")
    parts: list[_Placed] = []
    for where, part in placed_objects(message.get("parts"), f"{place}, parts", f"{place}, part"):
        if not _part_kind(part):
            raise UnreadableLog(f"{where}: it has no part_kind")
        parts.append((where, part))
    if said == _RESPONSE:
        return [(Draft(role="assistant", parts=tuple(_read_reply(part, where) for where, part in parts)), message)]
    # Parts that are only for the library stay with the part before.
    runs: list[tuple[_Voice | None, list[_Placed]]] = []
    for stands in parts:
        voice = _speaker(stands[1])
        if runs and (voice is None or runs[-1][0] in (None, voice)):
            runs[-1] = (runs[-1][0] or voice, [*runs[-1][1], stands])
        else:
            runs.append((voice, [stands]))
    return [
        (_read_request(voice, run, joined=index > 0), message | {"parts": [part for _, part in run]})
        for index, (voice, run) in enumerate(runs or [(None, [])])
    ]


def _read_request(voice: _Voice | None, run: Sequence[_Placed], *, joined: bool) -> Draft:
    if voice is None:
        records = tuple(Opaque(format=PYDANTIC_AI, payload=part) for _, part in run)
        return Draft(role="user", parts=records, origin="injected", joined=joined)
    parts: list[Part] = []
    for where, part in run:
        if _speaker(part) == "tool":
            # A part that asks for a retry is a failure.
            failed = True if part.get("outcome", "retried") != "success" else None
            name = require_string(part.get("tool_name"), f"{where}, tool_name")
            returned = tuple(_read_return(part.get("content")))
            parts.append(Result(call_id=string_or(part.get("tool_call_id")), parts=returned, failed=failed, name=name))
        elif _speaker(part) is not None:
            parts += _read_prompt(part, where)
    origin = origin_of(parts) if voice == "user" else _ORIGINS.get(voice, "spoken")
    return Draft(role=_ROLES.get(voice, "user"), parts=tuple(parts), origin=origin, joined=joined)


def _read_prompt(part: Json, place: str) -> Sequence[Part]:
    """Read a part that doesn't belong to a tool."""
    said, content = _part_kind(part), part.get("content")
    if said == _SPEECH:
        transcript = part.get("transcript")
        return [Text(text=transcript) if isinstance(transcript, str) else Opaque(format=PYDANTIC_AI, payload=part)]
    if said == _SYSTEM or (said == _PROMPT and isinstance(content, str)):
        return [Text(text=require_string(content, f"{place}, content"))]
    if said != _PROMPT:
        return _read_return(content)
    if not isinstance(content, list):
        raise UnreadableLog(f"{place}, content: it is {json_type(content)}, neither a string nor a list")
    parts: list[Part] = []
    for index, item in enumerate(content):
        where = f"{place}, content {index}"
        if isinstance(item, str):
            parts.append(Text(text=item))
        elif require_object(item, where).get("kind") in _WORDS:
            parts.append(Text(text=require_string(item.get("content"), where)))
        else:
            parts.append(_read_media(item) or Opaque(format=PYDANTIC_AI, payload=item))
    return parts


def _read_return(content: object) -> list[Text | Media | Opaque]:
    """Read the content of a tool's return: text, media, and anything else as JSON text."""
    if content is None:
        return []
    listed = content if isinstance(content, list) and any(map(_read_media, content)) else [content]
    return [
        _read_media(item) or Text(text=item if isinstance(item, str) else msgspec.json.encode(item).decode())
        for item in listed
    ]


def _read_reply(part: Json, place: str) -> Part:
    """Read a part of a response; one of an unknown kind is opaque."""
    read: Part | None = None
    match _part_kind(part):
        case "text":
            read = Text(text=require_string(part.get("content"), f"{place}, content"))
        case "thinking":
            signature = string_or(part.get("signature")) or None
            text = require_string(part.get("content"), f"{place}, content")
            read = Thinking(text=text, signature=signature, format=PYDANTIC_AI if signature else None)
        case "tool-call":
            name = require_string(part.get("tool_name"), f"{place}, tool_name")
            given = read_arguments(part.get("args"))
            read = Call(id=string_or(part.get("tool_call_id")), name=name, arguments=given)
        case "file":
            read = _read_media(part.get("content"))
        case "speech" if isinstance(part.get("transcript"), str):
            read = Text(text=string_or(part["transcript"]))
    return read or Opaque(format=PYDANTIC_AI, payload=part)


# Media: items of content.

_BINARY = "binary"
_URLS = {
    "image-url": "image/*",
    "audio-url": "audio/*",
    "video-url": "video/*",
    "document-url": "application/octet-stream",
}


def _read_media(item: object) -> Media | None:
    """Read an item of content as media; None if it is something else."""
    fields = mapping(item)
    said, data, url = string_or(fields.get("kind")), fields.get("data"), fields.get("url")
    media_type = string_or(fields.get("media_type"))
    if said == _BINARY and isinstance(data, str) and media_type:
        return Media(media_type=media_type, data=data)
    return Media(media_type=media_type or _URLS[said], url=url) if said in _URLS and isinstance(url, str) else None


def _write_media(media: Media) -> Json | None:
    """Write `media` as an item; None if it has neither data nor a URL."""
    if media.data is not None:
        return {"kind": _BINARY, "data": media.data, "media_type": media.media_type}
    if media.url is None or not media.url.startswith(("http://", "https://")):
        return None
    family = media.media_type.partition("/")[0]
    said = f"{family}-url" if f"{family}-url" in _URLS else "document-url"
    item: Json = {"kind": said, "url": media.url}
    return item if media.media_type == _URLS[said] else item | {"media_type": media.media_type}


# Writing, after the repairs: all parts can be written.


def _write_messages(drafts: Sequence[Draft]) -> list[Json]:
    """Write the messages of a list; results in a row, and drafts that are joined, share a request."""
    groups: list[list[Draft]] = []
    named: dict[str, str] = {}
    out: list[Json] = []
    for draft in drafts:
        before = groups[-1][-1].role if groups else "assistant"
        asked = draft.role != "assistant" and before != "assistant"
        if asked and (draft.joined or (before == "tool" and draft.role == "tool")):
            groups[-1].append(draft)
        else:
            groups.append([draft])
    for group in groups:
        out.append(_write_message(group, named))
        named.update((call.id, call.name) for draft in group for call in draft.calls)
    return out


def _write_message(group: Sequence[Draft], named: dict[str, str]) -> Json:
    """Write a message from its drafts; `named` has the tools' names by call id."""
    message: Json = {"kind": _RESPONSE if group[0].role == "assistant" else _REQUEST}
    parts: list[object] = []
    for draft in group:
        if draft.native is None:
            parts += _write_parts(draft, named)
        else:
            kept = require_object(draft.native.payload, "native")
            message |= kept
            parts += require_list(kept.get("parts"), "native")
    return message | {"parts": parts}


def _write_parts(draft: Draft, named: dict[str, str]) -> list[Json]:
    if draft.role == "tool":
        return [
            {
                "part_kind": _RETURN,
                "tool_name": result.name or named.get(result.call_id) or UNNAMED,
                "content": words_or_blocks(result.parts, _write_media, str),
                "tool_call_id": result.call_id,
                "outcome": "failed" if result.failed else "success",
            }
            for result in draft.results
        ]
    if draft.role == "assistant":
        return [written for part in draft.parts if (written := _write_reply(part)) is not None]
    if draft.role == "system":
        return [{"part_kind": _SYSTEM, "content": draft.text}]
    return [{"part_kind": _PROMPT, "content": words_or_blocks(draft.parts, _write_media, str)}]


def _write_reply(part: Part) -> Json | None:
    if isinstance(part, Text):
        return {"part_kind": _TEXT, "content": part.text}
    if isinstance(part, Call):
        return {"part_kind": _CALL, "tool_name": part.name, "args": part.arguments, "tool_call_id": part.id}
    if isinstance(part, Media):
        return {"part_kind": _FILE, "content": _write_media(part)}
    return part.payload if isinstance(part, Opaque) else None


# The rules.


def _misplaced(seen: Outline) -> list[str]:
    """Find parts of a request in a response, and the reverse."""
    elsewhere = _ONLY_IN_REQUESTS if _message_kind(seen.message) == _RESPONSE else _ONLY_IN_RESPONSES
    there = "response" if elsewhere is _ONLY_IN_REQUESTS else "request"
    listed = map(_part_kind, objects(seen.message.get("parts")))
    return [f"a part {said!r} has no place in a {there}." for said in listed if said in elsewhere]


def _result_not_first(seen: Outline) -> bool:
    """Whether other parts precede results in a request."""
    voices = [voice for voice in map(_speaker, objects(seen.message.get("parts"))) if voice is not None]
    return seen.role != "assistant" and any(voice != "tool" for voice in voices[: voices.count("tool")])


_LOCAL_RULES: tuple[Rule, ...] = (
    message_rule(
        "unknown-kind",
        "its kind {0!r} is unknown; expected request or response.",
        lambda seen: [] if seen.role else [seen.message.get("kind")],
    ),
    unreadable(_read, ("system", "user", "assistant")),
    message_rule("misplaced-part", "{0}", _misplaced),
    message_rule("result-not-first", "the results must stand before all else in the request.", _result_not_first),
    call_without_id,
    duplicate_id_in_message,
)
_RULES = (*_LOCAL_RULES, first_not_user, unpaired)


class PydanticAIMessages(ChatFormat):
    """Pydantic AI's message history, as `ModelMessagesTypeAdapter` dumps and loads it.

    Message objects are read as well. Calls are answered in the next request, results come first in it, and a request
    stands first. Thinking is sent only in a response that is sent unchanged. An agent's `instructions` stay with their
    request, since the agent states them anew in each run. An agent goes on without a new prompt only from a path that
    ends with a request.
    """

    name = PYDANTIC_AI
    thinking: ThinkingRule = "prefix"
    local_rules = _LOCAL_RULES
    thinking_rules = (thinking_missing,)
    rules = _RULES

    @staticmethod
    def _outline(message: Json, before: Json | None) -> Outline:
        try:
            drafts = [draft for draft, _ in _read(message, "message")]
        except UnreadableLog:
            # Another rule reports it.
            drafts = []
        roles: dict[str, Role] = {_RESPONSE: "assistant", _REQUEST: "user"}
        role = roles.get(_message_kind(message), "")
        if role == "user" and drafts and all(draft.role == "system" for draft in drafts):
            role = "system"
        return outline_of(role, message, drafts)

    def _to_json(self, message: object, place: str) -> object:
        return require_object(message if isinstance(message, dict) else _dump_message(message, place), place)

    def encode(self, drafts: Sequence[Draft]) -> Payload:
        """Write drafts as a valid history."""
        return Payload(messages=copy_messages(_write_messages(self._repair(drafts))))

    def _read_message(self, message: Json, place: str) -> list[Draft]:
        return [self._kept(draft, half) for draft, half in _read(message, place)]

    def without_thinking(self, payload: Json) -> Json:
        """Return the message without its thinking."""
        return remove_items(payload, "parts", lambda part: part.get("part_kind") != _THINKING)

    def _can_hold(self, part: Media | Opaque, role: str) -> bool:
        if isinstance(part, Media):
            return _write_media(part) is not None if role == "user" else role != "system" and part.data is not None
        if part.format != PYDANTIC_AI:
            return False
        if role == "assistant":
            said = _part_kind(part.payload)
            return said == _COMPACTION or (said in _SERVED and isinstance(part.payload.get("tool_name"), str))
        return role == "user" and part.payload.get("kind") in _CARRIED

    def _repair_steps(self) -> Iterable[Repair]:
        return (
            flatten_summaries,
            self._replace_unsupported,
            partial(repairs.join_drafts, share=_may_share_request),
            repairs.note_server_pairs,
            repairs.place_parts,
            repairs.drop_empty,
            partial(repairs.give_unique_ids, per_message=True),
            repairs.answer_calls,
            cast_summaries,
            repairs.open_with_user,
        )

    def _kept(self, draft: Draft, half: Json) -> Draft:
        if draft.origin == "summary" or not draft.parts:
            # Neither another tool's summary nor an empty message can be rebuilt from its parts.
            return replace(draft, native=Native(format=PYDANTIC_AI, payload=half))
        return self._keep_native(draft, half, _write_message([self._replace_in_draft(draft)], {}))


def _is_only_for_the_library(part: Part) -> bool:
    return isinstance(part, Opaque) and _part_kind(part.payload) != "" and _speaker(part.payload) is None


def _may_share_request(before: Draft, draft: Draft) -> bool:
    """Whether two drafts may share a request: neither two of the user's messages, nor a summary of ours.

    Nor a system prompt with parts before it that are only for the library, since such a request would contain no other
    message.
    """
    ours = any(one.origin == "summary" and one.native is None for one in (before, draft))
    asked = before.role != "assistant" and draft.role != "assistant"
    spoken = before.role == draft.role and before.origin == draft.origin == "spoken"
    silent = draft.role == "system" and bool(before.parts) and all(map(_is_only_for_the_library, before.parts))
    return asked and not ours and not spoken and not silent
