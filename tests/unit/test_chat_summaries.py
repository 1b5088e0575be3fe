"""A summary speaks in the assistant's voice only where the user has the next word."""

from __future__ import annotations

import pytest

from ireneo.formats.chat.anthropic import AnthropicMessages
from ireneo.formats.chat.format import ChatFormat
from ireneo.formats.chat.gemini import GeminiContents
from ireneo.formats.chat.openai import OpenAIChat
from ireneo.formats.chat.responses import OpenAIResponses
from ireneo.log.message import Call, Draft, Native, Result, Role, Text

OPENAI, ANTHROPIC = OpenAIChat(), AnthropicMessages()
FORMATS: list[ChatFormat] = [OPENAI, ANTHROPIC, OpenAIResponses(), GeminiContents()]
each_format = pytest.mark.parametrize("form", FORMATS, ids=[form.name for form in FORMATS])

NOTES = "(My own notes on earlier work; not a request.)\n"
BLOCK = "[SUMMARIZED] 3 calls\n## Status\nCOMPLETE"
BATCH = "[GOAL BATCH] 4 turns"


def summary(text: str = BLOCK, role: Role = "assistant") -> Draft:
    return Draft(role=role, parts=(Text(text=text),), origin="summary")


def said(role: Role, words: str) -> Draft:
    return Draft(role=role, parts=(Text(text=words),))


def voices(form: ChatFormat, drafts: list[Draft]) -> list[tuple[str, str]]:
    payload = form.encode(drafts)
    assert form.validate(payload) == []
    return [(draft.role, draft.text) for draft in form.decode(payload) if draft.text]


@each_format
@pytest.mark.parametrize("role", ["assistant", "user", "system"])
def test_before_a_user_message_it_is_the_assistants(form: ChatFormat, role: Role) -> None:
    told = voices(form, [said("user", "One"), summary(role=role), said("user", "Two")])
    assert told == [("user", "One"), ("assistant", BLOCK), ("user", "Two")]


@each_format
def test_elsewhere_it_is_the_users_and_says_whose_it_is(form: ChatFormat) -> None:
    told = voices(form, [said("user", "One"), summary(), said("assistant", "Done.")])
    assert told == [("user", "One"), ("user", NOTES + BLOCK), ("assistant", "Done.")]
    assert voices(form, [said("user", "One"), summary()])[-1] == ("user", NOTES + BLOCK)
    between = voices(form, [summary(BATCH), summary(), said("user", "Two")])
    assert between[-3:] == [("user", NOTES + BATCH), ("assistant", BLOCK), ("user", "Two")]


@each_format
def test_a_call_and_its_result_are_not_torn_apart_by_one(form: ChatFormat) -> None:
    call = Draft(role="assistant", parts=(Call(id="a", name="run", arguments={}),))
    result = Draft(role="tool", parts=(Result(call_id="a", parts=(Text(text="ok"),)),))
    payload = form.encode([said("user", "One"), call, summary(), result])
    assert form.validate(payload) == []
    assert [draft.role for draft in form.decode(payload)] == ["user", "assistant", "tool", "user"]


@each_format
def test_our_own_blocks_are_known_again_and_come_back_equal(form: ChatFormat) -> None:
    compacted = form.encode(
        [said("user", "One"), summary(BATCH), summary(), said("user", "Two"), summary(), said("assistant", "Done.")]
    )
    drafts = form.decode(compacted)
    assert [draft.origin for draft in drafts] == ["spoken", "summary", "summary", "spoken", "summary", "spoken"]
    assert form.encode(drafts) == compacted


@each_format
@pytest.mark.parametrize(
    "messages",
    [
        [("user", "One"), ("assistant", BLOCK)],
        [("user", "One"), ("assistant", BLOCK), ("assistant", "Done.")],
        [("user", "One"), ("user", NOTES + BLOCK), ("user", "Two")],
        [("user", BLOCK), ("assistant", "What is that?")],
        [("user", NOTES + "Buy milk."), ("assistant", "Bought.")],
    ],
)
def test_what_only_looks_like_one_was_said(form: ChatFormat, messages: list[tuple[str, str]]) -> None:
    listed = form.encode([said("user" if role == "user" else "assistant", words) for role, words in messages])
    drafts = form.decode(listed)
    assert {draft.origin for draft in drafts} == {"spoken"}
    assert form.encode(drafts) == listed


def test_another_tools_compaction_comes_back_as_it_was() -> None:
    native = Native(format="anthropic", payload={"role": "user", "content": "This session is continued.", "x": 1})
    theirs = Draft(role="user", parts=(Text(text="This session is continued."),), origin="summary", native=native)
    assert ANTHROPIC.encode([theirs, said("assistant", "Fine.")]).messages[0] == native.payload
    assert voices(OPENAI, [theirs, said("assistant", "Fine.")])[0] == ("user", NOTES + "This session is continued.")
