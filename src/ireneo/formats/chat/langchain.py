"""LangChain's messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import msgspec
from msgspec.structs import replace

from ireneo.errors import UnreadableLog
from ireneo.formats.chat import openai
from ireneo.formats.chat.anthropic import read_media as read_anthropic
from ireneo.formats.chat.format import Payload, ThinkingRule, Violation, keep_native, settle_natives
from ireneo.formats.chat.langchain_names import (
    CALLS,
    NAME,
    ROLES,
    SOURCE,
    SUMMARISED,
    TEXTS,
    THOUGHTS,
    role_named,
    type_named,
)
from ireneo.formats.chat.notes import cast_summaries, flatten_summaries, media_note, origin_of
from ireneo.formats.chat.openai import REASONING, id_fits, is_old, old_id, old_name
from ireneo.formats.chat.openai import read_media as read_openai
from ireneo.formats.chat.repairs import (
    Repair,
    answer_calls,
    drop_empty,
    express,
    express_drafts,
    give_unique_ids,
    join_drafts,
    join_systems,
    no_native,
    open_with_user,
    place_parts,
    quote_later_systems,
    repaired,
    tell_server_pairs,
)
from ireneo.formats.chat.rules import (
    PAIR_RULES,
    Outline,
    Outlines,
    Rule,
    breach,
    call_without_id,
    duplicate_id_in_message,
    first_not_user,
    thinking_missing,
    thinks,
    unreadable,
    violations,
)
from ireneo.formats.values import copied_messages, detached, kind, listing, messages_of, record, text_or, words
from ireneo.log.message import Call, Draft, Media, Native, Opaque, Origin, Part, Result, Role, Text, Thinking, digest

_KINDS = {"image": "image/", "audio": "audio/", "video": "video/"}
_ANY = {"image": "image/*", "audio": "audio/*", "video": "video/*", "file": "application/octet-stream"}
_OPENAI = ("image_url", "input_audio", "file")


def read_media(block: dict[str, object]) -> Media | Opaque:
    """A block that is no text; one of a kind that is not known here stays as it is."""
    kind = str(block.get("type"))
    found: Media | Opaque | None = _standard(block, kind) if kind in _ANY else None
    if found is None and kind in _OPENAI:
        found = read_openai(block)
    if found is None and "source" in block:
        found = read_anthropic(block)
    return found if isinstance(found, Media) else Opaque(format=NAME, payload=block)


def write_media(media: Media) -> dict[str, object] | None:
    """The block that shows `media`; None where there is nothing to show."""
    kind = next((name for name, begins in _KINDS.items() if media.media_type.startswith(begins)), "file")
    block: dict[str, object] = {"type": kind}
    if media.data is not None:
        block["base64"] = media.data
    elif media.url is not None and media.url.startswith(("http://", "https://")):
        block["url"] = media.url
    else:
        return None
    if media.media_type != _ANY[kind]:
        block["mime_type"] = media.media_type
    # A file without a name is refused by some providers.
    return block | ({"filename": media.name or "file"} if kind == "file" else {})


def _standard(block: dict[str, object], kind: str) -> Media | None:
    data, url = block.get("base64"), block.get("url")
    if "source_type" in block:
        # Before version 1 the data stood under the name of its own kind.
        data = block.get("data") if block.get("source_type") == "base64" else None
    media_type = text_or(block.get("mime_type")) or _ANY[kind]
    name = text_or(block.get("filename")) or None
    if isinstance(data, str):
        return Media(media_type=media_type, data=data, name=name)
    return Media(media_type=media_type, url=url, name=name) if isinstance(url, str) else None


_LISTS = ("tool_calls", "invalid_tool_calls", "tool_call_chunks")


def read_calls(data: dict[str, object], place: str) -> list[Call]:
    """The calls of an AI message, as LangChain itself finds them."""
    made, broken, streamed = (_listed(data, key, place) for key in _LISTS)
    calls = [_call(item, f"{place}, tool call {index}") for index, item in enumerate(made)]
    calls += [_broken(item) for item in broken]
    if not calls:
        calls = [_streamed(item) for item in streamed]
    raw = data.get("additional_kwargs")
    if calls or not isinstance(raw, dict):
        return calls
    # As the provider wrote them: what was stored by older versions has them nowhere else.
    return openai.read_calls(raw, f"{place}, additional_kwargs")


def write_calls(calls: Sequence[Call]) -> dict[str, object]:
    """The fields of an AI message that makes `calls`."""
    fields: dict[str, object] = {}
    if len(calls) == 1 and openai.is_old(calls[0].id):
        fields["additional_kwargs"] = openai.write_calls((calls[0],))
        calls = ()
    made = [_written_arguments(call, call.arguments) for call in calls if isinstance(call.arguments, dict)]
    return fields | {
        "tool_calls": made,
        "invalid_tool_calls": [_unread(call) for call in calls if not isinstance(call.arguments, dict)],
        "usage_metadata": None,
    }


def block_call(block: dict[str, object]) -> Call:
    """The call that a content block of an AI message says."""
    given = next((block[key] for key in ("input", "args", "arguments") if key in block), None)
    name = text_or(block.get("call_id")) or text_or(block.get("id"))
    return Call(id=name, name=text_or(block.get("name")), arguments=_arguments(given))


def _listed(data: dict[str, object], key: str, place: str) -> list[dict[str, object]]:
    listed = data.get(key)
    if listed is None:
        return []
    where = f"{place}, {key}"
    return [record(item, f"{where} {index}") for index, item in enumerate(listing(listed, where))]


def _call(item: dict[str, object], place: str) -> Call:
    name = words(item.get("name"), f"{place}, name")
    return Call(id=text_or(item.get("id")), name=name, arguments=record(item.get("args"), f"{place}, args"))


def _broken(item: dict[str, object]) -> Call:
    return Call(id=text_or(item.get("id")), name=text_or(item.get("name")), arguments=text_or(item.get("args")))


def _streamed(item: dict[str, object]) -> Call:
    return Call(id=text_or(item.get("id")), name=text_or(item.get("name")), arguments=_arguments(item.get("args")))


def _arguments(given: object) -> dict[str, object] | str:
    if isinstance(given, dict):
        return given
    if not isinstance(given, str) or not given.strip():
        return {}
    try:
        parsed = msgspec.json.decode(given)
    except (msgspec.DecodeError, RecursionError):
        # What the model wrote is kept as it wrote it.
        return given
    return parsed if isinstance(parsed, dict) else given


def _written_arguments(call: Call, arguments: object) -> dict[str, object]:
    return {"name": call.name, "args": arguments, "id": call.id, "type": "tool_call"}


def _unread(call: Call) -> dict[str, object]:
    return _written_arguments(call, call.arguments) | {"type": "invalid_tool_call", "error": None}


def nested_messages(payload: object) -> Iterator[tuple[str, dict[str, object]]]:
    """Each message of `payload`, copied and nested, with the words that name its place."""
    for index, item in enumerate(messages_of(payload)):
        place = f"message {index}"
        yield place, record(detached(nested(item, place), place), place)


def nested(item: object, place: str) -> dict[str, object]:
    """A message with its fields under `data`."""
    if not isinstance(item, dict):
        item = _dumped(item, place)
    if "data" in item or not isinstance(item.get("type"), str):
        return item
    return {"type": item["type"], "data": item}


def is_message(item: object) -> bool:
    """Whether `item` is a message of this format, in any of its shapes."""
    if not isinstance(item, dict):
        return callable(getattr(item, "model_dump", None)) and type_named({"type": getattr(item, "type", None)}) != ""
    return type_named(item) != "" and (isinstance(item.get("data"), dict) or "content" in item)


def _dumped(item: object, place: str) -> dict[str, object]:
    dump = getattr(item, "model_dump", None)
    if not callable(dump) or not isinstance(getattr(item, "type", None), str):
        raise UnreadableLog(f"{place}: it is {kind(item)}, neither an object nor a message of LangChain")
    data = record(dump(), place)
    if "artifact" in data:
        data |= {"artifact": _written(data["artifact"])}
    return data


def _written(artifact: object) -> object:
    # What a tool hands to the program beside its words may be anything: a table, an open file. No model sees it.
    try:
        return msgspec.json.decode(msgspec.json.encode(artifact))
    except (TypeError, ValueError, RecursionError):
        return None


def read_content(content: object, place: str) -> list[Text | Media | Opaque]:
    """What a message says that is not the model's."""
    parts: list[Text | Media | Opaque] = []
    for where, item in _items(content, place):
        parts.append(Text(text=item) if isinstance(item, str) else _said(item, where))
    return parts


