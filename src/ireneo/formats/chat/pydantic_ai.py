"""Pydantic AI's requests and responses."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final, Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from ireneo.errors import UnreadableLog
from ireneo.formats.chat.format import Payload, ThinkingRule, Violation, keep_native, settle_natives
from ireneo.formats.chat.notes import (
    UNNAMED,
    cast_summaries,
    flatten_summaries,
    media_note,
    origin_of,
    recognise_summaries,
)
from ireneo.formats.chat.repairs import (
    Repair,
    answer_calls,
    drop_empty,
    express,
    express_drafts,
    give_unique_ids,
    join_drafts,
    no_native,
    open_with_user,
    place_parts,
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
from ireneo.log.message import Call, Draft, Media, Native, Opaque, Origin, Part, Result, Role, Text, Thinking

NAME: Final = "pydantic-ai"

REQUEST: Final = "request"
RESPONSE: Final = "response"

Voice: TypeAlias = Literal["system", "user", "tool", "harness", "summary"]
"""Who speaks in a part of a request."""

SYSTEM: Final = "system-prompt"
PROMPT: Final = "user-prompt"
RETURN: Final = "tool-return"
RETRY: Final = "retry-prompt"
FEEDBACK: Final = "retry-feedback"
COMPACTION: Final = "compaction"
SPEECH: Final = "speech"

TEXT: Final = "text"
THINKING: Final = "thinking"
CALL: Final = "tool-call"
FILE: Final = "file"
SERVED: Final = ("builtin-tool-call", "builtin-tool-return")
"""A call that the provider ran, and its result: what becomes of them is the library's to know."""

ONLY_IN_REQUESTS: Final = (SYSTEM, PROMPT, RETURN, RETRY, FEEDBACK)
ONLY_IN_RESPONSES: Final = (TEXT, THINKING, CALL, FILE, *SERVED)

CONTENT: Final = ("cache-point", "uploaded-file")
"""Items of a prompt that are neither words nor media that can be read."""


def kind_named(message: dict[str, object]) -> str:
    """Whether a message is a request or a response; empty where it is neither."""
    kind = message.get("kind")
    return kind if isinstance(kind, str) and kind in (REQUEST, RESPONSE) else ""


def part_kind(part: dict[str, object]) -> str:
    """The kind of a part; empty where it has none."""
    kind = part.get("part_kind")
    return kind if isinstance(kind, str) else ""


def voice_of(part: dict[str, object]) -> Voice | None:
    """Who speaks in a part of a request; None where it only records something for the library."""
    kind = part_kind(part)
    if kind == RETRY:
        # One that names no tool is about the response as a whole.
        return "tool" if isinstance(part.get("tool_name"), str) else "harness"
    return _VOICES.get(kind)


_VOICES: dict[str, Voice] = {
    SYSTEM: "system",
    PROMPT: "user",
    SPEECH: "user",
    RETURN: "tool",
    FEEDBACK: "harness",
    COMPACTION: "summary",
}


_ADAPTER = "ModelMessagesTypeAdapter"


def dumped_messages(payload: object) -> Iterator[tuple[str, dict[str, object]]]:
    """Each message of `payload`, copied, with the words that name its place."""
    for index, item in enumerate(messages_of(payload)):
        place = f"message {index}"
        message = item if isinstance(item, dict) else _dumped(item, place)
        yield place, record(detached(message, place), place)


def is_message(item: object) -> bool:
    """Whether `item` is a message of this format, dumped or as an object."""
    if isinstance(item, dict):
        return kind_named(item) != "" and isinstance(item.get("parts"), list)
    return hasattr(item, "parts") and kind_named({"kind": getattr(item, "kind", None)}) != ""


def _dumped(item: object, place: str) -> dict[str, object]:
    # The library was loaded by whoever made the object; its adapter stands beside the object's class.
    adapter = getattr(sys.modules.get(type(item).__module__), _ADAPTER, None)
    if adapter is None:
        raise UnreadableLog(
            f"{place}: it is {kind(item)}, not an object; dump messages with {_ADAPTER}.dump_python(…, mode='json')"
        )
    try:
        (message,) = adapter.dump_python([item], mode="json")
    except (TypeError, ValueError) as fault:
        raise UnreadableLog(f"{place}: {_ADAPTER} can't dump it ({fault})") from fault
    return record(message, place)


