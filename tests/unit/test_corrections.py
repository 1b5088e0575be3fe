"""What is put right takes the right words, in the sentence that is put right; the wrong ones are withdrawn."""

from __future__ import annotations

from pathlib import Path

import pytest

import ireneo.sync
from ireneo.memories.corrections import read_corrections
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
        ("I work as a baker at Fenwick Hall.", "Scrap that, not a baker: a tiler.", "job", "tiler"),
        ("I'm allergic to sesame.", "It's not sesame. It's mustard.", "allergy", "mustard"),
        ("I'm allergic to sesame.", "No, it isn't sesame, it's mustard.", "allergy", "mustard"),
        ("We live in Hull.", "Hull? No, Hove.", "home", "Hove"),
        ("We live in Hull.", "Wait, no, Hove.", "home", "Hove"),
        ("I work for Philips.", "Oh, scrap that, it's Siemens.", "employer", "Siemens"),
        ("My sister is called Ana.", "Sorry, I meant Anna, not Ana.", "sibling", "Anna"),
        ("My sister is called Ana.", "My sister's name isn't Ana, it's Anna.", "sibling", "Anna"),
        ("My sister is called Ana.", "My sister isn't called Ana but Anna.", "sibling", "Anna"),
        ("My sister is called Ana.", "She isn't Ana with an n, it's Anna.", "sibling", "Anna"),
        (
            "Mein Bruder heißt Ulf.",
            "Übrigens heißt mein Bruder nicht Ulf, sondern Udo, ich hab mich vertippt.",
            "sibling",
            "Udo",
        ),
        ("Ich bin allergisch gegen Sesam.", "Es ist nicht Sesam, es ist Senf.", "allergy", "Senf"),
        ("Ich arbeite bei Magna.", "Nicht Magna, sondern Bosch.", "employer", "Bosch"),
        ("Ich wohne in Gmunden.", "Gmunden? Nein, Linz.", "home", "Linz"),
    ],
)
def test_what_is_put_right_takes_the_slot(tmp_path: Path, before: str, now: str, attribute: str, value: str) -> None:
    told = [each for each in told_after(tmp_path, before, now) if each.attribute == attribute]
    assert [each.value for each in told if each.holds] == [value]
    assert [each.state for each in told if not each.holds] == ["retired"]


def test_the_correction_itself_is_no_memory_and_neither_is_how_it_came(tmp_path: Path) -> None:
    said = ("I sing alto in the choir of Saint Anne.", "It's not Saint Anne, it's Saint Mark. I mixed up the two.")
    held = [each.text for each in told_after(tmp_path, *said) if each.holds]
    assert held == ["On 1 March 2024 the user said: “I sing alto in the choir of [Saint Mark].”"]


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


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("I start as a baker in May. Scrap that, not a baker: a tiler.", "I start as a tiler in May."),
        ("I'll move to Mars, haha. No, to Hove, end of June.", "I'll move to Hove, end of June"),
        ("My aunt is an actor. Not an actor, a baker.", "My aunt is a baker."),
        ("Ich ziehe nach Linz. Nein, nach Gmunden, im Juni.", "Ich ziehe nach Gmunden, im Juni"),
        ("I live in Hull. It's windy.", "I live in Hull. It's windy."),
    ],
)
def test_in_one_message_the_sentence_before_is_put_right(said: str, read: str) -> None:
    assert read_corrections(said, (), ()).text == read


def test_words_that_were_not_said_there_stand_in_brackets(tmp_path: Path) -> None:
    (held,) = told_after(tmp_path, "I'll move to Mars, haha. No, to Hove, end of June.")
    assert held.text == "On 1 March 2024 the user said: “I'll move [to Hove, end of June]”"


def test_the_history_quotes_what_the_user_said(tmp_path: Path) -> None:
    told = told_after(tmp_path, "I work as a nurse at Saint Anne.", "I quit at Saint Anne last week.")
    gone = [each for each in told if each.attribute]
    assert {each.value for each in gone if each.holds} == set()
    assert all("“I quit at Saint Anne last week”" in each.reason for each in gone)
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
            "The user lives in Hull.",
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


@pytest.mark.parametrize(
    ("was", "said"),
    [
        ("My sister Ida is allergic to walnuts.", "Actually Ida isn't allergic to walnuts, it's hazelnuts."),
        ("My sister Ida is allergic to walnuts.", "Ida is allergic to hazelnuts, not walnuts."),
        ("My sister Ida is allergic to walnuts.", "I got that wrong: it's hazelnuts, not walnuts."),
        (
            "Meine Schwester Ida ist allergisch gegen Walnüsse.",
            "Ida ist doch nicht gegen Walnüsse allergisch, sondern gegen Haselnüsse.",
        ),
        (
            "Meine Schwester Ida ist allergisch gegen Walnüsse.",
            "Ida ist gegen Haselnüsse allergisch, nicht gegen Walnüsse.",
        ),
    ],
)
def test_what_somebody_has_is_put_right_with_its_subject(tmp_path: Path, was: str, said: str) -> None:
    held = held_after(tmp_path, was, said)
    assert [each.value.casefold() for each in held if each.attribute == "allergy"] in (["hazelnuts"], ["haselnüsse"])
    assert not [each for each in held if "alnuts" in each.text.replace("hazelnuts", "") or "Walnüsse" in each.text]