def read_reply(content: object, place: str) -> list[Text | Media | Opaque | Thinking | Call]:
    """What a message of the model says, its thoughts and the calls among its blocks included."""
    parts: list[Text | Media | Opaque | Thinking | Call] = []
    for where, item in _items(content, place):
        if isinstance(item, str):
            parts.append(Text(text=item))
        elif item.get("type") in THOUGHTS:
            parts.append(_thought(item))
        else:
            parts.append(block_call(item) if item.get("type") in CALLS else _said(item, where))
    return parts


def _items(content: object, place: str) -> list[tuple[str, str | dict[str, object]]]:
    if isinstance(content, str):
        return [(place, content)]
    if not isinstance(content, list):
        raise UnreadableLog(f"{place}, content: it is {kind(content)}, neither a string nor a list of blocks")
    items: list[tuple[str, str | dict[str, object]]] = []
    for index, item in enumerate(content):
        where = f"{place}, block {index}"
        items.append((where, item if isinstance(item, str) else record(item, where)))
    return items


def _said(block: dict[str, object], place: str) -> Text | Media | Opaque:
    name = block.get("type")
    if isinstance(name, str) and name in TEXTS:
        return Text(text=words(block.get(name), f"{place}, {name}"))
    return read_media(block)


def _thought(block: dict[str, object]) -> Thinking:
    inner, more = block.get("reasoning_content"), block.get("extras")
    fields = {**block, **(inner if isinstance(inner, dict) else {}), **(more if isinstance(more, dict) else {})}
    text = next((fields[key] for key in ("thinking", "reasoning", "text") if isinstance(fields.get(key), str)), None)
    signature = text_or(fields.get("signature")) or None
    sealed = next((fields[key] for key in ("data", "encrypted_content") if isinstance(fields.get(key), str)), None)
    bound = signature is not None or sealed is not None
    return Thinking(
        text=text_or(text) or _told(block.get("summary")),
        signature=signature,
        sealed=text_or(sealed) or None,
        format=NAME if bound else None,
    )


