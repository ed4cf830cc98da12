"""The types and literals that may cross a module's boundary (design: module-directory).

Types are texts in one normal form, `ast.unparse(ast.parse(t))`, by bare names. JSON's own types come first:
`dict` and `list` may be bare, as JSON's object and array; every other container names its elements. A CamelCase name that
is in no list is a class that the module or a declared dependency exports: its class statement (`class_statement`) gives its
fields, and the gate checks in the source that it exists. The types of single values are in `base.scalars`.

A parameter may be declared as a `Mapping`, `Sequence` or `Collection`, which says what the function needs of it; nothing
else may, for a returned value is one thing. A whole parameter may be an `Iterable` or `Iterator`, and so may be the whole
result; `lazy_types` has what such a slot says besides. A whole parameter may be a `Callable[[A, B], R]`. The types of
parameters and results may hold `T`, the type variable (`type_variable`).

Not checked here: whether the elements of a set and the keys of a dict are hashable (`possible_values`), and whether a
default is of its type."""

import ast
import builtins
import collections.abc
import keyword
import math
import re
import typing
import warnings
from typing import Any, NamedTuple

from ship_gate.base.containers import (
    ABSTRACT,
    CALLABLE,
    CONTAINERS,
    ITERATORS,
    TAKEN_CONTAINERS,
    TYPE_VARIABLE,
)
from ship_gate.base.scalars import ROWS, SCALARS
from ship_gate.syntax_tree import parse_expression

BOUNDARY_IMPORTS = {
    "Literal": "typing",
    **{row.name: row.module for row in SCALARS if row.module and row.is_bare},
    **dict.fromkeys(ABSTRACT, "collections.abc"),
}
"""Where the boundary types that are not builtins come from."""

_JSON = ("str", "int", "float", "bool")
_NAMED_TYPES = tuple(row.name for row in SCALARS if row.name not in {*_JSON, "bytes"})
BOUNDARY_TYPES = (
    *(*_JSON, "None", "list", "dict", "tuple", "set", "frozenset", "bytes", "Literal"),
    *_NAMED_TYPES,
)
"""The types of a contract, as the planner's prompt lists them."""

_BARE_NAMES = {"dict", "list", *(row.name for row in SCALARS if row.is_bare)}
_MADE: dict[str, Any] = {
    "frozenset": frozenset,
    **{row.name: row.kind for row in SCALARS if row.name in _NAMED_TYPES and row.is_bare and row.is_hashable},
}
"""What a default may be made with."""
_HASHING = {"set", "frozenset", "dict", "Mapping"}
_CLASS_NAME = re.compile(r"[A-Z][A-Za-z0-9]*")
_REFUSED = {*dir(typing), *dir(collections.abc), *dir(builtins), "Enum", "StrEnum", "IntEnum"} - {
    *("Match", "Pattern", "Text")  # old names of things that live elsewhere, and good names for one's own
}
_LONGEST = 500

NormalText = str
"""A Python expression as `ast.unparse` writes it."""


class _Refused(Exception):  # noqa: N818 - it carries the sentence from the depth of a type to the top
    pass


def normal_expression(text: str) -> NormalText:
    """The normal form of an expression.

    Raises:
        ValueError: not one Python expression, or longer than 500 characters.
    """
    return ast.unparse(_parse(text))


def normal_or_same(text: str) -> str:
    """The normal form, or the text as it is where it has none; `type_problem` reports why."""
    try:
        return normal_expression(text)
    except ValueError:
        return text


def type_problem(text: str, *, taken: bool = False, returned: bool = False) -> str:
    """What keeps a type from crossing the boundary, with the advice; empty if nothing does.

    Args:
        text: The type.
        taken: Whether it is a parameter's, which may be declared as what it needs, such as `Sequence[int]`.
        returned: Whether it is the whole result, which may be an iterator.
    """
    try:
        node = _parse(text)
        if TYPE_VARIABLE in named(text) and not (taken or returned):
            return f"{TYPE_VARIABLE!r} stands for a type in the inputs and outputs of a function alone; name the type"
        _check(node, taken=taken, whole=taken or (returned and isinstance(node, ast.Subscript)))
        if (normal := normal_expression(text)) != text:
            return f"{text!r} is not in normal form; write {normal!r}"
    except (ValueError, _Refused) as error:
        return str(error)
    return ""


