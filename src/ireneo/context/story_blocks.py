"""How the past of a story is shown in a given room: the best sentences over all its blocks at once.

A greedy choice by value for cost, as for the work of an agent (`ireneo.context.allot`), with two differences. A story
has no sections that outrank others. And its blocks cover very unequal stretches, so each has a share of the room, in
equal parts for the periods of its stretch; the more of a part is spent, the less a sentence of that period is worth.

A model's text is coherent, and each of its sentences can stand alone, with the worth that the model gave it. So a wide
context shows all of it, and opens the texts that cover most into finer ones as far as there is room; a narrow one shows
the main point of each.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from ireneo.language.words import terms
from ireneo.log.message import Count
from ireneo.summaries.by_hand import BY_WHOM
from ireneo.summaries.policy import Policy, StorySettings
from ireneo.summaries.speech import WORDS
from ireneo.summaries.story import StoryStrategy, story_strategy
from ireneo.summaries.summary import (
    BestFirst,
    Line,
    Section,
    SectionName,
    Strategy,
    Summary,
    SummaryId,
    Writing,
    header,
    render,
)
from ireneo.summaries.tell_story import is_recap, passage_size

TOLD_AS_STORY = StoryStrategy(StorySettings())

DEPTH = 0.7
"""A block's share of the room grows with its number of messages to this power: with 1 the newest would be empty,
with 0 a thousand messages would get no more room than ten."""
FLOOR = 0.25
"""The part of an even share of the room that each block gets, whatever it covers."""
RECAPPED, OLD = 5.0, 0.2
"""The weight of a recap's passage that is all news, and the factor for one without a new term; between them the weight
grows with the square of what is new. Passages of a recap are shown together, before most others."""
WHOLE = 1.25
"""A coherent text without worths is shown whole at up to this many times the block's share."""
PERIOD_TOKENS = 200
"""A block with a larger share is divided into periods, each with about this much room."""
SAME, SAME_IN_MUCH = 0.6, 0.45
"""Two statements are nearly the same if they share this much of the lesser one's words, weighted by rarity; the
second number applies if they share `MUCH_SHARED` rare words."""
LEAST_SHARED, MUCH_SHARED = 4, 8
"""The fewest rare words that nearly equal statements share, and how many count as much."""
SELDOM = 0.2
"""A word is rare if at most this share of all statements contains it."""
FULLER = 1.5
"""The earlier of two nearly equal statements is kept if it says this many times as much."""
SENTENCE_TOKENS, LINE_TOKENS = 40, 8
"""The cost in attention of each sentence of a model besides its tokens, without which fragments would win, and of each
line that rules chose."""
EVENLY = 0.5
"""How strongly a period that has had its share gives way to others; with 1 the idle ones would get as much as any."""


class _StoryPiece(Struct, kw_only=True):
    """A sentence that a block may show."""

    node: int
    period: int = 0
    """The part of its block's stretch that it comes from."""
    cost: int
    line: Line
    own: float
    """The worth of the sentence by itself."""
    terms: frozenset[str] = frozenset()
    """The terms of the sentence, by which repetitions are known; a model's text has none."""


def tell_blocks(
    nodes: Sequence[Summary],
    room: int,
    count: Count,
    *,
    doubts: Mapping[SummaryId, str] | None = None,
    strategy: Strategy = TOLD_AS_STORY,
) -> list[str]:
    """The text of each node's block, in order; together, a line apart, they cost `room` tokens at the most by `count`.

    `doubts` has the reasons for disputed nodes. Without room for all headers, the blocks that cover the fewest messages
    are empty.
    """
    telling = _BlockFiller(nodes, room, count, doubts or {}, strategy)
    telling.fill()
    telling.recount_room()
    telling.fill()
    return telling.texts()


