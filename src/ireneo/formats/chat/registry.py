"""The chat formats by name, and which of them a message list is in."""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType

from ireneo.errors import UnknownFormat
from ireneo.formats.chat.anthropic.chat import AnthropicMessages
from ireneo.formats.chat.format import ChatFormat, Payload
from ireneo.formats.chat.gemini.chat import GeminiContents
from ireneo.formats.chat.gemini.reader import is_contents
from ireneo.formats.chat.langchain.chat import LangChainMessages
from ireneo.formats.chat.langchain.shape import is_message as is_langchain
from ireneo.formats.chat.openai.chat import OpenAIChat
from ireneo.formats.chat.pydantic_ai.chat import PydanticAIMessages
from ireneo.formats.chat.pydantic_ai.shape import is_message as is_pydantic_ai
from ireneo.formats.chat.reading import listed_in
from ireneo.formats.chat.responses.chat import OpenAIResponses
from ireneo.formats.chat.responses.reader import is_input

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

_OPENAI_ROLES = {"system", "developer", "tool", "function"}
_OPENAI_FIELDS = {"tool_calls", "function_call", "tool_call_id"}
_OPENAI_PARTS = {"image_url", "input_audio", "file", "refusal"}
_ANTHROPIC_BLOCKS = {"tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document"}


def chat_format(name: str) -> ChatFormat:
    """The chat format of that name. Raises UnknownFormat, with the names that there are."""
    found = CHAT_FORMATS.get(name)
    if found is None:
        raise UnknownFormat(f"There is no chat format {name!r}; the formats are {', '.join(sorted(CHAT_FORMATS))}.")
    return found


def detect(payload: object) -> ChatFormat | None:
    """The format that a message list is in, by what stands in it; None where it is no message list, or an empty one.

    A list of plain user and assistant texts is valid in several formats. It is taken as OpenAI's: that format asks
    the least of a list, so that it comes back as it was.
    """
    listed = _listed(payload)
    if listed and all(map(is_langchain, listed)):
        return _LANGCHAIN
    if listed and all(map(is_pydantic_ai, listed)):
        return _PYDANTIC_AI
    if is_contents(payload):
        return _GEMINI
    if is_input(payload):
        return _RESPONSES
    messages = [message for message in listed if isinstance(message, dict)]
    if not messages or len(messages) < len(listed):
        return None
    roles = {role if isinstance(role := message.get("role"), str) else "" for message in messages}
    if not roles <= _OPENAI_ROLES | {"user", "assistant"}:
        return None
    fields = {key for message in messages for key, value in message.items() if value is not None}
    if fields & _OPENAI_FIELDS or roles & {"tool", "function"}:
        return _OPENAI
    kinds = set(_kinds(messages))
    if kinds & _ANTHROPIC_BLOCKS or any(kind.endswith(("_tool_use", "_tool_result")) for kind in kinds):
        return _ANTHROPIC
    if kinds & _OPENAI_PARTS or roles & _OPENAI_ROLES:
        return _OPENAI
    return _ANTHROPIC if _has_system(payload) else _OPENAI


def _listed(payload: object) -> list[object]:
    listed = listed_in(payload)
    return listed if isinstance(listed, list) else []


def _has_system(payload: object) -> bool:
    if isinstance(payload, Payload):
        return payload.system is not None
    return isinstance(payload, dict) and payload.get("system") is not None


def _kinds(messages: Iterable[dict[str, object]]) -> Iterable[str]:
    for message in messages:
        content = message.get("content")
        for block in content if isinstance(content, list) else ():
            kind = block.get("type") if isinstance(block, dict) else None
            if isinstance(kind, str):
                yield kind
