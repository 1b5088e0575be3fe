"""Gemini: contents of parts, calls answered in their order, and thought signatures on parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import Final, TypeAlias

import msgspec
from msgspec.structs import replace

from ireneo.errors import UnreadableLog
from ireneo.formats.chat import repairs
from ireneo.formats.chat.format import (
    GEMINI,
    UNNAMED,
    ChatFormat,
    Json,
    Outline,
    Outlines,
    Payload,
    Repair,
    Rule,
    ThinkingRule,
    Violation,
    cast_summaries,
    duplicate_id_in_message,
    first_not_user,
    flatten_summaries,
    joined_text,
    make_violation,
    media_note,
    message_rule,
    placed_messages,
    read_draft,
    recognise_summaries,
    split_user_message,
    unknown_role,
    unpaired,
    unreadable,
    with_parts,
)
from ireneo.formats.values import (
    copy_messages,
    given_arguments,
    json_type,
    objects,
    placed_objects,
    require_object,
    require_string,
    role_of,
    string_or,
    to_plain_json,
)
from ireneo.log.message import Call, Draft, Media, Opaque, Part, Result, Role, Text, Thinking

_PROMPTS = ("systemInstruction", "system_instruction", "system")
_ROLES: Final = ("user", "model")
_READ_ROLES: Final = (*_ROLES, "function")
"""The last is an older role for results: it is read, and reported."""

_CALL: Final = "functionCall"
_RESULT: Final = "functionResponse"
_INLINE: Final = "inlineData"
_FILE: Final = "fileData"
_SIGNATURE: Final = "thoughtSignature"
_MEDIA_TYPE: Final = "mimeType"
_URI: Final = "fileUri"
_SNAKE: Final = {
    _CALL: "function_call",
    _RESULT: "function_response",
    _INLINE: "inline_data",
    _FILE: "file_data",
    _SIGNATURE: "thought_signature",
    _MEDIA_TYPE: "mime_type",
    _URI: "file_uri",
}
"""The spelling with underscores of these names."""
_STAND_IN: Final = "skip_thought_signature_validator"
"""The stand-in that the provider accepts for a lost signature, or for a call that it didn't make."""
_TOLD = ("output", "result", "error")
"""The keys under which a tool's output may be."""


# Contents and parts, in both of their spellings.


def _field(record: Json, name: str) -> object:
    """Return the value of `name` in either spelling."""
    found = record.get(name)
    return found if found is not None else record.get(_SNAKE[name])


def _without(record: Json, name: str) -> Json:
    """Remove `name` in both spellings."""
    return {key: value for key, value in record.items() if key not in (name, _SNAKE[name])}


def _role(content: Json) -> str:
    """Return the role of a content; without one it is the user's. Empty if it is not a string."""
    role = content.get("role")
    return "user" if role is None else string_or(role)


def _parts(content: Json) -> list[Json]:
    """Return the well-formed parts of a content."""
    return objects(content.get("parts"))


# Calls and results need no id: they match by name and order. A call without an id gets one made of its name and its
# index among the calls of that name, so that a result that is read later, without the call, gets the same id. It is
# never written.

_Named: TypeAlias = tuple[str, str]
"""The id of a call or a result, which may be empty, and its name."""
_MADE_UP = "gemini-call-"


def _calls_or_results(parts: Iterable[Json], kind: str) -> list[_Named]:
    """Return the calls, or the results, among `parts`."""
    inner = (_field(part, kind) for part in parts)
    return [(string_or(each.get("id")), string_or(each.get("name"))) for each in inner if isinstance(each, dict)]


def _call_ids(calls: Sequence[_Named]) -> list[str]:
    """Return the id of each call of a content: its own, or a made-up one."""
    counts: Counter[str] = Counter()
    out: list[str] = []
    for own, name in calls:
        out.append(own or f"{_MADE_UP}{counts[name]}-{name}")
        counts[name] += not own
    return out


def _result_ids(results: Sequence[_Named], calls: Sequence[_Named]) -> list[str]:
    """Return for each result the id of the call that it answers, among the `calls` of the content before.

    That is the call with its id, else the first that is left with its name, else, for a result without an id, the first
    that is left. A result that matches none keeps its own id.
    """
    left = list(zip(_call_ids(calls), (name for _, name in calls), strict=True))
    out = _call_ids(results)
    ways: tuple[Callable[[_Named, _Named], bool], ...] = (
        lambda result, call: result[0] == call[0],
        lambda result, call: result[1] == call[1],
        lambda result, call: not result[0],
    )
    waiting = dict(enumerate(results))
    for matches in ways:
        for place, result in list(waiting.items()):
            if (found := next((call for call in left if matches(result, call)), None)) is not None:
                left.remove(found)
                del waiting[place]
                out[place] = found[0]
    return out


