"""Gemini's contents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import compress
from typing import Final, TypeAlias

import msgspec
from msgspec.structs import replace

from ireneo.errors import UnreadableLog
from ireneo.formats.chat.format import Payload, ThinkingRule, Violation, keep_native, settle_natives
from ireneo.formats.chat.notes import (
    UNNAMED,
    cast_summaries,
    flatten_summaries,
    media_note,
    opaque_note,
    origin_of,
    recognise_summaries,
)
from ireneo.formats.chat.repairs import (
    Repair,
    answer_calls,
    drop_empty,
    give_unique_ids,
    join_drafts,
    leading_systems,
    open_with_user,
    place_parts,
    provider_groups,
    quote_later_systems,
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
    duplicate_id_in_message,
    first_not_user,
    unknown_role,
    unreadable,
    violations,
)
from ireneo.formats.values import (
    copied_messages,
    detached,
    kind,
    listed_in,
    listing,
    placed_messages,
    record,
    role_of,
    text_or,
    words,
)
from ireneo.log.message import Call, Draft, Media, Native, Opaque, Part, Result, Role, Text, Thinking

NAME: Final = "gemini"

ROLES: Final = ("user", "model")
READ_ROLES: Final = (*ROLES, "function")
"""The last is an older name for who brings results; it is read, and reported."""

CALL: Final = "functionCall"
RESULT: Final = "functionResponse"
INLINE: Final = "inlineData"
FILE: Final = "fileData"
SIGNATURE: Final = "thoughtSignature"
MEDIA_TYPE: Final = "mimeType"
URI: Final = "fileUri"

_SNAKE: Final = {
    CALL: "function_call",
    RESULT: "function_response",
    INLINE: "inline_data",
    FILE: "file_data",
    SIGNATURE: "thought_signature",
    MEDIA_TYPE: "mime_type",
    URI: "file_uri",
}


def field(record: dict[str, object], name: str) -> object:
    """What stands under `name`, in either spelling; None where nothing does."""
    found = record.get(name)
    return found if found is not None else record.get(_SNAKE[name])


def without(record: dict[str, object], name: str) -> dict[str, object]:
    """`record` without `name`, in either spelling."""
    return {key: value for key, value in record.items() if key not in (name, _SNAKE[name])}


def role_in(content: dict[str, object]) -> str:
    """Who speaks; a content that doesn't say so is the user's. Empty where it says something else than a word."""
    role = content.get("role")
    return "user" if role is None else role if isinstance(role, str) else ""


def parts_in(content: dict[str, object]) -> list[dict[str, object]]:
    """The parts of a content, as far as they are parts."""
    listed = content.get("parts")
    return [part for part in listed if isinstance(part, dict)] if isinstance(listed, list) else []


# Which result answers which call, where neither needs to bear an id: by name, and in their order.
#
# A call without an id is given one when it is read, made of its name and of its place among the calls of that name, so
# that a result that is read later, and alone, comes to the same. It is never written.


Named: TypeAlias = tuple[str, str]
"""A call or a result: its own id, which may be empty, and its name."""

_MADE_UP = "gemini-call-"


def named(parts: Iterable[dict[str, object]], kind: str) -> list[Named]:
    """The calls or the results among `parts`, in order."""
    inner = (field(part, kind) for part in parts)
    return [(text_or(each.get("id")), text_or(each.get("name"))) for each in inner if isinstance(each, dict)]


def is_made_up(call_id: str) -> bool:
    """Whether the id was given here, and is not to be written."""
    return call_id.startswith(_MADE_UP)


def call_ids(calls: Sequence[Named]) -> list[str]:
    """The id of each call of a content: its own, or one that is made up."""
    counts: Counter[str] = Counter()
    out: list[str] = []
    for own, name in calls:
        out.append(own or f"{_MADE_UP}{counts[name]}-{name}")
        counts[name] += not own
    return out


def result_ids(results: Sequence[Named], calls: Sequence[Named]) -> list[str]:
    """The id of the call that each result answers, among those of the content before.

    It is the one whose id the result bears, else the first left over that bears its name, else, for a result
    without an id, the first left over; else its own.
    """
    left = list(zip(call_ids(calls), (name for _, name in calls), strict=True))
    out: dict[int, str] = {}
    for matches in (_by_id, _by_name, _by_place):
        for place, result in enumerate(results):
            found = next((call for call in left if place not in out and matches(result, call)), None)
            if found is not None:
                left.remove(found)
                out[place] = found[0]
    return [out.get(place, own) for place, own in enumerate(call_ids(results))]


def _by_id(result: Named, call: Named) -> bool:
    return result[0] == call[0]


def _by_name(result: Named, call: Named) -> bool:
    return result[1] == call[1]


def _by_place(result: Named, call: Named) -> bool:
    return not result[0]


_IMAGES = ("image/png", "image/jpeg", "image/webp", "image/heic", "image/heif")
_OTHERS = ("audio/", "video/", "text/", "application/pdf")
_PLACES = ("http://", "https://", "gs://")


def read_media(part: dict[str, object]) -> Media | None:
    """What a part shows; None where it shows nothing that is known here."""
    inline, file = field(part, INLINE), field(part, FILE)
    if isinstance(inline, dict):
        media_type, data = field(inline, MEDIA_TYPE), inline.get("data")
        if isinstance(media_type, str) and isinstance(data, str):
            return Media(media_type=media_type, data=data)
    elif isinstance(file, dict):
        media_type, uri = field(file, MEDIA_TYPE), field(file, URI)
        if isinstance(media_type, str) and isinstance(uri, str):
            return Media(media_type=media_type, url=uri)
    return None


def write_media(media: Media) -> dict[str, object] | None:
    """The part that shows `media`; None where the format has none for it."""
    if not (media.media_type in _IMAGES or media.media_type.startswith(_OTHERS)):
        return None
    if media.data is not None:
        return {INLINE: {MEDIA_TYPE: media.media_type, "data": media.data}}
    if media.url is not None and media.url.startswith(_PLACES):
        return {FILE: {MEDIA_TYPE: media.media_type, URI: media.url}}
    return None


# Which calls must be signed, and what stands where no signature is to be had.
#
# Within the turn that is running, the first call of each of the model's steps bears a signature; what came before
# is not looked at.


Content = dict[str, object]

STAND_IN: Final = "skip_thought_signature_validator"
"""What the provider takes instead of a signature, for a call that it didn't make or whose signature is lost."""


