"""Anthropic's messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import compress
from typing import Final, TypeAlias

import msgspec
from msgspec.structs import replace

from ireneo.errors import UnreadableLog
from ireneo.formats.chat.format import Payload, ThinkingRule, Violation, keep_native, settle_natives
from ireneo.formats.chat.langchain_names import NAME as LANGCHAIN
from ireneo.formats.chat.notes import (
    WORDLESS_ERROR,
    cast_summaries,
    flatten_summaries,
    media_note,
    opaque_note,
    origin_of,
    recognise_summaries,
)
from ireneo.formats.chat.openai import NAME as OPENAI
from ireneo.formats.chat.repairs import (
    FITTING_NAME,
    Repair,
    answer_calls,
    drop_blanks,
    fitting_name,
    give_unique_ids,
    is_blank,
    join_drafts,
    keep_server_pairs,
    leading_systems,
    open_with_user,
    place_parts,
    provider_groups,
    quote_later_systems,
    repaired,
    with_parts,
)
from ireneo.formats.chat.responses import NAME as RESPONSES
from ireneo.formats.chat.rules import (
    PAIR_RULES,
    Outline,
    Outlines,
    Rule,
    breach,
    call_without_id,
    first_not_user,
    thinking_missing,
    unknown_role,
    unreadable,
    violations,
)
from ireneo.formats.values import (
    copied_messages,
    detached,
    kind,
    listing,
    placed_messages,
    record,
    role_of,
    text_or,
    type_of,
    words,
)
from ireneo.log.message import Call, Draft, Media, Native, Opaque, Part, Result, Role, Text, Thinking, opens_turn
from ireneo.patterns import lazy_re

NAME: Final = "anthropic"

ROLES: Final = ("user", "assistant", "system")
"""A system message has no place in the list, but is found in some; it is read, and reported."""

CALL: Final = "tool_use"
RESULT: Final = "tool_result"
THINKING: Final = ("thinking", "redacted_thinking")

FITTING_ID: Final = lazy_re(r"[A-Za-z0-9_-]+")


def is_server_call(kind: str) -> bool:
    """Whether a block is a call that the provider runs: ``server_tool_use``, ``mcp_tool_use``."""
    return kind.endswith(f"_{CALL}")


def is_server_result(kind: str) -> bool:
    """Whether a block is the result of one: ``web_search_tool_result`` and its like."""
    return kind.endswith(f"_{RESULT}")


def kind_of(block: dict[str, object]) -> str:
    """The type of a block; empty where it has none."""
    kind = block.get("type")
    return kind if isinstance(kind, str) else ""


_IMAGES = ("image/jpeg", "image/png", "image/gif", "image/webp")
_PDF = "application/pdf"


def read_media(block: dict[str, object]) -> Media | Opaque:
    """An image or document block; with a source of another kind (a file's id, text) it stays as it is."""
    source = block.get("source")
    if isinstance(source, dict):
        image = block.get("type") == "image"
        title = block.get("title")
        name = title if isinstance(title, str) else None
        media_type, data, url = source.get("media_type"), source.get("data"), source.get("url")
        if source.get("type") == "base64" and isinstance(media_type, str) and isinstance(data, str):
            return Media(media_type=media_type, data=data, name=name)
        if source.get("type") == "url" and isinstance(url, str):
            return Media(media_type="image/*" if image else _PDF, url=url, name=name)
    return Opaque(format=NAME, payload=block)


def write_media(media: Media) -> dict[str, object] | None:
    """The block that shows `media`; None where the format has none for it."""
    source: dict[str, object]
    if media.data is not None:
        source = {"type": "base64", "media_type": media.media_type, "data": media.data}
    elif media.url is not None and media.url.startswith(("http://", "https://")):
        source = {"type": "url", "url": media.url}
    else:
        return None
    if media.media_type in _IMAGES or (media.data is None and media.media_type.startswith("image/")):
        return {"type": "image", "source": source}
    if media.media_type == _PDF:
        named: dict[str, object] = {"title": media.name} if media.name else {}
        return {"type": "document", "source": source, **named}
    return None


_MCP_CALL = "mcp_tool_use"
_MCP = "mcp__"


def read_server_call(block: dict[str, object]) -> Call | None:
    """A call of a provider's tool, or of an MCP server that it connects to (named ``mcp__server__tool``)."""
    call_id, name, given = block.get("id"), block.get("name"), block.get("input")
    if not isinstance(call_id, str) or not isinstance(name, str) or not isinstance(given, dict):
        return None
    server = block.get("server_name")
    if block.get("type") == _MCP_CALL and isinstance(server, str):
        name = f"{_MCP}{server}__{name}"
    return Call(id=call_id, name=name, arguments=given, server=True)


def write_server_call(call: Call) -> dict[str, object]:
    """The block of a call that the provider ran."""
    given = call.arguments if isinstance(call.arguments, dict) else {"arguments": call.arguments}
    server, found, name = call.name.removeprefix(_MCP).partition("__")
    if call.name.startswith(_MCP) and found:
        return {"type": _MCP_CALL, "id": call.id, "name": name, "server_name": server, "input": given}
    return {"type": "server_tool_use", "id": call.id, "name": call.name, "input": given}


def read_server_result(block: dict[str, object]) -> Result | None:
    """The result of one, whose block is carried whole: much of it is sealed."""
    call_id = block.get("tool_use_id")
    if not isinstance(call_id, str):
        return None
    failed = True if block.get("is_error") is True else None
    return Result(call_id=call_id, parts=(Opaque(format=NAME, payload=block),), failed=failed)


def server_block(result: Result) -> dict[str, object] | None:
    """The block that `result` carries whole; None where it is no result of a provider's tool."""
    only = result.parts[0] if len(result.parts) == 1 else None
    if not isinstance(only, Opaque) or only.format != NAME or not is_server_result(kind_of(only.payload)):
        return None
    return only.payload if only.payload.get("tool_use_id") == result.call_id else None


def is_server_block(result: Result) -> bool:
    """Whether `result` can be written as the result of a provider's tool."""
    return server_block(result) is not None


# Plain messages that were read as another format's, before anything told that the session is Anthropic's.
#
# Several formats write them alike, but only here do the keys beside a text (where a cache may end, what is cited) mean
# anything to every provider, so that a payload which holds nothing else may be sent as it is.


_BESIDE = frozenset({"type", "text", "cache_control", "citations"})


def adopt_plain(drafts: Sequence[Draft]) -> list[Draft]:
    """Take over what others wrote of a system prompt, a user's or the model's words in blocks of text."""
    return [_adopted(draft) for draft in drafts]


def _adopted(draft: Draft) -> Draft:
    blocks = _plain_blocks(draft.native) if draft.native is not None and not draft.joined else None
    if blocks is None or draft.role == "tool":
        return draft
    payload: object = blocks if draft.role == "system" else {"role": draft.role, "content": blocks}
    return replace(draft, native=Native(format=NAME, payload=payload))


def _plain_blocks(native: Native) -> list[object] | None:
    """The blocks of text that a payload holds, where they are all that a model reads of it."""
    payload = native.payload
    if native.format == LANGCHAIN and isinstance(payload, dict):
        payload = payload.get("data")
    if not isinstance(payload, dict) or native.format not in (OPENAI, RESPONSES, LANGCHAIN, NAME):
        return None
    if native.format == NAME and payload.get("role") != "system":
        return None
    blocks = payload.get("content")
    if not isinstance(blocks, list) or not blocks:
        return None
    plain = all(isinstance(each, dict) and each.get("type") == "text" and each.keys() <= _BESIDE for each in blocks)
    return blocks if plain else None


def content_blocks(content: object, place: str) -> list[dict[str, object]]:
    """The blocks of a message's content; a string is short for one text block."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if not isinstance(content, list):
        raise UnreadableLog(f"{place}, content: it is {kind(content)}, neither a string nor a list of blocks")
    return [record(block, f"{place}, block {index}") for index, block in enumerate(content)]


def read_block(block: dict[str, object], role: str, place: str) -> Part:
    """The part that a block is; one of a kind that is not known here stays as it is."""
    name = type_of(block, place)
    if name == "text":
        return Text(text=words(block.get("text"), f"{place}, text"))
    if name == CALL:
        return Call(
            id=text_or(block.get("id")), name=words(block.get("name"), f"{place}, name"), arguments=_read_input(block)
        )
    if name == RESULT:
        return _read_result(block, place)
    if name in ("image", "document"):
        return read_media(block)
    return _read_assistants(block, name) if role == "assistant" else Opaque(format=NAME, payload=block)


def _read_assistants(block: dict[str, object], name: str) -> Part:
    part: Part | None = None
    if name == "thinking" and isinstance(block.get("thinking"), str):
        signature = text_or(block.get("signature")) or None
        part = Thinking(text=text_or(block.get("thinking")), signature=signature, format=NAME if signature else None)
    elif name == "redacted_thinking" and isinstance(block.get("data"), str):
        part = Thinking(sealed=text_or(block.get("data")), format=NAME)
    elif is_server_call(name):
        part = read_server_call(block)
    elif is_server_result(name):
        part = read_server_result(block)
    return part or Opaque(format=NAME, payload=block)


def _read_result(block: dict[str, object], place: str) -> Result:
    content = block.get("content")
    parts: list[Text | Media | Opaque] = []
    if content:
        for index, inner in enumerate(content_blocks(content, place)):
            where = f"{place}, block {index}"
            name = type_of(inner, where)
            if name == "text":
                parts.append(Text(text=words(inner.get("text"), f"{where}, text")))
            elif name in ("image", "document"):
                parts.append(read_media(inner))
            else:
                parts.append(Opaque(format=NAME, payload=inner))
    # Only what was said to have failed has a flag that tells: false is what harnesses write without looking.
    failed = True if block.get("is_error") is True else None
    return Result(call_id=text_or(block.get("tool_use_id")), parts=tuple(parts), failed=failed)


def _read_input(block: dict[str, object]) -> dict[str, object] | str:
    given = block.get("input")
    if isinstance(given, dict):
        return given
    if given is None:
        return {}
    return given if isinstance(given, str) else msgspec.json.encode(given).decode()


_OWN_PARTS = ("", "text", CALL, RESULT, *THINKING)
"""Blocks that have parts of their own; one that was not read as such is broken."""


def express(draft: Draft) -> Draft:
    """Say in text what the format has no block for; thinking that is unsigned, or signed elsewhere, is left out."""
    if draft.native is not None:
        return draft
    return with_parts(draft, [_said(part, draft.role) for part in draft.parts if not _is_foreign(part)])


def whole_loops(drafts: Sequence[Draft]) -> list[Draft]:
    """Take the signed thinking out of a tool loop in which a thought is no longer signed.

    Where a secret stood in it, a thought has lost its signature and is left out; the provider takes that of a whole
    loop, or none.
    """
    out: list[Draft] = []
    start = 0
    for place, draft in enumerate(drafts):
        if opens_turn(draft) and not draft.joined:
            out += _whole_loop(drafts[start:place])
            start = place
    return out + _whole_loop(drafts[start:])


def _whole_loop(drafts: Sequence[Draft]) -> list[Draft]:
    thoughts = [part for draft in drafts for part in draft.parts if isinstance(part, Thinking)]
    calls = any(draft.calls for draft in drafts)
    if not calls or all(part.is_bound or part.format not in (None, NAME) for part in thoughts):
        return list(drafts)
    return [
        with_parts(draft, [part for part in draft.parts if not isinstance(part, Thinking)])
        if any(isinstance(part, Thinking) and not _is_foreign(part) for part in draft.parts)
        else draft
        for draft in drafts
    ]


def _is_foreign(part: Part) -> bool:
    return isinstance(part, Thinking) and not (part.is_bound and part.format in (None, NAME))


def _said(part: Part, role: str) -> Part:
    if isinstance(part, Call):
        return part if part.server else replace(part, name=fitting_name(part.name))
    if isinstance(part, Result):
        if role == "assistant" and is_server_block(part):
            return part
        return replace(part, parts=tuple(_carried(each, True) for each in part.parts))
    return _carried(part, role == "user") if isinstance(part, Media | Opaque) else part


def _carried(part: Text | Media | Opaque, shown: bool) -> Text | Media | Opaque:
    if isinstance(part, Media) and not (shown and write_media(part) is not None):
        return Text(text=media_note(part))
    if isinstance(part, Opaque) and not _is_block(part):
        return Text(text=opaque_note(part))
    return part


def _is_block(part: Opaque) -> bool:
    kind = kind_of(part.payload)
    broken = kind in _OWN_PARTS or is_server_call(kind) or is_server_result(kind)
    return part.format == NAME and not broken


def write_messages(drafts: Sequence[Draft]) -> list[dict[str, object]]:
    """The messages of a list without its system prompt: results together, and what was joined to them."""
    return [write_message(group) for group in provider_groups(drafts)]


def write_message(group: Sequence[Draft]) -> dict[str, object]:
    """The one message that holds a draft, or several of one provider role."""
    written = [_written(draft) for draft in group]
    if len(written) == 1:
        return written[0]
    message: dict[str, object] = {}
    content: list[object] = []
    for half in written:
        message |= half
        said = half.get("content")
        content += said if isinstance(said, list) else [{"type": "text", "text": said}]
    return message | {"content": content}


def write_system(drafts: Sequence[Draft]) -> str | list[dict[str, object]] | None:
    """The system prompt, apart from the messages: a string where it is one plain text, else blocks."""
    if len(drafts) == 1 and len(drafts[0].parts) == 1 and isinstance(drafts[0].parts[0], Text) and not drafts[0].native:
        return drafts[0].parts[0].text
    blocks: list[dict[str, object]] = []
    for draft in drafts:
        kept = draft.native.payload if draft.native is not None else None
        if isinstance(kept, list):
            blocks += [record(block, "system") for block in kept]
        else:
            blocks += write_blocks([part for part in draft.parts if not is_blank(part)])
    native = any(draft.native is not None for draft in drafts)
    if len(blocks) == 1 and not native and isinstance(blocks[0].get("text"), str):
        return str(blocks[0]["text"])
    return blocks if blocks or native else None


def merge_natives(before: Draft, draft: Draft) -> Native | None:
    """The payload of two drafts that are one message; None where their parts say it all."""
    if before.native is None and draft.native is None:
        return None
    return Native(format=NAME, payload=write_message([before, draft]))


def write_blocks(parts: Sequence[Part]) -> list[dict[str, object]]:
    """The content blocks of `parts`; what the format has no block for is left out."""
    return [block for part in parts if (block := _write_block(part)) is not None]


def _written(draft: Draft) -> dict[str, object]:
    if draft.native is not None:
        return record(draft.native.payload, "native")
    only = draft.parts[0] if len(draft.parts) == 1 else None
    if draft.role == "user" and isinstance(only, Text) and not draft.joined:
        return {"role": "user", "content": only.text}
    if draft.role == "tool":
        return {"role": "user", "content": [_write_result(result) for result in draft.results]}
    return {"role": draft.role, "content": write_blocks(draft.parts)}


def _write_block(part: Part) -> dict[str, object] | None:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    if isinstance(part, Thinking):
        return _write_thinking(part)
    if isinstance(part, Call):
        return write_server_call(part) if part.server else _write_call(part)
    if isinstance(part, Result):
        return server_block(part) or _write_result(part)
    if isinstance(part, Media):
        return write_media(part) or {"type": "text", "text": media_note(part)}
    return part.payload if part.format == NAME else None


def _write_thinking(part: Thinking) -> dict[str, object] | None:
    # Without its seal or signature it is refused.
    if part.sealed is not None:
        return {"type": "redacted_thinking", "data": part.sealed}
    return {"type": "thinking", "thinking": part.text, "signature": part.signature} if part.signature else None


def _write_call(call: Call) -> dict[str, object]:
    given = call.arguments if isinstance(call.arguments, dict) else {"arguments": call.arguments}
    return {"type": CALL, "id": call.id, "name": call.name, "input": given}


def _write_result(result: Result) -> dict[str, object]:
    only = result.parts[0] if len(result.parts) == 1 else None
    content: object = ""
    if isinstance(only, Text):
        content = only.text
    elif result.parts:
        content = write_blocks(result.parts)
    block: dict[str, object] = {"type": RESULT, "tool_use_id": result.call_id, "content": content}
    if result.failed:
        # An error that says nothing is refused.
        block |= {"content": content or WORDLESS_ERROR, "is_error": True}
    return block


Block: TypeAlias = dict[str, object]


def read_system(system: object) -> list[Draft]:
    """The draft of a system prompt that stands apart from the messages; none where there is none."""
    if system is None:
        return []
    system = detached(system, "system")
    if isinstance(system, str):
        return [Draft(role="system", parts=(Text(text=system),))]
    parts: list[Part] = []
    for index, item in enumerate(listing(system, "system")):
        place = f"system, block {index}"
        block = record(item, place)
        if type_of(block, place) == "text":
            parts.append(Text(text=words(block.get("text"), f"{place}, text")))
        else:
            parts.append(Opaque(format=NAME, payload=block))
    draft = Draft(role="system", parts=tuple(parts))
    return [keep_native(draft, NAME, system, write_system([express(draft)]))]


def read_message(message: dict[str, object], place: str) -> list[Draft]:
    """The drafts that a message is, each with its payload where the parts don't give it back."""
    role = role_of(message, place, ROLES)
    blocks = content_blocks(message.get("content"), place)
    parts = [read_block(block, role, f"{place}, block {index}") for index, block in enumerate(blocks)]
    if role != "user":
        return [_draft("assistant" if role == "assistant" else "system", parts, message)]
    brought = [isinstance(part, Result) for part in parts]
    if not any(brought) or all(brought):
        return [_draft("tool" if any(brought) else "user", parts, message)]
    return [_half(message, blocks, parts, of_results=True), _half(message, blocks, parts, of_results=False)]


def _half(message: dict[str, object], blocks: list[Block], parts: list[Part], *, of_results: bool) -> Draft:
    """The results of a user message, or the rest of it: as if it had held nothing else."""
    chosen = [isinstance(part, Result) is of_results for part in parts]
    half = {**message, "content": list(compress(blocks, chosen))}
    return _draft("tool" if of_results else "user", list(compress(parts, chosen)), half, joined=not of_results)


def _draft(role: Role, parts: list[Part], message: dict[str, object], *, joined: bool = False) -> Draft:
    draft = Draft(
        role=role,
        parts=tuple(parts),
        origin=origin_of(parts) if role == "user" else "spoken",
        source_id=text_or(message.get("id")) or None,
        joined=joined,
    )
    return keep_native(draft, NAME, message, write_message([express(draft)]))


def blocks_of(holder: dict[str, object]) -> list[dict[str, object]]:
    """The content blocks of a message or of a tool result, as far as they are blocks."""
    content = holder.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def empty_text(outlines: Outlines) -> Iterator[Violation]:
    """No text block is blank, in a message or in a list that a tool result holds."""
    for outline in outlines:
        for block in _texts(outline.message):
            text = block.get("text")
            if isinstance(text, str) and not text.strip():
                yield breach("empty-text", outline.index, "a text block is blank; leave it out.")


def empty_content(outlines: Outlines) -> Iterator[Violation]:
    """A message has content, and so does the result of a call that failed."""
    for outline in outlines:
        blocks = blocks_of(outline.message)
        if not blocks:
            yield breach("empty-content", outline.index, "it has no content.")
        for block in blocks:
            if kind_of(block) == RESULT and block.get("is_error") is True and not block.get("content"):
                yield breach("empty-content", outline.index, "the result of a failed call must say something.")


def thinking_last(outlines: Outlines) -> Iterator[Violation]:
    """Thinking leads to something: it is not the last block of its message."""
    for outline in outlines:
        blocks = blocks_of(outline.message)
        if outline.role == "assistant" and blocks and kind_of(blocks[-1]) in THINKING:
            yield breach("thinking-last", outline.index, "its last block is thinking; a text or a call must follow.")


def unsigned_thinking(outlines: Outlines) -> Iterator[Violation]:
    """Thinking goes back with the signature that it came with."""
    for outline in outlines:
        for block in blocks_of(outline.message):
            if kind_of(block) == "thinking" and not block.get("signature"):
                yield breach("unsigned-thinking", outline.index, "a thinking block has no signature; leave it out.")


def results_not_first(outlines: Outlines) -> Iterator[Violation]:
    """Tool results stand before everything else in their message."""
    for outline in outlines:
        kinds = [kind_of(block) == RESULT for block in blocks_of(outline.message)]
        if outline.role == "user" and kinds != sorted(kinds, reverse=True):
            yield breach("results-not-first", outline.index, "a tool result stands after other content, not first.")


def misplaced_block(outlines: Outlines) -> Iterator[Violation]:
    """Calls and thinking are the assistant's, tool results the user's."""
    for outline in outlines:
        for block in blocks_of(outline.message):
            kind = kind_of(block)
            assistants = kind in (CALL, *THINKING) or is_server_call(kind) or is_server_result(kind)
            if (outline.role == "user" and assistants) or (outline.role == "assistant" and kind == RESULT):
                says = f"a {kind} block may not stand in a message of the {outline.role}."
                yield breach("misplaced-block", outline.index, says)


def server_pair_split(outlines: Outlines) -> Iterator[Violation]:
    """A call that the provider ran and its result stand in one assistant message, the call first."""
    for outline in outlines:
        pending: set[str] = set()
        for block in blocks_of(outline.message) if outline.role == "assistant" else ():
            if is_server_call(kind_of(block)):
                pending.add(text_or(block.get("id")))
            elif is_server_result(kind_of(block)):
                name = text_or(block.get("tool_use_id"))
                if name in pending:
                    pending.discard(name)
                else:
                    says = f"the {kind_of(block)} names {name!r}, which no call before it in this message made."
                    yield breach("server-pair-split", outline.index, says)
        for name in sorted(pending):
            says = f"the provider's own call {name!r} has no result in the same message."
            yield breach("server-pair-split", outline.index, says)


def bad_arguments(outlines: Outlines) -> Iterator[Violation]:
    """The input of a call is an object."""
    for outline in outlines:
        for block in blocks_of(outline.message):
            kind = kind_of(block)
            if (kind == CALL or is_server_call(kind)) and not isinstance(block.get("input"), dict):
                yield breach("bad-arguments", outline.index, "the input of a call must be an object.")


BLOCK_RULES: tuple[Rule, ...] = (
    empty_text,
    empty_content,
    thinking_last,
    unsigned_thinking,
    results_not_first,
    misplaced_block,
    server_pair_split,
    bad_arguments,
)


def _texts(message: dict[str, object]) -> Iterator[dict[str, object]]:
    for block in blocks_of(message):
        if kind_of(block) == "text":
            yield block
        # A string is what a silent command printed; it may be empty.
        elif kind_of(block) == RESULT and isinstance(block.get("content"), list):
            yield from (inner for inner in blocks_of(block) if kind_of(inner) == "text")


def duplicate_call_id(outlines: Outlines) -> Iterator[Violation]:
    """No two calls of a list bear one id."""
    seen: set[str] = set()
    for outline in outlines:
        for block in blocks_of(outline.message):
            name = block.get("id")
            if isinstance(name, str) and name and (kind_of(block) == CALL or is_server_call(kind_of(block))):
                if name in seen:
                    yield breach("duplicate-call-id", outline.index, f"the id {name!r} is that of an earlier call.")
                seen.add(name)


def bad_call_id(outlines: Outlines) -> Iterator[Violation]:
    """An id is made of letters, digits, underscores and hyphens."""
    for outline in outlines:
        for name in filter(None, (*outline.calls, *outline.results)):
            if not FITTING_ID.fullmatch(name):
                says = f"the id {name!r} may only hold letters, digits, underscores and hyphens."
                yield breach("bad-call-id", outline.index, says)


def bad_call_name(outlines: Outlines) -> Iterator[Violation]:
    """A tool's name is made of at most 128 letters, digits, underscores and hyphens."""
    for outline in outlines:
        for block in blocks_of(outline.message):
            name = block.get("name")
            if kind_of(block) == CALL and isinstance(name, str) and not FITTING_NAME.fullmatch(name):
                says = f"the tool's name {name!r} may only hold letters, digits, underscores and hyphens, at most 128."
                yield breach("bad-call-name", outline.index, says)


def system_in_list(outlines: Outlines) -> Iterator[Violation]:
    """The system prompt stands apart from the messages."""
    for outline in outlines:
        if outline.role == "system":
            yield breach(
                "system-in-list", outline.index, "a system prompt stands apart, under `system`, not in the list."
            )


def blank_system(system: object) -> Iterator[Violation]:
    """No block of the system prompt is blank. It has no place in the list; it is reported at the list's beginning."""
    for place, block in enumerate(system if isinstance(system, list) else ()):
        text = block.get("text") if isinstance(block, dict) and kind_of(block) == "text" else None
        if isinstance(text, str) and not text.strip():
            yield Violation(rule="empty-text", index=0, message=f"system, block {place}: its text is blank.")


def outlined(messages: Sequence[dict[str, object]]) -> Outlines:
    """What the rules see of `messages`: a user message answers the assistant message directly before it."""
    outlines: list[Outline] = []
    for index, message in enumerate(messages):
        role = message.get("role")
        said = role if isinstance(role, str) else ""
        after = index - 1 if said == "user" and index and outlines[-1].role == "assistant" else None
        outlines.append(
            Outline(
                index=index,
                role=said,
                message=message,
                calls=_named(message, CALL, "id") if said == "assistant" else (),
                results=_named(message, RESULT, "tool_use_id") if said == "user" else (),
                thinks=said == "assistant" and _thinks(message),
                answers=after,
            )
        )
    return Outlines(outlines)


LOCAL_RULES: tuple[Rule, ...] = (
    unknown_role(ROLES),
    system_in_list,
    unreadable(read_message, ROLES),
    call_without_id,
    bad_call_id,
    bad_call_name,
    *BLOCK_RULES,
)
"""Those that look at one message at a time."""

RULES: tuple[Rule, ...] = (*LOCAL_RULES, duplicate_call_id, first_not_user, *PAIR_RULES)
THINKING_RULES: tuple[Rule, ...] = (*RULES, thinking_missing)
"""Those that hold where extended thinking is on for the next call."""


def _thinks(message: dict[str, object]) -> bool:
    return any(kind_of(block) in THINKING for block in blocks_of(message)[:1])


def _named(message: dict[str, object], kind: str, key: str) -> tuple[str, ...]:
    names = (block.get(key) for block in blocks_of(message) if kind_of(block) == kind)
    return tuple(name if isinstance(name, str) else "" for name in names)


class AnthropicMessages:
    """Anthropic Messages: the system prompt stands apart, and tool results stand in user messages."""

    name = NAME
    thinking: ThinkingRule = "prefix"

    def decode(self, payload: object) -> list[Draft]:
        """Read a message list, or an object that holds one under `messages` and a prompt under `system`."""
        prompt = payload.system if isinstance(payload, Payload) else None
        if isinstance(payload, dict):
            prompt = payload.get("system")
        drafts = read_system(prompt)
        for place, message in placed_messages(payload):
            drafts += read_message(message, place)
        return recognise_summaries(drafts)

    def encode(self, drafts: Sequence[Draft]) -> Payload:
        """Write drafts as a valid message list, and the system drafts at its beginning apart.

        Calls are answered and results follow their calls, the user begins, blank texts go, and what can't be shown
        is told in a text. Signed thinking goes back as it came; unsigned thinking is left out.
        """
        sound = repaired(drafts, _REPAIRS)
        first = leading_systems(sound)
        system = write_system(sound[:first])
        return Payload(
            messages=copied_messages(write_messages(sound[first:])),
            system=copied_messages(system) if isinstance(system, list) else system,
        )

    def validate(self, payload: Payload, *, thinking: bool = False) -> list[Violation]:
        """Name every rule that the list breaks; with `thinking`, as if extended thinking were on for the next call."""
        return [
            *blank_system(payload.system),
            *violations(outlined(payload.messages), THINKING_RULES if thinking else RULES),
        ]


def _accepts(payload: object) -> bool:
    if isinstance(payload, list):
        return not any(blank_system(payload))
    return isinstance(payload, dict) and not violations(outlined([payload]), LOCAL_RULES)


def _read_native(payload: object) -> list[Draft]:
    return read_system(payload) if isinstance(payload, list) else read_message(record(payload, "native"), "native")


def _express_all(drafts: Sequence[Draft]) -> list[Draft]:
    return [express(draft) for draft in drafts]


def _id_fits(call: Call, draft: Draft) -> bool:
    return FITTING_ID.fullmatch(call.id) is not None


_REPAIRS: tuple[Repair, ...] = (
    adopt_plain,
    partial(settle_natives, name=NAME, read=_read_native, accepts=_accepts),
    flatten_summaries,
    whole_loops,
    _express_all,
    partial(join_drafts, merge=merge_natives),
    partial(keep_server_pairs, writes=is_server_block),
    place_parts,
    drop_blanks,
    partial(give_unique_ids, fits=_id_fits),
    answer_calls,
    quote_later_systems,
    cast_summaries,
    open_with_user,
)
