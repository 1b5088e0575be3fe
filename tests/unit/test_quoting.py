"""What fills no slot is quoted together with what it belongs to: its sentence, what points back to it, its question."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ireneo
from ireneo.memories.extract import extract_facts
from ireneo.memories.quoting import SaidFact, bare_quotation, closing_question, quotation, short_answer
from ireneo.memories.wording import unquoted_words

AT = datetime(2024, 5, 14, 12, tzinfo=UTC)


TWICE = (
    "My aunt has a stall by the canal, my brother helps her carry, My aunt has a stall by the canal, it has a blue door"
)


def quoted(text: str, asked: str = "") -> list[str]:
    return [unquoted_words(fact.text) for fact in events(text, asked)]


def events(text: str, asked: str = "") -> Iterator[SaidFact]:
    found = extract_facts(text, speaker="user", at=AT, asked=asked)
    return (fact for fact in found if fact.kind == "episodic" and not fact.against)


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        (
            "My brother has a stall by the canal, my aunt helps him and the stairs are steep.",
            "My brother has a stall by the canal, my aunt helps him and the stairs are steep.",
        ),
        (
            "My sister keeps goats behind the church. They got in again.",
            "My sister keeps goats behind the church. They got in again.",
        ),
        (
            TWICE,
            TWICE,
        ),
        ("Unser Keller steht unter Wasser. Es ist die Pumpe.", "Unser Keller steht unter Wasser. Es ist die Pumpe."),
    ],
)
def test_a_quotation_goes_on_word_for_word(text: str, whole: str) -> None:
    assert quoted(text) == [whole]


@pytest.mark.parametrize(
    "text",
    [
        "My brother rows in the second boat. What time is it? It leaves at six from our pier.",
        "My brother rows in the second boat. If I won the lottery I'd buy one. It leaves at six from our pier.",
    ],
)
def test_a_quotation_ends_at_a_question_and_at_what_is_not_meant(text: str) -> None:
    assert all("six" not in words for words in quoted(text) if "brother" in words)


@pytest.mark.parametrize(
    "text",
    [
        "can a person on statins have grapefruit, I'm on it for my heart since May",
        "How many points are there in the sailing test? I'm taking it on 21 June in Hull",
        "Wie teuer ist der Segelschein? Mein Bruder macht ihn am 21. Juni in Kiel",
    ],
)
def test_what_points_to_a_question_is_quoted_with_it(text: str) -> None:
    assert quoted(text) == [text]


def test_what_is_done_is_quoted_with_what_is_said_of_it() -> None:
    text = "I registered for the sailing exam in June, it costs 289 euros."
    assert quoted(text) == [text]


def test_what_one_would_do_is_no_procedure() -> None:
    assert extract_facts("If I fail I sell ice on the beach and never conjugate again.", speaker="user", at=AT) == []
    told = extract_facts("From Monday I'm at a bank in Kiel so the routine is changing.", speaker="user", at=AT)
    assert {fact.kind for fact in told if not fact.against} == {"episodic"}


ANSWERS = (
    ("What do you play?", "bass.", "On 14 May 2024, asked “What do you play?”, the user said: “bass.”"),
    ("Did the insurance pay?", "1400.", "On 14 May 2024, asked “Did the insurance pay?”, the user said: “1400.”"),
    (
        "Welche Schule ist es denn?",
        "die am Hafen, seit März",
        "Am 14. Mai 2024 gefragt „Welche Schule ist es denn?“, sagte der Nutzer: „die am Hafen, seit März“",
    ),
)


@pytest.mark.parametrize(("asked", "answer", "told"), ANSWERS)
def test_a_short_answer_is_told_with_its_question(asked: str, answer: str, told: str) -> None:
    assert [fact.text for fact in events(answer, asked)] == [told]
    assert [fact.answers for fact in events(answer, asked)] == [True]
    assert unquoted_words(told) == answer


def test_a_number_that_answers_is_no_number_of_a_list() -> None:
    told = [fact.text for fact in events("12. and my brother has moved back in with us", "How many eggs do you need?")]
    assert "asked “How many eggs do you need?”, the user said: “12." in told[0]
    assert not any("asked" in each and "“and my brother" in each for each in told)


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("Do you drive there?", "ya"),
        ("What do you play?", "What do you mean?"),
        ("Where do you live?", "If I were rich, in Monaco"),
        ("Whose car is it?", "My boss says it's a Lada"),
        ("What do you play?", "thank you"),
    ],
)
def test_no_answer_is_read_where_nothing_is_stated(asked: str, answer: str) -> None:
    assert short_answer(answer, asked) == ""


def test_an_offer_asks_nothing_of_the_user() -> None:
    assert closing_question("Nice. Which year is the car?") == "Which year is the car?"
    for text in (
        "Done. Shall I make it softer?",
        "Gern. Soll ein Datum hinein?",
        "It is 12.",
        "Is it?\nHere is the list.",
    ):
        assert closing_question(text) == ""


async def test_an_answer_rests_on_the_question_too_and_is_erased_with_it() -> None:
    async with ireneo.open(":memory:") as memory:
        session = await memory.session("talk")
        said = [
            {"role": "user", "content": "How much is the oil?", "timestamp": "2024-05-14T12:00:00+00:00"},
            {
                "role": "assistant",
                "content": "60. Which year is the car?",
                "timestamp": "2024-05-14T12:00:01+00:00",
            },
            {"role": "user", "content": "07. and it rattles", "timestamp": "2024-05-14T12:00:02+00:00"},
        ]
        _, question, answer = (await session.append(said)).ids
        await memory.work(until_idle=True)
        (told,) = await memory.memories()
        assert told.text == "On 14 May 2024, asked “Which year is the car?”, the user said: “07.”"
        assert told.sources == (question, answer)
        await memory.forget(message=question)
        assert list(await memory.memories(state="any")) == []


async def test_each_sentence_of_a_quotation_ends_what_it_says_itself() -> None:
    async with ireneo.open(":memory:") as memory:
        session = await memory.session("talk")
        for day, text in enumerate(
            (
                "My piano lesson is on Monday at the tower school.",
                "Our cat was found on Wednesday. Somebody from the tower had her.",
            )
        ):
            await session.append([{"role": "user", "content": text, "timestamp": f"2024-05-{14 + day}T12:00:00+00:00"}])
        await memory.work(until_idle=True)
        assert any("piano" in each.text and each.holds for each in await memory.memories())


PIECES = (
    (
        "My aunt has a stall by the canal",
        "my brother helps her carry",
        "it has a blue door",
        "bass",
        "what do they like at that age",
        "If I were rich I'd sail",
        "last year it was 40 euros",
    ),
    ("Mein Bruder hat uns geholfen", "es regnet rein", "Wenn ich reich wäre, würde ich segeln", "was kostet das"),
)
_WORD = re.compile(r"\w+")


@given(
    pieces=st.sampled_from(PIECES).flatmap(lambda some: st.lists(st.sampled_from(some), min_size=1, max_size=5)),
    joins=st.lists(st.sampled_from((", ", ". ", "? ", " and ", "\n", "! ")), min_size=5, max_size=5),
)
def test_a_quotation_has_the_words_of_its_message_in_their_order(pieces: list[str], joins: list[str]) -> None:
    text = "".join(f"{piece}{join}" for piece, join in zip(pieces, joins, strict=False))
    for asked in ("", "What did you find?"):
        for words in quoted(text, asked):
            said = iter(_WORD.findall(text))
            assert all(word in said for word in _WORD.findall(words))
            assert "sail" not in words
            assert "segeln" not in words


def test_a_question_that_is_asked_again_behind_the_answer_leaves_the_answer() -> None:
    asked = "what do they like at that age!"
    (words,) = quoted(f"{asked} last year it was 40 euros and {asked}")
    assert "last year it was 40 euros" in words


@pytest.mark.parametrize("join", [", ", ". "])
def test_what_is_said_three_times_is_quoted_once(join: str) -> None:
    said = "My aunt has a stall by the canal"
    (words,) = quoted(f"{join.join([said] * 3)}.", "")
    assert words.count(said) == 1


@pytest.mark.parametrize(
    ("who", "language", "asked", "shown"),
    [
        ("The user", "en", "", "“I sold the boat: all of it.”"),
        ("The user", "en", "And the boat?", "“And the boat?”: “I sold the boat: all of it.”"),
        ("Mara Ode", "en", "", "Mara Ode: “I sold the boat: all of it.”"),
        ("Mara", "en", "And the boat?", "Mara “And the boat?”: “I sold the boat: all of it.”"),
        ("The user", "de", "", "„I sold the boat: all of it.“"),
        ("Mara", "de", "Und das Boot?", "Mara „Und das Boot?“: „I sold the boat: all of it.“"),
        ("Mara", "de", "", "Mara: „I sold the boat: all of it.“"),
    ],
)
def test_a_list_shows_the_words_of_a_quotation_without_the_day_beside_them(
    who: str, language: str, asked: str, shown: str
) -> None:
    words = "I sold the boat: all of it."
    for month in range(1, 13):
        assert bare_quotation(quotation(words, who, datetime(2026, month, 9, tzinfo=UTC), language, asked)) == shown
    if not asked:
        assert bare_quotation(quotation(words, who, None, language)) == shown


def test_what_is_no_quotation_is_listed_as_it_is() -> None:
    for text in ("Mara said: no.", "The note said: “gone”, and Odo read it.", "On 3 May 2026 the boat sank.", ""):
        assert bare_quotation(text) == text


@pytest.mark.parametrize(
    ("text", "opening"),
    [
        ("Wir haben zwei Ziegen auf der Wiese hinterm Haus. Netter Zug, friss Gras.", "Am 14. Mai 2024 sagte"),
        ("My aunt keeps goats behind the church, the Zicken, and milks them daily.", "On 14 May 2024 the user said"),
    ],
)
def test_a_quotation_has_the_words_before_it_in_its_own_language(text: str, opening: str) -> None:
    told = [fact.text for fact in events(text) if fact.kind == "episodic"]
    assert told
    assert all(each.startswith(opening) for each in told)


@pytest.mark.parametrize("text", ["Under a leaking roof.", "We're in!"])
def test_a_few_words_that_say_nothing_alone_are_not_quoted(text: str) -> None:
    assert not [fact for fact in events(text) if not fact.against]
