"""Whether a test asserts something that flows from the module (§8.1, D-S8-06, F-11.3-03).

What is asserted must depend on the entry point's result, on what it was given, or on the files it wrote. It may
get there through variables, loops, helpers, nested functions, fixtures, parameters and `pytest.raises`.

    tests.assertion    a test asserts nothing of the kind
    tests.constant     an assertion that holds whatever the module does
    tests.trick        `assume` of what the module returned

Left out: whether the assertion is strong; both stubs and the mutants tell that.
"""

import ast
from collections.abc import Iterator

from specwright.gate.static.always import always_holds
from specwright.gate.static.flow import Flow
from specwright.gate.static.names import Names
from specwright.gate.static.syntax import Definition
from specwright.gate.static.test_forms import own_nodes
from specwright.ports.gate import Finding

__all__ = ["assertion_findings"]

_CONSTANT_ADVICE = "assert what the call returned, changed or wrote"


def assertion_findings(tree: ast.Module, names: Names, path: str, entries: set[str]) -> Iterator[Finding]:
    """Tests of a file that assert nothing about the module, and assertions that always hold.

    Args:
        tree: The file.
        names: Of `read_names`.
        path: The file's place, for the findings.
        entries: The names of the entry points.
    """
    flow = Flow(tree, names, entries)
    true = {name for name, node in _definitions(tree) if _is_always_true(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert) and (what := always_holds(node.test) or _calls(node.test, true)):
            yield Finding(
                "tests.constant", f"{path}:{node.lineno}", f"`assert {what}` always holds; {_CONSTANT_ADVICE}"
            )
    for test in _tests(tree):
        for line in flow.assumed(test):
            message = (
                "what is assumed depends on the entry point: inputs for which it is wrong are passed over"
            )
            yield Finding("tests.trick", f"{path}:{line}", message)
        if not flow.asserts(test):
            message = f"{test.name} asserts nothing that depends on the entry point; {_CONSTANT_ADVICE}"
            yield Finding("tests.assertion", f"{path}:{test.lineno}", message)


def _definitions(tree: ast.Module) -> Iterator[tuple[str, Definition]]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node


def _is_always_true(helper: Definition) -> bool:
    """Whether a helper returns something true, and nothing else."""
    returned = [node.value for node in own_nodes(helper) if isinstance(node, ast.Return)]
    return bool(returned) and all(isinstance(value, ast.Constant) and value.value for value in returned)


def _calls(test: ast.expr, helpers: set[str]) -> str:
    match test:
        case ast.Call(func=ast.Name(id=name)) if name in helpers:
            return ast.unparse(test)[:80]
        case _:
            return ""


def _tests(tree: ast.Module) -> Iterator[Definition]:
    waiting: list[ast.AST] = [*tree.body]
    for node in waiting:
        if isinstance(node, ast.ClassDef):
            waiting += node.body
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name.startswith("test"):
            yield node
