"""JSON logs of command-line agents: Codex, pi and Gemini CLI.

Codex has rollouts in ``~/.codex/sessions/**/rollout-*.jsonl``. Each line is an envelope `{timestamp, type, payload}`;
the conversation is in the `response_item` lines, items of OpenAI's Responses API. Older rollouts have the items
without the envelope, after a first line about the session. `event_msg` lines repeat the items for the screen; only
what no item has (an exit code, a rewind) is used. A `compacted` line is Codex's own summary. A rewind
(`thread_rolled_back`) makes a branch.

Written from openai/codex's own types (`codex-rs/protocol`, `codex-rs/rollout`), without a real rollout at hand.
Compressed rollouts (`.jsonl.zst`) are not read, and messages between agents are only recorded.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from ireneo.errors import UnreadableLog
from ireneo.formats.chat.format import RESPONSES
from ireneo.formats.chat.responses import OpenAIResponses, role_of_item
from ireneo.formats.logs.documents import Document, Found, LogReader, documents, entry_runs, parse_line
from ireneo.formats.logs.format import LogFault, SessionBuilder, line_fault
from ireneo.formats.values import mapping, objects, parse_time, string, without
from ireneo.log.calls import derive_failed, runs_program
from ireneo.log.message import Call, Draft, Media, Opaque, Origin, Part, Result, Role, Text, Thinking, opens_turn
from ireneo.patterns import lazy_re

CODEX = "codex"
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
        self.builder = SessionBuilder(CODEX)
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
            what = str(error).removeprefix("message 0").lstrip(":, ")
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

    name = CODEX
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


# pi's sessions: JSON lines, the first of which describes the session; the entries of newer ones name their parents.

PI = "pi"
_SUMMARIES = ("compaction", "branch_summary", "compactionSummary", "branchSummary")
_INJECTED = ("custom_message", "custom", "hookMessage")
_SIGNERS = {"anthropic-messages": "anthropic"}
"""By the interface that was used: the chat format whose provider signed a reply's thinking."""
_BROKEN_OFF = ("aborted", "error")


def _draft_of(entry: Document) -> tuple[Draft | None, str | None]:
    """Read an entry: its draft, or None for a note; and its fault, which completes "Line 3 …"."""
    kind = entry.get("type")
    if kind == "message":
        message = mapping(entry.get("message"))
        role = string(message.get("role")) or ""
    elif kind in _SUMMARIES or kind == "custom_message":
        message, role = entry, str(kind)
    else:
        return None, None
    speaker, parts, origin = _role_and_parts(role, message)
    if parts:
        at, name = parse_time(entry.get("timestamp")), string(entry.get("id"))
        return Draft(role=speaker, parts=tuple(parts), origin=origin, at=at, source_id=name), None
    # An empty message is not a fault if a reply was broken off before its first word.
    silent = role in ("assistant", "user", *_INJECTED, *_SUMMARIES) and message.get("content", "") in ("", [])
    return None, None if silent else "holds no message that can be read; it was kept aside."


def _role_and_parts(role: str, message: Document) -> tuple[Role, list[Part], Origin]:
    if role in _SUMMARIES:
        return "user", _texts(message.get("summary")), "summary"
    if role in (*_INJECTED, "user"):
        return "user", _blocks(message.get("content")), "spoken" if role == "user" else "injected"
    if role == "bashExecution":
        return "user", _texts(_user_command(message)), "injected"
    if role == "toolResult":
        return "tool", _result(message), "spoken"
    parts = _reply(message) if role == "assistant" else []
    if not parts and role == "assistant" and (error := string(message.get("errorMessage"))):
        return "assistant", [Text(text=error)], "injected"
    return "assistant", parts, "spoken"


def _texts(value: object) -> list[Part]:
    text = string(value)
    return [Text(text=text)] if text and text.strip() else []


def _blocks(content: object) -> list[Part]:
    if isinstance(content, str):
        return _texts(content)
    return [part for block in objects(content) if (part := _read_block(block)) is not None]


def _read_block(block: dict[str, object]) -> Text | Media | Opaque | None:
    match block.get("type"):
        case "text":
            text = string(block.get("text"))
            return Text(text=text) if text and text.strip() else None
        case "image":
            kind = string(block.get("mimeType")) or "application/octet-stream"
            return Media(media_type=kind, data=string(block.get("data")))
    return Opaque(format=PI, payload=block)


def _reply(message: Document) -> list[Part]:
    content = message.get("content")
    if isinstance(content, str):
        return _texts(content)
    whole = message.get("stopReason") not in _BROKEN_OFF
    signer = _SIGNERS.get(str(message.get("api"))) if whole else None
    parts = [_reply_block(block, signer) for block in objects(content)]
    return [part for part in parts if part is not None]