def _told(summary: object) -> str:
    pieces = summary if isinstance(summary, list) else []
    return "\n".join(text_or(piece.get("text")) for piece in pieces if isinstance(piece, dict))


_OWN_PARTS = (*TEXTS, *CALLS, *THOUGHTS, "tool_result", "remove", "input_json_delta")
"""Blocks that have parts or messages of their own; one that was not read as such is broken."""


def carries(part: Media | Opaque, role: str) -> bool:
    """Whether a message of that role has a block for it."""
    if isinstance(part, Media):
        return role == "user" and write_media(part) is not None
    return part.format == NAME and part.payload.get("type") not in _OWN_PARTS


_TYPES = {"system": "system", "user": "human", "assistant": "ai"}


def write_draft(draft: Draft) -> list[dict[str, object]]:
    """The messages that a draft is: one, or one for each result."""
    if draft.native is not None:
        return [record(draft.native.payload, "native")]
    if draft.role == "tool":
        return [_result(result, None if index else draft.source_id) for index, result in enumerate(draft.results)]
    spoken = [part for part in draft.parts if isinstance(part, Text | Media | Opaque)]
    calls = write_calls(draft.calls) if draft.role == "assistant" else {}
    marked: dict[str, object] = {"additional_kwargs": {SOURCE: SUMMARISED}} if draft.origin == "summary" else {}
    return [_message(_TYPES[draft.role], _content(spoken), draft.source_id, calls | marked)]


