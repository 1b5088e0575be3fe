"""The content of outputs: errors, counted totals, and lines of files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ireneo.log.calls import GUTTER, without_reminders
from ireneo.patterns import lazy_re
from ireneo.summaries.statements import APART, FEWEST_SAID, LONGEST, LONGEST_LINE
from ireneo.summaries.steps import TAGS, clip

_WRONG = lazy_re(
    r"error|undefined|fail|cannot|could not|not found|no such|unknown|denied|does not exist|panic|expected|mismatch"
    r"|unused|invalid|unexpected|refus|reject|conflict|traceback|exception|missing|\([a-z]+\)$"
)
"""For a line in lower case, which can be searched twice as fast as with a pattern that ignores case."""
_OF_CODE = lazy_re(r"[{;]$| := |^[})]|^(?:return|if|throw|raise|func|def|fn|function)\b|^\w+(?:\.\w+)+\(")
"""A line of code, which an output shows next to an error in it."""
_ENDED_BADLY = lazy_re(
    r"^(?:\[[\w:./-]{1,40}\] )?(?:ERROR task failed|FAIL(?:ED|URE)?(?:\s+\S+\s+(?:[\d.]+s|\[build failed\]))?"
    r"|exit (?:code|status) \d+|make: \*\*\* .*)$",
    re.IGNORECASE,
)
"""A line that only says that something failed."""
_COLOURED = lazy_re(r"(?:\x1b\[\d{0,3}|\[\d{1,3})(?:;\d{1,3}){0,4}m")
_COMPLAINS = lazy_re(
    r"^\S+?:\d+:\d+:|\b(?:should|must|got|want|not enough|too many|redeclared|never used|not used|duplicate)\b"
)
"""For a line in lower case that begins with a place in a file."""
_TOOK = lazy_re(r" \(\d+(?:\.\d+)?s\)$")
"""The time that a test took."""
SCRAP = 8
_NO_ERROR = lazy_re(r"^(?:ok\b|PASS\b|--- PASS|=== |#|\?)|[\w ]{1,30}:$|[=_-]{4,}")
"""Lines that passed, only introduce others, or are rulers."""
_PLACE = lazy_re(r"^(?:[\w@~+-]*+[./])++[\w@+-]*+:\d+(?::\d+)?:?\s*")
_AT_LINE = lazy_re(r"^\s*(?P<number>\d{1,9})[-:]")
_FOUND_AT = lazy_re(r"^(?P<path>(?:[\w@~+-]*+[./])++[\w@+-]{0,60}?)[-:](?P<number>\d{1,7})[-:]")
_HUNK = lazy_re(r"^@@ -\d")
MOST_ERRORS = 6
MOST_LINES = 2
"""The maximum number of lines of a long output that are shown for their totals, or because they are mentioned."""
SHOWN_OUTPUT = 220
_TOTAL = lazy_re(
    r"\b\d+ (?:passed|failed|errors?|warnings?|issues?|tests?|files? changed|insertions?|deletions?|found|matches|rows?"
    r"|problems?|vulnerabilities)\b|\btoo large\b|\b(?:total|count|summary|coverage)\b[:\s]",
    re.IGNORECASE,
)
_DIGIT = lazy_re(r"\d")
_PROGRESS = lazy_re(r"^(?=[^.\n]{0,200}\.)[.FEsxXpP]+(?:[^\S\n]+\[ {0,2}\d{1,3}%\])?[^\S\n]*$", re.MULTILINE)
"""A line in which a test runner shows a letter or a dot for each test."""
_HARNESS_SAYS = lazy_re(
    r"^(?:(?:Shell cwd was reset to|agentId: \w+ \(for resuming) .*"
    r"|Chunk ID: \w+|Wall time: [\d.]+ seconds|Process exited with code \d+|Original token count: \d+|Output:)$",
    re.MULTILINE,
)
"""Text that the agent's program added to an output, and the frame around it."""


def error_lines(output: str, limit: int = 320) -> str:
    """The different error lines of an output, each file once; empty for none.

    A line that only says that something failed is used if no other line says what.
    """
    told: list[str] = []
    known: set[str] = set()
    ended = ""
    for raw in TAGS.sub("\n", _COLOURED.sub("", output)).splitlines():
        # pytest prefixes the lines of a failure with E.
        line = " ".join(raw.removeprefix("E  ").split()).rstrip(".")
        place = _PLACE.match(line)
        wrong = _WRONG.search(line.lower()) or (place and _COMPLAINS.search(line.lower()))
        if len(line) <= SCRAP or not wrong or _NO_ERROR.match(line):
            continue
        line = _TOOK.sub("", line)
        said = line[place.end() :] if place else line
        if _ENDED_BADLY.match(said):
            ended = ended or said
            continue
        file = place[0].partition(":")[0].rpartition("/")[2] if place else ""
        if not place and _OF_CODE.search(said):
            continue
        if said not in known:
            told.append(line if file and not known else f"{file}: {said}" if file and file not in known else said)
        elif file and file not in known:
            told[-1] += f", also in {file}"
        known |= {said, file}
        if len(told) == MOST_ERRORS:
            break
    return clip("; ".join(told) or ended, limit)


