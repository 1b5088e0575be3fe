"""Names of people, places and things in a story.

Evidence is collected over the whole stretch: a word is a name if it is capitalised within sentences and hardly ever
in lower case. At the start of a sentence it counts once it is known as a name. In scripts without capitals, names are
words that recur within a stretch, but not everywhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from msgspec import Struct

from ireneo.language.files import cached_data, topic
from ireneo.language.story_topics import Turns
from ireneo.language.topics import Names
from ireneo.language.words import WORD, writes_nouns_large
from ireneo.patterns import lazy_re

_SAYS = topic(Names)

GERMAN_EVERY = 20
"""The maximum number of words per determiner in a German text."""
_OPENS = lazy_re(r"(?:^|[.!?:;…\"“”„«»‘(\[*]|--|—|(?<![^\W_])')[\s\"“”„«»‘'(\[*_]*$")
_POSSESSIVE = lazy_re(r"['’]s?$")


class _NameWord(Struct, frozen=True, array_like=True):
    text: str
    start: int
    end: int
    opens: bool
    """Whether the word begins a sentence or a quotation, where a capital letter doesn't suggest a name."""


def names_in(sentences: Sequence[str]) -> Sequence[tuple[str, ...]]:
    """Return the names in each sentence, recognised by the evidence of all of them."""
    return _find_names(tuple(sentences))


# Cached because a leaf needs the names of the same sentences twice: for its story and for its cast.
@lru_cache(maxsize=2)
def _find_names(sentences: Sequence[str]) -> Sequence[tuple[str, ...]]:
    text = " ".join(sentences)
    if not has_case(text):
        return rare_words(sentences)
    words = [list(_name_words(sentence)) for sentence in sentences]
    known = _known_name_words(words, large_nouns=_is_german(text, words))
    return [
        tuple(dict.fromkeys(_join_names(sentence, found, known)))
        for sentence, found in zip(sentences, words, strict=True)
    ]


def key_words(name: str) -> tuple[str, ...]:
    """Return the words that identify a name, in lower case and without particles."""
    words = [word for word in name.casefold().replace("’", "'").split() if word not in _SAYS.particles]
    return tuple(_without_possessive(word.rstrip(".")) for word in words)


def _name_words(sentence: str) -> Iterator[_NameWord]:
    for found in WORD.finditer(sentence):
        start = found.start()
        text = found[0]
        opens = text[0].isupper() and _OPENS.search(sentence, max(0, start - 8), start) is not None
        yield _NameWord(_without_possessive(text), start, found.end(), opens)


def _without_possessive(word: str) -> str:
    """Return a word without a possessive ending."""
    return _POSSESSIVE.sub("", word) if "'" in word[-2:] or "’" in word[-2:] else word


def _is_german(text: str, sentences: Sequence[Sequence[_NameWord]]) -> bool:
    """Whether nouns are capitalised; a French "des" alone doesn't prove it."""
    if not writes_nouns_large(text):
        return False
    determined = [word.text.lower() for words in sentences for word in words if word.text.lower() in _SAYS.determiners]
    return len(determined) * GERMAN_EVERY > sum(map(len, sentences)) and len(set(determined)) > 1


def _known_name_words(sentences: Sequence[Sequence[_NameWord]], *, large_nouns: bool) -> frozenset[str]:
    """Return the words that are names, or parts of names."""
    small: Counter[str] = Counter()
    large: Counter[str] = Counter()
    opening: Counter[str] = Counter()
    determined: Counter[str] = Counter()
    for words in sentences:
        shouted = sum([len(word.text) > 1 and word.text.isupper() for word in words]) * 2 > len(words)
        for place, word in enumerate(words):
            if not word.text[0].isupper():
                small[word.text] += 1
            elif shouted or word.text.lower() in _SAYS.none or len(word.text) < 2:
                continue
            elif not word.opens:
                large[word.text] += 1
                determined[word.text] += place > 0 and words[place - 1].text.lower() in _SAYS.determiners
            elif large_nouns or (place + 1 < len(words) and _SAYS.does.match(words[place + 1].text)):
                opening[word.text] += 1
    if large_nouns:
        return frozenset(
            word
            for word, times in large.items()
            if not determined[word] and times + opening[word] > 1 and not word.lower().endswith(_SAYS.noun_endings)
        )
    named = {word for word, times in large.items() if times > small[word.lower()] * 2}
    return frozenset(named | {word for word in opening if not small[word.lower()]})


