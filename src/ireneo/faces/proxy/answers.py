"""Answers of a model, read from what passes through: JSON, or a stream of events, which may break off."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Protocol

import msgspec

from ireneo.faces.proxy.requests import Json
from ireneo.types import FormatName

STREAM = "text/event-stream"
THOUGHTS = ("reasoning_content", "reasoning")
"""The keys under which servers of OpenAI's format stream a model's reasoning."""


class AnswerReader(Protocol):
    """Reads an answer as its bytes arrive."""

    is_complete: bool
    """Whether its end was read."""

    def feed(self, data: bytes) -> None:
        """Read some bytes."""

    def answers(self) -> list[Json]:
        """Return a message for each choice so far; of an incomplete one the text alone."""


def answer_reader(name: FormatName, content_type: str) -> AnswerReader:
    """Return the reader for a format and content type."""
    if not content_type.startswith(STREAM):
        return WholeAnswer(name)
    return StreamedMessage() if name == "anthropic" else StreamedChoices()


class WholeAnswer:
    """An answer in JSON."""

    def __init__(self, name: FormatName) -> None:
        self.is_complete = False
        self._format = name
        self._data = bytearray()

    def feed(self, data: bytes) -> None:
        """Read some bytes."""
        self._data += data
        self.is_complete = self._data.rstrip().endswith(b"}") and bool(_json(bytes(self._data)))

    def answers(self) -> list[Json]:
        """Return the messages; none where the answer broke off, or is none."""
        answer = _json(bytes(self._data))
        if self._format == "anthropic":
            content = answer.get("content")
            is_message = answer.get("role") == "assistant" and content
            return [{"role": "assistant", "content": content}] if is_message else []
        choices = sorted(_objects(answer.get("choices")), key=_index)
        return [message for each in choices if isinstance(message := each.get("message"), dict) and _says(message)]


class StreamedAnswer(ABC):
    """An answer in server-sent events, in any chunks."""

    def __init__(self) -> None:
        self.is_complete = False
        self._left = b""

    def feed(self, data: bytes) -> None:
        """Read some bytes, of which whole lines are used."""
        *lines, self._left = (self._left + data).replace(b"\r\n", b"\n").split(b"\n")
        for line in lines:
            if line.startswith(b"data:"):
                self.read(line[5:].strip())

    @abstractmethod
    def read(self, event: bytes) -> None:
        """Read one event."""


class _Choice:
    """One of the answers to a request, as it comes."""

    def __init__(self) -> None:
        self.texts: dict[str, list[str]] = {}
        self.calls: dict[object, Json] = {}
        self.is_ended = False

    def add(self, delta: Json) -> None:
        for key in ("content", "refusal", *THOUGHTS):
            if isinstance(piece := delta.get(key), str):
                self.texts.setdefault(key, []).append(piece)
        for call in _objects(delta.get("tool_calls")):
            # A server that sends whole calls may not number them.
            place = call.get("index", call.get("id"))
            known = self.calls.setdefault(place, {"id": "", "type": "function", "name": "", "arguments": ""})
            known["id"] = call.get("id") or known["id"]
            function = call.get("function")
            if isinstance(function, dict):
                known["name"] = function.get("name") or known["name"]
                known["arguments"] = f"{known['arguments']}{function.get('arguments') or ''}"

    def message(self) -> Json:
        texts: Json = {key: "".join(pieces) for key, pieces in self.texts.items()}
        message: Json = {"role": "assistant", "content": texts.pop("content", None)}
        message.update({key: text for key, text in texts.items() if text})
        if self.calls and self.is_ended:
            message["tool_calls"] = [
                {
                    "id": call["id"],
                    "type": "function",
                    "function": {"name": call["name"], "arguments": call["arguments"]},
                }
                for call in self.calls.values()
            ]
        return message


class StreamedChoices(StreamedAnswer):
    """A stream of OpenAI's chat completions."""

    def __init__(self) -> None:
        super().__init__()
        self._choices: dict[int, _Choice] = {}

    def read(self, event: bytes) -> None:
        """Read one event."""
        if event == b"[DONE]":
            self.is_complete = True
            return
        for each in _objects(_json(event).get("choices")):
            choice = self._choices.setdefault(_index(each), _Choice())
            if isinstance(delta := each.get("delta"), dict):
                choice.add(delta)
            choice.is_ended = choice.is_ended or bool(each.get("finish_reason"))

    def answers(self) -> list[Json]:
        """Return the messages so far."""
        messages = [choice.message() for _, choice in sorted(self._choices.items())]
        return [message for message in messages if _says(message)]


class StreamedMessage(StreamedAnswer):
    """A stream of Anthropic's messages."""

    def __init__(self) -> None:
        super().__init__()
        self._blocks: dict[int, Json] = {}
        self._inputs: dict[int, str] = {}
        self._ended: set[int] = set()

    def read(self, event: bytes) -> None:
        """Read one event."""
        data = _json(event)
        at, what = _index(data), data.get("type")
        if what == "message_stop":
            self.is_complete = True
        elif what == "content_block_start" and isinstance(block := data.get("content_block"), dict):
            self._blocks[at] = dict(block)
        elif what == "content_block_delta" and isinstance(delta := data.get("delta"), dict) and at in self._blocks:
            self._add(at, delta)
        elif what == "content_block_stop":
            self._ended.add(at)

    def _add(self, at: int, delta: Json) -> None:
        block = self._blocks[at]
        for key in ("text", "thinking", "signature"):
            if isinstance(piece := delta.get(key), str):
                block[key] = f"{block.get(key) or ''}{piece}"
        if isinstance(piece := delta.get("partial_json"), str):
            self._inputs[at] = self._inputs.get(at, "") + piece

    def answers(self) -> list[Json]:
        """Return the messages so far."""
        content = list(self._content())
        return [{"role": "assistant", "content": content}] if any(map(_is_word, content)) else []

    def _content(self) -> Iterator[Json]:
        for at, block in sorted(self._blocks.items()):
            if at not in self._ended and block.get("type") != "text":
                continue
            if at in self._inputs:
                given = _json(self._inputs[at].encode())
                yield {**block, "input": given}
            elif block.get("type") != "text" or block.get("text"):
                yield block


def _is_word(block: Json) -> bool:
    return block.get("type") not in ("thinking", "redacted_thinking")


def _says(message: Json) -> bool:
    """Whether a message is not empty."""
    return any(message.get(key) for key in ("content", "refusal", "tool_calls", "function_call", "audio"))


def _json(data: bytes) -> Json:
    """Decode a JSON object; empty where `data` is none, as not all that passes through is an answer."""
    try:
        value = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return {}
    return value if isinstance(value, dict) else {}


def _objects(listed: object) -> list[Json]:
    return [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []


def _index(item: Json) -> int:
    index = item.get("index")
    return index if isinstance(index, int) else 0