_BINARY = "binary"
_URLS = {
    "image-url": "image/*",
    "audio-url": "audio/*",
    "video-url": "video/*",
    "document-url": "application/octet-stream",
}


def read_media(item: object) -> Media | None:
    """The media that an item of content is; None where it is something else."""
    if not isinstance(item, dict):
        return None
    kind, data, url = item.get("kind"), item.get("data"), item.get("url")
    media_type = text_or(item.get("media_type"))
    if kind == _BINARY and isinstance(data, str) and media_type:
        return Media(media_type=media_type, data=data)
    if isinstance(kind, str) and kind in _URLS and isinstance(url, str):
        return Media(media_type=media_type or _URLS[kind], url=url)
    return None


def write_media(media: Media) -> dict[str, object] | None:
    """The item that shows `media`; None where there is nothing to show."""
    if media.data is not None:
        return {"kind": _BINARY, "data": media.data, "media_type": media.media_type}
    if media.url is None or not media.url.startswith(("http://", "https://")):
        return None
    family = media.media_type.partition("/")[0]
    kind = f"{family}-url" if f"{family}-url" in _URLS else "document-url"
    item: dict[str, object] = {"kind": kind, "url": media.url}
    return item if media.media_type == _URLS[kind] else item | {"media_type": media.media_type}


_WORDS = ("text-content", "structured-content")


def read_prompt(part: dict[str, object], place: str) -> list[Part]:
    """What a part says that is no tool's; nothing where it says nothing."""
    content = part.get("content")
    if part_kind(part) == SYSTEM:
        return [Text(text=words(content, f"{place}, content"))]
    if part_kind(part) == PROMPT:
        return [*_items(content, place)]
    if part_kind(part) == SPEECH:
        transcript = part.get("transcript")
        return [Text(text=transcript) if isinstance(transcript, str) else Opaque(format=NAME, payload=part)]
    return [*read_return(content)]


def read_result(part: dict[str, object], place: str) -> Result:
    """The result that a tool's part is; one that asks to try again has failed."""
    failed = True if part.get("outcome", "retried") != "success" else None
    name = words(part.get("tool_name"), f"{place}, tool_name")
    call_id = text_or(part.get("tool_call_id"))
    return Result(call_id=call_id, parts=tuple(read_return(part.get("content"))), failed=failed, name=name)


def read_return(content: object) -> list[Text | Media | Opaque]:
    """What a tool gave back: its words, its media, and anything else as the JSON that a model reads."""
    if content is None:
        return []
    if isinstance(content, list):
        shown = [read_media(item) for item in content]
        if any(shown):
            return [media or _told(item) for media, item in zip(shown, content, strict=True)]
    return [read_media(content) or _told(content)]


def _items(content: object, place: str) -> list[Text | Media | Opaque]:
    if isinstance(content, str):
        return [Text(text=content)]
    if not isinstance(content, list):
        raise UnreadableLog(f"{place}, content: it is {kind(content)}, neither a string nor a list")
    parts: list[Text | Media | Opaque] = []
    for index, item in enumerate(listing(content, place)):
        where = f"{place}, content {index}"
        if isinstance(item, str):
            parts.append(Text(text=item))
        elif record(item, where).get("kind") in _WORDS:
            parts.append(Text(text=words(record(item, where).get("content"), where)))
        else:
            parts.append(read_media(item) or Opaque(format=NAME, payload=record(item, where)))
    return parts


def _told(value: object) -> Text:
    return Text(text=value if isinstance(value, str) else msgspec.json.encode(value).decode())


def read_reply(part: dict[str, object], place: str) -> Part:
    """The part that a part of a response is; one of a kind that is not known here stays as it is."""
    kind = part_kind(part)
    read: Part | None = None
    if kind == TEXT:
        read = Text(text=words(part.get("content"), f"{place}, content"))
    elif kind == THINKING:
        read = _thinking(part, place)
    elif kind == CALL:
        name = words(part.get("tool_name"), f"{place}, tool_name")
        read = Call(id=text_or(part.get("tool_call_id")), name=name, arguments=_arguments(part.get("args")))
    elif kind == FILE:
        read = read_media(part.get("content"))
    elif kind == SPEECH and isinstance(part.get("transcript"), str):
        read = Text(text=text_or(part.get("transcript")))
    return read or Opaque(format=NAME, payload=part)


