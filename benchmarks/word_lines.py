"""Fit a line over words (`ireneo.language.word_lines`) to marked sentences, and tell what it is worth on other stories.

    python benchmarks/word_lines.py LINE MARKED.jsonl … [--write FILE] [--most 5000]

Each row of a file is a sentence: {"text": "…", "mark": 2.0, "story": "…", "forms": ["@narrated"], "weight": 1.0,
"chance": 1.0, "source": "…"}; only the first two are needed. `mark` is what the line is to say, `weight` how much the
row counts in the fit, and `chance` by what chance it was drawn for marking (0: chosen, and so no measure of anything).
Rows of one `source` may all be marked higher than those of another, without its style being taken for the reason.
Without any file the sentences of our own in `salience.toml` are taken.

Ridge regression on the features, and, where the extra `local` is installed, on the vectors of the words as well: what a
word without enough examples weighs follows from words alike in meaning. Both together are one weight a word. Each fifth
of the stories is rated by what was fitted to the others. Printed are the rank correlation, how often a sentence of the
highest mark stands above one of the lowest, and the share of the highest marks among the first twentieth.
"""

from __future__ import annotations

import argparse
import asyncio
import tomllib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ireneo.language.word_lines import CONSTANT, WordLine, features, parsed, written

OWN = Path(__file__).with_name("salience.toml")
RIDGE, RIDGE_ALIKE, RIDGE_SOURCE = 1.0, 5.0, 0.01
"""How strongly weights are held to nothing: of features, of directions in which words differ, and of sources."""
SOURCE = "@source:"
DIRECTIONS = 100
"""Directions of the words' vectors in which they differ most."""
LEAST = 3
"""Rows in which a feature occurs, to have a weight of its own."""
FOLDS, STEPS, FIRST = 5, 200, 0.05

Rows = NDArray[np.float64]


class Marked(Struct):
    """A marked sentence."""

    text: str
    mark: float
    story: str = ""
    forms: tuple[str, ...] = ()
    weight: float = 1.0
    chance: float = 1.0
    source: str = ""


class Matrix:
    """The features of sentences, as a sparse matrix."""

    def __init__(self, rows: Sequence[dict[str, float]], known: dict[str, int]) -> None:
        """Keep what of each row is known."""
        cells = [
            (row, known[name], value) for row, each in enumerate(rows) for name, value in each.items() if name in known
        ]
        self.shape = len(rows), len(known)
        self.row, self.column = (np.array([cell[at] for cell in cells], int) for at in (0, 1))
        self.value = np.array([cell[2] for cell in cells], float)

    def times(self, weights: Rows) -> Rows:
        """The sum over each row."""
        return np.bincount(self.row, self.value * weights[self.column], self.shape[0])

    def back(self, values: Rows) -> Rows:
        """The sum over each column."""
        return np.bincount(self.column, self.value * values[self.row], self.shape[1])


def counted(marked: Sequence[Marked]) -> list[dict[str, float]]:
    """The features of each sentence, without the constant."""
    found = []
    for each in marked:
        counts: dict[str, float] = {}
        for name, value in features(each.text).with_forms(each.forms).counts():
            counts[name] = counts.get(name, 0.0) + value
        counts.pop(CONSTANT)
        if each.source:
            counts[SOURCE + each.source] = 1.0
        found.append(counts)
    return found


def fitted(rows: Sequence[dict[str, float]], marks: Rows, weights: Rows, alike: dict[str, Rows]) -> dict[str, float]:
    """The weight of each feature, by conjugate gradients."""
    often = Counter(name for row in rows for name in row)
    names = {name: at for at, name in enumerate(sorted(name for name, times in often.items() if times >= LEAST))}
    words = {name: at for at, name in enumerate(alike)}
    own, shared = Matrix(rows, names), Matrix(rows, words)
    places = np.array(list(alike.values())) if alike else np.zeros((0, 1))
    weights = weights / weights.mean()
    ridges = [RIDGE_SOURCE if name.startswith(SOURCE) else RIDGE for name in names]
    held = np.concatenate([np.array(ridges), np.full(places.shape[1], RIDGE_ALIKE)])
    size = len(names)

    def times(found: Rows) -> Rows:
        return own.times(found[:size]) + shared.times(places @ found[size:])

    def back(values: Rows) -> Rows:
        return np.concatenate([own.back(values), places.T @ shared.back(values)])

    total = weights.sum()
    mean, middle = back(weights) / total, float(weights @ marks / total)

    def normal(found: Rows) -> Rows:
        said = weights * (times(found) - mean @ found)
        return back(said) - mean * said.sum() + held * found

    found = np.zeros(size + places.shape[1])
    rest = back(weights * (marks - middle)) - mean * (weights * (marks - middle)).sum()
    way, left = rest.copy(), float(rest @ rest)
    for _ in range(STEPS):
        turned = normal(way)
        step = left / float(way @ turned)
        found += step * way
        rest -= step * turned
        new = float(rest @ rest)
        if new < 1e-8 * len(rows):
            break
        way, left = rest + new / left * way, new
    out = dict(zip(names, found[:size].tolist(), strict=True))
    for word, value in zip(words, (places @ found[size:]).tolist(), strict=True):
        out[word] = out.get(word, 0.0) + value
    out[CONSTANT] = middle - float(mean @ found)
    return {name: weight for name, weight in out.items() if not name.startswith(SOURCE)}


