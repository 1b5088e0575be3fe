"""From drafts to contents, whose parts the format can carry by then."""

from __future__ import annotations

from collections.abc import Sequence

from ireneo.formats.chat.gemini.ids import is_made_up
from ireneo.formats.chat.gemini.media import write_media
from ireneo.formats.chat.gemini.names import CALL, NAME, RESULT, SIGNATURE
from ireneo.formats.chat.gemini.signatures import sign
from ireneo.formats.chat.mends.joined import provider_groups
from ireneo.formats.chat.notes import UNNAMED, media_note
from ireneo.formats.chat.reading import record
from ireneo.log.message import Call, Draft, Media, Native, Part, Result, Text, Thinking

Content = dict[str, object]


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
    return sign({"role": "model" if draft.role == "assistant" else "user", "parts": _parts(draft.parts)})


def _parts(parts: Sequence[Part]) -> list[Content]:
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
        written = _part(part)
        if written is not None:
            out.append({**written, **mark})
            mark = {}
    return [*out, {"text": "", **mark}] if mark else out


def _part(part: Part) -> Content | None:
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