def _reply_block(block: dict[str, object], signer: str | None) -> Part | None:
    match block.get("type"):
        case "thinking":
            return _read_thinking(block, signer)
        case "toolCall":
            given = block.get("arguments")
            arguments = given if isinstance(given, dict | str) else {}
            name, call = string(block.get("name")), string(block.get("id"))
            if name and call:
                return Call(id=call, name=name, arguments=arguments)
            return Opaque(format=PI, payload=block)
    return _read_block(block)


def _read_thinking(block: Document, signer: str | None) -> Thinking | None:
    text = string(block.get("thinking")) or ""
    signature = string(block.get("thinkingSignature")) if signer else None
    if block.get("redacted"):
        return Thinking(sealed=signature, format=signer) if signature else None
    if not text.strip() and not signature:
        return None
    return Thinking(text=text, signature=signature, format=signer if signature else None)


def _result(message: Document) -> list[Part]:
    call, content = string(message.get("toolCallId")), message.get("content")
    if call is None:
        return []
    given = objects([{"type": "text", "text": content}] if isinstance(content, str) else content)
    result = Result(call_id=call, parts=tuple(part for block in given if (part := _read_block(block)) is not None))
    flag = message.get("isError")
    return [replace(result, failed=flag if isinstance(flag, bool) else derive_failed(result.text))]


def _user_command(message: Document) -> str | None:
    """Describe a command that the user ran, in the words that pi uses towards the model."""
    command = string(message.get("command"))
    if command is None:
        return None
    output = string(message.get("output"))
    text = f"Ran `{command}`\n" + (f"```\n{output}\n```" if output else "(no output)")
    code = message.get("exitCode")
    if message.get("cancelled"):
        text += "\n\n(command cancelled)"
    elif isinstance(code, int) and code != 0:
        text += f"\n\nCommand exited with code {code}"
    return text


class _PiTree:
    """Builds the tree of one session from its entries."""

    def __init__(self, header: Document, faults: list[LogFault]) -> None:
        self.header = header
        self._faults = faults
        self.builder = SessionBuilder(PI, *([header] if header else []))
        self._node_of: dict[str, int | None] = {}
        """The node of each entry, or the node at which the entry was noted."""

    def add(self, entry: dict[str, object], number: int) -> None:
        name = string(entry.get("id"))
        if name is not None and name in self._node_of:
            self._faults.append(line_fault(number, "has the id of an earlier entry; it was left out."))
            return
        parent = self.builder.head
        if "parentId" in entry:
            follows = string(entry.get("parentId"))
            if follows is None or follows in self._node_of:
                parent = None if follows is None else self._node_of[follows]
            else:
                what = "follows an entry that is not there; it was put behind the one before it."
                self._faults.append(line_fault(number, what))
        draft, fault = _draft_of(entry)
        if fault:
            self._faults.append(line_fault(number, fault))
        self.builder.head = parent
        if draft is None:
            self.builder.note(entry, at=parent)
        else:
            # The header, which is recorded with the first message, has the directory as well.
            cwd = string(self.header.get("cwd")) if self.builder.nodes else None
            self.builder.add(draft, entry, turns_in=cwd)
        if name is not None:
            self._node_of[name] = self.builder.head


_RESULT = (lazy_re(rb'"role":\s*"toolResult"'), lazy_re(rb'"type":\s*"message"'))


class Pi(LogReader):
    """pi's `~/.pi/agent/sessions/<folder>/<time>_<id>.jsonl`."""

    name = PI
    chat = "anthropic"

    def recognises(self, sample: bytes) -> bool:
        """Whether `sample` begins with pi's header or, where that was lost, holds results as only pi writes them."""
        sample = sample.lstrip()
        if not sample.startswith(b"{"):
            return False
        values, _ = parse_line(sample.split(b"\n", 1)[0], 1)
        return any(_is_header(value) for value in values) or all(mark.search(sample) for mark in _RESULT)

    def _find(self, lines: Iterable[bytes], name: str, faults: list[LogFault]) -> Iterator[Found]:
        # A file may hold several sessions, one after the other.
        tree = _PiTree({}, faults)
        for number, text in enumerate(lines, 1):
            values, found = parse_line(text, number)
            faults += found
            for value in values:
                if not isinstance(value, dict):
                    faults.append(line_fault(number, "is JSON, but no object; it was left out."))
                elif value.get("type") == "session":
                    yield [string(tree.header.get("id")) or name], tree.builder
                    tree = _PiTree(value, faults)
                else:
                    tree.add(value, number)
        yield [string(tree.header.get("id")) or name], tree.builder


def _is_header(value: object) -> bool:
    if not isinstance(value, dict) or value.get("type") != "session" or not string(value.get("id")):
        return False
    return any(string(value.get(key)) for key in ("timestamp", "cwd"))


