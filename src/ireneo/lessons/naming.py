"""What a program is called: by its words alone, the same wherever and however it is started."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from ireneo.lessons.programs import (
    ALIASES,
    BARE_ONLY_WHEN_MARKED,
    CODE_OPTIONS,
    DISPATCHERS,
    FETCHED,
    FOLDERS,
    GROUPS,
    INTERPRETER,
    OWN_COMMANDS,
    PLAIN_PROGRAMS,
    RENAMED,
    SESSIONS,
    SHELLS,
    SUBCOMMANDS,
    TASKS,
    VALUED,
    VALUED_OF_INTERPRETERS,
    WRAPPERS,
    Wrapper,
)
from ireneo.patterns import lazy_re

_ASSIGNS = lazy_re(r"\w+\+?=")
_SUBCOMMAND = lazy_re(r"[A-Za-z][\w:.-]*\Z")
_TASK = lazy_re(r"(?=[^A-Za-z]*+[A-Za-z])[:\w./@#-]++\Z")
_NUMBER = lazy_re(r"\d")
_VERSION = lazy_re(r"(?<=[A-Za-z])[\d.]+\Z")
_AT_VERSION = lazy_re(r"(?<=.)@[^/]*\Z")
_NUMBERED = frozenset("python pip pypy ruby node php perl clang gcc g++ lua".split())
_SCRIPT = lazy_re(r"[\w.-]+\.(?:py|js|mjs|cjs|ts|mts|rb|pl|php|lua|jl|R|sh|exs?)\Z")
_SAYS_IT = lazy_re(
    r"(?:^|[-_./])(?:run)?(?:tests?|run|lint|check|build|fmt|format|deploy|install|setup|start|stop|bootstrap|clean|verify"
    r"|gen|generate|release|publish|migrate|update|sync|fix|repro\w*)(?:[-_.]|$)"
)
"""A script that is called after what it does: its first word is what it is done to."""
_MOST_WORDS = 3
_LONGEST_NAME = 80
_VERBS = frozenset("deploy list create delete describe update get add remove show start stop".split())
_MOST_WRAPPERS = 8
_SHOWN_OTHERWISE = frozenset("src bin".split())
_SHOWN_FOLDER = lazy_re(r"(?:\./)?(?!\.\.)(?:[\w.-]+/){1,3}[\w.-]+\Z")


class Named(Struct, frozen=True):
    """A program with its arguments, and what it is called."""

    words: tuple[str, ...]
    """Without wrappers."""
    name: str = ""
    through: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    """What to write before the program, of the wrappers that belong to how it is called."""
    shown: str = ""
    line: str | None = None
    """A command line that it hands to a shell."""


def name_of(words: Sequence[str]) -> Named:
    """Take the wrappers off, and say what is left."""
    if not words or not program_name(words[0]):
        return Named(tuple(words))
    rest = list(words)
    through: list[str] = []
    before: list[str] = []
    for _ in range(_MOST_WRAPPERS):
        while rest and _ASSIGNS.match(rest[0]):
            rest = rest[1:]
        found = _unwrapped(rest)
        if found is None:
            break
        label, shown, rest, wrapper = found
        through.append(label)
        if shown:
            before.append(shown)
        if wrapper.text:
            return Named(tuple(rest), name=label, through=tuple(through), before=tuple(before), line=" ".join(rest))
    if not rest or not program_name(rest[0]):
        return Named(tuple(words), name=_joined(words[:1]), through=(), shown=_joined(words[:1]))
    line = _line_of(rest)
    name, shown = _called(rest)
    if line is not None:
        return Named(tuple(rest), name=name, through=tuple(through), before=tuple(before), shown=shown, line=line)
    return Named(tuple(rest), name=name, through=tuple(through), before=tuple(before), shown=shown)


def _joined(words: Sequence[str]) -> str:
    return " ".join(words)


def program_name(word: str) -> str:
    """A program without its folder, and without the version in its name; empty for what can be none."""
    name = word.rstrip("/").rsplit("/", 1)[-1].rsplit("\\", 1)[-1] or word
    name = name.removesuffix(".exe")
    if not name.isprintable() or " " in name or len(name) > _LONGEST_NAME:
        return ""
    bare = _VERSION.sub("", name)
    name = bare if bare in _NUMBERED and name != "python2" else name
    if name in ("test", "time", "[") and "/" in word.strip("./"):
        return "/".join(word.split("/")[-2:])  # `bin/test` is not what a shell calls so.
    return RENAMED.get(name, name)


def _unwrapped(words: Sequence[str]) -> tuple[str, str, list[str], Wrapper] | None:
    """The first wrapper of `words`: its name, how it is shown, what it starts."""
    name = program_name(words[0]) if words else ""
    if not name:
        return None
    if words[0] == "-m" and len(words) > 1:
        return "python -m", "-m", list(words[1:]), Wrapper()  # Behind a wrapper that runs modules itself.
    if name == "python" and (module := _module(words)) is not None:
        return "python -m", f"{_as_shown(words[0], name)} -m", module, Wrapper()
    lead, rest = _lead(name, words)
    for count in (3, 2, 1):
        label = _joined(lead[:count])
        wrapper = WRAPPERS.get(label)
        if wrapper is not None and len(lead) >= count:
            break
    else:
        return None
    if count < len(lead):
        rest = [*lead[count:], *rest] if count > 1 else list(words[1:])
    if label == "command" and rest[:1] in (["-v"], ["-V"]):
        return None
    own, inside = _behind(label, wrapper, rest)
    if not inside:
        return None
    shown = _joined((label, *own)) if wrapper.shown else ""
    return label, shown, inside, wrapper


def _lead(name: str, words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The program with its next plain words, options in between left out, and what stands behind them."""
    lead, rest = name.split(), list(words[1:])
    valued = VALUED.get(lead[0], frozenset())
    while rest and len(lead) < 3:
        word = rest[0]
        if lead == ["cargo"] and word.startswith("+"):
            rest = rest[1:]
        elif word.startswith("-") and word != "--" and len(word) > 1 and _joined(lead) not in WRAPPERS:
            rest = rest[2:] if word in valued else rest[1:]
        elif _SUBCOMMAND.match(word) and _joined(lead) not in WRAPPERS and lead[0] in SUBCOMMANDS | {"nix"}:
            lead.append(word)
            rest = rest[1:]
        else:
            break
    if lead[:2] == ["mise", "x"]:
        lead[1] = "exec"
    if lead[:2] in (["npm", "x"], ["yarn", "x"]):
        lead[1] = "exec"
    return lead, rest


