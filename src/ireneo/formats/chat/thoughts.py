"""A provider's payload without the model's thinking: what else stands in it is kept as it was written.

Where a payload can't be had without it (OpenAI's items name the reasoning that they go on from), there is none, and the
message is built from its parts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from ireneo.formats.chat.anthropic.names import NAME as ANTHROPIC
from ireneo.formats.chat.anthropic.names import THINKING
from ireneo.formats.chat.gemini.names import NAME as GEMINI
from ireneo.formats.chat.gemini.names import SIGNATURE, parts_in, without
from ireneo.formats.chat.langchain.names import NAME as LANGCHAIN
from ireneo.formats.chat.langchain.names import THOUGHTS
from ireneo.formats.chat.openai.names import NAME as OPENAI
from ireneo.formats.chat.openai.names import REASONING
from ireneo.formats.chat.pydantic_ai.names import NAME as PYDANTIC_AI
from ireneo.formats.chat.pydantic_ai.names import THINKING as THINKING_PART
from ireneo.formats.chat.responses.names import NAME as RESPONSES
from ireneo.log.message import Draft, Native, Thinking

Payload = dict[str, object]

_SIGNED_BESIDE = ("reasoning_details", "thinking_blocks")
"""Where gateways put what a provider signed, beside the reasoning in words."""


def without_thoughts(native: Native | None) -> Native | None:
    """`native` without thinking; None where it can't be had so."""
    strip = _STRIPS.get(native.format) if native is not None else None
    if native is None or strip is None or not isinstance(native.payload, dict):
        return None
    return Native(format=native.format, payload=strip(native.payload))


def without_dangling(drafts: Sequence[Draft], lost: Sequence[bool]) -> list[Draft]:
    """`drafts` without the payloads of OpenAI's items whose ids name reasoning that is gone.

    `lost` says where that may be: a message whose thinking is not shown, or a block that stands for some. It lasts
    until the next reasoning, or until a user speaks.
    """
    out: list[Draft] = []
    dangles = False
    for draft, gone in zip(drafts, lost, strict=True):
        reasons = any(isinstance(part, Thinking) for part in draft.parts)
        spoken = draft.role in ("user", "system") and draft.origin != "summary"
        dangles = gone or (dangles and not reasons and not spoken)
        ours = dangles and draft.role == "assistant" and draft.native is not None and draft.native.format == RESPONSES
        out.append(replace(draft, native=None) if ours else draft)
    return out


def _anthropic(message: Payload) -> Payload:
    return _with_list(message, "content", lambda block: block.get("type") not in THINKING)


def _openai(message: Payload) -> Payload:
    return {key: value for key, value in message.items() if key not in (*REASONING, *_SIGNED_BESIDE)}


def _langchain(message: Payload) -> Payload:
    data = message.get("data")
    if not isinstance(data, dict):
        return message
    data = _with_list(data, "content", lambda block: block.get("type") not in THOUGHTS)
    more = data.get("additional_kwargs")
    return message | {"data": data | ({"additional_kwargs": _openai(more)} if isinstance(more, dict) else {})}


def _pydantic_ai(message: Payload) -> Payload:
    return _with_list(message, "parts", lambda part: part.get("part_kind") != THINKING_PART)


def _gemini(content: Payload) -> Payload:
    parts = [without(part, SIGNATURE) for part in parts_in(content) if part.get("thought") is not True]
    return content | {"parts": [part for part in parts if part != {"text": ""}]}


def _with_list(holder: Payload, key: str, keeps: Callable[[Payload], bool]) -> Payload:
    listed = holder.get(key)
    if not isinstance(listed, list):
        return holder
    return holder | {key: [each for each in listed if not isinstance(each, dict) or keeps(each)]}


_STRIPS: dict[str, Callable[[Payload], Payload]] = {
    ANTHROPIC: _anthropic,
    GEMINI: _gemini,
    LANGCHAIN: _langchain,
    OPENAI: _openai,
    PYDANTIC_AI: _pydantic_ai,
}
