"""Repairs of lists that were cut or that another provider wrote, and the losses of encoding.

Each repair is a pure function for one fault; each format lists the ones that it needs in their order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ireneo.formats.chat.format import (
    RESPONSES,
    SYSTEM,
    ChatFormat,
    Payload,
    Violation,
    make_violation,
    media_note,
    unshown_note,
    with_parts,
)
from ireneo.log.message import Call, Draft, Media, Native, Opaque, Part, Result, Text, Thinking
from ireneo.patterns import lazy_re

UNANSWERED = "[no result: this call was not answered]"
LOST_CALL = "[result of a call that is no longer shown]"
REPEATED = "[another result of a call that is already answered]"
BEGINNING = "[The conversation begins here.]"

Spot: TypeAlias = tuple[int, int]
"""The place of a part: the index of its draft, and its index in the draft."""


def call_note(call: Call) -> str:
    """Return the text that stands for a call that can't be sent as a call."""
    arguments = call.arguments if isinstance(call.arguments, str) else msgspec.json.encode(call.arguments).decode()
    return f"[call of {call.name}, not shown as one] {arguments}"


def result_note(heading: str, result: Result) -> Text:
    """Return the text that stands for a result that can't be sent as a result: its text, with notes for media."""
    lines = [part.text if isinstance(part, Text) else unshown_note(part) for part in result.parts]
    quoted = "\n".join(lines)
    return Text(text=f"{heading} {quoted}".rstrip())


class Matching(Struct, frozen=True, kw_only=True):
    """The calls of a list with their results. A result that is in neither field has no call before it."""

    calls: dict[Spot, Spot | None]
    """The calls in order, each with its result."""
    repeated: frozenset[Spot]
    """Results of a call that had one already."""


def match_results(drafts: Sequence[Draft]) -> Matching:
    """Match each result to the nearest call before it with its id that has no result yet."""
    calls: dict[Spot, Spot | None] = {}
    pending: dict[str, list[Spot]] = {}
    answered: set[str] = set()
    repeated: set[Spot] = set()
    for index, draft in enumerate(drafts):
        for place, part in enumerate(draft.parts):
            spot = (index, place)
            if isinstance(part, Call) and draft.role == "assistant" and not part.server:
                calls[spot] = None
                pending.setdefault(part.id, []).append(spot)
            elif isinstance(part, Result) and draft.role == "tool":
                waiting = pending.get(part.call_id)
                if waiting:
                    # Parallel calls of one draft are answered in their order.
                    nearest = next(call for call in waiting if call[0] == waiting[-1][0])
                    waiting.remove(nearest)
                    calls[nearest] = spot
                    answered.add(part.call_id)
                elif part.call_id in answered:
                    repeated.add(spot)
    return Matching(calls=calls, repeated=frozenset(repeated))


def answer_calls(drafts: Sequence[Draft]) -> list[Draft]:
    """Move results after their calls, answer calls without one, and make notes of repeated and orphaned results.

    Expects results in tool drafts, which hold nothing else.
    """
    matching = match_results(drafts)
    answering = set(matching.calls.values())
    spots: dict[int, list[tuple[Call, Spot | None]]] = {}
    for (index, place), result in matching.calls.items():
        if isinstance(call := drafts[index].parts[place], Call):
            spots.setdefault(index, []).append((call, result))
    out: list[Draft] = []
    stood = False
    for index, draft in enumerate(drafts):
        if draft.role == "tool":
            notes = [
                result_note(REPEATED if (index, place) in matching.repeated else LOST_CALL, part)
                for place, part in enumerate(draft.parts)
                if isinstance(part, Result) and (index, place) not in answering
            ]
            if notes:
                quoted = replace(draft, role="user", origin="injected", parts=tuple(notes), joined=False, native=None)
                out.append(quoted)
            stood = bool(notes) or (bool(out) and out[-1].role == "tool")
            continue
        # The results that it was joined to have moved.
        left_behind = draft.joined and not stood and index > 0 and drafts[index - 1].role == "tool"
        out.append(replace(draft, joined=False) if left_behind else draft)
        out += _result_drafts(drafts, spots.get(index, []))
        stood = False
    return out


