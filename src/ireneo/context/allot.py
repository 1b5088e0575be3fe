"""Choose which statements a context shows, over all of its blocks at once.

The choice is greedy by value per token. A statement's value is its weight, reduced by what its words repeat of what is
already shown; so the same fact is shown once, in the statement that says most about it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from math import fsum

from msgspec import Struct
from msgspec.structs import replace

from ireneo.language.words import artifacts, common_words, letters
from ireneo.log.message import CachedCount, Count
from ireneo.patterns import lazy_re
from ireneo.summaries.notes import BESIDE, WEIGHT_OF_WORTH
from ireneo.summaries.outcomes import is_overturned, last_successes
from ireneo.summaries.summary import ABOUT, BestFirst, Choice, Line, SectionName, Strategy, Summary
from ireneo.summaries.tell_code import SEARCHES
from ireneo.summaries.work import WORK

BARE = 0.25
"""Share of its weight that a statement keeps when everything it names is already shown."""
SHOWN_AGAIN = (1.0, 0.35, 0.12)
"""The factor of a word that is not shown yet, shown once, or shown more often."""
LASTING: frozenset[SectionName] = frozenset(
    {"dead_ends", "direction", "asked", "pending", "state", "open", "constraints"}
)
"""Sections that constrain the next steps."""
STEM = 7
"""Words are compared by this many first letters."""
SHORT = 3
"""Words of at most this many letters are ignored."""
LENGTH = 0.85
"""Exponent of a statement's cost: a statement of twice the length must be worth 1.8 times as much."""
FEW_TOKENS = 20
"""A cheaper statement is chosen as if it cost this much, since a few words say little."""
RULED_TOKENS = 40
"""Words of the user are chosen as if they cost at most this much."""
NOTE_TOKENS, LONG_NOTE = 40, 250
"""A model's note is chosen as if it had the first cost, whatever its length, since its writer weighed it. Of notes
of equal worth longer ones come first, up to the second length, so that short notes fill the rest."""
LONG_FACTOR, LASTING_FACTOR = 0.2, 1.15
"""The bonuses of a long note, and of what constrains the next steps: less than one step of a note's worth."""
BESIDE_WEIGHT, BESIDE_SHARE = 0.25, 0.03
"""A line of less weight in a model's block says little next to its notes: it needs this share of the room to be
left."""
NOTE_BARE = 0.9
"""`BARE` for a model's note: so high that its worth decides, and repetition only between notes of equal worth."""
BLOCK_TOKENS = 80
BLOCKS_SHARE, FEW_BLOCKS = 0.05, 10
ONE_BLOCK_SHARE = 0.2
"""Blocks that would otherwise be empty get `BLOCK_TOKENS` each, at most the first share of the room together, more if
there are more than a few; in a small room one block gets the second share."""
SUBJECT_TOKENS = 6
"""The cost of the line that names the subject of the statements under it."""


GOT_OVER = 0.6
"""The share of its weight that a failed check keeps once it has passed: it may still be asked why it failed."""


class PricedLine(Struct, frozen=True, kw_only=True, gc=False):
    """A line with its cost and terms, independent of any budget and of other lines."""

    section: SectionName
    line: Line
    cost: int
    """Tokens of the rendered line and its line break."""
    terms: frozenset[str]
    """The words and names of the line."""
    is_note: bool = False
    """Whether a model wrote the line, and rated it."""
    is_beside: bool = False
    """Whether the line only fills room that a model's notes leave."""
    on_words: bool = False
    """Whether the line is about words of the user that are shown verbatim next to its block."""


class _Block(Struct, frozen=True):
    summary: Summary
    statements: tuple[PricedLine, ...]
    succeeded: Mapping[str, int]
    """The last position at which each approach succeeded."""


