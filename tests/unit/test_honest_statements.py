"""What an honest writer says of its sources in its own words stands, whole; and what is surely wrong still doesn't.

Each class is one of which true statements were once challenged.
"""

from __future__ import annotations

import pytest

from ireneo.grounding.check import Grounds, strike_unsupported
from ireneo.log.message import Call, Draft, Message, Result, Role, Text, chain
from ireneo.summaries.outcomes import last_outcomes


def said(role: Role, text: str) -> Draft:
    return Draft(role=role, parts=(Text(text=text),))


def called(number: int, tool: str, answer: str, failed: bool | None = None, **arguments: object) -> list[Draft]:
    return [
        Draft(role="assistant", parts=(Call(id=f"c{number}", name=tool, arguments=arguments),)),
        Draft(role="tool", parts=(Result(call_id=f"c{number}", parts=(Text(text=answer),), failed=failed),)),
    ]


SHOWN = "\n".join(f"{number:>6}→\tif row.age > limit[{number % 3}] {{" for number in range(130, 190))
CHECKED = "ok  \tharbour/berth\t1.204s\nok  \tharbour/crane\t0.331s\n--- FAIL: TestTide (0.02s)\nFAIL"
GREPPED = "\n".join(f"pkg/crane/hoist.go:{line}: agent.Register(name{line})" for line in range(301, 335))

HARBOUR: list[Message] = chain(
    None,
    [
        said(
            "user",
            "Find out why `<project-hash>` is wrong in the paths. From now on, you must never push to main. "
            "“Keep the old berths, please – they're paid for!” And bitte nichts an den Tabellen ändern.",
        ),
        *called(1, "Read", SHOWN, file_path="/srv/harbour/pkg/berth/validate.go", view_range=[130, 189]),
        *called(2, "Grep", GREPPED, pattern="agent.Register", output_mode="content"),
        said(
            "assistant", "The interface Agent has two methods, `Name() string` and `Moor(ctx context.Context) error`."
        ),
        *called(3, "Bash", CHECKED, failed=False, command="go test ./... 2>&1 | tail -4"),
        *called(
            4, "Bash", "12 passed, 5 skipped in 3.981s\n1,266 rows, 48506 bytes", command="cd /srv/harbour; ./count"
        ),
        *called(5, "Bash", "connection refused", failed=True, command="curl -s http://localhost:8080/tides"),
        *called(6, "Bash", "Exit code 1\nnothing to commit", failed=True, command="git commit -m 'berths'"),
        *called(7, "Edit", "done", file_path="/srv/harbour/ui.html", old_string="", new_string="<section>\n</section>"),
    ],
    lambda parts: (1, 0),
)
GROUNDS = Grounds(HARBOUR, outcomes=last_outcomes(HARBOUR))

HONEST = {
    "lines of a file": "The limit is compared in validate.go:142-180, and again in validate.go (151, 163 and 178).",
    "keys of a call": "I read the file with `view_range` and searched with `output_mode` set to content.",
    "thousands": "The count is 1266 rows, or 1,266 as it was printed.",
    "lines that were counted": "The search found 34 calls of agent.Register, all in pkg/crane/hoist.go.",
    "a rounded number": "It took about 4 s and wrote 48 KB.",
    "plain words inside a sentence": "I tried it — abandoned because Neither of the two berths was free.",
    "plain words": "Both were free; Each has a crane, and Running it again changed nothing.",
    "an abbreviation": "It violates DRY and lacks a TTL, so that the CI on macOS would fail in the e2e run.",
    "an interface of that name": "The Agent interface names the agent, and the agent registers itself at start.",
    "what is to be filled in": "Paths must hold <project-hash>, not <project>; I left `<tenant>` alone.",
    "markup of the page": "I wrapped the table in <section>…</section>.",
    "a signature told shorter": "`Moor(ctx) error` comes beside `Name()`, and `Moor(...)` blocks.",
    "a folder and a file": "I ran /srv/harbour/count and looked at harbour/pkg/berth/validate.go.",
    "code told in another order": "The test is `limit[2] > row.age`.",
    "other signs in a quotation": "The user said “keep the old berths please, they're paid for”.",
    "an order of the user": "From now on, you must never push to main, says the user.",
    "who speaks": 'User: "bitte nichts an den Tabellen ändern".',
    "German": "Der Nutzer will, dass an den Tabellen nichts geändert wird; validate.go vergleicht in Zeile 142.",
    "a pipe that hid a failure": "`go test ./... 2>&1 | tail -4` failed in TestTide, though the pipe returned 0.",
    "an error that a finding begins with": "Connection refused: nothing listens on localhost:8080.",
    "nothing found": "There is no other caller and no test for it.",
    "what a reader may do": "You can count the rows with ./count.",
    "how much was added": "The diff is +12/−5.",
}
SURELY_WRONG = {
    "another line": "The limit is compared in validate.go:842.",
    "another number": "The search found 77 calls of agent.Register.",
    "a sum that was worked out": "Of 17 tests 12 passed and 5 were skipped.",
    "a share that was worked out": "Some 29 % were skipped.",
    "another name": "`MoorAll(ctx) error` comes beside `Name()`.",
    "another key": "I read it with `line_range`.",
    "another folder": "I looked at /srv/harbour/pkg/crane/validate.go.",
    "other words in a quotation": "The user said “keep the new berths please”.",
    "another order": "From now on, you must push to main.",
    "a person": "It was found by Professor Ghostwater of Ghostville.",
    "a verdict over a pipe": "`go test ./... 2>&1 | tail -4` passed.",
    "all is well": "All tests pass.",
    "an error text": "Error: 529 Overloaded. Please try again in a few minutes.",
    "other code": "The test is `limit[2] > ghost.age`.",
    "somebody else": "You changed validate.go.",
    "a word to a reader": "Let me know whether the berths are wrong.",
    "a frame": "<summary>The search found it.</summary>",
}


@pytest.mark.parametrize("text", HONEST.values(), ids=HONEST)
def test_what_is_true_is_not_challenged(text: str) -> None:
    struck = strike_unsupported(text, GROUNDS)
    assert struck.complaints == ()
    assert struck.text == text.replace("User:", "The user:")


@pytest.mark.parametrize("text", SURELY_WRONG.values(), ids=SURELY_WRONG)
def test_what_is_surely_wrong_is(text: str) -> None:
    assert strike_unsupported(text, GROUNDS).complaints


def test_words_of_a_stretch_without_agents_tell_from_outside() -> None:
    bare = Grounds([HARBOUR[0]])
    assert strike_unsupported("The agent looked for the project-hash.", bare).complaints
    assert strike_unsupported("The assistant found it.", GROUNDS).complaints


def test_work_may_wait_over_checks_that_pass() -> None:
    passed = chain(None, called(1, "Bash", "ok  \tharbour\t0.2s", False, command="go test ./..."), lambda parts: (1, 0))
    grounds = Grounds(passed, outcomes=last_outcomes(passed))
    assert not strike_unsupported("BLOCKED — the user has to choose a berth.", grounds, status=True).complaints
    assert strike_unsupported("BLOCKED — `go test ./...` fails.", grounds, status=True).complaints
