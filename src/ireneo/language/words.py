"""Tokenisation: words, sentences and technical names of a text, the terms by which it is searched, and words alike.

Documents and queries use the same rules, so a change of `terms` requires a rebuilt index and a new `FORMAT`.
"""

from __future__ import annotations

import gzip
import re
import unicodedata
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from pkgutil import get_data

import msgspec
from msgspec import Struct

from ireneo.language.files import CAPITAL, LANGUAGES, any_of, cached_data, of_language, topic
from ireneo.language.topics import Grammar, Sentences, Words
from ireneo.patterns import lazy_re

FORMAT = 2
"""Version of the rules of `terms`; an index with another version must be rebuilt."""

LONGEST = 40
"""The maximum number of characters of a term; longer ones (a hash, a data URL) are cut."""

LEAST_STEM = 3
"""The minimum number of characters of a stem."""

WORD = lazy_re(r"[^\W\d_](?:[^\W_]|['’-](?=[^\W\d_]))*")
"""A word: it begins with a letter, and apostrophes and hyphens join its parts."""

_LETTERS = lazy_re(r"[^\W\d_]+")
_ASCII_WORD = lazy_re(r"[a-z0-9]+(?:'[a-z]+)?")
_POSSESSIVE = lazy_re(r"'(?:s|d|ll|re|ve|m|t)?$")
# Scripts that put no space between words: Thai to Burmese, Khmer, kana, Han (all planes in use), Hangul.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U000323af"
)
_RUN = lazy_re(f"([{_UNSPACED}]+)")
_MAYBE_MARKED = lazy_re("[\u0300-\u1fff\u20d0-\uffff]")
"""The blocks that have combining marks; between them are punctuation and signs, such as “ and €."""
_UNMARKED_WORD = lazy_re(r"[^\W_]+(?:'[^\W\d_]+)?")


def letters(text: str) -> list[str]:
    """Return the runs of letters in `text`, in order."""
    return _LETTERS.findall(text)


def light_stem(word: str, language: str = "en") -> str:
    """Strip the ending of a lower-case word: `pushing` → `push`, `files` → `file`, `running` → `run`."""
    for ending in of_language(Words, language).endings:
        # Not Friday → Frida.
        if word.endswith(ending) and len(word) - len(ending) >= 3 and word[-2:] not in ("ay", "ey", "oy"):
            word = word[: -len(ending)]
            break
    return word[:-1] if len(word) > 2 and word[-1] == word[-2] else word


def terms(text: str) -> list[str]:
    """Return the terms of `text`, in order and with repetitions, without the stop words of English."""
    folded = text.casefold().replace("\u2019", "'")
    if folded.isascii():
        return [stem for word in _ASCII_WORD.findall(folded) if (stem := _stem(word))]
    return list(_terms_of_any_script(unicodedata.normalize("NFKC", folded)))


def author_term(author: str) -> str:
    """Return the term that indexes the messages of `author`; it never equals a word of a text."""
    return "@" + " ".join(unicodedata.normalize("NFKC", author.casefold()).split())


def document_terms(text: str, author: str | None = None) -> list[str]:
    """Return the terms that an index holds for a document: the terms of its text and of its author, if any."""
    return [*terms(text), author_term(author)] if author else terms(text)


@cached_data
def common_words() -> frozenset[str]:
    """Return the stop words of English, which are not terms."""
    return of_language(Words, "en").stop


@cached_data
def base_forms() -> dict[str, str]:
    """Map irregular forms of English words, which a stemmer misses, to their base forms."""
    return _by_form((*of_language(Words, "en").irregular, *of_language(Words, "en").other_forms))


@cached_data
def past_forms() -> dict[str, str]:
    """The same for the past forms of verbs alone."""
    return _by_form(of_language(Words, "en").irregular)


def _by_form(rows: Iterable[str]) -> dict[str, str]:
    return {form: base for base, *forms in map(str.split, rows) for form in forms}


@cached_data
def _irregular_forms() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for form, base in base_forms().items():
        found[base] = (*found.get(base, ()), form)
    return found


_ONE_SYLLABLE = lazy_re(r"[^aeiou]*[aeiou][bdgklmnprt]")