def unsigned_calls(contents: Sequence[Content]) -> Iterator[tuple[int, Content]]:
    """The first call of each step of the running turn that lacks its signature, with its content's index."""
    for index in range(_running(contents), len(contents)):
        first = _first_call(contents[index])
        if first is not None and not field(first, SIGNATURE):
            yield index, first


def sign_running(contents: Sequence[Content]) -> None:
    """Put the stand-in on each call that lacks a signature and needs one."""
    for _, part in list(unsigned_calls(contents)):
        part[SIGNATURE] = STAND_IN


def sign(content: Content) -> Content:
    """Put the stand-in on the first call of a content of ours, if it lacks a signature.

    In whatever turn it stands: else what was sent would change when the turn is over.
    """
    first = _first_call(content)
    if first is not None and not field(first, SIGNATURE):
        first[SIGNATURE] = STAND_IN
    return content


def _first_call(content: Content) -> Content | None:
    if role_in(content) != "model":
        return None
    return next((part for part in parts_in(content) if field(part, CALL) is not None), None)


def _running(contents: Sequence[Content]) -> int:
    for index in reversed(range(len(contents))):
        asked = any(field(part, RESULT) is None for part in parts_in(contents[index]))
        if role_in(contents[index]) == "user" and asked:
            return index + 1
    return 0


_TOLD = ("output", "result", "error")
"""Under which of these a tool's words stand is its author's choice."""


