"""OpenHands: the event histories of its first generation ("classic"), and the events of its later SDK.

A history is a list of events, one event a line, or a record that holds the list (`history`, `events`); in the oldest
ones an action and its observation are a pair. The SDK's events have their type under `kind`.

Not read: `base_state.json` next to a directory of the SDK's events (each file there holds one event, and is a session
of its own unless they are joined to JSON lines). Calls of agents over ACP, and attachments, are only recorded. An
action that the user ran is a message of the harness.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from ireneo.formats.chat.format import ANTHROPIC, RESPONSES
from ireneo.formats.logs.documents import Document, Found, LogReader, entry_runs, given_names, text_result
from ireneo.formats.logs.format import LogFault, SessionBuilder, UniqueNames
from ireneo.formats.values import mapping, objects, parse_time, parsed_arguments, string, without
from ireneo.log.calls import derive_failed
from ireneo.log.message import Call, Draft, Media, Origin, Part, Result, Role, Text, Thinking
from ireneo.patterns import lazy_re

FORMAT = "openhands"

ACTIONS = frozenset(
    {
        *("message", "system", "start", "read", "write", "edit", "run", "run_ipython", "browse", "browse_interactive"),
        *("call_tool_mcp", "delegate", "think", "finish", "reject", "null", "pause", "resume", "stop", "recall"),
        *("change_agent_state", "push", "send_pr", "condensation", "condensation_request", "task_tracking"),
        *("loop_recovery", "summarize", "modify_task", "add_task"),
    }
)
"""The actions of the first generation."""
_QUIET_ACTIONS = frozenset(
    {
        *("start", "null", "pause", "resume", "stop", "change_agent_state", "push", "send_pr", "condensation_request"),
        *("recall", "loop_recovery", "modify_task", "add_task"),
    }
)
"""Actions of the harness itself, in which nobody speaks."""
OBSERVATIONS = frozenset(
    {
        *("read", "write", "edit", "browse", "run", "run_ipython", "chat", "delegate", "message", "error", "success"),
        *("null", "think", "agent_state_changed", "user_rejected", "condense", "recall", "mcp", "download"),
        *("task_tracking", "loop_detection"),
    }
)
"""The observations of the first generation."""
_QUIET_OBSERVATIONS = frozenset({"null", "agent_state_changed", "loop_detection"})

KINDS = frozenset(
    {
        *("SystemPromptEvent", "MessageEvent", "ActionEvent", "ObservationEvent", "AgentErrorEvent"),
        *("UserRejectObservation", "Condensation", "CondensationRequest", "CondensationSummaryEvent", "PauseEvent"),
        *("InterruptEvent", "ConversationStateUpdateEvent", "ConversationErrorEvent", "LLMCompletionLogEvent"),
        *("TokenEvent", "HookExecutionEvent", "ACPToolCallEvent", "StreamingDeltaEvent"),
    }
)
"""The kinds of the SDK's events."""


_FAILED = lazy_re(r"ERROR:\n|\[(?:Your proposed edit has introduced|No exact match found|Error\b)")
_EDITED = lazy_re(
    r"(?:The file [^\n]{1,300} has been edited\.|File created successfully at)|\[File: [^\n]* after edit\)\]"
)
"""The beginning of outputs of the tools for files."""
_STILL_RUNNING = -1
"""The exit code of a command that still ran when the harness stopped waiting for it."""


def _outcome(seen: Document, flag: object, text: str, call: Call | None) -> bool | None:
    """Whether a call failed, by the harness's error `flag`, the exit code in the observation `seen`, or the `text`."""
    codes = (place.get("exit_code") for place in (mapping(seen.get("metadata")), seen))
    code = next((code for code in codes if isinstance(code, int) and not isinstance(code, bool)), None)
    if flag is True:
        return True
    if code is not None and code != _STILL_RUNNING:
        return code != 0
    if _FAILED.match(text):
        return True
    derived = derive_failed(text, call)
    went_well = (flag is False and code is None) or _EDITED.match(text) is not None
    return False if derived is None and went_well else derived


_ABOUT = ("id", "timestamp", "source", "cause", "action", "observation", "message", "args", "extras", "llm_metrics")
_NO_ARGUMENT = {
    *(*_ABOUT, "tool_call_metadata", "thought", "is_confirmed", "confirmation_state", "action_risk", "security_risk"),
    *("keep_prompt", "kernel_init_code", "timeout", "blocking", "hidden", "is_static", "cwd"),
}
"""Fields of an action that are not arguments of the model's call."""
_KNOWLEDGE = ("repo_instructions", "additional_agent_instructions", "conversation_instructions")


