"""OpenAI's chat completions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

import msgspec

from ireneo.errors import UnreadableLog
from ireneo.formats.chat.format import Payload, ThinkingRule, Violation, keep_native, settle_natives
from ireneo.formats.chat.notes import cast_summaries, flatten_summaries, media_note, origin_of, recognise_summaries
from ireneo.formats.chat.repairs import (
    Repair,
    answer_calls,
    drop_empty,
    express,
    express_drafts,
    give_unique_ids,
    join_drafts,
    join_systems,
    no_native,
    open_with_user,
    place_parts,
    quote_later_systems,
    repaired,
    take_turns,
    tell_server_pairs,
)
from ireneo.formats.chat.rules import (
    PAIR_RULES,
    Outline,
    Outlines,
    Rule,
    breach,
    call_without_id,
    duplicate_id_in_message,
    first_not_user,
    unknown_role,
    unreadable,
    violations,
)
from ireneo.formats.values import (
    copied_messages,
    kind,
    listing,
    placed_messages,
    record,
    role_of,
    text_or,
    type_of,
    words,
)
from ireneo.log.message import Call, Draft, Media, Opaque, Part, Result, Role, Text, Thinking
from ireneo.patterns import lazy_re

NAME: Final = "openai"

ROLES: Final = ("system", "developer", "user", "assistant", "tool", "function")
ANSWERING: Final = ("tool", "function")

REASONING: Final = ("reasoning_content", "reasoning")
"""Where providers of this format put a model's reasoning; the format itself has no place for it."""


_DATA_URL = lazy_re(r"data:([\w.+-]+/[\w.+*-]+);base64,([A-Za-z0-9+/=_-]*)")
_AUDIO = {"wav": "audio/wav", "mp3": "audio/mpeg"}
_IMAGES = ("image/jpeg", "image/png", "image/gif", "image/webp")
_PDF = "application/pdf"
_UNNAMED = "document.pdf"


def read_media(block: dict[str, object]) -> Media | Opaque:
    """A content part that is no text; one of a kind that is not known here stays as it is."""
    inner = block.get(str(block.get("type")))
    media: Media | None = None
    if isinstance(inner, dict):
        if block["type"] == "image_url":
            media = _located(inner.get("url"), None)
        elif block["type"] == "input_audio":
            media = _sound(inner.get("data"), inner.get("format"))
        elif block["type"] == "file":
            media = _located(inner.get("file_data"), inner.get("filename"))
    return media if media is not None else Opaque(format=NAME, payload=block)


def write_media(media: Media) -> dict[str, object] | None:
    """The content part that shows `media`; None where the format has none for it."""
    if media.data is not None:
        located = f"data:{media.media_type};base64,{media.data}"
        if media.media_type in _IMAGES:
            return {"type": "image_url", "image_url": {"url": located}}
        if media.media_type == _PDF:
            return {"type": "file", "file": {"filename": media.name or _UNNAMED, "file_data": located}}
        for name, media_type in _AUDIO.items():
            if media.media_type == media_type:
                return {"type": "input_audio", "input_audio": {"data": media.data, "format": name}}
        return None
    if media.url is not None and media.media_type.startswith("image/"):
        return {"type": "image_url", "image_url": {"url": media.url}}
    return None


def _located(url: object, name: object) -> Media | None:
    if not isinstance(url, str):
        return None
    named = name if isinstance(name, str) else None
    inline = _DATA_URL.fullmatch(url)
    if inline:
        return Media(media_type=inline[1], data=inline[2], name=named)
    return Media(media_type="image/*", url=url, name=named)


def _sound(data: object, name: object) -> Media | None:
    if isinstance(data, str) and isinstance(name, str) and name in _AUDIO:
        return Media(media_type=_AUDIO[name], data=data)
    return None


_OLD = "function_call:"
"""What the id of an older call begins with: it answers to its function's name."""


def read_calls(message: dict[str, object], place: str) -> list[Call]:
    """The calls of an assistant message."""
    calls = []
    listed = message.get("tool_calls")
    if listed is not None:
        for index, item in enumerate(listing(listed, f"{place}, tool_calls")):
            where = f"{place}, tool call {index}"
            calls.append(_read_call(record(item, where), where))
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


