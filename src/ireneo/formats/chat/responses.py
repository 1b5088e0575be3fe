"""OpenAI Responses: a list of items, each of which is reasoning, a message, a call or an output."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import Final, TypeAlias

import msgspec
from msgspec.structs import replace

from ireneo.errors import UnreadableLog
from ireneo.formats.chat import openai, repairs
from ireneo.formats.chat.format import (
    RESPONSES,
    ChatFormat,
    Json,
    Outline,
    Outlines,
    Payload,
    Repair,
    Rule,
    ThinkingRule,
    Violation,
    blocks_of,
    call_without_id,
    cast_summaries,
    fitting_names,
    flatten_summaries,
    joined_text,
    make_violation,
    message_rule,
    placed_messages,
    read_draft,
    recognise_summaries,
    unique_calls,
    unknown_role,
    unpaired,
    unreadable,
    violations,
)
from ireneo.formats.values import (
    copy_messages,
    json_type,
    mapping,
    objects,
    placed_objects,
    read_arguments,
    require_object,
    require_string,
    role_of,
    string_or,
    type_of,
)
from ireneo.log.message import BLOCK_TAGS, Call, Draft, Media, Native, Opaque, Part, Result, Role, Text, Thinking

_ROLES: Final = ("user", "assistant", "system", "developer")
_SIDES: Final = (*_ROLES, "tool")
"""The roles of items: the roles of messages, and ``tool`` for the outputs of calls."""
_MESSAGE: Final = "message"
_REASONING: Final = "reasoning"
_CALL: Final = "function_call"
_CUSTOM_CALL: Final = "custom_tool_call"
_APPROVAL: Final = "mcp_approval_response"
_SEARCH, _FOUND = "tool_search_call", "tool_search_output"
_ENVELOPE = ("type", "id", "call_id", "status")
_TEXTS = {"input_text": "text", "output_text": "text", "text": "text", "refusal": "refusal"}
"""The content types that are read as text, and their fields."""
_OWN_PARTS = ("input_text", "output_text", "refusal")
"""Content types with parts of their own; one in an opaque part is malformed."""
_LONGEST_ID: Final = 64
"""The greatest length of a call's id."""
_ID_BEGINS: Final = {_MESSAGE: "msg", _REASONING: "rs", _CALL: "fc"}
"""How the provider's ids of items begin; it rejects others."""

_Placed: TypeAlias = tuple[str, Json]
"""The place of an item, and the item."""


# Kinds of items.


def _kind(item: Json) -> str:
    """Return the type of an item, which a message may leave out; empty if there is none."""
    return string_or(item.get("type"), _MESSAGE if item.get("type") is None and "role" in item else "")


def _call_id(item: Json) -> str:
    """Return the id that a call and its output share; empty if there is none."""
    # The output of a local shell has it under another key.
    return string_or(item.get("call_id")) or (string_or(item.get("id")) if _is_output(item) else "")


def _is_call(item: Json) -> bool:
    """Whether `item` is a call that the application answers; calls that the provider runs have no `call_id`."""
    kind = _kind(item)
    return kind in (_CALL, _CUSTOM_CALL) or (kind.endswith("_call") and isinstance(item.get("call_id"), str))


def _is_output(item: Json) -> bool:
    kind = _kind(item)
    return kind.endswith("_call_output") or (kind == _FOUND and isinstance(item.get("call_id"), str))


def _output_kind(kind: str) -> str:
    """Return the type of the output that answers a call of type `kind`."""
    return _FOUND if kind == _SEARCH else f"{kind}_output"


def role_of_item(item: Json) -> str:
    """Return the role of an item: the message's role, else the role of whoever made the item, application or model."""
    kind = _kind(item)
    if kind in ("", _MESSAGE):
        return string_or(item.get("role"))
    if kind == _APPROVAL:
        return "user"
    return "tool" if _is_output(item) else "assistant"


def _content_fits(kind: str, side: str) -> bool:
    """Whether a message or an output of that role can hold a content part of type `kind`."""
    return kind == "refusal" or kind.startswith("output_") if side == "assistant" else kind.startswith("input_")


def _has_reasoning(items: Iterable[Json]) -> bool:
    return any(_kind(item) == _REASONING for item in items)