@cache
def verb_inflections(verb: str) -> dict[str, str]:
    """Map the forms of an English verb to `base`, `s`, `past` or `ing`."""
    grammar = of_language(Grammar, "en")
    if verb in grammar.past_as_base:
        doing = verb if verb in grammar.single_consonant else verb + verb[-1]
        return {third_person(verb): "s", f"{doing}ing": "ing", verb: "past"}
    stem = verb.removesuffix("e") if verb.endswith("e") and not verb.endswith("ee") else verb
    doubles = _ONE_SYLLABLE.fullmatch(verb) or verb in grammar.double_consonant
    stems = dict.fromkeys((stem, verb + verb[-1] if doubles else stem))
    forms = {verb: "base", third_person(verb): "s", **{f"{each}ing": "ing" for each in stems}}
    if irregular := _irregular_forms().get(verb):
        return forms | dict.fromkeys(irregular, "past")
    forms |= {f"{each}ed": "past" for each in stems}
    return forms | ({f"{verb[:-1]}ied": "past"} if _IN_Y.search(verb) else {})


_IN_Y = lazy_re(r"[^aeiou]y$")


def third_person(verb: str) -> str:
    """Return the third person singular of an English verb."""
    if irregular := of_language(Grammar, "en").third_verbs.get(verb):
        return irregular[0]
    if verb.endswith(("s", "x", "z", "ch", "sh", "o")):
        return f"{verb}es"
    return f"{verb[:-1]}ies" if _IN_Y.search(verb) else f"{verb}s"


def _terms_of_any_script(folded: str) -> list[str]:
    if not _RUN.search(folded):
        # To list the marks takes longer than most texts do, and few texts need it.
        word_in = _word_pattern() if _MAYBE_MARKED.search(folded) else _UNMARKED_WORD
        return [stem for word in word_in.findall(folded) if (stem := _stem(word))]
    found: list[str] = []
    for word in _word_pattern().findall(folded):
        for run in _RUN.split(word):
            if not run:
                continue
            if _RUN.fullmatch(run):
                found += [run[at : at + 2] for at in range(max(1, len(run) - 1))]
            elif stem := _stem(run):
                found.append(stem)
    return found


_STEMS: dict[str, str] = {}
"""Known stems: a dict of strings, unlike an lru_cache, costs no time in the rounds of the garbage collector."""
MOST_STEMS = 65_536


def _stem(word: str) -> str:
    """Return the stem of a folded word, "" for a stop word; words that aren't English keep their form."""
    stem = _STEMS.get(word)
    if stem is None:
        if len(_STEMS) >= MOST_STEMS:
            _STEMS.clear()
        stem = _STEMS[word] = _find_stem(word)
    return stem


def _find_stem(word: str) -> str:
    word = _POSSESSIVE.sub("", word)[:LONGEST]
    if word in common_words():
        return ""
    word = base_forms().get(word, word)
    # Imported lazily: the hook of a coding agent mostly needs no stem.
    from Stemmer import Stemmer

    # A stemmer has mutable state, so each call gets its own for thread safety.
    return str(Stemmer("english", 0).stemWord(word)) if word.isascii() and word.isalpha() else word


@cache
def _word_pattern() -> re.Pattern[str]:
    r"""Return a pattern of letters, digits and combining marks: `\w` alone would cut Hindi words at vowel signs."""
    marks = [code for code in range(0x300, 0x10000) if unicodedata.category(chr(code)) in ("Mn", "Mc")]
    combining = "".join(f"\\u{code:04x}" for code in marks)
    return re.compile(f"(?:[^\\W_]|[{combining}])+(?:'[^\\W\\d_]+)?")


# Language detection by script and most common words.


_QUOTED = lazy_re(r"`[^`]*`|“[^“”]{0,1000}+”|\"[^\"\n]*\"")
ENOUGH_WORDS = 12
"""Least words of a text whose language can be detected."""
ENOUGH_COMMON = 4
SCRIPT_SHARE = 0.3
"""Share of words in another script from which a text is in another language, whatever names it mentions."""


def other_language(text: str, source: str) -> str | None:
    """Return the language of `text` if that is clearly not the language of `source`, else None."""
    words, theirs = _unquoted_words(text), _unquoted_words(source)
    if len(words) < ENOUGH_WORDS or len(theirs) < ENOUGH_WORDS:
        return None
    if _non_latin_share(words) > SCRIPT_SHARE > 3 * _non_latin_share(theirs):
        return "another script"
    here, there = _detect_language(words), _detect_language(theirs)
    return of_language(Words, here).name[0] if here and there and here != there else None