def rated(line: dict[str, float], rows: Sequence[dict[str, float]]) -> Rows:
    """The value of each sentence."""
    return np.array([line[CONSTANT] + sum(line.get(name, 0.0) * value for name, value in row.items()) for row in rows])


async def vectors_of(words: Sequence[str]) -> dict[str, Rows]:
    """Where each word stands in the directions in which the words differ most; empty without the extra `local`."""
    from ireneo.adapters.embed.opening import LocalEmbedder
    from ireneo.errors import MissingExtra

    try:
        found = await LocalEmbedder().embed(words)
    except MissingExtra as error:
        print(f"{error} Words alike in meaning share nothing.")
        return {}
    vectors = np.array([np.frombuffer(each, np.int8) for each in found], float)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors -= vectors.mean(axis=0)
    left, sizes, _ = np.linalg.svd(vectors, full_matrices=False)
    places = left[:, :DIRECTIONS] * sizes[:DIRECTIONS]
    places /= np.sqrt((places**2).sum(axis=1).mean())
    return dict(zip(words, places, strict=True))


def telling(values: Rows, marks: Rows, chances: Rows) -> str:
    """What a rating is worth: rank correlation, order, and what stands first."""
    drawn = chances > 0
    values, marks, weights = values[drawn], marks[drawn], 1 / chances[drawn]
    ranks = (np.argsort(np.argsort(each)) for each in (values, marks + 1e-9 * np.arange(len(marks))))
    best, worst = marks == marks.max(), marks == marks.min()
    above = (values[best][:, None] > values[worst][None, :]).mean()
    order = np.argsort(-values)
    first = np.cumsum(weights[order]) <= FIRST * weights.sum()
    share = (weights * best)[order][first].sum() / max(weights[order][first].sum(), 1e-9)
    base = (weights * best).sum() / weights.sum()
    correlation = np.corrcoef(*ranks)[0, 1]
    return (
        f"rank correlation {correlation:.3f}, best above worst {above:.3f}, best among first {share:.2f} of {base:.3f}"
    )


def most_telling(line: dict[str, float], rows: Sequence[dict[str, float]], most: int) -> dict[str, float]:
    """The weights that change most, by how often what has them occurs; the constant makes up for the others."""
    power: Counter[str] = Counter()
    for row in rows:
        for name, value in row.items():
            power[name] += value * value
    effect = {name: abs(weight) * np.sqrt(power[name] / len(rows) + 2e-5) for name, weight in line.items()}
    kept = {name: line[name] for name in sorted(set(line) - {CONSTANT}, key=lambda name: -effect[name])[:most]}
    kept[CONSTANT] = line[CONSTANT]
    kept[CONSTANT] += float((rated(line, rows) - rated(kept, rows)).mean())
    return kept


def own_sentences() -> list[Marked]:
    """The sentences of our own: what lasts in a story, and what passes. Every tenth is as good as a story."""
    found = tomllib.loads(OWN.read_text())
    marks = {"lasting": 2.0, "passing": -1.0}
    return [Marked(text, marks[kind], str(at % 10)) for kind, texts in found.items() for at, text in enumerate(texts)]


def main(name: str, paths: Sequence[Path], place: Path | None, most: int) -> None:
    """Fit, print what the line is worth, and write it."""
    read = msgspec.json.Decoder(Marked)
    marked = [read.decode(row) for path in paths for row in path.read_text().splitlines()] or own_sentences()
    rows = counted(marked)
    marks, weights, chances = (
        np.array([getattr(each, field) for each in marked]) for field in ("mark", "weight", "chance")
    )
    words = sorted({name for row in rows for name in row if name.isalpha() and len(name) > 1})
    alike = asyncio.run(vectors_of(words))
    stories = sorted({each.story for each in marked})
    np.random.default_rng(7).shuffle(stories)
    fold = np.array([stories.index(each.story) % FOLDS for each in marked])
    values = np.zeros(len(marked))
    for each in range(FOLDS):
        others, here = fold != each, fold == each
        line = fitted(
            [row for row, kept in zip(rows, others, strict=True) if kept], marks[others], weights[others], alike
        )
        values[here] = rated(line, [row for row, kept in zip(rows, here, strict=True) if kept])
    print(f"{len(marked)} sentences of {len(stories)} stories: {telling(values, marks, chances)}")
    if place:
        line = most_telling(fitted(rows, marks, weights, alike), rows, most)
        before = parsed(place.read_text()) if place.exists() else {}
        place.write_text(written({**before, name: WordLine(line)}))
        print(f"{len(line)} weights written to {place}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("line", nargs="?", default="salience", help="the name of the line")
    parser.add_argument("marked", nargs="*", type=Path, help="files of marked sentences")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the line into this file of weights")
    parser.add_argument("--most", type=int, default=5_000, help="the most weights that are written")
    options = parser.parse_args()
    main(options.line, options.marked, options.write, options.most)
