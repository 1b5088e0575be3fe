"""Simple ways to keep a past, to measure ours against: one running text, and sentences by the weight of their words."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_END = re.compile(r"(?<=[.!?])\s+")


def blob(texts: Sequence[str], leaf: int, words: int) -> str:
    """One summary of so many words, written anew from itself and every `leaf` texts."""
    weights = _weights(texts, leaf)
    held: list[str] = []
    for start in range(0, len(texts), leaf):
        held = _best([*held, *_sentences(texts[start : start + leaf])], weights, words)
    return " ".join(held)


def term_pyramid(texts: Sequence[str], leaf: int, fan_in: int) -> Callable[[int, int, int], str]:
    """A function that tells the texts from one place to another in so many words, by way of the summaries under it."""
    weights = _weights(texts, leaf)

    @cache
    def tell(first: int, last: int, words: int) -> tuple[str, ...]:
        size = last - first + 1
        if size <= leaf:
            return tuple(_best(_sentences(texts[first : last + 1]), weights, words))
        step = size // fan_in
        under = [
            sentence for start in range(first, last + 1, step) for sentence in tell(start, start + step - 1, words)
        ]
        return tuple(_best(under, weights, words))

    return lambda first, last, words: " ".join(tell(first, last, words))


def _weights(texts: Sequence[str], leaf: int) -> dict[str, float]:
    spread: Counter[str] = Counter()
    stretches = range(0, len(texts), leaf)
    for start in stretches:
        spread.update({word.lower() for text in texts[start : start + leaf] for word in _WORD.findall(text)})
    return {word: math.log(len(stretches) / times) for word, times in spread.items()}


def _sentences(texts: Sequence[str]) -> list[str]:
    return [sentence for text in texts for sentence in _END.split(text) if len(sentence.split()) > 4]


def _best(sentences: Sequence[str], weights: dict[str, float], words: int) -> list[str]:
    """The sentences whose words weigh most on the average, up to so many words, in order."""
    found = [[word.lower() for word in _WORD.findall(sentence)] for sentence in sentences]
    counts = Counter(word for each in found for word in each)

    def weight(place: int) -> float:
        return sum((1 + math.log(counts[word])) * weights[word] for word in found[place]) / max(len(found[place]), 1)

    chosen: list[int] = []
    left = words
    for place in sorted(range(len(sentences)), key=lambda place: (-weight(place), place)):
        size = len(sentences[place].split())
        if size <= left:
            chosen.append(place)
            left -= size
    return [sentences[place] for place in sorted(chosen)]
