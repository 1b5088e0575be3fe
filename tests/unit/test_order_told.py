"""Which of two things is remembered first makes no difference to what holds."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

import ireneo.sync


@pytest.mark.parametrize(
    ("told", "ended", "question"),
    [
        ("I have a dog called Otto.", "Otto died in May.", "Do I have a dog?"),
        ("I have a dog called Otto.", "Otto died in May.", "Do I have a pet?"),
        ("Ich habe einen Hund namens Otto.", "Otto ist gestorben.", "Habe ich einen Hund?"),
    ],
)
def test_of_what_ended_the_row_that_says_so_comes_first(tmp_path: Path, told: str, ended: str, question: str) -> None:
    with ireneo.sync.open(tmp_path / "memory.db", durability="normal") as memory:
        memory.remember(told, at=datetime(2026, 1, 2, tzinfo=UTC))
        memory.remember("I have a cat called Mimi.", at=datetime(2026, 1, 3, tzinfo=UTC))
        memory.remember(ended, at=datetime(2026, 6, 1, tzinfo=UTC))
        found = [each.text for each in memory.recall(question)]
    assert any(ended in each for each in found)
    assert not any(told in each for each in found)
    assert ended in found[0] or "Mimi" in found[0]


PAIRS = (
    (("I have a dog called Otto.", "2026-01-02"), ("Otto died in May.", "2026-06-01")),
    (("I live in Hull.", "2026-01-02"), ("I moved to Hove.", "2026-06-01")),
    (("I work at Philips.", "2026-01-02"), ("I quit Philips.", "2026-06-01")),
    (("I sing in the chamber choir.", "2026-01-02"), ("I left the chamber choir.", "2026-06-01")),
    (("I'm allergic to nuts.", "2026-01-02"), ("I'm no longer allergic to nuts.", "2026-06-01")),
    (("Ich habe einen Hund namens Otto.", "2026-01-02"), ("Otto ist gestorben.", "2026-06-01")),
)


@pytest.mark.parametrize("pair", PAIRS)
def test_what_is_remembered_first_makes_no_difference(
    tmp_path: Path, pair: tuple[tuple[str, str], tuple[str, str]]
) -> None:
    held = []
    for number, told in enumerate((pair, pair[::-1])):
        with ireneo.sync.open(tmp_path / f"{number}.db", durability="normal") as memory:
            for text, at in told:
                memory.remember(text, at=datetime.fromisoformat(f"{at}T10:00:00+00:00"))
            held.append({(each.text, each.holds) for each in memory.memories(state="any", limit=20)})
    assert held[0] == held[1]
    assert (pair[0][0], False) in held[0]
