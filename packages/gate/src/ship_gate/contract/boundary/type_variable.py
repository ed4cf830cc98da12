"""The type variable: `T` stands for one type in all slots of a call, whichever the caller has (design: module-directory).

It is unbound: a function that is generic over it takes values that cannot be hashed, ordered or added, unless it declares an
error for them, and gives back those that it was given. Where `T` is the key of a dict or an item of a set, it can be hashed.
In source it is `T = TypeVar("T")`. It has this one name, and stands in the inputs and outputs of functions alone.
"""

import ast
from collections.abc import Iterator, Sequence

from ship_gate.base.containers import CALLABLE, TYPE_VARIABLE
from ship_gate.contract.boundary.types import hashed_parts, named
from ship_gate.syntax_tree import parse_expression

TRIED_TYPES = ("int", "str", "int | None", "tuple[str, int]", "list[int]", "dict[str, int]")
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
    return tuple(one for one in TRIED_TYPES if not (is_hashed and one in _UNHASHABLE))


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
