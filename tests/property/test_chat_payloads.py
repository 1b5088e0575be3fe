"""Lists as providers write them, in all their spellings, come back equal."""

from __future__ import annotations

import json

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.examples import times
from tests.property.payload_anthropic import anthropic_lists
from tests.property.payload_frameworks import langchain_lists, pydantic_ai_lists
from tests.property.payload_gemini import gemini_lists
from tests.property.payload_openai import openai_lists
from tests.property.payload_responses import responses_lists

from ireneo.formats.chat.anthropic import AnthropicMessages
from ireneo.formats.chat.format import ChatFormat, Payload
from ireneo.formats.chat.gemini import GeminiContents
from ireneo.formats.chat.langchain import LangChainMessages
from ireneo.formats.chat.openai import OpenAIChat
from ireneo.formats.chat.pydantic_ai import PydanticAIMessages
from ireneo.formats.chat.responses import OpenAIResponses

CALM = settings(deadline=None, max_examples=times(11))

FORMATS: list[ChatFormat] = [
    OpenAIChat(),
    AnthropicMessages(),
    LangChainMessages(),
    PydanticAIMessages(),
    OpenAIResponses(),
    GeminiContents(),
]
LISTS = [
    openai_lists(),
    anthropic_lists(),
    langchain_lists(),
    pydantic_ai_lists(),
    responses_lists(),
    gemini_lists(),
]
each_format = pytest.mark.parametrize(
    ("form", "lists"), list(zip(FORMATS, LISTS, strict=True)), ids=[form.name for form in FORMATS]
)


@each_format
@CALM
@given(data=st.data())
def test_a_valid_list_comes_back_equal_and_every_cut_of_any_is_valid_in_every_format(
    form: ChatFormat, lists: st.SearchStrategy[Payload], data: st.DataObject
) -> None:
    payload = data.draw(lists)
    drafts = form.decode(payload)
    kept = data.draw(st.lists(st.booleans(), min_size=len(drafts), max_size=len(drafts)))
    cut = [draft for draft, stays in zip(drafts, kept, strict=True) if stays]
    for target in FORMATS:
        assert target.validate(target.encode(cut)) == []
    assume(not form.validate(payload))
    back = form.encode(drafts)
    # Compared as text: in Python, though not in JSON, 1 equals true.
    written = [json.dumps([each.system, each.messages], sort_keys=True) for each in (payload, back)]
    assert written[0] == written[1]
    assert form.decode(back) == drafts