# Reading: a signature becomes thinking before the part that it was found on.


def _read_system(system: object) -> Draft:
    """Read a separate system prompt: a string, a content, or its parts."""
    if isinstance(system, dict):
        system = system.get("parts")
    if isinstance(system, str):
        return Draft(role="system", parts=(Text(text=system),))
    if not isinstance(system, list):
        raise UnreadableLog(f"system: it is {json_type(system)}, neither a string nor a content")
    listed = [{"text": part} if isinstance(part, str) else part for part in system]
    pieces = [_read_part(part, "user", place) for place, part in placed_objects(listed, "system", "system, part")]
    return Draft(role="system", parts=tuple(part for piece in pieces for part in piece))


def _read_content(content: Json, place: str, calls: Sequence[_Named] = ()) -> list[tuple[Json, list[Part]]]:
    """Read the parts of a content, each with what it holds; results answer the `calls` of the content before."""
    role = "user" if content.get("role") is None else role_of(content, place, _READ_ROLES)
    listed = content.get("parts", [])
    if listed is None or "parts" not in content:
        listed = [{"text": content["content"]}] if isinstance(content.get("content"), str) else []
    parts = list(placed_objects(listed, f"{place}, parts", f"{place}, part"))
    ids = iter(_call_ids(_calls_or_results((part for _, part in parts), _CALL)))
    answered = iter(_result_ids(_calls_or_results((part for _, part in parts), _RESULT), calls))
    read: list[tuple[Json, list[Part]]] = []
    for where, part in parts:
        known = ""
        if _field(part, _RESULT) is not None:
            known = next(answered, "")
        elif _field(part, _CALL) is not None:
            known = next(ids, "")
        read.append((part, _read_part(part, role, where, known)))
    return read


def _read_part(part: Json, role: str, place: str, call_id: str = "") -> list[Part]:
    """Read a part and its signature (unless it is the stand-in); `call_id` is the id of a call or a result."""
    signature = string_or(_field(part, _SIGNATURE))
    mark = signature if role == "model" and signature not in ("", _STAND_IN) else None
    text = part.get("text")
    if text is not None and part.get("thought") is True and role == "model":
        return [Thinking(text=require_string(text, f"{place}, text"), signature=mark, format=GEMINI)]
    said = _read_said(part, place, call_id)
    if mark is None:
        return [said]
    # A signature that comes last stands on an empty text.
    return [Thinking(signature=mark, format=GEMINI), *([] if said == Text(text="") else [said])]


def _read_said(part: Json, place: str, call_id: str) -> Part:
    text, call, result = part.get("text"), _field(part, _CALL), _field(part, _RESULT)
    if text is not None:
        return Text(text=require_string(text, f"{place}, text"))
    if call is not None:
        call = require_object(call, f"{place}, {_CALL}")
        name = require_string(call.get("name"), f"{place}, {_CALL}, name")
        return Call(id=call_id, name=name, arguments=given_arguments(call.get("args")))
    if result is not None:
        return _read_result(require_object(result, f"{place}, {_RESULT}"), call_id, f"{place}, {_RESULT}")
    media = None if part.get("thought") is True else _read_media(part)
    return media or Opaque(format=GEMINI, payload=_without(part, _SIGNATURE))


def _read_result(result: Json, call_id: str, place: str) -> Result:
    name = require_string(result.get("name"), f"{place}, name")
    response = result.get("response")
    failed = None
    text = "" if response is None else msgspec.json.encode(response).decode()
    if isinstance(response, dict) and len(response) == 1:
        (key, said), *_ = response.items()
        if key in _TOLD and isinstance(said, str):
            text, failed = said, True if key == "error" else None
    parts: list[Text | Media | Opaque] = [Text(text=text)] if text else []
    parts += [_read_media(part) or Opaque(format=GEMINI, payload=part) for part in objects(result.get("parts"))]
    return Result(call_id=call_id, parts=tuple(parts), failed=failed, name=name)


def _read_media(part: Json) -> Media | None:
    """Read the media of a part, inline or at a URI; None if it holds no known kind of media."""
    inline, file = _field(part, _INLINE), _field(part, _FILE)
    if isinstance(inline, dict):
        media_type, data = _field(inline, _MEDIA_TYPE), inline.get("data")
        if isinstance(media_type, str) and isinstance(data, str):
            return Media(media_type=media_type, data=data)
    elif isinstance(file, dict):
        media_type, uri = _field(file, _MEDIA_TYPE), _field(file, _URI)
        if isinstance(media_type, str) and isinstance(uri, str):
            return Media(media_type=media_type, url=uri)
    return None


