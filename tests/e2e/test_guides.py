"""The guides are right: their commands run, their hooks answer, and their loop is run with a model from a script."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from tests.agent_log import LOST, MADE, MOON, claude_log
from tests.e2e.test_cli_command import run

import ireneo

GUIDES = Path(__file__).parents[2] / "docs" / "guides"
Said = dict[str, object]


def blocks(guide: str, language: str = "") -> list[str]:
    """The code of a guide that is marked with a language."""
    text = (GUIDES / guide).read_text(encoding="utf-8")
    found = re.findall(r"^```(\w*)\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    return [code for marked, code in found if marked == language]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with runs of Claude Code in it."""
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / ".claude" / "projects" / "-srv-kestrel"
    folder.mkdir(parents=True)
    (tmp_path / ".ireneo").mkdir()
    for day in range(3):
        told = claude_log(f"harbour-{day}", [LOST, LOST, MOON, MADE], day=day, cwd="/srv/kestrel")
        (folder / f"{day}.jsonl").write_text(told, encoding="utf-8")
    return tmp_path


def ran(line: str, home: Path, given: bytes = b"") -> str:
    """What a command of a guide writes, with the database that the guide sets up."""
    words = [str(Path(word).expanduser()) if word.startswith("~") else word for word in shlex.split(line)]
    assert words[0] == "ireneo"
    done = run(*words[1:], cwd=home, db=home / ".ireneo" / "memory.db", given=given)
    return done.stdout + done.stderr


def test_what_the_guide_to_claude_code_says_works(home: Path) -> None:
    lines = [line for block in blocks("claude-code.md") for line in block.splitlines()]
    commands = [line for line in lines if line.startswith("ireneo ")]
    said = {line: ran(line, home) for line in commands}
    assert "3 runs: 6 of 12 calls failed" in said["ireneo learn ~/.claude/projects"]
    assert "run `make moon` first" in " ".join(said["ireneo lessons"].split())
    assert "Made CLAUDE.md" in said["ireneo lessons --project kestrel --confidence high --export CLAUDE.md"]
    text = (GUIDES / "claude-code.md").read_text(encoding="utf-8")
    assert "`ireneo report --out report.html`" in text
    assert "3 runs" in ran("ireneo report --out report.html", home)
    assert "`ireneo forget --memory ID`" in text
    lesson = json.loads(ran("ireneo lessons --json", home))[0]["id"]
    ran(f"ireneo forget --memory {lesson} --yes", home)
    assert lesson not in ran("ireneo lessons --json", home)


def test_its_hooks_answer_as_claude_code_asks(home: Path) -> None:
    (settings,) = (json.loads(block) for block in blocks("claude-code.md", "json"))
    (ended,), (before,) = settings["hooks"]["SessionEnd"], settings["hooks"]["PreToolUse"]
    assert "3 runs: " in ran(ended["hooks"][0]["command"], home)
    assert re.fullmatch(before["matcher"], "Bash")
    log = home / "now.jsonl"
    log.write_text(claude_log("now", [LOST], cwd="/srv/kestrel"), encoding="utf-8")
    asked = {
        "session_id": "now",
        "transcript_path": str(log),
        "cwd": "/srv/kestrel",
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "make tide"},
    }
    told = json.loads(ran(before["hooks"][0]["command"], home, json.dumps(asked).encode()))
    assert "nothing was changed since" in told["hookSpecificOutput"]["additionalContext"]
    assert (
        ran(before["hooks"][0]["command"], home, json.dumps({**asked, "tool_input": {"command": "ls"}}).encode()) == ""
    )


def call(number: int, command: str) -> Said:
    given = json.dumps({"command": command})
    function = {"name": "bash", "arguments": given}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": f"c{number}", "type": "function", "function": function}],
    }


def test_the_loop_written_by_hand_learns_and_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    space: dict[str, Callable[..., Awaitable[str]]] = {}
    (code,) = blocks("hand-written-loop.md", "python")
    exec(compile(code, "hand-written-loop.md", "exec"), space)
    seen: list[list[Said]] = []

    def script(*replies: Said) -> Callable[[list[Said]], Awaitable[Said]]:
        left = list(replies)

        async def model(messages: list[Said]) -> Said:
            seen.append(messages)
            return left.pop(0)

        return model

    up: list[str] = []

    async def bash(command: str) -> str:
        up.append(command)
        if command == "make tide" and "make moon" not in up:
            return "Exit code 2\n" + "make: tide table not found, run make moon first\n" * 80
        return "written"

    def went(name: str, *replies: Said) -> str:
        up.clear()
        end: Said = {"role": "assistant", "content": "It is printed."}
        goal = "Print the tide table"
        return asyncio.run(space["run"](name, goal, script(*replies, end), {"bash": bash}))  # type: ignore[arg-type]

    way = [call(0, "make tide"), call(1, "make tide"), call(2, "make moon"), call(3, "make tide")]
    assert went("monday", *way) == "It is printed."
    assert "new lessons from 4 calls" in capsys.readouterr().out
    assert "Likely to fail" in json.dumps(seen[2]), (
        "told with the answer to the second try, which nothing had changed for"
    )
    assert "Likely to fail" not in json.dumps(seen[1])
    went("tuesday", call(0, "make moon"), call(1, "make tide"))
    assert "run `make moon` first" in json.dumps(seen[5], ensure_ascii=False), "the brief of the next run says it"

    async def taught() -> list[str]:
        async with ireneo.open("memory.db") as memory:
            monday = next(each for each in await memory.runs() if each.session == "monday")
            assert (monday.calls, monday.failures) == (4, 2)
            return [each.lesson for each in await memory.lessons(project="kestrel")]

    lessons = asyncio.run(taught())
    assert any("run `make moon` first" in each for each in lessons)
    assert not [each for each in lessons if "Likely to fail" in each or "BRIEF" in each], "it was told that"


def steps_of(budget: int) -> tuple[dict[str, Callable[..., Awaitable[str]]], dict[str, Callable[..., Awaitable[str]]]]:
    """The code of the guide to frameworks, with a budget that a run of some steps goes beyond: what each defines."""
    spaces: list[dict[str, Callable[..., Awaitable[str]]]] = []
    for code in blocks("frameworks.md", "python"):
        space: dict[str, Callable[..., Awaitable[str]]] = {}
        exec(compile(code.replace("32_000", str(budget)), "frameworks.md", "exec", dont_inherit=True), space)
        spaces.append(space)
    pydantic_ai, langchain = spaces
    return pydantic_ai, langchain


STEPS = 34


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
        loose = (await session.loose()).messages
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
