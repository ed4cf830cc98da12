"""Code of an example as a person reads it: without imports, long calls over several lines, and what makes it hard to read
(design: executable-spec)."""

import ast
from collections.abc import Iterator, Sequence

from specwright.domain.acceptance.records import AcceptanceExample
from specwright.domain.contract.examples_file import python_tree

WIDTH = 72
"""Characters from which a call is broken."""

_INDENT = "    "
_TRUTHS = ("True", "False")
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_BRACKETS: dict[type[ast.expr], tuple[str, str]] = {
    ast.List: ("[", "]"),
    ast.Tuple: ("(", ")"),
    ast.Set: ("{", "}"),
    ast.ListComp: ("[", "]"),
    ast.SetComp: ("{", "}"),
    ast.GeneratorExp: ("(", ")"),
}

Item = tuple[str, ast.expr]
"""A part of a call or of a list: what stands before it, and the part."""


def readable_code(code: str) -> list[str]:
    """The lines of an example without its imports; they mean the same.

    Args:
        code: Of an example or a property.
    """
    tree = python_tree(code)
    nodes = tree.body if tree else []
    return [
        line
        for node in nodes
        if not isinstance(node, ast.Import | ast.ImportFrom)
        for line in _statement(node)
    ]


def readable_value(text: str) -> list[str]:
    """The lines of a result: a `repr` over several lines where it is long, anything else as it is."""
    try:
        tree = ast.parse(text, mode="eval")
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return [text]
    lines = list(_lines(tree.body, "", "", ""))
    return lines if len(lines) > 1 else [text]


def hard_to_read(example: AcceptanceExample) -> str:
    """What of an example a person cannot judge at a look; empty if nothing is."""
    tree = python_tree(example.code)
    last = tree.body[-1] if tree and tree.body else None
    if not isinstance(last, ast.Expr):
        return ""
    compared = isinstance(last.value, ast.Compare | ast.BoolOp) or _is_call_of(last.value, ("all", "any"))
    if compared and example.gives in _TRUTHS:
        return f"compares, and gives {example.gives}: a person sees no value; end with the value itself"
    nested = any(
        isinstance(inner, _COMPREHENSIONS) and inner is not outer
        for outer in ast.walk(last)
        if isinstance(outer, _COMPREHENSIONS)
        for inner in ast.walk(outer)
    )
    return "holds a comprehension within another: write plain values and calls" if nested else ""


def _is_call_of(node: ast.expr, names: Sequence[str]) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names


def _statement(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.Expr):
        yield from _lines(node.value, "", "", "")
    elif isinstance(node, ast.Assign) and len(node.targets) == 1:
        yield from _lines(node.value, "", f"{ast.unparse(node.targets[0])} = ", "")
    else:
        yield from ast.unparse(node).splitlines()


def _lines(node: ast.expr, indent: str, before: str, after: str) -> Iterator[str]:
    """An expression with what stands before and after it, on one line if it fits."""
    text = f"{indent}{before}{ast.unparse(node)}{after}"
    parts = _parts(node) if len(text) > WIDTH else None
    if parts is None:
        yield from _divided(node, indent, before, after) if len(text) > WIDTH else [text]
        return
    begin, items, end, comma = parts
    yield f"{indent}{before}{begin}"
    for lead, item in items:
        yield from _lines(item, indent + _INDENT, lead, comma)
    if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp):
        for loop in node.generators:
            yield f"{indent}{_INDENT}{ast.unparse(loop).strip()}"
    yield f"{indent}{end}{after}"


def _divided(node: ast.expr, indent: str, before: str, after: str) -> Iterator[str]:
    """An expression that no bracket encloses: broken within the side that has one."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        sides = (node.left, node.comparators[0])
        sign = ast.unparse(node)[len(ast.unparse(node.left)) : -len(ast.unparse(sides[1]))]
    elif isinstance(node, ast.Attribute):
        yield from _lines(node.value, indent, before, f".{node.attr}{after}")
        return
    elif isinstance(node, ast.Subscript) and _parts(node.value):
        yield from _lines(node.value, indent, before, f"[{ast.unparse(node.slice)}]{after}")
        return
    else:
        yield f"{indent}{before}{ast.unparse(node)}{after}"
        return
    left, right = (ast.unparse(side) for side in sides)
    if _parts(sides[0]) and len(left) >= len(right):
        yield from _lines(sides[0], indent, before, f"{sign}{right}{after}")
    else:
        yield from _lines(sides[1], indent, f"{before}{left}{sign}", after)


def _parts(node: ast.expr) -> tuple[str, list[Item], str, str] | None:
    """How an expression begins, its parts, how it ends, and what stands after a part; None if it cannot be broken."""
    if isinstance(node, ast.Call) and (node.args or node.keywords):
        items = [("", one) for one in node.args]
        items += [(f"{one.arg}=" if one.arg else "**", one.value) for one in node.keywords]
        return f"{ast.unparse(node.func)}(", items, ")", ","
    if isinstance(node, ast.Dict) and node.keys:
        pairs = zip(node.keys, node.values, strict=True)
        items = [(f"{ast.unparse(key)}: " if key else "**", value) for key, value in pairs]
        return "{", items, "}", ","
    if isinstance(node, ast.List | ast.Tuple | ast.Set) and node.elts:
        begin, end = _BRACKETS[type(node)]
        return begin, [("", one) for one in node.elts], end, ","
    if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp):
        begin, end = _BRACKETS[type(node)]
        return begin, [("", node.elt)], end, ""
    return None
