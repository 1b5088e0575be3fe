"""SWE-agent's trajectories: `.traj`, one JSON document a run, or data sets that hold such documents.

`trajectory` lists the steps (thought, action, observation); `history` what the model was shown, from which come the
prompt, the task, and the tool calls of newer versions. An action of an older version is a line for the shell, or for
one of the commands that SWE-agent defines there. A trajectory has no times, no exit codes, and no id of its own.

Not covered: what was asked of the model in each step (`query`, `messages`), which repeats the history over and over,
and attempts that a retry loop threw away.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ireneo.formats.logs.documents import HeldDocument, held_documents, wished_names
from ireneo.formats.logs.format import (
    LogFault,
    LoggedSession,
    SessionBuilder,
    UniqueNames,
    objects_in,
    read_runs,
    with_faults,
)
from ireneo.formats.values import json_in, mapping, objects, parsed_arguments, string, without
from ireneo.log.message import Call, Draft, Part, Result, Role, Text, Thinking
from ireneo.log.outcome import derive_failed
from ireneo.patterns import lazy_re

FORMAT = "swe-agent"
_STEPS = lazy_re(rb'(?<!\\)"trajectory":\s*\[\s*\{\s*(?<!\\)"(?:action|observation|response|thought|state|query)":')
_PROMPT = lazy_re(rb'(?<!\\)"message_type":\s*"system_prompt"')
_REPEATED = ("query", "messages")
_AHEAD = 50
"""How many replies of the history are looked through for the one of a step: those in between led to none."""
_COMMANDS = {
    *("open", "goto", "scroll_up", "scroll_down", "create", "edit", "append", "insert", "undo_edit", "view"),
    *("find_file", "search_file", "search_dir", "filemap", "str_replace_editor", "submit", "exit_forfeit"),
}
"""Commands of SWE-agent's own that show or change files: what they print is no program's output."""
_FAILED = lazy_re(
    r"\s*(?:Your proposed edit has introduced new syntax error|Your edit was not applied|Your command was blocked"
    r"|EXECUTION TIMED OUT|COMMAND TIMED OUT|The command '[^\n]{0,300}' (?:timed out|was cancelled)"
    r"|No replacement was performed|Usage: |usage: |File [^\n]{1,300} not found\b|Invalid )"
)
_WENT_WELL = lazy_re(
    r"^(?:Your command ran successfully and did not produce any output|The file [^\n]{1,300} has been edited\b"
    r"|(?:Text replaced|File updated|Replaced \d+ occurrences)\. Please review the changes)",
    re.M,
)


class SweAgent:
    """Reads `.traj` files, and JSON lines that hold such documents."""

    name = FORMAT
    chat = "openai"

    def recognises(self, sample: bytes) -> bool:
        """Whether the first step of a trajectory stands in `sample`, or the mark of its prompt."""
        begins = sample.lstrip().startswith((b"{", b"["))
        return begins and (_STEPS.search(sample) is not None or _PROMPT.search(sample) is not None)

    @with_faults
    def read(self, lines: Iterable[bytes], name: str) -> Iterator[LoggedSession | LogFault]:
        """Read the runs, each a session called by what its data set says, or else `name`."""
        runs = held_documents(lines, _is_trajectory)
        return read_runs(runs, lambda held: [(_SweAgentRun(held).growth, wished_names(held.besides) or [name])])


def _is_trajectory(value: Mapping[str, object]) -> bool:
    steps, history = value.get("trajectory"), value.get("history")
    if isinstance(steps, list) and any("action" in step or "observation" in step for step in objects(steps)):
        return True
    return isinstance(steps, list) and bool(objects(history)) and ("info" in value or "environment" in value)


class _SweAgentRun:
    """One trajectory, read step by step."""

    def __init__(self, held: HeldDocument) -> None:
        self.growth = SessionBuilder(FORMAT)
        self._calls = UniqueNames()
        document = held.document
        history = objects(document.get("history"))
        steps, self.growth.faults = objects_in(document, "trajectory", held.number, "steps")
        about = without(document, "trajectory", "history")
        self.growth.note({**held.besides, **about})
        self._opening(history)
        replies = [item for item in history if item.get("role") == "assistant" and not item.get("is_demo")]
        for number, step in enumerate(steps or _steps_of(history), 1):
            self._step(number, step, _reply_to(step, replies))

    def _opening(self, history: Sequence[Mapping[str, object]]) -> None:
        """The prompt, the demonstrations and the task: all that was said before the first reply."""
        for item in history:
            demo = bool(item.get("is_demo"))
            if item.get("role") == "assistant" and not demo:
                return
            role: Role = "system" if item.get("role") == "system" and not demo else "user"
            if text := _text(item.get("content")):
                draft = Draft(role=role, parts=(Text(text=text),), origin="injected" if demo else "spoken")
                self.growth.add(draft)

    def _step(self, number: int, step: Mapping[str, object], reply: Mapping[str, object]) -> None:
        self.growth.work_in(_directory(step.get("state")))
        kept = without(step, *_REPEATED, "observation")
        calls = self._called(number, step, reply)
        thought = string(step.get("thought")) or (None if calls else string(step.get("response")))
        said = [Text(text=thought.strip())] if thought and thought.strip() else []
        parts: list[Part] = [*_thinking(reply), *said, *calls]
        self.growth.add(Draft(role="assistant", parts=tuple(parts)), kept)
        seen = _text(step.get("observation"))
        if calls:
            # One observation a step: where more was called, it is what came last.
            words = (Text(text=seen),) if seen else ()
            result = Result(call_id=calls[-1].id, parts=words, failed=_failed(seen, calls[-1]))
            self.growth.add(Draft(role="tool", parts=(result,)))
        elif seen:
            # The harness turned the reply down.
            self.growth.add(Draft(role="user", parts=(Text(text=seen),), origin="injected"))

    def _called(self, number: int, step: Mapping[str, object], reply: Mapping[str, object]) -> list[Call]:
        made = []
        for call in objects(reply.get("tool_calls")):
            function = mapping(call.get("function"))
            given = self._calls.give(string(call.get("id")) or "call")
            name, arguments = string(function.get("name")) or "bash", parsed_arguments(function.get("arguments"))
            made.append(Call(id=given, name=name, arguments=arguments))
        action = string(step.get("action"))
        if made or action is None or not action.strip():
            return made
        command = action.strip()
        word = command.split(maxsplit=1)[0]
        name = word if word in _COMMANDS else "bash"
        return [Call(id=self._calls.give(f"call_{number}"), name=name, arguments={"command": command})]


def _reply_to(step: Mapping[str, object], replies: list[dict[str, object]]) -> Mapping[str, object]:
    """The history's own words for a step, with its calls; they are taken out of `replies` with all before them."""
    for place, item in enumerate(replies[:_AHEAD]):
        if _same(item, step):
            del replies[: place + 1]
            return item
    return {}


