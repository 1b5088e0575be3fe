"""A session's tools, as an agent holds them."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel
from tests.golden.material import session as material

import ireneo
from ireneo import Session
from ireneo.engine.expand import PAGE_CHARACTERS
from ireneo.log.message import Draft, Text

TestModel.__test__ = False  # type: ignore[attr-defined]
DRAFTS = material()


@asynccontextmanager
async def living(drafts: Sequence[Draft] = DRAFTS) -> AsyncIterator[Session]:
    async with ireneo.open(":memory:") as memory:
        session = await memory.session("run")
        await session.append(drafts)
        yield session


async def block_of(session: Session) -> str:
    return next(row.id for row in (await session.context(600)).view if row.what == "summary")


async def test_they_have_names_arguments_and_words_for_a_model() -> None:
    async with living() as session:
        expand, dispute = session.tools()
        assert (expand.__name__, dispute.__name__) == ("expand", "dispute")
        assert list(inspect.signature(expand).parameters) == ["id"]
        assert list(inspect.signature(dispute).parameters) == ["id", "reason"]
        for tool in (expand, dispute):
            words = inspect.getdoc(tool) or ""
            assert "Args:" in words
            assert all(f"{name}:" in words for name in inspect.signature(tool).parameters)


async def test_expand_opens_a_block_and_a_message() -> None:
    async with living() as session:
        expand, _ = session.tools()
        block = await block_of(session)
        opened = await expand(block[:9])
        assert "pytest tests/test_importer.py" in opened
        first = (await session.messages())[0]
        assert await expand(first.id) == f"[{first.id}] user: {first.text}"


async def test_a_page_is_bounded_and_says_how_it_goes_on() -> None:
    long = [Draft(role="assistant", parts=(Text(text=f"Part {n}. " + "words " * 2_000),)) for n in range(40)]
    user = Draft(role="user", parts=(Text(text="Tell me."),))
    async with living([user, *long, user]) as session:
        expand, _ = session.tools()
        opened = await expand(await block_of(session))
        assert len(opened) < PAGE_CHARACTERS + 500
        assert "more messages; open the next one with m_" in opened
        following = opened.rpartition("open the next one with ")[2].rstrip(")")
        assert (await expand(following)).startswith(f"[{following}] assistant: Part ")


@pytest.mark.parametrize("id", ["", "s_", "s_nothere", "m_", "m_nothere", "nonsense", "s_'; --", "🙂"])
async def test_a_bad_id_gives_a_sentence(id: str) -> None:
    async with living() as session:
        for tool, given in zip(session.tools(), ((id,), (id, "It is wrong.")), strict=True):
            said = await tool(*given)
            assert isinstance(said, str)
            assert said.strip()


async def test_a_dispute_is_noted() -> None:
    async with living() as session:
        _, dispute = session.tools()
        block = await block_of(session)
        assert "Say why" in await dispute(block, " ")
        assert "shown as disputed" in await dispute(block, "It was another file.")
        shown = "\n".join(row.text for row in (await session.context(600)).view)
        assert "(disputed): It was another file." in shown


async def test_an_agent_is_shown_them_as_they_are() -> None:
    async with living() as session:
        model = TestModel(call_tools=["expand"])
        result = await Agent(model, tools=list(session.tools())).run("Look.")
        assert "There is no" in result.output
        parameters = model.last_model_request_parameters
        assert parameters is not None
        tools = {tool.name: tool for tool in parameters.function_tools}
        assert set(tools) == {"expand", "dispute"}
        assert "Open what a summary" in (tools["expand"].description or "")
        schema = tools["dispute"].parameters_json_schema
        assert schema["required"] == ["id", "reason"]
        assert "What is wrong" in schema["properties"]["reason"]["description"]


async def test_an_agent_opens_a_block_and_disputes_it() -> None:
    async with living() as session:
        block = await block_of(session)
        returned: list[str] = []

        def play(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
            parts = [part for each in messages for part in each.parts if isinstance(part, ToolReturnPart)]
            returned[:] = [str(part.content) for part in parts]
            if not parts:
                return ModelResponse(parts=[ToolCallPart("expand", {"id": block[:9]})])
            if len(parts) == 1:
                return ModelResponse(parts=[ToolCallPart("dispute", {"id": block, "reason": "It was not so."})])
            return ModelResponse(parts=[TextPart("Done.")])

        result = await Agent(FunctionModel(play), tools=list(session.tools())).run("Look at your notes.")
        assert result.output == "Done."
        assert "test_importer" in returned[0]
        assert "written again from its sources" in returned[1]
