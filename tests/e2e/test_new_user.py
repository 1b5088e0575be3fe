"""The walk of a new user: what README and the guides print is run as it stands, twice, in a home that nobody used yet.

Each block of code is taken by what it is (commands, Python, an output that is shown, a file of settings); one that
nobody knows what to do with is a fault. What is printed as an output is compared with what is seen the first time. The
home has a space in its name, and its places are those of Linux, then those of macOS.
"""

from __future__ import annotations

import ast
import asyncio
import inspect
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, redirect_stdout
from pathlib import Path

import platformdirs
import pytest
from platformdirs.macos import MacOS
from platformdirs.unix import Unix
from tests.agent_log import LOST, MADE, MOON, Ran, claude_log
from tests.e2e import loopback
from tests.e2e.loopback import LoopbackModel
from tests.e2e.pages import GUIDES, README, ROOT, Block, blocks, fits
from tests.e2e.test_cli_command import COMMAND, Done, run
from tests.postgres_server import empty_database

import ireneo
from ireneo.adapters.llm import model as names
from ireneo.log.message import BLOCK_TAGS

Said = dict[str, object]
OWN = "~/.local/share/ireneo"
"""Where the pages print that the database is, as it is on Linux."""
PLACES = {"linux": (Unix, OWN), "macos": (MacOS, "~/Library/Application Support/ireneo")}
TRANSCRIPT = '{{"author": "{who}", "text": "On day {day} {who} walked to the gate, and lit a lamp.", "id": "{day}"}}'
STORY_MESSAGES = 700
LONG = "campaign.jsonl"
"""A story that no reader has: a shorter one stands for it, beside what the other outputs come from."""
LOCAL_SERVER = "http://localhost:8000/v1"
SERVER = "postgresql://agent@db.example/memory"
"""A database that no reader has."""
CLUSTER = "/logs --on dask://scheduler:8786"
"""Logs and a cluster that no reader has: his own runs, in processes of this machine, stand for them."""
DRIFT = "7c1e4f52-2b8d-4d0a-9f3e-61b5a0c9d2e8"
"""The demo's first session; README shows its blocks by each of three writers."""
WRITERS = ("nobody", "a model", "the agent")
NOTES = Path(__file__).parents[1] / "data" / "notes"
ANSWER = {"notes": ["found 4 The recurring jobs drifted.", "open 3 I looked, and nothing is verified."]}


