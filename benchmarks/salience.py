"""Fit the weights by which sentences of a story are rated, and tell how well they rate what they were not fitted to.

    python benchmarks/salience.py [--write]

Ridge regression on the vectors of the sentences in `salience.toml`, which all are our own. Prints the share of
sentences that are rated on the right side of 0.5 and how often a lasting one is rated above a passing one, with each
tenth rated by weights that were fitted to the others. `--write` puts the weights of all where the rater reads them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tomllib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ireneo.adapters.embed import salience
from ireneo.adapters.embed.opening import LocalEmbedder

SENTENCES = Path(__file__).with_name("salience.toml")
RIDGE = 3.0
"""With 1 to 10 about as good; below, it learns the sentences by heart."""
STEEP, MIDDLE = 9.6, 0.55
"""The rating is a logistic curve over the regression's value, 0 for passing and 1 for lasting ones."""
FOLDS = 10

Rows = NDArray[np.float64]


def fitted(vectors: Rows, lasts: Rows) -> Rows:
    """The weights, and what is added, whose logistic curve gives the rating."""
    mean, middle = vectors.mean(axis=0), lasts.mean()
    centred = vectors - mean
    weights = np.linalg.solve(centred.T @ centred + RIDGE * np.eye(vectors.shape[1]), centred.T @ (lasts - middle))
    constant = middle - mean @ weights
    return np.append(weights, constant - MIDDLE) * STEEP


def rated(vectors: Rows, weights: Rows) -> Rows:
    """The logits of the ratings."""
    return vectors @ weights[:-1] + weights[-1]


async def main(write: bool) -> None:
    """Fit, and print what the weights are worth."""
    sentences = tomllib.loads(SENTENCES.read_text())
    lasting, passing = sentences["lasting"], sentences["passing"]
    found = await LocalEmbedder().embed([*lasting, *passing])
    vectors = np.array([np.frombuffer(each, np.int8) for each in found], np.float64)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    lasts = np.array([1.0] * len(lasting) + [0.0] * len(passing))
    values = np.zeros(len(lasts))
    fold = np.random.default_rng(7).permutation(len(lasts)) % FOLDS
    for each in range(FOLDS):
        values[fold == each] = rated(vectors[fold == each], fitted(vectors[fold != each], lasts[fold != each]))
    right = ((values > 0) == (lasts > 0)).mean()
    above = (values[lasts > 0][:, None] > values[lasts == 0][None, :]).mean()
    print(f"{len(lasting)} lasting and {len(passing)} passing sentences")
    print(f"on the right side of 0.5: {right:.2f}; a lasting one above a passing one: {above:.3f}")
    if write:
        place = Path(salience.__file__).with_name(salience.WEIGHTS)
        place.write_text(json.dumps([float(f"{each:.3g}") for each in fitted(vectors, lasts)]) + "\n")
        print(f"written to {place}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the weights into the package")
    asyncio.run(main(parser.parse_args().write))
