"""A text as messages: the speeches of a dialogue, or the paragraphs of prose."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from ireneo.formats.logs.dialogue.script import Script, Speech, is_chapter, speech_of
from ireneo.formats.logs.dialogue.voices import spoken
from ireneo.formats.logs.narrow import moment
from ireneo.log.message import Draft
from ireneo.patterns import lazy_re

WRAPPED = 45
"""Where all lines of a paragraph but its last are at least so long, they were broken to fit a page, and are joined."""
_QUOTE = lazy_re(r"^\s*>\s?")


def speeches(lines: Iterable[str], script: Script) -> Iterator[Draft]:
    """The speeches in order; what stands before the first one, and chapter headings, have no author.

    Lines that name no speaker go on with the speech above.
    """
    speech: Speech | None = None
    said: list[str] = []
    for line in lines:
        begins = speech_of(line, script)
        heading = begins is None and is_chapter(line)
        if begins is None and not heading:
            said.append(_QUOTE.sub("", line))
            continue
        yield from _told(speech, said)
        speech, said = begins, [begins.text] if begins else []
        if heading:
            yield spoken(None, line.strip())
    yield from _told(speech, said)


def paragraphs(lines: Iterable[str]) -> Iterator[Draft]:
    """The paragraphs of prose, each a message without author; the heading of a chapter is one by itself."""
    block: list[str] = []
    for line in lines:
        if line.strip():
            block.append(line)
        elif block:
            yield from _of_block(block)
            block.clear()
    yield from _of_block(block)


def _of_block(block: Sequence[str]) -> Iterator[Draft]:
    # A list of chapters is one paragraph; a heading with the text right under it is two.
    if len(block) > 1 and is_chapter(block[0]) and not is_chapter(block[1]):
        yield spoken(None, block[0].strip())
        block = block[1:]
    if block:
        yield spoken(None, _unwrapped(block))


def _told(speech: Speech | None, said: Sequence[str]) -> Iterator[Draft]:
    if speech is None:
        yield from paragraphs(said)
        return
    text = _in_paragraphs(said)
    if text:
        at = moment(speech.time)
        besides = {"time": speech.time} if speech.time and at is None else None
        yield spoken(speech.name, text, at=at, besides=besides)


def _in_paragraphs(said: Iterable[str]) -> str:
    """One text of several paragraphs, an empty line between them."""
    blocks = re.split(r"\n\s*\n", "\n".join(said))
    return "\n\n".join(_unwrapped(block.strip("\n").split("\n")) for block in blocks if block.strip())


def _unwrapped(block: Sequence[str]) -> str:
    if all(len(line) >= WRAPPED for line in block[:-1]):
        return " ".join(line.strip() for line in block)
    return "\n".join(block).strip("\n")
