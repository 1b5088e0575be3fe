"""From messages to drafts: one, or two where tool results and a user's words share a message."""

from __future__ import annotations

from itertools import compress
from typing import TypeAlias

from ireneo.formats.chat.anthropic.blocks import content_blocks, read_block
from ireneo.formats.chat.anthropic.expression import express
from ireneo.formats.chat.anthropic.names import NAME, ROLES
from ireneo.formats.chat.anthropic.writer import write_message, write_system
from ireneo.formats.chat.natives import keep_native
from ireneo.formats.chat.origins import origin_of
from ireneo.formats.chat.reading import detached, listing, record, role_of, text_or, type_of, words
from ireneo.log.message import Draft, Opaque, Part, Result, Role, Text

Block: TypeAlias = dict[str, object]


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
    return [keep_native(draft, NAME, system, write_system([express(draft)]))]


def read_message(message: dict[str, object], place: str) -> list[Draft]:
    """The drafts that a message is, each with its payload where the parts don't give it back."""
    role = role_of(message, place, ROLES)
    blocks = content_blocks(message.get("content"), place)
    parts = [read_block(block, role, f"{place}, block {index}") for index, block in enumerate(blocks)]
    if role != "user":
        return [_draft("assistant" if role == "assistant" else "system", parts, message)]
    brought = [isinstance(part, Result) for part in parts]
    if not any(brought) or all(brought):
        return [_draft("tool" if any(brought) else "user", parts, message)]
    return [_half(message, blocks, parts, of_results=True), _half(message, blocks, parts, of_results=False)]


def _half(message: dict[str, object], blocks: list[Block], parts: list[Part], *, of_results: bool) -> Draft:
    """The results of a user message, or the rest of it: as if it had held nothing else."""
    chosen = [isinstance(part, Result) is of_results for part in parts]
    half = {**message, "content": list(compress(blocks, chosen))}
    return _draft("tool" if of_results else "user", list(compress(parts, chosen)), half, joined=not of_results)


def _draft(role: Role, parts: list[Part], message: dict[str, object], *, joined: bool = False) -> Draft:
    draft = Draft(
        role=role,
        parts=tuple(parts),
        origin=origin_of(parts) if role == "user" else "spoken",
        source_id=text_or(message.get("id")) or None,
        joined=joined,
    )
    return keep_native(draft, NAME, message, write_message([express(draft)]))
