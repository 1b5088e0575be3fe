"""Requests and answers of chat APIs: which messages are the conversation, and how a context replaces them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import chain, pairwise
from typing import Protocol, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

import ireneo
from ireneo.errors import UnreadableLog
from ireneo.patterns import lazy_re
from ireneo.types import FormatName, Media, Opaque, Part, Thinking

Json: TypeAlias = dict[str, object]
Digest: TypeAlias = bytes

SETTLED = 16
"""A system message with this many messages after it belongs to the conversation. Nearer to the end it may be one
that clients insert at a fixed depth, and so each time elsewhere: an author's note, a line of a lorebook."""
LEAST_CHARACTERS = 20
"""The shortest text of a message that is unlikely to occur twice."""
_PROMPTING = ("system", "developer")
_TURNS = ("user", "assistant")
BEGINNING = "[The conversation begins here.]"
"""The user message before a block that begins a list, for servers that demand one."""
_CHATS: tuple[tuple[str, FormatName], ...] = (("/chat/completions", "openai"), ("/messages", "anthropic"))
_MARK = lazy_re(r"\[REDACTED[^\]]{0,80}\]")
_CACHED = "cache_control"


class ChatRequest(Struct, frozen=True, kw_only=True):
    """A request for a model's answer, split into its parts."""

    format: FormatName
    body: Json
    prompt: list[Json]
    """The system messages before the conversation, which are not part of it and stay as they are."""
    said: list[Json]
    """The messages of the conversation."""
    drafts: list[list[ireneo.Draft]]
    """For each message of the conversation, its drafts."""
    marks: list[Digest]
    """For each draft, the digest of everything said up to it."""
    floating: list[tuple[int, Json]]
    """The system messages near the conversation's end, each with the number of messages after it."""

    @property
    def has_tools(self) -> bool:
        """Whether the client is an agent, which offers tools or has called some."""
        calls = any(draft.calls or draft.results for drafts in self.drafts for draft in drafts)
        return calls or bool(self.body.get("tools") or self.body.get("functions"))

    @property
    def answers_as(self) -> str:
        """The name under which the model speaks, if the client names speakers: that of its last answer."""
        last = next((each for each in reversed(self.said) if each.get("role") == "assistant"), {})
        return name if isinstance(name := last.get("name"), str) else ""

    def beside(self) -> bytes:
        """Encode everything that is sent besides the conversation: system prompt, tools, and other fields."""
        rest = {key: value for key, value in self.body.items() if key != "messages"}
        return msgspec.json.encode([rest, self.prompt, [message for _, message in self.floating]])

    def with_context(self, context: ireneo.Context) -> bytes | None:
        """Return the body with `context` in place of the conversation; None if both say the same.

        Messages that the context shows whole stay as the client wrote them.
        """
        shown: list[Json] = list(context.messages)
        live, is_live = 0, True
        for back in range(1, min(len(shown), len(self.said)) + 1):
            same = _says_the_same(self.format, shown[-back], self.said[-back])
            shown[-back] = self.said[-back] if same else shown[-back]
            is_live = is_live and same
            live += is_live
        if shown == self.said and context.system is None:
            return None
        shown = self._in_turns(shown, len(shown) - live)
        for behind, message in self.floating:
            # In order, so that each insertion leaves the number of messages after it unchanged.
            at = len(shown) - min(behind, live)
            while at < len(shown) and shown[at].get("role") in ("tool", "function"):
                at += 1
            shown.insert(at, message)
        body = {**self.body, "messages": [*self.prompt, *shown]}
        if context.thinking_off:
            body.pop("thinking", None)
        return msgspec.json.encode(body)

    def _in_turns(self, shown: list[Json], ours: int) -> list[Json]:
        """Make user and assistant take turns among the first messages, if they do so in the client's list.

        Many models on local servers accept nothing else, and a context may begin with a block, which has the
        assistant's role.
        """
        roles = [each.get("role") for each in self.said]
        if roles[0] != "user" or any(one == other and one in _TURNS for one, other in pairwise(roles)):
            return shown
        turns: list[Json] = [] if shown[0].get("role") == "user" else [{"role": "user", "content": BEGINNING}]
        for message in shown[:ours]:
            before = turns[-1] if turns else {}
            texts = before.get("content"), message.get("content")
            is_same = before.get("role") == message.get("role") and message.get("role") in _TURNS
            if is_same and all(isinstance(text, str) for text in texts) and not {**before, **message}.get("tool_calls"):
                turns[-1] = {**before, "content": f"{texts[0]}\n\n{texts[1]}"}
            else:
                turns.append(message)
        return turns + shown[ours:]


