"""What a harness puts around texts is recognised in one place, and what only looks like it stays."""

from __future__ import annotations

import pytest

from ireneo.log.calls import GUTTER, gutter_numbers, without_reminders


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("done<system-reminder>Mind the list.</system-reminder>", "done"),
        ("<system-reminder>a < b\nand c</system-reminder>x<system-reminder></system-reminder>", "x"),
        ("the tag <system-reminder> begins one", "the tag <system-reminder> begins one"),
        ("nothing", "nothing"),
    ],
)
def test_reminders_go_and_nothing_else(text: str, left: str) -> None:
    assert without_reminders(text) == left


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("     1→import os\n     2→\n     3→x = 1", {1, 2, 3}),
        ("7\tfirst\n8\tsecond", {7, 8}),
        ("404\tnot found\n500\tbroken", set()),
        ("12→alone", set()),
        ("in line 3→ nothing", set()),
    ],
)
def test_numbers_that_count_lines_are_told_from_data(text: str, numbers: set[int]) -> None:
    assert gutter_numbers(text) == numbers


def test_a_gutter_is_found_before_each_line() -> None:
    assert GUTTER.sub("", "   9→a\n  10→b\nc") == "a\nb\nc"
