"""What went wrong, told so that the same error elsewhere is the same: the words of the error without its accidents.

A fault is a quotation of the output in which whatever is of one run only (paths, numbers, names of the code at hand)
has given way to an ellipsis. So it serves as the name of an error, and may stand in a lesson as what was read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ireneo.context.offline.errors import error_line
from ireneo.context.offline.steps import Step
from ireneo.grounding.neutral import instruction_like
from ireneo.patterns import lazy_re

MOST_FAULTS = 3
"""Errors that are told apart in one output: a linter names several."""
FOUND_NOTHING = "found nothing"
"""A search that ends with a failing status because nothing is there."""
TIMED_OUT = "timed out"
TESTS_FAILED = "tests failed"
WITHOUT_A_WORD = "no error named"
_LOOKED_AT = 40_000
_WORDS = 9
_CHARACTERS = 80

_TOOL_ERROR = lazy_re(r"<tool_use_error>\s*(.+?)(?:</tool_use_error>|\n|\Z)", re.S)
_SOUNDS_WRONG = lazy_re(
    r"error|fail|cannot|can't|could not|not |no such|denied|invalid|illegal|missing|unknown|unable|✗|\bE[A-Z]{3,}\b",
    re.I,
)
_PROMPT = lazy_re(r"^(?:(?:ba|z|da)?sh: (?:line \d+: |-c: )*|\(eval\):(?:\d+: ?)?)")
_ONE_OFF = lazy_re(r"(could not apply|Available agents|has been denied)\b.*")
_CUT_OFF = lazy_re(r"(?<!\S)\S*\w\.{3}$")
_STATUS = lazy_re(r"^exit \d+: ")
_TAGS = lazy_re(r"</?(?:tool_use_error|error|output|stderr|stdout|returncode|output_head|output_tail|warning)>")
_RAISED = lazy_re(
    r"^(?:E\s+)?((?:[A-Za-z_]\w*\.)*(?:[A-Z]\w*(?:Error|Exception|Warning|NotReady|Failure|Configured|DoesNotExist))"
    r"(?::[^\n]*)?)$",
    re.M,
)
_SUMMED_UP = lazy_re(r"^(?:FAILED|ERROR) \S+ - ([A-Z]\w*(?:Error|Exception|Warning|Failed)\b[^\n]*)$", re.M)
_AT_A_LINE = lazy_re(r"^[^\S\n]*\S+?\.[A-Za-z]\w{0,4}:\d+(?::\d+)?: ?((?!\s*:)\S[^\n]*)$", re.M)
_PLAIN = lazy_re(
    r"^[^\n]*(?:command not found|no such file or directory|cannot find|can't open file|permission denied"
    r"|directory not found|unknown (?:flag|command|option|shorthand|skill)|unrecogni[sz]ed (?:argument|option)"
    r"|invalid (?:option|argument)|parse error near|syntax error near|no module named|could not apply"
    r"|not in the list|import cycle not allowed)[^\n]*$",
    re.M | re.I,
)
_SPOKEN = lazy_re(r"^(?:fatal|error|Error|gh|npm ERR!|jq: error|Configuration error|ERROR)\b:?\s?[^\n:][^\n]+$", re.M)
_ASKS = lazy_re(r"^#+ (?:Fix any errors|See relevant lines?) ")
"""How a tool begins to tell what it found; what that is follows."""
_TESTS = lazy_re(
    r"^[^\S\n]*--- FAIL\b|^FAILED \((?:failures|errors)=|^FAIL:? |^FAIL\t|^=+ .{0,300}\b\d+ (?:failed"
    r"|errors?)\b.{0,300} =+$"
    r"|^(?:FAILED|ERROR) \S+::|^FAIL\s|tests finished: .{0,400}\b(?:failed|exceptions)\b|^FAIL$|^test result: FAILED",
    re.M,
)
_NOT_BUILT = lazy_re(r"^FAIL\s+\S+ \[((?:build|setup) failed)\]", re.M)
_TIMED_OUT = lazy_re(r"timed out and has been killed|^Command timed out|Command timed out after", re.M)
_NO_MODULE = lazy_re(r"No module named ['\"]?[\w.]+['\"]?")

_ACCIDENTS = (
    lazy_re(r"\"[^\"\n]*\"|“[^“”\n]{0,1000}+”|`[^`\n]*`|(?<!\w)'[^'\n]*'(?!\w)"),
    lazy_re(r"\b[a-z][a-z0-9+.-]{0,30}://\S+"),
    lazy_re(r"\((?![a-z]+\)$)[^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)"),
    lazy_re(r"(?<![\w.])[~.]?(?:[\w.@+~$%-]{0,255}/)+[\w.@+~$%*-]*"),
    lazy_re(r"(?<!\S)\S*(?:[a-z][A-Z]|\w_\w|\w\.\w|\w\(|[\[\]{}*=&|<>$#@])\S*"),
    lazy_re(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{6,}\b(?:\.{3})?"),
    lazy_re(r"(?<![A-Za-z\d])[-+]?\d+(?:[.,:_x]\d+)*%?\w*"),
)
_NAMED_ERROR = lazy_re(r"[A-Z]\w*(?:Error|Exception|Warning|NotReady|Failure|Configured|DoesNotExist)\b")
_LAST_NAME = lazy_re(r"(: )[^\s…]+(?: \([a-z]+\))?$")


def faults(step: Step) -> tuple[str, ...]:
    """The errors that the output of a failed call tells of, the one that counts first; at least one."""
    output = step.output if len(step.output) <= _LOOKED_AT else f"{step.output[:20_000]}\n{step.output[-20_000:]}"
    out = dict.fromkeys(name for line in _telling(step, output) if (name := named(line)) and not instruction_like(name))
    if not out:
        last = _STATUS.sub("", error_line(output))
        said = named(last) if _SOUNDS_WRONG.search(last) and not _ASKS.match(last) else ""
        out = dict.fromkeys([said] if said and not instruction_like(said) else [])
    return tuple(out)[:MOST_FAULTS] or (WITHOUT_A_WORD,)


def named(line: str) -> str:
    """The name of an error: its line without its accidents, each of which is an ellipsis."""
    line = _CUT_OFF.sub("…", line)
    line = _ONE_OFF.sub(r"\1", _PROMPT.sub("", " ".join(_TAGS.sub(" ", line).split())))
    if missing := _NO_MODULE.search(line):
        return missing[0][:_CHARACTERS]  # Which one is missing is no accident.
    head = _NAMED_ERROR.match(line.partition(":")[0].rpartition(".")[2])
    kept = head[0] if head else ""
    rest = line.partition(":")[2] if kept else line
    for pattern in _ACCIDENTS:
        rest = pattern.sub("…", rest)
    rest = re.sub(r"(?:(?:(?<!\s)\s++)?…[\s,;:.]*+)+", " … ", rest).strip()
    rest = _LAST_NAME.sub(r"\1…", rest) if not kept else rest
    words = rest.split()
    tail = words[-1] if words and re.fullmatch(r"\([a-z]+\)", words[-1]) else ""
    if len(words) > _WORDS:
        words = [*words[: _WORDS - 1], "…", *([tail] if tail else [])]
    said = " ".join(words).replace("… …", "…")
    said = f"{kept}: {said}" if kept and said.strip("… ") else kept or said
    said = said.removesuffix(" …").lstrip(" …-").rstrip(" :;,.")
    return said[:_CHARACTERS].rstrip() if re.search(r"[A-Za-z]{2}", said) else ""


def _telling(step: Step, output: str) -> Iterator[str]:
    """The lines that say what went wrong, the one that says most first."""
    if found := _TOOL_ERROR.search(output):
        yield found[1].partition(". ")[0]
        return
    if _TIMED_OUT.search(output):
        yield TIMED_OUT
        return
    if step.action.deed in ("search", "read", "run", "check") and _is_empty(output):
        yield FOUND_NOTHING
        return
    yield from _of_a_program(output)


def _of_a_program(output: str) -> Iterator[str]:
    if found := _NOT_BUILT.search(output):
        yield found[1]
        return
    if _TESTS.search(output):
        raised = _SUMMED_UP.search(output)
        yield f"{TESTS_FAILED}" if raised is None else f"{raised[1]}"
        return
    if "Traceback (most recent call last)" in output and (raised_all := _RAISED.findall(output)):
        yield raised_all[-1]
        return
    at_lines = [found[1] for found in _AT_A_LINE.finditer(output)]
    if at_lines:
        linters = {found[1]: line for line in at_lines if (found := re.search(r"\(([a-z]+)\)$", line))}
        yield from linters.values() if linters else at_lines[:1]
        return
    if found := _PLAIN.search(output) or _RAISED.search(output) or _SPOKEN.search(output):
        yield found[0]


def _is_empty(output: str) -> bool:
    """Whether nothing came back but a status."""
    rest = re.sub(r"<returncode>\d+</returncode>|Exit code \d+|\(no content\)", "", output)
    return not re.search(r"\w", _TAGS.sub("", rest))
