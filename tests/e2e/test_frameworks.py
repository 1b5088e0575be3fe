"""The guide to frameworks is right: its code is run for many steps, with models from a script."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

import ireneo

GUIDES = Path(__file__).parents[2] / "docs" / "guides"


def blocks(guide: str, language: str = "") -> list[str]:
    """The code of a guide that is marked with a language."""
    text = (GUIDES / guide).read_text(encoding="utf-8")
    found = re.findall(r"^```(\w*)\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    return [code for marked, code in found if marked == language]


def steps_of(budget: int) -> tuple[dict[str, Callable[..., Awaitable[str]]], dict[str, Callable[..., Awaitable[str]]]]:
    """The code of the guide to frameworks, with a budget that a run of some steps goes beyond: what each defines."""
    spaces: list[dict[str, Callable[..., Awaitable[str]]]] = []
    for code in blocks("frameworks.md", "python"):
        space: dict[str, Callable[..., Awaitable[str]]] = {}
        exec(compile(code.replace("32_000", str(budget)), "frameworks.md", "exec", dont_inherit=True), space)
        spaces.append(space)
    pydantic_ai, langchain = spaces
    return pydantic_ai, langchain


STEPS = 22


def read(path: str) -> str:
    """Read a file."""
    return "\n".join(f"value_{line} == {line * 7} in {path}" for line in range(60))


async def log_of(name: str) -> tuple[list[str], list[str], int, list[str]]:
    """The roles and the texts of a session's path, what stands on no branch, and what the doctor says."""
    async with ireneo.open("memory.db") as memory:
        session = await memory.session(name)
        messages = await session.messages()
        assert list(await session.branches()) == ["main"]
        told = [str(message.parts) for message in messages]
        loose = (await session.prune(dry_run=True)).messages
        found = [finding.text for finding in await memory.doctor()]
        return [message.role for message in messages], told, loose, found


def holds_the_run(name: str) -> None:
    """Whether a session holds a run of so many steps once, and nothing of what its contexts showed."""
    roles, told, loose, found = asyncio.run(log_of(name))
    assert roles == ["user", *["assistant", "tool"] * STEPS, "assistant"]
    assert [f"step {number}:" for number in range(STEPS)] == [
        f"step {number}:" for number in range(STEPS) if f"step {number}:" in told[1 + 2 * number]
    ]
    assert not [text for text in told if " · open with " in text or "[SUMMARIZED]" in text]
    assert loose == 0
    assert not [text for text in found if "abandoned" in text]


@pytest.mark.parametrize("budget", [900, 3_000, 100_000])
def test_the_seat_in_pydantic_ai_stores_a_long_run_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, budget: int
) -> None:
    from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel

    monkeypatch.chdir(tmp_path)
    space, _ = steps_of(budget)
    seen: list[str] = []

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        step = len(seen)
        seen.append(str(messages))
        if step == STEPS:
            return ModelResponse(parts=[TextPart("It keeps time now.")])
        path = f"src/kestrel/part_{step}.py"
        said = TextPart(f"step {step}: I look at {path}.")
        return ModelResponse(parts=[said, ToolCallPart("read", {"path": path}, tool_call_id=f"c{step}")])

    question = "Find why the beat drifts. Never push to main."
    assert asyncio.run(space["answer"](question, FunctionModel(model), [read])) == "It keeps time now."
    assert any(" · open with s_" in said for said in seen) == (budget < 100_000)
    assert budget < 1_000 or all(question in said for said in seen)
    holds_the_run("monday")


@pytest.mark.parametrize("budget", [900, 3_000, 100_000])
def test_the_seat_in_langchain_stores_a_long_run_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, budget: int
) -> None:
    from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
    from langchain_core.tools import tool

    monkeypatch.chdir(tmp_path)
    _, space = steps_of(budget)
    seen: list[str] = []

    class Model:
        async def ainvoke(self, messages: list[BaseMessage]) -> AIMessage:
            step = len(seen)
            seen.append(str(messages))
            if step == STEPS:
                return AIMessage("It keeps time now.")
            call = {"name": "read", "args": {"path": f"src/kestrel/part_{step}.py"}, "id": f"c{step}"}
            return AIMessage(f"step {step}: I look at {call['args']}.", tool_calls=[call])

    question = HumanMessage("Find why the beat drifts. Never push to main.")
    assert asyncio.run(space["answer"](question, Model(), {"read": tool(read)})) == "It keeps time now."
    assert any(" · open with s_" in said for said in seen) == (budget < 100_000)
    holds_the_run("tuesday")