class _BlockFiller:
    """The state of the choice: the pieces chosen, and the room left."""

    def __init__(
        self, nodes: Sequence[Summary], room: int, count: Count, doubts: Mapping[SummaryId, str], strategy: Strategy
    ) -> None:
        self.strategy = strategy
        self.nodes = nodes
        self.room = room
        self.count = count
        self.doubts = doubts
        self.heads = [count(header(node, doubts.get(node.id, ""))) + 1 for node in nodes]
        self.shown = self._nodes_with_header()
        self.left = room - sum(self.heads[number] for number in self.shown)
        self.shares = self._node_shares()
        self.periods = [max(int(share / PERIOD_TOKENS), 1) for share in self.shares]
        self.recapped: set[str] = set()
        self.spent: Counter[tuple[int, int]] = Counter()
        self.chosen: list[_StoryPiece] = []
        self.costs: dict[str, int] = {}
        pieces = without_repetitions([piece for number in self.shown for piece in self._pieces(number)])
        whole = self._choose_whole_texts(pieces)
        self.open = [piece for piece in pieces if piece.node not in whole]

    def _nodes_with_header(self) -> list[int]:
        """The nodes whose header fits, those that cover most messages first."""
        left = self.room
        out: list[int] = []
        for number in sorted(range(len(self.nodes)), key=lambda number: (-self.nodes[number].messages, number)):
            if self.heads[number] <= left:
                left -= self.heads[number]
                out.append(number)
        return sorted(out)

    def _node_shares(self) -> list[float]:
        """The tokens of each node apart from its header."""
        out = [0.0] * len(self.nodes)
        even = self.left / max(len(self.shown), 1)
        weights = {number: block_weight(self.nodes[number]) for number in self.shown}
        for number, weight in weights.items():
            out[number] = max(even * FLOOR + self.left * (1 - FLOOR) * weight / sum(weights.values()), 1.0)
        return out

    def recount_room(self) -> None:
        """Count the room that is really left: sentences cost less together than separately."""
        self.left = max(self.left, self.room - self.count("\n\n".join(filter(None, self._render_blocks()))))

    def fill(self) -> None:
        """Choose until nothing more fits; may be called again with what turned out to be left."""
        pieces = self.open
        self.open = []

        def worth(place: int) -> float | None:
            if pieces[place].cost > self.left:
                self.open.append(pieces[place])
                return None
            return self._urgency(pieces[place])

        waiting = BestFirst(enumerate(map(self._urgency, pieces)))
        while (place := waiting.take(worth)) is not None:
            self._choose(pieces[place])

    def _choose_whole_texts(self, pieces: Sequence[_StoryPiece]) -> frozenset[int]:
        """Choose all coherent texts that fit into their share; returns their nodes."""
        texts: dict[int, list[_StoryPiece]] = {}
        for piece in pieces:
            if is_unweighted(self.nodes[piece.node]):
                texts.setdefault(piece.node, []).append(piece)
        out: set[int] = set()
        for number, text in texts.items():
            cost = sum(piece.cost for piece in text)
            if cost <= min(self.shares[number] * WHOLE, self.left):
                out.add(number)
                # The last chosen is removed first.
                for piece in sorted(text, key=lambda piece: -piece.own):
                    self._choose(piece)
        return frozenset(out)

    def _choose(self, piece: _StoryPiece) -> None:
        self.left -= piece.cost
        self.spent[piece.node, piece.period] += piece.cost
        self.chosen.append(piece)

    def _urgency(self, piece: _StoryPiece) -> float:
        share = self.shares[piece.node] / self.periods[piece.node]
        spent = self.spent[piece.node, piece.period] + 0.15 * piece.cost + 0.1 * share
        per_token = piece.own / (piece.cost + (LINE_TOKENS if piece.terms else SENTENCE_TOKENS))
        return per_token * math.pow(share / spent, EVENLY)

    def _pieces(self, number: int) -> Iterator[_StoryPiece]:
        node = self.nodes[number]
        told = is_model_written(node)
        for section, line in self._sentences(node):
            said = frozenset() if told else frozenset(terms(line.text))
            weight = line_worth(line, node) if told else line.weight
            if not told and is_recap(line):
                # A later recap often begins like the earlier ones.
                new = OLD + (1 - OLD) * len(said - self.recapped) / max(len(said), 1)
                weight = RECAPPED * passage_size(line.text) * new**2
                self.recapped |= said
            place = 0 if told else line.placed_at - node.first_position
            yield _StoryPiece(
                node=number,
                cost=self._cost(" " + self.strategy.say(section, line, ())),
                line=line,
                period=place * self.periods[number] // max(node.messages, 1),
                own=weight * self.strategy.worth(section),
                terms=said,
            )

    def _sentences(self, node: Summary) -> Iterator[tuple[SectionName, Line]]:
        for section in self.strategy.sections(node.level):
            if section != "artifacts":
                yield from ((section, line) for line in node.lines(section) if line.text)

    def _cost(self, text: str) -> int:
        if text not in self.costs:
            self.costs[text] = max(self.count(text), 1)
        return self.costs[text]

    def texts(self) -> list[str]:
        """Write the blocks out; the last chosen sentence is removed as long as the whole costs too much."""
        while True:
            out = self._render_blocks()
            over = self.count("\n\n".join(filter(None, out))) - self.room
            if over <= 0 or not self.chosen:
                return out
            while over > 0 and self.chosen:
                over -= self.chosen.pop().cost

    def _render_blocks(self) -> list[str]:
        told = {id(piece.line) for piece in self.chosen}
        out = [""] * len(self.nodes)
        for number in self.shown:
            node = self.nodes[number]
            choice: dict[SectionName, list[tuple[Line, Sequence[str]]]] = {}
            for section, line in self._sentences(node):
                if id(line) in told:
                    choice.setdefault(section, []).append((line, ()))
            out[number] = render(node, choice, self.strategy, self.doubts.get(node.id, ""))
        return out


