"""Processes that gather the memories of the same sessions at once make no doubles, and what one alone would make."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "memory_duplicates.py"
SESSIONS = 6
TURNS = 5


def line(session: int, number: int, role: str, content: object) -> dict[str, object]:
    """A line of a log, each the child of the one before."""
    return {
        "parentUuid": f"u{session}-{number - 1}" if number else None,
        "uuid": f"u{session}-{number}",
        "sessionId": f"s{session}",
        "isSidechain": False,
        "cwd": "/srv/shop",
        "type": role,
        "timestamp": f"2026-05-{1 + session:02d}T10:{number // 60:02d}:{number % 60:02d}.000Z",
        "message": {"role": role, "content": content},
    }


def turn(session: int, start: int) -> list[dict[str, object]]:
    """A user asks, a tool is misspelt and given up, another way works, and the agent answers."""

    def call(number: int, command: str) -> list[dict[str, object]]:
        return [{"type": "tool_use", "id": f"t{session}-{number}", "name": "Bash", "input": {"command": command}}]

    def result(number: int, text: str, failed: bool) -> list[dict[str, object]]:
        return [{"type": "tool_result", "tool_use_id": f"t{session}-{number}", "content": text, "is_error": failed}]

    said: list[tuple[str, object]] = [
        ("user", f"Count the orders of week {start} once more"),
        ("assistant", call(start + 1, f"orderz --week {start}")),
        ("user", result(start + 1, "sh: orderz: command not found", failed=True)),
        ("assistant", call(start + 3, f"orders --week {start}")),
        ("user", result(start + 3, f"{start + 7} orders", failed=False)),
        ("assistant", [{"type": "text", "text": f"There were {start + 7} orders in week {start}, all of them paid."}]),
    ]
    return [line(session, start + at, role, content) for at, (role, content) in enumerate(said)]


def test_several_processes_remember_what_one_does(tmp_path: Path) -> None:
    for session in range(SESSIONS):
        lines = [each for number in range(TURNS) for each in turn(session, number * 6)]
        tmp_path.joinpath(f"s{session}.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines))
    done = subprocess.run(
        [sys.executable, str(BENCHMARK), str(tmp_path), "--processes", "3", "--times", "2", "--json"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    figures = json.loads(done.stdout)
    assert figures["sessions"] == SESSIONS
    assert figures["records"] == figures["alone"] >= SESSIONS * TURNS
    assert not any(figures[name] for name in ("duplicates", "differing", "failed")), figures
