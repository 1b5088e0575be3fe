"""A brief heeds its goal: what concerns it stands there, what does not is left out, and space stays unused."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import pytest
from msgspec.structs import replace
from tests.unit.lesson_runs import NOW, observed
from tests.unit.test_lessons import learned

from ireneo.engine.brief import MOST_GENERAL, MOST_OF_WORK, opening_lessons
from ireneo.lessons.relevance import RELATED, Goal, content_of
from ireneo.lessons.run import DiaryEntry, DiaryLine, LearnedRun, Observation, Trigger
from ireneo.log.message import MessageId
from ireneo.memories.record import Record

PAST = {
    "tides": ("Print the tide table of next week", "make tide"),
    "moon": ("Correct the phases in the moon table", "make moon"),
    "mail": ("Send the harbour fees by mail to the skippers", "make mail"),
    "berths": ("Let a skipper book a berth over the radio", "make berths"),
    "charts": ("Draw the depth chart of the northern basin", "make charts"),
    "crane": ("Log what the crane lifts each night", "make crane"),
}
"""What past runs were asked for, and the command that they ran for it."""
GOALS = {
    "tides": "The tide table prints the wrong week",
    "moon": "Phases of the moon are off by a day",
    "mail": "Skippers get no mail about harbour fees",
    "berths": "Cancel a berth that was booked over the radio",
    "charts": "The depth chart of the basin lacks a legend",
    "crane": "The crane logs nothing at night",
    "new": "Translate the handbook into French",
}


def run_of(name: str) -> LearnedRun:
    goal, command = PAST[name]
    entry = DiaryEntry(
        goal=goal,
        opening=MessageId("m_a"),
        last=MessageId("m_b"),
        attempted=(DiaryLine(text=f"`{command}` failed at first, then passed"),),
    )
    return LearnedRun(
        session=name, head=MessageId("m_b"), learner="1", learned=NOW, project="harbour", calls=3, diary=(entry,)
    )


def lesson(cue: str, text: str, *sessions: str, kind: str = "failure") -> tuple[Record, list[Observation]]:
    seen = [
        replace(
            observed(3, cue=cue, session=each, project="harbour", text=text, tokens=9_000),
            category="procedural" if kind == "ruling" else "failure",
            way_out="" if kind == "ruling" else "run it first",
        )
        for each in sessions
    ]
    record = learned(seen)
    assert record is not None
    return record, seen


TRAPS = [
    lesson(
        f"{command} ⇒ fault{number} → first:bin/way{number}",
        f"When `{command}` fails with “fault{number}”, run `bin/way{number}` first.",
        name,
    )
    for number, (name, (_, command)) in enumerate(PAST.items())
]
BY_WORDS = lesson(
    "<ruling> fee invoice skipper",
    "We never send harbour fees to skippers without their berth number.",
    "old",
    kind="ruling",
)
GENERAL = lesson("<ruling> ask push", "“Ask me before you push.”", "one", "two", "three", kind="ruling")


def told(goal: str, made: Sequence[tuple[Record, list[Observation]]]) -> list[str]:
    records = [record for record, _ in made]
    about = Goal(goal, map(run_of, PAST), [content_of(each.text) for each in records])
    lines = opening_lessons(records, {each.cue: seen for each, seen in made}, NOW, ["harbour"], about)
    return [each.text for each in lines]


@pytest.mark.parametrize("name", list(PAST))
def test_what_the_goal_names_is_told_and_nothing_else(name: str) -> None:
    lines = told(GOALS[name], TRAPS)
    assert len(lines) == 1
    assert PAST[name][1] in lines[0]


def test_where_nothing_concerns_the_goal_nothing_is_told_but_what_is_general() -> None:
    assert told(GOALS["new"], [*TRAPS, BY_WORDS]) == []
    assert told(GOALS["new"], [*TRAPS, BY_WORDS, GENERAL]) == [GENERAL[0].text]


AGAIN = [
    lesson(
        "make tide ⇒ <any> → first:make moon", "When `make tide` fails with “no moon”, run `make moon` first.", "one"
    ),
    lesson("go ⇒ <any> → flag:-tags", "When `go` fails with “no harbour”, run it with `-tags harbour`.", "two"),
]
TRIGGERS = (Trigger(command="make tide", unless=("make moon",)), Trigger(command="go", words=("test",)))


@pytest.mark.parametrize(
    ("goal", "traps"),
    [
        ("See that make tide passes in French", 1),
        ("Translate what `make tide` says", 1),
        ("Translate what make tidewater says", 0),
        ("Translate what `go test ./...` says", 1),
        ("Translate what `go vet` says", 0),
        ("Let it go through the test of time", 0),
        ("Translate the handbook", 0),
    ],
)
def test_a_trap_whose_command_the_goal_names_is_told(goal: str, traps: int) -> None:
    made = [
        (record, [replace(each, trigger=trigger) for each in seen])
        for (record, seen), trigger in zip(AGAIN, TRIGGERS, strict=True)
    ]
    about = Goal(goal, map(run_of, PAST), [content_of(each.text) for each, _ in made])
    lines = opening_lessons(
        [each for each, _ in made], {each.cue: seen for each, seen in made}, NOW, ["harbour"], about
    )
    assert len(lines) == traps


def test_a_goal_that_is_set_again_and_again_makes_its_words_no_commoner() -> None:
    runs = [replace(run_of("tides"), session=f"tides {day}") for day in range(9)]
    trap = content_of(TRAPS[0][0].text)
    assert Goal("The tide prints wrong", runs, [trap]).relevance(trap) >= RELATED
    assert Goal("Translate the handbook", runs, [trap]).relevance(trap) == 0.0


def test_a_ruling_about_the_goal_stands_first_and_those_of_several_runs_are_few() -> None:
    lines = told(GOALS["mail"], [*TRAPS, BY_WORDS])
    assert lines[0] == BY_WORDS[0].text
    assert len(lines) == 2
    many = [
        lesson(
            f"<ruling> thing{at} always{at}",
            f"“Always clear thing{at} with the office.”",
            "one",
            "two",
            kind="ruling",
        )
        for at in range(8)
    ]
    assert len(told(GOALS["new"], many)) == MOST_GENERAL


def a_ruling(text: str, *sessions: str) -> tuple[Record, list[Observation]]:
    return lesson(f"<ruling> {text.lower()}", text, *sessions, kind="ruling")


def test_a_ruling_about_what_all_work_includes_is_told_to_any_goal() -> None:
    squash = a_ruling("Never squash the commits of the harbour.", "one")
    beside = a_ruling("Never paint a berth green.", "one")
    assert told(GOALS["new"], [squash, beside]) == [squash[0].text]
    several = [a_ruling(f"Don't amend a commit of pilot{at}.", "one") for at in range(8)]
    assert len(told(GOALS["new"], several)) == MOST_OF_WORK


def test_a_ruling_that_only_shares_a_word_of_all_rulings_with_the_goal_is_not_told() -> None:
    berths = [a_ruling(f"Never let a berth of pilot {name} lie dry.", "one") for name in "abcdefgh"]
    assert told("Paint a berth", berths) == []
    assert told("Paint a berth", berths[:1]) == [berths[0][0].text]


@pytest.mark.parametrize("goal", ["run the linter", "Lint what I changed", "Is the linter happy with the crane?"])
def test_a_command_is_told_by_what_it_is_for(goal: str) -> None:
    linted = lesson("harbour <command:linter> tox -e l", "This project runs its linter with `tox -e l`.", *PAST)
    assert told(goal, [linted, *TRAPS])[0] == linted[0].text
    assert told("Paint the quay", [linted, *TRAPS]) == []


def test_what_is_run_before_work_is_done_is_told_for_any_goal() -> None:
    text = "Before it is done, run `make lint` too, not only `make test`."
    checked = lesson("<passes> make test make lint", text, "one", "two")
    assert told("Paint the quay", [checked, *TRAPS]) == [text]


def test_what_is_known_of_a_file_is_told_to_a_goal_that_names_it() -> None:
    noted = lesson("log: brake", "`src/crane.py`: “lift() drops the load” (the log's own summary)", "one")
    assert told("Change what crane.py prints", [noted]) == [noted[0].text]
    assert told("Change what winch.py prints", [noted]) == []


def test_a_verb_behind_an_article_is_a_name() -> None:
    ruling = a_ruling("Never build a second table in explain.", "one")
    assert told("Mend the explain page", [ruling]) == [ruling[0].text]
    assert told("Explain how to mend it", [ruling]) == []


def test_briefs_of_seven_goals_have_little_in_common() -> None:
    made = [set(told(goal, [*TRAPS, BY_WORDS])) for goal in GOALS.values()]
    shares = [len(one & other) / len(one) for one, other in permutations(made, 2) if one]
    assert sum(shares) / len(shares) <= 0.4
    assert sum(bool(each) for each in made) == 6


def test_without_a_goal_all_of_them_are_told_what_was_said_once_last() -> None:
    made = [*TRAPS, BY_WORDS, GENERAL]
    observations = {each.cue: seen for each, seen in made}
    lines = opening_lessons([record for record, _ in made], observations, NOW, ["harbour"])
    assert len(lines) == len(made)
    assert (lines[0].text, lines[-1].text) == (GENERAL[0].text, BY_WORDS[0].text)


def test_the_first_goal_of_a_project_and_an_empty_one_are_no_error() -> None:
    assert Goal("Print it", [], []).relevance(content_of("“Ask me.”")) == 0.0
    assert Goal("Say it", [], []).relevance(content_of("When `make tide` fails, run `make moon`.")) == 0.0
    assert Goal("", map(run_of, PAST), []).relevance(content_of(TRAPS[0][0].text)) == 0.0


@pytest.mark.parametrize(
    ("goal", "named"),
    [("Read log/logging.py.", True), ("Read the logging", False), ("Read old/log/logging.py", False)],
)
def test_a_goal_names_a_trap_without_a_command_by_its_path(goal: str, named: bool) -> None:
    assert Goal(goal, [], []).names_call(Trigger(path="log/logging.py")) is named
    assert not Goal(goal, [], []).names_call(Trigger(path="log/logging.py", words=("--follow",)))
    assert not Goal("Read the logging", [], []).names_call(Trigger(path="logging/"))


@pytest.mark.parametrize(
    ("goal", "concerns"),
    [("Run the tide tests", True), ("Mend the tide tests of the mole", True), ("Paint a quay, with tests", False)],
)
def test_a_task_that_the_goal_names_in_full_is_told_however_common_its_words(goal: str, concerns: bool) -> None:
    common = [
        content_of(f"The tide tests of {name} fail on Sundays.") for name in ("mole", "quay", "pier", "slip", "dock")
    ]
    lesson = content_of("This project runs its tide tests with `make tide-tests`.")
    assert (Goal(goal, [], common).relevance(lesson) >= RELATED) is concerns
