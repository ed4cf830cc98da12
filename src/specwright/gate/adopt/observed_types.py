"""The type that values have in common, by their source or `repr` (design: adoption)."""

import ast
from collections.abc import Sequence

from specwright.domain.contract.boundary.types import type_problem
from specwright.syntax_tree import parse_expression

_LEAST = 1
_CALLS = {"Decimal": "Decimal", "frozenset": "frozenset", "UUID": "UUID", "PosixPath": "Path", "Path": "Path"}
_DATES = {
    "datetime.datetime": "datetime",
    "datetime.date": "date",
    "datetime.time": "time",
    "datetime.timedelta": "timedelta",
}


def inferred_type(values: Sequence[str]) -> str:
    """The type of values; a union where they differ, empty where one of them has no type of the boundary."""
    found: dict[str, None] = {}
    for value in values:
        try:
            text = _type_of(parse_expression(value).body)
        except (SyntaxError, ValueError, RecursionError):
            return ""
        if text is None:
            return ""
        found[text] = None
    if len(found) > 1:
        # an empty container is of whatever type the others are
        found = {text: None for text in found if "?" not in text}
    ordered = sorted(found, key=lambda text: text == "None")
    text = " | ".join(ordered)
    return "" if len(values) < _LEAST or "?" in text or type_problem(text) else text


def _type_of(node: ast.expr) -> str | None:
    match node:
        case ast.Constant(value=None):
            return "None"
        case ast.Constant(value=value):
            return type(value).__name__ if isinstance(value, bool | int | float | str | bytes) else None
        case ast.UnaryOp(operand=operand):
            return _type_of(operand)
        case ast.Name(id="nan" | "inf"):
            return "float"
        case ast.List(elts=parts) | ast.Set(elts=parts):
            inner = _together(parts)
            return None if inner is None else f"{type(node).__name__.lower()}[{inner}]"
        case ast.Tuple(elts=parts):
            types = [_type_of(part) for part in parts]
            return f"tuple[{', '.join(map(str, types))}]" if parts and None not in types else None
        case ast.Dict(keys=keys, values=parts):
            key, inner = _together([one for one in keys if one]), _together(parts)
            return None if key is None or inner is None else f"dict[{key}, {inner}]"
        case ast.Call(func=function):
            name = ast.unparse(function)
            return _DATES.get(name) or _CALLS.get(name.rpartition(".")[2])
        case _:
            return None


def _together(parts: Sequence[ast.expr]) -> str | None:
    types = list(dict.fromkeys(_type_of(part) for part in parts))
    if None in types:
        return None
    return " | ".join(str(one) for one in types) or "?"