class Statements:
    """The priced statements of summaries, for one tokenizer and strategy.

    Those of the last blocks are cached, since the next context shows nearly the same ones.
    """

    def __init__(self, count: Count, strategy: Strategy = WORK) -> None:
        self.count = count
        self.strategy = strategy
        self.recount = CachedCount(count)
        """For other texts that every rebuild repeats, such as pins."""
        self._kept: dict[str, _Block] = {}

    def clear(self) -> None:
        """Empty the cache."""
        self._kept = {}
        self.recount.clear()

    def keep(self, summaries: Iterable[Summary]) -> None:
        """Price the statements of these summaries, and remove those of all others from the cache."""
        self.recount.turn()
        self._kept = {summary.id: self._priced_block(summary) for summary in summaries}

    def last_success_positions(self, summaries: Iterable[Summary]) -> dict[str, int]:
        """Map each approach to the last position at which it succeeded."""
        out: dict[str, int] = {}
        for summary in summaries:
            for name, position in self._priced_block(summary).succeeded.items():
                out[name] = max(out.get(name, -1), position)
        return out

    def of(self, summary: Summary, done: Mapping[str, int]) -> Iterator[PricedLine]:
        """Yield a block's statements, without failures of approaches that were `done` later; such checks weigh less."""
        for statement in self._priced_block(summary).statements:
            if statement.section not in ("dead_ends", "operations") or not is_overturned(statement.line, done):
                yield statement
            elif "check" in dict(statement.line.verbs):
                text = f"{statement.line.text.rstrip('.')}; it passed later."
                line = replace(statement.line, text=text, weight=statement.line.weight * GOT_OVER)
                yield self.price("operations", line)

    def price(self, section: SectionName, line: Line, *, noted: bool = False) -> PricedLine:
        """Render a line and count its tokens; `noted` says that its block has a model's notes."""
        written = self.strategy.say(section, line, ())
        return PricedLine(
            section=section,
            line=line,
            cost=self.count(written) + 1,
            terms=terms(written),
            is_note=noted and line.weight >= WEIGHT_OF_WORTH,
            is_beside=noted and line.weight < BESIDE_WEIGHT,
        )

    def _priced_block(self, summary: Summary) -> _Block:
        known = self._kept.get(summary.id)
        # The stretch may have a new summary, so the id alone is not enough.
        if known is not None and (known.summary is summary or known.summary == summary):
            return known
        statements = tuple(
            self.price(name, line, noted=summary.is_written)
            for name in self.strategy.sections(summary.level)
            # Pins and state are shown once for all blocks.
            if name not in ("constraints", "state", "open")
            for line in summary.lines(name)
            if line.weight
        )
        on_words = (self.price("asked", line, noted=True) for line in summary.lines(BESIDE))
        statements = (*statements, *(replace(each, on_words=True) for each in on_words))
        return _Block(summary, statements, last_successes(summary.lines("operations"), summary.lines("artifacts")))


# Every rebuild reads nearly the same lines.
@lru_cache(maxsize=4_096)
def _names_in(text: str) -> frozenset[str]:
    return frozenset(artifacts(text))


@lru_cache(maxsize=4_096)
def terms(text: str) -> frozenset[str]:
    """The stemmed words of a statement and the names in it."""
    words = {word[:STEM] for word in map(str.lower, letters(text)) if len(word) > SHORT and word not in common_words()}
    return frozenset(words).union(artifacts(text))


class LineOffer(Struct, frozen=True, kw_only=True):
    """The lines that one place of the context could show."""

    statements: tuple[PricedLine, ...]
    limit: int | None = None
    """The maximum number of tokens of its lines; None: no limit."""


def without_pinned(offer: LineOffer, pinned: str) -> LineOffer:
    """Remove the user's words from an offer that `pinned` contains verbatim as a whole line."""
    lines = {line.removeprefix("- ").partition(" · m_")[0].strip().rstrip(".!").lower() for line in pinned.splitlines()}

    def is_pinned(statement: PricedLine) -> bool:
        said = statement.line
        answered = f'"{said.subject}"="{said.text}"'
        return statement.section == "direction" and bool(
            {said.text.strip().rstrip(".!").lower(), answered.lower()} & lines
        )

    def without_words(statement: PricedLine) -> PricedLine:
        """A choice without the words of the user that stand as a pin."""
        said, quoted, words = statement.line.text.rpartition(": “")
        pinned_too = quoted and statement.section == "strategy" and words.rstrip("”.!").lower() in lines
        return replace(statement, line=replace(statement.line, text=said)) if pinned_too else statement

    return replace(
        offer, statements=tuple(map(without_words, (each for each in offer.statements if not is_pinned(each))))
    )