def _result_drafts(drafts: Sequence[Draft], calls: Sequence[tuple[Call, Spot | None]]) -> list[Draft]:
    """Return drafts with the results of `calls`, grouped as they came, and with a placeholder for each without one."""
    homes: dict[int, list[int]] = {}
    for _, spot in calls:
        if spot is not None:
            homes.setdefault(spot[0], []).append(spot[1])
    out = [with_parts(drafts[home], [drafts[home].parts[k] for k in sorted(homes[home])]) for home in sorted(homes)]
    said = (Text(text=UNANSWERED),)
    missing = [Result(call_id=call.id, parts=said, failed=True, name=call.name) for call, spot in calls if spot is None]
    return [*out, Draft(role="tool", parts=tuple(missing))] if missing else out


def drop_empty(drafts: Sequence[Draft]) -> list[Draft]:
    """Drop empty messages."""
    return [draft for draft in drafts if draft.parts or draft.native is not None]


def drop_blanks(drafts: Sequence[Draft]) -> list[Draft]:
    """Drop blank texts, thinking at a message's end, and then empty messages; system drafts stay as they are."""
    spoken = [
        draft
        if draft.role == "system"
        else with_parts(draft, [_without_blanks(part) for part in draft.parts if not is_blank(part)])
        for draft in drafts
    ]
    return drop_empty(drop_loose_thinking(spoken))


def drop_loose_thinking(drafts: Sequence[Draft]) -> list[Draft]:
    """Drop the thinking at a message's end; system drafts stay as they are."""
    out: list[Draft] = []
    for draft in drafts:
        end = len(draft.parts)
        while end and draft.role != "system" and isinstance(draft.parts[end - 1], Thinking):
            end -= 1
        out.append(with_parts(draft, draft.parts[:end]))
    return out


def is_blank(part: Part) -> bool:
    """Whether `part` is a blank text."""
    return isinstance(part, Text) and not part.text.strip()


def _without_blanks(part: Part) -> Part:
    # A blank text alone is the output of a silent command, and may stand.
    if not isinstance(part, Result) or len(part.parts) < 2 or not any(map(is_blank, part.parts)):
        return part
    return replace(part, parts=tuple(each for each in part.parts if not is_blank(each)))


_ELSEWHERE = lazy_re(r"[^A-Za-z0-9_-]")
_LONGEST = 48
"""The length to which invalid ids are cut: some providers accept 64 characters at most."""


def give_unique_ids(
    drafts: Sequence[Draft],
    fits: Callable[[Call, Draft], bool] = lambda call, draft: True,
    *,
    per_message: bool = False,
) -> list[Draft]:
    """Give a new id to each call whose id is missing, used by an earlier call, or invalid in the format.

    With `per_message`, an id may be used again in a later message, as some providers count from 0 each time.
    """
    taken = {call.id for draft in drafts for call in draft.calls}
    taken |= {result.call_id for draft in drafts for result in draft.results}
    new: dict[Spot, str] = {}
    seen: set[str] = set()
    matching = match_results(drafts)
    for index, draft in enumerate(drafts):
        if per_message:
            seen.clear()
        for place, part in enumerate(draft.parts):
            if not isinstance(part, Call):
                continue
            spot = (index, place)
            if spot in matching.calls and (not part.id or part.id in seen or not fits(part, draft)):
                new[spot] = _unused_id(part.id, taken)
                result = matching.calls[spot]
                if result is not None:
                    new[result] = new[spot]
            seen.add(new.get(spot, part.id))
    if not new:
        return list(drafts)
    return [
        with_parts(draft, [_with_call_id(part, new.get((index, place))) for place, part in enumerate(draft.parts)])
        for index, draft in enumerate(drafts)
    ]


def _unused_id(old: str, taken: set[str]) -> str:
    """Make an unused id that resembles `old`, and add it to `taken`."""
    stem = _ELSEWHERE.sub("_", old)[:_LONGEST] or "call"
    name, count = stem, 1
    while name in taken:
        count += 1
        name = f"{stem}_{count}"
    taken.add(name)
    return name


def _with_call_id(part: Part, name: str | None) -> Part:
    if name is not None and isinstance(part, Call):
        return replace(part, id=name)
    if name is not None and isinstance(part, Result):
        return replace(part, call_id=name)
    return part


def words_after_results(before: Draft, draft: Draft) -> bool:
    """Whether `draft` holds the user's words in one message with the results in `before`."""
    return "summary" not in (before.origin, draft.origin) and (before.role, draft.role) == ("tool", "user")


