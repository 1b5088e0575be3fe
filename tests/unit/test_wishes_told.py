"""Wishes for answers, corrections in half a sentence, and habits, plans and moves that came to nothing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import ireneo.sync
from ireneo.memories.extract import extract_facts
from ireneo.types import Record

AT = datetime(2024, 3, 4, 9, tzinfo=UTC)
WISHES = [
    "Three lines at most, I read this on the tram.",
    "bullet points from now on please, never paragraphs",
    "British spelling always, and never 'going forward'",
    "say it gently will you, not like a leaflet, and use easy words with me",
    "could you use capital letters when you write lists for me?",
    "I'd rather you didn't use emojis",
    "you can skip the pleasantries with me",
    "when I say go on, give me the draft and ask nothing",
    "Fass dich kürzer, maximal zwei Sätze",
    "Antworten bitte ohne Fachchinesisch",
    "Mengen bitte immer in Gramm",
    "Rückfragen sparst du dir bitte",
    "Wenn ich 'los' schreibe, dann fang an ohne Rückfragen",
    "Sie dürfen mich übrigens duzen",
    "Drei, vier Zeilen genügen mir",
    "Du musst dich bei mir nicht so knapp fassen",
    "Two or three lines are plenty for me",
    "you may write a bit longer, I've a big screen now",
]
NO_WISHES = [
    "make it shorter please",
    "keep it short, it's for the school",
    "Write me a short poem for my nan.",
    "I always answer too late, and never in full sentences.",
    "My boss wants short answers from us always.",
    "Don't let me forget the flu jab.",
    "never ask my sister about cake",
    "Schreib meiner Chefin kurz, dass ich krank bin.",
    "Mach es bitte kürzer",
    "Bitte immer dran denken bei Rezepten",
    "Ein paar Zeilen reichen mir für die Karte",
    "Zwei Stück Kuchen reichen mir am Sonntag",
    "Two lamps are enough for me in the hall",
]


def wishes(text: str) -> list[str]:
    return [each.value for each in extract_facts(text, speaker="user", at=AT) if each.attribute == "manner"]


@pytest.mark.parametrize("text", WISHES)
def test_how_somebody_wants_to_be_answered_is_known(text: str) -> None:
    assert wishes(text)


@pytest.mark.parametrize("text", NO_WISHES)
def test_what_is_wanted_of_one_text_or_told_of_oneself_is_no_wish_for_answers(text: str) -> None:
    assert not wishes(text)


def test_a_wish_is_kept_with_the_reason_behind_it() -> None:
    assert wishes("Shorter always, I read this in the van.") == ["Shorter always, I read this in the van."]


def held_after(folder: Path, *said: str, days: int = 1) -> list[Record]:
    with ireneo.sync.open(folder / "memory.db", durability="normal") as memory:
        session = memory.session("talk")
        for number, text in enumerate(said):
            at = (AT + timedelta(days=days * number)).isoformat()
            session.append([{"role": "user", "content": text, "timestamp": at}])
        memory.work(until_idle=True)
        return [each for each in memory.memories() if each.holds]


@pytest.mark.parametrize(
    ("wish", "later", "left"),
    [
        (
            "Oh and please keep your answers brief, no emojis, I'm usually on the tram.",
            "You can go back to longer answers, and emojis are fine again.",
            ["You can go back to longer answers, and emojis are fine again."],
        ),
        (
            "Oh und bitte antworte mir immer in Tabellen.",
            "Das mit den Tabellen kannst du lassen.",
            ["Das mit den Tabellen kannst du lassen."],
        ),
        ("Bitte nie Emojis.", "Emojis kannst du ruhig drin lassen.", ["Emojis kannst du ruhig drin lassen."]),
        ("Oh please keep your answers short.", "I dropped my keys.", ["Oh please keep your answers short."]),
    ],
)
def test_a_wish_told_in_passing_holds_until_it_is_withdrawn(
    tmp_path: Path, wish: str, later: str, left: list[str]
) -> None:
    assert wishes(wish)
    assert [each.value for each in held_after(tmp_path, wish, later) if each.attribute == "manner"] == left


@pytest.mark.parametrize(
    ("said", "correction", "value"),
    [
        ("My brother Tam lives in Wick.", "sorry, not Wick, Thurso", "Thurso"),
        ("My brother Tam lives in Wick.", "I meant Thurso, not Wick", "Thurso"),
        ("Mein Bruder Veit wohnt in Kiel.", "nee, nicht Kiel, Plön", "Plön"),
    ],
)
def test_half_a_sentence_puts_a_known_value_right(tmp_path: Path, said: str, correction: str, value: str) -> None:
    assert [each.value for each in held_after(tmp_path, said, correction) if each.attribute == "home"] == [value]


@pytest.mark.parametrize(
    ("said", "correction"),
    [
        ("The surveyor comes on the 14th of May at ten.", "no, not the 14th, the 15th"),
        ("Der Gutachter kommt am 3. Mai um zehn.", "ach nee, nicht am 3., am 4. Mai"),
        ("The surveyor comes on the 3rd of May at ten.", "no hang on, that's the old letter. 24th."),
    ],
)
def test_a_quotation_that_is_put_right_is_told_together_with_that(tmp_path: Path, said: str, correction: str) -> None:
    with ireneo.sync.open(tmp_path / "memory.db", durability="normal") as memory:
        ids = memory.session("talk").append(
            [
                {"role": "user", "content": text, "timestamp": (AT + timedelta(minutes=at)).isoformat()}
                for at, text in enumerate((said, correction))
            ]
        )
        memory.work(until_idle=True)
        (held,) = [each for each in memory.memories() if each.holds]
        assert f"{said.rstrip('.')} … {correction}" in held.text
        assert set(held.sources) == set(ids.ids)


def test_a_correction_that_names_nothing_known_changes_nothing(tmp_path: Path) -> None:
    held = held_after(tmp_path, "I live in Wick.", "not Hull, Hove")
    assert [each.value for each in held if each.attribute == "home"] == ["Wick"]


def test_who_is_somebody_else_is_not_called_so_any_more(tmp_path: Path) -> None:
    held = held_after(tmp_path, "My flatmate is called Orla.", "Orla isn't my flatmate, she's my neighbour.")
    assert not [each for each in held if each.attribute == "flatmate"]
    assert [each for each in held if "neighbour" in each.text]


@pytest.mark.parametrize(
    ("said", "later"),
    [
        ("I've quit smoking, two weeks now!", "I've started smoking again, sadly"),
        ("Ich rauche seit Montag nicht mehr!", "Hab wieder angefangen zu rauchen"),
        ("I drink five coffees a day", "I'm off coffee now"),
        ("I go to the gym every morning before work", "haven't been to the gym in months"),
        ("Mittwochs bin ich beim Handball, TSV Lohne.", "Mit Handball hab ich aufgehört, das Knie"),
        ("Ich spiele Bass in einer Band, Nordlicht, freitags ist Probe.", "Nordlicht löst sich auf"),
        ("We're moving to Thurso in June.", "Actually the move is off, my mum needs us here."),
        ("Wir ziehen im Juni nach Plön.", "Der Umzug ist abgeblasen"),
        ("I'm vegetarian.", "I've started eating fish again since May, so pescatarian I guess"),
        ("Ich bin Vegetarier.", "Fisch ess ich inzwischen wieder"),
    ],
)
def test_what_ended_or_began_again_is_no_longer_held(tmp_path: Path, said: str, later: str) -> None:
    held = held_after(tmp_path, said, later, days=20)
    assert [each for each in held if said.rstrip(".!") in each.text or each.value in ("vegetarian", "Bass")] == []
    assert any(later[9:20] in each.text for each in held)


def test_a_move_to_the_town_of_the_known_address_ends_nothing(tmp_path: Path) -> None:
    held = held_after(tmp_path, "I live at 14 Hill Road, Thurso.", "Moved to Thurso yesterday, all in boxes")
    assert [each.value for each in held if each.attribute == "home"] == ["14 Hill Road"]


def test_being_where_one_planned_to_move_is_a_home(tmp_path: Path) -> None:
    held = held_after(
        tmp_path, "Ich wohne in Kiel.", "Wir ziehen im Mai nach Plön.", "Wir sind jetzt in Plön, alles da"
    )
    assert [each.value for each in held if each.attribute == "home"] == ["Plön"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("I've started keeping bees since May, so a beekeeper I suppose", "“I've started keeping bees since May”"),
        ("I work three days at the mill and might quit", "three days at the mill"),
    ],
)
def test_what_is_said_before_a_guess_stays(text: str, told: str) -> None:
    assert any(told in each.text or told in each.quote for each in extract_facts(text, speaker="user", at=AT))


def test_a_word_for_letting_go_of_nobody_ends_nothing(tmp_path: Path) -> None:
    held = held_after(tmp_path, "No fish for me, my throat swells up.", "Put penicillin on the list with fish.")
    assert [each for each in held if "swells" in each.text]
