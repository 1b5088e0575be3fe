"""The subject, the attribute and the value of a plain statement: "my favourite colour is green", "Anna lives in Porto".

A slot holds one value at a time, so a wrong one makes one fact push out another that is as true. Only attributes that
have one value at a time are read, out of single sentences of the plainest form; of all others there is no slot.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ireneo.memories.recall.word_lists import COMMON_WORDS
from ireneo.patterns import lazy_re

LONGEST = 200
"""Characters of a statement of which the slot is read."""


class Slot(NamedTuple):
    """What is said, of whom, under which name."""

    subject: str
    attribute: str
    value: str


_ONE_VALUED = (
    "(?:full |first |last |maiden |middle )?name|nickname|age|birthday|date of birth|birthplace|hometown|home town"
    "|(?:e-?mail|home|work|postal|ip) ?(?:address)?|address|(?:phone|mobile|account|licence|passport) ?(?:number)?"
    "|time ?zone|employer|occupation|profession|job(?: title)?|role|title|nationality|citizenship|religion|star sign"
    "|height|weight|shoe size|blood type|mother tongue|native language|first language|username|handle|pronouns"
    "|(?:current|default|main|preferred|usual|primary) [a-z]+(?: [a-z]+)?|favou?rite [a-z]+(?: [a-z]+)?"
    "|(?:wake word|call sign|mascot|motto|budget|deadline|salary|rent|salt|postcode|zip code)"
)
_ONE_PERSON = "boss|manager|wife|husband|spouse|partner|mother|father|dentist|doctor|therapist|landlord|landlady|tutor"
_OF_A_THING = (
    "capital|port|version|owner|deadline|url|address|name|price|budget|currency|population|president|mayor|ceo|author"
    "|maintainer|licence|license|colour|color|height|length|weight|size|default branch|main branch|home page|timeout"
    "|limit|status|language|director|publisher|founder|motto|code ?name|region|time zone"
)
_NAME = r"[A-Z][\w'’-]*(?: [A-Z][\w'’-]*)?"
_PROPER = r"[A-Z0-9][\w'’&.-]*(?:,? (?:& |of |de |da |do |del |la |the |am |upon )?[A-Z0-9][\w'’&.-]*){0,4}"
_THING = rf"(?:{_NAME}|[Tt]he [\w.-]+(?: [\w.-]+){{0,2}}?)"
_WHO = rf"(?P<subject>I|{_NAME})"
_NOW = r"(?: now| currently)?"

_PATTERNS = tuple(
    (lazy_re(pattern), attribute)
    for pattern, attribute in (
        (rf"(?P<subject>[Mm]y) (?P<attribute>{_ONE_VALUED}) (?:is|are){_NOW} (?P<value>.+)", ""),
        (rf"(?P<subject>[Mm]y) (?P<attribute>{_ONE_PERSON}) is{_NOW}(?: called| named)? (?P<value>{_NAME})", ""),
        (rf"(?P<subject>{_NAME})['’]s? (?P<attribute>{_ONE_VALUED}) (?:is|are){_NOW} (?P<value>.+)", ""),
        (rf"(?P<subject>{_NAME})['’]s? (?P<attribute>{_ONE_PERSON}) is{_NOW} (?P<value>{_NAME})", ""),
        (rf"[Tt]he (?P<attribute>{_OF_A_THING}) (?:of|for) (?P<subject>[\w .-]{{2,40}}?) is{_NOW} (?P<value>.+)", ""),
        (rf"(?P<subject>{_THING})['’]s? (?P<attribute>{_OF_A_THING}) is{_NOW} (?P<value>.+)", ""),
        (rf"{_WHO}{_NOW} lives?{_NOW} in (?P<value>{_PROPER})(?: now)?", "home"),
        (rf"{_WHO}{_NOW} works?{_NOW} (?:at|for) (?P<value>{_PROPER})(?: now)?", "employer"),
        (rf"{_WHO}{_NOW} works?{_NOW} as an? (?P<value>[a-z]+(?: [a-z]+){{0,2}})", "job"),
        (rf"{_WHO} (?:was|were) born in (?P<value>{_PROPER})", "birthplace"),
        (rf"{_WHO} (?:was|were) born on (?P<value>.{{4,30}})", "birthday"),
        (rf"{_WHO} (?:is|am){_NOW} (?P<value>\d{{1,3}}) years old", "age"),
    )
)
_UNSURE = lazy_re(
    r"\b(?:not|never|no longer|maybe|perhaps|probably|possibly|might|may be|could|would|should|used to|if|unless|when"
    r"|or|but|think|believe|guess|seems?|either|n't)\b|n['’]t\b|\?|;|: |[.!] ",
    re.I,
)
_NO_VALUE = lazy_re(
    r"(?:\w+ing|very|too|so|also|always|just|still|always|to|that|what|where|how|why|because|on|in|at|with|for|of"
    r"|important|good|bad|great|better|worse|nice|hard|easy|wrong|right|fine|okay|unknown|one|due|gone)\b",
    re.I,
)
_SEVERAL = frozenset(
    "alias allergy aunt brother cat certificate certification child colleague condition constraint cousin daughter"
    " dependency disability dislike dog friend goal grandchild habit hobby intolerance interest kid like medication"
    " medicine member neighbour neighbor nephew niece pet preference project restriction rule sibling sister skill son"
    " subscription symptom tag tool uncle".split()
)
"""Heads of attributes that hold several values at a time, in the singular."""
_ONE_IN_THE_PLURAL = frozenset(
    "coordinates credentials glasses headquarters hours https initials kubernetes measurements news pronouns series"
    " settings species terms whereabouts".split()
)
"""Plurals that name one value."""
_NO_PLURAL = ("ss", "us", "is", "os")
_NOBODY = COMMON_WORDS | {
    "everyone",
    "everybody",
    "someone",
    "somebody",
    "nobody",
    "anyone",
    "people",
    "today",
    "yesterday",
}


def holds_several(attribute: str) -> bool:
    """Whether an attribute has several values at a time, by its name: "allergy", "food allergies", "children".

    Its last word tells: one of those that are known, or a plural. Of all others a new value takes the place of the
    last.
    """
    head = attribute.casefold().split()[-1:]
    return bool(head) and (head[0] in _SEVERAL or _is_plural(head[0]))


def _is_plural(word: str) -> bool:
    if word in ("children", "people") or word.removesuffix("s") in _SEVERAL:
        return True
    # So that DNS, SMS and the like are none.
    return len(word) > 4 and word.endswith("s") and word not in _ONE_IN_THE_PLURAL and not word.endswith(_NO_PLURAL)


def read_slot(text: str, speaker: str) -> Slot | None:
    """The slot of a statement, where it is plain; "I" and "my" are `speaker`, and read only where that is known."""
    statement = " ".join(text.split()).rstrip(".! ")
    if len(statement) > LONGEST or _UNSURE.search(statement):
        return None
    for pattern, attribute in _PATTERNS:
        if found := pattern.fullmatch(statement):
            return _slot(found, attribute, speaker)
    return None


def _slot(found: re.Match[str], attribute: str, speaker: str) -> Slot | None:
    said, value = found["subject"].strip(), found["value"].strip()
    attribute = attribute or found["attribute"].lower()
    if said.casefold() in {"my", "i"}:
        said = speaker
    said = re.sub(r"^[Tt]he ", "", said)
    if any(word.casefold() in _NOBODY for word in said.split()):
        return None
    if not said or not value or _NO_VALUE.match(value) or len(value.split()) > 8:
        return None
    return Slot(said, attribute, value)