# Reading: a reply is one draft of all its items.


def _read_item(item: Json, place: str) -> list[Part]:
    """Read an item; one of an unknown type is opaque."""
    name = _kind(item)
    if not name:
        raise UnreadableLog(f"{place}: it has neither a type nor a role")
    if name == _MESSAGE:
        read = _opaque_message if role_of(item, place, _ROLES) == "assistant" else _read_media
        return [*_read_content(item.get("content"), f"{place}, content", read)]
    if name == _REASONING:
        return [_read_reasoning(item, place)]
    if _is_call(item):
        return [_read_call(item, name, place)]
    if _is_output(item):
        return [openai.read_failure(Result(call_id=_call_id(item), parts=_read_output(item.get("output"), place)))]
    return [Opaque(format=RESPONSES, payload=item)]


def _opaque_message(block: Json, place: str) -> Opaque:
    # Beside the items of a reply, a content part alone would be taken for an item.
    return Opaque(format=RESPONSES, payload={"role": "assistant", "content": [block]})


def _read_content(
    content: object, place: str, read: Callable[[Json, str], Media | Opaque]
) -> list[Text | Media | Opaque]:
    if content is None:
        return []
    if isinstance(content, str):
        return [Text(text=content)]
    if not isinstance(content, list):
        raise UnreadableLog(f"{place}: it is {json_type(content)}, neither a string nor a list of parts")
    parts: list[Text | Media | Opaque] = []
    for where, block in placed_objects(content, place, f"{place} part"):
        field = _TEXTS.get(type_of(block, where))
        parts.append(Text(text=require_string(block.get(field), f"{where}, {field}")) if field else read(block, where))
    return parts


def _read_reasoning(item: Json, place: str) -> Thinking:
    texts: list[str] = []
    for field in ("summary", "content"):
        where = f"{place}, {field}"
        texts += [string_or(block.get("text")) for _, block in placed_objects(item.get(field) or [], where, where)]
    sealed = string_or(item.get("encrypted_content")) or None
    return Thinking(text="\n\n".join(filter(None, texts)), sealed=sealed, format=RESPONSES)


def _read_call(item: Json, name: str, place: str) -> Call:
    if name in (_CALL, _CUSTOM_CALL):
        called = require_string(item.get("name"), f"{place}, name")
        given = read_arguments(item.get("arguments")) if name == _CALL else string_or(item.get("input"))
        return Call(id=_call_id(item), name=called, arguments=given)
    action = item.get("action")
    given = action if isinstance(action, dict) else {key: item[key] for key in item if key not in _ENVELOPE}
    return Call(id=_call_id(item), name=name.removesuffix("_call"), arguments=given)


def _read_output(output: object, place: str) -> tuple[Text | Media | Opaque, ...]:
    if not output and isinstance(output, str | list | None):
        return ()
    if isinstance(output, dict) and isinstance(output.get("image_url"), str):
        return (_read_media({"type": "input_image", "image_url": output["image_url"]}, place),)
    blocks = isinstance(output, list) and all(isinstance(each, dict) and "type" in each for each in output)
    if blocks or isinstance(output, str):
        return tuple(_read_content(output, f"{place}, output", _read_media))
    return (Text(text=msgspec.json.encode(output).decode()),)


def _groups(placed: Iterable[_Placed]) -> list[list[_Placed]]:
    """Group items into drafts: reasoning, words and calls up to the first output are one reply."""
    groups: list[list[_Placed]] = []
    alone = True
    for place, item in placed:
        # Items after reasoning, or next to a call, are the model's, even if they look like our summary.
        bound = not alone and (_kind(groups[-1][-1][1]) == _REASONING or any(_is_call(it) for _, it in groups[-1]))
        stands_alone = role_of_item(item) != "assistant" or (_is_block(item) and not bound)
        if alone or stands_alone:
            groups.append([])
        groups[-1].append((place, item))
        alone = stands_alone
    return groups


def _is_block(item: Json) -> bool:
    """Whether `item` is a summary of ours, which belongs to no reply."""
    content = item.get("content")
    return _kind(item) == _MESSAGE and "id" not in item and isinstance(content, str) and content.startswith(BLOCK_TAGS)


