"""The calls of a run: what each did, which program or tool it used, whether it worked, and what failed.

In a command with several steps, the failed one is found by the exit status, as far as the structure allows
(`ireneo.lessons.commands`), and by the errors in the output (`ireneo.lessons.faults`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

from msgspec import Struct

from ireneo.lessons.commands import (
    CommandLine,
    ShellStep,
    command_in,
    does_nothing,
    main_step,
    read_command,
    shell_steps,
)
from ireneo.lessons.faults import FOUND_NOTHING, TIMED_OUT, WITHOUT_A_WORD, Fault, is_empty, read_faults
from ireneo.lessons.naming import programs
from ireneo.lessons.run import NotedWords, RunOutcome
from ireneo.log.message import Call, Message
from ireneo.patterns import lazy_re
from ireneo.summaries.steps import CHANGES, PATH_KEYS, Step, exit_status, steps


class StepFailure(Struct, frozen=True, kw_only=True, gc=False):
    """The step of a call that failed, and its errors."""

    program: str
    """The canonical name of the step; empty if it is unknown."""
    shown: str
    """The step as it is displayed."""
    step: ShellStep | None
    faults: tuple[Fault, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the errors; at least one."""
        return tuple(each.name for each in self.faults) or (WITHOUT_A_WORD,)


_OF_THE_SHELL = 88
_SURE = 60
"""From this weight on only one kind of program prints such a line."""
_KINDS = {
    "lint": lazy_re(r"lint|clippy|vet\b|style|fmt|format|ruff|check|verify|pre-commit|\bci\b"),
    "build": lazy_re(r"build|compile|tsc|type-?check|\bvet\b|install|check|run\b|bundle|dist"),
    "tests": lazy_re(r"test|spec|e2e|integration|coverage|pytest|tox|nox|jest|verify|check|\bci\b"),
}
_SHELL_SPEAKS = lazy_re(
    r"^(?:\(eval\)|(?:\S*/)?(?:ba|z|da)?sh):[^\n]{0,40}(?:syntax error|parse error|unexpected EOF|permission denied)"
)
_GIT = (
    (lazy_re(r"pathspec"), lazy_re(r"checkout|add|switch|restore|rm|stash|commit")),
    (
        lazy_re(r"rejected|refspec|failed to push|protected branch|non-fast-forward|fetch first|no upstream|push"),
        lazy_re(r"push"),
    ),
    (lazy_re(r"hook|nothing to commit|Aborting commit|\.{5,}"), lazy_re(r"commit|push")),
    (lazy_re(r"CONFLICT|could not apply|merge"), lazy_re(r"merge|rebase|pull|cherry-pick|stash|revert|am")),
    (lazy_re(r"local changes|overwritten|untracked working tree"), lazy_re(r"checkout|pull|merge|rebase|switch|stash")),
    (lazy_re(r"patch"), lazy_re(r"apply|am|stash")),
    (lazy_re(r"already exists"), lazy_re(r"checkout|branch|worktree|tag|switch|clone|remote")),
    (lazy_re(r"remote ref|Could not read from remote|unable to access"), lazy_re(r"fetch|pull|push|clone|ls-remote")),
    (lazy_re(r"invalid upstream|unstaged changes"), lazy_re(r"rebase|pull")),
)


def failure_of(step: Step, command: str) -> StepFailure:
    """The step of a failed call that failed, and its errors."""
    tool = step.call.name
    if not command:
        found = read_faults(step.output, shell=False)
        if not found:
            nothing = step.action.kind in ("search", "read") and is_empty(step.output)
            found = (Fault(name=FOUND_NOTHING if nothing else WITHOUT_A_WORD),)
        return StepFailure(program=tool, shown=tool, step=None, faults=found)
    read = read_command(command)
    status = exit_status(step.output)
    by_status = read.deciding if step.result is not None and (step.result.failed is True or status) else ()
    return _FailedStepSearch(read, by_status, step.output).failure()


