"""Which lines and names a context shows: the most needed for their cost, over all of it at once.

A greedy choice by value for cost. A name counts where it is first chosen and nowhere else, so that each artifact
stands once, in the line that says most about it together with the others that it was used with.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from ireneo.context.offline.names import SAID, SUBJECT, both, fading
from ireneo.context.render import Choice, heading, say
from ireneo.context.summary import Line, SectionName
from ireneo.context.weigh import Count
from ireneo.grounding.artifacts import artifacts

WORTH: dict[SectionName, float] = {
    "status": 15.0,
    "dead_ends": 100.0,
    "constraints": 25.0,
    "goal": 10.0,
    "direction": 20.0,
    "strategy": 8.0,
    "achieved": 8.0,
    "worked": 4.0,
    "discoveries": 2.0,
    "artifacts": 4.0,
    "operations": 2.0,
}
"""What a line is worth before its names, in the unit in which a name that the agent wrote just now is worth 12."""

KEPT_LAST: frozenset[SectionName] = frozenset({"dead_ends", "status", "constraints"})
"""What is dropped last: it alone constrains what is done next, so its worth does not shrink with the room."""
WIDE_TOKENS = 6_000
"""From this room on a context has place for sentences; in a narrower one they are worth less against names, since a
name that is gone can't even be asked for, while a block that is there can be opened."""
NARROW_WORTH = 0.3

AGAIN_WORTH = (1.0, 0.4, 0.15)
"""The share of a name's worth where it stands already once, or twice: beside other company it says something new."""


class Offer(Struct, frozen=True, kw_only=True):
    """What one place of the context could show."""

    lines: tuple[tuple[SectionName, Line], ...]
    limit: int | None = None
    """What its lines and names may cost at the most; None: as much as there is."""
    standing: bool = False
    """The lines are shown in any case and paid for already; only the names that may follow them are open."""


class _Candidate(Struct, kw_only=True):
    """A line that may be shown, and how far its names are."""

    offer: int
    section: SectionName
    line: Line
    cost: int
    """Of the line without the names that may follow it."""
    said: tuple[str, ...]
    """The names that stand in the line itself."""
    names: list[tuple[str, float, int]]
    """The names that may follow it with value and cost, the best value for cost first."""
    next: int = 0
    """The place in `names` of the first that was not offered yet."""
    chosen: list[str] | None = None
    """The names that follow it, once it is chosen."""


class _Costs(dict[str, int]):
    """What each name costs behind others, counted once."""

    def __init__(self, count: Count) -> None:
        self._count = count

    def __missing__(self, name: str) -> int:
        cost = self[name] = self._count(f" {name}")
        return cost


def _least_dense(name: tuple[str, float, int]) -> float:
    return -name[1] / name[2]


