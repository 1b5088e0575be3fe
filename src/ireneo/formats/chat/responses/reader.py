"""From items to drafts: a reply is one draft, however many items the model made of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from msgspec.structs import replace

from ireneo.formats.chat.natives import keep_native
from ireneo.formats.chat.origins import origin_of
from ireneo.formats.chat.reading import listed_in, text_or, words
from ireneo.formats.chat.responses.expression import express
from ireneo.formats.chat.responses.items import read_item
from ireneo.formats.chat.responses.names import (
    MESSAGE,
    NAME,
    OTHERS,
    REASONING,
    has_reasoning,
    is_call,
    is_output,
    kind_of,
    side_of,
)
from ireneo.formats.chat.responses.writer import write_items
from ireneo.log.message import BLOCK_TAGS, Draft, Part, Role, Text

Placed: TypeAlias = tuple[str, dict[str, object]]
"""An item, and the words that name its place."""


def is_input(payload: object) -> bool:
    """Whether it is input of this format, and of no other: by its items, or by what its object calls them."""
    listed = listed_in(payload, "input")
    items = [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
    if isinstance(payload, dict) and ("instructions" in payload or "input" in payload):
        return isinstance(listed, str) or bool(items)
    return any(is_item(item) for item in items)


def is_item(item: dict[str, object]) -> bool:
    """Whether it is an item of this format, and of no other; what is a message everywhere is not."""
    kind = kind_of(item)
    if kind != MESSAGE:
        return kind in OTHERS or is_call(item) or is_output(item) or kind.endswith("_call")
    content = item.get("content")
    if not isinstance(content, list):
        return "type" in item
    # Sounds are called as here in OpenAI's chat as well, and Anthropic's replies say that they are messages.
    shown = ("input_text", "output_text", "input_image", "input_file", *(("refusal",) if "type" in item else ()))
    return any(isinstance(block, dict) and block.get("type") in shown for block in content)


def read_instructions(instructions: object) -> list[Draft]:
    """The draft of the system prompt that stands apart; none where there is none."""
    if instructions is None:
        return []
    return [Draft(role="system", parts=(Text(text=words(instructions, "instructions")),))]


def read_items(placed: Iterable[Placed]) -> list[Draft]:
    """The drafts of a list: reasoning, words and calls up to the first output are one."""
    out: list[Draft] = []
    reasoned = False
    for group in _groups(placed):
        draft = _draft(group)
        items = [item for _, item in group]
        if draft.role == "assistant":
            goes_on = reasoned and out[-1].role == "tool" and _has_ids(items) and not has_reasoning(items)
            # Its ids may belong to the reasoning before the outputs; without that they would be refused.
            draft = replace(draft, joined=goes_on)
            reasoned = reasoned or has_reasoning(items)
        elif draft.role != "tool":
            reasoned = False
        out.append(draft)
    return out


def _groups(placed: Iterable[Placed]) -> list[list[Placed]]:
    groups: list[list[Placed]] = []
    alone = True
    for place, item in placed:
        # What the model reasoned for, or said beside a call, is its own, whatever it looks like.
        bound = not alone and (kind_of(groups[-1][-1][1]) == REASONING or any(is_call(each) for _, each in groups[-1]))
        stands_alone = side_of(item) != "assistant" or (_is_block(item) and not bound)
        if alone or stands_alone:
            groups.append([])
        groups[-1].append((place, item))
        alone = stands_alone
    return groups


def _is_block(item: dict[str, object]) -> bool:
    """Whether it is a block of ours, which is no part of any reply."""
    content = item.get("content")
    return kind_of(item) == MESSAGE and "id" not in item and isinstance(content, str) and content.startswith(BLOCK_TAGS)


def _has_ids(items: Sequence[dict[str, object]]) -> bool:
    return any(isinstance(item.get("id"), str) for item in items)


def _draft(group: Sequence[Placed]) -> Draft:
    items = [item for _, item in group]
    parts: list[Part] = [part for place, item in group for part in read_item(item, place)]
    role = _role(side_of(items[0]))
    draft = Draft(
        role=role,
        parts=tuple(parts),
        origin=origin_of(parts) if role == "user" else "spoken",
        source_id=text_or(items[0].get("id")) or None,
    )
    payload: object = items[0] if len(items) == 1 else items
    # A prompt that stands in the list would be written apart from it, if it were known by its words alone.
    told = role != "system" and write_items([express(draft)]) == items
    return keep_native(draft, NAME, payload, payload if told else None)


def _role(side: str) -> Role:
    roles: dict[str, Role] = {"user": "user", "assistant": "assistant", "tool": "tool"}
    return roles.get(side, "system")
