"""How the past of a story is shown where a model told it: by the worth that it gave to each of its sentences.

Such a text was written as one, and each of its sentences to stand alone. So a wide context shows all of it, and of what
stands for most as many of the finer texts below it as there is room for; a narrow one shows the point of each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from msgspec.structs import replace

from ireneo.log.message import Count
from ireneo.summaries.policy import Policy
from ireneo.summaries.story import story_strategy
from ireneo.summaries.summary import Line, Section, Summary, Writing, header

LEAST_TOLD = 360
"""What a block costs at the least that tells its point."""
TOLD_DEPTH = 0.85
"""As `ireneo.context.story.DEPTH`: where the weightiest sentences stand for a stretch, an old one has more to say."""
TOLD_THREADS = 0.15
"""Of a context, what the open threads may take: much of what they say is told in the past as well."""
TOLD_LIVE = 0.7
"""Of the room of the newest messages, they get so much: the past that a model told says more for its tokens."""
EVEN = 5.0
"""The worth of a sentence that is worth what others are."""
STEEP = 3
"""A sentence of twice the worth is shown before ones of even worth that cost much less: the point of a stretch is."""
OVERFULL = 1.2
"""Of what there is room for, so much is offered: what is worth least of it is left out."""
TELLS_MORE = 1.1
"""A text is opened where what those below it say is worth so many times as much."""
MOSTLY = 0.75
"""Models tell a past where their texts stand for so much of it: one failure must not silence the others."""
UNTOLD_WORTH = 3.0
"""The worth of the best line of a text among those that models told, which none did tell."""
MOST_ROLLED = 64
"""Of so many texts, at the most, a deeper one is put together that no model has told yet."""
MOST_LINES = 120
"""So many of their sentences it has, those that are worth most."""
UNMARKED = "story-1/"
"""By this prompt models were asked that didn't say yet what their sentences are worth."""
Under: TypeAlias = Callable[[Summary], Sequence[tuple[Summary, Summary]]]
"""Gives the summaries right under one, each with its text."""


def is_told(summary: Summary) -> bool:
    """Whether a model told what a summary says."""
    return summary.writing is not None and summary.writing.trusted and bool(summary.lines("story"))


def is_of_one_piece(text: Summary) -> bool:
    """Whether a model told a text without saying what its sentences are worth: then none goes before another."""
    return text.writing is not None and len({line.weight for line in text.lines("story")}) <= 1


def mostly_told(texts: Sequence[Summary]) -> bool:
    """Whether models told nearly all that `texts` stand for."""
    told = sum(text.messages for text in texts if is_told(text))
    return bool(told) and told >= MOSTLY * sum(text.messages for text in texts)


def told_worth(line: Line, text: Summary) -> float:
    """What a line of a text that a model told is worth against others: its point first."""
    return ((EVEN if _is_unmarked(text) else line.weight) / EVEN) ** STEEP


def _is_unmarked(text: Summary) -> bool:
    return text.writing is not None and text.writing.prompt.startswith(UNMARKED)


def _points(text: Summary) -> float:
    return sum(told_worth(line, text) for line in text.lines("story"))


def told_over(whole: Summary, parts: Sequence[Summary]) -> Summary:
    """A summary over adjacent ones of which models told most, with the weightiest of their sentences."""
    lines = [line for part in parts for line in _comparable(part)]
    best = sorted(range(len(lines)), key=lambda place: -lines[place].weight)[:MOST_LINES]
    others = tuple(section for section in whole.sections if section.name != "story")
    told = [part for part in parts if is_told(part)]
    written = [part.writing for part in sorted(told, key=_is_unmarked) if part.writing is not None]
    writing: Writing = replace(written[0], tokens_in=0, tokens_out=0, struck=0, repaired=False)
    story = Section(name="story", lines=tuple(lines[place] for place in sorted(best)))
    retold = max(part.retellings for part in parts)
    return replace(whole, sections=(story, *others), writing=writing, retellings=retold)


def _comparable(part: Summary) -> list[Line]:
    """The sentences of a text, each with what it is worth against those of other texts."""
    lines = [line for line in part.lines("story") if line.text]
    if _is_unmarked(part):
        return [replace(line, weight=EVEN) for line in lines]
    if is_told(part):
        return lines
    most = max((line.weight for line in lines), default=0.0) or 1.0
    return [replace(line, weight=UNTOLD_WORTH * line.weight / most) for line in lines]


def told_under(node: Summary, under: Under) -> list[Summary]:
    """The deepest texts under `node` that models told, where they tell of nearly all of it; else none.

    So a stretch reads well from its first leaf on, before a model has come to tell it as a whole, and where it failed.
    The leaves that none told are among them.
    """
    out: list[Summary] = []
    waiting = list(reversed(under(node)))
    while waiting:
        each, text = waiting.pop()
        finer = under(each) if each.depth > 1 and not is_told(text) else ()
        if len(finer) < 2:
            out.append(text)
        elif len(out) + len(waiting) + len(finer) > MOST_ROLLED:
            return []
        else:
            waiting += reversed(finer)
    return out if mostly_told(out) else []


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
    closed = {text.id for text in texts if not is_told(text) or text.depth < 2}
    while True:
        waiting = [place for place, (_, text) in enumerate(shown) if text.id not in closed]
        if not waiting:
            return [text for _, text in shown]
        place = max(waiting, key=lambda place: share(shown[place][1]) / max(costs[place], 1))
        node, text = shown[place]
        finer = under(node)
        finer_costs = [cost(each) for _, each in finer]
        more = sum(finer_costs) - costs[place]
        told = len(finer) > 1 and all(is_told(each) for _, each in finer)
        worth = sum(_points(each) for _, each in finer) if told else 0.0
        if worth < TELLS_MORE * _points(text) or more > left:
            closed.add(text.id)
            continue
        closed |= {each.id for _, each in finer if each.depth < 2}
        shown[place : place + 1], costs[place : place + 1] = finer, finer_costs
        left -= more


def told_cost(policy: Policy, count: Count) -> Callable[[Summary], int]:
    """What the whole text of a summary takes in a context of that policy."""
    strategy = story_strategy(policy)

    def cost(text: Summary) -> int:
        # Line by line, since what a line costs is known from one context to the next.
        lines = sum(count(strategy.say("story", line, ())) for line in text.lines("story") if line.text)
        return count(header(text)) + lines

    return cost
