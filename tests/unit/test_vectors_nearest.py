"""Vectors keep directions, and a search among many by their signs first finds what the exact one finds."""

from __future__ import annotations

import math
from array import array

import numpy as np
import pytest

from ireneo.memories import nearest
from ireneo.memories.index import Vector, quantised
from ireneo.memories.nearest import Vectors


def directions(count: int, *, dimensions: int = 384, seed: int = 7) -> list[Vector]:
    """Directions in clusters, as those of texts lie."""
    numbers = np.random.default_rng(seed)
    centres = numbers.standard_normal((12, dimensions))
    rows = centres[numbers.integers(12, size=count)] + 1.2 * numbers.standard_normal((count, dimensions))
    return [quantised(row.tolist()) for row in rows]


def cosine(one: Vector, other: Vector) -> float:
    left, right = array("b", one), array("b", other)
    product = sum(a * b for a, b in zip(left, right, strict=True))
    return product / math.sqrt(sum(a * a for a in left) * sum(b * b for b in right))


def sorted_exactly(vectors: dict[int, Vector], query: Vector) -> list[int]:
    return sorted(vectors, key=lambda document: (-cosine(vectors[document], query), -document))


def test_a_vector_keeps_the_direction() -> None:
    given = [math.sin(each) for each in range(384)]
    for scale in (1e-300, 1e-320, 1.0, 1e300):
        vector = quantised([value * scale for value in given])
        kept = array("b", vector)
        assert max(map(abs, kept)) == 127
        product = sum(a * b for a, b in zip(given, kept, strict=True))
        length = math.sqrt(sum(a * a for a in given) * sum(b * b for b in kept))
        assert product / length > 0.9999


def test_a_vector_without_direction() -> None:
    assert quantised([0.0, -0.0]) == bytes(2)
    assert quantised([]) == b""
    for wrong in (math.nan, math.inf, -math.inf):
        with pytest.raises(ValueError, match="not a finite number"):
            quantised([1.0, wrong])


def test_the_nearest_come_first_with_their_cosines() -> None:
    given = dict(enumerate(directions(60), 100))
    query = given[117]
    vectors = Vectors()
    vectors.change(given)
    found = vectors.nearest(query, 7)
    assert [document for document, _ in found] == sorted_exactly(given, query)[:7]
    assert found[0] == (117, pytest.approx(1.0))
    for document, told in found:
        assert told == pytest.approx(cosine(given[document], query), abs=1e-5)


def test_of_two_alike_the_newer_comes_first_wherever_it_stands() -> None:
    same = directions(1)[0]
    vectors = Vectors()
    vectors.change({5: same, 9: same, 1: same})
    vectors.change({7: same})
    assert [document for document, _ in vectors.nearest(same, 3)] == [9, 7, 5]


@pytest.mark.parametrize("dimensions", [384, 100])
def test_by_signs_first_as_exactly(dimensions: int, monkeypatch: pytest.MonkeyPatch) -> None:
    given = directions(6_000, dimensions=dimensions)
    queries = directions(40, dimensions=dimensions, seed=7)[20:]
    vectors = Vectors()
    vectors.change(dict(enumerate(given)))
    exact = [vectors.nearest(query, 20) for query in queries]
    monkeypatch.setattr(nearest, "EXACT_BELOW", 0)
    monkeypatch.setattr(nearest, "CANDIDATES", 1_500)
    monkeypatch.setattr(nearest, "CANDIDATES_EACH", 0)
    likely = [vectors.nearest(query, 20) for query in queries]
    agree = [len(set(one) & set(other)) for one, other in zip(exact, likely, strict=True)]
    assert sum(agree) >= 0.98 * 20 * len(queries)
    assert all(one[0] == other[0] for one, other in zip(exact, likely, strict=True))


def test_by_signs_among_many_that_are_all_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nearest, "EXACT_BELOW", 0)
    same, other = directions(2)
    vectors = Vectors()
    vectors.change(dict.fromkeys(range(5_000), same))
    vectors.change({9_000: other}, removed=range(4_990))
    assert [document for document, _ in vectors.nearest(same, 3)] == [4_999, 4_998, 4_997]
    assert [document for document, _ in vectors.nearest(other, 1)] == [9_000]


def test_what_changes_is_what_would_be_built_anew() -> None:
    pool = directions(400)
    vectors, now = Vectors(), dict[int, Vector]()
    for step in range(80):
        added = {(step * 7 + each * 3) % 90: pool[(step * 5 + each) % 400] for each in range(step % 6)}
        removed = [each for each in range(step % 90, step % 90 + step % 9) if each not in added]
        vectors.change(added, removed)
        now = {document: each for document, each in now.items() if document not in removed} | added
        assert len(vectors) == len(now)
        found = [document for document, _ in vectors.nearest(pool[step], 200)]
        assert sorted(found) == sorted(now)
        assert found[:3] == sorted_exactly(now, pool[step])[:3]


def test_nothing_to_find() -> None:
    vectors = Vectors()
    assert vectors.nearest(bytes(384), 5) == []
    vectors.change({1: bytes(384)})
    assert vectors.nearest(directions(1)[0], 5) == [(1, 0.0)]
    assert vectors.nearest(directions(1)[0], 0) == []
    vectors.change({}, [1])
    assert vectors.nearest(bytes(384), 5) == []
    assert len(vectors) == 0


def test_vectors_of_another_length_are_turned_away() -> None:
    vectors = Vectors()
    vectors.change({1: directions(1)[0]})
    with pytest.raises(ValueError, match="384, 512"):
        vectors.change({2: bytes(512)})
    with pytest.raises(ValueError, match="the question has 512 dimensions"):
        vectors.nearest(bytes(512), 1)
    # Once none is left, others may come.
    vectors.change({}, [1])
    vectors.change({2: bytes(range(64))})
    assert [document for document, _ in vectors.nearest(bytes(range(64)), 1)] == [2]