def _read_call(item: dict[str, object], place: str) -> Call:
    # A custom tool takes free text; a function takes JSON, written as a string.
    custom = item.get("custom") if item.get("type") == "custom" else None
    inner = record(item.get("function") if custom is None else custom, f"{place}, function")
    name = words(inner.get("name"), f"{place}, name")
    arguments = read_arguments(inner.get("arguments")) if custom is None else text_or(inner.get("input"))
    return Call(id=text_or(item.get("id")), name=name, arguments=arguments)


_OWN_PARTS = ("text", "refusal")
"""Content that has parts of its own; one that was not read as such is broken."""


def carries(part: Media | Opaque, role: str) -> bool:
    """Whether a message of that role has a content part for it."""
    if isinstance(part, Media):
        return role == "user" and write_media(part) is not None
    return _is_content(part, role)


def _is_content(part: Opaque, role: str) -> bool:
    kind = part.payload.get("type")
    if part.format != NAME:
        return False
    if kind is None:
        # The one field of a message, and not of its content, that is carried so: a spoken answer's id.
        return role == "assistant" and list(part.payload) == ["audio"] and isinstance(part.payload["audio"], dict)
    return isinstance(kind, str) and kind not in _OWN_PARTS


def write_draft(draft: Draft) -> list[dict[str, object]]:
    """The messages that a draft is: one, or one for each result."""
    if draft.native is not None:
        return [record(draft.native.payload, "native")]
    if draft.role == "tool":
        return [_write_result(result) for result in draft.results]
    if draft.role == "assistant":
        return [_write_assistant(draft)]
    return [{"role": draft.role, "content": _write_content(draft.parts)}]


def _write_assistant(draft: Draft) -> dict[str, object]:
    spoken = [
        part for part in draft.parts if isinstance(part, Text) or (isinstance(part, Opaque) and "type" in part.payload)
    ]
    message: dict[str, object] = {"role": "assistant", "content": _write_content(spoken) if spoken else None}
    for part in draft.parts:
        if isinstance(part, Opaque) and "type" not in part.payload:
            # A field of the message itself, such as the id of a spoken answer.
            message |= part.payload
    return message | write_calls(draft.calls)


def _write_result(result: Result) -> dict[str, object]:
    content = _write_content(result.parts) if result.parts else ""
    if is_old(result.call_id):
        return {"role": "function", "name": old_name(result.call_id), "content": content}
    message: dict[str, object] = {"role": "tool", "tool_call_id": result.call_id, "content": content}
    return message | ({"name": result.name} if result.name is not None else {})


def _write_content(parts: Sequence[Part]) -> str | list[dict[str, object]]:
    """A string where there is only text, which every server takes; else a list."""
    texts = [part.text for part in parts if isinstance(part, Text)]
    if len(texts) == len(parts):
        return texts[0] if len(texts) == 1 else "\n\n".join(text for text in texts if text)
    return [block for part in parts if (block := _write_block(part)) is not None]


def _write_block(part: Part) -> dict[str, object] | None:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    if isinstance(part, Media):
        return write_media(part) or {"type": "text", "text": media_note(part)}
    return part.payload if isinstance(part, Opaque) else None


def read_message(message: dict[str, object], place: str) -> list[Draft]:
    """The draft that a message is, with its payload where the parts don't give it back."""
    draft = _draft(message, place)
    return [keep_native(draft, NAME, message, _alone(draft))]


def _alone(draft: Draft) -> object:
    written = write_draft(express(draft, carries))
    return written[0] if len(written) == 1 else None


def _draft(message: dict[str, object], place: str) -> Draft:
    said = role_of(message, place, ROLES)
    source_id = text_or(message.get("id")) or None
    if said in ("tool", "function"):
        return Draft(role="tool", parts=(_read_result(message, said, place),), source_id=source_id)
    content = message.get("content")
    parts: list[Part] = list(_read_content(content, place)) if content is not None else []
    if said == "assistant":
        return Draft(role="assistant", parts=(*_read_assistant(message, parts, place),), source_id=source_id)
    role: Role = "user" if said == "user" else "system"
    origin = origin_of(parts) if role == "user" else "spoken"
    return Draft(role=role, parts=tuple(parts), origin=origin, source_id=source_id)


