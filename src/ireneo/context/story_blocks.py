"""How the past of a story is shown in a given room: the best sentences and names over all its blocks at once.

A greedy choice by value for cost, as for the work of an agent (`ireneo.context.allot`), with two differences. A story
has no sections that outrank others, but prose that must stay one: names may only follow sentences. And its blocks
stand for very unequal stretches, so each has a share of the room, and what a block offers is worth the less the more
of its share is spent.

A text that a model wrote was written as one, and each of its sentences to stand alone, with the worth that the model
gave to it. So a wide context shows all of it, and of what stands for most as many of the finer texts below it as there
is room for; a narrow one shows the point of each.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from ireneo.language.words import terms
from ireneo.log.message import Count
from ireneo.patterns import lazy_re
from ireneo.summaries.policy import Policy, StorySettings
from ireneo.summaries.story import StoryStrategy, story_strategy
from ireneo.summaries.story_names import key_words
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
from ireneo.summaries.tell_story import RECAP, name_worth, of_the_story, recapped_names, recapped_terms

TOLD_AS_STORY = StoryStrategy(StorySettings())
NAMES_LABEL = TOLD_AS_STORY.sections("story")["artifacts"].heading

DEPTH = 0.7
"""A block's share of the room grows with the messages that it stands for to this power: with 1 the newest would be
silent, with 0 a thousand messages would have no more room than ten."""
FLOOR = 0.25
"""The part of an even share of the room that each block has, whatever it covers."""
NAMES_SHARE = 0.05
"""The most that names take of a block while there are sentences left: a story is read."""
NAMED = 0.5
"""The worth of a name in a sentence."""
NAMING = 20.0
"""What a name in the list is worth against a name in a sentence: within the list's share names come first, since nobody
can ask for a name that is gone."""
NAMES_TOKENS = 450
"""The most tokens of all lists of names together."""
AGAIN_WORTH = (1.0, 0.25, 0.1)
"""The share of a name's worth where it stands already once, or twice."""
EMINENT = 1.4
"""What a line is worth grows with its weight to this power: some small ones don't make up for one that tells much."""
TELLING = 4.0
"""What a sentence is worth for what it tells, compared with the names in it."""
WHOLE = 1.25
"""A text without worths, which was written as one, is shown whole at up to this many times the block's share."""
TOLD_BEFORE = 0.15
"""What a sentence is worth, of what it tells, where others have told of all that it speaks of."""
SENTENCE_TOKENS = 40
NAME_TOKENS = 2
"""What each sentence and each name takes of a reader's attention, beside what it costs: without it stumps would win."""
_WORD = lazy_re(r"[^\W_]+(?:['’-][^\W_]+)*")


class _StoryPiece(Struct, kw_only=True):
    """A sentence or a name that a block may show."""

    node: int
    cost: int
    line: Line | None
    name: str
    words: tuple[tuple[str, float], ...]
    """The words of the names in the sentence, each with its worth."""
    own: float
    """The worth of the sentence apart from names."""
    terms: frozenset[str] = frozenset()
    """The terms of the sentence; those that other sentences have too are worth less."""


def tell_blocks(
    nodes: Sequence[Summary],
    room: int,
    count: Count,
    *,
    doubts: Mapping[SummaryId, str] | None = None,
    strategy: Strategy = TOLD_AS_STORY,
    players: Collection[str] = (),
) -> list[str]:
    """The text of each node's block, in order; together, a line apart, they cost `room` tokens at the most by `count`.

    Names of `players` (their key words) are in no list of names, which takes `NAMES_SHARE` of a block at the most.
    `doubts` says of disputed nodes why they are disputed. Where there is not even room for the headers, the blocks that
    stand for the fewest messages are empty.
    """
    telling = _Telling(nodes, room, count, doubts or {}, strategy, players)
    telling.fill()
    telling.drop_repeated_names()
    telling.fill()
    telling.regain()
    telling.fill()
    return telling.texts()


