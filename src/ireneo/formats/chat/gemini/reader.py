"""From contents to drafts: one, or two where results and a user's words share a content."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import compress

from ireneo.errors import UnreadableLog
from ireneo.formats.chat.gemini.expression import express
from ireneo.formats.chat.gemini.ids import Named, call_ids, named, result_ids
from ireneo.formats.chat.gemini.names import CALL, NAME, READ_ROLES, RESULT, field, parts_in, role_in
from ireneo.formats.chat.gemini.parts import read_part
from ireneo.formats.chat.gemini.writer import write_content
from ireneo.formats.chat.natives import keep_native
from ireneo.formats.chat.origins import origin_of
from ireneo.formats.chat.reading import detached, kind, listed_in, listing, record, role_of, text_or
from ireneo.log.message import Draft, Part, Role, Text

Content = dict[str, object]


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
    parts = _parts(content, place)
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


def _parts(content: Content, place: str) -> list[Content]:
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
