"""The calls of a run: the shape of each, which program or tool it used, whether it worked, and what went wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import islice

import msgspec
from msgspec import Struct

from ireneo.grounding.neutral import instruction_like
from ireneo.lessons.labels import RunOutcome
from ireneo.log.message import Call, Message
from ireneo.memories.signature import action_signature, error_signature, quoted_as
from ireneo.patterns import lazy_re
from ireneo.summaries.steps import CHANGES, ActionKind, Step, error_line, steps, understand


class RunMaterial(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One run, read whole. Its times are those of its messages (`message.draft.at`), where the log has any."""

    session: str
    source: str = ""
    """The name of the log format it came from; empty where it was appended."""
    project: str = ""
    """Where it worked; empty where nothing tells."""
    outcome: RunOutcome = "unknown"
    """How it came out, as its log says: what a failed run did is no remedy for anything."""
    messages: tuple[Message, ...]
    """What was spoken on its main path, in order: nothing that a harness put in, no other tool's summary."""


def run_steps(material: RunMaterial) -> list[Step]:
    """The calls of a run in order, each with what came back."""
    return steps(material.messages)


LONGEST_COMMAND = 20_000
"""Characters of a command that are looked at."""
_CLASS_CHARACTERS = 90
_ACTION_CHARACTERS = 600
_ARGUMENT_CHARACTERS = 120

_HEREDOC = lazy_re(r"<<-?\s*+(['\"]?)(\w++)\1[^\n]{0,1000}+\n.*?(?:^[^\S\n]*+\2\s*$|\Z)", re.S | re.M)
_STEPS = lazy_re(r"&&|\|\||[;\n]")
_PIPE = lazy_re(r"(?<!\|)\|(?!\|)")
_BEFORE = lazy_re(
    r"^(?:(?:\w+=\S*|sudo|env|time|nice|nohup|exec|command|timeout(?: -\S+)* \S+"
    r"|(?:conda|mamba|micromamba) run(?: (?:-[np]|--name|--prefix) \S+| --?[\w=-]+)*)\s+)+"
)
"""What stands before the program that does the work."""
_SAYS_NOTHING = lazy_re(r"^(?:cd|pushd|popd|export|source|\.(?=\s)|set|unset|true|sleep|echo|pwd|printf)\b|^#|^\W*$")
_REDIRECT = lazy_re(r"(?:(?<!\d)\d++)?>{1,2}(?:&\d|\s*\S+)|\d>&\d")
_MANIFOLD = frozenset(
    "apt apt-get brew bun bundle cargo composer conda docker dotnet gh git go gradle helm just kubectl make mise mvn"
    " nix npm npx pip pip3 pnpm podman poetry rails rake rustup systemctl terraform uv yarn".split()
)
"""Programs whose first plain words say what they do: ``git push`` is another thing than ``git log``."""
_RUNS_OTHERS = frozenset("run exec tool x pr issue api repo release compose".split())
_WORD = lazy_re(r"[a-z][\w:-]*\Z")
_INTERPRETER = lazy_re(r"(?:python|node|ruby|perl|bash|sh|zsh|deno|php|ts-node|tsx|Rscript|lua|julia)[\d.]*\Z")
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
    command = "" if isinstance(call.arguments, str) else _command(given)
    lines = quoted_as("''", _HEREDOC.sub("<<''\n", command[:LONGEST_COMMAND]).replace("\\\n", " "))
    pipe = _telling_steps(lines)
    words = pipe[0].split() if pipe else []
    named = tuple(dict.fromkeys(_PATH.findall(_REDIRECT.sub(" ", lines))))
    moved = _CD.search(command[:LONGEST_COMMAND]) if command else None
    path = "" if command else _text(given, _PATHS)
    pattern = _text(given, ("pattern", "query", "regex")) or (_pattern(command) if command else "")
    program = _program(words) if words else call.name
    return Shape(
        tool=call.name,
        kind="check" if action.kind == "run" and words and _CHECKS.match(program) else action.kind,
        exact=f"{call.name} {_canonical(call.arguments)}",
        action=_action(call, path, lines),
        program=program,
        decider=_program_name(pipe[-1].split()[0]) if pipe and pipe[-1].split() else "",
        shell=bool(command),
        path=path,
        paths=named[:24],
        pattern=pattern[:400],
        removed=action.removed if not action.shell and not command else "",
        added=action.added if not command else "",
        everywhere=given.get("replace_all") is True,
        whole=not any(key in given for key in ("offset", "limit", "view_range", "start_line", "end_line")),
        script=_script(words) if words else "",
        writes=tuple(dict.fromkeys(_WRITES.findall(command[:LONGEST_COMMAND]))) if command else (),
        folder=moved[1].strip("'\"") if moved else "",
        keys=",".join(sorted(str(key) for key in given)),
    )


