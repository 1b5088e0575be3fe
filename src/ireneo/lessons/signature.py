"""The shape of a call: what of it decides whether it works, without what is of one run only."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec
from msgspec import Struct

from ireneo.context.actions import Deed, understand
from ireneo.log.message import Call
from ireneo.memories.signature import action_signature, error_signature, quoted_as
from ireneo.patterns import lazy_re

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
    deed: Deed
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
    pipe = _telling(lines)
    words = pipe[0].split() if pipe else []
    named = tuple(dict.fromkeys(_PATH.findall(_REDIRECT.sub(" ", lines))))
    moved = _CD.search(command[:LONGEST_COMMAND]) if command else None
    path = "" if command else _text(given, _PATHS)
    pattern = _text(given, ("pattern", "query", "regex")) or (_pattern(command) if command else "")
    program = _program(words) if words else call.name
    return Shape(
        tool=call.name,
        deed="check" if action.deed == "run" and words and _CHECKS.match(program) else action.deed,
        exact=f"{call.name} {_canonical(call.arguments)}",
        action=_action(call, path, lines),
        program=program,
        decider=_base(pipe[-1].split()[0]) if pipe and pipe[-1].split() else "",
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


def _telling(lines: str) -> list[str]:
    """The programs of the pipe that a command is about: of several steps the last that does something."""
    steps = [step.strip() for step in _STEPS.split(_REDIRECT.sub(" ", lines))]
    telling = [step for step in steps if step and not _SAYS_NOTHING.match(step)] or [step for step in steps if step]
    return [_BEFORE.sub("", each.strip()) for each in _PIPE.split(telling[-1])] if telling else []


def _base(word: str) -> str:
    return word.rsplit("/", 1)[-1] or word


def _program(words: Sequence[str]) -> str:
    name = _base(words[0])
    rest = [word for word in words[1:] if word not in ("''", "--")]
    if _INTERPRETER.match(name):
        if "-m" in rest and rest.index("-m") + 1 < len(rest):
            return rest[rest.index("-m") + 1]
        if any(word in ("-c", "-e") for word in rest[:3]):
            return f"{name.rstrip('0123456789.')} -c"
        script = next((word for word in rest if not word.startswith("-")), "")
        return _base(script) if script and script != "<<" else name.rstrip("0123456789.")
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
    if _INTERPRETER.match(_base(words[0])):
        return next((word for word in words[1:] if _PATH.fullmatch(word)), "") if "-m" not in words else ""
    return words[0] if words[0].startswith("./") and "." in _base(words[0]) else ""


_GREP = lazy_re(
    r"\b(?:e|f)?(?:grep|rg|ag)\s+(?:-[\w-]+(?:[= ]\d+)?\s+){0,20}"
    r"(?:\"((?:\\.|[^\"\\])*)\"|'([^']*)'|([^\s|;&'\"-][^\s|;&]*))"
)


def _pattern(command: str) -> str:
    found = list(_GREP.finditer(command[:LONGEST_COMMAND]))
    return next((group for group in found[-1].groups() if group), "") if found else ""
