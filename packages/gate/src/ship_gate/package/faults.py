"""The faults of one function, made by the gate's mutations, as sources that take its place in memory."""

import ast
import hashlib
from collections import Counter
from typing import NamedTuple

from ship_gate.package.functions import PublicFunction, function_node, parsed
from ship_gate.strength.mutations import Mutations

MOST_FAULTS = 40
"""Of a function; more would take longer and say the same."""


class Fault(NamedTuple):
    """A fault in a function.

    Args:
        line: In its file.
        change: As a person reads it.
        source: The function with the fault, and the future imports of its file.
    """

    line: int
    change: str
    source: str


def faults_of(function: PublicFunction, most: int = MOST_FAULTS) -> list[Fault]:
    """The faults that are tried: of many, those whose changes have the smallest digests.

    Left out are those of defaults and decorators, which are no part of the function's code.
    """
    node = function_node(function.file, function.qualname.rpartition(".")[2], function.line)
    if node is None:
        return []
    future = [
        one
        for one in parsed(function.file).body
        if isinstance(one, ast.ImportFrom) and one.module == "__future__"
    ]
    tree = ast.Module([node], [])
    body = {id(part) for statement in node.body for part in ast.walk(statement)}
    decorators, node.decorator_list = node.decorator_list, []
    try:
        ranked: list[tuple[str, Fault]] = []
        alike = Counter[str]()
        for mutation in Mutations(tree).found():
            if id(mutation.node) not in body:
                continue
            alike[mutation.change] += 1
            digest = hashlib.sha256(f"{mutation.change} {alike[mutation.change]}".encode()).hexdigest()
            undo = mutation.apply()
            try:
                source = ast.unparse(ast.fix_missing_locations(ast.Module([*future, node], [])))
            finally:
                undo()
            ranked.append(
                (digest, Fault(getattr(mutation.node, "lineno", node.lineno), mutation.change, source))
            )
    finally:
        node.decorator_list = decorators
    return sorted((fault for _, fault in sorted(ranked)[:most]), key=lambda one: one.line)
