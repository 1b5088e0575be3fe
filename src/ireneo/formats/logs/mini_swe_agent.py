"""mini-SWE-agent's trajectories: one JSON document a run, or one run a line.

The model writes its thoughts and one fenced block; the block is run, and what it printed comes back as the next user
message. Newer versions use tool calls, and note command, exit code and time under `extra`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ireneo.formats.logs.documents import documents
from ireneo.formats.logs.format import (
    LogFault,
    LoggedSession,
    UniqueNames,
    line_fault,
    linear_session,
    objects_in,
    with_faults,
)
from ireneo.formats.values import mapping, moment, objects, parsed_arguments, string, without
from ireneo.log.message import Call, Draft, Native, Part, Result, Role, Text, Thinking
from ireneo.log.outcome import derive_failed
from ireneo.patterns import lazy_re

FORMAT = "mini-swe-agent"
_MARK = lazy_re(rb'"trajectory_format":\s*"mini-swe-agent|"mini_version":|"instance_cost":')
_BLOCK = lazy_re(r"```(?:mswea_bash_command|bash)\s*\n(.*?)\n```", re.S)
_RETURNED = lazy_re(r"\s*<returncode>(-?\d+)</returncode>")
_TIMED_OUT = lazy_re(r"\s*The last command <command>.*?</command> timed out", re.S)


class MiniSweAgent:
    """Reads `.traj.json`, and JSON lines of such runs."""

    name = FORMAT
    chat = "openai"

    def recognises(self, sample: bytes) -> bool:
        """Whether a key that only these trajectories have stands in `sample`."""
        return sample.lstrip().startswith(b"{") and _MARK.search(sample) is not None

    @with_faults
    def read(self, lines: Iterable[bytes], name: str) -> Iterator[LoggedSession | LogFault]:
        """Read the runs, each a session called after its instance."""
        names = UniqueNames()
        for document in documents(lines):
            run = mapping(document.value)
            messages, faults = objects_in(run, "messages", document.number, "messages")
            yield from faults
            if messages:
                yield linear_session(
                    names.give(*_wished(run, name)), [*_MiniRun(run, messages).drafts()], document.faults
                )
                continue
            yield from document.faults
            if document.value is not None:
                yield line_fault(document.number, "holds no run with messages; it was left out.")


def _wished(run: Mapping[str, object], name: str) -> list[str]:
    """What the run would be called: its instance, or with its model where several models tried the same."""
    instance = string(run.get("instance_id")) or name
    config = mapping(mapping(run.get("info")).get("config"))
    model = string(mapping(config.get("model")).get("model_name"))
    return [instance, f"{instance}-{model.rsplit('/', 1)[-1]}"] if model else [instance]


class _MiniRun:
    """One run, read message by message."""

    def __init__(self, run: Mapping[str, object], messages: Sequence[dict[str, object]]) -> None:
        self.messages = messages
        self.besides = without(run, "messages")
        self.waiting: list[Call] = []
        self.calls = 0
        self.replied = False

    def drafts(self) -> Iterator[Draft]:
        """The run's messages, in order; what was noted about the run goes with the first."""
        record: Native | None = Native(format=FORMAT, payload=[self.besides])
        for message in self.messages:
            extra = mapping(message.get("extra"))
            role, parts, injected = self.read(message, extra)
            yield Draft(
                role=role,
                parts=tuple(parts),
                origin="injected" if injected else "spoken",
                at=moment(extra.get("timestamp")),
                native=Native(format=FORMAT, payload=message),
                record=record,
            )
            record = None

    def read(self, message: Mapping[str, object], extra: Mapping[str, object]) -> tuple[Role, list[Part], bool]:
        """Its role, its parts, and whether the harness speaks in the user's place."""
        text = _text(message)
        match message.get("role"):
            case "system":
                return "system", [Text(text=text)], False
            case "assistant":
                return "assistant", self.said(message, extra, text), False
            case _ if self.waiting and extra.get("interrupt_type") != "FormatError":
                return "tool", [self.result(message, extra, text)], False
        # The task is the only thing that a user says here; all else is the harness's reply to a broken reply.
        return "user", [Text(text=text)], self.replied

    def said(self, message: Mapping[str, object], extra: Mapping[str, object], text: str) -> list[Part]:
        """What the model thought, wrote and called."""
        self.replied = True
        parts: list[Part] = []
        if thought := string(message.get("reasoning_content")):
            parts.append(Thinking(text=thought))
        # Where the last fence ends, no block begins any more.
        blocks = list(_BLOCK.finditer(text, 0, text.rfind("\n```") + len("\n```")))
        self.waiting = self.called(message, extra, blocks)
        # Only a reply with exactly one block is run; the others are turned down, blocks and all.
        cut = blocks[0].span() if len(self.waiting) == 1 and len(blocks) == 1 else (len(text), len(text))
        before, after = text[: cut[0]].rstrip(), text[cut[1] :].strip()
        parts.extend([Text(text=before)] if before else [])
        parts.extend(self.waiting)
        parts.extend([Text(text=after)] if after else [])
        return parts

    def called(
        self, message: Mapping[str, object], extra: Mapping[str, object], blocks: Sequence[re.Match[str]]
    ) -> list[Call]:
        """The calls of a reply: those that the log names, or else its one block."""
        calls = [self.call(*_function(call)) for call in objects(message.get("tool_calls"))]
        if not calls:
            actions = objects(extra.get("actions"))
            calls = [self.call({"command": action.get("command")}, action.get("tool_call_id")) for action in actions]
        if not calls and len(blocks) == 1:
            calls = [self.call({"command": blocks[0][1].strip()}, None)]
        return calls

    def call(self, arguments: dict[str, object] | str, given: object, name: str = "bash") -> Call:
        """A call, with an id of its own if the log gave it none."""
        self.calls += 1
        return Call(id=string(given) or f"call_{self.calls}", name=name, arguments=arguments)

    def result(self, message: Mapping[str, object], extra: Mapping[str, object], text: str) -> Result:
        """What came back, as the answer to the call that it names or to the first that still waits."""
        named = message.get("tool_call_id") or message.get("call_id")
        call = next((call for call in self.waiting if call.id == named), self.waiting[0])
        self.waiting.remove(call)
        return Result(call_id=call.id, parts=(Text(text=text),), failed=_failed(extra, text, call))


def _failed(extra: Mapping[str, object], text: str, call: Call) -> bool | None:
    code = extra.get("returncode")
    if isinstance(code, int):
        return code != 0
    if found := _RETURNED.match(text):
        return int(found[1]) != 0
    return True if _TIMED_OUT.match(text) else derive_failed(text, call)


def _function(call: Mapping[str, object]) -> tuple[dict[str, object] | str, object, str]:
    function = mapping(call.get("function"))
    return parsed_arguments(function.get("arguments")), call.get("id"), string(function.get("name")) or "bash"


def _text(message: Mapping[str, object]) -> str:
    content = message.get("content", message.get("output"))
    if isinstance(content, str):
        return content
    return "\n".join(str(block["text"]) for block in objects(content) if isinstance(block.get("text"), str))
