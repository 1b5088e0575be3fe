"""How a text marks who speaks: `**Vera:** …`, `### Vera`, `<Vera> …`, `Vera: …`, each perhaps behind a time."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import Struct

from ireneo.patterns import lazy_re

Form = Literal["bold", "angle", "plain", "heading"]

SHARE = 1 / 20
"""So many of a dialogue's lines, at the least, begin a speech; the others go on with one."""
SURE_SHARE = 3 / 10
"""So many do where nobody said that it is a dialogue."""
SURE_SPEECHES = 4
LONGEST_NAME = 40

_TIME = r"(?:[\[(](?P<time>[^\]\[()]{0,30}?\d[^\]\[()]{0,30})[\])]\s*)?"
_NAME = rf"[^\s*_<>:#\[\]|`][^*<>:#\[\]|`]{{0,{LONGEST_NAME - 1}}}"
_BOLD = r"(?:\*\*|__)"
_FORMS: dict[Form, re.Pattern[str]] = {
    "bold": lazy_re(rf"(?:[-*]\s+)?{_TIME}{_BOLD}(?P<name>{_NAME}?)(?::{_BOLD}|{_BOLD}\s*:)\s*(?P<text>.*)"),
    "angle": lazy_re(rf"{_TIME}<(?P<name>{_NAME})>\s+(?P<text>.*)"),
    "plain": lazy_re(rf"{_TIME}(?P<name>{_NAME}):(?:\s+(?P<text>.*)|$)"),
    "heading": lazy_re(r"#{1,6}\s++(?P<name>.{1,120}?)\s*+#*+\s*$"),
}
_WORD = lazy_re(r"[^\W\d_][\w.'’-]*")
_SMALL = frozenset("of the de la le von van der den al el and & to no. y".split())
"""Words of a name that are written small."""
_NO_SPEAKERS = frozenset(
    "act author chapter characters date epilogue example http https language note notes nb part place prologue ps "
    "scene setting time title todo update url warning".split()
)
"""What stands before a colon and is nobody."""
_NUMBER = (
    r"(?:[ivxlcdm]+|\d+|the\s+\w+|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|first|second|third)"
)
_CHAPTER = lazy_re(
    rf"#{{1,6}}\s+\S|chapter\s+{_NUMBER}\b|(?:part|book|act|scene|canto|volume)\s+{_NUMBER}\s*(?:[.:–—-]|$)"
    r"|(?:prologue|epilogue|interlude)\s*(?:[.:–—-]|$)",
    re.IGNORECASE,
)
LONGEST_HEADING = 80


class Script(Struct, frozen=True, kw_only=True):
    """How the speakers of one text are marked."""

    form: Form
    level: int = 0
    """Of headings: how many marks a speaker's has; 0: any."""


class Speech(Struct, frozen=True, kw_only=True):
    """The line that a speech begins with."""

    name: str
    text: str
    time: str | None = None
    """What stands in the brackets before it."""


def script_of(lines: Sequence[str]) -> Script | None:
    """How the speakers are marked; None for a text in which no speakers recur, such as prose with a colon in it."""
    size = sum(bool(line.strip()) for line in lines)
    for form in _FORMS:
        for script in _scripts(form, lines):
            names = _names(lines, script)
            if _recur(names) and sum(names.values()) >= size * SHARE:
                return script
    return None


def is_surely_spoken(lines: Sequence[str]) -> bool:
    """Whether speakers take turns in a text that could be anything; a list of settings with colons is none."""
    script = script_of(lines)
    # The headings of a list of changes recur as well, and so do the marks of a page for a browser.
    if script is None or script.form == "heading" or any("</" in line for line in lines):
        return False
    names = _names(lines, script)
    recurring = [number for number in names.values() if number > 1]
    size = sum(bool(line.strip()) for line in lines)
    enough = max(SURE_SPEECHES, size * SURE_SHARE)
    return len(recurring) > 1 and sum(recurring) >= enough


def speech_of(line: str, script: Script) -> Speech | None:
    """The speech that begins on `line`, if one does."""
    if script.form == "heading" and len(line) > LONGEST_HEADING:
        return None
    found = _FORMS[script.form].match(line.strip())
    if found is None or (script.level and not line.lstrip().startswith("#" * script.level + " ")):
        return None
    name = " ".join(found["name"].split()).rstrip(":")
    if not is_name(name):
        return None
    if script.form == "heading":
        return Speech(name=name, text="")
    return Speech(name=name, text=found["text"] or "", time=found["time"])


def is_name(name: str) -> bool:
    """Whether `name` could be a speaker's: few words, each with a capital (or in a script that has none)."""
    words = name.split()
    if not 0 < len(words) <= 5 or len(name) > LONGEST_NAME or words[0].casefold() in _NO_SPEAKERS:
        return False
    if len(words) == 1 and words[0].isalnum():
        return not words[0].isdecimal()  # A handle in small letters, or what a role is called.
    return all(word in _SMALL or word.isdecimal() or word[0] in "(&“\"'" or _capital(word) for word in words)


def is_chapter(line: str) -> bool:
    """Whether `line` is the heading of a chapter."""
    return len(line) <= LONGEST_HEADING and _CHAPTER.match(line.strip()) is not None


def _capital(word: str) -> bool:
    return _WORD.fullmatch(word) is not None and any(sign.isalpha() and not sign.islower() for sign in word)


def _scripts(form: Form, lines: Iterable[str]) -> list[Script]:
    if form != "heading":
        return [Script(form=form)]
    levels = Counter(len(line) - len(line.lstrip("#")) for line in lines if line.startswith("#"))
    return [Script(form=form, level=level) for level, _ in levels.most_common()]


def _names(lines: Iterable[str], script: Script) -> Counter[str]:
    return Counter(speech.name for line in lines if (speech := speech_of(line, script)) is not None)


def _recur(names: Counter[str]) -> bool:
    """Whether those who speak speak again: two voices at the least, and most speeches by one that has another."""
    again = sum(number for number in names.values() if number > 1)
    return len(names) > 1 and again * 2 >= sum(names.values())
