"""A database that may not be written to: it is read all the same, as it is now, and nothing is made beside it."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import apsw
import msgspec
import pytest
from tests.property.verbs import READING, RUN, STORY, WRITING, furnish, memory_with_all
from tests.unpermitted import need_permissions, run, start

from ireneo.adapters.sqlite.opening import open_sqlite
from ireneo.log.tree import SessionKey

COMMANDS = """
import contextlib, io, json, sys
from ireneo.faces.cli import main

for line in sys.stdin:
    sys.argv = ["ireneo", *json.loads(line)]
    out, err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), io.StringIO()
    code = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main.run()
        except SystemExit as end:
            code = end.code
    out.seek(0)
    print(json.dumps([code, out.read(), err.getvalue()]), flush=True)
"""
VERBS = """
import asyncio, sys, traceback
sys.path.insert(0, sys.argv[2])
from pathlib import Path
from tests.property.verbs import READING, WRITING, memory_with_all
from ireneo.adapters.sqlite import open_sqlite
from ireneo.errors import BadInput, IreneoError, ReadOnlyStore

async def main():
    store = await open_sqlite(sys.argv[1])
    memory = memory_with_all(store)
    named = sys.argv[3:]
    for kind, verbs in (("read", READING), ("write", WRITING)):
        for name, verb in verbs.items():
            if named and name not in named:
                continue
            try:
                await verb(memory)
                print(kind, name, "did", sep="\\t")
            except ReadOnlyStore as error:
                print(kind, name, "refused", error, sep="\\t")
    await store.close()

asyncio.run(main())
"""


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with something of everything, closed; to be copied."""
    folder = tmp_path_factory.mktemp("furnished")
    need_permissions(folder)

    async def make() -> None:
        store = await open_sqlite(folder / "memory.db", durability="normal")
        memory = memory_with_all(store)
        await furnish(memory)
        await memory.embed()
        await store.close()

    asyncio.run(make())
    return folder / "memory.db"


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "place"
    place.mkdir()
    yield place
    place.chmod(0o755)


def closed(folder: Path, *, file: int = 0o444, mode: int = 0o555) -> dict[str, bytes]:
    """Take the right to write from a folder and all in it; what lies there now."""
    for each in folder.iterdir():
        each.chmod(file)
    content = {each.name: each.read_bytes() for each in folder.iterdir()}
    folder.chmod(mode)
    return content


def lies_there(folder: Path) -> dict[str, bytes]:
    folder.chmod(0o755)
    return {each.name: each.read_bytes() for each in folder.iterdir()}


def tried(path: Path, *named: str) -> tuple[list[str], dict[str, list[str]]]:
    """Which verbs that read did, and what those that write say they are refused for; of `named`, or else of all."""
    done = run(["-c", VERBS, str(path), str(Path(__file__).parents[2]), *named])
    assert done.returncode == 0, done.stderr
    told = [line.split("\t") for line in done.stdout.splitlines()]
    did = [name for kind, name, did, *_ in told if kind == "read" and did == "did"]
    return did, {name: why for kind, name, did, *why in told if kind == "write" and did == "refused"}


def test_every_verb_that_reads_does_and_every_other_says_why_not(furnished: Path, folder: Path) -> None:
    shutil.copy(furnished, folder)
    before = closed(folder)
    did, refused = tried(folder / "memory.db")
    assert did == list(READING)
    # What has nothing to do writes nothing.
    nothing_due = set(
        (
            "embed | learn | doctor that repairs | secrets that are taken out | Session.catch_up | "
            "Session.due | Session.notes_request | Session.summarise"
        ).split(" | ")
    )
    assert set(WRITING) - set(refused) <= nothing_due
    assert {why for (why,) in refused.values()} == {said_of(folder / "memory.db")}
    assert lies_there(folder) == before


@pytest.mark.parametrize(("file", "mode"), [(0o644, 0o555), (0o444, 0o755)])
def test_it_is_the_same_where_only_the_folder_or_only_the_file_is_closed(
    furnished: Path, folder: Path, file: int, mode: int
) -> None:
    shutil.copy(furnished, folder)
    before = closed(folder, file=file, mode=mode)
    did, refused = tried(folder / "memory.db", "sessions", "recall", "remember", "Session.append")
    assert did == ["sessions", "recall"]
    assert refused == {name: [said_of(folder / "memory.db")] for name in ("remember", "Session.append")}
    assert lies_there(folder) == before


