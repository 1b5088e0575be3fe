"""Plain messages that were read as another format's, before anything told that the session is Anthropic's.

Several formats write them alike, but only here do the keys beside a text (where a cache may end, what is cited) mean
anything to every provider, so that a payload which holds nothing else may be sent as it is.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ireneo.formats.chat.anthropic.names import NAME
from ireneo.formats.chat.langchain.names import NAME as LANGCHAIN
from ireneo.formats.chat.openai.names import NAME as OPENAI
from ireneo.formats.chat.responses.names import NAME as RESPONSES
from ireneo.log.message import Draft, Native

_BESIDE = frozenset({"type", "text", "cache_control", "citations"})


def adopt_plain(drafts: Sequence[Draft]) -> list[Draft]:
    """Take over what others wrote of a system prompt, a user's or the model's words in blocks of text."""
    return [_adopted(draft) for draft in drafts]


def _adopted(draft: Draft) -> Draft:
    blocks = _plain_blocks(draft.native) if draft.native is not None and not draft.joined else None
    if blocks is None or draft.role == "tool":
        return draft
    payload: object = blocks if draft.role == "system" else {"role": draft.role, "content": blocks}
    return replace(draft, native=Native(format=NAME, payload=payload))


def _plain_blocks(native: Native) -> list[object] | None:
    """The blocks of text that a payload holds, where they are all that a model reads of it."""
    payload = native.payload
    if native.format == LANGCHAIN and isinstance(payload, dict):
        payload = payload.get("data")
    if not isinstance(payload, dict) or native.format not in (OPENAI, RESPONSES, LANGCHAIN, NAME):
        return None
    if native.format == NAME and payload.get("role") != "system":
        return None
    blocks = payload.get("content")
    if not isinstance(blocks, list) or not blocks:
        return None
    plain = all(isinstance(each, dict) and each.get("type") == "text" and each.keys() <= _BESIDE for each in blocks)
    return blocks if plain else None