def literal_problem(text: str) -> str:
    """What keeps a text from being a default: it must be an immutable constant in normal form."""
    try:
        node = _parse(text)
        if not _is_constant(node):
            return (
                f"{text!r} is no immutable literal; write None, a number, string, bytes, a member of an Enum, a value "
                "such as `Decimal('0.5')`, `date(2024, 1, 1)`, `Path('a')` or `frozenset()`, or a tuple of these"
            )
        if (normal := ast.unparse(node)) != text:
            return f"{text!r} is not in normal form; write {normal!r}"
        # the class of a member is not here yet, and Fraction('1e999999999') would take all time and memory
        if not members_named(text) and "Fraction" not in text:
            try:
                eval(text, {"__builtins__": {}}, _MADE)  # noqa: S307 - of constants and these classes alone
            except Exception as error:  # each class has errors of its own
                return f"{text!r} is no value: {type(error).__name__}: {error}"
    except ValueError as error:
        return str(error)
    return ""


def members_named(text: str) -> tuple[tuple[str, str], ...]:
    """The members of Enums in a default, `Mode.OPEN`, as the class and the member; none if it is no expression."""
    try:
        return tuple(
            (node.value.id, node.attr)
            for node in _walk(_parse(text))
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        )
    except ValueError:
        return ()


def is_class_name(name: str) -> bool:
    """Whether a name can be a class that a module exports: CamelCase, and none of Python's own."""
    return bool(_CLASS_NAME.fullmatch(name)) and name not in _REFUSED and name not in BOUNDARY_IMPORTS


def identifier_problem(name: str) -> str:
    """Why a name cannot stand for a parameter, a result or a field; empty if it can."""
    if not (name.isascii() and name.isidentifier()):
        return f"{name!r} is not an ASCII identifier; use letters, digits and underscores"
    if keyword.iskeyword(name):
        return f"{name!r} is a Python keyword; choose another name"
    if name.startswith("__"):
        return f"{name!r} starts with two underscores; choose a plain name"
    return ""


def class_name_problem(name: str) -> str:
    """Why a module cannot export a class of this name; empty if it can."""
    if is_class_name(name):
        return ""
    if _CLASS_NAME.fullmatch(name):
        return f"{name!r} is a name of Python's own; choose another"
    return f"{name!r} is no name of a class; write it like `PaidBill`"


def named(text: str) -> tuple[str, ...]:
    """Every bare name in a type, in the order of its text, each once; strings in a Literal do not count."""
    names: dict[str, None] = {}
    for node in _walk(_parse(text)):
        if isinstance(node, ast.Name):
            names[node.id] = None
    return tuple(names)


def class_names(text: str) -> tuple[str, ...]:
    """The exported classes that a type names, in the order of its text; none if it is no type."""
    try:
        return tuple(name for name in named(text) if is_class_name(name))
    except ValueError:
        return ()


def hashed_parts(text: str) -> collections.abc.Iterator[tuple[str, str]]:
    """The parts of a type whose values are hashed, each behind its container."""
    for node in _walk(_parse(text)):
        if isinstance(node, ast.Subscript) and (base := ast.unparse(node.value)) in _HASHING:
            held = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) else node.slice
            yield base, ast.unparse(held)


class _Subscript(NamedTuple):
    base: str
    elements: list[ast.expr]


def _parse(text: str) -> ast.expr:
    if len(text) > _LONGEST:
        raise ValueError(f"{text[:40]!r}... is longer than {_LONGEST} characters; name a class for it")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            node = parse_expression(text.strip()).body
            ast.unparse(node)  # what nests deeper than Python goes can be read, but not be written
            return node
    except (SyntaxError, ValueError, RecursionError, MemoryError, UnicodeError) as error:
        raise ValueError(f"{text!r} is not a Python expression") from error


def _walk(node: ast.AST) -> collections.abc.Iterator[ast.AST]:
    """Depth first, in the order of the text (`ast.walk` goes by breadth)."""
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _walk(child)