# Writing, after the repairs: all parts can be written.

_IMAGES = ("image/png", "image/jpeg", "image/webp", "image/heic", "image/heif")
_OTHERS = ("audio/", "video/", "text/", "application/pdf")
_PLACES = ("http://", "https://", "gs://")


def _write_content(group: Sequence[Draft]) -> Json:
    """Write one draft, or several that share a content."""
    content: Json = {}
    parts: list[object] = []
    for draft in group:
        if draft.native is not None:
            written = require_object(draft.native.payload, "native")
        else:
            role = "model" if draft.role == "assistant" else "user"
            written = {"role": role, "parts": _write_parts(draft.parts)}
            # In every turn: otherwise what was sent would change when the turn is over.
            if (first := _unsigned_first(written)) is not None:
                first[_SIGNATURE] = _STAND_IN
        content |= written
        held = written.get("parts")
        parts += held if isinstance(held, list) else []
    return content | {"parts": parts}


def _write_parts(parts: Sequence[Part]) -> list[Json]:
    out: list[Json] = []
    mark: Json = {}
    for part in parts:
        if isinstance(part, Thinking):
            # Two signatures in a row: the first was found on an empty text.
            out += [{"text": "", **mark}] if mark else []
            mark = {_SIGNATURE: part.signature} if part.signature else {}
            if part.text:
                out.append({"text": part.text, "thought": True, **mark})
                mark = {}
        else:
            out.append(_write_part(part) | mark)
            mark = {}
    return [*out, {"text": "", **mark}] if mark else out


def _write_part(part: Part) -> Json:
    if isinstance(part, Text):
        return {"text": part.text}
    if isinstance(part, Call):
        given = part.arguments if isinstance(part.arguments, dict) else {"arguments": part.arguments}
        return {_CALL: {**_id_field(part.id), "name": part.name, "args": given}}
    if isinstance(part, Result):
        response = {"error" if part.failed else "output": part.text}
        return {_RESULT: {**_id_field(part.call_id), "name": part.name or UNNAMED, "response": response}}
    if isinstance(part, Media):
        return _write_media(part) or {"text": media_note(part)}
    return dict(part.payload) if isinstance(part, Opaque) else {}


def _id_field(call_id: str) -> Json:
    return {} if call_id.startswith(_MADE_UP) else {"id": call_id}


def _write_media(media: Media) -> Json | None:
    """Write `media` as a part; None if the format can't hold it."""
    if not (media.media_type in _IMAGES or media.media_type.startswith(_OTHERS)):
        return None
    if media.data is not None:
        return {_INLINE: {_MEDIA_TYPE: media.media_type, "data": media.data}}
    if media.url is not None and media.url.startswith(_PLACES):
        return {_FILE: {_MEDIA_TYPE: media.media_type, _URI: media.url}}
    return None


# In the current turn, the first call of each of the model's steps must be signed; earlier turns are not checked.


def _unsigned_calls(contents: Sequence[Json]) -> Iterator[tuple[int, Json]]:
    """Find the first calls of steps in the current turn that lack a signature, with the indexes of their contents."""
    begins = 0
    for index, content in enumerate(contents):
        if _role(content) == "user" and any(_field(part, _RESULT) is None for part in _parts(content)):
            begins = index + 1
    for index in range(begins, len(contents)):
        if (first := _unsigned_first(contents[index])) is not None:
            yield index, first


def _unsigned_first(content: Json) -> Json | None:
    """Return the first call of a step if it lacks a signature."""
    calls = (part for part in _parts(content) if _field(part, _CALL) is not None)
    first = next(calls, None) if _role(content) == "model" else None
    return first if first is not None and not _field(first, _SIGNATURE) else None


# Repairs of this format alone.


def _answer_in_order(drafts: Sequence[Draft]) -> list[Draft]:
    """Give the results of each step the order and the names of its calls.

    Expects each call to be answered directly after it, once.
    """
    out: list[Draft] = []
    calls: tuple[Call, ...] = ()
    for is_answer, run in groupby(drafts, lambda draft: draft.role == "tool"):
        step = list(run)
        if is_answer:
            listed = [result for draft in step for result in draft.results]
            results = {result.call_id: result for result in listed}
            wanted = [
                result if result.name == call.name else replace(result, name=call.name)
                for call in calls
                if (result := results.get(call.id)) is not None
            ]
            step = step if listed == wanted else [replace(step[0], parts=tuple(wanted), native=None)]
        out += step
        calls = step[-1].calls
    return out


