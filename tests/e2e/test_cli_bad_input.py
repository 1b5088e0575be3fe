"""Bad input gets one clear sentence and exit code 2, and leaves nothing behind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
from tests.e2e.test_cli_command import AGENT, run


def text_file(path: Path) -> None:
    path.write_text("once upon a time")


def log_of_agent(path: Path) -> None:
    path.write_bytes(AGENT.read_bytes())


def empty_file(path: Path) -> None:
    path.write_text("")


def foreign_database(path: Path) -> None:
    with apsw.Connection(str(path)) as database:
        database.execute("create table cats (name text)")
    database.close()


def newer_database(path: Path) -> None:
    run("import", AGENT, "--db", path)
    with apsw.Connection(str(path)) as database:
        database.execute("insert into migrations values (999, 'from_the_future', '2099-01-01')")
    database.close()


CONTEXT = ("context", "{agent}", "--budget", "2000")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("context", "{agent}", "--budget", "255"), "A budget of 255 tokens is too small; give at least 256."),
        ((*CONTEXT, "--to", "morse"), "There is no chat format 'morse'; the formats are anthropic, gemini"),
        (
            (*CONTEXT, "--preset", "lazy"),
            "the presets are coding, forge, scratchpad, story.",
        ),
        ((*CONTEXT, "--session", "x"), "There is no session x in it; it holds 7c1e4f52"),
        (("context", "gone.jsonl", "--budget", "2000"), "There is no file gone.jsonl."),
        (("context", ".", "--budget", "2000"), ". is a folder; name a log in it"),
        (("context", "", "--budget", "2000"), "The name is empty; give a session"),
        (
            ("context", "gone", "--budget", "2000"),
            "There is no database memory.db; create one with `ireneo import LOG`",
        ),
        (("compact", "gone.json", "--budget", "2000"), "There is no file gone.json."),
        (("expand", "s_2345678"), "There is no database memory.db"),
        (("expand", "s_2345678", "--file", "{agent}"), "There is no block or message s_2345678 in"),
        (("sessions", "--db", "gone.db"), "There is no database gone.db"),
        (("rewind", "a", "root"), "There is no database memory.db"),
        (("fork", "a", "b"), "There is no database memory.db"),
        (("snapshot", "a"), "There is no database memory.db"),
        (("snapshot", "a", "--out", "gone"), "There is no folder gone."),
        (("import", "{agent}", "--format", "morse"), "There is no log format 'morse'; the formats are specstory"),
        (("import", "gone.jsonl"), "There is no file gone.jsonl."),
        (("learn", "gone.jsonl"), "There is no file gone.jsonl."),
        (("export", ""), "The path is empty; name a folder"),
        (("import", "{agent}", "--db", "mysql://localhost/memory"), "mysql://localhost/memory is not a database"),
        (("sessions", "--db", "sqlite:///gone.db"), "There is no database gone.db"),
        (("sessions", "--db", ""), "The name of the database is empty"),
        (("review", "--keep", "m_2345678", "--drop", "m_2345678"), "m_2345678 is given 2 verdicts"),
        (("review", "--keep", "m_2345678", "--text", "x"), "--text gives the new words of a lesson"),
        (("review", "--keep", "m_2345678", "--reason", "x"), "--reason says why a lesson is dropped"),
        (("work", "--lease", "-1", "--until-idle"), "A lease of -1 seconds reserves nothing"),
        (("proxy", "--to", "http://127.0.0.1:1/v1", "--port", "99999"), "There is no port 99999"),
    ],
)
def test_nothing_is_made_on_the_way(arguments: tuple[str, ...], sentence: str, tmp_path: Path) -> None:
    done = run(*(each.format(agent=AGENT) for each in arguments), cwd=tmp_path, ends=2)
    assert done.stdout == ""
    assert done.stderr.startswith("ireneo: ")
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "make", "sentence"),
    [
        (("sessions", "--db", "{file}"), text_file, "is not an Ireneo database"),
        (("sessions", "--db", "{file}"), foreign_database, "is a database of another program"),
        (("sessions", "--db", "{file}"), newer_database, "was written by a newer Ireneo; upgrade"),
        (("import", "{agent}", "--db", "{file}"), text_file, "is not an Ireneo database"),
        (("import", "{agent}", "--db", "{file}"), newer_database, "was written by a newer Ireneo; upgrade"),
        (("context", "{file}", "--budget", "2000"), text_file, "name its `--format`: specstory, "),
        (("context", "{file}", "--budget", "2000"), empty_file, "is empty"),
        (("compact", "{file}", "--budget", "2000"), text_file, "; give a JSON list of messages."),
        (("compact", "{file}", "--budget", "2000"), log_of_agent, "; it is a log: use `ireneo context "),
        (("compact", "{file}", "--budget", "2000"), empty_file, "is empty."),
        (("learn", "{file}"), empty_file, "is empty."),
    ],
)
def test_a_file_of_another_kind_stays_as_it_is(
    arguments: tuple[str, ...], make: Callable[[Path], None], sentence: str, tmp_path: Path
) -> None:
    file = tmp_path / "given"
    make(file)
    before = file.read_bytes()
    done = run(*(each.format(agent=AGENT, file=file) for each in arguments), cwd=tmp_path, ends=2)
    assert done.stdout == ""
    assert done.stderr.startswith("ireneo: ")
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1
    assert file.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["given"]


def test_an_import_of_nothing_readable_makes_no_database(tmp_path: Path) -> None:
    text_file(tmp_path / "tale.txt")
    done = run("import", "tale.txt", cwd=tmp_path, ends=2)
    assert done.stderr.startswith("ireneo: tale.txt is in no log format that is known here")
    assert [path.name for path in tmp_path.iterdir()] == ["tale.txt"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ("context", "gone", "--budget", "2000"),
            "There is no session 'gone' in space 'default'; `ireneo sessions` lists those there are.",
        ),
        (("context", "7c1e@gone", "--budget", "2000"), "has no branch 'gone'; it has: main."),
        (("expand", "s_2345678"), "There is nothing called 's_2345678' in space 'default'"),
        (("rewind", "7c1e", "m_2345678"), "There is no message m_2345678 in session 7c1e4f52"),
        (("fork", "7c1e", " "), "' ' can't name a branch"),
        (("fork", "7c1e", "a@b"), "'a@b' can't name a branch"),
        (("snapshot", "7c1e", "--budget", "0"), "A budget of 0 tokens is too small"),
        (("snapshot", "7c1e", "--budget", "much"), "'much' is not a number of tokens"),
        (("copy", "memory.db", "./memory.db"), "memory.db can't be copied into itself"),
        (("recall", "beat", "--project", "gone", "--kind", "failure"), "belongs to a project gone; there is kestrel."),
        (("memories", "--project", "gone"), "belongs to a project gone; there is kestrel."),
    ],
)
def test_what_is_not_in_a_database(arguments: tuple[str, ...], sentence: str, stored: Path) -> None:
    assert sentence in run(*arguments, cwd=stored, ends=2).stderr


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a database that holds one session."""
    folder = tmp_path_factory.mktemp("stored")
    run("import", AGENT, cwd=folder)
    return folder


def test_of_several_logs_each_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    empty_file(tmp_path / "empty.jsonl")
    for command, end in (("import", "Nothing could be read in"), ("learn", "No runs were found in")):
        done = run(command, "gone.jsonl", "empty.jsonl", cwd=tmp_path, ends=2)
        first, second, last = done.stderr.splitlines()
        assert (first, second) == ("warning: There is no file gone.jsonl.", "warning: empty.jsonl is empty.")
        assert last.startswith(f"ireneo: {end} gone.jsonl, empty.jsonl; `ireneo formats` lists what can")
    assert [path.name for path in tmp_path.iterdir()] == ["empty.jsonl"]
