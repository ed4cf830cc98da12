"""Ranking is exact (F§14.3, DESIGN §12)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specwright.index.matrix import VectorMatrix

# few different scores, so that equals are common; more than one block of 64, and a tail
SCORES = st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.25, 0.5, 1.0]), min_size=1, max_size=300)


def matrix_of(scores: list[float]) -> tuple[VectorMatrix, np.ndarray]:
    """A matrix whose rows have these scores with the query that comes with it; places are 10, 20, ..."""
    matrix = VectorMatrix(2)
    rows = np.array([[score, (1 - score**2) ** 0.5] for score in scores], np.float32)
    for number, row in enumerate(rows):  # one by one: the store grows many times
        matrix.append([10 * (number + 1)], row[np.newaxis])
    return matrix, np.array([1.0, 0.0], np.float32)


@given(scores=SCORES, count=st.integers(1, 320), data=st.data())
def test_the_nearest_are_those_that_sorting_everything_finds(
    scores: list[float], count: int, data: st.DataObject
):
    """Top-K is exact, descending, equals in order, without what is retired or filtered out (F-14.3-04)."""
    matrix, query = matrix_of(scores)
    seqs = [10 * (number + 1) for number in range(len(scores))]
    retired = data.draw(st.sets(st.sampled_from(seqs)))
    among = sorted(data.draw(st.sets(st.sampled_from(seqs))))
    matrix.retire(retired)

    def expected(candidates: list[int]) -> list[tuple[int, float]]:
        best = sorted(candidates, key=lambda seq: -scores[seq // 10 - 1])[:count]
        return [(seq, max(0.0, scores[seq // 10 - 1])) for seq in best]

    active = [seq for seq in seqs if seq not in retired]
    assert matrix.nearest(query, count, None, inactive=True) == expected(seqs)
    assert matrix.nearest(query, count, None, inactive=False) == expected(active)
    assert matrix.nearest(query, count, among, inactive=False) == expected(among)


@pytest.mark.parametrize("size", [1, 63, 64, 65, 640, 1000, 5000])
@pytest.mark.parametrize("count", [1, 2, 10, 15, 70])
def test_the_nearest_of_many_different_ones_are_found(size: int, count: int):
    """Narrowing by blocks drops none of the best (F-14.3-04, D-S11-08)."""
    scores = np.random.default_rng(size).uniform(0.0, 1.0, size).tolist()
    matrix, query = matrix_of(scores)
    hits = matrix.nearest(query, count, None, inactive=True)
    assert [hit.similarity for hit in hits] == pytest.approx(sorted(scores, reverse=True)[:count])


def test_an_empty_matrix_has_no_nearest():
    """There is nothing to find before the first row (F-14.3-04)."""
    matrix = VectorMatrix(2)
    assert (len(matrix), matrix.last) == (0, 0)
    assert matrix.nearest(np.array([1.0, 0.0], np.float32), 10, None, inactive=False) == []


def test_a_score_is_never_above_1():
    """Rounding does not push a similarity out of [0, 1] (F-14.3-05)."""
    rows = np.random.default_rng(0).standard_normal((500, 256)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    matrix = VectorMatrix(256)
    matrix.append(range(1, 501), rows)
    assert max(matrix.nearest(row, 1, None, inactive=True)[0].similarity for row in rows) == 1.0