def language_of(text: str) -> str | None:
    """Return the code of the language of `text`, such as ``en``; None if it can't be detected."""
    return _detect_language(_unquoted_words(text))


def language_of_sentence(text: str) -> str:
    """Return the code of the likely language of a sentence, by its stop words; English by default."""
    words = letters(text.lower())
    counts = {code: sum(word in stop for word in words) for code, stop in _stop_words().items()}
    best = max(counts, key=lambda code: counts[code])
    return best if counts[best] > max(counts["en"], 1) else "en"


def is_common_there(term: str, language: str, text: str) -> bool:
    """Whether a term of one language is a stop word in that of `text`: "die" in German is no form of "died"."""
    languages = [code for code in LANGUAGES if code != language and term in stop_terms(code)]
    return bool(languages) and language_of_sentence(text) in languages


@cache
def stop_terms(language: str) -> frozenset[str]:
    """The terms of the stop words of a language."""
    return frozenset(term for word in of_language(Words, language).stop for term in terms(word))


@lru_cache(2_048)
def standardise(text: str) -> str:
    """Rewrite a text in the word order that rules expect.

    "It's hazelnuts I'm allergic to" says that I'm allergic to hazelnuts.
    """
    language = language_of_sentence(text)
    if language != "de":
        text = _CLEFT.sub(r"\g<said> \g<what>", text)
    for pattern, plain in _word_orders(language):
        text = pattern.sub(plain, text, count=1)
    return text


@cache
def _word_orders(language: str) -> Sequence[tuple[re.Pattern[str], str]]:
    """Return the patterns of unusual word orders of a language, each with the order that rules expect."""
    rows = of_language(Words, language).reorders
    return [(lazy_re(pattern, re.IGNORECASE), template(plain)) for pattern, plain in rows]


def template(text: str) -> str:
    """Return the replacement for a match, in which angle brackets name its groups: "<who> <verb>"."""
    return _GROUP.sub(r"\\g<\1>", text)


_GROUP = lazy_re(r"<(\w+)>")


_CLEFT = lazy_re(lambda: any_of(of_language(Words, "en").cleft), re.IGNORECASE)


def writes_nouns_large(text: str) -> bool:
    """Whether `text` is in a language that capitalises all nouns, such as German."""
    words = letters(text.lower())
    large, small = topic(Words).nouns_large, topic(Words).nouns_small
    found = sum(word in large for word in words)
    return found > 0 and found >= sum(word in small for word in words)


@cached_data
def _telling_words() -> dict[str, frozenset[str]]:
    return {code: of_language(Words, code).telling for code in LANGUAGES}


@cached_data
def _stop_words() -> dict[str, frozenset[str]]:
    """Map each language that has a stop list to its stop list."""
    return {code: stop for code in LANGUAGES if (stop := of_language(Words, code).stop)}


def _unquoted_words(text: str) -> list[str]:
    return letters(_QUOTED.sub(" ", text).lower())


def _non_latin_share(words: list[str]) -> float:
    """Return the share of words that are not in Latin letters."""
    return sum(ord(word[0]) > 0x24F for word in words) / len(words)


def _detect_language(words: list[str]) -> str | None:
    counts = Counter(words)
    hits = sorted(
        ((sum(counts[word] for word in known), code) for code, known in _telling_words().items()), reverse=True
    )
    (most, code), (second, _) = hits[0], hits[1]
    return code if most >= ENOUGH_COMMON and most >= 2 * second else None


# Sentences: a full stop after an abbreviation, an initial or an ordinal number doesn't end one.

_END = lazy_re(r"(?:(?<![.!?…])[.!?…]+[\"'”“’»«)\]*_]*(?=\s)|[。！？]+[」』”’）]*|[।؟۔]+)\s*")
# The same for ASCII text; it begins with a character set, which makes the search much faster.
_ASCII_END = lazy_re(r"[.!?](?<![.!?]{2})[.!?]*[\"')\]*_]*(?=\s)\s*")
_LONGEST = 12
"""Characters before a full stop in which abbreviations are looked for."""
_CLOSES = r"\.[\"'”“’»«)\]*_]*$"


