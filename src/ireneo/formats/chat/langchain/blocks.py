"""From content to parts: a string, or a list of strings and blocks."""

from __future__ import annotations

from ireneo.errors import UnreadableLog
from ireneo.formats.chat.langchain.calls import block_call
from ireneo.formats.chat.langchain.media import read_media
from ireneo.formats.chat.langchain.names import CALLS, NAME, TEXTS, THOUGHTS
from ireneo.formats.chat.reading import kind, record, text_or, words
from ireneo.log.message import Call, Media, Opaque, Text, Thinking


def read_content(content: object, place: str) -> list[Text | Media | Opaque]:
    """What a message says that is not the model's."""
    parts: list[Text | Media | Opaque] = []
    for where, item in _items(content, place):
        parts.append(Text(text=item) if isinstance(item, str) else _said(item, where))
    return parts


def read_reply(content: object, place: str) -> list[Text | Media | Opaque | Thinking | Call]:
    """What a message of the model says, its thoughts and the calls among its blocks included."""
    parts: list[Text | Media | Opaque | Thinking | Call] = []
    for where, item in _items(content, place):
        if isinstance(item, str):
            parts.append(Text(text=item))
        elif item.get("type") in THOUGHTS:
            parts.append(_thought(item))
        else:
            parts.append(block_call(item) if item.get("type") in CALLS else _said(item, where))
    return parts


def _items(content: object, place: str) -> list[tuple[str, str | dict[str, object]]]:
    if isinstance(content, str):
        return [(place, content)]
    if not isinstance(content, list):
        raise UnreadableLog(f"{place}, content: it is {kind(content)}, neither a string nor a list of blocks")
    items: list[tuple[str, str | dict[str, object]]] = []
    for index, item in enumerate(content):
        where = f"{place}, block {index}"
        items.append((where, item if isinstance(item, str) else record(item, where)))
    return items


def _said(block: dict[str, object], place: str) -> Text | Media | Opaque:
    name = block.get("type")
    if isinstance(name, str) and name in TEXTS:
        return Text(text=words(block.get(name), f"{place}, {name}"))
    return read_media(block)


def _thought(block: dict[str, object]) -> Thinking:
    inner, more = block.get("reasoning_content"), block.get("extras")
    fields = {**block, **(inner if isinstance(inner, dict) else {}), **(more if isinstance(more, dict) else {})}
    text = next((fields[key] for key in ("thinking", "reasoning", "text") if isinstance(fields.get(key), str)), None)
    signature = text_or(fields.get("signature")) or None
    sealed = next((fields[key] for key in ("data", "encrypted_content") if isinstance(fields.get(key), str)), None)
    bound = signature is not None or sealed is not None
    return Thinking(
        text=text_or(text) or _told(block.get("summary")),
        signature=signature,
        sealed=text_or(sealed) or None,
        format=NAME if bound else None,
    )


def _told(summary: object) -> str:
    pieces = summary if isinstance(summary, list) else []
    return "\n".join(text_or(piece.get("text")) for piece in pieces if isinstance(piece, dict))
