"""The faults of one function, made by the gate's mutations, as sources that take its place in memory."""

import ast
from collections.abc import Iterator

from ship_gate.package.functions import FunctionNode, PublicFunction, function_node, parsed
from ship_gate.strength.mutants import Mutant, sampled
from ship_gate.strength.mutations import Mutations

MOST_FAULTS = 40
"""Of a function; more would take longer and say the same."""


def faults_of(function: PublicFunction, most: int = MOST_FAULTS) -> list[Mutant]:
    """The faults that are tried, in the order of the source; each has the function and the future imports of its file.

    Left out are those of defaults and decorators, which are no part of the function's code.
    """
    node = function_node(function.file, function.qualname.rpartition(".")[2], function.line)
    if node is None:
        return []
    decorators, node.decorator_list = node.decorator_list, []
    try:
        return sampled([*_faults(node, function)], most)
    finally:
        node.decorator_list = decorators


def _faults(node: FunctionNode, function: PublicFunction) -> Iterator[Mutant]:
    future = [
        one
        for one in parsed(function.file).body
        if isinstance(one, ast.ImportFrom) and one.module == "__future__"
    ]
    body = {id(part) for statement in node.body for part in ast.walk(statement)}
    for mutation in Mutations(ast.Module([node], [])).found():
        if id(mutation.node) in body:
            undo = mutation.apply()
            source = ast.unparse(ast.fix_missing_locations(ast.Module([*future, node], [])))
            undo()
            line = getattr(mutation.node, "lineno", node.lineno)
            yield Mutant(str(function.file), line, "", mutation.change, source, boundary=mutation.boundary)
