"""Memories from the command line: written, recalled, briefed, taken out and taken in, and forgotten.

`REGENERATE=1 pytest tests/e2e/test_cli_memories.py` writes the golden files anew: read the difference.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import time
import zlib
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.e2e.test_cli_command import AGENT, DESK, answer, run

from ireneo.faces.cli.screens.lists import show_fading, show_history, show_recalled
from ireneo.types import ArchiveCandidate, Evidence, Fact, MemoryId, Period, RecallHit, Record

GOLDEN = Path(__file__).parents[1] / "golden"
SLOT = ("--subject", "Ana", "--attribute", "home", "--kind", "semantic")


def told(*arguments: object, cwd: Path, given: bytes = b"") -> dict[str, Any]:
    """What became of an offer."""
    done = json.loads(run("remember", *arguments, "--json", cwd=cwd, given=given).stdout)
    assert isinstance(done, dict)
    return done


def listed(*arguments: object, cwd: Path) -> list[dict[str, Any]]:
    """The list that a command answers with."""
    found = answer(*arguments, cwd=cwd)
    assert isinstance(found, list)
    return found


@pytest.fixture(scope="module", autouse=True)
def zone() -> Iterator[None]:
    """Where this is run: two hours before Greenwich in summer, one in winter."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "Europe/Oslo")
        time.tzset()
        yield
    time.tzset()


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a few memories, and two agents' logs."""
    folder = tmp_path_factory.mktemp("filled") / "ferry"
    folder.mkdir()
    run("import", AGENT, DESK, cwd=folder)
    run("remember", "Ana lives in Rome.", *SLOT, "--value", "Rome", "--at", "2026-01-05", cwd=folder)
    run("remember", "Ana lives in Oslo.", *SLOT, "--value", "Oslo", "--at", "2026-03-05", cwd=folder)
    run("remember", "The ferry to Oslo was late.", "--kind", "episodic", "--at", "2026-03-04", cwd=folder)
    steps = "1. Run make load.\n2. Tag it.\n3. Ship it."
    run("remember", steps, "-k", "procedural", "--task-type", "release", "--name", "ship", cwd=folder)
    failed = "I tried pip install -U: abandoned because it broke the lock file."
    run("remember", failed, "-k", "failure", "--signature", "pip install -U", cwd=folder)
    return folder


@pytest.fixture
def folder(filled: Path, tmp_path: Path) -> Path:
    """A folder of the same project, with a database of its own."""
    own = tmp_path / filled.name
    own.mkdir()
    shutil.copy(filled / "memory.db", own)
    return own


def test_what_is_remembered_makes_a_database_and_is_told_with_why(tmp_path: Path) -> None:
    said = run("remember", "Ana lives in Rome.", *SLOT, "--at", "2026-01-05", cwd=tmp_path).stdout
    assert re.match(r"  Remembered: semantic memory m_\w{7}, 2026-01-05 \(\+01:00\)\.\n  \S", said)
    again = told("Ana lives in Rome.", *SLOT, "--at", "2026-01-05", cwd=tmp_path)
    assert again["did"] in ("reinforced", "ignored")
    moved = told("-", *SLOT, "--at", "2026-03-05 18:30", cwd=tmp_path, given="Ana lives in Malmö.\n".encode())
    assert (moved["did"], moved["text"], moved["state"]) == ("superseded", "Ana lives in Malmö.", "active")
    assert datetime.fromisoformat(moved["at"]) == datetime(2026, 3, 5, 17, 30, tzinfo=UTC)
    (old,) = moved["changed"]
    assert old["state"] == "superseded"
    assert (old["id"], moved["kind"]) == (again["id"], "semantic")
    assert run("remember", "Ana lives in Rome.", *SLOT, "--origin", "tool", cwd=tmp_path).stdout.startswith("  Kept as")


def test_steps_without_a_task_type_are_told_of(tmp_path: Path) -> None:
    steps = ("remember", "To release, tag it, then run make ship.")
    assert "It has no task type" in run(*steps, cwd=tmp_path).stdout
    assert "no task type" not in run(*steps, "--task-type", "release", cwd=tmp_path).stdout