# Media: content parts with the location in a field of their own.

_PDF = "application/pdf"


def _read_media(block: Json, place: str) -> Media | Opaque:
    """Read a content part that is no text; one of an unknown type is opaque."""
    kind, url = type_of(block, place), block.get("file_url")
    if kind == "input_file" and isinstance(url, str):
        return Media(media_type=_PDF, url=url)
    inner: Json = {"file": block, "image_url": {"url": block.get("image_url")}, "input_audio": block.get("input_audio")}
    known = {"input_image": "image_url", "input_file": "file", "input_audio": "input_audio"}.get(kind)
    read = openai.read_media({"type": known, known: inner[known]}) if known else None
    return read if isinstance(read, Media) else Opaque(format=RESPONSES, payload=block)


def _write_media(media: Media) -> Json | None:
    """Write `media` as a content part; None where the format has none for it."""
    if media.data is None and media.url is not None and media.media_type == _PDF:
        return {"type": "input_file", "file_url": media.url}
    written = openai.write_media(media)
    if written is None or written["type"] == "input_audio":
        return written
    inner = mapping(written[str(written["type"])])
    if written["type"] == "image_url":
        return {"type": "input_image", "image_url": inner["url"]}
    return {"type": "input_file", **inner}


# Writing, after the repairs: all parts can be written.


def _write_items(drafts: Sequence[Draft]) -> list[Json]:
    """Write the items of a list; the type of each output follows that of its call."""
    items: list[Json] = []
    kinds: dict[str, str] = {}
    for draft in drafts:
        if draft.role == "tool" and draft.native is None:
            for result in draft.results:
                content = _write_content(result.parts, "input_text") if result.parts else ""
                kind = _output_kind(kinds.get(result.call_id, _CALL))
                items.append({"type": kind, "call_id": result.call_id, "output": content})
            continue
        written = _native_items(draft) if draft.native is not None else list(_write_draft(draft))
        kinds |= {_call_id(item): _kind(item) for item in written if _is_call(item)}
        items += written
    return items


def _native_items(draft: Draft) -> list[Json]:
    return _item_list(draft.native.payload) if draft.native is not None else []


def _item_list(payload: object) -> list[Json]:
    return [require_object(item, "native") for item in (payload if isinstance(payload, list) else [payload])]


def _merge_natives(before: Draft, draft: Draft) -> Native | None:
    """Make the native payload of two drafts that are one reply; None if neither has one."""
    if draft.role != "assistant" or (before.native is None and draft.native is None):
        return None
    return Native(format=RESPONSES, payload=_write_items([before, draft]))


def _write_draft(draft: Draft) -> Iterator[Json]:
    if draft.role == "system":
        yield {"role": "system", "content": joined_text([draft])}
    elif draft.role == "assistant":
        for is_text, run in groupby(draft.parts, lambda part: isinstance(part, Text)):
            if is_text:
                yield {"role": "assistant", "content": _write_content(list(run), "output_text")}
            else:
                yield from (item for part in run if (item := _write_part(part)) is not None)
    else:
        for stands_alone, run in groupby(draft.parts, _is_approval):
            if stands_alone:
                yield from (part.payload for part in run if isinstance(part, Opaque))
            else:
                yield {"role": "user", "content": _write_content(list(run), "input_text")}


def _write_part(part: Part) -> Json | None:
    if isinstance(part, Thinking):
        # Without its id, which a provider that stored nothing would not find.
        summary = [{"type": "summary_text", "text": part.text}] if part.text else []
        return {"type": _REASONING, "summary": summary, "encrypted_content": part.sealed}
    if isinstance(part, Call):
        arguments = openai.write_arguments(part)
        return {"type": _CALL, "call_id": part.id, "name": part.name, "arguments": arguments}
    return part.payload if isinstance(part, Opaque) else None


def _is_approval(part: Part) -> bool:
    return isinstance(part, Opaque) and part.payload.get("type") == _APPROVAL


def _write_content(parts: Sequence[Part], text_kind: str) -> str | list[object]:
    """Write content: a string if there is one text only, else a list."""
    only = parts[0] if len(parts) == 1 else None
    if isinstance(only, Text):
        return only.text
    return blocks_of(parts, _write_media, lambda text: {"type": text_kind, "text": text})


