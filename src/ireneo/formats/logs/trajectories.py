"""Trajectories of software agents, one JSON document a run (ATIF, SWE-agent and mini-SWE-agent), and plain transcripts.

Trajectories have no flag for a failure but exit codes that some of them note; elsewhere it is derived from the output.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from ireneo.errors import UnreadableLog
from ireneo.formats.chat.format import ANTHROPIC, OPENAI, chat_format
from ireneo.formats.chat.reading import decode_message, mark_of, time_of
from ireneo.formats.logs.documents import (
    Document,
    Found,
    LogReader,
    documents,
    given_names,
    parse_line,
    records_within,
    text_result,
)
from ireneo.formats.logs.format import DIRECTORY, LogFault, SessionBuilder, UniqueNames, line_fault, objects_in
from ireneo.formats.values import mapping, objects, parse_json, parse_time, parsed_arguments, string, without
from ireneo.log.calls import derive_failed
from ireneo.log.message import Call, Draft, Native, Opaque, Part, Result, Role, Text, Thinking
from ireneo.patterns import lazy_re

ATIF = "atif"
_VERSION = lazy_re(rb'(?<!\\)"schema_version":\s*"ATIF-')
_FIRST_STEP = lazy_re(rb'(?<!\\)"steps":\s*\[\s*\{\s*"step_id":')
_CODES = ("exit_code", "returncode", "return_code")
_FLAGS = ("is_error", "error", "failed")


class Atif(LogReader):
    """ATIF, the Agent Trajectory Interchange Format of the harbor project (v1.0 to v1.8).

    Trajectories of subagents that are embedded (v1.7) are sessions of their own. Trajectories that are only referred to
    are not read; steps that a continuation copied (`is_copied_context`) are read as they stand. Pictures and sounds are
    kept as opaque blocks, since they are only paths.
    """

    name = ATIF
    marks = ((_VERSION,), (_FIRST_STEP,))
    holds = "run of this format"

    def _within(self, value: object, number: int, name: str) -> Iterator[Found]:
        for found, noted in records_within(value, _is_atif):
            waiting, besides = [found], noted
            while waiting:
                document = waiting.pop(0)
                yield _atif_names(document, besides) or [name], _AtifRun(number, document, besides).builder
                waiting += [sub for sub in objects(document.get("subagent_trajectories")) if _is_atif(sub)]
                besides = {}


def _is_atif(value: Document) -> bool:
    steps = value.get("steps")
    version = string(value.get("schema_version")) or ""
    return isinstance(steps, list) and (version.startswith("ATIF") or any("step_id" in step for step in objects(steps)))


def _atif_names(document: Document, besides: Document) -> list[str]:
    # The parts of a run may share its session id, but not the trajectory's own.
    session, own = string(document.get("session_id")), string(document.get("trajectory_id"))
    given = [wish for wish in (session, f"{session}-{own}" if session and own else own) if wish]
    return given or given_names(besides)


class _AtifRun:
    """Reads one trajectory step by step."""

    def __init__(self, number: int, document: Document, besides: Document) -> None:
        about = without(document, "steps", "subagent_trajectories")
        self.builder = SessionBuilder(ATIF, {**besides, **about})
        self._ids = UniqueNames()
        """A writer may count its calls anew in each step."""
        self.builder.set_directory(_atif_directory(document) or _atif_directory(mapping(document.get("agent"))))
        steps, self.builder.faults = objects_in(document, "steps", number, "steps")
        for step in steps:
            self._step(step)

    def _step(self, step: Document) -> None:
        self.builder.set_directory(_atif_directory(step))
        at = parse_time(step.get("timestamp"))
        results: Sequence[Document] = objects(mapping(step.get("observation")).get("results"))
        loose = results
        if step.get("source") == "agent":
            calls = [(str(call.get("tool_call_id")), self._make_call(call)) for call in objects(step.get("tool_calls"))]
            thought = string(step.get("reasoning_content"))
            thinking = [Thinking(text=thought)] if thought else []
            parts = (*thinking, *_atif_content(step.get("message")), *(call for _, call in calls))
            self.builder.add(Draft(role="assistant", parts=parts, at=at), without(step, "observation"))
            pairs, loose = _pair_results(results, calls)
            answers = tuple(_atif_result(result, call) for result, call in pairs)
            entries = [without(result, "content") for result, _ in pairs]
            self.builder.add(Draft(role="tool", parts=answers, at=at), *entries)
        else:
            role: Role = "system" if step.get("source") == "system" else "user"
            # The prompt comes first; a later system step is a message of the harness.
            later = role == "system" and bool(self.builder.nodes)
            self._add_message(role, step.get("message"), at, without(step, "observation"), injected=later)
        for result in loose:
            self._add_message("user", result.get("content"), at, without(result, "content"), injected=True)

    def _add_message(
        self, role: Role, content: object, at: datetime | None, entry: Document, *, injected: bool
    ) -> None:
        draft = Draft(role=role, parts=_atif_content(content), origin="injected" if injected else "spoken", at=at)
        self.builder.add(draft, entry)

    def _make_call(self, call: Document) -> Call:
        given = call.get("arguments")
        arguments = given if isinstance(given, dict | str) else {}
        name = string(call.get("function_name")) or "unknown"
        return Call(id=self._ids.choose(string(call.get("tool_call_id")) or "call"), name=name, arguments=arguments)


_Answer: TypeAlias = tuple[Document, Call]


def _pair_results(
    results: Sequence[Document], calls: Sequence[tuple[str, Call]]
) -> tuple[list[_Answer], list[Document]]:
    """Match the results of a step to its calls; returns the pairs and the results that are left.

    Results that name no call answer the last calls that are left.
    """
    waiting = list(calls)
    pairs: list[_Answer] = []
    unnamed = []
    for result in results:
        made = next((each for each in waiting if each[0] == result.get("source_call_id")), None)
        if made is None:
            unnamed.append(result)
        else:
            waiting.remove(made)
            pairs.append((result, made[1]))
    last = waiting[max(0, len(waiting) - len(unnamed)) :]
    first = len(unnamed) - len(last)
    pairs += [(result, call) for result, (_, call) in zip(unnamed[first:], last, strict=True)]
    return pairs, unnamed[:first]


def _atif_result(result: Document, call: Call) -> Result:
    answer = Result(call_id=call.id, parts=_atif_content(result.get("content")))
    extra = mapping(result.get("extra"))
    codes = (code for key in _CODES if isinstance(code := extra.get(key), int) and not isinstance(code, bool))
    flags = (flag for key in _FLAGS if isinstance(flag := extra.get(key), bool))
    noted = next(chain((code != 0 for code in codes), flags), None)
    return replace(answer, failed=derive_failed(answer.text, call) if noted is None else noted)


def _atif_content(content: object) -> tuple[Text | Opaque, ...]:
    if isinstance(content, str):
        return (Text(text=content),) if content else ()
    return tuple(
        Text(text=text) if (text := string(part.get("text"))) else Opaque(format=ATIF, payload=part)
        for part in objects(content)
    )


def _atif_directory(holder: Document) -> str | None:
    extra = mapping(holder.get("extra"))
    return next((place for key in (DIRECTORY, "working_dir", "workdir") if (place := string(extra.get(key)))), None)


SWE_AGENT = "swe-agent"
_STEPS = lazy_re(rb'(?<!\\)"trajectory":\s*\[\s*\{\s*(?<!\\)"(?:action|observation|response|thought|state|query)":')
_PROMPT = lazy_re(rb'(?<!\\)"message_type":\s*"system_prompt"')
_REPEATED = ("query", "messages")
"""Keys for what the model was sent in a step, which repeats the history each time."""
_AHEAD = 50
"""How many replies of the history are searched for the one of a step; replies in between led to no step."""
_COMMANDS = {
    *("open", "goto", "scroll_up", "scroll_down", "create", "edit", "append", "insert", "undo_edit", "view"),
    *("find_file", "search_file", "search_dir", "filemap", "str_replace_editor", "submit", "exit_forfeit"),
}
"""SWE-agent's own commands, which show or change files; their output isn't a program's."""
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


