"""`ireneo demo`: it runs the commands on the logs that ship with the package."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import chdir
from importlib.resources import files
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct
from rich.console import Console
from rich.text import Text

from ireneo.faces.cli.context import Cut, cut_stored, show_cut
from ireneo.faces.cli.files import search
from ireneo.faces.cli.imports import import_logs
from ireneo.faces.cli.lessons import Exporting, LearningTally, LessonFilter, learn_from, lessons, tally_lines
from ireneo.faces.cli.options import AUTO, Stored, open_existing
from ireneo.faces.cli.output import console, counted, echo, short
from ireneo.faces.cli.sessions import expand, fork, rewind

if TYPE_CHECKING:
    from ireneo.sync import Memory

MARGIN = " " * 3
WIDEST, WHO = 100, 8
"""Columns of a line, and of the name of a speaker."""
ACCENT = "color(43)"


class Stage:
    """The screen of the demo."""

    def __init__(self) -> None:
        self.screen: Console = console()
        self.screen.print()
        self._steps = 0

    def step(self, title: str, words: str) -> None:
        """Begin another step."""
        self._steps += 1
        self.screen.print(Text.assemble((f"{self._steps}  ", ACCENT), (title, "bold")))
        self.say(words)

    def say(self, words: str) -> None:
        """Write a paragraph between the commands."""
        for line in wrap(words, min(self.screen.width - len(MARGIN), WIDEST)):
            self.screen.print(Text(MARGIN + line), soft_wrap=True)
        self.screen.print()

    def pause(self) -> None:
        """Write an empty line."""
        self.screen.print()

    def command(self, line: str) -> None:
        """Write the command whose output follows."""
        self.screen.print(Text.assemble(("   $ ", "dim"), (line, ACCENT)), soft_wrap=True)

    def quote(self, text: str, lines: int) -> None:
        """Quote the first lines of a text."""
        every = text.splitlines()
        for line in every[:lines]:
            self.screen.print(Text(f"   │ {line}"), no_wrap=True, overflow="ellipsis")
        if len(every) > lines:
            self.screen.print(Text(f"   │ … {len(every) - lines} lines more", style="dim"))
        self.screen.print()

    def line(self, who: str, said: str) -> None:
        """Write a line of a conversation or, without a speaker, of a call's output."""
        width = min(self.screen.width - len(MARGIN), WIDEST) - WHO
        for number, part in enumerate(wrap(said, width)):
            head = Text(MARGIN).append((who if number == 0 else "").ljust(WHO), style=ACCENT)
            self.screen.print(head.append(part, style="" if who else "dim"), soft_wrap=True)

    def commands(self, offered: Sequence[tuple[str, str]]) -> None:
        """List commands with descriptions."""
        width = max(len(line) for line, _ in offered)
        for line, does in offered:
            self.screen.print(Text.assemble("   ", (line.ljust(width), ACCENT), f"  {does}"), soft_wrap=True)
        self.screen.print()


# The second run of the demo: a scripted agent that asks the guard before each call. Its calls and their outputs are
# written here; the guard's words and the lesson that it names come from the memory.

PROJECT = "kestrel"
SECOND_SESSION = "second-run"
GOAL = "Keep the result of a job whose worker dies halfway, and see that `make integration` passes."
TESTS, REMEDY = "make integration", "make db"
WAY = (TESTS, TESTS, f"sleep 20 && {TESTS}", REMEDY, TESTS)
"""What the agent would do without the guard: the same as in the first run."""
REFUSED = """\
Exit code 2
tests/integration/test_results.py EEEE                                   [100%]
E   psycopg.OperationalError: the database refused the connection
4 errors in 41.77s
make: *** [Makefile:21: integration] Error 1"""
UP = "postgres is up on port 5432"
PASSED = "tests/integration/test_results.py ....                                   [100%]\n4 passed in 6.02s"


class Played(Struct, frozen=True, kw_only=True):
    """The outcome of the second run."""

    failed: int
    stopped: bool
    """Whether the guard spoke."""


