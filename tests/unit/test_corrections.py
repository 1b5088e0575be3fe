"""What is put right takes the right words, in the sentence that is put right; the wrong ones are withdrawn."""

from __future__ import annotations

from pathlib import Path

import pytest

import ireneo.sync
from ireneo.types import Record


def told_after(folder: Path, *said: str, days: int = 0) -> list[Record]:
    """All that is remembered of messages, the last of them some days after the others."""
    with ireneo.sync.open(folder / "memory.db", durability="normal") as memory:
        session = memory.session("talk")
        for minute, text in enumerate(said):
            day = 1 + (days if minute == len(said) - 1 else 0)
            at = f"2024-03-{day:02}T10:{minute:02}:00Z"
            session.append([{"role": "user", "content": text, "timestamp": at}])
            session.append([{"role": "assistant", "content": "I see.", "timestamp": at}])
        memory.work(until_idle=True)
        return sorted(memory.memories(state="any", limit=50), key=lambda each: each.recorded)


@pytest.mark.parametrize(
    ("before", "now", "attribute", "value"),
    [
        ("I'm allergic to sesame.", "No, it isn't sesame, it's mustard.", "allergy", "mustard"),
        ("My sister is called Ana.", "My sister's name isn't Ana, it's Anna.", "sibling", "Anna"),
        ("My sister is called Ana.", "My sister isn't called Ana but Anna.", "sibling", "Anna"),
        ("Mein Bruder heißt Ulf.", "Mein Bruder heißt nicht Ulf, sondern Udo.", "sibling", "Udo"),
        ("Ich bin allergisch gegen Sesam.", "Es ist nicht Sesam, es ist Senf.", "allergy", "Senf"),
        ("Ich arbeite bei Magna.", "Nicht Magna, sondern Bosch.", "employer", "Bosch"),
    ],
)
def test_what_is_put_right_takes_the_slot(tmp_path: Path, before: str, now: str, attribute: str, value: str) -> None:
    told = [each for each in told_after(tmp_path, before, now) if each.attribute == attribute]
    assert [each.value for each in told if each.holds] == [value]
    assert len([each for each in told if not each.holds]) == 1


def test_a_value_is_put_right_weeks_later(tmp_path: Path) -> None:
    told = told_after(tmp_path, "I'm allergic to sesame.", "It's not sesame, it's mustard.", days=20)
    assert [each.value for each in told if each.holds] == ["mustard"]


def test_what_was_told_weeks_ago_in_a_sentence_is_not_meant(tmp_path: Path) -> None:
    told = told_after(tmp_path, "I sing alto in the choir.", "It's not the choir, it's the organ.", days=20)
    assert any("choir" in each.text and each.holds for each in told)


@pytest.mark.parametrize(
    "later",
    [
        "Make it short.",
        "I meant well.",
        "No, in the morning I drink tea.",
        "It's not the heat, it's the humidity.",
        "I like tea, not coffee.",
        "Scrap that, it's fine.",
        "Not now, maybe later.",
        "Is it Hull? No idea.",
        "Nicht schlecht, danke.",
    ],
)
def test_what_only_looks_like_a_correction_puts_nothing_right(tmp_path: Path, later: str) -> None:
    assert told_after(tmp_path, "I live in Hull.", later)[0].holds


def test_the_history_quotes_what_the_user_said(tmp_path: Path) -> None:
    told = told_after(tmp_path, "I work as a nurse at Saint Anne.", "I quit at Saint Anne last week.")
    gone = [each for each in told if each.attribute]
    # Who leaves a hospital is still a nurse.
    assert {each.value for each in gone if each.holds} == {"nurse"}
    assert all("“I quit at Saint Anne last week”" in each.reason for each in gone if not each.holds)
    assert any("quit at Saint Anne" in each.text for each in told if each.holds)


@pytest.mark.parametrize(
    ("said", "question", "first"),
    [
        (
            (
                "I live in Hull.",
                "I'll be moving to Bath, end of June.",
                "The flat in Bath fell through, we stay in Hull.",
            ),
            "Where do I live?",
            "Hull",
        ),
        (("I work for Philips.", "I quit Philips.", "I started at Shell on Friday."), "Where do I work?", "Shell"),
        (("I live in Hull.", "I'm thinking of Bath, maybe.", "I moved to Hove."), "Where do I live?", "Hove"),
    ],
)
def test_the_standing_answer_comes_first_and_once(
    tmp_path: Path, said: tuple[str, ...], question: str, first: str
) -> None:
    told_after(tmp_path, *said)
    with ireneo.sync.open(tmp_path / "memory.db") as memory:
        found = [each.text for each in memory.recall(question)]
    assert first in found[0]
    assert not [each for each in found if each == "I see."]
    assert sum("Shell" in each for each in found) <= 1


