"""An import of a large log that is killed with signal 9 is finished by the next one, and nobody sees half of it."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import apsw
import pytest
from tests.e2e.test_cli_command import run

from ireneo.engine import imports

MESSAGES = 1_000
BATCH = 25
COMMAND = (
    "import sys; from ireneo.engine import imports; imports.BATCH = int(sys.argv.pop(1));"
    "from ireneo.faces.cli.main import run; sys.argv[0] = 'ireneo'; run()"
)


def start(*arguments: str, cwd: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", COMMAND, str(BATCH), *arguments]
    return subprocess.Popen(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def log() -> bytes:
    told = []
    for at in range(MESSAGES):
        # Now and then somebody goes back a little.
        parent = at - 3 if at % 40 == 39 else at - 1
        message = {"role": "user", "content": f"words of {at} " * 20}
        named = {"uuid": f"u{at}", "parentUuid": f"u{parent}" if at else None, "sessionId": "s"}
        told.append(json.dumps({"type": "user", **named, "message": message}))
    return "\n".join(told).encode()


def count(path: Path) -> int:
    if not path.exists():
        return 0
    database = apsw.Connection(str(path), apsw.SQLITE_OPEN_READONLY)
    try:
        return int(database.execute("SELECT count(*) FROM messages").fetchall()[0][0])
    except apsw.Error:
        return 0  # The file is not laid out yet.
    finally:
        database.close()


def dump(path: Path) -> tuple[list[object], list[object]]:
    """Every message, and where the branches stand, without the numbers that the store gives."""
    database = apsw.Connection(str(path))
    try:
        messages = database.execute("SELECT id, parent, position, turn, total_tokens, parts FROM messages ORDER BY id")
        stands = (
            "SELECT b.branch, m.id FROM branches AS b JOIN messages AS m"
            " ON m.session = b.session AND m.segment = b.segment AND m.position = b.position"
        )
        return messages.fetchall(), database.execute(stands).fetchall()
    finally:
        database.close()


@pytest.mark.skipif(sys.platform == "win32", reason="there is no signal 9")
def test_an_import_that_is_killed_is_finished_by_the_next_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def said(*arguments: str, ends: int = 0) -> str:
        return run(*arguments, cwd=tmp_path, ends=ends).stdout

    monkeypatch.setattr(imports, "BATCH", BATCH)
    (tmp_path / "log.jsonl").write_bytes(log())
    importing = start("import", "log.jsonl", "--db", "killed.db", cwd=tmp_path)
    deadline = time.monotonic() + 150
    while count(tmp_path / "killed.db") < 100 and importing.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    importing.kill()
    importing.communicate()
    assert 100 <= count(tmp_path / "killed.db") < MESSAGES
    # Half a log is no session's path, and what is to be done about it is said.
    assert json.loads(said("history", "s", "--db", "killed.db", "--json")) == []
    assert "Import its log again" in said("doctor", "--db", "killed.db", "--json", ends=1)
    told = said("import", "log.jsonl", "--db", "killed.db")
    assert f"of {MESSAGES:,} messages" in told
    assert "1 session," in told
    said("import", "log.jsonl", "--db", "whole.db")
    assert dump(tmp_path / "killed.db") == dump(tmp_path / "whole.db")
    assert "0 new" in said("import", "log.jsonl", "--db", "killed.db")
