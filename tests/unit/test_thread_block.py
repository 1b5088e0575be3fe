"""How open threads are shown: word for word, the weightiest where there is little room, and never over it."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.property.test_threads import thread

from ireneo.log.message import PINS_TAG, Draft, MessageId, Text, chain
from ireneo.summaries.pins import find_pins
from ireneo.summaries.threads import render_thread, thread_lines

LETTER = replace(
    thread(1, who="Vera", whom="Tom"), text="I'll bring the letter\nbefore spring.", source=MessageId("m_8f2kq1xabcdef")
)


def count(text: str) -> int:
    return len(text.split())


def test_a_thread_is_said_on_one_line() -> None:
    assert render_thread(LETTER) == "promise · Vera → Tom: “I'll bring the letter before spring.” · m_8f2kq1x"


def test_who_is_not_known_is_left_out() -> None:
    assert (
        render_thread(replace(LETTER, who="", source=None))
        == "promise · to Tom: “I'll bring the letter before spring.”"
    )
    assert render_thread(replace(LETTER, whom="")).startswith("promise · Vera: “I'll")
    assert render_thread(replace(LETTER, who="", whom="")).startswith("promise: “I'll")


def test_who_stands_in_the_words_is_not_named_twice() -> None:
    told = replace(LETTER, text="Vera promised Tom the letter before spring.")
    assert render_thread(told) == "promise: “Vera promised Tom the letter before spring.” · m_8f2kq1x"
    assert render_thread(replace(told, whom="Holm")).startswith("promise · Vera → Holm: “Vera promised")


def test_with_room_every_thread_stands_in_order() -> None:
    row = [thread(n) for n in range(5)]
    assert thread_lines(row, 0, 1_000, count) == [f"- {render_thread(each)}" for each in row]
    assert thread_lines(row, 3, 1_000, count)[-1] == "(3 older ones were let go; open the story to find them.)"
    assert thread_lines([], 0, 1_000, count) == []


def test_without_it_the_weightiest_stand_and_the_rest_are_counted() -> None:
    row = [thread(n, weight=9.0 if n in (2, 6) else 1.0) for n in range(9)]
    shown = thread_lines(row, 4, 60, count)
    assert f"- {render_thread(row[2])}" in shown
    assert f"- {render_thread(row[6])}" in shown
    threads = [line for line in shown if line.startswith("- ")]
    kinds = f"{9 - len(threads)} {row[0].kind}s"
    assert f"({9 - len(threads)} more open threads, older or less telling, have no room here: {kinds}.)" in shown
    assert shown[-1].startswith("(4 older ones")


@pytest.mark.parametrize("room", range(0, 80, 3))
def test_it_never_takes_more_than_its_room(room: int) -> None:
    shown = thread_lines([thread(n) for n in range(9)], 2, room, count)
    assert sum(count(line) + 1 for line in shown) <= room


def test_a_block_that_is_read_again_makes_no_constraints_of_threads() -> None:
    text = "\n".join(
        [f"{PINS_TAG} What stands:", "- Never leave the path. · m_abcdefg", *thread_lines([LETTER], 0, 99, count)]
    )
    [message] = chain(None, [Draft(role="user", parts=(Text(text=text),), origin="injected")], lambda parts: (1, 0))
    assert [line.text for line in find_pins(message)] == ["Never leave the path."]
