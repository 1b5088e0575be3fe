"""Who and what a stretch of a story names: people, places, things.

Whether a capital says something is settled over the whole stretch: a word is a name where it is written large within
sentences, and hardly ever small. What begins a sentence is counted once the word is known for a name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from ireneo.grounding.proper_names import writes_nouns_large
from ireneo.patterns import lazy_re
from ireneo.pyramid.offline.name_words import ABBREVIATED, DETERMINERS, NO_NAMES, NOUN_ENDINGS, PARTICLES
from ireneo.pyramid.offline.uncased import has_case, rare_words

GERMAN_EVERY = 20
"""In German at least one word in so many is an article or the like."""
_WORD = lazy_re(r"[^\W\d_](?:[^\W_]|['’-](?=[^\W\d_]))*")
_OPENS = lazy_re(r"(?:^|[.!?:;…\"“”„«»‘(\[*]|--|—|(?<![^\W_])')[\s\"“”„«»‘'(\[*_]*$")
_POSSESSIVE = lazy_re(r"['’]s?$")
_STARTS_DEED = lazy_re(r"(?:is|was|had|has|says?|said|\w{2,}ed)$")


class _Word(Struct, frozen=True, array_like=True):
    text: str
    start: int
    end: int
    opens: bool
    """It begins a sentence or a quotation, where a capital says nothing."""


def names_in(sentences: Sequence[str]) -> list[tuple[str, ...]]:
    """The names of each sentence, by the evidence of them all together."""
    text = " ".join(sentences)
    if not has_case(text):
        return rare_words(sentences)
    words = [list(_words(sentence)) for sentence in sentences]
    known = _known(words, large_nouns=_is_german(text, words))
    return [
        tuple(dict.fromkeys(_runs(sentence, found, known))) for sentence, found in zip(sentences, words, strict=True)
    ]


def key_words(name: str) -> tuple[str, ...]:
    """The words by which a name is known again, whoever writes it with a title or without."""
    words = [word for word in name.casefold().replace("’", "'").split() if word not in PARTICLES]
    return tuple(_bare(word.rstrip(".")) for word in words)


def _words(sentence: str) -> Iterator[_Word]:
    for found in _WORD.finditer(sentence):
        start = found.start()
        text = found[0]
        opens = text[0].isupper() and _OPENS.search(sentence, max(0, start - 8), start) is not None
        yield _Word(_bare(text), start, found.end(), opens)


def _bare(word: str) -> str:
    """A word without the ending of a possessive."""
    return _POSSESSIVE.sub("", word) if "'" in word[-2:] or "’" in word[-2:] else word


def _is_german(text: str, sentences: Sequence[Sequence[_Word]]) -> bool:
    """Whether nouns are written large; a French "des" alone doesn't make it so."""
    if not writes_nouns_large(text):
        return False
    determined = [word.text.lower() for words in sentences for word in words if word.text.lower() in DETERMINERS]
    return len(determined) * GERMAN_EVERY > sum(map(len, sentences)) and len(set(determined)) > 1


def _known(sentences: Sequence[Sequence[_Word]], *, large_nouns: bool) -> frozenset[str]:
    """The words that are names, or parts of names."""
    small: Counter[str] = Counter()
    large: Counter[str] = Counter()
    opening: Counter[str] = Counter()
    determined: Counter[str] = Counter()
    for words in sentences:
        shouted = sum([len(word.text) > 1 and word.text.isupper() for word in words]) * 2 > len(words)
        for place, word in enumerate(words):
            if not word.text[0].isupper():
                small[word.text] += 1
            elif shouted or word.text.lower() in NO_NAMES or len(word.text) < 2:
                continue
            elif not word.opens:
                large[word.text] += 1
                determined[word.text] += place > 0 and words[place - 1].text.lower() in DETERMINERS
            elif large_nouns or (place + 1 < len(words) and _STARTS_DEED.match(words[place + 1].text)):
                opening[word.text] += 1
    if large_nouns:
        return frozenset(
            word
            for word, times in large.items()
            if not determined[word] and times + opening[word] > 1 and not word.lower().endswith(NOUN_ENDINGS)
        )
    named = {word for word, times in large.items() if times > small[word.lower()] * 2}
    return frozenset(named | {word for word in opening if not small[word.lower()]})


def _runs(sentence: str, words: Sequence[_Word], known: frozenset[str]) -> Iterator[str]:
    """Adjacent words of names as one name: with titles before them, and with particles between them."""
    place = 0
    while place < len(words):
        end = place
        last = -1
        while end < len(words) and _joins(sentence, words, place, end):
            if words[end].text in known:
                last = end
            elif (
                words[end].text[0].isupper()
                and words[end].text not in ABBREVIATED
                and (words[end].opens or words[end].text.lower() in NO_NAMES)
            ):
                break
            end += 1
        if last < 0:
            place = max(end, place + 1)
            continue
        yield sentence[words[place].start : words[last].start] + words[last].text
        place = last + 1


def _joins(sentence: str, words: Sequence[_Word], first: int, place: int) -> bool:
    """Whether the word at `place` may belong to a name that began at `first`."""
    word = words[place]
    if place == first:
        return word.text[0].isupper()
    between = sentence[words[place - 1].end : word.start]
    if between != " " and not (between == ". " and words[place - 1].text in ABBREVIATED):
        return False
    if word.text[0].isupper():
        return True
    # At most "of the" between two capitals.
    following = words[place + 1 : place + 3]
    return (
        word.text in PARTICLES
        and any(each.text[0].isupper() for each in following)
        and all(each.text[0].isupper() or each.text in PARTICLES for each in following[:1])
    )


def shortest_forms(counts: Mapping[str, float]) -> dict[str, float]:
    """Put the forms of one name together: what is a part of a longer form that is common enough counts for that."""
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
