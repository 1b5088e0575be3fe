"""What a caller hands in as a message, and what is made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from ireneo.formats.chat.origins import origin_of
from ireneo.formats.chat.registry import chat_format, detect
from ireneo.formats.chat.times import with_times
from ireneo.log.message import Draft, Text

Given: TypeAlias = "Draft | Mapping[str, object] | str | object"
"""A message as a caller has it: a provider's dictionary, a framework's object, a draft, or the words of the user."""

DEFAULT_FORMAT = "openai"


def decode_given(given: Sequence[Given], format: str | None) -> tuple[list[Draft], str]:
    """Decode what a caller handed in; the words of a user stand for a user message."""
    listed = [dict(each) if isinstance(each, Mapping) else each for each in given if not isinstance(each, Draft | str)]
    chat = chat_format(format) if format else detect(listed) or chat_format(DEFAULT_FORMAT)
    if len(listed) == len(given):
        return with_times(chat.decode(listed), listed, chat.decode), chat.name
    drafts: list[Draft] = []
    for each in given:
        if isinstance(each, Draft):
            drafts.append(each)
        elif isinstance(each, str):
            words = (Text(text=each),)
            drafts.append(Draft(role="user", parts=words, origin=origin_of(words)))
        else:
            one: list[object] = [dict(each) if isinstance(each, Mapping) else each]
            drafts += with_times(chat.decode(one), one, chat.decode)
    return drafts, chat.name