class _FailedStepSearch:
    """Finds the step of a command that failed. Steps are given by their index in the command."""

    def __init__(self, read: CommandLine, by_status: Sequence[int], output: str) -> None:
        self.steps = read.steps
        self.output = output
        self.can = [place for place, step in enumerate(read.steps) if not step.inner and not _never_fails(step)]
        self.pool = [place for place in by_status if place in self.can] or self.can
        self.sure = bool(by_status)
        self.broken = read.broken

    def failure(self) -> StepFailure:
        called = {head for step in self.steps for head in (*_program_names(step), *step.through)}
        found = read_faults(self.output, called=called)
        if found and found[0].name == TIMED_OUT:
            return self._make_failure(self._slow_step(), found)
        if found and (place := self._reporting_step(found[0])) is not None:
            return self._make_failure(place, found)
        if found and found[0].weight >= _SURE and not self._only_shows():
            return StepFailure(program="", shown="", step=None, faults=found)
        place = self._step_without_error_line()
        name = FOUND_NOTHING if place is not None and _searches(self.steps[place]) else WITHOUT_A_WORD
        if name == WITHOUT_A_WORD and found and not self._only_shows():
            return self._make_failure(place, found)
        return self._make_failure(place, (Fault(name=name),))

    def _make_failure(self, place: int | None, faults: tuple[Fault, ...]) -> StepFailure:
        if place is None:
            return StepFailure(program="", shown="", step=None, faults=faults)
        step = self.steps[place]
        through = next((label for label in step.through if faults and _is_printed_by(faults[0], (label,))), "")
        if through and not _is_printed_by(faults[0], _program_names(step)):
            return StepFailure(program=through, shown=through, step=step, faults=faults)
        own = step.words[0].rsplit("/", 1)[-1] if step.words else ""
        if faults and faults[0].by == {own} and "not found" in faults[0].name and own not in step.name.split():
            return StepFailure(program=own, shown=own, step=step, faults=faults)  # The interpreter of a script.
        return StepFailure(program=step.name, shown=step.shown, step=step, faults=faults)

    def _only_shows(self) -> bool:
        return all(_only_shows_files(self.steps[place]) for place in self.can)

    def _slow_step(self) -> int | None:
        slow = [
            place
            for place in self.can
            if not _only_shows_files(self.steps[place]) and not does_nothing(self.steps[place])
        ]
        timed = [place for place in slow if "timeout" in self.steps[place].through]
        return (timed or slow)[0] if len(timed or slow) == 1 else None

    def _step_without_error_line(self) -> int | None:
        """Find the failed step if no line of the output shows it."""
        if not self.pool:
            return None
        if len(self.pool) == 1:
            return self.pool[0]
        quiet = [place for place in self.pool if _searches(self.steps[place]) or self.steps[place].unheard]
        if len(quiet) == 1:
            return quiet[0]
        telling = [place for place in self.pool if not _only_shows_files(self.steps[place])]
        same = len({self.steps[place].name for place in telling}) == 1
        return telling[-1] if same and self.sure and not quiet else None

    def _reporting_step(self, fault: Fault) -> int | None:
        """Find the step that reported an error."""
        several = len({self.steps[place].name for place in self.can}) > 1
        if not fault.by and _SHELL_SPEAKS.search(fault.line) and (self.broken or several):
            return None  # The shell could not parse or start something, and doesn't say which step.
        own = [
            place
            for place in self.can
            if _is_printed_by(fault, (*_program_names(self.steps[place]), *self.steps[place].through))
        ]
        if len(fault.by) == 1 and not own:
            own = [
                place
                for place, step in enumerate(self.steps)
                if _is_printed_by(fault, _program_names(step)) or step.words[:1] == tuple(fault.by)
            ]
        if own:
            return self._choose_step([place for place in own if place in self.pool] or own, fault)
        if self._only_shows() and (fault.by or fault.weight < _SURE):
            # Programs that only show text may show errors of others; if only one step can have failed, the errors are
            # its own.
            place = self.pool[0] if self.sure and len(self.pool) == 1 else None
            return place if place is not None and self.steps[place].name in programs().commands["shows"] else None
        runs = [place for place in self.pool if _runs_others(self.steps[place])]
        runs = runs or [place for place in self.can if _runs_others(self.steps[place])]
        if fault.by and runs:
            return self._choose_step(runs, fault)
        others = [place for place in self.pool if not _only_shows_files(self.steps[place])]
        others = others or [place for place in self.can if not _only_shows_files(self.steps[place])]
        others = others or (self.pool if fault.sort == "missing" or fault.weight >= _OF_THE_SHELL else [])
        return self._choose_step(others, fault) if others else None

    def _choose_step(self, places: Sequence[int], fault: Fault) -> int | None:
        """Return the step that reported an error, of several that may have."""
        if len({self.steps[place].name for place in places}) == 1:
            return places[0]
        for better in (
            # Whose whole name is in the line: ``npm ci``.
            [place for place in places if " " in self.steps[place].name and self.steps[place].name in fault.line],
            self._task_steps(places, fault),
            self._git_steps(places, fault),
            self._steps_of_kind(places, fault),
        ):
            if len({self.steps[place].name for place in better}) == 1:
                return better[0]
        begun = [place for place in places if self._was_started(self.steps[place])]
        if begun:
            return begun[-1]
        named = [place for place in places if _names_argument(fault.line, self.steps[place])]
        if len({self.steps[place].name for place in named}) == 1:
            return named[0]
        # Nothing distinguishes them: in a chain in which each had to pass, the last that does work is the likeliest.
        working = [place for place in places if not _only_shows_files(self.steps[place])] or list(places)
        return working[0] if len({self.steps[place].name for place in working}) == 1 else None

    def _task_steps(self, places: Sequence[int], fault: Fault) -> list[int]:
        task = fault.task.split(":")[-1] if fault.task.count(":") and "/" in fault.task else fault.task
        return [place for place in places if task and task in self.steps[place].name.split()] or [
            place for place in places if task and self.steps[place].name.split()[-1:] == [task.partition(":")[0]]
        ]

    def _git_steps(self, places: Sequence[int], fault: Fault) -> list[int]:
        if "git" not in fault.by:
            return []
        for said, doing in _GIT:
            if said.search(fault.line):
                return [place for place in places if doing.search(self.steps[place].name)]
        return []

    def _steps_of_kind(self, places: Sequence[int], fault: Fault) -> list[int]:
        kind = _KINDS.get(fault.sort)
        if kind is None:
            return []
        if fault.sort == "build" and "build failed]" in self.output:
            kind = _KINDS["tests"]
        found = [place for place in places if kind.search(self.steps[place].name)]
        exact = [place for place in found if re.search(rf"\b{fault.sort.rstrip('s')}", self.steps[place].name)]
        return exact or found

    def _was_started(self, step: ShellStep) -> bool:
        """Whether the output shows that a task runner started it."""
        words = step.name.split()
        if len(words) < 2:
            return False
        task = re.escape(words[-1])
        return bool(
            re.search(
                rf"(?m)^(?:> \S+@\S* {task}$|\[{task}\]|task: \[{task}\]|\$ .*\b{task}\b|g?make.*\b{task}\] )",
                self.output,
            )
        )


