"""What becomes of a ranking: fused, freed of repeats, packed."""

from __future__ import annotations

import pytest

from ireneo.language.words import terms
from ireneo.memories.ranking import likeness, move_repeats_last, pack


def test_repeats_step_back_and_stay() -> None:
    texts = ["The kiln broke on Monday morning", "the kiln broke Monday, morning!", "Yes", "Yes", "The oven is new"]
    assert move_repeats_last(texts, terms) == (texts[0], "Yes", "Yes", texts[4], texts[1])


def test_likeness_is_a_share() -> None:
    assert likeness(frozenset("abc"), frozenset("bcd")) == 0.5
    assert likeness(frozenset(), frozenset()) == 0.0


def test_packing_passes_over_what_is_too_large() -> None:
    assert pack(["aaaa", "bbbbbbbbb", "cc", "d"], len, 7) == ("aaaa", "cc", "d")
    assert pack(["a"], len, 0) == ()
    with pytest.raises(ValueError, match="0 or more"):
        pack(["a"], lambda _: -1, 7)
