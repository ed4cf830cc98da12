"""Calls by which a draft is tried: ordinary and dangerous values of its types, one parameter at a time (design: adoption).

They show which errors come out and of what type the results are. The gate's fuzz tries far more; this much is enough to
find an example of most errors.
"""

import ast
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence

from specwright.domain.base.value_types import CALLABLE, ITERATORS, TYPE_VARIABLE, VALUE_TYPES
from specwright.domain.contract.boundary.annotations import union_parts
from specwright.domain.contract.boundary.class_statement import ClassStatement
from specwright.domain.contract.boundary.lazy_types import is_iterable
from specwright.domain.contract.boundary.types import BOUNDARY_IMPORTS
from specwright.domain.contract.contract import MicroModuleContract
from specwright.domain.contract.rules import default_of, is_any_number, is_keyword_only, own_statements
from specwright.gate.source.files import Definition
from specwright.syntax_tree import parse_expression

_VALUES = {
    "str": ["'a'", "''", "'Hello, World!'", "'42'", "' '", "'é'", "'a b-c_d'", "'-1'", "'2024-02-29'"],
    "int": ["1", "0", "-1", "2", "12", "100", "5000", "1000000000"],
    "float": ["1.5", "0.0", "-1.0", "1000000.0", "float('nan')", "float('inf')"],
    "bool": ["True", "False"],
    "bytes": ["b'a'", "b''", "b'\\xff'"],
    "None": ["None"],
    "dict": ["{'a': 1}", "{}"],
    "list": ["[1, 2]", "[]"],
    **{one.name: list(one.examples) for one in VALUE_TYPES},
    TYPE_VARIABLE: ["1", "'a'", "None", "(1, 'b')"],
}  # fmt: skip
MANY = 150
"""How many items a long iterable has that a draft is tried with."""

_LONG = 1500
"""How long a text or a list is of which a draft may yield the parts."""

_MOST = 100
_MOST_OF_ONE = 12
_DEPTH = 3
_FEW = 3


def probe_calls(
    contract: MicroModuleContract, documented: Mapping[str, Sequence[str]], function: Definition
) -> list[str]:
    """Calls of a draft, as code without the import of the module.

    Args:
        contract: The draft's.
        documented: Values that documents give to a parameter, as source.
        function: Its source, whose constants are tried too.
    """
    statements = own_statements(contract)
    constants = _constants(function)
    values: dict[str, list[str]] = {}
    is_lazy = any(is_iterable(slot.type) for slot in contract.outputs)
    for slot in contract.inputs:
        typed = [*_typed(slot.type, statements, _DEPTH)]
        own = [text for text in constants if _is_of(text, slot.type)]
        long = [*_long(typed)] if is_lazy else []
        chosen = [*documented.get(slot.name, ())[:3], *typed[:_MOST_OF_ONE], *long, *own]
        values[slot.name] = list(dict.fromkeys(chosen))[: 2 * _MOST_OF_ONE]
        if not values[slot.name]:
            return []
    needed = [slot.name for slot in contract.inputs if default_of(slot) is None and not is_any_number(slot)]
    calls: dict[str, None] = {_call(contract, {name: values[name][0] for name in needed}): None}
    for name, choices in values.items():
        for choice in choices:
            calls[_call(contract, {**{other: values[other][0] for other in needed}, name: choice})] = None
    first = contract.inputs[0].name if contract.inputs else ""
    for name in (one for one, choices in values.items() if one != first and len(choices) <= _FEW):
        base = {other: values[other][0] for other in needed}
        for other, choice in itertools.product(values[name], values[first]):
            calls[_call(contract, {**base, first: choice, name: other})] = None
    for place in range(1, 4):
        together = {name: values[name][min(place, len(values[name]) - 1)] for name in needed}
        calls[_call(contract, together)] = None
    return [_imports(call) + call for call in list(calls)[:_MOST]]


