"""The limits of a reported failure: a place, a host, an environment, a branch, the whole or one worker at a time.

Such a limit is stated in words, and seldom part of a call. So a call need not show it, but one that names another place
is not affected: a failure in `tests/integration` doesn't concern `pytest tests/unit`. A hook imports this module for
each call, so it imports little.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import pairwise

from ireneo.patterns import lazy_re

ENVIRONMENTS: Mapping[str, str] = {
    name: each
    for each, names in {
        "prod": "prod production produktion prd",
        "staging": "staging stage stg",
        "dev": "dev devel development entwicklung",
        "local": "local localhost lokal",
        "qa": "qa uat",
        "preprod": "preprod préprod preproduction",
        "sandbox": "sandbox",
        "test": "test",
    }.items()
    for name in names.split()
}
"""Names of environments, each with the environment that it means."""
WHOLE, ROOT, TOGETHER, FILE = "whole", "root", "together", "file"
PLACE, HOST, ENVIRONMENT, BRANCH, OBJECT = "place:", "host:", "environment:", "branch:", "object:"
ACT = "act:"
"""The kinds of limits; those with a colon are followed by their subject. `ACT` is the stem of a verb, which must be a
word of the call if the report names no command."""

_FILE = lazy_re(r"[\w-]*\.[A-Za-z]\w{0,9}")
_WORD = lazy_re(r"[^\W_]+")
_FOLDER = lazy_re(r"[\w-]+/?")
_URL = lazy_re(r"^\w+://(?:[^@/]*@)?([\w.-]+)")
_ADDRESS = lazy_re(r"^\w+://[^/]*|[?#].*")
_AT = lazy_re(r"^[\w.-]+@([\w.-]+)")
_NARROWS = frozenset(
    "-k -m -t -w -p -run -Dtest --filter --prefix --workspace --package --tests --test --grep --only --path --target "
    "--scope --limit".split()
)
"""Options before the name of a part of the whole."""
_BELOW = frozenset("-C -w --prefix --filter --workspace --cwd --dir --directory".split())
"""Options before the name of a folder or a package."""
_WORKERS = lazy_re(r"-[njw]|--?[\w-]*(?:worker|proc|job|thread|parallel|concurren)[\w-]*", re.I)
_ONE_BY_ONE = frozenset("--runInBand --no-parallel --serial no:xdist".split())
_GOES_TO = frozenset(("switch", "checkout", "--base", "-B"))
_BRANCHING = frozenset("push pull merge rebase".split())


def is_denied(limit: str, words: Sequence[str], every: Sequence[str], folders: Sequence[str]) -> bool:
    """Whether a call shows that a limit isn't met; `words` are those of the command, `every` those of the call.

    `folders` are those that the call changes into.
    """
    kind, colon, value = limit.partition(":")
    return _DENIES[f"{kind}{colon}"](value, words, every, folders)


def _is_other_place(value: str, words: Sequence[str], every: Sequence[str], folders: Sequence[str]) -> bool:
    if value.startswith("/"):
        # The path of an address also begins with a slash.
        words = [_ADDRESS.sub("", word) for word in words]
    named = [word for word in words[1:] if _is_place(word, value)]
    if any(_paths_overlap(value, each) for each in (*words[1:], *folders) if _path_parts(each)):
        return False
    first = value.strip("/").split("/")
    if len(first) == 1 and value.endswith("/"):
        # A folder of that name has other folders next to it.
        return bool(named) or any(_FOLDER.fullmatch(each) for each in folders)
    return bool(named) or (len(first) > 1 and any(first[0] in each.split("/") for each in folders))


def _is_place(word: str, value: str) -> bool:
    if word.startswith(("-", "@")) or ":" in word.replace("::", "") or "*" in word:
        return False
    end = value[value.rfind(".") :] if _FILE.fullmatch(value.rsplit("/", 1)[-1]) else ""
    return "/" in word or word == "." or (bool(end) and word.endswith(end))


def _paths_overlap(one: str, other: str) -> bool:
    """Whether one path may be inside the other, as far as they are written out."""
    first, second = sorted((_path_parts(one), _path_parts(other)), key=len)
    size = len(first)
    return any(second[at : at + size] == first for at in range(len(second) - size + 1))


def _path_parts(path: str) -> list[str]:
    return [each for each in path.partition("::")[0].split("/") if each.strip(".~")]


def _is_other_host(value: str, words: Sequence[str], every: Sequence[str], folders: Sequence[str]) -> bool:
    found = [each[1] for word in every for how in (_URL, _AT) if (each := how.search(word))]
    found += [two for one, two in pairwise(every) if one in ("-h", "--host")]
    if "ssh" in every:
        behind = list(every[every.index("ssh") + 1 :])
        while behind and behind[0].startswith("-"):
            # Most options of ssh have a value.
            behind = behind[1:] if behind[0] in ("-A", "-N", "-T", "-t", "-v", "-q", "-f") else behind[2:]
        # `-o NAME=VALUE` is two words here.
        found += [each for each in behind[:2] if "@" not in each]
    if "." in value:
        return bool(found) and value not in found and not any(each.endswith(f".{value}") for each in found)
    # A name alone may be part of another: "the replica" is `db-replica`.
    return bool(found) and not any(value in each for each in found)


def _is_other_environment(value: str, words: Sequence[str], every: Sequence[str], folders: Sequence[str]) -> bool:
    found = _named_environments(each for each in every if not each.startswith(("--", "/dev/", "/tmp/")))
    return bool(found) and value not in found


def _named_environments(words: Iterable[str]) -> set[str]:
    return {ENVIRONMENTS[one] for each in words for one in _WORD.findall(each.lower()) if one in ENVIRONMENTS}


def _is_other_branch(value: str, words: Sequence[str], every: Sequence[str], folders: Sequence[str]) -> bool:
    at = next((at for at, word in enumerate(words) if word in _BRANCHING), None)
    if at is None or "git" not in words[:at]:
        # Other programs use the branch that the call changes to.
        to = [each for before, each in pairwise(w for w in every if w not in ("-c", "-b")) if before in _GOES_TO]
        return bool(to) and not any(fnmatchcase(each, value) or fnmatchcase(each, f"*/{value}") for each in to)
    plain = [word for word in words[at + 1 :] if not word.startswith("-")]
    named = plain[1:] if words[at] in ("push", "pull") else plain
    ends = [end for each in named for end in each.split(":")]
    return bool(named) and not any(fnmatchcase(each, value) or fnmatchcase(each, f"*/{value}") for each in ends)


def _is_other_object(value: str, words: Sequence[str], every: Sequence[str], folders: Sequence[str]) -> bool:
    return not any(value in word or "$" in word for word in words[1:] if not word.startswith("-"))


def _other_act(value: str, words: Sequence[str], every: Sequence[str], folders: Sequence[str]) -> bool:
    named = (part for word in words[1:] if not word.startswith("-") for part in _WORD.findall(word.lower()))
    return not any(part.startswith(value) and len(part) <= len(value) + 2 for part in named)


def _is_narrowed(value: str, words: Sequence[str], every: Sequence[str], folders: Sequence[str]) -> bool:
    program, *names = value.split()
    begins = next((at for at, word in enumerate(words) if word.rsplit("/", 1)[-1] == program), 0)
    words = words[begins:]
    # For cargo the workspace is the whole.
    narrows = _NARROWS - {"--workspace"} if program == "cargo" else _NARROWS
    if not narrows.isdisjoint(words[len(names) :]):
        return True
    if any(word in (".", "./", "*") or word.strip("./") == "" for word in words[1:] if word):
        return False
    for before, word in pairwise(words):
        named = "/" in word or "::" in word or _FILE.fullmatch(word) is not None
        if word.startswith("-") or word.isdigit() or word.isupper() or ">" in word or not any(_path_parts(word)):
            continue
        # A flag that contains its value, such as `-j8`, has no other.
        valued = before.startswith("-") and not before[-1:].isdigit()
        if named or not (valued or word in (*names, "run", "exec")):
            return True
    return False


def _names_no_file(value: str, words: Sequence[str], every: Sequence[str], folders: Sequence[str]) -> bool:
    return not any(_FILE.fullmatch(word.rsplit("/", 1)[-1]) and word.strip("./") for word in words[1:])


def _is_below_root(value: str, words: Sequence[str], every: Sequence[str], folders: Sequence[str]) -> bool:
    # For pnpm and yarn `-w` is the root itself.
    below = _BELOW - {"-w"} if {"pnpm", "yarn"}.intersection(words[:1]) else _BELOW
    return not below.isdisjoint(words) or any(
        (not each.startswith(("/", "~", "..", "$")) and len(_path_parts(each)) > 1)
        or not _PACKAGES.isdisjoint(_path_parts(each)[:-1])
        for each in folders
    )


_PACKAGES = frozenset("packages apps libs services crates modules plugins".split())
"""Folders whose subfolders are each a part of the whole."""


def _is_sequential(value: str, words: Sequence[str], every: Sequence[str], folders: Sequence[str]) -> bool:
    few = any(_WORKERS.fullmatch(one) and two in ("0", "1") for one, two in pairwise(words))
    if few or "-j1" in words or "-n1" in words or "-n0" in words or not _ONE_BY_ONE.isdisjoint(words):
        return True
    told = any(_WORKERS.fullmatch(word) or (word[:2] in ("-n", "-j") and word[2:].isdigit()) for word in words)
    return not told and not _ALONE.isdisjoint(words)


_ALONE = frozenset("pytest make rspec".split())
"""Programs that do one thing at a time unless told otherwise."""
_DENIES: Mapping[str, Callable[[str, Sequence[str], Sequence[str], Sequence[str]], bool]] = {
    PLACE: _is_other_place,
    HOST: _is_other_host,
    ENVIRONMENT: _is_other_environment,
    ACT: _other_act,
    BRANCH: _is_other_branch,
    OBJECT: _is_other_object,
    f"{WHOLE}:": _is_narrowed,
    ROOT: _is_below_root,
    FILE: _names_no_file,
    TOGETHER: _is_sequential,
}
