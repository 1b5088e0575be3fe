"""The words of a text: as they stand there, and as they are searched, without the common ones and reduced to stems.

Texts and questions are read by the same rules, so a change of `terms` asks for the index to be written anew: `FORMAT`
tells.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache

from ireneo.language.files import from_data, of_language
from ireneo.language.topics import Words
from ireneo.patterns import lazy_re

FORMAT = 2
"""The number of the rules of `terms`; an index that was written by others is to be written anew."""

LONGEST = 40
"""Letters of a term at the most; what is longer (a hash, a data URL) is cut there."""

WORD = lazy_re(r"[^\W\d_](?:[^\W_]|['’-](?=[^\W\d_]))*")
"""A word: it begins with a letter, and what an apostrophe or a hyphen joins is one."""

_LETTERS = lazy_re(r"[^\W\d_]+")
_ASCII_WORD = lazy_re(r"[a-z0-9]+(?:'[a-z]+)?")
_POSSESSIVE = lazy_re(r"'(?:s|d|ll|re|ve|m|t)?$")
# Scripts that put no space between words: Thai to Burmese, Khmer, kana, Han (all planes in use), Hangul.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U000323af"
)
_RUN = lazy_re(f"([{_UNSPACED}]+)")


def letters(text: str) -> list[str]:
    """The words of `text` that are made of letters, in order; what anything else parts counts as two."""
    return _LETTERS.findall(text)


def light_stem(word: str, language: str = "en") -> str:
    """A small word without its ending, so that `pushing` meets `push`, `files` `file` and `running` `run`."""
    for ending in of_language(Words, language).endings:
        # Friday is no word of one Frida, as dependencies are of a dependency.
        if word.endswith(ending) and len(word) - len(ending) >= 3 and word[-2:] not in ("ay", "ey", "oy"):
            word = word[: -len(ending)]
            break
    return word[:-1] if len(word) > 2 and word[-1] == word[-2] else word


def terms(text: str) -> list[str]:
    """The terms of `text`, in order and as often as they stand there; the common words of English are left out."""
    folded = text.casefold().replace("\u2019", "'")
    if folded.isascii():
        return [stem for word in _ASCII_WORD.findall(folded) if (stem := _stem(word))]
    return list(_terms_of_any_script(unicodedata.normalize("NFKC", folded)))


def author_term(author: str) -> str:
    """The term under which the messages of `author` stand in an index; no word of a text is ever equal to it."""
    return "@" + " ".join(unicodedata.normalize("NFKC", author.casefold()).split())


def document_terms(text: str, author: str | None = None) -> list[str]:
    """What an index holds of a document: the terms of its text, and that of its author where it has one."""
    return [*terms(text), author_term(author)] if author else terms(text)


@from_data
def common_words() -> frozenset[str]:
    """The stop list of English, whose words make no terms."""
    return of_language(Words, "en").stop


@from_data
def base_forms() -> dict[str, str]:
    """Irregular forms of English words that a stemmer can't lead back, and the word of each."""
    groups = [group.split() for group in of_language(Words, "en").irregular]
    return {form: base for base, *forms in groups for form in forms}


def _terms_of_any_script(folded: str) -> list[str]:
    if not _RUN.search(folded):
        return [stem for word in _any_word().findall(folded) if (stem := _stem(word))]
    found: list[str] = []
    for word in _any_word().findall(folded):
        for run in _RUN.split(word):
            if not run:
                continue
            if _RUN.fullmatch(run):
                found += [run[at : at + 2] for at in range(max(1, len(run) - 1))]
            elif stem := _stem(run):
                found.append(stem)
    return found


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    """The stem of a folded word, or "" for a common one; a word of another language than English keeps its form."""
    word = _POSSESSIVE.sub("", word)[:LONGEST]
    if word in common_words():
        return ""
    word = base_forms().get(word, word)
    # Imported when used: with it come the stemmers of all languages.
    from snowballstemmer.english_stemmer import EnglishStemmer

    # A stemmer keeps the word it is at in itself: one of its own each time, for several threads may be here at once.
    return str(EnglishStemmer().stemWord(word)) if word.isascii() and word.isalpha() else word


@cache
def _any_word() -> re.Pattern[str]:
    r"""Letters, digits and the marks that go with them: `\w` alone would cut a Hindi word at every vowel sign."""
    marks = [code for code in range(0x300, 0x10000) if unicodedata.category(chr(code)) in ("Mn", "Mc")]
    held = "".join(f"\\u{code:04x}" for code in marks)
    return re.compile(f"(?:[^\\W_]|[{held}])+(?:'[^\\W\\d_]+)?")
