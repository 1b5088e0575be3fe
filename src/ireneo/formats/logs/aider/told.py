"""What aider says behind a reply: which edits it made, what its linter and the tests found, and the rest."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct, field

from ireneo.patterns import lazy_re

_USAGE = lazy_re(r"[\d.,]+k? prompt tokens,|Tokens: [\d.,]+k? sent")
_APPLIED = lazy_re(r"Applied edit to (?P<path>.+)")
_SKIPPED = lazy_re(r"(?:Skipping edits to|Unable to create|Did not apply edit to) (?P<path>[^\s,]+)")
_MISSED = lazy_re(r"The LLM did not conform to the edit format|# \d+ SEARCH/REPLACE blocks? failed to match!")
_BLOCK_MISSED = lazy_re(r"## SearchReplace\w*: .*? (?:lines )?in (?P<path>\S.*)")
_OTHERS_APPLIED = lazy_re(r"# The other \d+ SEARCH/REPLACE blocks? were applied successfully")
_MISSED_THROUGH = lazy_re(r"Just reply with fixed versions|Only \d+ reflections allowed|Retry the ")
_LINT = lazy_re(r"# Fix any errors below, if possible")
_LINTED_BY = lazy_re(r"## Running: (?P<command>.+)")
_LINT_ASKED = lazy_re(r"Attempt to fix lint errors\?")
_TEST_ASKED = lazy_re(r"Attempt to fix test errors\?")
_TESTED_BY = lazy_re(r"(?:Test Script|Running): ?(?P<command>\S.*?);?$")
_TESTED = lazy_re(r">>>>> |Test Script: |(?<!=)=+ test session starts =+|Ran \d+ tests? in ")
_RUNNING = lazy_re(r"Running (?P<command>\S.*)")
_RUN_ASKED = lazy_re(r"Run shell commands?\?")
_SEARCH = lazy_re(r"<{5,9} SEARCH")
_DIVIDER = lazy_re(r"={5,9}\s*$")
_REPLACE = lazy_re(r">{5,9} REPLACE")
_HARD_ENDS = (_USAGE, _APPLIED, _LINT, _LINT_ASKED, _TEST_ASKED)


class Missed(Struct, frozen=True, kw_only=True):
    """An edit that could not be made, as aider tells it."""

    path: str
    text: str
    old: str
    new: str


class Told(Struct, kw_only=True):
    """What aider says behind a reply."""

    applied: list[str] = field(default_factory=list)
    """The files that were changed."""
    skipped: dict[str, str] = field(default_factory=dict)
    """The files that were left as they are, each with what is said of it."""
    missed: list[Missed] = field(default_factory=list)
    refused: str = ""
    """That no edit could be read in the reply at all, and why."""
    others_applied: bool = False
    lint: str = ""
    lint_command: str = ""
    tests: str = ""
    test_command: str = ""
    tests_failed: bool | None = None
    """None: what they printed tells."""
    ran: list[str] = field(default_factory=list)
    """The commands that the model proposed and the user let run."""
    usage: list[str] = field(default_factory=list)
    """What the reply behind it cost, or the one before it."""
    rest: list[str] = field(default_factory=list)


def told_beside(lines: Sequence[str]) -> Told:
    """Read what aider says behind no reply: its own words, and what a reply cost."""
    usage = [line for line in lines if _USAGE.match(line)]
    return Told(usage=usage, rest=[line for line in lines if not _USAGE.match(line)])


def told(lines: Sequence[str]) -> Told:
    """Read what aider says behind a reply."""
    out = Told()
    left: list[str] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        if found := _APPLIED.match(line):
            out.applied.append(found["path"].strip())
        elif found := _SKIPPED.match(line):
            out.skipped[found["path"]] = line
        elif _MISSED.match(line):
            end = _end(lines, at + 1, _MISSED_THROUGH)
            _missed(lines[at:end], out)
            at = end
            continue
        elif _LINT.match(line):
            end = _end(lines, at + 1)
            _linted(lines[at:end], out)
            at = end
            continue
        elif (found := _RUNNING.match(line)) and any(_RUN_ASKED.match(asked) for asked in left):
            out.ran.append(found["command"])
        elif _TEST_ASKED.match(line):
            _tested(left, out, failed=True)
            left = [line]
        elif _USAGE.match(line):
            out.usage.append(line)
        else:
            left.append(line)
        at += 1
    if not out.tests and any(_TESTED.search(line) for line in left):
        _tested(left, out, failed=None)
        left = []
    out.rest = left
    return out


def _end(lines: Sequence[str], at: int, through: re.Pattern[str] | None = None) -> int:
    """The index behind a section: at what can't be in it, or behind the line that is its last."""
    while at < len(lines):
        if any(mark.match(lines[at]) for mark in _HARD_ENDS):
            return at
        at += 1
        if through is not None and through.match(lines[at - 1]):
            return at
    return at


def _missed(lines: Sequence[str], out: Told) -> None:
    heads = [at for at, line in enumerate(lines) if _BLOCK_MISSED.match(line)]
    out.others_applied = out.others_applied or any(_OTHERS_APPLIED.match(line) for line in lines)
    if not heads:
        out.refused = "\n".join(lines).strip()
        return
    for head, end in zip(heads, [*heads[1:], len(lines)], strict=True):
        section = lines[head:end]
        named = _BLOCK_MISSED.match(section[0])
        old, new = _sides(section)
        text = "\n".join(section).strip()
        out.missed.append(Missed(path=named["path"].strip() if named else "", text=text, old=old, new=new))


def _sides(section: Sequence[str]) -> tuple[str, str]:
    sides: tuple[list[str], list[str]] = ([], [])
    side: int | None = None
    for line in section:
        if side is None and _SEARCH.match(line):
            side = 0
        elif side == 0 and _DIVIDER.match(line):
            side = 1
        elif side == 1 and _REPLACE.match(line):
            break
        elif side is not None:
            sides[side].append(line)
    return "\n".join(sides[0]), "\n".join(sides[1])


def _linted(lines: Sequence[str], out: Told) -> None:
    out.lint = "\n".join([*([out.lint] if out.lint else []), *lines]).strip()
    command = next((found["command"] for line in lines if (found := _LINTED_BY.match(line))), "")
    out.lint_command = out.lint_command or command


def _tested(lines: Sequence[str], out: Told, *, failed: bool | None) -> None:
    text = "\n".join(line for line in lines if not _LINT_ASKED.match(line)).strip()
    out.tests = text or "The tests failed; what they printed was not logged."
    out.test_command = next((found["command"] for line in lines if (found := _TESTED_BY.match(line))), "")
    out.tests_failed = failed