class SweAgent(LogReader):
    """SWE-agent's `.traj` files, and data sets that hold such documents.

    `trajectory` lists the steps (thought, action, observation); `history`, what the model was shown, has the prompt,
    the task, and the tool calls of newer versions. An action of an older version is a line for the shell, or for one of
    SWE-agent's own commands. There are no times, no exit codes and no ids. Attempts discarded by a retry loop are
    skipped.
    """

    name = SWE_AGENT
    marks = ((_STEPS,), (_PROMPT,))
    holds = "run of this format"

    def _within(self, value: object, number: int, name: str) -> Iterator[Found]:
        for document, besides in records_within(value, _is_swe_agent):
            yield given_names(besides) or [name], _SweAgentRun(number, document, besides).builder


def _is_swe_agent(value: Document) -> bool:
    steps, history = value.get("trajectory"), value.get("history")
    if isinstance(steps, list) and any("action" in step or "observation" in step for step in objects(steps)):
        return True
    return isinstance(steps, list) and bool(objects(history)) and ("info" in value or "environment" in value)


class _SweAgentRun:
    """Reads one trajectory step by step."""

    def __init__(self, number: int, document: Document, besides: Document) -> None:
        self.builder = SessionBuilder(SWE_AGENT, {**besides, **without(document, "trajectory", "history")})
        self._calls = UniqueNames()
        history = objects(document.get("history"))
        steps, self.builder.faults = objects_in(document, "trajectory", number, "steps")
        self._add_opening(history)
        replies = [item for item in history if item.get("role") == "assistant" and not item.get("is_demo")]
        for place, step in enumerate(steps or _steps_of(history), 1):
            self._add_step(place, step, _take_reply(step, replies))

    def _add_opening(self, history: Sequence[Document]) -> None:
        """Add the prompt, the demonstrations and the task: all messages before the first reply."""
        for item in history:
            demo = bool(item.get("is_demo"))
            if item.get("role") == "assistant" and not demo:
                return
            role: Role = "system" if item.get("role") == "system" and not demo else "user"
            if text := _text(item.get("content")):
                self.builder.add(Draft(role=role, parts=(Text(text=text),), origin="injected" if demo else "spoken"))

    def _add_step(self, place: int, step: Document, reply: Document) -> None:
        state = step.get("state")
        held = parse_json(state) if isinstance(state, str) else state
        self.builder.set_directory(string(mapping(held).get("working_dir")))
        calls = self._calls_of_step(place, step, reply)
        thoughts = (string(block.get("thinking")) for block in objects(reply.get("thinking_blocks")))
        parts: list[Part] = [Thinking(text=text) for text in thoughts if text]
        said = string(step.get("thought")) or (None if calls else string(step.get("response")))
        parts += [Text(text=said.strip())] if said and said.strip() else []
        self.builder.add(Draft(role="assistant", parts=(*parts, *calls)), without(step, *_REPEATED, "observation"))
        seen = _text(step.get("observation"))
        if calls:
            # A step has one observation: of several calls it belongs to the last.
            result = text_result(calls[-1], seen, failed=_swe_agent_failed(seen, calls[-1]))
            self.builder.add(Draft(role="tool", parts=(result,)))
        elif seen:
            self.builder.add(Draft(role="user", parts=(Text(text=seen),), origin="injected"))

    def _calls_of_step(self, place: int, step: Document, reply: Document) -> list[Call]:
        made = []
        for call in objects(reply.get("tool_calls")):
            function = mapping(call.get("function"))
            given = self._calls.choose(string(call.get("id")) or "call")
            name, arguments = string(function.get("name")) or "bash", parsed_arguments(function.get("arguments"))
            made.append(Call(id=given, name=name, arguments=arguments))
        action = string(step.get("action"))
        if made or action is None or not action.strip():
            return made
        command = action.strip()
        word = command.split(maxsplit=1)[0]
        name = word if word in _COMMANDS else "bash"
        return [Call(id=self._calls.choose(f"call_{place}"), name=name, arguments={"command": command})]


