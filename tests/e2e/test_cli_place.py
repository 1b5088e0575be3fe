"""Which database a command means where none is named, why that one, and that all commands mean the same one."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Mapping
from pathlib import Path

import pytest
from platformdirs.macos import MacOS
from platformdirs.unix import Unix
from platformdirs.windows import Windows
from tests.e2e.test_cli_command import AGENT, Done, run, spawn

from ireneo.errors import BadInput
from ireneo.faces.cli.place import place_of, shown, user_database

RUN = AGENT.with_name("kestrel-lease.jsonl")
"""It teaches that `make integration` needs `make db`."""
CALL = {"tool_name": "Bash", "tool_input": {"command": "make integration"}, "cwd": "/srv/kestrel"}
HOOK = json.dumps(CALL).encode()
START = json.dumps({"hook_event_name": "SessionStart", "cwd": "/srv/kestrel"}).encode()
READING = (
    ("sessions",),
    ("context", "x", "--budget", "2000"),
    ("expand", "m_2345678"),
    ("tree", "x"),
    ("snapshot", "x"),
    ("rewind", "x", "root"),
    ("fork", "x", "y"),
    ("pin", "x", "y"),
    ("pins", "x"),
    ("release", "x", "y"),
    ("dispute", "x", "s_2345678", "y"),
    ("summarise", "x", "--budget", "2000", "--model", "ollama:none"),
    ("work", "--until-idle"),
    ("recall", "x"),
    ("brief",),
    ("reflect",),
    ("pad",),
    ("history", "x"),
    ("fading",),
    ("restore", "m_2345678"),
    ("forget", "--memory", "m_2345678"),
    ("export", "out"),
    ("learn",),
    ("lessons",),
    ("check", "Bash", "ls"),
    ("report",),
    ("doctor",),
    ("prune", "x"),
)
"""Every command that looks into a database that must be there."""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with a space in its name, and a folder for work in it."""
    home = tmp_path / "Anna Example"
    (home / "work" / "kestrel" / "src").mkdir(parents=True)
    return home


def env_of(home: Path, **more: str) -> dict[str, str]:
    return {"HOME": str(home), "USERPROFILE": str(home), "IRENEO_DB": "", "XDG_DATA_HOME": "", **more}


def at(home: Path, *arguments: object, where: str = "work/kestrel/src", ends: int = 0, **more: str) -> Done:
    return run(*arguments, cwd=home / where, ends=ends, env=env_of(home, **more))


def meant(home: Path, *arguments: object, **more: str) -> Path:
    return Path(at(home, "path", *arguments, **more).stdout.strip())


def empty(path: Path) -> Path:
    """A database of ours without anything in it."""
    run("remember", "The lamp is lit.", db=path)
    return path


def test_the_first_of_five_is_meant(home: Path) -> None:
    src, own = home / "work/kestrel/src", home / ".local/share/ireneo/memory.db"
    assert meant(home) == own
    assert meant(home, XDG_DATA_HOME=str(home / "data")) == home / "data/ireneo/memory.db"
    (home / ".ireneo").mkdir()
    assert meant(home) == home / ".ireneo/memory.db"
    (home / "work/kestrel/.ireneo").mkdir()
    assert meant(home) == home / "work/kestrel/.ireneo/memory.db", "the nearest"
    empty(src / "memory.db")
    assert meant(home) == src / "memory.db"
    assert meant(home, IRENEO_DB="~/else/where.db") == home / "else/where.db"
    assert meant(home, "--db", "~/named.db", IRENEO_DB="~/else/where.db") == home / "named.db"


def test_it_says_why_and_a_script_gets_the_path_alone(home: Path) -> None:
    done = at(home, "path")
    assert done.stdout == f"{home / '.local/share/ireneo/memory.db'}\n"
    assert "~/.local/share/ireneo/memory.db: your own database" in done.stderr
    assert "It does not exist yet" in done.stderr
    (home / "work/.ireneo").mkdir()
    told = json.loads(at(home, "path", "--json").stdout)
    assert told == {
        "path": str(home / "work/.ireneo/memory.db"),
        "why": "the folder ~/work has a .ireneo in it",
        "exists": False,
    }
    assert "IRENEO_DB names it" in at(home, "path", IRENEO_DB="x.db").stderr
    assert "named with --db" in at(home, "path", "--db", "x.db").stderr


@pytest.mark.parametrize("arguments", READING, ids=lambda arguments: arguments[0])
def test_every_command_means_the_same_one(arguments: tuple[str, ...], home: Path) -> None:
    (home / "work/.ireneo").mkdir()
    assert "There is no database ~/work/.ireneo/memory.db" in at(home, *arguments, ends=2).stderr
    named = at(home, *arguments, "--db", "~/c.db", ends=2, IRENEO_DB="~/a/b.db")
    assert "There is no database ~/c.db" in named.stderr
    assert not list(home.rglob("*.db")), "to ask makes none"


