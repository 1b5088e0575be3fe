"""The signature of an action and of an error: what is the same when the same thing goes wrong again elsewhere.

It leaves out places (folders, hosts, addresses), times, numbers and quotations; it keeps the tool, the program with its
options, the names of files, and the error. It stays readable, so that one sees why two are the same. Making a signature
of a signature changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ireneo.patterns import lazy_re

LONGEST = 300
"""The maximum number of characters of the signature of an action, and of an error."""
SEPARATOR = " ⇒ "
"""Separates the action from the error."""
_NONE = "-"
_LOOKED_AT = 20_000
_FEW = 12
"""How many words of a long argument are kept."""
_LINES = 3
"""How many lines of an error are kept."""
_PASSES = 12


def signature(action: str, error: str) -> str:
    """The key of a failure, from the signatures of its action and its error; one of them may be empty."""
    action, error = (each.replace(SEPARATOR.strip(), "=>").strip() for each in (action, error))
    return f"{action or _NONE}{SEPARATOR}{error or _NONE}" if action or error else ""


def action_of(key: str) -> str:
    """The signature of the action in the key of a failure."""
    action = key.partition(SEPARATOR)[0] if SEPARATOR in key else ""
    return "" if action == _NONE else action


def action_signature(tool: str, arguments: Mapping[str, object] | str) -> str:
    """The signature of an action, whoever did it where: the tool, and its arguments by name in a fixed order.

    A shell command becomes its programs with their options; folders, variables and redirections are left out.
    """
    name = _normalise(tool).lower().replace(":", ".")
    said = _normalised_command(arguments) if isinstance(arguments, str) else _normalised_arguments(arguments)
    return _clip(f"{name}: {said}" if said else name)


def error_signature(text: str) -> str:
    """The signature of an error: the lines of an output that name it, without what varies."""
    for _ in range(_PASSES):
        shorter = _error_lines(text)
        if shorter == text:
            break
        text = shorter
    return text


def _error_lines(text: str) -> str:
    lines = [line for each in _LINE_ENDS.split(text[-_LOOKED_AT:]) if (line := each.lstrip(" \t|│>*-").rstrip())]
    named = [line for line in lines if _NAMES_ERROR.search(line) and not _FRAME.match(line)]
    kept = list(dict.fromkeys(said for line in named or lines[-1:] if (said := _clip(_normalise(line), 160))))
    # A traceback has its cause last, a compiler its first error first: both ends are kept.
    chosen = kept if len(kept) <= _LINES else [kept[0], *kept[-(_LINES - 1) :]]
    return _clip("; ".join(chosen))


_LINE_ENDS = lazy_re(r"[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]+|; ")
_NAMES_ERROR = lazy_re(
    r"\b\w*(?:error|exception|failed|failure|fatal|panic(?:ked)?|denied|refused|not found|no such|cannot|can't|unable"
    r"|undefined|unknown|invalid|missing|timed? ?out|killed|aborted|conflict|segfault|unexpected|unsupported)\b",
    re.I,
)
_FRAME = lazy_re(r"(?:File \"|at \S+ ?\(|Traceback \(most|During handling|The above exception|=+ |_+ |\^+|~+)")

_SECRETS_OF_PLACE = (
    # Notations of quotations, from the longest mark to the shortest; an apostrophe inside a word is none.
    (lazy_re(r"```.*?```", re.S), "'…'"),
    (lazy_re(r"\"[^\"\n]*\"|“[^“”\n]{0,1000}+”|«[^«»\n]{0,1000}+»|`[^`\n]*`|‘[^‘’\n]{0,1000}+’"), "'…'"),
    (lazy_re(r"(?<![\w'])'(?!…')[^'\n]*'(?!\w)"), "'…'"),
    (lazy_re(r"\b[a-z][a-z0-9+.-]{0,30}://[^\s'\")\]>,;]+", re.I), "<url>"),
    (lazy_re(r"\b[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+\b"), "<address>"),
    (lazy_re(r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?\b"), "<time>"),
    (lazy_re(r"(?<![\w:.])\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d+)?(?: ?[ap]m)?\b", re.I), "<time>"),
    (lazy_re(r"\b\d+(?:\.\d+)? ?(?:ns|us|µs|ms|s|secs?|seconds?|mins?|minutes?|h|hours?|days?)\b", re.I), "<time>"),
    (lazy_re(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", re.I), "<hash>"),
    (lazy_re(r"\b0x[0-9a-f]+\b", re.I), "<address>"),
    (lazy_re(r"\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b|\blocalhost:\d+\b"), "<address>"),
    (lazy_re(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,}\b", re.I), "<hash>"),
    # Only the last part of a path is kept; a lone slash, as in "and/or", makes no path unless it begins a word.
    (lazy_re(r"(?:[A-Za-z]:|(?<![\w.@+~$%\\/-]))(?:[\w.@+~$%-]*[\\/])+(?=[\w.@+~$<%-])"), ""),
    (lazy_re(r"(?<![\w<])[~.]{0,8}[\\/]+(?![\w.])"), ""),
    (lazy_re(r"(?:(?<![\w<>])[-+])?\d+(?:[.,_]\d+)*%?"), "<n>"),
    (lazy_re(r"<n>(?:[.,:x-]?<n>)+"), "<n>"),
    (lazy_re(r"\s+"), " "),
)


def _normalise(text: str) -> str:
    return _replace_until_stable(_replace_once(text))


def _replace_once(text: str) -> str:
    for pattern, kept in _SECRETS_OF_PLACE:
        text = pattern.sub(kept, text)
    return text.strip()


def _replace_until_stable(text: str) -> str:
    """Apply the replacements until nothing changes: one may expose another, and each shortens the text."""
    for _ in range(_PASSES):
        shorter = _replace_once(text)
        if shorter == text:
            break
        text = shorter
    return text


_SHELL_KEYS = ("command", "cmd", "script")
_SHELLS = lazy_re(r"^(?:\S*/)?(?:ba|z|da|k|fi)?sh (?:-\w+ )*-\w*c (['\"])(.*)\1\s*$", re.S)
_HEREDOC = lazy_re(r"<<-?\s*+(['\"]?)(\w++)\1[^\n]{0,1000}+\n.*?(?:^[^\S\n]*+\2\s*$|\Z)", re.S | re.M)
_SEPARATES = lazy_re(r"&&|\|\||[;\n|&]")
_SETUP = lazy_re(r"^(?:cd|pushd|popd|export|source|\.(?=\s)|set|unset|true|sleep|echo|pwd)\b.*$|^#.*$")
_BEFORE = lazy_re(r"^(?:(?:\w+=\S*|sudo|env|time|nice|nohup|exec|command|timeout(?: -\S+)* \S+)\s+)+")
_REDIRECT = lazy_re(r"(?:(?<!\d)\d++)?>{1,2}(?:&\d|\s*\S+)|<\s*\S+|\d>&\d")
_SHOWN_ONLY = lazy_re(r"^(?:head|tail|less|more|tee|cat)\b")


def _normalised_arguments(arguments: Mapping[str, object]) -> str:
    for key in _SHELL_KEYS:
        value = arguments.get(key)
        if isinstance(value, str):
            return _normalised_command(value)
        if isinstance(value, Sequence) and not isinstance(value, bytes):
            return _normalised_command(" ".join(str(each) for each in value))
    told = ((str(name), _normalised_value(arguments[name])) for name in sorted(arguments, key=str))
    return ", ".join(f"{_normalise(name)}={value}" for name, value in told if value)


def _normalised_value(value: object) -> str:
    if value is None or value == "" or value == [] or value == {}:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        inner = ((str(name), _normalised_value(value[name])) for name in sorted(value, key=str))
        return "{" + ", ".join(f"{_normalise(name)}={held}" for name, held in inner if held) + "}"
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return "[" + ", ".join(dict.fromkeys(_normalised_value(each) for each in value)) + "]"
    words = _normalise(str(value)[:_LOOKED_AT]).split()
    return " ".join(words[:_FEW]) + (" …" if len(words) > _FEW else "")


def _normalised_command(command: str) -> str:
    command = command.strip()[:_LOOKED_AT]
    if within := _SHELLS.match(command):
        command = within[2]
    command = replace_quoted("'…'", _HEREDOC.sub("<<'…'\n", command).replace("\\\n", " "), ticks=True)
    steps = [_BEFORE.sub("", each.strip()) for each in _SEPARATES.split(_REDIRECT.sub(" ", command))]
    telling = [each for each in steps if each and not _SETUP.match(each)]
    done = [each for at, each in enumerate(telling) if not (at and _SHOWN_ONLY.match(each))]
    return " && ".join(dict.fromkeys(_normalise(each) for each in done or telling or steps[-1:]))


# Text after an unclosed mark is taken whole: no other mark in it is closed either, so none is tried.
_DOUBLE = r"\"(?:\\.|[^\"\\]|\\\Z)*+(?:\"|(?P<open>\Z))"
_QUOTED = lazy_re(rf"{_DOUBLE}|'[^']*'", re.S)
_QUOTED_OR_TICKED = lazy_re(rf"{_DOUBLE}|'[^']*'|`[^`]*`", re.S)
_SINGLE = lazy_re(r"'[^']*'")
_SINGLE_OR_TICKED = lazy_re(r"'[^']*'|`[^`]*`")


def replace_quoted(mark: str, command: str, *, ticks: bool = False) -> str:
    """Replace quoted text in `command` by `mark`; with `ticks` also text in backticks."""
    quoted, single = (_QUOTED_OR_TICKED, _SINGLE_OR_TICKED) if ticks else (_QUOTED, _SINGLE)

    def replacement(found: re.Match[str]) -> str:
        return mark if found["open"] is None else '"' + single.sub(mark, found[0][1:])

    return quoted.sub(replacement, command)


def _clip(text: str, longest: int = LONGEST) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1].rstrip()}…"