class Walk:
    """A reader at a terminal, in a folder that holds what a clone of the project does."""

    def __init__(self, home: Path, system: str, patch: pytest.MonkeyPatch) -> None:
        self.home = home
        self.folder = home / "ireneo"
        self.folder.mkdir(parents=True)
        (self.folder / "src").symlink_to(ROOT / "src", target_is_directory=True)
        self.kind, self.own = PLACES[system]
        self._patch = patch
        patch.setattr(platformdirs, "PlatformDirs", self.kind)
        patch.chdir(self.folder)
        self.names: dict[str, object] = {}
        """What Python knows after the blocks before, as in one sitting."""
        self.sit_down()
        self.printed: str | None = None
        """What the block before wrote, where that was Python: its output may be printed under it."""
        self.told = 0
        """How many blocks of a context were shown."""
        self.server = SERVER
        self.servers = ExitStack()
        self.commands: set[str] = set()

    def sit_down(self) -> None:
        """Open a new terminal."""
        self.names.clear()
        self.told = 0
        env = {"HOME": self.home, "XDG_DATA_HOME": "", "IRENEO_DB": "", "IRENEO_MODEL": "", "IRENEO_BASE_URL": ""}
        for name, value in {**env, "NO_PROXY": "127.0.0.1", "OPENAI_API_KEY": "sk-walk"}.items():
            self._patch.setenv(name, str(value))

    def ireneo(self, line: str, given: bytes = b"") -> Done:
        """Run a command of ours."""
        words = [os.path.expanduser(word) for word in shlex.split(line, comments=True)]
        assert words[0] == "ireneo", line
        self.commands.add(words[1])
        env = {name: os.environ.get(name, "") for name in ("HOME", "XDG_DATA_HOME", "IRENEO_DB")}
        return run(*words[1:], cwd=self.folder, given=given, env=env)

    @property
    def database(self) -> Path:
        """Where the reader's own one is."""
        return Path(self.own).expanduser() / "memory.db"

    def say(self, line: str, block: Block) -> str:
        """Run one line of a shell; gives what it writes."""
        if line.startswith("createdb "):
            # The reader's server is one of ours.
            self.server = empty_database()
            return ""
        line = line.replace(SERVER, self.server).replace(CLUSTER, "~/.claude/projects --on local:2")
        if line.startswith("dask "):
            assert re.match(r"dask (?:scheduler$|worker scheduler:8786 )", line), line
            return ""
        if line.startswith("ireneo summarise "):
            return self.with_a_model(line)
        if line.startswith("ireneo proxy "):
            return self.proxy(line)
        if line.startswith("ireneo "):
            return self.ireneo(line).stdout
        if line.startswith("export "):
            self.export(line)
            return ""
        if line.startswith("pip install "):
            check_install(line)
            return ""
        if line.startswith("make "):
            check_target(line)
            return ""
        if line.startswith("head "):
            subprocess.run(line, shell=True, cwd=self.folder, check=True)
            return ""
        if line.startswith("python "):
            program, *arguments = shlex.split(
                line.replace("$(ireneo path)", self.ireneo("ireneo path").stdout.strip())
            )[1:]
            return self.program(self.folder / program, arguments)
        if line.startswith("claude mcp add "):
            server = line.partition(" -- ")[2]
            # Nobody speaks to it: it ends with its input.
            return self.ireneo(server).stdout
        raise AssertionError(f"{block.place}: nobody knows how to run {line!r}")

    def export(self, line: str) -> None:
        """Set variables; the key that a reader puts in is one, and a server of his own is one of ours."""
        for word in shlex.split(line, comments=True)[1:]:
            name, _, value = word.partition("=")
            if value == LOCAL_SERVER:
                continue
            assert "localhost" not in value, value
            self._patch.setenv(name, value.replace("…", "sk-walk"))

    def with_a_model(self, line: str) -> str:
        """What asks a model asks one on this machine, on a copy: the outputs further on are those of who has none."""
        named = re.search(r"--model (\w+)|--notes-model (\w+)", line)
        assert named, line
        kind = "anthropic" if "anthropic" in named.groups() else "openai"
        with self.aside(), LoopbackModel(kind, loopback.always(loopback.ok(ANSWER))) as server:
            self._patch.setenv("IRENEO_BASE_URL", server.base_url)
            said = self.ireneo(line).stdout
            assert server.asked, line
        self._patch.setenv("IRENEO_BASE_URL", "")
        return said

    def proxy(self, line: str) -> str:
        """Nobody asks it anything: what it would serve with is all that is looked at."""
        served: list[str] = []

        async def serve(to: str, *_: object, **__: object) -> None:
            served.append(to)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("ireneo.faces.proxy.server.serve", serve)
            said = self.ireneo(line).stdout
        assert served, line
        return said

    def blocks_by(self, writer: str) -> list[str]:
        """The blocks of the session at 1,000 tokens as `writer` tells them; nothing else is in their database."""
        file = self.folder / "told.db"
        file.unlink(missing_ok=True)
        self.ireneo(f"ireneo import src/ireneo/faces/cli/demo/kestrel-drift.jsonl --db {shlex.quote(str(file))}")
        if writer == "a model":
            answer = {"notes": (NOTES / "by_a_model.txt").read_text(encoding="utf-8").splitlines()}
            with LoopbackModel("openai", loopback.always(loopback.ok(answer))) as server:
                self._patch.setenv("IRENEO_BASE_URL", server.base_url)
                self.ireneo(f"ireneo summarise {DRIFT} --budget 1000 --model openai:any --db {shlex.quote(str(file))}")
            self._patch.setenv("IRENEO_BASE_URL", "")
        elif writer == "the agent":
            asyncio.run(self.agent_takes_notes(file))
        cut = self.ireneo(f"ireneo context {DRIFT} --budget 1000 --json --db {shlex.quote(str(file))}").stdout
        return [row["text"] for row in json.loads(cut)["view"] if row["what"] == "summary"]

    async def agent_takes_notes(self, file: Path) -> None:
        """As README's function does it."""
        answer = {"role": "assistant", "content": (NOTES / "by_the_agent.txt").read_text(encoding="utf-8")}

        async def model(messages: Sequence[Said]) -> Said:
            assert "answer with your notes" in str(messages[-1]["content"])
            return answer

        async with ireneo.open(file) as memory:
            take_notes = self.names["take_notes"]
            taken = await take_notes(await memory.session(DRIFT), [], model)  # type: ignore[operator]
            assert taken.notes
            assert not taken.struck

    @contextmanager
    def aside(self) -> Iterator[None]:
        """What is done meanwhile is done on a copy."""
        place, kept = self.database.parent, self.folder / "kept"
        place.mkdir(parents=True, exist_ok=True)
        shutil.copytree(place, kept)
        try:
            yield
        finally:
            shutil.rmtree(place)
            shutil.move(kept, place)

    def program(self, file: Path, arguments: Sequence[str]) -> str:
        """Run a file of Python in a process of its own."""
        done = subprocess.run(
            [sys.executable, file, *arguments],
            cwd=self.folder,
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        )
        assert done.returncode == 0, done
        return done.stdout

    def python(self, code: str) -> str:
        """Run Python as `python -m asyncio` does, which waits at the top level."""
        compiled = compile(code, "a block", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        out = io.StringIO()
        with redirect_stdout(out):
            came = eval(compiled, self.names)
            if inspect.iscoroutine(came):
                asyncio.run(came)
        return out.getvalue()


def check_install(line: str) -> None:
    """The extras that are named are there."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    what, said = line.partition("#")[::2]
    named = re.fullmatch(r"pip install '?ireneo(?:\[(\w+)\])?'?\s*", what)
    assert named, line
    assert named.group(1) is None or named.group(1) in project["optional-dependencies"]
    if said.strip().startswith("the core:"):
        core = {re.split(r"[^\w-]", each)[0] for each in project["dependencies"]}
        assert set(said.partition(":")[2].replace(" ", "").split(",")) == core


def check_target(line: str) -> None:
    """The Makefile has it."""
    target = shlex.split(line, comments=True)[1]
    assert f"\n{target}:" in (ROOT / "Makefile").read_text(encoding="utf-8")


@pytest.fixture
def system() -> str:
    """Where the reader sits, unless a test says so."""
    return "linux"


@pytest.fixture
def walk(system: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Walk]:
    """A reader on one of the systems, with runs of Claude Code in his home, and models on this machine."""
    reader = Walk(tmp_path / "Anna Example", system, monkeypatch)
    folder = reader.home / ".claude" / "projects" / "-srv-kestrel"
    folder.mkdir(parents=True)
    for day in range(3):
        told = claude_log(f"harbour-{day}", [LOST, LOST, MOON, MADE], day=day, cwd="/srv/kestrel")
        (folder / f"{day}.jsonl").write_text(told, encoding="utf-8")
    turns = [TRANSCRIPT.format(who=("Vera", "Anton")[day % 2], day=day) for day in range(STORY_MESSAGES)]
    (reader.folder / "campaign.jsonl").write_text("\n".join(turns) + "\n", encoding="utf-8")
    with reader.servers:
        answers = loopback.always(loopback.ok(ANSWER))
        ollama = reader.servers.enter_context(LoopbackModel("openai", answers))
        claude = reader.servers.enter_context(LoopbackModel("anthropic", answers))
        monkeypatch.setattr(names, "OLLAMA", ollama.base_url)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", claude.base_url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-walk")
        yield reader


def take(walk: Walk, block: Block, *, first: bool) -> None:
    """Do with a block what a reader does; the first time what it prints is compared."""
    if block.language == "python":
        took_python(walk, block)
    elif block.language == "json":
        took_settings(walk, block)
    elif block.language:
        raise AssertionError(f"{block.place}: nobody knows what to do with {block.language}")
    elif block.first.startswith("$ "):
        with walk.aside() if LONG in block.text else nullcontext():
            for line, printed in typed(block):
                seen = walk.say(line, block)
                if first:
                    compare(walk, block, line, printed, seen)
    elif block.first.split(" ")[0] in ("ireneo", "pip", "make", "claude", "dask"):
        for line in block.text.splitlines():
            walk.say(line, block)
    elif block.first.startswith(BLOCK_TAGS):
        shown = walk.blocks_by(WRITERS[walk.told])
        walk.told += 1
        assert not first or any(fits(block.text, each) for each in shown), "\n\n".join(shown)
    else:
        assert walk.printed is not None, f"{block.place}: nobody knows what this is"
        assert fits(block.text, walk.printed), f"{block.place}: it prints\n{block.text}\nand one sees\n{walk.printed}"
    if block.language != "python":
        walk.printed = None


def typed(block: Block) -> Iterator[tuple[str, str]]:
    """The commands of a block, each with the output that is printed under it."""
    for said in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        line, _, printed = said.partition("\n")
        yield line.rstrip(), printed.rstrip() + "\n" if printed.strip() else ""


def compare(walk: Walk, block: Block, line: str, printed: str, seen: str) -> None:
    """What is printed under a command is what one sees, but for whose home it is."""
    if not printed:
        return
    expected = printed.replace(OWN, walk.own)
    # Of a shorter story the numbers are others, and so is the picture.
    long = LONG in block.text
    if line == "ireneo tree campaign":
        expected = "".join(expected.splitlines(keepends=True)[:6]) + "…\n"
    assert fits(expected, seen, counts=not long), f"{block.place}: {line}\nprints\n{expected}\nand one sees\n{seen}"


def took_python(walk: Walk, block: Block) -> None:
    """Python is pasted; a program that the next block calls by its file is saved, and a loop is run with a model."""
    if "sys.argv" in block.text:
        (walk.folder / "store.py").write_text(block.text, encoding="utf-8")
        return
    walk.printed = walk.python(block.text)
    if "async def run(" in block.text:
        asyncio.run(looped(walk.names["run"]))  # type: ignore[arg-type]


async def looped(loop: Callable[..., Awaitable[object]]) -> None:
    """Run a loop that was written by hand, with a model that makes one call and then is done."""
    replies = [call(0, "ls"), {"role": "assistant", "content": "It is done."}]

    async def model(messages: Sequence[Said]) -> Said:
        assert messages
        return replies.pop(0)

    async def bash(command: object) -> str:
        return "a file"

    if "task" in inspect.signature(loop).parameters:
        task = {"role": "user", "content": "Look what is there."}
        assert await loop(task, model, bash) == "It is done."
    else:
        assert await loop("tuesday", "Look what is there.", model, {"bash": bash}) == "It is done."


def took_settings(walk: Walk, block: Block) -> None:
    """The hooks of Claude Code's settings are asked as it asks them."""
    settings = json.loads(block.text)
    (ended,), (before,) = settings["hooks"]["SessionEnd"], settings["hooks"]["PreToolUse"]
    walk.ireneo(ended["hooks"][0]["command"])
    assert re.fullmatch(before["matcher"], "Bash")
    log = walk.home / "now.jsonl"
    log.write_text(claude_log("now", [Ran("ls", "a")], cwd="/srv/kestrel"), encoding="utf-8")
    asked = {
        "session_id": "now",
        "transcript_path": str(log),
        "cwd": "/srv/kestrel",
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "make tide"},
    }
    hook = before["hooks"][0]["command"]
    told = json.loads(walk.ireneo(hook, json.dumps(asked).encode()).stdout)
    assert "instead: run `make moon` first" in told["hookSpecificOutput"]["additionalContext"]
    asked["tool_input"] = {"command": "ls"}
    assert walk.ireneo(hook, json.dumps(asked).encode()) == Done(0, "", "")
    begins = settings["hooks"]["SessionStart"][0]["hooks"][0]["command"]
    start = {"session_id": "now", "cwd": "/srv/kestrel", "hook_event_name": "SessionStart", "source": "startup"}
    told = json.loads(walk.ireneo(begins, json.dumps(start).encode()).stdout)
    assert "run `make moon` first" in told["hookSpecificOutput"]["additionalContext"]


