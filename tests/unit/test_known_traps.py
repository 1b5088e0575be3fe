"""Which lessons are told before a call, and in which words."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace
from tests.unit.guarded import CUE, NOW, SAW, lesson_of, shown_by

from ireneo.lessons.guard import Trap
from ireneo.lessons.lessons import known_traps, program_cues, trap_of
from ireneo.lessons.run import Observation, Trigger


def compiled(*seen: Observation) -> Trap | None:
    return trap_of(lesson_of(*seen), {CUE: seen, seen[0].cue: seen})


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


def test_without_its_way_out_in_the_text_a_trap_is_told_by_what_it_is_about() -> None:
    found = compiled(replace(SAW, text="The database has to be up."))
    assert found is not None
    assert found.said == "`make integration` fails"


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
    assert not known_traps([lesson_of(*both)], {CUE: both}).anywhere
    assert known_traps([lesson_of(replace(SAW, project="*"))], {CUE: both}).anywhere
    assert known_traps([], {}).projects == ()


def ran(program: str, session: str, *, held: int = 0, broke: int = 1) -> Observation:
    """How often a program went well in a run."""
    cue = f"{program} ⇒ <any>"
    return Observation(cue=cue, category="failure", session=session, project="cli", held=held, broke=broke)


def with_runs(*others: Observation) -> Trap | None:
    known: dict[str, list[Observation]] = {CUE: [SAW]}
    for each in (ran("make integration", "run-0"), ran("make db", "run-0"), *others):
        known.setdefault(each.cue, []).append(each)
    return trap_of(lesson_of(SAW), known)


def test_what_goes_well_in_most_runs_without_the_way_out_is_no_trap() -> None:
    well = [ran("make integration", f"s{number}") for number in range(3)]
    found = with_runs(well[0])
    assert found is not None
    assert (found.runs, found.of, found.seen) == (1, 2, "seen in 1 of 2 runs; last in March 2026")
    assert with_runs(*well) is None
    assert with_runs(*well, *(ran("make db", f"s{number}") for number in range(3))) is not None


def test_cues_beside_name_the_program_and_its_ways_out() -> None:
    assert set(program_cues([SAW])) >= {"make integration ⇒ <any>", "make db ⇒ <any>"}
    assert program_cues([replace(SAW, trigger=Trigger(command="git show", words=("--no-stat",)))]) == ()
    assert program_cues([replace(SAW, trigger=None)]) == ()


def test_one_run_of_an_unknown_project_shows_no_trap() -> None:
    lost = replace(SAW, project="")
    assert compiled(lost) is None
    assert compiled(lost, replace(lost, session="run-1")) is not None


def test_the_error_that_the_trap_names_is_no_reason() -> None:
    found = compiled(replace(SAW, why="psycopg: connection refused"))
    assert found is not None
    assert found.why == ""
