"""Private keys in their armour, whole or cut off, in lines that a tool numbered, or on one line with escapes."""

from __future__ import annotations

from collections.abc import Iterator

from ireneo.adapters.redact.span import Span
from ireneo.patterns import lazy_re

_BEGIN = lazy_re(r"-----BEGIN ((?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?)-----")
_BODY = lazy_re(r"[A-Za-z0-9+/=]{24,}")
_LAST = lazy_re(r"[A-Za-z0-9+/=]{4,}")
_ENDS = lazy_re(r"\\+[nrt]|[^A-Za-z0-9+/=]+")
_BETWEEN = lazy_re(
    r"(?:\\+[nrt]|\\*[\"'`]|[\s\d→|>+,:;-]|(?:Proc-Type|DEK-Info|Version|Comment|Charset|Hash):[^\n\\]*)*"
)
"""What stands between two lines of a key: their ends, numbers before them, quotes of a program, and headers."""

LONGEST = 64 * 1024


def private_keys(text: str) -> Iterator[Span]:
    """The private keys in `text`; a beginning with nothing behind it, as programs look for it, is none."""
    at = 0
    while "-----BEGIN " in text and (begin := _BEGIN.search(text, at)):
        at = begin.end()
        end = _end_of_body(text, at)
        if end == at:
            continue
        closing = f"-----END {begin[1]}-----"
        close = text.find(closing, end, end + 256)
        if close >= 0:
            end = close + len(closing)
        yield Span(begin.start(), end, "private-key")
        at = end


def lines_of(key: str) -> list[str]:
    """The lines of a key that are long enough to be known again where they stand alone."""
    # The plus before a line may be the line's, or that of a diff.
    lines = (line.lstrip("+") for line in _ENDS.split(key))
    return [line for line in lines if len(line) >= 40]


def _end_of_body(text: str, at: int) -> int:
    """Where the lines end that stand behind `at`; there, where none does."""
    last = at
    while last - at < LONGEST:
        between = _BETWEEN.match(text, last)
        start = between.end() if between else last
        line = _BODY.match(text, start)
        if line is None:
            short = _LAST.match(text, start)
            # The last line of a key is as short as it comes out.
            return short.end() if short and last > at and "-----END" in text[short.end() : short.end() + 40] else last
        last = line.end()
    return last
