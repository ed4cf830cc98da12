"""Names of a loop over values that stand in the source, as in `for name in ("price", "tax")` (design: ship-gate).

What such a name means is as plain as a constant, as long as nothing else binds it: Python reads it in the function that
the loop is in, or in the comprehension.
"""

import ast
from collections.abc import Callable
from itertools import pairwise
from typing import cast

from ship_gate.source.names import Names

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def is_listed(name: ast.Name, names: Names, allowed: Callable[[ast.expr], bool]) -> bool:
    """Whether a name can only mean one of the allowed values of a tuple, list or set written where its loop is.

    Args:
        name: Where it is read.
        names: Of its file.
        allowed: Whether a value may be listed.
    """
    path = [name, *names.above(name)]
    functions = [place for place, node in enumerate(path) if isinstance(node, _Function)]
    if not functions:
        return False
    within = path[: functions[-1] + 1]
    loops = (_is_loop_of(node, under, name.id) for under, node in pairwise(within))
    has_class = any(isinstance(node, ast.ClassDef) for node in within)
    return any(loops) and not has_class and _binds_nothing_else(within[-1], name.id, names, allowed)


def _is_loop_of(node: ast.AST, under: ast.AST, name: str) -> bool:
    """Whether a loop gives the name its meaning in the part of it that is read."""
    match node:
        case ast.For(target=ast.Name(id=bound)):
            return bound == name
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            # the first list is read outside of the comprehension
            targets = [one.target for one in node.generators]
            is_bound = any(isinstance(one, ast.Name) and one.id == name for one in targets)
            return is_bound and under is not node.generators[0]
        case _:
            return False


def _binds_nothing_else(
    function: ast.AST, name: str, names: Names, allowed: Callable[[ast.expr], bool]
) -> bool:
    for node in ast.walk(function):
        if binds(node, name) and not (isinstance(node, ast.Name) and _is_of_a_list(node, names, allowed)):
            return False
    return True


def binds(node: ast.AST, name: str) -> bool:
    """Whether a node gives a name a meaning: it is assigned or deleted, or stands as text, as those of parameters, imports,
    definitions, captures and `global` do."""
    if isinstance(node, ast.Name):
        return node.id == name and not isinstance(node.ctx, ast.Load)
    if isinstance(node, ast.Attribute | ast.Constant | ast.keyword):
        return False
    found = set[str]()
    for _, value in ast.iter_fields(node):
        several = cast("list[object]", value) if isinstance(value, list) else [value]
        found |= {text.partition(".")[0] for text in several if isinstance(text, str)}
    return name in found


def _is_of_a_list(target: ast.Name, names: Names, allowed: Callable[[ast.expr], bool]) -> bool:
    match names.parents.get(id(target)):
        case ast.For(target=bound, iter=listed) | ast.comprehension(target=bound, iter=listed):
            is_list = isinstance(listed, ast.Tuple | ast.List | ast.Set)
            return bound is target and is_list and all(map(allowed, listed.elts))
        case _:
            return False