def _read_assistant(message: dict[str, object], content: list[Part], place: str) -> list[Part]:
    parts: list[Part] = []
    for key in REASONING:
        thought = message.get(key)
        if isinstance(thought, str) and thought:
            # Some servers say it twice, under both names.
            parts += [Thinking(text=thought)] if Thinking(text=thought) not in parts else []
    parts += content
    refusal = message.get("refusal")
    if isinstance(refusal, str):
        parts.append(Text(text=refusal))
    audio = message.get("audio")
    if isinstance(audio, dict):
        parts.append(Opaque(format=NAME, payload={"audio": audio}))
    return [*parts, *read_calls(message, place)]


def _read_content(content: object, place: str) -> list[Text | Media | Opaque]:
    if isinstance(content, str):
        return [Text(text=content)]
    if not isinstance(content, list):
        raise UnreadableLog(f"{place}, content: it is {kind(content)}, neither a string nor a list of parts")
    parts = []
    for index, item in enumerate(content):
        where = f"{place}, content part {index}"
        parts.append(_read_part(record(item, where), where))
    return parts


def _read_part(block: dict[str, object], place: str) -> Text | Media | Opaque:
    name = type_of(block, place)
    if name in ("text", "refusal"):
        return Text(text=words(block.get(name), f"{place}, {name}"))
    return read_media(block)


def _read_result(message: dict[str, object], role: str, place: str) -> Result:
    content = message.get("content")
    parts = tuple(_read_content(content, place)) if content else ()
    name = message.get("name")
    if role == "function":
        named = words(name, f"{place}, name")
        return Result(call_id=old_id(named), parts=parts, name=named)
    return Result(call_id=text_or(message.get("tool_call_id")), parts=parts, name=text_or(name) or None)


def outlined(messages: Sequence[dict[str, object]]) -> Outlines:
    """What the rules see of `messages`: a run of tool messages answers the assistant message before it."""
    outlines: list[Outline] = []
    answered: int | None = None
    for index, message in enumerate(messages):
        role = message.get("role")
        said = role if isinstance(role, str) else ""
        answering = said in ANSWERING
        if not answering:
            answered = index if said == "assistant" else None
        outlines.append(
            Outline(
                index=index,
                role=said,
                message=message,
                calls=_call_ids(message) if said == "assistant" else (),
                results=(_result_id(message, said),) if answering else (),
                answers=answered if answering else None,
            )
        )
    return Outlines(outlines)


def bad_arguments(outlines: Outlines) -> Iterator[Violation]:
    """Arguments are a string of JSON, not the object itself."""
    for outline in outlines:
        for name, function in _functions(outline.message):
            if not isinstance(function.get(name), str):
                yield breach("bad-arguments", outline.index, f"the {name} of a call must be a string.")


def bad_call_name(outlines: Outlines) -> Iterator[Violation]:
    """Each call names its function."""
    for outline in outlines:
        if any(function.get("name") == "" for _, function in _functions(outline.message)):
            yield breach("bad-call-name", outline.index, "a call names no function.")


def empty_content(outlines: Outlines) -> Iterator[Violation]:
    """Each message has content, if only an empty string; an assistant's may have calls instead."""
    for outline in outlines:
        message = outline.message
        if message.get("tool_calls") == []:
            yield breach("empty-content", outline.index, "`tool_calls` is an empty list; leave it out instead.")
        instead = ("tool_calls", "function_call", "refusal", "audio") if outline.role == "assistant" else ()
        if message.get("content") in (None, []) and not any(message.get(key) for key in instead):
            yield breach("empty-content", outline.index, "it has no content.")


