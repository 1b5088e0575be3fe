"""Derive the canonical name of a command, independent of how it is invoked: ``uv run pytest -q`` is ``pytest``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pkgutil import get_data

import msgspec
from msgspec import Struct

from ireneo.patterns import lazy_re, readable


class Wrapper(Struct, frozen=True, kw_only=True, gc=False):
    """A program, or a subcommand, that starts another program; programs.toml explains its fields."""

    options: frozenset[str] = frozenset()
    skips: int = 0
    shown: bool = True
    marks: frozenset[str] = frozenset()
    needs_mark: bool = False
    module: bool = False
    sets: bool = False
    line: bool = False
    fetches: bool = False


class Programs(Struct, frozen=True, kw_only=True):
    """Facts about programs, as programs.toml lists and explains them."""

    subcommands: frozenset[str]
    tasks: frozenset[str]
    files: frozenset[str]
    folders: frozenset[str]
    moves: frozenset[str]
    never_fails: frozenset[str]
    filters: frozenset[str]
    sources: frozenset[str]
    looks_only: frozenset[str]
    shells: frozenset[str]
    code_options: frozenset[str]
    interpreter_options: frozenset[str]
    dispatchers: frozenset[str]
    commands: Mapping[str, frozenset[str]]
    aliases: Mapping[str, str]
    renamed: Mapping[str, str]
    wrappers: Mapping[str, Wrapper]
    options: Mapping[str, frozenset[str]]
    groups: Mapping[str, frozenset[str]]
    session_options: Mapping[str, frozenset[str]]
    own_commands: Mapping[str, frozenset[str]]

    def has_subcommands(self, program: str) -> bool:
        """Whether the first plain word after a program is a subcommand."""
        return program in self.subcommands or program in self.groups


@cache
def programs() -> Programs:
    """The facts of programs.toml, read once."""
    # Imported when used: a hook that reads no command needs no parser.
    import tomllib

    data = get_data(__package__, "programs.toml")
    assert data is not None
    given = tomllib.loads(data.decode("utf-8"))
    given["commands"] = {name: listed.replace("\n", " ").split(", ") for name, listed in given["commands"].items()}
    for name in ("aliases", "renamed"):
        given[name] = {other: known for known, others in given[name].items() for other in others.split(", ")}
    for name, value in given.items():
        if isinstance(value, str):
            given[name] = value.split()
        elif name not in ("commands", "aliases", "renamed"):
            given[name] = {each: _split_strings(held) for names, held in value.items() for each in names.split(", ")}
    return msgspec.convert(given, readable(Programs))


def _split_strings(value: object) -> object:
    if isinstance(value, dict):
        return {name: _split_strings(each) for name, each in value.items()}
    return value.split() if isinstance(value, str) else value


INTERPRETER = lazy_re(r"(?:python|pypy|node|ruby|perl|deno|php|ts-node|tsx|bun|Rscript|lua|julia|swift|elixir)[\d.]*\Z")
_ASSIGNS = lazy_re(r"\w+\+?=")
_SUBCOMMAND = lazy_re(r"[A-Za-z][\w:.-]*\Z")
_TASK = lazy_re(r"(?=[^A-Za-z]*+[A-Za-z])[:\w./@#-]++\Z")
_NUMBER = lazy_re(r"\d")
_VERSION = lazy_re(r"(?<=[A-Za-z])[\d.]+\Z")
_AT_VERSION = lazy_re(r"(?<=.)@[^/]*\Z")
_NUMBERED = frozenset("python pip pypy ruby node php perl clang gcc g++ lua".split())
_SCRIPT = lazy_re(r"[\w.-]+\.(?:py|js|mjs|cjs|ts|mts|rb|pl|php|lua|jl|R|sh|exs?)\Z")
_NAMED_AFTER_ACTION = lazy_re(
    r"(?:^|[-_./])(?:run)?(?:tests?|run|lint|check|build|fmt|format|deploy|install|setup|start|stop|bootstrap|clean|verify"
    r"|gen|generate|release|publish|migrate|update|sync|fix|repro\w*)(?:[-_.]|$)"
)
"""A script named after its function: the word after it is an argument, not a subcommand."""
_MOST_WORDS = 3
_LONGEST_NAME = 80
_VERBS = frozenset("deploy list create delete describe update get add remove show start stop".split())
_MOST_WRAPPERS = 8
_SHOWN_FOLDER = lazy_re(r"(?:\./)?(?!\.\.)(?:[\w.-]+/){1,3}[\w.-]+\Z")


class NamedProgram(Struct, frozen=True):
    """A program with its arguments and its canonical name."""

    words: tuple[str, ...]
    """The program and its arguments, without wrappers."""
    name: str = ""
    through: tuple[str, ...] = ()
    """The wrappers, the outermost first."""
    before: tuple[str, ...] = ()
    """The wrappers that the displayed command includes."""
    shown: str = ""
    """The command as it is displayed, without wrappers."""
    line: str | None = None
    """The command line that it passes to a shell."""


def name_of(words: Sequence[str]) -> NamedProgram:
    """Remove wrappers from a command and name what they start."""
    if not words or not program_name(words[0]):
        return NamedProgram(tuple(words))
    rest = list(words)
    through: list[str] = []
    before: list[str] = []
    for _ in range(_MOST_WRAPPERS):
        while rest and _ASSIGNS.match(rest[0]):
            rest = rest[1:]
        found = _strip_wrapper(rest)
        if found is None:
            break
        label, shown, rest, wrapper = found
        through.append(label)
        if shown:
            before.append(shown)
        if wrapper.line:
            return NamedProgram(
                tuple(rest), name=label, through=tuple(through), before=tuple(before), line=" ".join(rest)
            )
    if not rest or not program_name(rest[0]):
        return NamedProgram(tuple(words), name=words[0], shown=words[0])
    name, shown = _canonical(rest)
    return NamedProgram(tuple(rest), name, tuple(through), tuple(before), shown, _nested_command_line(rest))


def program_name(word: str) -> str:
    """The name of a program without its folder and version; empty for a word that can be no program."""
    name = word.rstrip("/").rsplit("/", 1)[-1].rsplit("\\", 1)[-1] or word
    name = name.removesuffix(".exe")
    if not name.isprintable() or " " in name or len(name) > _LONGEST_NAME:
        return ""
    bare = _VERSION.sub("", name)
    name = bare if bare in _NUMBERED and name != "python2" else name
    if name in ("test", "time", "[") and "/" in word.strip("./"):
        return "/".join(word.split("/")[-2:])  # `bin/test` is a script, not the shell's `test`.
    return programs().renamed.get(name, name)


def _strip_wrapper(words: Sequence[str]) -> tuple[str, str, list[str], Wrapper] | None:
    """The wrapper that `words` begin with: its name, how it is displayed, and the words that it starts."""
    name = program_name(words[0]) if words else ""
    if not name:
        return None
    if words[0] == "-m" and len(words) > 1:
        return "python -m", "-m", list(words[1:]), Wrapper()  # After a wrapper that runs modules itself.
    if name == "python" and (module := _python_module(words)) is not None:
        return "python -m", f"{_display_name(words[0], name)} -m", module, Wrapper()
    lead, rest = _program_and_subcommands(name, words)
    for count in (3, 2, 1):
        label = " ".join(lead[:count])
        wrapper = programs().wrappers.get(label)
        if wrapper is not None and len(lead) >= count:
            break
    else:
        return None
    if count < len(lead):
        rest = [*lead[count:], *rest] if count > 1 else list(words[1:])
    if label == "command" and rest[:1] in (["-v"], ["-V"]):
        return None
    own, inside = _after_wrapper(wrapper, rest)
    if not inside:
        return None
    return label, " ".join((label, *own)) if wrapper.shown else "", inside, wrapper


def _program_and_subcommands(name: str, words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The program with up to two subcommands, without the options between them, and the words that follow."""
    known = programs()
    lead, rest = name.split(), list(words[1:])
    valued = known.options.get(lead[0], frozenset())
    while rest and len(lead) < 3:
        word = rest[0]
        if lead == ["cargo"] and word.startswith("+"):
            rest = rest[1:]
        elif " ".join(lead) in known.wrappers:
            break
        elif word.startswith("-") and word != "--" and len(word) > 1:
            rest = rest[2:] if word in valued else rest[1:]
        elif _SUBCOMMAND.match(word) and known.has_subcommands(lead[0]):
            lead.append(word)
            rest = rest[1:]
        else:
            break
    if lead[:2] in (["mise", "x"], ["npm", "x"], ["yarn", "x"]):
        lead[1] = "exec"
    return lead, rest


