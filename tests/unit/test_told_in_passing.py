"""What users tell in passing: within a question, with a yes or no, in another order of words, beside a joke."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import ireneo
from ireneo.memories.endings import without_ended
from ireneo.memories.extract import extract_facts
from ireneo.memories.lasting import expired_part
from ireneo.memories.quoting import SaidFact, quotation
from ireneo.memories.wording import unquoted_words

AT = datetime(2024, 5, 14, 9, tzinfo=UTC)


def facts(text: str, asked: str = "") -> list[SaidFact]:
    return [fact for fact in extract_facts(text, speaker="user", at=AT, asked=asked) if not fact.against]


def slots(text: str, asked: str = "") -> set[tuple[str, str]]:
    return {(fact.attribute, fact.value) for fact in facts(text, asked) if fact.attribute}


def quoted(text: str, asked: str = "") -> str:
    return " / ".join(unquoted_words(fact.text) for fact in facts(text, asked) if not fact.attribute)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("what can I put in a trifle because my aunt Rosa cant have gelatine", "cant have gelatine"),
        ("can you plan a picnic for Sunday since my son is coeliac and we have no car?", "my son is coeliac"),
        ("how do you cheer somebody up in hospital my aunt is in bed nine since Friday", "in bed nine"),
        ("Welches Brot kann ich backen, weil meine Tochter Zöliakie hat?", "meine Tochter Zöliakie hat"),
    ],
)
def test_a_question_tells_too(text: str, told: str) -> None:
    assert told in quoted(text)


@pytest.mark.parametrize(
    "text",
    [
        "what are the side effects of the tablets I'm on at the moment",
        "what do you think she is up to these days",
        "what can I make quickly for my brother and his children",
        "would it help because I might move to Oslo",
    ],
)
def test_what_only_belongs_to_the_question_is_told_with_it_alone(text: str) -> None:
    assert all(fact.quote == text and fact.kind == "episodic" for fact in facts(text))


@pytest.mark.parametrize(
    "text",
    [
        "how do I tell my manager at the mill that I can't do Fridays any more",
        "Was koche ich für meine Oma, die seit Mai keine Zähne mehr hat und nur noch Suppe isst?",
    ],
)
def test_a_question_that_tells_something_is_quoted(text: str) -> None:
    assert [fact.kind for fact in facts(text)] == ["episodic"]


@pytest.mark.parametrize("text", ["How long do I boil an egg?", "explain osmosis", "Wie spät ist es?"])
def test_a_question_that_tells_nothing_is_not_quoted(text: str) -> None:
    assert not facts(text)


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ("Do you drive?", "No, I never learned."),
        ("Are you vegan?", "Yes I am."),
        ("Bist du Vegetarierin?", "ja"),
        ("Rauchst du?", "nein"),
        ("Is anyone vegetarian?", "Yes, my cousin Wen."),
        ("Do you have any allergies?", "Yes, shellfish."),
    ],
)
def test_a_yes_or_no_is_quoted_with_its_question(asked: str, text: str) -> None:
    assert [fact for fact in facts(text, asked) if asked in fact.text and text.rstrip(".") in fact.text]


@pytest.mark.parametrize(("asked", "text"), [("Does that help?", "yes"), ("Is the plan fine?", "yes, go on")])
def test_a_yes_to_the_assistants_work_tells_nothing(asked: str, text: str) -> None:
    assert not facts(text, asked)


@pytest.mark.parametrize(
    ("text", "slot"),
    [
        ("Am 5. Oktober habe ich Geburtstag.", ("birthday", "5. Oktober")),
        ("Ich selbst vertrage keine Laktose.", ("allergy", "Laktose")),
        ("Gegen Birken bin ich übrigens auch allergisch.", ("allergy", "Birken")),
        ("Hallo, ich bin Arno und wohne in Fürth.", ("name", "Arno")),
        ("Hallo, ich bin Arno und wohne in Fürth.", ("home", "Fürth")),
        ("Ich arbeite als Schreiner bei Holzmann.", ("job", "Schreiner")),
        ("Seit heute bin ich Lokführer, endlich keine Nachtschicht mehr.", ("job", "Lokführer")),
    ],
)
def test_the_order_of_words_makes_no_difference(text: str, slot: tuple[str, str]) -> None:
    assert slot in slots(text)


def test_a_clause_behind_a_liking_is_none() -> None:
    assert slots("I'm into cello music, Bach bores me.") == {("like", "cello music")}


def test_she_is_whoever_was_named_even_in_a_thought() -> None:
    assert ("home", "Durham") in slots("We're thinking about Skye, in my mum's caravan. She lives in Durham.")
    assert (
        "Ada"
        not in quoted("My wife Ada is well. Her mum came for a month. She sleeps in the attic.").partition("month")[2]
    )


@pytest.mark.parametrize(
    "text",
    [
        "mei Nachbar sogt, des Haus ghört scho eana.",
        "meine cousine sacht wir heiraten bald",
        "Meine Tante meinte am Telefon, Papa wird nie wieder gehen.",
        "By that count I own half of Antwerp by now.",
    ],
)
def test_the_word_of_others_is_no_fact(text: str) -> None:
    assert not facts(text)


@pytest.mark.parametrize(
    "text",
    [
        "Cheese gives me dreadful headaches.",
        "No sesame, it makes my throat swell.",
        "I'm an alto.",
        "Von Lauch wird mir schlecht.",
        "Meine Mutter hat Demenz.",
        "My aunt is eighty on the 4th of July.",
    ],
)
def test_what_nobody_gets_rid_of_is_told_after_a_hundred_days(text: str) -> None:
    assert (
        expired_part(quotation(text, "The user", AT, "de" if "Lauch" in text else "en"), AT, AT + timedelta(days=200))
        is None
    )


def test_a_question_goes_with_its_answer() -> None:
    said = quotation("Two rooms. I sold the old car.", "The user", AT, "en", "How large is it?")
    over = expired_part(said, AT, AT + timedelta(days=200))
    assert over is not None
    assert "How large" not in over.left


def test_of_two_clauses_the_one_that_is_not_about_her_stays() -> None:
    said = quotation("We get the keys in July and Biscuit can come along.", "The user", AT, "en")
    assert unquoted_words(without_ended(said, "Biscuit died last night.") or "") == "We get the keys in July"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("how much is parking near the Royal, my gran is in there since Monday", "my gran is in there since Monday"),
        ("what would you give forty sheep in March, the hay is poor this year", "the hay is poor this year"),
        ("Was schenkt man einer Chefin, die Kollegin ist seit Mai in Rente", "die Kollegin ist seit Mai in Rente"),
        ("my doctor put me on statins in May and said Ines you have to walk more", "on statins in May"),
        ("I cancelled the paper last night and the neighbours think we are poor", "cancelled the paper"),
        (
            "somebody took my bicycle from the cellar, what must I write to the insurer",
            "took my bicycle from the cellar",
        ),
        ("Two geese came from the market, Dolly and Reba if you please.", "Two geese came from the market"),
    ],
)
def test_what_stands_beside_a_question_or_the_word_of_others_is_told(text: str, told: str) -> None:
    assert told in quoted(text)


@pytest.mark.parametrize(
    "text",
    [
        "Ada says I'm lazy and I should move to Rome.",
        "If I lived in Rome what would I eat, my sister says pasta",
        "Write me a poem where I'm a pirate. I live in Tortuga and have a parrot.",
        "now for english, write a letter from a boy who stole a car, first person, short",
    ],
)
def test_what_is_supposed_said_by_others_or_asked_for_is_not(text: str) -> None:
    assert not facts(text)


def test_verses_for_a_birthday_are_about_real_people() -> None:
    told = quoted("I need a verse for my aunt's birthday. My aunt keeps bees in Hull.")
    assert "keeps bees in Hull" in told


def test_an_answer_goes_on_with_whom_the_question_asks_of() -> None:
    told = facts("Whist. She hates loud music.", "What does your aunt enjoy?")
    assert [fact for fact in told if "your aunt" in fact.text and "Whist. She hates loud music" in fact.text]


def test_what_is_not_yet_so_counts_for_some_weeks() -> None:
    said = quotation("Sie liegt in Kiel, rechts geht noch nichts.", "The user", AT, "de")
    assert expired_part(said, AT, AT + timedelta(days=40)) is not None


@pytest.mark.parametrize(
    "text",
    [
        "If I ever ask for the news after midnight, tell me to sleep.",
        "When I'm sad, never give advice, just listen.",
        "Wenn ich traurig bin, gib mir keine Ratschläge, hör einfach zu.",
    ],
)
def test_a_rule_with_a_condition_is_a_rule(text: str) -> None:
    assert slots(text) == {("manner", text)}


@pytest.mark.parametrize(
    "text", ["If I mix vinegar and soda, tell me what happens.", "When I'm in Rome I never eat pasta."]
)
def test_a_condition_alone_rules_nothing(text: str) -> None:
    assert not [each for each in slots(text) if each[0] == "manner"]


def test_what_leads_to_a_clause_is_not_retold_with_it() -> None:
    text = "Bloody typical I cancelled the paper on Friday."
    assert quoted(text) == text


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "Kurz zu mir: Ich bin Swantje, lebe in Husum und arbeite als Köchin bei Dithmarscher Kost.",
            {("name", "Swantje"), ("home", "Husum"), ("job", "Köchin"), ("employer", "Dithmarscher Kost")},
        ),
        (
            "Vorab, damit du Bescheid weißt: Ich bin Falk, komme aus Suhl und arbeite bei den Stadtwerken Jena.",
            {("name", "Falk"), ("origin", "Suhl"), ("employer", "Stadtwerken Jena")},
        ),
        ("Ich arbeite bei den Verkehrsbetrieben Zürich.", {("employer", "Verkehrsbetrieben Zürich")}),
        (
            "A bit about me: I'm Nia, I live in Truro and I work as a potter at Larkfield Tiles.",
            {("name", "Nia"), ("home", "Truro"), ("job", "potter"), ("employer", "Larkfield Tiles")},
        ),
    ],
)
def test_an_introduction_behind_an_opening_is_read(text: str, told: set[tuple[str, str]]) -> None:
    assert slots(text) == told


@pytest.mark.parametrize(
    ("of_another", "own"),
    [
        (
            "Meine Schwester Wiebke ist Mutter geworden! Das Baby heißt Jonte.",
            "Meine Frau hat entbunden! Das Baby heißt Jonte.",
        ),
        (
            "Mein Kollege hat sich einen Hund geholt. Der Hund heißt Jonte.",
            "Wir haben meinem Vater zuliebe einen Hund geholt. Der Hund heißt Jonte.",
        ),
        (
            "My cousin has become a dad! The baby is called Jonte.",
            "My cousin and I have bought a horse. The horse is called Jonte.",
        ),
    ],
)
def test_the_child_of_another_is_not_the_users(of_another: str, own: str) -> None:
    assert "Jonte" not in {value for _, value in slots(of_another)}
    assert "Jonte" in quoted(of_another)
    assert "Jonte" in {value for _, value in slots(own)}


def test_a_day_of_the_week_is_no_employer() -> None:
    assert not slots("Der Termin mit dem Vermieter ist am Donnerstag, nein, am Freitag.")


def test_an_announced_employer_is_one_only_when_the_work_has_begun(tmp_path: Path) -> None:
    with ireneo.sync.open(tmp_path / "memory.db", durability="normal") as memory:
        for number, text in enumerate(
            ("Ab 1. August bin ich beim Klinikum Suhl.", "Heute war mein erster Tag bei der neuen Stelle.")
        ):
            at = (AT + timedelta(days=80 * number)).isoformat()
            memory.session("talk").append([{"role": "user", "content": text, "timestamp": at}])
            memory.work(until_idle=True)
            held = {each.value for each in memory.memories() if each.attribute == "employer"}
            assert held == ({"Klinikum Suhl"} if number else set())