def alternate(outlines: Outlines) -> Iterator[Violation]:
    """After one system message, user and assistant take turns; tool calls and their results stand between the two."""
    expected = "user"
    for outline in outlines:
        if outline.role in ("system", "developer"):
            if outline.index > 0:
                yield breach("alternate", outline.index, "a system message may only stand first, and alone.")
        elif outline.role == "assistant" and outline.calls:
            # Templates don't count these: the turn stays with the assistant until it has answered.
            if expected == "user":
                yield breach("alternate", outline.index, "the user's turn is here, not the assistant's.")
        elif outline.role in ("user", "assistant"):
            if outline.role != expected:
                yield breach("alternate", outline.index, f"the {expected}'s turn is here, not the {outline.role}'s.")
            expected = "assistant" if outline.role == "user" else "user"


LOCAL_RULES: tuple[Rule, ...] = (
    unknown_role(ROLES),
    unreadable(read_message, ROLES),
    call_without_id,
    duplicate_id_in_message,
    bad_arguments,
    bad_call_name,
    empty_content,
)
"""Those that look at one message at a time."""

RULES: tuple[Rule, ...] = (*LOCAL_RULES, *PAIR_RULES)
ALTERNATING_RULES: tuple[Rule, ...] = (*RULES, first_not_user, alternate)


def _call_ids(message: dict[str, object]) -> tuple[str, ...]:
    listed = message.get("tool_calls")
    names = [text_or(call.get("id")) for call in listed if isinstance(call, dict)] if isinstance(listed, list) else []
    old = message.get("function_call")
    if isinstance(old, dict):
        names.append(old_id(text_or(old.get("name"))))
    return tuple(names)


def _result_id(message: dict[str, object], role: str) -> str:
    return old_id(text_or(message.get("name"))) if role == "function" else text_or(message.get("tool_call_id"))


def _functions(message: dict[str, object]) -> Iterator[tuple[str, dict[str, object]]]:
    listed = message.get("tool_calls")
    for call in listed if isinstance(listed, list) else ():
        if isinstance(call, dict):
            field, key = ("input", "custom") if call.get("type") == "custom" else ("arguments", "function")
            inner = call.get(key)
            yield field, inner if isinstance(inner, dict) else {}
    old = message.get("function_call")
    if isinstance(old, dict):
        yield "arguments", old


class OpenAIChat:
    """OpenAI Chat Completions messages, and those of the many servers that speak the same.

    With `alternate`, for models whose template demands that user and assistant strictly take turns.
    """

    name = NAME
    thinking: ThinkingRule = "none"

    def __init__(self, *, alternate: bool = False) -> None:
        self._rules = ALTERNATING_RULES if alternate else RULES
        self._mends = _ALTERNATING_REPAIRS if alternate else _REPAIRS

    def decode(self, payload: object) -> list[Draft]:
        """Read a message list, or an object that holds one under `messages`; one draft a message."""
        drafts = [draft for place, message in placed_messages(payload) for draft in read_message(message, place)]
        return recognise_summaries(drafts)

    def encode(self, drafts: Sequence[Draft]) -> Payload:
        """Write drafts as a valid message list.

        Calls are answered and results follow their calls; what can't be shown is told in a text. Thinking is left out.
        """
        messages = [message for draft in repaired(drafts, self._mends) for message in write_draft(draft)]
        return Payload(messages=copied_messages(messages))

    def validate(self, payload: Payload, *, thinking: bool = False) -> list[Violation]:
        """Name every rule that the list breaks; they are the same whether or not the model is to think."""
        return violations(outlined(payload.messages), self._rules)


def _accepts(payload: object) -> bool:
    return isinstance(payload, dict) and not violations(outlined([payload]), LOCAL_RULES)


def _read_native(payload: object) -> list[Draft]:
    return read_message(record(payload, "native"), "native")


_FITTING: tuple[Repair, ...] = (
    partial(settle_natives, name=NAME, read=_read_native, accepts=_accepts),
    flatten_summaries,
    partial(join_drafts, merge=no_native),
    tell_server_pairs,
    partial(express_drafts, carries=carries),
    place_parts,
    drop_empty,
    partial(give_unique_ids, fits=id_fits, per_message=True),
    answer_calls,
)
_REPAIRS: tuple[Repair, ...] = (*_FITTING, cast_summaries)
_ALTERNATING_REPAIRS: tuple[Repair, ...] = (
    *_FITTING,
    join_systems,
    quote_later_systems,
    cast_summaries,
    open_with_user,
    take_turns,
)