class _Telling:
    """The state of the choice: the pieces chosen, and the room left."""

    def __init__(
        self,
        nodes: Sequence[Summary],
        room: int,
        count: Count,
        doubts: Mapping[SummaryId, str],
        strategy: Strategy,
        players: Collection[str],
    ) -> None:
        self.strategy = strategy
        self.players = players
        self.nodes = nodes
        self.room = room
        self.count = count
        self.doubts = doubts
        self.heads = [count(header(node, doubts.get(node.id, ""))) + 1 for node in nodes]
        self.shown = self._with_header()
        self.left = room - sum(self.heads[number] for number in self.shown)
        self.shares = self._shares()
        self.standing: Counter[str] = Counter()
        self.told: set[str] = set()
        self.known = recapped_terms(line for node in nodes for line in node.lines("story"))
        self.named = recapped_names(line for node in nodes for line in node.lines("story"))
        self.spent = [0] * len(nodes)
        self.on_names = [0] * len(nodes)
        self.chosen: list[_StoryPiece] = []
        self.costs: dict[str, int] = {}
        pieces = [piece for number in self.shown for piece in self._pieces(number)]
        whole = self._tell_whole(pieces)
        self.open = [piece for piece in pieces if piece.line is None or piece.node not in whole]

    def _with_header(self) -> list[int]:
        """The nodes whose header there is room for, those that cover most messages first."""
        left = self.room
        out: list[int] = []
        for number in sorted(range(len(self.nodes)), key=lambda number: (-self.nodes[number].messages, number)):
            if self.heads[number] <= left:
                left -= self.heads[number]
                out.append(number)
        return sorted(out)

    def _shares(self) -> list[float]:
        """The tokens of each node besides its header."""
        out = [0.0] * len(self.nodes)
        even = self.left / max(len(self.shown), 1)
        weights = {number: block_weight(self.nodes[number]) for number in self.shown}
        for number, weight in weights.items():
            out[number] = max(even * FLOOR + self.left * (1 - FLOOR) * weight / sum(weights.values()), 1.0)
        return out

    def drop_repeated_names(self) -> None:
        """Remove chosen names that stand in a sentence chosen after them."""
        told = set(_words_of([piece.line.text for piece in self.chosen if piece.line is not None]))
        kept: list[_StoryPiece] = []
        for piece in self.chosen:
            if piece.line is None and all(word in told for word, _ in piece.words):
                self.left += piece.cost
                self.spent[piece.node] -= piece.cost
                self.on_names[piece.node] -= piece.cost
            else:
                kept.append(piece)
        self.chosen = kept
        self.standing.update(told)

    def regain(self) -> None:
        """Count the room that is really left: sentences cost less together than one by one."""
        self.left = max(self.left, self.room - self.count("\n\n".join(filter(None, self._written()))))

    def fill(self) -> None:
        """Choose until nothing more fits; may be called again with what turned out to be left."""
        pieces = self.open
        self.open = []
        sentences_left = Counter(piece.node for piece in pieces if piece.line is not None)
        held: dict[int, list[tuple[int, float]]] = {}
        urgencies: dict[int, float] = {}

        def worth(place: int) -> float | None:
            piece = pieces[place]
            if piece.cost > self.left:
                sentences_left[piece.node] -= piece.line is not None
                self.open.append(piece)
                return None
            urgencies[place] = self._urgency(piece)
            return urgencies[place] if urgencies[place] > 0 else None

        waiting = BestFirst(enumerate(map(self._urgency, pieces)))
        while (place := waiting.take(worth)) is not None:
            piece = pieces[place]
            if piece.line is None and sentences_left[piece.node] > 0 and not self._may_name(piece):
                held.setdefault(piece.node, []).append((place, urgencies[place]))
                continue
            self._choose(piece)
            if piece.line is not None:
                sentences_left[piece.node] -= 1
                for name, urgency in held.pop(piece.node, ()):
                    waiting.put(name, urgency)
        self.open.extend(pieces[place] for names in held.values() for place, _ in names)

    def _tell_whole(self, pieces: Sequence[_StoryPiece]) -> frozenset[int]:
        """Choose all of the texts that were written as one and fit into their share; returns their nodes."""
        texts: dict[int, list[_StoryPiece]] = {}
        for piece in pieces:
            if piece.line is not None and is_of_one_piece(self.nodes[piece.node]):
                texts.setdefault(piece.node, []).append(piece)
        out: set[int] = set()
        for number, text in texts.items():
            cost = sum(piece.cost for piece in text)
            if cost <= min(self.shares[number] * WHOLE, self.left):
                out.add(number)
                # What was chosen last is taken back first.
                for piece in sorted(text, key=lambda piece: -piece.own):
                    self._choose(piece)
        return frozenset(out)

    def _may_name(self, piece: _StoryPiece) -> bool:
        names = self.on_names[piece.node] + piece.cost
        most = NAMES_TOKENS * self.shares[piece.node] / sum(self.shares)
        return names <= min(NAMES_SHARE * (self.spent[piece.node] + piece.cost), most)

    def _choose(self, piece: _StoryPiece) -> None:
        self.left -= piece.cost
        self.spent[piece.node] += piece.cost
        self.on_names[piece.node] += piece.cost if piece.line is None else 0
        self.standing.update(word for word, _ in piece.words)
        self.told |= piece.terms
        self.chosen.append(piece)

    def _urgency(self, piece: _StoryPiece) -> float:
        if piece.line is None:
            # In a list a word that stands somewhere already says nothing more.
            value = NAMING * sum(worth for word, worth in piece.words if not self.standing[word])
            if not value:
                return 0.0
        else:
            value = piece.own
            if piece.terms:
                new = len(piece.terms - self.told) / len(piece.terms)
                value *= TOLD_BEFORE + (1 - TOLD_BEFORE) * new
            value += sum(worth * AGAIN_WORTH[min(self.standing[word], 2)] for word, worth in piece.words)
        share = self.shares[piece.node]
        taken = piece.cost + (SENTENCE_TOKENS if piece.line is not None else NAME_TOKENS)
        return value / taken * share / (self.spent[piece.node] + 0.15 * piece.cost + 0.1 * share)

    def _pieces(self, number: int) -> Iterator[_StoryPiece]:
        node = self.nodes[number]
        if is_model_written(node):
            yield from self._told_pieces(number)
            return
        worth: dict[str, float] = {}
        for line in node.lines("artifacts"):
            for mention in line.names:
                for word in key_words(mention.name):
                    worth[word] = worth.get(word, 0.0) + mention.weight
        for section, line in self._sentences(node):
            words = {
                word: math.log1p(worth.get(word, mention.weight))
                for mention in line.names
                for word in key_words(mention.name)
            }
            said = frozenset(terms(line.text))
            own = TELLING * (line.weight * self.strategy.worth(section)) ** EMINENT
            yield _StoryPiece(
                node=number,
                cost=self._cost(" " + self.strategy.say(section, line, ())),
                line=line,
                name="",
                words=tuple((word, value * NAMED) for word, value in words.items()),
                own=own if line.weight >= RECAP else own * of_the_story(said, self.known),
                terms=said,
            )
        for line in node.lines("artifacts"):
            for mention in line.names:
                likely = name_worth(mention.name, self.named)
                words = {word: math.log1p(worth[word]) * likely for word in key_words(mention.name)}
                if all(word in self.players for word in words):
                    continue
                yield _StoryPiece(
                    node=number,
                    cost=self._cost(f" {mention.name},"),
                    line=None,
                    name=mention.name,
                    words=tuple(words.items()),
                    own=0.0,
                )

    def _told_pieces(self, number: int) -> Iterator[_StoryPiece]:
        """The sentences of a model, by the worth that it gave them; the names that matter stand in them."""
        for section, line in self._sentences(self.nodes[number]):
            own = written_worth(line, self.nodes[number]) * self.strategy.worth(section) * TELLING
            cost = self._cost(" " + self.strategy.say(section, line, ()))
            yield _StoryPiece(node=number, cost=cost, line=line, name="", words=(), own=own)

    def _sentences(self, node: Summary) -> Iterator[tuple[SectionName, Line]]:
        for section in self.strategy.sections(node.level):
            if section != "artifacts":
                yield from ((section, line) for line in node.lines(section) if line.text)

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
            choice: dict[SectionName, list[tuple[Line, Sequence[str]]]] = {}
            for section, line in self._sentences(node):
                if id(line) in told:
                    choice.setdefault(section, []).append((line, ()))
            if names[number]:
                choice["artifacts"] = [(Line(), names[number])]
            out[number] = render(node, choice, self.strategy, self.doubts.get(node.id, ""))
        return out


