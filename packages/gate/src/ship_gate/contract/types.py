"""The types and literals that may cross a module's boundary (design: module-directory).

Types are texts in one normal form, `ast.unparse(ast.parse(t))`, by bare names. JSON's own types come first:
`dict` and `list` may be bare, as JSON's object and array; every other container names its elements. A CamelCase name that
is in no list is a class that the module or a declared dependency exports: its class statement (`class_statement`) gives its
fields, and the gate checks in the source that it exists. The types of single values are in `base.boundary_values`.
`normal_type` and `normal_annotation` write what everyday Python says another way, `Optional[int]` or `List["Node"]`, in
the normal form.

A parameter may be declared as a `Mapping`, `Sequence` or `Collection`, which says what the function needs of it; nothing
else may, for a returned value is one thing.

**Lazy types.** A whole parameter may be an `Iterable` or `Iterator`, and so may be the whole result. One constraint or
invariant says how many items there are at most: `takes at most 100 items`, `yields at most 100 items`. The gate counts
them itself, so no test has to show it. A whole parameter may be a `Callable[[A, B], R]`, which the module calls.

**The type variable** `T` stands for one type in all slots of a call, whichever the caller has. It is unbound: a function
that is generic over it takes values that cannot be hashed, ordered or added, unless it declares an error for them, and gives
back those that it was given. Where `T` is the key of a dict or an item of a set, it can be hashed. In source it is
`T = TypeVar("T")`. It has this one name, and stands in the inputs and outputs of functions alone.

Not checked here: whether the elements of a set and the keys of a dict are hashable (`possible_values`), and whether a
default is of its type.
"""

import ast
import builtins
import collections.abc
import keyword
import math
import re
import typing
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, NamedTuple

from ship_gate.base.boundary_values import (
    ABSTRACT,
    CALLABLE,
    CONTAINERS,
    ITERATORS,
    ROWS,
    SCALARS,
    TAKEN_CONTAINERS,
    TYPE_VARIABLE,
    BoundaryLimit,
)
from ship_gate.contract.contract import MicroModuleContract
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

_NormalText = str
"""A Python expression as `ast.unparse` writes it."""


class _Refused(Exception):  # noqa: N818 - it carries the sentence from the depth of a type to the top
    pass


def normal_expression(text: str) -> _NormalText:
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


_TRIED_TYPES = ("int", "str", "int | None", "tuple[str, int]", "list[int]", "dict[str, int]")
"""What the gate tries a generic function with, one type after the other."""

_WITHOUT_VALUE = ("None", "()", "frozenset()")
"""Defaults that hold no value of it."""

_UNHASHABLE = {"list[int]", "dict[str, int]"}


def is_generic(slot_type: str) -> bool:
    """Whether a type names the type variable; no type does that cannot be read."""
    try:
        return TYPE_VARIABLE in named(slot_type)
    except ValueError:
        return False


def tried_types(types: Sequence[str]) -> tuple[str, ...]:
    """What the types of a contract's slots are tried with: nothing if none is generic; only what can be hashed if it is."""
    if not any(map(is_generic, types)):
        return ()
    is_hashed = any(is_generic(held) for text in types for _, held in hashed_parts(text))
    return tuple(one for one in _TRIED_TYPES if not (is_hashed and one in _UNHASHABLE))


def type_variable_problems(inputs: Sequence[str], outputs: Sequence[str]) -> Iterator[str]:
    """What keeps the type variable of a contract from being locked.

    Args:
        inputs: The types of the inputs, those that can be read.
        outputs: Of the outputs.
    """
    if any(map(is_generic, [*inputs, *outputs])) and not any(map(_supplies, inputs)):
        yield (
            f"inputs: no input gives a value of {TYPE_VARIABLE}, which stands for a type that the caller has; take a "
            f"`{TYPE_VARIABLE}` or a container of it, or name the type"
        )


def _supplies(slot_type: str) -> bool:
    """Whether an input gives values of the type variable: it holds some, or is called for them."""
    tree = parse_expression(slot_type)
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and ast.unparse(node.value) == CALLABLE:
            assert isinstance(node.slice, ast.Tuple)  # its type was checked
            return is_generic(ast.unparse(node.slice.elts[1]))
    return is_generic(slot_type)