def test_recall_answers_with_whole_texts(folder: Path) -> None:
    found = listed("recall", "Where does Ana live?", cwd=folder)
    best = found[0]
    assert set(best) == {"id", "kind", "text", "score", "at", "session", "sources"}
    assert (best["kind"], best["text"]) == ("semantic", "Ana lives in Oslo.")
    assert "Ana lives in Rome." not in [each["text"] for each in found]
    before = listed("recall", "Where does Ana live?", "--at", "2026-02-01", "--limit", 1, cwd=folder)
    assert [each["text"] for each in before] == ["Ana lives in Rome."]
    explained = listed("recall", "Where does Ana live?", "--explain", "--limit", 1, cwd=folder)
    assert explained[0]["parts"]
    assert [each["kind"] for each in listed("recall", "lock file", "-k", "failure", cwd=folder)] == ["failure"]


def test_a_message_is_found_word_for_word(folder: Path) -> None:
    found = [each for each in listed("recall", "reed valve", "-a", cwd=folder) if each["kind"] == "message"]
    assert found
    opened = answer("expand", found[0]["id"], cwd=folder)
    assert found[0]["sources"] == [found[0]["id"]]
    assert json.dumps(found[0]["text"])[1:-1][:200] in json.dumps(opened)
    assert len(listed("recall", "reed valve", "-a", "-n", 2, cwd=folder)) == 2


def test_many_questions_get_a_line_each(folder: Path) -> None:
    questions = "Where does Ana live?\n\n   \nWhich ferry was late?\n"
    (folder / "questions.txt").write_text(questions)
    lines = run("recall", "--each", "questions.txt", "-n", 3, cwd=folder).stdout.splitlines()
    assert [bool(json.loads(line)) for line in lines] == [True, False, False, True]
    piped = run("recall", "--each", "-", "-n", 3, cwd=folder, given=questions.encode()).stdout.splitlines()
    alone = listed("recall", "Which ferry was late?", "-n", 3, cwd=folder)
    assert [[each["id"] for each in json.loads(line)] for line in piped][3] == [each["id"] for each in alone]


def test_a_reader_gets_a_list(folder: Path) -> None:
    shown = run("recall", "Where does Ana live?", "--explain", cwd=folder).stdout
    assert re.search(r"^  1  Ana lives in Oslo\.\n     semantic · 2026-03-05 · m_\w{7}\n     \d\.\d{4}: words ", shown)
    assert run("recall", "zyxwv", "-k", "failure", "-a", cwd=folder).stdout == "  Nothing matches that.\n"
    assert run("recall", "Ana", "-a", "-b", 2, cwd=folder).stdout == "  Nothing matches that in 2 tokens.\n"


def test_the_users_own_name_leads_to_what_is_known_of_the_user(tmp_path: Path) -> None:
    called = ("--subject", "user", "--attribute", "name", "--value", "Nela Brandt")
    run("remember", "The user is called Nela Brandt.", *called, cwd=tmp_path)
    for name in ("Nela", "nela brandt"):
        assert "is what the user is called: `ireneo history user`." in run("history", name, cwd=tmp_path).stdout
    home = run("history", "Nela", "--attribute", "home", cwd=tmp_path).stdout
    assert "`ireneo history user --attribute home`" in home
    assert "Nela Brandt" in run("history", "user", cwd=tmp_path).stdout
    assert "is what the user is called" not in run("history", "Brandt", cwd=tmp_path).stdout


def test_history_is_drawn(folder: Path) -> None:
    shown = run("history", "Ana", "--attribute", "home", cwd=folder).stdout
    rows = {name: line for line in shown.splitlines() for name in ("Rome", "Oslo") if line.startswith(f"  {name}")}
    assert re.search(r"▓ .*2026-01-05 – 2026-03-05", rows["Rome"])
    assert re.search(r"█ .*2026-03-05 – ", rows["Oslo"])
    then = listed("history", "ana", "--at", "2026-02-01", cwd=folder)
    assert [(each["value"], each["attribute"]) for each in then] == [("Rome", "home")]
    drawn = run("history", "ana", "--at", "2026-02-01", cwd=folder).stdout
    assert re.search(r"  Rome  █+  2026-01-05 –  +m_", drawn)
    assert "2026-02-01" in drawn.splitlines()[-4]
    assert "2026-03-05" not in drawn
    assert listed("history", "Ana", "--believed", "2020-01-01", cwd=folder) == []
    assert run("history", "Bo", "-a", cwd=folder).stdout == "Nothing is known of Bo.\n"


