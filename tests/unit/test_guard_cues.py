"""What a session so far says of the next call: each cue by its name."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from tests.unit.guarded import Made, call, messages

from ireneo.lessons.cues import chains, words
from ireneo.lessons.shell import shape
from ireneo.lessons.situation import Situation
from ireneo.log.message import Call

TEST = "go test ./pkg -run TestOne"
FELL: Made = ("Bash", TEST, "--- FAIL: TestOne (0.1s)\n    one.go:12: wrong\nFAIL", True)
PASSED: Made = ("Bash", TEST, "ok  \tpkg\t0.1s", False)
READ: Made = ("Read", {"file_path": "/w/one.go"}, "     1→package one\n     2→func A() {}\n     3→func B() {}", False)

NAMED: Made = ("Grep", {"pattern": "A"}, "/w/one.go:2:func A", False)


def edit(path: str, old: str, new: str = "new") -> tuple[str, Mapping[str, object]]:
    return "Edit", {"file_path": path, "old_string": old, "new_string": new}


def edited(path: str, old: str) -> Made:
    return (*edit(path, old), "The file was updated.", False)


def cues(made: tuple[Made, ...], tool: str, arguments: Mapping[str, object] | str, question: str) -> tuple[str, ...]:
    situation = Situation().see_all(messages(*made))
    found = chains(situation, shape(call(tool, arguments)))
    return next((tuple(map(words, each.cues)) for each in found if each.question == question), ())


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ((), "was never tried"),
        ((PASSED,), "passed last, none changed since"),
        ((FELL,), "failed once, nothing changed since"),
        ((FELL, FELL), "failed a few times, nothing changed since"),
        ((FELL,) * 5, "failed many times, nothing changed since"),
        ((FELL, edited("/w/two.go", "x")), "failed once, something else was changed since"),
        ((FELL, edited("/w/one.go", "x")), "failed once, what it named was changed since"),
        ((FELL, PASSED, edited("/w/one.go", "x")), "passed last, one changed since"),
    ],
)
def test_how_its_program_ended_last(made: tuple[Made, ...], said: str) -> None:
    general, named = cues(made, "Bash", TEST, "program")
    assert general == f"check: its program {said}"
    assert named == f"`go test` {said}"


@pytest.mark.parametrize(
    ("command", "aim"),
    [
        (TEST, "the same call"),
        ("go test -v ./pkg -run TestOne", "aimed at what failed"),
        ("go test ./pkg -run TestOther", "aimed elsewhere"),
        ("go test ./...", "aimed as before"),
    ],
)
def test_whether_it_is_aimed_at_what_failed(command: str, aim: str) -> None:
    assert cues((FELL,), "Bash", command, "aim")[1] == f"`go test` failed once, nothing changed since, {aim}"


def test_a_program_that_passed_last_is_no_longer_doubted() -> None:
    assert cues((), "Bash", TEST, "name")[0] == "`go test` not tried in this session"
    assert cues((FELL,), "Bash", TEST, "name")[0] == "`go test` failed last in this session"
    assert cues((FELL, PASSED), "Bash", TEST, "name") == ()
    assert cues((FELL, PASSED), "Bash", TEST, "aim") == ()


@pytest.mark.parametrize(
    ("made", "call_made", "ground"),
    [
        ((READ,), edit("/w/one.go", "func A() {}"), "file read, its text is there"),
        ((READ,), edit("/w/one.go", "func"), "file read, its text is there more than once"),
        ((READ,), edit("/w/one.go", "func C() {}"), "file read, its text is not there"),
        (
            (READ, edited("/w/one.go", "func A() {}")),
            edit("/w/one.go", "func A"),
            "file written, its text is not there",
        ),
        ((), edit("/w/one.go", "func A"), "file guessed, text unknown"),
        (
            (("Grep", {"pattern": "A"}, "/w/one.go:2:func A", False),),
            edit("/w/one.go", "func A"),
            "file named, text unknown",
        ),
        ((READ,), edit("/w/one.go", "same", "same"), "file read, its text stays the same"),
        (
            (READ, (*edit("/w/two.go", "x"), "File has not been read yet. Read it first.", True)),
            edit("/w/one.go", "func A() {}"),
            "file that no longer counts as read, its text is there",
        ),
    ],
)
def test_an_edit_stands_on_what_was_seen_of_the_file(
    made: tuple[Made, ...], call_made: tuple[str, Mapping[str, object]], ground: str
) -> None:
    assert cues(made, *call_made, "ground")[1] == f"edit: {ground}"


def test_a_file_that_was_missing_is_known_to_be_until_it_is_made() -> None:
    gone: Made = ("Read", {"file_path": "/w/no.md"}, "File does not exist.", True)
    made: Made = ("Write", {"file_path": "/w/no.md", "content": "now"}, "Created.", False)
    read = ("Read", {"file_path": "/w/no.md"}, "ground")
    assert cues((gone,), *read)[1] == "read: file missing"
    assert cues((gone, made), *read)[1] == "read: file written"


def test_a_folder_is_known_by_what_lies_in_it() -> None:
    listed: Made = ("Glob", {"pattern": "**"}, "/w/pkg/sub/one.go", False)
    assert cues((listed,), "Read", {"file_path": "/w/pkg/sub"}, "ground")[1] == "read: file folder, without an ending"


def test_what_lies_beside_a_known_file_is_guessed_less_wildly() -> None:
    listed: Made = ("Glob", {"pattern": "**"}, "/w/pkg/one.go", False)
    read = cues((listed,), "Read", {"file_path": "/w/pkg/two.go"}, "ground")
    assert read[1] == "read: file guessed in a known folder"


def test_a_script_that_was_just_rewritten_is_another_one() -> None:
    wrote: Made = ("Write", {"file_path": "/w/try.py", "content": "1/0"}, "Created.", False)
    ran: Made = ("Bash", "python try.py", "ZeroDivisionError: division by zero", True)
    run = ("Bash", "python try.py", "ground")
    assert cues((wrote,), *run)[1] == "run: script written, first run"
    assert cues((wrote, ran), *run)[1] == "run: script written, failed last, the same"
    assert cues((wrote, ran, wrote), *run)[1] == "run: script written, failed last, rewritten"


def test_a_pattern_that_is_not_in_the_file_is_known_not_to_be() -> None:
    ground = cues((READ,), "Bash", "grep -n 'func Z' /w/one.go", "ground")[1]
    assert ground.endswith("pattern is not there")


def test_a_check_is_told_by_the_last_one() -> None:
    assert cues((), "Bash", TEST, "work")[0].startswith("check: first check, none changed;")
    lint: Made = ("Bash", "golangci-lint run", "0 issues.", False)
    made = (lint, edited("/w/one.go", "x"))
    assert cues(made, "Bash", TEST, "work")[0].startswith("check: the last check passed, one changed since;")


def test_what_failed_just_before_sets_the_mood() -> None:
    assert cues((FELL,), "Bash", TEST, "mood")[0] == "check: one failed just before, the same program"


def test_a_call_whose_outcome_is_open_tells_nothing() -> None:
    situation = Situation()
    opened = messages(FELL)[:2]
    situation.see_all(opened)
    assert situation.calls == 0
    assert not situation.outcomes


def test_a_file_that_is_being_read_beside_it_is_not_unknown() -> None:
    situation = Situation()
    first, asks = messages(READ)[:2]
    situation.see(first)
    situation.begin(asks, Call(id="c0", name="Read", arguments={"file_path": "/w/one.go"}))
    found = chains(situation, shape(call(*edit("/w/one.go", "x"))))
    ground = next(each.cues for each in found if each.question == "ground")
    assert words(ground[1]).endswith("just being read")


def test_a_refusal_is_no_failure() -> None:
    refused: Made = ("Bash", TEST, "The user doesn't want to proceed with this tool use. It was rejected.", True)
    assert cues((refused,), "Bash", TEST, "program")[0] == "check: its program was never tried"


USAGE: Made = ("Bash", "gh pr diff 150 -- README.md", "accepts at most 1 arg(s), received 2", True)
OTHERWISE: Made = ("Bash", TEST, "exit 1: pkg/one.go:3: undefined: thing", True)


@pytest.mark.parametrize(
    ("made", "command", "said"),
    [
        ((FELL,), TEST, "it failed for a test, once, nothing changed since"),
        ((FELL, FELL), TEST, "it failed for a test, the same error again, nothing changed since"),
        (
            (FELL, OTHERWISE),
            TEST,
            "it failed for code that does not build, each time otherwise, nothing changed since",
        ),
        ((FELL, edited("/w/two.go", "x")), TEST, "it failed for a test, once, something else was changed since"),
        (
            (USAGE,),
            "gh pr diff 151 -- go.mod",
            "its program failed for a wrong option, once, nothing changed since",
        ),
    ],
)
def test_why_it_failed_last(made: tuple[Made, ...], command: str, said: str) -> None:
    situation = Situation().see_all(messages(*made))
    found = [each for each in chains(situation, shape(call("Bash", command))) if each.question == "cause"]
    assert said in {words(each.cues[1]).split(": ", 1)[1] for each in found}


def test_a_success_leaves_no_cause() -> None:
    assert cues((FELL, PASSED), "Bash", TEST, "cause") == ()
