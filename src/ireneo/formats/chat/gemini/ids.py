"""Which result answers which call, where neither needs to bear an id: by name, and in their order.

A call without an id is given one when it is read, made of its name and of its place among the calls of that name, so
that a result that is read later, and alone, comes to the same. It is never written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from ireneo.formats.chat.gemini.names import field
from ireneo.formats.chat.reading import text_or

Named: TypeAlias = tuple[str, str]
"""A call or a result: its own id, which may be empty, and its name."""

_MADE_UP = "gemini-call-"


def named(parts: Iterable[dict[str, object]], kind: str) -> list[Named]:
    """The calls or the results among `parts`, in order."""
    inner = (field(part, kind) for part in parts)
    return [(text_or(each.get("id")), text_or(each.get("name"))) for each in inner if isinstance(each, dict)]


def is_made_up(call_id: str) -> bool:
    """Whether the id was given here, and is not to be written."""
    return call_id.startswith(_MADE_UP)


def call_ids(calls: Sequence[Named]) -> list[str]:
    """The id of each call of a content: its own, or one that is made up."""
    counts: Counter[str] = Counter()
    out: list[str] = []
    for own, name in calls:
        out.append(own or f"{_MADE_UP}{counts[name]}-{name}")
        counts[name] += not own
    return out


def result_ids(results: Sequence[Named], calls: Sequence[Named]) -> list[str]:
    """The id of the call that each result answers, among those of the content before.

    It is the one whose id the result bears, else the first left over that bears its name, else, for a result
    without an id, the first left over; else its own.
    """
    left = list(zip(call_ids(calls), (name for _, name in calls), strict=True))
    out: dict[int, str] = {}
    for matches in (_by_id, _by_name, _by_place):
        for place, result in enumerate(results):
            found = next((call for call in left if place not in out and matches(result, call)), None)
            if found is not None:
                left.remove(found)
                out[place] = found[0]
    return [out.get(place, own) for place, own in enumerate(call_ids(results))]


def _by_id(result: Named, call: Named) -> bool:
    return result[0] == call[0]


def _by_name(result: Named, call: Named) -> bool:
    return result[1] == call[1]


def _by_place(result: Named, call: Named) -> bool:
    return not result[0]
