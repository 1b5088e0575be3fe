"""What is known of each chat format before it is loaded: where it is, and how its messages are handed in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple


class FormatTraits(NamedTuple):
    """What is known of a format before it is loaded."""

    home: str
    """The module and the class in it."""
    listed: str = "messages"
    """The key of the messages in a request."""
    prompts: tuple[str, ...] = ()
    """The keys of the system prompt in a request that no other format has; the first is that which we write."""
    in_parts: bool = False
    """A message's text stands in a list of parts."""
    framework: bool = False
    """Its messages are a framework's: they have a field for a time, and none is a role and a text alone."""
    loader: str = ""
    """The module and the name in it that load messages as objects of a library, if there are any."""


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
"""Every format by its name. Whatever reads or writes without a format's own code asks here."""
