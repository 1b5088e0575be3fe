"""What a question wants to know: told in other words, of whoever asks, once, and by what answers rather than echoes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.unit.test_engine_recall import opened

from ireneo import Memory
from ireneo.memories.ranking import read_question
from ireneo.memories.senses import is_about_other_subject
from ireneo.memories.serving import informative_sentences
from ireneo.types import RecallResults

MARCH = datetime(2026, 3, 1, 9, tzinfo=UTC)


async def chatted(memory: Memory, *turns: tuple[str, str]) -> None:
    """Tell each of them a week after the last one, with what is answered, and read it by rules."""
    session = await memory.session("talk")
    for number, (told, answered) in enumerate(turns):
        at = (MARCH + number * timedelta(weeks=1)).isoformat()
        await session.append(
            [
                {"role": "user", "content": told, "timestamp": at},
                {"role": "assistant", "content": answered, "timestamp": at},
            ]
        )
    await memory.work(until_idle=True)


def texts(found: RecallResults) -> list[str]:
    return [each.text for each in found]


async def test_an_answer_that_shares_no_word_is_found_by_what_tells_it(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await chatted(
            memory,
            ("The lamp in the hall flickers again.", "Try another bulb."),
            ("We got a tortoise, she sleeps all day.", "Sleepy company!"),
            ("I took up the cello, my wrists ache.", "Stretch them before you begin."),
        )
        assert "tortoise" in (await memory.recall("Which pet do we keep?"))[0].text
        assert "cello" in (await memory.recall("What instrument do I play?"))[0].text


async def test_a_memory_in_a_slot_stands_for_its_message_and_before_what_it_took_the_place_of(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await chatted(
            memory,
            ("I live in Nantes.", "Got it, Nantes!"),
            ("The kettle is broken.", "Descale it first."),
            ("I moved to Lyon.", "Got it, Lyon!"),
        )
        found = await memory.recall("Where do I live?")
        assert (found[0].kind, "Lyon" in found[0].text) == ("semantic", True)
        told = texts(found)
        assert "I moved to Lyon." not in told[:2]
        assert "Got it, Lyon!" not in told[:2]


async def test_a_reply_that_says_it_again_goes_after_what_it_answers_and_one_that_answers_does_not(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path) as memory:
        await chatted(
            memory,
            ("It's in June, in the orchard, so I need boots.", "A wedding in an orchard, how lovely!"),
            ("How do I clean suede?", "With a brush and white vinegar for suede."),
        )
        assert texts(await memory.recall("When is the wedding?"))[0].startswith("It's in June")
        assert texts(await memory.recall("What cleans suede?"))[0].startswith("With a brush")


async def test_whom_one_calls_by_a_role_is_asked_for_by_name(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await chatted(
            memory,
            ("My sister is called Odile.", "A pretty name."),
            ("The garden is all mud.", "Lay some straw."),
            ("Odile moved to Graz.", "So far away!"),
        )
        assert texts(await memory.recall("Where does my sister live?"))[0] == "Odile moved to Graz."


async def test_who_somebody_is_does_not_stand_for_where_she_lives(tmp_path: Path) -> None:
    said = "Meine Tante, die Edda, ist seit Mai im Stift in Celle."
    async with opened(tmp_path) as memory:
        await chatted(
            memory,
            (said, "Da ist es schön."),
            ("Ole ist nach Husum gezogen.", "Weit weg."),
            ("Die Wohnung ist zu laut.", "Teppiche helfen."),
        )
        assert texts(await memory.recall("Wo wohnt meine Tante?"))[0] == said


@pytest.mark.parametrize(
    ("told", "question"),
    [
        ("The boss agreed, so from now on Thursday and Friday.", "On which days do I work?"),
        ("Der Chef sagt ja, also ab jetzt donnerstags und freitags.", "An welchen Tagen arbeite ich?"),
    ],
)
async def test_days_are_asked_for_by_their_names(tmp_path: Path, told: str, question: str) -> None:
    async with opened(tmp_path) as memory:
        await chatted(
            memory,
            ("The lamp in the hall flickers again.", "Try another bulb."),
            (told, "Good."),
            ("The soup was too salty.", "Add a potato."),
        )
        assert texts(await memory.recall(question))[0] == told


@pytest.mark.parametrize(
    ("wishes", "question"),
    [
        (("Please always answer in Dutch.", "Never use emojis with me."), "How should you answer me?"),
        (("Please always answer in Dutch.", "Never use emojis with me."), "How does the user like to be answered?"),
        (("Duz mich bitte.", "Bitte nie Emojis."), "Wie sollst du mir antworten?"),
        (("Duz mich bitte.", "Bitte nie Emojis."), "Wie möchte der Nutzer angesprochen werden?"),
    ],
)
async def test_how_to_answer_is_told_by_the_wishes_the_newest_first(
    tmp_path: Path, wishes: tuple[str, str], question: str
) -> None:
    async with opened(tmp_path) as memory:
        await chatted(
            memory,
            (wishes[0], "Yes."),
            ("My aunt will answer the letter, and you know how she likes it.", "Good."),
            (wishes[1], "Yes."),
            ("Ich habe ihr gestern auf den Brief antworten wollen.", "Gut."),
        )
        found = await memory.recall(question)
        assert [each.record.value for each in found[:2] if each.record] == [*wishes[::-1]]


async def test_what_is_said_to_be_other_than_it_was_goes_before_it(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await chatted(
            memory,
            ("Rehearsal is on Mondays in the crypt.", "Enjoy it!"),
            ("Choir moved to Fridays.", "Fridays then."),
        )
        assert texts(await memory.recall("When is my choir rehearsal?"))[0] == "Choir moved to Fridays."


@pytest.mark.parametrize(
    ("text", "another"),
    [
        ("Ana's aunt lives in Porto.", True),
        ("I live in Porto.", False),
        ("Ihre Tante wohnt in Graz.", True),
        ("She cooked for her brother.", True),
        ("She and I cooked.", False),
    ],
)
def test_what_is_said_of_another(text: str, another: bool) -> None:
    assert is_about_other_subject(text) is another


def test_a_question_is_known_by_what_it_wants() -> None:
    read = read_question("What does my brother do for a living?")
    assert {"job", "sibling"} <= read.senses
    assert not read.own
    assert read_question("Where do I live these days?").own
    assert read_question("Where do I live these days?").newest
    assert dict(read_question("What do I do for a living?").beside["live"])["nurs"] == 0.8


def test_a_text_that_ends_with_a_blank_is_read() -> None:
    assert informative_sentences("I keep bees. Could you name one? ") == ["I keep bees."]


@pytest.mark.parametrize("question", ["Where does Odile live?", "Wo wohnt Odile?"])
async def test_what_is_asked_of_somebody_is_answered_by_what_is_so_of_her_first(tmp_path: Path, question: str) -> None:
    async with opened(tmp_path) as memory:
        for each in ("Margaret lives in Nantes.", "Odile lives in Lyon.", "Runa lives in Bergen."):
            await memory.remember(each)
        assert texts(await memory.recall(question))[0] == "Odile lives in Lyon."


async def test_what_only_confirms_or_goes_on_is_no_answer(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await chatted(
            memory,
            ("Go on.", "Now let's run the berth tests:"),
            ("The file berth_tests.py has been updated successfully.", "Let me look at the berth tests now."),
            ("And then?", "I kept the tests of the berth that a ferry leaves at night, and dropped the two others."),
        )
        found = await memory.recall("Which berth tests were kept?")
        assert "ferry" in found[0].text
