"""Fit lines over words (`ireneo.language.word_lines`) to marked sentences, and tell what they are worth elsewhere.

    python benchmarks/word_lines.py [salience|kept] MARKED.jsonl … [--write FILE]

A table of weights answers one question (`TABLES`). Each row of a file is a sentence with one answer:

    {"text": "…", "mark": 2.0, "question": "salience", "story": "…", "forms": ["@narrated"], "asked": "…",
     "weight": 1.0, "chance": 1.0, "source": "…"}

Only the first two are needed. Rows of another `question` than the table's are left out. `mark` is what the line is to
say: any number (ridge regression), or 1 or 0 (logistic regression). `story` is what is held apart together, be it a
talk; `asked` what a user answers. `weight` is how much the row counts in the fit, and `chance` by what chance it was
drawn for marking (0: chosen, and so no measure of anything). Rows of one `source` may all be marked higher than those
of another, without its style being taken for the reason. Without any file the sentences of our own in `salience.toml`
are taken.

What is fitted are the weights of the features, and, where the extra `local` is installed, of the vectors of the words
as well: what a word without enough examples weighs follows from words alike in meaning. Both together are one weight a
word. Names have none. Each fifth of the stories is rated by what was fitted to the others. Printed are the rank
correlation, how often a sentence of the highest mark stands above one of the lowest, and the share of the highest marks
among the first twentieth.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ireneo.language.word_lines import CONSTANT, Features, LinearModel, features, parse_models
from ireneo.memories.worth import features_of

OWN = Path(__file__).with_name("salience.toml")
RIDGE_SOURCE = 0.01
"""How strongly the constants of sources are held to nothing."""
SOURCE = "@source:"
DIRECTIONS = 100
"""Directions of the words' vectors in which they differ most."""
FOLDS, FIRST = 5, 0.05
STEPS, ENOUGH = 200, 1e-8
"""The most steps of a fit, and the error with which it ends, for each row."""
ROUNDS, LEAST_SPREAD = 10, 0.01
"""How often what is no straight line is fitted by one, and the least that a chance may spread."""

Rows: TypeAlias = NDArray[np.float64]
Line: TypeAlias = dict[str, float]


class Question(Struct, frozen=True, kw_only=True):
    """What a line says of a sentence, and how it is fitted."""

    name: str
    fit: Literal["value", "chance"]
    words: float
    """How strongly the weights of words, stems and pairs are held to nothing."""
    forms: float
    """The same for forms."""
    alike: float = 0.0
    """The same for the directions in which words differ; 0: words alike share nothing."""
    least: int = 3
    """Rows in which a feature occurs, to have a weight of its own."""
    stories: int = 1
    """Stories in which it does."""
    most: int
    """The most weights that are written."""


TABLES: Mapping[str, Question] = {
    "salience": Question(name="salience", fit="value", words=1.0, forms=1.0, alike=5.0, most=5_000),
    "kept": Question(name="worth", fit="chance", words=0.55, forms=5.0, least=4, stories=4, most=2_000),
}


class Marked(Struct):
    """A marked sentence."""

    text: str
    mark: float
    question: str = ""
    story: str = ""
    forms: tuple[str, ...] = ()
    asked: str = ""
    weight: float = 1.0
    chance: float = 1.0
    source: str = ""


class Matrix:
    """The features of sentences, as a sparse matrix."""

    def __init__(self, rows: Sequence[Line], known: Mapping[str, int]) -> None:
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


class Examples:
    """The sentences that were marked for one question."""

    def __init__(self, question: Question, marked: Sequence[Marked], of: Callable[[Marked], Features]) -> None:
        """Take the features of each sentence, without names and without the constant."""
        self.question = question
        self.marked = marked
        self.words: set[str] = set()
        self.rows = [self._counted(each, of(each)) for each in marked]
        names = names_of([each.text for each in marked])
        for row in self.rows:
            for name in [name for name in row if names.intersection(re.split("[~_]", name))]:
                del row[name]
        self.words -= names

    def _counted(self, each: Marked, found: Features) -> Line:
        counts: dict[str, float] = defaultdict(float)
        for name, value in found.counts():
            counts[name] += value
        del counts[CONSTANT]
        self.words.update(found.words)
        if each.source:
            counts[SOURCE + each.source] = 1.0
        return counts

    def some(self, chosen: Sequence[int]) -> Examples:
        """Some of them."""
        out = Examples(self.question, [], features_in)
        out.marked, out.words = [self.marked[at] for at in chosen], self.words
        out.rows = [self.rows[at] for at in chosen]
        return out