# Gemini CLI's chats: one JSON document or, in newer versions, JSON lines that are appended to and rewound. A message
# that is written again under its id replaces the older version. A checkpoint (`$set`) lists the messages that the tool
# goes on with after a compaction: known ones stay where they are, and new ones, mainly the summary, are appended.

GEMINI_CLI = "gemini-cli"
_SUMMARY = "<state_snapshot>"
"""Marks the summary of a compacted chat."""
_FAILED_STATES = ("error", "cancelled")
_DONE = ("success", *_FAILED_STATES)


def _drafts_of(raw: Document, answered: set[str], *, checkpoint: bool) -> list[Draft]:
    """Read a message: none, one draft, or a reply and the results of its calls.

    `answered` collects the ids of the calls whose results were read. In a checkpoint the tool itself speaks.
    """
    said = _parts(raw.get("content"))
    at, name = parse_time(raw.get("timestamp")), string(raw.get("id"))
    role: Role = "assistant" if raw.get("type") == "gemini" else "user"
    origin: Origin = "injected" if checkpoint else "spoken"
    results = [part for part in said if isinstance(part, Result)]
    last = at
    if role == "assistant":
        noted = objects(raw.get("toolCalls"))
        calls = [call for each in noted if (call := _call(each)) is not None]
        parts: Sequence[Part] = [*_worded(raw, said, {call.id for call in calls}), *calls]
        by_id = {call.id: call for call in calls}
        results = [result for each in noted if parts and (result := _tool_result(each, by_id))]
        last = max((time for each in noted if (time := parse_time(each.get("timestamp"))) is not None), default=at)
    else:
        parts = [part for part in said if isinstance(part, (Text, Media, Opaque))]
        if any(isinstance(part, Text) and _SUMMARY in part.text for part in parts):
            origin = "summary"
        elif raw.get("type") != "user":
            origin = "injected"
    results = [result for result in results if result.call_id not in answered]
    answered.update(result.call_id for result in results)
    words = [Draft(role=role, parts=tuple(parts), origin=origin, at=at, source_id=name)] if parts else []
    back = [Draft(role="tool", parts=tuple(results), at=last, source_id=name)] if results else []
    return [*words, *back] if role == "assistant" else [*back, *words]


def _worded(raw: Document, said: list[Part], named: set[str]) -> list[Part]:
    """Return the thoughts and words of a reply, without calls and thoughts that are also recorded next to the reply."""
    thoughts = [Thinking(text=text) for thought in objects(raw.get("thoughts")) if (text := _thought(thought))]
    out: list[Part] = [*thoughts]
    for part in said:
        noted = (isinstance(part, Call) and part.id in named) or (isinstance(part, Thinking) and bool(thoughts))
        if not noted and not isinstance(part, Result):
            out.append(part)
    return out


def _thought(thought: Document) -> str:
    said = (string(thought.get("subject")), string(thought.get("description")))
    return "\n".join(part for part in said if part)


def _call(each: Document) -> Call | None:
    name, given = string(each.get("name")), each.get("args")
    call = string(each.get("id")) or (name and f"{name}-unnamed")
    return Call(id=call, name=name, arguments=given if isinstance(given, dict) else {}) if name and call else None


def _tool_result(each: Document, calls: Mapping[str, Call]) -> Result | None:
    status, found = each.get("status"), each.get("result")
    call = calls.get(str(each.get("id")))
    if call is None or (status not in _DONE and found is None):
        return None  # It was pending when the log ended.
    said = _parts(found)
    answers = [part for part in said if isinstance(part, Result)]
    parts = tuple(part for result in answers for part in result.parts)
    if not answers:
        parts = tuple(part for part in said if isinstance(part, (Text, Media, Opaque)))
    if not parts and (shown := string(each.get("resultDisplay"))):
        parts = (Text(text=shown),)
    result = Result(call_id=call.id, parts=parts)
    failed = derive_failed(result.text, call)
    if status in _FAILED_STATES or any(answer.failed for answer in answers):
        failed = True
    elif status == "success":
        # The tool calls it a success when a command was run, whatever it returned.
        failed = bool(failed) and runs_program(call)
    return replace(result, failed=failed)


def _parts(content: object) -> list[Part]:
    """Read a text, a part of Gemini's API, or a list of both."""
    if isinstance(content, str):
        return [Text(text=content)] if content.strip() else []
    if isinstance(content, dict):
        return _part(content)
    items = content if isinstance(content, list) else []
    return [part for item in items for part in (_parts(item) if isinstance(item, str) else _part(mapping(item)))]


def _part(item: Document) -> list[Part]:
    if isinstance(text := item.get("text"), str):
        if item.get("thought"):
            return [Thinking(text=text)]
        return [Text(text=text)] if text.strip() else []
    if call := _call(mapping(item.get("functionCall"))):
        return [call]
    if response := mapping(item.get("functionResponse")):
        return [_response(response)]
    if data := mapping(item.get("inlineData")):
        kind = string(data.get("mimeType")) or "application/octet-stream"
        return [Media(media_type=kind, data=string(data.get("data")))]
    return [Opaque(format=GEMINI_CLI, payload=dict(item))] if item else []


