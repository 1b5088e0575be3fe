"""What the vocabulary fingerprint holds that the token estimate looks pieces up in; and how it is written.

    python benchmarks/token_fingerprint.py                 what the one holds that ships
    python benchmarks/token_fingerprint.py OUT FOLDER…     write another

Each folder is a kind of text and counts the same, however much is in it. An entry of the o200k vocabulary is worth
what it is used in them, and a little for its rank, since lower ranks are the commoner entries of the text that the
vocabulary itself was made from. Needs the extra `tokens`.
"""

from __future__ import annotations

import sys
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from ireneo.adapters.tokens import SPACE, fingerprint, fingerprints, is_known, load_backend

ENTRIES = 199_998
KEPT = 96_000
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
    return not (text.isascii() and (len(text) == 1 or text.isdecimal() or text.isspace()))


def pack(prints: Iterable[int]) -> bytes:
    """Write fingerprints as the gaps between them, all low bytes before all high ones, since those pack best."""
    ordered = sorted(set(prints))
    gaps = [after - before for before, after in zip([0, *ordered], ordered, strict=False)]
    return zlib.compress(bytes(gap & 0xFF for gap in gaps) + bytes(gap >> 8 for gap in gaps), 9)


def write(out: str, folders: list[str]) -> None:
    """Rank the entries and write the best."""
    worth: Counter[int] = Counter()
    for folder in folders:
        for rank, share in used(Path(folder)).items():
            worth[rank] += share / len(folders)
    texts = {rank: text for rank, text in entries() if eligible(text)}
    for rank in texts:
        worth[rank] += RANK_WORTH / (rank + 2000)
    best = sorted(texts, key=lambda rank: -worth[rank])[:KEPT]
    packed = pack(fingerprint(texts[rank]) for rank in best)
    Path(out).write_bytes(packed)
    print(f"{len(best):,} of {len(texts):,} entries in {len(packed):,} bytes, from {len(folders)} folders")


def show() -> None:
    """Say what the one that ships holds, by rank: lower ranks are commoner."""
    held = sum(1 for _ in fingerprints())
    texts = [(rank, text) for rank, text in entries() if eligible(text)]
    print(f"{held:,} fingerprints; one stranger in {SPACE // held:,} is taken for an entry")
    print(f"{'ranks':>19}{'eligible':>10}{'held':>8}{'share':>8}")
    for start in range(0, ENTRIES, 25_000):
        band = [text for rank, text in texts if start <= rank < start + 25_000]
        here = sum(map(is_known, band))
        print(f"{start:>9,} …{start + 24_999:>8,}{len(band):>10,}{here:>8,}{here / max(1, len(band)):>8.0%}")


if __name__ == "__main__":
    if len(sys.argv) == 1:
        show()
    elif len(sys.argv) == 2:
        sys.exit("Name the file to write and the folders of text to weigh the entries by.")
    else:
        write(sys.argv[1], sys.argv[2:])