# Repairs of this format alone.


def _drop_mismatched_kinds(drafts: Sequence[Draft]) -> list[Draft]:
    """Drop the payload of a call or an output whose counterpart is no longer of the matching type.

    Outputs of functions and custom tools are text; those of a computer or a shell have types of their own.
    """
    answers = {result.call_id: draft for draft in drafts if draft.role == "tool" for result in draft.results}
    out = [replace(draft, native=None) if _lacks_matching_output(draft, answers) else draft for draft in drafts]
    kinds = {_call_id(item): _kind(item) for draft in out for item in _native_items(draft) if _is_call(item)}

    def matches_call(item: Json) -> bool:
        return _kind(item) == _output_kind(kinds.get(_call_id(item), _CALL))

    return [
        draft if draft.role != "tool" or all(map(matches_call, _native_items(draft))) else replace(draft, native=None)
        for draft in out
    ]


def _lacks_matching_output(draft: Draft, answers: dict[str, Draft]) -> bool:
    for item in _native_items(draft) if draft.role == "assistant" else ():
        if _is_call(item) and _kind(item) not in (_CALL, _CUSTOM_CALL):
            answer = answers.get(_call_id(item))
            if answer is None or [_kind(it) for it in _native_items(answer)] != [_output_kind(_kind(item))]:
                return True
    return False


def _join_to_reasoning(drafts: Sequence[Draft]) -> list[Draft]:
    """Mark drafts as joined that belong to the reasoning or the call before, though they were handed in separately."""
    answered = {result.call_id for draft in drafts for result in draft.results}
    out: list[Draft] = []
    for draft in drafts:
        before = out[-1] if out and out[-1].role == draft.role == "assistant" else None
        last = before.parts[-1] if before is not None and before.parts else None
        # The note that a call was not answered stays right after it, whatever is called next.
        calls_on = (
            isinstance(last, Call) and last.id in answered and any(isinstance(part, Call) for part in draft.parts[:1])
        )
        out.append(replace(draft, joined=True) if isinstance(last, Thinking) or calls_on else draft)
    return out


def _drop_dangling_ids(drafts: Sequence[Draft]) -> list[Draft]:
    """Drop the payload, and so the ids, of a reply whose reasoning is gone or was changed."""
    out: list[Draft] = []
    reasoned = False
    for draft in drafts:
        if draft.role == "assistant":
            dangles = draft.joined and not reasoned and draft.native is not None
            out.append(replace(draft, native=None) if dangles else draft)
            reasoned = _has_reasoning(_native_items(draft)) or (reasoned and draft.joined)
        else:
            out.append(draft)
            reasoned = reasoned and draft.role == "tool"
    return out


# The rules.


def _dangling_reasoning(outlines: Outlines) -> Iterator[Violation]:
    """Check that another item of the model follows reasoning."""
    following = [outline.message for outline in outlines][1:]
    for outline in outlines:
        led = outline.index < len(following) and role_of_item(following[outline.index]) == "assistant"
        if _kind(outline.message) == _REASONING and not led:
            says = "the reasoning has lost what it led to; the message or the call that it came with must follow."
            yield make_violation("reasoning-alone", outline.index, says)


def _wrong_kind(outlines: Outlines) -> Iterator[Violation]:
    """Check that the type of an output matches its call."""
    items = [outline.message for outline in outlines]
    for outline in outlines:
        if outline.answers is not None:
            expected = _output_kind(_kind(items[outline.answers]))
            if _kind(outline.message) != expected:
                yield make_violation("wrong-kind", outline.index, f"the call is answered by a {expected}, not by this.")


def _no_string(seen: Outline) -> list[str]:
    """Find arguments, or a custom tool's input, that are no string."""
    field = {_CALL: "arguments", _CUSTOM_CALL: "input"}.get(_kind(seen.message))
    return [field] if field and not isinstance(seen.message.get(field), str) else []


def _bad_item_id(seen: Outline) -> Iterator[str]:
    begins, name = _ID_BEGINS.get(_kind(seen.message), ""), seen.message.get("id")
    if isinstance(name, str) and not name.startswith(begins):
        yield f"its id {name!r} doesn't begin with {begins!r}; leave out an id that the provider didn't give."


