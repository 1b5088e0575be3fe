"""The command line limits what is recalled as it is told to, and refuses what it can't honour."""

from __future__ import annotations

import json
from pathlib import Path

from tests.agent_log import MADE, MOON, Ran, claude_log
from tests.e2e.test_cli_command import run

import ireneo.sync
from ireneo.faces.cli.options import some_of
from ireneo.log.message import Draft, Text


def found(db: Path, *asked: str) -> str:
    return " ".join(each["text"] for each in json.loads(run("recall", *asked, "--json", db=db).stdout))


def test_recall_keeps_to_a_project_a_branch_and_what_was_not_undone(tmp_path: Path) -> None:
    db = tmp_path / "memory.db"
    for name, cwd, ran in (("one", "/srv/harbour", MOON), ("two", "/srv/mill", Ran("make flour", "flour ground"))):
        (tmp_path / f"{name}.jsonl").write_text(claude_log(name, [ran, MADE], cwd=cwd, goal=f"Goal of {name}."))
        run("import", tmp_path / f"{name}.jsonl", db=db)
    run("remember", "The goal of the week is to sail.", "--project", "/srv/harbour", db=db)
    assert "Goal of two." in found(db, "What is the goal?", "--all-projects")
    elsewhere = run("recall", "What is the goal?", db=db, cwd=tmp_path).stdout
    assert "goal of" not in elsewhere.casefold()
    assert "search all with --all-projects" in elsewhere
    assert "Goal of two." not in found(db, "What is the goal?", "--project", "harbour")
    assert "to sail" in found(db, "What is the goal?", "--project", "harbour")
    assert "to sail" not in found(db, "What is the goal?", "--project", "mill")
    assert "to sail" not in run("brief", "--goal", "Which goal?", "--project", "mill", db=db).stdout
    run("fork", "one", "other", db=db)
    run("rewind", "one", "one-1", db=db)
    assert "moon table written" in found(db, "moon table", "-a", "--session", "one")
    assert "moon table written" not in found(db, "moon table", "-a", "--session", "one@main")
    assert "moon table written" in found(db, "moon table", "-a", "--session", "one@other")
    run("rewind", "two", "two-1", db=db)
    assert "flour ground" not in found(db, "flour ground", "-p", "mill")
    assert "flour ground" in found(db, "flour ground", "-p", "mill", "--undone")
    assert run("recall", "flour", "--as", "Vera", db=db, ends=2).stderr == (
        "ireneo: Nobody called 'Vera' is known: no message of space 'default' is marked with who speaks or is there"
        " (those of prose never are). Ask without a viewpoint.\n"
    )
    assert "has no branch 'odd'" in run("recall", "flour", "--session", "two@odd", db=db, ends=2).stderr
    assert "leave them out" in run("context", "two", "--budget", "900", "--format", "openai", db=db, ends=2).stderr


def test_memories_and_histories_show_what_stands_after_a_rewind(tmp_path: Path) -> None:
    db = tmp_path / "memory.db"
    with ireneo.sync.open(db, durability="normal") as memory:
        session = memory.session("talk")
        answer = {"role": "assistant", "content": "Ok."}
        first = session.append([{"role": "user", "content": "I live in Porto."}, answer])
        session.append([{"role": "user", "content": "I moved to Madrid."}, answer])
        memory.work(until_idle=True)
        session.rewind(first.ids[-1])
    for asked in (("memories", "-a"), ("memories", "-a", "--state", "any"), ("history", "user", "-a")):
        shown = run(*asked, db=db).stdout
        assert "Porto" in shown
        assert "Madrid" not in shown
        assert "Madrid" in run(*asked, "--undone", db=db).stdout
    going = run("forget", "--subject", "user", "--preview", db=db).stdout.splitlines()
    assert [line.endswith("(a rewind left it behind)") for line in going if "Madrid" in line] == [True, True]
    assert not any(line.endswith("(a rewind left it behind)") for line in going if "Porto" in line)


def test_a_named_session_is_searched_wherever_the_command_runs_and_an_unknown_project_names_the_others(
    tmp_path: Path,
) -> None:
    db, here = tmp_path / "memory.db", tmp_path / "mill"
    here.mkdir()
    with ireneo.sync.open(db, durability="normal") as memory:
        session = memory.session("talk", project="/srv/harbour")
        session.append([{"role": "user", "content": "The ferry leaves at nine."}])
        memory.remember("The tide table is printed on Mondays.", project="/srv/harbour")
        memory.remember("Answers are short.", project="*")
    asked = run("recall", "When does the ferry leave?", "--session", "talk", db=db, cwd=here)
    assert "leaves at nine" in asked.stdout
    told = run("brief", "--goal", "Print the answers", "--project", "cli", db=db)
    assert "Answers are short." in told.stdout
    assert "there is harbour" in told.stderr


