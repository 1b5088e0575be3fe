"""Transcripts in a chat provider's own message format.

A file holds a list of messages, an object with such a list (`messages`, or `traj` in tau-bench), a list of such
objects, or any of these as JSON lines. Lines of one message each are one session.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from ireneo.errors import UnreadableLog
from ireneo.formats.chat.format import ANTHROPIC, OPENAI, chat_format
from ireneo.formats.chat.reading import mark_of, time_of
from ireneo.formats.logs.documents import Document, Found, LogReader, documents, parse_line
from ireneo.formats.logs.format import LogFault, SessionBuilder, line_fault
from ireneo.formats.values import string, without
from ireneo.log.calls import derive_failed
from ireneo.log.message import Call, Draft, Result
from ireneo.patterns import lazy_re

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
                read = chat_format(mark_of(message) or self.chat).decode([message])
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
    what = str(error).removeprefix("message 0").lstrip(":, ")
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