def _empty_content(seen: Outline) -> Iterator[str]:
    """Find missing content of messages and outputs, which may be an empty string."""
    name, output = _kind(seen.message), seen.message.get("output")
    if name == _MESSAGE and seen.message.get("content") in (None, []):
        yield "it has no content."
    if name in (_output_kind(_CALL), _output_kind(_CUSTOM_CALL)) and not isinstance(output, str | list):
        yield f"its output is {json_type(output)}, neither a string nor a list of parts."


def _misplaced(seen: Outline) -> list[str]:
    """Find the model's content parts in other roles' messages, and the reverse."""
    content = objects(seen.message.get("content" if _kind(seen.message) == _MESSAGE else "output"))
    shown = [string_or(block.get("type")) for block in content if seen.role]
    return [kind for kind in shown if kind and not _content_fits(kind, seen.role)]


_LOCAL_RULES: tuple[Rule, ...] = (
    unknown_role(_SIDES),
    unreadable(_read_item, _SIDES),
    call_without_id,
    message_rule(
        "reasoning-without-summary",
        "the reasoning has no `summary`; an empty list will do.",
        lambda seen: _kind(seen.message) == _REASONING and not isinstance(seen.message.get("summary"), list),
    ),
    message_rule("bad-arguments", "the {0} of a call must be a string.", _no_string),
    fitting_names(lambda seen: [seen.message.get("name")] if _kind(seen.message) in (_CALL, _CUSTOM_CALL) else []),
    message_rule(
        "bad-call-id",
        f"the id {{0!r}}… is longer than {_LONGEST_ID} letters.",
        lambda seen: [name[:12] for name in (*seen.calls, *seen.results) if len(name) > _LONGEST_ID],
    ),
    message_rule("bad-item-id", "{0}", _bad_item_id),
    message_rule("empty-content", "{0}", _empty_content),
    message_rule("misplaced-content", "a {0} part may not stand in what the {role} says.", _misplaced),
)
_RULES = (*_LOCAL_RULES, _dangling_reasoning, unique_calls(lambda seen: seen.calls), unpaired, _wrong_kind)


