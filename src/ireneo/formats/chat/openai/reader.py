"""From messages to drafts."""

from __future__ import annotations

from ireneo.errors import UnreadableLog
from ireneo.formats.chat.mends.expressible import express
from ireneo.formats.chat.natives import keep_native
from ireneo.formats.chat.openai.calls import old_id, read_calls
from ireneo.formats.chat.openai.expression import carries
from ireneo.formats.chat.openai.media import read_media
from ireneo.formats.chat.openai.names import NAME, REASONING, ROLES
from ireneo.formats.chat.openai.writer import write_draft
from ireneo.formats.chat.origins import origin_of
from ireneo.formats.chat.reading import kind, record, role_of, text_or, type_of, words
from ireneo.log.message import Draft, Media, Opaque, Part, Result, Role, Text, Thinking


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
        return Draft(role="tool", parts=(_result(message, said, place),), source_id=source_id)
    content = message.get("content")
    parts: list[Part] = list(_content(content, place)) if content is not None else []
    if said == "assistant":
        return Draft(role="assistant", parts=(*_assistant(message, parts, place),), source_id=source_id)
    role: Role = "user" if said == "user" else "system"
    origin = origin_of(parts) if role == "user" else "spoken"
    return Draft(role=role, parts=tuple(parts), origin=origin, source_id=source_id)


def _assistant(message: dict[str, object], content: list[Part], place: str) -> list[Part]:
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


def _content(content: object, place: str) -> list[Text | Media | Opaque]:
    if isinstance(content, str):
        return [Text(text=content)]
    if not isinstance(content, list):
        raise UnreadableLog(f"{place}, content: it is {kind(content)}, neither a string nor a list of parts")
    parts = []
    for index, item in enumerate(content):
        where = f"{place}, content part {index}"
        parts.append(_part(record(item, where), where))
    return parts


def _part(block: dict[str, object], place: str) -> Text | Media | Opaque:
    name = type_of(block, place)
    if name in ("text", "refusal"):
        return Text(text=words(block.get(name), f"{place}, {name}"))
    return read_media(block)


def _result(message: dict[str, object], role: str, place: str) -> Result:
    content = message.get("content")
    parts = tuple(_content(content, place)) if content else ()
    name = message.get("name")
    if role == "function":
        named = words(name, f"{place}, name")
        return Result(call_id=old_id(named), parts=parts, name=named)
    return Result(call_id=text_or(message.get("tool_call_id")), parts=parts, name=text_or(name) or None)
