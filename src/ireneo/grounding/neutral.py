"""Neutralise prompt injection: mark instructions in tool output visibly as quoted data."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ireneo.language.files import from_data, topic
from ireneo.language.topics import Instructions
from ireneo.log.message import BLOCK_TAGS, BRIEF_TAG, PAD_TAG, PINS_TAG
from ireneo.patterns import lazy_re

OPEN, CLOSE = "⟦quoted: ", "⟧"
"""Delimiters of a quoted span; nothing inside can close it."""

TAGS = (*BLOCK_TAGS, PINS_TAG, PAD_TAG, BRIEF_TAG)
"""The tags of our own blocks, which tool output must not contain."""

_MARK = rf"{re.escape(OPEN)}[^⟦⟧\n]*{CLOSE}"
_ROLES = "system|user|assistant|human|developer|tool"
_FRAMES = (
    rf"(?:{_ROLES}|instructions?|prompt|messages?|sources?|transcript|conversation|context|summary|memory|memories"
    r"|documents?|output|results?|tool_\w+|function_\w+|system[-_]\w+)"
)
_START = r"(?:\b|(?<=\\[nrt]))"
_SPACE = r"(?:[ \t]|\\[nrt]|\r?\n){1,4}"

_TEMPLATES = (
    r"<[|][^<>|\n⟦⟧]{1,40}[|]>",
    r"<｜[^<>\n⟦⟧]{1,40}｜>",
    rf"</?{_FRAMES}(?:[ \t][^<>\n⟦⟧]{{0,200}})?/?>",
    r"</?s>",
    r"\[/?INST\]|<</?SYS>>",
    r"<(?:start|end)_of_turn>",
    "|".join(re.escape(tag) for tag in TAGS),
    r"\[/?(?:SYSTEM|ASSISTANT|USER)(?:[ _-](?:PROMPT|MESSAGE))?\]",
    r"\b(?:BEGIN|END)[ _](?:(?:OF|SYSTEM|USER|THE|NEW)[ _]){0,2}(?:PROMPT|INSTRUCTIONS?|CONTEXT|CONVERSATION)\b",
)
_LABELLED = rf"(?:(?<=\n)|(?<=\\n)|\A)[ \t>*_#-]{{0,8}}(?:{_ROLES}|AI)[*_]{{0,2}}[ \t]{{0,4}}:"


@from_data
def _instruction() -> str:
    known = topic(Instructions)
    worded = (text.replace(" ", _SPACE).replace(r"\b", _START, 1) for text in known.worded)
    return "|".join(f"(?:{pattern})" for pattern in (*worded, *_TEMPLATES, _LABELLED, *known.addressed))


_MARK_OR_INSTRUCTION = lazy_re(lambda: f"(?P<mark>{_MARK})|{_instruction()}", re.IGNORECASE)
_STRAY = lazy_re(rf"(?P<mark>{_MARK})|[⟦⟧]")
_BRACKETS = str.maketrans("⟦⟧", "[]")

# Invisible characters can hide a word from a search.
_INVISIBLE = lazy_re(
    "[\u00ad\u200b\u2060-\u2064\ufeff\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]"
    "|(?<=[A-Za-z])[\u200c\u200d](?=[A-Za-z])"
)


def neutralise(text: str, delimiters: Iterable[str] = ()) -> str:
    """Make tool output safe to include in a prompt.

    Instructions, speaker labels, chat template tokens, and the `delimiters` that will enclose the text are marked as
    quoted. Everything else is unchanged, and the function is idempotent.
    """
    pattern = _with(delimiters)
    neutral = _INVISIBLE.sub("", text)
    while True:
        # A mark may expose a match next to it, so repeat until nothing changes.
        once = _STRAY.sub(lambda found: found["mark"] or found[0].translate(_BRACKETS), pattern.sub(_quoted, neutral))
        if once == neutral:
            return once
        neutral = _INVISIBLE.sub("", once)


def instruction_like(text: str) -> bool:
    """Whether `text` contains an instruction to a model that is not marked as quoted."""
    return any(True for _ in instructions(text))


def instructions(text: str) -> Iterator[str]:
    """Yield the instructions to a model in `text` that are not marked as quoted."""
    found = _MARK_OR_INSTRUCTION.finditer(_INVISIBLE.sub("", text))
    return (each[0] for each in found if each["mark"] is None)


def _with(delimiters: Iterable[str]) -> re.Pattern[str]:
    given = "|".join(re.escape(each) for each in sorted(delimiters, key=len, reverse=True) if each)
    if not given:
        return _MARK_OR_INSTRUCTION
    return re.compile(f"(?P<mark>{_MARK})|{given}|{_instruction()}", re.IGNORECASE)


def _quoted(found: re.Match[str]) -> str:
    if found["mark"] is not None:
        return found[0]
    span = re.sub(r"(?<!\s)\s*\n\s*", " ", found[0])
    return f"{OPEN}{span.translate(_BRACKETS)}{CLOSE}"
