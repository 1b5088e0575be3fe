"""The chat formats by name, and by what a message or a list tells which of them it is in.

A list is not asked as a whole: a session may begin with words that every format has, and go on in the blocks of one.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType

from ireneo.errors import UnknownFormat
from ireneo.formats.chat.anthropic import NAME as ANTHROPIC
from ireneo.formats.chat.anthropic import AnthropicMessages, is_server_call, is_server_result
from ireneo.formats.chat.format import ChatFormat, Payload
from ireneo.formats.chat.gemini import NAME as GEMINI
from ireneo.formats.chat.gemini import GeminiContents, is_contents
from ireneo.formats.chat.langchain import LangChainMessages
from ireneo.formats.chat.langchain import is_message as is_langchain
from ireneo.formats.chat.langchain_names import NAME as LANGCHAIN
from ireneo.formats.chat.openai import NAME as OPENAI
from ireneo.formats.chat.openai import OpenAIChat
from ireneo.formats.chat.pydantic_ai import NAME as PYDANTIC_AI
from ireneo.formats.chat.pydantic_ai import PydanticAIMessages
from ireneo.formats.chat.pydantic_ai import is_message as is_pydantic_ai
from ireneo.formats.chat.responses import NAME as RESPONSES
from ireneo.formats.chat.responses import OpenAIResponses, is_input, is_item
from ireneo.formats.values import listed_in

# By what one message tells which provider's format it is in.
#
# A list is not asked as a whole: a session may begin with words that every format has, and go on in the blocks of one.


_ANSWERING = ("tool", "function")
_PROMPTING = ("system", "developer")
_CALLING = ("tool_calls", "function_call", "tool_call_id")
_OPENAI_FIELDS = (*_CALLING, "name", "refusal", "annotations", "audio", "reasoning_content", "reasoning")
_OPENAI_DUMPED = (*_CALLING, "refusal", "annotations", "audio")
"""Fields of a message that is plain but for these, as OpenAI's client dumps it: empty, they still tell."""
_OPENAI_PARTS = ("image_url", "input_audio", "file", "refusal", "video_url", "audio_url")
_ANTHROPIC_BLOCKS = (
    "tool_use",
    "tool_result",
    "redacted_thinking",
    "image",
    "document",
    "search_result",
    "container_upload",
    "compaction",
)
_BOUND_TO_BLOCKS = ("cache_control", "citations")
"""What Anthropic writes beside a block's text; some servers of OpenAI's format take it as well."""


def mark_of(message: object) -> str | None:
    """The name of the one format whose marks `message` bears; None where it is plain, and readable in several."""
    if is_langchain(message):
        return LANGCHAIN
    if is_pydantic_ai(message):
        return PYDANTIC_AI
    if not isinstance(message, dict):
        return None
    if "parts" in message and "kind" not in message:
        return GEMINI
    if is_item(message):
        return RESPONSES
    return _by_blocks(message) if "role" in message else None


def leaning_of(message: object) -> str | None:
    """The format that a message without marks is likely to be in, where nothing else tells; None for plain words."""
    if not isinstance(message, dict):
        return None
    if message.get("role") in _PROMPTING:
        return OPENAI
    if message.get("type") == "message" or any(
        key in block for block in blocks_in(message) for key in _BOUND_TO_BLOCKS
    ):
        return ANTHROPIC
    return None


def unknown_block(message: object) -> str | None:
    """The type of a content block that a plain message would not hold: nothing tells whose it is."""
    if not isinstance(message, dict) or mark_of(message) is not None:
        return None
    return next((kind for kind in _kinds(message) if kind != "text"), None)


def blocks_in(message: dict[str, object]) -> list[dict[str, object]]:
    """The content blocks of a message, as far as they are blocks."""
    content = message.get("content")
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def _by_blocks(message: dict[str, object]) -> str | None:
    if message.get("role") in _ANSWERING or any(message.get(key) is not None for key in _CALLING):
        return OPENAI
    if any(map(_is_anthropic, blocks_in(message))):
        return ANTHROPIC
    told = any(message.get(key) not in (None, [], {}, "") for key in _OPENAI_FIELDS)
    if told or any(key in message for key in _OPENAI_DUMPED) or any(kind in _OPENAI_PARTS for kind in _kinds(message)):
        return OPENAI
    return None


def _is_anthropic(block: dict[str, object]) -> bool:
    kind = block.get("type")
    if kind == "thinking":
        # Others, who write a list there, have a block of that name as well.
        return not isinstance(block.get("thinking"), list)
    return isinstance(kind, str) and (kind in _ANTHROPIC_BLOCKS or is_server_call(kind) or is_server_result(kind))


def _kinds(message: dict[str, object]) -> Iterator[str]:
    for block in blocks_in(message):
        kind = block.get("type")
        if isinstance(kind, str):
            yield kind


_OPENAI = OpenAIChat()
_ANTHROPIC = AnthropicMessages()
_RESPONSES = OpenAIResponses()
_GEMINI = GeminiContents()
_LANGCHAIN = LangChainMessages()
_PYDANTIC_AI = PydanticAIMessages()

CHAT_FORMATS: MappingProxyType[str, ChatFormat] = MappingProxyType(
    {each.name: each for each in (_ANTHROPIC, _GEMINI, _LANGCHAIN, _OPENAI, _RESPONSES, _PYDANTIC_AI)}
)
"""Every chat format by its name."""

_ROLES = {"system", "developer", "user", "assistant", "tool", "function"}


def chat_format(name: str) -> ChatFormat:
    """The chat format of that name. Raises UnknownFormat, with the names that there are."""
    found = CHAT_FORMATS.get(name)
    if found is None:
        raise UnknownFormat(f"There is no chat format {name!r}; the formats are {', '.join(sorted(CHAT_FORMATS))}.")
    return found


def detect(payload: object) -> ChatFormat | None:
    """The format that a message list is in, by what stands in it; None where it is no message list, or an empty one.

    Of a list in several formats it is that of the first message that tells. A list of plain user and assistant texts
    is valid in several formats. It is taken as OpenAI's: that format asks the least of a list, so that it comes back
    as it was.
    """
    if is_contents(payload):
        return _GEMINI
    if is_input(payload):
        return _RESPONSES
    listed = listed_in(payload)
    messages = listed if isinstance(listed, list) else []
    marks = [mark_of(message) for message in messages]
    plain = [message for message, mark in zip(messages, marks, strict=True) if mark is None]
    if not messages or not all(isinstance(each, dict) and _role(each) in _ROLES for each in plain):
        return None
    if found := next(filter(None, marks), None):
        return CHAT_FORMATS[found]
    if _has_system(payload):
        return _ANTHROPIC
    leanings = set(map(leaning_of, plain))
    return _ANTHROPIC if _ANTHROPIC.name in leanings and _OPENAI.name not in leanings else _OPENAI


def _role(message: dict[str, object]) -> str:
    role = message.get("role")
    return role if isinstance(role, str) else ""


def _has_system(payload: object) -> bool:
    if isinstance(payload, Payload):
        return payload.system is not None
    return isinstance(payload, dict) and payload.get("system") is not None
