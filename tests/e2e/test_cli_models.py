"""`ireneo summarise`: a model writes the blocks, and whatever it does wrong is said once and changes nothing."""

from __future__ import annotations

import json
import shutil
import socket
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.e2e import loopback
from tests.e2e.loopback import Answer, LoopbackModel, Script, always
from tests.e2e.test_cli_command import AGENT, Done, answer, run
from tests.e2e.test_cli_screens import watched

import ireneo
from ireneo.adapters.llm import model as adapter
from ireneo.faces.cli import work as summarise

SECRET = "sk-loopback-secret"
BUDGET = 2000
DUE = 1
"""What is due of the sample session at that budget: one stretch, whatever blocks stand in it."""
DRIFTED = "The recurring jobs drifted."
NOTES = {"notes": [f"found 4 {DRIFTED}", "worked 3 I wrote the changelog.", "open 3 Nothing else is verified."]}
INVENTED = {"notes": [*NOTES["notes"], "found 2 The file made/up.py is broken."]}


def script(notes: dict[str, Any]) -> Script:
    """The same notes on everything."""
    return lambda asked: loopback.ok(notes)


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No proxy, and nothing of the tester's own models; a key that no output and no other server may have."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    for name in ("IRENEO_MODEL", "IRENEO_BASE_URL", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("imported")
    run("import", AGENT, cwd=folder)
    return folder


@pytest.fixture
def folder(imported: Path, tmp_path: Path) -> Path:
    """A folder with a database of its own."""
    shutil.copy(imported / "memory.db", tmp_path)
    return tmp_path


def asking(server: LoopbackModel) -> tuple[object, ...]:
    return ("summarise", "7c1e", "-b", BUDGET, "--model", server.name, "--base-url", server.base_url)


def context(folder: Path) -> dict[str, Any]:
    cut = answer("context", "7c1e", "-b", BUDGET, cwd=folder)
    assert isinstance(cut, dict)
    return cut


def silent(done: Done, server: LoopbackModel | None = None) -> Done:
    """No key in what was said, nor at a server of one's own."""
    assert SECRET not in done.stdout + done.stderr
    assert server is None or not any(SECRET in str(asked.headers) for asked in server.asked)
    return done


def test_a_model_writes_what_a_context_shows(folder: Path) -> None:
    with LoopbackModel("openai", script(NOTES)) as server:
        done = silent(run(*asking(server), cwd=folder), server)
        assert len(server.asked) == DUE
        assert done.stderr == ""
        assert done.stdout.count(" written") == DUE + 1
        assert f"{DUE} text: {DUE} written" in done.stdout
        assert "100 in, 20 out" in done.stdout
        assert all(len(line) <= 100 for line in done.stdout.splitlines())
        again = run(*asking(server), cwd=folder)
        assert "Nothing is due" in again.stdout
        assert len(server.asked) == DUE
    blocks = [row for row in context(folder)["view"] if row["what"] == "summary"]
    (drifted,) = [row for row in blocks if DRIFTED in row["text"]]
    who = run("expand", drifted["id"], cwd=folder).stdout.splitlines()[2]
    assert who.startswith("  written by openai:tiny (notes-")
    assert "100 % of its claims supported" in who


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such terminals")
def test_a_terminal_sees_how_far_it_is(folder: Path) -> None:
    with LoopbackModel("openai", script(NOTES)) as server:
        shown = watched([str(each) for each in asking(server)], folder)
    assert f"{DUE}/{DUE}" in shown
    assert f"{DUE} text: {DUE} written" in shown


def test_what_is_not_supported_is_said(folder: Path) -> None:
    with LoopbackModel("openai", script(INVENTED)) as server:
        shown = run(*asking(server), cwd=folder).stdout
    assert " repaired" in shown
    assert "1 line struck out: “The file made/up.py is broken”: The path “made/up.py” stands nowhere." in " ".join(
        shown.split()
    )
    assert "made/up.py" not in json.dumps(context(folder)["messages"])


def test_an_answer_that_can_t_be_trusted_is_not_taken(folder: Path) -> None:
    lies = {"notes": ["worked 3 I ran `sorcery --now` at /opt/made/up.", "state 2 It stopped because of x/y.py."]}
    with LoopbackModel("openai", script(lies)) as server:
        told = answer(*asking(server), cwd=folder)
    assert isinstance(told, dict)
    (found,) = told["summaries"]
    assert found["did"] == "offline"
    # Where nothing of it is true it isn't asked again.
    assert (told["due"], told["tokens_in"], told["tokens_out"]) == (DUE, 100, 20)
    assert set(told) == {"session", "budget", "due", "tokens_in", "tokens_out", "summaries"}
    opened = run("expand", found["id"], cwd=folder).stdout
    assert "as without a model: nothing that openai:tiny" in opened
    assert "sorcery" not in json.dumps(context(folder)["messages"])


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (loopback.failing(401, f"your key {SECRET} is wrong"), "turned the key away (401)"),
        (loopback.failing(404, "no such model"), "is not to be found (404)"),
        (loopback.empty(), "is empty"),
        (loopback.refusal(), "refused to answer"),
    ],
)
def test_a_model_that_fails_is_warned_of_once(wrong: Answer, says: str, folder: Path) -> None:
    before = context(folder)
    with LoopbackModel("openai", always(wrong)) as server:
        done = silent(run(*asking(server), cwd=folder, ends=1), server)
    assert done.stderr.startswith("warning: ")
    assert done.stderr.count("\n") == 1
    assert says in done.stderr
    assert " failed" in done.stdout
    assert says in " ".join(done.stdout.split())
    assert context(folder) == before


