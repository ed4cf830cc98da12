"""Assertions that hold whatever the module does (§8.1, D-S8-06).

A text or a container that is written out is true, a value equals itself, a length is not negative.

Left out: assertions that are merely weak, such as `is not None`; the stubs and the mutants tell those.
"""

import ast

__all__ = ["always_holds"]

_TRUE = {"repr", "ascii", "type", "iter", "zip", "map", "filter", "enumerate", "reversed"}
"""What these return is true whatever they are given."""


def always_holds(test: ast.expr) -> str:
    """What of an assertion always holds, as it is written; empty if it may fail."""
    return ast.unparse(test)[:80] if _holds(test) else ""


def _holds(test: ast.expr) -> bool:
    match test:
        case ast.BoolOp(op=ast.Or(), values=values):
            return any(map(_holds, values))
        case ast.BoolOp(values=values):
            return all(map(_holds, values))
        case ast.IfExp(test=ast.Constant(value=chosen), body=body, orelse=orelse):
            return _holds(body if chosen else orelse)
        case ast.IfExp(body=body, orelse=orelse):
            return _holds(body) and _holds(orelse)
        case ast.NamedExpr(value=value):
            return _holds(value)
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return _compares_nothing(left, op, right)
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return _is_true_call(name, arguments)
        case _:
            return _is_true_value(test)


def _is_true_call(name: str, arguments: list[ast.expr]) -> bool:
    if name == "isinstance" and len(arguments) > 1:
        return isinstance(arguments[1], ast.Name) and arguments[1].id == "object"
    if name == "str" and arguments:
        # the text of a comparison is "True" or "False"
        return isinstance(arguments[0], (ast.Compare, ast.BoolOp))
    return name in _TRUE and bool(arguments)


def _is_true_value(test: ast.expr) -> bool:
    match test:
        case ast.GeneratorExp() | ast.JoinedStr() | ast.Lambda():
            return True
        case ast.Constant(value=value):
            return bool(value)
        case ast.Dict(keys=keys):
            return bool(keys)
        case ast.Tuple(elts=elements) | ast.List(elts=elements) | ast.Set(elts=elements):
            return any(not isinstance(element, ast.Starred) for element in elements)
        case _:
            return not _calls_or_names(test)


def _compares_nothing(left: ast.expr, op: ast.cmpop, right: ast.expr) -> bool:
    if not _calls_or_names(left) and not _calls_or_names(right):
        return True
    same = ast.dump(left) == ast.dump(right) and not any(
        isinstance(part, ast.Call) for part in ast.walk(left)
    )
    length = isinstance(left, ast.Call) and isinstance(left.func, ast.Name) and left.func.id == "len"
    bound = right.value if isinstance(right, ast.Constant) else None
    never_negative = length and (
        (isinstance(op, ast.GtE) and bound == 0) or (isinstance(op, ast.Gt) and bound == -1)
    )
    return (same and isinstance(op, (ast.Eq, ast.Is, ast.LtE, ast.GtE))) or never_negative


def _calls_or_names(node: ast.expr) -> bool:
    return any(isinstance(part, (ast.Name, ast.Call)) for part in ast.walk(node))