def sentence_breaks(text: str, *, small_opens: bool = False) -> Iterator[tuple[int, int]]:
    """Yield for each boundary between sentences of `text` where one ends and where the next begins.

    A lower-case letter continues a sentence (“Where are you?” she asked), unless `small_opens`, as in chats.
    """
    start = 0
    for found in (_ASCII_END if text.isascii() else _END).finditer(text):
        end = found.start() + len(found[0].rstrip())
        if found.end() < len(text) and not (
            (text[found.end()].islower() and not small_opens)
            or _is_abbreviation(text, start, found.start(), end, found.end())
        ):
            yield end, found.end()
            start = found.end()


def sentences(text: str, *, longest_quoted: int = 0, small_opens: bool = False) -> Iterator[str]:
    """Yield the sentences of `text`; those in one quotation are kept together, up to `longest_quoted` characters."""
    pending = ""
    for piece in _split_sentences(text, small_opens):
        whole = f"{pending} {piece}" if pending else piece
        if pending and len(whole) > longest_quoted:
            yield pending
            whole = piece
        pending = whole
        if not longest_quoted or balanced(pending):
            yield pending
            pending = ""
    if pending:
        yield pending


def balanced(text: str) -> bool:
    """Whether every quotation opened in `text` is closed in it."""
    low = text.count("„")
    return (
        (low <= text.count("“") + text.count("”") if low else text.count("“") <= text.count("”"))
        and text.count("«") == text.count("»")
        and text.count('"') % 2 == 0
        and text.count("「") <= text.count("」")
        and text.count("『") <= text.count("』")
    )


def _split_sentences(text: str, small_opens: bool) -> Iterator[str]:
    start = 0
    for end, following in sentence_breaks(text, small_opens=small_opens):
        yield text[start:end].strip()
        start = following
    if rest := text[start:].strip():
        yield rest


def _is_abbreviation(text: str, start: int, mark: int, end: int, following: int) -> bool:
    """Whether the full stop at `mark` belongs to an abbreviation, an initial or an ordinal number."""
    if text[mark] != "." or (mark >= _SURE and text[mark - _SURE : mark].isalpha()):
        return False
    found = _DOUBTFUL.search(text, max(start, end - _LONGEST), end)
    if found is None or found["never"]:
        return found is not None
    if found["part"]:
        return text.startswith(_abbreviation_parts()[found["part"]], following)
    known = topic(Sentences)
    word = _LETTERS.match(text, following)
    led = _LED.search(text, max(start, end - 2 * _LONGEST), end)
    # Writers without capitals go to the "10. klasse".
    return bool(word and {word[0], word[0].capitalize()} & known.ordinal_after) or bool(
        led and led[1] in known.ordinal_before
    )


def _abbreviations() -> tuple[str, ...]:
    return topic(Sentences).abbreviations


def _abbreviation_pattern(abbreviation: str) -> str:
    return r"\.\s?".join(re.escape(part) for part in abbreviation.split(". "))


@cached_data
def _abbreviation_parts() -> dict[str, tuple[str, ...]]:
    """Map each part of a multi-part abbreviation to the parts that may follow it."""
    parts: dict[str, tuple[str, ...]] = {}
    for abbreviation in _abbreviations():
        for one, other in pairwise(abbreviation.split(". ")):
            parts[one] = (*parts.get(one, ()), f"{other}.")
    return parts


_SURE = 7
"""A word with at least this many letters is not an abbreviation."""
_LED = lazy_re(rf"(?<![^\W\d_])([^\W\d_]{{1,20}})\s\d{{1,3}}{_CLOSES}")
# A title, an initial (but the English "I" may end a sentence), a figure, or a part of a multi-part abbreviation.
_DOUBTFUL = lazy_re(
    lambda: (
        rf"(?:(?P<never>\b{any_of(map(_abbreviation_pattern, _abbreviations()))}|(?<![\w'’])(?!I){CAPITAL})"
        rf"|(?<![\w.,])(?P<figure>\d{{1,3}})"
        rf"|(?<!\w)(?P<part>{'|'.join(map(re.escape, _abbreviation_parts()))})){_CLOSES}"
    )
)


# Words of similar meaning: "car" and "vehicle", "boss" and "job". The table was computed once with a sentence encoder
# for some 14,000 English words (`benchmarks/word_neighbours.py`), so no model is needed to use it, and it holds no data
# of users.

TABLE = "en.alike.gz"
SCALE = 250
"""Cosines are stored as bytes, multiplied by this."""


