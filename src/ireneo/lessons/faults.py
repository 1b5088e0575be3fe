"""Find the errors in a program's output, and give each a name that is the same in other runs.

fault_lines.toml lists the kinds of lines that programs print when something goes wrong. A fault is named by its line,
with an ellipsis for whatever is specific to one run: paths, numbers, names in the code. What identifies the error is
kept: a linter's rule, an error code, the module, command or flag that is missing. So a lesson can quote it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from pkgutil import get_data
from typing import Literal, NamedTuple

from msgspec import Struct

from ireneo.language.files import cached_data, fill_placeholders
from ireneo.log.calls import has_instruction
from ireneo.patterns import lazy_re
from ireneo.summaries.steps import TAGS

MOST_FAULTS = 3
"""How many errors of one output are kept, for example if a linter reports several rules."""
FOUND_NOTHING = "<nothing>"
"""A search that ended with a failing status because nothing was found."""
TIMED_OUT = "<timeout>"
TESTS_FAILED = "<tests>"
WITHOUT_A_WORD = "<silent>"
CODES = (FOUND_NOTHING, TIMED_OUT, TESTS_FAILED, WITHOUT_A_WORD)
"""Names of faults that have no line in the output; other names have no angle brackets."""
_LOOKED_AT = 40_000
_MOST_LINES = 600
_LONGEST_LINE = 600
_WORDS = 9
_CHARACTERS = 80
_LONGEST_KEPT = 50
_PASSES = 6


Sort = Literal["missing", "lint", "build", "raised", "tests", "told"]
"""The kinds of reports in a line; fault_lines.toml explains them."""


class FaultPattern(NamedTuple):
    """A kind of line that programs print when something goes wrong; fault_lines.toml explains its fields."""

    sort: Sort
    by: frozenset[str]
    pattern: re.Pattern[str]
    weight: int
    last: bool = False
    each: bool = False
    own: bool = False


class _FaultLines(NamedTuple):
    sorts: tuple[FaultPattern, ...]
    """In the order in which they are tried on a line: the first that matches says what the line is."""
    summary: re.Pattern[str]
    """Lines that only say that something failed, or sum up, or warn."""


@cached_data
def _fault_lines() -> _FaultLines:
    """The content of fault_lines.toml."""
    # Imported when used: a hook reads no output.
    import tomllib

    data = get_data(__package__, "fault_lines.toml")
    assert data is not None
    given = tomllib.loads(data.decode("utf-8"))
    sorts: list[FaultPattern] = []
    for row in given["lines"]:
        by = frozenset(fill_placeholders(row.pop("by", ""), given["parts"]).split(",")) - {""}
        pattern = lazy_re(row.pop("pattern"), re.I if row.pop("ignore_case", False) else 0)
        sorts.append(FaultPattern(by=by, pattern=pattern, **row))
    summary = lazy_re(given["summary"].replace("\n", ""))
    return _FaultLines(tuple(sorted(sorts, key=lambda kind: -kind.weight)), summary)


class Fault(Struct, frozen=True, kw_only=True, gc=False):
    """An error that an output reports."""

    name: str
    """The same in all runs."""
    line: str = ""
    """The line that reports it, without prefix and colours; empty if there is none."""
    sort: Sort = "told"
    by: frozenset[str] = frozenset()
    """The programs that print such a line; empty if any program may."""
    weight: int = 0
    """How certain it is that this is the error; below 50 the line only resembles one."""
    task: str = ""
    """The task that printed it: ``lint`` of ``[lint] rows.go:3:1: …``."""


_ESCAPES = lazy_re(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[()][A-Z0-9])|[\x00-\x08\x0e-\x1f]")
_TASK = lazy_re(
    r"^\[(?P<task>[a-z][\w:./@-]{0,40})\]\s+"
    r"|^@?(?P<other>[\w/-]{1,40}:(?:build|test|lint|typecheck|type-check|dev|check|format)): "
)
_PREFIXES = (
    lazy_re(r"^(?:\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d[.,\d]*(?:Z|[+-]\d\d:?\d\d)?[ \t]+)"),
    lazy_re(r"^(?:\[?\d\d:\d\d:\d\d[.,\d]*\]?[ \t]+)"),
    lazy_re(r"^(?:[\w.-]{1,60}[ ]{0,20}\|[ \t])"),
    lazy_re(r"^(?:#\d+ (?:\d+\.\d+ )?)"),
    lazy_re(r"^(?:[^\t\n]{1,80}\t[^\t\n]{1,80}\t\d{4}-\d\d-\d\dT[\d:.]+Z[ \t])"),
    lazy_re(r"^(?:##\[error\]|::error[^:\n]{0,200}::|\[(?:ERROR|FATAL|error|ERR|E)\] +)"),
    lazy_re(r"^(?:[│┃|>╰└├─╭▶▸●⎿]+[ \t]+(?=\S))"),
    lazy_re(r"^(?:\[[\d/. %-]{1,20}\][ \t]+)"),
    lazy_re(r"^(?:\[info\] +|\[!\] +|\[warn\] (?=Code style))"),
)
_BOX_END = lazy_re(r"(?<![ \t])[ \t]++[│┃|]$")


def is_timed_out(line: str) -> bool:
    """Whether a line says that a command ran out of time."""
    return _TIMED_OUT.search(line) is not None


def strip_prefixes(line: str) -> tuple[str, str]:
    """Strip colours, progress and runners' prefixes from a line; also return the task that such a prefix names."""
    line = TAGS.sub(" ", _ESCAPES.sub("", line[: 4 * _LONGEST_LINE]))
    if "\r" in line:
        line = next((part for part in reversed(line.split("\r")) if part.strip()), "")
    line = line[:_LONGEST_LINE].strip()
    task = ""
    for _ in range(4):
        found = _TASK.match(line)
        if found and found["task"] not in ("error", "warn", "info"):
            task = task or found["task"] or found["other"]
        else:
            found = next((hit for prefix in _PREFIXES if (hit := prefix.match(line))), None)
        if found is None or found.end() >= len(line):
            break
        line = line[found.end() :].lstrip()
    return _BOX_END.sub("", line).strip(), task


