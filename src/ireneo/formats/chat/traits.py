"""Traits of each chat format that are known before its module is loaded: its place, and how its messages are passed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple


class FormatTraits(NamedTuple):
    """The traits of a format that are known before it is loaded."""

    home: str
    """Its module, and the class there."""
    listed: str = "messages"
    """The key of the messages in a request."""
    prompts: tuple[str, ...] = ()
    """The keys of the system prompt that only this format's requests have; we write the first."""
    in_parts: bool = False
    """Whether a message's text is in a list of parts."""
    framework: bool = False
    """Whether its messages are a framework's, with a field for a time and more than a role and a text."""
    loader: str = ""
    """The module and function that load messages as objects of a library, if there is one."""


TRAITS: Final[Mapping[str, FormatTraits]] = {
    "anthropic": FormatTraits("anthropic.AnthropicMessages", prompts=("system",)),
    "gemini": FormatTraits(
        "gemini.GeminiContents",
        listed="contents",
        prompts=("systemInstruction", "system_instruction"),
        in_parts=True,
        loader="google.genai.types Content",
    ),
    "langchain": FormatTraits(
        "langchain.LangChainMessages", framework=True, loader="langchain_core.messages messages_from_dict"
    ),
    "openai": FormatTraits("openai.OpenAIChat"),
    "pydantic-ai": FormatTraits(
        "pydantic_ai.PydanticAIMessages", framework=True, loader="pydantic_ai.messages ModelMessagesTypeAdapter"
    ),
    "openai-responses": FormatTraits("responses.OpenAIResponses", listed="input", prompts=("instructions",)),
}
"""Every format by its name, for code that must work without loading a format."""
