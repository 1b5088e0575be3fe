"""Which lines and names a context shows: the most needed for their cost, over all of it at once.

A greedy choice by value for cost. A name counts where it is first chosen and nowhere else, so that each artifact
stands once, in the line that says most about it together with the others that it was used with.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from operator import truediv

from msgspec import Struct

from ireneo.grounding.claims import artifacts
from ireneo.log.message import Count, Recount
from ireneo.summaries.summary import Choice, Line, SectionName, Strategy, Summary
from ireneo.summaries.tell_work import AGAIN, SAID, SUBJECT, both, faded, overturned, succeeded
from ireneo.summaries.work import WORK

DONE: tuple[SectionName, ...] = ("operations", "artifacts")
"""The sections that tell how an operation ended."""


class PricedLine(Struct, frozen=True, kw_only=True, gc=False):
    """A line of a section, with what it costs and names: nothing that depends on a budget, or on other lines."""

    section: SectionName
    line: Line
    cost: int
    """Of the line without the names that may follow it, with the break behind it."""
    said: tuple[str, ...]
    """The names that stand in the line as it is written."""
    about: tuple[str, ...]
    """The names in its subject, or in its text where it has none."""
    about_worth: float
    """What each of these is worth."""
    names: tuple[str, ...]
    """The names that may follow it, as the line has them."""
    weights: tuple[float, ...]
    """How likely each of them is to be needed again."""
    costs: tuple[int, ...]
    """What each of them costs behind others."""


class _Block(Struct, frozen=True):
    """What is known of a summary."""

    summary: Summary
    statements: tuple[PricedLine, ...]
    succeeded: Mapping[str, int]
    """Where each approach succeeded last within it."""


class Statements:
    """The statements of summaries as one tokenizer counts them.

    Kept are those of the blocks that were asked for last, since the next context shows nearly the same ones.
    """

    def __init__(self, count: Count, strategy: Strategy = WORK) -> None:
        """Begin with nothing."""
        self.count = count
        self.strategy = strategy
        self.recount = Recount(count)
        """For what rebuilds say again besides, such as pins."""
        self._kept: dict[str, _Block] = {}

    def clear(self) -> None:
        """Let go of everything."""
        self._kept = {}
        self.recount.clear()

    def keep(self, summaries: Iterable[Summary]) -> None:
        """Look through these summaries, those alone that were not asked for last; the others are let go of."""
        self.recount.turn()
        self._kept = {summary.id: self._block(summary) for summary in summaries}

    def done(self, summaries: Iterable[Summary]) -> dict[str, int]:
        """Where each approach succeeded last."""
        out: dict[str, int] = {}
        for summary in summaries:
            for name, position in self._block(summary).succeeded.items():
                out[name] = max(out.get(name, -1), position)
        return out

    def of(self, summary: Summary, done: Mapping[str, int]) -> Iterator[PricedLine]:
        """The statements of a block; a dead end of an approach that was `done` later is none."""
        for statement in self._block(summary).statements:
            if statement.section != "dead_ends" or not overturned(statement.line, done):
                yield statement

    def state(self, section: SectionName, line: Line) -> PricedLine:
        """What a line says and costs."""
        written = self.strategy.say(section, line, ())
        about, worth = (line.subject, SUBJECT) if line.subject else (line.text, SAID)
        names = tuple(mention.name for mention in line.names)
        return PricedLine(
            section=section,
            line=line,
            cost=self.count(written) + 1,
            said=tuple(artifacts(written)),
            about=tuple(artifacts(about)),
            about_worth=worth,
            names=names,
            weights=tuple(mention.weight for mention in line.names),
            costs=tuple(self.count(f" {name}") for name in names),
        )

    def _block(self, summary: Summary) -> _Block:
        known = self._kept.get(summary.id)
        # The same stretch may have been summarised anew meanwhile: an id alone tells nothing.
        if known is not None and (known.summary is summary or known.summary == summary):
            return known
        statements = tuple(
            self.state(name, line)
            for name in self.strategy.sections(summary.level)
            # The constraints of all blocks stand together, in a place of their own.
            if name != "constraints"
            for line in summary.lines(name)
        )
        done = succeeded(line for name in DONE for line in summary.lines(name))
        return _Block(summary, statements, done)


# Which lines and names a context shows: the most needed for their cost, over all of it at once.
#
# A greedy choice by value for cost. A name counts where it is first chosen and nowhere else, so that each artifact
# stands once, in the line that says most about it together with the others that it was used with.


KEPT_LAST: frozenset[SectionName] = frozenset({"dead_ends", "status", "constraints"})
"""What is dropped last: it alone constrains what is done next, so its worth does not shrink with the room."""
WIDE_TOKENS = 6_000
"""From this room on a context has place for sentences; in a narrower one they are worth less against names, since a
name that is gone can't even be asked for, while a block that is there can be opened."""
NARROW_WORTH = 0.3

