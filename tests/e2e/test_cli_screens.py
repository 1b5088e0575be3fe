"""What someone sees: the map of a context, plain and in colours, and the demo.

`REGENERATE=1 pytest tests/e2e/test_cli_screens.py` writes the golden file anew: read the difference.
"""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from rich.console import Console
from tests.e2e.test_cli_command import AGENT, COMMAND, entry, run

import ireneo
from ireneo.faces.cli.context import Cut, MessagePlace, first_line, parts_of, show_context
from ireneo.faces.cli.output import cut_within

GOLDEN = Path(__file__).parents[1] / "golden" / "cli_context.txt"
COLOUR = re.compile(r"\x1b\[[0-9;]*m")

HEADER = (
    "[GOAL BATCH] 12 messages, 5 calls · open with s_2345678\n## Goal Arc\nFrom “mend the lock” to “ship it”: COMPLETE."
)
RULES = "[PINNED] Constraints that stand, word for word:\n- Never force the lock.\n- Keep it small. · m_abcdefg"
DOUBTED = "[SUMMARIZED] 2 calls · open with s_y · (disputed): It was never run.\n## Status\nCOMPLETE — it held."
TOLD = "[STORY] 20 messages · open with s_x\nMara lit the lamp, and the ferry left."
UNTOLD = "[STORY] 6 messages that are not summarised yet · open with m_bbbbbbb to m_ccccccc"
NOTE = "[PINNED] Constraints that stand, word for word:\n- No sleeping in tests."
VIEW = (
    ("pins", None, 0, 0, 40, RULES, [("user", 1)] * 2),
    ("summary", "story", 2, 20, 90, TOLD, [("user", 1), ("assistant", 1)]),
    ("waiting", "story", 0, 6, 24, UNTOLD, [("user", 1)] * 2),
    ("summary", "goal", 2, 12, 310, HEADER, [("user", 1), ("assistant", 3)]),
    ("message", None, 0, 1, 22, "Does the lock hold under load?", [("user", 4)] * 2),
    (
        "summary",
        "turn",
        1,
        6,
        140,
        "[SUMMARIZED] 3 calls · open with s_z\n## Operations\n- run `make load` → exit 0",
        [("assistant", 4)] * 2,
    ),
    ("summary", "turn", 1, 2, 35, DOUBTED, [("assistant", 4)] * 2),
    ("message", None, 0, 1, 18, "And under two workers?\nTake your time.", [("user", 5)] * 2),
    ("message", None, 0, 1, 30, "I'll start two.", [("assistant", 5)] * 2),
    (
        "masked",
        None,
        0,
        1,
        25,
        "[run make load WORKERS=2 · 400 lines, 6,120 tokens · open with m_q]",
        [("tool", 5)] * 2,
    ),
    ("message", None, 0, 1, 60, "It holds.", [("assistant", 5)] * 2),
    ("message", None, 0, 1, 9, "Ship it.", [("user", 6)] * 2),
    ("pins", None, 0, 0, 20, NOTE, [("user", 6)] * 2),
    ("pins", None, 0, 0, 18, "[PINNED] Lifted, and holds no longer:\n- Keep it small.", [("user", 6)] * 2),
)


def made() -> Cut:
    """A context with one of each tier."""
    rows = tuple(
        ireneo.ViewRow(
            id=f"{'s' if what == 'summary' else 'm'}_{number}234567qrstuvw",
            what=what,  # type: ignore[arg-type]
            level=level,  # type: ignore[arg-type]
            depth=depth,
            first="m_a",
            last="m_b",
            covers=covers,
            tokens=tokens,
            text=text,
            disputed="It was never run." if text == DOUBTED else "",
        )
        for number, (what, level, depth, covers, tokens, text, _) in enumerate(VIEW)
    )
    places: dict[int, MessagePlace] = {}
    for *_, covers, _, _, (first, last) in VIEW:
        begins = len(places)
        places |= {begins + number: MessagePlace(last[0], True, last[1]) for number in range(covers)}
        places |= {begins: MessagePlace(first[0], True, first[1])} if covers else {}
    context = ireneo.Context(
        budget=1000,
        tokens=sum(row.tokens for row in rows),
        tokens_before=18_400,
        format="openai",
        messages=[],
        system=None,
        view=rows,
        violations=(),
    )
    return Cut(context=context, title="locks → openai", parts=parts_of(context, places))


def shown(*, colours: bool, width: int = 80) -> str:
    """The screen of that context."""
    out = io.StringIO()
    screen = Console(
        file=out, width=width, force_terminal=colours, color_system="256" if colours else None, highlight=False
    )
    show_context(screen, made())
    return out.getvalue()


def test_the_map_reads_as_it_did() -> None:
    text = shown(colours=False)
    if os.environ.get("REGENERATE"):
        GOLDEN.write_text(text, encoding="utf-8")
    assert text == GOLDEN.read_text(encoding="utf-8")