def read_part(part: dict[str, object], role: str, place: str, call_id: str = "") -> list[Part]:
    """What a part says, and the signature on it; `call_id` is what a call or a result is known by.

    The stand-in for a signature says nothing, and goes back only with the part as it is.
    """
    signature = field(part, SIGNATURE)
    signed = role == "model" and isinstance(signature, str) and signature not in ("", STAND_IN)
    mark = signature if signed and isinstance(signature, str) else None
    thought = part.get("thought") is True and role == "model"
    text = part.get("text")
    if text is not None and thought:
        return [Thinking(text=words(text, f"{place}, text"), signature=mark, format=NAME)]
    said = _read_said(part, place, call_id)
    if mark is None:
        return [said]
    # A signature that comes last stands on an empty text.
    return [Thinking(signature=mark, format=NAME), *([] if said == Text(text="") else [said])]


def _read_said(part: dict[str, object], place: str, call_id: str) -> Part:
    text, call, result = part.get("text"), field(part, CALL), field(part, RESULT)
    if text is not None:
        return Text(text=words(text, f"{place}, text"))
    if call is not None:
        call = record(call, f"{place}, {CALL}")
        name = words(call.get("name"), f"{place}, {CALL}, name")
        return Call(id=call_id, name=name, arguments=_read_arguments(call.get("args")))
    if result is not None:
        return _read_result(record(result, f"{place}, {RESULT}"), call_id, f"{place}, {RESULT}")
    media = None if part.get("thought") is True else read_media(part)
    return media or Opaque(format=NAME, payload=without(part, SIGNATURE))


def _read_arguments(given: object) -> dict[str, object] | str:
    if isinstance(given, dict):
        return given
    return {} if given is None else given if isinstance(given, str) else msgspec.json.encode(given).decode()


def _read_result(result: dict[str, object], call_id: str, place: str) -> Result:
    name = words(result.get("name"), f"{place}, name")
    response = result.get("response")
    failed = None
    told = "" if response is None else msgspec.json.encode(response).decode()
    if isinstance(response, dict) and len(response) == 1:
        (key, said), *_ = response.items()
        if key in _TOLD and isinstance(said, str):
            told, failed = said, True if key == "error" else None
    parts: list[Text | Media | Opaque] = [Text(text=told)] if told else []
    shown = result.get("parts")
    for part in shown if isinstance(shown, list) else ():
        if isinstance(part, dict):
            parts.append(read_media(part) or Opaque(format=NAME, payload=part))
    return Result(call_id=call_id, parts=tuple(parts), failed=failed, name=name)


def express(draft: Draft) -> Draft:
    """Say in text what the format has no part for; empty texts and the thinking of others are left out."""
    if draft.native is not None:
        return draft
    kept = draft.parts if draft.role == "system" else [part for part in draft.parts if not _says_nothing(part)]
    return with_parts(draft, [_said(part, draft.role) for part in kept])


def _says_nothing(part: Part) -> bool:
    if isinstance(part, Thinking):
        return part.format != NAME or not (part.text or part.signature)
    return isinstance(part, Text) and not part.text


def _said(part: Part, role: str) -> Part:
    if isinstance(part, Call):
        return part if part.name else replace(part, name=UNNAMED)
    if isinstance(part, Result):
        return replace(part, parts=tuple(_carried(each, "tool") for each in part.parts))
    return _carried(part, role) if isinstance(part, Media | Opaque) else part


def _carried(part: Text | Media | Opaque, role: str) -> Text | Media | Opaque:
    shown = role in ("user", "assistant")
    if isinstance(part, Media) and not (shown and write_media(part) is not None):
        return Text(text=media_note(part))
    if isinstance(part, Opaque) and not (shown and _is_part(part)):
        return Text(text=opaque_note(part))
    return part


def _is_part(part: Opaque) -> bool:
    # One that would be read as something else has parts of its own, and is broken if it was not read so before.
    own = ("text", "functionCall", "function_call", "functionResponse", "function_response")
    says = any(value is not None for key, value in part.payload.items() if key != "thought")
    if part.format != NAME or not says or any(name in part.payload for name in own):
        return False
    return read_part(part.payload, "model", "part") == [part]