def _response(response: Document) -> Result:
    answer = mapping(response.get("response"))
    error, output = answer.get("error"), answer.get("output")
    value = error if error is not None else output if output is not None else dict(answer) or ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    name = string(response.get("id")) or f"{response.get('name')}-unnamed"
    parts = (Text(text=text),) if text else ()
    return Result(call_id=name, parts=parts, failed=True if error is not None else None)


_REWOUND = "$rewindTo"
_SET = "$set"


class _Said(Struct, kw_only=True):
    """The newest version of a message, and the message before it."""

    raw: dict[str, object]
    before: int | None
    checkpoint: bool


class _History:
    def __init__(self, faults: list[LogFault]) -> None:
        self._faults = faults
        self.about: dict[str, object] = {}
        """The fields of the chat besides its messages."""
        self._said: list[_Said] = []
        self._place: dict[str, int] = {}
        """The newest message of each id."""
        self._last: int | None = None

    def is_followed_by(self, value: Document) -> bool:
        begun = string(value.get("sessionId"))
        return begun is None or not self.about or begun == self.about.get("sessionId")

    def add(self, value: dict[str, object], number: int) -> None:
        if _REWOUND in value:
            self._rewind(value[_REWOUND], number)
        elif _SET in value:
            self._list(mapping(value[_SET]), number, checkpoint=True)
        elif "projectHash" in value or "sessionId" in value or "messages" in value:
            self._list(value, number, checkpoint=False)
        elif "type" in value:
            self._say(value, checkpoint=False)
        else:
            what = "is neither a message nor a note about the chat; it was left out."
            self._faults.append(line_fault(number, what))

    def _list(self, about: Document, number: int, *, checkpoint: bool) -> None:
        self.about.update(without(about, "messages"))
        listed = about.get("messages")
        if listed is None:
            return
        messages = objects(listed)
        if not isinstance(listed, list) or len(messages) < len(listed):
            self._faults.append(line_fault(number, "lists messages that are no objects; they were left out."))
        for raw in messages:
            if not checkpoint or str(raw.get("id")) not in self._place:
                self._say(raw, checkpoint=checkpoint)

    def _say(self, raw: dict[str, object], *, checkpoint: bool) -> None:
        name = string(raw.get("id"))
        known = self._place.get(name) if name else None
        if known is not None:
            self._said[known].raw = raw
            return
        self._said.append(_Said(raw=raw, before=self._last, checkpoint=checkpoint))
        self._last = len(self._said) - 1
        if name:
            self._place[name] = self._last

    def _rewind(self, name: object, number: int) -> None:
        found = self._place.get(name) if isinstance(name, str) else None
        if found is None:
            self._faults.append(line_fault(number, "rewinds to a message that is not there: to the start."))
        self._last = None if found is None else self._said[found].before

    def named(self, otherwise: str) -> list[str]:
        return [string(self.about.get("sessionId")) or otherwise]

    def build(self) -> SessionBuilder:
        builder = SessionBuilder(GEMINI_CLI, *([self.about] if self.about else []))
        listed = self.about.get("directories")
        directory = string(listed[0]) if isinstance(listed, list) and listed else None
        ends: list[int | None] = []
        answered: set[str] = set()
        for said in self._said:
            builder.head = None if said.before is None else ends[said.before]
            drafts = _drafts_of(said.raw, answered, checkpoint=said.checkpoint)
            for index, draft in enumerate(drafts):
                builder.add(draft, *([] if index else [said.raw]), turns_in=directory)
            if not drafts:
                builder.note(said.raw, at=builder.head)
            ends.append(builder.head)
        builder.head = None if self._last is None else ends[self._last]
        return builder


_SESSION, _PROJECT = lazy_re(rb'"sessionId":\s*"'), lazy_re(rb'"projectHash":\s*"')


class GeminiCli(LogReader):
    """Gemini CLI's `~/.gemini/tmp/<project>/chats/session-*.json` and `.jsonl`."""

    name = GEMINI_CLI
    chat = "gemini"
    begins = (b"{",)
    marks = ((_SESSION, _PROJECT),)

    def _find(self, lines: Iterable[bytes], name: str, faults: list[LogFault]) -> Iterator[Found]:
        history = _History(faults)
        for number, value in documents(lines, faults):
            if not isinstance(value, dict):
                faults.append(line_fault(number, "is JSON, but no object; it was left out."))
                continue
            if not history.is_followed_by(value):
                yield history.named(name), history.build()
                history = _History(faults)
            history.add(value, number)
        yield history.named(name), history.build()