def type_variable_default_problem(slot_type: str, default: str) -> str:
    """Why a parameter of a generic type cannot have a default; empty if it can."""
    if not is_generic(slot_type) or default in _WITHOUT_VALUE:
        return ""
    return (
        f"{default!r} is of one type, where {TYPE_VARIABLE} is of the caller's; write `{TYPE_VARIABLE} | None`, defaults to "
        "None, or leave it out"
    )


_BOUND = re.compile(r"(takes|yields) at most ([1-9][0-9]*) items?")


def is_item_bound(slot_type: str, text: str) -> bool:
    """Whether a constraint or invariant of a slot of this type states how many items there are at most."""
    return _BOUND.fullmatch(text) is not None and is_iterable(slot_type)


def is_iterable(slot_type: str) -> bool:
    """Whether a slot is an iterable or iterator."""
    found = _lazy_part(slot_type)
    return found is not None and _base(found) in ITERATORS


def is_lazy(slot_type: str) -> bool:
    """Whether a slot is an iterable, an iterator or a callable."""
    return _lazy_part(slot_type) is not None


def lazy_type_problems(contract: MicroModuleContract, many: Collection[str]) -> Iterator[str]:
    """What keeps the iterables, iterators and callables of a contract from being locked.

    Args:
        contract: Slots whose types do not cross are passed over.
        many: The inputs that stand for any number of arguments.
    """
    for index, slot in enumerate(contract.inputs):
        if not type_problem(slot.type, taken=True):
            alone = slot.name not in many
            yield from _slot_problems(f"inputs.{index}.constraints", slot.type, slot.constraints, alone=alone)
    for index, slot in enumerate(contract.outputs):
        if not type_problem(slot.type, returned=True):
            alone = len(contract.outputs) == 1
            yield from _slot_problems(f"outputs.{index}.invariants", slot.type, slot.invariants, alone=alone)


def _slot_problems(path: str, slot_type: str, texts: list[str], *, alone: bool) -> Iterator[str]:
    verb = "takes" if path.startswith("inputs") else "yields"
    if not is_lazy(slot_type):
        return
    if not alone:
        yield (
            f"{path.rpartition('.')[0]}.type: {slot_type!r} stands alone: it is the one output, or one plain "
            "parameter; write list[...] beside others"
        )
    if not is_iterable(slot_type):
        return
    most = BoundaryLimit.ITEMS.most
    found = [match for text in texts if (match := _BOUND.fullmatch(text))]
    stated = [int(match[2]) for match in found if match[1] == verb]
    if len(stated) != 1 or len(found) != 1:
        yield f"{path}: how many items it {verb} at most is not stated, once; add `{verb} at most 100 items`"
    elif stated[0] > most:
        yield f"{path}: {stated[0]} items are more than can be tried; state {most} at most"


def stated_bound(slot_type: str, texts: list[str], verb: str) -> int:
    """How many items a slot takes or yields at most; 0 if it is no iterable, or says nothing."""
    if not is_iterable(slot_type):
        return 0
    found = [match for text in texts if (match := _BOUND.fullmatch(text)) and match[1] == verb]
    return int(found[0][2]) if len(found) == 1 else 0


def is_callable(slot_type: str) -> bool:
    """Whether a slot is a function that the module calls."""
    found = _lazy_part(slot_type)
    return found is not None and _base(found) == CALLABLE


def _lazy_part(slot_type: str) -> ast.Subscript | None:
    """The iterable, iterator or callable of `Iterable[T]` and `Iterable[T] | None`."""
    try:
        node = parse_expression(slot_type).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    sides = [node.left, node.right] if isinstance(node, ast.BinOp) else [node]
    found = [
        side for side in sides if isinstance(side, ast.Subscript) and _base(side) in {*ITERATORS, CALLABLE}
    ]
    return found[0] if found else None


def _base(node: ast.Subscript) -> str:
    return node.value.id if isinstance(node.value, ast.Name) else ""
