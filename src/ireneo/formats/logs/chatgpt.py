"""ChatGPT's export: `conversations.json`, each conversation a tree in which edited questions and new answers branch.

The path to `current_node` stands. What the page hides (a model's thoughts, empty prompts) is kept in the record; custom
instructions are what the system says. A message that goes to a tool is a call, and the tool's next message its result.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from ireneo.formats.logs.conversation import objects_of, uttered
from ireneo.formats.logs.format import LogFault, LoggedSession, NotedTree, UniqueNames, line_fault, with_faults
from ireneo.formats.values import json_in, mapping, moment, objects, string, without
from ireneo.log.message import Call, Draft, Media, Origin, Result, Role, Text
from ireneo.log.outcome import derive_failed
from ireneo.patterns import lazy_re

FORMAT = "chatgpt"
_MAPPING = lazy_re(rb'"mapping"\s*:\s*\{')
_NODE = (lazy_re(rb'"current_node"\s*:'), lazy_re(rb'"parent"\s*:'), lazy_re(rb'"children"\s*:'))
_ASIDE = frozenset({"thoughts", "reasoning_recap", "model_editable_context", "app_pairing_content"})
"""Kinds of content that nobody says to anybody."""
_ROLES: Mapping[str, Role] = {"user": "user", "assistant": "assistant", "system": "system", "tool": "tool"}


class ChatGPT:
    """Reads the conversations of an export, or one by itself."""

    name = FORMAT
    chat = "openai"

    def recognises(self, sample: bytes) -> bool:
        """Whether `sample` holds a conversation with a mapping of nodes."""
        begins = sample.lstrip()[:1] in (b"{", b"[")
        return begins and bool(_MAPPING.search(sample)) and any(mark.search(sample) for mark in _NODE)

    @with_faults
    def read(self, lines: Iterable[bytes], name: str) -> Iterator[LoggedSession | LogFault]:
        """Read the conversations; one without an id is called `name`."""
        names = UniqueNames()
        for found in objects_of(lines, "conversation"):
            if isinstance(found, LogFault):
                yield found
                continue
            number, conversation = found
            nodes = conversation.get("mapping")
            if not isinstance(nodes, dict):
                yield line_fault(number, "holds no conversation with a `mapping`; it was left out.")
                continue
            grown = _Grown(nodes, string(conversation.get("current_node")), without(conversation, "mapping"))
            if grown.head is None:
                continue  # A conversation that was opened and left again.
            id = string(conversation.get("conversation_id")) or string(conversation.get("id")) or name
            yield LoggedSession(id=names.give(id), nodes=grown.tree.nodes, head=grown.head)


class _Place(Struct, frozen=True):
    """Where a node of the export stands: behind which message, and which call waits there for its result."""

    index: int | None = None
    call: Call | None = None


class _Grown:
    """The tree of one conversation."""

    def __init__(self, nodes: Mapping[str, object], current: str | None, about: Mapping[str, object]) -> None:
        """Read `nodes`, those that lead to the `current` one first, so that they stand together."""
        self.tree = NotedTree(FORMAT, about)
        self._nodes = {id: mapping(node) for id, node in nodes.items()}
        self._places: dict[str, _Place] = {}
        standing = self._way_to(current)
        children: dict[str | None, list[str]] = {}
        for id, node in self._nodes.items():
            parent = string(node.get("parent"))
            children.setdefault(parent if parent in self._nodes else None, []).append(id)
        waiting = sorted(children.get(None, []), key=lambda id: id in standing)
        last: _Place | None = None
        while waiting:
            id = waiting.pop()
            last = self._places[id] = self._add(self._nodes[id])
            waiting += sorted(children.get(id, []), key=lambda id: id in standing)
        place = self._places.get(current or "", last) or _Place()
        self.head = place.index

    def _way_to(self, current: str | None) -> frozenset[str]:
        way: dict[str, None] = {}
        while current in self._nodes and current not in way:
            way[current] = None
            current = string(self._nodes[current].get("parent"))
        return frozenset(way)

    def _add(self, node: Mapping[str, object]) -> _Place:
        before = self._places.get(string(node.get("parent")) or "", _Place())
        message = mapping(node.get("message"))
        if not message:
            return before
        draft = _draft(message, before.call)
        if not draft.parts:
            self.tree.note(before.index, message)
            return before
        index = self.tree.add(draft, before.index, without(message, "content"))
        return _Place(index, next(iter(draft.calls), None))


def _draft(message: Mapping[str, object], call: Call | None) -> Draft:
    """What a message says; without parts where it is for nobody. `call` is one that waits for its result."""
    author, content = mapping(message.get("author")), mapping(message.get("content"))
    role = _ROLES.get(string(author.get("role")) or "", "user")
    kind = content.get("content_type")
    at, id = moment(message.get("create_time")), string(message.get("id"))
    if kind == "user_editable_context":
        given = (string(content.get(key)) for key in ("user_profile", "user_instructions"))
        return uttered("system", "\n\n".join(filter(None, given)), at=at, id=id)
    text, media = _said(content)
    recipient = string(message.get("recipient")) or "all"
    if kind in _ASIDE or not (text.strip() or media):
        return uttered(role, "")
    if role == "assistant" and recipient != "all":
        arguments = json_in(text)
        made = Call(
            id=id or f"call-{recipient}", name=recipient, arguments=arguments if isinstance(arguments, dict) else text
        )
        return Draft(role="assistant", parts=(made,), at=at, source_id=id)
    if role == "tool" and call is not None:
        shown = ((Text(text=text),) if text.strip() else ()) + tuple(media)
        result = Result(call_id=call.id, parts=shown, failed=derive_failed(text, call), name=call.name)
        return Draft(role="tool", parts=(result,), at=at, source_id=id)
    hidden = bool(mapping(message.get("metadata")).get("is_visually_hidden_from_conversation"))
    origin: Origin = "injected" if role == "tool" or (hidden and role == "user") else "spoken"
    return uttered("user" if role == "tool" else role, text, at=at, id=id, origin=origin, media=media)


def _said(content: Mapping[str, object]) -> tuple[str, Sequence[Media]]:
    """The text of a content, in whichever of its fields it stands, and what it points to."""
    parts = content.get("parts")
    listed = parts if isinstance(parts, list) else [content.get("text"), content.get("result")]
    texts = [each for each in listed if isinstance(each, str)]
    texts += [text for each in objects(listed) if (text := string(each.get("text")))]
    pointers = [pointer for each in objects(listed) if (pointer := string(each.get("asset_pointer")))]
    return "\n".join(filter(None, texts)), [Media(media_type="application/octet-stream", url=each) for each in pointers]
