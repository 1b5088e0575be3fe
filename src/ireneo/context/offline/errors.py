"""What an output says went wrong: the line that names the error, and a signature that forgets the accidents."""

from __future__ import annotations

import re
from functools import lru_cache

from ireneo.context.offline.prose import clip
from ireneo.patterns import lazy_re

_TAGS = lazy_re(r"</?(?:tool_use_error|error|output|stderr|stdout|returncode|output_head|output_tail|warning)>")
_NAMED = lazy_re(
    r"(?:^|\s)(?:[A-Z]\w*(?:Error|Exception)\b|error(?:\[\w+\])?:|Error:|ERROR|fatal:|panic:|FAIL(?:ED|:)?\b|E\s{2,}\S|"
    r"--- FAIL|undefined:|cannot |could not |no such |not found|permission denied|command not found|Traceback)",
    re.IGNORECASE,
)
_STATUS = lazy_re(
    r"(?:exit(?:ed)?(?: with)?(?: code| status)?|returncode>)\s*+(?:[:=]\s*+)?(?P<code>\d+)", re.IGNORECASE
)
_ACCIDENT = lazy_re(r"0x[0-9a-f]+|\b[0-9a-f]{7,}\b|\d+|(?:[\w.@~+-]{0,255}/)+[\w.@~+-]*|\"[^\"]*\"|'[^']*'")


_HEADING = lazy_re(r"[=_-]{3,} (?:ERRORS|FAILURES|test session starts|short test summary info) [=_-]{3,}")
_MASKED = lazy_re(
    r"^(?:--- FAIL|FAIL\b|FAILED\b|Traceback \(most|panic:|error\[E\d|make(?:\[\d+\])?: \*\*\*)", re.MULTILINE
)
_ENVIRONMENT = lazy_re(
    r"not found|no such|unknown|unrecogni[sz]ed|usage:|permission denied|no module named|not installed|cannot find",
    re.IGNORECASE,
)


def hides_failure(command: str, output: str) -> bool:
    """Whether a command said to have succeeded failed all the same: a pipe hands on the last program's status."""
    return any(mark in command for mark in "|;") and bool(_MASKED.search(output))


def is_environment(error: str) -> bool:
    """Whether an error speaks of what is missing or misspelt, and not of what was checked."""
    return bool(_ENVIRONMENT.search(error))


def exit_status(output: str) -> int | None:
    """The exit status that an output names, if it names one."""
    found = _STATUS.search(output[:400]) or _STATUS.search(output[-400:])
    return int(found["code"]) if found else None


def error_line(output: str, limit: int = 200) -> str:
    """The line of a failing output that says what went wrong, with its exit status if it names one.

    Python puts the error last, compilers put it first: of the lines that name an error the last one of a
    traceback is taken, else the first; where none does, the last line that says anything.
    """
    lines = [line.strip() for line in _TAGS.sub("\n", output).splitlines()]
    lines = [line for line in lines if any(char.isalnum() for char in line) and not _HEADING.fullmatch(line)]
    if not lines:
        return ""
    named = [line for line in lines if _NAMED.search(line) and not line.startswith("Traceback")]
    last_names_it = "Traceback (most recent call last)" in output or not named
    chosen = (named or lines)[-1 if last_names_it else 0]
    chosen = chosen.removeprefix("E  ").lstrip()
    status = exit_status(output)
    if status and not _STATUS.search(chosen):
        chosen = f"exit {status}: {chosen}"
    return clip(" ".join(chosen.split()), limit)


@lru_cache(maxsize=4_096)
def signature(text: str) -> str:
    """`text` without what differs from one occurrence to the next: numbers, hashes, addresses, paths, quotations."""
    return " ".join(_ACCIDENT.sub("~", text.lower()).split())[:120]