def _check(node: ast.expr, *, taken: bool, whole: bool = False) -> None:
    match node:
        case ast.Name(id=name):
            _check_name(name)
        case ast.Constant(value=None):
            return
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            _check(left, taken=taken, whole=whole and _is_none(right))
            _check(right, taken=taken, whole=whole and _is_none(left))
        case ast.Subscript(value=ast.Name(id=base), slice=inner):
            elements = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            if base in {*ITERATORS, CALLABLE}:
                _check_lazy(_Subscript(base, elements), taken=taken, whole=whole)
            else:
                _check_subscript(_Subscript(base, elements), taken=taken)
        case ast.Subscript() if ast.unparse(node) in ROWS:
            return
        case ast.Attribute() if ast.unparse(node) == "re.Pattern":
            raise _Refused("'re.Pattern' lacks what it matches; write re.Pattern[str] or re.Pattern[bytes]")
        case ast.Attribute(attr=attr):
            raise _Refused(f"{ast.unparse(node)!r} is a dotted name; write the bare name {attr!r}")
        case _:
            raise _Refused(
                f"{ast.unparse(node)!r} is not a type of the boundary; write bare names, `X | None`, list[...]"
            )


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _check_name(name: str) -> None:
    if name in _BARE_NAMES or name == TYPE_VARIABLE or is_class_name(name):
        return
    if name == CALLABLE:
        raise _Refused(f"{name!r} lacks its types; write Callable[[str], int]")
    if name in {"tuple", "set", "frozenset", *ABSTRACT}:
        raise _Refused(f"{name!r} lacks its elements; write {name}[...]")
    if name in {"Any", "object"}:
        raise _Refused(f"{name!r} says nothing about the value; name the types that it can have")
    raise _Refused(
        f"{name!r} does not cross a module's boundary; use JSON types, bytes, tuple, set, frozenset, "
        f"Literal, {', '.join(_NAMED_TYPES)}, or a class that the module exports; "
        "write `X | None` for an optional"
    )


def _check_lazy(node: _Subscript, *, taken: bool, whole: bool) -> None:
    """An iterable, iterator or callable: a slot by itself, and no part of another type."""
    if node.base == CALLABLE:
        if not (whole and taken):
            raise _Refused(f"{CALLABLE!r} is for a whole parameter alone; values cross, functions do not")
        if len(node.elements) != 2 or not isinstance(node.elements[0], ast.List):
            raise _Refused(f"{CALLABLE!r} names the types that it is called with; write Callable[[str], int]")
        for part in (*node.elements[0].elts, node.elements[1]):
            _check(part, taken=False)
        return
    if not whole:
        raise _Refused(
            f"{node.base!r} is for a whole parameter or the whole result; write list[...], which is what there is"
        )
    _check_arity(node, 1)
    _check(node.elements[0], taken=taken)


def _check_subscript(node: _Subscript, *, taken: bool) -> None:
    if node.base in {"Optional", "Union"}:
        written = " | ".join([*map(ast.unparse, node.elements), *(["None"] * (node.base == "Optional"))])
        raise _Refused(f"{node.base!r} has a plainer form; write {written!r}")
    if node.base == "Literal":
        for value in node.elements:
            if not _is_scalar(value) or _is_float(value):
                raise _Refused(
                    f"Literal[{ast.unparse(value)}] is no literal; list texts, integers, bytes, bools, None"
                )
        return
    if node.base == "tuple":
        _check_tuple(node.elements, taken=taken)
        return
    if node.base in TAKEN_CONTAINERS and not taken:
        plainer = "dict" if node.base == "Mapping" else "list"
        raise _Refused(f"{node.base!r} is for parameters alone; write {plainer}[...], which is what there is")
    arity = {**CONTAINERS, **TAKEN_CONTAINERS}
    if node.base not in arity:
        _check_name(node.base)
        raise _Refused(f"{node.base!r} takes no type parameters; write the bare name")
    _check_arity(node, arity[node.base])
    for element in node.elements:
        _check(element, taken=taken)


def _check_arity(node: _Subscript, arity: int) -> None:
    if len(node.elements) != arity:
        raise _Refused(f"{node.base}[...] takes {arity} type parameter(s), got {len(node.elements)}")


def _check_tuple(elements: list[ast.expr], *, taken: bool) -> None:
    if len(elements) == 2 and isinstance(elements[1], ast.Constant) and elements[1].value is ...:
        elements = elements[:1]
    for element in elements:
        _check(element, taken=taken)


def _is_float(node: ast.expr) -> bool:
    return any(isinstance(part, ast.Constant) and isinstance(part.value, float) for part in ast.walk(node))


def _is_scalar(node: ast.expr) -> bool:
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return not isinstance(value, bool) and math.isfinite(value)
        case ast.Constant(value=float() as value):
            return math.isfinite(value)
        case ast.Constant(value=value):
            return value is None or isinstance(value, (bool, int, str, bytes))
        case _:
            return False


def _is_constant(node: ast.expr) -> bool:
    match node:
        case ast.Tuple(elts=elements):
            return all(map(_is_constant, elements))
        case ast.Attribute(value=ast.Name(id=name), attr=member):
            return is_class_name(name) and not member.startswith("_")
        case ast.Call(func=ast.Name(id="frozenset"), args=[ast.Set(elts=elements)], keywords=[]):
            return all(map(_is_constant, elements))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=keywords):
            values = [*arguments, *(keyword.value for keyword in keywords)]
            return name in _MADE and all(map(_is_constant, values)) and all(one.arg for one in keywords)
        case _:
            return _is_scalar(node)
