"""The parts of a request: what the system, the user, a tool and the harness say."""

from __future__ import annotations

import msgspec

from ireneo.errors import UnreadableLog
from ireneo.formats.chat.pydantic_ai.media import read_media
from ireneo.formats.chat.pydantic_ai.names import NAME, PROMPT, SPEECH, SYSTEM
from ireneo.formats.chat.pydantic_ai.names import part_kind as kind_of
from ireneo.formats.chat.reading import kind, listing, record, text_or, words
from ireneo.log.message import Media, Opaque, Part, Result, Text

_WORDS = ("text-content", "structured-content")


def read_prompt(part: dict[str, object], place: str) -> list[Part]:
    """What a part says that is no tool's; nothing where it says nothing."""
    content = part.get("content")
    if kind_of(part) == SYSTEM:
        return [Text(text=words(content, f"{place}, content"))]
    if kind_of(part) == PROMPT:
        return [*_items(content, place)]
    if kind_of(part) == SPEECH:
        transcript = part.get("transcript")
        return [Text(text=transcript) if isinstance(transcript, str) else Opaque(format=NAME, payload=part)]
    return [*read_return(content)]


def read_result(part: dict[str, object], place: str) -> Result:
    """The result that a tool's part is; one that asks to try again has failed."""
    failed = True if part.get("outcome", "retried") != "success" else None
    name = words(part.get("tool_name"), f"{place}, tool_name")
    call_id = text_or(part.get("tool_call_id"))
    return Result(call_id=call_id, parts=tuple(read_return(part.get("content"))), failed=failed, name=name)


def read_return(content: object) -> list[Text | Media | Opaque]:
    """What a tool gave back: its words, its media, and anything else as the JSON that a model reads."""
    if content is None:
        return []
    if isinstance(content, list):
        shown = [read_media(item) for item in content]
        if any(shown):
            return [media or _told(item) for media, item in zip(shown, content, strict=True)]
    return [read_media(content) or _told(content)]


def _items(content: object, place: str) -> list[Text | Media | Opaque]:
    if isinstance(content, str):
        return [Text(text=content)]
    if not isinstance(content, list):
        raise UnreadableLog(f"{place}, content: it is {kind(content)}, neither a string nor a list")
    parts: list[Text | Media | Opaque] = []
    for index, item in enumerate(listing(content, place)):
        where = f"{place}, content {index}"
        if isinstance(item, str):
            parts.append(Text(text=item))
        elif record(item, where).get("kind") in _WORDS:
            parts.append(Text(text=words(record(item, where).get("content"), where)))
        else:
            parts.append(read_media(item) or Opaque(format=NAME, payload=record(item, where)))
    return parts


def _told(value: object) -> Text:
    return Text(text=value if isinstance(value, str) else msgspec.json.encode(value).decode())
