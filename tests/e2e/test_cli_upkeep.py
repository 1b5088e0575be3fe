"""A database is drawn, looked over, repaired and pruned from the command line.

`REGENERATE=1 pytest tests/e2e/test_cli_upkeep.py` writes the golden files anew: read the difference.
"""

from __future__ import annotations

import asyncio
import io
import json
import os
import re
import shutil
from pathlib import Path

import apsw
import pytest
from rich.console import Console
from tests.e2e.test_cli_command import AGENT, answer, run, spawn
from tests.golden.ferry import COUNT, told_story

from ireneo.adapters.in_memory import InMemoryStore
from ireneo.adapters.sqlite.opening import open_sqlite
from ireneo.engine.memory import Memory
from ireneo.engine.resources import Resources, SystemClock
from ireneo.engine.tree import Tree
from ireneo.faces.cli.screens.sessions import labelled_rows, show_tree

GOLDEN = Path(__file__).parents[1] / "golden"
STORY = "night-ferry"
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a story and an agent's run in its database."""
    folder = tmp_path_factory.mktemp("told")

    async def main() -> None:
        store = await open_sqlite(folder / "memory.db")
        await told_story(store)
        await store.close()

    asyncio.run(main())
    run("import", AGENT, cwd=folder)
    return folder


@pytest.fixture
def folder(told: Path, tmp_path: Path) -> Path:
    """A folder with a database of its own."""
    shutil.copy(told / "memory.db", tmp_path)
    return tmp_path


def changed(folder: Path, *statements: str) -> None:
    """Change a database by hand."""
    database = apsw.Connection(str(folder / "memory.db"))
    for statement in statements:
        database.execute(statement)
    database.close()


def golden(name: str, text: str) -> None:
    """Hold a screen against what it was."""
    if os.environ.get("REGENERATE"):
        (GOLDEN / name).write_text(text, encoding="utf-8")
    assert text == (GOLDEN / name).read_text(encoding="utf-8")


def story_of(size: int, leaf_size: int, leaves: int) -> Tree:
    """The tree of a story, out of a store that dies with us."""

    async def main() -> Tree:
        store = InMemoryStore()
        await told_story(store, size=size, leaf_size=leaf_size, leaves=leaves)
        memory = Memory(Resources(store=store, count=COUNT, clock=SystemClock()), "default")
        return await (await memory.session(STORY)).tree()

    return asyncio.run(main())


def drawn(tree: Tree, width: int, *, colours: bool = False) -> str:
    """The screen of a tree."""
    out = io.StringIO()
    screen = Console(
        file=out, width=width, force_terminal=colours, color_system="256" if colours else None, highlight=False
    )
    show_tree(screen, tree, STORY)
    return out.getvalue()


def test_the_tree_of_a_story_reads_as_it_did(told: Path) -> None:
    golden("cli_tree.txt", run("tree", STORY, cwd=told).stdout)


def test_a_tree_says_whether_it_tells_blocks_in_full(folder: Path) -> None:
    run("context", "7c1e4f52", "--budget", 1000, cwd=folder)
    assert "in full; a context shows of them what it has room for\n" in run("tree", "7c1e4f52", cwd=folder).stdout
    assert "in short; a context tells them in the room it has\n" in run("tree", STORY, cwd=folder).stdout


@pytest.mark.parametrize("width", [60, 80, 100, 200])
@pytest.mark.parametrize("leaves", [9, 500])
def test_a_tree_fits_its_screen(width: int, leaves: int) -> None:
    tree = story_of(leaves * 3 + 20, 3, leaves)
    text = drawn(tree, width)
    for line in text.splitlines()[1:]:
        # The sums and the widest of the columns may run over a screen as narrow as this.
        assert len(line) <= max(width, 90), line
        assert line == line.rstrip()
    rows = dict(labelled_rows(tree, width - 13))
    assert list(rows) == ["story 2", "story 1", "as it is", "forks", "threads", "message"]
    assert all(row.cell_len <= width - 13 for row in rows.values())
    assert len(text.splitlines()) < 80
    assert set(rows["story 1"].plain) <= set("█▌─┤ ")
    assert rows["story 1"].plain.strip(), "500 leaves in a few columns are still there"