def _thinking(part: dict[str, object], place: str) -> Thinking:
    signature = text_or(part.get("signature")) or None
    text = words(part.get("content"), f"{place}, content")
    return Thinking(text=text, signature=signature, format=NAME if signature else None)


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


def carries(part: Media | Opaque, role: str) -> bool:
    """Whether a message of that role has a part for it."""
    return _is_shown(part, role) if isinstance(part, Media) else _is_part(part, role)


def _is_shown(media: Media, role: str) -> bool:
    if role == "user":
        return write_media(media) is not None
    return role in ("assistant", "tool") and media.data is not None


def _is_part(part: Opaque, role: str) -> bool:
    if part.format != NAME:
        return False
    if role == "assistant":
        kind = part_kind(part.payload)
        return kind == COMPACTION or (kind in SERVED and isinstance(part.payload.get("tool_name"), str))
    return role == "user" and part.payload.get("kind") in CONTENT


def write_messages(drafts: Sequence[Draft]) -> list[dict[str, object]]:
    """The messages of a list: a response each, and requests of results together and of what was joined to a draft."""
    groups: list[list[Draft]] = []
    named: dict[str, str] = {}
    out: list[dict[str, object]] = []
    for draft in drafts:
        before = groups[-1][-1].role if groups else "assistant"
        asked = draft.role != "assistant" and before != "assistant"
        if asked and (draft.joined or (before == "tool" and draft.role == "tool")):
            groups[-1].append(draft)
        else:
            groups.append([draft])
    for group in groups:
        out.append(write_message(group, named))
        named.update((call.id, call.name) for draft in group for call in draft.calls)
    return out


def write_message(group: Sequence[Draft], named: dict[str, str]) -> dict[str, object]:
    """The one message that holds a draft, or several; `named` has the tools' names by their calls' ids."""
    message: dict[str, object] = {"kind": RESPONSE if group[0].role == "assistant" else REQUEST}
    parts: list[object] = []
    for draft in group:
        if draft.native is None:
            parts += _write_parts(draft, named)
        else:
            kept = record(draft.native.payload, "native")
            message |= kept
            parts += listing(kept.get("parts"), "native")
    return message | {"parts": parts}


def _write_parts(draft: Draft, named: dict[str, str]) -> list[dict[str, object]]:
    if draft.role == "tool":
        return [_write_result(result, named) for result in draft.results]
    if draft.role == "assistant":
        return [part for each in draft.parts if (part := _write_reply(each)) is not None]
    if draft.role == "system":
        return [_text(SYSTEM, draft.text)]
    return [{"part_kind": PROMPT, "content": _write_content(draft.parts)}]


def _write_reply(part: Part) -> dict[str, object] | None:
    if isinstance(part, Text):
        return _text(TEXT, part.text)
    if isinstance(part, Call):
        return {"part_kind": CALL, "tool_name": part.name, "args": part.arguments, "tool_call_id": part.id}
    if isinstance(part, Media):
        return {"part_kind": FILE, "content": write_media(part)}
    return part.payload if isinstance(part, Opaque) else None


def _write_result(result: Result, named: dict[str, str]) -> dict[str, object]:
    return {
        "part_kind": RETURN,
        "tool_name": result.name or named.get(result.call_id) or UNNAMED,
        "content": _write_content(result.parts),
        "tool_call_id": result.call_id,
        "outcome": "failed" if result.failed else "success",
    }


def _write_content(parts: Sequence[Part]) -> str | list[object]:
    """A string where there is only text; else a list of strings and items."""
    texts = [part.text for part in parts if isinstance(part, Text)]
    if len(texts) == len(parts):
        return texts[0] if len(texts) == 1 else "\n\n".join(text for text in texts if text)
    return [item for part in parts if (item := _write_item(part)) is not None]


def _write_item(part: Part) -> object:
    if isinstance(part, Text):
        return part.text
    if isinstance(part, Media):
        return write_media(part) or media_note(part)
    return part.payload if isinstance(part, Opaque) else None


def _text(kind: str, text: str) -> dict[str, object]:
    return {"part_kind": kind, "content": text}


