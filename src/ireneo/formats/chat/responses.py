"""OpenAI's responses: a list of items."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import Final, TypeAlias

import msgspec
from msgspec.structs import replace

from ireneo.errors import UnreadableLog
from ireneo.formats.chat.format import Payload, ThinkingRule, Violation, keep_native, settle_natives
from ireneo.formats.chat.notes import (
    cast_summaries,
    flatten_summaries,
    media_note,
    opaque_note,
    origin_of,
    recognise_summaries,
)
from ireneo.formats.chat.openai import read_arguments, write_arguments
from ireneo.formats.chat.openai import read_media as read_chat_media
from ireneo.formats.chat.openai import write_media as write_chat_media
from ireneo.formats.chat.repairs import (
    FITTING_NAME,
    Repair,
    answer_calls,
    drop_empty,
    drop_loose_thinking,
    fitting_name,
    give_unique_ids,
    join_drafts,
    leading_systems,
    place_parts,
    repaired,
    tell_server_pairs,
    with_parts,
)
from ireneo.formats.chat.rules import (
    PAIR_RULES,
    Outline,
    Outlines,
    Rule,
    breach,
    call_without_id,
    duplicate_id,
    unknown_role,
    unreadable,
    violations,
)
from ireneo.formats.values import (
    copied_messages,
    kind,
    listed_in,
    listing,
    placed_messages,
    record,
    role_of,
    text_or,
    type_of,
    words,
)
from ireneo.formats.values import kind as called
from ireneo.log.message import BLOCK_TAGS, Call, Draft, Media, Native, Opaque, Part, Result, Role, Text, Thinking

NAME: Final = "openai-responses"

ROLES: Final = ("user", "assistant", "system", "developer")
SIDES: Final = (*ROLES, "tool")
"""Who hands in an item: the roles of messages, and ``tool`` for the outputs of calls."""

MESSAGE: Final = "message"
REASONING: Final = "reasoning"
CALL: Final = "function_call"
CUSTOM_CALL: Final = "custom_tool_call"
APPROVAL: Final = "mcp_approval_response"

OTHERS: Final = (REASONING, APPROVAL, "mcp_approval_request", "mcp_list_tools", "compaction", "item_reference")
"""Items that are neither messages nor calls nor outputs."""

LONGEST_ID: Final = 64
"""How many letters a call's id may have."""

ID_BEGINS: Final = {MESSAGE: "msg", REASONING: "rs", CALL: "fc"}
"""How the provider's own ids of items begin; others are refused."""

_SEARCH, _FOUND = "tool_search_call", "tool_search_output"


def kind_of(item: dict[str, object]) -> str:
    """The type of an item; a message may leave it out. Empty where there is none."""
    return text_or(item.get("type"), MESSAGE if item.get("type") is None and "role" in item else "")


def call_id_of(item: dict[str, object]) -> str:
    """The id by which a call and its output know each other; empty where there is none."""
    # The output of a local shell bears it under another name.
    return text_or(item.get("call_id")) or (text_or(item.get("id")) if is_output(item) else "")


def is_call(item: dict[str, object]) -> bool:
    """Whether the application answers it: those that the provider runs itself have no id to be answered by."""
    kind = kind_of(item)
    return kind in (CALL, CUSTOM_CALL) or (kind.endswith("_call") and isinstance(item.get("call_id"), str))


def is_output(item: dict[str, object]) -> bool:
    """Whether it answers a call."""
    kind = kind_of(item)
    return kind.endswith("_call_output") or (kind == _FOUND and isinstance(item.get("call_id"), str))


def output_kind(kind: str) -> str:
    """The type of the output that answers a call of type `kind`."""
    return _FOUND if kind == _SEARCH else f"{kind}_output"


def side_of(item: dict[str, object]) -> str:
    """Who hands it in: a message's role; else the application, for what it answers, or the model."""
    kind = kind_of(item)
    if kind in ("", MESSAGE):
        return text_or(item.get("role"))
    if kind == APPROVAL:
        return "user"
    return "tool" if is_output(item) else "assistant"


def content_fits(kind: str, side: str) -> bool:
    """Whether a content part of type `kind` may stand in a message or an output of that side."""
    return kind == "refusal" or kind.startswith("output_") if side == "assistant" else kind.startswith("input_")