def without_repetitions(pieces: Sequence[_StoryPiece]) -> list[_StoryPiece]:
    """Drop `pieces` that nearly repeat a later one, or an earlier one that is much fuller.

    Of equal words the last are kept, however often they are repeated.
    """
    said = [" ".join(WORDS.findall(piece.line.text.lower())) for piece in pieces]
    last = {words: place for place, words in enumerate(said)}
    pieces = [piece for place, piece in enumerate(pieces) if not piece.terms or last[said[place]] == place]
    found = Counter(term for piece in pieces for term in piece.terms)
    rarity = {term: math.log(len(pieces) / times) for term, times in found.items()}
    fullness = [math.fsum(rarity[term] for term in piece.terms) for piece in pieces]
    most = max(len(pieces) * SELDOM, 2.0)
    holding: dict[str, list[int]] = {}
    gone: set[int] = set()
    for place in sorted(range(len(pieces)), key=lambda place: -pieces[place].line.placed_at):
        shared: dict[int, list[float]] = {}
        for term in (term for term in pieces[place].terms if found[term] <= most):
            for later in holding.setdefault(term, []):
                shared.setdefault(later, []).append(rarity[term])
            holding[term].append(place)
        twins = []
        for later, weights in shared.items():
            least = (SAME_IN_MUCH if len(weights) >= MUCH_SHARED else SAME) * min(fullness[place], fullness[later])
            if later not in gone and len(weights) >= LEAST_SHARED and math.fsum(weights) >= least:
                twins.append(later)
        if all(fullness[place] > FULLER * fullness[later] for later in twins):
            gone.update(twins)
        else:
            gone.add(place)
    return [piece for place, piece in enumerate(pieces) if place not in gone]


def is_header_only(text: str) -> bool:
    """Whether the text of a block is only a header."""
    return bool(text) and not text.partition("\n")[2].strip()


def block_weight(node: Summary) -> float:
    """The weight of a block when the room is divided."""
    return float(node.messages ** (TOLD_DEPTH if is_model_written(node) else DEPTH))