def test_colours_change_no_letter() -> None:
    tree = story_of(60, 5, 9)
    coloured = drawn(tree, 80, colours=True)
    assert "\x1b[" in coloured
    plain = [line.rstrip() for line in COLOUR.sub("", coloured).splitlines()]
    assert plain == [line.rstrip() for line in drawn(tree, 80).splitlines()]


def test_the_tree_as_json(told: Path) -> None:
    tree = answer("tree", STORY, cwd=told)
    assert isinstance(tree, dict)
    assert {"session", "head", "messages", "nodes", "branch", "branches", "threads", "behind"} <= set(tree)
    assert (tree["session"], tree["messages"], tree["branch"]) == (STORY, 60, "main")
    for node in tree["nodes"]:
        assert {"id", "level", "depth", "first", "last", "messages", "tokens", "retellings", "text"} <= set(node)
        assert {"first_position", "last_position", "sources", "shown", "threads"} <= set(node)
        assert all({"id", "kind", "text", "who", "whom"} <= set(thread) for thread in node["threads"])
        opened = answer("expand", node["id"], cwd=told)
        assert isinstance(opened, dict)
        assert [opened["messages"][0]["id"], opened["messages"][-1]["id"]] == [node["first"], node["last"]]
        assert len(opened["messages"]) == node["messages"]
    assert answer("tree", f"{STORY}@third", cwd=told)["branch"] == "third"  # type: ignore[call-overload]


def test_the_tree_of_an_agents_run(folder: Path) -> None:
    shown = run("tree", "7c1e", cwd=folder).stdout
    assert "nothing is summarised yet" in shown
    run("context", "7c1e", "-b", 1500, cwd=folder)
    shown = run("tree", "7c1e", cwd=folder).stdout
    assert "goal 1" in shown
    assert "cut as coding" in shown
    assert "presets are" in run("tree", "7c1e", "--preset", "novel", cwd=folder, ends=2).stderr
    assert "knows no characters" in run("tree", "7c1e", "--as", "Mara", cwd=folder, ends=2).stderr
    assert "no session" in run("tree", "nobody", cwd=folder, ends=2).stderr


def test_a_sound_database(told: Path) -> None:
    shown = run("doctor", cwd=told).stdout
    assert "sound; 2 sessions with 127 messages were checked." in shown
    assert "was not checked" in run("doctor", "--quick", cwd=told).stdout
    assert answer("doctor", cwd=told) == {"sound": True, "sessions": 2, "messages": 127, "findings": []}
    assert "create one with" in spawn("doctor", "--db", "nowhere.db", cwd=told, ends=2).stderr


def test_a_broken_database_reads_as_it_did_is_repaired_and_stays_repaired(folder: Path) -> None:
    key = f"(SELECT key FROM sessions WHERE session = '{STORY}')"
    changed(
        folder,
        f"DELETE FROM summaries WHERE session = {key} AND depth = 1 AND first_position = 4",
        "UPDATE summaries SET record = json_set(record, '$.source_tokens', 12) "
        f"WHERE session = {key} AND depth = 1 AND first_position = 40",
        f"INSERT INTO leases VALUES ({key}, 'catch up', 'worker-1', 1, 1577836800000000, 0, '', NULL)",
        f"INSERT INTO leases VALUES ({key}, 'tell it', '', 2, 1577836800000000, 4, 'The model is down.', NULL)",
        f"UPDATE sessions SET leased = 2 WHERE key = {key}",
        f"DELETE FROM branches WHERE session = {key} AND branch = 'third'",
    )
    golden("cli_doctor.txt", run("doctor", cwd=folder, ends=1).stdout)
    broken = json.loads(run("doctor", "--json", cwd=folder, ends=1).stdout)
    assert not broken["sound"]
    assert [each["kind"] for each in broken["findings"]] == ["fault"] * 4 + ["note"]
    golden("cli_doctor_repaired.txt", run("doctor", "--repair", cwd=folder).stdout)
    assert "sound" in run("doctor", cwd=folder).stdout
    assert len(answer("tree", STORY, cwd=folder)["nodes"]) == 9  # type: ignore[call-overload]


