"""From drafts to messages, whose parts the format can carry by then."""

from __future__ import annotations

from collections.abc import Sequence

from ireneo.formats.chat.notes import UNNAMED, media_note
from ireneo.formats.chat.pydantic_ai.media import write_media
from ireneo.formats.chat.pydantic_ai.names import CALL, FILE, PROMPT, REQUEST, RESPONSE, RETURN, SYSTEM, TEXT
from ireneo.formats.chat.reading import listing, record
from ireneo.log.message import Call, Draft, Media, Opaque, Part, Result, Text


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
            parts += _parts(draft, named)
        else:
            kept = record(draft.native.payload, "native")
            message |= kept
            parts += listing(kept.get("parts"), "native")
    return message | {"parts": parts}


def _parts(draft: Draft, named: dict[str, str]) -> list[dict[str, object]]:
    if draft.role == "tool":
        return [_result(result, named) for result in draft.results]
    if draft.role == "assistant":
        return [part for each in draft.parts if (part := _reply(each)) is not None]
    if draft.role == "system":
        return [_text(SYSTEM, draft.text)]
    return [{"part_kind": PROMPT, "content": _content(draft.parts)}]


def _reply(part: Part) -> dict[str, object] | None:
    if isinstance(part, Text):
        return _text(TEXT, part.text)
    if isinstance(part, Call):
        return {"part_kind": CALL, "tool_name": part.name, "args": part.arguments, "tool_call_id": part.id}
    if isinstance(part, Media):
        return {"part_kind": FILE, "content": write_media(part)}
    return part.payload if isinstance(part, Opaque) else None


def _result(result: Result, named: dict[str, str]) -> dict[str, object]:
    return {
        "part_kind": RETURN,
        "tool_name": result.name or named.get(result.call_id) or UNNAMED,
        "content": _content(result.parts),
        "tool_call_id": result.call_id,
        "outcome": "failed" if result.failed else "success",
    }


def _content(parts: Sequence[Part]) -> str | list[object]:
    """A string where there is only text; else a list of strings and items."""
    texts = [part.text for part in parts if isinstance(part, Text)]
    if len(texts) == len(parts):
        return texts[0] if len(texts) == 1 else "\n\n".join(text for text in texts if text)
    return [item for part in parts if (item := _item(part)) is not None]


def _item(part: Part) -> object:
    if isinstance(part, Text):
        return part.text
    if isinstance(part, Media):
        return write_media(part) or media_note(part)
    return part.payload if isinstance(part, Opaque) else None


def _text(kind: str, text: str) -> dict[str, object]:
    return {"part_kind": kind, "content": text}