def test_a_brief_has_what_its_cues_find(folder: Path) -> None:
    cues = ("--goal", "visit Ana", "--task-type", "release", "--about-to", "pip install -U", "--task", "trip")
    run("pad", "trip", "--goal", "see Ana", "--plan", "[x] buy a ticket", "--plan", "take the ferry", cwd=folder)
    shown = run("brief", *cues, cwd=folder).stdout
    for words in ("Run make load", "Ana lives in Oslo", "broke the lock", "take the ferry"):
        assert words in shown
    made = answer("brief", *cues, "--budget", 200, cwd=folder)
    assert isinstance(made, dict)
    assert made["tokens"] <= 200
    assert run("brief", "--goal", "zyxwv", "-a", cwd=folder).stdout == "  No memory matches that.\n"


def test_a_scratchpad_is_written_whole_and_ends(tmp_path: Path) -> None:
    shown = run("pad", "trip", "--goal", "see Ana", "--plan", "[x] ask", "--plan", "go", "--fact", "Oslo", cwd=tmp_path)
    assert re.search(r"goal +see Ana\n\n  plan +\[x\] ask\n +\[ \] go\n\n  facts +Oslo\n", shown.stdout)
    run("pad", "trip", "--goal", "see Ana", "--fact", "The ferry leaves at nine.", "--question", "why?", cwd=tmp_path)
    pad = answer("pad", "trip", cwd=tmp_path)
    assert isinstance(pad, dict)
    assert (pad["goal"], pad["plan"], pad["questions"]) == ("see Ana", [], ["why?"])
    assert [each["task"] for each in listed("pad", cwd=tmp_path)] == ["trip"]
    assert "over" in run("pad", "trip", "--goal", "far " * 400, cwd=tmp_path, ends=2).stderr
    ended = run("pad", "trip", "--finish", "We saw Ana.", cwd=tmp_path).stdout
    assert "2 memories came of it" in ended
    assert answer("pad", "trip", cwd=tmp_path) is None
    run("pad", "next", "--goal", "rest", cwd=tmp_path)
    assert "is gone" in run("pad", "next", "--drop", cwd=tmp_path).stdout
    assert "has no scratchpad" in run("pad", "next", "--drop", cwd=tmp_path).stdout


def test_reflection_says_what_came_of_it(tmp_path: Path) -> None:
    for day in range(1, 7):
        run("remember", "The ferry to Oslo was late.", "-k", "episodic", "--at", f"2026-03-{day * 3:02}", cwd=tmp_path)
    assert "from 6 new episodes" in run("reflect", "--force", cwd=tmp_path).stdout
    done = answer("reflect", "--force", cwd=tmp_path)
    assert isinstance(done, dict)
    assert (done["episodes"], done["conclusions"], done["failed"]) == (0, [], "")