def has_reasoning(items: Sequence[dict[str, object]]) -> bool:
    """Whether the model reasoned for these items."""
    return any(kind_of(item) == REASONING for item in items)


_PDF = "application/pdf"


def read_media(block: dict[str, object], place: str) -> Media | Opaque:
    """A content part that is no text; one of a kind that is not known here stays as it is."""
    kind = type_of(block, place)
    read: Media | Opaque | None = None
    if kind == "input_image":
        read = read_chat_media({"type": "image_url", "image_url": {"url": block.get("image_url")}})
    elif kind == "input_file":
        url = block.get("file_url")
        if isinstance(url, str):
            read = Media(media_type=_PDF, url=url)
        else:
            read = read_chat_media({"type": "file", "file": block})
    elif kind == "input_audio":
        read = read_chat_media(block)
    return read if isinstance(read, Media) else Opaque(format=NAME, payload=block)


def write_media(media: Media) -> dict[str, object] | None:
    """The content part that shows `media`; None where the format has none for it."""
    if media.data is None and media.url is not None and media.media_type == _PDF:
        return {"type": "input_file", "file_url": media.url}
    written = write_chat_media(media)
    if written is None:
        return None
    inner = written.get(str(written["type"]))
    if not isinstance(inner, dict):
        return None
    if written["type"] == "image_url":
        return {"type": "input_image", "image_url": inner["url"]}
    return {"type": "input_file", **inner} if written["type"] == "file" else written


_TEXTS = {"input_text": "text", "output_text": "text", "text": "text", "refusal": "refusal"}
ReadPart: TypeAlias = Callable[[dict[str, object], str], Media | Opaque]

_ENVELOPE = ("type", "id", "call_id", "status")


def read_item(item: dict[str, object], place: str) -> list[Part]:
    """The parts that an item is; one of a kind that is not known here stays as it is."""
    name = kind_of(item)
    if not name:
        raise UnreadableLog(f"{place}: it has neither a type nor a role")
    if name == MESSAGE:
        return _read_message(item, place)
    if name == REASONING:
        return [_read_reasoning(item, place)]
    if is_call(item):
        return [_read_call(item, name, place)]
    if is_output(item):
        return [Result(call_id=call_id_of(item), parts=_read_output(item.get("output"), place))]
    return [Opaque(format=NAME, payload=item)]


def _read_message(item: dict[str, object], place: str) -> list[Part]:
    role = role_of(item, place, ROLES)
    read = _read_reply_part if role == "assistant" else read_media
    return [*_read_content(item.get("content"), f"{place}, content", read)]


def _read_reply_part(block: dict[str, object], place: str) -> Opaque:
    # Beside the items of a reply, a part of a message's content would be taken for one of them.
    return Opaque(format=NAME, payload={"role": "assistant", "content": [block]})


def _read_content(content: object, place: str, read: ReadPart) -> list[Text | Media | Opaque]:
    if content is None:
        return []
    if isinstance(content, str):
        return [Text(text=content)]
    if not isinstance(content, list):
        raise UnreadableLog(f"{place}: it is {kind(content)}, neither a string nor a list of parts")
    parts: list[Text | Media | Opaque] = []
    for index, block in enumerate(content):
        where = f"{place} part {index}"
        block = record(block, where)
        field = _TEXTS.get(type_of(block, where))
        parts.append(Text(text=words(block.get(field), f"{where}, {field}")) if field else read(block, where))
    return parts


def _read_reasoning(item: dict[str, object], place: str) -> Thinking:
    told: list[str] = []
    for field in ("summary", "content"):
        for index, block in enumerate(listing(item.get(field) or [], f"{place}, {field}")):
            text = text_or(record(block, f"{place}, {field} {index}").get("text"))
            told += [text] if text else []
    return Thinking(text="\n\n".join(told), sealed=text_or(item.get("encrypted_content")) or None, format=NAME)


def _read_call(item: dict[str, object], name: str, place: str) -> Call:
    call_id = call_id_of(item)
    if name == CALL:
        called = words(item.get("name"), f"{place}, name")
        return Call(id=call_id, name=called, arguments=read_arguments(item.get("arguments")))
    if name == CUSTOM_CALL:
        # It takes free text.
        return Call(id=call_id, name=words(item.get("name"), f"{place}, name"), arguments=text_or(item.get("input")))
    action = item.get("action")
    given = action if isinstance(action, dict) else {key: item[key] for key in item if key not in _ENVELOPE}
    return Call(id=call_id, name=name.removesuffix("_call"), arguments=given)


