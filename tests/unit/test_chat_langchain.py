"""LangChain messages: the real library writes them, and loads what comes back."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
    get_notification_metadata,
    messages_from_dict,
    messages_to_dict,
)

import ireneo
from ireneo import compact
from ireneo.errors import UnreadableLog
from ireneo.formats.chat.format import Payload
from ireneo.formats.chat.langchain import LangChainMessages
from ireneo.log.message import Call, Draft, Media, Native, Opaque, Part, Result, Role, Text, Thinking

FORM = LangChainMessages()
BLOCK = "[SUMMARIZED] 3 calls\n## Status\nCOMPLETE"


def call(name: str, **args: object) -> dict[str, Any]:
    return {"name": "run", "args": args, "id": name, "type": "tool_call"}


def dumped(*messages: BaseMessage) -> list[dict[str, Any]]:
    return messages_to_dict(messages)


def comes_back(*messages: BaseMessage) -> list[Draft]:
    """The drafts of a list that is valid, comes back as the same JSON, and loads as the same messages."""
    given = dumped(*messages)
    assert FORM.validate(Payload(messages=given)) == []
    drafts = FORM.decode(given)
    written = FORM.encode(drafts).messages
    assert written == given
    assert messages_from_dict(written) == list(messages)
    return drafts


def loads(drafts: list[Draft]) -> list[BaseMessage]:
    """What the library makes of the list that `drafts` become."""
    payload = FORM.encode(drafts)
    assert FORM.validate(payload) == []
    loaded = messages_from_dict(payload.messages)
    assert messages_to_dict(loaded) == payload.messages
    return loaded


def said(role: Role, *parts: Part | str, source_id: str | None = None) -> Draft:
    shown = tuple(Text(text=part) if isinstance(part, str) else part for part in parts)
    return Draft(role=role, parts=shown, source_id=source_id)


def history() -> list[BaseMessage]:
    return [
        SystemMessage("Be brief.", id="s"),
        HumanMessage("Go.", id="h"),
        AIMessage("On it.", id="a", tool_calls=[call("c1", path="x"), call("c2")]),
        ToolMessage("fine", tool_call_id="c1", id="t1", name="run"),
        ToolMessage("broken", tool_call_id="c2", id="t2", status="error"),
        AIMessage("Done.", id="b"),
    ]


def test_a_history_comes_back_and_is_understood() -> None:
    drafts = comes_back(*history())
    assert [draft.role for draft in drafts] == ["system", "user", "assistant", "tool", "tool", "assistant"]
    assert drafts[2].calls == (
        Call(id="c1", name="run", arguments={"path": "x"}),
        Call(id="c2", name="run", arguments={}),
    )
    assert drafts[3].results == (Result(call_id="c1", parts=(Text(text="fine"),), name="run"),)
    assert drafts[4].results == (Result(call_id="c2", parts=(Text(text="broken"),), failed=True),)
    assert [draft.source_id for draft in drafts] == ["s", "h", "a", "t1", "t2", "b"]
    # What every message has says nothing that the parts don't.
    assert not any(draft.native for draft in drafts)


@pytest.mark.parametrize(
    "message",
    [
        HumanMessage("Hi.", id="x", name="Ada"),
        HumanMessage(["Hi.", {"type": "text", "text": "You."}], id="x"),
        HumanMessage([{"type": "image", "base64": "aGk=", "mime_type": "image/png"}], id="x"),
        HumanMessage([{"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}], id="x"),
        HumanMessage([{"type": "file", "file_id": "f"}, {"type": "non_standard", "value": {"a": 1}}], id="x"),
        ChatMessage("Hi.", role="critic", id="x"),
        HumanMessage("Hi.", id="x", cache="yes"),
    ],
)
def test_a_users_message_comes_back_in_all_its_spellings(message: HumanMessage) -> None:
    comes_back(message)


def test_media_are_seen_in_every_spelling() -> None:
    block = [
        {"type": "image", "base64": "aGk=", "mime_type": "image/png"},
        {"type": "image", "source_type": "base64", "data": "aGk=", "mime_type": "image/png"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
        {"type": "audio", "url": "https://example.org/a.wav", "mime_type": "audio/wav"},
    ]
    (draft,) = comes_back(HumanMessage(block, id="x"))
    assert draft.parts[:4] == (Media(media_type="image/png", data="aGk="),) * 4
    assert draft.parts[4] == Media(media_type="audio/wav", url="https://example.org/a.wav")


def test_a_reply_keeps_all_that_its_provider_said() -> None:
    reply = AIMessage(
        [
            {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
            {"type": "text", "text": "Look.", "annotations": []},
            {"type": "tool_use", "id": "c1", "name": "run", "input": {"path": "x"}},
        ],
        id="a",
        tool_calls=[call("c1", path="x")],
        usage_metadata={"input_tokens": 1, "output_tokens": 2, "total_tokens": 3},
        response_metadata={"model_provider": "anthropic", "stop_reason": "tool_use"},
    )
    drafts = comes_back(HumanMessage("Go.", id="h"), reply, ToolMessage("ok", tool_call_id="c1", id="t", artifact=[1]))
    assert drafts[1].parts == (
        Thinking(text="Hm.", signature="c2ln", format="langchain"),
        Text(text="Look."),
        Call(id="c1", name="run", arguments={"path": "x"}),
    )


@pytest.mark.parametrize(
    ("block", "thinking"),
    [
        ({"type": "reasoning", "reasoning": "Hm."}, Thinking(text="Hm.")),
        (
            {"type": "reasoning", "reasoning": "Hm.", "extras": {"signature": "s"}},
            Thinking(text="Hm.", signature="s", format="langchain"),
        ),
        (
            {
                "type": "reasoning",
                "id": "rs",
                "summary": [{"type": "summary_text", "text": "Hm."}],
                "encrypted_content": "e",
            },
            Thinking(text="Hm.", sealed="e", format="langchain"),
        ),
        ({"type": "redacted_thinking", "data": "e"}, Thinking(sealed="e", format="langchain")),
        (
            {"type": "reasoning_content", "reasoning_content": {"text": "Hm.", "signature": "s"}},
            Thinking(text="Hm.", signature="s", format="langchain"),
        ),
    ],
)
def test_thinking_is_known_in_each_providers_spelling(block: dict[str, Any], thinking: Thinking) -> None:
    drafts = comes_back(HumanMessage("Go.", id="h"), AIMessage([block, {"type": "text", "text": "So."}], id="a"))
    assert drafts[1].parts == (thinking, Text(text="So."))


def test_thinking_goes_back_only_in_a_message_that_is_as_it_came() -> None:
    reply = AIMessage(
        [{"type": "thinking", "thinking": "Hm.", "signature": "s"}, {"type": "text", "text": "So."}], id="a"
    )
    opening, draft = comes_back(HumanMessage("Go.", id="h"), reply)
    changed = Draft(role="assistant", parts=(draft.parts[0], Text(text="Else.")), source_id="a", native=draft.native)
    assert loads([opening, draft])[1] == reply
    assert loads([opening, changed])[1] == AIMessage("Else.", id="a")


def test_standard_blocks_of_version_1_come_back() -> None:
    reply = AIMessage(
        content_blocks=[
            {"type": "reasoning", "reasoning": "Hm."},
            {"type": "text", "text": "Look."},
            {"type": "server_tool_call", "id": "s", "name": "web_search", "args": {"query": "x"}},
            {"type": "server_tool_result", "tool_call_id": "s", "status": "success", "output": {"found": 1}},
            {"type": "tool_call", "id": "c1", "name": "run", "args": {}},
        ],
        id="a",
        response_metadata={"output_version": "v1"},
    )
    drafts = comes_back(HumanMessage("Go.", id="h"), reply, ToolMessage("ok", tool_call_id="c1", id="t"))
    kinds = [type(part) for part in drafts[1].parts]
    assert kinds == [Thinking, Text, Opaque, Opaque, Call]


def test_calls_that_could_not_be_read_are_calls_with_the_models_own_words() -> None:
    broken = {"name": "run", "args": "{", "id": "c2", "error": "cut off", "type": "invalid_tool_call"}
    reply = AIMessage("", id="a", tool_calls=[call("c1")], invalid_tool_calls=[broken])
    answers = [ToolMessage("ok", tool_call_id="c1", id="t1"), ToolMessage("what?", tool_call_id="c2", id="t2")]
    drafts = comes_back(HumanMessage("Go.", id="h"), reply, *answers)
    assert drafts[1].calls[1] == Call(id="c2", name="run", arguments="{")
    alone = [said("user", "Go."), said("assistant", drafts[1].calls[1])]
    loaded = loads(alone)[1]
    assert isinstance(loaded, AIMessage)
    assert loaded.invalid_tool_calls[0]["args"] == "{"


def test_the_older_call_answers_to_its_functions_name() -> None:
    old = AIMessage("", id="a", additional_kwargs={"function_call": {"name": "run", "arguments": "{}"}})
    drafts = comes_back(HumanMessage("Go.", id="h"), old, FunctionMessage("ok", name="run", id="f"))
    assert drafts[1].calls == (Call(id="function_call:run", name="run", arguments={}),)
    assert drafts[2].results[0].call_id == "function_call:run"
    built = loads([said("user", "Go."), said("assistant", *drafts[1].calls), said("tool", *drafts[2].results)])
    assert built[1].additional_kwargs == old.additional_kwargs
    assert isinstance(built[2], FunctionMessage)


def test_calls_that_stand_only_as_the_provider_wrote_them_are_found() -> None:
    raw = {"tool_calls": [{"id": "c1", "type": "function", "function": {"name": "run", "arguments": '{"a":1}'}}]}
    given = {"type": "ai", "data": {"content": "", "id": "a", "additional_kwargs": raw}}
    drafts = FORM.decode([given])
    assert drafts[0].calls == (Call(id="c1", name="run", arguments={"a": 1}),)
    assert FORM.validate(Payload(messages=[given]))[-1].rule == "unanswered-call"


def test_a_streamed_message_comes_back_as_one() -> None:
    chunk = AIMessageChunk(
        "On it.", id="a", tool_call_chunks=[{"name": "run", "args": '{"a": 1}', "id": "c1", "index": 0}]
    )
    drafts = comes_back(HumanMessage("Go.", id="h"), chunk, ToolMessage("ok", tool_call_id="c1", id="t"))
    assert drafts[1].calls == (Call(id="c1", name="run", arguments={"a": 1}),)
    loose = {"name": "run", "args": '{"a": 1}', "id": "c1", "index": 0, "type": "tool_call_chunk"}
    given = {"type": "AIMessageChunk", "data": {"content": "", "tool_call_chunks": [loose]}}
    assert FORM.decode([given])[0].calls == drafts[1].calls


def test_a_removal_is_carried() -> None:
    drafts = comes_back(HumanMessage("Go.", id="h"), AIMessage("Fine.", id="a"), RemoveMessage(id="h"))
    assert drafts[2].origin == "injected"
    with pytest.raises(UnreadableLog, match=r"message 0: it names no message to remove"):
        FORM.decode([{"type": "remove", "data": {"content": ""}}])


def test_a_flat_dump_and_the_objects_themselves_read_the_same() -> None:
    nested = FORM.decode(dumped(*history()))
    assert FORM.decode([message.model_dump() for message in history()]) == nested
    assert FORM.decode(history()) == nested
    assert FORM.decode({"messages": history()}) == nested


def test_what_a_tool_hands_to_the_program_need_not_be_json() -> None:
    message = ToolMessage("a table", tool_call_id="c1", id="t", artifact=object())
    (draft,) = FORM.decode([message])
    assert draft.results[0].text == "a table"


@pytest.mark.parametrize(
    "listed",
    [
        dumped(*history()),
        [message.model_dump() for message in history()],
        history(),
        {"messages": history()},
        dumped(RemoveMessage(id="x"), AIMessageChunk("x")),
    ],
)
def test_each_shape_is_told_by_what_stands_in_it(listed: object) -> None:
    assert compact(listed, 10_000).format == "langchain"


@pytest.mark.parametrize(
    ("payload", "place"),
    [
        ([{"type": "who", "data": {}}], r"message 0: its type 'who' is unknown"),
        ([{"type": "human", "data": 3}], r"message 0, data: it is a number, not an object"),
        ([{"type": "human", "data": {"content": 3}}], r"message 0, content: it is a number"),
        ([{"type": "human", "data": {"content": [3]}}], r"message 0, block 0: it is a number"),
        ([{"type": "ai", "data": {"content": "", "tool_calls": [{"name": "a", "args": 1}]}}], r"tool call 0, args"),
        ([object()], r"message 0: it is a Python object, neither an object nor a message of LangChain"),
    ],
)
def test_a_fault_names_its_place(payload: object, place: str) -> None:
    with pytest.raises(UnreadableLog, match=place):
        FORM.decode(payload)


def rules(*messages: BaseMessage) -> list[str]:
    return [fault.rule for fault in FORM.validate(Payload(messages=dumped(*messages)))]


def test_each_rule_finds_what_breaks_it() -> None:
    go = HumanMessage("Go.", id="h")
    calls = AIMessage("", id="a", tool_calls=[call("c1")])
    answer = ToolMessage("ok", tool_call_id="c1", id="t")
    assert rules(HumanMessage("Go.")) == ["missing-id"]
    assert rules(go, go) == ["duplicate-id"]
    assert rules(AIMessage("Hi.", id="a")) == ["first-not-user"]
    assert rules(go, SystemMessage("Be brief.", id="s")) == ["system-not-first"]
    assert rules(go, calls) == ["unanswered-call"]
    assert rules(go, answer) == ["orphaned-result"]
    assert rules(go, calls, answer, answer.model_copy(update={"id": "t2"})) == ["duplicate-result"]
    assert rules(go, calls, HumanMessage("Wait.", id="w"), answer) == ["result-not-next"]
    wrong = [{"type": "human", "data": {"type": "ai", "content": "Hi.", "id": "h", "response_metadata": []}}]
    assert [fault.rule for fault in FORM.validate(Payload(messages=wrong))] == ["unknown-type", "misfit"]


def test_ids_are_given_where_they_lack_and_are_the_same_each_time() -> None:
    drafts = [
        said("user", "Go."),
        said("assistant", "Yes.", source_id="a"),
        said("user", "Go."),
        said("user", "x", source_id="a"),
    ]
    ids = [message.id for message in loads(drafts)]
    assert ids == [message.id for message in loads(drafts)]
    assert len(set(ids)) == 4
    assert ids[1] == "a"
    kept = FORM.decode([{"type": "human", "data": {"content": "Hi.", "extra": 1}}])
    (message,) = messages_from_dict(FORM.encode(kept).messages)
    assert message.model_dump()["extra"] == 1
    assert str(message.id).startswith("msg_")


def test_systems_further_on_are_told_in_the_users_place() -> None:
    told = loads([said("system", "A"), said("system", "B"), said("user", "Go."), said("system", "C")])
    assert [(message.type, message.content) for message in told] == [
        ("system", "A\n\nB"),
        ("human", "Go."),
        ("human", "[system] C"),
    ]


def test_a_summary_is_marked_as_langchain_marks_its_own() -> None:
    summary = Draft(role="assistant", parts=(Text(text=BLOCK),), origin="summary")
    listed = [said("user", "One."), summary, said("user", "Two."), summary, said("assistant", "Done.")]
    told = loads(listed)
    assert [message.type for message in told] == ["human", "ai", "human", "human", "ai"]
    for message in (told[1], told[3]):
        metadata = get_notification_metadata(message)
        assert metadata is not None
        assert metadata["source"] == "summarization"
    drafts = FORM.decode(told)
    assert [draft.origin for draft in drafts] == ["spoken", "summary", "spoken", "summary", "spoken"]
    assert FORM.encode(drafts).messages == dumped(*told)


def test_a_summary_of_langchains_own_is_known_and_comes_back() -> None:
    theirs = HumanMessage("Here is a summary.", id="x", additional_kwargs={"lc_source": "summarization"})
    drafts = comes_back(theirs, HumanMessage("Go.", id="h"), AIMessage("Yes.", id="a"))
    assert drafts[0].origin == "summary"
    notice = HumanMessage("A task has ended.", id="n", additional_kwargs={"lc_source": "async_subagent"})
    assert comes_back(notice)[0].origin == "injected"


def test_a_foreign_native_is_not_taken_for_one_of_this_format() -> None:
    native = Native(format="langchain", payload={"type": "human", "data": {"content": "Else.", "id": "x"}})
    (message,) = loads([Draft(role="user", parts=(Text(text="Hi."),), native=native)])
    assert message.content == "Hi."


def long_history() -> list[BaseMessage]:
    out: list[BaseMessage] = [SystemMessage("You are careful.", id="s")]
    for turn in range(12):
        out.append(HumanMessage(f"Please fix file_{turn}.py, and never touch main.", id=f"h{turn}"))
        for step in range(4):
            name = f"c{turn}_{step}"
            thought = {"type": "thinking", "thinking": "I wonder.", "signature": "c2ln"}
            reply = [thought, {"type": "tool_use", "id": name, "name": "run", "input": {"path": f"file_{turn}.py"}}]
            out.append(AIMessage(reply, id=f"a{name}", tool_calls=[call(name, path=f"file_{turn}.py")]))
            out.append(ToolMessage(f"line {step} of file_{turn}\n" * 60, tool_call_id=name, id=f"t{name}"))
        out.append(AIMessage(f"Fixed file_{turn}.", id=f"b{turn}"))
    return out


@pytest.mark.parametrize("budget", [256, 600, 2_000, 6_000, 60_000])
def test_a_cut_list_of_objects_is_one_of_objects(budget: int) -> None:
    context = ireneo.compact(long_history(), budget)
    assert context.format == "langchain"
    assert context.violations == ()
    assert context.tokens <= budget
    assert all(isinstance(message, BaseMessage) for message in context.messages)
    assert messages_from_dict(messages_to_dict(context.messages)) == context.messages
    as_json = ireneo.compact(dumped(*long_history()), budget)
    assert as_json.messages == messages_to_dict(context.messages)
    again = ireneo.compact(context.messages, budget)
    assert again.violations == ()
    # Signed thinking may stand only where nothing before it was changed.
    whole = len(context.view) == len(long_history()) and all(row.what == "message" for row in context.view)
    assert ("signature" in str(context.messages)) <= whole


def test_a_session_takes_objects_and_gives_objects() -> None:
    async def told() -> list[ireneo.Context]:
        async with ireneo.open(":memory:") as memory:
            session = await memory.session("s")
            await session.append(long_history())
            await session.append("And now?")
            return [await session.context(budget) for budget in (600, 3_000)]

    for context in asyncio.run(told()):
        assert (context.format, context.violations) == ("langchain", ())
        assert isinstance(context.messages[-1], HumanMessage)
        assert context.messages[-1].content == "And now?"