@pytest.mark.parametrize("width", [40, 80, 100, 200])
def test_no_line_is_wider_than_the_screen(width: int) -> None:
    for line in shown(colours=False, width=width).splitlines()[1:]:
        assert len(line) <= max(width, 58), line
        assert line == line.rstrip()


def test_colours_stand_for_letters() -> None:
    text = shown(colours=True)
    assert "\x1b[" in text
    bar = next(line for line in COLOUR.sub("", text).splitlines() if line.startswith("  context"))
    assert set(bar.removeprefix("  context").strip()) == {"█", "░"}
    assert len(bar) == 78
    (coloured,) = [line for line in text.splitlines() if COLOUR.sub("", line) == bar]
    assert coloured.startswith("\x1b[2m  context  \x1b[0m\x1b[38;5;"), "the label alone is dim"


def test_a_row_stands_for_what_belongs_together() -> None:
    names = [part.tier.name for part in made().parts]
    assert names == [
        *(
            "pinned | story | not summarised | goal batch | user | turn block | disputed | user | kept | masked | "
            "live | user"
        ).split(" | "),
        *("pinned", "pinned"),
    ]


def test_a_tool_cannot_steer_the_terminal_through_its_output(tmp_path: Path) -> None:
    written = "\x1b[31mred\x1b[0m \x1b]0;title\x07and \x1b[2Jgone\x08\n"
    (tmp_path / "chat.json").write_text(json.dumps([{"role": "user", "content": written}]))
    shown = run("context", "chat.json", "--budget", 300, cwd=tmp_path).stdout
    assert "red and gone" in shown
    cut = json.loads(run("context", "chat.json", "--budget", 300, "--json", cwd=tmp_path).stdout)
    assert cut["messages"][0]["content"] == written
    opened = run("expand", cut["view"][0]["id"], "--file", "chat.json", cwd=tmp_path).stdout
    assert "red and gone" in opened
    assert "\x1b" not in shown + opened


def watched(arguments: Sequence[str], cwd: Path) -> str:
    """What a command writes to a terminal."""
    pty = pytest.importorskip("pty")
    outside, inside = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100"}
    environment.pop("NO_COLOR", None)
    running = subprocess.Popen(
        [*COMMAND, *arguments], cwd=cwd, env=environment, stdin=inside, stdout=inside, stderr=inside, close_fds=True
    )
    os.close(inside)
    written = bytearray()
    while True:
        try:
            piece = os.read(outside, 65_536)
        except OSError:
            # The other end is closed.
            break
        if not piece:
            break
        written += piece
    os.close(outside)
    assert running.wait(60) == 0, written.decode()
    return written.decode()


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such terminals")
def test_a_terminal_gets_colours_and_a_progress_bar(tmp_path: Path) -> None:
    assert "█" in watched(["context", str(AGENT), "--budget", "2000"], tmp_path)
    importing = watched(["import", str(AGENT)], tmp_path)
    assert "kB" in importing
    assert "59 new of 59 messages" in importing
    assert "╭" in watched(["--help"], tmp_path)
    # A help text is broken where the screen ends, and not where its line ends in the code.
    told = COLOUR.sub("", watched(["path", "--help"], tmp_path))
    broken = [line.strip() for line in told.splitlines() if line.startswith(" ")]
    start = next(number for number, line in enumerate(broken) if line.startswith("The first of these"))
    assert len(broken[start]) > 80
    assert broken[start + 1].endswith("programs.")


def test_the_demo_shows_that_a_rewind_hides_and_loses_nothing(tmp_path: Path) -> None:
    started = time.monotonic()
    shown = run("demo", cwd=tmp_path).stdout
    assert "3 sessions, 99 new messages" in shown
    assert re.search(r"occurred (once|\d+ times) in the context before, and occurs nowhere in it now", shown)
    assert re.search(r"On the\s+branch as-it-went it occurs (once|\d+ times)", shown)
    assert "ireneo learn ~/.claude/projects" in shown
    assert list(tmp_path.iterdir()) == []
    assert time.monotonic() - started < 60


