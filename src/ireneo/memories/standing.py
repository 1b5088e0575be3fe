"""Lessons that stand at the beginning of a session, whatever it is about: by what they are expected to save.

Several errors of one program stand in one line, so that its name is not said anew for each.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from msgspec import Struct

from ireneo.log.ids import short
from ireneo.memories.record import Kind, MemoryId
from ireneo.memories.scratchpad import Count
from ireneo.memories.wording import one_line
from ireneo.patterns import lazy_re

HEADING = "## Lessons of earlier runs"
SHARE = 0.7
"""Of the room of a brief, what lessons take where other memories have something to say as well."""
_HEAD = lazy_re(r"^(`[^`]+`(?: of a file that was not read before)? fails with )(“[^”]*”)\.?$")


class Standing(Struct, frozen=True, kw_only=True):
    """A lesson that a session may be told at its beginning."""

    id: MemoryId
    kind: Kind
    text: str
    worth: float
    """What it is expected to save, in tokens a run or in any other measure that is the same for all."""
    why: str


def chosen(standing: Iterable[Standing], room: int, count: Count, without: Collection[str] = ()) -> list[Standing]:
    """Those that save most for what they cost to read, in `room` tokens, the one of most worth standing first."""
    left = room - count(HEADING) - 1
    costs = [(each, count(_line([each])) + 1) for each in standing if each.id not in without]
    heads: set[str] = set()
    out: list[Standing] = []
    for each, alone in sorted(costs, key=lambda one: (-one[0].worth / one[1], one[0].id)):
        head = _head(each)
        cost = count(_more(each)) if head and head in heads else alone
        if cost <= left:
            left -= cost
            heads.add(head)
            out.append(each)
    return sorted(out, key=lambda one: (-one.worth, one.id))


def written(standing: Sequence[Standing]) -> list[str]:
    """The lines that lessons make; none where there are none."""
    groups: dict[str, list[Standing]] = {}
    for each in standing:
        groups.setdefault(_head(each) or each.id, []).append(each)
    return [HEADING, *(_line(group) for group in groups.values())] if groups else []


def _line(group: Sequence[Standing]) -> str:
    first = f"- {one_line(group[0].text).rstrip('.')} [{short(group[0].id)}]"
    return first + "".join(_more(each) for each in group[1:])


def _more(each: Standing) -> str:
    found = _HEAD.match(each.text)
    return f"; {found[2] if found else each.text} [{short(each.id)}]"


def _head(each: Standing) -> str:
    """What the line of an error begins with that may be told together with others; empty where it stands alone."""
    found = _HEAD.match(each.text)
    return found[1] if found else ""
