"""From content blocks to parts, one for one."""

from __future__ import annotations

import msgspec

from ireneo.errors import UnreadableLog
from ireneo.formats.chat.anthropic.media import read_media
from ireneo.formats.chat.anthropic.names import CALL, NAME, RESULT, is_server_call, is_server_result
from ireneo.formats.chat.anthropic.server import read_server_call, read_server_result
from ireneo.formats.chat.reading import kind, record, text_or, type_of, words
from ireneo.log.message import Call, Media, Opaque, Part, Result, Text, Thinking


def content_blocks(content: object, place: str) -> list[dict[str, object]]:
    """The blocks of a message's content; a string is short for one text block."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if not isinstance(content, list):
        raise UnreadableLog(f"{place}, content: it is {kind(content)}, neither a string nor a list of blocks")
    return [record(block, f"{place}, block {index}") for index, block in enumerate(content)]


def read_block(block: dict[str, object], role: str, place: str) -> Part:
    """The part that a block is; one of a kind that is not known here stays as it is."""
    name = type_of(block, place)
    if name == "text":
        return Text(text=words(block.get("text"), f"{place}, text"))
    if name == CALL:
        return Call(
            id=text_or(block.get("id")), name=words(block.get("name"), f"{place}, name"), arguments=_input(block)
        )
    if name == RESULT:
        return _result(block, place)
    if name in ("image", "document"):
        return read_media(block)
    return _assistants(block, name) if role == "assistant" else Opaque(format=NAME, payload=block)


def _assistants(block: dict[str, object], name: str) -> Part:
    part: Part | None = None
    if name == "thinking" and isinstance(block.get("thinking"), str):
        signature = text_or(block.get("signature")) or None
        part = Thinking(text=text_or(block.get("thinking")), signature=signature, format=NAME if signature else None)
    elif name == "redacted_thinking" and isinstance(block.get("data"), str):
        part = Thinking(sealed=text_or(block.get("data")), format=NAME)
    elif is_server_call(name):
        part = read_server_call(block)
    elif is_server_result(name):
        part = read_server_result(block)
    return part or Opaque(format=NAME, payload=block)


def _result(block: dict[str, object], place: str) -> Result:
    content = block.get("content")
    parts: list[Text | Media | Opaque] = []
    if content:
        for index, inner in enumerate(content_blocks(content, place)):
            where = f"{place}, block {index}"
            name = type_of(inner, where)
            if name == "text":
                parts.append(Text(text=words(inner.get("text"), f"{where}, text")))
            elif name in ("image", "document"):
                parts.append(read_media(inner))
            else:
                parts.append(Opaque(format=NAME, payload=inner))
    # Only what was said to have failed has a flag that tells: false is what harnesses write without looking.
    failed = True if block.get("is_error") is True else None
    return Result(call_id=text_or(block.get("tool_use_id")), parts=tuple(parts), failed=failed)


def _input(block: dict[str, object]) -> dict[str, object] | str:
    given = block.get("input")
    if isinstance(given, dict):
        return given
    if given is None:
        return {}
    return given if isinstance(given, str) else msgspec.json.encode(given).decode()
