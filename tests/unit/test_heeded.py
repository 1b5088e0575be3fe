"""What a lesson says to do first, done: then there is nothing left to warn of."""

from __future__ import annotations

import pytest
from tests.unit.guarded import Made, material

from ireneo.lessons.guard import already_followed
from ireneo.lessons.situation import Situation
from ireneo.log.message import Call

LESSON = "`make tide` fails with “the database refused the connection”: run `make db` first; then it passed."
FELL: Made = ("Bash", "make tide", "make: the database refused the connection", True)
UP: Made = ("Bash", "make db", "it is up", False)
DOWN: Made = ("Bash", "make db", "make: *** [db] Error 1", True)
TIDE = Call(id="c", name="Bash", arguments={"command": "make tide"})


@pytest.mark.parametrize(
    ("made", "done"),
    [
        ((), False),
        ((FELL,), False),
        ((FELL, UP), True),
        ((UP,), True),
        ((UP, FELL), False),
        ((FELL, DOWN), False),
        ((FELL, UP, FELL), False),
    ],
)
def test_only_what_went_well_since_it_failed_last_counts(made: tuple[Made, ...], done: bool) -> None:
    situation = Situation().see_all(material("one", *made).messages)
    assert already_followed(situation, TIDE, LESSON) is done


def test_a_lesson_that_names_nothing_to_run_first_is_never_heeded() -> None:
    situation = Situation().see_all(material("one", FELL, UP).messages)
    assert not already_followed(situation, TIDE, "`make tide` fails with “refused”: use `make moon`; then it passed.")
    assert not already_followed(situation, TIDE, "")
