"""How commands ended when they were run last: by what they printed, where a pipe hides how they ended."""

from __future__ import annotations

import pytest

from ireneo.log.calls import hides_status, known_failed
from ireneo.log.message import Call, Draft, Message, Result, Text, chain
from ireneo.summaries.outcomes import last_outcomes

PASSES, FAILS = "ok  \tharbour\t0.2s", "--- FAIL: TestTide (0.02s)\nFAIL\tharbour\t0.2s"


def ran(*runs: tuple[str, str, bool | None]) -> list[Message]:
    drafts: list[Draft] = []
    for number, (command, output, failed) in enumerate(runs):
        result = Result(call_id=f"c{number}", parts=(Text(text=output),), failed=failed)
        drafts.append(
            Draft(role="assistant", parts=(Call(id=f"c{number}", name="Bash", arguments={"command": command}),))
        )
        drafts.append(Draft(role="tool", parts=(result,)))
    return chain(None, drafts, lambda parts: (1, 0))


def ended(*runs: tuple[str, str, bool | None]) -> list[tuple[str, bool]]:
    return [(outcome.subject, outcome.failed) for outcome in last_outcomes(ran(*runs))]


@pytest.mark.parametrize(
    ("command", "hides"),
    [
        ("make test", False),
        ("cd /srv && make test", False),
        ("make test 2>&1 | tail -5", True),
        ("make test; git status", True),
        ("make test || true", True),
        ("make test\ngit status", True),
        ("set -o pipefail; make test | tail", False),
        ("grep 'a|b;c' notes.txt", False),
        ('git commit -m "one; two | three"', False),
        ("cat > run.sh <<'EOF'\nmake; make\nEOF", False),
    ],
)
def test_a_command_hides_how_its_programs_ended(command: str, hides: bool) -> None:
    assert hides_status(Call(id="c", name="Bash", arguments={"command": command})) is hides


@pytest.mark.parametrize(
    ("command", "output", "flag", "failed"),
    [
        ("go test ./... | tail -3", FAILS, False, True),
        ("go test ./... | tail -3", PASSES, False, False),
        ("go test ./... | tail -3", "", False, None),
        ("go test ./...", "", False, False),
        ("go test ./... | tail -3", "", True, True),
    ],
)
def test_a_hidden_outcome_is_read_from_the_output(command: str, output: str, flag: bool, failed: bool | None) -> None:
    call = Call(id="c", name="Bash", arguments={"command": command})
    assert known_failed(Result(call_id="c", parts=(Text(text=output),), failed=flag), call) is failed


def test_what_tells_nothing_has_no_outcome() -> None:
    assert ended(("make lint", "bad", True), ("make lint | tail -1", "", False)) == []
    refused = "The user doesn't want to proceed with this tool use. The tool use was rejected."
    assert ended(("make lint", refused, True)) == []


def test_a_check_that_passes_settles_the_narrower_ones_that_failed() -> None:
    first = ("pytest tests/test_tide.py", "FAILED tests/test_tide.py::test_ebb", True)
    assert ended(first) == [("test_ebb", True), ("pytest tests/test_tide.py", True)]
    assert ended(first, ("pytest", "4 passed in 0.1s", False)) == [("pytest", False)]
    assert ended(first, ("pytest tests", "4 passed in 0.1s", False)) == [("pytest tests", False)]
    assert ended(first, ("pytest tests/tide", "4 passed in 0.1s", False))[:2] == ended(first)
    assert ended(first, ("pytest tests/test_crane.py", "4 passed in 0.1s", False))[:2] == ended(first)
    assert ended(first, ("pytest tests/test_crane.py -k test_ebb", "1 passed in 0.1s", False))[0][0] != "test_ebb"


def test_a_failure_that_was_got_over_may_be_told() -> None:
    outcomes = last_outcomes(ran(("make lint", "bad", True), ("make lint", "", False)))
    assert [(each.failed, each.otherwise) for each in outcomes] == [(False, True)]