_TOOL_ERROR = lazy_re(r"<tool_use_error>\s*([^<]+)")
_PARAMETER = lazy_re(r"parameter `(?P<keep>\w+)`")
_TIMED_OUT = lazy_re(
    r"timed out and has been killed|^(?:Error: )?Command timed out|^[^\n]{0,120}[Tt]imed [Oo]ut after \d"
    r"|^Exit code 124$|<returncode>124<",
    re.M,
)
_STATUS_LINE = lazy_re(r"<returncode>-?\d+</returncode>|Exit code:? \d+|\(no content\)|\(no output\)")
_SOUNDS_WRONG = lazy_re(
    r"rror|ERR|FAIL|[Ff]ail|annot|an't|ould not|\bnot |[Nn]o |denied|nvalid|llegal|issing|nknown|nable|✗|✖|×|✕|❌|●"
    r"|\bE[A-Z]{3,}\b|panic|xception|efused|Killed|abort|Abort|fatal|FATAL|nexpected|ejected|xpected|undefined|SC\d{4}"
    r"|DL\d{4}|reformat|CONFLICT|killed|unrecognized|ambiguous|declared|unused|egmentation|equire|clippy::|Interrupt"
    r"|Warning: |NotFound|already in use|accepts |defined|not ok|Code style|spec/|runs, |failing|\d: |\d,\d|› |xpecting"
    r"|changed significantly|^[A-Z]{1,4}\d{3,4} |nresolved|Extra data|nterminated|Aborting|ot [Ff]ound|:\d+:\d+:"
    r"|\*\* \(|requires "
)
_SURE = 60
"""From this weight on only one kind of program prints such lines."""
_BEFORE_TESTS = 70
"""From this weight on an error kept the tests from running."""