def files_of(folder: Path) -> Mapping[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_memories_go_into_files_and_come_back(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    assert "5 memories → out: 5 new" in run("export", "out", cwd=folder).stdout
    first = files_of(folder / "out")
    assert {name.partition("/")[0] for name in first} == {"semantic", "episodic", "procedural", "failure"}
    assert "5 unchanged" in run("export", "out", cwd=folder).stdout
    other = tmp_path_factory.mktemp("other")
    assert "5 memories → memory.db: 5 new" in run("import", folder / "out", cwd=other).stdout
    assert "5 memories → memory.db: 5 known" in run("import", folder / "out", cwd=other).stdout
    run("export", "again", cwd=other)
    assert files_of(other / "again") == first
    run("export", "all.jsonl", cwd=other)
    assert run("export", "-", cwd=other).stdout == (other / "all.jsonl").read_text()
    assert "5 known" in run("import", "all.jsonl", cwd=other).stdout


def test_an_edited_file_is_taken_in_and_never_written_over(folder: Path) -> None:
    run("export", "out", cwd=folder)
    (file,) = (folder / "out" / "semantic").glob("ana-lives-in-oslo-*.md")
    file.write_text(file.read_text().replace("lives in Oslo.\n", "lives in Bergen.\n"))
    kept = run("export", "out", cwd=folder, ends=1)
    assert "has edits that were not imported" in kept.stderr
    assert "Bergen" in file.read_text()
    assert "1 edited, 4 known" in run("import", "out", cwd=folder).stdout
    assert listed("recall", "Where does Ana live?", cwd=folder)[0]["text"] == "Ana lives in Bergen."
    assert "5 known" in run("import", "out", cwd=folder).stdout
    assert "Ana lives in Oslo." in {each["text"] for each in listed("history", "Ana", cwd=folder)}


def test_files_by_hand_and_bad_ones(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "plums.md").write_text("+++\nkind = 'semantic'\n+++\nBo likes plums.\n")
    (tmp_path / "mine" / "notes.md").write_text("# Notes\n\nNot a memory.\n")
    (tmp_path / "mine" / "bad.md").write_text("+++\nkind = 'semantic'\nsubjet = 'Bo'\n+++\nBo likes pears.\n")
    done = run("import", "mine", cwd=tmp_path, ends=1)
    assert "1 memory → memory.db: 1 new" in done.stdout
    assert done.stderr == (
        "warning: mine/bad.md:3: There is nothing called subjet in a memory; see an exported one for the names.\n"
    )
    run("import", "mine/plums.md", AGENT, cwd=tmp_path)
    assert len(listed("sessions", cwd=tmp_path)) == 1
    (tmp_path / "memory.db").unlink()
    assert "Nothing could be read" in run("import", "mine/bad.md", cwd=tmp_path, ends=2).stderr
    assert not (tmp_path / "memory.db").exists()


def test_what_would_fade_is_shown_with_why(folder: Path) -> None:
    shown = run("fading", cwd=folder).stdout
    assert "█" in shown
    rows = listed("fading", "--limit", 2, cwd=folder)
    assert [set(row) for row in rows] == [{"id", "kind", "text", "retention", "reason"}] * 2
    assert rows[0]["retention"] <= rows[1]["retention"]
    assert rows[0]["id"][:9] in shown


def test_forgetting_asks_and_leaves_nothing(folder: Path) -> None:
    refused = run("forget", "--subject", "Ana", cwd=folder, ends=2)
    assert "there is nobody to ask; add --yes" in refused.stderr
    assert listed("history", "Ana", cwd=folder)
    run("forget", "--subject", "Ana", "--yes", cwd=folder)
    assert listed("history", "Ana", cwd=folder) == []
    with sqlite3.connect(folder / "memory.db") as database:
        assert database.execute("pragma integrity_check").fetchone() == ("ok",)
    database.close()
    for name in ("memory.db", "memory.db-wal"):
        file = folder / name
        assert not file.exists() or b"Ana lives" not in file.read_bytes()


def test_what_may_speak_of_somebody_is_shown_and_taken_by_its_id(folder: Path) -> None:
    run("remember", "The user's sister is called Ottilie.", cwd=folder)
    run("remember", "The user's sister keeps bees.", cwd=folder)
    run("remember", "“My sister rows on Sundays.”", cwd=folder)
    run("remember", "The harbour has a new crane.", cwd=folder)
    refused = run("forget", "--subject", "Ottilie", cwd=folder, ends=2)
    assert "“The user's sister keeps bees.” (“The user's sister”: so it says:" in refused.stdout
    assert "crane" not in refused.stdout
    assert "““" not in refused.stdout
    run("forget", "--subject", "Ottilie", "--also", "all", "--yes", cwd=folder)
    assert not [row for row in listed("recall", "sister bees", cwd=folder) if "bees" in str(row["text"])]
    assert listed("recall", "harbour crane", cwd=folder)


def test_what_would_go_is_shown_before_it_goes(folder: Path) -> None:
    run("remember", "Ottilie keeps bees behind the harbour.", "--subject", "Ottilie", cwd=folder)
    run("remember", "The twins were born in May.", "--subject", "Ottilie", cwd=folder)
    shown = run("forget", "--subject", "Ottilie", "--preview", cwd=folder).stdout
    assert "“Ottilie keeps bees behind the harbour.”\n" in shown
    assert "“The twins were born in May.” (doesn't name Ottilie)" in shown
    assert "This would be forgotten: 2 memories" in shown
    assert listed("recall", "twins May", cwd=folder)
    refused = run("forget", "--subject", "Ottilie", cwd=folder, ends=2)
    assert "(doesn't name Ottilie)" in refused.stdout


def test_what_was_put_away_is_told(folder: Path) -> None:
    assert "Nothing was archived" in run("fading", "--past", cwd=folder).stdout
    assert listed("fading", "--past", cwd=folder) == []


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("recall", "--each", "gone.txt"), "There is no file gone.txt."),
        (("recall", "x", "--kind", "myth"), "kind"),
        (("recall", "x", "--limit", "0"), "limit"),
        (("recall", "x", "--at", "soon"), "is not a time"),
        (("restore", "m_2345678"), "m_2345678"),
        (("export", "memory.db"), "memory.db is a file; name a folder"),
        (("export", "out.md"), "out.md is named like a file, and Markdown is written as a folder"),
        (("forget", "--memory", "m_2345678", "--yes"), "m_2345678"),
    ],
)
def test_bad_input_of_a_database_that_is_there(arguments: tuple[str, ...], sentence: str, filled: Path) -> None:
    done = run(*arguments, cwd=filled, ends=2)
    assert done.stdout == ""
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1


