"""Tool calls and their results: what belongs together, whether a call failed, what the harness added, what instructs.

An atom is a tool call with all its results, which no cut may split; a tool loop is everything an assistant does for one
request. Whether a call failed is taken from the harness's flag if there is one; otherwise it is derived from the
text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from ireneo.language.files import cached_data, topic
from ireneo.language.topics import Instructions
from ireneo.log.message import BLOCK_TAGS, BRIEF_TAG, PAD_TAG, PINS_TAG, Call, Message, MessageId, Result
from ireneo.patterns import lazy_re


def atoms(messages: Sequence[Message]) -> list[tuple[Message, ...]]:
    """Group consecutive `messages` into atoms, in order.

    An assistant message with calls forms an atom with everything up to the last message that answers one of them, and
    so on for the calls in between. Every other message is an atom of its own.
    """
    out: list[tuple[Message, ...]] = []
    start = 0
    while start < len(messages):
        end = _end_of_atom(messages, start, start + 1)
        out.append(tuple(messages[start:end]))
        start = end
    return out


def complete_prefix(messages: Sequence[Message]) -> int:
    """Return how many of the first messages belong to atoms that stay complete whatever is appended.

    `messages` must begin with an atom.
    """
    waiting: set[str] = set()
    end = 0
    for place, message in enumerate(messages):
        if _cancels_open_calls(message):
            waiting = set()
        if not waiting:
            end = place
        waiting = waiting - _answered_ids(message) | _call_ids(message)
    return end if waiting else len(messages)


def incomplete_prefix(messages: Sequence[Message]) -> int:
    """Count the first messages that may belong to an atom that begins before them."""
    made: set[str] = set()
    end = 0
    for place, message in enumerate(messages):
        if _cancels_open_calls(message):
            break
        if any(result.call_id not in made for result in message.draft.results):
            end = place + 1
        made |= _call_ids(message)
    return _end_of_atom(messages, 0, end) if end else 0


def _end_of_atom(messages: Sequence[Message], start: int, end: int) -> int:
    """Find the end of the atom that holds at least `messages[start:end]`."""
    waiting: set[str] = set()
    for message in messages[start:end]:
        waiting = waiting - _answered_ids(message) | _call_ids(message)
    # A late result extends the atom over the messages in between, which could otherwise be separated from it. A user's
    # message ends the wait, since no atom spans two turns.
    between: set[str] = set()
    for place in range(end, len(messages)):
        message = messages[place]
        if not waiting or _cancels_open_calls(message):
            break
        answered = _answered_ids(message)
        stretched = bool(answered & waiting)
        waiting -= answered
        between = between - answered | _call_ids(message)
        if stretched:
            end = place + 1
            waiting |= between
            between = set()
    return end


def _cancels_open_calls(message: Message) -> bool:
    return message.opens_turn and not message.draft.joined


def _call_ids(message: Message) -> set[str]:
    return {call.id for call in message.draft.calls if not call.server}


def _answered_ids(message: Message) -> set[str]:
    return {result.call_id for result in message.draft.results}


def next_loop_start(messages: Sequence[Message], *, running: bool) -> int:
    """Return the index of the first assistant message that begins a new tool loop; the number of messages if none does.

    `running` says whether a loop was running before the first message. A loop goes on with an assistant message after a
    call or a result, unless a user spoke since. Providers that sign thinking accept that of a whole loop, or none.
    """
    for place, message in enumerate(messages):
        if message.role == "assistant" and not running:
            return place
        runs = _keeps_loop_open(message)
        running = running if runs is None else runs
    return len(messages)


def is_loop_open(messages: Sequence[Message]) -> bool:
    """Return whether a tool loop is still running after the last message.

    If no message shows it, one is assumed, unless `messages` is empty or begins at the root of the session.
    """
    known = (runs for message in reversed(messages) if (runs := _keeps_loop_open(message)) is not None)
    return next(known, bool(messages) and messages[0].position > 0)


def _keeps_loop_open(message: Message) -> bool | None:
    """Return whether a tool loop is still running after `message`; None if the message doesn't show it."""
    if message.opens_turn and not message.draft.joined:
        return False
    if message.role == "assistant":
        return bool(message.draft.calls)
    return True if message.role == "tool" else None


def last_user_index(messages: Sequence[Message]) -> int:
    """Return the index of the last user message; 0 if there is none."""
    return next((place for place in reversed(range(len(messages))) if messages[place].opens_turn), 0)


