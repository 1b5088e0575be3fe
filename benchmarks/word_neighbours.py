"""Make the table of words that are alike in meaning: `src/ireneo/language/en.alike.gz`. It needs the extra `local`.

    python benchmarks/word_neighbours.py [--check]

The words are those that the local model's vocabulary holds whole, and those of everyday life beside this script. With
`--check` nothing is written, and it says of how many pairs the table that is there knows.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
from array import array
from importlib.resources import files
from pathlib import Path

import msgspec
import numpy as np

from ireneo.adapters.embed.opening import open_embedder
from ireneo.language.words import SCALE, TABLE, SimilarWords, terms

LEAST = 0.5
"""The cosine that two words have at the least which count as alike."""
MOST = 40
"""Neighbours of a word that are kept."""
ROWS = 1_000


def words() -> dict[str, str]:
    """Each term with the word that stands for it, the commonest of its forms."""
    packed = files("ireneo.adapters.embed").joinpath("bert-base-uncased.txt.gz").read_bytes()
    whole = gzip.decompress(packed).decode().splitlines()
    everyday = Path(__file__).with_name("everyday_words.txt").read_text().split()
    found: dict[str, str] = {}
    for word in (*everyday, *whole):
        if word.isascii() and word.isalpha() and len(word) > 2 and len(stems := terms(word)) == 1:
            found.setdefault(stems[0], word)
    return found


async def table() -> SimilarWords:
    embedder = open_embedder("local")
    assert embedder is not None
    known = words()
    vectors = await embedder.embed(list(known.values()))
    rows = np.array([np.frombuffer(each, np.int8) for each in vectors], np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    starts, near, cosines = array("I", [0]), array("H"), array("B")
    for first in range(0, len(rows), ROWS):
        for at, row in enumerate(rows[first : first + ROWS] @ rows.T, first):
            row[at] = 0.0
            best = [each for each in np.argsort(-row, kind="stable")[:MOST] if row[each] >= LEAST]
            near.extend(int(each) for each in best)
            cosines.extend(round(float(row[each]) * SCALE) for each in best)
            starts.append(len(near))
    return SimilarWords(terms=" ".join(known), starts=starts.tobytes(), near=near.tobytes(), cosines=cosines.tobytes())


def main() -> None:
    """Write the table, or compare it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing, and compare with what is there")
    given = parser.parse_args()
    made = asyncio.run(table())
    path = Path(str(files("ireneo.language").joinpath(TABLE)))
    if given.check:
        there = msgspec.msgpack.decode(gzip.decompress(path.read_bytes()), type=SimilarWords)
        print(f"the words are the same: {there.terms == made.terms}; {len(there.cosines):,} pairs are there")
    else:
        path.write_bytes(gzip.compress(msgspec.msgpack.encode(made), mtime=0))
    print(f"{len(made.terms.split()):,} terms, {len(made.cosines):,} pairs")


if __name__ == "__main__":
    main()
