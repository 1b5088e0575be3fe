"""Whether a text keeps to its voice: who speaks, and to whom; and whether prose about a story tells it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Literal

from ireneo.language.files import either, topic
from ireneo.language.topics import Voices
from ireneo.patterns import lazy_re

Voice = Literal["first", "second", "third"]
"""“I …”, “you …” or “the agent …”."""

_QUOTED = lazy_re(
    r"```.*?(?:```|\Z)|`[^`\n]*`|[“„][^“”„]*[”“]|«[^«»]*»|‘[^‘’\n]*’(?!\w)|(?<!\w)\"[^\"\n]*\"", re.DOTALL
)
_FENCE = lazy_re(r"^[ \t]*(?:```|~~~)", re.MULTILINE)


_AGENT = lazy_re(lambda: either(topic(Voices).agent), re.IGNORECASE)
_YOU = lazy_re(lambda: either(topic(Voices).you), re.IGNORECASE)
_I = lazy_re(lambda: rf"(?<![\w'’./-])(?-i:{either(topic(Voices).oneself)})(?=[\s,.;:!?]|$)(?!\.\w)")
_WE = lazy_re(lambda: rf"(?<![\w-]){either(topic(Voices).together)}\s+\w", re.IGNORECASE)
_OFFERS = lazy_re(lambda: either(topic(Voices).offers), re.IGNORECASE)
_REFUSAL = lazy_re(lambda: either(topic(Voices).refusals), re.IGNORECASE)
_LABEL = lazy_re(
    r"^[ \t>*_#-]*(?:assistant|user|human|system|ai|agent|tool|developer)[*_]*[ \t]*:", re.IGNORECASE | re.MULTILINE
)
# An opening tag alone is as often what is to be filled in: `<project-hash>`.
_MARKUP = lazy_re(
    r"(?<!\w)(?:</[A-Za-z][\w:-]*>|<[A-Za-z][\w:-]*>(?=[^<\n]*</)"
    r"|<[A-Za-z][\w:-]*(?:/|\s[^<>\n=]{0,80}=[^<>\n]*)>)|<[|][^<>\n]*[|]>"
)
_HEADING = lazy_re(r"^[ \t]*#{1,6}(?:[ \t]|$)", re.MULTILINE)

Fault = tuple[re.Pattern[str], str]
"""By what a fault is known, and how it is called."""
FORM: tuple[Fault, ...] = ((_LABEL, "It labels a speaker"), (_MARKUP, "It has markup"), (_HEADING, "It has a heading"))
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


def voice_faults(text: str, voice: Voice, known: Callable[[str], bool] | None = None) -> list[str]:
    """Say where `text` leaves its voice, each fault once with the words that show it; what is quoted is exempt.

    What is `known` is what the text tells of: where the sources speak of an agent, it may be that one.
    """
    return found_faults(text, (*_BY_VOICE[voice], *_EVERYWHERE), known)


def found_faults(text: str, faults: Iterable[Fault], known: Callable[[str], bool] | None = None) -> list[str]:
    """Say which of `faults` `text` has, each once with the words that show it; what is quoted is exempt."""
    found = ["It has a code fence: “```”."] if _FENCE.search(text) else []
    own = unquoted(text)
    for pattern, fault in faults:
        may_be = known if known is not None and pattern in (_AGENT, _MARKUP) else None
        shown = next((each[0] for each in pattern.finditer(own) if may_be is None or not may_be(each[0])), None)
        if shown is not None:
            found.append(f"{fault}: “{' '.join(shown.split())}”.")
    return found


def unquoted(text: str) -> str:
    """`text` with a dot in the place of each character that is quoted, so that all else stands where it stood."""
    return _QUOTED.sub(lambda found: re.sub(r"[^\n]", "·", found[0]), text)


_COMMENT = lazy_re(lambda: either(topic(Voices).comments), re.IGNORECASE)
_LISTED = lazy_re(r"^[ \t]*(?:[-*+•–]|\d{1,2}[.)])[ \t]+\S")
_STAGE = lazy_re(r"^[ \t>*_]*[A-Z][\w'’-]*+(?: [A-Z][\w'’-]*+)?[*_]*: ?[A-Z·*(]")
_OF_STORIES: tuple[Fault, ...] = (
    *FORM,
    (_COMMENT, "It talks about the story instead of telling it"),
    (_LISTED, "It is an item of a list"),
    (_STAGE, "It labels a speaker"),
)
_ROLES = lazy_re(lambda: rf"\b{either(topic(Voices).article)} ({'|'.join(topic(Voices).roles)})\b", re.IGNORECASE)
_READER = lazy_re(lambda: rf"\b{either(topic(Voices).reader)}\b", re.IGNORECASE)
_STORY_TO_READER: Fault = (_READER, "It says “you”")
_OWN = lazy_re(lambda: rf"(?<![\w'’]){either(topic(Voices).own)}(?![\w])")
_NAMED = lazy_re(lambda: rf"\b{either(topic(Voices).named)}\s+$")


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
        if not _NAMED.search(before):
            return True
    return False


def tells_of_itself(text: str) -> bool:
    """Whether anybody says “I” in `text`, outside quotation marks."""
    return bool(_OWN.search(unquoted(text)))