def _read_output(output: object, place: str) -> tuple[Text | Media | Opaque, ...]:
    if isinstance(output, dict) and isinstance(output.get("image_url"), str):
        # What a computer's screen shows.
        return (read_media({"type": "input_image", "image_url": output["image_url"]}, place),)
    if isinstance(output, list) and not all(isinstance(each, dict) and "type" in each for each in output):
        return (Text(text=msgspec.json.encode(output).decode()),)
    if isinstance(output, str | list):
        return tuple(_read_content(output, f"{place}, output", read_media)) if output else ()
    return () if output is None else (Text(text=msgspec.json.encode(output).decode()),)


_OWN_PARTS = ("input_text", "output_text", "refusal")
"""Content that has parts of its own; one that was not read as such is broken."""


def express(draft: Draft) -> Draft:
    """Say in text what the format has no item for; reasoning that isn't sealed, or sealed elsewhere, is left out."""
    if draft.native is not None:
        return draft
    return with_parts(draft, [_said(part, draft.role) for part in draft.parts if not _is_foreign(part)])


def _is_foreign(part: Part) -> bool:
    return isinstance(part, Thinking) and (part.sealed is None or part.format != NAME)


def _said(part: Part, role: str) -> Part:
    if isinstance(part, Call):
        return replace(part, name=fitting_name(part.name))
    if isinstance(part, Result):
        return replace(part, parts=tuple(_carried(each, "tool") for each in part.parts))
    return _carried(part, role) if isinstance(part, Media | Opaque) else part


def _carried(part: Text | Media | Opaque, role: str) -> Text | Media | Opaque:
    if isinstance(part, Media) and not (role in ("user", "tool") and write_media(part) is not None):
        return Text(text=media_note(part))
    if isinstance(part, Opaque) and not _is_carried(part, role):
        return Text(text=opaque_note(part))
    return part


def _is_carried(part: Opaque, role: str) -> bool:
    if part.format != NAME or role == "system":
        return False
    kind = text_or(part.payload.get("type"))
    if role == "assistant":
        return _is_item(part.payload)
    return (content_fits(kind, role) and kind not in _OWN_PARTS) or (kind == APPROVAL and role == "user")


def _is_item(payload: dict[str, object]) -> bool:
    """Whether it stands in the list as it is: an item of the provider's, or a message of content that we can't read."""
    kind = kind_of(payload)
    if kind != MESSAGE:
        return kind not in ("", REASONING, APPROVAL) and not is_call(payload) and not is_output(payload)
    content = payload.get("content")
    block = content[0] if isinstance(content, list) and len(content) == 1 else None
    shown = text_or(block.get("type")) if isinstance(block, dict) else ""
    return payload.get("role") == "assistant" and content_fits(shown, "assistant") and shown not in _OWN_PARTS


Item = dict[str, object]


def write_items(drafts: Sequence[Draft]) -> list[Item]:
    """The items of a list; each output is of its call's kind."""
    items: list[Item] = []
    kinds: dict[str, str] = {}
    for draft in drafts:
        if draft.role == "tool" and draft.native is None:
            items += [_write_output(result, kinds.get(result.call_id, CALL)) for result in draft.results]
            continue
        written = native_items(draft) if draft.native is not None else _written(draft)
        kinds |= {call_id_of(item): kind_of(item) for item in written if is_call(item)}
        items += written
    return items


def native_items(draft: Draft) -> list[Item]:
    """The items that a draft's payload is; none where it has none."""
    payload = draft.native.payload if draft.native is not None else []
    return [record(item, "native") for item in (payload if isinstance(payload, list) else [payload])]


def write_instructions(drafts: Sequence[Draft]) -> str | None:
    """The system prompt, apart from the items."""
    if not drafts:
        return None
    return "\n\n".join(part.text for draft in drafts for part in draft.parts if isinstance(part, Text))


def merge_natives(before: Draft, draft: Draft) -> Native | None:
    """The payload of two drafts that are one reply; None where their parts say it all."""
    if draft.role != "assistant" or (before.native is None and draft.native is None):
        return None
    return Native(format=NAME, payload=write_items([before, draft]))


