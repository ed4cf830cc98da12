"""The mutants of a module: its files, each with one small fault, to see whether its tests notice (design:
module-directory, ship-gate).

Every file of `implementation/` is mutated, each fault a change of its syntax tree in place. Which mutants are taken, when
there are too many, depends on nothing but the source: of a function that stays as it is, the same ones, wherever it stands
in the file.

Comparisons and their boundaries, arithmetic, boolean operators, conditions, constants, defaults, bounds of slices and
ranges, lengths, returned values, parts of a result or names of a loop that change places, idioms taken for one another,
and calls and raises left out. A fault is one that a person could have made.

Not mutated is what no test could or need notice: docstrings, annotations, `__all__`, decorators, texts of errors, exception
classes and enumerations, assertions, guards against wrong types, clean-up, and options such as an encoding. Of a long table
the first and the last entry stand for all. Every mutant that behaves as the original does costs a sound module, so this errs
on the side of sparing.

Idioms that are taken for one another are each right for some values that the other is wrong for:

    a // b + 1                -(-a // b)            a division without a remainder
    math.ceil(x)              math.floor(x) + 1     a whole number
    math.floor(x), int(a / b) round(x)              a fraction over a half
    moment.replace(tzinfo=z)  moment.astimezone(z)  a moment of another zone

A module that has one of them is right only if its author knew which; a test shows it with a value where they differ. Such a
fault must be noticed, however many other mutants die.
"""

import ast
import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from ship_gate.source.files import ParsedFiles
from ship_gate.verdict import ENTRY_FILE

_ORDERED = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


class _Guards(NamedTuple):
    """Where a file compares with a limit.

    Args:
        comparisons: By a comparison's id and the place of its operator, the number.
        constants: By a constant's id, its number.
    """

    comparisons: dict[tuple[int, int], str]
    constants: dict[int, str]


def _guards_of(tree: ast.Module) -> _Guards:
    """The comparisons with numbers in conditions before a `raise`."""
    named = dict(_named_numbers(tree))
    found = _Guards({}, {})
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.body[-1], ast.Raise):
            for part in ast.walk(node.test):
                if isinstance(part, ast.Compare):
                    _note(part, named, found)
    return found


def _note(comparison: ast.Compare, named: dict[str, str], found: _Guards) -> None:
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


_NO_REMAINDER = "a division that leaves no remainder"
_WHOLE = "a whole number"
_OVER_A_HALF = "a fraction of more than a half"
_OTHER_ZONE = "a moment of another zone"


class _OtherIdiom(NamedTuple):
    """An expression that is easily taken for another.

    Args:
        source: The other one.
        value: What tells them apart.
        text: The other one as a person reads it, if that is shorter.
    """

    source: str
    value: str
    text: str = ""


def _other_idioms(node: ast.expr) -> Iterator[_OtherIdiom]:
    """What an expression is easily taken for."""
    match node:
        case ast.BinOp(ast.BinOp(a, ast.FloorDiv(), b), ast.Add(), ast.Constant(1)):
            yield _OtherIdiom(f"-(-{_inner(a)} // {_inner(b)})", _NO_REMAINDER)
        case ast.UnaryOp(ast.USub(), ast.BinOp(ast.UnaryOp(ast.USub(), a), ast.FloorDiv(), b)):
            yield _OtherIdiom(f"{_inner(a)} // {_inner(b)} + 1", _NO_REMAINDER)
        case ast.BinOp(
            ast.BinOp(ast.BinOp(a, ast.Add(), b), ast.Sub(), ast.Constant(1)), ast.FloorDiv(), again
        ) if _inner(b) == _inner(again):
            yield _OtherIdiom(f"{_inner(a)} // {_inner(b)} + 1", _NO_REMAINDER)
        case ast.Call(ast.Name("ceil") | ast.Attribute(ast.Name("math"), "ceil"), [x], []):
            yield _OtherIdiom(f"int({_inner(x)} // 1) + 1", _WHOLE)
        case ast.Call(ast.Name("floor") | ast.Attribute(ast.Name("math"), "floor"), [x], []):
            yield _OtherIdiom(f"round({_inner(x)})", _OVER_A_HALF)
        case ast.Call(ast.Name("int"), [ast.BinOp(_, ast.Div(), _) as x], []):
            yield _OtherIdiom(f"round({_inner(x)})", _OVER_A_HALF)
        case ast.Call(ast.Attribute(moment, "astimezone"), [zone], []):
            yield _OtherIdiom(f"{_inner(moment)}.replace(tzinfo={_inner(zone)})", _OTHER_ZONE)
        case ast.Call(ast.Attribute(moment, "replace"), [], [ast.keyword("tzinfo", ast.expr() as zone)]) if (
            not isinstance(zone, ast.Constant)
        ):
            # a moment without a zone cannot be converted; here any test of one notices
            naive = f"m.replace(tzinfo={_inner(zone)}, microsecond=m.microsecond ^ 1)"
            source = f"(lambda m: m.astimezone({_inner(zone)}) if m.tzinfo else {naive})({_inner(moment)})"
            text = f"{ast.unparse(moment)}.astimezone({ast.unparse(zone)})"
            yield _OtherIdiom(source, _OTHER_ZONE, text)
        case _:
            pass


