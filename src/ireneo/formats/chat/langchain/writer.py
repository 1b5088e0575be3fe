"""From drafts to messages, whose parts the format can carry by then."""

from __future__ import annotations

from collections.abc import Sequence

from ireneo.formats.chat.langchain.calls import write_calls
from ireneo.formats.chat.langchain.media import write_media
from ireneo.formats.chat.langchain.names import SOURCE, SUMMARISED
from ireneo.formats.chat.notes import media_note
from ireneo.formats.chat.openai.calls import is_old, old_name
from ireneo.formats.chat.reading import record
from ireneo.log.message import Draft, Media, Opaque, Part, Result, Text

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
