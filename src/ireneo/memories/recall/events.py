"""Before and after something that happened: when that was, as the passages tell that speak of it."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ireneo.memories.recall.found import Passage
from ireneo.memories.recall.question import Question
from ireneo.memories.recall.time_words import Window
from ireneo.memories.recall.words import terms


def around_event(question: Question, passages: Sequence[Passage]) -> Question:
    """The question with the time before or after the event that it names, where a passage tells of it.

    Of those that have all of its words the earliest counts: later ones look back on it.
    """
    if question.direction is None:
        return question
    event = set(question.event)
    times = [each.at for each in passages if each.at is not None and event <= set(terms(each.text))]
    if not times:
        return question
    at = min(times)
    return replace(
        question,
        window=Window(since=None, until=at) if question.direction == "before" else Window(since=at, until=None),
    )
