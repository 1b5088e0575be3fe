"""Runs with a word of many thousand letters, or many failures of different sorts: they are read as others are."""

from __future__ import annotations

import pytest
from tests.golden.material import run
from tests.unit.lesson_runs import a_run

from ireneo.lessons.study import study
from ireneo.memories.signature import error_signature

LETTERS = 40_000


@pytest.mark.parametrize("word", ["a", "a.", "a/", "aB", " ", "> <<", "x_"])
def test_a_long_word_is_read_once(word: str) -> None:
    # Begun anew at each letter these take minutes.
    long = word * (LETTERS // len(word))
    shown = a_run(run("make", f"Exit code 1\nFAIL {long}\n", failed=True), run(f"tool {long}", "ok"))
    studied = study(shown, len)
    assert (studied.calls, studied.failures) == (2, 1)
    assert any(each.cue.startswith("make ⇒ ") for each in studied.observations)


def test_what_is_forgotten_stays_the_same() -> None:
    assert error_signature("error: C:\\work\\rows.py and /srv/a/days.py, mail ann.b+c@example.org") == (
        "error: rows.py and days.py, mail <address>"
    )