def test_what_nothing_is_known_of_is_told_as_it_is(tmp_path: Path) -> None:
    held = held_after(tmp_path, "My sister is called Ida.", "Ida isn't allergic to walnuts, it's hazelnuts.")
    assert [each.value for each in held if each.attribute == "allergy"] == ["hazelnuts"]


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


@pytest.mark.parametrize(
    ("was", "said", "right"),
    [
        ("My driving test is on the 14th of November.", "No wait, I have it in the mail here, it's the 21st.", "[21]"),
        ("Der Zahnarzt ist am 3. März.", "Nein warte, ist am 5.", "[5]. März"),
        ("The clinic is on the 19th of March.", "No wait, I have the letter here, it's the 26th not the 19th.", "26th"),
    ],
)
def test_a_mere_day_is_that_of_what_was_said_before(tmp_path: Path, was: str, said: str, right: str) -> None:
    held = [each.text for each in held_after(tmp_path, was, said)]
    assert [text for text in held if right in text]
    assert not [text for text in held if "14" in text or "am 3." in text or "the 19th" in text]


@pytest.mark.parametrize("gone", [False, True])
def test_what_was_told_in_another_session_is_put_right(tmp_path: Path, gone: bool) -> None:
    with ireneo.sync.open(tmp_path / "memory.db", durability="normal") as memory:
        for day, text in enumerate(
            ("My sister Ana eats no meat. My sister is called Ana.", "She isn't Ana, it's Anna.")
        ):
            at = f"2024-03-0{day + 1}T10:00:00Z"
            memory.session(f"talk {day}").append([{"role": "user", "content": text, "timestamp": at}])
            memory.work(until_idle=True)
            if gone and not day:
                memory.remember("My sister is called Ana.", origin="user")
                memory.forget(session="talk 0")
        assert {each.value for each in memory.memories() if each.attribute == "sibling"} == {"Anna"}


PEANUTS, ERDNUESSE = "My daughter Maisie is allergic to peanuts.", "Meine Tochter Maisie ist gegen Erdnüsse allergisch."


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("Turns out Maisie isn't allergic to peanuts after all! The doctor tested her, it's cashews.", "cashews"),
        ("Maisie isn't allergic to peanuts after all, it's cashews.", "cashews"),
        ("Maisie is not allergic to peanuts. It was cashews all along.", "cashews"),
        ("Maisie isn't allergic to peanuts. We had her tested. It's cashews.", "cashews"),
        ("The doctor says Maisie isn't allergic to peanuts, we had her tested and it's cashews.", "cashews"),
        ("Maisie ist doch nicht gegen Erdnüsse allergisch! Die Ärztin hat sie getestet, es sind Cashews.", "Cashews"),
        ("Maisie ist doch nicht gegen Erdnüsse allergisch, es sind Cashews.", "Cashews"),
        ("Maisie ist nicht allergisch gegen Erdnüsse. Es waren die ganze Zeit Cashews.", "Cashews"),
        (
            "Es hat sich herausgestellt, dass Maisie nicht gegen Erdnüsse allergisch ist, sondern gegen Cashews.",
            "Cashews",
        ),
    ],
)
def test_what_is_so_stands_behind_what_is_denied(tmp_path: Path, known: bool, said: str, value: str) -> None:
    before = (ERDNUESSE if "Erdn" in said else PEANUTS) if known else "My daughter is called Maisie."
    held = [each for each in held_after(tmp_path, before, said) if each.attribute == "allergy"]
    assert [(each.subject, each.value) for each in held] == [("Maisie", value)]


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


@pytest.mark.parametrize(
    ("before", "said", "value"),
    [
        ("I have a tortoise called Nero.", "Nero's not a tortoise, he's a terrapin.", "terrapin called Nero"),
        ("I have a tortoise called Nero.", "Nero isn't a tortoise but a terrapin.", "terrapin called Nero"),
        ("Wir haben eine Katze namens Nero.", "Nero ist keine Katze, sondern ein Kater.", "Kater namens Nero"),
        ("Wir haben eine Katze namens Nero.", "Nero ist keine Katze, er ist ein Kater.", "Kater namens Nero"),
    ],
)
@pytest.mark.parametrize("days", [0, 20])
def test_a_kind_of_pet_is_put_right(tmp_path: Path, before: str, said: str, value: str, days: int) -> None:
    told = told_after(tmp_path, before, said, days=days)
    assert [each.value for each in told if each.attribute == "pet" and each.holds] == [value]


