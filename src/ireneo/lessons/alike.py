"""When two lessons say the same in other words, and when a text says already what a lesson would.

Compared are the commands and names that stand in backticks, and the words that carry meaning; never letters.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from ireneo.language.words import terms
from ireneo.lessons.rulings import same_ruling
from ireneo.lessons.run import is_ruling
from ireneo.memories.record import Record
from ireneo.patterns import lazy_re

_CODE = lazy_re(r"`([^`\n]{1,200})`")
_REASON = lazy_re(r"“[^“”]{0,600}+” \((?:the )?(?:agent|user)\)")
"""The sentence that gives the reason: that it was said in other words makes no other lesson."""
_TIMES = lazy_re(r"\(\d+ of \d+ times[^()]{0,80}\)")
FOLDERS = lazy_re(r"(?<![\w./])/(?:[\w.@-]{1,60}+/){1,20}+")
"""Where a file lies on somebody's disk says nothing of what a text is about."""
_FRAME = frozenset(terms("when fails with run first use project says said instead"))
"""What lessons are worded with, whatever they are about."""
SAME_SHARE = 0.75
"""Of the words of the shorter one, how many the other has."""
LEAST_WORDS = 2
STANDS_SHARE = 0.8
"""Of a lesson's words, how many stand together where it is said already."""
LINES_TOGETHER = 3
"""Lines of a file that may say a thing together."""


class Content(Struct, frozen=True, kw_only=True):
    """What a text says, as far as it can be compared."""

    words: frozenset[str]
    codes: frozenset[str]
    """Commands and names, with single blanks."""


def content_of(text: str) -> Content:
    """What a lesson, or a line of a file, says; the reason behind a lesson is none of it."""
    bare = FOLDERS.sub("", _TIMES.sub("", _REASON.sub("", text)))
    codes = frozenset(" ".join(each.split()) for each in _CODE.findall(bare))
    return Content(words=frozenset(terms(bare)) - _FRAME, codes=codes)


def alike(one: Content, other: Content) -> bool:
    """Whether two lessons say the same: of the same commands, in mostly the same words."""
    if one.codes != other.codes and (one.codes or other.codes):
        # What names less may still be the same, as where one quotes an error and the other one does not.
        few, many = sorted((one.codes, other.codes), key=len)
        if not few or not few < many or len(few) < LEAST_WORDS:
            return False
    elif len(one.codes) >= LEAST_WORDS:
        # The same command and the same way out: how the error reads makes no other lesson.
        return True
    least = min(len(one.words), len(other.words))
    return least >= LEAST_WORDS and len(one.words & other.words) >= SAME_SHARE * least


def first_of_each(contents: Sequence[Content]) -> list[int]:
    """The places of those that say what none before them says."""
    kept: list[int] = []
    for at, each in enumerate(contents):
        if not any(alike(each, contents[before]) for before in kept):
            kept.append(at)
    return kept


class SaidAlready:
    """What stands in files already."""

    def __init__(self, texts: Iterable[str]) -> None:
        """Read whole files: what is said in a few lines together counts."""
        self._windows: list[tuple[frozenset[str], str]] = []
        for text in texts:
            lines = [line for line in text.splitlines() if line.strip()]
            for start in range(len(lines)):
                together = " ".join(lines[start : start + LINES_TOGETHER])
                self._windows.append((frozenset(terms(together)), " ".join(together.split())))

    def says(self, content: Content) -> bool:
        """Whether some lines have all its commands, and nearly all its words."""
        if len(content.words) < LEAST_WORDS:
            return False
        wanted = STANDS_SHARE * len(content.words)
        return any(
            len(content.words & words) >= wanted and all(code in text for code in content.codes)
            for words, text in self._windows
        )


def says_the_same(cue: str, text: str, record: Record) -> bool:
    """Whether a claim in these words says what a lesson says, or what it said before the user reworded it."""
    if is_ruling(cue) or is_ruling(record.cue):
        return is_ruling(cue) and is_ruling(record.cue) and same_ruling(cue, record.cue)
    said = content_of(text)
    return any(alike(said, content_of(each)) for each in (record.text, record.drawn) if each)