class SimilarWords(Struct, frozen=True, kw_only=True):
    """The nearest terms of each term, as slices of `near` and `cosines`, the nearest first."""

    terms: str
    """All terms, separated by blanks."""
    starts: bytes
    """The start of each term's slice, and the end of the last one: four bytes each."""
    near: bytes
    """Indices of terms: two bytes each."""
    cosines: bytes


def other_forms(term: str, language: str) -> list[str]:
    """The terms of other forms of a word, in a language whose words an index doesn't stem; some are no words."""
    around = [each.split("*") for each in of_language(Words, language).inflections]
    stems = {term} | {
        term[len(before) : len(term) - len(after)]
        for before, after in around
        if term.startswith(before) and term.endswith(after) and len(term) >= len(before) + LEAST_STEM + len(after)
    }
    forms = " ".join(before + stem + after for stem in stems for before, after in (("", ""), *around))
    stop = stop_terms(language)
    return [] if term in stop else sorted({*terms(forms)} - {term} - stop)


def similar_words(term: str, at_most: int) -> list[tuple[str, float]]:
    """Return the terms closest in meaning to `term`, the nearest first, each with its cosine; empty for a rare word."""
    place, terms, starts, near, cosines = _load_similar_words()
    at = place.get(term)
    if at is None:
        return []
    first, last = starts[at], min(starts[at + 1], starts[at] + at_most)
    return [(terms[near[each]], cosines[each] / SCALE) for each in range(first, last)]


@cache
def _load_similar_words() -> tuple[dict[str, int], list[str], array[int], array[int], bytes]:
    packed = get_data(__package__, TABLE)
    assert packed is not None, TABLE
    table = msgspec.msgpack.decode(gzip.decompress(packed), type=SimilarWords)
    terms = table.terms.split()
    starts, near = array("I"), array("H")
    starts.frombytes(table.starts)
    near.frombytes(table.near)
    return {term: at for at, term in enumerate(terms)}, terms, starts, near, table.cosines


LONGEST_ARTIFACT = 160
"""Longest artifact; a longer run of name characters is data, such as a token or a minified line."""

# Runs in linear time: parts are possessive or end where no other begins, and a path or a dotted name is only tried at
# the start of its chain of segments, since if it fails there it fails at all of them.
_ARTIFACT_PATH = r"/?(?:[\w.@~+-]++/)+(?:\.\.\.|[\w.@+-]*\w)"
_ARTIFACT_FILE = r"[\w-]++(?:\.[\w-]++)*\.[a-z][a-z0-9]{0,5}\b"
_ARTIFACT = lazy_re(
    rf"""
    (
      (?:(?<=\\[ntr])|(?<![\w\\]))                          # JSON writes with such an escape that a line begins here
      (?![A-Z]?[a-z]*+[.:]?(?![\w.@~+/:-]))                # a plain word, as most are: none of what follows
      (?:
        https?://[^\s"'<>()\[\]{{}}`\\,]+[\w/]               # an address
      | (?<![.@~+-])(?:(?<![\w.@~+-]/)|(?=/)){_ARTIFACT_PATH}       # a path, a Go package pattern
      | (?<!-)(?<![\w-]\.){_ARTIFACT_FILE}                          # a file name, a dotted name
      | --[a-z][\w-]+                                      # a flag
      | [A-Z]{{2,}}-\d+\b                                    # a ticket
      | (?=[0-9a-f]*\d)(?=\d*[a-f])[0-9a-f]{{7,40}}\b        # a hash
      | [A-Za-z]\w*_\w+                                    # snake_case, CONSTANT_CASE
      | [a-z][a-z0-9]*[A-Z][A-Za-z0-9]*\b                  # camelCase
      | [A-Z][a-z0-9]+[A-Z][A-Za-z0-9]*\b                  # PascalCase
      | [A-Z][A-Z0-9]{{3,}}\b                                # a constant, an error code
      )
    )
    | \\(?![ntr])\w*+[.@~+/-](?:({_ARTIFACT_PATH})|\.?({_ARTIFACT_FILE})) # a chain whose first part is an escape's
    """,
    re.VERBOSE,
)


def artifacts(text: str) -> list[str]:
    """List the artifacts of `text` in order of first occurrence, each once."""
    return [
        name
        for name in dict.fromkeys(whole or path or file for whole, path, file in _ARTIFACT.findall(text))
        if 4 <= len(name) <= LONGEST_ARTIFACT
    ]
