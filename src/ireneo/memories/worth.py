"""The worth of a quotation: whether somebody who helps its speaker later would want to know it.

A linear model over words and forms decides, fitted to 2,700 labelled statements from chats. The forms are what the
rules find in a statement in any language: its tense, whose life it is about, what it measures. The words are English.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from ireneo.language.files import CAPITAL, cached_data, topic
from ireneo.language.spoken import Facts
from ireneo.language.topics import Serving
from ireneo.language.word_lines import Features, features, load_models
from ireneo.language.words import language_of_sentence, letters, standardise
from ireneo.memories.cues import PIECES, clause_tense, has_cue, mentions_change, relations
from ireneo.memories.figures import figures_by_quantity, is_measure
from ireneo.memories.wording import distinctive_words
from ireneo.patterns import lazy_re

LEAST = -0.4
"""From this worth on a quotation is kept."""
LEAST_BESIDE = -0.4
"""The same beside a statement that is kept."""
LEAST_LEFT = 1.8
"""The same of what is left of a quotation when the rest is over."""
LEAST_OLD = 1.0
"""The same of what was said too long ago to be relied on."""
NOTHING = -100.0
"""The worth of what is not quoted whatever it says."""
LEAST_ASKED = 2.0
"""The same for a question or a request; most of these contain no information."""
_CUES = """
own ailments happened coming lasts ends changed instead back besides idle_anywhere address asks reported for_good
for_now joint reached points laughs boasts goes_on just_now supposed condition
""".split()
_FIGURE = lazy_re(r"\d")
_LARGE = lazy_re(rf"(?<=\w ){CAPITAL}\w+")
_LENGTHS = 2, 3, 4, 6, 8, 11, 15, 20, 28
_MOST_TELLING = 6


def is_worth_keeping(said: str, asked: str = "") -> bool:
    """Whether the words `said`, perhaps in answer to `asked`, are worth keeping as a quotation."""
    return keep_score(said, asked) >= LEAST


@lru_cache(512)
def keep_score(said: str, asked: str = "") -> float:
    """The score of a statement, a logit: above 0 if it is rather worth keeping."""
    return load_models("kept")["worth"].value(features_of(said, asked))


def features_of(said: str, asked: str = "") -> Features:
    """The features of a statement: its forms, and its words if it is English."""
    plain = standardise(said)
    language = language_of_sentence(plain)
    known = features(plain) if language != "de" else Features((), ())
    return known.with_forms([*dict.fromkeys(_statement_forms(plain, language, asked))])


def _statement_forms(said: str, language: str, asked: str) -> Iterator[str]:
    if asked:
        yield "@answer"
    yield from (f"@says_{cue}" for cue in _CUES if has_cue(cue, said))
    for clause in PIECES.split(said):
        yield f"@tense_{clause_tense(clause, language) or 'none'}"
    for kind in figures_by_quantity(said):
        yield "@figure"
        yield f"@fig_{(kind.split() or ['bare'])[0]}"
        if is_measure(kind):
            yield "@measure"
    if _FIGURE.search(said):
        yield "@digit"
    if _LARGE.search(said):
        yield "@large"
    for word in letters(said.casefold()):
        if word in relations():
            yield f"@rel_{relations()[word]}"
            yield "@rel"
        yield from (f"@in_{area}" for area in _life_areas().get(word, ()))
    yield f"@size{sum(len(said.split()) >= least for least in _LENGTHS)}"
    yield f"@telling{min(len(distinctive_words(said)), _MOST_TELLING)}"
    if mentions_change(said):
        yield "@change"


@cached_data
def _life_areas() -> dict[str, tuple[str, ...]]:
    """The areas of life of the words that name or state something in them."""
    found: dict[str, tuple[str, ...]] = dict.fromkeys(topic(Facts).pastimes, ("weekend",))
    for areas in (topic(Serving).asks, topic(Serving).tells):
        for area, words in areas.items():
            for word in words:
                found[word] = (*found.get(word, ()), area)
    return found