AGAIN_WORTH = (1.0, 0.4, 0.15)
"""The share of a name's worth where it stands already once, or twice: beside other company it says something new."""


class BestFirst:
    """What may be chosen, that first which is worth most for its cost."""

    def __init__(self, promised: Iterable[float]) -> None:
        """Begin with what each is worth as long as nothing is chosen, by its place."""
        self._heap = [(-value, place) for place, value in enumerate(promised)]
        heapq.heapify(self._heap)

    def put(self, place: int, value: float) -> None:
        """Put one in again."""
        heapq.heappush(self._heap, (-value, place))

    def take(self, worth: Callable[[int], float | None]) -> int | None:
        """Take out the place of the best, by what it is `worth` now; one that is worth None is left out."""
        while self._heap:
            promised, place = heapq.heappop(self._heap)
            value = worth(place)
            if value is None:
                continue
            # What was chosen meanwhile may have made it worth less: then it waits its turn again.
            if value < -promised and self._heap and value < -self._heap[0][0]:
                self.put(place, value)
                continue
            return place
        return None


class LineOffer(Struct, frozen=True, kw_only=True):
    """What one place of the context could show."""

    statements: tuple[PricedLine, ...]
    limit: int | None = None
    """What its lines and names may cost at the most; None: as much as there is."""
    standing: bool = False
    """The lines are shown in any case and paid for already; only the names that may follow them are open."""


class _Candidate(Struct, kw_only=True):
    """A line that may be shown, and how far its names are."""

    offer: int
    statement: PricedLine
    cost: int
    """Of the line without the names that may follow it."""
    said: tuple[str, ...]
    """The names that stand in the line itself."""
    values: list[float]
    """Of the names that may follow it."""
    order: list[int]
    """The places of these names in the line, the best value for cost first."""
    least: int
    """What the cheapest of them costs."""
    open: int = 0
    """The place in `order` of the first that may stand nowhere yet."""
    next: int = 0
    """The place in `order` of the first that was not offered yet."""
    chosen: dict[str, None] | None = None
    """The names that follow it, once it is chosen."""