def _long(values: Sequence[str]) -> Iterator[str]:
    """Long texts and lists, by the short ones of a type."""
    if "'a'" in values:
        yield f"'a b\\n' * {_LONG}"
    if whole := next(
        (one for one in values if one.startswith("[") and one.endswith("]") and len(one) > 2), ""
    ):
        yield f"{whole} * {_LONG}"


def _call(contract: MicroModuleContract, arguments: Mapping[str, str]) -> str:
    parts: list[str] = []
    by_place = True
    for slot in contract.inputs:
        if slot.name not in arguments:
            by_place = False
            continue
        by_place = by_place and not is_keyword_only(slot)
        if not is_any_number(slot) or by_place:
            parts.append(arguments[slot.name] if by_place else f"{slot.name}={arguments[slot.name]}")
    call = f"{contract.name}({', '.join(parts)})"
    call = f"asyncio.run({call})" if not contract.modes.sync else call
    return f"list({call})" if any(is_iterable(slot.type) for slot in contract.outputs) else call


def _imports(call: str) -> str:
    names = [name for name in BOUNDARY_IMPORTS if re.search(rf"\b{name}\(", call)]
    lines = [f"from {BOUNDARY_IMPORTS[name]} import {name}\n" for name in names]
    plain = [f"import {name}\n" for name in ("asyncio", "re") if f"{name}." in call]
    return "".join([*plain, *lines])


def _typed(text: str, statements: Mapping[str, ClassStatement], depth: int) -> Iterator[str]:
    """Values of a type, as source; ordinary ones first."""
    try:
        node = parse_expression(text).body
    except (SyntaxError, ValueError, RecursionError):
        return
    sources = [_of_part(part, statements, depth) for part in union_parts(node)]
    waiting = [iter(source) for source in sources]
    while waiting:
        for source in list(waiting):
            value = next(source, None)
            if value is None:
                waiting.remove(source)
            else:
                yield value


def _of_part(node: ast.expr, statements: Mapping[str, ClassStatement], depth: int) -> list[str]:
    if isinstance(node, ast.Subscript) and ast.unparse(node) not in _VALUES:
        elements = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return _container(ast.unparse(node.value), elements, statements, depth)
    name = ast.unparse(node)
    if name in statements:
        return _of_class(statements[name], statements, depth)
    return _VALUES.get(name, [])


def _container(
    base: str, elements: Sequence[ast.expr], statements: Mapping[str, ClassStatement], depth: int
) -> list[str]:
    if base == "Literal":
        return [ast.unparse(one) for one in elements]
    if base == CALLABLE:
        return _functions(elements, statements, depth)
    if not depth:
        return []
    inner = [
        [*_typed(ast.unparse(one), statements, depth - 1)][:4]
        for one in elements
        if ast.unparse(one) != "..."
    ]
    if not inner or not all(inner):
        return []
    first = inner[0]
    match base:
        case "list" | "Sequence" | "Collection" | "Iterable" | "Iterator":
            lists = [f"[{', '.join(first[:2])}]", "[]", f"[{first[0]}]", f"[{', '.join([*first, first[0]])}]"]
            # one that takes all of a long iterable has no bound
            lists += [f"[{one}] * {MANY}" for one in first] if base in ITERATORS else []
            return [f"iter({one})" for one in lists] if base == "Iterator" else lists
        case "dict" | "Mapping":
            pairs = [f"{key}: {inner[-1][0]}" for key in first[:2]]
            return [f"{{{', '.join(pairs)}}}", "{}"]
        case "set" | "frozenset":
            made = f"{{{', '.join(first[:2])}}}"
            return [made, "set()"] if base == "set" else [f"frozenset({made})", "frozenset()"]
        case "tuple" if ast.unparse(elements[-1]) == "...":
            return [f"({', '.join(first[:2])},)", "()"]
        case "tuple":
            return [f"({', '.join(one[0] for one in inner)},)"]
        case _:
            return []