def total_lines(output: str, limit: int) -> str:
    """The last lines of an output that count something; empty for none."""
    lines = (" ".join(line.split()).strip(" =-") for line in _COLOURED.sub("", output).splitlines())
    counting = [line for line in lines if len(line) <= LONGEST_LINE and _TOTAL.search(line) and _DIGIT.search(line)]
    return clip("; ".join(counting[-MOST_LINES:]), limit)


_LAUNCHED = lazy_re(r"\s*Async agent launched\b")
_OF_AGENT, _OUTPUT = ("agent</task_type>", "<status>completed</status>"), "<output>"
"""Text that a tool writes around the report of an agent that was waited for."""
_CALLED = lazy_re(r"^(?:\[Tool: .*|</?[\w-]+>.*)$", re.MULTILINE)


def report_in(output: str, *, asked: bool) -> str:
    """The report of another agent, in the output of the call that `asked` it, or of one that waited for it."""
    if not asked:
        if not all(mark in output for mark in _OF_AGENT):
            return ""
        return _CALLED.sub("", without_reminders(output.partition(_OUTPUT)[2]))
    return "" if _LAUNCHED.match(output) else _HARNESS_SAYS.sub("", without_reminders(output))


def shorten_output(output: str) -> str:
    """An output on one line: whole if it is short, otherwise its last lines with totals, or its last lines."""
    output = _PROGRESS.sub("", _HARNESS_SAYS.sub("", _COLOURED.sub("", output)))
    said = " ".join(output.split())
    if len(said) <= SHOWN_OUTPUT:
        return said
    lines = dict.fromkeys(" ".join(line.split()) for line in output.splitlines() if len(line) <= LONGEST_LINE)
    lines.pop("", None)
    shown = [line for line in lines if _TOTAL.search(line)] or list(lines)
    return clip(" […] ".join(shown[-MOST_LINES:]), SHOWN_OUTPUT)


def seen_lines(output: str) -> list[str]:
    """The lines of a file or search result, without the line numbers and paths that the tool added."""
    lines = list(_without_line_numbers(without_reminders(output).splitlines()))
    if any(_HUNK.match(line) for line in lines):
        return [line[1:] for line in lines if line[:1] in ("+", " ") and not line.startswith("+++")]
    return lines


def _without_line_numbers(lines: Sequence[str]) -> Iterator[str]:
    """Remove line numbers and paths, and mark gaps."""
    before: tuple[str, int] | None = None
    for line in lines:
        found = _FOUND_AT.match(line) or _AT_LINE.match(line)
        at = (found["path"] if "path" in found.re.groupindex else "", int(found["number"])) if found else None
        if at and before and at != (before[0], before[1] + 1):
            yield APART
        before = at or before
        bare = GUTTER.sub("", line)
        yield line[found.end() :] if found and bare == line else bare


def is_prose(output: str) -> bool:
    """Whether most of an output is sentences, as in a page or a report."""
    lines = [line.strip() for line in output.splitlines()[:MOST_JUDGED] if line.strip()]
    # A line of links or data is weighted no more than a long sentence.
    return sum(len(line) for line in lines if _is_sentence(line)) > sum(min(len(line), LONGEST) for line in lines) / 2


def _is_sentence(line: str) -> bool:
    if len(line.split()) < FEWEST_SAID or _CODED.search(line):
        return False
    return sum(map(str.isalpha, line)) + line.count(" ") >= LETTERS * len(line)


MOST_JUDGED = 120
"""How many lines decide whether an output is prose."""
LETTERS = 0.85
"""Least share of letters and blanks in a line of text."""
_CODED = lazy_re(r"[{};=]|\w\(|^\S*\d[:-]|^[0-9a-f]{7,40}\b")


def surviving_lines(lines: Sequence[str], removed: Sequence[str]) -> list[str]:
    """The lines that a later change did not remove."""
    gone = {line.strip() for line in removed}
    return [line for line in lines if line.strip() not in gone]
