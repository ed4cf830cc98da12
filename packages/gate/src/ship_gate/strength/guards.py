"""The numbers that a file compares with before it raises: the limits of what it accepts (design: ship-gate)."""

import ast
from collections.abc import Iterator
from typing import NamedTuple

_ORDERED = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


class Guards(NamedTuple):
    """Where a file compares with a limit.

    Args:
        comparisons: By a comparison's id and the place of its operator, the number.
        constants: By a constant's id, its number.
    """

    comparisons: dict[tuple[int, int], str]
    constants: dict[int, str]


def guards_of(tree: ast.Module) -> Guards:
    """The comparisons with numbers in conditions before a `raise`."""
    named = dict(_named_numbers(tree))
    found = Guards({}, {})
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.body[-1], ast.Raise):
            for part in ast.walk(node.test):
                if isinstance(part, ast.Compare):
                    _note(part, named, found)
    return found


def _note(comparison: ast.Compare, named: dict[str, str], found: Guards) -> None:
    sides = [comparison.left, *comparison.comparators]
    for place, operator in enumerate(comparison.ops):
        for side in sides[place : place + 2] if isinstance(operator, _ORDERED) else ():
            number = named.get(side.id) if isinstance(side, ast.Name) else _number(side)
            if number is not None:
                found.comparisons[(id(comparison), place)] = number
                found.constants[id(side)] = number


def _named_numbers(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in tree.body:
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ):
                if (number := _number(value)) is not None:
                    yield name, number
            case _:
                pass


def _number(node: ast.expr) -> str | None:
    match node:
        case ast.Constant(value=bool()):
            return None
        case ast.Constant(value=int() | float() as value):
            return str(value)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return str(-value)
        case _:
            return None
