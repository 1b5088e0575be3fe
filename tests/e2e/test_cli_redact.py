"""Secrets at the command line: taken out and counted by kind, kept where that is asked for, found again by `doctor`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.e2e.test_cli_command import run, spawn
from tests.planted import all_planted

PLANTED = [one for one in all_planted() if one.kind in ("github classic", "password", "rsa key")]
SAID = [*(one.text for one in PLANTED), PLANTED[0].text, "Go on."]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A chat in which three secrets are told, one of them twice."""
    path = tmp_path / "logs" / "talk.jsonl"
    path.parent.mkdir()
    path.write_text("".join(json.dumps({"author": "Vera", "text": text}) + "\n" for text in SAID))
    return path


def left(held: bytes) -> list[str]:
    return [secret for one in PLANTED for secret in one.secrets if secret.encode() in held]


def bytes_in(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.iterdir() if file.is_file())


def test_an_import_counts_what_it_took_out_and_tells_none_of_it(log: Path, tmp_path: Path) -> None:
    done = run("import", log, "--format", "chat", cwd=tmp_path)
    assert "3 secrets redacted: github-token 1, password 1, private-key 1" in done.stdout
    assert left(bytes_in(tmp_path) + done.stdout.encode() + done.stderr.encode()) == []
    again = run("import", log, "--format", "chat", cwd=tmp_path)
    assert "0 new messages" in again.stdout
    assert "of 5 messages" in again.stdout


def test_what_was_imported_with_its_secrets_stays_one_session_until_the_doctor_takes_them_out(
    log: Path, tmp_path: Path
) -> None:
    kept = run("import", log, "--keep-secrets", "--format", "chat", cwd=tmp_path)
    assert "redacted" not in kept.stdout
    assert left(bytes_in(tmp_path)) != []
    again = run("import", log, "--format", "chat", cwd=tmp_path)
    assert "0 new of 5 messages" in again.stdout
    assert "redacted" not in again.stdout
    assert "4 messages stored earlier still hold secrets; `ireneo doctor --secrets`" in again.stdout
    looked = spawn("doctor", "--secrets", cwd=tmp_path, ends=1)
    assert "4 messages with 3 secrets: github-token 1, password 1, private-key 1" in " ".join(looked.stdout.split())
    repaired = run("doctor", "--secrets", "--repair", cwd=tmp_path)
    assert "every fault is repaired" in repaired.stdout
    assert left(bytes_in(tmp_path)) == []
    assert "0 new of 5 messages" in run("import", log, "--format", "chat", cwd=tmp_path).stdout
    sound = json.loads(run("doctor", "--secrets", "--json", cwd=tmp_path).stdout)
    assert (sound["sound"], sound["messages"], sound["secrets"]) == (True, 5, [])
    assert "sound" in run("doctor", cwd=tmp_path).stdout
    assert "No secret was found" in run("doctor", "--secrets", cwd=tmp_path).stdout


def test_the_doctor_tells_as_json_how_many_stand_where(log: Path, tmp_path: Path) -> None:
    run("import", log, "--keep-secrets", "--format", "chat", cwd=tmp_path)
    told = json.loads(run("doctor", "--secrets", "--json", cwd=tmp_path, ends=1).stdout)
    kinds = {"github-token": 1, "password": 1, "private-key": 1}
    assert told["secrets"] == [{"where": "messages", "session": "talk", "things": 4, "kinds": kinds}]
    assert told["sound"] is False


def test_every_command_that_writes_takes_them_out_unless_it_is_told_to_keep_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = PLANTED[0].secrets[0]
    run("remember", f"The gate opens with {token}.", cwd=tmp_path)
    run("pad", "gate", "--goal", f"open it with {token}", cwd=tmp_path)
    assert left(bytes_in(tmp_path)) == []
    run("remember", f"The door opens with {token}.", "--keep-secrets", cwd=tmp_path)
    assert left(bytes_in(tmp_path)) == [token]
    run("doctor", "--secrets", "--repair", cwd=tmp_path)
    assert left(bytes_in(tmp_path)) == []
    monkeypatch.setenv("IRENEO_KEEP_SECRETS", "1")
    run("pad", "gate", "--goal", f"open it with {token}", cwd=tmp_path)
    assert left(bytes_in(tmp_path)) == [token]


def test_the_variable_that_keeps_secrets_is_read_as_people_write_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = PLANTED[0].secrets[0]
    for said in ("0", "no", "False", "off", ""):
        monkeypatch.setenv("IRENEO_KEEP_SECRETS", said)
        run("remember", f"The gate opens with {token}.", cwd=tmp_path)
        assert token.encode() not in bytes_in(tmp_path)
    monkeypatch.setenv("IRENEO_KEEP_SECRETS", "perhaps")
    done = run("remember", f"The gate opens with {token}.", cwd=tmp_path, ends=2)
    assert "set it to 1 to keep secrets, or to 0" in done.stderr
