"""Where a call searches, if it searches all that is there: without a kind of file, and leaving nothing out.

A hook imports it for each call, so it imports little.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from ireneo.lessons.commands import ShellStep
from ireneo.patterns import lazy_re

WHOLE = "whole"
"""In `Trap.given`: the call searches the whole project."""
_TOOL = lazy_re(r"grep|search", re.I)
_PATTERN = ("pattern", "regex")
_NARROWS = frozenset(
    "glob include includes include_pattern exclude exclude_pattern type file_pattern head_limit".split()
)
"""Arguments of a tool that leave something out."""
_LEAVES_OUT = lazy_re(
    r"--(?:include|exclude|exclude-dir|glob|iglob|type|type-not|ignore|max-count|files-without-match)\b"
)
_RG_LEAVES_OUT = frozenset("-g -t -T -m -q".split())
_FIND_LEAVES_OUT = frozenset("-path -ipath -wholename -prune -not ! -maxdepth -regex".split())
_RECURSIVE = lazy_re(r"-[A-Za-z]*[rR][A-Za-z]*|--(?:dereference-)?recursive")
_VALUE = lazy_re(r"\d+")
_HERE = frozenset(("", ".", "./", "*"))


def place_of_tool(tool: str, given: Mapping[str, object]) -> str | None:
    """The folder that a tool searches as a whole, empty for where it is; None for any other call."""
    searches = _TOOL.search(tool) and any(isinstance(given.get(name), str) for name in _PATTERN)
    if not searches or any(given.get(name) for name in _NARROWS):
        return None
    path = given.get("path")
    return path if isinstance(path, str) else ""


def places_of_steps(steps: Sequence[ShellStep]) -> Iterator[tuple[ShellStep, str | None]]:
    """The steps of a command that search, each with the folder that it goes through as a whole."""
    for at, step in enumerate(steps):
        words = step.words[1:]
        match step.name:
            case "grep" if any(map(_RECURSIVE.fullmatch, words)):
                place = _place(words, skipped=1)
            case "rg" | "ag":
                place = None if _RG_LEAVES_OUT.intersection(words) else _place(words, skipped=1)
            case "git grep":
                place = _place(words[1:], skipped=1)
            case "find":
                begins = next((at for at, word in enumerate(words) if word.startswith(("-", "!", "("))), len(words))
                place = None if _FIND_LEAVES_OUT.intersection(words) else _place(words[:begins], skipped=0)
            case _:
                continue
        # What a pipe filters or cuts is not what is read.
        piped = at + 1 < len(steps) and steps[at + 1].before == "|"
        yield step, None if piped else place


def _place(words: Sequence[str], *, skipped: int) -> str | None:
    """The only folder among the words behind the pattern; None for several, or where a flag leaves something out."""
    if any(map(_LEAVES_OUT.match, words)):
        return None
    plain = [word for word in words if not word.startswith("-") and not _VALUE.fullmatch(word)]
    places = plain[0 if any(word == "-e" for word in words) else skipped :]
    return "" if not places else places[0] if len(places) == 1 else None


def is_whole(place: str | None, projects: Collection[str]) -> bool:
    """Whether a place is the whole of one of these projects."""
    if place is None or place in _HERE:
        return place is not None
    bare = place.rstrip("/")
    return any(name and (bare == name or bare.endswith(f"/{name}")) for name in projects)