SPOKEN: frozenset[SectionName] = frozenset({"strategy", "discoveries", "direction", "dead_ends"})
UNSPOKEN, ALL_SPOKEN = 0.1, 0.9
"""Factors for statements about things only read: if none of their words is mentioned elsewhere, and if all are."""
SEARCHED, MOST_SEARCHED = 0.7, 2
"""How much more it is worth for each name that was searched for, up to this many names."""
NEWEST, AGES = 0.5, 8
"""What was said and done last counts by the first more; the power says how soon that fades."""
_CODE = lazy_re(r"^(?:\w+: )?`(?P<code>[^`]{12,})`")


def _said_by(statement: PricedLine) -> str:
    """What a statement says: the code in it, which may stand in several places, or all of it."""
    found = _CODE.match(statement.line.text) if statement.section in ABOUT else None
    return found["code"] if found else statement.line.text


class Allotter:
    """Chooses what `offers` show within `room` tokens.

    `standing` are the terms of messages shown verbatim.
    """

    def __init__(
        self, offers: Sequence[LineOffer], room: int, statements: Statements, standing: Iterable[str] = ()
    ) -> None:
        self.offers = offers
        self.statements = statements

        self.room = room
        self.left = [room if offer.limit is None else offer.limit for offer in offers]
        self.candidates = [(number, each) for number, offer in enumerate(offers) for each in offer.statements]
        self.chosen: set[int] = set()
        self._shown: Counter[str] = Counter(standing)
        self._said: set[str] = set()

        self._headed: set[tuple[int, str]] = set()
        spoken: Counter[str] = Counter()
        for _, statement in self.candidates:
            spoken.update(statement.terms)
        many = len(self.candidates)
        self._rarity = {term: math.log(1 + many / times) for term, times in spoken.items()}
        # A set's order differs between processes; `fsum` doesn't depend on it.
        self._all = [fsum(map(self._rarity.__getitem__, each.terms)) or 1.0 for _, each in self.candidates]
        strategy, count = statements.strategy, statements.count
        styles = {**strategy.sections("goal"), **strategy.sections("turn")}
        self._headings = {name: (style.heading, count(style.heading) + 1) for name, style in styles.items()}
        self._use = self._use_factors()
        self._worth = {name: strategy.worth(name) for name in {statement.section for _, statement in self.candidates}}

    def _use_factors(self) -> list[float]:
        """The factor of each statement. Of things only read, questions ask for those also searched for or mentioned."""
        spoken: set[str] = set()
        searched: set[str] = set()
        for _, statement in self.candidates:
            if not (subject := statement.line.subject):
                spoken.update(statement.terms if statement.section in SPOKEN else ())
            elif subject.startswith(SEARCHES):
                searched |= terms(subject)
        last = max((statement.line.position for _, statement in self.candidates), default=0)
        return [
            self._use_factor(statement, spoken, searched)
            * (1 + NEWEST * (max(statement.line.position, 0) / max(last, 1)) ** AGES)
            for _, statement in self.candidates
        ]

    @staticmethod
    def _use_factor(statement: PricedLine, spoken: Collection[str], searched: Collection[str]) -> float:
        if statement.section != "discoveries" or not statement.line.subject or statement.is_note:
            return 1.0
        share = sum(term in spoken for term in statement.terms) / max(len(statement.terms), 1)
        names = sum(name in searched for name in _names_in(statement.line.text))
        return (UNSPOKEN + (ALL_SPOKEN - UNSPOKEN) * share) * (1 + SEARCHED * min(names, MOST_SEARCHED))

    def fill(self, room: int) -> int:
        """Choose until nothing more fits into `room`; returns the tokens spent. May be called again with the rest."""
        # Nobody can judge an empty block.
        silent = self._empty_offers()
        share = BLOCKS_SHARE * max(len(silent) / FEW_BLOCKS, 1)
        held = max(int(room * share), min(BLOCK_TOKENS, int(room * ONE_BLOCK_SHARE)))
        spent = self._fill_empty_offers(min(BLOCK_TOKENS * len(silent), held), silent)
        return spent + self._choose_statements(room - spent)

    def choices(self) -> Sequence[Choice]:
        """The chosen lines of each offer."""
        out: list[dict[SectionName, list[tuple[Line, Sequence[str]]]]] = [{} for _ in self.offers]
        for place, (number, statement) in enumerate(self.candidates):
            if place in self.chosen:
                out[number].setdefault(statement.section, []).append((statement.line, ()))
        return out

    def _choose_statements(self, room: int) -> int:
        spent = 0

        def worth(place: int) -> float | None:
            number, statement = self.candidates[place]
            if _said_by(statement) in self._said:
                return None
            if statement.is_beside and room - spent < self.room * BESIDE_SHARE:
                return None
            cost = self._cost(place)
            return self._value_per_cost(place, cost) if cost <= min(room - spent, self.left[number]) else None

        open_places = [place for place in range(len(self.candidates)) if place not in self.chosen]
        waiting = BestFirst(enumerate(self._value_per_cost(place, self._cost(place)) for place in open_places))
        while (at := waiting.take(lambda at: worth(open_places[at]))) is not None:
            spent += self._choose(open_places[at])
        return spent

    def _empty_offers(self) -> set[int]:
        """The offers from which nothing is chosen, although something could be."""
        return {number for number, _ in self.candidates} - {self.candidates[place][0] for place in self.chosen}

    def _fill_empty_offers(self, room: int, silent: set[int]) -> int:
        """Spend `room` on the best statement of each `silent` offer."""
        spent = 0
        open_places = [place for place, (number, _) in enumerate(self.candidates) if number in silent]
        for place in sorted(open_places, key=lambda each: -self._value_per_cost(each, self._cost(each))):
            number, statement = self.candidates[place]
            fits = self._cost(place) <= min(room - spent, self.left[number])
            if number in silent and fits and _said_by(statement) not in self._said:
                spent += self._choose(place)
                silent.discard(number)
        return spent

    def _choose(self, place: int) -> int:
        number, statement = self.candidates[place]
        cost = self._cost(place)
        self.left[number] -= cost
        self.chosen.add(place)
        self._shown.update(statement.terms)
        self._said.add(_said_by(statement))
        if statement.section == "dead_ends":
            # A dead end quotes the sentence with which it was given up.
            self._said.update(other.line.text for _, other in self.candidates if other.line.text in statement.line.text)
        self._headed.update(self._needed_headings(place))
        return cost

    def _needed_headings(self, place: int) -> Iterator[tuple[int, str]]:
        """The lines that must precede a statement: the heading of its section, and its subject."""
        number, statement = self.candidates[place]
        if statement.section in self._headings and self._headings[statement.section][0]:
            yield number, self._headings[statement.section][0]
        if statement.line.subject and statement.section in ABOUT:
            yield number, f" {statement.line.subject}"

    def _cost(self, place: int) -> int:
        section = self.candidates[place][1].section
        cost = self.candidates[place][1].cost
        for head in self._needed_headings(place):
            if head not in self._headed:
                cost += SUBJECT_TOKENS if head[1][0] == " " else self._headings[section][1]
        return cost

    def _value_per_cost(self, place: int, cost: int) -> float:
        is_note = self.candidates[place][1].is_note
        counted: float = NOTE_TOKENS if is_note else max(cost, FEW_TOKENS)
        if self.candidates[place][1].section == "direction":
            counted = min(counted, RULED_TOKENS)
        counted **= LENGTH
        longer = 1 + LONG_FACTOR * min(cost / LONG_NOTE, 1) if is_note else 1.0
        return self._value(place) * longer / counted

    def _value(self, place: int) -> float:
        statement = self.candidates[place][1]
        shown, rarity = self._shown, self._rarity
        fresh = fsum(rarity[term] * SHOWN_AGAIN[min(shown[term], 2)] for term in statement.terms)
        bare = NOTE_BARE if statement.is_note else BARE
        value = statement.line.weight * self._worth[statement.section] * (bare + (1 - bare) * fresh / self._all[place])
        value *= self._use[place]
        return value * (LASTING_FACTOR if statement.section in LASTING else 1)
