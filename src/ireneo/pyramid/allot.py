"""How the past of a story is shown in a given room: the best sentences and names over all its blocks at once.

A greedy choice by value for cost, as for the work of an agent (`ireneo.context.allot`), with two differences. A story
has no sections that outrank others, but prose that must stay one: names may only follow sentences. And its blocks
stand for very unequal stretches, so each has a share of the room, and what a block offers is worth the less the more
of its share is spent.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from ireneo.context.summary import Line, Summary, SummaryId
from ireneo.context.weigh import Count
from ireneo.patterns import lazy_re
from ireneo.pyramid.offline.names import key_words
from ireneo.pyramid.render import block, header, sentence

DEPTH = 0.7
"""A block's share of the room grows with the messages that it stands for to this power: with 1 the newest would be
silent, with 0 a thousand messages would have no more room than ten."""
FLOOR = 0.4
"""Of an even share of the room, each block has so much whatever it stands for."""
NAMES_SHARE = 0.4
"""Of what a block costs, its list of names is no more than this, as long as there are sentences: a story is read."""
AGAIN_WORTH = (1.0, 0.25, 0.1)
"""The share of a name's worth where it stands already once, or twice."""
TELLING = 3.0
"""What a sentence is worth in a wide context for what it tells, against the names in it."""
WIDE_TOKENS = 120
"""With so many tokens a block, a context has place for sentences; in a narrower one they are worth less against names,
since a name that is gone can't even be asked for, while a block that is there can be opened."""
NARROW = 0.3
"""Of what it tells, so much counts in the narrowest context."""
WHOLE = 1.25
"""What a model wrote is shown whole where it costs up to this many times the block's share: it was written as one."""
SENTENCE_TOKENS = 12
NAME_TOKENS = 2
"""What each sentence and each name takes of a reader's attention, beside what it costs: without it stumps would win."""
_WORD = lazy_re(r"[^\W_]+(?:['’-][^\W_]+)*")


class _Piece(Struct, kw_only=True):
    """A sentence or a name that a block may show."""

    node: int
    cost: int
    line: Line | None
    name: str
    words: tuple[tuple[str, float], ...]
    """The words of names in it, and what each is worth."""
    own: float
    """What it is worth whatever it names."""


def tell_blocks(
    nodes: Sequence[Summary],
    room: int,
    count: Count,
    *,
    said: Sequence[str] = (),
    doubts: Mapping[SummaryId, str] | None = None,
) -> list[str]:
    """The text of each node's block, in order; together, a line apart, they cost `room` tokens at the most by `count`.

    Names that stand in the texts `said` are worth less. `doubts` says of disputed nodes why they are. Where there is
    not even room for the headers, the blocks that stand for the fewest messages are empty.
    """
    telling = _Telling(nodes, room, count, said, doubts or {})
    telling.fill()
    telling.drop_repeated_names()
    telling.fill()
    return telling.texts()


