"""An output is of its call's kind, and the ids of items don't outlive what they depend on."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ireneo.formats.chat.responses.names import (
    CALL,
    CUSTOM_CALL,
    call_id_of,
    has_reasoning,
    is_call,
    kind_of,
    output_kind,
)
from ireneo.formats.chat.responses.writer import native_items
from ireneo.log.message import Call, Draft, Part, Thinking


def agree_on_kinds(drafts: Sequence[Draft]) -> list[Draft]:
    """Build a call or an output from its parts where the other half is no longer of the kind that its payload says.

    An output in words can be written for a function and for a custom tool; a screen or a shell wants its own.
    """
    answers = {result.call_id: draft for draft in drafts if draft.role == "tool" for result in draft.results}
    out = [replace(draft, native=None) if _let_down(draft, answers) else draft for draft in drafts]
    kinds = {call_id_of(item): kind_of(item) for draft in out for item in native_items(draft) if is_call(item)}
    return [draft if _agrees(draft, kinds) else replace(draft, native=None) for draft in out]


def join_to_reasoning(drafts: Sequence[Draft]) -> list[Draft]:
    """Join to reasoning, and to a call, what the model made beside it, though it was handed in apart."""
    out: list[Draft] = []
    for draft in drafts:
        before = out[-1] if out and out[-1].role == draft.role == "assistant" else None
        led = before is not None and before.parts and _goes_on(before.parts[-1], draft.parts[:1])
        out.append(replace(draft, joined=True) if led else draft)
    return out


def drop_dangling_ids(drafts: Sequence[Draft]) -> list[Draft]:
    """Build a reply from its parts, without ids, where the reasoning that it goes on from is gone or was changed."""
    out: list[Draft] = []
    reasoned = False
    for draft in drafts:
        if draft.role == "assistant":
            dangles = draft.joined and not reasoned and draft.native is not None
            out.append(replace(draft, native=None) if dangles else draft)
            reasoned = has_reasoning(native_items(draft)) or (reasoned and draft.joined)
        else:
            out.append(draft)
            reasoned = reasoned and draft.role == "tool"
    return out


def _goes_on(last: Part, first: Sequence[Part]) -> bool:
    """Whether what begins with `first` is of one reply with what ends with `last`."""
    return isinstance(last, Thinking) or (isinstance(last, Call) and any(isinstance(part, Call) for part in first))


def _let_down(draft: Draft, answers: dict[str, Draft]) -> bool:
    if draft.role != "assistant":
        return False
    for item in native_items(draft):
        if is_call(item) and kind_of(item) not in (CALL, CUSTOM_CALL):
            answer = answers.get(call_id_of(item))
            if answer is None or [kind_of(each) for each in native_items(answer)] != [output_kind(kind_of(item))]:
                return True
    return False


def _agrees(draft: Draft, kinds: dict[str, str]) -> bool:
    if draft.role != "tool":
        return True
    return all(kind_of(item) == output_kind(kinds.get(call_id_of(item), CALL)) for item in native_items(draft))