def held_after(folder: Path, *said: str) -> list[Record]:
    return [each for each in told_after(folder, *said) if each.holds]


def test_of_two_people_the_one_that_is_named_is_put_right(tmp_path: Path) -> None:
    held = held_after(
        tmp_path,
        "My sister Ida is allergic to walnuts. My brother Ben is allergic to walnuts.",
        "Ida isn't allergic to walnuts, it's hazelnuts.",
    )
    assert {(each.subject, each.value) for each in held if each.attribute == "allergy"} == {
        ("Ida", "hazelnuts"),
        ("Ben", "walnuts"),
    }


def test_what_was_told_in_another_session_is_put_right(tmp_path: Path) -> None:
    with ireneo.sync.open(tmp_path / "memory.db", durability="normal") as memory:
        for day, text in enumerate(("My sister Ana eats no meat.", "My sister isn't called Ana, it's Anna.")):
            at = f"2024-03-0{day + 1}T10:00:00Z"
            memory.session(f"talk {day}").append([{"role": "user", "content": text, "timestamp": at}])
        memory.work(until_idle=True)
        assert {each.value for each in memory.memories() if each.attribute == "sibling"} == {"Anna"}


PEANUTS, ERDNUESSE = "My daughter Maisie is allergic to peanuts.", "Meine Tochter Maisie ist gegen Erdnüsse allergisch."


@pytest.mark.parametrize(
    "behind",
    [
        "It's a relief.",
        "It's Monday.",
        "It's such a relief.",
        "We went to the park, it's lovely there.",
        "It was just a rash.",
        "It's confirmed.",
        "Let's bake something, it's Ben's birthday.",
        "It's great news.",
    ],
)
def test_what_goes_on_behind_a_denial_is_no_value(tmp_path: Path, behind: str) -> None:
    held = held_after(tmp_path, PEANUTS, f"Maisie isn't allergic to peanuts after all. {behind}")
    assert not [each for each in held if each.attribute == "allergy"]


@pytest.mark.parametrize(
    "behind", ["Es ist ein Segen.", "Das ist Fakt.", "Es ist Sommer, da passt das gut.", "Es ist Sommer."]
)
def test_what_goes_on_behind_a_german_denial_is_no_value(tmp_path: Path, behind: str) -> None:
    held = held_after(tmp_path, ERDNUESSE, f"Maisie ist doch nicht gegen Erdnüsse allergisch. {behind}")
    assert not [each for each in held if each.attribute == "allergy"]


def test_another_pet_keeps_its_kind(tmp_path: Path) -> None:
    told = told_after(tmp_path, "I have a tortoise called Nero.", "Bo's not a tortoise, he's a terrapin.", days=20)
    assert [each.value for each in told if each.attribute == "pet" and each.holds] == ["Nero"]


@pytest.mark.parametrize(
    ("before", "said", "value"),
    [
        (
            "Meine Frau heißt Britta.",
            "Übrigens heißt meine Frau nicht Britta, sondern Birte – da hatte ich mich vertippt.",
            "Birte",
        ),
        ("My wife is called Brita.", "My wife isn't called Brita but Birte – that was a typo.", "Birte"),
        ("My wife is called Brita.", "It's not Brita, it's Birte - I always get that wrong.", "Birte"),
    ],
)
def test_what_stands_behind_a_dash_is_no_part_of_the_name(tmp_path: Path, before: str, said: str, value: str) -> None:
    held = held_after(tmp_path, before, said)
    assert [each.value for each in held if each.attribute == "partner"] == [value]


@pytest.mark.parametrize(
    ("said", "subject", "values"),
    [
        ("My daughter Maisie can't have peanuts, she swells up like a balloon.", "Maisie", {"peanuts"}),
        ("My daughter Maisie can't have peanuts. She swells up like a balloon.", "Maisie", {"peanuts"}),
        ("My son Ben mustn't eat shellfish or eggs, he can't breathe.", "Ben", {"shellfish", "eggs"}),
        ("My son Ben must not have kiwi because he gets a rash.", "Ben", {"kiwi"}),
        ("I can't eat strawberries, I come out in a rash.", "user", {"strawberries"}),
        ("I swell up when I eat shrimp.", "user", {"shrimp"}),
        ("My husband gets a rash from kiwi.", "user's husband", {"kiwi"}),
        ("Meine Tochter Maisie darf keine Erdnüsse essen, sie bekommt sonst keine Luft.", "Maisie", {"Erdnüsse"}),
        ("Meine Tochter Maisie kann keine Nüsse essen. Sie schwillt an wie ein Ballon.", "Maisie", {"Nüsse"}),
        ("Mein Sohn Ben darf keine Milch trinken, weil er sonst Quaddeln bekommt.", "Ben", {"Milch"}),
        ("Ich esse keine Erdbeeren, ich bekomme davon Ausschlag.", "user", {"Erdbeeren"}),
    ],
)
def test_what_somebody_cannot_have_since_their_body_reacts_is_an_allergy(
    tmp_path: Path, said: str, subject: str, values: set[str]
) -> None:
    held = [each for each in held_after(tmp_path, said) if each.attribute == "allergy"]
    assert {each.value for each in held} == values
    assert {each.subject for each in held} == {subject}


