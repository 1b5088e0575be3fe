"""The words by which somebody tells of a failure: its clauses, and which of them say what."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ireneo.language.files import either, topic
from ireneo.language.topics import Warned
from ireneo.patterns import lazy_re

MOST_WORDS = 5
"""Words of a command that is not marked as one."""

BRACKETS = lazy_re(r"\([^()]{1,300}\)")
MARKED = lazy_re(r"`([^`\n]{1,200})`")
FLAG = lazy_re(r"(?<![\w-])--?[A-Za-z][\w-]*+(?:=[\w./:-]+)?")
SHORT = lazy_re(r"-[A-Za-z]{2,4}")
FLAG_SET = lazy_re(lambda: rf"{FLAG.pattern}(?:\s+\d+\b)?")
PATH = lazy_re(r"(?:[\w.@-]*/)+[\w.@-]*|[\w-]+\.[A-Za-z]\w{0,5}|\.[a-z][\w-]*(?:\.[a-z][\w-]*)*")
SCRIPT = lazy_re(r"\./[\w-][\w./-]*|[\w./~-]*\.(?:sh|bash|py|js|mjs|ts|rb|pl|php|ps1|bat)")
HOSTNAME = lazy_re(r"(?<![\w./-])[a-z][\w-]*(?:\.[a-z][\w-]+)+(?![\w./-])")
PLAIN = lazy_re(r"[\w./:=@+-]+")
_BEFORE_IT = lazy_re(r"^[ ,;:!–—]*(?:\.(?![\w/])[ ,;:.!–—]*)?")
TRAILING = " ,;:.!–—-"
EVERYTHING = lazy_re(r"(?<![^\s])(?:\.|\./|(?:\./|//)\.\.\.|\*)(?=[\s`]|$)")
# A colon or a full stop within a name ends no clause; a comma ends one only before what is to be done.
_SEPARATES = lazy_re(
    lambda: (
        rf"[;—–→]|\s[-=]>\s|:(?=\s)|(?<!e\.g)(?<!i\.e)(?<!z\.B)(?<!\.\.)(?:(?<!\s)|(?<=[/)!?]\s))[.!?](?=\s|$)|\s-\s|,(?=\s(?:{row_of('joins')}|{row_of('acts')}|{row_of('bans')}|{row_of('right')}|{row_of('since')})(?!\w))"
        rf"|(?=\s(?:{row_of('always')})\s+(?:{row_of('acts')})(?!\w))"
    ),
    re.I,
)
_JOINED = lazy_re(lambda: rf"^(?:{row_of('joins')}),?\s+", re.I)
ACTS = lazy_re(lambda: rf"^(?:{row_of('acts')})(?!\w|\.\w)", re.I)
INSTEAD = lazy_re(lambda: rf"(?<!\w)(?:{row_of('instead')})(?!\w)", re.I)
REASON = lazy_re(lambda: rf"^(?:{row_of('reasons')})(?!\w)", re.I)
BANS = lazy_re(lambda: rf"^(?:{row_of('bans')})(?!\w)", re.I)
FAILS = lazy_re(lambda: rf"(?<!\w)(?:{row_of('fails')})(?!\w)", re.I)
FORBIDS = lazy_re(lambda: rf"^\w+\s+(?:{row_of('bans')}|no)(?!\w)", re.I)
CHANGES = lazy_re(lambda: rf"(?<![\w-])(?:{row_of('changes')})(?!\w)", re.I)
OPENS = lazy_re(lambda: rf"^(?:(?:{row_of('bans')})\s+)?(?:(?:{row_of('runs')})\s+)?", re.I)
ENDS = lazy_re(lambda: rf"^(?:{row_of('ends')})$", re.I)
RIGHT = lazy_re(lambda: rf"(?<!\w)(?:{row_of('right')})(?!\w)", re.I)
FINE = lazy_re(lambda: rf"(?<!\w)(?:{row_of('fine')})(?!\w)", re.I)


def row_of(name: str) -> str:
    """The words of one row, in all languages, as alternatives."""
    return either(getattr(topic(Warned), name))


def clauses_of(text: str) -> Iterator[str]:
    """The clauses of a text, without the words that join them; nothing between marks or brackets separates."""
    start, hidden = 0, [each.span() for how in (MARKED, BRACKETS) for each in how.finditer(text)]
    for each in _SEPARATES.finditer(text):
        # What goes well is named behind a colon: "one worker is fine: `pytest -n 1`".
        names = each[0] == ":" and goes_well(text[start : each.start()])
        if not names and not any(first < each.start() < last for first, last in hidden):
            yield from _bare(text[start : each.start()])
            start = each.end()
    yield from _bare(text[start:])


def _bare(clause: str) -> Iterator[str]:
    whole = bool(EVERYTHING.search(clause.rstrip()[-2:]))
    told = _JOINED.sub("", _BEFORE_IT.sub("", clause if whole else clause.rstrip(TRAILING), count=1))
    if told:
        yield told


def goes_wrong(clause: str) -> bool:
    """Whether a clause says that something fails, or must not be done."""
    return bool(FAILS.search(clause) or BANS.search(clause))


def goes_well(clause: str) -> bool:
    """Whether a clause says that what it names is the right way, or does no harm."""
    return bool(RIGHT.search(clause)) or (bool(FINE.search(clause)) and not goes_wrong(clause))


def stops(word: str) -> bool:
    """Whether a word is none of a command that stands without marks."""
    return ENDS.search(word) is not None or FAILS.fullmatch(word) is not None