def test_what_writes_makes_it_with_its_folders_for_its_user_alone(home: Path) -> None:
    own = home / ".local/share/ireneo"
    assert "→ ~/.local/share/ireneo/memory.db" in at(home, "import", AGENT).stdout
    assert own.stat().st_mode & 0o777 == 0o700
    assert "7c1e4f52" in at(home, "sessions").stdout
    at(home, "remember", "The lamp is lit.", IRENEO_DB="~/a/b/c.db")
    assert (home / "a/b/c.db").exists()
    at(home, "learn", AGENT, "--db", "~/d/e.db")
    assert (home / "d/e.db").exists()
    at(home, "pad", "lamp", "--goal", "light it", "--db", home / "f/g.db")
    assert (home / "f/g.db").exists()
    assert not list((home / "work").rglob("*.db")), "nothing lands where one stands"


def test_the_hook_and_the_server_mean_the_same_one(home: Path) -> None:
    src = home / "work/kestrel/src"
    assert run("hook", cwd=src, given=HOOK, env=env_of(home)) == Done(0, "", ""), "who has none yet hears nothing"
    assert not list(home.rglob("*.db"))
    spawn("mcp", cwd=src, env=env_of(home))
    assert (home / ".local/share/ireneo/memory.db").exists()
    at(home, "learn", RUN)
    for arguments in (("hook",), ("check", "--hook")):
        told = run(*arguments, cwd=src, given=HOOK, env=env_of(home))
        assert "run `make db` first" in told.stdout
        assert told.stderr == ""
    assert not list(src.iterdir())


def test_a_database_of_this_folder_goes_on_being_used_and_that_is_said_once(home: Path) -> None:
    src = home / "work/kestrel/src"
    empty(src / "memory.db")
    for arguments in (("doctor",), ("recall", "lamp"), ("prune", "x", "--yes")):
        done = at(home, *arguments, ends=2 if arguments[0] == "prune" else 0)
        assert done.stderr.count("Using the memory.db in this folder") == 1
    assert "Using" not in at(home, "doctor", "--db", "memory.db").stderr, "it was asked for"
    assert json.loads(at(home, "recall", "lamp", "-a", "--json").stdout)[0]["text"] == "The lamp is lit."
    at(home, "learn", RUN)
    begun, called = (run("hook", cwd=src, given=given, env=env_of(home)) for given in (START, HOOK))
    assert "run `make db` first" in begun.stdout
    assert begun.stderr.count("Using the memory.db in this folder") == 1
    assert "run `make db` first" in called.stdout
    assert called.stderr == "", "a session has many calls"


def test_a_file_of_the_same_name_that_is_not_ours_is_left_alone(home: Path) -> None:
    file = home / "work/kestrel/src/memory.db"
    own = home / ".local/share/ireneo/memory.db"
    for content in (b"", b"notes", b"SQLite format 3\0"):
        file.write_bytes(content)
        assert meant(home) == own
    file.unlink()
    with sqlite3.connect(file) as database:
        database.execute("CREATE TABLE cats (name TEXT)")
    database.close()
    assert meant(home) == own
    file.unlink()
    file.mkdir()
    assert meant(home) == own


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="files belong to nobody there")
def test_a_folder_that_somebody_else_put_above_is_passed_over_and_that_is_said(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / ".ireneo").mkdir()
    monkeypatch.setattr(os, "getuid", lambda: home.stat().st_uid + 1)
    done = at(home, "sessions", ends=2)
    assert "~/.ireneo belongs to another user and is passed over" in done.stderr
    assert "There is no database ~/.local/share/ireneo/memory.db" in done.stderr


@pytest.mark.parametrize(
    ("system", "environ", "ends"),
    [
        (MacOS, {}, "Anna Example/Library/Application Support/ireneo/memory.db"),
        (Unix, {}, "Anna Example/.local/share/ireneo/memory.db"),
        (Unix, {"XDG_DATA_HOME": "/srv/data"}, "/srv/data/ireneo/memory.db"),
        (Windows, {"WIN_PD_OVERRIDE_LOCAL_APPDATA": r"C:\Users\Anna Example\AppData\Local"}, "ireneo/memory.db"),
    ],
)
def test_each_system_has_a_place_of_its_own(
    system: type[MacOS] | type[Unix] | type[Windows],
    environ: Mapping[str, str],
    ends: str,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in {"HOME": str(home), "XDG_DATA_HOME": "", **environ}.items():
        monkeypatch.setenv(name, value)
    place = user_database(system("ireneo", appauthor=False))
    assert place.as_posix().endswith(ends)
    if system is Windows:
        assert str(place).startswith(r"C:\Users\Anna Example\AppData\Local")


def test_a_home_is_shown_short_and_one_that_is_not_known_is_said(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(home))
    assert shown(home / "a b.db") == "~/a b.db"
    assert shown(Path("x.db")) == "x.db"
    assert shown(Path("/srv/x.db")) == "/srv/x.db"
    with pytest.raises(BadInput, match="a home folder that is not known"):
        place_of(Path("~nobody-at-all/x.db"))

    class Homeless(Unix):
        @property
        def user_data_dir(self) -> str:
            return "~/.local/share/ireneo"

    with pytest.raises(BadInput, match="Your home folder is not known"):
        user_database(Homeless("ireneo", appauthor=False))


def test_a_folder_that_can_not_be_made_is_said(home: Path) -> None:
    (home / "file").write_text("")
    done = at(home, "remember", "The lamp is lit.", "--db", home / "file" / "x.db", ends=2)
    assert "The folder ~/file can't be made" in done.stderr