def provider_groups(drafts: Sequence[Draft]) -> list[list[Draft]]:
    """Group the drafts that share a provider's message: results in a row, and the words that are joined to them."""
    groups: list[list[Draft]] = []
    for draft in drafts:
        before = groups[-1][-1].role if groups else None
        if (before == "tool" and draft.role == "tool") or (draft.joined and before in ("tool", "user")):
            groups[-1].append(draft)
        else:
            groups.append([draft])
    return groups


def join_drafts(
    drafts: Sequence[Draft],
    merge: Callable[[Draft, Draft], Native | None] = lambda before, draft: None,
    share: Callable[[Draft, Draft], bool] = words_after_results,
) -> list[Draft]:
    """Merge each `joined` assistant or tool draft into the one before it; `merge` makes the native of the two.

    Drafts that `share` a message, such as a user's words after tool results, stay separate, and `joined`. Elsewhere the
    flag is reset, since what the draft was joined to is gone.
    """
    out: list[Draft] = []
    for draft in drafts:
        before = out[-1] if out else None
        spoken = before is not None and "summary" not in (before.origin, draft.origin)
        if not draft.joined:
            out.append(draft)
        elif before is not None and spoken and before.role == draft.role and draft.role in ("assistant", "tool"):
            out[-1] = replace(before, parts=before.parts + draft.parts, native=merge(before, draft))
        elif before is not None and share(before, draft):
            out.append(draft)
        else:
            out.append(replace(draft, joined=False))
    return out


def join_calls(drafts: Sequence[Draft], merge: Callable[[Draft, Draft], Native | None]) -> list[Draft]:
    """Merge calls into the model's message before: some formats have no calls directly after one."""
    out: list[Draft] = []
    for draft in drafts:
        while draft.role == "assistant" and draft.calls and out and out[-1].role == "assistant":
            before = out.pop()
            draft = replace(before, parts=before.parts + draft.parts, native=merge(before, draft))
        out.append(draft)
    return out


def leading_systems(drafts: Sequence[Draft]) -> int:
    """Count the system drafts at the beginning."""
    return next((index for index, draft in enumerate(drafts) if draft.role != "system"), len(drafts))


def quote_later_systems(drafts: Sequence[Draft]) -> list[Draft]:
    """Make marked user texts of later system drafts; blank ones are dropped."""
    first = leading_systems(drafts)
    out = list(drafts[:first])
    for draft in drafts[first:]:
        if draft.role != "system":
            out.append(draft)
        elif draft.text.strip():
            quoted = (Text(text=f"{SYSTEM} {draft.text}"),)
            out.append(replace(draft, role="user", origin="injected", parts=quoted, joined=False, native=None))
    return out


def join_systems(drafts: Sequence[Draft]) -> list[Draft]:
    """Merge the system drafts at the beginning into one."""
    first = leading_systems(drafts)
    if first < 2:
        return list(drafts)
    parts = tuple(part for draft in drafts[:first] for part in draft.parts)
    return [replace(drafts[0], parts=parts, native=None), *drafts[first:]]


def open_with_user(drafts: Sequence[Draft]) -> list[Draft]:
    """Insert a user message before a conversation that another role begins."""
    first = leading_systems(drafts)
    if first == len(drafts) or drafts[first].role == "user":
        return list(drafts)
    ours = Draft(role="user", parts=(Text(text=BEGINNING),), origin="injected")
    return [*drafts[:first], ours, *drafts[first:]]


def place_parts(drafts: Sequence[Draft]) -> list[Draft]:
    """Move results into tool drafts and other parts out of them; a call in another role's message becomes a note."""
    out: list[Draft] = []
    for draft in drafts:
        out += _place_assistant(draft) if draft.role == "assistant" else _place_other(draft)
    return out


def _place_assistant(draft: Draft) -> list[Draft]:
    served = {call.id for call in draft.calls if call.server}
    moved = [part for part in draft.results if part.call_id not in served]
    stays = [part for part in draft.parts if not (isinstance(part, Result) and part.call_id not in served)]
    return [with_parts(draft, stays), _results_draft(draft, moved)] if moved else [draft]


def _place_other(draft: Draft) -> list[Draft]:
    results = draft.results
    if draft.role == "tool" and len(results) == len(draft.parts):
        return [draft]
    stays = [part for part in draft.parts if not isinstance(part, Result | Thinking)]
    rest = with_parts(draft, [Text(text=call_note(part)) if isinstance(part, Call) else part for part in stays])
    if draft.role == "tool":
        rest = replace(rest, role="user", joined=bool(results))
    if not results:
        return [rest]
    if draft.role == "system":
        return [rest, _results_draft(draft, results)]
    # Results come first in a message that holds both.
    return [_results_draft(draft, results), *([replace(rest, joined=True)] if rest.parts else [])]


