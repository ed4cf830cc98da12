"""Annotations as everyday Python writes them, in the normal form of a contract (design: module-directory).

`Optional[int]`, `typing.Union[int, None]`, `List["Node"]` and `dt.date` mean `int | None`, `list[Node]` and `date`. Nothing
else changes: a name that is none of these stays, and the rules of `boundary_types` say what is wrong with it.
"""

import ast
from collections.abc import Callable, Iterator

from specwright.domain.contract.boundary_types import BOUNDARY_IMPORTS, normal_or_same
from specwright.syntax_tree import parse_expression

Meaning = Callable[[str], str]
"""From a name as it is written, `dt.date`, to its full name, `datetime.date`; empty if it is none of a library."""

_BARE = {
    **{f"{module}.{name}": name for name, module in BOUNDARY_IMPORTS.items()},
    **{f"typing.{name}": name.lower() for name in ("List", "Dict", "Set", "Tuple", "FrozenSet")},
}
_OPTIONAL, _UNION = "typing.Optional", "typing.Union"


def bare_name(full: str) -> str:
    """The boundary's name for a class of the library, `date` for `datetime.date`; empty if it has none."""
    return _BARE.get(full, "")


def normal_annotation(node: ast.expr, meaning: Meaning) -> str:
    """The text of an annotation by bare names, unions and without quotes around forward references."""
    try:
        return ast.unparse(ast.fix_missing_locations(_NormalForm(meaning).visit(node)))
    except (SyntaxError, ValueError, RecursionError):
        return ast.unparse(node)


def normal_type(text: str) -> str:
    """The same for the text of a type in a contract, which imports nothing; as it is if it is no expression."""
    try:
        node = parse_expression(text.strip()).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text
    return normal_or_same(normal_annotation(node, _in_contract))


def _in_contract(dotted: str) -> str:
    """What a name says by itself."""
    full = dotted if "." in dotted else f"typing.{dotted}"
    return full if full in {*_BARE, _OPTIONAL, _UNION} else ""


class _NormalForm(ast.NodeTransformer):
    """Replaces what has a plainer form; the tree that it is given stays as it is where it is shared."""

    def __init__(self, meaning: Meaning) -> None:
        self._meaning = meaning

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if isinstance(node.value, str):
            return self.visit(parse_expression(node.value.strip()).body)
        return node

    def _visit_name(self, node: ast.Name | ast.Attribute) -> ast.expr:
        bare = bare_name(self._meaning(ast.unparse(node)))
        return ast.Name(bare, ast.Load()) if bare else node

    visit_Name = visit_Attribute = _visit_name  # noqa: N815 - the transformer's protocol

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        meant = self._meaning(ast.unparse(node.value))
        if meant == "typing.Literal":
            return ast.Subscript(ast.Name("Literal", ast.Load()), node.slice, ast.Load())
        if meant not in {_OPTIONAL, _UNION}:
            return ast.Subscript(self.visit(node.value), self._visit_slice(node.slice), ast.Load())
        inner = self._visit_slice(node.slice)
        elements = inner.elts if isinstance(inner, ast.Tuple) else [inner]
        parts = [part for element in elements for part in union_parts(element)]
        if meant == _OPTIONAL:
            parts.append(ast.Constant(None))
        union = parts[0]
        for part in parts[1:]:
            union = ast.BinOp(union, ast.BitOr(), part)
        return union

    def _visit_slice(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Tuple):
            return ast.Tuple([self.visit(part) for part in node.elts], ast.Load())
        return self.visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        return ast.BinOp(self.visit(node.left), node.op, self.visit(node.right))


def union_parts(node: ast.expr) -> Iterator[ast.expr]:
    """The types of which a value may be: those of a union, or the type itself."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        yield from union_parts(node.left)
        yield from union_parts(node.right)
    else:
        yield node
