"""Whether one reader can judge a module (design: contracts).

source.size     an implementation of more statements than that; its largest parts are named
"""

import ast
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ship_gate.contract.rules import ReadingLimit
from ship_gate.findings import Finding, FindingCode
from ship_gate.verdict import ENTRY_FILE

_SHOWN = 3


class _Part(NamedTuple):
    """A function or class at the top of a file, with its statements."""

    statements: int
    name: str
    where: str


def size_findings(files: Iterable[tuple[str, ast.Module]]) -> Iterator[Finding]:
    """A finding for an implementation that is too large.

    Args:
        files: Its files by path.
    """
    parts = [part for path, tree in files for part in _parts(path, tree)]
    total = sum(part.statements for part in parts)
    if total <= ReadingLimit.MODULE.most:
        return
    largest = sorted((part for part in parts if part.name), key=lambda part: -part.statements)[:_SHOWN]
    named = ", ".join(f"`{part.name}` at {part.where} ({part.statements})" for part in largest)
    yield Finding(
        FindingCode.SOURCE_SIZE,
        ENTRY_FILE,
        f"the implementation has {total} statements, and one reader judges {ReadingLimit.MODULE.most} at most; its largest "
        f"parts are {named}. Make a module of a part that takes values and gives a value, with a contract of its own, and "
        "have this one depend on it; a contract that leaves no such part asks for too much: split it by its outputs, or by "
        "what it reads and what it does with it",
    )


def _parts(path: str, tree: ast.Module) -> Iterator[_Part]:
    for node in tree.body:
        named = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        count = sum(isinstance(one, ast.stmt) and not _is_docstring(one) for one in ast.walk(node))
        yield _Part(count, node.name if named else "", f"{path}:{node.lineno}")


def _is_docstring(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