Placed: TypeAlias = tuple[str, dict[str, object]]
"""A part, with the words that name its place."""

_ROLES: dict[Voice, Role] = {"system": "system", "tool": "tool"}
_ORIGINS: dict[Voice, Origin] = {"harness": "injected", "summary": "summary"}


def read_message(message: dict[str, object], place: str) -> list[Draft]:
    """The drafts that a message is, each with its payload where the parts don't give it back."""
    kind = kind_named(message)
    if not kind:
        raise UnreadableLog(f"{place}: its kind {message.get('kind')!r} is unknown; expected request or response")
    placed = _placed(message, place)
    if kind == RESPONSE:
        parts = tuple(read_reply(part, where) for where, part in placed)
        return [_kept(Draft(role="assistant", parts=parts), message, placed)]
    drafts: list[Draft] = []
    for voice, run in _runs(placed):
        drafts.append(_kept(_request(voice, run, joined=bool(drafts)), message, run))
    return drafts


def _placed(message: dict[str, object], place: str) -> list[Placed]:
    out: list[Placed] = []
    for index, item in enumerate(listing(message.get("parts"), f"{place}, parts")):
        where = f"{place}, part {index}"
        part = record(item, where)
        if not part_kind(part):
            raise UnreadableLog(f"{where}: it has no part_kind")
        out.append((where, part))
    return out


def _runs(placed: Sequence[Placed]) -> list[tuple[Voice | None, list[Placed]]]:
    """The parts of a request by who speaks; what only records something stays with what stands before it."""
    runs: list[tuple[Voice | None, list[Placed]]] = []
    for each in placed:
        voice = voice_of(each[1])
        if runs and (voice is None or runs[-1][0] in (None, voice)):
            runs[-1] = (runs[-1][0] or voice, [*runs[-1][1], each])
        else:
            runs.append((voice, [each]))
    return runs or [(None, [])]


def _request(voice: Voice | None, run: Sequence[Placed], *, joined: bool) -> Draft:
    if voice is None:
        records = tuple(Opaque(format=NAME, payload=part) for _, part in run)
        return Draft(role="user", parts=records, origin="injected", joined=joined)
    parts: list[Part] = []
    for where, part in run:
        if voice_of(part) == "tool":
            parts.append(read_result(part, where))
        elif voice_of(part) is not None:
            parts += read_prompt(part, where)
    origin = origin_of(parts) if voice == "user" else _ORIGINS.get(voice, "spoken")
    return Draft(role=_ROLES.get(voice, "user"), parts=tuple(parts), origin=origin, joined=joined)


def _kept(draft: Draft, message: dict[str, object], run: Sequence[Placed]) -> Draft:
    half = message | {"parts": [part for _, part in run]}
    if draft.origin == "summary" or not draft.parts:
        # Another's summary is no prompt, and what says nothing has nothing to be built from.
        return replace(draft, native=Native(format=NAME, payload=half))
    return keep_native(draft, NAME, half, write_message([express(draft, carries)], {}))


def outlined(messages: Sequence[dict[str, object]]) -> Outlines:
    """What the rules see of `messages`: a request answers the response directly before it."""
    outlines: list[Outline] = []
    for index, message in enumerate(messages):
        drafts = _drafts(message)
        role = _role(message, drafts)
        after = index - 1 if index and role == "user" and outlines[-1].role == "assistant" else None
        outlines.append(
            Outline(
                index=index,
                role=role,
                message=message,
                calls=tuple(call.id for draft in drafts for call in draft.calls),
                results=tuple(result.call_id for draft in drafts for result in draft.results),
                thinks=any(map(thinks, drafts[:1])),
                answers=after,
            )
        )
    return Outlines(outlines)


def unknown_kind(outlines: Outlines) -> Iterator[Violation]:
    """Each message is a request or a response."""
    for outline in outlines:
        if not outline.role:
            kind = outline.message.get("kind")
            yield breach("unknown-kind", outline.index, f"its kind {kind!r} is unknown; expected request or response.")


def misplaced_part(outlines: Outlines) -> Iterator[Violation]:
    """No part of a request stands in a response, and none of a response in a request."""
    for outline in outlines:
        responds = kind_named(outline.message) == RESPONSE
        for found in map(part_kind, _parts_of(outline.message)):
            if found in (ONLY_IN_REQUESTS if responds else ONLY_IN_RESPONSES):
                where = "response" if responds else "request"
                yield breach("misplaced-part", outline.index, f"a part {found!r} has no place in a {where}.")