def play_second(memory: Memory, stage: Stage) -> Played:
    """Play the second run, and store it."""
    session = memory.session(SECOND_SESSION)
    session.append({"role": "user", "content": GOAL})
    failed, up, stopped = 0, False, False
    way = iter(enumerate(WAY))
    for number, command in way:
        caution = memory.check("Bash", {"command": command}, session=session.id, project=PROJECT)
        said = UP if command == REMEDY else PASSED if up else REFUSED
        if caution is None:
            stage.line("agent", command)
        else:
            stage.line("agent", f"{command} ?")
            for line in caution.text.splitlines():
                stage.line("guard", line)
            if REMEDY in caution.way_out:
                stopped = True
                command, said = next(command for _, command in way if command == REMEDY), UP
                stage.line("agent", command)
        session.append([_call(number, command), {"role": "tool", "tool_call_id": f"call_{number}", "content": said}])
        stage.line("", _telling(said))
        up = up or command == REMEDY
        failed += said == REFUSED
        if said == PASSED:
            break
    stage.pause()
    return Played(failed=failed, stopped=stopped)


def _call(number: int, command: str) -> dict[str, object]:
    given = msgspec.json.encode({"command": command}).decode()
    call = {"id": f"call_{number}", "type": "function", "function": {"name": "Bash", "arguments": given}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def _telling(said: str) -> str:
    """The line of an output that says how the call ended."""
    lines = said.splitlines()
    return next((line.removeprefix("E   ") for line in lines if line.startswith("E  ")), lines[-1])


LOGS = ("kestrel-drift.jsonl", "reed-valve.jsonl")
RUN = "kestrel-lease.jsonl"
"""The run that a lesson is learned from."""
DATABASE = "memory.db"
HERE = Stored(db=DATABASE)
SESSION = "7c1e4f52"
BUDGET = 2_000
AMPLE = 16_000
DEAD_END = "kestrel/anchor.py"
"""A file that the agent of the first log wrote, gave up and removed."""
KEPT = "as-it-went"


def demo() -> None:
    """See it all at work on sample logs, in a few seconds.

    Everything happens in a temporary folder; nothing is downloaded, and no key is needed.
    """
    stage = Stage()
    with tempfile.TemporaryDirectory(prefix="ireneo-demo-") as folder, chdir(folder):
        for name in (*LOGS, RUN):
            Path(name).write_bytes(files(__package__).joinpath(name).read_bytes())
        _take_in(stage)
        cut = _cut(stage)
        _open(stage, cut)
        _go_back(stage, cut)
        _learn(stage)
        _second_run(stage)
    _point_on(stage)


def _take_in(stage: Stage) -> None:
    stage.step(
        "Take the logs in",
        "Two logs: a coding agent that repairs a job scheduler, and a workshop's booking assistant. "
        "The log is the truth: every message is kept, for good, under an id that is made from its content.",
    )
    stage.command(f"ireneo import {' '.join(LOGS)}")
    import_logs(list(LOGS), stored=HERE).show()
    stage.pause()


def _cut(stage: Stage) -> Cut:
    stage.step(
        "Cut a session to a budget",
        f"First with room for everything, then to {BUDGET:,} tokens. No model is asked: what is old becomes blocks "
        "that are written from the structure of the calls and the agent's own words.",
    )
    stage.command(f"ireneo context {SESSION} --budget {AMPLE}")
    show_cut(_context(AMPLE))
    stage.command(f"ireneo context {SESSION} --budget {BUDGET}")
    cut = _context(BUDGET)
    show_cut(cut)
    return cut


def _open(stage: Stage, cut: Cut) -> None:
    blocks = [row for row in cut.context.view if row.what == "summary"]
    largest = max(blocks, key=lambda row: row.covers)
    smallest = min(blocks, key=lambda row: row.covers)
    stage.step(
        "Open a block",
        f"This is how the model reads {largest.covers} messages of the session ({SESSION}), in their place:",
    )
    stage.quote(largest.text, 16)
    stage.say("Each block says by which id it is opened. What it was written from comes back whole:")
    stage.command(f"ireneo expand {short(smallest.id)}")
    expand(short(smallest.id), stored=HERE).show()


def _go_back(stage: Stage, cut: Cut) -> None:
    with open_existing(HERE) as memory:
        # The last message of the first turn: the dead end is in the second one.
        (id,) = [info.key.session for info in memory.sessions() if info.key.session.startswith(SESSION)]
        messages = memory.session(id).messages()
        to = [message.id for message in messages if message.turn == 1][-1]
    stage.step(
        "Go back",
        f"In its second turn the agent tried a way that led nowhere, {DEAD_END}. "
        "We mark the head of the session, and go back to the message before that turn.",
    )
    stage.command(f"ireneo fork {SESSION} {KEPT}")
    fork(SESSION, KEPT, stored=HERE).show()
    stage.pause()
    stage.command(f"ireneo rewind {SESSION} {short(to)}")
    rewind(SESSION, to, stored=HERE).show()
    stage.pause()
    stage.command(f"ireneo context {SESSION} --budget {BUDGET}")
    after = _context(BUDGET)
    show_cut(after)
    kept = _context(BUDGET, f"{SESSION}@{KEPT}")
    stage.say(
        f"`{DEAD_END}` occurred {_times(cut)} in the context before, and occurs {_times(after)} in it now. "
        f"On the branch {KEPT} it occurs {_times(kept)}: nothing is lost, a rewind is a moved pointer."
    )


def _learn(stage: Stage) -> None:
    stage.step(
        "Learn from a run",
        "In another session the agent ran the integration tests three times before it found what they need. What saves "
        "the next run is drawn from that log: a lesson, with its evidence.",
    )
    stage.command(f"ireneo learn {RUN}")
    tally = LearningTally()
    found = list(search([RUN], AUTO, tally))
    with open_existing(HERE) as memory:
        learn_from(memory, found, tally)
    for line in tally_lines(tally, Path(DATABASE)):
        echo(line)
    stage.pause()
    stage.command("ireneo lessons")
    lessons(which=LessonFilter(), exporting=Exporting(), stored=HERE).show()
    stage.pause()


def _second_run(stage: Stage) -> None:
    stage.step(
        "Stop the next run at the same place",
        "Another day, another task, an agent that knows nothing of the first. It is played from a script, but it asks "
        "before each call, and the answers are the memory's: `memory.check(tool, arguments)`.",
    )
    with open_existing(HERE) as memory:
        played = play_second(memory, stage)
        first = next(run for run in memory.runs() if run.source.endswith(Path(RUN).stem))
    end = f"failed {counted(played.failed, 'time')}" if played.failed else "did not fail"
    second = f"was warned, and {end}" if played.stopped else f"{end}, and nobody warned it"
    stage.say(
        f"The first run failed {counted(first.failures, 'time')} there, which cost {first.lost_tokens:,} tokens and "
        f"{first.lost_seconds / 60:.1f} minutes; the second {second}. A brief at its start "
        "would have warned it sooner: `ireneo brief`, or the tools of `ireneo mcp`."
    )


def _point_on(stage: Stage) -> None:
    stage.step("Now with your own", "The demo's folder is gone again. Your agent's logs are on your disk:")
    stage.commands(
        [
            ("ireneo learn ~/.claude/projects", "take in all that Claude Code wrote, and learn from it"),
            ("ireneo report", "what your runs taught, on one page"),
            ("ireneo sessions", "what is there now"),
            ("ireneo context SESSION --budget 32000", "look at one, cut to a budget"),
            ("ireneo context LOG.jsonl --budget 32000 --json", "the payload itself, with no database at all"),
            ("ireneo compact MESSAGES.json --budget 32000", "a message list in, a shorter one out"),
        ]
    )


def _context(budget: int, named: str = SESSION) -> Cut:
    with open_existing(HERE) as memory:
        return cut_stored(memory, named, budget)


def _times(cut: Cut) -> str:
    count = msgspec.json.encode(cut.context.messages).decode().count(DEAD_END)
    return {0: "nowhere", 1: "once"}.get(count, f"{count} times")