def write_contents(drafts: Sequence[Draft]) -> list[Content]:
    """The contents of a list without its system prompt: results together, and what was joined to them."""
    return [write_content(group) for group in provider_groups(drafts)]


def write_content(group: Sequence[Draft]) -> Content:
    """The one content that holds a draft, or several of one provider role."""
    content: Content = {}
    parts: list[object] = []
    for draft in group:
        written = _written(draft)
        content |= written
        held = written.get("parts")
        parts += held if isinstance(held, list) else []
    return content | {"parts": parts}


def write_system(drafts: Sequence[Draft]) -> str | None:
    """The system prompt, apart from the contents."""
    if not drafts:
        return None
    return "\n\n".join(part.text for draft in drafts for part in draft.parts if isinstance(part, Text))


def merge_natives(before: Draft, draft: Draft) -> Native | None:
    """The payload of two drafts that are one content; None where their parts say it all."""
    if before.native is None and draft.native is None:
        return None
    return Native(format=NAME, payload=write_content([before, draft]))


def _written(draft: Draft) -> Content:
    if draft.native is not None:
        return record(draft.native.payload, "native")
    return sign({"role": "model" if draft.role == "assistant" else "user", "parts": _write_parts(draft.parts)})


def _write_parts(parts: Sequence[Part]) -> list[Content]:
    out: list[Content] = []
    mark: Content = {}
    for part in parts:
        if isinstance(part, Thinking):
            # Two signatures in a row: the first was found on an empty text.
            out += [{"text": "", **mark}] if mark else []
            mark = {SIGNATURE: part.signature} if part.signature else {}
            if part.text:
                out.append({"text": part.text, "thought": True, **mark})
                mark = {}
            continue
        written = _write_part(part)
        if written is not None:
            out.append({**written, **mark})
            mark = {}
    return [*out, {"text": "", **mark}] if mark else out


def _write_part(part: Part) -> Content | None:
    if isinstance(part, Text):
        return {"text": part.text}
    if isinstance(part, Call):
        given = part.arguments if isinstance(part.arguments, dict) else {"arguments": part.arguments}
        return {CALL: {**_id(part.id), "name": part.name, "args": given}}
    if isinstance(part, Result):
        told = {"error" if part.failed else "output": part.text}
        return {RESULT: {**_id(part.call_id), "name": part.name or UNNAMED, "response": told}}
    if isinstance(part, Media):
        return write_media(part) or {"text": media_note(part)}
    return part.payload if not isinstance(part, Thinking) else None


def _id(call_id: str) -> Content:
    return {} if is_made_up(call_id) else {"id": call_id}


def is_contents(payload: object) -> bool:
    """Whether it is a list of contents, or an object that holds one."""
    listed = listed_in(payload, "contents")
    contents = [content for content in listed if isinstance(content, dict)] if isinstance(listed, list) else []
    named = isinstance(payload, dict) and "contents" in payload
    return bool(contents) and (named or all("parts" in content and "kind" not in content for content in contents))


def read_system(system: object) -> list[Draft]:
    """The draft of a system prompt that stands apart: words, a content, or its parts; none where there is none."""
    if system is None:
        return []
    system = detached(system, "system")
    if isinstance(system, dict):
        system = system.get("parts")
    if isinstance(system, str):
        return [Draft(role="system", parts=(Text(text=system),))]
    if not isinstance(system, list):
        raise UnreadableLog(f"system: it is {kind(system)}, neither a string nor a content")
    parts: list[Part] = []
    for index, part in enumerate(system):
        place = f"system, part {index}"
        parts += read_part({"text": part} if isinstance(part, str) else record(part, place), "user", place)
    return [Draft(role="system", parts=tuple(parts))]


def read_contents(placed: Iterable[tuple[str, Content]]) -> list[Draft]:
    """The drafts of a list; the results of a content answer the calls of the one before."""
    out: list[Draft] = []
    calls: list[Named] = []
    for place, content in placed:
        out += read_content(content, place, calls)
        calls = named(parts_in(content), CALL) if role_in(content) == "model" else []
    return out