def _is_classic(value: Document) -> bool:
    return string(value.get("action")) in ACTIONS or string(value.get("observation")) in OBSERVATIONS


class _Classic:
    def __init__(self, builder: SessionBuilder) -> None:
        self._builder = builder
        self._ids = UniqueNames()
        self._waiting: dict[str, Call] = {}
        """Unanswered calls by the ids of their events."""
        self._last: str | None = None
        """The event whose call an observation without a cause answers."""
        self._users_turn = True
        """Whether a message without a source is the user's."""

    def read_event(self, event: Document) -> None:
        kind = string(event.get("action"))
        args = mapping(event.get("args")) or event
        if kind not in ACTIONS:
            self._read_observation(event)
        elif kind in _QUIET_ACTIONS:
            self._builder.note(event)
        elif kind == "system":
            self._say("system", _words(event, args), event)
        elif kind == "message":
            users = event.get("source") == "user" or (event.get("source") != "agent" and self._users_turn)
            self._say("user" if users else "assistant", _words(event, args), event)
        elif kind == "condensation":
            self._say("user", string(args.get("summary")) or "", event, "summary")
        elif kind in ("finish", "reject", "summarize"):
            self._say("assistant", _closing_text(event, args), event)
        elif event.get("source") == "user":
            self._say("user", string(event.get("message")) or "", event, "injected")
        else:
            self._read_call(event, args)

    def _read_call(self, event: Document, args: Document) -> None:
        name, given = _model_call(event) or (str(event.get("action")), None)
        arguments = without(args, *_NO_ARGUMENT) if given is None else given
        self._last = str(event.get("id", f"call_{len(self._builder.nodes)}"))
        given_id = string(mapping(event.get("tool_call_metadata")).get("tool_call_id"))
        call = Call(id=self._ids.choose(given_id or f"event_{self._last}"), name=name, arguments=arguments)
        parts: list[Part] = [Thinking(text=text) for text in [string(_reply(event).get("reasoning_content"))] if text]
        if thought := string(args.get("thought")):
            parts.append(Text(text=thought))
        self._add("assistant", (*parts, call), event)
        self._waiting[self._last] = call
        self._users_turn = False

    def _read_observation(self, event: Document) -> None:
        kind = string(event.get("observation"))
        extras = mapping(event.get("extras")) or event
        self._builder.set_directory(string(mapping(extras.get("metadata")).get("working_dir")))
        text = string(event.get("content")) or ""
        if kind in _QUIET_OBSERVATIONS:
            self._builder.note(event)
        elif kind == "recall":
            self._say("user", _recalled_knowledge(extras), event, "injected")
        elif kind == "condense":
            self._say("user", text, event, "summary")
        elif (call := self._answered_call(event)) is None:
            self._say("user", text or string(event.get("message")) or "", event, "injected")
        else:
            flag = True if kind in ("error", "user_rejected") else extras.get("is_error")
            failed = _outcome(extras, flag, text, call)
            # The model's message is recorded with its action.
            self._add("tool", (text_result(call, text, failed=failed),), without(event, "tool_call_metadata"))

    def _answered_call(self, event: Document) -> Call | None:
        """Return the call that an observation belongs to; without a cause it is the call just before."""
        cause = event.get("cause")
        name = self._last if cause is None else str(cause)
        if name == self._last:
            self._last = None
        return self._waiting.pop(name, None) if name is not None else None

    def _say(self, role: Role, text: str, event: Document, origin: Origin = "spoken") -> None:
        self._add(role, (Text(text=text),) if text else (), event, origin)
        if text and origin == "spoken":
            self._users_turn, self._last = role == "assistant", None

    def _add(self, role: Role, parts: tuple[Part, ...], event: Document, origin: Origin = "spoken") -> None:
        name = event.get("id")
        source = None if name is None else str(name)
        draft = Draft(role=role, parts=parts, origin=origin, at=parse_time(event.get("timestamp")), source_id=source)
        self._builder.add(draft, event)


def _words(event: Document, args: Document) -> str:
    return string(args.get("content")) or string(event.get("content")) or string(event.get("message")) or ""


def _closing_text(event: Document, args: Document) -> str:
    outputs = mapping(args.get("outputs"))
    said = [args.get("thought"), args.get("final_thought"), outputs.get("content"), outputs.get("reason")]
    texts = [text for text in map(string, said) if text]
    return "\n\n".join(dict.fromkeys(texts)) or string(event.get("message")) or ""


def _recalled_knowledge(extras: Document) -> str:
    texts = [string(extras.get(key)) for key in _KNOWLEDGE]
    texts += [string(item.get("content")) for item in objects(extras.get("microagent_knowledge"))]
    return "\n\n".join(text for text in texts if text)