def golden(name: str, text: str) -> None:
    """Hold a screen against what it was."""
    if os.environ.get("REGENERATE"):
        (GOLDEN / name).write_text(text, encoding="utf-8")
    assert text == (GOLDEN / name).read_text(encoding="utf-8")


def fact(text: str, start: datetime, end: datetime | None = None, value: str = "", attribute: str = "post") -> Fact:
    """A fact about a lighthouse keeper, believed from its beginning on."""
    record = Record(
        id=MemoryId(f"m_{zlib.crc32(text.encode()):x}".ljust(28, "a")),
        kind="semantic",
        key="",
        text=text,
        at=start,
        recorded=start,
        evidence=(Evidence(at=start, recorded=start),),
        attribute=attribute,
        value=value,
    )
    return Fact(record=record, period=Period(start=start, end=end), believed_from=start)


def test_what_was_found_reads_as_it_did(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    at = datetime(2026, 1, 5, tzinfo=UTC)
    lamp = "The lamp is lit at dusk.\n\x1b[31mNobody may put it out."
    found = [
        RecallHit(id="m_1234567aaa", kind="message", text=lamp * 3, score=1, at=at, session="a-long-name-of-a-session"),
        RecallHit(id="m_2345678aaa", kind="semantic", text="Mara keeps the lamp.", score=0.5, at=at, state="disputed"),
        RecallHit(id="m_3456789aaa", kind="failure", text="I tried tallow.", score=0.25, stale="m_2 no longer holds."),
    ]
    show_recalled(found, "Who may put it out?")
    show_recalled([replace(each, parts=(("words", each.score), ("× trust", 0.85))) for each in found])
    show_recalled([])
    golden("cli_recall.txt", capsys.readouterr().out)


def test_a_long_text_opens_where_it_answers(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = "The harbour was quiet all day. " * 20 + "Mara put the lamp out at dawn. Then she slept."
    show_recalled([RecallHit(id="m_1234567aaa", kind="message", text=text, score=1)], "Who put the lamp out?")
    assert capsys.readouterr().out.startswith("  1  … Mara put the lamp out at dawn. Then she slept.\n")


def test_what_fades_reads_as_it_did(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    at = datetime(2026, 1, 5, tzinfo=UTC)
    worth = {0.0: "Nobody asked for it.", 0.13: "It was used once, 40 days ago.", 1.0: "It is in use."}
    fades = [
        ArchiveCandidate(
            record=replace(fact(f"The lamp was lit {share} times.\n", at).record, kind="episodic"),
            retention=share,
            reason=reason,
        )
        for share, reason in worth.items()
    ]
    show_fading(fades, "lighthouse")
    show_fading([], "lighthouse")
    golden("cli_fading.txt", capsys.readouterr().out)


def test_the_history_reads_as_it_did(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    march, april, may = (datetime(2026, month, 2, tzinfo=UTC) for month in (3, 4, 5))
    skerry = fact("Mara keeps the lamp at Skerry.", march, value="Skerry")
    holm = fact("Mara keeps the lamp at Holm.", march, value="Holm")
    facts = [
        fact("Mara keeps the lamp at Reed.", datetime(2026, 1, 5, tzinfo=UTC), march, "Reed"),
        replace(skerry, believed_from=april),
        replace(holm, believed_to=april),
        replace(fact("Mara keeps the lamp at Kestrel Point, they say, and never leaves.", may), believed_from=None),
        fact("Mara\x1b[31m fears the fog.", datetime(2026, 2, 9, tzinfo=UTC), attribute=""),
    ]
    show_history(facts, "Mara", datetime(2026, 9, 1, tzinfo=UTC))
    golden("cli_history.txt", capsys.readouterr().out)
