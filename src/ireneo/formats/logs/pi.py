"""pi's sessions: JSON lines, the first of which describes the session; the entries of newer ones name their parents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from ireneo.formats.logs.documents import Document, Found, LogReader, parse_line
from ireneo.formats.logs.format import LogFault, SessionBuilder, line_fault
from ireneo.formats.values import mapping, objects, parse_time, string
from ireneo.log.calls import derive_failed
from ireneo.log.message import Call, Draft, Media, Opaque, Origin, Part, Result, Role, Text, Thinking
from ireneo.patterns import lazy_re

FORMAT = "pi"
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
    return Opaque(format=FORMAT, payload=block)


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
            return Opaque(format=FORMAT, payload=block)
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
        self.builder = SessionBuilder(FORMAT, *([header] if header else []))
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

    name = FORMAT
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