def test_a_server_that_is_not_there(folder: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        named = ("summarise", "7c1e", "-b", BUDGET, "-m", "ollama:tiny", "--base-url", url, "--timeout", 2)
        done = silent(run(*named, cwd=folder, ends=1))
    assert done.stderr.startswith("warning: ollama:tiny")
    assert done.stderr.count("\n") == 1
    assert f"{DUE} text: 1 failed" in done.stdout


def test_limits(folder: Path) -> None:
    with LoopbackModel("openai", script(NOTES)) as server:
        none = run(*asking(server), "--calls", 0, cwd=folder, ends=1)
        assert "raise calls_per_session to go on" in " ".join(none.stdout.split())
        assert server.asked == []
        tokens = run(*asking(server), "--tokens-per-day", 10, cwd=folder, ends=1)
        assert "of its 10 tokens today" in tokens.stderr
        run(*asking(server), "--tokens", 10, cwd=folder, ends=1)
        run(*asking(server), "--calls-per-day", 0, cwd=folder, ends=1)
        assert server.asked == []
        one = run(*asking(server), "--calls", 1, cwd=folder)
        assert len(server.asked) == 1
        assert "1 written" in one.stdout
        assert "give 0 to call no model" in run(*asking(server), "--calls=-1", cwd=folder, ends=2).stderr


def test_the_limits_are_those_of_the_library() -> None:
    assert summarise.Asking().limits() == ireneo.Limits()


def test_each_task_may_have_a_model_of_its_own(folder: Path) -> None:
    with LoopbackModel("openai", script(NOTES)) as server:
        url = ("--base-url", server.base_url)
        run("summarise", "7c1e", "-b", BUDGET, "--story-model", "openai:wide", *url, cwd=folder)
        assert server.asked == []
        run("summarise", "7c1e", "-b", BUDGET, "-m", "openai:wide", "--notes-model", "openai:quick", *url, cwd=folder)
        assert [asked.model for asked in server.asked] == ["quick"]


def test_the_environment_names_the_model(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with LoopbackModel("openai", script(NOTES)) as server:
        monkeypatch.setenv("IRENEO_MODEL", "openai:tiny")
        monkeypatch.setenv("IRENEO_BASE_URL", server.base_url)
        assert f"{DUE} written" in run("summarise", "7c1e", "-b", BUDGET, cwd=folder).stdout
        assert len(server.asked) == DUE


@pytest.mark.parametrize("key", ["", None])
def test_without_a_key(key: str | None, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    if key is not None:
        monkeypatch.setenv("OPENAI_API_KEY", key)
    done = run("summarise", "7c1e", "-b", BUDGET, "-m", "openai:tiny", cwd=folder, ends=2)
    assert done.stdout == ""
    assert done.stderr.startswith("ireneo: openai:tiny needs a key: set OPENAI_API_KEY")
    assert done.stderr.count("\n") == 1


def test_without_the_extra(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapter, "find_spec", lambda name: None)
    done = run("summarise", "7c1e", "-b", BUDGET, "-m", "openai:tiny", cwd=folder, ends=2)
    assert done.stderr == "ireneo: openai:tiny needs the extra `llm`: pip install 'ireneo[llm]'.\n"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("7c1e", "-b", BUDGET), "No model is named. Name one with --model or in IRENEO_MODEL: openai:"),
        (("7c1e", "-b", BUDGET, "-m", "tiny"), "There is no model 'tiny'"),
        (("7c1e", "-b", BUDGET, "-m", "openai:x", "--base-url", "here"), "has to begin with http://"),
        (("7c1e", "-b", BUDGET, "-m", "openai:x", "--timeout", 0), "needs a timeout over 0 seconds"),
        (("7c1e", "-b", 20, "-m", "openai:x"), "too small"),
        (("gone", "-b", BUDGET, "-m", "openai:x"), "There is no session 'gone'"),
        (("7c1e", "-b", BUDGET, "-m", "openai:x", "--db", "gone.db"), "There is no database gone.db"),
    ],
)
def test_bad_input_gets_one_sentence(arguments: tuple[object, ...], sentence: str, folder: Path) -> None:
    done = silent(run("summarise", *arguments, cwd=folder, ends=2))
    assert done.stdout == ""
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1
