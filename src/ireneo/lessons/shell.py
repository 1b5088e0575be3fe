"""The calls of a run: the shape of each, which program or tool it used, whether it worked, and what went wrong."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from datetime import datetime

import msgspec
from msgspec import Struct

from ireneo.lessons.commands import LONGEST_COMMAND, ShellStep, command_in, main_step, read_command, shell_steps
from ireneo.lessons.failing import StepFailure, failure_of
from ireneo.lessons.faults import Fault
from ireneo.lessons.labels import NotedWords, RunOutcome
from ireneo.lessons.naming import program_name
from ireneo.lessons.programs import INTERPRETER, SHELLS
from ireneo.log.message import Call, Message
from ireneo.memories.signature import action_signature, quoted_as
from ireneo.patterns import lazy_re
from ireneo.summaries.steps import CHANGES, ActionKind, Step, steps, understand


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
_CD = lazy_re(r"(?:^|&&|;|\n)[^\S\n]*cd\s+([^\s;&|]+)")


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
