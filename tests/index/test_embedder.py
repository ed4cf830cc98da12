"""Embedding models: the default without a network, and what any other must offer (F§14.1, DESIGN §12)."""

import os
import shutil
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding, Embeddings

from specwright.errors import InputError, ModelError, ModelUnavailableError
from specwright.index.embedder import LangChainEmbedder, WordLlamaEmbedder, load_embedder, unit_rows
from specwright.index.sqlite_index import SqliteCodeIndex
from specwright.ports import IndexQuery
from testkit.index_entries import entry

SEARCH_OFFLINE = """
import sys
from pathlib import Path
def deny(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "urllib.Request"):
        raise SystemExit(f"the network was asked for: {event} {arguments}")
sys.addaudithook(deny)
from specwright.index.embedder import load_embedder
from specwright.index.sqlite_index import SqliteCodeIndex
from specwright.ports import IndexQuery
from testkit.index_entries import entry
index = SqliteCodeIndex(Path(sys.argv[1]), load_embedder("wordllama"))
index.add(entry(1, "Turn the title of an article into a URL slug", tags=["url"]))
index.add(entry(2, "Compute compound interest on a deposit", tags=["finance"]))
hits = index.search(IndexQuery("make a web address out of a headline"))
print(*[hit.entry.module_id for hit in hits])
import logging
assert not logging.getLogger().handlers, "the model configured the log"
"""

LAZY = """
import sys
from pathlib import Path
from specwright.index.embedder import load_embedder
from specwright.index.sqlite_index import SqliteCodeIndex
index = SqliteCodeIndex(Path(sys.argv[1]), load_embedder("wordllama"))
assert index.entries() == [] and not index.needs_reindex
index.close()
print(*{"wordllama", "langchain", "tokenizers", "requests"} & set(sys.modules))
"""