def read_faults(output: str, *, called: Collection[str] = (), shell: bool = True) -> tuple[Fault, ...]:
    """The errors that a failing output reports, the most important first; empty if no line reports one.

    `called` are the programs that may have printed it, as far as they are known.
    """
    if len(output) > _LOOKED_AT:
        output = f"{output[: _LOOKED_AT // 2]}\n{output[-_LOOKED_AT // 2 :]}"
    if found := _TOOL_ERROR.search(output):
        return _distinct_faults([_harness_rejection(found[1])])
    if _TIMED_OUT.search(output):
        return (Fault(name=TIMED_OUT, weight=98),)
    told = list(_reported_faults(output, called))
    if not shell and max((each.weight for each, _ in told), default=0) < _SURE:
        return _tool_faults(output)
    if not told:
        return ()
    top = max(each.weight for each, _ in told)
    chosen = [(each, kind) for each, kind in told if each.weight >= top - (1 if top >= 60 else 0)]
    best = [pair for pair in chosen if pair[0].weight == top]
    if best[0][1].each:
        kept = [each for each, kind in chosen if kind.each]
    else:
        kept = [best[-1][0] if best[-1][1].last else best[0][0]]
    tests = [each for each, kind in told if each.sort == "tests"]
    if tests and kept[0].sort in ("tests", "raised") and top < _BEFORE_TESTS:
        return (_test_failure(tests, told),)
    return _distinct_faults(kept)


def _harness_rejection(text: str) -> Fault:
    """The error with which a harness rejects a call: its first sentence, or the sentence after a heading."""
    lines = [" ".join(line.split()) for line in text.split("\n") if line.strip()]
    line = lines[1] if len(lines) > 1 and lines[0].endswith(":") else lines[0] if lines else ""
    said = line.partition(". ")[0]
    about = _PARAMETER.search(said)
    name = normalized_error(said, keep=about["keep"] if about else "")
    return Fault(name=name, line=said[:_LONGEST_LINE], weight=99)


def _distinct_faults(found: Sequence[Fault]) -> tuple[Fault, ...]:
    """Faults with different names, without those worded as an instruction to the reader."""
    out: dict[str, Fault] = {}
    for each in found:
        if each.name and not has_instruction(each.name):
            out.setdefault(each.name, each)
    return tuple(out.values())[:MOST_FAULTS]


_ERROR_LEVEL = lazy_re(r"^\s*+(?:\[(?:ERROR|FATAL|error|ERR)\]|##\[error\]|::error)")
_AT_ERROR_LEVEL = FaultPattern(sort="told", by=frozenset(), pattern=_ERROR_LEVEL, weight=45)
"""Any line that a program marks as an error."""


