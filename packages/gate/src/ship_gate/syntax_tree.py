"""Python's parser for several threads at a time (design: ship-gate: the gate's stages run side by side).

CPython up to 3.12 counts the depth of the trees that all threads make in one number. Threads that meet there are told
that the depth is wrong, of source that is sound; asked again, it is read.
"""

import ast

_MOST_TRIES = 50


def parse_module(source: str | bytes, filename: str = "<unknown>") -> ast.Module:
    """The tree of a file.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: as `ast.parse`.
    """
    for _ in range(_MOST_TRIES):
        try:
            return ast.parse(source, filename)
        except SystemError:
            continue
    return ast.parse(source, filename)


def parse_expression(text: str) -> ast.Expression:
    """The tree of an expression.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: as `ast.parse`.
    """
    for _ in range(_MOST_TRIES):
        try:
            return ast.parse(text, mode="eval")
        except SystemError:
            continue
    return ast.parse(text, mode="eval")


def imported_roots(tree: ast.Module) -> set[str]:
    """The packages and modules at the top of what a file imports; none of its own package."""
    roots: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            roots |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            roots.add(node.module.partition(".")[0])
    return roots
