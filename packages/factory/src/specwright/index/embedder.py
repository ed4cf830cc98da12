"""Embedding models: the interface, the default, and any model of LangChain (design: code-index).

The default, WordLlama, has its weights in its wheel and needs no network. Another model is named `provider:model`. It
is called once with two texts, which shows its dimension and that it takes 512 tokens. A model that silently truncates a
longer text passes, since the criterion is that it accepts one.
"""

import logging
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

import numpy as np
import numpy.typing as npt

from specwright.errors import InputError, ModelError, ModelUnavailableError, SpecwrightError
from specwright.index.matrix import Vectors

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from wordllama.inference import WordLlamaInference

DEFAULT_EMBEDDER = "wordllama"
DIMENSIONS = range(256, 1537)
"""The dimensions that the index allows."""
TOKENS = 512
"""The length of text that a model must accept."""


class Embedder(Protocol):
    """Turns texts into dense vectors."""

    @property
    def name(self) -> str:
        """The name that its vectors are stored under."""
        ...

    @property
    def dimension(self) -> int:
        """The length of its vectors, 256 to 1536.

        Raises:
            InputError: the model does not meet the requirements.
            ModelUnavailableError: it had to be called and cannot be reached.
        """
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text, float32, of length 1 (all 0 for a text without meaning to the model).

        Raises:
            InputError: the model does not meet the requirements.
            ModelError: it gave no usable vectors.
        """
        ...


class WordLlamaEmbedder:
    """The default: 256 dimensions, weights in the wheel, loaded for the first text."""

    name = "wordllama/l2_supercat_256"
    dimension = 256

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One unit row per text."""
        # a model can write a lone surrogate into a query, which a tokenizer refuses
        readable = [text.encode("utf-8", "replace").decode() for text in texts]
        rows = cast("Vectors", self._model.embed(readable))  # the return type depends on a flag
        return unit_rows(rows, len(readable), self.dimension, self.name)

    @cached_property
    def _model(self) -> "WordLlamaInference":
        wordllama = _import_wordllama()
        try:
            # it finds the tokenizer of its wheel only if the cache is its own directory
            return wordllama.WordLlama.load(
                dim=self.dimension, cache_dir=Path(wordllama.__file__).parent, disable_download=True
            )
        except FileNotFoundError as error:
            raise SpecwrightError(
                f"the default embedding model lacks its files: {error}",
                where=str(Path(wordllama.__file__).parent),
                remedy="reinstall the package wordllama",
            ) from error


def _import_wordllama():  # noqa: ANN202  # a module; its type has no name
    # it calls logging.basicConfig when it is imported, which does nothing while the root has a handler
    guard = logging.NullHandler()
    logging.getLogger().addHandler(guard)
    try:
        import wordllama
    finally:
        logging.getLogger().removeHandler(guard)
    return wordllama


class LangChainEmbedder:
    """Any LangChain embedding model; it is probed for its dimension before the first vector.

    Args:
        embeddings: The model.
        name: `provider:model`.
    """

    def __init__(self, embeddings: "Embeddings", name: str) -> None:
        self._embeddings = embeddings
        self.name = name

    @property
    def dimension(self) -> int:
        """The length of its vectors, by one call.

        Raises:
            InputError: outside 256 to 1536, or the model refuses a text of 512 tokens.
            ModelUnavailableError: it cannot be reached.
        """
        return self._dimension

    @cached_property
    def _dimension(self) -> int:
        short, long = "probe", " ".join(["probe"] * TOKENS)
        try:
            rows = self._ask([short, long])
        except ModelUnavailableError as error:
            self._ask([short])  # if this fails too, the length of the text is not the reason
            raise InputError(
                f"the embedding model refuses a text of {TOKENS} tokens",
                where=self.name,
                remedy="choose a model that takes at least 512 tokens",
            ) from error
        dimension = len(rows[0]) if rows else 0
        if dimension not in DIMENSIONS:
            raise InputError(
                f"the embedding model has {dimension} dimensions, not 256 to 1536",
                where=self.name,
                remedy="choose another model, or the default: wordllama",
            )
        return dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One unit row per text."""
        dimension = self.dimension
        return unit_rows(self._ask(list(texts)), len(texts), dimension, self.name)

    def _ask(self, texts: list[str]) -> list[list[float]]:
        try:
            return self._embeddings.embed_documents(texts)
        except Exception as error:  # every provider raises its own
            raise ModelUnavailableError(
                f"the embedding model gave no answer: {type(error).__name__}: {error}",
                where=self.name,
                remedy="check its key, address and network; the default, wordllama, needs none",
            ) from error


def load_embedder(model: str) -> Embedder:
    """The embedding model of a setting.

    Args:
        model: `wordllama`, or `provider:model` as LangChain's `init_embeddings` takes it.

    Raises:
        InputError: there is no such provider, its package is missing, or it refuses its settings.
    """
    if model == DEFAULT_EMBEDDER:
        return WordLlamaEmbedder()
    from langchain.embeddings import init_embeddings

    try:
        embeddings = init_embeddings(model)
    except Exception as error:  # every provider raises its own
        raise InputError(
            f"the embedding model cannot be set up: {type(error).__name__}: {error}",
            where=model,
            remedy="write provider:model (its package installed, its key in the environment), or wordllama",
        ) from error
    return LangChainEmbedder(embeddings, model)


def unit_rows(rows: npt.ArrayLike, count: int, dimension: int, model: str) -> Vectors:
    """Vectors as a float32 matrix whose rows have length 1; a row of zeros stays one.

    Raises:
        ModelError: not `count` rows of `dimension` finite numbers.
    """
    try:
        matrix = np.asarray(rows, np.float64).reshape(count, -1) if count else np.empty((0, dimension))
    except ValueError:
        matrix = np.empty((0, 0))
    if matrix.shape != (count, dimension) or not np.isfinite(matrix).all():
        raise ModelError(
            f"the embedding model did not give {count} vectors of {dimension} finite numbers",
            where=model,
            remedy="if the model was changed under its name, reindex; else report it to its provider",
        )
    # by the largest number first, so that no square overflows or vanishes
    scaled = _divided(matrix, np.abs(matrix).max(axis=1, initial=0.0, keepdims=True))
    unit = _divided(scaled, np.linalg.norm(scaled, axis=1, keepdims=True))
    return np.ascontiguousarray(unit, np.float32)


def _divided(matrix: npt.NDArray[np.float64], by: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.divide(matrix, by, out=np.zeros_like(matrix), where=by > 0)