@pytest.mark.parametrize(
    ("system", "page"),
    [*((each, README) for each in sorted(PLACES)), *(("linux", page) for page in GUIDES)],
    ids=lambda given: given.stem if isinstance(given, Path) else given,
)
def test_what_is_printed_works_twice(page: Path, walk: Walk) -> None:
    found = blocks(page)
    assert found
    for first in (True, False):
        walk.sit_down()
        for block in found:
            take(walk, block, first=first)
    if page == README:
        assert {"import", "context", "expand", "learn", "brief"} <= walk.commands
        assert walk.database.exists()
    assert not list(walk.folder.glob("memory.db")) or page != README, "README leaves no database where one stands"


@pytest.mark.parametrize(
    "block",
    [
        Block("x.md", 1, "rust", "fn main() {}\n"),
        Block("x.md", 1, "", "Something that is no command.\n"),
        Block("x.md", 1, "", "$ curl https://example.org\n"),
        Block("x.md", 1, "", "pip install 'ireneo[nothing]'\n"),
        Block("x.md", 1, "", "make nothing\n"),
        Block("x.md", 1, "", "$ ireneo formats\n  something else\n"),
    ],
    ids=lambda block: block.first,
)
def test_a_block_that_can_not_be_taken_is_a_fault(block: Block, walk: Walk) -> None:
    with pytest.raises(AssertionError):
        take(walk, block, first=True)