class Allotter:
    """Chooses what `offers` show; `end` is the path's last position.

    `standing` are the names that the context shows already (in verbatim messages); `room` is what there is for all.
    """

    def __init__(
        self, offers: Sequence[LineOffer], room: int, statements: Statements, *, end: int, standing: Iterable[str] = ()
    ) -> None:
        """Weigh every name of the offers."""
        narrow = min(max(room / WIDE_TOKENS, NARROW_WORTH), 1.0)
        self.offers = offers
        self.values = _values(offers, end)
        self.standing: dict[str, int] = dict(Counter(standing))
        """How often each name stands already."""
        self.left = [offer.limit if offer.limit is not None else room for offer in offers]
        self.headed: set[tuple[int, SectionName]] = set()
        sections = {statement.section for offer in offers for statement in offer.statements}
        strategy, count = statements.strategy, statements.count
        self.worth = {name: strategy.worth(name) * (1.0 if name in KEPT_LAST else narrow) for name in sections}
        styles = {**strategy.sections("goal"), **strategy.sections("turn")}
        self.headings = {name: count(styles[name].heading) + 1 if name in styles else 0 for name in sections}
        self.candidates = [
            self._candidate(number, statement, shown=offer.standing)
            for number, offer in enumerate(offers)
            for statement in offer.statements
        ]

    def _candidate(self, number: int, statement: PricedLine, *, shown: bool) -> _Candidate:
        values = list(map(self.values.__getitem__, statement.names))
        densities = list(map(truediv, values, statement.costs))
        # Names of one density keep the order in which the line has them.
        best_first = sorted(range(len(values)), key=densities.__getitem__, reverse=True)
        return _Candidate(
            offer=number,
            statement=statement,
            cost=0 if shown else statement.cost,
            said=() if shown else statement.said,
            values=values,
            order=best_first,
            least=min(statement.costs, default=0),
            chosen={} if shown else None,
        )

    def fill(self, room: int) -> int:
        """Choose until nothing more fits into `room`; returns what was spent.

        May be called again with what turned out to be left: names cost less in a line than each alone.
        """
        spent = 0
        for candidate in self.candidates:
            candidate.next = 0
        offered: dict[int, tuple[int, list[str]]] = {}

        def worth(place: int) -> float | None:
            candidate = self.candidates[place]
            density, cost, names = self._next(candidate, min(room - spent, self.left[candidate.offer]))
            offered[place] = cost, names
            return density if cost else None

        waiting = BestFirst([self._next(candidate, room)[0] for candidate in self.candidates])
        while spent < room and (place := waiting.take(worth)) is not None:
            candidate = self.candidates[place]
            cost, names = offered[place]
            spent += cost
            self.left[candidate.offer] -= cost
            self._choose(candidate, names)
            # A line that has nothing more to offer won't have it later: names only come to stand, and room to be spent.
            following, cost, _ = self._next_name(candidate, room - spent)
            if cost:
                waiting.put(place, following)
        return spent

    def _next(self, candidate: _Candidate, room: int) -> tuple[float, int, list[str]]:
        """Value for cost of what the candidate offers next: the line with its best names, or its next name."""
        if candidate.chosen is not None:
            return self._next_name(candidate, room)
        statement = candidate.statement
        section, line = statement.section, statement.line
        cost = candidate.cost
        if (candidate.offer, section) not in self.headed:
            cost += self.headings[section]
        if cost > room:
            return 0.0, 0, []
        value = self.worth[section] + 0.1 * line.weight
        if candidate.said:
            value += sum(map(self._value, candidate.said))
        standing, order, first = self.standing, candidate.order, candidate.open
        offered, values, costs = statement.names, candidate.values, statement.costs
        # The best names are shown first, wherever they stand: most of the beginning is behind us.
        while first < len(order) and offered[order[first]] in standing:
            first += 1
        candidate.open = first
        names: list[str] = []
        for place in islice(order, first, None):
            name = offered[place]
            if name in standing:
                continue
            more, dearer = value + values[place], cost + costs[place]
            if more * cost < value * dearer or dearer > room:
                break
            value, cost = more, dearer
            names.append(name)
        if not names and line.names and not line.subject and section == "artifacts":
            return 0.0, 0, []  # It only leads in the names that follow it.
        return value / cost, cost, names

    def _next_name(self, candidate: _Candidate, room: int) -> tuple[float, int, list[str]]:
        """The next name that stands nowhere yet; when there is none, the best of those that stand elsewhere."""
        if room < candidate.least:
            return 0.0, 0, []
        names, costs, order = candidate.statement.names, candidate.statement.costs, candidate.order
        standing, number = self.standing, len(order)
        for at in range(candidate.next, number):
            place = order[at]
            if names[place] not in standing and (cost := costs[place]) <= room:
                candidate.next = at
                return candidate.values[place] / cost, cost, [names[place]]
        chosen = candidate.chosen or {}
        for at in range(max(candidate.next - number, 0), number):
            name, cost = names[order[at]], costs[order[at]]
            if cost <= room and name not in chosen and (value := self._value(name)):
                candidate.next = number + at
                return value / cost, cost, [name]
        candidate.next = 2 * number
        return 0.0, 0, []

    def _value(self, name: str) -> float:
        return self.values.get(name, 0.0) * AGAIN_WORTH[min(self.standing.get(name, 0), 2)]

    def _choose(self, candidate: _Candidate, names: list[str]) -> None:
        if candidate.chosen is None:
            candidate.chosen = {}
        candidate.chosen.update(dict.fromkeys(names))
        self.headed.add((candidate.offer, candidate.statement.section))
        standing = self.standing
        for name in (*candidate.said, *names):
            standing[name] = standing.get(name, 0) + 1

    def choices(self) -> Sequence[Choice]:
        """What was chosen of each offer, the names of a line in the order in which the line has them."""
        out: list[dict[SectionName, list[tuple[Line, Sequence[str]]]]] = [{} for _ in self.offers]
        for candidate in self.candidates:
            chosen, statement = candidate.chosen, candidate.statement
            if chosen is not None:
                names = [name for name in statement.names if name in chosen] if chosen else []
                out[candidate.offer].setdefault(statement.section, []).append((statement.line, names))
        return out


def _values(offers: Sequence[LineOffer], end: int) -> Mapping[str, float]:
    """How likely each name is to be needed again: its weightiest use, the newer counting more, and some for others."""
    # A use beside none is worth what it is worth alone.
    values: defaultdict[str, float] = defaultdict(float)
    again = AGAIN
    for offer in offers:
        for statement in offer.statements:
            age = max(end - statement.line.position, 0)
            for name, value in zip(statement.names, faded(statement.weights, age), strict=True):
                known = values[name]
                # `both`, written out: there are tens of thousands.
                values[name] = known + again * value if known >= value else value + again * known
            if statement.about:
                (worth,) = faded([statement.about_worth], age)
                for name in statement.about:
                    values[name] = both(values[name], worth)
    return values