_CHECKS = lazy_re(
    r"(?:(?:test|repro[^\W_]*+|check|verify)(?:_[\w.]*)?(?:\.(?:sh|py))?"
    r"|sphinx-build|pylint|mypy|flake8|pytest|tox|nox|ruff)\Z"
)
"""Programs that are run to see whether something holds, however they are started."""
_WRITES = lazy_re(r"(?<![\d<>&=-])>{1,2}\s*([\w./~@+-]*[A-Za-z][\w./~@+-]*)")
_PATHS = ("file_path", "path", "filename", "file", "notebook_path", "target_file", "relative_path", "AbsolutePath")
_COMMANDS = ("command", "cmd", "script", "bash", "CommandLine")


def error_class(output: str) -> str:
    """What sort of error an output tells of, in a few words that are the same wherever it happens."""
    return error_signature(output).split("; ", 1)[0].removeprefix("<tool_use_error>")[:_CLASS_CHARACTERS].strip()


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


def _command(given: dict[str, object]) -> str:
    for key in _COMMANDS:
        value = given.get(key)
        if isinstance(value, str) and value and not isinstance(given.get("path"), str):
            return value
        if isinstance(value, Sequence) and not isinstance(value, str | bytes):
            return " ".join(str(word) for word in value)
    return ""


def _text(given: dict[str, object], keys: tuple[str, ...]) -> str:
    return next((value for key in keys if isinstance(value := given.get(key), str) and value), "")


def _canonical(arguments: dict[str, object] | str) -> str:
    if isinstance(arguments, str):
        return arguments
    return msgspec.json.encode(arguments, order="deterministic").decode()


def _telling_steps(lines: str) -> list[str]:
    """The programs of the pipe that a command is about: of several steps the last that does something."""
    steps = [step.strip() for step in _STEPS.split(_REDIRECT.sub(" ", lines))]
    telling = [step for step in steps if step and not _SAYS_NOTHING.match(step)] or [step for step in steps if step]
    return [_BEFORE.sub("", each.strip()) for each in _PIPE.split(telling[-1])] if telling else []


def _program_name(word: str) -> str:
    return word.rsplit("/", 1)[-1] or word


def _program(words: Sequence[str]) -> str:
    name = _program_name(words[0])
    rest = [word for word in words[1:] if word not in ("''", "--")]
    if _INTERPRETER.match(name):
        if "-m" in rest and rest.index("-m") + 1 < len(rest):
            return rest[rest.index("-m") + 1]
        if any(word in ("-c", "-e") for word in rest[:3]):
            return f"{name.rstrip('0123456789.')} -c"
        script = next((word for word in rest if not word.startswith("-")), "")
        return _program_name(script) if script and script != "<<" else name.rstrip("0123456789.")
    if name not in _MANIFOLD:
        return name
    said: list[str] = []
    for word in rest:
        if not _WORD.match(word) or len(said) == 2:
            break
        said.append(word)
        if word not in _RUNS_OTHERS:
            break
    return " ".join((name, *said))


def _script(words: Sequence[str]) -> str:
    if _INTERPRETER.match(_program_name(words[0])):
        return next((word for word in words[1:] if _PATH.fullmatch(word)), "") if "-m" not in words else ""
    return words[0] if words[0].startswith("./") and "." in _program_name(words[0]) else ""


_GREP = lazy_re(
    r"\b(?:e|f)?(?:grep|rg|ag)\s+(?:-[\w-]+(?:[= ]\d+)?\s+){0,20}"
    r"(?:\"((?:\\.|[^\"\\])*)\"|'([^']*)'|([^\s|;&'\"-][^\s|;&]*))"
)


def _pattern(command: str) -> str:
    found = list(_GREP.finditer(command[:LONGEST_COMMAND]))
    return next((group for group in found[-1].groups() if group), "") if found else ""


# What went wrong, told so that the same error elsewhere is the same: the words of the error without its accidents.
#
# A fault is a quotation of the output in which whatever is of one run only (paths, numbers, names of the code at hand)
# has given way to an ellipsis. So it serves as the name of an error, and may stand in a lesson as what was read.