def says_nothing(text: str) -> bool:
    """Whether the text of a block is only a header, or a header and a list of names."""
    told = text.partition("\n")[2].strip()
    return bool(text) and (not told or ("\n" not in told and told.startswith(NAMES_LABEL)))


def block_weight(node: Summary) -> float:
    """The weight of a block when the room is shared out."""
    return float(node.messages ** (TOLD_DEPTH if is_model_written(node) else DEPTH))


def oldest_together(nodes: Sequence[Summary], most: int) -> list[Sequence[Summary]]:
    """Adjacent summaries in at most `most` groups: the oldest in one group, and each other summary in its own."""
    return [nodes[: len(nodes) - most + 1], *([node] for node in nodes[len(nodes) - most + 1 :])]


def even_groups(nodes: Sequence[Summary], most: int) -> list[Sequence[Summary]]:
    """Adjacent summaries in at most `most` groups of about the same weight.

    So, where models wrote the summaries, no age gets less room because its headers would not fit.
    """
    weights = list(map(block_weight, nodes))
    groups: dict[int, list[Summary]] = {}
    before = 0.0
    for node, weight in zip(nodes, weights, strict=True):
        groups.setdefault(int(most * (before + weight / 2) / sum(weights)), []).append(node)
        before += weight
    return list(groups.values())


