"""From drafts to messages, whose parts the format can carry by then."""

from __future__ import annotations

from collections.abc import Sequence

from ireneo.formats.chat.anthropic.media import write_media
from ireneo.formats.chat.anthropic.names import CALL, NAME, RESULT
from ireneo.formats.chat.anthropic.server import server_block, write_server_call
from ireneo.formats.chat.mends.blanks import is_blank
from ireneo.formats.chat.mends.joined import provider_groups
from ireneo.formats.chat.notes import WORDLESS_ERROR, media_note
from ireneo.formats.chat.reading import record
from ireneo.log.message import Call, Draft, Media, Native, Part, Result, Text, Thinking


def write_messages(drafts: Sequence[Draft]) -> list[dict[str, object]]:
    """The messages of a list without its system prompt: results together, and what was joined to them."""
    return [write_message(group) for group in provider_groups(drafts)]


def write_message(group: Sequence[Draft]) -> dict[str, object]:
    """The one message that holds a draft, or several of one provider role."""
    written = [_written(draft) for draft in group]
    if len(written) == 1:
        return written[0]
    message: dict[str, object] = {}
    content: list[object] = []
    for half in written:
        message |= half
        said = half.get("content")
        content += said if isinstance(said, list) else [{"type": "text", "text": said}]
    return message | {"content": content}


def write_system(drafts: Sequence[Draft]) -> str | list[dict[str, object]] | None:
    """The system prompt, apart from the messages: a string where it is one plain text, else blocks."""
    if len(drafts) == 1 and len(drafts[0].parts) == 1 and isinstance(drafts[0].parts[0], Text) and not drafts[0].native:
        return drafts[0].parts[0].text
    blocks: list[dict[str, object]] = []
    for draft in drafts:
        kept = draft.native.payload if draft.native is not None else None
        if isinstance(kept, list):
            blocks += [record(block, "system") for block in kept]
        else:
            blocks += write_blocks([part for part in draft.parts if not is_blank(part)])
    native = any(draft.native is not None for draft in drafts)
    if len(blocks) == 1 and not native and isinstance(blocks[0].get("text"), str):
        return str(blocks[0]["text"])
    return blocks if blocks or native else None


def merge_natives(before: Draft, draft: Draft) -> Native | None:
    """The payload of two drafts that are one message; None where their parts say it all."""
    if before.native is None and draft.native is None:
        return None
    return Native(format=NAME, payload=write_message([before, draft]))


def write_blocks(parts: Sequence[Part]) -> list[dict[str, object]]:
    """The content blocks of `parts`; what the format has no block for is left out."""
    return [block for part in parts if (block := _block(part)) is not None]


def _written(draft: Draft) -> dict[str, object]:
    if draft.native is not None:
        return record(draft.native.payload, "native")
    only = draft.parts[0] if len(draft.parts) == 1 else None
    if draft.role == "user" and isinstance(only, Text) and not draft.joined:
        return {"role": "user", "content": only.text}
    if draft.role == "tool":
        return {"role": "user", "content": [_result(result) for result in draft.results]}
    return {"role": draft.role, "content": write_blocks(draft.parts)}


def _block(part: Part) -> dict[str, object] | None:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    if isinstance(part, Thinking):
        return _thinking(part)
    if isinstance(part, Call):
        return write_server_call(part) if part.server else _call(part)
    if isinstance(part, Result):
        return server_block(part) or _result(part)
    if isinstance(part, Media):
        return write_media(part) or {"type": "text", "text": media_note(part)}
    return part.payload if part.format == NAME else None


def _thinking(part: Thinking) -> dict[str, object] | None:
    # Without its seal or signature it is refused.
    if part.sealed is not None:
        return {"type": "redacted_thinking", "data": part.sealed}
    return {"type": "thinking", "thinking": part.text, "signature": part.signature} if part.signature else None


def _call(call: Call) -> dict[str, object]:
    given = call.arguments if isinstance(call.arguments, dict) else {"arguments": call.arguments}
    return {"type": CALL, "id": call.id, "name": call.name, "input": given}


def _result(result: Result) -> dict[str, object]:
    only = result.parts[0] if len(result.parts) == 1 else None
    content: object = ""
    if isinstance(only, Text):
        content = only.text
    elif result.parts:
        content = write_blocks(result.parts)
    block: dict[str, object] = {"type": RESULT, "tool_use_id": result.call_id, "content": content}
    if result.failed:
        # An error that says nothing is refused.
        block |= {"content": content or WORDLESS_ERROR, "is_error": True}
    return block