_NAME_WORD = lazy_re(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_RUNNERS = {
    *("bash", "shell", "sh", "zsh", "powershell", "exec", "execute", "run", "terminal", "command", "cmd"),
    *("python", "ipython", "jupyter", "repl", "console", "script", "test", "tests"),
}
_COMMAND_KEYS = ("command", "cmd", "script", "code", "input")
_WRITES = lazy_re(r"<<-?\s*+(['\"]?)(\w++)\1(?=([^\n]{0,1000}+)\n)")
_LONE_WORD = lazy_re(r"^[^\S\n]*+(\w++)\s*$", re.M)
_SEPARATOR = lazy_re(r"&&|\|\||;|\n")
_SHOWS = lazy_re(
    r"(?:cat|head|tail|less|more|nl|grep|egrep|fgrep|rg|ag|ack|find|fd|ls|tree|wc|file|stat|awk|diff|sort|uniq|jq|strings"
    r"|sed -n|git(?: -C \S+| --no-pager)* (?:show|diff|log|grep|blame|status|ls-files|cat-file)"
    r"|gh (?:pr|issue|run|api)|bat|xxd|od|column|cut|echo|printf)\b"
)
_LONG = 20_000
"""How many characters of a command are read."""
_SAYS_NOTHING = lazy_re(r"(?:cd|pwd|export|set|source|true|sleep|mkdir|touch|\w+=\S*)\b|#|$")


def runs_program(call: Call) -> bool:
    """Whether `call` ran a program with output of its own, rather than showed a file, a diff or a search."""
    words = {word.lower() for word in _NAME_WORD.findall(call.name)}
    if not words & _RUNNERS:
        return False
    command = _command_line(call)
    return command is None or not _only_shows(command)


def _command_line(call: Call) -> str | None:
    if isinstance(call.arguments, str):
        return call.arguments
    for key in _COMMAND_KEYS:
        value = call.arguments.get(key)
        if isinstance(value, list):
            return " ".join(str(word) for word in value)
        if isinstance(value, str):
            return value
    return None


def _only_shows(command: str) -> bool:
    steps = [step.strip() for step in _SEPARATOR.split(_without_heredocs(command[:_LONG]))]
    telling = [step for step in steps if not _SAYS_NOTHING.match(step)]
    return bool(telling) and all(_SHOWS.match(step) for step in telling)


def _without_heredocs(command: str) -> str:
    """Remove here-documents that end."""
    ends: dict[str, list[tuple[int, int]]] = {}
    for line in _LONE_WORD.finditer(command):
        ends.setdefault(line[1], []).append(line.span())
    out, at = [], 0
    for begun in _WRITES.finditer(command) if ends else ():
        behind = ends.get(begun[2], [])
        place = bisect_left(behind, (begun.end(3) + 1,))
        if begun.start() >= at and place < len(behind):
            out.append(command[at : begun.start()] + begun[3])
            at = behind[place][1]
    return "".join(out) + command[at:]


# Text that a tool *read* may mention errors: a source file, a diff, a search. So marks anywhere in the output are only
# trusted for tools that run something; others must show theirs at the very start.

_CODE = r"(?:exit(?:ed|s)?[ _]?(?:with )?(?:code|status)|return[ _]?code)[:=>]? *(-?\d+)"
_WHO = r"(?:(?:the )?(?:process|command|shell|script|program)\b[^\n]{0,200}? )?"
_CODE_AT_START = lazy_re(rf"\A\W{{0,20}}{_WHO}{_CODE}\b", re.I)
_CODE_LINE = lazy_re(rf"^[^\w\n]{{0,20}}{_WHO}{_CODE}[^\w\n]{{0,20}}$", re.I | re.M)


def _any_pattern(*patterns: str, flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    return lazy_re("|".join(patterns), flags)


_FAILED_AT_START = _any_pattern(
    r"<tool_use_error>",
    r"(?:[A-Za-z]+ )?(?:[Ee]rror|ERROR)(?:\[\w+\])?: ",
    r"(?:\w+\.)*\w*(?:Error|Exception): ",
    r"Traceback \(most recent call last\):",
    r"(?:fatal|panic): ",
    r"E[A-Z]{3,}: ",
    r"API Error\b",
    r"Request failed with status code [45]\d\d",
    r"Permission to use .{1,500} has been denied",
    r"The user doesn['’]t want to (?:proceed|take this action)",
    r"Permission for this tool use was denied",
    r"(?:Error: )?(?:The )?[Uu]ser (?:has )?(?:rejected|denied|refused|declined|cancell?ed|aborted|skipped)\b",
    r"(?:The )?[Uu]ser (?:chose|decided) to skip\b",
    r"(?:The )?[\w ]{0,40}\b(?:rejected|denied|declined|aborted|cancell?ed|skipped) by (?:the )?user\b",
    r"\[(?:Operation|Request) (?:[Cc]ancelled|interrupted by user)",
    r"\(eval\):\S*\d: ",
    r"unknown (?:flag|command|option)\b",
    r"apply_patch verification failed\b",
    r"\w+: [^\n]{0,200}\(HTTP [45]\d\d\)",
)
_FAILED_ALONE = lazy_re(
    r"(?:command not found|No such file or directory|Permission denied|: not found"
    r"|is not recognized as an internal or external command.{0,80})\.?\Z",
    re.I,
)
"""The whole output is one line: a shell's message that it could not start a program."""

_FAILED_LINE = _any_pattern(
    # Test runners: Go, unittest, Rust, pytest, Jest.
    r"^--- FAIL\b",
    r"^FAIL(?:\t|$)",
    r"^FAILED \(",
    r"^test result: FAILED",
    r"\b[1-9]\d* failed\b[^\n]{0,120}(?: passed| total| in [\d.]+ ?s)",
    r"\b\d+ passed[^\n]{0,120}\b[1-9]\d* (?:failed|errors?)\b",
    r"\b[1-9]\d* errors? in [\d.]+ ?s",
    # Compilers, linters and build tools.
    r"^\S+:\d+:\d+: (?:fatal )?error: ",
    r"^error(?:\[E\d+\])?: ",
    r"\berror TS\d+: ",
    r"^Found [1-9]\d* errors?\b(?!.*\b0 remaining)",
    r"^[1-9]\d* issues:$",
    r"^✖ [1-9]\d* problem",
    r"^g?make(?:\[\d+\])?: \*\*\* .*\bError \d+",
    r"^npm (?:ERR!|error) ",
    r"\bERROR task failed$",
    # Programs that crashed, and shells that could not start one.
    r"^panic: ",
    r"^goroutine \d+ \[running\]",
    r"^thread '[^\n]*' panicked at",
    r"^Uncaught \w*(?:Error|Exception)\b",
    r"^\S+: error: ",
    r"^(?:\S+/)?(?:ba|z|da)?sh: [^\n]*: command not found$",
    # Git.
    r"^CONFLICT \(",
    r"^fatal: ",
    flags=re.M,
)
"""A line of a test runner, compiler or shell that reports a failure, anywhere in an output."""
_FAILED_LINES = _any_pattern(
    r"^# \S+(?: \[\S+\])?\n(?:vet: )?\S+:\d+:\d+: ",
    r"^\w*Error: [^\n]*\n(?:[^\n]*\n){0,3}?\s+at [^\n]*:\d+:\d+\)?$",
    flags=re.M,
)
"""Several lines that together report a failure."""
_MARKS = (
    *("rror", "ERR", "FAIL", "failed", "# ", "issues:", "✖", "panic", "goroutine", "Uncaught", "command not found"),
    *("CONFLICT (", "fatal: "),
)
"""Every failure line contains one of these, which are much faster to find."""
_PASSED = _any_pattern(
    r"\b[1-9]\d* passed\b",
    r"^ok +\t?\S+\t[\d(]",
    r"^test result: ok",
    r"^(?:PASS|OK|0 issues\.|All checks passed!|Success: no issues found[^\n]*)$",
    r"^OK \(",
    flags=re.M,
)
_END = 20_000
"""How many characters of a long output are read at its beginning, and how many at its end."""
_LINE = 300
_TRACEBACK = lazy_re(r"^Traceback \(most recent call last\):\n(?:[ \t][^\n]*\n|\n)*[\w.]+(?::[^\n]*)?", re.M)


_OPENING = 400
"""A refusal or interruption is at the start of a result; later text is the call's own output."""
_CLOSING = 60
_REFUSED = _any_pattern(
    r"doesn['’]t want to (?:proceed with|take) this (?:tool use|action)",
    r"tool use was rejected",
    r"user (?:has )?(?:rejected|denied|refused|declined|disallowed|skipped)\b",
    r"user (?:has )?(?:chose|chosen|decided) (?:to skip|not to)\b",
    r"(?:rejected|denied|refused|declined|skipped) by (?:the )?user\b",
    r"permission for this tool use was denied",
    r"user did(?: not|n['’]t) (?:allow|approve|permit|accept)\b",
    flags=re.I,
)
_STOPPED = _any_pattern(
    r"sibling tool call errored",
    r"request interrupted by user",
    r"(?:interrupted|aborted|cancell?ed) by (?:the )?user\b",
    r"user (?:aborted|cancell?ed|interrupted)\b",
    r"(?:tool call was|operation) cancell?ed\b",
    r"permission to use [^\n]{1,300} (?:has been|was) denied",
    flags=re.I,
)
_ABORTED = lazy_re(r"\b(?:command|operation) aborted\W*\Z", re.I)


def was_refused(text: str) -> bool:
    """Whether a failed result says that the user did not permit the call, which says nothing about its outcome."""
    return _opens_with_refusal(text[:_OPENING])


# Every rebuild asks this of the same results several times.
@lru_cache(maxsize=1_024)
def _opens_with_refusal(opening: str) -> bool:
    return _REFUSED.search(opening) is not None


def was_interrupted(text: str) -> bool:
    """Whether a failed result says that the call was interrupted, or blocked by a rule."""
    return _STOPPED.search(text[:_OPENING]) is not None or _ABORTED.search(text[-_CLOSING:]) is not None


def derive_failed(text: str, call: Call | None = None) -> bool | None:
    """Whether the result `text` of `call` shows a failure (True), a success (False) or neither (None)."""
    text = _head_and_tail(text.strip())
    ran = call is None or runs_program(call)
    codes = _CODE_AT_START.findall(text) or (_CODE_LINE.findall(text) if ran else [])
    if codes:
        # A program may report the exit codes of others before its own.
        return int(codes[-1]) != 0
    if _FAILED_AT_START.match(text) or _is_only_an_error(text):
        return True
    if not ran:
        return None
    if _has_failure_line(text) or _ends_in_traceback(text):
        return True
    return False if _PASSED.search(text) else None


_HIDES = lazy_re(r"'[^']{0,2000}'|\"(?:[^\"\\]|\\.){0,2000}\"|(?P<hides>\|\|?|;|\n|&$)", re.DOTALL)
_WHOLE_PIPE = lazy_re(r"\bpipefail\b|\bset -\w*e")


def hides_status(call: Call) -> bool:
    """Whether `call` ran several programs and only the last one's status is known: ``a | tail``, ``a; b``."""
    command = _command_line(call)
    if command is None or _WHOLE_PIPE.search(command):
        return False
    return any(found["hides"] for found in _HIDES.finditer(_without_heredocs(command[:_LONG]).strip()))


def known_failed(result: Result, call: Call) -> bool | None:
    """Return whether `call` failed; None if that is unknown.

    For a command such as ``a | tail`` a flag of success is that of the last program, so the output decides.
    """
    if result.failed is True or (result.failed is False and not hides_status(call)):
        return result.failed
    return derive_failed(result.text, call)


def _head_and_tail(text: str) -> str:
    return text if len(text) <= 2 * _END else f"{text[:_END]}\n{text[-_END:]}"


def _has_failure_line(text: str) -> bool:
    if not any(mark in text for mark in _MARKS):
        return False
    at = 0
    for line in text.split("\n"):
        if any(mark in line for mark in _MARKS) and (_FAILED_LINE.search(line) or _FAILED_LINES.match(text, at)):
            return True
        at += len(line) + 1
    return False


def _is_only_an_error(text: str) -> bool:
    return len(text) <= _LINE and "\n" not in text and _FAILED_ALONE.search(text) is not None


def _ends_in_traceback(text: str) -> bool:
    """Whether the output ends with a traceback; one in the middle was caught."""
    ends = [found.end() for found in _TRACEBACK.finditer(text)]
    return bool(ends) and text.count("\n", ends[-1]) <= 1


REMINDER = lazy_re(r"<system-reminder>(?:[^<]|<(?!/system-reminder>))*+</system-reminder>")
"""A harness's reminder. An unclosed tag is ordinary text."""
GUTTER = lazy_re(r"^ *(\d+)(→|\t)", re.MULTILINE)
"""A line number that a tool put before a line, and the separator after it."""
TAB = "\t"


def without_reminders(text: str) -> str:
    """`text` without the harness's reminders, and without labels around it that repeat the call or say nothing."""
    text = REMINDER.sub("", text) if "<system-reminder>" in text else text
    lines = text.rstrip().splitlines() if _LABEL.match(text) and _OUTPUT_LABEL in text[:LONGEST_HEAD] else []
    end = len(lines)
    while end and _EMPTY_LABEL.match(lines[end - 1]):
        end -= 1
    if len(lines) - end < FEWEST_LABELS:
        return text
    said = "\n".join(lines[:end]).partition(_OUTPUT_LABEL)[2].strip()
    return "" if said == "(empty)" else said


LONGEST_HEAD, FEWEST_LABELS = 2_000, 2
"""Some tools put an output between labelled lines, at least so many behind it that say nothing."""
_OUTPUT_LABEL = "\nOutput:"
_LABEL = lazy_re(r"[A-Z][\w ]{1,30}: ")
_EMPTY_LABEL = lazy_re(r"(?:[A-Z][\w ]{1,30}: (?:\((?:none|empty)\)|0)|(?!Exit)[A-Z][\w ]{1,30}: \d+)$")


_OF_USER = lazy_re(
    r"<(?P<tag>bash-input|command-name|(?:bash|local-command)-std(?:out|err))>"
    r"(?P<text>(?:[^<]|<(?!/(?P=tag)>))*+)</(?P=tag)>"
)
_SHELL_TAG, _COMMAND_TAG = "bash-input", "command-name"


class UserCommand(Struct, frozen=True, gc=False):
    """A command that the user entered themselves, as their harness logs it."""

    command: str
    shell: bool
    """Whether the command went to a shell, and not to the harness."""
    output: str
    position: int
    """The position of the message that shows the command."""
    id: MessageId


def user_commands(messages: Iterable[Message]) -> Iterator[UserCommand]:
    """The commands that the user entered themselves among `messages`, with what they printed."""
    ran: UserCommand | None = None
    for message in messages:
        if message.role != "user" or message.draft.origin != "injected":
            continue
        for found in _OF_USER.finditer(message.text):
            tag, said = found["tag"], found["text"].strip()
            if tag in (_SHELL_TAG, _COMMAND_TAG):
                if ran:
                    yield ran
                ran = UserCommand(said, tag == _SHELL_TAG, "", message.position, message.id)
            elif ran and said:
                ran = replace(ran, output=f"{ran.output}\n{said}".strip())
    if ran:
        yield ran


_ENTERED = lazy_re(
    r"<(?P<tag>command-(?:name|message|args|contents)|(?:bash|local-command)-(?:std(?:out|err)|caveat|input))>"
    r"(?P<text>(?:[^<]|<(?!/(?P=tag)>))*+)</(?P=tag)>\s*"
)
_ASKED_TAG = "<command-message>"
"""Marks a command that is the user's request to the agent, not a command to the harness itself."""


def entered_text(text: str) -> str:
    """A user's text as they entered it: `/review 7`, not the markup in which their harness logs it.

    Empty for a command to the harness itself, which the harness wrote entirely.
    """
    elements = {found["tag"]: found["text"].strip() for found in _ENTERED.finditer(text)}
    if not elements:
        return text
    asked = [elements.get(tag, "") for tag in ("command-name", "command-args")]
    command = " ".join(filter(None, asked)) if text.lstrip().startswith(_ASKED_TAG) else ""
    return "\n".join(filter(None, (command, _ENTERED.sub("", text).strip())))


def gutter_numbers(text: str) -> frozenset[int]:
    """The numbers before adjacent lines that count them; other numbers are part of the text."""
    found = [int(match[1]) for match in GUTTER.finditer(text)]
    first = {one for one, other in pairwise(found) if other == one + 1}
    return frozenset(first | {one + 1 for one in first})


# Instructions to a model in the output of a tool, and how they are made harmless: visibly marked as quoted data.

OPEN, CLOSE = "⟦quoted: ", "⟧"
"""Delimiters of a quoted span; nothing inside can close it."""

_MARK = rf"{re.escape(OPEN)}[^⟦⟧\n]*{CLOSE}"
_ROLES = "system|user|assistant|human|developer|tool"
_FRAMES = (
    rf"(?:{_ROLES}|instructions?|prompt|messages?|sources?|transcript|conversation|context|summary|memory|memories"
    r"|documents?|output|results?|tool_\w+|function_\w+|system[-_]\w+)"
)
_START = r"(?:\b|(?<=\\[nrt]))"
_SPACE = r"(?:[ \t]|\\[nrt]|\r?\n){1,4}"

_TEMPLATES = (
    r"<[|][^<>|\n⟦⟧]{1,40}[|]>",
    r"<｜[^<>\n⟦⟧]{1,40}｜>",
    rf"</?{_FRAMES}(?:[ \t][^<>\n⟦⟧]{{0,200}})?/?>",
    r"</?s>",
    r"\[/?INST\]|<</?SYS>>",
    r"<(?:start|end)_of_turn>",
    "|".join(re.escape(tag) for tag in (*BLOCK_TAGS, PINS_TAG, PAD_TAG, BRIEF_TAG)),
    r"\[/?(?:SYSTEM|ASSISTANT|USER)(?:[ _-](?:PROMPT|MESSAGE))?\]",
    r"\b(?:BEGIN|END)[ _](?:(?:OF|SYSTEM|USER|THE|NEW)[ _]){0,2}(?:PROMPT|INSTRUCTIONS?|CONTEXT|CONVERSATION)\b",
)
_LABELLED = rf"(?:(?<=\n)|(?<=\\n)|\A)[ \t>*_#-]{{0,8}}(?:{_ROLES}|AI)[*_]{{0,2}}[ \t]{{0,4}}:"


@cached_data
def _instruction_pattern() -> str:
    known = topic(Instructions)
    worded = (text.replace(" ", _SPACE).replace(r"\b", _START, 1) for text in known.worded)
    return "|".join(f"(?:{pattern})" for pattern in (*worded, *_TEMPLATES, _LABELLED, *known.addressed))


_MARK_OR_INSTRUCTION = lazy_re(lambda: f"(?P<mark>{_MARK})|{_instruction_pattern()}", re.IGNORECASE)
_STRAY = lazy_re(rf"(?P<mark>{_MARK})|[⟦⟧]")
_BRACKETS = str.maketrans("⟦⟧", "[]")

# Invisible characters can hide a word from a search.
_INVISIBLE = lazy_re(
    "[\u00ad\u200b\u2060-\u2064\ufeff\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]"
    "|(?<=[A-Za-z])[\u200c\u200d](?=[A-Za-z])"
)


def quote_instructions(text: str, delimiters: Iterable[str] = ()) -> str:
    """Make tool output safe to include in a prompt.

    Instructions, speaker labels, chat template tokens, and the `delimiters` that will enclose the text are marked as
    quoted. Everything else is unchanged, and the function is idempotent.
    """
    pattern = _with_delimiters(tuple(delimiters))
    neutral = _INVISIBLE.sub("", text)
    while True:
        # A mark may expose a match next to it, so repeat until nothing changes.
        once = _STRAY.sub(
            lambda found: found["mark"] or found[0].translate(_BRACKETS), pattern.sub(_quote_match, neutral)
        )
        if once == neutral:
            return once
        neutral = _INVISIBLE.sub("", once)


def has_instruction(text: str) -> bool:
    """Whether `text` contains an instruction to a model that is not marked as quoted."""
    return any(True for _ in instructions(text))


def instructions(text: str) -> Iterator[str]:
    """Yield the instructions to a model in `text` that are not marked as quoted."""
    found = _MARK_OR_INSTRUCTION.finditer(_INVISIBLE.sub("", text))
    return (each[0] for each in found if each["mark"] is None)


@lru_cache(maxsize=32)
def _with_delimiters(delimiters: tuple[str, ...]) -> re.Pattern[str]:
    given = "|".join(re.escape(each) for each in sorted(delimiters, key=len, reverse=True) if each)
    if not given:
        return _MARK_OR_INSTRUCTION
    return re.compile(f"(?P<mark>{_MARK})|{given}|{_instruction_pattern()}", re.IGNORECASE)


def _quote_match(found: re.Match[str]) -> str:
    if found["mark"] is not None:
        return found[0]
    span = re.sub(r"(?<!\s)\s*\n\s*", " ", found[0])
    return f"{OPEN}{span.translate(_BRACKETS)}{CLOSE}"