class OpenAIResponses(ChatFormat):
    """OpenAI Responses, with separate instructions.

    Calls are answered and outputs follow their calls; what can't be sent becomes a note. Sealed reasoning is sent back,
    and all reasoning of an unchanged reply; a changed reply loses its items' ids. A call that is only referred to (by
    an `item_reference` or a `previous_response_id`) is not seen.
    """

    name = RESPONSES
    thinking: ThinkingRule = "turn"
    local_rules = _LOCAL_RULES
    rules = _RULES
    strict_names = True
    failed_mark = openai.CALL_FAILED

    @staticmethod
    def _outline(message: Json, before: Json | None) -> Outline:
        name = _call_id(message)
        calls, results = (name,) if _is_call(message) else (), (name,) if _is_output(message) else ()
        return Outline(role=role_of_item(message), message=message, calls=calls, results=results)

    def decode(self, payload: object) -> list[Draft]:
        """Read a list of items, or an object with `input` (items or a string) and perhaps `instructions`.

        `messages` and `system` mean the same.
        """
        prompt: object = payload.system if isinstance(payload, Payload) else None
        if isinstance(payload, dict):
            prompt = payload.get("instructions", payload.get("system"))
            if isinstance(payload.get("input"), str):
                payload = [{"role": "user", "content": payload["input"]}]
        drafts: list[Draft] = []
        if prompt is not None:
            drafts.append(Draft(role="system", parts=(Text(text=require_string(prompt, "instructions")),)))
        return recognise_summaries([*drafts, *self._read_items(placed_messages(payload, "input"))])

    def encode(self, drafts: Sequence[Draft]) -> Payload:
        """Write drafts as a valid list of items, and the leading system drafts as the instructions."""
        sound = self._repair(drafts)
        first = repairs.leading_systems(sound)
        # A prompt that was in the list has its payload, and is written there again.
        listed = [draft for place, draft in enumerate(sound) if place >= first or draft.native is not None]
        apart = [draft for draft in sound[:first] if draft.native is None]
        return Payload(messages=copy_messages(_write_items(listed)), system=joined_text(apart) if apart else None)

    def _read_message(self, message: Json, place: str) -> list[Draft]:
        return self._read_items([(place, message)])

    def _read_native(self, payload: object) -> list[Draft] | None:
        items = _item_list(payload)
        if violations(self._draw_outlines(items), self.local_rules):
            return None
        return self._read_items(("native", item) for item in items)

    def _accepts(self, part: Part, role: Role) -> bool:
        """Whether the format takes `part`: of reasoning, only what this provider sealed."""
        return not isinstance(part, Thinking) or (part.sealed is not None and part.format == RESPONSES)

    def _supported_part(self, part: Part, role: Role) -> Part:
        return openai.write_failure(super()._supported_part(part, role))

    def _can_hold(self, part: Media | Opaque, role: str) -> bool:
        if isinstance(part, Media):
            return role in ("user", "tool") and _write_media(part) is not None
        if part.format != RESPONSES or role == "system":
            return False
        payload = part.payload
        shown, item = string_or(payload.get("type")), _kind(payload)
        if role != "assistant":
            return (_content_fits(shown, role) and shown not in _OWN_PARTS) or (shown == _APPROVAL and role == "user")
        if item != _MESSAGE:
            return item not in ("", _REASONING, _APPROVAL) and not _is_call(payload) and not _is_output(payload)
        content = payload.get("content")
        block = content[0] if isinstance(content, list) and len(content) == 1 else None
        shown = string_or(mapping(block).get("type"))
        return payload.get("role") == "assistant" and _content_fits(shown, "assistant") and shown not in _OWN_PARTS

    def _repair_steps(self) -> Iterable[Repair]:
        return (
            flatten_summaries,
            self._replace_unsupported,
            _drop_dangling_ids,
            _join_to_reasoning,
            partial(repairs.join_drafts, merge=_merge_natives),
            repairs.note_server_pairs,
            repairs.place_parts,
            repairs.drop_loose_thinking,
            repairs.drop_empty,
            partial(repairs.give_unique_ids, fits=lambda call, draft: len(call.id) <= _LONGEST_ID),
            repairs.answer_calls,
            _drop_mismatched_kinds,
            cast_summaries,
        )

    def _draw_outlines(self, messages: Sequence[Json]) -> Outlines:
        outlines: list[Outline] = []
        reply: dict[str, int] = {}
        before = ""
        for index, item in enumerate(messages):
            seen = self._outline(item, None)
            if seen.role != "tool" and not (seen.role == "assistant" == before):
                reply = {}
            reply |= dict.fromkeys(seen.calls, index)
            answers = reply.get(seen.results[0]) if seen.results else None
            outlines.append(replace(seen, index=index, answers=answers))
            before = seen.role
        return outlines

    def _read_items(self, placed: Iterable[_Placed]) -> list[Draft]:
        out: list[Draft] = []
        reasoned = False
        for group in _groups(placed):
            draft = self._draft(group)
            items = [item for _, item in group]
            if draft.role == "assistant":
                # Its ids, or those of a later one, may belong to the reasoning before the outputs, and are rejected
                # without it.
                goes_on = reasoned and out[-1].role == "tool" and not _has_reasoning(items)
                draft = replace(draft, joined=goes_on)
                reasoned = reasoned or _has_reasoning(items)
            elif draft.role != "tool":
                reasoned = False
            out.append(draft)
        return out

    def _draft(self, group: Sequence[_Placed]) -> Draft:
        items = [item for _, item in group]
        roles: dict[str, Role] = {"user": "user", "assistant": "assistant", "tool": "tool"}
        role = roles.get(role_of_item(items[0]), "system")
        parts = (part for place, item in group for part in _read_item(item, place))
        draft = read_draft(role, parts, items[0].get("id"))
        payload: object = items[0] if len(items) == 1 else items
        # Without its payload, a prompt in the list would be written as the instructions.
        complete = role != "system" and _write_items([self._replace_in_draft(draft)]) == items
        return self._keep_native(draft, payload, payload if complete else None)
