"""A plan ends nothing: it stands beside what holds, until it came true, fell through, or nobody knows."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import ireneo.sync
from ireneo.memories.lasting import is_plan, without_plans
from ireneo.types import Record

SAID = datetime(2024, 3, 4, 10, tzinfo=UTC)
"""A Monday."""


def held_after(folder: Path, *said: tuple[int, str]) -> list[Record]:
    """All that is remembered of what was said on days counted from the first."""
    folder.mkdir(exist_ok=True)
    with ireneo.sync.open(folder / "memory.db", durability="normal") as memory:
        for day, text in said:
            at = (SAID + timedelta(days=day)).isoformat()
            memory.session("talk").append([{"role": "user", "content": text, "timestamp": at}])
            memory.session("talk").append([{"role": "assistant", "content": "I see.", "timestamp": at}])
        memory.work(until_idle=True)
        return sorted(memory.memories(state="any", limit=50), key=lambda each: each.recorded)


@pytest.mark.parametrize(
    "text",
    [
        "I'll be moving to Bath.",
        "We're going to sell the boat.",
        "I start at the bakery in May.",
        "We move on Friday.",
        "I'm leaving the orchestra in March.",
        "We're moving to Bath.",
        "From next month I'm teaching in Hull.",
        "My brother retires in June.",
        "We're not moving to Bath after all.",
        "Ich werde im Mai bei Bosch anfangen.",
        "Wir ziehen im Juni nach Linz.",
        "Ab Mai arbeite ich bei Bosch.",
        "Ich will im Herbst umziehen.",
    ],
)
def test_what_is_to_come_is_a_plan(text: str) -> None:
    assert is_plan(text, SAID)


@pytest.mark.parametrize(
    "text",
    [
        "I moved to Bath on Friday.",
        "We're moving to Bath today.",
        "I won't eat meat.",
        "There will be no wedding.",
        "I will never go back to meat.",
        "I'm going to the gym.",
        "I live in Bath until June.",
        "I work on Mondays.",
        "I've started at the bakery.",
        "Training moves to Wednesday.",
        "I have an exam on Friday.",
        "Ich habe am Montag bei Bosch angefangen.",
        "Ich wohne seit Mai in Linz.",
        "Ich werde nie wieder Fleisch essen.",
    ],
)
def test_what_is_so_or_happened_is_none(text: str) -> None:
    assert not is_plan(text, SAID)


def test_of_a_sentence_that_says_more_only_the_plan_is_left_out() -> None:
    said = "I broke my wrist on the ice, so I'll skip the race in June."
    assert without_plans(said, SAID) == "I broke my wrist on the ice"


@pytest.mark.parametrize(
    ("before", "plan"),
    [
        ("I live in Hull.", "I'll be moving to Bath, end of June."),
        ("I live in Hull.", "We're moving to Bath."),
        ("I work as a cook at the Anchor inn.", "I start as a teacher in May."),
        ("I work at Philips.", "I'm leaving Philips in March."),
        ("I drive a Volvo.", "I'm going to sell the Volvo in spring."),
        ("I smoke a pack a day.", "I'll quit smoking on Monday."),
        ("I'm vegetarian.", "From next week I'll eat meat again."),
        ("Ich wohne in Gmunden.", "Wir ziehen im Juni nach Linz."),
        ("Ich arbeite bei Magna.", "Ab Juni arbeite ich bei Bosch."),
        ("Ich arbeite bei Magna.", "Ich kündige im Juni bei Magna."),
    ],
)
def test_a_plan_ends_nothing_and_is_held_as_said(tmp_path: Path, before: str, plan: str) -> None:
    held = held_after(tmp_path, (0, before), (1, plan))
    assert all(each.holds for each in held)
    assert any(plan.rstrip(".") in each.text and not each.attribute for each in held)


@pytest.mark.parametrize(
    ("before", "plan", "off"),
    [
        ("I live in Hull.", "We're moving to Bath in June.", "The flat in Bath fell through."),
        ("I live in Hull.", "We're moving to Bath in June.", "We're staying put after all."),
        ("I live in Hull.", "I'll be moving to Bath in June.", "I'm not moving to Bath after all."),
        ("I live in Hull.", "I'll be moving to Bath in June.", "The Bath thing came to nothing."),
        ("I work at Philips.", "I'm leaving Philips in May.", "I'm staying at Philips after all."),
        ("I work at Philips.", "I'll start at Shell in June.", "I won't start at Shell after all, they cut the post."),
        ("We have two cats.", "We're getting a dog in May.", "We're not getting a dog after all."),
        ("I live in Hull.", "We're off to Crete at Easter, booked and all.", "No Crete. Measles, both of them."),
        ("I live in Hull.", "We have tickets for the weekend in Ghent.", "We never got to Ghent, the line was shut."),
        ("I live in Hull.", "In May I sail to Skagen with Nils.", "Nils had flu, so nothing came of Skagen."),
        ("I live in Hull.", "We fly to Riga on 2 May.", "riga bust btw, they struck"),
        ("Ich wohne in Gmunden.", "Wir ziehen im Juni nach Linz.", "Wir bleiben doch in Gmunden."),
        ("Ich wohne in Gmunden.", "Wir ziehen im Juni nach Linz.", "Das mit Linz hat sich zerschlagen."),
        ("Ich arbeite bei Magna.", "Ich kündige im Juni bei Magna.", "Ich kündige doch nicht, Magna zahlt mehr."),
    ],
)
def test_a_plan_that_came_to_nothing_is_retired_and_what_held_holds(
    tmp_path: Path, before: str, plan: str, off: str
) -> None:
    first, planned, *_ = held_after(tmp_path, (0, before), (1, plan), (9, off))
    assert (first.holds, planned.holds) == (True, False)


@pytest.mark.parametrize(
    "later",
    [
        "I stayed in a hotel in Bath last weekend.",
        "We're staying in Bath this weekend.",
        "I like Bath.",
        "No idea what to pack for Bath.",
    ],
)
def test_what_says_nothing_of_a_plan_leaves_it(tmp_path: Path, later: str) -> None:
    held = held_after(tmp_path, (0, "I live in Hull."), (1, "We're moving to Bath in June."), (9, later))
    assert all(each.holds for each in held)


def test_a_plan_that_came_true_is_one_no_longer(tmp_path: Path) -> None:
    said = ((0, "I live in Hull."), (1, "We're moving to Bath in June."), (120, "We moved to Bath on Friday."))
    held = held_after(tmp_path, *said)
    assert [each.value for each in held if each.holds] == ["Bath"]


@pytest.mark.parametrize(
    ("home", "plan"),
    [
        ("I live in Hull.", "We're moving to Bath in June."),
        ("Ich wohne in Gmunden.", "Wir ziehen im Juni nach Linz."),
    ],
)
def test_a_plan_whose_day_has_passed_is_let_go_and_what_held_stays(tmp_path: Path, home: str, plan: str) -> None:
    held = [each for each in held_after(tmp_path, (0, home), (1, plan), (130, "How do I boil an egg?")) if each.holds]
    assert [each.attribute for each in held] == ["home"]


@pytest.mark.parametrize("text", ["In December we want to fly to Crete.", "Im Dezember wollen wir nach Kreta fliegen."])
def test_what_is_wanted_for_a_later_month_stands_until_that_is_over(tmp_path: Path, text: str) -> None:
    for days, holds in ((60, True), (270, True), (330, False)):
        held = held_after(tmp_path / str(days), (0, text), (days, "How do I boil an egg?"))
        assert any("ret" in each.text and each.holds for each in held) is holds


@pytest.mark.parametrize(
    ("plan", "there", "home"),
    [
        ("We're moving to Bath in August.", "So we're finally in Bath.", "Bath"),
        ("Wir ziehen im Juni nach Linz.", "Jetzt sind wir in Linz!", "Linz"),
    ],
)
def test_who_is_where_they_meant_to_move_lives_there(tmp_path: Path, plan: str, there: str, home: str) -> None:
    held = [each for each in held_after(tmp_path, (0, plan), (60, there)) if each.holds]
    assert [each.value for each in held if each.attribute == "home"] == [home]


def test_who_is_somewhere_without_a_plan_may_be_on_a_visit(tmp_path: Path) -> None:
    assert not [each for each in held_after(tmp_path, (0, "We're in Bath now!")) if each.attribute == "home"]