@pytest.mark.parametrize(
    "said",
    [
        "My daughter Maisie can't have a phone, she is eight.",
        "I can't have coffee, it keeps me awake.",
        "I don't have time. I get a rash every summer.",
        "I can't breathe when I climb stairs.",
        "I can't breathe after running fast.",
        "Meine Tochter Maisie darf keine Filme sehen, sie ist acht.",
        "Meine Tochter Maisie darf keine Limonade trinken.",
    ],
)
def test_what_somebody_cannot_have_is_no_allergy_by_itself(tmp_path: Path, said: str) -> None:
    assert not [each for each in held_after(tmp_path, said) if each.attribute == "allergy"]


@pytest.mark.parametrize(
    ("held", "denied"),
    [
        ("Meine Schwester Ida ist gegen Cashews allergisch.", "Ida ist doch nicht gegen Erdnüsse allergisch!"),
        ("Meine Schwester Ida ist allergisch gegen Cashews.", "Ida ist nicht allergisch gegen Erdnüsse."),
        ("My sister Ida is allergic to cashews.", "Turns out Ida isn't allergic to peanuts!"),
    ],
)
def test_the_denial_of_one_allergy_leaves_the_others(tmp_path: Path, held: str, denied: str) -> None:
    told = [each for each in held_after(tmp_path, held, denied) if each.attribute == "allergy"]
    assert [each.value.casefold() for each in told] == ["cashews"]


@pytest.mark.parametrize(
    "said",
    [
        "She isn't allergic to peanuts after all, it's cashews.",
        "Maisie isn't allergic to peanuts, but to cashews.",
        "Sie ist doch nicht gegen Erdnüsse allergisch, es sind Cashews.",
    ],
)
def test_a_known_allergy_is_put_right_however_it_is_denied(tmp_path: Path, said: str) -> None:
    held = held_after(tmp_path, ERDNUESSE if "Erdn" in said else PEANUTS, said)
    assert [each.value.casefold() for each in held if each.attribute == "allergy"] == ["cashews"]


@pytest.mark.parametrize("behind", [", it's great news.", ", it's me!", ". It's Ben."])
def test_who_it_is_and_how_good_is_no_allergy(tmp_path: Path, behind: str) -> None:
    said = (PEANUTS, "My son is called Ben.", f"Maisie isn't allergic to peanuts after all{behind}")
    assert not [each for each in held_after(tmp_path, *said) if each.attribute == "allergy"]


@pytest.mark.parametrize(
    ("before", "now", "kept", "gone"),
    [
        (
            "My cousin Vera keeps bees near Truro with her friend Piers.",
            "I told you wrong the other day, Piers is Vera's brother. He's the baker of the two.",
            ["Piers is Vera's brother", "the baker of the two"],
            "",
        ),
        (
            "My brother Tom lives in Leeds with his girlfriend Ines.",
            "What I said before was wrong, Ines is Tom's flatmate. She is a vet there.",
            ["Tom lives in Leeds.", "Ines is Tom's flatmate", "She is a vet"],
            "girlfriend Ines",
        ),
        (
            "Unsere Lotte macht in Jena eine Lehre als Tischlerin, drittes Lehrjahr.",
            "Ich hab dir neulich was Falsches erzählt: Lotte ist im zweiten Lehrjahr.",
            ["Lotte ist im zweiten Lehrjahr"],
            "",
        ),
    ],
)
def test_what_puts_right_outlives_what_it_puts_right(
    tmp_path: Path, before: str, now: str, kept: list[str], gone: str
) -> None:
    later = "What rhymes with moon?"
    with ireneo.sync.open(tmp_path / "memory.db", durability="normal") as memory:
        session = memory.session("talk")
        for day, text in (("2024-01-02", before), ("2024-03-05", now), ("2024-12-01", later)):
            session.append([{"role": "user", "content": text, "timestamp": f"{day}T10:00:00Z"}])
        memory.work(until_idle=True)
        told = [each.text for each in memory.memories()]
    assert all(any(words in text and "no longer" not in text for text in told) for words in kept)
    # The words that were wrong stand at most beside what puts them right.
    assert all(kept[0] in text for text in told if before.rstrip(".") in text)
    assert not gone or not any(gone in text for text in told)