def _take_reply(step: Document, replies: list[dict[str, object]]) -> Document:
    """Find the history's message for a step; it is removed from `replies` with all before it."""
    for place, item in enumerate(replies[:_AHEAD]):
        if "action" in item:
            same = item.get("action") == step.get("action") and item.get("thought") == step.get("thought")
        else:
            same = bool(item.get("content")) and item.get("content") == step.get("response")
        if same:
            del replies[: place + 1]
            return item
    return {}


def _steps_of(history: Sequence[Document]) -> list[dict[str, object]]:
    """Make the steps of a run from what the model was shown, if its trajectory is empty."""
    steps: list[dict[str, object]] = []
    for item in history:
        if item.get("is_demo") or item.get("role") == "system":
            continue
        text = _text(item.get("content"))
        if item.get("role") == "assistant":
            steps.append({"action": item.get("action"), "thought": item.get("thought") or text, "response": text})
        elif steps and not steps[-1].get("observation"):
            steps[-1]["observation"] = text
    return steps


def _swe_agent_failed(text: str, call: Call) -> bool | None:
    if _FAILED.match(text):
        return True
    derived = derive_failed(text, call)
    return False if derived is None and _WENT_WELL.search(text) else derived


MINI_SWE_AGENT = "mini-swe-agent"
_MARK = lazy_re(rb'"trajectory_format":\s*"mini-swe-agent|"mini_version":|"instance_cost":')
_BLOCK = lazy_re(r"```(?:mswea_bash_command|bash)\s*\n(.*?)\n```", re.S)
_RETURNED = lazy_re(r"\s*<returncode>(-?\d+)</returncode>")
_TIMED_OUT = lazy_re(r"\s*The last command <command>.*?</command> timed out", re.S)