def read_content(content: Content, place: str, calls: Sequence[Named] = ()) -> list[Draft]:
    """The drafts that a content is, each with its payload where the parts don't give it back."""
    role = "user" if content.get("role") is None else role_of(content, place, READ_ROLES)
    parts = _read_parts(content, place)
    ids = iter(call_ids(named(parts, CALL)))
    answered = iter(result_ids(named(parts, RESULT), calls))
    read: list[list[Part]] = []
    for index, part in enumerate(parts):
        brings = field(part, RESULT) is not None
        known = next(answered if brings else ids, "") if brings or field(part, CALL) is not None else ""
        read.append(read_part(part, role, f"{place}, part {index}", known))
    if role == "model":
        return [_draft("assistant", read, content)]
    brought = [field(part, RESULT) is not None for part in parts]
    if not any(brought) or all(brought):
        return [_draft("tool" if any(brought) else "user", read, content)]
    halves = [
        ({**content, "parts": list(compress(parts, chosen))}, list(compress(read, chosen)))
        for chosen in (brought, [not each for each in brought])
    ]
    return [_draft("tool", halves[0][1], halves[0][0]), _draft("user", halves[1][1], halves[1][0], joined=True)]


def _read_parts(content: Content, place: str) -> list[Content]:
    listed = content.get("parts")
    if listed is None and isinstance(content.get("content"), str):
        # As other formats say it; what can be read is read.
        return [{"text": content["content"]}]
    listed = [] if listed is None else listing(listed, f"{place}, parts")
    return [record(part, f"{place}, part {index}") for index, part in enumerate(listed)]


def _draft(role: Role, read: Sequence[Sequence[Part]], content: Content, *, joined: bool = False) -> Draft:
    parts = tuple(part for each in read for part in each)
    draft = Draft(
        role=role,
        parts=parts,
        origin=origin_of(parts) if role == "user" else "spoken",
        source_id=text_or(content.get("id")) or None,
        joined=joined,
    )
    return keep_native(draft, NAME, content, write_content([express(draft)]))


def answer_in_order(drafts: Sequence[Draft]) -> list[Draft]:
    """Sort the results of each step as its calls are, and name them so.

    Expects each call to be answered directly after it, once.
    """
    out: list[Draft] = []
    calls: tuple[Call, ...] = ()
    run: list[Draft] = []
    for draft in drafts:
        if draft.role == "tool":
            run.append(draft)
            continue
        out += _ordered(run, calls)
        out.append(draft)
        run, calls = [], draft.calls
    return [*out, *_ordered(run, calls)]


def call_after_user(drafts: Sequence[Draft]) -> list[Draft]:
    """Join what the model said to the calls that it made next: calls may not stand behind a content of the model's."""
    out: list[Draft] = []
    for draft in drafts:
        while draft.role == "assistant" and draft.calls and out and out[-1].role == "assistant":
            before = out.pop()
            draft = replace(before, parts=before.parts + draft.parts, native=merge_natives(before, draft))
        out.append(draft)
    return out


def drop_mere_thoughts(drafts: Sequence[Draft]) -> list[Draft]:
    """Drop the thoughts of a reply that says and does nothing else."""
    return [with_parts(draft, ()) if draft.parts and all(map(_is_thinking, draft.parts)) else draft for draft in drafts]


def _is_thinking(part: object) -> bool:
    return isinstance(part, Thinking) and bool(part.text)


def _ordered(run: Sequence[Draft], calls: Sequence[Call]) -> list[Draft]:
    results = {result.call_id: result for draft in run for result in draft.results}
    listed = [result for draft in run for result in draft.results]
    wanted = [_named(results[call.id], call) for call in calls if call.id in results]
    if not run or listed == wanted:
        return list(run)
    return [replace(run[0], parts=tuple(wanted), native=None)]


def _named(result: Result, call: Call) -> Result:
    return result if result.name == call.name else replace(result, name=call.name)