def result_not_first(outlines: Outlines) -> Iterator[Violation]:
    """The results in a request stand before all else in it, as providers want them."""
    for outline in outlines:
        voices = [voice for voice in map(voice_of, _parts_of(outline.message)) if voice is not None]
        first = voices.count("tool")
        if outline.role != "assistant" and any(voice != "tool" for voice in voices[:first]):
            yield breach("result-not-first", outline.index, "the results must stand before all else in the request.")


LOCAL_RULES: tuple[Rule, ...] = (
    unknown_kind,
    unreadable(read_message, ("system", "user", "assistant")),
    misplaced_part,
    result_not_first,
    call_without_id,
    duplicate_id_in_message,
)
"""Those that look at one message at a time."""

RULES: tuple[Rule, ...] = (*LOCAL_RULES, first_not_user, *PAIR_RULES)
THINKING_RULES: tuple[Rule, ...] = (*RULES, thinking_missing)
"""Those that hold where the provider below thinks, and wants its thinking back."""


def _drafts(message: dict[str, object]) -> list[Draft]:
    try:
        return read_message(message, "message")
    except UnreadableLog:
        # Another rule says so.
        return []


def _role(message: dict[str, object], drafts: Sequence[Draft]) -> str:
    kind = kind_named(message)
    if not kind or kind == RESPONSE:
        return "assistant" if kind else ""
    return "system" if drafts and all(draft.role == "system" for draft in drafts) else "user"


def _parts_of(message: dict[str, object]) -> list[dict[str, object]]:
    parts = message.get("parts")
    return [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []


class PydanticAIMessages:
    """Pydantic AI's message history, as `ModelMessagesTypeAdapter` dumps and loads it.

    Read from message objects in a list as well. An agent's `instructions` stay with the request that they were sent
    with: the agent states them anew in each run. A history ends as the path does; it is the path that has to end on a
    request where an agent is to go on from it without a new prompt.
    """

    name = NAME
    thinking: ThinkingRule = "prefix"

    def decode(self, payload: object) -> list[Draft]:
        """Read a message list, or an object that holds one under `messages`."""
        drafts = [draft for place, message in dumped_messages(payload) for draft in read_message(message, place)]
        return recognise_summaries(drafts)

    def encode(self, drafts: Sequence[Draft]) -> Payload:
        """Write drafts as a valid history.

        Calls are answered in the request after them, results come first in it, and a request stands first. Thinking
        goes back only in a response that goes back as it came.
        """
        return Payload(messages=copied_messages(write_messages(repaired(drafts, _REPAIRS))))

    def validate(self, payload: Payload, *, thinking: bool = False) -> list[Violation]:
        """Name every rule that the list breaks; with `thinking`, as if extended thinking were on for the next call."""
        return violations(outlined(payload.messages), THINKING_RULES if thinking else RULES)


def _accepts(payload: object) -> bool:
    return isinstance(payload, dict) and not violations(outlined([payload]), LOCAL_RULES)


def _read_native(payload: object) -> list[Draft]:
    return read_message(record(payload, "native"), "native")


def _share(before: Draft, draft: Draft) -> bool:
    """Whether two drafts may stand in one request: two that the user spoke are of two; a block of ours stands alone."""
    ours = any(each.origin == "summary" and each.native is None for each in (before, draft))
    asked = before.role != "assistant" and draft.role != "assistant"
    spoken = before.role == draft.role and before.origin == draft.origin == "spoken"
    return asked and not ours and not spoken


def _has_id(call: Call, draft: Draft) -> bool:
    return call.id != ""


_REPAIRS: tuple[Repair, ...] = (
    partial(settle_natives, name=NAME, read=_read_native, accepts=_accepts),
    flatten_summaries,
    partial(express_drafts, carries=carries),
    partial(join_drafts, merge=no_native, share=_share),
    tell_server_pairs,
    place_parts,
    drop_empty,
    partial(give_unique_ids, fits=_has_id, per_message=True),
    answer_calls,
    cast_summaries,
    open_with_user,
)
