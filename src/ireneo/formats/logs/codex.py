"""Codex: the rollouts in ``~/.codex/sessions/**/rollout-*.jsonl``.

Each line is an envelope `{timestamp, type, payload}`; what the model said and saw are the `response_item` lines, items
of OpenAI's Responses API. Older rollouts have the items without the envelope, behind a first line about the session.
`event_msg` lines repeat the items for the screen and are left out where they do; what they alone say (an exit code, a
rewind) is used. A `compacted` line is another tool's summary. A rewind (`thread_rolled_back`) makes a branch.

Written after openai/codex's own types (`codex-rs/protocol`, `codex-rs/rollout`), without a real rollout at hand. Not
covered: rollouts that were compressed (`.jsonl.zst`), and messages between agents, which are kept as records only.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from ireneo.errors import UnreadableLog
from ireneo.formats.chat.format import RESPONSES
from ireneo.formats.chat.responses import OpenAIResponses, side_of
from ireneo.formats.logs.documents import Entries, entry_runs, parse_line
from ireneo.formats.logs.format import LogFault, LoggedSession, SessionBuilder, read_runs, with_faults
from ireneo.formats.values import mapping, moment, string, without
from ireneo.log.message import Call, Draft, Part, Result, Text, opens_turn
from ireneo.log.outcome import derive_failed
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
"""The types of items that stand on a line of their own in older rollouts."""


class RolloutLine(Struct, frozen=True, kw_only=True):
    """One line."""

    number: int
    """From 1."""
    kind: str
    """What the envelope says; for a line without one, what it would say."""
    payload: Mapping[str, object]
    at: datetime | None
    raw: Mapping[str, object]


def is_line(value: Mapping[str, object]) -> bool:
    """Whether `value` is a line of a rollout."""
    if isinstance(kind := value.get("type"), str):
        return isinstance(value.get("payload"), dict) or kind in _BARE
    return _is_state(value) or _is_bare_meta(value)


def line_of(value: Mapping[str, object], number: int) -> RolloutLine:
    """The line that `value` is."""
    kind, payload = value.get("type"), value
    if not isinstance(kind, str):
        kind = "state" if _is_state(value) else META
    elif isinstance(value.get("payload"), dict):
        payload = mapping(value["payload"])
    else:
        kind = ITEM
    return RolloutLine(number=number, kind=kind, payload=payload, at=moment(value.get("timestamp")), raw=value)


def _is_state(value: Mapping[str, object]) -> bool:
    return isinstance(value.get("record_type"), str)


def _is_bare_meta(value: Mapping[str, object]) -> bool:
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


def told_outcome(event: Mapping[str, object]) -> tuple[str, bool] | None:
    """The call that an `event_msg` says the outcome of, and whether it failed."""
    call_id = event.get("call_id")
    if event.get("type") not in _RUNS or not isinstance(call_id, str):
        return None
    if (code := _whole(event.get("exit_code"))) is not None:
        return call_id, code != 0
    if isinstance(success := event.get("success"), bool):
        return call_id, not success
    result = mapping(event.get("result"))
    if "Err" in result:
        return call_id, True
    ok = mapping(result.get("Ok"))
    return (call_id, (ok.get("is_error") or ok.get("isError")) is True) if ok else None


def failed(text: str, call: Call | None) -> bool | None:
    """Whether `text`, which came back from `call`, tells of a failure."""
    # Output and metadata may be one object.
    structured = mapping(mapping(_object(text)).get("metadata")).get("exit_code") if text.startswith('{"') else None
    if (code := _whole(structured)) is not None:
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


def _object(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _whole(code: object) -> int | None:
    return code if isinstance(code, int) and not isinstance(code, bool) else None


_CHAT = OpenAIResponses()
_NOTED = {"ghost_snapshot", "compaction", "compaction_summary", "context_compaction", "compaction_trigger"}
_NOTED |= {"additional_tools", "other"}
"""Items of the harness that say nothing: undo points, and compactions that only the provider can open."""
_DOUBLED = {"user_message", "agent_message", "agent_reasoning", "agent_reasoning_raw_content", "context_compacted"}
_DOUBLED |= {"exec_command_end", "patch_apply_end", "mcp_tool_call_end", "web_search_end", "raw_response_item"}
"""Events that repeat items; what they say besides is taken out of them first."""


class Rollout:
    """A session under construction."""

    def __init__(self) -> None:
        self.id: str | None = None
        self.growth = SessionBuilder(FORMAT)
        self._begun = False
        self._reply: list[tuple[RolloutLine, dict[str, object]]] = []
        """The items of a reply whose end has not come yet."""
        self._calls: dict[str, Call] = {}
        self._told: dict[str, bool] = {}

    def take(self, line: RolloutLine) -> None:
        """Read one line."""
        if line.kind == ITEM:
            self._item(line)
        elif line.kind == META:
            self._meta(line)
        elif line.kind == "compacted":
            self._compacted(line)
        elif line.kind == "event_msg":
            self._event(line)
        else:
            if line.kind == "turn_context":
                self.settle()
                self.growth.work_in(string(line.payload.get("cwd")))
            self.growth.note(line.raw)

    def settle(self) -> None:
        """End the reply that is being read."""
        reply, self._reply = self._reply, []
        if not reply:
            return
        try:
            self._add(_CHAT.decode([item for _, item in reply]), reply[0][0])
        except UnreadableLog:
            # One item spoils it: the others are kept.
            for line, item in reply:
                self._alone(line, item)

    def _meta(self, line: RolloutLine) -> None:
        # A fork begins with a line of its own and repeats its parent's behind it.
        if not self._begun:
            self._begun = True
            self.id = string(line.payload.get("id"))
            self.growth.work_in(string(line.payload.get("cwd")))
            prompt = line.payload.get("base_instructions")
            if text := string(mapping(prompt).get("text")):
                kept = without(line.payload, "base_instructions")
                draft = Draft(role="system", parts=(Text(text=text),), at=line.at)
                self.growth.add(draft, {**line.raw, "payload": kept})
                return
        self.growth.note(line.raw)

    def _compacted(self, line: RolloutLine) -> None:
        self.settle()
        if text := string(line.payload.get("message")):
            draft = Draft(role="user", parts=(Text(text=text),), origin="summary", at=line.at)
            # The history that it stands for is above, word for word.
            kept = without(line.payload, "message", "replacement_history")
            self.growth.add(draft, {**line.raw, "payload": kept})
        else:
            self.growth.note({**line.raw, "payload": {"message": ""}})

    def _event(self, line: RolloutLine) -> None:
        kind = string(line.payload.get("type"))
        if outcome := told_outcome(line.payload):
            self._told[outcome[0]] = outcome[1]
        if kind == "thread_rolled_back":
            self.settle()
            turns, at = line.payload.get("num_turns"), self.growth.head
            turns = turns if isinstance(turns, int) else 0
            while at is not None and turns > 0:
                node = self.growth.nodes[at]
                at = node.parent
                if opens_turn(node.draft):
                    turns -= 1
                    self.growth.head = at
        if kind not in _DOUBLED:
            self.growth.note(line.raw)

    def _item(self, line: RolloutLine) -> None:
        item = _as_today(line.payload)
        success = mapping(line.payload.get("output")).get("success")
        if isinstance(success, bool):
            self._told[str(item.get("call_id"))] = not success
        if string(item.get("type")) in _NOTED:
            self.growth.note(line.raw)
        elif side_of(item) == "assistant":
            self._reply.append((line, item))
        else:
            self.settle()
            self._alone(line, item)

    def _alone(self, line: RolloutLine, item: dict[str, object]) -> None:
        try:
            self._add(_CHAT.decode([item]), line)
        except UnreadableLog as error:
            what = str(error).removeprefix("message 0").lstrip(":, ")
            message = f"Line {line.number}: {what}; it is kept as a record only."
            self.growth.faults.append(LogFault(line=line.number, message=message))
            self.growth.note(line.raw)

    def _add(self, drafts: Sequence[Draft], line: RolloutLine) -> None:
        for draft in drafts:
            self._calls.update({call.id: call for call in draft.calls})
            parts = tuple(self._with_outcome(part) for part in draft.parts)
            injected = draft.role == "system" and line.payload.get("role") == "developer"
            if draft.role == "user":
                texts = [part.text for part in draft.parts if isinstance(part, Text) and part.text.strip()]
                injected = bool(texts) and all(_MARKED.match(text) for text in texts)
            origin = "injected" if injected and draft.origin == "spoken" else draft.origin
            self.growth.add(replace(draft, parts=parts, origin=origin, at=line.at))

    def _with_outcome(self, part: Part) -> Part:
        if not isinstance(part, Result):
            return part
        known = self._told.get(part.call_id)
        outcome = failed(part.text, self._calls.get(part.call_id)) if known is None else known
        return replace(part, failed=outcome)


def _as_today(payload: Mapping[str, object]) -> dict[str, object]:
    """An item as the Responses API has it today."""
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
"""Lines of a sample that may tell; a rollout of the older form may begin with messages that others write too."""


class Codex:
    """Reads Codex's rollouts; a file is one session."""

    name = FORMAT
    chat = RESPONSES

    def recognises(self, sample: bytes) -> bool:
        """Whether lines of a rollout stand in `sample`."""
        if not sample.lstrip().startswith((b"{", b"[")):
            return False
        return _ENVELOPE.search(sample) is not None or any(map(_is_bare, sample.splitlines()[:_LOOKED_AT]))

    @with_faults
    def read(self, lines: Iterable[bytes], name: str) -> Iterator[LoggedSession | LogFault]:
        """Read the session, called by its own id."""

        def build(run: Entries) -> list[tuple[SessionBuilder, list[str]]]:
            rollout = Rollout()
            if run.besides:
                rollout.growth.note(dict(run.besides))
            for number, raw in run.entries:
                rollout.take(line_of(raw, number))
            rollout.settle()
            return [(rollout.growth, [rollout.id or name])]

        return read_runs(entry_runs(lines, is_line), build)


def _is_bare(line: bytes) -> bool:
    """Whether an item stands on the line as only the Responses API writes it, or the older form's first line."""
    if not line.startswith(b"{"):
        return False
    values, _ = parse_line(line, 1)
    value = values[0] if values else None
    if not isinstance(value, dict) or "payload" in value or not is_line(value):
        return False
    return value.get("type") != "message" or b'"input_text"' in line or b'"output_text"' in line
