"""Verdicts against the outcomes that are known."""

from __future__ import annotations

import pytest

from ireneo.grounding.check import LastOutcome, contradicted_verdict, contradicts, false_success

FAILED, PASSED = LastOutcome(subject="make lint", failed=True), LastOutcome(subject="go test ./...", failed=False)
OUTCOMES = (PASSED, LastOutcome(subject="pkg/ledger.go", failed=True), FAILED)

FLIPPED = {
    "a command that failed": "`make lint` passed",
    "in other words": "By now make lint is green.",
    "with a status": "`make lint` ended with exit 0",
    "a command that passed": "`go test ./...` failed with 3 errors",
    "named by its beginning": "`go test` failed.",
    "in the second clause": "I changed two files, and `make lint` succeeded.",
    "two subjects": "`go test ./...` and `make lint` passed",
    "a file": "pkg/ledger.go works now.",
}
STANDING = {
    "as it was": "`make lint` failed, and `go test ./...` passed.",
    "denied": "`make lint` did not pass.",
    "wished for": "`make lint` should pass with it",
    "of an earlier time": "`make lint` passed before, and `go test ./...` failed at first.",
    "both verdicts in one clause": "`make lint` passed where `go vet` failed",
    "nobody's verdict": "`make lint` reported appendAssign, so the other approach works.",
    "another command": "`make lint-fast` passed; `go test ./pkg` failed; `make` passed",
    "a verdict in code": "`make lint` said `all passed`",
    "a condition": "I wanted to see if make lint passed",
    "no failure": "`go test ./...` ran with 0 failures.",
    "nothing": "",
}


@pytest.mark.parametrize("sentence", FLIPPED.values(), ids=FLIPPED)
def test_a_verdict_is_the_opposite(sentence: str) -> None:
    assert contradicted_verdict(sentence, OUTCOMES)


@pytest.mark.parametrize("sentence", STANDING.values(), ids=STANDING)
def test_a_verdict_may_stand(sentence: str) -> None:
    assert contradicted_verdict(sentence, OUTCOMES) is None


def test_the_last_outcome_of_a_subject_counts() -> None:
    again = (*OUTCOMES, LastOutcome(subject="make lint", failed=False))
    assert contradicted_verdict("`make lint` passed", again) is None
    assert contradicted_verdict("`make lint` failed", again) == "It says that make lint failed, but it passed last."


@pytest.mark.parametrize(
    ("status", "last", "wrong"),
    [
        ("COMPLETE — all tests pass.", FAILED, True),
        ("COMPLETE", FAILED, True),
        ("## Status\nAll tests pass.", FAILED, True),
        ("Everything works.", FAILED, True),
        ("COMPLETE — go test passes.", PASSED, False),
        ("BLOCKED — `go test ./...` failed", PASSED, True),
        ("BLOCKED — I wait for the user's answer.", PASSED, False),
        ("Failed: it does not build.", PASSED, False),
        ("BLOCKED — make lint failed last.", FAILED, False),
        ("PARTIAL — make lint failed.", FAILED, False),
        ("PARTIAL — `make lint` passed.", FAILED, True),
        ("PARTIAL — the tests pass.", FAILED, False),
    ],
)
def test_a_status(status: str, last: LastOutcome, wrong: bool) -> None:
    assert (contradicts(status, [last]) is not None) is wrong


def test_nothing_contradicts_nothing() -> None:
    assert contradicts("COMPLETE — all tests pass.", []) is None


CHECKED = (PASSED, LastOutcome(subject="pytest tests/test_rows.py -x", failed=True))


@pytest.mark.parametrize(
    "sentence",
    [
        "`tests/test_rows.py` passes now.",
        "I made tests/test_rows.py pass: it is green.",
        "`pytest tests/test_rows.py` passed.",
    ],
)
def test_a_command_is_known_by_the_file_that_only_it_was_given(sentence: str) -> None:
    assert contradicted_verdict(sentence, CHECKED)


@pytest.mark.parametrize("sentence", ["`tests/test_other.py` passes now.", "`rows` works.", "`-x` works."])
def test_another_file_is_no_verdict_on_it(sentence: str) -> None:
    assert contradicted_verdict(sentence, CHECKED) is None


def test_a_file_that_two_commands_were_given_is_no_verdict_on_either() -> None:
    both = (*CHECKED, LastOutcome(subject="mypy tests/test_rows.py", failed=False))
    assert contradicted_verdict("`tests/test_rows.py` passes now.", both) is None


@pytest.mark.parametrize(
    "sentence",
    [
        "All tests pass now.",
        "Everything works.",
        "The user got it: the whole suite is green.",
        "I tried it — abandoned because COMPLETE — it passed.",
    ],
)
def test_nothing_is_called_well_over_what_failed_last(sentence: str) -> None:
    assert false_success(sentence, CHECKED)
    assert false_success(sentence, (*CHECKED, PASSED)) is None
    assert false_success(sentence, ()) is None


@pytest.mark.parametrize(
    "sentence",
    ["The first test passed.", "Not all tests pass.", "Everything but the rows works.", "`COMPLETE` is a status."],
)
def test_less_than_that_may_be_said(sentence: str) -> None:
    assert false_success(sentence, CHECKED) is None
