"""`ireneo context` and `ireneo compact` on files: no database, and the payload in JSON."""

from __future__ import annotations

import gzip
import json
import lzma
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.test_cli_command import AGENT, DESK, answer, run

KEYS = {"budget", "tokens", "tokens_before", "format", "messages", "view", "violations", "repaired", "pins", "behind"}
ROW = {"id", "what", "level", "depth", "first", "last", "covers", "tokens", "text", "disputed"}
MESSAGES = 59
"""How many messages the agent's log holds."""


def context(*arguments: object, cwd: Path | None = None) -> dict[str, Any]:
    found = answer("context", *arguments, cwd=cwd)
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("budget", [256, 1000, 3000, 50_000])
@pytest.mark.parametrize("preset", ["coding", "forge"])
def test_a_log_is_cut_to_its_budget(budget: int, preset: str, tmp_path: Path) -> None:
    cut = context(AGENT, "--budget", budget, "--preset", preset, cwd=tmp_path)
    assert set(cut) == KEYS
    assert all(set(row) == ROW for row in cut["view"])
    assert {row["what"] for row in cut["view"]} <= {"message", "masked", "summary", "pins"}
    assert all((row["covers"] == 0) == (row["what"] == "pins") for row in cut["view"])
    assert cut["budget"] == budget >= cut["tokens"]
    assert cut["tokens_before"] > 5_000
    assert cut["format"] == "anthropic"
    assert cut["violations"] == []
    assert sum(row["covers"] for row in cut["view"]) == MESSAGES
    assert list(tmp_path.iterdir()) == [], "a file needs no database"


def test_another_format_comes_out() -> None:
    cut = context(AGENT, "--budget", 50_000, "--to", "openai")
    assert cut["format"] == "openai"
    assert any("tool_calls" in message for message in cut["messages"])


def test_the_system_prompt_stands_apart_where_the_format_has_it_so() -> None:
    given = context(DESK, "--budget", 2000)
    assert given["messages"][0]["role"] == "system"
    assert "system" not in given
    other = context(DESK, "--budget", 2000, "--to", "anthropic")
    assert "Reed & Valve" in json.dumps(other["system"])


def test_one_of_several_sessions() -> None:
    first = context(DESK, "--budget", 2000)
    assert first == context(DESK, "--budget", 2000, "--session", "reed-valve-0412")
    other = context(DESK, "--budget", 2000, "--session", "reed-valve-0413")
    assert "trumpet" in json.dumps(other["messages"])


def test_the_first_of_several_sessions_is_not_shown_in_silence() -> None:
    said = run("context", DESK, "--budget", 2000, "--json").stderr
    assert said == (
        f"warning: {DESK} holds 2 sessions; this is the first, reed-valve-0412. Name another with --session.\n"
    )
    assert run("context", DESK, "--budget", 2000, "--session", "reed-valve-0412").stderr == ""
    assert run("context", AGENT, "--budget", 2000).stderr == ""


def test_the_format_of_a_file_may_be_named(tmp_path: Path) -> None:
    (tmp_path / "odd.txt").write_text("not a log\n" * 7_000 + DESK.read_text())
    assert "name its `--format`: " in run("context", "odd.txt", "--budget", 2000, cwd=tmp_path, ends=2).stderr
    named = ("--format", "openai", "--session", "reed-valve-0412")
    assert context(tmp_path / "odd.txt", "--budget", 2000, *named) == context(DESK, "--budget", 2000)
    block = next(row for row in context(DESK, "--budget", 400)["view"] if row["what"] == "summary")
    found = ("expand", block["id"], "--file", "odd.txt", "--budget", 400)
    run(*found, "--format", "openai", cwd=tmp_path)
    run(*found, cwd=tmp_path, ends=2)


@pytest.mark.parametrize("suffix", [".jsonl.xz", ".jsonl.gz", ".log"])
def test_a_file_may_be_packed(suffix: str, tmp_path: Path) -> None:
    data = AGENT.read_bytes()
    packed = {".jsonl.xz": lzma.compress, ".jsonl.gz": gzip.compress}.get(suffix, bytes)(data)
    (tmp_path / f"log{suffix}").write_bytes(packed)
    assert context(tmp_path / f"log{suffix}", "--budget", 2000) == context(AGENT, "--budget", 2000)


def test_standard_input() -> None:
    done = run("context", "-", "--budget", 2000, "--json", given=AGENT.read_bytes())
    assert json.loads(done.stdout) == context(AGENT, "--budget", 2000)