def empty_content(outlines: Outlines) -> Iterator[Violation]:
    """A content has parts, and each part says something."""
    for outline in outlines:
        parts = parts_in(outline.message)
        if not parts:
            yield breach("empty-content", outline.index, "it has no parts.")
        for part in parts:
            bare = {key for key, value in without(part, SIGNATURE).items() if value is not None} <= {"thought"}
            if bare or (part.get("text") == "" and not field(part, SIGNATURE)):
                yield breach("empty-part", outline.index, "a part says nothing; leave it out.")


def thought_alone(outlines: Outlines) -> Iterator[Violation]:
    """A thought leads to something."""
    for outline in outlines:
        parts = parts_in(outline.message)
        if outline.role == "model" and parts and all(_is_thought(part) for part in parts):
            yield breach("thought-alone", outline.index, "it holds nothing but thoughts.")


def misplaced_part(outlines: Outlines) -> Iterator[Violation]:
    """Calls are the model's, results the user's."""
    for outline in outlines:
        wrong = CALL if outline.role == "user" else RESULT
        if any(field(part, wrong) is not None for part in parts_in(outline.message)):
            says = f"a {wrong} part may not stand in a content of the {outline.role}."
            yield breach("misplaced-part", outline.index, says)


def results_not_first(outlines: Outlines) -> Iterator[Violation]:
    """Results stand before everything else in their content."""
    for outline in outlines:
        kinds = [field(part, RESULT) is not None for part in parts_in(outline.message)]
        if outline.role == "user" and kinds != sorted(kinds, reverse=True):
            yield breach("results-not-first", outline.index, "a result stands after other parts, not first.")


def bad_arguments(outlines: Outlines) -> Iterator[Violation]:
    """The arguments of a call are an object, and so is a response."""
    for outline in outlines:
        for part in parts_in(outline.message):
            call, result = field(part, CALL), field(part, RESULT)
            if isinstance(call, dict) and not isinstance(call.get("args"), dict | None):
                yield breach("bad-arguments", outline.index, "the args of a call must be an object.")
            if isinstance(result, dict) and not isinstance(result.get("response"), dict):
                yield breach("bad-arguments", outline.index, "the response to a call must be an object.")


def bad_call_name(outlines: Outlines) -> Iterator[Violation]:
    """Each call names its function; an id is one that the provider gave."""
    for outline in outlines:
        parts = parts_in(outline.message)
        for own, name in (*named(parts, CALL), *named(parts, RESULT)):
            if not name:
                yield breach("bad-call-name", outline.index, "a call or its result names no function.")
            if is_made_up(own):
                yield breach("bad-call-id", outline.index, f"the id {own!r} stands for none; leave it out.")


PART_RULES: tuple[Rule, ...] = (
    empty_content,
    thought_alone,
    misplaced_part,
    results_not_first,
    bad_arguments,
    bad_call_name,
)


def _is_thought(part: dict[str, object]) -> bool:
    return part.get("thought") is True and bool(part.get("text"))


def outlined(contents: Sequence[dict[str, object]]) -> Outlines:
    """What the rules see of `contents`: one of the user's answers the one of the model's directly before it."""
    outlines: list[Outline] = []
    calls: list[Named] = []
    for index, content in enumerate(contents):
        role = role_in(content)
        results = result_ids(named(parts_in(content), RESULT), calls) if role == "user" else []
        after = index - 1 if role == "user" and index and outlines[-1].role == "model" else None
        calls = named(parts_in(content), CALL) if role == "model" else []
        outlines.append(
            Outline(
                index=index,
                role=role,
                message=content,
                calls=tuple(call_ids(calls)),
                results=tuple(results),
                answers=after,
            )
        )
    return Outlines(outlines)


