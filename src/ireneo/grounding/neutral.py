"""Tool output is data: what in it is worded as an instruction to a model is made visibly inert."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ireneo.log.message import BLOCK_TAGS, BRIEF_TAG, PAD_TAG, PINS_TAG
from ireneo.patterns import lazy_re

OPEN, CLOSE = "⟦quoted: ", "⟧"
"""What marks a span as quoted. It says nothing itself, and is closed by nothing inside it."""

TAGS = (*BLOCK_TAGS, PINS_TAG, PAD_TAG, BRIEF_TAG)
"""What our own blocks begin with: no tool may write one."""

_MARK = rf"{re.escape(OPEN)}[^⟦⟧\n]*{CLOSE}"
_ROLES = "system|user|assistant|human|developer|tool"
_FRAMES = (
    rf"(?:{_ROLES}|instructions?|prompt|messages?|sources?|transcript|conversation|context|summary|memory|memories"
    r"|documents?|output|results?|tool_\w+|function_\w+|system[-_]\w+)"
)
_GAP = r"[^\n⟦⟧]"
_START = r"(?:\b|(?<=\\[nrt]))"
_SPACE = r"(?:[ \t]|\\[nrt]|\r?\n){1,4}"

_WHOSE = (
    "all|any|every|each|the|these|those|your|my|our|of|previous|prior|earlier|preceding|above|foregoing|existing|other"
    "|system|safety|original|initial|given|developer"
)
_WHAT = (
    "instructions?|prompts?|rules?|guidelines?|directions?|directives?|commands?|constraints?|messages?|context"
    "|guardrails|polic(?:y|ies)"
)
_HARMLESS = (
    "on|at|logged|ready|connected|running|using|able|up|signed|done|authenticated|set|good|subscribed|following|viewing"
    "|editing|here|inside|leaving|entering"
)
_WORDED = (
    rf"\b(?:ignore|disregard|forget|override|bypass|(?:do not|don['’]t|stop) follow(?:ing)?) (?:(?:{_WHOSE}) ){{1,6}}"
    rf"(?:{_WHAT})\b",
    r"\b(?:ignore|disregard|forget) (?:everything|all|anything) (?:above|before|you|that|said|so far|prior|previous)\b",
    rf"\byou are now\b(?! (?:(?:{_HARMLESS})\b|in (?:the|an?|your|['\"/])))",
    r"\bfrom now on,? you\b",
    r"\b(?:pretend|act) (?:to be|as if you|as though you|like you) (?:are|were|an?)\b",
    r"\bnew (?:system )?(?:instructions?|prompt|directives?):",
    r"\b(?:reveal|print|repeat|output|show|leak) (?:me )?(?:your|the) (?:(?:hidden|full|entire|whole|original) )?"
    r"system prompt\b",
    r"\bdo(?: not|n['’]t) (?:tell|inform|mention (?:this|it) to|show this to|let) the "
    r"(?:user|human|operator|developer)\b",
)
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
_ADDRESSED = (
    rf"(?:(?<=\n)|(?<=\\n)|\A)[ \t>*_#-]{{0,8}}(?:{_ROLES}|AI)[*_]{{0,2}}[ \t]{{0,4}}:",
    r"(?:(?-i:\b(?:IMPORTANT|ATTENTION|URGENT|CRITICAL|WARNING|REMINDER|NOTICE)\b)|\b(?:important|attention)[:!])"
    rf"{_GAP}{{0,160}}?"
    r"\b(?:you (?:must|should|shall|need to|have to|are (?:required|instructed|ordered))"
    r"|(?:AI|LLM|agents?|assistants?|models?) (?:must|should|shall|need))\b",
    r"\b(?:(?:note|message|instructions?)[ ,:]{1,3}(?:to|for)|attention|dear|hey|hello|hi)[ ,:]{1,3}(?:the |all |any )?"
    r"(?:AI|LLM|assistant|Claude|ChatGPT|GPT|language model)s?\b",
)
_PATTERNS = (*(text.replace(" ", _SPACE).replace(r"\b", _START, 1) for text in _WORDED), *_TEMPLATES, *_ADDRESSED)
_INSTRUCTION = "|".join(f"(?:{pattern})" for pattern in _PATTERNS)
_MARK_OR_INSTRUCTION = lazy_re(f"(?P<mark>{_MARK})|{_INSTRUCTION}", re.IGNORECASE)
_STRAY = lazy_re(rf"(?P<mark>{_MARK})|[⟦⟧]")
_BRACKETS = str.maketrans("⟦⟧", "[]")

# They show nothing to a reader, and hide a word from whoever looks for it.
_INVISIBLE = lazy_re(
    "[\u00ad\u200b\u2060-\u2064\ufeff\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]"
    "|(?<=[A-Za-z])[\u200c\u200d](?=[A-Za-z])"
)


def neutralise(text: str, delimiters: Iterable[str] = ()) -> str:
    """Write `text`, which comes from a tool, so that it can stand in a prompt as what it is: data.

    What is worded as an instruction, a speaker's label or a mark of a chat template is set in a visible mark, and so is
    each of the `delimiters` between which the text will stand. All else stays as it is. Neutral text stays as it is.
    """
    pattern = _with(delimiters)
    neutral = _INVISIBLE.sub("", text)
    while True:
        # A mark changes what its neighbours begin with, so that it is looked again until nothing is found.
        once = _STRAY.sub(lambda found: found["mark"] or found[0].translate(_BRACKETS), pattern.sub(_quoted, neutral))
        if once == neutral:
            return once
        neutral = _INVISIBLE.sub("", once)


def instruction_like(text: str) -> bool:
    """Whether `text` carries something that is worded as an instruction to a model, and is not marked as quoted."""
    return any(found["mark"] is None for found in _MARK_OR_INSTRUCTION.finditer(_INVISIBLE.sub("", text)))


def _with(delimiters: Iterable[str]) -> re.Pattern[str]:
    given = "|".join(re.escape(each) for each in sorted(delimiters, key=len, reverse=True) if each)
    if not given:
        return _MARK_OR_INSTRUCTION
    return re.compile(f"(?P<mark>{_MARK})|{given}|{_INSTRUCTION}", re.IGNORECASE)


def _quoted(found: re.Match[str]) -> str:
    if found["mark"] is not None:
        return found[0]
    span = re.sub(r"(?<!\s)\s*\n\s*", " ", found[0])
    return f"{OPEN}{span.translate(_BRACKETS)}{CLOSE}"
