"""The chat formats by name, and which of them a message list is in."""

from __future__ import annotations

from types import MappingProxyType

from ireneo.errors import UnknownFormat
from ireneo.formats.chat.anthropic.chat import AnthropicMessages
from ireneo.formats.chat.format import ChatFormat, Payload
from ireneo.formats.chat.gemini.chat import GeminiContents
from ireneo.formats.chat.gemini.reader import is_contents
from ireneo.formats.chat.langchain.chat import LangChainMessages
from ireneo.formats.chat.marks import leaning_of, mark_of
from ireneo.formats.chat.openai.chat import OpenAIChat
from ireneo.formats.chat.pydantic_ai.chat import PydanticAIMessages
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
