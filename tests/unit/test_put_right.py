"""What a message puts right itself, wishes for answers that a later one replaces, and who is named in passing."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import ireneo.sync
from ireneo.types import Record

START = datetime(2026, 1, 10, 9, tzinfo=UTC)


def held_after(path: Path, *said: str, days: int = 30) -> list[Record]:
    """The memories that hold after messages that follow each other by so many days."""
    with ireneo.sync.open(path / "memory.db", durability="normal") as memory:
        session = memory.session("chat")
        for number, text in enumerate(said):
            at = (START + timedelta(days=days * number)).isoformat()
            session.append([{"role": "user", "content": text, "timestamp": at}])
        memory.work(until_idle=True)
        return [each for each in memory.memories(state="any") if each.holds]


@pytest.mark.parametrize(
    ("said", "quoted"),
    [
        ("My dad's birthday is on June 3. Sorry, not June 3, June 13.", "June 13"),
        ("Der Geburtstag meiner Tante ist am 3. Mai. Quatsch, nicht am 3., am 13. Mai.", "13. Mai"),
        ("The spare key is with Mrs Poole. No, rubbish, she's moved out, it's with Mr Dent next door.", "Dent"),
        ("Der Kellerschlüssel liegt bei Frau Krause. Nein, Unsinn, der hängt beim Hausmeister.", "Hausmeister"),
        ("The gate code is 1873, by the bins. No wait, that's the office, 5520 is the gate.", "5520"),
    ],
)
def test_a_quotation_has_the_words_that_put_it_right(tmp_path: Path, said: str, quoted: str) -> None:
    # The last message lets go by age what doesn't last.
    held = held_after(tmp_path, said, "Thanks.", days=100)
    assert held
    assert all(quoted in each.text and said in each.text for each in held if not each.attribute)


@pytest.mark.parametrize(
    ("said", "home"),
    [
        ("My sister Nell lives in Crewe. I mean Carlisle, not Crewe.", "Carlisle"),
        ("Meine Schwester Ute wohnt in Trier. Ich meine Speyer, nicht Trier.", "Speyer"),
    ],
)
def test_a_slot_gets_the_value_that_was_meant(tmp_path: Path, said: str, home: str) -> None:
    assert [each.value for each in held_after(tmp_path, said) if each.attribute == "home"] == [home]


@pytest.mark.parametrize(
    ("wish", "newer", "left"),
    [
        ("Keep your answers short please.", "Longer answers are fine from now on.", []),
        ("Antworte bitte höchstens in vier Sätzen.", "Du darfst jetzt ausführlicher antworten.", []),
        (
            "Bitte antworte immer auf Deutsch und höchstens zwei Sätze.",
            "Du darfst jetzt ruhig länger antworten.",
            ["Bitte antworte immer auf Deutsch"],
        ),
        ("Duz mich bitte.", "Sieze mich bitte doch lieber.", []),
        ("Knappe Antworten reichen mir.", "Du darfst von nun an gern ausführlicher schreiben.", []),
        ("Always use bullet points with me.", "No more bullet points please, plain paragraphs from now on.", []),
        ("Bitte immer in Stichpunkten antworten.", "Keine Stichpunkte mehr bitte, schreib ganze Sätze.", []),
        (
            "No bullet points please, ever.",
            "Bullet points are fine for shopping lists, you can use them.",
            ["No bullet points please, ever."],
        ),
        ("Please keep answers short.", "Prices in euros please, always.", ["Please keep answers short."]),
    ],
)
def test_a_newer_wish_replaces_what_it_opposes(tmp_path: Path, wish: str, newer: str, left: list[str]) -> None:
    wishes = [each.value for each in held_after(tmp_path, wish, newer) if each.attribute == "manner"]
    assert len(wishes) == len(left) + 1
    assert [each for each in wishes if each in wish] == left


@pytest.mark.parametrize(
    ("said", "whom"),
    [
        ("My partner Gwen thinks I'm daft.", ("partner", "Gwen")),
        ("Can you find a present for my sister Orla?", ("sibling", "Orla")),
        ("Mein Mann Bernd findet das zu laut.", ("partner", "Bernd")),
        ("Meine Schwester Ilse weiß das besser.", ("sibling", "Ilse")),
    ],
)
def test_who_is_named_in_passing_is_known(tmp_path: Path, said: str, whom: tuple[str, str]) -> None:
    assert whom in {(each.attribute, each.value) for each in held_after(tmp_path, said)}


@pytest.mark.parametrize(
    "said",
    ["Can I give my cat Whiskas every day?", "My son Year 5 needs a costume.", "Kann ich meiner Katze Milch geben?"],
)
def test_what_somebody_gets_is_no_name(tmp_path: Path, said: str) -> None:
    assert not [each for each in held_after(tmp_path, said) if each.attribute in ("pet", "child")]


def test_a_toast_for_others_names_nobody(tmp_path: Path) -> None:
    assert held_after(tmp_path, "Write a toast for a friend: my wife Lucy is my rock.") == []


@pytest.mark.parametrize(
    ("names", "allergy", "who"),
    [
        ("We have two children: Lotte and Emil.", "Emil has a peanut allergy.", "Emil"),
        ("Wir haben zwei Kinder: Jule und Paul.", "Paul hat eine Nussallergie.", "Paul"),
        ("My partner Gwen thinks I'm daft.", "Gwen is allergic to shellfish.", "Gwen"),
    ],
)
def test_an_allergy_is_known_of_somebody_who_is_known(tmp_path: Path, names: str, allergy: str, who: str) -> None:
    held = held_after(tmp_path, names, allergy)
    assert [each.subject for each in held if each.attribute == "allergy"] == [who]


@pytest.mark.parametrize(
    ("said", "left", "job"),
    [
        (
            ("I'm an electrician and I work for Dawson Ltd.", "I've handed in my notice at Dawson."),
            set(),
            "electrician",
        ),
        (
            (
                "I work at Fenwick Hospital as a radiographer.",
                "From March I'll be working at the Queen's Clinic, I've handed in my notice at Fenwick.",
            ),
            set(),
            "radiographer",
        ),
        (
            (
                "Ich arbeite bei Lehmann als Statikerin.",
                "Ich habe bei Lehmann gekündigt und fange am 1. Mai bei der Stadt Fulda an.",
                "Ich bin jetzt beim Tiefbauamt in Fulda.",
            ),
            {"Tiefbauamt"},
            "Statikerin",
        ),
    ],
)
def test_who_leaves_an_employer_keeps_the_trade(
    tmp_path: Path, said: tuple[str, ...], left: set[str], job: str
) -> None:
    held = held_after(tmp_path, *said)
    assert {each.value for each in held if each.attribute == "employer"} == left
    assert [each.value for each in held if each.attribute == "job"] == [job]


@pytest.mark.parametrize(
    "said",
    [
        "Stuck on the ring road behind a tractor, so tell me a joke.",
        "Ich sitze gerade im Zug und hab zwei Stunden.",
        "The word at the depot is that Harris is closing in May.",
        "Der Paul hat beim Bäcker gehört, dass die Schule schließt.",
        "In der Rente werd ich dann Opernsänger, die Perücke ist bestellt.",
        "I've also joined the Royal Ballet. Third swan from the left.",
    ],
)
def test_what_is_so_for_an_hour_or_was_heard_or_joked_is_not_kept(tmp_path: Path, said: str) -> None:
    assert held_after(tmp_path, said) == []


@pytest.mark.parametrize(
    ("said", "correction", "home"),
    [
        ("I live in Hull.", "Not Hull, it's Hove.", "Hove"),
        ("I live in Bath.", "Sorry, not Bath, Bradford-on-Avon.", "Bradford-on-Avon"),
        ("Ich wohne in Trier.", "Nicht Trier, sondern Speyer.", "Speyer"),
    ],
)
def test_what_is_remembered_is_put_right_too(tmp_path: Path, said: str, correction: str, home: str) -> None:
    with ireneo.sync.open(tmp_path / "memory.db", durability="normal") as memory:
        memory.remember(said)
        assert memory.remember(correction).did == "superseded"
        assert [each.value for each in memory.memories(subject="user")] == [home]


@pytest.mark.parametrize(
    ("said", "later"),
    [
        ("I gave up coffee three weeks ago.", "I'm drinking coffee again, blame the baby."),
        ("Ich trinke seit vier Wochen keinen Alkohol mehr.", "Ich trinke übrigens wieder Alkohol, aber selten."),
        ("I've been vegetarian since I was twenty.", "I'm vegetarian, but I eat fish."),
        ("Mein Kater heißt Willi.", "Unser alter Kater Willi ist letzten Freitag eingeschlafen."),
    ],
)
def test_a_habit_that_ended_gives_way(tmp_path: Path, said: str, later: str) -> None:
    held = held_after(tmp_path, said, later)
    assert held
    assert not any(said.rstrip(".") in each.text or each.attribute == "pet" for each in held)


def test_what_is_left_of_two_has_no_number(tmp_path: Path) -> None:
    held = held_after(tmp_path, "Lina hat zwei Hamster, sie heißen Max und Moritz.", "Moritz ist leider gestorben.")
    assert any("Lina hat … Hamster, sie heißen Max“" in each.text for each in held)


@pytest.mark.parametrize(
    "said",
    [
        "We have a parrot, Coco. Well, had: she flew off in spring.",
        "Wir haben einen Wellensittich, Hansi. Also hatten: er ist entflogen.",
    ],
)
def test_what_is_taken_back_at_once_fills_no_slot(tmp_path: Path, said: str) -> None:
    assert [(each.attribute, said in each.text) for each in held_after(tmp_path, said)] == [("", True)]


def test_somebody_elses_dog_is_not_the_users(tmp_path: Path) -> None:
    held = held_after(tmp_path, "I share a flat with Levke and her dog. The dog is called Graf.")
    assert not [each for each in held if each.attribute == "pet"]
