"""Which lessons are told before a call, and in which words."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace
from tests.unit.guarded import CUE, NOW, SAW, lesson_of, shown_by

from ireneo.lessons.guard import Trap
from ireneo.lessons.known_traps import known_traps, trap_of
from ireneo.lessons.run import Observation, Trigger


def compiled(*seen: Observation) -> Trap | None:
    return trap_of(lesson_of(*seen), seen)


def test_a_lesson_with_a_way_out_is_a_trap() -> None:
    later = replace(SAW, session="run-9", at=NOW + timedelta(days=3))
    found = compiled(SAW, later, replace(SAW, session="run-8", held=0, broke=1))
    assert found == Trap(
        lesson=lesson_of(SAW).id,
        said="`make integration` fails with “connection refused”",
        way_out="run `make db` first",
        why="It needs a database",
        seen="seen in 2 of 3 runs; last in March 2026",
        runs=2,
        of=3,
        last="2026-03-04",
        projects=("cli",),
        command="make integration",
        unless=("make db",),
    )


def test_one_run_is_enough_and_is_named() -> None:
    found = compiled(SAW)
    assert found is not None
    assert (found.runs, found.of, found.session) == (1, 1, "run-0")


@pytest.mark.parametrize(
    "seen",
    [
        [replace(SAW, trigger=None)],
        [replace(SAW, way_out="")],
        [replace(SAW, trigger=Trigger())],
        [SAW, replace(SAW, session="run-1", held=0, broke=5)],
        [*shown_by(9), *(replace(SAW, session=f"s{n}", at=NOW + timedelta(1), held=0, broke=1) for n in range(2))],
    ],
    ids=["no trigger", "no way out", "an empty trigger", "it passes more often", "the latest runs went well"],
)
def test_what_is_no_known_trap_is_not_told(seen: list[Observation]) -> None:
    assert compiled(*seen) is None


@pytest.mark.parametrize("change", [{"state": "retired"}, {"state": "disputed"}, {"archived": True}, {"cue": ""}])
def test_what_does_not_hold_is_not_told(change: dict[str, object]) -> None:
    record = lesson_of(SAW)
    assert known_traps([record], {CUE: [SAW]}).traps
    assert not known_traps([replace(record, **change)], {CUE: [SAW]}).traps


def test_without_its_way_out_in_the_text_a_trap_is_told_by_its_claim() -> None:
    found = compiled(replace(SAW, text="The database has to be up."))
    assert found is not None
    assert found.said == "make integration ⇒ connection refused"


def test_a_rule_of_the_user_needs_no_way_out() -> None:
    ruled = Observation(
        cue="<ruling> never skip the hooks",
        category="procedural",
        session="run-0",
        project="cli",
        held=1,
        broke=3,
        text="“Never skip the hooks.”",
        why="Never skip the hooks.",
        trigger=Trigger(command="git commit", words=("--no-verify",)),
    )
    found = compiled(ruled)
    assert found is not None
    assert found.ruling
    assert found.said == "the user has a rule about `git commit --no-verify`"
    assert found.way_out == "heed it, or ask first"
    assert found.why == "Never skip the hooks"
    assert found.last == ""


def test_the_index_tells_of_which_projects_there_are_lessons() -> None:
    plain = replace(SAW, cue="x ⇒ y", trigger=None, project="osprey")
    index = known_traps([lesson_of(SAW), lesson_of(plain)], {CUE: [SAW], "x ⇒ y": [plain]})
    assert (len(index.traps), index.projects, index.anywhere) == (1, ("cli", "osprey"), False)
    both = [SAW, replace(SAW, session="run-1", project="osprey")]
    assert known_traps([lesson_of(*both)], {CUE: both}).anywhere
    assert known_traps([], {}).projects == ()