def _program_names(step: ShellStep) -> tuple[str, ...]:
    words = step.name.split()
    program = step.words[0].rsplit("/", 1)[-1] if step.words else ""
    script = step.words[1].rsplit("/", 1)[-1] if len(step.words) > 1 else ""
    heads = [step.name, *(" ".join(words[:count]) for count in (1, 2)), program, step.words[0] if step.words else ""]
    if script and script in step.name:
        heads.append(script)
    if words and words[0].endswith(".py"):
        heads.append("python")
    if words and re.search(r"\.[cm]?[jt]s$", words[0]):
        heads.append("node")
    return tuple(head for head in heads if head)


def _is_printed_by(fault: Fault, heads: Iterable[str]) -> bool:
    return not fault.by.isdisjoint(heads)


def _never_fails(step: ShellStep) -> bool:
    return not step.words or step.words[0] in programs().never_fails


def _searches(step: ShellStep) -> bool:
    return step.name in programs().commands["searches"]


def _only_shows_files(step: ShellStep) -> bool:
    """Whether a step only shows, moves or copies, so that errors in its output are not its own."""
    known, head = programs(), step.name.partition(" ")[0]
    return head in known.looks_only or head in known.moves or head == "test" or step.name in known.commands["shows"]


def _runs_others(step: ShellStep) -> bool:
    """Whether a step may run programs that its words don't name: a task runner, a script, an unknown program."""
    known, head = programs(), step.name.partition(" ")[0]
    if not head:
        return bool(step.words)
    if head in known.shells or not known.commands["starts_others"].isdisjoint((head, step.name)):
        return True
    return head not in known.files and head not in known.commands["starts_nothing"]


def _names_argument(line: str, step: ShellStep) -> bool:
    """Whether a line names an argument of a step that is long enough for this to be no coincidence."""
    return any(len(word) > 3 and word in line for word in step.words[1:])


