"""Who is somebody's, by what word and by which name, and what is nobody's name."""

from __future__ import annotations

from collections.abc import Sequence

from ireneo.language.files import LANGUAGES, from_data, of_language
from ireneo.language.spoken import Facts
from ireneo.language.topics import Names, Words
from ireneo.memories.record import Record


def names_of(known: Sequence[Record]) -> dict[str, str]:
    """By the relation and by the name, the name of whoever is the speaker's sister, boss, dog."""
    names: dict[str, str] = {}
    for record in known:
        if record.attribute in relations() and record.value[:1].isupper() and len(record.value.split()) <= 2:
            names[record.attribute] = record.value
            names[record.value] = record.value
    return names


@from_data
def relations() -> dict[str, str]:
    """By each word for a relation its code."""
    return {
        word.replace("-", " "): code
        for language in LANGUAGES
        for code, words in of_language(Facts, language).relations.items()
        for word in (code, *words)
    }


@from_data
def not_german() -> frozenset[str]:
    """What begins a German sentence and is nobody's name."""
    return of_language(Words, "de").stop | of_language(Facts, "de").no_value


@from_data
def no_names() -> frozenset[str]:
    """What is written large and is nobody's name."""
    return frozenset(word for language in LANGUAGES for word in of_language(Names, language).none)
