"""What of the shown messages is not in the list as it is written, and payloads without the model's thinking."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from ireneo.formats.chat.format import RESPONSES, ChatFormat, Payload, media_note
from ireneo.formats.chat.registry import CHAT_FORMATS
from ireneo.formats.chat.repairs import match_results
from ireneo.formats.chat.rules import Violation, breach
from ireneo.log.message import Call, Draft, Media, Native, Opaque, Part, Result, Thinking

HEEDED: Final = frozenset({"cache_control", "citations", "annotations", "name", "detail", "title", "context"})
"""Keys beside the words of a message that a provider heeds, or shows to the model; the others are its bookkeeping."""

_ENCODER = msgspec.json.Encoder(order="sorted")
Pair = tuple[str, bytes]


def losses(
    drafts: Sequence[Draft], handed: Sequence[Draft], payload: Payload, read: Sequence[Draft], chat: ChatFormat
) -> list[Violation]:
    """Each thing that the format repaired in `drafts`, or left out of them, with the place of its draft.

    `handed` are the same drafts as they were handed in, with their payloads and their thinking; `read` is what the
    format reads in `payload`, which it wrote of them.
    """
    found = [*_unpaired(drafts), *_unthought(handed, chat), *_unshown(drafts, read, chat)]
    return sorted([*found, *_unkept(handed, payload, chat)], key=lambda loss: loss.index)


def _unpaired(drafts: Sequence[Draft]) -> Iterator[Violation]:
    matching = match_results(drafts)
    answering = set(filter(None, matching.calls.values()))
    for (index, place), result in matching.calls.items():
        call = drafts[index].parts[place]
        if result is None and isinstance(call, Call):
            says = f"call {call.id!r} of {call.name} has no result; one that says so stands in its place."
            yield breach("unanswered-call", index, says)
    for index, draft in enumerate(drafts):
        for place, part in enumerate(draft.parts):
            if draft.role != "tool" or not isinstance(part, Result) or (index, place) in answering:
                continue
            if (index, place) in matching.repeated:
                says = f"call {part.call_id!r} is answered already; it is told as a note."
                yield breach("duplicate-result", index, says)
            else:
                says = (
                    f"the result names call {part.call_id!r}, which no message before it makes; it is told as a note."
                )
                yield breach("orphaned-result", index, says)


def _unthought(handed: Sequence[Draft], chat: ChatFormat) -> Iterator[Violation]:
    """The thinking for which the format has no place at all; what a rebuild leaves out is a policy, and no loss."""
    if chat.thinking == "none":
        places = [(index, part) for index, draft in enumerate(handed) for part in draft.parts]
        thought = list(dict.fromkeys(index for index, part in places if isinstance(part, Thinking)))
        yield from _left_out({"its thinking": thought} if thought else {}, f"{chat.name} has no place for it")


def _unshown(drafts: Sequence[Draft], read: Sequence[Draft], chat: ChatFormat) -> Iterator[Violation]:
    """Blocks, media and thinking that are not found when the list is read again."""
    there = Counter(_key(part) for draft in read for part in _kept_apart(draft.parts))
    missing: dict[str, list[int]] = {}
    for index, part in ((index, part) for index, draft in enumerate(drafts) for part in _kept_apart(draft.parts)):
        if there[_key(part)] > 0:
            there[_key(part)] -= 1
        else:
            missing.setdefault(_named(part), []).append(index)
    yield from _left_out(missing, f"{chat.name} has no place for it")


def _left_out(missing: Mapping[str, Sequence[int]], why: str) -> Iterator[Violation]:
    """One sentence for each thing that is missing, with the places that it is missing from."""
    for name, indices in missing.items():
        others = f"; so it is with {len(indices) - 1} more" if len(indices) > 1 else ""
        yield breach("left-out", indices[0], f"{name} is left out: {why}{others}.")


def _kept_apart(parts: Sequence[Part]) -> Iterator[Media | Opaque | Thinking]:
    for part in parts:
        if isinstance(part, Media | Opaque | Thinking):
            yield part
        elif isinstance(part, Result):
            yield from _kept_apart(part.parts)


def _key(part: Media | Opaque | Thinking) -> bytes:
    if isinstance(part, Media):
        # Not every format has a name for it, or says the type of what stands at a place.
        return (part.data or part.url or "").encode(errors="replace")
    if isinstance(part, Thinking):
        return _ENCODER.encode([part.text, part.signature, part.sealed])
    return _ENCODER.encode(part.payload)


def _named(part: Media | Opaque | Thinking) -> str:
    if isinstance(part, Thinking):
        return "thinking that is not its own" if part.is_bound else "thinking without a signature"
    if isinstance(part, Media):
        return media_note(part).strip("[]").removesuffix(", not shown")
    kind = part.payload.get("type", part.payload.get("part_kind"))
    return f"a {kind} block of {part.format}" if isinstance(kind, str) else f"a block of {part.format}"


def _unkept(handed: Sequence[Draft], payload: Payload, chat: ChatFormat) -> Iterator[Violation]:
    """Keys that providers heed, in payloads that were not sent as they are."""
    payloads = [(index, draft.native.payload) for index, draft in enumerate(handed) if draft.native is not None]
    held = [(index, pair) for index, written in payloads for pair in _pairs(written)]
    there = Counter(_pairs([payload.system, payload.messages])) if held else Counter()
    missing: dict[str, list[int]] = {}
    for index, pair in held:
        if there[pair] > 0:
            there[pair] -= 1
        else:
            missing.setdefault(f"its `{pair[0]}`", []).append(index)
    yield from _left_out(missing, f"it can't be sent in {chat.name} as it was handed in")


def _pairs(value: object) -> Iterator[Pair]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            # A result is known by its call, and only some formats name its tool once more.
            heeded = key in HEEDED and not (key == "name" and "tool_call_id" in value)
            if heeded and inner not in (None, "", [], {}):
                yield key, _ENCODER.encode(inner)
            else:
                yield from _pairs(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _pairs(inner)


def without_thoughts(native: Native | None) -> Native | None:
    """`native` without thinking, what else stands in it as it was written; None where it can't be had so."""
    if native is None or native.format not in CHAT_FORMATS or not isinstance(native.payload, dict):
        return None
    kept = CHAT_FORMATS[native.format].without_thinking(native.payload)
    return None if kept is None else Native(format=native.format, payload=kept)


def without_dangling(drafts: Sequence[Draft], lost: Sequence[bool]) -> list[Draft]:
    """`drafts` without the payloads of OpenAI's items whose ids name reasoning that is gone.

    `lost` says where that may be: a message whose thinking is not shown, or a block that stands for some. It lasts
    until the next reasoning, or until a user speaks.
    """
    out: list[Draft] = []
    dangles = False
    for draft, gone in zip(drafts, lost, strict=True):
        reasons = any(isinstance(part, Thinking) for part in draft.parts)
        spoken = draft.role in ("user", "system") and draft.origin != "summary"
        dangles = gone or (dangles and not reasons and not spoken)
        ours = dangles and draft.role == "assistant" and draft.native is not None and draft.native.format == RESPONSES
        out.append(replace(draft, native=None) if ours else draft)
    return out
