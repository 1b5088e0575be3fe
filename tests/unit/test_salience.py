"""How much a sentence of a story matters later: the line over its words, heeded in leaves."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest

from ireneo.language.word_lines import features, load_models
from ireneo.log.message import Draft, Text, chain
from ireneo.summaries.tell_story import RECAP, SALIENCE, tell_leaf

SENTENCES = Path(__file__).parents[2] / "benchmarks" / "salience.toml"
DEBT = "The miller's boy holds my cloak until I bring him the nine shillings."
SAID = [
    ("ANNA", "It is raining again and I am looking out of the window at nothing much."),
    ("MARK", "I walk over to the fire and warm my hands for a little while."),
    ("ANNA", DEBT),
    ("MARK", "We should see whether there is anything left of that soup in the kitchen."),
]


def told(said: Sequence[tuple[str, str]]) -> dict[str, float]:
    drafts = [Draft(role="user", parts=(Text(text=text, author=who),)) for who, text in said]
    messages = chain(None, drafts, lambda parts: (9, 0))
    return {line.text: line.weight for section in tell_leaf(messages) for line in section.lines if line.text}


def test_the_line_tells_what_lasts_from_what_passes() -> None:
    sentences = tomllib.loads(SENTENCES.read_text())
    line = load_models(SALIENCE)[SALIENCE]
    lasting, passing = ([line.value(features(text)) for text in sentences[kind]] for kind in ("lasting", "passing"))
    above = sum(one > other for one in lasting for other in passing)
    assert above > 0.95 * len(lasting) * len(passing)


def test_a_leaf_tells_first_what_bears_most() -> None:
    weights = told(SAID)
    assert f"ANNA: {DEBT}" in max(weights, key=lambda text: weights[text])
    assert max(weights.values()) < RECAP


@pytest.mark.parametrize("short", ["Kill it.", "He dies?", "Dead--"])
def test_what_is_too_short_to_say_anything_is_left_out(short: str) -> None:
    assert not any(short in text for text in told([*SAID, ("MARK", short)]))