def chat_format_at(path: str) -> FormatName | None:
    """Return the chat format of an API's path; None if the path is not for chats."""
    return next((name for ending, name in _CHATS if path.endswith(ending)), None)


def read_request(data: bytes, name: FormatName) -> ChatRequest | None:
    """Parse a request; None if no model could answer it, or if nothing is said in it. Raises UnreadableLog."""
    try:
        body = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    listed = body.get("messages") if isinstance(body, dict) else None
    if not isinstance(listed, list) or not all(isinstance(message, dict) for message in listed):
        return None
    begins = next((at for at, message in enumerate(listed) if message.get("role") not in _PROMPTING), len(listed))
    said: list[Json] = []
    floating: list[tuple[int, Json]] = []
    behind = 0
    for message in reversed(listed[begins:]):
        if message.get("role") in _PROMPTING and behind <= SETTLED:
            floating.insert(0, (behind, message))
        else:
            said.insert(0, message)
            behind += 1
    drafts = [drafts_of(name, message) for message in said]
    if not all(drafts) or not any(map(_says_something, chain.from_iterable(drafts))):
        return None
    return ChatRequest(
        format=name,
        body=body,
        prompt=listed[:begins],
        said=said,
        drafts=drafts,
        marks=digests(chain.from_iterable(drafts)),
        floating=floating,
    )


def _says_something(draft: ireneo.Draft) -> bool:
    return any(not isinstance(part, ireneo.Text) or part.text for part in draft.parts)


def drafts_of(name: FormatName, message: Json) -> list[ireneo.Draft]:
    """Decode a message, without cache marks of the provider and with the speaker's name."""
    content, author = message.get("content"), message.get("name")
    if isinstance(content, list):
        message = {**message, "content": [_without_cache_marks(block) for block in content]}
    drafts = ireneo.chat_format(name).decode([message])
    if not isinstance(author, str) or not author or message.get("role") not in ("user", "assistant"):
        return drafts
    return [
        replace(draft, parts=tuple(_with_author(part, author) for part in draft.parts), native=None) for draft in drafts
    ]


def _with_author(part: Part, author: str | None) -> Part:
    return replace(part, author=author) if isinstance(part, ireneo.Text) else part


def _without_cache_marks(block: object) -> object:
    if not isinstance(block, dict):
        return block
    bare = {key: value for key, value in block.items() if key != _CACHED}
    if isinstance(inner := bare.get("content"), list):
        bare["content"] = [_without_cache_marks(each) for each in inner]
    return bare


def text_of(draft: ireneo.Draft) -> list[str]:
    """Return a message's text by part, without white space, thinking, and what clients change at will."""
    lines: list[str] = [draft.role]
    for part in draft.parts:
        if isinstance(part, ireneo.Text):
            # A format without authors puts the name before the text.
            lines.append("".join(f"{part.author}: {part.text}".split() if part.author else part.text.split()))
        elif isinstance(part, ireneo.Call):
            given = part.arguments
            given = given if isinstance(given, str) else msgspec.json.encode(given, order="deterministic").decode()
            lines.append("".join(f"{part.id} {part.name} {given}".split()))
        elif isinstance(part, ireneo.Result):
            lines.append("".join(f"{part.call_id} {part.text}".split()))
        elif isinstance(part, Media | Opaque):
            lines.append(blake2b(msgspec.json.encode(part, order="deterministic")).hexdigest())
    return [line for line in lines if line]


def digest(draft: ireneo.Draft, before: Digest = b"") -> Digest:
    """Digest a message's text; with `before`, the digest of the message before, everything up to it."""
    # A named speaker may have any role, as a chat's log knows no model.
    said = text_of(draft)[1:] if draft.author else text_of(draft)
    return blake2b(msgspec.json.encode(said), key=before, digest_size=16).digest()


