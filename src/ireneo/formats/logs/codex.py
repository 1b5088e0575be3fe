"""Codex: the rollouts in ``~/.codex/sessions/**/rollout-*.jsonl``.

Each line is an envelope `{timestamp, type, payload}`; the conversation is in the `response_item` lines, items of
OpenAI's Responses API. Older rollouts have the items without the envelope, after a first line about the session.
`event_msg` lines repeat the items for the screen; only what no item has (an exit code, a rewind) is used. A `compacted`
line is Codex's own summary. A rewind (`thread_rolled_back`) makes a branch.

Written from openai/codex's own types (`codex-rs/protocol`, `codex-rs/rollout`), without a real rollout at hand.
Compressed rollouts (`.jsonl.zst`) are not read, and messages between agents are only recorded.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from ireneo.errors import UnreadableLog
from ireneo.formats.chat.format import RESPONSES
from ireneo.formats.chat.responses import OpenAIResponses, role_of_item
from ireneo.formats.logs.documents import Document, Found, LogReader, entry_runs, parse_line
from ireneo.formats.logs.format import LogFault, SessionBuilder
from ireneo.formats.values import mapping, parse_time, string, without
from ireneo.log.calls import derive_failed
from ireneo.log.message import Call, Draft, Part, Result, Text, opens_turn
from ireneo.patterns import lazy_re

FORMAT = "codex"
ITEM = "response_item"
META = "session_meta"
_BARE = {
    "message",
    "reasoning",
    "local_shell_call",
    "local_shell_call_output",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
    "tool_search_call",
    "tool_search_output",
    "web_search_call",
    "image_generation_call",
    "ghost_snapshot",
    "compaction",
}
"""The types of items that have a line of their own in older rollouts."""


class _RolloutLine(Struct, frozen=True, kw_only=True):
    number: int
    """From 1."""
    kind: str
    """The type of the envelope; for a line of an older rollout the type that it would have today."""
    payload: Document
    at: datetime | None
    raw: Document


def _is_line(value: Document) -> bool:
    if isinstance(kind := value.get("type"), str):
        return isinstance(value.get("payload"), dict) or kind in _BARE
    return _is_state(value) or _is_bare_meta(value)


def _line_of(value: Document, number: int) -> _RolloutLine:
    kind, payload = value.get("type"), value
    if not isinstance(kind, str):
        kind = "state" if _is_state(value) else META
    elif isinstance(value.get("payload"), dict):
        payload = mapping(value["payload"])
    else:
        kind = ITEM
    return _RolloutLine(number=number, kind=kind, payload=payload, at=parse_time(value.get("timestamp")), raw=value)


def _is_state(value: Document) -> bool:
    return isinstance(value.get("record_type"), str)


def _is_bare_meta(value: Document) -> bool:
    identified = isinstance(value.get("id"), str) and isinstance(value.get("timestamp"), str)
    return identified and ("instructions" in value or "git" in value) and "role" not in value


_MARKED = lazy_re(
    r"\s*(?:<(?:user_instructions|environment_context|turn_aborted|user_shell_command|skill|plugins|subagents"
    r"|subagent_notification|collaboration_mode|realtime_conversation|personality_spec|permissions instructions"
    r"|model_switch|hook_prompt|user_action|ENVIRONMENT_CONTEXT|INSTRUCTIONS)\b[^>\n]*>"
    r"|# AGENTS\.md instructions\b|Warning: The maximum number of unified exec processes)"
)


_HEADER = lazy_re(r"\A(?:(?:Command|Chunk ID|Wall time|Total output lines|Original token count): [^\n]*\n)*")
_CODE = lazy_re(r"(?:Exit code:|Process exited with code) (-?\d+)(?:\n|\Z)")
_RUNNING = lazy_re(r"Process running with session ID \S+")
_FAILED = lazy_re(
    r"(?:aborted|execution error|exec_command failed|write_stdin failed|unsupported (?:custom tool )?call"
    r"|failed to parse|apply_patch verification failed|patch rejected|err:|exec command rejected"
    r"|tool call error|command timed out|failed in sandbox|failed to spawn)\b"
)
_RUNS = ("exec_command_end", "patch_apply_end", "mcp_tool_call_end")


def _reported_outcome(event: Document) -> tuple[str, bool] | None:
    """Return the call whose outcome an `event_msg` reports, and whether it failed."""
    call_id = event.get("call_id")
    if event.get("type") not in _RUNS or not isinstance(call_id, str):
        return None
    if (code := _as_int(event.get("exit_code"))) is not None:
        return call_id, code != 0
    if isinstance(success := event.get("success"), bool):
        return call_id, not success
    result = mapping(event.get("result"))
    if "Err" in result:
        return call_id, True
    ok = mapping(result.get("Ok"))
    return (call_id, (ok.get("is_error") or ok.get("isError")) is True) if ok else None


def _failed(text: str, call: Call | None) -> bool | None:
    """Whether `text`, the output of `call`, shows a failure."""
    # Output and metadata may be one JSON object.
    structured = mapping(mapping(_parse_json(text)).get("metadata")).get("exit_code") if text.startswith('{"') else None
    if (code := _as_int(structured)) is not None:
        return code != 0
    body = text[header.end() :] if (header := _HEADER.match(text)) else text
    if found := _CODE.match(body):
        return int(found[1]) != 0
    if _RUNNING.match(body):
        return None
    if _FAILED.match(text):
        return True
    _, _, printed = body.partition("Output:\n") if body is not text else ("", "", text)
    return derive_failed(printed or body, call)


def _parse_json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _as_int(code: object) -> int | None:
    return code if isinstance(code, int) and not isinstance(code, bool) else None


_CHAT = OpenAIResponses()
_NOTED = {"ghost_snapshot", "compaction", "compaction_summary", "context_compaction", "compaction_trigger"}
_NOTED |= {"additional_tools", "other"}
"""Items of the harness without readable content: undo points, and compactions sealed by the provider."""
_DOUBLED = {"user_message", "agent_message", "agent_reasoning", "agent_reasoning_raw_content", "context_compacted"}
_DOUBLED |= {"exec_command_end", "patch_apply_end", "mcp_tool_call_end", "web_search_end", "raw_response_item"}
"""Events that repeat items; their outcomes are taken from them first."""


class _Rollout:
    def __init__(self) -> None:
        self.id: str | None = None
        self.builder = SessionBuilder(FORMAT)
        self._begun = False
        self._reply: list[tuple[_RolloutLine, dict[str, object]]] = []
        """The items of the reply that is being read."""
        self._calls: dict[str, Call] = {}
        self._told: dict[str, bool] = {}

    def read_line(self, line: _RolloutLine) -> None:
        if line.kind == ITEM:
            self._read_item(line)
        elif line.kind == META:
            self._read_meta(line)
        elif line.kind == "compacted":
            self._read_compaction(line)
        elif line.kind == "event_msg":
            self._read_event(line)
        else:
            if line.kind == "turn_context":
                self.finish_reply()
                self.builder.set_directory(string(line.payload.get("cwd")))
            self.builder.note(line.raw)

    def finish_reply(self) -> None:
        reply, self._reply = self._reply, []
        if not reply:
            return
        try:
            self._add(_CHAT.decode([item for _, item in reply]), reply[0][0])
        except UnreadableLog:
            # One item is malformed: read each by itself.
            for line, item in reply:
                self._read_separately(line, item)

    def _read_meta(self, line: _RolloutLine) -> None:
        # A fork repeats its parent's metadata after its own.
        if not self._begun:
            self._begun = True
            self.id = string(line.payload.get("id"))
            self.builder.set_directory(string(line.payload.get("cwd")))
            prompt = line.payload.get("base_instructions")
            if text := string(mapping(prompt).get("text")):
                kept = without(line.payload, "base_instructions")
                draft = Draft(role="system", parts=(Text(text=text),), at=line.at)
                self.builder.add(draft, {**line.raw, "payload": kept})
                return
        self.builder.note(line.raw)

    def _read_compaction(self, line: _RolloutLine) -> None:
        self.finish_reply()
        if text := string(line.payload.get("message")):
            draft = Draft(role="user", parts=(Text(text=text),), origin="summary", at=line.at)
            # The history that it replaces is in the lines above.
            kept = without(line.payload, "message", "replacement_history")
            self.builder.add(draft, {**line.raw, "payload": kept})
        else:
            self.builder.note({**line.raw, "payload": {"message": ""}})

    def _read_event(self, line: _RolloutLine) -> None:
        kind = string(line.payload.get("type"))
        if outcome := _reported_outcome(line.payload):
            self._told[outcome[0]] = outcome[1]
        if kind == "thread_rolled_back":
            self.finish_reply()
            turns, at = line.payload.get("num_turns"), self.builder.head
            turns = turns if isinstance(turns, int) else 0
            while at is not None and turns > 0:
                node = self.builder.nodes[at]
                at = node.parent
                if opens_turn(node.draft):
                    turns -= 1
                    self.builder.head = at
        if kind not in _DOUBLED:
            self.builder.note(line.raw)

    def _read_item(self, line: _RolloutLine) -> None:
        item = _to_current_api(line.payload)
        success = mapping(line.payload.get("output")).get("success")
        if isinstance(success, bool):
            self._told[str(item.get("call_id"))] = not success
        if string(item.get("type")) in _NOTED:
            self.builder.note(line.raw)
        elif role_of_item(item) == "assistant":
            self._reply.append((line, item))
        else:
            self.finish_reply()
            self._read_separately(line, item)

    def _read_separately(self, line: _RolloutLine, item: dict[str, object]) -> None:
        try:
            self._add(_CHAT.decode([item]), line)
        except UnreadableLog as error:
            what = str(error).removeprefix("message 0").strip(":, .")
            message = f"Line {line.number}: {what}; it is kept as a record only."
            self.builder.faults.append(LogFault(line=line.number, message=message))
            self.builder.note(line.raw)

    def _add(self, drafts: Sequence[Draft], line: _RolloutLine) -> None:
        for draft in drafts:
            self._calls.update({call.id: call for call in draft.calls})
            parts = tuple(self._with_outcome(part) for part in draft.parts)
            injected = draft.role == "system" and line.payload.get("role") == "developer"
            if draft.role == "user":
                texts = [part.text for part in draft.parts if isinstance(part, Text) and part.text.strip()]
                injected = bool(texts) and all(_MARKED.match(text) for text in texts)
            origin = "injected" if injected and draft.origin == "spoken" else draft.origin
            self.builder.add(replace(draft, parts=parts, origin=origin, at=line.at))

    def _with_outcome(self, part: Part) -> Part:
        if not isinstance(part, Result):
            return part
        known = self._told.get(part.call_id)
        outcome = _failed(part.text, self._calls.get(part.call_id)) if known is None else known
        return replace(part, failed=outcome)


def _to_current_api(payload: Document) -> dict[str, object]:
    """Convert an item to the current Responses API."""
    item = dict(payload)
    if item.get("type") == "local_shell_call" and not item.get("call_id") and string(item.get("id")):
        item["call_id"] = item["id"]
    output = item.get("output")
    if isinstance(output, dict) and isinstance(output.get("content"), str):
        item["output"] = output["content"]
    return item


_ENVELOPE = lazy_re(
    rb'(?<!\\)"type":\s*"(?:session_meta|turn_context|response_item|event_msg|compacted|world_state)",\s*'
    rb'(?<!\\)"payload":\s*\{'
)
_LOOKED_AT = 20
"""How many lines of a sample are examined: an older rollout may begin with messages that other formats have too."""


class Codex(LogReader):
    """Codex's rollouts; a file is one session."""

    name = FORMAT
    chat = RESPONSES

    def recognises(self, sample: bytes) -> bool:
        """Whether `sample` contains lines of a rollout."""
        if not sample.lstrip().startswith(self.begins):
            return False
        return _ENVELOPE.search(sample) is not None or any(map(_is_bare, sample.splitlines()[:_LOOKED_AT]))

    def _find(self, lines: Iterable[bytes], name: str, faults: list[LogFault]) -> Iterator[Found]:
        for run in entry_runs(lines, _is_line, faults):
            rollout = _Rollout()
            rollout.builder.note(*([dict(run.besides)] if run.besides else []))
            for number, raw in run.entries:
                rollout.read_line(_line_of(raw, number))
            rollout.finish_reply()
            yield [rollout.id or name], rollout.builder


def _is_bare(line: bytes) -> bool:
    """Whether the line holds an item that only the Responses API has, or an older rollout's first line."""
    if not line.startswith(b"{"):
        return False
    values, _ = parse_line(line, 1)
    value = values[0] if values else None
    if not isinstance(value, dict) or "payload" in value or not _is_line(value):
        return False
    return value.get("type") != "message" or b'"input_text"' in line or b'"output_text"' in line