def group_by_age(nodes: Sequence[Summary], most: int) -> list[Sequence[Summary]]:
    """Group adjacent summaries into at most `most` groups, which are longer the older they are.

    Those are joined first that are the smallest part of the story since their beginning.
    """
    groups = [[node] for node in nodes]
    while len(groups) > most:
        since = list(accumulate((sum(node.messages for node in group) for group in reversed(groups)), initial=0))[::-1]
        place = min(range(len(groups) - 1), key=lambda place: (1 - since[place + 2] / since[place], place))
        groups[place : place + 2] = [groups[place] + groups[place + 1]]
    return list(groups)


def even_groups(nodes: Sequence[Summary], most: int) -> list[Sequence[Summary]]:
    """Group adjacent summaries into at most `most` groups of about the same weight.

    So, if models wrote the summaries, no period gets less room because its headers would not fit.
    """
    weights = list(map(block_weight, nodes))
    groups: dict[int, list[Summary]] = {}
    before = 0.0
    for node, weight in zip(nodes, weights, strict=True):
        groups.setdefault(int(most * (before + weight / 2) / sum(weights)), []).append(node)
        before += weight
    return list(groups.values())


# Texts that models wrote.

TOLD_DEPTH = 0.85
"""Like `DEPTH`, if only the most important sentences of a stretch are shown: an old one then has more to say."""
TOLD_THREADS, TOLD_CAST = 0.06, 0.04
"""The shares of a context for open threads and the cast, most of which a model's text mentions as well."""
TOLD_LIVE = 0.35
"""The share of their usual room that the newest messages get, since a model's text on the past says more."""
TOLD_OPEN = 80
"""The maximum number of tokens for newest messages that don't fit verbatim: a line or two, until they are
summarised."""
EVEN = 5.0
"""The worth of an average sentence."""
STEEP = 3
"""The exponent of a sentence's worth: one of twice the worth is shown before average ones that cost much less."""
OVERFULL = 1.2
"""Text is offered for this many times the room; the least valuable is left out."""
TELLS_MORE = 1.1
"""A text is opened if the texts below it are worth this many times as much."""
MOSTLY = 0.75
"""The share that models must have summarised for a past to be treated as theirs: one failure must not hide the rest."""
UNTOLD_WORTH = 3.0
"""The worth of the best line of an offline text among texts by models."""
MOST_ROLLED = 64
"""The maximum number of texts that are joined into a deeper one that no model has written yet."""
MOST_LINES = 120
"""The maximum number of sentences of such a text."""
UNMARKED = "story-1/"
"""Prompts with this prefix didn't ask models for the worth of their sentences."""
Under: TypeAlias = Callable[[Summary], Sequence[tuple[Summary, Summary]]]
"""Gives the summaries directly below a summary, each with its text."""


def is_model_written(summary: Summary) -> bool:
    """Whether a model wrote the text of a summary, and was trusted."""
    return summary.writing is not None and summary.writing.trusted and bool(summary.lines("story"))


def is_unweighted(text: Summary) -> bool:
    """Whether a model wrote a text without saying what its sentences are worth, so that all rank equally."""
    return text.writing is not None and len({line.weight for line in text.lines("story")}) <= 1


def mostly_model_written(texts: Sequence[Summary]) -> bool:
    """Whether models wrote nearly all of `texts`, by the messages they cover; texts by hand count if all are."""
    texts = [text for text in texts if text.writing is None or text.writing.prompt != BY_WHOM] or texts
    told = sum(text.messages for text in texts if is_model_written(text))
    return bool(told) and told >= MOSTLY * sum(text.messages for text in texts)


def line_worth(line: Line, text: Summary) -> float:
    """The worth of a line in a model's text compared to others: the main point first."""
    return ((EVEN if _is_unmarked(text) else line.weight) / EVEN) ** STEEP


def _is_unmarked(text: Summary) -> bool:
    return text.writing is not None and text.writing.prompt.startswith(UNMARKED)


def _total_worth(text: Summary) -> float:
    return sum(line_worth(line, text) for line in text.lines("story"))