def format_models(lines: Mapping[str, LinearModel]) -> str:
    """Write models as a text that `parse_models` reads; weights that round to 0 are left out."""
    rows: list[str] = []
    for name, line in lines.items():
        by_weight: dict[int, list[str]] = {}
        for feature, weight in sorted(line.weights.items()):
            if round(weight * 100):
                by_weight.setdefault(round(weight * 100), []).append(feature)
        rows.append(f"[{name}]")
        rows += [f"{weight} {' '.join(by_weight[weight])}" for weight in sorted(by_weight)]
    return "\n".join(rows) + "\n"


def names_of(texts: Sequence[str]) -> frozenset[str]:
    """The words that within a sentence mostly have a capital letter."""
    large = Counter(word.lower() for text in texts for word in re.findall(r"(?<=[a-z,;] )[A-Z][^\W\d_]+", text))
    small = Counter(word for text in texts for word in re.findall(r"\b[a-z][^\W\d_]+", text))
    return frozenset(word for word, times in large.items() if times > small[word])


def features_in(each: Marked) -> Features:
    """What of a story's sentence may have a weight."""
    return features(each.text).with_forms(each.forms)


def features_in_talk(each: Marked) -> Features:
    """What of a user's statement may have a weight."""
    return features_of(each.text, each.asked).with_forms(each.forms)


class Fit:
    """What is fitted to some examples."""

    def __init__(self, examples: Examples, alike: Mapping[str, Rows]) -> None:
        """Choose what has a weight."""
        self.question = question = examples.question
        often = Counter(name for row in examples.rows for name in row)
        stories: dict[str, set[str]] = defaultdict(set)
        for row, each in zip(examples.rows, examples.marked, strict=True):
            for name in row:
                stories[name].add(each.story)
        kept = sorted(
            name for name in often if often[name] >= question.least and len(stories[name]) >= question.stories
        )
        self.names = {name: at for at, name in enumerate(kept)}
        self.places = np.array(list(alike.values())) if alike and question.alike else np.zeros((0, 1))
        self.vectors = {name: at for at, name in enumerate(alike)} if len(self.places) else {}
        self.own, self.shared = Matrix(examples.rows, self.names), Matrix(examples.rows, self.vectors)
        ridges = [
            RIDGE_SOURCE if name.startswith(SOURCE) else question.words if name in examples.words else question.forms
            for name in kept
        ]
        self.held = np.concatenate([np.array(ridges), np.full(self.places.shape[1], max(question.alike, 1.0))])
        weights = np.array([each.weight for each in examples.marked])
        self.weights = weights / weights.mean()
        self.marks = [each.mark for each in examples.marked]

    def line(self) -> Line:
        """The line with the weights that fit best."""
        told = np.array(self.marks, float)
        found = np.zeros(len(self.held))
        if self.question.fit == "value":
            return self._line(*self._solved(told, self.weights, found))
        values, constant = np.zeros(len(told)), 0.0
        for _ in range(ROUNDS):
            chances = 1 / (1 + np.exp(-np.clip(values, -30, 30)))
            spread = np.maximum(chances * (1 - chances), LEAST_SPREAD)
            target = values + (told - chances) / spread
            found, constant = self._solved(target, self.weights * spread, found)
            values = self._times(found) + constant
        return self._line(found, constant)

    def _times(self, found: Rows) -> Rows:
        return self.own.times(found[: len(self.names)]) + self.shared.times(self.places @ found[len(self.names) :])

    def _back(self, values: Rows) -> Rows:
        return np.concatenate([self.own.back(values), self.places.T @ self.shared.back(values)])

    def _solved(self, target: Rows, weights: Rows, found: Rows) -> tuple[Rows, float]:
        """The weights, and the constant, with the least squares of errors, by conjugate gradients from `found` on."""
        total = weights.sum()
        mean, middle = self._back(weights) / total, float(weights @ target / total)

        def normal(found: Rows) -> Rows:
            said = weights * (self._times(found) - mean @ found)
            return self._back(said) - mean * said.sum() + self.held * found

        wanted = weights * (target - middle)
        found = found.copy()
        rest = self._back(wanted) - mean * wanted.sum() - normal(found)
        way, left = rest.copy(), float(rest @ rest)
        for _ in range(STEPS):
            if left < ENOUGH * len(target):
                break
            turned = normal(way)
            step = left / float(way @ turned)
            found += step * way
            rest -= step * turned
            new = float(rest @ rest)
            way, left = rest + new / left * way, new
        return found, middle - float(mean @ found)

    def _line(self, found: Rows, constant: float) -> Line:
        size = len(self.names)
        out = dict(zip(self.names, found[:size].tolist(), strict=True))
        for word, value in zip(self.vectors, (self.places @ found[size:]).tolist(), strict=True):
            out[word] = out.get(word, 0.0) + value
        out[CONSTANT] = constant
        return {name: weight for name, weight in out.items() if not name.startswith(SOURCE)}


