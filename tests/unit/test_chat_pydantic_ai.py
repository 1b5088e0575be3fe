"""Pydantic AI's history: the real library writes it, loads what comes back, and runs an agent on it."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from pydantic_ai import Agent, AgentRunResult, BinaryContent
from pydantic_ai.messages import (
    CachePoint,
    CompactionPart,
    FilePart,
    ImageUrl,
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    NativeToolCallPart,
    NativeToolReturnPart,
    RetryFeedbackPart,
    RetryInfo,
    SystemPromptPart,
    TextContent,
    TextPart,
    ThinkingPart,
    ToolAvailabilityDeltaPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
    repair_messages,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel

import ireneo
from ireneo import compact
from ireneo.errors import UnreadableLog
from ireneo.formats.chat.format import CHAT_FORMATS, Payload
from ireneo.formats.chat.pydantic_ai import PydanticAIMessages
from ireneo.log.message import Call, Draft, Media, Opaque, Part, Result, Role, Text, Thinking

FORM = PydanticAIMessages()
BLOCK = "[SUMMARIZED] 3 calls\n## Status\nCOMPLETE"
PICTURE = BinaryContent(data=b"hi", media_type="image/png")


def dumped(*messages: ModelMessage) -> list[dict[str, Any]]:
    return ModelMessagesTypeAdapter.dump_python(list(messages), mode="json")


def comes_back(*messages: ModelMessage) -> list[Draft]:
    """The drafts of a history that is valid, comes back as the same JSON, and loads as the same messages."""
    given = dumped(*messages)
    assert FORM.validate(Payload(messages=given)) == []
    drafts = FORM.decode(given)
    written = FORM.encode(drafts).messages
    assert json.dumps(written, sort_keys=True) == json.dumps(given, sort_keys=True)
    assert dumped(*ModelMessagesTypeAdapter.validate_python(written)) == given
    return drafts


def loads(drafts: list[Draft]) -> list[ModelMessage]:
    """What the library makes of the history that `drafts` become; it has nothing to repair in it."""
    payload = FORM.encode(drafts)
    assert FORM.validate(payload) == []
    return loaded(payload.messages)


def loaded(messages: list[dict[str, object]]) -> list[ModelMessage]:
    history = ModelMessagesTypeAdapter.validate_python(messages)
    told = [part for message in history for part in message.parts]
    repaired = [part for message in repair_messages(history) for part in message.parts]
    assert len(told) == len(repaired)
    assert ModelMessagesTypeAdapter.validate_json(json.dumps(messages))
    return history


def said(role: Role, *parts: Part | str) -> Draft:
    return Draft(role=role, parts=tuple(Text(text=part) if isinstance(part, str) else part for part in parts))


GO = ModelRequest(parts=[UserPromptPart("Go.")])
WORK = ModelResponse(
    parts=[
        ThinkingPart("Hm.", signature="c2ln", provider_name="anthropic", id="th"),
        TextPart("On it."),
        ToolCallPart("run", {"path": "x"}, tool_call_id="c1"),
        ToolCallPart("run", '{"path": "y"}', tool_call_id="c2"),
    ],
    model_name="some-model",
    provider_name="anthropic",
)
RESULTS = ModelRequest(
    parts=[
        ToolReturnPart("run", {"found": [1]}, tool_call_id="c1"),
        ToolReturnPart("run", "try again", tool_call_id="c2", outcome="retried"),
    ]
)
DONE = ModelResponse(parts=[TextPart("Done.")])


def test_a_history_comes_back_and_is_understood() -> None:
    opening = ModelRequest(parts=[SystemPromptPart("Be brief."), UserPromptPart("Go.")], instructions="Be kind.")
    drafts = comes_back(opening, WORK, RESULTS, DONE)
    assert [draft.role for draft in drafts] == ["system", "user", "assistant", "tool", "assistant"]
    assert [draft.text for draft in drafts[:2]] == ["Be brief.", "Go."]
    assert drafts[2].parts == (
        Thinking(text="Hm.", signature="c2ln", format="pydantic-ai"),
        Text(text="On it."),
        Call(id="c1", name="run", arguments={"path": "x"}),
        Call(id="c2", name="run", arguments={"path": "y"}),
    )
    assert drafts[3].parts == (
        Result(call_id="c1", parts=(Text(text='{"found":[1]}'),), name="run"),
        Result(call_id="c2", parts=(Text(text="try again"),), name="run", failed=True),
    )


@pytest.mark.parametrize(
    "history",
    [
        [ModelRequest(parts=[SystemPromptPart("A"), SystemPromptPart("B")]), GO],
        [GO, GO, DONE, DONE],
        [ModelRequest(parts=[UserPromptPart("A"), UserPromptPart("B")])],
        [ModelRequest(parts=[UserPromptPart("A"), SystemPromptPart("B"), UserPromptPart("C")])],
        [GO, ModelResponse(parts=[])],
        [GO, DONE, ModelRequest(parts=[])],
        [GO, WORK, ModelRequest(parts=[*RESULTS.parts, SystemPromptPart("Now."), UserPromptPart("And?")])],
        [
            GO,
            WORK,
            ModelRequest(parts=[RESULTS.parts[0], ToolAvailabilityDeltaPart(tools_added=["a"]), RESULTS.parts[1]]),
        ],
        [GO, DONE, ModelRequest(parts=[RetryFeedbackPart("No.", retry=RetryInfo(cause="model_retry"))]), DONE],
        [ModelRequest(parts=[CompactionPart("Earlier: much."), UserPromptPart("Go.")]), DONE],
        [GO, ModelResponse(parts=[CompactionPart("Much.", provider_name="anthropic"), TextPart("So.")])],
        [GO, ModelResponse(parts=[FilePart(PICTURE)])],
        [ModelRequest(parts=[UserPromptPart(["Look.", PICTURE, ImageUrl("https://example.org/a.png"), CachePoint()])])],
        [ModelRequest(parts=[UserPromptPart([TextContent("Hi.", metadata={"a": 1})])])],
    ],
)
def test_what_the_library_writes_comes_back(history: list[ModelMessage]) -> None:
    comes_back(*history)


def test_media_are_seen_in_prompts_results_and_replies() -> None:
    image = Media(media_type="image/png", data="aGk=")
    asked = ModelRequest(parts=[UserPromptPart(["Look.", PICTURE, ImageUrl("https://example.org/a.png")])])
    call = ModelResponse(parts=[ToolCallPart("view", {}, tool_call_id="c")])
    seen = ModelRequest(parts=[ToolReturnPart("view", ["here", PICTURE], tool_call_id="c")])
    drafts = comes_back(asked, call, seen, ModelResponse(parts=[FilePart(PICTURE)]))
    located = Media(media_type="image/png", url="https://example.org/a.png")
    assert drafts[0].parts == (Text(text="Look."), image, located)
    assert drafts[2].results[0].parts == (Text(text="here"), image)
    assert drafts[3].parts == (image,)
    bare = [Draft(role=draft.role, parts=draft.parts) for draft in drafts]
    prompt, _, answer, shown = (message.parts[0] for message in loads(bare))
    assert isinstance(prompt, UserPromptPart)
    assert [type(item).__name__ for item in prompt.content] == ["str", "BinaryImage", "ImageUrl"]
    assert isinstance(answer, ToolReturnPart)
    assert [file.data for file in answer.files if isinstance(file, BinaryContent)] == [PICTURE.data]
    assert isinstance(shown, FilePart)


def test_what_a_provider_ran_or_compacted_is_carried() -> None:
    made = NativeToolCallPart("web_search", {"q": 1}, tool_call_id="n", provider_name="anthropic")
    found = NativeToolReturnPart("web_search", {"a": 1}, tool_call_id="n", provider_name="anthropic")
    compacted = CompactionPart(None, provider_name="openai", id="cmp", provider_details={"encrypted_content": "e"})
    drafts = comes_back(GO, ModelResponse(parts=[compacted, made, found, TextPart("So.")]))
    assert [type(part) for part in drafts[1].parts] == [Opaque, Opaque, Opaque, Text]
    changed = Draft(role="assistant", parts=(*drafts[1].parts[:3], Text(text="Else.")))
    response = loads([drafts[0], changed])[1]
    assert response.parts == [compacted, made, found, TextPart("Else.")]


def test_a_stored_retry_answers_its_call() -> None:
    stored = {"part_kind": "retry-prompt", "content": [{"loc": ["a"], "msg": "no", "type": "x"}], "tool_name": "run"}
    call = dumped(GO, ModelResponse(parts=[ToolCallPart("run", {}, tool_call_id="c")]))
    given = [*call, {"kind": "request", "parts": [stored | {"tool_call_id": "c"}]}]
    assert FORM.validate(Payload(messages=given)) == []
    drafts = FORM.decode(given)
    assert drafts[2].results[0].failed is True
    assert FORM.encode(drafts).messages == given
    loose: dict[str, object] = {
        "kind": "request",
        "parts": [{"part_kind": "retry-prompt", "content": "Say it in JSON."}],
    }
    assert FORM.decode([loose])[0].origin == "injected"


def test_thinking_goes_back_only_in_a_response_that_is_as_it_came() -> None:
    drafts = comes_back(GO, WORK, RESULTS)
    changed = Draft(role="assistant", parts=drafts[1].parts[:1] + drafts[1].parts[2:], native=drafts[1].native)
    kept, lost = loads(drafts)[1], loads([drafts[0], changed, drafts[2]])[1]
    assert kept == WORK
    assert [type(part) for part in lost.parts] == [ToolCallPart, ToolCallPart]


def test_a_compaction_of_the_applications_is_a_summary() -> None:
    history = [ModelRequest(parts=[CompactionPart("Earlier: much."), UserPromptPart("Go.")]), DONE]
    drafts = comes_back(*history)
    assert [(draft.role, draft.origin) for draft in drafts[:2]] == [("user", "summary"), ("user", "spoken")]


def test_our_own_blocks_are_known_again_and_come_back_equal() -> None:
    summary = Draft(role="assistant", parts=(Text(text=BLOCK),), origin="summary")
    listed = [said("user", "One."), summary, said("user", "Two."), summary, said("assistant", "Done.")]
    written = FORM.encode(listed).messages
    assert [message["kind"] for message in written] == ["request", "response", "request", "request", "response"]
    drafts = FORM.decode(written)
    assert [draft.origin for draft in drafts] == ["spoken", "summary", "spoken", "summary", "spoken"]
    assert FORM.encode(drafts).messages == written


def test_the_objects_themselves_read_the_same() -> None:
    history = [GO, WORK, RESULTS, DONE]
    assert FORM.decode(history) == FORM.decode(dumped(*history))
    for listed in (history, dumped(*history), {"messages": history}):
        assert compact(listed, 10_000).format == "pydantic-ai"


class Lookalike:
    """A message of some other library."""

    kind = "request"
    parts: tuple[object, ...] = ()


@pytest.mark.parametrize(
    ("payload", "place"),
    [
        ([{"kind": "who", "parts": []}], r"message 0: its kind 'who' is unknown"),
        ([{"kind": "request", "parts": 3}], r"message 0, parts: it is a number"),
        ([{"kind": "request", "parts": [{}]}], r"message 0, part 0: it has no part_kind"),
        ([{"kind": "request", "parts": [{"part_kind": "user-prompt"}]}], r"message 0, part 0, content: it is null"),
        ([{"kind": "response", "parts": [{"part_kind": "tool-call"}]}], r"message 0, part 0, tool_name: it is null"),
        ([object()], r"message 0: it is a Python object.*ModelMessagesTypeAdapter.dump_python"),
        ([Lookalike()], r"message 0: ModelMessagesTypeAdapter can't dump it"),
    ],
)
def test_a_fault_names_its_place(payload: object, place: str) -> None:
    with pytest.raises(UnreadableLog, match=place):
        FORM.decode(payload)


def rules(*messages: ModelMessage) -> list[str]:
    return [fault.rule for fault in FORM.validate(Payload(messages=dumped(*messages)))]


def test_each_rule_finds_what_breaks_it() -> None:
    answered = ModelRequest(parts=[*RESULTS.parts, RESULTS.parts[0]])
    assert rules(DONE) == ["first-not-user"]
    assert rules(GO, WORK) == ["unanswered-call", "unanswered-call"]
    assert rules(GO, RESULTS) == ["orphaned-result", "orphaned-result"]
    assert rules(GO, WORK, answered) == ["duplicate-result"]
    assert rules(GO, WORK, GO, RESULTS) == ["result-not-next", "result-not-next"]
    assert rules(GO, WORK, ModelRequest(parts=[UserPromptPart("Wait."), *RESULTS.parts])) == ["result-not-first"]
    twice = ModelResponse(parts=[WORK.parts[2], WORK.parts[2]])
    assert "duplicate-call-id" in rules(GO, twice, RESULTS)
    wrong: list[dict[str, object]] = [{"kind": "request", "parts": [{"part_kind": "text", "content": "Hi."}]}, {"x": 1}]
    assert [fault.rule for fault in FORM.validate(Payload(messages=wrong))] == ["misplaced-part", "unknown-kind"]


def test_a_system_prompt_does_not_take_what_is_only_for_the_library_from_the_user() -> None:
    delta = {"part_kind": "tool-availability-delta", "tools_added": ["a"]}
    prompt = {"part_kind": "system-prompt", "content": "Be brief."}
    given = {"part_kind": "tool-return", "tool_name": "run", "content": "", "tool_call_id": "c1"}
    first, last = ({"kind": "request", "parts": parts} for parts in ([delta], [given, prompt]))
    drafts = FORM.decode(Payload(messages=[first, last]))
    reply = FORM.decode(Payload(messages=[{"kind": "response", "parts": [{"part_kind": "text", "content": "Yes."}]}]))
    assert FORM.validate(FORM.encode([drafts[0], drafts[-1], *reply])) == []


def test_what_a_cut_tore_apart_is_repaired() -> None:
    drafts = comes_back(GO, WORK, RESULTS, DONE)
    assert [type(part) for part in loads([drafts[0], drafts[1], drafts[3]])[2].parts] == [ToolReturnPart] * 2
    assert "no longer shown" in str(loads([drafts[0], drafts[2], drafts[3]])[1])
    assert isinstance(loads([drafts[3]])[0], ModelRequest)
    late = [drafts[0], drafts[1], said("user", "Wait."), drafts[2]]
    assert [type(part) for message in loads(late)[2:] for part in message.parts] == [
        ToolReturnPart,
        ToolReturnPart,
        UserPromptPart,
    ]


def test_a_result_names_its_tool_where_its_own_format_does_not() -> None:
    call = Call(id="c", name="run", arguments="{broken")
    told = loads([said("user", "Go."), said("assistant", call), said("tool", Result(call_id="c", parts=()))])
    assert isinstance(told[1].parts[0], ToolCallPart)
    assert told[1].parts[0].args == "{broken"
    assert isinstance(told[2].parts[0], ToolReturnPart)
    assert (told[2].parts[0].tool_name, told[2].parts[0].content) == ("run", "")


def run(agent: Agent[None, str], prompt: str | None, history: list[ModelMessage]) -> AgentRunResult[str]:
    return asyncio.run(agent.run(prompt, message_history=history))


def long_history() -> list[ModelMessage]:
    out: list[ModelMessage] = []
    for turn in range(12):
        opening = [SystemPromptPart("You are careful.")] if not turn else []
        prompt = UserPromptPart(f"Please fix file_{turn}.py, and never touch main.")
        out.append(ModelRequest(parts=[*opening, prompt], instructions="Be kind."))
        for step in range(4):
            thought = ThinkingPart("I wonder.", signature="c2ln", provider_name="anthropic")
            call = ToolCallPart("run", {"path": f"file_{turn}.py"}, tool_call_id=f"c{turn}_{step}")
            out.append(ModelResponse(parts=[thought, call], model_name="some-model"))
            shown = f"line {step} of file_{turn}\n" * 60
            out.append(ModelRequest(parts=[ToolReturnPart("run", shown, tool_call_id=f"c{turn}_{step}")]))
        out.append(ModelResponse(parts=[TextPart(f"Fixed file_{turn}.")]))
    return out


@pytest.mark.parametrize("budget", [256, 600, 2_000, 6_000, 60_000])
@pytest.mark.parametrize("left_off", [0, 1, 3])
def test_an_agent_goes_on_from_a_cut_history(budget: int, left_off: int) -> None:
    history = long_history()[: len(long_history()) - left_off]
    context = ireneo.compact(history, budget)
    assert (context.format, context.violations) == ("pydantic-ai", ())
    assert context.tokens <= budget
    cut: list[ModelMessage] = context.messages
    assert all(isinstance(message, ModelRequest | ModelResponse) for message in cut)
    whole = len(context.view) >= len(history) and all(row.what == "message" for row in context.view)
    assert ("c2ln" in str(cut)) <= whole
    seen: list[list[ModelMessage]] = []

    def answers(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        seen.append(messages)
        return ModelResponse(parts=[TextPart("It goes on.")])

    for model in (FunctionModel(answers), TestModel(custom_output_text="It goes on.")):
        result = run(Agent(model), "And now?", cut)
        assert result.output == "It goes on."
        again = ireneo.compact(result.all_messages(), budget)
        assert again.violations == ()
    (messages,) = seen
    assert str(messages[-1].parts[-1]).count("And now?") == 1
    if left_off != 0:
        # It ends on a request, and an agent goes on from it without a new prompt.
        assert isinstance(cut[-1], ModelRequest)
        assert run(Agent(FunctionModel(answers)), None, cut).output == "It goes on."


def test_an_agent_runs_on_a_history_of_every_other_format() -> None:
    drafts = FORM.decode(long_history())
    for name, other in CHAT_FORMATS.items():
        given = other.encode(drafts)
        listed: dict[str, object] = {"messages": given.messages}
        if given.system is not None:
            listed["system"] = given.system
        context = ireneo.compact(listed, 3_000, to="pydantic-ai")
        assert context.violations == (), name
        result = run(Agent(TestModel(custom_output_text="Yes.")), "Go.", loaded(context.messages))
        assert result.output == "Yes."


def test_a_session_takes_objects_and_gives_objects() -> None:
    async def told() -> list[ireneo.Context]:
        async with ireneo.open(":memory:") as memory:
            session = await memory.session("s")
            await session.append(long_history())
            await session.append("And now?")
            return [await session.context(budget) for budget in (600, 3_000)]

    for context in asyncio.run(told()):
        assert (context.format, context.violations) == ("pydantic-ai", ())
        assert isinstance(context.messages[-1], ModelRequest)
        assert "And now?" in str(context.messages[-1])
