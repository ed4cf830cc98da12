"""The faults that are put into a module, each a change of its syntax tree in place (design: module-directory, ship-gate).

Comparisons and their boundaries, arithmetic, boolean operators, conditions, constants, defaults, bounds of slices and
ranges, lengths, returned values, parts of a result or names of a loop that change places, idioms taken for one another,
and calls and raises left out. A fault is one that a person could have made.
"""

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, cast

from ship_gate.strength.equivalent_mutants import equivalent_nodes
from ship_gate.strength.guards import guards_of
from ship_gate.strength.idioms import other_idioms
from ship_gate.strength.regex_mutations import other_patterns, pattern_function

_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], str, str]] = {
    ast.Lt: (ast.LtE, "<", "<="),
    ast.LtE: (ast.Lt, "<=", "<"),
    ast.Gt: (ast.GtE, ">", ">="),
    ast.GtE: (ast.Gt, ">=", ">"),
    ast.Eq: (ast.NotEq, "==", "!="),
    ast.NotEq: (ast.Eq, "!=", "=="),
    ast.In: (ast.NotIn, "in", "not in"),
    ast.NotIn: (ast.In, "not in", "in"),
    ast.Is: (ast.IsNot, "is", "is not"),
    ast.IsNot: (ast.Is, "is not", "is"),
}
_ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_OPERATORS: dict[type[ast.operator], tuple[type[ast.operator], str, str]] = {
    ast.Add: (ast.Sub, "+", "-"),
    ast.Sub: (ast.Add, "-", "+"),
    ast.Mult: (ast.FloorDiv, "*", "//"),
    ast.Div: (ast.Mult, "/", "*"),
    ast.FloorDiv: (ast.Mult, "//", "*"),
    ast.Mod: (ast.Mult, "%", "*"),
    ast.Pow: (ast.Mult, "**", "*"),
    ast.BitOr: (ast.BitAnd, "|", "&"),
    ast.BitAnd: (ast.BitOr, "&", "|"),
    ast.BitXor: (ast.BitOr, "^", "|"),
    ast.LShift: (ast.RShift, "<<", ">>"),
    ast.RShift: (ast.LShift, ">>", "<<"),
}
_CALLS = {"min": "max", "max": "min", "any": "all", "all": "any"}
_TEXT_CALLS = {
    "strip", "lstrip", "rstrip", "lower", "upper", "casefold", "title", "capitalize", "swapcase"
}  # fmt: skip
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
_SHOWN = 70


class Mutation(NamedTuple):
    """A change of a syntax tree in place, and the way back.

    Args:
        node: What is changed.
        change: How, as a person reads it.
        apply: Changes it, and gives what undoes that.
        limit: The number that the file accepts up to, if that is moved.
        value: What tells an idiom from the one that it was changed to.
        boundary: Whether it moves the boundary of a comparison.
    """

    node: ast.AST
    change: str
    apply: Callable[[], Callable[[], None]]
    limit: str = ""
    value: str = ""
    boundary: bool = False