MOST_FAULTS = 3
"""Errors that are told apart in one output: a linter names several."""
FOUND_NOTHING = "<nothing>"
"""A search that ends with a failing status because nothing is there."""
TIMED_OUT = "<timeout>"
TESTS_FAILED = "<tests>"
WITHOUT_A_WORD = "<silent>"
"""The codes of faults that no words of an output name; an error's name has no angle brackets."""
_LOOKED_AT = 40_000
_WORDS = 9
_CHARACTERS = 80

_TOOL_ERROR = lazy_re(r"<tool_use_error>\s*(.+?)(?:</tool_use_error>|\n|\Z)", re.S)
_SOUNDS_WRONG = lazy_re(
    r"error|fail|cannot|can't|could not|not |no such|denied|invalid|illegal|missing|unknown|unable|✗|\bE[A-Z]{3,}\b",
    re.I,
)
_PROMPT = lazy_re(r"^(?:(?:ba|z|da)?sh: (?:line \d+: |-c: )*|\(eval\):(?:\d+: ?)?)")
_ONE_OFF = lazy_re(r"(could not apply|Available agents|has been denied)\b.*")
_CUT_OFF = lazy_re(r"(?<!\S)\S*\w\.{3}$")
_STATUS = lazy_re(r"^exit \d+: ")
_TAGS = lazy_re(r"</?(?:tool_use_error|error|output|stderr|stdout|returncode|output_head|output_tail|warning)>")
_RAISED = lazy_re(
    r"^(?:E\s+)?((?:[A-Za-z_]\w*\.)*(?:[A-Z]\w*(?:Error|Exception|Warning|NotReady|Failure|Configured|DoesNotExist))"
    r"(?::[^\n]*)?)$",
    re.M,
)
_SUMMED_UP = lazy_re(r"^(?:FAILED|ERROR) \S+ - ([A-Z]\w*(?:Error|Exception|Warning|Failed)\b[^\n]*)$", re.M)
_AT_A_LINE = lazy_re(r"^[^\S\n]*\S+?\.[A-Za-z]\w{0,4}:\d+(?::\d+)?: ?((?!\s*:)\S[^\n]*)$", re.M)
_PLAIN = lazy_re(
    r"^[^\n]*(?:command not found|no such file or directory|cannot find|can't open file|permission denied"
    r"|directory not found|unknown (?:flag|command|option|shorthand|skill)|unrecogni[sz]ed (?:argument|option)"
    r"|invalid (?:option|argument)|parse error near|syntax error near|no module named|could not apply"
    r"|not in the list|import cycle not allowed)[^\n]*$",
    re.M | re.I,
)
_SPOKEN = lazy_re(r"^(?:fatal|error|Error|gh|npm ERR!|jq: error|Configuration error|ERROR)\b:?\s?[^\n:][^\n]+$", re.M)
_ASKS = lazy_re(r"^#+ (?:Fix any errors|See relevant lines?) ")
"""How a tool begins to tell what it found; what that is follows."""
_TESTS = lazy_re(
    r"^[^\S\n]*--- FAIL\b|^FAILED \((?:failures|errors)=|^FAIL:? |^FAIL\t|^=+ .{0,300}\b\d+ (?:failed"
    r"|errors?)\b.{0,300} =+$"
    r"|^(?:FAILED|ERROR) \S+::|^FAIL\s|tests finished: .{0,400}\b(?:failed|exceptions)\b|^FAIL$|^test result: FAILED",
    re.M,
)
_NOT_BUILT = lazy_re(r"^FAIL\s+\S+ \[((?:build|setup) failed)\]", re.M)
_TIMED_OUT = lazy_re(r"timed out and has been killed|^Command timed out|Command timed out after", re.M)
_NO_MODULE = lazy_re(r"No module named ['\"]?[\w.]+['\"]?")