def rated(line: Line, rows: Sequence[Line]) -> Rows:
    """The value of each sentence."""
    return np.array([line[CONSTANT] + sum(line.get(name, 0.0) * value for name, value in row.items()) for row in rows])


async def vectors_of(words: Sequence[str]) -> dict[str, Rows]:
    """Where each word stands in the directions in which the words differ most; empty without the extra `local`."""
    from ireneo.adapters.embed.packages import LocalEmbedder
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


def held_apart(examples: Examples, alike: Mapping[str, Rows]) -> Rows:
    """The value of each sentence by the line fitted to other stories."""
    stories = sorted({each.story for each in examples.marked})
    np.random.default_rng(7).shuffle(stories)
    fold = np.array([stories.index(each.story) % FOLDS for each in examples.marked])
    values = np.full(len(examples.marked), -np.inf)
    for each in range(FOLDS):
        here = np.flatnonzero(fold == each)
        line = Fit(examples.some(np.flatnonzero(fold != each).tolist()), alike).line()
        values[here] = rated(line, examples.some(here.tolist()).rows)
    return values


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
    told = f"best above worst {above:.3f}, best among first {share:.2f} of {base:.3f}"
    return f"rank correlation {np.corrcoef(*ranks)[0, 1]:.3f}, {told}" if len(set(marks)) > 2 else told


def most_telling(line: Line, rows: Sequence[Line], most: int) -> Line:
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
    return [
        Marked(text, marks[kind], story=str(at % 10)) for kind, texts in found.items() for at, text in enumerate(texts)
    ]


def main(table: str, paths: Sequence[Path], place: Path | None) -> None:
    """Fit each line of a table, print what it is worth, and write it."""
    read = msgspec.json.Decoder(Marked)
    marked = [read.decode(row) for path in paths for row in path.read_text().splitlines()] or own_sentences()
    question = TABLES[table]
    asked = [each for each in marked if each.question in ("", question.name)]
    examples = Examples(question, asked, features_in_talk if table == "kept" else features_in)
    words = sorted(word for word in examples.words if word.isalpha() and len(word) > 1) if question.alike else []
    alike = asyncio.run(vectors_of(words)) if words else {}
    chances = np.array([each.chance for each in asked])
    told = telling(held_apart(examples, alike), np.array([each.mark for each in asked], float), chances)
    print(f"{question.name}: {len(asked)} sentences of {len({each.story for each in asked})} stories: {told}")
    if place:
        line = most_telling(Fit(examples, alike).line(), examples.rows, question.most)
        before = parse_models(place.read_text()) if place.exists() else {}
        place.write_text(format_models({**before, question.name: LinearModel(line)}))
        print(f"{len(line)} weights written to {place}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", nargs="?", default="salience", choices=TABLES, help="the table of weights")
    parser.add_argument("marked", nargs="*", type=Path, help="files of marked sentences")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the lines into this file of weights")
    options = parser.parse_args()
    if options.table != "salience" and not options.marked:
        parser.error("only for salience there are sentences of our own: name a file of marked ones")
    main(options.table, options.marked, options.write)
