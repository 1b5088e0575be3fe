"""A block is written from its record, as wide as there is room: what is needed least goes first."""

from __future__ import annotations

import pytest

import ireneo
from ireneo import Summary
from ireneo.adapters.tokens.estimate import EstimatedTokenizer
from ireneo.context.compose import ContextOptions, all_in_one
from ireneo.log.message import BLOCK_TAGS, MessageId, short
from ireneo.summaries.summary import Line, Mention, Section, SectionName, SummaryLevel, anchor

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


def lines(name: str, number: int) -> list[Line]:
    """Lines that cost the same in every section."""
    return [Line(text=f"The {name} here is number {one} of them.", position=30) for one in range(number)]


TURN = block(
    "turn",
    {name: lines(name, 5) for name in ("operations", "discoveries", "dead_ends")} | {"status": lines("status", 1)},
)
GOAL = block(
    "goal",
    {name: lines(name, 5) for name in ("discoveries", "dead_ends", "constraints")} | {"status": lines("status", 1)},
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
        (TURN, "dead_ends", "discoveries"),
        (TURN, "status", "operations"),
        (TURN, "status", "discoveries"),
        (GOAL, "dead_ends", "discoveries"),
        (GOAL, "constraints", "discoveries"),
        (GOAL, "status", "discoveries"),
    ],
    ids=lambda given: given if isinstance(given, str) else given.level,
)
def test_what_is_needed_least_goes_first(given: Summary, kept: str, dropped: str) -> None:
    whole = shown(given, 10_000, kept)
    narrow = [room for room in ROOMS if shown(given, room, dropped)]
    assert narrow[0] > ROOMS[0], "the narrowest room is no test"
    assert all(shown(given, room, kept) == whole for room in narrow)


def test_no_name_is_told_twice_while_another_is_not_told_at_all() -> None:
    names = tuple(Mention(f"handle_{number}", 12.0) for number in range(20))
    told = [
        Line(text="ok", verbs=(("edit", 2),), subject="src/one.py", names=names, position=10),
        Line(text="ok", verbs=(("read", 1),), subject="src/two.py", names=names, position=20),
    ]
    given = block("turn", {"artifacts": told})
    scarce = 0
    for room in range(64, 160, 6):
        words = written(given, room).split()
        times = [words.count(mention.name) for mention in names]
        if 0 in times and max(times) > 0:
            scarce += 1
            assert max(times) == 1
    assert scarce > 3