_ACCIDENTS = (
    lazy_re(r"\"[^\"\n]*\"|“[^“”\n]{0,1000}+”|`[^`\n]*`|(?<!\w)'[^'\n]*'(?!\w)"),
    lazy_re(r"\b[a-z][a-z0-9+.-]{0,30}://\S+"),
    lazy_re(r"\((?![a-z]+\)$)[^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)"),
    lazy_re(r"(?<![\w.])[~.]?(?:[\w.@+~$%-]{0,255}/)+[\w.@+~$%*-]*"),
    lazy_re(r"(?<!\S)\S*(?:[a-z][A-Z]|\w_\w|\w\.\w|\w\(|[\[\]{}*=&|<>$#@])\S*"),
    lazy_re(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{6,}\b(?:\.{3})?"),
    lazy_re(r"(?<![A-Za-z\d])[-+]?\d+(?:[.,:_x]\d+)*%?\w*"),
)
_NAMED_ERROR = lazy_re(r"[A-Z]\w*(?:Error|Exception|Warning|NotReady|Failure|Configured|DoesNotExist)\b")
_LAST_NAME = lazy_re(r"(: )[^\s…]+(?: \([a-z]+\))?$")


def faults(step: Step) -> tuple[str, ...]:
    """The errors that the output of a failed call tells of, the one that counts first; at least one."""
    output = step.output if len(step.output) <= _LOOKED_AT else f"{step.output[:20_000]}\n{step.output[-20_000:]}"
    out = dict.fromkeys(
        name for line in _telling_lines(step, output) if (name := normalized_error(line)) and not instruction_like(name)
    )
    if not out:
        last = _STATUS.sub("", error_line(output))
        said = normalized_error(last) if _SOUNDS_WRONG.search(last) and not _ASKS.match(last) else ""
        out = dict.fromkeys([said] if said and not instruction_like(said) else [])
    return tuple(out)[:MOST_FAULTS] or (WITHOUT_A_WORD,)


def normalized_error(line: str) -> str:
    """The name of an error: its line without its accidents, each of which is an ellipsis; a code stays one."""
    if line in (FOUND_NOTHING, TIMED_OUT, TESTS_FAILED, WITHOUT_A_WORD):
        return line
    line = _CUT_OFF.sub("…", line)
    line = _ONE_OFF.sub(r"\1", _PROMPT.sub("", " ".join(_TAGS.sub(" ", line).split())))
    if missing := _NO_MODULE.search(line):
        return missing[0][:_CHARACTERS]  # Which one is missing is no accident.
    head = _NAMED_ERROR.match(line.partition(":")[0].rpartition(".")[2])
    kept = head[0] if head else ""
    rest = line.partition(":")[2] if kept else line
    for pattern in _ACCIDENTS:
        rest = pattern.sub("…", rest)
    rest = re.sub(r"(?:(?:(?<!\s)\s++)?…[\s,;:.]*+)+", " … ", rest).strip()
    rest = _LAST_NAME.sub(r"\1…", rest) if not kept else rest
    words = rest.split()
    tail = words[-1] if words and re.fullmatch(r"\([a-z]+\)", words[-1]) else ""
    if len(words) > _WORDS:
        words = [*words[: _WORDS - 1], "…", *([tail] if tail else [])]
    said = " ".join(words).replace("… …", "…")
    said = f"{kept}: {said}" if kept and said.strip("… ") else kept or said
    said = said.removesuffix(" …").lstrip(" …-").rstrip(" :;,.")
    return said[:_CHARACTERS].rstrip() if re.search(r"[A-Za-z]{2}", said) else ""


def _telling_lines(step: Step, output: str) -> Iterator[str]:
    """The lines that say what went wrong, the one that says most first."""
    if found := _TOOL_ERROR.search(output):
        yield found[1].partition(". ")[0]
        return
    if _TIMED_OUT.search(output):
        yield TIMED_OUT
        return
    if step.action.kind in ("search", "read", "run", "check") and _is_empty(output):
        yield FOUND_NOTHING
        return
    yield from _of_a_program(output)


def _of_a_program(output: str) -> Iterator[str]:
    if found := _NOT_BUILT.search(output):
        yield found[1]
        return
    if _TESTS.search(output):
        raised = _SUMMED_UP.search(output)
        yield TESTS_FAILED if raised is None else raised[1]
        return
    if "Traceback (most recent call last)" in output and (raised_all := _RAISED.findall(output)):
        yield raised_all[-1]
        return
    at_lines = [found[1] for found in _AT_A_LINE.finditer(output)]
    if at_lines:
        linters = {found[1]: line for line in at_lines if (found := re.search(r"\(([a-z]+)\)$", line))}
        yield from linters.values() if linters else at_lines[:1]
        return
    if found := _PLAIN.search(output) or _RAISED.search(output) or _SPOKEN.search(output):
        yield found[0]


def _is_empty(output: str) -> bool:
    """Whether nothing came back but a status."""
    rest = re.sub(r"<returncode>\d+</returncode>|Exit code \d+|\(no content\)", "", output)
    return not re.search(r"\w", _TAGS.sub("", rest))


CHARACTERS_A_TOKEN = 4
AWAY_SECONDS = 600.0
"""A longer wait for a result is no work: somebody was away."""

_MOST_PARTS = 200
"""Of a command that many different parts are looked at: one by hand has far fewer."""
_PARTS = lazy_re(r"&&|\|\||[;\n]")
LOOKS_ONLY = frozenset("cat head tail ls echo rm cp mv mkdir touch grep rg find sed wc nl rmdir which git cd".split())
"""Programs that seldom fail by what other programs did; where they do they name themselves."""
_SCRIPT = lazy_re(r"\.(?:py|sh|js|ts|rb|go)\Z")


class TriedCall(Struct, frozen=True, kw_only=True):
    """A call that has an outcome."""

    step: Step
    place: int
    shape: Shape
    program: str
    """Which program or tool failed or worked: ``go test``, ``Edit``; an interpreter, where it ran a passing script."""
    shown: str
    """The same as it was written: with its folder, where that is one of the project."""
    unread: bool
    """It changes a file that the run has neither read nor written before."""
    worked: bool
    faults: tuple[str, ...]
    """What went wrong, the error that counts first; empty where it worked, or where its failure doesn't count."""
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
        wrong = faults(step) if counts else ()
        program = program_of(step, form, wrong, written)
        began, ended = times.get(step.source), times.get(step.answer) if step.answer else None
        waited = (ended - began).total_seconds() if began and ended else 0.0
        out.append(
            TriedCall(
                step=step,
                place=place,
                shape=form,
                program=program,
                shown=_shown(program, step),
                unread=step.action.kind in CHANGES and not form.shell and bool(form.path) and form.path not in met,
                worked=not step.failed,
                faults=wrong,
                tokens=(len(step.command) + len(step.output)) // CHARACTERS_A_TOKEN,
                seconds=waited if 0 < waited <= AWAY_SECONDS else 0.0,
                at=ended or began,
            )
        )
        if form.path and not step.failed:
            met.add(form.path)
    return out


def program_of(step: Step, form: Shape, wrong: Sequence[str], written: set[str] | frozenset[str]) -> str:
    """The program of a command that its outcome is about: of several the one that the error speaks of."""
    if not form.shell:
        return form.tool
    if wrong and wrong[0] == FOUND_NOTHING and form.decider:
        return form.decider
    parts = programs_of(step)
    name = form.program
    if wrong and len(parts) > 1:
        said = next((each for each in parts if each.split()[-1] in _words(step.error)), "")
        telling = [each for each in parts if each.split()[0] not in LOOKS_ONLY]
        name = said or (telling[-1] if telling else name)
    if name in written or (_SCRIPT.search(name) and form.script.startswith("/tmp")):
        return "python" if name.endswith(".py") else name.rpartition(".")[2]
    return "python" if name == "python -c" else name


def _shown(program: str, step: Step) -> str:
    """The program with the folder that it was called in, where that leads from where one stands."""
    if program == "python":
        interpreter = re.search(r"(?<![\w.-])python[\d.]*(?![\w-])", step.command)
        return interpreter[0].rstrip(".") if interpreter else program
    name, _, rest = program.partition(" ")
    found = re.search(rf"(?<![\w/~.-])(?:\./)?((?:(?!\.\.)[\w.-]+/){{1,3}}{re.escape(name)})(?![\w/.-])", step.command)
    return f"{found[1]} {rest}".strip() if found else program


def programs_of(step: Step) -> list[str]:
    """The programs of a command, in order, each once."""
    command = step.command if isinstance(step.call.arguments, str) else str(step.call.arguments.get("command", ""))
    lines = quoted_as("''", _HEREDOC.sub("<<''\n", command[:20_000]).replace("\\\n", " "))
    parts = islice((part for part in dict.fromkeys(_PARTS.split(lines)) if part.strip()), _MOST_PARTS)
    shapes = [shape(Call(id="", name="", arguments={"command": part})) for part in parts]
    return list(dict.fromkeys(each.program for each in shapes if each.program.strip() and each.program != "''"))


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[\w:.-]+", text))


def _file_name(path: str) -> str:
    return path.rstrip("/").rsplit("/", 1)[-1]
