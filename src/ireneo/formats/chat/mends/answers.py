"""Each call is answered, once, directly after it; what answers no call becomes a note."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ireneo.formats.chat.mends.change import with_parts
from ireneo.formats.chat.mends.matching import Matching, Spot, match
from ireneo.formats.chat.notes import LOST_CALL, REPEATED, UNANSWERED, result_note
from ireneo.log.message import Call, Draft, Result, Text


def answer_calls(drafts: Sequence[Draft]) -> list[Draft]:
    """Move results behind their calls, answer the unanswered, keep the first of several, quote what follows no call.

    Expects each part in its place: results in tool drafts, which hold nothing else.
    """
    matching = match(drafts)
    answering = {result: call for call, result in matching.calls.items() if result is not None}
    spots: dict[int, list[tuple[Spot, Spot | None]]] = {}
    for call, result in matching.calls.items():
        spots.setdefault(call[0], []).append((call, result))
    out: list[Draft] = []
    stood = False
    for index, draft in enumerate(drafts):
        if draft.role == "tool":
            left = _leftovers(draft, index, matching, answering)
            out += left
            stood = bool(left) or (bool(out) and out[-1].role == "tool")
            continue
        # What was joined to results that have moved away stands alone now.
        left_behind = draft.joined and not stood and index > 0 and drafts[index - 1].role == "tool"
        out.append(replace(draft, joined=False) if left_behind else draft)
        out += _answers(drafts, spots.get(index, []))
        stood = False
    return out


def _answers(drafts: Sequence[Draft], spots: Sequence[tuple[Spot, Spot | None]]) -> list[Draft]:
    homes: dict[int, list[int]] = {}
    for _, result in spots:
        if result is not None:
            homes.setdefault(result[0], []).append(result[1])
    out = [with_parts(drafts[home], [drafts[home].parts[k] for k in sorted(homes[home])]) for home in sorted(homes)]
    missing = [_unanswered(drafts, call) for call, result in spots if result is None]
    return [*out, Draft(role="tool", parts=tuple(missing))] if missing else out


def _unanswered(drafts: Sequence[Draft], spot: Spot) -> Result:
    call = drafts[spot[0]].parts[spot[1]]
    assert isinstance(call, Call)
    return Result(call_id=call.id, parts=(Text(text=UNANSWERED),), failed=True, name=call.name)


def _leftovers(draft: Draft, index: int, matching: Matching, answering: dict[Spot, Spot]) -> list[Draft]:
    notes = [
        result_note(REPEATED if (index, place) in matching.repeated else LOST_CALL, part)
        for place, part in enumerate(draft.parts)
        if isinstance(part, Result) and (index, place) not in answering
    ]
    if not notes:
        return []
    return [replace(draft, role="user", origin="injected", parts=tuple(notes), joined=False, native=None)]
