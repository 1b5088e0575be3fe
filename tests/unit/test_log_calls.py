"""Whether a call failed, read from its result."""

from __future__ import annotations

import pytest

from ireneo.log.calls import derive_failed
from ireneo.log.message import Call


def bash(command: str = "make test") -> Call:
    return Call(id="c", name="Bash", arguments={"command": command})


FAILED = {
    "an exit code first": "Exit code 1\nboom",
    "a return code in a tag": "<returncode>2</returncode>\n<output>\n</output>",
    "a process that says how it ended": "stuff\nProcess exited with code 137",
    "Go's last line": "main.go:3: oops\nexit status 2",
    "a tool that was misused": "<tool_use_error>File does not exist.</tool_use_error>",
    "a patch that fits nowhere": "apply_patch verification failed: Failed to find expected lines in a.py",
    "an error first": "Error: payment method not found",
    "a named exception first": "ValueError: 3",
    "a call that was turned down": "The user doesn't want to proceed with this tool use.",
    "a traceback at the end": 'start\nTraceback (most recent call last):\n  File "a.py", line 1\nKeyError: 1\n',
    "a panic": "goroutine dump\npanic: nil map\n\ngoroutine 1 [running]:\nmain.main()",
    "Rust's panic": "running\nthread 'main' panicked at src/main.rs:2:5:\nboom",
    "Rust's compiler": "   Compiling a\nerror[E0308]: mismatched types\n --> src/a.rs:1:1",
    "JavaScript's stack": "TypeError: x is not a function\n    at run (/a/b.js:3:7)\n    at main (/a/b.js:9:1)",
    "a command that isn't there": "bash: frobnicate: command not found",
    "a file that isn't there": "cat: a.txt: No such file or directory",
    "Go's failed test": "=== RUN   TestA\n--- FAIL: TestA (0.00s)\n    a_test.go:4: no",
    "Go's failed package": "ok  \ta\t0.1s\nFAIL\tb\t0.2s\nFAIL",
    "Go's compiler": "# example.com/a [example.com/a.test]\na/a.go:3:2: undefined: b",
    "pytest": "tests/test_a.py F.\n=== 1 failed, 4 passed in 0.12s ===",
    "pytest that can't begin": "=== 2 errors in 0.12s ===",
    "Jest": "Tests:       1 failed, 2 passed, 3 total",
    "unittest": "F.\n------\nRan 2 tests in 0.001s\n\nFAILED (failures=1)",
    "make": "cc -c a.c\nmake[1]: *** [Makefile:3: a.o] Error 1",
    "a C compiler": "a.c:3:5: error: expected ';'",
    "a type checker": "a.py:1: error: no\nFound 1 error in 1 file (checked 2 source files)",
    "a merge": "Auto-merging a\nCONFLICT (content): Merge conflict in a",
}

PASSED = {
    "an exit code first": "Exit code 0\nfine, though it says Error: in passing",
    "a process that says how it ended": "panic: that was a joke\nProcess exited with code 0",
    "a return code in a tag": "<returncode>0</returncode>\n<output>\nTraceback (most recent call last):\n</output>",
    "pytest": "........\n8 passed in 0.31s",
    "Go": "ok  \texample.com/a\t0.1s",
    "cargo": "test result: ok. 3 passed; 0 failed; 0 ignored",
}

SILENT = {
    "nothing": "",
    "plain words": "Installed 6 hooks.",
    "a log that speaks of errors": "INFO retrying after error: timeout\nINFO connected",
    "a caught traceback": "Traceback (most recent call last):\n".join(
        ["start\n", '  File "a"\nKeyError: 1\nok\nok\nok\n']
    ),
    "no failures": "0 failed",
}

SOURCE = """     1\tdef test_fail():
     2\t    raise ValueError("Error: 3 failed, 1 passed in 2s")
--- FAIL: TestA (0.00s)
FAIL\tb\t0.2s
panic: nil map
Traceback (most recent call last):
  File "a.py", line 1
KeyError: 1
"""


@pytest.mark.parametrize("text", FAILED.values(), ids=FAILED.keys())
def test_a_failure_is_seen(text: str) -> None:
    assert derive_failed(text, bash()) is True


@pytest.mark.parametrize("text", PASSED.values(), ids=PASSED.keys())
def test_a_success_is_seen(text: str) -> None:
    assert derive_failed(text, bash()) is False


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT.keys())
def test_what_tells_nothing_is_left_open(text: str) -> None:
    assert derive_failed(text, bash()) is None


@pytest.mark.parametrize(
    "call",
    [
        Call(id="c", name="Read", arguments={"file_path": "a.py"}),
        Call(id="c", name="Grep", arguments={"pattern": "FAIL"}),
        Call(id="c", name="search_latest_news", arguments={"query": "x"}),
        Call(id="c", name="Edit", arguments={"file_path": "a.py"}),
        bash("cat a.py"),
        bash("cd /a && sed -n '1,40p' a.py | head -20"),
        bash("git -C /a diff HEAD~1; git log -3"),
        bash("grep -rn 'FAIL' . || echo none"),
        bash("cat <<'EOF' > notes\nmake test; go test\nEOF"),
    ],
    ids=lambda call: f"{call.name} {call.arguments}",
)
def test_what_was_only_read_is_no_failure(call: Call) -> None:
    assert derive_failed(SOURCE, call) is None


@pytest.mark.parametrize(
    "call",
    [
        bash("cd /a && go test ./... | tail -20"),
        bash("cat <<'EOF' > a.py\nprint(1)\nEOF\npython a.py"),
        Call(id="c", name="execute_bash", arguments={"command": ["go", "test"]}),
        Call(id="c", name="run_tests", arguments={}),
        Call(id="c", name="shell", arguments="go test"),
        None,
    ],
    ids=str,
)
def test_what_was_run_may_fail_anywhere(call: Call | None) -> None:
    assert derive_failed(SOURCE, call) is True


def test_a_read_that_failed_says_so_at_the_start() -> None:
    call = Call(id="c", name="Read", arguments={"file_path": "a.py"})
    assert derive_failed("<tool_use_error>File does not exist.</tool_use_error>", call) is True
    assert derive_failed("EISDIR: illegal operation on a directory, read", call) is True


@pytest.mark.parametrize(
    "piece", ["=", "-\n", "\n", " ", "a", "1 passed ", "1 failed ", "process x ", "a.b.", "a/b:1 "]
)
def test_a_long_output_is_read_in_time(piece: str) -> None:
    # A pattern that backtracks over it all would take hours here.
    assert derive_failed(f"start{piece * 200_000}end", bash()) in (None, False)


def test_what_decides_may_stand_at_the_end_of_a_long_output() -> None:
    assert derive_failed("line\n" * 200_000 + "=== 1 failed, 4 passed in 0.12s ===", bash()) is True