class MiniSweAgent(LogReader):
    """mini-SWE-agent's `.traj.json`, and JSON lines of such runs.

    The model writes its thoughts and one fenced block; the block is run, and its output comes back as the next user
    message. Newer versions use tool calls, and note command, exit code and time under `extra`.
    """

    name = MINI_SWE_AGENT
    begins = (b"{",)
    marks = ((_MARK,),)
    holds = "run with messages"

    def _within(self, value: object, number: int, name: str) -> Iterator[Found]:
        run = mapping(value)
        messages, faults = objects_in(run, "messages", number, "messages")
        if messages or faults:
            builder = _MiniRun(run, messages).builder
            builder.faults = faults
            yield _mini_names(run, name), builder


def _mini_names(run: Document, name: str) -> list[str]:
    """The name of a run: its instance, with its model if several models tried the same instance."""
    instance = string(run.get("instance_id")) or name
    config = mapping(mapping(run.get("info")).get("config"))
    model = string(mapping(config.get("model")).get("model_name"))
    return [instance, f"{instance}-{model.rsplit('/', 1)[-1]}"] if model else [instance]


class _MiniRun:
    """Reads one run message by message."""

    def __init__(self, run: Document, messages: Sequence[dict[str, object]]) -> None:
        self.builder = SessionBuilder(MINI_SWE_AGENT, without(run, "messages"))
        self._waiting: list[Call] = []
        self._calls = 0
        self._replied = False
        for message in messages:
            extra = mapping(message.get("extra"))
            role, parts, injected = self._read(message, extra)
            draft = Draft(
                role=role,
                parts=tuple(parts),
                origin="injected" if injected else "spoken",
                at=parse_time(extra.get("timestamp")),
                native=Native(format=MINI_SWE_AGENT, payload=message),
            )
            self.builder.append(draft)

    def _read(self, message: Document, extra: Document) -> tuple[Role, list[Part], bool]:
        """Return a message's role, its parts, and whether the harness speaks in the user's place."""
        content = message.get("content", message.get("output"))
        blocks = (block.get("text") for block in objects(content))
        text = content if isinstance(content, str) else "\n".join(each for each in blocks if isinstance(each, str))
        match message.get("role"):
            case "system":
                return "system", [Text(text=text)], False
            case "assistant":
                return "assistant", self._reply(message, extra, text), False
            case _ if self._waiting and extra.get("interrupt_type") != "FormatError":
                return "tool", [self._result(message, extra, text)], False
        # The user says the task alone; all else is the harness's answer to an unusable reply.
        return "user", [Text(text=text)], self._replied

    def _reply(self, message: Document, extra: Document, text: str) -> list[Part]:
        self._replied = True
        parts: list[Part] = []
        if thought := string(message.get("reasoning_content")):
            parts.append(Thinking(text=thought))
        # Up to the last fence, after which no block can begin.
        blocks = list(_BLOCK.finditer(text, 0, text.rfind("\n```") + len("\n```")))
        self._waiting = self._calls_of_reply(message, extra, blocks)
        # Only a reply with exactly one block is run; others are rejected as a whole.
        cut = blocks[0].span() if len(self._waiting) == 1 and len(blocks) == 1 else (len(text), len(text))
        before, after = text[: cut[0]].rstrip(), text[cut[1] :].strip()
        parts.extend([Text(text=before)] if before else [])
        parts.extend(self._waiting)
        parts.extend([Text(text=after)] if after else [])
        return parts

    def _calls_of_reply(self, message: Document, extra: Document, blocks: Sequence[re.Match[str]]) -> list[Call]:
        """Return the calls of a reply: those that the log names, or else its one block."""
        calls = []
        for made in objects(message.get("tool_calls")):
            function = mapping(made.get("function"))
            name = string(function.get("name")) or "bash"
            calls.append(self._call(parsed_arguments(function.get("arguments")), made.get("id"), name))
        if not calls:
            actions = objects(extra.get("actions"))
            calls = [self._call({"command": action.get("command")}, action.get("tool_call_id")) for action in actions]
        if not calls and len(blocks) == 1:
            calls = [self._call({"command": blocks[0][1].strip()}, None)]
        return calls

    def _call(self, arguments: dict[str, object] | str, given: object, name: str = "bash") -> Call:
        self._calls += 1
        return Call(id=string(given) or f"call_{self._calls}", name=name, arguments=arguments)

    def _result(self, message: Document, extra: Document, text: str) -> Result:
        """Read an output as the answer to the call that it names, or to the first that waits."""
        named = message.get("tool_call_id") or message.get("call_id")
        call = next((call for call in self._waiting if call.id == named), self._waiting[0])
        self._waiting.remove(call)
        return Result(call_id=call.id, parts=(Text(text=text),), failed=_mini_failed(extra, text, call))


