"""Gemini CLI's chats: one JSON document or, in newer versions, JSON lines that are appended to and rewound.

A message that is written again under its id replaces the older version. A checkpoint (`$set`) lists the messages that
the tool goes on with after a compaction: known ones stay where they are, and new ones, mainly the summary, are
appended.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from ireneo.formats.logs.documents import Document, Found, LogReader, documents
from ireneo.formats.logs.format import LogFault, SessionBuilder, line_fault
from ireneo.formats.values import mapping, objects, parse_time, string, without
from ireneo.log.calls import derive_failed, runs_program
from ireneo.log.message import Call, Draft, Media, Opaque, Origin, Part, Result, Role, Text, Thinking
from ireneo.patterns import lazy_re

FORMAT = "gemini-cli"
_SUMMARY = "<state_snapshot>"
"""Marks the summary of a compacted chat."""
_FAILED = ("error", "cancelled")
_DONE = ("success", *_FAILED)


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
        results = [result for each in noted if parts and (result := _result(each, by_id))]
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


def _result(each: Document, calls: Mapping[str, Call]) -> Result | None:
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
    if status in _FAILED or any(answer.failed for answer in answers):
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
    return [Opaque(format=FORMAT, payload=dict(item))] if item else []


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
        builder = SessionBuilder(FORMAT, *([self.about] if self.about else []))
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

    name = FORMAT
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
