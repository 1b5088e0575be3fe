"""What a quotation is worth, and that what is worth nothing is not kept."""

from __future__ import annotations

from pathlib import Path

import pytest

import ireneo.sync
from ireneo.memories.worth import LEAST, keep_score

WORTH = (
    "My niece is allergic to hazelnuts.",
    "We moved into the lighthouse on Saturday.",
    "I gave notice at the brewery.",
    "Meine Nichte verträgt keine Haselnüsse.",
    "Wir haben seit Ostern zwei Ziegen.",
)
WORTHLESS = (
    "Thanks, that is a great idea.",
    "I like the sound of that.",
    "I will try it and let you know.",
    "Danke, das ist super.",
)


@pytest.mark.parametrize("said", WORTH)
def test_what_is_told_of_ones_life_is_worth_keeping(said: str) -> None:
    assert keep_score(said) >= LEAST


@pytest.mark.parametrize("said", WORTHLESS)
def test_thanks_and_remarks_are_worth_nothing(said: str) -> None:
    assert keep_score(said) < LEAST


def test_an_answer_is_worth_more_with_its_question() -> None:
    assert keep_score("bass", "What do you play?") > keep_score("bass")


def test_what_is_worth_nothing_is_not_held(tmp_path: Path) -> None:
    with ireneo.sync.open(tmp_path / "memory.db", durability="normal") as memory:
        session = memory.session("chat")
        for number, text in enumerate(("We moved into the lighthouse.", "I love that plan, thank you.")):
            session.append([{"role": "user", "content": text, "timestamp": f"2031-05-0{number + 1}T09:00:00+00:00"}])
        memory.work(until_idle=True)
        held = " ".join(each.text for each in memory.memories())
    assert "lighthouse" in held
    assert "plan" not in held
