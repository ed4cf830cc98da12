"""Whether there are values for what a contract says: what locks can be kept by a module (design: module-directory).

A contract may be well formed and still ask for what no module can do: a set of lists holds nothing, as lists cannot be
hashed; an Enum of whole numbers has no member `'open'`; an error depends on nothing where nothing is given; a code does not
come back where nothing is returned that could say it; no test can look at nothing.
Each is refused when the contract is locked.

Left out: what the texts ask for, which code does not read.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence

from ship_gate.base.boundary_values import CONTAINERS, SCALARS, TAKEN_CONTAINERS
from ship_gate.contract.class_statement import ClassStatement
from ship_gate.contract.contract import MicroModuleContract, SurfaceKind
from ship_gate.contract.types import class_names, hashed_parts, is_lazy, union_parts
from ship_gate.syntax_tree import parse_expression

_UNHASHABLE = {"dict", "list", "set", *(row.name for row in SCALARS if not row.is_hashable)}
_OF_ENUM: dict[str, type] = {"IntEnum": int, "StrEnum": str}
_FREE_TEXT = {"dict", "list", *(row.name for row in SCALARS if row.says == "text")}
"""Types that may hold any text."""
_NUMBERS = {row.name for row in SCALARS if row.says == "number"}

Known = Mapping[str, ClassStatement]


def possibility_problems(contract: MicroModuleContract, known: Known, *, is_called: bool) -> Iterator[str]:
    """What a contract asks for that no module can do, by its place.

    Args:
        contract: Its types can be read.
        known: The classes that it states.
        is_called: Whether there is a function.
    """
    yield from _type_problems(contract, known)
    yield from _member_problems(known)
    if is_called and not contract.effects:
        yield from _nothing_differs(contract)
    outputs = [output.type for output in contract.outputs]
    for index, error in enumerate(contract.error_surfaces):
        if error.surface is not SurfaceKind.EXCEPTION and not _can_say(error.name, outputs, known):
            where = f"{' and '.join(outputs)} cannot" if outputs else "there is no output that could"
            yield (
                f"error_surfaces.{index}: {where} say {error.name!r}; add it to an output, as a text or a Literal, or make "
                "it an exception"
            )


def _type_problems(contract: MicroModuleContract, known: Known) -> Iterator[str]:
    places = {f"inputs.{n}.type": one.type for n, one in enumerate(contract.inputs)}
    places |= {f"outputs.{n}.type": one.type for n, one in enumerate(contract.outputs)}
    for n, error in enumerate(contract.error_surfaces):
        places |= {f"error_surfaces.{n}.fields.{m}": one.type for m, one in enumerate(error.fields)}
    for statement in known.values():
        fields = (*statement.fields, *statement.properties)
        places |= {f"{statement.name}.{one.name}".rstrip("."): one.type for one in fields if one.type}
    for place, text in places.items():
        for base, held in hashed_parts(text):
            if _is_unhashable(held, known, frozenset()):
                yield (
                    f"{place}: {held} cannot be hashed, so that a {base} holds nothing; take a tuple or a frozenset, a "
                    "frozen dataclass of such, or a list"
                )


def alternatives(text: str) -> list[str]:
    """The types of which a value may be: those of a union, or the type itself."""
    return [ast.unparse(part) for part in union_parts(parse_expression(text).body)]


def _inner(text: str) -> tuple[str, list[str]]:
    """A type by its name, with the types that it holds."""
    node = parse_expression(text).body
    if not isinstance(node, ast.Subscript):
        return text, []
    held = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    return ast.unparse(node.value), [ast.unparse(part) for part in held]


def _is_unhashable(text: str, known: Known, within: frozenset[str]) -> bool:
    """Whether no value of a type can be hashed, or only those that hold nothing."""
    return all(_is_unhashable_part(part, known, within) for part in alternatives(text))


def _is_unhashable_part(text: str, known: Known, within: frozenset[str]) -> bool:
    base, held = _inner(text)
    if base in _UNHASHABLE or base in TAKEN_CONTAINERS:
        return True
    if base == "tuple" and held[-1:] != ["..."]:
        return any(_is_unhashable(one, known, within) for one in held)
    statement = known.get(base)
    if statement is None or statement.is_enum or base in within:
        return False
    if statement.kind == "TypedDict":
        return True
    return any(_is_unhashable(field.type, known, within | {base}) for field in statement.fields)


def is_endless(text: str, known: Known, within: frozenset[str] = frozenset()) -> bool:
    """Whether each value of a type holds one of the classes that it is within, so that none ever ends."""
    try:
        return all(_needs(part, known, within) for part in alternatives(text))
    except (SyntaxError, ValueError, RecursionError):
        return False


def _needs(text: str, known: Known, within: frozenset[str]) -> bool:
    if text in within:
        return True
    if text in known:
        inner = within | {text}
        return any(is_endless(field.type, known, inner) for field in known[text].fields if field.type)
    base, held = _inner(text)
    return base == "tuple" and held[-1:] != ["..."] and any(is_endless(one, known, within) for one in held)


def _member_problems(known: Known) -> Iterator[str]:
    for statement in (one for one in known.values() if one.is_enum):
        for field in statement.fields:
            place = f"{statement.name}.{field.name}"
            wanted = _OF_ENUM.get(statement.kind)
            if wanted and not _is_literal_of(field.default, wanted):
                what = "a whole number" if wanted is int else "a text"
                yield f"{place}: {field.default} is no member of an {statement.kind}; write {what}, or make it an Enum"
            if field.name == "mro":
                yield f"{place}: Python keeps this name for itself; choose another"


def _is_literal_of(text: str, kind: type) -> bool:
    try:
        return type(ast.literal_eval(text)) is kind
    except (ValueError, SyntaxError):
        return False


def _nothing_differs(contract: MicroModuleContract) -> Iterator[str]:
    """Without effects, what a call comes to depends on its arguments alone, and all that a test can look at is the result
    or an error."""
    fails = any(error.surface is SurfaceKind.EXCEPTION for error in contract.error_surfaces)
    if fails and not contract.inputs:
        yield (
            "error_surfaces: nothing is given on which an error could depend; state an input, the effect on which the "
            "errors depend, or leave them out"
        )
    # how a module reads what is given bit by bit, and what it calls, can be looked at
    if not (fails or contract.outputs or any(is_lazy(one.type) for one in contract.inputs)):
        yield (
            "outputs: nothing comes of a call, so that no test can show what it does; state an output, an error or an "
            "effect"
        )


def _can_say(code: str, types: Sequence[str], known: Known) -> bool:
    """Whether a value of some of these types could tell a code."""
    waiting, seen = [*types], set[str]()
    while waiting:
        text = waiting.pop()
        if code in text or not {*_names(text)}.isdisjoint(
            _FREE_TEXT | (_NUMBERS if code.isdecimal() else _FREE_TEXT)
        ):
            return True
        for name in class_names(text):
            if name not in known:  # a dependency says what it is
                return True
            if name not in seen:
                seen.add(name)
                if code in known[name].render():
                    return True
                waiting += [field.type for field in known[name].fields if field.type]
    return False


def _names(text: str) -> Iterator[str]:
    """The names in a type, without those of containers that say what they hold."""
    tree = parse_expression(text)
    holders = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Subscript)}
    return (
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and not (id(node) in holders and node.id in CONTAINERS)
    )