def _reply(event: Document) -> Document:
    """Return the model's own message after an action."""
    response = mapping(mapping(event.get("tool_call_metadata")).get("model_response"))
    choices = objects(response.get("choices"))
    return mapping(choices[0].get("message")) if choices else {}


def _model_call(event: Document) -> tuple[str, dict[str, object] | str | None] | None:
    """Return the name and, where the log has them, the arguments of the model's own call."""
    metadata = mapping(event.get("tool_call_metadata"))
    name = string(metadata.get("function_name"))
    if name is None:
        return None
    for call in objects(_reply(event).get("tool_calls")):
        given = mapping(call.get("function")).get("arguments")
        if call.get("id") == metadata.get("tool_call_id") and isinstance(given, str | dict):
            return name, parsed_arguments(given)
    return name, None


_ROOT = "__root__"
"""The parent of an event that begins a new root."""
_ANSWERS = ("ObservationEvent", "AgentErrorEvent", "UserRejectObservation")
_ROLES: Mapping[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}


def _is_sdk(value: Document) -> bool:
    kind = value.get("kind")
    if not isinstance(kind, str):
        return False
    return kind in KINDS or (kind.endswith("Event") and isinstance(value.get("source"), str))


class _Sdk:
    def __init__(self, builder: SessionBuilder) -> None:
        self._builder = builder
        self._ids = UniqueNames()
        self._ends: dict[str, int | None] = {}
        """The last node on the path to each event."""
        self._calls: dict[str, Call] = {}
        """Unanswered calls by the ids that the model gave them."""
        self._reply: list[Document] = []
        """The actions of the reply that is being read."""

    def read_event(self, event: Document) -> None:
        kind = event.get("kind")
        reply = event.get("llm_response_id")
        goes_on = kind == "ActionEvent" and reply is not None
        if self._reply and not (goes_on and reply == self._reply[-1].get("llm_response_id")):
            self.finish_reply()
        if kind == "ActionEvent":
            self._reply.append(event)
            return
        self._move_to_parent(event)
        if kind == "SystemPromptEvent":
            texts = [mapping(event.get(key)).get("text") for key in ("system_prompt", "dynamic_context")]
            self._say(event, "system", [Text(text=text) for text in map(string, texts) if text])
        elif kind == "MessageEvent":
            self._read_message(event)
        elif kind in _ANSWERS:
            self._read_observation(event)
        elif kind in ("Condensation", "CondensationSummaryEvent") and (summary := string(event.get("summary"))):
            self._say(event, "user", [Text(text=summary)], "summary")
        else:
            self._builder.note(event)
        self._remember_node(event)

    def finish_reply(self) -> None:
        actions, self._reply = self._reply, []
        if not actions:
            return
        self._move_to_parent(actions[0])
        parts: list[Part] = []
        for action in actions:
            parts += [*_thinking(action), *_content(action.get("thought"))]
        parts += [self._make_call(action) for action in actions]
        self._builder.add(_draft(actions[0], "assistant", parts), *actions)
        for action in actions:
            self._remember_node(action)

    def _move_to_parent(self, event: Document) -> None:
        """Move the head to the parent of `event`, or leave it where there is none."""
        parent = string(event.get("parent_id"))
        if parent == _ROOT:
            self._builder.head = None
        elif parent is not None and parent in self._ends:
            self._builder.head = self._ends[parent]

    def _remember_node(self, event: Document) -> None:
        if name := string(event.get("id")):
            self._ends[name] = self._builder.head

    def _say(self, event: Document, role: Role, parts: Sequence[Part], origin: Origin = "spoken") -> None:
        self._builder.add(replace(_draft(event, role, parts), origin=origin), event)

    def _read_message(self, event: Document) -> None:
        message = mapping(event.get("llm_message"))
        role = _ROLES.get(string(message.get("role")) or "", "user")
        origin: Origin = "injected" if role == "user" and event.get("source") != "user" else "spoken"
        self._say(event, role, [*_thinking(message), *_content(message.get("content"))], origin)
        if added := list(_content(event.get("extended_content"))):
            draft = _draft(event, "user", added)
            self._builder.add(replace(draft, origin="injected", source_id=None))

    def _make_call(self, action: Document) -> Call:
        made = mapping(action.get("tool_call"))
        name = string(made.get("name")) or string(action.get("tool_name")) or "unknown"
        given = made.get("arguments")
        if not isinstance(given, dict | str):
            given = without(mapping(action.get("action")), "kind")
        call_id = string(action.get("tool_call_id")) or string(made.get("id")) or "call"
        call = Call(id=self._ids.choose(call_id), name=name, arguments=parsed_arguments(given))
        self._calls[call_id] = call
        return call

    def _read_observation(self, event: Document) -> None:
        seen = mapping(event.get("observation"))
        self._builder.set_directory(string(mapping(seen.get("metadata")).get("working_dir")))
        parts: tuple[Text | Media, ...]
        if event.get("kind") == "AgentErrorEvent":
            parts = (Text(text=string(event.get("error")) or "An error."),)
        elif event.get("kind") == "UserRejectObservation":
            parts = (Text(text=f"Action rejected: {string(event.get('rejection_reason')) or 'no reason given'}"),)
        else:
            # Earlier versions wrote only text, some of them under another key.
            content = seen.get("content") or seen.get("output") or seen.get("message")
            parts = (*_content(content), *_content(event.get("extended_content")))
        call = self._calls.pop(string(event.get("tool_call_id")) or "call", None)
        if call is None:
            self._say(event, "user", parts, "injected")
            return
        flag = seen.get("is_error") if event.get("kind") == "ObservationEvent" else True
        result = Result(call_id=call.id, parts=parts)
        result = replace(result, failed=_outcome(seen, flag, result.text, call))
        self._builder.add(_draft(event, "tool", [result]), event)