def _mini_failed(extra: Document, text: str, call: Call) -> bool | None:
    code = extra.get("returncode")
    if isinstance(code, int):
        return code != 0
    if found := _RETURNED.match(text):
        return int(found[1]) != 0
    return True if _TIMED_OUT.match(text) else derive_failed(text, call)


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(text for block in objects(content) if (text := string(block.get("text"))))


# Transcripts in a chat provider's own message format.
#
# A file holds a list of messages, an object with such a list (`messages`, or `traj` in tau-bench), a list of such
# objects, or any of these as JSON lines. Lines of one message each are one session.

_LISTS = ("messages", "traj")
_IDS = ("session_id", "conversation_id", "thread_id", "instance_id", "id")
_LIST_OF_MESSAGES = lazy_re(rb'(?:\A\s*|"(?:messages|traj)":\s*)\[\s*\{\s*"')
_ROLE = lazy_re(rb'"role":\s*"(?:user|assistant|system|developer|tool)"')
_SAID = lazy_re(rb'"(?:content|tool_calls|function_call|refusal|audio)":')
_ANTHROPIC = lazy_re(rb'"type":\s*"(?:tool_use|tool_result|thinking|redacted_thinking)"')


class Run(Struct, kw_only=True):
    """A session before its messages are read."""

    number: int
    """The line that the run begins on."""
    messages: list[tuple[int, object]]
    """The messages, each with the number of its line."""
    besides: dict[str, object]
    """The fields of the run besides its messages."""
    system: object = None