@cache
def commander() -> subprocess.Popen[str]:
    """A process that runs commands one after the other, since to start one for each takes long."""
    return start(["-c", COMMANDS])


@pytest.fixture(scope="module", autouse=True)
def _ended() -> Iterator[None]:
    yield
    if commander.cache_info().currsize:
        commander().communicate(timeout=60)
        commander.cache_clear()


def commanded(*commands: Sequence[str]) -> list[tuple[int, str, str]]:
    """What each command ends with, writes, and says is wrong."""
    process = commander()
    assert process.stdin is not None
    assert process.stdout is not None
    done = []
    for each in commands:
        process.stdin.write(f"{msgspec.json.encode(each).decode()}\n")
        process.stdin.flush()
        line = process.stdout.readline()
        assert line, process.stderr and process.stderr.read()
        done.append(msgspec.json.decode(line, type=tuple[int, str, str]))
    return done


def told_by(path: Path, *commands: Sequence[str]) -> list[str]:
    """What each of the commands writes, which do what they are asked for."""
    done = commanded(*([*each, "--db", str(path), "--space", "mine"] for each in commands))
    assert [code for code, _, _ in done] == [0] * len(commands), done
    return [said for _, said, _ in done]


def test_the_commands_that_read_say_what_they_say_of_one_that_can_be_written(furnished: Path, folder: Path) -> None:
    commands = [
        ["sessions"],
        ["export", "-"],
        ["recall", "Where does Anna live?", "--json"],
        ["tree", STORY],
        ["lessons"],
        ["check", "Bash", '{"command": "make integration"}', "--project", "kestrel"],
        ["history", "Anna"],
        ["doctor", "--json"],
        ["expand", "m_xynwnen", "--json"],
        ["pins", RUN],
        ["brief", "--goal", "Run the integration tests", "--project", "kestrel"],
        ["context", RUN, "--budget", "2000", "--json"],
        ["context", STORY, "--budget", "2000", "--json"],
    ]
    free = folder.parent / "memory.db"
    shutil.copy(furnished, free)
    shutil.copy(furnished, folder)
    before = closed(folder)
    for command, said, other in zip(
        commands, told_by(folder / "memory.db", *commands), told_by(free, *commands), strict=True
    ):
        assert said.replace(f',"unkept":"{said_of(folder / "memory.db")}"', "") == other, command
    assert lies_there(folder) == before


def said_of(path: Path) -> str:
    return f"{path} may not be written to; check its permissions and those of its folder."


def test_a_context_says_when_it_is_asked_that_nothing_was_kept(furnished: Path, folder: Path) -> None:
    shutil.copy(furnished, folder)
    closed(folder)
    asked = ["context", RUN, "--budget", "1200"]
    explained, plain = told_by(folder / "memory.db", [*asked, "--explain"], asked)
    # Where the lines break depends on how long the path is.
    assert "not kept" in explained
    assert "may not be written to" in " ".join(explained.split())
    assert "not kept" not in plain


async def leave_in_wal(folder: Path, free: Path) -> None:
    """Copy the files of a database at `free` into a folder while they are open, as they lie there after a kill."""
    store = await open_sqlite(free)
    await store.write(lambda tx: tx.sessions.create(SessionKey("mine", "only in the WAL"), None))
    for each in free.parent.glob(f"{free.name}*"):
        shutil.copy(each, folder)
    await store.close()


@pytest.mark.parametrize("shm", [True, False])
@pytest.mark.parametrize("file", [0o444, 0o644])
def test_what_stands_only_in_a_wal_that_was_left_behind_is_seen(
    furnished: Path, folder: Path, *, shm: bool, file: int
) -> None:
    path, free = folder / "memory.db", folder.parent / "memory.db"
    shutil.copy(furnished, free)
    asyncio.run(leave_in_wal(folder, free))
    assert (folder / "memory.db-wal").stat().st_size > 0
    if not shm:
        (folder / "memory.db-shm").unlink()
    before = closed(folder, file=file)
    assert "only in the WAL" in told_by(path, ["sessions"])[0]
    after = lies_there(folder)
    if file == 0o444 or not shm:
        # What lies in the lock file is of no account.
        assert {**after, "memory.db-shm": b""} == {**before, "memory.db-shm": b""}