def _functions(
    elements: Sequence[ast.expr], statements: Mapping[str, ClassStatement], depth: int
) -> list[str]:
    """Functions that give the same for whatever they are called with."""
    taken, returns = elements
    names = "abcdefghijklmnopqrstuvwxyz"[: len(taken.elts) if isinstance(taken, ast.List) else 1]
    header = f"lambda {', '.join(names)}:" if names else "lambda:"
    return [f"{header} {value}" for value in [*_typed(ast.unparse(returns), statements, depth)][:3]]


def _of_class(statement: ClassStatement, statements: Mapping[str, ClassStatement], depth: int) -> list[str]:
    if statement.is_enum:
        return [f"{statement.name}.{field.name}" for field in statement.fields]
    if not depth:
        return []
    values = [[*_typed(field.type, statements, depth - 1)] for field in statement.fields]
    if not all(values):
        return []
    pairs = [f"{field.name}={one[0]}" for field, one in zip(statement.fields, values, strict=True)]
    return [f"{statement.name}({', '.join(pairs)})"]


def _constants(function: Definition) -> list[str]:
    """The texts and numbers in a function's body, numbers with their neighbours."""
    found: dict[str, None] = {}
    body = function.body[1:] if ast.get_docstring(function, clean=False) else function.body
    for statement in body:
        for node in ast.walk(statement):
            match node:
                case ast.Constant(value=bool()):
                    pass
                case ast.Constant(value=int() as number):
                    found |= dict.fromkeys(str(one) for one in (number, number - 1, number + 1))
                case ast.Constant(value=str() | bytes() as text) if len(text) <= 40:
                    found[repr(text)] = None
                case _:
                    pass
    return [*found]


def _is_of(text: str, declared: str) -> bool:
    kind = type(ast.literal_eval(text)).__name__
    return kind in {part.strip() for part in declared.split("|")}


def fits(value: str, declared: str) -> bool | None:
    """Whether a value, by its `repr`, is of a type; None if that cannot be told."""
    try:
        shown, wanted = parse_expression(value).body, parse_expression(declared).body
    except (SyntaxError, ValueError, RecursionError):
        return None
    found = [_is_a(shown, part) for part in union_parts(wanted)]
    return True if any(found) else None if None in found else False


_KINDS: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "bytes": (bytes,),
    "bool": (bool,),
    "None": (type(None),),
}


def _is_a(shown: ast.expr, wanted: ast.expr) -> bool | None:
    base = ast.unparse(wanted.value if isinstance(wanted, ast.Subscript) else wanted)
    if base == TYPE_VARIABLE:
        return None
    if isinstance(shown, ast.UnaryOp):
        shown = shown.operand
    match shown:
        case ast.Constant(value=value):
            if base == "Literal":
                return None
            if base in {"int", "float"}:
                return (
                    isinstance(value, int | float)
                    and not isinstance(value, bool)
                    and (base == "float" or isinstance(value, int))
                )
            return isinstance(value, _KINDS.get(base, ()))
        case ast.List() | ast.Tuple() | ast.Set() | ast.Dict():
            return base == type(shown).__name__.lower() and _elements_fit(shown, wanted)
        case ast.Name(id="nan" | "inf"):
            return base == "float"
        case _:
            return (
                False
                if base in {*_KINDS, "int", "float", "list", "dict", "tuple"} and isinstance(shown, ast.Call)
                else None
            )


def _elements_fit(shown: ast.List | ast.Tuple | ast.Set | ast.Dict, wanted: ast.expr) -> bool | None:
    if not isinstance(wanted, ast.Subscript):
        return True
    parts = wanted.slice.elts if isinstance(wanted.slice, ast.Tuple) else [wanted.slice]
    if isinstance(shown, ast.Dict):
        pairs = [*((key, parts[0]) for key in shown.keys if key), *((one, parts[-1]) for one in shown.values)]
    elif isinstance(shown, ast.Tuple) and ast.unparse(parts[-1]) != "...":
        if len(parts) != len(shown.elts):
            return False
        pairs = list(zip(shown.elts, parts, strict=True))
    else:
        pairs = [(one, parts[0]) for one in shown.elts]
    found = [fits(ast.unparse(one), ast.unparse(part)) for one, part in pairs]
    return False if False in found else None if None in found else True
