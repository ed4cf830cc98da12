"""A public function as an interface sees it: by its approved signature, or by its contract (design: shell)."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ship_gate.contract.boundary.annotations import normal_type
from ship_gate.contract.boundary.class_statement import ClassStatement
from ship_gate.contract.boundary.types import class_names
from ship_gate.contract.contract import MicroModuleContract, SurfaceKind
from ship_gate.contract.docstring import entry_points
from ship_gate.contract.examples_file import python_tree
from ship_gate.contract.rules import (
    DEFAULT,
    default_of,
    is_any_number,
    is_read_from_code,
    own_statements,
)
from specwright.domain.acceptance.records import name_of


class FunctionParameter(NamedTuple):
    """A parameter.

    Args:
        name: In Python.
        type: In normal form; empty if none is stated.
        default: As source; None if it must be given.
        about: What its contract says of it.
        is_any_number: Whether it stands for any number of arguments, `*args`.
    """

    name: str
    type: str
    default: str | None
    about: tuple[str, ...] = ()
    is_any_number: bool = False


class StatedClass(NamedTuple):
    """A class with the module that exports it."""

    module: str
    statement: ClassStatement


class PublicFunction(NamedTuple):
    """A function that an interface calls.

    Args:
        name: In Python.
        parameters: In order.
        returns: The types of its outputs, by name; None before there is a contract.
        purpose: Of its contract.
        errors: The names of its exceptions, each with when it is raised.
        classes: Those that its types name, directly or not; None before there is a contract.
        is_async: Whether it must be awaited.
        effects: The types of its effects.
    """

    name: str
    parameters: tuple[FunctionParameter, ...]
    returns: Mapping[str, str] | None = None
    purpose: str = ""
    errors: Mapping[str, str] = {}
    classes: Mapping[str, StatedClass] | None = None
    is_async: bool = False
    effects: tuple[str, ...] = ()


def function_of_signature(public: str) -> PublicFunction | None:
    """A function as a task provides it; None for a class."""
    tree = python_tree(f"def {public}: ...") if "(" in public else None
    if tree is None or not isinstance(node := tree.body[0], ast.FunctionDef):
        return None
    plain = [*node.args.posonlyargs, *node.args.args]
    defaults = [None] * (len(plain) - len(node.args.defaults)) + list(node.args.defaults)
    pairs = [
        *zip(plain, defaults, strict=True),
        *zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True),
    ]
    many = [FunctionParameter(one.arg, "", None, (), True) for one in [node.args.vararg] if one]
    return PublicFunction(
        name_of(public),
        (
            *many,
            *(
                FunctionParameter(
                    one.arg,
                    normal_type(ast.unparse(one.annotation)) if one.annotation else "",
                    None if default is None else ast.unparse(default),
                )
                for one, default in pairs
            ),
        ),
    )


def function_of_contract(
    contract: MicroModuleContract, others: Sequence[MicroModuleContract] = ()
) -> PublicFunction:
    """A function as its contract has it.

    Args:
        contract: Of its module.
        others: Of the modules whose classes it may name.
    """
    exceptions: dict[str, str] = {}
    for error in contract.error_surfaces:
        if error.surface is SurfaceKind.EXCEPTION:
            exceptions.setdefault(error.name, error.when)
    return PublicFunction(
        contract.name,
        tuple(
            FunctionParameter(
                one.name, one.type, default_of(one), tuple(_about(one.constraints)), is_any_number(one)
            )
            for one in contract.inputs
        ),
        {one.name: one.type for one in contract.outputs},
        contract.purpose,
        exceptions,
        _classes(contract, others),
        is_async=entry_points(contract)[0].is_async,
        effects=tuple(one.type.value for one in contract.effects),
    )


def _about(constraints: Sequence[str]) -> Iterator[str]:
    return (text for text in constraints if not text.startswith(DEFAULT) and not is_read_from_code(text))


def _classes(contract: MicroModuleContract, others: Sequence[MicroModuleContract]) -> dict[str, StatedClass]:
    known = {
        name: StatedClass(one.name, statement)
        for one in (*reversed(others), contract)
        for name, statement in own_statements(one).items()
    }
    found: dict[str, StatedClass] = {}
    queue = [name for slot in (*contract.inputs, *contract.outputs) for name in class_names(slot.type)]
    while queue:
        name = queue.pop()
        if name in known and name not in found:
            found[name] = known[name]
            queue += known[name].statement.names()
    return found