def test_another_pet_keeps_its_kind(tmp_path: Path) -> None:
    told = told_after(tmp_path, "I have a tortoise called Nero.", "Bo's not a tortoise, he's a terrapin.", days=20)
    assert [each.value for each in told if each.attribute == "pet" and each.holds] == ["tortoise called Nero"]


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
    ("said", "goal", "asks"),
    [
        (
            ("My sister is called Ida.", "Ida isn't allergic to peanuts.", "Ida is allergic to cashews."),
            "cook for Ida",
            0,
        ),
        (("My sister is called Ida.", "Ida isn't allergic to peanuts."), "cook for Ida", 1),
        (
            ("My sister is called Ida.", "Ida isn't allergic to peanuts.", "Ida is allergic to cashews."),
            "a dessert with peanuts for Ida",
            1,
        ),
        (
            (
                "Meine Schwester heißt Ida.",
                "Ida ist nicht allergisch gegen Erdnüsse.",
                "Ida ist allergisch gegen Cashews.",
            ),
            "Nachtisch für Ida",
            0,
        ),
    ],
)
def test_no_denial_is_told_for_a_meal_beside_a_standing_allergy(
    tmp_path: Path, said: tuple[str, ...], goal: str, asks: int
) -> None:
    told_after(tmp_path, *said)
    with ireneo.sync.open(tmp_path / "memory.db") as memory:
        brief = memory.brief(goal=goal).markdown
    assert ("peanuts" in brief or "Erdnüsse" in brief) == bool(asks)
    assert "ashews" in brief or len(said) < 3


def test_a_corrected_allergy_is_in_the_brief(tmp_path: Path) -> None:
    told_after(
        tmp_path,
        "My daughter Maisie can't have peanuts, she swells up like a balloon.",
        "Turns out Maisie isn't allergic to peanuts after all! The doctor tested her, it's cashews.",
    )
    with ireneo.sync.open(tmp_path / "memory.db") as memory:
        brief = memory.brief(goal="suggest a dessert with nuts for the daughter").markdown
    assert "can't have cashews" in brief
    assert "isn't allergic" not in brief


@pytest.mark.parametrize(
    "said",
    [
        "She isn't allergic to peanuts after all, it's cashews.",
        "Turns out she's not allergic to peanuts. It's cashews.",
        "Maisie doesn't have a peanut allergy after all, it's cashews.",
        "Maisie can have peanuts after all, it's cashews she's allergic to.",
        "So it wasn't peanuts after all! The doctor tested her, it's cashews.",
        "It was never the peanuts, it was cashews all along.",
        "Maisie isn't allergic to peanuts, but to cashews.",
        "Maisie isn't allergic to peanuts after all - the test says it's cashews.",
        "Sie ist doch nicht gegen Erdnüsse allergisch, es sind Cashews.",
        "Maisie verträgt Erdnüsse doch, es sind die Cashews.",
        "Maisie hat doch keine Erdnussallergie, es sind Cashews.",
        "Maisie ist doch nicht gegen Erdnüsse allergisch – es sind Cashews, sagt die Ärztin.",
    ],
)
def test_a_known_allergy_is_put_right_however_it_is_denied(tmp_path: Path, said: str) -> None:
    held = held_after(tmp_path, ERDNUESSE if "Erdn" in said else PEANUTS, said)
    assert [each.value.casefold() for each in held if each.attribute == "allergy"] == ["cashews"]


def test_a_denied_allergy_leaves_what_else_is_said_of_it(tmp_path: Path) -> None:
    said = ("I love peanuts. Ida loves peanuts.", "I'm not allergic to peanuts. It's cashews.")
    held = held_after(tmp_path, *said)
    assert [each.value for each in held if each.attribute == "allergy"] == ["cashews"]
    assert [each for each in held if "love" in each.text and "peanuts" in each.text]
    assert not [each for each in held if "love" in each.text and "cashews" in each.text]
    assert "loves peanuts" in read_corrections(" ".join(said), (), frozenset()).text


def test_whose_of_two_allergies_a_pronoun_denies_is_not_guessed(tmp_path: Path) -> None:
    held = held_after(
        tmp_path,
        "My sister Ida is allergic to walnuts. My brother Ben is allergic to walnuts.",
        "She isn't allergic to walnuts after all, it's hazelnuts.",
    )
    assert ("Ben", "walnuts") in {(each.subject, each.value) for each in held if each.attribute == "allergy"}
    assert ("Ben", "hazelnuts") not in {(each.subject, each.value) for each in held}


@pytest.mark.parametrize("behind", [", it's great news.", ", it's me!", ". It's Ben."])
def test_who_it_is_and_how_good_is_no_allergy(tmp_path: Path, behind: str) -> None:
    said = (PEANUTS, "My son is called Ben.", f"Maisie isn't allergic to peanuts after all{behind}")
    assert not [each for each in held_after(tmp_path, *said) if each.attribute == "allergy"]
