"""An embedding model for tests that needs no download."""

import zlib
from collections.abc import Sequence

import numpy as np

__all__ = ["WordEmbedder"]


class WordEmbedder:
    """Counts words, each at a place drawn from its letters: texts that share words are near each other.

    Args:
        name: The model's name.
        dimension: The length of its vectors.
        salt: Another salt ranks otherwise.
    """

    def __init__(self, name: str = "words", dimension: int = 256, salt: str = "") -> None:
        self.name = name
        self.dimension = dimension
        self.asked: list[str] = []
        self._salt = salt

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """One unit row per text; a text without words is a row of zeros."""
        self.asked += texts
        matrix = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in zip(matrix, texts, strict=True):
            words = "".join(c if c.isalnum() else " " for c in text.lower()).split()
            for word in words:
                row[zlib.crc32((self._salt + word).encode()) % self.dimension] += 1
            row /= np.linalg.norm(row) or 1
        return matrix
