"""Lessons that say the same are read once."""

from __future__ import annotations

from datetime import UTC, datetime

from ireneo.faces.cli.lessons import said_once
from ireneo.memories.record import MemoryId
from ireneo.types import Lesson

FAILS = "`Edit` fails with “File, as it is, has not been read”: read it with `Read` first; then it passed."
WAY = "When `Edit` fails with “File, as it is, has not been read”, read it with `Read` first; then it passed."
OTHER = "When `Edit` fails with “File, as it is, has not been read”, use `Write`; then it passed."


def a_lesson(text: str, *, procedural: bool = False) -> Lesson:
    return Lesson(
        id=MemoryId(f"m_{len(text)}"),
        project="ledger",
        task_type="edit",
        lesson=text,
        cue="",
        category="procedural" if procedural else "failure",
        conditions={},
        standing="seen in 2 of 3 runs; last in March 2026",
        seen=2,
        met=3,
        last_seen=datetime(2026, 3, 1, tzinfo=UTC),
        sources=(),
    )


def test_a_way_out_is_told_by_the_failure() -> None:
    failure = a_lesson(f"{FAILS} Not where `Read` has shown the file as it stands.")
    way, other = a_lesson(WAY, procedural=True), a_lesson(OTHER, procedural=True)
    assert said_once([way, other, failure]) == [other, failure]
    assert said_once([way, other]) == [way, other]


def test_tests_that_are_named_stand_between_a_failure_and_the_way_out() -> None:
    failure = a_lesson("`go test` fails in its tests, such as `TestRows`: run one test alone by `go test` with `-run`.")
    way = a_lesson("When `go test` fails in its tests, run one test alone by `go test` with `-run`.", procedural=True)
    assert said_once([way, failure]) == [failure]


def test_what_holds_of_any_file_is_not_told_of_unread_ones_beside_it() -> None:
    special = a_lesson(FAILS.replace("`Edit`", "`Edit` of a file that was not read before"))
    assert said_once([special, a_lesson(FAILS)]) == [a_lesson(FAILS)]
    assert said_once([special]) == [special]