class Mutations:
    """The faults of one file."""

    def __init__(self, tree: ast.Module) -> None:
        self._tree = tree
        self._parents = {id(child): node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
        self._equivalent = equivalent_nodes(tree)
        self._guards = guards_of(tree)

    def found(self) -> Iterator[Mutation]:
        """Every fault, by its place in the source."""
        nodes = [node for node in ast.walk(self._tree) if id(node) not in self._equivalent]
        # a stable order: by line and column, and as the tree is walked
        nodes.sort(key=lambda node: (getattr(node, "lineno", 0), getattr(node, "col_offset", 0)))
        for node in nodes:
            yield from self._of(node)

    def _of(self, node: ast.AST) -> Iterator[Mutation]:
        if isinstance(node, (ast.expr, ast.comprehension)):
            yield from self._of_expression(node)
        if isinstance(node, ast.expr):
            yield from self._idioms(node)
        elif isinstance(node, ast.stmt):
            yield from self._of_statement(node)

    def _idioms(self, node: ast.expr) -> Iterator[Mutation]:
        for other in other_idioms(node):
            new = ast.parse(other.source, mode="eval").body
            change = f"`{shown(node)}` to `{other.text or shown(new)}`"
            yield self._replaced(node, new, change)._replace(value=other.value)

    def _of_statement(self, node: ast.stmt) -> Iterator[Mutation]:
        match node:
            case ast.AugAssign():
                yield from self._arithmetic(node)
            case ast.If(test=test):
                yield from self._condition(node, test)
            case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
                yield self._set(node, "value", ast.Constant(None), f"`{shown(node)}` to `return None`")
            case ast.Raise() | ast.Expr(value=ast.Call() | ast.Await()):
                yield self._replaced(node, ast.copy_location(ast.Pass(), node), f"`{shown(node)}` left out")
            case ast.Continue():
                yield self._replaced(node, ast.copy_location(ast.Break(), node), "`continue` to `break`")
            case _:
                pass

    def _of_expression(self, node: ast.expr | ast.comprehension) -> Iterator[Mutation]:
        match node:
            case ast.Compare():
                yield from self._comparison(node)
            case ast.BinOp():
                yield from self._arithmetic(node)
            case ast.BoolOp() | ast.UnaryOp():
                yield from self._logic(node)
            case ast.IfExp(test=test):
                yield from self._condition(node, test)
            case ast.comprehension():
                yield from self._filter(node)
            case ast.Constant():
                yield from self._constant(node)
            case ast.Slice():
                yield from self._slice(node)
            case ast.Call():
                yield from self._call(node)
            case ast.Tuple(elts=[first, second, *others]) if self._can_change_places(node):
                yield self._set(
                    node, "elts", [second, first, *others], f"two places of `{shown(node)}` swapped"
                )
            case _:
                pass

    def _can_change_places(self, node: ast.Tuple) -> bool:
        """Whether it is a result of several parts, or the names of a loop."""
        above = self._above(node)
        first, second = node.elts[:2]
        if isinstance(above, ast.Return):
            return ast.dump(first) != ast.dump(second)
        return isinstance(above, (ast.For, ast.comprehension)) and isinstance(node.ctx, ast.Store)

    def _logic(self, node: ast.BoolOp | ast.UnaryOp) -> Iterator[Mutation]:
        match node:
            case ast.BoolOp(op=ast.And()):
                yield self._set(node, "op", ast.Or(), f"`and` to `or` in `{shown(node)}`")
            case ast.BoolOp():
                yield self._set(node, "op", ast.And(), f"`or` to `and` in `{shown(node)}`")
            case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand) if not isinstance(
                operand, ast.Constant
            ):
                yield self._replaced(node, operand, f"`{shown(node)}` to `{shown(operand)}`")
            case _:
                pass

    def _filter(self, node: ast.comprehension) -> Iterator[Mutation]:
        for place, condition in enumerate(node.ifs):
            if isinstance(condition, (ast.Call, ast.Name, ast.Attribute, ast.Subscript)):
                change = f"`if {shown(condition)}` to `if not {shown(condition)}`"
                yield self._set_at(condition, node.ifs, place, ast.UnaryOp(ast.Not(), condition), change)

    def _call(self, node: ast.Call) -> Iterator[Mutation]:
        match node:
            case ast.Call(func=ast.Name(id=name) as function) if name in _CALLS:
                change = f"`{name}` to `{_CALLS[name]}` in `{shown(node)}`"
                yield self._set(function, "id", _CALLS[name], change)
            case ast.Call(func=ast.Name(id="abs" | "round"), args=[first, *_]):
                yield self._replaced(node, first, f"`{shown(node)}` to `{shown(first)}`")
            case ast.Call(func=ast.Name(id="len"), args=[_]) if not isinstance(
                self._above(node), ast.Compare
            ):
                yield self._moved(node, node)
            case ast.Call(func=ast.Name(id="range"), args=[*_, last]) if not isinstance(last, ast.Constant):
                if len(node.args) < 3:
                    yield self._moved(last, last)
            case ast.Call(func=ast.Attribute(value=text, attr=method), args=[], keywords=[]) if (
                method in _TEXT_CALLS
            ):
                yield self._replaced(node, text, f"`{shown(node)}` to `{shown(text)}`")
            case _:
                pass

    def _above(self, node: ast.AST) -> ast.AST:
        return self._parents[id(node)]

    def _moved(self, node: ast.expr, at: ast.expr) -> Mutation:
        moved = ast.BinOp(node, ast.Add(), ast.Constant(1))
        return self._replaced(at, moved, f"`{shown(node)}` to `{shown(node)} + 1`")

    def _comparison(self, node: ast.Compare) -> Iterator[Mutation]:
        for place, operator in enumerate(node.ops):
            new, old_text, new_text = _COMPARISONS[type(operator)]
            change = f"`{old_text}` to `{new_text}` in `{shown(node)}`"
            limit = self._guards.comparisons.get((id(node), place), "")
            fault = self._set_at(node, node.ops, place, new(), change)
            yield fault._replace(limit=limit, boundary=isinstance(operator, _ORDERS))

    def _arithmetic(self, node: ast.BinOp | ast.AugAssign) -> Iterator[Mutation]:
        found = _OPERATORS.get(type(node.op))
        sides = [node.left, node.right] if isinstance(node, ast.BinOp) else [node.value]
        # texts cannot be subtracted: the fault would show by itself
        texts = isinstance(node.op, (ast.Mod, ast.Add)) and any(map(_is_text, sides))
        if found and not texts:
            new, old_text, new_text = found
            yield self._set(node, "op", new(), f"`{old_text}` to `{new_text}` in `{shown(node)}`")

    def _condition(self, node: ast.If | ast.IfExp, test: ast.expr) -> Iterator[Mutation]:
        # comparisons and boolean operators are changed by themselves
        if isinstance(test, (ast.Call, ast.Name, ast.Attribute, ast.Subscript, ast.NamedExpr)):
            change = f"`if {shown(test)}` to `if not {shown(test)}`"
            yield self._set(node, "test", ast.UnaryOp(ast.Not(), test), change)

    def _constant(self, node: ast.Constant) -> Iterator[Mutation]:
        if isinstance(node.value, str) and (function := pattern_function(self._above(node), node)):
            for other in other_patterns(node.value, function):
                yield self._set(node, "value", other.pattern, other.change)
        for new in self._other_returned(node) or self._other_characters(node) or _other_constant(node.value):
            within = self._parents.get(id(node))
            if isinstance(within, ast.JoinedStr):
                whole = shown(within)
                yield self._set(
                    node, "value", new, f"{str(node.value)[:_SHOWN]!r} to {str(new)[:_SHOWN]!r} in `{whole}`"
                )
            else:
                limit = self._guards.constants.get(id(node), "")
                change = f"`{shown(node)}` to `{repr(new)[:_SHOWN]}`"
                yield self._set(node, "value", new, change)._replace(limit=limit, boundary=self._bounds(node))

    def _bounds(self, node: ast.Constant) -> bool:
        """Whether it is a number that something is compared with by order."""
        above = self._parents.get(id(node))
        is_compared = isinstance(above, ast.Compare) and all(isinstance(one, _ORDERS) for one in above.ops)
        return is_compared and isinstance(node.value, (int, float))

    def _other_returned(self, node: ast.Constant) -> Sequence[object]:
        """For a returned text, another that the function returns: of its kind, and yet the wrong one."""
        within: ast.AST | None = self._parents.get(id(node))
        if not (isinstance(node.value, str) and isinstance(within, ast.Return)):
            return []
        while within is not None and not isinstance(within, (ast.FunctionDef, ast.AsyncFunctionDef)):
            within = self._parents.get(id(within))
        returned = [
            part.value.value
            for part in (ast.walk(within) if within else ())
            if isinstance(part, ast.Return) and isinstance(part.value, ast.Constant)
        ]
        return [other for other in returned if isinstance(other, str) and other != node.value][:1]

    def _other_characters(self, node: ast.Constant) -> Sequence[object]:
        """For a text that is a set of characters, the set without its last: a test knows those that belong to it."""
        if not (isinstance(node.value, (str, bytes)) and len(node.value) > 1):
            return []
        match self._parents.get(id(node)):
            case ast.Call(func=ast.Name(id="set" | "frozenset")):
                return [node.value[:-1]]
            case ast.Call(func=ast.Attribute(attr="strip" | "lstrip" | "rstrip")):
                return [node.value[:-1]]
            case _:
                return []

    def _slice(self, node: ast.Slice) -> Iterator[Mutation]:
        for bound in ("lower", "upper"):
            value: ast.expr | None = getattr(node, bound)
            if value is not None and not isinstance(value, (ast.Constant, ast.UnaryOp)):
                moved = ast.BinOp(value, ast.Add(), ast.Constant(1))
                yield self._set(
                    value, bound, moved, f"the slice `{shown(node)}` moved by one at its {bound} end", node
                )

    def _set(
        self, node: ast.AST, field: str, new: object, change: str, owner: ast.AST | None = None
    ) -> Mutation:
        owner = owner or node

        def apply() -> Callable[[], None]:
            old = getattr(owner, field)
            setattr(owner, field, new)
            return lambda: setattr(owner, field, old)

        return Mutation(node, change, apply)

    def _set_at(self, node: ast.AST, owner: list[Any], place: int, new: object, change: str) -> Mutation:
        def apply() -> Callable[[], None]:
            old = owner[place]
            owner[place] = new
            return lambda: owner.__setitem__(place, old)

        return Mutation(node, change, apply)

    def _replaced(self, node: ast.AST, new: ast.AST, change: str) -> Mutation:
        """The node itself gives way to another, wherever it hangs."""
        parent = self._parents[id(node)]
        for field, value in ast.iter_fields(parent):
            if value is node:
                return self._set(node, field, new, change, parent)
            nodes = cast("list[ast.AST]", value) if isinstance(value, list) else []
            for place, part in enumerate(nodes):
                if part is node:
                    return self._set_at(node, nodes, place, new, change)
        raise AssertionError(f"{node} does not hang on its parent")


def _other_constant(value: object) -> Sequence[object]:
    match value:
        case bool():
            return [not value]
        case int() | float():
            return [value + 1]
        case str() if _NUMBER.fullmatch(value):
            # still a number, so that the fault is one of value and not of form
            return [value[:-1] + str((int(value[-1]) + 1) % 10)]
        case str():
            return [value + "X"]
        case bytes():
            return [value + b"X"]
        case _:
            return []


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes))
    )


def shown(node: ast.AST) -> str:
    """An expression or statement in one short line."""
    text = ast.unparse(node).replace("\n", " ")
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
