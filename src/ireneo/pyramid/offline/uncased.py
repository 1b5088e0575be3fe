"""Names in scripts without capitals: words that come back within a stretch, and yet not everywhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ireneo.patterns import lazy_re

_DENSE = lazy_re(r"[\u3040-\u30ff\u3400-\u9fff]+")
_KATAKANA = lazy_re(r"[\u30a0-\u30ff]{2,}")
_KANJI = lazy_re(r"[\u3400-\u9fff]{2,4}")
_SPACED = lazy_re(r"[^\W\d_]{3,}")
_FUNCTION = frozenset(
    "的一是不了在人我有他这这個们們中来來上大为為和国地到以说說时時要就出会會可也你对對生能而子那得于於着著下自之年"
    "过過发發后後作里裡用道行所然家种種事成方多经經么麼去法学學如都同现現当當没沒动動面起看定天分还還进進好小"
    "部其些主样樣理心她本前开開但因只从從想实實日者意无無力它与與长長把机機民第公此已工使情明性知全三又关關点點正"
    "业業外将將两兩高间間由问問很最重并物手应應战戰向头頭文体體政美相见見被利什二等产產或新己制身果加西斯月话話合回"
    "吗嗎呢吧啊呀哦嗯今"
)


def has_case(text: str) -> bool:
    """Whether the script of `text` has large and small letters."""
    if text[:4_000].isascii():
        return True
    letters = [char for char in text[:4_000] if char.isalpha()]
    return not letters or sum(char.islower() or char.isupper() for char in letters) * 2 > len(letters)


def rare_words(sentences: Sequence[str]) -> list[tuple[str, ...]]:
    """The words of each sentence that come back in others, but in less than a quarter of them."""
    found = [_candidates(sentence) for sentence in sentences]
    spread = Counter(word for words in found for word in dict.fromkeys(words))
    most = max(len(sentences) // 4, 3)
    kept = {word for word, times in spread.items() if 2 <= times <= most}
    # Of pieces of one word the longest stands, unless the shorter comes by itself as well.
    parts = {
        word[start:end]
        for word in kept
        for start in range(len(word))
        for end in range(start + 2, len(word) + 1)
        if end - start < len(word) and spread[word[start:end]] <= spread[word]
    }
    return [tuple(word for word in dict.fromkeys(words) if word in kept and word not in parts) for words in found]


def _candidates(sentence: str) -> list[str]:
    out = _KATAKANA.findall(sentence)
    if _has_kana(sentence):
        # Kana set the words apart that Chinese writes together.
        return [*out, *_KANJI.findall(sentence)]
    for run in _DENSE.findall(_KATAKANA.sub(" ", sentence)):
        for size in (2, 3):
            pieces = (run[start : start + size] for start in range(len(run) - size + 1))
            out.extend(piece for piece in pieces if not _FUNCTION & set(piece))
    out.extend(_SPACED.findall(_DENSE.sub(" ", sentence)))
    return out


def _has_kana(text: str) -> bool:
    return any("\u3040" <= char <= "\u309f" for char in text)
