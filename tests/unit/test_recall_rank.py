"""From postings to a ranking."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.unit.recall_shelf import BEGIN, SmallShelf

from ireneo.memories.ranking import read_question, terms_to_read

ANSWER = "Saturday, with the whole family, and it rained."
TALK = SmallShelf(
    [
        [
            ("Nora", "Good morning! How is the new office?"),
            ("Emil", "Loud. I miss my old desk by the window."),
            ("Nora", "Ha. So when do you go to the lighthouse?"),
            ("Emil", ANSWER),
            ("Nora", "Typical for the coast."),
        ],
        [
            ("Emil", "I repaired the bicycle yesterday."),
            ("Nora", "I sold mine, the brakes were gone."),
            ("Emil", "We bought two tents for the summer."),
            ("Nora", "My brother repaired our tents once."),
        ],
    ]
)


def test_an_answer_is_found_by_the_words_of_the_question_before_it() -> None:
    asked = "When did Emil go to the lighthouse?"
    assert ANSWER in TALK.texts(asked)[:2]
    assert ANSWER not in TALK.texts(asked, reach=0)


def test_neighbours_end_with_their_session() -> None:
    assert set(TALK.texts("bicycle")) <= {each.text for each in TALK.passages.values() if each.at != BEGIN}


def test_the_speaker_that_is_named_comes_first() -> None:
    assert TALK.texts("What did Emil have repaired?")[0] == "I repaired the bicycle yesterday."
    assert TALK.texts("What did Nora have repaired?")[0] == "My brother repaired our tents once."


def test_a_rare_term_counts_more_than_a_common_one() -> None:
    shelf = SmallShelf(
        [[(None, "tea and toast")] * 1, [(None, "tea for two")], [(None, "tea at five")], [(None, "toast")]]
    )
    assert shelf.texts("tea toast", reach=0)[:2] == ["tea and toast", "toast"]


def test_short_messages_are_not_favoured_for_being_shorter() -> None:
    shelf = SmallShelf(
        [[(None, "We painted the kiln shed with the whole pottery class on a rainy day.")], [(None, "The kiln.")]]
    )
    first, second = shelf.ranked("kiln", reach=0)
    assert first.score == second.score
    assert first.number < second.number


def test_a_long_text_needs_more_than_one_word() -> None:
    shelf = SmallShelf([[(None, "kiln " + " ".join(f"word{at}" for at in range(600)))], [(None, "The kiln is hot.")]])
    assert shelf.texts("kiln", reach=0)[0] == "The kiln is hot."


def test_when_favours_words_of_time_and_how_many_favours_figures() -> None:
    shelf = SmallShelf(
        [[(None, "I love rowing.")], [(None, "I was rowing yesterday.")], [(None, "I own three boats for rowing.")]]
    )
    assert shelf.texts("When was the rowing?")[0] == "I was rowing yesterday."
    assert shelf.texts("How many boats?", reach=0) == ["I own three boats for rowing."]
    assert "figures" in dict(shelf.ranked("How many boats?")[0].parts)


def test_the_parts_are_the_score() -> None:
    for each in TALK.ranked("When did Emil go to the lighthouse with two tents?"):
        assert sum(value for _, value in each.parts) == pytest.approx(each.score)
        assert all(value > 0 for _, value in each.parts)


def test_common_terms_wait_for_the_second_look() -> None:
    shelf = SmallShelf([[(None, f"tea {key}")] for key in range(50)] + [[(None, "toast")], [(None, "toast and tea")]])
    question = read_question("tea toast")
    assert terms_to_read(question, shelf.counts(question), 10) == ("toast",)
    assert terms_to_read(question, shelf.counts(question)) == ("toast", "tea")
    assert shelf.texts("tea toast", at_most=10) == ["toast and tea", "toast"]
    assert "common words" in dict(shelf.ranked("tea toast", at_most=10)[0].parts)


def test_the_rarest_term_is_read_however_common_it_is() -> None:
    question = read_question("tea toast unheard")
    assert terms_to_read(question, {"tea": 70, "toast": 50, "unheard": 0}, 10) == ("toast",)


def test_what_is_gone_is_left_out() -> None:
    shelf = SmallShelf([[(None, "tea")], [(None, "tea too")]])
    gone = min(shelf.passages)
    del shelf.passages[gone]
    assert [each.number for each in shelf.ranked("tea")] == list(shelf.passages)


@pytest.mark.parametrize("text", ["", "What did they do?", "unheard of", "!!!"])
def test_a_question_of_nothing_finds_nothing(text: str) -> None:
    assert TALK.ranked(text) == ()


def test_an_empty_shelf_is_searched_in_vain() -> None:
    assert SmallShelf([]).ranked("tea") == ()


def test_the_time_between_sessions_is_a_day() -> None:
    assert {each.at for each in TALK.passages.values()} == {BEGIN, BEGIN + timedelta(days=1)}
