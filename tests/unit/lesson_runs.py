"""Runs, observations and dates for the tests of lessons; written by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from msgspec.structs import replace
from tests.golden.material import read, run, step
from tests.unit.runs import material, timed

from ireneo.lessons.run import Category, Observation
from ireneo.lessons.shell import RunMaterial
from ireneo.lessons.study import observations_of
from ireneo.log.message import Draft, MessageId

TRAP = "bin/test ⇒ <any> → first:bin/migrate"
NOW = datetime(2026, 3, 20, tzinfo=UTC)
UNREAD = "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>"
NO_PYTEST = "Exit code 127\nbash: line 1: pytest: command not found"
NO_TAG = "Exit code 1\nFAIL\texample.org/ledger/integration [setup failed]"
LINTED = (
    "Exit code 1\n[lint] $ linter\nledger/rows.go:7:3: Error return value of `os.Remove` is not checked (errcheck)\n"
)


def a_run(*drafts: list[Draft], session: str = "run", project: str = "ledger", days: float = 0.0) -> RunMaterial:
    """A run whose messages are ten seconds apart, so many days after the first one."""
    flat = [draft for each in drafts for draft in each]
    made = material(timed(flat, [days * 86_400, *([10.0] * (len(flat) - 1))]) if flat else [])
    return as_session(replace(made, project=project), session)


def as_session(made: RunMaterial, session: str) -> RunMaterial:
    """The same run once more, which is no copy: no message of it is a message of another session."""
    own = (replace(each, id=MessageId(f"{each.id.partition('.')[0]}.{session}")) for each in made.messages)
    return replace(made, session=session, messages=tuple(own))


def edit_of(path: str, output: str, old: str = "a = 1", new: str = "a = 2") -> list[Draft]:
    given: dict[str, object] = {"file_path": path, "old_string": old, "new_string": new}
    return step("", "Edit", given, output, output.startswith("<tool_use_error>"))


def unread(path: str = "src/rows.py") -> list[Draft]:
    """A file is changed that was not read, and read, and changed."""
    return [*edit_of(path, UNREAD), *read(path, "a = 1\n" * 40), *edit_of(path, f"{path} was updated.")]


def no_pytest(test: str = "tests/test_rows.py") -> list[Draft]:
    """A program is not there, and another one does it."""
    passed = "tests finished: 12 passed, in 0.26 seconds"
    return [*run(f"pytest {test}", NO_PYTEST, failed=True), *run(f"bin/test {test}", passed)]


def observations(*runs: RunMaterial) -> dict[str, list[Observation]]:
    """What the runs show, by claim."""
    out: dict[str, list[Observation]] = {}
    for each in runs:
        for observation in observations_of(each):
            out.setdefault(observation.cue, []).append(observation)
    return out


def observed(
    held: int = 1,
    broke: int = 0,
    *,
    cue: str = TRAP,
    category: Category = "failure",
    session: str = "run",
    days: float = 0.0,
    text: str = "When `bin/test` fails with “no such table”, run `bin/migrate` first.",
    project: str = "ledger",
    tokens: int = 900,
) -> Observation:
    """An observation as old as so many days before `NOW`."""
    return Observation(
        cue=cue,
        category=category,
        session=session,
        project=project,
        at=NOW - timedelta(days=days),
        held=held,
        broke=broke,
        text=text,
        sources=(MessageId(f"m_{session}"),),
        tokens=tokens,
    )