def test_a_story_is_found_where_it_was_imported_and_from_no_other_project(tmp_path: Path) -> None:
    db, here, there = tmp_path / "memory.db", tmp_path / "harbour", tmp_path / "mill"
    here.mkdir()
    there.mkdir()
    run("remember", "The mill runs on Mondays.", db=db, cwd=there)
    (here / "tale.txt").write_text("Narrator: The tall man cut the oil line.\n\nVera: Put the lamp out.\n")
    (here / "run.jsonl").write_text(claude_log("run", [MOON, MADE], cwd="/srv/tower", goal="Oil the tower's bells."))
    run("import", "tale.txt", "--format", "chat", db=db, cwd=here)
    run("import", "run.jsonl", db=db, cwd=here)
    assert "cut the oil line" in run("recall", "Who cut the oil line?", db=db, cwd=here).stdout
    assert "tower's bells" not in run("recall", "What about oil?", db=db, cwd=here).stdout
    assert "oil line" not in run("recall", "Who cut the oil line?", db=db, cwd=there).stdout
    # Whoever imports it again elsewhere doesn't move it.
    run("import", here / "tale.txt", "--format", "chat", db=db, cwd=there)
    assert "oil line" not in run("recall", "Who cut the oil line?", db=db, cwd=there).stdout


def test_what_belongs_to_no_project_is_named_where_it_was_not_searched(tmp_path: Path) -> None:
    db, here = tmp_path / "memory.db", tmp_path / "mill"
    here.mkdir()
    with ireneo.sync.open(db, durability="normal") as memory:
        memory.session("talk").append("The ferry leaves at nine.")
        memory.remember("The tide table is printed on Mondays.", project="/srv/harbour")
    told = run("recall", "When does the ferry leave?", db=db, cwd=here).stdout
    assert "there is also harbour, and what belongs to none" in told


def test_another_project_is_named_where_no_row_of_the_folders_has_all_the_words(tmp_path: Path) -> None:
    db, here = tmp_path / "memory.db", tmp_path / "mill"
    here.mkdir()
    with ireneo.sync.open(db, durability="normal") as memory:
        memory.remember("The tide table is printed on Mondays.", project="/srv/harbour")
        memory.remember("The oat table lists all prices.", project=str(here))
    partly = run("recall", "Where is the tide table?", db=db, cwd=here).stdout
    assert "oat table" in partly
    assert "None of these has all the words. Only project mill" in partly
    assert "all the words" not in run("recall", "the oat table", db=db, cwd=here).stdout
    assert "all the words" not in run("recall", "Where is the tide table?", "--project", str(here), db=db).stdout


def test_work_says_of_which_project_its_memories_are_where_they_are_not_listed_here(tmp_path: Path) -> None:
    db, here, tower = tmp_path / "memory.db", tmp_path / "mill", tmp_path / "tower"
    here.mkdir()
    tower.mkdir()
    (tmp_path / "run.jsonl").write_text(claude_log("run", [MOON, MADE], cwd="/srv/tower", goal="Oil the bells."))
    run("import", tmp_path / "run.jsonl", db=db)
    told = run("work", "--until-idle", db=db, cwd=here).stdout
    assert "1 of tower: `ireneo memories --project NAME` shows those of one project, --all-projects all." in told
    assert "“Oil the bells”" in run("memories", "--project", "tower", db=db, cwd=here).stdout
    again = tmp_path / "again.db"
    run("import", tmp_path / "run.jsonl", db=again)
    assert "--all-projects" not in run("work", "--until-idle", db=again, cwd=tower).stdout


def test_a_character_is_asked_within_the_folders_project(tmp_path: Path) -> None:
    db, here, there = tmp_path / "memory.db", tmp_path / "campaign", tmp_path / "mill"
    here.mkdir()
    there.mkdir()
    with ireneo.sync.open(db, durability="normal") as memory:
        story = memory.session("story", project=str(here))
        lied = Text(text="I lied about the letter.", author="Vera", present=("Vera", "Odo"))
        story.append(Draft(role="user", parts=(lied,)))
        memory.session("code", project="/srv/mill").append([{"role": "user", "content": "Parse the letter's header."}])
    asked = ("recall", "What about the letter?", "--as", "Vera")
    shown = run(*asked, db=db, cwd=here).stdout
    assert "I lied about the letter." in shown
    assert "header" not in shown
    assert "header" in run(*asked, "--all-projects", db=db, cwd=here).stdout
    cue = ("brief", "--goal", "Ask about the letter", "--as", "Vera")
    assert "I lied" in run(*cue, db=db, cwd=here).stdout
    assert "I lied" not in run(*cue, db=db, cwd=there).stdout
    assert "I lied" in run(*cue, "--all-projects", db=db, cwd=there).stdout


def test_a_list_of_names_counts_what_it_leaves_out_unless_it_is_one() -> None:
    assert some_of([]) == ""
    assert some_of(["a", "b"]) == "a, b"
    assert some_of(list("abcdef")) == "a, b, c, d, e, f"
    assert some_of(list("abcdefg")) == "a, b, c, d, e and 2 more"
