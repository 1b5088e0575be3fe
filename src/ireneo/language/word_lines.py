"""Linear models over the words of an English sentence: the weights of words, pairs of words and forms.

A line answers one question about a sentence, such as how much it matters later in a story. Its weights were fitted to
labelled sentences and are stored as data in a file next to this module, with a heading for each line. Each row is a
weight in hundredths, followed by everything with this weight: a word as it is written, `~` before a stem, two
neighbours joined by `_`, and forms, which begin with `@`. No name has a weight: all names are one form.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from math import fsum, sqrt
from pkgutil import get_data

from msgspec import Struct

from ireneo.language.files import cached_data, of_language
from ireneo.language.topics import Grammar, WordForms, Words
from ireneo.language.words import base_forms, light_stem
from ireneo.patterns import lazy_re

_TOKEN = lazy_re(r"[^\W\d_]+(?:'[^\W\d_]+)*|\d+(?:[.,]\d+)*|[?!;:*\"“”(…—–]|--|\.\.\.")
_NAME, _NAMES, _NUMBER = "@name", "@name's", "@number"
_OPENS, _CLOSES = "^", "$"
_QUOTES = frozenset('"“”')
_BREAKS = ("-", "—", "–", "…", "...")
_LENGTHS = 4, 6, 8, 10, 13, 16, 20, 25, 32, 45
"""Numbers of words at which the length of a sentence changes to the next class."""
_FEW = 8
"""A sentence with at most this many words and pairs is short."""
_NAMED = 3
"""From this many names on, their number makes no difference."""
CONSTANT = "@all"
"""The feature of every sentence."""


class Features(Struct, frozen=True):
    """The features of a sentence, which may have weights."""

    words: Sequence[str]
    """Words, stems and pairs. Their weights are divided by their number, since a long sentence has more of them."""
    forms: Sequence[str]
    """Forms of the whole sentence, whose weights are added undivided."""

    def with_forms(self, forms: Sequence[str]) -> Features:
        """Add forms that the words don't show, such as who says the sentence."""
        return Features(self.words, (*self.forms, *forms))

    def counts(self) -> Iterator[tuple[str, float]]:
        """Yield each feature as often as it occurs, with the factor for its weight."""
        share = 1 / sqrt(max(len(self.words), _FEW))
        yield from ((each, share) for each in self.words)
        yield from ((each, 1.0) for each in self.forms)
        yield CONSTANT, 1.0


class LinearModel(Struct, frozen=True):
    """A linear model over the words of a sentence: a weight for each feature."""

    weights: Mapping[str, float]

    def value(self, features: Features) -> float:
        """Return the score of a sentence: the logit of a probability, so above 0 the answer is more likely yes."""
        weights = self.weights
        return fsum(weights[each] * share for each, share in features.counts() if each in weights)


@cache
def load_models(name: str) -> Mapping[str, LinearModel]:
    """Load the models in the file `en.NAME.txt`, by their headings."""
    data = get_data(__package__, f"en.{name}.txt")
    assert data is not None, name
    return parse_models(data.decode("utf-8"))


def parse_models(text: str) -> Mapping[str, LinearModel]:
    """Parse the models in a text; a `#` begins a comment."""
    found: dict[str, dict[str, float]] = {}
    weights: dict[str, float] = {}
    for row in text.splitlines():
        if row.startswith("["):
            weights = found.setdefault(row.strip("[]"), {})
        elif row and not row.startswith("#"):
            weight, *features = row.split()
            weights.update(dict.fromkeys(features, int(weight) / 100))
    return {name: LinearModel(each) for name, each in found.items()}


def features(sentence: str, names: Collection[str] = ()) -> Features:
    """Return the features of a sentence.

    `names` are words, in lower case, that are names: a capital at the beginning of a sentence doesn't show it.
    """
    tokens = _tokens(sentence, names)
    known: list[str] = []
    before = _OPENS
    for token in tokens:
        stem = _stem(token)
        known.append(token)
        if token[0].isalpha() and token not in _function_words():
            known.append(f"~{stem}")
        known.append(f"{before}_{stem}")
        before = stem
    known.append(f"{before}_{_CLOSES}")
    return Features(known, tuple(_sentence_forms(sentence, tokens)))


def _tokens(sentence: str, names: Collection[str]) -> list[str]:
    """Split a sentence into lower-case words and signs; names and figures are replaced by placeholders."""
    out: list[str] = []
    opens = True
    for token in _TOKEN.findall(sentence.replace("’", "'")):
        low = token.lower()
        if token[0].isdigit():
            out.append(_NUMBER)
        elif not token[0].isalpha():
            out.append(low)
            # After a quotation mark, a bracket or an asterisk another sentence may begin.
            opens = low in _QUOTES or low in "*("
            continue
        elif low.removesuffix("'s") in names or (
            token[0].isupper() and not opens and low not in _capitalised_common_words()
        ):
            name = _NAMES if low.endswith("'s") else _NAME
            if not (out and out[-1] == _NAME):
                out.append(name)
            else:
                out[-1] = name
        else:
            out.append(low)
        opens = False
    return out


@cached_data
def _function_words() -> frozenset[str]:
    grammar = of_language(Grammar, "en")
    return of_language(Words, "en").stop | grammar.pronouns | grammar.modals


@cached_data
def _capitalised_common_words() -> frozenset[str]:
    """Return the words that are capitalised but aren't names."""
    return of_language(WordForms, "en").capitals


@cached_data
def _forms_by_word() -> dict[str, tuple[str, ...]]:
    """Map each word that shows a form of its sentence to these forms."""
    found: dict[str, tuple[str, ...]] = {}
    for form, words in of_language(WordForms, "en").shows.items():
        for word in words:
            found[word] = (*found.get(word, ()), f"@{form}")
    return found


@cache
def _stem(token: str) -> str:
    if not token[0].isalpha() or token in _function_words():
        return token
    return light_stem(base_forms().get(token, token))


def _sentence_forms(sentence: str, tokens: Sequence[str]) -> Iterator[str]:
    words = [token for token in tokens if token[0].isalpha() or token[0] == "@"]
    yield f"@length{sum(len(words) >= least for least in _LENGTHS)}"
    end = sentence.rstrip("\"'”’)*_ ")
    if end.endswith("?"):
        yield "@asks"
    elif end.endswith("!"):
        yield "@cries"
    elif end.endswith(_BREAKS):
        yield "@breaks"
    if sentence[:1].islower():
        yield "@small"
    if not _QUOTES.isdisjoint(tokens):
        yield "@quotes"
    names = sum(word in (_NAME, _NAMES) for word in words)
    if names:
        yield f"@names{min(names, _NAMED)}"
    shown = _forms_by_word()
    found = {form for word in words for form in shown.get(word, ())}
    if any(word in base_forms() or (word.endswith("ed") and len(word) > 4) for word in words):
        found.add("@past")
    yield from sorted(found)
