"""Whether a text keeps to its voice: who speaks, and to whom; and whether prose about a story tells it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Literal

from ireneo.patterns import lazy_re

Voice = Literal["first", "second", "third"]
"""“I …”, “you …” or “the agent …”."""

_QUOTED = lazy_re(
    r"```.*?(?:```|\Z)|`[^`\n]*`|[“„][^“”„]*[”“]|«[^«»]*»|‘[^‘’\n]*’(?!\w)|(?<!\w)\"[^\"\n]*\"", re.DOTALL
)
_FENCE = lazy_re(r"^[ \t]*(?:```|~~~)", re.MULTILINE)


def _any_of(*patterns: str, flags: re.RegexFlag = re.IGNORECASE) -> re.Pattern[str]:
    return lazy_re("|".join(patterns), flags)


# In a project about agents the word is a thing's as well: the agent loop, the agent class.
_THING = (
    r"(?!['’]s\b|[ -](?:class|loop|module|file|config|API|SDK|framework|sessions?|logs?|type|name|id|code|server)\b)"
)
_AGENT = _any_of(
    rf"\b(?:the|this) (?:(?:AI|coding|LLM|language)[ -])?(?:agent|assistant|AI|chatbot|language model)\b{_THING}",
    r"\bthe model (?:did|ran|tried|edited|made|then|decided|noted|found|wrote|changed|fixed|was asked)\b",
)
_DEEDS = (
    "did|do|ran|run|tried|edited|made|decided|noted|found|wrote|changed|fixed|added|removed|moved|read|created|updated|were|are"
    "|was|have|had|need|must|should|will|would|can|could"
)
_YOU = _any_of(
    rf"\byou(?: \w+ly| then| also| now| have| had)? (?:{_DEEDS})\b",
    r"\byou['’](?:ve|d|ll|re)\b",
    r"\byour\b",
    r"(?-i:\bYou\b)",  # At the beginning of a sentence: it tells of someone.
)
_I = lazy_re(r"(?<![\w'’./-])(?:I|I['’](?:m|ve|d|ll)|[Mm]y|[Mm]yself)(?=[\s,.;:!?]|$)(?!\.\w)")
_WE = _any_of(r"(?<![\w-])(?:we|we['’](?:ve|re|d|ll)|our)\s+\w")
_OFFERS = _any_of(
    r"\blet me know\b",
    r"\bhope (?:this|that|it) helps\b",
    r"\b(?:would you like|do you want me|feel free|is there anything)\b",
    r"\bif you (?:need|have any|want|would like)\b",
    r"\b(?:happy|glad) to help\b",
    r"\bplease (?:note|let|provide|share|find|see)\b",
    r"\bhere(?:['’]s| is| are) (?:the|a|my|your) (?:\w+ )?summar(?:y|ies)\b",
    r"\b(?:sure|certainly|of course)[,!] |\bgreat question\b",
)
_REFUSAL = _any_of(
    r"\bI['’]?(?: a)?m (?:so |very |really )?sorry\b",
    r"\bI apologi[sz]e\b|\bapologies\b",
    r"\bas an? (?:AI|(?:large )?language model|assistant)\b",
    r"\bI (?:cannot|can['’]?t|can not|could not|am unable to|am not able to|won['’]t) "
    r"(?:help|assist|comply|fulfil|provide (?:that|this|assistance)|summari[sz]e|continue with th)",
)
_LABEL = lazy_re(
    r"^[ \t>*_#-]*(?:assistant|user|human|system|ai|agent|tool|developer)[*_]*[ \t]*:", re.IGNORECASE | re.MULTILINE
)
_MARKUP = lazy_re(r"(?<!\w)</?[A-Za-z][\w:-]*(?:\s[^<>\n]*)?/?>|<[|][^<>\n]*[|]>")
_HEADING = lazy_re(r"^[ \t]*#{1,6}(?:[ \t]|$)", re.MULTILINE)

MARKUP = "It has markup"
"""How that fault begins: in a list of names a bracket may be a part of one."""
Fault = tuple[re.Pattern[str], str]
"""By what a fault is known, and how it is called."""
FORM: tuple[Fault, ...] = ((_LABEL, "It labels a speaker"), (_MARKUP, MARKUP), (_HEADING, "It has a heading"))
"""What is no prose, in whichever voice."""
_EVERYWHERE: tuple[Fault, ...] = (
    (_OFFERS, "It talks to a reader"),
    (_REFUSAL, "It apologises or refuses"),
    *FORM,
)
_OUTSIDE, _TO_READER = (_AGENT, "It tells of the agent from outside"), (_YOU, "It speaks to a reader")
_OF_ITSELF, _TOGETHER = (_I, "It speaks of itself"), (_WE, "It says who did it as “we”")
OF_ITSELF: tuple[Fault, ...] = (_OF_ITSELF, _TOGETHER)
"""“I” and “we”, in English."""
_BY_VOICE: dict[Voice, tuple[Fault, ...]] = {
    # “We” may be the agent and its user, of whom the agent may tell as well.
    "first": (_OUTSIDE, _TO_READER),
    "second": (_OUTSIDE, _OF_ITSELF, _TOGETHER),
    "third": (_OF_ITSELF, _TO_READER, _TOGETHER),
}


def voice_faults(text: str, voice: Voice) -> list[str]:
    """Say where `text` leaves its voice, each fault once with the words that show it; what is quoted is exempt."""
    return found_faults(text, (*_BY_VOICE[voice], *_EVERYWHERE))


def found_faults(text: str, faults: Iterable[Fault]) -> list[str]:
    """Say which of `faults` `text` has, each once with the words that show it; what is quoted is exempt."""
    found = ["It has a code fence: “```”."] if _FENCE.search(text) else []
    own = unquoted(text)
    for pattern, fault in faults:
        shown = pattern.search(own)
        if shown:
            found.append(f"{fault}: “{' '.join(shown[0].split())}”.")
    return found


def unquoted(text: str) -> str:
    """`text` with a dot in the place of each character that is quoted, so that all else stands where it stood."""
    return _QUOTED.sub(lambda found: re.sub(r"[^\n]", "·", found[0]), text)


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
_STORY_TO_READER: Fault = (_READER, "It says “you”")
_OWN = lazy_re(r"(?<![\w'’])(?:I|[Mm]e|[Mm]y|[Mm]ine|[Mm]yself)(?![\w])")


def telling_faults(text: str, voice: Voice, english: bool, labels: Callable[[str], bool]) -> list[str]:
    """Say what is wrong with how one sentence tells, a sentence each; what is quoted is exempt.

    Who speaks is told by English words, so only where `english`. `labels` says whether a role, such as “user”, is a
    label of the log and nobody in the story.
    """
    by_voice: dict[Voice, tuple[Fault, ...]] = {
        "first": (_STORY_TO_READER,),
        "second": OF_ITSELF,
        "third": (*OF_ITSELF, _STORY_TO_READER),
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