def _result(result: Result, source_id: str | None) -> dict[str, object]:
    content = _content(result.parts)
    if is_old(result.call_id):
        return _message("function", content, source_id, {"name": old_name(result.call_id)})
    told: dict[str, object] = {
        "name": result.name,
        "tool_call_id": result.call_id,
        "artifact": None,
        "status": "error" if result.failed else "success",
    }
    return _message("tool", content, source_id, told)


def _message(kind: str, content: object, source_id: str | None, more: dict[str, object]) -> dict[str, object]:
    """Every field that LangChain itself would write."""
    plain = {"content": content, "additional_kwargs": {}, "response_metadata": {}}
    return {"type": kind, "data": plain | {"type": kind, "name": None, "id": source_id} | more}


def _content(parts: Sequence[Part]) -> str | list[dict[str, object]]:
    """A string where there is only text, which every provider takes; else a list."""
    texts = [part.text for part in parts if isinstance(part, Text)]
    if len(texts) == len(parts):
        return texts[0] if len(texts) == 1 else "\n\n".join(text for text in texts if text)
    return [block for part in parts if (block := _block(part)) is not None]


def _block(part: Part) -> dict[str, object] | None:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    if isinstance(part, Media):
        return write_media(part) or {"type": "text", "text": media_note(part)}
    return part.payload if isinstance(part, Opaque) else None


def read_message(message: dict[str, object], place: str) -> list[Draft]:
    """The draft that a message is, with its payload where the parts don't give it back."""
    draft = bare_draft(message, place)
    if draft.origin == "summary":
        # Marked by whoever wrote it, in its own words: it comes back as it is wherever it still fits.
        return [replace(draft, native=Native(format=NAME, payload=message))]
    return [keep_native(draft, NAME, message, _alone(draft))]


def bare_draft(message: dict[str, object], place: str) -> Draft:
    """The draft that a message is, without its payload."""
    kind, role = type_named(message), role_named(message)
    if role is None:
        raise UnreadableLog(f"{place}: its type {message.get('type')!r} is unknown; expected one of {', '.join(ROLES)}")
    data = record(message.get("data"), f"{place}, data")
    source_id = text_or(data.get("id")) or None
    if kind == "remove":
        if source_id is None:
            raise UnreadableLog(f"{place}: it names no message to remove")
        # It says nothing to a model; it is carried, so that whoever keeps the list can act on it.
        return Draft(role="user", parts=(Opaque(format=NAME, payload=message),), origin="injected", source_id=source_id)
    parts = _parts(kind, role, data, place)
    return Draft(role=role, parts=tuple(parts), origin=_origin(role, data, parts), source_id=source_id)


def settle_marked(drafts: Sequence[Draft]) -> list[Draft]:
    """Take a summary in the assistant's voice for one only where the user has the next word, as we write them."""
    out = list(drafts)
    for index in reversed(range(len(out))):
        following = out[index + 1] if index + 1 < len(out) else None
        heard = following is not None and following.role == "user" and following.origin != "summary"
        if out[index].origin == "summary" and out[index].role == "assistant" and not heard:
            out[index] = replace(out[index], origin="spoken")
    return out


def _alone(draft: Draft) -> object:
    written = write_draft(express(draft, carries))
    return written[0] if len(written) == 1 else None


def _parts(kind: str, role: Role, data: dict[str, object], place: str) -> list[Part]:
    if role == "assistant":
        return _reply(data, place)
    content = data.get("content")
    if role != "tool":
        return list(read_content(content, place))
    parts = tuple(read_content(content, place)) if content else ()
    name = data.get("name")
    if kind == "function":
        called = words(name, f"{place}, name")
        return [Result(call_id=old_id(called), parts=parts, name=called)]
    # Only an error is a flag that tells: success is what stands there when nobody looked.
    failed = True if data.get("status") == "error" else None
    call_id = text_or(data.get("tool_call_id"))
    return [Result(call_id=call_id, parts=parts, failed=failed, name=text_or(name) or None)]


