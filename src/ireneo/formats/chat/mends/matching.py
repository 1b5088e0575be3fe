"""Which result belongs to which call, where ids may come twice, or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from msgspec import Struct

from ireneo.log.message import Call, Draft, Result

Spot: TypeAlias = tuple[int, int]
"""A part's place: the draft's index, and the part's index in it."""


class Matching(Struct, frozen=True, kw_only=True):
    """The calls of a list with their results."""

    calls: dict[Spot, Spot | None]
    """Each call, in order, with its result."""
    repeated: frozenset[Spot]
    """Results of a call that had one already. Those that are in neither follow no call at all."""


def match(drafts: Sequence[Draft]) -> Matching:
    """Match each result to the nearest call before it that bears its id and has no result yet."""
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
                    # Of several in the nearest draft the first: parallel calls are answered in their order.
                    nearest = next(call for call in waiting if call[0] == waiting[-1][0])
                    waiting.remove(nearest)
                    calls[nearest] = spot
                    answered.add(part.call_id)
                elif part.call_id in answered:
                    repeated.add(spot)
    return Matching(calls=calls, repeated=frozenset(repeated))