def _words_of(texts: Sequence[str]) -> Iterator[str]:
    for text in texts:
        for found in _WORD.findall(text.casefold().replace("’", "'")):
            yield found.removesuffix("'s")


# What models told.

TOLD_DEPTH = 0.85
"""As `DEPTH`: where the weightiest sentences stand for a stretch, an old one has more to say."""
TOLD_THREADS, TOLD_CAST = 0.06, 0.04
"""The shares of a context for open threads and the cast; a model's text tells most of these as well."""
TOLD_LIVE = 0.35
"""The share of their usual room that the newest messages get: a past written by a model says more for its tokens."""
TOLD_OPEN = 80
"""The most tokens for newest messages that don't fit verbatim: a line or two by rules, until a model tells them."""
EVEN = 5.0
"""The worth of an average sentence."""
STEEP = 3
"""A sentence of twice the worth is shown before ones of even worth that cost much less: the point of a stretch is."""
OVERFULL = 1.2
"""Text is offered for so many times the room; what is worth least is left out."""
TELLS_MORE = 1.1
"""A text is opened where the texts below it are worth so many times as much."""
MOSTLY = 0.75
"""The share of messages from which on a past counts as written by models: one failure must not hide the others."""
UNTOLD_WORTH = 3.0
"""The worth of the best line of an offline text among texts by models."""
MOST_ROLLED = 64
"""The most texts that are joined into a deeper one that no model has written yet."""
MOST_LINES = 120
"""The most sentences of such a text."""
UNMARKED = "story-1/"
"""By this prompt models were asked that didn't say yet what their sentences are worth."""
Under: TypeAlias = Callable[[Summary], Sequence[tuple[Summary, Summary]]]
"""Gives the summaries right under a summary, each with its text."""