class RunMaterial(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One run, or a window of it; its times are those of its messages (`message.draft.at`), if the log has any."""

    session: str
    source: str = ""
    """The name of its log format; empty where it was appended."""
    project: str = ""
    """The project that it worked on; empty if it is unknown."""
    outcome: RunOutcome = "unknown"
    """Its result according to the log: what a failed run did is not a remedy for anything."""
    noted: tuple[NotedWords, ...] = ()
    """The summary of the run in its log."""
    messages: tuple[Message, ...]
    """The messages of speakers on its main path, in order, without messages of a harness and summaries by other
    tools."""
    put_in: tuple[Message, ...] = ()
    """Messages of the harness in the user's place."""


def run_steps(material: RunMaterial) -> list[Step]:
    """The calls of a run in order, each with its result."""
    return steps(material.messages)


def command_of(call: Call) -> str:
    """The command line of a call of a shell; empty for other calls."""
    return command_in(call.arguments)


CHARACTERS_A_TOKEN = 4
AWAY_SECONDS = 600.0
"""After a longer wait for a result somebody was away, and not working."""
_SCRIPT = lazy_re(r"\.(?:py|sh|js|ts|rb|go)\Z")


class TriedCall(Struct, frozen=True, kw_only=True, gc=False):
    """A call that has an outcome."""

    step: Step
    shell: bool
    """Whether it runs a command line."""
    path: str
    """The one file or folder among the arguments of another tool; empty if there is none."""
    program: str
    """The program or tool that failed or worked: ``go test``, ``Edit``; an interpreter, where it ran a temporary
    script. Empty if it is unknown which step of a command failed, so that nothing can be learned from it."""
    shown: str
    """The program as it is displayed: with its wrappers, and its folder where that is one of the project."""
    unread: bool
    """It changes a file that the run has neither read nor written before."""
    worked: bool
    faults: tuple[str, ...]
    """The names of its errors, the most important first; empty if it worked, or its failure is ignored."""
    told: tuple[Fault, ...]
    """The errors with the lines that report them; empty if no line does."""
    tokens: int
    """The cost of reading the call and its result, estimated from their length."""
    seconds: float
    at: datetime | None

    @property
    def tool(self) -> str:
        """The name of the tool."""
        return self.step.call.name

    @property
    def command_line(self) -> str:
        """The command line; empty for a tool that is not a shell."""
        return command_of(self.step.call)


def tried_calls(material: RunMaterial) -> list[TriedCall]:
    """The calls of a run that have an outcome, in order, without those that were refused or interrupted."""
    times = {message.id: message.draft.at for message in material.messages}
    written: set[str] = set()
    met: set[str] = set()
    out: list[TriedCall] = []
    for step in run_steps(material):
        counts = step.failed_itself
        if step.result is None or (step.failed and not counts):
            continue
        command = command_of(step.call)
        path = "" if command else _path(step.call)
        changes = step.action.kind in CHANGES
        if changes:
            written.add(_file_name(step.action.subject))
        written.update(_file_name(name) for each in shell_steps(command) for name in each.writes)
        failure = failure_of(step, command) if counts else None
        program, shown = _program_of(step.call, command, failure, written)
        began, ended = times.get(step.source), times.get(step.answer) if step.answer else None
        waited = (ended - began).total_seconds() if began and ended else 0.0
        out.append(
            TriedCall(
                step=step,
                shell=bool(command),
                path=path,
                program=program,
                shown=shown,
                unread=changes and bool(path) and path not in met,
                worked=not step.failed,
                faults=failure.names if failure is not None else (),
                told=failure.faults if failure is not None else (),
                tokens=(len(step.command) + len(step.output)) // CHARACTERS_A_TOKEN,
                seconds=waited if 0 < waited <= AWAY_SECONDS else 0.0,
                at=ended or began,
            )
        )
        if path and not step.failed:
            met.add(path)
    return out


def _path(call: Call) -> str:
    given = call.arguments if isinstance(call.arguments, dict) else {}
    return next((value for key in PATH_KEYS if isinstance(value := given.get(key), str) and value), "")


def _program_of(call: Call, command: str, failure: StepFailure | None, written: Collection[str]) -> tuple[str, str]:
    """The program that failed, or the main one of the call: its name, and as it is displayed.

    A script that the run wrote itself is named by its interpreter.
    """
    if not command:
        return call.name, call.name
    main = failure.step if failure is not None else main_step(command)
    name = failure.program if failure is not None else main.name if main is not None else call.name
    shown = failure.shown if failure is not None else main.shown if main is not None else ""
    temporary = main is not None and any("/tmp/" in f"/{word}" for word in main.words[:2])
    if main is not None and (name in written or (_SCRIPT.search(name) and temporary)):
        own = "python" if name.endswith(".py") else name.rpartition(".")[2]
        return own, own
    return name, shown or name


def _file_name(path: str) -> str:
    return path.rstrip("/").rsplit("/", 1)[-1]
