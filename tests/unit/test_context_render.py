"""A block is written from its record, as wide as there is room: what is needed least goes first."""

from __future__ import annotations

import itertools

import pytest

import ireneo
from ireneo import Summary
from ireneo.adapters.tokens import EstimatedTokenizer
from ireneo.context.assemble import all_in_one
from ireneo.context.view import ContextOptions
from ireneo.log.message import BLOCK_TAGS, MessageId, short
from ireneo.summaries.summary import Line, Section, SectionName, SummaryLevel, anchor, render

count = EstimatedTokenizer().count
FIRST, LAST = MessageId("m_first"), MessageId("m_last")
ROOMS = range(64, 700, 12)


def block(level: SummaryLevel, sections: dict[SectionName, list[Line]]) -> Summary:
    return Summary(
        id=anchor(level, FIRST, LAST, "test"),
        level=level,
        depth=1,
        first=FIRST,
        last=LAST,
        first_position=0,
        last_position=30,
        summarizer="test",
        source_tokens=9_000,
        calls=14,
        sections=tuple(Section(name=name, lines=tuple(lines)) for name, lines in sections.items()),
    )


WORTH = {"dead_ends": 8.0, "status": 6.0, "strategy": 6.0, "discoveries": 4.0, "operations": 2.0}


FRESH = map("".join, itertools.product("bdfgklmnprst", "aeiou", "bdfgklmnprst", "aeiou"))
"""Words that stand nowhere else, so that no line is worth less for what another says."""


def lines(name: str, number: int) -> list[Line]:
    """Lines that cost about the same in every section, each with its worth."""
    return [
        Line(text=f"The {name} here is {' '.join(itertools.islice(FRESH, 4))}.", position=30, weight=WORTH.get(name, 1))
        for _ in range(number)
    ]


TURN = block(
    "turn",
    {name: lines(name, 5) for name in ("operations", "strategy", "discoveries", "dead_ends")}
    | {"status": lines("status", 1)},
)
GOAL = block(
    "goal",
    {name: lines(name, 5) for name in ("discoveries", "operations", "dead_ends", "constraints")}
    | {"status": lines("status", 1)},
)
every_block = pytest.mark.parametrize("given", [TURN, GOAL], ids=["turn", "goal"])


def terms(room: int) -> ContextOptions:
    return ContextOptions(budget=room, policy=ireneo.CODING, count=count)


def written(given: Summary, room: int) -> str:
    return next(each.text for each in all_in_one(given, room, terms(room)).shown if each.what == "summary")


def shown(given: Summary, room: int, name: str) -> int:
    return written(given, room).count(f"The {name} here")


@every_block
def test_a_block_says_what_it_is_and_how_to_open_it_in_any_room(given: Summary) -> None:
    for room in ROOMS:
        header = written(given, room).splitlines()[0]
        assert header.startswith(BLOCK_TAGS)
        assert f"open with {short(given.id)}" in header


@every_block
def test_a_block_costs_no_more_than_its_room_and_shows_all_in_a_wide_one(given: Summary) -> None:
    for room in ROOMS:
        assert all_in_one(given, room, terms(room)).tokens <= room
    wide = "\n".join(each.text for each in all_in_one(given, 10_000, terms(10_000)).shown)
    assert all(line.text in wide for section in given.sections for line in section.lines)


@every_block
def test_writing_a_block_is_pure(given: Summary) -> None:
    before = given.sections
    assert [written(given, room) for room in ROOMS] == [written(given, room) for room in ROOMS]
    assert given.sections == before


@pytest.mark.parametrize(
    ("given", "kept", "dropped"),
    [
        (TURN, "dead_ends", "operations"),
        (TURN, "strategy", "operations"),
        (TURN, "discoveries", "operations"),
        (TURN, "status", "operations"),
        (GOAL, "dead_ends", "operations"),
    ],
    ids=lambda given: given if isinstance(given, str) else given.level,
)
def test_what_is_worth_least_goes_first(given: Summary, kept: str, dropped: str) -> None:
    whole = shown(given, 10_000, kept)
    counts = [(shown(given, room, kept), shown(given, room, dropped)) for room in ROOMS]
    assert (1, 0) in counts, "no room is a test"
    # Before all is there that is worth more, only one of what is worth less: where no other fits any more.
    assert all(there == whole or less <= 1 for there, less in counts)


def test_the_account_stands_in_the_order_in_which_it_happened_whatever_it_is_called() -> None:
    happened: list[tuple[SectionName, str]] = [
        ("direction", "Keep every row."),
        ("discoveries", "The slice drops the last row."),
        ("strategy", "I chose to keep the slice out of it."),
        ("artifacts", "`def keep_row(row)`"),
        ("operations", "`pytest` passed"),
        ("discoveries", "The export has the same slice."),
    ]
    sections: dict[SectionName, list[Line]] = {}
    for position, (name, text) in enumerate(happened):
        subject = "src/rows.py" if name == "artifacts" else ""
        sections.setdefault(name, []).append(Line(text=text, subject=subject, position=position, weight=4.0))
    given = block("turn", sections | {"dead_ends": [Line(text="I tried `make` — it failed.", position=1, weight=4.0)]})
    assert written(given, 2_000).splitlines()[1:] == [
        "- The user: “Keep every row.”",
        "- The slice drops the last row.",
        "- I chose to keep the slice out of it.",
        "- src/rows.py:",
        "  - `def keep_row(row)`",
        "- `pytest` passed",
        "- The export has the same slice.",
        "## Dead ends",
        "- I tried `make` — it failed.",
    ]


def test_items_of_one_list_stand_behind_its_lead_once() -> None:
    said = ["The lorry waits when: the gate is shut", "The lorry waits when: the crane is down", "Note: it rains."]
    given = block("turn", {"discoveries": [Line(text=each, position=3, weight=4.0) for each in said]})
    told = written(given, 4_000).splitlines()
    assert "- The lorry waits when: the gate is shut; the crane is down" in told
    assert "- Note: it rains." in told


@pytest.mark.parametrize("budget", [600, 700])
def test_a_message_that_costs_no_more_than_its_block_stands_as_itself(budget: int) -> None:
    told: list[dict[str, object]] = []
    for pier in range(9):
        asked = f"Ferry {pier} leaves pier {pier} at noon with {pier + 3} lorries; its pilot boards an hour before,"
        told.append({"role": "user", "content": f"{asked} and the crates stand on deck with a crew of {pier + 4} men."})
        long = f"Ferry {pier} is in the book. Its lorries need two ramps, so the crew of the ferry comes early. " * 3
        told.append({"role": "assistant", "content": f"Noted, pier {pier}." if pier % 2 else long})
    context = ireneo.compact(told, budget)
    blocks = [each for each in context.view if each.what == "summary"]
    assert blocks
    assert context.tokens <= budget
    assert all("\n" in block.text for block in blocks)
    assert any(each.what == "message" and each.text == "Noted, pier 5." for each in context.view)


def test_items_that_are_missing_from_a_list_leave_a_mark() -> None:
    items = [f"The way would be: step {number} of{' many' * number}" for number in range(1, 5)]
    given = block("turn", {"discoveries": [Line(text=each, position=3, weight=4.0) for each in items]})
    choice = {"discoveries": [(line, ()) for line in (given.lines("discoveries")[0], given.lines("discoveries")[2])]}
    said = render(given, choice, ContextOptions(budget=400, policy=ireneo.CODING, count=count).statements.strategy)
    assert said.splitlines()[1] == "- The way would be: step 1 of many; …; step 3 of many many many; …"