def digests(drafts: Iterable[ireneo.Draft], before: Digest = b"") -> list[Digest]:
    """Digest, for each message of a list, everything up to it; `before` is the digest of what precedes the list."""
    found: list[Digest] = []
    for draft in drafts:
        before = digest(draft, before)
        found.append(before)
    return found


def _says_the_same(name: FormatName, shown: Json, given: Json) -> bool:
    """Whether a message of a context is the client's own message, apart from removed secrets."""
    if shown == given:
        return True
    try:
        ours, theirs = drafts_of(name, shown), drafts_of(name, given)
    except UnreadableLog:
        return False
    if name == "anthropic" and _thoughts(ours) != _thoughts(theirs):
        # What a provider has signed is sent as it is in the context.
        return False
    return len(ours) == len(theirs) and all(map(_is_said_by, ours, theirs))


def _is_said_by(shown: ireneo.Draft, given: ireneo.Draft) -> bool:
    if given.author is None:
        return _fit(text_of(shown), text_of(given))
    # The name may be part of the text, and the role depends on the viewpoint.
    unnamed = replace(given, parts=tuple(_with_author(part, None) for part in given.parts))
    return any(_fit(text_of(shown)[1:], text_of(each)[1:]) for each in (given, unnamed))


def _thoughts(drafts: Sequence[ireneo.Draft]) -> int:
    return sum(isinstance(part, Thinking) for draft in drafts for part in draft.parts)


def _fit(shown: Sequence[str], given: Sequence[str]) -> bool:
    return len(shown) == len(given) and all(map(_fits, shown, given))


def _fits(shown: str, given: str) -> bool:
    """Whether `shown` is `given` with marks in place of secrets."""
    first, *rest = _MARK.split(shown)
    if not rest:
        return shown == given
    if not given.startswith(first) or not given.endswith(rest[-1]):
        return False
    place = len(first)
    for piece in rest[:-1]:
        found = given.find(piece, place)
        if found < 0:
            return False
        place = found + len(piece)
    return place + len(rest[-1]) <= len(given)


def words_of(drafts: Sequence[ireneo.Draft]) -> set[Digest]:
    """Return the digests of the longer messages, by which part of a conversation is recognised."""
    return {digest(draft) for draft in drafts if sum(map(len, text_of(draft)[1:])) >= LEAST_CHARACTERS}


# Answers of a model, read from what passes through: JSON, or a stream of events, which may break off.

STREAM = "text/event-stream"
THOUGHTS = ("reasoning_content", "reasoning")
"""The keys under which servers of OpenAI's format stream a model's reasoning."""


class AnswerReader(Protocol):
    """Reads an answer as its bytes arrive."""

    is_complete: bool
    """Whether the end of the stream was read."""

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
    """One of several answers to a request, while it arrives."""

    def __init__(self) -> None:
        self.texts: dict[str, list[str]] = {}
        self.calls: dict[object, Json] = {}
        self.is_ended = False

    def add(self, delta: Json) -> None:
        for key in ("content", "refusal", *THOUGHTS):
            if isinstance(piece := delta.get(key), str):
                self.texts.setdefault(key, []).append(piece)
        for call in _objects(delta.get("tool_calls")):
            # A server that sends calls in one piece may not number them.
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
        answered = any(block.get("type") not in ("thinking", "redacted_thinking") for block in content)
        return [{"role": "assistant", "content": content}] if answered else []

    def _content(self) -> Iterator[Json]:
        for at, block in sorted(self._blocks.items()):
            if at not in self._ended and block.get("type") != "text":
                continue
            if at in self._inputs:
                given = _json(self._inputs[at].encode())
                yield {**block, "input": given}
            elif block.get("type") != "text" or block.get("text"):
                yield block


def _says(message: Json) -> bool:
    """Whether a message is not empty."""
    return any(message.get(key) for key in ("content", "refusal", "tool_calls", "function_call", "audio"))


def _json(data: bytes) -> Json:
    """Decode a JSON object; empty if `data` isn't one, as other things pass through too."""
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