def answers_differ(outlines: Outlines) -> Iterator[Violation]:
    """The results are those of the calls before, in the same order, under the same names and ids."""
    contents = [outline.message for outline in outlines]
    for outline in outlines:
        if outline.answers is None or not outline.results:
            continue
        made = named(parts_in(contents[outline.answers]), CALL)
        # Results that are missing or too many are another rule's.
        if sorted(outline.results) == sorted(call_ids(made)) and named(parts_in(outline.message), RESULT) != made:
            says = "its results must stand in the order of the calls before, and bear their names and ids."
            yield breach("answers-differ", outline.index, says)


def call_not_after_user(outlines: Outlines) -> Iterator[Violation]:
    """The model calls directly after the user has spoken or a call was answered."""
    before = "user"
    for outline in outlines:
        if outline.calls and before != "user":
            says = "its calls must stand directly behind a content of the user's; join it to the one before."
            yield breach("call-not-after-user", outline.index, says)
        before = outline.role


def unsigned_call(outlines: Outlines) -> Iterator[Violation]:
    """In the turn that is running, the first call of each content is signed."""
    for index, _ in unsigned_calls([outline.message for outline in outlines]):
        says = f"its first call has no thoughtSignature; where none is to be had, {STAND_IN!r} stands for it."
        yield breach("unsigned-call", index, says)


LOCAL_RULES: tuple[Rule, ...] = (
    unknown_role(ROLES),
    unreadable(read_content, ROLES),
    duplicate_id_in_message,
    *PART_RULES,
)
"""Those that look at one content at a time."""

RULES: tuple[Rule, ...] = (
    *LOCAL_RULES,
    first_not_user,
    *PAIR_RULES,
    answers_differ,
    call_not_after_user,
    unsigned_call,
)


_PROMPTS = ("systemInstruction", "system_instruction", "system")


class GeminiContents:
    """Gemini contents: the system instruction stands apart, and calls are answered in their order."""

    name = NAME
    thinking: ThinkingRule = "turn"

    def decode(self, payload: object) -> list[Draft]:
        """Read a list of contents, or an object that holds one under `contents` (or `messages`).

        The system instruction stands beside it, in either spelling, as words or as a content. Calls without an id
        are given one.
        """
        prompt: object = payload.system if isinstance(payload, Payload) else None
        if isinstance(payload, dict):
            prompt = next((payload[key] for key in _PROMPTS if payload.get(key) is not None), None)
        return recognise_summaries([*read_system(prompt), *read_contents(placed_messages(payload, "contents"))])

    def encode(self, drafts: Sequence[Draft]) -> Payload:
        """Write drafts as valid contents, and the system drafts at its beginning apart, as words.

        Calls are answered in their order, the user begins, empty texts go, and what can't be shown is told in a
        text. Signatures go back on the parts that they were found on; a call that has lost its own gets the stand-in
        that the provider takes.
        """
        sound = repaired(drafts, _REPAIRS)
        first = leading_systems(sound)
        contents = copied_messages(write_contents(sound[first:]))
        sign_running(contents)
        return Payload(messages=contents, system=write_system(sound[:first]))

    def validate(self, payload: Payload, *, thinking: bool = False) -> list[Violation]:
        """Name every rule that the list breaks; they are the same whether or not the model is to think."""
        return violations(outlined(payload.messages), RULES)


def _accepts(payload: object) -> bool:
    return isinstance(payload, dict) and not violations(outlined([payload]), LOCAL_RULES)


def _read_native(payload: object) -> list[Draft]:
    return read_content(record(payload, "native"), "native")


def _express_all(drafts: Sequence[Draft]) -> list[Draft]:
    return [express(draft) for draft in drafts]


def _id_fits(call: Call, draft: Draft) -> bool:
    return True


_REPAIRS: tuple[Repair, ...] = (
    partial(settle_natives, name=NAME, read=_read_native, accepts=_accepts),
    flatten_summaries,
    _express_all,
    partial(join_drafts, merge=merge_natives),
    tell_server_pairs,
    place_parts,
    drop_mere_thoughts,
    drop_empty,
    partial(give_unique_ids, fits=_id_fits, per_message=True),
    answer_calls,
    answer_in_order,
    quote_later_systems,
    cast_summaries,
    open_with_user,
    call_after_user,
)
