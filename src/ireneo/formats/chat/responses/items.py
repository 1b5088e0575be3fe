"""From items to parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import msgspec

from ireneo.errors import UnreadableLog
from ireneo.formats.chat.openai.calls import read_arguments
from ireneo.formats.chat.reading import kind, listing, record, role_of, text_or, type_of, words
from ireneo.formats.chat.responses.media import read_media
from ireneo.formats.chat.responses.names import (
    CALL,
    CUSTOM_CALL,
    MESSAGE,
    NAME,
    REASONING,
    ROLES,
    call_id_of,
    is_call,
    is_output,
    kind_of,
)
from ireneo.log.message import Call, Media, Opaque, Part, Result, Text, Thinking

_TEXTS = {"input_text": "text", "output_text": "text", "text": "text", "refusal": "refusal"}
ReadPart: TypeAlias = Callable[[dict[str, object], str], Media | Opaque]

_ENVELOPE = ("type", "id", "call_id", "status")


def read_item(item: dict[str, object], place: str) -> list[Part]:
    """The parts that an item is; one of a kind that is not known here stays as it is."""
    name = kind_of(item)
    if not name:
        raise UnreadableLog(f"{place}: it has neither a type nor a role")
    if name == MESSAGE:
        return _message(item, place)
    if name == REASONING:
        return [_reasoning(item, place)]
    if is_call(item):
        return [_call(item, name, place)]
    if is_output(item):
        return [Result(call_id=call_id_of(item), parts=_output(item.get("output"), place))]
    return [Opaque(format=NAME, payload=item)]


def _message(item: dict[str, object], place: str) -> list[Part]:
    role = role_of(item, place, ROLES)
    read = _reply_part if role == "assistant" else read_media
    return [*_content(item.get("content"), f"{place}, content", read)]


def _reply_part(block: dict[str, object], place: str) -> Opaque:
    # Beside the items of a reply, a part of a message's content would be taken for one of them.
    return Opaque(format=NAME, payload={"role": "assistant", "content": [block]})


def _content(content: object, place: str, read: ReadPart) -> list[Text | Media | Opaque]:
    if content is None:
        return []
    if isinstance(content, str):
        return [Text(text=content)]
    if not isinstance(content, list):
        raise UnreadableLog(f"{place}: it is {kind(content)}, neither a string nor a list of parts")
    parts: list[Text | Media | Opaque] = []
    for index, block in enumerate(content):
        where = f"{place} part {index}"
        block = record(block, where)
        field = _TEXTS.get(type_of(block, where))
        parts.append(Text(text=words(block.get(field), f"{where}, {field}")) if field else read(block, where))
    return parts


def _reasoning(item: dict[str, object], place: str) -> Thinking:
    told: list[str] = []
    for field in ("summary", "content"):
        for index, block in enumerate(listing(item.get(field) or [], f"{place}, {field}")):
            text = text_or(record(block, f"{place}, {field} {index}").get("text"))
            told += [text] if text else []
    return Thinking(text="\n\n".join(told), sealed=text_or(item.get("encrypted_content")) or None, format=NAME)


def _call(item: dict[str, object], name: str, place: str) -> Call:
    call_id = call_id_of(item)
    if name == CALL:
        called = words(item.get("name"), f"{place}, name")
        return Call(id=call_id, name=called, arguments=read_arguments(item.get("arguments")))
    if name == CUSTOM_CALL:
        # It takes free text.
        return Call(id=call_id, name=words(item.get("name"), f"{place}, name"), arguments=text_or(item.get("input")))
    action = item.get("action")
    given = action if isinstance(action, dict) else {key: item[key] for key in item if key not in _ENVELOPE}
    return Call(id=call_id, name=name.removesuffix("_call"), arguments=given)


def _output(output: object, place: str) -> tuple[Text | Media | Opaque, ...]:
    if isinstance(output, dict) and isinstance(output.get("image_url"), str):
        # What a computer's screen shows.
        return (read_media({"type": "input_image", "image_url": output["image_url"]}, place),)
    if isinstance(output, list) and not all(isinstance(each, dict) and "type" in each for each in output):
        return (Text(text=msgspec.json.encode(output).decode()),)
    if isinstance(output, str | list):
        return tuple(_content(output, f"{place}, output", read_media)) if output else ()
    return () if output is None else (Text(text=msgspec.json.encode(output).decode()),)
