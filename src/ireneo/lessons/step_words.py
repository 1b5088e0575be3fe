"""How a call is named in a sentence, and what came back from it: short, and in words that stand in its messages."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ireneo.grounding.neutral import instruction_like
from ireneo.patterns import lazy_re
from ireneo.summaries.steps import Step, clip, exit_status

MOST_OF_A_COMMAND = 60
MOST_OF_AN_ERROR = 110
"""Characters of each that are shown."""
_FILES = 2
"""Files that are named of those that were changed."""
_DOING = {"read": "reading", "edit": "editing", "write": "writing", "search": "searching for", "fetch": "fetching"}
_EXIT = lazy_re(r"^exit \d+: ")
_GENERIC = lazy_re(
    r"task failed|^FAIL(?:ED)?\b|^(?:g?make|npm|yarn|pnpm)\b.*\berr(?:or)?\b|exit status|^error: recipe|^[=_-]{4,}"
    r"|^> ?\s*raise\b|^raise\b|^\d+ (?:failed|errors?)\b|^Exit code|process completed|^String:|^Found \d+"
    r"|(?-i:\b(?:INFO|DEBUG)\b)|^>?\s*\d+ [│|]",
    re.IGNORECASE,
)
"""Lines that name no cause: they only say that it failed."""
_CAUSE = lazy_re(
    r"^E\s{2,}\S|^(?:\w+\.)*\w*(?:Error|Exception)\b: \S|^FAILED \S+::\S+ - \S"
    r"|^\S+\.[a-z]{1,4}:\d+(?::\d+)?: (?!in\b)\S|\berror(?:\[\w+\]| TS\d+)?: \S"
)
"""Lines that name one: a test runner's, a compiler's, a linter's."""
_TELLS = lazy_re(
    r"\b(?:want|expected|got|error|fail\w*|undefined|cannot|missing|invalid|panic\w*|unused|should|must)\b"
    r"|Error\b|Exception\b",
    re.IGNORECASE,
)
"""What such a line says that tells more than what a test has logged at its place."""
_TEST = lazy_re(r"^--- FAIL: ")
"""Lines that name at least the test."""
_SAYS_WHY = lazy_re(
    r"error|fatal|cannot|can't|could not|no such|not found|denied|usage:|invalid|fail|unknown|illegal|not exist|exceed"
    r"|too (?:large|long|many)|missing|unexpected|not a |is a directory|unmatched|no matches|parse",
    re.IGNORECASE,
)
"""What a search or a look into a file says that failed, and did not merely show what it found."""
_BARE = lazy_re(r"^\W*(?:error|fatal|failed|failure|exception|traceback)\W*$", re.IGNORECASE)
"""A line that announces the next one."""
_MARKS = lazy_re(r"</?[A-Za-z][\w-]*>")
_LOOKED_AT = 40_000


def named(step: Step) -> str:
    """The call as a sentence names it: a command between backticks, or what was done to which file."""
    action = step.action
    if action.shell:
        return f"`{_code(action.subject, MOST_OF_A_COMMAND)}`"
    if action.kind in _DOING:
        subject = action.subject if action.kind in ("search", "fetch") else file_name(action.subject)
        if action.kind == "search":
            # Where it was searched for is told in words of our own: “… in src”.
            subject = subject.rpartition(" in ")[0] or subject
        return f"{_DOING[action.kind]} `{_code(subject, MOST_OF_A_COMMAND)}`"
    return f"`{_code(step.call.name, MOST_OF_A_COMMAND)}`"


def changes_named(changes: Sequence[Step]) -> str:
    """Which files were changed: “editing `a.py` and `b.py`”."""
    files = list(dict.fromkeys(file_name(step.action.subject) for step in changes))
    kinds = {step.action.kind for step in changes}
    doing = "writing" if kinds == {"write"} else "editing"
    shown = [f"`{_code(file, MOST_OF_A_COMMAND)}`" for file in files[:_FILES]]
    if len(files) > _FILES:
        return f"{doing} {', '.join(shown)} and others"
    return f"{doing} {' and '.join(shown)}"


def telling(changes: Sequence[Step]) -> list[Step]:
    """Of some changes those that show the files which `changes_named` names."""
    first: dict[str, Step] = {}
    for step in changes:
        first.setdefault(file_name(step.action.subject), step)
    return list(first.values())[:_FILES]


def file_name(path: str) -> str:
    """The last part of a path, with the folder it stands in where its own name says little."""
    parts = [part for part in path.split("/") if part]
    if len(parts) > 1 and (len(parts[-1]) <= 6 or parts[-1].startswith(("__init__", "index", "mod.", "main."))):
        return "/".join(parts[-2:])
    return parts[-1] if parts else path


def error_quoted(step: Step, limit: int = MOST_OF_AN_ERROR) -> str:
    """What came back, behind a colon: the line that names the cause, verbatim, and the exit status.

    Empty where nothing tells, and where the line is worded as an instruction to whoever reads it.
    """
    said = cause(step)
    line = clip(said, limit) if said else ""
    status = exit_status(step.output)
    shown = f" (exit {status})" if status and status > 1 else ""
    if not line or instruction_like(line):
        return shown
    return f": “{line}”{shown}"


def cause(step: Step) -> str:
    """The line of a failing output that names the cause, whole; empty where none does."""
    line = _EXIT.sub("", step.error)
    looked = step.action.kind in ("search", "read") and step.call.name.lower() not in _FILE_TOOLS
    if looked and not _SAYS_WHY.search(line):
        return ""
    if step.output.lstrip().startswith("<tool_use_error>"):
        line = next((each for each in _lines(step.output)), line)
    elif step.action.shell and (_GENERIC.search(line) or not _CAUSE.search(line)):
        lines = _lines(step.output[-_LOOKED_AT:])
        found = [each for pattern in (_CAUSE, _TEST) for each in lines if pattern.search(each)]
        named_causes = [each for each in found if not _GENERIC.search(each)]
        line = next(filter(_TELLS.search, named_causes), next(iter((*named_causes, *found)), line))
    line = re.sub(r"^(?:E\s{2,}|#+ )", "", line)
    if _BARE.match(line):
        lines = _lines(step.output)
        after = next((at for at, each in enumerate(lines) if each.startswith(line.strip())), len(lines))
        line = next(iter(lines[after + 1 :]), line)
    # What is quoted inside a quotation would end it.
    line = " ".join(line.translate(_QUOTES).split()).rstrip(".")
    return line if sum(char.isalpha() for char in line) > 2 else ""


def _lines(text: str) -> list[str]:
    return [line.strip() for line in _MARKS.sub("\n", text).splitlines() if line.strip()]


_FILE_TOOLS = frozenset({"read", "view", "open", "grep", "glob", "search", "ls"})
"""Tools that say why whenever they fail."""
_QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"'})


def _code(text: str, limit: int) -> str:
    """`text` as it stands between backticks: on one line, and cut before the first one of its own."""
    line = " ".join(text.split())
    before, mark, _ = line.partition("`")
    return f"{clip(before.rstrip(), limit - 1).rstrip('…')}…" if mark else clip(line, limit)
