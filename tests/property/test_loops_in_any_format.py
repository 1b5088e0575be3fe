"""A session that begins with words goes on in the messages of any provider, and nothing of them is lost."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.examples import times
from tests.property.payload_anthropic import anthropic_lists
from tests.property.payload_frameworks import langchain_lists, pydantic_ai_lists
from tests.property.payload_gemini import gemini_lists
from tests.property.payload_openai import openai_lists
from tests.property.payload_responses import responses_lists

import ireneo
from ireneo.formats.chat.format import ChatFormat, Payload
from ireneo.formats.chat.reading import unknown_block
from ireneo.log.message import Draft, Part, Thinking

CALM = settings(deadline=None, max_examples=times(4))
WORDS = "Please look into it."
LISTS: dict[str, st.SearchStrategy[Payload]] = {
    "anthropic": anthropic_lists(),
    "gemini": gemini_lists(),
    "langchain": langchain_lists(),
    "openai": openai_lists(),
    "openai-responses": responses_lists(),
    "pydantic-ai": pydantic_ai_lists(),
}
FIRST: dict[str, dict[str, object]] = {
    "gemini": {"role": "user", "parts": [{"text": WORDS}]},
    "langchain": {"type": "human", "data": {"type": "human", "content": WORDS, "id": "first"}},
    "pydantic-ai": {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": WORDS}]},
}
NO_PLACE = (
    "its thinking is left out: openai has",
    "its `name` is left out: it can't be sent in anthropic",
    "its `annotations` is left out: it can't be sent in anthropic",
)
"""What no message of these formats can have, whoever writes it."""
each_format = pytest.mark.parametrize("name", sorted(LISTS))


def parts_of(messages: Sequence[ireneo.Message | Draft]) -> list[Part]:
    return [part for message in messages for part in message.parts]


def says_nothing(message: Mapping[str, Any]) -> bool:
    """Whether it is a user's message without a word."""
    said = message.get("content") or ""
    return message.get("role") == "user" and "parts" not in message and isinstance(said, str) and not said.strip()


def shown(parts: Sequence[Part], form: ChatFormat) -> list[str]:
    """What a context must show of `parts`, in whatever order they are joined."""
    return sorted(str(part) for part in parts if form.thinking != "none" or not isinstance(part, Thinking))


async def told(name: str, appends: Sequence[object]) -> tuple[list[Part], ireneo.Context]:
    async with ireneo.open(":memory:") as memory:
        session = await memory.session("loop")
        for each in appends:
            await session.append(each)
        return parts_of(await session.messages()), await session.context(1_000_000, to=name)


@each_format
@CALM
@given(data=st.data())
def test_a_loop_that_begins_with_words_is_read_as_what_it_is(name: str, data: st.DataObject) -> None:
    form = ireneo.chat_format(name)
    messages = data.draw(LISTS[name]).messages
    first = FIRST.get(name, {"role": "user", "content": WORDS})
    assume(messages and not form.validate(Payload(messages=[first, *messages])))
    # Nothing tells whose they are; such a message is refused. So is one of a user's that says nothing, by itself.
    assume(not any(unknown_block(each) or says_nothing(each) for each in messages))
    meant = parts_of(form.decode([first, *messages]))
    for appends in ([WORDS, *messages], [[WORDS, *messages]], [WORDS, messages]):
        read, context = asyncio.run(told(name, appends))
        assert read == meant
        assert context.violations == ()
        assert all(any(each in loss.message for each in NO_PLACE) for loss in context.repaired)
        assert shown(parts_of(form.decode(context.messages)), form) == shown(meant, form)