def _reply(data: dict[str, object], place: str) -> list[Part]:
    said = read_reply(data.get("content"), place)
    calls = read_calls(data, place)
    listed = {call.id for call in calls}
    parts: list[Part] = [part for part in said if not (isinstance(part, Call) and part.id in listed)]
    return [*_beside(data, parts), *parts, *calls]


def _beside(data: dict[str, object], parts: Sequence[Part]) -> list[Thinking]:
    """What some providers put of a model's reasoning beside its content."""
    more = data.get("additional_kwargs")
    if not isinstance(more, dict) or any(isinstance(part, Thinking) for part in parts):
        return []
    thought = next((more[key] for key in REASONING if isinstance(more.get(key), str) and more[key]), None)
    return [Thinking(text=thought)] if isinstance(thought, str) else []


def _origin(role: Role, data: dict[str, object], parts: Sequence[Part]) -> Origin:
    more = data.get("additional_kwargs")
    source = more.get(SOURCE) if isinstance(more, dict) else None
    if role in ("user", "assistant") and source == SUMMARISED:
        return "spoken" if any(isinstance(part, Call) for part in parts) else "summary"
    if role != "user":
        return "spoken"
    return "injected" if isinstance(source, str) else origin_of(parts)


_ENCODER = msgspec.json.Encoder(order="sorted")
_PREFIX = "msg"


def name_messages(messages: Sequence[dict[str, object]]) -> list[dict[str, object]]:
    """Give an id to each message that has none, or that of another: the same message gets the same id each time."""
    taken = {name for message in messages if (name := _named(message))}
    seen: set[str] = set()
    out: list[dict[str, object]] = []
    for message in messages:
        name = _named(message)
        if type_named(message) == "remove":
            # Its id is that of another message, on purpose.
            out.append(message)
            continue
        if not name or name in seen:
            message, name = _renamed(message, taken)
        seen.add(name)
        out.append(message)
    return out


def missing_id(outlines: Outlines) -> Iterator[Violation]:
    """Each message has an id."""
    for outline in outlines:
        if not _named(outline.message):
            yield breach("missing-id", outline.index, "it has no id, so that it can't be replaced or removed.")


def duplicate_id(outlines: Outlines) -> Iterator[Violation]:
    """No two messages have one id, or one would take the other's place."""
    seen: set[str] = set()
    for outline in outlines:
        name = _named(outline.message)
        if not name or type_named(outline.message) == "remove":
            continue
        if name in seen:
            yield breach("duplicate-id", outline.index, f"the id {name!r} is that of a message before it.")
        seen.add(name)


def _named(message: dict[str, object]) -> str:
    data = message.get("data")
    name = data.get("id") if isinstance(data, dict) else None
    return name if isinstance(name, str) else ""


def _renamed(message: dict[str, object], taken: set[str]) -> tuple[dict[str, object], str]:
    data = message.get("data")
    fields = {key: value for key, value in data.items() if key != "id"} if isinstance(data, dict) else {}
    count = 0
    while True:
        name = digest(_PREFIX, _ENCODER.encode(fields), str(count).encode())
        if name not in taken:
            taken.add(name)
            return message | {"data": fields | {"id": name}}, name
        count += 1


def outlined(messages: Sequence[dict[str, object]]) -> Outlines:
    """What the rules see of `messages`: a run of tool messages answers the AI message before it."""
    outlines: list[Outline] = []
    answered: int | None = None
    for index, message in enumerate(messages):
        role = role_named(message)
        if role != "tool":
            answered = index if role == "assistant" else None
        draft = _draft(message)
        outlines.append(
            Outline(
                index=index,
                role=role or "",
                message=message,
                calls=tuple(call.id for call in draft.calls) if draft else (),
                results=tuple(result.call_id for result in draft.results) if draft else (),
                thinks=draft is not None and thinks(draft),
                answers=answered if role == "tool" else None,
            )
        )
    return Outlines(outlines)