def _results_draft(draft: Draft, results: Sequence[Result]) -> Draft:
    return replace(draft, role="tool", parts=tuple(results), joined=False, native=None)


def keep_server_pairs(drafts: Sequence[Draft], writes: Callable[[Result], bool]) -> list[Draft]:
    """Turn calls that the provider ran, and their results, into notes unless both exist and `writes` the result."""
    taken: set[str] = set()
    return [_with_server_pairs(draft, writes, taken) if draft.role == "assistant" else draft for draft in drafts]


def note_server_pairs(drafts: Sequence[Draft]) -> list[Draft]:
    """Replace calls executed by the provider with notes, for formats that can't hold their results."""
    return keep_server_pairs(drafts, lambda result: False)


def _with_server_pairs(draft: Draft, writes: Callable[[Result], bool], taken: set[str]) -> Draft:
    kept: set[int] = set()
    served: set[str] = set()
    open_calls: dict[str, int] = {}
    for index, part in enumerate(draft.parts):
        if isinstance(part, Call):
            if part.server:
                served.add(part.id)
                if part.id not in taken:
                    open_calls[part.id] = index
            taken.add(part.id)
        elif isinstance(part, Result) and part.call_id in open_calls and writes(part):
            kept |= {index, open_calls.pop(part.call_id)}
    return with_parts(
        draft,
        [part if index in kept else _server_part_note(part, served, writes) for index, part in enumerate(draft.parts)],
    )


def _server_part_note(part: Part, served: set[str], writes: Callable[[Result], bool]) -> Part:
    if isinstance(part, Call) and part.server:
        return Text(text=call_note(part))
    if isinstance(part, Result) and (part.call_id in served or writes(part)):
        return result_note(LOST_CALL, part)
    return part


# Losses: content that is missing or changed in a written list.

HEEDED: Final = frozenset({"cache_control", "citations", "annotations", "name", "detail", "title", "context"})
"""Keys next to a text that have an effect at the provider, or are shown to the model."""

_ENCODER = msgspec.json.Encoder(order="sorted")
Pair = tuple[str, bytes]


def losses(
    drafts: Sequence[Draft], handed: Sequence[Draft], payload: Payload, read: Sequence[Draft], chat: ChatFormat
) -> list[Violation]:
    """Return each repair and omission in the encoding of `drafts`, with the index of its draft.

    `handed` are the same drafts as the caller passed them, with payloads and thinking; `read` is what the format reads
    in the `payload` that it wrote.
    """
    found = [
        *_unpaired_losses(drafts),
        *_thinking_losses(handed, chat),
        *_content_losses(drafts, read, chat),
        *_empty_message_losses(drafts, read, chat),
    ]
    return sorted([*found, *_payload_key_losses(handed, payload, chat)], key=lambda loss: loss.index)


def _unpaired_losses(drafts: Sequence[Draft]) -> Iterator[Violation]:
    matching = match_results(drafts)
    answering = set(filter(None, matching.calls.values()))
    for (index, place), result in matching.calls.items():
        call = drafts[index].parts[place]
        if result is None and isinstance(call, Call):
            says = f"call {call.id!r} of {call.name} has no result; one that says so stands in its place."
            yield make_violation("unanswered-call", index, says)
    for index, draft in enumerate(drafts):
        for place, part in enumerate(draft.parts):
            if draft.role != "tool" or not isinstance(part, Result) or (index, place) in answering:
                continue
            if (index, place) in matching.repeated:
                says = f"call {part.call_id!r} is answered already; it is told as a note."
                yield make_violation("duplicate-result", index, says)
            else:
                says = (
                    f"the result names call {part.call_id!r}, which no message before it makes; it is told as a note."
                )
                yield make_violation("orphaned-result", index, says)


def _thinking_losses(handed: Sequence[Draft], chat: ChatFormat) -> Iterator[Violation]:
    """Find thinking in formats without a field for it; what a rebuild leaves out is policy, and no loss."""
    if chat.thinking == "none":
        places = [(index, part) for index, draft in enumerate(handed) for part in draft.parts]
        thought = list(dict.fromkeys(index for index, part in places if isinstance(part, Thinking)))
        yield from _omissions({"its thinking": thought} if thought else {}, f"{chat.name} has no place for it")


