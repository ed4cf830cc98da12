"""Tests that pass although the module does nothing (DESIGN §8, D-S8-07).

The tests run on two stubs of the entry points, one that raises NotImplementedError and one that returns None. A test,
or one of its parameters, that passes on both has shown nothing.
"""

import ast
from collections.abc import Iterable, Mapping

from specwright.gate.top_level import parse_source
from specwright.ports.gate import Finding

__all__ = ["stubs", "vacuous_findings"]

_ENTRY = "implementation/__init__.py"
_BODIES = ("raise NotImplementedError", "return None")


def stubs(files: Mapping[str, bytes], entries: Iterable[str]) -> tuple[str, str]:
    """The source of the entry file with the bodies of the entry points replaced, once each way."""
    wanted = set(entries)
    raising, returning = (_stub(files[_ENTRY], wanted, body) for body in _BODIES)
    return raising, returning


def _stub(source: bytes, entries: set[str], body: str) -> str:
    tree = parse_source(source, _ENTRY)
    instead = parse_source(body.encode(), _ENTRY).body
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name in entries:
            node.body = [*node.body[:1], *instead] if ast.get_docstring(node) else list(instead)
    return ast.unparse(ast.fix_missing_locations(tree))


def vacuous_findings(passed_raising: Iterable[str], passed_returning: Iterable[str]) -> list[Finding]:
    """A finding for each test that passed on both stubs."""
    both = sorted(set(passed_raising) & set(passed_returning))
    message = (
        "the test passes on a module that only raises NotImplementedError and on one that only returns None; "
        "assert what the entry point returns, changes or raises"
    )
    return [Finding("tests.vacuous", f"tests/{name}", message) for name in both]
