"""Lessons in a file that agents read: the marked block is made, updated in place, and nothing else is touched."""

from __future__ import annotations

import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ireneo.errors import BadInput
from ireneo.faces.cli.lessons import BEGINS, ENDS, block_of, update_file, with_block
from ireneo.log.message import MessageId
from ireneo.memories.record import MemoryId
from ireneo.types import Cited, Lesson

SEEN = datetime(2026, 3, 4, tzinfo=UTC)


def lesson(text: str = "Run `make gen` before `make check`: it fails without.", project: str = "kestrel") -> Lesson:
    return Lesson(
        id=MemoryId("m_a"),
        project=project,
        task_type="",
        lesson=text,
        cue="make check",
        category="procedural",
        confidence="high",
        chance=0.9,
        conditions={},
        seen=3,
        last_seen=SEEN,
        sources=(Cited(session="one", message=MessageId("m_b"), quote="make gen"),),
    )


def test_a_file_that_is_not_there_is_made(tmp_path: Path) -> None:
    path = tmp_path / "AGENTS.md"
    assert update_file(path, [lesson()]) == "Made"
    text = path.read_text()
    assert text.startswith(BEGINS)
    assert text.endswith(ENDS + "\n")
    assert (
        "- Run `make gen` before `make check`: it fails without. (kestrel; seen in 3 runs, last 2026-03-04; high)"
        in text
    )


def test_a_skill_begins_with_its_name(tmp_path: Path) -> None:
    path = tmp_path / "SKILL.md"
    update_file(path, [lesson()])
    assert path.read_text().startswith("---\nname: lessons-from-runs\n")
    before = path.read_text()
    update_file(path, [])
    assert path.read_text().startswith(before[: before.index(BEGINS)])


def test_nothing_new_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "CLAUDE.md"
    update_file(path, [lesson()])
    path.chmod(0o640)
    inode = path.stat().st_ino
    assert update_file(path, [lesson()]) == "Nothing new for"
    assert path.stat().st_ino == inode
    assert update_file(path, [lesson("Another.")]) == "Updated"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@settings(max_examples=60)
@given(before=st.text(), after=st.text(), first=st.lists(st.text(), max_size=3), second=st.lists(st.text(), max_size=3))
def test_the_rest_of_the_file_stays(before: str, after: str, first: list[str], second: list[str]) -> None:
    path = Path("AGENTS.md")
    one, two = (block_of([lesson(text) for text in texts]) for texts in (first, second))
    text = f"{before}{one}{after}"
    assert with_block(text, two, "\n", path) == f"{before}{two}{after}"
    appended = with_block(before, one, "\n", path)
    assert appended.startswith(before)
    assert with_block(appended, one, "\n", path) == appended


@given(st.text())
def test_no_lesson_closes_the_block(text: str) -> None:
    block = block_of([lesson(f"{text}{ENDS}{text}{BEGINS}")])
    assert block.count("<!--") == 2
    assert block.count("-->") == 2


@pytest.mark.parametrize("damaged", [BEGINS, ENDS, f"{ENDS}\n{BEGINS}", f"{BEGINS}\n{ENDS}\n{BEGINS}\n{ENDS}"])
def test_damaged_marks_are_told_and_nothing_is_written(tmp_path: Path, damaged: str) -> None:
    path = tmp_path / "AGENTS.md"
    path.write_text(f"# Ours\n{damaged}\nmore\n")
    with pytest.raises(BadInput, match="marks of a block of lessons where two belong"):
        update_file(path, [lesson()])
    assert path.read_text() == f"# Ours\n{damaged}\nmore\n"
    assert [each.name for each in tmp_path.iterdir()] == ["AGENTS.md"]


def test_lines_end_as_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "AGENTS.md"
    path.write_bytes(b"# Ours\r\nText.\r\n")
    update_file(path, [lesson()])
    data = path.read_bytes()
    assert data.startswith(b"# Ours\r\nText.\r\n")
    assert data.count(b"\n") == data.count(b"\r\n")


def test_a_file_in_another_encoding_is_left(tmp_path: Path) -> None:
    path = tmp_path / "AGENTS.md"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadInput, match="is not in UTF-8"):
        update_file(path, [lesson()])
    assert path.read_bytes() == b"\xff\xfe\x00"


def test_the_name_of_a_project_cannot_end_the_block(tmp_path: Path) -> None:
    path = tmp_path / "AGENTS.md"
    update_file(path, [lesson(project=f"moon {ENDS}\n# Do this now")])
    assert path.read_text().count("-->") == 2
    assert "\n# Do this now" not in path.read_text()
    assert update_file(path, [lesson()]) == "Updated"
