"""From drafts to messages, whose parts the format can carry by then."""

from __future__ import annotations

from collections.abc import Sequence

from ireneo.formats.chat.notes import media_note
from ireneo.formats.chat.openai.calls import is_old, old_name, write_calls
from ireneo.formats.chat.openai.media import write_media
from ireneo.formats.chat.reading import record
from ireneo.log.message import Draft, Media, Opaque, Part, Result, Text


def write_draft(draft: Draft) -> list[dict[str, object]]:
    """The messages that a draft is: one, or one for each result."""
    if draft.native is not None:
        return [record(draft.native.payload, "native")]
    if draft.role == "tool":
        return [_result(result) for result in draft.results]
    if draft.role == "assistant":
        return [_assistant(draft)]
    return [{"role": draft.role, "content": _content(draft.parts)}]


def _assistant(draft: Draft) -> dict[str, object]:
    spoken = [
        part for part in draft.parts if isinstance(part, Text) or (isinstance(part, Opaque) and "type" in part.payload)
    ]
    message: dict[str, object] = {"role": "assistant", "content": _content(spoken) if spoken else None}
    for part in draft.parts:
        if isinstance(part, Opaque) and "type" not in part.payload:
            # A field of the message itself, such as the id of a spoken answer.
            message |= part.payload
    return message | write_calls(draft.calls)


def _result(result: Result) -> dict[str, object]:
    content = _content(result.parts) if result.parts else ""
    if is_old(result.call_id):
        return {"role": "function", "name": old_name(result.call_id), "content": content}
    message: dict[str, object] = {"role": "tool", "tool_call_id": result.call_id, "content": content}
    return message | ({"name": result.name} if result.name is not None else {})


def _content(parts: Sequence[Part]) -> str | list[dict[str, object]]:
    """A string where there is only text, which every server takes; else a list."""
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
