"""What a user's message asks for."""

from __future__ import annotations

import pytest

from ireneo.lessons.attempts import MOST_CHARACTERS, goal_words


@pytest.mark.parametrize(
    ("message", "goal"),
    [
        ("Fix the login. Then deploy it.", "Fix the login"),
        ("<ide_selection>lines 3 to 9 of a.py</ide_selection>why is this slow?", "why is this slow?"),
        ("<pr_description>\nConsider the following:\nFloats are rounded twice\nMore text.", "Floats are rounded twice"),
        ("ok, thanks. Now add a flag for dry runs.", "Now add a flag for dry runs"),
        ("=== Step 4: check ===\nsrc/a.py:3:1: error\nthe script stops here, why?", "the script stops here, why?"),
        ("```\nfoo()\n```\nmake this faster", "make this faster"),
        ("commit", "commit"),
        ("[Request interrupted by user]", ""),
        ("[BRIEF] Recalled from memory for this turn; nobody says it here.\n- x\n[/BRIEF]", ""),
        ("Ja, mach bitte so weiter. Danach bau den Export um.", "Danach bau den Export um"),
        ("look at `one thing and never close it", "look at one thing and never close it"),
    ],
)
def test_the_goal_is_the_first_telling_sentence(message: str, goal: str) -> None:
    assert goal_words(message) == goal


def test_a_long_goal_is_shortened_visibly() -> None:
    goal = goal_words("please rebuild " + "the very long pipeline " * 40)
    assert len(goal) <= MOST_CHARACTERS
    assert goal.endswith("…")
