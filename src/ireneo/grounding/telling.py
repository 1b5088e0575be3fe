"""Whether prose about a story is told in its voice, and tells the story instead of talking about it."""

from __future__ import annotations

import re
from collections.abc import Callable

from ireneo.grounding.voice import FORM, OF_ITSELF, Fault, Voice, found_faults, unquoted
from ireneo.patterns import lazy_re

_COMMENT = lazy_re(
    r"\b(?:in|of|throughout|at the end of) (?:this|the) (?:chapter|scene|passage|excerpt|stretch|episode|summary)\b"
    r"|\b(?:this|the) (?:chapter|scene|passage|excerpt|stretch|episode|summary|narrative|roleplay|role-play)"
    r" (?:begins?|opens?|continues?|ends?|describes?|follows?|shows?|shifts?|began|opened|ended)\b"
    r"|^(?:in summary|to summari[sz]e|overall|summary:|here(?:['’]s| is) (?:the|a|my) )|\bto be continued\b"
    r"|\blet me know\b|\bas an? (?:AI|(?:large )?language model)\b",
    re.IGNORECASE,
)
_LISTED = lazy_re(r"^[ \t]*(?:[-*+•–]|\d{1,2}[.)])[ \t]+\S")
_STAGE = lazy_re(r"^[ \t>*_]*[A-Z][\w'’-]*+(?: [A-Z][\w'’-]*+)?[*_]*: ?[A-Z·*(]")
_OF_STORIES: tuple[Fault, ...] = (
    *FORM,
    (_COMMENT, "It talks about the story instead of telling it"),
    (_LISTED, "It is an item of a list"),
    (_STAGE, "It labels a speaker"),
)
_ROLES = lazy_re(
    r"\bthe (user|assistant|player|narrator|game master|dungeon master|role-?player|character|chatbot"
    r"|language model|AI)\b",
    re.IGNORECASE,
)
_READER = lazy_re(r"\b(?:you|your|yours|yourself|you['’](?:re|ve|d|ll))\b", re.IGNORECASE)
_TO_READER: Fault = (_READER, "It says “you”")
_OWN = lazy_re(r"(?<![\w'’])(?:I|[Mm]e|[Mm]y|[Mm]ine|[Mm]yself)(?![\w])")


def telling_faults(text: str, voice: Voice, english: bool, labels: Callable[[str], bool]) -> list[str]:
    """Say what is wrong with how one sentence tells, a sentence each; what is quoted is exempt.

    Who speaks is told by English words, so only where `english`. `labels` says whether a role, such as “user”, is a
    label of the log and nobody in the story.
    """
    by_voice: dict[Voice, tuple[Fault, ...]] = {
        "first": (_TO_READER,),
        "second": OF_ITSELF,
        "third": (*OF_ITSELF, _TO_READER),
    }
    found = found_faults(text, (*_OF_STORIES, *(by_voice[voice] if english else ())))
    called = [role[0] for role in _ROLES.finditer(unquoted(text)) if labels(role[1])]
    return [*found, *(f"It calls somebody by a role: “{role}”." for role in called[:1])]


def names_oneself(text: str, name: str) -> bool:
    """Whether `text`, which is the memory of the one called `name`, tells of that name as of somebody else."""
    own = unquoted(text)
    forms = "|".join(re.escape(form) for form in dict.fromkeys((name, name.split()[0])) if form) if name.strip() else ""
    if not forms:
        return False
    for found in re.finditer(rf"(?<!\w)(?:{forms})(?!\w)", own):
        before = own[: found.start()]
        if not re.search(r"\b(?:me|myself|I,|name (?:is|was)|named|as|called)\s+$", before):
            return True
    return False


def tells_of_itself(text: str) -> bool:
    """Whether anybody says “I” in `text`, outside quotation marks."""
    return bool(_OWN.search(unquoted(text)))