def unknown_type(outlines: Outlines) -> Iterator[Violation]:
    """Each message is of a type that LangChain knows, and its fields agree."""
    for outline in outlines:
        data = outline.message.get("data")
        said, inner = outline.message.get("type"), data.get("type") if isinstance(data, dict) else None
        if not outline.role:
            known = ", ".join(ROLES)
            yield breach("unknown-type", outline.index, f"its type {said!r} is unknown; expected one of {known}.")
        elif inner not in (None, said):
            yield breach("unknown-type", outline.index, f"its type is {said!r}, but its data say {inner!r}.")


def system_not_first(outlines: Outlines) -> Iterator[Violation]:
    """One system message stands at the beginning, and no other anywhere."""
    for outline in outlines:
        if outline.role == "system" and outline.index > 0:
            yield breach("system-not-first", outline.index, "a system message may only stand first, and alone.")


def misfit(outlines: Outlines) -> Iterator[Violation]:
    """Fields of a message have the shape that LangChain loads."""
    for outline in outlines:
        data = outline.message.get("data")
        for key, fits in _SHAPES.items() if isinstance(data, dict) else ():
            value = data.get(key) if isinstance(data, dict) else None
            if value is not None and not isinstance(value, fits):
                yield breach("misfit", outline.index, f"its {key} can't be loaded.")


_SHAPES: dict[str, type] = {"additional_kwargs": dict, "response_metadata": dict, "name": str, "id": str}

LOCAL_RULES: tuple[Rule, ...] = (
    unknown_type,
    unreadable(read_message, ("system", "user", "assistant", "tool")),
    misfit,
    call_without_id,
    duplicate_id_in_message,
)
"""Those that look at one message at a time."""

RULES: tuple[Rule, ...] = (*LOCAL_RULES, missing_id, duplicate_id, system_not_first, first_not_user, *PAIR_RULES)
THINKING_RULES: tuple[Rule, ...] = (*RULES, thinking_missing)
"""Those that hold where the provider below thinks, and wants its thinking back."""


def _draft(message: dict[str, object]) -> Draft | None:
    try:
        return bare_draft(message, "message")
    except UnreadableLog:
        # Another rule says so.
        return None


class LangChainMessages:
    """LangChain messages, as `messages_to_dict` writes and `messages_from_dict` loads them.

    Read flat as well (as `model_dump` writes them), and from message objects in a list.
    """

    name = NAME
    thinking: ThinkingRule = "prefix"

    def decode(self, payload: object) -> list[Draft]:
        """Read a message list, or an object that holds one under `messages`; one draft a message.

        What a tool handed to the program as its `artifact` is left out where it can't be written as JSON.
        """
        drafts = [draft for place, message in nested_messages(payload) for draft in read_message(message, place)]
        return settle_marked(drafts)

    def encode(self, drafts: Sequence[Draft]) -> Payload:
        """Write drafts as a valid message list.

        Calls are answered and results follow their calls, one system message stands first, then the user begins, and
        each message has an id. Thinking goes back only in a message that goes back as it came.
        """
        messages = [message for draft in repaired(drafts, _REPAIRS) for message in write_draft(draft)]
        return Payload(messages=name_messages(copied_messages(messages)))

    def validate(self, payload: Payload, *, thinking: bool = False) -> list[Violation]:
        """Name every rule that the list breaks; with `thinking`, as if extended thinking were on for the next call."""
        return violations(outlined(payload.messages), THINKING_RULES if thinking else RULES)


def _accepts(payload: object) -> bool:
    return isinstance(payload, dict) and not violations(outlined([payload]), LOCAL_RULES)


def _read_native(payload: object) -> list[Draft]:
    return read_message(record(payload, "native"), "native")


_REPAIRS: tuple[Repair, ...] = (
    partial(settle_natives, name=NAME, read=_read_native, accepts=_accepts),
    flatten_summaries,
    partial(join_drafts, merge=no_native),
    tell_server_pairs,
    partial(express_drafts, carries=carries),
    place_parts,
    drop_empty,
    partial(give_unique_ids, fits=id_fits, per_message=True),
    answer_calls,
    join_systems,
    quote_later_systems,
    cast_summaries,
    open_with_user,
)
