"""The constants of a module's tests, from which the fuzz draws (design: module-directory, ship-gate).

An annotation says that a text comes in, a test shows what such a text looks like. Taken are expressions that
hold nothing but literals and the constructors of boundary types and exported classes; those that are given to
an entry point are also kept by parameter. They travel as source texts, since not every value is JSON.

Left out: what a test computes, and the values of fixtures."""

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ship_gate.base.boundary_values import CLASSES
from ship_gate.contract.contract import MicroModuleContract
from ship_gate.contract.docstring import entry_points
from ship_gate.contract.types import BOUNDARY_IMPORTS, is_class_name
from ship_gate.source.files import ParsedFiles

_CONSTRUCTORS = {*BOUNDARY_IMPORTS, *CLASSES, "bytes"} - {"Literal"}
_LONGEST = 2000
_MOST = 300


class Constants(NamedTuple):
    """Constant expressions as source texts.

    Args:
        values: Every one, each once.
        given: Those that are given to an entry point, by the name of the parameter.
        aware: Whether a time zone is mentioned; a naive time never meets an aware one otherwise.
    """

    values: list[str]
    by_parameter: dict[str, list[str]]
    aware: bool


def constants_of(files: Mapping[str, bytes], contract: MicroModuleContract) -> Constants:
    """The constants in the tests of a module.

    Args:
        files: The module's; its test files are readable.
        contract: Names the entry points and their parameters.
    """
    names = [slot.name for slot in contract.inputs]
    parsed = ParsedFiles.of(files)
    entries = {entry.name: names for entry in entry_points(contract)}
    return constants_in(map(parsed.tree, parsed.tests()), entries)


def constants_in(trees: Iterable[ast.AST], entries: Mapping[str, Sequence[str]]) -> Constants:
    """The constants in code.

    Args:
        trees: Of it.
        entries: Functions, each with the names of its parameters.
    """
    values: dict[str, None] = {}
    by_parameter: dict[str, dict[str, None]] = {}
    aware = False
    for tree in trees:
        for node in _outermost(tree):
            values[ast.unparse(node)] = None
        for node in ast.walk(tree):
            aware = aware or (isinstance(node, ast.Name) and node.id in {"UTC", "timezone", "ZoneInfo"})
            if isinstance(node, ast.Call) and (names := entries.get(ast.unparse(node.func))) is not None:
                for name, argument in _arguments(node, names):
                    by_parameter.setdefault(name, {})[ast.unparse(argument)] = None
    known = {name for names in entries.values() for name in names}
    given = {name: _short(found) for name, found in by_parameter.items() if name in known}
    return Constants(_short(values), given, aware)


def _short(texts: Iterable[str]) -> list[str]:
    return [text for text in texts if len(text) <= _LONGEST][:_MOST]


def _outermost(node: ast.AST) -> Iterator[ast.expr]:
    """The largest closed expressions; docstrings and formatted texts are none."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.JoinedStr) or (
            isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)
        ):
            continue
        if isinstance(child, ast.expr) and _is_closed(child):
            yield child
        else:
            yield from _outermost(child)


def _arguments(call: ast.Call, names: Sequence[str]) -> Iterator[tuple[str, ast.expr]]:
    for name, argument in zip(names, call.args, strict=False):
        if _is_closed(argument):
            yield name, argument
    for keyword in call.keywords:
        if keyword.arg and _is_closed(keyword.value):
            yield keyword.arg, keyword.value


def _is_closed(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=value):
            return value is not ...
        case ast.List(elts=elements) | ast.Tuple(elts=elements) | ast.Set(elts=elements):
            return all(map(_is_closed, elements))
        case ast.Dict(keys=keys, values=values):
            return all(key is not None and _is_closed(key) for key in keys) and all(map(_is_closed, values))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _is_closed(operand)
        case ast.BinOp(left=left, op=ast.Add() | ast.Mult() | ast.Sub(), right=right):
            return _is_closed(left) and _is_closed(right)
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=keywords):
            return (name in _CONSTRUCTORS or is_class_name(name)) and all(
                map(_is_closed, [*arguments, *(keyword.value for keyword in keywords)])
            )
        case _:
            return False