def _written(draft: Draft) -> list[Item]:
    if draft.role == "assistant":
        return list(_write_assistant(draft.parts))
    if draft.role == "system":
        return [{"role": "system", "content": write_instructions([draft])}]
    return list(_write_user(draft.parts))


def _write_assistant(parts: Sequence[Part]) -> Iterator[Item]:
    for is_text, run in groupby(parts, lambda part: isinstance(part, Text)):
        if is_text:
            yield {"role": "assistant", "content": _write_content(list(run), "output_text")}
            continue
        for part in run:
            if isinstance(part, Thinking):
                yield _write_reasoning(part)
            elif isinstance(part, Call):
                yield {"type": CALL, "call_id": part.id, "name": part.name, "arguments": write_arguments(part)}
            elif isinstance(part, Opaque):
                yield part.payload


def _write_user(parts: Sequence[Part]) -> Iterator[Item]:
    for stands_alone, run in groupby(parts, _stands_alone):
        if stands_alone:
            yield from (part.payload for part in run if isinstance(part, Opaque))
        else:
            yield {"role": "user", "content": _write_content(list(run), "input_text")}


def _stands_alone(part: Part) -> bool:
    return isinstance(part, Opaque) and part.payload.get("type") == APPROVAL


def _write_reasoning(part: Thinking) -> Item:
    # Without its id: a provider that kept nothing would look for it in vain.
    summary = [{"type": "summary_text", "text": part.text}] if part.text else []
    return {"type": REASONING, "summary": summary, "encrypted_content": part.sealed}


def _write_output(result: Result, kind: str) -> Item:
    content = _write_content(result.parts, "input_text") if result.parts else ""
    return {"type": output_kind(kind), "call_id": result.call_id, "output": content}


def _write_content(parts: Sequence[Part], text_kind: str) -> str | list[Item]:
    """A string where there is one text only, else a list."""
    only = parts[0] if len(parts) == 1 else None
    if isinstance(only, Text):
        return only.text
    return [block for part in parts if (block := _write_block(part, text_kind)) is not None]


def _write_block(part: Part, text_kind: str) -> Item | None:
    if isinstance(part, Text):
        return {"type": text_kind, "text": part.text}
    if isinstance(part, Media):
        return write_media(part) or {"type": text_kind, "text": media_note(part)}
    return part.payload if isinstance(part, Opaque) else None


Placed: TypeAlias = tuple[str, dict[str, object]]
"""An item, and the words that name its place."""