def _behind(label: str, wrapper: Wrapper, words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Of the words behind a wrapper: its own that are no options, and those that it starts."""
    if wrapper.marks:
        marked = next((place for place, word in enumerate(words) if word in wrapper.marks), None)
        if marked is not None:
            plain = [each for each in words[:marked] if not each.startswith("-")]
            return plain[: wrapper.skips], list(words[marked + 1 :])
        if label in BARE_ONLY_WHEN_MARKED:
            return [], []
    own, rest = _past_options(wrapper, words)
    if label in FETCHED and rest:
        rest[0] = _AT_VERSION.sub("", rest[0])
    return own, rest


def _past_options(wrapper: Wrapper, words: Sequence[str]) -> tuple[list[str], list[str]]:
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
            rest = rest[2:] if word in wrapper.valued else rest[1:]
        elif wrapper.sets and _ASSIGNS.match(word):
            rest = rest[1:]
        elif len(own) < wrapper.skips:
            own.append(word)
            rest = rest[1:]
        else:
            break
    return own, rest


def _module(words: Sequence[str]) -> list[str] | None:
    """What ``python -m`` runs."""
    rest = list(words[1:])
    while rest and rest[0].startswith("-"):
        if rest[0] == "-m":
            return rest[1:] or None
        if rest[0] in CODE_OPTIONS:
            return None
        rest = rest[2:] if rest[0] in VALUED_OF_INTERPRETERS else rest[1:]
    return None


def _line_of(words: Sequence[str]) -> str | None:
    """The command line that a shell is given as a word: ``bash -c '…'``, ``eval '…'``."""
    name = program_name(words[0])
    if name == "eval":
        line = _joined(words[1:])
        return None if line.lstrip().startswith(("$(", "`")) else line
    if name not in SHELLS and name != "su":
        return None
    for place, word in enumerate(words[1:], 1):
        if re.fullmatch(r"-[a-z]*c", word):
            return words[place + 1] if place + 1 < len(words) else None
        if not word.startswith("-") and word != "pipefail" and name != "su":
            return None
    return None


def _called(words: Sequence[str]) -> tuple[str, str]:
    """What a program is called anywhere, and how it was called here."""
    name = program_name(words[0])
    shown = _as_shown(words[0], name)
    if INTERPRETER.match(name) or name in SHELLS:
        return _of_interpreter(name, shown, words)
    said = _subcommands(name, words)
    full = _joined((name, *said))
    full = ALIASES.get(full, full)
    if full.split()[0] != name.split()[0]:
        return full, full
    return full, _joined((shown, *full.split()[len(name.split()) :]))


def _as_shown(word: str, name: str) -> str:
    """The program as it was written, where its folder is one of the project."""
    if _SHOWN_FOLDER.match(word) and not word.startswith("/"):
        return word.removeprefix("./") if word.count("/") > 1 else word
    # Where `python` is not found, `python3` may be: how it was called is told, while its name is one.
    written = word.rsplit("/", 1)[-1]
    return written if written != name and _VERSION.sub("", written) == name else name


def _of_interpreter(name: str, shown: str, words: Sequence[str]) -> tuple[str, str]:
    rest = list(words[1:])
    if name in ("deno", "bun", "swift", "elixir") and rest and not _SCRIPT.match(rest[0].rsplit("/", 1)[-1]):
        said = _subcommands(name, words)
        return _joined((name, *said)), _joined((shown, *said))
    while rest and rest[0].startswith("-") and rest[0] != "-":
        if rest[0] in CODE_OPTIONS or rest[0] == "-s":
            return name, shown
        if name == "node" and rest[0] == "--test":
            return "node --test", f"{shown} --test"
        rest = rest[2:] if rest[0] in VALUED_OF_INTERPRETERS else rest[1:]
    if not rest or rest[0] in ("-", "<<") or "$" in rest[0]:
        return name, shown
    script = program_name(rest[0])
    said = _subcommands(script, rest) if script in DISPATCHERS or script.endswith(".sh") else ()
    return _joined((script, *said)), _joined((shown, _as_shown(rest[0], script), *said))


def _subcommands(name: str, words: Sequence[str]) -> tuple[str, ...]:
    """The words that say what the program does."""
    program, *of_name = name.split()
    rest = list(words[1:])
    valued = VALUED.get(program, frozenset())
    said: list[str] = list(of_name)
    if program in SESSIONS:
        return _session(program, rest)
    if program in TASKS:
        return _tasks(program, rest, valued)
    if program == "xcodebuild":
        actions = [each for each in _positional(rest, valued) if _SUBCOMMAND.match(each)]
        return tuple(actions[-1:])
    known = program in SUBCOMMANDS
    takes_files = program in PLAIN_PROGRAMS or ("." in program and not program.endswith(".sh"))
    if not known and (takes_files or _SAYS_IT.search(program)):
        return ()
    groups = GROUPS.get(program, frozenset())
    plain = _positional(rest, valued)
    for word in plain[2:] if program == "yarn" and plain[:1] == ["workspace"] else plain:
        if program == "cargo" and word.startswith("+"):
            continue
        fits = _TASK.match(word) if said and said[-1] in ("run", "task") else _SUBCOMMAND.match(word)
        if not fits or (not known and (word in FOLDERS or "." in word or not word.islower())):
            break
        said.append(word)
        if len(said) == _MOST_WORDS or not _goes_on(program, said, groups):
            break
    return tuple(said[len(of_name) :]) if of_name else _settled(program, said, rest)


def _goes_on(program: str, said: Sequence[str], groups: frozenset[str]) -> bool:
    """Whether the next word belongs to the name as well."""
    if program in ("npm", "pnpm", "yarn", "bun", "hatch", "composer", "turbo", "nx", "lerna", "pdm") and said[0] in (
        "run",
        "run-script",
    ):
        return len(said) == 1
    if program == "mise" and list(said[:2]) == ["tasks", "run"]:
        return True
    if program == "mise" and said[0] == "r":
        return len(said) == 1
    if program == "go" and said[0] == "run":
        return False
    deep = said[-1] not in _VERBS and (program in ("gcloud", "az") or (program == "dotnet" and said[0] == "ef"))
    return (len(said) == 1 or (deep and len(said) == 2)) and (said[0] in groups or "*" in groups)


def _settled(program: str, said: list[str], rest: Sequence[str]) -> tuple[str, ...]:
    """One of several ways to call the same thing."""
    if program == "mise" and said:
        if said[0] == "r":
            said = ["run", *said[1:]]
        elif said[:2] == ["tasks", "run"]:
            said = said[1:]
        elif said[0] not in OWN_COMMANDS["mise"]:
            said = ["run", *said[:1]]
        return tuple(said)
    if program in ("pnpm", "yarn", "composer", "turbo") and said[:1] in (["run"], ["run-script"]) and len(said) > 1:
        return tuple(said[1:])
    if program == "npm" and said[:1] == ["run-script"]:
        return ("run", *said[1:])
    if program == "go" and said == ["run"]:
        what = next((each for each in rest[1:] if not each.startswith("-")), "")
        return ("run", _AT_VERSION.sub("", what)) if what else ("run",)
    return tuple(said)


def _positional(words: Sequence[str], valued: frozenset[str]) -> list[str]:
    """The words that are neither options nor what these take; up to ``--``."""
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


def _tasks(program: str, words: Sequence[str], valued: frozenset[str]) -> tuple[str, ...]:
    out: list[str] = []
    for word in _positional(words, valued):
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


def _session(program: str, words: Sequence[str]) -> tuple[str, ...]:
    for place, word in enumerate(words):
        if word in SESSIONS[program] and place + 1 < len(words):
            return ("-s" if program == "nox" else "-e", words[place + 1])
    return ()