def test_the_demo_ends_with_a_lesson_and_the_guard_that_stops_the_next_run(tmp_path: Path) -> None:
    shown = run("demo", cwd=tmp_path).stdout
    _, learned, stopped = re.split(r"^[56]  (?=Learn|Stop)", shown, flags=re.MULTILINE)
    lesson = "When `make integration` fails with “OperationalError: the database refused the connection”,"
    assert lesson in learned
    assert "; these are of kestrel.\n\n  kestrel\n" in learned, "the demo's folder is a project without a lesson"
    assert "run `make db` first. “It needs the database" in learned
    spoken = [line.split()[0] for line in stopped.splitlines() if line.startswith(("   agent ", "   guard "))]
    assert spoken == ["agent", "guard", "guard", "agent", "agent"], "it speaks before the first try, and not after"
    told = " ".join(stopped.split())
    fails = lesson.removeprefix("When ").removesuffix(",")
    assert f"guard trap: {fails}; instead: run `make db` first guard why: “It needs the database" in told
    assert "Makefile” · seen once, in March 2026" in told
    assert "The first run failed 3 times there" in stopped
    assert "the second was warned, and did not fail." in told


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        (("context", "7c1e", "--budget", "2000"), "summarising"),
        (("snapshot", "7c1e", "--budget", "2000"), "Cutting …"),
        (("expand", "7c1e"), "Reading …"),
        (("pins", "7c1e"), "Reading …"),
        (("notes", "7c1e"), "Reading …"),
        (("recall", "beat"), "Searching …"),
        (("brief", "--goal", "the beat"), "Searching …"),
    ],
)
def test_a_terminal_is_told_that_something_goes_on(
    command: tuple[str, ...], shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("import", AGENT, cwd=tmp_path)
    monkeypatch.setattr(sys, "argv", ["ireneo", *command])
    monkeypatch.setattr(sys, "stderr", screen := Screen())
    monkeypatch.setenv("IRENEO_DB", "memory.db")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as end:
        entry()
    assert end.value.code == 0
    assert shown in screen.getvalue()
    assert run(*command, cwd=tmp_path).stderr == ""


def test_a_narrow_screen_cuts_the_widest_column_and_loses_none(tmp_path: Path) -> None:
    run("import", AGENT, cwd=tmp_path)
    environment = {**os.environ, "COLUMNS": "70", "IRENEO_DB": "memory.db"}
    done = subprocess.run([*COMMAND, "sessions"], cwd=tmp_path, env=environment, capture_output=True, text=True)
    headings, row = done.stdout.splitlines()
    assert headings.split() == ["session", "messages", "tokens", "last", "project", "source"]
    assert row.split() == ["7c1e4f52…0c9d2e8", "59", "9,637", "2026-03-02", "kestrel", "claude-code"]


def test_a_screen_that_is_too_narrow_for_a_table_shows_each_cell_behind_its_heading(tmp_path: Path) -> None:
    run("import", AGENT, cwd=tmp_path)
    environment = {**os.environ, "COLUMNS": "40", "IRENEO_DB": "memory.db"}
    done = subprocess.run([*COMMAND, "sessions"], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.stdout.splitlines() == [
        "  7c1e4f52-2b8d-4d0a-9f3e-61b5a0c9d2e8",
        "    messages 59   tokens 9,637",
        "    last 2026-03-02   project kestrel",
        "    source claude-code",
    ]


@pytest.mark.parametrize(
    ("block", "line"),
    [
        ("[SUMMARIZED] 8 calls · open with s_a\nBoth tests pass.\n- `make lint` failed.", "Both tests pass."),
        (
            "[SUMMARIZED] 8 calls · open with s_a\nCHANGELOG.md:\n- Unreleased: weeks.\n- 1.2: days.",
            "CHANGELOG.md: Unreleased: weeks.",
        ),
        ("[SUMMARIZED] 8 calls · open with s_a\n## Dead ends\n- I tried a lock.", "I tried a lock."),
        ("[SUMMARIZED] 8 calls · open with s_a", ""),
    ],
)
def test_a_block_is_shown_by_its_first_words_that_say_something(block: str, line: str) -> None:
    assert first_line(block) == line


def test_the_rows_of_a_story_name_its_threads_and_its_cast(tmp_path: Path) -> None:
    said = [
        {"name": ("Vera", "Tom")[day % 2], "is_user": not day % 2, "mes": f"Anselm married Hedda on day {day}."}
        for day in range(260)
    ]
    said[4]["mes"] = "My sister Hedda lives in Rode, you know that."
    (tmp_path / "tale.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in said), encoding="utf-8")
    run("import", "tale.jsonl", cwd=tmp_path)
    run("thread", "add", "tale", "promise", "Tom will mend the net at the mill.", "--who", "Tom", cwd=tmp_path)
    lines = run("context", "tale", "--budget", 3_000, cwd=tmp_path).stdout.splitlines()
    rows = lines[next(number for number, line in enumerate(lines) if line.split()[:1] == ["what"]) + 1 :]
    assert re.match(r"  \d+ pins and threads  .*Tom will mend the net", rows[0])
    assert re.match(r"  cast  .*Anselm, Tom, Vera", rows[1])


def test_names_are_cut_where_both_their_ends_are_seen() -> None:
    assert cut_within("5e0b7c1a-20d4/agent-b19", 15) == "5e0b7c1…ent-b19"
    assert cut_within("a-plain-name", 15) == "a-plain-name"
