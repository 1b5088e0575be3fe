"""Claims are keyed by codes: a file that keyed them by words is brought up to date, and words may become others."""

from __future__ import annotations

import json
import lzma
from collections.abc import Sequence
from pathlib import Path

import pytest

import ireneo
from ireneo import Memory
from ireneo.adapters.sqlite.opening import claim_code
from ireneo.formats.logs.format import log_format
from ireneo.lessons import observe, traps

EARLIER = Path(__file__).parent / "data" / "claims_in_words.db.xz"
"""What was learned from `run(1)` to `run(3)`, and a short one, as it was stored when claims were keyed by words."""
SHORT = "7a1d3c5e-0000-4000-8000-000000000004"
"""The session of the short run: a call that failed."""
SPACE = "claims"
Call = tuple[str, dict[str, str], str, bool]


@pytest.fixture
def earlier(tmp_path: Path) -> Path:
    path = tmp_path / "claims.db"
    path.write_bytes(lzma.decompress(EARLIER.read_bytes()))
    return path


def bash(command: str, output: str, failed: bool = False) -> Call:
    return "Bash", {"command": command}, f"Exit code 1\n{output}" if failed else output, failed


def read(path: str, output: str = "1→a = 1\n2→b = 2", failed: bool = False) -> Call:
    return "Read", {"file_path": path}, output, failed


def edit(path: str, old: str, new: str, output: str = "The file was updated.", failed: bool = False) -> Call:
    return "Edit", {"file_path": path, "old_string": old, "new_string": new}, output, failed


def calls() -> Sequence[Call]:
    """What fails in every run, and how it is got over."""
    long = "\n".join(f"loading table {number} of the ledger" for number in range(120))
    unread = "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>"
    return [
        edit("/w/src/rows.py", "a = 1", "a = 2", unread, failed=True),
        read("/w/src/rows.py"),
        edit("/w/src/rows.py", "a = 1", "a = 2"),
        bash("pytest tests/test_rows.py", f"{long}\nbash: line 1: pytest: command not found", failed=True),
        bash("bin/test tests/test_rows.py", "tests finished: 12 passed, in 0.26 seconds"),
        bash("make test", f"{long}\nError: no such table: rows", failed=True),
        bash("make tables", "made 3 tables"),
        bash("make test", "ok 12 passed"),
        bash("go test ./...", f"{long}\n--- FAIL: TestRowsAdd (0.1s)\n    rows.go:12: wrong\nFAIL", failed=True),
        edit("/w/rows.go", "x", "y"),
        bash("go test ./... -run TestRowsAdd", "ok  \tpkg\t0.1s"),
        bash("grep -rn 'def keep_row' src", "", failed=True),
        bash("grep -rn keep_row src", "src/marks.py:7:def keep_row(row):"),
        bash("sleep-long sync", "Command timed out after 2m 0.0s", failed=True),
        bash("quiet-tool", long, failed=True),
        edit("/w/rows.go", "p", "q"),
        bash("make fmt", "done"),
        bash("make lint", "0 issues."),
        read("/w/lib/marks.py", "File does not exist.", failed=True),
        bash("find . -name marks.py", "./src/marks.py"),
        read("/w/src/marks.py"),
        bash("go vet ./...", f"{long}\nrows.go:3:1: undefined: thing", failed=True),
        bash("go vet -tags=integration ./...", "ok"),
    ]


