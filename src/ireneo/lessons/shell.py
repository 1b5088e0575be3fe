"""The calls of a run: the shape of each, which program or tool it used, whether it worked, and what went wrong."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

import msgspec
from msgspec import Struct

from ireneo.lessons.commands import (
    LONGEST_COMMAND,
    CommandLine,
    ShellStep,
    command_in,
    does_nothing,
    main_step,
    read_command,
    shell_steps,
)
from ireneo.lessons.faults import (
    FOUND_NOTHING,
    TIMED_OUT,
    WITHOUT_A_WORD,
    Fault,
    is_empty,
    read_faults,
)
from ireneo.lessons.naming import INTERPRETER, LOOKS_ONLY, MOVES, NEVER_FAILS, PLAIN_PROGRAMS, SHELLS, program_name
from ireneo.lessons.run import NotedWords, RunOutcome
from ireneo.log.message import Call, Message
from ireneo.memories.signature import action_signature, quoted_as
from ireneo.patterns import lazy_re
from ireneo.summaries.steps import CHANGES, ActionKind, Step, exit_status, steps, understand

# Which step of a command failed: by the exit status, where the structure tells, and by what the output says.


class StepFailure(Struct, frozen=True, kw_only=True):
    """What failed of a call, and how."""

    program: str
    """The step that failed, by its name; empty where it can't be told."""
    shown: str
    step: ShellStep | None
    faults: tuple[Fault, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of what went wrong; at least one."""
        return tuple(each.name for each in self.faults) or (WITHOUT_A_WORD,)


SEARCHES = frozenset(
    "grep rg ag ack pgrep lsof which type command diff cmp test find fd jq git_grep git_diff git_ls-files pidof".split()
)
"""Programs that end with a failing status where nothing is found, or where two things differ."""
_SHOWS_TOO = frozenset(
    "git log,git show,git diff,git blame,git status,git grep,gh run view,gh pr view,gh issue view,gh api,gh pr diff"
    ",docker logs,kubectl logs,docker compose logs,journalctl,dmesg,column,bat,perl,od,xxd,strings,history".split(",")
)
_OF_THE_SHELL = 88
_SURE = 60
"""Weight of a line that only one sort of program prints."""
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
    """What failed of a call that did, and how."""
    tool = step.call.name
    if not command:
        found = read_faults(step.output, shell=False)
        return StepFailure(program=tool, shown=tool, step=None, faults=found or _nothing(step, step.output))
    read = read_command(command)
    status = exit_status(step.output)
    by_status = read.deciding if step.result is not None and (step.result.failed is True or status) else ()
    return _Search(read, by_status, step.output).failure()


def _nothing(step: Step, output: str) -> tuple[Fault, ...]:
    found = step.action.kind in ("search", "read") and is_empty(output)
    return (Fault(name=FOUND_NOTHING if found else WITHOUT_A_WORD),)


class _Search:
    """Looks for the step of a command that failed."""

    def __init__(self, read: CommandLine, by_status: Sequence[int], output: str) -> None:
        self.steps = read.steps
        self.output = output
        self.can = [place for place, step in enumerate(read.steps) if not step.inner and not _never_fails(step)]
        self.pool = [place for place in by_status if place in self.can] or self.can
        self.sure = bool(by_status)
        self.broken = read.broken

    def failure(self) -> StepFailure:
        called = {head for step in self.steps for head in (*_heads(step), *step.through)}
        found = read_faults(self.output, called=called)
        if found and found[0].name == TIMED_OUT:
            return self._is(self._slow(), found)
        if found and (place := self._teller(found[0])) is not None:
            return self._is(place, found)
        if found and found[0].weight >= _SURE and not self._only_shows():
            return StepFailure(program="", shown="", step=None, faults=found)
        place = self._without_words()
        name = FOUND_NOTHING if place is not None and _searches(self.steps[place]) else WITHOUT_A_WORD
        if name == WITHOUT_A_WORD and found and not self._only_shows():
            return self._is(place, found)
        return self._is(place, (Fault(name=name),))

    def _is(self, place: int | None, faults: tuple[Fault, ...]) -> StepFailure:
        if place is None:
            return StepFailure(program="", shown="", step=None, faults=faults)
        step = self.steps[place]
        through = next((label for label in step.through if faults and _is_by(faults[0], (label,))), "")
        if through and not _is_by(faults[0], _heads(step)):
            return StepFailure(program=through, shown=through, step=step, faults=faults)
        own = step.words[0].rsplit("/", 1)[-1] if step.words else ""
        if faults and faults[0].by == {own} and "not found" in faults[0].name and own not in step.name.split():
            return StepFailure(program=own, shown=own, step=step, faults=faults)  # The interpreter of a script.
        return StepFailure(program=step.name, shown=step.shown, step=step, faults=faults)

    def _only_shows(self) -> bool:
        return all(_shows(self.steps[place]) for place in self.can)

    def _slow(self) -> int | None:
        slow = [place for place in self.can if not _shows(self.steps[place]) and not does_nothing(self.steps[place])]
        timed = [place for place in slow if "timeout" in self.steps[place].through]
        return (timed or slow)[0] if len(timed or slow) == 1 else None

    def _without_words(self) -> int | None:
        """The step that failed where no line says so."""
        if not self.pool:
            return None
        if len(self.pool) == 1:
            return self.pool[0]
        quiet = [place for place in self.pool if _searches(self.steps[place]) or self.steps[place].unheard]
        if len(quiet) == 1:
            return quiet[0]
        telling = [place for place in self.pool if not _shows(self.steps[place])]
        same = len({self.steps[place].name for place in telling}) == 1
        return telling[-1] if same and self.sure and not quiet else None

    def _teller(self, fault: Fault) -> int | None:
        """The step that an error is of."""
        several = len({self.steps[place].name for place in self.can}) > 1
        if not fault.by and _SHELL_SPEAKS.search(fault.line) and (self.broken or several):
            return None  # The shell could not read or begin something: which of them, it does not say.
        own = [place for place in self.can if _is_by(fault, (*_heads(self.steps[place]), *self.steps[place].through))]
        if len(fault.by) == 1 and not own:
            own = [
                place
                for place, step in enumerate(self.steps)
                if _is_by(fault, _heads(step)) or step.words[:1] == tuple(fault.by)
            ]
        if own:
            return self._one_of([place for place in own if place in self.pool] or own, fault)
        if self._only_shows() and (fault.by or fault.weight < _SURE):
            # What only shows may show errors of others; but where it failed, and finds nothing else, they are its own.
            place = self.pool[0] if self.sure and len(self.pool) == 1 else None
            return place if place is not None and self.steps[place].name in _SHOWS_TOO else None
        runs = [place for place in self.pool if _runs_others(self.steps[place])]
        runs = runs or [place for place in self.can if _runs_others(self.steps[place])]
        if fault.by and runs:
            return self._one_of(runs, fault)
        others = [place for place in self.pool if not _shows(self.steps[place])]
        others = others or [place for place in self.can if not _shows(self.steps[place])]
        others = others or (self.pool if fault.sort == "missing" or fault.weight >= _OF_THE_SHELL else [])
        return self._one_of(others, fault) if others else None

    def _one_of(self, places: Sequence[int], fault: Fault) -> int | None:
        """Of several steps that may have printed it, the one that did."""
        if len({self.steps[place].name for place in places}) == 1:
            return places[0]
        for better in (
            self._said(places, fault),
            self._of_task(places, fault),
            self._of_git(places, fault),
            self._of_kind(places, fault),
        ):
            if len({self.steps[place].name for place in better}) == 1:
                return better[0]
        begun = [place for place in places if self._began(self.steps[place])]
        if begun:
            return begun[-1]
        named = [place for place in places if _names(fault.line, self.steps[place])]
        if len({self.steps[place].name for place in named}) == 1:
            return named[0]
        # Nothing tells them apart: of a chain where each had to pass, the last that does work is the likeliest.
        working = [place for place in places if not _shows(self.steps[place])] or list(places)
        return working[0] if len({self.steps[place].name for place in working}) == 1 else None

    def _said(self, places: Sequence[int], fault: Fault) -> list[int]:
        """The steps that the line names as a whole: ``npm ci``."""
        return [place for place in places if " " in self.steps[place].name and self.steps[place].name in fault.line]

    def _of_task(self, places: Sequence[int], fault: Fault) -> list[int]:
        task = fault.task.split(":")[-1] if fault.task.count(":") and "/" in fault.task else fault.task
        return [place for place in places if task and task in self.steps[place].name.split()] or [
            place for place in places if task and self.steps[place].name.split()[-1:] == [task.partition(":")[0]]
        ]

    def _of_git(self, places: Sequence[int], fault: Fault) -> list[int]:
        if "git" not in fault.by:
            return []
        for said, doing in _GIT:
            if said.search(fault.line):
                return [place for place in places if doing.search(self.steps[place].name)]
        return []

    def _of_kind(self, places: Sequence[int], fault: Fault) -> list[int]:
        kind = _KINDS.get(fault.sort)
        if kind is None:
            return []
        if fault.sort == "build" and "build failed]" in self.output:
            kind = _KINDS["tests"]
        found = [place for place in places if kind.search(self.steps[place].name)]
        exact = [place for place in found if re.search(rf"\b{fault.sort.rstrip('s')}", self.steps[place].name)]
        return exact or found

    def _began(self, step: ShellStep) -> bool:
        """Whether the output shows that a task runner began with it."""
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


def _heads(step: ShellStep) -> tuple[str, ...]:
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


def _is_by(fault: Fault, heads: Iterable[str]) -> bool:
    return not fault.by.isdisjoint(heads)


def _never_fails(step: ShellStep) -> bool:
    return not step.words or step.words[0] in NEVER_FAILS


def _searches(step: ShellStep) -> bool:
    return step.name in SEARCHES or step.name.replace(" ", "_") in SEARCHES


def _shows(step: ShellStep) -> bool:
    """Whether a step only shows, moves or copies, so that errors in its output are not its own."""
    head = step.name.partition(" ")[0]
    return head in LOOKS_ONLY or head in MOVES or head == "test" or step.name in _SHOWS_TOO


def _runs_others(step: ShellStep) -> bool:
    """Whether a step may run programs that its words don't name: a task runner, a script, an unknown program."""
    head = step.name.partition(" ")[0]
    if not head:
        return bool(step.words)
    runs_no_others = head in PLAIN_PROGRAMS or head in _RUNS_NO_OTHERS
    return not runs_no_others or head in SHELLS or head in _MAY_RUN or step.name in _RUN_HOOKS


_RUNS_NO_OTHERS = frozenset(
    "git gh pip apt apt-get brew ruff terraform kubectl helm aws gcloud az systemctl cd".split()
)
_RUN_HOOKS = frozenset({"git commit", "git push", "git merge", "git rebase"})
_MAY_RUN = frozenset("python node ruby perl php eval source parallel concurrently cmake ctest".split())


def _names(line: str, step: ShellStep) -> bool:
    """Whether a line names something that stands among a step's words and is long enough to be no accident."""
    return any(len(word) > 3 and word in line for word in step.words[1:])


# The calls of a run: the shape of each, which program or tool it used, whether it worked, and what went wrong.


class RunMaterial(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One run, read whole. Its times are those of its messages (`message.draft.at`), where the log has any."""

    session: str
    source: str = ""
    """The name of the log format it came from; empty where it was appended."""
    project: str = ""
    """Where it worked; empty where nothing tells."""
    outcome: RunOutcome = "unknown"
    """How it came out, as its log says: what a failed run did is no remedy for anything."""
    noted: tuple[NotedWords, ...] = ()
    """What its log sums up of it."""
    messages: tuple[Message, ...]
    """What was spoken on its main path, in order: nothing that a harness put in, no other tool's summary."""
    put_in: tuple[Message, ...] = ()
    """What a harness said there in the user's place."""


def run_steps(material: RunMaterial) -> list[Step]:
    """The calls of a run in order, each with what came back."""
    return steps(material.messages)


_ACTION_CHARACTERS = 600
_ARGUMENT_CHARACTERS = 120

_HEREDOC = lazy_re(r"<<-?\s*+(['\"]?)(\w++)\1[^\n]{0,1000}+\n.*?(?:^[^\S\n]*+\2\s*$|\Z)", re.S | re.M)
_REDIRECT = lazy_re(r"(?:(?<!\d)\d++)?>{1,2}(?:&\d|\s*\S+)|\d>&\d")
_PATH = lazy_re(r"(?<![\w.@+~-])(?:[\w.@+~-]*/)+[\w.@+~-]*|\b[\w@+-][\w.@+-]{0,255}\.[A-Za-z]\w{0,7}\b")


class Shape(Struct, frozen=True, kw_only=True):
    """A call, as far as its outcome may hang on it."""

    tool: str
    kind: ActionKind
    exact: str
    """The tool with exactly these arguments."""
    action: str
    """The same without folders, numbers, and what is quoted."""
    program: str
    """The program that does the work, with its subcommand; the tool, where it is no shell."""
    decider: str
    """The program whose exit status is the call's: the last one of the last pipe. Empty where it is no shell."""
    shell: bool
    path: str
    """The one file or folder that it is about; empty where it has none, or several."""
    paths: tuple[str, ...]
    """What a command names that looks like a file."""
    pattern: str
    """What it searches for."""
    removed: str
    added: str
    everywhere: bool
    """An edit that is meant for each place where its text stands."""
    whole: bool
    """A reading or writing of the whole file, and not of some lines."""
    script: str
    """The file that an interpreter runs, or that is run itself."""
    writes: tuple[str, ...]
    """Files that a command writes by redirection."""
    folder: str
    """Where a command goes first; empty where it stays."""
    keys: str
    """The names of its arguments."""


def shape(call: Call) -> Shape:
    """Say what of `call` decides whether it works."""
    given = call.arguments if isinstance(call.arguments, dict) else {}
    action = understand(call)
    command = command_of(call)
    lines = quoted_as("''", _HEREDOC.sub("<<''\n", command[:LONGEST_COMMAND]).replace("\\\n", " "))
    named = tuple(dict.fromkeys(_PATH.findall(_REDIRECT.sub(" ", lines))))
    path = "" if command else _text(given, _PATHS)
    pattern = _text(given, ("pattern", "query", "regex")) or (_pattern(command) if command else "")
    read = read_command(command)
    main = main_step(command) if command else None
    program = main.name if main is not None else call.name
    return Shape(
        tool=call.name,
        kind="check" if action.kind == "run" and main is not None and _CHECKS.match(program) else action.kind,
        exact=f"{call.name} {_canonical(call.arguments)}",
        action=_action(call, path, lines),
        program=program,
        decider=read.steps[read.deciding[-1]].name if read.deciding else "",
        shell=bool(command),
        path=path,
        paths=named[:24],
        pattern=pattern[:400],
        removed=action.removed if not action.shell and not command else "",
        added=action.added if not command else "",
        everywhere=given.get("replace_all") is True,
        whole=not any(key in given for key in ("offset", "limit", "view_range", "start_line", "end_line")),
        script=_script(main.words) if main is not None else "",
        writes=tuple(dict.fromkeys(name for step in shell_steps(command) for name in step.writes)),
        folder=next((step.folder for step in shell_steps(command) if step.folder), ""),
        keys=",".join(sorted(str(key) for key in given)),
    )


_CHECKS = lazy_re(
    r"(?:(?:\w+/)?(?:test|repro[^\W_]*+|check|verify)(?:_[\w.]*)?(?:\.(?:sh|py))?"
    r"|sphinx-build|pylint|mypy|flake8|pytest|tox(?: -e \S+)?|nox(?: -s \S+)?|ruff(?: check)?)\Z"
)
"""Programs that are run to see whether something holds, however they are started."""
_PATHS = ("file_path", "path", "filename", "file", "notebook_path", "target_file", "relative_path", "AbsolutePath")


def _action(call: Call, path: str, lines: str) -> str:
    """What is done, without where: a tool for files with the file's name, a command with its programs and options."""
    if path:
        return f"{call.name.lower()}: {path.rstrip('/').rsplit('/', 1)[-1]}"
    if lines:
        return action_signature(call.name, {"command": lines[:_ACTION_CHARACTERS]})
    if isinstance(call.arguments, str):
        return action_signature(call.name, call.arguments[:_ACTION_CHARACTERS])
    told = {
        key: value[:_ARGUMENT_CHARACTERS] if isinstance(value, str) else value for key, value in call.arguments.items()
    }
    return action_signature(
        call.name, {key: value for key, value in told.items() if isinstance(value, str | int | bool)}
    )


def command_of(call: Call) -> str:
    """The command line of a call of a shell; empty where it is none."""
    return command_in(call.arguments)


def _text(given: dict[str, object], keys: tuple[str, ...]) -> str:
    return next((value for key in keys if isinstance(value := given.get(key), str) and value), "")


def _canonical(arguments: dict[str, object] | str) -> str:
    if isinstance(arguments, str):
        return arguments
    return msgspec.json.encode(arguments, order="deterministic").decode()


def _script(words: Sequence[str]) -> str:
    """The file that an interpreter runs, or that is run itself."""
    if not words:
        return ""
    if INTERPRETER.match(program_name(words[0])) or words[0] in SHELLS:
        return next((word for word in words[1:] if _PATH.fullmatch(word)), "") if "-m" not in words else ""
    return words[0] if words[0].startswith("./") and "." in program_name(words[0]) else ""


_GREP = lazy_re(
    r"\b(?:e|f)?(?:grep|rg|ag)\s+(?:-[\w-]+(?:[= ]\d+)?\s+){0,20}"
    r"(?:\"((?:\\.|[^\"\\])*)\"|'([^']*)'|([^\s|;&'\"-][^\s|;&]*))"
)


def _pattern(command: str) -> str:
    found = list(_GREP.finditer(command[:LONGEST_COMMAND]))
    return next((group for group in found[-1].groups() if group), "") if found else ""


CHARACTERS_A_TOKEN = 4
AWAY_SECONDS = 600.0
"""A longer wait for a result is no work: somebody was away."""

_SCRIPT = lazy_re(r"\.(?:py|sh|js|ts|rb|go)\Z")


class TriedCall(Struct, frozen=True, kw_only=True):
    """A call that has an outcome."""

    step: Step
    place: int
    shape: Shape
    program: str
    """Which program or tool failed or worked: ``go test``, ``Edit``; an interpreter, where it ran a passing script.
    Empty where nothing tells which step of a command failed: nothing is to be learned from it."""
    shown: str
    """The same as it was called: with its wrappers, and its folder where that is one of the project."""
    unread: bool
    """It changes a file that the run has neither read nor written before."""
    worked: bool
    faults: tuple[str, ...]
    """What went wrong, the error that counts first; empty where it worked, or where its failure doesn't count."""
    told: tuple[Fault, ...]
    """The same with the lines that tell it; empty where none does."""
    tokens: int
    """What the call and its result cost to read, by their characters."""
    seconds: float
    at: datetime | None


def tried_calls(material: RunMaterial) -> list[TriedCall]:
    """The calls of a run that have an outcome, in order; those that were refused or interrupted are none."""
    times = {message.id: message.draft.at for message in material.messages}
    written: set[str] = set()
    met: set[str] = set()
    out: list[TriedCall] = []
    for place, step in enumerate(run_steps(material)):
        counts = step.failed_itself
        if step.result is None or (step.failed and not counts):
            continue
        form = shape(step.call)
        if step.action.kind in CHANGES:
            written.add(_file_name(step.action.subject))
        written.update(_file_name(name) for name in form.writes)
        failure = failure_of(step, command_of(step.call)) if counts else None
        done = _done(form, failure.step if failure is not None else main_step(command_of(step.call)), failure, written)
        began, ended = times.get(step.source), times.get(step.answer) if step.answer else None
        waited = (ended - began).total_seconds() if began and ended else 0.0
        out.append(
            TriedCall(
                step=step,
                place=place,
                shape=form,
                program=done[0],
                shown=done[1],
                unread=step.action.kind in CHANGES and not form.shell and bool(form.path) and form.path not in met,
                worked=not step.failed,
                faults=failure.names if failure is not None else (),
                told=failure.faults if failure is not None else (),
                tokens=(len(step.command) + len(step.output)) // CHARACTERS_A_TOKEN,
                seconds=waited if 0 < waited <= AWAY_SECONDS else 0.0,
                at=ended or began,
            )
        )
        if form.path and not step.failed:
            met.add(form.path)
    return out


def _done(
    form: Shape, step: ShellStep | None, failure: StepFailure | None, written: Collection[str]
) -> tuple[str, str]:
    """What a call is called: the program that failed, or that it is about; a passing script by its interpreter."""
    if not form.shell:
        return form.tool, form.tool
    name, shown = (
        (failure.program, failure.shown) if failure is not None else (form.program, step.shown if step else "")
    )
    if step is not None and (
        name in written or (_SCRIPT.search(name) and any("/tmp/" in f"/{word}" for word in step.words[:2]))
    ):
        own = "python" if name.endswith(".py") else name.rpartition(".")[2]
        return own, own
    return name, shown or name


def _file_name(path: str) -> str:
    return path.rstrip("/").rsplit("/", 1)[-1]