def _join_names(sentence: str, words: Sequence[_NameWord], known: frozenset[str]) -> Iterator[str]:
    """Join adjacent words of names into one name, with titles before them and particles between them."""
    place = 0
    while place < len(words):
        end = place
        last = -1
        while end < len(words) and _is_joined(sentence, words, place, end):
            if words[end].text in known:
                last = end
            elif (
                words[end].text[0].isupper()
                and words[end].text not in _SAYS.abbreviated
                and (words[end].opens or words[end].text.lower() in _SAYS.none)
            ):
                break
            end += 1
        if last < 0:
            place = max(end, place + 1)
            continue
        yield sentence[words[place].start : words[last].start] + words[last].text
        place = last + 1


def _is_joined(sentence: str, words: Sequence[_NameWord], first: int, place: int) -> bool:
    """Whether the word at `place` may belong to a name that began at `first`."""
    word = words[place]
    if place == first:
        return word.text[0].isupper()
    between = sentence[words[place - 1].end : word.start]
    if between != " " and not (between == ". " and words[place - 1].text in _SAYS.abbreviated):
        return False
    if word.text[0].isupper():
        return True
    # At most "of the" between two capitals.
    following = words[place + 1 : place + 3]
    return (
        word.text in _SAYS.particles
        and any(each.text[0].isupper() for each in following)
        and all(each.text[0].isupper() or each.text in _SAYS.particles for each in following[:1])
    )


def shortest_forms(counts: Mapping[str, float]) -> dict[str, float]:
    """Merge the forms of a name: a short form into the longer one that contains it, if that is common enough."""
    out = dict(counts)
    longer: dict[str, list[str]] = {}
    for name in counts:
        words = name.split()
        if len(words) > 1:
            for word in dict.fromkeys((words[0], words[-1])):
                longer.setdefault(word, []).append(name)
    for name in sorted(longer, key=len):
        if name in out:
            best = max(longer[name], key=lambda form: (counts[form], form))
            if counts[best] * 3 >= counts[name]:
                out[best] = out.get(best, 0.0) + out.pop(name)
    return out


_DENSE = lazy_re(r"[\u3040-\u30ff\u3400-\u9fff]+")
_KATAKANA = lazy_re(r"[\u30a0-\u30ff]{2,}")
_KANJI = lazy_re(r"[\u3400-\u9fff]{2,4}")
_SPACED_WORD = lazy_re(r"[^\W\d_]{3,}")


@cached_data
def _empty_signs() -> frozenset[str]:
    return frozenset("".join(topic(Turns).empty_signs))


def has_case(text: str) -> bool:
    """Whether the script of `text` has upper and lower case."""
    if text[:4_000].isascii():
        return True
    letters = [char for char in text[:4_000] if char.isalpha()]
    return not letters or sum(char.islower() or char.isupper() for char in letters) * 2 > len(letters)


def rare_words(sentences: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the words of each sentence that other sentences have too, but fewer than a quarter of all."""
    found = [_rare_candidates(sentence) for sentence in sentences]
    spread = Counter(word for words in found for word in dict.fromkeys(words))
    most = max(len(sentences) // 4, 3)
    kept = {word for word, times in spread.items() if 2 <= times <= most}
    # Drop parts of longer words, unless they also occur alone.
    parts = {
        word[start:end]
        for word in kept
        for start in range(len(word))
        for end in range(start + 2, len(word) + 1)
        if end - start < len(word) and spread[word[start:end]] <= spread[word]
    }
    return [tuple(word for word in dict.fromkeys(words) if word in kept and word not in parts) for words in found]


def _rare_candidates(sentence: str) -> list[str]:
    out = _KATAKANA.findall(sentence)
    if any("\u3040" <= char <= "\u309f" for char in sentence):
        # In Japanese, kana separate the words that Chinese writes together.
        return [*out, *_KANJI.findall(sentence)]
    for run in _DENSE.findall(_KATAKANA.sub(" ", sentence)):
        for size in (2, 3):
            pieces = (run[start : start + size] for start in range(len(run) - size + 1))
            out.extend(piece for piece in pieces if not _empty_signs() & set(piece))
    out.extend(_SPACED_WORD.findall(_DENSE.sub(" ", sentence)))
    return out
