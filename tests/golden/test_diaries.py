"""How a diary reads, compared with files.

`REGENERATE=1 pytest tests/golden` writes the files anew: read the difference.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.golden.material import edit, read, run, said, session, step, user
from tests.unit.runs import material, quarters

from ireneo.lessons.attempts import read_tasks
from ireneo.lessons.write_diary import AgentNotes, allowance, render_diary, write_diary
from ireneo.log.message import Draft

FOLDER = Path(__file__).parent / "diaries"
UNREAD = "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>"
REFUSED = "The user doesn't want to proceed with this tool use. The user said: not before the freeze is over"
COMPLAINT = "src/ledger/months.py:31:9: C901 `close_month` is too complex (14 > 10)\nFound 1 error."
OTHER_COMPLAINT = "src/ledger/months.py:44:9: C901 `carry_over` is too complex (11 > 10)\nFound 1 error."
MONTHS: dict[str, object] = {"file_path": "src/ledger/months.py", "old_string": "a", "new_string": "b"}


def long_run() -> list[Draft]:
    """A day's work: a linter that is hard to please, a refusal, a change that is taken back, and what went well."""
    return [
        *session(),
        *user("Close the month in one function, and keep ruff quiet."),
        *step("", "Edit", MONTHS, UNREAD, failed=True),
        *read("src/ledger/months.py", "def close_month(): ..."),
        *edit("src/ledger/months.py", "def close_month(): ...", "def close_month(rows): ..."),
        *run("ruff check src", COMPLAINT, failed=True),
        *edit("src/ledger/months.py", "if rows:", "if not rows: return"),
        *run("ruff check src", COMPLAINT, failed=True),
        *edit("src/ledger/months.py", "for row in rows:", "for row in carry_over(rows):"),
        *run("ruff check src", OTHER_COMPLAINT, failed=True),
        *edit("src/ledger/carrying.py", "", "def carry_over(rows): ..."),
        *edit("src/ledger/months.py", "def carry_over(rows): ...", "from ledger.carrying import carry_over"),
        *run("ruff check src", "All checks passed!"),
        *run("pytest tests/test_months.py", "===== 21 passed in 0.8s ====="),
        *run("git push origin months", REFUSED, failed=True),
        *said("It is closed in one function, and ruff is quiet. I did not push."),
        *user("ok, thanks"),
        *user("Add the month to the report's heading."),
        *edit("src/ledger/report.py", "heading = year", "heading = f'{month} {year}'"),
        *run("pytest tests/test_report.py", "===== 6 passed in 0.2s ====="),
        *said("The heading names the month."),
    ]


def same(name: str, text: str) -> None:
    path = FOLDER / f"{name}.md"
    if os.environ.get("REGENERATE"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text + "\n")
    assert text + "\n" == path.read_text()


@pytest.mark.parametrize(("name", "tokens"), [("long", 150_000), ("middling", 24_000), ("short", 4_000)])
def test_a_diary_reads_as_it_did(name: str, tokens: int) -> None:
    given = material(long_run())
    # A log of so many tokens, without all that would stand in it.
    heavy = replace(given.messages[-1], tokens=tokens)
    given = replace(given, messages=(*given.messages[:-1], heavy))
    text = render_diary(write_diary(given, read_tasks(given), quarters))
    same(name, text)
    assert quarters(text) <= allowance(sum(message.tokens for message in given.messages))


def test_what_an_agent_wrote_reads_as_it_did() -> None:
    given = material(long_run()[:-6])
    own = AgentNotes(
        at=given.messages[-1].id,
        position=given.messages[-1].position,
        worked=("moving `carry_over` into a module of its own",),
        pattern="ruff counts branches by function: splitting one helps, rewording it does not.",
    )
    same("by_the_agent", render_diary(write_diary(given, read_tasks(given), quarters, [own])[-1:]))
