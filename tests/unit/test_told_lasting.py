"""What of that which users say is held as a fact that lasts, what as an event of its day, and how sets change."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import ireneo.sync
from ireneo.memories.extract import extract_facts, single_fact
from ireneo.types import Record

AT = datetime(2024, 5, 14, 9, tzinfo=UTC)

FACTS = [
    "I play the cello.",
    "I'm allergic to figs.",
    "I live in Leeds.",
    "Ich spiele Cello.",
    "Ich bin Schreiner bei Holzmann.",
    "Ich wohne in Fürth.",
]
EVENTS = [
    "I've got a stall at the market.",
    "My mum keeps bees behind the church.",
    "My mum likes Leeds.",
    "I bought a kiln.",
    "My tenant pays on the first.",
    "I've started bouldering on Tuesdays.",
    "I'm packing two crates of plums.",
    "I'm revising for my chemistry resit.",
    "I had the boiler replaced.",
    "We're flying to Oslo in June.",
    "The baby is 9 weeks old.",
    "My boss gave me a raise.",
    "Biscuit has a new friend at the stable.",
    "Unser Hund ist 9 Wochen alt.",
    "Wir fliegen im Juni nach Oslo.",
    "Meine Oma hält Bienen.",
]


@pytest.mark.parametrize("text", FACTS)
def test_what_fills_a_slot_of_the_speaker_is_a_fact(text: str) -> None:
    assert "semantic" in {fact.kind for fact in extract_facts(text, speaker="Ines", at=AT)}


@pytest.mark.parametrize("text", EVENTS)
def test_all_else_is_an_event_of_its_day(text: str) -> None:
    assert {fact.kind for fact in extract_facts(text, speaker="Ines", at=AT)} == {"episodic"}


def held_after(tmp_path: Path, *texts: str) -> list[Record]:
    with ireneo.sync.open(tmp_path / "memory.db", durability="normal") as memory:
        session = memory.session("chat")
        for number, text in enumerate(texts):
            at = (AT + timedelta(days=10 * number)).isoformat()
            session.append([{"role": "user", "content": text, "timestamp": at}])
        memory.work(until_idle=True)
        return [each for each in memory.memories(state="any", limit=100) if each.holds]


SETS = [
    ("My choir is Ada, Finn, Gus and me.", "Finn has left the choir.", ["Ada", "Gus"], "Finn"),
    ("We stream with Netflix, Mubi and Sky.", "Cancelled Sky last night.", ["Netflix", "Mubi"], "Sky"),
    ("I'm allergic to walnuts, figs and latex.", "Turns out figs are fine after all.", ["walnuts", "latex"], "figs"),
    ("Meine Kurse: Keramik, Yoga und Chor.", "Keramik hab ich aufgegeben.", ["Yoga", "Chor"], "Keramik"),
    ("Zu viert im Büro: Ali, Beate, Cem und ich.", "Cem hat gekündigt.", ["Ali", "Beate"], "Cem"),
    ("Ich nehme Ramipril und Xarelto.", "Das Ramipril hat die Ärztin abgesetzt.", ["Xarelto"], "Ramipril"),
]


@pytest.mark.parametrize(("before", "now", "stay", "gone"), SETS)
def test_of_a_set_the_others_stay(tmp_path: Path, before: str, now: str, stay: list[str], gone: str) -> None:
    held = held_after(tmp_path, before, now)
    assert all(any(one in each.text for each in held) for one in stay)
    assert not [each.text for each in held if gone in each.text and each.at.day == AT.day]


@pytest.mark.parametrize(
    ("before", "now", "old"),
    [
        ("I have two ferrets.", "I have three ferrets now.", "two"),
        ("Ich habe zwei Katzen.", "Jetzt habe ich drei Katzen.", "zwei"),
    ],
)
def test_another_number_takes_the_place_of_the_last(tmp_path: Path, before: str, now: str, old: str) -> None:
    assert not [each.text for each in held_after(tmp_path, before, now) if old in each.text]


def test_two_verbs_of_one_subject_say_two_things(tmp_path: Path) -> None:
    held = held_after(tmp_path, "I work at Siemens.", "I quit Siemens and started at Airbus.")
    assert [each.value for each in held if each.attribute == "employer"] == ["Airbus"]
    found = single_fact("Mia quit Siemens and started at Airbus.")
    assert found is not None
    assert (found.attribute, found.value) == ("employer", "Airbus")


def test_what_a_message_tells_is_quoted_together_beside_its_facts() -> None:
    said = "Ich spiele Cello. Unser Hund ist 9 Wochen alt. Ich habe eine Werkstatt in Fürth."
    cello, rest = extract_facts(said, speaker="Ines", at=AT)
    assert cello.attribute == "plays"
    assert rest.quote == "Unser Hund ist 9 Wochen alt. Ich habe eine Werkstatt in Fürth."


def test_where_a_verb_follows_without_its_subject_it_is_a_statement_of_its_own(tmp_path: Path) -> None:
    held = held_after(tmp_path, "Ich bin Bäckerin in Kassel, stehe jeden Tag um zwei auf.")
    assert sorted("um zwei" in each.text for each in held) == [False, True]


def quoted_of(text: str) -> list[str]:
    told = [fact for fact in extract_facts(text, speaker="Ines", at=AT) if not fact.against]
    return [fact.text.partition(": “")[2].rstrip("”") for fact in told]


@pytest.mark.parametrize(
    "text",
    [
        "We've got a new lodger in the attic. Called Moss. She'll be here till June",
        "Pavel handed his notice in. off to a foundry in Ostrava, the traitor",
        "I row now instead of running. Tuesday and Saturday on the canal, before breakfast.",
    ],
)
def test_a_piece_without_a_verb_goes_on_with_what_is_quoted_before_it(text: str) -> None:
    assert quoted_of(text) == [text]


def test_what_is_said_to_the_assistant_is_no_part_of_a_quotation() -> None:
    assert quoted_of("My mum keeps bees behind the church. Don't tell Anna") == ["My mum keeps bees behind the church."]


@pytest.mark.parametrize(
    "text",
    [
        "Three bedrooms and a garden in Whitby",
        "first day at Halden Works done.",
        "Jonah's in third grade",
    ],
)
def test_what_has_no_subject_or_says_what_others_did_to_the_speaker_is_kept(text: str) -> None:
    assert quoted_of(text) == [text]


@pytest.mark.parametrize(
    ("text", "attribute"),
    [
        ("Vera's from Tomsk and she teaches on Sundays", "origin"),
        ("Vera's from Tomsk and she teaches on Sundays", "name"),
        ("I do have fish at restaurants", "pet"),
        ("I've joined Fenwick Hill instead", "employer"),
    ],
)
def test_a_doubtful_statement_fills_no_slot(text: str, attribute: str) -> None:
    assert attribute not in {fact.attribute for fact in extract_facts(text, speaker="Ines", at=AT)}


def test_a_german_introduction_keeps_its_second_verb() -> None:
    said = "Hallo, ich bin Wenke, Töpferin in Husum, und brauche Hilfe"
    texts = [fact.text for fact in extract_facts(said, speaker="", at=AT)]
    assert not any("bin brauche" in text for text in texts)


def test_talks_are_read_in_the_order_in_which_they_were_held(tmp_path: Path) -> None:
    with ireneo.sync.open(tmp_path / "memory.db", durability="normal") as memory:
        for number, text in enumerate(("My van is an old Transit.", "I swapped the Transit for a Vivaro.")):
            at = (AT + timedelta(days=30 * number)).isoformat()
            memory.session(f"talk {number}").append([{"role": "user", "content": text, "timestamp": at}])
        memory.work(until_idle=True)
        held = {each.text: each.holds for each in memory.memories(state="any")}
    assert [holds for text, holds in held.items() if "old Transit" in text] == [False]
    assert all(holds for text, holds in held.items() if "Vivaro" in text)


def test_what_was_said_earlier_ends_nothing_that_was_said_later(tmp_path: Path) -> None:
    with ireneo.sync.open(tmp_path / "memory.db", durability="normal") as memory:
        for number, text in ((1, "I sing in the choir at Hale on Tuesdays."), (0, "I have quit the choir at Hale.")):
            at = (AT + timedelta(days=30 * number)).isoformat()
            memory.session(f"talk {number}").append([{"role": "user", "content": text, "timestamp": at}])
            memory.work(until_idle=True)
        assert [each.text for each in memory.memories(state="any") if not each.holds] == []


def test_a_slot_is_told_without_the_remark_behind_it() -> None:
    text = "I'm vegan by the way, yes I know, honey, let's not"
    assert [fact.text for fact in extract_facts(text, speaker="Ines", at=AT) if fact.attribute == "diet"] == [
        "Ines is vegan."
    ]
    (home,) = [fact for fact in extract_facts("I live in Ghent, Belgium.", speaker="Ines", at=AT) if fact.attribute]
    assert home.text == "Ines lives in Ghent, Belgium."


def test_a_quotation_keeps_the_remark_behind_a_value() -> None:
    text = "I live in Tynemouth, in the same house since 1974, with a cat who came with the coal."
    assert [fact.text for fact in extract_facts(text, speaker="Ines", at=AT) if fact.attribute == "home"] == [
        f"On 14 May 2024 Ines said: “{text}”"
    ]


def test_what_names_something_that_was_told_of_is_kept(tmp_path: Path) -> None:
    held = held_after(
        tmp_path, "I'm saving for a trip to Lanzarote in October", "the Lanzarote money went on a suit for work."
    )
    assert any("went on a suit" in each.text for each in held)


@pytest.mark.parametrize("text", ["haven't had a cigarette for eight weeks either", "no football till spring, sadly"])
def test_what_is_not_so_is_kept_without_its_subject(text: str) -> None:
    assert quoted_of(text) == [text]