def test_a_changed_message_is_a_fault_that_stays(folder: Path) -> None:
    changed(folder, "UPDATE messages SET parts = replace(parts, 'part 7.', 'part 9.')")
    for arguments in ((), ("--repair",)):
        shown = run("doctor", *arguments, cwd=folder, ends=1).stdout
        assert "is not what was stored" in " ".join(shown.split())
        assert ".recover" in shown
    assert "sound" in run("doctor", "--quick", cwd=folder).stdout


def test_pruning_asks_first(folder: Path) -> None:
    nothing = run("prune", STORY, cwd=folder).stdout
    assert nothing == f"  Some branch leads to every message of {STORY}; nothing was deleted.\n"
    before = run("tree", STORY, "--json", cwd=folder).stdout
    assert "add --yes" in run("prune", STORY, "--branch", "third", cwd=folder, ends=2).stderr
    assert run("tree", STORY, "--json", cwd=folder).stdout == before
    done = run("prune", STORY, "--branch", "third", "--yes", cwd=folder).stdout
    assert re.fullmatch(
        rf"  Branch third of {STORY} is forgotten. 2 messages \(\d+ tokens\) were deleted from {STORY}.\n", done
    )
    tree = answer("tree", STORY, cwd=folder)
    assert isinstance(tree, dict)
    assert [branch["name"] for branch in tree["branches"]] == ["main", "another-night", "mark"]
    assert "sound" in run("doctor", cwd=folder).stdout
    assert "no branch 'third'" in run("prune", STORY, "--branch", "third", "-y", cwd=folder, ends=2).stderr
    assert "is the only branch" in run("prune", "7c1e", "--branch", "main", "-y", cwd=folder, ends=2).stderr
    gone = answer("prune", STORY, "--branch", "another-night", "-y", cwd=folder)
    assert isinstance(gone, dict)
    assert (gone["session"], gone["dropped"], gone["messages"], gone["summaries"]) == (STORY, "another-night", 6, 0)


@pytest.mark.skipif(os.name == "nt", reason="there are no such terminals")
@pytest.mark.parametrize(("typed", "goes"), [("y\n", True), ("\n", False), ("no\n", False)])
def test_someone_at_a_terminal_is_asked(folder: Path, typed: str, goes: bool) -> None:
    given, ends = typed.encode(), 0 if goes else 1
    done = run("prune", STORY, "--branch", "third", cwd=folder, given=given, typed=True, ends=ends)
    assert re.search(
        r"Forget branch third of night-ferry, and delete 2 messages \(\d+ tokens\), for good\?", done.stderr
    )
    assert ("deleted" in done.stdout) == goes
    assert ("third" in run("tree", STORY, cwd=folder).stdout) != goes


def test_work_names_the_session_that_it_passes_over(folder: Path) -> None:
    changed(folder, "CREATE TRIGGER refused BEFORE INSERT ON memories BEGIN SELECT RAISE(ABORT, 'not in here'); END")
    done = run("work", "--until-idle", cwd=folder, ends=1)
    (named,) = [line for line in done.stdout.splitlines() if "is passed over until it changes: " in line]
    session = named.partition(" is passed")[0]
    assert "not in here" in named
    told = " ".join(run("doctor", cwd=folder, ends=1).stdout.split())
    assert f"{session} fault `ireneo work` passed it over: " in told