def _same(item: Mapping[str, object], step: Mapping[str, object]) -> bool:
    if "action" in item:
        return item.get("action") == step.get("action") and item.get("thought") == step.get("thought")
    return bool(item.get("content")) and item.get("content") == step.get("response")


def _steps_of(history: Sequence[Mapping[str, object]]) -> list[dict[str, object]]:
    """The steps of a run whose trajectory was left empty, from what the model was shown."""
    steps: list[dict[str, object]] = []
    for item in history:
        if item.get("is_demo") or item.get("role") == "system":
            continue
        text = _text(item.get("content"))
        if item.get("role") == "assistant":
            thought = item.get("thought") or text
            steps.append({"action": item.get("action"), "thought": thought, "response": text})
        elif steps and not steps[-1].get("observation"):
            steps[-1]["observation"] = text
    return steps


def _failed(text: str, call: Call) -> bool | None:
    if _FAILED.match(text):
        return True
    derived = derive_failed(text, call)
    return False if derived is None and _WENT_WELL.search(text) else derived


def _thinking(reply: Mapping[str, object]) -> list[Thinking]:
    texts = (string(block.get("thinking")) for block in objects(reply.get("thinking_blocks")))
    return [Thinking(text=text) for text in texts if text]


def _directory(state: object) -> str | None:
    held = json_in(state) if isinstance(state, str) else state
    return string(mapping(held).get("working_dir"))


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(text for block in objects(content) if (text := string(block.get("text"))))