def _content_losses(drafts: Sequence[Draft], read: Sequence[Draft], chat: ChatFormat) -> Iterator[Violation]:
    """Find blocks, media and thinking that are missing when the list is read again."""
    there = Counter(_part_key(part) for draft in read for part in _special_parts(draft.parts))
    missing: dict[str, list[int]] = {}
    for index, part in ((index, part) for index, draft in enumerate(drafts) for part in _special_parts(draft.parts)):
        if there[_part_key(part)] > 0:
            there[_part_key(part)] -= 1
        else:
            missing.setdefault(_describe_part(part), []).append(index)
    yield from _omissions(missing, f"{chat.name} has no place for it")


def _empty_message_losses(drafts: Sequence[Draft], read: Sequence[Draft], chat: ChatFormat) -> Iterator[Violation]:
    """Find empty messages that are missing when the list is read again."""
    empty = [index for index, draft in enumerate(drafts) if draft.role != "system" and all(map(is_blank, draft.parts))]
    # A format may read two messages of one author as one, of which only a part is blank.
    beside = [draft for index, draft in enumerate(drafts) if index not in empty and draft.role != "system"]
    kept = max(0, _count_blanks(read) - _count_blanks(beside))
    yield from _omissions({"an empty message": empty[kept:]} if empty[kept:] else {}, f"{chat.name} takes none")


def _count_blanks(drafts: Sequence[Draft]) -> int:
    return sum(sum(map(is_blank, draft.parts)) if draft.parts else 1 for draft in drafts)


def _omissions(missing: Mapping[str, Sequence[int]], why: str) -> Iterator[Violation]:
    """Make one violation for each kind of missing thing."""
    for name, indices in missing.items():
        others = f"; so it is with {len(indices) - 1} more" if len(indices) > 1 else ""
        yield make_violation("left-out", indices[0], f"{name} is left out: {why}{others}.")


def _special_parts(parts: Sequence[Part]) -> Iterator[Media | Opaque | Thinking]:
    for part in parts:
        if isinstance(part, Media | Opaque | Thinking):
            yield part
        elif isinstance(part, Result):
            yield from _special_parts(part.parts)


def _part_key(part: Media | Opaque | Thinking) -> bytes:
    if isinstance(part, Media):
        # Not every format has a name, or a media type for a URL.
        return (part.data or part.url or "").encode(errors="replace")
    if isinstance(part, Thinking):
        return _ENCODER.encode([part.text, part.signature, part.sealed])
    return _ENCODER.encode(part.payload)


def _describe_part(part: Media | Opaque | Thinking) -> str:
    if isinstance(part, Thinking):
        return "thinking that is not its own" if part.is_bound else "thinking without a signature"
    if isinstance(part, Media):
        return media_note(part).strip("[]").removesuffix(", not shown")
    kind = part.payload.get("type", part.payload.get("part_kind"))
    return f"a {kind} block of {part.format}" if isinstance(kind, str) else f"a block of {part.format}"


def _payload_key_losses(handed: Sequence[Draft], payload: Payload, chat: ChatFormat) -> Iterator[Violation]:
    """Find keys with an effect in payloads that were not sent unchanged."""
    payloads = [(index, draft.native.payload) for index, draft in enumerate(handed) if draft.native is not None]
    held = [(index, pair) for index, written in payloads for pair in _key_value_pairs(written)]
    there = Counter(_key_value_pairs([payload.system, payload.messages])) if held else Counter()
    missing: dict[str, list[int]] = {}
    for index, pair in held:
        if there[pair] > 0:
            there[pair] -= 1
        else:
            missing.setdefault(f"its `{pair[0]}`", []).append(index)
    yield from _omissions(missing, f"it can't be sent in {chat.name} as it was handed in")


def _key_value_pairs(value: object) -> Iterator[Pair]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            # Only some formats repeat the tool's name in a result.
            heeded = key in HEEDED and not (key == "name" and "tool_call_id" in value)
            if heeded and inner not in (None, "", [], {}):
                yield key, _ENCODER.encode(inner)
            else:
                yield from _key_value_pairs(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _key_value_pairs(inner)


def without_dangling(drafts: Sequence[Draft], lost: Sequence[bool]) -> list[Draft]:
    """Drop the payloads of OpenAI's items whose ids refer to reasoning that was removed.

    `lost` marks messages whose thinking is not shown, and blocks that cover some. Items are affected until the next
    reasoning or the next user message.
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