class _Telling:
    """What is chosen so far, and what is left."""

    def __init__(
        self, nodes: Sequence[Summary], room: int, count: Count, said: Sequence[str], doubts: Mapping[SummaryId, str]
    ) -> None:
        self.nodes = nodes
        self.room = room
        self.count = count
        self.doubts = doubts
        self.heads = [count(header(node, doubts.get(node.id, ""))) + 1 for node in nodes]
        self.shown = self._with_header()
        self.left = room - sum(self.heads[number] for number in self.shown)
        self.shares = self._shares()
        even = self.left / max(len(self.shown), 1)
        self.telling = TELLING * min(max(even / WIDE_TOKENS, NARROW), 1.0)
        self.standing = Counter(_words_of(said))
        self.spent = [0] * len(nodes)
        self.on_names = [0] * len(nodes)
        self.chosen: list[_Piece] = []
        self.costs: dict[str, int] = {}
        pieces = [piece for number in self.shown for piece in self._pieces(number)]
        whole = self._tell_whole(pieces)
        self.open = [piece for piece in pieces if piece.line is None or piece.node not in whole]

    def _with_header(self) -> list[int]:
        """The nodes whose header there is room for, those that stand for most first."""
        left = self.room
        out: list[int] = []
        for number in sorted(range(len(self.nodes)), key=lambda number: (-self.nodes[number].messages, number)):
            if self.heads[number] <= left:
                left -= self.heads[number]
                out.append(number)
        return sorted(out)

    def _shares(self) -> list[float]:
        """What each node may spend beside its header, in tokens."""
        out = [0.0] * len(self.nodes)
        even = self.left / max(len(self.shown), 1)
        weights = {number: self.nodes[number].messages ** DEPTH for number in self.shown}
        for number, weight in weights.items():
            out[number] = max(even * FLOOR + self.left * (1 - FLOOR) * weight / sum(weights.values()), 1.0)
        return out

    def drop_repeated_names(self) -> None:
        """Take back the names that a sentence chosen after them has told."""
        told = set(_words_of([piece.line.text for piece in self.chosen if piece.line is not None]))
        kept: list[_Piece] = []
        for piece in self.chosen:
            if piece.line is None and all(word in told for word, _ in piece.words):
                self.left += piece.cost
                self.spent[piece.node] -= piece.cost
                self.on_names[piece.node] -= piece.cost
            else:
                kept.append(piece)
        self.chosen = kept
        self.standing.update(told)

    def fill(self) -> None:
        """Choose until nothing more fits; may be called again with what turned out to be left."""
        pieces = self.open
        self.open = []
        sentences_left = Counter(piece.node for piece in pieces if piece.line is not None)
        held: dict[int, list[tuple[float, int]]] = {}
        heap = [(-self._urgency(piece), place) for place, piece in enumerate(pieces)]
        heapq.heapify(heap)
        while heap:
            promised, place = heapq.heappop(heap)
            piece = pieces[place]
            if piece.cost > self.left:
                sentences_left[piece.node] -= piece.line is not None
                self.open.append(piece)
                continue
            urgency = self._urgency(piece)
            if urgency <= 0:
                continue
            # What was chosen meanwhile may have made it worth less: then it waits its turn again.
            if heap and urgency < -heap[0][0] and urgency < -promised:
                heapq.heappush(heap, (-urgency, place))
                continue
            if piece.line is None and sentences_left[piece.node] > 0 and not self._may_name(piece):
                held.setdefault(piece.node, []).append((-urgency, place))
                continue
            self._choose(piece)
            if piece.line is not None:
                sentences_left[piece.node] -= 1
                for waiting in held.pop(piece.node, ()):
                    heapq.heappush(heap, waiting)
        self.open.extend(pieces[place] for waiting in held.values() for _, place in waiting)

    def _tell_whole(self, pieces: Sequence[_Piece]) -> frozenset[int]:
        """Choose all that a model wrote of a stretch, where its share has room for it; returns these nodes."""
        texts: dict[int, list[_Piece]] = {}
        for piece in pieces:
            if piece.line is not None and self.nodes[piece.node].writing is not None:
                texts.setdefault(piece.node, []).append(piece)
        out: set[int] = set()
        for number, text in texts.items():
            cost = sum(piece.cost for piece in text)
            if cost <= min(self.shares[number] * WHOLE, self.left):
                out.add(number)
                for piece in text:
                    self._choose(piece)
        return frozenset(out)

    def _may_name(self, piece: _Piece) -> bool:
        names = self.on_names[piece.node] + piece.cost
        return names <= NAMES_SHARE * (self.spent[piece.node] + piece.cost)

    def _choose(self, piece: _Piece) -> None:
        self.left -= piece.cost
        self.spent[piece.node] += piece.cost
        self.on_names[piece.node] += piece.cost if piece.line is None else 0
        self.standing.update(word for word, _ in piece.words)
        self.chosen.append(piece)

    def _urgency(self, piece: _Piece) -> float:
        value = piece.own + sum(worth * AGAIN_WORTH[min(self.standing[word], 2)] for word, worth in piece.words)
        if piece.line is None and all(self.standing[word] for word, _ in piece.words):
            return 0.0
        share = self.shares[piece.node]
        taken = piece.cost + (SENTENCE_TOKENS if piece.line is not None else NAME_TOKENS)
        return value / taken * share / (self.spent[piece.node] + 0.5 * piece.cost + 0.1 * share)

    def _pieces(self, number: int) -> Iterator[_Piece]:
        node = self.nodes[number]
        worth: dict[str, float] = {}
        for line in node.lines("artifacts"):
            for mention in line.names:
                for word in key_words(mention.name):
                    worth[word] = worth.get(word, 0.0) + mention.weight
        for line in node.lines("story"):
            if not line.text:
                continue
            words = {
                word: math.log1p(worth.get(word, mention.weight))
                for mention in line.names
                for word in key_words(mention.name)
            }
            yield _Piece(
                node=number,
                cost=self._cost(" " + sentence(line)),
                line=line,
                name="",
                words=tuple(words.items()),
                own=line.weight * self.telling,
            )
        for line in node.lines("artifacts"):
            for mention in line.names:
                words = {word: math.log1p(worth[word]) for word in key_words(mention.name)}
                yield _Piece(
                    node=number,
                    cost=self._cost(f" {mention.name},"),
                    line=None,
                    name=mention.name,
                    words=tuple(words.items()),
                    own=0.0,
                )

    def _cost(self, text: str) -> int:
        if text not in self.costs:
            self.costs[text] = max(self.count(text), 1)
        return self.costs[text]

    def texts(self) -> list[str]:
        """Write the blocks out; what was chosen last is taken back as long as the whole costs too much."""
        while True:
            out = self._written()
            over = self.count("\n\n".join(filter(None, out))) - self.room
            if over <= 0 or not self.chosen:
                return out
            while over > 0 and self.chosen:
                over -= self.chosen.pop().cost

    def _written(self) -> list[str]:
        lines: list[list[Line]] = [[] for _ in self.nodes]
        names: list[list[str]] = [[] for _ in self.nodes]
        for piece in self.chosen:
            if piece.line is None:
                names[piece.node].append(piece.name)
            else:
                lines[piece.node].append(piece.line)
        out = [""] * len(self.nodes)
        for number in self.shown:
            node = self.nodes[number]
            told = {id(line) for line in lines[number]}
            in_order = [line for line in node.lines("story") if id(line) in told]
            out[number] = block(node, in_order, names[number], self.doubts.get(node.id, ""))
        return out


def _words_of(texts: Sequence[str]) -> Iterator[str]:
    for text in texts:
        for found in _WORD.findall(text.casefold().replace("’", "'")):
            yield found.removesuffix("'s")