def _after_wrapper(wrapper: Wrapper, words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Split the words after a wrapper into its own arguments and the command that it starts."""
    if wrapper.marks:
        marked = next((place for place, word in enumerate(words) if word in wrapper.marks), None)
        if marked is not None:
            plain = [each for each in words[:marked] if not each.startswith("-")]
            return plain[: wrapper.skips], list(words[marked + 1 :])
        if wrapper.needs_mark:
            return [], []
    own, rest = _skip_options(wrapper, words)
    if wrapper.fetches and rest:
        rest[0] = _AT_VERSION.sub("", rest[0])
    return own, rest


def _skip_options(wrapper: Wrapper, words: Sequence[str]) -> tuple[list[str], list[str]]:
    own: list[str] = []
    rest = list(words)
    while rest:
        word = rest[0]
        if word == "--":
            rest = rest[1:]
            if len(own) >= wrapper.skips:
                break
        elif wrapper.module and word in ("-m", "--module"):
            return own, ["-m", *rest[1:]]
        elif word.startswith("-") and len(word) > 1:
            rest = rest[2:] if word in wrapper.options else rest[1:]
        elif wrapper.sets and _ASSIGNS.match(word):
            rest = rest[1:]
        elif len(own) < wrapper.skips:
            own.append(word)
            rest = rest[1:]
        else:
            break
    return own, rest


def _python_module(words: Sequence[str]) -> list[str] | None:
    """The module that ``python -m`` runs."""
    rest = list(words[1:])
    while rest and rest[0].startswith("-"):
        if rest[0] == "-m":
            return rest[1:] or None
        if rest[0] in programs().code_options:
            return None
        rest = rest[2:] if rest[0] in programs().interpreter_options else rest[1:]
    return None


def _nested_command_line(words: Sequence[str]) -> str | None:
    """The command line that is passed to a shell as one word: ``bash -c '…'``, ``eval '…'``."""
    name = program_name(words[0])
    if name == "eval":
        line = " ".join(words[1:])
        return None if line.lstrip().startswith(("$(", "`")) else line
    if name not in programs().shells and name != "su":
        return None
    for place, word in enumerate(words[1:], 1):
        if re.fullmatch(r"-[a-z]*c", word):
            return words[place + 1] if place + 1 < len(words) else None
        if not word.startswith("-") and word != "pipefail" and name != "su":
            return None
    return None


def _canonical(words: Sequence[str]) -> tuple[str, str]:
    """The canonical name of a command, and the command as it is displayed."""
    name = program_name(words[0])
    shown = _display_name(words[0], name)
    if INTERPRETER.match(name) or name in programs().shells:
        return _interpreter_name(name, shown, words)
    full = " ".join((name, *_subcommands(name, words)))
    full = programs().aliases.get(full, full)
    if full.split()[0] != name.split()[0]:
        return full, full
    return full, " ".join((shown, *full.split()[len(name.split()) :]))


def _display_name(word: str, name: str) -> str:
    """The program as it was written, if it is in a folder of the project."""
    if _SHOWN_FOLDER.match(word) and not word.startswith("/"):
        return word.removeprefix("./") if word.count("/") > 1 else word
    # If `python` is missing, `python3` may exist: the version is displayed, but is not part of the name.
    written = word.rsplit("/", 1)[-1]
    return written if written != name and _VERSION.sub("", written) == name else name


def _interpreter_name(name: str, shown: str, words: Sequence[str]) -> tuple[str, str]:
    known = programs()
    rest = list(words[1:])
    if name in ("deno", "bun", "swift", "elixir") and rest and not _SCRIPT.match(rest[0].rsplit("/", 1)[-1]):
        said = _subcommands(name, words)
        return " ".join((name, *said)), " ".join((shown, *said))
    while rest and rest[0].startswith("-") and rest[0] != "-":
        if rest[0] in known.code_options or rest[0] == "-s":
            return name, shown
        if name == "node" and rest[0] == "--test":
            return "node --test", f"{shown} --test"
        rest = rest[2:] if rest[0] in known.interpreter_options else rest[1:]
    if not rest or rest[0] in ("-", "<<") or "$" in rest[0]:
        return name, shown
    script = program_name(rest[0])
    said = _subcommands(script, rest) if script in known.dispatchers or script.endswith(".sh") else ()
    return " ".join((script, *said)), " ".join((shown, _display_name(rest[0], script), *said))


def _subcommands(name: str, words: Sequence[str]) -> tuple[str, ...]:
    """The words that say what a program does."""
    known = programs()
    program, *of_name = name.split()
    rest = list(words[1:])
    valued = known.options.get(program, frozenset())
    if program in known.session_options:
        return _session_option(program, rest)
    if program in known.tasks:
        return _task_names(program, rest, valued)
    plain = _positional_words(rest, valued)
    if program == "xcodebuild":
        return tuple([each for each in plain if _SUBCOMMAND.match(each)][-1:])
    has_subcommands = known.has_subcommands(program)
    takes_files = program in known.files or ("." in program and not program.endswith(".sh"))
    if not has_subcommands and (takes_files or _NAMED_AFTER_ACTION.search(program)):
        return ()
    said: list[str] = list(of_name)
    groups = known.groups.get(program, frozenset())
    for word in plain[2:] if program == "yarn" and plain[:1] == ["workspace"] else plain:
        if program == "cargo" and word.startswith("+"):
            continue
        fits = _TASK.match(word) if said and said[-1] in ("run", "task") else _SUBCOMMAND.match(word)
        unlikely = not has_subcommands and (word in known.folders or "." in word or not word.islower())
        if not fits or unlikely:
            break
        said.append(word)
        if len(said) == _MOST_WORDS or not _is_part_of_name(program, said, groups):
            break
    return tuple(said[len(of_name) :]) if of_name else _normalise_subcommand(program, said, rest)


_RUNNERS = frozenset("npm pnpm yarn bun hatch composer turbo nx lerna pdm".split())


def _is_part_of_name(program: str, said: Sequence[str], groups: frozenset[str]) -> bool:
    """Whether the next word is also part of the name."""
    runs = program in _RUNNERS and said[0] in ("run", "run-script")
    if runs or (program == "mise" and said[0] == "r"):
        return len(said) == 1
    if program == "mise" and list(said[:2]) == ["tasks", "run"]:
        return True
    if program == "go" and said[0] == "run":
        return False
    deep = said[-1] not in _VERBS and (program in ("gcloud", "az") or (program == "dotnet" and said[0] == "ef"))
    return (len(said) == 1 or (deep and len(said) == 2)) and (said[0] in groups or "*" in groups)


def _normalise_subcommand(program: str, said: list[str], rest: Sequence[str]) -> tuple[str, ...]:
    """Unify the ways to write one subcommand."""
    if program == "mise" and said:
        if said[0] == "r":
            said = ["run", *said[1:]]
        elif said[:2] == ["tasks", "run"]:
            said = said[1:]
        elif said[0] not in programs().own_commands["mise"]:
            said = ["run", *said[:1]]
    elif program in ("pnpm", "yarn", "composer", "turbo") and said[:1] in (["run"], ["run-script"]) and len(said) > 1:
        said = said[1:]
    elif program == "npm" and said[:1] == ["run-script"]:
        said = ["run", *said[1:]]
    elif program == "go" and said == ["run"]:
        what = next((each for each in rest[1:] if not each.startswith("-")), "")
        said = ["run", _AT_VERSION.sub("", what)] if what else said
    return tuple(said)


def _positional_words(words: Sequence[str], valued: frozenset[str]) -> list[str]:
    """The words up to ``--`` that are neither options nor their values."""
    out: list[str] = []
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word == "--":
            break
        elif word.startswith("-") and len(word) > 1:
            skip = word in valued
        elif not _ASSIGNS.match(word):
            out.append(word)
    return out


def _task_names(program: str, words: Sequence[str], valued: frozenset[str]) -> tuple[str, ...]:
    out: list[str] = []
    for word in _positional_words(words, valued):
        if program in ("make", "ninja") and _NUMBER.match(word):
            continue
        if not _TASK.match(word):
            break
        out.append(word)
        if program in ("just", "task", "inv", "poe", "rake"):
            break
    if program in ("gradle", "gradlew", "mvn", "mvnw", "make"):
        out = [each for each in out if each != "clean"] or out
    return tuple(out[:_MOST_WORDS])


def _session_option(program: str, words: Sequence[str]) -> tuple[str, ...]:
    for place, word in enumerate(words):
        if word in programs().session_options[program] and place + 1 < len(words):
            return ("-s" if program == "nox" else "-e", words[place + 1])
    return ()