class Allotter:
    """Chooses what `offers` show; `end` is the path's last position.

    `standing` are the names that the context shows already (in verbatim messages); `room` is what there is for all.
    """

    def __init__(
        self, offers: Sequence[Offer], room: int, count: Count, *, end: int, standing: Iterable[str] = ()
    ) -> None:
        """Weigh every name of the offers."""
        narrow = min(max(room / WIDE_TOKENS, NARROW_WORTH), 1.0)
        self.worth = {name: worth if name in KEPT_LAST else worth * narrow for name, worth in WORTH.items()}
        self.offers = offers
        self.count = count
        self.values = _values(offers, end)
        self.standing = Counter(standing)
        self.left = [offer.limit if offer.limit is not None else room for offer in offers]
        self.headed: set[tuple[int, SectionName]] = set()
        self.costs = _Costs(count)
        self.candidates = [
            self._candidate(number, section, line)
            for number, offer in enumerate(offers)
            for section, line in offer.lines
        ]

    def _candidate(self, number: int, section: SectionName, line: Line) -> _Candidate:
        said = say(section, line, ())
        shown = self.offers[number].standing
        values, costs = self.values, self.costs
        names = [(name := mention.name, values[name], costs[name]) for mention in line.names]
        names.sort(key=_least_dense)
        return _Candidate(
            offer=number,
            section=section,
            line=line,
            cost=0 if shown else self.count(said) + 1,
            said=() if shown else tuple(artifacts(said)),
            names=names,
            chosen=[] if shown else None,
        )

    def fill(self, room: int) -> int:
        """Choose until nothing more fits into `room`; returns what was spent.

        May be called again with what turned out to be left: names cost less in a line than each alone.
        """
        spent = 0
        for candidate in self.candidates:
            candidate.next = 0
        heap = [(-self._next(candidate, room)[0], place) for place, candidate in enumerate(self.candidates)]
        heapq.heapify(heap)
        while heap:
            promised, place = heapq.heappop(heap)
            candidate = self.candidates[place]
            density, cost, names = self._next(candidate, min(room - spent, self.left[candidate.offer]))
            if not cost:
                continue
            # What was chosen meanwhile may have made it worth less: then it waits its turn again.
            if density < -promised and heap and density < -heap[0][0]:
                heapq.heappush(heap, (-density, place))
                continue
            spent += cost
            self.left[candidate.offer] -= cost
            self._choose(candidate, names)
            heapq.heappush(heap, (-self._next(candidate, room - spent)[0], place))
        return spent

    def _next(self, candidate: _Candidate, room: int) -> tuple[float, int, list[str]]:
        """Value for cost of what the candidate offers next: the line with its best names, or its next name."""
        if candidate.chosen is not None:
            return self._next_name(candidate, room)
        cost = candidate.cost
        if (candidate.offer, candidate.section) not in self.headed:
            cost += self.count(heading(candidate.section)) + 1
        if cost > room:
            return 0.0, 0, []
        value = self.worth[candidate.section] + 0.1 * candidate.line.weight
        value += sum(self._value(name) for name in candidate.said)
        names: list[str] = []
        for name, name_value, name_cost in candidate.names:
            if name in self.standing:
                continue
            worse = (value + name_value) * cost < value * (cost + name_cost)
            if worse or cost + name_cost > room:
                break
            value, cost = value + name_value, cost + name_cost
            names.append(name)
        if not names and candidate.line.names and not candidate.line.subject and candidate.section == "artifacts":
            return 0.0, 0, []  # It only leads in the names that follow it.
        return value / cost, cost, names

    def _next_name(self, candidate: _Candidate, room: int) -> tuple[float, int, list[str]]:
        """The next name that stands nowhere yet; when there is none, the best of those that stand elsewhere."""
        names = candidate.names
        while candidate.next < len(names):
            name, value, cost = names[candidate.next]
            if name not in self.standing and cost <= room:
                return value / cost, cost, [name]
            candidate.next += 1
        while candidate.next < 2 * len(names):
            name, _, cost = names[candidate.next - len(names)]
            value = self._value(name)
            if value and cost <= room and name not in (candidate.chosen or ()):
                return value / cost, cost, [name]
            candidate.next += 1
        return 0.0, 0, []

    def _value(self, name: str) -> float:
        return self.values.get(name, 0.0) * AGAIN_WORTH[min(self.standing[name], 2)]

    def _choose(self, candidate: _Candidate, names: list[str]) -> None:
        candidate.chosen = [*(candidate.chosen or ()), *names]
        self.headed.add((candidate.offer, candidate.section))
        self.standing.update(candidate.said)
        self.standing.update(names)

    def choices(self) -> Sequence[Choice]:
        """What was chosen of each offer, the names of a line in the order in which the line has them."""
        out: list[dict[SectionName, list[tuple[Line, Sequence[str]]]]] = [{} for _ in self.offers]
        for candidate in self.candidates:
            if candidate.chosen is not None:
                chosen = set(candidate.chosen)
                names = [mention.name for mention in candidate.line.names if mention.name in chosen]
                out[candidate.offer].setdefault(candidate.section, []).append((candidate.line, names))
        return out


def _values(offers: Sequence[Offer], end: int) -> Mapping[str, float]:
    """How likely each name is to be needed again: its weightiest use, the newer counting more, and some for others."""
    values: dict[str, float] = {}
    for offer in offers:
        for _, line in offer.lines:
            age = max(end - line.position, 0)
            fade = fading(age)
            for mention in line.names:
                value = fade(mention.weight)
                # Most names stand in one line alone.
                known = values.get(mention.name)
                values[mention.name] = value if known is None else both(known, value)
            said, worth = (line.subject, SUBJECT) if line.subject else (line.text, SAID)
            for name in artifacts(said):
                values[name] = both(values.get(name, 0.0), fade(worth))
    return values
