"""The vectors of one process: exact ranking by one matrix product (design: code-index).

Rows are in the order of the entries. Nothing is approximated: 100,000 rows of 256 numbers take milliseconds.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

Vectors: TypeAlias = npt.NDArray[np.float32]

_BLOCK = 64


class Match(NamedTuple):
    """The sequence number of an entry and its similarity, `max(0, cosine)`."""

    seq: int
    similarity: float


class VectorMatrix:
    """Unit vectors in the order of the entries, with those that are no longer SHIPPED marked.

    Args:
        dimension: The length of every vector.
    """

    def __init__(self, dimension: int) -> None:
        self._seqs: npt.NDArray[np.int64] = np.empty(0, np.int64)
        self._store: Vectors = np.empty((0, dimension), np.float32)
        self._size = 0
        self._retired: set[int] = set()
        self._retired_rows: npt.NDArray[np.intp] = np.empty(0, np.intp)

    def __len__(self) -> int:
        return self._size

    @property
    def last(self) -> int:
        """The highest sequence number in the matrix, 0 if it is empty."""
        return int(self._seqs[-1]) if self._size else 0

    def append(self, seqs: Sequence[int], vectors: Vectors) -> None:
        """Add rows that follow the last one."""
        needed = self._size + len(seqs)
        if needed > len(self._store):
            grown: Vectors = np.empty((max(needed, 2 * len(self._store)), self._store.shape[1]), np.float32)
            grown[: self._size] = self._store[: self._size]
            self._store = grown
        self._store[self._size : needed] = vectors
        self._seqs = np.concatenate([self._seqs, np.asarray(seqs, np.int64)])
        self._size = needed

    def retire(self, seqs: Iterable[int]) -> None:
        """Mark rows as no longer SHIPPED, permanently."""
        if fresh := set(seqs) - self._retired:
            self._retired |= fresh
            self._retired_rows = self._rows(sorted(self._retired))

    def nearest(
        self, query: Vectors, count: int, candidates: Sequence[int] | None, inactive: bool
    ) -> list[Match]:
        """The nearest rows, best first, equals in the order of the entries.

        Args:
            query: One unit vector.
            count: How many, at least 1.
            candidates: The sequence numbers to rank; None ranks them all.
            inactive: If `candidates` is None, whether rows that are no longer SHIPPED count.
        """
        scores: Vectors = self._store[: self._size] @ query
        if candidates is not None:
            rows = self._rows(candidates)
            picked = rows[_best(scores[rows], count)]
        else:
            if not inactive:
                scores[self._retired_rows] = -np.inf
                count = min(count, self._size - len(self._retired_rows))
            picked = _best(scores, count)
        similarities = np.clip(scores[picked], 0.0, 1.0)
        return [Match(*pair) for pair in zip(self._seqs[picked].tolist(), similarities.tolist(), strict=True)]

    def _rows(self, seqs: Sequence[int]) -> npt.NDArray[np.intp]:
        return np.searchsorted(self._seqs, np.asarray(seqs, np.int64))


def _best(scores: Vectors, count: int) -> npt.NDArray[np.intp]:
    """The indices of the `count` highest scores, descending, equals in their order."""
    candidates = np.flatnonzero(scores >= _bound(scores, count))
    order = np.argsort(-scores[candidates], kind="stable")
    return candidates[order[:count]]


def _bound(scores: Vectors, count: int) -> float:
    """A score that at least `count` rows reach, computed without sorting them all.

    `count` blocks whose maximum reaches it have at least `count` rows that do.
    """
    blocks = len(scores) // _BLOCK
    if not 0 < count <= blocks:
        return -np.inf
    maxima: Vectors = scores[: blocks * _BLOCK].reshape(blocks, _BLOCK).max(axis=1)
    return float(np.partition(maxima, blocks - count)[blocks - count])
