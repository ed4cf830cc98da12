"""Annotations as everyday Python writes them, in the normal form of a contract (design: module-directory).

`Optional[int]`, `typing.Union[int, None]`, `List["Node"]` and `dt.date` mean `int | None`, `list[Node]` and `date`. Nothing
else changes: a name that is none of these stays, and the rules of `boundary.types` say what is wrong with it.
"""

import ast
from collections.abc import Callable, Iterator

from ship_gate.base.containers import ABSTRACT
from ship_gate.contract.boundary.types import BOUNDARY_IMPORTS, is_class_name, normal_or_same
from ship_gate.syntax_tree import parse_expression

Meaning = Callable[[str], str]
"""From a name as it is written, `dt.date`, to its full name, `datetime.date`; empty if it is none of a library."""

_BARE = {
    **{f"{module}.{name}": name for name, module in BOUNDARY_IMPORTS.items()},
    **{f"typing.{name}": name.lower() for name in ("List", "Dict", "Set", "Tuple", "FrozenSet")},
    **{f"typing.{name}": name for name in ABSTRACT},
    **dict.fromkeys(("re.Pattern", "typing.Pattern"), "re.Pattern"),
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


def normal_default(node: ast.expr, meaning: Meaning) -> str:
    """The text of a default by bare names: `decimal.Decimal("1")` is `Decimal('1')`."""
    return ast.unparse(ast.fix_missing_locations(_BareNames(meaning).visit(node)))


def normal_type(text: str) -> str:
    """The same for the text of a type in a contract, which imports nothing; as it is if it is no expression."""
    try:
        node = parse_expression(text.strip()).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text
    try:
        return normal_or_same(ast.unparse(ast.fix_missing_locations(_InContract(_in_contract).visit(node))))
    except (SyntaxError, ValueError, RecursionError):
        return normal_or_same(ast.unparse(node))


def _in_contract(dotted: str) -> str:
    """What a name says by itself."""
    full = dotted if "." in dotted else f"typing.{dotted}"
    return full if full in {*_BARE, _OPTIONAL, _UNION} else ""


class _BareNames(ast.NodeTransformer):
    """Replaces the names of what a default is made with."""

    def __init__(self, meaning: Meaning) -> None:
        self._meaning = meaning

    def visit_Call(self, node: ast.Call) -> ast.expr:
        bare = bare_name(self._meaning(ast.unparse(node.func)))
        keywords = [ast.keyword(one.arg, self.visit(one.value)) for one in node.keywords]
        function = ast.Name(bare, ast.Load()) if bare else node.func
        return ast.Call(function, [self.visit(one) for one in node.args], keywords)


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
            return ast.Subscript(self._visit_base(node.value), self._visit_slice(node.slice), ast.Load())
        inner = self._visit_slice(node.slice)
        elements = inner.elts if isinstance(inner, ast.Tuple) else [inner]
        parts = [part for element in elements for part in union_parts(element)]
        if meant == _OPTIONAL:
            parts.append(ast.Constant(None))
        union = parts[0]
        for part in parts[1:]:
            union = ast.BinOp(union, ast.BitOr(), part)
        return union

    def _visit_base(self, node: ast.expr) -> ast.expr:
        return self._visit_name(node) if isinstance(node, ast.Name | ast.Attribute) else self.visit(node)

    def _visit_slice(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Tuple):
            return ast.Tuple([self.visit(part) for part in node.elts], ast.Load())
        return self.visit(node)

    def visit_List(self, node: ast.List) -> ast.expr:
        """What a callable is called with."""
        return ast.List([self.visit(part) for part in node.elts], ast.Load())

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        return ast.BinOp(self.visit(node.left), node.op, self.visit(node.right))


class _InContract(_NormalForm):
    """In a contract a bare name that a module may export, `Pattern`, is its own class; `Pattern[str]` is the library's, for
    own classes take no type parameters."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return node if is_class_name(node.id) else self._visit_name(node)


def union_parts(node: ast.expr) -> Iterator[ast.expr]:
    """The types of which a value may be: those of a union, or the type itself."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        yield from union_parts(node.left)
        yield from union_parts(node.right)
    else:
        yield node
