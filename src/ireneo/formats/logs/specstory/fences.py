"""The fenced blocks of a tool's piece: what it was asked, and what it printed, which may hold fences of its own."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from ireneo.patterns import lazy_re

_FENCE = lazy_re(r"(?P<ticks>`{3,})(?P<language>[\w+.#-]*)\s*$")


class Fenced(Struct, frozen=True, kw_only=True):
    """A fenced block."""

    start: int
    """The line that opens it."""
    end: int
    """The line behind it."""
    language: str
    text: str


def fenced(lines: Sequence[str], start: int = 0, *, to_the_last: bool) -> Fenced | None:
    """The first block from `start` on; up to the last line that may close it, or only to the first.

    What a tool printed is closed by the last one, since it was not looked at for fences of its own.
    """
    for first in range(start, len(lines)):
        if (opened := _FENCE.match(lines[first])) is not None:
            break
    else:
        return None
    closing = [at for at in range(first + 1, len(lines)) if lines[at].rstrip() == opened["ticks"]]
    end = (closing[-1] if to_the_last else closing[0]) if closing else len(lines)
    text = "\n".join(lines[first + 1 : end])
    return Fenced(start=first, end=min(end + 1, len(lines)), language=opened["language"], text=text)


def asked_then_printed(lines: Sequence[str], *, whole_file: bool) -> tuple[Fenced | None, Fenced | None]:
    """The block that says what was asked, and the one that says what came back.

    The second opens behind an empty line behind the end of the first; of a `whole_file`, which may hold just that, the
    last such place counts.
    """
    first = fenced(lines, to_the_last=False)
    if first is None:
        return None, None
    ticks = _FENCE.match(lines[first.start])
    closing = ticks["ticks"] if ticks else ""
    seams = [
        at
        for at in range(first.start + 1, len(lines) - 2)
        if lines[at].rstrip() == closing and not lines[at + 1].strip() and _FENCE.match(lines[at + 2])
    ]
    if not seams:
        return fenced(lines, to_the_last=True), None
    seam = seams[-1] if whole_file else seams[0]
    text = "\n".join(lines[first.start + 1 : seam])
    asked = Fenced(start=first.start, end=seam + 1, language=first.language, text=text)
    return asked, fenced(lines, seam + 1, to_the_last=True)
