"""Read where a told failure holds, from what its clause says before it says what goes wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from ireneo.lessons.limits import BRANCH, ENVIRONMENT, ENVIRONMENTS, HOST, OBJECT, PLACE, ROOT, TOGETHER, WHOLE
from ireneo.lessons.told_calls import ToldCall, call_of_command
from ireneo.lessons.told_words import (
    BANS,
    ENDS,
    EVERYTHING,
    FAILS,
    HOSTNAME,
    MARKED,
    PATH,
    TRAILING,
    goes_well,
    goes_wrong,
    row_of,
)
from ireneo.patterns import lazy_re

_BESIDE = lazy_re(lambda: rf"\((?:e\.g\. )?`?((?=[^()\s]*/)(?:{PATH.pattern}))`?\)")
_BRANCHES = r"main|master|develop|trunk|release/[\w*./-]+|[\w-]+/\*"
_OLD = lazy_re(lambda: rf"(?<!\w)(?:{row_of('old')})(?!\w)", re.I)
_WHOLE = lazy_re(lambda: rf"(?<![\w-])(?:{row_of('whole')})(?![\w-])", re.I)
_ROOT = lazy_re(
    lambda: rf"(?<![\w-])(?:{row_of('where')})\s+(?:(?:{row_of('the')})\s+)?(?:{row_of('root')})(?![\w-])", re.I
)
_TOGETHER = lazy_re(lambda: rf"(?<![\w-])(?:{row_of('together')})(?![\w-])", re.I)
_IN_FOLDER = lazy_re(lambda: rf"(?<![\w./-])([\w./-]++)`?\s+(?:{row_of('folder')})(?![\w-])", re.I)
# Where it holds is told right behind such a word, or after an article and at most two words more.
_WHERE = lazy_re(
    lambda: (
        rf"(?<![\w-])(?:{row_of('where')})\s+(?:(?:{row_of('the')})\s+)?(?:[\w-]+\s+){{0,2}}?"
        rf"`?(?:(?!w/o\b)(?P<place>/?(?:[\w.@-]+/)+[\w.@-]*|[\w-]+\.[A-Za-z]\w{{0,5}}(?![\w.]))|(?P<environment>(?:{'|'.join(ENVIRONMENTS)}))(?:-\w+)?)"
        rf"(?![\w/-])"
    ),
    re.I,
)
_ON_HOST = lazy_re(
    lambda: (
        r"(?<![\w-])(?:(?<!over )(?<!via )ssh(?: to| into)?\s+(?:[\w.-]+@)?|"
        rf"(?:{row_of('where')})\s+(?:(?:{row_of('the')})\s+|(?=[a-z][\w.]*-?\d)))`?([\w.-]*\w)"
    ),
    re.I,
)
_ON_NAME = lazy_re(
    lambda: rf"(?<![\w-])(?:{row_of('where')})\s+(?:(?:{row_of('the')})\s+)?`?([a-z]\w*[-.][\w.-]*\w)", re.I
)
_URL = lazy_re(r"(?<!\w)\w++://([\w.-]++)")
_ON_BRANCH = lazy_re(
    lambda: rf"(?<![\w-])(?:{row_of('where')})\s+(?:(?:{row_of('the')})\s+)?`?({_BRANCHES})(?![\w/-])", re.I
)


def limits_of(failing: str, others: Sequence[str], at: int, about: ToldCall) -> Iterator[str]:
    """Where a failure holds, by what its clause says before it says what goes wrong."""
    wrong = FAILS.search(failing)
    told = failing[: wrong.start()] if wrong and wrong.start() else failing
    if not goes_wrong(failing):
        # "… with several workers deadlock. It was `pytest -n auto`."
        told = " ".join((*others[:at], told))
    yield from _places(told, failing, others, at, about)
    if about.on:
        yield f"{OBJECT}{about.on}"
    if _TOGETHER.search(told):
        yield TOGETHER
    if _ROOT.search(told):
        yield ROOT
    elif _WHOLE.search(told) or EVERYTHING.search(told) or any(_names_more(each, about) for each in others):
        yield f"{WHOLE}:{about.command}"
    program = about.command.split()[0]
    if program in _TALKS:
        hosts = [each for clause in (failing, *others[:at]) for how in (_URL, HOSTNAME) for each in how.findall(clause)]
        hosts = [each for each in hosts if each.rsplit(".", 1)[-1] not in _ENDINGS]
        hosts += [each[1] for each in _ON_HOST.finditer(told) if program in _LOGS_IN and not ENDS.search(each[1])]
        yield from (f"{HOST}{each}" for each in hosts[:1])
    if program in _COPIES and (bucket := _ON_NAME.search(told)):
        yield f"{OBJECT}{bucket[1]}"


def _places(told: str, failing: str, others: Sequence[str], at: int, about: ToldCall) -> Iterator[str]:
    """The places, environments and branches for which a failure holds."""
    replaced = _OLD.search(told) is not None
    old = (clause for clause in others if replaced and _OLD.search(clause) and not goes_well(clause))
    named = [told] if replaced and not about.path else []
    words = (word.lstrip("`(").rstrip(f"{TRAILING}`)") for clause in (*named, *old) for word in clause.split())
    yield from (f"{PLACE}{each}" for each in words if PATH.fullmatch(each))
    if not about.path:
        beside = (_BESIDE.search(each) for each in (failing, *others[:at]))
        yield from (f"{PLACE}{found[1]}" for found in beside if found)
    forbidden = " ".join(each for each in others[:at] if BANS.search(each))
    branch = _ON_BRANCH.search(f"{forbidden} {told}") if about.command.startswith("git ") else None
    if branch:
        yield f"{BRANCH}{branch[1]}"
    for each in _WHERE.finditer(told):
        if each["environment"]:
            yield f"{ENVIRONMENT}{ENVIRONMENTS[each['environment'].lower()]}"
        elif not (about.path or branch):
            yield f"{PLACE}{each['place']}"
    if folder := _IN_FOLDER.search(told):
        name = folder[1].rstrip("/")
        within = (word for each in (told, *others) for word in each.split() if _is_within(word, name))
        yield from (f"{PLACE}{each}" for each in islice(within, 1))


_LOGS_IN = frozenset("psql mysql redis-cli mongosh ssh".split())
_ENDINGS = frozenset("sql json yml yaml toml sh py js ts txt csv md xml html gz log lock conf cfg ini env".split())
"""Of names that are files, and no hosts."""
_COPIES = frozenset("aws gsutil gcloud rsync scp docker podman".split())
"""Programs that are given a place elsewhere."""
_TALKS = _LOGS_IN | {"curl", "wget", "http", "https"}
"""Programs that are given a host."""


def _names_more(clause: str, about: ToldCall) -> bool:
    """Whether a clause tells the same command with a thing that it is about, where the failing one has none."""
    if about.path or " " not in about.command or any(not each.startswith("-") for each in about.words):
        return False
    read = [call_of_command(found[1]) for found in MARKED.finditer(clause)]
    same = [each for each in read if each is not None and each.command == about.command]
    return any(each.path or any(not word.startswith("-") and "=" not in word for word in each.words) for each in same)


def _is_within(path: str, name: str) -> bool:
    return "/" in path and name in path.strip(f"{TRAILING}`()").split("/")