def run(code: str, tmp_path: Path, *before: str) -> str:
    """Run code in another process with an empty home directory; what it printed."""
    home = tmp_path / "home"
    home.mkdir()
    done = subprocess.run(
        [*before, sys.executable, "-c", code, str(tmp_path / "index")],
        env={"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert list(home.iterdir()) == [], "a model left something behind"
    return done.stdout.strip()


class Model(Embeddings):
    """A LangChain model of a given dimension that notes what it is asked."""

    def __init__(self, dimension: int = 256, most_words: int = 100_000) -> None:
        self.calls: list[list[str]] = []
        self._dimension = dimension
        self._most_words = most_words

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """One vector per text, or a refusal."""
        self.calls.append(texts)
        if any(len(text.split()) > self._most_words for text in texts):
            raise ValueError("input is too long")
        return [[float(len(text)), *[1.0] * (self._dimension - 1)] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        """Not used."""
        raise NotImplementedError


class TestDefault:
    """WordLlama."""

    def test_it_needs_no_network(self, tmp_path: Path):
        """The default model finds by meaning with the network denied and nothing cached (D-S12-07)."""
        assert run(SEARCH_OFFLINE, tmp_path) == "MM-00000001 MM-00000002"

    @pytest.mark.slow
    def test_it_needs_no_network_interface(self, tmp_path: Path):
        """The same in a network namespace that has no way out (D-S12-07)."""
        unshare = shutil.which("unshare")
        if (
            not unshare
            or subprocess.run([unshare, "-rn", "true"], capture_output=True, check=False).returncode
        ):
            pytest.skip("no user namespaces here")
        assert run(SEARCH_OFFLINE, tmp_path, unshare, "-rn") == "MM-00000001 MM-00000002"

    def test_it_is_loaded_when_it_is_asked(self, tmp_path: Path):
        """Opening an index imports no model: `status` must be quick (D-S11-09)."""
        assert run(LAZY, tmp_path) == ""

    def test_it_meets_the_criteria(self):
        """Dense, 256 dimensions, takes far more than 512 tokens, unit length (F-14.1-06)."""
        model = WordLlamaEmbedder()
        rows = model.embed(["turn a title into a slug", "word " * 5000, "", "\ud800 half a pair"])
        assert rows.shape == (4, model.dimension) == (4, 256)
        assert rows.dtype == np.float32
        assert np.linalg.norm(rows, axis=1) == pytest.approx([1, 1, 0, 1], abs=1e-6)
        assert (rows[0] != 0).mean() > 0.9
        assert model.embed([]).shape == (0, 256)


class TestLangChain:
    """Any `provider:model`."""

    def test_dimensions_from_256_to_1536_are_taken(self):
        """The bounds themselves are allowed (F-14.1-06, D-S12-08)."""
        for dimension in (256, 1024, 1536):
            model = LangChainEmbedder(Model(dimension), "a:b")
            assert model.dimension == dimension
            assert model.embed(["x", "yy"]).shape == (2, dimension)

    def test_other_dimensions_are_refused(self, tmp_path: Path):
        """A model outside 256 to 1536 dimensions writes nothing into an index (F-14.1-06, D-S12-08)."""
        for dimension in (1, 128, 255, 1537, 2000):
            model = LangChainEmbedder(Model(dimension), "a:b")
            with pytest.raises(InputError, match=f"{dimension} dimensions, not 256 to 1536"):
                _ = model.dimension
            with closing(SqliteCodeIndex(tmp_path, model)) as index:
                with pytest.raises(InputError, match="dimensions"):
                    index.add(entry(1))
                with pytest.raises(InputError, match="dimensions"):
                    index.reindex()
                assert index.entries() == []

    def test_a_model_that_refuses_512_tokens_is_refused(self):
        """A text of 512 tokens is part of the probe; an endpoint that fails for every text is unavailable, not unfit
        (F-14.1-06, D-S12-08)."""
        with pytest.raises(InputError, match="512 tokens"):
            _ = LangChainEmbedder(Model(most_words=511), "a:b").dimension
        assert LangChainEmbedder(Model(most_words=512), "a:b").dimension == 256
        with pytest.raises(ModelUnavailableError, match="too long"):
            _ = LangChainEmbedder(Model(most_words=0), "a:b").dimension

    def test_the_probe_is_one_call_and_none_before_it_is_needed(self):
        """The dimension is probed with one call, once (D-S12-08)."""
        asked = Model()
        model = LangChainEmbedder(asked, "a:b")
        assert asked.calls == []
        assert (model.dimension, model.dimension) == (256, 256)
        assert len(asked.calls) == 1
        assert max(len(text.split()) for text in asked.calls[0]) == 512

    def test_any_langchain_model_serves_an_index(self, tmp_path: Path):
        """An index works on LangChain's own test model (D-S12-08)."""
        model = LangChainEmbedder(DeterministicFakeEmbedding(size=300), "fake:300")
        with closing(SqliteCodeIndex(tmp_path, model)) as index:
            index.add(entry(1))
            index.add(entry(2))
            assert len(index.search(IndexQuery("x"))) == 2

    def test_a_provider_is_named_in_the_setting(self, monkeypatch: pytest.MonkeyPatch):
        """`openai:NAME` makes LangChain's model of that name, and no call is made for it; an unknown provider or a missing
        package gets one clear message (D-S12-08)."""
        monkeypatch.setenv("OPENAI_API_KEY", "not-a-key")
        model = load_embedder("openai:text-embedding-3-small")
        assert model.name == "openai:text-embedding-3-small"
        for setting in ("", "nobody:x", "openai:", "no-colon", "cohere:embed"):
            with pytest.raises(InputError, match="cannot be set up"):
                load_embedder(setting)


class TestRows:
    """What a model gives is made usable, or refused."""

    def test_rows_have_length_1(self):
        """Vectors are normalised when they come; zeros stay zeros (D-S12-06)."""
        rows = unit_rows([[3.0, 4.0], [0.0, 0.0], [1e-300, 0.0], [1e300, 1e300]], 4, 2, "m")
        assert rows.dtype == np.float32
        assert rows.tolist() == pytest.approx(np.array([[0.6, 0.8], [0, 0], [1, 0], [0.5**0.5] * 2]))

    def test_what_is_not_one_finite_vector_per_text_is_refused(self):
        """A broken answer is the model's failure and enters no index (F-14.1-06)."""
        ragged, nan, infinite = [[1.0, 2.0], [1.0]], [[1.0, float("nan")]] * 2, [[float("inf"), 1.0]] * 2
        for rows in ([[1.0, 2.0]], [[1.0], [2.0]], ragged, nan, infinite):
            with pytest.raises(ModelError, match="did not give 2 vectors of 2"):
                unit_rows(rows, 2, 2, "m")
