"""From messages to drafts."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ireneo.errors import UnreadableLog
from ireneo.formats.chat.langchain.blocks import read_content, read_reply
from ireneo.formats.chat.langchain.calls import read_calls
from ireneo.formats.chat.langchain.expression import carries
from ireneo.formats.chat.langchain.names import NAME, ROLES, SOURCE, SUMMARISED, role_named, type_named
from ireneo.formats.chat.langchain.writer import write_draft
from ireneo.formats.chat.mends.expressible import express
from ireneo.formats.chat.natives import keep_native
from ireneo.formats.chat.openai.calls import old_id
from ireneo.formats.chat.openai.names import REASONING
from ireneo.formats.chat.origins import origin_of
from ireneo.formats.chat.reading import record, text_or, words
from ireneo.log.message import Call, Draft, Native, Opaque, Origin, Part, Result, Role, Thinking


def read_message(message: dict[str, object], place: str) -> list[Draft]:
    """The draft that a message is, with its payload where the parts don't give it back."""
    draft = bare_draft(message, place)
    if draft.origin == "summary":
        # Marked by whoever wrote it, in its own words: it comes back as it is wherever it still fits.
        return [replace(draft, native=Native(format=NAME, payload=message))]
    return [keep_native(draft, NAME, message, _alone(draft))]


def bare_draft(message: dict[str, object], place: str) -> Draft:
    """The draft that a message is, without its payload."""
    kind, role = type_named(message), role_named(message)
    if role is None:
        raise UnreadableLog(f"{place}: its type {message.get('type')!r} is unknown; expected one of {', '.join(ROLES)}")
    data = record(message.get("data"), f"{place}, data")
    source_id = text_or(data.get("id")) or None
    if kind == "remove":
        if source_id is None:
            raise UnreadableLog(f"{place}: it names no message to remove")
        # It says nothing to a model; it is carried, so that whoever keeps the list can act on it.
        return Draft(role="user", parts=(Opaque(format=NAME, payload=message),), origin="injected", source_id=source_id)
    parts = _parts(kind, role, data, place)
    return Draft(role=role, parts=tuple(parts), origin=_origin(role, data, parts), source_id=source_id)


def settle_marked(drafts: Sequence[Draft]) -> list[Draft]:
    """Take a summary in the assistant's voice for one only where the user has the next word, as we write them."""
    out = list(drafts)
    for index in reversed(range(len(out))):
        following = out[index + 1] if index + 1 < len(out) else None
        heard = following is not None and following.role == "user" and following.origin != "summary"
        if out[index].origin == "summary" and out[index].role == "assistant" and not heard:
            out[index] = replace(out[index], origin="spoken")
    return out


def _alone(draft: Draft) -> object:
    written = write_draft(express(draft, carries))
    return written[0] if len(written) == 1 else None


def _parts(kind: str, role: Role, data: dict[str, object], place: str) -> list[Part]:
    if role == "assistant":
        return _reply(data, place)
    content = data.get("content")
    if role != "tool":
        return list(read_content(content, place))
    parts = tuple(read_content(content, place)) if content else ()
    name = data.get("name")
    if kind == "function":
        called = words(name, f"{place}, name")
        return [Result(call_id=old_id(called), parts=parts, name=called)]
    # Only an error is a flag that tells: success is what stands there when nobody looked.
    failed = True if data.get("status") == "error" else None
    call_id = text_or(data.get("tool_call_id"))
    return [Result(call_id=call_id, parts=parts, failed=failed, name=text_or(name) or None)]


def _reply(data: dict[str, object], place: str) -> list[Part]:
    said = read_reply(data.get("content"), place)
    calls = read_calls(data, place)
    listed = {call.id for call in calls}
    parts: list[Part] = [part for part in said if not (isinstance(part, Call) and part.id in listed)]
    return [*_beside(data, parts), *parts, *calls]


def _beside(data: dict[str, object], parts: Sequence[Part]) -> list[Thinking]:
    """What some providers put of a model's reasoning beside its content."""
    more = data.get("additional_kwargs")
    if not isinstance(more, dict) or any(isinstance(part, Thinking) for part in parts):
        return []
    thought = next((more[key] for key in REASONING if isinstance(more.get(key), str) and more[key]), None)
    return [Thinking(text=thought)] if isinstance(thought, str) else []


def _origin(role: Role, data: dict[str, object], parts: Sequence[Part]) -> Origin:
    more = data.get("additional_kwargs")
    source = more.get(SOURCE) if isinstance(more, dict) else None
    if role in ("user", "assistant") and source == SUMMARISED:
        return "spoken" if any(isinstance(part, Call) for part in parts) else "summary"
    if role != "user":
        return "spoken"
    return "injected" if isinstance(source, str) else origin_of(parts)
