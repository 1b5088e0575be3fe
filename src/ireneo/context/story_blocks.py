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
from collections.abc import Callable, Mapping, Sequence
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

DEPTH, NEW = 0.7, 10
"""A block's share of the room grows with its number of messages to this power: with 1 the newest would be empty,
with 0 a thousand messages would get no more room than ten. Within a block it is the same for each line, by its age
from `NEW` messages after the last block."""
RECAPPED = 5.0
"""The weight of a recap's passage that is all news; it grows with the square of the share of new terms. Passages of a
recap are shown together, before most others."""
SENTENCE_TOKENS, LINE_TOKENS = 40, 8
"""The cost in attention of each sentence of a model besides its tokens, without which fragments would win, and of each
line that rules chose."""
EVENLY = 0.5
"""How strongly a block that has had its share gives way to others; with 1 the idle ones would get as much as any."""


class _StoryPiece(Struct, kw_only=True):
    """A sentence that a block may show."""

    node: int
    cost: int
    section: SectionName
    line: Line
    own: float
    """The worth of the sentence by itself, for each token."""


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
    doubts = doubts or {}
    heads = [count(header(node, doubts.get(node.id, ""))) + 1 for node in nodes]
    shown, left = [], room
    for number in sorted(range(len(nodes)), key=lambda number: (-nodes[number].messages, number)):
        if heads[number] <= left:
            shown.append(number)
            left -= heads[number]
    chosen = _choose(nodes, sorted(shown), left, count, strategy)
    while True:
        out = [_render_block(nodes[n], n, chosen, strategy, doubts) if n in shown else "" for n in range(len(nodes))]
        over = count("\n\n".join(filter(None, out))) - room
        if over <= 0 or not chosen:
            return out
        # The last chosen sentences are removed.
        while over > 0 and chosen:
            over -= chosen.pop().cost


def _choose(
    nodes: Sequence[Summary], shown: Sequence[int], left: int, count: Count, strategy: Strategy
) -> list[_StoryPiece]:
    """Choose the sentences of the nodes `shown` that are worth most in `left` tokens."""
    weights = {number: block_weight(nodes[number]) for number in shown}
    shares = {number: max(left * weight / sum(weights.values()), 1.0) for number, weight in weights.items()}
    spent: Counter[int] = Counter()
    pieces = _pieces(nodes, shown, count, strategy)
    chosen: list[_StoryPiece] = []

    def urgency(place: int) -> float | None:
        piece, share = pieces[place], shares[pieces[place].node]
        had = spent[piece.node] + 0.15 * piece.cost + 0.1 * share
        return piece.own * math.pow(share / had, EVENLY) if piece.cost <= left else None

    waiting = BestFirst((place, value) for place in range(len(pieces)) if (value := urgency(place)) is not None)
    while (place := waiting.take(urgency)) is not None:
        left -= pieces[place].cost
        spent[pieces[place].node] += pieces[place].cost
        chosen.append(pieces[place])
    return chosen


def _pieces(nodes: Sequence[Summary], shown: Sequence[int], count: Count, strategy: Strategy) -> list[_StoryPiece]:
    """The sentences of the nodes `shown`; of those that rules chose, the last of equal ones."""
    out: dict[object, _StoryPiece] = {}
    recapped: set[str] = set()
    end = max((node.last_position for node in nodes), default=0) + NEW
    for number in shown:
        node = nodes[number]
        middle = end - (node.first_position + node.last_position) / 2
        told = is_model_written(node)
        for section in strategy.sections(node.level):
            for line in node.lines(section):
                if section == "artifacts" or not line.text:
                    continue
                weight = line_worth(line) if told else line.weight
                if not told and is_recap(line):
                    # A later recap often begins like the earlier ones.
                    said = set(terms(line.text))
                    weight = RECAPPED * passage_size(line.text) * (len(said - recapped) / max(len(said), 1)) ** 2
                    recapped |= said
                cost = max(count(" " + strategy.say(section, line, ())), 1)
                # As between blocks, what is newer has more room.
                fresh = 1.0 if told else math.pow(middle / max(end - line.position, 1), 1 - DEPTH)
                own = fresh * weight * strategy.worth(section) / (cost + (SENTENCE_TOKENS if told else LINE_TOKENS))
                same = id(line) if told else tuple(WORDS.findall(line.text.lower()))
                out.pop(same, None)
                out[same] = _StoryPiece(node=number, cost=cost, section=section, line=line, own=own)
    return list(out.values())


def _render_block(
    node: Summary, number: int, chosen: Sequence[_StoryPiece], strategy: Strategy, doubts: Mapping[SummaryId, str]
) -> str:
    told = {id(piece.line) for piece in chosen if piece.node == number}
    choice: dict[SectionName, list[tuple[Line, Sequence[str]]]] = {}
    for section in strategy.sections(node.level):
        if lines := [(line, ()) for line in node.lines(section) if id(line) in told]:
            choice[section] = list(lines)
    return render(node, choice, strategy, doubts.get(node.id, ""))


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
Under: TypeAlias = Callable[[Summary], Sequence[tuple[Summary, Summary]]]
"""Gives the summaries directly below a summary, each with its text."""


def is_model_written(summary: Summary) -> bool:
    """Whether a model wrote the text of a summary, and was trusted."""
    return summary.writing is not None and summary.writing.trusted and bool(summary.lines("story"))


def mostly_model_written(texts: Sequence[Summary]) -> bool:
    """Whether models wrote nearly all of `texts`, by the messages they cover; texts by hand count if all are."""
    texts = [text for text in texts if text.writing is None or text.writing.prompt != BY_WHOM] or texts
    told = sum(text.messages for text in texts if is_model_written(text))
    return bool(told) and told >= MOSTLY * sum(text.messages for text in texts)


def line_worth(line: Line) -> float:
    """The worth of a line in a model's text compared to others: the main point first."""
    return float((line.weight / EVEN) ** STEEP)


def _total_worth(text: Summary) -> float:
    return sum(line_worth(line) for line in text.lines("story"))


def summary_over(whole: Summary, parts: Sequence[Summary]) -> Summary:
    """A summary over adjacent ones, mostly by models, with the most important of their sentences."""
    lines = [line for part in parts for line in _comparable_lines(part)]
    best = sorted(range(len(lines)), key=lambda place: -lines[place].weight)[:MOST_LINES]
    others = tuple(section for section in whole.sections if section.name != "story")
    told = [part for part in parts if is_model_written(part)]
    written = [part.writing for part in told if part.writing is not None]
    writing: Writing = replace(written[0], tokens_in=0, tokens_out=0, struck=0, repaired=False)
    story = Section(name="story", lines=tuple(lines[place] for place in sorted(best)))
    return replace(whole, sections=(story, *others), writing=writing)


def _comparable_lines(part: Summary) -> list[Line]:
    """The sentences of a text, weighted so that they are comparable with the sentences of other texts."""
    lines = [line for line in part.lines("story") if line.text]
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
