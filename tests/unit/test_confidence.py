"""How often a claim was seen, in words that a reader can weigh."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.unit.lesson_runs import NOW, observed

from ireneo.lessons.lessons import age_weight, cues_to_read, seen_counts, success_rate
from ireneo.lessons.run import Category, Observation

CUE = "bin/test ⇒ no such table"
OCCASION = "bin/test ⇒ <any>"
RULED = "<ruling> follow-up issues go to Linear"


def runs(number: int, **told: str | int) -> list[Observation]:
    told.setdefault("cue", CUE)
    return [observed(session=f"run {at}", days=20.0 + at, **told) for at in range(number)]  # type: ignore[arg-type]


def quiet(number: int) -> list[Observation]:
    """Runs in which the program was run and did not fail."""
    return [observed(0, 8, cue=OCCASION, session=f"quiet {at}", text="") for at in range(number)]


def undated(seen: list[Observation]) -> list[Observation]:
    return [replace(each, at=None) for each in seen]


@pytest.mark.parametrize(
    ("seen", "words"),
    [
        (runs(1), "seen once, in February 2026"),
        (undated(runs(1)), "seen once"),
        (runs(5) + quiet(1), "seen in 5 of 6 runs; last in February 2026"),
        (undated(runs(5) + quiet(1)), "seen in 5 of 6 runs"),
        (runs(1) + quiet(5), "seen in 1 of 6 runs; last in February 2026"),
        (runs(2, cue=RULED), "said in 2 runs; last in February 2026"),
        (undated(runs(1, cue=RULED)), "said once"),
        (quiet(4), ""),
        ([], ""),
    ],
)
def test_it_is_told_in_plain_words(seen: list[Observation], words: str) -> None:
    assert seen_counts(seen).in_words == words
    assert seen_counts(seen[::-1]) == seen_counts(seen)


def test_a_run_counts_once_whether_its_claim_or_its_occasion_tells_of_it() -> None:
    seen = [observed(2, 1, cue=CUE, session="one")]
    same_run = observed(2, 1, cue=OCCASION, session="one", text="")
    assert cues_to_read(CUE) == (CUE, OCCASION)
    assert seen_counts([*seen, same_run]) == seen_counts(seen)
    assert (seen_counts(seen).runs, seen_counts(seen).met) == (1, 1)


def test_a_trap_with_its_way_out_was_seen_wherever_the_trap_was() -> None:
    way = f"{CUE} → first:bin/migrate"
    assert cues_to_read(way) == (way, CUE, OCCASION)
    seen = [*runs(1, cue=way), *runs(3), *quiet(2)]
    assert (seen_counts(seen).runs, seen_counts(seen).met) == (3, 5)


def test_more_that_held_ranks_higher_and_more_that_broke_lower() -> None:
    shares = [success_rate([observed(held, 4)]) for held in (0, 1, 4, 20)]
    assert shares == sorted(shares)
    assert success_rate(runs(12)) > success_rate([observed(18)])
    assert success_rate([*runs(1), *quiet(4)]) < success_rate(runs(1))


@pytest.mark.parametrize(("category", "share"), [("failure", 0.1), ("procedural", 0.5), ("factual", 0.9)])
def test_a_claim_of_which_nothing_is_known_is_as_its_category(category: Category, share: float) -> None:
    assert success_rate([observed(0, 0, category=category)]) == share


def test_what_is_old_counts_less_and_what_has_no_time_counts_whole() -> None:
    weights = [age_weight(observed(days=days).at, NOW) for days in (0, 120, 400)]
    assert weights[:2] == [1.0, 0.5]
    assert weights[2] < 0.5
    assert age_weight(None, NOW) == 1.0
