"""Where the repository's own files lie."""

from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
ROOT = TESTS.parent
PRODUCTS = TESTS / "loop" / "product" / "products"
GATE_TESTS = ROOT / "packages" / "gate" / "tests"
GATE_MODULES = GATE_TESTS / "modules"
GATE_CORPUS = GATE_TESTS / "corpus"
EXAMPLES = ROOT / "examples"
SOURCES = tuple(sorted(ROOT.glob("packages/*/src")))
FACTORY = ROOT / "packages" / "factory" / "src"
"""The folders with the packages."""
TABKEEPER = EXAMPLES / "tabkeeper"
