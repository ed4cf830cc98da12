"""The time of a search for the ten nearest entries of the Code Index (docs/design.md#testing).

`python benchmarks/index_search.py` prints the figures of one run; it asserts nothing, since machines differ:

- top-10 at 10,000 entries, full entries returned (target: at most 1 ms);
- the same at 100,000, over one numpy product of matrix and vector at that size (target: at most 1.5);
- the time of embedding the query with the default model, and of reading an entry of another process.

The vectors are random, since ranking does not depend on their meaning.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from specwright.domain.modules.code_index import CodeIndexEntry, IoSummary
from specwright.index.embedder import WordLlamaEmbedder
from specwright.index.sqlite_index import SqliteCodeIndex
from specwright.ports import IndexQuery

DIMENSION = 256


class RandomEmbedder:
    """Vectors of a fixed random stream, at no cost for queries."""

    name = "random"
    dimension = DIMENSION

    def __init__(self) -> None:
        self._random = np.random.default_rng(1)

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """One unit row per text."""
        rows = self._random.standard_normal((len(texts), DIMENSION), dtype=np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def entry(number: int) -> CodeIndexEntry:
    """An entry of an ordinary size."""
    base = f"modules/MM-{number:08x}/1.0.0"
    return CodeIndexEntry(
        module_id=f"MM-{number:08x}",
        version="1.0.0",
        name=f"module_{number}",
        purpose=f"Turn the title of article {number} into a URL slug that is stable across releases.",
        tags=["text", "url", f"group-{number % 50}"],
        contract_ref=f"{base}/contract.json",
        examples_ref=f"{base}/examples.md",
        ship_ref=f"{base}/ship.json",
        io_summary=IoSummary(
            inputs=["text: str (non-empty; at most 1000 characters)", "sep: str (one of '-', '_')"],
            outputs=["slug: str (matches [a-z0-9_-]+)"],
            error_surfaces=["ValueError: text is empty"],
            effects=[],
            modes=["sync"],
        ),
        dependencies=[],
    )


def milliseconds(times: int, *actions: Callable[[], object]) -> list[float]:
    """The median time of each action; they take turns, so that whatever else the machine does meets all alike."""
    taken: list[list[float]] = [[] for _ in actions]
    for turn in range(times + 5):
        for action, figures in zip(actions, taken, strict=True):
            start = time.perf_counter()
            action()
            if turn >= 5:  # the first turns only warm up
                figures.append((time.perf_counter() - start) * 1000)
    return [statistics.median(figures) for figures in taken]


def measure(size: int, times: int, directory: Path) -> None:
    """Fill an index and print its figures."""
    start = time.perf_counter()
    index = SqliteCodeIndex(directory, RandomEmbedder())
    index.add_all(entry(number) for number in range(size))
    print(f"{size:>9,} entries   added in {time.perf_counter() - start:.1f} s")

    other = SqliteCodeIndex(directory, RandomEmbedder())
    start = time.perf_counter()
    other.search(IndexQuery("slug"))
    print(f"{'':9}           first search of a process (matrix loaded): {time.perf_counter() - start:.2f} s")

    matrix = RandomEmbedder().embed([""] * size)
    vector = matrix[0].copy()
    product, search, filtered = milliseconds(
        times,
        lambda: matrix @ vector,
        lambda: index.search(IndexQuery("slug")),
        lambda: index.search(IndexQuery("slug", tags=("group-7",))),
    )
    print(f"{'':9}           top-10 of everything    {search:8.3f} ms")
    print(f"{'':9}           one matrix product      {product:8.3f} ms")
    print(f"{'':9}           ratio                   {search / product:8.2f}")
    print(f"{'':9}           top-10 of 1 in 50 (tag) {filtered:8.3f} ms")

    index.add(entry(size))
    start = time.perf_counter()
    other.search(IndexQuery("slug"))
    print(f"{'':9}           after another's write   {(time.perf_counter() - start) * 1000:8.3f} ms")
    index.close()
    other.close()


def main() -> None:
    """Measure at each size."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--times", type=int, default=200)
    options = parser.parse_args()
    print(
        f"Python {sys.version.split()[0]}, numpy {np.__version__}, "
        f"{os.cpu_count()} cores, {DIMENSION} dimensions"
    )
    for size in options.sizes:
        with tempfile.TemporaryDirectory() as directory:
            measure(size, options.times, Path(directory))
    model = WordLlamaEmbedder()
    start = time.perf_counter()
    model.embed(["load"])
    loaded = time.perf_counter() - start
    (query,) = milliseconds(200, lambda: model.embed(["turn a title into a slug"]))
    print(f"default model: loaded in {loaded:.2f} s, a query embedded in {query:.3f} ms")


if __name__ == "__main__":
    main()