def _draft(event: Document, role: Role, parts: Sequence[Part]) -> Draft:
    at = parse_time(event.get("timestamp"))
    return Draft(role=role, parts=tuple(parts), at=at, source_id=string(event.get("id")))


def _thinking(message: Document) -> Iterator[Part]:
    blocks = objects(message.get("thinking_blocks"))
    for block in blocks:
        signature, sealed = string(block.get("signature")), string(block.get("data"))
        text = string(block.get("thinking")) or ""
        if text or sealed:
            yield Thinking(text=text, signature=signature, sealed=sealed, format=ANTHROPIC)
    item = mapping(message.get("responses_reasoning_item"))
    if item:
        listed = [*_strings(item.get("summary")), *_strings(item.get("content"))]
        yield Thinking(text="\n\n".join(listed), sealed=string(item.get("encrypted_content")), format=RESPONSES)
    elif not blocks and (reasoned := string(message.get("reasoning_content"))):
        yield Thinking(text=reasoned)


def _strings(listed: object) -> list[str]:
    return [item for item in listed if isinstance(item, str)] if isinstance(listed, list) else []


def _content(content: object) -> Iterator[Text | Media]:
    if isinstance(content, str):
        if content:
            yield Text(text=content)
        return
    for block in objects(content):
        if text := string(block.get("text")):
            yield Text(text=text)
        for url in _strings(block.get("image_urls")):
            yield _image(url)


def _image(url: str) -> Media:
    kind, comma, data = url.partition(";base64,")
    if comma and kind.startswith("data:"):
        return Media(media_type=kind.removeprefix("data:"), data=data)
    return Media(media_type="image/*", url=url)


_KIND = lazy_re(rb'(?<!\\)"kind":\s*"(?:%s)"' % "|".join(sorted(KINDS)).encode())
_LISTED = lazy_re(rb'(?<!\\)"(?:history|events)":\s*\[\s*(?:\[\s*)?\{|\A\s*\[\s*(?:\[\s*)?\{|\A\s*\{\s*"id":')
_EVENT = lazy_re(
    rb'(?<!\\)"(?:action":\s*"(?:%s)|observation":\s*"(?:%s))"'
    % ("|".join(sorted(ACTIONS)).encode(), "|".join(sorted(OBSERVATIONS)).encode())
)
_ABOUT_RUN = lazy_re(rb'(?<!\\)"agent_class":\s*"')


class OpenHands(LogReader):
    """OpenHands' events of both generations."""

    name = FORMAT
    marks = ((_LISTED, _EVENT), (_KIND,), (_ABOUT_RUN,))

    def _find(self, lines: Iterable[bytes], name: str, faults: list[LogFault]) -> Iterator[Found]:
        for run in entry_runs(lines, lambda value: _is_sdk(value) or _is_classic(value), faults):
            builder = SessionBuilder(FORMAT, *([dict(run.besides)] if run.besides else []))
            classic, sdk = _Classic(builder), _Sdk(builder)
            for _, event in run.entries:
                (sdk if _is_sdk(event) else classic).read_event(event)
            sdk.finish_reply()
            yield _given_names(run.besides) or [name], builder


def _given_names(besides: Document) -> list[str]:
    issue = besides.get("issue")
    if isinstance(issue, dict) and "number" in issue and isinstance(issue.get("repo"), str):
        return [f"{issue['repo']}-{issue['number']}"]
    return given_names(besides)
