"""An overview of a story: one text of its whole path, for contexts that are too narrow for the pyramid of summaries.

It is a summary like any other, over every leaf of a path, and stored under a summarizer of its own. The canonical
summaries don't refer to it, so its existence changes no cut.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from ireneo.log.tree import Annotation
from ireneo.summaries.summary import Summary

OVERVIEW = "/overview/"
"""In the name of an overview's summarizer, what follows the policy's summarizer, before the budget."""
TAIL = "/tail"
"""The suffix of the policy's summarizer if a model summarised the newest messages before their leaf was due."""
OVERVIEW_DEPTH = 0
"""The depth of an overview, which has no place among the depths of the pyramid."""
LEAF_TEXT_TOKENS = 150
"""The usual cost of a model's text of a leaf."""
MUCH, WIDEST = 2, 12_500
"""A context is narrow if the texts of all leaves cost this many times its budget, of at most so many tokens: more than
about 10,000 are too many for one reply."""
NEAR = 4 / 3
"""An overview serves budgets that differ from its own by at most this factor."""
FULL = 1.5
"""An overview with fewer characters for each token of its budget is too short to be shown: the summaries say more."""
GROWN = 0.25
"""An overview is written again when the story has grown by this share of the leaves that it covers."""


def overview_summarizer(summarizer: str, budget: int) -> str:
    """The summarizer of overviews of a policy's leaves, for contexts of `budget` tokens."""
    return f"{summarizer}{OVERVIEW}{budget}"


def tail_summarizer(summarizer: str) -> str:
    """The summarizer of texts on the messages after the last of a policy's leaves."""
    return f"{summarizer}{TAIL}"


def asked_budget(summarizer: str) -> int:
    """The budget for which an overview was written; 0 for other summaries."""
    asked = summarizer.rpartition(OVERVIEW)[2].partition("/")[0] if OVERVIEW in summarizer else ""
    return int(asked) if asked.isdecimal() else 0


def is_near(asked: int, budget: int) -> bool:
    """Whether an overview that was written for a budget of `asked` tokens serves contexts of `budget` tokens."""
    return asked <= budget * NEAR and budget <= asked * NEAR


def is_narrow(row: Sequence[Summary], budget: int) -> bool:
    """Whether a context of `budget` tokens is too narrow for the summaries of `row`, the whole past of a path."""
    told = sum(min(node.leaves * LEAF_TEXT_TOKENS, node.source_tokens) for node in row)
    return 0 < MUCH * budget <= min(told, MUCH * WIDEST)


def notes_within(stretch: Summary, notes: Iterable[Annotation]) -> list[Annotation]:
    """The disputes and wordings by hand of the summaries that an overview covers."""
    return [
        note
        for note in notes
        if stretch.first_position <= note.at_position <= stretch.last_position
        and (note.kind == "dispute" or (note.kind == "wording" and note.since >= 0 and note.about != stretch.stretch))
    ]


def is_current(overview: Summary, row: Sequence[Summary], notes: Sequence[Annotation]) -> bool:
    """Whether there is no need yet to write an overview again."""
    more = sum(node.leaves for node in row) - overview.leaves
    return more < max(overview.leaves * GROWN, 1) and _reflects_notes(overview, notes)


def shown_overview(
    stored: Iterable[Summary], row: Sequence[Summary], budget: int, notes: Sequence[Annotation]
) -> Summary | None:
    """The stored overview of a path to show instead of `row`; None if the path's own summaries do better.

    An overview is not shown if part of it was disputed or reworded by hand since.
    """
    if not is_narrow(row, budget):
        return None
    fitting = [
        each
        for each in stored
        if each.is_written
        and sum(len(line.text) for line in each.lines("story")) >= FULL * asked_budget(each.summarizer)
        and is_near(asked_budget(each.summarizer), budget)
        and each.first == row[0].first
        and each.last_position <= row[-1].last_position
        and _reflects_notes(each, notes)
    ]

    def closeness(each: Summary) -> tuple[int, float]:
        return each.last_position, -abs(math.log(asked_budget(each.summarizer) / budget))

    return max(fitting, key=closeness, default=None)


def _reflects_notes(overview: Summary, notes: Iterable[Annotation]) -> bool:
    answered = overview.writing.disputes if overview.writing else ()
    return all(note.id in answered for note in notes_within(overview, notes))