class OpenAITranscript(LogReader):
    """Transcripts of OpenAI's chat completions, and all plain ones."""

    name: str = OPENAI

    def recognises(self, sample: bytes) -> bool:
        """Whether `sample` holds messages of this format; plain text without any block is taken for OpenAI's."""
        if not (_ROLE.search(sample) and _SAID.search(sample)) or not (
            _LIST_OF_MESSAGES.search(sample) or _begins_with_message(sample)
        ):
            return False
        return bool(_ANTHROPIC.search(sample)) == (self.name == ANTHROPIC)

    def _find(self, lines: Iterable[bytes], name: str, faults: list[LogFault]) -> Iterator[Found]:
        for run in _runs(lines, faults):
            builder = SessionBuilder(self.name)
            drafts = self._drafts(run, builder.faults)
            builder.note(*([run.besides] if run.besides else []))
            for draft in drafts:
                builder.append(draft)
            yield [_id(run.besides) or name], builder

    def _drafts(self, run: Run, faults: list[LogFault]) -> list[Draft]:
        out: list[Draft] = []
        try:
            out += self._prompt(run.system)
        except UnreadableLog as error:
            run.besides["system"] = run.system
            faults.append(_left_out(run.number, "system prompt", error))
        calls: dict[str, Call] = {}
        of_run = time_of(run.besides)
        for index, (number, message) in enumerate(run.messages):
            try:
                # A run may begin with plain messages, or go on with another provider.
                read = decode_message(message, chat_format(mark_of(message) or self.chat))
            except UnreadableLog as error:
                faults.append(_left_out(number, f"message {index + 1}", error))
                continue
            for draft in read:
                calls.update({call.id: call for call in draft.calls})
                out.append(_told(draft, time_of(message) or of_run, calls))
        return out

    def _prompt(self, system: object) -> list[Draft]:
        """Read a system prompt apart from the messages, even if the format has no such field."""
        if not system:
            return []
        chat = chat_format(self.chat)
        beside = chat.decode({"system": system, "messages": []})
        return beside or chat.decode([{"role": "system", "content": system}])


class AnthropicTranscript(OpenAITranscript):
    """Transcripts of Anthropic's messages."""

    name = ANTHROPIC
    chat = ANTHROPIC


def _left_out(number: int, place: str, error: UnreadableLog) -> LogFault:
    # The format counts from the start of its argument, which was one message.
    what = str(error).removeprefix("message 0").strip(":, .")
    return LogFault(line=number, message=f"Line {number}, {place}: {what}; it was left out.")


def _told(draft: Draft, at: datetime | None, calls: Mapping[str, Call]) -> Draft:
    """Add the time `at` and the outcomes of results where `draft` has none."""
    parts = tuple(
        replace(part, failed=derive_failed(part.text, calls.get(part.call_id)))
        if isinstance(part, Result) and part.failed is None
        else part
        for part in draft.parts
    )
    return replace(draft, parts=parts, at=draft.at or at)


def _runs(lines: Iterable[bytes], faults: list[LogFault]) -> Iterator[Run]:
    single: Run | None = None
    for number, value in documents(lines, faults):
        if isinstance(value, dict) and "role" in value:
            single = single or Run(number=number, messages=[], besides={})
            single.messages.append((number, value))
            continue
        yield from [single] if single else []
        single = None
        runs = list(_within(value, number))
        yield from runs
        if not runs:
            faults.append(line_fault(number, "holds no messages; it was left out."))
    yield from [single] if single else []


def _within(value: object, number: int) -> Iterator[Run]:
    if isinstance(value, dict):
        for key in _LISTS:
            if isinstance(messages := value.get(key), list):
                besides, system = without(value, key, "system"), value.get("system")
                yield Run(number=number, messages=[(number, each) for each in messages], besides=besides, system=system)
                return
    elif isinstance(value, list):
        dicts = [item for item in value if isinstance(item, dict)]
        if any("role" in item for item in dicts):
            yield Run(number=number, messages=[(number, item) for item in value], besides={})
            return
        for item in dicts:
            yield from _within(item, number)


def _id(besides: Document) -> str | None:
    if "task_id" in besides and "trial" in besides:
        return f"task-{besides['task_id']}-trial-{besides['trial']}"
    return next((name for key in _IDS if (name := string(besides.get(key)))), None)


def _begins_with_message(sample: bytes) -> bool:
    values, _ = parse_line(sample.lstrip().split(b"\n", 1)[0], 1)
    return bool(values) and isinstance(values[0], dict) and isinstance(values[0].get("role"), str)
