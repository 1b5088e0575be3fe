"""Whatever is handed in, the framework itself loads what comes out, and finds nothing to repair in it."""

from __future__ import annotations

from hypothesis import given
from langchain_core.messages import messages_from_dict
from pydantic_ai.messages import ModelMessagesTypeAdapter, repair_messages
from tests.property.test_chat_formats import CALM, broken_lists

from ireneo.formats.chat.langchain import LangChainMessages
from ireneo.formats.chat.pydantic_ai import PydanticAIMessages
from ireneo.log.message import Draft

LANGCHAIN, PYDANTIC_AI = LangChainMessages(), PydanticAIMessages()


@CALM
@given(drafts=broken_lists)
def test_langchain_loads_what_is_encoded(drafts: list[Draft]) -> None:
    messages = LANGCHAIN.encode(drafts).messages
    assert [message.id for message in messages_from_dict(messages)] == [
        message["data"]["id"]  # type: ignore[index]
        for message in messages
    ]


@CALM
@given(drafts=broken_lists)
def test_pydantic_ai_loads_what_is_encoded_and_repairs_nothing(drafts: list[Draft]) -> None:
    history = ModelMessagesTypeAdapter.validate_python(PYDANTIC_AI.encode(drafts).messages)
    told = [part for message in history for part in message.parts]
    repaired = [part for message in repair_messages(history) for part in message.parts]
    assert len(repaired) == len(told)