def test_an_output_fits_or_does_not() -> None:
    assert fits("a\n…\nd 1…\n", "a\nb\nc\nd 123\n")
    assert fits("a\n…\nb\n", "a\nb")
    assert fits("12,345 turns at m_aaaaaaa\n", "7 turns at m_bbbbbbb\n", counts=False)
    for seen in ("a\nb\n", "a\nd 1\ne\n", "d 1\n", ""):
        assert not fits("a\n…\nd 1…\n", seen)
    assert not fits("12,345 turns\n", "7 nights\n", counts=False)


def test_what_the_guide_to_claude_code_promises_comes_true(walk: Walk) -> None:
    text = (ROOT / "docs" / "guides" / "claude-code.md").read_text(encoding="utf-8")
    assert "3 runs: 6 of 12 calls failed" in walk.ireneo("ireneo learn ~/.claude/projects").stdout
    assert "run `make moon` first" in " ".join(walk.ireneo("ireneo lessons").stdout.split())
    assert "`ireneo report --out report.html`" in text
    assert "3 runs" in walk.ireneo("ireneo report --out report.html").stdout
    assert "`ireneo forget --memory ID`" in text
    lesson = json.loads(walk.ireneo("ireneo lessons --json").stdout)[0]["id"]
    walk.ireneo(f"ireneo forget --memory {lesson} --yes")
    assert lesson not in walk.ireneo("ireneo lessons --json").stdout


