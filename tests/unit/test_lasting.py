"""What is quoted tells what is so for a while, and what happened or is so for years stays."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import ireneo.sync
from ireneo.memories.lasting import COUNTS_FOR, COUNTS_FOR_NOW, ExpiredPart, expired_part
from ireneo.memories.quoting import quotation

SAID = datetime(2031, 5, 14, 10, 0, tzinfo=UTC)
LATER = SAID + COUNTS_FOR + timedelta(days=1)


def quoted(words: str, language: str = "en", asked: str = "") -> str:
    return quotation(words, "The user", SAID, language, asked)


PRESENT = (
    ("the landlord is still on about the boiler", "en", ""),
    ("I'm on the early bus with Greta", "en", ""),
    ("my desk is next to the lift", "en", ""),
    ("the children are in the early group", "en", ""),
    ("the doctor has put me on 5 mg", "en", ""),
    ("three mornings at the bakery", "en", "How often do you work?"),
    ("I've been on the late shift since March", "en", ""),
    ("we've been living above the bakery", "en", ""),
    ("ich bin erst seit März im Lager", "de", ""),
    ("wir haben was gegen den Lärm im Keller", "de", ""),
    ("ich sitze jetzt neben dem Aufzug", "de", ""),
    ("die Garage kostet uns 60 Euro", "de", ""),
    ("dienstags und freitags", "de", "Wann hast du frei?"),
)
STAYS = (
    ("we sold the boat to a man from Hull", "en", ""),
    ("Greta has left the choir", "en", ""),
    ("she doesn't eat mushrooms", "en", ""),
    ("I'm coeliac so no bread", "en", ""),
    ("I play the zither", "en", ""),
    ("zither", "en", "What do you play?"),
    ("a swan", "en", "What did you see there?"),
    ("six", "en", "How old is your son?"),
    ("I've been roofing for twenty years", "en", ""),
    ("no pecans please, my tongue goes like a sponge", "en", ""),
    ("from lentils I cannot breathe", "en", ""),
    ("I'm scared of geese", "en", ""),
    ("Zucchini krieg ich nicht runter", "de", ""),
    ("wir haben das Boot letzte Woche verkauft", "de", ""),
    ("sie isst keine Pilze", "de", ""),
    ("ich spiele Zither", "de", ""),
    ("das mache ich seit 20 Jahren", "de", ""),
)


@pytest.mark.parametrize(("words", "language", "asked"), PRESENT)
def test_what_is_said_of_the_present_counts_for_a_while(words: str, language: str, asked: str) -> None:
    text = quoted(words, language, asked)
    assert expired_part(text, SAID, SAID + COUNTS_FOR) is None
    over = expired_part(text, SAID, LATER)
    assert over == ExpiredPart(until=SAID + COUNTS_FOR, left="")


def test_what_lasts_keeps_the_sentence_that_it_needs() -> None:
    text = quoted("My cousin Greta is here over Whitsun with the children. She's coeliac.", "en", "")
    assert expired_part(text, SAID, LATER) is None


@pytest.mark.parametrize(
    ("words", "days"),
    [
        ("in June we sail to Oslo, Greta has booked a week off", 48),
        ("we're going to take them to Crete at Easter, booked and all", 28),
    ],
)
def test_a_plan_counts_until_its_day_or_for_four_weeks(words: str, days: int) -> None:
    text = quoted(words, "en", "")
    assert expired_part(text, SAID, SAID + timedelta(days=days - 1)) is None
    over = expired_part(text, SAID, SAID + timedelta(days=days + 1))
    assert over is not None
    assert over.left == ""


@pytest.mark.parametrize("words", ["stuck on the bridge, nothing moving", "I'm off to bed with a cold"])
def test_what_is_so_at_a_moment_counts_for_a_day(words: str) -> None:
    over = expired_part(quoted(words, "en", ""), SAID, SAID + timedelta(days=2))
    assert over is not None
    assert over.left == ""


@pytest.mark.parametrize(
    ("words", "language"),
    [
        ("I can't sleep these nights", "en"),
        ("ich bin heute im Keller", "de"),
    ],
)
def test_what_is_of_the_day_counts_for_some_weeks(words: str, language: str) -> None:
    text = quoted(words, language)
    assert expired_part(text, SAID, SAID + COUNTS_FOR_NOW) is None
    assert expired_part(text, SAID, SAID + COUNTS_FOR_NOW + timedelta(days=1)) == ExpiredPart(
        until=SAID + COUNTS_FOR_NOW, left=""
    )


def test_a_visit_ends_after_the_time_that_it_takes() -> None:
    text = quoted("my nephew Lev is 2 weeks with us")
    assert expired_part(text, SAID, SAID + timedelta(days=16)) == ExpiredPart(until=SAID + timedelta(days=15), left="")


def test_what_is_left_does_not_begin_in_the_middle_of_a_choice() -> None:
    over = expired_part(
        quoted("Our lift is broken today. Or my brother gives me the van."), SAID, SAID + timedelta(days=40)
    )
    assert over == ExpiredPart(until=SAID + COUNTS_FOR_NOW, left="")


@pytest.mark.parametrize(
    "words", ["I drink coffee only until noon, otherwise I can't sleep", "Lev wants to be called Leo"]
)
def test_a_habit_or_a_wish_is_not_passing(words: str) -> None:
    assert expired_part(quoted(words, "en"), SAID, SAID + timedelta(days=100)) is None


@pytest.mark.parametrize(
    ("words", "language"),
    [
        ("Duz mich gern. Zwei Sätze reichen mir.", "de"),
        ("Du darfst jetzt ruhig wieder länger antworten.", "de"),
        ("Keep your answers short.", "en"),
        ("Short replies are enough for me.", "en"),
    ],
)
def test_a_wish_for_answers_never_gets_old(words: str, language: str) -> None:
    assert expired_part(quoted(words, language), SAID, SAID + 4 * COUNTS_FOR) is None


@pytest.mark.parametrize(("words", "language", "asked"), STAYS)
def test_what_happened_or_is_so_for_years_stays(words: str, language: str, asked: str) -> None:
    assert expired_part(quoted(words, language, asked), SAID, LATER) is None


def test_of_several_sentences_those_that_last_stay() -> None:
    over = expired_part(quoted("My desk is next to the lift. We sold the boat to Greta."), SAID, LATER)
    assert over == ExpiredPart(until=SAID + COUNTS_FOR, left=quoted("We sold the boat to Greta."))


@pytest.mark.parametrize(
    ("words", "old"),
    [
        ("My desk is next to the lift since we changed floors", True),
        ("Mein Schreibtisch steht neben dem Aufzug, seit wir umgezogen sind", True),
        ("My desk is next to the lift", False),  # too short to be understood by itself
        ("We are in Wales until Sunday and the roof of our tent leaks", False),
        ("I'm leaving the bakery and becoming a shepherd in the Outer Hebrides", False),
        ("We'll fly to Oslo in June for a week or more. My brother fetches us from the airport", False),
    ],
)
def test_what_only_became_old_is_told_with_a_warning(words: str, old: bool) -> None:
    german = words.startswith("Mein")
    text = f"Am 14. Mai 2031 sagte der Nutzer: „{words}“" if german else quoted(words)
    over = expired_part(text, SAID, LATER)
    assert over is not None
    assert bool(over.old) == old
    if over.old:
        assert words in over.old
        assert ("nicht mehr so" if german else "may no longer be so") in over.old
        assert expired_part(over.old, SAID, LATER) is None


def test_an_end_that_is_named_goes_before_all_others() -> None:
    text = quoted("I'm in plaster till June")
    over = expired_part(text, SAID, SAID + timedelta(days=30))
    assert over == ExpiredPart(until=datetime(2031, 6, 2, tzinfo=UTC), left="")
    assert expired_part(text, SAID, SAID + timedelta(days=7)) is None


@pytest.mark.parametrize("words", ["my grant runs till june 2033", "I study here until 2033"])
def test_a_year_that_is_named_is_waited_for(words: str) -> None:
    assert expired_part(quoted(words), SAID, SAID + timedelta(days=300)) is None
    assert expired_part(quoted(words), SAID, SAID + timedelta(days=1200))


def test_what_is_no_quotation_does_not_pass() -> None:
    assert expired_part("The desk is next to the lift.", SAID, LATER) is None


def test_what_counts_no_more_is_found_in_the_history_with_its_reason(tmp_path: Path) -> None:
    with ireneo.sync.open(tmp_path / "memory.db", durability="normal") as memory:
        session = memory.session("chat")
        said = (
            "my desk is next to the lift since we changed floors",
            "my niece Greta plays the tuba, poor thing",
            "what rhymes with moon?",
        )
        for number, text in enumerate(said):
            at = SAID + timedelta(days=100 * number)
            session.append([{"role": "user", "content": text, "timestamp": at.isoformat()}])
        memory.work(until_idle=True)
        (old,) = [each for each in memory.memories() if "lift" in each.text]
        assert old.text.startswith("On 14 May 2031 the user said (it may no longer be so): “my desk")
        assert "Greta" in " ".join(each.text for each in memory.memories())
        (desk,) = [each for each in memory.memories(state="retired") if "lift" in each.text]
        assert desk.reason == "It was told of 14 May 2031, and is not relied on since 10 November 2031."
        assert desk.id in [each.id for each in memory.recall("what was next to my desk before?")]
        memory.restore([desk.id])
        session.append([{"role": "user", "content": "and with spoon?", "timestamp": LATER.isoformat()}])
        memory.work(until_idle=True)
        assert [each.id for each in memory.memories() if "lift" in each.text] == [desk.id]


def test_a_home_that_was_moved_into_is_not_ended_by_the_arrival(tmp_path: Path) -> None:
    with ireneo.sync.open(tmp_path / "memory.db", durability="normal") as memory:
        session = memory.session("chat")
        said = ("I live in Leeds.", "We're moving! A flat on Bishop Street, in Ripon, keys on 18 June.", "we're in!")
        for number, text in enumerate(said):
            at = datetime(2026, 5, 1, tzinfo=UTC) + timedelta(days=25 * number)
            session.append([{"role": "user", "content": text, "timestamp": at.isoformat()}])
        memory.work(until_idle=True)
        memory.remember("I live in Ripon.", at=datetime(2026, 6, 18, tzinfo=UTC))
        homes = {fact.record.value: fact.period for fact in memory.history("user", "home")}
        assert homes["Ripon"].end is None
        assert any("Bishop Street" in each.text for each in memory.memories())
