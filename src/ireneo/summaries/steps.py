"""The steps of an agent's work: each tool call with its action, its result and whether it failed."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Literal

from msgspec import Struct

from ireneo.language.words import sentences as split
from ireneo.log.calls import derive_failed, known_failed, was_interrupted, was_refused, without_reminders
from ireneo.log.message import Call, Message, MessageId, Result, strings
from ireneo.patterns import lazy_re
from ireneo.summaries.summary import Line

MAX_SENTENCE = 320
"""Longer sentences (lists, pasted lines) are cut at a word, with a mark."""

_FENCE = lazy_re(r"```.*?(?:```|\Z)", re.DOTALL)
_MARKUP = lazy_re(r"^(?:[#>*+-]+|\d+[.)])\s+|\*\*")


def sentences(text: str) -> Iterator[str]:
    """The sentences of `text` in order, each on one line, without code blocks and markup."""
    for raw in _FENCE.sub("\n", text).splitlines():
        line = _MARKUP.sub("", raw.strip()).strip()
        # A table's rule, or a bare heading mark.
        if not any(char.isalpha() for char in line):
            continue
        for sentence in split(line):
            words = " ".join(sentence.split())
            # An introduction means nothing without its list, nor a table row without its header.
            if len(words) > 12 and words[-1] != ":" and not words.startswith("|"):
                yield clip(words, MAX_SENTENCE)


def clip(text: str, limit: int) -> str:
    """Shorten `text` to `limit` characters at a word, ending in an ellipsis."""
    if len(text) <= limit:
        return text
    cut = text.rfind(" ", limit // 2, limit - 1)
    return text[: cut if cut > 0 else limit - 1].rstrip(" ,;:") + "…"


ActionKind = Literal["read", "search", "edit", "write", "run", "check", "save", "plan", "fetch", "ask", "use"]
"""`save` is version control, `check` runs tests or builds, `use` is any other tool."""

CHANGES = frozenset({"edit", "write"})
"""Actions that change a file."""


class Action(Struct, frozen=True, kw_only=True, gc=False):
    """The action of a call, and its object."""

    kind: ActionKind
    subject: str
    """The file, command, pattern or address; for other tools the tool with its main argument."""
    shell: bool = False
    """Whether `subject` is a shell command."""
    removed: str = ""
    """Text that an edit removed."""
    added: str = ""
    """Text that an edit or a new file added."""


PATH_KEYS = ("file_path", "path", "filename", "file", "notebook_path", "target_file", "relative_path", "AbsolutePath")
_COMMAND_KEYS = ("command", "cmd", "script", "bash", "CommandLine", "code")
_PATTERN_KEYS = ("pattern", "query", "regex", "glob", "search_term", "keyword")
_OLD_KEYS = ("old_string", "old_str", "old_text", "oldText", "search", "original")
_NEW_KEYS = (
    "new_string",
    "new_str",
    "new_text",
    "newText",
    "content",
    "file_text",
    "contents",
    "replace",
    "insert_text",
)
_PATCH_KEYS = ("patch", "diff", "edits", "changes", "input")


def understand(call: Call) -> Action:
    """Derive the action of a call from its arguments."""
    if isinstance(call.arguments, str):
        return _text_action(call.name, call.arguments)
    given = call.arguments
    command = _first_string(given, _COMMAND_KEYS)
    path = _first_string(given, PATH_KEYS)
    if command and not path:
        return command_action(command)
    if path:
        return _file_action(call.name, path, given)
    if patch := _first_string(given, _PATCH_KEYS):
        return _text_action(call.name, patch)
    if pattern := _first_string(given, _PATTERN_KEYS):
        return Action(kind="search", subject=_clip_line(pattern))
    if (url := _first_string(given, ("url", "uri", "href"))) and not url.startswith(("file:", "/")):
        return Action(kind="fetch", subject=_clip_line(url))
    if any(key in given for key in ("todos", "plan", "items", "steps")):
        return Action(kind="plan", subject=call.name)
    if any(key in given for key in ("question", "questions")):
        return Action(kind="ask", subject=call.name)
    return Action(kind="use", subject=_clip_line(f"{call.name} {_argument_gist(given)}".strip()))


def command_action(command: str) -> Action:
    """Derive the action of a shell command from the last of its steps that does something."""
    command = _CONTINUED.sub(" ", command)
    written = _HEREDOC.search(command)
    if written:
        body = _HEREDOC_BODY.search(command, command.find("<<", written.start()))
        text = body["text"] if body else command
        return Action(kind="write", subject=written["path"] or written["other"], added=text)
    # Of a pipe the first command is used; of several commands the last one that does something.
    telling = [step for step in _split_steps(command) if not _SILENT.match(step)]
    kind = (_kind_of_step(telling[-1].partition("|")[0].strip()) if telling else None) or "run"
    if kind in ("read", "search") and any(map(_WRITES.search, _split_steps(command)[:-1])):
        kind = "run"
    if kind == "edit" and (target := _last_path(command)):
        return Action(kind="edit", subject=target, added=command)
    if kind == "read" and (target := _last_path(command)):
        return Action(kind="read", subject=target)
    ran = _FILTERS.sub("", _without_cd(command)).strip()
    if len(ran) > COMMAND_CHARACTERS and (found := _ASSIGNED.match(ran)) and found.end() < len(ran):
        # In a long command the program says more than the values that precede its name.
        ran = ran[found.end() :]
    said = _clip_chain(ran) if kind in ("run", "check") else _clip_line(ran, COMMAND_CHARACTERS)
    return Action(kind=kind, subject=said, shell=True)


_HEREDOC = lazy_re(
    r"(?:cat|tee)\b[^\n|]{0,160}?(?:>>?|tee(?: -a)?)\s*+(?P<path>[\w./~@+-]{1,400}+)[^\n]{0,80}<<"
    r"|<<[^\n]{0,400}>\s*(?P<other>[\w./-]+)"
)
_APPENDS = lazy_re(r">>|\btee -a\b")
_HEREDOC_BODY = lazy_re(
    r"<<-?\s*['\"]?(?P<end>\w+)[^\n]*\n(?P<text>.*?)(?:^\s*(?P=end)\s*$|\Z)", re.DOTALL | re.MULTILINE
)
_WRITES = lazy_re(
    r"^(?:do )?(?:rm|mkdir|cp|mv|touch|chmod|git (?:clone|init|worktree))\b|(?<![0-9&<>=-])>{1,2}\s?(?![&\s]|/dev/null)"
)
_CONTINUED = lazy_re(r"\\\n")
_ASSIGNED = lazy_re(
    r"(?:[A-Za-z_]\w{0,80}=(?:\"[^\"\n]{0,400}\"|'[^'\n]{0,400}'|[^\s;&|\"'$(`]{0,400})(?:\s*&&\s*|\s*;\s*|\s+))++"
)
_MOVING = lazy_re(
    r"\s*(?:cd\s+\S+|source\s+\S+|export\s+\S+|set\s+-\w+|sleep\s+\S+"
    # What is in a temporary folder is nobody's loss.
    r"|rm\s+-rf?\s+[\"']?(?:/tmp|/private|/var/folders)/\S+)\s*(?:&&|;)\s*"
)
_STEP = lazy_re(r"&&|\|\||;|\n")
# Filtering the output doesn't make it another command.
_FILTERS = lazy_re(
    r"(?<!\s)(?:\s*+2>&1|\s*+2>\s*+/dev/null|\s*+\|\s*+(?:head|tail|less|cat|wc|sort|uniq)\b"
    r"(?:(?!2>&1|2>\s{0,9}/dev/null)[^|&;\n])*+){1,12}+\s*$"
)
COMMAND_CHARACTERS = 90
"""How many characters of a command are shown."""
_LONGEST_LINE = 10_000
"""Longer lines are not split into words, which takes quadratic time."""
_ASKS_HOW = lazy_re(r"\s(?:--help|--version)(?:\s+2>\S+)?$")
"""A program that is only asked how it is used checks nothing."""
_SILENT = lazy_re(r"^(?:cd|source|export|set|sleep|echo|true|pwd|exit|\.)\b|^#")

_BY_PROGRAM: dict[ActionKind, re.Pattern[str]] = {
    "edit": lazy_re(r"^(?:sed\b.*\s-i|perl\b.*\s-p?i|patch\b|apply_patch|git apply|mv |cp )"),
    "check": lazy_re(
        r"^(?:\S*pytest|tox|nox|go (?:test|vet|build)|cargo (?:test|build|check|clippy)|make\b|mvn|gradle"
        # Installing packages, or listing them, checks nothing.
        r"|(?:yarn|pnpm) (?!(?:add|i|install|up|update|upgrade|remove|rm|uninstall|dlx|link|unlink|why|list|ls)\b)"
        r"|npm (?:test|run)|tsc|mypy|ruff|eslint|golangci-lint|gofmt(?! -w)|mise (?:run|test)|ctest|cmake|gcc"
        r"|jest|vitest"
        r"|python\S* -m (?:pytest|unittest)|python\S* \S*(?:test|repro)\S*|\./\S*(?:test|check)\S*"
        r"|bundle exec|rake|phpunit|dotnet (?:test|build))"
    ),
    "save": lazy_re(r"^(?:git (?:add|commit|push|merge|rebase|checkout|switch|restore|stash|reset|revert|tag)|gh )"),
    "search": lazy_re(r"^(?:grep|rg|ag|find|fd|ls|tree|git (?:log|status|diff|show|blame|branch|grep)|which|wc)\b"),
    "read": lazy_re(r"^(?:cat|head|tail|sed -n|nl|less|more|bat|awk)\b"),
    "fetch": lazy_re(r"^(?:curl|wget|http)\b"),
}


def _kind_of_step(step: str) -> ActionKind | None:
    if _ASKS_HOW.search(step):
        return None
    for kind, program in _BY_PROGRAM.items():
        if program.match(step):
            return kind
    return None


def _split_steps(command: str) -> list[str]:
    return [step.strip() for step in _STEP.split(command) if step.strip()]


def _without_cd(command: str) -> str:
    """Drop a leading `cd … &&` and similar commands."""
    # By index, and sliced once: there may be thousands of them.
    at = 0
    while (moving := _MOVING.match(command, at)) and moving.end() < len(command):
        at = moving.end()
    return command[at:]


def _last_path(command: str) -> str | None:
    steps = _split_steps(_without_cd(command))
    line = next((step for step in steps if "sed" in step), steps[-1]) if steps else ""
    if len(line) > _LONGEST_LINE:
        return None
    try:
        words = shlex.split(line)
    except ValueError:
        return None  # A shell couldn't parse the line either: it remains a command.
    for word in reversed(words):
        if re.fullmatch(r"[\w~@+-]*+[./][\w.~@+/-]*\w", word) and not word.startswith("-"):
            return word
    return None


def _file_action(tool: str, path: str, given: dict[str, object]) -> Action:
    removed, added = _first_string(given, _OLD_KEYS), _first_string(given, _NEW_KEYS)
    edits = given.get("edits")
    if isinstance(edits, list) and not added:
        pairs = [edit for edit in edits if isinstance(edit, dict)]
        removed = "\n".join(_first_string(edit, _OLD_KEYS) for edit in pairs)
        added = "\n".join(_first_string(edit, _NEW_KEYS) for edit in pairs)
    pattern = _first_string(given, _PATTERN_KEYS)
    if removed:
        return Action(kind="edit", subject=path, removed=removed, added=added)
    if added or "content" in given:
        grows = re.search(r"insert|append", f"{tool} {given.get('command')}", re.IGNORECASE)
        return Action(kind="edit" if grows else "write", subject=path, added=added)
    if pattern:
        return Action(kind="search", subject=_clip_line(f"{pattern} in {short_path(path)}"))
    if re.search(r"edit|write|create|insert|replace|patch", tool, re.IGNORECASE) and "view" not in str(
        given.get("command")
    ):
        return Action(kind="edit", subject=path)
    return Action(kind="read", subject=path)


_PATCHED = lazy_re(r"^(?:\*\*\* (?:Update|Add|Delete) File: |\+\+\+ (?:b/)?)(?P<path>\S+)", re.MULTILINE)


def _text_action(tool: str, text: str) -> Action:
    patched = _PATCHED.search(text)
    if patched:
        lines = text.splitlines()
        return Action(
            kind="edit",
            subject=patched["path"],
            removed="\n".join(line[1:] for line in lines if line.startswith("-")),
            added="\n".join(line[1:] for line in lines if line.startswith("+")),
        )
    return Action(kind="use", subject=_clip_line(f"{tool} {text}"))


def _first_string(given: dict[str, object], keys: tuple[str, ...]) -> str:
    for key in keys:
        value = given.get(key)
        if isinstance(value, str) and value:
            return value
        # Some agents pass the command as a list of words.
        if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
            return " ".join(str(word) for word in value)
    return ""


def _argument_gist(given: dict[str, object]) -> str:
    values = [str(value) for value in given.values() if isinstance(value, (str, int, float)) and value != ""]
    return " ".join(values)


def _clip_line(text: str, limit: int = 160) -> str:
    """One line of at most `limit` characters, cut before a word or a part of a path."""
    line = " ".join(text.split())
    if len(line) <= limit:
        return line
    cut = max(line.rfind(mark, limit - LONGEST_WORD, limit - 1) for mark in " /")
    return line[: cut + 1 if cut > 0 else limit - 1].rstrip() + "…"


LONGEST_WORD = 24
"""A longer word is cut where the limit is."""


def whole_command(step: Step, limit: int) -> str:
    """The command of a step on one line, with more of a long one than its subject has."""
    given = step.call.arguments if isinstance(step.call.arguments, dict) else {}
    ran = _FILTERS.sub("", _without_cd(_first_string(given, _COMMAND_KEYS)))
    return _clip_line(ran, limit) if step.action.subject.endswith("…") and ran else step.action.subject


def _clip_chain(command: str) -> str:
    """A command on one line; of a long chain what it removes, and the last commands, for which the others prepare."""
    kept, shown, cut = command, "", ""
    while len(kept) + len(CHAINED) > COMMAND_CHARACTERS and "&&" in kept:
        first, _, kept = kept.partition("&&")
        if _REMOVES.match(first):
            shown += f"{_clip_line(first, COMMAND_CHARACTERS)} && "
        else:
            cut = CHAINED
    if len(command) <= COMMAND_CHARACTERS or kept is command or len(kept) > COMMAND_CHARACTERS:
        return _clip_line(command, COMMAND_CHARACTERS)
    return f"{shown}{cut}{kept if cut else kept.lstrip()}"


_REMOVES = lazy_re(r"\s*(?:sudo )?(?:rm|git (?:reset|clean|restore|checkout))\s")
CHAINED = "… &&"
"""Stands for the first commands of a long chain."""


def short_path(path: str) -> str:
    """The last two parts of a long path."""
    parts = path.rstrip("/").split("/")
    return path if len(parts) <= 3 else "…/" + "/".join(parts[-2:])


TAGS = lazy_re(r"</?(?:tool_use_error|error|output|stderr|stdout|returncode|output_head|output_tail|warning)>")
_NAMED = lazy_re(
    r"(?:^|\s)(?:[A-Z]\w*(?:Error|Exception)\b|error(?:\[\w+\])?:|Error:|ERROR|fatal:|panic:|FAIL(?:ED|:)?\b|E\s{2,}\S|"
    r"CONFLICT\b|--- FAIL|undefined:|cannot |could not |no such |not found|permission denied|Traceback)",
    re.IGNORECASE,
)
_STATUS = lazy_re(
    r"(?:exit(?:ed)?(?: with)?(?: code| status)?|returncode>)\s*+(?:[:=]\s*+)?(?P<code>\d+)", re.IGNORECASE
)
_ACCIDENT = lazy_re(r"0x[0-9a-f]+|\b[0-9a-f]{7,}\b|\d+|(?:[\w.@~+-]{0,255}/)+[\w.@~+-]*|\"[^\"]*\"|'[^']*'")


_HEADING = lazy_re(r"[=_-]{3,} (?:ERRORS|FAILURES|test session starts|short test summary info) [=_-]{3,}")
_MASKED = lazy_re(
    r"^(?:--- FAIL|FAIL\b|FAILED\b|Traceback \(most|panic:|error\[E\d|make(?:\[\d+\])?: \*\*\*|npm ERR!"
    r"|(?:\[\S{1,40}\] )?ERROR task failed|[1-9]\d* issues?:$|Found [1-9]\d* errors?\b(?! \(\d+ fixed, 0 ))",
    re.MULTILINE,
)
_IN_BACKGROUND = lazy_re(r"\s*(?:Command|Process) (?:is )?(?:now )?running in (?:the )?background\b", re.IGNORECASE)
_SEARCHED = lazy_re(r"\|\s*(?:e?grep|rg|awk|sed|jq)\b")
_PIPED = lazy_re(r"\|\s*(?:e?grep|rg|awk|sed|jq|head|tail|tee|cat|sort|uniq|less)\b")
_PASSES = lazy_re(
    r"^ok\b|\bpass(?:ed|es|ing)?\b|\bsuccess|\bsucceeded\b|\b0 (?:failed|failures|errors?|issues|problems|warnings)\b"
    r"|\bno (?:errors|issues|problems|warnings)\b|\b(?:finished|built|compiled|up to date|done in)\b|[✓✔✅]",
    re.IGNORECASE | re.MULTILINE,
)
"""Output of a check that passed."""
_ENVIRONMENT = lazy_re(
    r"not found|no such|unknown|unrecogni[sz]ed|usage:|permission denied|no module named|not installed|cannot find",
    re.IGNORECASE,
)


def is_environment(error: str) -> bool:
    """Whether an error is about something missing or misspelt, and not about what was checked."""
    return bool(_ENVIRONMENT.search(error))


def exit_status(output: str) -> int | None:
    """The exit status in an output, if there is one."""
    found = _STATUS.search(output[:400]) or _STATUS.search(output[-400:])
    return int(found["code"]) if found else None


def error_line(output: str, limit: int = 200) -> str:
    """The line of a failing output that says what went wrong, with the exit status if it names one.

    Python prints the error last, compilers first: of the lines that name an error, the last one of a traceback is
    taken, otherwise the first; if there is none, the last line.
    """
    lines = [line.strip() for line in _LABEL.sub("", TAGS.sub("\n", output)).splitlines()]
    lines = [
        line for line in lines if any(map(str.isalnum, line)) and not (_HEADING.fullmatch(line) or _PACKED.search(line))
    ]
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


_LABEL = lazy_re(r"^[ \t]*\w{2,20}:\n\s*(?=\S)", re.MULTILINE)
"""A line that only names an error; the next one says what it is."""
_PACKED = lazy_re(r"\S{240}")
"""A line of packed code or data, which explains nothing."""
_NO_REASON = lazy_re(
    r"(?:exit \d+: )?(?:(?:command|process) )?(?:==+>|->|✓|✔|\[\d+/\d+\]|ok\b|done\b|success|total \d+$"
    r"|exit(?:ed)?(?: with)?(?: code| status)? \d+\W*$|(?:building|built|running|setting|wrote|writing)\b"
    r"|(?:install|creat|initiali[sz]|add|updat|copi|mov|remov|delet|sav|download|fetch|start|stopp?|finish|complet|compil"
    r"|generat|load|configur|captur|extract|clon|resolv|clean|push|pull|switch|check)(?:ed|ing)\b)",
    re.IGNORECASE,
)
"""A line of a failing output that says nothing about the error."""


def without_echo(output: str, given: str) -> str:
    """Drop the lines of `output` that occur in `given`, also after a short name; unchanged if no other line remains.

    A tool that fails repeats its input, whose words are no reason.
    """
    repeated = {line.strip() for line in given.splitlines()} - {""}
    said = (TAGS.sub("", line).strip() for line in output.splitlines())
    kept = [
        line
        for line, words in zip(output.splitlines(), said, strict=True)
        if words not in repeated and _ECHOED.sub("", words, count=1) not in repeated
    ]
    return "\n".join(kept) if any(any(map(str.isalnum, TAGS.sub("", line))) for line in kept) else output


_ECHOED = lazy_re(r"^\w[\w ]{0,30}:\s+")


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
LONGEST_LINE = 200
"""The maximum number of characters of a line of code."""
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
        if len(line) <= SCRAP or not wrong or _NO_ERROR.match(line) or _PACKED.search(line):
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


def surviving_lines(lines: Sequence[str], removed: Sequence[str]) -> list[str]:
    """The lines that a later change did not remove."""
    gone = {line.strip() for line in removed}
    return [line for line in lines if line.strip() not in gone]


@lru_cache(maxsize=1_024)
def normalise_error(text: str) -> str:
    """`text` without what varies between occurrences: numbers, hashes, addresses, paths, quotations."""
    return " ".join(_ACCIDENT.sub("~", text.lower()).split())[:120]


class Step(Struct, frozen=True, kw_only=True, dict=True):
    """A call and its outcome."""

    action: Action
    call: Call
    result: Result | None
    position: int
    said: str
    """The agent's words when it made the call."""
    source: MessageId
    answer: MessageId | None
    """The message with the result."""

    @cached_property
    def failed(self) -> bool:
        """Whether the call is known to have failed; cached, since it reads the whole output."""
        if self.result is None:
            return False
        failed = self.result.failed
        if failed is None:
            failed = derive_failed(self.output, self.call)
        if failed is True or self.action.kind != "check":
            return failed is True
        # The status of a pipe is that of its last program.
        return any(mark in self.command for mark in "|;") and bool(_MASKED.search(self.output))

    @cached_property
    def has_unknown_end(self) -> bool:
        """Whether it is unknown how the call ended: it runs in the background, or another program read its output.

        The status of ``./check.sh | tail`` is that of `tail`; so only the output can say whether the check passed.
        """
        if self.result is None or _IN_BACKGROUND.match(self.output):
            return True
        if self.failed or known_failed(self.result, self.call) is not None or _PASSES.search(self.output):
            return False
        # A build without output has no complaints, unless its output was filtered.
        return bool((_PIPED if self.output.strip() else _SEARCHED).search(self.command))

    @property
    def changed(self) -> bool:
        """Whether the call changed a file: one without a result, as in a message that was broken off, did not."""
        return self.action.kind in CHANGES and self.result is not None and not self.failed

    @property
    def writes_anew(self) -> bool:
        """Whether the call wrote a whole file, and did not append to it."""
        return self.action.kind == "write" and not _APPENDS.search(self.command.partition("\n")[0])

    @property
    def command(self) -> str:
        """All strings among the call's arguments."""
        return "\n".join(strings(self.call.arguments))

    @property
    def was_rejected(self) -> bool:
        """Whether the user refused the call, which isn't an error."""
        return self.failed and was_refused(self.output)

    @property
    def failed_itself(self) -> bool:
        """Whether the call itself failed: it was neither refused nor interrupted."""
        return self.failed and not was_refused(self.output) and not was_interrupted(self.output)

    @property
    def output(self) -> str:
        """The result's text."""
        return self.result.text if self.result else ""

    @cached_property
    def cleaned_output(self) -> str:
        """The result's text without reminders, and for a failure without the lines that only repeat the call."""
        output = without_reminders(self.output)
        return without_echo(output, self.command) if self.failed else output

    @cached_property
    def error(self) -> str:
        """The line that says what went wrong; empty if nothing did."""
        return error_line(self.cleaned_output) if self.failed else ""

    @property
    def failure_reason(self) -> str:
        """`error`, unless it only says that something failed, or what went well before."""
        return "" if _NO_REASON.match(self.error) else self.error

    def line(self, text: str, weight: float, *, subject: str = "", failed: bool = False) -> Line:
        """A line of a summary that is based on this step."""
        return Line(
            text=text,
            subject=subject,
            failed=failed,
            weight=round(weight, 2),
            position=self.position,
            sources=self.sources,
        )

    @property
    def sources(self) -> tuple[MessageId, ...]:
        """The messages that show the step."""
        return (self.source, self.answer) if self.answer else (self.source,)


def steps(messages: Sequence[Message]) -> list[Step]:
    """The calls of `messages` in order, each with its result if that is among them."""
    answers: dict[str, tuple[Result, MessageId]] = {}
    for message in messages:
        for result in message.draft.results:
            answers.setdefault(result.call_id, (result, message.id))
    out: list[Step] = []
    for message in messages:
        for call in message.draft.calls:
            answered = answers.get(call.id)
            out.append(
                Step(
                    action=understand(call),
                    call=call,
                    result=answered[0] if answered else None,
                    position=message.position,
                    said=message.text,
                    source=message.id,
                    answer=answered[1] if answered else None,
                )
            )
    return out


def tasks_of(step: Step) -> list[Mapping[str, object]]:
    """The tasks that a call lists, such as an agent's plan."""
    given = step.call.arguments
    values = given.values() if isinstance(given, Mapping) else ()
    listed = next((value for value in values if isinstance(value, list)), [])
    return [task for task in listed if isinstance(task, Mapping)]
