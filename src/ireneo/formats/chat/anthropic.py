"""Anthropic Messages: content blocks, results in user messages, and a separate system prompt."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Final

from msgspec.structs import replace

from ireneo.formats.chat import repairs
from ireneo.formats.chat.format import (
    ANTHROPIC,
    LANGCHAIN,
    OPENAI,
    RESPONSES,
    ChatFormat,
    Json,
    Outline,
    Payload,
    Repair,
    Rule,
    ThinkingRule,
    Violation,
    call_without_id,
    cast_summaries,
    first_not_user,
    fitting_names,
    flatten_summaries,
    media_note,
    message_rule,
    read_draft,
    split_user_message,
    thinking_missing,
    unique_calls,
    unknown_role,
    unpaired,
    unreadable,
    with_parts,
)
from ireneo.formats.values import (
    copy_messages,
    given_arguments,
    mapping,
    objects,
    placed_blocks,
    placed_objects,
    remove_items,
    require_object,
    require_string,
    role_of,
    string_or,
    text_block,
    to_plain_json,
    type_of,
)
from ireneo.log.message import Call, Draft, Media, Native, Opaque, Part, Result, Role, Text, Thinking, opens_turn
from ireneo.patterns import lazy_re

_ROLES: Final = ("user", "assistant", "system")
"""System messages are invalid in the list, but some lists contain them: they are read, and reported."""
_CALL: Final = "tool_use"
_RESULT: Final = "tool_result"
THINKING: Final = ("thinking", "redacted_thinking")
_OWN_PARTS = ("", "text", _CALL, _RESULT, *THINKING)
"""Block types with parts of their own; one in an opaque part is malformed."""
_FITTING_ID: Final = lazy_re(r"[A-Za-z0-9_-]+")


def _is_server_block(kind: str) -> bool:
    """Whether a block is a call that the provider runs, or its result: ``mcp_tool_use``, ``web_search_tool_result``."""
    return kind.endswith((_SERVER_CALL, _SERVER_RESULT))


_WORDLESS_ERROR = "[the call failed and said nothing]"
_SERVER_CALL, _SERVER_RESULT = f"_{_CALL}", f"_{_RESULT}"


def _kind(block: Json) -> str:
    return string_or(block.get("type"))


# Reading: content blocks are parts, one for one.


def _read_system(system: object) -> list[Part]:
    parts: list[Part] = []
    for place, block in placed_objects(system, "system", "system, block"):
        is_text = type_of(block, place) == "text"
        text = Text(text=require_string(block.get("text"), f"{place}, text")) if is_text else None
        parts.append(text or Opaque(format=ANTHROPIC, payload=block))
    return parts


def _read_blocks(message: Json, place: str) -> list[tuple[Json, Part]]:
    role = role_of(message, place, _ROLES)
    return [(block, _read_block(block, role, where)) for where, block in placed_blocks(message.get("content"), place)]


def _read_block(block: Json, role: str, place: str) -> Part:
    """Read a block; one of an unknown type is opaque."""
    name = type_of(block, place)
    # Harnesses write false without checking, so only true is an outcome.
    failed = True if block.get("is_error") is True else None
    if name == _CALL:
        name = require_string(block.get("name"), f"{place}, name")
        return Call(id=string_or(block.get("id")), name=name, arguments=given_arguments(block.get("input")))
    if name == _RESULT:
        inner = placed_blocks(block["content"], place) if block.get("content") else []
        parts = tuple(_read_content(each, where) for where, each in inner)
        return Result(call_id=string_or(block.get("tool_use_id")), parts=parts, failed=failed)
    part: Part | None = None
    if role == "assistant":
        if name == "thinking" and isinstance(block.get("thinking"), str):
            signature = string_or(block.get("signature")) or None
            bound = ANTHROPIC if signature else None
            part = Thinking(text=string_or(block["thinking"]), signature=signature, format=bound)
        elif name == "redacted_thinking" and isinstance(block.get("data"), str):
            part = Thinking(sealed=string_or(block["data"]), format=ANTHROPIC)
        elif name.endswith(_SERVER_CALL):
            part = _read_server_call(block)
        elif name.endswith(_SERVER_RESULT) and isinstance(block.get("tool_use_id"), str):
            # Kept as a whole: much of it is sealed.
            whole = Opaque(format=ANTHROPIC, payload=block)
            part = Result(call_id=string_or(block["tool_use_id"]), parts=(whole,), failed=failed)
    return part or _read_content(block, place)


def _read_content(block: Json, place: str) -> Text | Media | Opaque:
    name = type_of(block, place)
    if name == "text":
        return Text(text=require_string(block.get("text"), f"{place}, text"))
    return read_media(block) if name in ("image", "document") else Opaque(format=ANTHROPIC, payload=block)


def read_media(block: Json) -> Media | Opaque:
    """Read an image or document block; one with another source (a file's id, text) is opaque."""
    source = mapping(block.get("source"))
    name = string_or(block.get("title")) if isinstance(block.get("title"), str) else None
    media_type, data, url = source.get("media_type"), source.get("data"), source.get("url")
    if source.get("type") == "base64" and isinstance(media_type, str) and isinstance(data, str):
        return Media(media_type=media_type, data=data, name=name)
    if source.get("type") == "url" and isinstance(url, str):
        return Media(media_type="image/*" if block.get("type") == "image" else _PDF, url=url, name=name)
    return Opaque(format=ANTHROPIC, payload=block)


# Writing, after the repairs: all parts can be written.

_IMAGES = ("image/jpeg", "image/png", "image/gif", "image/webp")
_PDF = "application/pdf"


def _write_system(drafts: Sequence[Draft]) -> str | list[Json] | None:
    """Write the system prompt: a string if it is one plain text, else blocks."""
    if len(drafts) == 1 and len(drafts[0].parts) == 1 and isinstance(drafts[0].parts[0], Text) and not drafts[0].native:
        return drafts[0].parts[0].text
    blocks: list[Json] = []
    for draft in drafts:
        kept = draft.native.payload if draft.native is not None else None
        if isinstance(kept, list):
            blocks += [require_object(block, "system") for block in kept]
        else:
            blocks += _write_blocks([part for part in draft.parts if not repairs.is_blank(part)])
    native = any(draft.native is not None for draft in drafts)
    if len(blocks) == 1 and not native and isinstance(blocks[0].get("text"), str):
        return str(blocks[0]["text"])
    return blocks if blocks or native else None


def _write_message(group: Sequence[Draft]) -> Json:
    """Write one draft, or several that share a message."""
    written = [_write_draft(draft) for draft in group]
    if len(written) == 1:
        return written[0]
    message: Json = {}
    content: list[object] = []
    for half in written:
        message |= half
        said = half.get("content")
        content += said if isinstance(said, list) else [text_block(str(said)) if isinstance(said, str) else said]
    return message | {"content": content}


def _write_draft(draft: Draft) -> Json:
    if draft.native is not None:
        return require_object(draft.native.payload, "native")
    only = draft.parts[0] if len(draft.parts) == 1 else None
    if draft.role == "user" and isinstance(only, Text) and not draft.joined:
        return {"role": "user", "content": only.text}
    if draft.role == "tool":
        return {"role": "user", "content": [_write_result(result) for result in draft.results]}
    return {"role": draft.role, "content": _write_blocks(draft.parts)}


def _write_blocks(parts: Sequence[Part]) -> list[Json]:
    return [block for part in parts if (block := _write_block(part)) is not None]


def _write_block(part: Part) -> Json | None:
    match part:
        case Text():
            return text_block(part.text)
        case Thinking() if part.sealed is not None:
            return {"type": "redacted_thinking", "data": part.sealed}
        case Thinking():
            # The provider rejects thinking without a signature.
            if not part.signature:
                return None
            return {"type": "thinking", "thinking": part.text, "signature": part.signature}
        case Call():
            return _write_call(part)
        case Result():
            return server_block(part) or _write_result(part)
        case Media():
            return write_media(part) or text_block(media_note(part))
    return part.payload if part.format == ANTHROPIC else None


def _write_result(result: Result) -> Json:
    only = result.parts[0] if len(result.parts) == 1 else None
    content: object = ""
    if isinstance(only, Text):
        content = only.text
    elif result.parts:
        content = _write_blocks(result.parts)
    block: Json = {"type": _RESULT, "tool_use_id": result.call_id, "content": content}
    if result.failed:
        # The provider rejects an error without content.
        block |= {"content": content or _WORDLESS_ERROR, "is_error": True}
    return block


def write_media(media: Media) -> Json | None:
    """Write `media` as a block; None if the format can't hold it."""
    source: Json
    if media.data is not None:
        source = {"type": "base64", "media_type": media.media_type, "data": media.data}
    elif media.url is not None and media.url.startswith(("http://", "https://")):
        source = {"type": "url", "url": media.url}
    else:
        return None
    if media.media_type in _IMAGES or (media.data is None and media.media_type.startswith("image/")):
        return {"type": "image", "source": source}
    if media.media_type != _PDF:
        return None
    title: Json = {"title": media.name} if media.name else {}
    return {"type": "document", "source": source, **title}


# Calls, also those that the provider runs itself, whose results are in the same assistant message.

_MCP_CALL = "mcp_tool_use"
_MCP = "mcp__"


def _read_server_call(block: Json) -> Call | None:
    """Read a call of a provider's tool, or of an MCP server that it connects to (named ``mcp__server__tool``)."""
    call_id, name, given = block.get("id"), block.get("name"), block.get("input")
    if not isinstance(call_id, str) or not isinstance(name, str) or not isinstance(given, dict):
        return None
    server = block.get("server_name")
    if _kind(block) == _MCP_CALL and isinstance(server, str):
        name = f"{_MCP}{server}__{name}"
    return Call(id=call_id, name=name, arguments=given, server=True)


def _write_call(call: Call) -> Json:
    given = call.arguments if isinstance(call.arguments, dict) else {"arguments": call.arguments}
    if not call.server:
        return {"type": _CALL, "id": call.id, "name": call.name, "input": given}
    server, found, name = call.name.removeprefix(_MCP).partition("__")
    if call.name.startswith(_MCP) and found:
        return {"type": _MCP_CALL, "id": call.id, "name": name, "server_name": server, "input": given}
    return {"type": "server_tool_use", "id": call.id, "name": call.name, "input": given}


def server_block(result: Result) -> Json | None:
    """Return the block of a provider's tool result, which is kept as a whole; None for other results."""
    only = result.parts[0] if len(result.parts) == 1 else None
    if not isinstance(only, Opaque) or only.format != ANTHROPIC or not _kind(only.payload).endswith(_SERVER_RESULT):
        return None
    return only.payload if only.payload.get("tool_use_id") == result.call_id else None


# Repairs of this format alone.

_BESIDE_TEXT = frozenset({"type", "text", "cache_control", "citations"})


def _adopt_plain_texts(draft: Draft) -> Draft:
    """Adopt text blocks that were read in another format, before the session was known to be Anthropic's.

    Several formats write plain messages alike. The keys next to a text (`cache_control`, `citations`) are Anthropic's,
    so a payload with nothing else can be sent unchanged.
    """
    native = draft.native
    if native is None or draft.joined or draft.role == "tool":
        return draft
    payload = mapping(native.payload)
    if native.format == LANGCHAIN:
        payload = mapping(payload.get("data")) or payload
    if native.format not in (ANTHROPIC, LANGCHAIN, OPENAI, RESPONSES):
        return draft
    blocks = payload.get("content")
    own = native.format == ANTHROPIC and payload.get("role") != "system"
    if own or not isinstance(blocks, list) or not blocks:
        return draft
    if not all(isinstance(each, dict) and _kind(each) == "text" and each.keys() <= _BESIDE_TEXT for each in blocks):
        return draft
    plain = blocks if draft.role == "system" else {"role": draft.role, "content": blocks}
    return replace(draft, native=Native(format=ANTHROPIC, payload=plain))


def _is_foreign(part: Part) -> bool:
    """Whether `part` is thinking that is unsigned, or signed by another provider."""
    return isinstance(part, Thinking) and not (part.is_bound and part.format in (None, ANTHROPIC))


def _drop_partial_thinking(drafts: Sequence[Draft]) -> list[Draft]:
    """Remove all thinking from a tool loop if some of it lost its signature, for example because a secret was redacted.

    The provider accepts the thinking of a whole loop, or none.
    """
    starts = [place for place, draft in enumerate(drafts) if opens_turn(draft) and not draft.joined]
    out: list[Draft] = []
    for start, end in zip([0, *starts], [*starts, len(drafts)], strict=True):
        loop = drafts[start:end]
        thoughts = [part for draft in loop for part in draft.parts if isinstance(part, Thinking)]
        unsigned = any(not part.is_bound and part.format in (None, ANTHROPIC) for part in thoughts)
        lost = unsigned and any(draft.calls for draft in loop)
        for draft in loop:
            if lost and any(isinstance(part, Thinking) and not _is_foreign(part) for part in draft.parts):
                draft = with_parts(draft, [part for part in draft.parts if not isinstance(part, Thinking)])
            out.append(draft)
    return out


# The rules.


def _blocks(holder: Json) -> list[Json]:
    """Return the well-formed content blocks of a message or a tool result."""
    content = holder.get("content")
    return [text_block(content)] if isinstance(content, str) else objects(content)


def _blocks_of(seen: Outline, *kinds: str) -> list[Json]:
    return [block for block in _blocks(seen.message) if _kind(block) in kinds]


def _blank_system(system: object) -> Iterator[Violation]:
    """Find blank blocks of the system prompt, which are reported at index 0."""
    for place, block in enumerate(system if isinstance(system, list) else ()):
        if isinstance(block, dict) and _is_blank(block):
            yield Violation(rule="empty-text", index=0, message=f"system, block {place}: its text is blank.")


def _is_blank(block: Json) -> bool:
    text = block.get("text") if _kind(block) == "text" else None
    return isinstance(text, str) and not text.strip()


def _blank_texts(seen: Outline) -> Iterator[Json]:
    """Find the blank text blocks of a message and of its tool results."""
    for block in _blocks(seen.message):
        # A result that is a string may be empty.
        listed = _kind(block) == _RESULT and isinstance(block.get("content"), list)
        yield from filter(_is_blank, _blocks(block) if listed else [block])


def _empty_content(seen: Outline) -> Iterator[str]:
    if not _blocks(seen.message):
        yield "it has no content."
    for block in _blocks_of(seen, _RESULT):
        if block.get("is_error") is True and not block.get("content"):
            yield "the result of a failed call must say something."


def _results_not_first(seen: Outline) -> bool:
    kinds = [_kind(block) == _RESULT for block in _blocks(seen.message)]
    return seen.role == "user" and kinds != sorted(kinds, reverse=True)


def _misplaced(seen: Outline) -> Iterator[str]:
    for kind in map(_kind, _blocks(seen.message)):
        assistants = kind in (_CALL, *THINKING) or _is_server_block(kind)
        if (seen.role == "user" and assistants) or (seen.role == "assistant" and kind == _RESULT):
            yield kind


def _split_server_pairs(seen: Outline) -> Iterator[str]:
    """Find calls that the provider ran and their results which are not in one message, the call first."""
    pending: set[str] = set()
    for block in _blocks(seen.message) if seen.role == "assistant" else ():
        if _kind(block).endswith(_SERVER_CALL):
            pending.add(string_or(block.get("id")))
        elif _kind(block).endswith(_SERVER_RESULT):
            name = string_or(block.get("tool_use_id"))
            if name not in pending:
                yield f"the {_kind(block)} names {name!r}, which no call before it in this message made."
            pending.discard(name)
    for name in sorted(pending):
        yield f"the provider's own call {name!r} has no result in the same message."


def _calls(seen: Outline) -> list[Json]:
    """Return the calls of a message, also those that the provider runs."""
    kinds = ((block, _kind(block)) for block in _blocks(seen.message))
    return [block for block, kind in kinds if kind == _CALL or kind.endswith(_SERVER_CALL)]


_LOCAL_RULES: tuple[Rule, ...] = (
    unknown_role(_ROLES),
    message_rule(
        "system-in-list",
        "a system prompt stands apart, under `system`, not in the list.",
        lambda seen: seen.role == "system",
    ),
    unreadable(_read_blocks, _ROLES),
    call_without_id,
    message_rule(
        "bad-call-id",
        "the id {0!r} may only hold letters, digits, underscores and hyphens.",
        lambda seen: [name for name in (*seen.calls, *seen.results) if name and not _FITTING_ID.fullmatch(name)],
    ),
    fitting_names(lambda seen: [block.get("name") for block in _blocks_of(seen, _CALL)]),
    message_rule("empty-text", "a text block is blank; leave it out.", _blank_texts),
    message_rule("empty-content", "{0}", _empty_content),
    message_rule(
        "thinking-last",
        "its last block is thinking; a text or a call must follow.",
        lambda seen: seen.role == "assistant" and any(_kind(last) in THINKING for last in _blocks(seen.message)[-1:]),
    ),
    message_rule(
        "unsigned-thinking",
        "a thinking block has no signature; leave it out.",
        lambda seen: [block for block in _blocks_of(seen, "thinking") if not block.get("signature")],
    ),
    message_rule("results-not-first", "a tool result stands after other content, not first.", _results_not_first),
    message_rule("misplaced-block", "a {0} block may not stand in a message of the {role}.", _misplaced),
    message_rule("server-pair-split", "{0}", _split_server_pairs),
    message_rule(
        "bad-arguments",
        "the input of a call must be an object.",
        lambda seen: [call for call in _calls(seen) if not isinstance(call.get("input"), dict)],
    ),
)
_RULES = (
    *_LOCAL_RULES,
    unique_calls(lambda seen: [string_or(call.get("id")) for call in _calls(seen)]),
    first_not_user,
    unpaired,
)


class AnthropicMessages(ChatFormat):
    """Anthropic Messages.

    Calls are answered and results follow their calls, the user begins, blank texts are dropped, and what can't be sent
    becomes a note. Signed thinking is sent unchanged; unsigned thinking is left out.
    """

    name = ANTHROPIC
    thinking: ThinkingRule = "prefix"
    local_rules = _LOCAL_RULES
    thinking_rules = (thinking_missing,)
    rules = _RULES
    strict_names = True

    @staticmethod
    def _outline(message: Json, before: Json | None) -> Outline:
        role, blocks = string_or(message.get("role")), _blocks(message)
        called = (string_or(block.get("id")) for block in blocks if _kind(block) == _CALL and role == "assistant")
        answered = (
            string_or(block.get("tool_use_id")) for block in blocks if _kind(block) == _RESULT and role == "user"
        )
        thinks = role == "assistant" and any(_kind(block) in THINKING for block in blocks[:1])
        return Outline(role=role, message=message, calls=tuple(called), results=tuple(answered), thinks=thinks)

    def _read_prompt(self, payload: object) -> list[Draft]:
        prompt = payload.system if isinstance(payload, Payload) else mapping(payload).get("system")
        return [] if prompt is None else self._read_system(to_plain_json(prompt, "system"))

    def encode(self, drafts: Sequence[Draft]) -> Payload:
        """Write drafts as a valid message list, and the leading system drafts as the system prompt."""
        sound = self._repair([_adopt_plain_texts(draft) for draft in drafts])
        first = repairs.leading_systems(sound)
        system = _write_system(sound[:first])
        return Payload(
            messages=copy_messages(map(_write_message, repairs.provider_groups(sound[first:]))),
            system=copy_messages(system) if isinstance(system, list) else system,
        )

    def validate(self, payload: Payload, *, thinking: bool = False) -> list[Violation]:
        """Return every violation, also of the system prompt."""
        return [*_blank_system(payload.system), *super().validate(payload, thinking=thinking)]

    def _read_message(self, message: Json, place: str) -> list[Draft]:
        read = _read_blocks(message, place)
        if message["role"] != "user":
            return [self._draft("assistant" if message["role"] == "assistant" else "system", read, message)]
        found = split_user_message(message, "content", read, lambda each: isinstance(each[1], Result))
        return [self._draft(role, half, inner, joined=joined) for role, half, inner, joined in found]

    def _read_native(self, payload: object) -> list[Draft] | None:
        """Read a message, or the list of blocks of a system prompt."""
        if isinstance(payload, list):
            return None if any(_blank_system(payload)) else self._read_system(payload)
        return super()._read_native(payload)

    def without_thinking(self, payload: Json) -> Json:
        """Return the message without its thinking blocks."""
        return remove_items(payload, "content", lambda block: block.get("type") not in THINKING)

    def _accepts(self, part: Part, role: Role) -> bool:
        """Whether the format accepts `part`: all but thinking that is unsigned, or signed by another provider."""
        return not _is_foreign(part)

    def _can_hold(self, part: Media | Opaque, role: str) -> bool:
        if isinstance(part, Media):
            return role in ("user", "tool") and write_media(part) is not None
        kind = _kind(part.payload)
        return part.format == ANTHROPIC and kind not in _OWN_PARTS and not _is_server_block(kind)

    def _supported_part(self, part: Part, role: Role) -> Part:
        """Return `part`, or the text that replaces it; calls that the provider ran, and their results, stay."""
        served = part.server if isinstance(part, Call) else isinstance(part, Result) and server_block(part) is not None
        return part if served and role == "assistant" else super()._supported_part(part, role)

    def _repair_steps(self) -> Iterable[Repair]:
        return (
            flatten_summaries,
            _drop_partial_thinking,
            self._replace_unsupported,
            partial(repairs.join_drafts, merge=self._native_merger(_write_message)),
            partial(repairs.keep_server_pairs, writes=lambda result: server_block(result) is not None),
            repairs.place_parts,
            repairs.drop_blanks,
            partial(repairs.give_unique_ids, fits=lambda call, draft: _FITTING_ID.fullmatch(call.id) is not None),
            repairs.answer_calls,
            repairs.quote_later_systems,
            cast_summaries,
            repairs.open_with_user,
        )

    def _read_system(self, system: object) -> list[Draft]:
        if isinstance(system, str):
            return [Draft(role="system", parts=(Text(text=system),))]
        draft = Draft(role="system", parts=tuple(_read_system(system)))
        return [self._keep_native(draft, system, _write_system([self._replace_in_draft(draft)]))]

    def _draft(self, role: Role, read: Sequence[tuple[Json, Part]], message: Json, *, joined: bool = False) -> Draft:
        draft = read_draft(role, (part for _, part in read), message.get("id"), joined=joined)
        return self._keep_native(draft, message, _write_draft(self._replace_in_draft(draft)))