def _drop_thought_only_replies(drafts: Sequence[Draft]) -> list[Draft]:
    """Drop the thoughts of a reply that consists of nothing else."""

    def is_thought(part: Part) -> bool:
        return isinstance(part, Thinking) and bool(part.text)

    return [with_parts(draft, ()) if draft.parts and all(map(is_thought, draft.parts)) else draft for draft in drafts]


# The rules.


def _empty_parts(seen: Outline) -> Iterator[Json]:
    for part in _parts(seen.message):
        bare = {key for key, value in _without(part, _SIGNATURE).items() if value is not None} <= {"thought"}
        if bare or (part.get("text") == "" and not _field(part, _SIGNATURE)):
            yield part


def _only_thoughts(seen: Outline) -> bool:
    parts = _parts(seen.message) if seen.role == "model" else []
    return bool(parts) and all(part.get("thought") is True and part.get("text") for part in parts)


def _misplaced(seen: Outline) -> list[str]:
    wrong = _CALL if seen.role == "user" else _RESULT
    return [wrong] if any(_field(part, wrong) is not None for part in _parts(seen.message)) else []


def _results_not_first(seen: Outline) -> bool:
    kinds = [_field(part, _RESULT) is not None for part in _parts(seen.message)]
    return seen.role == "user" and kinds != sorted(kinds, reverse=True)


def _bad_arguments(seen: Outline) -> Iterator[str]:
    for part in _parts(seen.message):
        call, result = _field(part, _CALL), _field(part, _RESULT)
        if isinstance(call, dict) and not isinstance(call.get("args"), dict | None):
            yield "the args of a call"
        if isinstance(result, dict) and not isinstance(result.get("response"), dict):
            yield "the response to a call"


def _all_calls_and_results(seen: Outline) -> list[_Named]:
    parts = _parts(seen.message)
    return [*_calls_or_results(parts, _CALL), *_calls_or_results(parts, _RESULT)]


def _answers_differ(outlines: Outlines) -> Iterator[Violation]:
    """Check that results have the order, the names and the ids of the calls before."""
    contents = [outline.message for outline in outlines]
    for outline in outlines:
        if outline.answers is not None and outline.results:
            made = _calls_or_results(_parts(contents[outline.answers]), _CALL)
            # Another rule reports missing and superfluous results.
            matched = sorted(outline.results) == sorted(_call_ids(made))
            if matched and _calls_or_results(_parts(outline.message), _RESULT) != made:
                says = "its results must stand in the order of the calls before, and bear their names and ids."
                yield make_violation("answers-differ", outline.index, says)


def _call_not_after_user(outlines: Outlines) -> Iterator[Violation]:
    """Check that calls directly follow a content of the user's."""
    before = "user"
    for outline in outlines:
        if outline.calls and before != "user":
            says = "its calls must stand directly behind a content of the user's; join it to the one before."
            yield make_violation("call-not-after-user", outline.index, says)
        before = outline.role


def _unsigned_call(outlines: Outlines) -> Iterator[Violation]:
    """Check that in the current turn the first call of each content is signed."""
    for index, _ in _unsigned_calls([outline.message for outline in outlines]):
        says = f"its first call has no thoughtSignature; where none is to be had, {_STAND_IN!r} stands for it."
        yield make_violation("unsigned-call", index, says)


_LOCAL_RULES: tuple[Rule, ...] = (
    unknown_role(_ROLES),
    unreadable(_read_content, _ROLES),
    duplicate_id_in_message,
    message_rule("empty-content", "it has no parts.", lambda seen: not _parts(seen.message)),
    message_rule("empty-part", "a part says nothing; leave it out.", _empty_parts),
    message_rule("thought-alone", "it holds nothing but thoughts.", _only_thoughts),
    message_rule("misplaced-part", "a {0} part may not stand in a content of the {role}.", _misplaced),
    message_rule("results-not-first", "a result stands after other parts, not first.", _results_not_first),
    message_rule("bad-arguments", "{0} must be an object.", _bad_arguments),
    message_rule(
        "bad-call-name",
        "a call or its result names no function.",
        lambda seen: [own for own, name in _all_calls_and_results(seen) if not name],
    ),
    message_rule(
        "bad-call-id",
        "the id {0!r} stands for none; leave it out.",
        lambda seen: [own for own, _ in _all_calls_and_results(seen) if own.startswith(_MADE_UP)],
    ),
)
_RULES = (*_LOCAL_RULES, first_not_user, unpaired, _answers_differ, _call_not_after_user, _unsigned_call)