def test_a_process_of_its_own_finds_the_same_place(tmp_path: Path) -> None:
    home = tmp_path / "Anna Example"
    home.mkdir()
    env = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    env |= {"HOME": str(home), "PATH": f"{Path(sys.executable).parent}{os.pathsep}{env.get('PATH', '')}"}
    line = "ireneo remember 'The lamp is lit.' >/dev/null && ireneo recall lamp --json && ireneo path"
    command = ["sh", "-c", line] if shutil.which("sh") else [*COMMAND, "path"]
    done = subprocess.run(command, cwd=home, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done
    *_, place = done.stdout.splitlines()
    assert Path(place).is_relative_to(home)
    assert json.loads(done.stdout.splitlines()[0])[0]["text"] == "The lamp is lit."
    assert not list(home.glob("*.db"))


def call(number: int, command: str, says: str | None = None) -> Said:
    given = json.dumps({"command": command})
    function = {"name": "bash", "arguments": given}
    return {
        "role": "assistant",
        "content": says,
        "tool_calls": [{"id": f"c{number}", "type": "function", "function": function}],
    }


def test_the_loop_written_by_hand_learns_and_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    space: dict[str, Callable[..., Awaitable[str]]] = {}
    (code,) = [each.text for each in blocks(ROOT / "docs" / "guides" / "hand-written-loop.md") if each.language]
    exec(compile(code, "hand-written-loop.md", "exec"), space)
    seen: list[list[Said]] = []

    def script(*replies: Said) -> Callable[[list[Said]], Awaitable[Said]]:
        left = list(replies)

        async def model(messages: list[Said]) -> Said:
            seen.append(messages)
            return left.pop(0)

        return model

    up: list[str] = []

    async def bash(command: str) -> str:
        up.append(command)
        if command == "make tide" and "make moon" not in up:
            return "Exit code 2\n" + "make: tide table not found, the moon is missing\n" * 80
        return "written"

    def went(name: str, *replies: Said) -> str:
        up.clear()
        end: Said = {"role": "assistant", "content": "It is printed."}
        goal = "Print the tide table"
        return asyncio.run(space["run"](name, goal, script(*replies, end), {"bash": bash}))  # type: ignore[arg-type]

    why = "`make tide` reads the table that `make moon` writes."
    way = [call(0, "make tide"), call(1, "make tide"), call(2, "make moon", why), call(3, "make tide")]
    assert went("monday", *way) == "It is printed."
    assert "1 new lessons from 4 calls" in capsys.readouterr().out
    assert "trap:" not in json.dumps(seen[4]), "it went through it itself"
    went("tuesday", call(0, "make tide"), call(1, "make moon"), call(2, "make tide"))
    assert "run `make moon` first" in json.dumps(seen[5], ensure_ascii=False), "the brief of the next run says it"
    assert "instead: run `make moon` first" in json.dumps(seen[6], ensure_ascii=False), "and so does the guard"
    assert up == ["make moon", "make tide"]

    async def taught() -> list[str]:
        async with ireneo.open("memory.db") as memory:
            monday = next(each for each in await memory.runs() if each.session == "monday")
            assert (monday.calls, monday.failures) == (4, 2)
            return [each.lesson for each in await memory.lessons(project="kestrel")]

    lessons = asyncio.run(taught())
    assert any("run `make moon` first" in each for each in lessons)
    assert not [each for each in lessons if "Likely to fail" in each or "BRIEF" in each], "it was told that"