def run(number: int) -> list[bytes]:
    """A session of Claude Code."""
    lines: list[bytes] = []

    def line(kind: str, content: object) -> None:
        at = len(lines)
        entry = {
            "type": kind,
            "uuid": f"{number}-{at}",
            "parentUuid": f"{number}-{at - 1}" if at else None,
            "sessionId": f"7a1d3c5e-0000-4000-8000-{number:012d}",
            "timestamp": f"2026-03-{number % 27 + 1:02d}T10:{at // 60:02d}:{at % 60:02d}Z",
            "cwd": f"/home/dev/{'ledger' if number % 3 else 'till'}",
            "version": "2.1.0",
            "isSidechain": False,
            "message": {"role": kind, "content": content},
        }
        lines.append(json.dumps(entry).encode() + b"\n")

    line("user", f"Make the rows right, number {number}.")
    for at, (tool, given, output, failed) in enumerate(calls()):
        name = f"t{number}-{at}"
        line("assistant", [{"type": "tool_use", "id": name, "name": tool, "input": given}])
        line("user", [{"type": "tool_result", "tool_use_id": name, "content": output, "is_error": failed}])
    line("assistant", [{"type": "text", "text": "It is done."}])
    return lines


async def learn(memory: Memory, number: int) -> None:
    await memory.import_log(run(number), log_format("claude-code"), name=f"{number}.jsonl")
    await memory.learn()


async def seen_of_each(memory: Memory) -> dict[str, int]:
    return {each.id: each.seen for each in await memory.lessons()}


async def test_a_file_that_keyed_claims_by_words_keys_them_by_codes(earlier: Path) -> None:
    async with ireneo.open(earlier, space=SPACE) as memory:
        seen = {each.cue: each.seen for each in await memory.lessons()}
        assert len(seen) == 19
        assert seen["Edit <unread> ⇒ File has not been read yet → first:Read"] == 3
        assert seen["go test ⇒ <tests> → alone:go test"] == 3
        assert seen["ledger <command:tests> make test"] == 2
        assert seen["ledger <place> marks.py: w/src/marks.py"] == 2
        runs = {each.cue: each.runs for each in await memory.claims()}
        assert runs["sleep-long ⇒ <timeout>"] == runs["quiet-tool ⇒ <silent>"] == runs["grep ⇒ <any>"] == 3
        assert runs["make lint <after> make fmt"] == 3
        # The guard kept statistics among the claims then, which are gone.
        assert not [cue for cue in runs if cue.startswith("guard: ")]
        assert await memory.check("Bash", {"command": "pytest tests/test_rows.py"}, session=SHORT) is None
        assert await memory.doctor() == []


NO_PYTEST = "pytest ⇒ <any> → use:bin/test"


async def test_what_was_known_by_older_rules_gives_way_to_what_the_runs_show_by_these(earlier: Path) -> None:
    async with ireneo.open(earlier, space=SPACE) as memory:
        await learn(memory, 5)
        after = {each.cue: each.seen for each in await memory.lessons()}
        assert after[NO_PYTEST] == 4
        assert not [cue for cue in after if "⇒" in cue and "<any>" not in cue]


async def test_a_lesson_is_worded_anew_and_nothing_that_was_observed_is_lost(
    earlier: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ireneo.open(earlier, space=SPACE) as memory:
        await learn(memory, 5)
        before = await seen_of_each(memory)
        monkeypatch.setattr(traps, "describe_failure", lambda failed, fault: f"`{failed.shown}` comes to grief")
        for table in ("_FAULT_WORDS", "_REMEDY_WORDS"):
            shouted = {code: said.upper() for code, said in getattr(observe, table).items()}
            monkeypatch.setattr(observe, table, shouted)
        await learn(memory, 8)
        after = await seen_of_each(memory)
        # Rules that read commands and errors better may call a claim otherwise, and never lose one.
        assert sorted(after.values()) == sorted(seen + 1 for seen in before.values())


@pytest.mark.parametrize(
    ("named", "category", "code"),
    [
        ("told: t_abc", "procedural", "model: t_abc"),
        ("tool ⇒ error → -a for -b", "procedural", "tool ⇒ error → swap:-b:-a"),
        ("run it after a break", "failure", "run it after a break"),
        ("by hand", "factual", "by hand"),
    ],
)
def test_a_name_that_a_rule_made_has_a_code(named: str, category: str, code: str) -> None:
    assert claim_code(named, category) == code
