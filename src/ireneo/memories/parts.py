"""Sentences that say several things of one subject: introductions, and German clauses with a second verb."""

from __future__ import annotations

import re

from ireneo.language.files import either, of_language, topic
from ireneo.language.spoken import Phrasing
from ireneo.memories.cues import and_words, cues, no_names, not_german
from ireneo.memories.earnest import Statement
from ireneo.patterns import lazy_re

_EDGES = " .!,;…"
_PIECES = lazy_re(
    lambda: rf",\s+(?:{and_words()} )?|(?<!\s)\s++{and_words()}\s++(?={either(topic(Phrasing).begins)}\s)",
    re.I,
)
_HERE = lazy_re(lambda: rf"^{either(topic(Phrasing).here)}\b\s*", re.I)


def _german() -> Phrasing:
    return of_language(Phrasing, "de")


_SECOND_VERB = lazy_re(lambda: either(_german().second_verb))
VERB_ALONE = lazy_re(lambda: either(_german().alone))
"""At the beginning of a German clause without a subject: a verb in the first person."""
_SPEAKER = lazy_re(lambda: either(_german().speaker), re.I)


def german_and(text: str) -> tuple[str, str] | None:
    """A German clause up to an "und" behind which another verb follows, and that as a clause of the same subject."""
    found, known = _SECOND_VERB.match(text), _german()
    if found is None:
        return None
    who, verb = found["who"] or "ich", found["verb"]
    third = who.casefold() not in known.group
    fits = verb.endswith("t") if third else verb.endswith("e") if who.casefold() == "ich" else verb.endswith("en")
    if not fits and verb not in (known.third_forms if third else known.first_forms):
        return None
    return text[: found.end("first")], f"{who} {text[found.start('verb') :]}"


def leaves_out_ich(statement: Statement) -> bool:
    """Whether a German clause has the subject of the one before it: "Ich wohne in Graz und arbeite bei Magna"."""
    if not _SPEAKER.match(statement.sentence) or statement.sentence.startswith(statement.text):
        return False
    verb = VERB_ALONE.match(statement.text)
    return verb is not None and (verb[0] in _german().first_forms or verb[0] not in not_german())


def introduced(statement: Statement, *, opens: bool) -> list[str]:
    """What an introduction says: name, age, work and place, one after the other.

    An introduction with only a name and an age must open the message; otherwise it may be about somebody else.
    """
    found = cues(statement.language).introduces.match(statement.text)
    if found is None or found["name"].casefold() in no_names() or not (opens or found["sure"]):
        return []
    if statement.made_up:
        # "They gave out the parts, I'm Captain Bain" tells a part.
        return []
    if found["name"].endswith(("'s", "’s")):
        # "Irina's from Tbilisi" is said of her.
        return []
    pieces = [each.strip() for each in _PIECES.split(statement.text[found.start("name") :]) if each.strip(_EDGES)]
    first = pieces[0].removeprefix(found["name"]).strip()
    first = _HERE.sub("", first).removeprefix("by the way").removeprefix("btw")
    return [found["name"], *([first] if first.strip(_EDGES) else []), *pieces[1:]]
