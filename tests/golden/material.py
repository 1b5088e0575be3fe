"""A small run, written by hand, with something of all that a block can tell."""

from __future__ import annotations

from itertools import count

from ireneo.log.message import Call, Draft, Result, Text

_names = map("call_{}".format, count(1_000))
"""Of calls outside `session`, so that none is named as one of its own, in whatever order tests run."""


def user(text: str) -> list[Draft]:
    return [Draft(role="user", parts=(Text(text=text),))]


def said(text: str) -> list[Draft]:
    return [Draft(role="assistant", parts=(Text(text=text),))]


def step(text: str, tool: str, arguments: dict[str, object], output: str, failed: bool | None = None) -> list[Draft]:
    call = Call(id=next(_names), name=tool, arguments=arguments)
    parts = (Text(text=text), call) if text else (call,)
    result = Result(call_id=call.id, parts=(Text(text=output),), failed=failed)
    return [Draft(role="assistant", parts=parts), Draft(role="tool", parts=(result,))]


def read(path: str, output: str, text: str = "") -> list[Draft]:
    return step(text, "Read", {"file_path": path}, output)


def edit(path: str, old: str, new: str, text: str = "") -> list[Draft]:
    return step(text, "Edit", {"file_path": path, "old_string": old, "new_string": new}, f"{path} was updated.")


def run(command: str, output: str, failed: bool = False, text: str = "") -> list[Draft]:
    return step(text, "Bash", {"command": command}, output, failed)


SOURCE = "\n".join(f"{n:>4}  def load_part_{n}(self, ledger_id):  # reads part {n} of the ledger" for n in range(1, 60))


def session(times: int = 1) -> list[Draft]:
    """The run, once or several times over; its calls are numbered from 1, whoever told it before."""
    global _names
    outside, _names = _names, map("call_{}".format, count(1))
    try:
        return [draft for _ in range(times) for draft in _run()]
    finally:
        _names = outside


def _run() -> list[Draft]:
    """Three turns: a fault found and mended after a dead end, a refused command, and a turn that ends badly."""
    return [
        *user("The nightly import drops the last row. Find out why and fix it. Never touch the migrations folder."),
        *read("src/ledger/importer.py", SOURCE, "Let me look at the importer first."),
        *run("pytst tests/test_importer.py", "bash: pytst: command not found", failed=True),
        *run(
            "pytest tests/test_importer.py",
            "Exit code 1\nE   AssertionError: 41 != 42\nFAILED tests/test_importer.py::test_last_row",
            failed=True,
        ),
        *edit(
            "src/ledger/importer.py",
            "\tfor row in rows[:-1]:\n\t\tself.keep_row(row)",
            "\tfor row in rows:\n\t\tself.keep_row(row)",
            "The slice drops the last row because rows[:-1] leaves it out; keep_row must see every row.",
        ),
        *run("pytest tests/test_importer.py", "===== 12 passed in 0.31s ====="),
        *said("Fixed: `keep_row` now sees every row. The cause was the slice `rows[:-1]` in src/ledger/importer.py."),
        *user("Now make the import faster, but keep the public API stable."),
        *edit(
            "src/ledger/batches.py",
            "def flush(self):\n    self.commit_batch()",
            "def flush(self):\n    self.commit_later()",
            "I'll defer the commit, since each batch waits for the disk.",
        ),
        *run("pytest tests/test_batches.py", "Exit code 1\nE   LedgerError: batch 7 is not committed", failed=True),
        *edit(
            "src/ledger/batches.py",
            "def flush(self):\n    self.commit_later()",
            "def flush(self):\n    self.commit_batch()",
            "Deferring loses batches when the process ends, so I put it back.",
        ),
        *step(
            "",
            "Bash",
            {"command": "git push --force origin main"},
            "The user doesn't want to proceed with this tool use. The user said: never push to main",
            failed=True,
        ),
        *edit("src/ledger/batches.py", "BATCH_SIZE = 50", "BATCH_SIZE = 500", "A larger batch needs fewer commits."),
        *run("pytest tests/test_batches.py", "===== 9 passed in 0.20s ====="),
        *said("The import is faster: BATCH_SIZE is 500. Deferred commits are not safe, so `flush` is as it was."),
        *user("Deploy it to staging."),
        *run("make deploy STAGE=staging", "make: *** [deploy] Error 1: STAGING_TOKEN is not set", failed=True),
        *said("I can't deploy: STAGING_TOKEN is not set."),
        *user("Thanks. What is left to do?"),
        *said("Only the deployment; it needs STAGING_TOKEN."),
    ]
