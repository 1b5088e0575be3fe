"""The words of a text as they are searched: folded, without the common ones, and reduced to their stems.

Texts and questions are read by the same rules, so a change here asks for the index to be written anew: `FORMAT` tells.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache

from ireneo.memories.recall.word_lists import BASE_FORMS, COMMON_WORDS
from ireneo.patterns import lazy_re

FORMAT = 2
"""The number of these rules; an index that was written by others is to be written anew."""

LONGEST = 40
"""Letters of a term at the most; what is longer (a hash, a data URL) is cut there."""

_ASCII_WORD = lazy_re(r"[a-z0-9]+(?:'[a-z]+)?")
_POSSESSIVE = lazy_re(r"'(?:s|d|ll|re|ve|m|t)?$")
# Scripts that put no space between words: Thai to Burmese, Khmer, kana, Han (all planes in use), Hangul.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U000323af"
)
_RUN = lazy_re(f"([{_UNSPACED}]+)")


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
    if word in COMMON_WORDS:
        return ""
    word = BASE_FORMS.get(word, word)
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