def _reported_faults(output: str, called: Collection[str]) -> Iterator[tuple[Fault, FaultPattern]]:
    sorts, summary = _fault_lines()
    lines = output.split("\n")
    if len(lines) > _MOST_LINES:
        lines = [*lines[: _MOST_LINES // 2], *lines[-_MOST_LINES // 2 :]]
    for raw, following in zip(lines, [*lines[1:], ""], strict=True):
        if not _SOUNDS_WRONG.search(raw) or _OF_A_FILE.match(raw):
            continue
        line, task = strip_prefixes(raw)
        if _LEADS_ON.search(line):
            line = f"{line} {strip_prefixes(following)[0]}"
        if not line or (summary.search(line) and not line.startswith(("FAILED ", "Tests: "))):
            continue
        for kind in sorts:
            found = None if kind.own and kind.by.isdisjoint(called) else kind.pattern.search(line)
            if found is not None:
                fault = _make_fault(line, kind, found, task)
                if fault.name:
                    yield fault, kind
                break
        else:
            if _ERROR_LEVEL.search(raw[:_LONGEST_LINE]) and (name := normalized_error(line)):
                yield Fault(name=name, line=line, weight=_AT_ERROR_LEVEL.weight, task=task), _AT_ERROR_LEVEL


_SAME = {
    "no such file or directory": "No such file or directory",
    "not a directory": "Not a directory",
    "permission denied": "Permission denied",
    "Connection refused": "connection refused",
    "Address already in use": "address already in use",
}
"""The same error in the wording of other programs."""
_LEADS_ON = lazy_re(r" panicked at \S+:\d+:\d+:$|^\S+:\d+:\d+: error: \[GHC-\d+\]$")
"""Lines whose message is on the next line."""
_HINT = lazy_re(r"\.? (?:Did you mean|\(Possible options|Try )[^\n]*$|\. Stop\.?$")


def _make_fault(line: str, kind: FaultPattern, found: re.Match[str], task: str) -> Fault:
    given = found.groupdict()
    said = given.get("said") or given.get("said2") or (found[0] if "said" not in given else "") or line
    said = _HINT.sub("", said)
    keep = given.get("keep") or given.get("keep2") or ""
    code = given.get("code") or ""
    by = frozenset({given["by"].rsplit("/", 1)[-1]}) if given.get("by") else kind.by
    if kind.sort == "tests":
        name = TESTS_FAILED
    else:
        name = normalized_error(_SAME.get(said, said), keep=keep)
        if code and code not in name:
            name = f"{code}: {name}" if name else code
    # If a shell names the program, the error is the program's.
    shown = _PROMPT.sub("", line) if given.get("by") else line
    return Fault(name=name[:_CHARACTERS].rstrip(), line=shown, sort=kind.sort, by=by, weight=kind.weight, task=task)


_FROM_OUTSIDE = lazy_re(
    r"No module named|ConnectionRefused|[Cc]onnection refused|OperationalError|fixture '|command not found"
    r"|cannot import name|could not connect|ConnectionError|No such file or directory|ImproperlyConfigured"
    r"|AppRegistryNotReady"
)


def _test_failure(tests: Sequence[Fault], told: Sequence[tuple[Fault, FaultPattern]]) -> Fault:
    """The failure of tests, or the missing thing that made all of them fail."""
    raised = [each for each, kind in told if each.sort in ("raised", "missing") and kind.last]
    names = {each.name for each in raised}
    if len(names) == 1 and _FROM_OUTSIDE.search(raised[-1].line):
        return raised[-1]
    return max(tests, key=lambda each: each.weight)


def _tool_faults(output: str) -> tuple[Fault, ...]:
    """The error of a tool that is not a shell: its first line that reports one, or its only line."""
    lines = [line for raw in output.split("\n")[:_MOST_LINES] if (line := strip_prefixes(raw)[0])]
    lines = [line for line in lines if not _ASKS.match(line) and not _OF_A_FILE.match(line)]
    wrong = [line for line in lines if _TELLS_WRONG.search(line) and not _fault_lines().summary.search(line)]
    line = wrong[0] if wrong else lines[0] if len(lines) <= _FEW_LINES and lines else ""
    said = _LEVEL.sub("", line).partition(". ")[0]
    name = normalized_error(_OF_SOMEONE.sub("…", said)) if said else ""
    return _distinct_faults([Fault(name=name, line=line, weight=55)]) if name else ()


_TELLS_WRONG = lazy_re(
    r"[Ee]rror\b|ERROR\b|\w(?:Error|Exception)\b|[Ff]ail(?:ed|ure|s)?\b|FAILED\b|[Cc]annot\b|[Cc]an['’]t\b|n['’]t\b"
    r"|\bnot\b|[Nn]o such\b|\b[Nn]o \w+ (?:found|matches)\b|[Dd]enied\b|[Ii]nvalid\b|[Mm]issing\b|[Uu]nknown\b"
    r"|[Uu]nable\b|[Rr]efused\b|[Ee]xceed|\bmust\b|\balready\b|\bE[A-Z]{3,}\b|[Uu]nexpected\b|[Rr]equired\b"
    r"|[Aa]borted\b|[Ff]ound \d+ matches"
)
_OF_A_FILE = lazy_re(r"[ \t]*+\d+[ ]?(?:[│█→]|\t)")
"""A line of a file, shown with its number."""
_ASKS = lazy_re(r"#+ (?:Fix|See|Running|Please|Try)\b|(?:Fix any|See the|See relevant|Please|Try)\b")
"""Phrases with which a tool introduces its findings, or advice on them."""
_FEW_LINES = 3
"""In an output of at most this many lines, a line reports an error even without a word that suggests one."""
_LEVEL = lazy_re(r"^(?:\w+: )?(?:[Ee]rror|ERROR)(?: executing \w+)?: (?=\S)")
_OF_SOMEONE = lazy_re(
    r"(?<=[\w,:] )[A-Z][a-z]+(?: [A-Z][a-z]+)+|\b[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+"
    r"|\b(?=[A-Za-z-]*\d)[A-Za-z\d-]{3,}\b|\b[A-Z]{3}\b"
)
"""People, addresses, numbers of orders and flights, in the answers of customer service tools."""


def is_empty(output: str) -> bool:
    """Whether an output is nothing but a status."""
    return not re.search(r"\w", TAGS.sub("", _STATUS_LINE.sub("", output)))


_PROMPT = lazy_re(r"^(?:(?:\S*/)?(?:ba|z|da)?sh: (?:(?:line )?\d+: |-c: |eval: )*|\(eval\):(?:\d+: ?)?)")
_ONE_OFF = lazy_re(r"(could not apply|Available agents|has been denied)\b.*")
_CUT_OFF = lazy_re(r"(?<!\S)\S*\w\.{3}$")
_NO_MODULE = lazy_re(r"No module named ['\"]?[\w.]+['\"]?")
_SPECIFIC = (
    lazy_re(r"\"[^\"\n]*\"|`[^`'\n]*'(?!\w)|“[^“”\n]{0,1000}+”|`[^`\n]*`|‘[^‘’\n]{0,1000}+’|(?<!\w)'[^'\n]*'(?!\w)"),
    lazy_re(r"\b[a-z][a-z0-9+.-]{0,30}://\S+"),
    lazy_re(r"\((?![a-z]+\)$)[^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)"),
    lazy_re(r"(?<![\w.])[~.]?(?:[\w.@+~$%-]{0,255}/)+[\w.@+~$%*-]*"),
    lazy_re(r"(?<!\S)\S*(?:[a-z][A-Z]|\w_\w|\w\.\w|\w\(|[\[\]{}*=&|<>$#@])\S*"),
    lazy_re(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{6,}\b(?:\.{3})?"),
    lazy_re(r"(?<![A-Za-z\d])[-+]?\d+(?:[.,:_x]\d+)*%?\w*"),
)
_NAMED_ERROR = lazy_re(r"[A-Z]\w*(?:Error|Exception|Warning|NotReady|Failure|Configured|DoesNotExist)\b|DoesNotExist\b")
_ASIDE = lazy_re(r"^ ?\([^()]{0,200}\) ")
_LAST_NAME = lazy_re(r"(: )[^\s…]+(?: \([a-z]+\))?$")
_KEPT = "\ue000"
"""Placeholder for what is kept."""


def normalized_error(line: str, *, keep: str = "") -> str:
    """The name of an error: its line with an ellipsis for whatever is specific to one run; codes are kept.

    `keep` is a part of the line that identifies the error: the module, command or flag that is missing.
    """
    said = _generalise(line, keep)
    for _ in range(0 if keep else _PASSES):
        shorter = _generalise(said, "")
        if shorter == said:
            break
        said = shorter
    return said


def _generalise(line: str, keep: str) -> str:
    if line in CODES:
        return line
    line = _CUT_OFF.sub("…", line)
    line = _ONE_OFF.sub(r"\1", _PROMPT.sub("", " ".join(TAGS.sub(" ", line).split())))
    if missing := _NO_MODULE.search(line):
        return missing[0][:_CHARACTERS]  # The module identifies the error.
    if keep and len(keep) <= _LONGEST_KEPT and not keep.startswith(("/", "~")):
        line = line.replace(keep, _KEPT, 1)
    else:
        keep = ""
    for quote in "'\"`":
        line = line.replace(f"{quote}{_KEPT}{quote}", _KEPT)
    head = _NAMED_ERROR.match(line.partition(":")[0].rpartition(".")[2])
    kept = head[0] if head else ""
    rest = _ASIDE.sub(" ", line.partition(":")[2]) if kept else line
    for pattern in _SPECIFIC:
        rest = pattern.sub("…", rest)
    rest = re.sub(r"(?:(?:(?<!\s)\s++)?…[\s,;:.]*+)+", " … ", rest).strip()
    rest = _LAST_NAME.sub(lambda found: found[0] if _KEPT in found[0] else f"{found[1]}…", rest)
    words = rest.split()
    tail = words[-1] if words and re.fullmatch(r"\([a-z]+\)", words[-1]) else ""
    if len(words) > _WORDS:
        words = [*words[: _WORDS - 1], "…", *([tail] if tail else [])]
    said = " ".join(words).replace("… …", "…")
    if keep and _KEPT not in said:
        said = f"{said.removesuffix(' …')} … {_KEPT}"
    said = f"{kept}: {said}" if kept and said.strip("… ") else kept or said
    said = said.replace(_KEPT, keep)
    said = said.removesuffix(" …").lstrip(" …-" if not keep.startswith("-") else " …").rstrip(" :;,.")
    return said[:_CHARACTERS].rstrip() if re.search(r"[A-Za-z]{2}", said) else ""
