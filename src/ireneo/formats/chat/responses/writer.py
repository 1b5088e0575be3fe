"""From drafts to items, which the format can carry by then."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from ireneo.formats.chat.notes import media_note
from ireneo.formats.chat.openai.calls import write_arguments
from ireneo.formats.chat.reading import record
from ireneo.formats.chat.responses.media import write_media
from ireneo.formats.chat.responses.names import (
    APPROVAL,
    CALL,
    NAME,
    REASONING,
    call_id_of,
    is_call,
    kind_of,
    output_kind,
)
from ireneo.log.message import Call, Draft, Media, Native, Opaque, Part, Result, Text, Thinking

Item = dict[str, object]


def write_items(drafts: Sequence[Draft]) -> list[Item]:
    """The items of a list; each output is of its call's kind."""
    items: list[Item] = []
    kinds: dict[str, str] = {}
    for draft in drafts:
        if draft.role == "tool" and draft.native is None:
            items += [_output(result, kinds.get(result.call_id, CALL)) for result in draft.results]
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
        return list(_assistant(draft.parts))
    if draft.role == "system":
        return [{"role": "system", "content": write_instructions([draft])}]
    return list(_user(draft.parts))


def _assistant(parts: Sequence[Part]) -> Iterator[Item]:
    for is_text, run in groupby(parts, lambda part: isinstance(part, Text)):
        if is_text:
            yield {"role": "assistant", "content": _content(list(run), "output_text")}
            continue
        for part in run:
            if isinstance(part, Thinking):
                yield _reasoning(part)
            elif isinstance(part, Call):
                yield {"type": CALL, "call_id": part.id, "name": part.name, "arguments": write_arguments(part)}
            elif isinstance(part, Opaque):
                yield part.payload


def _user(parts: Sequence[Part]) -> Iterator[Item]:
    for stands_alone, run in groupby(parts, _stands_alone):
        if stands_alone:
            yield from (part.payload for part in run if isinstance(part, Opaque))
        else:
            yield {"role": "user", "content": _content(list(run), "input_text")}


def _stands_alone(part: Part) -> bool:
    return isinstance(part, Opaque) and part.payload.get("type") == APPROVAL


def _reasoning(part: Thinking) -> Item:
    # Without its id: a provider that kept nothing would look for it in vain.
    summary = [{"type": "summary_text", "text": part.text}] if part.text else []
    return {"type": REASONING, "summary": summary, "encrypted_content": part.sealed}


def _output(result: Result, kind: str) -> Item:
    content = _content(result.parts, "input_text") if result.parts else ""
    return {"type": output_kind(kind), "call_id": result.call_id, "output": content}


def _content(parts: Sequence[Part], text_kind: str) -> str | list[Item]:
    """A string where there is one text only, else a list."""
    only = parts[0] if len(parts) == 1 else None
    if isinstance(only, Text):
        return only.text
    return [block for part in parts if (block := _block(part, text_kind)) is not None]


def _block(part: Part, text_kind: str) -> Item | None:
    if isinstance(part, Text):
        return {"type": text_kind, "text": part.text}
    if isinstance(part, Media):
        return write_media(part) or {"type": text_kind, "text": media_note(part)}
    return part.payload if isinstance(part, Opaque) else None
