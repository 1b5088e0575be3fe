"""How a question is read: what, who and when."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from ireneo.language.times import Window, time_window
from ireneo.memories.ranking import FRAME_WEIGHT, read_question

NOW = datetime(2023, 6, 14, 10, tzinfo=UTC)  # a Wednesday
TIMES = [
    ("last May", "2023-05-01", "2023-06-01"),
    ("in May 2022", "2022-05-01", "2022-06-01"),
    ("in the May of 2022", "2022-05-01", "2022-06-01"),
    ("last June", "2022-06-01", "2022-07-01"),
    ("in December", "2022-12-01", "2023-01-01"),
    ("on 3 May 2022", "2022-05-03", "2022-05-04"),
    ("on May 3rd, 2022", "2022-05-03", "2022-05-04"),
    ("on the 3rd of May", "2023-05-03", "2023-05-04"),
    ("on 24 Dec", "2022-12-24", "2022-12-25"),
    ("on 2022-05-03", "2022-05-03", "2022-05-04"),
    ("in 2021", "2021-01-01", "2022-01-01"),
    ("yesterday", "2023-06-13", "2023-06-14"),
    ("last night", "2023-06-13", "2023-06-14"),
    ("today", "2023-06-14", "2023-06-15"),
    ("last week", "2023-06-05", "2023-06-12"),
    ("this week", "2023-06-12", "2023-06-19"),
    ("last weekend", "2023-06-10", "2023-06-12"),
    ("last Monday", "2023-06-12", "2023-06-13"),
    ("last Wednesday", "2023-06-07", "2023-06-08"),
    ("last month", "2023-05-01", "2023-06-01"),
    ("this month", "2023-06-01", "2023-07-01"),
    ("last year", "2022-01-01", "2023-01-01"),
    ("last summer", "2022-06-01", "2022-09-01"),
    ("this summer", "2023-06-01", "2023-09-01"),
    ("in the winter of 2021", "2021-12-01", "2022-03-01"),
    ("between May and July 2022", "2022-05-01", "2022-08-01"),
    ("after 2020 and before 2022", "2021-01-01", "2022-01-01"),
    ("before 3 May 2022", None, "2022-05-03"),
    ("until May 2022", None, "2022-06-01"),
    ("after May 2022", "2022-06-01", None),
    ("since March", "2023-03-01", None),
]


@pytest.mark.parametrize(("words", "since", "until"), TIMES)
def test_words_of_time_name_a_window(words: str, since: str | None, until: str | None) -> None:
    window = time_window(f"What did she paint {words}?", NOW)
    assert window is not None
    assert [each and each.date().isoformat() for each in (window.since, window.until)] == [since, until]


@pytest.mark.parametrize(
    ("words", "days", "slack"),
    [("two weeks ago", 14, 3.5), ("3 days ago", 3, 1), ("a week ago", 7, 3.5), ("a couple of weeks ago", 14, 3.5)],
)
def test_people_count_back_loosely(words: str, days: float, slack: float) -> None:
    middle = NOW - timedelta(days=days)
    wanted = Window(since=middle - timedelta(days=slack), until=middle + timedelta(days=slack))
    assert time_window(words, NOW) == wanted


def test_the_past_months_end_now() -> None:
    window = time_window("in the past two months", NOW)
    assert window is not None
    assert window.holds(NOW)
    assert window.holds(NOW - timedelta(days=60))
    assert not window.holds(NOW - timedelta(days=62))


@pytest.mark.parametrize(
    "text",
    ["What may I eat?", "May I go?", "before the move", "2000 dollars", "Where did Mar go?", "on 2022-02-31", "week"],
)
def test_what_is_no_time_names_none(text: str) -> None:
    assert time_window(text, NOW) is None


@pytest.mark.parametrize("text", ["yesterday", "last year", "in May", "300 weeks ago", "in the past month"])
def test_what_lies_before_the_first_year_is_no_time(text: str) -> None:
    assert time_window(text, datetime(1, 1, 1, tzinfo=UTC)) is None


def test_without_a_now_only_dates_are_read() -> None:
    assert time_window("yesterday, last May, two weeks ago, last week, this summer, in the past month", None) is None
    assert time_window("in May 2022", None) == time_window("in May 2022", NOW)


def test_a_window_is_in_the_zone_of_its_question() -> None:
    zone = timezone(timedelta(hours=9))
    window = time_window("yesterday", NOW.astimezone(zone))
    assert window is not None
    assert window.since == datetime(2023, 6, 13, tzinfo=zone)


def test_a_speakers_name_says_who_and_not_what() -> None:
    read = read_question("When did Caroline go hiking with her sister?", speakers=["Caroline", "Melanie"])
    assert read.who == ("Caroline",)
    assert [term for term, _ in read.terms] == ["hike", "sister"]
    assert (read.asks_when, read.asks_how_many, read.side) == (True, False, None)


def test_names_that_are_words_are_names_only_when_written_so() -> None:
    assert read_question("Where will they live?", speakers=["Will"]).who == ()
    assert read_question("Where does Will live?", speakers=["Will"]).who == ("Will",)
    assert read_question("What did April say?", now=NOW, speakers=["April"]).window is None


def test_a_first_name_is_enough_while_only_one_has_it() -> None:
    assert read_question("What did Mary sing?", speakers=["Mary Jane", "Ann Lee"]).who == ("Mary Jane",)
    assert read_question("What did Mary sing?", speakers=["Mary Jane", "Mary Lee"]).who == ()


def test_a_question_of_nothing_but_a_name_asks_about_it() -> None:
    read = read_question("Who is Caroline?", speakers=["Caroline"])
    assert read.who == ("Caroline",)
    assert [term for term, _ in read.terms] == ["carolin"]


@pytest.mark.parametrize(
    ("text", "side"),
    [
        ("What breed is my dog?", "user"),
        ("Can you remind me what I ate?", "user"),
        ("Which hostel did you recommend to me?", "assistant"),
        ("Which hostel is cheapest?", None),
    ],
)
def test_i_and_you_say_whose_words_are_meant(text: str, side: str | None) -> None:
    assert read_question(text).side == side


def test_words_about_the_answer_count_less() -> None:
    weight = dict(read_question("How many days did the glaze take to dry?").terms)
    assert weight["day"] == FRAME_WEIGHT
    assert weight["glaze"] == 1.0


def test_before_an_event_is_the_past() -> None:
    assert read_question("Where did she work before the move?", now=NOW).past
    assert not read_question("What did she do after the wedding?", now=NOW).past
    dated = read_question("What did she do before May 2022?", now=NOW)
    assert (dated.past, dated.window is not None) == (False, True)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Which evening do I go swimming?", ["evening", "swim"]),
        ("Is Nils going sailing?", ["nil", "sail"]),
        ("Where did I go?", ["go"]),
        ("How do I run go test?", ["run", "go", "test"]),
    ],
)
def test_who_goes_to_do_something_is_asked_what_it_is(text: str, words: list[str]) -> None:
    assert [term for term, _ in read_question(text).terms] == words
