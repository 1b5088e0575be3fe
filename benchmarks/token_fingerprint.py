"""Write the vocabulary fingerprint that the token estimate looks pieces up in.

    python benchmarks/token_fingerprint.py OUT FOLDER…

Each folder is a kind of text and counts the same, however much is in it. An entry of the o200k vocabulary is worth
what it is used in them, and a little for its rank, since lower ranks are the commoner entries of the text that the
vocabulary itself was made from. Needs the extra `tokens`.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from ireneo.adapters.tokens.exact import load_backend
from ireneo.adapters.tokens.fingerprint import fingerprint, pack

ENTRIES = 199_998
KEPT = 64_000
RANK_WORTH = 0.05
"""What its rank is worth to an entry, in shares of a folder, before it is divided by the rank."""


def used(folder: Path) -> Counter[int]:
    """Count the tokens of every text under `folder`, as shares of all of them."""
    counts: Counter[int] = Counter()
    encode = load_backend().encode
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            counts.update(encode(path.read_text(encoding="utf-8", errors="replace")))
    total = sum(counts.values()) or 1
    return Counter({rank: count / total for rank, count in counts.items()})


def entries() -> Iterator[tuple[int, str]]:
    """Each entry of the vocabulary that is whole text, by rank."""
    decode = load_backend().decode
    for rank in range(ENTRIES):
        try:
            text = decode([rank])
        except ValueError:
            continue  # a part of a character, not a text
        if text:
            yield rank, text


def eligible(text: str) -> bool:
    """Whether the estimate would look `text` up; the rest it knows by rule."""
    if text.isdecimal() or (len(text) == 1 and text.isascii()):
        return False
    return not any(letter > "\xff" and letter.isalpha() for letter in text)


def main(out: str, folders: list[str]) -> None:
    """Rank the entries and write the best."""
    worth: Counter[int] = Counter()
    for folder in folders:
        for rank, share in used(Path(folder)).items():
            worth[rank] += share / len(folders)
    texts = {rank: text for rank, text in entries() if eligible(text)}
    for rank, text in texts.items():
        # Latin words with marks are French, Turkish and so on: useful, but less than English ones.
        likely = 0.1 if not text.isascii() and text.strip(" ").isalpha() else 1.0
        worth[rank] += likely * RANK_WORTH / (rank + 2000)
    best = sorted(texts, key=lambda rank: -worth[rank])[:KEPT]
    packed = pack(fingerprint(texts[rank]) for rank in best)
    Path(out).write_bytes(packed)
    print(f"{len(best):,} of {len(texts):,} entries in {len(packed):,} bytes, from {len(folders)} folders")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2:])
