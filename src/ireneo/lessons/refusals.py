"""How programs refuse a call: an unknown flag, value or task, or too many arguments.

A program knows its own flags, so one refusal is proof enough if the same run then called it in another way that worked.
"""

from __future__ import annotations

import re

from ireneo.lessons.explanations import LONGEST_WHY, names_thing
from ireneo.patterns import lazy_re

_FLAG = lazy_re(
    r"(?:illegal|unknown|invalid|unrecogni[sz]ed|unsupported|no such|bad|ambiguous) (?:shorthand )?"
    r"(?:option|flag|argument|switch|predicate|primary)s?\b|unexpected argument ['\"‘`]?-"
    r"|flag provided but not defined|mutually exclusive|can(?:not| not|'t) be (?:used|combined) (?:together|with)",
    re.I,
)
_USAGE = lazy_re(r"\busage:", re.I)
_VALUE = lazy_re(
    r"\binvalid (?:choice|value)\b|\bunknown (?:\w{1,20} )?(?:field|value|choice|type|format|level)\b"
    r"|\bmust be one of\b|\bis not (?:a valid|one of)\b",
    re.I,
)
_TOO_MANY = lazy_re(
    r"accepts (?:at most|only)? ?\d+ arg|too many (?:arguments|args|operands)|takes (?:no|\d+) (?:positional )?arg"
    r"|extra operand|unexpected (?:extra )?argument(?! ['\"‘`]?-)|received \d+ arg",
    re.I,
)
_TASK = lazy_re(
    r"\bno (?:such )?(?:tasks?|targets?|scripts?|recipes?|commands?|rule to make target)\b|missing script|did you mean"
    r"|(?:unknown|undefined|unrecogni[sz]ed) (?:task|target|script|recipe|(?:sub-?)?command)"
    r"|is not an? \S{1,20} command"
    r"|(?:task|target|script|recipe)\b.{0,80}\b(?:not found|does not exist|doesn't exist|not defined)",
    re.I,
)


def refuses_flag(error: str) -> bool:
    """Whether a program reports a flag that it doesn't know, or shows how it is used."""
    return bool(_FLAG.search(error) or _USAGE.search(error))


def refuses_value(error: str) -> bool:
    """Whether a program reports a value that it doesn't know."""
    return bool(_VALUE.search(error))


def reports_extra_arguments(error: str) -> bool:
    """Whether a program reports too many arguments."""
    return bool(_TOO_MANY.search(error))


def reports_unknown_task(error: str) -> bool:
    """Whether a task runner or a program with subcommands reports an unknown task or subcommand."""
    return bool(_TASK.search(error))


def rejects_usage(line: str) -> bool:
    """Whether a line of a program's output refuses the way it was called."""
    return any(kind.search(line) for kind in (_FLAG, _VALUE, _TOO_MANY, _TASK))


def line_naming(lines: list[str], wrong: tuple[str, ...]) -> str:
    """The line that names what was `wrong`, preferably one that refuses it; empty if there is none."""
    short = [line for line in lines if len(line) <= LONGEST_WHY and line.isprintable()]
    # A short flag is named without its hyphen: "illegal option -- A".
    bare = {name.lstrip("-") for name in wrong}
    refusing = (line for line in short if rejects_usage(line) and any(names_thing(line, name) for name in bare))
    naming = (line for line in short if any(names_thing(line, name) for name in wrong))
    return next(refusing, next(naming, ""))
