"""Each call has an id of its own, and its result the same one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from ireneo.formats.chat.mends.change import with_parts
from ireneo.formats.chat.mends.matching import Spot, match
from ireneo.log.message import Call, Draft, Part, Result
from ireneo.patterns import lazy_re

_ELSEWHERE = lazy_re(r"[^A-Za-z0-9_-]")
_LONGEST = 48
"""How much of an id that doesn't fit is kept: some providers take no more than 64 letters."""


def name_apart(
    drafts: Sequence[Draft], fits: Callable[[Call, Draft], bool], *, per_message: bool = False
) -> list[Draft]:
    """Give a new id to each call whose id is missing, taken by an earlier call, or doesn't fit the format.

    With `per_message`, an id may come again in a later message, as it may with providers that count from 0 each time.
    """
    names = _Names(drafts)
    new: dict[Spot, str] = {}
    seen: set[str] = set()
    matching = match(drafts)
    for index, draft in enumerate(drafts):
        if per_message:
            seen.clear()
        for place, part in enumerate(draft.parts):
            if not isinstance(part, Call):
                continue
            spot = (index, place)
            if spot in matching.calls and (not part.id or part.id in seen or not fits(part, draft)):
                new[spot] = names.fresh(part.id)
                result = matching.calls[spot]
                if result is not None:
                    new[result] = new[spot]
            seen.add(new.get(spot, part.id))
    return [_renamed(draft, index, new) for index, draft in enumerate(drafts)] if new else list(drafts)


class _Names:
    """The ids of a list, and new ones that are not among them."""

    def __init__(self, drafts: Sequence[Draft]) -> None:
        self._taken = {call.id for draft in drafts for call in draft.calls}
        self._taken |= {result.call_id for draft in drafts for result in draft.results}

    def fresh(self, old: str) -> str:
        """An id that looks like `old` and that nothing bears yet."""
        stem = _ELSEWHERE.sub("_", old)[:_LONGEST] or "call"
        name, count = stem, 1
        while name in self._taken:
            count += 1
            name = f"{stem}_{count}"
        self._taken.add(name)
        return name


def _renamed(draft: Draft, index: int, new: dict[Spot, str]) -> Draft:
    return with_parts(draft, [_bearing(part, new.get((index, place))) for place, part in enumerate(draft.parts)])


def _bearing(part: Part, name: str | None) -> Part:
    if name is not None and isinstance(part, Call):
        return replace(part, id=name)
    if name is not None and isinstance(part, Result):
        return replace(part, call_id=name)
    return part
