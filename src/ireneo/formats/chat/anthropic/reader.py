"""From messages to drafts: one, or two where tool results and a user's words share a message."""

from __future__ import annotations

from ireneo.formats.chat.anthropic.blocks import content_blocks, read_block
from ireneo.formats.chat.anthropic.names import NAME, RESULT, ROLES, kind_of
from ireneo.formats.chat.anthropic.writer import write_message, write_system
from ireneo.formats.chat.natives import keep_native
from ireneo.formats.chat.origins import origin_of
from ireneo.formats.chat.reading import detached, listing, record, role_of, text_or, type_of, words
from ireneo.log.message import Draft, Opaque, Part, Text


def read_system(system: object) -> list[Draft]:
    """The draft of a system prompt that stands apart from the messages; none where there is none."""
    if system is None:
        return []
    system = detached(system, "system")
    if isinstance(system, str):
        return [Draft(role="system", parts=(Text(text=system),))]
    parts: list[Part] = []
    for index, item in enumerate(listing(system, "system")):
        place = f"system, block {index}"
        block = record(item, place)
        if type_of(block, place) == "text":
            parts.append(Text(text=words(block.get("text"), f"{place}, text")))
        else:
            parts.append(Opaque(format=NAME, payload=block))
    draft = Draft(role="system", parts=tuple(parts))
    return [keep_native(draft, NAME, system, write_system([draft]))]


def read_message(message: dict[str, object], place: str) -> list[Draft]:
    """The drafts that a message is, each with its payload where the parts don't give it back."""
    role = role_of(message, place, ROLES)
    blocks = content_blocks(message.get("content"), place)
    if role != "user":
        return [_half(message, role, blocks, place)]
    results = [block for block in blocks if kind_of(block) == RESULT]
    if not results or len(results) == len(blocks):
        return [_half(message, "tool" if results else "user", blocks, place)]
    rest = [block for block in blocks if kind_of(block) != RESULT]
    return [
        _half({**message, "content": results}, "tool", results, place),
        _half({**message, "content": rest}, "user", rest, place, joined=True),
    ]


def _half(
    message: dict[str, object], role: str, blocks: list[dict[str, object]], place: str, *, joined: bool = False
) -> Draft:
    said = "user" if role == "tool" else role
    parts = tuple(read_block(block, said, f"{place}, block {index}") for index, block in enumerate(blocks))
    draft = Draft(
        role="tool"
        if role == "tool"
        else "user"
        if role == "user"
        else "assistant"
        if role == "assistant"
        else "system",
        parts=parts,
        origin=origin_of(parts) if role == "user" else "spoken",
        source_id=text_or(message.get("id")) or None,
        joined=joined,
    )
    return keep_native(draft, NAME, message, write_message([draft]))