def _inner(node: ast.expr) -> str:
    return f"({ast.unparse(node)})"


_FUNCTIONS = {"compile", "findall", "finditer", "fullmatch", "match", "search", "split", "sub", "subn"}
_SEARCHING = {"findall", "finditer", "search", "split", "sub", "subn"}
_PART = re.compile(
    r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?(?:P<\w+>|P=\w+\)|<?[=!]|[:>])?|[*+?]\??|\{[\d,]*\}\??|.", re.DOTALL
)
_OTHERS = {"+": "*", "*": "+", "+?": "*?", "*?": "+?", "?": ""}
_TURNED = {r"\d": r"\D", r"\w": r"\W", r"\s": r"\S", r"\D": r"\d", r"\W": r"\w", r"\S": r"\s"}


class _PatternChange(NamedTuple):
    """Another pattern, and what was changed, for a person."""

    pattern: str
    change: str


def _pattern_function(call: ast.AST, argument: ast.AST) -> str:
    """The function of `re` that a call gives an argument to as its pattern; empty if there is none."""
    match call:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr=name), args=[first, *others]) if (
            first is argument and name in _FUNCTIONS
        ):
            options = " ".join(map(ast.unparse, [*others, *(keyword.value for keyword in call.keywords)]))
            return "" if re.search(r"\bre\.(X|VERBOSE)\b", options) else name
        case _:
            return ""


def _other_patterns(pattern: str, function: str) -> Iterator[_PatternChange]:
    """The patterns with one fault each that can be compiled.

    Args:
        pattern: As it is written.
        function: Of `re`, that takes it; a missing anchor is a fault only where something is searched for.
    """
    parts = _PART.findall(pattern)
    if "".join(parts) != pattern:
        return
    for place, part in enumerate(parts):
        other = _other(part, function)
        if other is None:
            continue
        changed = "".join([*parts[:place], other, *parts[place + 1 :]])
        try:
            re.compile(changed)
        except (re.error, OverflowError, RecursionError):
            continue
        what = f"`{_writable(part)}` to `{_writable(other)}`" if other else f"`{part}` left out"
        yield _PatternChange(changed, f"{what} in the pattern {pattern!r}")


def _writable(part: str) -> str:
    """Surrogates, which no text that is printed or stored can hold, as their escapes."""
    return part.encode(errors="backslashreplace").decode()


def _other(part: str, function: str) -> str | None:
    if part in _OTHERS:
        return _OTHERS[part]
    if part in _TURNED:
        return _TURNED[part]
    if part.startswith("[") and len(part) > 2:
        return f"[{part[2:]}" if part.startswith("[^") else f"[^{part[1:]}"
    is_anchor = part in {"^", "$", r"\b"} and function in _SEARCHING
    return "" if is_anchor or (part == "$" and function == "match") else None


# options that change no value that a test could see, or only in ways that no contract speaks of
_OPTIONS = {
    "encoding",
    "errors",
    "strict",
    "maxsize",
    "newline",
    "flags",
    "slots",
    "frozen",
    "kw_only",
    "cls",
    "default",
}
_CLEANUP = {"close", "flush", "fsync", "sleep"}
_LONG = 4