def test_an_archive_that_breaks_off_is_read_up_to_there(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl.gz").write_bytes(gzip.compress(AGENT.read_bytes())[:9000])
    done = run("context", tmp_path / "log.jsonl.gz", "--budget", 2000, "--json")
    assert json.loads(done.stdout)["view"]
    assert "the archive breaks off" in done.stderr


def test_a_broken_line_is_named_and_the_rest_is_there(tmp_path: Path) -> None:
    lines = AGENT.read_bytes().splitlines(keepends=True)
    lines[40] = lines[40][:200] + b"\n"
    (tmp_path / "log.jsonl").write_bytes(b"".join(lines))
    done = run("context", "log.jsonl", "--budget", 50_000, "--json", cwd=tmp_path)
    assert done.stderr.startswith("warning: log.jsonl:41: ")
    assert len(json.loads(done.stdout)["view"]) >= MESSAGES - 3


def test_a_block_of_a_file_opens_again() -> None:
    cut = context(AGENT, "--budget", 2000)
    blocks = [row for row in cut["view"] if row["what"] == "summary"]
    assert blocks
    for row in blocks[:2]:
        opened = answer("expand", row["id"][:9], "--file", AGENT, "--budget", 2000)
        assert isinstance(opened, dict)
        assert opened["summary"]["id"] == row["id"]
        assert [message["id"] for message in opened["messages"]][:: row["covers"] - 1 or 1] == (
            [row["first"], row["last"]] if row["covers"] > 1 else [row["first"]]
        )
    message = answer("expand", blocks[0]["first"], "--file", AGENT)
    assert isinstance(message, dict)
    assert message["summary"] is None
    assert message["messages"][0]["draft"]["record"]["format"] == "claude-code"


def test_messages_in_messages_out(tmp_path: Path) -> None:
    run_of_desk = json.loads(DESK.read_text().splitlines()[0])
    listed = tmp_path / "list.json"
    listed.write_text(json.dumps(run_of_desk["messages"]))
    shorter = json.loads(run("compact", listed, "--budget", 1000).stdout)
    assert isinstance(shorter, list)
    assert shorter[0]["role"] == "system"
    assert shorter[-1] == run_of_desk["messages"][-1]
    assert len(json.dumps(shorter)) < len(json.dumps(run_of_desk["messages"]))
    piped = run("compact", "-", "--budget", 1000, given=listed.read_bytes())
    assert json.loads(piped.stdout) == shorter


def test_an_object_stays_an_object() -> None:
    whole = {"model": "any", "system": "Be brief.", "messages": [{"role": "user", "content": "Hello"}]}
    done = run("compact", "-", "--budget", 700, given=json.dumps(whole).encode())
    assert json.loads(done.stdout) == whole


def test_a_list_gets_a_place_for_its_system_prompt() -> None:
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}]
    done = run("compact", "-", "--budget", 700, "--to", "anthropic", given=json.dumps(messages).encode())
    assert json.loads(done.stdout) == {"system": "Be brief.", "messages": [{"role": "user", "content": "Hello"}]}


def test_a_file_is_cut_once_and_takes_no_word_on_being_cut_again(tmp_path: Path) -> None:
    said = run("context", AGENT, "-b", 2000, "--explain", cwd=tmp_path, ends=2).stderr
    assert "`ireneo import` the log" in said


def test_one_message_comes_back_as_a_list() -> None:
    done = run("compact", "-", "--budget", 700, given=b'{"role": "user", "content": "Is it done?"}')
    assert json.loads(done.stdout) == [{"role": "user", "content": "Is it done?"}]


def test_a_byte_order_mark_is_no_fault() -> None:
    done = run("compact", "-", "--budget", 700, given=b'\xef\xbb\xbf[{"role": "user", "content": "Is it done?"}]')
    assert json.loads(done.stdout) == [{"role": "user", "content": "Is it done?"}]


def test_what_the_model_reads_is_printed_whole() -> None:
    shown = run("context", AGENT, "--budget", 2000, "--text").stdout
    cut = context(AGENT, "--budget", 2000)
    assert shown == "\n\n".join(row["text"] for row in [*cut["pins"], *cut["view"]]) + "\n"
    assert shown.startswith("[PINNED]")
    assert "[GOAL BATCH]" in shown
    assert "## Dead ends\n" in shown
