"""Several that are named together end one by one; a new home or job that was announced holds once it came true."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import ireneo.sync
from ireneo.memories.record import Record

AT = datetime(2026, 1, 5, 9, tzinfo=UTC)


def told(folder: Path, *said: tuple[int, str]) -> list[Record]:
    """What is remembered of messages, each so many days after the first."""
    with ireneo.sync.open(folder / "memory.db", durability="normal") as memory:
        session = memory.session("chat")
        for day, text in said:
            session.append([{"role": "user", "content": text, "timestamp": (AT + timedelta(days=day)).isoformat()}])
        memory.work(until_idle=True)
        return list(memory.memories(state="any", limit=100))


def values(records: list[Record], attribute: str) -> set[str]:
    return {each.value for each in records if each.holds and each.attribute == attribute}


@pytest.mark.parametrize(
    ("before", "after", "attribute", "left"),
    [
        (
            "We have an old greyhound called Fern and two guinea pigs, Salt and Vinegar.",
            "Fern died on Sunday.",
            "pet",
            {"Salt", "Vinegar"},
        ),
        ("I've got three hens, Ada, Berta and Cleo.", "Berta died last night.", "pet", {"Ada", "Cleo"}),
        ("We've got a hamster named Gilbert.", "Gilbert died in the night.", "pet", set()),
        ("I have two dogs, Rex and Luna.", "We had to give Rex away.", "pet", {"Luna"}),
        ("Our two cats are called Pim and Juno.", "Juno passed away yesterday.", "pet", {"Pim"}),
        (
            "Wir haben einen Kater namens Muck und zwei Kaninchen, Hanni und Nanni.",
            "Nanni ist gestern gestorben.",
            "pet",
            {"Muck", "Hanni"},
        ),
        ("Ich hab einen Hund, Benno.", "Benno ist gestern gestorben.", "pet", set()),
        ("Wir haben zwei Kinder, Greta und Till.", "Danke!", "child", {"Greta", "Till"}),
        ("Ich spreche Deutsch, Polnisch und ein bisschen Tschechisch.", "Danke!", "language", None),
        ("I speak English, Welsh and a bit of Dutch.", "Thanks!", "language", {"English", "Welsh", "Dutch"}),
    ],
)
def test_several_named_together_end_one_by_one(
    tmp_path: Path, before: str, after: str, attribute: str, left: set[str] | None
) -> None:
    held = values(told(tmp_path, (0, before), (40, after)), attribute)
    assert held == ({"Deutsch", "Polnisch", "Tschechisch"} if left is None else left)


def test_what_others_own_is_not_the_speakers(tmp_path: Path) -> None:
    assert not values(told(tmp_path, (0, "My neighbour has two cats, Ginger and Fred.")), "pet")


@pytest.mark.parametrize(
    ("said", "attribute", "value", "ended"),
    [
        (
            [
                (0, "I work at Marlow Water as a planner."),
                (10, "I start at the Forestry Board on 4 May."),
                (121, "Three days into the new job, shattered."),
            ],
            "employer",
            "the Forestry Board",
            "Marlow Water",
        ),
        (
            [
                (0, "I'm a nurse at Hill Ward."),
                (10, "I start at the Lister Clinic on 1 March."),
                (60, "First week at the Lister Clinic done, feet like lead."),
            ],
            "employer",
            "the Lister Clinic",
            "",
        ),
        (
            [
                (0, "I live in Totnes."),
                (10, "We're moving to Stroud at the end of March, it's signed."),
                (84, "We're in! Boxes to the ceiling."),
            ],
            "home",
            "Stroud",
            "Totnes",
        ),
        (
            [
                (0, "Ich wohne in Plön."),
                (10, "Wir ziehen zum 1. April nach Husum."),
                (90, "Der Umzug ist geschafft."),
            ],
            "home",
            "Husum",
            "Plön",
        ),
        (
            [
                (0, "Ich bin Erzieherin."),
                (10, "Am 1. März fange ich in der Kita Regenbogen an."),
                (58, "Die erste Woche im neuen Job ist vorbei."),
            ],
            "employer",
            "Kita Regenbogen",
            "",
        ),
    ],
)
def test_what_was_announced_holds_once_it_came_true(
    tmp_path: Path, said: list[tuple[int, str]], attribute: str, value: str, ended: str
) -> None:
    found = told(tmp_path, *said)
    assert values(found, attribute) == {value}
    arrived = next(each for each in found if each.value == value)
    assert value.removeprefix("the ") in arrived.text
    assert said[-1][1].partition(",")[0].partition("!")[0] in arrived.text
    assert not ended or ended in {each.value for each in found if not each.holds}


def test_a_new_job_without_a_plan_has_no_name(tmp_path: Path) -> None:
    found = told(tmp_path, (0, "I work at Marlow Water."), (60, "I've got a new job!"))
    assert not values(found, "employer")


@pytest.mark.parametrize(
    ("first", "then", "attribute", "value"),
    [
        ("Ich wohne in Plön.", "Ich wohne nicht mehr in Plön, sondern in Husum.", "home", "Husum"),
        (
            "I work for the Canal Trust.",
            "I quit the Canal Trust last month and now work for the RNIB.",
            "employer",
            "RNIB",
        ),
    ],
)
def test_a_replaced_value_is_remembered_with_the_new_one(
    tmp_path: Path, first: str, then: str, attribute: str, value: str
) -> None:
    other = "Jule hat gekündigt und macht eine Werkstatt auf, in Plön."
    with ireneo.sync.open(tmp_path / "memory.db", durability="normal") as memory:
        for text in (other, first, then):
            memory.remember(text)
        found = list(memory.memories(state="any", limit=100))
    assert values(found, attribute) == {value}
    assert next(each for each in found if each.text == other).holds


@pytest.mark.parametrize(
    ("wish", "withdrawn", "stays", "gone"),
    [
        (
            "Duz mich bitte, und antworte gern in Stichpunkten.",
            "Die Stichpunkte kannst du weglassen, schreib in ganzen Sätzen.",
            "Duz mich bitte",
            "gern in Stichpunkten",
        ),
        (
            "Always answer in bullet points.",
            "You can drop the bullet points, plain sentences from now on.",
            "plain sentences",
            "Always answer in bullet",
        ),
    ],
)
def test_a_withdrawn_wish_ends(tmp_path: Path, wish: str, withdrawn: str, stays: str, gone: str) -> None:
    held = [each.text for each in told(tmp_path, (0, wish), (60, withdrawn)) if each.holds]
    assert any(stays in each for each in held)
    assert not any(gone in each for each in held)


@pytest.mark.parametrize(
    "text",
    [
        "Add the door code to the note, it's 3141. Nah, he's joking.",
        "Ab Mai heißen wir Meisterwerk, das Schild hängt schon. Nee, sagt sie, war Spaß.",
        "She wrote, and I quote, 'can't make it, my hip's gone and the van's at the garage.' What do I answer?",
    ],
)
def test_what_is_taken_back_or_quoted_is_not_remembered(tmp_path: Path, text: str) -> None:
    assert not [each.text for each in told(tmp_path, (0, text)) if each.holds]


@pytest.mark.parametrize(
    ("text", "lasts"),
    [
        ("No cherries in the cake, my lips swell and it closes my throat.", True),
        ("Kuchen für alle, aber ohne Kirschen, da geht mir der Hals zu.", True),
        ("The allergy test is back: nickel as well.", True),
        ("Hausstaub und Birke auch, sagt der Arzt.", True),
        ("The van was due on Friday and I need her for the market.", False),
    ],
)
def test_what_a_body_reacts_to_lasts(tmp_path: Path, text: str, lasts: bool) -> None:
    found = told(tmp_path, (0, text), (300, "Good evening!"))
    assert any(each.holds and "it may no longer" not in each.text for each in found) == lasts


@pytest.mark.parametrize(
    ("said", "put_right", "wrong", "right"),
    [
        (
            "I bought my aunt's old Polo off her. 900 quid, smells of dog.",
            "no wait 750. nine was before I saw it",
            "900",
            "750",
        ),
        ("Our wedding's booked for the 12th of September.", "sorry 19th, the 12th is a golf thing", "12th", "19th"),
        ("Meine Nichte heiratet am 23. Mai.", "schmarrn, 30., am 23. ist Pfingsten", "23.", "30."),
        ("Der Kurs kostet 3400 im Jahr.", "Moment, das war aus dem alten Prospekt, hier steht 3900.", "3400", "3900"),
    ],
)
def test_a_figure_that_is_put_right_at_once_is_told_with_what_is_right(
    tmp_path: Path, said: str, put_right: str, wrong: str, right: str
) -> None:
    held = [each.text for each in told(tmp_path, (0, said), (0, put_right)) if each.holds]
    assert any(right in each for each in held)
    assert all(right in each for each in held if wrong in each)


def test_an_apology_with_another_thing_puts_no_figure_right(tmp_path: Path) -> None:
    found = told(tmp_path, (0, "My rent's 640 a month."), (0, "Sorry, 3 of us are coming on Friday."))
    assert any(each.holds and "640" in each.text and "Friday" not in each.text for each in found)


@pytest.mark.parametrize(
    "text",
    [
        "Wenn ich im Lotto gewinn, mach ich eh ein Café auf.",
        "Keys in August if the solicitor ever answers his phone.",
        "Sommerfest, Einladung, sachlich, zehn Zeilen höchstens.",
    ],
)
def test_what_is_no_wish_for_answers(tmp_path: Path, text: str) -> None:
    assert not values(told(tmp_path, (0, text)), "manner")