class GeminiContents(ChatFormat):
    """Gemini contents, with a separate system instruction.

    Calls are answered in their order, the user begins, empty texts are dropped, and what can't be sent becomes a note.
    Signatures are sent on the parts that they were found on; a call that has lost its own gets the stand-in.
    """

    name = GEMINI
    thinking: ThinkingRule = "turn"
    local_rules = _LOCAL_RULES
    rules = _RULES

    @staticmethod
    def _outline(message: Json, before: Json | None) -> Outline:
        role = _role(message)
        results = (
            _result_ids(_calls_or_results(_parts(message), _RESULT), _calls_of_content(before))
            if role == "user"
            else []
        )
        return Outline(
            role=role, message=message, calls=tuple(_call_ids(_calls_of_content(message))), results=tuple(results)
        )

    def decode(self, payload: object) -> list[Draft]:
        """Read a list of contents, or an object with `contents` (or `messages`) and perhaps a system instruction.

        Calls without an id are given one.
        """
        prompt: object = payload.system if isinstance(payload, Payload) else None
        if isinstance(payload, dict):
            prompt = next((payload[key] for key in _PROMPTS if payload.get(key) is not None), None)
        out = [] if prompt is None else [_read_system(to_plain_json(prompt, "system"))]
        calls: list[_Named] = []
        for place, content in placed_messages(payload, "contents"):
            out += self._drafts(content, _read_content(content, place, calls))
            calls = _calls_of_content(content)
        return recognise_summaries(out)

    def encode(self, drafts: Sequence[Draft]) -> Payload:
        """Write drafts as valid contents, and the leading system drafts as the system instruction."""
        sound = self._repair(drafts)
        first = repairs.leading_systems(sound)
        contents = copy_messages(map(_write_content, repairs.provider_groups(sound[first:])))
        for _, part in list(_unsigned_calls(contents)):
            part[_SIGNATURE] = _STAND_IN
        return Payload(messages=contents, system=joined_text(sound[:first]) if first else None)

    def _read_message(self, message: Json, place: str) -> list[Draft]:
        return self._drafts(message, _read_content(message, place))

    def without_thinking(self, payload: Json) -> Json:
        """Return the content without its thoughts and signatures."""
        parts = [_without(part, _SIGNATURE) for part in _parts(payload) if part.get("thought") is not True]
        return payload | {"parts": [part for part in parts if part != {"text": ""}]}

    def _accepts(self, part: Part, role: Role) -> bool:
        """Whether the format takes `part`: no thinking of other providers, and no empty text but in system prompts."""
        if isinstance(part, Thinking) and role != "system":
            return part.format == GEMINI and bool(part.text or part.signature)
        return role == "system" or not isinstance(part, Text) or part.text != ""

    def _can_hold(self, part: Media | Opaque, role: str) -> bool:
        if role not in ("user", "assistant"):
            return False
        if isinstance(part, Media):
            return _write_media(part) is not None
        # A part that would be read as something else was malformed before.
        own = ("text", _CALL, _SNAKE[_CALL], _RESULT, _SNAKE[_RESULT])
        says = any(value is not None for key, value in part.payload.items() if key != "thought")
        if part.format != GEMINI or not says or any(name in part.payload for name in own):
            return False
        return _read_part(part.payload, "model", "part") == [part]

    def _repair_steps(self) -> Iterable[Repair]:
        merge = self._native_merger(_write_content)
        return (
            flatten_summaries,
            self._replace_unsupported,
            partial(repairs.join_drafts, merge=merge),
            repairs.note_server_pairs,
            repairs.place_parts,
            _drop_thought_only_replies,
            repairs.drop_empty,
            partial(repairs.give_unique_ids, per_message=True),
            repairs.answer_calls,
            _answer_in_order,
            repairs.quote_later_systems,
            cast_summaries,
            repairs.open_with_user,
            partial(repairs.join_calls, merge=merge),
        )

    def _drafts(self, content: Json, read: Sequence[tuple[Json, list[Part]]]) -> list[Draft]:
        if _role(content) == "model":
            return [self._draft("assistant", read, content)]
        found = split_user_message(content, "parts", read, lambda each: _field(each[0], _RESULT) is not None)
        return [self._draft(role, half, inner, joined=joined) for role, half, inner, joined in found]

    def _draft(
        self, role: Role, read: Sequence[tuple[Json, list[Part]]], content: Json, *, joined: bool = False
    ) -> Draft:
        draft = read_draft(role, (part for _, said in read for part in said), content.get("id"), joined=joined)
        return self._keep_native(draft, content, _write_content([self._replace_in_draft(draft)]))


def _calls_of_content(content: Json | None) -> list[_Named]:
    return _calls_or_results(_parts(content), _CALL) if content is not None and _role(content) == "model" else []