def _equivalent_nodes(tree: ast.Module) -> set[int]:
    """The ids of the nodes that are not mutated."""
    equivalent = set[int]()
    for node in ast.walk(tree):
        for part in _equivalent_parts(node):
            equivalent.update(map(id, ast.walk(part)))
    return equivalent


def _equivalent_parts(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a node that are left as they are."""
    for field in ("annotation", "returns"):
        if isinstance(part := getattr(node, field, None), ast.AST):
            yield part
    if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
        yield from _of_definition(node)
    elif isinstance(node, (ast.Dict, ast.List, ast.Set, ast.Tuple)):
        yield from _inner_entries(node)
    elif isinstance(node, ast.stmt):
        yield from _of_statement(node)
    elif isinstance(node, ast.keyword) and node.arg in _OPTIONS:
        yield node
    elif isinstance(node, ast.Call) and _last_name(node.func) in {"encode", "decode"}:
        yield from node.args
    elif isinstance(node, ast.Call) and _is_logged(node.func):
        yield node


def _is_logged(function: ast.expr) -> bool:
    """Whether a logger is asked for, or told what nobody sees."""
    match function:
        case ast.Attribute(value=ast.Name(id=name), attr="debug" | "info"):
            return "log" in name.lower()
        case _:
            return _last_name(function) == "getLogger"


def _of_definition(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.AST]:
    yield from node.decorator_list
    if isinstance(node, ast.ClassDef):
        # members of an Enum are compared by identity, and their values belong to the surface
        kinds = ("Error", "Exception", "Warning", "Enum")
        if any(ast.unparse(base).endswith(kinds) for base in node.bases):
            yield node
    elif node.name in {"__repr__", "__str__"}:
        yield node


def _of_statement(node: ast.stmt) -> Iterator[ast.AST]:
    match node:
        case ast.Expr(value=ast.Constant()) | ast.Assert() | ast.Import() | ast.ImportFrom():
            yield node
        case ast.Raise(exc=ast.Call() as call):
            yield from _raised_parts(node, call)
        case ast.AnnAssign(annotation=annotation) if _last_name(annotation) == "TypeAlias":
            yield node
        case ast.Assign(value=ast.Call(func=called, args=[ast.Constant()], keywords=[])) if (
            _last_name(called) == "TypeVar"
        ):
            yield node
        case ast.Assign() | ast.AnnAssign():
            yield from _passed_assignment(node)
        case ast.If():
            yield from _type_guard(node)
        case ast.Expr(value=ast.Call(func=called) | ast.Await(value=ast.Call(func=called))):
            if _last_name(called) in _CLEANUP:
                yield node
        case _:
            pass


def _raised_parts(node: ast.Raise, call: ast.Call) -> Iterator[ast.AST]:
    yield from call.args
    yield from call.keywords
    name = ast.unparse(call.func)
    if name in {"AssertionError", "NotImplementedError"}:
        yield node  # it says that this cannot happen


def _passed_assignment(node: ast.Assign | ast.AnnAssign) -> Iterator[ast.AST]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    names = [target.id for target in targets if isinstance(target, ast.Name)]
    if any(name.startswith("__") or "message" in name.lower() for name in names):
        yield node


def _type_guard(node: ast.If) -> Iterator[ast.AST]:
    """`if not isinstance(x, str): raise TypeError(...)`: typed inputs never meet it."""
    match node.body:
        case [ast.Raise(exc=raised)] if raised is not None and "isinstance" in ast.unparse(node.test):
            if ast.unparse(raised).startswith("TypeError"):
                yield node.test
                yield node.body[0]
        case _:
            pass


def _inner_entries(node: ast.Dict | ast.List | ast.Set | ast.Tuple) -> Iterator[ast.AST]:
    entries = [*node.keys] if isinstance(node, ast.Dict) else [*node.elts]
    if len(entries) <= _LONG:
        return
    yield from (entry for entry in entries[1:-1] if entry is not None)
    if isinstance(node, ast.Dict):
        yield from node.values[1:-1]


def _last_name(node: ast.expr) -> str:
    return ast.unparse(node).rpartition(".")[2]


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
        self._equivalent = _equivalent_nodes(tree)
        self._guards = _guards_of(tree)

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
        for other in _other_idioms(node):
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
        if isinstance(node.value, str) and (function := _pattern_function(self._above(node), node)):
            for other in _other_patterns(node.value, function):
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


MODULE_LEVEL = "the module level"
"""The scope of code outside functions."""


class Mutant(NamedTuple):
    """One fault in one file.

    Args:
        path: The file, `implementation/__init__.py`.
        line: Where.
        scope: The function that holds it, with its file where that is not the first; or the module level.
        change: What was changed, as a person reads it.
        source: The whole file with the fault.
        limit: The number that the file accepts up to, if the fault moves it.
        value: What tells an idiom from the one that it was changed to.
        boundary: Whether the fault moves the boundary of a comparison.
        which: Which one it is, where several in a line read alike: `number 2 of 2 in the line`.
    """

    path: str
    line: int
    scope: str
    change: str
    source: str
    limit: str = ""
    value: str = ""
    boundary: bool = False
    which: str = ""

    @property
    def listed(self) -> str:
        """The change as findings list it."""
        return f"{self.change} ({self.which})" if self.which else self.change

    @property
    def location(self) -> str:
        """`implementation/__init__.py:12`."""
        return f"{self.path}:{self.line}"


def mutants_of(files: Mapping[str, bytes]) -> list[Mutant]:
    """Every mutant of an implementation, in the order of the source.

    Args:
        files: The files of a candidate, readable.
    """
    parsed = ParsedFiles.of(files)
    return _numbered(
        mutant for path in sorted(parsed.implementation()) for mutant in _of_file(parsed.tree(path), path)
    )


def _numbered(mutants: Iterable[Mutant]) -> list[Mutant]:
    """Mutants of which those that read alike say which they are, in the order of the source."""
    alike: dict[tuple[str, str], list[int]] = {}
    found = list(mutants)
    for place, mutant in enumerate(found):
        alike.setdefault((mutant.location, mutant.change), []).append(place)
    for places in alike.values():
        for number, place in enumerate(places, start=1) if len(places) > 1 else ():
            found[place] = found[place]._replace(which=f"number {number} of {len(places)} in the line")
    return found


def sampled(mutants: list[Mutant], most: int) -> list[Mutant]:
    """At most so many mutants, spread evenly over the functions, chosen by the digests of their changes: another draft with
    the same function is asked about the same faults of it.

    Args:
        mutants: Of `mutants_of`.
        most: How many.
    """
    if len(mutants) <= most:
        return mutants
    scopes: dict[str, list[tuple[str, int]]] = {}
    alike = Counter[tuple[str, str]]()
    for place, mutant in enumerate(mutants):
        change = mutant.scope, mutant.change
        alike[change] += 1
        digest = hashlib.sha256(" ".join((*change, str(alike[change]))).encode()).hexdigest()
        scopes.setdefault(mutant.scope, []).append((digest, place))
    waiting = [[place for _, place in sorted(scopes[scope])] for scope in sorted(scopes)]
    chosen: list[int] = []
    while len(chosen) < most:
        for places in waiting:
            if places and len(chosen) < most:
                chosen.append(places.pop(0))
    return [mutants[place] for place in sorted(chosen)]


def _of_file(tree: ast.Module, path: str) -> Iterator[Mutant]:
    prefix = "" if path == ENTRY_FILE else path.removeprefix("implementation/") + "::"
    scopes = _scopes(tree, prefix)
    for fault in Mutations(tree).found():
        undo = fault.apply()
        source = ast.unparse(ast.fix_missing_locations(tree))
        undo()
        line, scope = getattr(fault.node, "lineno", 1), scopes.get(id(fault.node), MODULE_LEVEL)
        yield Mutant(path, line, scope, fault.change, source, fault.limit, fault.value, fault.boundary)


def _scopes(tree: ast.Module, prefix: str) -> dict[int, str]:
    """The function that holds each node; a function within one belongs to the outer."""
    scopes: dict[int, str] = {}

    def enter(node: ast.AST, owner: str, scope: str) -> None:
        for child in ast.iter_child_nodes(node):
            inner = scope
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)) and not scope:
                inner = f"{prefix}{owner}{child.name}"
            if inner:
                scopes[id(child)] = inner
            enter(child, f"{child.name}." if isinstance(child, ast.ClassDef) else owner, inner)

    enter(tree, "", "")
    return scopes