def is_input(payload: object) -> bool:
    """Whether it is input of this format, and of no other: by its items, or by what its object calls them."""
    listed = listed_in(payload, "input")
    items = [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
    if isinstance(payload, dict) and ("instructions" in payload or "input" in payload):
        return isinstance(listed, str) or bool(items)
    return any(is_item(item) for item in items)


def is_item(item: dict[str, object]) -> bool:
    """Whether it is an item of this format, and of no other; what is a message everywhere is not."""
    kind = kind_of(item)
    if kind != MESSAGE:
        return kind in OTHERS or is_call(item) or is_output(item) or kind.endswith("_call")
    content = item.get("content")
    if not isinstance(content, list):
        return "type" in item
    # Sounds are called as here in OpenAI's chat as well, and Anthropic's replies say that they are messages.
    shown = ("input_text", "output_text", "input_image", "input_file", *(("refusal",) if "type" in item else ()))
    return any(isinstance(block, dict) and block.get("type") in shown for block in content)


def read_instructions(instructions: object) -> list[Draft]:
    """The draft of the system prompt that stands apart; none where there is none."""
    if instructions is None:
        return []
    return [Draft(role="system", parts=(Text(text=words(instructions, "instructions")),))]


def read_items(placed: Iterable[Placed]) -> list[Draft]:
    """The drafts of a list: reasoning, words and calls up to the first output are one."""
    out: list[Draft] = []
    reasoned = False
    for group in _groups(placed):
        draft = _draft(group)
        items = [item for _, item in group]
        if draft.role == "assistant":
            goes_on = reasoned and out[-1].role == "tool" and _has_ids(items) and not has_reasoning(items)
            # Its ids may belong to the reasoning before the outputs; without that they would be refused.
            draft = replace(draft, joined=goes_on)
            reasoned = reasoned or has_reasoning(items)
        elif draft.role != "tool":
            reasoned = False
        out.append(draft)
    return out


def _groups(placed: Iterable[Placed]) -> list[list[Placed]]:
    groups: list[list[Placed]] = []
    alone = True
    for place, item in placed:
        # What the model reasoned for, or said beside a call, is its own, whatever it looks like.
        bound = not alone and (kind_of(groups[-1][-1][1]) == REASONING or any(is_call(each) for _, each in groups[-1]))
        stands_alone = side_of(item) != "assistant" or (_is_block(item) and not bound)
        if alone or stands_alone:
            groups.append([])
        groups[-1].append((place, item))
        alone = stands_alone
    return groups


def _is_block(item: dict[str, object]) -> bool:
    """Whether it is a block of ours, which is no part of any reply."""
    content = item.get("content")
    return kind_of(item) == MESSAGE and "id" not in item and isinstance(content, str) and content.startswith(BLOCK_TAGS)


def _has_ids(items: Sequence[dict[str, object]]) -> bool:
    return any(isinstance(item.get("id"), str) for item in items)


def _draft(group: Sequence[Placed]) -> Draft:
    items = [item for _, item in group]
    parts: list[Part] = [part for place, item in group for part in read_item(item, place)]
    role = _role(side_of(items[0]))
    draft = Draft(
        role=role,
        parts=tuple(parts),
        origin=origin_of(parts) if role == "user" else "spoken",
        source_id=text_or(items[0].get("id")) or None,
    )
    payload: object = items[0] if len(items) == 1 else items
    # A prompt that stands in the list would be written apart from it, if it were known by its words alone.
    told = role != "system" and write_items([express(draft)]) == items
    return keep_native(draft, NAME, payload, payload if told else None)


def _role(side: str) -> Role:
    roles: dict[str, Role] = {"user": "user", "assistant": "assistant", "tool": "tool"}
    return roles.get(side, "system")


def agree_on_kinds(drafts: Sequence[Draft]) -> list[Draft]:
    """Build a call or an output from its parts where the other half is no longer of the kind that its payload says.

    An output in words can be written for a function and for a custom tool; a screen or a shell wants its own.
    """
    answers = {result.call_id: draft for draft in drafts if draft.role == "tool" for result in draft.results}
    out = [replace(draft, native=None) if _let_down(draft, answers) else draft for draft in drafts]
    kinds = {call_id_of(item): kind_of(item) for draft in out for item in native_items(draft) if is_call(item)}
    return [draft if _agrees(draft, kinds) else replace(draft, native=None) for draft in out]


def join_to_reasoning(drafts: Sequence[Draft]) -> list[Draft]:
    """Join to reasoning, and to a call, what the model made beside it, though it was handed in apart."""
    out: list[Draft] = []
    for draft in drafts:
        before = out[-1] if out and out[-1].role == draft.role == "assistant" else None
        led = before is not None and before.parts and _goes_on(before.parts[-1], draft.parts[:1])
        out.append(replace(draft, joined=True) if led else draft)
    return out


def drop_dangling_ids(drafts: Sequence[Draft]) -> list[Draft]:
    """Build a reply from its parts, without ids, where the reasoning that it goes on from is gone or was changed."""
    out: list[Draft] = []
    reasoned = False
    for draft in drafts:
        if draft.role == "assistant":
            dangles = draft.joined and not reasoned and draft.native is not None
            out.append(replace(draft, native=None) if dangles else draft)
            reasoned = has_reasoning(native_items(draft)) or (reasoned and draft.joined)
        else:
            out.append(draft)
            reasoned = reasoned and draft.role == "tool"
    return out


def _goes_on(last: Part, first: Sequence[Part]) -> bool:
    """Whether what begins with `first` is of one reply with what ends with `last`."""
    return isinstance(last, Thinking) or (isinstance(last, Call) and any(isinstance(part, Call) for part in first))


def _let_down(draft: Draft, answers: dict[str, Draft]) -> bool:
    if draft.role != "assistant":
        return False
    for item in native_items(draft):
        if is_call(item) and kind_of(item) not in (CALL, CUSTOM_CALL):
            answer = answers.get(call_id_of(item))
            if answer is None or [kind_of(each) for each in native_items(answer)] != [output_kind(kind_of(item))]:
                return True
    return False


def _agrees(draft: Draft, kinds: dict[str, str]) -> bool:
    if draft.role != "tool":
        return True
    return all(kind_of(item) == output_kind(kinds.get(call_id_of(item), CALL)) for item in native_items(draft))


def reasoning_alone(outlines: Outlines) -> Iterator[Violation]:
    """Reasoning leads to something: something else that the model made follows it."""
    following = [outline.message for outline in outlines][1:]
    for outline in outlines:
        led = outline.index < len(following) and side_of(following[outline.index]) == "assistant"
        if kind_of(outline.message) == REASONING and not led:
            says = "the reasoning has lost what it led to; the message or the call that it came with must follow."
            yield breach("reasoning-alone", outline.index, says)


def reasoning_without_summary(outlines: Outlines) -> Iterator[Violation]:
    """Reasoning has a summary, if only an empty one."""
    for outline in outlines:
        if kind_of(outline.message) == REASONING and not isinstance(outline.message.get("summary"), list):
            says = "the reasoning has no `summary`; an empty list will do."
            yield breach("reasoning-without-summary", outline.index, says)


def bad_arguments(outlines: Outlines) -> Iterator[Violation]:
    """Arguments are a string of JSON, not the object itself; a custom tool's input is a string."""
    for outline in outlines:
        field = {CALL: "arguments", CUSTOM_CALL: "input"}.get(kind_of(outline.message))
        if field and not isinstance(outline.message.get(field), str):
            yield breach("bad-arguments", outline.index, f"the {field} of a call must be a string.")


def bad_call_name(outlines: Outlines) -> Iterator[Violation]:
    """A tool's name is made of at most 128 letters, digits, underscores and hyphens."""
    for outline in outlines:
        name = outline.message.get("name")
        if (
            kind_of(outline.message) in (CALL, CUSTOM_CALL)
            and isinstance(name, str)
            and not FITTING_NAME.fullmatch(name)
        ):
            says = f"the tool's name {name!r} may only hold letters, digits, underscores and hyphens, at most 128."
            yield breach("bad-call-name", outline.index, says)


def bad_call_id(outlines: Outlines) -> Iterator[Violation]:
    """A call's id is no longer than 64 letters."""
    for outline in outlines:
        for name in (*outline.calls, *outline.results):
            if len(name) > LONGEST_ID:
                yield breach(
                    "bad-call-id", outline.index, f"the id {name[:12]!r}… is longer than {LONGEST_ID} letters."
                )


def bad_item_id(outlines: Outlines) -> Iterator[Violation]:
    """An item's id is one that the provider gave it."""
    for outline in outlines:
        begins = ID_BEGINS.get(kind_of(outline.message), "")
        name = outline.message.get("id")
        if isinstance(name, str) and not name.startswith(begins):
            says = f"its id {name!r} doesn't begin with {begins!r}; leave out an id that the provider didn't give."
            yield breach("bad-item-id", outline.index, says)


def empty_content(outlines: Outlines) -> Iterator[Violation]:
    """A message has content, if only an empty string; so has an output."""
    for outline in outlines:
        kind = kind_of(outline.message)
        if kind == MESSAGE and outline.message.get("content") in (None, []):
            yield breach("empty-content", outline.index, "it has no content.")
        if kind in (output_kind(CALL), output_kind(CUSTOM_CALL)):
            output = outline.message.get("output")
            if not isinstance(output, str | list):
                says = f"its output is {called(output)}, neither a string nor a list of parts."
                yield breach("empty-content", outline.index, says)


def misplaced_content(outlines: Outlines) -> Iterator[Violation]:
    """What the model said is output; what it is given is input."""
    for outline in outlines:
        field = "content" if kind_of(outline.message) == MESSAGE else "output"
        blocks = outline.message.get(field) if outline.role else None
        for block in blocks if isinstance(blocks, list) else ():
            kind = text_or(block.get("type")) if isinstance(block, dict) else ""
            if kind and not content_fits(kind, outline.role):
                says = f"a {kind} part may not stand in what the {outline.role} says."
                yield breach("misplaced-content", outline.index, says)


ITEM_RULES: tuple[Rule, ...] = (
    reasoning_without_summary,
    bad_arguments,
    bad_call_name,
    bad_call_id,
    bad_item_id,
    empty_content,
    misplaced_content,
)


def outlined(items: Sequence[dict[str, object]]) -> Outlines:
    """What the rules see of `items`: a run of outputs answers the calls of the reply directly before it."""
    outlines: list[Outline] = []
    reply: dict[str, int] = {}
    before = ""
    for index, item in enumerate(items):
        side = side_of(item)
        if side != "tool" and not (side == "assistant" == before):
            reply = {}
        if is_call(item):
            reply[call_id_of(item)] = index
        answering = is_output(item)
        outlines.append(
            Outline(
                index=index,
                role=side,
                message=item,
                calls=(call_id_of(item),) if is_call(item) else (),
                results=(call_id_of(item),) if answering else (),
                answers=reply.get(call_id_of(item)) if answering else None,
            )
        )
        before = side
    return Outlines(outlines)


def wrong_kind(outlines: Outlines) -> Iterator[Violation]:
    """A call is answered by an output of its own kind."""
    items = [outline.message for outline in outlines]
    for outline in outlines:
        if outline.answers is not None:
            expected = output_kind(kind_of(items[outline.answers]))
            if kind_of(outline.message) != expected:
                yield breach("wrong-kind", outline.index, f"the call is answered by a {expected}, not by this.")


LOCAL_RULES: tuple[Rule, ...] = (
    unknown_role(SIDES),
    unreadable(read_item, SIDES),
    call_without_id,
    *ITEM_RULES,
)
"""Those that look at one item at a time."""

RULES: tuple[Rule, ...] = (*LOCAL_RULES, reasoning_alone, duplicate_id, *PAIR_RULES, wrong_kind)


class OpenAIResponses:
    """OpenAI Responses: reasoning, messages, calls and their outputs are items of one list, the instructions apart.

    A call must stand in the list to be answered there: one that is only referred to (by an `item_reference`, or by
    a `previous_response_id`) is not seen.
    """

    name = NAME
    thinking: ThinkingRule = "turn"

    def decode(self, payload: object) -> list[Draft]:
        """Read a list of items, or an object that holds one (or words) under `input`, with `instructions` beside it.

        `messages` and `system` are read as the same.
        """
        prompt: object = payload.system if isinstance(payload, Payload) else None
        if isinstance(payload, dict):
            prompt = payload.get("instructions", payload.get("system"))
            if isinstance(payload.get("input"), str):
                payload = [{"role": "user", "content": payload["input"]}]
        drafts = [*read_instructions(prompt), *read_items(placed_messages(payload, "input"))]
        return recognise_summaries(drafts)

    def encode(self, drafts: Sequence[Draft]) -> Payload:
        """Write drafts as a valid list of items, and the system drafts at its beginning apart.

        Calls are answered and outputs follow their calls; what can't be shown is told in a text. Sealed reasoning
        goes back, and all reasoning of a reply that goes back unchanged; a changed reply loses its items' ids.
        """
        sound = repaired(drafts, _REPAIRS)
        first = leading_systems(sound)
        # A prompt that stood in the list has its payload, and stands there again.
        listed = [draft for place, draft in enumerate(sound) if place >= first or draft.native is not None]
        apart = [draft for draft in sound[:first] if draft.native is None]
        return Payload(messages=copied_messages(write_items(listed)), system=write_instructions(apart))

    def validate(self, payload: Payload, *, thinking: bool = False) -> list[Violation]:
        """Name every rule that the list breaks; they are the same whether or not the model is to think."""
        return violations(outlined(payload.messages), RULES)


def _items(payload: object) -> list[dict[str, object]]:
    return [record(item, "native") for item in (payload if isinstance(payload, list) else [payload])]


def _accepts(payload: object) -> bool:
    listed = payload if isinstance(payload, list) else [payload]
    return all(isinstance(item, dict) for item in listed) and not violations(outlined(_items(payload)), LOCAL_RULES)


def _read_native(payload: object) -> list[Draft]:
    return read_items(("native", item) for item in _items(payload))


def _express_all(drafts: Sequence[Draft]) -> list[Draft]:
    return [express(draft) for draft in drafts]


def _id_fits(call: Call, draft: Draft) -> bool:
    return len(call.id) <= LONGEST_ID


_REPAIRS: tuple[Repair, ...] = (
    partial(settle_natives, name=NAME, read=_read_native, accepts=_accepts),
    flatten_summaries,
    _express_all,
    drop_dangling_ids,
    join_to_reasoning,
    partial(join_drafts, merge=merge_natives),
    tell_server_pairs,
    place_parts,
    drop_loose_thinking,
    drop_empty,
    partial(give_unique_ids, fits=_id_fits),
    answer_calls,
    agree_on_kinds,
    cast_summaries,
)
