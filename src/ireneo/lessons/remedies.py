"""How a failure was got over: what stood between a call that failed and the next one to the same end.

Only what the structure shows counts: another program, another flag, a call in between, a text that was taken shorter.
That the code was mended is what work consists of, and no remedy.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from ireneo.context.actions import CHANGES
from ireneo.context.offline.errors import is_environment
from ireneo.lessons.fault import FOUND_NOTHING, TESTS_FAILED, TIMED_OUT
from ireneo.lessons.tries import LOOKS_ONLY, Try
from ireneo.patterns import lazy_re

WITHIN = 30
"""Calls in which the next try to the same end is looked for; of another program, and of a search, fewer."""
SOON = 4
_LINTER = lazy_re(r"\(((?!typecheck)[a-z]+)\)$")
_LEAST_SOUGHT = 6
"""Characters of a pattern that says what is looked for."""
_LINE = 90
"""Characters of a line that is shown as an example."""
_FLAG = lazy_re(r"(?<![\w-])--?[A-Za-z][\w-]*(?:=[\w./-]+)?")
_NARROW = lazy_re(r"(?<!\S)(-run|-k|--tests?|-t|--filter|--grep)\b|::\w")
_SHOWING = lazy_re(r"(?:2>&1|\|\s*(?:head|tail|less|grep)\b.*)$", re.S)
_LOOKING = frozenset({"read", "search"})
_SHELL_WORDS = frozenset("Bash python git do done for if then fi while pwd echo sleep cd time kill test rm cp".split())
_SEVERAL = lazy_re(r"\bmatch(?:es|ed)\b.{0,200}?\bof\b|\bmultiple\b|not unique|more than on(?:e|ce)", re.I)
"""Errors that say that a text stands in several places; then more of the lines round it tells them apart."""
_NOT_STARTED = lazy_re(r"\bspawn\b|posix_spawn")
"""What a tool says that could not even start its program: the path that it names is not the one looked for."""
_NAME = lazy_re(r"[\w./@][\w./@: +-]*\Z")
_CD = lazy_re(r"(?<![\w-])(?:cd|pushd)\s+[^\s;&|]+")
_LOOKS = lazy_re(r"(?:^|[\s:/_-])(?:build|vet|test|tests|lint|check|cache|list|show|status|diff|log|info|version)\b")
"""Commands that change nothing another one hangs on."""
_TOO_COMMON = frozenset({"-v", "-n", "-l", "-r", "-i", "-A", "-B", "-C", "-c", "-e", "-q", "-s", "-a", "-f", "-m"})


class Remedy(Struct, frozen=True, kw_only=True):
    """What was done about a failure, and whether it helped."""

    label: str
    """Its name, without what is of one run only: ``Read first``, ``bin/test``, ``with -tags=integration``. Empty: an
    example, which is no claim."""
    words: str
    """What to do, to stand after "When … fails, "."""
    tries: tuple[Try, ...]
    """The calls that show it, the one that worked last."""
    worked: bool
    limits: str = ""
    """When the failure does not come, as this shows."""
    end: str = "; then it passed"
    """What came of it, to stand after its words."""


def remedy_of(run: Sequence[Try], at: int) -> Remedy | None:
    """What was done about the failure at `at`; None where the structure tells of nothing that can be said."""
    failed = run[at]
    if not failed.shape.shell:
        return _of_a_tool(run, at)
    fault = failed.faults[0]
    if fault == FOUND_NOTHING:
        return _wider(run, at)
    if fault == TESTS_FAILED:
        return _narrower(run, at)
    again = _again(run, at)
    if again is None or not again.worked:
        return _other_program(run, at) if is_environment(fault) or fault == TIMED_OUT else _flags(failed, again, fault)
    between = run[at + 1 : run.index(again)]
    changes = [each for each in between if each.step.action.deed in CHANGES and each.worked]
    if changes:
        return _mended(failed, changes, again) if _LINTER.search(fault) else None
    return _flags(failed, again, fault) or _after(failed, between, again)


def _again(run: Sequence[Try], at: int) -> Try | None:
    wanted = run[at].program
    return next((each for each in run[at + 1 : at + 1 + WITHIN] if each.program == wanted), None)


def _of_a_tool(run: Sequence[Try], at: int) -> Remedy | None:
    failed = run[at]
    path = failed.shape.path
    if not path:
        return _other_argument(run, at)
    later = [each for each in run[at + 1 : at + 1 + WITHIN] if each.shape.tool == failed.shape.tool]
    again = next((each for each in later if each.shape.path == path), None)
    if again is None:
        return _elsewhere(run, at)
    between = run[at + 1 : run.index(again)]
    several = bool(_SEVERAL.search(failed.faults[0]))
    read = next((each for each in between if each.worked and each.shape.path == path and _reads(each)), None)
    if read is not None and not several:
        return Remedy(
            label=f"{read.shape.tool} first",
            words=f"read the file with `{read.shape.tool}` first",
            tries=(read, again),
            worked=again.worked,
            limits=f"Not where `{read.shape.tool}` has shown the file as it stands.",
        )
    if again.shape.everywhere and not failed.shape.everywhere:
        words = "set `replace_all`, or give more of the lines round it"
        return Remedy(label="replace_all", words=words, tries=(again,), worked=again.worked)
    # A text that was not found at all is as often found when more of it is given as when less is: that says nothing.
    if several and 0 < len(failed.shape.removed) < len(again.shape.removed):
        words = "give more of the lines to be replaced"
        return Remedy(label="more lines", words=words, tries=(again,), worked=again.worked)
    return None


def _elsewhere(run: Sequence[Try], at: int) -> Remedy | None:
    """A file that was not where it was looked for: a search found it, or what stood there instead was listed."""
    failed = run[at]
    if failed.step.action.deed not in _LOOKING or _NOT_STARTED.search(failed.step.output):
        return None
    for place, each in enumerate(run[at + 1 : at + 1 + SOON], at + 1):
        if not each.worked or each.step.action.deed != "search":
            continue
        then = next((one for one in run[place + 1 : place + 1 + SOON] if _reads(one)), None)
        if then is not None and _is_meant(failed.shape.path, then.shape.path):
            name = each.program
            words = f"look where it is with `{name}` first"
            return Remedy(label=f"{name} first", words=words, tries=(each, then), worked=then.worked)
    return None


def _is_meant(path: str, other: str) -> bool:
    """Whether a file is the one that was looked for at `path`, or stands below that."""
    same = path.rstrip("/").rsplit("/", 1)[-1] == other.rsplit("/", 1)[-1]
    return same or other.startswith(path.rstrip("/") + "/")


def _other_argument(run: Sequence[Try], at: int) -> Remedy | None:
    """The same tool with another word for one of its arguments."""
    failed = run[at]
    again = next((each for each in run[at + 1 : at + 1 + WITHIN] if each.shape.tool == failed.shape.tool), None)
    given, then = failed.step.call.arguments, again.step.call.arguments if again else None
    if again is None or not again.worked or isinstance(given, str) or not isinstance(then, dict):
        return None
    changed = [key for key in sorted({*given, *then}) if given.get(key) != then.get(key)]
    for key in changed:
        value = then.get(key)
        if key in given and isinstance(value, str) and re.fullmatch(r"[A-Za-z][\w.-]{1,40}", value):
            words = f"give `{value}` as `{key}`" if len(changed) <= 3 else f"take `{value}`"
            return Remedy(label=f"{key} {value}", words=words, tries=(again,), worked=True)
    dropped = [key for key in given if key not in then]
    if len(changed) == len(dropped) == 1:
        return Remedy(label=f"no {dropped[0]}", words=f"leave `{dropped[0]}` out", tries=(again,), worked=True)
    return None


def _other_program(run: Sequence[Try], at: int) -> Remedy | None:
    """Another program to the same end: it was given something of the same."""
    failed = run[at]
    wanted = _given(failed)
    for each in run[at + 1 : at + 1 + SOON]:
        another = each.shape.shell and each.program != failed.program and each.step.action.deed in ("run", "check")
        if (
            another
            and each.program not in _SHELL_WORDS - {"test", "python"}
            and _NAME.match(each.program)
            and each.worked
            and (wanted & _given(each))
        ):
            words = f"use `{each.shown}`"
            return Remedy(label=each.program, words=words, tries=(each,), worked=True)
    return None


def _flags(failed: Try, again: Try | None, fault: str) -> Remedy | None:
    if again is None or failed.program in _SHELL_WORDS | LOOKS_ONLY:
        return None
    before, now = _flags_of(failed), _flags_of(again)
    if _words_of(again) != _words_of(failed):
        return None
    added, dropped = sorted(now - before - _TOO_COMMON), sorted(before - now - _TOO_COMMON)
    if len(added) > 1 or len(dropped) > 1 or not (added or dropped) or (again.faults and again.faults[0] != fault):
        return None
    label, words = (f"with {added[0]}", f"give it `{added[0]}`") if added else ("", "")
    if added and dropped:
        label, words = f"{added[0]} for {dropped[0]}", f"give it `{added[0]}` in place of `{dropped[0]}`"
    elif dropped:
        label, words = f"without {dropped[0]}", f"leave `{dropped[0]}` out"
    return Remedy(label=label, words=words, tries=(failed, again), worked=again.worked)


def _mended(failed: Try, changes: Sequence[Try], again: Try) -> Remedy | None:
    """One line that was changed in a file that a linter names: what it was, and what it became."""
    linter = _LINTER.search(failed.faults[0])
    for each in changes:
        pair = _one_line(each.step.action.removed, each.step.action.added)
        name = each.shape.path.rsplit("/", 1)[-1]
        if pair is None or not name or name not in failed.step.output:
            continue
        before, after = pair
        # Where it found several faults, only a word about this one tells that the change was for it.
        if len(failed.faults) > 1 and not (linter and linter[1] in after):
            continue
        words = f"`{after}` in place of `{before}`" if before else f"`{after}` added"
        return Remedy(label="", words=words, tries=(each, again), worked=True)
    return None


def _one_line(removed: str, added: str) -> tuple[str, str] | None:
    old, new = ([line.strip() for line in text.splitlines() if line.strip()] for text in (removed, added))
    old, new = ([line for line in lines if not line.startswith(("//", "#", "*", "--"))] for lines in (old, new))
    gone, come = [line for line in old if line not in new], [line for line in new if line not in old]
    if len(come) != 1 or len(gone) > 1 or not all(8 < len(line) <= _LINE and "`" not in line for line in gone + come):
        return None
    return (gone[0] if gone else ""), come[0]


def _after(failed: Try, between: Sequence[Try], again: Try) -> Remedy | None:
    """One command that was run in between, and no file changed by an edit."""
    doing = [each for each in between if each.worked and each.shape.shell and each.step.action.deed not in _LOOKING]
    if len({each.program for each in doing}) != 1 or doing[0].program in _SHELL_WORDS:
        return None
    name = doing[0].program
    if _LOOKS.search(name) or not _NAME.match(name):
        return None
    words = f"run `{name}` first"
    return Remedy(label=f"{name} first", words=words, tries=(doing[-1], again), worked=again.worked)


def _narrower(run: Sequence[Try], at: int) -> Remedy | None:
    """Of tests that failed, the ones at hand were run alone."""
    if _NARROW.search(_command(run[at])):
        return None
    for each in run[at + 1 : at + 1 + WITHIN]:
        found = _NARROW.search(_command(each))
        if found and each.shape.shell and each.step.action.deed == "check":
            how = f"`{each.program}` with `{found[1]}`" if found[1] else f"`{each.program}` and its name"
            words = f"run one test alone by {how}"
            ran = each.worked or each.faults[:1] == (TESTS_FAILED,)
            return Remedy(label=f"{each.program} alone", words=words, tries=(each,), worked=ran, end="")
    return None


def _wider(run: Sequence[Try], at: int) -> Remedy | None:
    """A search that found nothing, and a later one for a part of the same that found something."""
    sought = run[at].shape.pattern
    for each in run[at + 1 : at + 1 + SOON]:
        pattern = each.shape.pattern
        if not each.worked or not pattern or not sought:
            continue
        less = pattern.strip("\\b^$ ")
        if pattern != sought and less in sought and len(less) >= _LEAST_SOUGHT:
            words = f"search for less of it, as `{pattern}` was found where `{sought}` was not"
            return Remedy(label="less of it", words=words, tries=(run[at], each), worked=True, end="")
        if pattern == sought and each.shape.paths != run[at].shape.paths:
            words = f"search more files, as `{pattern}` stood in another one than was guessed"
            return Remedy(label="more files", words=words, tries=(run[at], each), worked=True, end="")
    return None


def _reads(each: Try) -> bool:
    return each.step.action.deed == "read"


def _command(each: Try) -> str:
    return _SHOWING.sub("", _written(each))


def _written(each: Try) -> str:
    given = each.step.call.arguments
    return given if isinstance(given, str) else str(given.get("command") or given.get("cmd") or "")


def _flags_of(each: Try) -> frozenset[str]:
    return frozenset(_FLAG.findall(re.sub(r"\"[^\"]*\"|'[^']*'", "''", _command(each))))


def _words_of(each: Try) -> list[str]:
    """What a command says beside its flags and what is quoted in it."""
    return _FLAG.sub("", re.sub(r"\"[^\"]*\"|'[^']*'", "''", _command(each))).split()


def _given(each: Try) -> frozenset[str]:
    """What a command is given that is more than a flag or a usual word; the folder that it goes to is none of it."""
    written = _CD.sub(" ", _written(each))
    return frozenset(word for word in re.findall(r"[\w./:-]{5,}", written) if "/" in word or "." in word)
