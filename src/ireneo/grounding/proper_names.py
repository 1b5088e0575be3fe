"""Proper names in prose: capitalised words where a capital says something.

A capital at the beginning of a sentence, in a heading or in a language that writes all its nouns so says nothing.
There a name is not looked for: better one unchecked than a word taken for one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ireneo.patterns import lazy_re

_SENTENCE = lazy_re(r"(?:[.!?:;…]['\")\]]*\s+|\n|\s[-–—→•|]\s|^[-–—→•|]\s|[(\[\"“„«>])")
_WORD = lazy_re(r"[^\W\d_](?:[\w&]|['’-](?=\w))*")
_GERMAN_WORDS = """
der die das den dem des und ist nicht ein eine einen einem mit für auf wurde werden wird sind im zum zur von bei
aus nach ich wir sie habe haben hat noch nur auch durch dann wenn aber oder als wie dass
"""
_ENGLISH_WORDS = """
the of and is not a an to in for on was were be been with that this it i we they have has only also then when but
or as by from at because
"""
_CAPITALISED = """
I I'm I'll I've I'd OK Ok Okay Yes No Not The A An This That It We You He She They And But Or If When Then So As
Strategy Operations Discoveries Dead Ends What Worked Critical Artifacts Status Goal Arc Human Direction Achieved
Lasting Constraints Key Open Note Step Phase Part Option Section Chapter Figure Table Task Test Tests File Error
Issue Bug Case Line Stage Round Version Plan Todo English German French Spanish Git Bash Python JavaScript Markdown
TypeScript Unicode Boolean Internet Mr Mrs Ms Dr Complete Partial Blocked True False None Null Pass Fail God
COMPLETE PARTIAL BLOCKED NOT NEVER ALWAYS ONLY MUST ALL ANY AND FOR THE BUT NOTE TODO IMPORTANT CRITICAL WARNING
ERROR FAIL FAILED PASS PASSED API APIS URL URLS JSON YAML XML HTML CSS CSV HTTP HTTPS SQL CLI GUI CPU GPU RAM ASCII
UTF TCP UDP SSH DNS IDE LLM LLMS SDK CRUD REST PDF PNG FIXME README WIP TDD UUID EOF FAQ USA YES TRUE FALSE NULL
NONE DOES SHOULD WITH WITHOUT NEW OLD BEFORE AFTER BOTH EVERY EXACTLY STILL ALREADY ALSO NOW VERY THIS THAT
GET POST PUT PATCH DELETE HEAD OPTIONS FIXED DONE KEY WHY HOW WHAT WHEN WHERE
"""
_GERMAN = frozenset(_GERMAN_WORDS.split())
_ENGLISH = frozenset(_ENGLISH_WORDS.split())
_NO_NAMES = frozenset(_CAPITALISED.split())
"""Capitalised for the stress, by custom or as a term: none of them says who or what."""


def proper_names(text: str, hidden: str) -> Iterator[tuple[int, str]]:
    """The proper names of `text` with their places; words that touch the filler `hidden` were accounted for before."""
    if writes_nouns_large(text):
        return
    start = 0
    for end in [*(found.end() for found in _SENTENCE.finditer(text)), len(text)]:
        yield from ((start + place, name) for place, name in _in_sentence(text[start:end], hidden))
        start = end


def _in_sentence(sentence: str, hidden: str) -> Iterator[tuple[int, str]]:
    words = list(_WORD.finditer(sentence))
    long = [word[0] for word in words if len(word[0]) > 3]
    if len(long) > 3 and sum(word[0].isupper() for word in long) * 4 > len(long) * 3:
        return  # A heading in which every word is capitalised.
    name: re.Match[str] | None = None
    first = 0
    for number, word in enumerate(words):
        opens = number == 0 and hidden not in sentence[: word.start()]
        if opens or not _may_name(word, sentence, hidden):
            if name is not None:
                yield first, sentence[first : name.end()]
            name = None
        elif name is not None and sentence[name.end() : word.start()] == " ":
            name = word
        else:
            if name is not None:
                yield first, sentence[first : name.end()]
            name, first = word, word.start()
    if name is not None:
        yield first, sentence[first : name.end()]


def _may_name(word: re.Match[str], sentence: str, hidden: str) -> bool:
    text = re.sub(r"['’]s$", "", word[0])
    if not text[0].isupper() or len(text) < 3 or text in _NO_NAMES or text.rstrip("s").upper() in _NO_NAMES:
        return False
    if any(part in _NO_NAMES for part in re.split(r"['’-]", text)):
        return False
    around = sentence[max(0, word.start() - 2) : word.start()]
    # What touches something hidden is a part of it; what follows a quotation may begin a sentence.
    return hidden not in around and sentence[word.end() : word.end() + 1] not in (hidden, "_")


def writes_nouns_large(text: str) -> bool:
    """Whether `text` is in German, where a capital says no more than that a word is a noun."""
    words = [word[0].lower() for word in _WORD.finditer(text)]
    german = sum(word in _GERMAN for word in words)
    return german > 0 and german >= sum(word in _ENGLISH for word in words)