def is_model_written(summary: Summary) -> bool:
    """Whether a model wrote the text of a summary, and was trusted."""
    return summary.writing is not None and summary.writing.trusted and bool(summary.lines("story"))


def is_of_one_piece(text: Summary) -> bool:
    """Whether a model told a text without saying what its sentences are worth: then none goes before another."""
    return text.writing is not None and len({line.weight for line in text.lines("story")}) <= 1


def mostly_model_written(texts: Sequence[Summary]) -> bool:
    """Whether models wrote nearly all of `texts`, by the messages they cover."""
    told = sum(text.messages for text in texts if is_model_written(text))
    return bool(told) and told >= MOSTLY * sum(text.messages for text in texts)


def written_worth(line: Line, text: Summary) -> float:
    """What a line of a text that a model told is worth against others: its point first."""
    return ((EVEN if _is_unmarked(text) else line.weight) / EVEN) ** STEEP


def _is_unmarked(text: Summary) -> bool:
    return text.writing is not None and text.writing.prompt.startswith(UNMARKED)


def _points(text: Summary) -> float:
    return sum(written_worth(line, text) for line in text.lines("story"))


def written_over(whole: Summary, parts: Sequence[Summary]) -> Summary:
    """A summary over adjacent ones of which models told most, with the weightiest of their sentences."""
    lines = [line for part in parts for line in _comparable(part)]
    best = sorted(range(len(lines)), key=lambda place: -lines[place].weight)[:MOST_LINES]
    others = tuple(section for section in whole.sections if section.name != "story")
    told = [part for part in parts if is_model_written(part)]
    written = [part.writing for part in sorted(told, key=_is_unmarked) if part.writing is not None]
    writing: Writing = replace(written[0], tokens_in=0, tokens_out=0, struck=0, repaired=False)
    story = Section(name="story", lines=tuple(lines[place] for place in sorted(best)))
    return replace(whole, sections=(story, *others), writing=writing)


def _comparable(part: Summary) -> list[Line]:
    """The sentences of a text, weighted so that they are comparable with the sentences of other texts."""
    lines = [line for line in part.lines("story") if line.text]
    if _is_unmarked(part):
        return [replace(line, weight=EVEN) for line in lines]
    if is_model_written(part):
        return lines
    most = max((line.weight for line in lines), default=0.0) or 1.0
    return [replace(line, weight=UNTOLD_WORTH * line.weight / most) for line in lines]


def written_under(node: Summary, under: Under) -> list[Summary]:
    """The deepest texts under `node` that models told, where they tell of nearly all of it; else none.

    So a stretch reads well from its first leaf on, before a model has come to tell it as a whole, and where it failed.
    The leaves that none told are among them.
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


def opened_to_fill(
    nodes: Sequence[Summary],
    texts: Sequence[Summary],
    under: Under,
    room: int,
    cost: Callable[[Summary], int],
    share: Callable[[Summary], float],
) -> list[Summary]:
    """The texts to show of `nodes`: those told by a model opened as long as what is under them has room, too.

    What stands for most and tells least of it is opened first. `cost` is what a text takes, and `share` what it should
    take against the others.
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
        worth = sum(_points(each) for _, each in finer) if told else 0.0
        if worth < TELLS_MORE * _points(text) or more > left:
            closed.add(text.id)
            continue
        closed |= {each.id for _, each in finer if each.depth < 2}
        shown[place : place + 1], costs[place : place + 1] = finer, finer_costs
        left -= more


def text_cost(policy: Policy, count: Count) -> Callable[[Summary], int]:
    """A function for the tokens of the whole text of a summary."""
    strategy = story_strategy(policy)

    def cost(text: Summary) -> int:
        # Line by line, since what a line costs is known from one context to the next.
        lines = sum(count(strategy.say("story", line, ())) for line in text.lines("story") if line.text)
        return count(header(text)) + lines

    return cost