def summary_over(whole: Summary, parts: Sequence[Summary]) -> Summary:
    """A summary over adjacent ones, mostly by models, with the most important of their sentences."""
    lines = [line for part in parts for line in _comparable_lines(part)]
    best = sorted(range(len(lines)), key=lambda place: -lines[place].weight)[:MOST_LINES]
    others = tuple(section for section in whole.sections if section.name != "story")
    told = [part for part in parts if is_model_written(part)]
    written = [part.writing for part in sorted(told, key=_is_unmarked) if part.writing is not None]
    writing: Writing = replace(written[0], tokens_in=0, tokens_out=0, struck=0, repaired=False)
    story = Section(name="story", lines=tuple(lines[place] for place in sorted(best)))
    return replace(whole, sections=(story, *others), writing=writing)


def _comparable_lines(part: Summary) -> list[Line]:
    """The sentences of a text, weighted so that they are comparable with the sentences of other texts."""
    lines = [line for line in part.lines("story") if line.text]
    if _is_unmarked(part):
        return [replace(line, weight=EVEN) for line in lines]
    if is_model_written(part):
        return lines
    most = max((line.weight for line in lines), default=0.0) or 1.0
    return [replace(line, weight=UNTOLD_WORTH * line.weight / most) for line in lines]


def deepest_texts_under(node: Summary, under: Under) -> list[Summary]:
    """The deepest texts by models under `node`, if they cover nearly all of it; otherwise empty.

    So a stretch reads well from its first leaf on, before a model has written the whole, or where it failed. Leaves
    without a model's text are included.
    """
    out: list[Summary] = []
    waiting = list(reversed(under(node)))
    while waiting:
        each, text = waiting.pop()
        finer = under(each) if each.depth > 1 and not is_model_written(text) else ()
        if len(finer) < 2:
            out.append(text)
        elif len(out) + len(waiting) + len(finer) > MOST_ROLLED:
            return []
        else:
            waiting += reversed(finer)
    return out if mostly_model_written(out) else []


def open_texts(
    nodes: Sequence[Summary],
    texts: Sequence[Summary],
    under: Under,
    room: int,
    cost: Callable[[Summary], int],
    share: Callable[[Summary], float],
) -> list[Summary]:
    """The texts to show of `nodes`: those by a model are opened as long as there is room for the texts below them.

    The text that covers most and says least about it is opened first. `cost` is the cost of a text, and `share` its
    weight compared to the others.
    """
    shown = list(zip(nodes, texts, strict=True))
    costs = [cost(text) for text in texts]
    left = int(room * OVERFULL) - sum(costs)
    closed = {text.id for text in texts if not is_model_written(text) or text.depth < 2}
    while True:
        waiting = [place for place, (_, text) in enumerate(shown) if text.id not in closed]
        if not waiting:
            return [text for _, text in shown]
        place = max(waiting, key=lambda place: share(shown[place][1]) / max(costs[place], 1))
        node, text = shown[place]
        finer = under(node)
        finer_costs = [cost(each) for _, each in finer]
        more = sum(finer_costs) - costs[place]
        told = len(finer) > 1 and all(is_model_written(each) for _, each in finer)
        worth = sum(_total_worth(each) for _, each in finer) if told else 0.0
        if worth < TELLS_MORE * _total_worth(text) or more > left:
            closed.add(text.id)
            continue
        closed |= {each.id for _, each in finer if each.depth < 2}
        shown[place : place + 1], costs[place : place + 1] = finer, finer_costs
        left -= more


def text_cost(policy: Policy, count: Count) -> Callable[[Summary], int]:
    """A function for the tokens of the whole text of a summary."""
    strategy = story_strategy(policy)

    def cost(text: Summary) -> int:
        # Line by line, since counts of lines are cached between contexts.
        lines = sum(count(strategy.say("story", line, ())) for line in text.lines("story") if line.text)
        return count(header(text)) + lines

    return cost