def test_what_a_writer_adds_meanwhile_is_seen_or_refused_and_never_left_out(furnished: Path, folder: Path) -> None:
    path = folder / "memory.db"
    shutil.copy(furnished, path)
    path.chmod(0o444)
    code = """
import asyncio, os, sys
from ireneo.adapters.sqlite import open_sqlite
from ireneo.errors import StoreError

def look(tx, waits):
    if waits:
        print("reads", flush=True)
        sys.stdin.readline()
    return len(tx.sessions.list("mine"))

async def main():
    store = await open_sqlite(sys.argv[1])
    while line := sys.stdin.readline():
        try:
            print(await store.read(look, line.strip() == "wait"), flush=True)
        except StoreError as error:
            print(error, flush=True)

asyncio.run(main())
"""
    reader = start(["-c", code, str(path)])
    assert reader.stdin is not None
    assert reader.stdout is not None

    def ask(word: str) -> str:
        assert reader.stdin is not None
        assert reader.stdout is not None
        reader.stdin.write(f"{word}\n")
        reader.stdin.flush()
        return reader.stdout.readline().strip()

    def make(name: str) -> None:
        path.chmod(0o644)
        database = apsw.Connection(str(path))
        database.execute("INSERT INTO sessions (space, session, source, appended) VALUES ('mine', ?, NULL, 1)", (name,))
        database.close()
        path.chmod(0o444)

    try:
        before = int(ask("look"))
        make("one")
        assert int(ask("look")) == before + 1
        assert ask("wait") == "reads"
        make("two")
        # Its snapshot was of a file that nobody was to write to: better no answer than half of one.
        assert "was written to while it was read; ask again." in ask("go on")
        assert int(ask("look")) == before + 2
    finally:
        reader.communicate()


_TELLING = ["remember", "The boat is blue."]


def test_a_place_that_can_not_be_reached_is_told_in_one_sentence(furnished: Path, folder: Path) -> None:
    shutil.copy(furnished, folder)
    folder.chmod(0)
    inside = folder / "memory.db"
    below = folder / "below" / "memory.db"
    missing = folder.parent / "missing" / "memory.db"
    asking = (["sessions"], ["context", RUN, "--budget", "2000"])
    # What is written makes the folders that are missing, where it may.
    cases = [(command, path) for path in (inside, below, folder.parent) for command in (*asking, _TELLING)]
    cases += [(command, missing) for command in asking]
    for done in commanded(*([*command, "--db", str(path)] for command, path in cases)):
        is_one_sentence(done, code=2)
    assert not missing.parent.exists()


def is_one_sentence(done: tuple[int, str, str], *, code: int) -> None:
    assert (done[0], done[1]) == (code, ""), done
    assert done[2].startswith("ireneo: "), done
    assert done[2].count("\n") == 1, done


def test_a_file_that_may_not_be_read_and_a_new_one_in_a_closed_folder_are_told_too(
    furnished: Path, folder: Path
) -> None:
    shutil.copy(furnished, folder)
    closed(folder, file=0o200)
    paths = (folder / "memory.db", folder / "new.db")
    for done in commanded(*(["remember", "The boat is blue.", "--db", str(path)] for path in paths)):
        is_one_sentence(done, code=2)
    assert not (folder / "new.db").exists()


def test_a_file_of_an_earlier_version_says_that_it_is_to_be_copied(furnished: Path, folder: Path) -> None:
    path = folder / "memory.db"
    shutil.copy(furnished, path)
    database = apsw.Connection(str(path))
    database.execute("DELETE FROM migrations WHERE number = (SELECT max(number) FROM migrations)")
    database.close()
    closed(folder)
    (done,) = commanded(["sessions", "--db", str(path)])
    is_one_sentence(done, code=1)
    assert "written by an earlier Ireneo" in done[2]
